/* hidden.c - functions that CPython does not document, but packages use: those of pybind11, SWIG, Cython. As the extension
 * of our own that says the same in CPython: hidden.txt. */
#define PY_SSIZE_T_CLEAN
#include "say.h"
#include <frameobject.h>

/* ---- errors ------------------------------------------------------------------- */

/* The exception that is set, its cause and its context. */
static void chain(const char *what)
{
    PyObject *type, *value, *traceback, *cause, *context;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    cause = PyException_GetCause(value);
    context = PyException_GetContext(value);
    say("%s: %R cause %R context %R", what, value, cause != NULL ? cause : Py_None, context != NULL ? context : Py_None);
    Py_XDECREF(cause);
    Py_XDECREF(context);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static void errors(void)
{
    PyObject *type, *value, *traceback, *items = PyTuple_Pack(1, Py_True);
    PyErr_SetString(PyExc_ValueError, "old");
    say("%d", _PyErr_FormatFromCause(PyExc_TypeError, "new %d", 5) == NULL);
    chain("from cause");
    PyErr_SetString(PyExc_ValueError, "old");
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_SetString(PyExc_KeyError, "new");
    _PyErr_ChainExceptions(type, value, traceback);
    chain("chained");
    PyErr_SetString(PyExc_ValueError, "old");
    PyErr_Fetch(&type, &value, &traceback);
    _PyErr_ChainExceptions(type, value, traceback);
    chain("chained to none");
    PyErr_SetString(PyExc_ValueError, "as it is");
    _PyErr_ChainExceptions(NULL, NULL, NULL);
    chain("none chained");
    PyErr_Clear();
    say("%d", _PyGen_SetStopIterationValue(items));
    say("%d", _PyGen_FetchStopIterationValue(&value));
    show("value", value);
    PyErr_SetNone(PyExc_StopIteration);
    say("%d", _PyGen_FetchStopIterationValue(&value));
    show("no value", value);
    PyErr_SetString(PyExc_ValueError, "other");
    say("%d", _PyGen_FetchStopIterationValue(&value));
    chain("other");
    Py_DECREF(items);
}

/* ---- attributes, descriptors --------------------------------------------------- */

static void attributes(void)
{
    PyObject *name = PyUnicode_FromString("real"), *none = PyUnicode_FromString("none"), *dict = PyDict_New(), *d;
    show("with", _PyObject_GenericGetAttrWithDict(Py_True, name, NULL, 1));
    say("%d %d", _PyObject_GenericGetAttrWithDict(Py_True, none, NULL, 1) == NULL, PyErr_Occurred() == NULL);
    show("not suppressed", _PyObject_GenericGetAttrWithDict(Py_True, none, NULL, 0));
    PyDict_SetItem(dict, none, name);
    show("of a dict", _PyObject_GenericGetAttrWithDict(Py_True, none, dict, 0));
    d = PyObject_GetAttrString((PyObject *)&PyList_Type, "append");
    say("%S %s %s", PyDescr_NAME(d), PyDescr_TYPE(d)->tp_name, ((PyMethodDescrObject *)d)->d_method->ml_name);
    Py_DECREF(d);
    Py_DECREF(name);
    Py_DECREF(none);
    Py_DECREF(dict);
}

static void numbers(void)
{
    PyObject *all[] = { Py_True, PyLong_FromString("-1000000000000000000000", NULL, 10), PyFloat_FromDouble(-1.5), NULL };
    int i;
    for (i = 0; all[i] != NULL; i++) {
        show("real", PyObject_GetAttrString(all[i], "real"));
        show("imag", PyObject_GetAttrString(all[i], "imag"));
        show("conjugate", PyObject_CallMethod(all[i], "conjugate", NULL));
        show("ratio", PyObject_CallMethod(all[i], "as_integer_ratio", NULL));
        if (i < 2) {
            show("numerator", PyObject_GetAttrString(all[i], "numerator"));
            show("denominator", PyObject_GetAttrString(all[i], "denominator"));
        }
    }
    Py_DECREF(all[1]);
    Py_DECREF(all[2]);
}

static void properties(void)
{
    PyObject *f = PyObject_GetAttrString((PyObject *)&PyLong_Type, "bit_length"), *empty = PyTuple_New(0);
    PyObject *kwargs = Py_BuildValue("{s:O,s:s}", "fget", f, "doc", "about"), *p = PyObject_Call((PyObject *)&PyProperty_Type, empty, kwargs), *q;
    show("doc", PyObject_GetAttrString(p, "__doc__"));
    show("fset", PyObject_GetAttrString(p, "fset"));
    q = PyObject_CallMethod(p, "setter", "O", f);
    show("new fset", PyObject_GetAttrString(q, "fset"));
    show("doc of setter", PyObject_GetAttrString(q, "__doc__"));
    Py_SETREF(q, PyObject_CallMethod(q, "getter", "O", Py_None));
    show("without a getter", PyObject_GetAttrString(q, "fget"));
    Py_SETREF(q, PyObject_CallMethod(q, "deleter", "O", f));
    show("new fdel", PyObject_GetAttrString(q, "fdel"));
    say("%d", PyObject_SetAttrString(q, "__doc__", Py_True));
    show("new doc", PyObject_GetAttrString(q, "__doc__"));
    show("five", PyObject_CallFunction((PyObject *)&PyProperty_Type, "OOOOO", f, f, f, f, f));
    Py_DECREF(p);
    Py_DECREF(q);
    Py_DECREF(f);
    Py_DECREF(empty);
    Py_DECREF(kwargs);
}

/* ---- types that are made by hand, memory that is kept -------------------------- */

static PyObject *five(PyObject *self, PyObject *none) { (void)self, (void)none; return PyLong_FromLong(5); }
static PyMethodDef by_hand_methods[] = { { "five", five, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

static void by_hand_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyProperty_Type.tp_dealloc(op);
    Py_DECREF(type);
}

static void by_hand(void)
{
    PyHeapTypeObject *heap = (PyHeapTypeObject *)PyType_Type.tp_alloc(&PyType_Type, 0);
    PyTypeObject *type = &heap->ht_type;
    PyObject *op, *derived;
    heap->ht_name = PyUnicode_FromString("hand");
    heap->ht_qualname = PyUnicode_FromString("made.hand");
    type->tp_name = "hand";
    type->tp_base = (PyTypeObject *)Py_NewRef((PyObject *)&PyProperty_Type);
    type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HEAPTYPE;
    type->tp_methods = by_hand_methods;
    type->tp_dealloc = by_hand_dealloc;
    say("%d", PyType_Ready(type));
    say("%d", PyObject_SetAttrString((PyObject *)type, "__module__", heap->ht_name));
    show("qualname", PyObject_GetAttrString((PyObject *)type, "__qualname__"));
    show("bases", Py_NewRef(type->tp_bases));
    say("%zd %d", PyTuple_GET_SIZE(type->tp_mro), PyType_IS_GC(type));
    op = PyObject_CallNoArgs((PyObject *)type);
    show("five", PyObject_CallMethod(op, "five", NULL));
    say("%d", PyObject_TypeCheck(op, &PyProperty_Type));
    Py_XDECREF(op);
    derived = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Derived", type);
    op = derived != NULL ? PyObject_CallNoArgs(derived) : NULL;
    show("of derived", op != NULL ? PyObject_CallMethod(op, "five", NULL) : NULL);
    Py_XDECREF(op);
    Py_XDECREF(derived);
    Py_DECREF(type);
}

typedef struct { PyObject_HEAD PyObject *item; } kept;
static kept *keeps[2];
static int keep_count;

static void kept_dealloc(kept *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->item);
    if (keep_count < 2)
        keeps[keep_count++] = self;
    else
        Py_TYPE(self)->tp_free(self);
}

static int kept_traverse(kept *self, visitproc visit, void *arg) { Py_VISIT(self->item); return 0; }
static int kept_clear(kept *self) { Py_CLEAR(self->item); return 0; }
static PyTypeObject kept_type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "kept", .tp_basicsize = sizeof(kept), .tp_dealloc = (destructor)kept_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = (traverseproc)kept_traverse, .tp_clear = (inquiry)kept_clear
};

