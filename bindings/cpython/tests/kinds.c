/* kinds.c - the methods of dict, struct sequences and memoryviews. As the extension of our own that says the same in CPython:
 * kinds.txt. */
#include "say.h"

/* Calls the method. Takes args and kwargs over. */
static void call(PyObject *op, const char *method, PyObject *args, PyObject *kwargs)
{
    PyObject *f = PyObject_GetAttrString(op, method), *result = f != NULL && args != NULL ? PyObject_Call(f, args, kwargs) : NULL;
    if (result != NULL && PyIter_Check(result))
        Py_SETREF(result, PySequence_List(result));
    show(method, result);
    Py_XDECREF(f);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
}

static void get(PyObject *op, const char *name)
{
    show(name, PyObject_GetAttrString(op, name));
}

/* Takes key over. */
static void item(PyObject *op, PyObject *key)
{
    show("item", PyObject_GetItem(op, key));
    Py_DECREF(key);
}

static void set_item(PyObject *op, PyObject *key, PyObject *value)
{
    show_code("set item", PyObject_SetItem(op, key, value));
    Py_DECREF(key);
    Py_DECREF(value);
}

static PyObject *from_to(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t by)
{
    PyObject *a = PyLong_FromSsize_t(start), *b = PyLong_FromSsize_t(stop), *c = PyLong_FromSsize_t(by), *slice = PySlice_New(a, b, c);
    Py_DECREF(a);
    Py_DECREF(b);
    Py_DECREF(c);
    return slice;
}

/* ---- dict ------------------------------------------------------------------------ */

static void dicts(void)
{
    PyObject *dict = Py_BuildValue("{sisisi}", "a", 1, "b", 2, "c", 3), *other = Py_BuildValue("{sisi}", "c", 4, "d", 5), *op;
    say("dict");
    call(dict, "pop", Py_BuildValue("(s)", "b"), NULL);
    call(dict, "pop", Py_BuildValue("(s)", "b"), NULL);
    call(dict, "pop", Py_BuildValue("(si)", "b", 7), NULL);
    call(dict, "pop", Py_BuildValue("([])"), NULL);
    call(dict, "pop", PyTuple_New(0), NULL);
    call(dict, "setdefault", Py_BuildValue("(s)", "e"), NULL);
    call(dict, "setdefault", Py_BuildValue("(si)", "e", 2), NULL);
    call(dict, "setdefault", Py_BuildValue("(si)", "f", 2), NULL);
    call(dict, "setdefault", Py_BuildValue("({}i)", 2), NULL);
    show("dict", Py_NewRef(dict));
    call(dict, "popitem", PyTuple_New(0), NULL);
    call(dict, "popitem", PyTuple_New(0), NULL);
    call(dict, "popitem", PyTuple_New(0), NULL);
    show("dict", Py_NewRef(dict));
    call(dict, "popitem", PyTuple_New(0), NULL);
    call(dict, "popitem", PyTuple_New(0), NULL);
    call(dict, "update", PyTuple_New(0), NULL);
    call(dict, "update", Py_BuildValue("(O)", other), NULL);
    call(dict, "update", Py_BuildValue("([(si)[si]])", "x", 1, "y", 2), Py_BuildValue("{sisi}", "y", 3, "z", 4));
    call(dict, "update", Py_BuildValue("([i])", 1), NULL);
    call(dict, "update", Py_BuildValue("([(ii)(i)])", 1, 2, 3), NULL);
    call(dict, "update", Py_BuildValue("(i)", 1), NULL);
    call(dict, "update", Py_BuildValue("(OO)", other, other), NULL);
    show("dict", Py_NewRef(dict));
    call(dict, "copy", PyTuple_New(0), NULL);
    call(dict, "__reversed__", PyTuple_New(0), NULL);
    call(dict, "fromkeys", Py_BuildValue("((sss))", "a", "b", "a"), NULL);
    call(dict, "fromkeys", Py_BuildValue("(sO)", "xy", Py_True), NULL);
    call(dict, "fromkeys", Py_BuildValue("(i)", 1), NULL);
    show("or", PyNumber_Or(dict, other));
    show("or", PyNumber_Or(dict, Py_None));
    op = PyNumber_InPlaceOr(dict, other);
    say("the same: %d", op == dict);
    Py_XDECREF(op);
    op = Py_BuildValue("[(ss)]", "last", "pair");
    Py_XDECREF(PyNumber_InPlaceOr(dict, op));
    show("in place", Py_NewRef(dict));
    Py_DECREF(op);
    op = Py_BuildValue("((si)(si))", "last", 1, "new", 2);
    show_code("pairs", PyDict_MergeFromSeq2(dict, op, 0));
    show("kept", Py_NewRef(dict));
    show_code("pairs", PyDict_MergeFromSeq2(dict, op, 1));
    show("replaced", Py_NewRef(dict));
    Py_DECREF(op);
    call((PyObject *)&PyDict_Type, "__call__", Py_BuildValue("([(ii)])", 1, 2), Py_BuildValue("{si}", "k", 3));
    call((PyObject *)&PyDict_Type, "__call__", Py_BuildValue("(ii)", 1, 2), NULL);
    call((PyObject *)&PyDict_Type, "__call__", Py_BuildValue("([(i)])", 1), NULL);
    call(dict, "clear", PyTuple_New(0), NULL);
    show("empty", Py_NewRef(dict));
    show("other", Py_NewRef(other));
    Py_DECREF(dict);
    Py_DECREF(other);
}

