/* object.h - objects, types, and what all objects have in common.
 *
 * A type begins with what rawrefcount.h needs to know of it, which PyType_Ready fills in from
 * CPython's slots. So a pointer to a type is a pointer to an rrc_type too. */
#ifndef CPY_OBJECT_H
#define CPY_OBJECT_H

typedef struct _typeobject PyTypeObject;

/* Laid out as an rrc_object, whose type is the beginning of this one's. */
typedef struct __attribute__((may_alias)) _object {
    Py_ssize_t ob_refcnt;
    void *ob_pypy_link;
    PyTypeObject *ob_type;
} PyObject;

typedef struct {
    PyObject ob_base;
    Py_ssize_t ob_size;
} PyVarObject;

#define PyObject_HEAD PyObject ob_base;
#define PyObject_VAR_HEAD PyVarObject ob_base;
#define _PyObject_IMMORTAL (RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16)

/* The same words begin an object and a type, where the pointer to the type has another type itself. */
#ifdef __cplusplus
extern "C++" {
struct _Py_AnyPointer {
    void *p;
    template <class T> operator T *() const { return static_cast<T *>(p); }
};
}
#define _Py_ANY(pointer) _Py_AnyPointer{ (void *)(pointer) }
#else
#define _Py_ANY(pointer) (void *)(pointer)
#endif

#define _PyObject_EXTRA_INIT _PyObject_IMMORTAL, (void *)(intptr_t)!    /* a count of 1, and the type, follow */
#define PyObject_HEAD_INIT(type) { _PyObject_IMMORTAL, NULL, _Py_ANY(type) },
#define PyVarObject_HEAD_INIT(type, size) { { _PyObject_IMMORTAL, NULL, _Py_ANY(type) }, (size) },

#define _PyObject_CAST(op) ((PyObject *)(op))
#define Py_TYPE(op) (_PyObject_CAST(op)->ob_type)
#define Py_REFCNT(op) _Py_RefcountOf(_PyObject_CAST(op))
#define _Py_RRC(op) ((rrc_object *)(void *)(op))
#define Py_SIZE(op) (*_Py_SizeOf(_PyObject_CAST(op)))
#define Py_IS_TYPE(op, type) (Py_TYPE(op) == (type))
#define Py_SET_TYPE(op, type) ((void)(_PyObject_CAST(op)->ob_type = (type)))
#define Py_SET_SIZE(op, size) ((void)(Py_SIZE(op) = (size)))

typedef PyObject *(*unaryfunc)(PyObject *);
typedef PyObject *(*binaryfunc)(PyObject *, PyObject *);
typedef PyObject *(*ternaryfunc)(PyObject *, PyObject *, PyObject *);
typedef int (*inquiry)(PyObject *);
typedef Py_ssize_t (*lenfunc)(PyObject *);
typedef PyObject *(*ssizeargfunc)(PyObject *, Py_ssize_t);
typedef PyObject *(*ssizessizeargfunc)(PyObject *, Py_ssize_t, Py_ssize_t);
typedef int (*ssizeobjargproc)(PyObject *, Py_ssize_t, PyObject *);
typedef int (*ssizessizeobjargproc)(PyObject *, Py_ssize_t, Py_ssize_t, PyObject *);
typedef int (*objobjargproc)(PyObject *, PyObject *, PyObject *);
typedef int (*objobjproc)(PyObject *, PyObject *);
typedef int (*printfunc)(PyObject *, FILE *, int);
typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef void (*freefunc)(void *);
typedef void (*destructor)(PyObject *);
typedef PyObject *(*getattrfunc)(PyObject *, char *);
typedef PyObject *(*getattrofunc)(PyObject *, PyObject *);
typedef int (*setattrfunc)(PyObject *, char *, PyObject *);
typedef int (*setattrofunc)(PyObject *, PyObject *, PyObject *);
typedef PyObject *(*reprfunc)(PyObject *);
typedef Py_hash_t (*hashfunc)(PyObject *);
typedef PyObject *(*richcmpfunc)(PyObject *, PyObject *, int);
typedef PyObject *(*getiterfunc)(PyObject *);
typedef enum { PYGEN_RETURN = 0, PYGEN_ERROR = -1, PYGEN_NEXT = 1 } PySendResult;
typedef PySendResult (*sendfunc)(PyObject *, PyObject *, PyObject **);
typedef PyObject *(*iternextfunc)(PyObject *);
typedef PyObject *(*descrgetfunc)(PyObject *, PyObject *, PyObject *);
typedef int (*descrsetfunc)(PyObject *, PyObject *, PyObject *);
typedef int (*initproc)(PyObject *, PyObject *, PyObject *);
typedef PyObject *(*newfunc)(PyTypeObject *, PyObject *, PyObject *);
typedef PyObject *(*allocfunc)(PyTypeObject *, Py_ssize_t);
typedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *);
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*getter)(PyObject *, void *);
typedef int (*setter)(PyObject *, PyObject *, void *);

