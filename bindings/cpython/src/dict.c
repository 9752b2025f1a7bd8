/* dict.c - dict. All data is the host's: the object here stands for it. What C borrows from a dict
 * lives as long as the host's object that stands there. A number that C borrows needs an object
 * for that, which the slot gets when it is first borrowed. */
#include "internal.h"

static int check(PyObject *op)
{
    if (op != NULL && PyDict_Check(op))
        return 1;
    PyErr_BadInternalCall();
    return 0;
}

PyObject *PyDict_New(void)
{
    return py_from_value(cvm_dict_new(py_vm));
}

/* The value v in a container lends its object. */
static PyObject *note_lent(cvm_value v, PyObject *op)
{
    rrc_touch(py_vm->rrc, _Py_RRC(op));
    if (cvm_is(v, CVM_FOREIGN))
        CVM_FOREIGN_OF(v)->lent = 1;
    return op;
}

/* What borrow does where the value does not name its object. */
__attribute__((noinline)) static PyObject *borrow_other(cvm_value owner, cvm_value *slot)
{
    size_t scope, offset = (size_t)((char *)slot - (char *)owner);
    cvm_value *r_owner, v = *slot;
    PyObject *op = (PyObject *)(void *)cvm_linked_ob(py_vm, v);
    if (op != NULL)
        return note_lent(v, op);
    scope = cvm_open(py_vm);
    r_owner = cvm_root(py_vm, owner);
    if (cvm_is_fixnum(v)) {
        v = cvm_whole_new(py_vm, cvm_fixnum_of(v));
        if (v != CVM_NONE)
            cvm_store(py_vm, *r_owner, (cvm_value *)(void *)((char *)*r_owner + offset), v);
    }
    if (cvm_is(v, CVM_FOREIGN))
        CVM_FOREIGN_OF(v)->lent = 1;
    op = py_from_item(v);
    cvm_close(py_vm, scope);
    Py_XDECREF(op);                     /* the host's object keeps it */
    return op;
}

/* Borrowed: the object of what stands in the slot of this object of the heap. */
static PyObject *borrow(cvm_value owner, cvm_value *slot)
{
    cvm_value v = *slot;
    PyObject *op = cvm_is_object(v) ? (PyObject *)(void *)cvm_named_ob(v) : NULL;
    return op != NULL ? note_lent(v, op) : borrow_other(owner, slot);
}

/* The host's dict and a key of it in rooted slots. 0 after a failure. */
static int open_both(PyObject *op, PyObject *key, cvm_value **d, cvm_value **k)
{
    if (!check(op) || key == NULL || !cvm_stack_room(py_vm, CVM_STACK_SPARE))
        return 0;
    *k = cvm_root(py_vm, py_to_value(key));
    *d = cvm_root(py_vm, **k != CVM_NONE ? py_host_of(op) : CVM_NONE);
    return **d != CVM_NONE;
}

PyObject *PyDict_GetItemWithError(PyObject *op, PyObject *key)
{
    size_t scope;
    cvm_value *d, *k, *slot, dict, text;
    PyObject *value = NULL;
    if (op != NULL && key != NULL && PyDict_Check(op)) {
        dict = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op));
        text = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(key));
        slot = dict != CVM_NONE && text != CVM_NONE ? cvm_dict_place_itself(dict, text) : NULL;
        if (slot != NULL)
            return py_borrowed(borrow(CVM_DICT_OF(dict)->entries, slot), op, __func__);
    }
    scope = cvm_open(py_vm);
    if (open_both(op, key, &d, &k)) {
        slot = cvm_dict_place(py_vm, *d, *k);
        if (slot != NULL)
            value = borrow(CVM_DICT_OF(*d)->entries, slot);
        else if (py_vm->error.failed)
            py_fetch_failure();
    }
    cvm_close(py_vm, scope);
    return py_borrowed(value, op, __func__);
}

PyObject *PyDict_GetItem(PyObject *op, PyObject *key)
{
    PyObject *type, *value, *traceback, *result;
    PyErr_Fetch(&type, &value, &traceback);
    result = PyDict_GetItemWithError(op, key);
    PyErr_Restore(type, value, traceback);
    return result;
}

PyObject *PyDict_GetItemString(PyObject *op, const char *key)
{
    PyObject *k = py_str(key);
    return k != NULL ? PyDict_GetItem(op, k) : NULL;
}

