/* strmethods.c - the methods of str, and the functions of C for the same. */
#include "internal.h"

static int is_text(PyObject *op)
{
    if (PyUnicode_Check(op))
        return 1;
    PyErr_Format(PyExc_TypeError, "must be str, not %.100s", Py_TYPE(op)->tp_name);
    return 0;
}

static PyObject *method_join(PyObject *op, PyObject *items) { return PyUnicode_Join(op, items); }

static PyObject *method_encode(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "encoding", "errors", NULL };
    const char *encoding = NULL, *errors = NULL;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "|ss:encode", names, &encoding, &errors)
         ? PyUnicode_AsEncodedString(op, encoding, errors) : NULL;
}

static PyObject *method_replace(PyObject *op, PyObject *args)
{
    PyObject *from, *to;
    Py_ssize_t most = -1;
    return PyArg_ParseTuple(args, "UU|n:replace", &from, &to, &most) ? PyUnicode_Replace(op, from, to, most) : NULL;
}

/* Characters are changed one by one: those that become several stay. */
static PyObject *change_case(PyObject *op, Py_UCS4 (*change)(Py_UCS4))
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(op);
    Py_UCS4 *text = PyUnicode_AsUCS4Copy(op);
    PyObject *result;
    for (i = 0; text != NULL && i < n; i++)
        text[i] = change(text[i]);
    result = text != NULL ? PyUnicode_FromKindAndData(4, text, n) : NULL;
    PyMem_Free(text);
    return result;
}

static PyObject *method_lower(PyObject *op, PyObject *none) { (void)none; return change_case(op, _PyUnicode_ToLowercase); }
static PyObject *method_upper(PyObject *op, PyObject *none) { (void)none; return change_case(op, _PyUnicode_ToUppercase); }

/* ---- by a mapping ---------------------------------------------------------- */

/* Put what the handler of errors gives for a character that the mapping does not want. */
static int put_unwanted(_PyUnicodeWriter *out, PyObject *op, Py_ssize_t i, const char *errors)
{
    PyObject *error, *handler, *result = NULL, *text;
    Py_ssize_t next;
    int code = -1;
    if (errors != NULL && strcmp(errors, "ignore") == 0)
        return 0;
    error = PyObject_CallFunction(PyExc_UnicodeTranslateError, "Onns", op, i, i + 1, "character maps to <undefined>");
    handler = error != NULL ? PyCodec_LookupError(errors) : NULL;
    if (handler != NULL)
        result = PyObject_CallOneArg(handler, error);
    if (result != NULL && PyArg_Parse(result, "(Un)", &text, &next))
        code = _PyUnicodeWriter_WriteStr(out, text);
    Py_XDECREF(result);
    Py_XDECREF(handler);
    Py_XDECREF(error);
    return code;
}

/* Put what stands for the character at i. */
static int put_mapped(_PyUnicodeWriter *out, PyObject *op, Py_ssize_t i, PyObject *mapping, const char *errors)
{
    Py_UCS4 c = PyUnicode_READ_CHAR(op, i);
    PyObject *key = PyLong_FromUnsignedLong(c), *to = key != NULL ? PyObject_GetItem(mapping, key) : NULL;
    int code = 0;
    Py_XDECREF(key);
    if (to == NULL && PyErr_ExceptionMatches(PyExc_LookupError)) {
        PyErr_Clear();
        return _PyUnicodeWriter_WriteChar(out, c);
    }
    if (to == NULL)
        return -1;
    if (PyUnicode_Check(to)) {
        code = _PyUnicodeWriter_WriteStr(out, to);
    } else if (PyLong_Check(to)) {
        long n = PyLong_AsLong(to);
        if (n < 0 || n > 0x10ffff) {
            PyErr_SetString(PyExc_ValueError, "character mapping must be in range(0x110000)");
            code = -1;
        } else {
            code = _PyUnicodeWriter_WriteChar(out, (Py_UCS4)n);
        }
    } else if (to == Py_None) {
        code = put_unwanted(out, op, i, errors);
    } else {
        PyErr_SetString(PyExc_TypeError, "character mapping must return integer, None or str");
        code = -1;
    }
    Py_DECREF(to);
    return code;
}

