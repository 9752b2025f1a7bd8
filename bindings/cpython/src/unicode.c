/* unicode.c - str: making and filling, texts in UTF-8, comparing, and what works on characters. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L     /* for newlocale */
#endif
#include "internal.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

#define U(op) ((PyUnicodeObject *)(void *)(op))

/* ---- UTF-8 ---------------------------------------------------------------- */

/* The character at *at, which moves behind it; -1: no UTF-8. */
static int32_t next_character(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *s = *at;
    unsigned n = *s < 0x80 ? 0 : *s >= 0xf0 && *s < 0xf5 ? 3 : *s >= 0xe0 && *s < 0xf0 ? 2 : *s >= 0xc2 && *s < 0xe0 ? 1 : 4, i;
    int32_t c;
    if (n == 4 || (size_t)(end - s) <= n)
        return -1;
    c = n == 0 ? *s : *s & (0x3f >> n);
    for (i = 1; i <= n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return -1;
        c = c << 6 | (s[i] & 0x3f);
    }
    if ((n == 2 && c < 0x800) || (n == 3 && (c < 0x10000 || c > 0x10ffff)) || Py_UNICODE_IS_SURROGATE(c))
        return -1;
    *at = s + n + 1;
    return c;
}

/* The number of characters, and the largest; (size_t)-1: no UTF-8, and *largest says where. */
size_t py_utf8_length(const char *bytes, size_t n, Py_UCS4 *largest)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + n;
    size_t length = 0;
    uint64_t eight;
    *largest = 0;
    while (at < end) {
        int32_t c;
        if (end - at >= 8 && (memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) {
            if (*largest < 0x7f)
                *largest = 0x7f;        /* (any character of ASCII says as much) */
            at += 8;
            length += 8;
            continue;
        }
        c = *at < 0x80 ? *at++ : next_character(&at, end);
        if (c < 0) {
            *largest = (Py_UCS4)(at - (const unsigned char *)bytes);
            return (size_t)-1;
        }
        if ((Py_UCS4)c > *largest)
            *largest = (Py_UCS4)c;
        length++;
    }
    return length;
}

