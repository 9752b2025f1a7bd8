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
#define PY_TIMEOUT_T long long
#define PY_TIMEOUT_MAX LLONG_MAX
typedef enum PyLockStatus { PY_LOCK_FAILURE, PY_LOCK_ACQUIRED, PY_LOCK_INTR } PyLockStatus;
PyLockStatus PyThread_acquire_lock_timed(PyThread_type_lock lock, PY_TIMEOUT_T microseconds, int by_signals);   /* < 0: waits for ever */
void PyThread_release_lock(PyThread_type_lock lock);
unsigned long PyThread_get_thread_native_id(void);
unsigned long PyThread_get_thread_ident(void);

/* A value for each thread. */
typedef struct _Py_tss_t {
    int _is_initialized;
    unsigned _key;
} Py_tss_t;
#define Py_tss_NEEDS_INIT { 0, 0 }
Py_tss_t *PyThread_tss_alloc(void);                     /* NULL: no memory, and no exception */
void PyThread_tss_free(Py_tss_t *key);
int PyThread_tss_is_created(Py_tss_t *key);
int PyThread_tss_create(Py_tss_t *key);                 /* 0, also if it was created before */
void PyThread_tss_delete(Py_tss_t *key);
int PyThread_tss_set(Py_tss_t *key, void *value);
void *PyThread_tss_get(Py_tss_t *key);

/* The same for code that is older than PyThread_tss_. */
int PyThread_create_key(void);                          /* -1: there is none left */
void PyThread_delete_key(int key);
int PyThread_set_key_value(int key, void *value);
void *PyThread_get_key_value(int key);
void PyThread_delete_key_value(int key);
#define PyThread_ReInitTLS() ((void)0)

#ifdef __cplusplus
}
#endif

#endif
