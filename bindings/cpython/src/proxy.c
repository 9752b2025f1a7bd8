/* proxy.c - mappingproxy: a mapping that shows another one, and cannot change it. */
#include "internal.h"

typedef struct {
    PyObject_HEAD
    PyObject *mapping;
} proxy;

#define MAP(op) (((proxy *)(void *)(op))->mapping)

PyObject *PyDictProxy_New(PyObject *mapping)
{
    PyObject *op;
    if (!PyMapping_Check(mapping) || PyList_Check(mapping) || PyTuple_Check(mapping))
        return PyErr_Format(PyExc_TypeError, "mappingproxy() argument must be a mapping, not %s", Py_TYPE(mapping)->tp_name);
    op = _PyObject_GC_New(&PyDictProxy_Type);
    if (op != NULL) {
        MAP(op) = Py_NewRef(mapping);
        PyObject_GC_Track(op);
    }
    return op;
}

static PyObject *proxy_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { (char *)(uintptr_t)"mapping", NULL };
    PyObject *mapping;
    (void)type;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O:mappingproxy", names, &mapping) ? PyDictProxy_New(mapping) : NULL;
}

static void dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(MAP(op));
    PyObject_GC_Del(op);
}

/* (There is no tp_clear, as in CPython: the mapping has one.) */
static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(MAP(op));
    return 0;
}

static Py_ssize_t length(PyObject *op) { return PyObject_Size(MAP(op)); }
static PyObject *subscript(PyObject *op, PyObject *key) { return PyObject_GetItem(MAP(op), key); }
static int contains(PyObject *op, PyObject *key) { return PySequence_Contains(MAP(op), key); }
static PyObject *iter(PyObject *op) { return PyObject_GetIter(MAP(op)); }
static PyObject *repr(PyObject *op) { return PyUnicode_FromFormat("mappingproxy(%R)", MAP(op)); }
static PyObject *str(PyObject *op) { return PyObject_Str(MAP(op)); }
static PyObject *richcompare(PyObject *a, PyObject *b, int op) { return PyObject_RichCompare(MAP(a), b, op); }

static PyObject *or(PyObject *a, PyObject *b)
{
    return PyNumber_Or(Py_IS_TYPE(a, &PyDictProxy_Type) ? MAP(a) : a, Py_IS_TYPE(b, &PyDictProxy_Type) ? MAP(b) : b);
}

static PyObject *or_in_place(PyObject *a, PyObject *b)
{
    (void)b;
    return PyErr_Format(PyExc_TypeError, "'|=' is not supported by %s; use '|' instead", Py_TYPE(a)->tp_name);
}

static PyObject *get(PyObject *op, PyObject *args)
{
    PyObject *key, *otherwise = Py_None;
    return PyArg_UnpackTuple(args, "get", 1, 2, &key, &otherwise) ? PyObject_CallMethod(MAP(op), "get", "(OO)", key, otherwise) : NULL;
}

#define FORWARD(name) static PyObject *name(PyObject *op, PyObject *none) { (void)none; return PyObject_CallMethod(MAP(op), #name, NULL); }
FORWARD(keys)
FORWARD(values)
FORWARD(items)
FORWARD(copy)
FORWARD(__reversed__)

#define NOARGS(name) { #name, name, METH_NOARGS, NULL }
static PyMethodDef methods[] = {
    { "get", get, METH_VARARGS, NULL }, NOARGS(keys), NOARGS(values), NOARGS(items), NOARGS(copy), NOARGS(__reversed__),
    { NULL, NULL, 0, NULL }
};
static PyNumberMethods as_number = { .nb_or = or, .nb_inplace_or = or_in_place };
static PySequenceMethods as_sequence = { .sq_contains = contains };
static PyMappingMethods as_mapping = { .mp_length = length, .mp_subscript = subscript };

PyTypeObject PyDictProxy_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "mappingproxy", .tp_basicsize = sizeof(proxy), .tp_dealloc = dealloc,
    .tp_repr = repr, .tp_str = str, .tp_as_number = &as_number, .tp_as_sequence = &as_sequence, .tp_as_mapping = &as_mapping,
    .tp_hash = PyObject_HashNotImplemented, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_MAPPING, .tp_traverse = traverse,
    .tp_richcompare = richcompare, .tp_iter = iter, .tp_methods = methods, .tp_new = proxy_new
};
