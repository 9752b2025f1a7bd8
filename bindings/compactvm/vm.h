/* vm.h - the virtual machine, and what C code needs to work with it.
 *
 * Two rules keep C code right:
 *
 * 1. Roots. An allocation may move every object, so a value that is needed
 *    later must stand in a slot of the VM stack, where the collector finds and
 *    updates it. cvm_root gives such a slot; it lasts until the scope ends:
 *
 *        cvm_value *list = cvm_root(vm, CVM_NIL);
 *        *list = cvm_cons(vm, a, *list);
 *
 *    A builtin's arguments are such slots already, and the scope of a builtin
 *    ends by itself when it returns. Elsewhere, take `scope = cvm_open(vm)`
 *    first and call cvm_close(vm, scope) last. Arguments passed to a
 *    constructor (cvm_cons and so on) are protected by the constructor.
 *
 * 2. Errors. A function that fails calls cvm_fail and returns CVM_NONE, and so
 *    does its caller. Nothing jumps over C frames: code that holds references
 *    to counted objects gets the chance to drop them.
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

typedef struct cvm_config {     /* zero means the default */
    size_t heap_limit;          /* bytes; not less than CVM_LEAST_HEAP */
    size_t nursery;             /* bytes */
    size_t max_depth;           /* nested evaluations; fewer if the C stack is small */
    int stress;                 /* collect at every allocation */
    FILE *out;                  /* where print writes; stdout */
} cvm_config;

#define CVM_LEAST_HEAP ((size_t)128 * 1024)

/* NULL when there is no memory. */
cvm *cvm_new(const cvm_config *config);

/* End the VM. Returns how many C objects that were linked to Lisp objects are
   still held by C code. They live on, and rrc_decref may end them later; as
   their deallocators look at the cvm itself, it is then left over: free() it
   when they are gone. Usually the result is 0 and there is nothing left. */
size_t cvm_free(cvm *vm);

/* Read and evaluate everything in a file or a text. Returns the last value,
   or CVM_NONE: then cvm_error_text says what happened and where. */
cvm_value cvm_run_file(cvm *vm, const char *path);
cvm_value cvm_run_text(cvm *vm, const char *name, const char *text, size_t length);

/* ---- the machine -------------------------------------------------------- */

typedef struct cvm_builtin_def {
    const char *name;
    int least, most;            /* arguments; most < 0: any number */
    cvm_value (*call)(cvm *vm, cvm_value *args, size_t n);
} cvm_builtin_def;

enum { CVM_STACK_SIZE = 1 << 16, CVM_STACK_SPARE = 64, CVM_DEFAULT_DEPTH = 2500 };

typedef struct cvm_c_stack {    /* of the thread that uses the VM: see cstack.c */
    uintptr_t low, high;
    uintptr_t least;            /* below it, recursion is too deep */
    uintptr_t thread;           /* which one it is */
} cvm_c_stack;

enum { CVM_CLOSED = 2 };        /* cvm.closing */

struct cvm {
    struct rrc_heap *rrc;       /* the links: see rrc_glue.c. First: capi.h counts on it */
    cvm_heap heap;
    int attention;              /* the next safe point has something to do */
    int auto_pending;           /* namely, deallocate C objects that wait for it */
    size_t c_trigger;           /* when C's objects take so many bytes, collect: see rrc_glue.c */
    size_t c_measured;          /* after so many major collections that number was chosen */
    int closing;                /* cvm_free has begun; CVM_CLOSED: the heap has ended, run no more Lisp code */
    struct cvm_clib *clib;      /* the C library's own state: see ctypes.c */
    struct cvm_ids *ids;        /* of objects in heap snapshots: see insight.c */
    int drawing;                /* a picture is made, without the code of functions */
    int shows_bar;              /* while something takes long: on stderr, which is a terminal */
    int bar;                    /* percents that it shows, plus 1; 0: it is not there */
    struct cx_state *cx;        /* the C API's: see capi/impl.h */

