/* codecs.c - from bytes to text and back: the encodings that are there, those that the program adds, and what deals with
 * what an encoding has not. */
#include "internal.h"

/* ---- the exceptions -------------------------------------------------------------
 *
 * Their arguments are their fields: the encoding, which UnicodeTranslateError has not, the object, start, end and the
 * reason. */

enum { ENCODING, OBJECT, START, END, REASON };

static int is_translation(PyObject *error) { return PyErr_GivenExceptionMatches(error, PyExc_UnicodeTranslateError); }
static int is_decoding(PyObject *error) { return PyErr_GivenExceptionMatches(error, PyExc_UnicodeDecodeError); }

/* Borrowed; NULL, with an exception: there is none. */
static PyObject *field_of(PyObject *error, int i)
{
    PyObject *args = ((PyBaseExceptionObject *)(void *)error)->args;
    i -= is_translation(error);
    if (args == NULL || !PyTuple_Check(args) || i < 0 || i >= PyTuple_GET_SIZE(args))
        return PyErr_Format(PyExc_TypeError, "this attribute is not set");
    return PyTuple_GET_ITEM(args, i);
}

/* Takes the value over. */
static int set_field(PyObject *error, int i, PyObject *value)
{
    PyObject **args = &((PyBaseExceptionObject *)(void *)error)->args, *changed;
    Py_ssize_t k, at = i - is_translation(error);
    changed = value != NULL && field_of(error, i) != NULL ? PyTuple_New(PyTuple_GET_SIZE(*args)) : NULL;
    for (k = 0; changed != NULL && k < PyTuple_GET_SIZE(changed); k++)
        PyTuple_SET_ITEM(changed, k, k == at ? Py_NewRef(value) : Py_NewRef(PyTuple_GET_ITEM(*args, k)));
    Py_XDECREF(value);
    if (changed == NULL)
        return -1;
    Py_SETREF(*args, changed);
    return 0;
}

PyObject *PyUnicodeDecodeError_GetEncoding(PyObject *error) { return Py_XNewRef(field_of(error, ENCODING)); }
PyObject *PyUnicodeDecodeError_GetObject(PyObject *error) { return Py_XNewRef(field_of(error, OBJECT)); }
PyObject *PyUnicodeDecodeError_GetReason(PyObject *error) { return Py_XNewRef(field_of(error, REASON)); }
int PyUnicodeDecodeError_SetStart(PyObject *error, Py_ssize_t start) { return set_field(error, START, PyLong_FromSsize_t(start)); }
int PyUnicodeDecodeError_SetEnd(PyObject *error, Py_ssize_t end) { return set_field(error, END, PyLong_FromSsize_t(end)); }
int PyUnicodeDecodeError_SetReason(PyObject *error, const char *reason) { return set_field(error, REASON, PyUnicode_FromString(reason)); }

/* The number, which is moved to between least and size. */
static int get_number(PyObject *error, int i, Py_ssize_t least, Py_ssize_t *n)
{
    PyObject *op = field_of(error, OBJECT), *number = op != NULL ? field_of(error, i) : NULL;
    Py_ssize_t size = number != NULL ? PyObject_Size(op) : -1;
    if (size < 0)
        return -1;
    *n = PyLong_AsSsize_t(number);
    if (*n == -1 && PyErr_Occurred())
        return -1;
    if (*n > size - 1 + least)
        *n = size - 1 + least;
    if (*n < least)
        *n = least;
    return 0;
}

int PyUnicodeDecodeError_GetStart(PyObject *error, Py_ssize_t *start) { return get_number(error, START, 0, start); }
int PyUnicodeDecodeError_GetEnd(PyObject *error, Py_ssize_t *end) { return get_number(error, END, 1, end); }

PyObject *PyUnicodeDecodeError_Create(const char *encoding, const char *bytes, Py_ssize_t n, Py_ssize_t start, Py_ssize_t end, const char *reason)
{
    return PyObject_CallFunction(PyExc_UnicodeDecodeError, "sy#nns", encoding, bytes, n, start, end, reason);
}

int py_unicode_error_init(PyObject *error, PyObject *args, PyObject *kwargs)
{
    PyObject *encoding, *op, *reason, *bytes;
    Py_ssize_t start, end;
    (void)kwargs;
    if (is_translation(error) ? !PyArg_ParseTuple(args, "UnnU", &op, &start, &end, &reason)
                              : !PyArg_ParseTuple(args, is_decoding(error) ? "UOnnU" : "UUnnU", &encoding, &op, &start, &end, &reason))
        return -1;
    Py_XSETREF(((PyBaseExceptionObject *)(void *)error)->args, Py_NewRef(args));
    if (!is_decoding(error) || PyBytes_Check(op))
        return 0;
    bytes = PyBytes_FromObject(op);
    return bytes != NULL ? set_field(error, OBJECT, bytes) : -1;
}

static void put_escape(py_text *out, Py_UCS4 c)
{
    char text[12];
    snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    py_put_text(out, text);
}

