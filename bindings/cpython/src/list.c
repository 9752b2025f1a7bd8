/* list.c - list. One that comes from the host takes the items over when C first looks at them: the
 * host's array then reads them from here. */
#include "internal.h"

#define L(op) ((PyListObject *)(void *)(op))
#define LENGTH(op) (L(op)->ob_base.ob_size)

PyObject *PyList_New(Py_ssize_t n)
{
    PyObject *op = n >= 0 ? py_alloc(&PyList_Type, 0) : NULL;
    if (op == NULL)
        return PyErr_NoMemory();
    L(op)->filled = 1;
    if (n > 0) {
        L(op)->ob_item = PyMem_Calloc((size_t)n, sizeof(PyObject *));
        if (L(op)->ob_item == NULL) {
            Py_DECREF(op);
            return PyErr_NoMemory();
        }
        L(op)->allocated = LENGTH(op) = n;
    }
    PyObject_GC_Track(op);
    return op;
}

void _PyList_Fill(PyObject *op)
{
    cvm_value v = py_host_of(op);
    Py_ssize_t i, n;
    cvm_array *a;
    if (v == CVM_NONE)
        Py_FatalError("the items of a list are looked at after its host object has gone");
    n = (Py_ssize_t)cvm_sequence_length(v);
    L(op)->ob_item = PyMem_Calloc((size_t)n, sizeof(PyObject *));
    for (i = 0; L(op)->ob_item != NULL && i < n; i++) {
        v = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op));
        L(op)->ob_item[i] = py_from_item(cvm_sequence_peek(v, (size_t)i));
        if (L(op)->ob_item[i] == NULL)
            break;
    }
    if (i < n || L(op)->ob_item == NULL)
        Py_FatalError("no memory for the items of a list");
    v = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op));
    a = CVM_ARRAY_OF(v);
    a->ob = _Py_RRC(op);
    a->length = 0;
    cvm_store(py_vm, v, &a->items, CVM_NIL);
    a->head.flags |= CVM_OUTSIDE;
    L(op)->allocated = LENGTH(op) = n;
    L(op)->filled = 1;
    py_become_full(op);
    PyObject_GC_Track(op);
}

Py_ssize_t *_Py_SizeOfHosts(PyObject *op)
{
    return &_PyList_Filled(op)->ob_base.ob_size;
}

static int check(PyObject *op)
{
    if (op != NULL && PyList_Check(op))
        return 1;
    PyErr_BadInternalCall();
    return 0;
}

static int bad_index(const char *what)
{
    PyErr_SetString(PyExc_IndexError, what);
    return -1;
}

/* Room for n items. */
static int resize(PyObject *op, Py_ssize_t n)
{
    Py_ssize_t wanted = n + n / 8 + 6;
    PyObject **items;
    if (n <= L(op)->allocated)
        return 0;
    items = wanted < PY_SSIZE_T_MAX / 16 ? PyMem_Realloc(L(op)->ob_item, (size_t)wanted * sizeof *items) : NULL;
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    L(op)->ob_item = items;
    L(op)->allocated = wanted;
    return 0;
}

Py_ssize_t PyList_Size(PyObject *op)
{
    cvm_value v;
    if (!check(op))
        return -1;
    if (L(op)->filled)
        return LENGTH(op);
    v = py_host_of(op);                 /* the length alone is no reason to take the items over */
    return v != CVM_NONE ? (Py_ssize_t)cvm_sequence_length(v) : -1;
}

PyObject *PyList_GetItem(PyObject *op, Py_ssize_t i)
{
    if (!check(op))
        return NULL;
    if (i >= 0 && i < PyList_GET_SIZE(op))
        return py_borrowed(L(op)->ob_item[i], op, __func__);
    bad_index("list index out of range");
    return NULL;
}

int PyList_SetItem(PyObject *op, Py_ssize_t i, PyObject *item)
{
    PyObject *old;
    if (!check(op) || i < 0 || i >= PyList_GET_SIZE(op)) {
        Py_XDECREF(item);
        return PyErr_Occurred() ? -1 : bad_index("list assignment index out of range");
    }
    old = L(op)->ob_item[i];
    L(op)->ob_item[i] = item;
    Py_XDECREF(old);
    return 0;
}

