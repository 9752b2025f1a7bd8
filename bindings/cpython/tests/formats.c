/* formats.c - every unit of the formats of PyArg_Parse and Py_BuildValue. Each line of a table is tried alone, in a
 * group, by keyword, left out, and before an argument that is wrong: what comes behind a unit must be found. Formats
 * with mistakes are refused before anything is read or written. */
#include "Python.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            PyErr_Format(PyExc_AssertionError, "line %d: %s%s%s", __LINE__, #condition, PyErr_Occurred() ? ", but " : "", \
                         PyErr_Occurred() ? Py_TYPE(PyErr_Occurred())->tp_name : ""); \
            return NULL; \
        } \
    } while (0)

/* The exception that is set has this type, and its text begins so. Clears it. */
static int failed_with(PyObject *wanted, const char *text)
{
    PyObject *type, *value, *traceback, *string;
    const char *got;
    int yes;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    string = value != NULL ? PyObject_Str(value) : NULL;
    got = string != NULL ? PyUnicode_AsUTF8(string) : "no exception";
    yes = type == wanted && got != NULL && strncmp(got, text, strlen(text)) == 0;
    if (!yes)
        fprintf(stderr, "expected %s, got %s: %s\n", text, type != NULL ? ((PyTypeObject *)(void *)type)->tp_name : "nothing", got);
    Py_XDECREF(string);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return yes;
}

static int is_text(PyObject *op, const char *text)
{
    PyObject *repr = op != NULL ? PyObject_Repr(op) : NULL;
    int yes = repr != NULL && strcmp(PyUnicode_AsUTF8(repr), text) == 0;
    if (!yes)
        fprintf(stderr, "expected %s, got %s\n", text, repr != NULL ? PyUnicode_AsUTF8(repr) : "nothing");
    Py_XDECREF(repr);
    return yes;
}

/* ---- what units write ------------------------------------------------------------- */

static struct {
    Py_buffer view;
    const char *text;
    char *copy;
    Py_UNICODE *wide;
    PyObject *op;
    Py_ssize_t size;
    unsigned char b;
    unsigned short H;
    short h;
    int i;
    unsigned I;
    long l;
    unsigned long k;
    long long L;
    unsigned long long K;
    float f;
    double d;
    Py_complex D;
    char c;
    char room[8];
} to;

static int converted, cleaned;

static int converter(PyObject *op, void *out)
{
    if (op == NULL) {
        cleaned++;
        Py_CLEAR(*(PyObject **)out);
        return 1;
    }
    converted++;
    *(PyObject **)out = PyObject_Repr(op);
    return *(PyObject **)out != NULL ? Py_CLEANUP_SUPPORTED : 0;
}

static int plain_converter(PyObject *op, void *out)
{
    *(PyObject **)out = op;
    return 1;
}

static int bad_converter(PyObject *op, void *out)
{
    (void)op, (void)out;
    return 0;
}

static void reset(void)
{
    memset(&to, 0, sizeof to);
}

/* Nothing was written. */
static int is_untouched(void)
{
    static const char zeros[sizeof to];
    return memcmp(&to, zeros, sizeof to) == 0;
}

/* ---- one unit, in all places -------------------------------------------------------- */

/* UNIT(unit, object, what is true afterwards, what has to be released, addresses...) */
#define UNIT(unit, object, condition, release, ...) \
    do { \
        static char *names[] = { "x", "after", NULL }; \
        PyObject *x = (object), *alone = Py_BuildValue("(O)", x), *both = Py_BuildValue("(Oi)", x, 77), *group = Py_BuildValue("((Oi))", x, 77); \
        PyObject *mixed = Py_BuildValue("(Os)", x, "no number"), *none = PyTuple_New(0), *keywords, *last = Py_BuildValue("{s:i}", "after", 77); \
        int after = 0; \
        Py_ssize_t count; \
        keywords = Py_BuildValue("{s:O,s:i}", "x", x, "after", 77); \
        CHECK(x != NULL && alone != NULL && both != NULL && group != NULL && mixed != NULL && none != NULL && keywords != NULL && last != NULL); \
        count = Py_REFCNT(x); \
        reset(); CHECK(PyArg_ParseTuple(alone, unit, __VA_ARGS__) && (condition)); release; \
        reset(); CHECK(PyArg_Parse(x, unit, __VA_ARGS__) && (condition)); release; \
        reset(); CHECK(PyArg_ParseTuple(both, unit "i", __VA_ARGS__, &after) && (condition) && after == 77); release; \
        after = 0; \
        reset(); CHECK(PyArg_ParseTuple(group, "(" unit "i):name", __VA_ARGS__, &after) && (condition) && after == 77); release; \
        after = 0; \
        reset(); CHECK(PyArg_ParseTupleAndKeywords(none, keywords, unit "$i", names, __VA_ARGS__, &after) == 0); \
        CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTupleAndKeywords: the format \"" unit "$i\" has no unit at \"$i\"") && is_untouched()); \
        reset(); CHECK(PyArg_ParseTupleAndKeywords(none, keywords, unit "|$i", names, __VA_ARGS__, &after) && (condition) && after == 77); release; \
        after = 0; \
        reset(); CHECK(PyArg_ParseTupleAndKeywords(none, last, "|" unit "i", names, __VA_ARGS__, &after) && is_untouched() && after == 77); \
        after = 0; \
        reset(); CHECK(PyArg_ParseTupleAndKeywords(alone, NULL, unit "|i", names, __VA_ARGS__, &after) && (condition) && after == 0); release; \
        reset(); CHECK(!PyArg_ParseTuple(mixed, unit "i", __VA_ARGS__, &after)); \
        CHECK(failed_with(PyExc_TypeError, "'str' object cannot be interpreted as an integer")); \
        CHECK(Py_REFCNT(x) == count); \
        Py_DECREF(alone); Py_DECREF(both); Py_DECREF(group); Py_DECREF(mixed); Py_DECREF(none); Py_DECREF(keywords); Py_DECREF(last); \
        Py_DECREF(x); \
    } while (0)

