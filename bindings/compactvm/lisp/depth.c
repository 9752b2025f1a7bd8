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

#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)   /* before, it was in a library of its own */
#define CVM_ASKS_FOR_STACK 1
#include <pthread.h>
#endif
#endif

/* Left for C code that calls nothing of the VM again: printf, a collection, an extension. */
enum { CVM_C_STACK_SPARE = 128 * 1024 };

/* An address in the stack, near its end. */
static uintptr_t here(void)
{
    volatile char c = 0;

    return (uintptr_t)&c;
}

static uintptr_t this_thread(void)
{
#if CVM_ASKS_FOR_STACK
    return (uintptr_t)pthread_self();
#else
    return 0;
#endif
}

/* Find the ends of this thread's stack. If they are not known, everything is inside it. */
static void ask(cvm_c_stack *s)
{
#if CVM_ASKS_FOR_STACK
    pthread_attr_t attributes;
    void *low;
    size_t size;
    int ok;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        ok = pthread_attr_getstack(&attributes, &low, &size) == 0;
        pthread_attr_destroy(&attributes);
        if (ok) {
            s->low = (uintptr_t)low;
            s->high = s->low + size;
            s->least = s->low + (size / 4 < CVM_C_STACK_SPARE ? size / 4 : CVM_C_STACK_SPARE);
        }
    }
#endif
}

/* Is there room for more on the C stack? */
static int has_room(cvm *vm)
{
    cvm_c_stack *s = &vm->c_stack;
    uintptr_t at = here();

    if (vm->depth > 0 && at >= s->least && at < s->high)
        return 1;
    if (s->high == 0 || s->thread != this_thread()) {
        s->low = s->least = 0;
        s->high = UINTPTR_MAX;
        s->thread = this_thread();
        ask(s);
    }
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
