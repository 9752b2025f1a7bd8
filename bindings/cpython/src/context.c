/* context.c - contexts, their variables, and tokens that say what a variable was before. */
#include "internal.h"

typedef struct {
    PyObject_HEAD
    PyObject *values;               /* a dict: by variable */
    PyObject *previous;             /* while it is entered: NULL, or the context before */
    int entered;
} context;

typedef struct {
    PyObject_HEAD
    PyObject *name, *otherwise;     /* NULL: there is no default value */
} variable;

typedef struct {
    PyObject_HEAD
    PyObject *context, *var, *before;       /* NULL: the variable had no value */
    int used;
} token;

#define C(op) ((context *)(void *)(op))
#define V(op) ((variable *)(void *)(op))
#define T(op) ((token *)(void *)(op))

/* ---- contexts ------------------------------------------------------------------- */

static PyObject *context_of(PyObject *values)
{
    PyObject *op = values != NULL ? _PyObject_GC_New(&PyContext_Type) : NULL;
    if (op == NULL) {
        Py_XDECREF(values);
        return NULL;
    }
    C(op)->values = values;
    PyObject_GC_Track(op);
    return op;
}

/* The current one, borrowed; made if there is none. */
static PyObject *current(void)
{
    if (PY->context == NULL)
        PY->context = PyContext_New();
    return PY->context;
}

static PyObject *checked(PyObject *op)
{
    return PyContext_CheckExact(op) ? op : PyErr_Format(PyExc_TypeError, "an instance of Context was expected");
}

PyObject *PyContext_New(void) { return context_of(PyDict_New()); }
PyObject *PyContext_Copy(PyObject *op) { return checked(op) != NULL ? context_of(PyDict_Copy(C(op)->values)) : NULL; }
PyObject *PyContext_CopyCurrent(void) { return current() != NULL ? PyContext_Copy(PY->context) : NULL; }

int PyContext_Enter(PyObject *op)
{
    if (checked(op) == NULL)
        return -1;
    if (C(op)->entered) {
        PyErr_Format(PyExc_RuntimeError, "cannot enter context: %R is already entered", op);
        return -1;
    }
    C(op)->entered = 1;
    C(op)->previous = PY->context;
    PY->context = Py_NewRef(op);
    return 0;
}

int PyContext_Exit(PyObject *op)
{
    if (checked(op) == NULL)
        return -1;
    if (!C(op)->entered || PY->context != op) {
        PyErr_Format(PyExc_RuntimeError, C(op)->entered ? "cannot exit context: thread state references a different context object"
                                                        : "cannot exit context: %R has not been entered", op);
        return -1;
    }
    PY->context = C(op)->previous;
    C(op)->previous = NULL;
    C(op)->entered = 0;
    Py_DECREF(op);
    return 0;
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type, (void)kwargs;
    return PyArg_ParseTuple(args, ":Context") ? PyContext_New() : NULL;
}

static void context_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(C(op)->values);
    Py_XDECREF(C(op)->previous);
    PyObject_GC_Del(op);
}

static int context_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(C(op)->values);
    Py_VISIT(C(op)->previous);
    return 0;
}

static int context_clear(PyObject *op)
{
    Py_CLEAR(C(op)->values);
    Py_CLEAR(C(op)->previous);
    return 0;
}

static int is_key(PyObject *key)
{
    if (PyContextVar_CheckExact(key))
        return 1;
    PyErr_Format(PyExc_TypeError, "a ContextVar key was expected, got %R", key);
    return 0;
}

static Py_ssize_t context_length(PyObject *op) { return PyDict_Size(C(op)->values); }
static PyObject *context_iter(PyObject *op) { return PyObject_GetIter(C(op)->values); }
static PyObject *context_subscript(PyObject *op, PyObject *key) { return is_key(key) ? PyObject_GetItem(C(op)->values, key) : NULL; }
static int context_contains(PyObject *op, PyObject *key) { return is_key(key) ? PyDict_Contains(C(op)->values, key) : -1; }

static PyObject *context_get(PyObject *op, PyObject *args)
{
    PyObject *key, *otherwise = Py_None, *value;
    if (!PyArg_UnpackTuple(args, "get", 1, 2, &key, &otherwise) || !is_key(key))
        return NULL;
    value = PyDict_GetItemWithError(C(op)->values, key);
    return value != NULL ? Py_NewRef(value) : PyErr_Occurred() ? NULL : Py_NewRef(otherwise);
}

