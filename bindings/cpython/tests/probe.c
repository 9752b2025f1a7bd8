/* probe.c - an extension for scripts that look at every kind of object from both sides. Between any two
 * uses of something everything moves (MOVE), so that what is not held as CPython's manual says does not
 * survive. */
#include "Python.h"
#include "structmember.h"
#include "pythread.h"

#include <pthread.h>

#define MOVE() ((void)PyGC_Collect())
#define FUNCTION(name) static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t n)
#define UNUSED ((void)self, (void)args, (void)n)
#define NONE_OR(code) ((code) < 0 ? NULL : Py_NewRef(Py_None))

/* Unless something has failed already. */
static PyObject *changed(const char *what)
{
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_AssertionError, "%s changed", what);
}

static PyObject *truth(int yes)
{
    return yes < 0 ? NULL : PyBool_FromLong(yes);
}

/* ---- holding ---------------------------------------------------------------- */

static PyObject *kept;                  /* owned, or NULL */

FUNCTION(hold)
{
    UNUSED;
    Py_XSETREF(kept, Py_NewRef(args[0]));
    Py_RETURN_NONE;
}

FUNCTION(held)
{
    UNUSED;
    MOVE();
    return Py_NewRef(kept != NULL ? kept : Py_None);
}

FUNCTION(drop)
{
    UNUSED;
    Py_CLEAR(kept);
    Py_RETURN_NONE;
}

FUNCTION(same)
{
    UNUSED;
    MOVE();
    return truth(Py_Is(args[0], args[1]));
}

FUNCTION(equal)
{
    UNUSED;
    MOVE();
    return truth(PyObject_RichCompareBool(args[0], args[1], Py_EQ));
}

/* What the _Check functions say, and the type. */
FUNCTION(what)
{
    PyObject *op = args[0];
    UNUSED;
    MOVE();
    return PyUnicode_FromFormat("%s%s%s%s%s%s%s %s", PyLong_Check(op) ? "i" : "", PyFloat_Check(op) ? "f" : "",
                                PyUnicode_Check(op) ? "s" : "", PyTuple_Check(op) ? "t" : "", PyList_Check(op) ? "l" : "",
                                PyDict_Check(op) ? "d" : "", PyCallable_Check(op) ? "c" : "", Py_TYPE(op)->tp_name);
}

FUNCTION(is_true)
{
    UNUSED;
    return truth(PyObject_IsTrue(args[0]));
}

FUNCTION(texts)
{
    PyObject *a = PyObject_Repr(args[0]), *b, *tuple = NULL;
    UNUSED;
    MOVE();
    b = a != NULL ? PyObject_Str(args[0]) : NULL;
    MOVE();
    if (b != NULL)
        tuple = PyTuple_Pack(2, a, b);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return tuple;
}

/* ---- numbers ------------------------------------------------------------------ */

FUNCTION(as_long)
{
    long x = PyLong_AsLong(args[0]);
    UNUSED;
    MOVE();
    return x == -1 && PyErr_Occurred() ? NULL : PyLong_FromLong(x);
}

FUNCTION(as_size)
{
    size_t x = PyLong_AsSize_t(args[0]);
    UNUSED;
    MOVE();
    return PyErr_Occurred() ? NULL : PyLong_FromSize_t(x);
}

FUNCTION(as_double)
{
    double x = PyFloat_AsDouble(args[0]);
    UNUSED;
    MOVE();
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(x);
}

FUNCTION(extreme_longs)
{
    UNUSED;
    return Py_BuildValue("[nn]", PY_SSIZE_T_MAX, PY_SSIZE_T_MIN);
}

/* ---- str ------------------------------------------------------------------------ */

/* Is the pointer good, and the same, while everything moves? Gives a new str with the same bytes. */
FUNCTION(str_copy)
{
    Py_ssize_t size, i, again_size;
    const char *bytes = PyUnicode_AsUTF8AndSize(args[0], &size);
    unsigned long sum = 0, again = 0;
    UNUSED;
    if (bytes == NULL)
        return NULL;
    for (i = 0; i <= size; i++)
        sum = 31 * sum + (unsigned char)bytes[i];
    MOVE();
    for (i = 0; i <= size; i++)
        again = 31 * again + (unsigned char)bytes[i];
    if (sum != again || bytes != PyUnicode_AsUTF8AndSize(args[0], &again_size) || again_size != size)
        return changed("the bytes have");
    return PyUnicode_FromStringAndSize(bytes, size);
}

