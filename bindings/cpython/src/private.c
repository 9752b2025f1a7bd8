/* private.c - what CPython's own modules use of its private headers. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE             /* for getrandom and F_DUPFD_CLOEXEC */
#endif
#include "internal.h"

#include <fcntl.h>
#include <sys/random.h>

/* ---- objects, calls --------------------------------------------------------- */

PyLongObject _Py_Zero = { PyVarObject_HEAD_INIT(&PyLong_Type, 0) { 0 } }, _Py_One = { PyVarObject_HEAD_INIT(&PyLong_Type, 1) { 1 } };

/* (Those who ask for it cannot do without.) */
PyObject *_Py_Interned(const char *text)
{
    PyObject *op = py_str(text);
    if (op == NULL)
        Py_FatalError("no memory for a name");
    return op;
}

PyObject *_PyObject_MakeTpCall(PyThreadState *state, PyObject *f, PyObject *const *args, Py_ssize_t n, PyObject *kwargs)
{
    (void)state;
    return kwargs == NULL || PyDict_Check(kwargs) ? PyObject_VectorcallDict(f, args, (size_t)n, kwargs)
                                                  : PyObject_Vectorcall(f, args, (size_t)n, kwargs);
}

PyObject *_PyObject_LookupSpecial(PyObject *op, PyObject *name)
{
    return py_lookup_special(op, PyUnicode_AsUTF8(name));
}

int _PyObject_IsAbstract(PyObject *op)
{
    PyObject *is;
    int code = _PyObject_LookupAttr(op, _Py_Interned("__isabstractmethod__"), &is);
    if (code > 0) {
        code = PyObject_IsTrue(is);
        Py_DECREF(is);
    }
    return code;
}

PyObject *_PyEval_GetBuiltin(PyObject *name)
{
    PyObject *op = PyDict_GetItemWithError(PyEval_GetBuiltins(), name);
    if (op == NULL && !PyErr_Occurred())
        PyErr_SetObject(PyExc_AttributeError, name);
    return Py_XNewRef(op);
}

/* ---- containers ------------------------------------------------------------- */

int _PyDict_Next(PyObject *op, Py_ssize_t *i, PyObject **key, PyObject **value, Py_hash_t *hash)
{
    PyObject *k;
    int found = PyDict_Next(op, i, &k, value);
    if (found) {
        *hash = PyObject_Hash(k);
        if (key != NULL)
            *key = k;
    }
    return found;
}

PyObject *_PyTuple_FromArray(PyObject *const *items, Py_ssize_t n)
{
    PyObject *op = PyTuple_New(n);
    Py_ssize_t i;
    for (i = 0; op != NULL && i < n; i++)
        PyTuple_SET_ITEM(op, i, Py_NewRef(items[i]));
    return op;
}

int _PyEval_SliceIndexNotNone(PyObject *op, Py_ssize_t *i)
{
    if (PyIndex_Check(op))
        return _PyEval_SliceIndex(op, i);
    PyErr_SetString(PyExc_TypeError, "slice indices must be integers or have an __index__ method");
    return 0;
}

/* ---- numbers ---------------------------------------------------------------- */

static PyObject *shift(PyObject *op, size_t n, PyObject *(*function)(PyObject *, PyObject *))
{
    PyObject *by = PyLong_FromSize_t(n), *result = by != NULL ? function(op, by) : NULL;
    Py_XDECREF(by);
    return result;
}

PyObject *_PyLong_Lshift(PyObject *op, size_t n) { return shift(op, n, PyNumber_Lshift); }
PyObject *_PyLong_Rshift(PyObject *op, size_t n) { return shift(op, n, PyNumber_Rshift); }

PyObject *_PyLong_GCD(PyObject *a, PyObject *b)
{
    a = PyNumber_Absolute(a);
    b = PyNumber_Absolute(b);
    while (a != NULL && b != NULL && _PyLong_Sign(b) != 0) {
        PyObject *rest = PyNumber_Remainder(a, b);
        Py_SETREF(a, b);
        b = rest;
    }
    if (b == NULL)
        Py_CLEAR(a);
    Py_XDECREF(b);
    return a;
}

/* Of more than 64 bits, the upper ones, the last of which says if a lower one is set: so it is rounded once. */
double _PyLong_Frexp(PyLongObject *op, Py_ssize_t *e)
{
    PyObject *n = PyNumber_Absolute(_PyObject_CAST(op)), *upper, *back;
    size_t bits = n != NULL ? _PyLong_NumBits(n) : 0, low = bits > 64 ? bits - 64 : 0;
    uint64_t top = 0;
    int exponent = 0, exact = 0;
    double x;
    if (n != NULL && (upper = _PyLong_Rshift(n, low)) != NULL) {
        top = PyLong_AsUnsignedLongLong(upper);
        if ((back = _PyLong_Lshift(upper, low)) != NULL)
            exact = PyObject_RichCompareBool(back, n, Py_EQ);
        Py_XDECREF(back);
        Py_DECREF(upper);
    }
    Py_XDECREF(n);
    if (PyErr_Occurred())
        return -1;
    x = frexp((double)(top | !exact), &exponent);
    *e = bits > 0 ? (Py_ssize_t)low + exponent : 0;
    return bits == 0 ? 0 : _PyLong_Sign(_PyObject_CAST(op)) < 0 ? -x : x;
}

#define NONE4 37, 37, 37, 37
#define NONE16 NONE4, NONE4, NONE4, NONE4
#define LETTERS 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35
const unsigned char _PyLong_DigitValue[256] = {
    NONE16, NONE16, NONE16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 37, 37, NONE4, 37, LETTERS, 37, NONE4, 37, LETTERS, 37, NONE4,
    NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16
};

