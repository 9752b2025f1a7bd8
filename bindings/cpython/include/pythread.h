/* pythread.h - locks, which are not bound to a VM, nor to the thread that has taken one. */
#ifndef Py_PYTHREAD_H
#define Py_PYTHREAD_H

#include "Python.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *PyThread_type_lock;
#define WAIT_LOCK 1
#define NOWAIT_LOCK 0

PyThread_type_lock PyThread_allocate_lock(void);            /* NULL: no memory */
void PyThread_free_lock(PyThread_type_lock lock);
int PyThread_acquire_lock(PyThread_type_lock lock, int waits);     /* 0: another one has it */
void PyThread_release_lock(PyThread_type_lock lock);
unsigned long PyThread_get_thread_ident(void);

#ifdef __cplusplus
}
#endif

#endif