/* ---- struct sequences -------------------------------------------------------------- */

static PyStructSequence_Field fields[] = {
    { "x", "across" }, { "y", "down" }, { "color", NULL }, { "note", "is not in the sequence" }, { NULL, NULL }
};
static PyStructSequence_Desc desc = { "shapes.Point", "A point.", fields, 3 };
static PyStructSequence_Field plain_fields[] = { { "first", NULL }, { "second", NULL }, { NULL, NULL } };
static PyStructSequence_Desc plain_desc = { "shapes.Pair", NULL, plain_fields, 2 };
static PyTypeObject Point_Type;

static void sequence_of(PyTypeObject *type)
{
    PyObject *op = PyStructSequence_New(type), *same, *no_dict;
    PyStructSequence_SET_ITEM(op, 0, PyLong_FromLong(10));
    PyStructSequence_SET_ITEM(op, 1, PyUnicode_FromString("y"));
    PyStructSequence_SetItem(op, 2, PyFloat_FromDouble(2.5));
    PyStructSequence_SetItem(op, 3, PyUnicode_FromString("hidden"));
    show("it", Py_NewRef(op));
    say("%d %d %zd", PyTuple_Check(op), PyTuple_CheckExact(op), PyTuple_GET_SIZE(op));
    show("item 0", Py_NewRef(PyStructSequence_GET_ITEM(op, 0)));
    show("item 3", Py_NewRef(PyStructSequence_GetItem(op, 3)));
    show("item 2", PySequence_GetItem(op, 2));
    show("item 3", PySequence_GetItem(op, 3));
    item(op, PyLong_FromLong(-1));
    item(op, PyLong_FromLong(-4));
    item(op, from_to(0, 2, 1));
    get(op, "x");
    get(op, "y");
    get(op, "color");
    get(op, "note");
    get(op, "none");
    show_code("set", PyObject_SetAttrString(op, "x", Py_None));
    get((PyObject *)type, "n_fields");
    get((PyObject *)type, "n_sequence_fields");
    get((PyObject *)type, "n_unnamed_fields");
    get((PyObject *)type, "__match_args__");
    get((PyObject *)type, "__doc__");
    get((PyObject *)type, "__name__");
    get((PyObject *)type, "__module__");
    same = Py_BuildValue("(isd)", 10, "y", 2.5);
    show("equal", PyObject_RichCompare(op, same, Py_EQ));
    say("hash: %d", PyObject_Hash(op) == PyObject_Hash(same));
    show("sum", PySequence_Concat(op, same));
    show("list", PySequence_List(op));
    show("contains", PyBool_FromLong(PySequence_Contains(op, Py_None)));
    call(op, "index", Py_BuildValue("(s)", "y"), NULL);
    call(op, "count", Py_BuildValue("(i)", 10), NULL);
    show("made", PyObject_CallFunction((PyObject *)type, "(O)", same));
    show("made", PyObject_CallFunction((PyObject *)type, "([iiii])", 1, 2, 3, 4));
    no_dict = PyObject_CallFunction((PyObject *)type, "(iii){si}", 1, 2, 3, "note", 5);
    get(no_dict, "note");
    Py_DECREF(no_dict);
    no_dict = PyObject_CallFunction((PyObject *)type, "(iii)", 1, 2, 3);
    show("made", Py_XNewRef(no_dict));
    show("made", PyObject_CallFunction((PyObject *)type, "((iii))", 1, 2, 3));
    show("too few", PyObject_CallFunction((PyObject *)type, "((ii))", 1, 2));
    show("too many", PyObject_CallFunction((PyObject *)type, "((iiiii))", 1, 2, 3, 4, 5));
    show("no sequence", PyObject_CallFunction((PyObject *)type, "i", 1));
    show("no dict", PyObject_CallFunction((PyObject *)type, "(iii)i", 1, 2, 3, 4));
    Py_XDECREF(no_dict);
    PyErr_Clear();
    show_code("delete", PyObject_DelItem(op, Py_None));
    Py_DECREF(same);
    Py_DECREF(op);
}

