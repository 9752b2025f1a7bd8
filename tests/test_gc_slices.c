/* Major collections in slices: what the random programs of slices.c do not reach. */

#include "knots.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 200 };

static host *open_sliced(const host_options *given)
{
    host_options options = *given;

    options.incremental = 1;
    options.moving = HOST_STAY;
    options.without_generations = 1;
    return host_open(&options);
}

static host *open_simple(void)
{
    host_options options = { .reports_marks = REPORT_LINKED };

    return open_sliced(&options);
}

/* A tracked object with a link, whose p is new. */
static rrc_object *linked_knot(host *h, link_kind kind, size_t *p)
{
    rrc_object *ob = knot_new(h, &Knot, 1);

    *p = host_new(h, HOST_OLD);
    ob_link(h, kind, *p, ob, FULL);
    host_note_link(h, *p);
    return ob;
}

static void all_is_swept(host *h)
{
    h->sweeps = 1;
    host_major(h);
    h->sweeps = 0;
    rrc_run_pending(h->heap, 0);
}

static void only_incremental_heaps_start(void)
{
    host *h = host_open(NULL);

    check_int(rrc_major_collection_start(h->heap), RRC_EDESC);
    host_expect_log(h, RRC_EDESC, "rrc_major_collection_start");
    check_int(rrc_major_collection_work(h->heap, 5), 0);
    check_int(rrc_major_collection_sweep(h->heap, 5), 0);
    host_close(h);
    check_int(rrc_major_collection_work(NULL, 5), 0);
    check_int(rrc_major_collection_sweep(NULL, 5), 0);
    check_int(rrc_major_collection_start(NULL), RRC_ENULL);
}

static void what_garbage_owns_is_kept_first(void)
{
    host *h = open_simple();

    knot_ring(h, &Knot, 2, NULL);
    host_start(h);
    check(rrc_major_collection_work(h->heap, 0) > 0);
    check_int(rrc_major_collection_work(h->heap, 0), 0);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_major_collection_trace(h->heap), RRC_OK);
    h->slices = 2;
    check_int(rrc_major_collection_sweep(h->heap, 1), 0);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_sweep");
    check_int(rrc_major_collection_free(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_free");
    host_major_keep(h);
    h->phase = HOST_MUTATOR;
    check_int(rrc_run_pending(h->heap, 0), 0);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* Where there is no garbage, the sweep or the free call can come at once. */
static void without_garbage_nothing_is_kept(void)
{
    int sweeps;

    for (sweeps = 0; sweeps < 2; sweeps++) {
        host *h = open_simple();
        size_t p;
        rrc_object *ob = linked_knot(h, O, &p);

        host_start(h);
        h->phase = HOST_MAJOR_TRACE;
        check_int(rrc_major_collection_trace(h->heap), RRC_OK);
        h->slices = 2;
        h->sweeps = sweeps;
        host_major_end(h);
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
        rrc_decref(h->heap, ob);
        check_int(h->deallocs, 1);
        host_close(h);
    }
}

/* An object with two biases is not taken for one that only its link holds. */
static void two_biases_in_slices(void)
{
    host *h = open_simple();
    rrc_object *ob = ob_given(h, P, host_rooted(h, HOST_OLD), FULL);

    host_start(h);
    REFCNT(ob) += BIAS;
    rrc_incref(h->heap, ob);
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob) & INTPTR_MAX, 2 * BIAS);
    REFCNT(ob) -= BIAS;
    all_is_swept(h);
    host_close(h);
}

/* A host that says that it reports must do so. (knot_ring's objects have no link.) */
static void reports_can_be_missing(void)
{
    host *h = open_simple();
    size_t p = host_rooted(h, HOST_OLD);
    rrc_object *ob = knot_new(h, &Knot, 1);

    if (HOST_DEBUG) {
        check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_O | RRC_GIVE), RRC_OK);     /* p is not reported */
        host_start(h);
        host_pronounce(h);
        check_ptr(host_expect_log(h, RRC_EHOOK, "rrc_major_collection_trace")->ob, ob);
        all_is_swept(h);
        check_int(h->deallocs, 0);
        host_unroot(h, p);
        host_note_link(h, p);
        host_start(h);
        all_is_swept(h);
    } else {
        rrc_decref(h->heap, ob);
    }
    check_int(h->deallocs, 1);
    host_close(h);
}

/* The same in a collection that is not divided. There a missing report costs a round. */
static void reports_can_be_missing_in_one_pass(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .without_generations = 1 };
    host *h = host_open(&options);
    size_t p = host_rooted(h, HOST_OLD);
    rrc_object *ob = knot_new(h, &Knot, 1);

    check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_O | RRC_GIVE), RRC_OK);
    host_major(h);
    if (HOST_DEBUG)
        check_ptr(host_expect_log(h, RRC_EHOOK, "rrc_major_collection_trace")->ob, ob);
    check_int(h->deallocs, 0);
    host_note_link(h, p);
    host_major(h);
    host_unroot(h, p);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* A host that reports nothing is asked. */
static void silent_hosts_are_asked(void)
{
    host_options options = { .reports_marks = 0 };
    host *h = open_sliced(&options);
    size_t root = host_rooted(h, HOST_OLD), p, kept, far;
    rrc_object *ob, *final = knot_new(h, &KnotFinal, 7), *needed;

    ob = linked_knot(h, O, &p);
    host_point(h, root, 0, p);
    knot_tie(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    knot_tie(h, final, 0, final);       /* garbage that has a finalizer, and needs `needed` by way of two p's */
    kept = host_new(h, HOST_OLD);
    ob_link(h, P, kept, final, FULL);
    rrc_decref(h->heap, final);
    needed = linked_knot(h, O, &far);
    knot_tie(h, needed, 0, needed);
    rrc_decref(h->heap, needed);
    host_point(h, kept, 0, far);
    host_start(h);
    host_pronounce(h);
    all_is_swept(h);
    check_int(h->finalized, 1);
    check_int(h->deallocs, 0);
    check(host_is_alive(h, p) && host_is_alive(h, far));
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    host_unroot(h, root);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* ---- mistakes ---- */

static int visits_twice(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(KNOT(self)->ref[0]);
    RRC_VISIT(KNOT(self)->ref[0]);
    return 0;
}

/* It visits a tracked object too often, or one that is not tracked, but linked. */
static void a_wrong_traverse_ends_the_search(void)
{
    rrc_type wrong = Knot;
    int tracked, kind;

    wrong.tp_name = "Wrong";
    wrong.tp_traverse = visits_twice;
    for (tracked = 0; tracked < 2; tracked++)
        for (kind = P; kind <= O; kind++) {
            host_options options = { .reports_marks = REPORT_LINKED, .unchecked = 1 };
            host *h = open_sliced(&options);
            rrc_object *gone = knot_new(h, &Knot, 3), *liar, *victim, *ring[2];
            size_t p = host_new(h, HOST_OLD), views[2];

            unit_context("tracked %d, kind %d", tracked, kind);
            victim = tracked ? knot_new(h, &Knot, 2) : ob_new(h, &Node);       /* (it must be decided on first) */
            liar = knot_new(h, &wrong, 1);
            ob_link(h, (link_kind)kind, p, victim, FULL);
            host_note_link(h, p);
            KNOT(liar)->ref[0] = victim;            /* the only reference */
            knot_ring(h, &Knot, 2, ring);
            rrc_decref(h->heap, linked_knot(h, P, &views[0]));
            rrc_decref(h->heap, linked_knot(h, O, &views[1]));
            host_start(h);
            check_int(rrc_major_collection_work(h->heap, 1), 1);
            rrc_gc_untrack(h->heap, gone);
            host_pronounce(h);
            host_expect_log(h, RRC_ETRAVERSE, "rrc_major_collection_trace");
            if (kind == P)
                check(host_is_marked(h, p));
            all_is_swept(h);
            rrc_check(h->heap);
            h->log_read = h->log_count;
            KNOT(liar)->ref[0] = NULL;
            rrc_decref(h->heap, victim);
            rrc_decref(h->heap, liar);
            rrc_decref(h->heap, gone);
            host_start(h);
            all_is_swept(h);
            host_start(h);
            all_is_swept(h);
            check_stats(h, 0, 0, 0, 0, 0);
            host_close(h);
        }
}

static void a_bias_can_be_forgotten(void)
{
    host *h = open_simple();
    size_t p = host_new(h, HOST_OLD);
    rrc_object *ob = ob_new(h, &Node);

    check_int(rrc_create_link_pypy(h->heap, host_at(h, p), ob), RRC_OK);
    host_note_link(h, p);
    host_start(h);
    check(rrc_major_collection_work(h->heap, 0) > 0);
    host_expect_log(h, RRC_EREFCNT, "rrc_major_collection_work");
    host_pronounce(h);
    check(host_is_marked(h, p));
    RRC_REFCNT(ob) += BIAS;
    all_is_swept(h);
    check(host_is_alive(h, p));
    rrc_decref(h->heap, ob);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* ---- the mutator between slices ---- */

static STATIC_OB(fixed, &Node);

static void static_objects_are_alive(void)
{
    host *h = open_simple();
    size_t p = host_new(h, HOST_OLD);

    host_start(h);
    check_int(rrc_link(h->heap, host_at(h, p), STATIC_PTR(fixed), RRC_P), RRC_OK);
    host_note_link(h, p);
    check(host_is_marked(h, p));
    all_is_swept(h);
    check(host_is_alive(h, p));
    host_start(h);
    all_is_swept(h);
    check(host_is_alive(h, p));
    check_int(rrc_unlink(h->heap, STATIC_PTR(fixed)), RRC_OK);
    host_close(h);
}

/* The mutator gets hold of many objects that were white, and untracks some of them while they are gray. */
static void gray_objects_leave(void)
{
    host *h = open_simple();
    rrc_object *ring[MANY], *second[MANY];
    size_t i;

    knot_ring(h, &Knot, MANY, ring);
    knot_ring(h, &Knot, MANY, second);
    host_start(h);
    check(rrc_major_collection_work(h->heap, 0) > 0);      /* to the end: all is white */
    for (i = 0; i < MANY; i++) {
        rrc_incref(h->heap, ring[i]);
        if (i % 3 == 0)
            rrc_gc_untrack(h->heap, ring[i]);
    }
    check_int(rrc_check(h->heap), RRC_OK);
    host_pronounce(h);
    all_is_swept(h);
    check_int(h->deallocs, MANY);
    check_int(rrc_check(h->heap), RRC_OK);
    for (i = 0; i < MANY; i++) {
        check_int(rrc_gc_is_tracked(h->heap, ring[i]), i % 3 != 0);
        if (i % 3 == 0)
            check_int(rrc_gc_track(h->heap, ring[i]), RRC_OK);
        rrc_decref(h->heap, ring[i]);
    }
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 2 * MANY);
    host_close(h);
}

/* p died, and the sweep has not come to the link yet. */
static void links_of_the_dead(void)
{
    static short marker;
    host *h = open_simple();
    size_t p = host_new(h, HOST_OLD), live = host_rooted(h, HOST_OLD), fresh, i;
    rrc_object *ob = ob_shared(h, O, p, FULL), *other = ob_shared(h, O, live, FULL), *plain = ob_new(h, &Node);

    host_note_link(h, p);
    host_note_link(h, live);
    for (i = 0; i < 4 * MANY; i++) {
        size_t id = host_rooted(h, HOST_OLD);

        ob_given(h, i % 2 == 0 ? O : P, id, FULL);
        host_note_link(h, id);
    }
    host_start(h);
    check(rrc_major_collection_work(h->heap, 100) >= 100);
    host_pronounce(h);
    check_int(rrc_major_collection_sweep(h->heap, 10) >= 10, 1);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    check_ptr(rrc_to_obj(h->heap, other), host_at(h, live));
    check_ptr(rrc_to_obj(h->heap, plain), NULL);
    fresh = host_rooted(h, HOST_OLD);
    check_int(rrc_link(h->heap, host_at(h, fresh), other, RRC_O), RRC_ELINKED);
    host_expect_log(h, RRC_ELINKED, "rrc_link");
    rrc_mark_deallocating(h->heap, &marker, plain);
    check_ptr(rrc_to_obj(h->heap, plain), &marker);
    check_int(rrc_link(h->heap, host_at(h, fresh), plain, RRC_O), RRC_ELINKED);
    host_expect_log(h, RRC_ELINKED, "rrc_link");
    rrc_mark_deallocating(h->heap, NULL, plain);
    check_int(rrc_link(h->heap, host_at(h, fresh), ob, RRC_O), RRC_OK);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, fresh));
    while (rrc_major_collection_sweep(h->heap, 64) >= 64)
        check_int(rrc_check(h->heap), RRC_OK);
    h->slices = 0;
    check_int(host_stats(h).major_collections, 1);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, fresh));
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, other);
    rrc_decref(h->heap, plain);
    host_free_heap(h);
    host_end(h);
}

