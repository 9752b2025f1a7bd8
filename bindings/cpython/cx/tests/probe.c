/* probe.c - an extension that uses every function of the API, for the scripts beside
 * it. Between any two uses of something everything moves (MOVE), so that whatever is not
 * held as the API says does not survive. */
#include "../capi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOVE(vm) (cx_gc_minor(vm), cx_gc(vm), (void)cx_run_pending(vm))

typedef struct state {
    rrc_object *held;                           /* owned, or NULL */
    rrc_object *borrowed;                       /* not owned: for what debug builds say about it */
    cx_type *box, *big_box, *secret;            /* owned */
    long boxes;                                 /* that are alive */
    long gone, whole, wrong;                    /* what keepers found: see there */
    int save;                                   /* keepers let `held` be a gone object */
} state;

extern const cx_extension cx_ext_probe;

static state *state_of(cvm *vm)
{
    return cx_state(vm, &cx_ext_probe);
}

#define FUNCTION(name) \
    static rrc_object *name(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
#define UNUSED ((void)self, (void)n, (void)args)

static rrc_object *nil(cvm *vm)
{
    return cx_newref(vm, cx_nil(vm));
}

/* Unless something has failed already. */
static rrc_object *changed(cvm *vm, const char *what)
{
    return cx_err_occurred(vm) ? NULL : cx_err_set(vm, "%s changed", what);
}

static rrc_object *boolean(cvm *vm, int yes)
{
    return yes < 0 ? NULL : cx_newref(vm, cx_bool(vm, yes));
}

/* nil, or NULL after a failure. */
static rrc_object *done(cvm *vm, int code)
{
    return code == 0 ? nil(vm) : NULL;
}

/* ---- holding ------------------------------------------------------------- */

FUNCTION(hold)
{
    state *s = state_of(vm);

    UNUSED;
    CX_SETREF(vm, s->held, cx_newref(vm, args[0]));
    return nil(vm);
}

FUNCTION(held)
{
    UNUSED;
    MOVE(vm);
    return state_of(vm)->held != NULL ? cx_newref(vm, state_of(vm)->held) : nil(vm);
}

FUNCTION(drop)
{
    UNUSED;
    CX_CLEAR(vm, state_of(vm)->held);
    return nil(vm);
}

FUNCTION(same)
{
    UNUSED;
    MOVE(vm);
    return boolean(vm, cx_is_same(vm, args[0], args[1]));
}

FUNCTION(equal)
{
    UNUSED;
    MOVE(vm);
    return boolean(vm, cx_equal(vm, args[0], args[1]));
}

/* What the _check functions say, and the type. */
FUNCTION(what)
{
    UNUSED;
    MOVE(vm);
    return cx_str_from_format(vm, "%s%s%s%s%s%s%s %s", cx_int_check(vm, args[0]) ? "i" : "",
                              cx_float_check(vm, args[0]) ? "f" : "", cx_str_check(vm, args[0]) ? "s" : "",
                              cx_tuple_check(vm, args[0]) ? "t" : "", cx_list_check(vm, args[0]) ? "l" : "",
                              cx_dict_check(vm, args[0]) ? "d" : "",
                              cx_callable_check(vm, args[0]) ? "c" : "",
                              cx_type_of(vm, args[0])->type.tp_name);
}

FUNCTION(is_true)
{
    UNUSED;
    return boolean(vm, cx_is_true(vm, args[0]));
}

FUNCTION(texts)
{
    rrc_object *a = cx_repr(vm, args[0]), *b, *tuple = NULL;

    UNUSED;
    MOVE(vm);
    b = a != NULL ? cx_to_str(vm, args[0]) : NULL;
    MOVE(vm);
    if (b != NULL)
        tuple = cx_tuple_pack(vm, 2, a, b);
    cx_xdecref(vm, a);
    cx_xdecref(vm, b);
    return tuple;
}

/* ---- numbers -------------------------------------------------------------- */

FUNCTION(as_long)
{
    long x = cx_int_as_long(vm, args[0]);

    UNUSED;
    MOVE(vm);
    return x == -1 && cx_err_occurred(vm) ? NULL : cx_int_from_long(vm, x);
}

FUNCTION(as_size)
{
    size_t x = cx_int_as_size(vm, args[0]);

    UNUSED;
    MOVE(vm);
    return cx_err_occurred(vm) ? NULL : cx_int_from_size(vm, x);
}

FUNCTION(as_double)
{
    double x = cx_float_as_double(vm, args[0]);

    UNUSED;
    MOVE(vm);
    return cx_err_occurred(vm) ? NULL : cx_float_from_double(vm, x);
}

FUNCTION(extreme_longs)
{
    rrc_object *list = cx_list_new(vm, 2);

    UNUSED;
    if (list == NULL || cx_list_set_item(vm, list, 0, cx_int_from_long(vm, (long)INTPTR_MAX)) != 0
        || cx_list_set_item(vm, list, 1, cx_int_from_long(vm, (long)INTPTR_MIN)) != 0) {
        cx_xdecref(vm, list);
        return NULL;
    }
    return list;
}

FUNCTION(too_big)
{
    UNUSED;
    return cx_int_from_size(vm, SIZE_MAX);
}

/* ---- str ------------------------------------------------------------------ */

/* Is the pointer good, and the same, while everything moves? Gives a new str with the same bytes. */
FUNCTION(str_copy)
{
    size_t size, i;
    const char *bytes = cx_str_as_utf8_and_size(vm, args[0], &size);
    unsigned long sum = 0, again = 0;

    UNUSED;
    if (bytes == NULL)
        return NULL;
    for (i = 0; i <= size; i++)
        sum = 31 * sum + (unsigned char)bytes[i];
    MOVE(vm);
    for (i = 0; i <= size; i++)
        again = 31 * again + (unsigned char)bytes[i];
    if (sum != again || bytes != cx_str_as_utf8(vm, args[0]) || cx_str_size(vm, args[0]) != size)
        return changed(vm, "the bytes have");
    return cx_str_from_string_and_size(vm, bytes, size);
}

/* n times the character: written into the str before Lisp sees it. */
FUNCTION(str_fill)
{
    size_t size = cx_int_as_size(vm, args[0]);
    const char *c = cx_str_as_utf8(vm, args[1]);
    rrc_object *s;
    char *bytes;

    UNUSED;
    if (cx_err_occurred(vm))
        return NULL;
    s = cx_str_from_string_and_size(vm, NULL, size);
    MOVE(vm);
    bytes = s != NULL ? cx_str_buffer(vm, s) : NULL;
    MOVE(vm);
    if (bytes != NULL)
        memset(bytes, *c, size);
    return s;
}

FUNCTION(str_buffer)
{
    UNUSED;
    return cx_str_buffer(vm, args[0]) != NULL ? nil(vm) : NULL;
}

FUNCTION(str_equals)
{
    UNUSED;
    return boolean(vm, cx_str_equals(vm, args[0], "some text"));
}

FUNCTION(greet)
{
    const char *name = cx_str_as_utf8(vm, args[0]);
    rrc_object *plain = cx_str_from_string(vm, "hello"), *result;

    UNUSED;
    MOVE(vm);
    result = name != NULL && plain != NULL
           ? cx_str_from_format(vm, "%s, %s (%d)", cx_str_as_utf8(vm, plain), name, 7) : NULL;
    cx_xdecref(vm, plain);
    return result;
}

/* ---- tuple ---------------------------------------------------------------- */

/* The items as a list, taken from the array, and again one by one. */
FUNCTION(tuple_items)
{
    rrc_object *const *items = cx_tuple_items(vm, args[0]);
    rrc_object *list = items != NULL ? cx_list_new(vm, 0) : NULL;
    size_t i;

    UNUSED;
    for (i = 0; list != NULL && i < cx_tuple_size(vm, args[0]); i++) {
        MOVE(vm);
        if (items != cx_tuple_items(vm, args[0]) || items[i] != cx_tuple_get_item(vm, args[0], i))
            changed(vm, "an item has");
        if (cx_err_occurred(vm) || cx_list_append(vm, list, items[i]) != 0) {
            cx_decref(vm, list);
            list = NULL;
        }
    }
    return list;
}

FUNCTION(tuple_get)
{
    rrc_object *item = cx_tuple_get_item(vm, args[0], cx_int_as_size(vm, args[1]));

    UNUSED;
    MOVE(vm);
    return item != NULL ? cx_newref(vm, item) : NULL;
}

FUNCTION(tuple_make)
{
    rrc_object *tuple = cx_tuple_new(vm, n);
    size_t i;

    UNUSED;
    for (i = 0; tuple != NULL && i < n; i++) {
        MOVE(vm);
        if (cx_tuple_set_item(vm, tuple, i, cx_newref(vm, args[i])) != 0) {
            cx_decref(vm, tuple);
            tuple = NULL;
        }
    }
    return tuple;
}

FUNCTION(tuple_with_a_hole)
{
    UNUSED;
    return cx_tuple_new(vm, 2);
}

FUNCTION(tuple_set)
{
    UNUSED;
    return done(vm, cx_tuple_set_item(vm, args[0], 0, cx_newref(vm, args[1])));
}

/* ---- list ----------------------------------------------------------------- */

FUNCTION(list_make)
{
    rrc_object *list = cx_list_new(vm, n);
    size_t i;

    UNUSED;
    for (i = 0; list != NULL && i < n; i++) {
        MOVE(vm);
        cx_list_set_item(vm, list, i, cx_newref(vm, args[i]));
    }
    return list;
}

FUNCTION(list_make_empty)
{
    UNUSED;
    return cx_list_new(vm, cx_int_as_size(vm, args[0]));
}

/* The items as a tuple: the array is good while everything moves. */
FUNCTION(list_items)
{
    rrc_object *const *items = cx_list_items(vm, args[0]);
    rrc_object *tuple;
    size_t i, size = cx_list_size(vm, args[0]);

    UNUSED;
    tuple = items != NULL ? cx_tuple_new(vm, size) : NULL;
    for (i = 0; tuple != NULL && i < size; i++) {
        MOVE(vm);
        if (items[i] != cx_list_get_item(vm, args[0], i)
            || cx_tuple_set_item(vm, tuple, i, items[i] != NULL ? cx_newref(vm, items[i]) : nil(vm)) != 0) {
            cx_decref(vm, tuple);
            return changed(vm, "an item has");
        }
    }
    return tuple;
}

FUNCTION(list_size)
{
    UNUSED;
    return cx_int_from_size(vm, cx_list_size(vm, args[0]));
}

FUNCTION(list_get)
{
    rrc_object *item = cx_list_get_item(vm, args[0], cx_int_as_size(vm, args[1]));

    UNUSED;
    MOVE(vm);
    return item != NULL ? cx_newref(vm, item) : cx_err_occurred(vm) ? NULL : nil(vm);
}

FUNCTION(list_set)
{
    UNUSED;
    return done(vm, cx_list_set_item(vm, args[0], cx_int_as_size(vm, args[1]), cx_newref(vm, args[2])));
}

FUNCTION(list_append)
{
    UNUSED;
    return done(vm, cx_list_append(vm, args[0], args[1]));
}

FUNCTION(list_insert)
{
    UNUSED;
    return done(vm, cx_list_insert(vm, args[0], cx_int_as_size(vm, args[1]), args[2]));
}

FUNCTION(list_delete)
{
    UNUSED;
    return done(vm, cx_list_del_item(vm, args[0], cx_int_as_size(vm, args[1])));
}

FUNCTION(list_as_tuple)
{
    UNUSED;
    return cx_list_as_tuple(vm, args[0]);
}

/* ---- dict ----------------------------------------------------------------- */

FUNCTION(dict_make)
{
    rrc_object *dict = cx_dict_new(vm);
    size_t i;

    UNUSED;
    for (i = 0; dict != NULL && i + 1 < n; i += 2) {
        MOVE(vm);
        if (cx_dict_set_item(vm, dict, args[i], args[i + 1]) != 0) {
            cx_decref(vm, dict);
            dict = NULL;
        }
    }
    return dict;
}

FUNCTION(dict_get)
{
    rrc_object *v = cx_dict_get_item(vm, args[0], args[1]);

    UNUSED;
    MOVE(vm);
    return v != NULL ? cx_newref(vm, v) : cx_err_occurred(vm) ? NULL : nil(vm);
}

FUNCTION(dict_get_text)
{
    rrc_object *v = cx_dict_get_item_string(vm, args[0], "text");

    UNUSED;
    MOVE(vm);
    return v != NULL ? cx_newref(vm, v) : cx_err_occurred(vm) ? NULL : nil(vm);
}

FUNCTION(dict_set_text)
{
    UNUSED;
    return done(vm, cx_dict_set_item_string(vm, args[0], "text", args[1]));
}

FUNCTION(dict_delete)
{
    UNUSED;
    return boolean(vm, cx_dict_del_item(vm, args[0], args[1]));
}

FUNCTION(dict_contains)
{
    UNUSED;
    return boolean(vm, cx_dict_contains(vm, args[0], args[1]));
}

FUNCTION(dict_size)
{
    UNUSED;
    return cx_int_from_size(vm, cx_dict_size(vm, args[0]));
}

/* Keys and values in a list; after each step (f key value), which may change the dict. */
FUNCTION(dict_walk)
{
    rrc_object *list = cx_list_new(vm, 0), *pair[2], *result;
    cx_dict_pos pos = { 0, 0 };
    int more = list != NULL ? 1 : -1;

    UNUSED;
    while (more > 0 && (more = cx_dict_next(vm, args[0], &pos, &pair[0], &pair[1])) == 1) {
        MOVE(vm);
        if (cx_list_append(vm, list, pair[0]) != 0 || cx_list_append(vm, list, pair[1]) != 0)
            more = -1;
        if (more > 0 && n > 1) {
            result = cx_call(vm, args[1], pair, 2);
            cx_xdecref(vm, result);
            if (result == NULL)
                more = -1;
        }
    }
    if (more == 0)
        return list;
    cx_xdecref(vm, list);
    return NULL;
}

/* How many keys a walk without a look at the values meets. */
FUNCTION(dict_count)
{
    cx_dict_pos pos = { 0, 0 };
    long count = 0;

    UNUSED;
    while (cx_dict_next(vm, args[0], &pos, NULL, NULL) == 1)
        count++;
    return cx_err_occurred(vm) ? NULL : cx_int_from_long(vm, count);
}

/* ---- pairs, symbols, globals ---------------------------------------------- */

FUNCTION(swap)
{
    rrc_object *a = cx_pair_car(vm, args[0]), *d = cx_pair_cdr(vm, args[0]), *pair;

    UNUSED;
    MOVE(vm);
    pair = cx_pair_new(vm, d, a);
    cx_xdecref(vm, a);
    cx_xdecref(vm, d);
    return pair;
}

FUNCTION(symbol)
{
    rrc_object *name = cx_symbol_name(vm, args[0]), *again;

    UNUSED;
    MOVE(vm);
    again = name != NULL ? cx_symbol(vm, cx_str_as_utf8(vm, name)) : NULL;
    cx_xdecref(vm, name);
    return again;
}

FUNCTION(global)
{
    const char *name = cx_str_as_utf8(vm, args[0]);

    UNUSED;
    if (name != NULL && n > 1)
        return done(vm, cx_define(vm, name, args[1]));
    return name != NULL ? cx_get_global(vm, name) : NULL;
}

/* ---- calls and errors ----------------------------------------------------- */

FUNCTION(call)
{
    rrc_object *result;

    UNUSED;
    MOVE(vm);
    result = cx_call(vm, args[0], args + 1, n - 1);
    MOVE(vm);
    return result;
}

FUNCTION(call_method)
{
    const char *name = cx_str_as_utf8(vm, args[1]);
    rrc_object *result;

    UNUSED;
    MOVE(vm);
    result = name != NULL ? cx_call_method(vm, args[0], name, args + 2, n - 2) : NULL;
    MOVE(vm);
    return result;
}

FUNCTION(add_self)
{
    UNUSED;
    return cx_int_from_long(vm, cx_int_as_long(vm, self) + cx_int_as_long(vm, args[0]));
}

static const cx_method_def adder = { "adder", 1, 1, add_self };

FUNCTION(make_adder)
{
    UNUSED;
    return cx_function_new(vm, &adder, args[0]);
}

FUNCTION(call_back)
{
    return n > 0 ? cx_call(vm, args[0], args + 1, n - 1) : cx_newref(vm, self);
}

FUNCTION(no_error)
{
    UNUSED;
    (void)vm;
    return NULL;
}

FUNCTION(both)
{
    UNUSED;
    cx_err_set(vm, "an error and %s", "a result");
    return nil(vm);
}

FUNCTION(no_memory)
{
    UNUSED;
    return cx_err_no_memory(vm);
}

FUNCTION(expected)
{
    UNUSED;
    return cx_err_expected(vm, "probe", "something else", args[0]);
}

/* The message of the error that the call ends with, which is forgotten; "" if there is none. */
FUNCTION(message_of)
{
    rrc_object *result = cx_call(vm, args[0], NULL, 0), *text;
    char message[300];

    UNUSED;
    cx_xdecref(vm, result);
    strcpy(message, cx_err_message(vm));
    cx_err_clear(vm);
    text = cx_err_occurred(vm) ? NULL : cx_str_from_string(vm, message);
    return text;
}

/* Puts an error aside, runs the procedure, and fails with the first error. */
FUNCTION(meanwhile)
{
    cx_err err;

    UNUSED;
    cx_err_set(vm, "the first error");
    cx_err_fetch(vm, &err);
    cx_xdecref(vm, cx_err_occurred(vm) ? NULL : cx_call(vm, args[0], NULL, 0));
    MOVE(vm);
    cx_err_restore(vm, &err);
    return NULL;
}

/* Temporaries: of an inner scope and of that of the call. */
FUNCTION(temporaries)
{
    size_t scope = cx_scope_open(vm);
    rrc_object *inner = cx_temp(vm, cx_str_from_string(vm, "inner")), *outer;

    UNUSED;
    MOVE(vm);
    if (inner == NULL || cx_str_equals(vm, inner, "inner") != 1)
        return NULL;
    cx_scope_close(vm, scope);
    outer = cx_temp(vm, cx_tuple_pack(vm, 1, args[0]));
    MOVE(vm);
    inner = outer != NULL ? cx_tuple_get_item(vm, outer, 0) : NULL;
    return inner != NULL ? cx_newref(vm, inner) : NULL;
}

/* ---- stale references, for debug builds ------------------------------------ */

/* Borrow, let somebody change the container, and use it. */
FUNCTION(stale)
{
    rrc_object *x = cx_dict_check(vm, args[0]) ? cx_dict_get_item(vm, args[0], args[1])
                  : cx_list_check(vm, args[0]) ? cx_list_get_item(vm, args[0], cx_int_as_size(vm, args[1]))
                  : cx_tuple_get_item(vm, args[0], cx_int_as_size(vm, args[1]));
    rrc_object *result;

    UNUSED;
    if (x == NULL)
        return NULL;
    result = cx_call(vm, args[2], NULL, 0);
    if (result == NULL)
        return NULL;
    cx_decref(vm, result);
    return cx_repr(vm, x);
}

/* Borrow from a container that goes, what nothing else has. */
FUNCTION(stale_container)
{
    rrc_object *dict = cx_dict_new(vm), *v = cx_str_from_string(vm, "only there"), *x;

    UNUSED;
    if (dict == NULL || v == NULL || cx_dict_set_item_string(vm, dict, "text", v) != 0)
        return NULL;
    cx_decref(vm, v);
    x = cx_dict_get_item_string(vm, dict, "text");
    cx_decref(vm, dict);
    MOVE(vm);
    return cx_repr(vm, x);
}

FUNCTION(borrow)
{
    UNUSED;
    state_of(vm)->borrowed = args[0];           /* the mistake: no incref */
    return nil(vm);
}

FUNCTION(use_borrowed)
{
    rrc_object *x = state_of(vm)->borrowed;

    UNUSED;
    cx_incref(vm, x);
    if (cx_err_occurred(vm))
        return NULL;
    return x;
}

FUNCTION(stale_temporary)
{
    size_t scope = cx_scope_open(vm);
    rrc_object *temporary = cx_temp(vm, cx_str_from_string(vm, "gone"));

    UNUSED;
    cx_scope_close(vm, scope);
    return cx_repr(vm, temporary);
}

FUNCTION(released)
{
    rrc_object *x = cx_dict_new(vm);
    size_t scope = cx_scope_open(vm);

    UNUSED;
    cx_scope_close(vm, scope);
    cx_decref(vm, x);
    return cx_repr(vm, x);                      /* its host object still keeps it, by chance */
}

/* ---- types ---------------------------------------------------------------- */

/* A box owns one object: O link, full; takes part in cycles by its table of members. */
typedef struct box {
    rrc_object head;
    rrc_object *content;
} box;

typedef struct big_box {
    box base;
    rrc_object *more;
} big_box;

static const rrc_member box_members[] = { { "content", offsetof(box, content) }, { NULL, 0 } };
static const rrc_member big_box_members[] = { { "more", offsetof(big_box, more) }, { NULL, 0 } };

static rrc_object *box_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    box *b = (box *)cx_new(vm, type);

    if (b == NULL)
        return NULL;
    state_of(vm)->boxes++;
    b->content = cx_newref(vm, n > 0 ? args[0] : cx_nil(vm));
    return &b->head;
}

