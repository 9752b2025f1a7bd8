/* slots.c - slots and methods that stand for each other: a type with a slot has a method by its
 * name ("__len__"), and a class with the method gets the slot. */
#include "internal.h"

/* ---- calling methods -------------------------------------------------------- */

PyObject *py_lookup_special(PyObject *op, const char *name)
{
    PyObject *n = py_str(name), *f = n != NULL ? _PyType_Lookup(Py_TYPE(op), n) : NULL;
    if (f == NULL || Py_TYPE(f)->tp_descr_get == NULL)
        return Py_XNewRef(f);
    Py_INCREF(f);
    n = Py_TYPE(f)->tp_descr_get(f, op, (PyObject *)(void *)Py_TYPE(op));
    Py_DECREF(f);
    return n;
}

/* Call the method with these arguments; NULL ends them. *missing: there is none. */
static PyObject *call(PyObject *op, const char *name, PyObject *a, PyObject *b, int *missing)
{
    PyObject *f = py_lookup_special(op, name), *args[2] = { a, b }, *result;
    *missing = f == NULL && !PyErr_Occurred();
    if (f == NULL)
        return NULL;
    result = PyObject_Vectorcall(f, args, (size_t)((a != NULL) + (b != NULL)), NULL);
    Py_DECREF(f);
    return result;
}

static PyObject *must_call(PyObject *op, const char *name, PyObject *a, PyObject *b)
{
    int missing;
    PyObject *result = call(op, name, a, b, &missing);
    if (missing)
        PyErr_Format(PyExc_TypeError, "'%.200s' object has no %s", Py_TYPE(op)->tp_name, name);
    return result;
}

/* ---- slots that call methods -------------------------------------------------- */

#define UNARY(slot, name) static PyObject *slot(PyObject *op) { return must_call(op, name, NULL, NULL); }
#define BINARY(slot, name, reflected) \
    static PyObject *slot(PyObject *a, PyObject *b) { return binary(a, b, name, reflected, (void (*)(void))slot); }

/* Does the slot at this place of b's type come from a class too? Then b may have the reflected method. */
static PyObject *binary(PyObject *a, PyObject *b, const char *name, const char *reflected, void (*self)(void))
{
    int missing = 1;
    PyObject *result = NULL;
    (void)self;
    result = call(a, name, b, NULL, &missing);
    if (result != NULL ? result != Py_NotImplemented : !missing)
        return result;
    Py_XDECREF(result);
    result = call(b, reflected, a, NULL, &missing);
    if (missing)
        Py_RETURN_NOTIMPLEMENTED;
    return result;
}

BINARY(slot_add, "__add__", "__radd__")
BINARY(slot_subtract, "__sub__", "__rsub__")
BINARY(slot_multiply, "__mul__", "__rmul__")
BINARY(slot_remainder, "__mod__", "__rmod__")
BINARY(slot_divide, "__truediv__", "__rtruediv__")
BINARY(slot_floor_divide, "__floordiv__", "__rfloordiv__")
BINARY(slot_and, "__and__", "__rand__")
BINARY(slot_or, "__or__", "__ror__")
BINARY(slot_xor, "__xor__", "__rxor__")
BINARY(slot_lshift, "__lshift__", "__rlshift__")
BINARY(slot_rshift, "__rshift__", "__rrshift__")
BINARY(slot_divmod, "__divmod__", "__rdivmod__")
BINARY(slot_matrix_multiply, "__matmul__", "__rmatmul__")

/* A class without the method, or with one that does not know the other operand, is asked for that without "=". */
static PyObject *in_place(PyObject *a, PyObject *b, const char *name)
{
    int missing;
    PyObject *result = call(a, name, b, NULL, &missing);
    return missing ? Py_NewRef(Py_NotImplemented) : result;
}

#define IN_PLACE(slot, name) static PyObject *slot(PyObject *a, PyObject *b) { return in_place(a, b, name); }
IN_PLACE(slot_iadd, "__iadd__")
IN_PLACE(slot_isub, "__isub__")
IN_PLACE(slot_imul, "__imul__")
IN_PLACE(slot_imod, "__imod__")
IN_PLACE(slot_itruediv, "__itruediv__")
IN_PLACE(slot_ifloordiv, "__ifloordiv__")
IN_PLACE(slot_iand, "__iand__")
IN_PLACE(slot_ior, "__ior__")
IN_PLACE(slot_ixor, "__ixor__")
IN_PLACE(slot_ilshift, "__ilshift__")
IN_PLACE(slot_irshift, "__irshift__")
IN_PLACE(slot_imatmul, "__imatmul__")