/* n times the character: written into the str before the host sees it. */
FUNCTION(str_fill)
{
    Py_ssize_t size = PyLong_AsSsize_t(args[0]);
    PyObject *s;
    UNUSED;
    if (PyErr_Occurred() || PyUnicode_READY(args[1]) < 0)
        return NULL;
    s = PyUnicode_New(size, 127);
    MOVE();
    if (s != NULL)
        memset(PyUnicode_DATA(s), (int)PyUnicode_READ_CHAR(args[1], 0), (size_t)size);
    MOVE();
    return s;
}

FUNCTION(greet)
{
    const char *name = PyUnicode_AsUTF8(args[0]);
    PyObject *plain = PyUnicode_FromString("hello"), *result;
    UNUSED;
    MOVE();
    result = name != NULL && plain != NULL ? PyUnicode_FromFormat("%U, %s (%d)", plain, name, 7) : NULL;
    Py_XDECREF(plain);
    return result;
}

/* ---- tuple ------------------------------------------------------------------------ */

/* The items as a list, taken from the array, and again one by one. */
FUNCTION(tuple_items)
{
    PyObject *list = PyTuple_Check(args[0]) ? PyList_New(0) : PyErr_Format(PyExc_TypeError, "expected a tuple");
    PyObject *const *items = list != NULL ? PySequence_Fast_ITEMS(args[0]) : NULL;
    Py_ssize_t i;

    UNUSED;
    for (i = 0; list != NULL && i < PyTuple_Size(args[0]); i++) {
        MOVE();
        if (items != PySequence_Fast_ITEMS(args[0]) || items[i] != PyTuple_GetItem(args[0], i))
            changed("an item has");
        if (PyErr_Occurred() || PyList_Append(list, items[i]) < 0)
            Py_CLEAR(list);
    }
    return list;
}

FUNCTION(tuple_get)
{
    PyObject *item = PyTuple_GetItem(args[0], PyLong_AsSsize_t(args[1]));
    UNUSED;
    MOVE();
    return Py_XNewRef(item);
}

