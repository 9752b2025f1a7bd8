/* borrow.c - where borrowed references come from: debug builds only.
 *
 * A borrowed reference is good as long as what it was borrowed from, its origin, holds
 * the object: a slot of a container whose object lives, or a call scope that has not
 * ended. Each function that gives one notes the origin here, and each function that is
 * given an object on which C owns no reference asks here whether one of its origins still
 * holds it. Where none does, the reference is stale, and that is an error at once, even
 * if the memory is still good by chance.
 *
 * A record outlives its object, so that a pointer into freed memory is known without a
 * look at that: the header's allocator hook tells when an object goes and when its
 * address is used again.
 *
 * What C owns a reference to passes with a look at its count. (Whose reference that is, the
 * count does not say: so a mistake is missed as long as something else in C owns the object.)
 */
#include "impl.h"

#ifdef RRC_DEBUG

#include <stdlib.h>
#include <string.h>

typedef struct record record;

typedef struct origin {
    record *container;              /* NULL: a call scope */
    size_t life;                    /* of the container, when this was noted */
    size_t hint;                    /* where in the container it was */
    const char *function;
    struct origin *next;
} origin;

struct record {
    rrc_object *ob;                 /* the address: the object may be gone */
    size_t life;                    /* how many objects have been there: even while there is none */
    origin *origins;
    record *next;                   /* in its bucket */
    char type_name[40];
};

enum { LAYOUTS = 4 };               /* an object begins so many bytes behind its memory block */

struct cxi_borrows {
    record **buckets;
    size_t count, capacity;         /* a power of two */
    size_t layouts[LAYOUTS];
    int layouts_known;
    char *last_block;               /* what the hook gave last */
};

/* ---- records ------------------------------------------------------------- */

static record **bucket(const struct cxi_borrows *b, const void *ob)
{
    return &b->buckets[((uintptr_t)ob >> 4) * (uintptr_t)2654435761u & (b->capacity - 1)];
}

static record *find(const struct cxi_borrows *b, const void *ob)
{
    record *r = *bucket(b, ob);

    while (r != NULL && r->ob != ob)
        r = r->next;
    return r;
}

static int grow(struct cxi_borrows *b)
{
    struct cxi_borrows bigger = *b;
    size_t i;

    bigger.capacity *= 2;
    bigger.buckets = calloc(bigger.capacity, sizeof *bigger.buckets);
    if (bigger.buckets == NULL)
        return 0;
    for (i = 0; i < b->capacity; i++)
        while (b->buckets[i] != NULL) {
            record *r = b->buckets[i], **to = bucket(&bigger, r->ob);

            b->buckets[i] = r->next;
            r->next = *to;
            *to = r;
        }
    free(b->buckets);
    *b = bigger;
    return 1;
}

static record *find_or_add(struct cxi_borrows *b, rrc_object *ob)
{
    record *r = find(b, ob), **to;

    if (r != NULL)
        return r;
    if (b->count >= b->capacity && !grow(b))
        return NULL;
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->ob = ob;
    r->life = 1;
    snprintf(r->type_name, sizeof r->type_name, "%s", RRC_TYPE(ob)->tp_name);
    to = bucket(b, ob);
    r->next = *to;
    *to = r;
    b->count++;
    return r;
}

static void drop_origins(record *r)
{
    while (r->origins != NULL) {
        origin *o = r->origins;

        r->origins = o->next;
        free(o);
    }
}

/* ---- the life of objects -------------------------------------------------- */

static int is_alive(const record *r)
{
    return r->life % 2 != 0;
}

/* What is known of the object in the block, which has just come or is about to go. */
static void note_block(struct cxi_borrows *b, char *block, int comes)
{
    int i;

    for (i = 0; i < b->layouts_known; i++) {
        record *r = find(b, block + b->layouts[i]);

        if (r != NULL && is_alive(r) != comes)
            r->life++;
        if (r != NULL && comes) {
            drop_origins(r);
            r->type_name[0] = '\0';
        }
    }
}

/* The header's allocator hook. Frees inside collections, too. */
void *cvm_debug_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    struct cxi_borrows *b = CX_STATE((cvm *)userdata)->borrows;
    void *result;

    (void)old_size;
    if (b != NULL && ptr != NULL)
        note_block(b, ptr, 0);
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    result = realloc(ptr, new_size);
    if (b != NULL && result != NULL) {
        note_block(b, result, 1);
        b->last_block = result;
    }
    return result;
}

/* One object of each layout tells where objects are in their blocks. */
static int learn_layouts(cvm *vm, struct cxi_borrows *b)
{
    static const cx_builtin samples[LAYOUTS] = { CX_DICT, CX_STR, CX_LIST, CX_TUPLE };
    int i;

    for (i = 0; i < LAYOUTS; i++) {
        rrc_object *ob = cxi_alloc(vm, samples[i], samples[i] == CX_STR);

        if (ob == NULL)
            return 0;
        b->layouts[i] = (size_t)((char *)ob - b->last_block);
        rrc_decref(vm->rrc, ob);
    }
    b->layouts_known = LAYOUTS;
    return 1;
}

int cxi_borrows_open(cvm *vm)
{
    struct cxi_borrows *b = calloc(1, sizeof *b);

    if (b == NULL)
        return 0;
    b->capacity = 64;
    b->buckets = calloc(b->capacity, sizeof *b->buckets);
    CX_STATE(vm)->borrows = b;
    return b->buckets != NULL && learn_layouts(vm, b);
}

