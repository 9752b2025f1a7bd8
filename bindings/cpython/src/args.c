/* args.c - PyArg_Parse and its like take arguments apart; Py_BuildValue puts values together. */
#include "internal.h"

/* ---- one argument ------------------------------------------------------------------ */

typedef struct parser {
    const char *function;           /* for messages; or NULL */
    Py_buffer *buffers[32];         /* to be released if a later argument fails */
    int buffer_count;
    char message[200];
} parser;

static int wrong_type(const char *wanted, PyObject *arg, Py_ssize_t i, const parser *p)
{
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%.150s%s argument %zd must be %.50s, not %.50s", p->function != NULL ? p->function : "",
                     p->function != NULL ? "()" : "", i + 1, wanted, arg == Py_None ? "None" : Py_TYPE(arg)->tp_name);
    return 0;
}

static int get_whole(PyObject *arg, long long low, unsigned long long high, const char *name, long long *n)
{
    PyObject *i = PyNumber_Index(arg);
    int overflow;
    if (i == NULL)
        return 0;
    *n = PyLong_AsLongLongAndOverflow(i, &overflow);
    Py_DECREF(i);
    if (overflow == 0 && *n >= low && (*n < 0 || (unsigned long long)*n <= high))
        return 1;
    PyErr_Format(PyExc_OverflowError, overflow < 0 || *n < low ? "%s is less than minimum" : "%s is greater than maximum", name);
    return 0;
}

static int get_buffer(parser *p, PyObject *arg, Py_buffer *view, int flags)
{
    if (PyObject_GetBuffer(arg, view, flags) < 0)
        return 0;
    if (p->buffer_count < (int)Py_ARRAY_LENGTH(p->buffers))
        p->buffers[p->buffer_count++] = view;
    return 1;
}

/* A text: s, z and y with * and #. */
static int get_text(parser *p, PyObject *arg, Py_ssize_t i, char kind, const char **format, va_list *args)
{
    if (**format == '*') {
        Py_buffer *view = va_arg(*args, Py_buffer *);
        (*format)++;
        if (kind == 'z' && arg == Py_None)
            return PyBuffer_FillInfo(view, NULL, NULL, 0, 1, 0) == 0;
        if (kind != 'y' && PyUnicode_Check(arg)) {
            Py_ssize_t n;
            const char *utf8 = PyUnicode_AsUTF8AndSize(arg, &n);
            return utf8 != NULL && PyBuffer_FillInfo(view, arg, (void *)(uintptr_t)utf8, n, 1, 0) == 0;
        }
        return PyObject_CheckBuffer(arg) ? get_buffer(p, arg, view, PyBUF_SIMPLE) : wrong_type("a bytes-like object", arg, i, p);
    }
    {
        const char **text = va_arg(*args, const char **);
        Py_ssize_t *size = **format == '#' ? va_arg(*args, Py_ssize_t *) : NULL, n = 0;
        *format += **format == '#';
        if (kind == 'z' && arg == Py_None)
            *text = NULL;
        else if (kind != 'y' && PyUnicode_Check(arg))
            *text = PyUnicode_AsUTF8AndSize(arg, &n);
        else if ((kind == 'y' || size != NULL) && PyBytes_Check(arg))
            *text = PyBytes_AS_STRING(arg), n = PyBytes_GET_SIZE(arg);
        else
            return wrong_type(kind == 'y' ? "bytes" : kind == 'z' ? "str or None" : "str", arg, i, p);
        if (*text == NULL && PyErr_Occurred())
            return 0;
        if (size != NULL)
            *size = n;
        else if (*text != NULL && strlen(*text) != (size_t)n) {
            PyErr_SetString(PyExc_ValueError, kind == 'y' ? "embedded null byte" : "embedded null character");
            return 0;
        }
        return 1;
    }
}

#define STORE(type, value) (*va_arg(*args, type *) = (type)(value), 1)

static int parse_one(parser *p, PyObject *arg, Py_ssize_t i, const char **format, va_list *args);