FUNCTION(tuple_make)
{
    PyObject *tuple = PyTuple_New(n);
    Py_ssize_t i;
    UNUSED;
    for (i = 0; tuple != NULL && i < n; i++) {
        MOVE();
        if (PyTuple_SetItem(tuple, i, Py_NewRef(args[i])) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

FUNCTION(tuple_set)
{
    UNUSED;
    return NONE_OR(PyTuple_SetItem(args[0], 0, Py_NewRef(args[1])));
}

/* An object in n tuples, one in the other. The host sees none of them. */
FUNCTION(tuple_nest)
{
    PyObject *nested = Py_NewRef(args[0]);
    Py_ssize_t depth = PyLong_AsSsize_t(args[1]);
    UNUSED;
    for (; nested != NULL && depth > 0; depth--)
        Py_SETREF(nested, PyTuple_Pack(1, nested));
    return nested;
}

/* Whether the class of the exception matches, and whether the one that is set meanwhile is still set. */
FUNCTION(error_matches)
{
    int matches, same;
    UNUSED;
    PyErr_SetObject(args[0], args[0]);
    matches = PyErr_ExceptionMatches(args[1]);
    same = PyErr_Occurred() == args[0];
    PyErr_Clear();
    return same ? truth(matches) : PyErr_Format(PyExc_AssertionError, "another exception is set");
}

/* A tuple, or a list, of 7 and an item that is not there. */
FUNCTION(half_built)
{
    PyObject *op = PyObject_IsTrue(args[0]) ? PyTuple_New(2) : PyList_New(2);
    UNUSED;
    if (op != NULL && PyTuple_Check(op))
        PyTuple_SET_ITEM(op, 0, PyLong_FromLong(7));
    else if (op != NULL)
        PyList_SET_ITEM(op, 0, PyLong_FromLong(7));
    return op;
}

/* ---- list --------------------------------------------------------------------------- */

FUNCTION(list_make)
{
    PyObject *list = PyList_New(n);
    Py_ssize_t i;
    UNUSED;
    for (i = 0; list != NULL && i < n; i++) {
        MOVE();
        PyList_SET_ITEM(list, i, Py_NewRef(args[i]));
    }
    return list;
}

/* The items as a tuple: the array is good while everything moves. */
FUNCTION(list_items)
{
    PyObject *const *items;
    PyObject *tuple;
    Py_ssize_t i, size = PyList_Size(args[0]);

    UNUSED;
    tuple = size >= 0 ? PyTuple_New(size) : NULL;
    items = tuple != NULL ? PySequence_Fast_ITEMS(args[0]) : NULL;
    for (i = 0; tuple != NULL && i < size; i++) {
        MOVE();
        if (items[i] != PyList_GetItem(args[0], i)) {
            Py_DECREF(tuple);
            return changed("an item has");
        }
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(items[i]));
    }
    return tuple;
}

FUNCTION(list_size)
{
    Py_ssize_t size = PyList_Size(args[0]);
    UNUSED;
    return size < 0 ? NULL : PyLong_FromSsize_t(size);
}

FUNCTION(list_get)
{
    PyObject *item = PyList_GetItem(args[0], PyLong_AsSsize_t(args[1]));
    UNUSED;
    MOVE();
    return Py_XNewRef(item);
}

FUNCTION(list_set)
{
    UNUSED;
    return NONE_OR(PyList_SetItem(args[0], PyLong_AsSsize_t(args[1]), Py_NewRef(args[2])));
}

FUNCTION(list_append)
{
    UNUSED;
    return NONE_OR(PyList_Append(args[0], args[1]));
}

FUNCTION(list_insert)
{
    UNUSED;
    return NONE_OR(PyList_Insert(args[0], PyLong_AsSsize_t(args[1]), args[2]));
}

FUNCTION(list_delete)
{
    UNUSED;
    return NONE_OR(PySequence_DelItem(args[0], PyLong_AsSsize_t(args[1])));
}

FUNCTION(list_as_tuple)
{
    UNUSED;
    return PyList_AsTuple(args[0]);
}

/* ---- dict ----------------------------------------------------------------------------- */

FUNCTION(dict_make)
{
    PyObject *dict = PyDict_New();
    Py_ssize_t i;
    UNUSED;
    for (i = 0; dict != NULL && i + 1 < n; i += 2) {
        MOVE();
        if (PyDict_SetItem(dict, args[i], args[i + 1]) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *item_or_none(PyObject *v)
{
    MOVE();
    return v != NULL ? Py_NewRef(v) : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

FUNCTION(dict_get)
{
    UNUSED;
    return item_or_none(PyDict_GetItemWithError(args[0], args[1]));
}

FUNCTION(dict_get_text)
{
    UNUSED;
    return item_or_none(PyDict_GetItemString(args[0], "text"));
}

FUNCTION(dict_set_text)
{
    UNUSED;
    return NONE_OR(PyDict_SetItemString(args[0], "text", args[1]));
}

FUNCTION(dict_delete)
{
    int there = PyDict_Contains(args[0], args[1]);
    UNUSED;
    return there > 0 && PyDict_DelItem(args[0], args[1]) < 0 ? NULL : truth(there);
}

FUNCTION(dict_contains)
{
    UNUSED;
    return truth(PyDict_Contains(args[0], args[1]));
}

FUNCTION(dict_size)
{
    Py_ssize_t size = PyDict_Size(args[0]);
    UNUSED;
    return size < 0 ? NULL : PyLong_FromSsize_t(size);
}

/* Keys and values in a list; after each step f(key, value), which may change the values and remove keys. */
FUNCTION(dict_walk)
{
    PyObject *list = PyList_New(0), *pair[2], *result;
    Py_ssize_t at = 0;
    UNUSED;
    while (list != NULL && PyDict_Next(args[0], &at, &pair[0], &pair[1])) {
        Py_INCREF(pair[0]);
        Py_INCREF(pair[1]);
        MOVE();
        if (PyList_Append(list, pair[0]) < 0 || PyList_Append(list, pair[1]) < 0)
            Py_CLEAR(list);
        if (list != NULL && n > 1) {
            result = PyObject_Vectorcall(args[1], pair, 2, NULL);
            if (result == NULL)
                Py_CLEAR(list);
            Py_XDECREF(result);
        }
        Py_DECREF(pair[0]);
        Py_DECREF(pair[1]);
    }
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

/* How many keys a walk without a look at the values meets. */
FUNCTION(dict_count)
{
    Py_ssize_t at = 0;
    long count = 0;
    UNUSED;
    while (PyDict_Next(args[0], &at, NULL, NULL))
        count++;
    return PyErr_Occurred() ? NULL : PyLong_FromLong(count);
}

/* ---- calls and errors ------------------------------------------------------------------- */

FUNCTION(call)
{
    PyObject *result;
    UNUSED;
    MOVE();
    result = PyObject_Vectorcall(args[0], args + 1, (size_t)n - 1, NULL);
    MOVE();
    return result;
}

FUNCTION(call_method)
{
    PyObject *method, *result;
    UNUSED;
    MOVE();
    method = PyObject_GetAttr(args[0], args[1]);
    MOVE();
    result = method != NULL ? PyObject_Vectorcall(method, args + 2, (size_t)n - 2, NULL) : NULL;
    Py_XDECREF(method);
    MOVE();
    return result;
}

static PyObject *add_self(PyObject *self, PyObject *arg)
{
    return PyNumber_Add(self, arg);
}

static PyMethodDef adder = { "adder", add_self, METH_O, NULL };

FUNCTION(make_adder)
{
    UNUSED;
    return PyCFunction_New(&adder, args[0]);
}

FUNCTION(no_error)
{
    UNUSED;
    return NULL;
}

FUNCTION(both)
{
    UNUSED;
    PyErr_Format(PyExc_ValueError, "an error and %s", "a result");
    Py_RETURN_NONE;
}

/* The message of the error that the call ends with, which is forgotten; "" if there is none. */
FUNCTION(message_of)
{
    PyObject *result = PyObject_CallNoArgs(args[0]), *type, *value, *traceback, *text;
    UNUSED;
    Py_XDECREF(result);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    text = value != NULL ? PyObject_Str(value) : PyUnicode_FromString("");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return text;
}

/* Puts an error aside, calls the argument, and fails with the first error. */
FUNCTION(meanwhile)
{
    PyObject *type, *value, *traceback, *result;
    UNUSED;
    PyErr_SetString(PyExc_ValueError, "the first error");
    PyErr_Fetch(&type, &value, &traceback);
    result = PyObject_CallNoArgs(args[0]);
    Py_XDECREF(result);
    MOVE();
    PyErr_Restore(type, value, traceback);
    return NULL;
}

FUNCTION(get_attr)
{
    UNUSED;
    return PyObject_GetAttr(args[0], args[1]);
}

FUNCTION(set_attr)
{
    UNUSED;
    return NONE_OR(n > 2 ? PyObject_SetAttr(args[0], args[1], args[2]) : PyObject_DelAttr(args[0], args[1]));
}

/* Borrows from a container, lets somebody do something else, and uses it. The container still has it. */
FUNCTION(while_borrowed)
{
    PyObject *x = PyDict_Check(args[0]) ? PyDict_GetItemWithError(args[0], args[1])
                : PyList_Check(args[0]) ? PyList_GetItem(args[0], PyLong_AsSsize_t(args[1]))
                : PyTuple_GetItem(args[0], PyLong_AsSsize_t(args[1]));
    PyObject *result = x != NULL ? PyObject_CallNoArgs(args[2]) : NULL;
    UNUSED;
    if (result == NULL)
        return NULL;
    Py_DECREF(result);
    MOVE();
    return PyObject_Repr(x);
}

/* ---- a box owns one object: O link -------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *content;
} box;

typedef struct {
    box base;
    PyObject *more;
} big_box;

static long boxes;                      /* that are alive */

static PyObject *box_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op = type->tp_alloc(type, 0);
    (void)kwargs;
    if (op == NULL)
        return NULL;
    boxes++;
    ((box *)op)->content = Py_NewRef(PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None);
    return op;
}

static int box_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((box *)op)->content);
    return 0;
}

static int box_clear(PyObject *op)
{
    Py_CLEAR(((box *)op)->content);
    return 0;
}

static void box_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    boxes--;
    box_clear(op);
    Py_TYPE(op)->tp_free(op);
}

static PyObject *box_size(PyObject *op, void *closure)
{
    (void)op, (void)closure;
    return PyLong_FromLong(1);
}

static PyObject *box_swap(PyObject *op, PyObject *arg)
{
    PyObject *old = ((box *)op)->content;
    ((box *)op)->content = Py_NewRef(arg);
    return old;
}

static PyObject *box_close(PyObject *op, PyObject *none)
{
    (void)none;
    Py_SETREF(((box *)op)->content, Py_NewRef(Py_None));
    Py_RETURN_NONE;
}

static PyObject *box_repr(PyObject *op)
{
    return PyUnicode_FromFormat("<%s of %R>", Py_TYPE(op)->tp_name, ((box *)op)->content);
}

static PyMemberDef box_members[] = { { "content", T_OBJECT, offsetof(box, content), 0, NULL }, { NULL, 0, 0, 0, NULL } };
static PyGetSetDef box_getset[] = { { "size", box_size, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };
static PyMethodDef box_methods[] = {
    { "swap", box_swap, METH_O, NULL }, { "close", box_close, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};

static PyTypeObject Box = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "box", .tp_basicsize = sizeof(box), .tp_dealloc = box_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = box_traverse,
    .tp_clear = box_clear, .tp_new = box_new, .tp_repr = box_repr, .tp_members = box_members, .tp_getset = box_getset,
    .tp_methods = box_methods
};

/* Based on it: a second content, set up by a tp_init; and it can be called. */
static int big_box_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *first, *second;
    (void)kwargs;
    if (!PyArg_UnpackTuple(args, "big-box", 2, 2, &first, &second))
        return -1;
    Py_XSETREF(((big_box *)op)->more, Py_NewRef(second));
    return 0;
}

static int big_box_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((big_box *)op)->more);
    return box_traverse(op, visit, arg);
}

static int big_box_clear(PyObject *op)
{
    Py_CLEAR(((big_box *)op)->more);
    return box_clear(op);
}

static void big_box_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_CLEAR(((big_box *)op)->more);
    box_dealloc(op);
}