/* WRONG(unit, object, exception, text, addresses...): the unit does not take the object, and writes nothing. */
#define WRONG(unit, object, exception, message, ...) \
    do { \
        PyObject *x = (object), *args = Py_BuildValue("(iO)", 1, x); \
        int before = 0; \
        Py_ssize_t count; \
        CHECK(args != NULL); \
        count = Py_REFCNT(x); \
        reset(); CHECK(!PyArg_ParseTuple(args, "i" unit ":f", &before, __VA_ARGS__)); \
        CHECK(failed_with(exception, message)); \
        CHECK(before == 1 && Py_REFCNT(x) == count); \
        Py_DECREF(args); \
        Py_DECREF(x); \
    } while (0)

#define S(text) PyUnicode_FromString(text)
#define SN(text, n) PyUnicode_FromStringAndSize(text, n)
#define B(text) PyBytes_FromString(text)
#define BN(text, n) PyBytes_FromStringAndSize(text, n)
#define A(text) PyByteArray_FromStringAndSize(text, (Py_ssize_t)strlen(text))
#define N(n) PyLong_FromLongLong(n)
#define NONE Py_NewRef(Py_None)
#define IS_COPY(text) (strcmp(to.copy, text) == 0)
#define IS_BYTES(bytes, text, n) (memcmp(bytes, text, n) == 0)
#define FREE_COPY PyMem_Free(to.copy)
#define RELEASE PyBuffer_Release(&to.view)
#define NOTHING ((void)0)

