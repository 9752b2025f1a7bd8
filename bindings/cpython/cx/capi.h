/* capi.h - the C API of compactvm: all that an extension includes.
 *
 * Whoever has written an extension for CPython knows it: objects are counted,
 * functions give new or borrowed references, types are structs of tp_ slots, and
 * an error is NULL or -1 and a message that is set. The VM behind it moves its
 * objects and finds garbage by tracing; rawrefcount.h joins the two. The README of
 * this folder has a first extension, and tables of ownership and of strategies.
 *
 *     static rrc_object *double_it(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
 *     {
 *         long x = cx_int_as_long(vm, args[0]);
 *
 *         (void)self, (void)n;
 *         if (x == -1 && cx_err_occurred(vm))
 *             return NULL;
 *         return cx_int_from_long(vm, 2 * x);
 *     }
 *
 *     static const cx_method_def functions[] = { { "double-it", 1, 1, double_it }, { NULL, 0, 0, NULL } };
 *
 *     static int init(cvm *vm) { return cx_define_functions(vm, functions); }
 *
 *     const cx_extension cx_ext_double = { CX_EXTENSION_HEAD("double"), .init = init };
 *
 * The rules:
 *
 *  - `vm` is always the first argument. There are no globals: several VMs can be
 *    in a process, each used by one thread at a time.
 *  - NEW: the caller owns the reference that it gets, and drops it with cx_decref.
 *    BORROWED: it belongs to something else, named in the comment; take a reference
 *    of your own (cx_incref) before that lets go of it. STEALS: the function takes
 *    the caller's reference over, also when it fails.
 *  - Arguments are borrowed from the caller. Those of a C function live until it
 *    returns.
 *  - NULL or -1 means that it failed and that an error is set (cx_err_occurred).
 *    A function that is given NULL fails, and leaves an error alone that is set
 *    already: so results can be passed on unseen, and checked at the end.
 *  - Garbage is taken apart piece by piece: in a tp_dealloc, a tp_clear, or a tp_finalize at the end
 *    of the VM, the host object of what self owns can be gone. Functions that need its data then
 *    fail with an error that says so; what has come to C before (the bytes of a str, the items of a
 *    tuple or a list) is still there. Counts, and questions about the type, always work.
 *  - A pointer to data (cx_str_as_utf8, cx_tuple_items, cx_list_items) is good as long
 *    as the caller owns a reference to the object, whatever moves meanwhile; that of an
 *    argument, until the function returns.
 *  - Wherever objects are made, called or dropped, other code may run: collections,
 *    deallocators, Lisp. References that you own are safe; keep your fields valid.
 *
 * With RRC_DEBUG (in the VM and the extension alike) each function checks the objects
 * that it is given: one that nobody holds for the caller any more is refused by an error
 * that says by whom it was borrowed, and why it is stale. */
#ifndef CX_CAPI_H
#define CX_CAPI_H

#include "../../../rawrefcount.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of this file; an extension that was compiled with another one is not loaded. */
#define CX_API_VERSION 1

#if defined(__GNUC__)
#define CX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CX_PRINTF(text, first)
#endif

#ifndef CVM_DECLARED
#define CVM_DECLARED
typedef struct cvm cvm;
#endif
typedef struct cx_type cx_type;

/* A function in C: n arguments, borrowed. Gives a new reference, or NULL with an
   error set. self: what cx_function_new bound to it, or a method's object. */
typedef rrc_object *(*cx_function)(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n);

typedef struct cx_method_def {
    const char *name;               /* NULL ends a table */
    int least, most;                /* arguments; most < 0: any number */
    cx_function call;
} cx_method_def;

/* An attribute that is computed. set NULL: it cannot be set. */
typedef struct cx_getset_def {
    const char *name;               /* NULL ends a table */
    rrc_object *(*get)(cvm *vm, rrc_object *self);                  /* NEW */
    int (*set)(cvm *vm, rrc_object *self, rrc_object *value);       /* value borrowed */
} cx_getset_def;

/* ---- the machine -------------------------------------------------------- */

