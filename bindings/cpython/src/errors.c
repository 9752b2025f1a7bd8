/* errors.c - exceptions: their types, the one that is set, and what asks about it. */
#include "internal.h"

#define E(op) ((PyBaseExceptionObject *)(void *)(op))

/* ---- exceptions are objects --------------------------------------------------- */

static PyObject *exception_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op = type->tp_alloc(type, 0);
    (void)kwargs;
    if (op != NULL)
        E(op)->args = Py_NewRef(args);
    return op;
}

static int exception_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    Py_XSETREF(E(op)->args, Py_NewRef(args));
    return 0;
}

static void exception_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(E(op)->dict);
    Py_XDECREF(E(op)->args);
    Py_XDECREF(E(op)->cause);
    Py_XDECREF(E(op)->context);
    Py_XDECREF(E(op)->traceback);
    Py_TYPE(op)->tp_free(op);
}

static int exception_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(E(op)->dict);
    Py_VISIT(E(op)->args);
    Py_VISIT(E(op)->cause);
    Py_VISIT(E(op)->context);
    Py_VISIT(E(op)->traceback);
    return 0;
}

static int exception_clear(PyObject *op)
{
    Py_CLEAR(E(op)->dict);
    Py_CLEAR(E(op)->args);
    Py_CLEAR(E(op)->cause);
    Py_CLEAR(E(op)->context);
    Py_CLEAR(E(op)->traceback);
    return 0;
}

static PyObject *exception_str(PyObject *op)
{
    PyObject *args = E(op)->args;
    if (args == NULL || PyTuple_GET_SIZE(args) == 0)
        return PyUnicode_New(0, 0);
    if (PyTuple_GET_SIZE(args) != 1)
        return PyObject_Str(args);
    return PyErr_GivenExceptionMatches(op, PyExc_KeyError) ? PyObject_Repr(PyTuple_GET_ITEM(args, 0))
                                                            : PyObject_Str(PyTuple_GET_ITEM(args, 0));
}

static PyObject *exception_repr(PyObject *op)
{
    const char *dot = strrchr(Py_TYPE(op)->tp_name, '.'), *name = dot != NULL ? dot + 1 : Py_TYPE(op)->tp_name;
    if (E(op)->args != NULL && PyTuple_GET_SIZE(E(op)->args) == 1)
        return PyUnicode_FromFormat("%s(%R)", name, PyTuple_GET_ITEM(E(op)->args, 0));
    return PyUnicode_FromFormat("%s%R", name, E(op)->args);
}

/* ---- StopIteration has a value --------------------------------------------------- */

#define STOP(op) ((PyStopIterationObject *)(void *)(op))

static int stop_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    if (exception_init(op, args, kwargs) < 0)
        return -1;
    Py_XSETREF(STOP(op)->value, Py_NewRef(PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None));
    return 0;
}

static void stop_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_CLEAR(STOP(op)->value);
    exception_dealloc(op);
}

static int stop_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(STOP(op)->value);
    return exception_traverse(op, visit, arg);
}

static int stop_clear(PyObject *op)
{
    Py_CLEAR(STOP(op)->value);
    return exception_clear(op);
}

static PyMemberDef stop_members[] = {
    { "value", T_OBJECT, offsetof(PyStopIterationObject, value), 0, NULL }, { NULL, 0, 0, 0, NULL }
};

/* ---- OSError: a number, its text, and the name of a file ----------------------------- */

/* Borrowed: argument i, if there are two or more; or None. */
static PyObject *os_argument(PyObject *op, Py_ssize_t i)
{
    PyObject *args = E(op)->args;
    Py_ssize_t n = args != NULL ? PyTuple_GET_SIZE(args) : 0;
    return n >= 2 && i < n ? PyTuple_GET_ITEM(args, i) : Py_None;
}

static PyObject *os_get(PyObject *op, void *number) { return Py_NewRef(os_argument(op, (Py_ssize_t)(intptr_t)number)); }

