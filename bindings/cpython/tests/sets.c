/* sets.c - set and frozenset, as the extension of our own that says the same in CPython: sets.txt. Items that compare
 * themselves run code, which changes the set meanwhile. */
#include "say.h"

/* The text of a set whose items can be sorted. Takes it over. */
static void show_set(const char *what, PyObject *op)
{
    PyObject *list = op != NULL ? PySequence_List(op) : NULL;
    if (list != NULL && PyList_Sort(list) < 0)
        Py_CLEAR(list);
    if (op != NULL)
        say("%s: a %s of %zd", what, Py_TYPE(op)->tp_name, PyObject_Size(op));
    Py_XDECREF(op);
    show(what, list);
}

static PyObject *of(const char *items)
{
    PyObject *text = PyUnicode_FromString(items), *op = PySet_New(text);
    Py_DECREF(text);
    return op;
}

static PyObject *frozen(const char *items)
{
    PyObject *text = PyUnicode_FromString(items), *op = PyFrozenSet_New(text);
    Py_DECREF(text);
    return op;
}

/* ---- what C calls ------------------------------------------------------------------ */

static void basics(void)
{
    PyObject *op = PySet_New(NULL), *list, *one = PyLong_FromLong(1), *key;
    Py_ssize_t i;
    say("basics");
    show("empty", Py_NewRef(op));
    show_code("add", PySet_Add(op, one));
    show_code("again", PySet_Add(op, one));
    show("one", Py_NewRef(op));
    say("%zd %zd %d %d", PySet_Size(op), PySet_GET_SIZE(op), PySet_Contains(op, one), PySet_Contains(op, Py_None));
    key = PyFloat_FromDouble(1.0);
    show_code("equal", PySet_Contains(op, key));
    Py_DECREF(key);
    show_code("discard", PySet_Discard(op, Py_None));
    show_code("discard", PySet_Discard(op, one));
    show_code("discard", PySet_Discard(op, one));
    show("pop", PySet_Pop(op));
    PySet_Add(op, one);
    show("pop", PySet_Pop(op));
    say("%zd", PySet_Size(op));
    list = PyList_New(0);
    show_code("add a list", PySet_Add(op, list));
    show_code("contains a list", PySet_Contains(op, list));
    show_code("discard a list", PySet_Discard(op, list));
    say("size of a list: %d", PySet_Size(list) == -1 && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    for (i = 0; i < 1000; i++) {
        key = PyUnicode_FromFormat("%zd", i % 500);
        PySet_Add(op, key);
        Py_DECREF(key);
    }
    say("%zd", PySet_Size(op));
    for (i = 0; i < 500; i += 2) {
        key = PyUnicode_FromFormat("%zd", i);
        PySet_Discard(op, key);
        Py_DECREF(key);
    }
    key = PyUnicode_FromString("499");
    say("%zd %d", PySet_Size(op), PySet_Contains(op, key));
    Py_DECREF(key);
    for (i = 0; i < 5000; i++) {            /* few at a time, many in all */
        key = PyLong_FromSsize_t(i);
        PySet_Add(op, key);
        PySet_Discard(op, key);
        Py_DECREF(key);
    }
    for (i = 0; PySet_Size(op) > 0; i++) {
        key = PySet_Pop(op);
        Py_DECREF(key);
    }
    say("%zd", i);
    PySet_Add(op, one);
    show_code("clear", PySet_Clear(op));
    show("empty", Py_NewRef(op));
    show_code("update", _PySet_Update(op, list));
    Py_DECREF(list);
    show("from a number", PySet_New(one));
    say("%d %d %d", PySet_Check(op), PyFrozenSet_Check(op), PyAnySet_CheckExact(op));
    Py_DECREF(op);

    op = PyFrozenSet_New(NULL);
    show_code("fill", PySet_Add(op, one));
    show("frozen", Py_NewRef(op));
    Py_INCREF(op);
    say("of two owners: %d", PySet_Add(op, Py_None) < 0 && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    Py_DECREF(op);
    say("%d %d", PySet_Discard(op, one), PySet_Clear(op));
    PyErr_Clear();
    say("%d %d %d", PySet_Check(op), PyFrozenSet_Check(op), PyAnySet_Check(op));
    key = PyFrozenSet_New(op);
    say("the same: %d", key == op);
    Py_DECREF(key);
    Py_DECREF(op);
    Py_DECREF(one);
    op = of("hello");
    i = 0;
    {
        Py_ssize_t n = 0;
        Py_hash_t hash;
        while (_PySet_NextEntry(op, &i, &key, &hash))
            n += hash == PyObject_Hash(key);
        say("entries: %zd", n);
    }
    Py_DECREF(op);
}

/* ---- operators and methods ------------------------------------------------------------ */

static void two(PyObject *a, PyObject *b)
{
    static const char *const methods[] = {
        "union", "difference", "intersection", "symmetric_difference", "issubset", "issuperset", "isdisjoint"
    };
    int i;
    show_set("|", PyNumber_Or(a, b));
    show_set("&", PyNumber_And(a, b));
    show_set("-", PyNumber_Subtract(a, b));
    show_set("^", PyNumber_Xor(a, b));
    for (i = Py_LT; i <= Py_GE; i++)
        show("compared", PyObject_RichCompare(a, b, i));
    for (i = 0; i < 7; i++) {
        PyObject *result = PyObject_CallMethod(a, methods[i], "O", b);
        if (result != NULL && PyAnySet_Check(result))
            show_set(methods[i], result);
        else
            show(methods[i], result);
    }
}

static void changed(const char *what, PyObject *(*f)(PyObject *, PyObject *), PyObject *b)
{
    PyObject *a = of("abcd"), *result = f(a, b);
    say("%s itself: %d", what, result == a);
    if (result == NULL)
        show(what, NULL);
    Py_XDECREF(result);
    result = f(a, a);
    show_set("with itself", Py_NewRef(a));
    Py_XDECREF(result);
    Py_DECREF(a);
}

static void called(const char *name, PyObject *b)
{
    PyObject *a = of("abcd");
    show(name, PyObject_CallMethod(a, name, "O", b));
    show_set(name, Py_NewRef(a));
    show(name, PyObject_CallMethod(a, name, "O", a));
    show_set(name, a);
}

static void operators(void)
{
    PyObject *sets[6] = { of("abc"), of("bcd"), frozen("ab"), frozen(""), PyUnicode_FromString("cde"), Py_BuildValue("[[]]") }, *a;
    int i, k;
    say("operators");
    for (i = 0; i < 4; i++)
        for (k = 0; k < 6; k++)
            two(sets[i], sets[k]);
    changed("|=", PyNumber_InPlaceOr, sets[1]);
    changed("&=", PyNumber_InPlaceAnd, sets[1]);
    changed("-=", PyNumber_InPlaceSubtract, sets[1]);
    changed("^=", PyNumber_InPlaceXor, sets[1]);
    a = PyNumber_InPlaceOr(sets[2], sets[1]);
    say("frozen: %d", a != sets[2]);
    show_set("frozen", a);
    for (k = 1; k < 6; k++) {
        called("update", sets[k]);
        called("difference_update", sets[k]);
        called("intersection_update", sets[k]);
        called("symmetric_difference_update", sets[k]);
    }
    a = PyObject_CallMethod(sets[0], "union", "OO", sets[1], sets[4]);
    show_set("several", a);
    show_set("several", PyObject_CallMethod(sets[0], "intersection", "OO", sets[1], sets[4]));
    show_set("several", PyObject_CallMethod(sets[0], "difference", "OO", sets[3], sets[4]));
    show_set("none", PyObject_CallMethod(sets[0], "union", NULL));
    a = PyObject_CallMethod(sets[0], "copy", NULL);
    say("copy: %d", a != sets[0]);
    show_set("copy", a);
    a = PyObject_CallMethod(sets[2], "copy", NULL);
    say("copy of a frozenset: %d", a == sets[2]);
    Py_DECREF(a);
    for (i = 0; i < 6; i++)
        Py_DECREF(sets[i]);
}

static void methods_of_one(void)
{
    PyObject *op = of("a"), *inner = frozen("xy"), *set = of("yx"), *other = PySet_New(NULL), *it;
    say("methods");
    show("add", PyObject_CallMethod(op, "add", "i", 1));
    show("add", PyObject_CallMethod(op, "add", "[]"));
    show("remove", PyObject_CallMethod(op, "remove", "i", 1));
    show("remove", PyObject_CallMethod(op, "remove", "i", 1));
    show("discard", PyObject_CallMethod(op, "discard", "i", 1));
    show("discard", PyObject_CallMethod(op, "discard", "[]"));
    show("pop", PyObject_CallMethod(op, "pop", NULL));
    show("pop", PyObject_CallMethod(op, "pop", NULL));
    show("add", PyObject_CallMethod(op, "add", "O", inner));
    show("add a set", PyObject_CallMethod(op, "add", "O", set));
    show_code("a set is found", PySequence_Contains(op, set));
    show_code("by C it is not", PySet_Contains(op, set));
    show("a set that is not there", PyObject_CallMethod(op, "remove", "O", other));
    show("remove a set", PyObject_CallMethod(op, "remove", "O", set));
    say("%zd", PySet_Size(op));
    show("hash", PyLong_FromSsize_t(PyObject_Hash(op) == -1 && PyErr_Occurred() ? -1 : 0));
    PyErr_Clear();
    it = frozen("yx");
    say("equal: %d, of the same hash: %d", PyObject_RichCompareBool(it, inner, Py_EQ), PyObject_Hash(it) == PyObject_Hash(inner));
    Py_DECREF(it);
    say("equal: %d", PyObject_RichCompareBool(set, inner, Py_EQ));
    show_code("true", PyObject_IsTrue(set));
    show_code("true", PyObject_IsTrue(op));
    it = PyObject_GetIter(set);
    show_set("iterator", PySet_New(it));
    show("at its end", PyIter_Next(it) == NULL ? Py_NewRef(Py_None) : NULL);
    Py_DECREF(it);
    it = PyObject_GetIter(set);
    PySet_Add(set, Py_None);
    show("changed", PyIter_Next(it));
    PySet_Discard(set, Py_None);
    show("changed", PyIter_Next(it));
    Py_DECREF(it);
    show("clear", PyObject_CallMethod(set, "clear", NULL));
    show("empty", Py_NewRef(set));
    show("saved", PyObject_CallMethod(set, "__reduce__", NULL));
    show("two arguments", PyObject_CallFunction((PyObject *)&PySet_Type, "ii", 1, 2));
    show("a number", PyObject_CallFunction((PyObject *)&PyFrozenSet_Type, "i", 1));
    it = Py_BuildValue("{s:i}", "a", 1);
    {
        PyObject *none = PyTuple_New(0);
        show("keywords", PyObject_Call((PyObject *)&PySet_Type, none, it));
        show("keywords", PyObject_Call((PyObject *)&PyFrozenSet_Type, none, it));
        Py_DECREF(none);
    }
    show("of a dict", PySet_New(it));
    Py_DECREF(it);
    Py_DECREF(op);
    Py_DECREF(inner);
    Py_DECREF(set);
    Py_DECREF(other);
}

static void derived(void)
{
    PyObject *bases[2] = { (PyObject *)&PySet_Type, (PyObject *)&PyFrozenSet_Type }, *type, *op, *items = PyUnicode_FromString("z");
    int i;
    say("derived");
    for (i = 0; i < 2; i++) {
        type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Derived", bases[i]);
        op = PyObject_CallOneArg(type, items);
        show("op", Py_NewRef(op));
        show("attribute", PyLong_FromLong(PyObject_SetAttrString(op, "x", Py_None)));
        show("or", PyNumber_Or(op, op));
        show("copy", PyObject_CallMethod(op, "copy", NULL));
        say("%d %d", PyAnySet_Check(op), PyAnySet_CheckExact(op));
        Py_DECREF(op);
        show("empty", PyObject_CallNoArgs(type));
        Py_DECREF(type);
    }
    Py_DECREF(items);
}

/* ---- items that run code ------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    int number;
} Key;

static PyObject *target;                /* the set that is changed by a comparison */
static int comparisons, change;         /* in how many comparisons; 'a': add, 'c': clear, 'f': fail */

static Py_hash_t key_hash(PyObject *op)
{
    (void)op;
    return 7;
}

static PyObject *new_key(int number);

static PyObject *key_compare(PyObject *a, PyObject *b, int op)
{
    if (change != 0 && --comparisons == 0) {
        int how = change;
        change = 0;
        if (how == 'f')
            return PyErr_Format(PyExc_ValueError, "not compared");
        if (how == 'c') {
            PySet_Clear(target);
        } else {
            int i;
            for (i = 100; i < 120; i++) {
                PyObject *number = PyLong_FromLong(i);
                PySet_Add(target, number);
                Py_DECREF(number);
            }
        }
    }
    if (Py_TYPE(a) != Py_TYPE(b) || op != Py_EQ)
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(((Key *)a)->number == ((Key *)b)->number);
}

static void key_dealloc(PyObject *op)
{
    PyObject_Free(op);
}

static PyTypeObject Key_Type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "sets.Key", .tp_basicsize = sizeof(Key), .tp_dealloc = key_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_hash = key_hash, .tp_richcompare = key_compare
};

static PyObject *new_key(int number)
{
    Key *key = PyObject_New(Key, &Key_Type);
    if (key != NULL)
        key->number = number;
    return (PyObject *)key;
}

static void busy(const char *what, int how, int when, int wanted)
{
    PyObject *key = new_key(wanted);
    int i;
    target = PySet_New(NULL);
    for (i = 0; i < 5; i++) {
        PyObject *one = new_key(i);
        PySet_Add(target, one);
        Py_DECREF(one);
    }
    change = how;
    comparisons = when;
    show_code(what, PySet_Contains(target, key));
    say("%zd", PySet_Size(target));
    change = how;
    comparisons = when;
    show_code(what, PySet_Add(target, key));
    say("%zd", PySet_Size(target));
    change = how;
    comparisons = when;
    show_code(what, PySet_Discard(target, key));
    say("%zd", PySet_Size(target));
    change = 0;
    Py_CLEAR(target);
    Py_DECREF(key);
}

static void code(void)
{
    say("code");
    busy("added", 'a', 2, 9);
    busy("cleared", 'c', 3, 9);
    busy("failed", 'f', 1, 9);
    busy("nothing", 0, 0, 4);
}

/* ---- garbage --------------------------------------------------------------------------- */

static void garbage(void)
{
    PyObject *type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Node"), *op = PyObject_CallNoArgs(type), *set = PySet_New(NULL);
    PyObject *weak, *of_set;
    say("garbage");
    PySet_Add(set, op);
    PyObject_SetAttrString(op, "set", set);
    PyObject_SetAttrString(op, "frozen", (weak = PyFrozenSet_New(set)));
    Py_DECREF(weak);
    weak = PyWeakref_NewRef(op, NULL);
    of_set = PyWeakref_NewRef(set, NULL);
    Py_DECREF(set);
    Py_DECREF(op);
    say("%d %d", PyWeakref_GetObject(weak) != Py_None, PyWeakref_GetObject(of_set) != Py_None);
    say("%d", PyGC_Collect() > 0);
    say("%d %d", PyWeakref_GetObject(weak) != Py_None, PyWeakref_GetObject(of_set) != Py_None);
    Py_DECREF(weak);
    Py_DECREF(of_set);
    set = PySet_New(NULL);
    weak = PyWeakref_NewRef(set, NULL);
    op = PyObject_GetIter(set);
    Py_DECREF(set);
    say("%d", PyWeakref_GetObject(weak) == set);
    Py_DECREF(op);
    say("%d", PyWeakref_GetObject(weak) == Py_None);
    Py_DECREF(weak);
    op = PyObject_CallNoArgs(type);
    set = PySet_New(NULL);
    PySet_Add(set, op);
    PyObject_SetAttrString(op, "set", set);
    show_code("part of its own text", PyUnicode_Contains((weak = PyObject_Repr(set)), (of_set = PyUnicode_FromString("Node object"))));
    Py_DECREF(weak);
    Py_DECREF(of_set);
    Py_DECREF(set);
    Py_DECREF(op);
    Py_DECREF(type);
    PyGC_Collect();
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { basics, operators, methods_of_one, derived, code, garbage, NULL };
    (void)self, (void)none;
    return PyType_Ready(&Key_Type) < 0 ? NULL : say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "sets", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_sets(void)
{
    return PyModule_Create(&def);
}
