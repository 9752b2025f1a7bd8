/* command.h - the command line and the read-eval-print loop, for a program that picks the layers. */
#ifndef CVM_COMMAND_H
#define CVM_COMMAND_H

#include "../core/vm.h"

/* Load an extension. 0 after a failure. */
typedef int cvm_load(cvm *vm, const char *path);

/* Do what the arguments say. load: for --extension, or NULL. Returns the exit status. */
int cvm_command(int argc, char **argv, const cvm_layer *const *layers, cvm_load *load);

#endif
