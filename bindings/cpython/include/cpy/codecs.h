/* codecs.h - from bytes to text and back. utf-8, latin-1, ascii, utf-16, utf-32 and unicode_escape are there, and what
 * functions know that were registered. errors: NULL, "strict", "ignore", "replace", "backslashreplace",
 * "xmlcharrefreplace", "surrogateescape", of UTF-8 "surrogatepass", or a handler that was registered. */
#ifndef CPY_CODECS_H
#define CPY_CODECS_H

PyObject *PyUnicode_Decode(const char *bytes, Py_ssize_t n, const char *encoding, const char *errors);
PyObject *PyUnicode_DecodeUTF8(const char *bytes, Py_ssize_t n, const char *errors);
PyObject *PyUnicode_DecodeUTF8Stateful(const char *bytes, Py_ssize_t n, const char *errors, Py_ssize_t *consumed);
/* order: NULL, or -1 for little, 1 for big, 0 for what a mark says. */
PyObject *PyUnicode_DecodeUTF16Stateful(const char *bytes, Py_ssize_t n, const char *errors, int *order, Py_ssize_t *consumed);
PyObject *PyUnicode_DecodeUTF32Stateful(const char *bytes, Py_ssize_t n, const char *errors, int *order, Py_ssize_t *consumed);
#define PyUnicode_DecodeUTF16(bytes, n, errors, order) PyUnicode_DecodeUTF16Stateful((bytes), (n), (errors), (order), NULL)
#define PyUnicode_DecodeUTF32(bytes, n, errors, order) PyUnicode_DecodeUTF32Stateful((bytes), (n), (errors), (order), NULL)
PyObject *PyUnicode_DecodeLatin1(const char *bytes, Py_ssize_t n, const char *errors);
PyObject *PyUnicode_DecodeASCII(const char *bytes, Py_ssize_t n, const char *errors);
PyObject *PyUnicode_DecodeUnicodeEscape(const char *bytes, Py_ssize_t n, const char *errors);
#define PyUnicode_DecodeLocale(bytes, errors) PyUnicode_DecodeUTF8((bytes), (Py_ssize_t)strlen(bytes), (errors))
#define PyUnicode_DecodeLocaleAndSize PyUnicode_DecodeUTF8
PyObject *PyUnicode_AsEncodedString(PyObject *op, const char *encoding, const char *errors);
PyObject *PyUnicode_AsUTF8String(PyObject *op);
PyObject *PyUnicode_AsUTF16String(PyObject *op);        /* these two begin with a mark of the order */
PyObject *PyUnicode_AsUTF32String(PyObject *op);
PyObject *PyUnicode_AsASCIIString(PyObject *op);
PyObject *PyUnicode_AsLatin1String(PyObject *op);
PyObject *PyUnicode_AsUnicodeEscapeString(PyObject *op);
#define PyUnicode_EncodeLocale(op, errors) PyUnicode_AsEncodedString((op), "utf-8", (errors))

int PyCodec_Register(PyObject *search);
int PyCodec_Unregister(PyObject *search);
int PyCodec_KnownEncoding(const char *encoding);        /* sets no exception */
PyObject *PyCodec_Encoder(const char *encoding);
PyObject *PyCodec_Decoder(const char *encoding);
PyObject *PyCodec_Encode(PyObject *op, const char *encoding, const char *errors);
PyObject *PyCodec_Decode(PyObject *op, const char *encoding, const char *errors);

/* A handler gets the exception, and gives (what takes the place, where to go on), or raises it. */
int PyCodec_RegisterError(const char *name, PyObject *handler);
PyObject *PyCodec_LookupError(const char *name);
PyObject *PyCodec_StrictErrors(PyObject *error);
PyObject *PyCodec_IgnoreErrors(PyObject *error);
PyObject *PyCodec_ReplaceErrors(PyObject *error);
PyObject *PyCodec_XMLCharRefReplaceErrors(PyObject *error);
PyObject *PyCodec_BackslashReplaceErrors(PyObject *error);

/* The fields of UnicodeDecodeError, and of the two others. */
PyObject *PyUnicodeDecodeError_Create(const char *encoding, const char *bytes, Py_ssize_t n, Py_ssize_t start, Py_ssize_t end, const char *reason);
PyObject *PyUnicodeDecodeError_GetEncoding(PyObject *error);
PyObject *PyUnicodeDecodeError_GetObject(PyObject *error);
PyObject *PyUnicodeDecodeError_GetReason(PyObject *error);
int PyUnicodeDecodeError_GetStart(PyObject *error, Py_ssize_t *start);
int PyUnicodeDecodeError_GetEnd(PyObject *error, Py_ssize_t *end);
int PyUnicodeDecodeError_SetStart(PyObject *error, Py_ssize_t start);
int PyUnicodeDecodeError_SetEnd(PyObject *error, Py_ssize_t end);
int PyUnicodeDecodeError_SetReason(PyObject *error, const char *reason);
#define PyUnicodeEncodeError_GetEncoding PyUnicodeDecodeError_GetEncoding
#define PyUnicodeEncodeError_GetObject PyUnicodeDecodeError_GetObject
#define PyUnicodeEncodeError_GetReason PyUnicodeDecodeError_GetReason
#define PyUnicodeEncodeError_GetStart PyUnicodeDecodeError_GetStart
#define PyUnicodeEncodeError_GetEnd PyUnicodeDecodeError_GetEnd
#define PyUnicodeEncodeError_SetStart PyUnicodeDecodeError_SetStart
#define PyUnicodeEncodeError_SetEnd PyUnicodeDecodeError_SetEnd
#define PyUnicodeEncodeError_SetReason PyUnicodeDecodeError_SetReason
#define PyUnicodeTranslateError_GetObject PyUnicodeDecodeError_GetObject
#define PyUnicodeTranslateError_GetReason PyUnicodeDecodeError_GetReason
#define PyUnicodeTranslateError_GetStart PyUnicodeDecodeError_GetStart
#define PyUnicodeTranslateError_GetEnd PyUnicodeDecodeError_GetEnd
#define PyUnicodeTranslateError_SetStart PyUnicodeDecodeError_SetStart
#define PyUnicodeTranslateError_SetEnd PyUnicodeDecodeError_SetEnd
#define PyUnicodeTranslateError_SetReason PyUnicodeDecodeError_SetReason

#endif
