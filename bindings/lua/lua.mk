# The part of the Makefile that is about Lua: the binding, and the widgets in Lua. It
# needs BUILD, CC, RRC_CFLAGS, PKG_CONFIG and $(call run,NAME,PREREQUISITES,COMMAND).
#
#   LUA    the Lua of `make demo-lua`: a name of pkg-config, and of the interpreter
#   LUAS   those that are installed, or built from sources; all are tested
#   LUA_SOURCES    a folder with sources: lua-5.5.0/src/lua.h ... `make deps-all` fetches some

LUA_DIR   := bindings/lua
LUA_NAMES := lua5.5 lua5.4 lua5.3 lua5.2 lua5.1 luajit
LUA_OTHER := lua-5.5 lua-5.4 lua-5.3 lua-5.2 lua-5.1 lua
has_lua    = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && command -v $(1) 2>/dev/null)
LUAS      := $(foreach lua,$(LUA_NAMES),$(if $(call has_lua,$(lua)),$(lua)))
LUAS      := $(or $(LUAS),$(firstword $(foreach lua,$(LUA_OTHER),$(if $(call has_lua,$(lua)),$(lua)))))

# Of what is not installed, but there in sources, an interpreter is built: host.sh.
LUA_SOURCES ?= $(BUILD)/sources
LUA_FOLDERS := $(patsubst $(LUA_SOURCES)/%/src/lmem.c,%,$(wildcard $(LUA_SOURCES)/*/src/lmem.c))
lua_name     = $(shell echo '$(1)' | sed -n 's/^lua-\{0,1\}\([0-9]\.[0-9]\).*/lua\1/p')
lua_folder   = $(firstword $(foreach folder,$(LUA_FOLDERS),$(if $(filter $(1),$(call lua_name,$(folder))),$(folder))))
LUAS_BUILT  := $(filter-out $(LUAS),$(sort $(foreach folder,$(LUA_FOLDERS),$(call lua_name,$(folder)))))
LUAS        += $(LUAS_BUILT)
LUA         ?= $(firstword $(LUAS))
# Those of `make test`: the first one and LuaJIT, which has the oldest interface. `make test-all` runs all.
LUAS_QUICK := $(sort $(firstword $(LUAS)) $(or $(filter luajit,$(LUAS)),$(lastword $(LUAS))))

LUA_HEADERS := $(LUA_DIR)/rrc_lua.h $(LUA_DIR)/rrc_lua_insight.h $(HEADER) $(INSIGHT) $(CLOSED)
# What is optimized as CFLAGS says is the module rawrefcount, and the functions of both headers that the modules of the
# tests share. To optimize the other programs takes longer than to run them.
LUA_MODULES := rawrefcount widgets naive nodes classes
LUA_NODES_H := $(LUA_DIR)/tests/nodes.h tests/foreign.h tests/caught.h
LUA_COMPILE  = @mkdir -p $(@D); $(CC) $(RRC_CFLAGS) -I$(LUA_DIR) -I$(dir $(INSIGHT)) -I$(dir $(CLOSED)) -I$(WIDGETS_DIR) \
               $(call lua_flags,$(1),--cflags) $(CPPFLAGS) $(CFLAGS)
# Functions that a module exports cannot be replaced by others of the same name: they can be inlined.
LUA_SHARED  := -fPIC -fno-semantic-interposition -shared $(if $(filter Darwin,$(shell uname -s)),-undefined dynamic_lookup)

# Where the modules of one Lua are, and how its interpreter finds them. One that was built is
# found as if it were installed.
lua_out   = $(BUILD)/lua/$(1)
lua_host  = $(if $(filter $(1),$(LUAS_BUILT)),$(call lua_out,$(1))/host/$(1).pc)
lua_env   = env $(if $(lua_host),PATH='$(abspath $(dir $(lua_host))):$(PATH)' PKG_CONFIG_PATH='$(abspath $(dir $(lua_host)))')
lua_flags = $(shell $(lua_env) $(PKG_CONFIG) $(2) $(1))
lua_libs  = $(foreach module,$(LUA_MODULES),$(call lua_out,$(1))/$(module).so)
lua_run   = $(lua_env) LUA_CPATH='$(call lua_out,$(1))/?.so' LUA_PATH= $(1)

define lua_host_rule
$(call lua_host,$(1)): $(LUA_SOURCES)/$(call lua_folder,$(1))/src/lmem.c $(LUA_DIR)/tests/host.sh
	CC='$$(CC)' CFLAGS='$$(CFLAGS)' sh $(LUA_DIR)/tests/host.sh $(LUA_SOURCES)/$(call lua_folder,$(1)) $$(@D) $(1)
endef
$(foreach lua,$(LUAS_BUILT),$(eval $(call lua_host_rule,$(lua))))

define lua_rules
$(lua_libs) $(addprefix $(call lua_out,$(1))/,raw/nodes.so embed random bench pauses): $(lua_host)
$(call lua_out,$(1))/rawrefcount.so: $(LUA_DIR)/rawrefcount.c $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) $$(LUA_SHARED) $$< $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/widgets.so: $(WIDGETS_DIR)/lua/widgets.c $(WIDGETS_OBJECT) $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) -O0 $$(LUA_SHARED) $$< $(WIDGETS_OBJECT) $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/naive.so: $(WIDGETS_DIR)/lua/naive.c $(WIDGETS_OBJECT)
	$$(call LUA_COMPILE,$(1)) -O0 $$(LUA_SHARED) $$< $(WIDGETS_OBJECT) $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/functions.o: $(LUA_DIR)/tests/functions.c $(LUA_HEADERS) $(lua_host)
	$$(call LUA_COMPILE,$(1)) $$(LUA_SHARED) -c $$< -o $$@
