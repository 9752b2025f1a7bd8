/* <pthread.h>, as far as the tests need it. WASI has no threads: there a function runs at once,
 * in the stack of the program, which has the size of the smallest one. */

#ifndef THREADS_H
#define THREADS_H

#ifdef __wasi__
#include <stddef.h>
typedef int pthread_t, pthread_attr_t;

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg)
{
    *thread = 0;
    (void)attr;
    run(arg);
    return 0;
}

#define pthread_join(thread, result) ((void)(thread), 0)
#define pthread_attr_init(attr) (*(attr) = 0)
#define pthread_attr_setstacksize(attr, size) (*(attr) = 0 * (int)(size))
#define pthread_attr_destroy(attr) ((void)(attr))
#else
#include <pthread.h>
#endif

#endif