unsigned py_put_utf8(unsigned char *to, Py_UCS4 c)
{
    if (c < 0x80) {
        to[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (unsigned char)(0xc0 | c >> 6);
        to[1] = (unsigned char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (unsigned char)(0xe0 | c >> 12);
        to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (unsigned char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (unsigned char)(0xf0 | c >> 18);
    to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (unsigned char)(0x80 | (c & 0x3f));
    return 4;
}

/* ---- making --------------------------------------------------------------- */

static unsigned char kind_for(Py_UCS4 largest)
{
    return largest < 0x100 ? 1 : largest < 0x10000 ? 2 : 4;
}

/* Data for that many characters, uninitialized but for a zero at the end. 0: no memory. */
static int give_data(PyObject *op, Py_ssize_t n, Py_UCS4 largest)
{
    unsigned char kind = kind_for(largest);
    void *data = n < PY_SSIZE_T_MAX / 8 ? PyMem_Malloc(((size_t)n + 1) * kind) : NULL;
    if (data == NULL)
        return 0;
    memset((char *)data + (size_t)n * kind, 0, kind);
    U(op)->data = data;
    U(op)->kind = kind;
    U(op)->ascii = largest < 0x80;
    U(op)->length = n;
    return 1;
}

PyObject *PyUnicode_New(Py_ssize_t n, Py_UCS4 largest)
{
    PyObject *op = n >= 0 ? py_take_spare(PY_SPARE_TEXT) : NULL;
    if (op == NULL && n >= 0)
        op = py_alloc(&PyUnicode_Type, 0);
    if (op == NULL)
        return PyErr_NoMemory();
    U(op)->hash = -1;
    if (give_data(op, n, largest))
        return op;
    Py_DECREF(op);
    return PyErr_NoMemory();
}

static void decode_into(PyObject *op, const char *bytes, size_t n)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + n;
    Py_ssize_t i;
    if (U(op)->ascii) {
        memcpy(U(op)->data, bytes, n);
        return;
    }
    for (i = 0; at < end; i++)
        PyUnicode_WRITE(U(op)->kind, U(op)->data, i, (Py_UCS4)next_character(&at, end));
}

PyObject *PyUnicode_DecodeUTF8(const char *bytes, Py_ssize_t n, const char *errors)
{
    Py_UCS4 largest;
    size_t length = py_utf8_length(bytes, (size_t)n, &largest);
    PyObject *op = length != (size_t)-1 ? PyUnicode_New((Py_ssize_t)length, largest) : py_decode_bad_utf8(bytes, n, errors);
    if (op != NULL && length != (size_t)-1)
        decode_into(op, bytes, (size_t)n);
    return op;
}

/* The number of bytes without a character at the end whose last bytes are missing. */
static Py_ssize_t complete_utf8(const char *bytes, Py_ssize_t n)
{
    const unsigned char *end = (const unsigned char *)bytes + n;
    Py_ssize_t back;
    for (back = 1; back <= 3 && back <= n; back++) {
        unsigned char first = end[-back], second = back > 1 ? end[1 - back] : 0;
        if ((first & 0xc0) == 0x80)
            continue;
        if (back >= (first >= 0xf5 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1))
            break;
        if (back > 1 && ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90)
                         || (first == 0xf4 && second >= 0x90)))
            break;
        return n - back;
    }
    return n;
}

PyObject *PyUnicode_DecodeUTF8Stateful(const char *bytes, Py_ssize_t n, const char *errors, Py_ssize_t *consumed)
{
    PyObject *op;
    if (consumed != NULL)
        n = complete_utf8(bytes, n);
    op = PyUnicode_DecodeUTF8(bytes, n, errors);
    if (consumed != NULL && op != NULL)
        *consumed = n;
    return op;
}

PyObject *PyUnicode_FromStringAndSize(const char *utf8, Py_ssize_t n)
{
    return utf8 != NULL ? PyUnicode_DecodeUTF8(utf8, n, NULL) : PyUnicode_New(n, 0x7f);
}

PyObject *PyUnicode_FromString(const char *utf8)
{
    return PyUnicode_DecodeUTF8(utf8, (Py_ssize_t)strlen(utf8), NULL);
}

/* A view of a host's string gets its data. */
int _PyUnicode_Ready(PyObject *op)
{
    cvm_value v = py_host_of(op);
    Py_UCS4 largest;
    size_t bytes, length;
    if (v == CVM_NONE)
        return -1;
    bytes = CVM_STRING_OF(v)->length;
    length = py_utf8_length(cvm_bytes(v), bytes, &largest);
    if (length == (size_t)-1) {         /* no text: each byte that is none becomes a lone surrogate */
        PyObject *text = PyUnicode_DecodeUTF8(cvm_bytes(v), (Py_ssize_t)bytes, "surrogateescape");
        if (text == NULL)
            return -1;
        py_become_full(op);
        U(op)->length = U(text)->length;
        U(op)->data = U(text)->data;
        U(op)->kind = U(text)->kind;
        U(text)->data = NULL;
        Py_DECREF(text);
        return 0;
    }
    if (!give_data(op, (Py_ssize_t)length, largest)) {
        U(op)->length = (Py_ssize_t)bytes;
        PyErr_NoMemory();
        return -1;
    }
    py_become_full(op);
    decode_into(op, cvm_bytes(v), bytes);
    return 0;
}

PyObject *PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t n)
{
    Py_UCS4 largest = 0;
    Py_ssize_t i;
    PyObject *op;
    for (i = 0; i < n; i++)
        if (PyUnicode_READ(kind, data, i) > largest)
            largest = PyUnicode_READ(kind, data, i);
    op = PyUnicode_New(n, largest);
    for (i = 0; op != NULL && i < n; i++)
        PyUnicode_WRITE(U(op)->kind, U(op)->data, i, PyUnicode_READ(kind, data, i));
    return op;
}

PyObject *PyUnicode_FromWideChar(const wchar_t *u, Py_ssize_t n)
{
    return PyUnicode_FromKindAndData(sizeof *u, u, n < 0 ? (Py_ssize_t)wcslen(u) : n);
}

PyObject *PyUnicode_FromUnicode(const Py_UNICODE *u, Py_ssize_t n)
{
    return PyUnicode_FromWideChar(u, n);
}

PyObject *PyUnicode_FromOrdinal(int c)
{
    Py_UCS4 character = (Py_UCS4)c;
    if (c < 0 || c > 0x10ffff)
        return PyErr_Format(PyExc_ValueError, "chr() arg not in range(0x110000)");
    return PyUnicode_FromKindAndData(4, &character, 1);
}

PyObject *PyUnicode_FromObject(PyObject *op)
{
    if (PyUnicode_CheckExact(op))
        return Py_NewRef(op);
    if (!PyUnicode_Check(op))
        return PyErr_Format(PyExc_TypeError, "Can't convert '%.100s' object to str implicitly", Py_TYPE(op)->tp_name);
    return PyUnicode_FromKindAndData((int)PyUnicode_KIND(op), PyUnicode_DATA(op), PyUnicode_GET_LENGTH(op));
}

