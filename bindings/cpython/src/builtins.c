/* builtins.c - the functions of the module `builtins`, and its iterators. */
#include "internal.h"

#define OBJECT(type) ((PyObject *)(void *)(type))

/* ---- iterators: map, filter, zip, enumerate ----------------------------------- */

/* The iterators behind it are in a tuple. */
typedef struct {
    PyObject_HEAD
    PyObject *function, *sources;
    Py_ssize_t at;
} lazy;

#define Z(op) ((lazy *)(void *)(op))

/* function may be NULL. The iterables are those of the tuple from `first` on. */
static PyObject *lazy_new(PyTypeObject *type, PyObject *function, PyObject *args, Py_ssize_t first, Py_ssize_t at)
{
    Py_ssize_t i, n = PyTuple_GET_SIZE(args) - first;
    PyObject *sources = PyTuple_New(n), *op;
    for (i = 0; sources != NULL && i < n; i++) {
        PyObject *it = PyObject_GetIter(PyTuple_GET_ITEM(args, first + i));
        if (it != NULL)
            PyTuple_SET_ITEM(sources, i, it);
        else
            Py_CLEAR(sources);
    }
    op = sources != NULL ? type->tp_alloc(type, 0) : NULL;
    if (op == NULL) {
        Py_XDECREF(sources);
        return NULL;
    }
    Z(op)->function = Py_XNewRef(function);
    Z(op)->sources = sources;
    Z(op)->at = at;
    return op;
}

static void lazy_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(Z(op)->function);
    Py_XDECREF(Z(op)->sources);
    Py_TYPE(op)->tp_free(op);
}

static int lazy_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Z(op)->function);
    Py_VISIT(Z(op)->sources);
    return 0;
}

static int lazy_clear(PyObject *op)
{
    Py_CLEAR(Z(op)->function);
    Py_CLEAR(Z(op)->sources);
    return 0;
}

/* The next of each source in a tuple; NULL at the end of any. */
static PyObject *next_of_all(PyObject *op)
{
    PyObject *sources = Z(op)->sources, *items = sources != NULL ? PyTuple_New(PyTuple_GET_SIZE(sources)) : NULL;
    Py_ssize_t i;
    for (i = 0; items != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *item = PyIter_Next(PyTuple_GET_ITEM(sources, i));
        if (item != NULL)
            PyTuple_SET_ITEM(items, i, item);
        else
            Py_CLEAR(items);
    }
    return items;
}

static PyObject *map_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (type == &PyMap_Type && !_PyArg_NoKeywords("map", kwargs))
        return NULL;
    if (PyTuple_GET_SIZE(args) < 2)
        return PyErr_Format(PyExc_TypeError, "map() must have at least two arguments.");
    return lazy_new(type, PyTuple_GET_ITEM(args, 0), args, 1, 0);
}

static PyObject *map_next(PyObject *op)
{
    PyObject *items = next_of_all(op), *result = items != NULL ? PyObject_Call(Z(op)->function, items, NULL) : NULL;
    Py_XDECREF(items);
    return result;
}

static PyObject *filter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *function, *items;
    if ((type == &PyFilter_Type && !_PyArg_NoKeywords("filter", kwargs)) || !PyArg_UnpackTuple(args, "filter", 2, 2, &function, &items))
        return NULL;
    return lazy_new(type, function, args, 1, 0);
}

static PyObject *filter_next(PyObject *op)
{
    PyObject *items, *item, *answer;
    int yes;
    while ((items = next_of_all(op)) != NULL) {
        item = Py_NewRef(PyTuple_GET_ITEM(items, 0));
        Py_DECREF(items);
        answer = Z(op)->function == Py_None || Z(op)->function == OBJECT(&PyBool_Type) ? Py_NewRef(item) : PyObject_CallOneArg(Z(op)->function, item);
        yes = answer != NULL ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        if (yes > 0)
            return item;
        Py_DECREF(item);
        if (yes < 0)
            return NULL;
    }
    return NULL;
}

