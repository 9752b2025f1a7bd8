/* others.c - weak references and capsules. */
#include "internal.h"

/* ---- weak references -------------------------------------------------------------
 *
 * An object has a list of the references to it, where its type says. */

#define R(op) ((PyWeakReference *)(void *)(op))

static PyWeakReference **list_of(PyObject *op)
{
    Py_ssize_t offset = Py_TYPE(op)->tp_weaklistoffset;
    return offset > 0 ? (PyWeakReference **)(void *)((char *)op + offset) : NULL;
}

PyObject *PyWeakref_NewRef(PyObject *op, PyObject *callback)
{
    PyWeakReference **list, *r;
    PyObject *ref;
    if (!py_ready(op))
        return NULL;
    list = list_of(op);
    if (list == NULL)
        return PyErr_Format(PyExc_TypeError, "cannot create weak reference to '%s' object", Py_TYPE(op)->tp_name);
    if (callback == Py_None)
        callback = NULL;
    for (r = *list; callback == NULL && r != NULL; r = r->wr_next)
        if (r->wr_callback == NULL)
            return Py_NewRef(r);
    ref = _PyObject_GC_New(&_PyWeakref_RefType);
    if (ref == NULL)
        return NULL;
    r = R(ref);
    r->wr_object = op;
    r->wr_callback = Py_XNewRef(callback);
    r->hash = -1;
    r->wr_next = *list;
    if (r->wr_next != NULL)
        r->wr_next->wr_prev = r;
    *list = r;
    PyObject_GC_Track(ref);
    return ref;
}

static void unlink_ref(PyWeakReference *r)
{
    PyWeakReference **list = r->wr_object != NULL ? list_of(r->wr_object) : NULL;
    if (list == NULL)
        return;
    if (r->wr_prev != NULL)
        r->wr_prev->wr_next = r->wr_next;
    else
        *list = r->wr_next;
    if (r->wr_next != NULL)
        r->wr_next->wr_prev = r->wr_prev;
    r->wr_object = NULL;
    r->wr_prev = r->wr_next = NULL;
}

PyObject *PyWeakref_GetObject(PyObject *ref)
{
    PyObject *op = R(ref)->wr_object;
    return op != NULL && Py_REFCNT(op) >= 0 ? op : Py_None;
}

void PyObject_ClearWeakRefs(PyObject *op)
{
    PyWeakReference **list = list_of(op);
    PyObject *type, *value, *traceback;
    if (list == NULL || *list == NULL)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    while (*list != NULL) {
        PyWeakReference *r = *list;
        PyObject *callback = r->wr_callback, *result;
        Py_INCREF(r);
        unlink_ref(r);
        r->wr_callback = NULL;
        if (callback != NULL) {
            result = PyObject_CallOneArg(callback, (PyObject *)(void *)r);
            if (result == NULL)
                PyErr_WriteUnraisable(callback);
            Py_XDECREF(result);
            Py_DECREF(callback);
        }
        Py_DECREF(r);
    }
    PyErr_Restore(type, value, traceback);
}

static void ref_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    unlink_ref(R(op));
    Py_XDECREF(R(op)->wr_callback);
    Py_TYPE(op)->tp_free(op);
}

static int ref_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(R(op)->wr_callback);
    return 0;
}

static int ref_clear(PyObject *op)
{
    unlink_ref(R(op));
    Py_CLEAR(R(op)->wr_callback);
    return 0;
}

static PyObject *ref_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    return PyArg_ParseTuple(args, ":weakref") ? Py_NewRef(PyWeakref_GetObject(op)) : NULL;
}

static PyObject *ref_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op, *callback = NULL;
    (void)type, (void)kwargs;
    return PyArg_UnpackTuple(args, "ref", 1, 2, &op, &callback) ? PyWeakref_NewRef(op, callback) : NULL;
}

static int ref_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)op, (void)args, (void)kwargs;
    return 0;
}

