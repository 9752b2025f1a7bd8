/* command.h - the command line and the read-eval-print loop, for a program that picks the layers. */
#ifndef CVM_COMMAND_H
#define CVM_COMMAND_H

#include "../core/vm.h"

/* What must be done before programs run. 0 after a failure. */
typedef int cvm_setup(cvm *vm);

/* Do what the arguments say. setup: NULL, or called once there is a VM. Returns the exit status. */
int cvm_command(int argc, char **argv, const cvm_layer *const *layers, cvm_setup *setup);

#endif