/* Not in CPython: the slot tp_outside, for a wrapper of an object that has a reference count of its own (the foreign
   object, to which the wrapper owns one reference). It returns the number of references to the foreign object that are
   not the wrapper's. While there are any, the wrapper is alive, with all that it refers to. A tp_traverse visits
   the wrapper of each foreign object to which its own one has a reference, and such a visit explains one of them. The
   tp_clear drops what is visited. The slot must not change anything, or call anything of this API. Extensions that
   CPython compiles as well have this slot, and those visits, in #ifdef Py_tp_outside. */
typedef Py_ssize_t (*outsidefunc)(PyObject *);

/* ---- the buffer protocol ------------------------------------------------ */

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

typedef int (*getbufferproc)(PyObject *, Py_buffer *, int);
typedef void (*releasebufferproc)(PyObject *, Py_buffer *);

#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 1
#define PyBUF_WRITEABLE PyBUF_WRITABLE
#define PyBUF_FORMAT 4
#define PyBUF_ND 8
#define PyBUF_STRIDES (0x10 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x20 | PyBUF_STRIDES)
#define PyBUF_F_CONTIGUOUS (0x40 | PyBUF_STRIDES)
#define PyBUF_ANY_CONTIGUOUS (0x80 | PyBUF_STRIDES)
#define PyBUF_INDIRECT (0x100 | PyBUF_STRIDES)
#define PyBUF_CONTIG (PyBUF_ND | PyBUF_WRITABLE)
#define PyBUF_CONTIG_RO PyBUF_ND
#define PyBUF_STRIDED (PyBUF_STRIDES | PyBUF_WRITABLE)
#define PyBUF_STRIDED_RO PyBUF_STRIDES
#define PyBUF_RECORDS (PyBUF_STRIDES | PyBUF_WRITABLE | PyBUF_FORMAT)
#define PyBUF_RECORDS_RO (PyBUF_STRIDES | PyBUF_FORMAT)
#define PyBUF_FULL (PyBUF_INDIRECT | PyBUF_WRITABLE | PyBUF_FORMAT)
#define PyBUF_FULL_RO (PyBUF_INDIRECT | PyBUF_FORMAT)
#define PyBUF_READ 0x100
#define PyBUF_WRITE 0x200
#define PyBUF_MAX_NDIM 64

/* ---- groups of slots ---------------------------------------------------- */

typedef struct {
    binaryfunc nb_add, nb_subtract, nb_multiply, nb_remainder, nb_divmod;
    ternaryfunc nb_power;
    unaryfunc nb_negative, nb_positive, nb_absolute;
    inquiry nb_bool;
    unaryfunc nb_invert;
    binaryfunc nb_lshift, nb_rshift, nb_and, nb_xor, nb_or;
    unaryfunc nb_int;
    void *nb_reserved;
    unaryfunc nb_float;
    binaryfunc nb_inplace_add, nb_inplace_subtract, nb_inplace_multiply, nb_inplace_remainder;
    ternaryfunc nb_inplace_power;
    binaryfunc nb_inplace_lshift, nb_inplace_rshift, nb_inplace_and, nb_inplace_xor, nb_inplace_or;
    binaryfunc nb_floor_divide, nb_true_divide, nb_inplace_floor_divide, nb_inplace_true_divide;
    unaryfunc nb_index;
    binaryfunc nb_matrix_multiply, nb_inplace_matrix_multiply;
} PyNumberMethods;

typedef struct {
    lenfunc sq_length;
    binaryfunc sq_concat;
    ssizeargfunc sq_repeat, sq_item;
    void *was_sq_slice;
    ssizeobjargproc sq_ass_item;
    void *was_sq_ass_slice;
    objobjproc sq_contains;
    binaryfunc sq_inplace_concat;
    ssizeargfunc sq_inplace_repeat;
} PySequenceMethods;