/* (...): a tuple, or another sequence. */
static int parse_group(parser *p, PyObject *arg, Py_ssize_t i, const char **format, va_list *args)
{
    PyObject *items = PyTuple_Check(arg) || PyList_Check(arg) ? PySequence_Tuple(arg) : NULL;
    Py_ssize_t k = 0;
    int ok = items != NULL;
    if (items == NULL)
        return wrong_type("a sequence", arg, i, p);
    while (ok && **format != ')') {
        if (k >= PyTuple_GET_SIZE(items)) {
            PyErr_Format(PyExc_TypeError, "argument %zd: a sequence with more items is needed", i + 1);
            ok = 0;
        } else {
            ok = parse_one(p, PyTuple_GET_ITEM(items, k), k, format, args);
            k++;
        }
    }
    if (ok && k != PyTuple_GET_SIZE(items)) {
        PyErr_Format(PyExc_TypeError, "must be sequence of length %zd, not %zd", k, PyTuple_GET_SIZE(items));
        ok = 0;
    }
    if (ok)
        (*format)++;
    Py_DECREF(items);                   /* arg still holds them */
    return ok;
}

static int parse_one(parser *p, PyObject *arg, Py_ssize_t i, const char **format, va_list *args)
{
    char c = *(*format)++;
    long long n;
    double x;

    switch (c) {
    case 's': case 'z': case 'y': return get_text(p, arg, i, c, format, args);
    case 'O':
        if (**format == '!') {
            PyTypeObject *type = va_arg(*args, PyTypeObject *);
            (*format)++;
            return PyObject_TypeCheck(arg, type) ? STORE(PyObject *, arg) : wrong_type(type->tp_name, arg, i, p);
        }
        if (**format == '&') {
            int (*convert)(PyObject *, void *) = va_arg(*args, int (*)(PyObject *, void *));
            void *to = va_arg(*args, void *);

            (*format)++;
            return convert(arg, to) != 0;
        }
        return STORE(PyObject *, arg);
    case 'U': return PyUnicode_Check(arg) ? STORE(PyObject *, arg) : wrong_type("str", arg, i, p);
    case 'S': return PyBytes_Check(arg) ? STORE(PyObject *, arg) : wrong_type("bytes", arg, i, p);
    case 'Y': return PyByteArray_Check(arg) ? STORE(PyObject *, arg) : wrong_type("bytearray", arg, i, p);
    case 'b': return get_whole(arg, 0, UCHAR_MAX, "unsigned byte integer", &n) && STORE(unsigned char, n);
    case 'h': return get_whole(arg, SHRT_MIN, SHRT_MAX, "signed short integer", &n) && STORE(short, n);
    case 'i': return get_whole(arg, INT_MIN, INT_MAX, "signed integer", &n) && STORE(int, n);
    case 'l': return get_whole(arg, LONG_MIN, LONG_MAX, "signed long integer", &n) && STORE(long, n);
    case 'L': return get_whole(arg, LLONG_MIN, LLONG_MAX, "signed long long integer", &n) && STORE(long long, n);
    case 'n': return get_whole(arg, INTPTR_MIN, INTPTR_MAX, "ssize_t integer", &n) && STORE(Py_ssize_t, n);
    case 'B': case 'H': case 'I': case 'k': case 'K': {
        unsigned long long mask = PyLong_AsUnsignedLongLongMask(arg);

        if (mask == (unsigned long long)-1 && PyErr_Occurred())
            return 0;
        return c == 'B' ? STORE(unsigned char, mask) : c == 'H' ? STORE(unsigned short, mask)
             : c == 'I' ? STORE(unsigned, mask) : c == 'k' ? STORE(unsigned long, mask) : STORE(unsigned long long, mask);
    }
    case 'f': case 'd':
        x = PyFloat_AsDouble(arg);
        if (x == -1 && PyErr_Occurred())
            return 0;
        return c == 'f' ? STORE(float, x) : STORE(double, x);
    case 'c':
        if (PyBytes_Check(arg) && PyBytes_GET_SIZE(arg) == 1)
            return STORE(char, PyBytes_AS_STRING(arg)[0]);
        return wrong_type("a byte string of length 1", arg, i, p);
    case 'C':
        if (PyUnicode_Check(arg) && PyUnicode_GET_LENGTH(arg) == 1)
            return STORE(int, PyUnicode_READ_CHAR(arg, 0));
        return wrong_type("a unicode character", arg, i, p);
    case 'p': {
        int yes = PyObject_IsTrue(arg);
        return yes >= 0 && STORE(int, yes);
    }
    case 'w':
        (*format)++;
        return get_buffer(p, arg, va_arg(*args, Py_buffer *), PyBUF_WRITABLE);
    case '(': return parse_group(p, arg, i, format, args);
    default:
        PyErr_Format(PyExc_SystemError, "PyArg_Parse: format '%c' is not supported", c);
        return 0;
    }
}

