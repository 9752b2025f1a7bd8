/* lisp.h - the language: its objects, reading, printing, evaluating. */
#ifndef CVM_LISP_H
#define CVM_LISP_H

#include "../core/vm.h"

#include <signal.h>

/* ---- objects ------------------------------------------------------------ */

enum {
    CVM_PAIR = CVM_LANGUAGE_KINDS, CVM_SYMBOL, CVM_REAL, CVM_INTEGER, CVM_CLOSURE, CVM_BINDING, CVM_BUILTIN, CVM_SPECIAL
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

/* A variable: a symbol, which is the global variable of that name, or a binding in an environment.
   An environment is a chain of bindings that ends in nil, where the global
   variables begin. A scope starts with a binding whose name is nil: `define`
   puts new variables just behind it, where closures made earlier see them. */
typedef struct cvm_variable {
    cvm_object head;
    cvm_value name;         /* of a symbol: a string; of a binding: the symbol, or nil */
    cvm_value value;        /* or CVM_UNBOUND */
    cvm_value next;         /* in the environment; of a symbol: in its chain of cvm_lisp.symbols. Or nil */
} cvm_variable;

typedef struct cvm_real {
    cvm_object head;
    double number;
} cvm_real;

/* A whole number too big for a fixnum; or one that C borrowed from a container, which needs an
   object for it. */
typedef struct cvm_whole {
    cvm_object head;
    intptr_t number;
} cvm_whole;

typedef struct cvm_closure {
    cvm_object head;
    cvm_value name, params, body, env;
} cvm_closure;

/* A procedure in C. The signature has a letter for each argument, which is checked before the call:
 *
 *     .  anything         s  a string     l  a list       ?  from here on they can be left out
 *     n  a number         y  a symbol     v  a vector     *  at the end, without ?: any number of
 *     w  a whole number   p  a pair       f  a procedure     the letter before it, also none
 *     i  one that is not negative                     Capital letters are the C API's (cvm_foreign_ops.has)
 */
typedef struct cvm_builtin_def {
    const char *name, *signature;
    cvm_value (*call)(cvm *vm, cvm_value *args, size_t n);
} cvm_builtin_def;

/* A special form (CVM_SPECIAL) is one, too: it gets its arguments unevaluated, in a frame of eval.c. */
typedef struct cvm_builtin {
    cvm_object head;
    const cvm_builtin_def *def;
} cvm_builtin;

#define CVM_PAIR_OF(v) ((cvm_pair *)(v))
#define CVM_VARIABLE_OF(v) ((cvm_variable *)(v))
#define CVM_REAL_OF(v) ((cvm_real *)(v))
#define CVM_INTEGER_OF(v) ((cvm_whole *)(v))
#define CVM_CLOSURE_OF(v) ((cvm_closure *)(v))
#define CVM_BUILTIN_OF(v) ((cvm_builtin *)(v))

/* ---- the layer ---------------------------------------------------------- */

extern const cvm_layer cvm_lisp_layer;

/* What the C API knows of its objects: proxies, and the kinds that it adds. */
typedef struct cvm_foreign_ops {
    int (*is_callable)(cvm_value v);
    cvm_value (*call)(cvm *vm, cvm_value callee, cvm_value *args, size_t n);
    void (*print)(cvm *vm, cvm_value v, int quoted, FILE *out);     /* as cvm_print */
    int (*is_gone)(cvm *vm, rrc_object *ob);    /* a view whose object has died: only its type is left */
    int (*has)(cvm_value v, char letter, const char **wanted);      /* as cvm_check; wanted: what it must be */
    /* Of two objects in rooted slots, the first of which is of a kind of the API: as cvm_equal. */
    int (*equal)(cvm *vm, cvm_value *a, cvm_value *b);
} cvm_foreign_ops;

enum { CVM_SYMBOL_CHAINS = 256 };

typedef struct cvm_lisp {
    cvm_value symbols[CVM_SYMBOL_CHAINS];       /* by hash */
    const cvm_foreign_ops *foreign;             /* NULL: there is no API; proxies are printed by their type */
    volatile sig_atomic_t interrupted;          /* a signal handler ends the program: nothing catches that */
    int drawing;                /* a picture is made, without the code of functions */
} cvm_lisp;

static inline cvm_lisp *cvm_lisp_of(const cvm *vm) { return vm->state[CVM_LANGUAGE]; }

/* ---- numbers: numbers.c ------------------------------------------------- */

static inline int cvm_is_whole(cvm_value v) { return cvm_is_fixnum(v) || cvm_is(v, CVM_INTEGER); }
static inline int cvm_is_number(cvm_value v) { return cvm_is_whole(v) || cvm_is(v, CVM_REAL); }

static inline intptr_t cvm_whole_of(cvm_value v)
{
    return cvm_is_fixnum(v) ? cvm_fixnum_of(v) : CVM_INTEGER_OF(v)->number;
}

static inline double cvm_number_of(cvm_value v)
{
    return cvm_is(v, CVM_REAL) ? CVM_REAL_OF(v)->number : (double)cvm_whole_of(v);
}

cvm_value cvm_real_new(cvm *vm, double number);
cvm_value cvm_integer(cvm *vm, intptr_t n);     /* a fixnum; an object if it is too big for that */
cvm_value cvm_size(cvm *vm, size_t n);          /* likewise; of an address: a number with these bits */
cvm_value cvm_whole_new(cvm *vm, intptr_t n);   /* always an object */

/* -1, 0, 1: a is less than b, equal to it, greater; 2: b is no number (nan). Exact. */
int cvm_compare_whole(intptr_t a, double b);
int cvm_compare(cvm_value a, cvm_value b);      /* of two numbers: likewise */

/* ---- when values are equal: lists.c ------------------------------------- */

/* 1, 0, or -1 after a failure (nested too deep). Numbers are equal by value, strings by content,
   lists and vectors by their elements. The C API says it of its own kinds: so any code can run. */
int cvm_equal(cvm *vm, cvm_value a, cvm_value b);

/* ---- pairs and symbols: symbols.c --------------------------------------- */

uint32_t cvm_hash_bytes(const char *bytes, size_t length);

/* An object whose n fields, values, are all that it has. */
cvm_value cvm_record(cvm *vm, int kind, const cvm_value *fields, size_t n);

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr);
cvm_value cvm_list_new(cvm *vm, const cvm_value *items, size_t n);      /* of rooted slots */

