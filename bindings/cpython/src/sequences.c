/* sequences.c - tuples, ranges and arrays of the host, which C sees as tuples and lists.
 *
 * A tuple is a vector that never changes, a range a tuple whose items are made when
 * they are asked for, an array a vector that can grow. The items of one that C made, or
 * of an array that C has looked at, are in C: see tuple.c and list.c. */
#include "internal.h"

/* ---- those whose items are in C ------------------------------------------ */

static PyObject *object_of(cvm_value v)
{
    return (PyObject *)(void *)cvm_named_ob(v);
}

static size_t outside_length(cvm_value v)
{
    return (size_t)(cvm_is(v, CVM_ARRAY) ? PyList_GET_SIZE(object_of(v)) : PyTuple_GET_SIZE(object_of(v)));
}

static cvm_value outside_ref(cvm_value v, size_t i)
{
    PyObject *op = object_of(v);
    PyObject *x = cvm_is(v, CVM_ARRAY) ? PyList_GET_ITEM(op, i) : PyTuple_GET_ITEM(op, i);
    return x != NULL ? py_to_value(x) : CVM_NIL;
}

/* Each holds the list while it is worked on: dropping an item may run any code. */
static int outside_change(cvm_value array, size_t low, size_t high, const cvm_value *v)
{
    PyObject *op = Py_NewRef(object_of(array)), *item = v != NULL ? py_from_item(*v) : NULL;
    PyObject *items = item != NULL ? PyTuple_Pack(1, item) : NULL;
    int ok = (v == NULL || items != NULL) && PyList_SetSlice(op, (Py_ssize_t)low, (Py_ssize_t)high, items) == 0;
    Py_XDECREF(items);
    Py_XDECREF(item);
    Py_DECREF(op);
    if (!ok)
        py_fail();
    return ok;
}

/* ---- for the rest of the VM ---------------------------------------------- */

cvm_value cvm_array_items(cvm_value v)
{
    return cvm_is(v, CVM_ARRAY) && !cvm_is_outside(v) ? CVM_ARRAY_OF(v)->items : CVM_NIL;
}

size_t cvm_sequence_length(cvm_value v)
{
    if (cvm_is_outside(v))
        return outside_length(v);
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
    return cvm_is(v, CVM_RANGE) ? cvm_fixnum(CVM_RANGE_OF(v)->start + (intptr_t)i * CVM_RANGE_OF(v)->step) : cvm_plain(*place(v, i));
}

static cvm_value item(cvm *vm, cvm_value v, size_t i)
{
    cvm_value x;
    if (!cvm_is_outside(v))
        return cvm_sequence_peek(v, i);
    py_vm = vm;
    x = outside_ref(v, i);
    return x != CVM_NONE ? x : py_fail();
}

/* What is an object for C alone is compared there. */
static int equal_items(cvm *vm, cvm_value a, cvm_value b)
{
    PyObject *x, *y;
    int same;
    if (!cvm_is(a, CVM_FOREIGN) && !cvm_is(b, CVM_FOREIGN))
        return cvm_equal(vm, a, b);
    py_vm = vm;
    x = py_from_item(a);
    y = x != NULL ? py_from_item(b) : NULL;
    same = y != NULL ? PyObject_RichCompareBool(x, y, Py_EQ) : -1;
    Py_XDECREF(x);
    Py_XDECREF(y);
    if (same < 0)
        py_fail();
    return same;
}

int py_equal_sequences(cvm *vm, cvm_value *a, cvm_value *b)
{
    size_t scope = cvm_open(vm), i, n;
    cvm_value *x = cvm_root(vm, CVM_NIL), *y = cvm_root(vm, CVM_NIL);
    int same;
    if (cvm_is_tuple(*a) ? !cvm_is_tuple(*b) : !cvm_is(*a, CVM_ARRAY) || !cvm_is(*b, CVM_ARRAY))
        return 0;
    n = cvm_sequence_length(*a);
    same = n == cvm_sequence_length(*b);
    for (i = 0; same == 1 && i < n; i++) {
        if (i >= cvm_sequence_length(*a) || i >= cvm_sequence_length(*b))
            same = 0;           /* it was changed meanwhile */
        else if ((*x = item(vm, *a, i)) == CVM_NONE || (*y = item(vm, *b, i)) == CVM_NONE)
            same = -1;
        else
            same = equal_items(vm, *x, *y);
    }
    cvm_close(vm, scope);
    return same;
}

/* A tuple, as in #(1 2 3), or an array, as in #[1 2 3]. */
void py_print_sequence(cvm *vm, cvm_value v, int quoted, FILE *out)
{
    size_t i, length = cvm_sequence_length(v);
    if (cvm_is_outside(v)) {
        py_print_items(object_of(v), quoted, out);
        return;
    }
    fputs(cvm_is(v, CVM_ARRAY) ? "#[" : "#(", out);
    for (i = 0; i < length && !vm->error.failed && !ferror(out); i++) {
        if (i > 0)
            putc(' ', out);
        cvm_print(vm, cvm_sequence_peek(v, i), quoted, out);
    }
    fputs(cvm_is(v, CVM_ARRAY) ? "]" : ")", out);
}

