/* depth.c - how deep C code may call itself. The evaluator, the reader and the printer do, and a
 * thread's stack can be small: recursion must end with an error before that.
 *
 * Where a thread's stack ends is asked once for each thread that uses the VM. Where the system
 * cannot say it, only cvm_config.max_depth bounds the recursion.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE         /* for pthread_getattr_np */
#endif
#include "lisp.h"

/* Left for C code that calls nothing of the VM again: printf, a collection, an extension. */
enum { C_STACK_SPARE = 128 * 1024 };

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 34)   /* before, it was in a library of its own */
#define ASKS_FOR_STACK 1
#endif
#endif

#if ASKS_FOR_STACK
#include <pthread.h>

/* Find the ends of this thread's stack, if it is not the one of last time. */
static void ask(cvm_c_stack *s)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;

    if (s->high != 0 && s->thread == (uintptr_t)pthread_self())
        return;
    s->thread = (uintptr_t)pthread_self();
    s->low = s->least = 0;
    s->high = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        s->low = (uintptr_t)low;
        s->high = s->low + size;
        s->least = s->low + (size / 4 < C_STACK_SPARE ? size / 4 : C_STACK_SPARE);
    }
    pthread_attr_destroy(&attributes);
}
#else
static void ask(cvm_c_stack *s)
{
    s->high = UINTPTR_MAX;
}
#endif

/* Is there room for more on the C stack? */
static int has_room(cvm *vm)
{
    cvm_c_stack *s = &vm->c_stack;
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);

    if (vm->depth == 0 || at < s->least || at >= s->high)
        ask(s);
    /* A stack that the program has made by itself is none that we know. */
    return at < s->low || at >= s->high || at >= s->least;
}

int cvm_enter(cvm *vm)
{
    if (vm->depth >= vm->max_depth || !has_room(vm)) {
        cvm_fail(vm, "recursion too deep");
        return 0;
    }
    if (!cvm_stack_room(vm, CVM_STACK_SPARE))
        return 0;
    vm->depth++;
    return 1;
}

void cvm_leave(cvm *vm)
{
    vm->depth--;
}
