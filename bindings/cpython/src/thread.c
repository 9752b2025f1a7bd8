/* thread.c - locks, and threads that leave their VM for a while. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L     /* for clock_gettime */
#endif
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

PyLockStatus PyThread_acquire_lock_timed(PyThread_type_lock p, PY_TIMEOUT_T microseconds, int by_signals)
{
    lock *l = p;
    struct timespec until;
    int got;
    (void)by_signals;                   /* (no signal is waited for) */
    if (microseconds <= 0)
        return PyThread_acquire_lock(p, microseconds < 0) ? PY_LOCK_ACQUIRED : PY_LOCK_FAILURE;
    clock_gettime(CLOCK_REALTIME, &until);
    microseconds = Py_MIN(microseconds, (PY_TIMEOUT_T)1000000 * 1000000000) + until.tv_nsec / 1000;
    until.tv_sec += (time_t)(microseconds / 1000000);
    until.tv_nsec = (long)(microseconds % 1000000) * 1000;
    pthread_mutex_lock(&l->mutex);
    while (l->taken && pthread_cond_timedwait(&l->released, &l->mutex, &until) == 0)
        ;
    got = !l->taken;
    l->taken = 1;
    pthread_mutex_unlock(&l->mutex);
    return got ? PY_LOCK_ACQUIRED : PY_LOCK_FAILURE;
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

/* ---- a value for each thread ------------------------------------------------ */

Py_tss_t *PyThread_tss_alloc(void) { return PyMem_Calloc(1, sizeof(Py_tss_t)); }
int PyThread_tss_is_created(Py_tss_t *key) { return key->_is_initialized; }

void PyThread_tss_free(Py_tss_t *key)
{
    if (key != NULL)
        PyThread_tss_delete(key);
    PyMem_Free(key);
}

int PyThread_tss_create(Py_tss_t *key)
{
    pthread_key_t made;
    if (key->_is_initialized)
        return 0;
    if (pthread_key_create(&made, NULL) != 0)
        return -1;
    key->_key = made;
    key->_is_initialized = 1;
    return 0;
}

void PyThread_tss_delete(Py_tss_t *key)
{
    if (key->_is_initialized)
        pthread_key_delete(key->_key);
    key->_is_initialized = 0;
}

int PyThread_tss_set(Py_tss_t *key, void *value) { return pthread_setspecific(key->_key, value) != 0 ? -1 : 0; }
void *PyThread_tss_get(Py_tss_t *key) { return pthread_getspecific(key->_key); }

int PyThread_create_key(void)
{
    pthread_key_t key;
    return pthread_key_create(&key, NULL) == 0 ? (int)key : -1;
}

void PyThread_delete_key(int key) { pthread_key_delete((pthread_key_t)key); }
int PyThread_set_key_value(int key, void *value) { return pthread_setspecific((pthread_key_t)key, value) != 0 ? -1 : 0; }
void *PyThread_get_key_value(int key) { return pthread_getspecific((pthread_key_t)key); }
void PyThread_delete_key_value(int key) { PyThread_set_key_value(key, NULL); }

/* ---- VMs ---------------------------------------------------------------------- */

static PyThreadState *state_of(cvm *vm)
{
    return vm != NULL ? &py_state_of(vm)->thread : NULL;
}

/* A VM is used by one thread at a time. A thread that has left it can give it to another one. */
PyThreadState *PyThreadState_Swap(PyThreadState *state)
{
    PyThreadState *before = state_of(py_vm);
    py_vm = state != NULL ? (cvm *)(void *)state->interp : NULL;
    return before;
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
    return state_of(py_vm);
}

PyThreadState *PyThreadState_New(PyInterpreterState *interp)
{
    (void)interp;
    Py_FatalError("PyThreadState_New: a thread gets no VM that it has not had");
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
    return state_of(py_vm != NULL ? py_vm : left_vm);
}

PyThreadState *_PyThreadState_UncheckedGet(void) { return state_of(py_vm); }
PyInterpreterState *PyInterpreterState_Get(void) { return PyThreadState_Get()->interp; }
PyInterpreterState *PyThreadState_GetInterpreter(PyThreadState *state) { return state->interp; }
int64_t PyInterpreterState_GetID(PyInterpreterState *state) { return (int64_t)(intptr_t)state; }
int Py_IsInitialized(void) { return 1; }
int _Py_IsFinalizing(void) { return py_vm != NULL && PY->ended; }
