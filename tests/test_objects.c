/* Objects: rrc_new, rrc_new_var, rrc_del, and the ways in which memory goes. */

#include "knots.h"

#include <string.h>

typedef struct text {
    OB_HEAD
    size_t length;
    char bytes[1];
} text;

static const rrc_type Text = { .tp_name = "Text", .tp_basicsize = sizeof(text), .tp_itemsize = 1 };
static const rrc_type Wide = { .tp_name = "Wide", .tp_basicsize = sizeof(node), .tp_itemsize = 24 };

static int all_zero(const void *memory, size_t size)
{
    const char *bytes = (const char *)memory;

    while (size > 0 && bytes[size - 1] == 0)
        size--;
    return size == 0;
}

static void a_new_object_is_zeroed_but_for_its_head(void)
{
    host *h = host_open(NULL);
    size_t bytes = h->live_bytes;
    rrc_object *ob = rrc_new(h->heap, &Node);

    check(ob != NULL);
    check_int(REFCNT(ob), 1);
    check_ptr(RRC_LINK(ob), NULL);
    check_ptr(RRC_TYPE(ob), &Node);
    check(all_zero(NODE(ob)->ref, sizeof NODE(ob)->ref));
    check_int(NODE(ob)->tag, 0);
    check_int(h->live_bytes, bytes + sizeof(node) + OB_PREFIX + OB_HEADS);
    check_int((uintptr_t)ob % sizeof(void *), 0);
    check_int(host_stats(h).objects, 1);
    rrc_decref(h->heap, ob);
    check_int(h->live_bytes, bytes);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* The allocator's hook checks each size that it is told when memory goes. */
static void a_var_object_has_room_for_its_items(void)
{
    static const size_t counts[] = { 0, 1, 2, 7, 8, 100, 10000 };
    host *h = host_open(NULL);
    size_t i, bytes = h->live_bytes;

    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        rrc_object *ob = rrc_new_var(h->heap, &Text, counts[i]);
        rrc_object *wide = rrc_new_var(h->heap, &Wide, counts[i]);

        check(ob != NULL && wide != NULL);
        check_int(REFCNT(ob), 1);
        check_ptr(RRC_TYPE(wide), &Wide);
        check(h->live_bytes >= bytes + sizeof(text) + sizeof(node) + 25 * counts[i] + 2 * OB_PREFIX);
        check(all_zero((char *)ob + offsetof(text, length), sizeof(text) + counts[i] - offsetof(text, length)));
        check(all_zero((char *)wide + offsetof(node, ref), sizeof(node) + 24 * counts[i] - offsetof(node, ref)));
        check_int((uintptr_t)ob % sizeof(void *), 0);
        memset(((text *)(void *)ob)->bytes, 'x', counts[i]);
        if (i % 2 == 0)
            rrc_decref(h->heap, ob);
        else
            rrc_del(h->heap, ob);
        rrc_decref(h->heap, wide);
        check_int(h->live_bytes, bytes);
    }
    host_close(h);
}

