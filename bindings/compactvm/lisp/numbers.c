/* numbers.c - arithmetic.
 *
 * Whole numbers fill a word, and are exact. A result that does not fit becomes a real, as in
 * "about 9.2e18".
 */
#include "lisp.h"

#include <math.h>

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE };

static int product_fits(intptr_t a, intptr_t b)
{
    if (a == 0 || b == 0)
        return 1;
    if (a > 0)
        return b > 0 ? a <= INTPTR_MAX / b : b >= INTPTR_MIN / a;
    return b > 0 ? a >= INTPTR_MIN / b : a >= INTPTR_MAX / b;
}

/* Is the result a whole number, in a word? b is not 0 if it is a division. */
static int fits(int op, intptr_t a, intptr_t b)
{
    switch (op) {
    case ADD:
        return b > 0 ? a <= INTPTR_MAX - b : a >= INTPTR_MIN - b;
    case SUBTRACT:
        return b > 0 ? a >= INTPTR_MIN + b : a <= INTPTR_MAX + b;
    case MULTIPLY:
        return product_fits(a, b);
    default:
        return b == -1 ? a != INTPTR_MIN : a % b == 0;
    }
}

static cvm_value whole(cvm *vm, int op, intptr_t a, intptr_t b)
{
    return cvm_integer(vm, op == ADD ? a + b : op == SUBTRACT ? a - b : op == MULTIPLY ? a * b : a / b);
}

/* Of two numbers. */
static cvm_value arithmetic(cvm *vm, int op, cvm_value a, cvm_value b)
{
    double x = cvm_number_of(a), y = cvm_number_of(b);

    if (op == DIVIDE && y >= 0 && y <= 0)
        return cvm_fail(vm, "/: division by zero");
    if (cvm_is_whole(a) && cvm_is_whole(b) && fits(op, cvm_whole_of(a), cvm_whole_of(b)))
        return whole(vm, op, cvm_whole_of(a), cvm_whole_of(b));
    return cvm_real_new(vm, op == ADD ? x + y : op == SUBTRACT ? x - y
                          : op == MULTIPLY ? x * y : x / y);
}

/* (op) is the unit, (op a) is unit op a, (op a b c) is ((a op b) op c). */
static cvm_value reduce(cvm *vm, int op, intptr_t unit, cvm_value *args, size_t n)
{
    cvm_value *sum = cvm_root(vm, n > 1 ? args[0] : cvm_fixnum(unit));
    size_t i;

    for (i = n > 1; i < n && *sum != CVM_NONE; i++)
        *sum = arithmetic(vm, op, *sum, args[i]);
    return *sum;
}

CVM_BUILTIN_BODY(b_add) { return reduce(vm, ADD, 0, args, n); }
CVM_BUILTIN_BODY(b_subtract) { return reduce(vm, SUBTRACT, 0, args, n); }
CVM_BUILTIN_BODY(b_multiply) { return reduce(vm, MULTIPLY, 1, args, n); }
CVM_BUILTIN_BODY(b_divide) { return reduce(vm, DIVIDE, 1, args, n); }

enum { QUOTIENT, REMAINDER, MODULO };

static cvm_value divide_whole(cvm *vm, const char *name, int op, cvm_value *args)
{
    intptr_t a = cvm_whole_of(args[0]), b = cvm_whole_of(args[1]), r;

    if (b == 0)
        return cvm_fail(vm, "%s: division by zero", name);
    if (b == -1)                        /* the machine cannot divide each number by it */
        return op == QUOTIENT ? arithmetic(vm, SUBTRACT, cvm_fixnum(0), args[0]) : cvm_fixnum(0);
    if (op == QUOTIENT)
        return cvm_integer(vm, a / b);
    r = a % b;
    if (op == MODULO && r != 0 && (r < 0) != (b < 0))
        r += b;
    return cvm_integer(vm, r);
}