/* The host's value for one that C puts into a dict. C may drop its only reference then, and use the object as long as the
   dict has it. So a number becomes the view of the host's. */
static cvm_value value_to_keep(PyObject *value)
{
    cvm_value v;
    intptr_t n;
    int is_whole = value != NULL && PyLong_CheckExact(value) && py_long_fits(value, &n);
    if (value == NULL || (!is_whole && !PyFloat_CheckExact(value)))
        return py_to_value(value);
    v = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(value));
    if (v != CVM_NONE || Py_REFCNT(value) != 1)
        return v != CVM_NONE ? v : py_to_value(value);
    v = is_whole ? cvm_whole_new(py_vm, n) : cvm_real_new(py_vm, PyFloat_AS_DOUBLE(value));
    if (v == CVM_NONE || !cvm_make_view(py_vm, v, _Py_RRC(value))) {
        py_fetch_failure();
        return CVM_NONE;
    }
    return v;
}

int PyDict_SetItem(PyObject *op, PyObject *key, PyObject *value)
{
    size_t scope = cvm_open(py_vm);
    cvm_value *d, *k, *v;
    int ok = 0;
    if (open_both(op, key, &d, &k)) {
        v = cvm_root(py_vm, value_to_keep(value));
        ok = *v != CVM_NONE && cvm_dict_set(py_vm, *d, *k, *v);
        if (!ok && py_vm->error.failed)
            py_fetch_failure();
    }
    cvm_close(py_vm, scope);
    (void)py_borrowed(value, op, __func__);
    return ok ? 0 : -1;
}

int PyDict_SetItemString(PyObject *op, const char *key, PyObject *value)
{
    PyObject *k = PyUnicode_FromString(key);
    int code = k != NULL ? PyDict_SetItem(op, k, value) : -1;
    Py_XDECREF(k);
    return code;
}

PyObject *PyDict_SetDefault(PyObject *op, PyObject *key, PyObject *value)
{
    PyObject *known = PyDict_GetItemWithError(op, key);
    if (known != NULL || PyErr_Occurred() || PyDict_SetItem(op, key, value) < 0)
        return known;
    return PyDict_GetItemWithError(op, key);
}

int PyDict_DelItem(PyObject *op, PyObject *key)
{
    size_t scope = cvm_open(py_vm);
    cvm_value *d, *k;
    int code = -1;
    if (open_both(op, key, &d, &k)) {
        if (cvm_dict_remove(py_vm, *d, *k))
            code = 0;
        else if (py_vm->error.failed)
            py_fetch_failure();
        else
            _PyErr_SetKeyError(key);
    }
    cvm_close(py_vm, scope);
    return code;
}

int PyDict_DelItemString(PyObject *op, const char *key)
{
    PyObject *k = PyUnicode_FromString(key);
    int code = k != NULL ? PyDict_DelItem(op, k) : -1;
    Py_XDECREF(k);
    return code;
}

int PyDict_Contains(PyObject *op, PyObject *key)
{
    size_t scope = cvm_open(py_vm);
    cvm_value *d, *k;
    int found = -1;
    if (open_both(op, key, &d, &k)) {
        found = cvm_dict_place(py_vm, *d, *k) != NULL;
        if (py_vm->error.failed) {
            py_fetch_failure();
            found = -1;
        }
    }
    cvm_close(py_vm, scope);
    return found;
}

Py_ssize_t PyDict_Size(PyObject *op)
{
    cvm_value d = check(op) ? py_host_of(op) : CVM_NONE;
    return d != CVM_NONE ? (Py_ssize_t)CVM_DICT_OF(d)->count : -1;
}

/* *at is the number of the next entry: a walk over all is linear. */
int PyDict_Next(PyObject *op, Py_ssize_t *at, PyObject **key, PyObject **value)
{
    cvm_value d = PyDict_Check(op) ? (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op)) : CVM_NONE;
    size_t i = (size_t)*at;
    if (d == CVM_NONE)
        return 0;
    while (i < CVM_DICT_OF(d)->used && CVM_VECTOR_OF(CVM_DICT_OF(d)->entries)->items[2 * i] == CVM_NONE)
        i++;
    if (i >= CVM_DICT_OF(d)->used)
        return 0;
    *at = (Py_ssize_t)i + 1;
    if (key != NULL) {
        *key = borrow(CVM_DICT_OF(d)->entries, &CVM_VECTOR_OF(CVM_DICT_OF(d)->entries)->items[2 * i]);
        d = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op));
    }
    if (value != NULL)
        *value = borrow(CVM_DICT_OF(d)->entries, &CVM_VECTOR_OF(CVM_DICT_OF(d)->entries)->items[2 * i + 1]);
    if (key != NULL)
        (void)py_borrowed(*key, op, __func__);
    if (value != NULL)
        (void)py_borrowed(*value, op, __func__);
    return (key == NULL || *key != NULL) && (value == NULL || *value != NULL);
}

