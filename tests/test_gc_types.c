/* Heap types, which their instances own, and tp_members. */

#include "knots.h"

#include <stdio.h>
#include <string.h>

/* ---- heap types ---- */

/* The adapted layout's head is another one; a type's head must have room for it. */
#define HEAP_TYPES_FIT (!HOST_FRONT || sizeof(void *) == 8)

typedef struct heap_type {
    rrc_type is;
    rrc_object *owned[2];
    int tag;
} heap_type;

#define HEAP_TYPE(ob) ((heap_type *)(void *)(ob))
#define OBJECT(type) ((rrc_object *)(uintptr_t)(type))

static int heap_type_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(HEAP_TYPE(self)->owned[0]);
    RRC_VISIT(HEAP_TYPE(self)->owned[1]);
    return 0;
}

static int heap_type_clear(rrc_heap *heap, rrc_object *self)
{
    host_event(HOST(heap), 'c', HEAP_TYPE(self)->tag);
    RRC_CLEAR(heap, HEAP_TYPE(self)->owned[0]);
    RRC_CLEAR(heap, HEAP_TYPE(self)->owned[1]);
    return 0;
}

static void heap_type_dealloc(rrc_heap *heap, rrc_object *self)
{
    host_event(HOST(heap), 'd', HEAP_TYPE(self)->tag);
    RRC_CLEAR(heap, HEAP_TYPE(self)->owned[0]);
    RRC_CLEAR(heap, HEAP_TYPE(self)->owned[1]);
    rrc_gc_del(heap, self);
}

static const rrc_type TypeType = {
    .tp_name = "type", .tp_basicsize = sizeof(heap_type), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = heap_type_dealloc, .tp_traverse = heap_type_traverse, .tp_clear = heap_type_clear,
};

/* As CPython's must, since 3.9: the traverse of a heap type's instances visits the type. */
static int traverse_with_type(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(OBJECT(RRC_TYPE(self)));
    return knot_traverse(self, visit, arg);
}

/* A type made at run time, tagged 9, held once. */
static rrc_object *new_type(host *h, const rrc_type *like, int tracked)
{
    rrc_object *ob = rrc_gc_new(h->heap, &TypeType);
    rrc_type *type;

    check(ob != NULL);
    type = &HEAP_TYPE(ob)->is;
    type->tp_name = "Made";
    type->tp_basicsize = like->tp_basicsize;
    type->tp_flags = like->tp_flags | RRC_TPFLAGS_HEAPTYPE;
    type->tp_dealloc = like->tp_dealloc;
    type->tp_traverse = like->tp_traverse != NULL ? traverse_with_type : NULL;
    type->tp_clear = like->tp_clear;
    type->tp_members = like->tp_members;
    HEAP_TYPE(ob)->tag = 9;
    if (tracked)
        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    return ob;
}

static void instances_count_for_their_type(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 1), *obs[5];
    int i;

    for (i = 0; i < 5; i++) {
        obs[i] = knot_new(h, &HEAP_TYPE(type)->is, i + 1);
        check_int(REFCNT(type), i + 2);
    }
    knot_collect(h);
    check_events(h, "");
    rrc_decref(h->heap, type);
    knot_collect(h);
    for (i = 0; i < 5; i++) {
        check_int(REFCNT(type), 5 - i);
        rrc_decref(h->heap, obs[i]);
    }
    check_events(h, "d1 d2 d3 d4 d5 d9");
    host_close(h);
}

static void plain_objects_of_a_heap_type(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Plain, 1), *ob = rrc_new(h->heap, &HEAP_TYPE(type)->is);

    check_int(REFCNT(type), 2);
    rrc_decref(h->heap, type);
    knot_collect(h);
    check_events(h, "");
    rrc_decref(h->heap, ob);
    check_events(h, "d9");
    host_close(h);
}

