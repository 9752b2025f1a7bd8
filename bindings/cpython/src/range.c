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
    return PyLong_FromSsize_t(CVM_RANGE_OF(v)->start + i);
}

static PyObject *repr(PyObject *op)
{
    cvm_value v = py_host_of(op);
    return v == CVM_NONE ? NULL : PyUnicode_FromFormat("range(%zd, %zd)", (Py_ssize_t)CVM_RANGE_OF(v)->start,
                                                       (Py_ssize_t)(CVM_RANGE_OF(v)->start + (intptr_t)CVM_RANGE_OF(v)->length));
}

static PySequenceMethods as_sequence = { .sq_length = length, .sq_item = item };

PyTypeObject PyRange_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "range", .tp_basicsize = sizeof(PyObject), .tp_repr = repr,
    .tp_as_sequence = &as_sequence, .tp_flags = Py_TPFLAGS_DEFAULT, .tp_iter = PySeqIter_New
};
