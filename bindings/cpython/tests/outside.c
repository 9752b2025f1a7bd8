/* outside.c - the slot Py_tp_outside, in types from specs: wrappers of things that have counts of their own. A thing may
 * hold another one. The library takes and drops references without a word to anybody. */
#include "Python.h"

typedef struct thing {
    long count;
    struct thing *next;
    PyObject *wrapper;
} thing;

typedef struct {
    PyObject_HEAD
    thing *of;
} box;

#define THING(op) (((box *)(void *)(op))->of)

static long things;

static void thing_unref(thing *t)
{
    if (--t->count > 0)
        return;
    if (t->next != NULL)
        thing_unref(t->next);
    things--;
    PyMem_Free(t);
}

static void thing_set_next(thing *t, thing *next)
{
    thing *old = t->next;

    if (next != NULL)
        next->count++;
    t->next = next;
    if (old != NULL)
        thing_unref(old);
}

static PyObject *box_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op = type->tp_alloc(type, 0);
    (void)args, (void)kwargs;

    if (op == NULL)
        return NULL;
    THING(op) = (thing *)PyMem_Calloc(1, sizeof(thing));
    if (THING(op) == NULL) {
        Py_DECREF(op);
        return PyErr_NoMemory();
    }
    THING(op)->count = 1;
    THING(op)->wrapper = op;
    things++;
    return op;
}

static Py_ssize_t box_outside(PyObject *op)
{
    return THING(op) != NULL ? THING(op)->count - 1 : 0;
}

static int box_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    if (THING(op) != NULL && THING(op)->next != NULL)
        Py_VISIT(THING(op)->next->wrapper);
    return 0;
}

static int box_clear(PyObject *op)
{
    if (THING(op) != NULL)
        thing_set_next(THING(op), NULL);
    return 0;
}

static void box_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);

    PyObject_GC_UnTrack(op);
    if (THING(op) != NULL) {
        THING(op)->wrapper = NULL;
        thing_unref(THING(op));
    }
    type->tp_free(op);
    Py_DECREF(type);
}

/* box.set_next(box or None) */
static PyObject *box_set_next(PyObject *op, PyObject *next)
{
    thing_set_next(THING(op), next != Py_None ? THING(next) : NULL);
    Py_RETURN_NONE;
}

static PyMethodDef box_methods[] = { { "set_next", box_set_next, METH_O, NULL }, { NULL, NULL, 0, NULL } };

static PyType_Slot box_slots[] = {
    { Py_tp_new, (void *)box_new }, { Py_tp_traverse, (void *)box_traverse }, { Py_tp_clear, (void *)box_clear },
    { Py_tp_dealloc, (void *)box_dealloc }, { Py_tp_methods, box_methods },
#ifdef Py_tp_outside
    { Py_tp_outside, (void *)box_outside },
#endif
    { 0, NULL }
};
static PyType_Spec box_spec = { "outside.Box", sizeof(box), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                                box_slots };
static PyType_Slot no_slots[] = { { 0, NULL } };
static PyType_Spec small_spec = { "outside.Small", sizeof(box), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, no_slots };

static thing *held;                 /* the library holds it */

static PyObject *hold(PyObject *module, PyObject *op)
{
    thing *old = held;
    (void)module;

    held = op != Py_None ? THING(op) : NULL;
    if (held != NULL)
        held->count++;
    if (old != NULL)
        thing_unref(old);
    Py_RETURN_NONE;
}

static PyObject *get_held(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return Py_NewRef(held != NULL && held->wrapper != NULL ? held->wrapper : Py_None);
}

static PyObject *count_things(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromLong(things);
}

/* has_slot(type): is its Py_tp_outside that of Box? */
static PyObject *has_slot(PyObject *module, PyObject *type)
{
    (void)module;
    return PyBool_FromLong(PyType_GetSlot((PyTypeObject *)(void *)type, Py_tp_outside) == (void *)box_outside);
}

static PyMethodDef functions[] = { { "hold", hold, METH_O, NULL }, { "held", get_held, METH_NOARGS, NULL },
                                   { "things", count_things, METH_NOARGS, NULL }, { "has_slot", has_slot, METH_O, NULL },
                                   { NULL, NULL, 0, NULL } };
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "outside", NULL, -1, functions, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_outside(void)
{
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&box_spec), *small;

    if (module == NULL || type == NULL)
        return NULL;
    small = PyType_FromSpecWithBases(&small_spec, type);
    if (small == NULL || PyModule_AddObject(module, "Box", type) < 0 || PyModule_AddObject(module, "Small", small) < 0)
        return NULL;
    return module;
}
