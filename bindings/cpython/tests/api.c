/* api.c - an extension of our own, in CPython's vocabulary, for what those of others do not use: the GC
 * functions, types with a metatype of their own, tables of members, arguments of all kinds, weak
 * references, capsules, borrowed references. The checks that need no script are here: each gives None,
 * or fails with an AssertionError that names its line. */
#include "Python.h"
#include "structmember.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            if (!PyErr_Occurred()) \
                PyErr_Format(PyExc_AssertionError, "line %d: %s", __LINE__, #condition); \
            return NULL; \
        } \
    } while (0)

/* ---- a node: takes part in cycles, can be referred to weakly, and has fields of all types ------------ */

typedef struct {
    PyObject_HEAD
    PyObject *next, *weakrefs, *dict;
    int number;
    double real;
    char flag;
    const char *text;
    Py_ssize_t size;
} node;

static int finalized, deallocated;

static int node_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((node *)op)->next);
    Py_VISIT(((node *)op)->dict);
    return 0;
}

static int node_clear(PyObject *op)
{
    Py_CLEAR(((node *)op)->next);
    Py_CLEAR(((node *)op)->dict);
    return 0;
}

static void node_finalize(PyObject *op)
{
    (void)op;
    finalized++;
}

static void node_dealloc(PyObject *op)
{
    if (PyObject_CallFinalizerFromDealloc(op) < 0)
        return;
    PyObject_GC_UnTrack(op);
    if (((node *)op)->weakrefs != NULL)
        PyObject_ClearWeakRefs(op);
    node_clear(op);
    deallocated++;
    Py_TYPE(op)->tp_free(op);
}

static PyMemberDef node_members[] = {
    { "next", T_OBJECT, offsetof(node, next), 0, NULL },
    { "must", T_OBJECT_EX, offsetof(node, next), 0, NULL },
    { "number", T_INT, offsetof(node, number), 0, NULL },
    { "real", T_DOUBLE, offsetof(node, real), 0, NULL },
    { "flag", T_BOOL, offsetof(node, flag), 0, NULL },
    { "text", T_STRING, offsetof(node, text), READONLY, NULL },
    { "size", T_PYSSIZET, offsetof(node, size), 0, NULL },
    { NULL, 0, 0, 0, NULL }
};

static int node_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "number", "next", NULL };
    PyObject *next = NULL;
    ((node *)op)->text = "node";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|iO:Node", names, &((node *)op)->number, &next))
        return -1;
    Py_XSETREF(((node *)op)->next, Py_XNewRef(next));
    return 0;
}

/* The metatype counts the calls of its types. */
static int made;

static PyObject *meta_call(PyObject *type, PyObject *args, PyObject *kwargs)
{
    made++;
    return PyType_Type.tp_call(type, args, kwargs);
}

static PyTypeObject Meta = { PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "api.Meta", .tp_call = meta_call, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE };

static PyTypeObject Node = {
    PyVarObject_HEAD_INIT(&Meta, 0) .tp_name = "api.Node", .tp_basicsize = sizeof(node), .tp_dealloc = node_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = node_traverse, .tp_clear = node_clear,
    .tp_finalize = node_finalize, .tp_members = node_members, .tp_init = node_init, .tp_new = PyType_GenericNew,
    .tp_weaklistoffset = offsetof(node, weakrefs), .tp_dictoffset = offsetof(node, dict)
};

/* ---- the GC functions ---------------------------------------------------------------------------------- */

static int count_nodes(PyObject *op, void *arg)
{
    *(int *)arg += Py_IS_TYPE(op, &Node);
    return 1;
}

