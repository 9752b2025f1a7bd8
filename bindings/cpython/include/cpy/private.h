/* private.h - what CPython's own modules use of its private headers, and other packages, too. */
#ifndef CPY_PRIVATE_H
#define CPY_PRIVATE_H

/* ---- objects, calls --------------------------------------------------------- */

#define _Py_ID(name) (*_Py_Interned(#name))                     /* (its address is asked for) */
#define _Py_STR(name) (*_Py_Interned(cpy_str_##name))
#define _Py_DECLARE_STR(name, text) static const char *const cpy_str_##name = text
PyObject *_Py_Interned(const char *text);                       /* borrowed */
#define _PyObject_SIZE(type) ((type)->tp_basicsize)
#define _PyLong_GetZero() ((PyObject *)(void *)&_Py_Zero)       /* borrowed */
#define _PyLong_GetOne() ((PyObject *)(void *)&_Py_One)
extern PyLongObject _Py_Zero, _Py_One;
#define PyLong_AS_LONG PyLong_AsLong
#define _PyThreadState_GET PyThreadState_Get
#define _PyInterpreterState_GET PyInterpreterState_Get
#define _PY_FASTCALL_SMALL_STACK 5
#define _PyVectorcall_Function PyVectorcall_Function
#define _PyObject_CallNoArgs PyObject_CallNoArgs
#define _PyObject_CallNoArgsTstate(state, f) ((void)(state), PyObject_CallNoArgs(f))
#define _PyObject_CallMethodNoArgs PyObject_CallMethodNoArgs
#define _PyObject_CallMethodOneArg PyObject_CallMethodOneArg
#define _PyObject_FastCall(f, args, n) PyObject_Vectorcall((f), (args), (size_t)(n), NULL)
#define _PyObject_FastCallDict(f, args, n, kwargs) PyObject_VectorcallDict((f), (args), (n), (kwargs))
#define _PyObject_VectorcallTstate(state, f, args, n, names) ((void)(state), PyObject_Vectorcall((f), (args), (n), (names)))
PyObject *_PyObject_MakeTpCall(PyThreadState *state, PyObject *f, PyObject *const *args, Py_ssize_t n, PyObject *kwargs);
#define _Py_EnterRecursiveCall Py_EnterRecursiveCall
#define _Py_LeaveRecursiveCall Py_LeaveRecursiveCall
#define _Py_EnterRecursiveCallTstate(state, where) ((void)(state), Py_EnterRecursiveCall(where))
#define _Py_LeaveRecursiveCallTstate(state) ((void)(state), Py_LeaveRecursiveCall())
#define _PyArg_NoKwnames(name, names) ((names) == NULL || _PyArg_NoKeywords((name), (names)))
PyObject *_PyObject_LookupSpecial(PyObject *op, PyObject *name);        /* new, bound; NULL without an exception: none */
#define _PyObject_LookupSpecialId(op, id) _PyObject_LookupSpecial((op), _PyUnicode_FromId(id))
int _PyObject_IsAbstract(PyObject *op);
PyObject *_PyEval_GetBuiltin(PyObject *name);
#define _PyEval_GetBuiltinId(id) _PyEval_GetBuiltin(_PyUnicode_FromId(id))
#define _PyUnicode_FromId(id) _Py_Interned((id)->string)        /* borrowed */
#define _PyImport_GetModuleId(id) PyImport_GetModule(_PyUnicode_FromId(id))
#define _PyType_GetSubclasses(type) PyObject_CallMethod((PyObject *)(void *)(type), "__subclasses__", NULL)
#define Py_MakePendingCalls() 0

/* ---- containers ------------------------------------------------------------- */

#define _PyDict_Pop_KnownHash(op, key, hash, otherwise) ((void)(hash), _PyDict_Pop((op), (key), (otherwise)))
#define _PyDict_SetItemId(op, id, value) PyDict_SetItem((op), _PyUnicode_FromId(id), (value))
#define _PyDict_GetItemIdWithError(op, id) PyDict_GetItemWithError((op), _PyUnicode_FromId(id))
#define _PyDict_ContainsId(op, id) PyDict_Contains((op), _PyUnicode_FromId(id))
int _PyDict_Next(PyObject *op, Py_ssize_t *i, PyObject **key, PyObject **value, Py_hash_t *hash);
PyObject *_PyTuple_FromArray(PyObject *const *items, Py_ssize_t n);
int _PyEval_SliceIndexNotNone(PyObject *op, Py_ssize_t *i);

/* ---- numbers ---------------------------------------------------------------- */

