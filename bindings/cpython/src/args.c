/* args.c - PyArg_Parse and its like take arguments apart; Py_BuildValue puts values together. */
#include "internal.h"

/* ---- formats ------------------------------------------------------------------------
 *
 * The whole format is looked at before any argument is. A unit that does not exist is a SystemError, and nothing has
 * been read, changed or counted then: the arguments behind such a unit could not be found. */

static int one_of(char c, const char *characters) { return c != '\0' && strchr(characters, c) != NULL; }

/* Pass over a unit of PyArg_Parse and its like. 0: there is none at *at, to which a bracket leads. */
static int pass_parsed(const char **at)
{
    char c = **at;
    if (c == '(') {
        for ((*at)++; **at != ')';)
            if (!pass_parsed(at))
                return 0;
    } else if (c == 'e' ? !one_of((*at)[1], "st") : c == 'w' ? (*at)[1] != '*' : !one_of(c, "bBhHiIlkLKncCfdDpSYUOszyuZ")) {
        return 0;
    }
    *at += c == 'e' ? 2 : 1;
    *at += one_of(**at, c == 's' || c == 'z' || c == 'y' ? "*#" : c == 'u' || c == 'Z' || c == 'e' ? "#" : c == 'w' ? "*"
                        : c == 'O' ? "!&" : "");
    return 1;
}

/* Pass over what stands between the units of Py_BuildValue. */
static const char *next_unit(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == ',' || *at == ':')
        at++;
    return at;
}

static char closing(char c) { return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '\0'; }

/* Pass over a unit of Py_BuildValue. 0: there is none at *at. */
static int pass_built(const char **at)
{
    char c = **at, end = closing(c);
    int n = 0;
    if (end != '\0') {
        for (*at = next_unit(*at + 1); **at != end || (c == '{' && n % 2 != 0); *at = next_unit(*at), n++)
            if (!pass_built(at))
                return 0;
        ++*at;
        return 1;
    }
    switch (c) {
    case 's': case 'z': case 'y': case 'u': case 'U':
        *at += (*at)[1] == '#' ? 2 : 1;
        return 1;
    case 'O': case 'S': case 'N':
        *at += (*at)[1] == '&' ? 2 : 1;
        return 1;
    case 'b': case 'B': case 'h': case 'H': case 'i': case 'I': case 'l': case 'k': case 'L': case 'K': case 'n':
    case 'c': case 'C': case 'f': case 'd': case 'D':
        ++*at;
        return 1;
    default:
        return 0;
    }
}

static int bad_format(const char *function, const char *format, const char *at)
{
    if (*at == '\0')
        PyErr_Format(PyExc_SystemError, "%s: the format \"%.100s\" ends where a bracket has to be closed", function, format);
    else
        PyErr_Format(PyExc_SystemError, "%s: the format \"%.100s\" has no unit at \"%.100s\"", function, format, at);
    return 0;
}

/* ---- one argument ------------------------------------------------------------------ */

/* What has to be undone if a later argument fails: one of the three. */
typedef struct cleanup {
    Py_buffer *view;
    char **text;
    int (*convert)(PyObject *, void *);
    void *to;
} cleanup;

typedef struct parser {
    Py_ssize_t least, most, positional;     /* units that must be there; all; those that need no keyword */
    const char *function, *message;         /* what the format says of them, or NULL */
    Py_ssize_t group;                       /* in a group, the argument that it is: then i is the item. Else -1 */
    cleanup few[8], *cleanups;
    size_t count;
} parser;

/* Measure the format, and make room for what it can have to undo. 0 after a failure: nothing is to be undone. */
static int begin(parser *p, const char *caller, const char *format, int has_keywords)
{
    const char *at = format, *from;
    size_t n = 0;
    memset(p, 0, sizeof *p);
    p->least = p->positional = p->group = -1;
    while (*at != '\0' && *at != ':' && *at != ';') {
        if (*at == '|' && p->least < 0) {
            p->least = p->most;
            at++;
        } else if (*at == '$' && has_keywords && p->positional < 0 && p->least >= 0) {
            p->positional = p->most;
            at++;
        } else {
            from = at;
            if (!pass_parsed(&at))
                return bad_format(caller, format, at);
            for (p->most++; from < at; from++)
                n += one_of(*from, "*e&") ? 1u : 0u;
        }
    }
    if (*at != '\0')
        *(*at == ':' ? &p->function : &p->message) = at + 1;
    if (p->least < 0)
        p->least = p->most;
    if (p->positional < 0)
        p->positional = p->most;
    p->cleanups = n <= Py_ARRAY_LENGTH(p->few) ? p->few : PyMem_Calloc(n, sizeof *p->cleanups);
    if (p->cleanups == NULL)
        PyErr_NoMemory();
    return p->cleanups != NULL;
}