PyObject *PyUnicode_Translate(PyObject *op, PyObject *mapping, const char *errors)
{
    _PyUnicodeWriter out;
    Py_ssize_t i;
    if (!is_text(op))
        return NULL;
    _PyUnicodeWriter_Init(&out);
    for (i = 0; i < PyUnicode_GET_LENGTH(op); i++)
        if (put_mapped(&out, op, i, mapping, errors) < 0) {
            _PyUnicodeWriter_Dealloc(&out);
            return NULL;
        }
    return _PyUnicodeWriter_Finish(&out);
}

static PyObject *method_translate(PyObject *op, PyObject *mapping) { return PyUnicode_Translate(op, mapping, "ignore"); }

/* From a dict, whose keys may be texts of one character; or from two texts of one length, and one of what goes. */
static PyObject *method_maketrans(PyObject *none, PyObject *const *args, Py_ssize_t n)
{
    PyObject *mapping, *key, *value;
    Py_ssize_t at = 0, i;
    int code = 0;
    (void)none;
    if (!_PyArg_CheckPositional("maketrans", n, 1, 3))
        return NULL;
    if (n == 1 && !PyDict_Check(args[0]))
        return PyErr_Format(PyExc_TypeError, "if you give only one argument to maketrans it must be a dict");
    for (i = 0; n > 1 && i < n; i++)
        if (!PyUnicode_Check(args[i]))
            return PyErr_Format(PyExc_TypeError, "maketrans() argument %zd must be str, not %.200s", i + 1, Py_TYPE(args[i])->tp_name);
    if (n > 1 && PyUnicode_GET_LENGTH(args[0]) != PyUnicode_GET_LENGTH(args[1]))
        return PyErr_Format(PyExc_ValueError, "the first two maketrans arguments must have equal length");
    mapping = PyDict_New();
    while (n == 1 && mapping != NULL && code == 0 && PyDict_Next(args[0], &at, &key, &value)) {
        if (PyUnicode_Check(key) && PyUnicode_GET_LENGTH(key) != 1) {
            PyErr_SetString(PyExc_ValueError, "string keys in translate table must be of length 1");
            code = -1;
        } else if (!PyUnicode_Check(key) && !PyLong_Check(key)) {
            PyErr_SetString(PyExc_TypeError, "keys in translate table must be strings or integers");
            code = -1;
        } else {
            key = PyUnicode_Check(key) ? PyLong_FromUnsignedLong(PyUnicode_READ_CHAR(key, 0)) : Py_NewRef(key);
            Py_INCREF(value);
            code = key != NULL ? PyDict_SetItem(mapping, key, value) : -1;
            Py_DECREF(value);
            Py_XDECREF(key);
        }
    }
    for (at = 1; at < n && mapping != NULL && code == 0; at++)
        for (i = 0; code == 0 && i < PyUnicode_GET_LENGTH(args[at == 1 ? 0 : 2]); i++) {
            key = PyLong_FromUnsignedLong(PyUnicode_READ_CHAR(args[at == 1 ? 0 : 2], i));
            value = at == 1 ? PyLong_FromUnsignedLong(PyUnicode_READ_CHAR(args[1], i)) : Py_NewRef(Py_None);
            code = key != NULL && value != NULL ? PyDict_SetItem(mapping, key, value) : -1;
            Py_XDECREF(key);
            Py_XDECREF(value);
        }
    if (code < 0)
        Py_CLEAR(mapping);
    return mapping;
}

/* ---- searching ------------------------------------------------------------- */

/* (part), (part, start) or (part, start, end); None stands for none. */
static int range_of(PyObject *const *args, Py_ssize_t n, Py_ssize_t *start, Py_ssize_t *end)
{
    *start = 0;
    *end = PY_SSIZE_T_MAX;
    return (n < 2 || args[1] == Py_None || _PyEval_SliceIndex(args[1], start))
        && (n < 3 || args[2] == Py_None || _PyEval_SliceIndex(args[2], end));
}

