/* object.c - what all objects have in common: attributes, comparing, text, truth. */
#include "internal.h"

/* ---- singletons ------------------------------------------------------------- */

static PyObject *none_repr(PyObject *op) { (void)op; return PyUnicode_FromString("None"); }
static int none_bool(PyObject *op) { (void)op; return 0; }
static PyNumberMethods none_as_number = { .nb_bool = none_bool };
static PyObject *not_implemented_repr(PyObject *op) { (void)op; return PyUnicode_FromString("NotImplemented"); }
static PyObject *ellipsis_repr(PyObject *op) { (void)op; return PyUnicode_FromString("Ellipsis"); }

static PyTypeObject none_type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "NoneType", .tp_basicsize = sizeof(PyObject), .tp_repr = none_repr,
    .tp_as_number = &none_as_number, .tp_flags = Py_TPFLAGS_DEFAULT
};
static PyTypeObject not_implemented_type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "NotImplementedType", .tp_basicsize = sizeof(PyObject),
    .tp_repr = not_implemented_repr, .tp_flags = Py_TPFLAGS_DEFAULT
};
static PyTypeObject ellipsis_type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "ellipsis", .tp_basicsize = sizeof(PyObject),
    .tp_repr = ellipsis_repr, .tp_flags = Py_TPFLAGS_DEFAULT
};

PyObject _Py_NoneStruct = { _PyObject_IMMORTAL, NULL, &none_type };
PyObject _Py_NotImplementedStruct = { _PyObject_IMMORTAL, NULL, &not_implemented_type };
PyObject _Py_EllipsisObject = { _PyObject_IMMORTAL, NULL, &ellipsis_type };

const char *py_type_name(PyObject *op)
{
    return Py_TYPE(op)->tp_name;
}

PyObject *PyObject_Type(PyObject *op) { return py_ready(op) ? Py_NewRef(Py_TYPE(op)) : NULL; }

/* ---- recursion -------------------------------------------------------------- */

int Py_EnterRecursiveCall(const char *where)
{
    if (cvm_enter(py_vm))
        return 0;
    cvm_error_clear(py_vm);
    PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded%s", where);
    return -1;
}

void Py_LeaveRecursiveCall(void)
{
    cvm_leave(py_vm);
}

/* ---- text --------------------------------------------------------------------- */

