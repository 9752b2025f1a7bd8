/* procedures.c - the API seen from the language: what a script needs to use and test extensions. */
#include "internal.h"

/* Each body runs with py_vm set, and fails with the exception that is set. */
#define PROCEDURE(name) \
    static cvm_value name##_body(CVM_UNUSED cvm_value *args, CVM_UNUSED size_t n); \
    static cvm_value name(cvm *vm, cvm_value *args, size_t n) \
    { \
        cvm *saved = py_vm; \
        cvm_value v; \
        py_vm = vm; \
        v = name##_body(args, n); \
        if (v == CVM_NONE && !vm->error.failed) \
            py_fail(); \
        py_vm = saved; \
        return v; \
    } \
    static cvm_value name##_body(CVM_UNUSED cvm_value *args, CVM_UNUSED size_t n)

#define MOST 4

/* The first arguments as objects, new. 0 after a failure. */
static int take(cvm_value *args, size_t n, PyObject **objects)
{
    size_t i;
    for (i = 0; i < MOST; i++)
        objects[i] = NULL;
    for (i = 0; i < n; i++)
        if ((objects[i] = py_from_value(args[i])) == NULL)
            return 0;
    return 1;
}

static cvm_value finish(PyObject **objects, PyObject *result)
{
    size_t i;
    for (i = 0; i < MOST; i++)
        Py_XDECREF(objects[i]);
    return result != NULL ? py_to_value_steal(result) : CVM_NONE;
}

static PyObject *none_or(int code) { return code < 0 ? NULL : Py_NewRef(Py_None); }
static PyObject *truth(int yes) { return yes < 0 ? NULL : PyBool_FromLong(yes); }

#define SIMPLE(name, count, expression) \
    PROCEDURE(name) \
    { \
        PyObject *o[MOST]; \
        return finish(o, take(args, (count), o) ? (expression) : NULL); \
    }

/* A name is a string or a symbol. */
static PyObject *name_of(cvm_value v)
{
    return cvm_is(v, CVM_SYMBOL) ? PyUnicode_InternFromString(cvm_symbol_text(v)) : py_from_value(v);
}

PROCEDURE(b_attr)
{
    PyObject *op = py_from_value(args[0]), *name = op != NULL ? name_of(args[1]) : NULL;
    PyObject *value = name != NULL ? PyObject_GetAttr(op, name) : NULL;
    Py_XDECREF(name);
    Py_XDECREF(op);
    return value != NULL ? py_to_value_steal(value) : CVM_NONE;
}

PROCEDURE(b_set_attr)
{
    PyObject *op = py_from_value(args[0]), *name = op != NULL ? name_of(args[1]) : NULL, *value = NULL;
    int code = name != NULL && (n < 3 || (value = py_from_value(args[2])) != NULL) ? PyObject_SetAttr(op, name, value) : -1;
    Py_XDECREF(value);
    Py_XDECREF(name);
    Py_XDECREF(op);
    return code < 0 ? CVM_NONE : CVM_NIL;
}

/* (call-kw f (list args...) (dict "name" value ...)) */
PROCEDURE(b_call_kw)
{
    PyObject *f = py_from_value(args[0]), *list = f != NULL ? PyList_New(0) : NULL, *kwargs = NULL, *tuple, *result = NULL;
    cvm_value *rest = cvm_root(py_vm, args[1]);
    for (; list != NULL && *rest != CVM_NIL; *rest = CVM_PAIR_OF(*rest)->cdr) {
        PyObject *x = py_from_value(CVM_PAIR_OF(*rest)->car);
        if (x == NULL || PyList_Append(list, x) < 0)
            Py_CLEAR(list);
        Py_XDECREF(x);
    }
    tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    if (tuple != NULL && (n < 3 || (kwargs = py_from_value(args[2])) != NULL))
        result = PyObject_Call(f, tuple, kwargs);
    Py_XDECREF(kwargs);
    Py_XDECREF(tuple);
    Py_XDECREF(list);
    Py_XDECREF(f);
    return result != NULL ? py_to_value_steal(result) : CVM_NONE;
}