/* Where the part is. -1: nowhere. -2: a failure. */
static Py_ssize_t find(const char *name, PyObject *op, PyObject *const *args, Py_ssize_t n, int direction)
{
    Py_ssize_t start, end;
    return _PyArg_CheckPositional(name, n, 1, 3) && is_text(args[0]) && range_of(args, n, &start, &end)
         ? PyUnicode_Find(op, args[0], start, end, direction) : -2;
}

static PyObject *position(Py_ssize_t at, int must)
{
    if (at == -1 && must)
        PyErr_SetString(PyExc_ValueError, "substring not found");
    return at == -2 || (at == -1 && must) ? NULL : PyLong_FromSsize_t(at);
}

static PyObject *method_find(PyObject *op, PyObject *const *args, Py_ssize_t n) { return position(find("find", op, args, n, 1), 0); }
static PyObject *method_rfind(PyObject *op, PyObject *const *args, Py_ssize_t n) { return position(find("rfind", op, args, n, -1), 0); }
static PyObject *method_index(PyObject *op, PyObject *const *args, Py_ssize_t n) { return position(find("index", op, args, n, 1), 1); }
static PyObject *method_rindex(PyObject *op, PyObject *const *args, Py_ssize_t n) { return position(find("rindex", op, args, n, -1), 1); }

Py_ssize_t PyUnicode_Count(PyObject *op, PyObject *part, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t count = 0, n, length;
    if (!is_text(op) || !is_text(part))
        return -1;
    n = PyUnicode_GET_LENGTH(part);
    length = PyUnicode_GET_LENGTH(op);
    if (start > length)
        return 0;
    PySlice_AdjustIndices(length, &start, &end, 1);
    if (n == 0)
        return end >= start ? end - start + 1 : 0;
    while (start + n <= end && (start = PyUnicode_Find(op, part, start, end, 1)) >= 0) {
        start += n;
        count++;
    }
    return count;
}

static PyObject *method_count(PyObject *op, PyObject *const *args, Py_ssize_t n)
{
    Py_ssize_t start, end, count;
    if (!_PyArg_CheckPositional("count", n, 1, 3) || !is_text(args[0]) || !range_of(args, n, &start, &end))
        return NULL;
    count = PyUnicode_Count(op, args[0], start, end);
    return count < 0 ? NULL : PyLong_FromSsize_t(count);
}

/* part is a str, or a tuple of them. */
static PyObject *affix(const char *name, PyObject *op, PyObject *const *args, Py_ssize_t n, int direction)
{
    Py_ssize_t start, end, i;
    int yes = 0;
    if (!_PyArg_CheckPositional(name, n, 1, 3) || !range_of(args, n, &start, &end))
        return NULL;
    if (PyTuple_Check(args[0])) {
        for (i = 0; yes == 0 && i < PyTuple_GET_SIZE(args[0]); i++) {
            PyObject *part = PyTuple_GET_ITEM(args[0], i);
            if (!PyUnicode_Check(part))
                return PyErr_Format(PyExc_TypeError, "tuple for %s must only contain str, not %.100s", name, Py_TYPE(part)->tp_name);
            yes = start <= PyUnicode_GET_LENGTH(op) ? PyUnicode_Tailmatch(op, part, start, end, direction) : 0;
        }
    } else if (!PyUnicode_Check(args[0])) {
        return PyErr_Format(PyExc_TypeError, "%s first arg must be str or a tuple of str, not %.100s", name, Py_TYPE(args[0])->tp_name);
    } else {
        yes = start <= PyUnicode_GET_LENGTH(op) ? PyUnicode_Tailmatch(op, args[0], start, end, direction) : 0;
    }
    return yes < 0 ? NULL : PyBool_FromLong(yes);
}

static PyObject *method_startswith(PyObject *op, PyObject *const *args, Py_ssize_t n) { return affix("startswith", op, args, n, -1); }
static PyObject *method_endswith(PyObject *op, PyObject *const *args, Py_ssize_t n) { return affix("endswith", op, args, n, 1); }

static PyObject *method_removeprefix(PyObject *op, PyObject *part)
{
    int yes = is_text(part) ? PyUnicode_Tailmatch(op, part, 0, PY_SSIZE_T_MAX, -1) : -1;
    return yes < 0 ? NULL : PyUnicode_Substring(op, yes ? PyUnicode_GET_LENGTH(part) : 0, PY_SSIZE_T_MAX);
}