typedef struct {
    lenfunc mp_length;
    binaryfunc mp_subscript;
    objobjargproc mp_ass_subscript;
} PyMappingMethods;

typedef struct {
    unaryfunc am_await, am_aiter, am_anext;
    sendfunc am_send;
} PyAsyncMethods;

typedef struct {
    getbufferproc bf_getbuffer;
    releasebufferproc bf_releasebuffer;
} PyBufferProcs;

/* ---- tables ------------------------------------------------------------- */

typedef struct PyMethodDef {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct PyGetSetDef {
    const char *name;
    getter get;
    setter set;
    const char *doc;
    void *closure;
} PyGetSetDef;

typedef struct PyMemberDef {
    const char *name;
    int type;
    Py_ssize_t offset;
    int flags;
    const char *doc;
} PyMemberDef;

/* ---- types -------------------------------------------------------------- */

typedef struct {
    rrc_type rrc;               /* (private) filled in by PyType_Ready */
    Py_ssize_t ob_size;
    unsigned char spare;        /* (private) likewise: how objects are kept for the next ones */
} _PyTypeHead;

struct _typeobject {
    _PyTypeHead ob_base;
    const char *tp_name;
    Py_ssize_t tp_basicsize, tp_itemsize;
    destructor tp_dealloc;
    Py_ssize_t tp_vectorcall_offset;
    getattrfunc tp_getattr;
    setattrfunc tp_setattr;
    PyAsyncMethods *tp_as_async;
    reprfunc tp_repr;
    PyNumberMethods *tp_as_number;
    PySequenceMethods *tp_as_sequence;
    PyMappingMethods *tp_as_mapping;
    hashfunc tp_hash;
    ternaryfunc tp_call;
    reprfunc tp_str;
    getattrofunc tp_getattro;
    setattrofunc tp_setattro;
    PyBufferProcs *tp_as_buffer;
    unsigned long tp_flags;
    const char *tp_doc;
    traverseproc tp_traverse;
    inquiry tp_clear;
    richcmpfunc tp_richcompare;
    Py_ssize_t tp_weaklistoffset;
    getiterfunc tp_iter;
    iternextfunc tp_iternext;
    PyMethodDef *tp_methods;
    PyMemberDef *tp_members;
    PyGetSetDef *tp_getset;
    PyTypeObject *tp_base;
    PyObject *tp_dict;
    descrgetfunc tp_descr_get;
    descrsetfunc tp_descr_set;
    Py_ssize_t tp_dictoffset;
    initproc tp_init;
    allocfunc tp_alloc;
    newfunc tp_new;
    freefunc tp_free;
    inquiry tp_is_gc;
    PyObject *tp_bases, *tp_mro, *tp_cache, *tp_subclasses, *tp_weaklist;
    destructor tp_del;
    unsigned tp_version_tag;
    destructor tp_finalize;
    vectorcallfunc tp_vectorcall;
    outsidefunc tp_outside;
    void *tp_token;
};

/* A type that was made while the program runs. */
typedef struct _heaptypeobject {
    PyTypeObject ht_type;
    PyAsyncMethods as_async;
    PyNumberMethods as_number;
    PyMappingMethods as_mapping;
    PySequenceMethods as_sequence;
    PyBufferProcs as_buffer;
    PyObject *ht_name, *ht_qualname, *ht_module;
    PyObject *weakrefs;             /* (private, like all that follows) */
    char *name_text;
    PyMemberDef *slots;             /* what `__slots__` of the class named; their names are ours */
    Py_ssize_t slot_count;
    PyMemberDef *members;           /* those of a spec, with offsets that do not depend on the base */
} PyHeapTypeObject;

/* The dict, or the list of weak references, stands where the VM wants it: behind the fields of the object. The type of an
   object says where, also if that is derived from the type with the flag. Types with items cannot have these. */
#define Py_TPFLAGS_MANAGED_WEAKREF (1ul << 3)
#define Py_TPFLAGS_MANAGED_DICT (1ul << 4)
#define Py_TPFLAGS_HAVE_FINALIZE (1ul << 0)
#define Py_TPFLAGS_SEQUENCE (1ul << 5)
#define Py_TPFLAGS_MAPPING (1ul << 6)
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1ul << 7)
#define Py_TPFLAGS_IMMUTABLETYPE (1ul << 8)
#define Py_TPFLAGS_HEAPTYPE (1ul << 9)
#define Py_TPFLAGS_BASETYPE (1ul << 10)
#define Py_TPFLAGS_HAVE_VECTORCALL (1ul << 11)
#define _Py_TPFLAGS_HAVE_VECTORCALL Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_READY (1ul << 12)
#define Py_TPFLAGS_READYING (1ul << 13)
#define Py_TPFLAGS_HAVE_GC (1ul << 14)
#define Py_TPFLAGS_METHOD_DESCRIPTOR (1ul << 17)
#define Py_TPFLAGS_HAVE_VERSION_TAG (1ul << 18)
#define Py_TPFLAGS_IS_ABSTRACT (1ul << 20)
#define Py_TPFLAGS_ITEMS_AT_END (1ul << 23)     /* behind tp_basicsize: see PyObject_GetItemData */
#define Py_TPFLAGS_LONG_SUBCLASS (1ul << 24)
#define Py_TPFLAGS_LIST_SUBCLASS (1ul << 25)
#define Py_TPFLAGS_TUPLE_SUBCLASS (1ul << 26)
#define Py_TPFLAGS_BYTES_SUBCLASS (1ul << 27)
#define Py_TPFLAGS_UNICODE_SUBCLASS (1ul << 28)
#define Py_TPFLAGS_DICT_SUBCLASS (1ul << 29)
#define Py_TPFLAGS_BASE_EXC_SUBCLASS (1ul << 30)
#define Py_TPFLAGS_TYPE_SUBCLASS (1ul << 31)
#define Py_TPFLAGS_DEFAULT 0ul

