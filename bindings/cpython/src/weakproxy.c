/* weakproxy.c - weak proxies: a weak reference by which one works with its object as if it were the object. */
#include "internal.h"

/* The object of a proxy, and anything else itself: new. NULL: it has gone, and there is a ReferenceError. */
static PyObject *behind(PyObject *op)
{
    PyObject *to = PyWeakref_CheckProxy(op) ? PyWeakref_GetObject(op) : op;
    if (to == Py_None && to != op)
        return PyErr_Format(PyExc_ReferenceError, "weakly-referenced object no longer exists");
    return Py_NewRef(to);
}

/* A slot: what FUNCTION gives for the objects behind. */
#define UNARY(name, function) \
    static PyObject *name(PyObject *op) \
    { \
        PyObject *x = behind(op), *result = x != NULL ? function(x) : NULL; \
        Py_XDECREF(x); \
        return result; \
    }

#define BINARY(name, function) \
    static PyObject *name(PyObject *a, PyObject *b) \
    { \
        PyObject *x = behind(a), *y = x != NULL ? behind(b) : NULL, *result = y != NULL ? function(x, y) : NULL; \
        Py_XDECREF(x); \
        Py_XDECREF(y); \
        return result; \
    }

#define TERNARY(name, function) \
    static PyObject *name(PyObject *a, PyObject *b, PyObject *c) \
    { \
        PyObject *x = behind(a), *y = x != NULL ? behind(b) : NULL, *z = y != NULL ? behind(c) : NULL; \
        PyObject *result = z != NULL ? function(x, y, z) : NULL; \
        Py_XDECREF(x); \
        Py_XDECREF(y); \
        Py_XDECREF(z); \
        return result; \
    }

#define NUMBER(name, function, type) \
    static type name(PyObject *op) \
    { \
        PyObject *x = behind(op); \
        type result = x != NULL ? function(x) : -1; \
        Py_XDECREF(x); \
        return result; \
    }

UNARY(str, PyObject_Str)
UNARY(next, PyIter_Next)
UNARY(negative, PyNumber_Negative)
UNARY(positive, PyNumber_Positive)
UNARY(absolute, PyNumber_Absolute)
UNARY(invert, PyNumber_Invert)
UNARY(as_int, PyNumber_Long)
UNARY(as_float, PyNumber_Float)
UNARY(as_index, PyNumber_Index)
UNARY(iter, PyObject_GetIter)
BINARY(getattro, PyObject_GetAttr)
BINARY(add, PyNumber_Add)
BINARY(subtract, PyNumber_Subtract)
BINARY(multiply, PyNumber_Multiply)
BINARY(remainder_of, PyNumber_Remainder)
BINARY(divmod_of, PyNumber_Divmod)
BINARY(lshift, PyNumber_Lshift)
BINARY(rshift, PyNumber_Rshift)
BINARY(and_of, PyNumber_And)
BINARY(xor_of, PyNumber_Xor)
BINARY(or_of, PyNumber_Or)
BINARY(floor_divide, PyNumber_FloorDivide)
BINARY(true_divide, PyNumber_TrueDivide)
BINARY(matrix_multiply, PyNumber_MatrixMultiply)
BINARY(add_in_place, PyNumber_InPlaceAdd)
BINARY(subtract_in_place, PyNumber_InPlaceSubtract)
BINARY(multiply_in_place, PyNumber_InPlaceMultiply)
BINARY(remainder_in_place, PyNumber_InPlaceRemainder)
BINARY(lshift_in_place, PyNumber_InPlaceLshift)
BINARY(rshift_in_place, PyNumber_InPlaceRshift)
BINARY(and_in_place, PyNumber_InPlaceAnd)
BINARY(xor_in_place, PyNumber_InPlaceXor)
BINARY(or_in_place, PyNumber_InPlaceOr)
BINARY(floor_divide_in_place, PyNumber_InPlaceFloorDivide)
BINARY(true_divide_in_place, PyNumber_InPlaceTrueDivide)
BINARY(matrix_multiply_in_place, PyNumber_InPlaceMatrixMultiply)
BINARY(subscript, PyObject_GetItem)
TERNARY(power, PyNumber_Power)
TERNARY(power_in_place, PyNumber_InPlacePower)
NUMBER(is_true, PyObject_IsTrue, int)
NUMBER(length, PyObject_Size, Py_ssize_t)

