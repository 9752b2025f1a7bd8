/* same.c - an extension of our own, which compiles for CPython as well, and says the same there: same.txt. */
#include "say.h"

/* ---- classes with __slots__ ------------------------------------------------------ */

/* Takes slots over. bases NULL: object. */
static PyObject *class_new(const char *name, PyObject *bases, PyObject *slots)
{
    PyObject *dict = PyDict_New(), *type;
    if (slots != NULL)
        PyDict_SetItemString(dict, "__slots__", slots);
    type = PyObject_CallFunction((PyObject *)&PyType_Type, "sNN", name, bases != NULL ? bases : PyTuple_New(0), dict);
    Py_XDECREF(slots);
    return type;
}

static void show_class(const char *what, PyObject *type)
{
    if (type == NULL)
        show(what, NULL);
    else
        say("%s: a class", what);
    Py_XDECREF(type);
}

static PyObject *set(PyObject *op, const char *name, long n)
{
    PyObject *value = PyLong_FromLong(n);
    int code = PyObject_SetAttrString(op, name, value);
    Py_DECREF(value);
    return code == 0 ? PyObject_GetAttrString(op, name) : NULL;
}

static PyObject *weak(PyObject *op)
{
    PyObject *ref = PyWeakref_NewRef(op, NULL);
    Py_XDECREF(ref);
    return ref != NULL ? PyLong_FromLong(1) : NULL;
}

static void slots(void)
{
    PyObject *a = class_new("A", NULL, Py_BuildValue("(ss)", "x", "y")), *b, *c, *op, *ref, *descr;
    say("slots");
    op = PyObject_CallNoArgs(a);
    show("x", PyObject_GetAttrString(op, "x"));
    show("x", set(op, "x", 1));
    show("y", set(op, "y", 2));
    show("x", PyObject_GetAttrString(op, "x"));
    show("z", set(op, "z", 1));
    show("dict", PyObject_GetAttrString(op, "__dict__"));
    show("weak", weak(op));
    show_code("delete", PyObject_SetAttrString(op, "x", NULL));
    show_code("delete", PyObject_SetAttrString(op, "x", NULL));
    show("x", PyObject_GetAttrString(op, "x"));
    show("in the class", PyObject_GetAttrString(a, "__slots__"));
    Py_DECREF(op);

    b = class_new("B", Py_BuildValue("(O)", a), Py_BuildValue("[s]", "z"));
    op = PyObject_CallNoArgs(b);
    show("derived x", set(op, "x", 1));
    show("derived z", set(op, "z", 3));
    show("derived x", PyObject_GetAttrString(op, "x"));
    show("derived other", set(op, "other", 3));
    Py_DECREF(op);

    c = class_new("C", Py_BuildValue("(O)", b), NULL);
    op = PyObject_CallNoArgs(c);
    show("with a dict: y", set(op, "y", 2));
    show("with a dict: other", set(op, "other", 3));
    show("with a dict: dict", PyObject_GetAttrString(op, "__dict__"));
    show("with a dict: weak", weak(op));
    Py_DECREF(op);
    Py_DECREF(c);

    c = class_new("D", NULL, Py_BuildValue("(sss)", "__dict__", "__weakref__", "x"));
    op = PyObject_CallNoArgs(c);
    show("asked for: x", set(op, "x", 2));
    show("asked for: other", set(op, "other", 3));
    show("asked for: dict", PyObject_GetAttrString(op, "__dict__"));
    show("asked for: weak", weak(op));
    show_class("a dict twice", class_new("E", Py_BuildValue("(O)", c), Py_BuildValue("(s)", "__dict__")));
    Py_DECREF(op);
    Py_DECREF(c);

    c = class_new("_Private", NULL, PyUnicode_FromString("__x"));
    op = PyObject_CallNoArgs(c);
    show("private", set(op, "_Private__x", 2));
    show("private", set(op, "__x", 2));
    Py_DECREF(op);
    Py_DECREF(c);

    /* a descriptor outlives its class, and does not fit others */
    c = class_new("F", NULL, Py_BuildValue("(s)", "x"));
    descr = PyObject_GetAttrString(c, "x");
    Py_DECREF(c);
    PyGC_Collect();
    op = PyObject_CallNoArgs(a);
    show("of another class", PyObject_CallMethod(descr, "__get__", "O", op));
    Py_DECREF(descr);
    Py_DECREF(op);

    show_class("no text", class_new("G", NULL, Py_BuildValue("(i)", 1)));
    show_class("no name", class_new("G", NULL, Py_BuildValue("(s)", "1x")));
    show_class("no name", class_new("G", NULL, Py_BuildValue("(s)", "")));
    show_class("two layouts", class_new("G", Py_BuildValue("(NN)", class_new("H", NULL, Py_BuildValue("(s)", "x")),
                                                            class_new("I", NULL, Py_BuildValue("(s)", "y"))), NULL));
    show_class("one layout", class_new("G", Py_BuildValue("(NN)", class_new("H", NULL, NULL),
                                                           class_new("I", NULL, Py_BuildValue("(s)", "y"))), NULL));
    show_class("of int", class_new("G", Py_BuildValue("(O)", &PyLong_Type), Py_BuildValue("(s)", "y")));
    show_class("int and tuple", class_new("G", Py_BuildValue("(OO)", &PyLong_Type, &PyTuple_Type), NULL));
    show_class("none", class_new("G", NULL, PyTuple_New(0)));

    /* garbage through slots */
    c = class_new("J", NULL, Py_BuildValue("(ss)", "next", "__weakref__"));
    op = PyObject_CallNoArgs(c);
    PyObject_SetAttrString(op, "next", op);
    ref = PyWeakref_NewRef(op, NULL);
    Py_DECREF(op);
    say("in a cycle: %d", PyWeakref_GetObject(ref) != Py_None);
    PyGC_Collect();
    say("in a cycle: %d", PyWeakref_GetObject(ref) != Py_None);
    Py_DECREF(ref);
    Py_DECREF(c);
    Py_DECREF(b);
    Py_DECREF(a);
}