PyObject *py_unicode_error_str(PyObject *error)
{
    PyObject *encoding = is_translation(error) ? NULL : field_of(error, ENCODING), *op = field_of(error, OBJECT), *reason = field_of(error, REASON);
    const char *verb = is_decoding(error) ? "decode" : encoding != NULL ? "encode" : "translate", *what = is_decoding(error) ? "byte" : "character";
    PyObject *whose, *text;
    Py_ssize_t start, end;
    if (op == NULL || reason == NULL || PyUnicodeDecodeError_GetStart(error, &start) < 0 || PyUnicodeDecodeError_GetEnd(error, &end) < 0) {
        PyErr_Clear();
        return PyUnicode_New(0, 0);
    }
    whose = encoding != NULL ? PyUnicode_FromFormat("'%S' codec ", encoding) : PyUnicode_New(0, 0);
    if (whose == NULL)
        return NULL;
    if (end != start + 1 || start >= PyObject_Size(op)) {
        text = PyUnicode_FromFormat("%Ucan't %s %ss in position %zd-%zd: %S", whose, verb, what, start, end - 1, reason);
    } else {
        py_text name = { 0 };
        if (is_decoding(error)) {
            char byte[8];
            snprintf(byte, sizeof byte, "0x%02x", (unsigned char)PyBytes_AS_STRING(op)[start]);
            py_put_text(&name, byte);
        } else {
            py_put_text(&name, "'");
            put_escape(&name, PyUnicode_READ_CHAR(op, start));
            py_put_text(&name, "'");
        }
        py_put(&name, "", 1);
        text = name.full ? PyErr_NoMemory() : PyUnicode_FromFormat("%Ucan't %s %s %s in position %zd: %S", whose, verb, what, name.bytes, start, reason);
        py_text_free(&name);
    }
    Py_DECREF(whose);
    return text;
}

static PyObject *get_field(PyObject *error, void *i) { return Py_XNewRef(field_of(error, (int)(intptr_t)i)); }

static int assign_field(PyObject *error, PyObject *value, void *i)
{
    int at = (int)(intptr_t)i, is_number = at == START || at == END;
    if (value != NULL && (at == OBJECT || (is_number ? PyLong_Check(value) : PyUnicode_Check(value))))
        return set_field(error, at, Py_NewRef(value));
    PyErr_SetString(PyExc_TypeError, value == NULL ? "cannot delete attribute" : is_number ? "an integer is required" : "must be str");
    return -1;
}

PyGetSetDef py_unicode_error_getset[] = {
    { "encoding", get_field, assign_field, NULL, (void *)ENCODING }, { "object", get_field, assign_field, NULL, (void *)OBJECT },
    { "start", get_field, assign_field, NULL, (void *)START }, { "end", get_field, assign_field, NULL, (void *)END },
    { "reason", get_field, assign_field, NULL, (void *)REASON }, { NULL, NULL, NULL, NULL, NULL }
};

/* ---- handlers of errors -------------------------------------------------------------
 *
 * A handler gets the exception. It gives what takes the place of [start, end), and where to go on; or raises it. */

typedef struct part {
    PyObject *op;                   /* borrowed from the exception: a str, or bytes */
    Py_ssize_t start, end;
    int is_bytes;
} part;

static int part_of(PyObject *error, part *p)
{
    p->is_bytes = is_decoding(error);
    if (!p->is_bytes && !is_translation(error) && !PyErr_GivenExceptionMatches(error, PyExc_UnicodeEncodeError)) {
        PyErr_Format(PyExc_TypeError, "don't know how to handle %.200s in error callback", Py_TYPE(error)->tp_name);
        return 0;
    }
    p->op = field_of(error, OBJECT);
    return p->op != NULL && (p->is_bytes ? PyBytes_Check(p->op) : PyUnicode_Check(p->op)) && PyUnicodeDecodeError_GetStart(error, &p->start) == 0
        && PyUnicodeDecodeError_GetEnd(error, &p->end) == 0;
}

/* The text, in place of the part; it is freed. */
static PyObject *answer(py_text *text, Py_ssize_t end)
{
    PyObject *op = text->full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(text->length > 0 ? text->bytes : "", (Py_ssize_t)text->length);
    py_text_free(text);
    return op != NULL ? Py_BuildValue("(Nn)", op, end) : NULL;
}

PyObject *PyCodec_StrictErrors(PyObject *error)
{
    if (PyExceptionInstance_Check(error))
        PyErr_SetObject((PyObject *)(void *)Py_TYPE(error), error);
    else
        PyErr_SetString(PyExc_TypeError, "codec must pass exception instance");
    return NULL;
}

PyObject *PyCodec_IgnoreErrors(PyObject *error)
{
    part p;
    return part_of(error, &p) ? Py_BuildValue("(sn)", "", p.end) : NULL;
}

PyObject *PyCodec_ReplaceErrors(PyObject *error)
{
    part p;
    py_text out = { 0 };
    Py_ssize_t i;
    if (!part_of(error, &p))
        return NULL;
    for (i = p.start; i < p.end; i++)
        if (!p.is_bytes || i == p.start)
            py_put_text(&out, p.is_bytes || is_translation(error) ? "\xef\xbf\xbd" : "?");
    return answer(&out, p.end);
}

PyObject *PyCodec_BackslashReplaceErrors(PyObject *error)
{
    part p;
    py_text out = { 0 };
    Py_ssize_t i;
    if (!part_of(error, &p))
        return NULL;
    for (i = p.start; i < p.end; i++)
        put_escape(&out, p.is_bytes ? (unsigned char)PyBytes_AS_STRING(p.op)[i] : PyUnicode_READ_CHAR(p.op, i));
    return answer(&out, p.end);
}

PyObject *PyCodec_XMLCharRefReplaceErrors(PyObject *error)
{
    part p;
    py_text out = { 0 };
    Py_ssize_t i;
    char text[16];
    if (!part_of(error, &p))
        return NULL;
    if (p.is_bytes || is_translation(error))
        return PyErr_Format(PyExc_TypeError, "don't know how to handle %.200s in error callback", Py_TYPE(error)->tp_name);
    for (i = p.start; i < p.end; i++) {
        snprintf(text, sizeof text, "&#%u;", PyUnicode_READ_CHAR(p.op, i));
        py_put_text(&out, text);
    }
    return answer(&out, p.end);
}

