/* encodes.c - from bytes to text and back. As the extension of our own that says the same in CPython: encodes.utf8. */
#define PY_SSIZE_T_CLEAN
#include "say.h"

static const char *const encodings[] = {
    "utf-8", "UTF8", "latin-1", "ISO-8859-1", "ascii", "us_ascii", "utf-16", "utf-16-le", "UTF_16BE", "utf-32", "utf-32-le", "utf-32-be", "unicode_escape"
};
static const char *const handlers[] = {
    NULL, "strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace", "surrogateescape", "surrogatepass", "no such handler"
};
#define EACH(i, array) for (i = 0; i < sizeof array / sizeof *array; i++)

/* surrogatepass is only of UTF-8 here. And CPython says in which codec a handler failed, if that is none of C's. */
static int is_different(const char *encoding, const char *handler)
{
    return handler != NULL && ((strcmp(handler, "surrogatepass") == 0 && strncmp(encoding, "utf-8", 5) != 0)
                               || ((strcmp(handler, "no such handler") == 0 || handler[0] == 'x')
                                   && (strlen(encoding) > 6 || encoding[0] == 'U')));
}

/* As show, but without characters of which it may be disputed whether they can be printed. */
static void show_ascii(const char *what, PyObject *op)
{
    if (op != NULL)
        say("%s: %A", what, op);
    else
        show(what, NULL);
    Py_XDECREF(op);
}

static PyObject *text_of(const Py_UCS4 *characters, Py_ssize_t n)
{
    return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, characters, n);
}

static void encoding(void)
{
    static const Py_UCS4 texts[][6] = {
        { 'a', 'b', 'c' }, { 0xe4, '\\', '\n', 0x20ac, '\t' }, { 'x', 0xdc80, 0xdcff, 'y', 0xd800 }, { 0x1f600, 0xff, 0x100, 0x7f, 1 }, { 0xdfff }
    };
    size_t i, k, m;
    say("encoding");
    EACH (i, texts) {
        Py_ssize_t n = 6;
        PyObject *op;
        while (texts[i][n - 1] == 0)
            n--;
        op = text_of(texts[i], n);
        say("text %A", op);
        EACH (k, encodings)
            EACH (m, handlers) {
                if (is_different(encodings[k], handlers[m]))
                    continue;
                say("%s %s", encodings[k], handlers[m] != NULL ? handlers[m] : "-");
                show("bytes", PyUnicode_AsEncodedString(op, encodings[k], handlers[m]));
            }
        show("utf-8", PyUnicode_AsUTF8String(op));
        show("latin-1", PyUnicode_AsLatin1String(op));
        show("ascii", PyUnicode_AsASCIIString(op));
        show("utf-16", PyUnicode_AsUTF16String(op));
        show("utf-32", PyUnicode_AsUTF32String(op));
        show("escapes", PyUnicode_AsUnicodeEscapeString(op));
        show("default", PyUnicode_AsEncodedString(op, NULL, NULL));
        show("none", PyUnicode_AsEncodedString(op, "no-such", NULL));
        say("%d", PyUnicode_AsUTF8(op) != NULL);
        PyErr_Clear();
        Py_DECREF(op);
    }
}

