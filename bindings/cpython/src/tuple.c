/* tuple.c - tuple. One that comes from the host gets its items when C first looks at them. */
#include "internal.h"

#define T(op) ((PyTupleObject *)(void *)(op))

/* There is one empty tuple. */
static PyObject *new_empty(void)
{
    py_state *py = PY;
    PyObject *op = py_alloc(&PyTuple_Type, 0);
    if (op == NULL)
        return PyErr_NoMemory();
    T(op)->filled = 1;
    if (!py->ended)
        py->empty_tuple = Py_NewRef(op);
    return op;
}

PyObject *PyTuple_New(Py_ssize_t n)
{
    PyObject *op;
    if (n == 0)
        return PY->empty_tuple != NULL ? Py_NewRef(PY->empty_tuple) : new_empty();
    op = n > 0 && n < PY_SPARE_ITEMS ? py_take_spare(PY_SPARE_TUPLE + (size_t)n) : NULL;
    if (op == NULL)
        op = py_alloc(&PyTuple_Type, n);
    if (op == NULL)
        return PyErr_NoMemory();
    T(op)->filled = 1;
    PyObject_GC_Track(op);
    return op;
}

/* A macro of CPython's that cannot fail leads here. */
PyObject **_PyTuple_Fill(PyObject *op)
{
    cvm_value v = py_host_of(op);
    Py_ssize_t i;
    if (v == CVM_NONE)
        Py_FatalError("the items of a tuple are looked at after its host object has gone");
    for (i = 0; i < PyTuple_GET_SIZE(op); i++) {
        T(op)->ob_item[i] = py_from_item(cvm_sequence_peek((cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op)), (size_t)i));
        if (T(op)->ob_item[i] == NULL)
            Py_FatalError("no memory for the items of a tuple");
    }
    py_become_full(op);
    T(op)->filled = 1;
    PyObject_GC_Track(op);
    return T(op)->ob_item;
}

PyObject *PyTuple_Pack(Py_ssize_t n, ...)
{
    PyObject *op = PyTuple_New(n);
    va_list args;
    Py_ssize_t i;
    va_start(args, n);
    for (i = 0; op != NULL && i < n; i++)
        T(op)->ob_item[i] = Py_NewRef(va_arg(args, PyObject *));
    va_end(args);
    return op;
}

PyObject *py_vec_to_tuple(PyObject *const *args, Py_ssize_t n)
{
    PyObject *op = PyTuple_New(n);
    Py_ssize_t i;
    for (i = 0; op != NULL && i < n; i++)
        T(op)->ob_item[i] = Py_XNewRef(args[i]);
    return op;
}

static int check(PyObject *op)
{
    if (op != NULL && PyTuple_Check(op))
        return 1;
    PyErr_BadInternalCall();
    return 0;
}

Py_ssize_t PyTuple_Size(PyObject *op)
{
    return check(op) ? PyTuple_GET_SIZE(op) : -1;
}

PyObject *PyTuple_GetItem(PyObject *op, Py_ssize_t i)
{
    if (!check(op))
        return NULL;
    if (i >= 0 && i < PyTuple_GET_SIZE(op))
        return py_borrowed(PyTuple_GET_ITEM(op, i), op, __func__);
    return PyErr_Format(PyExc_IndexError, "tuple index out of range");
}

int PyTuple_SetItem(PyObject *op, Py_ssize_t i, PyObject *item)
{
    PyObject *old;
    if (!check(op) || i < 0 || i >= PyTuple_GET_SIZE(op) || T(op)->seen) {
        Py_XDECREF(item);
        if (!PyErr_Occurred())
            PyErr_SetString(T(op)->seen ? PyExc_SystemError : PyExc_IndexError,
                            T(op)->seen ? "this tuple may not change any more" : "tuple assignment index out of range");
        return -1;
    }
    old = T(op)->ob_item[i];
    T(op)->ob_item[i] = item;
    Py_XDECREF(old);
    return 0;
}

