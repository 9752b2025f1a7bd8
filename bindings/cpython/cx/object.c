/* object.c - crossing the border, and what all objects have in common.
 *
 * dict, pair, vector, symbol, procedure and so on
 *     The data is the host's. C gets an empty object of the right type, made when
 *     the host's object first crosses: P link, light. C's references keep the host's
 *     object; when that dies the empty object is freed with it. The functions of the
 *     API go through the link to the host's object each time.
 *
 * nil, true, false and fixnums
 *     are no objects of the host, so there is nothing to link. The first three, and
 *     small ints, are immortal objects of the VM; see number.c for the others.
 *
 * Every view that is made for a host's object owns nothing at first, so that each begins
 * as a light one and nothing has to be allocated in the host's heap to make it: that
 * is all that a first crossing costs. A view of a tuple or a list begins to own its
 * items when C looks at them: cxi_become_full.
 *
 * A view can outlive its host object where garbage is taken apart (cvm_view_is_gone). Then the
 * functions that need its data fail.
 */
#include "impl.h"

#include <stdlib.h>
#include <string.h>

int cxi_make_room(void *array, size_t count, size_t *capacity, size_t size)
{
    void **items = array;
    size_t wanted = *capacity > 0 ? *capacity * 2 : 8;
    void *bigger;

    if (count < *capacity)
        return 1;
    if (wanted > SIZE_MAX / 4 / size)
        return 0;
    bigger = realloc(*items, wanted * size);
    if (bigger == NULL)
        return 0;
    *items = bigger;
    *capacity = wanted;
    return 1;
}

/* ---- what is it? -------------------------------------------------------- */

int cxi_is(cvm *vm, rrc_object *ob, cx_builtin which)
{
    return RRC_TYPE(ob) == &CX_STATE(vm)->types[which].type;
}

int cxi_any(cvm *vm, const char *function, rrc_object *ob)
{
    if (ob == NULL) {
        if (!vm->failed)
            cx_err_set(vm, "%s: an argument is NULL", function);
        return 0;
    }
    return CXI_USABLE(vm, ob, function);
}

int cvm_view_is_gone(cvm *vm, rrc_object *ob)
{
    const cx_type *type = cxi_type_of(vm, ob), *builtins = CX_STATE(vm)->types;

    if (type < builtins || type >= builtins + CX_BUILTINS || rrc_to_obj(vm->rrc, ob) != NULL)
        return 0;
    switch ((cx_builtin)(type - builtins)) {
    case CX_STR:
        return !((cxi_str *)ob)->filled;
    case CX_TUPLE:
        return !((cxi_tuple *)ob)->filled;
    case CX_LIST:
        return !((cxi_list *)ob)->filled;
    case CX_DICT: case CX_PROCEDURE: case CX_SYMBOL: case CX_PAIR: case CX_VECTOR: case CX_CLOSED:
        return 1;
    default:                            /* its data is in C */
        return 0;
    }
}

rrc_object *cxi_err_gone(cvm *vm, const char *function, rrc_object *ob)
{
    return cx_err_set(vm, "%s: the host object of this %s is gone", function, RRC_TYPE(ob)->tp_name);
}

int cxi_expect(cvm *vm, const char *function, rrc_object *ob, cx_builtin which, const char *what)
{
    if (!cxi_any(vm, function, ob))
        return 0;
    if (!cxi_is(vm, ob, which))
        cx_err_expected(vm, function, what, ob);
    else if (cvm_view_is_gone(vm, ob))
        cxi_err_gone(vm, function, ob);
    else
        return 1;
    return 0;
}

int cxi_bad_index(cvm *vm, const char *function, size_t i, size_t size)
{
    cx_err_set(vm, "%s: index %lu is out of range, the length is %lu", function,
               (unsigned long)i, (unsigned long)size);
    return -1;
}

/* ---- from Lisp to C ----------------------------------------------------- */

rrc_object *cxi_alloc(cvm *vm, cx_builtin which, size_t n)
{
    const rrc_type *type = &CX_STATE(vm)->types[which].type;

    if (type->tp_flags & RRC_TPFLAGS_HAVE_GC)
        return type->tp_itemsize > 0 ? rrc_gc_new_var(vm->rrc, type, n) : rrc_gc_new(vm->rrc, type);
    return type->tp_itemsize > 0 ? rrc_new_var(vm->rrc, type, n) : rrc_new(vm->rrc, type);
}

