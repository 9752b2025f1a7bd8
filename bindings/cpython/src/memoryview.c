/* memoryview.c - memoryview: items of the memory of another object, with a shape and a format.
 *
 * The memory itself is held by an object that all views of it share, so that each of them can be released alone. */
#include "internal.h"

typedef struct {
    PyObject_HEAD
    Py_buffer master;
    int released;                   /* it was garbage: its memory is gone */
} managed;

#define H(op) ((managed *)(void *)(op))
#define M(op) ((PyMemoryViewObject *)(void *)(op))
#define VIEW(op) (&M(op)->view)

static int managed_clear(PyObject *op)
{
    H(op)->released = 1;
    PyBuffer_Release(&H(op)->master);
    return 0;
}

static void managed_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    managed_clear(op);
    PyObject_GC_Del(op);
}

static int managed_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(H(op)->master.obj);
    return 0;
}

PyTypeObject py_managed_buffer_type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "managedbuffer", .tp_basicsize = sizeof(managed), .tp_dealloc = managed_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, .tp_traverse = managed_traverse,
    .tp_clear = managed_clear
};

/* ---- making one ---------------------------------------------------------------- */

/* A view of what src says, without a shape of its own yet. */
static PyMemoryViewObject *new_shared(PyObject *buffer, const Py_buffer *src, int ndim)
{
    PyMemoryViewObject *m;
    if (ndim > PyBUF_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "memoryview: number of dimensions must not exceed %d", PyBUF_MAX_NDIM);
        return NULL;
    }
    m = PyObject_GC_NewVar(PyMemoryViewObject, &PyMemoryView_Type, 3 * (Py_ssize_t)ndim);
    if (m == NULL)
        return NULL;
    m->mbuf = Py_NewRef(buffer);
    m->hash = -1;
    m->view = *src;
    m->view.obj = H(buffer)->master.obj;        /* borrowed */
    m->view.format = src->format != NULL ? src->format : (char *)(uintptr_t)"B";
    m->view.internal = NULL;
    m->view.ndim = ndim;
    m->view.shape = m->ob_array;
    m->view.strides = m->ob_array + ndim;
    m->view.suboffsets = src->suboffsets != NULL ? m->ob_array + 2 * ndim : NULL;
    PyObject_GC_Track(m);
    return m;
}

static void set_strides(Py_buffer *view)
{
    PyBuffer_FillContiguousStrides(view->ndim, view->shape, view->strides, (int)view->itemsize, 'C');
}

static PyObject *new_view(PyObject *buffer, const Py_buffer *src)
{
    PyMemoryViewObject *m = new_shared(buffer, src, src->ndim);
    int i;
    if (m == NULL)
        return NULL;
    for (i = 0; i < src->ndim; i++)
        m->view.shape[i] = src->shape != NULL ? src->shape[i] : src->itemsize > 0 ? src->len / src->itemsize : 0;
    set_strides(&m->view);
    for (i = 0; i < src->ndim && src->strides != NULL; i++)
        m->view.strides[i] = src->strides[i];
    for (i = 0; i < src->ndim && src->suboffsets != NULL; i++)
        m->view.suboffsets[i] = src->suboffsets[i];
    return (PyObject *)(void *)m;
}

static PyObject *new_managed(void)
{
    PyObject *op = (PyObject *)(void *)PyObject_GC_New(managed, &py_managed_buffer_type);
    if (op != NULL)
        PyObject_GC_Track(op);
    return op;
}

/* The first view of a managed buffer, which is taken over. ok: its master is filled. */
static PyObject *first_view(PyObject *buffer, int ok)
{
    PyObject *m = ok ? new_view(buffer, &H(buffer)->master) : NULL;
    Py_XDECREF(buffer);
    return m;
}

static int check(PyObject *op)
{
    if (M(op)->mbuf != NULL && !H(M(op)->mbuf)->released)
        return 1;
    PyErr_SetString(PyExc_ValueError, "operation forbidden on released memoryview object");
    return 0;
}

PyObject *PyMemoryView_FromObject(PyObject *op)
{
    PyObject *buffer;
    if (PyMemoryView_Check(op))
        return check(op) ? new_view(M(op)->mbuf, VIEW(op)) : NULL;
    if (!PyObject_CheckBuffer(op))
        return PyErr_Format(PyExc_TypeError, "memoryview: a bytes-like object is required, not '%.200s'", Py_TYPE(op)->tp_name);
    buffer = new_managed();
    return first_view(buffer, buffer != NULL && PyObject_GetBuffer(op, &H(buffer)->master, PyBUF_FULL_RO) == 0);
}

