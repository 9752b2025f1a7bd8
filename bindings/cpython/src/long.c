/* long.c - int, of any size: digits of 30 bits, the sign in the sign of ob_size. */
#include "internal.h"

enum { SHIFT = 30 };
#define MASK ((uint32_t)((1u << SHIFT) - 1))
#define DIGITS(op) (((PyLongObject *)(void *)(op))->ob_digit)
#define SIZE(op) (((PyVarObject *)(void *)(op))->ob_size)
#define IS_NEGATIVE(op) (SIZE(op) < 0)

static Py_ssize_t count(PyObject *op)
{
    return SIZE(op) < 0 ? -SIZE(op) : SIZE(op);
}

/* ---- making ------------------------------------------------------------- */

/* With any digits, as they are all set. Without an exception if there is no memory. */
static PyObject *alloc(Py_ssize_t n)
{
    PyObject *op = n < PY_SPARE_DIGITS ? py_take_spare(PY_SPARE_INT + (size_t)n) : NULL;
    if (op == NULL)
        return py_alloc(&PyLong_Type, n);
    SIZE(op) = n;
    return op;
}

static PyObject *new_digits(Py_ssize_t n)
{
    PyObject *op = py_alloc(&PyLong_Type, n);
    return op != NULL ? op : PyErr_NoMemory();
}

/* Without zeros in front; takes op over. */
static PyObject *normal(PyObject *op, int negative)
{
    Py_ssize_t n = count(op);
    while (n > 0 && DIGITS(op)[n - 1] == 0)
        n--;
    SIZE(op) = negative ? -n : n;
    return op;
}

PyObject *py_long_new(int negative, const uint32_t *digits, Py_ssize_t n)
{
    PyObject *op = alloc(n);
    if (op == NULL)
        return NULL;
    if (n > 0)
        memcpy(DIGITS(op), digits, (size_t)n * sizeof *digits);
    return normal(op, negative);
}

static PyObject *from_unsigned(unsigned long long n, int negative)
{
    uint32_t digits[3] = { 0 };
    Py_ssize_t size = 0;
    PyObject *op;
    for (; n != 0; n >>= SHIFT)
        digits[size++] = (uint32_t)n & MASK;
    op = py_long_new(negative, digits, size);
    return op != NULL ? op : PyErr_NoMemory();
}

PyObject *PyLong_FromUnsignedLongLong(unsigned long long n) { return from_unsigned(n, 0); }
PyObject *PyLong_FromUnsignedLong(unsigned long n) { return from_unsigned(n, 0); }
PyObject *PyLong_FromSize_t(size_t n) { return from_unsigned(n, 0); }
PyObject *PyLong_FromVoidPtr(void *p) { return from_unsigned((uintptr_t)p, 0); }

PyObject *PyLong_FromLongLong(long long n)
{
    return from_unsigned(n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n, n < 0);
}

PyObject *PyLong_FromLong(long n) { return PyLong_FromLongLong(n); }
PyObject *PyLong_FromSsize_t(Py_ssize_t n) { return PyLong_FromLongLong(n); }

PyObject *PyLong_FromDouble(double x)
{
    int exponent, negative = x < 0;
    Py_ssize_t n, i;
    PyObject *op;
    if (isnan(x) || isinf(x))
        return PyErr_Format(isnan(x) ? PyExc_ValueError : PyExc_OverflowError, "cannot convert float %s to integer",
                            isnan(x) ? "NaN" : "infinity");
    x = frexp(fabs(x), &exponent);
    if (exponent <= 0)
        return from_unsigned(0, 0);
    n = (exponent - 1) / SHIFT + 1;
    op = new_digits(n);
    if (op == NULL)
        return NULL;
    x = ldexp(x, (exponent - 1) % SHIFT + 1);
    for (i = n; i-- > 0;) {
        uint32_t one = (uint32_t)x;
        DIGITS(op)[i] = one;
        x = ldexp(x - one, SHIFT);
    }
    return normal(op, negative);
}

PyObject *PyBool_FromLong(long n)
{
    return Py_NewRef(n ? Py_True : Py_False);
}

PyObject *_PyLong_FromByteArray(const unsigned char *bytes, size_t n, int little, int is_signed)
{
    size_t i, bits = 0;
    Py_ssize_t at = 0;
    uint64_t pool = 0;
    int negative = is_signed && n > 0 && (bytes[little ? n - 1 : 0] & 0x80);
    unsigned carry = 1;
    PyObject *op = new_digits((Py_ssize_t)(n * 8 / SHIFT + 1));
    if (op == NULL)
        return NULL;
    for (i = 0; i < n; i++) {
        unsigned byte = bytes[little ? i : n - 1 - i];
        if (negative) {
            byte = (~byte & 0xff) + carry;
            carry = byte >> 8;
            byte &= 0xff;
        }
        pool |= (uint64_t)byte << bits;
        for (bits += 8; bits >= SHIFT; bits -= SHIFT, pool >>= SHIFT)
            DIGITS(op)[at++] = (uint32_t)pool & MASK;
    }
    if (at < count(op))
        DIGITS(op)[at] = (uint32_t)pool;
    return normal(op, negative);
}