static cleanup *later(parser *p) { return &p->cleanups[p->count++]; }

/* Undo all, unless ok. Gives ok. */
static int end(parser *p, int ok)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (!ok && p->count > 0) {
        const cleanup *c = &p->cleanups[--p->count];
        if (c->view != NULL) {
            PyBuffer_Release(c->view);
        } else if (c->text != NULL) {
            PyMem_Free(*c->text);
            *c->text = NULL;
        } else {
            c->convert(NULL, c->to);
        }
    }
    PyErr_Restore(type, value, traceback);
    if (p->cleanups != p->few)
        PyMem_Free(p->cleanups);
    return ok;
}

static int wrong_type(const char *wanted, PyObject *arg, Py_ssize_t i, const parser *p)
{
    char item[40] = "";
    if (PyErr_Occurred())
        return 0;
    if (p->group >= 0)
        snprintf(item, sizeof item, ", item %ld", (long)i);
    if (p->message != NULL)
        PyErr_SetString(PyExc_TypeError, p->message);
    else
        PyErr_Format(PyExc_TypeError, "%.150s%sargument %zd%s must be %.50s, not %.50s", p->function != NULL ? p->function : "",
                     p->function != NULL ? "() " : "", (p->group >= 0 ? p->group : i) + 1, item, wanted,
                     arg == Py_None ? "None" : Py_TYPE(arg)->tp_name);
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

static int no_zeros(const void *text, size_t n, const char *message)
{
    if (memchr(text, '\0', n) == NULL)
        return 1;
    PyErr_SetString(PyExc_ValueError, message);
    return 0;
}

/* s*, z*, y*, w* */
static int get_view(parser *p, PyObject *arg, Py_ssize_t i, char kind, Py_buffer *view)
{
    if (kind == 'z' && arg == Py_None)
        return PyBuffer_FillInfo(view, NULL, NULL, 0, 1, 0) == 0;
    if ((kind == 's' || kind == 'z') && PyUnicode_Check(arg)) {
        Py_ssize_t n;
        const char *utf8 = PyUnicode_AsUTF8AndSize(arg, &n);
        if (utf8 == NULL || PyBuffer_FillInfo(view, arg, (void *)(uintptr_t)utf8, n, 1, 0) < 0)
            return 0;
    } else if (!PyObject_CheckBuffer(arg)) {
        return wrong_type(kind == 'w' ? "read-write bytes-like object" : "a bytes-like object", arg, i, p);
    } else if (PyObject_GetBuffer(arg, view, kind == 'w' ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0) {
        if (kind == 'w')
            PyErr_Clear();
        return wrong_type("read-write bytes-like object", arg, i, p);
    }
    later(p)->view = view;
    return PyBuffer_IsContiguous(view, 'C') || wrong_type("contiguous buffer", arg, i, p);
}

/* The bytes of an object that keeps them where they are, without a release: bytes, but no bytearray. */
static int get_bytes(PyObject *arg, const char **bytes, Py_ssize_t *n)
{
    const PyBufferProcs *procs = Py_TYPE(arg)->tp_as_buffer;
    Py_buffer view;
    if (procs == NULL || procs->bf_getbuffer == NULL || procs->bf_releasebuffer != NULL || PyObject_GetBuffer(arg, &view, PyBUF_SIMPLE) < 0)
        return 0;
    *bytes = view.buf;
    *n = view.len;
    PyBuffer_Release(&view);
    return 1;
}

/* s, z, y, with # too. */
static int get_text(const parser *p, PyObject *arg, Py_ssize_t i, char kind, const char **text, Py_ssize_t *size)
{
    const char *bytes = NULL;
    Py_ssize_t n = 0;
    if (kind != 'y' && PyUnicode_Check(arg)) {
        if ((bytes = PyUnicode_AsUTF8AndSize(arg, &n)) == NULL)
            return 0;
    } else if (kind != 'z' || arg != Py_None) {
        if ((kind != 'y' && size == NULL) || !get_bytes(arg, &bytes, &n))
            return wrong_type(kind == 'y' ? "a read-only bytes-like object" : size != NULL ? "str or a read-only bytes-like object"
                              : kind == 'z' ? "str or None" : "str", arg, i, p);
    }
    if (size == NULL && bytes != NULL && !no_zeros(bytes, (size_t)n, kind == 'y' ? "embedded null byte" : "embedded null character"))
        return 0;
    *text = bytes;
    if (size != NULL)
        *size = n;
    return 1;
}

/* u, Z, with # too. */
static int get_wide(const parser *p, PyObject *arg, Py_ssize_t i, char kind, const Py_UNICODE **text, Py_ssize_t *size)
{
    const Py_UNICODE *wide = NULL;
    Py_ssize_t n = 0;
    if (PyUnicode_Check(arg)) {
        if ((wide = PyUnicode_AsUnicode(arg)) == NULL)
            return 0;
        n = PyUnicode_GET_LENGTH(arg);
    } else if (kind != 'Z' || arg != Py_None) {
        return wrong_type(kind == 'Z' ? "str or None" : "str", arg, i, p);
    }
    if (size == NULL && wide != NULL && wcslen(wide) != (size_t)n) {
        PyErr_SetString(PyExc_ValueError, "embedded null character");
        return 0;
    }
    *text = wide;
    if (size != NULL)
        *size = n;
    return 1;
}

/* es, et, with # too: a copy, which the caller frees; or, with #, in the buffer that *text is already. */
static int get_encoded(parser *p, PyObject *arg, Py_ssize_t i, char kind, const char *encoding, char **text, Py_ssize_t *size)
{
    PyObject *bytes = kind == 't' && (PyBytes_Check(arg) || PyByteArray_Check(arg)) ? PyBytes_FromObject(arg)
                    : PyUnicode_Check(arg) ? PyUnicode_AsEncodedString(arg, encoding != NULL ? encoding : "utf-8", NULL) : NULL;
    Py_ssize_t n;
    char *copy = NULL;
    int given = size != NULL && *text != NULL;
    if (bytes == NULL)
        return wrong_type(kind == 't' ? "str, bytes or bytearray" : "str", arg, i, p);
    n = PyBytes_GET_SIZE(bytes);
    if (size == NULL && memchr(PyBytes_AS_STRING(bytes), '\0', (size_t)n) != NULL)
        wrong_type("encoded string without null bytes", arg, i, p);
    else if (given && n >= *size)
        PyErr_Format(PyExc_ValueError, "encoded string too long (%zd, maximum length %zd)", n, *size - 1);
    else if ((copy = given ? *text : PyMem_Malloc((size_t)n + 1)) == NULL)
        PyErr_NoMemory();
    if (copy != NULL) {
        memcpy(copy, PyBytes_AS_STRING(bytes), (size_t)n + 1);
        if (!given)
            later(p)->text = text;
        *text = copy;
        if (size != NULL)
            *size = n;
    }
    Py_DECREF(bytes);
    return copy != NULL;
}

/* O& */
static int convert(parser *p, PyObject *arg, Py_ssize_t i, int (*converter)(PyObject *, void *), void *to)
{
    int code = converter(arg, to);
    cleanup *c;
    if (code == 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "the converter of argument %zd failed without an exception", (p->group >= 0 ? p->group : i) + 1);
    if (code == Py_CLEANUP_SUPPORTED) {
        c = later(p);
        c->convert = converter;
        c->to = to;
    }
    return code != 0;
}

#define STORE(type, value) (*va_arg(*args, type *) = (type)(value), 1)

static int parse_one(parser *p, PyObject *arg, Py_ssize_t i, const char **format, va_list *args);

/* (...): a sequence. (As in CPython, what it only makes when it is asked does not live on for an O.) */
static int parse_group(parser *p, PyObject *arg, Py_ssize_t i, const char **format, va_list *args)
{
    const char *at = *format;
    Py_ssize_t k, n, wanted = 0, outer = p->group;
    int ok = 1;
    for (; *at != ')'; wanted++)
        (void)pass_parsed(&at);
    if (!PySequence_Check(arg) || PyBytes_Check(arg))
        return wrong_type("a sequence", arg, i, p);
    n = PySequence_Size(arg);
    if (n < 0)
        return 0;
    if (n != wanted) {
        if (p->message != NULL)
            PyErr_SetString(PyExc_TypeError, p->message);
        else
            PyErr_Format(PyExc_TypeError, "%.150s%sargument %zd must be sequence of length %zd, not %zd", p->function != NULL ? p->function : "",
                         p->function != NULL ? "() " : "", (outer >= 0 ? outer : i) + 1, wanted, n);
        return 0;
    }
    p->group = outer >= 0 ? outer : i;
    for (k = 0; ok && k < n; k++) {
        PyObject *item = PySequence_GetItem(arg, k);
        ok = item != NULL && parse_one(p, item, k, format, args);
        Py_XDECREF(item);               /* arg still holds it */
    }
    p->group = outer;
    *format += ok;
    return ok;
}

/* Arguments of va_arg in the order in which they stand. */
static int parse_one(parser *p, PyObject *arg, Py_ssize_t i, const char **format, va_list *args)
{
    char c = *(*format)++, kind = c == 'e' ? *(*format)++ : c, suffix = one_of(c, "szyuZewO") && one_of(**format, "*#!&") ? *(*format)++ : '\0';
    long long n;
    double x;
    void *to;

    switch (c) {
    case 's': case 'z': case 'y': case 'w':
        to = va_arg(*args, void *);
        return suffix == '*' ? get_view(p, arg, i, c, to) : get_text(p, arg, i, c, to, suffix == '#' ? va_arg(*args, Py_ssize_t *) : NULL);
    case 'u': case 'Z':
        to = va_arg(*args, void *);
        return get_wide(p, arg, i, c, to, suffix == '#' ? va_arg(*args, Py_ssize_t *) : NULL);
    case 'e': {
        const char *encoding = va_arg(*args, const char *);
        to = va_arg(*args, void *);
        return get_encoded(p, arg, i, kind, encoding, to, suffix == '#' ? va_arg(*args, Py_ssize_t *) : NULL);
    }
    case 'O':
        if (suffix == '!') {
            PyTypeObject *type = va_arg(*args, PyTypeObject *);
            return PyObject_TypeCheck(arg, type) ? STORE(PyObject *, arg) : wrong_type(type->tp_name, arg, i, p);
        }
        if (suffix == '&') {
            int (*converter)(PyObject *, void *) = va_arg(*args, int (*)(PyObject *, void *));
            return convert(p, arg, i, converter, va_arg(*args, void *));
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
        unsigned long long mask;

        if ((c == 'k' || c == 'K') && !PyLong_Check(arg))
            return wrong_type("int", arg, i, p);
        mask = PyLong_AsUnsignedLongLongMask(arg);
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
    case 'D': {
        Py_complex z = PyComplex_AsCComplex(arg);
        if (z.real == -1 && PyErr_Occurred())
            return 0;
        *va_arg(*args, Py_complex *) = z;
        return 1;
    }
    case 'c':
        if (PyBytes_Check(arg) && PyBytes_GET_SIZE(arg) == 1)
            return STORE(char, PyBytes_AS_STRING(arg)[0]);
        if (PyByteArray_Check(arg) && PyByteArray_GET_SIZE(arg) == 1)
            return STORE(char, PyByteArray_AS_STRING(arg)[0]);
        return wrong_type("a byte string of length 1", arg, i, p);
    case 'C':
        if (PyUnicode_Check(arg) && PyUnicode_GET_LENGTH(arg) == 1)
            return STORE(int, PyUnicode_READ_CHAR(arg, 0));
        return wrong_type("a unicode character", arg, i, p);
    case 'p': {
        int yes = PyObject_IsTrue(arg);
        return yes >= 0 && STORE(int, yes);
    }
    default: return parse_group(p, arg, i, format, args);          /* '(': begin has seen that it is a unit */
    }
}

/* Pass over one unit of the format whose argument is not there, and over its addresses: one for each letter,
   for the encoding, and for each of # ! & */
static void skip_one(const char **format, va_list *args)
{
    const char *at = *format;
    (void)pass_parsed(format);
    for (; at < *format; at++)
        if (!one_of(*at, "()*"))
            (void)va_arg(*args, void *);
}

/* ---- all arguments ------------------------------------------------------------------- */

static int wrong_count(const parser *p, int by_name, Py_ssize_t n, Py_ssize_t k)
{
    int few = n < p->least && !by_name, positional = n > p->positional && p->positional < p->most;
    Py_ssize_t bound = few ? p->least : positional ? p->positional : p->most;
    if (p->message != NULL && !by_name)
        PyErr_SetString(PyExc_TypeError, p->message);
    else
        PyErr_Format(PyExc_TypeError, "%.150s%s takes %s %zd%s argument%s (%zd given)", p->function != NULL ? p->function : "function",
                     p->function != NULL ? "()" : "", p->least == p->most ? "exactly" : few ? "at least" : "at most", bound,
                     positional ? " positional" : "", bound == 1 ? "" : "s", positional ? n : n + k);
    return 0;
}

/* The names fit the format: as many, and those without a name come first. */
static int check_names(const parser *p, const char *caller, const char *format, char **names)
{
    Py_ssize_t n = 0, unnamed = 0;
    for (; names[n] != NULL; n++)
        if (*names[n] == '\0' && unnamed++ < n)
            return PyErr_Format(PyExc_SystemError, "%s: an empty keyword comes behind one that is not", caller) != NULL;
    if (n == p->most && unnamed <= p->positional)
        return 1;
    PyErr_Format(PyExc_SystemError, "%s: the format \"%.100s\" has %zd units, but there are %zd keywords, %zd of them empty", caller, format,
                 p->most, n, unnamed);
    return 0;
}

/* With names, keywords are allowed. */
static int parse_all(parser *p, PyObject *args, PyObject *kwargs, const char *format, char **names, va_list *to)
{
    Py_ssize_t n = PyTuple_GET_SIZE(args), k = kwargs != NULL ? PyDict_Size(kwargs) : 0, i, used = 0;
    const char *function = p->function != NULL ? p->function : "function", *call = p->function != NULL ? "()" : "";
    if (n > p->positional || n + k > p->most || (names == NULL && n < p->least))
        return wrong_count(p, names != NULL, n, k);
    for (i = 0; i < p->most; i++) {
        PyObject *arg = i < n ? PyTuple_GET_ITEM(args, i) : NULL;
        while (*format == '|' || *format == '$')
            format++;
        if (names != NULL && k > 0 && *names[i] != '\0') {
            PyObject *key = py_str(names[i]), *value = key != NULL ? PyDict_GetItemWithError(kwargs, key) : NULL;
            if (value == NULL && PyErr_Occurred())
                return 0;
            if (value != NULL && arg != NULL)
                return PyErr_Format(PyExc_TypeError, "argument for %.200s%s given by name ('%s') and position (%zd)", function, call,
                                    names[i], i + 1) != NULL;
            used += value != NULL;
            arg = arg != NULL ? arg : value;
        }
        if (arg == NULL && i < p->least)
            return PyErr_Format(PyExc_TypeError, "%.200s%s missing required argument '%s' (pos %zd)", function, call, names[i], i + 1) != NULL;
        if (arg == NULL)
            skip_one(&format, to);
        else if (!parse_one(p, arg, i, &format, to))
            return 0;
    }
    if (used < k) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(kwargs, &at, &key, &value)) {
            int known = !PyUnicode_Check(key);
            for (i = 0; !known && i < p->most; i++)
                known = *names[i] != '\0' && PyUnicode_CompareWithASCIIString(key, names[i]) == 0;
            if (!known || !PyUnicode_Check(key))
                return PyErr_Format(PyExc_TypeError, "'%S' is an invalid keyword argument for %.200s%s", key,
                                    p->function != NULL ? function : "this function", call) != NULL;
        }
    }
    return 1;
}

static int parse(const char *caller, PyObject *args, PyObject *kwargs, const char *format, char **names, va_list *to)
{
    parser p;
    if (args == NULL || !PyTuple_Check(args) || (kwargs != NULL && !PyDict_Check(kwargs)))
        return PyErr_Format(PyExc_SystemError, "%s: the arguments are no tuple, or the keywords no dict", caller) != NULL;
    if (!begin(&p, caller, format, names != NULL))
        return 0;
    return end(&p, (names == NULL || check_names(&p, caller, format, names)) && parse_all(&p, args, kwargs, format, names, to));
}

int PyArg_VaParse(PyObject *args, const char *format, va_list to)
{
    va_list rest;
    int ok;
    va_copy(rest, to);
    ok = parse("PyArg_VaParse", args, NULL, format, NULL, &rest);
    va_end(rest);
    return ok;
}

int PyArg_VaParseTupleAndKeywords(PyObject *args, PyObject *kwargs, const char *format, char **names, va_list to)
{
    va_list rest;
    int ok;
    va_copy(rest, to);
    ok = parse("PyArg_VaParseTupleAndKeywords", args, kwargs, format, names, &rest);
    va_end(rest);
    return ok;
}

int PyArg_ParseTuple(PyObject *args, const char *format, ...)
{
    va_list to;
    int ok;
    va_start(to, format);
    ok = parse("PyArg_ParseTuple", args, NULL, format, NULL, &to);
    va_end(to);
    return ok;
}

int PyArg_ParseTupleAndKeywords(PyObject *args, PyObject *kwargs, const char *format, char **names, ...)
{
    va_list to;
    int ok;
    va_start(to, names);
    ok = parse("PyArg_ParseTupleAndKeywords", args, kwargs, format, names, &to);
    va_end(to);
    return ok;
}

/* One object, for one unit. */
int PyArg_Parse(PyObject *arg, const char *format, ...)
{
    parser p;
    const char *at = format;
    va_list to;
    int ok;
    if (!begin(&p, "PyArg_Parse", format, 0))
        return 0;
    if (p.most != 1 || p.least != 1) {
        PyErr_Format(PyExc_SystemError, "PyArg_Parse: the format \"%.100s\" has to be one unit", format);
        return end(&p, 0);
    }
    va_start(to, format);
    ok = parse_one(&p, arg, 0, &at, &to);
    va_end(to);
    return end(&p, ok);
}

int PyArg_UnpackTuple(PyObject *args, const char *name, Py_ssize_t least, Py_ssize_t most, ...)
{
    va_list to;
    Py_ssize_t i, n;
    if (!PyTuple_Check(args))
        return PyErr_Format(PyExc_SystemError, "PyArg_UnpackTuple: the arguments are no tuple") != NULL;
    n = PyTuple_GET_SIZE(args);
    if (n < least || n > most) {
        PyErr_Format(PyExc_TypeError, "%.200s %s %s%zd %s%s, %s %zd", name != NULL ? name : "unpacked tuple",
                     name != NULL ? "expected" : "should have", least == most ? "" : n < least ? "at least " : "at most ",
                     n < least ? least : most, name != NULL ? "argument" : "element", (n < least ? least : most) == 1 ? "" : "s",
                     name != NULL ? "got" : "but has", n);
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
    if (kwargs == NULL || !PyDict_Check(kwargs)) {
        PyErr_BadInternalCall();
        return 0;
    }
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

/* Units up to a closing bracket or the end. */
static Py_ssize_t count_units(const char *at)
{
    Py_ssize_t n = 0;
    for (at = next_unit(at); *at != '\0' && *at != ')' && *at != ']' && *at != '}'; at = next_unit(at), n++)
        (void)pass_built(&at);
    return n;
}

/* A tuple, list or dict. After a failure the rest is built, too, and dropped: a reference that is given (N) is taken
   in any case. The first exception is the one. */
static PyObject *build_container(const char **format, va_list *args, char open)
{
    Py_ssize_t n = count_units(*format), i;
    PyObject *all = open == '(' ? PyTuple_New(n) : open == '[' ? PyList_New(n) : PyDict_New(), *key = NULL;
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    int failed = all == NULL;
    if (failed)
        PyErr_Fetch(&type, &value, &traceback);
    for (i = 0; i < n; i++) {
        PyObject *item;
        int ok;
        *format = next_unit(*format);
        item = build_one(format, args);
        ok = item != NULL;
        if (ok && !failed && open == '(') {
            PyTuple_SET_ITEM(all, i, item);
        } else if (ok && !failed && open == '[') {
            PyList_SET_ITEM(all, i, item);
        } else if (ok && !failed && i % 2 == 0) {
            key = item;
        } else {
            if (!failed && ok)
                ok = PyDict_SetItem(all, key, item) == 0;
            Py_CLEAR(key);
            Py_XDECREF(item);
        }
        if (!ok && !failed) {
            PyErr_Fetch(&type, &value, &traceback);
            failed = 1;
        } else if (!ok) {
            PyErr_Clear();
        }
    }
    *format = next_unit(*format);
    *format += **format != '\0';
    if (failed) {
        Py_XDECREF(key);
        Py_CLEAR(all);
        PyErr_Restore(type, value, traceback);
    }
    return all;
}

static PyObject *build_text(char c, int has_size, va_list *args)
{
    const void *text = va_arg(*args, const void *);
    Py_ssize_t n = has_size ? va_arg(*args, Py_ssize_t) : text == NULL ? 0 : c == 'u' ? (Py_ssize_t)wcslen(text) : (Py_ssize_t)strlen(text);
    if (text == NULL)
        Py_RETURN_NONE;
    return c == 'y' ? PyBytes_FromStringAndSize(text, n) : c == 'u' ? PyUnicode_FromWideChar(text, n) : PyUnicode_FromStringAndSize(text, n);
}

static PyObject *build_one(const char **format, va_list *args)
{
    char c = *(*format)++, suffix = **format == '#' || **format == '&' ? *(*format)++ : '\0';
    PyObject *op;
    switch (c) {
    case '(': case '[': case '{': return build_container(format, args, c);
    case 'b': case 'B': case 'h': case 'i': return PyLong_FromLong(va_arg(*args, int));
    case 'H': case 'I': return PyLong_FromUnsignedLong(va_arg(*args, unsigned));
    case 'l': return PyLong_FromLong(va_arg(*args, long));
    case 'k': return PyLong_FromUnsignedLong(va_arg(*args, unsigned long));
    case 'L': return PyLong_FromLongLong(va_arg(*args, long long));
    case 'K': return PyLong_FromUnsignedLongLong(va_arg(*args, unsigned long long));
    case 'n': return PyLong_FromSsize_t(va_arg(*args, Py_ssize_t));
    case 'f': case 'd': return PyFloat_FromDouble(va_arg(*args, double));
    case 'D': return PyComplex_FromCComplex(*va_arg(*args, const Py_complex *));
    case 'c': {
        char byte = (char)va_arg(*args, int);
        return PyBytes_FromStringAndSize(&byte, 1);
    }
    case 'C': return PyUnicode_FromOrdinal(va_arg(*args, int));
    case 's': case 'z': case 'U': case 'y': case 'u': return build_text(c, suffix == '#', args);
    default:                            /* O, S, N: Py_VaBuildValue has seen that it is a unit */
        if (suffix == '&') {
            PyObject *(*converter)(void *) = va_arg(*args, PyObject *(*)(void *));
            op = converter(va_arg(*args, void *));
            if (op == NULL && !PyErr_Occurred())
                PyErr_SetString(PyExc_SystemError, "a converter of Py_BuildValue failed without an exception");
            return op;
        }
        op = va_arg(*args, PyObject *);
        if (op == NULL && !PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "NULL object passed to Py_BuildValue");
        return c == 'N' ? op : Py_XNewRef(op);
    }
}

PyObject *Py_VaBuildValue(const char *format, va_list args)
{
    const char *at;
    PyObject *result;
    va_list rest;
    Py_ssize_t n = 0;
    for (at = next_unit(format); *at != '\0'; at = next_unit(at), n++)
        if (!pass_built(&at)) {
            bad_format("Py_BuildValue", format, at);
            return NULL;
        }
    at = next_unit(format);
    va_copy(rest, args);
    result = n == 0 ? Py_NewRef(Py_None) : n == 1 ? build_one(&at, &rest) : build_container(&at, &rest, '(');
    va_end(rest);
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
    ok = ok && parse("_PyArg_ParseStackAndKeywords", tuple, kwargs, description->format, (char **)(uintptr_t)description->keywords, &to);
    va_end(to);
    Py_XDECREF(kwargs);                 /* the caller of the caller holds what was found */
    Py_XDECREF(tuple);
    return ok;
}
