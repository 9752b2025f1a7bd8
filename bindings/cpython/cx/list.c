/* list.c - lists, which are Lisp's arrays.
 *
 * The items are in one place at a time, and C always finds them in its own array:
 *
 * From the host: P link, light, as long as C only passes it on. When C first looks at
 *     the items, the array changes its strategy: its storage becomes the C list, which
 *     owns the items' objects (P link, full), and the host keeps nothing but its link to
 *     that. From then on Lisp's array-ref and so on work on the C list.
 *
 * Made in C: only an object at first; an O link when it reaches Lisp, whose array is then
 *     of the same strategy.
 *
 * So C indexes the items directly, and what it borrows is held by the list.
 */
#include "impl.h"

#include <stdlib.h>
#include <string.h>

static const char wanted[] = "an array";

/* ---- the type ----------------------------------------------------------- */

static int list_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const cxi_list *l = (const cxi_list *)self;
    size_t i;

    RRC_VISIT((rrc_object *)(uintptr_t)RRC_TYPE(self));
    for (i = 0; i < l->size; i++)
        RRC_VISIT(l->items[i]);
    return 0;
}

static int list_clear(rrc_heap *heap, rrc_object *self)
{
    cxi_list *l = (cxi_list *)self;

    while (l->size > 0) {
        rrc_object *x = l->items[--l->size];

        if (x != NULL)
            rrc_decref(heap, x);
    }
    return 0;
}

static void list_dealloc(rrc_heap *heap, rrc_object *self)
{
    list_clear(heap, self);
    free(((cxi_list *)self)->items);
    rrc_gc_del(heap, self);
}

void cxi_list_define(cx_type *type)
{
    type->type.tp_basicsize = sizeof(cxi_list);
    type->type.tp_flags = RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_DROPS_ONLY;
    type->type.tp_traverse = list_traverse;
    type->type.tp_clear = list_clear;
    type->type.tp_dealloc = list_dealloc;
}

/* ---- the change of strategy --------------------------------------------- */

/* Nothing moves here. All or nothing: what a failure leaves is the host's array as it was. */
int cxi_list_fill(cvm *vm, rrc_object *ob)
{
    cxi_list *l = (cxi_list *)ob;
    cvm_value array;
    size_t i, n;
    rrc_object **items;

    if (l->filled)
        return 1;
    array = (cvm_value)rrc_to_obj(vm->rrc, ob);
    n = cvm_sequence_length(array);
    items = malloc((n > 0 ? n : 1) * sizeof *items);
    for (i = 0; items != NULL && i < n; i++)
        if ((items[i] = cxi_from_value(vm, cvm_sequence_peek(array, i))) == NULL)
            break;
    if (items == NULL || i < n || rrc_gc_track(vm->rrc, ob) != RRC_OK) {
        while (items != NULL && i > 0)
            rrc_decref(vm->rrc, items[--i]);
        free(items);
        cx_err_no_memory(vm);
        return 0;
    }
    l->items = items;
    l->size = n;
    l->capacity = n > 0 ? n : 1;
    l->filled = 1;
    cxi_become_full(ob);
    CVM_ARRAY_OF(array)->ob = ob;
    cvm_store(vm, array, &CVM_ARRAY_OF(array)->items, CVM_NIL);
    CVM_ARRAY_OF(array)->length = 0;
    cvm_object_of(array)->flags |= CVM_OUTSIDE;
    return 1;
}

/* The list, with its items in C; NULL after a failure. */
static cxi_list *list_of(cvm *vm, const char *function, rrc_object *ob)
{
    return cxi_expect(vm, function, ob, CX_LIST, wanted) && cxi_list_fill(vm, ob) ? (cxi_list *)ob : NULL;
}

static cxi_list *list_with_item(cvm *vm, const char *function, rrc_object *ob, size_t i)
{
    cxi_list *l = list_of(vm, function, ob);

    if (l == NULL || i < l->size)
        return l;
    cxi_bad_index(vm, function, i, l->size);
    return NULL;
}

/* ---- the functions ------------------------------------------------------ */

