/* iter.c - iterators: over a sequence, forwards and backwards, and by calls. */
#include "internal.h"

typedef struct {
    PyObject_HEAD
    Py_ssize_t at;
    PyObject *sequence;             /* NULL: at its end */
} seqiter;

PyObject *PySeqIter_New(PyObject *op)
{
    PyObject *it;
    if (!PySequence_Check(op)) {
        PyErr_BadInternalCall();
        return NULL;
    }
    it = _PyObject_GC_New(&PySeqIter_Type);
    if (it == NULL)
        return NULL;
    ((seqiter *)(void *)it)->sequence = Py_NewRef(op);
    PyObject_GC_Track(it);
    return it;
}

static void seq_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(((seqiter *)(void *)op)->sequence);
    PyObject_GC_Del(op);
}

static int seq_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((seqiter *)(void *)op)->sequence);
    return 0;
}

static PyObject *seq_next(PyObject *op)
{
    seqiter *it = (seqiter *)(void *)op;
    PyObject *item;
    if (it->sequence == NULL)
        return NULL;
    item = PySequence_GetItem(it->sequence, it->at);
    if (item != NULL) {
        it->at++;
        return item;
    }
    if (PyErr_ExceptionMatches(PyExc_IndexError) || PyErr_ExceptionMatches(PyExc_StopIteration)) {
        PyErr_Clear();
        Py_CLEAR(it->sequence);
    }
    return NULL;
}

static PyObject *seq_hint(PyObject *op, PyObject *none)
{
    seqiter *it = (seqiter *)(void *)op;
    Py_ssize_t n = it->sequence != NULL ? PySequence_Size(it->sequence) : 0;
    (void)none;
    return n < 0 ? NULL : PyLong_FromSsize_t(Py_MAX(n - it->at, 0));
}

static PyMethodDef seq_methods[] = { { "__length_hint__", seq_hint, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

PyTypeObject PySeqIter_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "iterator", .tp_basicsize = sizeof(seqiter), .tp_dealloc = seq_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = seq_traverse, .tp_iter = PyObject_SelfIter,
    .tp_iternext = seq_next, .tp_methods = seq_methods
};

typedef struct {
    PyObject_HEAD
    PyObject *callable, *sentinel;
} calliter;

PyObject *PyCallIter_New(PyObject *callable, PyObject *sentinel)
{
    PyObject *it = _PyObject_GC_New(&PyCallIter_Type);
    if (it == NULL)
        return NULL;
    ((calliter *)(void *)it)->callable = Py_NewRef(callable);
    ((calliter *)(void *)it)->sentinel = Py_NewRef(sentinel);
    PyObject_GC_Track(it);
    return it;
}

static void call_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(((calliter *)(void *)op)->callable);
    Py_XDECREF(((calliter *)(void *)op)->sentinel);
    PyObject_GC_Del(op);
}

static int call_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((calliter *)(void *)op)->callable);
    Py_VISIT(((calliter *)(void *)op)->sentinel);
    return 0;
}

static PyObject *call_next(PyObject *op)
{
    calliter *it = (calliter *)(void *)op;
    PyObject *item = it->callable != NULL ? PyObject_CallNoArgs(it->callable) : NULL;
    int ended;
    if (item == NULL) {
        if (PyErr_ExceptionMatches(PyExc_StopIteration))
            PyErr_Clear();
        return NULL;
    }
    ended = PyObject_RichCompareBool(item, it->sentinel, Py_EQ);
    if (ended == 0)
        return item;
    Py_DECREF(item);
    if (ended > 0)
        Py_CLEAR(it->callable);
    return NULL;
}

PyTypeObject PyCallIter_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "callable_iterator", .tp_basicsize = sizeof(calliter),
    .tp_dealloc = call_dealloc, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = call_traverse,
    .tp_iter = PyObject_SelfIter, .tp_iternext = call_next
};

/* ---- backwards ---------------------------------------------------------------- */

/* (A seqiter, which counts down.) */
static PyObject *reversed_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op, *method, *it;
    Py_ssize_t n;
    if (!_PyArg_NoKeywords("reversed", kwargs) || !PyArg_UnpackTuple(args, "reversed", 1, 1, &op) || !py_ready(op))
        return NULL;
    method = py_lookup_special(op, "__reversed__");
    if (method == NULL && PyErr_Occurred())
        return NULL;
    if (method != NULL && method != Py_None) {
        it = PyObject_CallNoArgs(method);
        Py_DECREF(method);
        return it;
    }
    Py_XDECREF(method);
    if (method != NULL || !PySequence_Check(op))
        return PyErr_Format(PyExc_TypeError, "'%.200s' object is not reversible", Py_TYPE(op)->tp_name);
    n = PySequence_Size(op);
    it = n >= 0 ? type->tp_alloc(type, 0) : NULL;
    if (it != NULL) {
        ((seqiter *)(void *)it)->at = n - 1;
        ((seqiter *)(void *)it)->sequence = Py_NewRef(op);
    }
    return it;
}

static PyObject *reversed_next(PyObject *op)
{
    seqiter *it = (seqiter *)(void *)op;
    PyObject *item = it->sequence != NULL && it->at >= 0 ? PySequence_GetItem(it->sequence, it->at) : NULL;
    if (item != NULL) {
        it->at--;
        return item;
    }
    if (PyErr_ExceptionMatches(PyExc_IndexError) || PyErr_ExceptionMatches(PyExc_StopIteration))
        PyErr_Clear();
    it->at = -1;
    Py_CLEAR(it->sequence);
    return NULL;
}

static PyObject *reversed_hint(PyObject *op, PyObject *none)
{
    seqiter *it = (seqiter *)(void *)op;
    Py_ssize_t n = it->sequence != NULL ? PySequence_Size(it->sequence) : 0;
    (void)none;
    return n < 0 ? NULL : PyLong_FromSsize_t(n <= it->at ? 0 : it->at + 1);
}

static void reversed_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(((seqiter *)(void *)op)->sequence);
    Py_TYPE(op)->tp_free(op);
}

static PyMethodDef reversed_methods[] = { { "__length_hint__", reversed_hint, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

PyTypeObject PyReversed_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "reversed", .tp_basicsize = sizeof(seqiter), .tp_dealloc = reversed_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = seq_traverse,
    .tp_iter = PyObject_SelfIter, .tp_iternext = reversed_next, .tp_methods = reversed_methods, .tp_new = reversed_new
};