static PyObject *test_gc(PyObject *self, PyObject *none)
{
    node *a = PyObject_GC_New(node, &Node), *b;
    int n = 0, before;
    (void)self, (void)none;
    CHECK(a != NULL);
    a->next = a->weakrefs = a->dict = NULL;
    CHECK(!PyObject_GC_IsTracked((PyObject *)a));
    PyObject_GC_Track(a);
    CHECK(PyObject_GC_IsTracked((PyObject *)a));
    CHECK(!PyObject_GC_IsFinalized((PyObject *)a));
    CHECK(PyObject_IS_GC(a) && !PyObject_IS_GC(Py_None));
    PyUnstable_GC_VisitObjects(count_nodes, &n);
    CHECK(n == 1);
    b = (node *)PyObject_CallFunction((PyObject *)&Node, "iO", 7, a);
    CHECK(b != NULL && b->number == 7 && b->next == (PyObject *)a);
    a->next = (PyObject *)b;            /* b's only reference is in a, and a's other one is ours */
    before = deallocated;
    CHECK(PyGC_Collect() >= 0);
    CHECK(deallocated == before && Py_REFCNT(a) == 2);
    Py_DECREF(a);
    CHECK(PyGC_Disable() == 1 && !PyGC_IsEnabled() && PyGC_Enable() == 0 && PyGC_IsEnabled());
    finalized = 0;
    PyGC_Collect();
    PyGC_Collect();
    CHECK(finalized == 2 && deallocated == before + 2);
    Py_RETURN_NONE;
}

/* ---- borrowed references, whatever moves ----------------------------------------------------------------- */

static PyObject *test_borrowed(PyObject *self, PyObject *none)
{
    PyObject *dict = PyDict_New(), *list = PyList_New(0), *key, *value, *borrowed, *big;
    Py_ssize_t at = 0;
    int i, n = 0;
    long sum = 0;
    (void)self, (void)none;
    CHECK(dict != NULL && list != NULL);
    for (i = 0; i < 100; i++) {
        key = PyUnicode_FromFormat("key %d", i);
        value = PyLong_FromLong(1000 * i);
        CHECK(key != NULL && value != NULL && PyDict_SetItem(dict, key, value) == 0 && PyList_Append(list, key) == 0);
        Py_DECREF(key);
        Py_DECREF(value);
    }
    borrowed = PyDict_GetItemString(dict, "key 42");
    PyGC_Collect();
    CHECK(borrowed != NULL && PyLong_AsLong(borrowed) == 42000);
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (n % 10 == 0)
            PyGC_Collect();
        CHECK(PyUnicode_Check(key) && PyUnicode_GET_LENGTH(key) >= 5);
        sum += PyLong_AsLong(value);
        n++;
    }
    CHECK(n == 100 && sum == 4950000 && PyDict_Size(dict) == 100);
    key = PyList_GET_ITEM(list, 99);
    PyGC_Collect();
    CHECK(PyUnicode_CompareWithASCIIString(key, "key 99") == 0);
    CHECK(PyDict_DelItem(dict, key) == 0 && PyDict_Contains(dict, key) == 0);
    CHECK(PyDict_DelItem(dict, key) == -1 && PyErr_ExceptionMatches(PyExc_KeyError));
    PyErr_Clear();
    big = PyLong_FromString("123456789012345678901234567890", NULL, 10);
    CHECK(big != NULL && PyDict_SetItem(dict, big, Py_True) == 0 && PyDict_GetItem(dict, big) == Py_True);
    CHECK(PyLong_AsLong(big) == -1 && PyErr_ExceptionMatches(PyExc_OverflowError));
    PyErr_Clear();
    Py_DECREF(big);
    CHECK(PyDict_SetItem(dict, list, Py_None) == -1 && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    Py_DECREF(list);
    Py_DECREF(dict);
    Py_RETURN_NONE;
}

/* ---- lookups in types, whose dict C changes: here it needs no PyType_Modified ------------------------------------ */

static PyObject *test_lookups(PyObject *self, PyObject *none)
{
    PyObject *class = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){sisi}", "Class", "x", 1, "y", 2);
    PyObject *dict = class != NULL ? ((PyTypeObject *)(void *)class)->tp_dict : NULL, *op;
    PyObject *x = PyUnicode_InternFromString("x"), *y = PyUnicode_InternFromString("y"), *n = PyLong_FromLong(100000);
    int i;
    (void)self, (void)none;
    CHECK(class != NULL && (op = PyObject_CallNoArgs(class)) != NULL);
    CHECK(PyLong_AsLong(_PyType_Lookup(Py_TYPE(op), x)) == 1 && PyLong_AsLong(_PyType_Lookup(Py_TYPE(op), y)) == 2);
    for (i = 0; i < 20; i++) {
        CHECK(PyDict_SetItem(dict, x, n) == 0 && PyLong_AsLong(_PyType_Lookup(Py_TYPE(op), x)) == 100000 + i);
        CHECK(PyDict_DelItem(dict, x) == 0 && _PyType_Lookup(Py_TYPE(op), x) == NULL && !PyErr_Occurred());
        Py_SETREF(n, PyLong_FromLong(100001 + i));
        PyGC_Collect();
    }
    CHECK(PyLong_AsLong(_PyType_Lookup(Py_TYPE(op), y)) == 2);
    PyDict_Clear(dict);
    CHECK(_PyType_Lookup(Py_TYPE(op), y) == NULL && !PyErr_Occurred());
    Py_DECREF(op);
    Py_DECREF(class);
    Py_DECREF(x);
    Py_DECREF(y);
    Py_DECREF(n);
    Py_RETURN_NONE;
}