/* ---- the text of what contains itself ------------------------------------------------ */

static void texts(void)
{
    PyObject *list = PyList_New(0), *dict = PyDict_New(), *tuple = PyTuple_New(2);
    say("texts");
    PyList_Append(list, list);
    PyDict_SetItemString(dict, "self", dict);
    PyTuple_SET_ITEM(tuple, 0, tuple);
    PyTuple_SET_ITEM(tuple, 1, PyLong_FromLong(1));
    show("list", Py_NewRef(list));
    show("dict", Py_NewRef(dict));
    show("tuple", Py_NewRef(tuple));
    PyTuple_SET_ITEM(tuple, 0, NULL);
    Py_DECREF(tuple);
    PyList_Append(list, dict);
    PyDict_SetItemString(dict, "list", list);
    show("both", Py_NewRef(list));
    show("both", Py_NewRef(dict));
    say("again: %d %d", Py_ReprEnter(list), Py_ReprEnter(list));
    show("inside", Py_NewRef(list));
    Py_ReprLeave(list);
    show("left", Py_NewRef(list));
    PyDict_Clear(dict);
    PyList_SetSlice(list, 0, PY_SSIZE_T_MAX, NULL);
    Py_DECREF(list);
    Py_DECREF(dict);
}

/* ---- weak references to what is not an object of a class ----------------------------- */

static PyObject *nothing(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    Py_RETURN_NONE;
}
static PyMethodDef nothing_def = { "nothing", nothing, METH_NOARGS, NULL };

static void dies(const char *what, PyObject *op)
{
    PyObject *ref = op != NULL ? PyWeakref_NewRef(op, NULL) : NULL;
    if (ref == NULL) {
        show(what, NULL);
    } else {
        PyObject *again = PyWeakref_NewRef(op, NULL);
        say("%s: %d %d", what, PyWeakref_GetObject(ref) == op, ref == again);
        Py_DECREF(again);
        Py_DECREF(op);
        PyGC_Collect();
        say("%s: %d", what, PyWeakref_GetObject(ref) == Py_None);
        Py_DECREF(ref);
    }
}

