/* insight.h - what the VM shows of its objects. See insight.c. */
#ifndef CVM_INSIGHT_H
#define CVM_INSIGHT_H

#include "vm.h"
#include "../../rawrefcount.h"

/* The hooks of rrc_desc. */
void cvm_edges(void *vm, rrc_gcref p, rrc_edgeproc visit, void *arg);
void cvm_describe(void *vm, rrc_gcref p, rrc_description *about);
void cvm_progress(void *vm, const char *function, size_t done, size_t total);

/* In a collection: new addresses are known, and nothing has been freed. */
void cvm_ids_moved(cvm *vm);
void cvm_ids_free(cvm *vm);

/* Write what rrc_dump_dot or rrc_dump_heapsnapshot says into the file of this name, a string. Gives nil, or
   CVM_NONE after a failure. */
typedef int (*cvm_picture)(rrc_heap *heap, rrc_writeproc write, void *arg);
cvm_value cvm_write_picture(cvm *vm, cvm_value name, cvm_picture picture);

#endif
