/* The hook `progress`: long functions say how far they are. */

#include "knots.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 15000, STEP = 4096 };

/* What a function has said. */
typedef struct record {
    const char *function;
    size_t calls, first, done, total, widest;
} record;

static void note_progress(host *h, const char *function, size_t done, size_t total)
{
    record *r = (record *)h->test;

    if (strcmp(function, r->function) != 0)
        return;                         /* called by a finalizer */
    check(done >= r->done && total >= r->total);
    if (done < total && done - r->done > r->widest)
        r->widest = done - r->done;
    if (r->calls++ == 0)
        r->first = done;
    r->done = done;
    r->total = total;
}

static record record_of(const char *function)
{
    record r = { NULL, 0, 0, 0, 0, 0 };

    r.function = function;
    return r;
}

static void check_complete(const record *r, size_t least)
{
    check(r->total >= least);
    check_int(r->done, r->total);
    check(r->calls >= least / STEP && r->calls <= r->total / STEP + 2);
    check(r->widest <= 2 * STEP);
}

static void ignore_text(void *arg, const char *text, size_t size)
{
    (void)arg, (void)text, (void)size;
}

/* Proxies of objects that own a chain of others; and a p for each object of the chain, if it has views. */
static host *open_crowd(const host_options *options, int count, rrc_object **last)
{
    host *h = host_open(options);
    rrc_object *owner, *next;
    int i;

    h->on_progress = note_progress;
    owner = knot_new(h, &KnotTable, 0);
    check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), owner, RRC_O | RRC_GIVE), RRC_OK);
    for (i = 0; i < count; i++) {
        next = knot_new(h, i % 2 == 0 ? &KnotTable : &Knot, 0);
        KNOT(owner)->ref[i % 3] = next;
        if (i % 5 == 0)
            check_int(rrc_link(h->heap, host_at(h, host_new(h, HOST_OLD)), next, RRC_P), RRC_OK);
        if (i % 7 == 0)
            host_rooted(h, HOST_OLD);
        owner = next;
    }
    *last = owner;
    return h;
}

static void each_function_says_how_far_it_is(void)
{
    static const char *const functions[] = {
        "rrc_check", "rrc_explain", "rrc_dump_dot", "rrc_dump_heapsnapshot", "rrc_heap_free",
    };
    size_t f;

    for (f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        const host_options options = { .unchecked = 1, .shows = 2, .progresses = 1, .plain_memory = 1 };
        rrc_object *last;
        host *h = open_crowd(&options, COUNT, &last);
        record r = record_of(functions[f]);

        unit_context("%s: ", functions[f]);
        h->test = &r;
        if (f == 0)
            check_int(rrc_check(h->heap), RRC_OK);
        else if (f == 1)
            check_int(rrc_explain(h->heap, last, ignore_text, NULL), RRC_OK);
        else if (f == 2)
            check_int(rrc_dump_dot(h->heap, ignore_text, NULL), RRC_OK);
        else if (f == 3)
            check_int(rrc_dump_heapsnapshot(h->heap, ignore_text, NULL), RRC_OK);
        if (f < 4)
            check_complete(&r, 2 * COUNT);
        if (f < 4)
            check_int(r.first, STEP);
        check_int(host_free_heap(h), 0);
        check_complete(&r, COUNT);
        host_end(h);
    }
    unit_context("%s", "");
}

static void an_empty_heap_is_done(void)
{
    const host_options options = { .progresses = 1, .unchecked = 1 };
    host *h = host_open(&options);
    record r = record_of("rrc_dump_dot");

    h->on_progress = note_progress;
    h->test = &r;
    check_int(rrc_dump_dot(h->heap, ignore_text, NULL), RRC_OK);
    check_int(r.calls, 1);
    check_int(r.total, 0);
    r = record_of("rrc_heap_free");
    check_int(host_free_heap(h), 0);
    check_int(r.calls, 1);
    check_int(r.total, 0);
    host_end(h);
}