/* Pass over one item of the format whose argument is not there, and over its addresses. */
static void skip_one(const char **format, va_list *args)
{
    char c = *(*format)++;
    if (c == '(') {
        while (**format != ')')
            skip_one(format, args);
        (*format)++;
        return;
    }
    (void)va_arg(*args, void *);
    if (c == 'O' && (**format == '!' || **format == '&'))
        (void)va_arg(*args, void *);
    if (strchr("szy", c) != NULL && **format == '#')
        (void)va_arg(*args, void *);
    if (**format == '!' || **format == '&' || **format == '*' || **format == '#')
        (*format)++;
}

/* How many items the format has, and how many of them must be there. */
static void measure(const char *format, Py_ssize_t *least, Py_ssize_t *most, Py_ssize_t *positional, const char **name, const char **message)
{
    int depth = 0;
    *least = -1;
    *most = 0;
    *positional = -1;
    *name = *message = NULL;
    for (; *format != '\0'; format++) {
        if (*format == ':' || *format == ';') {
            *(*format == ':' ? name : message) = format + 1;
            break;
        }
        if (*format == '|')
            *least = *most;
        else if (*format == '$')
            *positional = *most;
        else if (*format == '(')
            *most += depth++ == 0;
        else if (*format == ')')
            depth--;
        else if (depth == 0 && strchr("!&*#", *format) == NULL)
            (*most)++;
    }
    if (*least < 0)
        *least = *most;
    if (*positional < 0)
        *positional = *most;
}

static int parse(PyObject *args, PyObject *kwargs, const char *format, char **names, va_list *to)
{
    parser p = { 0 };
    Py_ssize_t least, most, positional, n = PyTuple_GET_SIZE(args), k = kwargs != NULL ? PyDict_Size(kwargs) : 0, i, used = 0;
    const char *name, *message;
    char function[100];
    measure(format, &least, &most, &positional, &name, &message);
    if (name != NULL) {
        snprintf(function, sizeof function, "%s", name);
        p.function = function;
    }
    if (n > positional || n + k > most || (names == NULL && n < least)) {
        if (message != NULL && names == NULL)
            PyErr_SetString(PyExc_TypeError, message);
        else
            PyErr_Format(PyExc_TypeError, "%.150s%s takes %s %zd argument%s (%zd given)", name != NULL ? name : "function",
                         name != NULL ? "()" : "", least == most ? "exactly" : n < least ? "at least" : "at most",
                         n < least ? least : most, (n < least ? least : most) == 1 ? "" : "s", n + k);
        return 0;
    }
    for (i = 0; i < most; i++) {
        PyObject *arg = i < n ? PyTuple_GET_ITEM(args, i) : NULL;
        while (*format == '|' || *format == '$')
            format++;
        if (names != NULL && k > 0 && *names[i] != '\0') {
            PyObject *key = py_str(names[i]), *value = key != NULL ? PyDict_GetItemWithError(kwargs, key) : NULL;
            if (value == NULL && PyErr_Occurred())
                goto failed;
            if (value != NULL && arg != NULL) {
                PyErr_Format(PyExc_TypeError, "argument for %.200s%s given by name ('%s') and position (%zd)",
                             name != NULL ? name : "function", name != NULL ? "()" : "", names[i], i + 1);
                goto failed;
            }
            used += value != NULL;
            arg = arg != NULL ? arg : value;
        }
        if (arg == NULL && i < least) {
            PyErr_Format(PyExc_TypeError, "%.200s%s missing required argument '%s' (pos %zd)", name != NULL ? name : "function",
                         name != NULL ? "()" : "", names != NULL ? names[i] : "?", i + 1);
            goto failed;
        }
        if (arg == NULL)
            skip_one(&format, to);
        else if (!parse_one(&p, arg, i, &format, to))
            goto failed;
    }
    if (used < k) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(kwargs, &at, &key, &value)) {
            int known = !PyUnicode_Check(key);
            for (i = 0; !known && i < most; i++)
                known = PyUnicode_CompareWithASCIIString(key, names[i]) == 0;
            if (!known || !PyUnicode_Check(key)) {
                PyErr_Format(PyExc_TypeError, "'%S' is an invalid keyword argument for %.200s%s", key, name != NULL ? name : "this function",
                             name != NULL ? "()" : "");
                goto failed;
            }
        }
    }
    return 1;