/* Turn a list round, and let the tail follow. It makes no pairs: it changes those of the list. */
cvm_value cvm_turn(cvm *vm, cvm_value list, cvm_value tail);

cvm_value cvm_symbol_new(cvm *vm, const char *name, size_t length);
const char *cvm_symbol_text(cvm_value symbol);
const char *cvm_closure_name(cvm_value closure);

/* The number of elements of a proper list, or -1. */
intptr_t cvm_list_length(cvm_value list);

/* Set a global variable. v CVM_NONE: fails. */
int cvm_define(cvm *vm, const char *name, cvm_value v);

/* CVM_BUILTIN or CVM_SPECIAL; the last one has no name. */
int cvm_define_all(cvm *vm, int kind, const cvm_builtin_def *defs);

/* ---- reading ------------------------------------------------------------ */

typedef struct cvm_reader {
    cvm *vm;
    FILE *in;
    cvm_value *file;            /* the name, a string in a rooted slot */
    int line;
    int next, has_next;         /* a character that was looked at, but not taken, or EOF */
    int new_line;               /* the next character is the first one of a line */
    int inside;                 /* an expression has begun */
    int (*get)(struct cvm_reader *reader);      /* NULL: as getc(in) does */
} cvm_reader;

/* Begin to read a stream, or what `get` gives. The name, a string, is rooted. */
void cvm_reader_open(cvm_reader *reader, cvm *vm, FILE *in, cvm_value name);

/* The next expression. CVM_NONE: the text is at its end, or there is an error. */
cvm_value cvm_read(cvm_reader *reader);

/* Skip the rest of the line, if some of it was read. */
void cvm_skip_line(cvm_reader *reader);

/* ---- printing ----------------------------------------------------------- */

/* Text that grows in memory, by what is written to `out`. */
typedef struct cvm_memory {
    FILE *out;
    char *bytes;                /* malloc'ed, with a zero byte at the end. Good when it was closed */
    size_t length;
} cvm_memory;

