/* builtins.c - the procedures of the language. The README lists them. */
#include "capi/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---------------------------------------------------------- */

int cvm_check(cvm *vm, const char *who, cvm_value v, cvm_kind kind, const char *what)
{
    if (cvm_is(v, kind))
        return 1;
    cvm_expected(vm, who, what, v);
    return 0;
}

int cvm_get_real(cvm *vm, const char *who, cvm_value v, double *number)
{
    if (!cvm_is_number(v)) {
        cvm_expected(vm, who, "a number", v);
        return 0;
    }
    *number = cvm_number_of(v);
    return 1;
}

/* Numbers that no memory could satisfy come out as SIZE_MAX / 16: big enough to
   fail, small enough to be computed with. */
int cvm_get_index(cvm *vm, const char *who, cvm_value v, size_t *n)
{
    double number;

    if (cvm_is_whole(v) && cvm_whole_of(v) >= 0) {
        *n = (size_t)cvm_whole_of(v);
    } else if (cvm_is(v, CVM_REAL) && (number = CVM_REAL_OF(v)->number) >= 0
               && floor(number) >= number) {
        *n = number < (double)(SIZE_MAX / 16) ? (size_t)number : SIZE_MAX / 16;
    } else {
        cvm_expected(vm, who, "a whole number, not negative", v);
        return 0;
    }
    if (*n > SIZE_MAX / 16)
        *n = SIZE_MAX / 16;
    return 1;
}

static int check_list(cvm *vm, const char *who, cvm_value v, size_t *length)
{
    intptr_t n = cvm_list_length(v);

    if (n < 0) {
        cvm_expected(vm, who, "a list", v);
        return 0;
    }
    *length = (size_t)n;
    return 1;
}

static cvm_value out_of_range(cvm *vm, const char *who, size_t i, size_t length)
{
    return cvm_fail(vm, "%s: index %lu is out of range, the length is %lu", who,
                    (unsigned long)i, (unsigned long)length);
}

/* ---- arithmetic ---------------------------------------------------------
 *
 * Whole numbers fill a word, and are exact. A result that does not fit becomes a real, as in
 * "about 9.2e18".
 */

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

static cvm_value arithmetic(cvm *vm, const char *name, int op, cvm_value a, cvm_value b)
{
    double x, y;

    if (!cvm_get_real(vm, name, a, &x) || !cvm_get_real(vm, name, b, &y))
        return CVM_NONE;
    if (op == DIVIDE && y >= 0 && y <= 0)
        return cvm_fail(vm, "/: division by zero");
    if (cvm_is_whole(a) && cvm_is_whole(b) && fits(op, cvm_whole_of(a), cvm_whole_of(b)))
        return whole(vm, op, cvm_whole_of(a), cvm_whole_of(b));
    return cvm_real_new(vm, op == ADD ? x + y : op == SUBTRACT ? x - y
                          : op == MULTIPLY ? x * y : x / y);
}

/* (op) is the unit, (op a) is unit op a, (op a b c) is ((a op b) op c). */
static cvm_value reduce(cvm *vm, const char *name, int op, intptr_t unit, cvm_value *args, size_t n)
{
    cvm_value *sum = cvm_root(vm, n > 1 ? args[0] : cvm_fixnum(unit));
    size_t i;

    for (i = n > 1; i < n && *sum != CVM_NONE; i++)
        *sum = arithmetic(vm, name, op, *sum, args[i]);
    return *sum;
}

static cvm_value b_add(cvm *vm, cvm_value *args, size_t n)
{
    return reduce(vm, "+", ADD, 0, args, n);
}

static cvm_value b_subtract(cvm *vm, cvm_value *args, size_t n)
{
    return reduce(vm, "-", SUBTRACT, 0, args, n);
}

static cvm_value b_multiply(cvm *vm, cvm_value *args, size_t n)
{
    return reduce(vm, "*", MULTIPLY, 1, args, n);
}

static cvm_value b_divide(cvm *vm, cvm_value *args, size_t n)
{
    return reduce(vm, "/", DIVIDE, 1, args, n);
}

enum { QUOTIENT, REMAINDER, MODULO };

static cvm_value divide_whole(cvm *vm, const char *name, int op, cvm_value *args)
{
    intptr_t a, b, r;
    size_t i;

    for (i = 0; i < 2; i++)
        if (!cvm_is_whole(args[i]))
            return cvm_expected(vm, name, "a whole number", args[i]);
    a = cvm_whole_of(args[0]);
    b = cvm_whole_of(args[1]);
    if (b == 0)
        return cvm_fail(vm, "%s: division by zero", name);
    if (b == -1)                        /* the machine cannot divide each number by it */
        return op == QUOTIENT ? arithmetic(vm, name, SUBTRACT, cvm_fixnum(0), args[0]) : cvm_fixnum(0);
    if (op == QUOTIENT)
        return cvm_integer(vm, a / b);
    r = a % b;
    if (op == MODULO && r != 0 && (r < 0) != (b < 0))
        r += b;
    return cvm_integer(vm, r);
}

static cvm_value b_quotient(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return divide_whole(vm, "quotient", QUOTIENT, args);
}

static cvm_value b_remainder(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return divide_whole(vm, "remainder", REMAINDER, args);
}

static cvm_value b_modulo(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return divide_whole(vm, "modulo", MODULO, args);
}

enum { EQUAL, LESS, GREATER, LESS_EQUAL, GREATER_EQUAL };

