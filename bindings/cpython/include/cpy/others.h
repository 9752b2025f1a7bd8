/* others.h - weak references, capsules, threads. */
#ifndef CPY_OTHERS_H
#define CPY_OTHERS_H

extern PyTypeObject _PyWeakref_RefType, _PyWeakref_ProxyType, _PyWeakref_CallableProxyType, PyCapsule_Type;

typedef struct _PyWeakReference {
    PyObject_HEAD
    PyObject *wr_object, *wr_callback;
    Py_hash_t hash;
    struct _PyWeakReference *wr_prev, *wr_next;
    size_t made_for;            /* (private) if the object waited as garbage: the collection that had found it */
} PyWeakReference;

#define PyWeakref_CheckRef(op) PyObject_TypeCheck(op, &_PyWeakref_RefType)
#define PyWeakref_CheckProxy(op) (Py_IS_TYPE(op, &_PyWeakref_ProxyType) || Py_IS_TYPE(op, &_PyWeakref_CallableProxyType))
#define PyWeakref_Check(op) (PyWeakref_CheckRef(op) || PyWeakref_CheckProxy(op))
#define PyWeakref_CheckRefExact(op) Py_IS_TYPE(op, &_PyWeakref_RefType)
PyObject *PyWeakref_NewRef(PyObject *op, PyObject *callback);
PyObject *PyWeakref_NewProxy(PyObject *op, PyObject *callback);
PyObject *PyWeakref_GetObject(PyObject *ref);                   /* borrowed */
#define PyWeakref_GET_OBJECT(ref) PyWeakref_GetObject(_PyObject_CAST(ref))
void PyObject_ClearWeakRefs(PyObject *op);
#define PyType_SUPPORTS_WEAKREFS(type) ((type)->tp_weaklistoffset > 0)

typedef void (*PyCapsule_Destructor)(PyObject *);
#define PyCapsule_CheckExact(op) Py_IS_TYPE(op, &PyCapsule_Type)
PyObject *PyCapsule_New(void *pointer, const char *name, PyCapsule_Destructor at_end);
void *PyCapsule_GetPointer(PyObject *op, const char *name);
const char *PyCapsule_GetName(PyObject *op);
void *PyCapsule_GetContext(PyObject *op);
int PyCapsule_SetContext(PyObject *op, void *context);
int PyCapsule_SetPointer(PyObject *op, void *pointer);
int PyCapsule_SetName(PyObject *op, const char *name);
PyCapsule_Destructor PyCapsule_GetDestructor(PyObject *op);
int PyCapsule_SetDestructor(PyObject *op, PyCapsule_Destructor at_end);
int PyCapsule_IsValid(PyObject *op, const char *name);
void *PyCapsule_Import(const char *name, int no_block);

/* A VM is used by one thread at a time, which can leave it for a while. No lock is given away by that. */
typedef struct _is PyInterpreterState;                          /* a VM */
typedef struct _ts {
    PyInterpreterState *interp;     /* each has one thread at a time */
    PyObject *curexc_type, *curexc_value, *curexc_traceback;    /* the exception that is set; the value may be NULL */
    int gilstate_counter;           /* (pybind11 counts there) */
} PyThreadState;
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *state);
PyThreadState *PyThreadState_Swap(PyThreadState *state);
#define PyEval_AcquireThread PyEval_RestoreThread
#define PyEval_ReleaseThread(state) ((void)(state), (void)PyEval_SaveThread())
PyThreadState *PyThreadState_New(PyInterpreterState *interp);   /* ends the program: no thread gets a VM that it has not had */
#define PyThreadState_Clear(state) ((void)(state))
#define PyThreadState_Delete(state) ((void)(state))
#define PyThreadState_DeleteCurrent() ((void)0)

/* A thread that has left its VM comes back for a while, such as in a callback of a library. No thread gets a VM by that
   which it has not had before. */
typedef enum { PyGILState_LOCKED, PyGILState_UNLOCKED } PyGILState_STATE;
PyGILState_STATE PyGILState_Ensure(void);
void PyGILState_Release(PyGILState_STATE before);
int PyGILState_Check(void);
PyThreadState *PyGILState_GetThisThreadState(void);
#define Py_BEGIN_ALLOW_THREADS { PyThreadState *_save = PyEval_SaveThread();
#define Py_BLOCK_THREADS PyEval_RestoreThread(_save);
#define Py_UNBLOCK_THREADS _save = PyEval_SaveThread();
#define Py_END_ALLOW_THREADS PyEval_RestoreThread(_save); }

/* Nanoseconds of clocks. info is not filled. */
typedef int64_t _PyTime_t;
typedef struct {
    const char *implementation;
    int monotonic, adjustable;
    double resolution;
} _Py_clock_info_t;
_PyTime_t _PyTime_GetSystemClock(void);
_PyTime_t _PyTime_GetMonotonicClock(void);
_PyTime_t _PyTime_GetPerfCounter(void);
int _PyTime_GetSystemClockWithInfo(_PyTime_t *t, _Py_clock_info_t *info);
int _PyTime_GetMonotonicClockWithInfo(_PyTime_t *t, _Py_clock_info_t *info);
int _PyTime_GetPerfCounterWithInfo(_PyTime_t *t, _Py_clock_info_t *info);
double _PyTime_AsSecondsDouble(_PyTime_t t);

