/* code.c - code objects and frames, as far as C uses them to say where an error arose. */
#include "internal.h"

#define CODE(op) ((PyCodeObject *)(void *)(op))
#define FRAME(op) ((PyFrameObject *)(void *)(op))

static void code_dealloc(PyObject *op)
{
    Py_XDECREF(CODE(op)->co_filename);
    Py_XDECREF(CODE(op)->co_name);
    Py_XDECREF(CODE(op)->co_varnames);
    PyObject_Free(op);
}

static void frame_dealloc(PyObject *op)
{
    Py_XDECREF(FRAME(op)->f_code);
    PyObject_Free(op);
}

PyCodeObject *PyCode_NewWithPosOnlyArgs(int args, int only_by_position, int only_by_name, int locals, int stack, int flags,
    PyObject *code, PyObject *consts, PyObject *names, PyObject *varnames, PyObject *freevars, PyObject *cellvars, PyObject *file,
    PyObject *function, PyObject *qualname, int line, PyObject *lines, PyObject *exceptions)
{
    PyCodeObject *op;
    (void)stack, (void)code, (void)consts, (void)names, (void)freevars, (void)cellvars, (void)qualname, (void)lines, (void)exceptions;
    if (!PyUnicode_Check(file) || !PyUnicode_Check(function) || !PyTuple_Check(varnames)) {
        PyErr_BadInternalCall();
        return NULL;
    }
    op = CODE(_PyObject_New(&PyCode_Type));
    if (op == NULL)
        return NULL;
    op->co_filename = Py_NewRef(file);
    op->co_name = Py_NewRef(function);
    op->co_varnames = Py_NewRef(varnames);
    op->co_argcount = args;
    op->co_posonlyargcount = only_by_position;
    op->co_kwonlyargcount = only_by_name;
    op->co_nlocals = locals;
    op->co_flags = flags;
    op->co_firstlineno = line;
    return op;
}

PyCodeObject *PyCode_NewEmpty(const char *file, const char *function, int line)
{
    PyObject *path = PyUnicode_FromString(file), *name = PyUnicode_FromString(function), *none = PyTuple_New(0);
    PyCodeObject *op = NULL;
    if (path != NULL && name != NULL && none != NULL)
        op = PyCode_New(0, 0, 0, 0, 0, NULL, NULL, NULL, none, NULL, NULL, path, name, name, line, NULL, NULL);
    Py_XDECREF(path);
    Py_XDECREF(name);
    Py_XDECREF(none);
    return op;
}

/* A copy with other contents: here a code object has only names, numbers and a line. */
static PyObject *code_replace(PyObject *op, PyObject *args, PyObject *kwargs)
{
    const PyCodeObject *c = CODE(op);
    (void)args, (void)kwargs;
    return (PyObject *)(void *)PyCode_NewWithPosOnlyArgs(c->co_argcount, c->co_posonlyargcount, c->co_kwonlyargcount, c->co_nlocals, 0,
        c->co_flags, NULL, NULL, NULL, c->co_varnames, NULL, NULL, c->co_filename, c->co_name, NULL, c->co_firstlineno, NULL, NULL);
}

static PyMethodDef code_methods[] = {
    { "replace", _PyCFunction_CAST(code_replace), METH_VARARGS | METH_KEYWORDS, NULL }, { NULL, NULL, 0, NULL }
};

static PyMemberDef code_members[] = {
    { "co_filename", T_OBJECT, offsetof(PyCodeObject, co_filename), READONLY, NULL },
    { "co_name", T_OBJECT, offsetof(PyCodeObject, co_name), READONLY, NULL },
    { "co_varnames", T_OBJECT, offsetof(PyCodeObject, co_varnames), READONLY, NULL },
    { "co_argcount", T_INT, offsetof(PyCodeObject, co_argcount), READONLY, NULL },
    { "co_posonlyargcount", T_INT, offsetof(PyCodeObject, co_posonlyargcount), READONLY, NULL },
    { "co_kwonlyargcount", T_INT, offsetof(PyCodeObject, co_kwonlyargcount), READONLY, NULL },
    { "co_nlocals", T_INT, offsetof(PyCodeObject, co_nlocals), READONLY, NULL },
    { "co_flags", T_INT, offsetof(PyCodeObject, co_flags), READONLY, NULL },
    { "co_firstlineno", T_INT, offsetof(PyCodeObject, co_firstlineno), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};

PyTypeObject PyCode_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "code", .tp_basicsize = sizeof(PyCodeObject), .tp_dealloc = code_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_methods = code_methods, .tp_members = code_members
};

