/* call.c - calls from C: functions of C, objects, methods; and procedures of the language. */
#include "internal.h"

/* ---- functions of C ------------------------------------------------------------ */

#define F(op) ((PyCFunctionObject *)(void *)(op))

PyObject *PyCMethod_New(PyMethodDef *def, PyObject *self, PyObject *module, PyTypeObject *type)
{
    PyObject *op = _PyObject_GC_New(&PyCFunction_Type);
    if (op == NULL)
        return NULL;
    F(op)->m_ml = def;
    F(op)->m_self = Py_XNewRef(self);
    F(op)->m_module = Py_XNewRef(module);
    F(op)->mm_class = (PyTypeObject *)(void *)Py_XNewRef(type);
    PyObject_GC_Track(op);
    return op;
}

PyObject *PyCFunction_NewEx(PyMethodDef *def, PyObject *self, PyObject *module)
{
    return PyCMethod_New(def, self, module, NULL);
}

static int check(PyObject *op)
{
    if (op != NULL && PyCFunction_Check(op))
        return 1;
    PyErr_BadInternalCall();
    return 0;
}

PyCFunction PyCFunction_GetFunction(PyObject *op) { return check(op) ? F(op)->m_ml->ml_meth : NULL; }
PyObject *PyCFunction_GetSelf(PyObject *op) { return !check(op) || F(op)->m_ml->ml_flags & METH_STATIC ? NULL : F(op)->m_self; }
int PyCFunction_GetFlags(PyObject *op) { return check(op) ? F(op)->m_ml->ml_flags : -1; }

static void function_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    Py_XDECREF(F(op)->m_self);
    Py_XDECREF(F(op)->m_module);
    Py_XDECREF(F(op)->mm_class);
    PyObject_GC_Del(op);
}

static int function_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(F(op)->m_self);
    Py_VISIT(F(op)->m_module);
    Py_VISIT(F(op)->mm_class);
    return 0;
}

static int function_clear(PyObject *op)
{
    Py_CLEAR(F(op)->m_self);
    Py_CLEAR(F(op)->m_module);
    return 0;
}

static PyObject *wrong_count(const char *name, const char *wanted, Py_ssize_t n)
{
    return PyErr_Format(PyExc_TypeError, "%.200s() takes %s (%zd given)", name, wanted, n);
}

/* The values of the keywords stand behind the n arguments. type: of METH_METHOD. */
static PyObject *call_def(const PyMethodDef *def, PyObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    PyObject *tuple, *kwargs = NULL, *result;
    Py_ssize_t k = names != NULL ? PyTuple_GET_SIZE(names) : 0, i;
    if (k > 0 && !(def->ml_flags & METH_KEYWORDS))
        return PyErr_Format(PyExc_TypeError, "%.200s() takes no keyword arguments", def->ml_name);
    switch (def->ml_flags & ~(METH_CLASS | METH_STATIC | METH_COEXIST)) {
    case METH_NOARGS:
        return n == 0 ? def->ml_meth(self, NULL) : wrong_count(def->ml_name, "no arguments", n);
    case METH_O:
        return n == 1 ? def->ml_meth(self, args[0]) : wrong_count(def->ml_name, "exactly one argument", n);
    case METH_FASTCALL:
        return ((_PyCFunctionFast)(void (*)(void))def->ml_meth)(self, args, n);
    case METH_FASTCALL | METH_KEYWORDS:
        return ((_PyCFunctionFastWithKeywords)(void (*)(void))def->ml_meth)(self, args, n, names);
    case METH_METHOD | METH_FASTCALL | METH_KEYWORDS:
        return ((PyCMethod)(void (*)(void))def->ml_meth)(self, type, args, (size_t)n, names);
    case METH_VARARGS: case METH_VARARGS | METH_KEYWORDS:
        break;
    default:
        return PyErr_Format(PyExc_SystemError, "%.200s() method: bad call flags", def->ml_name);
    }
    tuple = py_vec_to_tuple(args, n);
    if (k > 0)
        kwargs = PyDict_New();
    for (i = 0; kwargs != NULL && i < k; i++)
        if (PyDict_SetItem(kwargs, PyTuple_GET_ITEM(names, i), args[n + i]) < 0)
            Py_CLEAR(kwargs);
    if (tuple == NULL || (k > 0 && kwargs == NULL))
        result = NULL;
    else if (def->ml_flags & METH_KEYWORDS)
        result = ((PyCFunctionWithKeywords)(void (*)(void))def->ml_meth)(self, tuple, kwargs);
    else
        result = def->ml_meth(self, tuple);
    Py_XDECREF(tuple);
    Py_XDECREF(kwargs);
    return result;
}