/* Does the relation hold between each argument and the next? */
static cvm_value compare(cvm *vm, const char *name, int op, cvm_value *args, size_t n)
{
    size_t i;
    int all = 1;
    double x;

    for (i = 0; i + 1 < n; i++) {
        int order, less, greater, equal;

        if (!cvm_get_real(vm, name, args[i], &x) || !cvm_get_real(vm, name, args[i + 1], &x))
            return CVM_NONE;
        order = cvm_compare(args[i], args[i + 1]);
        less = order == -1;
        greater = order == 1;
        equal = order == 0;
        all &= op == EQUAL ? equal : op == LESS ? less : op == GREATER ? greater
             : op == LESS_EQUAL ? less | equal : greater | equal;
    }
    if (n == 1 && !cvm_get_real(vm, name, args[0], &x))
        return CVM_NONE;
    return cvm_boolean(all);
}

static cvm_value b_equal_number(cvm *vm, cvm_value *args, size_t n)
{
    return compare(vm, "=", EQUAL, args, n);
}

static cvm_value b_less(cvm *vm, cvm_value *args, size_t n)
{
    return compare(vm, "<", LESS, args, n);
}

static cvm_value b_greater(cvm *vm, cvm_value *args, size_t n)
{
    return compare(vm, ">", GREATER, args, n);
}

static cvm_value b_less_equal(cvm *vm, cvm_value *args, size_t n)
{
    return compare(vm, "<=", LESS_EQUAL, args, n);
}

static cvm_value b_greater_equal(cvm *vm, cvm_value *args, size_t n)
{
    return compare(vm, ">=", GREATER_EQUAL, args, n);
}

/* The argument that is less (or greater, by op) than all others. */
static cvm_value extreme(cvm *vm, const char *name, int op, cvm_value *args, size_t n)
{
    size_t i, best = 0;

    for (i = 0; i < n; i++) {
        cvm_value pair[2];
        cvm_value better;

        pair[0] = args[i];
        pair[1] = args[best];
        better = compare(vm, name, op, pair, 2);
        if (better == CVM_NONE)
            return CVM_NONE;
        if (better == CVM_TRUE)
            best = i;
    }
    return args[best];
}

static cvm_value b_min(cvm *vm, cvm_value *args, size_t n)
{
    return extreme(vm, "min", LESS, args, n);
}

static cvm_value b_max(cvm *vm, cvm_value *args, size_t n)
{
    return extreme(vm, "max", GREATER, args, n);
}

static cvm_value b_abs(cvm *vm, cvm_value *args, size_t n)
{
    double x;

    (void)n;
    if (!cvm_get_real(vm, "abs", args[0], &x))
        return CVM_NONE;
    if (cvm_is_whole(args[0]))
        return cvm_whole_of(args[0]) < 0 ? arithmetic(vm, "abs", SUBTRACT, cvm_fixnum(0), args[0]) : args[0];
    return cvm_real_new(vm, fabs(x));
}

/* A whole number; a real if it does not fit. */
static cvm_value b_floor(cvm *vm, cvm_value *args, size_t n)
{
    double x;

    (void)n;
    if (!cvm_get_real(vm, "floor", args[0], &x))
        return CVM_NONE;
    if (cvm_is_whole(args[0]))
        return args[0];
    x = floor(x);
    if (x >= (double)INTPTR_MIN && x < -(double)INTPTR_MIN)
        return cvm_integer(vm, (intptr_t)x);
    return cvm_real_new(vm, x);
}

static cvm_value b_sqrt(cvm *vm, cvm_value *args, size_t n)
{
    double x;

    (void)n;
    if (!cvm_get_real(vm, "sqrt", args[0], &x))
        return CVM_NONE;
    if (x < 0)
        return cvm_expected(vm, "sqrt", "a number that is not negative", args[0]);
    return cvm_real_new(vm, sqrt(x));
}

/* ---- what is it? -------------------------------------------------------- */

static cvm_value b_null_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(args[0] == CVM_NIL);
}

static cvm_value b_pair_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_PAIR));
}

static cvm_value b_list_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_list_length(args[0]) >= 0);
}

static cvm_value b_number_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is_number(args[0]));
}

static cvm_value b_string_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_STRING));
}

static cvm_value b_symbol_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_SYMBOL));
}

static cvm_value b_vector_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_VECTOR));
}

static cvm_value b_dict_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_DICT));
}

static cvm_value b_procedure_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is_procedure(args[0]));
}

/* (type-of x): a string; for a C object the name of its type */
static cvm_value b_type_of(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (cvm_is(args[0], CVM_FOREIGN) && cvm_named_ob(args[0]) != NULL)
        return cvm_text(vm, RRC_TYPE(cvm_named_ob(args[0]))->tp_name);
    return cvm_text(vm, cvm_kind_name(args[0]));
}

/* The same object. A whole number is its value, however it is stored. */
static cvm_value b_eq_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(args[0] == args[1] || (cvm_is_whole(args[0]) && cvm_is_whole(args[1])
                                              && cvm_whole_of(args[0]) == cvm_whole_of(args[1])));
}

static cvm_value b_equal_p(cvm *vm, cvm_value *args, size_t n)
{
    int same = cvm_equal(vm, args[0], args[1]);

    (void)n;
    return same < 0 ? CVM_NONE : cvm_boolean(same);
}

static cvm_value b_not(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(!cvm_truthy(args[0]));
}

/* ---- pairs and lists ---------------------------------------------------- */

static cvm_value b_cons(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_cons(vm, args[0], args[1]);
}

