/* vm.h - the virtual machine, and what C code needs to work with it.
 *
 * Two rules keep C code right:
 *
 * 1. Roots. An allocation may move every object, so a value that is needed
 *    later must stand in a slot of the VM stack, where the collector finds and
 *    updates it. cvm_root gives such a slot; it lasts until the scope ends:
 *
 *        cvm_value *key = cvm_root(vm, CVM_NIL);
 *        *key = cvm_text(vm, "name");
 *
 *    A builtin's arguments are such slots already, and the scope of a builtin
 *    ends when it returns. Elsewhere, take `scope = cvm_open(vm)` first and call
 *    cvm_close(vm, scope) last. Arguments passed to a constructor (cvm_vector_new
 *    and so on) are protected by the constructor.
 *
 * 2. Errors. A function that fails calls cvm_fail and returns CVM_NONE, and so
 *    does its caller. Nothing jumps over C frames: code that holds references
 *    to counted objects gets the chance to drop them.
 *
 * A language and a C API stand on this core as layers. The core calls them through
 * the functions in cvm_ops only.
 */
#ifndef CVM_VM_H
#define CVM_VM_H

#include "heap.h"

#include <stdio.h>

#define CVM_VERSION "1.0"

#if defined(__GNUC__)
#define CVM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CVM_PRINTF(text, first)
#endif

#ifndef CVM_DECLARED
#define CVM_DECLARED
typedef struct cvm cvm;
#endif

/* ---- layers ------------------------------------------------------------- */

enum { CVM_LANGUAGE, CVM_API, CVM_LIBRARY, CVM_LAYERS };

/* Any function may be NULL. */
typedef struct cvm_layer {
    size_t size;                /* of its state: cvm.state[number], zeroed; it lives as long as the cvm */
    int number;                 /* one of the above */
    int (*open)(cvm *vm);       /* 0: no memory. What it allocates is prebuilt */
    void (*roots)(cvm *vm);     /* cvm_heap_visit each slot of its own */
    void (*let_go)(cvm *vm);    /* the VM ends: drop what is held of C objects */
    void (*free)(cvm *vm);      /* the links are gone, and the heap is about to go */
    int counts_freely;          /* C code in it changes counts without rrc_incref, or moves references without
                                   rrc_touch: the search for cycles is not divided into slices */
} cvm_layer;

struct rrc_description;

/* What layers know. Each function has a default in the core, for a VM without that layer. */
typedef struct cvm_ops {
    /* Print v, as a reader would take it, into text; "..." at its end if it was cut. */
    void (*print_short)(cvm *vm, cvm_value v, char *text, size_t size);
    /* A new C object for v, which owns nothing. NULL: no memory. It allocates nothing in the heap. */
    struct rrc_object *(*view)(cvm *vm, cvm_value v);
    /* A new object for ob, which has none, and the kind of link that is right for it. CVM_NONE
       after a failure. */
    cvm_value (*proxy)(cvm *vm, struct rrc_object *ob, int *kind);
    /* What is shown of the heap: as the hooks of rrc_desc with these names. NULL: nothing. */
    void (*edges)(cvm *vm, cvm_object *p,
                  void (*visit)(void *arg, void *to, const char *name, size_t number), void *arg);
    void (*describe)(cvm *vm, cvm_object *p, struct rrc_description *about);
    /* Memory for C objects, in place of realloc. NULL: the C library's. */
    void *(*realloc)(void *vm, void *ptr, size_t old_size, size_t new_size);
} cvm_ops;

typedef struct cvm_config {     /* zero means the default */
    size_t heap_limit;          /* bytes; not less than CVM_LEAST_HEAP */
    size_t nursery;             /* bytes */
    size_t max_depth;           /* nested evaluations; fewer if the C stack is small */
    int stress;                 /* collect at every allocation; if incremental: do a slice */
    int incremental;            /* major collections mark in slices. C code then follows the rules of `incremental`
                                   in rrc_desc, but for layers that count freely */
    FILE *out;                  /* where programs write; stdout */
    const cvm_layer *const *layers;     /* the lowest first; NULL ends the list */
} cvm_config;

#define CVM_LEAST_HEAP ((size_t)128 * 1024)

/* NULL when there is no memory. */
cvm *cvm_new(const cvm_config *config);

/* End the VM. Returns how many C objects that were linked to objects of the heap are
   still held by C code. They live on, and rrc_decref may end them later; as
   their deallocators look at the cvm itself, it is then left over: free() it
   when they are gone. Usually the result is 0 and there is nothing left. */
