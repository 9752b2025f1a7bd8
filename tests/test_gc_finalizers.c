/* What is done to garbage, and in which order: weak references, finalizers, clears
 * (PEP 442); resurrection; what cannot be cleared; what C gets hold of again. */

#include "knots.h"

#include <stdlib.h>
#include <string.h>

/* Are all events of one kind before all of another? */
static int all_before(const char *events, char first, char then)
{
    const char *last_first = strrchr(events, first), *first_then = strchr(events, then);

    return last_first == NULL || first_then == NULL || last_first < first_then;
}

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

static void the_order_is_that_of_pep_442(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[4], *other[3];

    knot_ring(h, &KnotFull, 4, ring);
    knot_ring(h, &KnotWeak, 3, other);
    KNOT(other[0])->tag = 5;
    KNOT(other[1])->tag = 6;
    KNOT(other[2])->tag = 7;
    knot_tie(h, ring[0], 1, other[0]);
    host_major(h);
    check_events(h, "");
    rrc_run_pending(h->heap, 0);
    check_int(count_events(h->events, 'w'), 7);
    check_int(count_events(h->events, 'f'), 4);
    check_int(count_events(h->events, 'c'), 0);
    check(all_before(h->events, 'w', 'f'));
    forget_events(h);
    knot_collect(h);
    check_int(count_events(h->events, 'f'), 0);
    check_int(count_events(h->events, 'd'), 7);
    check(all_before(h->events, 'w', 'c'));
    check_int(host_stats(h).garbage, 7);
    forget_events(h);
    host_close(h);
}

/* Each slot is called by way of the guard, where the implementing unit has one. */
static void user_code_runs_under_the_guard(void)
{
    host *h = host_open(NULL);
    size_t events;

    knot_ring(h, &KnotFull, 4, NULL);
    knot_collect(h);
    knot_collect(h);
    rrc_decref(h->heap, knot_new(h, &KnotFinal, 5));
    events = (size_t)(count_events(h->events, 'w') + count_events(h->events, 'f')
                      + count_events(h->events, 'c') + count_events(h->events, 'd'));
    check(events >= 14);
    check_int(h->calls.guard, HOST_MACROS ? events : 0);
    forget_events(h);
    host_close(h);
}

/* In portions of every size, with collections in between, however little of the
   garbage clears itself. */
static void portions_make_progress(void)
{
    size_t max;
    int majors, type;
    static const rrc_type *const types[] = { &Knot, &KnotFull, &KnotTable };

    for (max = 1; max < 12; max += 2)
        for (majors = 0; majors < 3; majors++)
            for (type = 0; type < 3; type++) {
                host *h = host_open(NULL);
                rrc_object *ring[7], *stiff;
                int rounds = 0, i;

                unit_context("portions of %u, %d collections, type %d", (unsigned)max, majors, type);
                knot_ring(h, types[type], 7, ring);
                for (i = 1; i < 7; i++)
                    knot_tie(h, ring[i], 1, ring[i - 1]);
                /* One that cannot clear itself: the others must. */
                stiff = knot_new(h, &KnotStiff, 8);
                knot_tie(h, stiff, 0, ring[3]);
                knot_tie(h, ring[5], 2, stiff);
                rrc_decref(h->heap, stiff);
                host_major(h);
                while (host_stats(h).objects > 0 && rounds++ < 200) {
                    check(rrc_run_pending(h->heap, max) <= max);
                    for (i = 0; i < majors; i++)
                        host_major(h);
                    if (host_stats(h).pending == 0)
                        host_major(h);
                    forget_events(h);
                }
                check_int(host_stats(h).objects, 0);
                check_int(h->finalized, type == 1 ? 7 : 0);
                forget_events(h);
                host_close(h);
            }
}

/* Weak references count for a portion as finalizers do. */
static void weak_references_come_in_portions(void)
{
    host *h = host_open(NULL);

    knot_ring(h, &KnotWeak, 3, NULL);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(count_events(h->events, 'w'), 1);
    check_int(rrc_run_pending(h->heap, 2), 2);
    check_int(count_events(h->events, 'w'), 3);
    check_int(count_events(h->events, 'c'), 0);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 3);
    forget_events(h);
    host_close(h);
}

/* However much garbage there is: none of it is looked at again before it is cleared. */
static void add_up_traversals(host *h, rrc_object *ob)
{
    *(size_t *)h->test += KNOT(ob)->traversed;
}

static void clearing_is_linear(void)
{
    enum { RINGS = 2000 };
    host *h = host_open(NULL);
    size_t traversals = 0, i;

    h->test = &traversals;
    h->on_dealloc = add_up_traversals;
    for (i = 0; i < RINGS; i++)
        KNOT(KNOT(knot_ring(h, &Knot, 2, NULL))->ref[0])->tag = 0;
    forget_events(h);
    knot_collect(h);
    check_int(h->deallocs, 2 * RINGS);
    check(traversals <= 2 * RINGS * (HOST_DEBUG ? 12 : 4));
    forget_events(h);
    host_close(h);
}

/* However small the portion: what is cleared without effect is not in the way. */
static void one_that_does_not_clear_itself_is_not_in_the_way(void)
{
    int order, i;

    for (order = 0; order < 2; order++) {
        host *h = host_open(NULL);
        rrc_object *stiff = order ? knot_new(h, &KnotStiff, 1) : NULL, *ob = knot_new(h, &Knot, 2);

        unit_context("order %d", order);
        if (stiff == NULL)
            stiff = knot_new(h, &KnotStiff, 1);
        knot_tie(h, stiff, 0, ob);
        knot_tie(h, ob, 0, stiff);
        rrc_decref(h->heap, ob);
        rrc_decref(h->heap, stiff);
        host_major(h);
        for (i = 0; i < 4; i++)
            check(rrc_run_pending(h->heap, 1) <= 1);
        check_int(host_stats(h).objects, 0);
        check_int(host_stats(h).pending, 0);
        forget_events(h);
        host_close(h);
    }
}

/* What waits for a dealloc that a portion put off is no cyclic garbage, nor is what
   it owns. */
static void what_is_put_off_is_no_garbage(void)
{
    host *h = host_open(NULL);
    rrc_object *first = knot_new(h, &KnotWeak, 1), *second = knot_new(h, &KnotWeak, 2);
    rrc_object *third = knot_new(h, &KnotWeak, 3), *owner = ob_new(h, &Node);
    size_t i;

    KNOT(first)->ref[0] = second;
    KNOT(second)->ref[0] = third;
    NODE(owner)->ref[0] = first;
    ob_link(h, O, host_new(h, HOST_OLD), owner, FULL);
    rrc_decref(h->heap, owner);
    host_major(h);
    check_int(host_stats(h).pending, 1);
    for (i = 1; i <= 3; i++) {
        check_int(rrc_run_pending(h->heap, 1), 1);
        check_int(host_stats(h).pending, 1);
        host_major(h);
        check_int(host_stats(h).pending, 1);
        check_int(h->deallocs, i);
    }
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_events(h, "d1 d2 d3");
    host_close(h);
}