    cvm_value *stack;           /* never moves, so slots have fixed addresses */
    size_t sp;
    cvm_value *symbols;         /* open addressing, power of two */
    size_t symbol_capacity, symbol_count;
    cvm_value tombstone;        /* stands for a C object that is being deallocated */
    size_t depth, max_depth;
    cvm_c_stack c_stack;
    FILE *out;

    int failed;                 /* an error is on its way up */
    char message[256];
    cvm_value error_file;       /* a string, or nil */
    int error_line;
    int exiting, exit_status;   /* (exit n): an error that nothing catches */
    int printing;               /* inside a tp_repr: nothing must move, no Lisp code run */
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

/* For cvm_phases: visits the stack and the symbols. */
void cvm_visit_roots(void *vm);

/* 0 after a failure: recursion too deep. */
int cvm_stack_room(cvm *vm, size_t n);

/* Is there room for more on the C stack? */
int cvm_c_stack_room(cvm *vm);

/* Around each recursion of C code. cvm_enter gives 0 after a failure; then
   cvm_leave must not be called. */
int cvm_enter(cvm *vm);
void cvm_leave(cvm *vm);

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
 * Text passed in must lie in C memory: text inside a Lisp string could move
 * before it is copied. */

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr);
cvm_value cvm_string_new(cvm *vm, const char *bytes, size_t length);   /* bytes may be NULL: zeros */
cvm_value cvm_text(cvm *vm, const char *zero_terminated);
cvm_value cvm_symbol_new(cvm *vm, const char *name, size_t length);
cvm_value cvm_vector_new(cvm *vm, size_t length, cvm_value fill);
cvm_value cvm_real_new(cvm *vm, double number);
cvm_value cvm_integer(cvm *vm, intptr_t n);     /* a fixnum; an object if it is too big for that */
cvm_value cvm_size(cvm *vm, size_t n);          /* likewise; a real beyond INTPTR_MAX */
cvm_value cvm_whole_new(cvm *vm, intptr_t n);   /* always an object: see cvm_whole */
cvm_value cvm_dict_new(cvm *vm);

/* An object of the kind, zeroed; its fields must then be filled in before the
   next allocation. */
cvm_object *cvm_object_new(cvm *vm, cvm_kind kind, size_t size);

/* *slot = v, for a slot inside `owner`. */
void cvm_store(cvm *vm, cvm_value owner, cvm_value *slot, cvm_value v);

/* ---- looking at values -------------------------------------------------- */

/* The number of elements of a proper list, or -1. */
intptr_t cvm_list_length(cvm_value list);
const char *cvm_kind_name(cvm_value v);
const char *cvm_symbol_text(cvm_value symbol);
uint32_t cvm_hash_bytes(const char *bytes, size_t length);

/* ---- equality and dicts: dict.c ----------------------------------------- */

/* -1, 0, 1: a is less than b, equal to it, greater; 2: b is no number (nan). Exact. */
int cvm_compare_whole(intptr_t a, double b);
int cvm_compare(cvm_value a, cvm_value b);      /* of two numbers: likewise */

/* 1, 0, or -1 after a failure (nested too deep). */
int cvm_equal(cvm *vm, cvm_value a, cvm_value b);

/* CVM_NONE if the key is not there (this is not a failure). */
cvm_value cvm_dict_get(cvm *vm, cvm_value dict, cvm_value key);
int cvm_dict_set(cvm *vm, cvm_value dict, cvm_value key, cvm_value v);  /* 0 after a failure */
int cvm_dict_remove(cvm *vm, cvm_value dict, cvm_value key);            /* 1: it was there */

/* Where the value of the key stands, in the entries; NULL if the key is not there. */
cvm_value *cvm_dict_place(cvm *vm, cvm_value dict, cvm_value key);

/* ---- tuples, ranges and arrays: sequences.c ------------------------------ */

size_t cvm_sequence_length(cvm_value v);

/* Item i, without an allocation. Not if the items are in C (cvm_is_outside). */
cvm_value cvm_sequence_peek(cvm_value v, size_t i);

int cvm_equal_sequences(cvm *vm, cvm_value a, cvm_value b);             /* as cvm_equal */

#endif
