/* wide.c - functions that few extensions need, each on its own. As the extension of our own that says the same in CPython:
 * wide.txt. */
#define PY_SSIZE_T_CLEAN
#include "say.h"
#include <frameobject.h>
#include <import.h>
#include <memoryobject.h>
#include <modsupport.h>
#include <object.h>
#include <pythread.h>

static void show_new(const char *what, PyObject *op, const char *method)
{
    show(what, op != NULL ? PyObject_CallMethod(op, method, NULL) : NULL);
    Py_XDECREF(op);
}

/* Copies of pythoncapi_compat.h define functions of later versions in this way. */
#define PYTHONCAPI_COMPAT
#include <Python.h>
#if PY_VERSION_HEX < 0x030d00a3
static inline int PyObject_VisitManagedDict(PyObject *op, visitproc visit, void *arg)
{
    (void)visit, (void)arg;
    return op == Py_None;
}

static inline void PyObject_ClearManagedDict(PyObject *op) { (void)op; }
#endif

static void call_pop(PyObject *op, PyObject *key)
{
    PyObject *method = PyUnicode_FromString("pop");
    show("pop", PyObject_CallMethodObjArgs(op, method, key, NULL));
    Py_DECREF(method);
    show("item", PyObject_GetItem(op, key));
    op = PySet_New(NULL);
    method = PyUnicode_FromString("remove");
    show("remove", PyObject_CallMethodObjArgs(op, method, key, NULL));
    Py_DECREF(method);
    Py_DECREF(op);
}

static void proxies(void)
{
    PyObject *dict = Py_BuildValue("{sisi}", "a", 1, "b", 2), *op = PyDictProxy_New(dict), *key = PyUnicode_FromString("a"), *args = Py_BuildValue("(ii)", 1, 2);
    say("mappingproxy");
    PyDict_DelItem(dict, args);
    show("missing", NULL);
    call_pop(dict, args);
    call_pop(dict, Py_None);
    show("it", Py_NewRef(op));
    show("str", PyObject_Str(op));
    show("item", PyObject_GetItem(op, key));
    show("none", PyObject_GetItem(op, Py_None));
    show_code("set", PyObject_SetItem(op, key, Py_None));
    show_code("delete", PyObject_DelItem(op, key));
    say("%zd %d %d", PyObject_Size(op), PySequence_Contains(op, key), PySequence_Contains(op, Py_None));
    PyDict_SetItemString(dict, "c", Py_None);
    show("list", PySequence_List(op));
    show("get", PyObject_CallMethod(op, "get", "s", "a"));
    show("get", PyObject_CallMethod(op, "get", "s", "z"));
    show("get", PyObject_CallMethod(op, "get", "si", "z", 5));
    show_new("copy", Py_NewRef(op), "copy");
    show("equal", PyObject_RichCompare(op, dict, Py_EQ));
    show("or", PyNumber_Or(op, dict));
    show("or", PyNumber_Or(dict, op));
    show("in place", PyNumber_InPlaceOr(op, dict));
    say("hash: %d", PyObject_Hash(op) == -1);
    PyErr_Clear();
    Py_DECREF(op);
    show_code("delete", PyMapping_DelItemString(dict, "a"));
    show_code("delete", PyMapping_DelItemString(dict, "a"));
    show_code("delete", PyMapping_DelItem(dict, Py_None));
    show_code("delete", PyObject_DelItemString(dict, "b"));
    show("dict", Py_NewRef(dict));
    Py_DECREF(dict);
    Py_DECREF(key);
    dict = PyList_New(0);
    show("of a list", PyDictProxy_New(dict));
    Py_DECREF(dict);
    show("of None", PyDictProxy_New(Py_None));
    Py_DECREF(args);
}

static PyObject *format_bytes(const char *format, ...)
{
    va_list args;
    PyObject *op;
    va_start(args, format);
    op = PyBytes_FromFormatV(format, args);
    va_end(args);
    return op;
}