static void box_dealloc(rrc_heap *heap, rrc_object *self)
{
    state *s = state_of(cx_vm(heap));

    if (s != NULL)
        s->boxes--;
    RRC_CLEAR(heap, ((box *)self)->content);
    cx_free(heap, self);
}

static rrc_object *box_get(cvm *vm, rrc_object *self)
{
    return cx_newref(vm, ((box *)self)->content);
}

static int box_set(cvm *vm, rrc_object *self, rrc_object *value)
{
    CX_SETREF(vm, ((box *)self)->content, cx_newref(vm, value));
    return 0;
}

static rrc_object *box_size(cvm *vm, rrc_object *self)
{
    (void)self;
    return cx_int_from_long(vm, 1);
}

FUNCTION(box_swap)
{
    box *b = (box *)self;
    rrc_object *old = b->content;

    UNUSED;
    (void)vm;
    b->content = cx_newref(vm, args[0]);
    return old;
}

static rrc_object *box_repr(cvm *vm, rrc_object *self)
{
    rrc_object *content = cx_repr(vm, ((box *)self)->content), *text;

    if (content == NULL)
        return NULL;
    text = cx_str_from_format(vm, "#<%s of %s>", RRC_TYPE(self)->tp_name, cx_str_as_utf8(vm, content));
    cx_decref(vm, content);
    return text;
}