rrc_object *cx_list_new(cvm *vm, size_t n)
{
    cxi_list *l = n < SIZE_MAX / 4 / sizeof(rrc_object *) ? (cxi_list *)cxi_alloc(vm, CX_LIST, 0) : NULL;

    if (l == NULL)
        return cx_err_no_memory(vm);
    l->filled = 1;
    l->items = calloc(n > 0 ? n : 1, sizeof *l->items);
    if (l->items == NULL || rrc_gc_track(vm->rrc, &l->head) != RRC_OK) {
        rrc_decref(vm->rrc, &l->head);
        return cx_err_no_memory(vm);
    }
    l->size = n;
    l->capacity = n > 0 ? n : 1;
    return &l->head;
}

int cx_list_check(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_list_check", ob) && cxi_is(vm, ob, CX_LIST);
}

size_t cx_list_size(cvm *vm, rrc_object *ob)
{
    if (!cxi_expect(vm, "cx_list_size", ob, CX_LIST, wanted))
        return SIZE_MAX;
    return ((cxi_list *)ob)->filled ? ((cxi_list *)ob)->size
                                    : cvm_sequence_length((cvm_value)rrc_to_obj(vm->rrc, ob));
}

rrc_object *cx_list_get_item(cvm *vm, rrc_object *ob, size_t i)
{
    cxi_list *l = list_with_item(vm, "cx_list_get_item", ob, i);

    if (l == NULL || l->items[i] == NULL || !cxi_borrowed(vm, l->items[i], ob, i, "cx_list_get_item"))
        return NULL;
    return l->items[i];
}

int cx_list_set_item(cvm *vm, rrc_object *ob, size_t i, rrc_object *item)
{
    static const char function[] = "cx_list_set_item";
    cxi_list *l = cxi_any(vm, function, item) ? list_with_item(vm, function, ob, i) : NULL;

    if (l == NULL) {
        if (item != NULL)
            rrc_decref(vm->rrc, item);
        return -1;
    }
    CX_SETREF(vm, l->items[i], item);
    return 0;
}

/* Before item i, which may be the end. */
static int insert(cvm *vm, const char *function, rrc_object *ob, size_t i, rrc_object *item)
{
    cxi_list *l = cxi_any(vm, function, item) ? list_of(vm, function, ob) : NULL;

    if (l == NULL)
        return -1;
    if (i > l->size)
        return cxi_bad_index(vm, function, i, l->size);
    if (!cxi_make_room(&l->items, l->size, &l->capacity, sizeof *l->items))
        return cx_err_no_memory(vm), -1;
    memmove(&l->items[i + 1], &l->items[i], (l->size - i) * sizeof *l->items);
    l->items[i] = item;
    l->size++;
    rrc_incref(vm->rrc, item);
    return 0;
}

int cx_list_append(cvm *vm, rrc_object *ob, rrc_object *item)
{
    cxi_list *l = list_of(vm, "cx_list_append", ob);

    return l != NULL ? insert(vm, "cx_list_append", ob, l->size, item) : -1;
}

int cx_list_insert(cvm *vm, rrc_object *ob, size_t i, rrc_object *item)
{
    return insert(vm, "cx_list_insert", ob, i, item);
}

int cx_list_del_item(cvm *vm, rrc_object *ob, size_t i)
{
    cxi_list *l = list_with_item(vm, "cx_list_del_item", ob, i);
    rrc_object *x;

    if (l == NULL)
        return -1;
    x = l->items[i];
    memmove(&l->items[i], &l->items[i + 1], (--l->size - i) * sizeof *l->items);
    if (x != NULL)
        rrc_decref(vm->rrc, x);         /* last: it may run code that comes back here */
    return 0;
}

rrc_object *const *cx_list_items(cvm *vm, rrc_object *ob)
{
    cxi_list *l = list_of(vm, "cx_list_items", ob);

    if (l == NULL || !cxi_borrowed_all(vm, l->items, l->size, ob, "cx_list_items"))
        return NULL;
    return l->items;
}

rrc_object *cx_list_as_tuple(cvm *vm, rrc_object *ob)
{
    cxi_list *l = list_of(vm, "cx_list_as_tuple", ob);
    rrc_object *tuple = l != NULL ? cx_tuple_new(vm, l->size) : NULL;
    size_t i;

    for (i = 0; tuple != NULL && i < l->size; i++) {
        rrc_object *x = l->items[i] != NULL ? l->items[i] : cx_nil(vm);

        rrc_incref(vm->rrc, x);
        ((cxi_tuple *)tuple)->items[i] = x;
    }
    return tuple;
}
