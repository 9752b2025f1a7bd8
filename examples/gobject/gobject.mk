# The part of the Makefile that is about this folder: GObject in Lua, for each Lua that lua.mk has found. It needs
# what lua.mk defines.
#
#   gobject-LUA              the tests: each feature, garbage over GObject and Lua
#   gobject-plain-LUA        the same without libgirepository
#   gobject-asan-LUA         the same, sanitized; and several states
#   gobject-random-LUA       random programs against an oracle
#   gobject-random-asan-LUA  the same, sanitized
#   soak-gobject-LUA         the same for some seconds: memory must stay flat
#   gobject-control-LUA      controls that must fail: rules left out
#   gobject-readme-LUA       the example of the page

GOBJECT_DIR     := examples/gobject
GOBJECT_PACKAGES := gio-2.0 gmodule-2.0
GOBJECT_SOURCES := $(addprefix $(GOBJECT_DIR)/,objects.c holdings.c calls.c generic.c introspect.c values.c types.c subclass.c module.c)
GOBJECT_TESTS   := $(GOBJECT_DIR)/tests
GOBJECT_THERE   := $(shell $(PKG_CONFIG) --exists $(GOBJECT_PACKAGES) 2>/dev/null && echo yes)
GOBJECT_CFLAGS   = $(subst -I,-isystem ,$(shell $(PKG_CONFIG) --cflags $(GOBJECT_PACKAGES)))
GOBJECT_LIBS     = $(shell $(PKG_CONFIG) --libs $(GOBJECT_PACKAGES))
# GObject keeps types of the module, and perhaps closures, when Lua has unloaded it.
comma           := ,
GOBJECT_SHARED   = $(LUA_SHARED) $(if $(filter Linux,$(shell uname -s)),-Wl$(comma)-z$(comma)nodelete)
gobject_out      = $(call lua_out,$(1))/gobject
gobject_libs     = $(call gobject_out,$(1))/gobject.so $(call lua_out,$(1))/rawrefcount.so
# Widgets need a display.
GOBJECT_DISPLAY := sh $(GOBJECT_TESTS)/display.sh
gobject_run      = $(lua_env) LUA_CPATH='$(call gobject_out,$(1))/?.so;$(call lua_out,$(1))/?.so' LUA_PATH= $(GOBJECT_DISPLAY) $(1)

# (The run gobject-readme has it optimized. The others take less time without.)
define gobject_rules
$(call gobject_out,$(1))/gobject.so $(call gobject_out,$(1))/asan: $(GOBJECT_SOURCES) $(GOBJECT_DIR)/gobject.h \
        $(GOBJECT_TESTS)/foreign.c $(GOBJECT_TESTS)/main.c $(LUA_HEADERS) $(LUA_DIR)/rawrefcount.c $(lua_host)
$(call gobject_out,$(1))/gobject.so:
	$$(call LUA_COMPILE,$(1)) -O0 $$(GOBJECT_CFLAGS) $$(GOBJECT_SHARED) $(GOBJECT_SOURCES) $(GOBJECT_TESTS)/foreign.c \
	    $$(LDFLAGS) $$(GOBJECT_LIBS) -o $$@
$(call gobject_out,$(1))/asan:
	$$(call LUA_COMPILE,$(1)) $$(GOBJECT_CFLAGS) $(LUA_SANITIZE) -O0 $(GOBJECT_SOURCES) \
	    $(addprefix $(GOBJECT_TESTS)/,foreign.c main.c) $(LUA_DIR)/rawrefcount.c $$(LDFLAGS) \
	    $$(GOBJECT_LIBS) $$(call lua_flags,$(1),--libs) -lm -o $$@
$(call run,gobject-$(1),$(call gobject_libs,$(1)),\
    $(call gobject_run,$(1)) $(GOBJECT_TESTS)/gobject.lua)
$(call run,gobject-plain-$(1),$(call gobject_libs,$(1)),\
    env GOBJECT_GIREPOSITORY=libgirepository-missing.so $(call gobject_run,$(1)) $(GOBJECT_TESTS)/gobject.lua)
$(if $(filter lua5.4 lua5.5,$(1)),$(call run,gobject-generational-$(1),\
    $(call gobject_libs,$(1)),\
    $(call gobject_run,$(1)) $(GOBJECT_TESTS)/gobject.lua generational))
$(call run,gobject-asan-$(1),$(call gobject_out,$(1))/asan,\
    env LSAN_OPTIONS=suppressions=$(GOBJECT_TESTS)/leaks.txt \
    $(GOBJECT_DISPLAY) $(call gobject_out,$(1))/asan $(GOBJECT_TESTS)/gobject.lua)
$(call run,gobject-random-$(1),$(call gobject_libs,$(1)),\
    $(call gobject_run,$(1)) $(GOBJECT_TESTS)/random.lua 1 $(if $(QUICK),20,200) 2000)
$(call run,soak-gobject-$(1),$(call gobject_libs,$(1)),\
    $(call gobject_run,$(1)) $(GOBJECT_TESTS)/random.lua soak 5)
$(call run,gobject-random-asan-$(1),$(call gobject_out,$(1))/asan,\
    env LSAN_OPTIONS=suppressions=$(GOBJECT_TESTS)/leaks.txt \
    $(GOBJECT_DISPLAY) $(call gobject_out,$(1))/asan $(GOBJECT_TESTS)/random.lua 1 30 2000)
$(call run,gobject-readme-$(1),$(lua_host),$(lua_env) sh $(GOBJECT_TESTS)/readme.sh $(1))
$(call run,gobject-control-$(1),$(call lua_out,$(1))/rawrefcount.so,\
    $(lua_env) COMPILE='$(CC) -std=c99 -O0 -I. -I$(LUA_DIR) -I$(dir $(CLOSED)) $(call lua_flags,$(1),--cflags) $(GOBJECT_CFLAGS) $(GOBJECT_SHARED)' \
    LIBS='$(GOBJECT_LIBS)' LUA_OUT='$(call lua_out,$(1))' sh $(GOBJECT_TESTS)/control.sh $(1) $(call gobject_out,$(1)))
endef

ifeq ($(GOBJECT_THERE),yes)
$(foreach lua,$(LUAS),$(eval $(call gobject_rules,$(lua))))
# For `make soak`.
.PHONY: soak-gobject
soak: soak-gobject
soak-gobject: $(foreach lua,$(LUAS),$(call gobject_libs,$(lua))) ## random programs over GObject and each Lua only
	@$(foreach lua,$(LUAS),$(call gobject_run,$(lua)) $(GOBJECT_TESTS)/random.lua soak $(SOAK_SECONDS) &&) :

# (The newest Lua is the sanitized one.)
HOST_CHECK_RUNS += $(foreach test,gobject gobject-random,$(test)-$(lastword $(LUAS_QUICK))) gobject-readme-$(LUA) gobject-asan-$(LUA)
else
RUNS += gobject
HOST_CHECK_RUNS += gobject
.PHONY: run-gobject
run-gobject:
	@sh tests/run.sh skip gobject "$(PKG_CONFIG) does not know $(GOBJECT_PACKAGES)"
endif
