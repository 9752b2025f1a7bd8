/* cross.c - from the host's values to objects of C, and back.
 *
 *   of the host         in C                               link
 *   nil, true, false    None, True, False                  none
 *   whole number, real  int, float: a copy                 none; P, light for one in a dict that C knows
 *   string              str, empty until C looks at it     P, light, then full
 *   tuple, array        tuple, list; likewise              P, light, then full
 *   dict, procedure...  an empty object                    P, light
 *   (a string that reads C's data)     str made in C       O
 *   (a tuple, an array likewise)       tuple, list         O
 *   a proxy             any other object                   O
 *   a proxy             a static object                    none: the VM keeps the proxy */
#include "internal.h"

/* ---- from the host ------------------------------------------------------- */

static PyTypeObject *type_of_kind(cvm_value v)
{
    switch (cvm_object_of(v)->kind) {
    case CVM_STRING:                    return &PyUnicode_Type;
    case CVM_REAL:                      return &PyFloat_Type;
    case CVM_TUPLE:                     return &PyTuple_Type;
    case CVM_RANGE:                     return &PyRange_Type;
    case CVM_ARRAY:                     return &PyList_Type;
    case CVM_DICT:                      return &PyDict_Type;
    case CVM_CLOSURE: case CVM_BUILTIN: return &PyFunction_Type;
    default:                            return &py_host_type;
    }
}

static PyObject *int_new(intptr_t n)
{
    uintptr_t rest = n < 0 ? 0 - (uintptr_t)n : (uintptr_t)n;
    uint32_t digits[3];
    Py_ssize_t count = 0;
    for (; rest != 0; rest >>= 30)
        digits[count++] = (uint32_t)rest & 0x3fffffff;
    return py_long_new(n < 0, digits, count);
}

/* A new view: it owns nothing. Nothing moves. */
rrc_object *py_view_new(cvm *vm, cvm_value v)
{
    cvm *saved = py_vm;
    PyTypeObject *type;
    PyObject *op;
    py_vm = vm;
    if (cvm_is(v, CVM_INTEGER)) {
        op = int_new(CVM_INTEGER_OF(v)->number);
        py_vm = saved;
        return _Py_RRC(op);
    }
    type = type_of_kind(v);
    op = py_alloc(type, type == &PyTuple_Type ? (Py_ssize_t)cvm_sequence_length(v) : 0);
    if (op != NULL && type == &PyUnicode_Type) {
        PyUnicodeObject *u = (PyUnicodeObject *)(void *)op;
        u->length = (Py_ssize_t)CVM_STRING_OF(v)->length;
        u->hash = -1;
        u->seen = 1;
    } else if (op != NULL && type == &PyTuple_Type) {
        ((PyTupleObject *)(void *)op)->seen = 1;
    } else if (op != NULL && type == &PyFloat_Type) {
        ((PyFloatObject *)(void *)op)->ob_fval = CVM_REAL_OF(v)->number;
    }
    py_vm = saved;
    return _Py_RRC(op);
}

PyObject *py_from_item(cvm_value v)
{
    PyObject *op;
    if (cvm_is_fixnum(v))
        op = int_new(cvm_fixnum_of(v));
    else if (!cvm_is_object(v))
        return Py_NewRef(v == CVM_TRUE ? Py_True : v == CVM_FALSE ? Py_False : Py_None);
    else
        op = (PyObject *)(void *)cvm_ob_of(py_vm, v);
    if (op == NULL && py_vm->error.failed)
        cvm_error_clear(py_vm);
    return op != NULL ? op : PyErr_NoMemory();
}

PyObject *py_from_value(cvm_value v)
{
    if (v == CVM_NONE) {
        if (py_vm->error.failed)
            py_fetch_failure();
        return NULL;
    }
    if (cvm_is(v, CVM_FOREIGN) && cvm_named_ob(v) == NULL)
        return PyErr_Format(PyExc_ReferenceError, "the object was closed");
    return py_from_item(v);
}

/* ---- to the host --------------------------------------------------------- */

int py_is_gone(cvm *vm, rrc_object *ob)
{
    PyObject *op = (PyObject *)(void *)ob;
    if (rrc_to_obj(vm->rrc, ob) != NULL)
        return 0;
    if (Py_IS_TYPE(op, &PyUnicode_Type))
        return ((PyUnicodeObject *)(void *)op)->kind == 0;
    if (Py_IS_TYPE(op, &PyTuple_Type))
        return !((PyTupleObject *)(void *)op)->filled;
    if (Py_IS_TYPE(op, &PyList_Type))
        return !((PyListObject *)(void *)op)->filled;
    return Py_IS_TYPE(op, &PyDict_Type) || Py_IS_TYPE(op, &PyRange_Type) || Py_IS_TYPE(op, &PyFunction_Type) || Py_IS_TYPE(op, &py_host_type);
}

cvm_value py_host_of(PyObject *op)
{
    cvm_value v = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op));
    if (v == CVM_NONE)
        PyErr_Format(PyExc_ReferenceError, "the host's object of this %s is gone", Py_TYPE(op)->tp_name);
    return v;
}

static cvm_value outside_new(cvm *vm, PyObject *op, int kind, size_t length, const char *bytes)
{
    cvm_outside *p = (cvm_outside *)cvm_object_new(vm, kind, sizeof *p);
    if (p == NULL)
        return CVM_NONE;
    p->head.flags |= CVM_OUTSIDE;
    p->length = length;
    p->ob = _Py_RRC(op);
    p->bytes = kind == CVM_ARRAY ? (const char *)CVM_NIL : bytes;
    return (cvm_value)p;
}

