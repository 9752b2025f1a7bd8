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

/* a changes in place, if it can; otherwise it is added, and so on, as without the "=". */
static PyObject *try_in_place(PyObject *a, PyObject *b, binaryfunc in_place, binaryfunc f, binaryfunc g)
{
    PyObject *result = in_place != NULL ? in_place(a, b) : Py_NewRef(Py_NotImplemented);
    if (result != Py_NotImplemented)
        return result;
    Py_DECREF(result);
    return try_both(a, b, f, g);
}

#define BINARY(function, slot, name) \
    PyObject *function(PyObject *a, PyObject *b) \
    { \
        return refuse(a, b, try_both(a, b, SLOT(a, slot), SLOT(b, slot)), name); \
    }
#define INPLACE(function, slot, in_place, name) \
    PyObject *function(PyObject *a, PyObject *b) \
    { \
        return refuse(a, b, try_in_place(a, b, SLOT(a, in_place), SLOT(a, slot), SLOT(b, slot)), name); \
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
BINARY(PyNumber_MatrixMultiply, nb_matrix_multiply, "@")
INPLACE(PyNumber_InPlaceSubtract, nb_subtract, nb_inplace_subtract, "-=")
INPLACE(PyNumber_InPlaceFloorDivide, nb_floor_divide, nb_inplace_floor_divide, "//=")
INPLACE(PyNumber_InPlaceTrueDivide, nb_true_divide, nb_inplace_true_divide, "/=")
INPLACE(PyNumber_InPlaceRemainder, nb_remainder, nb_inplace_remainder, "%=")
INPLACE(PyNumber_InPlaceLshift, nb_lshift, nb_inplace_lshift, "<<=")
INPLACE(PyNumber_InPlaceRshift, nb_rshift, nb_inplace_rshift, ">>=")
INPLACE(PyNumber_InPlaceAnd, nb_and, nb_inplace_and, "&=")
INPLACE(PyNumber_InPlaceXor, nb_xor, nb_inplace_xor, "^=")
INPLACE(PyNumber_InPlaceOr, nb_or, nb_inplace_or, "|=")
INPLACE(PyNumber_InPlaceMatrixMultiply, nb_matrix_multiply, nb_inplace_matrix_multiply, "@=")

/* What numbers cannot do, a sequence may be able to. */
static PyObject *add(PyObject *a, PyObject *b, PyObject *result, int in_place, const char *name)
{
    const PySequenceMethods *s = Py_TYPE(a)->tp_as_sequence;
    binaryfunc concat = s == NULL ? NULL : in_place && s->sq_inplace_concat != NULL ? s->sq_inplace_concat : s->sq_concat;
    if (result != Py_NotImplemented || concat == NULL)
        return refuse(a, b, result, name);
    Py_DECREF(result);
    return concat(a, b);
}

PyObject *PyNumber_Add(PyObject *a, PyObject *b)
{
    return add(a, b, try_both(a, b, SLOT(a, nb_add), SLOT(b, nb_add)), 0, "+");
}

PyObject *PyNumber_InPlaceAdd(PyObject *a, PyObject *b)
{
    return add(a, b, try_in_place(a, b, SLOT(a, nb_inplace_add), SLOT(a, nb_add), SLOT(b, nb_add)), 1, "+=");
}

/* sequence * times, or times * sequence. */
static PyObject *multiply(PyObject *a, PyObject *b, PyObject *result, int in_place, const char *name)
{
    const PySequenceMethods *s = Py_TYPE(a)->tp_as_sequence, *t = Py_TYPE(b)->tp_as_sequence;
    ssizeargfunc repeat = s == NULL ? NULL : in_place && s->sq_inplace_repeat != NULL ? s->sq_inplace_repeat : s->sq_repeat;
    PyObject *sequence = a, *times = b;
    Py_ssize_t n;
    if (repeat == NULL && t != NULL && t->sq_repeat != NULL) {
        repeat = t->sq_repeat;
        sequence = b;
        times = a;
    }
    if (result != Py_NotImplemented || repeat == NULL)
        return refuse(a, b, result, name);
    Py_DECREF(result);
    if (!PyIndex_Check(times))
        return PyErr_Format(PyExc_TypeError, "can't multiply sequence by non-int of type '%.200s'", Py_TYPE(times)->tp_name);
    n = PyNumber_AsSsize_t(times, PyExc_OverflowError);
    return n == -1 && PyErr_Occurred() ? NULL : repeat(sequence, n);
}

PyObject *PyNumber_Multiply(PyObject *a, PyObject *b)
{
    return multiply(a, b, try_both(a, b, SLOT(a, nb_multiply), SLOT(b, nb_multiply)), 0, "*");
}

PyObject *PyNumber_InPlaceMultiply(PyObject *a, PyObject *b)
{
    return multiply(a, b, try_in_place(a, b, SLOT(a, nb_inplace_multiply), SLOT(a, nb_multiply), SLOT(b, nb_multiply)), 1, "*=");
}

/* As try_both; at last the slot of the modulus. */
static PyObject *try_power(PyObject *a, PyObject *b, PyObject *modulus)
{
    ternaryfunc slots[3] = { SLOT(a, nb_power), SLOT(b, nb_power), SLOT(modulus, nb_power) };
    PyObject *result = Py_NewRef(Py_NotImplemented);
    int i;
    if (slots[1] == slots[0])
        slots[1] = NULL;
    if (slots[2] == slots[0] || slots[2] == slots[1])
        slots[2] = NULL;
    if (slots[0] != NULL && slots[1] != NULL && PyType_IsSubtype(Py_TYPE(b), Py_TYPE(a))) {
        ternaryfunc first = slots[1];
        slots[1] = slots[0];
        slots[0] = first;
    }
    for (i = 0; i < 3 && result == Py_NotImplemented; i++)
        if (slots[i] != NULL)
            Py_SETREF(result, slots[i](a, b, modulus));
    return result;
}

static PyObject *refuse_power(PyObject *a, PyObject *b, PyObject *modulus, PyObject *result, const char *name)
{
    if (result != Py_NotImplemented || modulus == Py_None)
        return refuse(a, b, result, name);
    Py_DECREF(result);
    return PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for %s: '%.100s', '%.100s', '%.100s'", name, Py_TYPE(a)->tp_name,
                        Py_TYPE(b)->tp_name, Py_TYPE(modulus)->tp_name);
}

PyObject *PyNumber_Power(PyObject *a, PyObject *b, PyObject *modulus)
{
    return refuse_power(a, b, modulus, try_power(a, b, modulus), "** or pow()");
}

PyObject *PyNumber_InPlacePower(PyObject *a, PyObject *b, PyObject *modulus)
{
    ternaryfunc in_place = SLOT(a, nb_inplace_power);
    PyObject *result = in_place != NULL ? in_place(a, b, modulus) : Py_NewRef(Py_NotImplemented);
    if (result == Py_NotImplemented)
        Py_SETREF(result, try_power(a, b, modulus));
    return refuse_power(a, b, modulus, result, "**=");
}

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

/* The text of an int in base 2, 8, 10 or 16, with 0b and so on. */
PyObject *PyNumber_ToBase(PyObject *op, int base)
{
    PyObject *i, *text = NULL;
    if (base != 2 && base != 8 && base != 10 && base != 16)
        return PyErr_Format(PyExc_SystemError, "PyNumber_ToBase: base must be 2, 8, 10 or 16");
    i = PyNumber_Index(op);
    if (i != NULL)
        text = base == 10 ? PyLong_Type.tp_repr(i) : py_long_in_base(i, base, 1);
    Py_XDECREF(i);
    return text;
}