static PyObject *os_str(PyObject *op)
{
    PyObject *code = os_argument(op, 0), *text = os_argument(op, 1), *name = os_argument(op, 2);
    PyObject *name2 = os_argument(op, 4);
    if (name != Py_None && name2 != Py_None)
        return PyUnicode_FromFormat("[Errno %S] %S: %R -> %R", code, text, name, name2);
    if (name != Py_None)
        return PyUnicode_FromFormat("[Errno %S] %S: %R", code, text, name);
    return code != Py_None ? PyUnicode_FromFormat("[Errno %S] %S", code, text) : exception_str(op);
}

static PyGetSetDef os_getset[] = {
    { "errno", os_get, NULL, NULL, (void *)0 }, { "strerror", os_get, NULL, NULL, (void *)1 },
    { "filename", os_get, NULL, NULL, (void *)2 }, { "filename2", os_get, NULL, NULL, (void *)4 }, { NULL, NULL, NULL, NULL, NULL }
};

/* ---- attributes ----------------------------------------------------------------- */

static PyObject *get_traceback(PyObject *op, void *none)
{
    (void)none;
    return Py_NewRef(E(op)->traceback != NULL ? E(op)->traceback : Py_None);
}

static int set_traceback(PyObject *op, PyObject *traceback, void *none)
{
    (void)none;
    if (traceback != NULL)
        return PyException_SetTraceback(op, traceback);
    PyErr_SetString(PyExc_TypeError, "__traceback__ may not be deleted");
    return -1;
}

static PyObject *with_traceback(PyObject *op, PyObject *traceback)
{
    return PyException_SetTraceback(op, traceback) < 0 ? NULL : Py_NewRef(op);
}

static PyMethodDef exception_methods[] = { { "with_traceback", with_traceback, METH_O, NULL }, { NULL, NULL, 0, NULL } };
static PyMemberDef exception_members[] = {
    { "args", T_OBJECT, offsetof(PyBaseExceptionObject, args), 0, NULL },
    { "__cause__", T_OBJECT, offsetof(PyBaseExceptionObject, cause), 0, NULL },
    { "__context__", T_OBJECT, offsetof(PyBaseExceptionObject, context), 0, NULL },
    { NULL, 0, 0, 0, NULL }
};
static PyGetSetDef exception_getset[] = {
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { "__traceback__", get_traceback, set_traceback, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};

enum {
#define CPY_EXCEPTION_NUMBER(name, base) NUMBER_##name,
    CPY_EXCEPTIONS(CPY_EXCEPTION_NUMBER)
    COUNT
};

static PyTypeObject types[COUNT];

#define CPY_DEFINE_EXCEPTION(name, base) PyObject *PyExc_##name = (PyObject *)(void *)&types[NUMBER_##name];
CPY_EXCEPTIONS(CPY_DEFINE_EXCEPTION)

/* OSError itself becomes the type of its number. */
static PyObject *os_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const struct { int code, number; } numbers[] = {
        { ENOENT, NUMBER_FileNotFoundError }, { EACCES, NUMBER_PermissionError }, { EPERM, NUMBER_PermissionError },
        { EEXIST, NUMBER_FileExistsError }, { EAGAIN, NUMBER_BlockingIOError }, { EALREADY, NUMBER_BlockingIOError },
        { EINPROGRESS, NUMBER_BlockingIOError }, { EWOULDBLOCK, NUMBER_BlockingIOError }, { EPIPE, NUMBER_BrokenPipeError },
        { ESHUTDOWN, NUMBER_BrokenPipeError }, { ECHILD, NUMBER_ChildProcessError }, { ECONNABORTED, NUMBER_ConnectionAbortedError },
        { ECONNREFUSED, NUMBER_ConnectionRefusedError }, { ECONNRESET, NUMBER_ConnectionResetError }, { EINTR, NUMBER_InterruptedError },
        { EISDIR, NUMBER_IsADirectoryError }, { ENOTDIR, NUMBER_NotADirectoryError }, { ESRCH, NUMBER_ProcessLookupError },
        { ETIMEDOUT, NUMBER_TimeoutError }
    };
    PyObject *code = PyTuple_GET_SIZE(args) >= 2 ? PyTuple_GET_ITEM(args, 0) : NULL;
    intptr_t n;
    size_t i;
    if (type == &types[NUMBER_OSError] && code != NULL && PyLong_Check(code) && py_long_fits(code, &n))
        for (i = 0; i < Py_ARRAY_LENGTH(numbers); i++)
            if (numbers[i].code == n)
                return exception_new(&types[numbers[i].number], args, kwargs);
    return exception_new(type, args, kwargs);
}

