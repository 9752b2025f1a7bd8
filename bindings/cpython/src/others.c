/* others.c - weak references and capsules. */
#include "internal.h"

/* ---- weak references -------------------------------------------------------------
 *
 * An object has a list of the references to it, where its type says. Static objects never go, and have none.
 *
 * When a collection has found garbage, all weak references to it and in it are dead, as in CPython: no program gets
 * hold of garbage by one, and the callback of one that is garbage is never called. The header calls
 * tp_clear_weakrefs for one object after the other, and other code may run in between. So a reference is dead as soon
 * as its object waits as garbage. Only what a finalizer makes of a waiting object lives until the next collection. */

#define R(op) ((PyWeakReference *)(void *)(op))

static PyWeakReference **list_of(PyObject *op)
{
    Py_ssize_t offset = Py_TYPE(op)->tp_weaklistoffset;
    return offset > 0 && op->ob_refcnt < RRC_REFCNT_IMMORTAL ? (PyWeakReference **)(void *)((char *)op + offset) : NULL;
}

/* Has a collection found op unreachable, so that it waits for its finalizer, or to be cleared? */
static int is_garbage(PyObject *op)
{
    rrc_heap *heap = py_vm->rrc;
    rrc_info info;
    int found;
    if (!PyObject_GC_IsTracked(op) || rrc_inspect_begin(heap, __func__) != RRC_OK)
        return 0;
    found = rrc_inspect(heap, _Py_RRC(op), &info) == RRC_OK && (info.is & RRC_IS_WAITING) != 0;
    rrc_inspect_end(heap);
    return found;
}

/* Collections so far. */
static size_t now(void)
{
    return py_vm->heap.majors;
}

/* The object, borrowed; NULL: it has gone, or goes. */
static PyObject *target(const PyWeakReference *r)
{
    PyObject *op = r->wr_object;
    if (op == NULL || op->ob_refcnt == 0 || is_garbage(_PyObject_CAST(r)) || py_is_gone(py_vm, _Py_RRC(op)))
        return NULL;
    return is_garbage(op) && r->made_for != now() ? NULL : op;
}

static void unlink_ref(PyWeakReference *r)
{
    PyWeakReference **list = r->wr_object != NULL ? list_of(r->wr_object) : NULL;
    r->wr_object = NULL;
    if (list == NULL)
        return;
    if (r->wr_prev != NULL)
        r->wr_prev->wr_next = r->wr_next;
    else
        *list = r->wr_next;
    if (r->wr_next != NULL)
        r->wr_next->wr_prev = r->wr_prev;
    r->wr_prev = r->wr_next = NULL;
}

/* The object goes. The callback is called later: here no program runs. */
static void tell(PyWeakReference *r)
{
    py_state *py = PY;
    unlink_ref(r);
    if (r->wr_callback == NULL || _PyObject_CAST(r)->ob_refcnt == 0 || is_garbage(_PyObject_CAST(r)))
        return;
    Py_INCREF(r);
    *(py->told != NULL ? &py->last_told->wr_next : &py->told) = r;
    py->last_told = r;
    py_vm->attention = 1;
}

void py_call_back(void)
{
    py_state *py = PY;
    PyObject *type, *value, *traceback, *result;
    if (py->told == NULL || py_vm->printing > 0)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    while (py->told != NULL) {
        PyWeakReference *r = py->told;
        PyObject *callback = r->wr_callback;
        py->told = r->wr_next;
        r->wr_next = NULL;
        r->wr_callback = NULL;
        result = PyObject_CallOneArg(callback, _PyObject_CAST(r));
        if (result == NULL)
            PyErr_WriteUnraisable(callback);
        Py_XDECREF(result);
        Py_DECREF(callback);
        Py_DECREF(r);
    }
    PyErr_Restore(type, value, traceback);
}

void py_tell_weakrefs(PyObject *op)
{
    PyWeakReference **list = list_of(op);
    if (PyWeakref_Check(op))
        unlink_ref(R(op));
    while (list != NULL && *list != NULL)
        tell(*list);
}

void PyObject_ClearWeakRefs(PyObject *op)
{
    py_tell_weakrefs(op);
    py_call_back();
}

static PyObject *ref_make(PyTypeObject *type, PyObject *op, PyObject *callback)
{
    PyWeakReference **list, *r, *next;
    if (!py_ready(op))
        return NULL;
    if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(op)))
        return PyErr_Format(PyExc_TypeError, "cannot create weak reference to '%s' object", Py_TYPE(op)->tp_name);
    if (callback == Py_None)
        callback = NULL;
    list = list_of(op);
    for (r = list != NULL ? *list : NULL; r != NULL; r = next) {
        next = r->wr_next;
        if (target(r) == NULL)
            tell(r);                    /* what the header will do later: now there is a new reference */
        else if (callback == NULL && r->wr_callback == NULL && Py_IS_TYPE(r, type) && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
            return Py_NewRef(r);
    }
    r = R(_PyObject_New(type));
    if (r == NULL)
        return NULL;
    r->wr_object = op;
    r->wr_callback = Py_XNewRef(callback);
    r->hash = -1;
    r->made_for = is_garbage(op) ? now() : 0;
    if (PyFunction_Check(op) && !PyObject_GC_IsTracked(op)) {
        py_become_full(op);             /* now it owns its list, and is told when it goes */
        PyObject_GC_Track(op);
    }
    if (list != NULL) {
        r->wr_next = *list;
        if (r->wr_next != NULL)
            r->wr_next->wr_prev = r;
        *list = r;
    }
    PyObject_GC_Track(r);
    return _PyObject_CAST(r);
}