$(call lua_out,$(1))/classes.so: $(LUA_DIR)/tests/classes.c $(call lua_out,$(1))/functions.o
	$$(call LUA_COMPILE,$(1)) $$(LUA_SHARED) $$< $(call lua_out,$(1))/functions.o $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/nodes.so: $(LUA_DIR)/tests/nodes.c $(LUA_NODES_H) $(call lua_out,$(1))/functions.o
	$$(call LUA_COMPILE,$(1)) -Itests $$(LUA_SHARED) $$< $(call lua_out,$(1))/functions.o $$(LDFLAGS) -o $$@
endef
$(foreach lua,$(sort $(LUAS) $(LUA)),$(eval $(call lua_rules,$(lua))))

.PHONY: demo-lua
demo-lua: $(if $(LUA),$(call lua_libs,$(LUA))) ## widgets in Lua: the naive way leaks, ours does not; LUA=lua5.4
ifeq ($(LUA),)
	@echo "There is no Lua that $(PKG_CONFIG) knows, with its interpreter. On Debian: apt-get install lua5.4 liblua5.4-dev"
else
	@$(call lua_run,$(LUA)) $(WIDGETS_DIR)/lua/demo.lua
endif

# ---- tests -------------------------------------------------------------------
#
#   lua-cases-LUA          the known cases, in each mode of the collector
#   lua-random-MODE-LUA    random programs against an oracle
#   lua-failing-LUA        the same, in states whose allocations fail and are tried again
#   lua-quiet-LUA          garbage goes if only collectgarbage() is called, in states of their own
#   soak-lua-LUA           the same, for SOAK_SECONDS: a part of `make soak`
#   lua-widgets-LUA        the demonstration's library
#   lua-classes-LUA        all that a class can have, and values that go from C to Lua and back
#   lua-demo-LUA           the demonstration prints the README's numbers, and why an object lives
#   lua-embed-LUA          C programs: states, lack of memory; sanitized
#   lua-unload-LUA         what is left when the state is closed, and modules are unloaded
#   lua-loop-LUA           the peak of a long loop of cyclic garbage
#   lua-pauses-LUA         no call does more work if more objects live
#   lua-control-LUA        what must fail, does
#   lua-readme-LUA         the README's example
#   lua-rock               the LuaRocks package
#   lua-checked-TEST-LUA   some of them, with a Lua that collects everywhere and checks all it can; sanitized

LUA_TESTS  := $(LUA_DIR)/tests
LUA_MODES  := incremental stepped stressed rare sliced
lua_modes   = $(LUA_MODES) $(if $(filter lua5.4 lua5.5,$(1)),generational) $(if $(filter lua5.1 luajit,$(1)),everywhere)
LUA_EMBED  := $(addprefix $(LUA_TESTS)/,embed.c slots.c nodes.c classes.c) tests/unit.c
LUA_EMBED_COMPILE := $(CC) $(RRC_CFLAGS) -I$(dir $(INSIGHT)) -I$(dir $(CLOSED)) -DUNIT_CMOCKA=0 -Itests
LUA_RANDOM := $(LUA_TESTS)/random.c $(LUA_TESTS)/nodes.c tests/unit.c
lua_soak    = env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 $(call lua_out,$(1))/random soak
LUA_SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DRRC_DEBUG

