/* dict.c - when values are equal, and dicts, whose keys are found by it. */
#include "dict.h"

#include <string.h>

/* ---- equality ------------------------------------------------------------ */

static int are_numbers(cvm_value a, cvm_value b)
{
    return cvm_is_number(a) && cvm_is_number(b);
}

/* The numbers that are no reals end just below this one. */
#define WHOLE_LIMIT (-(double)INTPTR_MIN)

int cvm_compare_whole(intptr_t a, double b)
{
    intptr_t whole;
    double rest;

    if (b >= WHOLE_LIMIT || b < -WHOLE_LIMIT)
        return b > 0 ? -1 : 1;
    if (!(b <= 0 || b >= 0))
        return 2;
    whole = (intptr_t)b;                /* towards zero */
    rest = b - (double)whole;
    return a != whole ? (a > whole) - (a < whole) : (rest < 0) - (rest > 0);
}

int cvm_compare(cvm_value a, cvm_value b)
{
    int order;

    if (cvm_is_whole(a) && cvm_is_whole(b))
        return (cvm_whole_of(a) > cvm_whole_of(b)) - (cvm_whole_of(a) < cvm_whole_of(b));
    if (cvm_is_whole(a))
        return cvm_compare_whole(cvm_whole_of(a), cvm_number_of(b));
    if (cvm_is_whole(b)) {
        order = cvm_compare_whole(cvm_whole_of(b), cvm_number_of(a));
        return order == 2 ? 2 : -order;
    }
    if (cvm_number_of(a) < cvm_number_of(b))
        return -1;
    return cvm_number_of(a) > cvm_number_of(b) ? 1 : cvm_number_of(a) >= cvm_number_of(b) ? 0 : 2;
}

static int equal_strings(cvm_value a, cvm_value b)
{
    return CVM_STRING_OF(a)->length == CVM_STRING_OF(b)->length
        && memcmp(cvm_bytes(a), cvm_bytes(b), CVM_STRING_OF(a)->length) == 0;
}

static int equal_vectors(cvm *vm, const cvm_value *a, const cvm_value *b)
{
    size_t i, n = CVM_VECTOR_OF(*a)->length;
    int same = n == CVM_VECTOR_OF(*b)->length;

    for (i = 0; same == 1 && i < n; i++)
        same = cvm_equal(vm, CVM_VECTOR_OF(*a)->items[i], CVM_VECTOR_OF(*b)->items[i]);
    return same;
}

static int equal_otherwise(cvm *vm, cvm_value *a, cvm_value *b)
{
    int (*equal)(cvm *, cvm_value *, cvm_value *) = cvm_object_of(*a)->kind < CVM_LANGUAGE_KINDS ? NULL
        : cvm_object_of(*a)->kind < CVM_API_KINDS ? vm->ops.equal_in_language : vm->ops.equal_in_api;

    return equal != NULL ? equal(vm, a, b) : 0;
}

int cvm_equal(cvm *vm, cvm_value a, cvm_value b)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_a, *r_b;
    int same;

    if (are_numbers(a, b))
        return cvm_compare(a, b) == 0;
    if (a == b)
        return 1;
    if (!cvm_is_object(a) || !cvm_is_object(b))
        return 0;
    if (cvm_is(a, CVM_STRING) && cvm_is(b, CVM_STRING))
        return equal_strings(a, b);
    if (!cvm_enter(vm))
        return -1;
    r_a = cvm_root(vm, a);
    r_b = cvm_root(vm, b);
    same = cvm_is(a, CVM_VECTOR) && cvm_is(b, CVM_VECTOR) ? equal_vectors(vm, r_a, r_b) : equal_otherwise(vm, r_a, r_b);
    cvm_close(vm, scope);
    cvm_leave(vm);
    return same;
}

/* ---- dicts --------------------------------------------------------------
 *
 * Keys are compared as by cvm_equal, but what has items by identity: these can change.
 */

static const cvm_kind dict_kind = { "dict", offsetof(cvm_dict, entries), 2 };

void cvm_dict_define(cvm *vm)
{
    vm->heap.kinds[CVM_DICT] = &dict_kind;
}

cvm_value cvm_dict_new(cvm *vm)
{
    cvm_dict *d = (cvm_dict *)cvm_object_new(vm, CVM_DICT, sizeof *d);

    if (d != NULL)
        cvm_heap_init(&d->entries, d->index = CVM_NIL);
    return (cvm_value)d;
}

