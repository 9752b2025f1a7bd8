/* say.h - for extensions that say the same here and in CPython: they put their text together from lines. */
#include <Python.h>
#include <structmember.h>

static PyObject *said;                  /* a line for each result */

static void say(const char *format, ...)
{
    va_list args;
    PyObject *line;
    va_start(args, format);
    line = PyUnicode_FromFormatV(format, args);
    va_end(args);
    PyUnicode_AppendAndDel(&said, line);
    PyUnicode_AppendAndDel(&said, PyUnicode_FromString("\n"));
}

/* The text of a result, whose reference is taken over; or the exception. */
static void show(const char *what, PyObject *op)
{
    PyObject *type, *value, *traceback, *text;
    if (op == NULL) {
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        text = PyObject_Str(value);
        say("%s: %s%s%S", what, ((PyTypeObject *)type)->tp_name, PyUnicode_GET_LENGTH(text) > 0 ? ": " : "", text);
        Py_DECREF(text);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return;
    }
    text = PyObject_Repr(op);
    say("%s: %S", what, text);
    Py_XDECREF(text);
    Py_DECREF(op);
}

static void show_code(const char *what, int code)
{
    show(what, code < 0 && PyErr_Occurred() ? NULL : PyLong_FromLong(code));
}

/* What all these functions say. The last one is NULL. */
static PyObject *say_all(void (*const *functions)(void))
{
    PyObject *text;
    said = PyUnicode_FromString("");
    while (*functions != NULL)
        (*functions++)();
    text = said;
    said = NULL;
    if (PyErr_Occurred())
        Py_CLEAR(text);
    return text;
}