static PyObject *zip_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *strict = kwargs != NULL ? PyDict_GetItemString(kwargs, "strict") : NULL;
    int yes = strict != NULL ? PyObject_IsTrue(strict) : 0;
    if (yes < 0)
        return NULL;
    if (kwargs != NULL && type == &PyZip_Type && PyDict_Size(kwargs) > (strict != NULL))
        return PyErr_Format(PyExc_TypeError, "zip() got an unexpected keyword argument");
    return lazy_new(type, NULL, args, 0, yes);
}

/* Strictly: all end at once. */
static PyObject *zip_next(PyObject *op)
{
    PyObject *sources = Z(op)->sources, *items, *item;
    Py_ssize_t i, n = sources != NULL ? PyTuple_GET_SIZE(sources) : 0;
    if (n == 0)
        return NULL;
    if (!Z(op)->at)
        return next_of_all(op);
    items = PyTuple_New(n);
    for (i = 0; items != NULL && i < n && (item = PyIter_Next(PyTuple_GET_ITEM(sources, i))) != NULL; i++)
        PyTuple_SET_ITEM(items, i, item);
    if (items == NULL || i == n)
        return items;
    Py_DECREF(items);
    if (PyErr_Occurred())
        return NULL;
    if (i > 0)
        return PyErr_Format(PyExc_ValueError, "zip() argument %zd is shorter than argument%s%zd", i + 1, i == 1 ? " " : "s 1-", i);
    for (i = 1; i < n; i++) {
        item = PyIter_Next(PyTuple_GET_ITEM(sources, i));
        if (item != NULL)
            PyErr_Format(PyExc_ValueError, "zip() argument %zd is longer than argument%s%zd", i + 1, i == 1 ? " " : "s 1-", i);
        Py_XDECREF(item);
        if (PyErr_Occurred())
            break;
    }
    return NULL;
}

static PyObject *enumerate_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "iterable", "start", NULL };
    PyObject *items, *one, *op;
    Py_ssize_t start = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:enumerate", names, &items, &start))
        return NULL;
    one = PyTuple_Pack(1, items);
    op = one != NULL ? lazy_new(type, NULL, one, 0, start) : NULL;
    Py_XDECREF(one);
    return op;
}

static PyObject *enumerate_next(PyObject *op)
{
    PyObject *items = next_of_all(op), *result;
    if (items == NULL)
        return NULL;
    result = Py_BuildValue("nO", Z(op)->at, PyTuple_GET_ITEM(items, 0));
    Z(op)->at += result != NULL;
    Py_DECREF(items);
    return result;
}

#define LAZY(type, name, make, next) \
    PyTypeObject type = { \
        PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = name, .tp_basicsize = sizeof(lazy), .tp_dealloc = lazy_dealloc, \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = lazy_traverse, \
        .tp_clear = lazy_clear, .tp_iter = PyObject_SelfIter, .tp_iternext = next, .tp_new = make \
    };
LAZY(PyMap_Type, "map", map_new, map_next)
LAZY(PyFilter_Type, "filter", filter_new, filter_next)
LAZY(PyZip_Type, "zip", zip_new, zip_next)
LAZY(PyEnum_Type, "enumerate", enumerate_new, enumerate_next)

/* ---- functions ------------------------------------------------------------------ */

static PyObject *truth(int yes) { return yes < 0 ? NULL : PyBool_FromLong(yes); }
static PyObject *none_or(int code) { return code < 0 ? NULL : Py_NewRef(Py_None); }

