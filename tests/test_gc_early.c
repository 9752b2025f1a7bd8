/* Hosts that cannot finish their marking in a trace call: they mark on after it, with
 * or without the mutator in between, and report what they mark. Hosts that move
 * objects apart from collections. */

#include "knots.h"

enum { EARLY = 1, PAUSING, SILENT };

/* The same tests run with collections that slices begin. */
static int in_slices;

static host *open_early(int early)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };

    options.early = early;
    options.incremental = in_slices ? 2 : 0;
    return host_open(&options);
}

#define IN_SLICES(test) \
    static void test##_in_slices(void) \
    { \
        in_slices = 1; \
        test(); \
        in_slices = 0; \
    }

/* A host object and its tracked C object, both in the hands of nobody. */
static rrc_object *linked_knot(host *h, link_kind kind, const rrc_type *type, int tag, size_t *p)
{
    rrc_object *ob = knot_new(h, type, tag);

    *p = host_new(h, HOST_OLD);
    host_note_link(h, *p);
    ob_link(h, kind, *p, ob, FULL);
    rrc_decref(h->heap, ob);
    return ob;
}

/* widget (a proxy of C data) -> callback (a view of a host object) => widget. */
static size_t widget_and_callback(host *h, const rrc_type *type, int tag)
{
    size_t widget, callback;
    rrc_object *w = linked_knot(h, O, type, tag, &widget);
    rrc_object *c = linked_knot(h, P, &Knot, tag + 1, &callback);

    knot_tie(h, w, 0, c);
    host_point(h, callback, 0, widget);
    return widget;
}

static void what_is_marked_later_keeps_what_c_holds(void)
{
    int early;

    for (early = EARLY; early <= PAUSING; early++) {
        host *h = open_early(early);
        size_t holder = host_rooted(h, HOST_OLD), widget;

        unit_context("kind %d", early);
        widget = widget_and_callback(h, &Knot, 1);
        host_point(h, holder, 0, widget);
        widget_and_callback(h, &Knot, 3);
        knot_collect(h);
        check_int(h->deallocs, 2);
        check_int(host_stats(h).garbage, 2);
        check(host_is_alive(h, widget));
        host_unroot(h, holder);
        knot_collect(h);
        check_int(h->deallocs, 4);
        check(!host_is_alive(h, widget));
        host_close(h);
    }
}

/* Over the border at every step, each time after the trace call: linear, not a
   round for each crossing. */
static void long_chains_are_linear(void)
{
    enum { LENGTH = 1000 };
    host *h = open_early(EARLY);
    size_t first = 0, before = 0, p, i;

    for (i = 0; i < LENGTH; i++) {
        p = widget_and_callback(h, &Knot, 1);
        if (i == 0)
            first = p;
        else    /* the callback of the one before, which comes before this widget, mentions this one */
            host_point(h, before + 1, 0, p);
        before = p;
    }
    host_root(h, first);
    h->calls.trace = h->calls.survivor = 0;
    knot_collect(h);
    check_int(h->deallocs, 0);
    check(h->calls.trace <= 2 * LENGTH);
    check(h->calls.survivor <= 6 * LENGTH);
    host_unroot(h, first);
    knot_collect(h);
    check_int(h->deallocs, 2 * LENGTH);
    host_close(h);
}

