/* insight.h - what the VM shows of its objects. See insight.c. */
#ifndef CVM_INSIGHT_H
#define CVM_INSIGHT_H

#include "lisp.h"

void cvm_insight_open(cvm *vm);
void cvm_insight_free(cvm *vm);

/* Write what rrc_dump_dot or rrc_dump_heapsnapshot says into the file of this name, a string. Gives nil, or
   CVM_NONE after a failure. */
typedef int (*cvm_picture)(rrc_heap *heap, rrc_writeproc write, void *arg);
cvm_value cvm_write_picture(cvm *vm, cvm_value name, cvm_picture picture);

#endif