PyTypeObject *py_exception_types(size_t *n)
{
    static const char *const names[] = {
#define CPY_EXCEPTION_NAME(name, base) #name,
        CPY_EXCEPTIONS(CPY_EXCEPTION_NAME)
    };
    static const int bases[] = {
#define CPY_EXCEPTION_BASE(name, base) NUMBER_##base,
        CPY_EXCEPTIONS(CPY_EXCEPTION_BASE)
    };
    PyTypeObject *stop;
    size_t i;
    for (i = 0; i < COUNT; i++) {
        PyTypeObject *t = &types[i];
        if (t->tp_name != NULL)
            continue;
        ((PyObject *)(void *)t)->ob_refcnt = _PyObject_IMMORTAL;
        Py_SET_TYPE(t, &PyType_Type);
        t->tp_name = names[i];
        t->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASE_EXC_SUBCLASS;
        t->tp_basicsize = sizeof(PyBaseExceptionObject);
        t->tp_dealloc = exception_dealloc;
        t->tp_traverse = exception_traverse;
        t->tp_clear = exception_clear;
        t->tp_new = exception_new;
        t->tp_init = exception_init;
        if (i == 0) {
            t->tp_str = exception_str;
            t->tp_repr = exception_repr;
            t->tp_members = exception_members;
            t->tp_getset = exception_getset;
            t->tp_methods = exception_methods;
            t->tp_dictoffset = offsetof(PyBaseExceptionObject, dict);
        } else {
            t->tp_base = &types[bases[i]];
        }
    }
    types[NUMBER_OSError].tp_new = os_new;
    types[NUMBER_OSError].tp_str = os_str;
    types[NUMBER_OSError].tp_getset = os_getset;
    for (i = 0; i < COUNT; i++)
        if (i == NUMBER_UnicodeDecodeError || i == NUMBER_UnicodeEncodeError || i == NUMBER_UnicodeTranslateError) {
            types[i].tp_init = py_unicode_error_init;
            types[i].tp_str = py_unicode_error_str;
            types[i].tp_getset = py_unicode_error_getset + (i == NUMBER_UnicodeTranslateError);
        }
    stop = &types[NUMBER_StopIteration];
    if (!(stop->tp_flags & Py_TPFLAGS_READY)) {
        stop->tp_basicsize = sizeof(PyStopIterationObject);
        stop->tp_members = stop_members;
        stop->tp_init = stop_init;
        stop->tp_dealloc = stop_dealloc;
        stop->tp_traverse = stop_traverse;
        stop->tp_clear = stop_clear;
    }
    *n = COUNT;
    return types;
}

PyObject *PyException_GetCause(PyObject *op) { return Py_XNewRef(E(op)->cause); }
void PyException_SetCause(PyObject *op, PyObject *cause) { Py_XSETREF(E(op)->cause, cause); }
PyObject *PyException_GetContext(PyObject *op) { return Py_XNewRef(E(op)->context); }
void PyException_SetContext(PyObject *op, PyObject *context) { Py_XSETREF(E(op)->context, context); }

PyObject *PyException_GetTraceback(PyObject *op) { return Py_XNewRef(E(op)->traceback); }

int PyException_SetTraceback(PyObject *op, PyObject *traceback)
{
    if (traceback != Py_None && !PyTraceBack_Check(traceback)) {
        PyErr_SetString(PyExc_TypeError, "__traceback__ must be a traceback or None");
        return -1;
    }
    Py_XSETREF(E(op)->traceback, Py_NewRef(traceback));
    return 0;
}

/* ---- the one that is set --------------------------------------------------------- */

PyObject *PyErr_Occurred(void)
{
    return PY->thread.curexc_type;
}

void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **traceback)
{
    PyThreadState *thread = &PY->thread;
    *type = thread->curexc_type;
    *value = thread->curexc_value;
    *traceback = thread->curexc_traceback;
    thread->curexc_type = thread->curexc_value = thread->curexc_traceback = NULL;
}