/* Nothing else of a cvm is public: it begins with its rrc_heap. */
RRC_INLINE rrc_heap *cx_heap(const cvm *vm)
{
    return *(rrc_heap *const *)(const void *)vm;
}

/* For slots that get the heap, such as tp_dealloc. */
RRC_INLINE cvm *cx_vm(const rrc_heap *heap)
{
    return (cvm *)rrc_userdata(heap);
}

/* ---- counts ------------------------------------------------------------- */

#ifdef RRC_DEBUG
int cxi_usable(cvm *vm, rrc_object *ob, const char *function);
#define CXI_USABLE(vm, ob, function) cxi_usable((vm), (ob), (function))
#else
#define CXI_USABLE(vm, ob, function) 1
#endif

/* Take a reference, drop one. Dropping the last one runs tp_dealloc. ob is not NULL. */
RRC_INLINE void cx_incref(cvm *vm, rrc_object *ob)
{
    if (CXI_USABLE(vm, ob, "cx_incref"))
        rrc_incref(cx_heap(vm), ob);
}

RRC_INLINE void cx_decref(cvm *vm, rrc_object *ob)
{
    if (CXI_USABLE(vm, ob, "cx_decref"))
        rrc_decref(cx_heap(vm), ob);
}

/* The same, but NULL is ignored. */
RRC_INLINE void cx_xincref(cvm *vm, rrc_object *ob)
{
    if (ob != NULL)
        cx_incref(vm, ob);
}

RRC_INLINE void cx_xdecref(cvm *vm, rrc_object *ob)
{
    if (ob != NULL)
        cx_decref(vm, ob);
}

/* ob with one more reference: for `return cx_newref(vm, ob)`. */
RRC_INLINE rrc_object *cx_newref(cvm *vm, rrc_object *ob)
{
    if (!CXI_USABLE(vm, ob, "cx_newref"))
        return NULL;
    rrc_incref(cx_heap(vm), ob);
    return ob;
}

/* Set a field that owns a reference (or is NULL) to NULL, then drop the reference. */
#define CX_CLEAR(vm, field) RRC_CLEAR(cx_heap(vm), field)

/* Let a field own `ob` (stolen; or NULL) in place of what it owned, which is dropped last. */
#define CX_SETREF(vm, field, ob) \
    do { \
        rrc_object *cxi_old = (rrc_object *)(field); \
        (field) = (ob); \
        if (cxi_old != NULL) \
            rrc_decref(cx_heap(vm), cxi_old); \
    } while (0)

/* ---- call scopes: scope.c ------------------------------------------------
 *
 * A temporary belongs to a call scope and is dropped when that ends. Each call of a
 * C function is one; C code around them opens its own. Scopes nest. */

size_t cx_scope_open(cvm *vm);
void cx_scope_close(cvm *vm, size_t scope);     /* closes those in it, too */

/* STEALS ob for the innermost scope and gives it back BORROWED from that; NULL: no
   memory (ob is dropped), or ob is NULL. */
rrc_object *cx_temp(cvm *vm, rrc_object *ob);

/* ---- errors: error.c ----------------------------------------------------
 *
 * An error is a message, as in Lisp. cx_err_set returns NULL, for `return
 * cx_err_set(vm, ...)`; where an int is wanted, write `return cx_err_set(vm, ...), -1`. */

CX_PRINTF(2, 3) rrc_object *cx_err_set(cvm *vm, const char *format, ...);
rrc_object *cx_err_no_memory(cvm *vm);

/* "who: expected what, got ob" */
rrc_object *cx_err_expected(cvm *vm, const char *who, const char *what, rrc_object *ob);

int cx_err_occurred(const cvm *vm);
const char *cx_err_message(const cvm *vm);      /* until the next error; "" if there is none */

/* Forget it. The error that (exit) is stays set: nothing catches it. */
void cx_err_clear(cvm *vm);

/* Put an error aside, and back: around code that may run in the middle of one, such
   as calls from a tp_dealloc. fetch also when there is none; what happens between the two
   is then forgotten by restore. Each fetch needs its restore. */
typedef struct cx_err {
    int failed, line, exiting;
    rrc_object *file;               /* owned, or NULL */
    char message[256];
} cx_err;