int _PyLong_AsByteArray(PyLongObject *v, unsigned char *bytes, size_t n, int little, int is_signed)
{
    PyObject *op = (PyObject *)(void *)v;
    int negative = IS_NEGATIVE(op);
    size_t i, bits = 0;
    Py_ssize_t at = 0;
    uint64_t pool = 0;
    unsigned carry = 1, last = 0;
    if (negative && !is_signed) {
        PyErr_SetString(PyExc_OverflowError, "can't convert negative int to unsigned");
        return -1;
    }
    for (i = 0; i < n; i++, bits -= 8, pool >>= 8) {
        while (bits < 8) {
            pool |= (uint64_t)(at < count(op) ? DIGITS(op)[at] : 0) << bits;
            at++;
            bits += SHIFT;
        }
        last = (unsigned)pool & 0xff;
        if (negative) {
            last = (~last & 0xff) + carry;
            carry = last >> 8;
            last &= 0xff;
        }
        bytes[little ? i : n - 1 - i] = (unsigned char)last;
    }
    if (pool != 0 || at < count(op) || (is_signed && n > 0 && ((last & 0x80) != 0) != negative && count(op) != 0)) {
        PyErr_SetString(PyExc_OverflowError, "int too big to convert");
        return -1;
    }
    return 0;
}

/* ---- to C --------------------------------------------------------------- */

/* The magnitude. 0: it does not fit. */
static int magnitude(PyObject *op, unsigned long long *n)
{
    Py_ssize_t i;
    *n = 0;
    for (i = count(op); i-- > 0;) {
        if (*n >> (64 - SHIFT) != 0)
            return 0;
        *n = *n << SHIFT | DIGITS(op)[i];
    }
    return 1;
}

int py_long_fits(PyObject *op, intptr_t *n)
{
    unsigned long long m;

    if (!magnitude(op, &m) || m > (unsigned long long)INTPTR_MAX + IS_NEGATIVE(op))
        return 0;
    *n = IS_NEGATIVE(op) ? (intptr_t)(0 - m) : (intptr_t)m;
    return 1;
}

/* op as an int, new. */
static PyObject *as_int(PyObject *op)
{
    if (op == NULL) {
        PyErr_BadInternalCall();
        return NULL;
    }
    return PyLong_Check(op) ? Py_NewRef(op) : PyNumber_Index(op);
}

long long PyLong_AsLongLongAndOverflow(PyObject *op, int *overflow)
{
    PyObject *i = as_int(op);
    unsigned long long m;
    long long n = -1;

    *overflow = 0;
    if (i == NULL)
        return -1;
    if (!magnitude(i, &m) || m > (unsigned long long)LLONG_MAX + IS_NEGATIVE(i))
        *overflow = IS_NEGATIVE(i) ? -1 : 1;
    else
        n = IS_NEGATIVE(i) ? (long long)(0 - m) : (long long)m;
    Py_DECREF(i);
    return n;
}

long PyLong_AsLongAndOverflow(PyObject *op, int *overflow)
{
    long long n = PyLong_AsLongLongAndOverflow(op, overflow);

    if (*overflow == 0 && (long)n != n)
        *overflow = n < 0 ? -1 : 1;
    return *overflow != 0 ? -1 : (long)n;
}

static long long as_signed(PyObject *op, long long most, const char *name)
{
    int overflow;
    long long n = PyLong_AsLongLongAndOverflow(op, &overflow);

    if (overflow == 0 && n <= most && n >= -most - 1)
        return n;
    PyErr_Format(PyExc_OverflowError, "Python int too large to convert to C %s", name);
    return -1;
}

PyLongObject *_PyLong_New(Py_ssize_t n) { return (PyLongObject *)(void *)_PyObject_NewVar(&PyLong_Type, n); }

long PyLong_AsLong(PyObject *op) { return (long)as_signed(op, LONG_MAX, "long"); }
long long PyLong_AsLongLong(PyObject *op) { return as_signed(op, LLONG_MAX, "long long"); }
int _PyLong_AsInt(PyObject *op) { return (int)as_signed(op, INT_MAX, "int"); }

Py_ssize_t PyLong_AsSsize_t(PyObject *op)
{
    if (op != NULL && !PyLong_Check(op)) {
        PyErr_SetString(PyExc_TypeError, "an integer is required");
        return -1;
    }
    return (Py_ssize_t)as_signed(op, INTPTR_MAX, "ssize_t");
}

static unsigned long long as_unsigned(PyObject *op, unsigned long long most)
{
    unsigned long long m;

    if (op == NULL || !PyLong_Check(op)) {
        PyErr_SetString(PyExc_TypeError, "an integer is required");
        return most;
    }
    if (!IS_NEGATIVE(op) && magnitude(op, &m) && m <= most)
        return m;
    PyErr_SetString(PyExc_OverflowError, IS_NEGATIVE(op) ? "can't convert negative value to unsigned int"
                                                         : "Python int too large to convert to C unsigned");
    return most;
}

size_t PyLong_AsSize_t(PyObject *op) { return (size_t)as_unsigned(op, SIZE_MAX); }
unsigned long PyLong_AsUnsignedLong(PyObject *op) { return (unsigned long)as_unsigned(op, ULONG_MAX); }
unsigned long long PyLong_AsUnsignedLongLong(PyObject *op) { return as_unsigned(op, ULLONG_MAX); }