static void weak_references(void)
{
    PyObject *ref;
    say("weak references");
    dies("class", class_new("A", NULL, NULL));
    dies("function", PyCFunction_New(&nothing_def, NULL));
    dies("method", PyMethod_New((PyObject *)&PyType_Type, Py_None));
    dies("module", PyModule_New("none"));
    ref = PyWeakref_NewRef((PyObject *)&PyLong_Type, NULL);
    show("int", Py_XNewRef(ref != NULL ? PyWeakref_GetObject(ref) : NULL));
    Py_XDECREF(ref);
    show("None", PyWeakref_NewRef(Py_None, NULL));
    ref = PyLong_FromLong(100000);
    show("a number", PyWeakref_NewRef(ref, NULL));
    Py_DECREF(ref);
    ref = PyTuple_New(1);
    show("a tuple", PyWeakref_NewRef(ref, NULL));
    Py_DECREF(ref);
}

/* ---- _PyTuple_Resize -------------------------------------------------------------- */

static void resizing(void)
{
    PyObject *op = PyTuple_New(2), *other;
    Py_ssize_t i;
    say("resizing");
    PyTuple_SET_ITEM(op, 0, PyLong_FromLong(1000));
    PyTuple_SET_ITEM(op, 1, PyUnicode_FromString("two"));
    show_code("the same", _PyTuple_Resize(&op, 2));
    show_code("more", _PyTuple_Resize(&op, 100));
    say("size: %zd", PyTuple_GET_SIZE(op));
    for (i = 2; i < 100; i++) {
        say("item: %d", PyTuple_GET_ITEM(op, i) == NULL);
        PyTuple_SET_ITEM(op, i, Py_BuildValue("[n]", i));
        i += i % 10 == 0 ? 0 : 6;
    }
    show_code("fewer", _PyTuple_Resize(&op, 3));
    show("tuple", Py_NewRef(op));
    show_code("none", _PyTuple_Resize(&op, 0));
    show_code("from none", _PyTuple_Resize(&op, 1));
    PyTuple_SET_ITEM(op, 0, PyLong_FromLong(1));
    show("tuple", Py_NewRef(op));
    other = Py_NewRef(op);
    show_code("of two owners", _PyTuple_Resize(&op, 2) < 0 && PyErr_ExceptionMatches(PyExc_SystemError) ? 1 : 0);
    PyErr_Clear();
    say("%d %zd", op == NULL, Py_REFCNT(other));
    Py_DECREF(other);
    op = PyList_New(0);
    show_code("of a list", _PyTuple_Resize(&op, 2) < 0 && PyErr_ExceptionMatches(PyExc_SystemError) ? 1 : 0);
    PyErr_Clear();
}

/* ---- collections ---------------------------------------------------------------------- */

/* A ring of n objects of a class, which nobody holds. */
static void ring(PyObject *class, int n)
{
    PyObject *first = PyObject_CallNoArgs(class), *last = Py_NewRef(first), *next;
    for (; n > 1; n--) {
        next = PyObject_CallNoArgs(class);
        PyObject_SetAttrString(last, "next", next);
        Py_DECREF(last);
        last = next;
    }
    PyObject_SetAttrString(last, "next", first);
    Py_DECREF(last);
    Py_DECREF(first);
}

static PyObject *collect(PyObject *self, PyObject *ref)
{
    (void)self, (void)ref;
    say("inside: %zd", PyGC_Collect());
    Py_RETURN_NONE;
}
static PyMethodDef collect_def = { "collect", collect, METH_O, NULL };

static void collections(void)
{
    PyObject *class = class_new("A", NULL, Py_BuildValue("(ss)", "next", "__weakref__")), *op, *callback, *ref;
    say("collections");
    PyGC_Collect();
    say("nothing: %zd", PyGC_Collect());
    ring(class, 1);
    ring(class, 3);
    say("four: %zd", PyGC_Collect());
    say("before: %d", PyGC_Disable());
    ring(class, 2);
    say("disabled: %zd %d", PyGC_Collect(), PyGC_IsEnabled());
    say("before: %d %d", PyGC_Enable(), PyGC_Enable());
    say("two: %zd", PyGC_Collect());
    ring(class, 2);
    PyErr_SetNone(PyExc_KeyError);
    say("two, and the exception stays: %zd %d", PyGC_Collect(), PyErr_ExceptionMatches(PyExc_KeyError));
    PyErr_Clear();
    op = PyObject_CallNoArgs(class);
    PyObject_SetAttrString(op, "next", op);
    callback = PyCFunction_New(&collect_def, NULL);
    ref = PyWeakref_NewRef(op, callback);
    Py_DECREF(op);
    say("one: %zd", PyGC_Collect());
    Py_DECREF(ref);
    Py_DECREF(callback);
    op = PyObject_CallNoArgs(class);
    say("of the collector: %d %d %d", PyObject_IS_GC(op), PyObject_IS_GC(class), PyObject_IS_GC((PyObject *)&PyLong_Type));
    say("tracked: %d %d %d", PyObject_GC_IsTracked(op), PyObject_GC_IsTracked(class), PyObject_GC_IsTracked((PyObject *)&PyLong_Type));
    Py_DECREF(op);
    Py_DECREF(class);
}