/* Bytes that are no text become lone surrogates, and these become the bytes again. */
static PyObject *escape_surrogates(PyObject *error)
{
    part p;
    Py_UCS4 text[4];
    char bytes[64];
    Py_ssize_t i, n = 0;
    if (!part_of(error, &p))
        return NULL;
    if (p.is_bytes) {
        while (n < 4 && p.start + n < p.end && (PyBytes_AS_STRING(p.op)[p.start + n] & 0x80)) {
            text[n] = 0xdc00u + (unsigned char)PyBytes_AS_STRING(p.op)[p.start + n];
            n++;
        }
        return n > 0 ? Py_BuildValue("(Nn)", PyUnicode_FromKindAndData(4, text, n), p.start + n) : PyCodec_StrictErrors(error);
    }
    for (i = p.start; i < p.end && n < (Py_ssize_t)sizeof bytes; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(p.op, i);
        if (c < 0xdc80 || c > 0xdcff)
            return PyCodec_StrictErrors(error);
        bytes[n++] = (char)c;
    }
    return Py_BuildValue("(y#n)", bytes, n, i);
}

/* Of UTF-8: a surrogate stands in three bytes. */
static PyObject *pass_surrogates(PyObject *error)
{
    part p;
    unsigned char *s, bytes[3];
    Py_UCS4 c;
    if (!part_of(error, &p))
        return NULL;
    if (p.is_bytes) {
        s = (unsigned char *)PyBytes_AS_STRING(p.op) + p.start;
        c = PyBytes_GET_SIZE(p.op) - p.start >= 3 && s[0] == 0xed && (s[1] & 0xe0) == 0xa0 && (s[2] & 0xc0) == 0x80
          ? 0xd000u | (Py_UCS4)(s[1] & 0x3f) << 6 | (s[2] & 0x3fu) : 0;
        return c != 0 ? Py_BuildValue("(Nn)", PyUnicode_FromKindAndData(4, &c, 1), p.start + 3) : PyCodec_StrictErrors(error);
    }
    c = PyUnicode_READ_CHAR(p.op, p.start);
    if (!Py_UNICODE_IS_SURROGATE(c))
        return PyCodec_StrictErrors(error);
    bytes[0] = 0xed;
    bytes[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    bytes[2] = (unsigned char)(0x80 | (c & 0x3f));
    return Py_BuildValue("(y#n)", (char *)bytes, (Py_ssize_t)3, p.start + 1);
}

#define HANDLER(name, function) \
    static PyObject *name(PyObject *none, PyObject *error) { (void)none; return function(error); }
HANDLER(strict, PyCodec_StrictErrors)
HANDLER(ignore, PyCodec_IgnoreErrors)
HANDLER(replace, PyCodec_ReplaceErrors)
HANDLER(backslash, PyCodec_BackslashReplaceErrors)
HANDLER(references, PyCodec_XMLCharRefReplaceErrors)
HANDLER(escape, escape_surrogates)
HANDLER(pass, pass_surrogates)

static PyMethodDef handlers[] = {
    { "strict", strict, METH_O, NULL }, { "ignore", ignore, METH_O, NULL }, { "replace", replace, METH_O, NULL },
    { "backslashreplace", backslash, METH_O, NULL }, { "xmlcharrefreplace", references, METH_O, NULL },
    { "surrogateescape", escape, METH_O, NULL }, { "surrogatepass", pass, METH_O, NULL }, { NULL, NULL, 0, NULL }
};

/* The dict or list in py_state, borrowed. It is made when it is first needed. */
static PyObject *state_of(PyObject **place, PyObject *(*make)(void))
{
    if (*place == NULL)
        *place = make();
    return *place;
}

static PyObject *new_list(void) { return PyList_New(0); }

int PyCodec_RegisterError(const char *name, PyObject *handler)
{
    PyObject *all = state_of(&PY->error_handlers, PyDict_New);
    if (PyCallable_Check(handler))
        return all != NULL ? PyDict_SetItemString(all, name, handler) : -1;
    PyErr_SetString(PyExc_TypeError, "handler must be callable");
    return -1;
}

PyObject *PyCodec_LookupError(const char *name)
{
    PyObject *all = PY->error_handlers, *handler;
    PyMethodDef *def = handlers;
    name = name != NULL ? name : "strict";
    handler = all != NULL ? PyDict_GetItemString(all, name) : NULL;
    if (handler != NULL)
        return Py_NewRef(handler);
    while (def->ml_name != NULL && strcmp(def->ml_name, name) != 0)
        def++;
    return def->ml_name != NULL ? PyCFunction_New(def, NULL) : PyErr_Format(PyExc_LookupError, "unknown error handler name '%.400s'", name);
}

/* What the handler gives for the error, which is taken over: a new object, and *at. NULL after a failure. */
static PyObject *handle(const char *errors, PyObject *error, Py_ssize_t n, Py_ssize_t *at)
{
    PyObject *handler = error != NULL ? PyCodec_LookupError(errors) : NULL, *pair = handler != NULL ? PyObject_CallOneArg(handler, error) : NULL;
    PyObject *op = NULL;
    int is_bytes = error != NULL && is_decoding(error);
    if (pair != NULL && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2 && PyLong_Check(PyTuple_GET_ITEM(pair, 1))
        && (PyUnicode_Check(PyTuple_GET_ITEM(pair, 0)) || (!is_bytes && PyBytes_Check(PyTuple_GET_ITEM(pair, 0))))) {
        *at = PyLong_AsSsize_t(PyTuple_GET_ITEM(pair, 1));
        if (*at < 0 && !PyErr_Occurred())
            *at += n;
        if (!PyErr_Occurred() && (*at < 0 || *at > n))
            PyErr_Format(PyExc_IndexError, "position %zd from error handler out of bounds", *at);
        op = PyErr_Occurred() ? NULL : Py_NewRef(PyTuple_GET_ITEM(pair, 0));
    } else if (pair != NULL) {
        PyErr_Format(PyExc_TypeError, is_bytes ? "decoding error handler must return (str, int) tuple"
                                               : "encoding error handler must return (str/bytes, int) tuple");
    }
    Py_XDECREF(pair);
    Py_XDECREF(handler);
    Py_XDECREF(error);
    return op;
}

/* ---- the encodings that are there ------------------------------------------------------- */

typedef enum { UTF8, LATIN1, ASCII, UTF16, UTF32, ESCAPES } code_kind;

typedef struct code {
    const char *names;              /* without case, - and _, between blanks */
    const char *name;               /* in messages */
    code_kind kind;
    int order;                      /* of bytes: -1 little, 1 big, 0 as a mark says, or as this machine has it */
} code;

static const code codes[] = {
    { " utf8 u8 utf cp65001 ", "utf-8", UTF8, 0 }, { " latin1 iso88591 latin l1 88591 8859 cp819 ", "latin-1", LATIN1, 0 },
    { " ascii usascii 646 ", "ascii", ASCII, 0 }, { " utf16 u16 ", "utf-16", UTF16, 0 }, { " utf16le ", "utf-16-le", UTF16, -1 },
    { " utf16be ", "utf-16-be", UTF16, 1 }, { " utf32 u32 ", "utf-32", UTF32, 0 }, { " utf32le ", "utf-32-le", UTF32, -1 },
    { " utf32be ", "utf-32-be", UTF32, 1 }, { " unicodeescape ", "unicodeescape", ESCAPES, 0 }
};

/* NULL: it is none of these. */
static const code *code_of(const char *encoding)
{
    char name[24] = " ";
    size_t i, n = 1;
    for (; encoding != NULL && *encoding != '\0' && n < sizeof name - 2; encoding++)
        if (*encoding != '-' && *encoding != '_' && *encoding != ' ')
            name[n++] = (char)tolower((unsigned char)*encoding);
    name[n++] = ' ';
    name[n] = '\0';
    if (encoding == NULL)
        return &codes[0];
    for (i = 0; *encoding == '\0' && n > 2 && i < Py_ARRAY_LENGTH(codes); i++)
        if (strstr(codes[i].names, name) != NULL)
            return &codes[i];
    return NULL;
}

#define THIS_ORDER (PY_BIG_ENDIAN ? 1 : -1)

static int is_encodable(code_kind kind, Py_UCS4 c)
{
    return kind == LATIN1 ? c < 0x100 : kind == ASCII ? c < 0x80 : kind == ESCAPES || !Py_UNICODE_IS_SURROGATE(c);
}

static void put_unit(py_text *out, Py_UCS4 c, int bytes, int order)
{
    char unit[4];
    int i;
    for (i = 0; i < bytes; i++)
        unit[order < 0 ? i : bytes - 1 - i] = (char)(c >> 8 * i);
    py_put(out, unit, (size_t)bytes);
}

static void put_encoded(py_text *out, const code *how, Py_UCS4 c)
{
    int order = how->order != 0 ? how->order : THIS_ORDER;
    char bytes[4];
    if (how->kind == UTF8) {
        py_put(out, bytes, py_put_utf8((unsigned char *)bytes, c));
    } else if (how->kind == UTF16 && c >= 0x10000) {
        put_unit(out, Py_UNICODE_HIGH_SURROGATE(c), 2, order);
        put_unit(out, Py_UNICODE_LOW_SURROGATE(c), 2, order);
    } else if (how->kind == ESCAPES && (c == '\\' || c == '\n' || c == '\r' || c == '\t')) {
        py_put_text(out, c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else if (how->kind == ESCAPES && (c < ' ' || c > 0x7e)) {
        put_escape(out, c);
    } else {
        put_unit(out, c, how->kind == UTF16 ? 2 : how->kind == UTF32 ? 4 : 1, order);
    }
}

static const char *encoding_reason(const code *how)
{
    return how->kind == ASCII ? "ordinal not in range(128)" : how->kind == LATIN1 ? "ordinal not in range(256)" : "surrogates not allowed";
}

static PyObject *encoding_error(PyObject *op, const code *how, Py_ssize_t start, Py_ssize_t end)
{
    return PyObject_CallFunction(PyExc_UnicodeEncodeError, "sOnns", how->name, op, start, end, encoding_reason(how));
}

/* Puts what the handler gives for the characters from *at on, which moves on. 0 after a failure. */
static int put_handled(py_text *out, PyObject *op, const code *how, const char *errors, Py_ssize_t *at)
{
    Py_ssize_t start = *at, end = start + 1, n = PyUnicode_GET_LENGTH(op), bytes = how->kind == UTF16 ? 2 : how->kind == UTF32 ? 4 : 1, i;
    PyObject *instead;
    while (end < n && bytes == 1 && !is_encodable(how->kind, PyUnicode_READ_CHAR(op, end)))
        end++;
    instead = handle(errors, encoding_error(op, how, start, end), n, at);
    if (instead != NULL && PyBytes_Check(instead) && PyBytes_GET_SIZE(instead) % bytes == 0) {
        py_put(out, PyBytes_AS_STRING(instead), (size_t)PyBytes_GET_SIZE(instead));
    } else if (instead != NULL) {
        for (i = 0; PyUnicode_Check(instead) && i < PyUnicode_GET_LENGTH(instead) && is_encodable(how->kind, PyUnicode_READ_CHAR(instead, i)); i++)
            put_encoded(out, how, PyUnicode_READ_CHAR(instead, i));
        if (PyBytes_Check(instead) || i < PyUnicode_GET_LENGTH(instead)) {
            Py_CLEAR(instead);
            Py_XDECREF(handle("strict", encoding_error(op, how, start, end), n, at));
        }
    }
    Py_XDECREF(instead);
    return instead != NULL;
}

static PyObject *encode(PyObject *op, const code *how, const char *errors)
{
    py_text out = { 0 };
    PyObject *result = NULL;
    Py_ssize_t i = 0;
    int ok = PyUnicode_Check(op) ? PyUnicode_READY(op) == 0 : PyErr_BadArgument();
    if (ok && how->order == 0 && (how->kind == UTF16 || how->kind == UTF32))
        put_unit(&out, 0xfeff, how->kind == UTF16 ? 2 : 4, THIS_ORDER);
    while (ok && i < PyUnicode_GET_LENGTH(op)) {
        Py_UCS4 c = PyUnicode_READ_CHAR(op, i);
        if (is_encodable(how->kind, c)) {
            put_encoded(&out, how, c);
            i++;
        } else {
            ok = put_handled(&out, op, how, errors, &i);
        }
    }
    if (ok)
        result = out.full ? PyErr_NoMemory() : PyBytes_FromStringAndSize(out.bytes, (Py_ssize_t)out.length);
    py_text_free(&out);
    return result;
}

/* One character at s, which has n bytes: its length is given. Or minus the length of what is none, and the reason. */
static Py_ssize_t bad(const char **reason, const char *text, Py_ssize_t n)
{
    *reason = text;
    return -n;
}

static Py_ssize_t next_utf8(const unsigned char *s, Py_ssize_t n, Py_UCS4 *c, const char **reason)
{
    Py_ssize_t more = *s < 0x80 ? 0 : *s < 0xc2 || *s >= 0xf5 ? -1 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3, i;
    if (more < 0)
        return bad(reason, "invalid start byte", 1);
    *c = more == 0 ? *s : *s & (0x3fu >> more);
    for (i = 1; i <= more; i++) {
        if (i == n)
            return bad(reason, "unexpected end of data", n);
        if ((s[i] & 0xc0) != 0x80 || (i == 1 && ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0)
                                                 || (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] >= 0x90))))
            return bad(reason, "invalid continuation byte", i);
        *c = *c << 6 | (s[i] & 0x3f);
    }
    return more + 1;
}