unsigned long long PyLong_AsUnsignedLongLongMask(PyObject *op)
{
    PyObject *i = as_int(op);
    unsigned long long n = 0;
    Py_ssize_t at;

    if (i == NULL)
        return (unsigned long long)-1;
    for (at = count(i); at-- > 0;)
        n = n << SHIFT | DIGITS(i)[at];
    if (IS_NEGATIVE(i))
        n = 0 - n;
    Py_DECREF(i);
    return n;
}

unsigned long PyLong_AsUnsignedLongMask(PyObject *op) { return (unsigned long)PyLong_AsUnsignedLongLongMask(op); }

void *PyLong_AsVoidPtr(PyObject *op)
{
    unsigned long long n = op != NULL && PyLong_Check(op) && IS_NEGATIVE(op) ? (unsigned long long)PyLong_AsLongLong(op)
                                                                             : PyLong_AsUnsignedLongLong(op);
    return n == (unsigned long long)-1 && PyErr_Occurred() ? NULL : (void *)(uintptr_t)n;
}

/* ---- ids of users and groups ----------------------------------------------- */

PyObject *_PyLong_FromUid(unsigned id) { return id == UINT_MAX ? PyLong_FromLong(-1) : PyLong_FromUnsignedLong(id); }
PyObject *_PyLong_FromGid(unsigned id) { return _PyLong_FromUid(id); }

int _Py_Uid_Converter(PyObject *op, unsigned *id)
{
    PyObject *i = PyNumber_Index(op);
    long long n = i != NULL ? PyLong_AsLongLong(i) : -1;
    Py_XDECREF(i);
    if (i == NULL) {
        PyErr_Format(PyExc_TypeError, "uid should be integer, not %.200s", Py_TYPE(op)->tp_name);
        return 0;
    }
    if (PyErr_Occurred() || n < -1 || n >= UINT_MAX) {
        PyErr_SetString(PyExc_OverflowError, n < -1 && !PyErr_Occurred() ? "uid is less than minimum" : "uid is greater than maximum");
        return 0;
    }
    *id = (unsigned)n;
    return 1;
}

int _Py_Gid_Converter(PyObject *op, unsigned *id) { return _Py_Uid_Converter(op, id); }

double PyLong_AsDouble(PyObject *op)
{
    double x = 0;
    Py_ssize_t i;
    unsigned long long m;

    if (op == NULL || !PyLong_Check(op)) {
        PyErr_SetString(PyExc_TypeError, "an integer is required");
        return -1;
    }
    if (magnitude(op, &m)) {
        x = (double)m;
    } else {
        /* The top 64 bits, with a bit for what is below them, round as they should. */
        Py_ssize_t n = count(op);
        size_t bits = _PyLong_NumBits(op), drop = bits - 64, sticky = 0;
        m = 0;
        for (i = n; i-- > 0;) {
            size_t low = (size_t)i * SHIFT;
            if (low >= drop)
                m |= (unsigned long long)DIGITS(op)[i] << (low - drop);
            else if (drop - low < SHIFT)
                m |= DIGITS(op)[i] >> (drop - low), sticky |= DIGITS(op)[i] & ((1u << (drop - low)) - 1);
            else
                sticky |= DIGITS(op)[i];
        }
        x = bits > 1100 ? HUGE_VAL : ldexp((double)(m | (sticky != 0)), (int)drop);
    }
    if (isinf(x)) {
        PyErr_SetString(PyExc_OverflowError, "int too large to convert to float");
        return -1;
    }
    return IS_NEGATIVE(op) ? -x : x;
}

int _PyLong_Sign(PyObject *op)
{
    return (SIZE(op) > 0) - (SIZE(op) < 0);
}

size_t _PyLong_NumBits(PyObject *op)
{
    Py_ssize_t n = count(op);
    size_t bits = n > 0 ? (size_t)(n - 1) * SHIFT : 0;
    uint32_t top;
    for (top = n > 0 ? DIGITS(op)[n - 1] : 0; top != 0; top >>= 1)
        bits++;
    return bits;
}

/* ---- arithmetic ---------------------------------------------------------- */

static int compare_magnitudes(PyObject *a, PyObject *b)
{
    Py_ssize_t i;
    if (count(a) != count(b))
        return count(a) < count(b) ? -1 : 1;
    for (i = count(a); i-- > 0;)
        if (DIGITS(a)[i] != DIGITS(b)[i])
            return DIGITS(a)[i] < DIGITS(b)[i] ? -1 : 1;
    return 0;
}

