/* unicode.h - str.
 *
 * A str that comes from the host has no data of its own until C looks at it: PyUnicode_READY
 * copies it. A str that is made in C has its data in C; the host then reads that. */
#ifndef CPY_UNICODE_H
#define CPY_UNICODE_H

typedef uint32_t Py_UCS4;
typedef uint16_t Py_UCS2;
typedef uint8_t Py_UCS1;
typedef wchar_t Py_UNICODE;
#define Py_UNICODE_SIZE SIZEOF_WCHAR_T
#define Py_UNICODE_WIDE
#define Py_USING_UNICODE

typedef struct {
    PyObject_HEAD
    Py_ssize_t length;              /* in characters; while kind is 0, in bytes of the host's string */
    Py_hash_t hash;                 /* -1: not known */
    unsigned char kind;             /* bytes of a character: 1, 2 or 4; 0: the data is the host's */
    unsigned char ascii, interned, seen;    /* seen: by the host. It must not change any more */
    void *data;                     /* behind the object, or PyMem_Malloc'ed */
    char *utf8;                     /* a copy in UTF-8; data itself if that is ASCII; or NULL */
    Py_ssize_t utf8_length;
    wchar_t *wstr;                  /* a copy for PyUnicode_AsUnicode, or NULL */
} PyUnicodeObject;
typedef PyUnicodeObject PyASCIIObject;
typedef PyUnicodeObject PyCompactUnicodeObject;

extern PyTypeObject PyUnicode_Type;
#define PyUnicode_Check(op) PyType_FastSubclass(Py_TYPE(op), Py_TPFLAGS_UNICODE_SUBCLASS)
#define PyUnicode_CheckExact(op) Py_IS_TYPE(op, &PyUnicode_Type)

enum PyUnicode_Kind { PyUnicode_WCHAR_KIND = 0, PyUnicode_1BYTE_KIND = 1, PyUnicode_2BYTE_KIND = 2, PyUnicode_4BYTE_KIND = 4 };

int _PyUnicode_Ready(PyObject *op);     /* -1 after a failure */

static inline PyUnicodeObject *_PyUnicode_Filled(const void *op)
{
    PyUnicodeObject *u = (PyUnicodeObject *)(uintptr_t)op;
    if (u->kind == 0)
        (void)_PyUnicode_Ready(&u->ob_base);
    return u;
}

static inline Py_UCS4 _PyUnicode_ReadAt(unsigned kind, const void *characters, Py_ssize_t i)
{
    return kind == 1 ? ((const Py_UCS1 *)characters)[i] : kind == 2 ? ((const Py_UCS2 *)characters)[i] : ((const Py_UCS4 *)characters)[i];
}

static inline void _PyUnicode_WriteAt(unsigned kind, void *characters, Py_ssize_t i, Py_UCS4 c)
{
    if (kind == 1)
        ((Py_UCS1 *)characters)[i] = (Py_UCS1)c;
    else if (kind == 2)
        ((Py_UCS2 *)characters)[i] = (Py_UCS2)c;
    else
        ((Py_UCS4 *)characters)[i] = c;
}

