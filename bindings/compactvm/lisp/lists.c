/* lists.c - what a value is, and when two are equal; pairs, lists and vectors, and what calls a procedure
 * for each element. */
#include "lisp.h"

/* ---- when are values equal? --------------------------------------------- */

static int equal_strings(cvm_value a, cvm_value b)
{
    return CVM_STRING_OF(a)->length == CVM_STRING_OF(b)->length
        && memcmp(cvm_bytes(a), cvm_bytes(b), CVM_STRING_OF(a)->length) == 0;
}

static int equal_vectors(cvm *vm, const cvm_value *a, const cvm_value *b)
{
    size_t n = CVM_VECTOR_OF(*a)->length;
    int same = n == CVM_VECTOR_OF(*b)->length;
    for (size_t i = 0; same == 1 && i < n; i++)
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
    cvm_value *r_a = cvm_root(vm, a);
    cvm_value *r_b = cvm_root(vm, b);
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

/* ---- what is it? -------------------------------------------------------- */

CVM_BUILTIN_BODY(b_null_p) { return cvm_boolean(args[0] == CVM_NIL); }
CVM_BUILTIN_BODY(b_pair_p) { return cvm_boolean(cvm_is(args[0], CVM_PAIR)); }
CVM_BUILTIN_BODY(b_number_p) { return cvm_boolean(cvm_is_number(args[0])); }
CVM_BUILTIN_BODY(b_string_p) { return cvm_boolean(cvm_is(args[0], CVM_STRING)); }
CVM_BUILTIN_BODY(b_symbol_p) { return cvm_boolean(cvm_is(args[0], CVM_SYMBOL)); }
CVM_BUILTIN_BODY(b_procedure_p) { return cvm_boolean(cvm_is_procedure(vm, args[0])); }
CVM_BUILTIN_BODY(b_not) { return cvm_boolean(!cvm_truthy(args[0])); }

/* The same object. A whole number is its value, however it is stored. */
CVM_BUILTIN_BODY(b_eq_p)
{
    return cvm_boolean(args[0] == args[1] || (cvm_is_whole(args[0]) && cvm_is_whole(args[1])
                                              && cvm_whole_of(args[0]) == cvm_whole_of(args[1])));
}

CVM_BUILTIN_BODY(b_equal_p)
{
    int same = cvm_equal(vm, args[0], args[1]);
    return same < 0 ? CVM_NONE : cvm_boolean(same);
}

/* ---- pairs and lists ---------------------------------------------------- */

CVM_BUILTIN_BODY(b_cons) { return cvm_cons(vm, args[0], args[1]); }
CVM_BUILTIN_BODY(b_car) { return CVM_PAIR_OF(args[0])->car; }
CVM_BUILTIN_BODY(b_cdr) { return CVM_PAIR_OF(args[0])->cdr; }

CVM_BUILTIN_BODY(b_set_car) { return cvm_store(vm, args[0], &CVM_PAIR_OF(args[0])->car, args[1]); }
CVM_BUILTIN_BODY(b_set_cdr) { return cvm_store(vm, args[0], &CVM_PAIR_OF(args[0])->cdr, args[1]); }
CVM_BUILTIN_BODY(b_list) { return cvm_list_new(vm, args, n); }
CVM_BUILTIN_BODY(b_length) { return cvm_size(vm, (size_t)cvm_list_length(args[0])); }

/* A new list of all that is in n lists, the last one first. */
CVM_BUILTIN_BODY(b_reverse)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    for (size_t i = 0; i < n; i++)
        for (; args[i] != CVM_NIL; args[i] = CVM_PAIR_OF(args[i])->cdr)
            if ((*list = cvm_cons(vm, CVM_PAIR_OF(args[i])->car, *list)) == CVM_NONE)
                return CVM_NONE;
    return *list;
}

CVM_BUILTIN_BODY(b_append)
{
    cvm_value list = b_reverse(vm, args, n);
    return list != CVM_NONE ? cvm_turn(vm, list, CVM_NIL) : CVM_NONE;
}

/* (nth list i) */
CVM_BUILTIN_BODY(b_nth)
{
    size_t i = cvm_index_of(args[1]);
    if (!cvm_in_range(vm, "nth", i, (size_t)cvm_list_length(args[0])))
        return CVM_NONE;
    for (; i > 0; i--)
        args[0] = CVM_PAIR_OF(args[0])->cdr;
    return CVM_PAIR_OF(args[0])->car;
}

/* (range end) or (range start end) */
CVM_BUILTIN_BODY(b_range)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    intptr_t start = n > 1 ? cvm_whole_of(args[0]) : 0, end = cvm_whole_of(args[n - 1]);
    while (end > start && *list != CVM_NONE) {
        cvm_value number = cvm_integer(vm, --end);
        *list = number != CVM_NONE ? cvm_cons(vm, number, *list) : CVM_NONE;
    }
    return *list;
}

