/* float.c - float. */
#include "internal.h"

#include <float.h>

PyObject *PyFloat_FromDouble(double n)
{
    PyObject *op = py_take_spare(PY_SPARE_FLOAT);
    if (op == NULL)
        op = _PyObject_New(&PyFloat_Type);
    if (op != NULL)
        ((PyFloatObject *)(void *)op)->ob_fval = n;
    return op;
}

double PyFloat_AsDouble(PyObject *op)
{
    PyObject *x;
    double n;
    if (op == NULL) {
        PyErr_BadArgument();
        return -1;
    }
    if (PyFloat_Check(op))
        return PyFloat_AS_DOUBLE(op);
    if (PyLong_Check(op))
        return PyLong_AsDouble(op);
    if (Py_TYPE(op)->tp_as_number == NULL
        || (Py_TYPE(op)->tp_as_number->nb_float == NULL && Py_TYPE(op)->tp_as_number->nb_index == NULL)) {
        PyErr_Format(PyExc_TypeError, "must be real number, not %.50s", Py_TYPE(op)->tp_name);
        return -1;
    }
    x = PyNumber_Float(op);
    if (x == NULL)
        return -1;
    n = PyFloat_AS_DOUBLE(x);
    Py_DECREF(x);
    return n;
}

double PyOS_string_to_double(const char *text, char **end, PyObject *overflow)
{
    char *stop;
    double n;
    errno = 0;
    n = isspace((unsigned char)*text) || strpbrk(text, "xX") != NULL ? (stop = (char *)(uintptr_t)text, 0) : strtod(text, &stop);
    if (stop == text || (end == NULL && *stop != '\0')) {
        PyErr_Format(PyExc_ValueError, "could not convert string to float: '%.200s'", text);
        return -1;
    }
    if (errno == ERANGE && fabs(n) >= 1 && overflow != NULL) {
        PyErr_Format(overflow, "value too large to convert to float: '%.200s'", text);
        return -1;
    }
    if (end != NULL)
        *end = stop;
    return n;
}

PyObject *PyFloat_FromString(PyObject *text)
{
    Py_ssize_t n;
    const char *utf8 = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &n)
                     : PyBytes_Check(text) ? (n = PyBytes_GET_SIZE(text), PyBytes_AS_STRING(text)) : NULL;
    const char *start = utf8, *stop;
    char *copy, *end;
    double x;
    if (utf8 == NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "float() argument must be a string or a real number, not '%.200s'",
                                                      Py_TYPE(text)->tp_name);
    for (stop = utf8 + n; start < stop && isspace((unsigned char)*start); start++)
        ;
    while (stop > start && isspace((unsigned char)stop[-1]))
        stop--;
    copy = PyMem_Malloc((size_t)(stop - start) + 1);
    if (copy == NULL)
        return PyErr_NoMemory();
    memcpy(copy, start, (size_t)(stop - start));
    copy[stop - start] = '\0';
    x = strlen(copy) == (size_t)(stop - start) ? PyOS_string_to_double(copy, NULL, NULL)
      : (PyErr_SetString(PyExc_ValueError, "could not convert string to float: a zero byte"), -1);
    (void)end;
    PyMem_Free(copy);
    return x == -1 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(x);
}