void cx_err_fetch(cvm *vm, cx_err *err);
void cx_err_restore(cvm *vm, cx_err *err);

/* ---- all objects: object.c ---------------------------------------------- */

/* BORROWED from the VM: for as long as it lives. */
rrc_object *cx_nil(cvm *vm);
rrc_object *cx_bool(cvm *vm, int yes);

/* Everything but nil and false. 1, 0. */
int cx_is_true(cvm *vm, rrc_object *ob);

/* equal?, and eq? of Lisp. 1, 0, -1. */
int cx_equal(cvm *vm, rrc_object *a, rrc_object *b);
int cx_is_same(cvm *vm, rrc_object *a, rrc_object *b);

/* As the reader takes it, as print shows it: a str. NEW. */
rrc_object *cx_repr(cvm *vm, rrc_object *ob);
rrc_object *cx_to_str(cvm *vm, rrc_object *ob);

/* Attributes: those of tp_getset, else of the object, else of its type (also of the types that
   it is based on) or methods, bound to it. get: NEW. set: -1 where the object cannot have some:
   its type lacks CX_TPFLAGS_HAVE_ATTRS. value NULL removes one. */
rrc_object *cx_get_attr(cvm *vm, rrc_object *ob, const char *name);
int cx_set_attr(cvm *vm, rrc_object *ob, const char *name, rrc_object *value);

/* Dispose of ob now, whoever still has its proxy: runs its tp_close, if it has one, and unlinks it,
   so that Lisp lets go of it. If C does not hold it either, it is deallocated. In Lisp its proxy
   is #<disposed> from then on. Twice is harmless. What C has borrowed from a dict stays as long as
   the dict holds the proxy. -1: tp_close failed, and it is closed all the same; or there is no
   memory to keep what C has borrowed, and it can be closed again. Only for objects that Lisp sees by
   a proxy (foreign types). */
int cx_close(cvm *vm, rrc_object *ob);

/* Symbols and pairs, which are Lisp's. NEW. */
rrc_object *cx_symbol(cvm *vm, const char *name);
rrc_object *cx_symbol_name(cvm *vm, rrc_object *symbol);            /* a str */
rrc_object *cx_pair_new(cvm *vm, rrc_object *car, rrc_object *cdr);
rrc_object *cx_pair_car(cvm *vm, rrc_object *pair);
rrc_object *cx_pair_cdr(cvm *vm, rrc_object *pair);

/* ---- numbers: number.c -------------------------------------------------- */

rrc_object *cx_int_from_long(cvm *vm, long number);                 /* NEW */
rrc_object *cx_int_from_size(cvm *vm, size_t number);               /* NEW; fails beyond INTPTR_MAX */
rrc_object *cx_float_from_double(cvm *vm, double number);           /* NEW */
int cx_int_check(cvm *vm, rrc_object *ob);
int cx_float_check(cvm *vm, rrc_object *ob);

/* -1 (as_size: SIZE_MAX) with an error set if ob is no int, or it does not fit. */
long cx_int_as_long(cvm *vm, rrc_object *ob);
size_t cx_int_as_size(cvm *vm, rrc_object *ob);

/* An int will do, too. -1 with an error set. */
double cx_float_as_double(cvm *vm, rrc_object *ob);

/* ---- str: str.c --------------------------------------------------------- */

rrc_object *cx_str_from_string(cvm *vm, const char *text);          /* NEW */
/* bytes NULL: zeros, to be filled in through cx_str_buffer. NEW. */
rrc_object *cx_str_from_string_and_size(cvm *vm, const char *bytes, size_t size);
CX_PRINTF(2, 3) rrc_object *cx_str_from_format(cvm *vm, const char *format, ...);   /* NEW */
int cx_str_check(cvm *vm, rrc_object *ob);
size_t cx_str_size(cvm *vm, rrc_object *ob);        /* in bytes; SIZE_MAX: an error */

/* The bytes, and a zero byte after them; good while the caller owns a reference. size may be NULL. */
const char *cx_str_as_utf8(cvm *vm, rrc_object *ob);
const char *cx_str_as_utf8_and_size(cvm *vm, rrc_object *ob, size_t *size);

