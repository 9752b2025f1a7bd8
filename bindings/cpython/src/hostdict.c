/* hostdict.c - dicts of the host, which C sees as Python's: see dict.c.
 *
 * Keys are compared as by cvm_equal, but what has items by identity: these can change. Those that are
 * objects of C, and tuples, are compared as C compares them. */
#include "internal.h"

void cvm_dict_define(cvm *vm)
{
    vm->heap.kinds[CVM_DICT] = (cvm_kind){ "dict", offsetof(cvm_dict, entries), 2 };
}

cvm_value cvm_dict_new(cvm *vm)
{
    cvm_dict *d = (cvm_dict *)cvm_object_new(vm, CVM_DICT, sizeof *d);
    if (d != NULL)
        cvm_heap_init(&d->entries, d->index = CVM_NIL);
    return (cvm_value)d;
}

static int same_key(cvm *vm, cvm_value a, cvm_value b)
{
    if (a == b)
        return 1;
    if ((cvm_is_number(a) && cvm_is_number(b)) || (cvm_is(a, CVM_STRING) && cvm_is(b, CVM_STRING)))
        return cvm_equal(vm, a, b);      /* which calls nothing for these */
    return 0;
}

static uint32_t hash_number(double number)
{
    unsigned char bytes[sizeof(double)];
    if (number >= 0 && number <= 0)
        number = 0;                 /* -0.0 is equal to 0.0 */
    memcpy(bytes, &number, sizeof bytes);
    return cvm_hash_bytes((const char *)bytes, sizeof bytes);
}

/* A key whose hash and equality C knows. */
static int is_api_key(cvm_value key)
{
    return cvm_is_object(key)
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
    if (!is_api_key(*key) || cvm_object_of(*key)->hash != 0)
        return 1;
    hash = py_dict_hash(vm, *key, &failed);
    if (!failed)
        cvm_object_of(*key)->hash = hash;
    return !failed;
}

/* The place in the index of a string that is a key itself. NULL: it is none, but it may be equal to one. */
static cvm_value *find_itself(const cvm_dict *d, cvm_value key)
{
    uint32_t hash = cvm_is(key, CVM_STRING) ? cvm_object_of(key)->hash : 0;
    size_t at = hash;
    if (hash == 0 || d->index == CVM_NIL)
        return NULL;
    for (;; at++) {
        cvm_vector *index = CVM_VECTOR_OF(d->index);
        cvm_value *place = &index->items[at & (index->length - 1)];
        if (*place == CVM_NIL)
            return NULL;
        if (CVM_VECTOR_OF(d->entries)->items[2 * cvm_fixnum_of(*place)] == key)
            return place;
    }
}

/* The place in the index for the key, or where it would be entered. Dict and key are in rooted
   slots, as comparing may run any code: if the dict has changed meanwhile, the search begins again.
   NULL after a failure. */
