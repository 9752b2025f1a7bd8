/* machine.c - the machine at work: roots, errors, and making values. */
#include "vm.h"

#include <stdarg.h>

/* ---- roots -------------------------------------------------------------- */

int cvm_stack_room(cvm *vm, size_t n)
{
    if (vm->sp + n <= CVM_STACK_SIZE - CVM_STACK_SPARE)
        return 1;
    cvm_fail(vm, "recursion too deep");
    return 0;
}

/* ---- errors ------------------------------------------------------------- */

cvm_value cvm_fail(cvm *vm, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(vm->message, sizeof vm->message, format, args);
    va_end(args);
    vm->failed = 1;
    vm->failures++;
    vm->error_line = 0;
    vm->error_file = CVM_NIL;
    return CVM_NONE;
}

cvm_value cvm_out_of_memory(cvm *vm)
{
    return cvm_fail(vm, "out of memory");
}

cvm_value cvm_expected(cvm *vm, const char *who, const char *what, cvm_value v)
{
    char text[60];

    vm->ops.print_short(vm, v, text, sizeof text);
    return cvm_fail(vm, "%s: expected %s, got %s", who, what, text);
}

void cvm_error_text(const cvm *vm, char *text, size_t size)
{
    if (cvm_is(vm->error_file, CVM_STRING))
        snprintf(text, size, "%s:%d: error: %s",
                 cvm_bytes(vm->error_file), vm->error_line, vm->message);
    else
        snprintf(text, size, "error: %s", vm->message);
}

void cvm_error_clear(cvm *vm)
{
    vm->failed = 0;
    vm->error_line = 0;
    vm->error_file = CVM_NIL;
}

/* ---- making values ------------------------------------------------------ */

cvm_object *cvm_object_new(cvm *vm, int kind, size_t size)
{
    cvm_object *p;

    if (vm->printing > 0) {             /* the printer goes by addresses that must not change */
        cvm_fail(vm, "a tp_repr must not make Lisp objects");
        return NULL;
    }
    p = cvm_heap_alloc(&vm->heap, kind, size);
    if (p == NULL)
        cvm_out_of_memory(vm);
    return p;
}

void cvm_store(cvm *vm, cvm_value owner, cvm_value *slot, cvm_value v)
{
    cvm_heap_write(&vm->heap, cvm_object_of(owner), slot, v);
}

cvm_value cvm_string_new(cvm *vm, const char *bytes, size_t length)
{
    cvm_string *s;

    if (length > SIZE_MAX / 4)
        return cvm_out_of_memory(vm);
    s = (cvm_string *)cvm_object_new(vm, CVM_STRING, offsetof(cvm_string, bytes) + length + 1);
    if (s != NULL) {
        s->length = length;
        if (bytes != NULL && length > 0)
            memcpy(s->bytes, bytes, length);
    }
    return (cvm_value)s;
}

cvm_value cvm_text(cvm *vm, const char *zero_terminated)
{
    return cvm_string_new(vm, zero_terminated, strlen(zero_terminated));
}

cvm_value cvm_vector_new(cvm *vm, size_t length, cvm_value fill)
{
    size_t scope = cvm_open(vm), i;
    cvm_value *v;
    cvm_vector *vector;

    if (length > SIZE_MAX / 4 / sizeof(cvm_value))
        return cvm_out_of_memory(vm);
    v = cvm_root(vm, fill);
    vector = (cvm_vector *)cvm_object_new(vm, CVM_VECTOR,
                 offsetof(cvm_vector, items) + length * sizeof(cvm_value));
    if (vector != NULL) {
        vector->length = length;
        for (i = 0; i < length; i++)
            cvm_heap_init(&vector->items[i], *v);
    }
    cvm_close(vm, scope);
    return (cvm_value)vector;
}

cvm_value cvm_real_new(cvm *vm, double number)
{
    cvm_real *r = (cvm_real *)cvm_object_new(vm, CVM_REAL, sizeof *r);

    if (r != NULL)
        r->number = number;
    return (cvm_value)r;
}

cvm_value cvm_whole_new(cvm *vm, intptr_t n)
{
    cvm_whole *p = (cvm_whole *)cvm_object_new(vm, CVM_INTEGER, sizeof *p);

    if (p != NULL)
        p->number = n;
    return (cvm_value)p;
}

cvm_value cvm_integer(cvm *vm, intptr_t n)
{
    return cvm_fits_fixnum(n) ? cvm_fixnum(n) : cvm_whole_new(vm, n);
}

cvm_value cvm_size(cvm *vm, size_t n)
{
    return n <= (size_t)INTPTR_MAX ? cvm_integer(vm, (intptr_t)n) : cvm_real_new(vm, (double)n);
}
