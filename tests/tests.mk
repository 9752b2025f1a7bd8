# The part of the Makefile that is about the tests of the header. It needs BUILD,
# CC, CFLAGS and $(call run,NAME,PREREQUISITES,COMMAND), which announces a test.
#
#   suite-VARIANT          every topic (tests/test_*.c) in one program
#   no_cycles-VARIANT      the topics that a build with RRC_NO_CYCLES has, and what it refuses
#   random-VARIANT         random operations against an oracle
#   cycles-VARIANT         graphs over both heaps: random, all small ones, those of tests/graphs
#   mirror-VARIANT         the same for a host whose collector is closed
#   slices-VARIANT         major collections in slices: random programs, all small graphs
#   snapshot-VARIANT       a library that is not ours reads heap snapshots
#   damage-VARIANT         a heap whose tables are damaged from inside
#
# The words of a variant are its settings: see tests/variant.sh.

TEST_HEADERS := $(HEADER) $(INSIGHT) $(WEAK) $(CLOSED) $(wildcard tests/*.h) tests/variant.sh
HOST_SRCS    := tests/unit.c tests/host.c tests/objects.c tests/insight.c tests/weak.c
STATES       := $(BUILD)/tests/states.inc
SUITE_SRCS   := tests/suite.c $(HOST_SRCS) tests/knots.c tests/states.c tests/other_debug.c tests/other_layout.c \
                tests/static_plain.c tests/static_adapted.c $(wildcard tests/test_*.c)
NO_CYCLES_SRCS := tests/no_cycles.c $(HOST_SRCS) $(patsubst %,tests/test_%.c,links phases finalizers unlinking \
                  demotion queue movement invariants)
RANDOM_SRCS  := tests/random.c $(HOST_SRCS)
WORLD_SRCS   := tests/world.c tests/random_cycles.c $(HOST_SRCS)
CYCLES_SRCS  := tests/cycles.c tests/small_graphs.c tests/graphs.c tests/graph.c $(WORLD_SRCS)
MIRROR_SRCS  := $(wildcard tests/mirror*.c) tests/graph.c tests/states.c tests/unit.c tests/insight.c tests/weak.c
GRAPHS       := $(sort $(wildcard tests/graphs/*.graph))
BUILD_VARIANT = @echo "building $@"; UNITS='$(1)' CFLAGS='$(CFLAGS)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' sh tests/variant.sh

# The unit with the header's implementation, of which a variant's programs share one.
$(BUILD)/tests/impl-%.o: tests/impl.c $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ $* tests/impl.c

# What the header's comments promise of each function in each state.
$(STATES): tests/states.sh $(HEADER) $(INSIGHT) $(WEAK) $(CLOSED)
	@mkdir -p $(@D)
	@sh tests/states.sh >$@

# (The header is compiled as CFLAGS says. To optimize the tests themselves would take longer than to run them.)
$(BUILD)/tests/suite-%: $(BUILD)/tests/impl-%.o $(SUITE_SRCS) $(STATES) $(TEST_HEADERS)
	$(call BUILD_VARIANT,-O0) $@ $* $< $(SUITE_SRCS)

$(BUILD)/tests/no_cycles-%: $(BUILD)/tests/impl-nocycles-%.o $(NO_CYCLES_SRCS) $(TEST_HEADERS)
	$(call BUILD_VARIANT,-O0) $@ nocycles-$* $< $(NO_CYCLES_SRCS)

$(BUILD)/tests/random-%: $(BUILD)/tests/impl-%.o $(RANDOM_SRCS) $(TEST_HEADERS)
	$(call BUILD_VARIANT,-O1) $@ $* $< $(RANDOM_SRCS)

$(BUILD)/tests/cycles-%: $(BUILD)/tests/impl-%.o $(CYCLES_SRCS) $(TEST_HEADERS)
	$(call BUILD_VARIANT,-O1) $@ $* $< $(CYCLES_SRCS)

$(BUILD)/tests/mirror-%: $(BUILD)/tests/impl-mirror-%.o $(MIRROR_SRCS) $(STATES) $(TEST_HEADERS)
	$(call BUILD_VARIANT,$(if $(findstring asan,$*),-O0,-O1)) $@ mirror-$* $< $(MIRROR_SRCS)

$(BUILD)/tests/damage-%: tests/damage.c tests/unit.c $(TEST_HEADERS)
	$(call BUILD_VARIANT,-O0) $@ $* tests/damage.c tests/unit.c

$(BUILD)/tests/slices-%: tests/slices.c tests/unit.c $(TEST_HEADERS)
	$(call BUILD_VARIANT,-O1) $@ $* tests/slices.c tests/unit.c

# Those of `make test`: every word is in one of them. Then everything.
CHECK_VARIANTS := dict-desc-moves slot-desc-fixed-debug-asan m32-front-small-dict-macros-moves
# Some tests are for a few variants only.
FEW_VARIANTS := $(CHECK_VARIANTS) slot-macros-fixed-debug mirror-dict-desc-moves
# Half of the ways to combine four settings: any three of them meet in all ways.
COMMON_VARIANTS := dict-desc-moves dict-desc-fixed-debug dict-macros-moves-debug dict-macros-fixed \
                   slot-desc-moves-debug slot-desc-fixed slot-macros-moves slot-macros-fixed-debug
OTHER_VARIANTS := front-dict-desc-moves front-slot-macros-moves-debug \
                  small-dict-desc-moves small-slot-macros-moves-debug \
                  mirror-dict-desc-moves mirror-slot-desc-fixed-debug mirror-front-dict-desc-moves \
                  m32-dict-desc-moves m32-slot-macros-fixed-debug m32-front-small-dict-macros-moves
# Sanitizers take long: each two settings meet here, and with what the others have.
SANITIZED     := $(addsuffix -asan,dict-desc-moves dict-macros-fixed-debug slot-desc-fixed-debug \
                 slot-macros-moves-debug slot-macros-fixed \
                 front-slot-macros-moves-debug small-dict-desc-moves mirror-slot-desc-fixed-debug \
                 mirror-front-dict-desc-moves clang-dict-desc-moves-debug)
TEST_VARIANTS := $(COMMON_VARIANTS) $(OTHER_VARIANTS) $(SANITIZED) \
                 clang-slot-macros-moves clang-dict-macros-fixed-debug dict-desc-moves-tsan
# Tests of size are of full size in these: ten million objects in a row take long, too.
FULL_SIZE     := dict-desc-moves slot-macros-fixed-debug m32-dict-desc-moves mirror-dict-desc-moves

$(foreach variant,$(TEST_VARIANTS),\
    $(eval $(call run,suite-$(variant),$(BUILD)/tests/suite-$(variant),\
        $(if $(filter $(variant),$(FULL_SIZE)),,env QUICK=1) $(BUILD)/tests/suite-$(variant)))\
    $(eval $(call run,random-$(variant),$(BUILD)/tests/random-$(variant),\
        $(BUILD)/tests/random-$(variant) 1 $(if $(QUICK)$(filter %-asan %-tsan,$(variant)),$(if $(and $(QUICK),$(filter %-asan,$(variant))),40,100),200))))
CHECK_RUNS += $(foreach variant,$(CHECK_VARIANTS),suite-$(variant) random-$(variant))

NO_CYCLES_VARIANTS := dict-desc-moves-debug slot-macros-fixed-asan m32-front-small-dict-desc-moves
$(foreach variant,$(NO_CYCLES_VARIANTS),\
    $(eval $(call run,no_cycles-$(variant),$(BUILD)/tests/no_cycles-$(variant),env QUICK=1 $(BUILD)/tests/no_cycles-$(variant)))\
    $(eval $(call run,random-nocycles-$(variant),$(BUILD)/tests/random-nocycles-$(variant),\
        $(BUILD)/tests/random-nocycles-$(variant) 1 100)))
CHECK_RUNS += no_cycles-dict-desc-moves-debug

$(eval $(call run,state_errors,$(BUILD)/tests/impl-dict-desc-moves.o,\
    sh tests/state_errors.sh $(BUILD)/tests/impl-dict-desc-moves.o))
CHECK_RUNS += state_errors

# Cycles. Each of the common variants takes its share of the small graphs: together
# all. The others, and the quick subset, take a sample; and so do a few of the graphs of
# three nodes with self references, six times as many. These samples are small, as they
# notice no mutant that no other test notices (tests/README.md).
slow = $(QUICK)$(filter %-asan %-tsan,$(1))
SHARES := $(words $(COMMON_VARIANTS))
SHARES_TAKEN :=
define run_cycles
$(call run,random_cycles-$(1),$(BUILD)/tests/cycles-$(1),\
    $(BUILD)/tests/cycles-$(1) random 1 $(if $(call slow,$(1)),150 300,800 400))
$(call run,graphs-$(1),$(BUILD)/tests/cycles-$(1),$(BUILD)/tests/cycles-$(1) graphs $(GRAPHS))
$(call run,small_graphs-$(1),$(BUILD)/tests/cycles-$(1),$(BUILD)/tests/cycles-$(1) small \
    $(if $(call slow,$(1)),$(if $(and $(QUICK),$(filter %-asan,$(1))),8009,2003) 1,$(if $(filter $(1),$(COMMON_VARIANTS)),$(SHARES) $(words $(SHARES_TAKEN)),2003 2)))
$(if $(filter $(1),$(FEW_VARIANTS)),$(call run,small_selves-$(1),$(BUILD)/tests/cycles-$(1),\
    $(BUILD)/tests/cycles-$(1) selves $(if $(call slow,$(1)),20011 1,2003 $(words $(SHARES_TAKEN)))))
SHARES_TAKEN += $(filter $(1),$(COMMON_VARIANTS))
endef
CYCLE_VARIANTS := $(filter-out %-tsan,$(filter-out %-asan,$(TEST_VARIANTS))) \
                  dict-desc-moves-asan slot-desc-fixed-debug-asan small-dict-desc-moves-asan
$(foreach variant,$(CYCLE_VARIANTS),$(eval $(call run_cycles,$(variant))))
$(eval $(call run,graph_errors,$(BUILD)/tests/cycles-$(firstword $(CHECK_VARIANTS)),\
    sh tests/graph_errors.sh $(BUILD)/tests/cycles-$(firstword $(CHECK_VARIANTS))))
CHECK_RUNS += graph_errors $(foreach variant,$(CHECK_VARIANTS),random_cycles-$(variant) graphs-$(variant) small_graphs-$(variant))

# Heap snapshots, as another program reads them.
SNAPSHOT_SRCS := tests/snapshot.c tests/knots.c $(HOST_SRCS)
$(BUILD)/tests/snapshot-%: $(BUILD)/tests/impl-%.o $(SNAPSHOT_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ $* $< $(SNAPSHOT_SRCS)
$(foreach variant,$(FEW_VARIANTS),\
    $(eval $(call run,snapshot-$(variant),$(BUILD)/tests/snapshot-$(variant) tests/snapshot.js,\
        sh tests/snapshot.sh $(BUILD)/tests/snapshot-$(variant))))

# Threads that drop references. The atomics are gcc's, C11's, or the program's own.
MAIL_BUILDS := gcc c11 own tsan own-tsan c11-tsan
$(BUILD)/tests/mail-%: tests/mail.c rawrefcount.h
	@echo "building $@"
	@$(CC) -std=$(if $(findstring c11,$*),c11,c99) $(WARNINGS) -Werror -I. \
	    $(if $(findstring own,$*),-DMAIL_ATOMICS) \
	    $(if $(findstring tsan,$*),-O1 -g -fsanitize=thread,$(CFLAGS)) $< -o $@ -lpthread
$(foreach build,$(MAIL_BUILDS),\
    $(eval $(call run,mail-$(build),$(BUILD)/tests/mail-$(build),\
        $(BUILD)/tests/mail-$(build) $(if $(QUICK),1000000,10000000) 16)))
CHECK_RUNS += mail-gcc mail-c11

DAMAGE_VARIANTS := plain mirror-debug m32-mirror-debug small-asan
$(foreach variant,$(DAMAGE_VARIANTS),\
    $(eval $(call run,damage-$(variant),$(BUILD)/tests/damage-$(variant),$(BUILD)/tests/damage-$(variant))))
CHECK_RUNS += damage-mirror-debug damage-small-asan

# Major collections in slices. Two variants share the small graphs, the others take samples.
SLICES_CHECK    := dict slot-debug
SLICES_VARIANTS := $(SLICES_CHECK) slot dict-debug dict-debug-asan slot-asan small-dict-asan m32-dict-debug m32-slot
slices_share = $(if $(QUICK),199 1,$(if $(filter dict,$(1)),2 0,$(if $(filter slot,$(1)),2 1,61 3)))
define run_slices
$(call run,slices_random-$(1),$(BUILD)/tests/slices-$(1),$(BUILD)/tests/slices-$(1) random 1 \
    $(if $(QUICK),100,$(if $(filter %-asan,$(1)),400,2000)) 600)
$(call run,slices_small-$(1),$(BUILD)/tests/slices-$(1),$(BUILD)/tests/slices-$(1) small $(call slices_share,$(1)))
endef
$(foreach variant,$(SLICES_VARIANTS),$(eval $(call run_slices,$(variant))))
$(eval $(call run,slices_errors,,sh tests/slices_errors.sh))
CHECK_RUNS += $(foreach variant,$(SLICES_CHECK),slices_random-$(variant) slices_small-$(variant))

# Closed hosts. Two variants share the small graphs; sanitizers and 32 bits take samples.
MIRROR_CHECK := plain debug
MIRROR_VARIANTS := $(MIRROR_CHECK) plain-asan debug-asan front-debug small-asan clang-debug m32-debug m32-small
mirror_slices_share = $(if $(QUICK),$(if $(filter %-asan,$(1)),100003,40009) 2,$(if $(filter plain,$(1)),499 0,$(if $(filter debug,$(1)),499 1,20011 3)))
mirror_share = $(if $(QUICK),4001 1,$(if $(filter plain,$(1)),2 0,$(if $(filter debug,$(1)),20 1,401 2)))
define run_mirror
$(call run,mirror_cases-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) cases)
$(call run,mirror_graphs-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) graphs $(GRAPHS))
$(call run,mirror_small-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) small $(call mirror_share,$(1)))
$(call run,mirror_slices-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) slices $(call mirror_slices_share,$(1)))
$(call run,mirror_random-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) random 1 \
    $(if $(QUICK),60 400,$(if $(filter %-asan,$(1)),300 500,1000 600)))
endef
$(foreach variant,$(MIRROR_VARIANTS),$(eval $(call run_mirror,$(variant))))
MIRROR_CHECK_RUNS := debug small-asan
CHECK_RUNS += $(foreach variant,$(MIRROR_CHECK_RUNS),$(foreach kind,cases graphs small slices random,mirror_$(kind)-$(variant)))

# With a rule broken: something is lost, or found by the debug checks.
$(foreach rule,moves increfs,$(foreach variant,$(MIRROR_CHECK),\
    $(eval $(call run,mirror_without_$(rule)-$(variant),$(BUILD)/tests/mirror-$(variant),\
        $(BUILD)/tests/mirror-$(variant) control $(rule)))))

# All of them, for two hours: not a part of `make test-all`.
EXHAUSTIVE := $(addprefix exhaustive-,dict-desc-moves slot-macros-fixed-debug)
.PHONY: exhaustive $(EXHAUSTIVE)
exhaustive: ## all small graphs, also those that test-all takes a sample of (hours)
	+@$(MAKE) --no-print-directory $(PARALLEL) $(EXHAUSTIVE)
$(EXHAUSTIVE): exhaustive-%: $(BUILD)/tests/cycles-%
	$< small 1
	$< selves 2 $(if $(filter $*,$(firstword $(CHECK_VARIANTS))),0,1)

$(eval $(call run,units,,sh tests/units.sh))
CHECK_RUNS += units

# What tries a changed header, for each kind of host: the header as it is passes.
$(BUILD)/tests/attempt/%.passed: tests/attempt.sh tests/states.sh $(wildcard tests/*.c) $(TEST_HEADERS)
	@mkdir -p $(@D)/$*
	@sh tests/attempt.sh build $(@D) $*
	@cp $(HEADER) $(@D)/$*
	@sh tests/attempt.sh run $(@D) $(@D)/$* $* || { tail -n 5 $(@D)/$*/log; exit 1; }
	@touch $@