static PyObject *call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *x = behind(op), *result = x != NULL ? PyObject_Call(x, args, kwargs) : NULL;
    Py_XDECREF(x);
    return result;
}

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    PyObject *x = behind(a), *y = x != NULL ? behind(b) : NULL, *result = y != NULL ? PyObject_RichCompare(x, y, op) : NULL;
    Py_XDECREF(x);
    Py_XDECREF(y);
    return result;
}

static int setattro(PyObject *op, PyObject *name, PyObject *value)
{
    PyObject *x = behind(op);
    int result = x != NULL ? PyObject_SetAttr(x, name, value) : -1;
    Py_XDECREF(x);
    return result;
}

static int ass_subscript(PyObject *op, PyObject *key, PyObject *value)
{
    PyObject *x = behind(op);
    int result = x == NULL ? -1 : value != NULL ? PyObject_SetItem(x, key, value) : PyObject_DelItem(x, key);
    Py_XDECREF(x);
    return result;
}

static int contains(PyObject *op, PyObject *part)
{
    PyObject *x = behind(op);
    int result = x != NULL ? PySequence_Contains(x, part) : -1;
    Py_XDECREF(x);
    return result;
}

static PyObject *repr(PyObject *op)
{
    PyObject *to = PyWeakref_GetObject(op);
    return PyUnicode_FromFormat("<weakproxy at %p to %s at %p>", (void *)op, Py_TYPE(to)->tp_name, (void *)to);
}

static PyObject *as_bytes(PyObject *op, PyObject *none)
{
    PyObject *x = behind(op), *result = x != NULL ? PyObject_Bytes(x) : NULL;
    (void)none;
    Py_XDECREF(x);
    return result;
}

static PyObject *reversed(PyObject *op, PyObject *none)
{
    PyObject *x = behind(op), *result = x != NULL ? PyObject_CallMethod(x, "__reversed__", NULL) : NULL;
    (void)none;
    Py_XDECREF(x);
    return result;
}

static PyMethodDef methods[] = {
    { "__bytes__", as_bytes, METH_NOARGS, NULL }, { "__reversed__", reversed, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyNumberMethods as_number = {
    .nb_add = add, .nb_subtract = subtract, .nb_multiply = multiply, .nb_remainder = remainder_of, .nb_divmod = divmod_of, .nb_power = power,
    .nb_negative = negative, .nb_positive = positive, .nb_absolute = absolute, .nb_bool = is_true, .nb_invert = invert, .nb_lshift = lshift,
    .nb_rshift = rshift, .nb_and = and_of, .nb_xor = xor_of, .nb_or = or_of, .nb_int = as_int, .nb_float = as_float,
    .nb_inplace_add = add_in_place, .nb_inplace_subtract = subtract_in_place, .nb_inplace_multiply = multiply_in_place,
    .nb_inplace_remainder = remainder_in_place, .nb_inplace_power = power_in_place, .nb_inplace_lshift = lshift_in_place,
    .nb_inplace_rshift = rshift_in_place, .nb_inplace_and = and_in_place, .nb_inplace_xor = xor_in_place, .nb_inplace_or = or_in_place,
    .nb_floor_divide = floor_divide, .nb_true_divide = true_divide, .nb_inplace_floor_divide = floor_divide_in_place,
    .nb_inplace_true_divide = true_divide_in_place, .nb_index = as_index, .nb_matrix_multiply = matrix_multiply,
    .nb_inplace_matrix_multiply = matrix_multiply_in_place
};
static PySequenceMethods as_sequence = { .sq_contains = contains };
static PyMappingMethods as_mapping = { .mp_length = length, .mp_subscript = subscript, .mp_ass_subscript = ass_subscript };

#define PROXY(name) \
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = name, .tp_basicsize = sizeof(PyWeakReference), .tp_dealloc = py_ref_dealloc, \
    .tp_repr = repr, .tp_str = str, .tp_hash = PyObject_HashNotImplemented, .tp_getattro = getattro, .tp_setattro = setattro, \
    .tp_as_number = &as_number, .tp_as_sequence = &as_sequence, .tp_as_mapping = &as_mapping, .tp_methods = methods, \
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = py_ref_traverse, .tp_clear = py_ref_clear, \
    .tp_richcompare = richcompare, .tp_iter = iter, .tp_iternext = next, .tp_free = PyObject_GC_Del

PyTypeObject _PyWeakref_ProxyType = { PROXY("weakref.ProxyType") };
PyTypeObject _PyWeakref_CallableProxyType = { PROXY("weakref.CallableProxyType"), .tp_call = call };