/* Objects without links, which are not tracked, are work as well. */
static void one_object_is_one_unit(void)
{
    const host_options options = { .progresses = 1, .unchecked = 1 };
    host *h = host_open(&options);
    record r = record_of("rrc_heap_free");
    rrc_object *ob = ob_new(h, &Node);

    h->on_progress = note_progress;
    h->test = &r;
    check_int(host_free_heap(h), 0);
    check_int(r.calls, 1);
    check_int(r.total, 1);
    rrc_decref(h->heap, ob);
    host_end(h);
}

/* What fails is not done. */
static void a_failure_is_not_the_end(void)
{
    const host_options options = { .progresses = 1, .unchecked = 1, .shows = 2 };
    rrc_object *last;
    host *h = open_crowd(&options, 200, &last);
    record r = record_of("rrc_check");
    size_t fail_at, failures = 0;

    h->test = &r;
    REFCNT(last) -= 1;
    check_int(rrc_check(h->heap), RRC_ETRAVERSE);
    while (h->log_read < h->log_count)
        host_expect_log(h, RRC_ETRAVERSE, "rrc_check");
    REFCNT(last) += 1;
    check_int(r.calls, 0);
    for (fail_at = 1; fail_at < 3 * 40; fail_at++) {
        int which = (int)(fail_at % 3), code;

        r = record_of(which == 0 ? "rrc_explain" : which == 1 ? "rrc_dump_dot" : "rrc_dump_heapsnapshot");
        h->fail_at = h->calls.allocate + fail_at / 3 + 1;
        code = which == 0 ? rrc_explain(h->heap, last, ignore_text, NULL)
             : which == 1 ? rrc_dump_dot(h->heap, ignore_text, NULL)
             : rrc_dump_heapsnapshot(h->heap, ignore_text, NULL);
        h->fail_at = 0;
        failures += code == RRC_ENOMEM;
        check(code == RRC_OK || code == RRC_ENOMEM);
        check_int(r.calls, code == RRC_OK);
    }
    check(failures > 20 && failures < 3 * 40 - 3);
    check_int(host_free_heap(h), 0);
    host_end(h);
}

/* ---- the end of a heap is the same ---- */

static int *order, ordered;

static void note_order(host *h, rrc_object *ob)
{
    (void)h;
    order[ordered++] = KNOT(ob)->tag;
}

/* A finalizer looks at the heap, and makes more garbage. */
static void look_and_make(host *h, rrc_object *ob)
{
    rrc_object *more;

    if (KNOT(ob)->tag % 1000 != 0)
        return;
    check_int(rrc_check(h->heap), RRC_OK);
    more = knot_new(h, &Knot, 100000 + KNOT(ob)->tag);
    knot_tie(h, more, 1, more);
    rrc_decref(h->heap, more);
    rrc_decref(h->heap, KNOT(ob)->ref[2]);
    KNOT(ob)->ref[2] = NULL;
}

static int by_value(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static int end_of_much(int progresses, int *ends, record *r)
{
    host_options options = { .unchecked = 1, .plain_memory = 1 };
    rrc_object *first[3], *held;
    host *h;
    int kind, i;

    options.progresses = progresses;
    h = host_open(&options);
    h->on_progress = note_progress;
    h->test = r;
    for (kind = 0; kind < 3; kind++) {
        rrc_object *last = NULL;

        for (i = 0; i < COUNT; i++) {
            rrc_object *ob = knot_new(h, kind == 1 ? &KnotFull : &Knot, kind * COUNT + i);

            if (kind == 1)                      /* each is a ring, and owns one more */
                knot_tie(h, ob, 0, ob);
            if (kind == 1)
                KNOT(ob)->ref[2] = knot_new(h, &Knot, 200000 + i);
            if (kind == 2)
                check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), ob, RRC_O), RRC_OK);
            if (kind == 0 && last != NULL)      /* a chain */
                KNOT(last)->ref[1] = ob;
            else if (i > 0)
                rrc_decref(h->heap, ob);
            else
                first[kind] = ob;
            last = ob;
        }
    }
    held = knot_new(h, &Knot, 1);
    knot_tie(h, held, 0, first[0]);
    check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), first[0], RRC_O | RRC_GIVE), RRC_OK);
    rrc_decref(h->heap, first[1]);
    order = ends;
    ordered = 0;
    h->on_dealloc = note_order;
    h->on_finalize = look_and_make;
    check_int(host_free_heap(h), 2);            /* first[2] is held, and first[0] by one that is */
    rrc_decref(h->heap, held);
    rrc_decref(h->heap, first[2]);
    host_end(h);
    return ordered;
}

