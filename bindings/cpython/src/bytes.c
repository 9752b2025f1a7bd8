/* bytes.c - bytes. */
#include "internal.h"

#define B(op) ((PyBytesObject *)(void *)(op))

PyObject *PyBytes_FromStringAndSize(const char *bytes, Py_ssize_t n)
{
    PyObject *op;
    if (n < 0)
        return PyErr_Format(PyExc_SystemError, "negative size passed to PyBytes_FromStringAndSize");
    op = n < PY_SSIZE_T_MAX / 4 ? py_alloc(&PyBytes_Type, n) : NULL;
    if (op == NULL)
        return PyErr_NoMemory();
    B(op)->ob_shash = -1;
    if (bytes != NULL)
        memcpy(B(op)->ob_sval, bytes, (size_t)n);
    return op;
}

PyObject *PyBytes_FromString(const char *text)
{
    return PyBytes_FromStringAndSize(text, (Py_ssize_t)strlen(text));
}

PyObject *PyBytes_FromFormatV(const char *format, va_list args)
{
    PyObject *text = PyUnicode_FromFormatV(format, args), *bytes;
    bytes = text != NULL ? PyUnicode_AsLatin1String(text) : NULL;
    Py_XDECREF(text);
    return bytes;
}

PyObject *PyBytes_FromFormat(const char *format, ...)
{
    va_list args;
    PyObject *bytes;
    va_start(args, format);
    bytes = PyBytes_FromFormatV(format, args);
    va_end(args);
    return bytes;
}

/* (any_quotes: double ones may be used, which is always done.) */
PyObject *PyBytes_Repr(PyObject *op, int any_quotes)
{
    (void)any_quotes;
    return PyBytes_Type.tp_repr(op);
}

Py_ssize_t PyBytes_Size(PyObject *op)
{
    if (PyBytes_Check(op))
        return PyBytes_GET_SIZE(op);
    PyErr_Format(PyExc_TypeError, "expected bytes, %.200s found", Py_TYPE(op)->tp_name);
    return -1;
}

char *PyBytes_AsString(PyObject *op)
{
    return PyBytes_Size(op) < 0 ? NULL : PyBytes_AS_STRING(op);
}

int PyBytes_AsStringAndSize(PyObject *op, char **bytes, Py_ssize_t *n)
{
    if (PyBytes_Size(op) < 0)
        return -1;
    *bytes = PyBytes_AS_STRING(op);
    if (n != NULL) {
        *n = PyBytes_GET_SIZE(op);
    } else if (strlen(*bytes) != (size_t)PyBytes_GET_SIZE(op)) {
        PyErr_SetString(PyExc_ValueError, "embedded null byte");
        return -1;
    }
    return 0;
}

/* From a buffer, or from an iterable of numbers. */
PyObject *PyBytes_FromObject(PyObject *op)
{
    PyObject *items, *bytes;
    Py_ssize_t i, n;
    if (PyObject_CheckBuffer(op)) {
        Py_buffer view;
        if (PyObject_GetBuffer(op, &view, PyBUF_SIMPLE) < 0)
            return NULL;
        bytes = PyBytes_FromStringAndSize(view.buf, view.len);
        PyBuffer_Release(&view);
        return bytes;
    }
    if (PyUnicode_Check(op))
        return PyErr_Format(PyExc_TypeError, "cannot convert '%.200s' object to bytes", Py_TYPE(op)->tp_name);
    items = PySequence_Fast(op, "cannot convert the object to bytes");
    if (items == NULL)
        return NULL;
    n = PySequence_Fast_GET_SIZE(items);
    bytes = PyBytes_FromStringAndSize(NULL, n);
    for (i = 0; bytes != NULL && i < n; i++) {
        Py_ssize_t byte = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(items, i), NULL);
        if (byte < 0 || byte > 255) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "bytes must be in range(0, 256)");
            Py_CLEAR(bytes);
        } else {
            PyBytes_AS_STRING(bytes)[i] = (char)byte;
        }
    }
    Py_DECREF(items);
    return bytes;
}