/* ---- the value of an error goes with it ----------------------------------------------- */

static void errors(void)
{
    PyObject *value = PyList_New(0), *type, *other, *traceback;
    say("errors");
    PyErr_SetObject(PyExc_ValueError, value);
    PyErr_Clear();
    say("cleared: %zd", Py_REFCNT(value));
    PyErr_SetObject(PyExc_ValueError, value);
    PyErr_SetNone(PyExc_KeyError);
    PyErr_Clear();
    say("replaced: %zd", Py_REFCNT(value));
    PyErr_SetObject(PyExc_ValueError, value);
    PyErr_Fetch(&type, &other, &traceback);
    PyErr_NormalizeException(&type, &other, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(other);
    Py_XDECREF(traceback);
    say("fetched: %zd", Py_REFCNT(value));
    Py_DECREF(value);
}

/* ---- lookups in types -------------------------------------------------------------- */

static PyObject *get(PyObject *op, const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name), *value = PyObject_GetAttr(op, text);
    Py_DECREF(text);
    return value;
}

/* A class with these bases (taken over) whose attribute x is n. */
static PyObject *class_with(PyObject *bases, long n)
{
    return PyObject_CallFunction((PyObject *)&PyType_Type, "sN{sl}", "X", bases, "x", n);
}

static void lookups(void)
{
    PyObject *base = class_with(PyTuple_New(0), 1), *derived = class_new("Y", Py_BuildValue("(O)", base), NULL);
    PyObject *op = PyObject_CallNoArgs(derived), *name = PyUnicode_InternFromString("x"), *other, *ref, *value;
    int i;
    say("lookups");
    for (i = 0; i < 2; i++) {
        show("of the base", get(op, "x"));
        show("of nothing", get(op, "y"));
        show("of the class", get(derived, "x"));
    }
    for (i = 0; i < 20; i++) {          /* names that go, and whose memory others get */
        other = PyUnicode_FromString(i % 2 == 0 ? "x" : "z");
        value = PyObject_GetAttr(op, other);
        if ((value != NULL) != (i % 2 == 0))
            say("found by a wrong name");
        Py_XDECREF(value);
        Py_DECREF(other);
        PyErr_Clear();
        PyGC_Collect();
    }
    value = PyUnicode_FromString("a text");
    show_code("set", PyObject_SetAttr(base, name, value));
    Py_DECREF(value);
    show("changed in the base", get(op, "x"));
    show("of the class", get(derived, "x"));
    other = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Z");
    show_code("set", PyObject_SetAttr(derived, name, other));
    ref = PyWeakref_NewRef(other, NULL);
    Py_DECREF(other);
    other = get(op, "x");
    say("set in the class: %d", other == PyWeakref_GET_OBJECT(ref));
    Py_DECREF(other);
    show_code("delete", PyObject_DelAttr(derived, name));
    for (i = 0; i < 3; i++)
        PyGC_Collect();
    show("what the class had", Py_NewRef(PyWeakref_GET_OBJECT(ref)));
    Py_DECREF(ref);
    show("of the base again", get(op, "x"));
    show_code("delete", PyObject_DelAttr(base, name));
    show("of nobody", get(op, "x"));
    show("of nobody", get(derived, "x"));
    other = PyLong_FromLong(5);
    show_code("set in the dict", PyDict_SetItem(((PyTypeObject *)(void *)base)->tp_dict, name, other));
    PyType_Modified((PyTypeObject *)(void *)base);
    show("of the dict", get(op, "x"));
    Py_DECREF(other);
    show_code("set in the object", PyObject_SetAttr(op, name, Py_None));
    show("of the object", get(op, "x"));
    Py_DECREF(op);
    Py_DECREF(derived);
    Py_DECREF(base);
    for (i = 0; i < 300; i++) {         /* many have the address of one that went */
        PyObject *type = class_with(PyTuple_New(0), i);
        value = get(type, "x");
        if (PyLong_AsLong(value) != i)
            say("a wrong value: %R, not %d", value, i);
        Py_DECREF(value);
        Py_DECREF(type);
        if (i % 10 == 9)
            PyGC_Collect();
    }
    Py_DECREF(name);
}