/* Garbage that has just lost a young p gets a link before it is set aside: it is none any more. */
static void garbage_is_linked_at_once(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .incremental = 1, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p = host_new(h, HOST_YOUNG), live = host_rooted(h, HOST_OLD);
    rrc_object *ob = knot_new(h, &Knot, 1);

    ob_link(h, O, p, ob, FULL);
    host_note_link(h, p);
    rrc_decref(h->heap, ob);
    host_start(h);
    host_pronounce(h);
    check_int(rrc_link(h->heap, host_at(h, live), ob, RRC_O), RRC_OK);
    host_note_link(h, live);
    all_is_swept(h);
    check_int(h->deallocs, 0);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, live));
    host_unroot(h, live);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* Reports that come while a minor collection copies are not about the major one. */
static void reports_in_a_minor(void)
{
    host *h = open_simple();
    size_t p;
    rrc_object *ob = linked_knot(h, O, &p);

    rrc_decref(h->heap, ob);
    host_start(h);
    check(rrc_major_collection_work(h->heap, 0) > 0);
    host_minor_begin(h);
    rrc_marked(h->heap, host_at(h, p));
    rrc_marked_ob(h->heap, ob);
    host_minor_end(h);
    all_is_swept(h);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* ---- between the verdict and the keep call ---- */

/* (This host promotes at the end of a major collection, which rrc_check would not like.) */
static host *open_young(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .incremental = 1, .moving = HOST_STAY, .unchecked = 1 };

    return host_open(&options);
}

static rrc_object *owned_view;
static size_t owned_p;

static void look_at_view(host *h, rrc_object *ob)
{
    if (KNOT(ob)->tag == 7) {
        check(host_is_alive(h, owned_p));
        check_ptr(rrc_to_obj(h->heap, owned_view), host_at(h, owned_p));
    }
}

static void only_the_verdict_of(host *h)
{
    rrc_major_collection_work(h->heap, 0);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_major_collection_trace(h->heap), RRC_OK);
    h->phase = HOST_MUTATOR;
    h->slices = 2;
}

static void only_the_verdict(host *h)
{
    host_start(h);
    only_the_verdict_of(h);
}

/* After the verdict: so many slices of at most max units of what is to be kept. */
static void keep_in_slices(host *h, size_t slices, size_t max)
{
    size_t i;

    h->phase = HOST_MAJOR_TRACE;
    for (i = 0; i < slices; i++)
        rrc_major_collection_work(h->heap, max);
    h->phase = HOST_MUTATOR;
}