/* (import "name") */
PROCEDURE(b_import)
{
    PyObject *name = name_of(args[0]), *module = name != NULL ? PyImport_Import(name) : NULL;
    Py_XDECREF(name);
    return module != NULL ? py_to_value_steal(module) : CVM_NONE;
}

/* (module "name"): an empty one that can be imported */
PROCEDURE(b_module)
{
    PyObject *name = name_of(args[0]);
    const char *text = name != NULL ? PyUnicode_AsUTF8(name) : NULL;
    PyObject *module = text != NULL ? Py_XNewRef(PyImport_AddModule(text)) : NULL;
    Py_XDECREF(name);
    return module != NULL ? py_to_value_steal(module) : CVM_NONE;
}

/* (builtin "ValueError") */
PROCEDURE(b_builtin)
{
    PyObject *builtins = PyImport_AddModule("builtins"), *name = builtins != NULL ? name_of(args[0]) : NULL;
    PyObject *value = name != NULL ? PyObject_GetAttr(builtins, name) : NULL;
    Py_XDECREF(name);
    return value != NULL ? py_to_value_steal(value) : CVM_NONE;
}

/* (class "name" (list bases...) (dict "name" value ...)) */
PROCEDURE(b_class)
{
    PyObject *name = name_of(args[0]), *bases = name != NULL ? PyList_New(0) : NULL, *tuple, *dict, *type = NULL;
    cvm_value *rest = cvm_root(py_vm, args[1]);
    for (; bases != NULL && *rest != CVM_NIL; *rest = CVM_PAIR_OF(*rest)->cdr) {
        PyObject *x = py_from_value(CVM_PAIR_OF(*rest)->car);
        if (x == NULL || PyList_Append(bases, x) < 0)
            Py_CLEAR(bases);
        Py_XDECREF(x);
    }
    tuple = bases != NULL ? PyList_AsTuple(bases) : NULL;
    dict = tuple != NULL ? py_from_value(args[2]) : NULL;
    if (dict != NULL)
        type = PyObject_CallFunctionObjArgs((PyObject *)(void *)&PyType_Type, name, tuple, dict, NULL);
    Py_XDECREF(dict);
    Py_XDECREF(tuple);
    Py_XDECREF(bases);
    Py_XDECREF(name);
    return type != NULL ? py_to_value_steal(type) : CVM_NONE;
}

/* (raise exception): a type or an object */
PROCEDURE(b_raise)
{
    PyObject *op = py_from_value(args[0]), *value = n > 1 ? py_from_value(args[1]) : NULL;
    if (op != NULL && PyExceptionInstance_Check(op))
        PyErr_SetObject((PyObject *)(void *)Py_TYPE(op), op);
    else if (op != NULL && PyExceptionClass_Check(op))
        PyErr_SetObject(op, value);
    else if (op != NULL)
        PyErr_SetString(PyExc_TypeError, "exceptions must derive from BaseException");
    Py_XDECREF(value);
    Py_XDECREF(op);
    return CVM_NONE;
}

/* (catch type procedure): the exception of the type that the procedure raises; false if it raises none */
static cvm_value b_catch(cvm *vm, cvm_value *args, size_t n)
{
    cvm *saved = py_vm;
    cvm_value v = cvm_call(vm, args[1], NULL, 0);
    PyObject *wanted, *type, *value, *traceback;
    (void)n;
    if (v != CVM_NONE)
        return CVM_FALSE;
    if (!cvm_can_catch(vm))
        return CVM_NONE;
    py_vm = vm;
    py_fetch_failure();
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    wanted = py_from_value(args[0]);
    if (wanted != NULL && PyErr_GivenExceptionMatches(value, wanted)) {
        Py_XDECREF(type);
        if (traceback != NULL)
            PyException_SetTraceback(value, traceback);
        Py_XDECREF(traceback);
        v = py_to_value_steal(value);
    } else {
        PyErr_Restore(type, value, traceback);
        v = py_fail();
    }
    Py_XDECREF(wanted);
    py_vm = saved;
    return v;
}

