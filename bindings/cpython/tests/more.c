/* more.c - operators in place, formats, exceptions that are dealt with, tracebacks, and what else C code asks for. As
 * the extension of our own that says the same in CPython: more.utf8. */
#include "say.h"

/* Python.h has frames, but not how they are made. */
#include <frameobject.h>

/* ---- operators -------------------------------------------------------------------------- */

/* "o": knows only the operator without "=", "i": the one with it, "n": neither; what it has tells its name. */
typedef struct {
    PyObject_HEAD
    char kind;
} Op;

static PyTypeObject Old_Type, New_Type, None_Type;

static PyObject *told(const char *what, PyObject *a, PyObject *b)
{
    return PyUnicode_FromFormat("%s(%s, %s)", what, Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
}

#define TELLS(name) static PyObject *name(PyObject *a, PyObject *b) { return told(#name, a, b); }
TELLS(add) TELLS(subtract) TELLS(multiply) TELLS(remainder_) TELLS(floor_divide) TELLS(true_divide) TELLS(lshift) TELLS(rshift)
TELLS(and_) TELLS(or_) TELLS(xor_) TELLS(matrix)
TELLS(iadd) TELLS(isubtract) TELLS(imultiply) TELLS(iremainder) TELLS(ifloor_divide) TELLS(itrue_divide) TELLS(ilshift) TELLS(irshift)
TELLS(iand) TELLS(ior) TELLS(ixor) TELLS(imatrix)
static PyObject *power(PyObject *a, PyObject *b, PyObject *c) { return PyUnicode_FromFormat("power(%s, %s, %s)", Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name, Py_TYPE(c)->tp_name); }
static PyObject *ipower(PyObject *a, PyObject *b, PyObject *c) { (void)c; return told("ipower", a, b); }

static PyNumberMethods old_as_number = {
    .nb_add = add, .nb_subtract = subtract, .nb_multiply = multiply, .nb_remainder = remainder_, .nb_floor_divide = floor_divide,
    .nb_true_divide = true_divide, .nb_lshift = lshift, .nb_rshift = rshift, .nb_and = and_, .nb_or = or_, .nb_xor = xor_,
    .nb_matrix_multiply = matrix, .nb_power = power
};
static PyNumberMethods new_as_number = {
    .nb_inplace_add = iadd, .nb_inplace_subtract = isubtract, .nb_inplace_multiply = imultiply, .nb_inplace_remainder = iremainder,
    .nb_inplace_floor_divide = ifloor_divide, .nb_inplace_true_divide = itrue_divide, .nb_inplace_lshift = ilshift,
    .nb_inplace_rshift = irshift, .nb_inplace_and = iand, .nb_inplace_or = ior, .nb_inplace_xor = ixor,
    .nb_inplace_matrix_multiply = imatrix, .nb_inplace_power = ipower
};

static void op_dealloc(PyObject *op) { PyObject_Free(op); }

static PyTypeObject Old_Type = { PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Old", .tp_basicsize = sizeof(Op), .tp_dealloc = op_dealloc, .tp_as_number = &old_as_number };
static PyTypeObject New_Type = { PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "New", .tp_basicsize = sizeof(Op), .tp_dealloc = op_dealloc, .tp_as_number = &new_as_number };
static PyTypeObject None_Type = { PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Neither", .tp_basicsize = sizeof(Op), .tp_dealloc = op_dealloc };

static PyObject *pow_(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }
static PyObject *ipow_(PyObject *a, PyObject *b) { return PyNumber_InPlacePower(a, b, Py_None); }

static const struct { const char *name; PyObject *(*f)(PyObject *, PyObject *); } operators[] = {
    { "+", PyNumber_Add }, { "-", PyNumber_Subtract }, { "*", PyNumber_Multiply }, { "%", PyNumber_Remainder },
    { "//", PyNumber_FloorDivide }, { "/", PyNumber_TrueDivide }, { "<<", PyNumber_Lshift }, { ">>", PyNumber_Rshift },
    { "&", PyNumber_And }, { "|", PyNumber_Or }, { "^", PyNumber_Xor }, { "@", PyNumber_MatrixMultiply }, { "**", pow_ },
    { "+=", PyNumber_InPlaceAdd }, { "-=", PyNumber_InPlaceSubtract }, { "*=", PyNumber_InPlaceMultiply },
    { "%=", PyNumber_InPlaceRemainder }, { "//=", PyNumber_InPlaceFloorDivide }, { "/=", PyNumber_InPlaceTrueDivide },
    { "<<=", PyNumber_InPlaceLshift }, { ">>=", PyNumber_InPlaceRshift }, { "&=", PyNumber_InPlaceAnd },
    { "|=", PyNumber_InPlaceOr }, { "^=", PyNumber_InPlaceXor }, { "@=", PyNumber_InPlaceMatrixMultiply }, { "**=", ipow_ }
};

static void operators_(void)
{
    PyObject *all[5] = { (PyObject *)PyObject_New(Op, &Old_Type), (PyObject *)PyObject_New(Op, &New_Type),
                         (PyObject *)PyObject_New(Op, &None_Type), PyLong_FromLong(3), Py_BuildValue("[i]", 1) };
    size_t i, k, n;
    say("operators");
    for (n = 0; n < sizeof operators / sizeof *operators; n++)
        for (i = 0; i < 5; i++)
            for (k = 0; k < 5; k++)
                show(operators[n].name, operators[n].f(all[i], all[k]));
    show("power", PyNumber_Power(all[3], all[3], all[0]));
    show("power", PyNumber_Power(all[3], all[3], all[2]));
    show("power", PyNumber_InPlacePower(all[3], all[3], all[3]));
    for (i = 0; i < 5; i++)
        Py_DECREF(all[i]);
}

/* ---- numbers in a base ------------------------------------------------------------------ */

static void bases(void)
{
    static const char *const numbers[] = { "0", "1", "-1", "255", "-4096", "123456789012345678901234567890", "1073741824", "-1152921504606846976" };
    size_t i;
    int base;
    say("bases");
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (base = 2; base <= 16; base += base == 8 ? 2 : 6) {
            PyObject *n = PyLong_FromString(numbers[i], NULL, 10);
            show(numbers[i], PyNumber_ToBase(n, base));
            Py_DECREF(n);
        }
    show("true", PyNumber_ToBase(Py_True, 16));
    show("no base", PyNumber_ToBase(Py_True, 7));
    show("no int", PyNumber_ToBase(Py_None, 2));
}

/* ---- formats ---------------------------------------------------------------------------- */

static void format(PyObject *op, const char *spec)
{
    PyObject *text = PyUnicode_FromString(spec);
    show(spec, PyObject_Format(op, text));
    Py_DECREF(text);
}

static void formats(void)
{
    static const char *const of_ints[] = {
        "", "d", "5", "<5", "^5d", "=+8", "+", " ", "x", "#x", "#X", "o", "#o", "b", "#b", "08", "+08", "#010x", ",", "_", "_x", "_b", "012,", "08,",
        "*^12,", "n", "c", "s", ".2", "z", "e", ".2f", "%", ".1%", "g", ",.2f", "q", "5x7", "\xe2\x82\xac>6", ",,", "_,", "10.", "99999999999999999999"
    };
    static const char *const of_floats[] = {
        "", "f", ".0f", "#.0f", ".3f", "e", ".1e", "E", "g", ".3g", "#.3g", "G", "%", ".0%", "10.2f", "<10.2f", "=+10.2f", "010.2f", "+", " ", ",", ",.2f",
        "015,.2f", "_", "n", ".3", ".1", "10", ".0", "z.1f", "z", "d", "s", "x", ".400f", "^+12.3e"
    };
    static const char *const of_texts[] = { "", "s", "5", "<5", ">5", "^5", "*^6", ".1", "5.1", "05", "=5", "+", "#", ",", "d", "\xe2\x82\xac^6", "z" };
    static const long ints[] = { 0, 1, -1, 65, 1234567, -1234567, 0x110000 };
    static const double floats[] = { 0, -0.0, 1, -1.5, 0.1, 1234567.891, 1e16, 1e-5, 123.456, -0.001, 1e100, 99.5, 999999.5, Py_HUGE_VAL, -Py_HUGE_VAL };
    static const char *const texts[] = { "", "a", "abc", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" };
    size_t i, k;
    PyObject *op;
    say("formats");
    for (i = 0; i < sizeof ints / sizeof *ints; i++) {
        op = PyLong_FromLong(ints[i]);
        for (k = 0; k < sizeof of_ints / sizeof *of_ints; k++)
            if (strcmp(of_ints[k], "5x7") != 0)     /* whose message depends on the version */
                format(op, of_ints[k]);
        Py_DECREF(op);
    }
    for (i = 0; i < sizeof floats / sizeof *floats; i++) {
        op = PyFloat_FromDouble(floats[i]);
        for (k = 0; k < sizeof of_floats / sizeof *of_floats; k++)
            format(op, of_floats[k]);
        Py_DECREF(op);
    }
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        op = PyUnicode_FromString(texts[i]);
        for (k = 0; k < sizeof of_texts / sizeof *of_texts; k++)
            format(op, of_texts[k]);
        Py_DECREF(op);
    }
    op = PyLong_FromString("-123456789012345678901234567890", NULL, 10);
    format(op, ",");
    format(op, "_x");
    format(op, "040");
    Py_DECREF(op);
    format(Py_True, "");
    format(Py_True, "d");
    format(Py_None, "");
    format(Py_None, "5");
    show("no spec", PyObject_Format(Py_None, NULL));
    show("no text", PyObject_Format(Py_None, Py_None));
    op = PyUnicode_FromString("{:>5}|{0!r:^7}|{x:,}");
    PyErr_Clear();
    Py_DECREF(op);
    op = PyUnicode_FromString("{:>5}|{!r:^7}|{{}}|{:,}");
    show("braces", PyObject_CallMethod(op, "format", "ssi", "a", "b", 12345));
    Py_DECREF(op);
}

static void import(const char *name, const char *key, const char *value, int level)
{
    PyObject *globals = PyDict_New(), *text = PyUnicode_FromString(value), *from = Py_BuildValue("[s]", "a"), *op;
    PyDict_SetItemString(globals, key, text);
    op = PyImport_ImportModuleLevel(name, globals, NULL, from, level);
    show(name, op != NULL ? PyObject_GetAttrString(op, "__name__") : NULL);
    Py_XDECREF(op);
    Py_DECREF(from);
    Py_DECREF(text);
    Py_DECREF(globals);
}

static void imports(void)
{
    static const char *const names[] = { "pack", "pack.x", "pack.y", "pack.y.z" };
    size_t i;
    say("imports");
    for (i = 0; i < 4; i++)
        PyObject_SetAttrString(PyImport_AddModule(names[i]), "a", Py_None);
    import("pack.x", "__package__", "other", 0);
    import("x", "__package__", "pack", 1);
    import("", "__package__", "pack", 1);
    import("y.z", "__package__", "pack", 1);
    import("z", "__package__", "pack.y", 1);
    import("x", "__package__", "pack.y", 2);
    import("", "__package__", "pack.y", 2);
    import("x", "__package__", "pack.y", 3);
    import("x", "__package__", "pack", 2);
    import("x", "__package__", "", 1);
    import("x", "other", "pack", 1);
}

/* format % args */
static void percents(void)
{
    static const char *const of_one[] = {
        "", "%%", "%s", "%6s|", "%-6s|", "%.1s", "%06s", "%-6.2s|", "%r", "%8r|", "%a", "%c", "%3c|", "%-3c|", "%03c", "%d", "%i", "%u", "%5d|", "%-5d|",
        "%05d", "%-05d|", "%+d", "% d", "%+ d", "%.3d", "%8.3d|", "%+08.3d", "%x", "%#x", "%X", "%#X", "%#010x", "%o", "%#o", "%#-8o|", "%.5x", "%+x",
        "%e", "%E", "%.0e", "%#.0e", "%f", "%.2f", "%F", "%10.1f|", "%-10.1f|", "%+010.1f", "% f", "%g", "%G", "%#g", "%.3g", "%.400f", "%ld", "%hd", "%Ls",
        "%5%", "%(a)s", "%(a", "%", "%5", "%5.", "%y", "\xe2\x82\xac%\xe2\x82\xac", "%99999999999999999999d", "%.99999999999f", "%s%s", "%*d", "%.*f", "%b"
    };
    static const char *const of_more[] = {
        "%s %s %s", "%*d|%s", "%-*d|%s", "%*d|%.*s", "%s", "%s %s", "%s %s %s %s", "%(a)s", "%0*d %s", "%.*f"
    };
    static const char *const of_keys[] = {
        "%(a)s", "%(a)5d|", "%(a)s %(b)s %(a)s", "%((x))s", "%(c)s", "%(a", "%(a)", "%(a)*d", "%s", "%d", "%%", "none", "%(a)s %s", "%s %(a)s", "%s %s"
    };
    PyObject *ones[] = {
        PyLong_FromLong(42), PyLong_FromLong(-7), PyLong_FromLong(0), PyLong_FromString("123456789012345678901234567890", NULL, 10), Py_NewRef(Py_True),
        PyLong_FromLong(0x20ac), PyLong_FromLong(0x110000), PyFloat_FromDouble(2.5), PyFloat_FromDouble(-0.0), PyFloat_FromDouble(1e20),
        PyFloat_FromDouble(-Py_HUGE_VAL), PyUnicode_FromString("abc"), PyUnicode_FromString("\xe2\x82\xac"), PyUnicode_FromString(""), Py_NewRef(Py_None),
        Py_BuildValue("(i)", 5), Py_BuildValue("((is))", 5, "x"), PyTuple_New(0)
    };
    PyObject *some[] = { Py_BuildValue("(iii)", 5, 4, 3), Py_BuildValue("(iis)", -6, -42, "abc"), Py_BuildValue("(iiis)", 6, 42, 2, "abc"), Py_BuildValue("(id)", 1, 0.25), Py_BuildValue("(sis)", "a", 5, "b") };
    PyObject *keys = Py_BuildValue("{sisssi}", "a", 17, "b", "\xc3\xa4", "(x)", 2), *list = Py_BuildValue("[ii]", 1, 2);
    size_t i, k;
    say("percents");
    for (i = 0; i < sizeof ones / sizeof *ones; i++) {
        for (k = 0; k < sizeof of_one / sizeof *of_one; k++) {
            PyObject *f = PyUnicode_FromString(of_one[k]);
            show(of_one[k], PyUnicode_Format(f, ones[i]));
            Py_DECREF(f);
        }
        Py_DECREF(ones[i]);
    }
    for (i = 0; i < sizeof some / sizeof *some; i++) {
        for (k = 0; k < sizeof of_more / sizeof *of_more; k++) {
            PyObject *f = PyUnicode_FromString(of_more[k]);
            show(of_more[k], PyNumber_Remainder(f, some[i]));
            Py_DECREF(f);
        }
        Py_DECREF(some[i]);
    }
    for (k = 0; k < sizeof of_keys / sizeof *of_keys; k++) {
        PyObject *f = PyUnicode_FromString(of_keys[k]);
        show(of_keys[k], PyUnicode_Format(f, keys));
        show(of_keys[k], PyUnicode_Format(f, list));
        Py_DECREF(f);
    }
    Py_DECREF(keys);
    Py_DECREF(list);
}

/* ---- exceptions ---------------------------------------------------------------------------- */

static void show_info(const char *what)
{
    PyObject *type, *value, *traceback;
    PyErr_GetExcInfo(&type, &value, &traceback);
    say("%s: %R %R %d", what, type, value, traceback == NULL ? 0 : traceback == Py_None ? 1 : 2);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* An exception, with a traceback of two lines if here. */
static PyObject *raised(PyObject *type, const char *text, int here)
{
    PyObject *t, *value, *traceback;
    PyErr_SetString(type, text);
    PyErr_Fetch(&t, &value, &traceback);
    PyErr_NormalizeException(&t, &value, &traceback);
    if (here) {
        PyObject *none = PyDict_New();
        PyCodeObject *code = PyCode_NewEmpty("file.c", "function", 7);
        PyFrameObject *frame = PyFrame_New(PyThreadState_Get(), code, none, NULL);
        PyErr_Restore(t, value, traceback);
        say("here: %d", PyTraceBack_Here(frame));
        say("here: %d", PyTraceBack_Here(frame));
        PyErr_Fetch(&t, &value, &traceback);
        say("traceback: %d", traceback != NULL && PyTraceBack_Check(traceback));
        say("set: %d", PyException_SetTraceback(value, traceback));
        Py_DECREF(frame);
        Py_DECREF(code);
        Py_DECREF(none);
    }
    Py_XDECREF(t);
    Py_XDECREF(traceback);
    return value;
}

static void exceptions(void)
{
    PyObject *first = raised(PyExc_ValueError, "first", 0), *second = raised(PyExc_KeyError, "second", 1), *type, *value, *traceback, *x;
    int lines;
    say("exceptions");
    show_info("none");
    PyErr_SetHandledException(first);
    show_info("first");
    x = PyErr_GetHandledException();
    say("the same: %d", x == first);
    Py_XDECREF(x);
    PyErr_SetString(PyExc_TypeError, "meanwhile");
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    x = PyException_GetContext(value);
    say("context: %d", x == first);
    Py_XDECREF(x);
    Py_DECREF(type);
    Py_DECREF(value);
    Py_XDECREF(traceback);
    PyErr_SetObject(PyExc_ValueError, first);       /* its own context it is not */
    PyErr_Clear();
    x = PyException_GetContext(first);
    say("own context: %d", x != NULL);
    Py_XDECREF(x);
    PyException_SetContext(first, Py_NewRef(second));
    PyErr_SetObject(PyExc_KeyError, second);        /* the ring is cut */
    PyErr_Clear();
    x = PyException_GetContext(first);
    say("cut: %d", x == NULL);
    Py_XDECREF(x);
    x = PyException_GetContext(second);
    say("context: %d", x == first);
    Py_XDECREF(x);
    PyErr_SetExcInfo(Py_NewRef((PyObject *)Py_TYPE(second)), Py_NewRef(second), NULL);
    show_info("second");
    PyErr_SetExcInfo(Py_NewRef(Py_None), Py_NewRef(Py_None), Py_NewRef(Py_None));
    show_info("over");

    x = PyException_GetTraceback(first);
    say("no traceback: %d", x == NULL);
    x = PyException_GetTraceback(second);
    for (lines = 0; x != NULL && x != Py_None; lines++) {
        PyObject *line = PyObject_GetAttrString(x, "tb_lineno"), *next = PyObject_GetAttrString(x, "tb_next");
        PyObject *frame = PyObject_GetAttrString(x, "tb_frame"), *code = PyObject_GetAttrString(frame, "f_code");
        show("file", PyObject_GetAttrString(code, "co_filename"));
        show("function", PyObject_GetAttrString(code, "co_name"));
        show("line", line);
        Py_DECREF(code);
        Py_DECREF(frame);
        Py_SETREF(x, next);
    }
    Py_XDECREF(x);
    say("lines: %d", lines);
    PyErr_SetObject(PyExc_KeyError, second);
    PyErr_Fetch(&type, &value, &traceback);
    say("kept: %d", traceback != NULL);
    Py_DECREF(type);
    Py_DECREF(value);
    Py_XDECREF(traceback);
    say("remove: %d", PyException_SetTraceback(second, Py_None));
    x = PyException_GetTraceback(second);
    say("removed: %d", x == NULL);
    show_code("no traceback", PyException_SetTraceback(second, first));
    show("attribute", PyObject_GetAttrString(second, "__traceback__"));
    show("with", PyObject_CallMethod(second, "with_traceback", "O", Py_None));
    Py_DECREF(first);
    Py_DECREF(second);

    x = PyObject_CallFunction(PyExc_StopIteration, "i", 5);
    show("value", PyObject_GetAttrString(x, "value"));
    show("value", Py_NewRef(((PyStopIterationObject *)x)->value));
    Py_DECREF(x);
    x = PyObject_CallNoArgs(PyExc_StopIteration);
    show("no value", PyObject_GetAttrString(x, "value"));
    PyObject_SetAttrString(x, "value", x);          /* garbage */
    Py_DECREF(x);
    PyGC_Collect();
}

/* ---- texts, bytes, iterators ---------------------------------------------------------------- */

static void texts(void)
{
    PyObject *text = PyUnicode_FromString("hello"), *part = PyUnicode_FromString("he"), *end = PyUnicode_FromString("lo"), *op, *it;
    Py_ssize_t start, stop;
    say("texts");
    for (start = -6; start < 7; start += 2)
        for (stop = -6; stop < 8; stop += 3)
            say("%zd %zd: %zd %zd %zd", start, stop, (Py_ssize_t)PyUnicode_Tailmatch(text, part, start, stop, -1),
                (Py_ssize_t)PyUnicode_Tailmatch(text, end, start, stop, 1), (Py_ssize_t)PyUnicode_Tailmatch(text, part, start, stop, 1));
    say("no text: %d", PyUnicode_Tailmatch(text, Py_None, 0, 5, 1) == -1 && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    op = PyBytes_FromString("bytes");
    show("bytearray", PyByteArray_FromObject(op));
    it = PyByteArray_FromObject(op);
    show("concat", PyByteArray_Concat(it, op));
    say("no bytes: %d", PyByteArray_Concat(it, text) == NULL && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    Py_DECREF(it);
    Py_DECREF(op);
    say("no bytes: %d", PyByteArray_FromObject(text) == NULL && PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    it = PyObject_CallOneArg((PyObject *)&PyReversed_Type, text);
    say("hint: %zd", PyObject_LengthHint(it, -5));
    show("reversed", PySequence_List(it));
    say("hint: %zd", PyObject_LengthHint(it, -5));
    show("at its end", PySequence_List(it));
    Py_DECREF(it);
    show("not reversible", PyObject_CallFunction((PyObject *)&PyReversed_Type, "i", 5));
    op = PySet_New(text);
    show("not reversible", PyObject_CallOneArg((PyObject *)&PyReversed_Type, op));
    Py_DECREF(op);
    op = Py_BuildValue("[iii]", 1, 2, 3);
    it = PyObject_CallOneArg((PyObject *)&PyReversed_Type, op);
    PyList_SetSlice(op, 1, 3, NULL);
    show("shorter meanwhile", PySequence_List(it));
    Py_DECREF(it);
    Py_DECREF(op);
    Py_DECREF(text);
    Py_DECREF(part);
    Py_DECREF(end);
}

/* ---- memory, printing, an object with another class ------------------------------------------- */

static void memory(void)
{
    char *all[200];
    size_t i, round;
    PyObject *op;
    FILE *out = tmpfile();
    char text[100] = "";
    size_t n;
    int same = 1;
    say("memory");
    for (i = 0; i < 200; i++) {
        all[i] = i % 2 == 0 ? PyObject_Malloc(i) : PyObject_Calloc(i, 3);
        memset(all[i], (int)i, i);
    }
    for (round = 0; round < 3; round++)
        for (i = 0; i < 200; i++) {
            size_t k;
            all[i] = PyObject_Realloc(all[i], i + 1 + round * 100);
            for (k = 0; k < i; k++)
                same &= (unsigned char)all[i][k] == i;
        }
    say("the same: %d", same);
    for (i = 0; i < 200; i++) {
        PyObject_Free(all[(i * 7) % 200]);
        op = (PyObject *)PyObject_New(Op, &None_Type);          /* objects come and go between them */
        Py_DECREF(op);
    }
    PyObject_Free(NULL);
    PyObject_Free(PyObject_Realloc(NULL, 5));
    op = Py_BuildValue("[si]", "a", 1);
    say("print: %d", PyObject_Print(op, out, 0));
    say("print: %d", PyObject_Print(PyList_GET_ITEM(op, 0), out, Py_PRINT_RAW));
    say("print: %d", PyObject_Print(PyList_GET_ITEM(op, 0), out, 0));
    say("print: %d", PyObject_Print(NULL, out, 0));
    rewind(out);
    n = fread(text, 1, sizeof text - 1, out);
    text[n] = '\0';
    say("printed: %s", text);
    fclose(out);
    Py_DECREF(op);
    say("state: %d %d", (int)PyGILState_Ensure(), PyGILState_Check());
    PyGILState_Release(PyGILState_LOCKED);
    {
        PyGILState_STATE before;
        Py_BEGIN_ALLOW_THREADS
        before = PyGILState_Ensure();
        op = PyLong_FromLong(12345);
        PyGILState_Release(before);
        Py_END_ALLOW_THREADS
        say("back: %d", (int)before);
        show("made meanwhile", op);
    }
    say("sizes: %d %d %d %d", SIZEOF_INT, SIZEOF_SHORT, SIZEOF_DOUBLE, SIZEOF_VOID_P);
}

static PyObject *another_class(PyObject *op, void *closure)
{
    (void)op, (void)closure;
    return Py_NewRef((PyObject *)&PyDict_Type);
}

static PyGetSetDef proxy_getset[] = { { "__class__", another_class, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };
static PyTypeObject Proxy_Type = {
    PyVarObject_HEAD_INIT(NULL, 0) .tp_name = "Proxy", .tp_basicsize = sizeof(Op), .tp_dealloc = op_dealloc, .tp_getset = proxy_getset
};

static void classes(void)
{
    PyObject *op = (PyObject *)PyObject_New(Op, &Proxy_Type), *type;
    say("classes");
    say("%d %d %d", PyObject_IsInstance(op, (PyObject *)&PyDict_Type), PyObject_IsInstance(op, (PyObject *)&Proxy_Type),
        PyObject_IsInstance(op, (PyObject *)&PyList_Type));
    Py_DECREF(op);
    type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Heap");
    show("name", Py_NewRef(((PyHeapTypeObject *)type)->ht_name));
    show("qualname", Py_NewRef(((PyHeapTypeObject *)type)->ht_qualname));
    say("type: %d", &((PyHeapTypeObject *)type)->ht_type == (PyTypeObject *)type);
    Py_DECREF(type);
}

/* ---- names of types, docs; lists in place; what is beyond the end ------------------------------ */

static PyObject *none_of(PyObject *self, PyObject *none) { (void)self, (void)none; Py_RETURN_NONE; }

static void names_and_docs(void)
{
    static PyMethodDef with_signature = { "f", none_of, METH_NOARGS, "f($self, /)\n--\n\nDoes nothing." };
    static PyMethodDef without = { "f", none_of, METH_NOARGS, "f(x): a\n\nparagraph" }, bare = { "f", none_of, METH_NOARGS, "f()\n--\n\n" };
    PyObject *type = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Named"), *op = PyObject_CallNoArgs(type);
    PyObject *number = PyLong_FromLong(3), *text = PyUnicode_FromString("Other"), *descr;
    show_code("a new name", PyObject_SetAttrString(type, "__name__", text));
    show("its name", PyObject_GetAttrString(type, "__name__"));
    show("its other name", PyObject_GetAttrString(type, "__qualname__"));
    say("%s", ((PyTypeObject *)(void *)type)->tp_name);
    show("in an error", PyNumber_Add(op, number));
    show_code("another", PyObject_SetAttrString(type, "__qualname__", text));
    show("its other name", PyType_GetQualName((PyTypeObject *)(void *)type));
    show_code("a number", PyObject_SetAttrString(type, "__name__", number));
    show_code("no name", PyObject_SetAttrString(type, "__name__", NULL));
    show_code("of int", PyObject_SetAttrString((PyObject *)&PyLong_Type, "__name__", text));
    show_code("its module", PyObject_SetAttrString(type, "__module__", text));
    show("its module", PyObject_GetAttrString(type, "__module__"));
    show("no doc", PyObject_GetAttrString(op, "__doc__"));
    show("a doc", PyObject_GetAttrString(descr = PyDescr_NewMethod((PyTypeObject *)(void *)type, &with_signature), "__doc__"));
    show_code("its type", PyObject_GetAttrString(descr, "__objclass__") == type);
    Py_DECREF(descr);
    Py_DECREF(type);
    show("a doc", PyObject_GetAttrString(descr = PyCFunction_New(&without, NULL), "__doc__"));
    Py_DECREF(descr);
    show("nothing but a signature", PyObject_GetAttrString(descr = PyCFunction_New(&bare, NULL), "__doc__"));
    Py_DECREF(descr);
    Py_DECREF(op);
    Py_DECREF(type);
    Py_DECREF(number);
    Py_DECREF(text);
}

static void at_the_end(void)
{
    PyObject *list = Py_BuildValue("[ii]", 1, 2), *three = PyLong_FromLong(3), *text = PyUnicode_FromString("ab"), *empty = PyUnicode_New(0, 0), *result;
    result = PyNumber_InPlaceMultiply(list, three);
    show_code("the same list", result == list);
    show("three times", result);
    show("none", PySequence_InPlaceRepeat(list, 0));
    show("True in base 10", PyNumber_ToBase(Py_True, 10));
    show_code("at the end", (int)PyUnicode_Find(text, empty, 2, 9, 1));
    show_code("beyond", (int)PyUnicode_Find(text, empty, 3, 9, 1));
    show_code("at the end", (int)PyUnicode_Tailmatch(text, empty, 2, 9, 1));
    show_code("beyond", (int)PyUnicode_Tailmatch(text, empty, 3, 9, 1));
    Py_DECREF(list);
    Py_DECREF(three);
    Py_DECREF(text);
    Py_DECREF(empty);
}

static void complex_texts(void)
{
    static const char *const specs[] = { "", ">10", "<12", "^+14.3f", "e", "g", ".3", "+", " .2E", ",.1f", "n", "#.0f", "010", "=10", "d", "%", "x" };
    static const Py_complex values[] = { { 1, -2 }, { 0, 3.5 }, { -0.0, 1e20 }, { 1234567.5, -0.0 } };
    size_t i, k;
    for (i = 0; i < sizeof specs / sizeof *specs; i++)
        for (k = 0; k < sizeof values / sizeof *values; k++) {
            PyObject *op = PyComplex_FromCComplex(values[k]), *spec = PyUnicode_FromString(specs[i]);
            show(specs[i], PyObject_Format(op, spec));
            Py_DECREF(op);
            Py_DECREF(spec);
        }
}

/* ---- what Cython's C asks for ---------------------------------------------------------------------- */

static void send_to(const char *what, PyObject *it, PyObject *value)
{
    PyObject *result = NULL;
    PySendResult code = PyIter_Send(it, value, &result);
    say("%s: %s", what, code == PYGEN_NEXT ? "next" : code == PYGEN_RETURN ? "return" : "error");
    show("  gives", code == PYGEN_ERROR ? NULL : result);
}

static PyObject *send(PyObject *self, PyObject *value)
{
    (void)self;
    if (value == Py_True) {
        PyObject *stop = PyObject_CallFunction(PyExc_StopIteration, "s", "the value");
        PyErr_SetObject(PyExc_StopIteration, stop);
        Py_DECREF(stop);
        return NULL;
    }
    return value == Py_False ? PyErr_Format(PyExc_KeyError, "no") : PyTuple_Pack(1, value);
}

static void for_generated_code(void)
{
    static PyMethodDef send_def = { "send", send, METH_O, NULL };
    PyObject *names = Py_BuildValue("(ss)", "x", "y"), *none = PyTuple_New(0), *bytes = PyBytes_FromString(""), *file = PyUnicode_FromString("file.pyx"),
             *name = PyUnicode_FromString("f"), *code, *it, *list = Py_BuildValue("[i]", 7), *class, *three = PyLong_FromLong(3);
    PyCMethodObject *method;
    code = (PyObject *)PyCode_New(1, 1, 2, 0, CO_OPTIMIZED | CO_NEWLOCALS | CO_GENERATOR, bytes, none, none, names, none, none, file, name, name, 5, bytes, bytes);
    show("argcount", PyObject_GetAttrString(code, "co_argcount"));
    show("kwonlyargcount", PyObject_GetAttrString(code, "co_kwonlyargcount"));
    show("nlocals", PyObject_GetAttrString(code, "co_nlocals"));
    show("flags", PyObject_GetAttrString(code, "co_flags"));
    show("varnames", PyObject_GetAttrString(code, "co_varnames"));
    show("filename", PyObject_GetAttrString(code, "co_filename"));
    show("name", PyObject_GetAttrString(code, "co_name"));
    show("line", PyObject_GetAttrString(code, "co_firstlineno"));
    Py_DECREF(code);
    say("without names: %d", PyCode_New(1, 1, 2, 0, 0, bytes, none, none, Py_None, none, none, file, name, name, 5, bytes, bytes) == NULL);
    say("a SystemError: %d", PyErr_ExceptionMatches(PyExc_SystemError));
    PyErr_Clear();
    say("version: %d", Py_Version >> 16 == PY_VERSION_HEX >> 16);
    say("the state's interpreter: %d", PyThreadState_Get()->interp == PyInterpreterState_Get());

    it = PyObject_GetIter(list);
    send_to("an iterator", it, Py_None);
    send_to("at its end", it, Py_None);
    send_to("no iterator", three, three);
    Py_DECREF(it);
    class = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "Sender");
    method = (PyCMethodObject *)PyCFunction_New(&send_def, NULL);
    it = PyObject_CallNoArgs(class);
    PyObject_SetAttrString(it, "send", (PyObject *)method);
    send_to("a value", it, three);
    send_to("the last one", it, Py_True);
    send_to("a failure", it, Py_False);
    Py_DECREF(it);
    Py_DECREF(class);
    Py_DECREF(method);
    Py_DECREF(names);
    Py_DECREF(none);
    Py_DECREF(bytes);
    Py_DECREF(file);
    Py_DECREF(name);
    Py_DECREF(list);
    Py_DECREF(three);
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { operators_, bases, formats, percents, imports, exceptions, texts, memory, classes,
                                         names_and_docs, at_the_end, complex_texts, for_generated_code, NULL };
    (void)self, (void)none;
    if (PyType_Ready(&Old_Type) < 0 || PyType_Ready(&New_Type) < 0 || PyType_Ready(&None_Type) < 0 || PyType_Ready(&Proxy_Type) < 0)
        return NULL;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "more", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_more(void)
{
    return PyModule_Create(&def);
}