static int box_close(cvm *vm, rrc_object *self)
{
    CX_SETREF(vm, ((box *)self)->content, nil(vm));
    return 0;
}

static const cx_getset_def box_getset[] = {
    { "content", box_get, box_set }, { "size", box_size, NULL }, { NULL, NULL, NULL }
};
static const cx_method_def box_methods[] = { { "swap", 1, 1, box_swap }, { NULL, 0, 0, NULL } };

static const cx_type box_spec = {
    .type = { .tp_name = "box", .tp_basicsize = sizeof(box), .tp_dealloc = box_dealloc,
              .tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_BASETYPE, .tp_members = box_members },
    .tp_new = box_new, .tp_repr = box_repr, .tp_close = box_close,
    .tp_getset = box_getset, .tp_methods = box_methods
};

/* Based on it: a second content, set up by a tp_init; and it can be called. */
static int big_box_init(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    if (!cx_check_args(vm, "big-box", n, 2, 2))
        return -1;
    CX_SETREF(vm, ((big_box *)self)->more, cx_newref(vm, args[1]));
    return 0;
}

static void big_box_dealloc(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((big_box *)self)->more);
    box_dealloc(heap, self);
}

FUNCTION(big_box_call)
{
    return cx_tuple_pack(vm, n > 0 ? 3 : 2, ((box *)self)->content, ((big_box *)self)->more,
                         n > 0 ? args[0] : NULL);
}