#define PyUnicode_READY(op) (((PyUnicodeObject *)(void *)(op))->kind != 0 ? 0 : _PyUnicode_Ready(_PyObject_CAST(op)))
#define PyUnicode_IS_READY(op) (((PyUnicodeObject *)(void *)(op))->kind != 0)
#define PyUnicode_KIND(op) ((enum PyUnicode_Kind)_PyUnicode_Filled(op)->kind)
#define PyUnicode_DATA(op) (_PyUnicode_Filled(op)->data)
#define PyUnicode_1BYTE_DATA(op) ((Py_UCS1 *)PyUnicode_DATA(op))
#define PyUnicode_2BYTE_DATA(op) ((Py_UCS2 *)PyUnicode_DATA(op))
#define PyUnicode_4BYTE_DATA(op) ((Py_UCS4 *)PyUnicode_DATA(op))
#define PyUnicode_GET_LENGTH(op) (_PyUnicode_Filled(op)->length)
#define PyUnicode_IS_ASCII(op) (_PyUnicode_Filled(op)->ascii)
#define PyUnicode_IS_COMPACT(op) 1
#define PyUnicode_IS_COMPACT_ASCII(op) PyUnicode_IS_ASCII(op)
#define PyUnicode_READ(kind, data, i) _PyUnicode_ReadAt((unsigned)(kind), (data), (i))
#define PyUnicode_READ_CHAR(op, i) PyUnicode_READ(PyUnicode_KIND(op), PyUnicode_DATA(op), (i))
#define PyUnicode_WRITE(kind, data, i, c) _PyUnicode_WriteAt((unsigned)(kind), (data), (i), (c))
#define PyUnicode_MAX_CHAR_VALUE(op) \
    (PyUnicode_IS_ASCII(op) ? 0x7fu : PyUnicode_KIND(op) == 1 ? 0xffu : PyUnicode_KIND(op) == 2 ? 0xffffu : 0x10ffffu)