void PyErr_Restore(PyObject *type, PyObject *value, PyObject *traceback)
{
    PyThreadState *thread = &PY->thread;
    PyObject *old_type = thread->curexc_type, *old_value = thread->curexc_value, *old_traceback = thread->curexc_traceback;
    if (traceback != NULL && !PyTraceBack_Check(traceback))
        Py_CLEAR(traceback);            /* None stands for none */
    thread->curexc_type = type;
    thread->curexc_value = value;
    thread->curexc_traceback = traceback;
    Py_XDECREF(old_traceback);
    Py_XDECREF(old_type);
    Py_XDECREF(old_value);
}

void PyErr_Clear(void)
{
    PyErr_Restore(NULL, NULL, NULL);
}

/* The exception that C deals with is the context of one that is set meanwhile. A chain of contexts that would come
   back to the new exception is cut there. (While the new one is made, errors have no context.) */
static void set_context(PyObject **type, PyObject **value, PyObject **traceback)
{
    PyObject *context = PY->handled, *at, *slow = context;
    size_t n;
    if (context == NULL || *type == NULL)
        return;
    PY->handled = NULL;
    PyErr_NormalizeException(type, value, traceback);
    PY->handled = context;
    if (*value == NULL || !PyExceptionInstance_Check(*value) || *value == context)
        return;
    for (n = 0, at = context; at != NULL && (n == 0 || at != slow); at = E(at)->context, n++) {
        if (E(at)->context == *value)
            Py_CLEAR(E(at)->context);
        if (n % 2 == 1)
            slow = E(slow)->context;    /* a chain that is a ring ends where the two meet */
    }
    PyException_SetContext(*value, Py_NewRef(context));
}

/* An exception that is set again keeps its traceback. */
void PyErr_SetObject(PyObject *type, PyObject *value)
{
    PyObject *traceback = NULL;
    if (type != NULL && !py_ready(type))
        return;
    if (type != NULL && !PyExceptionClass_Check(type)) {
        PyErr_Format(PyExc_SystemError, "exception %R is not a BaseException subclass", type);
        return;
    }
    Py_XINCREF(type);
    Py_XINCREF(value);
    PyErr_Clear();
    set_context(&type, &value, &traceback);
    if (traceback == NULL && value != NULL && PyExceptionInstance_Check(value))
        traceback = PyException_GetTraceback(value);
    PyErr_Restore(type, value, traceback);
}

/* ---- the one that is dealt with --------------------------------------------------- */

PyObject *PyErr_GetHandledException(void) { return Py_XNewRef(PY->handled); }

void PyErr_SetHandledException(PyObject *value)
{
    PyObject *old = PY->handled;
    PY->handled = value != Py_None ? Py_XNewRef(value) : NULL;
    Py_XDECREF(old);
}

void PyErr_GetExcInfo(PyObject **type, PyObject **value, PyObject **traceback)
{
    PyObject *op = PY->handled;
    *value = Py_NewRef(op != NULL ? op : Py_None);
    *type = Py_NewRef(op != NULL ? (PyObject *)(void *)Py_TYPE(op) : Py_None);
    *traceback = Py_NewRef(op != NULL && E(op)->traceback != NULL ? E(op)->traceback : Py_None);
}

/* Takes the references. The value says all. */
void PyErr_SetExcInfo(PyObject *type, PyObject *value, PyObject *traceback)
{
    PyErr_SetHandledException(value);
    Py_XDECREF(value);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
}

void PyErr_SetNone(PyObject *type)
{
    PyErr_SetObject(type, NULL);
}

void PyErr_SetString(PyObject *type, const char *message)
{
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    if (text != NULL)
        PyErr_SetObject(type, text);
    Py_XDECREF(text);
}

PyObject *PyErr_FormatV(PyObject *type, const char *format, va_list args)
{
    PyObject *text;
    PyErr_Clear();
    text = PyUnicode_FromFormatV(format, args);
    if (text != NULL)
        PyErr_SetObject(type, text);
    Py_XDECREF(text);
    return NULL;
}

