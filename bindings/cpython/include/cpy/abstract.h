/* abstract.h - the protocols of numbers, sequences, mappings and iterators. */
#ifndef CPY_ABSTRACT_H
#define CPY_ABSTRACT_H

int PyNumber_Check(PyObject *op);
PyObject *PyNumber_Add(PyObject *a, PyObject *b);
PyObject *PyNumber_Subtract(PyObject *a, PyObject *b);
PyObject *PyNumber_Multiply(PyObject *a, PyObject *b);
PyObject *PyNumber_FloorDivide(PyObject *a, PyObject *b);
PyObject *PyNumber_TrueDivide(PyObject *a, PyObject *b);
PyObject *PyNumber_Remainder(PyObject *a, PyObject *b);
PyObject *PyNumber_Divmod(PyObject *a, PyObject *b);
PyObject *PyNumber_Power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *PyNumber_Lshift(PyObject *a, PyObject *b);
PyObject *PyNumber_Rshift(PyObject *a, PyObject *b);
PyObject *PyNumber_And(PyObject *a, PyObject *b);
PyObject *PyNumber_Xor(PyObject *a, PyObject *b);
PyObject *PyNumber_Or(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceAdd(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceSubtract(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceMultiply(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceAnd(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceOr(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceXor(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceLshift(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceRshift(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceFloorDivide(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceTrueDivide(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceRemainder(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlacePower(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *PyNumber_MatrixMultiply(PyObject *a, PyObject *b);
PyObject *PyNumber_InPlaceMatrixMultiply(PyObject *a, PyObject *b);
PyObject *PyNumber_ToBase(PyObject *op, int base);
PyObject *PyNumber_Negative(PyObject *op);
PyObject *PyNumber_Positive(PyObject *op);
PyObject *PyNumber_Absolute(PyObject *op);
PyObject *PyNumber_Invert(PyObject *op);
PyObject *PyNumber_Long(PyObject *op);
PyObject *PyNumber_Float(PyObject *op);
PyObject *PyNumber_Index(PyObject *op);
#define _PyNumber_Index PyNumber_Index
Py_ssize_t PyNumber_AsSsize_t(PyObject *op, PyObject *error);
#define PyIndex_Check(op) (Py_TYPE(op)->tp_as_number != NULL && Py_TYPE(op)->tp_as_number->nb_index != NULL)
int _Py_convert_optional_to_ssize_t(PyObject *op, void *result);

int PySequence_Check(PyObject *op);
Py_ssize_t PySequence_Size(PyObject *op);
#define PySequence_Length PySequence_Size
PyObject *PySequence_Concat(PyObject *a, PyObject *b);
PyObject *PySequence_Repeat(PyObject *op, Py_ssize_t n);
PyObject *PySequence_InPlaceConcat(PyObject *a, PyObject *b);
PyObject *PySequence_InPlaceRepeat(PyObject *op, Py_ssize_t n);
PyObject *PySequence_GetItem(PyObject *op, Py_ssize_t i);
int PySequence_SetItem(PyObject *op, Py_ssize_t i, PyObject *item);
#define PySequence_DelItem(op, i) PySequence_SetItem((op), (i), NULL)
PyObject *PySequence_GetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high);
int PySequence_SetSlice(PyObject *op, Py_ssize_t low, Py_ssize_t high, PyObject *items);
#define PySequence_DelSlice(op, low, high) PySequence_SetSlice((op), (low), (high), NULL)
PyObject *PySequence_Tuple(PyObject *op);
PyObject *PySequence_List(PyObject *op);
PyObject *PySequence_Fast(PyObject *op, const char *message);
int PySequence_Contains(PyObject *op, PyObject *item);
#define PySequence_In PySequence_Contains
Py_ssize_t PySequence_Count(PyObject *op, PyObject *item);
Py_ssize_t PySequence_Index(PyObject *op, PyObject *item);
#define PySequence_Fast_GET_SIZE(op) (PyList_Check(op) ? PyList_GET_SIZE(op) : PyTuple_GET_SIZE(op))
#define PySequence_Fast_ITEMS(op) (PyList_Check(op) ? _PyList_ITEMS(op) : _PyTuple_ITEMS(op))
#define PySequence_Fast_GET_ITEM(op, i) (PySequence_Fast_ITEMS(op)[i])
#define PySequence_ITEM(op, i) PySequence_GetItem((op), (i))

int PyMapping_Check(PyObject *op);
Py_ssize_t PyMapping_Size(PyObject *op);
#define PyMapping_Length PyMapping_Size
PyObject *PyMapping_Keys(PyObject *op);
PyObject *PyMapping_Values(PyObject *op);
PyObject *PyMapping_Items(PyObject *op);
PyObject *PyMapping_GetItemString(PyObject *op, const char *key);
int PyMapping_SetItemString(PyObject *op, const char *key, PyObject *value);
#define PyMapping_DelItem PyObject_DelItem
#define PyMapping_DelItemString PyObject_DelItemString
int PyMapping_HasKey(PyObject *op, PyObject *key);
int PyMapping_HasKeyString(PyObject *op, const char *key);

Py_ssize_t PyObject_Size(PyObject *op);
#define PyObject_Length PyObject_Size
Py_ssize_t PyObject_LengthHint(PyObject *op, Py_ssize_t otherwise);
PyObject *PyObject_GetItem(PyObject *op, PyObject *key);
int PyObject_SetItem(PyObject *op, PyObject *key, PyObject *value);
int PyObject_DelItem(PyObject *op, PyObject *key);
int PyObject_DelItemString(PyObject *op, const char *key);
PyObject *PyObject_GetIter(PyObject *op);
int PyIter_Check(PyObject *op);
PyObject *PyIter_Next(PyObject *op);
int _PyGen_SetStopIterationValue(PyObject *value);
int _PyGen_FetchStopIterationValue(PyObject **value);         /* new: None without one. -1: another exception is set */
PySendResult PyIter_Send(PyObject *it, PyObject *value, PyObject **result);
extern PyTypeObject PyReversed_Type, PyEnum_Type, PyMap_Type, PyFilter_Type, PyZip_Type, PyDictProxy_Type;
PyObject *PyDictProxy_New(PyObject *mapping);
PyObject *_PyObject_NextNotImplemented(PyObject *op);
extern PyTypeObject PySeqIter_Type, PyCallIter_Type;
#define PySeqIter_Check(op) Py_IS_TYPE(op, &PySeqIter_Type)
#define PyCallIter_Check(op) Py_IS_TYPE(op, &PyCallIter_Type)
PyObject *PySeqIter_New(PyObject *op);
PyObject *PyCallIter_New(PyObject *callable, PyObject *sentinel);

#endif
