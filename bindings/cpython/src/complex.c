/* complex.c - complex. The language sees proxies. */
#include "internal.h"

#include <complex.h>
#undef I

#define Z(op) (((PyComplexObject *)(void *)(op))->cval)

/* C's complex numbers have the same layout. */
static double complex to_c(Py_complex z) { double complex c; memcpy(&c, &z, sizeof c); return c; }
static PyObject *from_c(double complex c) { Py_complex z; memcpy(&z, &c, sizeof z); return PyComplex_FromCComplex(z); }

PyObject *PyComplex_FromCComplex(Py_complex z)
{
    PyObject *op = _PyObject_New(&PyComplex_Type);
    if (op != NULL)
        Z(op) = z;
    return op;
}

PyObject *PyComplex_FromDoubles(double real, double imag)
{
    Py_complex z = { real, imag };
    return PyComplex_FromCComplex(z);
}

double PyComplex_RealAsDouble(PyObject *op) { return PyComplex_Check(op) ? Z(op).real : PyFloat_AsDouble(op); }
double PyComplex_ImagAsDouble(PyObject *op) { return PyComplex_Check(op) ? Z(op).imag : 0; }

/* A complex number, what __complex__ gives, or a real number. real is -1 after a failure. */
Py_complex PyComplex_AsCComplex(PyObject *op)
{
    Py_complex z = { -1, 0 };
    PyObject *method, *result;
    if (PyComplex_Check(op))
        return Z(op);
    method = py_lookup_special(op, "__complex__");
    if (method == NULL) {
        if (!PyErr_Occurred())
            z.real = PyFloat_AsDouble(op);
        return z;
    }
    result = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (result != NULL && PyComplex_Check(result))
        z = Z(result);
    else if (result != NULL)
        PyErr_Format(PyExc_TypeError, "__complex__ returned non-complex (type %.200s)", Py_TYPE(result)->tp_name);
    Py_XDECREF(result);
    return z;
}

/* ---- arithmetic: with one another and with real numbers -------------------------- */

/* 1; 0: it is no number; -1 after a failure. */
static int get(PyObject *op, double complex *z)
{
    double x;
    if (PyComplex_Check(op)) {
        *z = to_c(Z(op));
        return 1;
    }
    if (!PyFloat_Check(op) && !PyLong_Check(op))
        return 0;
    x = PyFloat_AsDouble(op);
    *z = x;
    return x == -1 && PyErr_Occurred() ? -1 : 1;
}

#define GET_BOTH(a, b, x, y) \
    double complex x, y; \
    int got_a = get(a, &x), got_b = got_a == 1 ? get(b, &y) : 0; \
    if (got_a < 0 || got_b < 0) \
        return NULL; \
    if (got_a == 0 || got_b == 0) \
        Py_RETURN_NOTIMPLEMENTED

static PyObject *add(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return from_c(x + y); }
static PyObject *subtract(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return from_c(x - y); }
static PyObject *multiply(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return from_c(x * y); }

static PyObject *divide(PyObject *a, PyObject *b)
{
    GET_BOTH(a, b, x, y);
    return y == 0 ? PyErr_Format(PyExc_ZeroDivisionError, "complex division by zero") : from_c(x / y);
}

/* x to the nth power, exactly where that is possible. */
static double complex whole_power(double complex x, int n)
{
    double complex result = 1;
    for (; n > 0; n /= 2, x *= x)
        if (n % 2 != 0)
            result *= x;
    return result;
}

/* ---- without objects --------------------------------------------------------------- */

static Py_complex to_py(double complex c) { Py_complex z; memcpy(&z, &c, sizeof z); return z; }

Py_complex _Py_c_sum(Py_complex a, Py_complex b) { return to_py(to_c(a) + to_c(b)); }
Py_complex _Py_c_diff(Py_complex a, Py_complex b) { return to_py(to_c(a) - to_c(b)); }
Py_complex _Py_c_neg(Py_complex z) { return to_py(-to_c(z)); }
Py_complex _Py_c_prod(Py_complex a, Py_complex b) { return to_py(to_c(a) * to_c(b)); }

Py_complex _Py_c_quot(Py_complex a, Py_complex b)
{
    if (b.real != 0 || b.imag != 0)
        return to_py(to_c(a) / to_c(b));
    errno = EDOM;
    return to_py(0);
}

Py_complex _Py_c_pow(Py_complex a, Py_complex b)
{
    if (b.real == 0 && b.imag == 0)
        return to_py(1);
    if (a.real != 0 || a.imag != 0)
        return to_py(cpow(to_c(a), to_c(b)));
    if (b.imag != 0 || b.real < 0)
        errno = EDOM;
    return to_py(0);
}

