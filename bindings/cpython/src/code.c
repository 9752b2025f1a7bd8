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

PyTypeObject PyCode_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "code", .tp_basicsize = sizeof(PyCodeObject), .tp_dealloc = code_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_methods = code_methods
};

PyTypeObject PyFrame_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "frame", .tp_basicsize = sizeof(PyFrameObject), .tp_dealloc = frame_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT
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
    if (op != NULL)
        FRAME(op)->f_code = (PyCodeObject *)(void *)Py_NewRef(code);
    return FRAME(op);
}

/* The language shows where it was itself when the error came up. */
int PyTraceBack_Here(PyFrameObject *frame)
{
    (void)frame;
    return 0;
}

const char *Py_GetVersion(void)
{
    return PY_VERSION;
}