static Py_UCS4 unit_at(const unsigned char *s, int bytes, int order)
{
    Py_UCS4 c = 0;
    int i;
    for (i = 0; i < bytes; i++)
        c |= (Py_UCS4)s[order < 0 ? i : bytes - 1 - i] << 8 * i;
    return c;
}

static Py_ssize_t next_utf16(const unsigned char *s, Py_ssize_t n, int order, Py_UCS4 *c, const char **reason)
{
    Py_UCS4 low;
    if (n < 2)
        return bad(reason, "truncated data", n);
    *c = unit_at(s, 2, order);
    if (!Py_UNICODE_IS_SURROGATE(*c))
        return 2;
    if (Py_UNICODE_IS_LOW_SURROGATE(*c))
        return bad(reason, "illegal encoding", 2);
    if (n < 4)
        return bad(reason, "unexpected end of data", n);
    low = unit_at(s + 2, 2, order);
    if (!Py_UNICODE_IS_LOW_SURROGATE(low))
        return bad(reason, "illegal UTF-16 surrogate", 2);
    *c = Py_UNICODE_JOIN_SURROGATES(*c, low);
    return 4;
}

static Py_ssize_t next_utf32(const unsigned char *s, Py_ssize_t n, int order, Py_UCS4 *c, const char **reason)
{
    if (n < 4)
        return bad(reason, "truncated data", n);
    *c = unit_at(s, 4, order);
    return *c > 0x10ffff ? bad(reason, "code point not in range(0x110000)", 4)
         : Py_UNICODE_IS_SURROGATE(*c) ? bad(reason, "code point in surrogate code point range(0xd800, 0xe000)", 4) : 4;
}