static cvm_value b_car(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_check(vm, "car", args[0], CVM_PAIR, "a pair") ? CVM_PAIR_OF(args[0])->car : CVM_NONE;
}

static cvm_value b_cdr(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_check(vm, "cdr", args[0], CVM_PAIR, "a pair") ? CVM_PAIR_OF(args[0])->cdr : CVM_NONE;
}

static cvm_value b_set_car(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!cvm_check(vm, "set-car!", args[0], CVM_PAIR, "a pair"))
        return CVM_NONE;
    cvm_store(vm, args[0], &CVM_PAIR_OF(args[0])->car, args[1]);
    return args[1];
}

static cvm_value b_set_cdr(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!cvm_check(vm, "set-cdr!", args[0], CVM_PAIR, "a pair"))
        return CVM_NONE;
    cvm_store(vm, args[0], &CVM_PAIR_OF(args[0])->cdr, args[1]);
    return args[1];
}

static cvm_value b_list(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);

    while (n > 0 && *list != CVM_NONE)
        *list = cvm_cons(vm, args[--n], *list);
    return *list;
}

static cvm_value b_length(cvm *vm, cvm_value *args, size_t n)
{
    size_t length;

    (void)n;
    return check_list(vm, "length", args[0], &length) ? cvm_size(vm, length) : CVM_NONE;
}

/* Builds a list from the front. `first` and `last` are rooted slots. */
static int add_last(cvm *vm, cvm_value *first, cvm_value *last, cvm_value v)
{
    cvm_value pair = cvm_cons(vm, v, CVM_NIL);

    if (pair == CVM_NONE)
        return 0;
    if (*last == CVM_NIL)
        *first = pair;
    else
        cvm_store(vm, *last, &CVM_PAIR_OF(*last)->cdr, pair);
    *last = pair;
    return 1;
}

static cvm_value b_append(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *first = cvm_root(vm, CVM_NIL);
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_value *rest = cvm_root(vm, CVM_NIL);
    size_t i, length;

    for (i = 0; i < n; i++) {
        if (!check_list(vm, "append", args[i], &length))
            return CVM_NONE;
        for (*rest = args[i]; *rest != CVM_NIL; *rest = CVM_PAIR_OF(*rest)->cdr)
            if (!add_last(vm, first, last, CVM_PAIR_OF(*rest)->car))
                return CVM_NONE;
    }
    return *first;
}

static cvm_value b_reverse(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    size_t length;

    (void)n;
    if (!check_list(vm, "reverse", args[0], &length))
        return CVM_NONE;
    for (; args[0] != CVM_NIL && *list != CVM_NONE; args[0] = CVM_PAIR_OF(args[0])->cdr)
        *list = cvm_cons(vm, CVM_PAIR_OF(args[0])->car, *list);
    return *list;
}

/* (nth list i) */
static cvm_value b_nth(cvm *vm, cvm_value *args, size_t n)
{
    size_t i, length;
    cvm_value v = args[0];

    (void)n;
    if (!check_list(vm, "nth", v, &length) || !cvm_get_index(vm, "nth", args[1], &i))
        return CVM_NONE;
    if (i >= length)
        return out_of_range(vm, "nth", i, length);
    while (i-- > 0)
        v = CVM_PAIR_OF(v)->cdr;
    return CVM_PAIR_OF(v)->car;
}

/* (range end) or (range start end) */
static cvm_value b_range(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    intptr_t start, end;
    size_t i;

    for (i = 0; i < n; i++)
        if (!cvm_is_whole(args[i]))
            return cvm_expected(vm, "range", "a whole number", args[i]);
    start = n > 1 ? cvm_whole_of(args[0]) : 0;
    end = cvm_whole_of(args[n - 1]);
    while (end > start && *list != CVM_NONE) {
        cvm_value number = cvm_integer(vm, --end);

        *list = number != CVM_NONE ? cvm_cons(vm, number, *list) : CVM_NONE;
    }
    return *list;
}

/* (member x list): the rest of the list from the first element equal to x */
static cvm_value b_member(cvm *vm, cvm_value *args, size_t n)
{
    size_t length;
    cvm_value v;

    (void)n;
    if (!check_list(vm, "member", args[1], &length))
        return CVM_NONE;
    for (v = args[1]; v != CVM_NIL; v = CVM_PAIR_OF(v)->cdr) {
        int same = cvm_equal(vm, args[0], CVM_PAIR_OF(v)->car);

        if (same != 0)
            return same < 0 ? CVM_NONE : v;
    }
    return CVM_FALSE;
}

/* (assoc key list): the first pair of the list whose car is equal to key */
static cvm_value b_assoc(cvm *vm, cvm_value *args, size_t n)
{
    size_t length;
    cvm_value v;

    (void)n;
    if (!check_list(vm, "assoc", args[1], &length))
        return CVM_NONE;
    for (v = args[1]; v != CVM_NIL; v = CVM_PAIR_OF(v)->cdr) {
        cvm_value pair = CVM_PAIR_OF(v)->car;
        int same;

        if (!cvm_check(vm, "assoc", pair, CVM_PAIR, "a list of pairs"))
            return CVM_NONE;
        same = cvm_equal(vm, args[0], CVM_PAIR_OF(pair)->car);
        if (same != 0)
            return same < 0 ? CVM_NONE : pair;
    }
    return CVM_FALSE;
}

/* ---- procedures that call procedures ------------------------------------ */

static int check_procedure(cvm *vm, const char *who, cvm_value v)
{
    if (cvm_is_procedure(v))
        return 1;
    cvm_expected(vm, who, "a procedure", v);
    return 0;
}