static const cx_type big_box_spec = {
    .type = { .tp_name = "big-box", .tp_basicsize = sizeof(big_box), .tp_dealloc = big_box_dealloc,
              .tp_flags = CX_TPFLAGS_BASETYPE, .tp_members = big_box_members },
    .tp_init = big_box_init, .tp_call = big_box_call
};

/* Plain data: O link, light. */
typedef struct point {
    rrc_object head;
    double x;
} point;

static rrc_object *point_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    double x = n > 0 ? cx_float_as_double(vm, args[0]) : 0;
    rrc_object *p = cx_err_occurred(vm) ? NULL : cx_new(vm, type);

    if (p != NULL)
        ((point *)p)->x = x;
    return p;
}

static rrc_object *point_x(cvm *vm, rrc_object *self)
{
    return cx_float_from_double(vm, ((point *)self)->x);
}

static const cx_getset_def point_getset[] = { { "x", point_x, NULL }, { NULL, NULL, NULL } };

static const cx_type point_spec = {
    .type = { .tp_name = "plain-point", .tp_basicsize = sizeof(point), .tp_flags = CX_TPFLAGS_LIGHT },
    .tp_new = point_new, .tp_getset = point_getset
};

/* With attributes: P link, full. */
static const cx_type node_spec = {
    .type = { .tp_name = "node",
              .tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_HAVE_ATTRS | CX_TPFLAGS_BASETYPE }
};

