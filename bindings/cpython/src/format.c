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

typedef struct percent {                /* what stands between a % and its conversion */
    int left, alternate, zero;
    char sign;                          /* for numbers that are not negative: '+', ' ', or 0 */
    Py_ssize_t width, precision;        /* precision -1: there is none */
} percent;

typedef struct percent_args {
    const char *format, *at, *end;      /* zero-terminated */
    int is_bytes;                       /* the format, and what is made of it */
    PyObject *from;                     /* a tuple, or the one argument */
    Py_ssize_t used;                    /* of it */
    PyObject *mapping;                  /* NULL: there are no keys */
    PyObject *value;                    /* NULL, or owned: the value of the last key, which is the one argument then */
} percent_args;

/* The next argument, borrowed. */
static PyObject *next_argument(percent_args *args)
{
    int is_tuple = args->value == NULL && PyTuple_Check(args->from);
    if (args->used >= (is_tuple ? PyTuple_GET_SIZE(args->from) : 1))
        return PyErr_Format(PyExc_TypeError, "not enough arguments for format string");
    args->used++;
    return is_tuple ? PyTuple_GET_ITEM(args->from, args->used - 1) : args->value != NULL ? args->value : args->from;
}

static void put_fill(py_text *out, char c, size_t n)
{
    if (out->full || (n > out->capacity - out->length && !grow(out, out->length + n))) {
        out->full = 1;
        return;
    }
    memset(out->bytes + out->length, c, n);
    out->length += n;
}

/* sign: NULL, or what stands in front of the digits of a number. */
static void put_field(py_text *out, const percent *f, const char *sign, const char *text, size_t bytes, Py_ssize_t characters)
{
    Py_ssize_t length = characters + (sign != NULL ? (Py_ssize_t)strlen(sign) : 0);
    size_t fill = f->width > length ? (size_t)(f->width - length) : 0, zeros = f->zero && sign != NULL && !f->left ? fill : 0;
    if (fill > 0 && !f->left && zeros == 0)
        put_fill(out, ' ', fill);
    if (sign != NULL)
        py_put_text(out, sign);
    if (zeros > 0)
        put_fill(out, '0', zeros);
    py_put(out, text, bytes);
    if (fill > 0 && f->left)
        put_fill(out, ' ', fill);
}

/* The text is new, or NULL. */
static int put_percent_text(py_text *out, const percent *f, PyObject *text)
{
    Py_ssize_t n;
    const char *utf8;
    if (text != NULL && f->precision >= 0 && PyUnicode_GET_LENGTH(text) > f->precision)
        Py_SETREF(text, PyUnicode_Substring(text, 0, f->precision));
    utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    if (utf8 != NULL)
        put_field(out, f, NULL, utf8, (size_t)n, PyUnicode_GET_LENGTH(text));
    Py_XDECREF(text);
    return utf8 != NULL;
}

static int put_percent_int(py_text *out, const percent *f, char conversion, PyObject *arg)
{
    int base = conversion == 'o' ? 8 : conversion == 'x' || conversion == 'X' ? 16 : 10;
    PyObject *i = NULL, *text;
    py_text digits = { 0 };
    const char *utf8;
    char sign[4] = "";
    if (PyNumber_Check(arg))
        i = base == 10 ? PyNumber_Long(arg) : PyNumber_Index(arg);
    if (i == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)))
        PyErr_Format(PyExc_TypeError, "%%%c format: %s is required, not %.200s", conversion,
                     base == 10 ? "a real number" : "an integer", Py_TYPE(arg)->tp_name);
    text = i != NULL ? PyNumber_ToBase(i, base) : NULL;
    utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 != NULL) {
        size_t n;
        sign[0] = *utf8 == '-' ? '-' : f->sign;
        utf8 += (*utf8 == '-') + (base != 10 ? 2 : 0);
        if (f->alternate && base != 10)
            snprintf(sign + strlen(sign), 3, "0%c", conversion);
        n = strlen(utf8);
        if (f->precision > (Py_ssize_t)n)
            put_fill(&digits, '0', (size_t)f->precision - n);
        for (; *utf8 != '\0'; utf8++) {
            char c = (char)(conversion == 'X' ? toupper((unsigned char)*utf8) : *utf8);
            py_put(&digits, &c, 1);
        }
        out->full |= digits.full;
        put_field(out, f, sign, digits.bytes, digits.length, (Py_ssize_t)digits.length);
    }
    py_text_free(&digits);
    Py_XDECREF(text);
    Py_XDECREF(i);
    return utf8 != NULL;
}

static int put_percent_float(py_text *out, const percent *f, char conversion, PyObject *arg)
{
    double x = PyFloat_AsDouble(arg);
    char *text, sign[2] = "";
    if (x == -1 && PyErr_Occurred())
        return 0;
    text = PyOS_double_to_string(x, conversion, f->precision >= 0 ? (int)f->precision : 6, f->alternate ? Py_DTSF_ALT : 0, NULL);
    if (text == NULL)
        return 0;
    sign[0] = *text == '-' ? '-' : f->sign;
    put_field(out, f, sign, text + (*text == '-'), strlen(text) - (*text == '-'), (Py_ssize_t)strlen(text) - (*text == '-'));
    PyMem_Free(text);
    return 1;
}

