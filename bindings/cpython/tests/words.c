/* words.c - the methods of str, and the functions of the module builtins. As the extension of our own that says the same
 * in CPython: words.utf8. */
#include "say.h"

/* Calls the method with no argument, and with these. */
static void call(const char *what, PyObject *op, const char *method, PyObject *args)
{
    PyObject *f = PyObject_GetAttrString(op, method);
    show(what, f != NULL && args != NULL ? PyObject_Call(f, args, NULL) : NULL);
    Py_XDECREF(f);
    Py_XDECREF(args);
}

static void methods_of_str(void)
{
    static const char *const texts[] = {
        "", "a", "hello world", "  two  spaces ", "a,b,,c,", "MiXed 12", "\xc3\xa4\xc3\x96\xe2\x82\xac x", "-42", "+7", "x\ny\r\nz\n", "\t tab\x0b", "aXbXc", "_name1",
        "prefix.middle.suffix", "aaaa", "UPPER", "lower", "12", "   ", "it's they're"
    };
    static const char *const plain[] = {
        "split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "title", "swapcase", "isalpha",
        "isdigit", "isalnum", "isspace", "isupper", "islower", "isascii", "isidentifier", "isdecimal"
    };
    static const char *const with_text[] = {
        "split", "rsplit", "partition", "rpartition", "strip", "lstrip", "rstrip", "find", "rfind", "index", "rindex", "count",
        "startswith", "endswith", "removeprefix", "removesuffix"
    };
    static const char *const parts[] = { "a", "X", ",", "aa", " ", "", "fix", "\xe2\x82\xac", "hello world!!" };
    size_t i, k, n;
    say("methods of str");
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        PyObject *op = PyUnicode_FromString(texts[i]);
        show("text", Py_NewRef(op));
        for (k = 0; k < sizeof plain / sizeof *plain; k++)
            call(plain[k], op, plain[k], PyTuple_New(0));
        for (k = 0; k < sizeof with_text / sizeof *with_text; k++)
            for (n = 0; n < sizeof parts / sizeof *parts; n++)
                call(with_text[k], op, with_text[k], Py_BuildValue("(s)", parts[n]));
        for (n = 0; n < 4; n++) {
            call("split", op, "split", Py_BuildValue("(On)", Py_None, n));
            call("rsplit", op, "rsplit", Py_BuildValue("(On)", Py_None, n));
            call("split", op, "split", Py_BuildValue("(sn)", "X", n));
            call("rsplit", op, "rsplit", Py_BuildValue("(sn)", ",", n));
            call("find", op, "find", Py_BuildValue("(sn)", "a", n));
            call("rfind", op, "rfind", Py_BuildValue("(snn)", "a", n, -1));
            call("count", op, "count", Py_BuildValue("(snn)", "", n, n + 1));
            call("count", op, "count", Py_BuildValue("(snn)", "a", n, -1));
            call("startswith", op, "startswith", Py_BuildValue("(snn)", "a", n, 5));
            call("endswith", op, "endswith", Py_BuildValue("((ss)n)", "e", "c,", n));
            call("startswith", op, "startswith", Py_BuildValue("(sn)", "", 30 * n));
        }
        for (n = 0; n < 15; n += 3) {
            call("ljust", op, "ljust", Py_BuildValue("(n)", n));
            call("rjust", op, "rjust", Py_BuildValue("(ns)", n, "*"));
            call("center", op, "center", Py_BuildValue("(n)", n));
            call("center", op, "center", Py_BuildValue("(ns)", n + 1, "\xe2\x82\xac"));
            call("zfill", op, "zfill", Py_BuildValue("(n)", n));
        }
        call("lines", op, "splitlines", Py_BuildValue("(O)", Py_True));
        for (n = 0; n < 3; n++) {
            call("replace", op, "replace", Py_BuildValue("(ss)", n == 0 ? "" : n == 1 ? "a" : "two", "\xe2\x82\xac"));
            call("replace", op, "replace", Py_BuildValue("(ssn)", n == 0 ? "" : n == 1 ? "a" : "aa", "-", n));
        }
        Py_DECREF(op);
    }
    {
        PyObject *op = PyUnicode_FromString("a b"), *sep = PyUnicode_FromString(" ");
        call("no text", op, "split", Py_BuildValue("(i)", 1));
        call("no text", op, "strip", Py_BuildValue("(i)", 1));
        call("no text", op, "startswith", Py_BuildValue("(i)", 1));
        call("no text", op, "startswith", Py_BuildValue("((i))", 1));
        call("too many", op, "strip", Py_BuildValue("(ii)", 1, 2));
        call("missing", op, "zfill", Py_BuildValue("(s)", "x"));
        show("C: split", PyUnicode_Split(op, NULL, -1));
        show("C: rsplit", PyUnicode_RSplit(op, sep, 1));
        show("C: lines", PyUnicode_Splitlines(op, 0));
        show("C: partition", PyUnicode_Partition(op, sep));
        show("C: rpartition", PyUnicode_RPartition(op, sep));
        say("C: count: %zd", PyUnicode_Count(op, sep, 0, 3));
        Py_DECREF(op);
        Py_DECREF(sep);
    }
}