PyObject *PyTuple_GetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high)
{
    if (!check(op))
        return NULL;
    low = Py_MIN(Py_MAX(low, 0), PyTuple_GET_SIZE(op));
    high = Py_MIN(Py_MAX(high, low), PyTuple_GET_SIZE(op));
    if (low == 0 && high == PyTuple_GET_SIZE(op) && PyTuple_CheckExact(op))
        return Py_NewRef(op);
    return py_vec_to_tuple(_PyTuple_ITEMS(op) + low, high - low);
}

/* The address may change, so that nobody else may know it. */
int _PyTuple_Resize(PyObject **op, Py_ssize_t n)
{
    PyObject *old = *op, *resized;
    Py_ssize_t i, size = old != NULL && PyTuple_CheckExact(old) ? PyTuple_GET_SIZE(old) : -1;
    if (size == n && n >= 0)
        return 0;
    *op = NULL;
    if (size < 0 || n < 0 || (size > 0 && (Py_REFCNT(old) != 1 || T(old)->seen))) {
        Py_XDECREF(old);
        PyErr_BadInternalCall();
        return -1;
    }
    if (size == 0) {
        Py_DECREF(old);
        *op = PyTuple_New(n);
        return *op != NULL ? 0 : -1;
    }
    PyObject_GC_UnTrack(old);
    for (i = n; i < size; i++)
        Py_CLEAR(T(old)->ob_item[i]);
    resized = (PyObject *)(void *)_PyObject_GC_Resize((PyVarObject *)(void *)old, n);
    if (resized == NULL) {
        Py_DECREF(old);
        return -1;
    }
    PyObject_GC_Track(resized);
    *op = resized;
    return 0;
}

/* ---- the type -------------------------------------------------------------- */

static void dealloc(PyObject *op)
{
    Py_ssize_t i;
    PyObject_GC_UnTrack(op);
    for (i = PyTuple_GET_SIZE(op); T(op)->filled && i-- > 0;)
        Py_XDECREF(T(op)->ob_item[i]);
    Py_TYPE(op)->tp_free(op);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_ssize_t i;
    for (i = 0; T(op)->filled && i < PyTuple_GET_SIZE(op); i++)
        Py_VISIT(T(op)->ob_item[i]);
    return 0;
}

/* (There is no tp_clear, as in CPython: something else in a cycle has one, and a tuple stays whole for it.) */
static PyObject *repr(PyObject *op)
{
    PyObject *text, *part;
    Py_ssize_t i, n = PyTuple_GET_SIZE(op);
    int inside = Py_ReprEnter(op);
    if (inside != 0)
        return inside > 0 ? PyUnicode_FromString("(...)") : NULL;
    text = PyUnicode_FromString("(");
    for (i = 0; text != NULL && i < n; i++) {
        PyObject *item = PyObject_Repr(PyTuple_GET_ITEM(op, i));
        part = item != NULL ? PyUnicode_FromFormat("%s%U", i > 0 ? ", " : "", item) : NULL;
        PyUnicode_Append(&text, part);
        Py_XDECREF(part);
        Py_XDECREF(item);
    }
    part = PyUnicode_FromString(n == 1 ? ",)" : ")");
    PyUnicode_Append(&text, part);
    Py_XDECREF(part);
    Py_ReprLeave(op);
    return text;
}

static Py_ssize_t length(PyObject *op) { return PyTuple_GET_SIZE(op); }

static PyObject *item(PyObject *op, Py_ssize_t i)
{
    PyObject *x = PyTuple_GetItem(op, i);
    if (x == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "item %zd of this tuple was not set yet", i);
    return Py_XNewRef(x);
}

static PyObject *concat(PyObject *a, PyObject *b)
{
    Py_ssize_t i, n = PyTuple_GET_SIZE(a);
    PyObject *both;
    if (!PyTuple_Check(b))
        return PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not \"%.200s\") to tuple", Py_TYPE(b)->tp_name);
    both = PyTuple_New(n + PyTuple_GET_SIZE(b));
    for (i = 0; both != NULL && i < PyTuple_GET_SIZE(both); i++)
        T(both)->ob_item[i] = Py_XNewRef(i < n ? PyTuple_GET_ITEM(a, i) : PyTuple_GET_ITEM(b, i - n));
    return both;
}