static PyObject *big_box_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    return PyTuple_GET_SIZE(args) > 0 ? PyTuple_Pack(3, ((box *)op)->content, ((big_box *)op)->more, PyTuple_GET_ITEM(args, 0))
                                      : PyTuple_Pack(2, ((box *)op)->content, ((big_box *)op)->more);
}

static PyTypeObject BigBox = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "big-box", .tp_basicsize = sizeof(big_box), .tp_dealloc = big_box_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = big_box_traverse,
    .tp_clear = big_box_clear, .tp_init = big_box_init, .tp_call = big_box_call, .tp_base = &Box
};

FUNCTION(check_box)
{
    UNUSED;
    if (!PyObject_TypeCheck(args[0], &Box))
        return PyErr_Format(PyExc_TypeError, "expected a box");
    return truth(PyObject_TypeCheck(args[0], &BigBox));
}

FUNCTION(count_boxes)
{
    UNUSED;
    return PyLong_FromLong(boxes);
}

/* ---- of variable size ------------------------------------------------------------------------ */

typedef struct {
    PyObject_VAR_HEAD
    long numbers[1];
} row;

static PyObject *row_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t n = PyTuple_GET_SIZE(args), i;
    PyObject *op = type->tp_alloc(type, n);
    (void)kwargs;
    for (i = 0; op != NULL && i < n; i++)
        ((row *)(void *)op)->numbers[i] = PyLong_AsLong(PyTuple_GET_ITEM(args, i));
    if (PyErr_Occurred())
        Py_CLEAR(op);
    return op;
}

