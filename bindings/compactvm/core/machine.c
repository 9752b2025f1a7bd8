/* machine.c - the machine at work: errors, how deep it may nest, and making values. */
#include "vm.h"

#include <stdarg.h>
#include <sys/resource.h>

enum { DEFAULT_C_STACK = 1 << 20 };

/* ---- errors ------------------------------------------------------------- */

void cvm_error_clear(cvm *vm)
{
    vm->error.failed = 0;
    vm->error.place[0] = vm->error.calls[0] = '\0';
    vm->error.call_count = 0;
}

cvm_value cvm_fail(cvm *vm, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(vm->error.message, sizeof vm->error.message, format, args);
    va_end(args);
    cvm_error_clear(vm);
    vm->error.failed = 1;
    vm->error.number = ++vm->errors;
    return CVM_NONE;
}

cvm_value cvm_out_of_memory(cvm *vm) { return cvm_fail(vm, "out of memory"); }

void cvm_error_at(cvm *vm, const char *file, int line)
{
    if (vm->error.place[0] == '\0')
        snprintf(vm->error.place, sizeof vm->error.place, "%.200s:%d: ", file, line);
}

void cvm_error_text(const cvm *vm, char *text, size_t size)
{
    snprintf(text, size, "%serror: %s", vm->error.place, vm->error.message);
}

/* ---- how deep it may nest ----------------------------------------------- */

int cvm_stack_room(cvm *vm, size_t n)
{
    if (vm->sp + n <= CVM_STACK_SIZE - CVM_STACK_SPARE)
        return 1;
    cvm_fail(vm, "recursion too deep");
    return 0;
}

/* What the process says of its C stack. A quarter is left for C code that calls nothing of the VM again:
   printf, a collection, an extension. */
static size_t usable_c_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return DEFAULT_C_STACK;
    return (size_t)limit.rlim_cur / 4 * 3;
}

int cvm_enter(cvm *vm)
{
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    if (vm->config.c_stack == 0)
        vm->config.c_stack = usable_c_stack();
    if (vm->depth == 0)
        vm->c_base = at;
    uintptr_t used = vm->c_base > at ? vm->c_base - at : at - vm->c_base;
    if (vm->depth >= vm->config.max_depth || used > vm->config.c_stack) {
        cvm_fail(vm, "recursion too deep");
        return 0;
    }
    if (!cvm_stack_room(vm, CVM_STACK_SPARE))
        return 0;
    vm->depth++;
    return 1;
}

void cvm_leave(cvm *vm) { vm->depth--; }

/* ---- making values ------------------------------------------------------ */

cvm_object *cvm_object_new(cvm *vm, int kind, size_t size)
{
    if (vm->printing > 0) {             /* the printer goes by addresses that must not change */
        cvm_fail(vm, "a tp_repr must not make Lisp objects");
        return NULL;
    }
    cvm_object *p = cvm_heap_alloc(&vm->heap, kind, size);
    if (p == NULL)
        cvm_out_of_memory(vm);
    return p;
}

cvm_value cvm_string_new(cvm *vm, const char *bytes, size_t length)
{
    if (length > SIZE_MAX / 4)
        return cvm_out_of_memory(vm);
    cvm_string *s = (cvm_string *)cvm_object_new(vm, CVM_STRING, offsetof(cvm_string, bytes) + length + 1);
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
    size_t scope = cvm_open(vm);
    if (length > SIZE_MAX / 4 / sizeof(cvm_value))
        return cvm_out_of_memory(vm);
    cvm_value *v = cvm_root(vm, fill);
    cvm_vector *vector = (cvm_vector *)cvm_object_new(vm, CVM_VECTOR,
                             offsetof(cvm_vector, items) + length * sizeof(cvm_value));
    if (vector != NULL) {
        vector->length = length;
        for (size_t i = 0; i < length; i++)
            cvm_heap_init(&vector->items[i], *v);
    }
    cvm_close(vm, scope);
    return (cvm_value)vector;
}
