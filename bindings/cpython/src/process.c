/* process.c - the process: its arguments, its end, its signals, files that are written to; and what a VM keeps for C. */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE             /* for syscall */
#endif
#include "internal.h"

#include <pthread.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

/* ---- arguments ------------------------------------------------------------------ */

static wchar_t **arguments;         /* of the process, decoded. They stay until it ends */
static int argument_count;

void py_set_arguments(int argc, char *const *argv)
{
    int i;
    arguments = calloc((size_t)argc + 1, sizeof *arguments);
    for (i = 0; arguments != NULL && i < argc; i++) {
        size_t room = strlen(argv[i]) + 1;
        arguments[i] = malloc(room * sizeof **arguments);
        if (arguments[i] == NULL)
            break;
        if (mbstowcs(arguments[i], argv[i], room) == (size_t)-1)
            arguments[i][0] = L'\0';
        argument_count = i + 1;
    }
}

void Py_GetArgcArgv(int *argc, wchar_t ***argv)
{
    *argc = argument_count;
    *argv = arguments;
}

/* ---- the end -------------------------------------------------------------------- */

int Py_AtExit(void (*function)(void))
{
    py_state *py = PY;
    if (py->at_exit_count == Py_ARRAY_LENGTH(py->at_exit))
        return -1;
    py->at_exit[py->at_exit_count++] = function;
    return 0;
}

void py_call_at_exit(cvm *vm)
{
    py_state *py = py_state_of(vm);
    while (py->at_exit_count > 0)
        py->at_exit[--py->at_exit_count]();
}

/* ---- signals ----------------------------------------------------------------------- */

PyOS_sighandler_t PyOS_getsig(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 ? now.sa_handler : SIG_ERR;
}

PyOS_sighandler_t PyOS_setsig(int number, PyOS_sighandler_t handler)
{
    struct sigaction after, before;
    memset(&after, 0, sizeof after);
    after.sa_handler = handler;
    sigemptyset(&after.sa_mask);
    return sigaction(number, &after, &before) == 0 ? before.sa_handler : SIG_ERR;
}

unsigned long PyThread_get_thread_native_id(void)
{
#if defined(__linux__)
    return (unsigned long)syscall(SYS_gettid);
#else
    return (unsigned long)(uintptr_t)pthread_self();
#endif
}

/* ---- writing ------------------------------------------------------------------------- */

static void write_text(FILE *out, const char *format, va_list args)
{
    PyObject *type, *value, *traceback, *text;
    const char *utf8;
    PyErr_Fetch(&type, &value, &traceback);
    text = PyUnicode_FromFormatV(format, args);
    utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 != NULL)
        fputs(utf8, out);
    Py_XDECREF(text);
    PyErr_Restore(type, value, traceback);
}

void PySys_FormatStdout(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_text(stdout, format, args);
    va_end(args);
}

void PySys_FormatStderr(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_text(stderr, format, args);
    va_end(args);
}

int PyFile_WriteObject(PyObject *op, PyObject *file, int flags)
{
    PyObject *text, *result;
    if (file == NULL) {
        PyErr_SetString(PyExc_TypeError, "writeobject with NULL file");
        return -1;
    }
    text = flags & Py_PRINT_RAW ? PyObject_Str(op) : PyObject_Repr(op);
    result = text != NULL ? PyObject_CallMethod(file, "write", "(O)", text) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

int PyFile_WriteString(const char *utf8, PyObject *file)
{
    PyObject *text;
    int code;
    if (PyErr_Occurred())
        return -1;
    text = PyUnicode_FromString(utf8);
    code = text != NULL ? PyFile_WriteObject(text, file, Py_PRINT_RAW) : -1;
    Py_XDECREF(text);
    return code;
}

/* ---- what a VM keeps -------------------------------------------------------------------- */

PyObject *PyThreadState_GetDict(void)
{
    py_state *py = py_vm != NULL ? PY : NULL;
    if (py != NULL && py->dict == NULL)
        py->dict = PyDict_New();
    return py != NULL ? py->dict : NULL;
}

PyObject *PyEval_GetBuiltins(void)
{
    PyObject *module = PyImport_AddModule("builtins");
    return module != NULL ? PyModule_GetDict(module) : NULL;
}

/* What stands in front of the arguments of a call, in messages. */
const char *PyEval_GetFuncName(PyObject *f)
{
    return PyMethod_Check(f) ? PyEval_GetFuncName(PyMethod_GET_FUNCTION(f)) : PyCFunction_Check(f)
         ? ((PyCFunctionObject *)(void *)f)->m_ml->ml_name : Py_TYPE(f)->tp_name;
}

const char *PyEval_GetFuncDesc(PyObject *f)
{
    return PyMethod_Check(f) || PyCFunction_Check(f) ? "()" : " object";
}

/* Names of files are UTF-8. */
const char *Py_FileSystemDefaultEncoding = "utf-8", *Py_FileSystemDefaultEncodeErrors = "surrogateescape";
int Py_HasFileSystemDefaultEncoding = 1, Py_UTF8Mode = 1;