/* ---- memory that the next object gets --------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *other;
    long number;
} node;

#define NODE(op) ((node *)(void *)(op))
static int deallocs, finalizers, deeper;

static int node_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(NODE(op)->other);
    return 0;
}

static int node_clear(PyObject *op)
{
    Py_CLEAR(NODE(op)->other);
    return 0;
}

/* It frees its object first, and then makes and drops more of them. */
static void node_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    if (type->tp_finalize != NULL && PyObject_CallFinalizerFromDealloc(op) < 0)
        return;
    PyObject_GC_UnTrack(op);
    deallocs++;
    node_clear(op);
    type->tp_free(op);
    if (deeper > 0) {
        int i, n = 2;
        deeper--;
        for (i = 0; i < n; i++) {
            PyObject *next = type->tp_alloc(type, 0);
            if (NODE(next)->number != 0 || NODE(next)->other != NULL)
                say("what is new is not empty");
            NODE(next)->number = 7;
            NODE(next)->other = PyFloat_FromDouble(0.5);
            Py_DECREF(next);
        }
    }
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        Py_DECREF(type);
}

static PyTypeObject Node = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "same.Node", .tp_basicsize = sizeof(node), .tp_dealloc = node_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = node_traverse, .tp_clear = node_clear,
    .tp_new = PyType_GenericNew
};

static void node_finalize(PyObject *op)
{
    (void)op;
    finalizers++;
}

static PyType_Slot plain_slots[] = {
    { Py_tp_dealloc, node_dealloc }, { Py_tp_traverse, node_traverse }, { Py_tp_clear, node_clear }, { 0, NULL }
};
static PyType_Slot final_slots[] = {
    { Py_tp_dealloc, node_dealloc }, { Py_tp_traverse, node_traverse }, { Py_tp_clear, node_clear },
    { Py_tp_finalize, node_finalize }, { 0, NULL }
};
static PyType_Spec plain_spec = { "same.Plain", sizeof(node), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, plain_slots };
static PyType_Spec final_spec = { "same.Final", sizeof(node), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, final_slots };

static PyObject *node_new(PyTypeObject *type, PyObject *other)
{
    PyObject *op = type->tp_alloc(type, 0);
    NODE(op)->other = Py_XNewRef(other);
    return op;
}

static void numbers_again(void)
{
    static const long long ints[] = {
        0, 1, -1, 1000, 1 << 30, -(1ll << 30), (1ll << 60) - 1, 1ll << 60, -(1ll << 62), 5
    };
    size_t i, k;
    for (i = 0; i < 2 * sizeof ints / sizeof *ints; i++) {
        PyObject *a = PyLong_FromLongLong(ints[i / 2]), *b = PyLong_FromLongLong(ints[(i * 7) % 10]);
        PyObject *c = PyFloat_FromDouble((double)i / 4), *sum = PyNumber_Add(a, b), *product = PyNumber_Multiply(b, c);
        say("%R %R %R %R %R", a, b, c, sum, product);
        Py_DECREF(a), Py_DECREF(b), Py_DECREF(c), Py_DECREF(sum), Py_DECREF(product);
    }
    for (i = 0; i < 200; i++) {         /* more than are kept */
        PyObject *all[100];
        for (k = 0; k < 100; k++)
            all[k] = k % 3 == 0 ? PyLong_FromSize_t(i * k) : k % 3 == 1 ? PyFloat_FromDouble((double)(i * k))
                   : PyUnicode_FromFormat("%zu", i * k);
        for (k = 0; k < 100; k++) {
            if ((k % 3 == 0 && PyLong_AsLong(all[k]) != (long)(i * k))
                || (k % 3 == 1 && PyFloat_AsDouble(all[k]) != (double)(i * k))
                || (k % 3 == 2 && strtoul(PyUnicode_AsUTF8(all[k]), NULL, 10) != i * k))
                say("a wrong number");
            Py_DECREF(all[k]);
        }
    }
}

