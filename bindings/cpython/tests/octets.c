/* octets.c - the methods of bytes and bytearray, and what changes a bytearray. As an extension of our own that says the same
 * in CPython: octets.utf8. */
#include "say.h"

/* Calls the method with these arguments; then shows what op is now, if it is a bytearray. */
static void call(PyObject *op, const char *method, PyObject *args)
{
    PyObject *f = PyObject_GetAttrString(op, method);
    show(method, f != NULL && args != NULL ? PyObject_Call(f, args, NULL) : NULL);
    Py_XDECREF(f);
    Py_XDECREF(args);
}

static PyObject *new_one(int is_array, const char *bytes, Py_ssize_t n)
{
    return is_array ? PyByteArray_FromStringAndSize(bytes, n) : PyBytes_FromStringAndSize(bytes, n);
}

static void methods_of_both(void)
{
#define BYTES(text) { text, sizeof text - 1 }
    static const struct { const char *bytes; Py_ssize_t n; } all[] = {
        BYTES(""), BYTES("a"), BYTES("Hello wOrld"), BYTES("  two \t\n\r\v\f spaces "), BYTES("a,b,,c,"), BYTES("-42"), BYTES("x\ny\r\nz\rw\vv\fu\x1ct\x85s"),
        BYTES("\xc3\xa4\xe9\xa0 \xff"), BYTES("\x1c\x1f\xa0\x85"), BYTES("a\0b\0\0"), BYTES("UPPER"), BYTES("12"), BYTES("prefix.suffix"), BYTES(" \t ")
    };
    static const char *const plain[] = {
        "split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "title", "swapcase", "isalpha",
        "isdigit", "isalnum", "isspace", "isupper", "islower", "isascii", "hex"
    };
    static const char *const with_bytes[] = {
        "split", "rsplit", "partition", "rpartition", "strip", "lstrip", "rstrip", "find", "rfind", "index", "rindex", "count",
        "startswith", "endswith", "removeprefix", "removesuffix", "__contains__"
    };
    static const char *const parts[] = { "a", ",", "\xa0", " ", "", "fix", "UPPER", "\v" };
    size_t i, k, n;
    int is_array;
    for (is_array = 0; is_array < 2; is_array++)
        for (i = 0; i < sizeof all / sizeof *all; i++) {
            PyObject *op = new_one(is_array, all[i].bytes, all[i].n), *list;
            show("bytes", Py_NewRef(op));
            for (k = 0; k < sizeof plain / sizeof *plain; k++)
                call(op, plain[k], PyTuple_New(0));
            for (k = 0; k < sizeof with_bytes / sizeof *with_bytes; k++)
                for (n = 0; n < sizeof parts / sizeof *parts; n++)
                    /* (The partition of bytes has the separator itself.) */
                    call(op, with_bytes[k], Py_BuildValue(n % 2 || k == 2 || k == 3 ? "(y)" : "(N)", n % 2 || k == 2 || k == 3 ? (void *)parts[n] : PyByteArray_FromStringAndSize(parts[n], (Py_ssize_t)strlen(parts[n]))));
            for (k = 7; k < 12; k++) {
                call(op, with_bytes[k], Py_BuildValue("(i)", 'a'));
                call(op, with_bytes[k], Py_BuildValue("(i)", 0));
                call(op, with_bytes[k], Py_BuildValue("(iii)", 0xa0, 1, 5));
                call(op, with_bytes[k], Py_BuildValue("(i)", 256));
            }
            call(op, "__contains__", Py_BuildValue("(i)", 0));
            call(op, "__contains__", Py_BuildValue("(i)", -1));
            for (n = 0; n < 3; n++) {
                call(op, "split", Py_BuildValue("(On)", Py_None, n));
                call(op, "rsplit", Py_BuildValue("(yn)", ",", n));
                call(op, "replace", Py_BuildValue("(yyn)", "a", "\xff\xfe", n));
                call(op, "endswith", Py_BuildValue("((yy)n)", "e", "c,", n));
                call(op, "ljust", Py_BuildValue("(n)", 4 * n));
                call(op, "rjust", Py_BuildValue("(ny)", 4 * n, "*"));
                call(op, "center", Py_BuildValue("(ny)", 5 * n, "\xfe"));
                call(op, "zfill", Py_BuildValue("(n)", 5 * n));
            }
            call(op, "replace", Py_BuildValue("(yy)", "", "-"));
            call(op, "splitlines", Py_BuildValue("(O)", Py_True));
            list = Py_BuildValue("[yNy]", "x", PyByteArray_FromStringAndSize("yz", 2), "\xff");
            call(op, "join", PyTuple_Pack(1, list));
            Py_DECREF(list);
            call(op, "decode", Py_BuildValue("(s)", "latin-1"));
            Py_DECREF(op);
        }
}