failed:
    while (p.buffer_count > 0)
        PyBuffer_Release(p.buffers[--p.buffer_count]);
    return 0;
}

int PyArg_ParseTuple(PyObject *args, const char *format, ...)
{
    va_list to;
    int ok;
    va_start(to, format);
    ok = parse(args, NULL, format, NULL, &to);
    va_end(to);
    return ok;
}

int PyArg_ParseTupleAndKeywords(PyObject *args, PyObject *kwargs, const char *format, char **names, ...)
{
    va_list to;
    int ok;
    va_start(to, names);
    ok = parse(args, kwargs, format, names, &to);
    va_end(to);
    return ok;
}

int PyArg_Parse(PyObject *arg, const char *format, ...)
{
    PyObject *args = PyTuple_Pack(1, arg);
    va_list to;
    int ok;
    if (args == NULL)
        return 0;
    va_start(to, format);
    ok = parse(args, NULL, format, NULL, &to);
    va_end(to);
    Py_DECREF(args);
    return ok;
}

int PyArg_UnpackTuple(PyObject *args, const char *name, Py_ssize_t least, Py_ssize_t most, ...)
{
    va_list to;
    Py_ssize_t i, n = PyTuple_GET_SIZE(args);
    if (n < least || n > most) {
        PyErr_Format(PyExc_TypeError, "%s expected %s%zd argument%s, got %zd", name, least == most ? "" : n < least ? "at least " : "at most ",
                     n < least ? least : most, (n < least ? least : most) == 1 ? "" : "s", n);
        return 0;
    }
    va_start(to, most);
    for (i = 0; i < n; i++)
        *va_arg(to, PyObject **) = PyTuple_GET_ITEM(args, i);
    va_end(to);
    return 1;
}

int PyArg_ValidateKeywordArguments(PyObject *kwargs)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(kwargs, &at, &key, &value))
        if (!PyUnicode_Check(key)) {
            PyErr_SetString(PyExc_TypeError, "keywords must be strings");
            return 0;
        }
    return 1;
}

/* ---- for Argument Clinic ------------------------------------------------------------ */

int _PyArg_CheckPositional(const char *name, Py_ssize_t n, Py_ssize_t least, Py_ssize_t most)
{
    if (n >= least && n <= most)
        return 1;
    PyErr_Format(PyExc_TypeError, "%.200s expected %s%zd argument%s, got %zd", name, least == most ? "" : n < least ? "at least " : "at most ",
                 n < least ? least : most, (n < least ? least : most) == 1 ? "" : "s", n);
    return 0;
}

int _PyArg_NoKeywords(const char *name, PyObject *kwargs)
{
    if (kwargs == NULL || PyDict_Size(kwargs) == 0)
        return 1;
    PyErr_Format(PyExc_TypeError, "%.200s() takes no keyword arguments", name);
    return 0;
}