/* (A \ before a new line gives no character: *c is above all.) */
#define NO_CHARACTER 0x110000u

static Py_ssize_t next_escape(const unsigned char *s, Py_ssize_t n, Py_UCS4 *c, const char **reason)
{
    static const char letters[] = "abfnrtv\\'\"\n", meant[] = "\a\b\f\n\r\t\v\\'\"";
    const char *letter;
    Py_ssize_t digits, i;
    *c = *s;
    if (*s != '\\')
        return 1;
    if (n < 2)
        return bad(reason, "\\ at end of string", 1);
    letter = s[1] != '\0' ? strchr(letters, s[1]) : NULL;
    if (letter != NULL) {
        *c = *letter != '\n' ? (unsigned char)meant[letter - letters] : NO_CHARACTER;
        return 2;
    }
    if (s[1] >= '0' && s[1] <= '7') {
        for (*c = 0, i = 1; i < n && i < 4 && s[i] >= '0' && s[i] <= '7'; i++)
            *c = *c * 8 + (s[i] - '0');
        return i;
    }
    digits = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
    if (digits == 0)
        return s[1] == 'N' ? bad(reason, "malformed \\N character escape", 2) : 1;
    for (*c = 0, i = 2; i < n && i < 2 + digits && isxdigit(s[i]); i++)
        *c = *c << 4 | (Py_UCS4)(isdigit(s[i]) ? s[i] - '0' : tolower(s[i]) - 'a' + 10);
    if (i < 2 + digits)
        return bad(reason, digits == 2 ? "truncated \\xXX escape" : digits == 4 ? "truncated \\uXXXX escape" : "truncated \\UXXXXXXXX escape", i);
    return *c > 0x10ffff ? bad(reason, "illegal Unicode character", i) : i;
}