static void struct_sequences(void)
{
    PyTypeObject *type = PyStructSequence_NewType(&desc);
    PyObject *op, *pair;
    say("struct sequences");
    if (Point_Type.tp_name == NULL)
        show_code("init", PyStructSequence_InitType2(&Point_Type, &desc));
    else
        say("init: 0");
    say("of a type that was made");
    sequence_of(type);
    say("of a static one");
    sequence_of(&Point_Type);
    op = PyStructSequence_New(type);
    Py_DECREF(type);
    Py_DECREF(op);
    type = PyStructSequence_NewType(&plain_desc);
    show("too few", PyObject_CallFunction((PyObject *)type, "((i))", 1));
    pair = PyObject_CallFunction((PyObject *)type, "((ii))", 1, 2);
    show("pair", Py_NewRef(pair));
    Py_DECREF(pair);
    Py_DECREF(type);
}

/* ---- memoryview -------------------------------------------------------------------- */

static void all_of(PyObject *m)
{
    static const char *const names[] = {
        "nbytes", "readonly", "itemsize", "format", "ndim", "shape", "strides", "suboffsets", "c_contiguous", "f_contiguous", "contiguous"
    };
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        get(m, names[i]);
    call(m, "tolist", PyTuple_New(0), NULL);
    call(m, "tobytes", PyTuple_New(0), NULL);
    say("length: %zd", PyObject_Size(m));
}

