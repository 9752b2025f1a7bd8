/* Garbage that waits for rrc_run_pending: what user code does with it in between, and while it is
 * being dealt with. */

#include "knots.h"

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

/* In the first dealloc: untrack one that was not looked at. */
static void untrack_it(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_dealloc = NULL;
    rrc_gc_untrack(h->heap, (rrc_object *)h->test);
}

/* Garbage that was not looked at leaves the list from any place in it, while a batch is being cleared: the
   batch gets no other object instead. C holds what was not looked at. */
static void the_batch_stays_the_same(void)
{
    enum { HELD = 4 };
    int which, i;

    for (which = 0; which < HELD; which++) {
        host *h = host_open(NULL);
        rrc_object *held[HELD];

        unit_context("object %d", which);
        quiet_ring(h, &Knot, LENGTH);
        for (i = 0; i < HELD; i++)
            held[i] = knot_ring(h, &Knot, 1, NULL);
        host_major(h);
        for (i = 0; i < HELD; i++)
            rrc_incref(h->heap, held[i]);
        h->test = held[which];
        h->on_dealloc = untrack_it;
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_int(h->deallocs, LENGTH);
        check(!rrc_gc_is_tracked(h->heap, held[which]));
        check_int(rrc_gc_track(h->heap, held[which]), RRC_OK);
        for (i = 0; i < HELD; i++) {
            check_ptr(KNOT(held[i])->ref[0], held[i]);
            check_int(REFCNT(held[i]), 2);
            rrc_decref(h->heap, held[i]);
        }
        knot_collect(h);
        check_int(h->deallocs, LENGTH + HELD);
        forget_events(h);
        host_close(h);
    }
}

/* A collection finds more garbage while a batch is being cleared, and C gets hold of that: it was not
   looked at. */
static void collect_and_hold(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_dealloc = NULL;
    host_major(h);
    rrc_incref(h->heap, (rrc_object *)h->test);
}

/* A search among C objects alone does not take an object for garbage whose link lacks its bias. */
static void a_link_without_a_bias_is_no_garbage(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotFull };
    size_t i;

    for (i = 0; i < 2; i++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        size_t p = host_rooted(h, HOST_OLD);
        rrc_object *ring[2];

        knot_ring(h, types[i], 2, ring);
        check_int(rrc_create_link_pypy(h->heap, host_at(h, p), ring[0]), RRC_OK);
        check_int(rrc_gc_collect(h->heap), 0);
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_ptr(rrc_from_obj(h->heap, host_at(h, p)), ring[0]);
        REFCNT(ring[0]) += BIAS;
        check_int(rrc_check(h->heap), RRC_OK);
        host_unroot(h, p);
        knot_collect(h);
        knot_collect(h);
        check_int(h->deallocs, 2);
        forget_events(h);
        host_close(h);
    }
}

/* Garbage that has markers, of which only the last is known by its value, is garbage all the same. */
static void garbage_with_markers(void)
{
    static short markers[2];
    host *h = host_open(NULL);
    rrc_object *ring[2];
    int i;

    knot_ring(h, &Knot, 2, ring);
    for (i = 0; i < 2; i++)
        rrc_mark_deallocating(h->heap, &markers[i], ring[i]);
    check_int(rrc_gc_collect(h->heap), 2);
    check_int(h->deallocs, 2);
    forget_events(h);
    host_close(h);
}

/* In a walk, an object that waits is linked without its bias, and untracked after it: it keeps its link. */
static int link_only(rrc_object *ob, void *arg)
{
    host *h = (host *)arg;

    check_int(rrc_create_link_pyobj(h->heap, host_at(h, *(size_t *)h->test), ob), RRC_OK);
    return 0;
}