/* Closing fails. */
static int handle_close(cvm *vm, rrc_object *self)
{
    (void)self;
    cx_err_set(vm, "the handle is stuck");
    return -1;
}

static const cx_type handle_spec = { .type = { .tp_name = "handle" }, .tp_close = handle_close };

/* Of variable size. */
typedef struct row {
    rrc_object head;
    size_t size;
    long numbers[];
} row;

static rrc_object *row_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    row *r = (row *)cx_new_var(vm, type, n);
    size_t i;

    for (i = 0; r != NULL && i < n; i++)
        r->numbers[r->size++] = cx_int_as_long(vm, args[i]);
    if (r == NULL || !cx_err_occurred(vm))
        return (rrc_object *)r;
    cx_decref(vm, &r->head);
    return NULL;
}

FUNCTION(row_sum)
{
    const row *r = (const row *)self;
    long sum = 0;
    size_t i;

    UNUSED;
    for (i = 0; i < r->size; i++)
        sum += r->numbers[i];
    return cx_int_from_long(vm, sum);
}

static const cx_method_def row_methods[] = { { "sum", 0, 0, row_sum }, { NULL, 0, 0, NULL } };

static const cx_type row_spec = {
    .type = { .tp_name = "row", .tp_basicsize = offsetof(row, numbers), .tp_itemsize = sizeof(long) },
    .tp_new = row_new, .tp_methods = row_methods
};

/* A metatype counts the objects that its types have made. */
typedef struct meta {
    cx_type type;
    long made;
} meta;

static rrc_object *meta_call(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    rrc_object *ob = cx_builtin_type(vm, CX_TYPE)->tp_call(vm, self, args, n);

    ((meta *)self)->made += ob != NULL;
    return ob;
}

static rrc_object *meta_made(cvm *vm, rrc_object *self)
{
    return cx_int_from_long(vm, ((meta *)self)->made);
}

static const cx_getset_def meta_getset[] = { { "made", meta_made, NULL }, { NULL, NULL, NULL } };

static const cx_type meta_spec = {
    .type = { .tp_name = "meta", .tp_basicsize = sizeof(meta), .tp_flags = CX_TPFLAGS_BASETYPE },
    .tp_call = meta_call, .tp_getset = meta_getset
};

static const cx_type secret_spec = { .type = { .tp_name = "secret", .tp_flags = CX_TPFLAGS_NO_NEW } };

FUNCTION(make_secret)
{
    UNUSED;
    return cx_new(vm, state_of(vm)->secret);
}

FUNCTION(check_box)
{
    UNUSED;
    return cx_check(vm, "check-box", args[0], state_of(vm)->box)
         ? boolean(vm, cx_type_check(vm, args[0], state_of(vm)->big_box)) : NULL;
}

FUNCTION(boxes)
{
    UNUSED;
    return cx_int_from_long(vm, state_of(vm)->boxes);
}

FUNCTION(get_attr)
{
    const char *name = cx_str_as_utf8(vm, args[1]);

    UNUSED;
    return name != NULL ? cx_get_attr(vm, args[0], name) : NULL;
}

FUNCTION(set_attr)
{
    const char *name = cx_str_as_utf8(vm, args[1]);

    UNUSED;
    return name != NULL ? done(vm, cx_set_attr(vm, args[0], name, n > 2 ? args[2] : NULL)) : NULL;
}

