/* number.c - the protocol of numbers. */
#include "internal.h"

#define SLOT(op, name) (Py_TYPE(op)->tp_as_number != NULL ? Py_TYPE(op)->tp_as_number->name : NULL)

int PyNumber_Check(PyObject *op)
{
    return op != NULL && (SLOT(op, nb_int) != NULL || SLOT(op, nb_index) != NULL || SLOT(op, nb_float) != NULL);
}

/* The slot of a, then that of b; that of b first if b's type is derived from a's. A new reference. */
static PyObject *try_both(PyObject *a, PyObject *b, binaryfunc f, binaryfunc g)
{
    PyObject *result;
    if (g == f)
        g = NULL;
    if (g != NULL && f != NULL && PyType_IsSubtype(Py_TYPE(b), Py_TYPE(a))) {
        result = g(a, b);
        if (result != Py_NotImplemented)
            return result;
        Py_DECREF(result);
        g = NULL;
    }
    if (f != NULL) {
        result = f(a, b);
        if (result != Py_NotImplemented)
            return result;
        Py_DECREF(result);
    }
    return g != NULL ? g(a, b) : Py_NewRef(Py_NotImplemented);
}

static PyObject *refuse(PyObject *a, PyObject *b, PyObject *result, const char *name)
{
    if (result != Py_NotImplemented)
        return result;
    Py_DECREF(result);
    return PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for %s: '%.100s' and '%.100s'", name, Py_TYPE(a)->tp_name,
                        Py_TYPE(b)->tp_name);
}

#define BINARY(function, slot, name) \
    PyObject *function(PyObject *a, PyObject *b) \
    { \
        return refuse(a, b, try_both(a, b, SLOT(a, slot), SLOT(b, slot)), name); \
    }
BINARY(PyNumber_Subtract, nb_subtract, "-")
BINARY(PyNumber_FloorDivide, nb_floor_divide, "//")
BINARY(PyNumber_TrueDivide, nb_true_divide, "/")
BINARY(PyNumber_Remainder, nb_remainder, "%")
BINARY(PyNumber_Divmod, nb_divmod, "divmod()")
BINARY(PyNumber_Lshift, nb_lshift, "<<")
BINARY(PyNumber_Rshift, nb_rshift, ">>")
BINARY(PyNumber_And, nb_and, "&")
BINARY(PyNumber_Xor, nb_xor, "^")
BINARY(PyNumber_Or, nb_or, "|")

PyObject *PyNumber_Add(PyObject *a, PyObject *b)
{
    PyObject *result = try_both(a, b, SLOT(a, nb_add), SLOT(b, nb_add));
    const PySequenceMethods *s = Py_TYPE(a)->tp_as_sequence;
    if (result == Py_NotImplemented && s != NULL && s->sq_concat != NULL) {
        Py_DECREF(result);
        return s->sq_concat(a, b);
    }
    return refuse(a, b, result, "+");
}

PyObject *PyNumber_Multiply(PyObject *a, PyObject *b)
{
    PyObject *result = try_both(a, b, SLOT(a, nb_multiply), SLOT(b, nb_multiply));
    const PySequenceMethods *s = Py_TYPE(a)->tp_as_sequence, *t = Py_TYPE(b)->tp_as_sequence;
    PyObject *times = s != NULL && s->sq_repeat != NULL ? b : t != NULL && t->sq_repeat != NULL ? a : NULL;
    Py_ssize_t n;
    if (result != Py_NotImplemented || times == NULL || !PyIndex_Check(times))
        return refuse(a, b, result, "*");
    Py_DECREF(result);
    n = PyNumber_AsSsize_t(times, PyExc_OverflowError);
    if (n == -1 && PyErr_Occurred())
        return NULL;
    return times == b ? s->sq_repeat(a, n) : t->sq_repeat(b, n);
}

PyObject *PyNumber_Power(PyObject *a, PyObject *b, PyObject *modulus)
{
    ternaryfunc f = SLOT(a, nb_power), g = SLOT(b, nb_power);
    PyObject *result = f != NULL ? f(a, b, modulus) : Py_NewRef(Py_NotImplemented);
    if (result == Py_NotImplemented && g != NULL && g != f) {
        Py_DECREF(result);
        result = g(a, b, modulus);
    }
    return refuse(a, b, result, "** or pow()");
}

#define INPLACE(function, slot, otherwise) \
    PyObject *function(PyObject *a, PyObject *b) \
    { \
        binaryfunc f = SLOT(a, slot); \
        PyObject *result = f != NULL ? f(a, b) : Py_NewRef(Py_NotImplemented); \
        if (result != Py_NotImplemented) \
            return result; \
        Py_DECREF(result); \
        return otherwise(a, b); \
    }

static PyObject *add_or_concat(PyObject *a, PyObject *b)
{
    const PySequenceMethods *s = Py_TYPE(a)->tp_as_sequence;
    return s != NULL && s->sq_inplace_concat != NULL ? s->sq_inplace_concat(a, b) : PyNumber_Add(a, b);
}