size_t cvm_free(cvm *vm);

/* ---- the machine -------------------------------------------------------- */

enum { CVM_STACK_SIZE = 1 << 16, CVM_STACK_SPARE = 64, CVM_DEFAULT_DEPTH = 2500 };

typedef struct cvm_c_stack {    /* of the thread that uses the VM: see lisp/depth.c */
    uintptr_t low, high;
    uintptr_t least;            /* below it, recursion is too deep */
    uintptr_t thread;           /* which one it is */
} cvm_c_stack;

enum { CVM_CLOSED = 2 };        /* cvm.closing */

struct cvm {
    struct rrc_heap *rrc;       /* the links: see glue.c. First: the C API counts on it */
    cvm_heap heap;
    cvm_ops ops;
    const cvm_layer *const *layers;
    void *state[CVM_LAYERS];
    int searches_in_slices;     /* the header, too, does its work in slices */
    int attention;              /* the next safe point has something to do */
    int auto_pending;           /* namely, deallocate C objects that wait for it */
    size_t c_trigger;           /* when C's objects take so many bytes, collect: see glue.c */
    int c_asks;                 /* they did, so slices are done until a collection has ended */
    size_t c_measured;          /* after so many major collections that number was chosen */
    int closing;                /* cvm_free has begun; CVM_CLOSED: the heap has ended, run no more programs */

    cvm_value *stack;           /* never moves, so slots have fixed addresses */
    size_t sp;
    cvm_value tombstone;        /* stands for a C object that is being deallocated */
    size_t depth, max_depth;
    cvm_c_stack c_stack;
    FILE *out;

    int failed;                 /* an error is on its way up */
    size_t failures;            /* so far: tells one error from another */
    char message[256];
    cvm_value error_file;       /* a string, or nil */
    int error_line;
    int exiting, exit_status;   /* an error that nothing catches: the program ends */
    int printing;               /* inside a tp_repr: nothing must move, no program run */
};

/* ---- rooted slots ------------------------------------------------------- */

static inline size_t cvm_open(const cvm *vm)
{
    return vm->sp;
}

static inline void cvm_close(cvm *vm, size_t scope)
{
    vm->sp = scope;
}

/* There is always room for CVM_STACK_SPARE slots in a builtin; who needs more
   asks cvm_stack_room first. */
static inline cvm_value *cvm_root(cvm *vm, cvm_value v)
{
    vm->stack[vm->sp] = v;
    return &vm->stack[vm->sp++];
}

/* 0 after a failure: recursion too deep. */
int cvm_stack_room(cvm *vm, size_t n);

/* ---- errors ------------------------------------------------------------- */

CVM_PRINTF(2, 3) cvm_value cvm_fail(cvm *vm, const char *format, ...);
cvm_value cvm_out_of_memory(cvm *vm);

/* "who: expected what, got v" */
cvm_value cvm_expected(cvm *vm, const char *who, const char *what, cvm_value v);

/* "file:line: error: message", or without the place if it is not known. The
   text is good until the next call. */
void cvm_error_text(const cvm *vm, char *text, size_t size);
void cvm_error_clear(cvm *vm);

/* ---- making values; CVM_NONE after a failure ----------------------------
 *
 * Text passed in must lie in C memory: text inside a string of the heap could move
 * before it is copied. */

cvm_value cvm_string_new(cvm *vm, const char *bytes, size_t length);   /* bytes may be NULL: zeros */
cvm_value cvm_text(cvm *vm, const char *zero_terminated);
cvm_value cvm_vector_new(cvm *vm, size_t length, cvm_value fill);
cvm_value cvm_real_new(cvm *vm, double number);
cvm_value cvm_integer(cvm *vm, intptr_t n);     /* a fixnum; an object if it is too big for that */
cvm_value cvm_size(cvm *vm, size_t n);          /* likewise; a real beyond INTPTR_MAX */
cvm_value cvm_whole_new(cvm *vm, intptr_t n);   /* always an object: see cvm_whole */

/* An object of the kind, zeroed; its fields must then be filled in before the
   next allocation. */
cvm_object *cvm_object_new(cvm *vm, int kind, size_t size);

/* *slot = v, for a slot inside `owner`. */
void cvm_store(cvm *vm, cvm_value owner, cvm_value *slot, cvm_value v);

#endif
