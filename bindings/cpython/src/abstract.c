/* abstract.c - the protocols of sequences, mappings and iterators. */
#include "internal.h"

#define SEQUENCE(op, name) (Py_TYPE(op)->tp_as_sequence != NULL ? Py_TYPE(op)->tp_as_sequence->name : NULL)
#define MAPPING(op, name) (Py_TYPE(op)->tp_as_mapping != NULL ? Py_TYPE(op)->tp_as_mapping->name : NULL)

static PyObject *type_error(const char *format, PyObject *op)
{
    return PyErr_Format(PyExc_TypeError, format, Py_TYPE(op)->tp_name);
}

/* ---- sequences ---------------------------------------------------------------------- */

int PySequence_Check(PyObject *op)
{
    return !PyDict_Check(op) && SEQUENCE(op, sq_item) != NULL;
}

Py_ssize_t PyObject_Size(PyObject *op)
{
    PY_USES(op);
    if (SEQUENCE(op, sq_length) != NULL)
        return SEQUENCE(op, sq_length)(op);
    if (MAPPING(op, mp_length) != NULL)
        return MAPPING(op, mp_length)(op);
    type_error("object of type '%.200s' has no len()", op);
    return -1;
}

Py_ssize_t PySequence_Size(PyObject *op) { return PyObject_Size(op); }
Py_ssize_t PyMapping_Size(PyObject *op) { return PyObject_Size(op); }

Py_ssize_t PyObject_LengthHint(PyObject *op, Py_ssize_t otherwise)
{
    PyObject *method, *result;
    Py_ssize_t n = otherwise;
    if (SEQUENCE(op, sq_length) != NULL || MAPPING(op, mp_length) != NULL)
        return PyObject_Size(op);
    method = py_lookup_special(op, "__length_hint__");
    result = method != NULL ? PyObject_CallNoArgs(method) : NULL;
    if (result != NULL && PyLong_Check(result))
        n = PyLong_AsSsize_t(result);
    Py_XDECREF(result);
    Py_XDECREF(method);
    return PyErr_Occurred() ? -1 : n;
}

PyObject *PySequence_Concat(PyObject *a, PyObject *b)
{
    return SEQUENCE(a, sq_concat) != NULL ? SEQUENCE(a, sq_concat)(a, b) : PyNumber_Add(a, b);
}

PyObject *PySequence_InPlaceConcat(PyObject *a, PyObject *b)
{
    return SEQUENCE(a, sq_inplace_concat) != NULL ? SEQUENCE(a, sq_inplace_concat)(a, b) : PySequence_Concat(a, b);
}

PyObject *PySequence_Repeat(PyObject *op, Py_ssize_t n)
{
    return SEQUENCE(op, sq_repeat) != NULL ? SEQUENCE(op, sq_repeat)(op, n) : type_error("'%.200s' object can't be repeated", op);
}

PyObject *PySequence_InPlaceRepeat(PyObject *op, Py_ssize_t n)
{
    return SEQUENCE(op, sq_inplace_repeat) != NULL ? SEQUENCE(op, sq_inplace_repeat)(op, n) : PySequence_Repeat(op, n);
}

/* A negative index counts from the end, if the length is known. */
static int from_end(PyObject *op, Py_ssize_t *i)
{
    Py_ssize_t n;
    if (*i >= 0 || SEQUENCE(op, sq_length) == NULL)
        return 1;
    n = SEQUENCE(op, sq_length)(op);
    *i += n;
    return n >= 0;
}

PyObject *PySequence_GetItem(PyObject *op, Py_ssize_t i)
{
    if (SEQUENCE(op, sq_item) == NULL)
        return type_error(MAPPING(op, mp_subscript) != NULL ? "%.200s is not a sequence" : "'%.200s' object does not support indexing", op);
    return from_end(op, &i) ? SEQUENCE(op, sq_item)(op, i) : NULL;
}

int PySequence_SetItem(PyObject *op, Py_ssize_t i, PyObject *item)
{
    if (SEQUENCE(op, sq_ass_item) == NULL) {
        type_error("'%.200s' object does not support item assignment", op);
        return -1;
    }
    return from_end(op, &i) ? SEQUENCE(op, sq_ass_item)(op, i, item) : -1;
}

static PyObject *make_slice(Py_ssize_t low, Py_ssize_t high)
{
    PyObject *a = PyLong_FromSsize_t(low), *b = PyLong_FromSsize_t(high), *s = a != NULL && b != NULL ? PySlice_New(a, b, NULL) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return s;
}

PyObject *PySequence_GetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high)
{
    PyObject *s = make_slice(low, high), *result = s != NULL ? PyObject_GetItem(op, s) : NULL;
    Py_XDECREF(s);
    return result;
}