static void the_end_of_a_heap_is_the_same(void)
{
    enum { MOST = 5 * COUNT };
    int *without = (int *)calloc(MOST, sizeof(int)), *with = (int *)calloc(MOST, sizeof(int)), n;
    record r = record_of("rrc_heap_free");

    check(without != NULL && with != NULL);
    n = end_of_much(0, without, &r);
    check(n > 4 * COUNT && n < MOST);
    check_int(r.calls, 0);
    check_int(end_of_much(1, with, &r), n);
    check_complete(&r, 3 * COUNT);
    qsort(without, (size_t)n, sizeof(int), by_value);
    qsort(with, (size_t)n, sizeof(int), by_value);
    check_int(memcmp(without, with, (size_t)n * sizeof(int)), 0);
    free(without);
    free(with);
}

/* A finalizer of garbage, which is found when much has gone, makes more than has gone. */
static void make_many(host *h, rrc_object *ob)
{
    int i;

    (void)ob;
    for (i = 0; i < 2 * COUNT; i++) {
        rrc_object *more = knot_new(h, &Knot, 0);

        knot_tie(h, more, 0, more);
        rrc_decref(h->heap, more);
    }
}

static void an_end_that_makes_more(void)
{
    const host_options options = { .progresses = 1, .unchecked = 1, .plain_memory = 1 };
    int linked;

    for (linked = 0; linked <= COUNT; linked += COUNT) {
        host *h = host_open(&options);
        record r = record_of("rrc_heap_free");
        rrc_object *last;
        int i;

        h->on_progress = note_progress;
        h->on_finalize = make_many;
        h->test = &r;
        last = knot_new(h, &KnotFinal, 0);
        knot_tie(h, last, 0, last);
        rrc_decref(h->heap, last);
        for (i = 0; i < linked; i++)
            check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), knot_new(h, &Knot, 0), RRC_O | RRC_GIVE),
                      RRC_OK);
        check_int(host_free_heap(h), 0);
        check_int(r.done, r.total);
        check_int(r.total, 2 + 3 * linked);
        check(r.calls > 0 && r.calls <= r.total / STEP + 2);
        host_end(h);
    }
}

/* ---- it may not call the header ---- */

static void call_the_header(host *h, const char *function, size_t done, size_t total)
{
    (void)function, (void)done, (void)total;
    check_int(rrc_run_pending(h->heap, 0), 0);
}

static void debug_builds_refuse_calls(void)
{
    const host_options options = { .progresses = 1 };
    host *h = host_open(&options);

    if (HOST_DEBUG) {
        h->on_progress = call_the_header;
        check_int(rrc_check(h->heap), RRC_OK);
        h->on_progress = NULL;
        host_expect_log(h, RRC_EPHASE, "rrc_run_pending");
    }
    host_close(h);
}

UNIT_GROUP(progress,
    UNIT(each_function_says_how_far_it_is),
    UNIT(an_empty_heap_is_done),
    UNIT(one_object_is_one_unit),
    UNIT(a_failure_is_not_the_end),
    UNIT(the_end_of_a_heap_is_the_same),
    UNIT(an_end_that_makes_more),
    UNIT(debug_builds_refuse_calls));
