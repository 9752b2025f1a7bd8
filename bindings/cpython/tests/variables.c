/* variables.c - context variables, weak proxies and what is left in bytes. As the extension of our own that says the same in
 * CPython: variables.txt. */
#define PY_SSIZE_T_CLEAN
#include "say.h"
#include <pythread.h>
#include <signal.h>

static void show_var(const char *what, PyObject *var, PyObject *otherwise)
{
    PyObject *value = NULL;
    int code = PyContextVar_Get(var, otherwise, &value);
    say("%d", code);
    if (code < 0)
        show(what, NULL);
    else if (value == NULL)
        say("%s: no value", what);
    else
        show(what, value);
}

/* The name and the message, but for addresses. */
static void show_error(const char *what, int code)
{
    PyObject *type, *value, *traceback;
    say("%s: %d", what, code);
    if (code >= 0)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    say("%s", ((PyTypeObject *)type)->tp_name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static void contexts(void)
{
    PyObject *a = PyContextVar_New("a", NULL), *b = PyContextVar_New("b", Py_True), *token, *other, *mine = PyContext_New(), *copy;
    PyObject *type = (PyObject *)Py_TYPE(a);
    say("contexts");
    say("%d %d %d", PyContextVar_CheckExact(a), PyContext_CheckExact(mine), PyContext_CheckExact(a));
    show("name", PyObject_GetAttrString(a, "name"));
    show_var("a", a, NULL);
    show_var("a", a, Py_None);
    show_var("b", b, NULL);
    show_var("b", b, Py_False);
    show_error("get", PyObject_CallMethod(a, "get", NULL) == NULL ? -1 : 0);
    show("get", PyObject_CallMethod(b, "get", NULL));
    show("get", PyObject_CallMethod(a, "get", "i", 5));
    token = PyContextVar_Set(a, Py_Ellipsis);
    say("%d", PyContextToken_CheckExact(token));
    show_var("a", a, Py_None);
    other = PyObject_CallMethod(a, "set", "s", "again");
    show("before", PyObject_GetAttrString(other, "old_value"));
    copy = PyContext_CopyCurrent();
    show("size", PyLong_FromSsize_t(PyObject_Size(copy)));
    show("item", PyObject_GetItem(copy, a));
    show_error("item", PyObject_GetItem(copy, b) == NULL ? -1 : 0);
    say("%d %d", PySequence_Contains(copy, a), PySequence_Contains(copy, b));
    show_error("wrong key", PySequence_Contains(copy, Py_None));
    show("get", PyObject_CallMethod(copy, "get", "O", b));
    show("get", PyObject_CallMethod(copy, "get", "Oi", b, 7));
    show_error("enter", PyContext_Enter(mine));
    show_error("enter", PyContext_Enter(mine));
    show_var("a", a, NULL);
    show_error("reset", PyContextVar_Reset(a, other));
    Py_DECREF(PyContextVar_Set(b, Py_None));
    show_error("enter", PyContext_Enter(copy));
    show_var("a", a, NULL);
    show_var("b", b, NULL);
    show_error("exit", PyContext_Exit(mine));
    show_error("exit", PyContext_Exit(copy));
    show_error("exit", PyContext_Exit(copy));
    show_var("b", b, NULL);
    show_error("exit", PyContext_Exit(mine));
    show_var("b", b, NULL);
    show_error("reset", PyContextVar_Reset(b, other));
    show_error("reset", PyContextVar_Reset(a, other));
    show_var("a", a, NULL);
    show_error("reset", PyContextVar_Reset(a, other));
    show_error("reset", PyContextVar_Reset(a, token));
    show_var("a", a, NULL);
    show_error("reset", PyContextVar_Reset(a, Py_None));
    show_error("reset", PyContextVar_Reset(Py_None, token));
    show_error("no context", PyContext_Enter(Py_None));
    show_error("no context", PyContext_Exit(Py_None));
    show_error("no context", PyContext_Copy(Py_None) == NULL ? -1 : 0);
    show("run", PyObject_CallMethod(copy, "run", "(NOO)", PyObject_GetAttrString(a, "get"), Py_None, Py_None));
    PyErr_Clear();
    show("run", PyObject_CallMethod(copy, "run", "(N)", PyObject_GetAttrString(a, "get")));
    Py_SETREF(other, PyObject_CallFunction(type, "s", "c"));
    show("made", PyObject_CallMethod(other, "get", "i", 3));
    show("unnamed", PyObject_CallFunction(type, "i", 1));
    /* Cycles through a value, a default and a token. */
    {
        PyObject *list = PyList_New(0), *var = PyContextVar_New("cycle", list);
        PyList_Append(list, var);
        PyList_Append(list, copy);
        PyContext_Enter(copy);
        Py_SETREF(token, PyContextVar_Set(var, list));
        PyList_Append(list, token);
        PyContext_Exit(copy);
        Py_DECREF(list);
        Py_DECREF(var);
    }
    Py_DECREF(copy);
    Py_DECREF(mine);
    Py_DECREF(token);
    Py_DECREF(other);
    Py_DECREF(a);
    Py_DECREF(b);
    PyGC_Collect();
}

/* ---- weak proxies */

static int called;
static PyObject *gone(PyObject *self, PyObject *ref)
{
    (void)self;
    called += ref != NULL;
    Py_RETURN_NONE;
}
static PyMethodDef gone_def = { "gone", gone, METH_O, NULL };

static void look_at(PyObject *proxy)
{
    static PyObject *(*const binary[])(PyObject *, PyObject *) = {
        PyNumber_Add, PyNumber_Subtract, PyNumber_Multiply, PyNumber_And, PyNumber_Or, PyNumber_Xor, PyNumber_InPlaceOr, PyNumber_InPlaceSubtract,
        PyNumber_InPlaceAnd, PyNumber_InPlaceXor, PyNumber_FloorDivide, PyNumber_TrueDivide, PyNumber_Remainder, PyNumber_Divmod,
        PyNumber_Lshift, PyNumber_Rshift, PyNumber_MatrixMultiply, PyNumber_InPlaceAdd, PyNumber_InPlaceMultiply
    };
    static PyObject *(*const unary[])(PyObject *) = {
        PyNumber_Negative, PyNumber_Positive, PyNumber_Absolute, PyNumber_Invert, PyNumber_Float, PySequence_List, PyObject_Str
    };
    PyObject *other = PySet_New(NULL), *one = PyLong_FromLong(1), *name = PyUnicode_FromString("extra");
    size_t i;
    PySet_Add(other, one);
    say("%d %d %d", PyWeakref_Check(proxy), PyWeakref_CheckProxy(proxy), PyWeakref_CheckRef(proxy));
    for (i = 0; i < sizeof binary / sizeof *binary; i++) {
        show("binary", binary[i](proxy, other));
        show("binary", binary[i](other, proxy));
    }
    for (i = 0; i < sizeof unary / sizeof *unary; i++)
        show("unary", unary[i](proxy));
    show("power", PyNumber_Power(proxy, one, Py_None));
    show_code("set", PyObject_SetAttr(proxy, name, one));
    show("get", PyObject_GetAttr(proxy, name));
    show_code("delete", PyObject_DelAttr(proxy, name));
    show("none", PyObject_GetAttr(proxy, name));
    say("%zd", PyObject_Size(proxy));
    if (PyErr_Occurred())
        show("size", NULL);
    show_code("true", PyObject_IsTrue(proxy));
    show_code("contains", PySequence_Contains(proxy, one));
    show("equal", PyObject_RichCompare(proxy, other, Py_EQ));
    show("less", PyObject_RichCompare(other, proxy, Py_LE));
    show("item", PyObject_GetItem(proxy, one));
    show_code("set item", PyObject_SetItem(proxy, one, one));
    show_error("delete item", PyObject_DelItem(proxy, one));
    show_code("hash", (int)PyObject_Hash(proxy));
    Py_DECREF(other);
    Py_DECREF(one);
    Py_DECREF(name);
}

static void weak_proxies(void)
{
    PyObject *type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Numbers", &PySet_Type);
    PyObject *callback = PyCFunction_New(&gone_def, NULL), *op, *proxy, *again, *with;
    say("weak proxies");
    op = PyObject_CallFunction(type, "((iii))", 1, 2, 3);
    proxy = PyWeakref_NewProxy(op, NULL);
    again = PyWeakref_NewProxy(op, Py_None);
    with = PyWeakref_NewProxy(op, callback);
    say("%d %d", proxy == again, proxy == with);
    Py_DECREF(again);
    again = PyWeakref_NewRef(op, NULL);
    say("%d", proxy == again);
    Py_DECREF(again);
    say("%d", PyWeakref_GetObject(proxy) == op);
    say("%s", Py_TYPE(proxy)->tp_name);
    look_at(proxy);
    show("not called", PyObject_CallNoArgs(proxy));
    Py_DECREF(op);
    PyGC_Collect();
    say("%d %d", called, PyWeakref_GetObject(proxy) == Py_None);
    look_at(proxy);
    show("bytes", PyObject_CallMethod(proxy, "__bytes__", NULL));
    Py_DECREF(proxy);
    Py_DECREF(with);
    /* A class can be called. */
    proxy = PyWeakref_NewProxy(type, NULL);
    say("%s", Py_TYPE(proxy)->tp_name);
    op = PyObject_CallNoArgs(proxy);
    say("%d", Py_TYPE(op) == (PyTypeObject *)type);
    show("name", PyObject_GetAttrString(proxy, "__name__"));
    /* In a cycle with its object, which is garbage. */
    with = PyWeakref_NewProxy(op, callback);
    PyObject_SetAttrString(op, "proxy", with);
    PyObject_SetAttrString(op, "self", op);
    Py_DECREF(with);
    Py_DECREF(op);
    PyGC_Collect();
    say("%d", called);
    Py_DECREF(proxy);
    op = PyLong_FromLong(100000);
    show("no weak references", PyWeakref_NewProxy(op, NULL));
    Py_DECREF(op);
    Py_DECREF(type);
    Py_DECREF(callback);
}

/* ---- bytes % args */

static void percent(const char *format, PyObject *args)
{
    PyObject *bytes = PyBytes_FromString(format), *array = PyByteArray_FromObject(bytes);
    say("%s", format);
    show("bytes", PyNumber_Remainder(bytes, args));
    if (strncmp(format, "%r", 2) != 0)          /* (CPython's repr of a bytearray has \\' between double quotes) */
        show("bytearray", PyNumber_Remainder(array, args));
    Py_DECREF(bytes);
    Py_DECREF(array);
    Py_DECREF(args);
}

static void formats(void)
{
    say("bytes %% args");
    percent("plain", PyTuple_New(0));
    percent("plain", Py_BuildValue("(i)", 1));
    percent("%d and %5d, %-5d| %05d %x %X %#o", Py_BuildValue("(iiiiiii)", 1, 2, 3, -4, 255, 255, 8));
    percent("%b|%5b|%-5b|%.2b", Py_BuildValue("(yyyy)", "one", "two", "three", "four"));
    percent("%s %s", Py_BuildValue("(yN)", "bytes", PyByteArray_FromStringAndSize("\xff\x00y", 3)));
    percent("%s", Py_BuildValue("(s)", "text"));
    percent("%b", Py_BuildValue("(i)", 1));
    percent("%c%c%3c", Py_BuildValue("(iyi)", 65, "B", 200));
    percent("%c", Py_BuildValue("(i)", 256));
    percent("%c", Py_BuildValue("(y)", "two"));
    percent("%c", Py_BuildValue("(s)", "t"));
    percent("%r %a", Py_BuildValue("(ss)", "text\xc3\xa4", "\xc3\xa4"));
    percent("%.3f %e %g", Py_BuildValue("(ddd)", 1.5, 2.0, 1e20));
    percent("%(a)d %(b)b", Py_BuildValue("{y:i,y:y}", "a", 1, "b", "x"));
    percent("%(c)d", Py_BuildValue("{y:i}", "a", 1));
    percent("%d", PyTuple_New(0));
    percent("%d %%", Py_BuildValue("i", 5));
    percent("%d", Py_BuildValue("(s)", "five"));
    percent("%", PyTuple_New(0));
    percent("%y", Py_BuildValue("(i)", 5));
    percent("x %*d", Py_BuildValue("(ii)", 6, 5));
}

/* ---- what else extensions ask for */

static int ended;
static void at_end(void) { ended++; }

typedef struct { PyObject_VAR_HEAD char text[8]; double items[1]; } sized;
static PyMemberDef sized_members[] = {
    { "text", T_STRING_INPLACE, offsetof(sized, text), READONLY, NULL }, { "none", T_NONE, 0, READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyTypeObject sized_type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Sized", .tp_basicsize = offsetof(sized, items), .tp_itemsize = sizeof(double),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_members = sized_members
};

static PyObject *written;
static PyObject *write_to(PyObject *self, PyObject *text)
{
    (void)self;
    say("write %R", text);
    if (PyUnicode_GET_LENGTH(text) < 10)
        Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "too long");
    return NULL;
}
static PyMethodDef write_def = { "write", write_to, METH_O, NULL };

static void rest(void)
{
    PyObject *op, *type, *value, *traceback, *name = PyUnicode_FromString("first"), *name2 = PyUnicode_FromString("second");
    PyOS_sighandler_t before;
    int argc = -1;
    wchar_t **argv = NULL;
    char *text;
    size_t size;
    say("others");
    if (PyType_Ready(&sized_type) < 0)
        return;
    op = (PyObject *)PyObject_NewVar(sized, &sized_type, 5);
    strcpy(((sized *)op)->text, "inside");
    show("text", PyObject_GetAttrString(op, "text"));
    show("none", PyObject_GetAttrString(op, "none"));
    show_code("set", PyObject_SetAttrString(op, "text", name) < 0 ? -7 : 0);
    PyErr_Clear();
    value = PyObject_CallMethod(op, "__sizeof__", NULL);
    size = PyLong_AsSize_t(value);
    Py_DECREF(value);
    say("%d", size == offsetof(sized, items) + 5 * sizeof(double));
    Py_DECREF(op);
    Py_GetArgcArgv(&argc, &argv);
    say("%d %d", argc > 0, argv[0] != NULL && argv[0][0] != 0);
    say("%d %d", Py_AtExit(at_end), ended);
    before = PyOS_setsig(SIGUSR1, SIG_IGN);
    say("%d %d", before == SIG_DFL, PyOS_getsig(SIGUSR1) == SIG_IGN);
    say("%d", PyOS_setsig(SIGUSR1, before) == SIG_IGN);
    say("%d", PyOS_getsig(-5) == SIG_ERR);
    say("%d", PyThread_get_thread_native_id() != 0);
    op = PyThreadState_GetDict();
    say("%d %d", op != NULL && PyDict_Check(op), op == PyThreadState_GetDict());
    op = PyEval_GetBuiltins();
    say("%d", op != NULL && PyMapping_Check(op) && PyDict_GetItemString(op, "ValueError") == PyExc_ValueError);
    op = PyCFunction_New(&write_def, NULL);
    say("%s%s", PyEval_GetFuncName(op), PyEval_GetFuncDesc(op));
    Py_DECREF(op);
    say("%s%s", PyEval_GetFuncName(Py_None), PyEval_GetFuncDesc(Py_None));
    written = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){sN}", "File", "write", PyCFunction_New(&write_def, NULL));
    show_code("write", PyFile_WriteString("some\n", written));
    show_code("write", PyFile_WriteObject(name, written, 0));
    show_code("write", PyFile_WriteObject(name, written, Py_PRINT_RAW));
    show_code("write", PyFile_WriteString("far too long", written));
    show_code("write", PyFile_WriteObject(name, Py_None, 0));
    show_code("write", PyFile_WriteObject(name, NULL, 0));
    Py_DECREF(written);
    errno = ENOENT;
    PyErr_SetFromErrnoWithFilenameObjects(PyExc_ValueError, name, name2);
    show("two names", NULL);
    errno = ENOENT;
    PyErr_SetFromErrnoWithFilenameObjects(PyExc_OSError, name, name2);
    show("two names", NULL);
    for (argc = 1; argc < 140; argc++) {
        op = PyObject_CallFunction(PyExc_OSError, "is", argc, "text");
        say("%d %s", argc, Py_TYPE(op)->tp_name);
        Py_DECREF(op);
    }
    PyErr_SetImportErrorSubclass(PyExc_ModuleNotFoundError, name, name2, NULL);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    show("name", PyObject_GetAttrString(value, "name"));
    PyErr_Restore(type, value, traceback);
    show("import", NULL);
    PyErr_SetImportErrorSubclass(PyExc_ValueError, name, NULL, NULL);
    show("import", NULL);
    text = PyOS_double_to_string(1.5, 'r', 0, Py_DTSF_SIGN, NULL);
    say("%s", text);
    PyMem_Free(text);
    text = PyOS_double_to_string(-1.5, 'f', 3, Py_DTSF_SIGN, NULL);
    say("%s", text);
    PyMem_Free(text);
    for (argc = 0; argc < 4; argc++) {
        int kind = -1;
        text = PyOS_double_to_string(argc == 0 ? 2.0 : argc == 1 ? Py_HUGE_VAL : argc == 2 ? -Py_HUGE_VAL : Py_NAN, 'g', 5, argc > 2 ? 0 : Py_DTSF_SIGN, &kind);
        say("%s %d", text, kind);
        PyMem_Free(text);
    }
    say("%d %d %d", PyGen_Check(name), PyCoro_CheckExact(name), PyAIter_Check(name));
    Py_DECREF(name);
    Py_DECREF(name2);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { contexts, weak_proxies, formats, rest, NULL };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "variables", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_variables(void)
{
    return PyModule_Create(&def);
}