static PyMemberDef frame_members[] = {
    { "f_code", T_OBJECT, offsetof(PyFrameObject, f_code), READONLY, NULL },
    { "f_lineno", T_INT, offsetof(PyFrameObject, f_lineno), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};

PyTypeObject PyFrame_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "frame", .tp_basicsize = sizeof(PyFrameObject), .tp_dealloc = frame_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_members = frame_members
};

PyFrameObject *PyFrame_New(PyThreadState *state, PyCodeObject *code, PyObject *globals, PyObject *locals)
{
    PyObject *op = _PyObject_New(&PyFrame_Type);
    (void)state, (void)globals, (void)locals;
    if (op != NULL) {
        FRAME(op)->f_code = (PyCodeObject *)(void *)Py_NewRef(code);
        FRAME(op)->f_lineno = code->co_firstlineno;
    }
    return FRAME(op);
}

/* ---- tracebacks: where C was when an exception went up --------------------------- */

#define TRACEBACK(op) ((PyTracebackObject *)(void *)(op))

static void traceback_dealloc(PyObject *op)
{
    Py_XDECREF(TRACEBACK(op)->tb_next);
    Py_XDECREF(TRACEBACK(op)->tb_frame);
    PyObject_Free(op);
}

static PyMemberDef traceback_members[] = {
    { "tb_next", T_OBJECT, offsetof(PyTracebackObject, tb_next), READONLY, NULL },
    { "tb_frame", T_OBJECT, offsetof(PyTracebackObject, tb_frame), READONLY, NULL },
    { "tb_lasti", T_INT, offsetof(PyTracebackObject, tb_lasti), READONLY, NULL },
    { "tb_lineno", T_INT, offsetof(PyTracebackObject, tb_lineno), READONLY, NULL }, { NULL, 0, 0, 0, NULL }
};

PyTypeObject PyTraceBack_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "traceback", .tp_basicsize = sizeof(PyTracebackObject),
    .tp_dealloc = traceback_dealloc, .tp_flags = Py_TPFLAGS_DEFAULT, .tp_members = traceback_members
};

/* The frame is put in front of the traceback of the exception that is set. (The language shows where it was itself.) */
int PyTraceBack_Here(PyFrameObject *frame)
{
    PyObject *type, *value, *traceback, *op;
    PyErr_Fetch(&type, &value, &traceback);
    op = _PyObject_New(&PyTraceBack_Type);
    if (op == NULL) {                   /* the new exception is the one */
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return -1;
    }
    TRACEBACK(op)->tb_next = TRACEBACK(traceback);
    TRACEBACK(op)->tb_frame = (PyFrameObject *)(void *)Py_NewRef(frame);
    TRACEBACK(op)->tb_lasti = -1;
    TRACEBACK(op)->tb_lineno = frame->f_lineno;
    PyErr_Restore(type, value, op);
    return 0;
}

const unsigned long Py_Version = PY_VERSION_HEX;
int Py_DebugFlag, Py_VerboseFlag, Py_QuietFlag, Py_InteractiveFlag, Py_InspectFlag, Py_OptimizeFlag, Py_NoSiteFlag,
    Py_BytesWarningFlag, Py_FrozenFlag, Py_IgnoreEnvironmentFlag, Py_DontWriteBytecodeFlag, Py_NoUserSiteDirectory,
    Py_UnbufferedStdioFlag, Py_HashRandomizationFlag, Py_IsolatedFlag;

const char *Py_GetVersion(void)
{
    return PY_VERSION;
}

PyFrameObject *PyThreadState_GetFrame(PyThreadState *state)
{
    (void)state;
    return NULL;
}
