/* dict.c - dicts: P link, light. The dict is the host's, and its C object is empty.
 *
 * What C borrows from a dict has an object on the host's side, which the dict holds as
 * long as the slot is not overwritten; and that holds its C object by their link. (A
 * fixnum gets an object in the slot for that: cxi_boxed.) So nothing has to be noted
 * about borrowed references, and the C object stays empty. Only a proxy notes that its
 * C object was lent: if it is closed, it keeps the object (cvm_foreign_let_go).
 *
 * A walk goes over the entries of the dict as they stand in memory, by their number.
 * Removed keys leave holes, so that removal is safe during a walk. A new key may move all
 * of them, and so ends it: the dict counts the keys that were ever added.
 */
#include "impl.h"

#include <string.h>

static const char wanted[] = "a dict";

static cvm_value dict_of(cvm *vm, rrc_object *ob)
{
    return (cvm_value)rrc_to_obj(vm->rrc, ob);
}

/* The C object of a value that a slot of the container holds. BORROWED from that slot. */
static rrc_object *borrow(cvm *vm, rrc_object *ob, cvm_value v, size_t slot, const char *function)
{
    rrc_object *x = cxi_from_value(vm, v);

    if (x == NULL)
        return NULL;
    if (cvm_is(v, CVM_FOREIGN))
        CVM_FOREIGN_OF(v)->lent = 1;
    rrc_decref(vm->rrc, x);             /* never the last: the link counts, or it is immortal */
    return cxi_borrowed(vm, x, ob, slot, function) ? x : NULL;
}

rrc_object *cx_dict_new(cvm *vm)
{
    return cxi_from_value(vm, cvm_dict_new(vm));
}

int cx_dict_check(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_dict_check", ob) && cxi_is(vm, ob, CX_DICT);
}

size_t cx_dict_size(cvm *vm, rrc_object *ob)
{
    return cxi_expect(vm, "cx_dict_size", ob, CX_DICT, wanted) ? CVM_DICT_OF(dict_of(vm, ob))->count
                                                              : SIZE_MAX;
}

/* ---- one key ------------------------------------------------------------ */

static rrc_object *get(cvm *vm, const char *function, rrc_object *ob, cvm_value key)
{
    cvm_value *place;
    cvm_value entries, v;
    size_t slot;

    if (key == CVM_NONE)
        return NULL;
    place = cvm_dict_place(vm, dict_of(vm, ob), key);
    if (place == NULL)
        return NULL;
    entries = CVM_DICT_OF(dict_of(vm, ob))->entries;
    slot = (size_t)(place - CVM_VECTOR_OF(entries)->items);
    v = cxi_boxed(vm, entries, place);
    return v != CVM_NONE ? borrow(vm, ob, v, slot, function) : NULL;
}

rrc_object *cx_dict_get_item(cvm *vm, rrc_object *ob, rrc_object *key)
{
    static const char function[] = "cx_dict_get_item";

    if (!cxi_expect(vm, function, ob, CX_DICT, wanted) || !cxi_any(vm, function, key))
        return NULL;
    return get(vm, function, ob, cxi_to_value(vm, key));
}

rrc_object *cx_dict_get_item_string(cvm *vm, rrc_object *ob, const char *key)
{
    static const char function[] = "cx_dict_get_item_string";

    return cxi_expect(vm, function, ob, CX_DICT, wanted) ? get(vm, function, ob, cvm_text(vm, key)) : NULL;
}

static int set(cvm *vm, rrc_object *ob, cvm_value key, rrc_object *value)
{
    size_t scope = cvm_open(vm);
    cvm_value *k = cvm_root(vm, key);
    cvm_value *v = cvm_root(vm, key != CVM_NONE ? cxi_to_value(vm, value) : CVM_NONE);
    int ok = *v != CVM_NONE && cvm_dict_set(vm, dict_of(vm, ob), *k, *v);

    cvm_close(vm, scope);
    return ok ? 0 : -1;
}

int cx_dict_set_item(cvm *vm, rrc_object *ob, rrc_object *key, rrc_object *value)
{
    static const char function[] = "cx_dict_set_item";

    if (!cxi_expect(vm, function, ob, CX_DICT, wanted) || !cxi_any(vm, function, key)
        || !cxi_any(vm, function, value))
        return -1;
    return set(vm, ob, cxi_to_value(vm, key), value);
}

int cx_dict_set_item_string(cvm *vm, rrc_object *ob, const char *key, rrc_object *value)
{
    static const char function[] = "cx_dict_set_item_string";

    if (!cxi_expect(vm, function, ob, CX_DICT, wanted) || !cxi_any(vm, function, value))
        return -1;
    return set(vm, ob, cvm_text(vm, key), value);
}

int cx_dict_del_item(cvm *vm, rrc_object *ob, rrc_object *key)
{
    static const char function[] = "cx_dict_del_item";
    cvm_value k;

    if (!cxi_expect(vm, function, ob, CX_DICT, wanted) || !cxi_any(vm, function, key)
        || (k = cxi_to_value(vm, key)) == CVM_NONE)
        return -1;
    return cvm_dict_remove(vm, dict_of(vm, ob), k);
}

int cx_dict_contains(cvm *vm, rrc_object *ob, rrc_object *key)
{
    static const char function[] = "cx_dict_contains";
    cvm_value k;

    if (!cxi_expect(vm, function, ob, CX_DICT, wanted) || !cxi_any(vm, function, key)
        || (k = cxi_to_value(vm, key)) == CVM_NONE)
        return -1;
    return cvm_dict_place(vm, dict_of(vm, ob), k) != NULL;
}

/* ---- all of them -------------------------------------------------------- */

/* Half (0: the key, 1: the value) of entry i. BORROWED from the dict. */
static rrc_object *half(cvm *vm, rrc_object *ob, size_t i, size_t which)
{
    cvm_value entries = CVM_DICT_OF(dict_of(vm, ob))->entries;
    cvm_value v = cxi_boxed(vm, entries, &CVM_VECTOR_OF(entries)->items[2 * i + which]);

    return v != CVM_NONE ? borrow(vm, ob, v, 2 * i + which, "cx_dict_next") : NULL;
}

int cx_dict_next(cvm *vm, rrc_object *ob, cx_dict_pos *pos, rrc_object **key, rrc_object **value)
{
    const cvm_dict *d;
    size_t i;

    if (!cxi_expect(vm, "cx_dict_next", ob, CX_DICT, wanted))
        return -1;
    d = CVM_DICT_OF(dict_of(vm, ob));
    if (pos->added == 0)
        pos->added = d->added + 1;      /* so that zero is the start of a walk */
    if (pos->added != d->added + 1) {
        cx_err_set(vm, "cx_dict_next: a key was added to the dict during the walk over it");
        return -1;
    }
    while (pos->at < d->used && CVM_VECTOR_OF(d->entries)->items[2 * pos->at] == CVM_NONE)
        pos->at++;
    if (pos->at >= d->used)
        return 0;
    i = pos->at;
    if ((key != NULL && (*key = half(vm, ob, i, 0)) == NULL)
        || (value != NULL && (*value = half(vm, ob, i, 1)) == NULL))
        return -1;
    pos->at = i + 1;
    return 1;
}
