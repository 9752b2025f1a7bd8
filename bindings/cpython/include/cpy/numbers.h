/* numbers.h - int, bool, float and complex. Each side has its own copy: numbers never change. */
#ifndef CPY_NUMBERS_H
#define CPY_NUMBERS_H

extern PyTypeObject PyLong_Type, PyBool_Type, PyFloat_Type;

/* The value is the sum of digits * 2**(30*i); the sign of ob_size is its sign. */
typedef struct _longobject {
    PyVarObject ob_base;
    uint32_t ob_digit[1];
} PyLongObject;

typedef uint32_t digit;
typedef int32_t sdigit;
typedef uint64_t twodigits;
typedef int64_t stwodigits;
#define PyLong_SHIFT 30
#define PyLong_BASE ((digit)1 << PyLong_SHIFT)
#define PyLong_MASK ((digit)(PyLong_BASE - 1))

#define PyLong_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_LONG_SUBCLASS)
#define PyLong_CheckExact(op) Py_IS_TYPE(op, &PyLong_Type)

PyObject *PyLong_FromLong(long n);
PyObject *PyLong_FromUnsignedLong(unsigned long n);
PyObject *PyLong_FromLongLong(long long n);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long n);
PyObject *PyLong_FromSsize_t(Py_ssize_t n);
PyObject *PyLong_FromSize_t(size_t n);
PyObject *PyLong_FromDouble(double n);
PyObject *PyLong_FromVoidPtr(void *p);
PyObject *PyLong_FromString(const char *text, char **end, int base);
PyLongObject *_PyLong_New(Py_ssize_t n);        /* n digits, which are 0 */
PyObject *PyLong_FromUnicodeObject(PyObject *text, int base);
long PyLong_AsLong(PyObject *op);
long PyLong_AsLongAndOverflow(PyObject *op, int *overflow);
long long PyLong_AsLongLong(PyObject *op);
long long PyLong_AsLongLongAndOverflow(PyObject *op, int *overflow);
Py_ssize_t PyLong_AsSsize_t(PyObject *op);
size_t PyLong_AsSize_t(PyObject *op);
unsigned long PyLong_AsUnsignedLong(PyObject *op);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *op);
unsigned long PyLong_AsUnsignedLongMask(PyObject *op);
unsigned long long PyLong_AsUnsignedLongLongMask(PyObject *op);
double PyLong_AsDouble(PyObject *op);
void *PyLong_AsVoidPtr(PyObject *op);
#define PyLong_FromPid PyLong_FromLong
#define PyLong_AsPid PyLong_AsLong
int _PyLong_AsInt(PyObject *op);
PyObject *_PyLong_DivmodNear(PyObject *a, PyObject *b); /* the quotient that is next, or even, and the remainder */
PyObject *_PyLong_FromUid(unsigned id);           /* (-1 for the id that stands for none) */
PyObject *_PyLong_FromGid(unsigned id);
int _Py_Uid_Converter(PyObject *op, unsigned *id); /* for the format O& */
int _Py_Gid_Converter(PyObject *op, unsigned *id);
int _PyLong_Sign(PyObject *op);
size_t _PyLong_NumBits(PyObject *op);
PyObject *_PyLong_FromByteArray(const unsigned char *bytes, size_t n, int little, int is_signed);
int _PyLong_AsByteArray(PyLongObject *v, unsigned char *bytes, size_t n, int little, int is_signed);

extern PyLongObject _Py_FalseStruct, _Py_TrueStruct;
#define Py_False ((PyObject *)(void *)&_Py_FalseStruct)
#define Py_True ((PyObject *)(void *)&_Py_TrueStruct)
#define Py_RETURN_TRUE return Py_NewRef(Py_True)
#define Py_RETURN_FALSE return Py_NewRef(Py_False)
#define PyBool_Check(op) Py_IS_TYPE(op, &PyBool_Type)
PyObject *PyBool_FromLong(long n);

typedef struct {
    PyObject_HEAD
    double ob_fval;
} PyFloatObject;

#define PyFloat_Check(op) PyObject_TypeCheck(op, &PyFloat_Type)
#define PyFloat_CheckExact(op) Py_IS_TYPE(op, &PyFloat_Type)
#define PyFloat_AS_DOUBLE(op) (((PyFloatObject *)(void *)(op))->ob_fval)
PyObject *PyFloat_FromDouble(double n);
PyObject *PyFloat_FromString(PyObject *text);
double PyFloat_AsDouble(PyObject *op);
double PyFloat_GetMax(void);
double PyFloat_GetMin(void);
int PyFloat_Pack2(double x, char *p, int little);       /* IEEE 754's formats of 2, 4 and 8 bytes */
int PyFloat_Pack4(double x, char *p, int little);
int PyFloat_Pack8(double x, char *p, int little);
double PyFloat_Unpack2(const char *p, int little);
double PyFloat_Unpack4(const char *p, int little);
double PyFloat_Unpack8(const char *p, int little);
#define _PyFloat_Pack2(x, p, little) PyFloat_Pack2((x), (char *)(p), (little))
#define _PyFloat_Pack4(x, p, little) PyFloat_Pack4((x), (char *)(p), (little))
#define _PyFloat_Pack8(x, p, little) PyFloat_Pack8((x), (char *)(p), (little))
#define _PyFloat_Unpack2(p, little) PyFloat_Unpack2((const char *)(p), (little))
#define _PyFloat_Unpack4(p, little) PyFloat_Unpack4((const char *)(p), (little))
#define _PyFloat_Unpack8(p, little) PyFloat_Unpack8((const char *)(p), (little))
double PyOS_string_to_double(const char *text, char **end, PyObject *overflow);

typedef struct {
    double real, imag;
} Py_complex;

typedef struct {
    PyObject_HEAD
    Py_complex cval;
} PyComplexObject;

extern PyTypeObject PyComplex_Type;
#define PyComplex_Check(op) PyObject_TypeCheck(op, &PyComplex_Type)
#define PyComplex_CheckExact(op) Py_IS_TYPE(op, &PyComplex_Type)
PyObject *PyComplex_FromCComplex(Py_complex z);
PyObject *PyComplex_FromDoubles(double real, double imag);
double PyComplex_RealAsDouble(PyObject *op);
double PyComplex_ImagAsDouble(PyObject *op);
Py_complex PyComplex_AsCComplex(PyObject *op);
Py_complex _Py_c_sum(Py_complex a, Py_complex b);       /* what is not possible sets errno to EDOM or ERANGE */
Py_complex _Py_c_diff(Py_complex a, Py_complex b);
Py_complex _Py_c_neg(Py_complex z);
Py_complex _Py_c_prod(Py_complex a, Py_complex b);
Py_complex _Py_c_quot(Py_complex a, Py_complex b);
Py_complex _Py_c_pow(Py_complex a, Py_complex b);
double _Py_c_abs(Py_complex z);

#define Py_DTSF_SIGN 1
#define Py_DTSF_ADD_DOT_0 2
#define Py_DTSF_ALT 4
#define Py_DTST_FINITE 0
#define Py_DTST_INFINITE 1
#define Py_DTST_NAN 2
char *PyOS_double_to_string(double n, char code, int precision, int flags, int *type);
#define PyOS_snprintf snprintf
#define PyFPE_START_PROTECT(message, leave)
#define PyFPE_END_PROTECT(value)

#endif