static PyObject *slot_ipow(PyObject *a, PyObject *b, PyObject *modulus) { (void)modulus; return in_place(a, b, "__ipow__"); }

/* With a modulus only the first operand is asked. */
static PyObject *slot_power(PyObject *a, PyObject *b, PyObject *modulus)
{
    int missing;
    PyObject *result;
    if (modulus == Py_None)
        return binary(a, b, "__pow__", "__rpow__", (void (*)(void))slot_power);
    result = call(a, "__pow__", b, modulus, &missing);
    return missing ? Py_NewRef(Py_NotImplemented) : result;
}

UNARY(slot_negative, "__neg__")
UNARY(slot_positive, "__pos__")
UNARY(slot_absolute, "__abs__")
UNARY(slot_invert, "__invert__")
UNARY(slot_int, "__int__")
UNARY(slot_float, "__float__")
UNARY(slot_index, "__index__")
UNARY(slot_repr, "__repr__")
UNARY(slot_str, "__str__")
UNARY(slot_iter, "__iter__")

static int slot_bool(PyObject *op)
{
    PyObject *result = must_call(op, "__bool__", NULL, NULL);
    int yes = result != NULL ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    return yes;
}

static Py_ssize_t slot_length(PyObject *op)
{
    PyObject *result = must_call(op, "__len__", NULL, NULL);
    Py_ssize_t n = result != NULL ? PyNumber_AsSsize_t(result, PyExc_OverflowError) : -1;
    Py_XDECREF(result);
    if (n < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "__len__() should return >= 0");
    return n < 0 ? -1 : n;
}

static PyObject *slot_subscript(PyObject *op, PyObject *key) { return must_call(op, "__getitem__", key, NULL); }

static int done(PyObject *result)
{
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

static int slot_ass_subscript(PyObject *op, PyObject *key, PyObject *value)
{
    return done(value != NULL ? must_call(op, "__setitem__", key, value) : must_call(op, "__delitem__", key, NULL));
}

static PyObject *slot_item(PyObject *op, Py_ssize_t i)
{
    PyObject *key = PyLong_FromSsize_t(i), *result = key != NULL ? slot_subscript(op, key) : NULL;
    Py_XDECREF(key);
    return result;
}

static int slot_ass_item(PyObject *op, Py_ssize_t i, PyObject *value)
{
    PyObject *key = PyLong_FromSsize_t(i);
    int code = key != NULL ? slot_ass_subscript(op, key, value) : -1;
    Py_XDECREF(key);
    return code;
}

static int slot_contains(PyObject *op, PyObject *x)
{
    PyObject *result = must_call(op, "__contains__", x, NULL);
    int yes = result != NULL ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    return yes;
}

static Py_hash_t slot_hash(PyObject *op)
{
    PyObject *result = must_call(op, "__hash__", NULL, NULL);
    Py_hash_t h = result == NULL ? -1 : PyLong_Check(result) ? (Py_hash_t)PyLong_AsUnsignedLongLongMask(result)
                : (PyErr_SetString(PyExc_TypeError, "__hash__ method should return an integer"), -1);
    Py_XDECREF(result);
    return h == -1 && !PyErr_Occurred() ? -2 : h;
}

static PyObject *slot_richcompare(PyObject *a, PyObject *b, int op)
{
    static const char *const names[] = { "__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__" };
    int missing;
    PyObject *result = call(a, names[op], b, NULL, &missing);
    if (missing)
        Py_RETURN_NOTIMPLEMENTED;
    return result;
}

static PyObject *slot_next(PyObject *op)
{
    PyObject *result = must_call(op, "__next__", NULL, NULL);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_StopIteration))
        PyErr_Clear();
    return result;
}

static PyObject *slot_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *f = py_lookup_special(op, "__call__"), *result = f != NULL ? PyObject_Call(f, args, kwargs) : NULL;
    Py_XDECREF(f);
    return result;
}

static int slot_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *f = py_lookup_special(op, "__init__"), *result = f != NULL ? PyObject_Call(f, args, kwargs) : NULL;
    Py_XDECREF(f);
    return done(result);
}