void PyDict_Clear(PyObject *op)
{
    cvm_value d = PyDict_Check(op) ? (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op)) : CVM_NONE;
    if (d == CVM_NONE)
        return;
    cvm_store(py_vm, d, &CVM_DICT_OF(d)->entries, CVM_NIL);
    cvm_store(py_vm, d, &CVM_DICT_OF(d)->index, CVM_NIL);
    CVM_DICT_OF(d)->count = CVM_DICT_OF(d)->used = 0;
    CVM_DICT_OF(d)->added++;
    py_forget_lookups(py_vm);
}

/* 0 the keys, 1 the values, 2 pairs of both, in a list. */
static PyObject *column(PyObject *op, int which)
{
    PyObject *list = check(op) ? PyList_New(0) : NULL, *key, *value;
    Py_ssize_t at = 0;
    while (list != NULL && PyDict_Next(op, &at, &key, &value)) {
        PyObject *item = which == 0 ? Py_NewRef(key) : which == 1 ? Py_NewRef(value) : PyTuple_Pack(2, key, value);
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

PyObject *PyDict_Keys(PyObject *op) { return column(op, 0); }
PyObject *PyDict_Values(PyObject *op) { return column(op, 1); }
PyObject *PyDict_Items(PyObject *op) { return column(op, 2); }

int PyDict_Merge(PyObject *op, PyObject *other, int override)
{
    PyObject *key, *value, *keys;
    Py_ssize_t at = 0, i;
    int code = 0;
    if (!check(op))
        return -1;
    if (PyDict_Check(other)) {
        while (code == 0 && PyDict_Next(other, &at, &key, &value)) {
            int known = override ? 0 : PyDict_Contains(op, key);
            Py_INCREF(key);
            Py_INCREF(value);
            code = known < 0 ? -1 : known ? 0 : PyDict_SetItem(op, key, value);
            Py_DECREF(key);
            Py_DECREF(value);
        }
        return PyErr_Occurred() ? -1 : code;
    }
    keys = PyMapping_Keys(other);
    if (keys == NULL)
        return -1;
    for (i = 0; code == 0 && i < PyList_GET_SIZE(keys); i++) {
        int known;
        key = PyList_GET_ITEM(keys, i);
        known = override ? 0 : PyDict_Contains(op, key);
        value = known == 0 ? PyObject_GetItem(other, key) : NULL;
        code = known < 0 || (known == 0 && value == NULL) ? -1 : known ? 0 : PyDict_SetItem(op, key, value);
        Py_XDECREF(value);
    }
    Py_DECREF(keys);
    return code;
}

int PyDict_Update(PyObject *op, PyObject *other) { return PyDict_Merge(op, other, 1); }

/* Each item is a sequence of a key and a value. */
int PyDict_MergeFromSeq2(PyObject *op, PyObject *pairs, int override)
{
    PyObject *it = PyObject_GetIter(pairs), *item, *pair, *key, *value;
    Py_ssize_t i;
    int known;
    if (it == NULL)
        return -1;
    for (i = 0; (item = PyIter_Next(it)) != NULL; i++) {
        pair = PySequence_Fast(item, "");
        if (pair == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "cannot convert dictionary update sequence element #%zd to a sequence", i);
        else if (pair != NULL && PySequence_Fast_GET_SIZE(pair) != 2)
            PyErr_Format(PyExc_ValueError, "dictionary update sequence element #%zd has length %zd; 2 is required", i,
                         PySequence_Fast_GET_SIZE(pair));
        if (!PyErr_Occurred()) {
            key = Py_NewRef(PySequence_Fast_GET_ITEM(pair, 0));
            value = Py_NewRef(PySequence_Fast_GET_ITEM(pair, 1));
            known = override ? 0 : PyDict_Contains(op, key);
            if (known == 0)
                PyDict_SetItem(op, key, value);
            Py_DECREF(key);
            Py_DECREF(value);
        }
        Py_XDECREF(pair);
        Py_DECREF(item);
        if (PyErr_Occurred())
            break;
    }
    Py_DECREF(it);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *PyDict_Copy(PyObject *op)
{
    PyObject *copy = check(op) ? PyDict_New() : NULL;
    if (copy != NULL && PyDict_Update(copy, op) < 0)
        Py_CLEAR(copy);
    return copy;
}

/* ---- keys that are objects of C ------------------------------------------- */

/* For the host's dicts: see hostdict.c. */
uint32_t py_dict_hash(cvm *vm, cvm_value key, int *failed)
{
    cvm *saved = py_vm;
    PyObject *op;
    Py_hash_t h = -1;
    py_vm = vm;
    op = py_from_item(key);
    if (op != NULL && PyUnicode_Check(op)) {
        Py_ssize_t n;
        const char *utf8 = PyUnicode_AsUTF8AndSize(op, &n);
        h = utf8 != NULL ? (Py_hash_t)cvm_hash_bytes(utf8, (size_t)n) : -1;
    } else if (op != NULL) {
        h = PyObject_Hash(op);
        h ^= (Py_hash_t)((uint64_t)h >> 32);
    }
    *failed = op == NULL || PyErr_Occurred() != NULL;
    Py_XDECREF(op);
    if (*failed)
        py_fail();
    py_vm = saved;
    return (uint32_t)h != 0 ? (uint32_t)h : 1;
}

int py_dict_same(cvm *vm, cvm_value a, cvm_value b)
{
    cvm *saved = py_vm;
    PyObject *x, *y;
    int same;
    py_vm = vm;
    x = py_from_item(a);
    y = x != NULL ? py_from_item(b) : NULL;
    same = y != NULL ? PyObject_RichCompareBool(x, y, Py_EQ) : -1;
    Py_XDECREF(x);
    Py_XDECREF(y);
    if (same < 0)
        py_fail();
    py_vm = saved;
    return same;
}

/* ---- the type -------------------------------------------------------------- */

/* As PyDict_Next, but with new references: so no slot gets an object for a number, and nothing is made in
   the heap while the language prints. */
static int next_new(PyObject *op, size_t *at, PyObject **key, PyObject **value)
{
    cvm_value d = py_host_of(op);
    while (d != CVM_NONE && *at < CVM_DICT_OF(d)->used) {
        const cvm_value *entry = &CVM_VECTOR_OF(CVM_DICT_OF(d)->entries)->items[2 * (*at)++];
        if (*entry == CVM_NONE)
            continue;
        *key = py_from_item(cvm_plain(entry[0]));
        *value = *key != NULL ? py_from_item(cvm_plain(entry[1])) : NULL;
        if (*value == NULL)
            Py_CLEAR(*key);
        return *value != NULL;
    }
    return 0;
}

/* "key: value", with a comma before it; NULL after a failure. */
static PyObject *entry_repr(PyObject *key, PyObject *value, int first)
{
    PyObject *k = PyObject_Repr(key), *v = k != NULL ? PyObject_Repr(value) : NULL, *text;
    text = v != NULL ? PyUnicode_FromFormat("%s%U: %U", first ? "" : ", ", k, v) : NULL;
    Py_XDECREF(k);
    Py_XDECREF(v);
    return text;
}

static PyObject *repr(PyObject *op)
{
    PyObject *text, *part, *key, *value;
    size_t at = 0;
    int first = 1, inside = Py_ReprEnter(op);
    if (inside != 0)
        return inside > 0 ? PyUnicode_FromString("{...}") : NULL;
    text = PyUnicode_FromString("{");
    for (; text != NULL && next_new(op, &at, &key, &value); first = 0) {
        part = entry_repr(key, value, first);
        PyUnicode_Append(&text, part);
        Py_XDECREF(part);
        Py_DECREF(key);
        Py_DECREF(value);
    }
    if (PyErr_Occurred())
        Py_CLEAR(text);
    part = PyUnicode_FromString("}");
    PyUnicode_Append(&text, part);
    Py_XDECREF(part);
    Py_ReprLeave(op);
    return text;
}

static PyObject *subscript(PyObject *op, PyObject *key)
{
    PyObject *value = PyDict_GetItemWithError(op, key);
    if (value == NULL && !PyErr_Occurred())
        _PyErr_SetKeyError(key);
    return Py_XNewRef(value);
}

static int ass_subscript(PyObject *op, PyObject *key, PyObject *value)
{
    return value != NULL ? PyDict_SetItem(op, key, value) : PyDict_DelItem(op, key);
}

static PyObject *iter(PyObject *op)
{
    PyObject *keys = PyDict_Keys(op), *result = keys != NULL ? PyObject_GetIter(keys) : NULL;
    Py_XDECREF(keys);
    return result;
}

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    PyObject *key, *value, *other;
    Py_ssize_t at = 0;
    int same;
    if (!PyDict_Check(a) || !PyDict_Check(b) || (op != Py_EQ && op != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    same = PyDict_Size(a) == PyDict_Size(b);
    while (same == 1 && PyDict_Next(a, &at, &key, &value)) {
        Py_INCREF(value);
        other = PyDict_GetItemWithError(b, key);
        Py_XINCREF(other);
        same = other != NULL ? PyObject_RichCompareBool(value, other, Py_EQ) : PyErr_Occurred() ? -1 : 0;
        Py_XDECREF(other);
        Py_DECREF(value);
    }
    return same < 0 || PyErr_Occurred() ? NULL : PyBool_FromLong(same == (op == Py_EQ));
}

/* As the arguments of update and of dict(): what the method `keys` makes a mapping, or pairs. */
static int update(PyObject *op, PyObject *args, PyObject *kwargs, const char *name)
{
    PyObject *other = NULL;
    int code = 0, maps;
    if (!PyArg_UnpackTuple(args, name, 0, 1, &other))
        return -1;
    maps = other != NULL && (PyDict_Check(other) || PyObject_HasAttrString(other, "keys"));
    if (other != NULL)
        code = maps ? PyDict_Update(op, other) : PyDict_MergeFromSeq2(op, other, 1);
    if (code == 0 && kwargs != NULL)
        code = PyArg_ValidateKeywordArguments(kwargs) ? PyDict_Update(op, kwargs) : -1;
    return code;
}

static PyObject *dict_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op;
    if (type != &PyDict_Type)
        return PyErr_Format(PyExc_TypeError, "a dict cannot be a base of an object");
    op = PyDict_New();
    if (op != NULL && update(op, args, kwargs, "dict") < 0)
        Py_CLEAR(op);
    return op;
}

static PyObject *method_get(PyObject *op, PyObject *args)
{
    PyObject *key, *otherwise = Py_None, *value;
    if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise))
        return NULL;
    value = PyDict_GetItemWithError(op, key);
    return value == NULL && PyErr_Occurred() ? NULL : Py_NewRef(value != NULL ? value : otherwise);
}

static PyObject *method_keys(PyObject *op, PyObject *none) { (void)none; return PyDict_Keys(op); }
static PyObject *method_values(PyObject *op, PyObject *none) { (void)none; return PyDict_Values(op); }
static PyObject *method_items(PyObject *op, PyObject *none) { (void)none; return PyDict_Items(op); }
static PyObject *method_copy(PyObject *op, PyObject *none) { (void)none; return PyDict_Copy(op); }

static PyObject *method_clear(PyObject *op, PyObject *none) { (void)none; PyDict_Clear(op); Py_RETURN_NONE; }

static PyObject *method_setdefault(PyObject *op, PyObject *args)
{
    PyObject *key, *otherwise = Py_None;
    return PyArg_UnpackTuple(args, "setdefault", 1, 2, &key, &otherwise) ? Py_XNewRef(PyDict_SetDefault(op, key, otherwise)) : NULL;
}

static PyObject *method_update(PyObject *op, PyObject *args, PyObject *kwargs)
{
    return update(op, args, kwargs, "update") < 0 ? NULL : Py_NewRef(Py_None);
}

PyObject *_PyDict_Pop(PyObject *op, PyObject *key, PyObject *otherwise)
{
    PyObject *value = Py_XNewRef(PyDict_GetItemWithError(op, key));
    if (value == NULL && !PyErr_Occurred()) {
        if (otherwise != NULL)
            return Py_NewRef(otherwise);
        _PyErr_SetKeyError(key);
    }
    if (value != NULL && PyDict_DelItem(op, key) < 0)
        Py_CLEAR(value);
    return value;
}

static PyObject *method_pop(PyObject *op, PyObject *args)
{
    PyObject *key, *otherwise = NULL;
    return PyArg_UnpackTuple(args, "pop", 1, 2, &key, &otherwise) ? _PyDict_Pop(op, key, otherwise) : NULL;
}

/* The last one. */
static PyObject *method_popitem(PyObject *op, PyObject *none)
{
    cvm_value d = py_host_of(op);
    PyObject *key, *value, *pair;
    size_t at;
    (void)none;
    if (d == CVM_NONE)
        return NULL;
    for (at = CVM_DICT_OF(d)->used; at > 0 && CVM_VECTOR_OF(CVM_DICT_OF(d)->entries)->items[2 * (at - 1)] == CVM_NONE; at--)
        ;
    if (at == 0)
        return PyErr_Format(PyExc_KeyError, "popitem(): dictionary is empty");
    at--;
    if (!next_new(op, &at, &key, &value))
        return NULL;
    pair = Py_BuildValue("(NN)", key, value);
    if (pair != NULL && PyDict_DelItem(op, PyTuple_GET_ITEM(pair, 0)) < 0)
        Py_CLEAR(pair);
    return pair;
}

static PyObject *method_fromkeys(PyObject *type, PyObject *args)
{
    PyObject *items, *value = Py_None, *it, *key, *op;
    if (!PyArg_UnpackTuple(args, "fromkeys", 1, 2, &items, &value))
        return NULL;
    op = PyObject_CallNoArgs(type);
    it = op != NULL ? PyObject_GetIter(items) : NULL;
    while (it != NULL && !PyErr_Occurred() && (key = PyIter_Next(it)) != NULL) {
        PyObject_SetItem(op, key, value);
        Py_DECREF(key);
    }
    Py_XDECREF(it);
    if (PyErr_Occurred())
        Py_CLEAR(op);
    return op;
}

static PyObject *method_reversed(PyObject *op, PyObject *none)
{
    PyObject *keys = PyDict_Keys(op), *it = NULL;
    (void)none;
    if (keys != NULL && PyList_Reverse(keys) == 0)
        it = PyObject_GetIter(keys);
    Py_XDECREF(keys);
    return it;
}

static PyObject *or(PyObject *a, PyObject *b)
{
    PyObject *both;
    if (!PyDict_Check(a) || !PyDict_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    both = PyDict_Copy(a);
    if (both != NULL && PyDict_Update(both, b) < 0)
        Py_CLEAR(both);
    return both;
}

static PyObject *or_in_place(PyObject *a, PyObject *b)
{
    PyObject *args = PyTuple_Pack(1, b);
    int code = args != NULL ? update(a, args, NULL, "update") : -1;
    Py_XDECREF(args);
    return code == 0 ? Py_NewRef(a) : NULL;
}

static PyMethodDef methods[] = {
    { "get", method_get, METH_VARARGS, NULL }, { "keys", method_keys, METH_NOARGS, NULL },
    { "values", method_values, METH_NOARGS, NULL }, { "items", method_items, METH_NOARGS, NULL },
    { "copy", method_copy, METH_NOARGS, NULL }, { "clear", method_clear, METH_NOARGS, NULL },
    { "pop", method_pop, METH_VARARGS, NULL }, { "popitem", method_popitem, METH_NOARGS, NULL },
    { "setdefault", method_setdefault, METH_VARARGS, NULL },
    { "update", (PyCFunction)(void (*)(void))method_update, METH_VARARGS | METH_KEYWORDS, NULL },
    { "fromkeys", method_fromkeys, METH_VARARGS | METH_CLASS, NULL }, { "__reversed__", method_reversed, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL }
};
static PyNumberMethods as_number = { .nb_or = or, .nb_inplace_or = or_in_place };
static PySequenceMethods as_sequence = { .sq_contains = PyDict_Contains };
static PyMappingMethods as_mapping = { .mp_length = PyDict_Size, .mp_subscript = subscript, .mp_ass_subscript = ass_subscript };

PyTypeObject PyDict_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "dict", .tp_basicsize = sizeof(PyObject), .tp_repr = repr,
    .tp_as_number = &as_number, .tp_as_sequence = &as_sequence, .tp_as_mapping = &as_mapping, .tp_hash = PyObject_HashNotImplemented,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DICT_SUBCLASS, .tp_richcompare = richcompare, .tp_iter = iter,
    .tp_methods = methods, .tp_new = dict_new
};
