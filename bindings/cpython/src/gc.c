/* gc.c - the memory of objects, and cyclic garbage. */
#include "internal.h"

void *PyMem_Malloc(size_t size)
{
    return malloc(size != 0 ? size : 1);
}

void *PyMem_Calloc(size_t n, size_t size)
{
    return calloc(n != 0 ? n : 1, size != 0 ? size : 1);
}

void *PyMem_Realloc(void *p, size_t size)
{
    return realloc(p, size != 0 ? size : 1);
}

void PyMem_Free(void *p)
{
    free(p);
}

/* ---- objects ------------------------------------------------------------ */

PyObject *py_alloc(PyTypeObject *type, Py_ssize_t n)
{
    const rrc_type *rrc = &type->ob_base.rrc;
    rrc_heap *heap = py_vm->rrc;
    rrc_object *ob;
    if (n < 0)
        return NULL;
    if (rrc->tp_flags & RRC_TPFLAGS_HAVE_GC)
        ob = type->tp_itemsize > 0 ? rrc_gc_new_var(heap, rrc, (size_t)n) : rrc_gc_new(heap, rrc);
    else
        ob = type->tp_itemsize > 0 ? rrc_new_var(heap, rrc, (size_t)n) : rrc_new(heap, rrc);
    if (ob != NULL && (type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        Py_INCREF(type);
    if (ob != NULL && type->tp_itemsize > 0)
        ((PyVarObject *)(void *)ob)->ob_size = n;
    return (PyObject *)(void *)ob;
}

PyVarObject *_PyObject_NewVar(PyTypeObject *type, Py_ssize_t n)
{
    PyObject *op;
    if (!py_ready_type(type))
        return NULL;
    if (n < 0)
        return (PyVarObject *)(void *)PyErr_Format(PyExc_SystemError, "an object of type '%.200s' cannot have %zd items", type->tp_name, n);
    op = py_alloc(type, n);
    return (PyVarObject *)(void *)(op != NULL ? op : PyErr_NoMemory());
}

/* (That a type takes part in cyclic garbage is asked when the object is made.) */
PyObject *_PyObject_New(PyTypeObject *type) { return (PyObject *)(void *)_PyObject_NewVar(type, 0); }
PyObject *_PyObject_GC_New(PyTypeObject *type) { return _PyObject_New(type); }
PyVarObject *_PyObject_GC_NewVar(PyTypeObject *type, Py_ssize_t n) { return _PyObject_NewVar(type, n); }

PyObject *PyUnstable_Object_GC_NewWithExtraData(PyTypeObject *type, size_t extra)
{
    rrc_object *ob;
    if (!py_ready_type(type))
        return NULL;
    if (!PyType_IS_GC(type))
        return PyErr_Format(PyExc_SystemError, "extra data needs Py_TPFLAGS_HAVE_GC, which type '%.200s' lacks", type->tp_name);
    ob = rrc_gc_new_with_extra_data(py_vm->rrc, &type->ob_base.rrc, extra);
    if (ob == NULL)
        return PyErr_NoMemory();
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        Py_INCREF(type);
    return (PyObject *)(void *)ob;
}

PyVarObject *_PyObject_GC_Resize(PyVarObject *op, Py_ssize_t n)
{
    const PyTypeObject *type = Py_TYPE(op);
    rrc_object *ob;
    if (n < 0 || !PyType_IS_GC(type) || type->tp_itemsize == 0 || PyObject_GC_IsTracked(_PyObject_CAST(op)))
        return (PyVarObject *)(void *)PyErr_Format(PyExc_SystemError, "an object of type '%.200s' cannot be resized to %zd items%s",
            type->tp_name, n, n < 0 ? "" : PyType_IS_GC(type) && type->tp_itemsize != 0 ? ": it is tracked"
            : ": the type needs Py_TPFLAGS_HAVE_GC and a tp_itemsize");
    ob = rrc_gc_resize(py_vm->rrc, _Py_RRC(op), (size_t)n);
    if (ob == NULL)
        return (PyVarObject *)(void *)PyErr_NoMemory();
    ((PyVarObject *)(void *)ob)->ob_size = n;
    return (PyVarObject *)(void *)ob;
}

void PyObject_Free(void *op)
{
    if (op == NULL)
        return;
    if (_Py_RRC(op)->ob_type->tp_flags & RRC_TPFLAGS_HAVE_GC)
        rrc_gc_del(py_vm->rrc, op);
    else
        rrc_del(py_vm->rrc, op);
}

void PyObject_GC_Del(void *op)
{
    PyObject_Free(op);
}

void PyObject_GC_Track(void *op)
{
    cvm_object *p = rrc_to_obj(py_vm->rrc, op);
    if (!rrc_gc_is_tracked(py_vm->rrc, op) && rrc_gc_track(py_vm->rrc, op) == RRC_ENOMEM)
        Py_FatalError("no memory to track an object");      /* CPython's function cannot fail */
    if (p != NULL && py_vm->heap.marking && (p->flags & CVM_REACHED))
        rrc_marked(py_vm->rrc, p);          /* it was marked when nobody looked for op */
}

void PyObject_GC_UnTrack(void *op)
{
    if (rrc_gc_is_tracked(py_vm->rrc, op))
        rrc_gc_untrack(py_vm->rrc, op);
}

int PyObject_GC_IsTracked(PyObject *op)
{
    return PyObject_IS_GC(op) && rrc_gc_is_tracked(py_vm->rrc, _Py_RRC(op));
}

int PyObject_GC_IsFinalized(PyObject *op)
{
    return PyObject_IS_GC(op) && rrc_gc_is_finalized(py_vm->rrc, _Py_RRC(op));
}

/* The header has called the finalizer before the dealloc. */
int PyObject_CallFinalizerFromDealloc(PyObject *op)
{
    (void)op;
    return 0;
}

void PyObject_CallFinalizer(PyObject *op)
{
    if (Py_TYPE(op)->tp_finalize != NULL && !PyObject_GC_IsFinalized(op))
        Py_TYPE(op)->tp_finalize(op);
}

/* ---- collections -------------------------------------------------------- */

Py_ssize_t PyGC_Collect(void)
{
    Py_ssize_t n = py_vm->printing == 0 ? (Py_ssize_t)rrc_gc_collect(py_vm->rrc) : 0;
    py_call_back();
    return n;
}

int PyGC_Enable(void)
{
    return rrc_gc_enable(py_vm->rrc);
}

int PyGC_Disable(void)
{
    return rrc_gc_disable(py_vm->rrc);
}

int PyGC_IsEnabled(void)
{
    return rrc_gc_is_enabled(py_vm->rrc);
}

typedef struct visit_all {
    gcvisitobjects_t callback;
    void *arg;
} visit_all;

static int visit_one(rrc_object *ob, void *arg)
{
    visit_all *all = arg;
    return all->callback((PyObject *)(void *)ob, all->arg);
}

void PyUnstable_GC_VisitObjects(gcvisitobjects_t callback, void *arg)
{
    visit_all all = { callback, arg };
    rrc_gc_visit_objects(py_vm->rrc, visit_one, &all);
}