static PyObject *slot_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *f = PyObject_GetAttrString((PyObject *)(void *)type, "__new__"), *all = NULL, *result = NULL;
    PyObject *self = f != NULL ? PyTuple_Pack(1, (PyObject *)(void *)type) : NULL;
    if (self != NULL)
        all = PySequence_Concat(self, args);
    if (all != NULL)
        result = PyObject_Call(f, all, kwargs);
    Py_XDECREF(all);
    Py_XDECREF(self);
    Py_XDECREF(f);
    return result;
}

static void slot_finalize(PyObject *op)
{
    int missing;
    PyObject *result = call(op, "__del__", NULL, NULL, &missing);
    if (result == NULL && !missing)
        PyErr_WriteUnraisable(op);
    Py_XDECREF(result);
}

static PyObject *slot_getattro(PyObject *op, PyObject *name)
{
    int missing;
    PyObject *value = call(op, "__getattribute__", name, NULL, &missing);
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    value = call(op, "__getattr__", name, NULL, &missing);
    if (missing)
        PyErr_Format(PyExc_AttributeError, "'%.50s' object has no attribute '%U'", Py_TYPE(op)->tp_name, name);
    return value;
}

static int slot_setattro(PyObject *op, PyObject *name, PyObject *value)
{
    return done(value != NULL ? must_call(op, "__setattr__", name, value) : must_call(op, "__delattr__", name, NULL));
}

static PyObject *slot_descr_get(PyObject *op, PyObject *x, PyObject *type)
{
    return must_call(op, "__get__", x != NULL ? x : Py_None, type != NULL ? type : Py_None);
}

static int slot_descr_set(PyObject *op, PyObject *x, PyObject *value)
{
    return done(value != NULL ? must_call(op, "__set__", x, value) : must_call(op, "__delete__", x, NULL));
}

/* ---- methods that call slots ------------------------------------------------------ */

typedef struct slot_def slot_def;
typedef PyObject *(*wrapper)(const slot_def *def, void (*slot)(void), PyObject *op, PyObject *args, PyObject *kwargs);

struct slot_def {
    const char *name;
    int slot;                       /* Py_tp_... */
    void (*method)(void);           /* for classes; NULL: none */
    wrapper wrap;
    int flag;
};

#define ARGS(n, ...) if (!PyArg_UnpackTuple(args, def->name, (n), (n), __VA_ARGS__)) return NULL
#define SLOT(type) ((type)slot)
#define WRAPPER(name) static PyObject *name(const slot_def *def, void (*slot)(void), PyObject *op, PyObject *args, PyObject *kwargs)
#define UNUSED() (void)def, (void)kwargs, (void)args, (void)slot

static PyObject *none_if(int code)
{
    return code < 0 ? NULL : Py_NewRef(Py_None);
}

WRAPPER(wrap_unary) { UNUSED(); return SLOT(unaryfunc)(op); }
WRAPPER(wrap_binary) { PyObject *x; UNUSED(); ARGS(1, &x); return SLOT(binaryfunc)(op, x); }
WRAPPER(wrap_reflected) { PyObject *x; UNUSED(); ARGS(1, &x); return SLOT(binaryfunc)(x, op); }
WRAPPER(wrap_power) { PyObject *x, *modulus = Py_None; UNUSED(); return PyArg_UnpackTuple(args, def->name, 1, 2, &x, &modulus) ? SLOT(ternaryfunc)(op, x, modulus) : NULL; }
WRAPPER(wrap_rpower) { PyObject *x, *modulus = Py_None; UNUSED(); return PyArg_UnpackTuple(args, def->name, 1, 2, &x, &modulus) ? SLOT(ternaryfunc)(x, op, modulus) : NULL; }
WRAPPER(wrap_length) { Py_ssize_t n; UNUSED(); n = SLOT(lenfunc)(op); return n < 0 ? NULL : PyLong_FromSsize_t(n); }
WRAPPER(wrap_bool) { int yes; UNUSED(); yes = SLOT(inquiry)(op); return yes < 0 ? NULL : PyBool_FromLong(yes); }
WRAPPER(wrap_hash) { Py_hash_t h; UNUSED(); h = SLOT(hashfunc)(op); return h == -1 ? NULL : PyLong_FromSsize_t(h); }
WRAPPER(wrap_contains) { PyObject *x; int yes; UNUSED(); ARGS(1, &x); yes = SLOT(objobjproc)(op, x); return yes < 0 ? NULL : PyBool_FromLong(yes); }
WRAPPER(wrap_set) { PyObject *x, *y; UNUSED(); ARGS(2, &x, &y); return none_if(SLOT(objobjargproc)(op, x, y)); }
WRAPPER(wrap_delete) { PyObject *x; UNUSED(); ARGS(1, &x); return none_if(SLOT(objobjargproc)(op, x, NULL)); }
WRAPPER(wrap_compare) { PyObject *x; UNUSED(); ARGS(1, &x); return SLOT(richcmpfunc)(op, x, def->flag); }
WRAPPER(wrap_call) { UNUSED(); return SLOT(ternaryfunc)(op, args, kwargs); }
WRAPPER(wrap_init) { UNUSED(); return none_if(SLOT(initproc)(op, args, kwargs)); }

