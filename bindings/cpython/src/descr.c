/* descr.c - descriptors: methods, computed attributes, fields; bound methods; classmethod, staticmethod, property, super. */
#include "internal.h"

/* ---- of a type: method, getset, member ---------------------------------------- */

typedef struct {                    /* PyMethodDescrObject and its kin */
    PyDescrObject common;
    void *def;
} descr;

#define D(op) ((descr *)(void *)(op))
#define TYPE(op) ((PyTypeObject *)(void *)(op))

static PyObject *descr_new(PyTypeObject *kind, PyTypeObject *type, void *def)
{
    PyObject *name = PyUnicode_InternFromString(*(const char **)def), *op = name != NULL ? _PyObject_New(kind) : NULL;
    if (op != NULL) {
        PyDescr_TYPE(op) = TYPE(Py_NewRef(type));
        PyDescr_NAME(op) = name;
        D(op)->def = def;
    } else {
        Py_XDECREF(name);
    }
    if (op != NULL && PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
        PyObject_GC_Track(op);          /* (other types never go) */
    return op;
}

static void descr_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(PyDescr_TYPE(op));
    Py_XDECREF(PyDescr_NAME(op));
    PyObject_GC_Del(op);
}

static int descr_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(PyDescr_TYPE(op));
    return 0;
}

PyObject *PyDescr_NewMethod(PyTypeObject *type, PyMethodDef *def) { return descr_new(&PyMethodDescr_Type, type, def); }
PyObject *PyDescr_NewClassMethod(PyTypeObject *type, PyMethodDef *def) { return descr_new(&PyClassMethodDescr_Type, type, def); }
PyObject *PyDescr_NewGetSet(PyTypeObject *type, PyGetSetDef *def) { return descr_new(&PyGetSetDescr_Type, type, def); }
PyObject *PyDescr_NewMember(PyTypeObject *type, PyMemberDef *def) { return descr_new(&PyMemberDescr_Type, type, def); }

const PyMethodDef *py_def_of(PyObject *op)
{
    return D(op)->def;
}

static int fits(PyObject *op, PyObject *x, const char *name)
{
    if (PyObject_TypeCheck(x, PyDescr_TYPE(op)))
        return 1;
    PyErr_Format(PyExc_TypeError, "descriptor '%s' for '%.100s' objects doesn't apply to a '%.100s' object", name,
                 PyDescr_TYPE(op)->tp_name, Py_TYPE(x)->tp_name);
    return 0;
}

static PyObject *method_get(PyObject *op, PyObject *x, PyObject *type)
{
    PyMethodDef *def = D(op)->def;
    (void)type;
    if (x == NULL)
        return Py_NewRef(op);
    if (!fits(op, x, def->ml_name))
        return NULL;
    return def->ml_flags & METH_METHOD ? PyCMethod_New(def, x, NULL, PyDescr_TYPE(op)) : PyCFunction_NewEx(def, x, NULL);
}

static PyObject *method_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyMethodDef *def = D(op)->def;
    PyObject *f, *rest, *result;
    if (PyTuple_GET_SIZE(args) < 1)
        return PyErr_Format(PyExc_TypeError, "unbound method %s.%s() needs an argument", PyDescr_TYPE(op)->tp_name, def->ml_name);
    f = method_get(op, PyTuple_GET_ITEM(args, 0), NULL);
    rest = f != NULL ? PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)) : NULL;
    result = rest != NULL ? PyObject_Call(f, rest, kwargs) : NULL;
    Py_XDECREF(rest);
    Py_XDECREF(f);
    return result;
}

static PyObject *class_method_get(PyObject *op, PyObject *x, PyObject *type)
{
    PyMethodDef *def = D(op)->def;
    if (type == NULL)
        type = (PyObject *)(void *)Py_TYPE(x);
    return def->ml_flags & METH_METHOD ? PyCMethod_New(def, type, NULL, PyDescr_TYPE(op)) : PyCFunction_NewEx(def, type, NULL);
}