/* A minor collection finds the young p of garbage dead. What the garbage owns must be kept nevertheless. */
static void garbage_loses_its_p_in_a_minor(void)
{
    host *h = open_young();
    rrc_object *ob = knot_new(h, &Knot, 7);

    owned_view = linked_knot(h, P, &owned_p);
    knot_tie(h, ob, 0, owned_view);
    rrc_decref(h->heap, owned_view);
    ob_link(h, O, host_new(h, HOST_YOUNG), ob, FULL);
    rrc_decref(h->heap, ob);
    h->on_dealloc = look_at_view;
    only_the_verdict(h);
    host_minor(h);
    check_int(h->deallocs, 0);
    host_major_keep(h);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* A finalizer needs an old p, which refers to a young one. The link of that one must not be dissolved before. */
static void a_young_p_is_kept(void)
{
    host *h = open_young();
    rrc_object *final = knot_new(h, &KnotFinal, 7), *view = ob_new(h, &Node);
    size_t old = host_new(h, HOST_OLD), near = host_new(h, HOST_YOUNG);
    rrc_object *needed = linked_knot(h, P, &owned_p);

    host_point(h, owned_p, 0, old);
    host_point(h, old, 0, near);
    ob_link(h, O, near, view, FULL);
    knot_tie(h, final, 0, final);
    knot_tie(h, final, 1, needed);
    rrc_decref(h->heap, needed);
    rrc_decref(h->heap, final);
    only_the_verdict(h);
    host_major_keep(h);
    check(host_is_alive(h, near));
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, near));
    all_is_swept(h);
    check_int(h->finalized, 1);
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, near));
    rrc_decref(h->heap, view);
    host_start(h);
    all_is_swept(h);                    /* `near` is kept once more, as `final` owns `needed` */
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* What the host reports after rrc_major_collection_keep comes too late. */
static void garbage_is_reported_too_late(void)
{
    host *h = open_simple();
    rrc_object *ring[2];

    knot_ring(h, &Knot, 2, ring);
    only_the_verdict(h);
    host_major_keep(h);
    rrc_marked_ob(h->heap, ring[0]);
    rrc_marked_ob(h->heap, ring[1]);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

/* C has a pointer to garbage, takes a reference, and untracks the object before it is set aside. */
static void garbage_is_untracked_before_it_waits(void)
{
    host *h = open_simple();
    rrc_object *ring[2];

    knot_ring(h, &Knot, 2, ring);
    only_the_verdict(h);
    rrc_incref(h->heap, ring[0]);
    rrc_gc_untrack(h->heap, ring[0]);
    host_major_keep(h);
    all_is_swept(h);
    check_int(h->deallocs, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_gc_track(h->heap, ring[0]), RRC_OK);
    rrc_decref(h->heap, ring[0]);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

static rrc_object *kept_pointer;

static int untrack_kept(rrc_object *ob, void *h)
{
    if (ob == kept_pointer)
        rrc_gc_untrack(((host *)h)->heap, ob);
    return 1;
}

/* C has a pointer to garbage. Between any two slices after the verdict it untracks the object, to which it takes no
   reference, or only a walk does. What the object owns stays: another object, and what that one owns, a view and its p
   too. */
static void untouched_garbage_is_untracked(int in_walk)
{
    size_t slices;

    for (slices = 0; slices < 24; slices++) {
        host *h = open_simple();
        rrc_object *garbage = knot_new(h, &Knot, 0), *owned = knot_new(h, &Knot, 0);

        unit_context("%d slices", (int)slices);
        owned_view = linked_knot(h, P, &owned_p);
        kept_pointer = garbage;
        knot_tie(h, owned, 0, owned_view);
        knot_tie(h, garbage, 0, garbage);
        knot_tie(h, garbage, 1, owned);
        rrc_decref(h->heap, owned_view);
        rrc_decref(h->heap, owned);
        rrc_decref(h->heap, garbage);
        only_the_verdict(h);
        keep_in_slices(h, slices, 1);
        if (in_walk)
            rrc_gc_visit_objects(h->heap, untrack_kept, h);
        else
            rrc_gc_untrack(h->heap, garbage);
        check(!rrc_gc_is_tracked(h->heap, garbage));
        host_major_keep(h);
        all_is_swept(h);
        check_int(h->deallocs, 0);
        check_int(REFCNT(garbage), 1);
        check_ptr(KNOT(garbage)->ref[1], owned);
        check_int(REFCNT(owned), 1);
        check_ptr(KNOT(owned)->ref[0], owned_view);
        check(host_is_alive(h, owned_p));
        check_ptr(rrc_to_obj(h->heap, owned_view), host_at(h, owned_p));
        check_int(rrc_gc_track(h->heap, garbage), RRC_OK);
        host_start(h);
        all_is_swept(h);
        host_start(h);
        all_is_swept(h);
        check_int(h->deallocs, 3);
        host_close(h);
    }
}

static void a_pointer_untracks_garbage(void) { untouched_garbage_is_untracked(0); }
static void a_walk_untracks_garbage(void) { untouched_garbage_is_untracked(1); }

/* C knows of garbage without a reference to it. Between any two slices after the verdict it gets a link to a p that
   lives: from now on it lives as long as p, and so does what it owns, a view and its p too. It may be gray, as what
   has a finalizer refers to it. */
static void late_garbage_is_linked(link_kind kind, int is_finalized)
{
    size_t slices, i;

    for (slices = 0; slices < 24; slices++) {
        host *h = open_simple();
        rrc_object *owner = knot_new(h, is_finalized ? &KnotFinal : &Knot, 0), *late = knot_new(h, &Knot, 7);
        size_t live;

        unit_context("%d slices", (int)slices);
        owned_view = linked_knot(h, P, &owned_p);
        knot_tie(h, late, 0, owned_view);
        knot_tie(h, late, 1, late);
        knot_tie(h, owner, 0, owner);
        knot_tie(h, owner, 1, late);
        rrc_decref(h->heap, owned_view);
        rrc_decref(h->heap, late);
        rrc_decref(h->heap, owner);
        only_the_verdict(h);
        keep_in_slices(h, slices, 1);
        live = host_rooted(h, HOST_OLD);
        check_int(rrc_link(h->heap, host_at(h, live), late, kind == P ? RRC_P : RRC_O), RRC_OK);
        host_note_link(h, live);
        host_major_keep(h);
        all_is_swept(h);
        check_int(h->deallocs, !is_finalized);          /* of the owner */
        check_ptr(rrc_to_obj(h->heap, late), host_at(h, live));
        check_ptr(rrc_to_obj(h->heap, owned_view), host_at(h, owned_p));
        check(host_is_alive(h, owned_p));
        host_unroot(h, live);
        for (i = 0; i < 3; i++) {
            host_start(h);
            all_is_swept(h);
        }
        check_int(h->deallocs, 3);
        host_close(h);
    }
}

static void late_garbage_gets_a_proxy(void) { late_garbage_is_linked(O, 0); }
static void late_garbage_gets_a_view(void) { late_garbage_is_linked(P, 0); }
static void what_is_kept_gets_a_proxy(void) { late_garbage_is_linked(O, 1); }
static void what_is_kept_gets_a_view(void) { late_garbage_is_linked(P, 1); }

/* The program has read a p that is not marked yet from one that is kept for garbage, and gives it to C. */
static void what_is_read_while_garbage_is_kept_gets_a_view(void)
{
    host *h = open_simple();
    size_t first = host_new(h, HOST_OLD), read = host_new(h, HOST_OLD), below = host_new(h, HOST_OLD);
    rrc_object *garbage = knot_new(h, &Knot, 0), *owned = ob_given(h, P, first, FULL), *view;

    host_point(h, first, 0, read);
    host_point(h, read, 0, below);
    knot_tie(h, garbage, 0, garbage);
    knot_tie(h, garbage, 1, owned);
    rrc_decref(h->heap, garbage);
    only_the_verdict(h);
    view = ob_new(h, &Plain);
    ob_link(h, P, read, view, FULL);
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, read));
    host_point(h, first, 0, HOST_NOTHING);
    host_major_keep(h);
    all_is_swept(h);
    check(host_is_alive(h, read) && host_is_alive(h, below));
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, read));
    rrc_decref(h->heap, view);
    host_start(h);
    all_is_swept(h);
    h->events[0] = '\0';
    host_close(h);
}

/* The same for so many finalizable objects that most of the gray ones have another one behind them. */
static void gray_objects_are_linked(void)
{
    enum { ALL = 200 };
    host *h = open_simple();
    rrc_object *ob[ALL];
    size_t p, i, live[ALL / 2];

    for (i = 0; i < ALL; i++) {
        ob[i] = knot_new(h, &KnotFinal, 0);
        p = host_new(h, HOST_OLD);
        ob_link(h, O, p, ob[i], FULL);
        host_note_link(h, p);
        rrc_decref(h->heap, ob[i]);
    }
    only_the_verdict(h);
    h->phase = HOST_MAJOR_TRACE;
    rrc_major_collection_work(h->heap, 3 * ALL / 4);
    h->phase = HOST_MUTATOR;
    for (i = 0; i < ALL / 2; i++) {
        live[i] = host_rooted(h, HOST_OLD);
        check_int(rrc_link(h->heap, host_at(h, live[i]), ob[2 * i], RRC_O), RRC_OK);
        host_note_link(h, live[i]);
    }
    host_major_keep(h);
    all_is_swept(h);
    check_int(h->finalized, ALL / 2);
    for (i = 0; i < ALL / 2; i++) {
        check_ptr(rrc_to_obj(h->heap, ob[2 * i]), host_at(h, live[i]));
        host_unroot(h, live[i]);
    }
    for (i = 0; i < 3; i++) {
        host_start(h);
        all_is_swept(h);
    }
    check_int(h->finalized, ALL);
    check_int(h->deallocs, ALL);
    host_close(h);
}

/* Link shared, which C holds, to a proxy that only an object with a finalizer reaches, and give the verdict: now the
   proxy is hidden. */
static size_t hidden_proxy(host *h, rrc_object *shared)
{
    rrc_object *final = knot_new(h, &KnotFinal, 7);
    size_t proxy = host_new(h, HOST_OLD);

    owned_view = linked_knot(h, P, &owned_p);
    knot_tie(h, final, 0, final);
    knot_tie(h, final, 1, owned_view);
    rrc_decref(h->heap, owned_view);
    rrc_decref(h->heap, final);
    host_point(h, owned_p, 0, proxy);
    ob_link(h, O, proxy, shared, FULL);
    only_the_verdict(h);
    check_ptr(rrc_to_obj(h->heap, shared), NULL);
    return proxy;
}

/* C holds an object whose proxy is not reached, and gives it a new one, or unlinks it, before the old proxy is kept for
   a finalizer. The old proxy is told that it has lost its object. */
static void a_proxy_that_is_kept_is_told(void)
{
    int relinks;

    for (relinks = 0; relinks < 2; relinks++) {
        host *h = open_simple();
        rrc_object *shared = ob_new(h, &Node);
        size_t proxy = hidden_proxy(h, shared), fresh;

        fresh = host_rooted(h, HOST_OLD);
        check_int(h->parted, 0);
        check_int(relinks ? rrc_link(h->heap, host_at(h, fresh), shared, RRC_O) : rrc_unlink(h->heap, shared), RRC_OK);
        check_int(h->parted, 1);
        check_ptr(rrc_to_obj(h->heap, shared), relinks ? host_at(h, fresh) : NULL);
        host_major_keep(h);
        check(host_is_alive(h, proxy));
        all_is_swept(h);
        check_int(h->finalized, 1);
        rrc_decref(h->heap, shared);
        host_unroot(h, fresh);
        host_start(h);
        all_is_swept(h);
        host_start(h);
        all_is_swept(h);
        check_int(h->deallocs, 3);
        host_close(h);
    }
}

/* There is no memory for the new link of an object whose p is hidden: it keeps the old one. With memory again, and the
   room that a collection needs (I5), it gets the new one. */
static void a_hidden_p_is_not_replaced(void)
{
    enum { MOST = 5000 };
    static rrc_object *others[MOST];
    int relinks;

    for (relinks = 0; relinks < 2; relinks++) {
        host *h = open_simple();
        rrc_object *shared = ob_new(h, &Node);
        size_t proxy, fresh, made = 0, i;
        int code;

        for (i = 0; i < MOST; i++)
            others[i] = ob_new(h, &Node);
        proxy = hidden_proxy(h, shared);
        h->fail_at = h->calls.allocate + 1;
        h->fail_on = 1;
        do {
            fresh = host_rooted(h, HOST_OLD);
            code = rrc_link(h->heap, host_at(h, fresh), others[made++], RRC_O);
        } while (code == RRC_OK && made < MOST);
        check_int(code, RRC_ENOMEM);
        check_int(rrc_link(h->heap, host_at(h, fresh), shared, RRC_O), RRC_ENOMEM);
        h->fail_at = 0;
        h->fail_on = 0;
        h->log_read = h->log_count;
        check_int(h->parted, 0);
        check_int(rrc_check(h->heap), RRC_OK);
        if (relinks) {
            check_int(rrc_link(h->heap, host_at(h, fresh), shared, RRC_O), RRC_OK);
            check_int(h->parted, 1);
            check_int(rrc_check(h->heap), RRC_OK);
        }
        host_major_keep(h);
        check_ptr(rrc_to_obj(h->heap, shared), host_at(h, relinks ? fresh : proxy));
        all_is_swept(h);
        check_int(h->finalized, 1);
        rrc_decref(h->heap, shared);
        for (i = 0; i < MOST; i++)
            rrc_decref(h->heap, others[i]);
        host_close(h);
    }
}