static int compare(PyObject *a, PyObject *b)
{
    if (_PyLong_Sign(a) != _PyLong_Sign(b))
        return _PyLong_Sign(a) < _PyLong_Sign(b) ? -1 : 1;
    return IS_NEGATIVE(a) ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

static PyObject *add_magnitudes(PyObject *a, PyObject *b, int negative)
{
    Py_ssize_t i, n = Py_MAX(count(a), count(b));
    PyObject *sum = new_digits(n + 1);
    uint32_t carry = 0;
    for (i = 0; sum != NULL && i <= n; i++) {
        carry += (i < count(a) ? DIGITS(a)[i] : 0) + (i < count(b) ? DIGITS(b)[i] : 0);
        DIGITS(sum)[i] = carry & MASK;
        carry >>= SHIFT;
    }
    return sum != NULL ? normal(sum, negative) : NULL;
}

/* |a| - |b|, where |a| >= |b|. */
static PyObject *subtract_magnitudes(PyObject *a, PyObject *b, int negative)
{
    Py_ssize_t i;
    PyObject *difference = new_digits(count(a));
    int64_t borrow = 0;
    for (i = 0; difference != NULL && i < count(a); i++) {
        borrow += (int64_t)DIGITS(a)[i] - (i < count(b) ? DIGITS(b)[i] : 0);
        DIGITS(difference)[i] = (uint32_t)(borrow & MASK);
        borrow >>= SHIFT;
    }
    return difference != NULL ? normal(difference, negative) : NULL;
}

static PyObject *sum(PyObject *a, PyObject *b, int negate_b)
{
    int b_negative = IS_NEGATIVE(b) != negate_b && SIZE(b) != 0;
    if (IS_NEGATIVE(a) == b_negative)
        return add_magnitudes(a, b, b_negative);
    return compare_magnitudes(a, b) >= 0 ? subtract_magnitudes(a, b, IS_NEGATIVE(a))
                                         : subtract_magnitudes(b, a, b_negative);
}

static PyObject *product(PyObject *a, PyObject *b)
{
    Py_ssize_t i, k, n = count(a), m = count(b);
    PyObject *result = new_digits(n + m);
    for (i = 0; result != NULL && i < n; i++) {
        uint64_t carry = 0;
        for (k = 0; k < m || carry != 0; k++) {
            carry += DIGITS(result)[i + k] + (k < m ? (uint64_t)DIGITS(a)[i] * DIGITS(b)[k] : 0);
            DIGITS(result)[i + k] = (uint32_t)carry & MASK;
            carry >>= SHIFT;
        }
    }
    return result != NULL ? normal(result, IS_NEGATIVE(a) != IS_NEGATIVE(b)) : NULL;
}

/* Divide the magnitude in place; gives the remainder. */
static uint32_t divide_small(PyObject *op, uint32_t by)
{
    uint64_t rest = 0;
    Py_ssize_t i;
    for (i = count(op); i-- > 0;) {
        rest = rest << SHIFT | DIGITS(op)[i];
        DIGITS(op)[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    return (uint32_t)rest;
}

static PyObject *copy(PyObject *op, int negative)
{
    PyObject *result = py_long_new(negative, DIGITS(op), count(op));
    return result != NULL ? result : PyErr_NoMemory();
}

static PyObject *shift_left(PyObject *op, Py_ssize_t by)
{
    Py_ssize_t words = by / SHIFT, i, n = count(op);
    unsigned bits = (unsigned)(by % SHIFT);
    PyObject *result = new_digits(n + words + 1);
    uint64_t carry = 0;
    for (i = 0; result != NULL && i <= n; i++) {
        carry |= (uint64_t)(i < n ? DIGITS(op)[i] : 0) << bits;
        DIGITS(result)[i + words] = (uint32_t)carry & MASK;
        carry >>= SHIFT;
    }
    return result != NULL ? normal(result, IS_NEGATIVE(op)) : NULL;
}

/* Magnitudes, bit by bit where b has more than one digit: simple, and big numbers are rare. */
static int divide_magnitudes(PyObject *a, PyObject *b, PyObject **quotient, PyObject **rest)
{
    Py_ssize_t i;
    int bit;
    if (count(b) <= 1) {
        uint32_t one;
        if ((*quotient = copy(a, 0)) == NULL)
            return -1;
        one = divide_small(*quotient, DIGITS(b)[0]);
        normal(*quotient, 0);
        *rest = from_unsigned(one, 0);
        if (*rest == NULL)
            Py_CLEAR(*quotient);
        return *rest != NULL ? 0 : -1;
    }
    *quotient = new_digits(count(a));
    *rest = new_digits(count(b) + 1);
    if (*quotient == NULL || *rest == NULL) {
        Py_CLEAR(*quotient);
        Py_CLEAR(*rest);
        return -1;
    }
    for (i = count(a); i-- > 0;) {
        for (bit = SHIFT; bit-- > 0;) {
            Py_ssize_t k, n = count(b) + 1;
            uint32_t carry = DIGITS(a)[i] >> bit & 1;
            int64_t borrow = 0;
            int less = 0;
            for (k = 0; k < n; k++) {
                uint32_t one = DIGITS(*rest)[k] << 1 | carry;
                carry = one >> SHIFT;
                DIGITS(*rest)[k] = one & MASK;
            }
            for (k = n; k-- > 0;) {
                uint32_t d = k < count(b) ? DIGITS(b)[k] : 0;
                if (DIGITS(*rest)[k] != d) {
                    less = DIGITS(*rest)[k] < d;
                    break;
                }
            }
            if (less)
                continue;
            for (k = 0; k < n; k++) {
                borrow += (int64_t)DIGITS(*rest)[k] - (k < count(b) ? DIGITS(b)[k] : 0);
                DIGITS(*rest)[k] = (uint32_t)(borrow & MASK);
                borrow >>= SHIFT;
            }
            DIGITS(*quotient)[i] |= 1u << bit;
        }
    }
    normal(*quotient, 0);
    normal(*rest, 0);
    return 0;
}

/* The quotient rounds down; the rest has b's sign. */
static int divide(PyObject *a, PyObject *b, PyObject **quotient, PyObject **rest)
{
    PyObject *one, *q, *r;
    *quotient = *rest = NULL;
    if (SIZE(b) == 0) {
        PyErr_SetString(PyExc_ZeroDivisionError, "integer division or modulo by zero");
        return -1;
    }
    if (divide_magnitudes(a, b, &q, &r) < 0)
        return -1;
    if (IS_NEGATIVE(a) != IS_NEGATIVE(b))
        SIZE(q) = -SIZE(q);
    if (IS_NEGATIVE(a))
        SIZE(r) = -SIZE(r);
    if (SIZE(r) != 0 && IS_NEGATIVE(r) != IS_NEGATIVE(b)) {
        one = from_unsigned(1, 0);
        *quotient = one != NULL ? sum(q, one, 1) : NULL;
        *rest = one != NULL ? sum(r, b, 0) : NULL;
        Py_XDECREF(one);
        Py_DECREF(q);
        Py_DECREF(r);
        if (*quotient == NULL || *rest == NULL) {
            Py_CLEAR(*quotient);
            Py_CLEAR(*rest);
            return -1;
        }
        return 0;
    }
    *quotient = q;
    *rest = r;
    return 0;
}

static PyObject *shift_right(PyObject *op, Py_ssize_t by)
{
    PyObject *one = from_unsigned(1, 0), *power = one != NULL ? shift_left(one, by) : NULL, *q = NULL, *r = NULL;
    Py_ssize_t words = by / SHIFT, i, n = count(op) - words;
    unsigned bits = (unsigned)(by % SHIFT);
    if (!IS_NEGATIVE(op)) {
        q = new_digits(n > 0 ? n : 0);
        for (i = 0; q != NULL && i < n; i++)
            DIGITS(q)[i] = (DIGITS(op)[i + words] >> bits
                            | (uint32_t)((uint64_t)(i + 1 < n ? DIGITS(op)[i + words + 1] : 0) << (SHIFT - bits))) & MASK;
        if (q != NULL)
            normal(q, 0);
    } else if (power != NULL) {
        divide(op, power, &q, &r);
    }
    Py_XDECREF(r);
    Py_XDECREF(power);
    Py_XDECREF(one);
    return q;
}

/* Two's complement, digit by digit. */
static PyObject *bitwise(PyObject *a, PyObject *b, char operation)
{
    Py_ssize_t i, n = Py_MAX(count(a), count(b)) + 1;
    PyObject *result = new_digits(n);
    uint32_t carry_a = 1, carry_b = 1, carry = 1;
    int x = IS_NEGATIVE(a), y = IS_NEGATIVE(b);
    int negative = operation == '&' ? x & y : operation == '|' ? x | y : x ^ y;
    for (i = 0; result != NULL && i < n; i++) {
        uint32_t p = i < count(a) ? DIGITS(a)[i] : 0, q = i < count(b) ? DIGITS(b)[i] : 0, r;
        if (x) {
            p = (~p & MASK) + carry_a;
            carry_a = p >> SHIFT;
            p &= MASK;
        }
        if (y) {
            q = (~q & MASK) + carry_b;
            carry_b = q >> SHIFT;
            q &= MASK;
        }
        r = operation == '&' ? p & q : operation == '|' ? p | q : p ^ q;
        if (negative) {
            r = (~r & MASK) + carry;
            carry = r >> SHIFT;
            r &= MASK;
        }
        DIGITS(result)[i] = r;
    }
    return result != NULL ? normal(result, negative) : NULL;
}

/* ---- text ---------------------------------------------------------------- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

PyObject *PyLong_FromString(const char *text, char **end, int base)
{
    const char *at = text;
    int negative, digits = 0;
    Py_ssize_t room, n = 0, i;
    PyObject *op;
    while (isspace((unsigned char)*at))
        at++;
    negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (at[0] == '0' && (base == 0 || base == 16 || base == 8 || base == 2)) {
        int prefix = at[1] == 'x' || at[1] == 'X' ? 16 : at[1] == 'o' || at[1] == 'O' ? 8
                   : at[1] == 'b' || at[1] == 'B' ? 2 : 0;
        if (prefix != 0 && (base == 0 || base == prefix)) {
            base = prefix;
            at += 2;
        }
    }
    if (base == 0)
        base = 10;
    room = (Py_ssize_t)strlen(at) * 6 / SHIFT + 2;
    op = new_digits(room);
    if (op == NULL)
        return NULL;
    for (; digit_of(*at) < base || (*at == '_' && digits > 0); at++) {
        uint64_t carry = (uint64_t)digit_of(*at);
        if (*at == '_')
            continue;
        digits++;
        for (i = 0; i < n || carry != 0; i++) {
            carry += (uint64_t)DIGITS(op)[i] * (unsigned)base;
            DIGITS(op)[i] = (uint32_t)carry & MASK;
            carry >>= SHIFT;
        }
        n = i > n ? i : n;
    }
    while (isspace((unsigned char)*at))
        at++;
    if (end != NULL)
        *end = (char *)(uintptr_t)at;
    if (digits == 0 || (end == NULL && *at != '\0')) {
        Py_DECREF(op);
        return PyErr_Format(PyExc_ValueError, "invalid literal for int() with base %d: '%.200s'", base, text);
    }
    return normal(op, negative);
}

PyObject *PyLong_FromUnicodeObject(PyObject *text, int base)
{
    const char *utf8 = PyUnicode_AsUTF8(text);
    return utf8 != NULL ? PyLong_FromString(utf8, NULL, base) : NULL;
}

static PyObject *repr(PyObject *op)
{
    Py_ssize_t n = count(op);
    size_t room = (size_t)n * 10 + 3;
    char *text = PyMem_Malloc(room), *at;
    PyObject *rest = text != NULL ? copy(op, 0) : PyErr_NoMemory(), *result;
    if (rest == NULL) {
        PyMem_Free(text);
        return NULL;
    }
    at = text + room;
    do {
        uint32_t group = divide_small(rest, 1000000000);
        int i;
        normal(rest, 0);
        for (i = 0; i < 9 && (group != 0 || SIZE(rest) != 0 || (i == 0 && at == text + room)); i++, group /= 10)
            *--at = (char)('0' + group % 10);
    } while (SIZE(rest) != 0);
    if (IS_NEGATIVE(op))
        *--at = '-';
    result = PyUnicode_FromStringAndSize(at, text + room - at);
    Py_DECREF(rest);
    PyMem_Free(text);
    return result;
}

/* In base 2, 8 or 16. prefix: with 0b, 0o or 0x. */
PyObject *py_long_in_base(PyObject *op, int base, int prefix)
{
    int bits = base == 2 ? 1 : base == 8 ? 3 : 4;
    size_t n = _PyLong_NumBits(op), room = (n + (size_t)bits - 1) / (size_t)bits + 4, i;
    char *text = PyMem_Malloc(room), *at = text + room;
    PyObject *result;
    if (text == NULL)
        return PyErr_NoMemory();
    for (i = 0; i == 0 || i < n; i += (size_t)bits) {
        unsigned one = 0;
        int k;
        for (k = bits - 1; k >= 0; k--) {
            size_t bit = i + (size_t)k;
            one = one << 1 | (bit < n ? DIGITS(op)[bit / SHIFT] >> bit % SHIFT & 1 : 0);
        }
        *--at = "0123456789abcdef"[one];
    }
    if (prefix) {
        *--at = base == 2 ? 'b' : base == 8 ? 'o' : 'x';
        *--at = '0';
    }
    if (IS_NEGATIVE(op))
        *--at = '-';
    result = PyUnicode_FromStringAndSize(at, text + room - at);
    PyMem_Free(text);
    return result;
}

/* ---- the type ------------------------------------------------------------ */

#define BOTH_INTS(a, b) \
    if (!PyLong_Check(a) || !PyLong_Check(b)) \
        Py_RETURN_NOTIMPLEMENTED

static PyObject *long_add(PyObject *a, PyObject *b) { BOTH_INTS(a, b); return sum(a, b, 0); }
static PyObject *long_subtract(PyObject *a, PyObject *b) { BOTH_INTS(a, b); return sum(a, b, 1); }
static PyObject *long_multiply(PyObject *a, PyObject *b) { BOTH_INTS(a, b); return product(a, b); }
static PyObject *long_and(PyObject *a, PyObject *b) { BOTH_INTS(a, b); return bitwise(a, b, '&'); }
static PyObject *long_or(PyObject *a, PyObject *b) { BOTH_INTS(a, b); return bitwise(a, b, '|'); }
static PyObject *long_xor(PyObject *a, PyObject *b) { BOTH_INTS(a, b); return bitwise(a, b, '^'); }

static PyObject *floor_divide(PyObject *a, PyObject *b)
{
    PyObject *q, *r;
    BOTH_INTS(a, b);
    divide(a, b, &q, &r);
    Py_XDECREF(r);
    return q;
}

static PyObject *remainder_of(PyObject *a, PyObject *b)
{
    PyObject *q, *r;
    BOTH_INTS(a, b);
    divide(a, b, &q, &r);
    Py_XDECREF(q);
    return r;
}

static PyObject *long_divmod(PyObject *a, PyObject *b)
{
    PyObject *q, *r, *both = NULL;
    BOTH_INTS(a, b);
    if (divide(a, b, &q, &r) == 0)
        both = PyTuple_Pack(2, q, r);
    Py_XDECREF(q);
    Py_XDECREF(r);
    return both;
}

PyObject *_PyLong_DivmodNear(PyObject *a, PyObject *b)
{
    PyObject *q, *r, *twice, *one, *both = NULL;
    int order;
    if (!PyLong_Check(a) || !PyLong_Check(b)) {
        PyErr_SetString(PyExc_TypeError, "non-integer arguments in division");
        return NULL;
    }
    if (divide(a, b, &q, &r) < 0)
        return NULL;
    twice = sum(r, r, 0);               /* its sign is that of b */
    one = PyLong_FromLong(1);
    if (twice != NULL && one != NULL) {
        order = compare_magnitudes(twice, b);
        if (order > 0 || (order == 0 && SIZE(q) != 0 && (DIGITS(q)[0] & 1) != 0)) {
            Py_SETREF(q, sum(q, one, 0));
            Py_SETREF(r, sum(r, b, 1));
        }
        both = q != NULL && r != NULL ? PyTuple_Pack(2, q, r) : NULL;
    }
    Py_XDECREF(twice);
    Py_XDECREF(one);
    Py_XDECREF(q);
    Py_XDECREF(r);
    return both;
}

static PyObject *true_divide(PyObject *a, PyObject *b)
{
    double x, y;
    BOTH_INTS(a, b);
    if (SIZE(b) == 0) {
        PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
        return NULL;
    }
    x = PyLong_AsDouble(a);
    y = PyErr_Occurred() ? 1 : PyLong_AsDouble(b);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(x / y);
}

static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus)
{
    PyObject *result, *square;
    Py_ssize_t i;
    int bit;
    BOTH_INTS(a, b);
    if (modulus != Py_None && !PyLong_Check(modulus))
        Py_RETURN_NOTIMPLEMENTED;
    if (IS_NEGATIVE(b)) {
        double x = PyLong_AsDouble(a), y = PyErr_Occurred() ? 0 : PyLong_AsDouble(b);
        return PyErr_Occurred() ? NULL : PyFloat_FromDouble(pow(x, y));
    }
    result = from_unsigned(1, 0);
    for (i = count(b); result != NULL && i-- > 0;) {
        for (bit = SHIFT; result != NULL && bit-- > 0;) {
            square = product(result, result);
            Py_SETREF(result, square);
            if (result != NULL && (DIGITS(b)[i] >> bit & 1)) {
                square = product(result, a);
                Py_SETREF(result, square);
            }
            if (result != NULL && modulus != Py_None) {
                square = remainder_of(result, modulus);
                Py_SETREF(result, square);
            }
        }
    }
    return result;
}

static int shift_count(PyObject *b, Py_ssize_t *n)
{
    if (IS_NEGATIVE(b)) {
        PyErr_SetString(PyExc_ValueError, "negative shift count");
        return -1;
    }
    *n = PyLong_AsSsize_t(b);
    if (*n == -1 && PyErr_Occurred())
        return -1;
    if (*n > PY_SSIZE_T_MAX / 16) {
        PyErr_SetString(PyExc_OverflowError, "too many digits in integer");
        return -1;
    }
    return 0;
}

static PyObject *lshift(PyObject *a, PyObject *b)
{
    Py_ssize_t n;
    BOTH_INTS(a, b);
    return shift_count(b, &n) == 0 ? shift_left(a, n) : NULL;
}

static PyObject *rshift(PyObject *a, PyObject *b)
{
    Py_ssize_t n;
    BOTH_INTS(a, b);
    return shift_count(b, &n) == 0 ? shift_right(a, n) : NULL;
}

static PyObject *as_exact(PyObject *op)
{
    return PyLong_CheckExact(op) ? Py_NewRef(op) : copy(op, IS_NEGATIVE(op));
}

static PyObject *negative(PyObject *op) { return copy(op, !IS_NEGATIVE(op)); }
static PyObject *absolute(PyObject *op) { return copy(op, 0); }
static int is_true(PyObject *op) { return SIZE(op) != 0; }
static PyObject *as_float(PyObject *op)
{
    double x = PyLong_AsDouble(op);
    return x == -1 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(x);
}

static PyObject *invert(PyObject *op)
{
    PyObject *one = from_unsigned(1, 0), *more = one != NULL ? sum(op, one, 0) : NULL;
    if (more != NULL)
        SIZE(more) = -SIZE(more);
    Py_XDECREF(one);
    return more;
}

static PyNumberMethods as_number = {
    .nb_add = long_add, .nb_subtract = long_subtract, .nb_multiply = long_multiply, .nb_remainder = remainder_of,
    .nb_divmod = long_divmod, .nb_power = power, .nb_negative = negative, .nb_positive = as_exact,
    .nb_absolute = absolute, .nb_bool = is_true, .nb_invert = invert, .nb_lshift = lshift, .nb_rshift = rshift,
    .nb_and = long_and, .nb_xor = long_xor, .nb_or = long_or, .nb_int = as_exact, .nb_float = as_float,
    .nb_floor_divide = floor_divide, .nb_true_divide = true_divide, .nb_index = as_exact
};

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    int order;
    BOTH_INTS(a, b);
    order = compare(a, b);
    Py_RETURN_RICHCOMPARE(order, 0, op);
}

/* As CPython's: modulo 2**61 - 1 (2**31 - 1 on small machines). */
static Py_hash_t hash(PyObject *op)
{
    const unsigned bits = sizeof(size_t) > 4 ? 61 : 31;
    size_t modulus = ((size_t)1 << bits) - 1, x = 0;
    Py_ssize_t i;
    for (i = count(op); i-- > 0;) {
        x = (x << SHIFT & modulus) | x >> (bits - SHIFT);
        x += DIGITS(op)[i];
        if (x >= modulus)
            x -= modulus;
    }
    if (IS_NEGATIVE(op))
        x = 0 - x;
    return (Py_hash_t)x == -1 ? -2 : (Py_hash_t)x;
}

static PyObject *long_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "x", "base", NULL };
    PyObject *x = NULL, *base = NULL, *value, *op;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:int", names, &x, &base))
        return NULL;
    if (x == NULL) {
        value = from_unsigned(0, 0);
    } else if (base != NULL) {
        Py_ssize_t n = PyNumber_AsSsize_t(base, NULL);
        if (n == -1 && PyErr_Occurred())
            return NULL;
        value = PyUnicode_Check(x) ? PyLong_FromUnicodeObject(x, (int)n)
              : PyBytes_Check(x) ? PyLong_FromString(PyBytes_AS_STRING(x), NULL, (int)n)
              : PyErr_Format(PyExc_TypeError, "int() can't convert non-string with explicit base");
    } else {
        value = PyNumber_Long(x);
    }
    if (value == NULL || type == &PyLong_Type)
        return value;
    op = type->tp_alloc(type, count(value));
    if (op != NULL) {
        memcpy(DIGITS(op), DIGITS(value), (size_t)count(value) * sizeof(uint32_t));
        SIZE(op) = SIZE(value);
    }
    Py_DECREF(value);
    return op;
}

