/* sequences.h - tuples, ranges and arrays: the kinds of objects that the API adds to the heap. */
#ifndef CVM_SEQUENCES_H
#define CVM_SEQUENCES_H

#include "../../compactvm/lisp/lisp.h"

/* CVM_DICT: see hostdict.h */
enum { CVM_TUPLE = CVM_API_KINDS, CVM_RANGE, CVM_ARRAY, CVM_DICT };

/* Like a vector, but never changed. */
typedef struct cvm_tuple {
    cvm_object head;
    size_t length;
    cvm_value items[];
} cvm_tuple;

/* A tuple of numbers that are made when they are asked for. */
typedef struct cvm_range {
    cvm_object head;
    size_t length;
    intptr_t start, step, end;      /* end: only for its text */
} cvm_range;

/* A vector that can grow. Its items are here, or (CVM_OUTSIDE) in a C list. */
typedef struct cvm_array {
    cvm_object head;
    size_t length;          /* in use of the items */
    struct rrc_object *ob;  /* the C list, or NULL. Here, as in a cvm_outside */
    cvm_value items;        /* a vector with room to spare, or nil */
} cvm_array;

#define CVM_TUPLE_OF(v)   ((cvm_tuple *)(v))
#define CVM_RANGE_OF(v)   ((cvm_range *)(v))
#define CVM_ARRAY_OF(v)   ((cvm_array *)(v))

static inline int cvm_is_tuple(cvm_value v)
{
    return cvm_is(v, CVM_TUPLE) || cvm_is(v, CVM_RANGE);
}

/* What a program gets to see of an item of a container: it may be an object only for
   C's sake. */
static inline cvm_value cvm_plain(cvm_value v)
{
    return cvm_is(v, CVM_INTEGER) && cvm_fits_fixnum(CVM_INTEGER_OF(v)->number)
         ? cvm_fixnum(CVM_INTEGER_OF(v)->number) : v;
}

void cvm_sequences_define(cvm *vm);

size_t cvm_sequence_length(cvm_value v);

/* The vector in which an array has its items, or nil. */
cvm_value cvm_array_items(cvm_value v);

/* Item i, without an allocation. Not if the items are in C (cvm_is_outside). */
cvm_value cvm_sequence_peek(cvm_value v, size_t i);

#endif
