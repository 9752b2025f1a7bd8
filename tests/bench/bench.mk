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
PEER_boehm := bdw-gc
PEER_boehm_pauses := bdw-gc
PEER_glib  := gobject-2.0
PEER_lua   := $(LUA)
PEERS      := $(foreach peer,boehm boehm_pauses glib lua,$(if $(PEER_$(peer)),$(shell \
                $(PKG_CONFIG) --exists $(PEER_$(peer)) 2>/dev/null && echo $(peer))))

PEER_OBJECTS := $(addprefix $(BUILD)/bench/,data.o calls.o)

$(BUILD)/bench/peer_%: tests/bench/peer_%.c tests/bench/peer.h $(PEER_OBJECTS)
	$(BENCH_COMPILE) $(shell $(PKG_CONFIG) --cflags $(PEER_$*)) $< $(PEER_OBJECTS) \
	    $(LDFLAGS) $(shell $(PKG_CONFIG) --libs $(PEER_$*)) -lm -o $@

# The Lua of the frame loop has this project's binding; LUA is set by lua.mk.
PAUSE_LUA := $(if $(LUA),$(addprefix $(call lua_out,$(LUA))/,rawrefcount.so nodes.so))

BENCH_PROGRAMS := $(BUILD)/bench/bench $(addprefix $(BUILD)/bench/peer_,$(PEERS)) $(PAUSE_LUA)
peer = --peer "$(1)=$(if $(filter $(2),$(PEERS)),$(BUILD)/bench/peer_$(2))"
python_peer = --peer "CPython=$(if $(shell command -v python3),python3 tests/bench/$(1))"
BENCH_PEERS = $(call peer,Boehm,boehm) $(call peer,GObject,glib) $(call peer,Lua,lua) $(call python_peer,peer_cpython.py)
PAUSE_PEERS = $(call peer,Boehm,boehm_pauses) $(call python_peer,peer_cpython_pauses.py) \
    --peer "Lua=$(if $(LUA),$(call lua_run,$(LUA)) tests/bench/peer_lua_pauses.lua)"

bench: $(BENCH_PROGRAMS) ## measure, beside others; BENCH_ARGS="--rows TEXT --n N --variant TEXT"
	@$(BUILD)/bench/bench $(BENCH_PEERS) $(PAUSE_PEERS) $(BENCH_ARGS)

bench-results: $(BENCH_PROGRAMS) bench-instructions ## measure anew what tests/bench/results and the README show
	@sh tests/bench/results.sh measure $(BUILD)/bench/bench --without macro --without slices $(BENCH_PEERS)
	@sh tests/bench/results.sh measure-pauses $(BUILD)/bench/bench $(PAUSE_PEERS)

bench-pauses: $(BENCH_PROGRAMS) ## measure anew what tests/bench/results shows of pauses
	@sh tests/bench/results.sh measure-pauses $(BUILD)/bench/bench $(PAUSE_PEERS)

bench-chart: ## table, chart and the README's part of them again, out of tests/bench/results/bench.csv
	@sh tests/bench/results.sh show
	@sh tests/bench/results.sh show-pauses

# Instructions for each operation: the same in every run, with the same compiler.
COUNT_OBJECTS := $(addprefix $(BUILD)/bench/count_,main.o dict.o slot.o mirror.o)

$(BUILD)/bench/count_%.o: tests/bench/count.c tests/bench/count.h tests/bench/bench.h $(HEADER)
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -DCOUNT_$* -c $< -o $@

$(BUILD)/bench/count_main.o: tests/bench/count_main.c tests/bench/count.h
	@mkdir -p $(@D)
	$(BENCH_COMPILE) -c $< -o $@

$(BUILD)/bench/count: $(COUNT_OBJECTS)
	$(BENCH_COMPILE) $(COUNT_OBJECTS) $(LDFLAGS) -o $@

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
