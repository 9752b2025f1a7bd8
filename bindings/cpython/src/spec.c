/* spec.c - the small language of format specifications: `__format__` of str, int, float and complex.
 *
 *     [[fill]align][sign][z][#][0][width][grouping][.precision][type] */
#include "internal.h"

typedef struct {
    Py_UCS4 fill;
    char align;                     /* < > ^ =, or 0 */
    char sign;                      /* + - blank */
    char grouping;                  /* , _ or 0 */
    char type;                      /* or 0 */
    int no_negative_zero, alternate, zeros, is_part;        /* is_part: of a complex, which has no ".0" */
    Py_ssize_t width, precision;    /* -1: none */
} spec;

static int bad(PyObject *op, Py_UCS4 type)
{
    PyErr_Format(PyExc_ValueError, type < 128 ? "Unknown format code '%c' for object of type '%.200s'"
                 : "Unknown format code '\\x%x' for object of type '%.200s'", (int)type, Py_TYPE(op)->tp_name);
    return 0;
}

static int refuse(const char *why)
{
    PyErr_SetString(PyExc_ValueError, why);
    return 0;
}

static PyObject *not_with(const char *why)
{
    PyErr_SetString(PyExc_ValueError, why);
    return NULL;
}

static PyObject *no_such(PyObject *op, char type)
{
    bad(op, (Py_UCS4)type);
    return NULL;
}

static int is_align(Py_UCS4 c) { return c == '<' || c == '>' || c == '^' || c == '='; }

/* A number at *at; -1: there is none. -2: too large. */
static Py_ssize_t number_at(PyObject *text, Py_ssize_t *at)
{
    Py_ssize_t n = -1, length = PyUnicode_GET_LENGTH(text);
    for (; *at < length && Py_UNICODE_ISDECIMAL(PyUnicode_READ_CHAR(text, *at)); ++*at) {
        n = (n < 0 ? 0 : n) * 10 + (Py_ssize_t)(PyUnicode_READ_CHAR(text, *at) - '0');
        if (n > INT_MAX)
            return -2;
    }
    return n;
}

static int parse(PyObject *op, PyObject *text, spec *s)
{
    Py_ssize_t at = 0, n = PyUnicode_GET_LENGTH(text);
#define NEXT (at < n ? PyUnicode_READ_CHAR(text, at) : 0)
    *s = (spec){ .fill = ' ', .width = -1, .precision = -1 };
    if (n >= 2 && is_align(PyUnicode_READ_CHAR(text, 1))) {
        s->fill = PyUnicode_READ_CHAR(text, 0);
        s->align = (char)PyUnicode_READ_CHAR(text, 1);
        at = 2;
    } else if (is_align(NEXT)) {
        s->align = (char)PyUnicode_READ_CHAR(text, at++);
    }
    if (NEXT == '+' || NEXT == '-' || NEXT == ' ')
        s->sign = (char)PyUnicode_READ_CHAR(text, at++);
    if (NEXT == 'z') {
        s->no_negative_zero = 1;
        at++;
    }
    if (NEXT == '#') {
        s->alternate = 1;
        at++;
    }
    if (NEXT == '0') {
        s->zeros = 1;
        at++;
        if (s->align == 0)
            s->fill = '0';
    }
    s->width = number_at(text, &at);
    if (NEXT == ',' || NEXT == '_') {
        s->grouping = (char)PyUnicode_READ_CHAR(text, at++);
        if (NEXT == ',' || NEXT == '_')
            return refuse(NEXT == (Py_UCS4)s->grouping ? s->grouping == ',' ? "Cannot specify ',' with ','." : "Cannot specify '_' with '_'."
                          : "Cannot specify both ',' and '_'.");
    }
    if (NEXT == '.') {
        at++;
        s->precision = number_at(text, &at);
        if (s->precision == -1)
            return refuse("Format specifier missing precision");
    }
    if (s->width == -2 || s->precision == -2)
        return refuse("Too many decimal digits in format string");
    if (n - at > 1)
        return refuse("Invalid format specifier");
    if (NEXT >= 128)
        return bad(op, NEXT);
    s->type = (char)NEXT;
#undef NEXT
    return 1;
}

