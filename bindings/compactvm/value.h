/* value.h - what a Lisp value looks like in memory.
 *
 * A value is one word. Its low bits say what it is:
 *
 *     ...xxx1   a fixnum, the number is in the other bits
 *     ...xx10   nil, true, false, or the mark of an unbound variable
 *     ...x000   the address of a heap object
 *     0         no value: what a C function returns after it has failed
 *
 * Every heap object begins with a cvm_object header. The collector moves
 * objects, so an address is good only until the next allocation; C code keeps
 * values across an allocation in rooted slots (see vm.h).
 */
#ifndef CVM_VALUE_H
#define CVM_VALUE_H

#include <stddef.h>
#include <stdint.h>

#ifndef CVM_SLOT
#define CVM_SLOT 0          /* 1: every object has a word for its C object */
#endif

typedef uintptr_t cvm_value;

#define CVM_NONE    ((cvm_value)0)
#define CVM_NIL     ((cvm_value)2)
#define CVM_FALSE   ((cvm_value)6)
#define CVM_TRUE    ((cvm_value)10)
#define CVM_UNBOUND ((cvm_value)14)

#define CVM_FIXNUM_MAX (INTPTR_MAX / 2)
#define CVM_FIXNUM_MIN (-CVM_FIXNUM_MAX - 1)

/* ---- heap objects ------------------------------------------------------- */

typedef enum cvm_kind {
    CVM_PAIR, CVM_STRING, CVM_SYMBOL, CVM_VECTOR, CVM_DICT, CVM_REAL,
    CVM_CLOSURE, CVM_BINDING, CVM_BUILTIN, CVM_SPECIAL, CVM_FOREIGN,
    CVM_INTEGER, CVM_TUPLE, CVM_RANGE, CVM_ARRAY
} cvm_kind;

enum {                      /* cvm_object.flags */
    CVM_YOUNG = 1,          /* not yet seen by a minor collection */
    CVM_LARGE = 2,          /* malloc'ed on its own, never moves */
    CVM_PREBUILT = 4,       /* made while the VM starts; never moves, never dies */
    CVM_REMEMBERED = 8,     /* old, and may refer to young objects */
    CVM_REACHED = 16,       /* alive, as far as this collection knows */
    CVM_PRINTING = 32,      /* the printer is inside it: a second visit is a cycle */
    CVM_LINKED = 64,        /* has a link, or had one: tell when it is marked */
    CVM_OUTSIDE = 128,      /* its data is in a C object: see cvm_outside */
    CVM_FIXED = CVM_LARGE | CVM_PREBUILT
};

typedef struct cvm_object {
    unsigned char kind;
    unsigned char flags;
    uint32_t hash;          /* 0: not needed so far. Kept here because addresses change */
    size_t size;            /* of the whole object, in bytes, a multiple of CVM_ALIGN */
    struct cvm_object *forward;
        /* The collector's own word. While the mutator runs it chains the
           remembered set; in a collection it chains the objects still to be
           scanned, and then says where the object goes. These uses never
           overlap, and because of them a collection needs no memory. */
#if CVM_SLOT
    struct rrc_object *ob;  /* the C object this one has a P link to, or NULL */
#endif
} cvm_object;

#define CVM_ALIGN 8u        /* objects start and end at multiples of it */

typedef struct cvm_pair {
    cvm_object head;
    cvm_value car, cdr;
} cvm_pair;

/* A pair made by the reader also knows where it was read, so that an error can
   say it. Such a pair is told by its size. */
typedef struct cvm_source_pair {
    cvm_pair pair;
    cvm_value file, line;
} cvm_source_pair;

typedef struct cvm_string {
    cvm_object head;
    size_t length;
    char bytes[];           /* never changed; a zero byte follows the last one. Ask cvm_bytes */
} cvm_string;

typedef struct cvm_symbol {
    cvm_object head;
    cvm_value name;         /* a string */
    cvm_value value;        /* of the global variable, or CVM_UNBOUND */
} cvm_symbol;

typedef struct cvm_vector {
    cvm_object head;
    size_t length;
    cvm_value items[];
} cvm_vector;

/* Entries stand in the order in which they came: key, value, key, value...
   A removed key is CVM_NONE. The index is a hash table of entry numbers. */
typedef struct cvm_dict {
    cvm_object head;
    cvm_value entries, index;   /* vectors, or nil in an empty dict */
    size_t count;               /* keys present */
    size_t used;                /* entries in use, those of removed keys too */
    size_t added;               /* keys, ever: who walks the entries sees that they may have moved */
} cvm_dict;

typedef struct cvm_real {
    cvm_object head;
    double number;
} cvm_real;

typedef struct cvm_closure {
    cvm_object head;
    cvm_value name, params, body, env;
} cvm_closure;

/* An environment is a chain of bindings that ends in nil, where the global
   variables begin. A scope starts with a binding whose name is nil: `define`
   puts new variables just behind it, where closures made earlier see them. */
typedef struct cvm_binding {
    cvm_object head;
    cvm_value name, value, next;
} cvm_binding;

typedef struct cvm_builtin {
    cvm_object head;
    const struct cvm_builtin_def *def;
} cvm_builtin;

typedef struct cvm_special {
    cvm_object head;
    const struct cvm_special_def *def;
} cvm_special;

/* The proxy of a C object. */
typedef struct cvm_foreign {
    cvm_object head;
    cvm_value attributes;   /* a dict, or nil: of objects that can have some */
    struct rrc_object *ob;  /* NULL once the C object was disposed of */
    int lent;               /* C has borrowed ob from a container that holds this proxy */
} cvm_foreign;