/* ---- values and arguments ----------------------------------------------------------------------------------- */

static PyObject *test_values(PyObject *self, PyObject *none)
{
    PyObject *v = Py_BuildValue("(iLdsy#[OO]{s:i})", -1, 1ll << 40, 2.5, "text", "a\0b", (Py_ssize_t)3, Py_None, Py_True, "k", 5), *args;
    int i, j = 9;
    long long wide;
    double d;
    const char *s;
    Py_buffer view;
    PyObject *list, *dict;

    (void)self, (void)none;
    CHECK(v != NULL && PyTuple_Check(v) && PyTuple_GET_SIZE(v) == 7);
    CHECK(PyArg_ParseTuple(v, "iLdsy*O!O!:values", &i, &wide, &d, &s, &view, &PyList_Type, &list, &PyDict_Type, &dict));
    CHECK(i == -1 && wide == 1ll << 40 && d == 2.5 && strcmp(s, "text") == 0 && view.len == 3 && ((char *)view.buf)[2] == 'b');
    CHECK(PyList_GET_ITEM(list, 1) == Py_True && PyLong_AsLong(PyDict_GetItemString(dict, "k")) == 5);
    PyBuffer_Release(&view);
    Py_DECREF(v);
    args = Py_BuildValue("(i(ii))", 1, 2, 3);
    CHECK(args != NULL && PyArg_ParseTuple(args, "i(ii)|i", &i, &j, &i, &j) && i == 3 && j == 2);
    CHECK(!PyArg_ParseTuple(args, "i:few") && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    CHECK(!PyArg_ParseTuple(args, "si:types") && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    Py_DECREF(args);
    args = Py_BuildValue("(L)", 1ll << 40);
    CHECK(args != NULL && !PyArg_ParseTuple(args, "i", &i) && PyErr_ExceptionMatches(PyExc_OverflowError));
    PyErr_Clear();
    Py_DECREF(args);
    CHECK(Py_BuildValue("O", NULL) == NULL && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* ---- exceptions ----------------------------------------------------------------------------------------------- */

static PyObject *test_errors(PyObject *self, PyObject *none)
{
    PyObject *type, *value, *traceback, *text, *mine = PyErr_NewException("api.Mine", PyExc_LookupError, NULL);
    (void)self, (void)none;
    CHECK(mine != NULL && PyExceptionClass_Check(mine));
    PyErr_Format(mine, "%s %d %R", "number", 5, Py_None);
    CHECK(PyErr_ExceptionMatches(PyExc_LookupError) && !PyErr_ExceptionMatches(PyExc_KeyError));
    PyErr_Fetch(&type, &value, &traceback);
    CHECK(PyErr_Occurred() == NULL);
    PyErr_NormalizeException(&type, &value, &traceback);
    CHECK(type == mine && Py_TYPE(value) == (PyTypeObject *)mine);
    text = PyObject_Str(value);
    CHECK(text != NULL && PyUnicode_CompareWithASCIIString(text, "number 5 None") == 0);
    Py_DECREF(text);
    PyErr_Restore(type, value, traceback);
    CHECK(PyErr_Occurred() == mine);
    PyErr_Clear();
    CHECK(PyErr_NoMemory() == NULL && PyErr_ExceptionMatches(PyExc_MemoryError));
    PyErr_Clear();
    CHECK(PyErr_GivenExceptionMatches(PyExc_ZeroDivisionError, PyExc_ArithmeticError));
    Py_DECREF(mine);
    Py_RETURN_NONE;
}

/* ---- capsules, weak references, vectorcall ---------------------------------------------------------------------- */

static int destroyed;

static void destroy(PyObject *capsule)
{
    destroyed += PyCapsule_GetPointer(capsule, "api.pointer") == &destroyed;
}

static PyObject *test_others(PyObject *self, PyObject *none)
{
    PyObject *capsule = PyCapsule_New(&destroyed, "api.pointer", destroy), *op, *ref, *seen, *args[2], *names, *kwargs;
    (void)none;
    CHECK(capsule != NULL && PyCapsule_IsValid(capsule, "api.pointer") && !PyCapsule_IsValid(capsule, "other"));
    CHECK(PyCapsule_GetPointer(capsule, "other") == NULL && PyErr_ExceptionMatches(PyExc_ValueError));
    PyErr_Clear();
    CHECK(PyModule_AddObjectRef(self, "pointer", capsule) == 0);
    destroyed = 0;
    Py_DECREF(capsule);
    CHECK(destroyed == 0 && PyCapsule_Import("api.pointer", 0) == &destroyed);

    op = PyObject_CallNoArgs((PyObject *)&Node);
    CHECK(op != NULL);
    ref = PyWeakref_NewRef(op, NULL);
    CHECK(ref != NULL && PyWeakref_GetObject(ref) == op);
    seen = PyWeakref_NewRef(op, NULL);
    CHECK(seen == ref);
    Py_DECREF(seen);
    Py_DECREF(op);
    CHECK(PyWeakref_GetObject(ref) == Py_None);
    Py_DECREF(ref);
    CHECK(PyWeakref_NewRef(Py_None, NULL) == NULL && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();

    args[0] = PyLong_FromLong(3);
    args[1] = Py_None;
    names = Py_BuildValue("(s)", "next");
    CHECK(args[0] != NULL && names != NULL);
    op = PyObject_Vectorcall((PyObject *)&Node, args, 1, names);
    CHECK(op != NULL && ((node *)op)->number == 3 && ((node *)op)->next == Py_None);
    Py_DECREF(op);
    kwargs = Py_BuildValue("{s:i}", "number", 4);
    op = kwargs != NULL ? PyObject_VectorcallDict((PyObject *)&Node, NULL, 0, kwargs) : NULL;
    CHECK(op != NULL && ((node *)op)->number == 4);
    Py_DECREF(op);
    Py_DECREF(kwargs);
    Py_DECREF(names);
    Py_DECREF(args[0]);
    Py_RETURN_NONE;
}

/* A str that only passes through has no data in C, wherever it goes there. */
static PyObject *passes(PyObject *self, PyObject *op)
{
    PyObject *list = PyList_New(0), *dict = PyDict_New();
    (void)self;
    CHECK(list != NULL && dict != NULL && PyUnicode_Check(op) && !PyUnicode_IS_READY(op));
    CHECK(PyList_Append(list, op) == 0 && PyDict_SetItemString(dict, "op", op) == 0);
    PyGC_Collect();
    CHECK(PyDict_GetItemString(dict, "op") == PyList_GET_ITEM(list, 0) && !PyUnicode_IS_READY(op));
    Py_DECREF(dict);
    Py_DECREF(list);
    return Py_NewRef(op);
}

static PyObject *length(PyObject *self, PyObject *op)
{
    (void)self;
    return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(op));
}

static PyObject *counts(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return Py_BuildValue("(iii)", made, finalized, deallocated);
}

static PyMethodDef methods[] = {
    { "test_gc", test_gc, METH_NOARGS, NULL }, { "test_borrowed", test_borrowed, METH_NOARGS, NULL },
    { "test_lookups", test_lookups, METH_NOARGS, NULL },
    { "test_values", test_values, METH_NOARGS, NULL }, { "test_errors", test_errors, METH_NOARGS, NULL },
    { "test_others", test_others, METH_NOARGS, NULL }, { "passes", passes, METH_O, NULL }, { "length", length, METH_O, NULL }, { "counts", counts, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL }
};

static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "api", .m_size = -1, .m_methods = methods };

PyMODINIT_FUNC PyInit_api(void)
{
    PyObject *module;
    Meta.tp_base = &PyType_Type;
    if (PyType_Ready(&Meta) < 0 || PyType_Ready(&Node) < 0 || (module = PyModule_Create(&definition)) == NULL)
        return NULL;
    if (PyModule_AddType(module, &Node) < 0 || PyModule_AddType(module, &Meta) < 0 || PyModule_AddIntConstant(module, "answer", 42) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