define lua_test_rules
$(call lua_out,$(1))/raw/nodes.so: $(LUA_DIR)/tests/nodes.c $(LUA_NODES_H) $(call lua_out,$(1))/functions.o
	$$(call LUA_COMPILE,$(1)) -DNODES_RAW -Itests $$(LUA_SHARED) $$< $(call lua_out,$(1))/functions.o $$(LDFLAGS) -o $$@
$(call lua_out,$(1))/embed: $(LUA_EMBED) $(LUA_NODES_H) $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) $(LUA_SANITIZE) -O0 -DUNIT_CMOCKA=0 -Itests \
	    $(LUA_EMBED) $$(LDFLAGS) $$(call lua_flags,$(1),--libs) -lm -o $$@
$(call lua_out,$(1))/random: $(LUA_RANDOM) $(LUA_NODES_H) tests/soak.h $(LUA_DIR)/rawrefcount.c $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) -O1 -D_POSIX_C_SOURCE=200809L -DUNIT_CMOCKA=0 -Itests \
	    $(LUA_RANDOM) $$(LDFLAGS) $$(call lua_flags,$(1),--libs) -lm -o $$@
$(call run,lua-failing-$(1),$(call lua_out,$(1))/random,$(call lua_out,$(1))/random 1 $(if $(QUICK),10 600,100 3000) rare)
$(call run,lua-quiet-$(1),$(call lua_out,$(1))/random,$(call lua_out,$(1))/random 1 $(if $(QUICK),300,2000) quiet)
$(call run,soak-lua-$(1),$(call lua_out,$(1))/random,$(call lua_soak,$(1)) 3)
$(call run,lua-cases-$(1),$(call lua_libs,$(1)),$(call lua_run,$(1)) $(LUA_TESTS)/cases.lua)
$(if $(filter lua5.4 lua5.5,$(1)),$(call run,lua-cases-generational-$(1),$(call lua_libs,$(1)),\
    $(call lua_run,$(1)) $(LUA_TESTS)/cases.lua generational))
$(call run,lua-widgets-$(1),$(call lua_libs,$(1)),$(call lua_run,$(1)) $(LUA_TESTS)/widgets.lua)
$(call run,lua-classes-$(1),$(call lua_libs,$(1)),$(call lua_run,$(1)) $(LUA_TESTS)/classes.lua)
$(call run,lua-demo-$(1),$(call lua_libs,$(1)),\
    sh $(LUA_TESTS)/demo.sh $(WIDGETS_DIR)/lua/demo.lua $(LUA_DIR)/README.md $(call lua_run,$(1)))
$(call run,lua-embed-$(1),$(call lua_out,$(1))/embed,$(call lua_out,$(1))/embed)
$(call run,lua-readme-$(1),$(lua_host),$(lua_env) PKG_CONFIG='$(PKG_CONFIG)' sh $(LUA_TESTS)/readme.sh $(1))
$(call lua_out,$(1))/pauses: $(LUA_TESTS)/pauses.c $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) $$(BENCH_CFLAGS) $$< $$(LDFLAGS) $$(call lua_flags,$(1),--libs) -lm -o $$@
$(call run,lua-pauses-$(1),$(call lua_out,$(1))/pauses,$(call lua_out,$(1))/pauses test 10000 100000)
$(call run,lua-loop-$(1),$(call lua_libs,$(1)),$(call lua_run,$(1)) $(LUA_TESTS)/loop.lua)
$(call run,lua-unload-$(1),$(call lua_libs,$(1)),$(lua_env) sh $(LUA_TESTS)/unload.sh $(1) $(call lua_out,$(1)))
$(call run,lua-control-$(1),$(call lua_libs,$(1)) $(call lua_out,$(1))/raw/nodes.so,\
    $(lua_env) EMBED_COMPILE='$(LUA_EMBED_COMPILE) $(call lua_flags,$(1),--cflags)' \
    EMBED_SOURCES='$(LUA_EMBED)' EMBED_LIBS='$(call lua_flags,$(1),--libs) -lm' \
    sh $(LUA_TESTS)/control.sh $(1) $(call lua_out,$(1)))