/* Whoever made the buffer releases it, after the views of it. */
PyObject *PyMemoryView_FromBuffer(const Py_buffer *view)
{
    PyObject *buffer;
    if (view->buf == NULL)
        return PyErr_Format(PyExc_ValueError, "PyMemoryView_FromBuffer(): info->buf must not be NULL");
    buffer = new_managed();
    if (buffer != NULL) {
        H(buffer)->master = *view;
        H(buffer)->master.obj = NULL;
    }
    return first_view(buffer, buffer != NULL);
}

PyObject *PyMemoryView_FromMemory(char *memory, Py_ssize_t size, int flags)
{
    PyObject *buffer = new_managed();
    return first_view(buffer, buffer != NULL
                      && PyBuffer_FillInfo(&H(buffer)->master, NULL, memory, size, flags == PyBUF_READ, PyBUF_FULL_RO) == 0);
}

/* Its bytes, in another object, with the same shape. */
static PyObject *copy_of(PyObject *op, char order)
{
    const Py_buffer *src = VIEW(op);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, src->len), *plain = NULL;
    PyMemoryViewObject *m = NULL;
    int i;
    if (bytes != NULL && PyBuffer_ToContiguous(PyBytes_AS_STRING(bytes), src, src->len, order) == 0)
        plain = PyMemoryView_FromObject(bytes);
    Py_XDECREF(bytes);
    if (plain != NULL)
        m = new_shared(M(plain)->mbuf, VIEW(plain), src->ndim);
    if (m != NULL) {
        m->view.format = src->format;
        m->view.itemsize = src->itemsize;
        for (i = 0; i < src->ndim; i++)
            m->view.shape[i] = src->shape[i];
        PyBuffer_FillContiguousStrides(src->ndim, m->view.shape, m->view.strides, (int)src->itemsize, order);
    }
    Py_XDECREF(plain);
    return (PyObject *)(void *)m;
}

PyObject *PyMemoryView_GetContiguous(PyObject *op, int kind, char order)
{
    PyObject *m = PyMemoryView_FromObject(op), *copy = NULL;
    if (m == NULL)
        return NULL;
    if (kind == PyBUF_WRITE && VIEW(m)->readonly)
        PyErr_SetString(PyExc_BufferError, "underlying buffer is not writable");
    else if (PyBuffer_IsContiguous(VIEW(m), order))
        return m;
    else if (kind == PyBUF_WRITE)
        PyErr_SetString(PyExc_BufferError, "writable contiguous buffer requested for a non-contiguous object.");
    else
        copy = copy_of(m, order == 'F' ? 'F' : 'C');
    Py_DECREF(m);
    return copy;
}

/* ---- items ---------------------------------------------------------------------- */

/* The formats of one item. Each is a text, which views can have as theirs, without the @ too. */
static const char formats[] = "@c\0@b\0@B\0@h\0@H\0@i\0@I\0@l\0@L\0@q\0@Q\0@n\0@N\0@f\0@d\0@?\0@P";

static const char *find_letter(char letter)
{
    size_t i;
    for (i = 1; i < sizeof formats; i += 3)
        if (formats[i] == letter)
            return &formats[i];
    return NULL;
}

/* The letter of a format of one native item, or 0. */
static char letter_of(const char *format)
{
    format += *format == '@';
    return format[0] != '\0' && format[1] == '\0' && find_letter(*format) != NULL ? *format : '\0';
}

static Py_ssize_t size_of(char letter)
{
    switch (letter) {
    case 'c': case 'b': case 'B': return 1;
    case 'h': case 'H': return sizeof(short);
    case 'i': case 'I': return sizeof(int);
    case 'l': case 'L': return sizeof(long);
    case 'q': case 'Q': return sizeof(long long);
    case 'n': case 'N': return sizeof(size_t);
    case 'f': return sizeof(float);
    case 'd': return sizeof(double);
    case '?': return sizeof(_Bool);
    default: return sizeof(void *);
    }
}

#define LOAD(type, make) { type x; memcpy(&x, p, sizeof x); return make(x); }
#define LOAD_AS(type, wide, make) { type x; memcpy(&x, p, sizeof x); return make((wide)x); }

static PyObject *unpack(const char *format, const char *p)
{
    switch (letter_of(format)) {
    case 'c': return PyBytes_FromStringAndSize(p, 1);
    case 'b': LOAD(signed char, PyLong_FromLong)
    case 'B': LOAD(unsigned char, PyLong_FromLong)
    case 'h': LOAD(short, PyLong_FromLong)
    case 'H': LOAD(unsigned short, PyLong_FromLong)
    case 'i': LOAD(int, PyLong_FromLong)
    case 'I': LOAD(unsigned, PyLong_FromUnsignedLong)
    case 'l': LOAD(long, PyLong_FromLong)
    case 'L': LOAD(unsigned long, PyLong_FromUnsignedLong)
    case 'q': LOAD(long long, PyLong_FromLongLong)
    case 'Q': LOAD(unsigned long long, PyLong_FromUnsignedLongLong)
    case 'n': LOAD(Py_ssize_t, PyLong_FromSsize_t)
    case 'N': LOAD(size_t, PyLong_FromSize_t)
    case 'f': LOAD_AS(float, double, PyFloat_FromDouble)
    case 'd': LOAD(double, PyFloat_FromDouble)
    case '?': return PyBool_FromLong(*p != 0);
    case 'P': LOAD(void *, PyLong_FromVoidPtr)
    default: return PyErr_Format(PyExc_NotImplementedError, "memoryview: format %s not supported", format);
    }
}