/* The text from `from` on, with its fill; the first `keep` characters stay in front of it with "=". */
static PyObject *pad(PyObject *text, const spec *s, char align, Py_ssize_t keep)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(text), width = Py_MAX(s->width, n), left, i;
    PyObject *result;
    if (width == n)
        return Py_NewRef(text);
    left = align == '<' ? 0 : align == '^' ? (width - n) / 2 : width - n;
    if (align != '=')
        keep = 0;
    result = PyUnicode_New(width, Py_MAX(s->fill, PyUnicode_MAX_CHAR_VALUE(text)));
    if (result == NULL)
        return NULL;
    for (i = 0; i < width; i++)
        PyUnicode_WRITE(PyUnicode_KIND(result), PyUnicode_DATA(result), i, s->fill);
    PyUnicode_CopyCharacters(result, 0, text, 0, keep);
    PyUnicode_CopyCharacters(result, keep + left, text, keep, n - keep);
    return result;
}

static PyObject *format_str(PyObject *op, const spec *s)
{
    PyObject *text, *result;
    if (s->type != 0 && s->type != 's')
        return no_such(op, s->type);
    if (s->sign != 0)
        return not_with(s->sign == ' ' ? "Space not allowed in string format specifier" : "Sign not allowed in string format specifier");
    if (s->no_negative_zero || s->alternate || s->align == '=' || s->grouping != 0)
        return not_with(s->no_negative_zero ? "Negative zero coercion (z) not allowed in string format specifier"
                      : s->alternate ? "Alternate form (#) not allowed in string format specifier"
                      : s->align == '=' ? "'=' alignment not allowed in string format specifier"
                      : s->grouping == ',' ? "Cannot specify ',' with 's'." : "Cannot specify '_' with 's'.");
    text = s->precision >= 0 ? PyUnicode_Substring(op, 0, s->precision) : PyUnicode_FromObject(op);
    result = text != NULL ? pad(text, s, s->align != 0 ? s->align : '<', 0) : NULL;
    Py_XDECREF(text);
    return result;
}

/* A number from its parts: sign and prefix, digits, and what follows them. Digits are grouped; with zeros as fill these
   are grouped, too. */
static PyObject *put_together(const spec *s, int negative, const char *prefix, const char *digits, const char *rest)
{
    size_t n = strlen(digits), every = s->grouping == 0 ? SIZE_MAX : strchr("bxXo", s->type) != NULL && s->type != 0 ? 4 : 3, i;
    size_t before = strlen(prefix) + (negative || s->sign == '+' || s->sign == ' '), after = strlen(rest), zeros = 0;
    char align = s->align != 0 ? s->align : s->zeros ? '=' : '>';
    py_text out = { 0 };
    PyObject *text, *result;
#define GROUPED(k) ((k) + ((k) - 1) / every)
    if (s->grouping != 0 && s->fill == '0' && align == '=')
        while (s->width > 0 && before + GROUPED(n + zeros) + after < (size_t)s->width)
            zeros++;
    if (negative || s->sign == '+' || s->sign == ' ')
        py_put(&out, negative ? "-" : s->sign == '+' ? "+" : " ", 1);
    py_put_text(&out, prefix);
    for (i = 0; i < n + zeros; i++) {
        if (i > 0 && (n + zeros - i) % every == 0)
            py_put(&out, &s->grouping, 1);
        py_put(&out, i < zeros ? "0" : &digits[i - zeros], 1);
    }
#undef GROUPED
    py_put_text(&out, rest);
    text = out.full ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(out.length > 0 ? out.bytes : "", (Py_ssize_t)out.length);
    py_text_free(&out);
    result = text != NULL ? pad(text, s, align, (Py_ssize_t)before) : NULL;
    Py_XDECREF(text);
    return result;
}

static void to_upper(char *text)
{
    for (; *text != '\0'; text++)
        *text = (char)toupper((unsigned char)*text);
}