int PyList_Insert(PyObject *op, Py_ssize_t i, PyObject *item)
{
    Py_ssize_t n;
    if (!check(op) || item == NULL)
        return -1;
    n = PyList_GET_SIZE(op);
    if (resize(op, n + 1) < 0)
        return -1;
    i = i < 0 ? Py_MAX(i + n, 0) : Py_MIN(i, n);
    memmove(&L(op)->ob_item[i + 1], &L(op)->ob_item[i], (size_t)(n - i) * sizeof(PyObject *));
    L(op)->ob_item[i] = Py_NewRef(item);
    LENGTH(op) = n + 1;
    return 0;
}

int PyList_Append(PyObject *op, PyObject *item)
{
    PY_USES(op);
    return PyList_Insert(op, PY_SSIZE_T_MAX, item);
}

PyObject *PyList_GetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high)
{
    Py_ssize_t i, n;
    PyObject *part;
    if (!check(op))
        return NULL;
    n = PyList_GET_SIZE(op);
    low = Py_MIN(Py_MAX(low, 0), n);
    high = Py_MIN(Py_MAX(high, low), n);
    part = PyList_New(high - low);
    for (i = low; part != NULL && i < high; i++)
        L(part)->ob_item[i - low] = Py_XNewRef(L(op)->ob_item[i]);
    return part;
}

/* What goes is dropped last: that may run code which comes back here. */
int PyList_SetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high, PyObject *items)
{
    PyObject *new_items = !check(op) ? NULL : items != NULL ? PySequence_List(items) : PyList_New(0);
    PyObject *old;
    Py_ssize_t n, m, i;
    if (new_items == NULL)
        return -1;
    n = PyList_GET_SIZE(op);
    low = Py_MIN(Py_MAX(low, 0), n);
    high = Py_MIN(Py_MAX(high, low), n);
    m = PyList_GET_SIZE(new_items);
    old = PyList_New(high - low);
    if (old == NULL || resize(op, n - (high - low) + m) < 0) {
        Py_XDECREF(old);
        Py_DECREF(new_items);
        return -1;
    }
    for (i = low; i < high; i++)
        L(old)->ob_item[i - low] = L(op)->ob_item[i];
    if (n > high)
        memmove(&L(op)->ob_item[low + m], &L(op)->ob_item[high], (size_t)(n - high) * sizeof(PyObject *));
    for (i = 0; i < m; i++)
        L(op)->ob_item[low + i] = Py_XNewRef(L(new_items)->ob_item[i]);
    LENGTH(op) = n - (high - low) + m;
    Py_DECREF(new_items);
    Py_DECREF(old);
    return 0;
}

PyObject *_PyList_Extend(PyListObject *list, PyObject *items)
{
    PyObject *op = (PyObject *)(void *)list;
    Py_ssize_t n = PyList_GET_SIZE(op);
    if (PyList_SetSlice(op, n, n, items) < 0)
        return NULL;
    Py_RETURN_NONE;
}

PyObject *PyList_AsTuple(PyObject *op)
{
    return check(op) ? py_vec_to_tuple(_PyList_ITEMS(op), PyList_GET_SIZE(op)) : NULL;
}

int PyList_Reverse(PyObject *op)
{
    Py_ssize_t i, n;
    if (!check(op))
        return -1;
    n = PyList_GET_SIZE(op);
    for (i = 0; i < n / 2; i++) {
        PyObject *x = L(op)->ob_item[i];
        L(op)->ob_item[i] = L(op)->ob_item[n - 1 - i];
        L(op)->ob_item[n - 1 - i] = x;
    }
    return 0;
}

static PyObject *not_set(Py_ssize_t i)
{
    return PyErr_Format(PyExc_SystemError, "item %zd of this list was not set yet", i);
}

/* Merge sort: stable, and the items stay owned whatever a comparison does. */
static int sort(PyObject **items, PyObject **keys, PyObject **room, Py_ssize_t n)
{
    Py_ssize_t half = n / 2, i = 0, k = half, at = 0;
    if (n < 2)
        return 0;
    if (sort(items, keys, room, half) < 0 || sort(items + half, keys + half, room, n - half) < 0)
        return -1;
    while (i < half || k < n) {
        int later = i == half ? 1 : k == n ? 0 : PyObject_RichCompareBool(keys[k], keys[i], Py_LT);
        if (later < 0)
            return -1;
        room[2 * at] = later ? items[k] : items[i];
        room[2 * at++ + 1] = later ? keys[k++] : keys[i++];
    }
    for (i = 0; i < n; i++) {
        items[i] = room[2 * i];
        keys[i] = room[2 * i + 1];
    }
    return 0;
}