/* Slices watch a tracked object and what it refers to, each of which has a link: this marks their
   counts. C holds them when the collection is given up and the heap ends: they have their true counts then. */
static void counts_lose_their_marks(void)
{
    enum { ALL = 5 };
    size_t work, marked = 0;
    int pauses, i;

    for (pauses = 0; pauses < 2; pauses++)
        for (work = 0; work < 60; work++) {
            host *h = open_simple();
            rrc_object *ob[ALL];

            for (i = 0; i < ALL; i++)
                ob[i] = i < 3 ? knot_new(h, &Knot, i) : ob_new(h, &Node);
            for (i = 1; i < ALL; i++) {
                knot_tie(h, ob[i < 3 ? 0 : i - 2], i == 2, ob[i]);
                ob_link(h, i < 3 ? O : P, host_new(h, HOST_OLD), ob[i], FULL);
            }
            host_start(h);
            if (work > 0)
                rrc_major_collection_work(h->heap, work);
            for (i = 0; i < ALL; i++)
                marked += REFCNT(ob[i]) < 0;
            if (pauses) {
                check_int(rrc_major_collection_pause(h->heap), RRC_OK);
                h->slices = 0;
                for (i = 0; i < ALL; i++)
                    check(REFCNT(ob[i]) > 0);
            }
            check_int(host_free_heap(h), ALL - 1);
            for (i = 0; i < ALL; i++)
                check_int(REFCNT(ob[i]), i == 0 ? 1 : 2);
            for (i = 0; i < ALL; i++)
                rrc_decref(h->heap, ob[i]);
            host_end(h);
        }
    check(marked > 0);
}

/* Only p holds an object, and slices watch it. C takes a reference to it, before their verdict or after it. */
static void a_taken_object_loses_its_mark(void)
{
    int after;

    for (after = 0; after < 2; after++) {
        host *h = open_simple();
        size_t p = host_rooted(h, HOST_OLD);
        rrc_object *ob = ob_given(h, P, p, FULL);

        host_start(h);
        rrc_major_collection_work(h->heap, 0);
        if (after)
            host_pronounce(h);
        check(REFCNT(ob) < 0);
        rrc_incref(h->heap, ob);
        check(REFCNT(ob) > 0);
        rrc_decref(h->heap, ob);
        if (!after)
            host_pronounce(h);
        all_is_swept(h);
        check_ptr(rrc_from_obj(h->heap, host_at(h, p)), ob);
        host_close(h);
    }
}

/* What is left after its tp_clear is weighed again. C takes it then: it is alive, and so is what it owns. */
static int clears;

static int only_count(rrc_heap *heap, rrc_object *self)
{
    (void)heap, (void)self;
    clears++;
    return 0;
}

static void what_was_cleared_is_taken(void)
{
    rrc_type type = Knot;
    host *h = open_simple();
    rrc_object *ring[2];

    type.tp_clear = only_count;
    clears = 0;
    knot_ring(h, &type, 2, ring);
    knot_collect(h);
    check_int(clears, 2);
    host_start(h);
    rrc_major_collection_work(h->heap, 0);
    rrc_incref(h->heap, ring[0]);
    host_pronounce(h);
    all_is_swept(h);
    rrc_run_pending(h->heap, 0);
    check_int(clears, 2);
    check(!rrc_gc_is_uncollectable(h->heap, ring[0]) && !rrc_gc_is_uncollectable(h->heap, ring[1]));
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
    rrc_decref(h->heap, ring[0]);
    check_int(h->deallocs, 2);
    h->events[0] = '\0';
    host_close(h);
}

/* It is cleared while a search goes on, which finds it alive for that. The next search tells that it is uncollectable. */
static int hold_itself(rrc_heap *heap, rrc_object *self)
{
    rrc_incref(heap, self);
    rrc_decref(heap, self);
    return 0;
}

static void what_is_cleared_in_a_search_is_uncollectable(void)
{
    rrc_type type = Knot;
    host *h = open_simple();
    rrc_object *ring[2];
    int i;

    type.tp_clear = hold_itself;
    knot_ring(h, &type, 2, ring);
    host_major(h);
    for (i = 0; i < 2; i++) {
        check_int(host_stats(h).pending, i == 0 ? 2 : 0);
        host_start(h);
        rrc_run_pending(h->heap, 0);
        host_pronounce(h);
        all_is_swept(h);
    }
    check_int(host_stats(h).uncollectable, 2);
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    rrc_incref(h->heap, ring[0]);
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
    rrc_decref(h->heap, ring[0]);
    check_int(h->deallocs, 2);
    h->events[0] = '\0';
    host_close(h);
}