SIMPLE(b_item, 2, PyObject_GetItem(o[0], o[1]))
SIMPLE(b_set_item, 3, none_or(PyObject_SetItem(o[0], o[1], o[2])))
SIMPLE(b_del_item, 2, none_or(PyObject_DelItem(o[0], o[1])))
SIMPLE(b_contains, 2, truth(PySequence_Contains(o[0], o[1])))
SIMPLE(b_str, 1, PyObject_Str(o[0]))
SIMPLE(b_py_repr, 1, PyObject_Repr(o[0]))
SIMPLE(b_truth, 1, truth(PyObject_IsTrue(o[0])))
SIMPLE(b_iter, 1, PyObject_GetIter(o[0]))
SIMPLE(b_as_list, 1, PySequence_List(o[0]))
SIMPLE(b_as_tuple, 1, PySequence_Tuple(o[0]))
SIMPLE(b_is_instance, 2, truth(PyObject_IsInstance(o[0], o[1])))
SIMPLE(b_is_subclass, 2, truth(PyObject_IsSubclass(o[0], o[1])))
SIMPLE(b_type, 1, Py_NewRef(Py_TYPE(o[0])))
SIMPLE(b_weakref, 1, PyWeakref_NewRef(o[0], NULL))

static PyObject *set_hook(PyObject *hook)
{
    Py_XSETREF(PY->unraisable, hook != Py_None ? Py_NewRef(hook) : NULL);
    Py_RETURN_NONE;
}
SIMPLE(b_unraisable, 1, set_hook(o[0]))
SIMPLE(b_super, 2, PyObject_CallFunctionObjArgs((PyObject *)(void *)&PySuper_Type, o[0], o[1], NULL))

/* (getattr x 'name otherwise) */
PROCEDURE(b_getattr)
{
    PyObject *op = py_from_value(args[0]), *name = op != NULL ? name_of(args[1]) : NULL;
    PyObject *otherwise = name != NULL && n > 2 ? py_from_value(args[2]) : NULL, *value = NULL;
    if (name != NULL && (n < 3 || otherwise != NULL))
        value = py_getattr(op, name, otherwise);
    Py_XDECREF(otherwise);
    Py_XDECREF(name);
    Py_XDECREF(op);
    return value != NULL ? py_to_value_steal(value) : CVM_NONE;
}

/* (sorted items), (sorted items key) or (sorted items key reverse): a new array. key may be nil */
PROCEDURE(b_sorted)
{
    PyObject *o[MOST], *list = NULL, *kwargs, *empty, *sort, *none = NULL;
    if (take(args, n, o) && (list = PySequence_List(o[0])) != NULL) {
        sort = PyObject_GetAttrString(list, "sort");
        kwargs = sort != NULL ? Py_BuildValue("{sOsO}", "key", n > 1 ? o[1] : Py_None, "reverse", n > 2 ? o[2] : Py_False) : NULL;
        empty = kwargs != NULL ? PyTuple_New(0) : NULL;
        none = empty != NULL ? PyObject_Call(sort, empty, kwargs) : NULL;
        if (none == NULL)
            Py_CLEAR(list);
        Py_XDECREF(none);
        Py_XDECREF(empty);
        Py_XDECREF(kwargs);
        Py_XDECREF(sort);
    }
    return finish(o, list);
}

PROCEDURE(b_len)
{
    PyObject *op = py_from_value(args[0]);
    Py_ssize_t length = op != NULL ? PyObject_Size(op) : -1;
    Py_XDECREF(op);
    return length < 0 ? CVM_NONE : cvm_integer(py_vm, length);
}