/* args: procedure, list. The loop takes the list apart in its own slot, and is
   safe should the procedure change the list. */
enum { MAP, FILTER, FOR_EACH };

static cvm_value each(cvm *vm, const char *who, int what, cvm_value *args)
{
    cvm_value *first = cvm_root(vm, CVM_NIL);
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_value *item = cvm_root(vm, CVM_NIL);
    cvm_value *passed = cvm_root(vm, CVM_NIL);
    size_t length;

    if (!check_procedure(vm, who, args[0]) || !check_list(vm, who, args[1], &length))
        return CVM_NONE;
    for (; cvm_is(args[1], CVM_PAIR); args[1] = CVM_PAIR_OF(args[1])->cdr) {
        cvm_value v;

        *item = *passed = CVM_PAIR_OF(args[1])->car;
        v = cvm_call(vm, args[0], passed, 1);
        if (v == CVM_NONE)
            return CVM_NONE;
        if (what == FILTER && cvm_truthy(v))
            v = *item;
        else if (what != MAP)
            continue;
        if (!add_last(vm, first, last, v))
            return CVM_NONE;
    }
    return *first;
}

static cvm_value b_map(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return each(vm, "map", MAP, args);
}

static cvm_value b_filter(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return each(vm, "filter", FILTER, args);
}

static cvm_value b_for_each(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return each(vm, "for-each", FOR_EACH, args);
}

/* (fold procedure start list): (procedure (procedure start a) b) and so on */
static cvm_value b_fold(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *pass = cvm_root(vm, args[1]);
    cvm_value *item = cvm_root(vm, CVM_NIL);
    size_t length;

    (void)n;
    if (!check_procedure(vm, "fold", args[0]) || !check_list(vm, "fold", args[2], &length))
        return CVM_NONE;
    for (; cvm_is(args[2], CVM_PAIR); args[2] = CVM_PAIR_OF(args[2])->cdr) {
        *item = CVM_PAIR_OF(args[2])->car;
        *pass = cvm_call(vm, args[0], pass, 2);
        if (*pass == CVM_NONE)
            return CVM_NONE;
    }
    return *pass;
}

static cvm_value b_apply(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *first = vm->stack + vm->sp;
    size_t length;
    cvm_value v;

    (void)n;
    if (!check_procedure(vm, "apply", args[0]) || !check_list(vm, "apply", args[1], &length))
        return CVM_NONE;
    if (length > CVM_STACK_SIZE / 2)
        return cvm_fail(vm, "apply: too many arguments: %lu", (unsigned long)length);
    if (!cvm_stack_room(vm, length))
        return CVM_NONE;
    for (v = args[1]; v != CVM_NIL; v = CVM_PAIR_OF(v)->cdr)
        cvm_root(vm, CVM_PAIR_OF(v)->car);
    return cvm_call(vm, args[0], first, length);
}

/* (try procedure handler): call procedure; if it fails, call the handler with
   the message. (exit) is not caught. */
static cvm_value b_try(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value v;
    cvm_value *message;

    (void)n;
    if (!check_procedure(vm, "try", args[0]) || !check_procedure(vm, "try", args[1]))
        return CVM_NONE;
    v = cvm_call(vm, args[0], NULL, 0);
    if (v != CVM_NONE || vm->exiting)
        return v;
    cvm_error_clear(vm);
    message = cvm_root(vm, cvm_text(vm, vm->message));
    return *message != CVM_NONE ? cvm_call(vm, args[1], message, 1) : CVM_NONE;
}

/* (error x ...): fail; the message is made of the arguments as print shows them */
static cvm_value b_error(cvm *vm, cvm_value *args, size_t n)
{
    cvm_buffer out = { 0 };
    char text[sizeof vm->message];
    size_t i;

    out.bytes = text;
    out.capacity = sizeof text - 1;
    out.fixed = 1;
    for (i = 0; i < n; i++) {
        if (i > 0)
            cvm_put(&out, " ", 1);
        if (!cvm_print(vm, args[i], 0, &out))
            return CVM_NONE;
    }
    text[out.length] = '\0';
    return cvm_fail(vm, "%s", text);
}

static cvm_value b_exit(cvm *vm, cvm_value *args, size_t n)
{
    size_t status = 0;

    if (n > 0 && !cvm_get_index(vm, "exit", args[0], &status))
        return CVM_NONE;
    vm->exiting = 1;
    vm->exit_status = (int)(status & 255);
    return cvm_fail(vm, "exit");
}

static cvm_value b_eval(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_eval(vm, args[0], CVM_NIL);
}

static cvm_value b_load(cvm *vm, cvm_value *args, size_t n)
{
    char *path;
    cvm_value v;

    (void)n;
    if (!cvm_check(vm, "load", args[0], CVM_STRING, "a string") || !cvm_enter(vm))
        return CVM_NONE;
    path = malloc(CVM_STRING_OF(args[0])->length + 1);
    if (path != NULL)
        memcpy(path, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length + 1);
    v = path != NULL ? cvm_run_file(vm, path) : cvm_out_of_memory(vm);
    free(path);
    cvm_leave(vm);
    return v;
}