static PyObject *getset_get(PyObject *op, PyObject *x, PyObject *type)
{
    const PyGetSetDef *def = D(op)->def;
    (void)type;
    if (x == NULL)
        return Py_NewRef(op);
    if (!fits(op, x, def->name))
        return NULL;
    if (def->get == NULL)
        return PyErr_Format(PyExc_AttributeError, "attribute '%s' of '%.100s' objects is not readable", def->name, PyDescr_TYPE(op)->tp_name);
    return def->get(x, def->closure);
}

static int getset_set(PyObject *op, PyObject *x, PyObject *value)
{
    const PyGetSetDef *def = D(op)->def;
    if (!fits(op, x, def->name))
        return -1;
    if (def->set != NULL)
        return def->set(x, value, def->closure);
    PyErr_Format(PyExc_AttributeError, "attribute '%s' of '%.100s' objects is not writable", def->name, PyDescr_TYPE(op)->tp_name);
    return -1;
}

static PyObject *member_get(PyObject *op, PyObject *x, PyObject *type)
{
    const PyMemberDef *def = D(op)->def;
    char *field;
    (void)type;
    if (x == NULL)
        return Py_NewRef(op);
    if (!fits(op, x, def->name))
        return NULL;
    field = (char *)x + def->offset;
    switch (def->type) {
    case T_SHORT: return PyLong_FromLong(*(short *)(void *)field);
    case T_INT: return PyLong_FromLong(*(int *)(void *)field);
    case T_LONG: return PyLong_FromLong(*(long *)(void *)field);
    case T_FLOAT: return PyFloat_FromDouble((double)*(float *)(void *)field);
    case T_DOUBLE: return PyFloat_FromDouble(*(double *)(void *)field);
    case T_STRING: return *(char **)(void *)field != NULL ? PyUnicode_FromString(*(char **)(void *)field) : Py_NewRef(Py_None);
    case T_OBJECT: return Py_NewRef(*(PyObject **)(void *)field != NULL ? *(PyObject **)(void *)field : Py_None);
    case T_STRING_INPLACE: return PyUnicode_FromString(field);
    case T_NONE: return Py_NewRef(Py_None);
    case T_CHAR: return PyUnicode_FromStringAndSize(field, 1);
    case T_BYTE: return PyLong_FromLong(*(signed char *)field);
    case T_UBYTE: return PyLong_FromLong(*(unsigned char *)field);
    case T_USHORT: return PyLong_FromLong(*(unsigned short *)(void *)field);
    case T_UINT: return PyLong_FromUnsignedLong(*(unsigned *)(void *)field);
    case T_ULONG: return PyLong_FromUnsignedLong(*(unsigned long *)(void *)field);
    case T_BOOL: return PyBool_FromLong(*field);
    case T_LONGLONG: return PyLong_FromLongLong(*(long long *)(void *)field);
    case T_ULONGLONG: return PyLong_FromUnsignedLongLong(*(unsigned long long *)(void *)field);
    case T_PYSSIZET: return PyLong_FromSsize_t(*(Py_ssize_t *)(void *)field);
    case T_OBJECT_EX:
        if (*(PyObject **)(void *)field != NULL)
            return Py_NewRef(*(PyObject **)(void *)field);
        return PyErr_Format(PyExc_AttributeError, "'%.200s' object has no attribute '%s'", Py_TYPE(x)->tp_name, def->name);
    default: return PyErr_Format(PyExc_SystemError, "bad memberdescr type for %s", def->name);
    }
}