static PyObject *method_removesuffix(PyObject *op, PyObject *part)
{
    int yes = is_text(part) ? PyUnicode_Tailmatch(op, part, 0, PY_SSIZE_T_MAX, 1) : -1;
    return yes < 0 ? NULL : PyUnicode_Substring(op, 0, PyUnicode_GET_LENGTH(op) - (yes ? PyUnicode_GET_LENGTH(part) : 0));
}

/* ---- parts -------------------------------------------------------------------- */

static int append_part(PyObject *list, PyObject *op, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *part = PyUnicode_Substring(op, start, end);
    int code = part != NULL ? PyList_Append(list, part) : -1;
    Py_XDECREF(part);
    return code;
}

static int space_at(PyObject *op, Py_ssize_t i) { return Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(op, i)); }

/* At white space. */
static int split_spaces(PyObject *list, PyObject *op, Py_ssize_t most, int direction)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(op), start = 0, end = length, i;
    int code = 0;
    while (code == 0) {
        while (start < end && space_at(op, start))
            start++;
        while (direction < 0 && start < end && space_at(op, end - 1))
            end--;
        if (start == end)
            break;
        if (most-- == 0) {
            while (space_at(op, end - 1))
                end--;
            return append_part(list, op, direction > 0 ? start : 0, direction > 0 ? length : end);
        }
        if (direction > 0) {
            for (i = start; i < end && !space_at(op, i); i++)
                ;
            code = append_part(list, op, start, i);
            start = i;
        } else {
            for (i = end; i > start && !space_at(op, i - 1); i--)
                ;
            code = append_part(list, op, i, end);
            end = i;
        }
    }
    return code;
}

static PyObject *split(PyObject *op, PyObject *separator, Py_ssize_t most, int direction)
{
    PyObject *list;
    Py_ssize_t n, start = 0, end, at;
    int code = 0;
    if (!is_text(op) || (separator != NULL && !is_text(separator)))
        return NULL;
    if (separator != NULL && PyUnicode_GET_LENGTH(separator) == 0)
        return PyErr_Format(PyExc_ValueError, "empty separator");
    list = PyList_New(0);
    if (most < 0)
        most = PY_SSIZE_T_MAX;
    if (list != NULL && separator == NULL) {
        code = split_spaces(list, op, most, direction);
    } else if (list != NULL) {
        n = PyUnicode_GET_LENGTH(separator);
        end = PyUnicode_GET_LENGTH(op);
        while (code == 0 && most-- > 0 && (at = PyUnicode_Find(op, separator, start, end, direction)) >= 0) {
            code = direction > 0 ? append_part(list, op, start, at) : append_part(list, op, at + n, end);
            if (direction > 0)
                start = at + n;
            else
                end = at;
        }
        if (code == 0)
            code = append_part(list, op, start, end);
    }
    if (list != NULL && (code < 0 || (direction < 0 && PyList_Reverse(list) < 0)))
        Py_CLEAR(list);
    return list;
}

PyObject *PyUnicode_Split(PyObject *op, PyObject *separator, Py_ssize_t most) { return split(op, separator, most, 1); }
PyObject *PyUnicode_RSplit(PyObject *op, PyObject *separator, Py_ssize_t most) { return split(op, separator, most, -1); }

static PyObject *split_method(const char *format, PyObject *op, PyObject *args, PyObject *kwargs, int direction)
{
    static char *names[] = { "sep", "maxsplit", NULL };
    PyObject *separator = Py_None;
    Py_ssize_t most = -1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &separator, &most))
        return NULL;
    if (separator != Py_None && !PyUnicode_Check(separator))
        return PyErr_Format(PyExc_TypeError, "must be str or None, not %.100s", Py_TYPE(separator)->tp_name);
    return split(op, separator != Py_None ? separator : NULL, most, direction);
}

static PyObject *method_split(PyObject *op, PyObject *args, PyObject *kwargs) { return split_method("|On:split", op, args, kwargs, 1); }
static PyObject *method_rsplit(PyObject *op, PyObject *args, PyObject *kwargs) { return split_method("|On:rsplit", op, args, kwargs, -1); }