static void plain_views(void)
{
    PyObject *bytes = PyBytes_FromString("abcdefgh"), *array = PyByteArray_FromStringAndSize("01234567", 8), *m, *part, *ref;
    say("memoryview");
    m = PyMemoryView_FromObject(bytes);
    say("%d %d", PyMemoryView_Check(m), PyMemoryView_Check(bytes));
    say("%d %d", PyMemoryView_GET_BUFFER(m)->buf == PyBytes_AS_STRING(bytes), PyMemoryView_GET_BASE(m) == bytes);
    say("%zd %d %s", PyMemoryView_GET_BUFFER(m)->len, PyMemoryView_GET_BUFFER(m)->readonly, PyMemoryView_GET_BUFFER(m)->format);
    all_of(m);
    item(m, PyLong_FromLong(0));
    item(m, PyLong_FromLong(-1));
    item(m, PyLong_FromLong(8));
    item(m, PyLong_FromLong(-9));
    item(m, PyUnicode_FromString("x"));
    item(m, Py_BuildValue("(i)", 3));
    item(m, Py_BuildValue("(ii)", 3, 4));
    item(m, Py_BuildValue("(N)", from_to(0, 1, 1)));
    set_item(m, PyLong_FromLong(0), PyLong_FromLong(1));
    say("hash: %d", PyObject_Hash(m) == PyObject_Hash(bytes));
    show("equal", PyObject_RichCompare(m, bytes, Py_EQ));
    show("equal", PyObject_RichCompare(m, array, Py_EQ));
    show("unequal", PyObject_RichCompare(m, array, Py_NE));
    show("equal", PyObject_RichCompare(m, Py_None, Py_EQ));
    show("less", PyObject_RichCompare(m, m, Py_LT));
    show("list", PySequence_List(m));
    show("contains", PyBool_FromLong(PySequence_Contains(m, Py_None)));
    part = PyObject_GetItem(m, ref = from_to(1, 7, 2));
    Py_DECREF(ref);
    all_of(part);
    item(part, PyLong_FromLong(2));
    item(part, PyLong_FromLong(3));
    call(m, "release", PyTuple_New(0), NULL);
    call(m, "release", PyTuple_New(0), NULL);
    call(m, "tolist", PyTuple_New(0), NULL);
    item(m, PyLong_FromLong(0));
    get(m, "nbytes");
    show("of a released one", PyMemoryView_FromObject(m));
    show_code("length", (int)PyObject_Size(m));
    show("equal", PyObject_RichCompare(m, m, Py_EQ));
    show("equal", PyObject_RichCompare(m, part, Py_EQ));
    Py_DECREF(m);
    all_of(part);
    Py_SETREF(part, PyObject_GetItem(part, ref = from_to(2, -4, -1)));
    Py_DECREF(ref);
    all_of(part);
    call(part, "cast", Py_BuildValue("(s)", "B"), NULL);
    Py_DECREF(part);

    m = PyMemoryView_FromObject(array);
    all_of(m);
    set_item(m, PyLong_FromLong(0), PyLong_FromLong(65));
    set_item(m, PyLong_FromLong(-1), PyLong_FromLong(255));
    set_item(m, PyLong_FromLong(1), PyLong_FromLong(256));
    set_item(m, PyLong_FromLong(1), PyLong_FromLong(-1));
    set_item(m, PyLong_FromLong(1), PyUnicode_FromString("x"));
    set_item(m, PyLong_FromLong(8), PyLong_FromLong(1));
    set_item(m, from_to(1, 3, 1), PyBytes_FromString("xy"));
    set_item(m, from_to(1, 3, 1), PyBytes_FromString("xyz"));
    set_item(m, from_to(0, 8, 3), PyBytes_FromString("*+-"));
    set_item(m, from_to(1, 3, 1), PyLong_FromLong(1));
    show("array", Py_NewRef(array));
    part = PyObject_GetItem(m, ref = from_to(0, 6, 1));
    Py_DECREF(ref);
    set_item(m, from_to(2, 8, 1), Py_NewRef(part));
    Py_DECREF(part);
    show("overlapping", Py_NewRef(array));
    show_code("delete", PyObject_DelItem(m, Py_None));
    say("hash: %d", PyObject_Hash(m) == -1);
    show("hash", NULL);
    show_code("resize", PyByteArray_Resize(array, 20));
    part = PyMemoryView_FromObject(m);
    {
        Py_buffer view;
        show_code("buffer", PyObject_GetBuffer(part, &view, PyBUF_SIMPLE));
        say("%zd %d %d", view.len, view.obj == part, view.shape == NULL);
        call(part, "release", PyTuple_New(0), NULL);
        PyBuffer_Release(&view);
        call(part, "release", PyTuple_New(0), NULL);
        show_code("buffer", PyObject_GetBuffer(part, &view, PyBUF_SIMPLE));
    }
    Py_DECREF(part);
    part = PyObject_CallMethod(m, "__enter__", NULL);
    say("the same: %d", part == m);
    Py_XDECREF(part);
    part = PyObject_CallMethod(m, "toreadonly", NULL);
    get(part, "readonly");
    set_item(part, PyLong_FromLong(0), PyLong_FromLong(1));
    Py_DECREF(part);
    call(m, "__exit__", Py_BuildValue("(OOO)", Py_None, Py_None, Py_None), NULL);
    get(m, "obj");
    show_code("resize", PyByteArray_Resize(array, 20));
    Py_DECREF(m);
    Py_DECREF(array);
    Py_DECREF(bytes);
    show("of no buffer", PyMemoryView_FromObject(Py_None));
    show("new", PyObject_CallFunction((PyObject *)&PyMemoryView_Type, "i", 1));
    show("new", PyObject_CallFunction((PyObject *)&PyMemoryView_Type, NULL));
}

