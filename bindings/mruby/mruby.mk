# The part of the Makefile that is about mruby: the binding, its tests, and the widgets in
# mruby. It needs BUILD, CC, RRC_CFLAGS, WIDGETS and $(call run,NAME,PREREQUISITES,COMMAND).
#
#   MRUBY_CONFIG   mruby-config of the mruby to build against; empty where there is none. For one that is not
#                  installed: make run-mruby MRUBY_CONFIG=/path/to/mruby/bin/mruby-config BUILD=build/that-mruby

MRUBY_DIR      := bindings/mruby
MRUBY_TESTS    := $(MRUBY_DIR)/tests
MRUBY_CONFIG   ?= $(shell command -v mruby-config 2>/dev/null)
# Its paths may be those of the machine that built it, as in Debian's package: only those that exist count.
# That package also has no list of the symbols that were there at build time.
MRUBY_CFLAGS   := $(if $(MRUBY_CONFIG),$(shell $(MRUBY_CONFIG) --cflags))
MRUBY_INCLUDES := $(wildcard $(patsubst -I%,%,$(filter -I%,$(MRUBY_CFLAGS))))
MRUBY_DEFINES  := $(filter -D%,$(MRUBY_CFLAGS)) $(addprefix -isystem ,$(MRUBY_INCLUDES)) \
                  $(if $(wildcard $(addsuffix /mruby/presym/id.h,$(MRUBY_INCLUDES))),,-DMRB_NO_PRESYM)
MRUBY_LIBS     := $(if $(MRUBY_CONFIG),$(addprefix -L,$(wildcard $(patsubst -L%,%,\
                  $(filter -L%,$(shell $(MRUBY_CONFIG) --ldflags))))) $(shell $(MRUBY_CONFIG) --libs))
# mruby's macros mix signs.
MRUBY_WARNINGS := -Wno-sign-conversion
MRUBY_HEADERS  := $(MRUBY_DIR)/rrc_mruby.h $(MRUBY_DIR)/rrc_mruby_insight.h $(HEADER) $(INSIGHT) $(CLOSED)
MRUBY_COMPILE  := $(CC) $(RRC_CFLAGS) $(MRUBY_WARNINGS) $(MRUBY_DEFINES) -I$(MRUBY_DIR) -I$(dir $(INSIGHT)) -I$(dir $(CLOSED))

MRUBY_WIDGETS  := $(addprefix $(WIDGETS_DIR)/mruby/,main.c widgets.c naive.c)
MRUBY_SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DRRC_DEBUG

$(BUILD)/mruby/widgets: $(MRUBY_WIDGETS) $(WIDGETS_OBJECT) $(MRUBY_HEADERS)
	@mkdir -p $(@D)
	$(MRUBY_COMPILE) -I$(WIDGETS_DIR) $(CPPFLAGS) $(CFLAGS) -O0 $(MRUBY_WIDGETS) $(WIDGETS_OBJECT) \
	    $(LDFLAGS) $(MRUBY_LIBS) -o $@

# A test program, and one with sanitizers and RRC_DEBUG. (The run mruby-readme has the binding optimized, by
# mruby's own flags. To optimize the other programs takes longer than to run them.)
MRUBY_TEST_DEPS := $(addprefix $(MRUBY_TESTS)/,nodes.c nodes.h) tests/unit.c tests/unit.h tests/foreign.h tests/caught.h $(MRUBY_HEADERS)
MRUBY_TEST = @mkdir -p $(@D); $(MRUBY_COMPILE) -I$(MRUBY_TESTS) -Itests -DUNIT_CMOCKA=0 $(CPPFLAGS) $(1) \
             $< $(filter %/slots.c,$^) $(MRUBY_TESTS)/nodes.c tests/unit.c $(LDFLAGS) $(MRUBY_LIBS) -o $@
$(BUILD)/mruby/test_mruby $(BUILD)/mruby/asan/test_mruby: $(MRUBY_TESTS)/slots.c
$(BUILD)/mruby/%: $(MRUBY_TESTS)/%.c $(MRUBY_TEST_DEPS)
	$(call MRUBY_TEST,$(CFLAGS) $(if $(filter random,$*),-O1,-O0))
$(BUILD)/mruby/asan/%: $(MRUBY_TESTS)/%.c $(MRUBY_TEST_DEPS)
	$(call MRUBY_TEST,$(MRUBY_SANITIZE))

MRUBY_RUNS := mruby mruby-readme mruby-random mruby-asan mruby-random-asan mruby-demo mruby-mutants
HOST_CHECK_RUNS += mruby mruby-readme mruby-asan mruby-random mruby-demo
.PHONY: demo-mruby
ifneq ($(MRUBY_CONFIG),)
demo-mruby: $(BUILD)/mruby/widgets ## widgets in mruby: the naive way leaks, ours does not
	@$(BUILD)/mruby/widgets $(WIDGETS_DIR)/mruby/demo.rb

$(eval $(call run,mruby,$(BUILD)/mruby/test_mruby,$(BUILD)/mruby/test_mruby))
$(eval $(call run,mruby-readme,,sh $(MRUBY_TESTS)/readme.sh $(BUILD)/mruby/readme $(MRUBY_CONFIG)))
$(eval $(call run,mruby-random,$(BUILD)/mruby/random,$(BUILD)/mruby/random 1 $(if $(QUICK),20 2000,400 5000)))
$(eval $(call run,mruby-asan,$(BUILD)/mruby/asan/test_mruby,$(BUILD)/mruby/asan/test_mruby))
$(eval $(call run,mruby-random-asan,$(BUILD)/mruby/asan/random,$(BUILD)/mruby/asan/random 1000 100 5000))
$(eval $(call run,mruby-demo,$(BUILD)/mruby/widgets,\
    sh $(MRUBY_TESTS)/demo.sh $(BUILD)/mruby/widgets $(WIDGETS_DIR)/mruby/demo.rb))
$(eval $(call run,mruby-mutants,,env MRUBY_COMPILE='$(MRUBY_COMPILE) $(CFLAGS)' MRUBY_LIBS='$(MRUBY_LIBS)' \
    sh $(MRUBY_TESTS)/mutants.sh))
else
demo-mruby:
	@echo "There is no mruby-config, and so no mruby. On Debian: apt-get install mruby libmruby-dev"

RUNS += $(MRUBY_RUNS)
.PHONY: $(addprefix run-,$(MRUBY_RUNS))
$(addprefix run-,$(MRUBY_RUNS)): run-%:
	@sh tests/run.sh skip $* "there is no mruby-config"
endif
