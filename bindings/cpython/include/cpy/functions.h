/* functions.h - calls, in both directions, and arguments. */
#ifndef CPY_FUNCTIONS_H
#define CPY_FUNCTIONS_H

extern PyTypeObject PyCFunction_Type, PyMethod_Type, PyMethodDescr_Type, PyFunction_Type, PyClassMethod_Type, PyInstanceMethod_Type,
    PyStaticMethod_Type, PyProperty_Type, PyGetSetDescr_Type, PyMemberDescr_Type, PyClassMethodDescr_Type,
    PyWrapperDescr_Type;

#define METH_VARARGS 0x0001
#define METH_KEYWORDS 0x0002
#define METH_NOARGS 0x0004
#define METH_O 0x0008
#define METH_CLASS 0x0010
#define METH_STATIC 0x0020
#define METH_COEXIST 0x0040
#define METH_FASTCALL 0x0080
#define METH_METHOD 0x0200

typedef PyObject *(*PyCFunctionWithKeywords)(PyObject *, PyObject *, PyObject *);
typedef PyObject *(*_PyCFunctionFast)(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *(*_PyCFunctionFastWithKeywords)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
typedef PyObject *(*PyCMethod)(PyObject *, PyTypeObject *, PyObject *const *, size_t, PyObject *);
#define _PyCFunction_CAST(function) ((PyCFunction)(void (*)(void))(function))

typedef struct {
    PyObject_HEAD
    PyMethodDef *m_ml;
    PyObject *m_self, *m_module, *m_weakreflist;
    PyTypeObject *mm_class;         /* of METH_METHOD */
} PyCFunctionObject;
typedef PyCFunctionObject PyCMethodObject;

#define PyCFunction_Check(op) PyObject_TypeCheck(op, &PyCFunction_Type)
#define PyCFunction_CheckExact(op) Py_IS_TYPE(op, &PyCFunction_Type)
#define PyCFunction_GET_FUNCTION(op) (((PyCFunctionObject *)(void *)(op))->m_ml->ml_meth)
#define PyCFunction_GET_SELF(op) (((PyCFunctionObject *)(void *)(op))->m_self)
#define PyCFunction_GET_FLAGS(op) (((PyCFunctionObject *)(void *)(op))->m_ml->ml_flags)
PyObject *PyCFunction_NewEx(PyMethodDef *def, PyObject *self, PyObject *module);
#define PyCFunction_New(def, self) PyCFunction_NewEx((def), (self), NULL)
PyObject *PyCMethod_New(PyMethodDef *def, PyObject *self, PyObject *module, PyTypeObject *type);
#define PyCFunction_GET_CLASS(op) (((PyCFunctionObject *)(void *)(op))->mm_class)
PyCFunction PyCFunction_GetFunction(PyObject *op);
PyObject *PyCFunction_GetSelf(PyObject *op);
int PyCFunction_GetFlags(PyObject *op);

typedef struct {
    PyObject_HEAD
    PyObject *im_func, *im_self;
} PyMethodObject;
#define PyMethod_Check(op) Py_IS_TYPE(op, &PyMethod_Type)
#define PyMethod_GET_FUNCTION(op) (((PyMethodObject *)(void *)(op))->im_func)
#define PyMethod_GET_SELF(op) (((PyMethodObject *)(void *)(op))->im_self)
#define PyMethod_Function(op) PyMethod_GET_FUNCTION(op)
#define PyMethod_Self(op) PyMethod_GET_SELF(op)
PyObject *PyMethod_New(PyObject *function, PyObject *self);
#define PyFunction_Check(op) Py_IS_TYPE(op, &PyFunction_Type)

typedef struct { PyObject_HEAD PyTypeObject *d_type; PyObject *d_name, *d_qualname; } PyDescrObject;     /* d_qualname: NULL */
#define PyDescr_COMMON PyDescrObject d_common
typedef struct { PyDescr_COMMON; PyMethodDef *d_method; } PyMethodDescrObject;
typedef struct { PyDescr_COMMON; PyMemberDef *d_member; } PyMemberDescrObject;
typedef struct { PyDescr_COMMON; PyGetSetDef *d_getset; } PyGetSetDescrObject;
#define PyDescr_TYPE(op) (((PyDescrObject *)(void *)(op))->d_type)
#define PyDescr_NAME(op) (((PyDescrObject *)(void *)(op))->d_name)
PyObject *PyDescr_NewMethod(PyTypeObject *type, PyMethodDef *def);
PyObject *PyDescr_NewClassMethod(PyTypeObject *type, PyMethodDef *def);
PyObject *PyDescr_NewGetSet(PyTypeObject *type, PyGetSetDef *def);
PyObject *PyDescr_NewMember(PyTypeObject *type, PyMemberDef *def);
PyObject *PyStaticMethod_New(PyObject *callable);
PyObject *PyClassMethod_New(PyObject *callable);
PyObject *PyInstanceMethod_New(PyObject *callable);
PyObject *PyInstanceMethod_Function(PyObject *op);      /* borrowed */
#define PyInstanceMethod_Check(op) Py_IS_TYPE(op, &PyInstanceMethod_Type)
#define PyInstanceMethod_GET_FUNCTION(op) PyMethod_GET_FUNCTION(op)
#define PyDescr_IsData(op) (Py_TYPE(op)->tp_descr_set != NULL)

#define PY_VECTORCALL_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
#define PyVectorcall_NARGS(n) ((Py_ssize_t)((n) & ~PY_VECTORCALL_ARGUMENTS_OFFSET))
vectorcallfunc PyVectorcall_Function(PyObject *callable);
PyObject *PyVectorcall_Call(PyObject *callable, PyObject *args, PyObject *kwargs);
PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t n, PyObject *kwnames);
#define _PyObject_Vectorcall PyObject_Vectorcall
PyObject *PyObject_VectorcallMethod(PyObject *name, PyObject *const *args, size_t n, PyObject *kwnames);
PyObject *PyObject_VectorcallDict(PyObject *callable, PyObject *const *args, size_t n, PyObject *kwargs);
PyObject *PyObject_Call(PyObject *callable, PyObject *args, PyObject *kwargs);
PyObject *PyObject_CallObject(PyObject *callable, PyObject *args);
#define PyCFunction_Call PyObject_Call
#define PyEval_CallObject PyObject_CallObject
#define PyEval_CallFunction PyObject_CallFunction
#define PyEval_CallMethod PyObject_CallMethod
PyObject *PyEval_CallObjectWithKeywords(PyObject *callable, PyObject *args, PyObject *kwargs);      /* args may be NULL */
PyObject *PyObject_CallNoArgs(PyObject *callable);
PyObject *PyObject_CallOneArg(PyObject *callable, PyObject *arg);
PyObject *PyObject_CallFunction(PyObject *callable, const char *format, ...);
PyObject *PyObject_CallFunctionObjArgs(PyObject *callable, ...);
PyObject *PyObject_CallMethod(PyObject *op, const char *name, const char *format, ...);
PyObject *_PyObject_CallMethod(PyObject *op, PyObject *name, const char *format, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *op, PyObject *name, ...);
#define PyObject_CallMethodNoArgs(op, name) PyObject_CallMethodObjArgs((op), (name), NULL)
#define PyObject_CallMethodOneArg(op, name, arg) PyObject_CallMethodObjArgs((op), (name), (arg), NULL)
#define _PyObject_CallNoArg PyObject_CallNoArgs
#define _PyObject_CallOneArg PyObject_CallOneArg