static void tuples_again(void)
{
    PyObject *op, *item = PyUnicode_FromString("item"), *more;
    Py_ssize_t n, i;
    int round;
    for (round = 0; round < 3; round++)
        for (n = 0; n < 12; n++) {
            op = PyTuple_New(n);
            for (i = 0; i < n; i++) {
                if (PyTuple_GET_ITEM(op, i) != NULL)
                    say("a new tuple has items");
                PyTuple_SET_ITEM(op, i, Py_NewRef(item));
            }
            if (round == 2)
                say("%zd %R %R", PyTuple_GET_SIZE(op), op, n > 0 ? PyTuple_GET_ITEM(op, n - 1) : Py_None);
            Py_DECREF(op);
        }
    say("references: %zd", Py_REFCNT(item));
    op = PyTuple_New(0);
    for (i = 0; i < 200000; i++) {
        more = PyTuple_Pack(1, op);
        Py_DECREF(op);
        op = more;
    }
    Py_DECREF(op);
    op = PyTuple_New(3);
    show_code("resize", _PyTuple_Resize(&op, 6));
    for (i = 0; i < 6; i++)
        PyTuple_SET_ITEM(op, i, Py_NewRef(item));
    show("six", op);
    op = PyTuple_New(6);
    if (PyTuple_GET_ITEM(op, 5) != NULL)
        say("a new tuple has items");
    Py_DECREF(op);
    say("references: %zd", Py_REFCNT(item));
    Py_DECREF(item);
}

static void texts_again(void)
{
    static const char *const texts[] = {
        "", "a", "twenty-four bytes of text", "\303\244", "\342\202\254\342\202\254", "\360\237\230\200"
    };
    size_t i;
    for (i = 0; i < 24; i++) {
        PyObject *a = PyUnicode_FromString(texts[i % 6]), *b = PyUnicode_FromString(texts[(i * 5 + 1) % 6]);
        PyObject *both = PyUnicode_Concat(a, b);
        Py_hash_t hash = PyObject_Hash(both);
        PyObject *copy = PyUnicode_FromString(PyUnicode_AsUTF8(both));
        if (hash != PyObject_Hash(copy) || !PyUnicode_Check(copy) || PyUnicode_Compare(both, copy) != 0)
            say("not the same text");
        say("%A %zd %zd", both, PyUnicode_GET_LENGTH(a), PyUnicode_GET_LENGTH(copy));
        if (i % 3 == 0)
            PyUnicode_InternInPlace(&copy);
        Py_DECREF(a), Py_DECREF(b), Py_DECREF(both), Py_DECREF(copy);
    }
}

static void objects_again(void)
{
    PyTypeObject *plain = (PyTypeObject *)(void *)PyType_FromSpec(&plain_spec);
    PyTypeObject *final = (PyTypeObject *)(void *)PyType_FromSpec(&final_spec);
    PyTypeObject *const types[] = { &Node, plain, final };
    PyObject *ref, *op, *ring;
    int i, k;
    if (PyType_Ready(&Node) < 0 || plain == NULL || final == NULL)
        return;
    for (i = 0; i < 3; i++) {
        deallocs = finalizers = 0;
        deeper = 20;
        op = node_new(types[i], NULL);
        Py_DECREF(op);
        say("%s: deallocs %d, finalizers %d", types[i]->tp_name, deallocs, finalizers);
    }
    deallocs = finalizers = 0;
    for (i = 0; i < 300; i++) {         /* of several types of one size, in turn; each third one is in a cycle */
        op = node_new(types[i % 3], NULL);
        if (Py_TYPE(op) != types[i % 3])
            say("a wrong type");
        if (i / 3 % 3 == 0) {
            ring = node_new(types[(i + 1) % 3], op);
            NODE(op)->other = ring;
        }
        Py_DECREF(op);
        if (i % 30 == 29)
            for (k = 0; k < 3; k++)
                PyGC_Collect();
    }
    say("deallocs %d, finalizers %d", deallocs, finalizers);
    PyErr_SetString(PyExc_KeyError, "stays");
    Py_DECREF(node_new(plain, NULL));
    show("with an exception", NULL);
    ref = PyWeakref_NewRef((PyObject *)plain, NULL);
    Py_DECREF(plain);
    Py_DECREF(final);
    for (k = 0; k < 3; k++)
        PyGC_Collect();
    show("the type", Py_NewRef(PyWeakref_GET_OBJECT(ref)));
    Py_DECREF(ref);
}

