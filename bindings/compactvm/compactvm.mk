# The part of the Makefile that is about this folder. It needs BUILD, CC and
# RRC_CFLAGS, and $(call run,NAME,PREREQUISITES,COMMAND) to announce a test.
#
#   CVM       the command
#   CVM_SRCS  its sources

CVM_DIR  := bindings/compactvm
CVM_LIB  := $(addprefix $(CVM_DIR)/, vm.c cstack.c heap.c dict.c sequences.c reader.c printer.c \
    eval.c builtins.c ctypes.c insight.c rrc_glue.c) $(wildcard $(CVM_DIR)/capi/*.c)
CVM_SRCS := $(CVM_DIR)/main.c $(CVM_LIB)
CVM_DEPS := $(CVM_SRCS) $(wildcard $(CVM_DIR)/*.h $(CVM_DIR)/capi/*.h) rawrefcount.h
CVM_LIBS := -lm -ldl
CVM_LOADS := -Wl,--export-dynamic       # shared objects find the API in the command
CVM      := $(BUILD)/cvm

# The ways to build it: how links are found, and how hooks are called.
CVM_FLAGS_dict        :=
CVM_FLAGS_slot        := -DCVM_SLOT=1
CVM_FLAGS_macros      := -DCVM_HOOK_MACROS=1
CVM_FLAGS_slot-macros := -DCVM_SLOT=1 -DCVM_HOOK_MACROS=1
CVM_KINDS             := dict slot macros slot-macros
CVM_SANITIZE          := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DRRC_DEBUG

CVM_COMPILE = @mkdir -p $(@D); $(CC) $(RRC_CFLAGS) $(CPPFLAGS)

$(CVM): $(CVM_DEPS)
	$(CVM_COMPILE) $(CFLAGS) $(CVM_SRCS) $(LDFLAGS) $(CVM_LOADS) $(CVM_LIBS) -o $@

$(BUILD)/cvm-%-asan: $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $(CVM_SRCS) $(LDFLAGS) $(CVM_LOADS) $(CVM_LIBS) -o $@

$(BUILD)/cvm-%-embed: $(CVM_DIR)/tests/embed.c $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $< $(CVM_LIB) $(LDFLAGS) $(CVM_LIBS) -o $@

$(BUILD)/cvm-%: $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CFLAGS) $(CVM_SRCS) $(LDFLAGS) $(CVM_LOADS) $(CVM_LIBS) -o $@

# Extensions, to be loaded into a cvm; one with RRC_DEBUG takes those of capi/debug/.
# The VM finds an extension by the name of its file: a folder tells the two apart.
CAPI_DIR  := $(CVM_DIR)/capi
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

$(eval $(call run,cvm,$(CVM) $(CAPI_PROBE),sh $(CVM_DIR)/tests/run.sh $(CVM) $(CAPI_PROBE) quick))
$(eval $(call run,capi-readme,$(CVM),sh $(CAPI_DIR)/tests/readme.sh $(CVM)))
$(eval $(call run,extensions,$(CVM) $(EXTENSIONS),sh $(EXT_DIR)/tests/run.sh $(CVM) $(BUILD)/capi quick))
# What leaks is exactly what is new in the second of two heap snapshots.
$(foreach kind,dict slot-macros,\
    $(eval $(call run,snapshot-cvm-$(kind),$(BUILD)/cvm-$(kind) tests/newer.js,\
        sh tests/newer.sh $(BUILD)/leak-cvm-$(kind) $(CVM_DIR)/tests/snapshots/leak.txt \
        $(CURDIR)/$(BUILD)/cvm-$(kind) $(CURDIR)/$(CVM_DIR)/tests/snapshots/leak.lisp)))
$(eval $(call run,bar-cvm,$(CVM),sh tests/bar.sh $(abspath $(CVM)) $(CURDIR)/$(CVM_DIR)/tests/snapshots/bar.lisp))
CHECK_RUNS += cvm cvm-slot-macros-asan extensions capi-dict capi-readme

$(foreach kind,$(CVM_KINDS),\
    $(eval $(call run,cvm-$(kind),$(BUILD)/cvm-$(kind) $(CAPI_PROBE),\
        sh $(CVM_DIR)/tests/run.sh $(BUILD)/cvm-$(kind) $(CAPI_PROBE)))\
    $(eval $(call run,extensions-$(kind),$(BUILD)/cvm-$(kind) $(EXTENSIONS),\
        sh $(EXT_DIR)/tests/run.sh $(BUILD)/cvm-$(kind) $(BUILD)/capi)))

# Sanitizers take long: two kinds, in which each way to find links, and to call hooks, is.
CVM_SANITIZED_KINDS := dict slot-macros
$(foreach kind,$(CVM_SANITIZED_KINDS),\
    $(eval $(call run,cvm-$(kind)-asan,$(BUILD)/cvm-$(kind)-asan $(CAPI_DEBUG_PROBE),\
        sh $(CVM_DIR)/tests/run.sh $(BUILD)/cvm-$(kind)-asan $(CAPI_DEBUG_PROBE) $(if $(QUICK),quick)))\
    $(eval $(call run,extensions-$(kind)-asan,$(BUILD)/cvm-$(kind)-asan $(DEBUG_EXTENSIONS),\
        sh $(EXT_DIR)/tests/run.sh $(BUILD)/cvm-$(kind)-asan $(BUILD)/capi/debug))\
    $(eval $(call run,cvm-$(kind)-embed,$(BUILD)/cvm-$(kind)-embed,$(BUILD)/cvm-$(kind)-embed))\
    $(eval $(call run,capi-$(kind),$(BUILD)/capi/tests-$(kind),$(BUILD)/capi/tests-$(kind))))
