/* weak.c - an extension of our own: weak references to garbage and in it. It compiles for CPython as well, and says
 * the same there: weak.txt. */
#include <Python.h>
#include <structmember.h>

static char said[8192];                 /* a line for each thing that happened */
static size_t length;

static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(said + length, sizeof said - length, format, args);
    va_end(args);
    said[length++] = '\n';
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The order of what was said since is not defined. */
static void sort(size_t since)
{
    static char copy[sizeof said];
    char *lines[100], *at = copy;
    size_t n = 0, i;
    memcpy(copy, said + since, length - since);
    copy[length - since] = '\0';
    for (; *at != '\0'; at += strlen(at) + 1) {
        lines[n++] = at;
        *strchr(at, '\n') = '\0';
    }
    qsort(lines, n, sizeof *lines, compare);
    for (length = since, i = 0; i < n; i++)
        say("%s", lines[i]);
}

/* ---- nodes, and leaves, which do not take part in cyclic garbage ------------------- */

enum { PLAIN, LOOKS, SAVES, REFERS };   /* what a node's finalizer does */

typedef struct {
    PyObject_HEAD
    PyObject *next, *owned, *weakrefs;
    int finalizer;
    char name;
} node;
#define N(op) ((node *)(void *)(op))

typedef struct {
    PyObject_HEAD
    PyObject *weakrefs;
} leaf;

static PyObject *Node, *Leaf, *a_ref, *b_ref, *late, *saved;

static char look(PyObject *ref)
{
    PyObject *op = ref != NULL ? PyWeakref_GetObject(ref) : Py_None;
    return op == Py_None ? '-' : Py_TYPE(op) == (PyTypeObject *)Node ? N(op)->name : '*';
}

static void node_finalize(PyObject *op)
{
    if (N(op)->finalizer == PLAIN)
        return;
    say("finalizer of %c sees %c %c, and owns %c", N(op)->name, look(a_ref), look(b_ref),
        N(op)->owned != NULL && PyWeakref_Check(N(op)->owned) ? look(N(op)->owned) : '-');
    if (N(op)->finalizer == SAVES) {
        Py_INCREF(op);
        Py_XSETREF(saved, op);
    } else if (N(op)->finalizer == REFERS) {
        Py_XSETREF(late, PyWeakref_NewRef(op, NULL));
        say("a new reference of %c sees %c", N(op)->name, look(late));
    }
}

static int node_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(N(op)->next);
    Py_VISIT(N(op)->owned);
    Py_VISIT(Py_TYPE(op));
    return 0;
}

static int node_clear(PyObject *op)
{
    Py_CLEAR(N(op)->next);
    Py_CLEAR(N(op)->owned);
    return 0;
}