/* C gets hold of garbage between two portions. */
static void each_portion_looks_again(void)
{
    enum { N = 6 };
    host *h = host_open(NULL);
    rrc_object *rings[N][2];
    int i, whole = 0;

    for (i = 0; i < N; i++)
        knot_ring(h, &Knot, 2, rings[i]);
    host_major(h);
    rrc_run_pending(h->heap, 3);
    check_int(h->deallocs, 2);
    forget_events(h);
    /* The rest is all there: hold what was not touched. */
    rrc_gc_disable(h->heap);
    for (i = 0; i < N; i++)
        if (i != 0 && i != N - 1) {
            rrc_incref(h->heap, rings[i][1]);
            whole++;
        }
    rrc_run_pending(h->heap, 0);
    for (i = 1; i < N - 1; i++) {
        check_ptr(KNOT(rings[i][0])->ref[0], rings[i][1]);
        check_ptr(KNOT(rings[i][1])->ref[0], rings[i][0]);
        rrc_decref(h->heap, rings[i][1]);
    }
    check_int(h->deallocs, 2 * (N - whole));
    rrc_gc_enable(h->heap);
    knot_collect(h);
    check_int(h->deallocs, 2 * N);
    forget_events(h);
    host_close(h);
}

static void a_finalizer_keeps_what_it_reaches(void)
{
    host *h = host_open(NULL);
    rrc_object *final = knot_new(h, &KnotFinal, 1), *reached = knot_new(h, &KnotWeak, 2);
    rrc_object *beside = knot_new(h, &Knot, 3), *view = knot_new(h, &Knot, 4);
    size_t p = host_new(h, HOST_OLD), below = host_new(h, HOST_OLD);

    /* 3 -> 1 -> 2, each with itself; 2 is linked, and its p leads to that of 4. */
    knot_tie(h, final, 0, final);
    knot_tie(h, final, 1, reached);
    knot_tie(h, beside, 0, beside);
    knot_tie(h, beside, 1, final);
    ob_link(h, P, p, reached, FULL);
    host_point(h, p, 0, below);
    ob_link(h, P, below, view, FULL);
    rrc_decref(h->heap, final);
    rrc_decref(h->heap, reached);
    rrc_decref(h->heap, beside);
    rrc_decref(h->heap, view);
    knot_collect(h);
    check_events(h, "w2 f1 c3 d3");
    check(host_is_alive(h, p) && host_is_alive(h, below));
    check(rrc_gc_is_finalized(h->heap, final));
    check(!rrc_gc_is_finalized(h->heap, reached));
    knot_collect(h);
    check_int(count_events(h->events, 'd'), 3);
    check_int(count_events(h->events, 'f'), 0);
    check(!host_is_alive(h, p) && !host_is_alive(h, below));
    forget_events(h);
    host_close(h);
}

/* ---- resurrection ---- */

static void save_self(host *h, rrc_object *ob)
{
    h->test = ob;
    rrc_incref(h->heap, ob);
}

static void save_next(host *h, rrc_object *ob)
{
    save_self(h, KNOT(ob)->ref[0]);
}

static void a_finalizer_resurrects(void)
{
    int next;

    for (next = 0; next < 2; next++) {
        host *h = host_open(NULL);
        rrc_object *ring[3];
        int i;

        knot_ring(h, &Knot, 2, &ring[1]);
        ring[0] = knot_new(h, &KnotFinal, 3);
        knot_tie(h, ring[0], 0, ring[1]);
        knot_tie(h, ring[2], 1, ring[0]);
        rrc_decref(h->heap, ring[0]);
        h->on_finalize = next ? save_next : save_self;
        knot_collect(h);
        check_events(h, "f3");
        for (i = 0; i < 3; i++) {
            knot_collect(h);
            check_events(h, "");
        }
        rrc_decref(h->heap, (rrc_object *)h->test);
        knot_collect(h);
        check_int(count_events(h->events, 'f'), 0);
        check_int(count_events(h->events, 'd'), 3);
        forget_events(h);
        host_close(h);
    }
}

/* Once per object, however it goes. */
static void by_the_count_or_as_garbage_but_once(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &KnotFinal, 1);

    h->on_finalize = save_self;
    rrc_decref(h->heap, ob);
    check_events(h, "f1");
    check(rrc_gc_is_finalized(h->heap, ob));
    knot_tie(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    knot_collect(h);
    check_events(h, "c1 d1");
    host_close(h);
}

static void an_untracked_object_is_finalized_too(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &KnotFinal, 1);

    rrc_gc_untrack(h->heap, ob);
    h->on_finalize = save_self;
    rrc_decref(h->heap, ob);
    check_events(h, "f1");
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    check(rrc_gc_is_finalized(h->heap, ob));
    rrc_decref(h->heap, ob);
    check_events(h, "d1");
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

static void free_the_ring(host *h, rrc_object *ob)
{
    if (KNOT(ob)->ref[0] != NULL)
        RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
}

/* Finalizers that free others of the garbage, whose own are then run by their
   counts; twice never. */
static void finalizers_that_free_each_other(void)
{
    host *h = host_open(NULL);

    h->on_finalize = free_the_ring;
    knot_ring(h, &KnotFull, 6, NULL);
    knot_collect(h);
    check_int(count_events(h->events, 'f'), 6);
    check_int(count_events(h->events, 'd'), 6);
    check_int(count_events(h->events, 'c'), 0);
    forget_events(h);
    host_close(h);
}

static void collect_in_a_finalizer(host *h, rrc_object *ob)
{
    (void)ob;
    host_major(h);
    host_minor(h);
    check_int(rrc_run_pending(h->heap, 0), 0);
}

static void finalizers_that_collect(void)
{
    host *h = host_open(NULL);

    h->on_finalize = h->on_dealloc = collect_in_a_finalizer;
    knot_ring(h, &KnotFull, 5, NULL);
    knot_ring(h, &Knot, 3, NULL);
    knot_collect(h);
    knot_collect(h);
    knot_collect(h);
    check_int(h->finalized, 5);
    check_int(h->deallocs, 8);
    forget_events(h);
    h->on_finalize = h->on_dealloc = NULL;
    host_close(h);
}

/* A clear whose deallocs take hold of what still waits: the counts keep it, and it
   stays whole enough to be cleared. */
static void hold_the_saved(host *h, rrc_object *ob)
{
    (void)ob;
    if (h->test != NULL) {
        rrc_incref(h->heap, (rrc_object *)h->test);
        h->on_dealloc = NULL;
    }
}

static void a_dealloc_takes_hold_of_garbage(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[3];

    knot_ring(h, &Knot, 3, ring);
    h->on_dealloc = hold_the_saved;
    h->test = ring[1];
    rrc_decref(h->heap, knot_new(h, &Knot, 0));
    check_int(REFCNT(ring[1]), 2);
    knot_collect(h);
    check_int(h->deallocs, 1);
    rrc_decref(h->heap, ring[1]);
    forget_events(h);
    knot_collect(h);
    check_int(h->deallocs, 4);
    forget_events(h);
    host_close(h);
}

/* What was cleared, and is held by somebody since, is not uncollectable. */
static void hold_the_other(host *h, rrc_object *ob)
{
    rrc_object **ring = (rrc_object **)h->test;

    h->on_dealloc = NULL;
    ring[2] = ring[ob == ring[0]];
    rrc_incref(h->heap, ring[2]);
}

static void what_was_cleared_and_is_held_is_alive(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[3];

    knot_ring(h, &Knot, 2, ring);
    h->test = ring;
    h->on_dealloc = hold_the_other;
    knot_collect(h);
    check_int(h->deallocs, 1);
    check_int(REFCNT(ring[2]), 1);
    check_int(host_stats(h).uncollectable, 0);
    check(!rrc_gc_is_uncollectable(h->heap, ring[2]));
    check(rrc_gc_is_tracked(h->heap, ring[2]));
    rrc_decref(h->heap, ring[2]);
    check_int(h->deallocs, 2);
    forget_events(h);
    host_close(h);
}

/* Garbage that a collection inside of rrc_run_pending sets aside is checked again as
   well, if C got hold of it meanwhile. */
typedef struct story {
    rrc_object *late[2];
    int step;
} story;