static Py_ssize_t next_of(const code *how, int order, const unsigned char *s, Py_ssize_t n, Py_UCS4 *c, const char **reason)
{
    *c = *s;
    switch (how->kind) {
    case UTF8: return next_utf8(s, n, c, reason);
    case UTF16: return next_utf16(s, n, order, c, reason);
    case UTF32: return next_utf32(s, n, order, c, reason);
    case ESCAPES: return next_escape(s, n, c, reason);
    case LATIN1: return 1;
    default: return *s < 0x80 ? 1 : bad(reason, "ordinal not in range(128)", 1);
    }
}

static void put_character(py_text *out, Py_UCS4 c)
{
    if (c < NO_CHARACTER)
        py_put(out, (const char *)&c, sizeof c);
}

/* A mark of the order of bytes at the beginning is passed over. */
static int order_of(const code *how, const unsigned char *s, Py_ssize_t n, Py_ssize_t *at)
{
    int bytes = how->kind == UTF16 ? 2 : 4, order;
    if (how->kind != UTF16 && how->kind != UTF32)
        return 0;
    for (order = -1; how->order == 0 && n >= bytes && order <= 1; order += 2)
        if (unit_at(s, bytes, order) == 0xfeff) {
            *at = bytes;
            return order;
        }
    return how->order;
}

static const char *name_of(const code *how, int order)
{
    return how->kind == UTF16 ? (order < 0 ? "utf-16-le" : "utf-16-be") : how->kind == UTF32 ? (order < 0 ? "utf-32-le" : "utf-32-be") : how->name;
}

/* consumed: NULL, or a character whose last bytes are missing is left, and *consumed says where. *order: 0, or that of the
   bytes; it becomes what a mark says. */
static PyObject *decode_from(const char *bytes, Py_ssize_t n, const code *how, const char *errors, int *order, Py_ssize_t *consumed)
{
    const unsigned char *s = (const unsigned char *)bytes;
    py_text out = { 0 };
    PyObject *whole = NULL, *result = NULL;
    Py_ssize_t at = 0, i;
    int ok = 1, effective;
    if (*order == 0)
        *order = order_of(how, s, n, &at);
    effective = *order != 0 ? *order : THIS_ORDER;
    while (ok && at < n) {
        Py_UCS4 c;
        const char *reason = NULL;
        Py_ssize_t length = next_of(how, effective, s + at, n - at, &c, &reason);
        PyObject *instead;
        if (length > 0) {
            put_character(&out, c);
            at += length;
            continue;
        }
        if (consumed != NULL && (strcmp(reason, "unexpected end of data") == 0 || strcmp(reason, "truncated data") == 0))
            break;
        whole = whole != NULL ? whole : PyBytes_FromStringAndSize(bytes, n);
        instead = whole == NULL ? NULL
                : handle(errors, PyObject_CallFunction(PyExc_UnicodeDecodeError, "sOnns", name_of(how, effective), whole, at, at - length, reason), n, &at);
        for (i = 0; instead != NULL && i < PyUnicode_GET_LENGTH(instead); i++)
            put_character(&out, PyUnicode_READ_CHAR(instead, i));
        ok = instead != NULL;
        Py_XDECREF(instead);
    }
    if (consumed != NULL)
        *consumed = at;
    if (ok)
        result = out.full ? PyErr_NoMemory() : PyUnicode_FromKindAndData(4, out.bytes, (Py_ssize_t)(out.length / sizeof(Py_UCS4)));
    Py_XDECREF(whole);
    py_text_free(&out);
    return result;
}

static PyObject *decode(const char *bytes, Py_ssize_t n, const code *how, const char *errors)
{
    int order = how->order;
    return how->kind == LATIN1 ? PyUnicode_FromKindAndData(1, bytes, n) : decode_from(bytes, n, how, errors, &order, NULL);
}

PyObject *py_decode_bad_utf8(const char *bytes, Py_ssize_t n, const char *errors) { return decode(bytes, n, &codes[0], errors); }
PyObject *py_encode_bad_utf8(PyObject *op, const char *errors) { return encode(op, &codes[0], errors); }
PyObject *PyUnicode_DecodeLatin1(const char *bytes, Py_ssize_t n, const char *errors) { return decode(bytes, n, code_of("latin1"), errors); }
PyObject *PyUnicode_DecodeASCII(const char *bytes, Py_ssize_t n, const char *errors) { return decode(bytes, n, code_of("ascii"), errors); }
PyObject *PyUnicode_DecodeUnicodeEscape(const char *bytes, Py_ssize_t n, const char *errors) { return decode(bytes, n, code_of("unicodeescape"), errors); }
PyObject *PyUnicode_AsASCIIString(PyObject *op) { return encode(op, code_of("ascii"), NULL); }
PyObject *PyUnicode_AsLatin1String(PyObject *op) { return encode(op, code_of("latin1"), NULL); }
PyObject *PyUnicode_AsUTF16String(PyObject *op) { return encode(op, code_of("utf16"), NULL); }
PyObject *PyUnicode_AsUTF32String(PyObject *op) { return encode(op, code_of("utf32"), NULL); }
PyObject *PyUnicode_AsUnicodeEscapeString(PyObject *op) { return encode(op, code_of("unicodeescape"), NULL); }

