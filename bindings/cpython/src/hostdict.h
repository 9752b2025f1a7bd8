/* hostdict.h - dicts of the host, which C sees as Python's. See hostdict.c. */
#ifndef CVM_HOSTDICT_H
#define CVM_HOSTDICT_H

#include "sequences.h"

/* Entries stand in the order in which they came: key, value, key, value...
   A removed key is CVM_NONE. The index is a hash table of entry numbers. */
typedef struct cvm_dict {
    cvm_object head;
    cvm_value entries, index;   /* vectors, or nil in an empty dict */
    size_t count;               /* keys present */
    size_t used;                /* entries in use, those of removed keys too */
    size_t added;               /* keys, ever: who walks the entries sees that they may have moved */
    size_t watched;             /* results of lookups in types depend on it: a change must call py_forget_lookups */
} cvm_dict;

#define CVM_DICT_OF(v) ((cvm_dict *)(v))

void cvm_dict_define(cvm *vm);      /* before the first dict is made */

cvm_value cvm_dict_new(cvm *vm);

/* CVM_NONE if the key is not there (this is not a failure). A key that C compares can make each of
   these fail: then vm->error.failed is set. */
cvm_value cvm_dict_get(cvm *vm, cvm_value dict, cvm_value key);
int cvm_dict_set(cvm *vm, cvm_value dict, cvm_value key, cvm_value v);  /* 0 after a failure */
int cvm_dict_remove(cvm *vm, cvm_value dict, cvm_value key);            /* 1: it was there */

/* Where the value of the key stands, in the entries; NULL if the key is not there. */
cvm_value *cvm_dict_place(cvm *vm, cvm_value dict, cvm_value key);

/* Likewise for a string that is a key itself, not only equal to one. Nothing moves, and no code runs. */
cvm_value *cvm_dict_place_itself(cvm_value dict, cvm_value key);

void cvm_dict_print(cvm *vm, cvm_value dict, int quoted, FILE *out);
void cvm_dict_edges(cvm_value dict, rrc_edgeproc visit, void *arg);

#endif