static int out_of_range(void)
{
    PyErr_SetString(PyExc_OverflowError, "the number is out of range");
    return -1;
}

/* The number in a word of `size` bytes. */
static int pack_int(PyObject *op, char *p, Py_ssize_t size, int has_sign)
{
    PyObject *n = PyNumber_Index(op);
    long long x = 0;
    unsigned long long u = 0;
    int bits = (int)(8 * size), ok;
    if (n == NULL)
        return -1;
    if (has_sign)
        x = PyLong_AsLongLong(n);
    else
        u = PyLong_AsUnsignedLongLong(n);
    Py_DECREF(n);
    if (PyErr_Occurred())
        return -1;
    ok = bits == 64 || (has_sign ? x >= -(1LL << (bits - 1)) && x < 1LL << (bits - 1) : u < 1ULL << bits);
    if (!ok)
        return out_of_range();
    if (has_sign)
        u = (unsigned long long)x;
    memcpy(p, (char *)&u + (PY_LITTLE_ENDIAN ? 0 : 8 - size), (size_t)size);
    return 0;
}

/* As pack, but the errors do not tell the format yet. */
static int pack_letter(char letter, PyObject *op, char *p)
{
    double d;
    float f;
    void *pointer;
    int yes;
    switch (letter) {
    case 'c':
        if (!PyBytes_Check(op) || PyBytes_GET_SIZE(op) != 1) {
            PyErr_SetString(PyBytes_Check(op) ? PyExc_ValueError : PyExc_TypeError, "one byte");
            return -1;
        }
        *p = PyBytes_AS_STRING(op)[0];
        return 0;
    case 'f': case 'd':
        d = PyFloat_AsDouble(op);
        if (d == -1 && PyErr_Occurred())
            return -1;
        f = (float)d;
        memcpy(p, letter == 'f' ? (void *)&f : &d, (size_t)size_of(letter));
        return 0;
    case '?':
        yes = PyObject_IsTrue(op);
        if (yes >= 0)
            *p = (char)yes;
        return yes >= 0 ? 0 : -1;
    case 'P':
        pointer = PyLong_AsVoidPtr(op);
        if (pointer == NULL && PyErr_Occurred())
            return -1;
        memcpy(p, &pointer, sizeof pointer);
        return 0;
    default:
        return pack_int(op, p, size_of(letter), strchr("bhilqn", letter) != NULL);
    }
}

/* op becomes the item of *m at `offset` from its buffer. Code may run: the view may be released meanwhile. */
static int pack(PyObject *m, char *p, PyObject *op)
{
    const char *format = VIEW(m)->format;
    char letter = letter_of(format), item[16];
    if (letter == '\0') {
        PyErr_Format(PyExc_NotImplementedError, "memoryview: format %s not supported", format);
        return -1;
    }
    if (pack_letter(letter, op, item) == 0) {
        if (!check(m))
            return -1;
        memcpy(p, item, (size_t)size_of(letter));
        return 0;
    }
    format += *format == '@';
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "memoryview: invalid type for format '%s'", format);
    else if (PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_Format(PyExc_ValueError, "memoryview: invalid value for format '%s'", format);
    return -1;
}

/* Item i of a dimension, from where that begins. */
static char *step(const Py_buffer *v, int dim, char *p, Py_ssize_t i)
{
    p += v->strides[dim] * i;
    return v->suboffsets != NULL && v->suboffsets[dim] >= 0 ? *(char **)(void *)p + v->suboffsets[dim] : p;
}

/* Likewise for an index of a program. NULL: there is no such item. */
static char *step_checked(const Py_buffer *v, int dim, char *p, Py_ssize_t i)
{
    if (i < 0)
        i += v->shape[dim];
    if (i >= 0 && i < v->shape[dim])
        return step(v, dim, p, i);
    PyErr_Format(PyExc_IndexError, "index out of bounds on dimension %d", dim + 1);
    return NULL;
}

static PyObject *item(PyObject *op, Py_ssize_t i)
{
    char *p;
    if (!check(op))
        return NULL;
    if (VIEW(op)->ndim != 1)
        return PyErr_Format(VIEW(op)->ndim == 0 ? PyExc_TypeError : PyExc_NotImplementedError, VIEW(op)->ndim == 0
                            ? "invalid indexing of 0-dim memory" : "multi-dimensional sub-views are not implemented");
    if (letter_of(VIEW(op)->format) == '\0')
        return unpack(VIEW(op)->format, NULL);
    p = step_checked(VIEW(op), 0, VIEW(op)->buf, i);
    return p != NULL ? unpack(VIEW(op)->format, p) : NULL;
}

