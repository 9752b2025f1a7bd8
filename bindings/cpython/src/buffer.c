/* buffer.c - the buffer protocol, and bytearray. */
#include "internal.h"

int PyObject_CheckBuffer(PyObject *op)
{
    return Py_TYPE(op)->tp_as_buffer != NULL && Py_TYPE(op)->tp_as_buffer->bf_getbuffer != NULL;
}

int PyObject_GetBuffer(PyObject *op, Py_buffer *view, int flags)
{
    if (PyObject_CheckBuffer(op))
        return Py_TYPE(op)->tp_as_buffer->bf_getbuffer(op, view, flags);
    PyErr_Format(PyExc_TypeError, "a bytes-like object is required, not '%.100s'", Py_TYPE(op)->tp_name);
    return -1;
}

void PyBuffer_Release(Py_buffer *view)
{
    PyObject *op = view->obj;
    if (op == NULL)
        return;
    if (Py_TYPE(op)->tp_as_buffer != NULL && Py_TYPE(op)->tp_as_buffer->bf_releasebuffer != NULL)
        Py_TYPE(op)->tp_as_buffer->bf_releasebuffer(op, view);
    view->obj = NULL;
    Py_DECREF(op);
}

int PyBuffer_FillInfo(Py_buffer *view, PyObject *op, void *bytes, Py_ssize_t n, int readonly, int flags)
{
    if (view == NULL) {
        PyErr_SetString(PyExc_BufferError, "PyBuffer_FillInfo: view==NULL argument is obsolete");
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) && readonly) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "Object is not writable.");
        return -1;
    }
    memset(view, 0, sizeof *view);
    view->obj = Py_XNewRef(op);
    view->buf = bytes;
    view->len = n;
    view->readonly = readonly;
    view->itemsize = 1;
    view->ndim = 1;
    if (flags & PyBUF_FORMAT)
        view->format = (char *)(uintptr_t)"B";
    if (flags & PyBUF_ND)
        view->shape = &view->len;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        view->strides = &view->itemsize;
    return 0;
}

/* Whether the items follow each other, the last dimension first (first: it is the one whose items are adjacent). */
static int is_contiguous(const Py_buffer *view, int first, int by)
{
    Py_ssize_t next = view->itemsize;
    int i;
    if (view->suboffsets != NULL)
        return 0;
    if (view->len == 0 || view->ndim == 0 || view->shape == NULL)
        return 1;
    for (i = first; i >= 0 && i < view->ndim; i += by) {
        if (view->shape[i] > 1 && (view->strides != NULL ? view->strides[i] != next : by > 0 && next != view->itemsize))
            return 0;
        next *= view->shape[i];
    }
    return 1;
}

int PyBuffer_IsContiguous(const Py_buffer *view, char order)
{
    return ((order == 'C' || order == 'A') && is_contiguous(view, view->ndim - 1, -1))
        || ((order == 'F' || order == 'A') && is_contiguous(view, 0, 1));
}

void PyBuffer_FillContiguousStrides(int ndim, Py_ssize_t *shape, Py_ssize_t *strides, int itemsize, char order)
{
    Py_ssize_t next = itemsize;
    int i, k;
    for (i = 0; i < ndim; i++) {
        k = order == 'F' ? i : ndim - 1 - i;
        strides[k] = next;
        next *= shape[k];
    }
}

void *PyBuffer_GetPointer(const Py_buffer *view, const Py_ssize_t *indices)
{
    char *p = view->buf;
    int i;
    for (i = 0; i < view->ndim; i++) {
        p += view->strides[i] * indices[i];
        if (view->suboffsets != NULL && view->suboffsets[i] >= 0)
            p = *(char **)(void *)p + view->suboffsets[i];
    }
    return p;
}

