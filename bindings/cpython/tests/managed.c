/* managed.c - an extension of our own: types whose dict and weak references the VM places, types that add fields to
 * those of a base that they do not know, and what a tp_traverse may call. */
#include <Python.h>
#include <structmember.h>

static long freed;

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            return PyErr_Format(PyExc_AssertionError, "line %d: %s", __LINE__, #condition); \
    } while (0)

/* ---- a dict and weak references that the VM places --------------------------------- */

typedef struct {
    PyObject_HEAD
    long number;
} thing;

static int thing_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    return PyObject_VisitManagedDict(op, visit, arg);
}

static int thing_clear(PyObject *op)
{
    PyObject_ClearManagedDict(op);
    return 0;
}

static void thing_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    PyObject_ClearManagedDict(op);
    if (((thing *)op)->number != 7)
        Py_FatalError("a thing: its number was overwritten");
    freed++;
    type->tp_free(op);
    Py_DECREF(type);
}

static int thing_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    ((thing *)op)->number = 7;
    return 0;
}

static PyGetSetDef thing_getset[] = {
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};
static PyMemberDef thing_members[] = {
    { "number", T_LONG, offsetof(thing, number), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyType_Slot thing_slots[] = {
    { Py_tp_dealloc, thing_dealloc }, { Py_tp_traverse, thing_traverse }, { Py_tp_clear, thing_clear }, { Py_tp_init, thing_init },
    { Py_tp_getset, thing_getset }, { Py_tp_members, thing_members }, { Py_tp_token, Py_TP_USE_SPEC }, { 0, NULL }
};
static PyType_Spec thing_spec = {
    "managed.Thing", sizeof(thing), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_MANAGED_DICT | Py_TPFLAGS_MANAGED_WEAKREF, thing_slots
};

/* A type of C on it has its own fields just behind those of the base. */
typedef struct {
    thing base;
    long more[3];
} big;

static int big_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    big *b = (big *)op;
    b->more[0] = b->more[1] = b->more[2] = -1;
    return thing_init(op, args, kwargs);
}

static PyMemberDef big_members[] = {
    { "first", T_LONG, offsetof(big, more), 0, NULL }, { "last", T_LONG, offsetof(big, more[2]), 0, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyType_Slot big_slots[] = {
    { Py_tp_init, big_init }, { Py_tp_members, big_members }, { Py_tp_traverse, thing_traverse }, { Py_tp_clear, thing_clear },
    { Py_tp_dealloc, thing_dealloc }, { 0, NULL }
};
static PyType_Spec big_spec = {
    "managed.Big", sizeof(big), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, big_slots
};

/* ---- fields behind those of any base ---------------------------------------------------- */

typedef struct {
    PyObject *owned;
    long number;
} data;

static PyType_Spec tail_spec;

static data *tail_data(PyObject *op)
{
    PyTypeObject *type;
    return PyType_GetBaseByToken_DuringGC(Py_TYPE(op), &tail_spec, &type) ? PyObject_GetTypeData_DuringGC(op, type) : NULL;
}

static int tail_traverse(PyObject *op, visitproc visit, void *arg)
{
    PyTypeObject *type;
    PyObject *module = PyType_GetModule_DuringGC(Py_TYPE(op));
    void *token;
    if (module != NULL && (PyModule_GetToken_DuringGC(module, &token) < 0 || token == NULL
                           || PyType_GetModuleByToken_DuringGC(Py_TYPE(op), token) != module
                           || PyType_GetModuleState_DuringGC(Py_TYPE(op)) != PyModule_GetState_DuringGC(module)))
        Py_FatalError("a tail: its module is not what it was");
    PyType_GetBaseByToken_DuringGC(Py_TYPE(op), &tail_spec, &type);
    Py_VISIT(((data *)PyObject_GetTypeData_DuringGC(op, type))->owned);
    Py_VISIT(Py_TYPE(op));
    return PyList_Type.tp_traverse(op, visit, arg);
}

static int tail_clear(PyObject *op)
{
    Py_CLEAR(tail_data(op)->owned);
    return PyList_Type.tp_clear(op);
}

static void tail_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Py_CLEAR(tail_data(op)->owned);
    freed++;
    PyList_Type.tp_dealloc(op);
    Py_DECREF(type);
}

static PyMemberDef tail_members[] = {
    { "owned", T_OBJECT, offsetof(data, owned), Py_RELATIVE_OFFSET, NULL },
    { "number", T_LONG, offsetof(data, number), Py_RELATIVE_OFFSET, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyType_Slot tail_slots[] = {
    { Py_tp_dealloc, tail_dealloc }, { Py_tp_traverse, tail_traverse }, { Py_tp_clear, tail_clear }, { Py_tp_members, tail_members },
    { Py_tp_token, &tail_spec }, { 0, NULL }
};
static PyType_Spec tail_spec = {
    "managed.Tail", -(int)sizeof(data), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tail_slots
};

/* ---- items at the end ---------------------------------------------------------------------- */

static PyType_Slot row_slots[] = { { 0, NULL } };
static PyType_Spec row_spec = {
    "managed.Row", sizeof(PyVarObject), sizeof(long), Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_ITEMS_AT_END, row_slots
};
static PyType_Spec longer_spec = { "managed.Longer", -(int)sizeof(data), 0, Py_TPFLAGS_DEFAULT, row_slots };

static PyObject *items(PyObject *self, PyObject *none)
{
    PyObject *row = PyType_FromSpec(&row_spec), *longer, *op, *list;
    long *at;
    int i;
    (void)self, (void)none;
    CHECK(row != NULL);
    longer = PyType_FromSpecWithBases(&longer_spec, row);
    CHECK(longer != NULL);
    op = ((PyTypeObject *)longer)->tp_alloc((PyTypeObject *)longer, 10);
    CHECK(op != NULL && Py_SIZE(op) == 10);
    CHECK(PyType_GetTypeDataSize((PyTypeObject *)longer) >= (Py_ssize_t)sizeof(data));
    ((data *)PyObject_GetTypeData(op, (PyTypeObject *)longer))->number = 5;
    at = PyObject_GetItemData(op);
    CHECK(at != NULL && at == PyObject_GetItemData_DuringGC(op));
    CHECK((char *)at >= (char *)PyObject_GetTypeData(op, (PyTypeObject *)longer) + sizeof(data));
    for (i = 0; i < 10; i++)
        at[i] = -1;
    CHECK(((data *)PyObject_GetTypeData(op, (PyTypeObject *)longer))->number == 5);
    Py_DECREF(op);
    list = PyList_New(0);
    CHECK(PyObject_GetItemData_DuringGC(list) == NULL && !PyErr_Occurred());
    CHECK(PyObject_GetItemData(list) == NULL && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    Py_DECREF(list);
    CHECK(PyType_FromSpecWithBases(&longer_spec, (PyObject *)&PyTuple_Type) == NULL && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    row_spec.flags |= Py_TPFLAGS_MANAGED_DICT;
    CHECK(PyType_FromSpec(&row_spec) == NULL && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    row_spec.flags &= ~(unsigned)Py_TPFLAGS_MANAGED_DICT;
    Py_DECREF(longer);
    Py_DECREF(row);
    Py_RETURN_NONE;
}

/* ---- tokens ----------------------------------------------------------------------------------- */

static int own_token;

static PyObject *tokens(PyObject *self, PyObject *type)
{
    PyTypeObject *found = NULL;
    PyObject *module;
    void *token;
    CHECK(PyType_GetBaseByToken((PyTypeObject *)type, &thing_spec, &found) == 1 && found->tp_token == &thing_spec);
    Py_DECREF(found);
    CHECK(PyType_GetBaseByToken((PyTypeObject *)type, &thing_spec, NULL) == 1);
    CHECK(PyType_GetBaseByToken((PyTypeObject *)type, &tail_spec, &found) == 0 && found == NULL);
    CHECK(PyType_GetBaseByToken((PyTypeObject *)type, NULL, &found) == -1 && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    CHECK(PyType_GetBaseByToken_DuringGC((PyTypeObject *)type, NULL, &found) == 0 && !PyErr_Occurred());
    CHECK(PyModule_GetToken(self, &token) == 0 && token == &own_token);
    CHECK(PyModule_GetToken(Py_None, &token) == -1 && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    module = PyType_GetModuleByToken((PyTypeObject *)type, &own_token);
    CHECK(module == self);
    Py_DECREF(module);
    CHECK(PyType_GetModuleByToken((PyTypeObject *)type, &tail_spec) == NULL && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    CHECK(PyType_GetModuleByToken_DuringGC((PyTypeObject *)type, &tail_spec) == NULL && !PyErr_Occurred());
    CHECK(PyType_GetModule_DuringGC(&PyLong_Type) == NULL && PyType_GetModuleState_DuringGC(&PyLong_Type) == NULL && !PyErr_Occurred());
    Py_RETURN_NONE;
}

static PyObject *count(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyLong_FromLong(freed);
}

/* ---- the module --------------------------------------------------------------------------------- */

static int add(PyObject *module, PyType_Spec *spec, PyObject *base, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, base);
    int code = PyModule_AddObjectRef(module, name, type);
    Py_XDECREF(type);
    return code;
}

static int fill(PyObject *module)
{
    PyObject *thing_type;
    int code = add(module, &thing_spec, NULL, "Thing");
    if (code < 0)
        return code;
    thing_type = PyObject_GetAttrString(module, "Thing");
    code = add(module, &big_spec, thing_type, "Big");
    Py_DECREF(thing_type);
    return code < 0 ? code : add(module, &tail_spec, (PyObject *)&PyList_Type, "Tail");
}

static PyMethodDef methods[] = {
    { "items", items, METH_NOARGS, NULL }, { "tokens", tokens, METH_O, NULL }, { "freed", count, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyModuleDef_Slot slots[] = { { Py_mod_exec, fill }, { Py_mod_token, &own_token }, { 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "managed", NULL, 8, methods, slots, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_managed(void)
{
    return PyModuleDef_Init(&def);
}