static int same_key(cvm_value a, cvm_value b)
{
    if (are_numbers(a, b))
        return cvm_compare(a, b) == 0;
    if (cvm_is(a, CVM_STRING) && cvm_is(b, CVM_STRING))
        return equal_strings(a, b);
    return a == b;
}

uint32_t cvm_hash_bytes(const char *bytes, size_t length)
{
    uint32_t hash = 2166136261u;        /* FNV-1a */

    for (; length > 0; length--)
        hash = (hash ^ (unsigned char)*bytes++) * 16777619u;
    return hash;
}

static uint32_t hash_number(double number)
{
    unsigned char bytes[sizeof(double)];

    if (number >= 0 && number <= 0)
        number = 0;                 /* -0.0 is equal to 0.0 */
    memcpy(bytes, &number, sizeof bytes);
    return cvm_hash_bytes((const char *)bytes, sizeof bytes);
}

/* A key whose hash and equality the API knows. */
static int is_api_key(const cvm *vm, cvm_value key)
{
    return vm->ops.hash != NULL && cvm_is_object(key)
        && (cvm_is(key, CVM_FOREIGN) || cvm_object_of(key)->kind >= CVM_API_KINDS);
}

/* What was hashed once has it in its header: then no code runs. */
static uint32_t hash_key(cvm *vm, cvm_value key)
{
    cvm_object *p = cvm_object_of(key);

    if (cvm_is_number(key))
        return hash_number(cvm_number_of(key));
    if (!cvm_is_object(key))
        return (uint32_t)key;
    if (p->hash == 0)
        p->hash = p->kind == CVM_STRING
                ? cvm_hash_bytes(cvm_bytes(key), CVM_STRING_OF(key)->length)
                : ++vm->heap.hashes * 2654435761u;
    return p->hash;
}

/* Hash a key in a rooted slot for the first time. 0 after a failure. */
static int prepare(cvm *vm, cvm_value *key)
{
    int failed = 0;
    uint32_t hash;

    if (!is_api_key(vm, *key) || cvm_object_of(*key)->hash != 0)
        return 1;
    hash = vm->ops.hash(vm, *key, &failed);
    if (!failed)
        cvm_object_of(*key)->hash = hash;
    return !failed;
}

/* The place in the index for the key, or where it would be entered. Dict and key are in rooted
   slots, as comparing may run any code: if the dict has changed meanwhile, the search begins again.
   NULL after a failure. */
static cvm_value *find_place(cvm *vm, const cvm_value *dict, const cvm_value *key)
{
    const cvm_dict *d = CVM_DICT_OF(*dict);
    uint32_t hash = hash_key(vm, *key);
    size_t at = hash;

    for (;; at++) {
        cvm_vector *index = CVM_VECTOR_OF(d->index);
        cvm_value *place = &index->items[at & (index->length - 1)], k;
        size_t added = d->added, count = d->count;
        int same;

        if (*place == CVM_NIL)
            return place;
        k = CVM_VECTOR_OF(d->entries)->items[2 * cvm_fixnum_of(*place)];
        if (k == CVM_NONE)
            continue;
        if (k == *key || (!is_api_key(vm, k) && !is_api_key(vm, *key))) {
            if (same_key(k, *key))
                return place;
            continue;
        }
        if (hash_key(vm, k) != hash)
            continue;
        same = vm->ops.same_key(vm, k, *key);
        d = CVM_DICT_OF(*dict);
        if (same < 0)
            return NULL;
        if (d->added != added || d->count != count) {
            if (d->index == CVM_NIL) {      /* it was emptied */
                cvm_fail(vm, "a dict was changed while it was searched");
                return NULL;
            }
            at = hash - 1u;
        } else if (same > 0) {
            return &CVM_VECTOR_OF(d->index)->items[at & (CVM_VECTOR_OF(d->index)->length - 1)];
        }
    }
}

cvm_value *cvm_dict_place(cvm *vm, cvm_value dict, cvm_value key)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_dict = cvm_root(vm, dict), *r_key = cvm_root(vm, key), *place = NULL;

    if (prepare(vm, r_key) && CVM_DICT_OF(*r_dict)->count > 0)
        place = find_place(vm, r_dict, r_key);
    if (place != NULL)
        place = *place == CVM_NIL ? NULL
              : &CVM_VECTOR_OF(CVM_DICT_OF(*r_dict)->entries)->items[2 * cvm_fixnum_of(*place) + 1];
    cvm_close(vm, scope);
    return place;
}

cvm_value cvm_dict_get(cvm *vm, cvm_value dict, cvm_value key)
{
    const cvm_value *place = cvm_dict_place(vm, dict, key);

    return place != NULL ? cvm_plain(*place) : CVM_NONE;
}

