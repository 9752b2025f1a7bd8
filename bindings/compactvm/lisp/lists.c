/* lists.c - pairs and lists, and what calls a procedure for each element; what a value is. */
#include "lisp.h"

/* ---- what is it? -------------------------------------------------------- */

CVM_BUILTIN_BODY(b_null_p) { return cvm_boolean(args[0] == CVM_NIL); }
CVM_BUILTIN_BODY(b_pair_p) { return cvm_boolean(cvm_is(args[0], CVM_PAIR)); }
CVM_BUILTIN_BODY(b_number_p) { return cvm_boolean(cvm_is_number(args[0])); }
CVM_BUILTIN_BODY(b_string_p) { return cvm_boolean(cvm_is(args[0], CVM_STRING)); }
CVM_BUILTIN_BODY(b_symbol_p) { return cvm_boolean(cvm_is(args[0], CVM_SYMBOL)); }
CVM_BUILTIN_BODY(b_procedure_p) { return cvm_boolean(cvm_is_procedure(vm, args[0])); }
CVM_BUILTIN_BODY(b_not) { return cvm_boolean(!cvm_truthy(args[0])); }

/* (type-of x): a string; for a C object the name of its type */
CVM_BUILTIN_BODY(b_type_of)
{
    if (cvm_is(args[0], CVM_FOREIGN) && cvm_named_ob(args[0]) != NULL)
        return cvm_text(vm, RRC_TYPE(cvm_named_ob(args[0]))->tp_name);
    return cvm_text(vm, cvm_kind_name(vm, args[0]));
}

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

CVM_BUILTIN_BODY(b_set_car)
{
    cvm_store(vm, args[0], &CVM_PAIR_OF(args[0])->car, args[1]);
    return args[1];
}

CVM_BUILTIN_BODY(b_set_cdr)
{
    cvm_store(vm, args[0], &CVM_PAIR_OF(args[0])->cdr, args[1]);
    return args[1];
}

CVM_BUILTIN_BODY(b_list) { return cvm_list_new(vm, args, n); }
CVM_BUILTIN_BODY(b_length) { return cvm_size(vm, (size_t)cvm_list_length(args[0])); }

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

CVM_BUILTIN_BODY(b_append)
{
    cvm_value *first = cvm_root(vm, CVM_NIL);
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_value *rest = cvm_root(vm, CVM_NIL);
    size_t i;

    for (i = 0; i < n; i++)
        for (*rest = args[i]; *rest != CVM_NIL; *rest = CVM_PAIR_OF(*rest)->cdr)
            if (!add_last(vm, first, last, CVM_PAIR_OF(*rest)->car))
                return CVM_NONE;
    return *first;
}

CVM_BUILTIN_BODY(b_reverse)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);

    for (; args[0] != CVM_NIL && *list != CVM_NONE; args[0] = CVM_PAIR_OF(args[0])->cdr)
        *list = cvm_cons(vm, CVM_PAIR_OF(args[0])->car, *list);
    return *list;
}

/* (nth list i) */
CVM_BUILTIN_BODY(b_nth)
{
    size_t i = cvm_index_of(args[1]), length = (size_t)cvm_list_length(args[0]);
    cvm_value v = args[0];

    if (i >= length)
        return cvm_fail(vm, "nth: index %lu is out of range, the length is %lu", (unsigned long)i,
                        (unsigned long)length);
    while (i-- > 0)
        v = CVM_PAIR_OF(v)->cdr;
    return CVM_PAIR_OF(v)->car;
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
    cvm_value *first = cvm_root(vm, CVM_NIL);
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_value *item = cvm_root(vm, CVM_NIL);

    for (; cvm_is(args[1], CVM_PAIR); args[1] = CVM_PAIR_OF(args[1])->cdr) {
        cvm_value v;

        *item = CVM_PAIR_OF(args[1])->car;
        v = cvm_call(vm, args[0], item, 1);
        if (v == CVM_NONE || (keep && !add_last(vm, first, last, v)))
            return CVM_NONE;
    }
    return *first;
}

CVM_BUILTIN_BODY(b_map) { return each(vm, 1, args); }
CVM_BUILTIN_BODY(b_for_each) { return each(vm, 0, args); }

/* (fold procedure start list): (procedure (procedure start a) b) and so on */
CVM_BUILTIN_BODY(b_fold)
{
    cvm_value *pass = cvm_root(vm, args[1]);
    cvm_value *item = cvm_root(vm, CVM_NIL);

    for (; cvm_is(args[2], CVM_PAIR); args[2] = CVM_PAIR_OF(args[2])->cdr) {
        *item = CVM_PAIR_OF(args[2])->car;
        *pass = cvm_call(vm, args[0], pass, 2);
        if (*pass == CVM_NONE)
            return CVM_NONE;
    }
    return *pass;
}

CVM_BUILTIN_BODY(b_apply)
{
    cvm_value *first = vm->stack + vm->sp;
    size_t length = (size_t)cvm_list_length(args[1]);
    cvm_value v;

    if (length > CVM_STACK_SIZE / 2)
        return cvm_fail(vm, "apply: too many arguments: %lu", (unsigned long)length);
    if (!cvm_stack_room(vm, length))
        return CVM_NONE;
    for (v = args[1]; v != CVM_NIL; v = CVM_PAIR_OF(v)->cdr)
        cvm_root(vm, CVM_PAIR_OF(v)->car);
    return cvm_call(vm, args[0], first, length);
}

const cvm_builtin_def cvm_list_builtins[] = {
    { "null?", ".", b_null_p },             { "pair?", ".", b_pair_p },
    { "number?", ".", b_number_p },         { "string?", ".", b_string_p },
    { "symbol?", ".", b_symbol_p },         { "procedure?", ".", b_procedure_p },
    { "type-of", ".", b_type_of },          { "eq?", "..", b_eq_p },
    { "equal?", "..", b_equal_p },          { "not", ".", b_not },
    { "cons", "..", b_cons },               { "car", "p", b_car },
    { "cdr", "p", b_cdr },                  { "set-car!", "p.", b_set_car },
    { "set-cdr!", "p.", b_set_cdr },        { "list", ".*", b_list },
    { "length", "l", b_length },            { "append", "l*", b_append },
    { "reverse", "l", b_reverse },          { "nth", "li", b_nth },
    { "range", "w?w", b_range },            { "map", "fl", b_map },
    { "for-each", "fl", b_for_each },       { "fold", "f.l", b_fold },
    { "apply", "fl", b_apply },
    { NULL, NULL, NULL }
};