static PyObject *repeat(PyObject *op, Py_ssize_t times)
{
    Py_ssize_t i, n = PyTuple_GET_SIZE(op);
    PyObject *result;
    times = Py_MAX(times, 0);
    if (n > 0 && times > PY_SSIZE_T_MAX / 16 / n)
        return PyErr_NoMemory();
    result = PyTuple_New(n * times);
    for (i = 0; result != NULL && i < n * times; i++)
        T(result)->ob_item[i] = Py_XNewRef(PyTuple_GET_ITEM(op, i % n));
    return result;
}

static int contains(PyObject *op, PyObject *x)
{
    Py_ssize_t i;
    int same = 0;
    for (i = 0; same == 0 && i < PyTuple_GET_SIZE(op); i++)
        same = PyObject_RichCompareBool(PyTuple_GET_ITEM(op, i), x, Py_EQ);
    return same;
}

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    Py_ssize_t i, n, m;
    if (!PyTuple_Check(a) || !PyTuple_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    n = PyTuple_GET_SIZE(a);
    m = PyTuple_GET_SIZE(b);
    for (i = 0; i < n && i < m; i++) {
        int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i), Py_EQ);
        if (same < 0)
            return NULL;
        if (same == 0) {
            if (op == Py_EQ || op == Py_NE)
                return PyBool_FromLong(op == Py_NE);
            return PyObject_RichCompare(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i), op);
        }
    }
    Py_RETURN_RICHCOMPARE(n, m, op);
}

static Py_hash_t hash(PyObject *op)
{
    Py_uhash_t h = 0x345678;
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(op); i++) {
        Py_hash_t one = PyObject_Hash(PyTuple_GET_ITEM(op, i));
        if (one == -1)
            return -1;
        h = (h ^ (Py_uhash_t)one) * 1000003u + (h >> 11);
    }
    return (Py_hash_t)h == -1 ? -2 : (Py_hash_t)h;
}

static PyObject *tuple_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *x = NULL, *items, *op;
    Py_ssize_t i;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "|O:tuple", &x))
        return NULL;
    items = x != NULL ? PySequence_Tuple(x) : PyTuple_New(0);
    if (items == NULL || type == &PyTuple_Type)
        return items;
    op = type->tp_alloc(type, PyTuple_GET_SIZE(items));
    for (i = 0; op != NULL && i < PyTuple_GET_SIZE(items); i++)
        T(op)->ob_item[i] = Py_XNewRef(PyTuple_GET_ITEM(items, i));
    Py_DECREF(items);
    return op;
}

static PyObject *method_count(PyObject *op, PyObject *x) { Py_ssize_t n = PySequence_Count(op, x); return n < 0 ? NULL : PyLong_FromSsize_t(n); }
static PyObject *method_index(PyObject *op, PyObject *x) { Py_ssize_t n = PySequence_Index(op, x); return n < 0 ? NULL : PyLong_FromSsize_t(n); }

static PyMethodDef methods[] = {
    { "count", method_count, METH_O, NULL }, { "index", method_index, METH_O, NULL }, { NULL, NULL, 0, NULL }
};
static PySequenceMethods as_sequence = {
    .sq_length = length, .sq_concat = concat, .sq_repeat = repeat, .sq_item = item, .sq_contains = contains
};
static PyMappingMethods as_mapping = { .mp_length = length, .mp_subscript = py_subscript };

PyTypeObject PyTuple_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "tuple", .tp_basicsize = offsetof(PyTupleObject, ob_item),
    .tp_itemsize = sizeof(PyObject *), .tp_dealloc = dealloc, .tp_repr = repr, .tp_as_sequence = &as_sequence,
    .tp_as_mapping = &as_mapping, .tp_hash = hash, .tp_traverse = traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_TUPLE_SUBCLASS,
    .tp_richcompare = richcompare, .tp_iter = PySeqIter_New, .tp_methods = methods, .tp_new = tuple_new
};