PyObject *PyUnicode_DecodeUTF16Stateful(const char *bytes, Py_ssize_t n, const char *errors, int *order, Py_ssize_t *consumed)
{
    int given = order != NULL ? *order : 0;
    PyObject *op = decode_from(bytes, n, code_of("utf16"), errors, &given, consumed);
    if (order != NULL)
        *order = given;
    return op;
}

PyObject *PyUnicode_DecodeUTF32Stateful(const char *bytes, Py_ssize_t n, const char *errors, int *order, Py_ssize_t *consumed)
{
    int given = order != NULL ? *order : 0;
    PyObject *op = decode_from(bytes, n, code_of("utf32"), errors, &given, consumed);
    if (order != NULL)
        *order = given;
    return op;
}

/* ---- encodings of the program -----------------------------------------------------------
 *
 * A function that was registered gets the name, and gives a tuple whose items are the encoder, the decoder, and what makes
 * readers and writers; or None. */

static PyObject *encode_here(PyObject *encoding, PyObject *args)
{
    PyObject *op, *bytes;
    const char *errors = NULL;
    if (!PyArg_ParseTuple(args, "U|z", &op, &errors))
        return NULL;
    bytes = PyUnicode_AsEncodedString(op, PyUnicode_AsUTF8(encoding), errors);
    return bytes != NULL ? Py_BuildValue("(Nn)", bytes, PyUnicode_GET_LENGTH(op)) : NULL;
}

static PyObject *decode_here(PyObject *encoding, PyObject *args)
{
    Py_buffer view;
    PyObject *text;
    const char *errors = NULL;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "y*|z", &view, &errors))
        return NULL;
    n = view.len;
    text = PyUnicode_Decode(view.buf, n, PyUnicode_AsUTF8(encoding), errors);
    PyBuffer_Release(&view);
    return text != NULL ? Py_BuildValue("(Nn)", text, n) : NULL;
}

static PyMethodDef encoder = { "encode", encode_here, METH_VARARGS, NULL }, decoder = { "decode", decode_here, METH_VARARGS, NULL };

int PyCodec_Register(PyObject *search)
{
    PyObject *all = state_of(&PY->codec_searches, new_list);
    if (PyCallable_Check(search))
        return all != NULL ? PyList_Append(all, search) : -1;
    PyErr_SetString(PyExc_TypeError, "argument must be callable");
    return -1;
}

int PyCodec_Unregister(PyObject *search)
{
    PyObject *all = PY->codec_searches;
    Py_ssize_t i;
    for (i = 0; all != NULL && i < PyList_GET_SIZE(all); i++)
        if (PyList_GET_ITEM(all, i) == search) {
            if (PY->codecs != NULL)
                PyDict_Clear(PY->codecs);
            return PyList_SetSlice(all, i, i + 1, NULL);
        }
    return 0;
}

/* The functions that were registered are asked. New; NULL without an exception: none knows the name. */
static PyObject *search_for(PyObject *name)
{
    PyObject *all = PY->codec_searches, *found = NULL;
    Py_ssize_t i;
    for (i = 0; all != NULL && found == NULL && i < PyList_GET_SIZE(all); i++) {
        found = PyObject_CallOneArg(PyList_GET_ITEM(all, i), name);
        if (found == NULL)
            return NULL;
        if (found == Py_None)
            Py_CLEAR(found);
        else if (!PyTuple_Check(found) || PyTuple_GET_SIZE(found) != 4) {
            PyErr_SetString(PyExc_TypeError, "codec search functions must return 4-tuples");
            Py_DECREF(found);
            return NULL;
        }
    }
    return found;
}

/* The tuple of an encoding, new. */
static PyObject *look_up(const char *encoding)
{
    PyObject *all = state_of(&PY->codecs, PyDict_New), *name, *found;
    char lower[100];
    size_t i;
    if (encoding == NULL)
        return PyErr_Format(PyExc_TypeError, "an encoding must be given");
    for (i = 0; encoding[i] != '\0' && i < sizeof lower - 1; i++)
        lower[i] = encoding[i] == ' ' || encoding[i] == '-' ? '_' : (char)tolower((unsigned char)encoding[i]);
    lower[i] = '\0';
    name = all != NULL ? PyUnicode_FromString(lower) : NULL;
    found = name != NULL ? Py_XNewRef(PyDict_GetItemWithError(all, name)) : NULL;
    if (name != NULL && found == NULL && !PyErr_Occurred()) {
        if (code_of(encoding) != NULL)
            found = Py_BuildValue("(NNOO)", PyCFunction_New(&encoder, name), PyCFunction_New(&decoder, name), Py_None, Py_None);
        else
            found = search_for(name);
        if (found != NULL && PyDict_SetItem(all, name, found) < 0)
            Py_CLEAR(found);
    }
    Py_XDECREF(name);
    if (found == NULL && !PyErr_Occurred())
        PyErr_Format(PyExc_LookupError, "unknown encoding: %s", encoding);
    return found;
}