FUNCTION(close_it)
{
    UNUSED;
    if (cx_close(vm, args[0]) != 0)
        return NULL;
    MOVE(vm);
    return done(vm, cx_close(vm, args[0]));
}

/* Types that cannot be; each must fail. */
FUNCTION(bad_type)
{
    static const rrc_member no_members[] = { { NULL, 0 } };
    long which = cx_int_as_long(vm, args[0]);
    cx_type spec = { .type = { .tp_name = "bad" } };
    cx_type *base = NULL, *metatype = NULL, *t;

    UNUSED;
    if (which == 0)
        base = cx_builtin_type(vm, CX_INT);
    if (which == 1)
        spec.type.tp_basicsize = 1;
    if (which == 2)
        spec.type.tp_flags = CX_TPFLAGS_LIGHT | RRC_TPFLAGS_HAVE_GC;
    if (which == 3)
        metatype = state_of(vm)->box;
    if (which == 4) {
        base = cx_builtin_type(vm, CX_TYPE);
        spec.type.tp_members = no_members;
    }
    t = cx_type_from_spec(vm, &spec, base, metatype);
    return (rrc_object *)t;
}

/* ---- what is left of what garbage owns -------------------------------------
 *
 * A keeper owns objects. In its tp_finalize, its tp_clear and its tp_dealloc it calls every
 * function that looks into them. It promises not to do so (RRC_TPFLAGS_DROPS_ONLY), and so the host
 * object of a view can be gone by then: all of them must then fail with an error. A looker is the
 * same without that promise: it finds all of them whole.
 */
typedef struct keeper {
    rrc_object head;
    size_t n;
    rrc_object *items[];
} keeper;

static rrc_object *keeper_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    keeper *k = (keeper *)cx_new_var(vm, type, n);

    for (; k != NULL && k->n < n; k->n++)
        k->items[k->n] = cx_newref(vm, args[k->n]);
    return (rrc_object *)k;
}

/* Is the object's data still somewhere? Each kind has a function that needs it. */
static int is_whole(cvm *vm, rrc_object *x)
{
    const cx_type *type = cx_type_of(vm, x);
    rrc_object *name = NULL;
    int whole = 1;

    if (cx_str_check(vm, x))
        whole = cx_str_as_utf8(vm, x) != NULL;
    else if (cx_tuple_check(vm, x))
        whole = cx_tuple_items(vm, x) != NULL;
    else if (cx_list_check(vm, x))
        whole = cx_list_items(vm, x) != NULL;
    else if (cx_dict_check(vm, x))
        whole = cx_dict_size(vm, x) != SIZE_MAX;
    else if (type == cx_builtin_type(vm, CX_PAIR))
        whole = (name = cx_pair_car(vm, x)) != NULL;
    else if (type == cx_builtin_type(vm, CX_SYMBOL))
        whole = (name = cx_symbol_name(vm, x)) != NULL;
    else if (type == cx_builtin_type(vm, CX_VECTOR) || type == cx_builtin_type(vm, CX_PROCEDURE))
        whole = (name = cx_repr(vm, x)) != NULL;
    cx_xdecref(vm, name);
    return whole;
}

/* If x is gone, each use must have failed, and with an error. */
static void used(cvm *vm, int gone, int failed)
{
    if (gone && !(failed && cx_err_occurred(vm)))
        state_of(vm)->wrong++;
    cx_err_clear(vm);
}

static void used_object(cvm *vm, int gone, rrc_object *result)
{
    used(vm, gone, result == NULL);
    cx_xdecref(vm, result);
}

static void use_str(cvm *vm, int gone, rrc_object *x)
{
    size_t size;

    used(vm, gone, cx_str_as_utf8(vm, x) == NULL);
    used(vm, gone, cx_str_as_utf8_and_size(vm, x, &size) == NULL);
    used(vm, gone, cx_str_size(vm, x) == SIZE_MAX);
    used(vm, gone, cx_str_buffer(vm, x) == NULL);
    used(vm, gone, cx_str_equals(vm, x, "text") == -1);
}

static void use_tuple(cvm *vm, int gone, rrc_object *x)
{
    rrc_object *const *items = cx_tuple_items(vm, x);
    size_t i, n = items != NULL ? cx_tuple_size(vm, x) : 0;

    used(vm, gone, items == NULL);
    for (i = 0; i < n; i++)
        if (items[i] != NULL)
            used_object(vm, 0, cx_repr(vm, items[i]));
    used(vm, gone, cx_tuple_size(vm, x) == SIZE_MAX);
    used(vm, gone, cx_tuple_get_item(vm, x, 0) == NULL);
    used(vm, gone, cx_tuple_set_item(vm, x, 0, nil(vm)) == -1);
}

static void use_list(cvm *vm, int gone, rrc_object *x)
{
    rrc_object *const *items = cx_list_items(vm, x);
    size_t i, n = items != NULL ? cx_list_size(vm, x) : 0;

    used(vm, gone, items == NULL);
    for (i = 0; i < n; i++)
        if (items[i] != NULL)
            used_object(vm, 0, cx_repr(vm, items[i]));
    used(vm, gone, cx_list_size(vm, x) == SIZE_MAX);
    used(vm, gone, cx_list_get_item(vm, x, 0) == NULL);
    used(vm, gone, cx_list_set_item(vm, x, 0, nil(vm)) == -1);
    used(vm, gone, cx_list_append(vm, x, cx_nil(vm)) == -1);
    used(vm, gone, cx_list_insert(vm, x, 0, cx_nil(vm)) == -1);
    used(vm, gone, cx_list_del_item(vm, x, 0) == -1);
    used_object(vm, gone, cx_list_as_tuple(vm, x));
}