int _PyArg_NoPositional(const char *name, PyObject *args)
{
    if (args == NULL || PyTuple_GET_SIZE(args) == 0)
        return 1;
    PyErr_Format(PyExc_TypeError, "%.200s() takes no positional arguments", name);
    return 0;
}

void _PyArg_BadArgument(const char *function, const char *which, const char *wanted, PyObject *arg)
{
    PyErr_Format(PyExc_TypeError, "%.200s() %.200s must be %.50s, not %.50s", function, which, wanted,
                 arg == Py_None ? "None" : Py_TYPE(arg)->tp_name);
}

PyObject *const *_PyArg_UnpackKeywords(PyObject *const *args, Py_ssize_t nargs, PyObject *kwargs, PyObject *kwnames,
                                       _PyArg_Parser *keywords, int least, int most, int least_keywords, PyObject **buffer)
{
    Py_ssize_t i, k, count = 0, named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : kwargs != NULL ? PyDict_Size(kwargs) : 0, used = 0;
    while (keywords->keywords[count] != NULL)
        count++;
    if (nargs > most) {
        PyErr_Format(PyExc_TypeError, "%.200s() takes at most %d positional argument%s (%zd given)", keywords->fname, most, most == 1 ? "" : "s", nargs);
        return NULL;
    }
    for (i = 0; i < count; i++) {
        buffer[i] = i < nargs ? args[i] : NULL;
        for (k = 0; kwnames != NULL && k < named; k++) {
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), keywords->keywords[i]) != 0)
                continue;
            if (buffer[i] != NULL) {
                PyErr_Format(PyExc_TypeError, "argument for %.200s() given by name ('%s') and position (%zd)", keywords->fname, keywords->keywords[i], i + 1);
                return NULL;
            }
            buffer[i] = args[nargs + k];
            used++;
        }
        if (kwnames == NULL && kwargs != NULL && buffer[i] == NULL) {
            buffer[i] = PyDict_GetItemString(kwargs, keywords->keywords[i]);
            used += buffer[i] != NULL;
        }
        if (buffer[i] == NULL && (i < least || (i >= most && i < most + least_keywords))) {
            PyErr_Format(PyExc_TypeError, "%.200s() missing required argument '%s' (pos %zd)", keywords->fname, keywords->keywords[i], i + 1);
            return NULL;
        }
    }
    if (used < named) {
        PyErr_Format(PyExc_TypeError, "%.200s() got an unexpected keyword argument", keywords->fname);
        return NULL;
    }
    return buffer;
}

/* ---- Py_BuildValue ------------------------------------------------------------------- */

static PyObject *build_one(const char **format, va_list *args);

static PyObject *build_sequence(const char **format, va_list *args, char end, PyObject *(*finish)(PyObject *))
{
    PyObject *list = PyList_New(0), *result;
    while (**format != end && **format != '\0') {
        PyObject *item;
        if (strchr(" ,:\t", **format) != NULL) {
            (*format)++;
            continue;
        }
        item = build_one(format, args);
        if (item == NULL || (list != NULL && PyList_Append(list, item) < 0))
            Py_CLEAR(list);             /* go on: references that are given must be taken */
        Py_XDECREF(item);
    }
    if (**format == end && end != '\0')
        (*format)++;
    result = list != NULL ? finish(list) : NULL;
    Py_XDECREF(list);
    return result;
}

static PyObject *finish_list(PyObject *list) { return Py_NewRef(list); }

