/* thread.c - locks, and threads that leave their VM for a while. */
#include "internal.h"

#include "../include/pythread.h"

#include <pthread.h>

typedef struct lock {
    pthread_mutex_t mutex;
    pthread_cond_t released;
    int taken;
} lock;

PyThread_type_lock PyThread_allocate_lock(void)
{
    lock *l = calloc(1, sizeof *l);
    if (l != NULL && pthread_mutex_init(&l->mutex, NULL) != 0) {
        free(l);
        return NULL;
    }
    if (l != NULL && pthread_cond_init(&l->released, NULL) != 0) {
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return NULL;
    }
    return l;
}

void PyThread_free_lock(PyThread_type_lock p)
{
    lock *l = p;
    pthread_cond_destroy(&l->released);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}

int PyThread_acquire_lock(PyThread_type_lock p, int waits)
{
    lock *l = p;
    int free_now;
    pthread_mutex_lock(&l->mutex);
    while (l->taken && waits)
        pthread_cond_wait(&l->released, &l->mutex);
    free_now = !l->taken;
    l->taken = 1;
    pthread_mutex_unlock(&l->mutex);
    return free_now;
}

void PyThread_release_lock(PyThread_type_lock p)
{
    lock *l = p;
    pthread_mutex_lock(&l->mutex);
    l->taken = 0;
    pthread_cond_signal(&l->released);
    pthread_mutex_unlock(&l->mutex);
}

unsigned long PyThread_get_thread_ident(void)
{
    return (unsigned long)(uintptr_t)pthread_self();
}

/* A VM is used by one thread at a time. A thread that has left it can give it to another one. */
PyThreadState *PyThreadState_Swap(PyThreadState *state)
{
    cvm *before = py_vm;
    py_vm = (cvm *)(void *)state;
    return (PyThreadState *)(void *)before;
}

static __thread cvm *left_vm;

PyThreadState *PyEval_SaveThread(void)
{
    if (py_vm == NULL)
        Py_FatalError("PyEval_SaveThread: the thread has no VM");
    left_vm = py_vm;
    return PyThreadState_Swap(NULL);
}

void PyEval_RestoreThread(PyThreadState *state)
{
    if (state == NULL)
        Py_FatalError("PyEval_RestoreThread: there is no VM");
    PyThreadState_Swap(state);
}

PyThreadState *PyThreadState_Get(void)
{
    if (py_vm == NULL)
        Py_FatalError("PyThreadState_Get: the thread has no VM");
    return (PyThreadState *)(void *)py_vm;
}

PyGILState_STATE PyGILState_Ensure(void)
{
    if (py_vm != NULL)
        return PyGILState_LOCKED;
    if (left_vm == NULL)
        Py_FatalError("PyGILState_Ensure: the thread has no VM, and has left none");
    py_vm = left_vm;
    return PyGILState_UNLOCKED;
}

void PyGILState_Release(PyGILState_STATE before)
{
    if (py_vm == NULL)
        Py_FatalError("PyGILState_Release: the thread has no VM");
    if (before == PyGILState_UNLOCKED)
        (void)PyEval_SaveThread();
}

int PyGILState_Check(void) { return py_vm != NULL; }

PyThreadState *PyGILState_GetThisThreadState(void)
{
    return (PyThreadState *)(void *)(py_vm != NULL ? py_vm : left_vm);
}