static PyObject *parse_texts(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    UNIT("s", S("abc"), strcmp(to.text, "abc") == 0, NOTHING, &to.text);
    UNIT("s", S("\xc3\xa4"), strcmp(to.text, "\xc3\xa4") == 0, NOTHING, &to.text);
    UNIT("s*", S("abc"), to.view.len == 3 && IS_BYTES(to.view.buf, "abc", 3), RELEASE, &to.view);
    UNIT("s*", B("abc"), to.view.len == 3, RELEASE, &to.view);
    UNIT("s*", A("abc"), to.view.len == 3, RELEASE, &to.view);
    UNIT("s#", SN("a\0c", 3), to.size == 3 && IS_BYTES(to.text, "a\0c", 4), NOTHING, &to.text, &to.size);
    UNIT("s#", BN("a\0c", 3), to.size == 3 && IS_BYTES(to.text, "a\0c", 4), NOTHING, &to.text, &to.size);
    UNIT("z", S("abc"), strcmp(to.text, "abc") == 0, NOTHING, &to.text);
    UNIT("z", NONE, to.text == NULL, NOTHING, &to.text);
    UNIT("z*", S("abc"), to.view.len == 3, RELEASE, &to.view);
    UNIT("z*", NONE, to.view.buf == NULL && to.view.obj == NULL && to.view.len == 0, RELEASE, &to.view);
    UNIT("z*", B("abc"), to.view.len == 3, RELEASE, &to.view);
    UNIT("z#", S("abc"), to.size == 3, NOTHING, &to.text, &to.size);
    UNIT("z#", B("abc"), to.size == 3, NOTHING, &to.text, &to.size);
    UNIT("z#", NONE, to.text == NULL && to.size == 0, NOTHING, &to.text, &to.size);
    UNIT("y", B("abc"), strcmp(to.text, "abc") == 0, NOTHING, &to.text);
    UNIT("y*", B("abc"), to.view.len == 3 && to.view.readonly, RELEASE, &to.view);
    UNIT("y*", A("abc"), to.view.len == 3, RELEASE, &to.view);
    UNIT("y#", BN("a\0c", 3), to.size == 3 && IS_BYTES(to.text, "a\0c", 4), NOTHING, &to.text, &to.size);
    UNIT("w*", A("abc"), to.view.len == 3 && !to.view.readonly, RELEASE, &to.view);
    UNIT("u", S("\xc3\xa4" "bc"), wcscmp(to.wide, L"\u00e4bc") == 0, NOTHING, &to.wide);
    UNIT("u#", SN("a\0c", 3), to.size == 3 && wmemcmp(to.wide, L"a\0c", 4) == 0, NOTHING, &to.wide, &to.size);
    UNIT("Z", S("abc"), wcscmp(to.wide, L"abc") == 0, NOTHING, &to.wide);
    UNIT("Z", NONE, to.wide == NULL, NOTHING, &to.wide);
    UNIT("Z#", S("abc"), to.size == 3, NOTHING, &to.wide, &to.size);
    UNIT("Z#", NONE, to.wide == NULL && to.size == 0, NOTHING, &to.wide, &to.size);
    UNIT("es", S("\xc3\xa4"), IS_COPY("\xc3\xa4"), FREE_COPY, "utf-8", &to.copy);
    UNIT("es", S("\xc3\xa4"), IS_COPY("\xc3\xa4"), FREE_COPY, NULL, &to.copy);
    UNIT("es", S("\xc3\xa4"), IS_COPY("\xe4"), FREE_COPY, "latin-1", &to.copy);
    UNIT("et", S("\xc3\xa4"), IS_COPY("\xe4"), FREE_COPY, "latin-1", &to.copy);
    UNIT("et", B("\xc3\xa4"), IS_COPY("\xc3\xa4"), FREE_COPY, "latin-1", &to.copy);
    UNIT("et", A("\xc3\xa4"), IS_COPY("\xc3\xa4"), FREE_COPY, "latin-1", &to.copy);
    UNIT("es#", SN("\xc3\xa4\0b", 4), to.size == 3 && IS_BYTES(to.copy, "\xe4\0b", 4), FREE_COPY, "latin-1", &to.copy, &to.size);
    UNIT("et#", SN("\xc3\xa4\0b", 4), to.size == 3 && IS_BYTES(to.copy, "\xe4\0b", 4), FREE_COPY, "latin-1", &to.copy, &to.size);
    UNIT("et#", BN("\xc3\xa4\0b", 4), to.size == 4 && IS_BYTES(to.copy, "\xc3\xa4\0b", 5), FREE_COPY, "latin-1", &to.copy, &to.size);
    WRONG("s", B("abc"), PyExc_TypeError, "f() argument 2 must be str, not bytes", &to.text);
    WRONG("s", NONE, PyExc_TypeError, "f() argument 2 must be str, not None", &to.text);
    WRONG("s", SN("a\0c", 3), PyExc_ValueError, "embedded null character", &to.text);
    WRONG("s*", N(1), PyExc_TypeError, "f() argument 2 must be a bytes-like object, not int", &to.view);
    WRONG("s#", A("abc"), PyExc_TypeError, "f() argument 2 must be str or a read-only bytes-like object, not bytearray", &to.text, &to.size);
    WRONG("z", N(1), PyExc_TypeError, "f() argument 2 must be str or None, not int", &to.text);
    WRONG("z", SN("a\0c", 3), PyExc_ValueError, "embedded null character", &to.text);
    WRONG("y", S("abc"), PyExc_TypeError, "f() argument 2 must be a read-only bytes-like object, not str", &to.text);
    WRONG("y", BN("a\0c", 3), PyExc_ValueError, "embedded null byte", &to.text);
    WRONG("y*", S("abc"), PyExc_TypeError, "f() argument 2 must be a bytes-like object, not str", &to.view);
    WRONG("y#", A("abc"), PyExc_TypeError, "f() argument 2 must be a read-only bytes-like object, not bytearray", &to.text, &to.size);
    WRONG("w*", B("abc"), PyExc_TypeError, "f() argument 2 must be read-write bytes-like object, not bytes", &to.view);
    WRONG("w*", S("abc"), PyExc_TypeError, "f() argument 2 must be read-write bytes-like object, not str", &to.view);
    WRONG("u", NONE, PyExc_TypeError, "f() argument 2 must be str, not None", &to.wide);
    WRONG("u", SN("a\0c", 3), PyExc_ValueError, "embedded null character", &to.wide);
    WRONG("u#", B("abc"), PyExc_TypeError, "f() argument 2 must be str, not bytes", &to.wide, &to.size);
    WRONG("Z", N(1), PyExc_TypeError, "f() argument 2 must be str or None, not int", &to.wide);
    WRONG("es", B("abc"), PyExc_TypeError, "f() argument 2 must be str, not bytes", "utf-8", &to.copy);
    WRONG("es", SN("a\0c", 3), PyExc_TypeError, "f() argument 2 must be encoded string without null bytes, not str", "utf-8", &to.copy);
    WRONG("es", S("abc"), PyExc_LookupError, "", "no encoding", &to.copy);
    WRONG("et", N(1), PyExc_TypeError, "f() argument 2 must be str, bytes or bytearray, not int", "utf-8", &to.copy);
    WRONG("et", BN("a\0c", 3), PyExc_TypeError, "f() argument 2 must be encoded string without null bytes, not bytes", "utf-8", &to.copy);
    Py_RETURN_NONE;
}