static void formats(void)
{
    static const char letters[] = "cbBhHiIlLqQnNfd?P";
    PyObject *array = PyByteArray_FromStringAndSize(NULL, 48), *m, *other;
    Py_ssize_t i;
    say("formats");
    for (i = 0; i < 48; i++)
        PyByteArray_AS_STRING(array)[i] = (char)(i * 37 + 1);
    m = PyMemoryView_FromObject(array);
    for (i = 0; letters[i] != '\0'; i++) {
        char format[3] = { '@', letters[i], '\0' };
        PyObject *cast = PyObject_CallMethod(m, "cast", "s", i % 2 == 0 ? format : format + 1);
        get(cast, "format");
        get(cast, "shape");
        call(cast, "tolist", PyTuple_New(0), NULL);
        set_item(cast, PyLong_FromLong(1), PyLong_FromLong(1));
        set_item(cast, PyLong_FromLong(1), PyLong_FromLong(-1));
        set_item(cast, PyLong_FromLong(1), PyLong_FromLong(100000));
        set_item(cast, PyLong_FromLong(1), PyLong_FromString("123456789012345678901234567890", NULL, 10));
        set_item(cast, PyLong_FromLong(1), PyFloat_FromDouble(1.5));
        set_item(cast, PyLong_FromLong(1), PyFloat_FromDouble(1e300));
        set_item(cast, PyLong_FromLong(1), PyBytes_FromString("z"));
        set_item(cast, PyLong_FromLong(1), PyBytes_FromString("zz"));
        set_item(cast, PyLong_FromLong(1), Py_NewRef(Py_None));
        item(cast, PyLong_FromLong(1));
        other = PyObject_CallMethod(cast, "cast", "s", "h");
        show("two casts", other != NULL ? PyObject_GetAttrString(other, "shape") : NULL);
        Py_XDECREF(other);
        show("equal", PyObject_RichCompare(cast, m, Py_EQ));
        Py_DECREF(cast);
    }
    call(m, "cast", Py_BuildValue("(s)", "z"), NULL);
    call(m, "cast", Py_BuildValue("(s)", "e"), NULL);
    call(m, "cast", Py_BuildValue("(s)", "2i"), NULL);
    call(m, "cast", Py_BuildValue("(s)", ""), NULL);
    call(m, "cast", Py_BuildValue("(s[iii])", "i", 2, 2, 2), NULL);
    call(m, "cast", Py_BuildValue("(s[ii])", "i", 3, 0), NULL);
    call(m, "cast", Py_BuildValue("(s[s])", "i", "x"), NULL);
    call(m, "cast", Py_BuildValue("(ss)", "i", "x"), NULL);
    /* more dimensions */
    other = PyObject_CallMethod(m, "cast", "s(iii)", "h", 2, 3, 4);
    all_of(other);
    item(other, Py_BuildValue("(iii)", 1, 2, 3));
    item(other, Py_BuildValue("(iii)", 0, -1, 0));
    item(other, Py_BuildValue("(iii)", 0, 3, 0));
    item(other, Py_BuildValue("(ii)", 0, 1));
    item(other, PyLong_FromLong(0));
    set_item(other, Py_BuildValue("(iii)", 1, 2, 3), PyLong_FromLong(77));
    item(other, Py_BuildValue("(iii)", -1, -1, -1));
    set_item(other, PyLong_FromLong(0), PyLong_FromLong(77));
    set_item(other, from_to(0, 1, 1), PyLong_FromLong(77));
    Py_SETREF(other, PyObject_GetItem(other, array = from_to(1, 2, 1)));
    all_of(other);
    call(other, "tobytes", Py_BuildValue("(s)", "F"), NULL);
    call(other, "tobytes", Py_BuildValue("(s)", "A"), NULL);
    call(other, "tobytes", Py_BuildValue("(O)", Py_None), NULL);
    call(other, "tobytes", Py_BuildValue("(s)", "X"), NULL);
    call(other, "cast", Py_BuildValue("(s(ii))", "B", 3, 8), NULL);
    Py_DECREF(array);
    array = Py_NewRef(PyMemoryView_GET_BASE(m));
    call(other, "cast", Py_BuildValue("(s)", "i"), NULL);
    {
        PyObject *flat = PyObject_CallMethod(other, "cast", "s", "B");
        all_of(flat);
        Py_DECREF(flat);
    }
    Py_DECREF(other);
    Py_DECREF(m);
    Py_DECREF(array);
    Py_DECREF(array);
}