PyObject *PyErr_Format(PyObject *type, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyErr_FormatV(type, format, args);
    va_end(args);
    return NULL;
}

/* The exception that is set becomes the context of the one that is given, which is set then. Without one that is set, the
   given one is. */
void _PyErr_ChainExceptions(PyObject *type, PyObject *value, PyObject *traceback)
{
    PyObject *type2, *value2, *traceback2;
    PyErr_Fetch(&type2, &value2, &traceback2);
    if (type == NULL || type2 == NULL) {
        PyErr_Restore(type != NULL ? type : type2, type != NULL ? value : value2, type != NULL ? traceback : traceback2);
        return;
    }
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_NormalizeException(&type2, &value2, &traceback2);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    PyException_SetContext(value2, value);
    Py_DECREF(type);
    Py_XDECREF(traceback);
    PyErr_Restore(type2, value2, traceback2);
}

/* The exception that is set becomes the cause of a new one. */
PyObject *_PyErr_FormatFromCause(PyObject *type, const char *format, ...)
{
    PyObject *old_type, *old, *old_traceback, *new_type, *op, *traceback;
    va_list args;
    PyErr_Fetch(&old_type, &old, &old_traceback);
    PyErr_NormalizeException(&old_type, &old, &old_traceback);
    va_start(args, format);
    PyErr_FormatV(type, format, args);
    va_end(args);
    PyErr_Fetch(&new_type, &op, &traceback);
    PyErr_NormalizeException(&new_type, &op, &traceback);
    PyException_SetCause(op, Py_XNewRef(old));
    PyErr_Restore(new_type, op, traceback);
    _PyErr_ChainExceptions(old_type, old, old_traceback);
    return NULL;
}

/* Needs no memory. */
PyObject *PyErr_NoMemory(void)
{
    PyErr_SetNone(PyExc_MemoryError);
    return NULL;
}

int PyErr_BadArgument(void)
{
    PyErr_SetString(PyExc_TypeError, "bad argument type for built-in operation");
    return 0;
}

void _PyErr_BadInternalCall(const char *file, int line)
{
    PyErr_Format(PyExc_SystemError, "%s:%d: bad argument to internal function", file, line);
}

void _PyErr_SetKeyError(PyObject *key)
{
    PyObject *args = PyTuple_Pack(1, key);
    if (args != NULL)
        PyErr_SetObject(PyExc_KeyError, args);
    Py_XDECREF(args);
}

/* The names may be NULL. */
PyObject *PyErr_SetFromErrnoWithFilenameObjects(PyObject *type, PyObject *name, PyObject *name2)
{
    int code = errno;
    PyObject *value = name == NULL ? Py_BuildValue("is", code, strerror(code)) : name2 == NULL ? Py_BuildValue("isO", code, strerror(code), name)
                    : Py_BuildValue("isOiO", code, strerror(code), name, 0, name2);
    if (value != NULL)
        Py_SETREF(value, PyObject_Call(type, value, NULL));
    if (value != NULL)
        PyErr_SetObject((PyObject *)(void *)Py_TYPE(value), value);
    Py_XDECREF(value);
    return NULL;
}

PyObject *PyErr_SetFromErrnoWithFilenameObject(PyObject *type, PyObject *name)
{
    return PyErr_SetFromErrnoWithFilenameObjects(type, name, NULL);
}

PyObject *PyErr_SetFromErrno(PyObject *type) { return PyErr_SetFromErrnoWithFilenameObject(type, NULL); }

PyObject *PyErr_SetFromErrnoWithFilename(PyObject *type, const char *name)
{
    int code = errno;
    PyObject *text = name != NULL ? PyUnicode_FromString(name) : NULL;
    if (name == NULL || text != NULL) {
        errno = code;
        PyErr_SetFromErrnoWithFilenameObject(type, text);
    }
    Py_XDECREF(text);
    return NULL;
}