/* 'r': the shortest text that reads back as the same number. */
char *PyOS_double_to_string(double n, char code, int precision, int flags, int *type)
{
    size_t size = 400 + (size_t)(precision > 0 ? precision : 0);
    char *start = PyMem_Malloc(size + 1), *text = start, format[8];
    int digits;
    if (text == NULL)
        return (void *)PyErr_NoMemory();
    if (type != NULL)
        *type = isnan(n) ? Py_DTST_NAN : isinf(n) ? Py_DTST_INFINITE : Py_DTST_FINITE;
    if ((flags & Py_DTSF_SIGN) && !isnan(n) && !signbit(n))
        *text++ = '+';
    snprintf(format, sizeof format, "%%%s.*%c", flags & Py_DTSF_ALT ? "#" : "", code);
    if (isnan(n) || isinf(n)) {
        strcpy(text, isnan(n) ? "nan" : n > 0 ? "inf" : "-inf");
        for (digits = 0; isupper((unsigned char)code) && text[digits] != '\0'; digits++)
            text[digits] = (char)toupper((unsigned char)text[digits]);
        return start;
    }
    if (code != 'r') {
        snprintf(text, size, format, precision, n);
    } else {
        for (digits = 1; digits <= 17; digits++) {
            char *last;
            snprintf(text, 400, "%.*e", digits - 1, n);
            if (strtod(text, NULL) == n)
                break;
            last = strchr(text, 'e') - 1;               /* below a power of two numbers are nearer than above it */
            if (*last < '9' && (++*last, strtod(text, NULL) == n))
                break;
        }
        if (n == 0 || (fabs(n) < 1e16 && fabs(n) >= 1e-4)) {
            snprintf(text, 400, "%.*g", digits, n);
            if (strpbrk(text, "e") != NULL)
                snprintf(text, 400, "%.0f", n);
        }
        if (strchr(text, 'e') != NULL) {            /* as CPython: no zeros behind, two digits of exponent */
            char *e = strchr(text, 'e'), *last = e;
            while (strchr(text, '.') != NULL && (last[-1] == '0'))
                last--;
            if (last[-1] == '.')
                last--;
            memmove(last, e, strlen(e) + 1);
        }
    }
    if ((flags & Py_DTSF_ADD_DOT_0) && strpbrk(text, ".en") == NULL)
        strcat(text, ".0");
    return start;
}