static cx_builtin type_of_kind(cvm_value v)
{
    switch (cvm_object_of(v)->kind) {
    case CVM_STRING:                return CX_STR;
    case CVM_REAL:                  return CX_FLOAT;
    case CVM_INTEGER:               return CX_INT;
    case CVM_TUPLE: case CVM_RANGE: return CX_TUPLE;
    case CVM_ARRAY:                 return CX_LIST;
    case CVM_DICT:                  return CX_DICT;
    case CVM_PAIR:                  return CX_PAIR;
    case CVM_VECTOR:                return CX_VECTOR;
    case CVM_SYMBOL:                return CX_SYMBOL;
    case CVM_FOREIGN:               return CX_CLOSED;   /* else it would name its C object */
    default:                        return CX_PROCEDURE;
    }
}

rrc_object *cvm_view_new(cvm *vm, cvm_value v)
{
    cx_builtin which = type_of_kind(v);
    size_t n = which == CX_STR ? CVM_STRING_OF(v)->length
             : which == CX_TUPLE ? cvm_sequence_length(v) : 0;
    rrc_object *ob = cxi_alloc(vm, which, which == CX_STR ? n + 1 : n);

    if (ob == NULL)
        return NULL;
    if (which == CX_STR) {
        ((cxi_str *)ob)->size = n;
        ((cxi_str *)ob)->seen = 1;
    } else if (which == CX_TUPLE) {
        ((cxi_tuple *)ob)->size = n;
        ((cxi_tuple *)ob)->seen = 1;
    } else if (which == CX_INT) {
        ((cxi_int *)ob)->number = CVM_INTEGER_OF(v)->number;
    } else if (which == CX_FLOAT) {
        ((cxi_float *)ob)->number = CVM_REAL_OF(v)->number;
    }
    return ob;
}

static rrc_object *from_fixnum(cvm *vm, intptr_t n)
{
    rrc_object *ob = cxi_small_int(vm, n);

    if (ob == NULL && (ob = cxi_int_new(vm, n)) == NULL)
        cvm_out_of_memory(vm);
    return ob;
}

rrc_object *cxi_from_value(cvm *vm, cvm_value v)
{
    struct cx_state *cx = CX_STATE(vm);

    if (v == CVM_NONE)
        return NULL;
    if (cvm_is_fixnum(v))
        return from_fixnum(vm, cvm_fixnum_of(v));
    if (!cvm_is_object(v))
        return v == CVM_TRUE ? &cx->true_ob : v == CVM_FALSE ? &cx->false_ob : &cx->nil;
    return cvm_ob_of(vm, v);
}

void cxi_become_full(rrc_object *ob)
{
    RRC_REFCNT(ob) -= RRC_REFCNT_FROM_PYPY_LIGHT - RRC_REFCNT_FROM_PYPY;
}

/* ---- from C to Lisp ----------------------------------------------------- */

static cvm_value outside_new(cvm *vm, rrc_object *ob, int kind, size_t length, const char *bytes)
{
    cvm_outside *p = (cvm_outside *)cvm_object_new(vm, kind, sizeof *p);

    if (p == NULL)
        return CVM_NONE;
    p->head.flags |= CVM_OUTSIDE;
    p->length = length;
    p->ob = ob;
    p->bytes = bytes;
    return (cvm_value)p;
}

static cvm_value array_new(cvm *vm, rrc_object *ob)
{
    cvm_array *p = (cvm_array *)cvm_object_new(vm, CVM_ARRAY, sizeof *p);

    if (p == NULL)
        return CVM_NONE;
    p->head.flags |= CVM_OUTSIDE;
    p->ob = ob;
    cvm_heap_init(&p->items, CVM_NIL);
    return (cvm_value)p;
}

cvm_value cvm_proxy_new(cvm *vm, rrc_object *ob, int *kind)
{
    if (cxi_is(vm, ob, CX_INT) || cxi_is(vm, ob, CX_FLOAT)
        || (RRC_TYPE(ob)->tp_flags & CX_TPFLAGS_HAVE_ATTRS) != 0)
        *kind = RRC_P;
    if (cvm_view_is_gone(vm, ob)) {
        cxi_err_gone(vm, "an object crosses to Lisp", ob);
        return CVM_NONE;
    }
    if (cxi_is(vm, ob, CX_INT))
        return cvm_whole_new(vm, ((cxi_int *)ob)->number);
    if (cxi_is(vm, ob, CX_FLOAT))
        return cvm_real_new(vm, ((cxi_float *)ob)->number);
    if (cxi_is(vm, ob, CX_STR)) {
        ((cxi_str *)ob)->seen = 1;
        return outside_new(vm, ob, CVM_STRING, ((cxi_str *)ob)->size, ((cxi_str *)ob)->bytes);
    }
    if (cxi_is(vm, ob, CX_TUPLE)) {
        ((cxi_tuple *)ob)->seen = 1;
        return outside_new(vm, ob, CVM_TUPLE, ((cxi_tuple *)ob)->size, NULL);
    }
    if (cxi_is(vm, ob, CX_LIST))
        return array_new(vm, ob);
    return cvm_foreign_new(vm, ob);
}