double _Py_c_abs(Py_complex z)
{
    double size = hypot(z.real, z.imag);
    errno = isfinite(z.real) && isfinite(z.imag) && !isfinite(size) ? ERANGE : 0;
    return size;
}

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus)
{
    GET_BOTH(a, b, x, y);
    if (modulus != Py_None)
        return PyErr_Format(PyExc_ValueError, "complex modulo");
    if (y == 0)
        return PyComplex_FromDoubles(1, 0);
    if (x == 0)
        return cimag(y) != 0 || creal(y) < 0 ? PyErr_Format(PyExc_ZeroDivisionError, "0.0 to a negative or complex power") : PyComplex_FromDoubles(0, 0);
    if (cimag(y) == 0 && floor(creal(y)) == creal(y) && fabs(creal(y)) <= 100)
        return from_c(creal(y) > 0 ? whole_power(x, (int)creal(y)) : 1 / whole_power(x, (int)-creal(y)));
    return from_c(cpow(x, y));
}

static PyObject *negative(PyObject *op) { return PyComplex_FromDoubles(-Z(op).real, -Z(op).imag); }
static PyObject *positive(PyObject *op) { return PyComplex_FromCComplex(Z(op)); }
static PyObject *absolute(PyObject *op) { return PyFloat_FromDouble(hypot(Z(op).real, Z(op).imag)); }
static int is_true(PyObject *op) { return Z(op).real != 0 || Z(op).imag != 0; }

static PyNumberMethods as_number = {
    .nb_add = add, .nb_subtract = subtract, .nb_multiply = multiply, .nb_power = power, .nb_negative = negative,
    .nb_positive = positive, .nb_absolute = absolute, .nb_bool = is_true, .nb_true_divide = divide
};

/* ---- the type ---------------------------------------------------------------------- */

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    PyObject *real, *result;
    if (op != Py_EQ && op != Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    if (PyComplex_Check(b))
        return PyBool_FromLong((Z(a).real == Z(b).real && Z(a).imag == Z(b).imag) == (op == Py_EQ));
    if (!PyFloat_Check(b) && !PyLong_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    if (Z(a).imag != 0)
        return PyBool_FromLong(op == Py_NE);
    real = PyFloat_FromDouble(Z(a).real);
    result = real != NULL ? PyObject_RichCompare(real, b, op) : NULL;
    Py_XDECREF(real);
    return result;
}

/* That of a real number that is equal. */
static Py_hash_t hash(PyObject *op)
{
    PyObject *real = PyFloat_FromDouble(Z(op).real), *imag = PyFloat_FromDouble(Z(op).imag);
    Py_hash_t h = real != NULL && imag != NULL ? PyObject_Hash(real) : -1, other = h != -1 ? PyObject_Hash(imag) : -1;
    Py_XDECREF(real);
    Py_XDECREF(imag);
    if (h == -1 || other == -1)
        return -1;
    if (Z(op).imag != 0)
        h = (Py_hash_t)((Py_uhash_t)h + 1000003u * (Py_uhash_t)other);
    return h == -1 ? -2 : h;
}

static PyObject *repr(PyObject *op)
{
    char *real = PyOS_double_to_string(Z(op).real, 'r', 0, 0, NULL), *imag = PyOS_double_to_string(Z(op).imag, 'r', 0, 0, NULL);
    PyObject *text = NULL;
    if (real != NULL && imag != NULL)
        text = Z(op).real == 0 && !signbit(Z(op).real) ? PyUnicode_FromFormat("%sj", imag)
             : PyUnicode_FromFormat("(%s%s%sj)", real, *imag == '-' ? "" : "+", imag);
    PyMem_Free(real);
    PyMem_Free(imag);
    return text;
}

static PyObject *complex_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "real", "imag", NULL };
    Py_complex x = { 0, 0 }, y = { 0, 0 };
    PyObject *op;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|DD:complex", names, &x, &y))
        return NULL;
    op = type->tp_alloc(type, 0);
    if (op != NULL) {
        Z(op).real = x.real - y.imag;
        Z(op).imag = x.imag + y.real;
    }
    return op;
}

static PyObject *conjugate(PyObject *op, PyObject *none)
{
    (void)none;
    return PyComplex_FromDoubles(Z(op).real, -Z(op).imag);
}

static PyMethodDef methods[] = { { "conjugate", conjugate, METH_NOARGS, NULL }, { "__format__", py_format_spec, METH_O, NULL }, { NULL, NULL, 0, NULL } };
static PyMemberDef members[] = {
    { "real", T_DOUBLE, offsetof(PyComplexObject, cval.real), READONLY, NULL },
    { "imag", T_DOUBLE, offsetof(PyComplexObject, cval.imag), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};

PyTypeObject PyComplex_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "complex", .tp_basicsize = sizeof(PyComplexObject), .tp_repr = repr,
    .tp_as_number = &as_number, .tp_hash = hash, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_richcompare = richcompare, .tp_methods = methods, .tp_members = members, .tp_new = complex_new
};