static void node_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (PyObject_CallFinalizerFromDealloc(op) < 0)
        return;
    PyObject_ClearWeakRefs(op);
    node_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static void leaf_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    say("a leaf goes, and sees %c %c", look(a_ref), look(b_ref));
    PyObject_ClearWeakRefs(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMemberDef node_members[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(node, weakrefs), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyType_Slot node_slots[] = {
    { Py_tp_dealloc, node_dealloc }, { Py_tp_traverse, node_traverse }, { Py_tp_clear, node_clear },
    { Py_tp_finalize, node_finalize }, { Py_tp_members, node_members }, { 0, NULL }
};
static PyType_Spec node_spec = { "weak.Node", sizeof(node), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, node_slots };
static PyMemberDef leaf_members[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(leaf, weakrefs), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyType_Slot leaf_slots[] = { { Py_tp_dealloc, leaf_dealloc }, { Py_tp_members, leaf_members }, { 0, NULL } };
static PyType_Spec leaf_spec = { "weak.Leaf", sizeof(leaf), 0, Py_TPFLAGS_DEFAULT, leaf_slots };

static PyObject *node_new(char name, int finalizer)
{
    node *op = PyObject_GC_New(node, (PyTypeObject *)Node);
    op->next = op->owned = op->weakrefs = NULL;
    op->finalizer = finalizer;
    op->name = name;
    PyObject_GC_Track((PyObject *)op);
    return (PyObject *)op;
}

static PyObject *leaf_new(void)
{
    leaf *op = PyObject_New(leaf, (PyTypeObject *)Leaf);
    op->weakrefs = NULL;
    return (PyObject *)op;
}

/* ---- callbacks: self is a text --------------------------------------------------- */

static PyObject *told(PyObject *self, PyObject *ref)
{
    PyObject *op = a_ref != NULL ? PyWeakref_GetObject(a_ref) : Py_None;
    if (op == Py_None)
        op = b_ref != NULL ? PyWeakref_GetObject(b_ref) : Py_None;
    if (op != Py_None)
        Py_XSETREF(saved, Py_NewRef(op));
    say("callback of %s sees %c %c, its own is %c", PyUnicode_AsUTF8(self), look(a_ref), look(b_ref), look(ref));
    Py_RETURN_NONE;
}

static PyMethodDef told_def = { "told", told, METH_O, NULL };

static PyObject *ref_new(PyObject *op, const char *text)
{
    PyObject *self = PyUnicode_FromString(text), *callback = PyCFunction_New(&told_def, self);
    PyObject *ref = PyWeakref_NewRef(op, callback);
    Py_DECREF(self);
    Py_DECREF(callback);
    return ref;
}

/* ---- what happens ------------------------------------------------------------------ */

static size_t begin(const char *title)
{
    say("%s", title);
    return length;
}

/* a and b of a cycle; the caller owns both. */
static void cycle(PyObject **a, PyObject **b, const char *names, int finalizer)
{
    *a = node_new(names[0], finalizer);
    *b = node_new(names[1], PLAIN);
    N(*a)->next = Py_NewRef(*b);
    N(*b)->next = Py_NewRef(*a);
}

static void end(void)
{
    Py_CLEAR(a_ref);
    Py_CLEAR(b_ref);
    Py_CLEAR(late);
    if (saved != NULL)
        say("%c was saved, and has %c", N(saved)->name, N(saved)->next != NULL ? N(N(saved)->next)->name : '-');
    Py_CLEAR(saved);
    PyGC_Collect();
}

static void drop(PyObject *a, PyObject *b)
{
    Py_XDECREF(a);
    Py_XDECREF(b);
    PyGC_Collect();
}

/* A cycle with references from outside to both; with its finalizer. */
static void outside(const char *title, int finalizer)
{
    PyObject *a, *b;
    size_t since = begin(title);
    cycle(&a, &b, "ab", finalizer);
    a_ref = ref_new(a, "a");
    b_ref = ref_new(b, "b");
    drop(a, b);
    if (finalizer == PLAIN)
        sort(since);
    say("later: %c %c %c", look(a_ref), look(b_ref), look(late));
    end();
}

static void inside(void)
{
    PyObject *a, *b;
    begin("references that are garbage");
    cycle(&a, &b, "ab", PLAIN);
    N(a)->owned = ref_new(a, "own");
    N(b)->owned = ref_new(a, "other");
    a_ref = PyWeakref_NewRef(a, NULL);
    drop(a, b);
    say("later: %c", look(a_ref));
    end();
}

/* What is in garbage is dead, even if what it refers to lives. */
static void inside_to_living(void)
{
    PyObject *a, *b, *c = node_new('c', PLAIN);
    begin("a reference that is garbage, to a living object");
    cycle(&a, &b, "ab", SAVES);
    N(a)->owned = ref_new(c, "c");
    drop(a, b);
    say("saved: %c", saved != NULL ? look(N(saved)->owned) : '?');
    drop(c, NULL);
    end();
}

static void leaves(void)
{
    PyObject *a, *b, *x = leaf_new(), *outer;
    begin("a leaf of garbage, with a reference from there, and one from outside");
    cycle(&a, &b, "ab", PLAIN);
    a_ref = PyWeakref_NewRef(a, NULL);
    b_ref = PyWeakref_NewRef(b, NULL);
    outer = ref_new(x, "the leaf");
    N(a)->owned = x;
    N(b)->owned = ref_new(x, "the leaf, from garbage");
    drop(a, b);
    say("later: %c", look(outer));
    Py_DECREF(outer);
    end();
}

static void two_cycles(void)
{
    PyObject *a, *b, *c, *d;
    size_t since = begin("two cycles");
    cycle(&a, &b, "ab", LOOKS);
    cycle(&c, &d, "cd", LOOKS);
    a_ref = ref_new(a, "a");
    b_ref = ref_new(c, "c");
    Py_DECREF(c);
    Py_DECREF(d);
    drop(a, b);
    sort(since);
    end();
}

static void several(void)
{
    PyObject *a = node_new('a', PLAIN), *second, *third;
    begin("an object that goes at once, with several references");
    a_ref = ref_new(a, "first");
    second = ref_new(a, "second");
    third = ref_new(a, "third");
    b_ref = PyWeakref_NewRef(a, NULL);
    Py_DECREF(third);                   /* a reference that is gone has no callback */
    Py_DECREF(a);
    say("later: %c %c %c", look(a_ref), look(b_ref), look(second));
    Py_DECREF(second);
    end();
}

static void dead_references(void)
{
    PyObject *a = node_new('a', PLAIN), *x, *y, *z;
    begin("dead references");
    x = PyWeakref_NewRef(a, NULL);
    y = ref_new(a, "a");
    z = PyWeakref_NewRef(a, NULL);
    say("one object, one reference: %d", x == z);
    Py_DECREF(z);
    say("equal: %d", PyObject_RichCompareBool(x, y, Py_EQ));
    say("hash: %d", PyObject_Hash(x) == PyObject_Hash(a));
    Py_DECREF(a);
    say("equal: %d", PyObject_RichCompareBool(x, y, Py_EQ));
    say("hash: %d", PyObject_Hash(y) == -1 && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    say("hash of one that was asked before: %d", PyObject_Hash(x) != -1);
    Py_DECREF(x);
    Py_DECREF(y);
    end();
}

static PyObject *run(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    length = 0;
    outside("a cycle with references from outside", PLAIN);
    outside("and a finalizer", LOOKS);
    outside("and a finalizer that saves", SAVES);
    outside("and a finalizer that makes a reference", REFERS);
    inside();
    inside_to_living();
    leaves();
    two_cycles();
    several();
    dead_references();
    return PyErr_Occurred() ? NULL : PyUnicode_FromStringAndSize(said, (Py_ssize_t)length);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "weak", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_weak(void)
{
    Node = PyType_FromSpec(&node_spec);
    Leaf = PyType_FromSpec(&leaf_spec);
    return Node != NULL && Leaf != NULL ? PyModule_Create(&def) : NULL;
}