static PyObject *bit_length(PyObject *op, PyObject *none)
{
    (void)none;
    return PyLong_FromSize_t(_PyLong_NumBits(op));
}

static PyObject *to_bytes(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "length", "byteorder", "signed", NULL };
    Py_ssize_t n = 1;
    const char *order = "big";
    int is_signed = 0;
    PyObject *bytes;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|nsp:to_bytes", names, &n, &order, &is_signed))
        return NULL;
    bytes = PyBytes_FromStringAndSize(NULL, n);
    if (bytes != NULL && _PyLong_AsByteArray((PyLongObject *)(void *)op, (unsigned char *)PyBytes_AS_STRING(bytes), (size_t)n,
                                             strcmp(order, "little") == 0, is_signed) < 0)
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *from_bytes(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "bytes", "byteorder", "signed", NULL };
    PyObject *op, *bytes, *value = NULL;
    const char *order = "big";
    int is_signed = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|sp:from_bytes", names, &op, &order, &is_signed))
        return NULL;
    bytes = PyObject_Bytes(op);
    if (bytes != NULL && strcmp(order, "little") != 0 && strcmp(order, "big") != 0)
        PyErr_SetString(PyExc_ValueError, "byteorder must be either 'little' or 'big'");
    else if (bytes != NULL)
        value = _PyLong_FromByteArray((unsigned char *)PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes), strcmp(order, "little") == 0, is_signed);
    Py_XDECREF(bytes);
    if (value != NULL && type != (PyObject *)(void *)&PyLong_Type)
        Py_SETREF(value, PyObject_CallOneArg(type, value));
    return value;
}