/* ---- functions --------------------------------------------------------------------------- */

static PyObject *builtins;

static PyObject *kw(const char *a, PyObject *x, const char *b, PyObject *y)
{
    PyObject *dict = PyDict_New();
    PyDict_SetItemString(dict, a, x);
    if (b != NULL)
        PyDict_SetItemString(dict, b, y);
    return dict;
}

/* Takes args and kwargs over. What can be walked is shown as a list. */
static void f(const char *name, PyObject *args, PyObject *kwargs)
{
    PyObject *function = PyObject_GetAttrString(builtins, name), *result = function != NULL && args != NULL ? PyObject_Call(function, args, kwargs) : NULL;
    if (result != NULL && PyIter_Check(result))
        Py_SETREF(result, PySequence_List(result));
    show(name, result);
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
}

static PyObject *negate(PyObject *self, PyObject *x) { (void)self; return PyNumber_Negative(x); }
static PyObject *pair(PyObject *self, PyObject *args) { (void)self; return Py_NewRef(args); }
static PyMethodDef negate_def = { "negate", negate, METH_O, NULL }, pair_def = { "pair", pair, METH_VARARGS, NULL };

static void functions(void)
{
    PyObject *minus = PyCFunction_New(&negate_def, NULL), *both = PyCFunction_New(&pair_def, NULL), *numbers = Py_BuildValue("[iiii]", 3, 1, 2, 1);
    PyObject *empty = PyList_New(0), *mixed = Py_BuildValue("[isO]", 0, "x", Py_None), *one = PyLong_FromLong(1);
    say("functions");
    builtins = PyImport_ImportModule("builtins");
    f("abs", Py_BuildValue("(i)", -5), NULL);
    f("ascii", Py_BuildValue("(s)", "\xc3\xa4"), NULL);
    f("bin", Py_BuildValue("(i)", 5), NULL);
    f("oct", Py_BuildValue("(i)", 8), NULL);
    f("hex", Py_BuildValue("(i)", -255), NULL);
    f("hex", Py_BuildValue("(s)", "x"), NULL);
    f("callable", Py_BuildValue("(O)", minus), NULL);
    f("callable", Py_BuildValue("(i)", 1), NULL);
    f("chr", Py_BuildValue("(i)", 0x20ac), NULL);
    f("chr", Py_BuildValue("(i)", -1), NULL);
    f("chr", Py_BuildValue("(i)", 0x110000), NULL);
    f("ord", Py_BuildValue("(s)", "\xe2\x82\xac"), NULL);
    f("ord", Py_BuildValue("(s)", "ab"), NULL);
    f("ord", Py_BuildValue("(y)", "a"), NULL);
    f("ord", Py_BuildValue("(i)", 1), NULL);
    f("len", Py_BuildValue("(O)", numbers), NULL);
    f("len", Py_BuildValue("(i)", 1), NULL);
    f("all", Py_BuildValue("(O)", numbers), NULL);
    f("all", Py_BuildValue("(O)", mixed), NULL);
    f("all", Py_BuildValue("(O)", empty), NULL);
    f("any", Py_BuildValue("(O)", mixed), NULL);
    f("any", Py_BuildValue("(O)", empty), NULL);
    f("any", Py_BuildValue("(i)", 1), NULL);
    f("getattr", Py_BuildValue("(Os)", one, "nothing"), NULL);
    f("getattr", Py_BuildValue("(OsO)", one, "nothing", empty), NULL);
    f("getattr", Py_BuildValue("(O)", one), NULL);
    f("hasattr", Py_BuildValue("(Os)", one, "nothing"), NULL);
    f("hasattr", Py_BuildValue("(Os)", one, "bit_length"), NULL);
    f("isinstance", Py_BuildValue("(OO)", one, &PyLong_Type), NULL);
    f("issubclass", Py_BuildValue("(OO)", &PyBool_Type, &PyLong_Type), NULL);
    f("divmod", Py_BuildValue("(ii)", 7, -2), NULL);
    f("pow", Py_BuildValue("(ii)", 7, 2), NULL);
    f("pow", Py_BuildValue("(iii)", 7, 2, 5), NULL);
    f("format", Py_BuildValue("(is)", 7, "03"), NULL);
    f("format", Py_BuildValue("(i)", 7), NULL);
    f("iter", Py_BuildValue("(O)", numbers), NULL);
    f("iter", Py_BuildValue("(ii)", 1, 2), NULL);
    f("next", Py_BuildValue("(i)", 1), NULL);
    f("next", Py_BuildValue("(NO)", PyObject_GetIter(empty), Py_None), NULL);
    f("next", Py_BuildValue("(N)", PyObject_GetIter(empty)), NULL);
    f("next", Py_BuildValue("(N)", PyObject_GetIter(numbers)), NULL);
    f("sum", Py_BuildValue("(O)", numbers), NULL);
    f("sum", Py_BuildValue("([[i][i]][])", 1, 2), NULL);
    f("sum", Py_BuildValue("([]s)", "x"), NULL);
    f("sum", Py_BuildValue("(O)", mixed), NULL);
    f("min", Py_BuildValue("(O)", numbers), NULL);
    f("max", Py_BuildValue("(iii)", 1, 5, 3), NULL);
    f("max", Py_BuildValue("(O)", numbers), kw("key", minus, NULL, NULL));
    f("min", Py_BuildValue("(O)", empty), NULL);
    f("min", Py_BuildValue("(O)", empty), kw("default", one, NULL, NULL));
    f("min", Py_BuildValue("(ii)", 1, 2), kw("default", one, NULL, NULL));
    f("max", Py_BuildValue("(O)", mixed), NULL);
    f("max", Py_BuildValue("()"), NULL);
    f("sorted", Py_BuildValue("(O)", numbers), NULL);
    f("sorted", Py_BuildValue("(O)", numbers), kw("key", minus, NULL, NULL));
    f("sorted", Py_BuildValue("(O)", numbers), kw("key", minus, "reverse", Py_True));
    f("sorted", Py_BuildValue("(OO)", mixed, one), NULL);
    show("as it was", Py_NewRef(numbers));
    f("map", Py_BuildValue("(OO)", minus, numbers), NULL);
    f("map", Py_BuildValue("(OOs)", both, numbers, "ab"), NULL);
    f("map", Py_BuildValue("(O)", minus), NULL);
    f("map", Py_BuildValue("(Oi)", minus, 5), NULL);
    f("map", Py_BuildValue("(OO)", minus, mixed), NULL);
    f("filter", Py_BuildValue("(OO)", Py_None, mixed), NULL);
    f("filter", Py_BuildValue("(OO)", minus, numbers), NULL);
    f("filter", Py_BuildValue("(OO)", minus, mixed), NULL);
    f("zip", Py_BuildValue("(Os)", numbers, "abc"), NULL);
    f("zip", Py_BuildValue("()"), NULL);
    f("zip", Py_BuildValue("(Os)", numbers, "abc"), kw("strict", Py_True, NULL, NULL));
    f("zip", Py_BuildValue("(sO)", "abc", numbers), kw("strict", Py_True, NULL, NULL));
    f("zip", Py_BuildValue("(sO)", "abcd", numbers), kw("strict", Py_True, NULL, NULL));
    f("zip", Py_BuildValue("(ssO)", "abcd", "abcd", empty), kw("strict", Py_True, NULL, NULL));
    f("enumerate", Py_BuildValue("(s)", "ab"), NULL);
    f("enumerate", Py_BuildValue("(s)", "ab"), kw("start", one, NULL, NULL));
    f("enumerate", Py_BuildValue("(i)", 1), NULL);
    f("range", Py_BuildValue("(i)", 3), NULL);
    f("range", Py_BuildValue("(ii)", 1, 3), NULL);
    f("range", Py_BuildValue("(iii)", 0, 10, 3), NULL);
    f("range", Py_BuildValue("(iii)", 5, -5, -4), NULL);
    f("range", Py_BuildValue("(iii)", 5, 0, 0), NULL);
    f("list", Py_BuildValue("(N)", PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", 5, -5, -4)), NULL);
    f("list", Py_BuildValue("(N)", PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", 0, 10, 3)), NULL);
    f("len", Py_BuildValue("(N)", PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", 0, 10, 3)), NULL);
    f("range", Py_BuildValue("(s)", "x"), NULL);
    f("float", Py_BuildValue("(s)", "2.50"), NULL);
    f("repr", Py_BuildValue("(s)", "x"), NULL);
    Py_DECREF(builtins);
    Py_DECREF(minus);
    Py_DECREF(both);
    Py_DECREF(numbers);
    Py_DECREF(empty);
    Py_DECREF(mixed);
    Py_DECREF(one);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { methods_of_str, functions, NULL };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "words", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_words(void)
{
    return PyModule_Create(&def);
}
