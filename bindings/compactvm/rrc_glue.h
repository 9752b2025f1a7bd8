/* rrc_glue.h - where the VM meets rawrefcount.h. See rrc_glue.c. */
#ifndef CVM_RRC_GLUE_H
#define CVM_RRC_GLUE_H

#include "vm.h"
#include "../../rawrefcount.h"

int cvm_glue_open(cvm *vm);         /* 0: no memory */
size_t cvm_glue_close(cvm *vm);     /* returns how many linked objects C still holds */

/* For the heap: called in each collection. */
extern const cvm_phases cvm_glue_phases;

/* For the mutator, wherever everything in use is rooted: C code may run here. */
void cvm_glue_attend(cvm *vm);

static inline void cvm_glue_safe_point(cvm *vm)
{
    if (vm->attention)
        cvm_glue_attend(vm);
}

/* The Lisp value for a C object, to which the caller holds a reference: what it
   is linked to, else a new proxy. CVM_NONE after a failure. */
cvm_value cvm_to_lisp(cvm *vm, rrc_object *ob);

/* The C object for any object on the heap, as below. It moves nothing. */
rrc_object *cvm_ob_of(cvm *vm, cvm_value v);

/* The C object for a Lisp value: the one behind a proxy, the one linked to the
   value, else a new view of it. A new reference; NULL after a failure: v is not on
   the heap, or the C object behind it was disposed of. */
rrc_object *cvm_to_c(cvm *vm, const char *who, cvm_value v);

#endif