static PyObject *part(PyObject *op, void *n)       /* n NULL: op itself; or one more than the number */
{
    return n == NULL ? PyNumber_Positive(op) : PyLong_FromLong((long)(intptr_t)n - 1);
}

static PyGetSetDef parts[] = {
    { "real", part, NULL, NULL, NULL }, { "imag", part, NULL, NULL, (void *)1 }, { "numerator", part, NULL, NULL, NULL },
    { "denominator", part, NULL, NULL, (void *)2 }, { NULL, NULL, NULL, NULL, NULL }
};

static PyObject *conjugate(PyObject *op, PyObject *none) { (void)none; return PyNumber_Positive(op); }
static PyObject *as_ratio(PyObject *op, PyObject *none) { (void)none; return Py_BuildValue("(Ni)", PyNumber_Positive(op), 1); }

static PyMethodDef methods[] = {
    { "conjugate", conjugate, METH_NOARGS, NULL }, { "as_integer_ratio", as_ratio, METH_NOARGS, NULL },
    { "from_bytes", _PyCFunction_CAST(from_bytes), METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL },
    { "bit_length", bit_length, METH_NOARGS, NULL }, { "__format__", py_format_spec, METH_O, NULL },
    { "to_bytes", _PyCFunction_CAST(to_bytes), METH_VARARGS | METH_KEYWORDS, NULL },
    { NULL, NULL, 0, NULL }
};