static PyObject *function_vectorcall(PyObject *op, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    return call_def(F(op)->m_ml, F(op)->m_self, F(op)->mm_class, args, n, names);
}

static PyObject *function_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    const PyMethodDef *def = F(op)->m_ml;
    if ((def->ml_flags & ~(METH_CLASS | METH_STATIC | METH_COEXIST)) == (METH_VARARGS | METH_KEYWORDS))
        return ((PyCFunctionWithKeywords)(void (*)(void))def->ml_meth)(F(op)->m_self, args, kwargs);
    if (kwargs == NULL || PyDict_Size(kwargs) == 0)
        return function_vectorcall(op, _PyTuple_ITEMS(args), PyTuple_GET_SIZE(args), NULL);
    return PyObject_VectorcallDict(op, _PyTuple_ITEMS(args), (size_t)PyTuple_GET_SIZE(args), kwargs);
}

/* A __doc__, without the signature that may stand in front of it; None, if there is nothing else. */
PyObject *py_doc(const char *name, const char *doc)
{
    const char *dot = strrchr(name, '.'), *end;
    size_t n;
    name = dot != NULL ? dot + 1 : name;
    n = strlen(name);
    end = doc != NULL && strncmp(doc, name, n) == 0 && doc[n] == '(' ? strstr(doc, ")\n--\n\n") : NULL;
    if (end != NULL && strstr(doc, "\n\n") == end + 4)
        doc = end + 6;
    return doc != NULL && *doc != '\0' ? PyUnicode_DecodeUTF8(doc, (Py_ssize_t)strlen(doc), "replace") : Py_NewRef(Py_None);
}

static PyObject *function_repr(PyObject *op) { return PyUnicode_FromFormat("<built-in function %s>", F(op)->m_ml->ml_name); }
static PyObject *function_name(PyObject *op, void *none) { (void)none; return PyUnicode_FromString(F(op)->m_ml->ml_name); }
static PyObject *function_doc(PyObject *op, void *none) { (void)none; return py_doc(F(op)->m_ml->ml_name, F(op)->m_ml->ml_doc); }
static PyObject *function_self(PyObject *op, void *none) { (void)none; return Py_NewRef(F(op)->m_self != NULL ? F(op)->m_self : Py_None); }
static PyObject *function_module(PyObject *op, void *none) { (void)none; return Py_NewRef(F(op)->m_module != NULL ? F(op)->m_module : Py_None); }

static PyGetSetDef function_getset[] = {
    { "__name__", function_name, NULL, NULL, NULL }, { "__doc__", function_doc, NULL, NULL, NULL },
    { "__self__", function_self, NULL, NULL, NULL }, { "__module__", function_module, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL }
};

PyTypeObject PyCFunction_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "builtin_function_or_method", .tp_basicsize = sizeof(PyCFunctionObject),
    .tp_dealloc = function_dealloc, .tp_repr = function_repr, .tp_call = function_call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = function_traverse, .tp_clear = function_clear,
    .tp_getset = function_getset, .tp_weaklistoffset = offsetof(PyCFunctionObject, m_weakreflist)
};

/* ---- procedures of the language -------------------------------------------------- */

PyObject *py_call_host(PyObject *op, PyObject *const *args, Py_ssize_t n)
{
    size_t scope = cvm_open(py_vm);
    cvm_value *f, *first, v = CVM_NONE;
    cvm *vm = py_vm;
    PyObject *result;
    Py_ssize_t i;
    int ok = 1;
    if (!cvm_stack_room(vm, (size_t)n + CVM_STACK_SPARE)) {
        py_fetch_failure();
        return NULL;
    }
    f = cvm_root(vm, CVM_NIL);
    first = f + 1;
    for (i = 0; ok && i < n; i++)
        ok = *cvm_root(vm, py_to_value(args[i])) != CVM_NONE;
    if (ok && (*f = py_host_of(op)) != CVM_NONE) {
        v = cvm_call(vm, *f, first, (size_t)n);
        py_vm = vm;
    }
    result = ok && *f != CVM_NONE ? py_from_value(v) : NULL;
    cvm_close(vm, scope);
    return result;
}