/* Seconds as time_t, and as the calendar's fields. -1 after a failure. */
typedef enum { _PyTime_ROUND_FLOOR, _PyTime_ROUND_CEILING, _PyTime_ROUND_HALF_EVEN, _PyTime_ROUND_UP } _PyTime_round_t;
#define _PyTime_ROUND_TIMEOUT _PyTime_ROUND_UP
int _PyTime_FromMillisecondsObject(_PyTime_t *t, PyObject *op, _PyTime_round_t round);
int _PyTime_FromSecondsObject(_PyTime_t *t, PyObject *op, _PyTime_round_t round);
_PyTime_t _PyTime_AsMicroseconds(_PyTime_t t, _PyTime_round_t round);
_PyTime_t _PyTime_AsMilliseconds(_PyTime_t t, _PyTime_round_t round);
int _PyTime_AsTimeval(_PyTime_t t, struct timeval *result, _PyTime_round_t round);
#define _PyTime_AsTimeval_clamp(t, result, round) ((void)_PyTime_AsTimeval((t), (result), (round)))
struct timespec;
int _PyTime_AsTimespec(_PyTime_t t, struct timespec *result);
_PyTime_t _PyDeadline_Init(_PyTime_t timeout);              /* the monotonic time then */
_PyTime_t _PyDeadline_Get(_PyTime_t deadline);              /* how long it is until then */
time_t _PyLong_AsTime_t(PyObject *op);
int _PyTime_ObjectToTime_t(PyObject *op, time_t *seconds, _PyTime_round_t round);
int _PyTime_ObjectToTimeval(PyObject *op, time_t *seconds, long *microseconds, _PyTime_round_t round);
int _PyTime_AsTimevalTime_t(_PyTime_t t, time_t *seconds, int *microseconds, _PyTime_round_t round);
int _PyTime_localtime(time_t t, struct tm *tm);
int _PyTime_gmtime(time_t t, struct tm *tm);

/* Where an error arose: a code object has names, a frame a line. Nothing is run by them. */
typedef struct {
    PyObject_HEAD
    PyObject *co_filename, *co_name, *co_varnames;
    int co_argcount, co_posonlyargcount, co_kwonlyargcount, co_nlocals, co_flags, co_firstlineno;
} PyCodeObject;

typedef struct _frame {
    PyObject_HEAD
    struct _frame *f_back;          /* NULL */
    PyCodeObject *f_code;
    int f_lineno;
} PyFrameObject;

typedef struct _traceback {
    PyObject_HEAD
    struct _traceback *tb_next;
    PyFrameObject *tb_frame;
    int tb_lasti, tb_lineno;
} PyTracebackObject;

/* What variables of closures are in. */
typedef struct {
    PyObject_HEAD
    PyObject *ob_ref;               /* NULL: nothing is there */
} PyCellObject;
extern PyTypeObject PyCell_Type;
#define PyCell_Check(op) Py_IS_TYPE(op, &PyCell_Type)
#define PyCell_GET(op) (((PyCellObject *)(void *)(op))->ob_ref)
#define PyCell_SET(op, value) ((void)(PyCell_GET(op) = (value)))
PyObject *PyCell_New(PyObject *value);                  /* value may be NULL */
PyObject *PyCell_Get(PyObject *cell);                   /* new. NULL, without an exception: nothing is there */
int PyCell_Set(PyObject *cell, PyObject *value);

extern PyTypeObject PyCode_Type, PyFrame_Type, PyTraceBack_Type;
#define CO_OPTIMIZED 1
#define CO_NEWLOCALS 2
#define CO_VARARGS 4
#define CO_VARKEYWORDS 8
#define CO_NESTED 0x10
#define CO_GENERATOR 0x20
#define CO_COROUTINE 0x80
#define CO_ITERABLE_COROUTINE 0x100
#define CO_ASYNC_GENERATOR 0x200
PyCodeObject *PyCode_NewEmpty(const char *file, const char *function, int line);
PyCodeObject *PyCode_NewWithPosOnlyArgs(int args, int only_by_position, int only_by_name, int locals, int stack, int flags,
    PyObject *code, PyObject *consts, PyObject *names, PyObject *varnames, PyObject *freevars, PyObject *cellvars, PyObject *file,
    PyObject *function, PyObject *qualname, int line, PyObject *lines, PyObject *exceptions);