static PyObject *character_of(PyObject *arg)
{
    PyObject *i;
    long c;
    if (PyUnicode_Check(arg) && PyUnicode_GET_LENGTH(arg) == 1)
        return Py_NewRef(arg);
    i = PyUnicode_Check(arg) ? NULL : PyNumber_Index(arg);
    if (i == NULL) {
        PyErr_SetString(PyExc_TypeError, "%c requires int or char");
        return NULL;
    }
    c = PyLong_AsLong(i);
    Py_DECREF(i);
    if (c < 0 || c > 0x10ffff)
        return PyErr_Format(PyExc_OverflowError, "%%c arg not in range(0x110000)");
    return PyUnicode_FromOrdinal((int)c);
}

static PyObject *byte_of(PyObject *arg)
{
    long c = -1;
    char byte;
    if ((PyBytes_Check(arg) || PyByteArray_Check(arg)) && PyObject_Size(arg) == 1)
        return PyBytes_FromObject(arg);
    if (PyIndex_Check(arg)) {
        c = PyLong_AsLong(arg);
        if (c < 0 || c > 255) {
            PyErr_SetString(PyExc_OverflowError, "%c arg not in range(256)");
            return NULL;
        }
        byte = (char)c;
        return PyBytes_FromStringAndSize(&byte, 1);
    }
    PyErr_SetString(PyExc_TypeError, "%c requires an integer in range(256) or a single byte");
    return NULL;
}

/* The bytes are new, or NULL. */
static int put_percent_bytes(py_text *out, const percent *f, PyObject *bytes)
{
    Py_ssize_t n = bytes != NULL ? PyBytes_GET_SIZE(bytes) : 0;
    if (f->precision >= 0 && n > f->precision)
        n = f->precision;
    if (bytes != NULL)
        put_field(out, f, NULL, PyBytes_AS_STRING(bytes), (size_t)n, n);
    Py_XDECREF(bytes);
    return bytes != NULL;
}