static PyObject *parse_numbers(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    UNIT("b", N(255), to.b == 255, NOTHING, &to.b);
    UNIT("B", N(-1), to.b == 255, NOTHING, &to.b);
    UNIT("h", N(-32768), to.h == -32768, NOTHING, &to.h);
    UNIT("H", N(65537), to.H == 1, NOTHING, &to.H);
    UNIT("i", N(INT_MIN), to.i == INT_MIN, NOTHING, &to.i);
    UNIT("I", N(0x1ffffffffll), to.I == 0xffffffff, NOTHING, &to.I);
    UNIT("l", N(LONG_MAX), to.l == LONG_MAX, NOTHING, &to.l);
    UNIT("k", N(-1), to.k == ULONG_MAX, NOTHING, &to.k);
    UNIT("L", N(LLONG_MIN), to.L == LLONG_MIN, NOTHING, &to.L);
    UNIT("K", N(-2), to.K == ULLONG_MAX - 1, NOTHING, &to.K);
    UNIT("n", N(PY_SSIZE_T_MIN), to.size == PY_SSIZE_T_MIN, NOTHING, &to.size);
    UNIT("f", PyFloat_FromDouble(0.5), to.f == 0.5f, NOTHING, &to.f);
    UNIT("d", PyFloat_FromDouble(-1), to.d == -1, NOTHING, &to.d);
    UNIT("d", N(3), to.d == 3, NOTHING, &to.d);
    UNIT("D", PyComplex_FromDoubles(-1, 2), to.D.real == -1 && to.D.imag == 2, NOTHING, &to.D);
    UNIT("D", PyFloat_FromDouble(1.5), to.D.real == 1.5 && to.D.imag == 0, NOTHING, &to.D);
    UNIT("c", B("x"), to.c == 'x', NOTHING, &to.c);
    UNIT("c", A("x"), to.c == 'x', NOTHING, &to.c);
    UNIT("C", S("\xc3\xa4"), to.i == 0xe4, NOTHING, &to.i);
    UNIT("p", N(5), to.i == 1, NOTHING, &to.i);
    UNIT("p", S(""), to.i == 0, NOTHING, &to.i);
    WRONG("b", N(256), PyExc_OverflowError, "unsigned byte integer is greater than maximum", &to.b);
    WRONG("b", N(-1), PyExc_OverflowError, "unsigned byte integer is less than minimum", &to.b);
    WRONG("h", N(32768), PyExc_OverflowError, "signed short integer is greater than maximum", &to.h);
    WRONG("i", N(INT_MAX + 1ll), PyExc_OverflowError, "signed integer is greater than maximum", &to.i);
    WRONG("i", PyFloat_FromDouble(1), PyExc_TypeError, "'float' object cannot be interpreted as an integer", &to.i);
    WRONG("I", S("1"), PyExc_TypeError, "", &to.I);
    WRONG("B", PyFloat_FromDouble(1), PyExc_TypeError, "", &to.b);
    WRONG("l", PyLong_FromString("99999999999999999999", NULL, 10), PyExc_OverflowError, "signed long integer is greater than maximum", &to.l);
    WRONG("k", PyFloat_FromDouble(1), PyExc_TypeError, "f() argument 2 must be int, not float", &to.k);
    WRONG("K", S("1"), PyExc_TypeError, "f() argument 2 must be int, not str", &to.K);
    WRONG("n", NONE, PyExc_TypeError, "'NoneType' object cannot be interpreted as an integer", &to.size);
    WRONG("f", S("1"), PyExc_TypeError, "must be real number, not str", &to.f);
    WRONG("d", NONE, PyExc_TypeError, "must be real number, not NoneType", &to.d);
    WRONG("D", S("1"), PyExc_TypeError, "must be real number, not str", &to.D);
    WRONG("c", B("xy"), PyExc_TypeError, "f() argument 2 must be a byte string of length 1, not bytes", &to.c);
    WRONG("C", S("xy"), PyExc_TypeError, "f() argument 2 must be a unicode character, not str", &to.i);
    Py_RETURN_NONE;
}

static PyObject *parse_objects(PyObject *self, PyObject *none)
{
    PyObject *five;
    int after = 0;
    (void)self, (void)none;
    UNIT("O", S("x"), is_text(to.op, "'x'"), NOTHING, &to.op);
    UNIT("O!", S("x"), is_text(to.op, "'x'"), NOTHING, &PyUnicode_Type, &to.op);
    UNIT("O&", S("x"), is_text(to.op, "'x'"), NOTHING, plain_converter, &to.op);
    UNIT("U", S("x"), is_text(to.op, "'x'"), NOTHING, &to.op);
    UNIT("S", B("x"), is_text(to.op, "b'x'"), NOTHING, &to.op);
    UNIT("Y", A("x"), is_text(to.op, "bytearray(b'x')"), NOTHING, &to.op);
    converted = cleaned = 0;
    UNIT("O&", N(5), is_text(to.op, "'5'"), Py_CLEAR(to.op), converter, &to.op);
    CHECK(converted == 7 && cleaned == 1 && to.op == NULL);
    UNIT("(ii)", Py_BuildValue("(ii)", 1, 2), to.i == 1 && to.l == 2, NOTHING, &to.i, (int *)(void *)&to.l);
    UNIT("(i(s#n))", Py_BuildValue("[i[si]]", 1, "abc", 3), to.i == 1 && to.size == 3 && to.l == 3, NOTHING, &to.i, &to.text, &to.size, &to.l);
    WRONG("O!", N(1), PyExc_TypeError, "f() argument 2 must be str, not int", &PyUnicode_Type, &to.op);
    WRONG("O&", N(1), PyExc_SystemError, "the converter of argument 2 failed without an exception", bad_converter, &to.op);
    WRONG("U", B("x"), PyExc_TypeError, "f() argument 2 must be str, not bytes", &to.op);
    WRONG("S", S("x"), PyExc_TypeError, "f() argument 2 must be bytes, not str", &to.op);
    WRONG("Y", B("x"), PyExc_TypeError, "f() argument 2 must be bytearray, not bytes", &to.op);
    WRONG("(ii)", N(1), PyExc_TypeError, "f() argument 2 must be a sequence, not int", &to.i, &to.i);
    WRONG("(cc)", B("ab"), PyExc_TypeError, "f() argument 2 must be a sequence, not bytes", &to.c, &to.c);
    WRONG("(ii)", Py_BuildValue("(i)", 1), PyExc_TypeError, "f() argument 2 must be sequence of length 2, not 1", &to.i, &to.i);
    WRONG("(ii)", Py_BuildValue("[iii]", 1, 2, 3), PyExc_TypeError, "f() argument 2 must be sequence of length 2, not 3", &to.i, &to.i);
    WRONG("(iU)", Py_BuildValue("(ii)", 1, 2), PyExc_TypeError, "f() argument 2, item 1 must be str, not int", &to.i, &to.op);
    WRONG("(i(iU))", Py_BuildValue("(i(ii))", 1, 2, 3), PyExc_TypeError, "f() argument 2, item 1 must be str, not int", &to.i, &to.i, &to.op);

    five = Py_BuildValue("(()i)", 5);
    CHECK(five != NULL && PyArg_ParseTuple(five, "()i", &after) && after == 5);
    Py_DECREF(five);

    /* es# and et# write to a buffer that is given, or say that it is too small */
    five = Py_BuildValue("(s)", "12345");
    CHECK(five != NULL);
    reset();
    to.copy = to.room;
    to.size = sizeof to.room;
    CHECK(PyArg_ParseTuple(five, "es#", "ascii", &to.copy, &to.size) && to.copy == to.room && to.size == 5 && strcmp(to.room, "12345") == 0);
    to.size = 5;
    CHECK(!PyArg_ParseTuple(five, "et#", "ascii", &to.copy, &to.size) && to.size == 5);
    CHECK(failed_with(PyExc_ValueError, "encoded string too long (5, maximum length 4)"));
    to.size = 6;
    CHECK(PyArg_ParseTuple(five, "et#", "ascii", &to.copy, &to.size) && to.size == 5);
    Py_DECREF(five);
    Py_RETURN_NONE;
}