/* ... or after the verdict, when it is garbage again. */
static void what_was_cleared_is_taken_late(void)
{
    rrc_type type = Knot;
    int slices;

    type.tp_clear = only_count;
    for (slices = 0; slices < 3; slices++) {
        host *h = open_simple();
        rrc_object *ob = knot_new(h, &type, 1), *kept[100];
        size_t i;

        unit_context("%d slices", slices);
        KNOT(ob)->ref[0] = ob;
        clears = 0;
        knot_collect(h);
        check_int(clears, 1);
        for (i = 0; i < 100; i++) {     /* garbage that waits for its finalizers, some of it gray */
            kept[i] = knot_new(h, &KnotFinal, 2);
            if (i > 0)
                KNOT(kept[i])->ref[0] = kept[i - 1];
        }
        KNOT(kept[0])->ref[0] = kept[99];
        knot_tie(h, ob, 1, kept[50]);
        only_the_verdict(h);
        keep_in_slices(h, (size_t)slices, 70);
        rrc_incref(h->heap, ob);
        host_major_keep(h);
        all_is_swept(h);
        check_int(clears, 1);
        check_int(h->finalized, 0);
        check_int(rrc_check(h->heap), RRC_OK);
        RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
        rrc_decref(h->heap, ob);
        h->events[0] = '\0';
        for (i = 0; i < 3; i++)
            knot_collect(h);
        check_int(h->deallocs, 101);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* After the verdict garbage loses its last reference, and its finalizer takes one. */
static rrc_object *brought_back;

static void bring_back(host *h, rrc_object *ob)
{
    if (brought_back == NULL) {
        rrc_incref(h->heap, ob);
        brought_back = ob;
    }
}

static void brought_back_after_the_verdict(void)
{
    host *h = open_simple();
    rrc_object *a = knot_new(h, &Knot, 1), *b = knot_new(h, &KnotFinal, 2), *c = knot_new(h, &Knot, 3);

    KNOT(a)->ref[0] = a;
    KNOT(a)->ref[1] = b;
    KNOT(b)->ref[0] = c;
    brought_back = NULL;
    h->on_finalize = bring_back;
    only_the_verdict(h);
    rrc_incref(h->heap, a);
    RRC_CLEAR(h->heap, KNOT(a)->ref[1]);
    check_ptr(brought_back, b);
    host_major_keep(h);
    all_is_swept(h);
    check_ptr(KNOT(b)->ref[0], c);
    check_int(h->deallocs, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_decref(h->heap, b);
    rrc_decref(h->heap, a);
    knot_collect(h);
    check_int(h->deallocs, 3);
    h->events[0] = '\0';
    host_close(h);
}

/* A static object has no link, whatever its count. */
static void static_objects_have_no_p(void)
{
    static STATIC_OB(none, &Node);
    host *h = open_simple();

    host_start(h);
    check_ptr(rrc_to_obj(h->heap, STATIC_PTR(none)), NULL);
    only_the_verdict_of(h);
    check_ptr(rrc_to_obj(h->heap, STATIC_PTR(none)), NULL);
    host_major_keep(h);
    all_is_swept(h);
    host_close(h);
}

/* An object that loses its link in the middle of a collection is no garbage. */
static void an_unlinked_object_is_no_garbage(void)
{
    host *h = open_simple();
    size_t p;
    rrc_object *ob = linked_knot(h, O, &p);

    host_root(h, p);
    rrc_decref(h->heap, ob);
    host_start(h);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    rrc_incref(h->heap, ob);
    check_int(host_stats(h).garbage, 0);
    all_is_swept(h);
    check_int(host_stats(h).garbage, 0);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* What is alive is untracked at the same time: nothing that it owns is looked at. */
static void what_is_alive_is_untracked_at_once(void)
{
    host *h = open_simple();
    rrc_object *live = knot_new(h, &Knot, 0);

    knot_tie(h, live, 0, live);
    knot_ring(h, &Knot, 2, NULL);
    only_the_verdict(h);
    KNOT(live)->traversed = 0;
    rrc_gc_untrack(h->heap, live);
    check_int(KNOT(live)->traversed, 0);
    host_major_keep(h);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    rrc_decref(h->heap, live);
    RRC_CLEAR(h->heap, KNOT(live)->ref[0]);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* The same between any two slices that keep what garbage owns: the object may be gray. Its p must be kept, as
   garbage owns it. */
static void what_garbage_owns_is_untracked(void)
{
    size_t slices, i;

    for (slices = 0; slices < 16; slices++) {
        host *h = open_simple();
        rrc_object *owner = knot_new(h, &Knot, 7);

        owned_view = linked_knot(h, P, &owned_p);
        knot_tie(h, owner, 0, owned_view);
        knot_tie(h, owner, 1, owner);
        rrc_decref(h->heap, owned_view);
        rrc_decref(h->heap, owner);
        only_the_verdict(h);
        h->phase = HOST_MAJOR_TRACE;
        for (i = 0; i < slices; i++)
            rrc_major_collection_work(h->heap, 1);
        rrc_incref(h->heap, owned_view);
        rrc_gc_untrack(h->heap, owned_view);
        h->phase = HOST_MUTATOR;
        host_major_keep(h);
        h->on_dealloc = look_at_view;
        all_is_swept(h);
        check_int(h->deallocs, 1);
        rrc_decref(h->heap, owned_view);
        host_start(h);
        all_is_swept(h);
        check_int(h->deallocs, 2);
        host_close(h);
    }
}

/* The same for so many that most of the gray objects have another one behind them. The next search counts their
   references from 0. (rrc_check would clear the words in which they are counted.) */
static void gray_objects_leave_nothing_behind(void)
{
    enum { VIEWS = 130 };
    host_options options = { .reports_marks = REPORT_LINKED, .unchecked = 1 };
    host *h = open_sliced(&options);
    rrc_object *view[VIEWS], *held = knot_new(h, &Knot, 0);
    size_t p[VIEWS], i;

    for (i = 0; i < VIEWS; i++) {
        rrc_object *owner = knot_new(h, &Knot, 0);

        view[i] = linked_knot(h, P, &p[i]);
        KNOT(view[i])->tag = 0;
        knot_tie(h, owner, 0, view[i]);
        knot_tie(h, owner, 1, owner);
        rrc_decref(h->heap, view[i]);
        rrc_decref(h->heap, owner);
    }
    only_the_verdict(h);
    h->phase = HOST_MAJOR_TRACE;
    rrc_major_collection_work(h->heap, 2 * VIEWS + 1);      /* nothing has a finalizer */
    rrc_major_collection_work(h->heap, 4 * VIEWS - 10);     /* the last owners are still to be looked at */
    for (i = 0; i < VIEWS; i++) {
        rrc_incref(h->heap, view[i]);
        rrc_gc_untrack(h->heap, view[i]);
    }
    h->phase = HOST_MUTATOR;
    host_major_keep(h);
    all_is_swept(h);
    check_int(h->deallocs, VIEWS);
    for (i = 0; i < VIEWS; i++) {
        check(host_is_alive(h, p[i]));
        if (i % 2 == 0)
            rrc_decref(h->heap, view[i]);
    }
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, VIEWS + VIEWS / 2);
    for (i = 0; i < VIEWS; i++)
        check_int(host_is_alive(h, p[i]), i % 2 != 0);
    for (i = 1; i < VIEWS; i += 2)
        rrc_decref(h->heap, view[i]);
    rrc_decref(h->heap, held);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 2 * VIEWS + 1);
    host_close(h);
}

/* What only its link holds is deallocated before anything that it owns is cleared. It is found in slices. None does
   more than it is asked to, and none repeats what others have done. Garbage that waits already is not looked at. */
static void owners_come_first_in_slices(void)
{
    enum { PAIRS = 9, OTHERS = 7, UNITS = 2 * PAIRS + OTHERS };
    size_t max, i;

    for (max = 1; max < 6; max++) {
        host *h = open_simple();
        rrc_object *owner, *owned, *held[OTHERS];
        size_t p;

        unit_context("slices of %d", (int)max);
        knot_ring(h, &Knot, 20, NULL);
        host_start(h);
        h->sweeps = 1;
        host_major(h);
        h->sweeps = 0;
        check_int(host_stats(h).pending, 20);
        for (i = 0; i < PAIRS; i++) {
            owner = linked_knot(h, P, &p);
            owned = knot_new(h, &Knot, 2);
            knot_tie(h, owned, 0, owned);
            knot_tie(h, owner, 0, owned);
            rrc_decref(h->heap, owned);
            rrc_decref(h->heap, owner);
        }
        for (i = 0; i < OTHERS; i++)
            held[i] = knot_new(h, &Knot, 0);
        host_start(h);
        host_pronounce(h);
        for (i = max; i <= UNITS; i += max)             /* garbage is set aside */
            check_int(rrc_major_collection_sweep(h->heap, max), max);
        for (i = 0; i < 10 && rrc_major_collection_sweep(h->heap, max) >= max; i++)
            ;
        check(i < 10);                                  /* the links */
        h->slices = 0;
        h->events[0] = '\0';
        rrc_run_pending(h->heap, PAIRS);
        check_events(h, "d1 d1 d1 d1 d1 d1 d1 d1 d1");
        rrc_run_pending(h->heap, 0);
        for (i = 0; i < OTHERS; i++)
            rrc_decref(h->heap, held[i]);
        check_int(h->deallocs, 20 + 2 * PAIRS + OTHERS);
        host_close(h);
    }
}

/* What only its link holds is deallocated before anything that it owns is cleared, also if other owners have weak
   references or finalizers: two owners and what they own, of four types each, in each order in the table. */
static void owners_come_first_among_weak_ones(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotWeak, &KnotFinal, &KnotFull };
    enum { PARTS = 4, ORDERS = 256, TYPES = 256, CASES = ORDERS * TYPES };
    int number, sliced;

    for (sliced = 0; sliced < 2; sliced++)
        for (number = 0; number < CASES; number++) {
            rrc_object *part[PARTS] = { NULL };
            int i, order = number % ORDERS, kinds = number / ORDERS, taken = 0;
            host *h;
            size_t p;

            for (i = 0; i < PARTS; i++)
                taken |= 1 << (order >> 2 * i & 3);
            if (taken != 15)
                continue;
            unit_context("types %d, order %d, sliced %d", kinds, order, sliced);
            h = open_simple();
            for (i = 0; i < PARTS; i++)             /* two owners, and what they own */
                part[order >> 2 * i & 3] = knot_new(h, types[kinds >> 2 * (order >> 2 * i & 3) & 3], 0);
            for (i = 0; i < 2; i++) {
                KNOT(part[i])->tag = i + 1;
                KNOT(part[i + 2])->tag = i + 3;
                p = host_new(h, HOST_OLD);
                ob_link(h, P, p, part[i], FULL);
                knot_tie(h, part[i], 0, part[i + 2]);
                knot_tie(h, part[i + 2], 0, part[i + 2]);
            }
            for (i = 0; i < PARTS; i++)
                rrc_decref(h->heap, part[i]);
            for (i = 0; i < 3; i++) {
                if (sliced) {
                    host_start(h);
                    all_is_swept(h);
                } else {
                    h->options.keeps = 1;
                    knot_collect(h);
                }
            }
            check_int(h->deallocs, PARTS);
            for (i = 1; i <= 2; i++) {
                char owner[3] = { 'd', (char)('0' + i), 0 }, owned[3] = { 'c', (char)('2' + i), 0 };
                const char *d = strstr(h->events, owner), *c = strstr(h->events, owned);

                if (c != NULL && d > c)
                    unit_fail(__FILE__, __LINE__, "order: %s", h->events);
            }
            h->events[0] = '\0';
            host_close(h);
        }
}

static rrc_object *found_meanwhile;
static int when_to_collect, ends_at_once;

/* In the dealloc of the first object that goes: a collection in slices finds more garbage, and C gets hold of some. */
static void collect_in_slices(host *h, rrc_object *ob)
{
    rrc_object *ring[3];

    (void)ob;
    if (--when_to_collect != 0)
        return;
    knot_ring(h, &KnotFull, 3, ring);
    host_start(h);
    if (ends_at_once) {
        h->sweeps = 1;
        host_major(h);
        h->sweeps = 0;
    } else {
        host_pronounce(h);
        rrc_major_collection_sweep(h->heap, 5);
    }
    found_meanwhile = ring[1];
    rrc_incref(h->heap, found_meanwhile);
}

/* A batch of garbage is being cleared when more is set aside. That is neither cleared with it, nor finalized. */
static void garbage_is_set_aside_above_a_batch(void)
{
    int when;

    for (ends_at_once = 0; ends_at_once < 2; ends_at_once++)
        for (when = 1; when <= MANY; when += 30) {
            host *h = open_simple();
            int i;
            rrc_object *ring[MANY];

            unit_context("at dealloc %d, ends %d", when, ends_at_once);
            knot_ring(h, &Knot, MANY, ring);
            for (i = 0; i < MANY; i++)
                KNOT(ring[i])->tag = 0;
            h->on_dealloc = collect_in_slices;
            when_to_collect = when;
            host_start(h);
            all_is_swept(h);
            check_events(h, "");
            if (h->slices != 0)
                all_is_swept(h);
            check_int(rrc_check(h->heap), RRC_OK);
            check_int(rrc_refcnt(found_meanwhile), 2);
            rrc_decref(h->heap, found_meanwhile);
            check_events(h, "");
            for (i = 0; i < 2; i++) {
                host_start(h);
                all_is_swept(h);
            }
            check_int(h->deallocs, MANY + 3);
            h->events[0] = '\0';
            host_close(h);
        }
}

/* Whether a p that the mutator gets is to be marked is for the host to decide. */
static void what_is_read_is_not_traced(void)
{
    static short marker;
    host *h = open_simple();
    size_t p = host_new(h, HOST_OLD);
    rrc_object *ob = ob_shared(h, O, p, FULL), *plain = ob_new(h, &Node);

    host_note_link(h, p);
    host_start(h);
    check_ptr(rrc_to_obj(h->heap, plain), NULL);
    rrc_mark_deallocating(h->heap, &marker, plain);
    check_ptr(rrc_to_obj(h->heap, plain), &marker);
    rrc_mark_deallocating(h->heap, NULL, plain);
    check(!host_is_marked(h, p));
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
    check(!host_is_marked(h, p));
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, plain);
    all_is_swept(h);
    check(!host_is_alive(h, p));
    check_int(h->deallocs, 2);
    host_close(h);
}

static void work_in_hook(host *h, const char *name)
{
    if (strcmp(name, "survivor") == 0) {
        h->on_hook = NULL;
        check_int(rrc_major_collection_sweep(h->heap, 1), 0);
    }
}

/* In debug builds slices are refused in hooks that the mutator's functions call. */
static void slices_in_hooks(void)
{
    host *h = open_simple();
    size_t p = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_shared(h, O, p, FULL);

    host_note_link(h, p);
    host_start(h);
    host_pronounce(h);
    if (HOST_DEBUG)
        h->on_hook = work_in_hook;
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
    if (HOST_DEBUG)
        host_expect_log(h, RRC_EPHASE, "rrc_major_collection_sweep");
    all_is_swept(h);
    rrc_decref(h->heap, ob);
    host_free_heap(h);
    host_end(h);
}

/* Types without slots of their own have nobody to look at what is kept. */
static void members_are_not_looked_at(void)
{
    host *h = open_simple();
    size_t p;
    rrc_object *ob = knot_new(h, &KnotTable, 1), *view;

    view = linked_knot(h, P, &p);
    knot_tie(h, ob, 0, ob);
    knot_tie(h, ob, 1, view);
    rrc_decref(h->heap, view);
    rrc_decref(h->heap, ob);
    host_start(h);
    host_pronounce(h);
    check(!host_is_marked(h, p));
    all_is_swept(h);
    check_int(host_stats(h).tracked, 0);
    host_close(h);
}

/* ---- walks ---- */

static host *walker;
static rrc_object *last_waiting;

static int untrack_and_sweep(rrc_object *ob, void *arg)
{
    (void)arg;
    if (last_waiting != NULL) {
        rrc_object *gone = last_waiting;

        last_waiting = NULL;
        rrc_incref(walker->heap, gone);
        rrc_gc_untrack(walker->heap, gone);
        check_int(rrc_gc_track(walker->heap, gone), RRC_OK);
        rrc_decref(walker->heap, gone);
        while (rrc_major_collection_sweep(walker->heap, 3) >= 3)
            ;
        walker->slices = 0;
    }
    return ob != NULL;
}

/* Garbage is put in order in the middle of a walk that has left a hole in the list of garbage: a ring, or objects that
   only their links hold. */
static void order_in_a_walk(int hole, int are_linked)
{
    host *h = open_simple();
    rrc_object *ring[4];
    size_t i, p;

    rrc_decref(h->heap, knot_new(h, &Knot, 1));
    if (!are_linked)
        knot_ring(h, &Knot, 4, ring);
    for (i = 0; i < 4 && are_linked; i++) {
        ring[i] = linked_knot(h, P, &p);
        rrc_decref(h->heap, ring[i]);
    }
    host_start(h);
    host_pronounce(h);
    for (i = 0; i < 4; i++)
        check_int(rrc_major_collection_sweep(h->heap, 1), 1);
    walker = h;
    last_waiting = ring[hole];          /* the table is passed from its end: ring[0] came last */
    rrc_gc_visit_objects(h->heap, untrack_and_sweep, NULL);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(host_stats(h).major_collections, 1);
    rrc_run_pending(h->heap, 0);
    host_start(h);
    all_is_swept(h);
    host_start(h);
    all_is_swept(h);
    check_int(host_stats(h).tracked, 0);
    host_close(h);
}

static void slices_in_a_walk(void)
{
    int hole;

    for (hole = 0; hole < 4; hole++) {
        order_in_a_walk(hole, 0);
        order_in_a_walk(hole, 1);
    }
}

static rrc_object *visited[20];
static size_t visits;

static int untrack_and_pause(rrc_object *ob, void *arg)
{
    (void)arg;
    visited[visits++] = ob;
    if (visits == 3) {
        rrc_gc_untrack(walker->heap, visited[0]);
        check_int(rrc_major_collection_pause(walker->heap), RRC_OK);
        walker->slices = 0;
    }
    return 1;
}

/* A walk passes each object, although the collection is given up in its middle, and there is a hole. */
static void a_pause_in_a_walk(void)
{
    enum { ALL = 10 };
    host *h = open_simple();
    rrc_object *ring[ALL];
    int i, k;

    knot_ring(h, &Knot, ALL, ring);
    for (i = 0; i < ALL; i++)
        rrc_incref(h->heap, ring[i]);
    host_start(h);
    rrc_major_collection_work(h->heap, 3);
    walker = h;
    visits = 0;
    rrc_gc_visit_objects(h->heap, untrack_and_pause, NULL);
    check_int(visits, ALL);
    for (i = 0; i < ALL; i++)
        for (k = 0; k < i; k++)
            check(visited[i] != visited[k]);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_gc_track(h->heap, visited[0]), RRC_OK);
    for (i = 0; i < ALL; i++)
        rrc_decref(h->heap, ring[i]);
    knot_collect(h);
    check_int(h->deallocs, ALL);
    host_close(h);
}