static void linked_without_a_bias_in_a_walk(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t p = host_rooted(h, HOST_OLD);
    rrc_object *ob = knot_ring(h, &Knot, 1, NULL);

    host_major(h);
    RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
    h->test = &p;
    rrc_gc_visit_objects(h->heap, link_only, h);
    rrc_gc_untrack(h->heap, ob);
    host_expect_log(h, RRC_EREFCNT, NULL);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
    check_int(rrc_refcnt(ob), 0);
    check_int(rrc_check(h->heap), RRC_OK);
    host_unroot(h, p);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    forget_events(h);
    host_close(h);
}

/* Garbage whose proxy lives on for other garbage, and whose link lacks its bias. When its list drops it, it keeps its
   link. */
static void garbage_that_lacks_its_bias(void)
{
    host_options options = { .unchecked = 1, .keeps = 1 };
    host *h = host_open(&options);
    size_t p = host_new(h, HOST_OLD), proxy = host_new(h, HOST_OLD);
    rrc_object *owner = knot_new(h, &Knot, 1), *view = knot_new(h, &Knot, 2), *ob = knot_new(h, &Knot, 3);

    knot_tie(h, owner, 0, owner);
    knot_tie(h, owner, 1, view);
    knot_tie(h, view, 0, ob);
    ob_link(h, P, p, view, FULL);
    host_point(h, p, 0, proxy);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, proxy), ob), RRC_OK);
    rrc_decref(h->heap, view);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, owner);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 2);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, proxy));
    check_int(rrc_refcnt(ob), 0);
    check_int(rrc_check(h->heap), RRC_OK);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 3);
    h->log_read = h->log_count;
    forget_events(h);
    host_close(h);
}

/* What nobody but the list refers to cannot be given away. */
static void the_reference_of_the_list_is_not_given(void)
{
    int untracked;

    for (untracked = 0; untracked < 2; untracked++) {
        host *h = host_open(NULL);
        size_t p = host_rooted(h, HOST_OLD);
        rrc_object *ob = knot_ring(h, &Knot, 1, NULL);

        host_major(h);
        RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
        if (untracked)
            rrc_gc_untrack(h->heap, ob);
        check_int(rrc_refcnt(ob), 1);
        check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_O | RRC_GIVE), RRC_EREFCNT);
        host_expect_log(h, RRC_EREFCNT, "rrc_link");
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
        check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_O), RRC_OK);     /* it stays with p then */
        check_int(rrc_refcnt(ob), untracked);       /* (1: it waits in the queue) */
        rrc_run_pending(h->heap, 0);
        check_int(rrc_refcnt(ob), 0);
        check_int(h->deallocs, 0);
        host_unroot(h, p);
        knot_collect(h);
        check_int(h->deallocs, 1);
        forget_events(h);
        host_close(h);
    }
}

static void a_collection_makes_the_batch_void(void)
{
    host *h = host_open(NULL);
    rrc_object *late[2];

    quiet_ring(h, &Knot, LENGTH);
    host_major(h);
    knot_ring(h, &Knot, 2, late);
    h->test = late[1];
    h->on_dealloc = collect_and_hold;
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    check_ptr(KNOT(late[0])->ref[0], late[1]);
    check_ptr(KNOT(late[1])->ref[0], late[0]);
    check_int(h->deallocs, LENGTH);
    rrc_decref(h->heap, late[1]);
    knot_collect(h);
    check_int(h->deallocs, LENGTH + 2);
    forget_events(h);
    host_close(h);
}

/* The first finalizer untracks three others that wait for theirs, and perhaps lets them go. */
static void untrack_three(host *h, rrc_object *ob)
{
    int i;

    h->on_finalize = NULL;
    for (i = 3; i > 0; i--)
        rrc_gc_untrack(h->heap, ((rrc_object **)h->test)[i]);
    (void)ob;
}

static void let_three_go(host *h, rrc_object *ob)
{
    untrack_three(h, ob);
    RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
    check(h->deallocs >= 2);            /* (all three, if deallocs may nest so deep) */
}

