# The part of the Makefile that is about Lua: the binding, and the widgets in Lua. It
# needs BUILD, CC, RRC_CFLAGS, PKG_CONFIG and $(call run,NAME,PREREQUISITES,COMMAND).
#
#   LUA    the Lua of `make demo-lua`: a name of pkg-config, and of the interpreter
#   LUAS   those that are installed; all are tested

LUA_DIR   := bindings/lua
LUA_NAMES := lua5.4 lua5.3 lua5.2 lua5.1 luajit
LUA_OTHER := lua5.5 lua-5.5 lua-5.4 lua-5.3 lua-5.2 lua-5.1 lua
has_lua    = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && command -v $(1) 2>/dev/null)
LUAS      := $(foreach lua,$(LUA_NAMES) lua5.5,$(if $(call has_lua,$(lua)),$(lua)))
LUAS      := $(or $(LUAS),$(firstword $(foreach lua,$(LUA_OTHER),$(if $(call has_lua,$(lua)),$(lua)))))
LUA       ?= $(firstword $(LUAS))

LUA_HEADERS := $(LUA_DIR)/rrc_lua.h $(HEADER)
LUA_MODULES := rawrefcount widgets naive nodes
LUA_COMPILE  = @mkdir -p $(@D); $(CC) $(RRC_CFLAGS) -I$(LUA_DIR) -I$(WIDGETS_DIR) \
               $(shell $(PKG_CONFIG) --cflags $(1)) $(CPPFLAGS) $(CFLAGS) -fPIC
LUA_SHARED  := -shared $(if $(filter Darwin,$(shell uname -s)),-undefined dynamic_lookup)

# Where the modules of one Lua are, and how its interpreter finds them.
lua_out  = $(BUILD)/lua/$(1)
lua_libs = $(foreach module,$(LUA_MODULES),$(call lua_out,$(1))/$(module).so)
lua_run  = env LUA_CPATH='$(call lua_out,$(1))/?.so' LUA_PATH='$(LUA_DIR)/tests/?.lua' $(1)

define lua_rules
$(call lua_out,$(1))/rawrefcount.so: $(LUA_DIR)/rawrefcount.c $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) -DRRC_MIRROR $$(LUA_SHARED) $$< $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/widgets.so: $(WIDGETS_DIR)/lua/widgets.c $(WIDGETS_DEPS) $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) -DRRC_MIRROR $$(LUA_SHARED) $$< $(WIDGETS) $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/naive.so: $(WIDGETS_DIR)/lua/naive.c $(WIDGETS_DEPS)
	$$(call LUA_COMPILE,$(1)) $$(LUA_SHARED) $$< $(WIDGETS) $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/nodes.so: $(LUA_DIR)/tests/nodes.c $(LUA_DIR)/tests/nodes.h $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) -DRRC_MIRROR $$(LUA_SHARED) $$< $$(LDFLAGS) -o $$@
endef
$(foreach lua,$(sort $(LUAS) $(LUA)),$(eval $(call lua_rules,$(lua))))

.PHONY: demo-lua
demo-lua: $(if $(LUA),$(call lua_libs,$(LUA))) ## widgets in Lua: the naive way leaks, ours does not; LUA=lua5.4
ifeq ($(LUA),)
	@echo "There is no Lua that $(PKG_CONFIG) knows, with its interpreter. On Debian: apt-get install lua5.4 liblua5.4-dev"
else
	@$(call lua_run,$(LUA)) $(WIDGETS_DIR)/lua/demo.lua
endif
