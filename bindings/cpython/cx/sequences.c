/* sequences.c - tuples, ranges and arrays.
 *
 * A tuple is a vector that never changes, a range a tuple whose items are made when
 * they are asked for, an array a vector that can grow. The items of one that C made, or
 * of an array that C has looked at, are in C: see capi/tuple.c and capi/list.c. */
#include "host.h"

/* ---- for the rest of the VM ---------------------------------------------- */

cvm_value cvm_array_items(cvm_value v)
{
    return cvm_is(v, CVM_ARRAY) && !cvm_is_outside(v) ? CVM_ARRAY_OF(v)->items : CVM_NIL;
}

size_t cvm_sequence_length(cvm_value v)
{
    if (cvm_is_outside(v))
        return cvm_outside_length(v);
    return cvm_is(v, CVM_ARRAY) ? CVM_ARRAY_OF(v)->length
         : cvm_is(v, CVM_RANGE) ? CVM_RANGE_OF(v)->length : CVM_TUPLE_OF(v)->length;
}

/* Where item i stands. Not of a range, and not if the items are in C. */
static cvm_value *place(cvm_value v, size_t i)
{
    return cvm_is(v, CVM_ARRAY) ? &CVM_VECTOR_OF(CVM_ARRAY_OF(v)->items)->items[i]
                                : &CVM_TUPLE_OF(v)->items[i];
}

cvm_value cvm_sequence_peek(cvm_value v, size_t i)
{
    return cvm_is(v, CVM_RANGE) ? cvm_fixnum(CVM_RANGE_OF(v)->start + (intptr_t)i) : cvm_plain(*place(v, i));
}

static cvm_value item(cvm *vm, cvm_value v, size_t i)
{
    return cvm_is_outside(v) ? cvm_outside_ref(vm, v, i) : cvm_sequence_peek(v, i);
}

int cvm_api_equal(cvm *vm, cvm_value *r_a, cvm_value *r_b)
{
    cvm_value a = *r_a, b = *r_b;
    size_t i, n;
    int same;

    if (cvm_is_tuple(a) ? !cvm_is_tuple(b) : !cvm_is(a, CVM_ARRAY) || !cvm_is(b, CVM_ARRAY))
        return 0;
    if (cvm_is_outside(a) || cvm_is_outside(b))
        return cvm_outside_equal(vm, a, b);
    n = cvm_sequence_length(a);
    same = n == cvm_sequence_length(b);
    for (i = 0; same == 1 && i < n; i++)
        same = cvm_equal(vm, cvm_sequence_peek(a, i), cvm_sequence_peek(b, i));
    return same;
}

/* A tuple, as in #(1 2 3), or an array, as in #[1 2 3]. */
int cvm_print_sequence(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    size_t i, length = cvm_sequence_length(v);
    int ok = 1;

    cvm_object_of(v)->flags |= CVM_PRINTING;
    cvm_put_text(out, cvm_is(v, CVM_ARRAY) ? "#[" : "#(");
    for (i = 0; ok && i < length && !out->full; i++) {
        if (i > 0)
            cvm_put(out, " ", 1);
        ok = cvm_is_outside(v) ? cvm_print_outside_item(vm, v, i, quoted, out)
                               : cvm_print_nested(vm, cvm_sequence_peek(v, i), quoted, out);
    }
    cvm_put_text(out, cvm_is(v, CVM_ARRAY) ? "]" : ")");
    cvm_object_of(v)->flags &= (unsigned char)~CVM_PRINTING;
    return ok;
}

static const cvm_kind tuple_kind = { "tuple", offsetof(cvm_tuple, items), CVM_REST };
static const cvm_kind range_kind = { "tuple", 0, 0 };
static const cvm_kind array_kind = { "array", offsetof(cvm_array, items), 1 };

void cvm_sequences_define(cvm *vm)
{
    vm->heap.kinds[CVM_TUPLE] = &tuple_kind;
    vm->heap.kinds[CVM_RANGE] = &range_kind;
    vm->heap.kinds[CVM_ARRAY] = &array_kind;
}

static cvm_value to_list(cvm *vm, cvm_value *v)
{
    cvm_value *list = cvm_root(vm, CVM_NIL), *x = cvm_root(vm, CVM_NIL);
    size_t i;

    for (i = cvm_sequence_length(*v); i > 0 && *list != CVM_NONE; i--) {
        *x = item(vm, *v, i - 1);
        *list = *x != CVM_NONE ? cvm_cons(vm, *x, *list) : CVM_NONE;
    }
    return *list;
}

