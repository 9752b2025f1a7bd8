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
 * the functions in cvm_layer only.
 */
#ifndef CVM_VM_H
#define CVM_VM_H

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L     /* streams in memory, signals and so on: include this first */
#endif

#include "heap.h"
#include "../../../rawrefcount.h"
#include "../../insight/rrc_insight.h"

#include <stdio.h>

#define CVM_VERSION "1.0"

#define CVM_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* ---- layers ------------------------------------------------------------- */

enum { CVM_LANGUAGE, CVM_API, CVM_LIBRARY, CVM_LAYERS };

/* Any function may be NULL. */
typedef struct cvm_layer {
    size_t size;                /* of its state: cvm.state[number], zeroed; it lives as long as the cvm */
    int number;                 /* one of the above */
    int (*open)(cvm *vm);       /* 0: no memory */
    void (*roots)(cvm *vm);     /* cvm_heap_visit each slot of its own */
    void (*let_go)(cvm *vm);    /* the VM ends: drop what is held of C objects */
    void (*free)(cvm *vm);      /* the links are gone, and the heap is about to go */
    int counts_freely;          /* C code in it changes counts without rrc_incref, or moves references without
                                   rrc_touch: the search for cycles is not divided into slices */
    /* As the hooks of rrc_insight and rrc_desc with these names. Of several layers the highest one counts. */
    void (*edges)(void *vm, rrc_gcref p, rrc_edgeproc visit, void *arg);
    void (*describe)(void *vm, rrc_gcref p, rrc_description *about);
    void *(*realloc)(void *vm, void *ptr, size_t old_size, size_t new_size);
    /* These are of CVM_API, which has all four. What is to do at a safe point: programs may run. Free the C objects
       that are kept for later ones: no program runs. A new C object for v, which owns nothing; NULL: no memory. It
       allocates nothing in the heap. And a new object for ob, which has none; CVM_NONE after a failure. */
    void (*attend)(cvm *vm);
    void (*trim)(cvm *vm);
    rrc_object *(*view)(cvm *vm, cvm_value v);
    cvm_value (*proxy)(cvm *vm, rrc_object *ob);
} cvm_layer;

