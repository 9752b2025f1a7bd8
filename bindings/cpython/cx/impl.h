/* impl.h - what the files of the C API share. Extensions include capi.h only. */
#ifndef CX_IMPL_H
#define CX_IMPL_H

#include "capi.h"
#include "host.h"

#define CX_STATE(vm) ((struct cx_state *)(vm)->state[CVM_API])

/* ---- the objects: each begins with what its file's first comment describes */

typedef struct cxi_int {
    rrc_object head;
    intptr_t number;
} cxi_int;

typedef struct cxi_float {
    rrc_object head;
    double number;
} cxi_float;

typedef struct cxi_str {
    rrc_object head;
    size_t size;
    char filled;                    /* bytes are there, not only in the host's string */
    char seen;                      /* by Lisp: it must not change any more */
    char bytes[];
} cxi_str;

typedef struct cxi_tuple {
    rrc_object head;
    size_t size;
    char filled, seen;              /* as in a str */
    rrc_object *items[];            /* owned */
} cxi_tuple;

typedef struct cxi_list {
    rrc_object head;
    char filled;                    /* items are here, not in the host's array */
    char printing;                  /* the printer is inside it */
    size_t size, capacity;
    rrc_object **items;             /* owned; NULL is an empty slot */
} cxi_list;

typedef struct cxi_bound {          /* a function: see call.c */
    rrc_object head;
    const cx_method_def *def;
    rrc_object *self;               /* owned, or NULL */
} cxi_bound;

/* ---- the state of a VM -------------------------------------------------- */

enum { CXI_LEAST_SMALL = -5, CXI_SMALL_INTS = 262 };

typedef struct cxi_extension {
    const cx_extension *def;
    void *state;
    int loaded;                     /* 0: only registered */
} cxi_extension;

struct cx_state {
    cx_type types[CX_BUILTINS];
    rrc_object nil, true_ob, false_ob;
    cxi_int small[CXI_SMALL_INTS];  /* immortal, as the above */

    rrc_object **temps;             /* owned by the call scopes, the innermost last */
    size_t temp_count, temp_capacity;

    cxi_extension **extensions;
    size_t extension_count, extension_capacity;
    int loading;                    /* inside an extension's init ... */
    cvm_value *pending;             /* ... that has defined this: a rooted list of names and values */

    struct cxi_borrows *borrows;    /* debug builds: see borrow.c */
};

/* ---- crossing: object.c ------------------------------------------------- */

/* The object for a value. NEW; NULL: no memory. Allocates nothing in the Lisp heap:
   no value moves. */
rrc_object *cxi_from_value(cvm *vm, cvm_value v);

/* The value for an object. CVM_NONE after a failure. May allocate. */
cvm_value cxi_to_value(cvm *vm, rrc_object *ob);

/* The same, and drops the caller's reference. ob NULL: fails. */
cvm_value cxi_to_value_steal(cvm *vm, rrc_object *ob);

/* The value of an object that has one without making it, or CVM_NONE. */
cvm_value cxi_value_of(cvm *vm, rrc_object *ob);

/* Is it an object of this builtin type (or one based on it)? */
int cxi_is(cvm *vm, rrc_object *ob, cx_builtin which);

/* The error for it. NULL */
rrc_object *cxi_err_gone(cvm *vm, const char *function, rrc_object *ob);

/* Is it an object of this type that is not gone? For the argument ob of a function of the API:
   with an error if not. */
int cxi_expect(cvm *vm, const char *function, rrc_object *ob, cx_builtin which, const char *what);

/* Any object but NULL (and, in debug builds, but a stale one). */
int cxi_any(cvm *vm, const char *function, rrc_object *ob);

/* Is there no error so far? Then set "function: index i is out of range ...". */
int cxi_bad_index(cvm *vm, const char *function, size_t i, size_t size);

int cxi_equal(cvm *vm, rrc_object *a, rrc_object *b);
int cxi_print(cvm *vm, rrc_object *ob, int quoted, cvm_buffer *out);

/* A light view that now begins to own references: its bias changes. */
void cxi_become_full(rrc_object *ob);

/* A new object of a builtin type; NULL: no memory, without an error. */
rrc_object *cxi_alloc(cvm *vm, cx_builtin which, size_t n);

/* Room for one more item of the size in a growing array; 0: no memory. */
int cxi_make_room(void *array, size_t count, size_t *capacity, size_t size);

/* ---- of single kinds ---------------------------------------------------- */

rrc_object *cxi_int_new(cvm *vm, intptr_t number);      /* NEW; NULL: no memory, without an error */
rrc_object *cxi_small_int(cvm *vm, intptr_t number);    /* BORROWED; NULL: it is not small */
int cxi_tuple_fill(cvm *vm, rrc_object *ob);            /* 0 after a failure */
int cxi_list_fill(cvm *vm, rrc_object *ob);             /* likewise */
cvm_value cxi_boxed(cvm *vm, cvm_value owner, cvm_value *slot);

void cxi_types_open(cvm *vm);
int cxi_is_type(cvm *vm, rrc_object *ob);
cx_type *cxi_type_of(cvm *vm, rrc_object *ob);          /* BORROWED from ob */

/* The tp_init that C has given to the type or to one that it is based on; or NULL. */
int (*cxi_init_in_c(const cx_type *type))(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n);

/* In the attributes of the object's proxy; CVM_NONE: none of this name. */
cvm_value cxi_own_attribute(cvm *vm, rrc_object *ob, cvm_value symbol);

/* In the type or those it is based on. CVM_NONE: none in Lisp; then *def is the method in C,
   if there is one. */
cvm_value cxi_type_attribute(cvm *vm, cx_type *type, cvm_value symbol, const cx_method_def **def);

/* Call a procedure of Lisp. self: the first argument, or NULL. NEW. */
rrc_object *cxi_call_value(cvm *vm, cvm_value procedure, rrc_object *self,
                           rrc_object *const *args, size_t n);

void cxi_str_define(cx_type *type);
void cxi_tuple_define(cx_type *type);
void cxi_list_define(cx_type *type);
void cxi_function_define(cx_type *type);

void cxi_extensions_close(cvm *vm);
void cxi_extensions_free(cvm *vm);

/* ---- borrowed references: borrow.c --------------------------------------
 *
 * Nothing of this is there in release builds. */

#ifdef RRC_DEBUG

/* This function borrowed ob from a slot of the container (NULL: from a call scope), whose number
   is a hint. 0: no memory, an error. */
int cxi_borrowed(cvm *vm, rrc_object *ob, rrc_object *container, size_t hint, const char *function);
int cxi_borrowed_all(cvm *vm, rrc_object *const *items, size_t n, rrc_object *container,
                     const char *function);
int cxi_borrows_open(cvm *vm);
void cxi_borrows_free(cvm *vm);

#else

#define cxi_borrowed(vm, ob, container, hint, function) \
    ((void)(ob), (void)(container), (void)(hint), (void)(function), 1)
#define cxi_borrowed_all(vm, items, n, container, function) ((void)(container), 1)

#endif

#endif
