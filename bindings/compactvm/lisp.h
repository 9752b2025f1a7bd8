/* lisp.h - the language: reading, printing, evaluating. */
#ifndef CVM_LISP_H
#define CVM_LISP_H

#include "vm.h"

/* ---- reading ------------------------------------------------------------ */

typedef struct cvm_reader {
    cvm *vm;
    const char *at, *end;
    int line;
    cvm_value *file;            /* the name, a string in a rooted slot */
} cvm_reader;

/* The next expression. CVM_NONE: the text is at its end, or vm->failed. */
cvm_value cvm_read(cvm_reader *reader);

/* The number that the text spells, or CVM_NONE when it is no number. When
   vm->failed is set too, there was no memory for it. */
cvm_value cvm_parse_number(cvm *vm, const char *text, size_t length);

/* ---- printing ----------------------------------------------------------- */

typedef struct cvm_buffer {     /* all zero: empty, grows */
    char *bytes;
    size_t length, capacity;
    size_t limit;               /* 0: none. What does not fit is dropped */
    int fixed;                  /* bytes is not malloc'ed and cannot grow */
    int full;                   /* something was dropped */
} cvm_buffer;

void cvm_put(cvm_buffer *out, const char *bytes, size_t length);
void cvm_put_text(cvm_buffer *out, const char *zero_terminated);
void cvm_put_integer(cvm_buffer *out, intptr_t number);
void cvm_put_real(cvm_buffer *out, double number);
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

int cvm_is_procedure(cvm_value v);

/* A special form gets its arguments unevaluated. Its function works on the
   frame: see eval.c. */
struct cvm_frame;

typedef struct cvm_special_def {
    const char *name;
    int least, most;            /* arguments; most < 0: any number */
    cvm_value (*run)(cvm *vm, struct cvm_frame *frame);
} cvm_special_def;

/* ---- arguments of builtins; 0 after a failure --------------------------- */

int cvm_get_index(cvm *vm, const char *who, cvm_value v, size_t *n);
int cvm_get_real(cvm *vm, const char *who, cvm_value v, double *number);
int cvm_check(cvm *vm, const char *who, cvm_value v, cvm_kind kind, const char *what);

/* ---- what the VM starts with; 0 after a failure ------------------------- */

int cvm_define_specials(cvm *vm);
int cvm_define_all(cvm *vm, const cvm_builtin_def *defs);  /* ends with a NULL name */
int cvm_define(cvm *vm, const char *name, cvm_value v);

extern const cvm_builtin_def cvm_builtins[];
extern const cvm_builtin_def cvm_sequence_builtins[];

#endif