static void find_more_and_hold_it(host *h, rrc_object *ob)
{
    story *s = (story *)h->test;

    if (KNOT(ob)->tag != 1 || s->step++ > 0)
        return;
    host_major(h);
    rrc_incref(h->heap, s->late[1]);
}

static void garbage_found_meanwhile_is_checked_again(void)
{
    host *h = host_open(NULL);
    story s = { { NULL, NULL }, 0 };
    rrc_object *first[2];

    h->test = &s;
    h->on_dealloc = find_more_and_hold_it;
    knot_ring(h, &Knot, 2, first);
    host_major(h);
    knot_ring(h, &Knot, 2, s.late);
    KNOT(s.late[0])->tag = 3;
    KNOT(s.late[1])->tag = 4;
    rrc_run_pending(h->heap, 0);
    check_int(s.step, 1);
    check_int(REFCNT(s.late[1]), 2);
    check_ptr(KNOT(s.late[0])->ref[0], s.late[1]);
    check_ptr(KNOT(s.late[1])->ref[0], s.late[0]);
    rrc_decref(h->heap, s.late[1]);
    knot_collect(h);
    check_int(h->deallocs, 4);
    forget_events(h);
    host_close(h);
}

/* ---- objects that leave the list where they wait, in their own slot ---- */

static void track_again(host *h, rrc_object *ob)
{
    rrc_gc_untrack(h->heap, ob);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
}

static void tracked_anew_in_its_finalizer(void)
{
    host *h = host_open(NULL);

    rrc_object *ring[2];

    h->on_finalize = track_again;
    knot_ring(h, &KnotFinal, 2, ring);
    knot_collect(h);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(REFCNT(ring[0]), 1);
    check_int(REFCNT(ring[1]), 1);
    check_int(h->deallocs, 0);
    knot_collect(h);                    /* (the other one was not finalized, as this one refers to it) */
    knot_collect(h);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* A finalizer says that those of others have nothing to do. */
static void there_is_nothing_to_do(host *h, rrc_object *ob)
{
    check_int(rrc_gc_set_finalized(h->heap, KNOT(ob)->ref[0], 1), RRC_OK);
}

static void finalized_while_it_waits(void)
{
    host *h = host_open(NULL);

    h->on_finalize = there_is_nothing_to_do;
    knot_ring(h, &KnotFinal, 2, NULL);
    knot_collect(h);
    check_int(h->finalized, 1);
    check_int(rrc_check(h->heap), RRC_OK);
    knot_collect(h);
    check_int(h->deallocs, 2);
    forget_events(h);
    host_close(h);
}

/* A tp_clear links its object: the link holds it, with all that it owns. */
static size_t p_to_link;
static int links_left;

static int clear_and_link(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);

    if (links_left > 0)
        ob_link(h, P, p_to_link, self, FULL);
    links_left = 0;
    RRC_CLEAR(heap, KNOT(self)->ref[0]);
    return 0;
}

static void linked_in_its_clear(void)
{
    int keeps;

    for (keeps = 0; keeps < 2; keeps++) {
        rrc_type type = Knot;
        host_options options = { .keeps = keeps };
        host *h = host_open(&options);
        rrc_object *ob;
        size_t p = host_rooted(h, HOST_OLD);

        unit_context("keeps %d", keeps);
        type.tp_clear = clear_and_link;
        ob = knot_new(h, &type, 0);
        KNOT(ob)->ref[0] = ob;
        KNOT(ob)->ref[1] = knot_new(h, &Knot, 7);
        p_to_link = p;
        links_left = 1;
        knot_collect(h);
        check_events(h, "");
        check_ptr(rrc_from_obj(h->heap, host_at(h, p)), ob);
        rrc_incref(h->heap, ob);
        rrc_decref(h->heap, ob);
        knot_collect(h);
        check_ptr(rrc_from_obj(h->heap, host_at(h, p)), ob);
        host_unroot(h, p);
        knot_collect(h);
        check_int(h->deallocs, 2);
        forget_events(h);
        host_close(h);
    }
}

/* ---- what cannot be cleared ---- */

/* One call finalizes, clears, and finds that it was in vain. */
static void one_call_tells_what_is_uncollectable(void)
{
    rrc_type StiffFinal = KnotFinal;
    host *h = host_open(NULL);
    rrc_object *ring[2];

    StiffFinal.tp_name = "StiffFinal";
    StiffFinal.tp_clear = NULL;
    knot_ring(h, &StiffFinal, 2, ring);
    check_int(rrc_gc_collect(h->heap), 2);
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    check_int(host_stats(h).uncollectable, 2);
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
    forget_events(h);
    host_close(h);
}

/* A tp_clear that makes new garbage each time, and leaves its own. */
static int made_by_clears;

static int clear_and_make_another(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);
    rrc_object *other = made_by_clears < 20 ? knot_new(h, RRC_TYPE(self), 0) : NULL;

    if (other != NULL) {
        made_by_clears++;
        KNOT(other)->ref[0] = other;
    }
    if (made_by_clears == 20)
        RRC_CLEAR(heap, KNOT(self)->ref[0]);
    return 0;
}

static void clears_do_not_go_on_for_ever(void)
{
    static const rrc_type Fertile = { .tp_name = "Fertile", .tp_basicsize = sizeof(knot),
                                      .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = knot_dealloc,
                                      .tp_traverse = knot_traverse, .tp_clear = clear_and_make_another };
    host *h = host_open(NULL);

    made_by_clears = 0;
    knot_ring(h, &Fertile, 1, NULL);
    rrc_gc_collect(h->heap);
    check_int(made_by_clears, 1 + 2 + 4);       /* three rounds, in which all are tried again */
    made_by_clears = 20;
    rrc_gc_collect(h->heap);
    check_int(host_stats(h).objects, 0);
    while (h->log_read < h->log_count)
        host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    forget_events(h);
    host_close(h);
}

static void what_cannot_be_cleared_is_reported(void)
{
    static const rrc_type *const with[] = { &KnotStiff, &KnotFinal, &KnotTable, &KnotWeak };
    size_t i;

    for (i = 0; i < sizeof with / sizeof with[0]; i++) {
        host *h = host_open(NULL);
        rrc_object *ring[3];
        size_t expected = i == 0 ? 3 : 0, k;

        unit_context("with type %s", with[i]->tp_name);
        knot_ring(h, &KnotStiff, 2, ring);
        ring[2] = knot_new(h, with[i], 3);
        KNOT(ring[2])->ref[0] = KNOT(ring[1])->ref[0];
        KNOT(ring[1])->ref[0] = ring[2];
        knot_collect(h);
        knot_collect(h);
        check_int(host_stats(h).uncollectable, expected);
        check_int(host_stats(h).objects, expected);
        for (k = 0; k < expected; k++) {
            check(rrc_gc_is_uncollectable(h->heap, ring[k]));
            check_str(host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending")->type_name, "KnotStiff");
        }
        host_expect_silence(h);
        forget_events(h);
        if (expected > 0) {
            knot_collect(h);
            check_int(host_stats(h).uncollectable, expected);
            host_expect_silence(h);
            /* Held again, it is alive again, and not uncollectable any more. */
            rrc_incref(h->heap, ring[1]);
            knot_collect(h);
            check_int(host_stats(h).uncollectable, 0);
            check(!rrc_gc_is_uncollectable(h->heap, ring[0]));
            RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
            rrc_decref(h->heap, ring[1]);
        }
        check_int(host_stats(h).objects, 0);
        check_int(host_stats(h).uncollectable, 0);
        forget_events(h);
        host_close(h);
    }
}

/* A tp_clear that forgets a field, in the middle of garbage that others can clear. */
static int clear_nothing(rrc_heap *heap, rrc_object *self)
{
    host_event(HOST(heap), 'c', KNOT(self)->tag);
    return 0;
}

static const rrc_type Lazy = {
    .tp_name = "Lazy", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = clear_nothing,
};

/* A tp_clear that needs two calls. The end of the heap, which looks for the order, makes both, and says nothing. */
static int clear_at_the_second_call(rrc_heap *heap, rrc_object *self)
{
    if (++KNOT(self)->tag == 2)
        RRC_CLEAR(heap, KNOT(self)->ref[0]);
    return 0;
}

static void a_slow_clear_at_the_end(void)
{
    rrc_type type = Knot;
    host *h = host_open(NULL);
    rrc_object *ob;

    type.tp_clear = clear_at_the_second_call;
    ob = knot_new(h, &type, 0);
    knot_tie(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    knot_ring(h, &Knot, 2, NULL);       /* (these go at once, so that there is another marking) */
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 3);
    host_expect_silence(h);
    forget_events(h);
    host_end(h);
}

/* The same, of types whose slots drop only, with a view that waits for them. */
static void a_slow_clear_that_owns_a_view(void)
{
    rrc_type type = Knot;
    host *h = host_open(NULL);
    rrc_object *ob, *view;

    type.tp_clear = clear_at_the_second_call;
    type.tp_flags |= RRC_TPFLAGS_DROPS_ONLY;
    ob = knot_new(h, &type, 0);
    knot_tie(h, ob, 0, ob);
    view = knot_new(h, &Knot, 0);
    ob_link(h, P, host_rooted(h, HOST_OLD), view, FULL);
    KNOT(ob)->ref[1] = view;
    rrc_decref(h->heap, ob);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 2);
    host_expect_silence(h);
    forget_events(h);
    host_end(h);
}