CVM_BUILTIN_BODY(b_quotient) { return divide_whole(vm, "quotient", QUOTIENT, args); }
CVM_BUILTIN_BODY(b_remainder) { return divide_whole(vm, "remainder", REMAINDER, args); }
CVM_BUILTIN_BODY(b_modulo) { return divide_whole(vm, "modulo", MODULO, args); }

/* What cvm_compare may give, one bit each: 1 for less, 2 for equal, 4 for greater. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

static int holds(int relation, cvm_value a, cvm_value b)
{
    int order = cvm_compare(a, b);

    return order != 2 && (relation & (LESS << (order + 1))) != 0;
}

/* Does the relation hold between each argument and the next? */
static cvm_value compare(int relation, const cvm_value *args, size_t n)
{
    size_t i;
    int all = 1;

    for (i = 0; i + 1 < n; i++)
        all &= holds(relation, args[i], args[i + 1]);
    return cvm_boolean(all);
}

CVM_BUILTIN_BODY(b_equal_number) { return compare(EQUAL, args, n); }
CVM_BUILTIN_BODY(b_less) { return compare(LESS, args, n); }
CVM_BUILTIN_BODY(b_greater) { return compare(GREATER, args, n); }
CVM_BUILTIN_BODY(b_less_equal) { return compare(LESS | EQUAL, args, n); }
CVM_BUILTIN_BODY(b_greater_equal) { return compare(GREATER | EQUAL, args, n); }

/* The argument that is less (or greater) than all others. */
static cvm_value extreme(int relation, const cvm_value *args, size_t n)
{
    size_t i, best = 0;

    for (i = 0; i < n; i++)
        if (holds(relation, args[i], args[best]))
            best = i;
    return args[best];
}

CVM_BUILTIN_BODY(b_min) { return extreme(LESS, args, n); }
CVM_BUILTIN_BODY(b_max) { return extreme(GREATER, args, n); }

CVM_BUILTIN_BODY(b_abs)
{
    if (cvm_is_whole(args[0]))
        return cvm_whole_of(args[0]) < 0 ? arithmetic(vm, SUBTRACT, cvm_fixnum(0), args[0]) : args[0];
    return cvm_real_new(vm, fabs(cvm_number_of(args[0])));
}

/* A whole number; a real if it does not fit. */
CVM_BUILTIN_BODY(b_floor)
{
    double x;

    if (cvm_is_whole(args[0]))
        return args[0];
    x = floor(cvm_number_of(args[0]));
    if (x >= (double)INTPTR_MIN && x < -(double)INTPTR_MIN)
        return cvm_integer(vm, (intptr_t)x);
    return cvm_real_new(vm, x);
}

CVM_BUILTIN_BODY(b_sqrt)
{
    double x = cvm_number_of(args[0]);

    if (x < 0)
        return cvm_expected(vm, "sqrt", "a number that is not negative", args[0]);
    return cvm_real_new(vm, sqrt(x));
}

CVM_BUILTIN_BODY(b_hex)
{
    char text[40];

    snprintf(text, sizeof text, "0x%llx", (unsigned long long)cvm_whole_of(args[0]));
    return cvm_text(vm, text);
}

const cvm_builtin_def cvm_number_builtins[] = {
    { "+", "n*", b_add },                   { "-", "nn*", b_subtract },
    { "*", "n*", b_multiply },              { "/", "nn*", b_divide },
    { "quotient", "ww", b_quotient },       { "remainder", "ww", b_remainder },
    { "modulo", "ww", b_modulo },           { "=", "nn*", b_equal_number },
    { "<", "nn*", b_less },                 { ">", "nn*", b_greater },
    { "<=", "nn*", b_less_equal },          { ">=", "nn*", b_greater_equal },
    { "min", "nn*", b_min },                { "max", "nn*", b_max },
    { "abs", "n", b_abs },                  { "floor", "n", b_floor },
    { "sqrt", "n", b_sqrt },                { "hex", "i", b_hex },
    { NULL, NULL, NULL }
};