static void decoding(void)
{
#define BYTES(text) { text, sizeof text - 1 }
    static const struct { const char *bytes; Py_ssize_t n; } all[] = {
        BYTES(""), BYTES("plain"), BYTES("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), BYTES("a\xff" "b\x80"), BYTES("\xe2\x82"), BYTES("\xe2\x82z"), BYTES("\xf0\x9f\x98"),
        BYTES("\xed\xa0\x80x"), BYTES("\xe0\x80\x80"), BYTES("\xf4\x90\x80\x80"), BYTES("\xc0\xaf"), BYTES("\xff\xfe" "a\0b"), BYTES("\xfe\xff\0a\0b"), BYTES("\xff\xfe\0\xd8\0\xdc"),
        BYTES("\0\xdc" "a\0"), BYTES("\0\xd8" "a\0"), BYTES("\0\xd8"), BYTES("\xff\xfe\0\0" "a\0\0\0"), BYTES("\0\0\0a\0\x11\0\0"), BYTES("\0\xd8\0\0"), BYTES("abcde"),
        BYTES("\\n\\t\\\\\\'\\x41\\u20ac\\U0001f600\\101\\a"), BYTES("\\x4"), BYTES("a\\"), BYTES("\\u12z"), BYTES("\\U00110000z"), BYTES("a\\\nb")
    };
    size_t i, k, m;
    say("decoding");
    EACH (i, all) {
        PyObject *bytes = PyBytes_FromStringAndSize(all[i].bytes, all[i].n);
        Py_ssize_t consumed = -1;
        int order;
        show_ascii("of", bytes);
        EACH (k, encodings)
            EACH (m, handlers) {
                if (is_different(encodings[k], handlers[m]))
                    continue;
                say("%s %s", encodings[k], handlers[m] != NULL ? handlers[m] : "-");
                show_ascii("text", PyUnicode_Decode(all[i].bytes, all[i].n, encodings[k], handlers[m]));
            }
        if (all[i].n > 0)
            show_ascii("none", PyUnicode_Decode(all[i].bytes, all[i].n, "no-such", NULL));
        show_ascii("stateful", PyUnicode_DecodeUTF8Stateful(all[i].bytes, all[i].n, "replace", &consumed));
        say("%zd", consumed);
        for (order = -1; order <= 1; order++) {
            int found = order;
            show_ascii("utf-16", PyUnicode_DecodeUTF16(all[i].bytes, all[i].n, "replace", &found));
            say("%d", found);
            found = order;
            show_ascii("utf-32", PyUnicode_DecodeUTF32(all[i].bytes, all[i].n, "ignore", &found));
            say("%d", found);
            found = order;
            consumed = 0;
            show_ascii("utf-16", PyUnicode_DecodeUTF16Stateful(all[i].bytes, all[i].n, "replace", &found, &consumed));
            say("%d %zd", found, consumed);
            found = order;
            show_ascii("utf-32", PyUnicode_DecodeUTF32Stateful(all[i].bytes, all[i].n, "replace", &found, &consumed));
            say("%d %zd", found, consumed);
        }
        show_ascii("without order", PyUnicode_DecodeUTF16(all[i].bytes, all[i].n, "ignore", NULL));
    }
}

/* ---- handlers */

static void show_handled(const char *what, PyObject *error)
{
    say("%s", what);
    show("strict", PyCodec_StrictErrors(error));
    show("ignore", PyCodec_IgnoreErrors(error));
    show("replace", PyCodec_ReplaceErrors(error));
    show("backslashes", PyCodec_BackslashReplaceErrors(error));
    show("references", PyCodec_XMLCharRefReplaceErrors(error));
    Py_DECREF(error);
}

static void show_fields(PyObject *error, int (*get_start)(PyObject *, Py_ssize_t *), int (*get_end)(PyObject *, Py_ssize_t *))
{
    Py_ssize_t n = -7;
    static const char *const names[] = { "object", "start", "end", "reason", "args" };
    size_t i;
    EACH (i, names)
        show(names[i], PyObject_GetAttrString(error, names[i]));
    show("str", PyObject_Str(error));
    show("repr", PyObject_Repr(error));
    say("%d", get_start(error, &n));
    say("%zd", n);
    say("%d", get_end(error, &n));
    say("%zd", n);
}

static void errors(void)
{
    PyObject *error = PyUnicodeDecodeError_Create("some", "a\xff\xfe" "b", 4, 1, 3, "it is so"), *op;
    Py_ssize_t n;
    say("errors");
    show("encoding", PyUnicodeDecodeError_GetEncoding(error));
    show("object", PyUnicodeDecodeError_GetObject(error));
    show("reason", PyUnicodeDecodeError_GetReason(error));
    show_fields(error, PyUnicodeDecodeError_GetStart, PyUnicodeDecodeError_GetEnd);
    say("%d %d", PyUnicodeDecodeError_SetStart(error, -5), PyUnicodeDecodeError_GetStart(error, &n));
    say("%zd", n);
    say("%d %d", PyUnicodeDecodeError_SetEnd(error, 70), PyUnicodeDecodeError_GetEnd(error, &n));
    say("%zd", n);
    say("%d %d", PyUnicodeDecodeError_SetStart(error, 2), PyUnicodeDecodeError_SetEnd(error, 3));
    say("%d", PyUnicodeDecodeError_SetReason(error, "another"));
    show("str", PyObject_Str(error));
    show_code("set", PyObject_SetAttrString(error, "start", Py_None) < 0 ? -1 : 0);
    PyErr_Clear();
    Py_DECREF(error);
    error = PyUnicodeDecodeError_Create("some", "a\xff\xfe" "b", 4, 1, 3, "it is so");
    show_handled("decoding", error);
    op = PyUnicode_FromString("x\xe2\x82\xac\xf0\x9f\x98\x80y");
    error = PyObject_CallFunction(PyExc_UnicodeEncodeError, "sOiis", "some", op, 1, 2, "so");
    show("encoding", PyUnicodeEncodeError_GetEncoding(error));
    show("object", PyUnicodeEncodeError_GetObject(error));
    show_fields(error, PyUnicodeEncodeError_GetStart, PyUnicodeEncodeError_GetEnd);
    show_handled("encoding", error);
    error = PyObject_CallFunction(PyExc_UnicodeEncodeError, "sOiis", "some", op, 1, 3, "so");
    show_fields(error, PyUnicodeEncodeError_GetStart, PyUnicodeEncodeError_GetEnd);
    show_handled("encoding", error);
    error = PyObject_CallFunction(PyExc_UnicodeTranslateError, "Oiis", op, 2, 3, "so");
    show("reason", PyUnicodeTranslateError_GetReason(error));
    show_fields(error, PyUnicodeTranslateError_GetStart, PyUnicodeTranslateError_GetEnd);
    show_handled("translating", error);
    show_handled("another", PyObject_CallFunction(PyExc_ValueError, "s", "no"));
    show_handled("none", Py_NewRef(Py_None));
    show("few", PyObject_CallFunction(PyExc_UnicodeDecodeError, "s", "a"));
    show("few", PyObject_CallFunction(PyExc_UnicodeTranslateError, "s", "a"));
    show("wrong", PyObject_CallFunction(PyExc_UnicodeEncodeError, "siiis", "a", 1, 2, 3, "b"));
    PyErr_SetString(PyExc_UnicodeError, "plain");
    show("plain", NULL);
    Py_DECREF(op);
}

/* Gives (what, where to go on), or something else. */
static PyObject *mode;
static PyObject *handle(PyObject *self, PyObject *error)
{
    (void)self;
    if (PyLong_AsLong(mode) == 0)
        return Py_BuildValue("(sN)", "<\xc3\xa4>", PyObject_GetAttrString(error, "end"));
    if (PyLong_AsLong(mode) == 1)
        return Py_BuildValue("(si)", "ok", -1);
    if (PyLong_AsLong(mode) == 2)
        return Py_BuildValue("(y#i)", "\x80", (Py_ssize_t)1, -1);
    if (PyLong_AsLong(mode) == 3)
        return Py_BuildValue("(si)", "far", 1000);
    if (PyLong_AsLong(mode) == 4)
        return Py_NewRef(Py_None);
    PyErr_SetString(PyExc_IndexError, "from the handler");
    return NULL;
}
static PyMethodDef handler_def = { "handle", handle, METH_O, NULL };

static void handling(void)
{
    PyObject *handler = PyCFunction_New(&handler_def, NULL), *op = PyUnicode_FromString("a\xe2\x82\xac" "b\xf0\x9f\x98\x80z"), *found;
    int i;
    size_t k;
    say("handling");
    show_code("register", PyCodec_RegisterError("mine", handler));
    show_code("register", PyCodec_RegisterError("none", Py_None));
    found = PyCodec_LookupError("mine");
    say("%d", found == handler);
    Py_XDECREF(found);
    show("lookup", PyCodec_LookupError("absent"));
    for (i = 0; i < 6; i++) {
        Py_XSETREF(mode, PyLong_FromLong(i));
        say("mode %d", i);
        EACH (k, encodings)
            show(encodings[k], PyUnicode_AsEncodedString(op, encodings[k], "mine"));
        show("ascii", PyUnicode_Decode("a\xff" "bc", 4, "ascii", "mine"));
        show("utf-8", PyUnicode_DecodeUTF8("a\xff" "bc", 4, "mine"));
    }
    found = PyCodec_LookupError("backslashreplace");
    show("call", PyObject_CallFunction(found, "N", PyObject_CallFunction(PyExc_UnicodeEncodeError, "sOiis", "some", op, 1, 2, "so")));
    Py_XDECREF(found);
    found = PyCodec_LookupError(NULL);
    show("call", PyObject_CallOneArg(found, PyExc_ValueError));
    Py_XDECREF(found);
    Py_CLEAR(mode);
    Py_DECREF(op);
    Py_DECREF(handler);
}

/* ---- encodings of ours */

static PyObject *encode(PyObject *self, PyObject *args)
{
    PyObject *op;
    const char *how = "-";
    (void)self;
    if (!PyArg_ParseTuple(args, "O|s", &op, &how))
        return NULL;
    return strcmp(how, "wrong") == 0 ? Py_NewRef(op) : strcmp(how, "text") == 0 ? Py_BuildValue("(Oi)", op, 1)
         : Py_BuildValue("(yi)", how, 1);
}

static PyObject *decode(PyObject *self, PyObject *args)
{
    PyObject *op;
    const char *how = "-";
    (void)self;
    if (!PyArg_ParseTuple(args, "O|s", &op, &how))
        return NULL;
    return strcmp(how, "wrong") == 0 ? Py_NewRef(op) : strcmp(how, "bytes") == 0 ? Py_BuildValue("(yi)", "b", 1) : Py_BuildValue("(si)", how, 1);
}

static PyMethodDef encode_def = { "encode", encode, METH_VARARGS, NULL }, decode_def = { "decode", decode, METH_VARARGS, NULL };
static int searches;

static PyObject *search(PyObject *self, PyObject *name)
{
    (void)self;
    searches++;
    say("search for %U", name);
    if (PyUnicode_CompareWithASCIIString(name, "bad_codec") == 0)
        return Py_BuildValue("(i)", 1);
    if (PyUnicode_CompareWithASCIIString(name, "failing") == 0) {
        PyErr_SetString(PyExc_KeyError, "failing");
        return NULL;
    }
    if (PyUnicode_CompareWithASCIIString(name, "our_own") != 0)
        Py_RETURN_NONE;
    return Py_BuildValue("(NNOO)", PyCFunction_New(&encode_def, NULL), PyCFunction_New(&decode_def, NULL), Py_None, Py_None);
}
static PyMethodDef search_def = { "search", search, METH_O, NULL };

static void own(void)
{
    PyObject *f = PyCFunction_New(&search_def, NULL), *op = PyUnicode_FromString("text"), *bytes = PyBytes_FromString("bytes");
    static const char *const how[] = { NULL, "text", "bytes", "wrong", "more" };
    size_t i;
    say("own encodings");
    show_code("known", PyCodec_KnownEncoding("our-own"));
    show_code("register", PyCodec_Register(Py_None));
    show_code("register", PyCodec_Register(f));
    show_code("known", PyCodec_KnownEncoding("Our-Own"));
    show_code("known", PyCodec_KnownEncoding("our own"));
    show_code("known", PyCodec_KnownEncoding("latin-1"));
    show_code("known", PyCodec_KnownEncoding("bad-codec"));
    EACH (i, how) {
        show("encode", PyCodec_Encode(op, "our-own", how[i]));
        show("decode", PyCodec_Decode(bytes, "our-own", how[i]));
        show("text", PyUnicode_AsEncodedString(op, "our-own", how[i]));
        show("bytes", PyUnicode_Decode("x", 1, "our-own", how[i]));
    }
    show("bad", PyCodec_Encode(op, "bad codec", NULL));
    show("failing", PyCodec_Encode(op, "failing", NULL));
    show("none", PyCodec_Decode(op, "none at all", NULL));
    show("utf-8", PyCodec_Encode(op, "utf-8", NULL));
    show("utf-8", PyCodec_Decode(bytes, "utf-8", "replace"));
    f = (Py_DECREF(f), PyCodec_Encoder("latin-1"));
    show("encoder", PyObject_CallFunction(f, "s", "\xc3\xa4"));
    show("encoder", PyObject_CallFunction(f, "ss", "\xe2\x82\xac", "replace"));
    Py_XDECREF(f);
    f = PyCodec_Decoder("ascii");
    show("decoder", PyObject_CallFunction(f, "O", bytes));
    show("decoder", PyObject_CallFunction(f, "ys", "\xff", "ignore"));
    Py_XDECREF(f);
    say("%d searches", searches);
    f = PyCFunction_New(&search_def, NULL);
    show_code("unregister", PyCodec_Unregister(Py_None));
    Py_DECREF(f);
    Py_DECREF(op);
    Py_DECREF(bytes);
}

/* ---- the module codecs */

static void module(void)
{
    PyObject *codecs = PyImport_ImportModule("codecs"), *op;
    say("module");
    show("encode", PyObject_CallMethod(codecs, "encode", "s", "\xc3\xa4"));
    show("encode", PyObject_CallMethod(codecs, "encode", "sss", "\xe2\x82\xac", "ascii", "backslashreplace"));
    show("encode", PyObject_CallMethod(codecs, "encode", "ss", "x", "no_such"));
    show("decode", PyObject_CallMethod(codecs, "decode", "yss", "\xff", "ascii", "replace"));
    op = PyObject_CallMethod(codecs, "lookup", "s", "latin-1");
    say("%d", PyTuple_Check(op) && PyTuple_GET_SIZE(op) == 4);
    show("call", PyObject_CallFunction(PyTuple_GET_ITEM(op, 0), "s", "\xc3\xa4"));
    Py_DECREF(op);
    show("lookup", PyObject_CallMethod(codecs, "lookup", "s", "no_such"));
    show("lookup_error", PyObject_CallMethod(codecs, "lookup_error", "s", "no such"));
    op = PyObject_CallMethod(codecs, "lookup_error", "s", "strict");
    say("%d", PyCallable_Check(op));
    show("register", PyObject_CallMethod(codecs, "register_error", "sO", "module", op));
    Py_DECREF(op);
    show("used", PyUnicode_DecodeUTF8("\xff", 1, "module"));
    show("register", PyObject_CallMethod(codecs, "register", "O", Py_None));
    Py_DECREF(codecs);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { encoding, decoding, errors, handling, own, module, NULL };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "encodes", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_encodes(void)
{
    return PyModule_Create(&def);
}