/* The bytes, to be changed: only of a str that was made in C and that Lisp has not seen yet. */
char *cx_str_buffer(cvm *vm, rrc_object *ob);

/* Does ob hold this text? 1, 0; -1: it is no str. */
int cx_str_equals(cvm *vm, rrc_object *ob, const char *text);

/* ---- tuple: tuple.c ----------------------------------------------------- */

/* n empty slots, to be filled by cx_tuple_set_item before Lisp sees it. NEW. */
rrc_object *cx_tuple_new(cvm *vm, size_t n);
/* Of n rrc_object *, borrowed. NEW. */
rrc_object *cx_tuple_pack(cvm *vm, size_t n, ...);
int cx_tuple_check(cvm *vm, rrc_object *ob);
size_t cx_tuple_size(cvm *vm, rrc_object *ob);      /* SIZE_MAX: an error */
rrc_object *cx_tuple_get_item(cvm *vm, rrc_object *ob, size_t i);   /* BORROWED from the tuple */
/* STEALS item. Only of a tuple that was made in C and that Lisp has not seen yet. */
int cx_tuple_set_item(cvm *vm, rrc_object *ob, size_t i, rrc_object *item);
/* All items, BORROWED from the tuple, as an array that is good while the caller owns a reference. */
rrc_object *const *cx_tuple_items(cvm *vm, rrc_object *ob);

/* ---- list: list.c --------------------------------------------------------
 *
 * Lisp's arrays. */

rrc_object *cx_list_new(cvm *vm, size_t n);         /* n empty slots: nil for Lisp. NEW */
int cx_list_check(cvm *vm, rrc_object *ob);
size_t cx_list_size(cvm *vm, rrc_object *ob);       /* SIZE_MAX: an error */
/* BORROWED from the list, until this item is replaced or removed. NULL without an error: an empty slot. */
rrc_object *cx_list_get_item(cvm *vm, rrc_object *ob, size_t i);
int cx_list_set_item(cvm *vm, rrc_object *ob, size_t i, rrc_object *item);  /* STEALS item */
int cx_list_append(cvm *vm, rrc_object *ob, rrc_object *item);              /* takes its own reference */
int cx_list_insert(cvm *vm, rrc_object *ob, size_t i, rrc_object *item);    /* likewise; before item i */
int cx_list_del_item(cvm *vm, rrc_object *ob, size_t i);
/* The items, BORROWED from the list: good while the caller owns a reference and the list
   does not change its size. */
rrc_object *const *cx_list_items(cvm *vm, rrc_object *ob);
rrc_object *cx_list_as_tuple(cvm *vm, rrc_object *ob);                      /* NEW */

/* ---- dict: dict.c ------------------------------------------------------- */

rrc_object *cx_dict_new(cvm *vm);                                           /* NEW */
int cx_dict_check(cvm *vm, rrc_object *ob);
size_t cx_dict_size(cvm *vm, rrc_object *ob);       /* SIZE_MAX: an error */
/* BORROWED from the dict, until this value is replaced or removed. NULL: not there; an error only if
   cx_err_occurred. */
rrc_object *cx_dict_get_item(cvm *vm, rrc_object *ob, rrc_object *key);
rrc_object *cx_dict_get_item_string(cvm *vm, rrc_object *ob, const char *key);      /* a str as key */
/* They take their own references to key and value. */
int cx_dict_set_item(cvm *vm, rrc_object *ob, rrc_object *key, rrc_object *value);
int cx_dict_set_item_string(cvm *vm, rrc_object *ob, const char *key, rrc_object *value);
int cx_dict_del_item(cvm *vm, rrc_object *ob, rrc_object *key);     /* 1: removed; 0: it was not there; -1 */
int cx_dict_contains(cvm *vm, rrc_object *ob, rrc_object *key);     /* 1, 0, -1 */

/* The next entry, in the order in which the keys came: 1; 0: there is no more; -1 with an error.
   *key and *value (each may be NULL) are BORROWED from the dict, as above. Start with a
   cx_dict_pos that is all zero. A whole walk takes time in proportion to the dict.
   Meanwhile keys may be removed and values replaced; if a key was added, the next step fails. */