PyObject *PyWeakref_NewRef(PyObject *op, PyObject *callback)
{
    return ref_make(&_PyWeakref_RefType, op, callback);
}

PyObject *PyWeakref_NewProxy(PyObject *op, PyObject *callback)
{
    return ref_make(PyCallable_Check(op) ? &_PyWeakref_CallableProxyType : &_PyWeakref_ProxyType, op, callback);
}

PyObject *PyWeakref_GetObject(PyObject *ref)
{
    PyObject *op;
    if (ref == NULL || !PyWeakref_Check(ref)) {
        PyErr_BadInternalCall();
        return NULL;
    }
    op = target(R(ref));
    return op != NULL ? op : Py_None;
}

void py_ref_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    unlink_ref(R(op));
    Py_XDECREF(R(op)->wr_callback);
    Py_TYPE(op)->tp_free(op);
}

int py_ref_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(R(op)->wr_callback);
    return 0;
}

int py_ref_clear(PyObject *op)
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
    (void)kwargs;
    return PyArg_UnpackTuple(args, "ref", 1, 2, &op, &callback) ? ref_make(type, op, callback) : NULL;
}

static int ref_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)op, (void)args, (void)kwargs;
    return 0;
}

static Py_hash_t ref_hash(PyObject *op)
{
    if (R(op)->hash == -1) {
        PyObject *to = Py_XNewRef(target(R(op)));
        if (to == NULL) {
            PyErr_SetString(PyExc_TypeError, "weak object has gone away");
            return -1;
        }
        R(op)->hash = PyObject_Hash(to);
        Py_DECREF(to);
    }
    return R(op)->hash;
}

static PyObject *ref_richcompare(PyObject *a, PyObject *b, int op)
{
    PyObject *x, *y, *result;
    if ((op != Py_EQ && op != Py_NE) || !PyWeakref_CheckRef(a) || !PyWeakref_CheckRef(b))
        Py_RETURN_NOTIMPLEMENTED;
    x = Py_XNewRef(target(R(a)));
    y = Py_XNewRef(target(R(b)));
    result = x != NULL && y != NULL ? PyObject_RichCompare(x, y, op) : PyBool_FromLong((a == b) == (op == Py_EQ));
    Py_XDECREF(x);
    Py_XDECREF(y);
    return result;
}

static PyObject *ref_repr(PyObject *op)
{
    PyObject *to = target(R(op));
    return to == NULL ? PyUnicode_FromFormat("<weakref at %p; dead>", (void *)op)
                      : PyUnicode_FromFormat("<weakref at %p; to '%s' at %p>", (void *)op, Py_TYPE(to)->tp_name, (void *)to);
}

static PyMemberDef ref_members[] = {
    { "__callback__", T_OBJECT, offsetof(PyWeakReference, wr_callback), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};

PyTypeObject _PyWeakref_RefType = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "weakref", .tp_basicsize = sizeof(PyWeakReference),
    .tp_dealloc = py_ref_dealloc, .tp_repr = ref_repr, .tp_hash = ref_hash, .tp_call = ref_call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = py_ref_traverse, .tp_clear = py_ref_clear,
    .tp_richcompare = ref_richcompare, .tp_members = ref_members, .tp_init = ref_init, .tp_alloc = PyType_GenericAlloc,
    .tp_new = ref_new, .tp_free = PyObject_GC_Del
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

static int check(PyObject *op, const char *function)
{
    if (op != NULL && PyCapsule_CheckExact(op) && C(op)->pointer != NULL)
        return 1;
    PyErr_Format(PyExc_ValueError, "%s called with invalid PyCapsule object", function);
    return 0;
}

void *PyCapsule_GetPointer(PyObject *op, const char *name)
{
    if (!check(op, __func__))
        return NULL;
    if (PyCapsule_IsValid(op, name))
        return C(op)->pointer;
    PyErr_SetString(PyExc_ValueError, "PyCapsule_GetPointer called with incorrect name");
    return NULL;
}

const char *PyCapsule_GetName(PyObject *op) { return check(op, __func__) ? C(op)->name : NULL; }
void *PyCapsule_GetContext(PyObject *op) { return check(op, __func__) ? C(op)->context : NULL; }

int PyCapsule_SetContext(PyObject *op, void *context)
{
    if (!check(op, __func__))
        return -1;
    C(op)->context = context;
    return 0;
}

int PyCapsule_SetPointer(PyObject *op, void *pointer)
{
    if (pointer == NULL)
        PyErr_SetString(PyExc_ValueError, "PyCapsule_SetPointer called with null pointer");
    if (pointer == NULL || !check(op, __func__))
        return -1;
    C(op)->pointer = pointer;
    return 0;
}

int PyCapsule_SetName(PyObject *op, const char *name)
{
    if (!check(op, __func__))
        return -1;
    C(op)->name = name;
    return 0;
}

PyCapsule_Destructor PyCapsule_GetDestructor(PyObject *op) { return check(op, __func__) ? C(op)->destructor : NULL; }

int PyCapsule_SetDestructor(PyObject *op, PyCapsule_Destructor at_end)
{
    if (!check(op, __func__))
        return -1;
    C(op)->destructor = at_end;
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