/* (read text): the first expression in it, or nil */
static cvm_value b_read(cvm *vm, cvm_value *args, size_t n)
{
    cvm_buffer text = { 0 };
    cvm_reader r = { 0 };
    cvm_value v;

    (void)n;
    if (!cvm_check(vm, "read", args[0], CVM_STRING, "a string"))
        return CVM_NONE;
    r.file = cvm_root(vm, cvm_text(vm, "(read)"));
    if (*r.file == CVM_NONE)
        return CVM_NONE;
    cvm_put(&text, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length);
    if (text.full) {
        cvm_buffer_free(&text);
        return cvm_out_of_memory(vm);
    }
    r.vm = vm;
    r.at = text.bytes;
    r.end = text.bytes + text.length;
    r.line = 1;
    v = text.length > 0 ? cvm_read(&r) : CVM_NONE;
    cvm_buffer_free(&text);
    return v != CVM_NONE || vm->failed ? v : CVM_NIL;
}

/* ---- strings and symbols ------------------------------------------------ */

static cvm_value b_string_length(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!cvm_check(vm, "string-length", args[0], CVM_STRING, "a string"))
        return CVM_NONE;
    return cvm_size(vm, CVM_STRING_OF(args[0])->length);
}

static cvm_value b_string_append(cvm *vm, cvm_value *args, size_t n)
{
    size_t i, length = 0, at = 0;
    cvm_value v;

    for (i = 0; i < n; i++) {
        if (!cvm_check(vm, "string-append", args[i], CVM_STRING, "a string"))
            return CVM_NONE;
        if (CVM_STRING_OF(args[i])->length > SIZE_MAX / 4 - length)
            return cvm_out_of_memory(vm);
        length += CVM_STRING_OF(args[i])->length;
    }
    v = cvm_string_new(vm, NULL, length);
    if (v == CVM_NONE)
        return CVM_NONE;
    for (i = 0; i < n; i++) {
        memcpy(CVM_STRING_OF(v)->bytes + at, cvm_bytes(args[i]), CVM_STRING_OF(args[i])->length);
        at += CVM_STRING_OF(args[i])->length;
    }
    return v;
}

/* (substring s start) or (substring s start end) */
static cvm_value b_substring(cvm *vm, cvm_value *args, size_t n)
{
    size_t start, end, length;
    cvm_value v;

    if (!cvm_check(vm, "substring", args[0], CVM_STRING, "a string")
        || !cvm_get_index(vm, "substring", args[1], &start))
        return CVM_NONE;
    end = length = CVM_STRING_OF(args[0])->length;
    if (n > 2 && !cvm_get_index(vm, "substring", args[2], &end))
        return CVM_NONE;
    if (start > length || end > length)
        return out_of_range(vm, "substring", start > length ? start : end, length);
    if (start > end)
        return cvm_fail(vm, "substring: the start %lu is behind the end %lu", (unsigned long)start,
                        (unsigned long)end);
    v = cvm_string_new(vm, NULL, end - start);
    if (v != CVM_NONE)
        memcpy(CVM_STRING_OF(v)->bytes, cvm_bytes(args[0]) + start, end - start);
    return v;
}

/* (string-repeat s times) */
static cvm_value b_string_repeat(cvm *vm, cvm_value *args, size_t n)
{
    size_t times, length, i;
    cvm_value v;

    (void)n;
    if (!cvm_check(vm, "string-repeat", args[0], CVM_STRING, "a string")
        || !cvm_get_index(vm, "string-repeat", args[1], &times))
        return CVM_NONE;
    length = CVM_STRING_OF(args[0])->length;
    if (length == 0)
        return args[0];
    if (times > SIZE_MAX / 4 / length)
        return cvm_out_of_memory(vm);
    v = cvm_string_new(vm, NULL, times * length);
    for (i = 0; v != CVM_NONE && i < times; i++)
        memcpy(CVM_STRING_OF(v)->bytes + i * length, cvm_bytes(args[0]), length);
    return v;
}

static cvm_value b_string_less(cvm *vm, cvm_value *args, size_t n)
{
    const cvm_string *a, *b;
    size_t shorter;
    int order;

    (void)n;
    if (!cvm_check(vm, "string<?", args[0], CVM_STRING, "a string")
        || !cvm_check(vm, "string<?", args[1], CVM_STRING, "a string"))
        return CVM_NONE;
    a = CVM_STRING_OF(args[0]);
    b = CVM_STRING_OF(args[1]);
    shorter = a->length < b->length ? a->length : b->length;
    order = memcmp(cvm_bytes(args[0]), cvm_bytes(args[1]), shorter);
    return cvm_boolean(order < 0 || (order == 0 && a->length < b->length));
}

/* (string-search s part): where part first occurs in s, or false */
static cvm_value b_string_search(cvm *vm, cvm_value *args, size_t n)
{
    const cvm_string *s, *part;
    size_t i;

    (void)n;
    if (!cvm_check(vm, "string-search", args[0], CVM_STRING, "a string")
        || !cvm_check(vm, "string-search", args[1], CVM_STRING, "a string"))
        return CVM_NONE;
    s = CVM_STRING_OF(args[0]);
    part = CVM_STRING_OF(args[1]);
    for (i = 0; part->length <= s->length && i <= s->length - part->length; i++)
        if (memcmp(cvm_bytes(args[0]) + i, cvm_bytes(args[1]), part->length) == 0)
            return cvm_size(vm, i);
    return CVM_FALSE;
}

/* The text is copied first: it would move when the symbol is made. */
static cvm_value b_string_to_symbol(cvm *vm, cvm_value *args, size_t n)
{
    cvm_buffer text = { 0 };
    cvm_value v;

    (void)n;
    if (!cvm_check(vm, "string->symbol", args[0], CVM_STRING, "a string"))
        return CVM_NONE;
    cvm_put(&text, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length + 1);
    v = text.full ? cvm_out_of_memory(vm) : cvm_symbol_new(vm, text.bytes, text.length - 1);
    cvm_buffer_free(&text);
    return v;
}