/* Enter a key that is not in the index. */
static void enter(cvm *vm, const cvm_dict *d, size_t entry)
{
    cvm_vector *index = CVM_VECTOR_OF(d->index);
    size_t at = hash_key(vm, CVM_VECTOR_OF(d->entries)->items[2 * entry]) & (index->length - 1);

    while (index->items[at] != CVM_NIL)
        at = (at + 1) & (index->length - 1);
    index->items[at] = cvm_fixnum((intptr_t)entry);
}

/* New entries and a new index with room for twice what is there, without the
   traces of removed keys. */
static int rebuild(cvm *vm, cvm_value *dict)
{
    size_t scope = cvm_open(vm);
    size_t capacity = 8;
    cvm_value *entries, *index;
    cvm_value *from;
    cvm_dict *d;
    size_t i, n = 0;

    while (capacity < 2 * CVM_DICT_OF(*dict)->count)
        capacity *= 2;
    entries = cvm_root(vm, cvm_vector_new(vm, 2 * capacity, CVM_NONE));
    index = cvm_root(vm, *entries == CVM_NONE ? CVM_NONE
                                              : cvm_vector_new(vm, 2 * capacity, CVM_NIL));
    if (*index == CVM_NONE) {
        cvm_close(vm, scope);
        return 0;
    }
    d = CVM_DICT_OF(*dict);
    from = d->used > 0 ? CVM_VECTOR_OF(d->entries)->items : NULL;
    for (i = 0; i < d->used; i++) {
        cvm_value *to = &CVM_VECTOR_OF(*entries)->items[2 * n];

        if (from[2 * i] == CVM_NONE)
            continue;
        cvm_store(vm, *entries, &to[0], from[2 * i]);
        cvm_store(vm, *entries, &to[1], from[2 * i + 1]);
        n++;
    }
    cvm_store(vm, *dict, &d->entries, *entries);
    cvm_store(vm, *dict, &d->index, *index);
    d->used = d->count;
    for (i = 0; i < n; i++)
        enter(vm, d, i);
    cvm_close(vm, scope);
    return 1;
}

int cvm_dict_set(cvm *vm, cvm_value dict, cvm_value key, cvm_value v)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_dict = cvm_root(vm, dict);
    cvm_value *r_key = cvm_root(vm, key);
    cvm_value *r_v = cvm_root(vm, v);
    cvm_dict *d;
    cvm_value *place = NULL, *items;
    size_t entry;
    int ok = prepare(vm, r_key);

    if (ok && CVM_DICT_OF(*r_dict)->index != CVM_NIL)
        ok = (place = find_place(vm, r_dict, r_key)) != NULL;
    if (ok && (place == NULL || (*place == CVM_NIL && 2 * CVM_DICT_OF(*r_dict)->used
                                 >= CVM_VECTOR_OF(CVM_DICT_OF(*r_dict)->entries)->length))) {
        ok = rebuild(vm, r_dict);
        place = NULL;
    }
    if (ok) {
        d = CVM_DICT_OF(*r_dict);
        items = CVM_VECTOR_OF(d->entries)->items;
        if (place != NULL && *place != CVM_NIL) {
            entry = (size_t)cvm_fixnum_of(*place);
        } else {
            entry = d->used;
            cvm_store(vm, d->entries, &items[2 * entry], *r_key);
            enter(vm, d, entry);
            d->used++;
            d->count++;
            d->added++;
        }
        cvm_store(vm, d->entries, &items[2 * entry + 1], *r_v);
    }
    cvm_close(vm, scope);
    return ok;
}

/* The index keeps its entry, so that searches go on past it. */
int cvm_dict_remove(cvm *vm, cvm_value dict, cvm_value key)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_dict = cvm_root(vm, dict), *r_key = cvm_root(vm, key);
    const cvm_value *place = prepare(vm, r_key) && CVM_DICT_OF(*r_dict)->count > 0 ? find_place(vm, r_dict, r_key) : NULL;
    cvm_dict *d = CVM_DICT_OF(*r_dict);
    cvm_value *entry;

    cvm_close(vm, scope);
    if (place == NULL || *place == CVM_NIL)
        return 0;
    entry = &CVM_VECTOR_OF(d->entries)->items[2 * cvm_fixnum_of(*place)];
    cvm_store(vm, d->entries, &entry[0], CVM_NONE);
    cvm_store(vm, d->entries, &entry[1], CVM_NONE);
    d->count--;
    return 1;
}