PROCEDURE(b_hash)
{
    PyObject *op = py_from_value(args[0]);
    Py_hash_t h = op != NULL ? PyObject_Hash(op) : -1;
    Py_XDECREF(op);
    return h == -1 ? CVM_NONE : cvm_integer(py_vm, h);
}

/* (next it): false at the end */
PROCEDURE(b_next)
{
    PyObject *it = py_from_value(args[0]), *x = it != NULL && PyIter_Check(it) ? PyIter_Next(it) : NULL;
    Py_XDECREF(it);
    return x != NULL ? py_to_value_steal(x) : PyErr_Occurred() ? CVM_NONE : CVM_FALSE;
}

/* (slice start stop step); nil stands for none */
PROCEDURE(b_slice)
{
    PyObject *o[MOST];
    return finish(o, take(args, n, o) ? PySlice_New(o[0], n > 1 ? o[1] : NULL, n > 2 ? o[2] : NULL) : NULL);
}

/* (set x ...), (frozenset x ...) */
static cvm_value set_of(PyObject *op, const cvm_value *args, size_t n)
{
    size_t i;
    for (i = 0; op != NULL && i < n; i++) {
        PyObject *x = py_from_value(args[i]);
        if (x == NULL || PySet_Add(op, x) < 0)
            Py_CLEAR(op);
        Py_XDECREF(x);
    }
    return op != NULL ? py_to_value_steal(op) : CVM_NONE;
}

PROCEDURE(b_set) { return set_of(PySet_New(NULL), args, n); }
PROCEDURE(b_frozenset) { return set_of(PyFrozenSet_New(NULL), args, n); }

/* (bytes "text"): its bytes as they are */
PROCEDURE(b_bytes)
{
    PyObject *bytes = PyBytes_FromStringAndSize(cvm_bytes(args[0]), (Py_ssize_t)CVM_STRING_OF(args[0])->length);
    return bytes != NULL ? py_to_value_steal(bytes) : CVM_NONE;
}

/* (bytes->string b) */
PROCEDURE(b_bytes_to_string)
{
    PyObject *op = py_from_value(args[0]), *bytes = op != NULL ? PyBytes_FromObject(op) : NULL;
    cvm_value v = bytes != NULL ? cvm_string_new(py_vm, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes)) : CVM_NONE;
    Py_XDECREF(bytes);
    Py_XDECREF(op);
    return v;
}

/* (py "op" a b): one of < <= == != > >=, or + - * / // % ** @ << >> & | ^ with = or without, or divmod */
PROCEDURE(b_operator)
{
    static const struct { const char *name; PyObject *(*f)(PyObject *, PyObject *); } all[] = {
        { "+", PyNumber_Add }, { "-", PyNumber_Subtract }, { "*", PyNumber_Multiply }, { "/", PyNumber_TrueDivide },
        { "//", PyNumber_FloorDivide }, { "%", PyNumber_Remainder }, { "<<", PyNumber_Lshift }, { ">>", PyNumber_Rshift },
        { "&", PyNumber_And }, { "|", PyNumber_Or }, { "^", PyNumber_Xor }, { "+=", PyNumber_InPlaceAdd },
        { "-=", PyNumber_InPlaceSubtract }, { "*=", PyNumber_InPlaceMultiply }, { "&=", PyNumber_InPlaceAnd },
        { "|=", PyNumber_InPlaceOr }, { "^=", PyNumber_InPlaceXor }, { "<<=", PyNumber_InPlaceLshift }, { ">>=", PyNumber_InPlaceRshift },
        { "/=", PyNumber_InPlaceTrueDivide }, { "//=", PyNumber_InPlaceFloorDivide }, { "%=", PyNumber_InPlaceRemainder },
        { "@", PyNumber_MatrixMultiply }, { "@=", PyNumber_InPlaceMatrixMultiply }, { "divmod", PyNumber_Divmod }
    };
    static const char *const relations[] = { "<", "<=", "==", "!=", ">", ">=" };
    PyObject *o[MOST];
    char name[8];
    size_t i;

    snprintf(name, sizeof name, "%s", cvm_bytes(args[0]));
    if (!take(args + 1, n - 1, o))
        return finish(o, NULL);
    if (n == 2)
        return finish(o, strcmp(name, "-") == 0 ? PyNumber_Negative(o[0]) : strcmp(name, "~") == 0 ? PyNumber_Invert(o[0])
                         : strcmp(name, "+") == 0 ? PyNumber_Positive(o[0]) : strcmp(name, "abs") == 0 ? PyNumber_Absolute(o[0])
                         : PyErr_Format(PyExc_ValueError, "no such operator"));
    if (strcmp(name, "**") == 0)
        return finish(o, PyNumber_Power(o[0], o[1], n > 3 ? o[2] : Py_None));
    if (strcmp(name, "**=") == 0)
        return finish(o, PyNumber_InPlacePower(o[0], o[1], n > 3 ? o[2] : Py_None));
    for (i = 0; i < Py_ARRAY_LENGTH(relations); i++)
        if (strcmp(name, relations[i]) == 0)
            return finish(o, PyObject_RichCompare(o[0], o[1], (int)i));
    for (i = 0; i < Py_ARRAY_LENGTH(all); i++)
        if (strcmp(name, all[i].name) == 0)
            return finish(o, all[i].f(o[0], o[1]));
    return finish(o, PyErr_Format(PyExc_ValueError, "no such operator"));
}