/* Where the item with these indices is. NULL after a failure. */
static char *place_of(PyObject *op, PyObject *indices)
{
    const Py_buffer *v = VIEW(op);
    Py_ssize_t n = PyTuple_GET_SIZE(indices), at[PyBUF_MAX_NDIM];
    char *p = v->buf;
    int i;
    if (n != v->ndim) {
        PyErr_Format(n > v->ndim ? PyExc_TypeError : PyExc_NotImplementedError, n > v->ndim
                     ? "cannot index %zd-dimension view with %zd-element tuple" : "sub-views are not implemented", (Py_ssize_t)v->ndim, n);
        return NULL;
    }
    for (i = 0; i < n; i++) {
        at[i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(indices, i), PyExc_IndexError);
        if (at[i] == -1 && PyErr_Occurred())
            return NULL;
    }
    if (!check(op))
        return NULL;
    for (i = 0; p != NULL && i < n; i++)
        p = step_checked(v, i, p, at[i]);
    return p;
}

/* All have an index, or all are slices. */
static int is_tuple_of(PyObject *key, int slices)
{
    Py_ssize_t i;
    if (!PyTuple_Check(key) || (slices && PyTuple_GET_SIZE(key) == 0))
        return 0;
    for (i = 0; i < PyTuple_GET_SIZE(key); i++)
        if (slices ? !PySlice_Check(PyTuple_GET_ITEM(key, i)) : !PyIndex_Check(PyTuple_GET_ITEM(key, i)))
            return 0;
    return 1;
}

static PyObject *slice(PyObject *op, PyObject *key)
{
    Py_ssize_t start, stop, by, n;
    PyObject *m;
    Py_buffer *v;
    int i;
    if (PySlice_Unpack(key, &start, &stop, &by) < 0 || !check(op))
        return NULL;
    m = new_view(M(op)->mbuf, VIEW(op));
    if (m == NULL)
        return NULL;
    v = VIEW(m);
    n = PySlice_AdjustIndices(v->shape[0], &start, &stop, by);
    if (v->suboffsets == NULL || v->suboffsets[0] < 0)
        v->buf = (char *)v->buf + v->strides[0] * start;
    else
        v->suboffsets[0] += v->strides[0] * start;
    v->shape[0] = n;
    v->strides[0] *= by;
    v->len = v->itemsize;
    for (i = 0; i < v->ndim; i++)
        v->len *= v->shape[i];
    return m;
}

static PyObject *bad_key(PyObject *key)
{
    if (is_tuple_of(key, 1))
        return PyErr_Format(PyExc_NotImplementedError, "multi-dimensional slicing is not implemented");
    return PyErr_Format(PyExc_TypeError, "memoryview: invalid slice key");
}

static PyObject *subscript(PyObject *op, PyObject *key)
{
    char *p;
    if (!check(op))
        return NULL;
    if (VIEW(op)->ndim == 0) {
        if (PyTuple_Check(key) && PyTuple_GET_SIZE(key) == 0)
            return unpack(VIEW(op)->format, VIEW(op)->buf);
        return key == Py_Ellipsis ? Py_NewRef(op) : PyErr_Format(PyExc_TypeError, "invalid indexing of 0-dim memory");
    }
    if (PyIndex_Check(key)) {
        Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        return i == -1 && PyErr_Occurred() ? NULL : item(op, i);
    }
    if (PySlice_Check(key))
        return slice(op, key);
    if (!is_tuple_of(key, 0))
        return bad_key(key);
    p = place_of(op, key);
    return p != NULL ? unpack(VIEW(op)->format, p) : NULL;
}

static int same_format(const char *a, const char *b)
{
    return strcmp(a + (*a == '@'), b + (*b == '@')) == 0;
}

static Py_ssize_t count_of(const Py_buffer *v)
{
    return v->itemsize > 0 ? v->len / v->itemsize : 0;
}

/* The items of value, which has a buffer, in those of a view of one dimension. They may overlap. */
static int copy_items(PyObject *to, PyObject *value)
{
    PyObject *from;
    const Py_buffer *v = VIEW(to);
    char *bytes;
    int code = -1;
    if (!PyObject_CheckBuffer(value))
        return PyObject_GetBuffer(value, NULL, PyBUF_FULL_RO);
    from = PyMemoryView_FromObject(value);
    if (from == NULL)
        return -1;
    bytes = PyMem_Malloc((size_t)v->len);
    if (bytes == NULL)
        PyErr_NoMemory();
    else if (VIEW(from)->ndim != 1 || VIEW(from)->shape[0] != v->shape[0] || VIEW(from)->itemsize != v->itemsize
             || !same_format(VIEW(from)->format, v->format))
        PyErr_SetString(PyExc_ValueError, "memoryview assignment: lvalue and rvalue have different structures");
    else if (PyBuffer_ToContiguous(bytes, VIEW(from), v->len, 'C') == 0)
        code = PyBuffer_FromContiguous(v, bytes, v->len, 'C');
    PyMem_Free(bytes);
    Py_DECREF(from);
    return code;
}