/* A collection frees them. The dealloc of their type waits. */
static void light_objects_of_a_heap_type(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Plain, 1);
    int i;

    for (i = 0; i < 2; i++) {
        rrc_object *ob = rrc_new(h->heap, &HEAP_TYPE(type)->is);

        ob_link(h, O, host_new(h, HOST_OLD), ob, LIGHT_OB);
        rrc_decref(h->heap, ob);
        if (i == 1)
            rrc_decref(h->heap, type);
        check_int(host_stats(h).objects, 2);
        host_major(h);
        check_int(host_stats(h).objects, 1);
    }
    check_events(h, "");
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_events(h, "d9");
    host_close(h);
}

/* A type and its instance, whose traverse visits another object and the type. */
static void a_cycle_through_a_heap_type_and_fields(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 1), *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);

    HEAP_TYPE(type)->owned[0] = ob;
    knot_tie(h, ob, 0, ob);
    rrc_decref(h->heap, type);
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* A type that keeps an instance of itself: a cycle that no field of the instance
   shows. The memory of an instance goes before its type does. */
static void a_cycle_through_a_heap_type(void)
{
    int visits_by_hand, links;

    for (visits_by_hand = 0; visits_by_hand < 2; visits_by_hand++)
        for (links = 0; links < 3; links++) {
            host *h = host_open(NULL);
            rrc_object *type = new_type(h, visits_by_hand ? &Knot : &KnotTable, 1);
            rrc_object *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);

            unit_context("visits_by_hand %d, links %d", visits_by_hand, links);
            HEAP_TYPE(type)->owned[0] = ob;
            if (links > 0)
                ob_link(h, P, host_new(h, HOST_OLD), ob, FULL);
            if (links > 1)
                ob_link(h, O, host_new(h, HOST_OLD), type, FULL);
            knot_collect(h);
            check_events(h, "");
            rrc_decref(h->heap, type);
            knot_collect(h);
            check(strstr(h->events, "d9") != NULL);
            check_int(host_stats(h).objects, 0);
            h->events[0] = '\0';
            host_close(h);
        }
}

static void the_type_is_visited_once(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 1), *obs[3];
    int i;

    for (i = 0; i < 3; i++)
        obs[i] = knot_new(h, &HEAP_TYPE(type)->is, i + 1);
    knot_tie(h, obs[0], 0, obs[1]);
    knot_tie(h, obs[1], 0, obs[0]);
    HEAP_TYPE(type)->owned[0] = obs[0];
    HEAP_TYPE(type)->owned[1] = obs[1];
    rrc_decref(h->heap, type);
    knot_collect(h);
    check_int(rrc_check(h->heap), RRC_OK);
    check_events(h, "");
    rrc_decref(h->heap, obs[2]);
    check_events(h, "d3");
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* ... nor when garbage is absolved: one visit too many would hide that C has got hold of it. */
static void the_type_of_garbage_is_visited_once(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 1), *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);

    HEAP_TYPE(type)->owned[0] = ob;
    rrc_decref(h->heap, type);
    host_major(h);
    check_int(host_stats(h).pending, 2);
    rrc_incref(h->heap, ob);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    rrc_decref(h->heap, ob);
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* A traverse that leaves out the type: the reference counts as held from outside, and nothing is lost. */
static void a_type_that_is_not_visited(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 1), *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);

    HEAP_TYPE(type)->is.tp_traverse = knot_traverse;
    HEAP_TYPE(type)->owned[0] = ob;
    rrc_decref(h->heap, type);
    knot_collect(h);
    check_events(h, "");
    HEAP_TYPE(type)->is.tp_traverse = traverse_with_type;
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

static void an_untracked_instance_holds_its_type(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 1), *ob = rrc_gc_new(h->heap, &HEAP_TYPE(type)->is);

    HEAP_TYPE(type)->owned[0] = ob;
    rrc_decref(h->heap, type);
    knot_collect(h);
    check_events(h, "");
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* The last object of a heap that was freed is a type's last instance. */
static void a_type_outlives_its_heap(void)
{
    host *h = host_open(NULL);
    rrc_object *type = new_type(h, &Knot, 0), *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);

    rrc_decref(h->heap, type);
    check_int(host_free_heap(h), 0);
    check_events(h, "");
    rrc_decref(h->heap, ob);
    check_events(h, "d1 d9");
    host_end(h);
}

