/* value.h - what a value looks like in memory.
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
 *
 * The core has the kinds of objects below. A language and an API add kinds of
 * their own: each tells the heap by a cvm_kind where its references are.
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

enum {                      /* cvm_object.kind */
    CVM_STRING, CVM_VECTOR, CVM_FOREIGN,
    CVM_LANGUAGE_KINDS = 8,         /* the first one of the language */
    CVM_API_KINDS = 16,             /* the first one of the C API */
    CVM_KINDS = 24
};

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
    uint32_t id;            /* which object it is, in heap snapshots; likewise */
    uint32_t units;         /* its size: see cvm_object_size */
    struct cvm_object *forward;
        /* While the mutator runs it chains the remembered set; in a collection it says where the
           object goes. */
    struct cvm_object *gray;
        /* It chains the objects that are still to be scanned. Because of these two words a collection
           needs no memory. */
#if CVM_SLOT
    struct rrc_object *ob;  /* the C object this one has a P link to, or NULL */
#endif
} cvm_object;

#define CVM_ALIGN 8u        /* objects start and end at multiples of it */

typedef struct cvm_string {
    cvm_object head;
    size_t length;
    char bytes[];           /* never changed; a zero byte follows the last one. Ask cvm_bytes */
} cvm_string;

typedef struct cvm_vector {
    cvm_object head;
    size_t length;
    cvm_value items[];
} cvm_vector;

/* The proxy of a C object. */
typedef struct cvm_foreign {
    cvm_object head;
    cvm_value attributes;   /* those that the API gives it, or nil */
    struct rrc_object *ob;  /* NULL once the C object was disposed of */
    int lent;               /* C has borrowed ob from a container that holds this proxy */
} cvm_foreign;

/* An object whose data was made in C, and stays there (CVM_OUTSIDE): a string, or an object of a
   kind that the C API adds. */
typedef struct cvm_outside {
    cvm_object head;
    size_t length;
    struct rrc_object *ob;
    const char *bytes;      /* of a string */
} cvm_outside;

/* ---- looking at values -------------------------------------------------- */

static inline int cvm_is_object(cvm_value v) { return v != CVM_NONE && (v & 7) == 0; }
static inline cvm_object *cvm_object_of(cvm_value v) { return (cvm_object *)v; }

/* The size of the whole object, in bytes. */
static inline size_t cvm_object_size(const cvm_object *p) { return (size_t)p->units * CVM_ALIGN; }

static inline int cvm_is(cvm_value v, int kind)
{
    return cvm_is_object(v) && cvm_object_of(v)->kind == kind;
}

static inline int cvm_is_fixnum(cvm_value v) { return (int)(v & 1); }
static inline int cvm_fits_fixnum(intptr_t n) { return n >= CVM_FIXNUM_MIN && n <= CVM_FIXNUM_MAX; }
static inline cvm_value cvm_fixnum(intptr_t n) { return (cvm_value)n << 1 | 1; }
static inline intptr_t cvm_fixnum_of(cvm_value v) { return (intptr_t)(v - 1) / 2; }
static inline cvm_value cvm_boolean(int yes) { return yes ? CVM_TRUE : CVM_FALSE; }

/* Only false and nil count as false. */
static inline int cvm_truthy(cvm_value v) { return v != CVM_FALSE && v != CVM_NIL; }

#define CVM_STRING_OF(v)  ((cvm_string *)(v))
#define CVM_VECTOR_OF(v)  ((cvm_vector *)(v))
#define CVM_FOREIGN_OF(v) ((cvm_foreign *)(v))
#define CVM_OUTSIDE_OF(v) ((cvm_outside *)(v))

static inline int cvm_is_outside(cvm_value v) { return (cvm_object_of(v)->flags & CVM_OUTSIDE) != 0; }

/* The bytes of a string, and a zero byte. */
static inline const char *cvm_bytes(cvm_value string)
{
    return cvm_is_outside(string) ? CVM_OUTSIDE_OF(string)->bytes : CVM_STRING_OF(string)->bytes;
}

#endif