typedef struct {
    int slot;
    void *pfunc;
} PyType_Slot;

typedef struct {
    const char *name;
    int basicsize, itemsize;
    unsigned int flags;
    PyType_Slot *slots;
} PyType_Spec;

/* The numbers of slots are private to this header: a spec is compiled against it. */
#define CPY_SLOTS(X) \
    X(bf, getbuffer) X(bf, releasebuffer) X(mp, ass_subscript) X(mp, length) X(mp, subscript) \
    X(nb, absolute) X(nb, add) X(nb, and) X(nb, bool) X(nb, divmod) X(nb, float) X(nb, floor_divide) \
    X(nb, index) X(nb, inplace_add) X(nb, inplace_and) X(nb, inplace_floor_divide) X(nb, inplace_lshift) \
    X(nb, inplace_multiply) X(nb, inplace_or) X(nb, inplace_power) X(nb, inplace_remainder) \
    X(nb, inplace_rshift) X(nb, inplace_subtract) X(nb, inplace_true_divide) X(nb, inplace_xor) X(nb, int) \
    X(nb, invert) X(nb, lshift) X(nb, multiply) X(nb, negative) X(nb, or) X(nb, positive) X(nb, power) \
    X(nb, remainder) X(nb, rshift) X(nb, subtract) X(nb, true_divide) X(nb, xor) X(nb, matrix_multiply) \
    X(nb, inplace_matrix_multiply) X(sq, ass_item) X(sq, concat) X(sq, contains) X(sq, inplace_concat) \
    X(sq, inplace_repeat) X(sq, item) X(sq, length) X(sq, repeat) X(tp, alloc) X(tp, base) X(tp, bases) \
    X(tp, call) X(tp, clear) X(tp, dealloc) X(tp, del) X(tp, descr_get) X(tp, descr_set) X(tp, doc) \
    X(tp, getattr) X(tp, getattro) X(tp, hash) X(tp, init) X(tp, is_gc) X(tp, iter) X(tp, iternext) \
    X(tp, methods) X(tp, new) X(tp, repr) X(tp, richcompare) X(tp, setattr) X(tp, setattro) X(tp, str) \
    X(tp, traverse) X(tp, members) X(tp, getset) X(tp, free) X(tp, finalize) X(am, await) X(am, aiter) \
    X(am, anext) X(am, send) X(tp, outside) X(tp, token)

#define CPY_SLOT_NUMBER(group, name) Py_##group##_##name,
enum { CPY_NO_SLOT, CPY_SLOTS(CPY_SLOT_NUMBER) CPY_SLOT_END };
#define Py_tp_outside Py_tp_outside
#define Py_tp_token Py_tp_token
#define Py_TP_USE_SPEC NULL             /* a token: the address of the spec */