static PyObject *context_copy(PyObject *op, PyObject *none)
{
    (void)none;
    return PyContext_Copy(op);
}

static PyObject *context_run(PyObject *op, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *rest, *result;
    if (n == 0)
        return PyErr_Format(PyExc_TypeError, "run() missing 1 required positional argument");
    rest = PyTuple_GetSlice(args, 1, n);
    if (rest == NULL || PyContext_Enter(op) < 0) {
        Py_XDECREF(rest);
        return NULL;
    }
    result = PyObject_Call(PyTuple_GET_ITEM(args, 0), rest, kwargs);
    Py_DECREF(rest);
    if (PyContext_Exit(op) < 0)
        Py_CLEAR(result);
    return result;
}

static PyMethodDef context_methods[] = {
    { "get", context_get, METH_VARARGS, NULL }, { "copy", context_copy, METH_NOARGS, NULL },
    { "run", _PyCFunction_CAST(context_run), METH_VARARGS | METH_KEYWORDS, NULL }, { NULL, NULL, 0, NULL }
};
static PySequenceMethods context_as_sequence = { .sq_contains = context_contains };
static PyMappingMethods context_as_mapping = { .mp_length = context_length, .mp_subscript = context_subscript };

PyTypeObject PyContext_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "_contextvars.Context", .tp_basicsize = sizeof(context), .tp_dealloc = context_dealloc,
    .tp_hash = PyObject_HashNotImplemented, .tp_as_sequence = &context_as_sequence, .tp_as_mapping = &context_as_mapping,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = context_traverse, .tp_clear = context_clear,
    .tp_iter = context_iter, .tp_methods = context_methods, .tp_new = context_new
};

/* ---- variables -------------------------------------------------------------------- */

static PyObject *var_of(PyObject *name, PyObject *otherwise)
{
    PyObject *op;
    if (!PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "context variable name must be a str");
    op = _PyObject_GC_New(&PyContextVar_Type);
    if (op != NULL) {
        V(op)->name = Py_NewRef(name);
        V(op)->otherwise = Py_XNewRef(otherwise);
        PyObject_GC_Track(op);
    }
    return op;
}

PyObject *PyContextVar_New(const char *name, PyObject *otherwise)
{
    PyObject *text = PyUnicode_FromString(name), *op = text != NULL ? var_of(text, otherwise) : NULL;
    Py_XDECREF(text);
    return op;
}

static int is_var(PyObject *op)
{
    if (PyContextVar_CheckExact(op))
        return 1;
    PyErr_SetString(PyExc_TypeError, "an instance of ContextVar was expected");
    return 0;
}

int PyContextVar_Get(PyObject *var, PyObject *otherwise, PyObject **value)
{
    PyObject *op;
    *value = NULL;
    if (!is_var(var))
        return -1;
    op = PY->context != NULL ? PyDict_GetItemWithError(C(PY->context)->values, var) : NULL;
    if (op == NULL && PyErr_Occurred())
        return -1;
    *value = Py_XNewRef(op != NULL ? op : otherwise != NULL ? otherwise : V(var)->otherwise);
    return 0;
}

PyObject *PyContextVar_Set(PyObject *var, PyObject *value)
{
    PyObject *op, *before;
    if (!is_var(var) || current() == NULL)
        return NULL;
    before = Py_XNewRef(PyDict_GetItemWithError(C(PY->context)->values, var));
    op = PyErr_Occurred() ? NULL : _PyObject_GC_New(&PyContextToken_Type);
    if (op == NULL) {
        Py_XDECREF(before);
        return NULL;
    }
    T(op)->context = Py_NewRef(PY->context);
    T(op)->var = Py_NewRef(var);
    T(op)->before = before;
    PyObject_GC_Track(op);
    if (PyDict_SetItem(C(PY->context)->values, var, value) == 0)
        return op;
    Py_DECREF(op);
    return NULL;
}