static int ass_subscript(PyObject *op, PyObject *key, PyObject *value)
{
    const Py_buffer *v = VIEW(op);
    char *p = NULL;
    if (!check(op))
        return -1;
    if (v->readonly || value == NULL) {
        PyErr_SetString(PyExc_TypeError, v->readonly ? "cannot modify read-only memory" : "cannot delete memory");
        return -1;
    }
    if (v->ndim == 0) {
        if (key == Py_Ellipsis || (PyTuple_Check(key) && PyTuple_GET_SIZE(key) == 0))
            return pack(op, v->buf, value);
        PyErr_SetString(PyExc_TypeError, "invalid indexing of 0-dim memory");
        return -1;
    }
    if (PyIndex_Check(key)) {
        Py_ssize_t i = v->ndim == 1 ? PyNumber_AsSsize_t(key, PyExc_IndexError) : -1;
        if (v->ndim > 1)
            PyErr_SetString(PyExc_NotImplementedError, "sub-views are not implemented");
        else if ((i != -1 || !PyErr_Occurred()) && check(op))
            p = step_checked(v, 0, v->buf, i);
    } else if (PySlice_Check(key) && v->ndim == 1) {
        PyObject *part = slice(op, key);
        int code = part != NULL ? copy_items(part, value) : -1;
        Py_XDECREF(part);
        return code;
    } else if (is_tuple_of(key, 0)) {
        p = place_of(op, key);
    } else if (PySlice_Check(key)) {
        PyErr_SetString(PyExc_NotImplementedError, "memoryview slice assignments are currently restricted to ndim = 1");
    } else {
        bad_key(key);
    }
    return p != NULL ? pack(op, p, value) : -1;
}

/* ---- the protocols ------------------------------------------------------------------ */

static int view_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(M(op)->mbuf);
    return 0;
}

/* What it gave to others stays as long as these have it: see view_release. */
static int view_clear(PyObject *op)
{
    if (M(op)->exports == 0) {
        VIEW(op)->obj = NULL;
        Py_CLEAR(M(op)->mbuf);
    }
    return 0;
}

static void view_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    if (M(op)->weakreflist != NULL)
        PyObject_ClearWeakRefs(op);
    Py_CLEAR(M(op)->mbuf);
    PyObject_GC_Del(op);
}

static int refuse(Py_buffer *view, const char *why)
{
    view->obj = NULL;
    PyErr_Format(PyExc_BufferError, "memoryview: %s", why);
    return -1;
}

static int view_getbuffer(PyObject *op, Py_buffer *view, int flags)
{
    const Py_buffer *mine = VIEW(op);
    int in_c = PyBuffer_IsContiguous(mine, 'C');
    view->obj = NULL;
    if (!check(op))
        return -1;
    if ((flags & PyBUF_WRITABLE) && mine->readonly)
        return refuse(view, "underlying buffer is not writable");
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !in_c)
        return refuse(view, "underlying buffer is not C-contiguous");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !PyBuffer_IsContiguous(mine, 'F'))
        return refuse(view, "underlying buffer is not Fortran contiguous");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !PyBuffer_IsContiguous(mine, 'A'))
        return refuse(view, "underlying buffer is not contiguous");
    if ((flags & PyBUF_INDIRECT) != PyBUF_INDIRECT && mine->suboffsets != NULL)
        return refuse(view, "underlying buffer requires suboffsets");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !in_c)
        return refuse(view, "underlying buffer is not C-contiguous");
    if (!(flags & PyBUF_ND) && (flags & PyBUF_FORMAT))
        return refuse(view, "cannot cast to unsigned bytes if the format flag is present");
    *view = *mine;
    if (!(flags & PyBUF_FORMAT))
        view->format = NULL;
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
        view->strides = NULL;
    if (!(flags & PyBUF_ND)) {
        view->ndim = 1;
        view->shape = NULL;
    }
    view->obj = Py_NewRef(op);
    M(op)->exports++;
    return 0;
}

static void view_releasebuffer(PyObject *op, Py_buffer *view)
{
    (void)view;
    M(op)->exports--;
}

static Py_ssize_t view_length(PyObject *op)
{
    return !check(op) ? -1 : VIEW(op)->ndim == 0 ? 1 : VIEW(op)->shape[0];
}