static PyObject *repr(PyObject *op)
{
    char *text = PyOS_double_to_string(PyFloat_AS_DOUBLE(op), 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    PyObject *result = text != NULL ? PyUnicode_FromString(text) : NULL;
    PyMem_Free(text);
    return result;
}

/* ---- arithmetic ----------------------------------------------------------- */

/* 1; 0: it is no number; -1 after a failure. */
static int get(PyObject *op, double *x)
{
    if (PyFloat_Check(op)) {
        *x = PyFloat_AS_DOUBLE(op);
        return 1;
    }
    if (!PyLong_Check(op))
        return 0;
    *x = PyLong_AsDouble(op);
    return *x == -1 && PyErr_Occurred() ? -1 : 1;
}

#define GET_BOTH(a, b, x, y) \
    double x, y; \
    int got_a = get(a, &x), got_b = got_a == 1 ? get(b, &y) : 0; \
    if (got_a < 0 || got_b < 0) \
        return NULL; \
    if (got_a == 0 || got_b == 0) \
        Py_RETURN_NOTIMPLEMENTED

static PyObject *by_zero(void)
{
    PyErr_SetString(PyExc_ZeroDivisionError, "float division by zero");
    return NULL;
}

static double modulo(double x, double y)
{
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static PyObject *add(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return PyFloat_FromDouble(x + y); }
static PyObject *subtract(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return PyFloat_FromDouble(x - y); }
static PyObject *multiply(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return PyFloat_FromDouble(x * y); }
static PyObject *divide(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return y == 0 ? by_zero() : PyFloat_FromDouble(x / y); }
static PyObject *rest(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return y == 0 ? by_zero() : PyFloat_FromDouble(modulo(x, y)); }
static PyObject *floor_divide(PyObject *a, PyObject *b) { GET_BOTH(a, b, x, y); return y == 0 ? by_zero() : PyFloat_FromDouble(floor(x / y)); }
static PyObject *power(PyObject *a, PyObject *b, PyObject *c) { GET_BOTH(a, b, x, y); (void)c; return PyFloat_FromDouble(pow(x, y)); }
static PyObject *negative(PyObject *op) { return PyFloat_FromDouble(-PyFloat_AS_DOUBLE(op)); }
static PyObject *positive(PyObject *op) { return PyFloat_FromDouble(PyFloat_AS_DOUBLE(op)); }
static PyObject *absolute(PyObject *op) { return PyFloat_FromDouble(fabs(PyFloat_AS_DOUBLE(op))); }
static int is_true(PyObject *op) { return PyFloat_AS_DOUBLE(op) != 0; }
static PyObject *as_int(PyObject *op) { return PyLong_FromDouble(PyFloat_AS_DOUBLE(op)); }

static PyNumberMethods as_number = {
    .nb_add = add, .nb_subtract = subtract, .nb_multiply = multiply, .nb_remainder = rest, .nb_power = power,
    .nb_negative = negative, .nb_positive = positive, .nb_absolute = absolute, .nb_bool = is_true,
    .nb_int = as_int, .nb_float = positive, .nb_floor_divide = floor_divide, .nb_true_divide = divide
};

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    double x = PyFloat_AS_DOUBLE(a), y;
    intptr_t whole;
    int order;
    if (PyFloat_Check(b)) {
        y = PyFloat_AS_DOUBLE(b);
        Py_RETURN_RICHCOMPARE(x, y, op);
    }
    if (!PyLong_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    if (isnan(x))
        return PyBool_FromLong(op == Py_NE);
    order = py_long_fits(b, &whole) ? -cvm_compare_whole(whole, x)
          : isinf(x) ? (x > 0 ? 1 : -1) : 2;
    if (order == 2) {                   /* a big number: compare it with the whole part */
        PyObject *i = PyLong_FromDouble(x), *result = i != NULL ? PyObject_RichCompare(i, b, op) : NULL;
        Py_XDECREF(i);
        return result;
    }
    Py_RETURN_RICHCOMPARE(order, 0, op);
}

static Py_hash_t hash(PyObject *op)
{
    double x = PyFloat_AS_DOUBLE(op);
    PyObject *i;
    Py_hash_t h;
    union { double x; uint64_t bits; } u;

    if (isnan(x))
        return _Py_HashPointer(op);
    if (isinf(x))
        return x > 0 ? 314159 : -314159;
    if (floor(x) == x && (i = PyLong_FromDouble(x)) != NULL) {
        h = PyObject_Hash(i);
        Py_DECREF(i);
        return h;
    }
    u.x = x;
    h = (Py_hash_t)(u.bits * 0x9e3779b97f4a7c15u >> 3);
    return h == -1 ? -2 : h;
}

/* ---- as bytes --------------------------------------------------------------- */

double PyFloat_GetMax(void) { return DBL_MAX; }
double PyFloat_GetMin(void) { return DBL_MIN; }

static void put_bytes(uint64_t bits, char *p, int n, int little)
{
    int i;
    for (i = 0; i < n; i++)
        p[i] = (char)(bits >> 8 * (little ? i : n - 1 - i));
}

static uint64_t get_bytes(const char *p, int n, int little)
{
    uint64_t bits = 0;
    int i;
    for (i = 0; i < n; i++)
        bits |= (uint64_t)(unsigned char)p[i] << 8 * (little ? i : n - 1 - i);
    return bits;
}

static int too_large(char format)
{
    PyErr_Format(PyExc_OverflowError, "float too large to pack with %c format", format);
    return -1;
}

/* A sign, 5 bits of exponent, 10 of the fraction. */
int PyFloat_Pack2(double x, char *p, int little)
{
    double m = fabs(x);
    uint64_t bits = isnan(x) ? 0x7e00 : 0x7c00;
    int e;
    if (isfinite(x)) {
        e = m > 0 ? Py_MAX(ilogb(m), -14) : -14;
        if (e > 15)
            return too_large('e');
        bits = ((uint64_t)(e + 14) << 10) + (uint64_t)nearbyint(ldexp(m, 10 - e));      /* the leading digit adds 1 to the exponent */
        if (bits >= 0x7c00)
            return too_large('e');
    }
    put_bytes(bits | (signbit(x) ? 0x8000 : 0), p, 2, little);
    return 0;
}

int PyFloat_Pack4(double x, char *p, int little)
{
    union { float x; uint32_t bits; } u;
    u.x = (float)x;
    if (isinf(u.x) && !isinf(x))
        return too_large('f');
    put_bytes(u.bits, p, 4, little);
    return 0;
}

int PyFloat_Pack8(double x, char *p, int little)
{
    union { double x; uint64_t bits; } u;
    u.x = x;
    put_bytes(u.bits, p, 8, little);
    return 0;
}

double PyFloat_Unpack2(const char *p, int little)
{
    uint64_t bits = get_bytes(p, 2, little);
    int e = (int)(bits >> 10 & 31), m = (int)(bits & 1023);
    double x = e == 31 ? m != 0 ? (double)NAN : (double)INFINITY : ldexp(e != 0 ? m + 1024 : m, (e != 0 ? e : 1) - 25);
    return bits >> 15 ? -x : x;
}

double PyFloat_Unpack4(const char *p, int little)
{
    union { float x; uint32_t bits; } u;
    u.bits = (uint32_t)get_bytes(p, 4, little);
    return (double)u.x;
}

double PyFloat_Unpack8(const char *p, int little)
{
    union { double x; uint64_t bits; } u;
    u.bits = get_bytes(p, 8, little);
    return u.x;
}

/* ---- the type ---------------------------------------------------------------- */

static PyObject *float_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *x = NULL, *value, *op;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "|O:float", &x))
        return NULL;
    value = x == NULL ? PyFloat_FromDouble(0) : PyUnicode_CheckExact(x) ? PyFloat_FromString(x) : PyNumber_Float(x);
    if (value == NULL || type == &PyFloat_Type)
        return value;
    op = type->tp_alloc(type, 0);
    if (op != NULL)
        ((PyFloatObject *)(void *)op)->ob_fval = PyFloat_AS_DOUBLE(value);
    Py_DECREF(value);
    return op;
}

