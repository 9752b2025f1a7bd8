# The part of the Makefile that is about the tests of the header. It needs BUILD,
# CC, CFLAGS and $(call run,NAME,PREREQUISITES,COMMAND), which announces a test.
#
#   suite-VARIANT    every topic (tests/test_*.c) in one program
#   random-VARIANT   random operations against an oracle
#
# The words of a variant are its settings: see tests/variant.sh.

TEST_HEADERS := $(HEADER) $(wildcard tests/*.h) tests/variant.sh
HOST_SRCS    := tests/unit.c tests/host.c tests/objects.c tests/impl.c
SUITE_SRCS   := tests/suite.c $(HOST_SRCS) tests/other_debug.c tests/other_layout.c \
                tests/static_plain.c tests/static_adapted.c $(wildcard tests/test_*.c)
RANDOM_SRCS  := tests/random.c $(HOST_SRCS)
BUILD_VARIANT = @CFLAGS='$(CFLAGS)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' sh tests/variant.sh

$(BUILD)/tests/suite-%: $(SUITE_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ $* $(SUITE_SRCS)

$(BUILD)/tests/random-%: $(RANDOM_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ $* $(RANDOM_SRCS)

# The quick subset, and everything.
CHECK_VARIANTS := dict-desc-moves slot-macros-fixed-debug
COMMON_VARIANTS := $(foreach find,dict slot,$(foreach hooks,desc macros,$(foreach moving,moves fixed,\
                   $(find)-$(hooks)-$(moving) $(find)-$(hooks)-$(moving)-debug)))
OTHER_VARIANTS := front-dict-desc-moves front-slot-macros-moves-debug \
                  small-dict-desc-moves small-slot-macros-moves-debug \
                  m32-dict-desc-moves m32-slot-macros-fixed-debug m32-front-small-dict-desc-moves
TEST_VARIANTS := $(COMMON_VARIANTS) $(OTHER_VARIANTS) \
                 $(addsuffix -asan,$(COMMON_VARIANTS) $(filter-out m32-%,$(OTHER_VARIANTS))) \
                 $(addprefix clang-,dict-desc-moves slot-macros-moves dict-macros-fixed-debug \
                     slot-desc-fixed-debug dict-desc-moves-debug-asan slot-macros-moves-asan) \
                 dict-desc-moves-tsan slot-macros-fixed-tsan

$(foreach variant,$(TEST_VARIANTS),\
    $(eval $(call run,suite-$(variant),$(BUILD)/tests/suite-$(variant),$(BUILD)/tests/suite-$(variant)))\
    $(eval $(call run,random-$(variant),$(BUILD)/tests/random-$(variant),\
        $(BUILD)/tests/random-$(variant) 1 $(if $(QUICK)$(filter %-asan %-tsan,$(variant)),100,250))))
CHECK_RUNS += $(foreach variant,$(CHECK_VARIANTS),suite-$(variant) random-$(variant))

$(eval $(call run,units,,sh tests/units.sh))
CHECK_RUNS += units

# Controls that must fail.
$(eval $(call run,mutants,,sh tests/mutants.sh))

# ---- the fuzzer --------------------------------------------------------------

FUZZ_SECONDS ?= 60

$(BUILD)/tests/fuzz-%: $(RANDOM_SRCS) $(TEST_HEADERS)
	$(BUILD_VARIANT) $@ clang-fuzz-$* $(RANDOM_SRCS)

fuzz: $(BUILD)/tests/fuzz-dict-desc-moves-debug $(BUILD)/tests/fuzz-slot-macros-fixed-small ## random bytes drive the operations of tests/random.c (needs clang); FUZZ_SECONDS=60
	@mkdir -p $(BUILD)/corpus
	@for program in $^; do \
	    $$program -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -len_control=0 -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/corpus- $(BUILD)/corpus || exit 1; done