PyObject *PyUnicode_FromEncodedObject(PyObject *op, const char *encoding, const char *errors)
{
    Py_buffer view;
    PyObject *text;
    if (PyUnicode_Check(op))
        return PyErr_Format(PyExc_TypeError, "decoding str is not supported");
    if (PyObject_GetBuffer(op, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    text = PyUnicode_Decode(view.buf, view.len, encoding, errors);
    PyBuffer_Release(&view);
    return text;
}

/* The text in UTF-8. It is a copy that goes with op, unless the data is that. */
const char *PyUnicode_AsUTF8AndSize(PyObject *op, Py_ssize_t *n)
{
    PyUnicodeObject *u = U(op);
    unsigned char *at;
    Py_ssize_t i;
    PY_USES(op);
    if (!PyUnicode_Check(op)) {
        PyErr_BadArgument();
        return NULL;
    }
    if (PyUnicode_READY(op) < 0)
        return NULL;
    if (u->utf8 == NULL && u->ascii) {
        u->utf8 = u->data;
        u->utf8_length = u->length;
    } else if (u->utf8 == NULL) {
        char *text = PyMem_Malloc((size_t)u->length * 4 + 1);
        if (text == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        at = (unsigned char *)text;
        for (i = 0; i < u->length; i++) {
            Py_UCS4 c = PyUnicode_READ(u->kind, u->data, i);
            if (Py_UNICODE_IS_SURROGATE(c)) {
                PyMem_Free(text);
                Py_XDECREF(py_encode_bad_utf8(op, NULL));
                return NULL;
            }
            at += py_put_utf8(at, c);
        }
        *at = '\0';
        u->utf8_length = (char *)at - text;
        u->utf8 = text;
    }
    if (n != NULL)
        *n = u->utf8_length;
    return u->utf8;
}

const char *PyUnicode_AsUTF8(PyObject *op)
{
    return PyUnicode_AsUTF8AndSize(op, NULL);
}

PyObject *py_encode_utf8(PyObject *op, const char *errors)
{
    Py_ssize_t n;
    const char *utf8 = PyUnicode_AsUTF8AndSize(op, &n);
    if (utf8 != NULL)
        return PyBytes_FromStringAndSize(utf8, n);
    if (errors == NULL || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return NULL;
    PyErr_Clear();
    return py_encode_bad_utf8(op, errors);
}

PyObject *PyUnicode_AsUTF8String(PyObject *op) { return py_encode_utf8(op, NULL); }

/* A str, whose characters are there? */
static int is_text(PyObject *op)
{
    if (op != NULL && PyUnicode_Check(op))
        return PyUnicode_READY(op) == 0;
    return PyErr_BadArgument();
}

Py_UNICODE *PyUnicode_AsUnicode(PyObject *op)
{
    PyUnicodeObject *u = U(op);
    Py_ssize_t i;
    if (!is_text(op))
        return NULL;
    if (u->wstr != NULL)
        return u->wstr;
    u->wstr = PyMem_Malloc(((size_t)u->length + 1) * sizeof *u->wstr);
    if (u->wstr == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (i = 0; i < u->length; i++)
        u->wstr[i] = (wchar_t)PyUnicode_READ(u->kind, u->data, i);
    u->wstr[i] = 0;
    return u->wstr;
}

Py_UCS4 *PyUnicode_AsUCS4(PyObject *op, Py_UCS4 *to, Py_ssize_t room, int with_zero)
{
    Py_ssize_t i, n;
    if (!is_text(op))
        return NULL;
    n = PyUnicode_GET_LENGTH(op);
    if (room < n + (with_zero != 0)) {
        PyErr_SetString(PyExc_SystemError, "string is longer than the buffer");
        return NULL;
    }
    for (i = 0; i < n; i++)
        to[i] = PyUnicode_READ_CHAR(op, i);
    if (with_zero)
        to[n] = 0;
    return to;
}

/* (A wchar_t has 32 bits.) */
Py_ssize_t PyUnicode_AsWideChar(PyObject *op, wchar_t *to, Py_ssize_t room)
{
    Py_ssize_t i, n;
    if (op == NULL || !PyUnicode_Check(op)) {
        if (op == NULL)
            PyErr_BadInternalCall();
        else
            PyErr_BadArgument();
        return -1;
    }
    if (PyUnicode_READY(op) < 0)
        return -1;
    n = PyUnicode_GET_LENGTH(op);
    if (to == NULL)
        return n + 1;
    for (i = 0; i < n && i < room; i++)
        to[i] = (wchar_t)PyUnicode_READ_CHAR(op, i);
    if (n < room)
        to[n] = L'\0';
    return Py_MIN(n, room);
}

wchar_t *PyUnicode_AsWideCharString(PyObject *op, Py_ssize_t *size)
{
    Py_ssize_t n = PyUnicode_AsWideChar(op, NULL, 0);
    wchar_t *text = n >= 0 ? PyMem_New(wchar_t, n) : NULL;
    if (text == NULL)
        return n >= 0 ? (void *)PyErr_NoMemory() : NULL;
    PyUnicode_AsWideChar(op, text, n);
    if (size != NULL) {
        *size = n - 1;
    } else if (wcslen(text) != (size_t)n - 1) {
        PyMem_Free(text);
        PyErr_SetString(PyExc_ValueError, "embedded null character");
        return NULL;
    }
    return text;
}

Py_ssize_t PyUnicode_Fill(PyObject *op, Py_ssize_t start, Py_ssize_t n, Py_UCS4 c)
{
    Py_ssize_t i;
    if (!PyUnicode_Check(op) || PyUnicode_READY(op) < 0) {
        if (!PyErr_Occurred())
            PyErr_BadInternalCall();
        return -1;
    }
    if (U(op)->seen || Py_REFCNT(op) != 1) {
        PyErr_SetString(PyExc_SystemError, "Cannot modify a string currently used");
        return -1;
    }
    if (start < 0 || c > PyUnicode_MAX_CHAR_VALUE(op)) {
        PyErr_SetString(start < 0 ? PyExc_IndexError : PyExc_ValueError, start < 0 ? "string index out of range"
                        : "fill character is bigger than the string maximum character");
        return -1;
    }
    n = Py_MAX(0, Py_MIN(n, PyUnicode_GET_LENGTH(op) - start));
    for (i = 0; i < n; i++)
        PyUnicode_WRITE(PyUnicode_KIND(op), PyUnicode_DATA(op), start + i, c);
    return n;
}

const char *PyUnicode_GetDefaultEncoding(void) { return "utf-8"; }

/* ---- names of files ------------------------------------------------------- */

PyObject *PyOS_FSPath(PyObject *op)
{
    PyObject *f, *path;
    if (PyUnicode_Check(op) || PyBytes_Check(op))
        return Py_NewRef(op);
    f = py_lookup_special(op, "__fspath__");
    if (f == NULL)
        return PyErr_Occurred() ? NULL
             : PyErr_Format(PyExc_TypeError, "expected str, bytes or os.PathLike object, not %.200s", Py_TYPE(op)->tp_name);
    path = PyObject_CallNoArgs(f);
    Py_DECREF(f);
    if (path == NULL || PyUnicode_Check(path) || PyBytes_Check(path))
        return path;
    PyErr_Format(PyExc_TypeError, "expected %.200s.__fspath__() to return str or bytes, not %.200s", Py_TYPE(op)->tp_name, Py_TYPE(path)->tp_name);
    Py_DECREF(path);
    return NULL;
}

int PyUnicode_FSConverter(PyObject *op, void *result)
{
    PyObject *path, *bytes;
    if (op == NULL) {
        Py_CLEAR(*(PyObject **)result);
        return 1;
    }
    path = PyOS_FSPath(op);
    bytes = path == NULL ? NULL : PyBytes_Check(path) ? Py_NewRef(path) : PyUnicode_EncodeFSDefault(path);
    Py_XDECREF(path);
    if (bytes != NULL && strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes)) {
        Py_CLEAR(bytes);
        PyErr_SetString(PyExc_ValueError, "embedded null byte");
    }
    if (bytes == NULL)
        return 0;
    *(PyObject **)result = bytes;
    return Py_CLEANUP_SUPPORTED;
}

int PyUnicode_FSDecoder(PyObject *op, void *result)
{
    PyObject *path, *text;
    if (op == NULL) {
        Py_CLEAR(*(PyObject **)result);
        return 1;
    }
    path = PyOS_FSPath(op);
    text = path == NULL ? NULL : PyUnicode_Check(path) ? Py_NewRef(path)
         : PyUnicode_DecodeFSDefaultAndSize(PyBytes_AS_STRING(path), PyBytes_GET_SIZE(path));
    Py_XDECREF(path);
    if (text != NULL && PyUnicode_FindChar(text, 0, 0, PyUnicode_GET_LENGTH(text), 1) >= 0) {
        Py_CLEAR(text);
        PyErr_SetString(PyExc_ValueError, "embedded null character");
    }
    if (text == NULL)
        return 0;
    *(PyObject **)result = text;
    return Py_CLEANUP_SUPPORTED;
}

Py_UCS4 *PyUnicode_AsUCS4Copy(PyObject *op)
{
    Py_UCS4 *copy;
    Py_ssize_t n;
    if (!is_text(op))
        return NULL;
    n = PyUnicode_GET_LENGTH(op) + 1;
    copy = PyMem_New(Py_UCS4, n);
    return copy != NULL ? PyUnicode_AsUCS4(op, copy, n, 1) : (void *)PyErr_NoMemory();
}

/* ---- interning ------------------------------------------------------------- */

void PyUnicode_InternInPlace(PyObject **op)
{
    PyObject *known;
    if (*op == NULL || !PyUnicode_CheckExact(*op) || U(*op)->interned || PY->interned == NULL)
        return;
    known = PyDict_SetDefault(PY->interned, *op, *op);
    if (known == NULL) {
        PyErr_Clear();
        return;
    }
    if (known != *op) {
        Py_INCREF(known);
        Py_SETREF(*op, known);
    }
    U(*op)->interned = 1;
}

PyObject *PyUnicode_InternFromString(const char *utf8)
{
    PyObject *op = PyUnicode_FromString(utf8);
    PyUnicode_InternInPlace(&op);
    return op;
}

PyObject *py_str(const char *text)
{
    PyObject *op = PyUnicode_InternFromString(text);
    if (op != NULL && !U(op)->interned) {
        Py_DECREF(op);
        return PyErr_NoMemory();
    }
    Py_XDECREF(op);                     /* the table holds it */
    return op;
}

/* ---- comparing -------------------------------------------------------------- */

int PyUnicode_Compare(PyObject *a, PyObject *b)
{
    PyUnicodeObject *x = U(a), *y = U(b);
    Py_ssize_t i, n;
    if (!PyUnicode_Check(a) || !PyUnicode_Check(b)) {
        PyErr_Format(PyExc_TypeError, "Can't compare %.100s and %.100s", Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
        return -1;
    }
    if (PyUnicode_READY(a) < 0 || PyUnicode_READY(b) < 0)
        return -1;
    n = Py_MIN(x->length, y->length);
    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ(x->kind, x->data, i), d = PyUnicode_READ(y->kind, y->data, i);
        if (c != d)
            return c < d ? -1 : 1;
    }
    return (x->length > y->length) - (x->length < y->length);
}

int PyUnicode_CompareWithASCIIString(PyObject *a, const char *b)
{
    PyUnicodeObject *x = _PyUnicode_Filled(a);
    Py_ssize_t i;
    for (i = 0; i < x->length && b[i] != '\0'; i++) {
        Py_UCS4 c = PyUnicode_READ(x->kind, x->data, i), d = (unsigned char)b[i];
        if (c != d)
            return c < d ? -1 : 1;
    }
    return i < x->length ? 1 : b[i] != '\0' ? -1 : 0;
}

PyObject *PyUnicode_RichCompare(PyObject *a, PyObject *b, int op)
{
    int order;
    if (!PyUnicode_Check(a) || !PyUnicode_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    if ((op == Py_EQ || op == Py_NE) && a != b && PyUnicode_GET_LENGTH(a) != PyUnicode_GET_LENGTH(b))
        return PyBool_FromLong(op == Py_NE);
    order = a == b ? 0 : PyUnicode_Compare(a, b);
    Py_RETURN_RICHCOMPARE(order, 0, op);
}

static Py_hash_t hash(PyObject *op)
{
    PyUnicodeObject *u = U(op);
    Py_UCS4 c;
    uint64_t h = 14695981039346656037u;
    Py_ssize_t i;
    if (u->hash != -1)
        return u->hash;
    if (PyUnicode_READY(op) < 0)
        return -1;
    for (i = 0; i < u->length; i++) {
        c = PyUnicode_READ(u->kind, u->data, i);
        h = (h ^ c) * 1099511628211u;
    }
    u->hash = (Py_hash_t)h == -1 ? -2 : (Py_hash_t)h;
    return u->hash;
}

/* ---- characters ------------------------------------------------------------- */

Py_ssize_t PyUnicode_GetLength(PyObject *op)
{
    if (!PyUnicode_Check(op)) {
        PyErr_BadArgument();
        return -1;
    }
    return PyUnicode_READY(op) < 0 ? -1 : PyUnicode_GET_LENGTH(op);
}

static int in_range(PyObject *op, Py_ssize_t i)
{
    if (PyUnicode_Check(op) && i >= 0 && i < PyUnicode_GET_LENGTH(op))
        return 1;
    if (is_text(op))
        PyErr_SetString(PyExc_IndexError, "string index out of range");
    return 0;
}

Py_UCS4 PyUnicode_ReadChar(PyObject *op, Py_ssize_t i)
{
    return in_range(op, i) ? PyUnicode_READ_CHAR(op, i) : (Py_UCS4)-1;
}

int PyUnicode_WriteChar(PyObject *op, Py_ssize_t i, Py_UCS4 c)
{
    if (!in_range(op, i))
        return -1;
    if (U(op)->seen || U(op)->interned) {
        PyErr_SetString(PyExc_SystemError, "this str may not change any more");
        return -1;
    }
    if (c > PyUnicode_MAX_CHAR_VALUE(op)) {
        PyErr_SetString(PyExc_ValueError, "character out of range");
        return -1;
    }
    PyUnicode_WRITE(U(op)->kind, U(op)->data, i, c);
    return 0;
}

Py_ssize_t PyUnicode_CopyCharacters(PyObject *to, Py_ssize_t at, PyObject *from, Py_ssize_t start, Py_ssize_t n)
{
    Py_ssize_t i;
    if (!PyUnicode_Check(to) || !PyUnicode_Check(from)) {
        PyErr_BadInternalCall();
        return -1;
    }
    if (PyUnicode_READY(to) < 0 || PyUnicode_READY(from) < 0)
        return -1;
    if (at < 0 || start < 0 || at > PyUnicode_GET_LENGTH(to) || start > PyUnicode_GET_LENGTH(from) || n < 0) {
        PyErr_SetString(n < 0 ? PyExc_SystemError : PyExc_IndexError, n < 0 ? "how_many cannot be negative" : "string index out of range");
        return -1;
    }
    n = Py_MIN(n, PyUnicode_GET_LENGTH(from) - start);
    if (n > PyUnicode_GET_LENGTH(to) - at) {
        PyErr_Format(PyExc_SystemError, "Cannot write %zi characters at %zi in a string of %zi characters", n, at, PyUnicode_GET_LENGTH(to));
        return -1;
    }
    if (n > 0 && U(to)->seen) {
        PyErr_SetString(PyExc_SystemError, "Cannot modify a string currently used");
        return -1;
    }
    for (i = 0; PyUnicode_MAX_CHAR_VALUE(from) > PyUnicode_MAX_CHAR_VALUE(to) && i < n; i++)
        if (PyUnicode_READ_CHAR(from, start + i) > PyUnicode_MAX_CHAR_VALUE(to)) {
            PyErr_Format(PyExc_SystemError, "Cannot write a character of %U at %zi: it is too large", from, at + i);
            return -1;
        }
    for (i = 0; i < n; i++)
        PyUnicode_WRITE(U(to)->kind, U(to)->data, at + i, PyUnicode_READ_CHAR(from, start + i));
    return n;
}

PyObject *_PyUnicode_Copy(PyObject *op)
{
    PyObject *copy = is_text(op) ? PyUnicode_New(PyUnicode_GET_LENGTH(op), PyUnicode_MAX_CHAR_VALUE(op)) : NULL;
    if (copy != NULL && PyUnicode_CopyCharacters(copy, 0, op, 0, PyUnicode_GET_LENGTH(op)) < 0)
        Py_CLEAR(copy);
    return copy;
}

int PyUnicode_Resize(PyObject **op, Py_ssize_t n)
{
    PyObject *other;
    if (*op == NULL || !PyUnicode_Check(*op) || n < 0) {
        PyErr_BadInternalCall();
        return -1;
    }
    other = PyUnicode_New(n, PyUnicode_MAX_CHAR_VALUE(*op));
    if (other == NULL)
        return -1;
    PyUnicode_CopyCharacters(other, 0, *op, 0, Py_MIN(n, PyUnicode_GET_LENGTH(*op)));
    Py_SETREF(*op, other);
    return 0;
}

PyObject *PyUnicode_Substring(PyObject *op, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t n = PyUnicode_GetLength(op);
    if (n < 0)
        return NULL;
    end = Py_MIN(end, n);
    if (start < 0 || end < 0)
        return PyErr_Format(PyExc_IndexError, "string index out of range");
    if (start == 0 && end == n)
        return PyUnicode_FromObject(op);
    if (start >= end)
        return PyUnicode_New(0, 0);
    return PyUnicode_FromKindAndData(U(op)->kind, (char *)U(op)->data + (size_t)start * U(op)->kind, end - start);
}

PyObject *PyUnicode_Concat(PyObject *a, PyObject *b)
{
    Py_ssize_t n, m;
    PyObject *both;
    if (!PyUnicode_Check(a) || !PyUnicode_Check(b))
        return PyErr_Format(PyExc_TypeError, "can only concatenate str (not \"%.200s\") to str", Py_TYPE(b)->tp_name);
    n = PyUnicode_GET_LENGTH(a);
    m = PyUnicode_GET_LENGTH(b);
    both = PyUnicode_New(n + m, Py_MAX(PyUnicode_MAX_CHAR_VALUE(a), PyUnicode_MAX_CHAR_VALUE(b)));
    if (both != NULL) {
        PyUnicode_CopyCharacters(both, 0, a, 0, n);
        PyUnicode_CopyCharacters(both, n, b, 0, m);
    }
    return both;
}

void PyUnicode_Append(PyObject **a, PyObject *b)
{
    PyObject *both = *a != NULL && b != NULL ? PyUnicode_Concat(*a, b) : NULL;
    Py_XSETREF(*a, both);
}

void PyUnicode_AppendAndDel(PyObject **a, PyObject *b)
{
    PyUnicode_Append(a, b);
    Py_XDECREF(b);
}

PyObject *PyUnicode_Join(PyObject *separator, PyObject *items)
{
    PyObject *all = PySequence_Fast(items, "can only join an iterable"), *result = NULL;
    Py_ssize_t i, n, length = 0, at = 0, between;
    Py_UCS4 largest = 0;
    if (all == NULL)
        return NULL;
    n = PySequence_Fast_GET_SIZE(all);
    between = separator != NULL ? PyUnicode_GET_LENGTH(separator) : 1;
    if (n > 1)
        largest = separator != NULL ? PyUnicode_MAX_CHAR_VALUE(separator) : ' ';
    for (i = 0; i < n; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(all, i);
        if (item == NULL || !PyUnicode_Check(item)) {
            PyErr_Format(PyExc_TypeError, "sequence item %zd: expected str instance, %.80s found", i,
                         item != NULL ? Py_TYPE(item)->tp_name : "NULL");
            goto done;
        }
        length += PyUnicode_GET_LENGTH(item) + (i > 0 ? between : 0);
        largest = Py_MAX(largest, PyUnicode_MAX_CHAR_VALUE(item));
    }
    result = PyUnicode_New(length, largest);
    for (i = 0; result != NULL && i < n; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(all, i);
        if (i > 0 && separator != NULL)
            at += PyUnicode_CopyCharacters(result, at, separator, 0, between);
        else if (i > 0)
            PyUnicode_WRITE(U(result)->kind, U(result)->data, at++, ' ');
        at += PyUnicode_CopyCharacters(result, at, item, 0, PyUnicode_GET_LENGTH(item));
    }
done:
    Py_DECREF(all);
    return result;
}

static int matches(PyObject *op, Py_ssize_t at, PyObject *part, Py_ssize_t n)
{
    Py_ssize_t i;
    for (i = 0; i < n; i++)
        if (PyUnicode_READ_CHAR(op, at + i) != PyUnicode_READ_CHAR(part, i))
            return 0;
    return 1;
}

/* Both are str? */
static int are_texts(PyObject *op, PyObject *part)
{
    if (PyUnicode_Check(op) && PyUnicode_Check(part))
        return PyUnicode_READY(op) == 0 && PyUnicode_READY(part) == 0;
    PyErr_Format(PyExc_TypeError, "must be str, not %.100s", Py_TYPE(PyUnicode_Check(op) ? part : op)->tp_name);
    return 0;
}

Py_ssize_t PyUnicode_Find(PyObject *op, PyObject *part, Py_ssize_t start, Py_ssize_t end, int direction)
{
    Py_ssize_t n, i;
    if (!are_texts(op, part))
        return -2;
    n = PyUnicode_GET_LENGTH(part);
    if (start > PyUnicode_GET_LENGTH(op))
        return -1;
    PySlice_AdjustIndices(PyUnicode_GET_LENGTH(op), &start, &end, 1);
    if (direction > 0) {
        for (i = start; i + n <= end; i++)
            if (matches(op, i, part, n))
                return i;
    } else {
        for (i = end - n; i >= start; i--)
            if (matches(op, i, part, n))
                return i;
    }
    return -1;
}

Py_ssize_t PyUnicode_FindChar(PyObject *op, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction)
{
    PyObject *part = PyUnicode_FromOrdinal((int)c);
    Py_ssize_t at = part != NULL ? PyUnicode_Find(op, part, start, end, direction) : -2;
    Py_XDECREF(part);
    return at;
}

/* Does the part of op from start to end begin with the other text (direction -1), or end with it? */
int PyUnicode_Tailmatch(PyObject *op, PyObject *part, Py_ssize_t start, Py_ssize_t end, int direction)
{
    Py_ssize_t n;
    if (!are_texts(op, part))
        return -1;
    n = PyUnicode_GET_LENGTH(part);
    if (start > PyUnicode_GET_LENGTH(op))
        return 0;
    PySlice_AdjustIndices(PyUnicode_GET_LENGTH(op), &start, &end, 1);
    return end - start >= n && matches(op, direction > 0 ? end - n : start, part, n);
}

int PyUnicode_Contains(PyObject *op, PyObject *part)
{
    if (!PyUnicode_Check(part)) {
        PyErr_Format(PyExc_TypeError, "'in <string>' requires string as left operand, not %.100s", Py_TYPE(part)->tp_name);
        return -1;
    }
    return are_texts(op, part) ? PyUnicode_Find(op, part, 0, PY_SSIZE_T_MAX, 1) >= 0 : -1;
}

PyObject *PyUnicode_Replace(PyObject *op, PyObject *from, PyObject *to, Py_ssize_t most)
{
    Py_ssize_t at = 0, n, length, found;
    PyObject *result, *part;
    int is_first = 1;
    if (!are_texts(op, from) || !are_texts(op, to))
        return NULL;
    n = PyUnicode_GET_LENGTH(from);
    length = PyUnicode_GET_LENGTH(op);
    result = PyUnicode_New(0, 0);
    if (most < 0)
        most = PY_SSIZE_T_MAX;
    while (result != NULL && most-- > 0) {
        found = n > 0 ? PyUnicode_Find(op, from, at, length, 1) : is_first ? 0 : at + 1;      /* nothing is everywhere */
        if (found < 0 || found > length)
            break;
        is_first = 0;
        part = PyUnicode_Substring(op, at, found);
        PyUnicode_Append(&result, part);
        PyUnicode_Append(&result, to);
        Py_XDECREF(part);
        at = found + n;
    }
    part = PyUnicode_Substring(op, at, length);
    PyUnicode_Append(&result, part);
    Py_XDECREF(part);
    return result;
}

int _Py_IsSpace(Py_UCS4 c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f) || c == 0x85 || c == 0xa0 || c == 0x1680
        || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Upper and lower case are Unicode's, whatever the locale of the process is. */
static locale_t unicode;

static void find_locale(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

Py_UCS4 _PyUnicode_ToLowercase(Py_UCS4 c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (c < 128)
        return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    pthread_once(&once, find_locale);
    return unicode != (locale_t)0 ? (Py_UCS4)towlower_l((wint_t)c, unicode) : (Py_UCS4)towlower((wint_t)c);
}

int _Py_IsAlpha(Py_UCS4 c)
{
    if (c < 128)
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    (void)_PyUnicode_ToLowercase(c);        /* the locale is there */
    return (unicode != (locale_t)0 ? iswalpha_l((wint_t)c, unicode) : iswalpha((wint_t)c)) != 0;
}

Py_UCS4 _PyUnicode_ToUppercase(Py_UCS4 c)
{
    if (c < 128)
        return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c;
    (void)_PyUnicode_ToLowercase(c);        /* the locale is there */
    return unicode != (locale_t)0 ? (Py_UCS4)towupper_l((wint_t)c, unicode) : (Py_UCS4)towupper((wint_t)c);
}

/* ---- the type --------------------------------------------------------------- */

void py_empty_text(PyObject *op)
{
    if (U(op)->utf8 != U(op)->data)
        PyMem_Free(U(op)->utf8);
    PyMem_Free(U(op)->data);
    PyMem_Free(U(op)->wstr);
    memset(&U(op)->length, 0, sizeof(PyUnicodeObject) - offsetof(PyUnicodeObject, length));
}

static void dealloc(PyObject *op)
{
    py_empty_text(op);
    Py_TYPE(op)->tp_free(op);
}

static PyObject *repr(PyObject *op)
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(op);
    int quote = PyUnicode_FindChar(op, '\'', 0, n, 1) >= 0 && PyUnicode_FindChar(op, '"', 0, n, 1) < 0 ? '"' : '\'';
    py_text out = { 0 };
    PyObject *result;
    py_put(&out, quote == '"' ? "\"" : "'", 1);
    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(op, i);
        unsigned char text[16];
        if (c == (Py_UCS4)quote || c == '\\')
            py_put(&out, c == '\\' ? "\\\\" : quote == '"' ? "\\\"" : "\\'", 2);
        else if (c == '\n' || c == '\t' || c == '\r')
            py_put_text(&out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        else if (c < ' ' || c == 0x7f || (c > 0x7f && c < 0xa1) || (c >= 0xd800 && c < 0xf900) || c >= 0xe0000) {
            snprintf((char *)text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
            py_put_text(&out, (char *)text);
        } else
            py_put(&out, (char *)text, py_put_utf8(text, c));
    }
    py_put(&out, quote == '"' ? "\"" : "'", 1);
    result = out.full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(out.bytes, (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}

static PyObject *str(PyObject *op) { return PyUnicode_FromObject(op); }
static Py_ssize_t length(PyObject *op) { return PyUnicode_GetLength(op); }

static PyObject *item(PyObject *op, Py_ssize_t i)
{
    return in_range(op, i) ? PyUnicode_FromOrdinal((int)PyUnicode_READ_CHAR(op, i)) : NULL;
}

static PyObject *remainder_of(PyObject *a, PyObject *b)
{
    if (!PyUnicode_Check(a))
        Py_RETURN_NOTIMPLEMENTED;
    return PyUnicode_Format(a, b);
}

static PyObject *repeat(PyObject *op, Py_ssize_t times)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(op), i;
    PyObject *result;
    times = Py_MAX(times, 0);
    if (n > 0 && times > PY_SSIZE_T_MAX / 4 / n)
        return PyErr_NoMemory();
    result = PyUnicode_New(n * times, PyUnicode_MAX_CHAR_VALUE(op));
    for (i = 0; result != NULL && i < times; i++)
        PyUnicode_CopyCharacters(result, i * n, op, 0, n);
    return result;
}

static PyObject *unicode_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "object", "encoding", "errors", NULL };
    PyObject *x = NULL, *text, *op;
    const char *encoding = NULL, *errors = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oss:str", names, &x, &encoding, &errors))
        return NULL;
    text = x == NULL ? PyUnicode_New(0, 0) : encoding == NULL && errors == NULL ? PyObject_Str(x)
         : PyUnicode_FromEncodedObject(x, encoding, errors);
    if (text == NULL || type == &PyUnicode_Type)
        return text;
    op = type->tp_alloc(type, 0);
    if (op != NULL) {
        U(op)->hash = -1;
        if (give_data(op, PyUnicode_GET_LENGTH(text), PyUnicode_MAX_CHAR_VALUE(text)))
            memcpy(U(op)->data, U(text)->data, (size_t)U(text)->length * U(text)->kind);
        else {
            Py_CLEAR(op);
            PyErr_NoMemory();
        }
    }
    Py_DECREF(text);
    return op;
}

static PySequenceMethods as_sequence = {
    .sq_length = length, .sq_concat = PyUnicode_Concat, .sq_repeat = repeat, .sq_item = item,
    .sq_contains = PyUnicode_Contains
};
static PyNumberMethods as_number = { .nb_remainder = remainder_of };
static PyMappingMethods as_mapping = { .mp_length = length, .mp_subscript = py_subscript };

PyTypeObject PyUnicode_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "str", .tp_basicsize = sizeof(PyUnicodeObject),
    .tp_dealloc = dealloc, .tp_repr = repr, .tp_str = str, .tp_hash = hash, .tp_as_number = &as_number, .tp_as_sequence = &as_sequence,
    .tp_as_mapping = &as_mapping, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_UNICODE_SUBCLASS,
    .tp_richcompare = PyUnicode_RichCompare, .tp_iter = PySeqIter_New, .tp_methods = py_str_methods, .tp_new = unicode_new
};