static PyObject *procedure_call(PyObject *op, PyObject *args, PyObject *kwargs)
{
    if (kwargs != NULL && PyDict_Size(kwargs) > 0)
        return PyErr_Format(PyExc_TypeError, "a procedure of the language takes no keyword arguments");
    return py_call_host(op, _PyTuple_ITEMS(args), PyTuple_GET_SIZE(args));
}

static PyObject *procedure_get(PyObject *op, PyObject *x, PyObject *type)
{
    (void)type;
    return x != NULL ? PyMethod_New(op, x) : Py_NewRef(op);
}

static PyObject *host_repr(PyObject *op)
{
    cvm_memory text;
    cvm_value v = py_host_of(op);
    PyObject *result = NULL;
    if (v == CVM_NONE)
        return NULL;
    if (cvm_print_all(py_vm, &v, 1, 1, "", &text))
        result = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.length, "replace");
    else
        py_fetch_failure();
    free(text.bytes);
    return result;
}

static PyObject *procedure_name(PyObject *op, void *none)
{
    cvm_value v = py_host_of(op);
    (void)none;
    if (v == CVM_NONE)
        return NULL;
    if (cvm_is(v, CVM_BUILTIN))
        return PyUnicode_FromString(CVM_BUILTIN_OF(v)->def->name);
    return cvm_is(CVM_CLOSURE_OF(v)->name, CVM_SYMBOL) ? PyUnicode_FromString(cvm_symbol_text(CVM_CLOSURE_OF(v)->name))
                                                       : PyUnicode_FromString("<lambda>");
}

static PyGetSetDef procedure_getset[] = { { "__name__", procedure_name, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

/* A procedure that has weak references: see ref_make. Before that, its view is light, and none of this is called. */
typedef struct {
    PyObject_HEAD
    PyObject *weakrefs;
} procedure;

static void procedure_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    PyObject_GC_Del(op);
}

static int procedure_traverse(PyObject *op, visitproc visit, void *arg)
{
    (void)op, (void)visit, (void)arg;   /* what the procedure refers to, the host knows */
    return 0;
}

PyTypeObject PyFunction_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "function", .tp_basicsize = sizeof(procedure),
    .tp_dealloc = procedure_dealloc, .tp_repr = host_repr, .tp_call = procedure_call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = procedure_traverse,
    .tp_weaklistoffset = offsetof(procedure, weakrefs), .tp_getset = procedure_getset, .tp_descr_get = procedure_get
};

/* Pairs, symbols, vectors: C can pass them on, and no more. */
PyTypeObject py_host_type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "host_object", .tp_basicsize = sizeof(PyObject), .tp_repr = host_repr,
    .tp_flags = Py_TPFLAGS_DEFAULT
};

/* ---- calls -------------------------------------------------------------------------- */

static PyObject *checked(PyObject *callable, PyObject *result)
{
    if (result == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "a call of a '%.100s' failed without an exception", Py_TYPE(callable)->tp_name);
    else if (result != NULL && PyErr_Occurred())
        Py_CLEAR(result);
    return result;
}

PyObject *PyObject_Call(PyObject *callable, PyObject *args, PyObject *kwargs)
{
    PyObject *result;
    PY_USES(callable);
    if (!PyCallable_Check(callable))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "'%.200s' object is not callable", Py_TYPE(callable)->tp_name);
    if (Py_EnterRecursiveCall(" while calling a Python object"))
        return NULL;
    Py_INCREF(callable);
    result = checked(callable, Py_TYPE(callable)->tp_call(callable, args, kwargs));
    Py_DECREF(callable);
    Py_LeaveRecursiveCall();
    return result;
}

vectorcallfunc PyVectorcall_Function(PyObject *callable)
{
    const PyTypeObject *type = Py_TYPE(callable);
    return PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) && type->tp_vectorcall_offset > 0
         ? *(vectorcallfunc *)(void *)((char *)callable + type->tp_vectorcall_offset) : NULL;
}

/* The keywords of a call as a dict; *kwargs NULL: there are none. */
static int keywords(PyObject *const *values, PyObject *names, PyObject **kwargs)
{
    Py_ssize_t i, n = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    *kwargs = NULL;
    if (n == 0)
        return 0;
    *kwargs = PyDict_New();
    for (i = 0; *kwargs != NULL && i < n; i++)
        if (PyDict_SetItem(*kwargs, PyTuple_GET_ITEM(names, i), values[i]) < 0)
            Py_CLEAR(*kwargs);
    return *kwargs != NULL ? 0 : -1;
}

PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *names)
{
    Py_ssize_t n = PyVectorcall_NARGS(nargs);
    PyObject *tuple, *kwargs, *result = NULL;
    vectorcallfunc f;
    PY_USES(callable);
    if (!py_ready(callable))
        return NULL;
    f = PyVectorcall_Function(callable);
    if (f != NULL || PyCFunction_CheckExact(callable) || (PyFunction_Check(callable) && (names == NULL || PyTuple_GET_SIZE(names) == 0))) {
        if (Py_EnterRecursiveCall(" while calling a Python object"))
            return NULL;
        Py_INCREF(callable);
        result = checked(callable, f != NULL ? f(callable, args, nargs, names)
                         : PyFunction_Check(callable) ? py_call_host(callable, args, n) : function_vectorcall(callable, args, n, names));
        Py_DECREF(callable);
        Py_LeaveRecursiveCall();
        return result;
    }
    tuple = py_vec_to_tuple(args, n);
    if (tuple != NULL && keywords(args + n, names, &kwargs) == 0) {
        result = PyObject_Call(callable, tuple, kwargs);
        Py_XDECREF(kwargs);
    }
    Py_XDECREF(tuple);
    return result;
}

PyObject *PyObject_VectorcallDict(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *kwargs)
{
    Py_ssize_t n = PyVectorcall_NARGS(nargs), k = kwargs != NULL ? PyDict_Size(kwargs) : 0, i = 0, at = 0;
    PyObject **all, *names, *key, *value, *result;
    if (k <= 0)
        return PyObject_Vectorcall(callable, args, nargs, NULL);
    all = PyMem_Calloc((size_t)(n + k), sizeof *all);
    names = all != NULL ? PyTuple_New(k) : PyErr_NoMemory();
    if (names == NULL) {
        PyMem_Free(all);
        return NULL;
    }
    for (i = 0; i < n; i++)
        all[i] = args[i];
    for (i = 0; i < k && PyDict_Next(kwargs, &at, &key, &value); i++) {
        PyTuple_SET_ITEM(names, i, Py_NewRef(key));
        all[n + i] = Py_NewRef(value);
    }
    result = PyObject_Vectorcall(callable, all, (size_t)n, names);
    for (i = 0; i < k; i++)
        Py_XDECREF(all[n + i]);
    Py_DECREF(names);
    PyMem_Free(all);
    return result;
}

PyObject *PyVectorcall_Call(PyObject *callable, PyObject *args, PyObject *kwargs)
{
    if (PyVectorcall_Function(callable) == NULL && !PyCFunction_Check(callable))
        return PyErr_Format(PyExc_TypeError, "'%.200s' object does not support vectorcall", Py_TYPE(callable)->tp_name);
    return PyObject_VectorcallDict(callable, _PyTuple_ITEMS(args), (size_t)PyTuple_GET_SIZE(args), kwargs);
}

/* A method of C that the type has, and that no attribute of the object hides: it can be called without
   an object that binds it. NULL: it is something else, or there is none. */
static const PyMethodDef *method_of(PyObject *op, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject *descr, **dict = _PyObject_GetDictPtr(op);
    if (type->tp_getattro != PyObject_GenericGetAttr || (dict != NULL && *dict != NULL))
        return NULL;
    descr = _PyType_Lookup(type, name);
    return descr != NULL && Py_IS_TYPE(descr, &PyMethodDescr_Type) ? py_def_of(descr) : NULL;
}

/* args[0] is the object. */
static PyObject *call_method(PyObject *name, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    const PyMethodDef *def = method_of(args[0], name);
    PyObject *f, *result;
    if (def != NULL && !(def->ml_flags & METH_METHOD)) {
        if (Py_EnterRecursiveCall(" while calling a Python object"))
            return NULL;
        Py_INCREF(args[0]);
        result = checked(args[0], call_def(def, args[0], NULL, args + 1, n - 1, names));
        Py_DECREF(args[0]);
        Py_LeaveRecursiveCall();
        return result;
    }
    f = PyErr_Occurred() ? NULL : PyObject_GetAttr(args[0], name);
    if (f == NULL)
        return NULL;
    result = PyObject_Vectorcall(f, args + 1, (size_t)n - 1, names);
    Py_DECREF(f);
    return result;
}