static cvm_value b_symbol_to_string(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_check(vm, "symbol->string", args[0], CVM_SYMBOL, "a symbol")
         ? CVM_SYMBOL_OF(args[0])->name : CVM_NONE;
}

static cvm_value b_string_to_number(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value v;

    (void)n;
    if (!cvm_check(vm, "string->number", args[0], CVM_STRING, "a string"))
        return CVM_NONE;
    v = cvm_parse_number(vm, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length);
    return v != CVM_NONE || vm->failed ? v : CVM_FALSE;
}

static cvm_value as_text(cvm *vm, cvm_value *args, size_t n, int quoted)
{
    cvm_buffer out = { 0 };
    cvm_value v = CVM_NONE;
    size_t i;

    out.limit = vm->heap.limit;
    for (i = 0; i < n; i++)
        if (!cvm_print(vm, args[i], quoted, &out))
            break;
    if (i == n)
        v = cvm_string_new(vm, out.bytes, out.length);
    cvm_buffer_free(&out);
    return v;
}

/* (to-string x ...): as print shows them, in one string */
static cvm_value b_to_string(cvm *vm, cvm_value *args, size_t n)
{
    return as_text(vm, args, n, 0);
}

/* (repr x): as the reader would take it */
static cvm_value b_repr(cvm *vm, cvm_value *args, size_t n)
{
    return as_text(vm, args, n, 1);
}

static cvm_value b_hex(cvm *vm, cvm_value *args, size_t n)
{
    char text[40];

    (void)n;
    if (!cvm_is_whole(args[0]) || cvm_whole_of(args[0]) < 0)
        return cvm_expected(vm, "hex", "a whole number, not negative", args[0]);
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)cvm_whole_of(args[0]));
    return cvm_text(vm, text);
}

/* ---- vectors ------------------------------------------------------------ */

static cvm_value b_vector(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value v = cvm_vector_new(vm, n, CVM_NIL);

    if (v != CVM_NONE && n > 0)
        memcpy(CVM_VECTOR_OF(v)->items, args, n * sizeof *args);
    return v;
}

static cvm_value b_make_vector(cvm *vm, cvm_value *args, size_t n)
{
    size_t length;

    if (!cvm_get_index(vm, "make-vector", args[0], &length))
        return CVM_NONE;
    return cvm_vector_new(vm, length, n > 1 ? args[1] : CVM_NIL);
}

static cvm_value b_vector_length(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!cvm_check(vm, "vector-length", args[0], CVM_VECTOR, "a vector"))
        return CVM_NONE;
    return cvm_size(vm, CVM_VECTOR_OF(args[0])->length);
}

static cvm_value *vector_place(cvm *vm, const char *who, cvm_value *args)
{
    size_t i;

    if (!cvm_check(vm, who, args[0], CVM_VECTOR, "a vector")
        || !cvm_get_index(vm, who, args[1], &i))
        return NULL;
    if (i < CVM_VECTOR_OF(args[0])->length)
        return &CVM_VECTOR_OF(args[0])->items[i];
    out_of_range(vm, who, i, CVM_VECTOR_OF(args[0])->length);
    return NULL;
}

static cvm_value b_vector_ref(cvm *vm, cvm_value *args, size_t n)
{
    const cvm_value *place = vector_place(vm, "vector-ref", args);

    (void)n;
    return place != NULL ? *place : CVM_NONE;
}

static cvm_value b_vector_set(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *place = vector_place(vm, "vector-set!", args);

    (void)n;
    if (place == NULL)
        return CVM_NONE;
    cvm_store(vm, args[0], place, args[2]);
    return args[2];
}

static cvm_value b_vector_to_list(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    size_t i;

    (void)n;
    if (!cvm_check(vm, "vector->list", args[0], CVM_VECTOR, "a vector"))
        return CVM_NONE;
    for (i = CVM_VECTOR_OF(args[0])->length; i > 0 && *list != CVM_NONE; i--)
        *list = cvm_cons(vm, CVM_VECTOR_OF(args[0])->items[i - 1], *list);
    return *list;
}

static cvm_value b_list_to_vector(cvm *vm, cvm_value *args, size_t n)
{
    size_t length, i = 0;
    cvm_value v, item;

    (void)n;
    if (!check_list(vm, "list->vector", args[0], &length))
        return CVM_NONE;
    v = cvm_vector_new(vm, length, CVM_NIL);
    if (v == CVM_NONE)
        return CVM_NONE;
    for (item = args[0]; item != CVM_NIL; item = CVM_PAIR_OF(item)->cdr)
        CVM_VECTOR_OF(v)->items[i++] = CVM_PAIR_OF(item)->car;
    return v;
}

/* ---- dicts -------------------------------------------------------------- */

/* (dict key value ...) */
static cvm_value b_dict(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *d = cvm_root(vm, CVM_NIL);
    size_t i;

    if (n % 2 != 0)
        return cvm_fail(vm, "dict: the last key has no value");
    *d = cvm_dict_new(vm);
    for (i = 0; i < n && *d != CVM_NONE; i += 2)
        if (!cvm_dict_set(vm, *d, args[i], args[i + 1]))
            return CVM_NONE;
    return *d;
}

static int check_dict(cvm *vm, const char *who, cvm_value v)
{
    return cvm_check(vm, who, v, CVM_DICT, "a dict");
}