static int sort_by(PyObject *op, PyObject *key, int reverse)
{
    Py_ssize_t i, n = PyList_GET_SIZE(op);
    PyObject *items = PyList_GetSlice(op, 0, n), *keys = PyList_New(n), **room;
    int code = -1;
    room = PyMem_Malloc((size_t)n * 2 * sizeof *room);
    if (items == NULL || keys == NULL || room == NULL)
        goto done;
    if (reverse)
        PyList_Reverse(items);
    for (i = 0; i < n; i++) {
        L(keys)->ob_item[i] = key != NULL && L(items)->ob_item[i] != NULL ? PyObject_CallOneArg(key, L(items)->ob_item[i])
                                                                        : Py_XNewRef(L(items)->ob_item[i]);
        if (L(keys)->ob_item[i] == NULL) {
            if (!PyErr_Occurred())
                not_set(i);
            goto done;
        }
    }
    if (sort(L(items)->ob_item, L(keys)->ob_item, room, n) == 0) {
        if (reverse)
            PyList_Reverse(items);
        code = PyList_SetSlice(op, 0, n, items);
    }
done:
    PyMem_Free(room);
    Py_XDECREF(keys);
    Py_XDECREF(items);
    return code;
}

int PyList_Sort(PyObject *op)
{
    return check(op) ? sort_by(op, NULL, 0) : -1;
}

/* ---- the type -------------------------------------------------------------- */

static void dealloc(PyObject *op)
{
    Py_ssize_t i;
    PyObject_GC_UnTrack(op);
    for (i = LENGTH(op); i-- > 0;)
        Py_XDECREF(L(op)->ob_item[i]);
    PyMem_Free(L(op)->ob_item);
    Py_TYPE(op)->tp_free(op);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_ssize_t i;
    for (i = 0; i < LENGTH(op); i++)
        Py_VISIT(L(op)->ob_item[i]);
    return 0;
}

static int clear(PyObject *op)
{
    while (LENGTH(op) > 0) {
        PyObject *x = L(op)->ob_item[--LENGTH(op)];
        Py_XDECREF(x);
    }
    return 0;
}

static PyObject *repr(PyObject *op)
{
    PyObject *text, *part;
    Py_ssize_t i;
    int inside = Py_ReprEnter(op);
    if (inside != 0)
        return inside > 0 ? PyUnicode_FromString("[...]") : NULL;
    text = PyUnicode_FromString("[");
    for (i = 0; text != NULL && i < PyList_GET_SIZE(op); i++) {
        PyObject *x = Py_XNewRef(L(op)->ob_item[i]), *item = PyObject_Repr(x);
        part = item != NULL ? PyUnicode_FromFormat("%s%U", i > 0 ? ", " : "", item) : NULL;
        PyUnicode_Append(&text, part);
        Py_XDECREF(part);
        Py_XDECREF(item);
        Py_XDECREF(x);
    }
    part = PyUnicode_FromString("]");
    PyUnicode_Append(&text, part);
    Py_XDECREF(part);
    Py_ReprLeave(op);
    return text;
}

static Py_ssize_t length(PyObject *op) { return PyList_GET_SIZE(op); }

static PyObject *item(PyObject *op, Py_ssize_t i)
{
    PyObject *x = PyList_GetItem(op, i);
    return x != NULL || PyErr_Occurred() ? Py_XNewRef(x) : not_set(i);
}

static int ass_item(PyObject *op, Py_ssize_t i, PyObject *x)
{
    if (x != NULL)
        return PyList_SetItem(op, i, Py_NewRef(x));
    if (i < 0 || i >= PyList_GET_SIZE(op))
        return bad_index("list assignment index out of range");
    return PyList_SetSlice(op, i, i + 1, NULL);
}

static PyObject *concat(PyObject *a, PyObject *b)
{
    PyObject *both;
    Py_ssize_t n = PyList_GET_SIZE(a);
    if (!PyList_Check(b))
        return PyErr_Format(PyExc_TypeError, "can only concatenate list (not \"%.200s\") to list", Py_TYPE(b)->tp_name);
    both = PyList_GetSlice(a, 0, n);
    if (both != NULL && PyList_SetSlice(both, n, n, b) < 0)
        Py_CLEAR(both);
    return both;
}

