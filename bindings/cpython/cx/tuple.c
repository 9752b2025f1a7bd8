/* tuple.c - tuples. Either way C gets a plain array of objects, which it owns.
 *
 * From the host: P link, light, as long as C only passes it on. The object has room for the
 *     items, and is filled when C first looks at them. Then it owns an object for each
 *     (P link, full), so that the array is good as long as the object is: also if Lisp closes
 *     an item, if the host's tuple makes its items on the fly (a range), or if the host's
 *     tuple is garbage and only C still holds the object.
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

    RRC_VISIT((rrc_object *)(uintptr_t)RRC_TYPE(self));
    for (i = 0; i < t->size; i++)
        RRC_VISIT(t->items[i]);
    return 0;
}

static int tuple_clear(rrc_heap *heap, rrc_object *self)
{
    cxi_tuple *t = (cxi_tuple *)self;
    size_t i;

    for (i = 0; i < t->size; i++)
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
    type->type.tp_flags = RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_DROPS_ONLY;
    type->type.tp_traverse = tuple_traverse;
    type->type.tp_clear = tuple_clear;
    type->type.tp_dealloc = tuple_dealloc;
}

/* ---- filling the view of a host's tuple --------------------------------- */

/* Nothing moves here. All or nothing. */
int cxi_tuple_fill(cvm *vm, rrc_object *ob)
{
    cxi_tuple *t = (cxi_tuple *)ob;
    cvm_value tuple;
    size_t i;

    if (t->filled)
        return 1;
    tuple = (cvm_value)rrc_to_obj(vm->rrc, ob);
    for (i = 0; i < t->size; i++) {
        t->items[i] = cxi_from_value(vm, cvm_sequence_peek(tuple, i));
        if (t->items[i] == NULL)
            break;
    }
    if (i == t->size && rrc_gc_track(vm->rrc, ob) == RRC_OK) {
        t->filled = 1;
        cxi_become_full(ob);
        return 1;
    }
    while (i-- > 0)
        RRC_CLEAR(vm->rrc, t->items[i]);
    cx_err_no_memory(vm);
    return 0;
}

/* ---- the functions ------------------------------------------------------ */

rrc_object *cx_tuple_new(cvm *vm, size_t n)
{
    cxi_tuple *t = n < SIZE_MAX / 4 / sizeof(rrc_object *) ? (cxi_tuple *)cxi_alloc(vm, CX_TUPLE, n) : NULL;

    if (t == NULL)
        return cx_err_no_memory(vm);
    t->size = n;
    t->filled = 1;
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
