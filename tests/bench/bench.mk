# The part of the Makefile that is about the benchmarks. README.md tells what they measure.

BENCH_CFLAGS ?= -O2
BENCH_ARGS   ?= --csv $(BUILD)/bench.csv
BENCH_OBJECTS := $(addprefix $(BUILD)/bench/,main.o goals.o data.o calls.o plain.o cycles.o crossing.o mirror.o pauses.o \
                   rows_dict_desc.o rows_dict_macro.o rows_slot_desc.o rows_slot_macro.o)
BENCH_COMPILE = $(CC) $(RRC_CFLAGS) -Itests/bench $(BENCH_CFLAGS)

$(BUILD)/bench/%.o: tests/bench/%.c tests/bench/bench.h $(HEADER)
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -DBENCH_FLAGS='"-std=c99 $(BENCH_CFLAGS)"' -c $< -o $@

$(BUILD)/bench/rows_%.o: tests/bench/rows.c tests/bench/bench.h $(HEADER)
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -DBENCH_SLOT=$(if $(filter slot_%,$*),1,0) \
	    -DBENCH_MACRO=$(if $(filter %_macro,$*),1,0) -c $< -o $@

$(BUILD)/bench/crossing.o: $(PY_DEPS)

$(BUILD)/bench/cycles.o $(BUILD)/bench/pauses.o: tests/bench/nodes.h

$(BUILD)/bench/bench: $(BENCH_OBJECTS) $(PY_DEPS)
	$(BENCH_COMPILE) $(PY_FLAGS) $(BENCH_OBJECTS) $(PY_LIB) $(LDFLAGS) $(PY_LIBS) -lm -o $@

# Others, to compare with: each where its library is installed.
PEER_hand  := $(if $(shell echo "int main(void) { return 0; }" | \
                $(CC) -include uthash.h -x c - -fsyntax-only 2>/dev/null && echo yes),uthash)
PEER_boehm := bdw-gc
PEER_boehm_pauses := bdw-gc
PEER_glib  := gobject-2.0
PEER_lua   := $(LUA)
PEERS      := $(if $(PEER_hand),hand) $(foreach peer,boehm boehm_pauses glib lua,$(if $(PEER_$(peer)),$(shell \
                $(PKG_CONFIG) --exists $(PEER_$(peer)) 2>/dev/null && echo $(peer))))

# uthash is a header alone; pkg-config does not know it.
peer_flags = $(if $(filter hand,$(1)),,$(shell $(PKG_CONFIG) --$(2) $(PEER_$(1))))

PEER_OBJECTS := $(addprefix $(BUILD)/bench/,data.o calls.o)

$(BUILD)/bench/peer_%: tests/bench/peer_%.c tests/bench/peer.h $(PEER_OBJECTS)
	$(BENCH_COMPILE) $(call peer_flags,$*,cflags) $< $(PEER_OBJECTS) \
	    $(LDFLAGS) $(call peer_flags,$*,libs) -lm -o $@

# The Lua of the frame loop has this project's binding; LUA is set by lua.mk.
PAUSE_LUA := $(if $(LUA),$(addprefix $(call lua_out,$(LUA))/,rawrefcount.so nodes.so))

BENCH_PROGRAMS := $(BUILD)/bench/bench $(addprefix $(BUILD)/bench/peer_,$(PEERS)) $(PAUSE_LUA)
peer = --peer "$(1)=$(if $(filter $(2),$(PEERS)),$(BUILD)/bench/peer_$(2))"
python_peer = --peer "CPython=$(if $(shell command -v python3),python3 tests/bench/$(1))"
BENCH_PEERS = $(call peer,by hand,hand) $(call peer,Boehm,boehm) $(call peer,GObject,glib) $(call peer,Lua,lua) $(call python_peer,peer_cpython.py)
PAUSE_PEERS = $(call peer,Boehm,boehm_pauses) $(call python_peer,peer_cpython_pauses.py) \
    --peer "Lua=$(if $(LUA),$(call lua_run,$(LUA)) tests/bench/peer_lua_pauses.lua)"

