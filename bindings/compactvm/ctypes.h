/* ctypes.h - a small library of reference-counted C objects, for Lisp to use. */
#ifndef CVM_CTYPES_H
#define CVM_CTYPES_H

#include "lisp.h"
#include "../../rawrefcount.h"

/* An rrc_type with what Lisp needs to know about it. The type of every object
   here is the first member of one of these. */
typedef struct cvm_ctype {
    rrc_type type;
    int least, most;            /* arguments of `make` */
    rrc_object *(*make)(cvm *vm, cvm_value *args, size_t n);    /* for (new ...); NULL: not from Lisp */
    const struct cvm_method *methods;                           /* for (call ...) */
    const struct cvm_ctype *base;                               /* whose methods it has too; or NULL */
} cvm_ctype;

typedef struct cvm_method {
    const char *name;           /* NULL ends the list */
    int least, most;
    cvm_value (*call)(cvm *vm, rrc_object *self, cvm_value *args, size_t n);
} cvm_method;

static inline const cvm_ctype *cvm_ctype_of(rrc_object *ob)
{
    return (const cvm_ctype *)RRC_TYPE(ob);
}

int cvm_ctypes_open(cvm *vm);   /* 0: no memory */
void cvm_ctypes_close(cvm *vm);

extern const cvm_builtin_def cvm_ctype_builtins[];

#endif