static int is_bytes_like(PyObject *arg)
{
    PyObject *method = PyObject_CheckBuffer(arg) ? NULL : py_lookup_special(arg, "__bytes__");
    int yes = PyObject_CheckBuffer(arg) || method != NULL;
    Py_XDECREF(method);
    if (!yes && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%%b requires a bytes-like object, or an object that implements __bytes__, not '%.100s'", Py_TYPE(arg)->tp_name);
    return yes;
}

/* The conversions that are others in bytes. -1: it is none of these. */
static int put_bytes_argument(py_text *out, char conversion, const percent *f, PyObject *arg)
{
    switch (conversion) {
    case 's': case 'b': return is_bytes_like(arg) && put_percent_bytes(out, f, PyObject_Bytes(arg));
    case 'c': return put_percent_bytes(out, &(percent){ .left = f->left, .width = f->width, .precision = -1 }, byte_of(arg));
    case 'r': return put_percent_text(out, f, PyObject_ASCII(arg));
    default: return -1;
    }
}

static int bad_conversion(const percent_args *args)
{
    size_t index = (size_t)(args->at - args->format), n = 1;
    Py_UCS4 c = (unsigned char)*args->at, largest;
    if (!args->is_bytes) {
        index = py_utf8_length(args->format, index, &largest);
        n += (size_t)(c >= 0xc0) + (c >= 0xe0) + (c >= 0xf0);
        if (n > 1)
            py_utf8_length(args->at, n, &c);        /* (the largest one of one character) */
    }
    PyErr_Format(PyExc_ValueError, "unsupported format character '%c' (0x%x) at index %zd", c >= 31 && c <= 126 ? (int)c : '?', (int)c, (Py_ssize_t)index);
    return 0;
}

/* The conversion at args->at. */
static int put_argument(py_text *out, percent_args *args, const percent *f)
{
    char conversion = *args->at;
    PyObject *arg = next_argument(args);
    int done;
    if (arg == NULL)
        return 0;
    done = args->is_bytes ? put_bytes_argument(out, conversion, f, arg) : -1;
    if (done >= 0)
        return done;
    switch (conversion) {
    case 's': return put_percent_text(out, f, PyObject_Str(arg));
    case 'r': return put_percent_text(out, f, PyObject_Repr(arg));
    case 'a': return put_percent_text(out, f, PyObject_ASCII(arg));
    case 'c': return put_percent_text(out, &(percent){ .left = f->left, .width = f->width, .precision = -1 }, character_of(arg));
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': return put_percent_int(out, f, conversion, arg);
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': return put_percent_float(out, f, conversion, arg);
    default: return bad_conversion(args);
    }
}

/* The (key) at args->at: its value is the argument. */
static int read_key(percent_args *args)
{
    const char *begin = args->at + 1;
    int depth = 1;
    PyObject *key;
    if (args->mapping == NULL) {
        PyErr_SetString(PyExc_TypeError, "format requires a mapping");
        return 0;
    }
    for (args->at++; *args->at != '\0' && depth > 0; args->at++)
        depth += (*args->at == '(') - (*args->at == ')');
    if (depth > 0) {
        PyErr_SetString(PyExc_ValueError, "incomplete format key");
        return 0;
    }
    key = args->is_bytes ? PyBytes_FromStringAndSize(begin, args->at - 1 - begin) : PyUnicode_FromStringAndSize(begin, args->at - 1 - begin);
    Py_XSETREF(args->value, key != NULL ? PyObject_GetItem(args->mapping, key) : NULL);
    args->used = 0;
    Py_XDECREF(key);
    return args->value != NULL;
}

/* A number, or * for the next argument. */
static int read_size(percent_args *args, Py_ssize_t *size, int is_width)
{
    if (*args->at == '*') {
        PyObject *arg = next_argument(args);
        args->at++;
        if (arg != NULL && !PyLong_Check(arg))
            PyErr_SetString(PyExc_TypeError, "* wants int");
        else if (arg != NULL)
            *size = is_width ? PyLong_AsSsize_t(arg) : _PyLong_AsInt(arg);
        return !PyErr_Occurred();
    }
    for (*size = 0; isdigit((unsigned char)*args->at); args->at++) {
        if (*size > ((is_width ? PY_SSIZE_T_MAX : INT_MAX) - 9) / 10) {
            PyErr_SetString(PyExc_ValueError, is_width ? "width too big" : "precision too big");
            return 0;
        }
        *size = *size * 10 + (*args->at - '0');
    }
    return 1;
}

/* What follows a %. */
static int put_percent(py_text *out, percent_args *args)
{
    percent f = { .precision = -1 };
    if (*args->at == '%') {
        py_put(out, args->at++, 1);
        return 1;
    }
    if (*args->at == '(' && !read_key(args))
        return 0;
    for (; *args->at != '\0' && strchr("-+ #0", *args->at) != NULL; args->at++)
        switch (*args->at) {
        case '-': f.left = 1; break;
        case '+': f.sign = '+'; break;
        case ' ': f.sign = f.sign != 0 ? f.sign : ' '; break;
        case '#': f.alternate = 1; break;
        default: f.zero = 1; break;
        }
    if (!read_size(args, &f.width, 1))
        return 0;
    if (f.width < 0) {
        f.left = 1;
        f.width = f.width < -PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX : -f.width;
    }
    if (*args->at == '.') {
        args->at++;
        if (!read_size(args, &f.precision, 0))
            return 0;
        f.precision = Py_MAX(f.precision, 0);
    }
    args->at += *args->at == 'h' || *args->at == 'l' || *args->at == 'L';
    if (*args->at == '\0') {
        PyErr_SetString(PyExc_ValueError, "incomplete format");
        return 0;
    }
    if (!put_argument(out, args, &f))
        return 0;
    args->at++;
    return 1;
}

/* 0 after a failure. */
static int put_all(py_text *out, percent_args *args)
{
    PyObject *from = args->from;
    int ok = 1;
    if (PyMapping_Check(from) && !PyTuple_Check(from) && !PyUnicode_Check(from)
        && !(args->is_bytes && (PyBytes_Check(from) || PyByteArray_Check(from))))
        args->mapping = from;
    while (ok && args->at < args->end) {
        const char *mark = memchr(args->at, '%', (size_t)(args->end - args->at)), *stop = mark != NULL ? mark : args->end;
        py_put(out, args->at, (size_t)(stop - args->at));
        args->at = stop + (mark != NULL);
        ok = mark == NULL || put_percent(out, args);
    }
    if (ok && args->mapping == NULL && args->used < (PyTuple_Check(from) ? PyTuple_GET_SIZE(from) : 1)) {
        PyErr_Format(PyExc_TypeError, "not all arguments converted during %s formatting", args->is_bytes ? "bytes" : "string");
        ok = 0;
    }
    Py_XDECREF(args->value);
    if (ok && out->full)
        PyErr_NoMemory();
    return ok && !out->full;
}

PyObject *PyUnicode_Format(PyObject *format, PyObject *from)
{
    py_text out = { 0 };
    Py_ssize_t n = 0;
    const char *text = PyUnicode_AsUTF8AndSize(format, &n);
    percent_args args = { .format = text, .at = text, .end = text + n, .from = from };
    PyObject *result = NULL;
    if (text != NULL && put_all(&out, &args))
        result = PyUnicode_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}

PyObject *py_bytes_format(PyObject *a, PyObject *from)
{
    py_text out = { 0 };
    PyObject *format, *result = NULL;
    percent_args args = { .from = from, .is_bytes = 1 };
    if (!PyBytes_Check(a) && !PyByteArray_Check(a))
        Py_RETURN_NOTIMPLEMENTED;
    format = PyBytes_FromObject(a);         /* (a bytearray can change meanwhile) */
    if (format == NULL)
        return NULL;
    args.format = args.at = PyBytes_AS_STRING(format);
    args.end = args.at + PyBytes_GET_SIZE(format);
    if (put_all(&out, &args))
        result = PyBytes_Check(a) ? PyBytes_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length)
                                  : PyByteArray_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    py_text_free(&out);
    Py_DECREF(format);
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
