/* tuple.c - tuples. Either way C gets a plain array of objects.
 *
 * From the host: P link, light. The object has room for the items, and is filled when C
 *     first looks at them. Then it stores borrowed pointers: each item is held by the
 *     host's tuple, and its C object by the link to it. (A fixnum gets an object in the
 *     host's slot for that: cxi_boxed.)
 *
 * Specialised tuples, which hold no items: a range makes them on the fly. Once filled
 *     the object owns its items: P link, full. So does that of a tuple with proxies in it,
 *     because Lisp can close a proxy: its C object would go, and leave a pointer behind.
 *
 * Made in C: only an object at first, which owns its items and can be filled; an O link
 *     when it reaches Lisp. Lisp's tuple has no items of its own; it reads those of the C
 *     object.
 */
#include "impl.h"

#include <stdarg.h>

static const char wanted[] = "a tuple";

/* ---- the type ----------------------------------------------------------- */

static int tuple_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const cxi_tuple *t = (const cxi_tuple *)self;
    size_t i;

    for (i = 0; t->owns && i < t->size; i++)
        RRC_VISIT(t->items[i]);
    return 0;
}

static int tuple_clear(rrc_heap *heap, rrc_object *self)
{
    cxi_tuple *t = (cxi_tuple *)self;
    size_t i;

    for (i = 0; t->owns && i < t->size; i++)
        RRC_CLEAR(heap, t->items[i]);
    return 0;
}

static void tuple_dealloc(rrc_heap *heap, rrc_object *self)
{
    tuple_clear(heap, self);
    rrc_gc_del(heap, self);
}

/* Views of the host's tuples are light at first, whatever this flag says: it is for
   tuples that were made in C. */
void cxi_tuple_define(cx_type *type)
{
    type->type.tp_basicsize = offsetof(cxi_tuple, items);
    type->type.tp_itemsize = sizeof(rrc_object *);
    type->type.tp_flags = RRC_TPFLAGS_HAVE_GC;
    type->type.tp_traverse = tuple_traverse;
    type->type.tp_clear = tuple_clear;
    type->type.tp_dealloc = tuple_dealloc;
}

/* ---- filling the view of a host's tuple --------------------------------- */

static int needs_to_own(cvm_value tuple)
{
    size_t i;

    if (cvm_is(tuple, CVM_RANGE))
        return 1;
    for (i = 0; i < CVM_TUPLE_OF(tuple)->length; i++)
        if (cvm_is(CVM_TUPLE_OF(tuple)->items[i], CVM_FOREIGN))
            return 1;
    return 0;
}

/* Nothing moves here. */
static int fill_with_owned(cvm *vm, cxi_tuple *t, cvm_value tuple)
{
    size_t i;

    for (i = 0; i < t->size; i++) {
        t->items[i] = cxi_from_value(vm, cvm_sequence_peek(tuple, i));
        if (t->items[i] == NULL)
            break;
    }
    if (i == t->size && rrc_gc_track(vm->rrc, &t->head) == RRC_OK) {
        t->owns = t->filled = 1;
        cxi_become_full(&t->head);
        return 1;
    }
    while (i > 0)
        rrc_decref(vm->rrc, t->items[--i]);
    cx_err_no_memory(vm);
    return 0;
}

static int fill_with_borrowed(cvm *vm, cxi_tuple *t, cvm_value tuple)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_tuple = cvm_root(vm, tuple);
    size_t i;

    for (i = 0; i < t->size; i++) {
        rrc_object *x = cxi_from_value(vm, cxi_boxed(vm, *r_tuple, &CVM_TUPLE_OF(*r_tuple)->items[i]));

        if (x == NULL)
            break;
        t->items[i] = x;
        rrc_decref(vm->rrc, x);         /* its host object holds it */
    }
    cvm_close(vm, scope);
    t->filled = i == t->size;
    return t->filled;
}

