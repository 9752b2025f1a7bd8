/* cell.c - the cells that variables of closures are in. */
#include "internal.h"

#define REF(op) (((PyCellObject *)(void *)(op))->ob_ref)

PyObject *PyCell_New(PyObject *value)
{
    PyObject *op = _PyObject_GC_New(&PyCell_Type);
    if (op != NULL) {
        REF(op) = Py_XNewRef(value);
        PyObject_GC_Track(op);
    }
    return op;
}

static int check(PyObject *op)
{
    if (PyCell_Check(op))
        return 1;
    PyErr_BadInternalCall();
    return 0;
}

PyObject *PyCell_Get(PyObject *op) { return check(op) ? Py_XNewRef(REF(op)) : NULL; }

int PyCell_Set(PyObject *op, PyObject *value)
{
    if (!check(op))
        return -1;
    Py_XSETREF(REF(op), Py_XNewRef(value));
    return 0;
}

static void dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(REF(op));
    PyObject_GC_Del(op);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(REF(op));
    return 0;
}

static int clear(PyObject *op)
{
    Py_CLEAR(REF(op));
    return 0;
}

static PyObject *get_contents(PyObject *op, void *none)
{
    (void)none;
    return REF(op) != NULL ? Py_NewRef(REF(op)) : PyErr_Format(PyExc_ValueError, "Cell is empty");
}

static int set_contents(PyObject *op, PyObject *value, void *none)
{
    (void)none;
    return PyCell_Set(op, value);
}

/* An empty one comes first. */
static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    if (!PyCell_Check(a) || !PyCell_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    if (REF(a) != NULL && REF(b) != NULL)
        return PyObject_RichCompare(REF(a), REF(b), op);
    Py_RETURN_RICHCOMPARE(REF(a) != NULL, REF(b) != NULL, op);
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *value = NULL;
    (void)type, (void)kwargs;
    return PyArg_UnpackTuple(args, "cell", 0, 1, &value) ? PyCell_New(value) : NULL;
}

static PyGetSetDef getset[] = { { "cell_contents", get_contents, set_contents, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

PyTypeObject PyCell_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "cell", .tp_basicsize = sizeof(PyCellObject), .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = traverse, .tp_clear = clear, .tp_richcompare = richcompare,
    .tp_getset = getset, .tp_new = new
};
