/* range.c - range: the host's, whose items are made when they are asked for. */
#include "internal.h"

static Py_ssize_t length(PyObject *op)
{
    cvm_value v = py_host_of(op);
    return v != CVM_NONE ? (Py_ssize_t)CVM_RANGE_OF(v)->length : -1;
}

static PyObject *item(PyObject *op, Py_ssize_t i)
{
    cvm_value v = py_host_of(op);
    if (v == CVM_NONE)
        return NULL;
    if (i < 0 || (size_t)i >= CVM_RANGE_OF(v)->length)
        return PyErr_Format(PyExc_IndexError, "range object index out of range");
    return PyLong_FromSsize_t(CVM_RANGE_OF(v)->start + i * CVM_RANGE_OF(v)->step);
}

static PyObject *repr(PyObject *op)
{
    cvm_value v = py_host_of(op);
    const cvm_range *r = CVM_RANGE_OF(v);
    if (v == CVM_NONE)
        return NULL;
    if (r->step == 1)
        return PyUnicode_FromFormat("range(%zd, %zd)", (Py_ssize_t)r->start, (Py_ssize_t)r->end);
    return PyUnicode_FromFormat("range(%zd, %zd, %zd)", (Py_ssize_t)r->start, (Py_ssize_t)r->end, (Py_ssize_t)r->step);
}

/* range(end), range(start, end) or range(start, end, step) */
static PyObject *range_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t part[3] = { 0, 0, 1 }, i, n = PyTuple_GET_SIZE(args), length;
    cvm_range *r;
    (void)type;
    if (!_PyArg_NoKeywords("range", kwargs) || !_PyArg_CheckPositional("range", n, 1, 3))
        return NULL;
    for (i = 0; i < n; i++) {
        part[n == 1 ? 1 : i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(args, i), PyExc_OverflowError);
        if (PyErr_Occurred())
            return NULL;
    }
    if (part[2] == 0)
        return PyErr_Format(PyExc_ValueError, "range() arg 3 must not be zero");
    if (!cvm_fits_fixnum(part[0]) || !cvm_fits_fixnum(part[1]) || !cvm_fits_fixnum(part[2]))
        return PyErr_Format(PyExc_OverflowError, "the numbers of a range must be smaller");
    length = part[2] > 0 ? (part[1] > part[0] ? (part[1] - part[0] - 1) / part[2] + 1 : 0)
                         : (part[1] < part[0] ? (part[0] - part[1] - 1) / -part[2] + 1 : 0);
    r = (cvm_range *)cvm_object_new(py_vm, CVM_RANGE, sizeof *r);
    if (r != NULL) {
        r->length = (size_t)length;
        r->start = part[0];
        r->step = part[2];
        r->end = part[1];
    }
    return py_from_value((cvm_value)r);
}

static PySequenceMethods as_sequence = { .sq_length = length, .sq_item = item };

PyTypeObject PyRange_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "range", .tp_basicsize = sizeof(PyObject), .tp_repr = repr,
    .tp_as_sequence = &as_sequence, .tp_flags = Py_TPFLAGS_DEFAULT, .tp_iter = PySeqIter_New, .tp_new = range_new
};
