/* containers.h - tuple, list, dict, set and slice.
 *
 * A tuple or a list that comes from the host fetches its items when C first looks at them, and
 * owns them from then on; a list takes them over from the host. A dict is always the host's: C
 * has an empty object that stands for it. A set is always C's. */
#ifndef CPY_CONTAINERS_H
#define CPY_CONTAINERS_H

extern PyTypeObject PyTuple_Type, PyList_Type, PyDict_Type, PySet_Type, PyFrozenSet_Type, PySetIter_Type, PySlice_Type,
    PyRange_Type;

/* ---- tuple -------------------------------------------------------------- */

typedef struct {
    PyVarObject ob_base;
    unsigned char filled, seen;     /* items are here; the host knows it */
    PyObject *ob_item[1];
} PyTupleObject;

PyObject **_PyTuple_Fill(PyObject *op);

static inline PyObject **_PyTuple_Items(PyObject *op)
{
    PyTupleObject *t = (PyTupleObject *)(void *)op;
    return t->filled ? t->ob_item : _PyTuple_Fill(op);
}

#define PyTuple_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_TUPLE_SUBCLASS)
#define PyTuple_CheckExact(op) Py_IS_TYPE(op, &PyTuple_Type)
#define PyTuple_GET_SIZE(op) (((PyVarObject *)(void *)(op))->ob_size)
#define _PyTuple_CAST(op) ((void)_PyTuple_Items(_PyObject_CAST(op)), (PyTupleObject *)(void *)(op))
#define PyTuple_GET_ITEM(op, i) (_PyTuple_Items(_PyObject_CAST(op))[i])
#define PyTuple_SET_ITEM(op, i, item) ((void)(_PyTuple_Items(_PyObject_CAST(op))[i] = (item)))
#define _PyTuple_ITEMS(op) _PyTuple_Items(_PyObject_CAST(op))
PyObject *PyTuple_New(Py_ssize_t n);
PyObject *PyTuple_Pack(Py_ssize_t n, ...);
Py_ssize_t PyTuple_Size(PyObject *op);
PyObject *PyTuple_GetItem(PyObject *op, Py_ssize_t i);
int PyTuple_SetItem(PyObject *op, Py_ssize_t i, PyObject *item);
int _PyTuple_Resize(PyObject **op, Py_ssize_t n);               /* the caller has the only reference */
PyObject *PyTuple_GetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high);

/* ---- struct sequences: tuples with named items ---------------------------- */

typedef struct {
    const char *name, *doc;
} PyStructSequence_Field;

typedef struct {
    const char *name, *doc;
    PyStructSequence_Field *fields;             /* behind the last one, a name NULL */
    int n_in_sequence;                          /* so many are items of the tuple. The others have only their names */
} PyStructSequence_Desc;

typedef PyTupleObject PyStructSequence;
extern const char *const PyStructSequence_UnnamedField;         /* the name of a field that has none */
int PyStructSequence_InitType2(PyTypeObject *type, PyStructSequence_Desc *desc);
void PyStructSequence_InitType(PyTypeObject *type, PyStructSequence_Desc *desc);
PyTypeObject *PyStructSequence_NewType(PyStructSequence_Desc *desc);
PyObject *PyStructSequence_New(PyTypeObject *type);
void PyStructSequence_SetItem(PyObject *op, Py_ssize_t i, PyObject *item);      /* steals */
PyObject *PyStructSequence_GetItem(PyObject *op, Py_ssize_t i);                 /* borrowed */
#define PyStructSequence_SET_ITEM(op, i, item) PyStructSequence_SetItem(_PyObject_CAST(op), (i), (item))
#define PyStructSequence_GET_ITEM(op, i) PyStructSequence_GetItem(_PyObject_CAST(op), (i))

/* ---- list --------------------------------------------------------------- */

typedef struct {
    PyVarObject ob_base;
    PyObject **ob_item;
    Py_ssize_t allocated;
    unsigned char filled;           /* items are here */
} PyListObject;

void _PyList_Fill(PyObject *op);

static inline PyListObject *_PyList_Filled(PyObject *op)
{
    PyListObject *l = (PyListObject *)(void *)op;
    if (!l->filled)
        _PyList_Fill(op);
    return l;
}

#define PyList_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_LIST_SUBCLASS)
#define PyList_CheckExact(op) Py_IS_TYPE(op, &PyList_Type)
#define PyList_GET_SIZE(op) (_PyList_Filled(_PyObject_CAST(op))->ob_base.ob_size)
#define PyList_GET_ITEM(op, i) (_PyList_Filled(_PyObject_CAST(op))->ob_item[i])
#define PyList_SET_ITEM(op, i, item) ((void)(_PyList_Filled(_PyObject_CAST(op))->ob_item[i] = (item)))
#define _PyList_ITEMS(op) (_PyList_Filled(_PyObject_CAST(op))->ob_item)
PyObject *PyList_New(Py_ssize_t n);
Py_ssize_t PyList_Size(PyObject *op);
PyObject *PyList_GetItem(PyObject *op, Py_ssize_t i);
int PyList_SetItem(PyObject *op, Py_ssize_t i, PyObject *item);
int PyList_Insert(PyObject *op, Py_ssize_t i, PyObject *item);
int PyList_Append(PyObject *op, PyObject *item);
PyObject *PyList_GetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high);
int PyList_SetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high, PyObject *items);
int PyList_Sort(PyObject *op);
int PyList_Reverse(PyObject *op);
PyObject *PyList_AsTuple(PyObject *op);
PyObject *_PyList_Extend(PyListObject *op, PyObject *items);