static PyObject *row_sum(PyObject *op, PyObject *none)
{
    long sum = 0;
    Py_ssize_t i;
    (void)none;
    for (i = 0; i < Py_SIZE(op); i++)
        sum += ((row *)(void *)op)->numbers[i];
    return PyLong_FromLong(sum);
}

static PyMethodDef row_methods[] = { { "sum", row_sum, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static PyTypeObject Row = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "row", .tp_basicsize = offsetof(row, numbers), .tp_itemsize = sizeof(long),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_new = row_new, .tp_methods = row_methods
};

/* ---- what garbage owns -------------------------------------------------------------------------
 *
 * A looker owns objects. In its tp_finalize, its tp_clear and its tp_dealloc it looks into each: all must
 * be whole, whatever has died before. */

typedef struct {
    PyObject_VAR_HEAD
    PyObject *items[1];
} looker;

static long looks;

static int is_whole(PyObject *x)
{
    PyObject *text = PyObject_Repr(x), *key, *value;
    Py_ssize_t at = 0, i;
    int whole = text != NULL;
    Py_XDECREF(text);
    if (PyUnicode_Check(x))
        whole = whole && PyUnicode_AsUTF8(x) != NULL && PyUnicode_GET_LENGTH(x) >= 0;
    else if (PyTuple_Check(x))
        for (i = 0; whole && i < PyTuple_GET_SIZE(x); i++)
            whole = PyTuple_GET_ITEM(x, i) != NULL;
    else if (PyList_Check(x))
        for (i = 0; whole && i < PyList_GET_SIZE(x); i++)
            whole = PyList_GET_ITEM(x, i) != NULL;
    else if (PyDict_Check(x))
        while (PyDict_Next(x, &at, &key, &value))
            whole = whole && Py_TYPE(key) != NULL && Py_TYPE(value) != NULL;
    return whole && !PyErr_Occurred();
}

static void look(PyObject *op)
{
    PyObject *type, *value, *traceback;
    Py_ssize_t i;
    PyErr_Fetch(&type, &value, &traceback);
    for (i = 0; i < Py_SIZE(op); i++) {
        PyObject *x = ((looker *)(void *)op)->items[i];
        if (x == NULL)
            continue;
        if (!is_whole(x))
            Py_FatalError("a looker: what it owns is not whole");       /* at the exit, nobody would see less */
        looks++;
    }
    PyErr_Restore(type, value, traceback);
}

static PyObject *looker_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op = type->tp_alloc(type, PyTuple_GET_SIZE(args));
    Py_ssize_t i;
    (void)kwargs;
    for (i = 0; op != NULL && i < Py_SIZE(op); i++)
        ((looker *)(void *)op)->items[i] = Py_NewRef(PyTuple_GET_ITEM(args, i));
    return op;
}

