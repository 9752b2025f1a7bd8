/* format.c - PyUnicode_FromFormat: text with the values of C and objects in it; and `format % args`. */
#include "internal.h"

/* Puts the text of an object, new; NULL: it failed. 0 after a failure. */
static int grow(py_text *out, size_t length)
{
    size_t capacity = out->capacity < 64 ? 64 : out->capacity;
    char *bytes;
    while (capacity < length && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    bytes = capacity >= length ? realloc(out->bytes, capacity) : NULL;
    if (bytes == NULL)
        return 0;
    out->bytes = bytes;
    out->capacity = capacity;
    return 1;
}

void py_put(py_text *out, const char *bytes, size_t length)
{
    if (length == 0 || out->full)
        return;
    if (length > out->capacity - out->length && !grow(out, out->length + length)) {
        out->full = 1;
        return;
    }
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

void py_put_text(py_text *out, const char *zero_terminated)
{
    py_put(out, zero_terminated, strlen(zero_terminated));
}

void py_text_free(py_text *out)
{
    free(out->bytes);
    memset(out, 0, sizeof *out);
}

static int put_text(py_text *out, PyObject *text, int precision)
{
    Py_ssize_t n, i = 0;
    const char *utf8;
    if (text != NULL && precision >= 0 && PyUnicode_GET_LENGTH(text) > precision) {
        PyObject *part = PyUnicode_Substring(text, 0, precision);
        Py_SETREF(text, part);
    }
    (void)i;
    utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    if (utf8 != NULL)
        py_put(out, utf8, (size_t)n);
    Py_XDECREF(text);
    return utf8 != NULL;
}

/* One conversion, whose flags and width stand in spec ("%-5.3"), with a length of l, ll, z, or none. */
static int put_number(py_text *out, const char *spec, size_t n, const char *length, char conversion, va_list *args)
{
    char format[48], text[128];
    if (n + strlen(length) + 2 > sizeof format)
        return 0;
    memcpy(format, spec, n);
    snprintf(format + n, sizeof format - n, "%s%c", length, conversion);
    if (strcmp(length, "l") == 0)
        snprintf(text, sizeof text, format, va_arg(*args, long));
    else if (strcmp(length, "ll") == 0)
        snprintf(text, sizeof text, format, va_arg(*args, long long));
    else if (strcmp(length, "z") == 0)
        snprintf(text, sizeof text, format, va_arg(*args, Py_ssize_t));
    else
        snprintf(text, sizeof text, format, va_arg(*args, int));
    py_put_text(out, text);
    return 1;
}

static int put_string(py_text *out, const char *text, int precision)
{
    size_t n = 0;
    PyObject *decoded;
    while ((precision < 0 || n < (size_t)precision) && text[n] != '\0')
        n++;
    decoded = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
    return put_text(out, decoded, -1);
}

static int put_conversion(py_text *out, const char **at, va_list *args)
{
    const char *spec = *at, *length = "";
    int precision = -1;
    size_t n;
    PyObject *op;
    char character[5] = "";
    for ((*at)++; strchr("-+ #0", **at) != NULL && **at != '\0'; (*at)++)
        ;
    while (isdigit((unsigned char)**at))
        (*at)++;
    if (**at == '.') {
        precision = 0;
        for ((*at)++; isdigit((unsigned char)**at); (*at)++)
            precision = precision * 10 + (**at - '0');
    }
    n = (size_t)(*at - spec);
    if (**at == 'l')
        length = (*at)[1] == 'l' ? "ll" : "l";
    else if (**at == 'z')
        length = "z";
    *at += strlen(length);
    switch (*(*at)++) {
    case '%': py_put(out, "%", 1); return 1;
    case 'd': case 'i': case 'u': case 'x': case 'X': return put_number(out, spec, n, length, (*at)[-1], args);
    case 'c':
        op = PyUnicode_FromOrdinal(va_arg(*args, int));
        return put_text(out, op, -1);
    case 'p':
        snprintf(character, sizeof character, "0x");
        py_put_text(out, character);
        {
            char text[40];
            snprintf(text, sizeof text, "%llx", (unsigned long long)(uintptr_t)va_arg(*args, void *));
            py_put_text(out, text);
        }
        return 1;
    case 's': return put_string(out, va_arg(*args, const char *), precision);
    case 'U': return put_text(out, Py_NewRef(va_arg(*args, PyObject *)), precision);
    case 'V':
        op = va_arg(*args, PyObject *);
        if (op != NULL) {
            (void)va_arg(*args, const char *);
            return put_text(out, Py_NewRef(op), precision);
        }
        return put_string(out, va_arg(*args, const char *), precision);
    case 'S': return put_text(out, PyObject_Str(va_arg(*args, PyObject *)), precision);
    case 'R': return put_text(out, PyObject_Repr(va_arg(*args, PyObject *)), precision);
    case 'A': return put_text(out, PyObject_ASCII(va_arg(*args, PyObject *)), precision);
    default:
        PyErr_Format(PyExc_SystemError, "invalid format string");
        return 0;
    }
}

PyObject *PyUnicode_FromFormatV(const char *format, va_list args)
{
    py_text out = { 0 };
    PyObject *result = NULL;
    va_list rest;
    int ok = 1;
    va_copy(rest, args);
    while (ok && *format != '\0') {
        if (*format == '%') {
            ok = put_conversion(&out, &format, &rest);
        } else {
            size_t n = strcspn(format, "%");
            py_put(&out, format, n);
            format += n;
        }
    }
    va_end(rest);
    if (ok)
        result = out.full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}

PyObject *PyUnicode_FromFormat(const char *format, ...)
{
    va_list args;
    PyObject *result;
    va_start(args, format);
    result = PyUnicode_FromFormatV(format, args);
    va_end(args);
    return result;
}

/* ---- format % args -------------------------------------------------------------- */

/* The next argument, borrowed. */
static PyObject *next_argument(PyObject *args, Py_ssize_t *at)
{
    if (!PyTuple_Check(args))
        return (*at)++ == 0 ? args : PyErr_Format(PyExc_TypeError, "not enough arguments for format string");
    if (*at >= PyTuple_GET_SIZE(args))
        return PyErr_Format(PyExc_TypeError, "not enough arguments for format string");
    return PyTuple_GET_ITEM(args, (*at)++);
}

/* spec has the flags, the width and the precision, n bytes of it. */
static int put_argument(py_text *out, const char *spec, size_t n, int precision, char conversion, PyObject *arg)
{
    char format[40], text[400];
    double x;
    switch (conversion) {
    case 's': return put_text(out, PyObject_Str(arg), precision);
    case 'r': return put_text(out, PyObject_Repr(arg), precision);
    case 'a': return put_text(out, PyObject_ASCII(arg), precision);
    case 'd': case 'i': case 'u': {
        PyObject *i = PyNumber_Long(arg);
        int ok = i != NULL && put_text(out, PyObject_Str(i), -1);
        Py_XDECREF(i);
        return ok;
    }
    case 'c':
        return put_text(out, PyUnicode_Check(arg) ? Py_NewRef(arg) : PyUnicode_FromOrdinal((int)PyLong_AsLong(arg)), 1);
    case 'x': case 'X': case 'o': {
        long long number = PyLong_AsLongLong(arg);

        if ((number == -1 && PyErr_Occurred()) || n + 4 > sizeof format)
            return 0;
        snprintf(format, sizeof format, "%.*sll%c", (int)n, spec, conversion);
        snprintf(text, sizeof text, format, number);
        break;
    }
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
        x = PyFloat_AsDouble(arg);
        if ((x == -1 && PyErr_Occurred()) || n + 2 > sizeof format)
            return 0;
        snprintf(format, sizeof format, "%.*s%c", (int)n, spec, conversion);
        snprintf(text, sizeof text, format, x);
        break;
    default:
        PyErr_Format(PyExc_ValueError, "unsupported format character '%c'", conversion);
        return 0;
    }
    py_put_text(out, text);
    return 1;
}

PyObject *PyUnicode_Format(PyObject *format, PyObject *args)
{
    py_text out = { 0 };
    const char *at = PyUnicode_AsUTF8(format);
    PyObject *result = NULL;
    Py_ssize_t used = 0;
    int ok = at != NULL;
    while (ok && *at != '\0') {
        const char *spec = at;
        size_t n = strcspn(at, "%");
        int precision = -1;
        PyObject *arg;
        py_put(&out, at, n);
        at += n;
        if (*at == '\0')
            break;
        spec = at++;
        at += strspn(at, "-+ #0123456789");
        if (*at == '.') {
            precision = atoi(at + 1);
            at += 1 + strspn(at + 1, "0123456789");
        }
        if (*at == '%') {
            py_put(&out, at++, 1);
            continue;
        }
        arg = next_argument(args, &used);
        ok = arg != NULL && *at != '\0' && put_argument(&out, spec, (size_t)(at - spec), precision, *at, arg);
        at++;
    }
    if (ok && PyTuple_Check(args) && used < PyTuple_GET_SIZE(args)) {
        PyErr_SetString(PyExc_TypeError, "not all arguments converted during string formatting");
        ok = 0;
    }
    if (ok)
        result = out.full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}

/* ---- format.format(args...) ------------------------------------------------------- */

/* "{}", "{0}" or "{name}", each with !r, !s or !a, and a specification behind a colon; {{ and }}. */
PyObject *py_format_braces(PyObject *format, PyObject *args, PyObject *kwargs)
{
    py_text out = { 0 };
    const char *at = PyUnicode_AsUTF8(format);
    PyObject *result = NULL;
    Py_ssize_t used = 0;
    int ok = at != NULL;
    while (ok && *at != '\0') {
        size_t n = strcspn(at, "{}");
        char field[100], *mark, *colon;
        PyObject *arg, *spec = NULL, *text = NULL;
        py_put(&out, at, n);
        at += n;
        if (*at == '\0')
            break;
        if (at[0] == at[1]) {
            py_put(&out, at, 1);
            at += 2;
            continue;
        }
        n = strcspn(++at, "}");
        snprintf(field, sizeof field, "%.*s", (int)n, at);
        at += n + (at[n] != '\0');
        if (strchr(field, '{') != NULL || n >= sizeof field) {
            PyErr_SetString(PyExc_ValueError, "this format is not supported");
            ok = 0;
            break;
        }
        colon = strchr(field, ':');
        if (colon != NULL)
            *colon++ = '\0';
        mark = strchr(field, '!');
        if (mark != NULL)
            *mark++ = '\0';
        arg = field[0] == '\0' ? PyTuple_GetItem(args, used++) : isdigit((unsigned char)field[0]) ? PyTuple_GetItem(args, atoi(field))
            : kwargs != NULL ? PyDict_GetItemString(kwargs, field) : NULL;
        if (arg == NULL && !PyErr_Occurred())
            PyErr_SetString(PyExc_KeyError, field);
        spec = arg != NULL ? PyUnicode_FromString(colon != NULL ? colon : "") : NULL;
        if (spec != NULL)
            arg = mark == NULL ? Py_NewRef(arg) : *mark == 's' ? PyObject_Str(arg) : *mark == 'r' ? PyObject_Repr(arg) : PyObject_ASCII(arg);
        if (spec != NULL && arg != NULL) {
            text = PyObject_Format(arg, spec);
            Py_DECREF(arg);
        }
        Py_XDECREF(spec);
        ok = text != NULL && put_text(&out, text, -1);
    }
    if (ok)
        result = out.full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}