static PyObject *inplace_concat(PyObject *a, PyObject *b)
{
    Py_ssize_t n = PyList_GET_SIZE(a);
    return PyList_SetSlice(a, n, n, b) < 0 ? NULL : Py_NewRef(a);
}

static PyObject *repeat(PyObject *op, Py_ssize_t times)
{
    Py_ssize_t i, n = PyList_GET_SIZE(op);
    PyObject *result;
    times = Py_MAX(times, 0);
    if (n > 0 && times > PY_SSIZE_T_MAX / 16 / n)
        return PyErr_NoMemory();
    result = PyList_New(n * times);
    for (i = 0; result != NULL && i < n * times; i++)
        L(result)->ob_item[i] = Py_XNewRef(L(op)->ob_item[i % n]);
    return result;
}

static PyObject *inplace_repeat(PyObject *op, Py_ssize_t times)
{
    PyObject *all = repeat(op, times);
    int code = all != NULL ? PyList_SetSlice(op, 0, PY_SSIZE_T_MAX, all) : -1;
    Py_XDECREF(all);
    return code < 0 ? NULL : Py_NewRef(op);
}

static int contains(PyObject *op, PyObject *x)
{
    Py_ssize_t i;
    int same = 0;
    for (i = 0; same == 0 && i < PyList_GET_SIZE(op); i++) {
        PyObject *y = Py_XNewRef(L(op)->ob_item[i]);
        same = PyObject_RichCompareBool(y, x, Py_EQ);
        Py_XDECREF(y);
    }
    return same;
}

static int ass_subscript(PyObject *op, PyObject *key, PyObject *x)
{
    Py_ssize_t start, stop, step, n, i;
    int code = 0;
    if (PyIndex_Check(key)) {
        i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        if (i == -1 && PyErr_Occurred())
            return -1;
        return ass_item(op, i < 0 ? i + PyList_GET_SIZE(op) : i, x);
    }
    if (!PySlice_Check(key) || PySlice_GetIndicesEx(key, PyList_GET_SIZE(op), &start, &stop, &step, &n) < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "list indices must be integers or slices, not %.200s", Py_TYPE(key)->tp_name);
        return -1;
    }
    if (step == 1)
        return PyList_SetSlice(op, start, Py_MAX(start, stop), x);
    if (x == NULL) {                    /* from the end, whose items do not move those before */
        for (i = 0; code == 0 && i < n; i++) {
            Py_ssize_t at = step > 0 ? start + (n - 1 - i) * step : start + i * step;
            code = PyList_SetSlice(op, at, at + 1, NULL);
        }
        return code;
    }
    x = PySequence_List(x);
    if (x != NULL && PyList_GET_SIZE(x) != n) {
        PyErr_Format(PyExc_ValueError, "attempt to assign sequence of size %zd to extended slice of size %zd", PyList_GET_SIZE(x), n);
        Py_CLEAR(x);
    }
    for (i = 0; x != NULL && code == 0 && i < n; i++)
        code = PyList_SetItem(op, start + i * step, Py_XNewRef(L(x)->ob_item[i]));
    if (x == NULL)
        code = -1;
    Py_XDECREF(x);
    return code;
}

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    Py_ssize_t i;
    if (!PyList_Check(a) || !PyList_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    if ((op == Py_EQ || op == Py_NE) && PyList_GET_SIZE(a) != PyList_GET_SIZE(b))
        return PyBool_FromLong(op == Py_NE);
    for (i = 0; i < PyList_GET_SIZE(a) && i < PyList_GET_SIZE(b); i++) {
        PyObject *x = Py_XNewRef(L(a)->ob_item[i]), *y = Py_XNewRef(L(b)->ob_item[i]), *result = NULL;
        int same = PyObject_RichCompareBool(x, y, Py_EQ);
        if (same == 0)
            result = op == Py_EQ || op == Py_NE ? PyBool_FromLong(op == Py_NE) : PyObject_RichCompare(x, y, op);
        Py_XDECREF(x);
        Py_XDECREF(y);
        if (same != 1)
            return result;
    }
    Py_RETURN_RICHCOMPARE(PyList_GET_SIZE(a), PyList_GET_SIZE(b), op);
}