#define PyCode_New(args, ...) PyCode_NewWithPosOnlyArgs((args), 0, __VA_ARGS__)
PyFrameObject *PyFrame_New(PyThreadState *state, PyCodeObject *code, PyObject *globals, PyObject *locals);
#define PyFrame_GetCode(frame) ((PyCodeObject *)(void *)Py_NewRef((frame)->f_code))
#define PyFrame_GetBack(frame) ((PyFrameObject *)(void *)Py_XNewRef((frame)->f_back))
CPY_ABSENT("frames have no variables") PyObject *PyFrame_GetLocals(PyFrameObject *);       /* headers for all versions mention it */
#define PyFrame_GetLineNumber(frame) ((frame)->f_lineno)
int PyTraceBack_Here(PyFrameObject *frame);
#define PyTraceBack_Check(op) Py_IS_TYPE(op, &PyTraceBack_Type)
const char *Py_GetVersion(void);
extern const unsigned long Py_Version;
/* What the command line of CPython sets: 0 here. */
extern int Py_DebugFlag, Py_VerboseFlag, Py_QuietFlag, Py_InteractiveFlag, Py_InspectFlag, Py_OptimizeFlag, Py_NoSiteFlag,
    Py_BytesWarningFlag, Py_FrozenFlag, Py_IgnoreEnvironmentFlag, Py_DontWriteBytecodeFlag, Py_NoUserSiteDirectory,
    Py_UnbufferedStdioFlag, Py_HashRandomizationFlag, Py_IsolatedFlag;
PyThreadState *PyThreadState_Get(void);
#define PyThreadState_GET PyThreadState_Get
PyThreadState *_PyThreadState_UncheckedGet(void);               /* NULL: the thread has no VM */
PyInterpreterState *PyInterpreterState_Get(void);
PyInterpreterState *PyThreadState_GetInterpreter(PyThreadState *state);
int64_t PyInterpreterState_GetID(PyInterpreterState *state);
int Py_IsInitialized(void);
int _Py_IsFinalizing(void);
PyFrameObject *PyThreadState_GetFrame(PyThreadState *state);    /* NULL: there are no frames of the language */
#define PyCode_Check(op) Py_IS_TYPE(op, &PyCode_Type)
#define PyFrame_Check(op) Py_IS_TYPE(op, &PyFrame_Type)

#define PyInterpreterState_Main PyInterpreterState_Get
PyObject *PyThreadState_GetDict(void);                          /* borrowed; NULL: the thread has no VM */
#define PyInterpreterState_GetDict(state) ((void)(state), PyThreadState_GetDict())
#define PyThreadState_GetID(state) ((uint64_t)(uintptr_t)(state))
#define PyEval_InitThreads() ((void)0)
#define PyEval_ThreadsInitialized() 1
PyObject *PyEval_GetBuiltins(void);                             /* borrowed. There are no frames, and so no variables of one */
#define PyEval_GetGlobals() ((PyObject *)NULL)
#define PyEval_GetLocals() ((PyObject *)NULL)
#define PyEval_GetFrame() ((PyFrameObject *)NULL)
const char *PyEval_GetFuncName(PyObject *f);
const char *PyEval_GetFuncDesc(PyObject *f);

/* The process. */
void Py_GetArgcArgv(int *argc, wchar_t ***argv);                /* they stay. None, if the command is not pvm */
int Py_AtExit(void (*function)(void));                          /* when the VM has ended. -1: there are 32 already */
#define Py_GetPlatform() "cvm"
#define Py_GetCompiler() "[" __VERSION__ "]"
#define Py_GetBuildInfo() "cvm"
#define Py_GetCopyright() ""
typedef void (*PyOS_sighandler_t)(int);
PyOS_sighandler_t PyOS_getsig(int number);                      /* SIG_ERR after a failure */
PyOS_sighandler_t PyOS_setsig(int number, PyOS_sighandler_t handler);
#define PyOS_BeforeFork() ((void)0)
#define PyOS_AfterFork_Parent() ((void)0)
#define PyOS_AfterFork_Child() ((void)0)
#define PyTraceMalloc_Track(domain, p, size) ((void)(domain), (void)(p), (void)(size), -2)     /* -2: nobody traces */
#define PyTraceMalloc_Untrack(domain, p) ((void)(domain), (void)(p), -2)
extern const char *Py_FileSystemDefaultEncoding, *Py_FileSystemDefaultEncodeErrors;
extern int Py_HasFileSystemDefaultEncoding, Py_UTF8Mode;
#define PyOS_InterruptOccurred() 0
#define PyOS_CheckStack() 0
int PyFile_WriteObject(PyObject *op, PyObject *file, int flags);        /* by the method write of the file */
int PyFile_WriteString(const char *utf8, PyObject *file);

/* Kinds that the language does not have. */
typedef struct {
    PyObject_HEAD
    PyObject *gi_code;
} PyGenObject;
#define PyGen_Check(op) ((void)(op), 0)
#define PyGen_CheckExact(op) ((void)(op), 0)
#define PyCoro_CheckExact(op) ((void)(op), 0)
#define PyAsyncGen_CheckExact(op) ((void)(op), 0)
#define PyAIter_Check(op) ((void)(op), 0)

#define PyEllipsis_Type (*Py_TYPE(Py_Ellipsis))
#define _PyNone_Type (*Py_TYPE(Py_None))
#define _PyNotImplemented_Type (*Py_TYPE(Py_NotImplemented))
PyObject *PyObject_Dir(PyObject *op);
PyObject *PyObject_Bytes(PyObject *op);
PyObject *Py_GenericAlias(PyObject *origin, PyObject *args);

#endif