/* ---- objects of a wrong kind, and what is out of range: an exception says so ------------------ */

static void show_type(const char *what, int failed)
{
    PyObject *type = PyErr_Occurred();
    say("%s: %s, %s", what, failed ? "fails" : "succeeds", type != NULL ? ((PyTypeObject *)(void *)type)->tp_name : "no exception");
    PyErr_Clear();
}

#define WRONG(call) show_type(#call, (long)(call) == 0)
#define WRONG_CODE(call) show_type(#call, (long)(call) < 0)
#define SAYS_NOTHING(call) (call, show_type(#call, 0))

static void wrong_kinds(void)
{
    PyObject *none = Py_None, *text = PyUnicode_FromString("text"), *wide = PyUnicode_FromOrdinal(0x20ac), *key, *value;
    PyObject *capsule = PyCapsule_New(&said, "name", NULL), *copy = PyUnicode_New(3, 127), *nameless = PyModule_New("nameless");
    Py_ssize_t at = 0;
    WRONG(PyList_GetSlice(none, 0, 1));
    WRONG_CODE(PyList_SetSlice(none, 0, 1, NULL));
    WRONG(PyTuple_GetSlice(none, 0, 1));
    WRONG(PyDict_Copy(none));
    WRONG_CODE(PyDict_Update(text, none));
    WRONG_CODE(PyDict_Merge(text, none, 1));
    SAYS_NOTHING(PyDict_Clear(text));
    SAYS_NOTHING(PyDict_Next(text, &at, &key, &value));
    WRONG(PySeqIter_New(none));
    WRONG(PyCFunction_GetFunction(none));
    WRONG(PyCFunction_GetSelf(none));
    WRONG_CODE(PyCFunction_GetFlags(none));
    WRONG(PyVectorcall_Call(none, none, NULL));
    WRONG(PyWeakref_GetObject(none));

    WRONG(PyCapsule_GetPointer(none, "name"));
    WRONG(PyCapsule_GetPointer(capsule, "other"));
    WRONG(PyCapsule_GetName(none));
    WRONG(PyCapsule_GetContext(none));
    WRONG(PyCapsule_GetDestructor(none));
    WRONG_CODE(PyCapsule_SetContext(none, &said));
    WRONG_CODE(PyCapsule_SetPointer(none, &said));
    WRONG_CODE(PyCapsule_SetPointer(capsule, NULL));
    WRONG_CODE(PyCapsule_SetName(none, "name"));
    WRONG_CODE(PyCapsule_SetDestructor(none, NULL));

    WRONG(PyModule_GetDict(none));
    WRONG(PyModule_GetName(none));
    WRONG(PyModule_GetNameObject(none));
    WRONG(PyModule_GetState(none));
    WRONG(PyModule_GetDef(none));
    WRONG_CODE(PyModule_AddObjectRef(none, "name", none));
    WRONG_CODE(PyModule_AddObject(none, "name", none));
    WRONG_CODE(PyModule_AddIntConstant(none, "name", 1));
    WRONG_CODE(PyModule_AddStringConstant(none, "name", "text"));
    WRONG_CODE(PyModule_AddType(none, &PyList_Type));
    PyDict_DelItemString(PyModule_GetDict(nameless), "__name__");
    WRONG(PyModule_GetName(nameless));
    WRONG(PyImport_ImportModuleLevelObject(none, NULL, NULL, NULL, 0));

    SAYS_NOTHING(PyErr_SetNone(text));
    SAYS_NOTHING(PyErr_SetObject((PyObject *)&PyLong_Type, none));
    SAYS_NOTHING(PyErr_SetString(none, "text"));
    WRONG(PyErr_Format(none, "text"));
    WRONG(PyErr_SetFromErrno(text));
    errno = ENOENT;
    WRONG(PyErr_SetFromErrno(PyExc_OSError));
    WRONG_CODE(PyErr_WarnEx(none, "text", 1));

    WRONG_CODE(PyUnicode_Compare(none, text));
    WRONG_CODE(PyUnicode_Compare(text, none));
    WRONG_CODE(PyUnicode_Find(none, text, 0, 4, 1));
    WRONG_CODE(PyUnicode_Find(text, none, 0, 4, 1));
    WRONG_CODE(PyUnicode_Contains(text, none));
    WRONG(PyUnicode_Replace(none, text, text, 1));
    WRONG(PyUnicode_Replace(text, none, text, 1));
    WRONG(PyUnicode_Replace(text, text, none, 1));
    WRONG_CODE((int)PyUnicode_ReadChar(none, 0));
    WRONG_CODE((int)PyUnicode_ReadChar(text, 4));
    WRONG_CODE(PyUnicode_WriteChar(none, 0, 'c'));
    WRONG_CODE(PyUnicode_WriteChar(copy, 3, 'c'));
    WRONG_CODE(PyUnicode_WriteChar(copy, 0, 0x20ac));
    WRONG(PyUnicode_AsEncodedString(none, "utf-8", NULL));
    WRONG_CODE(PyUnicode_CopyCharacters(none, 0, text, 0, 1));
    WRONG_CODE(PyUnicode_CopyCharacters(copy, 0, none, 0, 1));
    WRONG_CODE(PyUnicode_CopyCharacters(copy, 0, text, 0, 4));
    WRONG_CODE(PyUnicode_CopyCharacters(copy, 4, text, 0, 1));
    WRONG_CODE(PyUnicode_CopyCharacters(copy, 0, text, -1, 1));
    WRONG_CODE(PyUnicode_CopyCharacters(copy, 0, text, 0, -1));
    WRONG_CODE(PyUnicode_CopyCharacters(copy, 0, wide, 0, 1));
    WRONG_CODE(PyUnicode_Resize(&none, 1));
    WRONG_CODE(PyUnicode_Resize(&copy, -1));
    Py_DECREF(text);
    Py_DECREF(wide);
    Py_DECREF(copy);
    Py_DECREF(capsule);
    Py_DECREF(nameless);
}