/* Copies the items, in this order, to bytes or from them. */
static int copy_items(const Py_buffer *view, char *bytes, Py_ssize_t n, char order, int to_view)
{
    Py_ssize_t strides[PyBUF_MAX_NDIM], at[PyBUF_MAX_NDIM], k, rest, size = view->itemsize;
    Py_buffer all = *view;
    int i, dim;
    if (n > view->len)
        n = view->len;
    if (order == 'A')
        order = PyBuffer_IsContiguous(view, 'F') && !PyBuffer_IsContiguous(view, 'C') ? 'F' : 'C';
    if (PyBuffer_IsContiguous(view, order)) {
        memcpy(to_view ? view->buf : bytes, to_view ? bytes : view->buf, (size_t)n);
        return 0;
    }
    if (all.strides == NULL) {
        PyBuffer_FillContiguousStrides(all.ndim, all.shape, strides, (int)size, 'C');
        all.strides = strides;
    }
    for (k = 0; (k + 1) * size <= n; k++) {
        char *p;
        for (i = 0, rest = k; i < all.ndim; i++) {
            dim = order == 'F' ? i : all.ndim - 1 - i;
            at[dim] = rest % all.shape[dim];
            rest /= all.shape[dim];
        }
        p = PyBuffer_GetPointer(&all, at);
        memcpy(to_view ? p : bytes + k * size, to_view ? bytes + k * size : p, (size_t)size);
    }
    return 0;
}

int PyBuffer_ToContiguous(void *bytes, const Py_buffer *view, Py_ssize_t n, char order)
{
    if (n == view->len)
        return copy_items(view, bytes, n, order, 0);
    PyErr_SetString(PyExc_ValueError, "PyBuffer_ToContiguous: len != view->len");
    return -1;
}

int PyBuffer_FromContiguous(const Py_buffer *view, const void *bytes, Py_ssize_t n, char order)
{
    return copy_items(view, (char *)(uintptr_t)bytes, n, order, 1);
}

int PyObject_CopyData(PyObject *to, PyObject *from)
{
    Py_buffer x, y;
    char *bytes;
    int code = -1;
    if (!PyObject_CheckBuffer(to) || !PyObject_CheckBuffer(from)) {
        PyErr_SetString(PyExc_TypeError, "both destination and source must be bytes-like objects");
        return -1;
    }
    if (PyObject_GetBuffer(to, &x, PyBUF_FULL) < 0)
        return -1;
    if (PyObject_GetBuffer(from, &y, PyBUF_FULL_RO) < 0) {
        PyBuffer_Release(&x);
        return -1;
    }
    bytes = PyMem_Malloc((size_t)y.len);
    if (x.len < y.len)
        PyErr_SetString(PyExc_BufferError, "destination is too small to receive data from source");
    else if (bytes == NULL)
        PyErr_NoMemory();
    else if (PyBuffer_ToContiguous(bytes, &y, y.len, 'C') == 0)
        code = PyBuffer_FromContiguous(&x, bytes, y.len, 'C');
    PyMem_Free(bytes);
    PyBuffer_Release(&x);
    PyBuffer_Release(&y);
    return code;
}

/* ---- bytearray ------------------------------------------------------------- */

#define A(op) ((PyByteArrayObject *)(void *)(op))

PyObject *PyByteArray_FromStringAndSize(const char *bytes, Py_ssize_t n)
{
    PyObject *op = _PyObject_New(&PyByteArray_Type);
    if (op == NULL)
        return NULL;
    if (PyByteArray_Resize(op, n) < 0)
        Py_CLEAR(op);
    else if (bytes != NULL)
        memcpy(A(op)->ob_start, bytes, (size_t)n);
    return op;
}

PyObject *PyByteArray_FromObject(PyObject *op)
{
    return PyObject_CallOneArg((PyObject *)(void *)&PyByteArray_Type, op);
}

PyObject *PyByteArray_Concat(PyObject *a, PyObject *b)
{
    Py_buffer x, y;
    PyObject *both;
    if (PyObject_GetBuffer(a, &x, PyBUF_SIMPLE) < 0)
        return NULL;
    if (PyObject_GetBuffer(b, &y, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&x);
        return NULL;
    }
    both = x.len <= PY_SSIZE_T_MAX - y.len - 1 ? PyByteArray_FromStringAndSize(NULL, x.len + y.len) : PyErr_NoMemory();
    if (both != NULL) {
        memcpy(A(both)->ob_start, x.buf, (size_t)x.len);
        memcpy(A(both)->ob_start + x.len, y.buf, (size_t)y.len);
    }
    PyBuffer_Release(&x);
    PyBuffer_Release(&y);
    return both;
}

char *PyByteArray_AsString(PyObject *op) { return A(op)->ob_start; }
Py_ssize_t PyByteArray_Size(PyObject *op) { return PyByteArray_GET_SIZE(op); }