static PyObject *is_integer(PyObject *op, PyObject *none)
{
    double x = PyFloat_AS_DOUBLE(op);
    (void)none;
    return PyBool_FromLong(isfinite(x) && floor(x) == x);
}

static PyObject *as_integer_ratio(PyObject *op, PyObject *none)
{
    PyObject *one, *ratio = NULL, *parts[2] = { NULL, NULL }, *shift;
    double x = PyFloat_AS_DOUBLE(op);
    int exponent, shifted;
    (void)none;
    if (isinf(x))
        return PyErr_Format(PyExc_OverflowError, "cannot convert Infinity to integer ratio");
    if (isnan(x))
        return PyErr_Format(PyExc_ValueError, "cannot convert NaN to integer ratio");
    for (x = frexp(x, &exponent); x != floor(x); exponent--)
        x *= 2;
    one = PyLong_FromLong(1);
    parts[0] = PyLong_FromDouble(x);
    parts[1] = Py_XNewRef(one);
    shift = PyLong_FromLong(abs(exponent));
    shifted = exponent < 0;
    if (parts[0] != NULL && parts[1] != NULL && shift != NULL) {
        Py_SETREF(parts[shifted], PyNumber_Lshift(parts[shifted], shift));
        if (parts[shifted] != NULL)
            ratio = PyTuple_Pack(2, parts[0], parts[1]);
    }
    Py_XDECREF(shift);
    Py_XDECREF(one);
    Py_XDECREF(parts[0]);
    Py_XDECREF(parts[1]);
    return ratio;
}

static PyObject *real(PyObject *op, void *none) { (void)none; return PyNumber_Positive(op); }
static PyObject *imaginary(PyObject *op, void *none) { (void)op, (void)none; return PyFloat_FromDouble(0); }
static PyObject *conjugate(PyObject *op, PyObject *none) { return real(op, none); }
static PyGetSetDef parts[] = {
    { "real", real, NULL, NULL, NULL }, { "imag", imaginary, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};

static PyMethodDef methods[] = {
    { "conjugate", conjugate, METH_NOARGS, NULL },
    { "__format__", py_format_spec, METH_O, NULL }, { "is_integer", is_integer, METH_NOARGS, NULL },
    { "as_integer_ratio", as_integer_ratio, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};

PyTypeObject PyFloat_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "float", .tp_basicsize = sizeof(PyFloatObject),
    .tp_repr = repr, .tp_as_number = &as_number, .tp_hash = hash, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_richcompare = richcompare, .tp_methods = methods, .tp_getset = parts, .tp_new = float_new
};