WRAPPER(wrap_next)
{
    PyObject *x;
    UNUSED();
    x = SLOT(iternextfunc)(op);
    if (x == NULL && !PyErr_Occurred())
        PyErr_SetNone(PyExc_StopIteration);
    return x;
}

WRAPPER(wrap_item)
{
    PyObject *x;
    Py_ssize_t i;
    UNUSED();
    ARGS(1, &x);
    i = PyNumber_AsSsize_t(x, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return NULL;
    return PySequence_GetItem(op, i);
}

WRAPPER(wrap_get)
{
    PyObject *x, *type = NULL;
    UNUSED();
    if (!PyArg_UnpackTuple(args, "__get__", 1, 2, &x, &type))
        return NULL;
    return SLOT(descrgetfunc)(op, x != Py_None ? x : NULL, type);
}

#define F(slot) (void (*)(void))slot
static const slot_def defs[] = {
    { "__repr__", Py_tp_repr, F(slot_repr), wrap_unary, 0 },
    { "__str__", Py_tp_str, F(slot_str), wrap_unary, 0 },
    { "__hash__", Py_tp_hash, F(slot_hash), wrap_hash, 0 },
    { "__call__", Py_tp_call, F(slot_call), wrap_call, 0 },
    { "__getattribute__", Py_tp_getattro, F(slot_getattro), wrap_binary, 0 },
    { "__getattr__", Py_tp_getattro, F(slot_getattro), NULL, 0 },
    { "__setattr__", Py_tp_setattro, F(slot_setattro), wrap_set, 0 },
    { "__delattr__", Py_tp_setattro, F(slot_setattro), wrap_delete, 0 },
    { "__lt__", Py_tp_richcompare, F(slot_richcompare), wrap_compare, Py_LT },
    { "__le__", Py_tp_richcompare, F(slot_richcompare), wrap_compare, Py_LE },
    { "__eq__", Py_tp_richcompare, F(slot_richcompare), wrap_compare, Py_EQ },
    { "__ne__", Py_tp_richcompare, F(slot_richcompare), wrap_compare, Py_NE },
    { "__gt__", Py_tp_richcompare, F(slot_richcompare), wrap_compare, Py_GT },
    { "__ge__", Py_tp_richcompare, F(slot_richcompare), wrap_compare, Py_GE },
    { "__iter__", Py_tp_iter, F(slot_iter), wrap_unary, 0 },
    { "__next__", Py_tp_iternext, F(slot_next), wrap_next, 0 },
    { "__get__", Py_tp_descr_get, F(slot_descr_get), wrap_get, 0 },
    { "__set__", Py_tp_descr_set, F(slot_descr_set), wrap_set, 0 },
    { "__delete__", Py_tp_descr_set, F(slot_descr_set), wrap_delete, 0 },
    { "__init__", Py_tp_init, F(slot_init), wrap_init, 0 },
    { "__new__", Py_tp_new, F(slot_new), NULL, 0 },
    { "__del__", Py_tp_finalize, F(slot_finalize), NULL, 0 },
    { "__add__", Py_nb_add, F(slot_add), wrap_binary, 0 },
    { "__radd__", Py_nb_add, F(slot_add), wrap_reflected, 0 },
    { "__sub__", Py_nb_subtract, F(slot_subtract), wrap_binary, 0 },
    { "__rsub__", Py_nb_subtract, F(slot_subtract), wrap_reflected, 0 },
    { "__mul__", Py_nb_multiply, F(slot_multiply), wrap_binary, 0 },
    { "__rmul__", Py_nb_multiply, F(slot_multiply), wrap_reflected, 0 },
    { "__mod__", Py_nb_remainder, F(slot_remainder), wrap_binary, 0 },
    { "__rmod__", Py_nb_remainder, F(slot_remainder), wrap_reflected, 0 },
    { "__truediv__", Py_nb_true_divide, F(slot_divide), wrap_binary, 0 },
    { "__rtruediv__", Py_nb_true_divide, F(slot_divide), wrap_reflected, 0 },
    { "__floordiv__", Py_nb_floor_divide, F(slot_floor_divide), wrap_binary, 0 },
    { "__rfloordiv__", Py_nb_floor_divide, F(slot_floor_divide), wrap_reflected, 0 },
    { "__and__", Py_nb_and, F(slot_and), wrap_binary, 0 },
    { "__rand__", Py_nb_and, F(slot_and), wrap_reflected, 0 },
    { "__or__", Py_nb_or, F(slot_or), wrap_binary, 0 },
    { "__ror__", Py_nb_or, F(slot_or), wrap_reflected, 0 },
    { "__xor__", Py_nb_xor, F(slot_xor), wrap_binary, 0 },
    { "__rxor__", Py_nb_xor, F(slot_xor), wrap_reflected, 0 },
    { "__lshift__", Py_nb_lshift, F(slot_lshift), wrap_binary, 0 },
    { "__rlshift__", Py_nb_lshift, F(slot_lshift), wrap_reflected, 0 },
    { "__rshift__", Py_nb_rshift, F(slot_rshift), wrap_binary, 0 },
    { "__rrshift__", Py_nb_rshift, F(slot_rshift), wrap_reflected, 0 },
    { "__neg__", Py_nb_negative, F(slot_negative), wrap_unary, 0 },
    { "__pos__", Py_nb_positive, F(slot_positive), wrap_unary, 0 },
    { "__abs__", Py_nb_absolute, F(slot_absolute), wrap_unary, 0 },
    { "__invert__", Py_nb_invert, F(slot_invert), wrap_unary, 0 },
    { "__bool__", Py_nb_bool, F(slot_bool), wrap_bool, 0 },
    { "__int__", Py_nb_int, F(slot_int), wrap_unary, 0 },
    { "__float__", Py_nb_float, F(slot_float), wrap_unary, 0 },
    { "__index__", Py_nb_index, F(slot_index), wrap_unary, 0 },
    { "__divmod__", Py_nb_divmod, F(slot_divmod), wrap_binary, 0 },
    { "__rdivmod__", Py_nb_divmod, F(slot_divmod), wrap_reflected, 0 },
    { "__matmul__", Py_nb_matrix_multiply, F(slot_matrix_multiply), wrap_binary, 0 },
    { "__rmatmul__", Py_nb_matrix_multiply, F(slot_matrix_multiply), wrap_reflected, 0 },
    { "__pow__", Py_nb_power, F(slot_power), wrap_power, 0 },
    { "__rpow__", Py_nb_power, F(slot_power), wrap_rpower, 0 },
    { "__iadd__", Py_nb_inplace_add, F(slot_iadd), wrap_binary, 0 },
    { "__isub__", Py_nb_inplace_subtract, F(slot_isub), wrap_binary, 0 },
    { "__imul__", Py_nb_inplace_multiply, F(slot_imul), wrap_binary, 0 },
    { "__imod__", Py_nb_inplace_remainder, F(slot_imod), wrap_binary, 0 },
    { "__itruediv__", Py_nb_inplace_true_divide, F(slot_itruediv), wrap_binary, 0 },
    { "__ifloordiv__", Py_nb_inplace_floor_divide, F(slot_ifloordiv), wrap_binary, 0 },
    { "__iand__", Py_nb_inplace_and, F(slot_iand), wrap_binary, 0 },
    { "__ior__", Py_nb_inplace_or, F(slot_ior), wrap_binary, 0 },
    { "__ixor__", Py_nb_inplace_xor, F(slot_ixor), wrap_binary, 0 },
    { "__ilshift__", Py_nb_inplace_lshift, F(slot_ilshift), wrap_binary, 0 },
    { "__irshift__", Py_nb_inplace_rshift, F(slot_irshift), wrap_binary, 0 },
    { "__imatmul__", Py_nb_inplace_matrix_multiply, F(slot_imatmul), wrap_binary, 0 },
    { "__ipow__", Py_nb_inplace_power, F(slot_ipow), wrap_power, 0 },
    { "__len__", Py_mp_length, F(slot_length), wrap_length, 0 },
    { "__len__", Py_sq_length, F(slot_length), wrap_length, 0 },
    { "__getitem__", Py_mp_subscript, F(slot_subscript), wrap_binary, 0 },
    { "__getitem__", Py_sq_item, F(slot_item), wrap_item, 0 },
    { "__setitem__", Py_mp_ass_subscript, F(slot_ass_subscript), wrap_set, 0 },
    { "__delitem__", Py_mp_ass_subscript, F(slot_ass_subscript), wrap_delete, 0 },
    { "__setitem__", Py_sq_ass_item, F(slot_ass_item), NULL, 0 },
    { "__delitem__", Py_sq_ass_item, F(slot_ass_item), NULL, 0 },
    { "__contains__", Py_sq_contains, F(slot_contains), wrap_contains, 0 },
    { "__add__", Py_sq_concat, NULL, wrap_binary, 0 },
    { "__mul__", Py_sq_repeat, NULL, NULL, 0 },
    { NULL, 0, NULL, NULL, 0 }
};

typedef struct {
    PyObject_HEAD
    const slot_def *def;
    PyTypeObject *type;             /* whose slot it is; borrowed: it holds us */
    PyObject *self;                 /* or NULL: not bound */
} slot_wrapper;

#define W(op) ((slot_wrapper *)(void *)(op))

static PyObject *wrapper_new(const slot_def *def, PyTypeObject *type, PyObject *self)
{
    PyObject *op = _PyObject_GC_New(&PyWrapperDescr_Type);
    if (op == NULL)
        return NULL;
    W(op)->def = def;
    W(op)->type = (PyTypeObject *)(void *)Py_NewRef(type);
    W(op)->self = Py_XNewRef(self);
    if (self != NULL || PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
        PyObject_GC_Track(op);          /* (other types never go) */
    return op;
}

static void wrapper_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(W(op)->self);
    Py_DECREF(W(op)->type);
    PyObject_GC_Del(op);
}

static int wrapper_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(W(op)->self);
    Py_VISIT(W(op)->type);
    return 0;
}