static int member_set(PyObject *op, PyObject *x, PyObject *value)
{
    const PyMemberDef *def = D(op)->def;
    char *field = (char *)x + def->offset;
    long long n;

    if (!fits(op, x, def->name))
        return -1;
    if (def->flags & READONLY) {
        PyErr_SetString(PyExc_AttributeError, "readonly attribute");
        return -1;
    }
    if (def->type == T_OBJECT || def->type == T_OBJECT_EX) {
        PyObject *old = *(PyObject **)(void *)field;
        if (value == NULL && old == NULL && def->type == T_OBJECT_EX) {
            PyErr_Format(PyExc_AttributeError, "%s", def->name);
            return -1;
        }
        *(PyObject **)(void *)field = Py_XNewRef(value);
        Py_XDECREF(old);
        return 0;
    }
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "can't delete numeric/char attribute");
        return -1;
    }
    if (def->type == T_DOUBLE || def->type == T_FLOAT) {
        double d = PyFloat_AsDouble(value);
        if (d == -1 && PyErr_Occurred())
            return -1;
        if (def->type == T_DOUBLE)
            *(double *)(void *)field = d;
        else
            *(float *)(void *)field = (float)d;
        return 0;
    }
    n = PyLong_AsLongLong(value);
    if (n == -1 && PyErr_Occurred())
        return -1;
    switch (def->type) {
    case T_SHORT: case T_USHORT: *(short *)(void *)field = (short)n; return 0;
    case T_INT: case T_UINT: *(int *)(void *)field = (int)n; return 0;
    case T_LONG: case T_ULONG: *(long *)(void *)field = (long)n; return 0;
    case T_BYTE: case T_UBYTE: *field = (char)n; return 0;
    case T_BOOL: *field = (char)(n != 0); return 0;
    case T_LONGLONG: case T_ULONGLONG: *(long long *)(void *)field = n; return 0;
    case T_PYSSIZET: *(Py_ssize_t *)(void *)field = (Py_ssize_t)n; return 0;
    default:
        PyErr_SetString(PyExc_TypeError, "readonly attribute");
        return -1;
    }
}

/* All definitions begin with their name. */

static PyObject *descr_doc(PyObject *op, void *none)
{
    const char *doc = Py_IS_TYPE(op, &PyGetSetDescr_Type) ? ((PyGetSetDef *)D(op)->def)->doc
                    : Py_IS_TYPE(op, &PyMemberDescr_Type) ? ((PyMemberDef *)D(op)->def)->doc : ((PyMethodDef *)D(op)->def)->ml_doc;
    (void)none;
    return py_doc(*(const char **)D(op)->def, doc);
}

static PyGetSetDef descr_getset[] = {
    { "__doc__", descr_doc, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};
static PyMemberDef descr_members[] = {
    { "__objclass__", T_OBJECT, offsetof(PyDescrObject, d_type), READONLY, NULL },
    { "__name__", T_OBJECT, offsetof(PyDescrObject, d_name), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};

static PyObject *descr_repr(PyObject *op)
{
    const char *kind = Py_IS_TYPE(op, &PyGetSetDescr_Type) ? "attribute" : Py_IS_TYPE(op, &PyMemberDescr_Type) ? "member" : "method";
    return PyUnicode_FromFormat("<%s '%U' of '%s' objects>", kind, PyDescr_NAME(op), PyDescr_TYPE(op)->tp_name);
}

#define DESCR_TYPE(name, text, ...) \
    PyTypeObject name = { \
        PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = text, .tp_basicsize = sizeof(descr), \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_dealloc = descr_dealloc, .tp_traverse = descr_traverse, \
        .tp_getset = descr_getset, .tp_members = descr_members, .tp_repr = descr_repr, __VA_ARGS__ \
    }
DESCR_TYPE(PyMethodDescr_Type, "method_descriptor", .tp_descr_get = method_get, .tp_call = method_call);
DESCR_TYPE(PyClassMethodDescr_Type, "classmethod_descriptor", .tp_descr_get = class_method_get);
DESCR_TYPE(PyGetSetDescr_Type, "getset_descriptor", .tp_descr_get = getset_get, .tp_descr_set = getset_set);
DESCR_TYPE(PyMemberDescr_Type, "member_descriptor", .tp_descr_get = member_get, .tp_descr_set = member_set);

/* ---- with one or two objects: bound methods, classmethod, staticmethod, property ---- */

typedef struct {
    PyObject_HEAD
    PyObject *first, *second, *third;
    PyObject *doc;                  /* of properties */
    PyObject *weakrefs;             /* of bound methods */
} holder;

#define H(op) ((holder *)(void *)(op))

static PyObject *holder_new(PyTypeObject *type, PyObject *first, PyObject *second, PyObject *third)
{
    PyObject *op = _PyObject_GC_New(type);
    if (op == NULL)
        return NULL;
    H(op)->first = Py_XNewRef(first);
    H(op)->second = Py_XNewRef(second);
    H(op)->third = Py_XNewRef(third);
    PyObject_GC_Track(op);
    return op;
}

static void holder_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    Py_XDECREF(H(op)->first);
    Py_XDECREF(H(op)->second);
    Py_XDECREF(H(op)->third);
    Py_XDECREF(H(op)->doc);
    PyObject_GC_Del(op);
}

static int holder_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(H(op)->first);
    Py_VISIT(H(op)->second);
    Py_VISIT(H(op)->third);
    Py_VISIT(H(op)->doc);
    return 0;
}

