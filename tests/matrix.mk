# The part of the Makefile about compilers and machines: the same programs as in tests.mk,
# built in other ways. A way to build is words of tests/variant.sh, put in front of those of
# a setting. `make test-all` runs a sample early, and the rest at its end.

MATRIX_SETTINGS := dict-desc-moves-debug slot-macros-fixed
MATRIX_MIRROR   := debug small
MATRIX_WAYS     := $(foreach cc,gcc clang,$(addprefix $(cc)-,O0 O1 O2 O3 Os O2-lto)) \
                   gcc-m32-O0 gcc-m32-O3 clang-m32-O2 tcc musl mingw wasm msan arm s390x valgrind
MATRIX_SLOW     := arm-% s390x-% msan-% valgrind-% tcc-%

# $(call if_slow,VARIANT,THEN,ELSE)
if_slow = $(if $(filter $(MATRIX_SLOW),$(1)),$(2),$(3))

define run_setting
$(call run,suite-$(1),$(BUILD)/tests/suite-$(1),$(BUILD)/tests/suite-$(1))
$(call run,random-$(1),$(BUILD)/tests/random-$(1),$(BUILD)/tests/random-$(1) 1 $(call if_slow,$(1),15,100))
$(call run,random_cycles-$(1),$(BUILD)/tests/cycles-$(1),\
    $(BUILD)/tests/cycles-$(1) random 1 $(call if_slow,$(1),30 300,300 400))
$(call run,graphs-$(1),$(BUILD)/tests/cycles-$(1),$(BUILD)/tests/cycles-$(1) graphs $(GRAPHS))
$(call run,small_graphs-$(1),$(BUILD)/tests/cycles-$(1),\
    $(BUILD)/tests/cycles-$(1) small $(call if_slow,$(1),20011 3,2003 3))
endef

define run_mirror_setting
$(call run,mirror_cases-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) cases)
$(call run,mirror_graphs-$(1),$(BUILD)/tests/mirror-$(1),$(BUILD)/tests/mirror-$(1) graphs $(GRAPHS))
$(call run,mirror_small-$(1),$(BUILD)/tests/mirror-$(1),\
    $(BUILD)/tests/mirror-$(1) small $(call if_slow,$(1),20011 3,2003 3))
$(call run,mirror_random-$(1),$(BUILD)/tests/mirror-$(1),\
    $(BUILD)/tests/mirror-$(1) random 1 $(call if_slow,$(1),20 400,150 500))
endef

RUNS_BEFORE := $(RUNS)
$(foreach way,$(MATRIX_WAYS),\
    $(foreach setting,$(MATRIX_SETTINGS),$(eval $(call run_setting,$(way)-$(setting))))\
    $(foreach setting,$(MATRIX_MIRROR),$(eval $(call run_mirror_setting,$(way)-$(setting)))))
MATRIX_RUNS := $(filter-out $(RUNS_BEFORE),$(RUNS))
MATRIX_SAMPLE := $(foreach way,s390x wasm mingw,suite-$(way)-dict-desc-moves-debug) \
                 $(foreach way,s390x arm wasm,random-$(way)-dict-desc-moves-debug) \
                 $(foreach way,s390x arm wasm tcc msan mingw musl gcc-O3 valgrind,\
                     $(addsuffix -$(way)-dict-desc-moves-debug,random_cycles graphs)) \
                 $(foreach way,s390x arm wasm,small_graphs-$(way)-dict-desc-moves-debug) \
                 $(foreach way,s390x wasm,$(addsuffix -$(way)-debug,mirror_cases mirror_graphs mirror_random))
MATRIX_ONLY := $(filter-out $(MATRIX_SAMPLE),$(MATRIX_RUNS))

.PHONY: matrix
matrix: $(TESTED) ## the part of `make test-all` about other compilers, optimizations and machines (qemu, wine)
	$(RUN_TESTS) 'RUN_NAMES=$$(MATRIX_RUNS)'