# Controls that must fail: mistakes in the header. All that were made by hand must be noticed, and those of
# a sample of all small changes noticed or accepted, as many as six minutes allow: always the same ones.
# `make mutate` tries more of these, for minutes or hours.
ATTEMPTS := $(patsubst %,$(BUILD)/tests/attempt/%.passed,dict slot mirror watched)
define run_mutants
$(call run,mutants_$(1)-$(2),$(ATTEMPTS),python3 tests/mutate.py --$(1) --part $(2) --share $(3) --jobs 1)
endef
$(foreach part,0 1,$(eval $(call run_mutants,by-hand,$(part),2)))
$(foreach part,0 100,$(eval $(call run_mutants,small,$(part),200 --minutes 6)))

MUTATE ?= --share 50
.PHONY: mutate
mutate: ## put mistakes in the header: do the tests notice? MUTATE="--share 50" (1: all, for hours)
	@python3 tests/mutate.py $(MUTATE)

# ---- coverage ----------------------------------------------------------------

COVERED := $(addsuffix .counts,$(addprefix $(BUILD)/coverage/,\
               $(addprefix suite-clang-cover-,dict-desc-moves-debug slot-macros-moves small-slot-desc-fixed-debug \
                   front-mirror-dict-macros-moves-debug) \
               cycles-clang-cover-slot-desc-moves-debug cycles-clang-cover-mirror-dict-desc-moves \
               mirror-clang-cover-plain mirror-clang-cover-small-debug \
               damage-clang-cover-plain damage-clang-cover-mirror-debug \
               slices-clang-cover-dict-debug slices-clang-cover-slot no_cycles-clang-cover-dict-desc-moves-debug))