/* For an object that was made in C. */
cvm_value py_proxy_new(cvm *vm, rrc_object *ob)
{
    PyObject *op = (PyObject *)(void *)ob;
    if (py_is_gone(vm, ob))
        return cvm_fail(vm, "the host's object of this %s is gone", Py_TYPE(op)->tp_name);
    if (Py_IS_TYPE(op, &PyUnicode_Type)) {
        Py_ssize_t n;
        const char *bytes = PyUnicode_AsUTF8AndSize(op, &n);
        if (bytes != NULL) {
            ((PyUnicodeObject *)(void *)op)->seen = 1;
            return outside_new(vm, op, CVM_STRING, (size_t)n, bytes);
        }
        PyErr_Clear();                  /* no text: Lisp sees an object */
    }
    if (Py_IS_TYPE(op, &PyTuple_Type)) {
        ((PyTupleObject *)(void *)op)->seen = 1;
        return outside_new(vm, op, CVM_TUPLE, (size_t)PyTuple_GET_SIZE(op), NULL);
    }
    if (Py_IS_TYPE(op, &PyList_Type))
        return outside_new(vm, op, CVM_ARRAY, 0, NULL);
    return cvm_foreign_new(vm, ob);
}

/* Static objects belong to no VM, and so have no link. */
static cvm_value static_proxy(PyObject *op)
{
    py_static *s = py_static_of(op);
    cvm_value v;
    if (s == NULL)
        return cvm_out_of_memory(py_vm);
    if (s->proxy != CVM_NONE)
        return s->proxy;
    v = py_ready(op) ? cvm_foreign_new(py_vm, _Py_RRC(op)) : CVM_NONE;
    if (v != CVM_NONE)
        py_static_of(op)->proxy = v;
    return v;
}

cvm_value py_to_value(PyObject *op)
{
    intptr_t n;
    cvm_value v;
    if (op == NULL)
        return CVM_NONE;
    if (op == Py_None)
        return CVM_NIL;
    if (Py_TYPE(op) == NULL && !py_ready(op))
        return CVM_NONE;
    if (PyBool_Check(op))
        return cvm_boolean(op == Py_True);
    if (PyLong_CheckExact(op) && py_long_fits(op, &n))
        v = cvm_integer(py_vm, n);
    else if (PyFloat_CheckExact(op))
        v = cvm_real_new(py_vm, PyFloat_AS_DOUBLE(op));
    else if (op->ob_refcnt >= RRC_REFCNT_IMMORTAL)
        v = static_proxy(op);
    else
        v = cvm_from_ob(py_vm, _Py_RRC(op));
    if (v == CVM_NONE && !PyErr_Occurred())
        py_fetch_failure();
    return v;
}

cvm_value py_to_value_steal(PyObject *op)
{
    size_t scope = cvm_open(py_vm);
    cvm_value *v = cvm_root(py_vm, py_to_value(op));
    cvm_value result;
    Py_XDECREF(op);                     /* the link holds it now. Or it goes, and code may run */
    result = *v;
    cvm_close(py_vm, scope);
    return result;
}

void py_become_full(PyObject *op)
{
    if (op->ob_refcnt >= RRC_REFCNT_FROM_PYPY_LIGHT && op->ob_refcnt < RRC_REFCNT_IMMORTAL)
        op->ob_refcnt -= RRC_REFCNT_FROM_PYPY_LIGHT - RRC_REFCNT_FROM_PYPY;
}

/* ---- errors --------------------------------------------------------------
 *
 * In C an exception is an object; in the language an error is a message on its way up. The
 * exception flies along with its message, and is set again if the error comes back to C. */

cvm_value py_fail(void)
{
    py_state *py = PY;
    PyObject *type, *value, *traceback, *text;
    const char *message = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    text = value != NULL ? PyObject_Str(value) : NULL;
    message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (message == NULL) {
        PyErr_Clear();
        message = "";
    }
    cvm_fail(py_vm, "%s%s%.150s", type != NULL ? ((PyTypeObject *)(void *)type)->tp_name : "no exception is set",
             *message != '\0' ? ": " : "", message);
    Py_XDECREF(text);
    if (value != NULL && traceback != NULL && PyExceptionInstance_Check(value))
        PyException_SetTraceback(value, traceback);
    Py_XSETREF(py->flying, value);
    py->flying_at = py_vm->error.number;
    py_vm->attention = 1;
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return CVM_NONE;
}

void py_fetch_failure(void)
{
    py_state *py = PY;
    char message[sizeof py_vm->error.message];
    if (py->flying != NULL && py->flying_at == py_vm->error.number) {
        PyErr_SetObject((PyObject *)Py_TYPE(py->flying), py->flying);
        Py_CLEAR(py->flying);
    } else if (strcmp(py_vm->error.message, "out of memory") == 0) {
        PyErr_NoMemory();
    } else {
        memcpy(message, py_vm->error.message, sizeof message);
        PyErr_SetString(strcmp(message, "recursion too deep") == 0 ? PyExc_RecursionError
                        : py_vm->error.exiting ? PyExc_SystemExit : PyExc_RuntimeError, message);
    }
    if (!py_vm->error.exiting)
        cvm_error_clear(py_vm);
}