static inline uint16_t _Py_bswap16(uint16_t n) { return __builtin_bswap16(n); }
static inline uint32_t _Py_bswap32(uint32_t n) { return __builtin_bswap32(n); }
static inline uint64_t _Py_bswap64(uint64_t n) { return __builtin_bswap64(n); }
static inline int _Py_popcount32(uint32_t n) { return __builtin_popcount(n); }
static inline int _Py_bit_length(unsigned long n) { return n != 0 ? SIZEOF_LONG * 8 - __builtin_clzl(n) : 0; }
PyObject *_PyLong_Lshift(PyObject *op, size_t n);
PyObject *_PyLong_Rshift(PyObject *op, size_t n);
PyObject *_PyLong_GCD(PyObject *a, PyObject *b);
double _PyLong_Frexp(PyLongObject *op, Py_ssize_t *e);          /* from 0.5 to below 1, rounded to even; op is that by 2^e */
extern const unsigned char _PyLong_DigitValue[256];             /* 37: no digit */
int _PyLong_UnsignedShort_Converter(PyObject *op, void *result);        /* for the format O& */
int _PyLong_UnsignedInt_Converter(PyObject *op, void *result);
int _PyLong_UnsignedLong_Converter(PyObject *op, void *result);
int _PyLong_UnsignedLongLong_Converter(PyObject *op, void *result);
int _PyLong_Size_t_Converter(PyObject *op, void *result);

/* ---- bytes and text --------------------------------------------------------- */

extern const char *Py_hexdigits;
PyObject *_Py_strhex_with_sep(const char *bytes, Py_ssize_t n, PyObject *separator, int group);        /* separator may be NULL */
PyObject *_Py_strhex_bytes_with_sep(const char *bytes, Py_ssize_t n, PyObject *separator, int group);
#define _Py_strhex(bytes, n) _Py_strhex_with_sep((bytes), (n), NULL, 0)
#define _Py_strhex_bytes(bytes, n) _Py_strhex_bytes_with_sep((bytes), (n), NULL, 0)
void _PyBytes_Repeat(char *to, Py_ssize_t n, const char *from, Py_ssize_t size);
Py_ssize_t _PyBytes_Find(const char *bytes, Py_ssize_t n, const char *part, Py_ssize_t size, Py_ssize_t offset);
Py_ssize_t _PyBytes_ReverseFind(const char *bytes, Py_ssize_t n, const char *part, Py_ssize_t size, Py_ssize_t offset);
#define _PyUnicode_Equal(a, b) (PyUnicode_Compare((a), (b)) == 0)

/* Bytes that grow: `at` is where the next ones go. */
typedef struct {
    PyObject *buffer;               /* NULL: small_buffer is it */
    Py_ssize_t allocated, min_size;
    int use_bytearray, overallocate;
    char small_buffer[512];
} _PyBytesWriter;
void _PyBytesWriter_Init(_PyBytesWriter *w);
void *_PyBytesWriter_Alloc(_PyBytesWriter *w, Py_ssize_t size);
void *_PyBytesWriter_Prepare(_PyBytesWriter *w, void *at, Py_ssize_t size);
void *_PyBytesWriter_Resize(_PyBytesWriter *w, void *at, Py_ssize_t size);
void *_PyBytesWriter_WriteBytes(_PyBytesWriter *w, void *at, const void *bytes, Py_ssize_t n);
PyObject *_PyBytesWriter_Finish(_PyBytesWriter *w, void *at);
void _PyBytesWriter_Dealloc(_PyBytesWriter *w);

/* Texts that are joined in the end. */
typedef struct { PyObject *large; } _PyAccu;
#define _PyAccu_Init(accu) (((accu)->large = PyList_New(0)) != NULL ? 0 : -1)
#define _PyAccu_Accumulate(accu, text) PyList_Append((accu)->large, (text))
PyObject *_PyAccu_FinishAsList(_PyAccu *accu);
#define _PyAccu_Destroy(accu) Py_CLEAR((accu)->large)

/* The capsule of the module unicodedata. */
#define PyUnicodeData_CAPSULE_NAME "unicodedata._ucnhash_CAPI"
typedef struct {
    int (*getname)(Py_UCS4 c, char *buffer, int size, int with_aliases);
    int (*getcode)(const char *name, int size, Py_UCS4 *c, int with_sequences);
} _PyUnicode_Name_CAPI;

/* ---- the system ------------------------------------------------------------- */

#define _Py_stat_struct stat
#define _Py_fstat_noraise fstat
int _Py_fstat(int fd, struct stat *status);
int _Py_dup(int fd);                                            /* -1, with an exception */
#define _PyIsSelectable_fd(fd) ((unsigned)(fd) < FD_SETSIZE)
int _PyOS_URandom(void *to, Py_ssize_t n);
#define _PyOS_URandomNonblock _PyOS_URandom

#endif
