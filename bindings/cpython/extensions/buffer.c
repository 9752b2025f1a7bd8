/* buffer.c - bytes that grow, and whose pointer is handed out. For CPython, too.
 *
 *     b = ByteBuffer()            or ByteBuffer(n): n zeros
 *     b.append("text")
 *     b.resize(n), b.size
 *     v = b.view(start, end)      a ByteView; of everything, without start and end
 *     v.get(i), v.set(i, byte), v.text(), v.size
 *     v.close()                   ends it; so does its last reference
 *
 * A ByteView is one way to the bytes, the buffer protocol is another: whoever has the pointer counts as
 * an export. As long as there is one the buffer refuses a new size. The collector moves proxies, never
 * these bytes.
 */
#include <Python.h>

typedef struct {
    PyObject_HEAD
    char *bytes;
    Py_ssize_t size, capacity;
    Py_ssize_t exports;             /* views that are open */
} byte_buffer;

typedef struct {
    PyObject_HEAD
    PyObject *buffer;               /* owned; NULL: it is closed */
    char *bytes;
    Py_ssize_t size;
} byte_view;

static PyTypeObject ByteBuffer, ByteView;

/* ---- ByteView ------------------------------------------------------------ */

static int view_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((byte_view *)self)->buffer);
    return 0;
}

static int view_clear(PyObject *self)
{
    byte_view *v = (byte_view *)self;
    if (v->buffer != NULL)
        ((byte_buffer *)v->buffer)->exports--;
    v->bytes = NULL;
    v->size = 0;
    Py_CLEAR(v->buffer);
    return 0;
}

static void view_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    view_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *view_close(PyObject *self, PyObject *Py_UNUSED(none))
{
    view_clear(self);
    Py_RETURN_NONE;
}

/* get(i), and set(i, byte): the byte becomes that. */
static PyObject *view_byte(PyObject *self, PyObject *args)
{
    byte_view *v = (byte_view *)self;
    Py_ssize_t i;
    unsigned char value = 0;
    if (!PyArg_ParseTuple(args, PyTuple_GET_SIZE(args) > 1 ? "nb" : "n", &i, &value))
        return NULL;
    if (i < 0 || i >= v->size) {
        PyErr_SetString(PyExc_IndexError, "the view has no such byte");
        return NULL;
    }
    if (PyTuple_GET_SIZE(args) > 1)
        v->bytes[i] = (char)value;
    return PyLong_FromLong((unsigned char)v->bytes[i]);
}

static PyObject *view_text(PyObject *self, PyObject *Py_UNUSED(none))
{
    return PyUnicode_DecodeLatin1(((byte_view *)self)->size > 0 ? ((byte_view *)self)->bytes : "", ((byte_view *)self)->size, NULL);
}

static PyObject *view_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSsize_t(((byte_view *)self)->size);
}

static PyGetSetDef view_getset[] = { { "size", view_size, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };
static PyMethodDef view_methods[] = {
    { "get", view_byte, METH_VARARGS, NULL }, { "set", view_byte, METH_VARARGS, NULL },
    { "text", view_text, METH_NOARGS, NULL }, { "close", view_close, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyTypeObject ByteView = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "buffer.ByteView", .tp_basicsize = sizeof(byte_view),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = view_traverse, .tp_clear = view_clear, .tp_dealloc = view_dealloc,
    .tp_methods = view_methods, .tp_getset = view_getset
};

/* ---- ByteBuffer ---------------------------------------------------------- */

/* 0; or -1, and nothing has changed. New bytes are 0. */
static int resize(byte_buffer *b, Py_ssize_t size)
{
    Py_ssize_t capacity = size > 2 * b->capacity ? size : 2 * b->capacity;
    char *bytes;
    if (b->exports > 0 && size != b->size) {
        PyErr_SetString(PyExc_BufferError, "the buffer cannot be resized while a view of it is open");
        return -1;
    }
    if (size > b->capacity) {
        bytes = size > PY_SSIZE_T_MAX / 4 ? NULL : PyMem_Realloc(b->bytes, (size_t)capacity);
        if (bytes == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        b->bytes = bytes;
        b->capacity = capacity;
    }
    if (size > b->size)
        memset(b->bytes + b->size, 0, (size_t)(size - b->size));
    b->size = size;
    return 0;
}

static int buffer_init(PyObject *self, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    Py_ssize_t size = 0;
    if (!PyArg_ParseTuple(args, "|n:ByteBuffer", &size))
        return -1;
    if (size < 0) {
        PyErr_SetString(PyExc_ValueError, "a size must not be negative");
        return -1;
    }
    return resize((byte_buffer *)self, size);
}

static PyObject *buffer_resize(PyObject *self, PyObject *args)
{
    return buffer_init(self, args, NULL) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *buffer_append(PyObject *self, PyObject *text)
{
    byte_buffer *b = (byte_buffer *)self;
    Py_ssize_t old = b->size, size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == NULL || resize(b, old + size) != 0)
        return NULL;
    if (size > 0)
        memcpy(b->bytes + old, bytes, (size_t)size);
    Py_RETURN_NONE;
}

static PyObject *buffer_view(PyObject *self, PyObject *args)
{
    byte_buffer *b = (byte_buffer *)self;
    Py_ssize_t start = 0, end = b->size;
    byte_view *v;
    if (!PyArg_ParseTuple(args, "|nn:view", &start, &end))
        return NULL;
    if (start < 0 || start > end || end > b->size) {
        PyErr_SetString(PyExc_IndexError, "the buffer has no such part");
        return NULL;
    }
    v = PyObject_GC_New(byte_view, &ByteView);
    if (v == NULL)
        return NULL;
    v->buffer = Py_NewRef(self);
    v->bytes = start < end ? b->bytes + start : NULL;
    v->size = end - start;
    b->exports++;
    PyObject_GC_Track(v);
    return (PyObject *)v;
}

static int buffer_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    byte_buffer *b = (byte_buffer *)self;
    if (PyBuffer_FillInfo(view, self, b->size > 0 ? b->bytes : "", b->size, b->size == 0, flags) < 0)
        return -1;
    b->exports++;
    return 0;
}

static void buffer_releasebuffer(PyObject *self, Py_buffer *Py_UNUSED(view))
{
    ((byte_buffer *)self)->exports--;
}

static void buffer_dealloc(PyObject *self)
{
    PyMem_Free(((byte_buffer *)self)->bytes);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *buffer_size(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSsize_t(((byte_buffer *)self)->size);
}

static PyBufferProcs buffer_procs = { buffer_getbuffer, buffer_releasebuffer };
static PyGetSetDef buffer_getset[] = { { "size", buffer_size, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };
static PyMethodDef buffer_methods[] = {
    { "append", buffer_append, METH_O, NULL }, { "resize", buffer_resize, METH_VARARGS, NULL },
    { "view", buffer_view, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyTypeObject ByteBuffer = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "buffer.ByteBuffer", .tp_basicsize = sizeof(byte_buffer), .tp_dealloc = buffer_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_new = PyType_GenericNew, .tp_init = buffer_init,
    .tp_methods = buffer_methods, .tp_getset = buffer_getset, .tp_as_buffer = &buffer_procs
};

static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "buffer", .m_size = -1 };

PyMODINIT_FUNC PyInit_buffer(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddType(module, &ByteBuffer) < 0 || PyModule_AddType(module, &ByteView) < 0))
        Py_CLEAR(module);
    return module;
}