PyObject *PyUnicode_New(Py_ssize_t size, Py_UCS4 largest);
PyObject *PyUnicode_FromString(const char *utf8);
PyObject *PyUnicode_FromStringAndSize(const char *utf8, Py_ssize_t size);
PyObject *PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t size);
PyObject *PyUnicode_FromUnicode(const Py_UNICODE *u, Py_ssize_t size);
PyObject *PyUnicode_FromWideChar(const wchar_t *u, Py_ssize_t size);
PyObject *PyUnicode_FromOrdinal(int c);
PyObject *PyUnicode_FromFormat(const char *format, ...);
PyObject *PyUnicode_FromFormatV(const char *format, va_list args);
PyObject *PyUnicode_Format(PyObject *format, PyObject *args);
PyObject *PyUnicode_FromObject(PyObject *op);
PyObject *PyUnicode_FromEncodedObject(PyObject *op, const char *encoding, const char *errors);
PyObject *PyUnicode_InternFromString(const char *utf8);
void PyUnicode_InternInPlace(PyObject **op);
#define PyUnicode_CHECK_INTERNED(op) (((PyUnicodeObject *)(void *)(op))->interned)
const char *PyUnicode_AsUTF8(PyObject *op);
#define _PyUnicode_AsString PyUnicode_AsUTF8
#define _PyUnicode_AsStringAndSize PyUnicode_AsUTF8AndSize
const char *PyUnicode_AsUTF8AndSize(PyObject *op, Py_ssize_t *size);
Py_UNICODE *PyUnicode_AsUnicode(PyObject *op);
Py_UCS4 *PyUnicode_AsUCS4Copy(PyObject *op);
Py_UCS4 *PyUnicode_AsUCS4(PyObject *op, Py_UCS4 *to, Py_ssize_t room, int with_zero);
Py_ssize_t PyUnicode_AsWideChar(PyObject *op, wchar_t *to, Py_ssize_t room);
wchar_t *PyUnicode_AsWideCharString(PyObject *op, Py_ssize_t *size);    /* PyMem_Free'd by the caller */
PyObject *_PyUnicode_Copy(PyObject *op);
#define PyUnicode_DecodeFSDefault PyUnicode_FromString                  /* (names of files are UTF-8) */
#define PyUnicode_DecodeFSDefaultAndSize PyUnicode_FromStringAndSize
#define PyUnicode_EncodeFSDefault PyUnicode_AsUTF8String
int PyUnicode_FSConverter(PyObject *op, void *result);                  /* for the format O&: a name of a file as bytes */
int PyUnicode_FSDecoder(PyObject *op, void *result);                    /* likewise as a str */
PyObject *PyOS_FSPath(PyObject *op);
const char *PyUnicode_GetDefaultEncoding(void);
#define PyUnicode_AS_UNICODE(op) PyUnicode_AsUnicode(_PyObject_CAST(op))
#define PyUnicode_GET_SIZE(op) PyUnicode_GET_LENGTH(op)
Py_ssize_t PyUnicode_GetLength(PyObject *op);
Py_UCS4 PyUnicode_ReadChar(PyObject *op, Py_ssize_t i);
int PyUnicode_WriteChar(PyObject *op, Py_ssize_t i, Py_UCS4 c);
Py_ssize_t PyUnicode_Fill(PyObject *op, Py_ssize_t start, Py_ssize_t n, Py_UCS4 c);
int PyUnicode_IsIdentifier(PyObject *op);
int PyUnicode_Resize(PyObject **op, Py_ssize_t size);
Py_ssize_t PyUnicode_CopyCharacters(PyObject *to, Py_ssize_t at, PyObject *from, Py_ssize_t start, Py_ssize_t n);
#define _PyUnicode_FastCopyCharacters(to, at, from, start, n) ((void)PyUnicode_CopyCharacters((to), (at), (from), (start), (n)))
PyObject *PyUnicode_Substring(PyObject *op, Py_ssize_t start, Py_ssize_t end);
PyObject *PyUnicode_Concat(PyObject *a, PyObject *b);
void PyUnicode_Append(PyObject **a, PyObject *b);
void PyUnicode_AppendAndDel(PyObject **a, PyObject *b);         /* takes b over */
PyObject *PyUnicode_Join(PyObject *separator, PyObject *items);
PyObject *PyUnicode_Translate(PyObject *op, PyObject *mapping, const char *errors);
PyObject *PyUnicode_Replace(PyObject *op, PyObject *from, PyObject *to, Py_ssize_t most);
Py_ssize_t PyUnicode_Find(PyObject *op, PyObject *part, Py_ssize_t start, Py_ssize_t end, int direction);
Py_ssize_t PyUnicode_FindChar(PyObject *op, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction);
PyObject *PyUnicode_Split(PyObject *op, PyObject *separator, Py_ssize_t most);      /* separator NULL: white space */
PyObject *PyUnicode_RSplit(PyObject *op, PyObject *separator, Py_ssize_t most);
PyObject *PyUnicode_Splitlines(PyObject *op, int keep_ends);
PyObject *PyUnicode_Partition(PyObject *op, PyObject *separator);
PyObject *PyUnicode_RPartition(PyObject *op, PyObject *separator);
Py_ssize_t PyUnicode_Count(PyObject *op, PyObject *part, Py_ssize_t start, Py_ssize_t end);
int PyUnicode_Tailmatch(PyObject *op, PyObject *part, Py_ssize_t start, Py_ssize_t end, int direction);
int PyUnicode_Contains(PyObject *op, PyObject *part);
int PyUnicode_Compare(PyObject *a, PyObject *b);
int PyUnicode_CompareWithASCIIString(PyObject *a, const char *b);
PyObject *PyUnicode_RichCompare(PyObject *a, PyObject *b, int op);
#define _PyUnicode_EQ(a, b) (PyUnicode_Compare((a), (b)) == 0)
#define _PyUnicode_EqualToASCIIString(op, text) (PyUnicode_CompareWithASCIIString((op), (text)) == 0)

/* Text that is put together part by part. */
typedef struct {
    PyObject *buffer;
    void *data;
    enum PyUnicode_Kind kind;
    Py_UCS4 maxchar;
    Py_ssize_t size, pos, min_length;
    Py_UCS4 min_char;
    unsigned char overallocate, readonly;
} _PyUnicodeWriter;

void _PyUnicodeWriter_Init(_PyUnicodeWriter *writer);
int _PyUnicodeWriter_PrepareInternal(_PyUnicodeWriter *writer, Py_ssize_t n, Py_UCS4 largest);
int _PyUnicodeWriter_PrepareKindInternal(_PyUnicodeWriter *writer, enum PyUnicode_Kind kind);
#define _PyUnicodeWriter_Prepare(writer, n, largest) \
    ((largest) <= (writer)->maxchar && (n) <= (writer)->size - (writer)->pos ? 0 \
     : (n) == 0 ? 0 : _PyUnicodeWriter_PrepareInternal((writer), (n), (largest)))