/* A whole number too big for a fixnum; or one that C borrowed from a container, which needs an
   object for it (see cvm_plain). */
typedef struct cvm_whole {
    cvm_object head;
    intptr_t number;
} cvm_whole;

/* Like a vector, but never changed. */
typedef struct cvm_tuple {
    cvm_object head;
    size_t length;
    cvm_value items[];
} cvm_tuple;

/* A tuple of numbers that are made when they are asked for. */
typedef struct cvm_range {
    cvm_object head;
    size_t length;
    intptr_t start;
} cvm_range;

/* A string or a tuple that was made in C (CVM_OUTSIDE): its data stays there. */
typedef struct cvm_outside {
    cvm_object head;
    size_t length;
    struct rrc_object *ob;
    const char *bytes;      /* of a string */
} cvm_outside;

/* A vector that can grow. Its items are here, or (CVM_OUTSIDE) in a C list. */
typedef struct cvm_array {
    cvm_object head;
    size_t length;          /* in use of the items */
    struct rrc_object *ob;  /* the C list, or NULL */
    cvm_value items;        /* a vector with room to spare, or nil */
} cvm_array;

/* ---- looking at values -------------------------------------------------- */

static inline int cvm_is_object(cvm_value v)
{
    return v != CVM_NONE && (v & 7) == 0;
}

static inline cvm_object *cvm_object_of(cvm_value v)
{
    return (cvm_object *)v;
}

static inline int cvm_is(cvm_value v, cvm_kind kind)
{
    return cvm_is_object(v) && cvm_object_of(v)->kind == kind;
}

static inline int cvm_is_fixnum(cvm_value v)
{
    return (int)(v & 1);
}

static inline int cvm_fits_fixnum(intptr_t n)
{
    return n >= CVM_FIXNUM_MIN && n <= CVM_FIXNUM_MAX;
}

static inline cvm_value cvm_fixnum(intptr_t n)
{
    return (cvm_value)n << 1 | 1;
}

static inline intptr_t cvm_fixnum_of(cvm_value v)
{
    return (intptr_t)(v - 1) / 2;
}

static inline cvm_value cvm_boolean(int yes)
{
    return yes ? CVM_TRUE : CVM_FALSE;
}

/* Only false and nil count as false. */
static inline int cvm_truthy(cvm_value v)
{
    return v != CVM_FALSE && v != CVM_NIL;
}

#define CVM_PAIR_OF(v)    ((cvm_pair *)(v))
#define CVM_STRING_OF(v)  ((cvm_string *)(v))
#define CVM_SYMBOL_OF(v)  ((cvm_symbol *)(v))
#define CVM_VECTOR_OF(v)  ((cvm_vector *)(v))
#define CVM_DICT_OF(v)    ((cvm_dict *)(v))
#define CVM_REAL_OF(v)    ((cvm_real *)(v))
#define CVM_CLOSURE_OF(v) ((cvm_closure *)(v))
#define CVM_BINDING_OF(v) ((cvm_binding *)(v))
#define CVM_BUILTIN_OF(v) ((cvm_builtin *)(v))
#define CVM_SPECIAL_OF(v) ((cvm_special *)(v))
#define CVM_FOREIGN_OF(v) ((cvm_foreign *)(v))
#define CVM_INTEGER_OF(v) ((cvm_whole *)(v))
#define CVM_TUPLE_OF(v)   ((cvm_tuple *)(v))
#define CVM_RANGE_OF(v)   ((cvm_range *)(v))
#define CVM_OUTSIDE_OF(v) ((cvm_outside *)(v))
#define CVM_ARRAY_OF(v)   ((cvm_array *)(v))

static inline int cvm_is_outside(cvm_value v)
{
    return (cvm_object_of(v)->flags & CVM_OUTSIDE) != 0;
}

/* The bytes of a string, and a zero byte. */
static inline const char *cvm_bytes(cvm_value string)
{
    return cvm_is_outside(string) ? CVM_OUTSIDE_OF(string)->bytes : CVM_STRING_OF(string)->bytes;
}

static inline int cvm_is_tuple(cvm_value v)
{
    return cvm_is(v, CVM_TUPLE) || cvm_is(v, CVM_RANGE);
}

static inline int cvm_is_number(cvm_value v)
{
    return cvm_is_fixnum(v) || cvm_is(v, CVM_REAL) || cvm_is(v, CVM_INTEGER);
}

static inline int cvm_is_whole(cvm_value v)
{
    return cvm_is_fixnum(v) || cvm_is(v, CVM_INTEGER);
}

static inline intptr_t cvm_whole_of(cvm_value v)
{
    return cvm_is_fixnum(v) ? cvm_fixnum_of(v) : CVM_INTEGER_OF(v)->number;
}

static inline double cvm_number_of(cvm_value v)
{
    return cvm_is(v, CVM_REAL) ? CVM_REAL_OF(v)->number : (double)cvm_whole_of(v);
}

/* What Lisp gets to see of an item of a container: it may be an object only for
   C's sake. */
static inline cvm_value cvm_plain(cvm_value v)
{
    return cvm_is(v, CVM_INTEGER) && cvm_fits_fixnum(CVM_INTEGER_OF(v)->number)
         ? cvm_fixnum(CVM_INTEGER_OF(v)->number) : v;
}

#endif