static int holder_clear(PyObject *op)
{
    Py_CLEAR(H(op)->first);
    Py_CLEAR(H(op)->second);
    Py_CLEAR(H(op)->third);
    Py_CLEAR(H(op)->doc);
    return 0;
}

PyObject *PyMethod_New(PyObject *function, PyObject *self) { return holder_new(&PyMethod_Type, function, self, NULL); }
PyObject *PyClassMethod_New(PyObject *callable) { return holder_new(&PyClassMethod_Type, callable, NULL, NULL); }
PyObject *PyStaticMethod_New(PyObject *callable) { return holder_new(&PyStaticMethod_Type, callable, NULL, NULL); }

PyObject *PyInstanceMethod_New(PyObject *callable) { return holder_new(&PyInstanceMethod_Type, callable, NULL, NULL); }

PyObject *PyInstanceMethod_Function(PyObject *op)
{
    if (PyInstanceMethod_Check(op))
        return H(op)->first;
    PyErr_BadInternalCall();
    return NULL;
}

static PyObject *bound_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *self = PyTuple_Pack(1, H(op)->second), *all = self != NULL ? PySequence_Concat(self, args) : NULL;
    PyObject *result = all != NULL ? PyObject_Call(H(op)->first, all, kwargs) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(self);
    return result;
}

static PyObject *bound_getattro(PyObject *op, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(op, name);
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(H(op)->first, name);
}

