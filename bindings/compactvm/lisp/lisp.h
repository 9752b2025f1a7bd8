/* lisp.h - the language: its objects, reading, printing, evaluating. */
#ifndef CVM_LISP_H
#define CVM_LISP_H

#include "../core/glue.h"

#include <signal.h>

/* ---- objects ------------------------------------------------------------ */

enum {
    CVM_PAIR = CVM_LANGUAGE_KINDS, CVM_SYMBOL, CVM_CLOSURE, CVM_BINDING, CVM_BUILTIN, CVM_SPECIAL
};

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

typedef struct cvm_symbol {
    cvm_object head;
    cvm_value name;         /* a string */
    cvm_value value;        /* of the global variable, or CVM_UNBOUND */
    cvm_value next;         /* in its chain of cvm_lisp.symbols, or nil */
} cvm_symbol;

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

/* A procedure in C. The signature has a letter for each argument, which is checked before the call:
 *
 *     .  anything         s  a string     l  a list       ?  from here on they can be left out
 *     n  a number         y  a symbol     v  a vector     *  at the end: any number of the letter
 *     w  a whole number   p  a pair       f  a procedure     before it, also none
 *     i  one that is not negative
 */
typedef struct cvm_builtin_def {
    const char *name, *signature;
    cvm_value (*call)(cvm *vm, cvm_value *args, size_t n);
} cvm_builtin_def;

typedef struct cvm_builtin {
    cvm_object head;
    const cvm_builtin_def *def;
    size_t least, most;     /* arguments; most SIZE_MAX: any number */
} cvm_builtin;

struct cvm_frame;

/* A special form gets its arguments unevaluated, in a frame of eval.c. */
typedef struct cvm_special_def {
    const char *name;
    int least, most;        /* arguments; most < 0: any number */
    cvm_value (*run)(cvm *vm, struct cvm_frame *frame);
} cvm_special_def;

typedef struct cvm_special {
    cvm_object head;
    const cvm_special_def *def;
} cvm_special;

#define CVM_PAIR_OF(v)    ((cvm_pair *)(v))
#define CVM_SYMBOL_OF(v)  ((cvm_symbol *)(v))
#define CVM_CLOSURE_OF(v) ((cvm_closure *)(v))
#define CVM_BINDING_OF(v) ((cvm_binding *)(v))
#define CVM_BUILTIN_OF(v) ((cvm_builtin *)(v))
#define CVM_SPECIAL_OF(v) ((cvm_special *)(v))

/* ---- the layer ---------------------------------------------------------- */

extern const cvm_layer cvm_lisp_layer;

struct cvm_buffer;

/* What the C API knows of its objects: proxies, and the kinds that it adds. */
typedef struct cvm_foreign_ops {
    int (*is_callable)(cvm_value v);
    cvm_value (*call)(cvm *vm, cvm_value callee, cvm_value *args, size_t n);
    int (*print)(cvm *vm, cvm_value v, int quoted, struct cvm_buffer *out);     /* as cvm_print_nested */
    int (*is_gone)(cvm *vm, rrc_object *ob);    /* a view whose object has died: only its type is left */
    /* Of two objects in rooted slots, the first of which is of a kind of the API: as cvm_equal. */
    int (*equal)(cvm *vm, cvm_value *a, cvm_value *b);
} cvm_foreign_ops;

enum { CVM_SYMBOL_CHAINS = 256, CVM_MOST_CALLS = 8 };

/* A call that an error has ended. */
typedef struct cvm_call_place {
    cvm_value name;             /* of the procedure, or nil */
    cvm_value file;             /* where it was called, or nil */
    int line;
} cvm_call_place;

typedef struct cvm_lisp {
    cvm_value symbols[CVM_SYMBOL_CHAINS];       /* by hash */
    cvm_value quote;            /* the symbol */
    const cvm_foreign_ops *foreign;             /* NULL: there is no API; proxies are printed by their type */
    cvm_call_place calls[CVM_MOST_CALLS];       /* that the last error has ended, the innermost first */
    size_t call_count;          /* all of them; only the first ones are kept */
    size_t calls_of;            /* vm->failures, when they were noted */
    volatile sig_atomic_t interrupted;          /* a signal handler ends the program: nothing catches that */
    int drawing;                /* a picture is made, without the code of functions */
} cvm_lisp;

static inline cvm_lisp *cvm_lisp_of(const cvm *vm)
{
    return vm->state[CVM_LANGUAGE];
}

/* ---- how deep C code may call itself: depth.c --------------------------- */

/* Around each recursion of C code. cvm_enter gives 0 after a failure; then
   cvm_leave must not be called. */
int cvm_enter(cvm *vm);
void cvm_leave(cvm *vm);

/* ---- when values are equal: equal.c ------------------------------------- */

/* -1, 0, 1: a is less than b, equal to it, greater; 2: b is no number (nan). Exact. */
int cvm_compare_whole(intptr_t a, double b);
int cvm_compare(cvm_value a, cvm_value b);      /* of two numbers: likewise */

/* 1, 0, or -1 after a failure (nested too deep). Numbers are equal by value, strings by content,
   lists and vectors by their elements. The C API says it of its own kinds: so any code can run. */
int cvm_equal(cvm *vm, cvm_value a, cvm_value b);

/* ---- pairs and symbols: symbols.c --------------------------------------- */

