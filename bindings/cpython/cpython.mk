# The part of the Makefile that is about this folder: the command pvm, which has the VM of
# bindings/compactvm, and Python.h.
#
#   PVM   the command

# The source packages of the extensions that tests build.
PY_SOURCES := markupsafe python3.11 python-xxhash python-levenshtein pyrsistent:trixie python-bitarray \
    zope.interface simplejson python-multidict python-persistent frozenlist python-regex=sid pyyaml

PY_DIR   := bindings/cpython
PY_LIB   := $(VM_SRCS) $(wildcard $(PY_DIR)/src/*.c)
PY_SRCS  := $(PY_LIB) $(PY_DIR)/python.c
PY_DEPS  := $(PY_SRCS) $(VM_DEPS) $(wildcard $(PY_DIR)/src/*.h $(PY_DIR)/include/*.h $(PY_DIR)/include/cpy/*.h)
PY_LIBS  := $(VM_LIBS) -ldl -lpthread
# Types are initialized as CPython's are: by position and partly, with one macro for two kinds of heads.
PY_FLAGS := -Wno-missing-braces -Wno-missing-field-initializers
PY_LOADS := -Wl,--export-dynamic        # shared objects find the API in the command
PVM      := $(BUILD)/pvm

PY_OBJECTS := $(patsubst %.c,$(OBJECTS)/%.o,$(filter-out $(VM_SRCS),$(PY_SRCS)))

$(PY_OBJECTS): $(OBJECTS)/%.o: %.c $(PY_DEPS)
	$(CVM_COMPILE) $(PY_FLAGS) $(CFLAGS) -c $< -o $@
$(PVM): $(VM_OBJECTS) $(PY_OBJECTS)
	@$(CC) $(CFLAGS) $^ $(LDFLAGS) $(PY_LOADS) $(PY_LIBS) -o $@

$(BUILD)/pvm-asan: $(PY_DEPS)
	$(CVM_COMPILE) $(PY_FLAGS) $(CVM_FLAGS_slot) $(CVM_SANITIZE) -fno-omit-frame-pointer $(PY_SRCS) $(LDFLAGS) $(PY_LOADS) $(PY_LIBS) -o $@

# An extension of the project, for pvm, and for one with RRC_DEBUG.
PY_EXTENSION = @mkdir -p $(@D); $(CC) $(WARNINGS) $(PY_FLAGS) -I$(PY_DIR)/include -fPIC -shared $(CPPFLAGS)

$(eval $(call run,cpython,$(PVM),sh $(PY_DIR)/tests/run.sh $(PVM)))
$(eval $(call run,cpython-asan,$(BUILD)/pvm-asan,sh $(PY_DIR)/tests/run.sh $(BUILD)/pvm-asan debug))
CHECK_RUNS += cpython

.PHONY: bench-cpython
bench-cpython: $(PVM) ## one extension in pvm and in CPython: instructions of what C does with objects
	@sh $(PY_DIR)/bench/run.sh $(PVM)

# Where install-cvm puts its files, below $(DESTDIR)$(PREFIX).
PY_HEADERS    := $(patsubst $(PY_DIR)/include/%,%,$(wildcard $(PY_DIR)/include/*.h $(PY_DIR)/include/cpy/*.h))
CVM_INSTALLED := bin/cvm bin/pvm lib/pkgconfig/cvm.pc include/cvm/rawrefcount.h $(addprefix include/cvm/,$(PY_HEADERS))

.PHONY: install-cvm uninstall-cvm
install-cvm: $(CVM) $(PVM) ## install the commands cvm and pvm, Python.h for extensions, and cvm.pc
	for file in $(CVM_INSTALLED); do mkdir -p "$(DESTDIR)$(PREFIX)/$$(dirname $$file)" || exit 1; done
	cp $(CVM) $(PVM) "$(DESTDIR)$(PREFIX)/bin"
	cp $(HEADER) "$(DESTDIR)$(PREFIX)/include/cvm/rawrefcount.h"
	for file in $(PY_HEADERS); do cp "$(PY_DIR)/include/$$file" "$(DESTDIR)$(PREFIX)/include/cvm/$$file" || exit 1; done
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' \
	    'Name: cvm' 'Description: CPython extensions on a VM that moves its objects' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}/cvm' >"$(DESTDIR)$(PREFIX)/lib/pkgconfig/cvm.pc"

uninstall-cvm: ## remove what install-cvm has put there
	for file in $(CVM_INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$$file"; done

$(eval $(call run,cpython-install,$(CVM) $(PVM),env MAKE=$(MAKE) sh $(PY_DIR)/tests/install.sh))

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