PyTypeObject PyLong_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "int", .tp_basicsize = offsetof(PyLongObject, ob_digit),
    .tp_itemsize = sizeof(uint32_t), .tp_repr = repr, .tp_as_number = &as_number, .tp_hash = hash,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_LONG_SUBCLASS,
    .tp_richcompare = richcompare, .tp_new = long_new, .tp_methods = methods, .tp_getset = parts
};

/* ---- bool ---------------------------------------------------------------- */

static PyObject *bool_repr(PyObject *op)
{
    return PyUnicode_FromString(op == Py_True ? "True" : "False");
}

static PyObject *bool_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *x = Py_False;
    int yes;
    (void)type, (void)kwargs;
    if (!PyArg_ParseTuple(args, "|O:bool", &x))
        return NULL;
    yes = PyObject_IsTrue(x);
    return yes < 0 ? NULL : PyBool_FromLong(yes);
}

#define BOOL_BITWISE(name, operator, otherwise) \
    static PyObject *name(PyObject *a, PyObject *b) \
    { \
        return PyBool_Check(a) && PyBool_Check(b) ? PyBool_FromLong((a == Py_True) operator (b == Py_True)) \
                                                  : otherwise(a, b); \
    }
BOOL_BITWISE(bool_and, &, long_and)
BOOL_BITWISE(bool_or, |, long_or)
BOOL_BITWISE(bool_xor, ^, long_xor)

static PyNumberMethods bool_as_number = { .nb_and = bool_and, .nb_or = bool_or, .nb_xor = bool_xor };

PyTypeObject PyBool_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "bool", .tp_basicsize = sizeof(PyLongObject),
    .tp_itemsize = sizeof(uint32_t), .tp_repr = bool_repr, .tp_as_number = &bool_as_number,
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_base = &PyLong_Type, .tp_new = bool_new
};

PyLongObject _Py_FalseStruct = { PyVarObject_HEAD_INIT(&PyBool_Type, 0) { 0 } };
PyLongObject _Py_TrueStruct = { PyVarObject_HEAD_INIT(&PyBool_Type, 1) { 1 } };