int PyContextVar_Reset(PyObject *var, PyObject *op)
{
    const char *wrong = NULL;
    if (!is_var(var))
        return -1;
    if (!PyContextToken_CheckExact(op)) {
        PyErr_Format(PyExc_TypeError, "expected an instance of Token, got %R", op);
        return -1;
    }
    if (T(op)->used)
        wrong = "has already been used once";
    else if (T(op)->var != var)
        wrong = "was created by a different ContextVar";
    else if (T(op)->context != PY->context)
        wrong = "was created in a different Context";
    if (wrong != NULL) {
        PyErr_Format(T(op)->used ? PyExc_RuntimeError : PyExc_ValueError, "%R %s", op, wrong);
        return -1;
    }
    T(op)->used = 1;
    return T(op)->before != NULL ? PyDict_SetItem(C(PY->context)->values, var, T(op)->before) : PyDict_DelItem(C(PY->context)->values, var);
}

static PyObject *var_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "", "default", NULL };
    PyObject *name, *otherwise = NULL;
    (void)type;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:ContextVar", names, &name, &otherwise) ? var_of(name, otherwise) : NULL;
}

static void var_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(V(op)->name);
    Py_XDECREF(V(op)->otherwise);
    PyObject_GC_Del(op);
}

static int var_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(V(op)->otherwise);
    return 0;
}

static int var_clear(PyObject *op)
{
    Py_CLEAR(V(op)->otherwise);
    return 0;
}

static PyObject *var_get(PyObject *op, PyObject *args)
{
    PyObject *otherwise = NULL, *value;
    if (!PyArg_UnpackTuple(args, "get", 0, 1, &otherwise) || PyContextVar_Get(op, otherwise, &value) < 0)
        return NULL;
    if (value == NULL)
        PyErr_SetObject(PyExc_LookupError, op);
    return value;
}

static PyObject *var_reset(PyObject *op, PyObject *given)
{
    return PyContextVar_Reset(op, given) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *var_repr(PyObject *op)
{
    return V(op)->otherwise != NULL ? PyUnicode_FromFormat("<ContextVar name=%R default=%R at %p>", V(op)->name, V(op)->otherwise, (void *)op)
                                    : PyUnicode_FromFormat("<ContextVar name=%R at %p>", V(op)->name, (void *)op);
}

static PyMethodDef var_methods[] = {
    { "get", var_get, METH_VARARGS, NULL }, { "set", PyContextVar_Set, METH_O, NULL }, { "reset", var_reset, METH_O, NULL },
    { NULL, NULL, 0, NULL }
};
static PyMemberDef var_members[] = { { "name", T_OBJECT, offsetof(variable, name), READONLY, NULL }, { NULL, 0, 0, 0, NULL } };

PyTypeObject PyContextVar_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "_contextvars.ContextVar", .tp_basicsize = sizeof(variable), .tp_dealloc = var_dealloc,
    .tp_repr = var_repr, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = var_traverse, .tp_clear = var_clear,
    .tp_methods = var_methods, .tp_members = var_members, .tp_new = var_new
};

/* ---- tokens ------------------------------------------------------------------------- */

static void token_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(T(op)->context);
    Py_XDECREF(T(op)->var);
    Py_XDECREF(T(op)->before);
    PyObject_GC_Del(op);
}

static int token_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(T(op)->context);
    Py_VISIT(T(op)->var);
    Py_VISIT(T(op)->before);
    return 0;
}

static int token_clear(PyObject *op)
{
    Py_CLEAR(T(op)->context);
    Py_CLEAR(T(op)->var);
    Py_CLEAR(T(op)->before);
    return 0;
}

static PyObject *token_repr(PyObject *op)
{
    return PyUnicode_FromFormat("<Token%s var=%R at %p>", T(op)->used ? " used" : "", T(op)->var, (void *)op);
}

/* (None stands for CPython's object MISSING.) */
static PyMemberDef token_members[] = {
    { "var", T_OBJECT, offsetof(token, var), READONLY, NULL }, { "old_value", T_OBJECT, offsetof(token, before), READONLY, NULL },
    { NULL, 0, 0, 0, NULL }
};

PyTypeObject PyContextToken_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "_contextvars.Token", .tp_basicsize = sizeof(token), .tp_dealloc = token_dealloc,
    .tp_repr = token_repr, .tp_hash = PyObject_HashNotImplemented, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = token_traverse, .tp_clear = token_clear, .tp_members = token_members
};