/* (dict-get d key) or (dict-get d key default) */
static cvm_value b_dict_get(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value v;

    if (!check_dict(vm, "dict-get", args[0]))
        return CVM_NONE;
    v = cvm_dict_get(vm, args[0], args[1]);
    return v != CVM_NONE ? v : n > 2 ? args[2] : CVM_NIL;
}

static cvm_value b_dict_set(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!check_dict(vm, "dict-set!", args[0]) || !cvm_dict_set(vm, args[0], args[1], args[2]))
        return CVM_NONE;
    return args[2];
}

static cvm_value b_dict_has_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!check_dict(vm, "dict-has?", args[0]))
        return CVM_NONE;
    return cvm_boolean(cvm_dict_get(vm, args[0], args[1]) != CVM_NONE);
}

static cvm_value b_dict_remove(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!check_dict(vm, "dict-remove!", args[0]))
        return CVM_NONE;
    return cvm_boolean(cvm_dict_remove(vm, args[0], args[1]));
}

static cvm_value b_dict_count(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return check_dict(vm, "dict-count", args[0]) ? cvm_size(vm, CVM_DICT_OF(args[0])->count)
                                                 : CVM_NONE;
}

/* Every other item of the entries: the keys (0) or the values (1), in order. */
static cvm_value dict_column(cvm *vm, const char *who, cvm_value *args, size_t column)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    size_t i;

    if (!check_dict(vm, who, args[0]))
        return CVM_NONE;
    for (i = CVM_DICT_OF(args[0])->used; i > 0 && *list != CVM_NONE; i--) {
        const cvm_value *items = CVM_VECTOR_OF(CVM_DICT_OF(args[0])->entries)->items;

        if (items[2 * (i - 1)] != CVM_NONE)
            *list = cvm_cons(vm, cvm_plain(items[2 * (i - 1) + column]), *list);
    }
    return *list;
}

static cvm_value b_dict_keys(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return dict_column(vm, "dict-keys", args, 0);
}

static cvm_value b_dict_values(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return dict_column(vm, "dict-values", args, 1);
}

/* ---- output ------------------------------------------------------------- */

static cvm_value print_all(cvm *vm, cvm_value *args, size_t n, int quoted, const char *between,
                           const char *end)
{
    cvm_buffer out = { 0 };
    size_t i;
    int ok = 1;

    out.limit = vm->heap.limit;
    for (i = 0; ok && i < n; i++) {
        if (i > 0)
            cvm_put_text(&out, between);
        ok = cvm_print(vm, args[i], quoted, &out);
    }
    cvm_put_text(&out, end);
    if (ok && out.length > 0)
        fwrite(out.bytes, 1, out.length, vm->out);
    cvm_buffer_free(&out);
    return ok ? CVM_NIL : CVM_NONE;
}

static cvm_value b_print(cvm *vm, cvm_value *args, size_t n)
{
    return print_all(vm, args, n, 0, " ", "\n");
}

static cvm_value b_display(cvm *vm, cvm_value *args, size_t n)
{
    return print_all(vm, args, n, 0, "", "");
}

static cvm_value b_write(cvm *vm, cvm_value *args, size_t n)
{
    return print_all(vm, args, n, 1, " ", "");
}

/* ---- seeing the collector ----------------------------------------------- */

static cvm_value b_gc(cvm *vm, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    cvm_heap_major(&vm->heap);
    return CVM_NIL;
}

static cvm_value b_gc_minor(cvm *vm, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    cvm_heap_minor(&vm->heap);
    return CVM_NIL;
}

/* (address x): where x is now, or nil if it is not on the heap */
static cvm_value b_address(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_is_object(args[0]) ? cvm_size(vm, (size_t)args[0]) : CVM_NIL;
}

/* (where x): which part of the heap x is in */
static cvm_value b_where(cvm *vm, cvm_value *args, size_t n)
{
    int flags = cvm_is_object(args[0]) ? cvm_object_of(args[0])->flags : 0;

    (void)n;
    if (!cvm_is_object(args[0]))
        return CVM_NIL;
    return cvm_text(vm, flags & CVM_PREBUILT ? "prebuilt"
                      : flags & CVM_LARGE ? (flags & CVM_YOUNG ? "young large" : "old large")
                      : flags & CVM_YOUNG ? "nursery" : "old");
}

static int put_stat(cvm *vm, cvm_value *dict, const char *name, size_t n)
{
    size_t scope = cvm_open(vm);
    cvm_value *key = cvm_root(vm, cvm_symbol_new(vm, name, strlen(name)));
    cvm_value *v = cvm_root(vm, *key != CVM_NONE ? cvm_size(vm, n) : CVM_NONE);
    int ok = *v != CVM_NONE && cvm_dict_set(vm, *dict, *key, *v);

    cvm_close(vm, scope);
    return ok;
}