static cvm_value b_close(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!cvm_is(args[0], CVM_FOREIGN))
        return cvm_expected(vm, "close", "an object that can be closed", args[0]);
    return py_close(vm, &args[0]) ? CVM_NIL : CVM_NONE;
}

/* (with x procedure): calls it with x, and closes x in the end, also if it fails */
static cvm_value b_with(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *passed = cvm_root(vm, args[0]), *v;
    (void)n;
    if (!cvm_is(args[0], CVM_FOREIGN))
        return cvm_expected(vm, "with", "an object that can be closed", args[0]);
    v = cvm_root(vm, cvm_call(vm, args[1], passed, 1));
    return py_close(vm, &args[0]) ? *v : CVM_NONE;
}

static cvm_value b_closed_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_FOREIGN) && CVM_FOREIGN_OF(args[0])->ob == NULL);
}

const cvm_builtin_def py_procedures[] = {
    { "attr", "..", b_attr },               { "set-attr!", "..?.", b_set_attr },
    { "call", ".y.*", py_call_method },            { "call-kw", ".l?.", b_call_kw },
    { "import", ".", b_import },            { "module", ".", b_module },
    { "builtin", ".", b_builtin },          { "class", ".l.", b_class },
    { "raise", ".?.", b_raise },            { "catch", ".f", b_catch },
    { "item", "..", b_item },               { "set-item!", "...", b_set_item },
    { "del-item!", "..", b_del_item },      { "contains?", "..", b_contains },
    { "str", ".", b_str },                  { "py-repr", ".", b_py_repr },
    { "truth", ".", b_truth },              { "iter", ".", b_iter },
    { "next", ".", b_next },                { "as-list", ".", b_as_list },
    { "as-tuple", ".", b_as_tuple },        { "instance?", "..", b_is_instance },
    { "subclass?", "..", b_is_subclass },   { "type", ".", b_type },
    { "unraisable-hook", ".", b_unraisable },
    { "weakref", ".", b_weakref },          { "super", "..", b_super },
    { "len", ".", b_len },                  { "hash", ".", b_hash },
    { "slice", ".?..", b_slice },           { "bytes", "s", b_bytes },
    { "bytes->string", ".", b_bytes_to_string }, { "py", "s.?..", b_operator },
    { "close", ".", b_close },              { "closed?", ".", b_closed_p },
    { "getattr", "..?.", b_getattr },       { "sorted", ".?..", b_sorted },
    { "with", ".f", b_with },               { "set", ".*", b_set },
    { "frozenset", ".*", b_frozenset },
    { NULL, NULL, NULL }
};