static void use_dict(cvm *vm, int gone, rrc_object *x)
{
    rrc_object *key, *value;
    cx_dict_pos pos = { 0, 0 };

    used(vm, gone, cx_dict_size(vm, x) == SIZE_MAX);
    used(vm, gone, cx_dict_get_item(vm, x, cx_nil(vm)) == NULL);
    used(vm, gone, cx_dict_get_item_string(vm, x, "key") == NULL);
    used(vm, gone, cx_dict_set_item(vm, x, cx_nil(vm), cx_nil(vm)) == -1);
    used(vm, gone, cx_dict_set_item_string(vm, x, "key", cx_nil(vm)) == -1);
    used(vm, gone, cx_dict_contains(vm, x, cx_nil(vm)) == -1);
    used(vm, gone, cx_dict_del_item(vm, x, cx_nil(vm)) == -1);
    used(vm, gone, cx_dict_next(vm, x, &pos, &key, &value) == -1);
}

/* What an object of any kind is good for. */
static void use_any(cvm *vm, int gone, rrc_object *x)
{
    rrc_object *other = cx_str_from_string(vm, "other");

    used_object(vm, gone, cx_repr(vm, x));
    used_object(vm, gone, cx_to_str(vm, x));
    used(vm, gone, cx_define(vm, "never-defined", x) == -1);
    used_object(vm, gone, cx_pair_new(vm, x, cx_nil(vm)));
    used_object(vm, gone, cx_pair_new(vm, cx_nil(vm), x));
    used(vm, gone, cx_int_as_long(vm, x) == -1);
    used(vm, gone, cx_float_as_double(vm, x) < 0);
    used_object(vm, gone, cx_get_attr(vm, x, "attribute"));
    used(vm, gone, cx_set_attr(vm, x, "attribute", cx_nil(vm)) == -1);
    used_object(vm, gone, cx_call_method(vm, x, "method", NULL, 0));
    used(vm, gone, cx_close(vm, x) == -1);
    used(vm, 1, cx_err_expected(vm, "use", "nothing", x) == NULL);
    used(vm, 0, cx_equal(vm, x, x) != 1);
    if (other != NULL && cx_str_check(vm, x) && cx_str_size(vm, x) == cx_str_size(vm, other))
        used(vm, gone, cx_equal(vm, x, other) == -1);
    cx_err_clear(vm);
    cx_xdecref(vm, other);
}

static void use_items(cvm *vm, const keeper *k)
{
    state *s = state_of(vm);
    cx_err err;
    size_t i;

    cx_err_fetch(vm, &err);
    for (i = 0; i < k->n; i++) {
        rrc_object *x = k->items[i];
        const cx_type *type;
        int gone;

        if (x == NULL)
            continue;
        type = cx_type_of(vm, x);
        gone = !is_whole(vm, x);
        cx_err_clear(vm);
        s->gone += gone;
        s->whole += !gone;
        if (gone && (RRC_TYPE(&k->head)->tp_flags & RRC_TPFLAGS_DROPS_ONLY) == 0) {
            fputs("a looker: what it owns is gone\n", stderr);
            abort();
        }
        if (cx_str_check(vm, x))
            use_str(vm, gone, x);
        if (cx_tuple_check(vm, x))
            use_tuple(vm, gone, x);
        if (cx_list_check(vm, x))
            use_list(vm, gone, x);
        if (cx_dict_check(vm, x))
            use_dict(vm, gone, x);
        if (type == cx_builtin_type(vm, CX_PAIR)) {
            used_object(vm, gone, cx_pair_car(vm, x));
            used_object(vm, gone, cx_pair_cdr(vm, x));
        }
        if (type == cx_builtin_type(vm, CX_SYMBOL))
            used_object(vm, gone, cx_symbol_name(vm, x));
        if (type == cx_builtin_type(vm, CX_PROCEDURE)) {
            used(vm, 0, cx_callable_check(vm, x) != !gone);
            used_object(vm, gone, cx_call(vm, x, NULL, 0));
        }
        if (gone)
            use_any(vm, gone, x);
        else
            used_object(vm, 0, cx_repr(vm, x));
    }
    cx_err_restore(vm, &err);
    if (s->wrong > 0) {                         /* at the exit, nobody would see it otherwise */
        fputs("a keeper: an object whose host object is gone was used without an error\n", stderr);
        abort();
    }
}

static int keeper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const keeper *k = (const keeper *)self;
    size_t i;

    RRC_VISIT((rrc_object *)(uintptr_t)RRC_TYPE(self));
    for (i = 0; i < k->n; i++)
        RRC_VISIT(k->items[i]);
    return 0;
}

static int keeper_clear(rrc_heap *heap, rrc_object *self)
{
    keeper *k = (keeper *)self;
    size_t i;

    use_items(cx_vm(heap), k);
    for (i = 0; i < k->n; i++)
        RRC_CLEAR(heap, k->items[i]);
    return 0;
}

static void keeper_finalize(rrc_heap *heap, rrc_object *self)
{
    use_items(cx_vm(heap), (const keeper *)self);
}

/* The first item is saved from it if it is a gone one, to be used later. */
static void keeper_dealloc(rrc_heap *heap, rrc_object *self)
{
    cvm *vm = cx_vm(heap);
    keeper *k = (keeper *)self;
    state *s = state_of(vm);
    cx_err err;

    cx_err_fetch(vm, &err);
    if (s->save && k->n > 0 && k->items[0] != NULL && !is_whole(vm, k->items[0])) {
        cx_err_clear(vm);
        CX_SETREF(vm, s->held, cx_newref(vm, k->items[0]));
    }
    cx_err_restore(vm, &err);
    keeper_clear(heap, self);
    cx_free(heap, self);
}

#define KEEPER(name, flags) \
    .tp_name = (name), .tp_basicsize = offsetof(keeper, items), .tp_itemsize = sizeof(rrc_object *), \
    .tp_flags = RRC_TPFLAGS_HAVE_GC | (flags), .tp_dealloc = keeper_dealloc, .tp_traverse = keeper_traverse, \
    .tp_clear = keeper_clear