PyObject *PyObject_VectorcallMethod(PyObject *name, PyObject *const *args, size_t nargs, PyObject *names)
{
    return call_method(name, args, PyVectorcall_NARGS(nargs), names);
}

PyObject *PyObject_CallObject(PyObject *callable, PyObject *args)
{
    if (args != NULL && !PyTuple_Check(args))
        return PyErr_Format(PyExc_TypeError, "argument list must be a tuple");
    return args != NULL ? PyObject_Call(callable, args, NULL) : PyObject_CallNoArgs(callable);
}

PyObject *PyEval_CallObjectWithKeywords(PyObject *callable, PyObject *args, PyObject *kwargs)
{
    PyObject *none = args == NULL ? PyTuple_New(0) : Py_NewRef(args), *result;
    result = none != NULL ? PyObject_Call(callable, none, kwargs) : NULL;
    Py_XDECREF(none);
    return result;
}

PyObject *PyObject_CallNoArgs(PyObject *callable) { return PyObject_Vectorcall(callable, NULL, 0, NULL); }
PyObject *PyObject_CallOneArg(PyObject *callable, PyObject *arg) { return PyObject_Vectorcall(callable, &arg, 1, NULL); }

enum { FEW = 16 };

/* The objects behind the first one, up to a NULL. 0: there are too many. */
static size_t gather(PyObject **few, va_list args)
{
    size_t n = 1;
    while (n < FEW && (few[n] = va_arg(args, PyObject *)) != NULL)
        n++;
    if (n < FEW)
        return n;
    PyErr_Format(PyExc_SystemError, "too many arguments of a call from C");
    return 0;
}

PyObject *PyObject_CallFunctionObjArgs(PyObject *callable, ...)
{
    PyObject *few[FEW] = { callable };
    va_list args;
    size_t n;
    va_start(args, callable);
    n = gather(few, args);
    va_end(args);
    return n > 0 ? PyObject_Vectorcall(callable, few + 1, n - 1, NULL) : NULL;
}

PyObject *PyObject_CallMethodObjArgs(PyObject *op, PyObject *name, ...)
{
    PyObject *few[FEW] = { op };
    va_list args;
    size_t n;
    va_start(args, name);
    n = gather(few, args);
    va_end(args);
    return n > 0 ? call_method(name, few, (Py_ssize_t)n, NULL) : NULL;
}

PyObject *_PyObject_CallMethodIdObjArgs(PyObject *op, _Py_Identifier *name, ...)
{
    PyObject *few[FEW] = { op }, *text = PyUnicode_InternFromString(name->string), *result;
    va_list args;
    size_t n;
    va_start(args, name);
    n = gather(few, args);
    va_end(args);
    result = n > 0 && text != NULL ? call_method(text, few, (Py_ssize_t)n, NULL) : NULL;
    Py_XDECREF(text);
    return result;
}

static PyObject *call_format(PyObject *callable, const char *format, va_list args)
{
    PyObject *value, *tuple, *result;
    if (format == NULL || *format == '\0')
        return PyObject_CallNoArgs(callable);
    value = Py_VaBuildValue(format, args);
    if (value == NULL)
        return NULL;
    tuple = PyTuple_Check(value) ? Py_NewRef(value) : PyTuple_Pack(1, value);
    result = tuple != NULL ? PyObject_Call(callable, tuple, NULL) : NULL;
    Py_XDECREF(tuple);
    Py_DECREF(value);
    return result;
}

PyObject *PyObject_CallFunction(PyObject *callable, const char *format, ...)
{
    va_list args;
    PyObject *result;
    va_start(args, format);
    result = call_format(callable, format, args);
    va_end(args);
    return result;
}

PyObject *PyObject_CallMethod(PyObject *op, const char *name, const char *format, ...)
{
    PyObject *f = PyObject_GetAttrString(op, name), *result;
    va_list args;
    if (f == NULL)
        return NULL;
    va_start(args, format);
    result = call_format(f, format, args);
    va_end(args);
    Py_DECREF(f);
    return result;
}

PyObject *_PyObject_CallMethod(PyObject *op, PyObject *name, const char *format, ...)
{
    PyObject *f = PyObject_GetAttr(op, name), *result;
    va_list args;
    if (f == NULL)
        return NULL;
    va_start(args, format);
    result = call_format(f, format, args);
    va_end(args);
    Py_DECREF(f);
    return result;
}