/* Objects with and without items are linked, moved and freed alike. */
static void var_objects_are_linked_like_others(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = rrc_new_var(h->heap, &Text, 33);

    ob_link(h, P, id, ob, LIGHT_OB);
    rrc_decref(h->heap, ob);
    host_minor(h);
    host_major(h);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    host_unroot(h, id);
    host_major(h);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* The smallest object, and types with items without any. */
static void nothing_but_a_head(void)
{
    static const rrc_type head = { .tp_name = "Head", .tp_basicsize = sizeof(struct { OB_HEAD }) };
    host *h = host_open(NULL);
    size_t bytes = h->live_bytes;

    rrc_decref(h->heap, ob_new(h, &head));
    rrc_decref(h->heap, ob_new(h, &Text));
    rrc_decref(h->heap, ob_new(h, &Wide));
    rrc_decref(h->heap, rrc_new_var(h->heap, &head, 0));
    check_int(h->live_bytes, bytes);
    host_close(h);
}

static void bad_types_are_refused(void)
{
    static const rrc_type empty = { .tp_name = "Empty" };
    host *h = host_open(NULL);
    size_t bytes = h->live_bytes;

    check_ptr(rrc_new(h->heap, NULL), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_new");
    check_ptr(rrc_new_var(h->heap, NULL, 1), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_new_var");
    check_ptr(rrc_new(h->heap, &empty), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_new");
    check_ptr(rrc_new_var(h->heap, &Node, 1), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_new_var");
    check_int(h->live_bytes, bytes);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* More bytes than there are numbers: lack of memory. */
static void impossible_sizes(void)
{
    static const rrc_type huge_items = { .tp_name = "HugeItems", .tp_basicsize = sizeof(node), .tp_itemsize = SIZE_MAX };
    host *h = host_open(NULL);
    size_t allocations = h->calls.allocate, releases = h->calls.release;

    check_ptr(rrc_new_var(h->heap, &Text, SIZE_MAX), NULL);
    check_ptr(rrc_new_var(h->heap, &Text, SIZE_MAX - sizeof(text)), NULL);
    check_ptr(rrc_new_var(h->heap, &Wide, SIZE_MAX / 24), NULL);
    check_ptr(rrc_new_var(h->heap, &huge_items, 1), NULL);
    check_ptr(rrc_new_var(h->heap, &Wide, SIZE_MAX / 24 + 2), NULL);
    check_int(h->calls.allocate, allocations);
    check_int(h->calls.release, releases);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

static void deleting(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_given(h, P, id, FULL);

    rrc_del(h->heap, NULL);
    host_expect_silence(h);
    rrc_del(h->heap, ob);
    check_ptr(host_expect_log(h, RRC_ELINKED, "rrc_del")->ob, ob);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    check_int(REFCNT(ob), BIAS);
    check_int(host_stats(h).objects, 1);
    host_close(h);
}

/* ---- who frees ---- */

static int frees;

static void count_free(rrc_heap *heap, void *self)
{
    frees++;
    rrc_del(heap, self);
}

static void count_static_free(rrc_heap *heap, void *self)
{
    (void)heap;
    (void)self;
    frees++;
}

static const rrc_type OnlyFree = {
    .tp_name = "OnlyFree", .tp_basicsize = sizeof(node), .tp_free = count_free,
};
static const rrc_type Foreign = {
    .tp_name = "Foreign", .tp_free = count_static_free,
};

static void a_type_without_slots(void)
{
    host *h = host_open(NULL);

    rrc_decref(h->heap, ob_new(h, &Plain));
    check_int(host_stats(h).objects, 0);
    frees = 0;
    rrc_decref(h->heap, ob_new(h, &OnlyFree));
    check_int(frees, 1);
    host_close(h);
}

/* The slots are used by the queue and by the death of light obs just as by decref. */
static void tp_free_is_called_wherever_memory_goes(void)
{
    host *h = host_open(NULL);
    rrc_object *full = ob_new(h, &OnlyFree), *light = ob_new(h, &OnlyFree);

    frees = 0;
    ob_link(h, O, host_new(h, HOST_YOUNG), full, FULL);
    ob_link(h, P, host_new(h, HOST_YOUNG), light, LIGHT_OB);
    rrc_decref(h->heap, full);
    rrc_decref(h->heap, light);
    host_minor(h);
    check_int(frees, 1);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(frees, 2);
    host_close(h);
}

/* An object that rrc_new did not make: its memory is its type's business. */
static void objects_of_somebody_else(void)
{
    union {
        void *align;
        char bytes[128];
    } memory[2];
    host *h = host_open(NULL);
    int i;

    frees = 0;
    memset(memory, 0, sizeof memory);
    for (i = 0; i < 2; i++) {
        rrc_object *ob = (rrc_object *)(void *)(memory[i].bytes + 32);

        RRC_TYPE(ob) = &Foreign;
        REFCNT(ob) = 1;
        ob_link(h, i == 0 ? P : O, host_new(h, HOST_YOUNG), ob, i == 0 ? LIGHT_OB : FULL);
        rrc_decref(h->heap, ob);
    }
    check_int(host_stats(h).objects, 0);
    host_major(h);
    check_int(frees, 1);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(frees, 2);
    host_close(h);
}

/* The search counts them as held by each reference, as it has no words in front of them. */
static void objects_of_somebody_else_in_a_cycle(void)
{
    union {
        void *align;
        char bytes[128];
    } memory;
    int wrong;

    for (wrong = 0; wrong < 2; wrong++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        rrc_object *ring = knot_ring(h, &Knot, 2, NULL), *ob = (rrc_object *)(void *)(memory.bytes + 32);
        size_t id = host_new(h, HOST_OLD);

        unit_context("wrong %d", wrong);
        frees = 0;
        memset(&memory, 0, sizeof memory);
        RRC_TYPE(ob) = &Foreign;
        REFCNT(ob) = 1;
        ob_link(h, P, id, ob, FULL);
        KNOT(ring)->ref[1] = ob;
        rrc_incref(h->heap, ring);
        if (!HOST_DEBUG)
            RRC_TYPE(ob) = NULL;            /* nothing is known of it then */
        host_major(h);
        RRC_TYPE(ob) = &Foreign;
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        rrc_decref(h->heap, ring);
        if (wrong) {                        /* a reference that is not there: no verdict in this collection */
            rrc_object *liar = knot_new(h, &Knot, 3);

            KNOT(liar)->ref[0] = KNOT(liar)->ref[1] = KNOT(liar)->ref[2] = liar;
            host_major(h);
            host_expect_log(h, RRC_ETRAVERSE, NULL);
            KNOT(liar)->ref[0] = KNOT(liar)->ref[1] = KNOT(liar)->ref[2] = NULL;
            rrc_decref(h->heap, liar);
            check_events(h, "d3");
        }
        host_major(h);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));     /* although only garbage refers to ob */
        rrc_run_pending(h->heap, 0);
        check_int(h->deallocs, 2 + wrong);
        check_int(frees, 0);
        host_major(h);
        rrc_run_pending(h->heap, 0);
        check_int(frees, 1);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* ... or is given back to the allocator hook, when the type has no size. */
static void objects_of_the_allocator(void)
{
    host *h = host_open(NULL);
    rrc_object *counted = ob_new(h, &Node);
    rrc_type unsized = { .tp_name = "Unsized", .tp_flags = RRC_TPFLAGS_HEAPTYPE };
    int i;

    h->may_be_unsized = 1;
    for (i = 0; i < 6; i++) {           /* (the size of items does not matter) */
        char *memory = (char *)host_realloc(h, NULL, 0, OB_PREFIX + sizeof(node));
        rrc_object *ob = (rrc_object *)(void *)(memory + OB_PREFIX);

        memset(memory, 0, OB_PREFIX + sizeof(node));
        unsized.tp_itemsize = i < 3 ? 0 : 8;
        RRC_TYPE(ob) = &unsized;        /* which rrc_new took no reference to */
        REFCNT(ob) = 1;
        if (i % 3 > 0)
            ob_link(h, i % 3 == 1 ? P : O, host_new(h, HOST_YOUNG), ob, i % 3 == 1 ? LIGHT_OB : FULL);
        rrc_decref(h->heap, ob);
    }
    host_minor(h);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(host_stats(h).objects, 1);
    if (!HOST_FRONT)
        check_int(REFCNT((rrc_object *)(void *)&unsized), 0);
    rrc_decref(h->heap, counted);
    host_close(h);
}

static void clear_sets_the_field_first(void)
{
    host *h = host_open(NULL);
    rrc_object *owner = ob_new(h, &Node);

    RRC_CLEAR(h->heap, NODE(owner)->ref[0]);
    NODE(owner)->ref[0] = ob_new(h, &Node);
    RRC_CLEAR(h->heap, NODE(owner)->ref[0]);
    check_ptr(NODE(owner)->ref[0], NULL);
    check_int(h->deallocs, 1);
    rrc_decref(h->heap, owner);
    host_close(h);
}

UNIT_GROUP(objects,
    UNIT(a_new_object_is_zeroed_but_for_its_head),
    UNIT(a_var_object_has_room_for_its_items),
    UNIT(var_objects_are_linked_like_others),
    UNIT(nothing_but_a_head),
    UNIT(bad_types_are_refused),
    UNIT(impossible_sizes),
    UNIT(deleting),
    UNIT(a_type_without_slots),
    UNIT(tp_free_is_called_wherever_memory_goes),
    UNIT(objects_of_somebody_else),
    UNIT(objects_of_somebody_else_in_a_cycle),
    UNIT(objects_of_the_allocator),
    UNIT(clear_sets_the_field_first));