/* ---- more than 32 buffers, copies, converters: all are released if the last argument is wrong -------- */

#define TEN(x, from) &(x)[from], &(x)[from + 1], &(x)[from + 2], &(x)[from + 3], &(x)[from + 4], &(x)[from + 5], &(x)[from + 6], \
    &(x)[from + 7], &(x)[from + 8], &(x)[from + 9]
#define TEN_OF(a, x, from) a, &(x)[from], a, &(x)[from + 1], a, &(x)[from + 2], a, &(x)[from + 3], a, &(x)[from + 4], a, &(x)[from + 5], \
    a, &(x)[from + 6], a, &(x)[from + 7], a, &(x)[from + 8], a, &(x)[from + 9]
enum { MANY = 40 };

static PyObject *many(PyObject *self, PyObject *none)
{
    static Py_buffer views[MANY];
    static char *copies[MANY];
    static PyObject *objects[MANY];
    PyObject *array = A("abc"), *text = S("abc"), *args = PyTuple_New(3 * MANY + 1);
    char format[9 * MANY + 2] = "";
    int i, last = 0;
    (void)self, (void)none;
    CHECK(array != NULL && text != NULL && args != NULL);
    for (i = 0; i < 3 * MANY; i++) {
        PyTuple_SET_ITEM(args, i, Py_NewRef(i < MANY ? array : text));
        strcat(format, i < MANY ? "s*" : i < 2 * MANY ? "es" : "O&");
    }
    strcat(format, "i");
    PyTuple_SET_ITEM(args, i, S("no number"));
    converted = cleaned = 0;
#define ALL TEN(views, 0), TEN(views, 10), TEN(views, 20), TEN(views, 30), TEN_OF("utf-8", copies, 0), TEN_OF("utf-8", copies, 10), \
        TEN_OF("utf-8", copies, 20), TEN_OF("utf-8", copies, 30), TEN_OF(converter, objects, 0), TEN_OF(converter, objects, 10), \
        TEN_OF(converter, objects, 20), TEN_OF(converter, objects, 30)
    CHECK(PyByteArray_Resize(array, 4) == 0 && PyByteArray_Resize(array, 3) == 0);
    CHECK(!PyArg_ParseTuple(args, format, ALL, &last));
    CHECK(failed_with(PyExc_TypeError, "'str' object cannot be interpreted as an integer"));
    CHECK(converted == MANY && cleaned == MANY);
    for (i = 0; i < MANY; i++)
        CHECK(copies[i] == NULL && objects[i] == NULL && views[i].obj == NULL);
    CHECK(PyByteArray_Resize(array, 5) == 0);           /* nobody has a view of it */
    Py_SETREF(PyTuple_GET_ITEM(args, 3 * MANY), N(7));
    CHECK(PyArg_ParseTuple(args, format, ALL, &last) && last == 7 && converted == 2 * MANY && cleaned == MANY);
    CHECK(PyByteArray_Resize(array, 6) < 0 && failed_with(PyExc_BufferError, ""));
    for (i = 0; i < MANY; i++) {
        CHECK(views[i].len == 5 && strcmp(copies[i], "abc") == 0 && is_text(objects[i], "\"'abc'\""));
        PyBuffer_Release(&views[i]);
        PyMem_Free(copies[i]);
        copies[i] = NULL;
        Py_CLEAR(objects[i]);
    }
    CHECK(PyByteArray_Resize(array, 6) == 0);
    Py_DECREF(args);
    Py_DECREF(text);
    Py_DECREF(array);
    Py_RETURN_NONE;
}