static PyObject *view_repr(PyObject *op)
{
    return PyUnicode_FromFormat(M(op)->mbuf != NULL ? "<memory at %p>" : "<released memory at %p>", (void *)op);
}

static Py_hash_t view_hash(PyObject *op)
{
    PyObject *bytes;
    char letter;
    if (!check(op))
        return -1;
    if (M(op)->hash != -1)
        return M(op)->hash;
    letter = letter_of(VIEW(op)->format);
    if (!VIEW(op)->readonly || letter == '\0' || strchr("Bbc", letter) == NULL) {
        PyErr_SetString(PyExc_ValueError, !VIEW(op)->readonly ? "cannot hash writable memoryview object"
                        : "memoryview: hashing is restricted to formats 'B', 'b' or 'c'");
        return -1;
    }
    if (VIEW(op)->obj != NULL && PyObject_Hash(VIEW(op)->obj) == -1)
        return -1;
    bytes = PyBytes_FromStringAndSize(NULL, VIEW(op)->len);
    if (bytes != NULL && PyBuffer_ToContiguous(PyBytes_AS_STRING(bytes), VIEW(op), VIEW(op)->len, 'C') == 0)
        M(op)->hash = PyObject_Hash(bytes);
    Py_XDECREF(bytes);
    return M(op)->hash;
}

/* Item k in the order of C. */
static char *item_at(const Py_buffer *v, Py_ssize_t k)
{
    Py_ssize_t at[PyBUF_MAX_NDIM];
    int i;
    for (i = v->ndim; i-- > 0;) {
        at[i] = k % v->shape[i];
        k /= v->shape[i];
    }
    return PyBuffer_GetPointer(v, at);
}

static int same_item(const Py_buffer *a, const Py_buffer *b, Py_ssize_t i)
{
    PyObject *x = unpack(a->format, item_at(a, i)), *y = x != NULL ? unpack(b->format, item_at(b, i)) : NULL;
    int same = y != NULL ? PyObject_RichCompareBool(x, y, Py_EQ) : -1;
    if (same > 0 && PyFloat_Check(x))           /* (NaN differs, also from itself) */
        same = PyFloat_AS_DOUBLE(x) == PyFloat_AsDouble(y);
    Py_XDECREF(x);
    Py_XDECREF(y);
    return same;
}

/* Formats that are not known differ. */
static int same_views(const Py_buffer *a, const Py_buffer *b)
{
    Py_ssize_t i, n = count_of(a);
    int same = a->ndim == b->ndim && letter_of(a->format) != '\0' && letter_of(b->format) != '\0', dim;
    for (dim = 0; same && dim < a->ndim; dim++) {
        same = a->shape[dim] == b->shape[dim];
        if (a->shape[dim] == 0)
            return same;
    }
    for (i = 0; same > 0 && i < n; i++)
        same = same_item(a, b, i);
    return same;
}