static void from_memory(void)
{
    static char memory[] = "some memory!";
    short table[6] = { 0, 1, 2, 3, 4, 5 };
    Py_ssize_t shape[2] = { 2, 3 }, strides[2] = { 2, 4 }, at[2] = { 1, 2 };
    Py_buffer view = { 0 };
    PyObject *m, *again, *bytes;
    char copy[13] = "";
    say("from memory");
    m = PyMemoryView_FromMemory(memory, 12, PyBUF_WRITE);
    all_of(m);
    get(m, "obj");
    set_item(m, PyLong_FromLong(0), PyLong_FromLong('S'));
    say("%s", memory);
    memory[0] = 's';
    Py_DECREF(m);
    m = PyMemoryView_FromMemory(memory, 4, PyBUF_READ);
    all_of(m);
    set_item(m, PyLong_FromLong(0), PyLong_FromLong('S'));
    Py_DECREF(m);
    view.buf = table;
    view.len = sizeof table;
    view.itemsize = 2;
    view.ndim = 2;
    view.format = (char *)"h";
    view.shape = shape;
    view.strides = strides;
    m = PyMemoryView_FromBuffer(&view);
    all_of(m);
    call(m, "tobytes", Py_BuildValue("(s)", "F"), NULL);
    call(m, "tobytes", Py_BuildValue("(s)", "A"), NULL);
    say("%d %d %d", PyBuffer_IsContiguous(&view, 'C'), PyBuffer_IsContiguous(&view, 'F'), PyBuffer_IsContiguous(&view, 'A'));
    say("%d", *(short *)PyBuffer_GetPointer(&view, at));
    show_code("copied", PyBuffer_ToContiguous(copy, &view, 12, 'C'));
    show("copied", PyBytes_FromStringAndSize(copy, 12));
    show_code("copied", PyBuffer_FromContiguous(&view, copy, 12, 'C'));
    say("%d %d %d %d %d %d", table[0], table[1], table[2], table[3], table[4], table[5]);
    show_code("copied", PyBuffer_ToContiguous(copy, &view, 11, 'C'));
    again = PyMemoryView_GetContiguous(m, PyBUF_READ, 'F');
    show("F", PyObject_CallMethod(again, "tolist", NULL));
    Py_DECREF(again);
    again = PyMemoryView_GetContiguous(m, PyBUF_READ, 'C');
    all_of(again);
    Py_DECREF(again);
    show("C", PyMemoryView_GetContiguous(m, PyBUF_WRITE, 'C'));
    bytes = PyBytes_FromString("bytes");
    show("read only", PyMemoryView_GetContiguous(bytes, PyBUF_WRITE, 'C'));
    Py_DECREF(bytes);
    show_code("simple", PyObject_GetBuffer(m, &view, PyBUF_SIMPLE));
    show_code("C", PyObject_GetBuffer(m, &view, PyBUF_C_CONTIGUOUS));
    show_code("F", PyObject_GetBuffer(m, &view, PyBUF_F_CONTIGUOUS));
    PyBuffer_Release(&view);
    Py_DECREF(m);
    view.buf = NULL;
    show("no memory", PyMemoryView_FromBuffer(&view));
    bytes = PyBytes_FromString("12345");
    m = PyByteArray_FromStringAndSize("abcdefg", 7);
    show_code("copy", PyObject_CopyData(m, bytes));
    show("copy", Py_NewRef(m));
    show_code("copy", PyObject_CopyData(bytes, m));
    show_code("copy", PyObject_CopyData(m, Py_None));
    Py_DECREF(bytes);
    Py_DECREF(m);
    {
        Py_ssize_t in[3] = { 2, 3, 4 }, out[3];
        PyBuffer_FillContiguousStrides(3, in, out, 8, 'C');
        say("%zd %zd %zd", out[0], out[1], out[2]);
        PyBuffer_FillContiguousStrides(3, in, out, 8, 'F');
        say("%zd %zd %zd", out[0], out[1], out[2]);
    }
}