static int sweep_all(rrc_object *ob, void *arg)
{
    (void)arg;
    while (walker->slices != 0 && rrc_major_collection_sweep(walker->heap, 100) >= 100)
        ;
    walker->slices = 0;
    return ob != NULL;
}

static int do_nothing(rrc_object *ob, void *arg) { (void)arg; return ob != NULL; }

/* Garbage that is set aside in a walk leaves holes, so that both lists are long. The walk reserves the memory. */
/* A hook takes a watched object that has no GC head, and drops it. Then its p is traced; the hook slot is not called inside
   the collection (host.c checks that). */
static rrc_object *headless;

static void headless_dealloc(rrc_heap *heap, rrc_object *self)
{
    HOST(heap)->deallocs++;
    free((char *)(void *)self - OB_PREFIX);
}

static void take_the_headless(host *h, const char *hook)
{
    (void)hook;
    if (headless != NULL && h->phase == HOST_MAJOR_TRACE && REFCNT(headless) < 0) {
        visits++;
        rrc_incref(h->heap, headless);
        rrc_decref(h->heap, headless);
    }
}

static void a_hook_takes_what_has_no_head(void)
{
    static const rrc_type Headless = { .tp_name = "Headless", .tp_dealloc = headless_dealloc };
    host *h = open_simple();
    size_t p = host_new(h, HOST_OLD), q = host_rooted(h, HOST_OLD);

    headless = (rrc_object *)(void *)((char *)calloc(1, sizeof(node) + OB_PREFIX) + OB_PREFIX);
    REFCNT(headless) = 1;
    RRC_TYPE(headless) = &Headless;
    ob_link(h, P, p, headless, FULL);
    rrc_decref(h->heap, headless);
    ob_given(h, P, q, FULL);
    host_start(h);
    rrc_major_collection_work(h->heap, 0);
    check(REFCNT(headless) < 0);
    visits = 0;
    h->on_hook = take_the_headless;
    host_major(h);
    h->on_hook = NULL;
    check_int(visits, 1);
    rrc_run_pending(h->heap, 0);
    check(host_is_alive(h, p));
    check_ptr(rrc_from_obj(h->heap, host_at(h, p)), headless);
    headless = NULL;
    host_unroot(h, q);
    knot_collect(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* Some garbage is set aside, and a walk in the walk, which gets no memory, takes all that it finds. */
static int take_and_drop(rrc_object *ob, void *arg)
{
    (void)arg;
    visits++;
    rrc_incref(walker->heap, ob);
    rrc_decref(walker->heap, ob);
    return 1;
}

static int walk_again(rrc_object *ob, void *arg)
{
    (void)ob, (void)arg;
    if (visits == 0) {
        walker->fail_at = walker->calls.allocate + 1;
        walker->fail_on = 1;
        rrc_major_collection_sweep(walker->heap, 1000);
        rrc_gc_visit_objects(walker->heap, take_and_drop, NULL);
    }
    return 1;
}

static void a_walk_in_a_walk_needs_no_memory(void)
{
    enum { ALL = 5000 };
    host *h = open_simple();

    knot_ring(h, &Knot, ALL, NULL);
    host_start(h);
    host_pronounce(h);
    walker = h;
    visits = 0;
    rrc_gc_visit_objects(h->heap, walk_again, NULL);
    check_int(visits, ALL - 1000);      /* the others waited, and went back to where the walk had been */
    check_int(h->failed, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    h->fail_at = 0;
    h->fail_on = 0;
    host_major(h);
    knot_collect(h);
    check_int(h->deallocs, ALL);
    host_close(h);
}

static void a_walk_reserves(void)
{
    host *h = open_simple();

    knot_ring(h, &Knot, 5000, NULL);
    host_start(h);
    host_pronounce(h);
    walker = h;
    h->fail_at = h->calls.allocate + 1;
    rrc_gc_visit_objects(h->heap, sweep_all, NULL);
    host_expect_log(h, RRC_ENOMEM, "rrc_gc_visit_objects");
    check_int(h->slices, 2);            /* nothing was visited */
    h->fail_at = 0;
    rrc_gc_visit_objects(h->heap, sweep_all, NULL);
    check_int(h->slices, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 5000);
    rrc_gc_visit_objects(h->heap, do_nothing, NULL);
    host_close(h);
}

/* ---- the search begins, or ends, at a bad moment ---- */

static rrc_object *moved_out;

static void start_and_work(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_finalize = NULL;
    host_start(h);
    rrc_major_collection_work(h->heap, 4);     /* all are explained, and none is scanned */
}

static void move_out(host *h, rrc_object *ob)
{
    if (moved_out == NULL) {
        h->on_dealloc = NULL;
        moved_out = KNOT(ob)->ref[0];
        KNOT(ob)->ref[0] = NULL;
    }
}

static void only_start(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_finalize = NULL;
    host_start(h);
}

/* A finalizer that rrc_gc_collect runs starts a collection in slices: that is left to the host. */
static void a_finalizer_starts_in_gc_collect(void)
{
    host *h = open_simple();
    size_t p;
    rrc_object *view = linked_knot(h, P, &p);

    knot_ring(h, &KnotFull, 3, NULL);
    h->on_finalize = only_start;
    rrc_gc_collect(h->heap);
    check(h->on_finalize == NULL);
    check(h->slices != 0);
    check_int(rrc_major_collection_work(h->heap, 1), 1);
    all_is_swept(h);
    check(host_is_alive(h, p));
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, p));
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_gc_collect(h->heap);
    check_int(h->deallocs, 3);
    rrc_decref(h->heap, view);
    h->events[0] = '\0';
    host_close(h);
}

/* All references are explained in a finalizer. Then the dealloc moves one of them out. */
static void a_finalizer_starts(void)
{
    host *h = open_simple();
    rrc_object *ob = knot_new(h, &KnotFinal, 1), *ring[3];

    knot_ring(h, &Knot, 3, ring);
    knot_tie(h, ob, 0, ring[0]);
    h->on_finalize = start_and_work;
    h->on_dealloc = move_out;
    moved_out = NULL;
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    check_ptr(moved_out, ring[0]);
    host_pronounce(h);
    all_is_swept(h);
    check_int(h->deallocs, 1);
    rrc_decref(h->heap, moved_out);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 4);
    host_close(h);
}