/* ---- what C has put into a dict, and dropped, is there as long as it is in the dict --------------- */

static void kept_by_a_dict(void)
{
    PyObject *dict = PyDict_New(), *others = PyList_New(0), *other = PyDict_New(), *module = PyModule_New("keeps"), *values[6];
    static const char *const names[] = { "small", "number", "large", "real", "text", "tuple" };
    int i, k;
    values[0] = PyLong_FromLong(7);
    values[1] = PyLong_FromLong(123456789);
    values[2] = PyLong_FromString("123456789012345678901234567890", NULL, 10);
    values[3] = PyFloat_FromDouble(1.25);
    values[4] = PyUnicode_FromString("a text");
    values[5] = Py_BuildValue("(is)", 1, "in a tuple");
    for (i = 0; i < 6; i++) {
        PyDict_SetItemString(i % 2 == 0 ? dict : PyModule_GetDict(module), names[i], values[i]);
        Py_DECREF(values[i]);
    }
    for (k = 0; k < 100; k++) {
        PyObject *n = Py_BuildValue("(idsO)", 1000 + k, 0.5 + k, "other", values[k % 2]);
        PyList_Append(others, n);
        Py_DECREF(n);
        if (k % 50 == 0)
            PyGC_Collect();
    }
    for (i = 0; i < 6; i++) {
        show(names[i], Py_NewRef(values[i]));
        say("%d", PyDict_GetItemString(i % 2 == 0 ? dict : PyModule_GetDict(module), names[i]) == values[i]);
        PyDict_SetItemString(other, names[i], values[i]);
    }
    PyDict_Clear(dict);
    PyGC_Collect();
    for (i = 0; i < 6; i++)
        show(names[i], Py_NewRef(values[i]));
    Py_DECREF(dict);
    Py_DECREF(other);
    Py_DECREF(others);
    Py_DECREF(module);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = {
        slots, texts, weak_references, resizing, collections, errors, lookups, numbers_again, tuples_again,
        texts_again, objects_again, wrong_kinds, kept_by_a_dict, NULL
    };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "same", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_same(void)
{
    return PyModule_Create(&def);
}