static int looker_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_ssize_t i;
    for (i = 0; i < Py_SIZE(op); i++)
        Py_VISIT(((looker *)(void *)op)->items[i]);
    return 0;
}

static int looker_clear(PyObject *op)
{
    Py_ssize_t i;
    look(op);
    for (i = 0; i < Py_SIZE(op); i++)
        Py_CLEAR(((looker *)(void *)op)->items[i]);
    return 0;
}

static void looker_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    looker_clear(op);
    Py_TYPE(op)->tp_free(op);
}

#define LOOKER(name) \
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = (name), .tp_basicsize = offsetof(looker, items), \
    .tp_itemsize = sizeof(PyObject *), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_dealloc = looker_dealloc, \
    .tp_traverse = looker_traverse, .tp_clear = looker_clear, .tp_new = looker_new

static PyTypeObject Looker = { LOOKER("looker") };
static PyTypeObject LastLooker = { LOOKER("last-looker"), .tp_finalize = look };

/* A shelf owns a dict of books, and has them in a list of its own, without references. Its tp_dealloc goes through
   that list: no book may have gone before it. */

typedef struct book {
    PyObject_HEAD
    struct book *next;
    int shelf;                  /* its number */
} book;

typedef struct {
    PyObject_HEAD
    PyObject *books;
    book *first;
    int number, added;
} shelf;

enum { SHELVES = 10000, BOOKS = 3 };
static signed char books_there[SHELVES];
static int shelves;

static void book_dealloc(PyObject *op)
{
    books_there[((book *)(void *)op)->shelf]--;
    Py_TYPE(op)->tp_free(op);
}

static PyTypeObject Book = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "book", .tp_basicsize = sizeof(book), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = book_dealloc
};

static int shelf_add(shelf *self, PyObject *key)
{
    book *added = PyObject_New(book, &Book);
    int failed;
    if (added == NULL || key == NULL) {
        Py_XDECREF(added);
        Py_XDECREF(key);
        return -1;
    }
    added->shelf = self->number;
    books_there[self->number]++;
    failed = PyDict_SetItem(self->books, key, (PyObject *)added);
    if (!failed) {
        added->next = self->first;
        self->first = added;
        self->added++;
    }
    Py_DECREF(key);
    Py_DECREF(added);
    return failed;
}

