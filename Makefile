# GNU make 3.81 or newer. `make help` lists the targets.
# Everything that is built goes under build/, or another folder: `make BUILD=build/other test`.

# Can be set: on the command line, or in the environment.
CXX        ?= c++
CFLAGS     ?= -O2 -g
CXXFLAGS   ?= $(CFLAGS)
LDFLAGS    ?=
PREFIX     ?= /usr/local
DESTDIR    ?=
PKG_CONFIG ?= pkg-config

# What every build needs, whatever CFLAGS says. BUILD is a relative path.
WARNINGS   := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
RRC_CFLAGS := -std=c99 $(WARNINGS) -I.
BUILD      := build
HEADER     := rawrefcount.h
INSIGHT    := bindings/insight/rrc_insight.h
WEAK       := bindings/weak/rrc_weak.h
CLOSED     := bindings/closed/rrc_closed.h
VERSION    := $(shell sed -n 's/^\#define RRC_VERSION "\(.*\)"/\1/p' $(HEADER))

ifneq ($(words $(BUILD)) $(filter /%,$(BUILD)),1 )
$(error BUILD='$(BUILD)' must be a relative path without blanks, such as build/other)
endif

.DEFAULT_GOAL := all
.PHONY: all demo check check-hosts test test-all bench bench-results bench-pauses bench-chart \
        bench-check bench-instructions bench-profile fuzz fuzz-corpus lint deps deps-all install uninstall clean help
.DELETE_ON_ERROR:
.SECONDARY:

export CC CXX BUILD PKG_CONFIG

# Tests are run in parallel where -j is not given: as many jobs as processors.
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

# RUNS: the names of all tests. CHECK_RUNS, HOST_CHECK_RUNS: those of `make test`, of the header
# with what needs nothing else, and of the bindings to other hosts. It sets QUICK, which makes
# samples smaller.
# $(call run,NAME,WHAT IT NEEDS,COMMAND) makes a target run-NAME out of a test.
RUNS       :=
CHECK_RUNS :=
HOST_CHECK_RUNS :=
define run
RUNS += $(1)
.PHONY: run-$(1)
run-$(1): $(2)
	@sh tests/run.sh one $(1) $(3)
endef

include bindings/compactvm/compactvm.mk
include bindings/cpython/cpython.mk
include bindings/ruby/ruby.mk
include tests/tests.mk
include tests/matrix.mk
include examples/widgets/widgets.mk
include bindings/lua/lua.mk
include examples/gobject/gobject.mk
include bindings/mruby/mruby.mk
include tests/bench/bench.mk
include bindings/testkit/testkit.mk

