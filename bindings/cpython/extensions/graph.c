/* graph.c - a library of graphs: nodes, edges from node to node, and callbacks. For CPython, too.
 *
 *     a = Node(x)                         with any value; Node(): None
 *     a.connect(b), a.disconnect(b)       disconnect: was there such an edge?
 *     a.neighbours()                      a tuple, in the order in which they came
 *     a.value                             can be set
 *     a.on_visit(f)                       f is called as f(a, distance); None: no more
 *     a.walk()                            visits all that a leads to, the nearest first;
 *                                         gives their number. An exception in f ends it
 *
 * node_traverse visits what a node owns. No more is needed for rings of nodes to be collected, and
 * nodes whose callbacks or values mention them.
 */
#include <Python.h>

typedef struct {
    PyObject_HEAD
    PyObject *value, *on_visit;     /* owned; NULL: None */
    PyObject *edges;                /* a list of nodes */
    size_t walk;                    /* the number of the last walk that found it */
} node;

static PyTypeObject Node;
static size_t walks;

static PyObject *node_connect(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, &Node))
        return PyErr_Format(PyExc_TypeError, "connect: expected a Node, got %R", other);
    if (PyList_Append(((node *)self)->edges, other) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *node_disconnect(PyObject *self, PyObject *other)
{
    PyObject *edges = ((node *)self)->edges;
    Py_ssize_t i = 0, count = PyList_GET_SIZE(edges);
    while (i < count && PyList_GET_ITEM(edges, i) != other)
        i++;
    if (i < count && PySequence_DelItem(edges, i) < 0)
        return NULL;
    return PyBool_FromLong(i < count);
}

static PyObject *node_neighbours(PyObject *self, PyObject *Py_UNUSED(none))
{
    return PyList_AsTuple(((node *)self)->edges);
}

/* ---- walking --------------------------------------------------------------
 *
 * First the nodes are gathered in a list of stops, then they are visited: callbacks may
 * change the graph, walk over it or let go of it, and the walk goes on as it began. (Nothing
 * that gather does runs code of others.) A stop is what a callback gets: a node, its distance. */

static int add_stop(PyObject *stops, PyObject *op, Py_ssize_t distance)
{
    PyObject *stop;
    int code;
    if (((node *)op)->walk == walks)
        return 0;
    stop = Py_BuildValue("(On)", op, distance);
    code = stop != NULL ? PyList_Append(stops, stop) : -1;
    if (code == 0)
        ((node *)op)->walk = walks;
    Py_XDECREF(stop);
    return code;
}

static int gather(PyObject *stops, PyObject *start)
{
    Py_ssize_t done, i;
    int code;
    walks++;
    code = add_stop(stops, start, 0);
    for (done = 0; code == 0 && done < PyList_GET_SIZE(stops); done++) {
        PyObject *stop = PyList_GET_ITEM(stops, done), *edges = ((node *)PyTuple_GET_ITEM(stop, 0))->edges;
        Py_ssize_t distance = PyLong_AsSsize_t(PyTuple_GET_ITEM(stop, 1));
        for (i = 0; code == 0 && i < PyList_GET_SIZE(edges); i++)
            code = add_stop(stops, PyList_GET_ITEM(edges, i), distance + 1);
    }
    return code;
}

static PyObject *node_walk(PyObject *self, PyObject *Py_UNUSED(none))
{
    PyObject *stops = PyList_New(0), *result;
    int code = stops != NULL ? gather(stops, self) : -1;
    Py_ssize_t i, count = code == 0 ? PyList_GET_SIZE(stops) : 0;
    for (i = 0; code == 0 && i < count; i++) {
        PyObject *stop = PyList_GET_ITEM(stops, i), *f = ((node *)PyTuple_GET_ITEM(stop, 0))->on_visit;
        if (f == NULL)
            continue;
        Py_INCREF(f);                       /* it may take itself away */
        result = PyObject_CallObject(f, stop);
        code = result != NULL ? 0 : -1;
        Py_XDECREF(result);
        Py_DECREF(f);
    }
    Py_XDECREF(stops);
    return code == 0 ? PyLong_FromSsize_t(count) : NULL;
}

static PyObject *node_on_visit(PyObject *self, PyObject *f)
{
    if (f != Py_None && !PyCallable_Check(f))
        return PyErr_Format(PyExc_TypeError, "on_visit: expected a callable or None, got %R", f);
    Py_XSETREF(((node *)self)->on_visit, f != Py_None ? Py_NewRef(f) : NULL);
    Py_RETURN_NONE;
}

/* ---- the type -------------------------------------------------------------- */

static PyObject *get_value(PyObject *self, void *Py_UNUSED(closure))
{
    const node *a = (const node *)self;
    return Py_NewRef(a->value != NULL ? a->value : Py_None);
}

static int set_value(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    Py_XSETREF(((node *)self)->value, Py_XNewRef(value));
    return 0;
}

static PyObject *node_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    PyObject *self = type->tp_alloc(type, 0);       /* the arguments are for __init__: also that of a class based on it */
    if (self != NULL && (((node *)self)->edges = PyList_New(0)) == NULL)
        Py_CLEAR(self);
    return self;
}

static int node_init(PyObject *self, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *value = NULL;
    return PyArg_ParseTuple(args, "|O:Node", &value) ? set_value(self, value, NULL) : -1;
}

static int node_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((node *)self)->value);
    Py_VISIT(((node *)self)->on_visit);
    Py_VISIT(((node *)self)->edges);
    return 0;
}

static int node_clear(PyObject *self)
{
    Py_CLEAR(((node *)self)->value);
    Py_CLEAR(((node *)self)->on_visit);
    return 0;                               /* the list of edges has a tp_clear of its own */
}

static void node_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    node_clear(self);
    Py_XDECREF(((node *)self)->edges);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef node_methods[] = {
    { "connect", node_connect, METH_O, NULL }, { "disconnect", node_disconnect, METH_O, NULL },
    { "neighbours", node_neighbours, METH_NOARGS, NULL }, { "on_visit", node_on_visit, METH_O, NULL },
    { "walk", node_walk, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyGetSetDef node_getset[] = { { "value", get_value, set_value, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };
static PyTypeObject Node = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graph.Node", .tp_basicsize = sizeof(node), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_traverse = node_traverse, .tp_clear = node_clear, .tp_dealloc = node_dealloc, .tp_new = node_new,
    .tp_init = node_init, .tp_methods = node_methods, .tp_getset = node_getset
};

static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "graph", .m_size = -1 };

PyMODINIT_FUNC PyInit_graph(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddType(module, &Node) < 0)
        Py_CLEAR(module);
    return module;
}
