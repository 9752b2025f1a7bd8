/* Garbage that waits for rrc_run_pending: what user code does with it in between, and while it is
 * being dealt with. */

#include "knots.h"

#include <stdlib.h>
#include <string.h>

static int count_events(const char *events, char what)
{
    int n = 0;

    for (; *events != '\0'; events++)
        n += *events == what;
    return n;
}

static void forget_events(host *h)
{
    h->events[0] = '\0';
}

/* ---- a batch that user code changes ---- */

/* More than is cleared at a time, so that a part of the batch waits while user code runs. */
enum { LENGTH = 100 };

typedef struct walk {
    host *h;
    int to_untrack;
} walk;

static int untrack_some(rrc_object *ob, void *arg)
{
    walk *w = (walk *)arg;

    if (KNOT(ob)->tag == 0 && w->to_untrack > 0) {
        w->to_untrack--;
        rrc_gc_untrack(w->h->heap, ob);
    }
    return 1;
}

/* In the first dealloc: take objects out of the search in a walk. The walk shows what waits
   before what was cleared already. */
static void walk_once(host *h, rrc_object *ob)
{
    walk w = { h, *(int *)h->test };

    (void)ob;
    h->on_dealloc = NULL;
    rrc_gc_visit_objects(h->heap, untrack_some, &w);
    check_int(w.to_untrack, 0);
}

static rrc_object *quiet_ring(host *h, const rrc_type *type, int length)
{
    rrc_object *first = knot_ring(h, type, length, NULL), *ob = first;
    int i;

    for (i = 0; i < length; i++, ob = KNOT(ob)->ref[0])
        KNOT(ob)->tag = 0;
    return first;
}

/* A walk inside of rrc_run_pending takes out of the batch some of what is still to be cleared, or all
   of it. Other garbage, which was not looked at, and which C holds by now, stays whole. */
static void a_walk_makes_the_batch_void(void)
{
    static const int counts[] = { 1, 2, 35, 36 };
    size_t i;

    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        host *h = host_open(NULL);
        rrc_object *held[2];
        int to_untrack = counts[i];

        unit_context("%d untracked", to_untrack);
        quiet_ring(h, &Knot, LENGTH);
        knot_ring(h, &Knot, 2, held);
        host_major(h);
        rrc_incref(h->heap, held[0]);
        h->test = &to_untrack;
        h->on_dealloc = walk_once;
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_ptr(KNOT(held[0])->ref[0], held[1]);
        check_ptr(KNOT(held[1])->ref[0], held[0]);
        check_int(h->deallocs, LENGTH);
        check_int(rrc_check(h->heap), RRC_OK);
        rrc_decref(h->heap, held[0]);
        knot_collect(h);
        check_int(h->deallocs, LENGTH + 2);
        forget_events(h);
        host_close(h);
    }
}

/* ---- finalizers ---- */

/* A finalizer gives up all that keeps its own object: that lives until the finalizer has returned. */
static void give_up_self(host *h, rrc_object *ob)
{
    rrc_gc_untrack(h->heap, ob);
    RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
    check_int(h->deallocs, 0);
    check_int(KNOT(ob)->tag, 1);
}

static void what_is_being_finalized_is_held(void)
{
    host *h = host_open(NULL);

    knot_ring(h, &KnotFinal, 1, NULL);
    h->on_finalize = give_up_self;
    knot_collect(h);
    check_events(h, "f1 d1");
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

static void weakrefs_give_up_self(rrc_heap *heap, rrc_object *ob)
{
    give_up_self(HOST(heap), ob);
}

static const rrc_type Giving = {
    .tp_name = "Giving", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = knot_dealloc,
    .tp_traverse = knot_traverse, .tp_clear = knot_clear, .tp_clear_weakrefs = weakrefs_give_up_self,
};

static void what_loses_its_weak_references_is_held(void)
{
    host *h = host_open(NULL);

    knot_ring(h, &Giving, 1, NULL);
    knot_collect(h);
    check_events(h, "d1");
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* ---- a traverse that goes wrong while its object waits ---- */

static rrc_object *visited_too;         /* by each Turncoat, which does not own it */

static int turncoat_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(visited_too);
    return knot_traverse(self, visit, arg);
}

static void no_weakrefs(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    (void)ob;
}

static const rrc_type Turncoat = {
    .tp_name = "Turncoat", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = knot_dealloc,
    .tp_traverse = turncoat_traverse, .tp_clear = knot_clear, .tp_clear_weakrefs = no_weakrefs,
};

/* Nothing refers to the object but the list in which it waits. It goes by its count. */
static void a_wrong_traverse_does_not_wait_without_end(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Turncoat, 1);

    visited_too = NULL;
    ob_link(h, O, host_new(h, HOST_OLD), ob, FULL);
    rrc_decref(h->heap, ob);
    host_major(h);
    check_int(host_stats(h).pending, 1);
    visited_too = ob;
    rrc_run_pending(h->heap, 10);
    visited_too = NULL;
    check_str(host_expect_log(h, RRC_ETRAVERSE, "rrc_run_pending")->type_name, "Turncoat");
    check_events(h, "d1");
    check_int(host_stats(h).pending, 0);
    host_close(h);
}

UNIT_GROUP(gc_waiting,
    UNIT(a_walk_makes_the_batch_void),
    UNIT(what_is_being_finalized_is_held),
    UNIT(what_loses_its_weak_references_is_held),
    UNIT(a_wrong_traverse_does_not_wait_without_end),
);