static kept *kept_new(PyObject *item)
{
    kept *self;
    if (keep_count > 0) {
        self = keeps[--keep_count];
        memset(self, 0, sizeof *self);
        (void)PyObject_Init((PyObject *)self, &kept_type);
    } else {
        self = PyObject_GC_New(kept, &kept_type);
    }
    self->item = Py_NewRef(item);
    PyObject_GC_Track(self);
    return self;
}

static void memory(void)
{
    kept *all[4];
    int round, i;
    say("%d", PyType_Ready(&kept_type));
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 4; i++) {
            PyObject *list = PyList_New(0);
            all[i] = kept_new(list);
            if (i % 2 == 0)
                PyList_Append(list, (PyObject *)all[i]);         /* a cycle */
            say("%zd %s", Py_REFCNT(all[i]), Py_TYPE(all[i])->tp_name);
            Py_DECREF(list);
        }
        for (i = 0; i < 4; i++)
            Py_DECREF(all[i]);
        PyGC_Collect();
        PyGC_Collect();
        say("%d are kept", keep_count);
    }
    while (keep_count > 0)
        PyObject_GC_Del(keeps[--keep_count]);
}

/* ---- bytes -------------------------------------------------------------------- */

static void octets(void)
{
    PyObject *b = PyBytes_FromString("abcdefg"), *a = PyByteArray_FromObject(b);
    const char *separators[] = { ":", "", "::", "\xc3\xa9", NULL };
    const void *bytes;
    void *to;
    Py_ssize_t n = 0;
    int i, group;
    for (group = -8; group <= 8; group++)
        show("hex", PyObject_CallMethod(group % 2 ? b : a, "hex", "si", "-", group));
    for (i = 0; separators[i] != NULL; i++)
        show("separator", PyObject_CallMethod(b, "hex", "s", separators[i]));
    show("bytes", PyObject_CallMethod(b, "hex", "y", "-"));
    show("int", PyObject_CallMethod(b, "hex", "i", 5));
    show("list", PyObject_CallMethod(b, "hex", "[i]", 5));
    show_code("read", PyObject_AsReadBuffer(b, &bytes, &n));
    say("%d %.3s", (int)n, (const char *)bytes);
    show_code("not writable", PyObject_AsWriteBuffer(b, &to, &n));
    show_code("write", PyObject_AsWriteBuffer(a, &to, &n));
    *(char *)to = 'A';
    show("written", Py_NewRef(a));
    show_code("no bytes", PyObject_AsReadBuffer(Py_None, &bytes, &n));
    show_code("nothing", PyObject_AsReadBuffer(Py_None, NULL, &n));
    say("%d %d", PyObject_CheckReadBuffer(b), PyObject_CheckReadBuffer(Py_None));
    say("%s %d", Py_FileSystemDefaultEncoding, PyOS_InterruptOccurred());
    say("%d %d", Py_TYPE(Py_Ellipsis) == &PyEllipsis_Type, Py_TYPE(Py_None) == &_PyNone_Type);
    Py_DECREF(a);
    Py_DECREF(b);
}

static void sys_module(void)
{
    PyObject *sys = PyImport_ImportModule("sys"), *version = PyObject_GetAttrString(sys, "version_info"), *modules;
    show("version", PySequence_GetSlice(version, 0, 2));
    show("maxsize", PyObject_GetAttrString(sys, "maxsize"));
    show("maxunicode", PyObject_GetAttrString(sys, "maxunicode"));
    show("byteorder", PyObject_GetAttrString(sys, "byteorder"));
    modules = PyObject_GetAttrString(sys, "modules");
    say("%d", PyDict_GetItemString(modules, "sys") == sys);
    Py_DECREF(modules);
    Py_DECREF(version);
    Py_DECREF(sys);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { errors, attributes, numbers, properties, by_hand, memory, octets, sys_module, NULL };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "hidden", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_hidden(void)
{
    return PyModule_Create(&def);
}
