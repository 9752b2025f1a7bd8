/* equal.c - when values are equal. */
#include "lisp.h"

#include <string.h>

/* The numbers that are no reals end just below this one. */
#define WHOLE_LIMIT (-(double)INTPTR_MIN)

int cvm_compare_whole(intptr_t a, double b)
{
    intptr_t whole;
    double rest;

    if (b >= WHOLE_LIMIT || b < -WHOLE_LIMIT)
        return b > 0 ? -1 : 1;
    if (!(b <= 0 || b >= 0))
        return 2;
    whole = (intptr_t)b;                /* towards zero */
    rest = b - (double)whole;
    return a != whole ? (a > whole) - (a < whole) : (rest < 0) - (rest > 0);
}

int cvm_compare(cvm_value a, cvm_value b)
{
    int order;

    if (cvm_is_whole(a) && cvm_is_whole(b))
        return (cvm_whole_of(a) > cvm_whole_of(b)) - (cvm_whole_of(a) < cvm_whole_of(b));
    if (cvm_is_whole(a))
        return cvm_compare_whole(cvm_whole_of(a), cvm_number_of(b));
    if (cvm_is_whole(b)) {
        order = cvm_compare_whole(cvm_whole_of(b), cvm_number_of(a));
        return order == 2 ? 2 : -order;
    }
    if (cvm_number_of(a) < cvm_number_of(b))
        return -1;
    return cvm_number_of(a) > cvm_number_of(b) ? 1 : cvm_number_of(a) >= cvm_number_of(b) ? 0 : 2;
}

static int equal_strings(cvm_value a, cvm_value b)
{
    return CVM_STRING_OF(a)->length == CVM_STRING_OF(b)->length
        && memcmp(cvm_bytes(a), cvm_bytes(b), CVM_STRING_OF(a)->length) == 0;
}

static int equal_vectors(cvm *vm, const cvm_value *a, const cvm_value *b)
{
    size_t i, n = CVM_VECTOR_OF(*a)->length;
    int same = n == CVM_VECTOR_OF(*b)->length;

    for (i = 0; same == 1 && i < n; i++)
        same = cvm_equal(vm, CVM_VECTOR_OF(*a)->items[i], CVM_VECTOR_OF(*b)->items[i]);
    return same;
}

static int equal_lists(cvm *vm, cvm_value *a, cvm_value *b)
{
    cvm_value *seen_a = cvm_root(vm, *a), *seen_b = cvm_root(vm, *b);
    size_t steps = 0, next_note = 1;

    while (cvm_is(*a, CVM_PAIR) && cvm_is(*b, CVM_PAIR)) {
        int same = cvm_equal(vm, CVM_PAIR_OF(*a)->car, CVM_PAIR_OF(*b)->car);

        if (same != 1)
            return same;
        *a = CVM_PAIR_OF(*a)->cdr;
        *b = CVM_PAIR_OF(*b)->cdr;
        if (*a == *seen_a && *b == *seen_b && cvm_is(*a, CVM_PAIR))
            return 1;           /* both go in circles, and no difference was met */
        if (++steps == next_note) {
            next_note *= 2;
            *seen_a = *a;
            *seen_b = *b;
        }
    }
    return cvm_equal(vm, *a, *b);
}

int cvm_equal(cvm *vm, cvm_value a, cvm_value b)
{
    const cvm_foreign_ops *foreign = cvm_lisp_of(vm)->foreign;
    size_t scope = cvm_open(vm);
    cvm_value *r_a, *r_b;
    int same;

    if (cvm_is_number(a) && cvm_is_number(b))
        return cvm_compare(a, b) == 0;
    if (a == b)
        return 1;
    if (!cvm_is_object(a) || !cvm_is_object(b))
        return 0;
    if (cvm_is(a, CVM_STRING) && cvm_is(b, CVM_STRING))
        return equal_strings(a, b);
    if (!cvm_enter(vm))
        return -1;
    r_a = cvm_root(vm, a);
    r_b = cvm_root(vm, b);
    if (cvm_is(a, CVM_PAIR) && cvm_is(b, CVM_PAIR))
        same = equal_lists(vm, r_a, r_b);
    else if (cvm_is(a, CVM_VECTOR) && cvm_is(b, CVM_VECTOR))
        same = equal_vectors(vm, r_a, r_b);
    else
        same = foreign != NULL && cvm_object_of(a)->kind >= CVM_API_KINDS ? foreign->equal(vm, r_a, r_b) : 0;
    cvm_close(vm, scope);
    cvm_leave(vm);
    return same;
}