static PyObject *concat(PyObject *a, PyObject *b)
{
    Py_buffer view;
    PyObject *both;
    Py_ssize_t n = PyBytes_GET_SIZE(a);
    if (PyObject_GetBuffer(b, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    both = PyBytes_FromStringAndSize(NULL, n + view.len);
    if (both != NULL) {
        memcpy(PyBytes_AS_STRING(both), PyBytes_AS_STRING(a), (size_t)n);
        memcpy(PyBytes_AS_STRING(both) + n, view.buf, (size_t)view.len);
    }
    PyBuffer_Release(&view);
    return both;
}

void PyBytes_Concat(PyObject **a, PyObject *b)
{
    PyObject *both = *a != NULL && b != NULL ? concat(*a, b) : NULL;
    Py_XSETREF(*a, both);
}

/* The items are objects with a buffer. */
PyObject *_PyBytes_Join(PyObject *separator, PyObject *items)
{
    PyObject *list = PySequence_Fast(items, "can only join an iterable"), *all = list != NULL ? PyBytes_FromStringAndSize(NULL, 0) : NULL;
    Py_ssize_t i;
    for (i = 0; all != NULL && i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i);
        if (!PyObject_CheckBuffer(item)) {
            PyErr_Format(PyExc_TypeError, "sequence item %zd: expected a bytes-like object, %.80s found", i, Py_TYPE(item)->tp_name);
            Py_CLEAR(all);
        } else {
            if (i > 0)
                PyBytes_Concat(&all, separator);
            PyBytes_Concat(&all, item);
        }
    }
    Py_XDECREF(list);
    return all;
}

/* What a bad \\x gives, at `at` in the text. -1: an exception. */
static int put_bad_escape(py_text *out, const char *errors, Py_ssize_t at)
{
    if (errors == NULL || strcmp(errors, "strict") == 0)
        PyErr_Format(PyExc_ValueError, "invalid \\x escape at position %zd", at);
    else if (strcmp(errors, "replace") == 0)
        py_put(out, "?", 1);
    else if (strcmp(errors, "ignore") != 0)
        PyErr_Format(PyExc_ValueError, "decoding error; unknown error handling code: %.400s", errors);
    return PyErr_Occurred() ? -1 : 0;
}

static int hex_digit(int c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* A text as in a literal. Unknown escapes stay as they are. */
PyObject *PyBytes_DecodeEscape(const char *bytes, Py_ssize_t n, const char *errors, Py_ssize_t unused, const char *encoding)
{
    static const char from[] = "\\'\"abtnvfr", to[] = "\\'\"\a\b\t\n\v\f\r";
    py_text out = { 0 };
    Py_ssize_t i = 0;
    PyObject *result;
    int code = 0;
    (void)unused, (void)encoding;
    while (code == 0 && i < n) {
        char c = bytes[i++];
        const char *known = c == '\\' && i < n && bytes[i] != '\0' ? strchr(from, bytes[i]) : NULL;
        if (c != '\\') {
            py_put(&out, &c, 1);
        } else if (i == n) {
            PyErr_SetString(PyExc_ValueError, "Trailing \\ in string");
            code = -1;
        } else if (bytes[i] == '\n') {
            i++;
        } else if (known != NULL) {
            py_put(&out, &to[known - from], 1);
            i++;
        } else if (bytes[i] >= '0' && bytes[i] <= '7') {
            Py_ssize_t end = Py_MIN(i + 3, n);
            int value = 0;
            while (i < end && bytes[i] >= '0' && bytes[i] <= '7')
                value = value * 8 + bytes[i++] - '0';
            c = (char)value;
            py_put(&out, &c, 1);
        } else if (bytes[i] == 'x') {
            int high = i + 1 < n ? hex_digit(bytes[i + 1]) : -1, low = high >= 0 && i + 2 < n ? hex_digit(bytes[i + 2]) : -1;
            if (low >= 0) {
                c = (char)(high * 16 + low);
                py_put(&out, &c, 1);
                i += 3;
            } else {
                code = put_bad_escape(&out, errors, i - 1);
                i += 1 + (high >= 0);
            }
        } else {
            py_put(&out, &bytes[i - 1], 2);
            i++;
        }
    }
    if (code == 0 && out.full)
        PyErr_NoMemory();
    result = code == 0 && !out.full ? PyBytes_FromStringAndSize(out.bytes, (Py_ssize_t)out.length) : NULL;
    py_text_free(&out);
    return result;
}

void PyBytes_ConcatAndDel(PyObject **a, PyObject *b)
{
    PyBytes_Concat(a, b);
    Py_XDECREF(b);
}

int _PyBytes_Resize(PyObject **op, Py_ssize_t n)
{
    PyObject *other = PyBytes_FromStringAndSize(NULL, n);
    if (other != NULL)
        memcpy(PyBytes_AS_STRING(other), PyBytes_AS_STRING(*op), (size_t)Py_MIN(n, PyBytes_GET_SIZE(*op)));
    Py_SETREF(*op, other);
    return other != NULL ? 0 : -1;
}

PyObject *PyObject_Bytes(PyObject *op)
{
    PyObject *method = py_lookup_special(op, "__bytes__"), *result;
    if (method == NULL)
        return PyErr_Occurred() ? NULL : PyBytes_FromObject(op);
    result = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return result;
}

/* ---- the type -------------------------------------------------------------- */

PyObject *py_bytes_repr(const char *bytes, Py_ssize_t n, const char *before, const char *after)
{
    int quote = memchr(bytes, '\'', (size_t)n) != NULL && memchr(bytes, '"', (size_t)n) == NULL ? '"' : '\'';
    py_text out = { 0 };
    PyObject *result;
    Py_ssize_t i;
    py_put_text(&out, before);
    py_put_text(&out, quote == '"' ? "b\"" : "b'");
    for (i = 0; i < n; i++) {
        char c = bytes[i], text[8];
        if (c == quote || c == '\\')
            snprintf(text, sizeof text, "\\%c", c);
        else if (c == '\n' || c == '\t' || c == '\r')
            snprintf(text, sizeof text, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else
            snprintf(text, sizeof text, c >= ' ' && c < 127 ? "%c" : "\\x%02x", (unsigned char)c);
        py_put_text(&out, text);
    }
    py_put_text(&out, quote == '"' ? "\"" : "'");
    py_put_text(&out, after);
    result = PyUnicode_FromStringAndSize(out.bytes, (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}

static PyObject *repr(PyObject *op) { return py_bytes_repr(PyBytes_AS_STRING(op), PyBytes_GET_SIZE(op), "", ""); }
static Py_ssize_t length(PyObject *op) { return PyBytes_GET_SIZE(op); }

static PyObject *item(PyObject *op, Py_ssize_t i)
{
    if (i < 0 || i >= PyBytes_GET_SIZE(op))
        return PyErr_Format(PyExc_IndexError, "index out of range");
    return PyLong_FromLong((unsigned char)PyBytes_AS_STRING(op)[i]);
}

static PyObject *repeat(PyObject *op, Py_ssize_t times)
{
    Py_ssize_t n = PyBytes_GET_SIZE(op), i;
    PyObject *result = PyBytes_FromStringAndSize(NULL, n * Py_MAX(times, 0));
    for (i = 0; result != NULL && i < times; i++)
        memcpy(PyBytes_AS_STRING(result) + i * n, PyBytes_AS_STRING(op), (size_t)n);
    return result;
}

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    Py_ssize_t n, m;
    int order;
    if (!PyBytes_Check(a) || !PyBytes_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    n = PyBytes_GET_SIZE(a);
    m = PyBytes_GET_SIZE(b);
    order = memcmp(PyBytes_AS_STRING(a), PyBytes_AS_STRING(b), (size_t)Py_MIN(n, m));
    if (order == 0)
        order = (n > m) - (n < m);
    Py_RETURN_RICHCOMPARE(order, 0, op);
}

Py_hash_t _Py_HashBytes(const void *bytes, Py_ssize_t n)
{
    return (Py_hash_t)cvm_hash_bytes(bytes, (size_t)n);
}

static Py_hash_t hash(PyObject *op)
{
    if (B(op)->ob_shash == -1)
        B(op)->ob_shash = _Py_HashBytes(PyBytes_AS_STRING(op), PyBytes_GET_SIZE(op));
    return B(op)->ob_shash;
}

static int getbuffer(PyObject *op, Py_buffer *view, int flags)
{
    return PyBuffer_FillInfo(view, op, PyBytes_AS_STRING(op), PyBytes_GET_SIZE(op), 1, flags);
}

static PyObject *bytes_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "source", "encoding", "errors", NULL };
    PyObject *x = NULL;
    const char *encoding = NULL, *errors = NULL;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oss:bytes", names, &x, &encoding, &errors))
        return NULL;
    if (x == NULL)
        return PyBytes_FromStringAndSize(NULL, 0);
    if (encoding != NULL && PyUnicode_Check(x))
        return PyUnicode_AsEncodedString(x, encoding, errors);
    if (PyIndex_Check(x) && !PyObject_CheckBuffer(x)) {
        Py_ssize_t n = PyNumber_AsSsize_t(x, PyExc_OverflowError);
        return n == -1 && PyErr_Occurred() ? NULL : PyBytes_FromStringAndSize(NULL, n);
    }
    return PyObject_Bytes(x);
}

PyNumberMethods py_bytes_as_number = { .nb_remainder = py_bytes_format };
static PySequenceMethods as_sequence = { .sq_length = length, .sq_concat = concat, .sq_repeat = repeat, .sq_item = item,
    .sq_contains = py_bytes_contain };
static PyMappingMethods as_mapping = { .mp_length = length, .mp_subscript = py_subscript };
static PyBufferProcs as_buffer = { getbuffer, NULL };

PyTypeObject PyBytes_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "bytes", .tp_basicsize = offsetof(PyBytesObject, ob_sval) + 1,
    .tp_itemsize = 1, .tp_repr = repr, .tp_hash = hash, .tp_as_number = &py_bytes_as_number, .tp_as_sequence = &as_sequence, .tp_as_mapping = &as_mapping,
    .tp_as_buffer = &as_buffer, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BYTES_SUBCLASS,
    .tp_richcompare = richcompare, .tp_iter = PySeqIter_New, .tp_methods = py_bytes_methods, .tp_new = bytes_new
};