static void a_finalizer_lets_others_go(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[5];

    knot_ring(h, &KnotFinal, 5, ring);
    h->test = ring;
    h->on_finalize = let_three_go;
    knot_collect(h);
    check_int(h->finalized, 5);
    knot_collect(h);
    check_int(h->deallocs, 5);
    forget_events(h);
    host_close(h);
}

static void a_finalizer_untracks_others(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[5];
    int i;

    knot_ring(h, &KnotFinal, 5, ring);
    h->test = ring;
    h->on_finalize = untrack_three;
    knot_collect(h);
    check(h->finalized > 0 && h->finalized < 5);
    for (i = 0; i < 5; i++)
        if (!rrc_gc_is_tracked(h->heap, ring[i]))
            check_int(rrc_gc_track(h->heap, ring[i]), RRC_OK);
    knot_collect(h);
    knot_collect(h);
    check_int(h->finalized, 5);
    check_int(h->deallocs, 5);
    forget_events(h);
    host_close(h);
}

/* All finalizers cut the ring, so that only the list holds its objects. The dealloc of the first that goes
   back untracks others. */
static void cut_the_ring(host *h, rrc_object *ob)
{
    RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
}

static void untrack_all(host *h, rrc_object *ob)
{
    rrc_object **ring = (rrc_object **)h->test;
    int i;

    h->on_dealloc = NULL;
    for (i = 0; i < 5; i++)
        if (ring[i] != ob) {
            rrc_gc_untrack(h->heap, ring[i]);
            check_int(h->deallocs, 1);          /* it does not go inside of that call */
            check_int(REFCNT(ring[i]), 1);
        }
}

static void a_dealloc_untracks_what_was_kept(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[5];

    knot_ring(h, &KnotFinal, 5, ring);
    h->test = ring;
    h->on_finalize = cut_the_ring;
    h->on_dealloc = untrack_all;
    knot_collect(h);
    check_int(h->finalized, 5);
    check_int(h->deallocs, 5);
    check_int(host_stats(h).pending, 0);
    forget_events(h);
    host_close(h);
}

/* ---- links ---- */

typedef struct relink {
    host *h;
    rrc_object *ob;
    size_t id;
    link_kind kind;
} relink;

static int link_it(rrc_object *ob, void *arg)
{
    relink *r = (relink *)arg;

    if (ob == r->ob)
        ob_link(r->h, r->kind, r->id, ob, FULL);
    return 1;
}

/* A walk shows what waits, and its callback gives one of these a link: that holds it. */
static void what_is_linked_in_a_walk_is_held(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = host_open(NULL);
        rrc_object *ring[2];
        relink r;

        unit_context("kind %d", kind);
        knot_ring(h, &Knot, 2, ring);
        host_major(h);
        r.h = h;
        r.ob = ring[1];
        r.id = host_rooted(h, HOST_OLD);
        r.kind = (link_kind)kind;
        rrc_gc_visit_objects(h->heap, link_it, &r);
        check_int(rrc_check(h->heap), RRC_OK);
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_int(host_stats(h).pending, 0);
        check_int(REFCNT(ring[1]), BIAS + 1);
        check_ptr(KNOT(ring[0])->ref[0], ring[1]);
        check_ptr(KNOT(ring[1])->ref[0], ring[0]);
        host_unroot(h, r.id);
        knot_collect(h);
        check_int(h->deallocs, 2);
        forget_events(h);
        host_close(h);
    }
}

/* A search without the host takes what is linked as held: its finalizer has to wait. */
static void links_hold_where_the_host_is_not_asked(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotFinal };
    int kind, i;

    for (kind = P; kind <= O; kind++)
        for (i = 0; i < 2; i++) {
            host *h = host_open(NULL);
            rrc_object *ring[2];
            size_t id = host_rooted(h, HOST_OLD);

            unit_context("kind %d, type %d", kind, i);
            knot_ring(h, types[i], 2, ring);
            ob_link(h, (link_kind)kind, id, ring[0], FULL);
            check_int(rrc_gc_collect(h->heap), 0);
            check_events(h, "");
            check(rrc_gc_is_tracked(h->heap, ring[0]));
            host_unroot(h, id);
            knot_collect(h);
            knot_collect(h);
            check_int(h->deallocs, 2);
            check_int(h->finalized, 2 * i);
            forget_events(h);
            host_close(h);
        }
}