/* ---- procedures that call procedures ------------------------------------ */

/* args: procedure, list. The loop takes the list apart in its own slot, and is
   safe should the procedure change the list. */
static cvm_value each(cvm *vm, int keep, cvm_value *args)
{
    cvm_value *list = cvm_root(vm, CVM_NIL), *item = cvm_root(vm, CVM_NIL);
    for (; cvm_is(args[1], CVM_PAIR); args[1] = CVM_PAIR_OF(args[1])->cdr) {
        *item = CVM_PAIR_OF(args[1])->car;
        cvm_value v = cvm_call(vm, args[0], item, 1);
        if (v == CVM_NONE || (keep && (*list = cvm_cons(vm, v, *list)) == CVM_NONE))
            return CVM_NONE;
    }
    return cvm_turn(vm, *list, CVM_NIL);
}

CVM_BUILTIN_BODY(b_map) { return each(vm, 1, args); }
CVM_BUILTIN_BODY(b_for_each) { return each(vm, 0, args); }

/* (fold procedure start list): (procedure (procedure start a) b) and so on */
CVM_BUILTIN_BODY(b_fold)
{
    cvm_value *pass = cvm_root(vm, args[1]);
    cvm_value *item = cvm_root(vm, CVM_NIL);
    for (; cvm_is(args[2], CVM_PAIR) && *pass != CVM_NONE; args[2] = CVM_PAIR_OF(args[2])->cdr) {
        *item = CVM_PAIR_OF(args[2])->car;
        *pass = cvm_call(vm, args[0], pass, 2);
    }
    return *pass;
}

CVM_BUILTIN_BODY(b_apply)
{
    cvm_value *first = vm->stack + vm->sp;
    size_t length = (size_t)cvm_list_length(args[1]);
    if (!cvm_stack_room(vm, length))
        return CVM_NONE;
    for (cvm_value v = args[1]; v != CVM_NIL; v = CVM_PAIR_OF(v)->cdr)
        cvm_root(vm, CVM_PAIR_OF(v)->car);
    return cvm_call(vm, args[0], first, length);
}

/* ---- vectors ------------------------------------------------------------ */

CVM_BUILTIN_BODY(b_vector)
{
    cvm_value v = cvm_vector_new(vm, n, CVM_NIL);
    for (size_t i = 0; v != CVM_NONE && i < n; i++)
        cvm_heap_init(&CVM_VECTOR_OF(v)->items[i], args[i]);
    return v;
}

CVM_BUILTIN_BODY(b_make_vector)
{
    return cvm_vector_new(vm, cvm_index_of(args[0]), n > 1 ? args[1] : CVM_NIL);
}

CVM_BUILTIN_BODY(b_vector_length) { return cvm_size(vm, CVM_VECTOR_OF(args[0])->length); }

CVM_BUILTIN_BODY(b_vector_ref)
{
    const cvm_vector *v = CVM_VECTOR_OF(args[0]);
    size_t i = cvm_index_of(args[1]);
    return cvm_in_range(vm, "vector-ref", i, v->length) ? v->items[i] : CVM_NONE;
}

CVM_BUILTIN_BODY(b_vector_set)
{
    cvm_vector *v = CVM_VECTOR_OF(args[0]);
    size_t i = cvm_index_of(args[1]);
    return cvm_in_range(vm, "vector-set!", i, v->length) ? cvm_store(vm, args[0], &v->items[i], args[2]) : CVM_NONE;
}

const cvm_builtin_def cvm_list_builtins[] = {
    { "null?", ".", b_null_p },             { "pair?", ".", b_pair_p },
    { "number?", ".", b_number_p },         { "string?", ".", b_string_p },
    { "symbol?", ".", b_symbol_p },         { "procedure?", ".", b_procedure_p },
    { "eq?", "..", b_eq_p },                { "equal?", "..", b_equal_p },
    { "not", ".", b_not },
    { "cons", "..", b_cons },               { "car", "p", b_car },
    { "cdr", "p", b_cdr },                  { "set-car!", "p.", b_set_car },
    { "set-cdr!", "p.", b_set_cdr },        { "list", ".*", b_list },
    { "length", "l", b_length },            { "append", "l*", b_append },
    { "reverse", "l", b_reverse },          { "nth", "li", b_nth },
    { "range", "w?w", b_range },            { "map", "fl", b_map },
    { "for-each", "fl", b_for_each },       { "fold", "f.l", b_fold },
    { "apply", "fl", b_apply },             { "vector", ".*", b_vector },
    { "make-vector", "i?.", b_make_vector }, { "vector-length", "v", b_vector_length },
    { "vector-ref", "vi", b_vector_ref },   { "vector-set!", "vi.", b_vector_set },
    { NULL, NULL, NULL }
};