static cvm_value out_of_range(cvm *vm, const char *who, size_t i, size_t length)
{
    return cvm_fail(vm, "%s: index %lu is out of range, the length is %lu", who,
                    (unsigned long)i, (unsigned long)length);
}

/* The index args[1], less than the length (or the length itself, if `end`). */
static int get_index(cvm *vm, const char *who, cvm_value *args, int end, size_t *i)
{
    size_t length = cvm_sequence_length(args[0]);

    *i = cvm_index_of(args[1]);
    if (*i < length || (end && *i == length))
        return 1;
    out_of_range(vm, who, *i, length);
    return 0;
}

/* ---- tuples -------------------------------------------------------------- */

static int check_tuple(cvm *vm, const char *who, cvm_value v)
{
    if (cvm_is_tuple(v))
        return 1;
    cvm_expected(vm, who, "a tuple", v);
    return 0;
}

static cvm_value b_tuple(cvm *vm, cvm_value *args, size_t n)
{
    cvm_tuple *t = (cvm_tuple *)cvm_object_new(vm, CVM_TUPLE, offsetof(cvm_tuple, items) + n * sizeof *args);
    size_t i;

    if (t != NULL) {
        t->length = n;
        for (i = 0; i < n; i++)
            cvm_heap_init(&t->items[i], args[i]);
    }
    return (cvm_value)t;
}

/* (range-tuple end) or (range-tuple start end) */
static cvm_value b_range_tuple(cvm *vm, cvm_value *args, size_t n)
{
    intptr_t start = 0, end;
    cvm_range *r;
    size_t i;

    for (i = 0; i < n; i++)
        if (!cvm_is_fixnum(args[i]))
            return cvm_expected(vm, "range-tuple", cvm_is_whole(args[i]) ? "a smaller whole number"
                                : "a whole number", args[i]);   /* its items must need no memory */
    end = cvm_fixnum_of(args[n - 1]);
    if (n > 1)
        start = cvm_fixnum_of(args[0]);
    r = (cvm_range *)cvm_object_new(vm, CVM_RANGE, sizeof *r);
    if (r != NULL) {
        r->start = start;
        r->length = end > start ? (size_t)end - (size_t)start : 0;
    }
    return (cvm_value)r;
}

static cvm_value b_tuple_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is_tuple(args[0]));
}

static cvm_value b_tuple_length(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return check_tuple(vm, "tuple-length", args[0]) ? cvm_size(vm, cvm_sequence_length(args[0])) : CVM_NONE;
}

static cvm_value b_tuple_ref(cvm *vm, cvm_value *args, size_t n)
{
    size_t i;

    (void)n;
    if (!check_tuple(vm, "tuple-ref", args[0]) || !get_index(vm, "tuple-ref", args, 0, &i))
        return CVM_NONE;
    return item(vm, args[0], i);
}

static cvm_value b_tuple_to_list(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return check_tuple(vm, "tuple->list", args[0]) ? to_list(vm, &args[0]) : CVM_NONE;
}

/* ---- arrays -------------------------------------------------------------- */

static int check_array(cvm *vm, const char *who, cvm_value v)
{
    if (cvm_is(v, CVM_ARRAY))
        return 1;
    cvm_expected(vm, who, "an array", v);
    return 0;
}

/* A vector with room for one more item, in place of a full one. 0 after a failure. */
static int make_room(cvm *vm, cvm_value *array)
{
    const cvm_array *a = CVM_ARRAY_OF(*array);
    size_t capacity = a->items != CVM_NIL ? CVM_VECTOR_OF(a->items)->length : 0;
    cvm_value bigger;
    size_t i;

    if (a->length < capacity)
        return 1;
    bigger = cvm_vector_new(vm, capacity < 4 ? 8 : 2 * capacity, CVM_NIL);
    if (bigger == CVM_NONE)
        return 0;
    a = CVM_ARRAY_OF(*array);
    for (i = 0; i < a->length; i++)
        cvm_heap_init(&CVM_VECTOR_OF(bigger)->items[i], CVM_VECTOR_OF(a->items)->items[i]);
    cvm_store(vm, *array, &CVM_ARRAY_OF(*array)->items, bigger);
    return 1;
}

static int insert(cvm *vm, cvm_value *array, size_t i, cvm_value *v)
{
    cvm_array *a;
    cvm_value *items;

    if (cvm_is_outside(*array))
        return cvm_outside_insert(vm, *array, i, *v);
    if (!make_room(vm, array))
        return 0;
    a = CVM_ARRAY_OF(*array);
    items = CVM_VECTOR_OF(a->items)->items;
    cvm_heap_shift(&items[i + 1], &items[i], a->length - i);
    a->length++;
    cvm_store(vm, a->items, &items[i], *v);
    return 1;
}