static void texts(void)
{
    PyObject *op = PyBytes_FromString("abc"), *text, *part;
    wchar_t wide[8], *copy;
    Py_UCS4 ucs4[4];
    Py_ssize_t n;
    int i;
    say("texts");
    PyBytes_ConcatAndDel(&op, PyBytes_FromString("def"));
    show("joined", Py_NewRef(op));
    show("repr", PyBytes_Repr(op, 1));
    Py_DECREF(op);
    op = PyBytes_FromString("it's");
    show("repr", PyBytes_Repr(op, 1));
    Py_DECREF(op);
    show("formatted", format_bytes("%d %s", 7, "x"));
    text = PyUnicode_FromString("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    say("%zd", PyUnicode_AsWideChar(text, NULL, 0));
    n = PyUnicode_AsWideChar(text, wide, 8);
    say("%zd %d %d %d %d %d", n, (int)wide[0], (int)wide[1], (int)wide[2], (int)wide[3], (int)wide[4]);
    n = PyUnicode_AsWideChar(text, wide, 2);
    say("%zd %d %d", n, (int)wide[0], (int)wide[1]);
    say("%zd", PyUnicode_AsWideChar(Py_None, wide, 2));
    show("no text", NULL);
    copy = PyUnicode_AsWideCharString(text, &n);
    say("%zd %d %d", n, (int)copy[3], (int)copy[4]);
    PyMem_Free(copy);
    copy = PyUnicode_AsWideCharString(text, NULL);
    say("%d", (int)copy[3]);
    PyMem_Free(copy);
    part = PyUnicode_FromStringAndSize("a\0b", 3);
    say("%d", PyUnicode_AsWideCharString(part, NULL) == NULL);
    show("with a zero", NULL);
    copy = PyUnicode_AsWideCharString(part, &n);
    say("%zd", n);
    PyMem_Free(copy);
    say("%d", PyUnicode_AsUCS4(text, ucs4, 4, 0) == ucs4);
    say("%d %d", (int)ucs4[2], (int)ucs4[3]);
    say("%d", PyUnicode_AsUCS4(text, ucs4, 4, 1) == NULL);
    show("no room", NULL);
    say("%d", PyUnicode_AsUCS4(part, ucs4, 4, 1) == ucs4);
    say("%d", (int)ucs4[3]);
    Py_DECREF(part);
    Py_DECREF(text);
    text = PyUnicode_New(5, 0x20ac);
    say("%zd", PyUnicode_Fill(text, 0, 5, 'x'));
    say("%zd", PyUnicode_Fill(text, 2, 10, 0x20ac));
    say("%zd", PyUnicode_Fill(text, 5, 1, 'y'));
    show("filled", Py_NewRef(text));
    say("%zd", PyUnicode_Fill(text, -1, 1, 'y'));
    show("before it", NULL);
    say("%zd", PyUnicode_Fill(text, 0, 1, 0x1f600));
    show("too large", NULL);
    Py_DECREF(text);
    for (i = 0; i < 4; i++) {
        static const char *const names[] = { "_a1", "1a", "", "a b" };
        text = PyUnicode_FromString(names[i]);
        say("%d", PyUnicode_IsIdentifier(text));
        Py_DECREF(text);
    }
    say("%s", PyUnicode_GetDefaultEncoding());
    for (i = 0; i < 256; i++)
        say("%d %d%d%d%d%d%d%d %d %d", i, !!Py_ISLOWER(i), !!Py_ISUPPER(i), !!Py_ISALPHA(i), !!Py_ISDIGIT(i), !!Py_ISXDIGIT(i),
            !!Py_ISALNUM(i), !!Py_ISSPACE(i), (int)Py_TOLOWER(i), (int)Py_TOUPPER(i));
    for (i = 0; i < 0x2100; i++)
        if (Py_UNICODE_ISLINEBREAK((Py_UCS4)i))
            say("line: %d", i);
    say("%d %d", PyOS_stricmp("ABC", "abd") < 0, PyOS_strnicmp("ABC", "abd", 2));
    op = Py_BuildValue("[yyy]", "a", "bc", "");
    text = PyBytes_FromString(", ");
    show("join", _PyBytes_Join(text, op));
    PyList_Append(op, Py_None);
    show("join", _PyBytes_Join(text, op));
    Py_DECREF(op);
    Py_DECREF(text);
}

static void file_names(void)
{
    PyObject *text = PyUnicode_FromString("a\xc3\xa4"), *bytes = PyBytes_FromString("b"), *result = NULL, *zero;
    say("names of files");
    show("decoded", PyUnicode_DecodeFSDefault("a\xc3\xa4"));
    show("decoded", PyUnicode_DecodeFSDefaultAndSize("abc", 2));
    show("encoded", PyUnicode_EncodeFSDefault(text));
    show("path", PyOS_FSPath(text));
    show("path", PyOS_FSPath(bytes));
    show("path", PyOS_FSPath(Py_None));
    say("%d", PyUnicode_FSConverter(text, &result));
    show("converted", Py_NewRef(result));
    say("%d", PyUnicode_FSConverter(NULL, &result));
    say("%d", result == NULL);
    say("%d", PyUnicode_FSConverter(bytes, &result));
    show("converted", Py_NewRef(result));
    Py_CLEAR(result);
    say("%d", PyUnicode_FSConverter(Py_None, &result));
    show("converted", NULL);
    zero = PyUnicode_FromStringAndSize("a\0b", 3);
    say("%d", PyUnicode_FSConverter(zero, &result));
    show("converted", NULL);
    say("%d", PyUnicode_FSDecoder(zero, &result));
    show("decoded", NULL);
    say("%d", PyUnicode_FSDecoder(bytes, &result));
    show("decoded", result);
    Py_DECREF(zero);
    Py_DECREF(text);
    Py_DECREF(bytes);
    text = PyLong_FromLong(3);
    say("%d", PyObject_AsFileDescriptor(text));
    Py_DECREF(text);
    text = PyLong_FromLong(-3);
    say("%d", PyObject_AsFileDescriptor(text));
    show("negative", NULL);
    Py_DECREF(text);
    say("%d", PyObject_AsFileDescriptor(Py_None));
    show("none", NULL);
}

static void writers(void)
{
    _PyUnicodeWriter writer;
    PyObject *euro = PyUnicode_FromString("\xe2\x82\xac uro"), *text;
    int i;
    say("writer");
    _PyUnicodeWriter_Init(&writer);
    show("empty", _PyUnicodeWriter_Finish(&writer));
    _PyUnicodeWriter_Init(&writer);
    writer.overallocate = 1;
    for (i = 0; i < 30; i++) {
        _PyUnicodeWriter_WriteASCIIString(&writer, "abc", -1);
        _PyUnicodeWriter_WriteASCIIString(&writer, "abcdef", 2);
        if (i % 10 == 5)
            _PyUnicodeWriter_WriteStr(&writer, euro);
        if (i % 10 == 7)
            _PyUnicodeWriter_WriteLatin1String(&writer, "lm", 2);
        _PyUnicodeWriter_WriteSubstring(&writer, euro, 1, 3);
        _PyUnicodeWriter_WriteChar(&writer, i == 20 ? 0x1f600 : (Py_UCS4)('0' + i));
    }
    show("text", _PyUnicodeWriter_Finish(&writer));
    _PyUnicodeWriter_Init(&writer);
    _PyUnicodeWriter_Prepare(&writer, 3, 0x20ac);
    _PyUnicodeWriter_WriteStr(&writer, euro);
    _PyUnicodeWriter_Dealloc(&writer);
    _PyUnicodeWriter_Init(&writer);
    writer.min_length = 100;
    _PyUnicodeWriter_WriteChar(&writer, 'x');
    text = _PyUnicodeWriter_Finish(&writer);
    say("%zd", PyUnicode_GET_LENGTH(text));
    show("short", text);
    Py_DECREF(euro);
}

static int ended;
static void at_end(PyObject *op) { (void)op, ended++; }

static void others(void)
{
    PyObject *op, *name, *list = PyList_New(0), *args = PyTuple_Pack(1, Py_True);
    static int value;
    Py_tss_t key = Py_tss_NEEDS_INIT, *made;
    PyThread_type_lock lock;
    say("others");
    say("%d", PyObject_VisitManagedDict(Py_None, NULL, NULL));
    PyObject_ClearManagedDict(Py_None);
    op = PyCapsule_New(&value, "first", NULL);
    say("%d", PyCapsule_GetDestructor(op) == NULL);
    show_code("name", PyCapsule_SetName(op, "second"));
    say("%s", PyCapsule_GetName(op));
    show_code("destructor", PyCapsule_SetDestructor(op, at_end));
    say("%d", PyCapsule_GetDestructor(op) == at_end);
    Py_DECREF(op);
    PyGC_Collect();
    say("%d", ended);
    ended = 0;

    errno = ENOENT;
    PyErr_SetFromErrnoWithFilename(PyExc_ValueError, "name");
    show("errno", NULL);
    errno = ENOENT;
    PyErr_SetFromErrnoWithFilename(PyExc_ValueError, NULL);
    show("errno", NULL);
    name = PyUnicode_FromString("name");
    errno = EACCES;
    PyErr_SetFromErrnoWithFilenameObject(PyExc_ValueError, name);
    show("errno", NULL);
    PyErr_SetImportError(name, args, NULL);
    {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        show("error", PyObject_GetAttrString(error, "name"));
        show("error", PyObject_GetAttrString(error, "path"));
        say("%s", PyExceptionClass_Name(PyExceptionInstance_Class(error)));
        PyErr_Restore(type, error, traceback);
    }
    show("error", NULL);
    say("%d %d %d", PyErr_GivenExceptionMatches(PyExc_FileNotFoundError, PyExc_OSError),
        PyErr_GivenExceptionMatches(PyExc_BrokenPipeError, PyExc_ConnectionError), PyErr_GivenExceptionMatches(PyExc_TabError, PyExc_SyntaxError));
    PyErr_SetString(PyExc_ResourceWarning, "left open");
    show("warning", NULL);

    show("call", PyEval_CallObjectWithKeywords((PyObject *)&PyBool_Type, args, NULL));
    show("call", PyEval_CallObjectWithKeywords((PyObject *)&PyBool_Type, NULL, NULL));
    show("call", PyCFunction_Call((PyObject *)&PyBool_Type, args, NULL));

    say("%d", _PyObject_LookupAttr(list, name, &op));
    say("%d", op == NULL);
    say("%d", PyErr_Occurred() != NULL);
    Py_SETREF(name, PyUnicode_FromString("__len__"));
    say("%d", _PyObject_LookupAttr(list, name, &op));
    show("attribute", PyObject_CallNoArgs(op));
    Py_DECREF(op);

    op = PyDict_New();
    PyDict_SetItem(op, name, Py_True);
    show("pop", _PyDict_Pop(op, name, NULL));
    show("pop", _PyDict_Pop(op, name, Py_None));
    show("pop", _PyDict_Pop(op, name, NULL));
    Py_DECREF(op);

    say("%d", PySys_Audit("event", "i", 5));
    show_code("sys", PySys_SetObject("cvm_test", Py_True));
    show("sys", Py_XNewRef(PySys_GetObject("cvm_test")));
    show_code("sys", PySys_SetObject("cvm_test", NULL));
    say("%d %d", PySys_GetObject("cvm_test") == NULL, PyErr_Occurred() == NULL);
    Py_SETREF(name, PyUnicode_FromString("wide"));
    op = PyImport_GetModule(name);
    say("%d", op != NULL);
    say("%d", PyImport_AddModuleObject(name) == op && PyModule_CheckExact(op));
    Py_XDECREF(op);
    Py_SETREF(name, PyUnicode_FromString("no_such_module"));
    say("%d %d", PyImport_GetModule(name) == NULL, PyErr_Occurred() == NULL);
    op = PyImport_ImportModuleLevel("wide", NULL, NULL, NULL, 0);
    say("%d", op != NULL && PyModule_Check(op));
    Py_XDECREF(op);
    show("import", PyImport_ImportModuleEx("no_such_module", NULL, NULL, NULL));

    say("%d", PyThread_tss_is_created(&key));
    say("%d", PyThread_tss_create(&key));
    say("%d", PyThread_tss_create(&key));
    say("%d %d", PyThread_tss_get(&key) == NULL, PyThread_tss_is_created(&key));
    say("%d", PyThread_tss_set(&key, &value));
    say("%d", PyThread_tss_get(&key) == &value);
    PyThread_tss_delete(&key);
    say("%d", PyThread_tss_is_created(&key));
    made = PyThread_tss_alloc();
    say("%d", PyThread_tss_is_created(made));
    say("%d", PyThread_tss_create(made));
    PyThread_tss_free(made);
    lock = PyThread_allocate_lock();
    say("%d", (int)PyThread_acquire_lock_timed(lock, 0, 0));
    say("%d", (int)PyThread_acquire_lock_timed(lock, 0, 0));
    say("%d", (int)PyThread_acquire_lock_timed(lock, 1000, 0));
    PyThread_release_lock(lock);
    say("%d", (int)PyThread_acquire_lock_timed(lock, -1, 0));
    PyThread_release_lock(lock);
    say("%d", (int)PyThread_acquire_lock_timed(lock, 1000000, 0));
    PyThread_release_lock(lock);
    PyThread_free_lock(lock);

    say("%d %d %d", PyInterpreterState_Get() != NULL, PyThreadState_GetInterpreter(PyThreadState_Get()) == PyInterpreterState_Get(), Py_IsInitialized());
    {
        PyObject *empty = PyDict_New();
        PyCodeObject *code = PyCode_NewEmpty("file", "function", 7);
        PyFrameObject *frame = PyFrame_New(PyThreadState_Get(), code, empty, NULL);
        say("%d %d", PyFrame_Check(frame), PyCode_Check(code));
        Py_DECREF(frame);
        Py_DECREF(code);
        Py_DECREF(empty);
    }
    Py_DECREF(name);
    Py_DECREF(list);
    Py_DECREF(args);
}

static PyTypeObject Derived = { PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "wide.Derived", .tp_flags = Py_TPFLAGS_DEFAULT };

static void orders(void)
{
    int i;
    PyTypeObject *base = (PyTypeObject *)PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Base", &PyList_Type);
    PyTypeObject *type = (PyTypeObject *)PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){}", "Type", base);
    say("mro");
    say("%zd %d %d %d", PyTuple_Size(base->tp_mro), PyTuple_GET_ITEM(base->tp_mro, 0) == (PyObject *)base,
        PyTuple_GET_ITEM(base->tp_mro, 1) == (PyObject *)&PyList_Type, PyTuple_GET_ITEM(base->tp_mro, 2) == (PyObject *)&PyBaseObject_Type);
    say("%zd %d %d", PyTuple_Size(type->tp_mro), PyTuple_GET_ITEM(type->tp_mro, 0) == (PyObject *)type,
        PyTuple_GET_ITEM(type->tp_mro, 1) == (PyObject *)base);
    say("%d %d", PyDict_Check(type->tp_dict), PyDict_GetItemString(type->tp_dict, "__module__") != NULL);
    Derived.tp_base = &PyList_Type;
    if (PyType_Ready(&Derived) < 0)
        return;
    say("of static types: %zd %zd %zd", PyTuple_GET_SIZE(Derived.tp_mro), PyTuple_GET_SIZE(Derived.tp_bases), PyTuple_GET_SIZE(PyBaseObject_Type.tp_bases));
    say("%d %d %d", PyTuple_GET_ITEM(Derived.tp_mro, 0) == (PyObject *)&Derived, PyTuple_GET_ITEM(Derived.tp_mro, 1) == (PyObject *)&PyList_Type,
        PyTuple_GET_ITEM(Derived.tp_mro, 2) == (PyObject *)&PyBaseObject_Type);
    say("%d %d", PyTuple_GetItem(Derived.tp_bases, 0) == (PyObject *)&PyList_Type, PyTuple_GET_ITEM(PyBool_Type.tp_bases, 0) == (PyObject *)&PyLong_Type);
    show("all", Py_NewRef(PyBool_Type.tp_mro));
    show("found", PyLong_FromSsize_t(PySequence_Index(Derived.tp_mro, (PyObject *)&PyBaseObject_Type)));
    show("asked for", PyObject_GetAttrString((PyObject *)&PyBool_Type, "__bases__"));
    for (i = 0; i < 3; i++) {           /* they stay, whatever has them */
        PyObject *ring = Py_BuildValue("[OO]", Derived.tp_mro, PyBool_Type.tp_bases);
        PyList_Append(ring, ring);
        Py_DECREF(ring);
        PyGC_Collect();
    }
    show("later", Py_NewRef(PyBool_Type.tp_bases));
    Py_DECREF(type);
    Py_DECREF(base);
}

