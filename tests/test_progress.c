/* The hook `progress` of rrc_insight.h: long functions say how far they are. */

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
    static const char *const functions[] = { "rrc_explain", "rrc_dump_dot", "rrc_dump_heapsnapshot",
                                             "rrc_report_leaks" };
    size_t f;

    for (f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        const host_options options = { .unchecked = 1, .shows = 2, .progresses = 1, .plain_memory = 1 };
        rrc_object *last;
        host *h = open_crowd(&options, COUNT, &last);
        record r = record_of(functions[f]);

        unit_context("%s: ", functions[f]);
        h->test = &r;
        if (f == 0)
            check_int(rrc_explain(h->heap, host_insight(h), last, ignore_text, NULL), RRC_OK);
        else if (f == 1)
            check_int(rrc_dump_dot(h->heap, host_insight(h), ignore_text, NULL), RRC_OK);
        else if (f == 2)
            check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), ignore_text, NULL), RRC_OK);
        else
            check_int(rrc_report_leaks(h->heap, host_insight(h), ignore_text, NULL), RRC_OK);
        check_complete(&r, f == 3 ? COUNT : 2 * COUNT);
        check_int(r.first, STEP);
        h->test = NULL;
        host_close(h);
    }
    unit_context("%s", "");
}

static void an_empty_heap_is_done(void)
{
    const host_options options = { .progresses = 1 };
    host *h = host_open(&options);
    record r = record_of("rrc_dump_dot");

    h->on_progress = note_progress;
    h->test = &r;
    check_int(rrc_dump_dot(h->heap, host_insight(h), ignore_text, NULL), RRC_OK);
    check_int(r.calls, 1);
    check_int(r.total, 0);
    host_close(h);
}

/* What fails is not done. */
static void a_failure_is_not_the_end(void)
{
    const host_options options = { .progresses = 1, .unchecked = 1, .shows = 2 };
    rrc_object *last;
    host *h = open_crowd(&options, 200, &last);
    record r;
    size_t fail_at, failures = 0;

    h->test = &r;
    for (fail_at = 1; fail_at < 3 * 40; fail_at++) {
        int which = (int)(fail_at % 3), code;

        r = record_of(which == 0 ? "rrc_explain" : which == 1 ? "rrc_dump_dot" : "rrc_dump_heapsnapshot");
        h->fail_at = h->calls.allocate + fail_at / 3 + 1;
        code = which == 0 ? rrc_explain(h->heap, host_insight(h), last, ignore_text, NULL)
             : which == 1 ? rrc_dump_dot(h->heap, host_insight(h), ignore_text, NULL)
             : rrc_dump_heapsnapshot(h->heap, host_insight(h), ignore_text, NULL);
        h->fail_at = 0;
        failures += code == RRC_ENOMEM;
        check(code == RRC_OK || code == RRC_ENOMEM);
        check_int(r.calls, code == RRC_OK);
    }
    check(failures > 20 && failures < 3 * 40 - 3);
    check_int(host_free_heap(h), 0);
    host_end(h);
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
        check_int(rrc_dump_dot(h->heap, host_insight(h), ignore_text, NULL), RRC_OK);
        h->on_progress = NULL;
        host_expect_log(h, RRC_EPHASE, "rrc_run_pending");
    }
    host_close(h);
}

UNIT_GROUP(progress,
    UNIT(each_function_says_how_far_it_is),
    UNIT(an_empty_heap_is_done),
    UNIT(a_failure_is_not_the_end),
    UNIT(debug_builds_refuse_calls));