static PyObject *view_richcompare(PyObject *a, PyObject *b, int op)
{
    PyObject *other;
    int same;
    if (op != Py_EQ && op != Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    if (M(a)->mbuf == NULL || (PyMemoryView_Check(b) && M(b)->mbuf == NULL))
        return PyBool_FromLong((a == b) == (op == Py_EQ));
    other = PyMemoryView_FromObject(b);
    if (other == NULL) {
        PyErr_Clear();
        Py_RETURN_NOTIMPLEMENTED;
    }
    M(a)->exports++;                    /* a comparison may run code */
    same = same_views(VIEW(a), VIEW(other));
    M(a)->exports--;
    Py_DECREF(other);
    return same < 0 ? NULL : PyBool_FromLong(same == (op == Py_EQ));
}

/* ---- methods --------------------------------------------------------------------------- */

static PyObject *to_bytes(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { (char *)(uintptr_t)"order", NULL };
    const char *order = NULL;
    PyObject *bytes;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|z:tobytes", names, &order) || !check(op))
        return NULL;
    if (order != NULL && strcmp(order, "C") != 0 && strcmp(order, "F") != 0 && strcmp(order, "A") != 0)
        return PyErr_Format(PyExc_ValueError, "order must be 'C', 'F' or 'A'");
    bytes = PyBytes_FromStringAndSize(NULL, VIEW(op)->len);
    if (bytes != NULL && PyBuffer_ToContiguous(PyBytes_AS_STRING(bytes), VIEW(op), VIEW(op)->len, order != NULL ? *order : 'C') < 0)
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *list_of(const Py_buffer *v, int dim, char *p)
{
    PyObject *list;
    Py_ssize_t i;
    if (dim == v->ndim)
        return unpack(v->format, p);
    list = PyList_New(v->shape[dim]);
    for (i = 0; list != NULL && i < v->shape[dim]; i++) {
        PyObject *x = list_of(v, dim + 1, step(v, dim, p, i));
        if (x != NULL)
            PyList_SET_ITEM(list, i, x);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *to_list(PyObject *op, PyObject *none)
{
    (void)none;
    if (!check(op))
        return NULL;
    if (letter_of(VIEW(op)->format) == '\0')
        return unpack(VIEW(op)->format, NULL);
    return list_of(VIEW(op), 0, VIEW(op)->buf);
}

static PyObject *hex(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *none = PyTuple_New(0), *bytes = none != NULL ? to_bytes(op, none, NULL) : NULL;
    PyObject *f = bytes != NULL ? PyObject_GetAttrString(bytes, "hex") : NULL, *text = f != NULL ? PyObject_Call(f, args, kwargs) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(bytes);
    Py_XDECREF(f);
    return text;
}

static PyObject *release(PyObject *op, PyObject *none)
{
    (void)none;
    if (M(op)->exports > 0)
        return PyErr_Format(PyExc_BufferError, "memoryview has %zd exported buffer%s", M(op)->exports, M(op)->exports == 1 ? "" : "s");
    view_clear(op);
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *op, PyObject *none)
{
    (void)none;
    return check(op) ? Py_NewRef(op) : NULL;
}

static PyObject *leave(PyObject *op, PyObject *args)
{
    return release(op, args);
}

static PyObject *to_readonly(PyObject *op, PyObject *none)
{
    PyObject *m = check(op) ? new_view(M(op)->mbuf, VIEW(op)) : NULL;
    (void)none;
    if (m != NULL)
        VIEW(m)->readonly = 1;
    return m;
}

/* The numbers of dims, in shape. 0 after a failure. */
static int read_shape(PyObject *dims, Py_ssize_t *shape, Py_ssize_t itemsize, Py_ssize_t len)
{
    Py_ssize_t i, left = len / itemsize;
    for (i = 0; i < PySequence_Fast_GET_SIZE(dims); i++) {
        PyObject *n = PySequence_Fast_GET_ITEM(dims, i);
        if (!PyLong_Check(n)) {
            PyErr_SetString(PyExc_TypeError, "memoryview.cast(): elements of shape must be integers");
            return 0;
        }
        shape[i] = PyLong_AsSsize_t(n);
        if (shape[i] == -1 && PyErr_Occurred())
            return 0;
        if (shape[i] <= 0) {
            PyErr_SetString(PyExc_ValueError, "memoryview.cast(): elements of shape must be integers > 0");
            return 0;
        }
        left = left % shape[i] == 0 ? left / shape[i] : 0;
    }
    if (left == 1 && len % itemsize == 0)
        return 1;
    PyErr_SetString(PyExc_TypeError, "memoryview: product(shape) * itemsize != buffer size");
    return 0;
}

static PyObject *cast(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { (char *)(uintptr_t)"format", (char *)(uintptr_t)"shape", NULL };
    const Py_buffer *v = VIEW(op);
    PyObject *format, *dims = NULL;
    PyMemoryViewObject *m;
    char from, to;
    const char *text;
    Py_ssize_t itemsize, i;
    int zero = 0, ndim = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|O:cast", names, &format, &dims) || !check(op))
        return NULL;
    text = PyUnicode_AsUTF8(format);
    if (text == NULL)
        return NULL;
    if (!PyBuffer_IsContiguous(v, 'C'))
        return PyErr_Format(PyExc_TypeError, "memoryview: casts are restricted to C-contiguous views");
    for (i = 0; i < v->ndim; i++)
        zero |= v->shape[i] == 0 || v->strides[i] == 0;
    if (zero && (dims != NULL || v->ndim != 1))
        return PyErr_Format(PyExc_TypeError, "memoryview: cannot cast view with zeros in shape or strides");
    if (dims != NULL) {
        if (!PyList_Check(dims) && !PyTuple_Check(dims))
            return PyErr_Format(PyExc_TypeError, "shape must be a list or a tuple");
        if (PySequence_Fast_GET_SIZE(dims) > PyBUF_MAX_NDIM)
            return PyErr_Format(PyExc_ValueError, "memoryview: number of dimensions must not exceed %d", PyBUF_MAX_NDIM);
        ndim = (int)PySequence_Fast_GET_SIZE(dims);
        if (v->ndim != 1 && ndim != 1)
            return PyErr_Format(PyExc_TypeError, "memoryview: cast must be 1D -> ND or ND -> 1D");
    }
    from = letter_of(v->format);
    to = letter_of(text);
    if (from == '\0' || to == '\0')
        return PyErr_Format(PyExc_ValueError, "memoryview: %s format must be a native single character format prefixed with an optional '@'",
                            from == '\0' ? "source" : "destination");
    if (strchr("Bbc", from) == NULL && strchr("Bbc", to) == NULL)
        return PyErr_Format(PyExc_TypeError, "memoryview: cannot cast between two non-byte formats");
    itemsize = size_of(to);
    if (v->len % itemsize != 0)
        return PyErr_Format(PyExc_TypeError, "memoryview: length is not a multiple of itemsize");
    m = new_shared(M(op)->mbuf, v, ndim);
    if (m == NULL)
        return NULL;
    m->view.suboffsets = NULL;
    m->view.itemsize = itemsize;
    m->view.format = (char *)(uintptr_t)(find_letter(to) - (*text == '@'));
    if (dims == NULL)
        m->view.shape[0] = v->len / itemsize;
    else if (!read_shape(dims, m->view.shape, itemsize, v->len))
        Py_CLEAR(m);
    if (m != NULL)
        set_strides(&m->view);
    return (PyObject *)(void *)m;
}

static PyObject *numbers(const Py_ssize_t *n, int count)
{
    PyObject *tuple = PyTuple_New(n != NULL ? count : 0);
    int i;
    for (i = 0; tuple != NULL && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *x = PyLong_FromSsize_t(n[i]);
        if (x != NULL)
            PyTuple_SET_ITEM(tuple, i, x);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

enum { OBJ, NBYTES, READONLY_, ITEMSIZE, FORMAT, NDIM, SHAPE, STRIDES, SUBOFFSETS, IN_C, IN_F, IN_A };

static PyObject *get(PyObject *op, void *which)
{
    const Py_buffer *v = VIEW(op);
    if (!check(op))
        return NULL;
    switch ((int)(intptr_t)which) {
    case OBJ: return Py_NewRef(v->obj != NULL ? v->obj : Py_None);
    case NBYTES: return PyLong_FromSsize_t(v->len);
    case READONLY_: return PyBool_FromLong(v->readonly);
    case ITEMSIZE: return PyLong_FromSsize_t(v->itemsize);
    case FORMAT: return PyUnicode_FromString(v->format);
    case NDIM: return PyLong_FromLong(v->ndim);
    case SHAPE: return numbers(v->shape, v->ndim);
    case STRIDES: return numbers(v->strides, v->ndim);
    case SUBOFFSETS: return numbers(v->suboffsets, v->ndim);
    default: return PyBool_FromLong(PyBuffer_IsContiguous(v, "CFA"[(int)(intptr_t)which - IN_C]));
    }
}

#define GET(name, which) { name, get, NULL, NULL, (void *)(intptr_t)(which) }
static PyGetSetDef getset[] = {
    GET("obj", OBJ), GET("nbytes", NBYTES), GET("readonly", READONLY_), GET("itemsize", ITEMSIZE), GET("format", FORMAT),
    GET("ndim", NDIM), GET("shape", SHAPE), GET("strides", STRIDES), GET("suboffsets", SUBOFFSETS), GET("c_contiguous", IN_C),
    GET("f_contiguous", IN_F), GET("contiguous", IN_A), { NULL, NULL, NULL, NULL, NULL }
};

#define KEYWORDS(f) (PyCFunction)(void (*)(void))(f), METH_VARARGS | METH_KEYWORDS, NULL
static PyMethodDef methods[] = {
    { "tobytes", KEYWORDS(to_bytes) }, { "tolist", to_list, METH_NOARGS, NULL }, { "hex", KEYWORDS(hex) },
    { "release", release, METH_NOARGS, NULL }, { "cast", KEYWORDS(cast) }, { "toreadonly", to_readonly, METH_NOARGS, NULL },
    { "__enter__", enter, METH_NOARGS, NULL }, { "__exit__", leave, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL }
};

static PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { (char *)(uintptr_t)"object", NULL };
    PyObject *op;
    (void)type;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O:memoryview", names, &op) ? PyMemoryView_FromObject(op) : NULL;
}

static PyBufferProcs as_buffer = { view_getbuffer, view_releasebuffer };
static PySequenceMethods as_sequence = { .sq_length = view_length, .sq_item = item };
static PyMappingMethods as_mapping = { .mp_length = view_length, .mp_subscript = subscript, .mp_ass_subscript = ass_subscript };

PyTypeObject PyMemoryView_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "memoryview", .tp_basicsize = offsetof(PyMemoryViewObject, ob_array),
    .tp_itemsize = sizeof(Py_ssize_t), .tp_dealloc = view_dealloc, .tp_repr = view_repr, .tp_as_sequence = &as_sequence,
    .tp_as_mapping = &as_mapping, .tp_hash = view_hash, .tp_as_buffer = &as_buffer,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = view_traverse, .tp_clear = view_clear,
    .tp_richcompare = view_richcompare, .tp_weaklistoffset = offsetof(PyMemoryViewObject, weakreflist), .tp_iter = PySeqIter_New,
    .tp_methods = methods, .tp_getset = getset, .tp_new = view_new
};