static Py_hash_t ref_hash(PyObject *op)
{
    if (R(op)->hash == -1) {
        if (R(op)->wr_object == NULL) {
            PyErr_SetString(PyExc_TypeError, "weak object has gone away");
            return -1;
        }
        R(op)->hash = PyObject_Hash(R(op)->wr_object);
    }
    return R(op)->hash;
}

static PyObject *ref_richcompare(PyObject *a, PyObject *b, int op)
{
    if ((op != Py_EQ && op != Py_NE) || !PyWeakref_Check(a) || !PyWeakref_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    if (R(a)->wr_object == NULL || R(b)->wr_object == NULL)
        return PyBool_FromLong((a == b) == (op == Py_EQ));
    return PyObject_RichCompare(R(a)->wr_object, R(b)->wr_object, op);
}

PyTypeObject _PyWeakref_RefType = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "weakref", .tp_basicsize = sizeof(PyWeakReference),
    .tp_dealloc = ref_dealloc, .tp_hash = ref_hash, .tp_call = ref_call, .tp_richcompare = ref_richcompare,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = ref_traverse, .tp_clear = ref_clear,
    .tp_init = ref_init, .tp_new = ref_new
};

/* ---- capsules ---------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    void *pointer, *context;
    const char *name;
    PyCapsule_Destructor destructor;
} capsule;

#define C(op) ((capsule *)(void *)(op))

PyObject *PyCapsule_New(void *pointer, const char *name, PyCapsule_Destructor at_end)
{
    PyObject *op;
    if (pointer == NULL)
        return PyErr_Format(PyExc_ValueError, "PyCapsule_New called with null pointer");
    op = _PyObject_New(&PyCapsule_Type);
    if (op != NULL) {
        C(op)->pointer = pointer;
        C(op)->name = name;
        C(op)->destructor = at_end;
    }
    return op;
}

int PyCapsule_IsValid(PyObject *op, const char *name)
{
    return op != NULL && PyCapsule_CheckExact(op) && C(op)->pointer != NULL
        && (name == NULL || C(op)->name == NULL ? name == C(op)->name : strcmp(name, C(op)->name) == 0);
}

void *PyCapsule_GetPointer(PyObject *op, const char *name)
{
    if (PyCapsule_IsValid(op, name))
        return C(op)->pointer;
    PyErr_SetString(PyExc_ValueError, "PyCapsule_GetPointer called with incorrect name");
    return NULL;
}

const char *PyCapsule_GetName(PyObject *op) { return C(op)->name; }
void *PyCapsule_GetContext(PyObject *op) { return C(op)->context; }

int PyCapsule_SetContext(PyObject *op, void *context)
{
    C(op)->context = context;
    return 0;
}

int PyCapsule_SetPointer(PyObject *op, void *pointer)
{
    C(op)->pointer = pointer;
    return 0;
}

/* "package.module.attribute" */
void *PyCapsule_Import(const char *name, int no_block)
{
    const char *dot = strrchr(name, '.');
    char text[200];
    PyObject *module, *op;
    void *pointer;
    (void)no_block;
    if (dot == NULL || (size_t)(dot - name) >= sizeof text)
        return PyErr_Format(PyExc_ImportError, "PyCapsule_Import could not import \"%s\"", name);
    snprintf(text, sizeof text, "%.*s", (int)(dot - name), name);
    module = PyImport_ImportModule(text);
    op = module != NULL ? PyObject_GetAttrString(module, dot + 1) : NULL;
    pointer = op != NULL ? PyCapsule_GetPointer(op, name) : NULL;
    Py_XDECREF(op);
    Py_XDECREF(module);
    return pointer;
}

static void capsule_dealloc(PyObject *op)
{
    if (C(op)->destructor != NULL)
        C(op)->destructor(op);
    PyObject_Free(op);
}

PyTypeObject PyCapsule_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "PyCapsule", .tp_basicsize = sizeof(capsule), .tp_dealloc = capsule_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT
};

PyObject *Py_GenericAlias(PyObject *origin, PyObject *args)
{
    (void)args;
    return Py_NewRef(origin);           /* annotations mean nothing here */
}
