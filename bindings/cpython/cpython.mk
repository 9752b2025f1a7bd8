# The part of the Makefile that is about this folder: the command pvm, which has the VM of
# bindings/compactvm, and Python.h.
#
#   PVM   the command

# The source packages of the extensions that tests build.
PY_SOURCES := markupsafe python3.11 python-xxhash python-levenshtein pyrsistent python-bitarray \
    zope.interface simplejson python-multidict persistent frozenlist

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

# Each allocation of C fails in turn.
PY_WRAP := -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
$(BUILD)/pvm-failing: $(PY_DIR)/tests/failing.c $(PY_DEPS)
	$(CVM_COMPILE) $(PY_FLAGS) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all $< $(PY_LIB) \
	    $(LDFLAGS) $(PY_WRAP) $(PY_LIBS) -o $@

$(eval $(call run,cpython-failing,$(BUILD)/pvm-failing,$(BUILD)/pvm-failing))