static void types_(void)
{
    static const char *const hex[] = { "", "00ff", "0 1", " 01 aB\n", "0", "0g", "g0", "\xc3\xa4" };
    PyObject *types[] = { (PyObject *)&PyBytes_Type, (PyObject *)&PyByteArray_Type }, *of_int = (PyObject *)&PyLong_Type, *options, *op, *args;
    size_t i, k;
    for (k = 0; k < 2; k++)
        for (i = 0; i < sizeof hex / sizeof *hex; i++)
            show(hex[i], PyObject_CallMethod(types[k], "fromhex", "s", hex[i]));
    show("no text", PyObject_CallMethod(types[0], "fromhex", "i", 5));
    op = PyBytes_FromString("abc");
    show("join", PyObject_CallMethod(op, "join", "([i])", 5));
    show("str", PyObject_CallMethod(op, "split", "s", "b"));
    Py_DECREF(op);
    show("big", PyObject_CallMethod(of_int, "from_bytes", "ys", "\x80\x01\x02", "big"));
    show("little", PyObject_CallMethod(of_int, "from_bytes", "ys", "\x80\x01\x02", "little"));
    show("none", PyObject_CallMethod(of_int, "from_bytes", "ys", "", "little"));
    show("order", PyObject_CallMethod(of_int, "from_bytes", "ys", "a", "x"));
    show("of ints", PyObject_CallMethod(of_int, "from_bytes", "[ii]s", 1, 255, "big"));
    show("text", PyObject_CallMethod(of_int, "from_bytes", "ss", "a", "big"));
    show("long", PyObject_CallMethod(of_int, "from_bytes", "ys", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "big"));
    options = Py_BuildValue("{sO}", "signed", Py_True);
    op = PyObject_GetAttrString(of_int, "from_bytes");
    args = Py_BuildValue("(ys)", "\x80\x01\x02", "big");
    show("signed", PyObject_Call(op, args, options));
    Py_DECREF(args);
    Py_DECREF(op);
    show("bool", PyObject_CallMethod((PyObject *)&PyBool_Type, "from_bytes", "ys", "\x02", "big"));
    Py_DECREF(options);
}

static PyObject *array(void) { return PyByteArray_FromStringAndSize("abcdefgh", 8); }

static void item(const char *what, PyObject *key, PyObject *value)
{
    PyObject *op = array();
    show_code(what, value != NULL ? PyObject_SetItem(op, key, value) : PyObject_DelItem(op, key));
    show("now", op);
    op = array();
    show("item", PyObject_GetItem(op, key));
    Py_DECREF(op);
}

static PyObject *slice(int start, int stop, int step)
{
    PyObject *a = PyLong_FromLong(start), *b = PyLong_FromLong(stop), *c = PyLong_FromLong(step), *s = PySlice_New(a, b, c);
    Py_DECREF(a);
    Py_DECREF(b);
    Py_DECREF(c);
    return s;
}

static void changes(void)
{
    static const struct { int start, stop, step; } slices[] = { { 2, 5, 1 }, { 0, 8, 3 }, { 7, -9, -2 }, { 8, 9, 1 }, { 5, 2, 1 }, { 0, 8, 1 }, { -3, 100, 2 } };
    PyObject *values[] = { PyBytes_FromString(""), PyBytes_FromString("XY"), PyBytes_FromString("XYZ"), PyByteArray_FromStringAndSize("vwxyz0123", 9), Py_BuildValue("[iii]", 1, 2, 255), Py_BuildValue("[i]", 256), PyUnicode_FromString("text"), PyLong_FromLong(3), NULL };
    PyObject *op, *view, *n;
    size_t i, k;
    int index;
    for (i = 0; i < sizeof slices / sizeof *slices; i++)
        for (k = 0; k < sizeof values / sizeof *values; k++) {
            PyObject *key;
            if (k == 7)
                continue;               /* (an int as the value of a slice: the message is CPython's own) */
            key = slice(slices[i].start, slices[i].stop, slices[i].step);
            item("slice", key, values[k]);
            Py_DECREF(key);
        }
    for (index = -9; index <= 8; index += 4) {
        n = PyLong_FromLong(index);
        item("index", n, values[7]);
        item("index", n, values[6]);
        item("index", n, NULL);
        Py_DECREF(n);
    }
    item("key", values[6], values[7]);
    op = array();
    call(op, "append", Py_BuildValue("(i)", 255));
    call(op, "append", Py_BuildValue("(i)", 256));
    call(op, "append", Py_BuildValue("(s)", "x"));
    call(op, "extend", Py_BuildValue("(O)", values[3]));
    call(op, "extend", Py_BuildValue("(O)", values[4]));
    call(op, "extend", Py_BuildValue("(O)", op));
    call(op, "insert", Py_BuildValue("(ii)", 0, 1));
    call(op, "insert", Py_BuildValue("(ii)", -1, 2));
    call(op, "insert", Py_BuildValue("(ii)", 1000, 3));
    call(op, "insert", Py_BuildValue("(ii)", -1000, 4));
    show("now", Py_NewRef(op));
    call(op, "pop", Py_BuildValue("()"));
    call(op, "pop", Py_BuildValue("(i)", 2));
    call(op, "pop", Py_BuildValue("(i)", -2));
    call(op, "pop", Py_BuildValue("(i)", 1000));
    call(op, "remove", Py_BuildValue("(i)", 'a'));
    call(op, "remove", Py_BuildValue("(i)", 'Q'));
    call(op, "reverse", Py_BuildValue("()"));
    call(op, "copy", Py_BuildValue("()"));
    show("now", Py_NewRef(op));
    show("+", PyNumber_Add(op, values[1]));
    show("+", PyNumber_Add(values[1], op));
    show("*", PySequence_Repeat(op, 2));
    show("*", PySequence_Repeat(op, -1));
    show("+=", PySequence_InPlaceConcat(op, values[1]));
    show_code("in", PySequence_Contains(op, values[1]));
    show_code("in", PySequence_Contains(op, values[2]));
    view = PyMemoryView_FromObject(op);
    call(op, "append", Py_BuildValue("(i)", 1));
    call(op, "pop", Py_BuildValue("()"));
    call(op, "clear", Py_BuildValue("()"));
    show_code("same size", PySequence_SetItem(op, 0, values[7]));
    Py_DECREF(view);
    call(op, "clear", Py_BuildValue("()"));
    call(op, "pop", Py_BuildValue("()"));
    show("now", op);
    for (k = 0; k < sizeof values / sizeof *values; k++)
        Py_XDECREF(values[k]);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { methods_of_both, types_, changes, NULL };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "octets", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_octets(void)
{
    return PyModule_Create(&def);
}
