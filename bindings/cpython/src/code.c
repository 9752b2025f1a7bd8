/* code.c - code objects and frames, as far as C uses them to say where an error arose. */
#include "internal.h"

#define CODE(op) ((PyCodeObject *)(void *)(op))
#define FRAME(op) ((PyFrameObject *)(void *)(op))

static void code_dealloc(PyObject *op)
{
    Py_XDECREF(CODE(op)->co_filename);
    Py_XDECREF(CODE(op)->co_name);
    PyObject_Free(op);
}

static void frame_dealloc(PyObject *op)
{
    Py_XDECREF(FRAME(op)->f_code);
    PyObject_Free(op);
}

/* A copy with other contents: here a code object has only names and a line. */
static PyObject *code_replace(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *copy = _PyObject_New(&PyCode_Type);
    (void)args, (void)kwargs;
    if (copy != NULL) {
        CODE(copy)->co_filename = Py_NewRef(CODE(op)->co_filename);
        CODE(copy)->co_name = Py_NewRef(CODE(op)->co_name);
        CODE(copy)->co_firstlineno = CODE(op)->co_firstlineno;
    }
    return copy;
}

static PyMethodDef code_methods[] = {
    { "replace", _PyCFunction_CAST(code_replace), METH_VARARGS | METH_KEYWORDS, NULL }, { NULL, NULL, 0, NULL }
};

static PyMemberDef code_members[] = {
    { "co_filename", T_OBJECT, offsetof(PyCodeObject, co_filename), READONLY, NULL },
    { "co_name", T_OBJECT, offsetof(PyCodeObject, co_name), READONLY, NULL },
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

PyCodeObject *PyCode_NewEmpty(const char *file, const char *function, int line)
{
    PyObject *op = _PyObject_New(&PyCode_Type);
    if (op == NULL)
        return NULL;
    CODE(op)->co_filename = PyUnicode_FromString(file);
    CODE(op)->co_name = PyUnicode_FromString(function);
    CODE(op)->co_firstlineno = line;
    if (CODE(op)->co_filename == NULL || CODE(op)->co_name == NULL)
        Py_CLEAR(op);
    return CODE(op);
}

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

const char *Py_GetVersion(void)
{
    return PY_VERSION;
}

PyFrameObject *PyThreadState_GetFrame(PyThreadState *state)
{
    (void)state;
    return NULL;
}