/* ---- cells, keys of threads, complex numbers without objects, mappings of characters ------------------ */

static void small_families(void)
{
    PyObject *cell = PyCell_New(NULL), *list = PyList_New(0), *other = PyCell_New(list), *ring, *iterator;
    int key = PyThread_create_key(), k;
    static const Py_complex values[] = { { 0, 0 }, { 3, -4 }, { 1.5, 2 }, { -1, 0 } };
    size_t i, j;
    say("cells: %d %d %d", PyCell_Check(cell), PyCell_Check(list), PyCell_GET(other) == list);
    say("empty: %d", PyCell_Get(cell) == NULL && !PyErr_Occurred());
    show("contents", PyObject_GetAttrString(cell, "cell_contents"));
    show("less", PyObject_RichCompare(cell, other, Py_LT));
    show_code("set", PyCell_Set(cell, list));
    show("contents", PyObject_GetAttrString(cell, "cell_contents"));
    show("equal", PyObject_RichCompare(cell, other, Py_EQ));
    show("get", PyCell_Get(cell));
    say("wrong: %d", PyCell_Get(list) == NULL && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    say("wrong: %d", PyCell_Set(list, cell) == -1 && PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    ring = PyObject_CallOneArg((PyObject *)&PyCell_Type, list);
    PyList_Append(list, ring);
    PyList_Append(list, cell);
    Py_DECREF(ring);
    Py_DECREF(cell);
    Py_DECREF(other);
    Py_DECREF(list);
    PyGC_Collect();

    say("key: %d %d", key >= 0, PyThread_get_key_value(key) == NULL);
    say("set: %d %d", PyThread_set_key_value(key, &k), PyThread_get_key_value(key) == &k);
    PyThread_delete_key_value(key);
    say("deleted: %d", PyThread_get_key_value(key) == NULL);
    PyThread_delete_key(key);

    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            show("sum", PyComplex_FromCComplex(_Py_c_sum(values[i], values[j])));
            show("difference", PyComplex_FromCComplex(_Py_c_diff(values[i], _Py_c_neg(values[j]))));
            show("product", PyComplex_FromCComplex(_Py_c_prod(values[i], values[j])));
            errno = 0;
            show("quotient", PyComplex_FromCComplex(_Py_c_quot(values[i], values[j])));
            say("%d", errno == EDOM);
            errno = 0;
            say("power: %d", isfinite(_Py_c_pow(values[i], values[j]).real) != 0);
            say("%d", errno == EDOM);
        }
    say("size: %d %d", _Py_c_abs(values[1]) == 5, _Py_c_abs((Py_complex){ 1e308, 1e308 }) > 1e308 && errno == ERANGE);

    iterator = PySeqIter_New(said);
    say("iterators: %d %d", PySeqIter_Check(iterator), PyCallIter_Check(iterator));
    Py_DECREF(iterator);
}

static PyObject *translated(PyObject *text, const char *format, ...)
{
    va_list args;
    PyObject *mapping, *result;
    va_start(args, format);
    mapping = Py_VaBuildValue(format, args);
    va_end(args);
    result = PyUnicode_Translate(text, mapping, NULL);
    Py_XDECREF(mapping);
    return result;
}

static void translations(void)
{
    PyObject *text = PyUnicode_FromString("a\u00e9b\u20ac\U0001f600a"), *table, *type = (PyObject *)&PyUnicode_Type;
    show("nothing", translated(text, "{}"));
    show("a number", translated(text, "{i:i}", 'a', 'x'));
    show("wider", translated(text, "{i:i,i:i}", 'a', 0x1f601, 0x20ac, 'e'));
    show("a text", translated(text, "{i:s,i:s}", 'b', "long", 0x1f600, ""));
    show("none", translated(text, "{i:O}", 'a', Py_None));
    show("a list", translated(text, "[sss]", "x", "y", "z"));
    show("too large", translated(text, "{i:i}", 'a', 0x110000));
    show("negative", translated(text, "{i:i}", 'a', -1));
    show("wrong", translated(text, "{i:d}", 'a', 1.5));
    table = Py_BuildValue("{i:O}", 0x20ac, Py_None);
    show("ignored", PyUnicode_Translate(text, table, "ignore"));
    show("replaced", PyUnicode_Translate(text, table, "replace"));
    show("written", PyUnicode_Translate(text, table, "backslashreplace"));
    show("no handler", PyUnicode_Translate(text, table, "nobody"));
    Py_DECREF(table);
    show("no mapping", PyUnicode_Translate(text, Py_None, NULL));
    show("no text", translated(Py_None, "{}"));
    table = PyObject_CallMethod(type, "maketrans", "sss", "ab", "xy", "\u20ac");
    show("table", Py_XNewRef(table));
    show("method", PyObject_CallMethod(text, "translate", "O", table));
    Py_XDECREF(table);
    show("of a dict", PyObject_CallMethod(type, "maketrans", "{s:i,i:s}", "a", 1, 7, "b"));
    show("lengths", PyObject_CallMethod(type, "maketrans", "ss", "ab", "x"));
    show("long key", PyObject_CallMethod(type, "maketrans", "{s:i}", "ab", 1));
    show("wrong key", PyObject_CallMethod(type, "maketrans", "{d:i}", 1.5, 1));
    show("no dict", PyObject_CallMethod(type, "maketrans", "s", "ab"));
    Py_DECREF(text);
}

static void escapes(void)
{
    static const char *const texts[] = {
        "plain", "", "a\\n\\t\\\\\\'\\\"\\a\\b\\v\\f\\r", "\\0\\12\\101\\1011", "\\x41\\x4a\\xFf", "a\\\nb", "end\\",
        "bad\\x", "bad\\x4", "bad\\xg1", "bad\\x4g1\\x"
    };
    static const char *const errors[] = { NULL, "strict", "replace", "ignore", "other" };
    size_t i, k;
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        for (k = 0; k < 5; k++)
            show(texts[i], PyBytes_DecodeEscape(texts[i], (Py_ssize_t)strlen(texts[i]), errors[k], 0, NULL));
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { proxies, texts, file_names, writers, others, orders, small_families, translations,
                                         escapes, NULL };
    PyObject *text = say_all(all), *parent = PyObject_GetAttrString(self, "parent"), *name = PyModule_GetNameObject(self);
    PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat("made from a spec: %R %R\n", name, parent));
    (void)none;
    Py_XDECREF(parent);
    Py_XDECREF(name);
    return text;
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
/* A module that is made from its spec. */
static PyObject *made(PyObject *spec, PyModuleDef *def)
{
    PyObject *name = PyObject_GetAttrString(spec, "name"), *module = name != NULL ? PyModule_NewObject(name) : NULL;
    PyObject *parent = PyObject_GetAttrString(spec, "parent"), *places = PyObject_GetAttrString(spec, "submodule_search_locations");
    (void)def;
    if (module == NULL || parent == NULL || PyModule_AddObjectRef(module, "parent", parent) < 0 || places != Py_None
        || !PyObject_HasAttrString(spec, "origin") || !PyObject_HasAttrString(spec, "loader"))
        Py_CLEAR(module);
    Py_XDECREF(name);
    Py_XDECREF(parent);
    Py_XDECREF(places);
    return module;
}

static PyModuleDef_Slot slots[] = { { Py_mod_create, made }, { 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "wide", NULL, 0, methods, slots, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_wide(void)
{
    return PyModuleDef_Init(&def);
}
