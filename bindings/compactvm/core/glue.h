/* glue.h - where the VM meets rawrefcount.h. See glue.c. */
#ifndef CVM_RRC_GLUE_H
#define CVM_RRC_GLUE_H

#include "vm.h"
#include "../../../rawrefcount.h"

/* In the tp_flags of a type: its objects own nothing but their memory, so that their links are light. */
#define CVM_TPFLAGS_LIGHT (1ul << 9)

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

/* The value for a C object, to which the caller holds a reference: what it is linked to, else a
   new proxy. CVM_NONE after a failure. */
cvm_value cvm_from_ob(cvm *vm, rrc_object *ob);

/* The C object for any object on the heap: the one behind a proxy, the one linked to it, else a
   new view. A new reference; NULL after a failure. It moves nothing. */
rrc_object *cvm_ob_of(cvm *vm, cvm_value v);

/* The same for any value: fails also if v is not on the heap, or if the C object behind it was
   disposed of. */
rrc_object *cvm_to_c(cvm *vm, const char *who, cvm_value v);

/* The C object that an object names without a P link, borrowed; or NULL: a proxy, or something
   whose data is in C. */
rrc_object *cvm_named_ob(cvm_value v);

/* A new proxy, which names ob. */
cvm_value cvm_foreign_new(cvm *vm, rrc_object *ob);

#endif
