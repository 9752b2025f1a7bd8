/* host.h - what the rest of the VM needs of the C API. */
#ifndef CVM_CAPI_HOST_H
#define CVM_CAPI_HOST_H

#include "../../compactvm/lisp/command.h"
#include "../../compactvm/lisp/lisp.h"
#include "sequences.h"

extern const cvm_layer cvm_cx_layer;
cvm_load cvm_cx_load;               /* for --extension */

extern const cvm_builtin_def cvm_capi_builtins[];

void *cvm_debug_realloc(void *vm, void *ptr, size_t old_size, size_t new_size);     /* with RRC_DEBUG */

/* ---- links: object.c ---------------------------------------------------- */

/* See cvm_ops. */
rrc_object *cvm_view_new(cvm *vm, cvm_value v);
cvm_value cvm_proxy_new(cvm *vm, rrc_object *ob, int *kind);
int cvm_api_equal(cvm *vm, cvm_value *a, cvm_value *b);

/* Was the data of ob in a host object that is gone? Such a view is found where garbage is taken
   apart: its owner still holds it, while the host object died with all that only the owner
   needed. Only its type is left. */
int cvm_view_is_gone(cvm *vm, rrc_object *ob);

/* ---- strings, tuples and arrays that are in C ---------------------------- */

size_t cvm_outside_length(cvm_value v);
cvm_value cvm_outside_ref(cvm *vm, cvm_value v, size_t i);          /* may allocate */
int cvm_outside_set(cvm *vm, cvm_value array, size_t i, cvm_value item);        /* 0 after a failure */
int cvm_outside_insert(cvm *vm, cvm_value array, size_t i, cvm_value item);     /* likewise */
int cvm_outside_remove(cvm *vm, cvm_value array, size_t i);                     /* likewise */
int cvm_outside_equal(cvm *vm, cvm_value a, cvm_value b);           /* at least one is; as cvm_equal */
int cvm_print_outside_item(cvm *vm, cvm_value v, size_t i, int quoted, cvm_buffer *out);

/* ---- proxies ------------------------------------------------------------ */

int cvm_foreign_is_callable(cvm_value v);
cvm_value cvm_foreign_call(cvm *vm, cvm_value callee, cvm_value *args, size_t n);

/* (call object 'method args...): args are n rooted slots in a row, the object first. */
cvm_value cvm_foreign_call_method(cvm *vm, cvm_value *args, size_t n);

/* (call-base type object 'method args...): likewise; as the base of the type has it. */
cvm_value cvm_foreign_call_base(cvm *vm, cvm_value *args, size_t n);

/* #<...>; 0 after a failure. */
int cvm_print_foreign(cvm *vm, cvm_value v, int quoted, cvm_buffer *out);

/* The C object, to which the caller has a reference, goes on its way without its proxy, whose
   place is *slot. What C has borrowed through the proxy stays as long as that. 0 after a failure:
   no memory, and nothing has changed. */
int cvm_foreign_let_go(cvm *vm, cvm_value *slot, rrc_object *ob);

/* (with ...): close what *slot holds. If an error is set, it is kept. 0 after a failure. */
int cvm_foreign_close(cvm *vm, cvm_value *slot);

#endif
