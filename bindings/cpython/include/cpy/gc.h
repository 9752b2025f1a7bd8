/* gc.h - memory, and objects that take part in cyclic garbage. */
#ifndef CPY_GC_H
#define CPY_GC_H

void *PyMem_Malloc(size_t size);
void *PyMem_Calloc(size_t n, size_t size);
void *PyMem_Realloc(void *p, size_t size);
void PyMem_Free(void *p);
#define PyMem_RawMalloc PyMem_Malloc
#define PyMem_RawCalloc PyMem_Calloc
#define PyMem_RawRealloc PyMem_Realloc
#define PyMem_RawFree PyMem_Free
#define PyMem_New(type, n) ((size_t)(n) > PY_SSIZE_T_MAX / sizeof(type) ? NULL : (type *)PyMem_Malloc((size_t)(n) * sizeof(type)))
#define PyMem_Resize(p, type, n) \
    ((p) = (size_t)(n) > PY_SSIZE_T_MAX / sizeof(type) ? NULL : (type *)PyMem_Realloc((p), (size_t)(n) * sizeof(type)))
#define PyMem_MALLOC PyMem_Malloc
#define PyMem_REALLOC PyMem_Realloc
#define PyMem_FREE PyMem_Free
#define PyMem_Del PyMem_Free
#define PyMem_DEL PyMem_Free
#define PyMem_NEW PyMem_New
#define PyMem_RESIZE PyMem_Resize

PyObject *_PyObject_New(PyTypeObject *type);
PyVarObject *_PyObject_NewVar(PyTypeObject *type, Py_ssize_t n);
PyObject *_PyObject_GC_New(PyTypeObject *type);
PyVarObject *_PyObject_GC_NewVar(PyTypeObject *type, Py_ssize_t n);
PyVarObject *_PyObject_GC_Resize(PyVarObject *op, Py_ssize_t n);
PyObject *PyUnstable_Object_GC_NewWithExtraData(PyTypeObject *type, size_t extra);

/* The memory is that of an object, which its tp_dealloc has kept for another one of the same size. (Memory of
   PyObject_Malloc ends the program: an object has words in front.) */
PyObject *PyObject_Init(PyObject *op, PyTypeObject *type);
PyVarObject *PyObject_InitVar(PyVarObject *op, PyTypeObject *type, Py_ssize_t n);
#define PyObject_INIT PyObject_Init
#define PyObject_INIT_VAR PyObject_InitVar

#define PyObject_New(T, type) ((T *)(void *)_PyObject_New(type))
#define PyObject_NEW PyObject_New
#define PyObject_NewVar(T, type, n) ((T *)(void *)_PyObject_NewVar((type), (n)))
#define PyObject_GC_New(T, type) ((T *)(void *)_PyObject_GC_New(type))
#define PyObject_GC_NewVar(T, type, n) ((T *)(void *)_PyObject_GC_NewVar((type), (n)))
#define PyObject_GC_Resize(T, op, n) ((T *)(void *)_PyObject_GC_Resize((PyVarObject *)(void *)(op), (n)))

/* Memory that is no object; and PyObject_Free is for objects, too. */
void *PyObject_Malloc(size_t size);
void *PyObject_Calloc(size_t n, size_t size);
void *PyObject_Realloc(void *p, size_t size);
#define PyObject_MALLOC PyObject_Malloc
#define PyObject_REALLOC PyObject_Realloc
void PyObject_Free(void *op);
#define PyObject_Del PyObject_Free
#define PyObject_DEL PyObject_Free
#define PyObject_FREE PyObject_Free
void PyObject_GC_Del(void *op);
void PyObject_GC_Track(void *op);
void PyObject_GC_UnTrack(void *op);
int PyObject_GC_IsTracked(PyObject *op);
int PyObject_GC_IsFinalized(PyObject *op);
#define _PyGC_FINALIZED(op) PyObject_GC_IsFinalized(_PyObject_CAST(op))
#define _PyObject_GC_IS_TRACKED(op) PyObject_GC_IsTracked(_PyObject_CAST(op))
#define PyObject_IS_GC(op) (PyType_IS_GC(Py_TYPE(op)) && (Py_TYPE(op)->tp_is_gc == NULL || Py_TYPE(op)->tp_is_gc(_PyObject_CAST(op))))
#define _PyObject_GC_TRACK PyObject_GC_Track
#define _PyObject_GC_UNTRACK PyObject_GC_UnTrack
int PyObject_CallFinalizerFromDealloc(PyObject *op);
void PyObject_CallFinalizer(PyObject *op);

Py_ssize_t PyGC_Collect(void);
int PyGC_Enable(void);
int PyGC_Disable(void);
int PyGC_IsEnabled(void);
typedef int (*gcvisitobjects_t)(PyObject *op, void *arg);
void PyUnstable_GC_VisitObjects(gcvisitobjects_t callback, void *arg);

#define Py_VISIT(op) \
    do { \
        if (op) { \
            int cpy_result = visit(_PyObject_CAST(op), arg); \
            if (cpy_result) \
                return cpy_result; \
        } \
    } while (0)

/* Deallocs never nest deeply here, with or without these. */
#define Py_TRASHCAN_BEGIN(op, dealloc) do {
#define Py_TRASHCAN_END } while (0);
#define Py_TRASHCAN_SAFE_BEGIN(op) do {
#define Py_TRASHCAN_SAFE_END(op) } while (0);

#endif
