/* format.c - PyUnicode_FromFormat: text with the values of C and objects in it. */
#include "internal.h"

/* Puts the text of an object, new; NULL: it failed. 0 after a failure. */
static int put_text(cvm_buffer *out, PyObject *text, int precision)
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
        cvm_put(out, utf8, (size_t)n);
    Py_XDECREF(text);
    return utf8 != NULL;
}

/* One conversion, whose flags and width stand in spec ("%-5.3"), with a length of l, ll, z, or none. */
static int put_number(cvm_buffer *out, const char *spec, size_t n, const char *length, char conversion, va_list *args)
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
    cvm_put_text(out, text);
    return 1;
}

static int put_string(cvm_buffer *out, const char *text, int precision)
{
    size_t n = 0;
    PyObject *decoded;

    while ((precision < 0 || n < (size_t)precision) && text[n] != '\0')
        n++;
    decoded = PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
    return put_text(out, decoded, -1);
}

static int put_conversion(cvm_buffer *out, const char **at, va_list *args)
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
    case '%': cvm_put(out, "%", 1); return 1;
    case 'd': case 'i': case 'u': case 'x': case 'X': return put_number(out, spec, n, length, (*at)[-1], args);
    case 'c':
        op = PyUnicode_FromOrdinal(va_arg(*args, int));
        return put_text(out, op, -1);
    case 'p':
        snprintf(character, sizeof character, "0x");
        cvm_put_text(out, character);
        {
            char text[40];

            snprintf(text, sizeof text, "%llx", (unsigned long long)(uintptr_t)va_arg(*args, void *));
            cvm_put_text(out, text);
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
    cvm_buffer out = { 0 };
    PyObject *result = NULL;
    va_list rest;
    int ok = 1;

    va_copy(rest, args);
    while (ok && *format != '\0') {
        if (*format == '%') {
            ok = put_conversion(&out, &format, &rest);
        } else {
            size_t n = strcspn(format, "%");

            cvm_put(&out, format, n);
            format += n;
        }
    }
    va_end(rest);
    if (ok)
        result = out.full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    cvm_buffer_free(&out);
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