#define _PyUnicodeWriter_PrepareKind(writer, wanted) \
    ((wanted) <= (writer)->kind ? 0 : _PyUnicodeWriter_PrepareKindInternal((writer), (wanted)))
int _PyUnicodeWriter_WriteChar(_PyUnicodeWriter *writer, Py_UCS4 c);
int _PyUnicodeWriter_WriteStr(_PyUnicodeWriter *writer, PyObject *op);
int _PyUnicodeWriter_WriteSubstring(_PyUnicodeWriter *writer, PyObject *op, Py_ssize_t start, Py_ssize_t end);
int _PyUnicodeWriter_WriteASCIIString(_PyUnicodeWriter *writer, const char *text, Py_ssize_t n);
int _PyUnicodeWriter_WriteLatin1String(_PyUnicodeWriter *writer, const char *text, Py_ssize_t n);
PyObject *_PyUnicodeWriter_Finish(_PyUnicodeWriter *writer);
void _PyUnicodeWriter_Dealloc(_PyUnicodeWriter *writer);

int _Py_IsSpace(Py_UCS4 c);
int _Py_IsAlpha(Py_UCS4 c);
Py_UCS4 _PyUnicode_ToLowercase(Py_UCS4 c);
Py_UCS4 _PyUnicode_ToUppercase(Py_UCS4 c);
#define Py_UNICODE_ISSPACE(c) _Py_IsSpace(c)
#define Py_UNICODE_ISALPHA(c) _Py_IsAlpha(c)
#define Py_UNICODE_ISALNUM(c) (_Py_IsAlpha(c) || Py_UNICODE_ISDECIMAL(c))
#define Py_UNICODE_TOLOWER(c) _PyUnicode_ToLowercase(c)
#define Py_UNICODE_TOUPPER(c) _PyUnicode_ToUppercase(c)
#define Py_UNICODE_ISLINEBREAK(c) \
    (((c) >= 0x0a && (c) <= 0x0d) || ((c) >= 0x1c && (c) <= 0x1e) || (c) == 0x85 || (c) == 0x2028 || (c) == 0x2029)
#define Py_UNICODE_ISDIGIT(c) Py_UNICODE_ISDECIMAL(c)
#define Py_UNICODE_ISNUMERIC(c) Py_UNICODE_ISDECIMAL(c)
#define Py_UNICODE_TODECIMAL(c) (Py_UNICODE_ISDECIMAL(c) ? (int)((c) - '0') : -1)
#define Py_UNICODE_TONUMERIC(c) ((double)Py_UNICODE_TODECIMAL(c))
#define Py_UNICODE_TODIGIT(c) Py_UNICODE_TODECIMAL(c)
#define Py_UNICODE_REPLACEMENT_CHARACTER ((Py_UCS4)0xfffd)
#define Py_UNICODE_HIGH_SURROGATE(c) (0xd800 - (0x10000 >> 10) + ((c) >> 10))
#define Py_UNICODE_LOW_SURROGATE(c) (0xdc00 + ((c) & 0x3ff))
#define Py_UNICODE_ISDECIMAL(c) ((c) >= '0' && (c) <= '9')
#define Py_UNICODE_IS_SURROGATE(c) ((c) >= 0xd800 && (c) <= 0xdfff)
#define Py_UNICODE_IS_HIGH_SURROGATE(c) ((c) >= 0xd800 && (c) <= 0xdbff)
#define Py_UNICODE_IS_LOW_SURROGATE(c) ((c) >= 0xdc00 && (c) <= 0xdfff)
#define Py_UNICODE_JOIN_SURROGATES(high, low) ((((Py_UCS4)(high) & 0x3ff) << 10 | ((Py_UCS4)(low) & 0x3ff)) + 0x10000)

#endif