static void a_lazy_clear_is_named(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Lazy, 1);
    int i;

    knot_tie(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    check_int(rrc_gc_collect(h->heap), 1);
    check_str(host_expect_log(h, RRC_EUNCOLLECTABLE, NULL)->type_name, "Lazy");
    /* It is tried again each time, and logged once. */
    forget_events(h);
    for (i = 0; i < 3; i++) {
        check_int(rrc_gc_collect(h->heap), 1);
        host_expect_silence(h);
    }
    forget_events(h);
    RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
    check_events(h, "d1");
    host_close(h);
}

static void uncollectable_objects_can_be_listed(void)
{
    host *h = host_open(NULL);
    rrc_object *stiff = knot_ring(h, &KnotStiff, 4, NULL), *ob = stiff;
    int i;

    knot_ring(h, &Knot, 4, NULL);
    knot_collect(h);
    check(!rrc_gc_is_uncollectable(h->heap, stiff));    /* the next search tells */
    knot_collect(h);
    for (i = 0; i < 4; i++, ob = KNOT(ob)->ref[0]) {
        check(rrc_gc_is_uncollectable(h->heap, ob));
        host_expect_log(h, RRC_EUNCOLLECTABLE, NULL);
    }
    /* rrc_heap_free says so once more of none, and leaves them to C. */
    forget_events(h);
    rrc_incref(h->heap, stiff);
    check_int(host_free_heap(h), 0);
    RRC_CLEAR(h->heap, KNOT(stiff)->ref[0]);
    rrc_decref(h->heap, stiff);
    host_end(h);
}

/* An object that waits in the queue and is put into a cycle was never cleared: it is
   not uncollectable, but goes the next time. */
static void what_was_never_cleared_is_not_uncollectable(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Knot, 1);

    ob_link(h, O, host_new(h, HOST_OLD), ob, FULL);
    rrc_decref(h->heap, ob);
    host_major(h);
    knot_tie(h, ob, 0, ob);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    check_int(host_stats(h).uncollectable, 0);
    knot_collect(h);
    check_events(h, "c1 d1");
    host_close(h);
}

/* ---- what C gets hold of again ---- */

/* Between the collection and rrc_run_pending, in every way; of a ring of two with
   another object below it, and a ring that reaches this one. */
enum { BY_A_REFERENCE, FROM_THE_QUEUE, FROM_THE_QUEUE_AND_LINKED, BY_A_NEW_LINK, BY_A_NEW_OWNER, WAYS };

static void garbage_that_is_held_again_is_left_alone(void)
{
    int way, kind;

    for (way = 0; way < WAYS; way++)
        for (kind = P; kind <= O; kind++) {
            host_options options = { .reports_marks = kind };
            host *h = host_open(&options);
            rrc_object *ring[2], *below = knot_new(h, &KnotWeak, 3), *above = knot_new(h, &Knot, 4), *owner;
            rrc_object *taken = NULL;
            size_t p = host_new(h, HOST_OLD), home = host_rooted(h, HOST_OLD);

            unit_context("way %d, kind %d", way, kind);
            knot_ring(h, &Knot, 2, ring);
            knot_tie(h, ring[1], 1, below);
            knot_tie(h, above, 0, above);
            rrc_decref(h->heap, below);
            if (way == FROM_THE_QUEUE || way == FROM_THE_QUEUE_AND_LINKED) {
                /* Garbage that the queue holds, and that refers to the ring. */
                owner = knot_new(h, &Knot, 5);
                knot_tie(h, owner, 0, ring[0]);
                ob_link(h, (link_kind)kind, p, owner, FULL);
                rrc_decref(h->heap, owner);
            } else {
                owner = NULL;
                knot_tie(h, above, 1, ring[0]);
            }
            rrc_decref(h->heap, above);
            host_major(h);
            check(!host_is_alive(h, p));
            switch (way) {
            case BY_A_REFERENCE:
                taken = ring[1];
                rrc_incref(h->heap, taken);
                break;
            case FROM_THE_QUEUE:
            case FROM_THE_QUEUE_AND_LINKED:
                taken = rrc_next_dead(h->heap);
                check_ptr(taken, owner);
                check_ptr(RRC_LINK(taken), NULL);
                if (way == FROM_THE_QUEUE_AND_LINKED) {
                    ob_link(h, (link_kind)kind, home, taken, FULL);
                    rrc_decref(h->heap, taken);
                }
                break;
            case BY_A_NEW_LINK:
                ob_link(h, (link_kind)kind, home, ring[0], FULL);
                taken = ring[0];
                break;
            default:
                taken = knot_new(h, &Knot, 6);
                knot_tie(h, taken, 0, ring[0]);
            }
            rrc_run_pending(h->heap, 0);
            check_int(h->deallocs, 1);
            check(strstr(h->events, "d4") != NULL);
            check(KNOT(ring[0])->ref[0] == ring[1] && KNOT(ring[1])->ref[0] == ring[0]);
            check_ptr(KNOT(ring[1])->ref[1], below);
            forget_events(h);
            knot_collect(h);
            check_events(h, "");
            if (way == BY_A_NEW_LINK || way == FROM_THE_QUEUE_AND_LINKED)
                host_unroot(h, home);
            else
                rrc_decref(h->heap, taken);
            knot_collect(h);
            check_int(host_stats(h).objects, 0);
            forget_events(h);
            host_close(h);
        }
}

/* What garbage owns outside does not make up for a reference from outside. */
static void owning_others_hides_no_reference(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[2], *live = knot_new(h, &Knot, 3);

    knot_ring(h, &Knot, 2, ring);
    knot_tie(h, ring[0], 1, live);
    host_major(h);
    rrc_incref(h->heap, ring[1]);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    check_ptr(KNOT(ring[0])->ref[1], live);
    rrc_decref(h->heap, ring[1]);
    rrc_decref(h->heap, live);
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    forget_events(h);
    host_close(h);
}