int PyByteArray_Resize(PyObject *op, Py_ssize_t n)
{
    char *bytes;
    if (A(op)->ob_exports > 0 && n != PyByteArray_GET_SIZE(op)) {
        PyErr_SetString(PyExc_BufferError, "Existing exports of data: object cannot be re-sized");
        return -1;
    }
    bytes = PyMem_Realloc(A(op)->ob_start, (size_t)n + 1);
    if (bytes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (n > PyByteArray_GET_SIZE(op))
        memset(bytes + PyByteArray_GET_SIZE(op), 0, (size_t)(n - PyByteArray_GET_SIZE(op)));
    bytes[n] = '\0';
    A(op)->ob_start = bytes;
    A(op)->ob_base.ob_size = n;
    A(op)->ob_alloc = n + 1;
    return 0;
}

static void array_dealloc(PyObject *op)
{
    PyMem_Free(A(op)->ob_start);
    PyObject_Free(op);
}

static PyObject *array_repr(PyObject *op)
{
    return py_bytes_repr(A(op)->ob_start, PyByteArray_GET_SIZE(op), "bytearray(", ")");
}

static int array_getbuffer(PyObject *op, Py_buffer *view, int flags)
{
    if (PyBuffer_FillInfo(view, op, A(op)->ob_start, PyByteArray_GET_SIZE(op), 0, flags) < 0)
        return -1;
    A(op)->ob_exports++;
    return 0;
}

static void array_releasebuffer(PyObject *op, Py_buffer *view)
{
    (void)view;
    A(op)->ob_exports--;
}

static PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *bytes = PyObject_Call((PyObject *)(void *)&PyBytes_Type, args, kwargs), *op;
    (void)type;
    if (bytes == NULL)
        return NULL;
    op = PyByteArray_FromStringAndSize(PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
    return op;
}

static PyObject *array_richcompare(PyObject *a, PyObject *b, int op)
{
    PyObject *x, *y, *result;
    if (!PyObject_CheckBuffer(a) || !PyObject_CheckBuffer(b))
        Py_RETURN_NOTIMPLEMENTED;
    x = PyBytes_FromObject(a);
    y = x != NULL ? PyBytes_FromObject(b) : NULL;
    result = y != NULL ? PyObject_RichCompare(x, y, op) : NULL;
    Py_XDECREF(x);
    Py_XDECREF(y);
    return result;
}

static PyBufferProcs array_as_buffer = { array_getbuffer, array_releasebuffer };

PyTypeObject PyByteArray_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "bytearray", .tp_basicsize = sizeof(PyByteArrayObject),
    .tp_dealloc = array_dealloc, .tp_repr = array_repr, .tp_as_number = &py_bytes_as_number, .tp_as_sequence = &py_bytearray_as_sequence,
    .tp_as_mapping = &py_bytearray_as_mapping, .tp_methods = py_bytearray_methods,
    .tp_hash = PyObject_HashNotImplemented, .tp_as_buffer = &array_as_buffer, .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_richcompare = array_richcompare, .tp_iter = PySeqIter_New, .tp_new = array_new
};

static int old_buffer(PyObject *op, void *bytes, Py_ssize_t *n, int flags)
{
    Py_buffer view;
    if (op == NULL || bytes == NULL || n == NULL) {
        PyErr_SetString(PyExc_SystemError, "null argument to internal routine");
        return -1;
    }
    if (PyObject_GetBuffer(op, &view, flags) < 0) {
        if (flags == PyBUF_WRITABLE)
            PyErr_SetString(PyExc_TypeError, "expected a writable bytes-like object");
        return -1;
    }
    memcpy(bytes, &view.buf, sizeof view.buf);
    *n = view.len;
    PyBuffer_Release(&view);
    return 0;
}

int PyObject_AsReadBuffer(PyObject *op, const void **bytes, Py_ssize_t *n) { return old_buffer(op, bytes, n, PyBUF_SIMPLE); }
int PyObject_AsCharBuffer(PyObject *op, const char **bytes, Py_ssize_t *n) { return old_buffer(op, bytes, n, PyBUF_SIMPLE); }
int PyObject_AsWriteBuffer(PyObject *op, void **bytes, Py_ssize_t *n) { return old_buffer(op, bytes, n, PyBUF_WRITABLE); }

int PyObject_CheckReadBuffer(PyObject *op)
{
    Py_buffer view;
    int code = PyObject_GetBuffer(op, &view, PyBUF_SIMPLE);
    if (code == 0)
        PyBuffer_Release(&view);
    PyErr_Clear();
    return code == 0;
}