int Py_ReprEnter(PyObject *op)
{
    py_state *py = PY;
    PyObject **more;
    size_t i;
    for (i = 0; i < py->repr_count; i++)
        if (py->in_repr[i] == op)
            return 1;
    if (py->repr_count == py->repr_capacity) {
        more = PyMem_Realloc(py->in_repr, (2 * py->repr_capacity + 8) * sizeof *more);
        if (more == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        py->in_repr = more;
        py->repr_capacity = 2 * py->repr_capacity + 8;
    }
    py->in_repr[py->repr_count++] = op;
    return 0;
}

void Py_ReprLeave(PyObject *op)
{
    py_state *py = PY;
    size_t i = py->repr_count;
    while (i > 0 && py->in_repr[i - 1] != op)
        i--;
    if (i > 0)
        memmove(&py->in_repr[i - 1], &py->in_repr[i], (py->repr_count-- - i) * sizeof op);
}

static PyObject *text_of(PyObject *op, reprfunc text, const char *name)
{
    PyObject *result;
    if (Py_EnterRecursiveCall(" while getting the text of an object"))
        return NULL;
    result = text(op);
    Py_LeaveRecursiveCall();
    if (result != NULL && !PyUnicode_Check(result)) {
        PyErr_Format(PyExc_TypeError, "%s returned non-string (type %.200s)", name, Py_TYPE(result)->tp_name);
        Py_CLEAR(result);
    }
    return result;
}

PyObject *PyObject_Repr(PyObject *op)
{
    if (op == NULL)
        return PyUnicode_FromString("<NULL>");
    PY_USES(op);
    if (!py_ready(op))
        return NULL;
    if (Py_TYPE(op)->tp_repr == NULL)
        return PyUnicode_FromFormat("<%s object at %p>", Py_TYPE(op)->tp_name, (void *)op);
    return text_of(op, Py_TYPE(op)->tp_repr, "__repr__");
}

PyObject *PyObject_Str(PyObject *op)
{
    if (op == NULL)
        return PyUnicode_FromString("<NULL>");
    PY_USES(op);
    if (PyUnicode_CheckExact(op))
        return Py_NewRef(op);
    if (!py_ready(op))
        return NULL;
    return Py_TYPE(op)->tp_str == NULL ? PyObject_Repr(op) : text_of(op, Py_TYPE(op)->tp_str, "__str__");
}

PyObject *PyObject_ASCII(PyObject *op)
{
    PyObject *text = PyObject_Repr(op), *result;
    Py_ssize_t i;
    if (text == NULL || PyUnicode_IS_ASCII(text))
        return text;
    result = PyUnicode_New(0, 0);
    for (i = 0; result != NULL && i < PyUnicode_GET_LENGTH(text); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(text, i);
        PyObject *part = PyUnicode_FromFormat(c < 128 ? "%c" : c < 256 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (int)c);
        PyUnicode_Append(&result, part);
        Py_XDECREF(part);
    }
    Py_DECREF(text);
    return result;
}

int PyObject_Print(PyObject *op, FILE *out, int flags)
{
    PyObject *text = op == NULL ? PyUnicode_FromString("<nil>") : flags & Py_PRINT_RAW ? PyObject_Str(op) : PyObject_Repr(op);
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    int ok = utf8 != NULL && fputs(utf8, out) >= 0;
    if (utf8 != NULL && !ok)
        PyErr_SetFromErrno(PyExc_OSError);
    Py_XDECREF(text);
    return ok ? 0 : -1;
}

PyObject *PyObject_Format(PyObject *op, PyObject *spec)
{
    PyObject *method, *text, *empty = NULL;
    if (spec != NULL && !PyUnicode_Check(spec))
        return PyErr_Format(PyExc_SystemError, "Format specifier must be a string, not %.200s", Py_TYPE(spec)->tp_name);
    method = py_ready(op) ? py_lookup_special(op, "__format__") : NULL;
    if (method == NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Type %.100s doesn't define __format__", Py_TYPE(op)->tp_name);
    empty = spec == NULL ? PyUnicode_New(0, 0) : Py_NewRef(spec);
    text = empty != NULL ? PyObject_CallOneArg(method, empty) : NULL;
    Py_XDECREF(empty);
    Py_DECREF(method);
    if (text != NULL && !PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "__format__ must return a str, not %.200s", Py_TYPE(text)->tp_name);
        Py_CLEAR(text);
    }
    return text;
}

/* ---- comparing ------------------------------------------------------------------ */

static PyObject *compare(PyObject *a, PyObject *b, int op)
{
    static const int swapped[] = { Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE };
    static const char *const names[] = { "<", "<=", "==", "!=", ">", ">=" };
    richcmpfunc f;
    PyObject *result;
    int tried = 0;
    if (Py_TYPE(a) != Py_TYPE(b) && PyType_IsSubtype(Py_TYPE(b), Py_TYPE(a)) && (f = Py_TYPE(b)->tp_richcompare) != NULL) {
        tried = 1;
        result = f(b, a, swapped[op]);
        if (result != Py_NotImplemented)
            return result;
        Py_DECREF(result);
    }
    if ((f = Py_TYPE(a)->tp_richcompare) != NULL) {
        result = f(a, b, op);
        if (result != Py_NotImplemented)
            return result;
        Py_DECREF(result);
    }
    if (!tried && (f = Py_TYPE(b)->tp_richcompare) != NULL) {
        result = f(b, a, swapped[op]);
        if (result != Py_NotImplemented)
            return result;
        Py_DECREF(result);
    }
    if (op == Py_EQ || op == Py_NE)
        return PyBool_FromLong((a == b) == (op == Py_EQ));
    return PyErr_Format(PyExc_TypeError, "'%s' not supported between instances of '%.100s' and '%.100s'", names[op],
                        Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
}

PyObject *PyObject_RichCompare(PyObject *a, PyObject *b, int op)
{
    PyObject *result;
    if (a == NULL || b == NULL) {
        if (!PyErr_Occurred())
            PyErr_BadInternalCall();
        return NULL;
    }
    PY_USES(a);
    if (!py_ready(a) || !py_ready(b) || Py_EnterRecursiveCall(" in comparison"))
        return NULL;
    result = compare(a, b, op);
    Py_LeaveRecursiveCall();
    return result;
}

int PyObject_RichCompareBool(PyObject *a, PyObject *b, int op)
{
    PyObject *result;
    int yes;
    if (a == b && (op == Py_EQ || op == Py_NE))
        return op == Py_EQ;
    result = PyObject_RichCompare(a, b, op);
    if (result == NULL)
        return -1;
    yes = PyObject_IsTrue(result);
    Py_DECREF(result);
    return yes;
}

Py_hash_t _Py_HashPointer(const void *p)
{
    Py_hash_t h = (Py_hash_t)((uintptr_t)p >> 4);
    return h == -1 ? -2 : h;
}

Py_hash_t PyObject_HashNotImplemented(PyObject *op)
{
    PyErr_Format(PyExc_TypeError, "unhashable type: '%.200s'", Py_TYPE(op)->tp_name);
    return -1;
}

Py_hash_t PyObject_Hash(PyObject *op)
{
    Py_hash_t h;
    if (op == NULL) {
        if (!PyErr_Occurred())
            PyErr_BadInternalCall();
        return -1;
    }
    PY_USES(op);
    if (!py_ready(op) || Py_EnterRecursiveCall(" while getting the hash of an object"))
        return -1;
    h = Py_TYPE(op)->tp_hash != NULL ? Py_TYPE(op)->tp_hash(op) : PyObject_HashNotImplemented(op);
    Py_LeaveRecursiveCall();
    return h;
}

int PyObject_IsTrue(PyObject *op)
{
    const PyTypeObject *type = Py_TYPE(op);
    Py_ssize_t n;
    PY_USES(op);
    if (op == Py_True || op == Py_False || op == Py_None)
        return op == Py_True;
    if (!py_ready(op))
        return -1;
    if (type->tp_as_number != NULL && type->tp_as_number->nb_bool != NULL)
        return type->tp_as_number->nb_bool(op);
    if (type->tp_as_mapping != NULL && type->tp_as_mapping->mp_length != NULL)
        n = type->tp_as_mapping->mp_length(op);
    else if (type->tp_as_sequence != NULL && type->tp_as_sequence->sq_length != NULL)
        n = type->tp_as_sequence->sq_length(op);
    else
        return 1;
    return n > 0 ? 1 : (int)n;
}

int PyObject_Not(PyObject *op)
{
    int yes = PyObject_IsTrue(op);
    return yes < 0 ? yes : !yes;
}

int PyCallable_Check(PyObject *op)
{
    return op != NULL && py_ready(op) && Py_TYPE(op)->tp_call != NULL;
}

PyObject *PyObject_SelfIter(PyObject *op) { return Py_NewRef(op); }

/* ---- attributes -------------------------------------------------------------------- */

PyObject **_PyObject_GetDictPtr(PyObject *op)
{
    Py_ssize_t offset = Py_TYPE(op)->tp_dictoffset;
    return offset > 0 ? (PyObject **)(void *)((char *)op + offset) : NULL;
}

static PyObject **managed_dict(PyObject *op)
{
    return PyType_HasFeature(Py_TYPE(op), Py_TPFLAGS_MANAGED_DICT) ? _PyObject_GetDictPtr(op) : NULL;
}

int PyObject_VisitManagedDict(PyObject *op, visitproc visit, void *arg)
{
    PyObject **dict = managed_dict(op);
    if (dict != NULL)
        Py_VISIT(*dict);
    return 0;
}

void PyObject_ClearManagedDict(PyObject *op)
{
    PyObject **dict = managed_dict(op);
    if (dict != NULL)
        Py_CLEAR(*dict);
}

PyObject *PyObject_GetAttr(PyObject *op, PyObject *name)
{
    PyTypeObject *type;
    PY_USES(op);
    if (op == NULL || !py_ready(op))
        return NULL;
    type = Py_TYPE(op);
    if (!PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'", Py_TYPE(name)->tp_name);
    if (type->tp_getattro != NULL)
        return type->tp_getattro(op, name);
    if (type->tp_getattr != NULL) {
        const char *text = PyUnicode_AsUTF8(name);
        return text != NULL ? type->tp_getattr(op, (char *)(uintptr_t)text) : NULL;
    }
    return PyErr_Format(PyExc_AttributeError, "'%.50s' object has no attribute '%U'", type->tp_name, name);
}

PyObject *PyObject_GetAttrString(PyObject *op, const char *name)
{
    PyObject *n = py_str(name);
    return n != NULL ? PyObject_GetAttr(op, n) : NULL;
}

int PyObject_HasAttr(PyObject *op, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(op, name);
    if (value == NULL)
        PyErr_Clear();
    Py_XDECREF(value);
    return value != NULL;
}

int PyObject_HasAttrString(PyObject *op, const char *name)
{
    PyObject *n = py_str(name);
    return n != NULL && PyObject_HasAttr(op, n);
}

int PyObject_SetAttr(PyObject *op, PyObject *name, PyObject *value)
{
    PyTypeObject *type;
    PY_USES(op);
    if (!py_ready(op))
        return -1;
    type = Py_TYPE(op);
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'", Py_TYPE(name)->tp_name);
        return -1;
    }
    if (type->tp_setattro != NULL)
        return type->tp_setattro(op, name, value);
    if (type->tp_setattr != NULL) {
        const char *text = PyUnicode_AsUTF8(name);
        return text != NULL ? type->tp_setattr(op, (char *)(uintptr_t)text, value) : -1;
    }
    PyErr_Format(PyExc_TypeError, "'%.100s' object has no attributes that can be set", type->tp_name);
    return -1;
}

int PyObject_SetAttrString(PyObject *op, const char *name, PyObject *value)
{
    PyObject *n = py_str(name);
    return n != NULL ? PyObject_SetAttr(op, n, value) : -1;
}

static PyObject *bind(PyObject *descr, PyObject *op)
{
    PyObject *value = Py_TYPE(descr)->tp_descr_get(descr, op, (PyObject *)(void *)Py_TYPE(op));
    Py_DECREF(descr);
    return value;
}

static PyObject *generic_get(PyObject *op, PyObject *name, PyObject *dict)
{
    PyObject *descr, *value, **own;
    if (!py_ready(op))
        return NULL;
    descr = Py_XNewRef(_PyType_Lookup(Py_TYPE(op), name));
    if (descr == NULL && PyErr_Occurred())
        return NULL;
    if (descr != NULL && Py_TYPE(descr)->tp_descr_get != NULL && PyDescr_IsData(descr))
        return bind(descr, op);
    if (dict == NULL && (own = _PyObject_GetDictPtr(op)) != NULL)
        dict = *own;
    if (dict != NULL) {
        Py_INCREF(dict);
        value = Py_XNewRef(PyDict_GetItemWithError(dict, name));
        Py_DECREF(dict);
        if (value != NULL || PyErr_Occurred()) {
            Py_XDECREF(descr);
            return value;
        }
    }
    if (descr != NULL)
        return Py_TYPE(descr)->tp_descr_get != NULL ? bind(descr, op) : descr;
    return PyErr_Format(PyExc_AttributeError, "'%.50s' object has no attribute '%U'", Py_TYPE(op)->tp_name, name);
}

PyObject *PyObject_GenericGetAttr(PyObject *op, PyObject *name) { return generic_get(op, name, NULL); }

/* dict NULL: that of op. With suppress, an AttributeError is none. */
PyObject *_PyObject_GenericGetAttrWithDict(PyObject *op, PyObject *name, PyObject *dict, int suppress)
{
    PyObject *value = generic_get(op, name, dict);
    if (value == NULL && suppress && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return value;
}

int PyObject_GenericSetAttr(PyObject *op, PyObject *name, PyObject *value)
{
    PyObject *descr, **dict;
    int code;
    if (!py_ready(op))
        return -1;
    descr = Py_XNewRef(_PyType_Lookup(Py_TYPE(op), name));
    if (descr != NULL && Py_TYPE(descr)->tp_descr_set != NULL) {
        code = Py_TYPE(descr)->tp_descr_set(descr, op, value);
        Py_DECREF(descr);
        return code;
    }
    if (descr == NULL && PyErr_Occurred())
        return -1;
    dict = _PyObject_GetDictPtr(op);
    if (dict == NULL) {
        PyErr_Format(PyExc_AttributeError, descr != NULL ? "'%.50s' object attribute '%U' is read-only"
                                                         : "'%.50s' object has no attribute '%U'", Py_TYPE(op)->tp_name, name);
        Py_XDECREF(descr);
        return -1;
    }
    Py_XDECREF(descr);
    if (*dict == NULL && (*dict = PyDict_New()) == NULL)
        return -1;
    code = value != NULL ? PyDict_SetItem(*dict, name, value) : PyDict_DelItem(*dict, name);
    if (code < 0 && value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_AttributeError, "'%.50s' object has no attribute '%U'", Py_TYPE(op)->tp_name, name);
    }
    return code;
}

PyObject *PyObject_GenericGetDict(PyObject *op, void *context)
{
    PyObject **dict = _PyObject_GetDictPtr(op);
    (void)context;
    if (dict == NULL)
        return PyErr_Format(PyExc_AttributeError, "This object has no __dict__");
    if (*dict == NULL)
        *dict = PyDict_New();
    return Py_XNewRef(*dict);
}

int PyObject_GenericSetDict(PyObject *op, PyObject *value, void *context)
{
    PyObject **dict = _PyObject_GetDictPtr(op);
    (void)context;
    if (dict == NULL || value == NULL || !PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "__dict__ must be set to a dictionary");
        return -1;
    }
    Py_XSETREF(*dict, Py_NewRef(value));
    return 0;
}

PyObject *PyObject_Dir(PyObject *op)
{
    PyObject *names = PyDict_New(), **dict = _PyObject_GetDictPtr(op), *mro = py_type_mro(Py_TYPE(op)), *list = NULL;
    Py_ssize_t i;
    int code = names == NULL || mro == NULL ? -1 : 0;
    for (i = 0; code == 0 && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *d = py_type_dict((PyTypeObject *)(void *)PyTuple_GET_ITEM(mro, i));
        code = d != NULL ? PyDict_Update(names, d) : -1;
    }
    if (code == 0 && dict != NULL && *dict != NULL)
        code = PyDict_Update(names, *dict);
    if (code == 0 && (list = PyDict_Keys(names)) != NULL && PyList_Sort(list) < 0)
        Py_CLEAR(list);
    Py_XDECREF(mro);
    Py_XDECREF(names);
    return list;
}

/* ---- instances ---------------------------------------------------------------------- */

/* __instancecheck__ or __subclasscheck__ of the type's metatype; else what `otherwise` says. */
static int check(PyObject *x, PyObject *type, const char *hook, int (*otherwise)(PyObject *, PyObject *))
{
    PyObject *method, *result;
    int yes;
    if (!py_ready(x) || !py_ready(type))
        return -1;
    if (PyTuple_Check(type)) {
        Py_ssize_t i;
        if (Py_EnterRecursiveCall(" in a tuple of types"))
            return -1;
        for (i = 0, yes = 0; yes == 0 && i < PyTuple_GET_SIZE(type); i++)
            yes = check(x, PyTuple_GET_ITEM(type, i), hook, otherwise);
        Py_LeaveRecursiveCall();
        return yes;
    }
    if (PyType_CheckExact(type))
        return otherwise(x, type);
    method = py_lookup_special(type, hook);
    if (method == NULL)
        return PyErr_Occurred() ? -1 : otherwise(x, type);
    result = PyObject_CallOneArg(method, x);
    Py_DECREF(method);
    yes = result != NULL ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    return yes;
}

static int is_type(PyObject *type)
{
    if (PyType_Check(type))
        return 1;
    PyErr_SetString(PyExc_TypeError, "arg 2 must be a type, a tuple of types, or a union");
    return 0;
}

/* An object may say that it has another class than its type. */
static int is_instance(PyObject *op, PyObject *type)
{
    PyObject *class;
    int yes;
    if (!is_type(type))
        return -1;
    if (PyObject_TypeCheck(op, (PyTypeObject *)(void *)type))
        return 1;
    class = PyObject_GetAttrString(op, "__class__");
    if (class == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    yes = class == NULL ? (PyErr_Occurred() ? -1 : 0)
        : PyType_Check(class) && PyType_IsSubtype((PyTypeObject *)(void *)class, (PyTypeObject *)(void *)type);
    Py_XDECREF(class);
    return yes;
}

static int is_subclass(PyObject *derived, PyObject *type)
{
    return is_type(type) && is_type(derived) ? PyType_IsSubtype((PyTypeObject *)(void *)derived, (PyTypeObject *)(void *)type) : -1;
}

int PyObject_IsInstance(PyObject *op, PyObject *type)
{
    return (PyObject *)(void *)Py_TYPE(op) == type ? 1 : check(op, type, "__instancecheck__", is_instance);
}

int PyObject_IsSubclass(PyObject *derived, PyObject *type)
{
    return check(derived, type, "__subclasscheck__", is_subclass);
}

int _PyObject_LookupAttr(PyObject *op, PyObject *name, PyObject **result)
{
    *result = PyObject_GetAttr(op, name);
    if (*result != NULL)
        return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return -1;
    PyErr_Clear();
    return 0;
}

int _PyObject_LookupAttrString(PyObject *op, const char *name, PyObject **result)
{
    PyObject *text = PyUnicode_FromString(name);
    int code = text != NULL ? _PyObject_LookupAttr(op, text, result) : (*result = NULL, -1);
    Py_XDECREF(text);
    return code;
}

PyObject *_PyObject_GetState(PyObject *op)
{
    PyObject *found, *state;
    int code = _PyObject_LookupAttrString(op, "__getstate__", &found);
    if (code == 0) {
        code = _PyObject_LookupAttrString(op, "__dict__", &found);
        return code == 0 ? Py_NewRef(Py_None) : found;
    }
    state = code > 0 ? PyObject_CallNoArgs(found) : NULL;
    Py_XDECREF(found);
    return state;
}

/* An int, or the result of its method `fileno`. */
int PyObject_AsFileDescriptor(PyObject *op)
{
    PyObject *name = NULL, *method = NULL, *number = NULL;
    int fd = -1;
    if (PyLong_Check(op)) {
        number = Py_NewRef(op);
    } else if ((name = PyUnicode_FromString("fileno")) != NULL && _PyObject_LookupAttr(op, name, &method) == 0) {
        PyErr_SetString(PyExc_TypeError, "argument must be an int, or have a fileno() method.");
    } else if (method != NULL && (number = PyObject_CallNoArgs(method)) != NULL && !PyLong_Check(number)) {
        PyErr_SetString(PyExc_TypeError, "fileno() returned a non-integer");
        Py_CLEAR(number);
    }
    if (number != NULL)
        fd = _PyLong_AsInt(number);
    if (number != NULL && fd < 0 && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "file descriptor cannot be a negative integer (%i)", fd);
        fd = -1;
    }
    Py_XDECREF(number);
    Py_XDECREF(method);
    Py_XDECREF(name);
    return fd;
}

int _PyLong_FileDescriptor_Converter(PyObject *op, void *result)
{
    int fd = PyObject_AsFileDescriptor(op);
    if (fd == -1)
        return 0;
    *(int *)result = fd;
    return 1;
}