/* ---- portions ---- */

/* However much garbage is connected, a portion does as much as it is asked to. When nothing is left, it says so. */
static void small_portions_of_much_garbage(void)
{
    enum { MANY = 800 };
    host *h = host_open(NULL);
    rrc_object *ob = quiet_ring(h, &Knot, MANY);
    int rounds = 0, i;

    for (i = 0; i < MANY; i++, ob = KNOT(ob)->ref[0])
        knot_tie(h, KNOT(ob)->ref[0], 1, ob);           /* so that none goes because another one was cleared */
    host_major(h);
    while (host_stats(h).pending > 0) {
        check_int(rrc_run_pending(h->heap, 1), 1);
        check(rounds++ < MANY);
    }
    check_int(rrc_run_pending(h->heap, 1), 0);
    check_int(h->deallocs, MANY);
    host_close(h);
}

/* What was cleared and is still there costs later portions nothing. */
static void small_portions_beside_what_was_cleared(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[10];
    int i;

    knot_ring(h, &KnotStiff, 10, ring);
    for (i = 0; i < 30; i++)
        quiet_ring(h, &Knot, 1);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 20), 20);
    for (i = 0; i < 30; i++)
        check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(h->deallocs, 30);
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
    check_int(h->deallocs, 40);
    forget_events(h);
    host_close(h);
}