/* The same without an incref: C takes over a reference that garbage owned, and says so by rrc_touch. */
static void a_reference_moved_out_of_garbage(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[2], *other, *taken;

    knot_ring(h, &Knot, 2, ring);
    other = knot_new(h, &Knot, 3);
    knot_tie(h, other, 0, other);
    rrc_decref(h->heap, other);
    host_major(h);
    taken = KNOT(ring[0])->ref[0];
    rrc_touch(h->heap, taken);
    KNOT(ring[0])->ref[0] = NULL;
    rrc_run_pending(h->heap, 0);
    check_events(h, "c3 d3");
    check_ptr(taken, ring[1]);
    check_ptr(KNOT(taken)->ref[0], ring[0]);
    forget_events(h);
    rrc_decref(h->heap, taken);
    check_events(h, "d2 d1");
    host_close(h);
}

/* So many that the sum of their biases is that of none. */
static void many_new_links_to_garbage(void)
{
    enum { MANY = 8 };
    host *h = host_open(NULL);
    rrc_object *obs[MANY];
    size_t homes[MANY];
    int i;

    for (i = 0; i < MANY; i++) {
        obs[i] = knot_new(h, &Knot, i + 1);
        knot_tie(h, obs[i], 0, obs[i]);
        rrc_decref(h->heap, obs[i]);
        homes[i] = host_rooted(h, HOST_OLD);
    }
    host_major(h);
    for (i = 0; i < MANY; i++)
        ob_link(h, i % 2 == 0 ? O : P, homes[i], obs[i], FULL);
    rrc_run_pending(h->heap, 0);
    check_events(h, "");
    for (i = 0; i < MANY; i++) {
        check_ptr(KNOT(obs[i])->ref[0], obs[i]);
        host_unroot(h, homes[i]);
    }
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    forget_events(h);
    host_close(h);
}

static int clear_and_untrack_the_other(rrc_heap *heap, rrc_object *self)
{
    rrc_gc_untrack(heap, KNOT(self)->ref[0]);
    return knot_clear(heap, self);
}

static const rrc_type Untracker = {
    .tp_name = "Untracker", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = clear_and_untrack_the_other,
};

static void what_a_clear_untracks_is_not_cleared(void)
{
    host *h = host_open(NULL);

    knot_ring(h, &Untracker, 2, NULL);
    knot_collect(h);
    check_int(count_events(h->events, 'c'), 1);
    check_int(count_events(h->events, 'd'), 2);
    check_int(host_stats(h).objects, 0);
    forget_events(h);
    host_close(h);
}

/* A portion counts all that was done: a clear, its dealloc, and the dealloc of an object that went because of it. */
static void a_portion_counts_all_that_goes(void)
{
    int i, done = 0;
    host *h = host_open(NULL);

    for (i = 0; i < 100; i++) {
        rrc_object *ob = knot_new(h, &Knot, 0), *leaf = rrc_gc_new(h->heap, &Knot);

        knot_tie(h, ob, 0, ob);
        KNOT(ob)->ref[1] = leaf;        /* not tracked: it goes by its count */
        rrc_decref(h->heap, ob);
    }
    host_major(h);
    while (host_stats(h).pending > 0) {
        int before = (int)host_stats(h).objects;

        check_int((int)rrc_run_pending(h->heap, 7) <= 7, 1);
        check(before - (int)host_stats(h).objects <= 7);
        done++;
    }
    check(done >= 200 / 7);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

static void borrow_again(host *h, rrc_object *ob)
{
    rrc_gcref p = h->test == NULL ? NULL : ((rrc_gcref *)h->test)[0];

    (void)ob;
    check_ptr(rrc_from_obj(h->heap, p), NULL);
}

/* The p of a link that was dissolved stays lost. */
static void the_link_of_garbage_is_gone(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Knot, 1);
    size_t p = host_new(h, HOST_OLD);

    knot_tie(h, ob, 0, ob);
    ob_link(h, P, p, ob, FULL);
    rrc_decref(h->heap, ob);
    h->on_dealloc = borrow_again;
    host_major(h);
    check_ptr(RRC_LINK(ob), NULL);
    check_int(rrc_refcnt(ob), 2);       /* its own, and that of the list in which it waits */
    check(!host_is_alive(h, p));
    rrc_run_pending(h->heap, 0);
    check_events(h, "c1 d1");
    host_close(h);
}

/* Majors come before rrc_run_pending was called: nothing is done twice. */
static void garbage_waits_for_long(void)
{
    host *h = host_open(NULL);
    int i;

    knot_ring(h, &KnotFull, 3, NULL);
    knot_ring(h, &Knot, 4, NULL);
    for (i = 0; i < 5; i++) {
        host_major(h);
        host_minor(h);
        check_int(host_stats(h).pending, 7);
        check_events(h, "");
    }
    rrc_run_pending(h->heap, 0);
    check_int(count_events(h->events, 'w'), 3);
    check_int(count_events(h->events, 'f'), 3);
    check_int(count_events(h->events, 'd'), 4);
    check_int(host_stats(h).pending, 0);
    for (i = 0; i < 3; i++)
        knot_collect(h);
    check_int(h->finalized, 3);
    check_int(h->deallocs, 7);
    check_int(host_stats(h).garbage, 7);
    forget_events(h);
    host_close(h);
}

static void pending_garbage_calls_the_trigger(void)
{
    host *h = host_open(NULL);

    knot_ring(h, &KnotFinal, 2, NULL);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 0);
    host_major(h);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    rrc_run_pending(h->heap, 0);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    knot_collect(h);
    forget_events(h);
    host_close(h);
}

/* What C gets hold of while it waits is left alone, with what it reaches: no weak reference is cleared,
   no finalizer runs, nothing is cleared, however many collections come in between, and although the
   object is given up and taken from the queue, or from anywhere else, meanwhile. */
static void what_c_holds_again_is_left_alone(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotWeak, &KnotFinal, &KnotFull };
    int kind, before, after, which;
    size_t type;

    for (type = 0; type < 4; type++)
        for (kind = -1; kind <= O; kind++)
            for (before = 0; before < 3; before++)
                for (after = 0; after < 3; after++)
                    for (which = 0; which < 2; which++) {
                        host *h = host_open(NULL);
                        rrc_object *ring[3], *dead;
                        int i;

                        unit_context("type %u, link %d, collections %d and %d, object %d", (unsigned)type, kind,
                                     before, after, which);
                        knot_ring(h, types[type], 3, ring);
                        if (kind >= 0)
                            ob_link(h, (link_kind)kind, host_new(h, HOST_OLD), ring[0], FULL);
                        host_major(h);
                        check(host_stats(h).pending > 0);
                        for (i = 0; i < before; i++)
                            host_major(h);
                        while ((dead = rrc_next_dead(h->heap)) != NULL)
                            rrc_decref(h->heap, dead);
                        check_events(h, "");
                        rrc_incref(h->heap, ring[which]);
                        for (i = 0; i < after; i++)
                            host_major(h);
                        rrc_run_pending(h->heap, 0);
                        check_events(h, "");
                        check_int(host_stats(h).pending, 0);
                        for (i = 0; i < 3; i++)
                            check_ptr(KNOT(ring[i])->ref[0], ring[(i + 1) % 3]);
                        knot_collect(h);
                        check_events(h, "");
                        rrc_decref(h->heap, ring[which]);
                        knot_collect(h);
                        knot_collect(h);
                        check_int(h->deallocs, 3);
                        check_int(count_events(h->events, 'f'), type >= 2 ? 3 : 0);
                        forget_events(h);
                        host_close(h);
                    }
}