static cvm_value b_array(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *items = cvm_root(vm, n > 0 ? cvm_vector_new(vm, n, CVM_NIL) : CVM_NIL);
    cvm_array *a = *items != CVM_NONE ? (cvm_array *)cvm_object_new(vm, CVM_ARRAY, sizeof *a) : NULL;
    size_t i;

    if (a == NULL)
        return CVM_NONE;
    for (i = 0; i < n; i++)
        cvm_store(vm, *items, &CVM_VECTOR_OF(*items)->items[i], args[i]);
    cvm_heap_init(&a->items, *items);
    a->length = n;
    return (cvm_value)a;
}

static cvm_value b_array_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_ARRAY));
}

static cvm_value b_array_length(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return check_array(vm, "array-length", args[0]) ? cvm_size(vm, cvm_sequence_length(args[0])) : CVM_NONE;
}

static cvm_value b_array_ref(cvm *vm, cvm_value *args, size_t n)
{
    size_t i;

    (void)n;
    if (!check_array(vm, "array-ref", args[0]) || !get_index(vm, "array-ref", args, 0, &i))
        return CVM_NONE;
    return item(vm, args[0], i);
}

static cvm_value b_array_set(cvm *vm, cvm_value *args, size_t n)
{
    size_t i;

    (void)n;
    if (!check_array(vm, "array-set!", args[0]) || !get_index(vm, "array-set!", args, 0, &i))
        return CVM_NONE;
    if (cvm_is_outside(args[0]))
        return cvm_outside_set(vm, args[0], i, args[2]) ? args[2] : CVM_NONE;
    cvm_store(vm, CVM_ARRAY_OF(args[0])->items, place(args[0], i), args[2]);
    return args[2];
}

/* (array-push! a x) */
static cvm_value b_array_push(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    if (!check_array(vm, "array-push!", args[0]))
        return CVM_NONE;
    return insert(vm, &args[0], cvm_sequence_length(args[0]), &args[1]) ? args[1] : CVM_NONE;
}

/* (array-insert! a i x): before item i */
static cvm_value b_array_insert(cvm *vm, cvm_value *args, size_t n)
{
    size_t i;

    (void)n;
    if (!check_array(vm, "array-insert!", args[0]) || !get_index(vm, "array-insert!", args, 1, &i))
        return CVM_NONE;
    return insert(vm, &args[0], i, &args[2]) ? args[2] : CVM_NONE;
}

/* (array-remove! a i): gives what was there */
static cvm_value b_array_remove(cvm *vm, cvm_value *args, size_t n)
{
    cvm_value *v, *items;
    cvm_array *a;
    size_t i;

    (void)n;
    if (!check_array(vm, "array-remove!", args[0]) || !get_index(vm, "array-remove!", args, 0, &i))
        return CVM_NONE;
    v = cvm_root(vm, item(vm, args[0], i));
    if (*v == CVM_NONE)
        return CVM_NONE;
    if (cvm_is_outside(args[0]))
        return cvm_outside_remove(vm, args[0], i) ? *v : CVM_NONE;
    a = CVM_ARRAY_OF(args[0]);
    items = CVM_VECTOR_OF(a->items)->items;
    cvm_heap_shift(&items[i], &items[i + 1], --a->length - i);
    cvm_store(vm, a->items, &items[a->length], CVM_NIL);         /* do not keep it alive */
    return *v;
}

static cvm_value b_array_to_list(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return check_array(vm, "array->list", args[0]) ? to_list(vm, &args[0]) : CVM_NONE;
}

const cvm_builtin_def cvm_sequence_builtins[] = {
    { "tuple", ".*", b_tuple },            { "range-tuple", ".?.", b_range_tuple },
    { "tuple?", ".", b_tuple_p },          { "tuple-length", ".", b_tuple_length },
    { "tuple-ref", ".i", b_tuple_ref },     { "tuple->list", ".", b_tuple_to_list },
    { "array", ".*", b_array },            { "array?", ".", b_array_p },
    { "array-length", ".", b_array_length }, { "array-ref", ".i", b_array_ref },
    { "array-set!", ".i.", b_array_set },    { "array-push!", "..", b_array_push },
    { "array-insert!", ".i.", b_array_insert }, { "array-remove!", ".i", b_array_remove },
    { "array->list", ".", b_array_to_list },
    { NULL, NULL, NULL }
};