/* Much garbage whose type has only tp_members. */
static void full_parts_with_members(void)
{
    host *h = host_open(NULL);

    quiet_ring(h, &KnotTable, LENGTH);
    host_major(h);
    check(rrc_run_pending(h->heap, 0) >= LENGTH);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* A small portion that looks at little does no more than it was told. */
static void small_portions_of_little_garbage(void)
{
    host *h = host_open(NULL);
    int i;

    for (i = 0; i < 20; i++)
        quiet_ring(h, &Knot, 7);
    host_major(h);
    for (i = 0; host_stats(h).pending > 0; i++)
        check_int(rrc_run_pending(h->heap, 1), 1);
    check(i <= 2 * 20 * 7);
    check_int(h->deallocs, 20 * 7);
    host_close(h);
}

/* C takes a reference to one object of much garbage, from which all others are reached: all go back at once. The
   colors of the search are flipped by each one that finds all objects alive. */
static void much_garbage_goes_back_at_once(void)
{
    enum { MANY = 500 };
    int flips, i;

    for (flips = 0; flips < 2; flips++) {
        host *h = host_open(NULL);
        rrc_object *alive = knot_new(h, &Knot, 0), *obs[MANY];
        size_t traversals = 0;

        unit_context("flips %d", flips);
        for (i = 0; i < flips; i++)
            host_major(h);
        for (i = 0; i < MANY; i++)
            obs[i] = knot_new(h, &Knot, 0);
        for (i = 0; i < MANY; i++) {            /* a tree, each of which knows its parent, the root itself */
            if (2 * i + 1 < MANY)
                knot_tie(h, obs[i], 0, obs[2 * i + 1]);
            if (2 * i + 2 < MANY)
                knot_tie(h, obs[i], 1, obs[2 * i + 2]);
            knot_tie(h, obs[i], 2, obs[i > 0 ? (i - 1) / 2 : 0]);
        }
        for (i = 0; i < MANY; i++)
            rrc_decref(h->heap, obs[i]);
        rrc_decref(h->heap, alive);
        host_major(h);
        check_int(host_stats(h).pending, MANY);
        for (i = 0; i < MANY; i++)
            KNOT(obs[i])->traversed = 0;
        rrc_incref(h->heap, obs[MANY / 2]);
        check_int(host_stats(h).pending, 0);
        rrc_run_pending(h->heap, 0);
        for (i = 0; i < MANY; i++) {
            traversals += KNOT(obs[i])->traversed;
            check_ptr(KNOT(obs[i])->ref[2], obs[i > 0 ? (i - 1) / 2 : 0]);
        }
        check_int(h->deallocs, 1);
        check_int(traversals, MANY);
        rrc_decref(h->heap, obs[MANY / 2]);
        knot_collect(h);
        check_int(h->deallocs, MANY + 1);
        host_close(h);
    }
}

/* ---- finalizers ---- */

/* A small portion runs one finalizer, and the others wait for the next ones. */
static void finalizers_come_in_portions(void)
{
    host *h = host_open(NULL);
    int i;

    knot_ring(h, &KnotFinal, 3, NULL);
    host_major(h);
    for (i = 0; i < 3; i++) {
        check_int(host_stats(h).pending, 3);
        check_int(rrc_run_pending(h->heap, 1), 1);
        check_int(h->finalized, i + 1);
    }
    check_int(rrc_run_pending(h->heap, 2), 2);
    check_int(host_stats(h).pending, 1);
    check_int(rrc_run_pending(h->heap, 2), 1);
    check_int(host_stats(h).pending, 0);
    check_int(h->deallocs, 0);
    knot_collect(h);
    check_int(h->deallocs, 3);
    forget_events(h);
    host_close(h);
}

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

/* A finalizer untracks its object, the only one that was kept, and takes hold of garbage of the batch. */
static void untrack_self_and_hold(host *h, rrc_object *ob)
{
    rrc_gc_untrack(h->heap, ob);
    rrc_incref(h->heap, (rrc_object *)h->test);
}

static void a_finalizer_that_untracks_itself_takes_hold(void)
{
    host *h = host_open(NULL);
    rrc_object *final = knot_new(h, &KnotFinal, 1), *ring[2];

    knot_ring(h, &Knot, 2, ring);
    KNOT(ring[0])->tag = 2;
    KNOT(ring[1])->tag = 3;
    knot_tie(h, final, 0, final);
    KNOT(ring[0])->ref[1] = final;
    h->test = ring[1];
    h->on_finalize = untrack_self_and_hold;
    knot_collect(h);
    check_events(h, "f1");
    check_ptr(KNOT(ring[0])->ref[0], ring[1]);
    check_ptr(KNOT(ring[1])->ref[0], ring[0]);
    check_int(rrc_gc_track(h->heap, final), RRC_OK);
    rrc_decref(h->heap, ring[1]);
    knot_collect(h);
    check_int(h->deallocs, 3);
    forget_events(h);
    host_close(h);
}

/* The first dealloc takes hold of garbage that has nothing to do with it. */
enum { UNRELATED = 20 };
static rrc_object *unrelated[UNRELATED];
static int gone;

static void hold_all(host *h, rrc_object *ob)
{
    int i;

    h->on_dealloc = NULL;
    gone = KNOT(ob)->tag;
    for (i = 0; i < UNRELATED; i++)
        if (i != gone)
            rrc_incref(h->heap, unrelated[i]);
}

static void unrelated_garbage_is_held(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[2];
    int i;

    for (i = 0; i < UNRELATED; i++) {
        unrelated[i] = knot_ring(h, &Knot, 2, ring);
        KNOT(ring[0])->tag = KNOT(ring[1])->tag = i;
    }
    h->on_dealloc = hold_all;
    knot_collect(h);
    check_int(h->deallocs, 2);
    for (i = 0; i < UNRELATED; i++)
        if (i != gone) {
            check(KNOT(unrelated[i])->ref[0] != NULL && KNOT(unrelated[i])->ref[0] != unrelated[i]);
            check_ptr(KNOT(KNOT(unrelated[i])->ref[0])->ref[0], unrelated[i]);
            rrc_decref(h->heap, unrelated[i]);
        }
    knot_collect(h);
    check_int(h->deallocs, 2 * UNRELATED);
    forget_events(h);
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

/* The callback of a weak reference takes hold of another object of the same garbage. */
static void weakrefs_take_hold(rrc_heap *heap, rrc_object *ob)
{
    host *h = HOST(heap);

    (void)ob;
    if (h->test != NULL)
        rrc_incref(heap, (rrc_object *)h->test);
    h->test = NULL;
}

static const rrc_type Taking = {
    .tp_name = "Taking", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = knot_dealloc,
    .tp_traverse = knot_traverse, .tp_clear = knot_clear, .tp_clear_weakrefs = weakrefs_take_hold,
};

static void what_a_weak_reference_gives_is_left_alone(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[2];

    knot_ring(h, &Taking, 2, ring);
    h->test = ring[1];
    knot_collect(h);
    check_events(h, "");
    check_ptr(h->test, NULL);
    check_ptr(KNOT(ring[0])->ref[0], ring[1]);
    check_ptr(KNOT(ring[1])->ref[0], ring[0]);
    rrc_decref(h->heap, ring[1]);
    knot_collect(h);
    check_int(h->deallocs, 2);
    forget_events(h);
    host_close(h);
}

#ifdef RRC_DEBUG
static int calls;

/* rrc_check compares two walks over an object, and adds up a third one. */
static int third_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    if (++calls % 3 == 0)
        return visit((rrc_object *)(void *)((char *)self + 1), arg);
    return knot_traverse(self, visit, arg);
}

static const rrc_type Third = {
    .tp_name = "Third", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = knot_dealloc,
    .tp_traverse = third_traverse, .tp_clear = knot_clear,
};

static void wrong_at_the_third_time(void)
{
    static const host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *ob = knot_new(h, &Third, 1), *second = knot_new(h, &Knot, 2);
    size_t id = host_rooted(h, HOST_OLD);
    rrc_object *view = ob_given(h, P, id, FULL);

    calls = 0;
    check_int(rrc_check(h->heap), RRC_ETRAVERSE);
    check_ptr(host_expect_log(h, RRC_ETRAVERSE, "rrc_check")->ob, ob);
    host_expect_silence(h);
    check_ptr(RRC_LINK(view), host_at(h, id));          /* as it was before */
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, second);
    check_int(rrc_check(h->heap), RRC_OK);
    forget_events(h);
    host_close(h);
}
#define DEBUG_UNITS , UNIT(wrong_at_the_third_time)
#else
#define DEBUG_UNITS
#endif