/* A weak reference's callback, or a finalizer, gives C a reference to another object that is still to
   be finalized, or cleared: that one is left alone, too. */
static void take_the_other(host *h, rrc_object *ob)
{
    rrc_object **other = (rrc_object **)h->test;

    (void)ob;
    if (*other != NULL)
        rrc_incref(h->heap, *other);
    *other = NULL;
}

static void what_a_finalizer_takes_is_left_alone(void)
{
    host *h = host_open(NULL);
    rrc_object *final = knot_ring(h, &KnotFinal, 1, NULL), *ring[2], *held;

    knot_ring(h, &KnotWeak, 2, ring);
    knot_tie(h, ring[0], 1, final);         /* so that they are looked at together */
    held = ring[1];
    h->test = &held;
    h->on_finalize = take_the_other;
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_ptr(held, NULL);
    check_int(count_events(h->events, 'f'), 1);
    check_int(count_events(h->events, 'c'), 0);
    check_int(h->deallocs, 0);
    h->on_finalize = NULL;
    rrc_decref(h->heap, ring[1]);
    knot_collect(h);
    check_int(h->deallocs, 3);
    forget_events(h);
    host_close(h);
}

/* ---- the end of a heap ---- */

static void heap_free_collects_cycles(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotFull, &KnotTable };
    int kind, waiting;
    size_t type;

    for (type = 0; type < 3; type++)
        for (kind = -1; kind <= O; kind++)
            for (waiting = 0; waiting < 2; waiting++) {
                host *h = host_open(NULL);
                rrc_object *ring[4];

                unit_context("type %u, link %d, waiting %d", (unsigned)type, kind, waiting);
                knot_ring(h, types[type], 4, ring);
                if (kind >= 0)
                    ob_link(h, (link_kind)kind, host_rooted(h, HOST_OLD), ring[2], FULL);
                if (waiting)
                    host_major(h);
                check_int(host_free_heap(h), 0);
                check_int(count_events(h->events, 'f'), type == 1 ? 4 : 0);
                check_int(h->deallocs, type == 2 ? 0 : 4);
                host_end(h);
            }
}

/* What an object without a header held from outside is found one by one. */
static void heap_free_goes_on_until_nothing_is_left(void)
{
    enum { N = 12 };
    host *h = host_open(NULL);
    rrc_object *below = NULL;
    int i;

    for (i = 0; i < N; i++) {
        rrc_object *ring = knot_new(h, &Knot, 0), *bare;

        knot_tie(h, ring, 0, ring);
        KNOT(ring)->ref[1] = below;
        bare = ob_new(h, &Node);
        NODE(bare)->ref[0] = ring;
        below = bare;
    }
    rrc_decref(h->heap, below);
    check_int(h->deallocs, 1);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 2 * N);
    host_end(h);
}

static void heap_free_leaves_what_is_held(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[3];

    knot_ring(h, &KnotFinal, 3, ring);
    rrc_incref(h->heap, ring[1]);
    ob_link(h, P, host_rooted(h, HOST_OLD), ring[0], FULL);
    check_int(host_free_heap(h), 1);
    check_events(h, "");
    check_int(REFCNT(ring[0]), 1);
    check_int(REFCNT(ring[1]), 2);
    check_ptr(RRC_LINK(ring[0]), NULL);
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
    rrc_decref(h->heap, ring[1]);
    check_int(count_events(h->events, 'd'), 3);
    check_int(count_events(h->events, 'f'), 3);
    host_end(h);
}

/* Garbage waits as long as a walk goes on, in whichever list it is. */
static int run_in_walk(rrc_object *ob, void *arg)
{
    host *h = (host *)arg;

    (void)ob;
    check_int(rrc_run_pending(h->heap, 0), 0);
    return 1;
}

static void nothing_is_done_with_garbage_in_a_walk(void)
{
    static const rrc_type *const types[] = { &Knot, &KnotFinal, &KnotWeak, &KnotFull, &KnotStiff };
    size_t i;

    for (i = 0; i < 5; i++) {
        host *h = host_open(NULL);
        rrc_object *ring[3];

        unit_context("type %u", (unsigned)i);
        knot_ring(h, types[i], 3, ring);
        host_major(h);
        if (types[i] == &KnotStiff)     /* so that it waits as cleared */
            check_int(rrc_run_pending(h->heap, 6), 6);
        rrc_gc_visit_objects(h->heap, run_in_walk, h);
        check_int(h->deallocs, 0);
        if (types[i] == &KnotStiff)
            RRC_CLEAR(h->heap, KNOT(ring[1])->ref[0]);
        knot_collect(h);
        knot_collect(h);
        check_int(h->deallocs, 3);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* In a walk an object that waits for its finalizer loses all its references: it waits on, and its
   finalizer resurrects it. */
static void resurrect_it(host *h, rrc_object *ob) { rrc_incref(h->heap, ob); }

static int let_go(rrc_object *ob, void *arg)
{
    (void)arg;
    RRC_CLEAR(((host *)arg)->heap, KNOT(ob)->ref[0]);
    return 1;
}

static void finalized_in_a_walk_while_it_waits(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_ring(h, &KnotFinal, 1, NULL);

    host_major(h);
    check_int(host_stats(h).pending, 1);
    h->on_finalize = resurrect_it;
    rrc_gc_visit_objects(h->heap, let_go, h);
    check_int(h->finalized, 0);
    rrc_run_pending(h->heap, 0);
    check_int(h->finalized, 1);
    check_int(h->deallocs, 0);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    h->events[0] = '\0';
    host_close(h);
}

/* The same outside of a walk, and it refers to itself again: as it has had its finalizer, the
   next collection takes it. */
static void tie_to_itself(host *h, rrc_object *ob) { knot_tie(h, ob, 0, ob); }

static void finalized_by_its_count_while_it_waits(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_ring(h, &KnotFinal, 1, NULL);

    host_major(h);
    h->on_finalize = tie_to_itself;
    RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
    check_int(h->finalized, 0);
    check_int(host_stats(h).pending, 1);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->finalized, 1);
    check_int(host_stats(h).pending, 0);
    check_int(rrc_gc_collect(h->heap), 1);
    check_events(h, "f1 c1 d1");
    host_close(h);
}

/* What was cleared in vain, as C took hold of it, is cleared once more when it is garbage
   again; also if other garbage of that time is held. */
static rrc_object *clung_to;

static int cling(rrc_heap *heap, rrc_object *self)
{
    if (clung_to != NULL)
        return knot_clear(heap, self);
    rrc_incref(heap, self);
    clung_to = self;
    return 0;
}

static void cleared_once_more(void)
{
    static const rrc_type clinging = { .tp_name = "Clinging", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                       .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = cling };
    host *h = host_open(NULL);
    rrc_object *ob = knot_ring(h, &clinging, 1, NULL), *other;

    clung_to = NULL;
    knot_collect(h);
    check_ptr(clung_to, ob);
    check_int(host_stats(h).pending, 0);
    knot_collect(h);                            /* it is alive, and its tp_clear counts for nothing */
    rrc_decref(h->heap, ob);
    other = knot_ring(h, &Knot, 1, NULL);
    KNOT(other)->tag = 2;
    host_major(h);
    rrc_incref(h->heap, other);
    rrc_run_pending(h->heap, 0);
    check_events(h, "c1 d1");
    rrc_decref(h->heap, other);
    knot_collect(h);
    check_events(h, "c2 d2");
    host_close(h);
}

/* A walk also shows what was cleared and is still there; it may be untracked meanwhile. */
typedef struct cleared_walk {
    host *h;
    rrc_object *untracked;
    int count;
} cleared_walk;

static int untrack_the_first(rrc_object *ob, void *arg)
{
    cleared_walk *it = (cleared_walk *)arg;

    if (it->count++ == 0) {
        it->untracked = ob;
        rrc_gc_untrack(it->h->heap, ob);
    }
    return 1;
}

static void walks_show_what_was_cleared(void)
{
    host *h = host_open(NULL);
    cleared_walk it = { NULL, NULL, 0 };

    it.h = h;
    knot_ring(h, &KnotStiff, 3, NULL);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 6), 6);
    check_int(host_stats(h).pending, 0);
    rrc_gc_visit_objects(h->heap, untrack_the_first, &it);
    check_int(it.count, 3);
    check_int(host_stats(h).tracked, 2);
    check_int(rrc_check(h->heap), RRC_OK);
    knot_collect(h);
    host_expect_silence(h);                     /* the untracked one holds them */
    RRC_CLEAR(h->heap, KNOT(it.untracked)->ref[0]);
    check_int(h->deallocs, 3);
    forget_events(h);
    host_close(h);
}

