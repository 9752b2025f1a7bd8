# The part of the Makefile that is about this folder: the library's own tests. Lua and
# mruby link one object of it, which is compiled without any setting for them. Ruby builds
# it from its source.
#
#   WIDGETS         its source
#   WIDGETS_DEPS    what a program with it depends on
#   WIDGETS_OBJECT  the library, compiled

WIDGETS_DIR  := examples/widgets
WIDGETS      := $(WIDGETS_DIR)/widgets.c
WIDGETS_DEPS := $(WIDGETS) $(WIDGETS_DIR)/widgets.h $(HEADER)
WIDGETS_OBJECT := $(BUILD)/widgets/widgets.o
WIDGETS_TEST := $(WIDGETS_DIR)/test_widgets.c $(WIDGETS) tests/unit.c

$(WIDGETS_OBJECT): $(WIDGETS_DEPS)
	@mkdir -p $(@D)
	$(CC) $(RRC_CFLAGS) -I$(WIDGETS_DIR) $(CPPFLAGS) $(CFLAGS) -fPIC -c $< -o $@

$(BUILD)/tests/widgets-%: $(WIDGETS_TEST) $(WIDGETS_DEPS) tests/unit.h tests/variant.sh
	$(call BUILD_VARIANT,-O0) $@ $* -I$(WIDGETS_DIR) $(WIDGETS_TEST)

$(foreach variant,desc debug-asan clang-debug-asan,\
    $(eval $(call run,widgets-$(variant),$(BUILD)/tests/widgets-$(variant),$(BUILD)/tests/widgets-$(variant))))
CHECK_RUNS += widgets-desc