/* Immediates have a value without any link. */
static cvm_value immediate(cvm *vm, rrc_object *ob)
{
    struct cx_state *cx = CX_STATE(vm);

    if (cxi_is(vm, ob, CX_INT) && cvm_fits_fixnum(((cxi_int *)ob)->number))
        return cvm_fixnum(((cxi_int *)ob)->number);
    return ob == &cx->nil ? CVM_NIL : ob == &cx->true_ob ? CVM_TRUE
         : ob == &cx->false_ob ? CVM_FALSE : CVM_NONE;
}

cvm_value cxi_value_of(cvm *vm, rrc_object *ob)
{
    cvm_value v = immediate(vm, ob);

    return v != CVM_NONE ? v : (cvm_value)rrc_to_obj(vm->rrc, ob);
}

cvm_value cxi_to_value(cvm *vm, rrc_object *ob)
{
    cvm_value v;

    if (ob == NULL) {
        if (!vm->failed)
            cx_err_set(vm, "a NULL was given to Lisp");
        return CVM_NONE;
    }
    v = immediate(vm, ob);
    return v != CVM_NONE ? v : cvm_from_ob(vm, ob);
}

cvm_value cxi_to_value_steal(cvm *vm, rrc_object *ob)
{
    size_t scope = cvm_open(vm);
    cvm_value *v = cvm_root(vm, cxi_to_value(vm, ob));
    cvm_value result;

    if (ob != NULL)
        rrc_decref(vm->rrc, ob);    /* the link holds it now. Or it goes, and code may run */
    result = *v;
    cvm_close(vm, scope);
    return result;
}

/* ---- nil and the booleans ------------------------------------------------ */

rrc_object *cx_nil(cvm *vm)
{
    return &CX_STATE(vm)->nil;
}

rrc_object *cx_bool(cvm *vm, int yes)
{
    return yes ? &CX_STATE(vm)->true_ob : &CX_STATE(vm)->false_ob;
}

int cx_is_true(cvm *vm, rrc_object *ob)
{
    return ob != NULL && ob != &CX_STATE(vm)->nil && ob != &CX_STATE(vm)->false_ob;
}

/* ---- sequences, wherever their items are --------------------------------- */

static int is_sequence(cvm *vm, rrc_object *ob)
{
    return cxi_is(vm, ob, CX_TUPLE) || cxi_is(vm, ob, CX_LIST);
}

/* The items, if they are in C; else *v is the host's object. */
static rrc_object **items_in_c(cvm *vm, rrc_object *ob, cvm_value *v, size_t *size)
{
    int is_tuple = cxi_is(vm, ob, CX_TUPLE);

    if (is_tuple ? ((cxi_tuple *)ob)->filled : ((cxi_list *)ob)->filled) {
        *size = is_tuple ? ((cxi_tuple *)ob)->size : ((cxi_list *)ob)->size;
        return is_tuple ? ((cxi_tuple *)ob)->items : ((cxi_list *)ob)->items;
    }
    *v = (cvm_value)rrc_to_obj(vm->rrc, ob);
    *size = cvm_sequence_length(*v);
    return NULL;
}

/* Item i, without an allocation in Lisp. NEW. */
static rrc_object *item(cvm *vm, rrc_object *ob, size_t i)
{
    cvm_value v = CVM_NIL;
    size_t size;
    rrc_object **items = items_in_c(vm, ob, &v, &size);
    rrc_object *x;

    if (items == NULL)
        return cxi_from_value(vm, cvm_sequence_peek(v, i));
    x = items[i] != NULL ? items[i] : &CX_STATE(vm)->nil;
    rrc_incref(vm->rrc, x);
    return x;
}

static size_t length(cvm *vm, rrc_object *ob)
{
    cvm_value v = CVM_NIL;
    size_t size;

    items_in_c(vm, ob, &v, &size);
    return size;
}