/* A tp_clear that untracks its object, and drops nothing. */
static int untrack_itself(rrc_heap *heap, rrc_object *self)
{
    rrc_gc_untrack(heap, self);
    return 0;
}

static void a_clear_may_untrack(void)
{
    static const rrc_type shy = { .tp_name = "Shy", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                  .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = untrack_itself };
    host *h = host_open(NULL);
    rrc_object *ring[2];

    knot_ring(h, &shy, 2, ring);
    knot_collect(h);
    check_int(h->deallocs, 0);
    check_int(host_stats(h).tracked, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
    check_int(h->deallocs, 2);
    h->events[0] = '\0';
    host_close(h);
}

/* Each finalizer makes an object with one, for ever: the end of the heap gives up. */
static const rrc_type *type_of_others;

static void make_another(host *h, rrc_object *ob)
{
    rrc_object **last = (rrc_object **)h->test;

    if (RRC_TYPE(ob) != type_of_others)
        return;
    last[0] = ob;
    last[1] = knot_new(h, type_of_others, 0);
    KNOT(last[1])->ref[0] = last[1];
}

/* Whatever is done last, before the heap gives up: with weak references there is more to do for each object, and objects
   with finalizers at the beginning take some of the rounds. */
static void finalizers_do_not_go_on_for_ever(void)
{
    int before, i;

    for (before = 0; before < 12; before++) {
        host *h = host_open(NULL);
        rrc_object *last[2] = { NULL, NULL };
        size_t many;

        unit_context("%d", before);
        type_of_others = before % 2 == 0 ? &KnotFinal : &KnotFull;
        h->test = last;
        h->on_finalize = make_another;
        for (i = 0; i < before / 2; i++)
            ob_given(h, O, host_new(h, HOST_OLD), FULL);
        knot_ring(h, type_of_others, 1, NULL);
        check_int(host_free_heap(h), 0);
        many = h->finalized;
        check(many >= 100);
        h->on_finalize = NULL;
        for (i = 0; i < 2; i++) {               /* nothing happened to these, but the finalizer of the first */
            check_int(REFCNT(last[i]), 1);
            check_ptr(KNOT(last[i])->ref[0], last[i]);
            RRC_CLEAR(h->heap, KNOT(last[i])->ref[0]);
        }
        check_int(h->finalized, many + 1);
        h->events[0] = '\0';
        host_end(h);
    }
}

/* Code gives garbage a reference again when it was cleared already: the next collection tells, and tries again. */
static void fill_the_first_again(host *h, rrc_object *ob)
{
    rrc_object **ring = (rrc_object **)h->test;

    if (RRC_TYPE(ob) != &Node)
        return;
    if (ring[2] == NULL) {              /* whose tp_clear drops this one? */
        ring[2] = ring[KNOT(ring[0])->ref[1] != NULL];
        knot_tie(h, ring[2], 0, ring[2]);
    }
}

static void garbage_that_is_filled_again(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[3] = { NULL, NULL, NULL };
    int i;

    knot_ring(h, &Knot, 2, ring);
    for (i = 0; i < 2; i++)
        KNOT(ring[i])->ref[1] = ob_new(h, &Node);
    h->test = ring;
    h->on_dealloc = fill_the_first_again;
    knot_collect(h);
    check(ring[2] != NULL && !rrc_gc_is_uncollectable(h->heap, ring[2]));
    check_int(host_stats(h).objects, 1);
    host_major(h);
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    check(rrc_gc_is_uncollectable(h->heap, ring[2]));
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* Deallocs that go on making garbage do not keep the end of the heap for ever, either. */
static void make_ring_with_node(host *h, rrc_object *ob)
{
    rrc_object *ring;

    if (ob != NULL && RRC_TYPE(ob) != &Node)
        return;
    ring = knot_new(h, &Knot, 0);
    knot_tie(h, ring, 0, ring);
    KNOT(ring)->ref[1] = ob_new(h, &Node);
    h->test = ring;
    rrc_decref(h->heap, ring);
}

static void deallocs_do_not_go_on_for_ever(void)
{
    host *h = host_open(NULL);
    size_t many;

    h->on_dealloc = make_ring_with_node;
    make_ring_with_node(h, NULL);
    check_int(host_free_heap(h), 0);
    many = h->deallocs;
    check(many >= 1000);
    h->on_dealloc = NULL;
    RRC_CLEAR(h->heap, KNOT((rrc_object *)h->test)->ref[0]);
    check_int(h->deallocs, many + 2);
    h->events[0] = '\0';
    host_end(h);
}

/* What waits when the heap ends, and what waits since then for being nested too deep, lets go of
   garbage: it is found, too. */
static void heap_free_collects_what_goes_late(void)
{
    enum { LENGTH = 200 };
    int before;

    for (before = 0; before < 2; before++) {
        host *h = host_open(NULL);
        rrc_object *owner = ob_given(h, O, host_new(h, HOST_OLD), FULL), *chain = ob_chain(h, &Node, LENGTH), *last = chain;

        while (NODE(last)->ref[0] != NULL)
            last = NODE(last)->ref[0];
        NODE(last)->ref[0] = knot_ring(h, &Knot, 3, NULL);
        rrc_incref(h->heap, NODE(last)->ref[0]);
        NODE(owner)->ref[0] = chain;
        if (before) {
            host_major(h);
            check_int(rrc_run_pending(h->heap, 1), 1);
            check_int(host_stats(h).pending, 1);
        }
        check_int(host_free_heap(h), 0);
        check_int(h->deallocs, 1 + LENGTH + 3);
        host_end(h);
    }
}

/* An object that needs no finalizer goes in one collection; and one may be needed again. */
static void objects_that_need_no_finalizer(void)
{
    int needs;

    for (needs = 0; needs < 3; needs++) {
        host *h = host_open(NULL);
        rrc_object *ring = knot_ring(h, &KnotFinal, 4, NULL), *ob = ring, *plain = ob_new(h, &Node);
        int i;

        unit_context("needs %d", needs);
        check_int(host_stats(h).finalizable, 4);
        for (i = 0; i < 4; i++, ob = KNOT(ob)->ref[0]) {
            check_int(rrc_gc_is_finalized(h->heap, ob), 0);
            if (needs == 0 || (needs == 2 && i > 0))
                check_int(rrc_gc_set_finalized(h->heap, ob, 1), RRC_OK);
            check_int(rrc_gc_is_finalized(h->heap, ob), needs == 0 || (needs == 2 && i > 0));
        }
        check_int(host_stats(h).finalizable, needs == 0 ? 0 : needs == 1 ? 4 : 1);
        check_int(rrc_check(h->heap), RRC_OK);
        host_major(h);
        rrc_run_pending(h->heap, 0);
        check_int(h->finalized, needs == 0 ? 0 : needs == 1 ? 4 : 1);
        check_int(host_stats(h).tracked, needs == 0 ? 0 : 4);
        host_major(h);
        rrc_run_pending(h->heap, 0);
        check_int(host_stats(h).tracked, 0);
        ob = knot_new(h, &KnotFinal, 9);
        check_int(rrc_gc_set_finalized(h->heap, ob, 1), RRC_OK);
        check_int(host_stats(h).finalizable, 0);
        check_int(rrc_gc_set_finalized(h->heap, ob, 0), RRC_OK);
        check_int(host_stats(h).finalizable, 1);
        check_int(rrc_gc_set_finalized(h->heap, ob, 1), RRC_OK);
        rrc_gc_untrack(h->heap, ob);
        check_int(rrc_gc_set_finalized(h->heap, ob, 0), RRC_OK);
        check_int(host_stats(h).finalizable, 0);
        h->finalized = 0;
        rrc_decref(h->heap, ob);
        check_int(h->finalized, 1);
        ob = knot_new(h, &KnotFinal, 9);
        check_int(rrc_gc_set_finalized(h->heap, ob, 1), RRC_OK);
        rrc_decref(h->heap, ob);                /* by its count */
        check_int(h->finalized, 1);
        check_int(rrc_gc_set_finalized(h->heap, NULL, 1), RRC_ENULL);
        host_expect_log(h, RRC_ENULL, "rrc_gc_set_finalized");
        check_int(rrc_gc_set_finalized(h->heap, plain, 1), RRC_ETYPE);
        host_expect_log(h, RRC_ETYPE, "rrc_gc_set_finalized");
        rrc_decref(h->heap, plain);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* A tp_clear arms the finalizer of what it lets go of, which waits as well. That finalizer brings its object back. */
static int arm_and_clear(rrc_heap *heap, rrc_object *self)
{
    check_int(rrc_gc_set_finalized(heap, KNOT(self)->ref[0], 0), RRC_OK);
    return knot_clear(heap, self);
}

static void hold_it(host *h, rrc_object *ob)
{
    rrc_incref(h->heap, ob);
}

static void garbage_gets_a_finalizer_while_it_waits(void)
{
    static const rrc_type Arming = { .tp_name = "Arming", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_traverse = knot_traverse, .tp_clear = arm_and_clear, .tp_dealloc = knot_dealloc };
    host *h = host_open(NULL);
    rrc_object *owner = knot_new(h, &Arming, 1), *owned = knot_new(h, &KnotFinal, 2);

    check_int(rrc_gc_set_finalized(h->heap, owned, 1), RRC_OK);
    KNOT(owner)->ref[0] = owned;
    knot_tie(h, owner, 1, owner);
    rrc_decref(h->heap, owner);
    h->on_finalize = hold_it;
    knot_collect(h);
    check_events(h, "c1 d1 f2");
    check_int(rrc_refcnt(owned), 1);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(host_stats(h).pending, 0);
    knot_tie(h, owned, 0, owned);               /* it is garbage again, and its tp_clear has not failed */
    rrc_decref(h->heap, owned);
    knot_collect(h);
    check_events(h, "c2 d2");
    check_int(h->deallocs, 2);
    host_close(h);
}

/* A collection in a slot finds what was cleared just before. Nothing is said of it, as not all has been cleared. */
static void collect_in_silence(host *h)
{
    size_t logged = h->log_count;

    host_major(h);
    check_int(h->log_count, logged);
}

static int collect_in_clear(rrc_heap *heap, rrc_object *self)
{
    collect_in_silence(HOST(heap));
    return knot_clear(heap, self);
}

static void what_cannot_be_cleared_is_named_at_last(void)
{
    static const rrc_type Collecting = { .tp_name = "Collecting", .tp_basicsize = sizeof(knot),
        .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = knot_traverse, .tp_clear = collect_in_clear,
        .tp_dealloc = knot_dealloc };
    int order;

    for (order = 0; order < 2; order++) {
        host *h = host_open(NULL);
        rrc_object *stiff = NULL, *ring;
        int i;

        unit_context("order %d", order);
        for (i = 0; i < 2; i++)
            knot_ring(h, i == order ? &KnotStiff : &Collecting, 1, i == order ? &stiff : &ring);
        knot_collect(h);
        knot_collect(h);
        host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
        host_expect_silence(h);
        RRC_CLEAR(h->heap, KNOT(stiff)->ref[0]);
        forget_events(h);
        host_close(h);
    }
}

UNIT_GROUP(gc_finalizers,
    UNIT(objects_that_need_no_finalizer), UNIT(garbage_gets_a_finalizer_while_it_waits),
    UNIT(what_c_holds_again_is_left_alone),
    UNIT(what_a_finalizer_takes_is_left_alone),
    UNIT(weak_references_come_in_portions),
    UNIT(clearing_is_linear),
    UNIT(finalized_by_its_count_while_it_waits),
    UNIT(cleared_once_more),
    UNIT(walks_show_what_was_cleared),
    UNIT(garbage_that_is_filled_again),
    UNIT(finalizers_do_not_go_on_for_ever), UNIT(deallocs_do_not_go_on_for_ever),
    UNIT(nothing_is_done_with_garbage_in_a_walk),
    UNIT(finalized_in_a_walk_while_it_waits),
    UNIT(a_clear_may_untrack),
    UNIT(the_order_is_that_of_pep_442), UNIT(user_code_runs_under_the_guard), UNIT(portions_make_progress),
    UNIT(one_that_does_not_clear_itself_is_not_in_the_way),
    UNIT(what_is_put_off_is_no_garbage),
    UNIT(each_portion_looks_again),
    UNIT(a_finalizer_keeps_what_it_reaches),
    UNIT(a_finalizer_resurrects),
    UNIT(by_the_count_or_as_garbage_but_once),
    UNIT(an_untracked_object_is_finalized_too),
    UNIT(finalizers_that_free_each_other),
    UNIT(finalizers_that_collect),
    UNIT(a_dealloc_takes_hold_of_garbage),
    UNIT(what_was_cleared_and_is_held_is_alive),
    UNIT(garbage_found_meanwhile_is_checked_again),
    UNIT(finalized_while_it_waits), UNIT(linked_in_its_clear),
    UNIT(tracked_anew_in_its_finalizer), UNIT(one_call_tells_what_is_uncollectable),
    UNIT(what_cannot_be_cleared_is_named_at_last),
    UNIT(clears_do_not_go_on_for_ever),
    UNIT(what_cannot_be_cleared_is_reported),
    UNIT(a_lazy_clear_is_named), UNIT(a_slow_clear_at_the_end), UNIT(a_slow_clear_that_owns_a_view),
    UNIT(uncollectable_objects_can_be_listed),
    UNIT(what_was_never_cleared_is_not_uncollectable),
    UNIT(garbage_that_is_held_again_is_left_alone), UNIT(owning_others_hides_no_reference),
    UNIT(a_reference_moved_out_of_garbage),
    UNIT(many_new_links_to_garbage),
    UNIT(a_portion_counts_all_that_goes), UNIT(what_a_clear_untracks_is_not_cleared),
    UNIT(the_link_of_garbage_is_gone),
    UNIT(garbage_waits_for_long),
    UNIT(pending_garbage_calls_the_trigger),
    UNIT(heap_free_collects_cycles), UNIT(heap_free_collects_what_goes_late),
    UNIT(heap_free_goes_on_until_nothing_is_left),
    UNIT(heap_free_leaves_what_is_held),
);
