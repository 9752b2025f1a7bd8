/* bytesmethods.c - the methods of bytes and bytearray, and what changes a bytearray.
 *
 * Most methods are those of a str that has a character for each byte. Only ASCII has letters and white space here:
 * other bytes are characters of the private use area, which are neither. */
#include "internal.h"

#define A(op) ((PyByteArrayObject *)(void *)(op))

enum { TAKES_INTS = 1, LINES = 2 };     /* an int is a byte; only \n and \r end a line */

static PyObject *text_of(PyObject *op, int flags)
{
    Py_buffer view;
    PyObject *text;
    Py_UCS2 *characters;
    Py_ssize_t i;
    if (PyObject_GetBuffer(op, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    characters = PyMem_Malloc(((size_t)view.len + 1) * sizeof *characters);
    for (i = 0; characters != NULL && i < view.len; i++) {
        unsigned char c = ((const unsigned char *)view.buf)[i];
        int is_other = c >= 0x80 || (c >= 0x1c && c <= 0x1f) || ((flags & LINES) && (c == '\v' || c == '\f'));
        characters[i] = (Py_UCS2)(is_other ? 0xe000 + c : c);
    }
    text = characters != NULL ? PyUnicode_FromKindAndData(PyUnicode_2BYTE_KIND, characters, view.len) : PyErr_NoMemory();
    PyMem_Free(characters);
    PyBuffer_Release(&view);
    return text;
}

static PyObject *bytes_like(PyObject *self, const char *bytes, Py_ssize_t n)
{
    return PyByteArray_Check(self) ? PyByteArray_FromStringAndSize(bytes, n) : PyBytes_FromStringAndSize(bytes, n);
}

/* What a method of str takes: bytes become a text, also in a tuple. */
static PyObject *argument_of(PyObject *arg, int flags)
{
    PyObject *all;
    Py_ssize_t i;
    if (PyUnicode_Check(arg))
        return PyErr_Format(PyExc_TypeError, "a bytes-like object is required, not 'str'");
    if (PyObject_CheckBuffer(arg))
        return text_of(arg, flags);
    if (!PyTuple_Check(arg))
        return Py_NewRef(arg);
    all = PyTuple_New(PyTuple_GET_SIZE(arg));
    for (i = 0; all != NULL && i < PyTuple_GET_SIZE(arg); i++) {
        PyObject *one = argument_of(PyTuple_GET_ITEM(arg, i), flags);
        if (one != NULL)
            PyTuple_SET_ITEM(all, i, one);
        else
            Py_CLEAR(all);
    }
    return all;
}

/* What the method gives, which is taken over, with bytes in place of texts. */
static PyObject *result_of(PyObject *self, PyObject *result)
{
    PyObject *bytes;
    Py_ssize_t i, n;
    if (result == NULL || (!PyUnicode_Check(result) && !PyList_Check(result) && !PyTuple_Check(result)))
        return result;
    n = PyUnicode_Check(result) ? PyUnicode_GET_LENGTH(result) : PySequence_Size(result);
    bytes = PyUnicode_Check(result) ? bytes_like(self, NULL, n) : PyList_Check(result) ? PyList_New(n) : PyTuple_New(n);
    for (i = 0; bytes != NULL && i < n; i++) {
        if (PyUnicode_Check(result)) {
            (PyByteArray_Check(bytes) ? PyByteArray_AS_STRING(bytes) : PyBytes_AS_STRING(bytes))[i] = (char)PyUnicode_READ_CHAR(result, i);
            continue;
        }
        PyObject *one = result_of(self, PySequence_GetItem(result, i));
        if (one == NULL)
            Py_CLEAR(bytes);
        else if (PyList_Check(bytes))
            PyList_SET_ITEM(bytes, i, one);
        else
            PyTuple_SET_ITEM(bytes, i, one);
    }
    Py_DECREF(result);
    return bytes;
}

static int byte_of(PyObject *op)
{
    Py_ssize_t byte = PyNumber_AsSsize_t(op, NULL);
    if (byte == -1 && PyErr_Occurred())
        return -1;
    if (byte >= 0 && byte <= 255)
        return (int)byte;
    PyErr_SetString(PyExc_ValueError, "byte must be in range(0, 256)");
    return -1;
}

static PyObject *by_text(PyObject *self, const char *name, PyObject *args, PyObject *kwargs, int flags)
{
    PyObject *text = text_of(self, flags), *method = text != NULL ? PyObject_GetAttrString(text, name) : NULL;
    PyObject *all = NULL, *first = NULL, *result = NULL, *names = NULL, *key, *value;
    Py_ssize_t at = 0;
    int byte = 0, ok = method != NULL;
    if (ok && (flags & TAKES_INTS) && PyTuple_GET_SIZE(args) > 0 && PyIndex_Check(PyTuple_GET_ITEM(args, 0))) {
        char c = (char)(byte = byte_of(PyTuple_GET_ITEM(args, 0)));
        first = byte >= 0 ? PyBytes_FromStringAndSize(&c, 1) : NULL;
        ok = first != NULL;
    }
    all = ok ? argument_of(args, flags) : NULL;
    if (all != NULL && first != NULL && PyTuple_SetItem(all, 0, text_of(first, flags)) < 0)
        Py_CLEAR(all);
    names = all != NULL && kwargs != NULL ? PyDict_New() : NULL;
    ok = all != NULL && (kwargs == NULL || names != NULL);
    while (ok && kwargs != NULL && PyDict_Next(kwargs, &at, &key, &value)) {
        PyObject *converted = argument_of(value, flags);
        ok = converted != NULL && PyDict_SetItem(names, key, converted) == 0;
        Py_XDECREF(converted);
    }
    if (ok)
        result = result_of(self, PyObject_Call(method, all, names));
    if (result == NULL && ok && strstr(name, "index") != NULL && PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_SetString(PyExc_ValueError, "subsection not found");
    Py_XDECREF(names);
    Py_XDECREF(first);
    Py_XDECREF(all);
    Py_XDECREF(method);
    Py_XDECREF(text);
    return result;
}

#define TEXT_METHODS(X) \
    X(find, TAKES_INTS) X(rfind, TAKES_INTS) X(index, TAKES_INTS) X(rindex, TAKES_INTS) X(count, TAKES_INTS) X(startswith, 0) \
    X(endswith, 0) X(removeprefix, 0) X(removesuffix, 0) X(replace, 0) X(split, 0) X(rsplit, 0) X(splitlines, LINES) X(partition, 0) \
    X(rpartition, 0) X(strip, 0) X(lstrip, 0) X(rstrip, 0) X(ljust, 0) X(rjust, 0) X(center, 0) X(zfill, 0) X(lower, 0) X(upper, 0) \
    X(capitalize, 0) X(title, 0) X(swapcase, 0) X(isalpha, 0) X(isdigit, 0) X(isalnum, 0) X(isspace, 0) X(isupper, 0) X(islower, 0)
#define TEXT_METHOD(name, flags) \
    static PyObject *method_##name(PyObject *op, PyObject *args, PyObject *kwargs) { return by_text(op, #name, args, kwargs, flags); }
TEXT_METHODS(TEXT_METHOD)

/* ---- methods of their own ------------------------------------------------------- */

static PyObject *method_isascii(PyObject *op, PyObject *none)
{
    Py_buffer view;
    Py_ssize_t i;
    (void)none;
    if (PyObject_GetBuffer(op, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    for (i = 0; i < view.len && ((const unsigned char *)view.buf)[i] < 0x80; i++)
        ;
    PyBuffer_Release(&view);
    return PyBool_FromLong(i == view.len);
}

/* The bytes that op now has, as an object. */
static PyObject *fixed(PyObject *op) { return PyBytes_CheckExact(op) ? Py_NewRef(op) : PyBytes_FromObject(op); }

static PyObject *method_join(PyObject *op, PyObject *items)
{
    PyObject *separator = fixed(op), *joined = separator != NULL ? _PyBytes_Join(separator, items) : NULL;
    if (joined != NULL && PyByteArray_Check(op))
        Py_SETREF(joined, PyByteArray_FromStringAndSize(PyBytes_AS_STRING(joined), PyBytes_GET_SIZE(joined)));
    Py_XDECREF(separator);
    return joined;
}

static PyObject *method_decode(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "encoding", "errors", NULL };
    const char *encoding = NULL, *errors = NULL;
    PyObject *bytes, *text;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|ss:decode", names, &encoding, &errors))
        return NULL;
    bytes = fixed(op);
    text = bytes != NULL ? PyUnicode_Decode(PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes), encoding, errors) : NULL;
    Py_XDECREF(bytes);
    return text;
}

/* With a separator between groups of bytes, from the right, or from the left if group is negative; with none if it is 0. */
PyObject *_Py_strhex_with_sep(const char *bytes, Py_ssize_t n, PyObject *separator, int group)
{
    Py_ssize_t size = group < 0 ? -(Py_ssize_t)group : group, i;
    Py_UCS4 between = 0;
    Py_UCS1 *to;
    PyObject *text;
    if (separator != NULL) {
        Py_ssize_t length = PyObject_Size(separator);
        if (length < 0)
            return NULL;
        if (length != 1)
            return PyErr_Format(PyExc_ValueError, "sep must be length 1.");
        if (!PyUnicode_Check(separator) && !PyBytes_Check(separator))
            return PyErr_Format(PyExc_TypeError, "sep must be str or bytes.");
        between = PyUnicode_Check(separator) ? PyUnicode_READ_CHAR(separator, 0) : (unsigned char)*PyBytes_AS_STRING(separator);
        if (between > 127)
            return PyErr_Format(PyExc_ValueError, "sep must be ASCII.");
    }
    if (separator == NULL || size == 0)
        size = n + 1;
    text = PyUnicode_New(n > 0 ? 2 * n + (n - 1) / size : 0, 127);
    to = text != NULL ? PyUnicode_1BYTE_DATA(text) : NULL;
    for (i = 0; text != NULL && i < n; i++) {
        if (i > 0 && (group < 0 ? i : n - i) % size == 0)
            *to++ = (Py_UCS1)between;
        *to++ = (Py_UCS1)Py_hexdigits[(unsigned char)bytes[i] >> 4];
        *to++ = (Py_UCS1)Py_hexdigits[bytes[i] & 15];
    }
    return text;
}

static PyObject *method_hex(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "sep", "bytes_per_sep", NULL };
    PyObject *separator = NULL, *text;
    Py_buffer view;
    int group = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Oi:hex", names, &separator, &group)
        || PyObject_GetBuffer(op, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    text = _Py_strhex_with_sep(view.buf, view.len, separator, group);
    PyBuffer_Release(&view);
    return text;
}

static int digit_of(char c)
{
    const char *digits = "0123456789abcdef", *at = c != '\0' ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static PyObject *method_fromhex(PyObject *type, PyObject *text)
{
    Py_ssize_t n = 0, used = 0, i;
    const char *at;
    PyObject *bytes;
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "fromhex() argument must be str, not %.200s", Py_TYPE(text)->tp_name);
    at = PyUnicode_AsUTF8AndSize(text, &n);
    bytes = at != NULL ? PyBytes_FromStringAndSize(NULL, n / 2) : NULL;
    for (i = 0; bytes != NULL && i < n;) {
        if (isspace((unsigned char)at[i])) {
            i++;
        } else if (digit_of(at[i]) < 0 || digit_of(at[i + 1]) < 0) {
            PyErr_Format(PyExc_ValueError, "non-hexadecimal number found in fromhex() arg at position %zd", i + (digit_of(at[i]) >= 0));
            Py_CLEAR(bytes);
        } else {
            PyBytes_AS_STRING(bytes)[used++] = (char)(digit_of(at[i]) * 16 + digit_of(at[i + 1]));
            i += 2;
        }
    }
    if (bytes == NULL || _PyBytes_Resize(&bytes, used) < 0)
        return NULL;
    if (type != (PyObject *)(void *)&PyBytes_Type)
        Py_SETREF(bytes, PyObject_CallOneArg(type, bytes));
    return bytes;
}

int py_bytes_contain(PyObject *op, PyObject *part)
{
    PyObject *args = PyTuple_Pack(1, part), *at = args != NULL ? by_text(op, "find", args, NULL, TAKES_INTS) : NULL;
    int found = at != NULL ? PyLong_AsLong(at) >= 0 : -1;
    Py_XDECREF(args);
    Py_XDECREF(at);
    return found;
}

#define TEXT_METHOD_DEF(name, flags) { #name, _PyCFunction_CAST(method_##name), METH_VARARGS | METH_KEYWORDS, NULL },
#define BYTES_METHODS \
    TEXT_METHODS(TEXT_METHOD_DEF) { "isascii", method_isascii, METH_NOARGS, NULL }, { "join", method_join, METH_O, NULL }, \
    { "decode", _PyCFunction_CAST(method_decode), METH_VARARGS | METH_KEYWORDS, NULL }, { "hex", _PyCFunction_CAST(method_hex), METH_VARARGS | METH_KEYWORDS, NULL }, \
    { "fromhex", method_fromhex, METH_O | METH_CLASS, NULL }

PyMethodDef py_bytes_methods[] = { BYTES_METHODS, { NULL, NULL, 0, NULL } };

/* ---- a bytearray changes --------------------------------------------------------- */

/* The bytes from start to end go, and n others are there then, which are not set. 0 after a failure. */
static int make_room(PyObject *op, Py_ssize_t start, Py_ssize_t end, Py_ssize_t n)
{
    Py_ssize_t size = PyByteArray_GET_SIZE(op), behind = size - end;
    if (n > PY_SSIZE_T_MAX - 1 - start - behind)
        return PyErr_NoMemory() != NULL;
    if (n < end - start) {
        if (A(op)->ob_exports > 0)
            return PyByteArray_Resize(op, start + n + behind) == 0;         /* it refuses */
        memmove(A(op)->ob_start + start + n, A(op)->ob_start + end, (size_t)behind);
    }
    if (PyByteArray_Resize(op, start + n + behind) < 0)
        return 0;
    if (n > end - start)
        memmove(A(op)->ob_start + start + n, A(op)->ob_start + end, (size_t)behind);
    return 1;
}

/* New: what is to be put into a bytearray. */
static PyObject *bytes_of(PyObject *value)
{
    PyObject *bytes;
    if (PyUnicode_Check(value) || (!PyObject_CheckBuffer(value) && Py_TYPE(value)->tp_iter == NULL && !PySequence_Check(value)))
        return PyErr_Format(PyExc_TypeError, "can assign only bytes, buffers, or iterables of ints in range(0, 256)");
    bytes = PyBytes_FromObject(value);
    if (bytes == NULL && PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_SetString(PyExc_ValueError, "byte must be in range(0, 256)");
    return bytes;
}

static int splice(PyObject *op, Py_ssize_t start, Py_ssize_t end, PyObject *value)
{
    PyObject *bytes = bytes_of(value);
    Py_ssize_t size = PyByteArray_GET_SIZE(op);         /* (the items of value may have changed it) */
    int ok = bytes != NULL && make_room(op, Py_MIN(start, size), Py_MIN(end, size), PyBytes_GET_SIZE(bytes));
    if (ok)
        memcpy(A(op)->ob_start + Py_MIN(start, size), PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
    Py_XDECREF(bytes);
    return ok;
}

static int set_byte(PyObject *op, Py_ssize_t i, PyObject *value)
{
    int byte = value != NULL ? byte_of(value) : 0;
    if (byte < 0)
        return -1;
    if (i < 0 || i >= PyByteArray_GET_SIZE(op)) {
        PyErr_SetString(PyExc_IndexError, "bytearray index out of range");
        return -1;
    }
    if (value == NULL)
        return make_room(op, i, i + 1, 0) ? 0 : -1;
    A(op)->ob_start[i] = (char)byte;
    return 0;
}

static PyObject *get_byte(PyObject *op, Py_ssize_t i)
{
    if (i < 0 || i >= PyByteArray_GET_SIZE(op))
        return PyErr_Format(PyExc_IndexError, "bytearray index out of range");
    return PyLong_FromLong((unsigned char)A(op)->ob_start[i]);
}

/* The number of an index, counted from the beginning. */
static Py_ssize_t place_of(PyObject *op, PyObject *key)
{
    Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    return i < 0 && !PyErr_Occurred() ? i + PyByteArray_GET_SIZE(op) : i;
}

static PyObject *subscript(PyObject *op, PyObject *key)
{
    Py_ssize_t start, stop, step, n, i;
    PyObject *part;
    if (PyIndex_Check(key)) {
        i = place_of(op, key);
        return PyErr_Occurred() ? NULL : get_byte(op, i);
    }
    if (!PySlice_Check(key))
        return PyErr_Format(PyExc_TypeError, "bytearray indices must be integers or slices, not %.200s", Py_TYPE(key)->tp_name);
    if (PySlice_GetIndicesEx(key, PyByteArray_GET_SIZE(op), &start, &stop, &step, &n) < 0)
        return NULL;
    part = PyByteArray_FromStringAndSize(NULL, n);
    for (i = 0; part != NULL && i < n; i++)
        A(part)->ob_start[i] = A(op)->ob_start[start + i * step];
    return part;
}

static int set_slice(PyObject *op, PyObject *key, PyObject *value)
{
    Py_ssize_t start, stop, step, n, i;
    PyObject *bytes = value != NULL ? bytes_of(value) : PyBytes_FromStringAndSize(NULL, 0);
    int code = -1;
    if (bytes == NULL || PySlice_GetIndicesEx(key, PyByteArray_GET_SIZE(op), &start, &stop, &step, &n) < 0) {
        Py_XDECREF(bytes);
        return -1;
    }
    if (step == 1) {
        code = splice(op, start, start + n, bytes) ? 0 : -1;
    } else if (PyBytes_GET_SIZE(bytes) == 0) {
        for (i = 0, code = 0; i < n && code == 0; i++) {        /* from the last one on */
            Py_ssize_t at = start + (step > 0 ? n - 1 - i : i) * step;
            code = make_room(op, at, at + 1, 0) ? 0 : -1;
        }
    } else if (PyBytes_GET_SIZE(bytes) != n) {
        PyErr_Format(PyExc_ValueError, "attempt to assign bytes of size %zd to extended slice of size %zd", PyBytes_GET_SIZE(bytes), n);
    } else {
        for (i = 0; i < n; i++)
            A(op)->ob_start[start + i * step] = PyBytes_AS_STRING(bytes)[i];
        code = 0;
    }
    Py_DECREF(bytes);
    return code;
}

static int set_subscript(PyObject *op, PyObject *key, PyObject *value)
{
    if (PyIndex_Check(key)) {
        Py_ssize_t i = place_of(op, key);
        return PyErr_Occurred() ? -1 : set_byte(op, i, value);
    }
    if (PySlice_Check(key))
        return set_slice(op, key, value);
    PyErr_Format(PyExc_TypeError, "bytearray indices must be integers or slices, not %.200s", Py_TYPE(key)->tp_name);
    return -1;
}

static PyObject *repeated(PyObject *op, Py_ssize_t times)
{
    PyObject *result;
    Py_ssize_t n = PyByteArray_GET_SIZE(op), i;
    times = times < 0 ? 0 : times;
    if (n > 0 && times > (PY_SSIZE_T_MAX - 1) / n)
        return PyErr_NoMemory();
    result = PyByteArray_FromStringAndSize(NULL, n * times);
    for (i = 0; result != NULL && i < times; i++)
        memcpy(A(result)->ob_start + i * n, A(op)->ob_start, (size_t)n);
    return result;
}

static PyObject *append_all(PyObject *op, PyObject *value)
{
    return splice(op, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, value) ? Py_NewRef(op) : NULL;
}

static PyObject *none_if(int ok) { return ok ? Py_NewRef(Py_None) : NULL; }

static PyObject *method_extend(PyObject *op, PyObject *value)
{
    return none_if(splice(op, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, value));
}

static PyObject *insert(PyObject *op, Py_ssize_t at, PyObject *value)
{
    Py_ssize_t n;
    int byte = byte_of(value);
    if (byte < 0)
        return NULL;
    n = PyByteArray_GET_SIZE(op);
    at = at < 0 ? Py_MAX(at + n, 0) : Py_MIN(at, n);
    return none_if(make_room(op, at, at, 1) && set_byte(op, at, value) == 0);
}

static PyObject *method_append(PyObject *op, PyObject *value) { return insert(op, PY_SSIZE_T_MAX, value); }

static PyObject *method_insert(PyObject *op, PyObject *args)
{
    Py_ssize_t at;
    PyObject *value;
    return PyArg_ParseTuple(args, "nO:insert", &at, &value) ? insert(op, at, value) : NULL;
}

static PyObject *method_pop(PyObject *op, PyObject *args)
{
    Py_ssize_t at = -1;
    PyObject *byte;
    if (!PyArg_ParseTuple(args, "|n:pop", &at))
        return NULL;
    if (PyByteArray_GET_SIZE(op) == 0)
        return PyErr_Format(PyExc_IndexError, "pop from empty bytearray");
    at += at < 0 ? PyByteArray_GET_SIZE(op) : 0;
    if (at < 0 || at >= PyByteArray_GET_SIZE(op))
        return PyErr_Format(PyExc_IndexError, "pop index out of range");
    byte = get_byte(op, at);
    if (byte != NULL && !make_room(op, at, at + 1, 0))
        Py_CLEAR(byte);
    return byte;
}

static PyObject *method_remove(PyObject *op, PyObject *value)
{
    int byte = byte_of(value);
    const char *at = byte >= 0 ? memchr(A(op)->ob_start, byte, (size_t)PyByteArray_GET_SIZE(op)) : NULL;
    if (byte >= 0 && at == NULL)
        return PyErr_Format(PyExc_ValueError, "value not found in bytearray");
    return none_if(at != NULL && make_room(op, at - A(op)->ob_start, at - A(op)->ob_start + 1, 0));
}

static PyObject *method_reverse(PyObject *op, PyObject *none)
{
    Py_ssize_t i, n = PyByteArray_GET_SIZE(op);
    (void)none;
    for (i = 0; i < n / 2; i++) {
        char c = A(op)->ob_start[i];
        A(op)->ob_start[i] = A(op)->ob_start[n - 1 - i];
        A(op)->ob_start[n - 1 - i] = c;
    }
    Py_RETURN_NONE;
}

static PyObject *method_clear(PyObject *op, PyObject *none) { (void)none; return none_if(make_room(op, 0, PyByteArray_GET_SIZE(op), 0)); }
static PyObject *method_copy(PyObject *op, PyObject *none) { (void)none; return PyByteArray_FromStringAndSize(A(op)->ob_start, PyByteArray_GET_SIZE(op)); }

PyMethodDef py_bytearray_methods[] = {
    BYTES_METHODS, { "append", method_append, METH_O, NULL }, { "extend", method_extend, METH_O, NULL },
    { "insert", method_insert, METH_VARARGS, NULL }, { "pop", method_pop, METH_VARARGS, NULL }, { "remove", method_remove, METH_O, NULL },
    { "reverse", method_reverse, METH_NOARGS, NULL }, { "clear", method_clear, METH_NOARGS, NULL }, { "copy", method_copy, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL }
};

PySequenceMethods py_bytearray_as_sequence = {
    .sq_length = PyByteArray_Size, .sq_concat = PyByteArray_Concat, .sq_repeat = repeated, .sq_item = get_byte,
    .sq_ass_item = set_byte, .sq_contains = py_bytes_contain, .sq_inplace_concat = append_all
};
PyMappingMethods py_bytearray_as_mapping = { .mp_length = PyByteArray_Size, .mp_subscript = subscript, .mp_ass_subscript = set_subscript };