static const cx_type keeper_spec = { .type = { KEEPER("keeper", RRC_TPFLAGS_DROPS_ONLY) }, .tp_new = keeper_new };
static const cx_type last_keeper_spec = {
    .type = { KEEPER("last-keeper", RRC_TPFLAGS_DROPS_ONLY), .tp_finalize = keeper_finalize }, .tp_new = keeper_new
};
static const cx_type looker_spec = { .type = { KEEPER("looker", 0) }, .tp_new = keeper_new };
static const cx_type last_looker_spec = {
    .type = { KEEPER("last-looker", 0), .tp_finalize = keeper_finalize }, .tp_new = keeper_new
};

/* How many objects keepers found gone, and how many whole, since the last time. */
FUNCTION(keepers_found)
{
    state *s = state_of(vm);
    rrc_object *gone = cx_int_from_long(vm, s->gone), *whole = cx_int_from_long(vm, s->whole);
    rrc_object *result = cx_tuple_pack(vm, 2, gone, whole);

    UNUSED;
    s->gone = s->whole = 0;
    cx_xdecref(vm, gone);
    cx_xdecref(vm, whole);
    return result;
}

FUNCTION(save)
{
    UNUSED;
    state_of(vm)->save = cx_is_true(vm, args[0]);
    return nil(vm);
}

/* ---- the extension --------------------------------------------------------- */

static const cx_method_def functions[] = {
    { "hold-it", 1, 1, hold },              { "held-it", 0, 0, held },
    { "drop-it", 0, 0, drop },              { "same", 2, 2, same },
    { "equal", 2, 2, equal },               { "what", 1, 1, what },
    { "is-true", 1, 1, is_true },           { "texts", 1, 1, texts },
    { "as-long", 1, 1, as_long },           { "as-size", 1, 1, as_size },
    { "as-double", 1, 1, as_double },       { "extreme-longs", 0, 0, extreme_longs },
    { "too-big", 0, 0, too_big },           { "str-copy", 1, 1, str_copy },
    { "str-fill", 2, 2, str_fill },         { "str-buffer", 1, 1, str_buffer },
    { "str-equals", 1, 1, str_equals },     { "greet", 1, 1, greet },
    { "tuple-items", 1, 1, tuple_items },   { "tuple-get", 2, 2, tuple_get },
    { "tuple-make", 0, -1, tuple_make },    { "tuple-with-a-hole", 0, 0, tuple_with_a_hole },
    { "tuple-set", 2, 2, tuple_set },       { "list-make", 0, -1, list_make },
    { "list-make-empty", 1, 1, list_make_empty }, { "list-items", 1, 1, list_items },     { "list-size", 1, 1, list_size },
    { "list-get", 2, 2, list_get },         { "list-set", 3, 3, list_set },
    { "list-append", 2, 2, list_append },   { "list-insert", 3, 3, list_insert },
    { "list-delete", 2, 2, list_delete },   { "list-as-tuple", 1, 1, list_as_tuple },
    { "dict-make", 0, -1, dict_make },      { "dict-get-it", 2, 2, dict_get },
    { "dict-get-text", 1, 1, dict_get_text }, { "dict-set-text", 2, 2, dict_set_text },
    { "dict-delete", 2, 2, dict_delete },   { "dict-contains", 2, 2, dict_contains },
    { "dict-size", 1, 1, dict_size },       { "dict-walk", 1, 2, dict_walk },
    { "dict-walk-count", 1, 1, dict_count }, { "swap", 1, 1, swap },
    { "symbol-again", 1, 1, symbol },       { "global", 1, 2, global },
    { "call-it", 1, -1, call },             { "call-method", 2, -1, call_method },
    { "make-adder", 1, 1, make_adder },     { "call-back", 0, -1, call_back },
    { "no-error", 0, 0, no_error },         { "both", 0, 0, both },
    { "no-memory", 0, 0, no_memory },       { "expected", 1, 1, expected },
    { "message-of", 1, 1, message_of },     { "meanwhile", 1, 1, meanwhile },
    { "temporaries", 1, 1, temporaries },   { "stale", 3, 3, stale },
    { "stale-container", 0, 0, stale_container }, { "borrow", 1, 1, borrow },
    { "use-borrowed", 0, 0, use_borrowed }, { "stale-temporary", 0, 0, stale_temporary },
    { "released", 0, 0, released },         { "make-secret", 0, 0, make_secret },
    { "check-box", 1, 1, check_box },       { "boxes", 0, 0, boxes },
    { "get-attr", 2, 2, get_attr },         { "set-attr", 2, 3, set_attr },
    { "close-it", 1, 1, close_it },         { "bad-type", 1, 1, bad_type },
    { "keepers-found", 0, 0, keepers_found }, { "save-gone", 1, 1, save },
    { NULL, 0, 0, NULL }
};

static int init(cvm *vm)
{
    state *s = state_of(vm);

    if (cx_define_type(vm, &box_spec, NULL, NULL, &s->box) != 0
        || cx_define_type(vm, &big_box_spec, s->box, NULL, &s->big_box) != 0
        || cx_define_type(vm, &point_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &node_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &handle_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &row_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &meta_spec, cx_builtin_type(vm, CX_TYPE), NULL, NULL) != 0
        || cx_define_type(vm, &keeper_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &last_keeper_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &looker_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &last_looker_spec, NULL, NULL, NULL) != 0
        || cx_define_type(vm, &secret_spec, NULL, NULL, &s->secret) != 0)
        return -1;
    return cx_define_functions(vm, functions);
}

static void end(cvm *vm)
{
    state *s = state_of(vm);

    CX_CLEAR(vm, s->held);
    CX_CLEAR(vm, s->big_box);
    CX_CLEAR(vm, s->box);
    CX_CLEAR(vm, s->secret);
}

const cx_extension cx_ext_probe = {
    CX_EXTENSION_HEAD("probe"), .init = init, .state_size = sizeof(state), .end = end
};