/* name and path become attributes; they may be NULL. */
PyObject *PyErr_SetImportErrorSubclass(PyObject *type, PyObject *message, PyObject *name, PyObject *path)
{
    PyObject *error;
    if (!PyErr_GivenExceptionMatches(type, PyExc_ImportError))
        return PyErr_Format(PyExc_TypeError, "expected a subclass of ImportError");
    if (message == NULL)
        return PyErr_Format(PyExc_TypeError, "expected a message argument");
    error = PyObject_CallOneArg(type, message);
    if (error != NULL && PyObject_SetAttrString(error, "name", name != NULL ? name : Py_None) == 0
        && PyObject_SetAttrString(error, "path", path != NULL ? path : Py_None) == 0)
        PyErr_SetObject(type, error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *PyErr_SetImportError(PyObject *message, PyObject *name, PyObject *path)
{
    return PyErr_SetImportErrorSubclass(PyExc_ImportError, message, name, path);
}

/* The value as an exception of the type. */
void PyErr_NormalizeException(PyObject **type, PyObject **value, PyObject **traceback)
{
    PyObject *op;
    if (*type == NULL || (*value != NULL && PyExceptionInstance_Check(*value)))
        return;
    if (*value == NULL || *value == Py_None)
        op = PyObject_CallNoArgs(*type);
    else if (PyTuple_Check(*value))
        op = PyObject_Call(*type, *value, NULL);
    else
        op = PyObject_CallOneArg(*type, *value);
    if (op == NULL) {                   /* that failed: its exception is the one */
        Py_XDECREF(*type);
        Py_XDECREF(*value);
        Py_XDECREF(*traceback);
        PyErr_Fetch(type, value, traceback);
        return;
    }
    Py_XSETREF(*value, op);
    Py_SETREF(*type, Py_NewRef(Py_TYPE(op)));
}

/* A tuple that is nested too deeply matches nothing: the caller cannot take an exception, so it is only written. */
static int matches_one(PyObject *error, PyObject *tuple)
{
    PyObject *type, *value, *traceback;
    Py_ssize_t i;
    int yes = 0;
    PyErr_Fetch(&type, &value, &traceback);
    if (Py_EnterRecursiveCall(" in a tuple of exceptions")) {
        PyErr_WriteUnraisable(tuple);
    } else {
        for (i = 0; !yes && i < PyTuple_GET_SIZE(tuple); i++)
            yes = PyErr_GivenExceptionMatches(error, PyTuple_GET_ITEM(tuple, i));
        Py_LeaveRecursiveCall();
    }
    PyErr_Restore(type, value, traceback);
    return yes;
}

int PyErr_GivenExceptionMatches(PyObject *error, PyObject *type)
{
    if (error == NULL || type == NULL || !py_ready(type))
        return 0;
    if (PyTuple_Check(type))
        return matches_one(error, type);
    if (PyExceptionInstance_Check(error))
        error = (PyObject *)(void *)Py_TYPE(error);
    if (PyExceptionClass_Check(error) && PyExceptionClass_Check(type))
        return PyType_IsSubtype((PyTypeObject *)(void *)error, (PyTypeObject *)(void *)type);
    return error == type;
}

int PyErr_ExceptionMatches(PyObject *type)
{
    return PyErr_GivenExceptionMatches(PY->thread.curexc_type, type);
}

/* ---- new types ------------------------------------------------------------------- */

PyObject *PyErr_NewExceptionWithDoc(const char *name, const char *doc, PyObject *base, PyObject *dict)
{
    const char *dot = strrchr(name, '.');
    PyObject *mine = dict != NULL ? PyDict_Copy(dict) : PyDict_New(), *bases, *type = NULL, *module, *text;
    if (mine == NULL || dot == NULL) {
        if (mine != NULL)
            PyErr_SetString(PyExc_SystemError, "PyErr_NewException: name must be module.class");
        Py_XDECREF(mine);
        return NULL;
    }
    if (base != NULL && !py_ready(base)) {
        Py_DECREF(mine);
        return NULL;
    }
    bases = base != NULL && PyTuple_Check(base) ? Py_NewRef(base) : PyTuple_Pack(1, base != NULL ? base : PyExc_Exception);
    module = PyUnicode_FromStringAndSize(name, dot - name);
    text = doc != NULL ? PyUnicode_FromString(doc) : NULL;
    if (bases != NULL && module != NULL && PyDict_SetItemString(mine, "__module__", module) == 0
        && (text == NULL || PyDict_SetItemString(mine, "__doc__", text) == 0))
        type = PyObject_CallFunction((PyObject *)(void *)&PyType_Type, "sOO", dot + 1, bases, mine);
    Py_XDECREF(text);
    Py_XDECREF(module);
    Py_XDECREF(bases);
    Py_DECREF(mine);
    return type;
}

PyObject *PyErr_NewException(const char *name, PyObject *base, PyObject *dict)
{
    return PyErr_NewExceptionWithDoc(name, NULL, base, dict);
}

/* ---- messages --------------------------------------------------------------------- */

static void write_error(const char *where)
{
    PyObject *type, *value, *traceback, *text;
    const char *message;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    text = value != NULL ? PyObject_Str(value) : NULL;
    message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    fprintf(stderr, "%s%s%s%s: %s\n", where != NULL ? "exception ignored in " : "", where != NULL ? where : "",
            where != NULL ? ": " : "", type != NULL ? ((PyTypeObject *)(void *)type)->tp_name : "?", message != NULL ? message : "?");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* The hook of the program, if it has one, gets the exception, and the object, or the text that says where. An exception
   of the hook itself is only written. */
void py_unraisable(const char *where, PyObject *op)
{
    PyObject *type, *value, *traceback, *hook = Py_XNewRef(PY->unraisable), *context, *result = NULL;
    if (hook != NULL && py_vm->printing == 0) {
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        context = op != NULL ? Py_NewRef(op) : PyUnicode_FromString(where);
        if (context != NULL)
            result = PyObject_CallFunctionObjArgs(hook, value != NULL ? value : Py_None, context, NULL);
        Py_XDECREF(context);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        where = "the hook for exceptions that nobody gets";
    }
    if (result == NULL)
        write_error(where);
    Py_XDECREF(result);
    Py_XDECREF(hook);
}

void PyErr_WriteUnraisable(PyObject *op)
{
    char where[200];
    snprintf(where, sizeof where, "a %.150s", op != NULL ? Py_TYPE(op)->tp_name : "C function");
    py_unraisable(where, op);
}

void PyErr_Print(void) { write_error(NULL); }

int PyErr_WarnEx(PyObject *category, const char *message, Py_ssize_t level)
{
    (void)level;
    if (category != NULL && !py_ready(category))
        return -1;
    if (category != NULL && (!PyType_Check(category) || !PyType_IsSubtype((PyTypeObject *)(void *)category, (PyTypeObject *)(void *)PyExc_Warning))) {
        PyErr_Format(PyExc_TypeError, "category must be a Warning subclass, not '%.200s'", Py_TYPE(category)->tp_name);
        return -1;
    }
    fprintf(stderr, "%s: %s\n", category != NULL ? ((PyTypeObject *)(void *)category)->tp_name : "RuntimeWarning", message);
    return 0;
}

static int warn_formatted(PyObject *category, Py_ssize_t level, const char *format, va_list args)
{
    PyObject *text = PyUnicode_FromFormatV(format, args);
    int code = text != NULL ? PyErr_WarnEx(category, PyUnicode_AsUTF8(text), level) : -1;
    Py_XDECREF(text);
    return code;
}

int PyErr_WarnFormat(PyObject *category, Py_ssize_t level, const char *format, ...)
{
    va_list args;
    int code;
    va_start(args, format);
    code = warn_formatted(category, level, format, args);
    va_end(args);
    return code;
}

int PyErr_WarnExplicit(PyObject *category, const char *message, const char *file, int line, const char *module, PyObject *registry)
{
    (void)module, (void)registry;
    fprintf(stderr, "%s:%d: ", file, line);
    return PyErr_WarnEx(category, message, 1);
}

int PyErr_ResourceWarning(PyObject *source, Py_ssize_t level, const char *format, ...)
{
    va_list args;
    int code;
    (void)source;
    va_start(args, format);
    code = warn_formatted(PyExc_ResourceWarning, level, format, args);
    va_end(args);
    return code;
}

int PyErr_CheckSignals(void) { return 0; }

void Py_FatalError(const char *message)
{
    fprintf(stderr, "fatal error: %s\n", message);
    abort();
}