static PyObject *bound_richcompare(PyObject *a, PyObject *b, int op)
{
    if (!PyMethod_Check(a) || !PyMethod_Check(b) || (op != Py_EQ && op != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((H(a)->first == H(b)->first && H(a)->second == H(b)->second) == (op == Py_EQ));
}

static Py_hash_t bound_hash(PyObject *op) { return _Py_HashPointer(H(op)->first) ^ _Py_HashPointer(H(op)->second); }

static PyObject *class_get(PyObject *op, PyObject *x, PyObject *type)
{
    return PyMethod_New(H(op)->first, type != NULL ? type : (PyObject *)(void *)Py_TYPE(x));
}

static PyObject *static_get(PyObject *op, PyObject *x, PyObject *type) { (void)x, (void)type; return Py_NewRef(H(op)->first); }

static PyObject *held_call(PyObject *op, PyObject *args, PyObject *kwargs) { return PyObject_Call(H(op)->first, args, kwargs); }

static PyObject *instance_get(PyObject *op, PyObject *x, PyObject *type)
{
    (void)type;
    return x != NULL ? PyMethod_New(H(op)->first, x) : Py_NewRef(H(op)->first);
}

static PyObject *property_get(PyObject *op, PyObject *x, PyObject *type)
{
    (void)type;
    if (x == NULL || x == Py_None)
        return Py_NewRef(op);
    if (H(op)->first == NULL || H(op)->first == Py_None)
        return PyErr_Format(PyExc_AttributeError, "property has no getter");
    return PyObject_CallOneArg(H(op)->first, x);
}

static int property_set(PyObject *op, PyObject *x, PyObject *value)
{
    PyObject *f = value != NULL ? H(op)->second : H(op)->third, *result;
    if (f == NULL || f == Py_None) {
        PyErr_SetString(PyExc_AttributeError, value != NULL ? "property has no setter" : "property has no deleter");
        return -1;
    }
    result = PyObject_CallFunctionObjArgs(f, x, value, NULL);
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

/* Without a doc, it is that of the getter. */
static int property_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "fget", "fset", "fdel", "doc", NULL };
    PyObject *all[4] = { NULL, NULL, NULL, NULL }, *doc;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:property", names, &all[0], &all[1], &all[2], &all[3]))
        return -1;
    Py_XSETREF(H(op)->first, Py_XNewRef(all[0] != Py_None ? all[0] : NULL));
    Py_XSETREF(H(op)->second, Py_XNewRef(all[1] != Py_None ? all[1] : NULL));
    Py_XSETREF(H(op)->third, Py_XNewRef(all[2] != Py_None ? all[2] : NULL));
    doc = Py_XNewRef(all[3]);
    if ((doc == NULL || doc == Py_None) && H(op)->first != NULL) {
        Py_XDECREF(doc);
        if (_PyObject_LookupAttr(H(op)->first, py_str("__doc__"), &doc) < 0)
            return -1;
    }
    Py_XSETREF(H(op)->doc, doc);
    return 0;
}

/* A property like op, with another function in place of None. */
static PyObject *property_with(PyObject *op, PyObject *get, PyObject *set, PyObject *del)
{
    PyObject *doc = get == Py_None && H(op)->doc != NULL ? H(op)->doc : Py_None;
    if (get == Py_None && H(op)->first != NULL)
        get = H(op)->first;
    if (set == Py_None && H(op)->second != NULL)
        set = H(op)->second;
    if (del == Py_None && H(op)->third != NULL)
        del = H(op)->third;
    return PyObject_CallFunctionObjArgs((PyObject *)(void *)Py_TYPE(op), get, set, del, doc, NULL);
}

static PyObject *property_getter(PyObject *op, PyObject *f) { return property_with(op, f, Py_None, Py_None); }
static PyObject *property_setter(PyObject *op, PyObject *f) { return property_with(op, Py_None, f, Py_None); }
static PyObject *property_deleter(PyObject *op, PyObject *f) { return property_with(op, Py_None, Py_None, f); }
static PyMethodDef property_methods[] = {
    { "getter", property_getter, METH_O, NULL }, { "setter", property_setter, METH_O, NULL },
    { "deleter", property_deleter, METH_O, NULL }, { NULL, NULL, 0, NULL }
};

static PyObject *holder_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *a = NULL, *b = NULL;
    int n = type == &PyMethod_Type ? 2 : 1;
    (void)kwargs;
    return PyArg_UnpackTuple(args, type->tp_name, n, n, &a, &b) ? holder_new(type, a, b, NULL) : NULL;
}

static PyMemberDef bound_members[] = {
    { "__func__", T_OBJECT, offsetof(holder, first), READONLY, NULL },
    { "__self__", T_OBJECT, offsetof(holder, second), READONLY, NULL },
    { NULL, 0, 0, 0, NULL }
};

#define HOLDER_TYPE(name, text, ...) \
    PyTypeObject name = { \
        PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = text, .tp_basicsize = sizeof(holder), \
        .tp_dealloc = holder_dealloc, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, \
        .tp_traverse = holder_traverse, .tp_clear = holder_clear, .tp_new = holder_make, __VA_ARGS__ \
    }