endef
define lua_random_rule
$(call run,lua-random-$(2)-$(1),$(call lua_libs,$(1)),$(call lua_run,$(1)) $(LUA_TESTS)/random.lua 1 $(if $(QUICK),10 600,100 3000) $(2))
endef
$(foreach lua,$(LUAS),$(eval $(call lua_test_rules,$(lua)))\
    $(foreach mode,$(call lua_modes,$(lua)),$(eval $(call lua_random_rule,$(lua),$(mode)))))

# One version in full under valgrind, and one for LuaRocks.
$(if $(LUA),$(eval $(call run,lua-valgrind,$(call lua_libs,$(LUA)),sh $(LUA_TESTS)/valgrind.sh $(call lua_run,$(LUA)))))
$(if $(LUA),$(eval $(call run,lua-rock,,sh $(LUA_TESTS)/rock.sh $(LUA))))
# What leaks is exactly what is new in the second of two heap snapshots.
$(if $(LUA),$(eval $(call run,snapshot-lua,$(call lua_libs,$(LUA)) tests/newer.js,\
    sh tests/newer.sh $(BUILD)/leak-lua $(LUA_DIR)/tests/snapshots/leak.txt \
    $(lua_env) LUA_CPATH='$(abspath $(call lua_out,$(LUA)))/?.so' LUA_PATH= $(LUA) $(abspath $(LUA_DIR)/tests/snapshots/leak.lua))))
$(if $(LUA),$(eval $(call run,bar-lua,$(call lua_libs,$(LUA)),sh tests/bar.sh env $(lua_env) \
    LUA_CPATH='$(abspath $(call lua_out,$(LUA)))/?.so' LUA_PATH= $(LUA) $(abspath $(LUA_DIR)/tests/snapshots/bar.lua))))

# Those that are not here.
define lua_missing
RUNS += lua-$(1)
.PHONY: run-lua-$(1)
run-lua-$(1):
	@sh tests/run.sh skip lua-$(1) "$$(PKG_CONFIG) knows no $(1), or there is no such command, nor sources in $(LUA_SOURCES)"
endef
$(foreach lua,$(filter-out $(LUAS),$(LUA_NAMES)),$(eval $(call lua_missing,$(lua))))

# Lua from its sources, with all checks on.
LUAS_CHECKED := $(LUA_FOLDERS)
lua_checked_out = $(BUILD)/lua/checked/$(1)
# The functions of both headers are in embed.c only; Lua's headers are those that checked.sh has copied.
LUA_CHECKED_COMPILE = $(CC) $(RRC_CFLAGS) -I$(LUA_DIR) -I$(dir $(INSIGHT)) -I$(dir $(CLOSED)) -I$(WIDGETS_DIR) -Itests -I$(@D)/src $(CPPFLAGS) $(LUA_SANITIZE)

define lua_checked_rules
$(call lua_checked_out,$(1))/lua.a: $(LUA_SOURCES)/$(1)/src/lmem.c $(LUA_TESTS)/checked.sh $(LUA_TESTS)/checked.h
	CC='$$(CC)' CFLAGS='$(LUA_SANITIZE)' sh $(LUA_TESTS)/checked.sh $(LUA_SOURCES)/$(1) $$@
$(call lua_checked_out,$(1))/embed: $(call lua_checked_out,$(1))/lua.a $(LUA_EMBED) $(LUA_NODES_H) $(LUA_HEADERS) \
        $(LUA_DIR)/rawrefcount.c $(WIDGETS_DIR)/lua/widgets.c $(WIDGETS_DEPS)
	$$(LUA_CHECKED_COMPILE) -DRRCI_IMPLEMENTED -DRRCI_CLOSED_IMPLEMENTED -DRRCL_IMPLEMENTED -c $(WIDGETS_DIR)/lua/widgets.c -o $$(@D)/widgets.o
	$$(LUA_CHECKED_COMPILE) -DEMBED_SCRIPTS -DUNIT_CMOCKA=0 $(LUA_EMBED) \
	    $(WIDGETS) $$(@D)/widgets.o $$< $$(LDFLAGS) -lm -o $$@