/* ---- Py_BuildValue ---------------------------------------------------------------------- */

/* BUILD(unit, text, values...): alone; between others; in containers. */
#define BUILD(unit, text, ...) \
    do { \
        PyObject *a = Py_BuildValue(unit, __VA_ARGS__), *b = Py_BuildValue("i" unit "s", 1, __VA_ARGS__, "end"); \
        PyObject *c = Py_BuildValue("([{s: (" unit "i), " "i:s} ,] i)", "key", __VA_ARGS__, 77, 5, "five", 78), *dict, *tuple; \
        CHECK(is_text(a, text)); \
        CHECK(b != NULL && PyTuple_Check(b) && is_text(b, "(1, " text ", 'end')")); \
        CHECK(c != NULL && PyTuple_Check(c) && PyTuple_GET_SIZE(c) == 2 && is_text(PyTuple_GET_ITEM(c, 1), "78")); \
        dict = PyList_GetItem(PyTuple_GET_ITEM(c, 0), 0); \
        CHECK(dict != NULL && PyDict_Size(dict) == 2 && (tuple = PyDict_GetItemString(dict, "key")) != NULL); \
        CHECK(is_text(tuple, "(" text ", 77)")); \
        Py_DECREF(a); Py_DECREF(b); Py_DECREF(c); \
    } while (0)

static PyObject *convert_back(void *p)
{
    return p == NULL ? NULL : PyLong_FromLong(*(int *)p);
}

static PyObject *build(PyObject *self, PyObject *none)
{
    static const char bytes[] = "a\0c";
    static const Py_complex z = { 1, -2 };
    int five = 5;
    PyObject *op = S("op"), *result;
    Py_ssize_t count;
    (void)self, (void)none;
    BUILD("s", "'abc'", "abc");
    BUILD("s", "None", (char *)NULL);
    BUILD("s#", "'a\\x00c'", bytes, (Py_ssize_t)3);
    BUILD("s#", "None", (char *)NULL, (Py_ssize_t)3);
    BUILD("z", "'abc'", "abc");
    BUILD("z", "None", (char *)NULL);
    BUILD("z#", "'ab'", "abc", (Py_ssize_t)2);
    BUILD("U", "'abc'", "abc");
    BUILD("U#", "'ab'", "abc", (Py_ssize_t)2);
    BUILD("y", "b'abc'", "abc");
    BUILD("y", "None", (char *)NULL);
    BUILD("y#", "b'a\\x00c'", bytes, (Py_ssize_t)3);
    BUILD("u", "'abc'", L"abc");
    BUILD("u", "None", (wchar_t *)NULL);
    BUILD("u#", "'ab'", L"abc", (Py_ssize_t)2);
    BUILD("b", "-1", -1);
    BUILD("B", "255", 255);
    BUILD("h", "-32768", -32768);
    BUILD("H", "65535", 65535u);
    BUILD("i", "-5", -5);
    BUILD("I", "4294967295", UINT_MAX);
    BUILD("l", "9223372036854775807", LONG_MAX);
    BUILD("k", "18446744073709551615", ULONG_MAX);
    BUILD("L", "-9223372036854775808", LLONG_MIN);
    BUILD("K", "18446744073709551615", ULLONG_MAX);
    BUILD("n", "-9223372036854775808", PY_SSIZE_T_MIN);
    BUILD("f", "0.5", 0.5f);
    BUILD("d", "-1.5", -1.5);
    BUILD("D", "(1-2j)", &z);
    BUILD("c", "b'x'", 'x');
    BUILD("C", "'x'", 'x');
    BUILD("O&", "5", convert_back, (void *)&five);
    BUILD("N&", "5", convert_back, (void *)&five);
    BUILD("S&", "5", convert_back, (void *)&five);
    BUILD("O", "'op'", op);
    BUILD("S", "'op'", op);
    Py_INCREF(op);                      /* one for each of the three that BUILD makes */
    Py_INCREF(op);
    Py_INCREF(op);
    BUILD("N", "'op'", op);
    count = Py_REFCNT(op);
    result = Py_BuildValue("(O[O]SN)", op, op, op, Py_NewRef(op));
    CHECK(Py_REFCNT(op) == count + 4 && is_text(result, "('op', ['op'], 'op', 'op')"));
    Py_DECREF(result);
    CHECK(Py_REFCNT(op) == count);
    BUILD("(O)", "('op',)", op);

    CHECK((result = Py_BuildValue("")) == Py_None);
    Py_DECREF(result);
    CHECK((result = Py_BuildValue(" ,: \t")) == Py_None);
    Py_DECREF(result);
    CHECK(is_text(result = Py_BuildValue("()"), "()"));
    Py_DECREF(result);
    CHECK(is_text(result = Py_BuildValue("[ ]"), "[]"));
    Py_DECREF(result);
    CHECK(is_text(result = Py_BuildValue(" ( i ,) ", 1), "(1,)"));
    Py_DECREF(result);
    CHECK(is_text(result = Py_BuildValue("[i{}]{}", 1), "([1, {}], {})"));
    Py_DECREF(result);

    /* a failure: the first exception; and what is given is taken */
    count = Py_REFCNT(op);
    CHECK(Py_BuildValue("(ONC[N{OCNO&}]N)", op, Py_NewRef(op), 0x110000, Py_NewRef(op), op, -1, Py_NewRef(op), convert_back, NULL, Py_NewRef(op)) == NULL);
    CHECK(failed_with(PyExc_ValueError, "") && Py_REFCNT(op) == count);
    CHECK(Py_BuildValue("{[]:N,N:s}", Py_NewRef(op), Py_NewRef(op), "x") == NULL);
    CHECK(failed_with(PyExc_TypeError, "unhashable type: 'list'") && Py_REFCNT(op) == count);
    CHECK(Py_BuildValue("NO", Py_NewRef(op), NULL) == NULL);
    CHECK(failed_with(PyExc_SystemError, "NULL object passed to Py_BuildValue") && Py_REFCNT(op) == count);
    CHECK(Py_BuildValue("O&", convert_back, NULL) == NULL);
    CHECK(failed_with(PyExc_SystemError, "a converter of Py_BuildValue failed without an exception"));
    Py_DECREF(op);
    Py_RETURN_NONE;
}