HOLDER_TYPE(PyMethod_Type, "method", .tp_call = bound_call, .tp_getattro = bound_getattro, .tp_members = bound_members,
            .tp_richcompare = bound_richcompare, .tp_hash = bound_hash, .tp_weaklistoffset = offsetof(holder, weakrefs));
static PyMemberDef held_members[] = {
    { "__func__", T_OBJECT, offsetof(holder, first), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};
static PyMemberDef property_members[] = {
    { "fget", T_OBJECT, offsetof(holder, first), READONLY, NULL },
    { "fset", T_OBJECT, offsetof(holder, second), READONLY, NULL },
    { "fdel", T_OBJECT, offsetof(holder, third), READONLY, NULL }, { "__doc__", T_OBJECT, offsetof(holder, doc), 0, NULL },
    { NULL, 0, 0, 0, NULL }
};
HOLDER_TYPE(PyClassMethod_Type, "classmethod", .tp_descr_get = class_get, .tp_members = held_members);
HOLDER_TYPE(PyStaticMethod_Type, "staticmethod", .tp_descr_get = static_get, .tp_call = held_call, .tp_members = held_members);
HOLDER_TYPE(PyInstanceMethod_Type, "instancemethod", .tp_descr_get = instance_get, .tp_call = held_call,
            .tp_getattro = bound_getattro, .tp_members = held_members);
PyTypeObject PyProperty_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "property", .tp_basicsize = sizeof(holder), .tp_dealloc = holder_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = holder_traverse,
    .tp_clear = holder_clear, .tp_new = PyType_GenericNew, .tp_init = property_init, .tp_descr_get = property_get,
    .tp_descr_set = property_set, .tp_members = property_members, .tp_methods = property_methods
};

/* ---- super(type, object) ------------------------------------------------------------ */

static PyObject *super_getattro(PyObject *op, PyObject *name)
{
    PyObject *self = H(op)->second, *mro, *value = NULL;
    PyTypeObject *start = self != NULL && PyType_Check(self) ? (PyTypeObject *)(void *)self : self != NULL ? Py_TYPE(self) : NULL;
    Py_ssize_t i;
    int found = 0;
    mro = start != NULL ? py_type_mro(start) : NULL;
    for (i = 0; mro != NULL && value == NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *t = PyTuple_GET_ITEM(mro, i);
        if (found) {
            PyObject *dict = py_type_dict((PyTypeObject *)(void *)t);
            value = dict != NULL ? Py_XNewRef(PyDict_GetItemWithError(dict, name)) : NULL;
        }
        found |= t == H(op)->first;
    }
    Py_XDECREF(mro);
    if (value == NULL)
        return PyErr_Occurred() ? NULL : PyObject_GenericGetAttr(op, name);
    if (Py_TYPE(value)->tp_descr_get != NULL) {
        PyObject *bound = Py_TYPE(value)->tp_descr_get(value, self != (PyObject *)(void *)start ? self : NULL, (PyObject *)(void *)start);
        Py_DECREF(value);
        return bound;
    }
    return value;
}

static PyObject *super_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *a, *b;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O:super", &PyType_Type, &a, &b))
        return NULL;
    if (!PyObject_TypeCheck(b, (PyTypeObject *)(void *)a)
        && !(PyType_Check(b) && PyType_IsSubtype((PyTypeObject *)(void *)b, (PyTypeObject *)(void *)a)))
        return PyErr_Format(PyExc_TypeError, "super(type, obj): obj must be an instance or subtype of type");
    return holder_new(type, a, b, NULL);
}

PyTypeObject PySuper_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "super", .tp_basicsize = sizeof(holder), .tp_dealloc = holder_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = holder_traverse, .tp_clear = holder_clear,
    .tp_getattro = super_getattro, .tp_new = super_make
};