static int ends_line(Py_UCS4 c)
{
    return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

PyObject *PyUnicode_Splitlines(PyObject *op, int keep)
{
    PyObject *list = is_text(op) ? PyList_New(0) : NULL;
    Py_ssize_t start = 0, end, next, n = list != NULL ? PyUnicode_GET_LENGTH(op) : 0;
    while (list != NULL && start < n) {
        for (end = start; end < n && !ends_line(PyUnicode_READ_CHAR(op, end)); end++)
            ;
        next = end + (end < n);
        if (next < n && PyUnicode_READ_CHAR(op, end) == '\r' && PyUnicode_READ_CHAR(op, next) == '\n')
            next++;
        if (append_part(list, op, start, keep ? next : end) < 0)
            Py_CLEAR(list);
        start = next;
    }
    return list;
}

static PyObject *method_splitlines(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "keepends", NULL };
    int keep = 0;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "|p:splitlines", names, &keep) ? PyUnicode_Splitlines(op, keep) : NULL;
}

/* Before the separator, it, and behind it. */
static PyObject *partition(PyObject *op, PyObject *separator, int direction)
{
    Py_ssize_t at, n;
    PyObject *before, *behind, *found;
    if (!is_text(op) || !is_text(separator))
        return NULL;
    n = PyUnicode_GET_LENGTH(separator);
    if (n == 0)
        return PyErr_Format(PyExc_ValueError, "empty separator");
    at = PyUnicode_Find(op, separator, 0, PY_SSIZE_T_MAX, direction);
    found = PyUnicode_Substring(separator, 0, at < 0 ? 0 : n);
    before = PyUnicode_Substring(op, 0, at >= 0 ? at : direction > 0 ? PY_SSIZE_T_MAX : 0);
    behind = PyUnicode_Substring(op, at >= 0 ? at + n : direction > 0 ? PyUnicode_GET_LENGTH(op) : 0, PY_SSIZE_T_MAX);
    return Py_BuildValue("NNN", before, found, behind);
}

PyObject *PyUnicode_Partition(PyObject *op, PyObject *separator) { return partition(op, separator, 1); }
PyObject *PyUnicode_RPartition(PyObject *op, PyObject *separator) { return partition(op, separator, -1); }

enum { LEFT = 1, RIGHT = 2 };

static PyObject *strip(const char *name, PyObject *op, PyObject *const *args, Py_ssize_t n, int sides)
{
    Py_ssize_t start = 0, end = PyUnicode_GET_LENGTH(op);
    PyObject *characters = n > 0 && args[0] != Py_None ? args[0] : NULL;
    if (!_PyArg_CheckPositional(name, n, 0, 1))
        return NULL;
    if (characters != NULL && !PyUnicode_Check(characters))
        return PyErr_Format(PyExc_TypeError, "%s arg must be None or str", name);
#define GOES(i) (characters == NULL ? space_at(op, i) : PyUnicode_FindChar(characters, PyUnicode_READ_CHAR(op, i), 0, PY_SSIZE_T_MAX, 1) >= 0)
    while ((sides & LEFT) && start < end && GOES(start))
        start++;
    while ((sides & RIGHT) && start < end && GOES(end - 1))
        end--;
#undef GOES
    return PyUnicode_Substring(op, start, end);
}

static PyObject *method_strip(PyObject *op, PyObject *const *args, Py_ssize_t n) { return strip("strip", op, args, n, LEFT | RIGHT); }
static PyObject *method_lstrip(PyObject *op, PyObject *const *args, Py_ssize_t n) { return strip("lstrip", op, args, n, LEFT); }
static PyObject *method_rstrip(PyObject *op, PyObject *const *args, Py_ssize_t n) { return strip("rstrip", op, args, n, RIGHT); }

/* ---- width ---------------------------------------------------------------------- */

static PyObject *pad(PyObject *op, Py_ssize_t left, Py_ssize_t right, Py_UCS4 fill)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(op), i;
    PyObject *result;
    if (left <= 0 && right <= 0)
        return PyUnicode_FromObject(op);
    result = PyUnicode_New(left + n + right, Py_MAX(fill, PyUnicode_MAX_CHAR_VALUE(op)));
    if (result == NULL)
        return NULL;
    for (i = 0; i < left + n + right; i++)
        PyUnicode_WRITE(PyUnicode_KIND(result), PyUnicode_DATA(result), i, fill);
    PyUnicode_CopyCharacters(result, left, op, 0, n);
    return result;
}