static PyObject *item_of_codec(const char *encoding, Py_ssize_t i)
{
    PyObject *found = look_up(encoding), *op = found != NULL ? Py_NewRef(PyTuple_GET_ITEM(found, i)) : NULL;
    Py_XDECREF(found);
    return op;
}

PyObject *PyCodec_Encoder(const char *encoding) { return item_of_codec(encoding, 0); }
PyObject *PyCodec_Decoder(const char *encoding) { return item_of_codec(encoding, 1); }

int PyCodec_KnownEncoding(const char *encoding)
{
    PyObject *found = look_up(encoding);
    if (found == NULL)
        PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

/* Calls the function, which is taken over, and gives the first item of what it gives. */
static PyObject *run_codec(PyObject *f, PyObject *op, const char *errors, const char *who)
{
    PyObject *pair = f == NULL ? NULL : errors != NULL ? PyObject_CallFunction(f, "Os", op, errors) : PyObject_CallOneArg(f, op);
    PyObject *result = NULL;
    if (pair != NULL && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2)
        result = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
    else if (pair != NULL)
        PyErr_Format(PyExc_TypeError, "%s must return a tuple (object%sinteger)", who, *who == 'd' ? "," : ", ");  /* (as CPython says it) */
    Py_XDECREF(pair);
    Py_XDECREF(f);
    return result;
}

PyObject *PyCodec_Encode(PyObject *op, const char *encoding, const char *errors)
{
    return run_codec(PyCodec_Encoder(encoding), op, errors, "encoder");
}

PyObject *PyCodec_Decode(PyObject *op, const char *encoding, const char *errors)
{
    return run_codec(PyCodec_Decoder(encoding), op, errors, "decoder");
}

PyObject *PyUnicode_AsEncodedString(PyObject *op, const char *encoding, const char *errors)
{
    const code *how = code_of(encoding);
    PyObject *bytes;
    if (!PyUnicode_Check(op)) {
        PyErr_BadArgument();
        return NULL;
    }
    if (how != NULL)
        return how->kind == UTF8 ? py_encode_utf8(op, errors) : encode(op, how, errors);
    bytes = PyCodec_Encode(op, encoding, errors);
    if (bytes != NULL && !PyBytes_Check(bytes)) {
        PyErr_Format(PyExc_TypeError, "'%.400s' encoder returned '%.400s' instead of 'bytes'; use codecs.encode() to encode to arbitrary types",
                     encoding, Py_TYPE(bytes)->tp_name);
        Py_CLEAR(bytes);
    }
    return bytes;
}

PyObject *PyUnicode_Decode(const char *bytes, Py_ssize_t n, const char *encoding, const char *errors)
{
    const code *how = code_of(encoding);
    PyObject *op, *text;
    if (how != NULL)
        return how->kind == UTF8 ? PyUnicode_DecodeUTF8(bytes, n, errors) : decode(bytes, n, how, errors);
    op = PyBytes_FromStringAndSize(bytes, n);
    text = op != NULL ? PyCodec_Decode(op, encoding, errors) : NULL;
    Py_XDECREF(op);
    if (text != NULL && !PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "'%.400s' decoder returned '%.400s' instead of 'str'; use codecs.decode() to decode to arbitrary types",
                     encoding, Py_TYPE(text)->tp_name);
        Py_CLEAR(text);
    }
    return text;
}

/* ---- the module codecs ---------------------------------------------------------------- */

static PyObject *module_lookup(PyObject *self, PyObject *args)
{
    const char *encoding;
    (void)self;
    return PyArg_ParseTuple(args, "s:lookup", &encoding) ? look_up(encoding) : NULL;
}

static PyObject *module_lookup_error(PyObject *self, PyObject *args)
{
    const char *name;
    (void)self;
    return PyArg_ParseTuple(args, "s:lookup_error", &name) ? PyCodec_LookupError(name) : NULL;
}

static PyObject *module_register(PyObject *self, PyObject *search)
{
    (void)self;
    return PyCodec_Register(search) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *module_register_error(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *handler;
    (void)self;
    return PyArg_ParseTuple(args, "sO:register_error", &name, &handler) && PyCodec_RegisterError(name, handler) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *module_convert(PyObject *args, PyObject *kwargs, const char *format, PyObject *(*convert)(PyObject *, const char *, const char *))
{
    static char *names[] = { "obj", "encoding", "errors", NULL };
    PyObject *op;
    const char *encoding = "utf-8", *errors = NULL;
    return PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &op, &encoding, &errors) ? convert(op, encoding, errors) : NULL;
}

static PyObject *module_encode(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return module_convert(args, kwargs, "O|ss:encode", PyCodec_Encode);
}

static PyObject *module_decode(PyObject *self, PyObject *args, PyObject *kwargs)
{
    (void)self;
    return module_convert(args, kwargs, "O|ss:decode", PyCodec_Decode);
}

PyMethodDef py_codecs_functions[] = {
    { "lookup", module_lookup, METH_VARARGS, NULL }, { "lookup_error", module_lookup_error, METH_VARARGS, NULL },
    { "register", module_register, METH_O, NULL }, { "register_error", module_register_error, METH_VARARGS, NULL },
    { "encode", _PyCFunction_CAST(module_encode), METH_VARARGS | METH_KEYWORDS, NULL },
    { "decode", _PyCFunction_CAST(module_decode), METH_VARARGS | METH_KEYWORDS, NULL }, { NULL, NULL, 0, NULL }
};