/* The arguments are in its dict as well. */
static PyObject *shelf_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op = shelves < SHELVES ? type->tp_alloc(type, 0) : NULL;
    shelf *self = (shelf *)(void *)op;
    long i;
    (void)kwargs;
    if (op == NULL)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    self->number = shelves++;
    self->books = PyDict_New();
    for (i = 0; self->books != NULL && i < BOOKS; i++)
        if (shelf_add(self, PyLong_FromLong(i)) != 0)
            break;
    if (i < BOOKS || PyDict_SetItemString(self->books, "args", args) != 0)
        Py_CLEAR(op);
    return op;
}

static void shelf_dealloc(PyObject *op)
{
    shelf *self = (shelf *)(void *)op;
    const book *b;
    int n = 0;
    if (PyObject_IS_GC(op))
        PyObject_GC_UnTrack(op);
    if (books_there[self->number] != self->added)
        Py_FatalError("a shelf: a book has gone before it");
    for (b = self->first; b != NULL; b = b->next)
        n += b->shelf == self->number;
    if (n != self->added)
        Py_FatalError("a shelf: its list is not whole");
    Py_CLEAR(self->books);
    Py_TYPE(op)->tp_free(op);
}

static int shelf_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((shelf *)(void *)op)->books);
    return 0;
}

static int shelf_clear(PyObject *op)
{
    (void)op;
    return 0;
}

static PyTypeObject Shelf = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "shelf", .tp_basicsize = sizeof(shelf), .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = shelf_dealloc, .tp_new = shelf_new
};
static PyTypeObject TrackedShelf = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "tracked-shelf", .tp_basicsize = sizeof(shelf),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_dealloc = shelf_dealloc, .tp_traverse = shelf_traverse,
    .tp_clear = shelf_clear, .tp_new = shelf_new
};

/* ---- a type whose slots leave exceptions behind ------------------------------------ */

static int spoiler_clear(PyObject *op)
{
    looker_clear(op);
    PyErr_SetString(PyExc_ValueError, "clear");
    return -1;
}

static void spoiler_finalize(PyObject *op)
{
    (void)op;
    PyErr_SetString(PyExc_KeyError, "finalize");
}

static void spoiler_dealloc(PyObject *op)
{
    looker_dealloc(op);
    PyErr_SetString(PyExc_TypeError, "dealloc");
}

static PyTypeObject Spoiler = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "spoiler", .tp_basicsize = offsetof(looker, items),
    .tp_itemsize = sizeof(PyObject *), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_dealloc = spoiler_dealloc,
    .tp_traverse = looker_traverse, .tp_clear = spoiler_clear, .tp_new = looker_new, .tp_finalize = spoiler_finalize
};

/* A cycle of a spoiler and a tuple, which has no tp_clear: so that of the spoiler is called. */
FUNCTION(spoiled_ring)
{
    PyObject *ring = PyTuple_New(1), *spoiler = NULL;
    (void)self;
    if (ring != NULL && n == 1)
        spoiler = PyObject_CallFunctionObjArgs((PyObject *)(void *)&Spoiler, ring, args[0], NULL);
    if (spoiler != NULL)
        PyTuple_SET_ITEM(ring, 0, spoiler);
    Py_XDECREF(ring);
    if (spoiler == NULL)
        return NULL;
    Py_RETURN_NONE;
}

