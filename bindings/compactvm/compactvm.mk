# The part of the Makefile that is about this folder. It needs BUILD, CC and
# RRC_CFLAGS, and $(call run,NAME,PREREQUISITES,COMMAND) to announce a test.
#
#   VM_SRCS   the core, and the language on it
#   CVM       the command, which has the toolkit of the examples, too

VM_DIR  := bindings/compactvm
VM_SRCS := $(wildcard $(VM_DIR)/core/*.c $(VM_DIR)/lisp/*.c)
VM_DEPS := $(VM_SRCS) $(wildcard $(VM_DIR)/*/*.h) $(HEADER) $(INSIGHT)
VM_LIBS := -lm

# Line editing, where pkg-config finds libedit and CC can link it (`make CVM_EDIT=` does without).
CVM_EDIT := $(shell libs=$$($(PKG_CONFIG) --libs libedit 2>/dev/null) && \
    echo 'int main(void) { return rl_callback_read_char == 0; }' | \
    $(CC) -include stdio.h -include editline/readline.h -x c - $$libs -o /dev/null 2>/dev/null && echo $$libs)
EDIT     := $(if $(CVM_EDIT),-DCVM_LIBEDIT=1)

TOOLKIT  := examples/toolkit/toolkit.c
CVM_SRCS := $(VM_SRCS) $(TOOLKIT) examples/toolkit/main.c
CVM_DEPS := $(CVM_SRCS) $(VM_DEPS) examples/toolkit/toolkit.h
CVM      := $(BUILD)/cvm

# The ways to build it: how links are found.
CVM_FLAGS_dict :=
CVM_FLAGS_slot := -DCVM_SLOT=1
CVM_KINDS      := dict slot
CVM_SANITIZE   := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DRRC_DEBUG

CVM_COMPILE = @mkdir -p $(@D); $(CC) $(RRC_CFLAGS) $(CPPFLAGS)

# The objects that the commands share. Only command.c is compiled twice, as it knows of line editing.
OBJECTS     := $(BUILD)/objects
VM_OBJECTS  := $(VM_SRCS:%.c=$(OBJECTS)/%.o)
CVM_OBJECTS := $(CVM_SRCS:%.c=$(OBJECTS)/%.o)
COMMAND     := $(VM_DIR)/lisp/command

$(CVM_OBJECTS): $(OBJECTS)/%.o: %.c $(CVM_DEPS)
	$(CVM_COMPILE) $(CFLAGS) -c $< -o $@
$(OBJECTS)/edited/command.o: $(COMMAND).c $(CVM_DEPS)
	$(CVM_COMPILE) $(EDIT) $(CFLAGS) -c $< -o $@

$(CVM): $(OBJECTS)/edited/command.o $(filter-out $(OBJECTS)/$(COMMAND).o,$(CVM_OBJECTS))
	@$(CC) $(CFLAGS) $^ $(LDFLAGS) $(CVM_EDIT) $(VM_LIBS) -o $@
$(BUILD)/cvm-dict: $(CVM_OBJECTS)
	@$(CC) $(CFLAGS) $^ $(LDFLAGS) $(VM_LIBS) -o $@

$(BUILD)/cvm-%-asan: $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $(CVM_SRCS) $(LDFLAGS) $(VM_LIBS) -o $@

# The VM as a library.
$(BUILD)/cvm-%-embed: $(VM_DIR)/tests/embed.c $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CVM_SANITIZE) $< $(VM_SRCS) $(TOOLKIT) $(LDFLAGS) $(VM_LIBS) -o $@

$(BUILD)/cvm-%: $(CVM_DEPS)
	$(CVM_COMPILE) $(CVM_FLAGS_$*) $(CFLAGS) $(CVM_SRCS) $(LDFLAGS) $(VM_LIBS) -o $@

$(eval $(call run,cvm,$(CVM),sh $(VM_DIR)/tests/run.sh $(CVM) quick))
$(foreach kind,$(CVM_KINDS),\
    $(eval $(call run,cvm-$(kind),$(BUILD)/cvm-$(kind),sh $(VM_DIR)/tests/run.sh $(BUILD)/cvm-$(kind))))
# The loop at a terminal: with libedit, if it is there, and without.
$(eval $(call run,cvm-terminal,$(CVM) $(BUILD)/cvm-dict,\
    sh $(VM_DIR)/tests/terminal.sh $(if $(CVM_EDIT),edited:$(CVM)) plain:$(BUILD)/cvm-dict))
# What leaks is exactly what is new in the second of two heap snapshots.
$(foreach kind,$(CVM_KINDS),\
    $(eval $(call run,snapshot-cvm-$(kind),$(BUILD)/cvm-$(kind) tests/newer.js,\
        sh tests/newer.sh $(BUILD)/leak-cvm-$(kind) $(VM_DIR)/tests/snapshots/leak.txt \
        $(CURDIR)/$(BUILD)/cvm-$(kind) $(CURDIR)/$(VM_DIR)/tests/snapshots/leak.lisp)))

$(foreach kind,$(CVM_KINDS),\
    $(eval $(call run,cvm-$(kind)-asan,$(BUILD)/cvm-$(kind)-asan,\
        sh $(VM_DIR)/tests/run.sh $(BUILD)/cvm-$(kind)-asan $(if $(QUICK),quick)))\
    $(eval $(call run,cvm-$(kind)-embed,$(BUILD)/cvm-$(kind)-embed,$(BUILD)/cvm-$(kind)-embed)))

# Which file calls which: no arrow goes up, and there is no circle.
$(eval $(call run,layers,,sh $(VM_DIR)/tests/layers.sh))
CHECK_RUNS += cvm cvm-terminal cvm-slot-asan layers