/* An object with a buffer, which takes part in a cycle through a view of itself. */
typedef struct {
    PyObject_HEAD
    PyObject *view;
    char memory[8];
} Own;

static int own_going;

static void own_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_CLEAR(((Own *)op)->view);
    own_going++;
    PyObject_GC_Del(op);
}

static int own_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((Own *)op)->view);
    return 0;
}

static int own_clear(PyObject *op)
{
    Py_CLEAR(((Own *)op)->view);
    return 0;
}

static int own_getbuffer(PyObject *op, Py_buffer *view, int flags)
{
    return PyBuffer_FillInfo(view, op, ((Own *)op)->memory, 8, 0, flags);
}

static PyBufferProcs own_as_buffer = { own_getbuffer, NULL };
static PyTypeObject Own_Type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Own", .tp_basicsize = sizeof(Own), .tp_dealloc = own_dealloc, .tp_as_buffer = &own_as_buffer,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = own_traverse, .tp_clear = own_clear
};

static void cycles(void)
{
    Own *op = PyObject_GC_New(Own, &Own_Type);
    PyObject *ref, *m;
    say("cycles");
    op->view = NULL;
    PyObject_GC_Track(op);
    m = PyMemoryView_FromObject((PyObject *)op);
    op->view = PyMemoryView_FromObject(m);
    ref = PyWeakref_NewRef(m, NULL);
    Py_DECREF(m);
    say("weak: %d", PyWeakref_GetObject(ref) == Py_None);
    Py_SETREF(ref, PyWeakref_NewRef(op->view, NULL));
    Py_DECREF(op);
    say("alive: %d %d", own_going, PyWeakref_GetObject(ref) != Py_None);
    PyGC_Collect();
    say("gone: %d %d", own_going, PyWeakref_GetObject(ref) == Py_None);
    Py_DECREF(ref);
    own_going = 0;
}

/* ---- floats as bytes -------------------------------------------------------------------- */

static void floats(void)
{
    static const double numbers[] = { 0, -0.0, 1, -1.5, 65504, 65519, 65520, 6e-8, 2e-8, 3e-8, 1e-5, 0.1, 1e38, 1e39, 5.9604644775390625e-08, 1e300 };
    size_t i;
    int little;
    char p[8];
    say("floats");
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (little = 0; little < 2; little++) {
            show_code("2", PyFloat_Pack2(numbers[i], p, little));
            show("2", PyBytes_FromStringAndSize(p, 2));
            show("2", PyFloat_FromDouble(PyFloat_Unpack2(p, little)));
            show_code("4", PyFloat_Pack4(numbers[i], p, little));
            show("4", PyBytes_FromStringAndSize(p, 4));
            show("4", PyFloat_FromDouble(PyFloat_Unpack4(p, little)));
            show_code("8", PyFloat_Pack8(numbers[i], p, little));
            show("8", PyBytes_FromStringAndSize(p, 8));
            show("8", PyFloat_FromDouble(PyFloat_Unpack8(p, little)));
        }
    for (i = 0; i < 2000; i += 7)
        show("power", PyFloat_FromDouble(ldexp(i % 2 == 0 ? 1 : -1, (int)i - 1022)));
    show("max", PyFloat_FromDouble(PyFloat_GetMax()));
    show("min", PyFloat_FromDouble(PyFloat_GetMin()));
}

/* point(list, note): the second one is not in the sequence. */
static PyObject *point(PyObject *self, PyObject *args)
{
    PyObject *x, *note, *op;
    PyTypeObject *type;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &x, &note) || (type = PyStructSequence_NewType(&desc)) == NULL)
        return NULL;
    op = PyStructSequence_New(type);
    Py_DECREF(type);
    PyStructSequence_SET_ITEM(op, 0, Py_NewRef(x));
    PyStructSequence_SET_ITEM(op, 3, Py_NewRef(note));
    return op;
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { dicts, struct_sequences, plain_views, formats, from_memory, cycles, floats, NULL };
    (void)self, (void)none;
    return PyType_Ready(&Own_Type) == 0 ? say_all(all) : NULL;
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { "point", point, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "kinds", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_kinds(void)
{
    return PyModule_Create(&def);
}