/* Neither is gone. */
static int equal_items(cvm *vm, rrc_object *a, rrc_object *b)
{
    size_t i, n = length(vm, a);
    int same = n == length(vm, b);

    if (!cvm_enter(vm))
        return -1;
    for (i = 0; same == 1 && i < n; i++) {
        rrc_object *x = item(vm, a, i), *y = x != NULL ? item(vm, b, i) : NULL;

        same = y != NULL ? cxi_equal(vm, x, y) : -1;
        if (y != NULL)
            rrc_decref(vm->rrc, y);
        if (x != NULL)
            rrc_decref(vm->rrc, x);
    }
    cvm_leave(vm);
    return same;
}

/* ---- equality ----------------------------------------------------------- */

static int is_number(cvm *vm, rrc_object *ob)
{
    return cxi_is(vm, ob, CX_INT) || cxi_is(vm, ob, CX_FLOAT);
}

static int equal_numbers(cvm *vm, rrc_object *a, rrc_object *b)
{
    double x, y;

    if (cxi_is(vm, a, CX_INT) && cxi_is(vm, b, CX_INT))
        return ((cxi_int *)a)->number == ((cxi_int *)b)->number;
    if (cxi_is(vm, b, CX_INT))
        return equal_numbers(vm, b, a);
    y = ((cxi_float *)b)->number;
    if (cxi_is(vm, a, CX_INT))
        return cvm_compare_whole(((cxi_int *)a)->number, y) == 0;
    x = ((cxi_float *)a)->number;
    return x <= y && x >= y;
}

/* The bytes of a str without a copy: good until something moves. */
static const char *peek_bytes(cvm *vm, rrc_object *ob)
{
    return ((cxi_str *)ob)->filled ? ((cxi_str *)ob)->bytes
                                   : cvm_bytes((cvm_value)rrc_to_obj(vm->rrc, ob));
}

/* Allocates nothing in Lisp, as cvm_equal. */
int cxi_equal(cvm *vm, rrc_object *a, rrc_object *b)
{
    cvm_value x, y;

    if (a == b)
        return 1;
    if (is_number(vm, a) && is_number(vm, b))
        return equal_numbers(vm, a, b);
    if (RRC_TYPE(a) != RRC_TYPE(b))
        return 0;
    if (cvm_view_is_gone(vm, a) || cvm_view_is_gone(vm, b)) {
        cxi_err_gone(vm, "equal?", cvm_view_is_gone(vm, a) ? a : b);
        return -1;
    }
    if (cxi_is(vm, a, CX_STR))
        return ((cxi_str *)a)->size == ((cxi_str *)b)->size
            && memcmp(peek_bytes(vm, a), peek_bytes(vm, b), ((cxi_str *)a)->size) == 0;
    if (is_sequence(vm, a))
        return equal_items(vm, a, b);
    x = cxi_value_of(vm, a);
    y = cxi_value_of(vm, b);
    return x != CVM_NONE && y != CVM_NONE ? cvm_equal(vm, x, y) : 0;
}

int cvm_outside_equal(cvm *vm, cvm_value a, cvm_value b)
{
    rrc_object *x = cxi_from_value(vm, a), *y = cxi_from_value(vm, b);
    int same = x != NULL && y != NULL ? cxi_equal(vm, x, y) : -1;

    if (x != NULL)
        rrc_decref(vm->rrc, x);
    if (y != NULL)
        rrc_decref(vm->rrc, y);
    return same;
}

int cx_equal(cvm *vm, rrc_object *a, rrc_object *b)
{
    if (!cxi_any(vm, "cx_equal", a) || !cxi_any(vm, "cx_equal", b))
        return -1;
    return cxi_equal(vm, a, b);
}

/* One host object has one C object, so that this is as simple as it looks; but
   numbers that fit a word of the host are the same if they are equal. */
int cx_is_same(cvm *vm, rrc_object *a, rrc_object *b)
{
    if (!cxi_any(vm, "cx_is_same", a) || !cxi_any(vm, "cx_is_same", b))
        return -1;
    return a == b || (cxi_is(vm, a, CX_INT) && cxi_is(vm, b, CX_INT) && equal_numbers(vm, a, b));
}

/* ---- strings, tuples and arrays in C, seen from Lisp ---------------------
 *
 * Each is held while it is worked on: dropping an item may run any code.
 */

size_t cvm_outside_length(cvm_value v)
{
    return cvm_is(v, CVM_ARRAY) ? ((cxi_list *)CVM_ARRAY_OF(v)->ob)->size : CVM_OUTSIDE_OF(v)->length;
}

