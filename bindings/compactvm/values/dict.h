/* dict.h - when values are equal; and dicts, whose keys are found by it. */
#ifndef CVM_DICT_H
#define CVM_DICT_H

#include "depth.h"

/* Entries stand in the order in which they came: key, value, key, value...
   A removed key is CVM_NONE. The index is a hash table of entry numbers. */
typedef struct cvm_dict {
    cvm_object head;
    cvm_value entries, index;   /* vectors, or nil in an empty dict */
    size_t count;               /* keys present */
    size_t used;                /* entries in use, those of removed keys too */
    size_t added;               /* keys, ever: who walks the entries sees that they may have moved */
} cvm_dict;

#define CVM_DICT_OF(v) ((cvm_dict *)(v))

void cvm_dict_define(cvm *vm);      /* before the first dict is made */

uint32_t cvm_hash_bytes(const char *bytes, size_t length);

/* -1, 0, 1: a is less than b, equal to it, greater; 2: b is no number (nan). Exact. */
int cvm_compare_whole(intptr_t a, double b);
int cvm_compare(cvm_value a, cvm_value b);      /* of two numbers: likewise */

/* 1, 0, or -1 after a failure (nested too deep). Numbers are equal by value, strings by content,
   vectors by their elements. The language and the API say it of their own kinds (cvm_ops): so any
   code can run. */
int cvm_equal(cvm *vm, cvm_value a, cvm_value b);

cvm_value cvm_dict_new(cvm *vm);

/* CVM_NONE if the key is not there (this is not a failure). A key of the API can make each of these
   fail: see cvm_ops. Then vm->failed is set. */
cvm_value cvm_dict_get(cvm *vm, cvm_value dict, cvm_value key);
int cvm_dict_set(cvm *vm, cvm_value dict, cvm_value key, cvm_value v);  /* 0 after a failure */
int cvm_dict_remove(cvm *vm, cvm_value dict, cvm_value key);            /* 1: it was there */

/* Where the value of the key stands, in the entries; NULL if the key is not there. */
cvm_value *cvm_dict_place(cvm *vm, cvm_value dict, cvm_value key);

#endif