endef
lua_checked_cases   = $(1) $(LUA_TESTS)/cases.lua everywhere
lua_checked_random  = $(1) $(LUA_TESTS)/random.lua 1 $(if $(QUICK),2,10) 600 everywhere
lua_checked_widgets = $(1) $(LUA_TESTS)/widgets.lua
lua_checked_classes = $(1) $(LUA_TESTS)/classes.lua
lua_checked_embed   = QUICK=1 $(1) $(call lua_checked_tests,$(2))
# Not all tests of embed: some are about one collection. 5.1 takes its reserve on a full stack for a misuse; in 5.2 and
# 5.3 finalizers, which raise, run in the middle of what the others do. In 5.5 collections for lack of memory keep no
# order, and leave sentinels to later ones.
lua_checked_tests   = $(if $(filter lua5.1 lua5.2 lua5.3,$(1)),several_states close_with objects_outlive callbacks_without \
                      errors_are_kept slots_find $(if $(filter lua5.1,$(1)),,full_stacks),-each_cycle -lost_clock \
                      $(if $(filter lua5.5,$(call lua_name,$(1))),-end_is_in -sentinels_that))
# The cases and the widgets count collections. In 5.5 one in a finalizer, for lack of memory, leaves
# the other finalizers to the next.
lua_checked_parts   = $(if $(filter lua5.5,$(call lua_name,$(1))),random classes embed,cases random widgets classes embed)
$(foreach lua,$(LUAS_CHECKED),$(eval $(call lua_checked_rules,$(lua)))\
    $(foreach test,$(call lua_checked_parts,$(lua)),$(eval $(call run,lua-checked-$(test)-$(lua),$(call lua_checked_out,$(lua))/embed,\
        env ASAN_OPTIONS=allocator_may_return_null=1 $(call lua_checked_$(test),$(call lua_checked_out,$(lua))/embed,$(lua))))))

ifeq ($(LUAS_CHECKED),)
RUNS += lua-checked
.PHONY: run-lua-checked
run-lua-checked:
	@sh tests/run.sh skip lua-checked "there are no sources of Lua in $(LUA_SOURCES); 'make deps-all' fetches some"
endif

# For `make soak`.
.PHONY: soak-lua
soak: soak-lua
soak-lua: $(foreach lua,$(LUAS),$(call lua_out,$(lua))/random) ## the random programs of each Lua only; LUAS=lua5.4
	@$(foreach lua,$(LUAS),$(call lua_soak,$(lua)) $(SOAK_SECONDS) &&) :

# Of the C programs, those of the newest version and of the last one of the list.
HOST_CHECK_RUNS += $(foreach lua,$(LUAS_QUICK),$(foreach test,cases random-stepped quiet widgets classes demo,lua-$(test)-$(lua))) \
                   $(addprefix lua-embed-,$(LUAS_QUICK)) \
                   $(if $(LUA),lua-readme-$(LUA),lua-lua5.4)

# ---- benchmarks --------------------------------------------------------------

LUA_BENCH_LINKS ?= 1000000
LUA_PAUSES_OBJECTS ?= 100000 1000000

define lua_bench_rules
$(call lua_out,$(1))/bench: $(LUA_TESTS)/bench.c $(LUA_TESTS)/nodes.c $(LUA_NODES_H) $(LUA_HEADERS)
	$$(call LUA_COMPILE,$(1)) $$(BENCH_CFLAGS) -Itests $(LUA_TESTS)/bench.c $(LUA_TESTS)/nodes.c \
	    $$(LDFLAGS) $$(call lua_flags,$(1),--libs) -lm -o $$@
endef
$(foreach lua,$(LUAS),$(eval $(call lua_bench_rules,$(lua))))

LUA_BENCHES := $(foreach lua,$(LUAS),$(call lua_out,$(lua))/bench $(call lua_out,$(lua))/pauses)
.PHONY: bench-lua
bench: bench-lua
bench-lua: $(LUA_BENCHES) ## measure the binding, for each Lua that is installed
	@for lua in $(LUAS); do $(call lua_out,$$lua)/bench $$lua $(LUA_BENCH_LINKS) && \
	    $(call lua_out,$$lua)/pauses $$lua $(LUA_PAUSES_OBJECTS) || exit 1; done
$(if $(LUA),$(eval $(call run,lua-bench-smoke,$(call lua_out,$(LUA))/bench,$(call lua_out,$(LUA))/bench $(LUA) 2000)))