static PyObject *multiply_or_repeat(PyObject *a, PyObject *b)
{
    const PySequenceMethods *s = Py_TYPE(a)->tp_as_sequence;
    Py_ssize_t n;
    if (s == NULL || s->sq_inplace_repeat == NULL || !PyIndex_Check(b))
        return PyNumber_Multiply(a, b);
    n = PyNumber_AsSsize_t(b, PyExc_OverflowError);
    return n == -1 && PyErr_Occurred() ? NULL : s->sq_inplace_repeat(a, n);
}

INPLACE(PyNumber_InPlaceAdd, nb_inplace_add, add_or_concat)
INPLACE(PyNumber_InPlaceSubtract, nb_inplace_subtract, PyNumber_Subtract)
INPLACE(PyNumber_InPlaceMultiply, nb_inplace_multiply, multiply_or_repeat)
INPLACE(PyNumber_InPlaceAnd, nb_inplace_and, PyNumber_And)
INPLACE(PyNumber_InPlaceOr, nb_inplace_or, PyNumber_Or)
INPLACE(PyNumber_InPlaceXor, nb_inplace_xor, PyNumber_Xor)
INPLACE(PyNumber_InPlaceLshift, nb_inplace_lshift, PyNumber_Lshift)
INPLACE(PyNumber_InPlaceRshift, nb_inplace_rshift, PyNumber_Rshift)

#define UNARY(function, slot, name) \
    PyObject *function(PyObject *op) \
    { \
        unaryfunc f = SLOT(op, slot); \
        return f != NULL ? f(op) : PyErr_Format(PyExc_TypeError, "bad operand type for " name ": '%.200s'", Py_TYPE(op)->tp_name); \
    }
UNARY(PyNumber_Negative, nb_negative, "unary -")
UNARY(PyNumber_Positive, nb_positive, "unary +")
UNARY(PyNumber_Absolute, nb_absolute, "abs()")
UNARY(PyNumber_Invert, nb_invert, "unary ~")

static PyObject *must_be(PyObject *result, PyTypeObject *type, const char *name)
{
    if (result == NULL || PyObject_TypeCheck(result, type))
        return result;
    PyErr_Format(PyExc_TypeError, "%s returned non-%s (type %.200s)", name, type->tp_name, Py_TYPE(result)->tp_name);
    Py_DECREF(result);
    return NULL;
}

PyObject *PyNumber_Index(PyObject *op)
{
    if (op == NULL && !PyErr_Occurred())
        PyErr_BadInternalCall();
    if (op == NULL || PyLong_Check(op))
        return Py_XNewRef(op);
    if (!PyIndex_Check(op))
        return PyErr_Format(PyExc_TypeError, "'%.200s' object cannot be interpreted as an integer", Py_TYPE(op)->tp_name);
    return must_be(Py_TYPE(op)->tp_as_number->nb_index(op), &PyLong_Type, "__index__");
}

PyObject *PyNumber_Long(PyObject *op)
{
    if (SLOT(op, nb_int) != NULL)
        return must_be(SLOT(op, nb_int)(op), &PyLong_Type, "__int__");
    if (SLOT(op, nb_index) != NULL)
        return PyNumber_Index(op);
    if (PyUnicode_Check(op))
        return PyLong_FromUnicodeObject(op, 10);
    if (PyBytes_Check(op))
        return PyLong_FromString(PyBytes_AS_STRING(op), NULL, 10);
    return PyErr_Format(PyExc_TypeError, "int() argument must be a string, a bytes-like object or a real number, not '%.200s'",
                        Py_TYPE(op)->tp_name);
}

PyObject *PyNumber_Float(PyObject *op)
{
    if (PyFloat_CheckExact(op))
        return Py_NewRef(op);
    if (SLOT(op, nb_float) != NULL)
        return must_be(SLOT(op, nb_float)(op), &PyFloat_Type, "__float__");
    if (SLOT(op, nb_index) != NULL) {
        PyObject *i = PyNumber_Index(op);
        double x = i != NULL ? PyLong_AsDouble(i) : -1;
        Py_XDECREF(i);
        return PyErr_Occurred() ? NULL : PyFloat_FromDouble(x);
    }
    return PyFloat_FromString(op);
}

Py_ssize_t PyNumber_AsSsize_t(PyObject *op, PyObject *error)
{
    PyObject *i = PyNumber_Index(op);
    intptr_t n = -1;
    if (i == NULL)
        return -1;
    if (!py_long_fits(i, &n)) {
        if (error != NULL) {
            n = -1;
            PyErr_Format(error, "cannot fit '%.200s' into an index-sized integer", Py_TYPE(op)->tp_name);
        } else {
            n = _PyLong_Sign(i) < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX;
        }
    }
    Py_DECREF(i);
    return n;
}

int _Py_convert_optional_to_ssize_t(PyObject *op, void *result)
{
    Py_ssize_t n;
    if (op == Py_None)
        return 1;
    if (!PyIndex_Check(op)) {
        PyErr_Format(PyExc_TypeError, "argument should be integer or None, not %.200s", Py_TYPE(op)->tp_name);
        return 0;
    }
    n = PyNumber_AsSsize_t(op, PyExc_OverflowError);
    if (n == -1 && PyErr_Occurred())
        return 0;
    *(Py_ssize_t *)result = n;
    return 1;
}
