/* Size and shape: long lists, chains that cross the border at every step, many small
 * components, in little stack and in time that grows with the size; and what the
 * search costs where there is nothing for it to do. */

#define _POSIX_C_SOURCE 200809L

#include "knots.h"
#include "threads.h"

#include <stdlib.h>

/* Big enough to overflow the stack of the thread, were anything recursive. */
static int big(void)
{
    return unit_is_quick() ? 20000 : HOST_SANITIZED || HOST_DEBUG ? 50000 : 1000000;
}

enum { STACK = 512 * 1024 };

static void *run_in_thread(void *body)
{
    ((void (**)(void))body)[0]();
    return NULL;
}

/* A check that fails in there ends the program. */
static void in_little_stack(void (*body)(void))
{
    pthread_attr_t attr;
    pthread_t thread;

    check_int(pthread_attr_init(&attr), 0);
    check_int(pthread_attr_setstacksize(&attr, STACK), 0);
    check_int(pthread_create(&thread, &attr, run_in_thread, &body), 0);
    check_int(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

static host *open_big(int reports)
{
    host_options options = { .unchecked = 1, .moving = HOST_STAY };

    options.reports_marks = reports;
    return host_open(&options);
}

/* How often the traverses of all these ran. */
static size_t traversed(rrc_object *first, size_t n)
{
    size_t sum = 0;

    while (n-- > 0) {
        sum += KNOT(first)->traversed;
        KNOT(first)->traversed = 0;
        first = KNOT(first)->ref[0];
    }
    return sum;
}

/* ---- a list of C objects ---- */

static rrc_object *untagged_ring(host *h, const rrc_type *type, int n, int step)
{
    rrc_object **obs = (rrc_object **)malloc((size_t)n * sizeof *obs), *first;
    int i;

    check(obs != NULL);
    for (i = 0; i < n; i++)
        obs[i] = knot_new(h, type, 0);
    /* With a step, the order in memory is not that of the ring. */
    for (i = 0; i < n; i++)
        KNOT(obs[(uint64_t)i * (uint64_t)step % (uint64_t)n])->ref[0] =
            obs[((uint64_t)i + 1) % (uint64_t)n * (uint64_t)step % (uint64_t)n];
    first = obs[0];
    free(obs);
    return first;
}

static void a_list(void)
{
    static const int steps[] = { 1, -1, 7919 };
    size_t s;

    for (s = 0; s < 3; s++) {
        int n = big(), step = steps[s] < 0 ? n - 1 : steps[s];
        host *h = open_big(0);
        rrc_object *first = untagged_ring(h, s == 1 ? &KnotFull : &Knot, n, step);
        size_t calls;

        unit_context("step %d", step);
        rrc_incref(h->heap, first);
        knot_collect(h);
        check_int(h->deallocs, 0);
        calls = traversed(first, (size_t)n);
        check(calls >= (size_t)n && calls <= (size_t)n * (HOST_DEBUG ? 4 : 2));
        rrc_decref(h->heap, first);
        knot_collect(h);
        knot_collect(h);
        check_int(h->deallocs, n);
        check_int(host_stats(h).objects, 0);
        check_int(host_stats(h).garbage, n);
        host_close(h);
    }
}

static void a_list_in_little_stack(void)
{
    in_little_stack(a_list);
}

/* A tp_clear that keeps what the object owns. */
static int keeps;

static int keep_or_clear(rrc_heap *heap, rrc_object *self)
{
    return keeps ? 0 : knot_clear(heap, self);
}

static const rrc_type Keeping = {
    .tp_name = "Keeping", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = keep_or_clear,
};

/* A search goes on. A long chain of garbage has been cleared, but still owns what it owned, and is gray. C gets hold of
   the first of the chain: so the last one, which still waits, is garbage no more. */
static void a_gray_list(void)
{
    static const int steps[] = { 1, -1 };
    const int n = 20000;
    host_options options = { .unchecked = 1, .moving = HOST_STAY, .incremental = 1, .without_generations = 1 };
    size_t s;

    for (s = 0; s < 2; s++) {
        host *h = host_open(&options);
        const int step = steps[s] > 0 ? 1 : n - 1;
        rrc_object *first = untagged_ring(h, &Keeping, n, step), *last = knot_new(h, &Knot, 7), *ob = first;

        unit_context("step %d", steps[s]);
        while (KNOT(ob)->ref[0] != first)
            ob = KNOT(ob)->ref[0];
        KNOT(ob)->ref[0] = last;
        KNOT(last)->ref[0] = first;
        keeps = 1;
        host_major(h);
        check_int(host_stats(h).pending, n + 1);
        ob = knot_new(h, &Knot, 0);
        host_start(h);
        rrc_major_collection_work(h->heap, 0);
        rrc_decref(h->heap, ob);        /* it leaves a hole */
        h->events[0] = '\0';
        check_int(rrc_run_pending(h->heap, (size_t)n), n);
        rrc_incref(h->heap, first);
        check_int(host_stats(h).pending, 0);
        rrc_run_pending(h->heap, 0);
        check_events(h, "");
        check_ptr(KNOT(last)->ref[0], first);
        host_major(h);
        keeps = 0;
        rrc_decref(h->heap, first);
        knot_collect(h);
        knot_collect(h);
        check_int(host_stats(h).objects, 0);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* The same for a chain each of whose objects owns another one, too: many of them are found before the chain ends. */
static void many_gray_at_a_time(void)
{
    const int n = 500;
    host_options options = { .unchecked = 1, .moving = HOST_STAY, .incremental = 1, .without_generations = 1 };
    host *h = host_open(&options);
    rrc_object *first = knot_new(h, &Keeping, 0), *ob = first, *last, *watched, *others[2];
    int i;

    watched = knot_new(h, &Knot, 0);
    ob_link(h, O, host_rooted(h, HOST_OLD), watched, FULL);
    rrc_decref(h->heap, watched);
    for (i = 0; i < 2; i++)
        others[i] = knot_new(h, &Knot, 0);
    for (i = 1; i < n; i++, ob = KNOT(ob)->ref[1]) {
        KNOT(ob)->ref[0] = knot_new(h, &Keeping, 0);
        KNOT(ob)->ref[1] = knot_new(h, &Keeping, 0);
    }
    last = KNOT(ob)->ref[0] = knot_new(h, &Knot, 7);
    KNOT(last)->ref[0] = first;
    keeps = 1;
    host_major(h);
    check_int(host_stats(h).pending, 2 * n);
    host_start(h);
    rrc_major_collection_work(h->heap, 0);
    while (host_stats(h).pending > 1)
        check(rrc_run_pending(h->heap, 1) > 0);
    h->events[0] = '\0';
    check(REFCNT(watched) < 0);
    rrc_gc_untrack(h->heap, others[0]);         /* (others are before and behind the place that is empty now) */
    rrc_incref(h->heap, first);
    check_int(host_stats(h).pending, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    host_major(h);
    check_events(h, "");
    check_ptr(KNOT(last)->ref[0], first);
    keeps = 0;
    rrc_decref(h->heap, first);
    rrc_decref(h->heap, others[0]);
    rrc_decref(h->heap, others[1]);
    knot_collect(h);
    knot_collect(h);
    check_int(host_stats(h).objects, 1);
    check_int(host_stats(h).uncollectable, 0);
    h->events[0] = '\0';
    host_close(h);
}

static void a_gray_list_in_little_stack(void)
{
    in_little_stack(a_gray_list);
}

static void a_list_in_portions(void)
{
    host *h = open_big(0);
    const int n = big() / 10;
    size_t runs = 0;

    untagged_ring(h, &Knot, n, 1);
    host_major(h);
    while (host_stats(h).pending > 0) {
        check(rrc_run_pending(h->heap, (size_t)n / 20) <= (size_t)n / 20);
        check(++runs < 100);
    }
    check_int(h->deallocs, n);
    host_close(h);
}

/* ---- a chain that crosses the border at each step ---- */

/* C object, p of its P link, an edge of the host to the p of the next one's link,
   which makes that C object alive, and so on. Held at the near end. */
static void border_chain(void)
{
    int reports, forth;

    for (reports = REPORT_LINKED; reports <= REPORT_ALL; reports++)
        for (forth = 0; forth < 2; forth++) {
            const size_t n = (size_t)big();
            host *h = open_big(reports);
            rrc_object **obs = (rrc_object **)malloc(n * sizeof *obs);
            size_t i, calls;

            unit_context("reports %d, forth %d", reports, forth);
            check(obs != NULL);
            for (i = 0; i < n; i++) {
                obs[i] = knot_new(h, &Knot, 0);
                ob_link(h, P, host_new(h, HOST_OLD), obs[i], FULL);
                if (i != (forth ? 0 : n - 1))
                    rrc_decref(h->heap, obs[i]);
            }
            /* Odd steps go from ob to ob, even ones from p to p: each p is reached by
               its own ob, or makes it alive. */
            for (i = 0; i + 1 < n; i++) {
                size_t from = forth ? i : i + 1, to = forth ? i + 1 : i;

                if (i % 2 == 0)
                    host_point(h, from, 0, to);
                else
                    knot_tie(h, obs[from], 0, obs[to]);
            }
            h->calls = (host_calls){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            host_major(h);
            check_int(host_stats(h).pending, 0);
            calls = h->calls.trace + h->calls.survivor + h->calls.propagate + h->calls.reports;
            if (calls > 8 * n)
                unit_fail(__FILE__, __LINE__, "%u hook calls for %u links", (unsigned)calls, (unsigned)n);
            for (i = 0; i < n; i++)
                check(host_is_alive(h, i));
            rrc_decref(h->heap, obs[forth ? 0 : n - 1]);
            knot_collect(h);
            check_int(h->deallocs, n);
            free(obs);
            host_close(h);
        }
}

static void a_border_chain_in_little_stack(void)
{
    in_little_stack(border_chain);
}

/* A host that does not report is asked once more for what is left, for each crossing:
   rounds, and no more than that. */
static void a_host_that_does_not_report(void)
{
    enum { N = 200 };
    host *h = open_big(0);
    rrc_object *obs[N];
    size_t i;

    for (i = 0; i < N; i++) {
        obs[i] = knot_new(h, &Knot, 0);
        ob_link(h, P, host_new(h, HOST_OLD), obs[i], FULL);
        if (i > 0) {
            rrc_decref(h->heap, obs[i]);
            if (i % 2 == 1)
                host_point(h, i - 1, 0, i);
            else
                knot_tie(h, obs[i - 1], 0, obs[i]);
        }
    }
    h->calls = (host_calls){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    host_major(h);
    check_int(host_stats(h).pending, 0);
    check(h->calls.survivor <= N * N / 4 + 4 * N);
    check(h->calls.propagate <= N / 2 + 4);
    rrc_decref(h->heap, obs[0]);
    knot_collect(h);
    check_int(h->deallocs, N);
    host_close(h);
}

/* However many refer to what is linked and has no GC head: its p is traced once. */
static void a_view_of_many(void)
{
    enum { N = 1000 };
    host *h = open_big(0);
    size_t p = host_new(h, HOST_OLD), i;
    rrc_object *view = ob_given(h, P, p, FULL), *obs[N];

    for (i = 0; i < N; i++) {
        obs[i] = knot_new(h, &Knot, 0);
        knot_tie(h, obs[i], 0, view);
    }
    h->calls.trace = 0;
    host_major(h);
    check_int(h->calls.trace, 1);
    check(host_is_alive(h, p));
    for (i = 0; i < N; i++)
        rrc_decref(h->heap, obs[i]);
    knot_collect(h);
    check(!host_is_alive(h, p));
    host_close(h);
}

/* ---- many components ---- */

static void many_small_components(void)
{
    const size_t n = (size_t)big() / 5;
    host *h = open_big(REPORT_LINKED);
    rrc_object **held = (rrc_object **)malloc(n * sizeof *held);
    size_t i, kept = 0, dead = 0;

    check(held != NULL);
    for (i = 0; i < n; i++) {
        int size = (int)(i % 4) + 1;
        rrc_object *ring = untagged_ring(h, i % 7 == 0 ? &KnotFinal : &Knot, size, 1);

        if (i % 5 == 0)
            ob_link(h, i % 2 == 0 ? P : O, host_new(h, HOST_OLD), ring, FULL);
        if (i % 3 == 0) {
            rrc_incref(h->heap, ring);
            held[kept++] = ring;
        } else {
            dead += (size_t)size;
        }
    }
    knot_collect(h);
    knot_collect(h);
    check_int(h->deallocs, dead);
    for (i = 0; i < kept; i++)
        rrc_decref(h->heap, held[i]);
    knot_collect(h);
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    free(held);
    host_close(h);
}

/* All that the scan finds behind it is gray at one time. The next search weighs it anew. */
static void many_gray_objects(void)
{
    enum { N = 1000 };
    host *h = open_big(0);
    rrc_object *owned[N], *held[N];
    int i;

    for (i = 0; i < N; i++) {
        owned[i] = knot_new(h, &Knot, 0);
        knot_tie(h, owned[i], 0, owned[i]);
    }
    for (i = 0; i < N; i++) {
        held[i] = knot_new(h, &Knot, 0);
        KNOT(held[i])->ref[0] = owned[i];
    }
    knot_collect(h);
    check_int(h->deallocs, 0);
    for (i = 0; i < N; i++)
        rrc_decref(h->heap, held[i]);
    check_int(h->deallocs, N);
    knot_collect(h);
    check_int(h->deallocs, 2 * N);
    host_close(h);
}

/* One object that refers to very many, and each of them back to it. */
static void a_star(void)
{
    host *h = open_big(0);
    rrc_object *hub = knot_new(h, &Knot, 0), *list = NULL;
    const int n = big() / 5;
    int i;

    for (i = 0; i < n; i++) {
        rrc_object *ob = knot_new(h, &Knot, 0);

        knot_tie(h, ob, 0, hub);
        KNOT(ob)->ref[1] = list;
        list = ob;
    }
    KNOT(hub)->ref[0] = list;
    rrc_decref(h->heap, hub);
    knot_collect(h);
    check_int(h->deallocs, n + 1);
    host_close(h);
}

/* What a host reports is not explained, and no host is asked about it: each object is visited once. */
static void what_the_host_reports_is_visited_once(void)
{
    enum { N = 1000 };
    const size_t compared = HOST_DEBUG ? 3 : 0;         /* debug builds compare two traverses, and explain */
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = open_big(REPORT_LINKED);
        rrc_object *first = untagged_ring(h, &Knot, N, 7), *ob = first;
        size_t i;

        unit_context("kind %d", kind);
        for (i = 0; i < N; i++, ob = KNOT(ob)->ref[0])
            ob_link(h, (link_kind)kind, host_rooted(h, HOST_OLD), ob, FULL);
        traversed(first, N);
        h->calls = (host_calls){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        host_major(h);
        check_int(traversed(first, N), N * (1 + compared));
        check_int(h->calls.reports, N);
        check_int(h->calls.survivor, N);                /* by the free function */
        for (i = 0; i < N; i++)
            if (i != N / 2)                             /* that one holds them all */
                host_unroot(h, i);
        host_major(h);
        check_int(host_stats(h).pending, 0);
        check_int(h->calls.reports, kind == P ? 2 * N : N + 1);
        host_unroot(h, N / 2);
        knot_collect(h);
        check_int(h->deallocs, N);
        host_close(h);
    }
}

/* ---- no cost ---- */

/* ... and what it reaches without a report, too, as it is asked first, when propagate has been called. Garbage beside
   it changes nothing. (Debug builds read more.) A host that reports is not asked first. */
static void what_the_host_reaches_is_visited_once(void)
{
    int reports;

    for (reports = 0; reports <= REPORT_LINKED; reports++) {
        host_options options = { .moving = HOST_STAY, .unchecked = 1 };
        host *h;
        size_t holder, p, dead;
        rrc_object *ob;

        options.reports_marks = reports;
        h = host_open(&options);
        holder = host_rooted(h, HOST_OLD);
        p = host_new(h, HOST_OLD);
        host_point(h, holder, 0, p);
        host_note_link(h, p);
        ob = knot_new(h, &Knot, 1);
        ob_link(h, O, p, ob, FULL);
        knot_tie(h, ob, 0, ob);
        rrc_decref(h->heap, ob);
        dead = host_new(h, HOST_OLD);
        host_note_link(h, dead);
        ob_link(h, O, dead, knot_ring(h, &Knot, 1, NULL), FULL);
        unit_context("reports %d", reports);
        h->calls.survivor = 0;
        host_major(h);
        /* By the free function, after marking, first; debug builds look for what was marked too late. */
        check_int(h->calls.survivor, 2 + 1 + (reports ? 0 : 2) + HOST_DEBUG);
        if (!HOST_DEBUG)
            check_int(KNOT(ob)->traversed, 1);
        check_int(host_stats(h).pending, 1);
        host_unroot(h, holder);
        knot_collect(h);
        check_int(h->deallocs, 2);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* Without tracked objects a collection calls what the rule says, and no more. */
static void nothing_tracked_costs_nothing(void)
{
    enum { N = 1000 };
    int tracked_before, reports;

    for (tracked_before = 0; tracked_before < 2; tracked_before++)
        for (reports = 0; reports < 2; reports++) {
            host *h = open_big(reports);
            size_t i;

            unit_context("tracked_before %d, reports %d", tracked_before, reports);
            if (tracked_before) {
                untagged_ring(h, &Knot, 1000, 1);
                knot_collect(h);
            }
            for (i = 0; i < N; i++) {
                rrc_object *ob = rrc_gc_new(h->heap, &Knot);

                ob_link(h, i % 2 == 0 ? P : O, host_rooted(h, HOST_OLD), ob, FULL);
                if (i % 4 != 0)
                    rrc_decref(h->heap, ob);
            }
            h->calls = (host_calls){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            host_major(h);
            check_int(h->calls.trace, N / 4);
            check_int(h->calls.survivor, N);
            check_int(h->calls.propagate, 1);
            check_int(h->calls.reports, reports ? N : 0);
            /* A minor collection does not look at old links nor for cycles. */
            h->calls = (host_calls){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            host_minor(h);
            check_int(h->calls.trace + h->calls.survivor + h->calls.propagate + h->calls.reports, 0);
            for (i = 0; i < N; i += 4)
                rrc_decref(h->heap, rrc_from_obj(h->heap, host_at(h, h->count - N + i)));
            host_close(h);
        }
}

/* Searches that are switched off call no traverse. */
static void a_disabled_search_costs_nothing(void)
{
    host *h = open_big(0);
    rrc_object *ring = untagged_ring(h, &Knot, 100, 1);

    ob_link(h, O, host_rooted(h, HOST_OLD), ring, FULL);
    rrc_gc_disable(h->heap);
    h->calls.survivor = 0;
    host_major(h);
    check_int(traversed(ring, 100), 0);
    check_int(h->calls.survivor, 1);    /* the host is not asked what it has marked */
    host_minor(h);
    check_int(traversed(ring, 100), 0);
    rrc_gc_enable(h->heap);
    host_minor(h);
    check_int(traversed(ring, 100), 0);
    host_major(h);
    check(traversed(ring, 100) > 0);
    host_close(h);
}

UNIT_GROUP(gc_scale,
    UNIT(a_list_in_little_stack),
    UNIT(a_gray_list_in_little_stack),
    UNIT(many_gray_at_a_time),
    UNIT(a_list_in_portions),
    UNIT(a_border_chain_in_little_stack),
    UNIT(a_host_that_does_not_report),
    UNIT(a_view_of_many),
    UNIT(many_small_components),
    UNIT(many_gray_objects),
    UNIT(a_star),
    UNIT(what_the_host_reports_is_visited_once),
    UNIT(what_the_host_reaches_is_visited_once),
    UNIT(nothing_tracked_costs_nothing),
    UNIT(a_disabled_search_costs_nothing),
);
