/* bytes.h - bytes and bytearray. They are objects of C; the host sees proxies. */
#ifndef CPY_BYTES_H
#define CPY_BYTES_H

extern PyTypeObject PyBytes_Type, PyByteArray_Type, PyMemoryView_Type;

typedef struct {
    PyVarObject ob_base;
    Py_hash_t ob_shash;
    char ob_sval[1];
} PyBytesObject;

#define PyBytes_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_BYTES_SUBCLASS)
#define PyBytes_CheckExact(op) Py_IS_TYPE(op, &PyBytes_Type)
#define PyBytes_AS_STRING(op) (((PyBytesObject *)(void *)(op))->ob_sval)
#define PyBytes_GET_SIZE(op) (((PyVarObject *)(void *)(op))->ob_size)
PyObject *PyBytes_FromStringAndSize(const char *bytes, Py_ssize_t size);
PyObject *PyBytes_FromString(const char *text);
PyObject *PyBytes_FromFormat(const char *format, ...);
PyObject *PyBytes_FromFormatV(const char *format, va_list args);
PyObject *PyBytes_FromObject(PyObject *op);
PyObject *PyBytes_Repr(PyObject *op, int any_quotes);
Py_ssize_t PyBytes_Size(PyObject *op);
char *PyBytes_AsString(PyObject *op);
int PyBytes_AsStringAndSize(PyObject *op, char **bytes, Py_ssize_t *size);
void PyBytes_Concat(PyObject **a, PyObject *b);
PyObject *PyBytes_DecodeEscape(const char *bytes, Py_ssize_t n, const char *errors, Py_ssize_t unused, const char *encoding);
void PyBytes_ConcatAndDel(PyObject **a, PyObject *b);           /* takes b over */
PyObject *_PyBytes_Join(PyObject *separator, PyObject *items);
int _PyBytes_Resize(PyObject **op, Py_ssize_t size);

typedef struct {
    PyVarObject ob_base;
    Py_ssize_t ob_alloc;
    char *ob_start;
    Py_ssize_t ob_exports;
} PyByteArrayObject;

#define PyByteArray_Check(op) PyObject_TypeCheck(op, &PyByteArray_Type)
#define PyByteArray_CheckExact(op) Py_IS_TYPE(op, &PyByteArray_Type)
#define PyByteArray_AS_STRING(op) (((PyByteArrayObject *)(void *)(op))->ob_start)
#define PyByteArray_GET_SIZE(op) (((PyVarObject *)(void *)(op))->ob_size)
PyObject *PyByteArray_FromStringAndSize(const char *bytes, Py_ssize_t size);
char *PyByteArray_AsString(PyObject *op);
Py_ssize_t PyByteArray_Size(PyObject *op);
PyObject *PyByteArray_FromObject(PyObject *op);
PyObject *PyByteArray_Concat(PyObject *a, PyObject *b);
int PyByteArray_Resize(PyObject *op, Py_ssize_t size);

int PyObject_CheckBuffer(PyObject *op);
int PyObject_GetBuffer(PyObject *op, Py_buffer *view, int flags);
void PyBuffer_Release(Py_buffer *view);
int PyBuffer_FillInfo(Py_buffer *view, PyObject *op, void *bytes, Py_ssize_t size, int readonly, int flags);
int PyBuffer_IsContiguous(const Py_buffer *view, char order);
void *PyBuffer_GetPointer(const Py_buffer *view, const Py_ssize_t *indices);
void PyBuffer_FillContiguousStrides(int ndim, Py_ssize_t *shape, Py_ssize_t *strides, int itemsize, char order);
int PyBuffer_ToContiguous(void *bytes, const Py_buffer *view, Py_ssize_t n, char order);
int PyBuffer_FromContiguous(const Py_buffer *view, const void *bytes, Py_ssize_t n, char order);
int PyObject_CopyData(PyObject *to, PyObject *from);

typedef struct {
    PyVarObject ob_base;
    PyObject *mbuf;                 /* (private, like all but the view) NULL: released */
    Py_hash_t hash;
    Py_ssize_t exports;             /* buffers that others have from it */
    Py_buffer view;
    PyObject *weakreflist;
    Py_ssize_t ob_array[1];         /* of the view: shape, strides, suboffsets */
} PyMemoryViewObject;

#define PyMemoryView_Check(op) Py_IS_TYPE(op, &PyMemoryView_Type)
#define PyMemoryView_GET_BUFFER(op) (&((PyMemoryViewObject *)(void *)(op))->view)
#define PyMemoryView_GET_BASE(op) (PyMemoryView_GET_BUFFER(op)->obj)
PyObject *PyMemoryView_FromObject(PyObject *op);
PyObject *PyMemoryView_FromMemory(char *memory, Py_ssize_t size, int flags);
PyObject *PyMemoryView_FromBuffer(const Py_buffer *view);
PyObject *PyMemoryView_GetContiguous(PyObject *op, int kind, char order);

/* The bytes of an object, which keep their place only as long as the object lets them. */
int PyObject_AsReadBuffer(PyObject *op, const void **bytes, Py_ssize_t *n);
int PyObject_AsCharBuffer(PyObject *op, const char **bytes, Py_ssize_t *n);
int PyObject_AsWriteBuffer(PyObject *op, void **bytes, Py_ssize_t *n);
int PyObject_CheckReadBuffer(PyObject *op);

#endif
