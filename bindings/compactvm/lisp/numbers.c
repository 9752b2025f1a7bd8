/* numbers.c - numbers and arithmetic.
 *
 * Whole numbers fill a word, and are exact. A result that does not fit becomes a real, as in
 * "about 9.2e18".
 */
#include "lisp.h"

#include <math.h>

cvm_value cvm_real_new(cvm *vm, double number)
{
    cvm_real *r = (cvm_real *)cvm_object_new(vm, CVM_REAL, sizeof *r);
    if (r != NULL)
        r->number = number;
    return (cvm_value)r;
}

cvm_value cvm_whole_new(cvm *vm, intptr_t n)
{
    cvm_whole *p = (cvm_whole *)cvm_object_new(vm, CVM_INTEGER, sizeof *p);
    if (p != NULL)
        p->number = n;
    return (cvm_value)p;
}

cvm_value cvm_integer(cvm *vm, intptr_t n)
{
    return cvm_fits_fixnum(n) ? cvm_fixnum(n) : cvm_whole_new(vm, n);
}

cvm_value cvm_size(cvm *vm, size_t n) { return cvm_integer(vm, (intptr_t)n); }

/* ---- arithmetic --------------------------------------------------------- */

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE };

/* The result, if it is a whole number in a word. b is not 0 if it is a division. */
static int whole(int op, intptr_t a, intptr_t b, intptr_t *result)
{
    switch (op) {
    case ADD:
        return !__builtin_add_overflow(a, b, result);
    case SUBTRACT:
        return !__builtin_sub_overflow(a, b, result);
    case MULTIPLY:
        return !__builtin_mul_overflow(a, b, result);
    default:
        if ((b == -1 && a == INTPTR_MIN) || a % b != 0)
            return 0;
        *result = a / b;
        return 1;
    }
}

/* Of two numbers. */
static cvm_value arithmetic(cvm *vm, int op, cvm_value a, cvm_value b)
{
    double x = cvm_number_of(a), y = cvm_number_of(b);
    intptr_t n;
    if (op == DIVIDE && y >= 0 && y <= 0)
        return cvm_fail(vm, "/: division by zero");
    if (cvm_is_whole(a) && cvm_is_whole(b) && whole(op, cvm_whole_of(a), cvm_whole_of(b), &n))
        return cvm_integer(vm, n);
    return cvm_real_new(vm, op == ADD ? x + y : op == SUBTRACT ? x - y : op == MULTIPLY ? x * y : x / y);
}

/* (op) is the unit, (op a) is unit op a, (op a b c) is ((a op b) op c). */
static cvm_value reduce(cvm *vm, int op, intptr_t unit, cvm_value *args, size_t n)
{
    cvm_value *sum = cvm_root(vm, n > 1 ? args[0] : cvm_fixnum(unit));
    for (size_t i = n > 1; i < n && *sum != CVM_NONE; i++)
        *sum = arithmetic(vm, op, *sum, args[i]);
    return *sum;
}

CVM_BUILTIN_BODY(b_add) { return reduce(vm, ADD, 0, args, n); }
CVM_BUILTIN_BODY(b_subtract) { return reduce(vm, SUBTRACT, 0, args, n); }
CVM_BUILTIN_BODY(b_multiply) { return reduce(vm, MULTIPLY, 1, args, n); }
CVM_BUILTIN_BODY(b_divide) { return reduce(vm, DIVIDE, 1, args, n); }

CVM_BUILTIN_BODY(b_quotient)
{
    intptr_t a = cvm_whole_of(args[0]), b = cvm_whole_of(args[1]);
    if (b == 0)
        return cvm_fail(vm, "quotient: division by zero");
    if (b == -1)                        /* the machine cannot divide each number by it */
        return arithmetic(vm, SUBTRACT, cvm_fixnum(0), args[0]);
    return cvm_integer(vm, a / b);
}

/* The result has the sign of b. */
CVM_BUILTIN_BODY(b_modulo)
{
    intptr_t a = cvm_whole_of(args[0]), b = cvm_whole_of(args[1]);
    if (b == 0)
        return cvm_fail(vm, "modulo: division by zero");
    intptr_t r = b != -1 ? a % b : 0;
    return cvm_integer(vm, r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

/* ---- comparing ---------------------------------------------------------- */

int cvm_compare_whole(intptr_t a, double b)
{
    double rounded = (double)a;
    if (rounded < b || rounded > b)
        return rounded > b ? 1 : -1;
    if (b >= -(double)INTPTR_MIN)           /* a was rounded up to a number that is none of ours */
        return -1;
    return isnan(b) ? 2 : (a > (intptr_t)b) - (a < (intptr_t)b);
}

int cvm_compare(cvm_value a, cvm_value b)
{
    double x = cvm_number_of(a), y = cvm_number_of(b);
    if (cvm_is_whole(a) && cvm_is_whole(b))
        return (cvm_whole_of(a) > cvm_whole_of(b)) - (cvm_whole_of(a) < cvm_whole_of(b));
    if (isnan(x) || isnan(y))
        return 2;
    if (cvm_is_whole(a))
        return cvm_compare_whole(cvm_whole_of(a), y);
    return cvm_is_whole(b) ? -cvm_compare_whole(cvm_whole_of(b), x) : (x > y) - (x < y);
}

/* Is each argument less than the next, equal to it, or greater, as far as this is allowed? */
static cvm_value compare(const cvm_value *args, size_t n, int less, int equal, int greater)
{
    const int holds[] = { less, equal, greater, 0 };    /* by what cvm_compare gives, and 1 */
    int all = 1;
    for (size_t i = 0; i + 1 < n; i++)
        all &= holds[cvm_compare(args[i], args[i + 1]) + 1];
    return cvm_boolean(all);
}

CVM_BUILTIN_BODY(b_equal_number) { return compare(args, n, 0, 1, 0); }
CVM_BUILTIN_BODY(b_less) { return compare(args, n, 1, 0, 0); }
CVM_BUILTIN_BODY(b_greater) { return compare(args, n, 0, 0, 1); }
CVM_BUILTIN_BODY(b_less_equal) { return compare(args, n, 1, 1, 0); }
CVM_BUILTIN_BODY(b_greater_equal) { return compare(args, n, 0, 1, 1); }

CVM_BUILTIN_BODY(b_hex)
{
    char text[40];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)(uintptr_t)cvm_whole_of(args[0]));
    return cvm_text(vm, text);
}

const cvm_builtin_def cvm_number_builtins[] = {
    { "+", "n*", b_add },                   { "-", "nn*", b_subtract },
    { "*", "n*", b_multiply },              { "/", "nn*", b_divide },
    { "quotient", "ww", b_quotient },       { "modulo", "ww", b_modulo },
    { "=", "nn*", b_equal_number },         { "<", "nn*", b_less },
    { ">", "nn*", b_greater },              { "<=", "nn*", b_less_equal },
    { ">=", "nn*", b_greater_equal },       { "hex", "w", b_hex },
    { NULL, NULL, NULL }
};