static PyObject *justify(const char *format, PyObject *op, PyObject *args, int sides)
{
    Py_ssize_t width, more;
    int fill = ' ';
    if (!PyArg_ParseTuple(args, format, &width, &fill))
        return NULL;
    more = width - PyUnicode_GET_LENGTH(op);
    if (more <= 0)
        return PyUnicode_FromObject(op);
    return sides == (LEFT | RIGHT) ? pad(op, more / 2 + (more & width & 1), more - more / 2 - (more & width & 1), (Py_UCS4)fill)
         : pad(op, sides == LEFT ? more : 0, sides == LEFT ? 0 : more, (Py_UCS4)fill);
}

static PyObject *method_ljust(PyObject *op, PyObject *args) { return justify("n|C:ljust", op, args, RIGHT); }
static PyObject *method_rjust(PyObject *op, PyObject *args) { return justify("n|C:rjust", op, args, LEFT); }
static PyObject *method_center(PyObject *op, PyObject *args) { return justify("n|C:center", op, args, LEFT | RIGHT); }

static PyObject *method_zfill(PyObject *op, PyObject *arg)
{
    Py_ssize_t width = PyNumber_AsSsize_t(arg, PyExc_OverflowError), n = PyUnicode_GET_LENGTH(op);
    PyObject *result;
    Py_UCS4 first;
    if (width == -1 && PyErr_Occurred())
        return NULL;
    result = pad(op, Py_MAX(width - n, 0), 0, '0');
    if (result == NULL || width <= n || n == 0)
        return result;
    first = PyUnicode_READ_CHAR(op, 0);
    if (first == '+' || first == '-') {
        PyUnicode_WRITE(PyUnicode_KIND(result), PyUnicode_DATA(result), 0, first);
        PyUnicode_WRITE(PyUnicode_KIND(result), PyUnicode_DATA(result), width - n, '0');
    }
    return result;
}

/* ---- kinds of characters ------------------------------------------------------------ */

static int is_cased(Py_UCS4 c) { return _PyUnicode_ToLowercase(c) != c || _PyUnicode_ToUppercase(c) != c; }
static int is_upper(Py_UCS4 c) { return _PyUnicode_ToLowercase(c) != c; }
static int is_lower(Py_UCS4 c) { return _PyUnicode_ToUppercase(c) != c; }
static int is_digit(Py_UCS4 c) { return Py_UNICODE_ISDECIMAL(c); }
static int is_alnum(Py_UCS4 c) { return _Py_IsAlpha(c) || is_digit(c); }

/* Digits are those of ASCII. */
static PyObject *all_are(PyObject *op, int (*is)(Py_UCS4))
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(op);
    for (i = 0; i < n && is(PyUnicode_READ_CHAR(op, i)); i++)
        ;
    return PyBool_FromLong(n > 0 && i == n);
}

/* There are characters with case, and all of these are of one. */
static PyObject *case_is(PyObject *op, int (*other)(Py_UCS4))
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(op);
    int cased = 0;
    for (i = 0; i < n && !other(PyUnicode_READ_CHAR(op, i)); i++)
        cased |= is_cased(PyUnicode_READ_CHAR(op, i));
    return PyBool_FromLong(i == n && cased);
}

static PyObject *method_isalpha(PyObject *op, PyObject *none) { (void)none; return all_are(op, _Py_IsAlpha); }
static PyObject *method_isdigit(PyObject *op, PyObject *none) { (void)none; return all_are(op, is_digit); }
static PyObject *method_isalnum(PyObject *op, PyObject *none) { (void)none; return all_are(op, is_alnum); }
static PyObject *method_isspace(PyObject *op, PyObject *none) { (void)none; return all_are(op, _Py_IsSpace); }
static PyObject *method_isupper(PyObject *op, PyObject *none) { (void)none; return case_is(op, is_lower); }
static PyObject *method_islower(PyObject *op, PyObject *none) { (void)none; return case_is(op, is_upper); }
static PyObject *method_isascii(PyObject *op, PyObject *none) { (void)none; return PyBool_FromLong(PyUnicode_IS_ASCII(op)); }