/* ---- mistakes in formats ------------------------------------------------------------------- */

static PyObject *mistakes(PyObject *self, PyObject *none)
{
    static const char *const parsed[] = {
        "Oq", "(Oq)", "Oe", "Oe#", "OeO", "Ow", "Ow#", "Oi#", "OO#", "OS!", "OU&", "Ob*", "O(", "O(i", "O((i)", "O)", "O(i))", "O|i|i",
        "O$i", "O|$i", "O(i|i)", "O i", "O,i", "O[i]", "O{ii}", "OM", "On#", "OE", "O!#", "O\xff", "#O", "!O", "&", "*"
    };
    static const char *const built[] = {
        "Oq", "(Oq)", "OT", "Oes", "Ow", "Op", "OY", "O!", "Oi#", "OO#", "Os&", "Os*", "O(", "O(i", "O[i)", "O(i]", "O{i}", "O{iii}", "O{i:i",
        "O)", "O]", "O}", "O([{ii}]", "O|i", "O\xff", "OZ", "#O", "&O", "(uv#O)", "[N#]"
    };
    static char *names[] = { "a", "b", NULL }, *three[] = { "a", "b", "c", NULL }, *one[] = { "a", NULL }, *unnamed[] = { "a", "", NULL };
    PyObject *args = Py_BuildValue("(is)", 1, "x"), *single = Py_BuildValue("(i)", 1), *op, *other;
    void *poison = (void *)1;           /* whoever reads or writes there dies */
    size_t i;
    (void)self, (void)none;
    CHECK(args != NULL && single != NULL);
    for (i = 0; i < Py_ARRAY_LENGTH(parsed); i++) {
        CHECK(!PyArg_ParseTuple(args, parsed[i], poison, poison, poison, poison, poison, poison));
        CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTuple: the format \""));
        CHECK(!PyArg_ParseTuple(single, parsed[i], poison, poison, poison, poison, poison, poison));
        CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTuple: the format \""));
        CHECK(!PyArg_Parse(args, parsed[i], poison, poison, poison, poison, poison, poison));
        CHECK(failed_with(PyExc_SystemError, "PyArg_Parse: the format \""));
        if (strcmp(parsed[i], "O|$i") != 0) {
            CHECK(!PyArg_ParseTupleAndKeywords(args, NULL, parsed[i], names, poison, poison, poison, poison, poison, poison));
            CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTupleAndKeywords: the format \""));
        }
    }
    for (i = 0; i < Py_ARRAY_LENGTH(built); i++) {
        CHECK(Py_BuildValue(built[i], poison, poison, poison, poison, poison, poison) == NULL);
        CHECK(failed_with(PyExc_SystemError, "Py_BuildValue: the format \""));
        CHECK(PyObject_CallFunction((PyObject *)(void *)&PyList_Type, built[i], poison, poison, poison, poison, poison, poison) == NULL);
        CHECK(failed_with(PyExc_SystemError, "Py_BuildValue: the format \""));
    }
    CHECK(Py_BuildValue("(uq#O)", poison, poison, poison) == NULL);
    CHECK(failed_with(PyExc_SystemError, "Py_BuildValue: the format \"(uq#O)\" has no unit at \"q#O)\""));
    CHECK(Py_BuildValue("[i", poison) == NULL);
    CHECK(failed_with(PyExc_SystemError, "Py_BuildValue: the format \"[i\" ends where a bracket has to be closed"));

    /* names that do not fit; "O" alone would be right */
    CHECK(!PyArg_ParseTupleAndKeywords(args, NULL, "OO", one, poison, poison));
    CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTupleAndKeywords: the format \"OO\" has 2 units, but there are 1 keywords"));
    CHECK(!PyArg_ParseTupleAndKeywords(args, NULL, "OO", three, poison, poison));
    CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTupleAndKeywords: the format \"OO\" has 2 units, but there are 3 keywords"));
    CHECK(!PyArg_ParseTupleAndKeywords(args, NULL, "OO", unnamed, poison, poison));
    CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTupleAndKeywords: an empty keyword comes behind one that is not"));
    CHECK(!PyArg_ParseTuple(Py_None, "O", poison) && failed_with(PyExc_SystemError, "PyArg_ParseTuple: the arguments are no tuple"));
    CHECK(!PyArg_ParseTupleAndKeywords(args, Py_None, "OO", names, poison, poison));
    CHECK(failed_with(PyExc_SystemError, "PyArg_ParseTupleAndKeywords: the arguments are no tuple, or the keywords no dict"));
    CHECK(!PyArg_UnpackTuple(Py_None, "f", 0, 1, poison) && failed_with(PyExc_SystemError, "PyArg_UnpackTuple: the arguments are no tuple"));
    CHECK(!PyArg_UnpackTuple(args, NULL, 0, 1, poison) && failed_with(PyExc_TypeError, "unpacked tuple should have at most 1 element, but has 2"));
    CHECK(!PyArg_UnpackTuple(args, "f", 3, 3, poison) && failed_with(PyExc_TypeError, "f expected 3 arguments, got 2"));
    CHECK(!PyArg_ValidateKeywordArguments(Py_None) && failed_with(PyExc_SystemError, ""));
    CHECK(!PyArg_Parse(args, "OO", poison, poison) && failed_with(PyExc_SystemError, "PyArg_Parse: the format \"OO\" has to be one unit"));
    CHECK(!PyArg_Parse(args, "", poison) && failed_with(PyExc_SystemError, "PyArg_Parse: the format \"\" has to be one unit"));

    /* messages of a format, and counts */
    CHECK(!PyArg_ParseTuple(args, "OOO:f", poison, poison, poison) && failed_with(PyExc_TypeError, "f() takes exactly 3 arguments (2 given)"));
    CHECK(!PyArg_ParseTuple(args, "|O", poison) && failed_with(PyExc_TypeError, "function takes at most 1 argument (2 given)"));
    CHECK(!PyArg_ParseTuple(args, "OOO|O:f", poison) && failed_with(PyExc_TypeError, "f() takes at least 3 arguments (2 given)"));
    CHECK(!PyArg_ParseTuple(args, "O;one of them", poison) && failed_with(PyExc_TypeError, "one of them"));
    CHECK(!PyArg_ParseTuple(args, "Oi;a number", &op, poison) && failed_with(PyExc_TypeError, "'str' object cannot be interpreted"));
    CHECK(!PyArg_ParseTuple(args, "OS;bytes are wanted", &op, poison) && failed_with(PyExc_TypeError, "bytes are wanted"));
    CHECK(!PyArg_ParseTupleAndKeywords(args, NULL, "O|$O:f", names, poison, poison));
    CHECK(failed_with(PyExc_TypeError, "f() takes at most 1 positional argument (2 given)"));
    CHECK(!PyArg_ParseTupleAndKeywords(single, NULL, "OO:f", names, &op, poison));
    CHECK(failed_with(PyExc_TypeError, "f() missing required argument 'b' (pos 2)"));
    op = other = NULL;
    CHECK(PyArg_ParseTuple(args, "O|O:a name with | and ( and q", &op, &other) && is_text(op, "1") && is_text(other, "'x'"));
    Py_DECREF(args);
    Py_DECREF(single);
    Py_RETURN_NONE;
}