static void disable_in_hook(host *h, const char *name)
{
    if (strcmp(name, "trace") == 0) {
        h->on_hook = NULL;
        rrc_gc_disable(h->heap);
    }
}

/* rrc_gc_disable ends the search, also if a hook calls it in the middle of a stage. */
static void disabling_ends_the_search(void)
{
    host *h = open_simple();
    rrc_object *held[MANY];
    size_t p, i;

    for (i = 0; i < MANY; i++)
        held[i] = linked_knot(h, P, &p);
    knot_ring(h, &Knot, MANY, NULL);
    host_start(h);
    h->on_hook = disable_in_hook;
    while (rrc_major_collection_work(h->heap, 7) >= 7)
        ;
    check(h->on_hook == NULL);
    host_pronounce(h);
    all_is_swept(h);
    check_int(h->deallocs, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_gc_enable(h->heap);
    for (i = 0; i < MANY; i++)
        rrc_decref(h->heap, held[i]);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 2 * MANY);
    host_close(h);
}

/* After any number of units, C takes a reference to what garbage owns, and untracks it: its p lives, and so does the p
   of what it owns. */
static void taken_and_untracked_between_slices(void)
{
    size_t units;

    for (units = 0; units < 20; units++) {
        host *h = open_simple();
        size_t p, inner;
        rrc_object *garbage = knot_new(h, &Knot, 1), *ob = linked_knot(h, P, &p), *leaf = linked_knot(h, P, &inner);

        unit_context("units %u", (unsigned)units);
        knot_tie(h, garbage, 0, garbage);
        knot_tie(h, garbage, 1, ob);
        knot_tie(h, ob, 0, leaf);
        rrc_decref(h->heap, garbage);
        rrc_decref(h->heap, ob);
        rrc_decref(h->heap, leaf);
        host_start(h);
        if (units > 0)
            rrc_major_collection_work(h->heap, units);
        rrc_incref(h->heap, ob);
        rrc_gc_untrack(h->heap, ob);
        all_is_swept(h);
        check_int(h->deallocs, 1);
        check(host_is_alive(h, p) && host_is_alive(h, inner));
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
        rrc_decref(h->heap, ob);
        host_start(h);
        all_is_swept(h);
        host_start(h);
        all_is_swept(h);
        check_int(h->deallocs, 3);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* After the verdict C gets hold of garbage that is not aside yet. The next search weighs it anew. */
static void garbage_is_taken_before_it_waits(void)
{
    size_t units;
    int i;

    for (units = 1; units < 12; units++) {
        host *h = open_simple();
        rrc_object *ob[8];

        unit_context("after %u units", (unsigned)units);
        for (i = 0; i < 8; i++) {
            ob[i] = knot_new(h, &Knot, i);
            ob_link(h, O, host_new(h, HOST_OLD), ob[i], FULL);
            rrc_decref(h->heap, ob[i]);
        }
        host_start(h);
        host_pronounce(h);
        rrc_major_collection_sweep(h->heap, units);
        for (i = 0; i < 8; i += 2)
            rrc_incref(h->heap, ob[i]);
        all_is_swept(h);
        check_int(rrc_check(h->heap), RRC_OK);
        check_int(h->deallocs, 4);
        for (i = 0; i < 2; i++) {
            host_start(h);
            all_is_swept(h);
        }
        check_int(h->deallocs, 4);
        for (i = 0; i < 8; i += 2)
            rrc_decref(h->heap, ob[i]);
        check_int(h->deallocs, 8);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* What was reported before a search was disabled is not alive in the next one. */
static void disabling_forgets_reports(void)
{
    host *h = open_simple();

    rrc_marked_ob(h->heap, knot_ring(h, &Knot, 2, NULL));
    rrc_gc_disable(h->heap);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 0);
    rrc_gc_enable(h->heap);
    host_start(h);
    all_is_swept(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* ---- demotion ---- */

/* A generational host whose old p's become young again. */
typedef struct aging { int marked, is_young, copied; } aging;
static int is_minor, has_verdict;

static void trace_aging(void *userdata, rrc_gcref p)
{
    (void)userdata;
    check(!is_minor || !has_verdict || ((aging *)p)->marked);
    *(is_minor ? &((aging *)p)->copied : &((aging *)p)->marked) = 1;
}

static rrc_gcref aging_survivor(void *userdata, rrc_gcref p)
{
    const aging *a = (const aging *)p;

    (void)userdata;
    check(!is_minor || !has_verdict || a->marked);
    return is_minor ? (a->is_young && !a->copied ? NULL : p) : a->marked ? p : NULL;
}

static int aging_is_young(void *userdata, rrc_gcref p) { (void)userdata; return ((aging *)p)->is_young; }

static rrc_heap *open_aging(void)
{
    rrc_desc desc;
    rrc_heap *heap;

    memset(&desc, 0, sizeof desc);
    desc.trace = trace_aging;
    desc.survivor = aging_survivor;
    desc.is_young = aging_is_young;
    desc.incremental = desc.demotes = desc.reports_marks = 1;
    heap = rrc_heap_new(&desc);
    check(heap != NULL);
    return heap;
}

/* It ends early, and leaves the demotion for later. */
static void collect_aging_early(rrc_heap *heap, aging *becomes_young)
{
    check_int(rrc_major_collection_start(heap), RRC_OK);
    check_int(rrc_major_collection_trace_early(heap), RRC_OK);
    becomes_young->is_young = 1;
    check_int(rrc_major_collection_sweep(heap, 0), 0);
}

static void collect_aging_minor(rrc_heap *heap, aging *becomes_old)
{
    is_minor = 1;
    check_int(rrc_minor_collection_trace(heap), RRC_OK);
    if (becomes_old != NULL)
        becomes_old->is_young = 0;
    check_int(rrc_minor_collection_free(heap), RRC_OK);
    is_minor = 0;
}

static void end_aging(rrc_heap *heap, rrc_object *ob)
{
    has_verdict = 0;
    rrc_run_pending(heap, 0);
    rrc_decref(heap, ob);
    check_int(rrc_heap_free(heap), 0);
}

/* Garbage whose p is dead, and young again. The demotion may find no room, as no link was ever young. No minor
   collection after the verdict meets that p, and the sweep passes its link. */
static void demoted_in_a_sweep(void)
{
    int how;

    if (HOST_MACROS)
        return;                         /* the hooks are those of host.h */
    for (how = 0; how < 4; how++) {
        int has_room = how % 2, is_early = how / 2;
        aging dead = { 0, 0, 0 }, other = { 1, 1, 0 };
        rrc_heap *heap = open_aging();
        rrc_object *ob = rrc_gc_new(heap, &KnotTable), *young = rrc_new(heap, &Plain);

        unit_context("%d: ", how);
        if (has_room)
            check_int(rrc_link(heap, &other, young, RRC_P), RRC_OK);
        check_int(rrc_gc_track(heap, ob), RRC_OK);
        check_int(rrc_link(heap, &dead, ob, RRC_P), RRC_OK);
        rrc_incref(heap, ob);
        KNOT(ob)->ref[0] = ob;
        if (is_early) {
            collect_aging_early(heap, &dead);
        } else {
            check_int(rrc_major_collection_trace(heap), RRC_OK);
            dead.is_young = 1;
            check_int(rrc_major_collection_free(heap), RRC_OK);
        }
        dead.marked = 0;
        rrc_decref(heap, ob);           /* garbage */
        check_int(rrc_major_collection_start(heap), RRC_OK);
        check_int(rrc_major_collection_trace(heap), RRC_OK);
        check_int(rrc_major_collection_keep(heap), RRC_OK);
        check_int(dead.marked, 0);
        has_verdict = 1;
        collect_aging_minor(heap, NULL);
        while (rrc_major_collection_sweep(heap, 1) >= 1)
            ;
        check_ptr(RRC_LINK(ob), NULL);
        check_int(rrc_check(heap), RRC_OK);
        end_aging(heap, young);
    }
}

/* A minor collection comes when the next search has passed a part of the links: what C holds keeps its p. */
static void demoted_in_a_search(void)
{
    enum { LINKS = 100 };
    int how, i;

    if (HOST_MACROS)
        return;
    for (how = 0; how < 2 * LINKS; how++) {
        aging p[LINKS], other = { 1, 1, 0 };
        rrc_heap *heap = open_aging();
        rrc_object *young = rrc_new(heap, &Plain), *ob[LINKS];

        unit_context("%d: ", how);
        memset(p, 0, sizeof p);
        check_int(rrc_link(heap, &other, young, RRC_P), RRC_OK);
        for (i = 0; i < LINKS; i++) {
            ob[i] = rrc_new(heap, &Plain);
            check_int(rrc_link(heap, &p[i], ob[i], RRC_P), RRC_OK);
        }
        collect_aging_early(heap, &p[0]);
        for (i = 0; i < LINKS; i++)
            p[i].marked = 0;
        check_int(rrc_major_collection_start(heap), RRC_OK);
        rrc_major_collection_work(heap, (size_t)how / 2 + 1);
        collect_aging_minor(heap, how % 2 ? &p[0] : NULL);
        rrc_major_collection_work(heap, 0);
        check_int(rrc_major_collection_trace(heap), RRC_OK);
        check_int(rrc_major_collection_keep(heap), RRC_OK);
        while (rrc_major_collection_sweep(heap, 16) >= 16)
            ;
        for (i = 0; i < LINKS; i++) {
            check_ptr(rrc_to_obj(heap, ob[i]), &p[i]);
            rrc_decref(heap, ob[i]);
        }
        end_aging(heap, young);
    }
}

/* ---- the end of the sweep ---- */

static size_t frees;

static void *count_frees(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    (void)userdata;
    (void)old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    frees++;
    free(ptr);
    return NULL;
}

static void trace_nothing(void *userdata, rrc_gcref p) { (void)userdata; (void)p; }
static rrc_gcref all_survive(void *userdata, rrc_gcref p) { (void)userdata; return p; }

/* A slice of the sweep can do a few links more than it should. It is the last one, and much memory is left over. */
static void the_last_slice_is_no_longer(void)
{
    enum { LINKS = 100000, SLICE = 100 };
    size_t left, i;
    static rrc_object *ob[LINKS];
    static double p[LINKS];

    if (HOST_MACROS)
        return;
    for (left = 96; left <= 128; left += 4) {
        rrc_desc desc;
        rrc_heap *heap;

        unit_context("%d links: ", (int)left);
        memset(&desc, 0, sizeof desc);
        desc.trace = trace_nothing;
        desc.survivor = all_survive;
        desc.realloc = count_frees;
        desc.incremental = 1;
        heap = rrc_heap_new(&desc);
        for (i = 0; i < LINKS; i++) {
            ob[i] = rrc_new(heap, &Plain);
            check_int(rrc_link(heap, &p[i], ob[i], RRC_O | RRC_GIVE), RRC_OK);
        }
        for (i = left; i < LINKS; i++)
            check_int(rrc_unlink(heap, ob[i]), RRC_OK);
        rrc_run_pending(heap, 0);
        check_int(rrc_major_collection_start(heap), RRC_OK);
        check_int(rrc_major_collection_trace(heap), RRC_OK);
        check_int(rrc_major_collection_keep(heap), RRC_OK);
        do {
            frees = 0;
            i = rrc_major_collection_sweep(heap, SLICE);
            check(frees <= SLICE);
        } while (i >= SLICE);
        check_int(rrc_heap_free(heap), 0);
    }
}

/* ---- rrc_gc_collect between slices ---- */

/* Without `collect` only the host can finish its collection: rrc_gc_collect leaves it alone. After the verdict it does
   the pending work, in which garbage of this collection has no part yet. */
static void the_marking_is_left_alone(void)
{
    int verdict;

    for (verdict = 0; verdict < 2; verdict++) {
        host *h = open_simple();
        size_t p;
        rrc_object *ob = linked_knot(h, P, &p);

        knot_ring(h, &Knot, 2, NULL);
        host_start(h);
        check(rrc_major_collection_work(h->heap, 1) > 0);
        if (verdict)
            host_pronounce(h);
        check_int(rrc_gc_collect(h->heap), 0);
        check_int(h->deallocs, 0);
        check_int(rrc_major_collection_start(h->heap), RRC_EPHASE);
        host_expect_log(h, RRC_EPHASE, "rrc_major_collection_start");
        if (!verdict)
            host_pronounce(h);
        rrc_incref(h->heap, ob);            /* the mutator may still run */
        rrc_decref(h->heap, ob);
        check_int(rrc_check(h->heap), RRC_OK);
        all_is_swept(h);
        check_int(h->deallocs, 2);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
        check_int(rrc_gc_collect(h->heap), 0);
        rrc_decref(h->heap, ob);
        host_close(h);
    }
}

/* ---- new addresses ---- */

static size_t cells[2];
static rrc_gcref moved_to;

static void keep(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }
static rrc_gcref move(void *userdata, rrc_gcref p) { (void)userdata; return moved_to != NULL ? moved_to : p; }
static int wrong_moves;
static void count_wrong(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    wrong_moves += item->code == RRC_EHOOK;
}

/* p's must not move if the sweep is divided: the old address is kept. */
static rrc_heap *start_with_one_link(rrc_desc *desc, rrc_object **ob)
{
    rrc_heap *heap;

    desc->trace = keep;
    desc->survivor = move;
    desc->log = count_wrong;
    desc->incremental = 1;
    heap = rrc_heap_new(desc);
    check(heap != NULL);
    *ob = rrc_new(heap, &Plain);
    check_int(rrc_link(heap, &cells[0], *ob, RRC_P), RRC_OK);
    check_int(rrc_major_collection_start(heap), RRC_OK);
    wrong_moves = 0;
    return heap;
}

static void moves_are_ignored_in_slices(void)
{
    rrc_desc desc = { .reports_marks = 1 };
    rrc_heap *heap;
    rrc_object *ob;

    if (HOST_MACROS)
        return;                         /* the hooks are those of host.h */
    heap = start_with_one_link(&desc, &ob);
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    check_int(rrc_major_collection_keep(heap), RRC_OK);
    moved_to = &cells[1];
    check_int(rrc_major_collection_sweep(heap, 0) > 0, 1);
    moved_to = NULL;
    check_int(wrong_moves, HOST_DEBUG);
    check_ptr(rrc_to_obj(heap, ob), &cells[0]);
    rrc_decref(heap, ob);
    check_int(rrc_heap_free(heap), 0);
}

/* A young p that the free call moves: what keep would have done asks about it first, and leaves its address alone. */
static int is_always_young(void *userdata, rrc_gcref p) { return (void)userdata, (void)p, 1; }

static void young_objects_move_in_the_free_call(void)
{
    rrc_desc desc = { .is_young = is_always_young };
    rrc_heap *heap;
    rrc_object *ob;

    if (HOST_MACROS || !HOST_MOVES)
        return;                         /* the hooks are those of host.h, or nothing moves */
    heap = start_with_one_link(&desc, &ob);
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    moved_to = &cells[1];
    check_int(rrc_major_collection_free(heap), RRC_OK);
    moved_to = NULL;
    check_int(wrong_moves, 0);
    check_ptr(rrc_to_obj(heap, ob), &cells[1]);
    check_ptr(rrc_from_obj(heap, &cells[1]), ob);
    rrc_decref(heap, ob);
    check_int(rrc_heap_free(heap), 0);
}

UNIT_GROUP(gc_slices, UNIT(only_incremental_heaps_start), UNIT(what_garbage_owns_is_kept_first),
           UNIT(without_garbage_nothing_is_kept), UNIT(two_biases_in_slices),
           UNIT(reports_can_be_missing), UNIT(reports_can_be_missing_in_one_pass), UNIT(silent_hosts_are_asked),
           UNIT(a_wrong_traverse_ends_the_search),
           UNIT(a_bias_can_be_forgotten), UNIT(static_objects_are_alive), UNIT(gray_objects_leave),
           UNIT(links_of_the_dead), UNIT(garbage_is_linked_at_once), UNIT(reports_in_a_minor),
           UNIT(what_is_read_is_not_traced),
           UNIT(garbage_loses_its_p_in_a_minor), UNIT(a_young_p_is_kept),
           UNIT(garbage_is_untracked_before_it_waits), UNIT(garbage_is_reported_too_late),
           UNIT(a_pointer_untracks_garbage), UNIT(a_walk_untracks_garbage),
           UNIT(late_garbage_gets_a_proxy), UNIT(late_garbage_gets_a_view), UNIT(what_is_kept_gets_a_proxy),
           UNIT(what_is_kept_gets_a_view), UNIT(what_is_read_while_garbage_is_kept_gets_a_view),
           UNIT(gray_objects_are_linked), UNIT(a_proxy_that_is_kept_is_told),
           UNIT(a_hidden_p_is_not_replaced), UNIT(static_objects_have_no_p), UNIT(an_unlinked_object_is_no_garbage),
           UNIT(what_is_alive_is_untracked_at_once), UNIT(what_garbage_owns_is_untracked),
           UNIT(gray_objects_leave_nothing_behind), UNIT(owners_come_first_in_slices),
           UNIT(garbage_is_set_aside_above_a_batch), UNIT(owners_come_first_among_weak_ones), UNIT(slices_in_hooks),
           UNIT(members_are_not_looked_at), UNIT(slices_in_a_walk), UNIT(a_pause_in_a_walk), UNIT(a_walk_reserves),
           UNIT(a_walk_in_a_walk_needs_no_memory), UNIT(a_hook_takes_what_has_no_head),
           UNIT(a_finalizer_starts), UNIT(a_finalizer_starts_in_gc_collect),
           UNIT(counts_lose_their_marks), UNIT(a_taken_object_loses_its_mark), UNIT(what_was_cleared_is_taken), UNIT(what_is_cleared_in_a_search_is_uncollectable),
           UNIT(what_was_cleared_is_taken_late), UNIT(brought_back_after_the_verdict),
           UNIT(disabling_ends_the_search), UNIT(disabling_forgets_reports),
           UNIT(taken_and_untracked_between_slices), UNIT(garbage_is_taken_before_it_waits),
           UNIT(demoted_in_a_sweep), UNIT(demoted_in_a_search), UNIT(the_last_slice_is_no_longer),
           UNIT(the_marking_is_left_alone),
           UNIT(moves_are_ignored_in_slices), UNIT(young_objects_move_in_the_free_call));
