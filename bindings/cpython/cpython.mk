# The part of the Makefile that is about this folder: the command pvm, which has the VM of
# bindings/compactvm, and Python.h.
#
#   PVM   the command

# The source packages of the extensions that tests build.
PY_SOURCES := markupsafe python3.11 python-xxhash python-levenshtein pyrsistent python-bitarray \
    zope.interface simplejson python-multidict persistent frozenlist

<<<<<<< HEAD
CVM_DIR  := bindings/cpython
CVM_LIB  := $(VM_SRCS) $(CVM_DIR)/layers.c $(TOOLKIT) $(wildcard $(CVM_DIR)/cx/*.c)
CVM_SRCS := $(CVM_DIR)/main.c $(CVM_LIB)
CVM_DEPS := $(CVM_SRCS) $(VM_DEPS) $(wildcard $(CVM_DIR)/*.h $(CVM_DIR)/cx/*.h examples/toolkit/*.h)
CVM_LIBS := $(VM_LIBS) -ldl
CVM_LOADS := -Wl,--export-dynamic       # shared objects find the API in the command
CVM      := $(BUILD)/cvm

$(CVM): $(CVM_DEPS)
	$(CVM_COMPILE) $(CFLAGS) $(CVM_SRCS) $(LDFLAGS) $(CVM_LOADS) $(CVM_LIBS) -o $@

$(BUILD)/cvm-%-asan: $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $(CVM_SRCS) $(LDFLAGS) $(CVM_LOADS) $(CVM_LIBS) -o $@

$(BUILD)/cvm-%: $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CFLAGS) $(CVM_SRCS) $(LDFLAGS) $(CVM_LOADS) $(CVM_LIBS) -o $@

# Extensions, to be loaded into a cvm; one with RRC_DEBUG takes those of capi/debug/.
# The VM finds an extension by the name of its file: a folder tells the two apart.
CAPI_DIR  := $(CVM_DIR)/cx
CAPI_DEPS := $(CAPI_DIR)/capi.h rawrefcount.h
EXT_DIR   := $(CVM_DIR)/extensions

define capi_extensions
$(BUILD)/capi/debug/%.so: $(1)/%.c $(CAPI_DEPS)
	$$(CVM_COMPILE) $(CVM_SANITIZE) -shared -fPIC $$< $$(LDFLAGS) -o $$@

$(BUILD)/capi/%.so: $(1)/%.c $(CAPI_DEPS)
	$$(CVM_COMPILE) $$(CFLAGS) -shared -fPIC $$< $$(LDFLAGS) -o $$@
endef
$(foreach folder,$(CAPI_DIR)/tests $(EXT_DIR),$(eval $(call capi_extensions,$(folder))))

# The tests of the API that are C, with the VM and the probe linked in. Allocations
# go through the test's own functions, which let one fail.
CAPI_TESTS := $(addprefix $(CAPI_DIR)/tests/, main.c embedding.c failing.c neutral.c probe.c) \
    $(addprefix $(EXT_DIR)/, tests/linked.c buffer.c graph.c) tests/unit.c
CAPI_WRAP  := -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
CAPI_UNIT  := $(shell $(PKG_CONFIG) --exists cmocka 2>/dev/null && echo -lcmocka || echo -DUNIT_CMOCKA=0)

$(BUILD)/capi/tests-%: $(CAPI_TESTS) $(EXT_DIR)/buffer.h tests/unit.h $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $(CAPI_TESTS) $(CVM_LIB) $(LDFLAGS) $(CAPI_WRAP) \
	    $(CVM_LIBS) $(CAPI_UNIT) -o $@

CAPI_PROBE       := $(BUILD)/capi/probe.so
CAPI_DEBUG_PROBE := $(BUILD)/capi/debug/probe.so

EXTENSIONS       := $(addprefix $(BUILD)/capi/, buffer.so graph.so)
DEBUG_EXTENSIONS := $(addprefix $(BUILD)/capi/debug/, buffer.so graph.so)

$(eval $(call run,cvm,$(CVM) $(CAPI_PROBE),sh $(VM_DIR)/tests/run.sh $(CVM) $(CAPI_PROBE) quick))
$(eval $(call run,capi-readme,$(CVM),sh $(CAPI_DIR)/tests/readme.sh $(CVM)))
$(eval $(call run,extensions,$(CVM) $(EXTENSIONS),sh $(EXT_DIR)/tests/run.sh $(CVM) $(BUILD)/capi quick))
# What leaks is exactly what is new in the second of two heap snapshots.
$(foreach kind,dict slot-macros,\
    $(eval $(call run,snapshot-cvm-$(kind),$(BUILD)/cvm-$(kind) tests/newer.js,\
        sh tests/newer.sh $(BUILD)/leak-cvm-$(kind) $(VM_DIR)/tests/snapshots/leak.txt \
        $(CURDIR)/$(BUILD)/cvm-$(kind) $(CURDIR)/$(VM_DIR)/tests/snapshots/leak.lisp)))
$(eval $(call run,bar-cvm,$(CVM),sh tests/bar.sh $(abspath $(CVM)) $(CURDIR)/$(VM_DIR)/tests/snapshots/bar.lisp))
CHECK_RUNS += cvm cvm-slot-macros-asan extensions capi-dict capi-readme

$(foreach kind,$(CVM_KINDS),\
    $(eval $(call run,cvm-$(kind),$(BUILD)/cvm-$(kind) $(CAPI_PROBE),\
        sh $(VM_DIR)/tests/run.sh $(BUILD)/cvm-$(kind) $(CAPI_PROBE)))\
    $(eval $(call run,extensions-$(kind),$(BUILD)/cvm-$(kind) $(EXTENSIONS),\
        sh $(EXT_DIR)/tests/run.sh $(BUILD)/cvm-$(kind) $(BUILD)/capi)))

$(foreach kind,$(CVM_SANITIZED_KINDS),\
    $(eval $(call run,cvm-$(kind)-asan,$(BUILD)/cvm-$(kind)-asan $(CAPI_DEBUG_PROBE),\
        sh $(VM_DIR)/tests/run.sh $(BUILD)/cvm-$(kind)-asan $(CAPI_DEBUG_PROBE) $(if $(QUICK),quick)))\
    $(eval $(call run,extensions-$(kind)-asan,$(BUILD)/cvm-$(kind)-asan $(DEBUG_EXTENSIONS),\
        sh $(EXT_DIR)/tests/run.sh $(BUILD)/cvm-$(kind)-asan $(BUILD)/capi/debug))\
    $(eval $(call run,capi-$(kind),$(BUILD)/capi/tests-$(kind),$(BUILD)/capi/tests-$(kind))))

# ---- CPython's own API ---------------------------------------------------------
#
#   PVM   the command: the language, and Python.h

=======
>>>>>>> w-cpython
PY_DIR   := bindings/cpython
PY_LIB   := $(VM_SRCS) $(wildcard $(PY_DIR)/src/*.c)
PY_SRCS  := $(PY_LIB) $(PY_DIR)/python.c
PY_DEPS  := $(PY_SRCS) $(VM_DEPS) $(wildcard $(PY_DIR)/src/*.h $(PY_DIR)/include/*.h $(PY_DIR)/include/cpy/*.h)
PY_LIBS  := $(VM_LIBS) -ldl -lpthread
# Types are initialized as CPython's are: by position and partly, with one macro for two kinds of heads.
PY_FLAGS := -Wno-missing-braces -Wno-missing-field-initializers
PY_LOADS := -Wl,--export-dynamic        # shared objects find the API in the command
PVM      := $(BUILD)/pvm

$(PVM): $(PY_DEPS)
	$(CVM_COMPILE) $(PY_FLAGS) $(CFLAGS) $(PY_SRCS) $(LDFLAGS) $(PY_LOADS) $(PY_LIBS) -o $@

$(BUILD)/pvm-asan: $(PY_DEPS)
	$(CVM_COMPILE) $(PY_FLAGS) $(CVM_FLAGS_slot-macros) $(CVM_SANITIZE) -fno-omit-frame-pointer $(PY_SRCS) $(LDFLAGS) $(PY_LOADS) $(PY_LIBS) -o $@

# An extension of the project, for pvm, and for one with RRC_DEBUG.
PY_EXTENSION = @mkdir -p $(@D); $(CC) $(WARNINGS) $(PY_FLAGS) -I$(PY_DIR)/include -fPIC -shared $(CPPFLAGS)

$(eval $(call run,cpython,$(PVM),sh $(PY_DIR)/tests/run.sh $(PVM)))
$(eval $(call run,cpython-asan,$(BUILD)/pvm-asan,sh $(PY_DIR)/tests/run.sh $(BUILD)/pvm-asan debug))
CHECK_RUNS += cpython

.PHONY: bench-cpython
bench-cpython: $(PVM) ## one extension in pvm and in CPython: nanoseconds of what C does with objects
	@sh $(PY_DIR)/bench/run.sh $(PVM)

# Where install-pvm puts its files, below $(DESTDIR)$(PREFIX).
PY_HEADERS   := $(patsubst $(PY_DIR)/include/%,%,$(wildcard $(PY_DIR)/include/*.h $(PY_DIR)/include/cpy/*.h))
PY_INSTALLED := bin/pvm lib/pkgconfig/pvm.pc include/pvm/rawrefcount.h $(addprefix include/pvm/,$(PY_HEADERS))

.PHONY: install-pvm uninstall-pvm
install-pvm: $(PVM) ## install the command pvm, Python.h for its extensions, and pvm.pc
	for file in $(PY_INSTALLED); do mkdir -p "$(DESTDIR)$(PREFIX)/$$(dirname $$file)" || exit 1; done
	cp $(PVM) "$(DESTDIR)$(PREFIX)/bin/pvm"
	cp $(HEADER) "$(DESTDIR)$(PREFIX)/include/pvm/rawrefcount.h"
	for file in $(PY_HEADERS); do cp "$(PY_DIR)/include/$$file" "$(DESTDIR)$(PREFIX)/include/pvm/$$file" || exit 1; done
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' \
	    'Name: pvm' 'Description: CPython extensions on a VM that moves its objects' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}/pvm' >"$(DESTDIR)$(PREFIX)/lib/pkgconfig/pvm.pc"

uninstall-pvm: ## remove what install-pvm has put there
	for file in $(PY_INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$$file"; done

$(eval $(call run,cpython-install,$(PVM),env MAKE=$(MAKE) sh $(PY_DIR)/tests/install.sh))

# VMs in several threads, and several in one.
$(BUILD)/pvm-threads: $(PY_DIR)/tests/threads.c $(PY_DEPS)
	$(CVM_COMPILE) $(PY_FLAGS) $(CVM_SANITIZE) $< $(PY_LIB) $(LDFLAGS) $(PY_LIBS) -o $@

$(eval $(call run,cpython-threads,$(BUILD)/pvm-threads,$(BUILD)/pvm-threads))