/* ---- dict --------------------------------------------------------------- */

typedef struct PyDictObject PyDictObject;

#define PyDict_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_DICT_SUBCLASS)
#define PyDict_CheckExact(op) Py_IS_TYPE(op, &PyDict_Type)
PyObject *PyDict_New(void);
PyObject *PyDict_GetItem(PyObject *op, PyObject *key);
PyObject *PyDict_GetItemWithError(PyObject *op, PyObject *key);
PyObject *PyDict_GetItemString(PyObject *op, const char *key);
PyObject *PyDict_SetDefault(PyObject *op, PyObject *key, PyObject *value);
int PyDict_SetItem(PyObject *op, PyObject *key, PyObject *value);
int PyDict_SetItemString(PyObject *op, const char *key, PyObject *value);
int PyDict_DelItem(PyObject *op, PyObject *key);
int PyDict_DelItemString(PyObject *op, const char *key);
int PyDict_Contains(PyObject *op, PyObject *key);
void PyDict_Clear(PyObject *op);
int PyDict_Next(PyObject *op, Py_ssize_t *at, PyObject **key, PyObject **value);
PyObject *PyDict_Keys(PyObject *op);
PyObject *PyDict_Values(PyObject *op);
PyObject *PyDict_Items(PyObject *op);
Py_ssize_t PyDict_Size(PyObject *op);
#define PyDict_GET_SIZE(op) PyDict_Size(_PyObject_CAST(op))
PyObject *PyDict_Copy(PyObject *op);
int PyDict_Update(PyObject *op, PyObject *other);
int PyDict_Merge(PyObject *op, PyObject *other, int override);
#define _PyDict_NewPresized(n) ((void)(n), PyDict_New())
#define _PyDict_GetItem_KnownHash(op, key, hash) ((void)(hash), PyDict_GetItemWithError((op), (key)))
#define _PyDict_SetItem_KnownHash(op, key, value, hash) ((void)(hash), PyDict_SetItem((op), (key), (value)))
#define _PyDict_DelItem_KnownHash(op, key, hash) ((void)(hash), PyDict_DelItem((op), (key)))
#define _PyDict_Contains_KnownHash(op, key, hash) ((void)(hash), PyDict_Contains((op), (key)))
PyObject *_PyDict_Pop(PyObject *op, PyObject *key, PyObject *otherwise);        /* new. otherwise NULL: KeyError */
int PyDict_MergeFromSeq2(PyObject *op, PyObject *pairs, int override);

/* ---- set ---------------------------------------------------------------- */

typedef struct _setobject PySetObject;

#define PySet_Check(op) PyObject_TypeCheck(op, &PySet_Type)
#define PySet_CheckExact(op) Py_IS_TYPE(op, &PySet_Type)
#define PyFrozenSet_Check(op) PyObject_TypeCheck(op, &PyFrozenSet_Type)
#define PyFrozenSet_CheckExact(op) Py_IS_TYPE(op, &PyFrozenSet_Type)
#define PyAnySet_Check(op) (PySet_Check(op) || PyFrozenSet_Check(op))
#define PyAnySet_CheckExact(op) (PySet_CheckExact(op) || PyFrozenSet_CheckExact(op))
PyObject *PySet_New(PyObject *items);                           /* items NULL: it is empty */
PyObject *PyFrozenSet_New(PyObject *items);
Py_ssize_t PySet_Size(PyObject *op);
#define PySet_GET_SIZE(op) PySet_Size(_PyObject_CAST(op))
int PySet_Contains(PyObject *op, PyObject *key);
int PySet_Add(PyObject *op, PyObject *key);
int PySet_Discard(PyObject *op, PyObject *key);                 /* 1: it was there */
PyObject *PySet_Pop(PyObject *op);
int PySet_Clear(PyObject *op);
int _PySet_Update(PyObject *op, PyObject *items);
int _PySet_NextEntry(PyObject *op, Py_ssize_t *at, PyObject **key, Py_hash_t *hash);

/* ---- slice -------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *start, *stop, *step;
} PySliceObject;

#define PySlice_Check(op) Py_IS_TYPE(op, &PySlice_Type)
PyObject *PySlice_New(PyObject *start, PyObject *stop, PyObject *step);
int PySlice_Unpack(PyObject *op, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step);
Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t step);
int PySlice_GetIndicesEx(PyObject *op, Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step,
                         Py_ssize_t *n);
int _PyEval_SliceIndex(PyObject *op, Py_ssize_t *i);

#endif