# Those in C++ are left out where there is no compiler for it.
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c)) \
            $(if $(shell command -v $(CXX)),$(patsubst examples/%.cpp,$(BUILD)/examples/%,$(wildcard examples/*.cpp)))

TENSOR   := $(BUILD)/examples/tensor.so

all: $(CVM) $(PVM) $(EXAMPLES) $(TENSOR) ## build the VM, without and with Python.h, and the examples

$(BUILD)/examples/%: examples/%.c $(HEADER) $(INSIGHT) $(WEAK) $(CLOSED)
	@mkdir -p $(@D)
	$(CC) $(RRC_CFLAGS) $(CPPFLAGS) $(CFLAGS) $< $(LDFLAGS) -o $@

$(BUILD)/examples/%: examples/%.cpp $(HEADER)
	@mkdir -p $(@D)
	$(CXX) -std=c++11 $(WARNINGS) -I. $(CPPFLAGS) $(CXXFLAGS) $< $(LDFLAGS) -o $@

# An extension: one to run, and one for a VM with RRC_DEBUG.
$(TENSOR): examples/tensor/tensor.c $(PY_DEPS)
	$(PY_EXTENSION) $(CFLAGS) $< $(LDFLAGS) -o $@

$(BUILD)/examples/debug/tensor.so: examples/tensor/tensor.c $(PY_DEPS)
	$(PY_EXTENSION) $(CVM_SANITIZE) $< $(LDFLAGS) -o $@

demo: $(CVM) ## run the demo: a script in a small VM shows what links do
	@$(CVM) --incremental examples/toolkit/demo.lisp
	@if ! command -v dot >/dev/null; then echo "(There is no Graphviz to draw it: see $(BUILD)/demo.dot.)"; \
	elif dot -Tsvg $(BUILD)/demo.dot -o $(BUILD)/demo.svg; then echo "It is drawn in $(BUILD)/demo.svg."; \
	else echo "(Graphviz could not draw it.)"; fi

# ---- tests -------------------------------------------------------------------

$(eval $(call run,runner,,sh tests/runner.sh))
$(eval $(call run,text,,sh tests/text.sh))
$(eval $(call run,versions,,sh tests/versions.sh))
$(eval $(call run,readme,,sh tests/readme.sh))
$(eval $(call run,examples,,sh tests/examples.sh))
$(eval $(call run,tensor,$(PVM) $(TENSOR),sh tests/tensor.sh $(PVM) $(TENSOR)))
$(eval $(call run,tensor-asan,$(BUILD)/pvm-asan $(BUILD)/examples/debug/tensor.so,\
    sh tests/tensor.sh $(BUILD)/pvm-asan $(BUILD)/examples/debug/tensor.so))
$(eval $(call run,languages,,sh tests/languages.sh))
$(eval $(call run,lint,$(BUILD)/lint.c $(BUILD)/lint_weak.c,\
    env LINT_SETTINGS='NDEBUG RRC_DEBUG' sh tests/lint.sh $(BUILD)/lint.c $(BUILD)/lint_weak.c))
$(eval $(call run,freestanding,,sh tests/freestanding.sh))
$(eval $(call run,abis,,sh tests/abis.sh))
$(eval $(call run,install,,env MAKE=$(MAKE) sh tests/install.sh))
$(eval $(call run,demo,$(CVM),$(CVM) --incremental examples/toolkit/demo.lisp))
CHECK_RUNS += runner text versions readme examples tensor languages install demo

# `make deps test` must look for tools only when deps has installed them: a new
# make reads the makefiles again. In it, a test that does not build is a failure
# like any other (-k), and the totals tell.
TESTED := $(filter deps deps-all,$(MAKECMDGOALS))
RUN_TESTS = +@$(MAKE) --no-print-directory run-and-count

test: $(TESTED) ## the header in its main variants, each binding, examples, pages: some five minutes
	$(RUN_TESTS) QUICK=1 'RUN_NAMES=$$(CHECK_RUNS) $$(HOST_CHECK_RUNS)'

# The order of `make test-all`, whose time may be limited. What says most in a minute comes first (FIRST), and of what
# says as much, what takes longest, so that no processor waits for it. The others take turns: each commit (of those
# that git counts) begins 97 tests further on, and so successive runs reach all of them. (.ci/run reaches about as many.
# As 97 is a prime, each test is one to begin with sooner or later.)
FIRST := coverage mutants_% lint abis examples languages units freestanding bench-check suite-% mirror_cases-% damage-%
ORDER := random-% random_cycles-% mirror_random-% \
         ruby-% lua-% mruby% cvm% cpython% tensor-% widgets-% \
         graphs-% mirror_graphs-% replay_% mirror_without_% bench-% \
         small_graphs-% mirror_small-% mirror_slices-% small_selves-% soak-% fuzz-%
in_order = $(foreach pattern,$(1),$(filter-out $(MATRIX_ONLY),$(filter $(pattern),$(RUNS))))
IN_EACH  = $(call in_order,$(FIRST))
ORDERED  = $(filter-out $(IN_EACH),$(call in_order,$(ORDER)))
OTHERS   = $(ORDERED) $(filter-out $(IN_EACH) $(ORDERED) $(MATRIX_ONLY),$(RUNS)) $(MATRIX_ONLY)
BEGIN    = $(shell expr $$(git rev-list --count HEAD 2>/dev/null || echo 0) '*' 97 % $(words $(OTHERS)) + 1)
IN_TURN  = $(wordlist $(BEGIN),$(words $(OTHERS)),$(OTHERS))
IN_ORDER = $(IN_EACH) $(IN_TURN) $(filter-out $(IN_TURN),$(OTHERS))

.PHONY: say-begin
say-begin:
	@echo "After $(words $(IN_EACH)) tests that each run has, it begins with $(firstword $(IN_TURN))."

test-all: $(TESTED) ## all tests, on all compilers and machines; TEST_MINUTES=N: as many as that allows
	+@$(MAKE) --no-print-directory say-begin
	$(RUN_TESTS) 'RUN_NAMES=$$(IN_ORDER)'

check: $(TESTED) ## the part of `make test` about the header, the examples and compactvm
	$(RUN_TESTS) QUICK=1 'RUN_NAMES=$$(CHECK_RUNS)'

check-hosts: $(TESTED) ## the part of `make test` about Lua, Ruby and mruby
	$(RUN_TESTS) QUICK=1 'RUN_NAMES=$$(HOST_CHECK_RUNS)'

.PHONY: run-and-count
run-and-count:
	+@sh tests/run.sh all '$(PARALLEL)' $(RUN_NAMES)

# ---- the rest ----------------------------------------------------------------

# clang-tidy's checks, without those that this style breaks on purpose.
TIDY_CHECKS := -*,clang-analyzer-*,bugprone-*,-bugprone-easily-swappable-parameters,$(\
    )-bugprone-reserved-identifier,-bugprone-macro-parentheses,-bugprone-suspicious-missing-comma,$(\
    )-bugprone-sizeof-expression,-bugprone-narrowing-conversions,$(\
    )-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling

# cppcheck does not see that two conditions exclude each other: clang-tidy looks for null pointers.
CPPCHECK = cppcheck -q --std=c99 --enable=warning,portability --error-exitcode=1 --suppress=nullPointer -I.

# The header is analyzed with each of these; by `make test-all`, with the first two.
LINT_SETTINGS ?= NDEBUG RRC_DEBUG LINT_CLOSED RRC_NO_STDLIB
export LINT_SETTINGS CPPCHECK TIDY_CHECKS

$(BUILD)/lint.c: Makefile
	@mkdir -p $(@D)
	@printf '%s\n' '#define RAWREFCOUNT_IMPLEMENTATION' '#include "rawrefcount.h"' \
	    '#ifdef LINT_CLOSED' '#include "bindings/closed/rrc_closed.h"' '#endif' \
	    '#ifndef RRC_NO_STDIO' '#include "bindings/insight/rrc_insight.h"' '#endif' >$@

$(BUILD)/lint_weak.c: Makefile
	@mkdir -p $(@D)
	@printf '%s\n' '#include "rawrefcount.h"' '#define RRC_WEAK_IMPLEMENTATION' \
	    '#include "bindings/weak/rrc_weak.h"' >$@

lint: $(BUILD)/lint.c $(BUILD)/lint_weak.c ## static analysis of the headers; ASCII, blanks, line ends of all files
	@sh tests/text.sh
	@sh tests/lint.sh $(BUILD)/lint.c $(BUILD)/lint_weak.c

deps: ## install what `make test` needs (Debian, Ubuntu; elsewhere say what)
	@sh tests/deps.sh

deps-all: ## install what `make test-all` needs, fetch sources of Lua and of CPython extensions, and other Rubies
	@sh tests/deps.sh all
	@sh tests/sources.sh lua5.1 lua5.2 lua5.3 lua5.4 $(PY_SOURCES)
	@sh tests/rubies.sh $(RUBY_VERSIONS)
	@sh tests/npm.sh

# Where install puts its files, and uninstall looks for them.
INSTALLED = include/rawrefcount.h include/rrc_insight.h include/rrc_weak.h include/rrc_closed.h \
            lib/pkgconfig/rawrefcount.pc

install: ## install the headers and rawrefcount.pc below $(DESTDIR)$(PREFIX)
	for file in $(INSTALLED); do mkdir -p "$(DESTDIR)$(PREFIX)/$$(dirname $$file)" || exit 1; done
	cp $(HEADER) $(INSIGHT) $(WEAK) $(CLOSED) "$(DESTDIR)$(PREFIX)/include"
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' \
	    'Name: rawrefcount' \
	    'Description: Joins a tracing garbage collector with reference-counted C objects' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' \
	    >"$(DESTDIR)$(PREFIX)/lib/pkgconfig/rawrefcount.pc"
	for file in $(INSTALLED); do chmod 644 "$(DESTDIR)$(PREFIX)/$$file" || exit 1; done

uninstall: ## remove what install has put there
	for file in $(INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$$file"; done

clean: ## remove build/
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | sort | \
	    while IFS='|' read -r target text; do printf '  %-20s %s\n' "$$target" "$$text"; done
