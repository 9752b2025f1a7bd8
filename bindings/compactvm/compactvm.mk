# The part of the Makefile that is about this folder. It needs BUILD, CC and
# RRC_CFLAGS, and $(call run,NAME,PREREQUISITES,COMMAND) to announce a test.
#
#   VM_SRCS   the core, and the language on it

VM_DIR  := bindings/compactvm
VM_SRCS := $(wildcard $(VM_DIR)/core/*.c $(VM_DIR)/values/*.c $(VM_DIR)/lisp/*.c)
VM_DEPS := $(VM_SRCS) $(wildcard $(VM_DIR)/*/*.h) rawrefcount.h
VM_LIBS := -lm

# The ways to build it: how links are found, and how hooks are called.
CVM_FLAGS_dict        :=
CVM_FLAGS_slot        := -DCVM_SLOT=1
CVM_FLAGS_macros      := -DCVM_HOOK_MACROS=1
CVM_FLAGS_slot-macros := -DCVM_SLOT=1 -DCVM_HOOK_MACROS=1
CVM_KINDS             := dict slot macros slot-macros
CVM_SANITIZE          := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DRRC_DEBUG

# Sanitizers take long: two kinds, in which each way to find links, and to call hooks, is.
CVM_SANITIZED_KINDS := dict slot-macros

CVM_COMPILE = @mkdir -p $(@D); $(CC) $(RRC_CFLAGS) $(CPPFLAGS)

TOOLKIT := examples/toolkit/toolkit.c

# The VM as a library, with the language and the toolkit, but without the C API.
$(BUILD)/cvm-%-embed: $(VM_DIR)/tests/embed.c $(VM_DEPS) $(TOOLKIT)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $< $(VM_SRCS) $(TOOLKIT) $(LDFLAGS) $(VM_LIBS) -o $@

$(foreach kind,$(CVM_SANITIZED_KINDS),\
    $(eval $(call run,cvm-$(kind)-embed,$(BUILD)/cvm-$(kind)-embed,$(BUILD)/cvm-$(kind)-embed)))

# Which file calls which: no arrow goes up, and there is no circle.
$(eval $(call run,layers,,sh $(VM_DIR)/tests/layers.sh))
CHECK_RUNS += layers