#define CONVERTER(name, type, c_type) \
    int _PyLong_##name##_Converter(PyObject *op, void *result) \
    { \
        unsigned long long n; \
        if (PyLong_Check(op) && _PyLong_Sign(op) < 0) { \
            PyErr_SetString(PyExc_ValueError, "value must be positive"); \
            return 0; \
        } \
        n = PyLong_AsUnsignedLongLong(op); \
        if (n == (unsigned long long)-1 && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError)) \
            return 0; \
        if (PyErr_Occurred() || n != (type)n) { \
            PyErr_SetString(PyExc_OverflowError, "Python int too large for C " c_type); \
            return 0; \
        } \
        *(type *)result = (type)n; \
        return 1; \
    }
CONVERTER(UnsignedShort, unsigned short, "unsigned short")
CONVERTER(UnsignedInt, unsigned int, "unsigned int")
CONVERTER(UnsignedLong, unsigned long, "unsigned long")
CONVERTER(UnsignedLongLong, unsigned long long, "unsigned long long")
CONVERTER(Size_t, size_t, "size_t")

/* ---- bytes and text --------------------------------------------------------- */

const char *Py_hexdigits = "0123456789abcdef";

PyObject *_Py_strhex_bytes_with_sep(const char *bytes, Py_ssize_t n, PyObject *separator, int group)
{
    PyObject *text = _Py_strhex_with_sep(bytes, n, separator, group), *op = text != NULL ? PyUnicode_AsASCIIString(text) : NULL;
    Py_XDECREF(text);
    return op;
}

void _PyBytes_Repeat(char *to, Py_ssize_t n, const char *from, Py_ssize_t size)
{
    Py_ssize_t i;
    for (i = 0; i < n && size > 0; i += size)
        memcpy(to + i, from, (size_t)Py_MIN(size, n - i));
}

Py_ssize_t _PyBytes_Find(const char *bytes, Py_ssize_t n, const char *part, Py_ssize_t size, Py_ssize_t offset)
{
    Py_ssize_t i;
    for (i = 0; i + size <= n; i++)
        if (memcmp(bytes + i, part, (size_t)size) == 0)
            return offset + i;
    return -1;
}

Py_ssize_t _PyBytes_ReverseFind(const char *bytes, Py_ssize_t n, const char *part, Py_ssize_t size, Py_ssize_t offset)
{
    Py_ssize_t i;
    for (i = n - size; i >= 0; i--)
        if (memcmp(bytes + i, part, (size_t)size) == 0)
            return offset + i;
    return -1;
}

static char *start(_PyBytesWriter *w)
{
    return w->buffer != NULL ? PyBytes_AS_STRING(w->buffer) : w->small_buffer;
}

void _PyBytesWriter_Init(_PyBytesWriter *w)
{
    memset(w, 0, offsetof(_PyBytesWriter, small_buffer));
    w->allocated = sizeof w->small_buffer;
}

void *_PyBytesWriter_Alloc(_PyBytesWriter *w, Py_ssize_t size)
{
    return _PyBytesWriter_Prepare(w, w->small_buffer, size);
}

void *_PyBytesWriter_Resize(_PyBytesWriter *w, void *at, Py_ssize_t size)
{
    Py_ssize_t used = (char *)at - start(w);
    if (w->overallocate && size <= PY_SSIZE_T_MAX - size / 4)
        size += size / 4;
    if (w->buffer != NULL) {
        if (_PyBytes_Resize(&w->buffer, size) < 0)
            return NULL;
    } else {
        w->buffer = PyBytes_FromStringAndSize(NULL, size);
        if (w->buffer == NULL)
            return NULL;
        memcpy(start(w), w->small_buffer, (size_t)used);
    }
    w->allocated = size;
    return start(w) + used;
}

void *_PyBytesWriter_Prepare(_PyBytesWriter *w, void *at, Py_ssize_t size)
{
    if (size > PY_SSIZE_T_MAX - w->min_size)
        return PyErr_NoMemory();
    w->min_size += size;
    return w->min_size <= w->allocated ? at : _PyBytesWriter_Resize(w, at, w->min_size);
}

void *_PyBytesWriter_WriteBytes(_PyBytesWriter *w, void *at, const void *bytes, Py_ssize_t n)
{
    char *to = _PyBytesWriter_Prepare(w, at, n);
    if (to == NULL)
        return NULL;
    memcpy(to, bytes, (size_t)n);
    return to + n;
}

PyObject *_PyBytesWriter_Finish(_PyBytesWriter *w, void *at)
{
    Py_ssize_t n = (char *)at - start(w);
    PyObject *op = w->use_bytearray ? PyByteArray_FromStringAndSize(start(w), n) : PyBytes_FromStringAndSize(start(w), n);
    _PyBytesWriter_Dealloc(w);
    return op;
}

void _PyBytesWriter_Dealloc(_PyBytesWriter *w)
{
    Py_CLEAR(w->buffer);
}

PyObject *_PyAccu_FinishAsList(_PyAccu *accu)
{
    PyObject *op = accu->large;
    accu->large = NULL;
    return op;
}

/* ---- the system ------------------------------------------------------------- */

static int checked(int result)
{
    if (result < 0)
        PyErr_SetFromErrno(PyExc_OSError);
    return result;
}

int _Py_fstat(int fd, struct stat *status) { return checked(fstat(fd, status)); }
int _Py_dup(int fd) { return checked(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

int _PyOS_URandom(void *to, Py_ssize_t n)
{
    while (n > 0) {
        ssize_t got = getrandom(to, (size_t)n, 0);
        if (checked((int)got) < 0)
            return -1;
        to = (char *)to + got;
        n -= got;
    }
    return 0;
}