/* ---- with a va_list; converters that run any code; what the language gives ------------------- */

static int parse_va(PyObject *args, PyObject *kwargs, char **names, const char *format, ...)
{
    va_list list;
    int ok;
    va_start(list, format);
    ok = names != NULL ? PyArg_VaParseTupleAndKeywords(args, kwargs, format, names, list) : PyArg_VaParse(args, format, list);
    va_end(list);
    return ok;
}

static PyObject *others(PyObject *self, PyObject *none)
{
    static char *names[] = { "a", "b", NULL };
    PyObject *args = Py_BuildValue("(is)", 1, "x"), *op = NULL;
    int i = 0;
    (void)self, (void)none;
    CHECK(args != NULL);
    CHECK(parse_va(args, NULL, NULL, "iO", &i, &op) && i == 1 && is_text(op, "'x'"));
    i = 0;
    CHECK(parse_va(args, NULL, names, "i|O", &i, &op) && i == 1);
    CHECK(!parse_va(args, NULL, NULL, "iq", &i, &op) && failed_with(PyExc_SystemError, "PyArg_VaParse: the format"));
    CHECK(!parse_va(args, NULL, names, "iq", &i, &op) && failed_with(PyExc_SystemError, "PyArg_VaParseTupleAndKeywords: the format"));
    Py_DECREF(args);
    Py_RETURN_NONE;
}

/* group(x): the sum of the two numbers that any sequence has. */
static PyObject *group(PyObject *self, PyObject *args)
{
    int a, b;
    (void)self;
    return PyArg_ParseTuple(args, "(ii):group", &a, &b) ? PyLong_FromLong(a + b) : NULL;
}

static PyMethodDef methods[] = {
    { "parse-texts", parse_texts, METH_NOARGS, NULL }, { "parse-numbers", parse_numbers, METH_NOARGS, NULL },
    { "parse-objects", parse_objects, METH_NOARGS, NULL }, { "many", many, METH_NOARGS, NULL }, { "build", build, METH_NOARGS, NULL },
    { "mistakes", mistakes, METH_NOARGS, NULL }, { "others", others, METH_NOARGS, NULL }, { "group", group, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL }
};
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "formats", .m_size = -1, .m_methods = methods };

PyMODINIT_FUNC PyInit_formats(void)
{
    return PyModule_Create(&definition);
}