static void a_finalizer_holds_until_a_search_that_finishes(void)
{
    host *h = open_early(EARLY);
    size_t widget = widget_and_callback(h, &KnotFinal, 1);

    knot_collect(h);
    knot_collect(h);
    check_int(h->finalized + h->deallocs, 0);
    check(host_is_alive(h, widget));
    h->options.early = 0;
    knot_collect(h);
    check_events(h, "f1");
    check(host_is_alive(h, widget));
    h->options.early = EARLY;
    knot_collect(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* The p of a proxy dies: no cycle, and so the finalizer runs as ever. */
static void without_a_cycle_finalizers_run_at_once(void)
{
    host *h = open_early(EARLY);
    size_t p;

    linked_knot(h, O, &KnotFinal, 1, &p);
    knot_collect(h);
    check_events(h, "f1 d1");
    host_close(h);
}

static void an_object_that_was_not_reported_stops_the_search(void)
{
    host *h = open_early(SILENT);
    size_t holder = host_rooted(h, HOST_OLD), widget = widget_and_callback(h, &Knot, 1);

    host_point(h, holder, 0, widget);
    host_root(h, widget);
    knot_collect(h);
    check_int(h->deallocs, 0);                          /* seen by the trace call: p is a root, and marked */
    knot_ring(h, &Knot, 3, NULL);
    host_unroot(h, widget);
    host_major_begin(h);
    host_major_end(h);
    host_expect_log(h, RRC_EHOOK, "rrc_major_collection_free");
    host_expect_silence(h);
    check_int(rrc_run_pending(h->heap, 0), 0);
    check_int(h->deallocs, 0);
    h->options.early = EARLY;
    host_unroot(h, holder);
    knot_collect(h);
    check_int(h->deallocs, 5);
    host_close(h);
}

/* ... and what it would have found is left alone, in every respect. What the host was
   asked about at the end may be gone when the next search begins. */
static void a_search_that_was_stopped_does_nothing(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotWeak, &KnotFinal, &KnotFull };
    size_t i;

    for (i = 0; i < 4; i++) {
        host *h = open_early(SILENT);
        size_t holder = host_rooted(h, HOST_OLD), widget;
        rrc_object *w;

        unit_context("type %u", (unsigned)i);
        knot_ring(h, types[i], 2, NULL);
        host_point(h, holder, 0, host_new(h, HOST_OLD));
        w = linked_knot(h, O, &Knot, 3, &widget);
        host_point(h, holder, 0, widget);
        host_major(h);
        check_ptr(host_expect_log(h, RRC_EHOOK, "rrc_major_collection_free")->ob, w);
        check_int(host_stats(h).pending, 0);
        check_int(host_stats(h).garbage, 0);
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_int(rrc_unlink(h->heap, w), RRC_OK);
        rrc_run_pending(h->heap, 0);
        check_events(h, "d3");
        h->options.early = 0;
        host_root(h, host_new(h, HOST_OLD));
        knot_collect(h);
        knot_collect(h);
        check_int(h->deallocs, 3);
        check_int(h->finalized, i < 2 ? 0 : 2);
        host_close(h);
    }
}

/* What an object costs does not depend on what was searched before: an early collection,
   a wrong guess about garbage, or a collection of C alone. */
static void each_search_visits_the_same(void)
{
    enum { OF_C = 3, HELD };
    int before, i;

    for (before = 0; before <= HELD; before++) {
        host *h = open_early(before <= PAUSING ? before : 0);
        size_t p, visits[2];
        rrc_object *first = linked_knot(h, O, &Knot, 0, &p), *ring;

        unit_context("before %d", before);
        host_root(h, p);
        for (i = 0; i < 2; i++) {
            if (before == OF_C)
                rrc_gc_collect(h->heap);
            if (before == HELD && i == 1) {
                ring = knot_ring(h, &Knot, 2, NULL);
                host_major(h);
                rrc_incref(h->heap, ring);
                rrc_run_pending(h->heap, 0);
                RRC_CLEAR(h->heap, KNOT(ring)->ref[0]);
                rrc_decref(h->heap, ring);
                check_int(h->deallocs, 2);
            }
            KNOT(first)->traversed = 0;
            host_major(h);
            visits[i] = KNOT(first)->traversed;
        }
        check_int(visits[1], visits[0]);
        host_close(h);
    }
}

/* A host that reports all it marks is not asked: not about a single object, either. */
static void what_is_reported_is_not_asked_about(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p;

    linked_knot(h, O, &Knot, 0, &p);
    host_root(h, p);
    h->calls.survivor = 0;
    host_major(h);
    check_int(h->calls.survivor, 1);            /* by the sweep */
    host_close(h);
}

/* Reports in a minor collection say nothing about the next major one. */
static void reports_in_minor_collections_are_ignored(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p;

    rrc_object *ob = linked_knot(h, O, &Knot, 1, &p);

    knot_tie(h, ob, 0, ob);
    host_minor_begin(h);
    rrc_marked(h->heap, host_at(h, p));
    host_minor_end(h);
    rrc_marked(h->heap, NULL);
    rrc_marked(NULL, host_at(h, p));
    knot_collect(h);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* ... but its p is kept, also where there is no search. */
static void what_waits_keeps_its_p(void)
{
    static const rrc_type *const types[] = { &KnotFinal, &KnotFull };
    size_t i;

    for (i = 0; i < 2; i++) {
        host *h = host_open(NULL);
        size_t p;
        rrc_object *ob = linked_knot(h, P, types[i], 1, &p);

        unit_context("type %u", (unsigned)i);
        host_major(h);
        check_int(host_stats(h).pending, 1);
        rrc_gc_disable(h->heap);
        host_major(h);
        check(host_is_alive(h, p));
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
        rrc_gc_enable(h->heap);
        knot_collect(h);
        knot_collect(h);
        check_int(h->deallocs, 1);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* Kept for its finalizer by one trace call, and held by what the host has marked before
   the next: it is alive, and its finalizer has to wait. */
static void what_was_kept_is_found_alive(void)
{
    host_options options = { .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p;
    rrc_object *proxy = linked_knot(h, O, &Knot, 1, &p), *kept = knot_new(h, &KnotFinal, 2);

    knot_tie(h, proxy, 0, kept);
    rrc_decref(h->heap, kept);
    host_major_begin(h);
    h->phase = HOST_MAJOR_TRACE;
    host_trace(h, host_at(h, p));
    check_int(rrc_major_collection_trace(h->heap), RRC_OK);
    h->phase = HOST_MAJOR_PLAN;
    host_major_end(h);
    check_int(host_stats(h).pending, 0);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    check(host_is_alive(h, p));
    knot_collect(h);
    knot_collect(h);
    check_events(h, "d1 f2 d2");
    host_close(h);
}

/* In a walk: one is untracked, and the host reports others. */
typedef struct untracking {
    host *h;
    rrc_object *other;
} untracking;

static int untrack_and_collect(rrc_object *ob, void *arg)
{
    untracking *it = (untracking *)arg;

    (void)ob;
    rrc_gc_untrack(it->h->heap, it->other);
    host_major(it->h);
    return 0;
}

static void reports_in_a_walk(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    host *h = host_open(&options);
    untracking it = { NULL, NULL };
    size_t p;

    it.h = h;
    linked_knot(h, O, &Knot, 1, &p);
    host_root(h, p);
    it.other = knot_new(h, &Knot, 2);
    rrc_gc_visit_objects(h->heap, untrack_and_collect, &it);
    check(!rrc_gc_is_tracked(h->heap, it.other));
    rrc_decref(h->heap, it.other);
    host_unroot(h, p);
    knot_collect(h);
    check_events(h, "d2 d1");
    host_close(h);
}

static void proxies_can_be_reported_by_their_ob(void)
{
    host *h = open_early(SILENT);
    size_t holder = host_rooted(h, HOST_OLD), widget, callback;
    rrc_object *w = linked_knot(h, O, &Knot, 1, &widget);
    rrc_object *middle = knot_new(h, &Knot, 2);
    rrc_object *leaf = ob_new(h, &Node);

    callback = host_new(h, HOST_OLD);
    host_note_link(h, callback);
    ob_link(h, P, callback, leaf, FULL);
    knot_tie(h, w, 0, middle);
    knot_tie(h, middle, 0, leaf);
    rrc_decref(h->heap, middle);
    rrc_decref(h->heap, leaf);
    host_point(h, holder, 0, widget);
    rrc_marked_ob(NULL, w);
    rrc_marked_ob(h->heap, NULL);
    host_major_begin(h);
    h->phase = HOST_MAJOR_TRACE;
    h->calls.trace = 0;
    rrc_marked_ob(h->heap, w);
    rrc_marked_ob(h->heap, w);
    rrc_marked_ob(h->heap, leaf);                       /* it is not tracked: nothing to do */
    check_int(h->calls.trace, 1);
    h->phase = HOST_MAJOR_PLAN;
    host_major_end(h);
    host_expect_silence(h);
    check(host_is_alive(h, callback));
    check_int(h->deallocs, 0);
    host_unroot(h, holder);
    knot_collect(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* The mutator moves a reference from what is not marked yet to what is. */
static void the_mutator_may_run_in_a_pause(void)
{
    host *h = open_early(EARLY);
    size_t holder = host_rooted(h, HOST_OLD), widget = widget_and_callback(h, &Knot, 1);
    size_t other = widget_and_callback(h, &Knot, 3);
    rrc_object *w = NULL, *fresh;

    host_point(h, holder, 0, widget);
    host_root(h, other);
    host_major_begin(h);
    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    h->phase = HOST_MUTATOR;
    check_int(rrc_check(h->heap), RRC_OK);
    fresh = knot_new(h, &Knot, 5);
    w = knot_new(h, &Knot, 6);
    knot_tie(h, w, 0, fresh);
    rrc_decref(h->heap, fresh);
    host_root(h, host_new(h, HOST_OLD));
    knot_collect(h);
    check_int(h->deallocs, 0);
    rrc_decref(h->heap, w);
    check_int(h->deallocs, 2);
    host_unroot(h, holder);
    host_unroot(h, other);
    knot_collect(h);
    check_int(h->deallocs, 6);
    host_close(h);
}

/* Of a search that was given up nothing is left: the next collection is without one. */
static void no_search_after_a_pause(void)
{
    host *h = open_early(EARLY);

    knot_ring(h, &Knot, 3, NULL);
    host_major_begin(h);
    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    h->phase = HOST_MUTATOR;
    rrc_gc_disable(h->heap);
    host_major(h);
    check_int(host_stats(h).pending + host_stats(h).garbage, 0);
    rrc_gc_enable(h->heap);
    knot_collect(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* rrc_gc_disable between two trace calls: what the first one has found white may be alive by now. Nothing of that
   search is used, and nothing of it is left. */
static void disabled_between_two_trace_calls(void)
{
    int keeps;

    for (keeps = 0; keeps <= 1; keeps++) {
        host_options options = { .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t late, never;
        rrc_object *w = linked_knot(h, O, &Knot, 1, &late);

        unit_context("keeps %d", keeps);
        knot_tie(h, w, 0, w);
        knot_tie(h, linked_knot(h, P, &Knot, 2, &never), 0, w);
        host_major_begin(h);
        h->phase = HOST_MAJOR_TRACE;
        host_trace(h, host_at(h, late));
        rrc_gc_disable(h->heap);
        check_int(rrc_major_collection_trace(h->heap), RRC_OK);
        rrc_gc_enable(h->heap);                 /* too late for this collection */
        check_int(rrc_major_collection_trace(h->heap), RRC_OK);
        if (keeps)
            host_major_keep(h);
        h->phase = HOST_MAJOR_PLAN;
        host_major_end(h);
        check_int(host_stats(h).searches, 0);
        check_int(host_stats(h).pending, 1);    /* only its p held the other one */
        check_ptr(rrc_to_obj(h->heap, w), host_at(h, late));
        host_root(h, late);
        rrc_run_pending(h->heap, 0);
        check_events(h, "d2");
        knot_collect(h);
        check_events(h, "");
        host_unroot(h, late);
        knot_collect(h);
        check_events(h, "c1 d1");
        host_close(h);
    }
}

/* An early collection that is disabled before its second trace call leaves no scratch word behind. */
static void disabled_in_an_early_collection(void)
{
    host *h = open_early(EARLY);
    size_t p;
    rrc_object *ob;

    h->options.incremental = 0;
    ob = linked_knot(h, P, &Knot, 1, &p);
    knot_tie(h, ob, 0, ob);
    host_major_begin(h);
    rrc_gc_disable(h->heap);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_major_collection_trace_early(h->heap), RRC_OK);
    host_propagate(h);
    h->phase = HOST_MAJOR_PLAN;
    host_major_end(h);
    check_int(rrc_check(h->heap), RRC_OK);
    check(host_is_alive(h, p));
    rrc_gc_enable(h->heap);
    knot_collect(h);
    check_events(h, "c1 d1");
    host_close(h);
}

/* A wrong traverse ends the search of this collection: later trace calls do not repeat it. */
static void a_wrong_traverse_is_named_once(void)
{
    host_options options = { .repeat_trace = 3, .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *ring = knot_ring(h, &Knot, 2, NULL), *lost = knot_new(h, &Knot, 3);

    KNOT(ring)->ref[1] = KNOT(ring)->ref[2] = KNOT(ring)->ref[0];      /* it owns one reference only */
    rrc_decref(h->heap, lost);
    host_major(h);
    host_expect_log(h, RRC_ETRAVERSE, "rrc_major_collection_trace");
    host_expect_silence(h);
    h->options.repeat_trace = 0;
    KNOT(ring)->ref[1] = KNOT(ring)->ref[2] = NULL;
    h->events[0] = '\0';
    knot_collect(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* What a paused collection reported says nothing about the next one: that one is asked if it reports nothing. */
static void reports_before_a_pause(void)
{
    host_options options = { .moving = HOST_STAY, .incremental = 1 };
    host *h = host_open(&options);
    size_t p;
    rrc_object *ob = linked_knot(h, O, &Knot, 1, &p);

    host_root(h, p);
    knot_tie(h, ob, 0, ob);
    rrc_marked_ob(h->heap, ob);
    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    host_start(h);
    host_pronounce(h);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
    host_unroot(h, p);
    knot_collect(h);
    check_events(h, "c1 d1");
    host_close(h);
}

/* The host marks each p once, and so reports it once: after a pause it is asked, also if slices begin anew. A p that has got
   its link in the pause was not reported at all. */
static void the_host_is_asked_after_a_pause(void)
{
    int again, before;

    for (again = 0; again < 2; again++)
        for (before = 0; before < 2; before++) {
            host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY, .incremental = 1 };
            host *h = host_open(&options);
            size_t p, q = host_rooted(h, HOST_OLD);
            rrc_object *ob = linked_knot(h, O, &Knot, 1, &p), *late = knot_new(h, &Knot, 2);

            unit_context("again %d, before %d", again, before);
            knot_tie(h, ob, 0, ob);
            knot_tie(h, late, 0, late);
            knot_ring(h, &Knot, 2, NULL);
            host_root(h, p);
            if (!before)
                host_start(h);
            h->phase = HOST_MAJOR_TRACE;
            host_trace(h, host_at(h, p));
            host_trace(h, host_at(h, q));
            host_propagate(h);
            h->phase = HOST_MUTATOR;
            rrc_major_collection_work(h->heap, 0);
            check_int(rrc_major_collection_pause(h->heap), RRC_OK);
            check_int(rrc_check(h->heap), RRC_OK);
            h->slices = 0;
            ob_link(h, O, q, late, FULL);
            rrc_decref(h->heap, late);
            rrc_gc_collect(h->heap);            /* it forgets reports, too */
            if (again)
                host_start(h);
            host_major(h);
            rrc_run_pending(h->heap, 0);
            check_int(h->deallocs, 2);
            check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
            check_ptr(rrc_to_obj(h->heap, late), host_at(h, q));
            host_unroot(h, p);
            host_unroot(h, q);
            h->events[0] = '\0';
            knot_collect(h);
            check_int(h->deallocs, 4);
            h->events[0] = '\0';
            host_close(h);
        }
}

/* What a finalizer is to see has been traced, and the host does not report it again either. */
static void what_finalizers_need_in_a_pause(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p, q;
    rrc_object *final = linked_knot(h, O, &KnotFinal, 1, &p), *view = linked_knot(h, P, &Knot, 2, &q);

    knot_tie(h, final, 0, view);
    host_major_begin(h);
    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    h->phase = HOST_MUTATOR;
    check_int(rrc_check(h->heap), RRC_OK);
    host_major(h);
    host_expect_silence(h);
    rrc_run_pending(h->heap, 0);
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, q));
    knot_collect(h);
    knot_collect(h);
    check_int(h->deallocs, 2);
    h->events[0] = '\0';
    host_close(h);
}

/* Each trace call begins anew, in the memory that was reserved for one. */
static void trace_calls_may_be_repeated(void)
{
    host *h = open_early(EARLY);
    int i;

    h->options.repeat_trace = 5;
    for (i = 0; i < 1000; i++)
        host_root(h, widget_and_callback(h, &Knot, 1));
    knot_collect(h);
    check_int(h->deallocs, 0);
    for (i = 0; i < 2000; i += 2)
        host_unroot(h, (size_t)i);
    knot_collect(h);
    check_int(h->deallocs, 2000);
    host_close(h);
}

static void the_phases_are_checked(void)
{
    host *h = open_early(EARLY);

    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    h->phase = HOST_MINOR_TRACE;
    check_int(rrc_minor_collection_trace(h->heap), RRC_OK);
    check_int(rrc_major_collection_trace_early(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_trace_early");
    check_int(rrc_major_collection_pause(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_pause");
    check_int(rrc_links_moved(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_links_moved");
    h->phase = HOST_MINOR_FREE;
    check_int(rrc_minor_collection_free(h->heap), RRC_OK);
    h->phase = HOST_MUTATOR;
    check_int(rrc_major_collection_trace_early(NULL), RRC_ENULL);
    check_int(rrc_major_collection_pause(NULL), RRC_ENULL);
    check_int(rrc_links_moved(NULL), RRC_ENULL);
    host_close(h);
}

static void links_follow_objects_that_move_by_themselves(void)
{
    static const host_moving kinds[] = { HOST_FRESH, HOST_PERMUTE, HOST_EVACUATE, HOST_STAY };
    enum { COUNT = 500 };
    size_t kind, i, ids[COUNT];
    rrc_object *obs[COUNT + 1];

    for (kind = 0; kind < 4; kind++) {
        host_options options = { .moving = kinds[kind] };
        host *h = host_open(&options);
        int round;

        unit_context("moving %u", (unsigned)kind);
        for (i = 0; i < COUNT; i++) {
            ids[i] = host_rooted(h, i % 3 == 0 ? HOST_YOUNG : HOST_OLD);
            obs[i] = ob_shared(h, i % 2 ? P : O, ids[i], FULL);
        }
        for (round = 0; round < 4; round++) {
            host_move(h);
            for (i = 0; i < COUNT; i++) {
                check_ptr(rrc_to_obj(h->heap, obs[i]), host_at(h, ids[i]));
                check_ptr(rrc_from_obj(h->heap, host_at(h, ids[i])), i % 2 ? obs[i] : NULL);
            }
            if (round == 1)
                host_minor(h);
        }
        obs[COUNT] = knot_new(h, &Knot, 1);     /* no collection goes on now */
        host_move(h);
        rrc_gc_untrack(h->heap, obs[COUNT]);
        check_int(rrc_gc_is_tracked(h->heap, obs[COUNT]), 0);
        for (i = 0; i <= COUNT; i++)
            rrc_decref(h->heap, obs[i]);
        host_close(h);
    }
}

/* A host that marks in parts reports as it marks; the mutator runs on, and what was
   reported may be gone when the collection begins. */
static void what_was_reported_can_go(void)
{
    int how, size;

    for (how = 0; how < 3; how++)
        for (size = 1; size < 4; size++) {
            host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
            host *h = host_open(&options);
            size_t p;
            rrc_object *ob = linked_knot(h, O, &Knot, 1, &p), *owned = knot_new(h, &Knot, 2);

            unit_context("way %d, ring of %d", how, size);
            knot_tie(h, ob, 0, owned);
            rrc_decref(h->heap, owned);
            knot_ring(h, &Knot, size, NULL);
            rrc_marked(h->heap, host_at(h, p));
            if (how == 0) {
                check_int(rrc_unlink(h->heap, ob), RRC_OK);
                check_int(rrc_run_pending(h->heap, 0), 2);
                h->deallocs = 0;
            } else {
                rrc_gc_untrack(h->heap, ob);
                if (how == 2)
                    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
            }
            check_int(rrc_check(h->heap), RRC_OK);
            host_root(h, p);
            knot_collect(h);            /* the ring is not taken for what was reported */
            check_int(h->deallocs, size);
            host_close(h);
        }
}

/* One is reported, and another goes before the collection: the report still counts once. */
static void another_than_the_reported_goes(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p;
    rrc_object *other = knot_new(h, &Knot, 2);

    linked_knot(h, O, &Knot, 1, &p);
    knot_ring(h, &Knot, 1, NULL);
    rrc_marked(h->heap, host_at(h, p));
    rrc_decref(h->heap, other);
    check_events(h, "d2");
    host_root(h, p);
    knot_collect(h);
    check_events(h, "c1 d1");           /* the ring, and not what was reported */
    check(host_is_alive(h, p));
    host_close(h);
}

/* A host marks p when the trace call has returned, and does not say so: what was taken for garbage and is
   linked goes back with its count as it was. */
static void what_is_marked_late_is_no_garbage(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host_options options = { .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t p;
        rrc_object *ob = linked_knot(h, (link_kind)kind, &Knot, 1, &p);

        unit_context("kind %d", kind);
        knot_tie(h, ob, 0, ob);
        host_major_begin(h);
        h->phase = HOST_MAJOR_TRACE;
        host_trace(h, host_at(h, p));
        host_propagate(h);
        h->phase = HOST_MAJOR_PLAN;
        host_major_end(h);
        host_expect_late_mark(h, ob);
        check(host_is_alive(h, p));
        check_int(host_stats(h).pending, 0);
        check_int(REFCNT(ob), BIAS + 1);
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        knot_collect(h);
        check_events(h, "c1 d1");
        host_close(h);
    }
}

/* The same for a ring: all of its p's are marked late, or one is. The ring goes back as a whole. What has lost its p
   has only lost its link. */
static void a_ring_is_marked_late(void)
{
    enum { MOST = 4 };
    int kind, size, marked, i;

    for (kind = P; kind <= O; kind++)
        for (size = 1; size <= MOST; size++)
            for (marked = 0; marked <= size; marked++) {        /* size: all */
                host_options options = { .moving = HOST_STAY };
                host *h = host_open(&options);
                rrc_object *ring[MOST];
                size_t p[MOST];

                unit_context("kind %d, %d objects, marked %d", kind, size, marked);
                for (i = 0; i < size; i++)
                    ring[i] = linked_knot(h, (link_kind)kind, &Knot, 0, &p[i]);
                for (i = 0; i < size; i++)
                    knot_tie(h, ring[i], 0, ring[(i + 1) % size]);
                host_major_begin(h);
                h->phase = HOST_MAJOR_TRACE;
                for (i = 0; i < size; i++)
                    if (marked == size || marked == i)
                        host_trace(h, host_at(h, p[i]));
                host_propagate(h);
                h->phase = HOST_MAJOR_PLAN;
                host_major_end(h);
                host_expect_late_mark(h, marked < size ? ring[marked] : NULL);
                check_int(host_stats(h).pending, 0);
                rrc_run_pending(h->heap, 0);
                check_int(h->deallocs, 0);
                for (i = 0; i < size; i++) {
                    int is_marked = marked == size || marked == i;

                    check_int(host_is_alive(h, p[i]), is_marked);
                    check_int(REFCNT(ring[i]), is_marked ? BIAS + 1 : 1);
                    check_ptr(KNOT(ring[i])->ref[0], ring[(i + 1) % size]);
                }
                knot_collect(h);
                check_int(h->deallocs, size);
                host_close(h);
            }
}

static void mark_one(host *h) { host_trace(h, host_at(h, *(size_t *)h->test)); }

/* A host that does not report marks more between the trace call and the keep call, so that no garbage is left. */
static void what_is_marked_before_keeping_is_alive(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host_options options = { .keeps = 1, .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t p, q;
        rrc_object *a = linked_knot(h, (link_kind)kind, &Knot, 0, &p);
        rrc_object *b = linked_knot(h, (link_kind)kind, &Knot, 0, &q);

        unit_context("kind %d", kind);
        knot_tie(h, a, 0, b);
        knot_tie(h, b, 0, a);
        h->test = &p;
        h->on_weak = mark_one;
        host_major(h);
        h->on_weak = NULL;
        check_int(host_stats(h).pending, 0);
        check_int(REFCNT(a), BIAS + 1);
        check_ptr(rrc_to_obj(h->heap, a), host_at(h, p));
        check_ptr(rrc_to_obj(h->heap, b), kind == P ? host_at(h, q) : NULL);    /* nobody needs that proxy */
        knot_collect(h);
        check_int(h->deallocs, 2);
        host_close(h);
    }
}

/* A host reports as it marks, and then its heap ends, or C looks for cycles of its own: no report
   keeps a cycle. */
static void reports_keep_nothing_at_the_end(void)
{
    int ends;

    for (ends = 0; ends < 2; ends++) {
        host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t p;
        rrc_object *ob = linked_knot(h, O, &Knot, 1, &p), *other = knot_new(h, &Knot, 2);

        knot_tie(h, ob, 0, other);
        knot_tie(h, other, 0, ob);
        rrc_decref(h->heap, other);
        rrc_marked(h->heap, host_at(h, p));
        if (!ends) {
            check_int(rrc_unlink(h->heap, ob), RRC_OK);
            check_int(rrc_gc_collect(h->heap), 2);
            check_int(h->deallocs, 2);
        }
        check_int(rrc_heap_free(h->heap), 0);
        check_int(h->deallocs, 2);
        h->heap = NULL;
        host_end(h);
    }
}

/* Reports outside a collection, while garbage of the last one waits. */
static void reports_while_garbage_waits(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p;

    linked_knot(h, O, &Knot, 1, &p);
    host_root(h, p);
    knot_ring(h, &Knot, 3, NULL);
    host_major(h);
    rrc_marked(h->heap, host_at(h, p));
    rrc_marked(h->heap, NULL);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_run_pending(h->heap, 0), 4);
    check_int(h->deallocs, 3);
    knot_collect(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* Between the two calls of a collection the host untracks what is kept for a finalizer: it holds the
   other one then, for all that is known. */
static void the_kept_are_untracked(void)
{
    host_options options = { .moving = HOST_STAY };
    host *h = host_open(&options);
    rrc_object *ring[2], *alive = knot_new(h, &Knot, 0);

    knot_ring(h, &KnotFinal, 2, ring);
    host_major_begin(h);
    rrc_gc_untrack(h->heap, ring[0]);
    host_major_end(h);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    check_int(rrc_gc_track(h->heap, ring[0]), RRC_OK);
    knot_collect(h);
    check_int(h->finalized, 2);
    knot_collect(h);
    h->events[0] = '\0';
    check_int(h->deallocs, 2);
    rrc_decref(h->heap, alive);
    host_close(h);
}

/* Its trace marks at once, and so reports while a report is being visited. */
static void reports_inside_reports(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY, .early = EARLY, .eager = 1 };
    enum { LENGTH = 20000 };            /* more than the stack has room for, were each visited from inside the one before */
    host *h = host_open(&options);
    size_t holder = host_rooted(h, HOST_OLD), first = 0, p, i;

    for (i = 0; i < LENGTH; i++) {
        p = widget_and_callback(h, &Knot, 0);
        if (i == 0)
            first = p;
        else
            host_point(h, p - 1, 1, p);         /* the callback of the one before */
    }
    host_point(h, holder, 0, first);
    knot_collect(h);
    check_int(h->deallocs, 0);
    host_unroot(h, holder);
    knot_collect(h);
    check_int(h->deallocs, 2 * LENGTH);
    host_close(h);
}

/* A host that did not announce its reports: nobody can find the ob by p. */
static void reports_that_were_not_announced(void)
{
    host *h = host_open(NULL);
    rrc_object *obs[100];
    size_t p, i;

    rrc_decref(h->heap, knot_new(h, &Knot, 0));
    linked_knot(h, O, &Knot, 0, &p);
    host_root(h, p);
    for (i = 0; i < 100; i++)
        obs[i] = ob_given(h, i % 2 ? P : O, host_rooted(h, HOST_OLD), FULL);
    check_int(rrc_unlink(h->heap, obs[0]), RRC_OK);
    check_int(rrc_unlink(h->heap, obs[1]), RRC_OK);
    rrc_marked(h->heap, host_at(h, p));
    knot_collect(h);
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

/* ---- collections that slices began ---- */

IN_SLICES(what_is_marked_later_keeps_what_c_holds)
IN_SLICES(long_chains_are_linear)
IN_SLICES(a_finalizer_holds_until_a_search_that_finishes)
IN_SLICES(without_a_cycle_finalizers_run_at_once)
IN_SLICES(proxies_can_be_reported_by_their_ob)
IN_SLICES(no_search_after_a_pause)
IN_SLICES(trace_calls_may_be_repeated)

static host *open_slices(int sweeps)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY, .early = EARLY, .incremental = 2,
                             .demotes = 1 };
    host *h = host_open(&options);

    h->sweeps = sweeps;
    return h;
}

static void missing_reports_are_looked_for(void)
{
    host *h = open_slices(0);
    size_t holder = host_rooted(h, HOST_OLD), widget = widget_and_callback(h, &Knot, 1);
    rrc_object *hole = knot_new(h, &Knot, 5), *last = knot_new(h, &Knot, 6);

    if (HOST_DEBUG) {
        knot_ring(h, &Knot, 2, NULL);
        host_point(h, holder, 0, widget);
        h->options.early = SILENT;
        host_start(h);
        check(rrc_major_collection_work(h->heap, 0) > 0);
        rrc_gc_untrack(h->heap, hole);
        host_major(h);
        check_ptr(host_expect_log(h, RRC_EHOOK, "rrc_major_collection_free")->p, host_at(h, widget));
        check_int(rrc_run_pending(h->heap, 0), 0);
        h->options.early = EARLY;
        knot_collect(h);
        check_int(h->deallocs, 2);      /* the ring */
        host_unroot(h, holder);
    }
    rrc_decref(h->heap, hole);
    rrc_decref(h->heap, last);
    knot_collect(h);
    check_int(h->deallocs, HOST_DEBUG ? 6 : 4);
    host_close(h);
}

/* Scripts give state to proxies that slices have passed, and C takes and drops references. */
static void proxies_get_state_between_slices(void)
{
    enum { HELD, TRACKED, OWNED, FIXED, LATE, LATE_OWNED, GARBAGE, UNHELD, WAITING, IDS };
    int has_state, searches, sweeps, i;

    for (has_state = 0; has_state < 1 + HOST_MACROS; has_state++)
        for (searches = 0; searches < 2; searches++)
            for (sweeps = 0; sweeps < 2; sweeps++) {
                host *h = open_slices(sweeps);
                static STATIC_OB(fixed, &Node);
                rrc_object *ob[IDS], *ring[2], *kept;
                size_t id[IDS];

                unit_context("has state %d, searches %d, sweeps %d", has_state, searches, sweeps);
                ob[WAITING] = knot_ring(h, &KnotFinal, 1, NULL);
                kept = ob[WAITING];
                h->options.early = 0;
                host_major(h);                          /* it waits for its finalizer */
                h->options.early = EARLY;
                check_int(host_stats(h).pending, 1);
                knot_ring(h, &Knot, 2, ring);
                ob[TRACKED] = knot_new(h, &Knot, 3);
                for (i = 0; i < IDS; i++) {
                    if (i != TRACKED && i != GARBAGE && i != WAITING)
                        ob[i] = i == FIXED ? STATIC_PTR(fixed) : ob_new(h, &Node);
                    id[i] = host_new(h, HOST_OLD);
                }
                ob[GARBAGE] = ring[0];
                for (i = 0; i < IDS; i++) {
                    host_note_link(h, id[i]);
                    check_int(rrc_link(h->heap, host_at(h, id[i]), ob[i], RRC_O), RRC_OK);
                    if (i == LATE || i == UNHELD || i == OWNED || i == LATE_OWNED)
                        rrc_decref(h->heap, ob[i]);
                    host_root(h, id[i]);
                }
                knot_tie(h, ob[TRACKED], 0, ob[OWNED]);
                knot_tie(h, ring[0], 1, ob[LATE_OWNED]);
                if (!searches)
                    rrc_gc_disable(h->heap);
                host_start(h);
                rrc_major_collection_work(h->heap, 0);
                for (i = 0; i < IDS; i++) {
                    host_unroot(h, id[i]);
                    if (has_state)
                        host_give_state(h, id[i]);
                }
                rrc_incref(h->heap, ob[LATE]);
                rrc_incref(h->heap, ob[LATE_OWNED]);
                host_major(h);
                for (i = 0; i < IDS; i++) {
                    int held = i != UNHELD && (i != GARBAGE || !searches);

                    unit_context("has state %d, searches %d, sweeps %d: %d", has_state, searches, sweeps, i);
                    check_int(host_is_alive(h, id[i]), has_state && held);
                    if (has_state && held)
                        check_ptr(rrc_to_obj(h->heap, ob[i]), host_at(h, id[i]));
                }
                rrc_gc_enable(h->heap);
                check_int(rrc_check(h->heap), RRC_OK);
                rrc_decref(h->heap, ob[HELD]);
                rrc_decref(h->heap, ob[LATE]);
                rrc_decref(h->heap, ob[LATE_OWNED]);
                rrc_decref(h->heap, ob[TRACKED]);
                if (RRC_LINK(ob[FIXED]) != NULL)
                    check_int(rrc_unlink(h->heap, ob[FIXED]), RRC_OK);
                for (i = 0; i < 3; i++)
                    knot_collect(h);
                check_int(rrc_gc_is_tracked(h->heap, kept), 1);
                h->options.early = 0;
                knot_collect(h);
                knot_collect(h);
                for (i = 0; i < IDS; i++)
                    check(!host_is_alive(h, id[i]));
                check_int(host_stats(h).tracked, 0);
                h->events[0] = '\0';
                host_close(h);
            }
}

/* If proxies can have state, a host may ignore trace while the mutator runs: the last call traces again. */
static void ignored_traces_are_repeated(void)
{
    int searches, i;

    for (searches = 0; searches < 2 * HOST_MACROS; searches++) {
        host *h = open_slices(searches % 2);
        rrc_object *ob[3], *owner = knot_new(h, &Knot, 1);
        size_t id[3];

        if (searches == 0)
            rrc_gc_disable(h->heap);
        for (i = 0; i < 3; i++) {
            id[i] = host_new(h, HOST_OLD);
            host_note_link(h, id[i]);
        }
        ob[0] = ob_given(h, P, id[0], FULL);            /* C takes a reference to it */
        ob[2] = ob_given(h, P, id[2], FULL);            /* C does not */
        host_start(h);
        rrc_major_collection_work(h->heap, 0);
        h->ignores = 1;
        rrc_incref(h->heap, ob[0]);
        ob[1] = ob_shared(h, P, id[1], FULL);           /* a new one, which only a tracked object holds */
        knot_tie(h, owner, 0, ob[1]);
        rrc_decref(h->heap, ob[1]);
        h->ignores = 0;
        host_major(h);
        check(host_is_alive(h, id[0]) && host_is_alive(h, id[1]) && !host_is_alive(h, id[2]));
        rrc_decref(h->heap, ob[0]);
        rrc_decref(h->heap, owner);
        rrc_gc_enable(h->heap);
        host_close(h);
    }
}

/* While a search is open that slices have begun, a hook of the host takes a reference to an object that is not found
   yet: its p lives, and all that it reaches. */
static void held_while_the_search_is_open(void)
{
    int kind, searches, sweeps;

    for (kind = 0; kind < 4; kind++)                    /* tracked or not, P or O link */
        for (searches = 0; searches < 2; searches++)
            for (sweeps = 0; sweeps < 2; sweeps++) {
                const int is_tracked = kind / 2, is_p = kind % 2 == 0;
                host *h = open_slices(sweeps);
                size_t p, inner, reached = host_new(h, HOST_OLD);
                rrc_object *ob, *leaf, *other = knot_new(h, &Knot, 9);

                unit_context("tracked %d, P %d, searches %d, sweeps %d", is_tracked, is_p, searches, sweeps);
                if (!searches)
                    rrc_gc_disable(h->heap);
                leaf = linked_knot(h, P, &Knot, 2, &inner);
                host_point(h, inner, 0, reached);
                ob = linked_knot(h, is_p ? P : O, &Knot, 1, &p);
                knot_tie(h, ob, 0, leaf);
                if (!is_tracked)
                    rrc_gc_untrack(h->heap, ob);
                host_start(h);
                rrc_major_collection_work(h->heap, 0);
                h->phase = HOST_MAJOR_TRACE;
                check_int(rrc_major_collection_trace_early(h->heap), RRC_OK);
                rrc_incref(h->heap, ob);
                h->options.early = 0;
                host_propagate(h);                      /* the host marks on, and finds nothing to report but these */
                h->options.early = EARLY;
                h->slices = 0;
                host_major_end(h);
                check_int(rrc_check(h->heap), RRC_OK);
                rrc_run_pending(h->heap, 0);
                check_int(h->deallocs, 0);
                check_int(host_is_alive(h, p), is_p);
                check(host_is_alive(h, inner) && host_is_alive(h, reached));
                rrc_gc_enable(h->heap);
                rrc_decref(h->heap, ob);
                rrc_decref(h->heap, other);
                knot_collect(h);
                knot_collect(h);
                check_int(h->deallocs, 3);
                h->events[0] = '\0';
                host_close(h);
            }
}

/* All dead links are dissolved, from all places of their lists, and no others. */
static void the_sweep_looks_at_what_was_not_marked(void)
{
    enum { COUNT = 1000 };
    int tracked, young;

    for (tracked = 0; tracked < 2; tracked++)
        for (young = 0; young < 2; young++) {
            host *h = open_slices(1);
            size_t id[COUNT], i, queued = 0;
            rrc_object *ob[COUNT], *held = tracked ? knot_new(h, &Knot, 1) : NULL;

            unit_context("tracked %d, young %d", tracked, young);
            for (i = 0; i < COUNT; i++) {
                id[i] = host_rooted(h, young && i % 5 == 0 ? HOST_YOUNG : HOST_OLD);
                ob[i] = ob_given(h, i % 2 ? P : O, id[i], FULL);
            }
            for (i = 0; i < COUNT; i++)
                if (i % 3 == 0 || (i > 500 && i < 600)) {
                    host_unroot(h, id[i]);
                    if (i % 7 == 1)
                        rrc_incref(h->heap, ob[i]);
                    queued += i % 7 != 1;
                }
            host_major(h);
            check_int(rrc_run_pending(h->heap, 0), queued);
            for (i = 0; i < COUNT; i++) {
                int dies = i % 3 == 0 || (i > 500 && i < 600), holds = dies && i % 7 == 1;

                check_int(host_is_alive(h, id[i]), !dies || (holds && i % 2 != 0));
                if (host_is_alive(h, id[i])) {
                    check_ptr(rrc_to_obj(h->heap, ob[i]), host_at(h, id[i]));
                    check_ptr(rrc_from_obj(h->heap, host_at(h, id[i])), i % 2 ? ob[i] : NULL);
                }
                if (holds)
                    rrc_decref(h->heap, ob[i]);
            }
            if (held != NULL)
                rrc_decref(h->heap, held);
            host_close(h);
        }
}

/* The next minor collection finds what has become young. */
static void the_sweep_leaves_demotion_to_a_minor(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = open_slices(1);
        size_t id = host_rooted(h, HOST_OLD);

        unit_context("link %d", kind);
        ob_given(h, (link_kind)kind, id, FULL);
        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
        host_demote(h, id);
        host_major(h);
        check_stats(h, 0, 1 + (kind == P), 0, kind == O, 0);
        host_unroot(h, id);
        host_minor(h);
        check(!host_is_alive(h, id));
        check_stats(h, 0, 1, 0, 0, 1);
        rrc_run_pending(h->heap, 0);
        host_close(h);
    }
}

/* So does the start of the next collection in slices. Links that are made after it do not count on the room that the
   demoted ones have taken. */
static void the_start_demotes(void)
{
    enum { COUNT = 600 };
    host *h = open_slices(1);
    size_t ids[COUNT], i;

    for (i = 0; i < COUNT; i++) {
        ids[i] = host_rooted(h, HOST_OLD);
        ob_given(h, P, ids[i], FULL);
    }
    for (i = 0; i < COUNT; i++)
        host_demote(h, ids[i]);
    host_major(h);
    ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    host_start(h);
    check(host_stats(h).p_young > 50);
    check_int(rrc_check(h->heap), RRC_OK);
    for (i = 0; i < COUNT; i++)
        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    host_close(h);
}

/* The host can finish its marking after all. */
static void a_search_can_be_finished_after_all(void)
{
    host *h = open_slices(0);
    size_t holder = host_rooted(h, HOST_OLD), widget = widget_and_callback(h, &Knot, 1);

    widget_and_callback(h, &KnotFinal, 3);
    host_point(h, holder, 0, widget);
    host_start(h);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_major_collection_trace_early(h->heap), RRC_OK);
    h->options.early = 0;
    host_pronounce(h);
    check(host_is_alive(h, widget));
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 0);                      /* the finalizer counted as held */
    host_unroot(h, holder);
    knot_collect(h);
    knot_collect(h);
    check_int(h->deallocs, 4);
    h->events[0] = '\0';
    host_close(h);
}

/* In a walk, objects that leave make holes, which are not filled until it ends. */
typedef struct ending {
    host *h;
    rrc_object *ob[5];
    int hole, visits[5];
} ending;

static int end_early(rrc_object *ob, void *arg)
{
    ending *it = (ending *)arg;

    if (++it->visits[KNOT(ob)->tag] == 1 && ob == it->ob[2]) {
        rrc_gc_untrack(it->h->heap, it->ob[it->hole]);
        host_major(it->h);
    }
    return 1;
}

static void a_walk_sees_each_object_once(void)
{
    int hole, i;

    for (hole = 0; hole < 5; hole += 4) {
        ending it = { NULL, { NULL }, 0, { 0 } };

        it.hole = hole;
        it.h = open_slices(hole != 0);
        for (i = 0; i < 5; i++)
            it.ob[i] = knot_new(it.h, &Knot, i);
        host_start(it.h);
        rrc_gc_visit_objects(it.h->heap, end_early, &it);
        for (i = 0; i < 5; i++)
            check(it.visits[i] == 1 || (i == hole && it.visits[i] == 0));
        check_int(host_stats(it.h).major_collections, 1);
        check_int(rrc_check(it.h->heap), RRC_OK);
        for (i = 0; i < 5; i++)
            rrc_decref(it.h->heap, it.ob[i]);
        host_close(it.h);
    }
}

UNIT_GROUP(gc_early, UNIT(reports_inside_reports),
    UNIT(a_search_that_was_stopped_does_nothing), UNIT(each_search_visits_the_same),
    UNIT(what_is_reported_is_not_asked_about), UNIT(reports_in_minor_collections_are_ignored),
    UNIT(what_waits_keeps_its_p), UNIT(what_was_kept_is_found_alive),
    UNIT(reports_in_a_walk),
    UNIT(reports_that_were_not_announced),
    UNIT(reports_while_garbage_waits), UNIT(the_kept_are_untracked),
    UNIT(another_than_the_reported_goes), UNIT(what_is_marked_late_is_no_garbage),
    UNIT(a_ring_is_marked_late), UNIT(what_is_marked_before_keeping_is_alive),
    UNIT(what_was_reported_can_go), UNIT(reports_keep_nothing_at_the_end), UNIT(what_is_marked_later_keeps_what_c_holds), UNIT(long_chains_are_linear),
           UNIT(a_finalizer_holds_until_a_search_that_finishes), UNIT(without_a_cycle_finalizers_run_at_once),
           UNIT(an_object_that_was_not_reported_stops_the_search), UNIT(proxies_can_be_reported_by_their_ob),
           UNIT(the_mutator_may_run_in_a_pause), UNIT(no_search_after_a_pause), UNIT(trace_calls_may_be_repeated),
           UNIT(disabled_between_two_trace_calls), UNIT(disabled_in_an_early_collection),
           UNIT(a_wrong_traverse_is_named_once), UNIT(reports_before_a_pause), UNIT(the_host_is_asked_after_a_pause),
           UNIT(what_finalizers_need_in_a_pause),
           UNIT(the_phases_are_checked),
           UNIT(links_follow_objects_that_move_by_themselves),
           UNIT(what_is_marked_later_keeps_what_c_holds_in_slices), UNIT(long_chains_are_linear_in_slices),
           UNIT(a_finalizer_holds_until_a_search_that_finishes_in_slices),
           UNIT(without_a_cycle_finalizers_run_at_once_in_slices), UNIT(proxies_can_be_reported_by_their_ob_in_slices),
           UNIT(no_search_after_a_pause_in_slices),
           UNIT(trace_calls_may_be_repeated_in_slices), UNIT(missing_reports_are_looked_for),
           UNIT(proxies_get_state_between_slices), UNIT(ignored_traces_are_repeated),
           UNIT(held_while_the_search_is_open), UNIT(the_sweep_looks_at_what_was_not_marked),
           UNIT(the_sweep_leaves_demotion_to_a_minor), UNIT(the_start_demotes),
           UNIT(a_search_can_be_finished_after_all),
           UNIT(a_walk_sees_each_object_once));
