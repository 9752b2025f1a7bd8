/* errors.h - exceptions. One is set for each VM, as in CPython for each thread. */
#ifndef CPY_ERRORS_H
#define CPY_ERRORS_H

#define CPY_EXCEPTIONS(X) \
    X(BaseException, BaseException) X(Exception, BaseException) X(SystemExit, BaseException) \
    X(KeyboardInterrupt, BaseException) X(GeneratorExit, BaseException) X(TypeError, Exception) \
    X(StopIteration, Exception) X(StopAsyncIteration, Exception) X(ImportError, Exception) \
    X(ModuleNotFoundError, ImportError) X(OSError, Exception) X(TimeoutError, OSError) X(EOFError, Exception) \
    X(RuntimeError, Exception) X(RecursionError, RuntimeError) X(NotImplementedError, RuntimeError) \
    X(NameError, Exception) X(UnboundLocalError, NameError) X(AttributeError, Exception) X(AssertionError, Exception) \
    X(LookupError, Exception) X(IndexError, LookupError) X(KeyError, LookupError) X(ValueError, Exception) \
    X(UnicodeError, ValueError) X(UnicodeDecodeError, UnicodeError) X(UnicodeEncodeError, UnicodeError) \
    X(ArithmeticError, Exception) X(OverflowError, ArithmeticError) X(ZeroDivisionError, ArithmeticError) \
    X(FloatingPointError, ArithmeticError) X(SystemError, Exception) X(ReferenceError, Exception) \
    X(BufferError, Exception) X(MemoryError, Exception) X(Warning, Exception) X(UserWarning, Warning) \
    X(DeprecationWarning, Warning) X(PendingDeprecationWarning, Warning) X(RuntimeWarning, Warning) \
    X(FutureWarning, Warning) X(SyntaxWarning, Warning) X(ImportWarning, Warning) X(UnicodeWarning, Warning) \
    X(BytesWarning, Warning) X(ResourceWarning, Warning) X(EncodingWarning, Warning) X(SyntaxError, Exception) \
    X(IndentationError, SyntaxError) X(TabError, IndentationError) X(UnicodeTranslateError, UnicodeError) \
    X(BlockingIOError, OSError) X(ChildProcessError, OSError) X(ConnectionError, OSError) \
    X(BrokenPipeError, ConnectionError) X(ConnectionAbortedError, ConnectionError) \
    X(ConnectionRefusedError, ConnectionError) X(ConnectionResetError, ConnectionError) X(FileExistsError, OSError) \
    X(FileNotFoundError, OSError) X(InterruptedError, OSError) X(IsADirectoryError, OSError) \
    X(NotADirectoryError, OSError) X(PermissionError, OSError) X(ProcessLookupError, OSError)

#define CPY_DECLARE_EXCEPTION(name, base) extern PyObject *PyExc_##name;
CPY_EXCEPTIONS(CPY_DECLARE_EXCEPTION)
#undef CPY_DECLARE_EXCEPTION
#define PyExc_IOError PyExc_OSError
#define PyExc_EnvironmentError PyExc_OSError

/* What begins the struct of an exception. */
#define PyException_HEAD PyObject_HEAD PyObject *dict, *args, *cause, *context, *traceback;
typedef struct {
    PyException_HEAD
} PyBaseExceptionObject;

typedef struct {
    PyBaseExceptionObject base;
    PyObject *value;
} PyStopIterationObject;

void PyErr_SetNone(PyObject *type);
void PyErr_SetObject(PyObject *type, PyObject *value);
void PyErr_SetString(PyObject *type, const char *message);
void _PyErr_ChainExceptions(PyObject *type, PyObject *value, PyObject *traceback);       /* takes the three over */
PyObject *_PyErr_FormatFromCause(PyObject *type, const char *format, ...);              /* NULL */
void _PyErr_SetKeyError(PyObject *key);         /* also if that is a tuple, or None */
PyObject *PyErr_Format(PyObject *type, const char *format, ...);
PyObject *PyErr_FormatV(PyObject *type, const char *format, va_list args);
PyObject *PyErr_NoMemory(void);
int PyErr_BadArgument(void);
void _PyErr_BadInternalCall(const char *file, int line);
#define PyErr_BadInternalCall() _PyErr_BadInternalCall(__FILE__, __LINE__)
PyObject *PyErr_SetFromErrno(PyObject *type);
PyObject *PyErr_SetFromErrnoWithFilename(PyObject *type, const char *name);
PyObject *PyErr_SetFromErrnoWithFilenameObject(PyObject *type, PyObject *name);
PyObject *PyErr_SetFromErrnoWithFilenameObjects(PyObject *type, PyObject *name, PyObject *name2);
PyObject *PyErr_SetImportError(PyObject *message, PyObject *name, PyObject *path);
PyObject *PyErr_SetImportErrorSubclass(PyObject *type, PyObject *message, PyObject *name, PyObject *path);
PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **traceback);
void PyErr_Restore(PyObject *type, PyObject *value, PyObject *traceback);
void PyErr_NormalizeException(PyObject **type, PyObject **value, PyObject **traceback);
int PyErr_ExceptionMatches(PyObject *type);
int PyErr_GivenExceptionMatches(PyObject *error, PyObject *type);
PyObject *PyErr_NewException(const char *name, PyObject *base, PyObject *dict);
PyObject *PyErr_NewExceptionWithDoc(const char *name, const char *doc, PyObject *base, PyObject *dict);
void PyErr_WriteUnraisable(PyObject *op);
void PyErr_Print(void);
#define PyErr_PrintEx(set_variables) ((void)(set_variables), PyErr_Print())
int PyErr_WarnExplicit(PyObject *category, const char *message, const char *file, int line, const char *module, PyObject *registry);
int PyErr_ResourceWarning(PyObject *source, Py_ssize_t level, const char *format, ...);
int PyErr_WarnEx(PyObject *category, const char *message, Py_ssize_t level);
#define PyErr_Warn(category, message) PyErr_WarnEx((category), (message), 1)
int PyErr_WarnFormat(PyObject *category, Py_ssize_t level, const char *format, ...);
int PyErr_CheckSignals(void);
PyObject *PyException_GetCause(PyObject *op);
PyObject *PyException_GetTraceback(PyObject *op);
int PyException_SetTraceback(PyObject *op, PyObject *traceback);
PyObject *PyErr_GetHandledException(void);
void PyErr_SetHandledException(PyObject *value);
void PyErr_GetExcInfo(PyObject **type, PyObject **value, PyObject **traceback);
void PyErr_SetExcInfo(PyObject *type, PyObject *value, PyObject *traceback);     /* takes the references */
void PyException_SetCause(PyObject *op, PyObject *cause);
PyObject *PyException_GetContext(PyObject *op);
void PyException_SetContext(PyObject *op, PyObject *context);
_Py_NO_RETURN void Py_FatalError(const char *message);
#define PyExceptionClass_Check(op) \
    (PyType_Check(op) && PyType_FastSubclass((PyTypeObject *)(void *)(op), Py_TPFLAGS_BASE_EXC_SUBCLASS))
#define PyExceptionClass_Name(op) (((PyTypeObject *)(void *)(op))->tp_name)
#define PyExceptionInstance_Class(op) ((PyObject *)(void *)Py_TYPE(op))
#define PyExceptionInstance_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_BASE_EXC_SUBCLASS)

#endif
