/* host.h - what the rest of the VM needs of the C API. */
#ifndef CVM_CAPI_HOST_H
#define CVM_CAPI_HOST_H

#include "../lisp.h"
#include "../../../rawrefcount.h"

int cvm_capi_open(cvm *vm);         /* 0: no memory */
void cvm_capi_close(cvm *vm);       /* drops what the API holds; before the links go */
void cvm_capi_free(cvm *vm);        /* the rest, when no C object is left */

extern const cvm_builtin_def cvm_capi_builtins[];

#ifdef RRC_DEBUG
void *cvm_debug_realloc(void *vm, void *ptr, size_t old_size, size_t new_size);
#endif

/* ---- links: object.c ---------------------------------------------------- */

/* A new C object for a Lisp object: it owns nothing, so that a light P link is
   right for it. NULL: no memory. */
rrc_object *cvm_view_new(cvm *vm, cvm_value v);

/* A new Lisp object for a C object that has none. *is_p_link: which link is
   right for it. CVM_NONE after a failure. */
cvm_value cvm_proxy_new(cvm *vm, rrc_object *ob, int *is_p_link);

/* The C object that a Lisp object names by itself, borrowed; or NULL: a proxy, or
   something whose data is in C. (That of a P link is known to rrc_from_obj.) */
rrc_object *cvm_named_ob(cvm_value v);

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
int cvm_print_foreign(cvm *vm, cvm_value v, cvm_buffer *out);

/* The C object, to which the caller has a reference, goes on its way without its proxy, whose
   place is *slot. What C has borrowed through the proxy stays as long as that. 0 after a failure:
   no memory, and nothing has changed. */
int cvm_foreign_let_go(cvm *vm, cvm_value *slot, rrc_object *ob);

/* (with ...): close what *slot holds. If an error is set, it is kept. 0 after a failure. */
int cvm_foreign_close(cvm *vm, cvm_value *slot);

#endif