struct PyModuleDef;

extern PyTypeObject PyType_Type, PyBaseObject_Type, PySuper_Type;

int PyType_Ready(PyTypeObject *type);
PyObject *PyType_FromSpec(PyType_Spec *spec);
PyObject *PyType_FromSpecWithBases(PyType_Spec *spec, PyObject *bases);
PyObject *PyType_FromModuleAndSpec(PyObject *module, PyType_Spec *spec, PyObject *bases);
PyObject *PyType_GenericAlloc(PyTypeObject *type, Py_ssize_t n);
PyObject *PyType_GenericNew(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int PyType_IsSubtype(PyTypeObject *type, PyTypeObject *base);
void PyType_Modified(PyTypeObject *type);
unsigned long PyType_GetFlags(PyTypeObject *type);
void *PyType_GetSlot(PyTypeObject *type, int slot);
PyObject *PyType_GetModule(PyTypeObject *type);
void *PyType_GetModuleState(PyTypeObject *type);
PyObject *PyType_GetModuleByDef(PyTypeObject *type, struct PyModuleDef *def);
PyObject *PyType_GetName(PyTypeObject *type);
PyObject *PyType_GetQualName(PyTypeObject *type);

/* The fields that a spec with a negative basicsize adds to those of its base, and the items of an object. */
void *PyObject_GetTypeData(PyObject *op, PyTypeObject *type);
Py_ssize_t PyType_GetTypeDataSize(PyTypeObject *type);
void *PyObject_GetItemData(PyObject *op);

/* The first type of the mro with this token. 1: *result, which may be left out, is a new reference. 0: there is none. */
int PyType_GetBaseByToken(PyTypeObject *type, void *token, PyTypeObject **result);
PyObject *PyType_GetModuleByToken(PyTypeObject *type, const void *token);       /* new */

/* For a tp_traverse. They set no exception, and what they give is borrowed. */
#define PyObject_GetTypeData_DuringGC PyObject_GetTypeData
void *PyObject_GetItemData_DuringGC(PyObject *op);
PyObject *PyType_GetModule_DuringGC(PyTypeObject *type);
void *PyType_GetModuleState_DuringGC(PyTypeObject *type);
int PyType_GetBaseByToken_DuringGC(PyTypeObject *type, void *token, PyTypeObject **result);
PyObject *PyType_GetModuleByToken_DuringGC(PyTypeObject *type, const void *token);

PyObject *_PyType_Lookup(PyTypeObject *type, PyObject *name);           /* borrowed */
#define PyType_HasFeature(type, flag) (((type)->tp_flags & (flag)) != 0)
#define PyType_FastSubclass(type, flag) PyType_HasFeature(type, flag)
#define PyType_IS_GC(type) PyType_HasFeature(type, Py_TPFLAGS_HAVE_GC)
#define PyType_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_TYPE_SUBCLASS)
#define PyType_CheckExact(op) Py_IS_TYPE(op, &PyType_Type)
#define PyObject_TypeCheck(op, type) (Py_IS_TYPE(op, type) || PyType_IsSubtype(Py_TYPE(op), type))

/* ---- counts ------------------------------------------------------------- */

void _Py_NoReference(PyObject *op);         /* it may have been the last one */
rrc_heap *_Py_Heap(void);
#ifdef RRC_DEBUG
void _Py_CheckUse(PyObject *op, const char *function);      /* ends the program if it was borrowed, and is stale */
#endif

/* The references that C has. */
static inline Py_ssize_t _Py_RefcountOf(PyObject *op)
{
    return op->ob_refcnt >= RRC_REFCNT_FROM_PYPY_LIGHT ? op->ob_refcnt - RRC_REFCNT_FROM_PYPY_LIGHT
         : op->ob_refcnt >= RRC_REFCNT_FROM_PYPY ? op->ob_refcnt - RRC_REFCNT_FROM_PYPY : op->ob_refcnt;
}

#define Py_SET_REFCNT(op, n) _Py_SetRefcount(_PyObject_CAST(op), (n))
static inline void _Py_SetRefcount(PyObject *op, Py_ssize_t n)
{
    op->ob_refcnt += n - _Py_RefcountOf(op);
}

/* A deallocator keeps op, which has no reference left: it gets one. */
static inline void _Py_NewReference(PyObject *op)
{
    op->ob_refcnt = 1;
}

static inline void Py_INCREF_(PyObject *op)
{
#ifdef RRC_DEBUG
#ifndef CPY_VM
    _Py_CheckUse(op, "Py_INCREF");
#endif
    rrc_incref(_Py_Heap(), _Py_RRC(op));
#else
    op->ob_refcnt = (intptr_t)((uintptr_t)op->ob_refcnt + 1);
#endif
}

static inline void Py_DECREF_(PyObject *op)
{
#ifdef RRC_DEBUG
    rrc_decref(_Py_Heap(), _Py_RRC(op));
#else
    --op->ob_refcnt;
    if (RRCI_MAY_BE_BIAS(op->ob_refcnt))
        _Py_NoReference(op);
#endif
}

#define Py_INCREF(op) Py_INCREF_(_PyObject_CAST(op))
#define Py_DECREF(op) Py_DECREF_(_PyObject_CAST(op))

static inline void Py_XINCREF_(PyObject *op)
{
    if (op != NULL)
        Py_INCREF_(op);
}

static inline void Py_XDECREF_(PyObject *op)
{
    if (op != NULL)
        Py_DECREF_(op);
}

static inline PyObject *Py_NewRef_(PyObject *op)
{
    Py_INCREF_(op);
    return op;
}

static inline PyObject *Py_XNewRef_(PyObject *op)
{
    Py_XINCREF_(op);
    return op;
}

#define Py_XINCREF(op) Py_XINCREF_(_PyObject_CAST(op))
#define Py_XDECREF(op) Py_XDECREF_(_PyObject_CAST(op))
#define Py_NewRef(op) Py_NewRef_(_PyObject_CAST(op))
#define Py_XNewRef(op) Py_XNewRef_(_PyObject_CAST(op))
#define Py_IncRef(op) Py_XINCREF(op)
#define Py_DecRef(op) Py_XDECREF(op)

#define Py_CLEAR(op) \
    do { \
        PyObject *cpy_old = _PyObject_CAST(op); \
        if (cpy_old != NULL) { \
            (op) = NULL; \
            Py_DECREF(cpy_old); \
        } \
    } while (0)
#define Py_SETREF(op, value) \
    do { \
        PyObject *cpy_old = _PyObject_CAST(op); \
        (op) = (value); \
        Py_DECREF(cpy_old); \
    } while (0)
#define Py_XSETREF(op, value) \
    do { \
        PyObject *cpy_old = _PyObject_CAST(op); \
        (op) = (value); \
        Py_XDECREF(cpy_old); \
    } while (0)

/* ob_size: of a list that is still the host's, its items are fetched first. */
Py_ssize_t *_Py_SizeOfHosts(PyObject *op);

static inline Py_ssize_t *_Py_SizeOf(PyObject *op)
{
    return PyType_HasFeature(Py_TYPE(op), Py_TPFLAGS_LIST_SUBCLASS) ? _Py_SizeOfHosts(op)
                                                                    : &((PyVarObject *)(void *)op)->ob_size;
}

/* ---- singletons --------------------------------------------------------- */

extern PyObject _Py_NoneStruct, _Py_NotImplementedStruct, _Py_EllipsisObject;
#define Py_None (&_Py_NoneStruct)
#define Py_NotImplemented (&_Py_NotImplementedStruct)
#define Py_Ellipsis (&_Py_EllipsisObject)
#define Py_RETURN_NONE return Py_NewRef(Py_None)
#define Py_RETURN_NOTIMPLEMENTED return Py_NewRef(Py_NotImplemented)
#define Py_Is(x, y) ((x) == (y))
#define Py_IsNone(x) Py_Is(x, Py_None)
#define Py_IsTrue(x) Py_Is(x, Py_True)
#define Py_IsFalse(x) Py_Is(x, Py_False)

/* ---- what all objects have ---------------------------------------------- */

#define Py_LT 0
#define Py_LE 1
#define Py_EQ 2
#define Py_NE 3
#define Py_GT 4
#define Py_GE 5

#define Py_RETURN_RICHCOMPARE(a, b, op) \
    do { \
        switch (op) { \
        case Py_EQ: if ((a) == (b)) Py_RETURN_TRUE; Py_RETURN_FALSE; \
        case Py_NE: if ((a) != (b)) Py_RETURN_TRUE; Py_RETURN_FALSE; \
        case Py_LT: if ((a) < (b)) Py_RETURN_TRUE; Py_RETURN_FALSE; \
        case Py_GT: if ((a) > (b)) Py_RETURN_TRUE; Py_RETURN_FALSE; \
        case Py_LE: if ((a) <= (b)) Py_RETURN_TRUE; Py_RETURN_FALSE; \
        default: if ((a) >= (b)) Py_RETURN_TRUE; Py_RETURN_FALSE; \
        } \
    } while (0)

PyObject *PyObject_Repr(PyObject *op);
PyObject *PyObject_Str(PyObject *op);
PyObject *PyObject_ASCII(PyObject *op);
PyObject *PyObject_Format(PyObject *op, PyObject *spec);        /* spec may be NULL */
#define Py_PRINT_RAW 1                  /* for PyObject_Print: str, not repr */
int PyObject_Print(PyObject *op, FILE *out, int flags);
PyObject *PyObject_RichCompare(PyObject *a, PyObject *b, int op);
int PyObject_RichCompareBool(PyObject *a, PyObject *b, int op);
PyObject *PyObject_GetAttr(PyObject *op, PyObject *name);
PyObject *PyObject_GetAttrString(PyObject *op, const char *name);
int PyObject_SetAttr(PyObject *op, PyObject *name, PyObject *value);
int PyObject_SetAttrString(PyObject *op, const char *name, PyObject *value);
#define PyObject_DelAttr(op, name) PyObject_SetAttr(op, name, NULL)
#define PyObject_DelAttrString(op, name) PyObject_SetAttrString(op, name, NULL)
int PyObject_HasAttr(PyObject *op, PyObject *name);
int _PyObject_LookupAttr(PyObject *op, PyObject *name, PyObject **result);     /* 0: there is none, and no exception is set */
int _PyObject_LookupAttrString(PyObject *op, const char *name, PyObject **result);
PyObject *_PyObject_GetState(PyObject *op);     /* what __getstate__ gives, or the attributes, or None */
int PyObject_HasAttrString(PyObject *op, const char *name);
PyObject *PyObject_GenericGetAttr(PyObject *op, PyObject *name);
PyObject *_PyObject_GenericGetAttrWithDict(PyObject *op, PyObject *name, PyObject *dict, int suppress);
int PyObject_GenericSetAttr(PyObject *op, PyObject *name, PyObject *value);
PyObject *PyObject_GenericGetDict(PyObject *op, void *context);
int PyObject_GenericSetDict(PyObject *op, PyObject *value, void *context);
PyObject **_PyObject_GetDictPtr(PyObject *op);
int PyObject_VisitManagedDict(PyObject *op, visitproc visit, void *arg);
void PyObject_ClearManagedDict(PyObject *op);
#define _PyObject_VisitManagedDict PyObject_VisitManagedDict
#define _PyObject_ClearManagedDict PyObject_ClearManagedDict
PyObject *PyObject_SelfIter(PyObject *op);
Py_hash_t PyObject_Hash(PyObject *op);
Py_hash_t PyObject_HashNotImplemented(PyObject *op);
Py_hash_t _Py_HashPointer(const void *p);
Py_hash_t _Py_HashBytes(const void *bytes, Py_ssize_t n);
int PyObject_IsTrue(PyObject *op);
int PyObject_Not(PyObject *op);
int PyCallable_Check(PyObject *op);
PyObject *PyObject_Type(PyObject *op);
int PyObject_AsFileDescriptor(PyObject *op);
int _PyLong_FileDescriptor_Converter(PyObject *op, void *result);
#define _PyType_Name(type) (strrchr((type)->tp_name, '.') != NULL ? strrchr((type)->tp_name, '.') + 1 : (type)->tp_name)
int PyObject_IsInstance(PyObject *op, PyObject *type);
int PyObject_IsSubclass(PyObject *derived, PyObject *type);
int Py_ReprEnter(PyObject *op);         /* 1: the text of op is being made already. -1: a failure */
void Py_ReprLeave(PyObject *op);        /* after Py_ReprEnter gave 0 */
int Py_EnterRecursiveCall(const char *where);
void Py_LeaveRecursiveCall(void);

#endif