static cvm_value b_stats(cvm *vm, cvm_value *args, size_t n)
{
    const cvm_heap h = vm->heap;        /* as it is before we allocate */
    rrc_stats links;
    cvm_value *d = cvm_root(vm, CVM_NIL);

    (void)args, (void)n;
    rrc_get_stats(vm->rrc, &links);
    *d = cvm_dict_new(vm);
    if (*d == CVM_NONE
        || !put_stat(vm, d, "minor-collections", h.minors)
        || !put_stat(vm, d, "major-collections", h.majors)
        || !put_stat(vm, d, "moved", h.moved)
        || !put_stat(vm, d, "nursery-used", (size_t)(h.nursery_top - h.nursery))
        || !put_stat(vm, d, "old-used", (size_t)(h.old_top - h.old))
        || !put_stat(vm, d, "old-size", (size_t)(h.old_end - h.old))
        || !put_stat(vm, d, "large-used", h.large_bytes)
        || !put_stat(vm, d, "heap-limit", h.limit)
        || !put_stat(vm, d, "p-young", links.p_young)
        || !put_stat(vm, d, "p-old", links.p_old)
        || !put_stat(vm, d, "o-young", links.o_young)
        || !put_stat(vm, d, "o-old", links.o_old)
        || !put_stat(vm, d, "pending", links.pending)
        || !put_stat(vm, d, "tracked", links.tracked)
        || !put_stat(vm, d, "garbage", links.garbage)
        || !put_stat(vm, d, "uncollectable", links.uncollectable)
        || !put_stat(vm, d, "c-objects", links.objects)
        || !put_stat(vm, d, "c-bytes", links.object_bytes + links.native_bytes)
        || !put_stat(vm, d, "c-pending-bytes", links.pending_bytes))
        return CVM_NONE;
    return *d;
}

/* ---- the list ----------------------------------------------------------- */

const cvm_builtin_def cvm_builtins[] = {
    { "+", 0, -1, b_add },                  { "-", 1, -1, b_subtract },
    { "*", 0, -1, b_multiply },             { "/", 1, -1, b_divide },
    { "quotient", 2, 2, b_quotient },       { "remainder", 2, 2, b_remainder },
    { "modulo", 2, 2, b_modulo },           { "=", 1, -1, b_equal_number },
    { "<", 1, -1, b_less },                 { ">", 1, -1, b_greater },
    { "<=", 1, -1, b_less_equal },          { ">=", 1, -1, b_greater_equal },
    { "min", 1, -1, b_min },                { "max", 1, -1, b_max },
    { "abs", 1, 1, b_abs },                 { "floor", 1, 1, b_floor },
    { "sqrt", 1, 1, b_sqrt },

    { "null?", 1, 1, b_null_p },            { "pair?", 1, 1, b_pair_p },
    { "list?", 1, 1, b_list_p },            { "number?", 1, 1, b_number_p },
    { "string?", 1, 1, b_string_p },        { "symbol?", 1, 1, b_symbol_p },
    { "vector?", 1, 1, b_vector_p },        { "dict?", 1, 1, b_dict_p },
    { "procedure?", 1, 1, b_procedure_p },  { "type-of", 1, 1, b_type_of },
    { "eq?", 2, 2, b_eq_p },                { "equal?", 2, 2, b_equal_p },
    { "not", 1, 1, b_not },

    { "cons", 2, 2, b_cons },               { "car", 1, 1, b_car },
    { "cdr", 1, 1, b_cdr },                 { "set-car!", 2, 2, b_set_car },
    { "set-cdr!", 2, 2, b_set_cdr },        { "list", 0, -1, b_list },
    { "length", 1, 1, b_length },           { "append", 0, -1, b_append },
    { "reverse", 1, 1, b_reverse },         { "nth", 2, 2, b_nth },
    { "range", 1, 2, b_range },             { "member", 2, 2, b_member },
    { "assoc", 2, 2, b_assoc },             { "map", 2, 2, b_map },
    { "filter", 2, 2, b_filter },           { "for-each", 2, 2, b_for_each },
    { "fold", 3, 3, b_fold },               { "apply", 2, 2, b_apply },

    { "string-length", 1, 1, b_string_length }, { "string-append", 0, -1, b_string_append },
    { "substring", 2, 3, b_substring },     { "string-repeat", 2, 2, b_string_repeat },
    { "string<?", 2, 2, b_string_less },    { "string-search", 2, 2, b_string_search },
    { "string->symbol", 1, 1, b_string_to_symbol }, { "symbol->string", 1, 1, b_symbol_to_string },
    { "string->number", 1, 1, b_string_to_number }, { "to-string", 0, -1, b_to_string },
    { "repr", 1, 1, b_repr },               { "hex", 1, 1, b_hex },

    { "vector", 0, -1, b_vector },          { "make-vector", 1, 2, b_make_vector },
    { "vector-length", 1, 1, b_vector_length }, { "vector-ref", 2, 2, b_vector_ref },
    { "vector-set!", 3, 3, b_vector_set },  { "vector->list", 1, 1, b_vector_to_list },
    { "list->vector", 1, 1, b_list_to_vector },

    { "dict", 0, -1, b_dict },              { "dict-get", 2, 3, b_dict_get },
    { "dict-set!", 3, 3, b_dict_set },      { "dict-has?", 2, 2, b_dict_has_p },
    { "dict-remove!", 2, 2, b_dict_remove }, { "dict-count", 1, 1, b_dict_count },
    { "dict-keys", 1, 1, b_dict_keys },     { "dict-values", 1, 1, b_dict_values },

    { "print", 0, -1, b_print },            { "display", 0, -1, b_display },
    { "write", 0, -1, b_write },

    { "try", 2, 2, b_try },                 { "error", 0, -1, b_error },
    { "exit", 0, 1, b_exit },               { "eval", 1, 1, b_eval },
    { "load", 1, 1, b_load },               { "read", 1, 1, b_read },

    { "gc", 0, 0, b_gc },                   { "gc-minor", 0, 0, b_gc_minor },
    { "address", 1, 1, b_address },         { "where", 1, 1, b_where },
    { "stats", 0, 0, b_stats },
    { NULL, 0, 0, NULL }
};