/* Collects while an exception is set: it stays set, and is returned. */
FUNCTION(collect_with_error)
{
    PyObject *type, *value, *traceback;
    UNUSED;
    PyErr_SetString(PyExc_IndexError, "mine");
    PyGC_Collect();
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

/* How many objects lookers have found whole since the last time. */
FUNCTION(lookers_found)
{
    long found = looks;
    UNUSED;
    looks = 0;
    return PyLong_FromLong(found);
}

/* ---- the module ---------------------------------------------------------------------------------- */

/* ---- threads ---------------------------------------------------------------- */

static void *release_later(void *lock)
{
    PyThread_release_lock(lock);
    return NULL;
}

/* A lock that another thread releases, and a thread without a VM. */
FUNCTION(locks)
{
    PyThread_type_lock lock = PyThread_allocate_lock();
    PyThreadState *state = PyThreadState_Get();
    pthread_t thread;
    int ok;
    UNUSED;
    if (lock == NULL)
        return PyErr_NoMemory();
    ok = PyThread_acquire_lock(lock, NOWAIT_LOCK) == 1 && PyThread_acquire_lock(lock, NOWAIT_LOCK) == 0;
    Py_BEGIN_ALLOW_THREADS
    ok = ok && PyThreadState_Swap(NULL) == NULL && pthread_create(&thread, NULL, release_later, lock) == 0
      && PyThread_acquire_lock(lock, WAIT_LOCK) == 1 && pthread_join(thread, NULL) == 0;
    Py_BLOCK_THREADS
    ok = ok && PyThreadState_Get() == state;
    Py_UNBLOCK_THREADS
    Py_END_ALLOW_THREADS
    PyThread_release_lock(lock);
    ok = ok && PyThread_acquire_lock(lock, WAIT_LOCK) == 1 && PyThread_get_thread_ident() != 0;
    PyThread_free_lock(lock);
    return truth(ok && PyThreadState_Get() == state);
}

/* Whether a character in lower and in upper case is another one. */
FUNCTION(cases)
{
    Py_UCS4 c = PyUnicode_READ_CHAR(args[0], 0);
    UNUSED;
    return PyUnicode_FromFormat("%d %d", (int)Py_UNICODE_TOLOWER(c), (int)Py_UNICODE_TOUPPER(c));
}

#define METHOD(name, function) { (name), (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL }

static PyMethodDef methods[] = {
    METHOD("hold-it", hold), METHOD("held-it", held), METHOD("drop-it", drop), METHOD("same", same), METHOD("equal", equal),
    METHOD("what", what), METHOD("is-true", is_true), METHOD("texts", texts), METHOD("as-long", as_long),
    METHOD("as-size", as_size), METHOD("as-double", as_double), METHOD("extreme-longs", extreme_longs),
    METHOD("str-copy", str_copy), METHOD("str-fill", str_fill), METHOD("greet", greet), METHOD("tuple-items", tuple_items),
    METHOD("tuple-get", tuple_get), METHOD("tuple-make", tuple_make), METHOD("tuple-set", tuple_set), METHOD("tuple-nest", tuple_nest), METHOD("error-matches", error_matches),
    METHOD("half-built", half_built),
    METHOD("list-make", list_make), METHOD("list-items", list_items), METHOD("list-size", list_size),
    METHOD("list-get", list_get), METHOD("list-set", list_set), METHOD("list-append", list_append),
    METHOD("list-insert", list_insert), METHOD("list-delete", list_delete), METHOD("list-as-tuple", list_as_tuple),
    METHOD("dict-make", dict_make), METHOD("dict-get-it", dict_get), METHOD("dict-get-text", dict_get_text),
    METHOD("dict-set-text", dict_set_text), METHOD("dict-delete", dict_delete), METHOD("dict-contains", dict_contains),
    METHOD("dict-size", dict_size), METHOD("dict-walk", dict_walk), METHOD("dict-walk-count", dict_count),
    METHOD("call-it", call), METHOD("call-method", call_method), METHOD("make-adder", make_adder),
    METHOD("no-error", no_error), METHOD("both", both), METHOD("message-of", message_of), METHOD("meanwhile", meanwhile),
    METHOD("get-attr", get_attr), METHOD("set-attr", set_attr), METHOD("check-box", check_box), METHOD("boxes", count_boxes),
    METHOD("while-borrowed", while_borrowed), METHOD("lookers-found", lookers_found),
    METHOD("collect-with-error", collect_with_error), METHOD("spoiled-ring", spoiled_ring),
    METHOD("locks", locks), METHOD("cases", cases), { NULL, NULL, 0, NULL }
};

static void free_module(void *module)
{
    (void)module;
    Py_CLEAR(kept);
}

static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "probe", .m_size = -1, .m_methods = methods, .m_free = free_module };

PyMODINIT_FUNC PyInit_probe(void)
{
    static PyTypeObject *const types[] = { &Box, &BigBox, &Row, &Looker, &LastLooker, &Spoiler, &Book, &Shelf, &TrackedShelf };
    PyObject *module = PyModule_Create(&definition);
    size_t i;
    for (i = 0; module != NULL && i < sizeof types / sizeof *types; i++)
        if (PyModule_AddType(module, types[i]) < 0)
            Py_CLEAR(module);
    return module;
}
