/* depth.h - how deep C code may call itself. See depth.c. */
#ifndef CVM_DEPTH_H
#define CVM_DEPTH_H

#include "../core/vm.h"

/* Is there room for more on the C stack? */
int cvm_c_stack_room(cvm *vm);

/* Around each recursion of C code. cvm_enter gives 0 after a failure; then
   cvm_leave must not be called. */
int cvm_enter(cvm *vm);
void cvm_leave(cvm *vm);

#endif