bench: $(BENCH_PROGRAMS) ## measure, beside others; BENCH_ARGS="--rows TEXT --n N --variant TEXT"
	@$(BUILD)/bench/bench $(BENCH_PEERS) $(PAUSE_PEERS) $(BENCH_ARGS)

# Some numbers are for the chart alone.
BENCH_SIZES := --n 1000,3000,10000,30000,100000,300000,1000000,4000000,10000000 --brief 3000,30000,300000,10000000

bench-results: $(BENCH_PROGRAMS) bench-instructions ## measure again what tests/bench and the README show (20 minutes)
	@sh tests/bench/results.sh measure $(BUILD)/bench/bench $(BENCH_SIZES) --macro rrc_from_obj --without slices $(BENCH_PEERS)
	@sh tests/bench/results.sh measure-pauses $(BUILD)/bench/bench $(PAUSE_PEERS)

bench-pauses: $(BENCH_PROGRAMS) ## measure again what tests/bench shows of pauses
	@sh tests/bench/results.sh measure-pauses $(BUILD)/bench/bench $(PAUSE_PEERS)

bench-chart: ## tables and charts again, out of what make bench-results has left below build/
	@sh tests/bench/results.sh show
	@sh tests/bench/results.sh show-pauses

# Instructions for each operation: the same in every run, with the same compiler.
COUNT_OBJECTS := $(addprefix $(BUILD)/bench/count_,main.o dict.o slot.o mirror.o vm.o port.o hand.o)

$(BUILD)/bench/count_%.o: tests/bench/count.c tests/bench/count.h tests/bench/bench.h $(HEADER) $(CLOSED)
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -DCOUNT_$* -c $< -o $@

$(BUILD)/bench/count_main.o: tests/bench/count_main.c tests/bench/count.h
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -c $< -o $@

$(BUILD)/bench/count_port.o: tests/bench/count_port.c tests/bench/count.h examples/port.c $(HEADER)
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -c $< -o $@

$(BUILD)/bench/count_hand.o: tests/bench/by_hand.c tests/bench/count.h
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -c $< -o $@

$(BUILD)/bench/count_vm.o: tests/bench/count_vm.c tests/bench/count.h $(VM_DEPS)
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -c $< -o $@

# The VM is compiled as it is for its users, but with the flags of the benchmark.
$(BUILD)/bench/count: $(COUNT_OBJECTS) $(VM_DEPS) $(TOOLKIT)
	$(BENCH_COMPILE) $(COUNT_OBJECTS) $(VM_SRCS) $(TOOLKIT) $(LDFLAGS) $(VM_LIBS) -o $@

COUNT_RUN := sh tests/bench/instructions.sh

bench-check: $(BUILD)/bench/count ## no operation takes 2 % more instructions than when last noted (needs valgrind)
	@$(COUNT_RUN) check $(BUILD)/bench/count "$(BENCH_CFLAGS)"

bench-instructions: $(BUILD)/bench/count ## note the instructions of each operation in tests/bench/results
	@$(COUNT_RUN) note $(BUILD)/bench/count "$(BENCH_CFLAGS)"

$(eval $(call run,bench-check,$(BUILD)/bench/count,$(COUNT_RUN) check $(BUILD)/bench/count "$(BENCH_CFLAGS)"))
$(eval $(call run,bench-smoke,$(BENCH_PROGRAMS),sh tests/bench/smoke.sh $(BUILD)/bench/bench $(BENCH_PEERS) $(PAUSE_PEERS)))

bench-profile: $(BUILD)/bench/bench ## where the instructions go, by function (needs valgrind)
	@valgrind --tool=callgrind --callgrind-out-file=$(BUILD)/bench/callgrind.out \
	    $(BUILD)/bench/bench --n 20000 --repeats 1 $(BENCH_ARGS)
	@callgrind_annotate $(BUILD)/bench/callgrind.out | head -n 60