/* The digits of a float as the type wants them, without a sign. The caller frees them. NULL: no memory. */
static char *float_digits(double x, const spec *s)
{
    char type = s->type == 'n' ? 'g' : s->type, *text, *e;
    int precision = s->precision >= 0 ? (int)s->precision : 6, exponent;
    size_t room = (size_t)precision + 400;
    if (type == 0 && s->precision < 0)
        return PyOS_double_to_string(x, 'r', 0, s->is_part ? 0 : Py_DTSF_ADD_DOT_0, NULL);
    text = PyMem_Malloc(room);
    if (text == NULL)
        return (void *)PyErr_NoMemory();
    if (type == '%') {
        snprintf(text, room, s->alternate ? "%#.*f%%" : "%.*f%%", precision, x * 100);
    } else if (strchr("eEfF", type) != NULL && type != 0) {
        char format[8] = "%#.*f";
        format[4] = type == 'F' ? 'f' : type;
        snprintf(text, room, s->alternate ? format : (memmove(format + 1, format + 2, 4), format), precision, x);
    } else if (type != 0) {
        char format[8] = "%#.*g";
        format[4] = type;
        snprintf(text, room, s->alternate ? format : (memmove(format + 1, format + 2, 4), format), precision, x);
    } else {                            /* as 'g', but with a digit behind the point */
        precision = Py_MAX(precision, 1);
        snprintf(text, room, "%.*e", precision - 1, x);
        e = strchr(text, 'e');
        exponent = e != NULL ? atoi(e + 1) : 0;
        if (e == NULL) {
            ;
        } else if (exponent < -4 || exponent > precision - 2) {
            char *last = e;
            while (strchr(text, '.') != NULL && last[-1] == '0')
                last--;
            if (last[-1] == '.')
                last--;
            memmove(last, e, strlen(e) + 1);
        } else {
            snprintf(text, room, "%.*g", precision, x);
            if (strchr(text, '.') == NULL)
                strcat(text, ".0");
        }
    }
    return text;
}

static PyObject *format_float(PyObject *op, double x, const spec *s)
{
    char *text, *rest, cut;
    PyObject *result;
    int negative = signbit(x) != 0 && !isnan(x), zero;
    if (s->type != 0 && strchr("eEfFgGn%", s->type) == NULL)
        return no_such(op, s->type);
    if (s->grouping != 0 && s->type == 'n')
        return not_with(s->grouping == ',' ? "Cannot specify ',' with 'n'." : "Cannot specify '_' with 'n'.");
    if (isnan(x) || isinf(x)) {
        text = PyMem_Malloc(8);
        if (text == NULL)
            return PyErr_NoMemory();
        strcpy(text, isnan(x) ? "nan" : "inf");
        if (s->type == 'F' || s->type == 'E' || s->type == 'G')
            to_upper(text);
        result = put_together(s, negative, "", "", s->type == '%' ? strcat(text, "%") : text);
        PyMem_Free(text);
        return result;
    }
    text = float_digits(fabs(x), s);
    if (text == NULL)
        return NULL;
    zero = text[strspn(text, "0.")] == '\0' || text[strspn(text, "0.")] == 'e' || text[strspn(text, "0.")] == 'E' || text[strspn(text, "0.")] == '%';
    if (s->no_negative_zero && zero)
        negative = 0;
    rest = text + strspn(text, "0123456789");
    cut = *rest;
    *rest = '\0';
    {
        char *digits = PyMem_Malloc(strlen(text) + 1);
        if (digits != NULL)
            strcpy(digits, text);
        *rest = cut;
        result = digits != NULL ? put_together(s, negative, "", digits, rest) : PyErr_NoMemory();
        PyMem_Free(digits);
    }
    PyMem_Free(text);
    return result;
}