/* An instance whose fields refer to its own type has more than one reference to it. */
static void a_field_refers_to_the_type(void)
{
    int by_hand;

    for (by_hand = 0; by_hand < 2; by_hand++) {
        host *h = host_open(NULL);
        rrc_object *type = new_type(h, by_hand ? &Knot : &KnotTable, 1), *ob;

        ob = knot_new(h, &HEAP_TYPE(type)->is, 1);
        knot_tie(h, ob, 0, type);
        knot_tie(h, ob, 2, type);
        HEAP_TYPE(type)->owned[0] = ob;
        check_int(REFCNT(type), 4);
        knot_collect(h);
        check_int(host_stats(h).objects, 2);
        rrc_decref(h->heap, type);
        knot_collect(h);
        check_int(host_stats(h).objects, 0);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* rrc_del of the last instance, outside any dealloc, is the outermost one for what the
   type owns: nothing is left to wait, also where nobody could run it any more. */
static void a_type_that_owns_much_goes_with_its_last_instance(void)
{
    int is_closed;

    for (is_closed = 0; is_closed < 2; is_closed++) {
        host *h = host_open(NULL);
        rrc_object *type = new_type(h, &Plain, 0), *ob = rrc_new(h->heap, &HEAP_TYPE(type)->is);

        HEAP_TYPE(type)->owned[0] = ob_chain(h, &Node, 200);
        rrc_decref(h->heap, type);
        if (is_closed)
            check_int(host_free_heap(h), 0);
        rrc_del(h->heap, ob);
        check_int(h->deallocs, 200);
        h->events[0] = '\0';
        if (is_closed)
            host_end(h);
        else
            host_close(h);
    }
}

/* A static type that says it is counted: its count drifts, and it is never freed. */
#if !HOST_FRONT
static void a_static_type_may_be_counted(void)
{
    static const rrc_type Still = {
        .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Still", .tp_basicsize = sizeof(knot),
        .tp_flags = RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_HEAPTYPE, .tp_dealloc = knot_dealloc,
        .tp_traverse = knot_traverse, .tp_clear = knot_clear,
    };
    host *h = host_open(NULL);
    rrc_type still = Still;
    int i;

    for (i = 0; i < 3; i++) {
        knot_ring(h, &still, 3, NULL);
        check_int(rrc_gc_collect(h->heap), 3);
    }
    check_int(still.ob_base.ob_refcnt, Still.ob_base.ob_refcnt);
    h->events[0] = '\0';
    host_close(h);
}
#else
static void a_static_type_may_be_counted(void)
{
    /* A type's head is not an object's there. */
}
#endif

/* A static object has no GC head, whatever its type says: what lies in front of it is
   somebody else's, and neither counts nor changes. */
static void a_static_object_has_no_gc_head(void)
{
    enum { BEFORE = 32 };
    static union {
        uintptr_t word[BEFORE + sizeof(knot) / sizeof(uintptr_t) + 1];
        long double align;
    } space;
    rrc_object *still = (rrc_object *)(void *)&space.word[BEFORE];
    uintptr_t before[BEFORE], flags;
    size_t i;

    for (flags = 0; flags < 256; flags++) {
        const intptr_t count = RRC_REFCNT_IMMORTAL + (flags < 128 ? INTPTR_MAX / 16 : 0);
        host *h = host_open(NULL);
        rrc_object *held = knot_new(h, &Knot, 3), *ring[2];

        unit_context("flags %u", (unsigned)flags);
        for (i = 0; i < BEFORE; i++)
            space.word[i] = flags % 128;
        REFCNT(still) = RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16;
        RRC_TYPE(still) = &Knot;
        RRC_LINK(still) = NULL;
        memcpy(before, space.word, sizeof before);
        knot_ring(h, &Knot, 2, ring);
        knot_tie(h, ring[0], 1, still);
        knot_tie(h, held, 0, still);
        REFCNT(still) = count;
        host_major(h);
        rrc_incref(h->heap, ring[1]);           /* C gets hold of the garbage */
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_int(REFCNT(still), count);
        REFCNT(still) = RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16 - 2;
        rrc_decref(h->heap, ring[1]);
        knot_collect(h);
        check_events(h, "c2 d1 d2");
        check(memcmp(before, space.word, sizeof before) == 0);
        rrc_decref(h->heap, held);
        check_int(REFCNT(still), RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16 - 4);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* ---- tp_members ---- */

/* No slot is written: members are traversed, cleared, and dropped by the dealloc. */
static void members_are_enough(void)
{
    host *h = host_open(NULL);
    rrc_object *ring = knot_ring(h, &KnotTable, 5, NULL), *other = knot_new(h, &Knot, 7);

    knot_tie(h, ring, 1, other);
    knot_tie(h, ring, 2, ring);
    knot_tie(h, other, 2, ring);
    rrc_incref(h->heap, ring);
    rrc_decref(h->heap, other);
    check_int(rrc_gc_collect(h->heap), 0);
    check_int(host_stats(h).objects, 6);
    rrc_decref(h->heap, ring);
    check_int(rrc_gc_collect(h->heap), 6);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* The library allocates its objects itself, and says that they have what is in front of those of rrc_gc_new. */
static void an_object_of_the_library_is_not_tracked(void)
{
    enum { BEFORE = 8 };
    static const rrc_type Own = { .tp_name = "Own", .tp_flags = RRC_TPFLAGS_HAVE_GC };
    union {
        uintptr_t word[BEFORE + sizeof(knot) / sizeof(uintptr_t) + 1];
        long double align;
    } space;
    rrc_object *own = (rrc_object *)(void *)&space.word[BEFORE];
    host *h = host_open(NULL);
    size_t i;

    memset(&space, 0, sizeof space);
    REFCNT(own) = 1;
    RRC_TYPE(own) = &Own;
    check_int(rrc_gc_track(h->heap, own), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_track");
    check_int(rrc_gc_set_finalized(h->heap, own, 1), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_set_finalized");
    check_int(rrc_gc_is_finalized(h->heap, own), 0);
    check_int(rrc_gc_is_uncollectable(h->heap, own), 0);
    for (i = 0; i < BEFORE; i++)
        check_int(space.word[i], 0);
    host_close(h);
}

static void members_are_dropped_by_the_count(void)
{
    host *h = host_open(NULL);
    rrc_object *top = knot_new(h, &KnotTable, 1), *below = knot_new(h, &Knot, 2);
    rrc_object *twice = knot_new(h, &Knot, 3);

    KNOT(top)->ref[0] = below;
    KNOT(top)->ref[1] = twice;
    knot_tie(h, top, 2, twice);
    rrc_decref(h->heap, top);
    check_events(h, "d2 d3");
    host_close(h);
}

static void members_of_objects_without_header(void)
{
    static const rrc_member members[] = { { "first", offsetof(node, ref) }, { NULL, 0 } };
    static const rrc_type Owner = { .tp_name = "Owner", .tp_basicsize = sizeof(node), .tp_members = members };
    host *h = host_open(NULL);
    rrc_object *owner = ob_new(h, &Owner), *below = knot_new(h, &Knot, 2);

    NODE(owner)->ref[0] = below;
    NODE(owner)->ref[1] = below;        /* not a member: not owned */
    rrc_decref(h->heap, owner);
    check_events(h, "d2");
    host_close(h);
}

/* Deeper than the stack, were each dealloc to call the next. */
static void members_of_a_long_chain(void)
{
    enum { N = 100000 };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *first = NULL;
    int i;

    for (i = 0; i < N; i++) {
        rrc_object *ob = knot_new(h, &KnotTable, 0);

        KNOT(ob)->ref[1] = first;
        first = ob;
    }
    rrc_decref(h->heap, first);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* A slot that is written by hand wins over the members: here these lie. */
static void hand_written_slots_win(void)
{
    static const rrc_member none[] = { { NULL, 0 } };
    static const rrc_type ByHand = {
        .tp_name = "ByHand", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = knot_clear,
        .tp_members = none,
    };
    static const rrc_type ByTable = {
        .tp_name = "ByTable", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_members = none,
    };
    host *h = host_open(NULL);
    rrc_object *ring;

    knot_ring(h, &ByHand, 3, NULL);
    check_int(rrc_gc_collect(h->heap), 3);
    check(strchr(h->events, 'c') != NULL);
    h->events[0] = '\0';
    ring = knot_ring(h, &ByTable, 3, NULL);
    check_int(rrc_gc_collect(h->heap), 0);
    check_events(h, "");
    RRC_CLEAR(h->heap, KNOT(ring)->ref[0]);
    check_events(h, "d2 d3 d1");
    host_close(h);
}

/* Only tp_clear by hand, only tp_traverse by hand. */
static void slots_and_members_mix(void)
{
    static const rrc_type Cleared = {
        .tp_name = "Cleared", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_clear = knot_clear, .tp_members = knot_members,
    };
    static const rrc_type Traversed = {
        .tp_name = "Traversed", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_traverse = knot_traverse, .tp_members = knot_members,
    };
    host *h = host_open(NULL);
    rrc_object *held;

    knot_ring(h, &Cleared, 3, NULL);
    check_int(rrc_gc_collect(h->heap), 3);
    check(strchr(h->events, 'c') != NULL);
    h->events[0] = '\0';
    held = knot_ring(h, &Traversed, 3, NULL);
    rrc_incref(h->heap, held);
    check_int(rrc_gc_collect(h->heap), 0);
    check(KNOT(held)->traversed > 0);
    rrc_decref(h->heap, held);
    check_int(rrc_gc_collect(h->heap), 3);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* ---- in words ---- */

typedef struct text {
    char written[4000];
    size_t size;
} text;

static void write_text(void *arg, const char *bytes, size_t size)
{
    text *t = (text *)arg;

    check(t->size + size < sizeof t->written);
    memcpy(t->written + t->size, bytes, size + 1);
    t->size += size;
}

static int mentions(const char *where, const char *what)
{
    int n = 0;

    for (; (where = strstr(where, what)) != NULL; where++)
        n++;
    return n;
}

/* The reference to the type is one, and has a name, whoever visits it. */
static void the_reference_to_a_type_is_told(void)
{
    int visits_it;

    for (visits_it = 0; visits_it < 2; visits_it++) {
        host *h = host_open(NULL);
        rrc_object *type = new_type(h, visits_it ? &Knot : &KnotTable, 1);
        rrc_object *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);
        text t = { "", 0 };
        char expected[300];

        unit_context("visits_it %d", visits_it);
        rrc_decref(h->heap, type);
        KNOT(ob)->ref[0] = ob_new(h, &Node);        /* what is visited besides it */
        snprintf(expected, sizeof expected,
                 "type %p (1 reference):\n  held by Made.tp_type of Made %p,\n"
                 "  which 1 reference from outside keeps alive\n", (void *)type, (void *)ob);
        check_int(rrc_explain(h->heap, host_insight(h), type, write_text, &t), RRC_OK);
        check_str(t.written, expected);
        t.size = 0;
        check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, &t), RRC_OK);
        check_int(mentions(t.written, "label=\".tp_type\""), 1);
        rrc_decref(h->heap, ob);
        check_events(h, visits_it ? "d1 d9" : "d9");
        host_close(h);
    }
}

/* A traverse that visits the type twice: the report counts what it visits, and no more. */
static int traverse_with_type_twice(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(OBJECT(RRC_TYPE(self)));
    return traverse_with_type(self, visit, arg);
}

static void a_type_that_is_visited_twice(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *type = new_type(h, &Knot, 1), *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);
    const host_log *log;
    char expected[200];

    HEAP_TYPE(type)->is.tp_traverse = traverse_with_type_twice;
    rrc_decref(h->heap, type);
    host_major(h);
    log = host_expect_log(h, RRC_ETRAVERSE, NULL);
    check_ptr(log->ob, ob);
    snprintf(expected, sizeof expected, "it visits type %p: 2 visits, but 1 reference.", (void *)type);
    check(strstr(log->detail, expected) != NULL);
    h->log_read = h->log_count;
    HEAP_TYPE(type)->is.tp_traverse = traverse_with_type;
    rrc_decref(h->heap, ob);
    check_events(h, "d1 d9");
    host_close(h);
}

/* Visits one more object than it owns. */
static rrc_object *visited_too;
static int traverse_too_much(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(visited_too);
    return knot_traverse(self, visit, arg);
}

/* The report counts the reference that an instance has beside those its traverse visits. */
static void a_type_that_another_visits(void)
{
    static const rrc_type Curious = {
        .tp_name = "Curious", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = traverse_too_much, .tp_clear = knot_clear,
    };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *type = new_type(h, &Knot, 1), *ob = knot_new(h, &HEAP_TYPE(type)->is, 1);
    rrc_object *curious = knot_new(h, &Curious, 2);

    rrc_decref(h->heap, type);
    knot_tie(h, ob, 0, curious);
    visited_too = type;
    host_major(h);
    check(strstr(host_expect_log(h, RRC_ETRAVERSE, NULL)->detail, "2 visits, but 1 reference.") != NULL);
    h->log_read = h->log_count;
    visited_too = NULL;
    rrc_decref(h->heap, curious);
    rrc_decref(h->heap, ob);
    check_events(h, "d1 d2 d9");
    host_close(h);
}

#define IF_HEAP_TYPES_FIT(test) static void test##_(void) { if (HEAP_TYPES_FIT) test(); }
IF_HEAP_TYPES_FIT(instances_count_for_their_type)
IF_HEAP_TYPES_FIT(plain_objects_of_a_heap_type)
IF_HEAP_TYPES_FIT(light_objects_of_a_heap_type)
IF_HEAP_TYPES_FIT(a_cycle_through_a_heap_type)
IF_HEAP_TYPES_FIT(a_cycle_through_a_heap_type_and_fields)
IF_HEAP_TYPES_FIT(the_type_is_visited_once)
IF_HEAP_TYPES_FIT(the_type_of_garbage_is_visited_once)
IF_HEAP_TYPES_FIT(a_type_that_is_not_visited)
IF_HEAP_TYPES_FIT(an_untracked_instance_holds_its_type)
IF_HEAP_TYPES_FIT(a_type_outlives_its_heap)
IF_HEAP_TYPES_FIT(a_type_that_owns_much_goes_with_its_last_instance)
IF_HEAP_TYPES_FIT(a_field_refers_to_the_type)
IF_HEAP_TYPES_FIT(the_reference_to_a_type_is_told)
IF_HEAP_TYPES_FIT(a_type_that_is_visited_twice)
IF_HEAP_TYPES_FIT(a_type_that_another_visits)

UNIT_GROUP(gc_types,
    UNIT(instances_count_for_their_type_),
    UNIT(plain_objects_of_a_heap_type_),
    UNIT(a_cycle_through_a_heap_type_),
    UNIT(a_cycle_through_a_heap_type_and_fields_),
    UNIT(the_type_is_visited_once_),
    UNIT(the_type_of_garbage_is_visited_once_),
    UNIT(a_type_that_is_not_visited_),
    UNIT(an_untracked_instance_holds_its_type_),
    UNIT(a_type_outlives_its_heap_),
    UNIT(a_type_that_owns_much_goes_with_its_last_instance_),
    UNIT(a_field_refers_to_the_type_),
    UNIT(the_reference_to_a_type_is_told_),
    UNIT(a_type_that_is_visited_twice_),
    UNIT(a_type_that_another_visits_),
    UNIT(a_static_type_may_be_counted),
    UNIT(light_objects_of_a_heap_type_),
    UNIT(a_static_object_has_no_gc_head),
    UNIT(an_object_of_the_library_is_not_tracked),
    UNIT(members_are_enough),
    UNIT(members_are_dropped_by_the_count),
    UNIT(members_of_objects_without_header),
    UNIT(members_of_a_long_chain),
    UNIT(hand_written_slots_win),
    UNIT(slots_and_members_mix),
);