int PySequence_SetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high, PyObject *items)
{
    PyObject *s = make_slice(low, high);
    int code = s == NULL ? -1 : items != NULL ? PyObject_SetItem(op, s, items) : PyObject_DelItem(op, s);
    Py_XDECREF(s);
    return code;
}

PyObject *PySequence_List(PyObject *op)
{
    PyObject *list, *it, *item;
    if (PyList_CheckExact(op))
        return PyList_GetSlice(op, 0, PY_SSIZE_T_MAX);
    list = PyList_New(0);
    it = list != NULL ? PyObject_GetIter(op) : NULL;
    while (it != NULL && (item = PyIter_Next(it)) != NULL) {
        int code = PyList_Append(list, item);
        Py_DECREF(item);
        if (code < 0)
            break;
    }
    if (it == NULL || PyErr_Occurred())
        Py_CLEAR(list);
    Py_XDECREF(it);
    return list;
}

PyObject *PySequence_Tuple(PyObject *op)
{
    PyObject *list, *tuple;
    if (PyTuple_CheckExact(op))
        return Py_NewRef(op);
    if (PyList_CheckExact(op))
        return PyList_AsTuple(op);
    list = PySequence_List(op);
    tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

PyObject *PySequence_Fast(PyObject *op, const char *message)
{
    PyObject *list;
    if (PyList_CheckExact(op) || PyTuple_CheckExact(op))
        return Py_NewRef(op);
    list = PySequence_List(op);
    if (list == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_SetString(PyExc_TypeError, message);
    return list;
}

/* The position of item among those of op, their number, or whether there is one. -1 after a failure. */
enum { INDEX, COUNT, CONTAINS };

static Py_ssize_t search(PyObject *op, PyObject *x, int what)
{
    PyObject *it = PyObject_GetIter(op), *item;
    Py_ssize_t at = 0, found = 0;
    while (it != NULL && (item = PyIter_Next(it)) != NULL) {
        int same = PyObject_RichCompareBool(item, x, Py_EQ);
        Py_DECREF(item);
        found += same > 0;
        if (same < 0 || (same > 0 && what != COUNT))
            break;
        at++;
    }
    if (it != NULL && !PyErr_Occurred() && what == INDEX && found == 0)
        PyErr_SetString(PyExc_ValueError, "sequence.index(x): x not in sequence");
    Py_XDECREF(it);
    return PyErr_Occurred() ? -1 : what == INDEX ? at : found;
}

Py_ssize_t PySequence_Count(PyObject *op, PyObject *x) { return search(op, x, COUNT); }
Py_ssize_t PySequence_Index(PyObject *op, PyObject *x) { return search(op, x, INDEX); }

int PySequence_Contains(PyObject *op, PyObject *x)
{
    return SEQUENCE(op, sq_contains) != NULL ? SEQUENCE(op, sq_contains)(op, x) : (int)search(op, x, CONTAINS);
}

/* ---- mappings ------------------------------------------------------------------------- */

int PyMapping_Check(PyObject *op)
{
    return op != NULL && MAPPING(op, mp_subscript) != NULL;
}

/* The index that key is, for an object with the slots of a sequence. */
static int index_of(PyObject *op, PyObject *key, Py_ssize_t *i)
{
    if (!PyIndex_Check(key)) {
        type_error("sequence index must be integer, not '%.200s'", key);
        return 0;
    }
    (void)op;
    *i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    return *i != -1 || !PyErr_Occurred();
}

PyObject *PyObject_GetItem(PyObject *op, PyObject *key)
{
    Py_ssize_t i;
    PY_USES(op);
    if (MAPPING(op, mp_subscript) != NULL)
        return MAPPING(op, mp_subscript)(op, key);
    if (SEQUENCE(op, sq_item) != NULL)
        return index_of(op, key, &i) ? PySequence_GetItem(op, i) : NULL;
    return type_error("'%.200s' object is not subscriptable", op);
}

int PyObject_SetItem(PyObject *op, PyObject *key, PyObject *value)
{
    Py_ssize_t i;
    PY_USES(op);
    if (MAPPING(op, mp_ass_subscript) != NULL)
        return MAPPING(op, mp_ass_subscript)(op, key, value);
    if (SEQUENCE(op, sq_ass_item) != NULL)
        return index_of(op, key, &i) ? PySequence_SetItem(op, i, value) : -1;
    type_error(value != NULL ? "'%.200s' object does not support item assignment" : "'%.200s' object does not support item deletion", op);
    return -1;
}

int PyObject_DelItemString(PyObject *op, const char *key)
{
    PyObject *k = PyUnicode_FromString(key);
    int code = k != NULL ? PyObject_DelItem(op, k) : -1;
    Py_XDECREF(k);
    return code;
}

int PyObject_DelItem(PyObject *op, PyObject *key)
{
    return PyObject_SetItem(op, key, NULL);
}

static PyObject *list_of(PyObject *op, const char *method)
{
    PyObject *result = PyObject_CallMethod(op, method, NULL), *list = result != NULL ? PySequence_List(result) : NULL;
    Py_XDECREF(result);
    return list;
}

PyObject *PyMapping_Keys(PyObject *op) { return PyDict_CheckExact(op) ? PyDict_Keys(op) : list_of(op, "keys"); }
PyObject *PyMapping_Values(PyObject *op) { return PyDict_CheckExact(op) ? PyDict_Values(op) : list_of(op, "values"); }
PyObject *PyMapping_Items(PyObject *op) { return PyDict_CheckExact(op) ? PyDict_Items(op) : list_of(op, "items"); }

PyObject *PyMapping_GetItemString(PyObject *op, const char *key)
{
    PyObject *k = PyUnicode_FromString(key), *value = k != NULL ? PyObject_GetItem(op, k) : NULL;
    Py_XDECREF(k);
    return value;
}

int PyMapping_SetItemString(PyObject *op, const char *key, PyObject *value)
{
    PyObject *k = PyUnicode_FromString(key);
    int code = k != NULL ? PyObject_SetItem(op, k, value) : -1;
    Py_XDECREF(k);
    return code;
}

int PyMapping_HasKey(PyObject *op, PyObject *key)
{
    PyObject *value = PyObject_GetItem(op, key);
    if (value == NULL)
        PyErr_Clear();
    Py_XDECREF(value);
    return value != NULL;
}

int PyMapping_HasKeyString(PyObject *op, const char *key)
{
    PyObject *k = PyUnicode_FromString(key);
    int yes = k != NULL && PyMapping_HasKey(op, k);
    Py_XDECREF(k);
    return yes;
}

/* ---- iterators -------------------------------------------------------------------------- */

int PyIter_Check(PyObject *op)
{
    return Py_TYPE(op)->tp_iternext != NULL && Py_TYPE(op)->tp_iternext != _PyObject_NextNotImplemented;
}

PyObject *PyObject_GetIter(PyObject *op)
{
    PyObject *it;
    PY_USES(op);
    if (Py_TYPE(op)->tp_iter == NULL)
        return PySequence_Check(op) ? PySeqIter_New(op) : type_error("'%.200s' object is not iterable", op);
    it = Py_TYPE(op)->tp_iter(op);
    if (it != NULL && !PyIter_Check(it)) {
        type_error("iter() returned non-iterator of type '%.100s'", it);
        Py_CLEAR(it);
    }
    return it;
}

/* The tp_iternext of a type that shall not inherit one. */
PyObject *_PyObject_NextNotImplemented(PyObject *op)
{
    return type_error("'%.200s' object is not iterable", op);
}

PyObject *PyIter_Next(PyObject *it)
{
    PyObject *item = Py_TYPE(it)->tp_iternext(it);
    if (item == NULL && PyErr_ExceptionMatches(PyExc_StopIteration))
        PyErr_Clear();
    return item;
}

/* A tuple or an exception would become the arguments of StopIteration, or take its place. */
int _PyGen_SetStopIterationValue(PyObject *value)
{
    PyObject *error = PyObject_CallFunctionObjArgs(PyExc_StopIteration, value, NULL);
    if (error == NULL)
        return -1;
    PyErr_SetObject(PyExc_StopIteration, error);
    Py_DECREF(error);
    return 0;
}

int _PyGen_FetchStopIterationValue(PyObject **value)
{
    PyObject *type, *error, *traceback;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_StopIteration))
        return -1;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    *value = Py_NewRef(error != NULL && ((PyStopIterationObject *)(void *)error)->value != NULL ? ((PyStopIterationObject *)(void *)error)->value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return 0;
}

PySendResult PyIter_Send(PyObject *it, PyObject *value, PyObject **result)
{
    if (!py_ready(it))
        return PYGEN_ERROR;
    if (Py_TYPE(it)->tp_as_async != NULL && Py_TYPE(it)->tp_as_async->am_send != NULL)
        return Py_TYPE(it)->tp_as_async->am_send(it, value, result);
    *result = Py_IsNone(value) && PyIter_Check(it) ? Py_TYPE(it)->tp_iternext(it) : PyObject_CallMethod(it, "send", "(O)", value);
    return *result != NULL ? PYGEN_NEXT : _PyGen_FetchStopIterationValue(result) < 0 ? PYGEN_ERROR : PYGEN_RETURN;
}