void cxi_borrows_free(cvm *vm)
{
    struct cxi_borrows *b = CX_STATE(vm)->borrows;
    size_t i;

    if (b == NULL)
        return;
    for (i = 0; b->buckets != NULL && i < b->capacity; i++)
        while (b->buckets[i] != NULL) {
            record *r = b->buckets[i];

            b->buckets[i] = r->next;
            drop_origins(r);
            free(r);
        }
    free(b->buckets);
    free(b);
    CX_STATE(vm)->borrows = NULL;
}

/* ---- does it still hold? --------------------------------------------------- */

static int array_holds(rrc_object *const *items, size_t n, size_t hint, const rrc_object *ob)
{
    size_t i;

    if (hint < n && items[hint] == ob)
        return 1;
    for (i = 0; i < n; i++)
        if (items[i] == ob)
            return 1;
    return 0;
}

static int dict_holds(const cvm_dict *d, size_t hint, cvm_value p)
{
    const cvm_value *items = d->used > 0 ? CVM_VECTOR_OF(d->entries)->items : NULL;
    size_t i;

    if (p == CVM_NONE)
        return 0;
    if (hint < 2 * d->used && items[hint] == p)
        return 1;
    for (i = 0; i < 2 * d->used; i++)
        if (items[i] == p)
            return 1;
    return 0;
}

/* Only for an object that lives, and on which C owns no reference: a call scope would. */
static int still_holds(cvm *vm, const origin *o, rrc_object *ob)
{
    rrc_object *c;

    if (o->container == NULL || o->container->life != o->life)
        return 0;
    c = o->container->ob;
    if (cxi_is(vm, c, CX_TUPLE))
        return array_holds(((cxi_tuple *)c)->items, ((cxi_tuple *)c)->size, o->hint, ob);
    if (cxi_is(vm, c, CX_LIST))
        return array_holds(((cxi_list *)c)->items, ((cxi_list *)c)->size, o->hint, ob);
    return cxi_is(vm, c, CX_DICT) && !cvm_view_is_gone(vm, c)
        && dict_holds(CVM_DICT_OF(cxi_value_of(vm, c)), o->hint, (cvm_value)rrc_to_obj(vm->rrc, ob));
}

/* ---- noting ---------------------------------------------------------------- */

static int is_known(const record *r, const record *container, size_t hint, const char *function)
{
    const origin *o;

    for (o = r->origins; o != NULL; o = o->next)
        if (o->container == container && (container == NULL || o->life == container->life)
            && o->hint == hint && o->function == function)
            return 1;
    return 0;
}

int cxi_borrowed(cvm *vm, rrc_object *ob, rrc_object *container, size_t hint, const char *function)
{
    struct cxi_borrows *b = CX_STATE(vm)->borrows;
    record *r, *c = NULL;
    origin *o;

    if (RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        return 1;
    r = find_or_add(b, ob);
    if (container != NULL)
        c = find_or_add(b, container);
    if (r == NULL || (container != NULL && c == NULL)) {
        cx_err_no_memory(vm);
        return 0;
    }
    snprintf(r->type_name, sizeof r->type_name, "%s", RRC_TYPE(ob)->tp_name);
    if (c != NULL)
        snprintf(c->type_name, sizeof c->type_name, "%s", RRC_TYPE(container)->tp_name);
    if (is_known(r, c, hint, function))
        return 1;
    o = malloc(sizeof *o);
    if (o == NULL) {
        cx_err_no_memory(vm);
        return 0;
    }
    o->container = c;
    o->life = c != NULL ? c->life : 0;
    o->hint = hint;
    o->function = function;
    o->next = r->origins;
    r->origins = o;
    return 1;
}

int cxi_borrowed_all(cvm *vm, rrc_object *const *items, size_t n, rrc_object *container,
                     const char *function)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (items[i] != NULL && !cxi_borrowed(vm, items[i], container, i, function))
            return 0;
    return 1;
}

/* ---- asking ----------------------------------------------------------------- */

static void complain(cvm *vm, const char *function, const char *type_name, const record *r)
{
    const origin *o = r != NULL ? r->origins : NULL;    /* the latest */

    if (o == NULL)
        cx_err_set(vm, "%s: stale reference to a %s: C owns no reference to it, and it was not borrowed",
                   function, type_name);
    else if (o->container == NULL)
        cx_err_set(vm, "%s: stale reference to a %s: borrowed by %s from a call scope, which has ended",
                   function, type_name, o->function);
    else
        cx_err_set(vm, "%s: stale reference to a %s: borrowed by %s from a %s, which %s", function, type_name,
                   o->function, o->container->type_name,
                   o->container->life != o->life ? "was freed" : "does not hold it any more");
}

int cxi_usable(cvm *vm, rrc_object *ob, const char *function)
{
    const record *r;
    const origin *o;
    intptr_t count;

    if (ob == NULL) {
        if (!vm->failed)
            cx_err_set(vm, "%s: an argument is NULL", function);
        return 0;
    }
    r = CX_STATE(vm)->borrows != NULL ? find(CX_STATE(vm)->borrows, ob) : NULL;
    if (r != NULL && !is_alive(r)) {
        complain(vm, function, r->type_name, r);
        return 0;
    }
    count = RRC_REFCNT(ob);
    if (vm->closing || count >= RRC_REFCNT_IMMORTAL
        || (count != RRC_REFCNT_FROM_PYPY && count != RRC_REFCNT_FROM_PYPY_LIGHT))
        return 1;
    for (o = r != NULL ? r->origins : NULL; o != NULL; o = o->next)
        if (still_holds(vm, o, ob))
            return 1;
    complain(vm, function, RRC_TYPE(ob)->tp_name, r);
    return 0;
}

#else

typedef int cxi_no_borrows;             /* C wants at least one declaration */

#endif