$(BUILD)/coverage/%.counts: $(BUILD)/tests/% tests/coverage.sh $(GRAPHS)
	@echo "counting $*"
	@sh tests/coverage.sh count $<

$(eval $(call run,coverage,$(COVERED),sh tests/coverage.sh report $(COVERED)))
.PHONY: coverage
coverage: $(COVERED) ## which lines and branches of the header no test reaches (needs clang, llvm)
	@sh tests/coverage.sh report $^

# What the fuzzer has found worth keeping, without a fuzzer.
define run_replays
$(call run,replay_random-$(1),$(BUILD)/tests/random-$(1),$(BUILD)/tests/random-$(1) replay $(wildcard tests/corpus/random/*))
$(call run,replay_cycles-$(1),$(BUILD)/tests/cycles-$(1),\
    $(BUILD)/tests/cycles-$(1) random replay $(wildcard tests/corpus/cycles/*))
endef
define run_slices_replay
$(call run,replay_slices-$(1),$(BUILD)/tests/slices-$(1),\
    $(BUILD)/tests/slices-$(1) random replay $(wildcard tests/corpus/slices/*))
endef
define run_mirror_replay
$(call run,replay_mirror-$(1),$(BUILD)/tests/mirror-$(1),\
    $(BUILD)/tests/mirror-$(1) random replay $(wildcard tests/corpus/mirror/*))
endef
$(foreach variant,$(FEW_VARIANTS),$(eval $(call run_replays,$(variant))))
$(foreach variant,$(MIRROR_CHECK),$(eval $(call run_mirror_replay,$(variant))))
$(foreach variant,$(SLICES_CHECK),$(eval $(call run_slices_replay,$(variant))))
CHECK_RUNS += $(foreach variant,$(CHECK_VARIANTS),replay_random-$(variant) replay_cycles-$(variant)) \
              replay_mirror-debug $(addprefix replay_slices-,$(SLICES_CHECK))

# Random runs for a long time, in which memory must stay flat.
SOAK_SECONDS  ?= 3600
SOAK_PROGRAMS := $(BUILD)/tests/random-dict-desc-moves $(BUILD)/tests/cycles-dict-desc-moves $(BUILD)/tests/mirror-plain \
                 $(BUILD)/tests/slices-dict
soak_command = env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 $(1) $(if $(findstring /random-,$(1)),,random) soak

.PHONY: soak
soak: $(SOAK_PROGRAMS) ## random runs, SOAK_SECONDS=3600 for each program: memory must stay flat
	@$(foreach program,$(SOAK_PROGRAMS),$(call soak_command,$(program)) $(SOAK_SECONDS) &&) :
$(foreach program,$(SOAK_PROGRAMS),\
    $(eval $(call run,soak-$(notdir $(program)),$(program),$(call soak_command,$(program)) 3)))

# ---- the fuzzer --------------------------------------------------------------
#
# A kind of random test, the setting that is fuzzed, and what is kept in tests/corpus/KIND.

FUZZ_SECONDS ?= 60
FUZZ_KINDS   := random cycles mirror slices
FUZZ_random  := $(BUILD)/tests/fuzz_random-dict-desc-moves-small-debug
FUZZ_cycles  := $(BUILD)/tests/fuzz_cycles-dict-desc-moves-debug
FUZZ_mirror  := $(BUILD)/tests/fuzz_mirror-small-debug
FUZZ_slices  := $(BUILD)/tests/fuzz_slices-dict-debug
FUZZERS      := $(foreach kind,$(FUZZ_KINDS),$(FUZZ_$(kind)))
FUZZ_MIRROR_SRCS := tests/mirror_random.c tests/mirror_world.c tests/mirror_host.c tests/unit.c tests/impl.c \
                    tests/insight.c

$(BUILD)/tests/fuzz_random-%: $(RANDOM_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ clang-fuzz-$* $(RANDOM_SRCS) tests/impl.c

$(BUILD)/tests/fuzz_cycles-%: $(WORLD_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ clang-fuzz-$* $(WORLD_SRCS) tests/impl.c

$(BUILD)/tests/fuzz_mirror-%: $(FUZZ_MIRROR_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ clang-fuzz-mirror-$* $(FUZZ_MIRROR_SRCS)

$(BUILD)/tests/fuzz_slices-%: tests/slices.c tests/unit.c $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ clang-fuzz-$* tests/slices.c tests/unit.c

fuzz: $(FUZZERS) ## random bytes drive the operations of tests/*random*.c (needs clang); FUZZ_SECONDS=60
	@$(foreach kind,$(FUZZ_KINDS),sh tests/fuzz.sh $(kind) $(FUZZ_$(kind)) $(FUZZ_SECONDS) &&) :

fuzz-corpus: $(FUZZERS) ## keep in tests/corpus what the fuzzer found, and no more than it takes
	@$(foreach kind,$(FUZZ_KINDS),sh tests/fuzz.sh merge $(kind) $(FUZZ_$(kind)) &&) :

$(foreach kind,$(FUZZ_KINDS),$(eval $(call run,fuzz-$(kind),$(FUZZ_$(kind)),sh tests/fuzz.sh $(kind) $(FUZZ_$(kind)) 10)))