static cvm_value *find_place(cvm *vm, const cvm_value *dict, const cvm_value *key)
{
    const cvm_dict *d = CVM_DICT_OF(*dict);
    uint32_t hash = hash_key(vm, *key);
    size_t at = hash;
    cvm_value *itself = find_itself(d, *key);
    if (itself != NULL)
        return itself;
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
        if (k == *key || (!is_api_key(k) && !is_api_key(*key))) {
            if (same_key(vm, k, *key))
                return place;
            continue;
        }
        if (hash_key(vm, k) != hash)
            continue;
        same = py_dict_same(vm, k, *key);
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

cvm_value *cvm_dict_place_itself(cvm_value dict, cvm_value key)
{
    const cvm_value *place = find_itself(CVM_DICT_OF(dict), key);
    return place != NULL ? &CVM_VECTOR_OF(CVM_DICT_OF(dict)->entries)->items[2 * cvm_fixnum_of(*place) + 1] : NULL;
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
        if (d->watched)
            py_forget_lookups(vm);
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
    if (d->watched)
        py_forget_lookups(vm);
    return 1;
}

/* ---- for the rest of the VM ---------------------------------------------- */

void cvm_dict_print(cvm *vm, cvm_value v, int quoted, FILE *out)
{
    const cvm_dict *dict = CVM_DICT_OF(v);
    size_t i;
    const char *between = "";
    putc('{', out);
    for (i = 0; i < dict->used && !vm->error.failed && !ferror(out); i++) {
        cvm_value *entry = &CVM_VECTOR_OF(dict->entries)->items[2 * i];
        if (entry[0] == CVM_NONE)
            continue;
        fputs(between, out);
        between = ", ";
        cvm_print(vm, entry[0], quoted, out);
        putc(' ', out);
        cvm_print(vm, entry[1], quoted, out);
    }
    putc('}', out);
}

/* A dict, with its own vectors, is one object. */
void cvm_dict_edges(cvm_value v, rrc_edgeproc visit, void *arg)
{
    const cvm_dict *dict = CVM_DICT_OF(v);
    const cvm_value *entry = dict->entries == CVM_NIL ? NULL : CVM_VECTOR_OF(dict->entries)->items;
    size_t i;
    for (i = 0; i < dict->used; i++, entry += 2) {
        char name[80];
        cvm_value key = cvm_is(entry[0], CVM_SYMBOL) ? CVM_VARIABLE_OF(entry[0])->name : entry[0];
        if (key == CVM_NONE)
            continue;
        if (cvm_is_object(entry[0]))
            visit(arg, cvm_object_of(entry[0]), "key", i);
        if (cvm_is(key, CVM_STRING))
            snprintf(name, sizeof name, ".%.60s", cvm_bytes(key));
        if (cvm_is_object(entry[1]))
            visit(arg, cvm_object_of(entry[1]), cvm_is(key, CVM_STRING) ? name : NULL, i);
    }
}

/* ---- seen from the language ------------------------------------------------ */

CVM_BUILTIN_BODY(b_dict_p) { return cvm_boolean(cvm_is(args[0], CVM_DICT)); }

/* (dict key value ...) */
CVM_BUILTIN_BODY(b_dict)
{
    cvm_value *d = cvm_root(vm, CVM_NIL);
    size_t i;
    if (n % 2 != 0)
        return cvm_fail(vm, "dict: the last key has no value");
    *d = cvm_dict_new(vm);
    for (i = 0; i < n && *d != CVM_NONE; i += 2)
        if (!cvm_dict_set(vm, *d, args[i], args[i + 1]))
            return CVM_NONE;
    return *d;
}

/* (dict-get d key) or (dict-get d key default) */
CVM_BUILTIN_BODY(b_dict_get)
{
    cvm_value v = cvm_dict_get(vm, args[0], args[1]);
    return v != CVM_NONE || vm->error.failed ? v : n > 2 ? args[2] : CVM_NIL;
}

CVM_BUILTIN_BODY(b_dict_set)
{
    return cvm_dict_set(vm, args[0], args[1], args[2]) ? args[2] : CVM_NONE;
}

CVM_BUILTIN_BODY(b_dict_has_p)
{
    int found = cvm_dict_place(vm, args[0], args[1]) != NULL;
    return vm->error.failed ? CVM_NONE : cvm_boolean(found);
}

CVM_BUILTIN_BODY(b_dict_remove)
{
    int found = cvm_dict_remove(vm, args[0], args[1]);
    return vm->error.failed ? CVM_NONE : cvm_boolean(found);
}

CVM_BUILTIN_BODY(b_dict_count) { return cvm_size(vm, CVM_DICT_OF(args[0])->count); }

/* Every other item of the entries: the keys (0) or the values (1), in order. */
static cvm_value dict_column(cvm *vm, cvm_value *args, size_t column)
{
    cvm_value *list = cvm_root(vm, CVM_NIL);
    size_t i;
    for (i = CVM_DICT_OF(args[0])->used; i > 0 && *list != CVM_NONE; i--) {
        const cvm_value *items = CVM_VECTOR_OF(CVM_DICT_OF(args[0])->entries)->items;
        if (items[2 * (i - 1)] != CVM_NONE)
            *list = cvm_cons(vm, cvm_plain(items[2 * (i - 1) + column]), *list);
    }
    return *list;
}

CVM_BUILTIN_BODY(b_dict_keys) { return dict_column(vm, args, 0); }
CVM_BUILTIN_BODY(b_dict_values) { return dict_column(vm, args, 1); }

const cvm_builtin_def py_dict_procedures[] = {
    { "dict", ".*", b_dict },               { "dict?", ".", b_dict_p },
    { "dict-get", "D.?.", b_dict_get },     { "dict-set!", "D..", b_dict_set },
    { "dict-has?", "D.", b_dict_has_p },    { "dict-remove!", "D.", b_dict_remove },
    { "dict-count", "D", b_dict_count },    { "dict-keys", "D", b_dict_keys },
    { "dict-values", "D", b_dict_values },
    { NULL, NULL, NULL }
};