cvm_value cvm_outside_ref(cvm *vm, cvm_value v, size_t i)
{
    rrc_object *ob = cvm_named_ob(v);
    rrc_object *x = cvm_is(v, CVM_ARRAY) ? ((cxi_list *)ob)->items[i] : ((cxi_tuple *)ob)->items[i];

    return x != NULL ? cxi_to_value(vm, x) : CVM_NIL;
}

int cvm_outside_set(cvm *vm, cvm_value array, size_t i, cvm_value v)
{
    rrc_object *list = cxi_from_value(vm, array), *ob = cxi_from_value(vm, v);
    int ok = ob != NULL && cx_list_set_item(vm, list, i, ob) == 0;

    rrc_decref(vm->rrc, list);
    return ok;
}

int cvm_outside_insert(cvm *vm, cvm_value array, size_t i, cvm_value v)
{
    rrc_object *list = cxi_from_value(vm, array), *ob = cxi_from_value(vm, v);
    int ok = ob != NULL && cx_list_insert(vm, list, i, ob) == 0;

    if (ob != NULL)
        rrc_decref(vm->rrc, ob);
    rrc_decref(vm->rrc, list);
    return ok;
}

int cvm_outside_remove(cvm *vm, cvm_value array, size_t i)
{
    rrc_object *list = cxi_from_value(vm, array);
    int ok = cx_list_del_item(vm, list, i) == 0;

    rrc_decref(vm->rrc, list);
    return ok;
}

/* ---- printing -----------------------------------------------------------
 *
 * Allocates nothing in Lisp. A tp_repr is C code of others: while it runs, an
 * allocation there fails (see cvm_object_new).
 */

static int print_items(cvm *vm, rrc_object *ob, int quoted, cvm_buffer *out)
{
    int is_list = cxi_is(vm, ob, CX_LIST);
    size_t i, n = length(vm, ob);
    int ok = 1;

    if (is_list && ((cxi_list *)ob)->printing) {
        cvm_put_text(out, "...");
        return 1;
    }
    if (!cvm_enter(vm))
        return 0;
    if (is_list)
        ((cxi_list *)ob)->printing = 1;
    cvm_put_text(out, is_list ? "#[" : "#(");
    for (i = 0; ok && i < n && !out->full; i++) {
        rrc_object *x = item(vm, ob, i);

        if (i > 0)
            cvm_put(out, " ", 1);
        ok = x != NULL && cxi_print(vm, x, quoted, out);
        if (x != NULL)
            rrc_decref(vm->rrc, x);
    }
    cvm_put_text(out, is_list ? "]" : ")");
    if (is_list)
        ((cxi_list *)ob)->printing = 0;
    cvm_leave(vm);
    return ok;
}

static int print_by_repr(cvm *vm, rrc_object *ob, cvm_buffer *out)
{
    rrc_object *text;
    size_t size;
    const char *bytes;

    rrc_incref(vm->rrc, ob);
    vm->printing++;
    text = cxi_type_of(vm, ob)->tp_repr(vm, ob);
    bytes = text != NULL ? cx_str_as_utf8_and_size(vm, text, &size) : NULL;
    if (bytes != NULL)
        cvm_put(out, bytes, size);
    else if (!vm->failed)
        cx_err_set(vm, "%s: tp_repr failed without an error", RRC_TYPE(ob)->tp_name);
    if (text != NULL)
        rrc_decref(vm->rrc, text);
    rrc_decref(vm->rrc, ob);
    vm->printing--;
    return bytes != NULL;
}

static int print_foreign(cvm *vm, rrc_object *ob, cvm_buffer *out)
{
    if (cxi_type_of(vm, ob)->tp_repr != NULL)
        return print_by_repr(vm, ob, out);
    cvm_put_text(out, "#<");
    cvm_put_text(out, RRC_TYPE(ob)->tp_name);
    cvm_put_text(out, ">");
    return 1;
}

int cvm_print_foreign(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    rrc_object *ob = cvm_named_ob(v);

    if (!cvm_is(v, CVM_FOREIGN))
        return cvm_print_sequence(vm, v, quoted, out);
    if (ob != NULL)
        return print_foreign(vm, ob, out);
    cvm_put_text(out, "#<disposed>");
    return 1;
}