void cvm_sequences_define(cvm *vm)
{
    vm->heap.kinds[CVM_TUPLE] = (cvm_kind){ "tuple", offsetof(cvm_tuple, items), CVM_REST };
    vm->heap.kinds[CVM_RANGE] = (cvm_kind){ "tuple", 0, 0 };
    vm->heap.kinds[CVM_ARRAY] = (cvm_kind){ "array", offsetof(cvm_array, items), 1 };
}

/* The index args[1]. 0 after a failure. */
static int get_index(cvm *vm, const char *who, const cvm_value *args, size_t *i)
{
    *i = cvm_index_of(args[1]);
    return cvm_in_range(vm, who, *i, cvm_sequence_length(args[0]));
}

/* ---- both ---------------------------------------------------------------- */

CVM_BUILTIN_BODY(b_length) { return cvm_size(vm, cvm_sequence_length(args[0])); }

CVM_BUILTIN_BODY(b_to_list)
{
    cvm_value *list = cvm_root(vm, CVM_NIL), *x = cvm_root(vm, CVM_NIL);
    size_t i;
    for (i = cvm_sequence_length(args[0]); i > 0 && *list != CVM_NONE; i--) {
        *x = item(vm, args[0], i - 1);
        *list = *x != CVM_NONE ? cvm_cons(vm, *x, *list) : CVM_NONE;
    }
    return *list;
}

/* ---- tuples -------------------------------------------------------------- */

CVM_BUILTIN_BODY(b_tuple)
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
CVM_BUILTIN_BODY(b_range_tuple)
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
        r->step = 1;
        r->end = start + (intptr_t)r->length;
    }
    return (cvm_value)r;
}

CVM_BUILTIN_BODY(b_tuple_p) { return cvm_boolean(cvm_is_tuple(args[0])); }

CVM_BUILTIN_BODY(b_tuple_ref)
{
    size_t i;
    if (!get_index(vm, "tuple-ref", args, &i))
        return CVM_NONE;
    return item(vm, args[0], i);
}

/* ---- arrays -------------------------------------------------------------- */

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
        return outside_change(*array, i, i, v);
    if (!make_room(vm, array))
        return 0;
    a = CVM_ARRAY_OF(*array);
    items = CVM_VECTOR_OF(a->items)->items;
    cvm_heap_shift(&items[i + 1], &items[i], a->length - i);
    a->length++;
    cvm_store(vm, a->items, &items[i], *v);
    return 1;
}

CVM_BUILTIN_BODY(b_array)
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

CVM_BUILTIN_BODY(b_array_p) { return cvm_boolean(cvm_is(args[0], CVM_ARRAY)); }

CVM_BUILTIN_BODY(b_array_ref)
{
    size_t i;
    if (!get_index(vm, "array-ref", args, &i))
        return CVM_NONE;
    return item(vm, args[0], i);
}

CVM_BUILTIN_BODY(b_array_set)
{
    size_t i;
    if (!get_index(vm, "array-set!", args, &i))
        return CVM_NONE;
    if (cvm_is_outside(args[0]))
        return outside_change(args[0], i, i + 1, &args[2]) ? args[2] : CVM_NONE;
    cvm_store(vm, CVM_ARRAY_OF(args[0])->items, place(args[0], i), args[2]);
    return args[2];
}

/* (array-push! a x) */
CVM_BUILTIN_BODY(b_array_push)
{
    return insert(vm, &args[0], cvm_sequence_length(args[0]), &args[1]) ? args[1] : CVM_NONE;
}

/* (array-insert! a i x): before item i */
CVM_BUILTIN_BODY(b_array_insert)
{
    size_t i = cvm_index_of(args[1]), length = cvm_sequence_length(args[0]);
    if (i != length && !cvm_in_range(vm, "array-insert!", i, length))
        return CVM_NONE;
    return insert(vm, &args[0], i, &args[2]) ? args[2] : CVM_NONE;
}

/* (array-remove! a i): gives what was there */
CVM_BUILTIN_BODY(b_array_remove)
{
    cvm_value *v, *items;
    cvm_array *a;
    size_t i;
    if (!get_index(vm, "array-remove!", args, &i))
        return CVM_NONE;
    v = cvm_root(vm, item(vm, args[0], i));
    if (*v == CVM_NONE)
        return CVM_NONE;
    if (cvm_is_outside(args[0]))
        return outside_change(args[0], i, i + 1, NULL) ? *v : CVM_NONE;
    a = CVM_ARRAY_OF(args[0]);
    items = CVM_VECTOR_OF(a->items)->items;
    cvm_heap_shift(&items[i], &items[i + 1], --a->length - i);
    cvm_store(vm, a->items, &items[a->length], CVM_NIL);         /* do not keep it alive */
    return *v;
}

const cvm_builtin_def py_sequence_procedures[] = {
    { "tuple", ".*", b_tuple },            { "range-tuple", ".?.", b_range_tuple },
    { "tuple?", ".", b_tuple_p },          { "tuple-length", "T", b_length },
    { "tuple-ref", "Ti", b_tuple_ref },     { "tuple->list", "T", b_to_list },
    { "array", ".*", b_array },            { "array?", ".", b_array_p },
    { "array-length", "A", b_length }, { "array-ref", "Ai", b_array_ref },
    { "array-set!", "Ai.", b_array_set },    { "array-push!", "A.", b_array_push },
    { "array-insert!", "Ai.", b_array_insert }, { "array-remove!", "Ai", b_array_remove },
    { "array->list", "A", b_to_list },
    { NULL, NULL, NULL }
};
