/* slice.c - slice. */
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
