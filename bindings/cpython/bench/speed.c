/* speed.c - the same extension for CPython and for pvm: run() does N times each what C code does with objects.
 * Each row is a function whose name begins with row_, so that callgrind can count its instructions: see run.sh, which
 * defines N. */
#include <Python.h>

typedef struct {
    PyObject_HEAD
    PyObject *other;
} cell;

static int cell_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((cell *)op)->other);
    return 0;
}

static int cell_clear(PyObject *op)
{
    Py_CLEAR(((cell *)op)->other);
    return 0;
}

static void cell_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    cell_clear(op);
    PyObject_GC_Del(op);
}

static PyObject *cell_method(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    Py_RETURN_NONE;
}

static PyObject *cell_get(PyObject *self, void *closure)
{
    (void)self, (void)closure;
    Py_RETURN_NONE;
}

static PyMethodDef cell_methods[] = { { "method", cell_method, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static PyGetSetDef cell_getset[] = { { "computed", cell_get, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

static PyTypeObject Cell = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "speed.Cell", .tp_basicsize = sizeof(cell), .tp_dealloc = cell_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = cell_traverse, .tp_clear = cell_clear,
    .tp_methods = cell_methods, .tp_getset = cell_getset, .tp_new = PyType_GenericNew
};

static PyObject *new_cell(PyObject *other)
{
    cell *c = PyObject_GC_New(cell, &Cell);
    if (c == NULL)
        return NULL;
    c->other = other;
    Py_XINCREF(other);
    PyObject_GC_Track(c);
    return (PyObject *)c;
}

/* What the rows work on. */
typedef struct state {
    PyObject *list, *dict, *keys, *function, *object, *type, *method_name, *attribute_name, *text;
} state;

#define ROW(name) __attribute__((noinline)) int row_##name(const state *s); int row_##name(const state *s)
#define FAIL_IF(condition) if (condition) return -1
#define EACH int i; (void)s; for (i = 0; i < N; i++)
#define MAKE_AND_DROP(expression) { EACH { PyObject *r = expression; FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }

ROW(function) MAKE_AND_DROP(PyObject_CallNoArgs(s->function))
ROW(method) MAKE_AND_DROP(PyObject_CallMethodObjArgs(s->object, s->method_name, NULL))
ROW(attribute) MAKE_AND_DROP(PyObject_GetAttr(s->object, s->attribute_name))
ROW(list_append)
{
    PyObject *l = PyList_New(0);
    EACH FAIL_IF(PyList_Append(l, s->text) < 0);
    Py_DECREF(l);
    return 0;
}
ROW(list_get) { EACH FAIL_IF(PyList_GetItem(s->list, i) == NULL); return 0; }
ROW(dict_set)
{
    PyObject *d = PyDict_New();
    EACH FAIL_IF(PyDict_SetItem(d, PyList_GET_ITEM(s->keys, i % 1000), s->text) < 0);
    Py_DECREF(d);
    return 0;
}
ROW(dict_get) { EACH FAIL_IF(PyDict_GetItem(s->dict, PyList_GET_ITEM(s->keys, i % 1000)) == NULL); return 0; }
ROW(dict_next)
{
    PyObject *key, *value;
    int i;
    for (i = 0; i < N / 1000; i++) {
        Py_ssize_t at = 0;
        while (PyDict_Next(s->dict, &at, &key, &value))
            ;
    }
    return 0;
}
ROW(int) MAKE_AND_DROP(PyLong_FromLong(1000 + i))
ROW(float) MAKE_AND_DROP(PyFloat_FromDouble(i))
ROW(tuple) MAKE_AND_DROP(PyTuple_Pack(2, s->text, s->text))
ROW(build) MAKE_AND_DROP(Py_BuildValue("(is)", 1000 + i, "text"))
ROW(text) MAKE_AND_DROP(PyUnicode_FromString("twenty-four bytes of text"))
ROW(object) MAKE_AND_DROP(new_cell(NULL))
ROW(instance) MAKE_AND_DROP(PyObject_CallNoArgs(s->type))
ROW(cycles)
{
    EACH {
        PyObject *a = new_cell(NULL), *b = a != NULL ? new_cell(a) : NULL;
        FAIL_IF(b == NULL);
        ((cell *)a)->other = b;         /* the reference goes over */
        Py_DECREF(a);
    }
    PyGC_Collect();
    return 0;
}

static PyObject *nothing(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    Py_RETURN_NONE;
}

static PyObject *run(PyObject *self, PyObject *none)
{
    state s;
    int k;
    (void)none;
    s.list = PyList_New(0);
    s.keys = PyList_New(0);
    s.dict = PyDict_New();
    s.text = PyUnicode_FromString("text");
    s.object = new_cell(NULL);
    s.type = (PyObject *)&Cell;
    s.function = PyObject_GetAttrString(self, "nothing");
    s.method_name = PyUnicode_InternFromString("method");
    s.attribute_name = PyUnicode_InternFromString("computed");
    for (k = 0; k < N; k++)
        if (PyList_Append(s.list, s.text) < 0)
            return NULL;
    for (k = 0; k < 1000; k++) {
        PyObject *key = PyUnicode_FromFormat("key %d", k);
        if (key == NULL || PyList_Append(s.keys, key) < 0 || PyDict_SetItem(s.dict, key, s.text) < 0)
            return NULL;
        Py_DECREF(key);
    }
    if (row_function(&s) < 0 || row_method(&s) < 0 || row_attribute(&s) < 0 || row_list_append(&s) < 0
        || row_list_get(&s) < 0 || row_dict_set(&s) < 0 || row_dict_get(&s) < 0 || row_dict_next(&s) < 0
        || row_int(&s) < 0 || row_float(&s) < 0 || row_tuple(&s) < 0 || row_build(&s) < 0 || row_text(&s) < 0
        || row_object(&s) < 0 || row_instance(&s) < 0 || row_cycles(&s) < 0)
        return NULL;
    Py_DECREF(s.list);
    Py_DECREF(s.keys);
    Py_DECREF(s.dict);
    Py_DECREF(s.text);
    Py_DECREF(s.object);
    Py_DECREF(s.function);
    Py_DECREF(s.method_name);
    Py_DECREF(s.attribute_name);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "nothing", nothing, METH_NOARGS, NULL }, { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "speed", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_speed(void)
{
    return PyType_Ready(&Cell) < 0 ? NULL : PyModule_Create(&definition);
}