typedef struct cvm_config {     /* zero means the default */
    size_t heap_limit;          /* bytes; not less than CVM_LEAST_HEAP */
    size_t nursery;             /* bytes */
    size_t max_depth;           /* nested evaluations; fewer if the C stack is small */
    size_t c_stack;             /* bytes of it that the VM may use; three quarters of what the process says */
    int stress;                 /* collect at every allocation; if incremental: do a slice */
    int incremental;            /* major collections mark in slices. C code then follows the rules of `incremental`
                                   in rrc_desc, but for layers that count freely */
    unsigned search_percent;    /* as in rrc_desc: with 0, each major collection searches for cycles */
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

enum { CVM_CLOSED = 2 };        /* cvm.closing */

enum { CVM_MOST_CALLS = 8 };    /* that an error tells of */

/* It is all text, so that it can be copied: code that runs while an error is on its way up saves it, and
   gives it back. */
typedef struct cvm_error {
    int failed;                 /* it is on its way up */
    int exiting;                /* nothing catches it: the program ends */
    size_t number;              /* tells it from others */
    char message[256];
    char place[256];            /* "file:line: ", or empty: not known */
    size_t call_count;          /* the calls that it has ended, the innermost first */
    char calls[CVM_MOST_CALLS * 200];   /* a line for each of the first ones */
} cvm_error;

struct cvm {
    rrc_heap *rrc;              /* the links: see glue.c. First: the C API counts on it */
    cvm_config config;          /* with the defaults. For another thread c_stack may be changed between two runs */
    cvm_heap heap;
    const cvm_layer *layers[CVM_LAYERS];        /* by number; NULL: there is none */
    void *state[CVM_LAYERS];
    rrc_insight insight;        /* what the layers show of objects */
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
    size_t depth;
    uintptr_t c_base;           /* where the C stack was when the VM was entered: see cvm_enter */
    cvm_error error;            /* the last one */
    size_t errors;              /* so far */
    int exit_status;
    int observed;               /* somebody remembers C objects by their address: rrc_observe */
    int printing;               /* inside a tp_repr: nothing must move, no program run */
};

/* ---- rooted slots ------------------------------------------------------- */

static inline size_t cvm_open(const cvm *vm) { return vm->sp; }
static inline void cvm_close(cvm *vm, size_t scope) { vm->sp = scope; }

/* There is always room for CVM_STACK_SPARE slots in a builtin; who needs more
   asks cvm_stack_room first. */
static inline cvm_value *cvm_root(cvm *vm, cvm_value v)
{
    vm->stack[vm->sp] = v;
    return &vm->stack[vm->sp++];
}

/* 0 after a failure: recursion too deep. */
int cvm_stack_room(cvm *vm, size_t n);

/* Around each recursion of C code. cvm_enter gives 0 after a failure, since nesting is too deep or
   the C stack is used up (cvm_config); then cvm_leave must not be called. */
int cvm_enter(cvm *vm);
void cvm_leave(cvm *vm);

/* ---- errors ------------------------------------------------------------- */

CVM_PRINTF(2, 3) cvm_value cvm_fail(cvm *vm, const char *format, ...);
cvm_value cvm_out_of_memory(cvm *vm);

/* The error happened there, unless it is known that it happened elsewhere. */
void cvm_error_at(cvm *vm, const char *file, int line);

/* "file:line: error: message", or without the place if it is not known. */
void cvm_error_text(const cvm *vm, char *text, size_t size);
void cvm_error_clear(cvm *vm);

/* ---- making values; CVM_NONE after a failure ----------------------------
 *
 * Text passed in must lie in C memory: text inside a string of the heap could move
 * before it is copied. */

cvm_value cvm_string_new(cvm *vm, const char *bytes, size_t length);   /* bytes may be NULL: zeros */
cvm_value cvm_text(cvm *vm, const char *zero_terminated);
cvm_value cvm_vector_new(cvm *vm, size_t length, cvm_value fill);

/* An object of the kind, zeroed; its fields must then be filled in before the
   next allocation. */
cvm_object *cvm_object_new(cvm *vm, int kind, size_t size);

/* ---- links to C objects: glue.c ----------------------------------------- */

/* In the tp_flags of a type: its objects own nothing but their memory, so that their links are light. */
#define CVM_TPFLAGS_LIGHT (1ul << 9)

int cvm_glue_open(cvm *vm);         /* 0: no memory */

/* For the mutator, if vm->attention, at a safe point: where everything in use is rooted. C code may run here. */
void cvm_glue_attend(cvm *vm);

/* The value for a C object, to which the caller holds a reference: what it is linked to, else a
   new proxy. CVM_NONE after a failure. */
cvm_value cvm_from_ob(cvm *vm, rrc_object *ob);

/* The C object for any object on the heap: the one behind a proxy, the one linked to it, else a
   new view. A new reference; NULL after a failure. It moves nothing. */
rrc_object *cvm_ob_of(cvm *vm, cvm_value v);
int cvm_make_view(cvm *vm, cvm_value v, rrc_object *ob);      /* ob, which has no link, becomes the view of v. 0: failed */

/* The C object that an object names without a P link, borrowed; or NULL: a proxy, or something
   whose data is in C. */
static inline rrc_object *cvm_named_ob(cvm_value v)
{
    return cvm_is(v, CVM_FOREIGN) ? CVM_FOREIGN_OF(v)->ob : cvm_is_outside(v) ? CVM_OUTSIDE_OF(v)->ob : NULL;
}

/* The C object linked to any value, borrowed; or NULL. */
rrc_object *cvm_linked_ob(cvm *vm, cvm_value v);

/* A new proxy, which names ob. */
cvm_value cvm_foreign_new(cvm *vm, rrc_object *ob);

#endif