UNIT_GROUP(gc_waiting,
    UNIT(garbage_with_markers), UNIT(linked_without_a_bias_in_a_walk), UNIT(garbage_that_lacks_its_bias),
    UNIT(a_link_without_a_bias_is_no_garbage), UNIT(the_reference_of_the_list_is_not_given),
    UNIT(a_walk_makes_the_batch_void), UNIT(a_collection_makes_the_batch_void), UNIT(the_batch_stays_the_same),
    UNIT(a_finalizer_untracks_others), UNIT(a_finalizer_lets_others_go), UNIT(a_dealloc_untracks_what_was_kept),
    UNIT(what_is_linked_in_a_walk_is_held), UNIT(links_hold_where_the_host_is_not_asked),
    UNIT(much_garbage_goes_back_at_once), UNIT(small_portions_of_much_garbage), UNIT(small_portions_of_little_garbage), UNIT(small_portions_beside_what_was_cleared),
    UNIT(full_parts_with_members),     UNIT(finalizers_come_in_portions), UNIT(what_is_being_finalized_is_held),
    UNIT(unrelated_garbage_is_held), UNIT(a_finalizer_that_untracks_itself_takes_hold),
    UNIT(what_loses_its_weak_references_is_held), UNIT(what_a_weak_reference_gives_is_left_alone)
    DEBUG_UNITS
);