int cxi_print(cvm *vm, rrc_object *ob, int quoted, cvm_buffer *out)
{
    cvm_value v = cxi_value_of(vm, ob);

    if (v != CVM_NONE)
        return cvm_print_nested(vm, v, quoted, out);
    if (cvm_view_is_gone(vm, ob))
        return cxi_err_gone(vm, "print", ob) != NULL;
    if (cxi_is(vm, ob, CX_INT)) {
        cvm_put_integer(out, ((cxi_int *)ob)->number);
    } else if (cxi_is(vm, ob, CX_FLOAT)) {
        cvm_put_real(out, ((cxi_float *)ob)->number);
    } else if (cxi_is(vm, ob, CX_STR)) {
        if (quoted)
            cvm_put_quoted(out, ((cxi_str *)ob)->bytes, ((cxi_str *)ob)->size);
        else
            cvm_put(out, ((cxi_str *)ob)->bytes, ((cxi_str *)ob)->size);
    } else {
        return is_sequence(vm, ob) ? print_items(vm, ob, quoted, out) : print_foreign(vm, ob, out);
    }
    return 1;
}

int cvm_print_outside_item(cvm *vm, cvm_value v, size_t i, int quoted, cvm_buffer *out)
{
    rrc_object *x = item(vm, cvm_named_ob(v), i);
    int ok = x != NULL && cxi_print(vm, x, quoted, out);

    if (x != NULL)
        rrc_decref(vm->rrc, x);
    return ok;
}

static rrc_object *as_text(cvm *vm, rrc_object *ob, int quoted)
{
    cvm_buffer out = { 0 };
    rrc_object *text = NULL;

    out.limit = vm->heap.limit;
    if (cxi_print(vm, ob, quoted, &out)) {
        if (out.full)
            cvm_out_of_memory(vm);
        else
            text = cx_str_from_string_and_size(vm, out.length > 0 ? out.bytes : "", out.length);
    }
    cvm_buffer_free(&out);
    return text;
}

rrc_object *cx_repr(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_repr", ob) ? as_text(vm, ob, 1) : NULL;
}

rrc_object *cx_to_str(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_to_str", ob) ? as_text(vm, ob, 0) : NULL;
}

/* ---- symbols and pairs --------------------------------------------------- */

rrc_object *cx_symbol(cvm *vm, const char *name)
{
    return cxi_from_value(vm, cvm_symbol_new(vm, name, strlen(name)));
}

rrc_object *cx_symbol_name(cvm *vm, rrc_object *symbol)
{
    if (!cxi_expect(vm, "cx_symbol_name", symbol, CX_SYMBOL, "a symbol"))
        return NULL;
    return cxi_from_value(vm, CVM_SYMBOL_OF(cxi_value_of(vm, symbol))->name);
}

rrc_object *cx_pair_new(cvm *vm, rrc_object *car, rrc_object *cdr)
{
    size_t scope = cvm_open(vm);
    cvm_value *a, *d;
    rrc_object *pair = NULL;

    if (!cxi_any(vm, "cx_pair_new", car) || !cxi_any(vm, "cx_pair_new", cdr)
        || !cvm_stack_room(vm, CVM_STACK_SPARE))
        return NULL;
    a = cvm_root(vm, cxi_to_value(vm, car));
    d = cvm_root(vm, *a != CVM_NONE ? cxi_to_value(vm, cdr) : CVM_NONE);
    if (*d != CVM_NONE)
        pair = cxi_from_value(vm, cvm_cons(vm, *a, *d));
    cvm_close(vm, scope);
    return pair;
}

rrc_object *cx_pair_car(cvm *vm, rrc_object *pair)
{
    return cxi_expect(vm, "cx_pair_car", pair, CX_PAIR, "a pair")
         ? cxi_from_value(vm, CVM_PAIR_OF(cxi_value_of(vm, pair))->car) : NULL;
}

rrc_object *cx_pair_cdr(cvm *vm, rrc_object *pair)
{
    return cxi_expect(vm, "cx_pair_cdr", pair, CX_PAIR, "a pair")
         ? cxi_from_value(vm, CVM_PAIR_OF(cxi_value_of(vm, pair))->cdr) : NULL;
}

/* ---- the collector ------------------------------------------------------ */

void cx_gc(cvm *vm)
{
    if (vm->printing == 0)
        cvm_heap_major(&vm->heap);
}

void cx_gc_minor(cvm *vm)
{
    if (vm->printing == 0)
        cvm_heap_minor(&vm->heap);
}

size_t cx_run_pending(cvm *vm)
{
    return rrc_run_pending(vm->rrc, 0);
}