int PyUnicode_IsIdentifier(PyObject *op)
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(op);
    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(op, i);
        if (c != '_' && !_Py_IsAlpha(c) && (i == 0 || !is_digit(c)))
            break;
    }
    return (n > 0 && i == n);
}

static PyObject *method_isidentifier(PyObject *op, PyObject *none) { (void)none; return PyBool_FromLong(PyUnicode_IsIdentifier(op)); }

/* The first character of the text (or of each word) becomes large, all others small. */
static PyObject *capitalize(PyObject *op, int words)
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(op);
    Py_UCS4 *text = PyUnicode_AsUCS4Copy(op);
    PyObject *result;
    int inside = 0;
    for (i = 0; text != NULL && i < n; i++) {
        int cased = is_cased(text[i]);
        text[i] = inside ? _PyUnicode_ToLowercase(text[i]) : _PyUnicode_ToUppercase(text[i]);
        inside = words ? cased : 1;
    }
    result = text != NULL ? PyUnicode_FromKindAndData(4, text, n) : NULL;
    PyMem_Free(text);
    return result;
}

static PyObject *method_capitalize(PyObject *op, PyObject *none) { (void)none; return capitalize(op, 0); }
static PyObject *method_title(PyObject *op, PyObject *none) { (void)none; return capitalize(op, 1); }
static Py_UCS4 swap(Py_UCS4 c) { return is_upper(c) ? _PyUnicode_ToLowercase(c) : _PyUnicode_ToUppercase(c); }
static PyObject *method_swapcase(PyObject *op, PyObject *none) { (void)none; return change_case(op, swap); }

#define FAST(name) { #name, _PyCFunction_CAST(method_##name), METH_FASTCALL, NULL }
#define NOARGS(name) { #name, method_##name, METH_NOARGS, NULL }
#define KEYWORDS(name) { #name, _PyCFunction_CAST(method_##name), METH_VARARGS | METH_KEYWORDS, NULL }

PyMethodDef py_str_methods[] = {
    { "__format__", py_format_spec, METH_O, NULL }, { "join", method_join, METH_O, NULL },
    { "translate", method_translate, METH_O, NULL }, { "maketrans", _PyCFunction_CAST(method_maketrans), METH_FASTCALL | METH_STATIC, NULL }, KEYWORDS(encode),
    { "replace", method_replace, METH_VARARGS, NULL },
    { "format", _PyCFunction_CAST(py_format_braces), METH_VARARGS | METH_KEYWORDS, NULL },
    FAST(find), FAST(rfind), FAST(index), FAST(rindex), FAST(count), FAST(startswith), FAST(endswith),
    { "removeprefix", method_removeprefix, METH_O, NULL }, { "removesuffix", method_removesuffix, METH_O, NULL },
    KEYWORDS(split), KEYWORDS(rsplit), KEYWORDS(splitlines),
    { "partition", PyUnicode_Partition, METH_O, NULL }, { "rpartition", PyUnicode_RPartition, METH_O, NULL },
    FAST(strip), FAST(lstrip), FAST(rstrip), { "ljust", method_ljust, METH_VARARGS, NULL },
    { "rjust", method_rjust, METH_VARARGS, NULL }, { "center", method_center, METH_VARARGS, NULL }, { "zfill", method_zfill, METH_O, NULL },
    NOARGS(lower), NOARGS(upper), NOARGS(capitalize), NOARGS(title), NOARGS(swapcase), { "casefold", method_lower, METH_NOARGS, NULL },
    NOARGS(isalpha), NOARGS(isdigit), { "isdecimal", method_isdigit, METH_NOARGS, NULL }, { "isnumeric", method_isdigit, METH_NOARGS, NULL },
    NOARGS(isalnum), NOARGS(isspace), NOARGS(isupper), NOARGS(islower), NOARGS(isascii), NOARGS(isidentifier), { NULL, NULL, 0, NULL }
};
