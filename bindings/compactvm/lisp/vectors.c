/* vectors.c - vectors. */
#include "lisp.h"

static cvm_value vector_from(cvm *vm, const cvm_value *args, size_t n)
{
    cvm_value v = cvm_vector_new(vm, n, CVM_NIL);
    size_t i;

    for (i = 0; v != CVM_NONE && i < n; i++)
        cvm_heap_init(&CVM_VECTOR_OF(v)->items[i], args[i]);
    return v;
}

CVM_BUILTIN_BODY(b_vector) { return vector_from(vm, args, n); }

CVM_BUILTIN_BODY(b_make_vector)
{
    return cvm_vector_new(vm, cvm_index_of(args[0]), n > 1 ? args[1] : CVM_NIL);
}

CVM_BUILTIN_BODY(b_vector_length) { return cvm_size(vm, CVM_VECTOR_OF(args[0])->length); }

static cvm_value *place(cvm *vm, const char *who, const cvm_value *args)
{
    size_t i = cvm_index_of(args[1]), length = CVM_VECTOR_OF(args[0])->length;

    if (i < length)
        return &CVM_VECTOR_OF(args[0])->items[i];
    cvm_fail(vm, "%s: index %lu is out of range, the length is %lu", who, (unsigned long)i,
             (unsigned long)length);
    return NULL;
}

CVM_BUILTIN_BODY(b_vector_ref)
{
    const cvm_value *slot = place(vm, "vector-ref", args);

    return slot != NULL ? *slot : CVM_NONE;
}

CVM_BUILTIN_BODY(b_vector_set)
{
    cvm_value *slot = place(vm, "vector-set!", args);

    if (slot == NULL)
        return CVM_NONE;
    cvm_store(vm, args[0], slot, args[2]);
    return args[2];
}

const cvm_builtin_def cvm_vector_builtins[] = {
    { "vector", ".*", b_vector },           { "make-vector", "i?.", b_make_vector },
    { "vector-length", "v", b_vector_length }, { "vector-ref", "vi", b_vector_ref },
    { "vector-set!", "vi.", b_vector_set },
    { NULL, NULL, NULL }
};