typedef struct cx_dict_pos {
    size_t at, added;
} cx_dict_pos;

int cx_dict_next(cvm *vm, rrc_object *ob, cx_dict_pos *pos, rrc_object **key, rrc_object **value);

/* ---- calls: call.c ------------------------------------------------------ */

int cx_callable_check(cvm *vm, rrc_object *ob);

/* Call anything that can be called, in C or in Lisp. NEW. */
rrc_object *cx_call(cvm *vm, rrc_object *callable, rrc_object *const *args, size_t n);
rrc_object *cx_call_method(cvm *vm, rrc_object *ob, const char *name, rrc_object *const *args, size_t n);

/* Is n from least to most (most < 0: any number)? If not: an error "who: expected ...". For slots such as
   tp_new; for functions and methods it is done by their cx_method_def. */
int cx_check_args(cvm *vm, const char *who, size_t n, int least, int most);

/* A procedure for Lisp out of a C function; def must live on. self (its own reference) may be NULL. NEW. */
rrc_object *cx_function_new(cvm *vm, const cx_method_def *def, rrc_object *self);

/* ---- types: type.c ------------------------------------------------------ */

/* tp_flags, beside the header's RRC_TPFLAGS_HAVE_GC. (RRC_TPFLAGS_HEAPTYPE is set for all
   types that an extension makes.) */
#define CX_TPFLAGS_BASETYPE   (1ul << 8)    /* other types can be based on it */
#define CX_TPFLAGS_LIGHT      (1ul << 9)    /* (CVM_TPFLAGS_LIGHT) objects own nothing, and have no tp_dealloc: they are
                                               freed in the collection that finds their proxy dead */
#define CX_TPFLAGS_HAVE_ATTRS (1ul << 10)   /* Lisp can give its objects attributes. They are kept in the
                                               proxy, which therefore lives as long as the object: a P link */
#define CX_TPFLAGS_NO_NEW     (1ul << 11)   /* only C makes objects: a call of the type is refused */
#define CX_TPFLAGS_READY      (1ul << 12)   /* (private) it is a cx_type */

/* A type, and also the template (spec) to make one of. Zero is fine for every field but
   tp_name; what is zero is inherited. */
struct cx_type {
    rrc_type type;                  /* tp_name, tp_basicsize, tp_dealloc ...: see rawrefcount.h */
    cx_type *tp_base;               /* owned; set by cx_type_from_spec */

    /* Make an object, from the arguments of the call of its type: by cx_new, as a rule. (In each of
       these, args can be NULL if n is 0.) NEW. */
    rrc_object *(*tp_new)(cvm *vm, cx_type *type, rrc_object *const *args, size_t n);
    /* Then set it up, from the same arguments. May come more than once. 0, -1. */
    int (*tp_init)(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n);
    /* Memory for an object with n items: zeroed, counted, tracked. NEW. */
    rrc_object *(*tp_alloc)(cvm *vm, cx_type *type, size_t n);
    /* An object of this type is called. NEW. */
    cx_function tp_call;
    /* For print and repr: a str. NEW. It must not call or make anything that is Lisp's: making a str, an
       int, a tuple or a list is fine. */
    rrc_object *(*tp_repr)(cvm *vm, rrc_object *self);
    /* cx_close, or `with`, or `close` in Lisp. Release what self holds; it may be called again. 0, -1. */
    int (*tp_close)(cvm *vm, rrc_object *self);
    /* Their self always is an object of this type. It may be one that the collector has cleared, if
       somebody got hold of it again: then what its tp_clear (or tp_members) drops is NULL. */
    const cx_method_def *tp_methods;
    const cx_getset_def *tp_getset;

    void *tp_memory[2];             /* (private) what the type owns: a name, a table of members */
};

/* A new type: spec, and what it inherits from base (NULL: object). metatype NULL: that of
   base. The strings and tables of spec must live on. A slot is inherited if it is zero; so are
   tp_traverse, tp_clear and tp_members, if all are; tp_members are added to those of base. An
   own tp_dealloc ends with that of the base, if it has one, else with cx_free. (Without HAVE_GC
   the collector does not see that objects refer to their type: one that only its own object
   keeps is then not found to be garbage.) NEW. */
