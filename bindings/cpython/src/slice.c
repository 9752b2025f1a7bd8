/* slice.c - slice, and what sequences do with one. */
#include "internal.h"

#define S(op) ((PySliceObject *)(void *)(op))

PyObject *PySlice_New(PyObject *start, PyObject *stop, PyObject *step)
{
    PyObject *op = _PyObject_GC_New(&PySlice_Type);
    if (op == NULL)
        return NULL;
    S(op)->start = Py_NewRef(start != NULL ? start : Py_None);
    S(op)->stop = Py_NewRef(stop != NULL ? stop : Py_None);
    S(op)->step = Py_NewRef(step != NULL ? step : Py_None);
    PyObject_GC_Track(op);
    return op;
}

int _PyEval_SliceIndex(PyObject *op, Py_ssize_t *i)
{
    Py_ssize_t n;
    if (op == NULL || op == Py_None)
        return 1;
    if (!PyIndex_Check(op)) {
        PyErr_SetString(PyExc_TypeError, "slice indices must be integers or None or have an __index__ method");
        return 0;
    }
    n = PyNumber_AsSsize_t(op, NULL);
    if (n == -1 && PyErr_Occurred())
        return 0;
    *i = n;
    return 1;
}

int PySlice_Unpack(PyObject *op, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step)
{
    *step = 1;
    if (!_PyEval_SliceIndex(S(op)->step, step))
        return -1;
    if (*step == 0) {
        PyErr_SetString(PyExc_ValueError, "slice step cannot be zero");
        return -1;
    }
    if (*step < -PY_SSIZE_T_MAX)
        *step = -PY_SSIZE_T_MAX;
    *start = *step < 0 ? PY_SSIZE_T_MAX : 0;
    *stop = *step < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX;
    return _PyEval_SliceIndex(S(op)->start, start) && _PyEval_SliceIndex(S(op)->stop, stop) ? 0 : -1;
}

static Py_ssize_t adjust(Py_ssize_t i, Py_ssize_t n, Py_ssize_t step)
{
    if (i < 0)
        i = i + n < 0 ? (step < 0 ? -1 : 0) : i + n;
    return i >= n ? (step < 0 ? n - 1 : n) : i;
}

Py_ssize_t PySlice_AdjustIndices(Py_ssize_t n, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t step)
{
    *start = adjust(*start, n, step);
    *stop = adjust(*stop, n, step);
    if (step < 0)
        return *stop < *start ? (*start - *stop - 1) / -step + 1 : 0;
    return *start < *stop ? (*stop - *start - 1) / step + 1 : 0;
}

int PySlice_GetIndicesEx(PyObject *op, Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step,
                         Py_ssize_t *n)
{
    if (PySlice_Unpack(op, start, stop, step) < 0)
        return -1;
    *n = PySlice_AdjustIndices(length, start, stop, *step);
    return 0;
}

/* ---- what sequences do with it ------------------------------------------- */

/* The mp_subscript of list, tuple, bytes and str. */
PyObject *py_subscript(PyObject *op, PyObject *key)
{
    const PyTypeObject *base = PyList_Check(op) ? &PyList_Type : PyTuple_Check(op) ? &PyTuple_Type
                             : PyBytes_Check(op) ? &PyBytes_Type : &PyUnicode_Type;
    const PySequenceMethods *methods = base->tp_as_sequence;
    Py_ssize_t start, stop, step, n, i;
    PyObject *result;
    if (PyIndex_Check(key)) {
        i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (i == -1 && PyErr_Occurred())
            return NULL;
        return methods->sq_item(op, i < 0 ? i + methods->sq_length(op) : i);
    }
    if (!PySlice_Check(key) && base == &PyUnicode_Type)
        return PyErr_Format(PyExc_TypeError, "string indices must be integers, not '%.200s'", Py_TYPE(key)->tp_name);
    if (!PySlice_Check(key))
        return PyErr_Format(PyExc_TypeError, "%s indices must be integers or slices, not %.200s",
                            base == &PyBytes_Type ? "byte" : base->tp_name, Py_TYPE(key)->tp_name);
    if (PySlice_GetIndicesEx(key, methods->sq_length(op), &start, &stop, &step, &n) < 0)
        return NULL;
    result = base == &PyList_Type ? PyList_New(n) : base == &PyTuple_Type ? PyTuple_New(n)
           : base == &PyBytes_Type ? PyBytes_FromStringAndSize(NULL, n) : PyUnicode_New(n, PyUnicode_MAX_CHAR_VALUE(op));
    for (i = 0; result != NULL && i < n; i++) {
        Py_ssize_t from = start + i * step;
        if (base == &PyList_Type)
            PyList_SET_ITEM(result, i, Py_XNewRef(PyList_GET_ITEM(op, from)));
        else if (base == &PyTuple_Type)
            PyTuple_SET_ITEM(result, i, Py_XNewRef(PyTuple_GET_ITEM(op, from)));
        else if (base == &PyBytes_Type)
            PyBytes_AS_STRING(result)[i] = PyBytes_AS_STRING(op)[from];
        else
            PyUnicode_WRITE(PyUnicode_KIND(result), PyUnicode_DATA(result), i, PyUnicode_READ_CHAR(op, from));
    }
    return result;
}

/* ---- the type ------------------------------------------------------------- */

static void dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(S(op)->start);
    Py_XDECREF(S(op)->stop);
    Py_XDECREF(S(op)->step);
    PyObject_GC_Del(op);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(S(op)->start);
    Py_VISIT(S(op)->stop);
    Py_VISIT(S(op)->step);
    return 0;
}

static PyObject *repr(PyObject *op)
{
    return PyUnicode_FromFormat("slice(%R, %R, %R)", S(op)->start, S(op)->stop, S(op)->step);
}

static PyObject *slice_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *a, *b = NULL, *c = NULL;
    (void)type, (void)kwargs;
    if (!PyArg_UnpackTuple(args, "slice", 1, 3, &a, &b, &c))
        return NULL;
    return b == NULL ? PySlice_New(NULL, a, NULL) : PySlice_New(a, b, c);
}

static PyMemberDef members[] = {
    { "start", T_OBJECT, offsetof(PySliceObject, start), READONLY, NULL },
    { "stop", T_OBJECT, offsetof(PySliceObject, stop), READONLY, NULL },
    { "step", T_OBJECT, offsetof(PySliceObject, step), READONLY, NULL },
    { NULL, 0, 0, 0, NULL }
};

PyTypeObject PySlice_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "slice", .tp_basicsize = sizeof(PySliceObject), .tp_dealloc = dealloc,
    .tp_repr = repr, .tp_hash = PyObject_HashNotImplemented, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = traverse, .tp_members = members, .tp_new = slice_new
};