/* The bytes of the first character, or 0: this is no UTF-8. */
size_t cvm_utf8_length(const char *at, const char *end);
uint32_t cvm_hash_bytes(const char *bytes, size_t length);

/* An object whose n fields are all that it has. */
cvm_value cvm_record(cvm *vm, int kind, const cvm_value *fields, size_t n);

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr);
cvm_value cvm_list_new(cvm *vm, const cvm_value *items, size_t n);      /* of rooted slots */
cvm_value cvm_symbol_new(cvm *vm, const char *name, size_t length);
const char *cvm_symbol_text(cvm_value symbol);

/* The number of elements of a proper list, or -1. */
intptr_t cvm_list_length(cvm_value list);

/* "pair", "string"; of anything but an object, what it is. */
const char *cvm_kind_name(const cvm *vm, cvm_value v);

int cvm_symbols_open(cvm *vm);      /* 0: no memory */

/* Set a global variable. v CVM_NONE: fails. */
int cvm_define(cvm *vm, const char *name, cvm_value v);
int cvm_define_all(cvm *vm, const cvm_builtin_def *defs);   /* ends with a NULL name */

/* ---- reading ------------------------------------------------------------ */

typedef struct cvm_reader {
    cvm *vm;
    const char *at, *end;
    int line;
    cvm_value *file;            /* the name, a string in a rooted slot */
    int inside;                 /* an expression has begun */
    int ended;                  /* refill has said so */
    int (*refill)(struct cvm_reader *r);    /* more text is needed: a line, in at and end; 0: there is none. Or NULL */
} cvm_reader;

/* The next expression. CVM_NONE: the text is at its end, or vm->failed. */
cvm_value cvm_read(cvm_reader *reader);

/* ---- printing ----------------------------------------------------------- */

typedef struct cvm_buffer {     /* all zero: empty, grows */
    char *bytes;
    size_t length, capacity;
    size_t limit;               /* 0: none. What does not fit is dropped */
    int full;                   /* something was dropped */
} cvm_buffer;

void cvm_put(cvm_buffer *out, const char *bytes, size_t length);
void cvm_put_text(cvm_buffer *out, const char *zero_terminated);
void cvm_put_quoted(cvm_buffer *out, const char *bytes, size_t length);
void cvm_buffer_free(cvm_buffer *out);

/* 0 after a failure: nested too deep, or out of memory. quoted: strings are
   printed so that the reader gets them back. */
int cvm_print(cvm *vm, cvm_value v, int quoted, cvm_buffer *out);

/* The same for a part of something: what does not fit is dropped without an error. */
int cvm_print_nested(cvm *vm, cvm_value v, int quoted, cvm_buffer *out);

/* At most size - 1 bytes of it, with "..." at the end if cut. Cannot fail. */
void cvm_print_short(cvm *vm, cvm_value v, char *text, size_t size);

/* ---- evaluating --------------------------------------------------------- */

cvm_value cvm_eval(cvm *vm, cvm_value form, cvm_value env);

/* Call a procedure. `args` are n rooted slots in a row. */
cvm_value cvm_call(cvm *vm, cvm_value procedure, cvm_value *args, size_t n);

int cvm_is_procedure(const cvm *vm, cvm_value v);

/* May a program catch the error? Not if it ends the program. */
static inline int cvm_can_catch(const cvm *vm)
{
    return !vm->exiting && !cvm_lisp_of(vm)->interrupted;
}

/* Read and evaluate everything in a file or a text. Returns the last value,
   or CVM_NONE: then cvm_error_text says what happened and where. */
cvm_value cvm_run_file(cvm *vm, const char *path);
cvm_value cvm_run_text(cvm *vm, const char *name, const char *text, size_t length);

/* The same for the next expression: *last, a rooted slot. 0: there is none, or vm->failed. */
int cvm_run_next(cvm_reader *reader, cvm_value *last);

/* A line for each call that the last error has ended. */
void cvm_print_calls(cvm *vm, FILE *out);

int cvm_eval_open(cvm *vm);         /* 0: no memory */

/* ---- what the VM shows of its objects: insight.c ------------------------- */

void cvm_insight_open(cvm *vm);

/* Write what rrc_dump_dot or rrc_dump_heapsnapshot says into the file of this name, a string. Gives nil, or
   CVM_NONE after a failure. */
typedef int (*cvm_picture)(rrc_heap *heap, rrc_writeproc write, void *arg);
cvm_value cvm_write_picture(cvm *vm, cvm_value name, cvm_picture picture);

/* ---- arguments of builtins ---------------------------------------------- */

/* The number of an argument with the letter i. Numbers that no memory could satisfy come out as
   SIZE_MAX / 16: big enough to fail, small enough to be computed with. */
size_t cvm_index_of(cvm_value v);

/* 0 after a failure: it does not have the letter. */
int cvm_check(cvm *vm, const char *who, cvm_value v, char letter);

/* A builtin that does not use all of its arguments. */
#ifdef __GNUC__
#define CVM_UNUSED __attribute__((unused))
#else
#define CVM_UNUSED
#endif
#define CVM_BUILTIN_BODY(name) \
    static cvm_value name(CVM_UNUSED cvm *vm, CVM_UNUSED cvm_value *args, CVM_UNUSED size_t n)

extern const cvm_builtin_def cvm_number_builtins[], cvm_list_builtins[], cvm_text_builtins[],
    cvm_vector_builtins[], cvm_control_builtins[], cvm_watch_builtins[];

#endif