/* 0 after a failure. `close` makes it one if memory was lacking. */
int cvm_memory_open(cvm *vm, cvm_memory *text);
int cvm_memory_close(cvm *vm, cvm_memory *text);

void cvm_put_quoted(FILE *out, const char *bytes, size_t length);

/* It fails (vm->error) if v is nested too deep, or larger than the heap may be. quoted: strings are printed so
   that the reader gets them back. out: in memory. */
void cvm_print(cvm *vm, cvm_value v, int quoted, FILE *out);

/* n values, with `between` between them. 0 after a failure. free(text->bytes) in any case. */
int cvm_print_all(cvm *vm, const cvm_value *v, size_t n, int quoted, const char *between, cvm_memory *text);

/* The same to stdout, and the end. */
int cvm_show(cvm *vm, const cvm_value *v, size_t n, int quoted, const char *between, const char *end);

/* At most size - 1 bytes of it, with "..." at the end if cut. Cannot fail. */
void cvm_print_short(cvm *vm, cvm_value v, char *text, size_t size);

/* ---- evaluating --------------------------------------------------------- */

/* In an environment: nil, the global variables only. */
cvm_value cvm_eval(cvm *vm, cvm_value form, cvm_value env);

/* Call a procedure. `args` are n rooted slots in a row. */
cvm_value cvm_call(cvm *vm, cvm_value procedure, cvm_value *args, size_t n);

int cvm_is_procedure(const cvm *vm, cvm_value v);

/* May a program catch the error? Not if it ends the program. */
static inline int cvm_can_catch(const cvm *vm)
{
    return !vm->error.exiting && !cvm_lisp_of(vm)->interrupted;
}

/* Read and evaluate everything in a file or a text. Returns the last value,
   or CVM_NONE: then cvm_error_text says what happened and where. */
cvm_value cvm_run_file(cvm *vm, const char *path);
cvm_value cvm_run_text(cvm *vm, const char *name, const char *text, size_t length);

/* The same for the next expression: *last, a rooted slot. 0: there is none, or an error. */
int cvm_run_next(cvm_reader *reader, cvm_value *last);

/* The calls that the last error has ended, a line for each. */
void cvm_print_calls(cvm *vm, FILE *out);

/* ---- what the VM shows of its objects: insight.c ------------------------- */

/* The hooks of rrc_insight with these names. */
void cvm_edges(void *vm, rrc_gcref p, rrc_edgeproc visit, void *arg);
void cvm_describe(void *vm, rrc_gcref p, rrc_description *about);

/* ---- the command line, for a program that picks the layers: command.c ---- */

typedef struct cvm_program {
    const char *name, *options;         /* lines of --help about options of its own */
    const cvm_layer *const *layers;
    int (*setup)(cvm *vm);              /* NULL, or called before programs run. 0 after a failure */
} cvm_program;

/* Do what the arguments of main say. Returns the exit status. */
int cvm_command(char **argv, const cvm_program *program);

/* ---- arguments of builtins ---------------------------------------------- */

/* The number of an argument with the letter i. Numbers that no memory could satisfy come out as
   SIZE_MAX / 16: big enough to fail, small enough to be computed with. */
size_t cvm_index_of(cvm_value v);

/* Fail: "who: expected what, got v". */
cvm_value cvm_expected(cvm *vm, const char *who, const char *what, cvm_value v);

/* 0 after a failure: it does not have the letter. */
int cvm_check(cvm *vm, const char *who, cvm_value v, char letter);

/* 0 after a failure: the index is not less than the length. */
int cvm_in_range(cvm *vm, const char *who, size_t i, size_t length);

/* As cvm_ob_of, for any value: fails also if v is not on the heap, or if the C object behind it was
   disposed of. */
rrc_object *cvm_to_c(cvm *vm, const char *who, cvm_value v);

/* A builtin that does not use all of its arguments. */
#define CVM_UNUSED __attribute__((unused))
#define CVM_BUILTIN_BODY(name) \
    static cvm_value name(CVM_UNUSED cvm *vm, CVM_UNUSED cvm_value *args, CVM_UNUSED size_t n)

extern const cvm_builtin_def cvm_special_forms[], cvm_number_builtins[], cvm_list_builtins[], cvm_text_builtins[],
    cvm_watch_builtins[];

#endif