static PyObject *format_complex(PyObject *op, const spec *s)
{
    Py_complex z = PyComplex_AsCComplex(op);
    PyObject *real = NULL, *imag, *both, *result;
    spec part = *s;
    int one = s->type == 0 && z.real == 0 && !signbit(z.real), brackets = s->type == 0 && !one;
    if (s->type != 0 && strchr("eEfFgGn", s->type) == NULL)
        return no_such(op, s->type);
    if (s->fill == '0')
        return not_with("Zero padding is not allowed in complex format specifier");
    if (s->align == '=')
        return not_with("'=' alignment flag is not allowed in complex format specifier");
    part.width = -1;
    part.is_part = 1;
    if (s->type == 0 && s->precision >= 0)
        part.type = 'g';
    if (!one && (real = format_float(op, z.real, &part)) == NULL)
        return NULL;
    if (!one)
        part.sign = '+';
    imag = format_float(op, z.imag, &part);
    both = imag == NULL ? NULL : one ? PyUnicode_FromFormat("%Uj", imag) : PyUnicode_FromFormat("%s%U%Uj%s", brackets ? "(" : "", real, imag, brackets ? ")" : "");
    result = both != NULL ? pad(both, s, s->align != 0 ? s->align : '>', 0) : NULL;
    Py_XDECREF(real);
    Py_XDECREF(imag);
    Py_XDECREF(both);
    return result;
}

static PyObject *format_int(PyObject *op, const spec *s)
{
    PyObject *text, *result;
    const char *digits;
    char copy[8] = "", *upper = NULL;
    int base = s->type == 'b' ? 2 : s->type == 'o' ? 8 : s->type == 'x' || s->type == 'X' ? 16 : 10, negative = _PyLong_Sign(op) < 0;
    if (s->type != 0 && strchr("eEfFgG%", s->type) != NULL) {
        double x = PyLong_AsDouble(op);
        return x == -1 && PyErr_Occurred() ? NULL : format_float(op, x, s);
    }
    if (s->type != 0 && strchr("bcdnoxX", s->type) == NULL)
        return no_such(op, s->type);
    if (s->precision >= 0)
        return not_with("Precision not allowed in integer format specifier");
    if (s->no_negative_zero)
        return not_with("Negative zero coercion (z) not allowed in integer format specifier");
    if (s->grouping != 0 && (s->type == 'c' || s->type == 'n' || (s->grouping == ',' && base != 10)))
        return PyErr_Format(PyExc_ValueError, "Cannot specify '%c' with '%c'.", s->grouping, s->type);
    if (s->type == 'c') {
        long c = PyLong_AsLong(op);
        if (s->sign != 0 || s->alternate)
            return not_with(s->sign != 0 ? "Sign not allowed with integer format specifier 'c'"
                          : "Alternate form (#) not allowed with integer format specifier 'c'");
        if (c == -1 && PyErr_Occurred())
            return NULL;
        if (c < 0 || c > 0x10ffff)
            return PyErr_Format(PyExc_OverflowError, "%%c arg not in range(0x110000)");
        text = PyUnicode_FromOrdinal((int)c);
        result = text != NULL ? pad(text, s, s->align != 0 ? s->align : s->zeros ? '=' : '<', 0) : NULL;
        Py_XDECREF(text);
        return result;
    }
    text = base == 10 ? PyLong_Type.tp_repr(op) : py_long_in_base(op, base, 0);
    digits = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (digits == NULL)
        return NULL;
    digits += negative;
    if (s->alternate && base != 10)
        snprintf(copy, sizeof copy, "0%c", s->type);
    if (s->type == 'X' && (upper = PyMem_Malloc(strlen(digits) + 1)) != NULL)
        to_upper(strcpy(upper, digits));
    result = s->type == 'X' && upper == NULL ? PyErr_NoMemory() : put_together(s, negative, copy, upper != NULL ? upper : digits, "");
    PyMem_Free(upper);
    Py_DECREF(text);
    return result;
}

PyObject *py_format_spec(PyObject *op, PyObject *text)
{
    spec s;
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "__format__() argument must be str, not %.50s", Py_TYPE(text)->tp_name);
    if (PyUnicode_GET_LENGTH(text) == 0)
        return PyObject_Str(op);
    if (!parse(op, text, &s))
        return NULL;
    return PyUnicode_Check(op) ? format_str(op, &s) : PyLong_Check(op) ? format_int(op, &s) : PyComplex_Check(op) ? format_complex(op, &s)
         : format_float(op, PyFloat_AsDouble(op), &s);
}