static int list_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *x = NULL;
    (void)kwargs;
    L(op)->filled = 1;
    if (!PyArg_ParseTuple(args, "|O:list", &x))
        return -1;
    return PyList_SetSlice(op, 0, PY_SSIZE_T_MAX, x);
}

static PyObject *list_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    return type->tp_alloc(type, 0);
}

static PyObject *method_append(PyObject *op, PyObject *x)
{
    if (PyList_Append(op, x) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_insert(PyObject *op, PyObject *args)
{
    Py_ssize_t i;
    PyObject *x;
    if (!PyArg_ParseTuple(args, "nO:insert", &i, &x) || PyList_Insert(op, i, x) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_pop(PyObject *op, PyObject *args)
{
    Py_ssize_t i = -1;
    PyObject *x;
    if (!PyArg_ParseTuple(args, "|n:pop", &i))
        return NULL;
    if (i < 0)
        i += PyList_GET_SIZE(op);
    x = i < 0 || i >= PyList_GET_SIZE(op) ? PyErr_Format(PyExc_IndexError, "pop index out of range") : item(op, i);
    if (x != NULL && PyList_SetSlice(op, i, i + 1, NULL) < 0)
        Py_CLEAR(x);
    return x;
}

static PyObject *method_extend(PyObject *op, PyObject *x) { return _PyList_Extend(L(op), x); }

static PyObject *method_sort(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "key", "reverse", NULL };
    PyObject *key = Py_None;
    int reverse = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|Op:sort", names, &key, &reverse)
        || sort_by(op, key != Py_None ? key : NULL, reverse) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_reverse(PyObject *op, PyObject *none)
{
    (void)none;
    PyList_Reverse(op);
    Py_RETURN_NONE;
}

static PyObject *method_index(PyObject *op, PyObject *x) { Py_ssize_t n = PySequence_Index(op, x); return n < 0 ? NULL : PyLong_FromSsize_t(n); }

static PyObject *method_count(PyObject *op, PyObject *x) { Py_ssize_t n = PySequence_Count(op, x); return n < 0 ? NULL : PyLong_FromSsize_t(n); }
static PyObject *method_copy(PyObject *op, PyObject *none) { (void)none; return PyList_GetSlice(op, 0, PY_SSIZE_T_MAX); }

static PyObject *method_remove(PyObject *op, PyObject *x)
{
    Py_ssize_t i = PySequence_Index(op, x);
    if (i < 0 || PyList_SetSlice(op, i, i + 1, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *method_clear(PyObject *op, PyObject *none)
{
    (void)none;
    if (PyList_SetSlice(op, 0, PY_SSIZE_T_MAX, NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "count", method_count, METH_O, NULL }, { "copy", method_copy, METH_NOARGS, NULL },
    { "remove", method_remove, METH_O, NULL }, { "clear", method_clear, METH_NOARGS, NULL },
    { "append", method_append, METH_O, NULL }, { "insert", method_insert, METH_VARARGS, NULL },
    { "pop", method_pop, METH_VARARGS, NULL }, { "extend", method_extend, METH_O, NULL },
    { "sort", _PyCFunction_CAST(method_sort), METH_VARARGS | METH_KEYWORDS, NULL },
    { "reverse", method_reverse, METH_NOARGS, NULL }, { "index", method_index, METH_O, NULL },
    { NULL, NULL, 0, NULL }
};
static PySequenceMethods as_sequence = {
    .sq_length = length, .sq_concat = concat, .sq_repeat = repeat, .sq_item = item, .sq_ass_item = ass_item,
    .sq_contains = contains, .sq_inplace_concat = inplace_concat, .sq_inplace_repeat = inplace_repeat
};
static PyMappingMethods as_mapping = { .mp_length = length, .mp_subscript = py_subscript, .mp_ass_subscript = ass_subscript };

PyTypeObject PyList_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "list", .tp_basicsize = sizeof(PyListObject), .tp_dealloc = dealloc,
    .tp_repr = repr, .tp_as_sequence = &as_sequence, .tp_as_mapping = &as_mapping, .tp_hash = PyObject_HashNotImplemented,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_LIST_SUBCLASS,
    .tp_traverse = traverse, .tp_clear = clear, .tp_richcompare = richcompare, .tp_iter = PySeqIter_New, .tp_methods = methods,
    .tp_init = list_init, .tp_new = list_new
};