/* The name of a method, as a static object. */
typedef struct _Py_Identifier {
    const char *string;
} _Py_Identifier;
#define _Py_IDENTIFIER(name) static _Py_Identifier PyId_##name = { #name }
#define _Py_static_string(variable, text) static _Py_Identifier variable = { text }
#define _PyObject_GetAttrId(op, id) PyObject_GetAttrString((op), (id)->string)
#define _PyObject_SetAttrId(op, id, value) PyObject_SetAttrString((op), (id)->string, (value))
#define _PyObject_CallMethodId(op, id, ...) PyObject_CallMethod((op), (id)->string, __VA_ARGS__)
#define _PyObject_CallMethodIdNoArgs(op, id) PyObject_CallMethod((op), (id)->string, NULL)
#define _PyObject_LookupAttrId(op, id, result) _PyObject_LookupAttrString((op), (id)->string, (result))
PyObject *_PyObject_CallMethodIdObjArgs(PyObject *op, _Py_Identifier *name, ...);
#define _PyObject_CallMethodIdOneArg(op, id, arg) PyObject_CallMethod((op), (id)->string, "(O)", (arg))

int PyArg_Parse(PyObject *args, const char *format, ...);
int PyArg_ParseTuple(PyObject *args, const char *format, ...);
int PyArg_ParseTupleAndKeywords(PyObject *args, PyObject *kwargs, const char *format, char **names, ...);
int PyArg_VaParse(PyObject *args, const char *format, va_list to);
int PyArg_VaParseTupleAndKeywords(PyObject *args, PyObject *kwargs, const char *format, char **names, va_list to);
#define Py_CLEANUP_SUPPORTED 0x20000    /* from a converter: it is called again, with NULL, if a later argument fails */
int PyArg_UnpackTuple(PyObject *args, const char *name, Py_ssize_t least, Py_ssize_t most, ...);
int PyArg_ValidateKeywordArguments(PyObject *kwargs);
PyObject *Py_BuildValue(const char *format, ...);
PyObject *Py_VaBuildValue(const char *format, va_list args);

/* For the code that Argument Clinic has generated. */
typedef struct _PyArg_Parser {
    const char *format;
    const char *const *keywords;
    const char *fname, *custom_msg;
    int pos, min, max;
    PyObject *kwtuple;
} _PyArg_Parser;
PyObject *const *_PyArg_UnpackKeywords(PyObject *const *args, Py_ssize_t nargs, PyObject *kwargs, PyObject *kwnames,
                                       _PyArg_Parser *parser, int least, int most, int least_keywords, PyObject **buffer);
int _PyArg_ParseStackAndKeywords(PyObject *const *args, Py_ssize_t n, PyObject *kwnames, _PyArg_Parser *description, ...);
int _PyArg_CheckPositional(const char *name, Py_ssize_t n, Py_ssize_t least, Py_ssize_t most);
int _PyArg_NoKeywords(const char *name, PyObject *kwargs);
int _PyArg_NoPositional(const char *name, PyObject *args);
void _PyArg_BadArgument(const char *function, const char *which, const char *wanted, PyObject *arg);

#endif