int cxi_tuple_fill(cvm *vm, rrc_object *ob)
{
    cxi_tuple *t = (cxi_tuple *)ob;
    cvm_value tuple;

    if (t->filled)
        return 1;
    tuple = (cvm_value)rrc_to_obj(vm->rrc, ob);
    return needs_to_own(tuple) ? fill_with_owned(vm, t, tuple) : fill_with_borrowed(vm, t, tuple);
}

/* ---- the functions ------------------------------------------------------ */

rrc_object *cx_tuple_new(cvm *vm, size_t n)
{
    cxi_tuple *t = n < SIZE_MAX / 4 / sizeof(rrc_object *) ? (cxi_tuple *)cxi_alloc(vm, CX_TUPLE, n) : NULL;

    if (t == NULL)
        return cx_err_no_memory(vm);
    t->size = n;
    t->owns = t->filled = 1;
    if (rrc_gc_track(vm->rrc, &t->head) != RRC_OK) {
        rrc_decref(vm->rrc, &t->head);
        return cx_err_no_memory(vm);
    }
    return &t->head;
}

rrc_object *cx_tuple_pack(cvm *vm, size_t n, ...)
{
    rrc_object *tuple = cx_tuple_new(vm, n);
    va_list items;
    size_t i;

    va_start(items, n);
    for (i = 0; tuple != NULL && i < n; i++) {
        rrc_object *x = va_arg(items, rrc_object *);

        if (!cxi_any(vm, "cx_tuple_pack", x)) {
            rrc_decref(vm->rrc, tuple);
            tuple = NULL;
        } else {
            rrc_incref(vm->rrc, x);
            ((cxi_tuple *)tuple)->items[i] = x;
        }
    }
    va_end(items);
    return tuple;
}

int cx_tuple_check(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_tuple_check", ob) && cxi_is(vm, ob, CX_TUPLE);
}

size_t cx_tuple_size(cvm *vm, rrc_object *ob)
{
    return cxi_expect(vm, "cx_tuple_size", ob, CX_TUPLE, wanted) ? ((cxi_tuple *)ob)->size : SIZE_MAX;
}

rrc_object *cx_tuple_get_item(cvm *vm, rrc_object *ob, size_t i)
{
    cxi_tuple *t = (cxi_tuple *)ob;

    if (!cxi_expect(vm, "cx_tuple_get_item", ob, CX_TUPLE, wanted))
        return NULL;
    if (i >= t->size)
        return cxi_bad_index(vm, "cx_tuple_get_item", i, t->size), NULL;
    if (!cxi_tuple_fill(vm, ob))
        return NULL;
    if (t->items[i] == NULL)
        return cx_err_set(vm, "cx_tuple_get_item: slot %lu of the tuple is still empty", (unsigned long)i);
    return cxi_borrowed(vm, t->items[i], ob, i, "cx_tuple_get_item") ? t->items[i] : NULL;
}

int cx_tuple_set_item(cvm *vm, rrc_object *ob, size_t i, rrc_object *item)
{
    cxi_tuple *t = (cxi_tuple *)ob;
    static const char function[] = "cx_tuple_set_item";
    int ok = cxi_any(vm, function, item) && cxi_expect(vm, function, ob, CX_TUPLE, wanted);

    if (ok && t->seen) {
        cx_err_expected(vm, function, "a tuple that Lisp has not seen yet", ob);
        ok = 0;
    }
    if (ok && i >= t->size)
        ok = cxi_bad_index(vm, function, i, t->size) == 0;
    if (ok)
        CX_SETREF(vm, t->items[i], item);
    else if (item != NULL)
        rrc_decref(vm->rrc, item);
    return ok ? 0 : -1;
}

rrc_object *const *cx_tuple_items(cvm *vm, rrc_object *ob)
{
    cxi_tuple *t = (cxi_tuple *)ob;

    if (!cxi_expect(vm, "cx_tuple_items", ob, CX_TUPLE, wanted) || !cxi_tuple_fill(vm, ob)
        || !cxi_borrowed_all(vm, t->items, t->size, ob, "cx_tuple_items"))
        return NULL;
    return t->items;
}