#define ONE(name, expression) static PyObject *name(PyObject *module, PyObject *x) { (void)module; return expression; }
#define SEVERAL(name, least, most) \
    static PyObject *name##_of(PyObject *const *a, Py_ssize_t n); \
    static PyObject *name(PyObject *module, PyObject *const *args, Py_ssize_t n) \
    { \
        (void)module; \
        return _PyArg_CheckPositional(#name, n, least, most) ? name##_of(args, n) : NULL; \
    } \
    static PyObject *name##_of(PyObject *const *a, CPY_UNUSED Py_ssize_t n)
#define CPY_UNUSED __attribute__((unused))

ONE(abs_, PyNumber_Absolute(x))
ONE(ascii, PyObject_ASCII(x))
ONE(bin, PyNumber_ToBase(x, 2))
ONE(oct, PyNumber_ToBase(x, 8))
ONE(hex, PyNumber_ToBase(x, 16))
ONE(callable, PyBool_FromLong(PyCallable_Check(x)))
ONE(repr, PyObject_Repr(x))
ONE(id, PyLong_FromVoidPtr(x))
ONE(dir, PyObject_Dir(x))

static PyObject *len(PyObject *module, PyObject *x)
{
    Py_ssize_t n = PyObject_Size(x);
    (void)module;
    return n < 0 ? NULL : PyLong_FromSsize_t(n);
}

static PyObject *hash(PyObject *module, PyObject *x)
{
    Py_hash_t h = PyObject_Hash(x);
    (void)module;
    return h == -1 ? NULL : PyLong_FromSsize_t(h);
}

static PyObject *chr(PyObject *module, PyObject *x)
{
    long c = PyLong_AsLong(x);
    (void)module;
    if (c == -1 && PyErr_Occurred())
        return NULL;
    return c < 0 || c > 0x10ffff ? PyErr_Format(PyExc_ValueError, "chr() arg not in range(0x110000)") : PyUnicode_FromOrdinal((int)c);
}

static PyObject *ord(PyObject *module, PyObject *x)
{
    Py_ssize_t n = -1;
    (void)module;
    if (PyUnicode_Check(x) && (n = PyUnicode_GET_LENGTH(x)) == 1)
        return PyLong_FromLong((long)PyUnicode_READ_CHAR(x, 0));
    if (PyBytes_Check(x) && (n = PyBytes_GET_SIZE(x)) == 1)
        return PyLong_FromLong((unsigned char)PyBytes_AS_STRING(x)[0]);
    return n < 0 ? PyErr_Format(PyExc_TypeError, "ord() expected string of length 1, but %.200s found", Py_TYPE(x)->tp_name)
                 : PyErr_Format(PyExc_TypeError, "ord() expected a character, but string of length %zd found", n);
}

/* all or any: ends at the first item whose truth is `last`. */
static PyObject *any_item(PyObject *items, int last)
{
    PyObject *it = PyObject_GetIter(items), *item;
    int yes = !last;
    if (it == NULL)
        return NULL;
    while (yes == !last && (item = PyIter_Next(it)) != NULL) {
        yes = PyObject_IsTrue(item);
        Py_DECREF(item);
    }
    Py_DECREF(it);
    return yes < 0 || PyErr_Occurred() ? NULL : PyBool_FromLong(yes);
}
ONE(all, any_item(x, 0))
ONE(any, any_item(x, 1))

/* Without a default the attribute must be there. */
PyObject *py_getattr(PyObject *op, PyObject *name, PyObject *otherwise)
{
    PyObject *value = PyObject_GetAttr(op, name);
    if (value != NULL || otherwise == NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return Py_NewRef(otherwise);
}

SEVERAL(getattr, 2, 3) { return py_getattr(a[0], a[1], n > 2 ? a[2] : NULL); }
SEVERAL(setattr, 3, 3) { return none_or(PyObject_SetAttr(a[0], a[1], a[2])); }
SEVERAL(delattr, 2, 2) { return none_or(PyObject_DelAttr(a[0], a[1])); }
SEVERAL(isinstance, 2, 2) { return truth(PyObject_IsInstance(a[0], a[1])); }
SEVERAL(issubclass, 2, 2) { return truth(PyObject_IsSubclass(a[0], a[1])); }
SEVERAL(divmod, 2, 2) { return PyNumber_Divmod(a[0], a[1]); }
SEVERAL(pow_, 2, 3) { return PyNumber_Power(a[0], a[1], n > 2 ? a[2] : Py_None); }
SEVERAL(format, 1, 2) { return PyObject_Format(a[0], n > 1 ? a[1] : NULL); }

SEVERAL(hasattr, 2, 2)
{
    PyObject *value = PyObject_GetAttr(a[0], a[1]);
    int yes = value != NULL ? 1 : PyErr_ExceptionMatches(PyExc_AttributeError) ? 0 : -1;
    if (yes == 0)
        PyErr_Clear();
    Py_XDECREF(value);
    return truth(yes);
}

SEVERAL(iter, 1, 2)
{
    if (n == 1)
        return PyObject_GetIter(a[0]);
    return PyCallable_Check(a[0]) ? PyCallIter_New(a[0], a[1]) : PyErr_Format(PyExc_TypeError, "iter(v, w): v must be callable");
}

SEVERAL(next, 1, 2)
{
    PyObject *item;
    if (!PyIter_Check(a[0]))
        return PyErr_Format(PyExc_TypeError, "'%.200s' object is not an iterator", Py_TYPE(a[0])->tp_name);
    item = PyIter_Next(a[0]);
    if (item == NULL && !PyErr_Occurred()) {
        item = n > 1 ? Py_NewRef(a[1]) : NULL;
        if (item == NULL)
            PyErr_SetNone(PyExc_StopIteration);
    }
    return item;
}

SEVERAL(sum, 1, 2)
{
    PyObject *it = PyObject_GetIter(a[0]), *total = it == NULL ? NULL : n > 1 ? Py_NewRef(a[1]) : PyLong_FromLong(0), *item;
    if (total != NULL && PyUnicode_Check(total)) {
        PyErr_SetString(PyExc_TypeError, "sum() can't sum strings [use ''.join(seq) instead]");
        Py_CLEAR(total);
    }
    while (total != NULL && (item = PyIter_Next(it)) != NULL) {
        PyObject *more = PyNumber_Add(total, item);
        Py_DECREF(item);
        Py_SETREF(total, more);
    }
    if (PyErr_Occurred())
        Py_CLEAR(total);
    Py_XDECREF(it);
    return total;
}

/* The first of the smallest items, or of the largest. */
static PyObject *extreme(PyObject *args, PyObject *kwargs, const char *name, int op)
{
    PyObject *key = kwargs != NULL ? PyDict_GetItemString(kwargs, "key") : NULL, *otherwise = kwargs != NULL ? PyDict_GetItemString(kwargs, "default") : NULL;
    PyObject *it, *item, *best = NULL, *best_key = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(args), known = (key != NULL) + (otherwise != NULL);
    int better = 0;
    if (kwargs != NULL && PyDict_Size(kwargs) > known)
        return PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument", name);
    if (n == 0)
        return PyErr_Format(PyExc_TypeError, "%s expected at least 1 argument, got 0", name);
    if (n > 1 && otherwise != NULL)
        return PyErr_Format(PyExc_TypeError, "Cannot specify a default for %s() with multiple positional arguments", name);
    Py_XINCREF(key);
    Py_XINCREF(otherwise);
    it = PyObject_GetIter(n == 1 ? PyTuple_GET_ITEM(args, 0) : args);
    while (better >= 0 && it != NULL && (item = PyIter_Next(it)) != NULL) {
        PyObject *k = key != NULL && key != Py_None ? PyObject_CallOneArg(key, item) : Py_NewRef(item);
        better = k == NULL ? -1 : best == NULL ? 1 : PyObject_RichCompareBool(k, best_key, op);
        if (better > 0) {
            Py_XSETREF(best, item);
            Py_XSETREF(best_key, k);
        } else {
            Py_DECREF(item);
            Py_XDECREF(k);
        }
    }
    if (it == NULL || PyErr_Occurred())
        Py_CLEAR(best);
    else if (best == NULL)
        best = otherwise != NULL ? Py_NewRef(otherwise) : PyErr_Format(PyExc_ValueError, "%s() arg is an empty sequence", name);
    Py_XDECREF(best_key);
    Py_XDECREF(it);
    Py_XDECREF(key);
    Py_XDECREF(otherwise);
    return best;
}

static PyObject *min(PyObject *module, PyObject *args, PyObject *kwargs) { (void)module; return extreme(args, kwargs, "min", Py_LT); }
static PyObject *max(PyObject *module, PyObject *args, PyObject *kwargs) { (void)module; return extreme(args, kwargs, "max", Py_GT); }

/* A new list. */
static PyObject *sorted(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *list, *sort, *none = NULL, *empty;
    (void)module;
    if (!_PyArg_CheckPositional("sorted", PyTuple_GET_SIZE(args), 1, 1))
        return NULL;
    list = PySequence_List(PyTuple_GET_ITEM(args, 0));
    sort = list != NULL ? PyObject_GetAttrString(list, "sort") : NULL;
    empty = sort != NULL ? PyTuple_New(0) : NULL;
    if (empty != NULL)
        none = PyObject_Call(sort, empty, kwargs);
    if (none == NULL)
        Py_CLEAR(list);
    Py_XDECREF(none);
    Py_XDECREF(empty);
    Py_XDECREF(sort);
    return list;
}

static PyObject *print(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *sep = kwargs != NULL ? PyDict_GetItemString(kwargs, "sep") : NULL, *end = kwargs != NULL ? PyDict_GetItemString(kwargs, "end") : NULL;
    Py_ssize_t i, n = PyTuple_GET_SIZE(args);
    int code = 0;
    (void)module;
    if (kwargs != NULL && PyDict_Size(kwargs) > (sep != NULL) + (end != NULL))
        return PyErr_Format(PyExc_TypeError, "print() here knows the keywords sep and end only");
    Py_XINCREF(sep);
    Py_XINCREF(end);
    for (i = 0; code == 0 && i < n; i++) {
        if (i > 0)
            code = sep != NULL && sep != Py_None ? PyObject_Print(sep, stdout, Py_PRINT_RAW) : fputs(" ", stdout) < 0 ? -1 : 0;
        if (code == 0)
            code = PyObject_Print(PyTuple_GET_ITEM(args, i), stdout, Py_PRINT_RAW);
    }
    if (code == 0)
        code = end != NULL && end != Py_None ? PyObject_Print(end, stdout, Py_PRINT_RAW) : fputs("\n", stdout) < 0 ? -1 : 0;
    Py_XDECREF(sep);
    Py_XDECREF(end);
    if (code < 0 && !PyErr_Occurred())
        PyErr_SetFromErrno(PyExc_OSError);
    return none_or(code);
}

#define FAST(name) { #name, _PyCFunction_CAST(name), METH_FASTCALL, NULL }
#define WITH_KEYWORDS(name) { #name, _PyCFunction_CAST(name), METH_VARARGS | METH_KEYWORDS, NULL }

PyMethodDef py_builtin_functions[] = {
    { "abs", abs_, METH_O, NULL }, { "pow", _PyCFunction_CAST(pow_), METH_FASTCALL, NULL }, { "all", all, METH_O, NULL }, { "any", any, METH_O, NULL }, { "ascii", ascii, METH_O, NULL },
    { "bin", bin, METH_O, NULL }, { "callable", callable, METH_O, NULL }, { "chr", chr, METH_O, NULL }, { "dir", dir, METH_O, NULL },
    { "hash", hash, METH_O, NULL }, { "hex", hex, METH_O, NULL }, { "id", id, METH_O, NULL }, { "len", len, METH_O, NULL },
    { "oct", oct, METH_O, NULL }, { "ord", ord, METH_O, NULL }, { "repr", repr, METH_O, NULL }, FAST(getattr), FAST(setattr),
    FAST(delattr), FAST(hasattr), FAST(isinstance), FAST(issubclass), FAST(divmod), FAST(format), FAST(iter), FAST(next),
    FAST(sum), WITH_KEYWORDS(min), WITH_KEYWORDS(max), WITH_KEYWORDS(sorted), WITH_KEYWORDS(print), { NULL, NULL, 0, NULL }
};
