/* speed.c - the same extension for CPython and for pvm: rows() measures what C code does with objects, in
 * nanoseconds for each, the best of several runs. */
#define _POSIX_C_SOURCE 200809L
#include <Python.h>

#include <time.h>

enum { N = 100000, RUNS = 5 };

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
    PyObject *list, *dict, *keys, *function, *object, *method_name, *attribute_name, *text;
} state;

#define ROW(name) static int name(state *s)
#define FAIL_IF(condition) if (condition) return -1
#define EACH int i; (void)s; for (i = 0; i < N; i++)

ROW(call_function) { EACH { PyObject *r = PyObject_CallNoArgs(s->function); FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }
ROW(call_method) { EACH { PyObject *r = PyObject_CallMethodObjArgs(s->object, s->method_name, NULL); FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }
ROW(get_attribute) { EACH { PyObject *r = PyObject_GetAttr(s->object, s->attribute_name); FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }
ROW(list_append) { PyObject *l = PyList_New(0); EACH FAIL_IF(PyList_Append(l, s->text) < 0); Py_DECREF(l); return 0; }
ROW(list_get) { EACH FAIL_IF(PyList_GetItem(s->list, i) == NULL); return 0; }
ROW(dict_set) { PyObject *d = PyDict_New(); EACH FAIL_IF(PyDict_SetItem(d, PyList_GET_ITEM(s->keys, i % 1000), s->text) < 0); Py_DECREF(d); return 0; }
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
ROW(int_new) { EACH { PyObject *r = PyLong_FromLong(1000 + i); FAIL_IF(r == NULL || PyLong_AsLong(r) != 1000 + i); Py_DECREF(r); } return 0; }
ROW(tuple_new) { EACH { PyObject *r = PyTuple_Pack(2, s->text, s->text); FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }
ROW(text_new) { EACH { PyObject *r = PyUnicode_FromString("twenty-four bytes of text"); FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }
ROW(object_new) { EACH { PyObject *r = new_cell(NULL); FAIL_IF(r == NULL); Py_DECREF(r); } return 0; }
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

static const struct { const char *name; int (*run)(state *); } all[] = {
    { "call a function of C", call_function }, { "call a method", call_method }, { "get a computed attribute", get_attribute },
    { "append to a list", list_append }, { "get an item of a list", list_get }, { "set an item of a dict", dict_set },
    { "get an item of a dict", dict_get }, { "walk over a dict", dict_next }, { "make and drop an int", int_new },
    { "make and drop a tuple", tuple_new }, { "make and drop a str", text_new }, { "make and drop an object", object_new },
    { "make and collect a cycle of two", cycles }
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static PyObject *nothing(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    Py_RETURN_NONE;
}

/* A text: "name|nanoseconds" in each line. */
static PyObject *rows(PyObject *self, PyObject *none)
{
    state s;
    char text[4000];
    size_t length = 0, i;
    int k;
    (void)none;
    s.list = PyList_New(0);
    s.keys = PyList_New(0);
    s.dict = PyDict_New();
    s.text = PyUnicode_FromString("text");
    s.object = new_cell(NULL);
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
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        double best = 0;
        for (k = 0; k < RUNS; k++) {
            double start = now(), time;
            if (all[i].run(&s) < 0)
                return NULL;
            time = (now() - start) / N;
            if (k == 0 || time < best)
                best = time;
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "%s|%.1f\n", all[i].name, best);
    }
    Py_DECREF(s.list);
    Py_DECREF(s.keys);
    Py_DECREF(s.dict);
    Py_DECREF(s.text);
    Py_DECREF(s.object);
    Py_DECREF(s.function);
    Py_DECREF(s.method_name);
    Py_DECREF(s.attribute_name);
    return PyUnicode_FromString(text);
}

static PyMethodDef methods[] = {
    { "nothing", nothing, METH_NOARGS, NULL }, { "rows", rows, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "speed", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_speed(void)
{
    return PyType_Ready(&Cell) < 0 ? NULL : PyModule_Create(&definition);
}
