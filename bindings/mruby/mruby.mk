# The part of the Makefile that is about mruby: the binding, and the widgets in mruby. It
# needs BUILD, CC, RRC_CFLAGS, WIDGETS and $(call run,NAME,PREREQUISITES,COMMAND).
#
#   MRUBY_CONFIG   mruby-config of the mruby to build against; empty where there is none

MRUBY_DIR     := bindings/mruby
MRUBY_CONFIG  ?= $(shell command -v mruby-config 2>/dev/null)
# Its own paths may be those of the machine that built it: only macros and libraries count.
MRUBY_DEFINES := $(if $(MRUBY_CONFIG),$(filter -D%,$(shell $(MRUBY_CONFIG) --cflags)) -DMRB_NO_PRESYM)
MRUBY_LIBS    := $(if $(MRUBY_CONFIG),$(shell $(MRUBY_CONFIG) --libs))
# mruby's macros mix signs.
MRUBY_WARNINGS := -Wno-sign-conversion
MRUBY_HEADERS := $(MRUBY_DIR)/rrc_mruby.h $(HEADER)
MRUBY_COMPILE  = @mkdir -p $(@D); $(CC) $(RRC_CFLAGS) $(MRUBY_WARNINGS) -DRRC_MIRROR $(MRUBY_DEFINES) \
                 -I$(MRUBY_DIR) -I$(WIDGETS_DIR) $(CPPFLAGS) $(CFLAGS)

MRUBY_WIDGETS := $(addprefix $(WIDGETS_DIR)/mruby/,main.c widgets.c naive.c)

$(BUILD)/mruby/widgets: $(MRUBY_WIDGETS) $(WIDGETS_DEPS) $(MRUBY_HEADERS)
	$(MRUBY_COMPILE) $(MRUBY_WIDGETS) $(WIDGETS) $(LDFLAGS) $(MRUBY_LIBS) -o $@

.PHONY: demo-mruby
ifneq ($(MRUBY_CONFIG),)
demo-mruby: $(BUILD)/mruby/widgets ## widgets in mruby: the naive way leaks, ours does not
	@$(BUILD)/mruby/widgets $(WIDGETS_DIR)/mruby/demo.rb
else
demo-mruby:
	@echo "There is no mruby-config, and so no mruby. On Debian: apt-get install mruby libmruby-dev"
endif