static PyObject *wrapper_get(PyObject *op, PyObject *x, PyObject *type)
{
    (void)type;
    return x == NULL || W(op)->self != NULL ? Py_NewRef(op) : wrapper_new(W(op)->def, W(op)->type, x);
}

static PyObject *wrapper_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    const slot_def *def = W(op)->def;
    PyObject *self = W(op)->self, *rest = NULL, *result;
    void *slot;
    if (self == NULL) {
        if (PyTuple_GET_SIZE(args) < 1 || !PyObject_TypeCheck(PyTuple_GET_ITEM(args, 0), W(op)->type))
            return PyErr_Format(PyExc_TypeError, "descriptor '%s' requires a '%.100s' object", def->name, W(op)->type->tp_name);
        self = PyTuple_GET_ITEM(args, 0);
        rest = args = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
        if (args == NULL)
            return NULL;
    }
    slot = PyType_GetSlot(W(op)->type, def->slot);
    result = def->wrap(def, (void (*)(void))(uintptr_t)slot, self, args, kwargs);
    Py_XDECREF(rest);
    return result;
}

static PyObject *wrapper_name(PyObject *op, void *none) { (void)none; return PyUnicode_FromString(W(op)->def->name); }
static PyObject *wrapper_repr(PyObject *op) { return PyUnicode_FromFormat("<slot wrapper '%s' of '%s' objects>", W(op)->def->name, W(op)->type->tp_name); }
static PyGetSetDef wrapper_getset[] = { { "__name__", wrapper_name, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

PyTypeObject PyWrapperDescr_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "wrapper_descriptor", .tp_basicsize = sizeof(slot_wrapper),
    .tp_dealloc = wrapper_dealloc, .tp_repr = wrapper_repr, .tp_call = wrapper_call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = wrapper_traverse, .tp_getset = wrapper_getset,
    .tp_descr_get = wrapper_get
};

/* __new__ of a type: a function that is bound to it. */
static PyObject *call_new(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyTypeObject *owner = (PyTypeObject *)(void *)self, *type;
    PyObject *rest, *op;
    if (PyTuple_GET_SIZE(args) < 1 || !PyType_Check(PyTuple_GET_ITEM(args, 0)))
        return PyErr_Format(PyExc_TypeError, "%s.__new__(X): X is not a type object", owner->tp_name);
    type = (PyTypeObject *)(void *)PyTuple_GET_ITEM(args, 0);
    if (!PyType_IsSubtype(type, owner))
        return PyErr_Format(PyExc_TypeError, "%s.__new__(%s): %s is not a subtype of %s", owner->tp_name, type->tp_name,
                            type->tp_name, owner->tp_name);
    rest = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
    op = rest != NULL ? owner->tp_new(type, rest, kwargs) : NULL;
    Py_XDECREF(rest);
    return op;
}

static PyMethodDef new_def = { "__new__", _PyCFunction_CAST(call_new), METH_VARARGS | METH_KEYWORDS, NULL };

/* For a type that was made in C. What it inherits, its base has. */
int py_add_slot_wrappers(PyTypeObject *type, PyObject *dict)
{
    const slot_def *def;
    for (def = defs; def->name != NULL; def++) {
        void *slot = PyType_GetSlot(type, def->slot);
        PyObject *value;
        if (slot == NULL || def->wrap == NULL || PyDict_GetItemString(dict, def->name) != NULL
            || (type->tp_base != NULL && PyType_GetSlot(type->tp_base, def->slot) == slot))
            continue;
        if (def->slot == Py_tp_hash && slot == (void *)(uintptr_t)PyObject_HashNotImplemented)
            value = Py_NewRef(Py_None);
        else
            value = wrapper_new(def, type, NULL);
        if (value == NULL || PyDict_SetItemString(dict, def->name, value) < 0) {
            Py_XDECREF(value);
            return -1;
        }
        Py_DECREF(value);
    }
    if (type->tp_new != NULL && PyDict_GetItemString(dict, "__new__") == NULL
        && (type->tp_base == NULL || type->tp_new != type->tp_base->tp_new)) {
        PyObject *f = PyCFunction_NewEx(&new_def, (PyObject *)(void *)type, NULL);
        int code = f != NULL ? PyDict_SetItemString(dict, "__new__", f) : -1;
        Py_XDECREF(f);
        return code;
    }
    return 0;
}

static void put_slot(PyHeapTypeObject *ht, const slot_def *def, void *value)
{
    PyTypeObject *type = &ht->ht_type;
#define tp(name) type->tp_##name
#define nb(name) ht->as_number.nb_##name
#define sq(name) ht->as_sequence.sq_##name
#define mp(name) ht->as_mapping.mp_##name
#define bf(name) ht->as_buffer.bf_##name
#define am(name) ht->as_async.am_##name
#define CPY_PUT_SLOT(group, name) case Py_##group##_##name: memcpy(&group(name), &value, sizeof value); break;
    switch (def->slot) {
        CPY_SLOTS(CPY_PUT_SLOT)
    }
}

/* A method of a class goes before what the base has in its slot; what is inherited is the slot itself. */
int py_fix_slots(PyTypeObject *type)
{
    const slot_def *def;
    for (def = defs; def->name != NULL; def++) {
        PyObject *name = py_str(def->name), *f = name != NULL ? _PyType_Lookup(type, name) : NULL;
        if (f == NULL) {
            if (PyErr_Occurred())
                return -1;
            continue;
        }
        if (f == Py_None && def->slot == Py_tp_hash)
            put_slot((PyHeapTypeObject *)(void *)type, def, (void *)(uintptr_t)PyObject_HashNotImplemented);
        else if (def->method != NULL && !Py_IS_TYPE(f, &PyWrapperDescr_Type) && !(def->slot == Py_tp_new && PyCFunction_Check(f)))
            put_slot((PyHeapTypeObject *)(void *)type, def, (void *)(uintptr_t)def->method);
    }
    /* With __eq__ alone, objects cannot be hashed. */
    if (PyDict_GetItemString(type->tp_dict, "__eq__") != NULL && PyDict_GetItemString(type->tp_dict, "__hash__") == NULL)
        type->tp_hash = PyObject_HashNotImplemented;
    return PyErr_Occurred() ? -1 : 0;
}