static PyObject *finish_dict(PyObject *list)
{
    PyObject *dict = PyDict_New();
    Py_ssize_t i;
    for (i = 0; dict != NULL && i + 1 < PyList_GET_SIZE(list); i += 2)
        if (PyDict_SetItem(dict, PyList_GET_ITEM(list, i), PyList_GET_ITEM(list, i + 1)) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *build_text(const char **format, va_list *args, int bytes)
{
    const char *text = va_arg(*args, const char *);
    Py_ssize_t n = **format == '#' ? va_arg(*args, Py_ssize_t) : text != NULL ? (Py_ssize_t)strlen(text) : 0;
    *format += **format == '#';
    if (text == NULL)
        Py_RETURN_NONE;
    return bytes ? PyBytes_FromStringAndSize(text, n) : PyUnicode_FromStringAndSize(text, n);
}

static PyObject *build_one(const char **format, va_list *args)
{
    char c = *(*format)++;
    PyObject *op;
    switch (c) {
    case '(': return build_sequence(format, args, ')', PyList_AsTuple);
    case '[': return build_sequence(format, args, ']', finish_list);
    case '{': return build_sequence(format, args, '}', finish_dict);
    case 'b': case 'h': case 'i': return PyLong_FromLong(va_arg(*args, int));
    case 'B': case 'H': case 'I': return PyLong_FromUnsignedLong(va_arg(*args, unsigned));
    case 'l': return PyLong_FromLong(va_arg(*args, long));
    case 'k': return PyLong_FromUnsignedLong(va_arg(*args, unsigned long));
    case 'L': return PyLong_FromLongLong(va_arg(*args, long long));
    case 'K': return PyLong_FromUnsignedLongLong(va_arg(*args, unsigned long long));
    case 'n': return PyLong_FromSsize_t(va_arg(*args, Py_ssize_t));
    case 'f': case 'd': return PyFloat_FromDouble(va_arg(*args, double));
    case 'c': {
        char byte = (char)va_arg(*args, int);
        return PyBytes_FromStringAndSize(&byte, 1);
    }
    case 'C': return PyUnicode_FromOrdinal(va_arg(*args, int));
    case 's': case 'z': case 'U': return build_text(format, args, 0);
    case 'y': return build_text(format, args, 1);
    case 'O': case 'S': case 'N':
        if (c == 'O' && **format == '&') {
            PyObject *(*convert)(void *) = va_arg(*args, PyObject *(*)(void *));

            (*format)++;
            return convert(va_arg(*args, void *));
        }
        op = va_arg(*args, PyObject *);
        if (op == NULL && !PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "NULL object passed to Py_BuildValue");
        return c == 'N' ? op : Py_XNewRef(op);
    default: return PyErr_Format(PyExc_SystemError, "Py_BuildValue: format '%c' is not supported", c);
    }
}

PyObject *Py_VaBuildValue(const char *format, va_list args)
{
    PyObject *tuple, *result;
    va_list rest;
    va_copy(rest, args);
    tuple = build_sequence(&format, &rest, '\0', PyList_AsTuple);
    va_end(rest);
    if (tuple == NULL || PyTuple_GET_SIZE(tuple) > 1)
        return tuple;
    result = Py_NewRef(PyTuple_GET_SIZE(tuple) == 1 ? PyTuple_GET_ITEM(tuple, 0) : Py_None);
    Py_DECREF(tuple);
    return result;
}

PyObject *Py_BuildValue(const char *format, ...)
{
    va_list args;
    PyObject *result;
    va_start(args, format);
    result = Py_VaBuildValue(format, args);
    va_end(args);
    return result;
}

int _PyArg_ParseStackAndKeywords(PyObject *const *args, Py_ssize_t n, PyObject *kwnames, _PyArg_Parser *description, ...)
{
    PyObject *tuple = py_vec_to_tuple(args, n), *kwargs = NULL;
    Py_ssize_t i, k = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    va_list to;
    int ok = tuple != NULL;
    if (ok && k > 0)
        ok = (kwargs = PyDict_New()) != NULL;
    for (i = 0; ok && i < k; i++)
        ok = PyDict_SetItem(kwargs, PyTuple_GET_ITEM(kwnames, i), args[n + i]) == 0;
    va_start(to, description);
    ok = ok && parse(tuple, kwargs, description->format, (char **)(uintptr_t)description->keywords, &to);
    va_end(to);
    Py_XDECREF(kwargs);                 /* the caller of the caller holds what was found */
    Py_XDECREF(tuple);
    return ok;
}