cx_type *cx_type_from_spec(cvm *vm, const cx_type *spec, cx_type *base, cx_type *metatype);

/* The same, and let Lisp's variable tp_name be the type: 0, -1. *type (type may be NULL) is the type, NEW;
   NULL after a failure. */
int cx_define_type(cvm *vm, const cx_type *spec, cx_type *base, cx_type *metatype, cx_type **type);

/* A type as an object: for cx_decref and so on. */
RRC_INLINE rrc_object *cx_type_object(cx_type *type)
{
    return type != NULL ? &type->type.ob_base : NULL;
}

/* The type of ob, BORROWED from it; the type whose objects it is one of? 1, 0. */
cx_type *cx_type_of(cvm *vm, rrc_object *ob);
int cx_type_check(cvm *vm, rrc_object *ob, const cx_type *type);
int cx_is_subtype(const cx_type *type, const cx_type *base);

/* As cx_type_check; if not: an error "who: expected a NAME, got ob". */
int cx_check(cvm *vm, const char *who, rrc_object *ob, const cx_type *type);

/* ob as a type, or NULL. */
cx_type *cx_as_type(cvm *vm, rrc_object *ob);

/* A new object of the type, all zero: tp_alloc. Tracked, if it has HAVE_GC. NEW. */
rrc_object *cx_new(cvm *vm, cx_type *type);
rrc_object *cx_new_var(cvm *vm, cx_type *type, size_t n);

/* The end of a tp_dealloc: the memory goes, by tp_free. */
void cx_free(rrc_heap *heap, rrc_object *self);

/* The VM's own types, BORROWED from it. */
typedef enum cx_builtin {
    CX_OBJECT, CX_TYPE, CX_NIL, CX_BOOL, CX_INT, CX_FLOAT, CX_STR, CX_TUPLE, CX_LIST, CX_DICT,
    CX_FUNCTION, CX_PROCEDURE, CX_SYMBOL, CX_PAIR, CX_VECTOR, CX_FOREIGN, CX_CLOSED,
    CX_BUILTINS
} cx_builtin;

cx_type *cx_builtin_type(cvm *vm, cx_builtin which);

/* ---- extensions: extension.c --------------------------------------------
 *
 * (load-extension "path/NAME.so") looks for a `const cx_extension cx_ext_NAME`. One that
 * is linked in is registered by cx_add_extension, and loaded by (load-extension "NAME"). */

typedef struct cx_extension {
    int api_version;
    const char *name;
    int (*check_config)(rrc_heap *heap);    /* was it compiled with the VM's RRC_DEBUG and so on? */
    int (*init)(cvm *vm);           /* define what it offers: 0, or -1. Then nothing is defined */
    size_t state_size;              /* bytes for each VM, zeroed; for cx_state */
    void (*end)(cvm *vm);           /* the VM ends, or init has failed: drop what the state owns; or NULL */
} cx_extension;

static inline int cxi_check_config(rrc_heap *heap)
{
    return rrc_check_config(heap);
}

#define CX_EXTENSION_HEAD(name) CX_API_VERSION, (name), cxi_check_config

/* The extension's state in this VM; NULL: it is not loaded. */
void *cx_state(cvm *vm, const cx_extension *extension);

int cx_add_extension(cvm *vm, const cx_extension *extension);

/* Load it, once: 0, -1. As (load-extension name). */
int cx_load_extension(cvm *vm, const char *name);

/* Lisp's global variables. define takes its own reference; inside an init it counts when
   that has succeeded. get: NEW. */
int cx_define(cvm *vm, const char *name, rrc_object *ob);
int cx_define_functions(cvm *vm, const cx_method_def *defs);
rrc_object *cx_get_global(cvm *vm, const char *name);

/* ---- the collector ------------------------------------------------------ */

/* All that can be collected, now; tests call it between any two calls. cx_gc_minor: only what
   is young. Neither runs deallocators: cx_run_pending does. */
void cx_gc(cvm *vm);
void cx_gc_minor(cvm *vm);
size_t cx_run_pending(cvm *vm);

#ifdef __cplusplus
}
#endif

#endif
