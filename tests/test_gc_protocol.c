/* The object protocol of the cyclic GC: making, resizing, tracking and walking, the
 * switches, and what rrc_gc_collect does and returns. */

#include "knots.h"

#include <string.h>

typedef struct row {
    OB_HEAD
    size_t length;
    rrc_object *item[1];
} row;

#define ROW(ob) ((row *)(void *)(ob))

static int row_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    size_t i;

    for (i = 0; i < ROW(self)->length; i++)
        RRC_VISIT(ROW(self)->item[i]);
    return 0;
}

static int row_clear(rrc_heap *heap, rrc_object *self)
{
    size_t i;

    for (i = 0; i < ROW(self)->length; i++)
        RRC_CLEAR(heap, ROW(self)->item[i]);
    return 0;
}

static void row_dealloc(rrc_heap *heap, rrc_object *self)
{
    HOST(heap)->deallocs++;
    row_clear(heap, self);
    rrc_gc_del(heap, self);
}

static const rrc_type Row = {
    .tp_name = "Row", .tp_basicsize = offsetof(row, item), .tp_itemsize = sizeof(rrc_object *),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = row_dealloc, .tp_traverse = row_traverse,
    .tp_clear = row_clear,
};

static int is_zero(const void *bytes, size_t n)
{
    const unsigned char *b = (const unsigned char *)bytes;

    while (n > 0 && *b == 0) {
        b++;
        n--;
    }
    return n == 0;
}

/* ---- making ---- */

static void a_new_object_is_untracked(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new(h->heap, &Knot);

    check(ob != NULL);
    check_int(REFCNT(ob), 1);
    check_ptr(RRC_LINK(ob), NULL);
    check_ptr(RRC_TYPE(ob), &Knot);
    check(is_zero(KNOT(ob)->ref, sizeof(knot) - offsetof(knot, ref)));
    check_int((uintptr_t)ob % sizeof(void *), 0);
    check(!rrc_gc_is_tracked(h->heap, ob));
    check(!rrc_gc_is_finalized(h->heap, ob));
    check(!rrc_gc_is_uncollectable(h->heap, ob));
    check_int(host_stats(h).objects, 1);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

static void items_and_extra_bytes_are_zeroed(void)
{
    static const size_t counts[] = { 0, 1, 2, 7, 1000 };
    host *h = host_open(NULL);
    size_t i;

    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const size_t n = counts[i];
        rrc_object *items = rrc_gc_new_var(h->heap, &Row, n);
        rrc_object *extra = rrc_gc_new_with_extra_data(h->heap, &Knot, n);

        check(items != NULL && extra != NULL);
        check(is_zero(ROW(items)->item, n * sizeof(rrc_object *)));
        check(is_zero((char *)extra + sizeof(knot), n));
        memset(ROW(items)->item, 0xAB, n * sizeof(rrc_object *));
        memset((char *)extra + sizeof(knot), 0xCD, n);
        rrc_decref(h->heap, items);
        rrc_decref(h->heap, extra);
    }
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* Items of one byte, and none; items are asked for where there is no size of one, but none
   of them. */
static void few_bytes(void)
{
    static const rrc_type bytes = {
        .tp_name = "Bytes", .tp_basicsize = sizeof(knot), .tp_itemsize = 1, .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = knot_clear,
    };
    host *h = host_open(NULL);
    size_t before = h->live_bytes, plain;
    rrc_object *obs[3];
    int i;

    rrc_decref(h->heap, rrc_gc_new(h->heap, &bytes));
    rrc_decref(h->heap, rrc_gc_new_var(h->heap, &bytes, 1));
    check_int(h->live_bytes, before);
    obs[0] = rrc_gc_new(h->heap, &Knot);
    plain = h->live_bytes - before;
    obs[1] = rrc_gc_new_var(h->heap, &Knot, 0);
    check_int(h->live_bytes - before, 2 * plain);       /* no size is noted where none can differ */
    obs[2] = rrc_gc_new_var(h->heap, &bytes, 0);
    check(h->live_bytes - before > 3 * plain);
    for (i = 0; i < 3; i++)
        rrc_decref(h->heap, obs[i]);
    check_int(h->live_bytes, before);
    host_close(h);
}

/* Without a dealloc: memory that goes is tracked no more. */
static void deleting_what_is_tracked(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Knot, 0), *other = knot_new(h, &Knot, 0);

    rrc_gc_del(h->heap, ob);
    check_int(host_stats(h).tracked, 1);
    knot_collect(h);
    check_int(h->deallocs, 0);
    rrc_decref(h->heap, other);
    host_close(h);
}

static void sizes_that_overflow(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new_var(h->heap, &Row, 3);

    check_ptr(rrc_gc_new_var(h->heap, &Row, SIZE_MAX / sizeof(void *)), NULL);
    check_ptr(rrc_gc_new_with_extra_data(h->heap, &Knot, SIZE_MAX - sizeof(knot)), NULL);
    check_ptr(rrc_gc_resize(h->heap, ob, SIZE_MAX / sizeof(void *)), NULL);
    rrc_decref(h->heap, ob);
    host_close(h);
}

static void types_that_do_not_fit(void)
{
    static const rrc_type Empty = { .tp_name = "Empty", .tp_flags = RRC_TPFLAGS_HAVE_GC };
    host *h = host_open(NULL);
    rrc_object *plain = ob_new(h, &Node), *fixed = rrc_gc_new(h->heap, &Knot);

    check_ptr(rrc_gc_new(h->heap, NULL), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_new");
    check_ptr(rrc_gc_new(h->heap, &Node), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_new");
    check_ptr(rrc_gc_new(h->heap, &Empty), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_new");
    check_ptr(rrc_new(h->heap, &Knot), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_new");
    check_ptr(rrc_new_var(h->heap, &Row, 3), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_new_var");
    check_ptr(rrc_gc_new_var(h->heap, &Knot, 3), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_new_var");
    check_ptr(rrc_gc_new_with_extra_data(h->heap, &Node, 3), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_new_with_extra_data");
    check_ptr(rrc_gc_resize(h->heap, plain, 3), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_resize");
    check_ptr(rrc_gc_resize(h->heap, fixed, 3), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_resize");
    check_ptr(rrc_gc_resize(h->heap, NULL, 3), NULL);
    host_expect_log(h, RRC_ENULL, "rrc_gc_resize");
    check_int(rrc_gc_track(h->heap, plain), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_track");
    check_int(rrc_gc_track(h->heap, NULL), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_gc_track");
    check(!rrc_gc_is_tracked(h->heap, plain) && !rrc_gc_is_finalized(h->heap, plain));
    check(!rrc_gc_is_tracked(h->heap, NULL) && !rrc_gc_is_uncollectable(h->heap, NULL));
    rrc_gc_untrack(h->heap, plain);
    rrc_gc_untrack(h->heap, NULL);
    rrc_gc_del(h->heap, NULL);
    rrc_decref(h->heap, plain);
    rrc_decref(h->heap, fixed);
    host_close(h);
}

static void static_objects_have_no_header(void)
{
    static STATIC_OB(still, &Knot);
    host *h = host_open(NULL);

    check_int(rrc_gc_track(h->heap, STATIC_PTR(still)), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_track");
    check(!rrc_gc_is_tracked(h->heap, STATIC_PTR(still)));
    check(!rrc_gc_is_finalized(h->heap, STATIC_PTR(still)));
    host_close(h);
}

/* A P link on one keeps its p, also where there is a search. */
static void static_objects_keep_their_p(void)
{
    static STATIC_OB(still, &Node);
    const intptr_t count = REFCNT(STATIC_PTR(still));
    int way;

    for (way = 0; way < 4; way++) {
        const int kind = way % 2;
        host *h = host_open(NULL);
        size_t p = host_new(h, HOST_OLD);
        rrc_object *ring;

        if (kind == P)
            check_int(rrc_create_link_pypy(h->heap, host_at(h, p), STATIC_PTR(still)), RRC_OK);
        else
            check_int(rrc_create_link_pyobj(h->heap, host_at(h, p), STATIC_PTR(still)), RRC_OK);
        ring = knot_ring(h, &Knot, 2, NULL);
        unit_context("way %d", way);
        knot_tie(h, ring, 1, STATIC_PTR(still));
        if (way >= 2)
            REFCNT(STATIC_PTR(still)) = RRC_REFCNT_IMMORTAL;    /* the least count of one */
        host_major(h);
        REFCNT(STATIC_PTR(still)) = count + 1;
        rrc_run_pending(h->heap, 0);
        check_int(h->deallocs, 2);
        check_int(host_is_alive(h, p), kind == P);
        if (kind == P)
            check_int(rrc_unlink(h->heap, STATIC_PTR(still)), RRC_OK);
        check_ptr(RRC_LINK(STATIC_PTR(still)), NULL);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* A tracked object that is made immortal, and has no link any more: there is no p of it. */
static void a_tracked_object_becomes_immortal(void)
{
    static const intptr_t counts[] = { RRC_REFCNT_IMMORTAL, RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16 };
    size_t i;

    for (i = 0; i < 2; i++) {
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, &Knot, 0);

        unit_context("count %u", (unsigned)i);
        ob_link(h, P, host_rooted(h, HOST_OLD), ob, FULL);
        host_major(h);
        REFCNT(ob) = counts[i];
        host_major(h);
        check_int(rrc_unlink(h->heap, ob), RRC_OK);
        host_major(h);
        check_int(REFCNT(ob), counts[i]);
        REFCNT(ob) = 1;
        rrc_decref(h->heap, ob);
        check_int(h->deallocs, 1);
        host_close(h);
    }
}

/* Lists of links that end with a block. */
static void lists_that_fill_their_blocks(void)
{
    size_t blocks, i;
    int kind;

    for (blocks = 1; blocks <= 3; blocks++)
        for (kind = P; kind <= O; kind++) {
            const size_t n = blocks * 256;          /* the default of RRC_CHUNK_LINKS */
            host *h = host_open(NULL);
            rrc_object *tracked = knot_new(h, &Knot, 0);

            unit_context("%u links, kind %d", (unsigned)n, kind);
            for (i = 0; i < n; i++)
                ob_given(h, (link_kind)kind, host_rooted(h, HOST_OLD), FULL);
            knot_collect(h);
            check_int(h->deallocs, 0);
            rrc_decref(h->heap, tracked);
            host_close(h);
        }
}

/* ---- resizing ---- */

/* Others may refer to it, so that its address may not change. */
static void resized_with_others(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new_var(h->heap, &Row, 3);

    rrc_incref(h->heap, ob);
    check_ptr(rrc_gc_resize(h->heap, ob, 4), NULL);
    host_expect_log(h, RRC_EREFCNT, "rrc_gc_resize");
    check_int(ROW(ob)->length, 0);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* An object must not move while its finalizer runs: the header goes on with it. */
static void resize_in_finalizer(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);

    check_ptr(rrc_gc_resize(heap, self, 1000), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_resize");
    h->finalized++;
}

static void resized_in_its_finalizer(void)
{
    host *h = host_open(NULL);
    rrc_type type = Row;
    rrc_object *ob;

    type.tp_finalize = resize_in_finalizer;
    ob = rrc_gc_new_var(h->heap, &type, 3);
    check(ob != NULL);
    rrc_decref(h->heap, ob);
    check_int(h->finalized, 1);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* Garbage that lets go of itself, and is not tracked any more, when a slot of it runs. */
static void let_go_and_resize(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ROW(self)->item[0]);
    rrc_gc_untrack(heap, self);
    resize_in_finalizer(heap, self);
}

static void resized_as_garbage(void)
{
    int weakrefs;

    for (weakrefs = 0; weakrefs < 2; weakrefs++) {
        host *h = host_open(NULL);
        rrc_type type = Row;
        rrc_object *ob;

        if (weakrefs)
            type.tp_clear_weakrefs = let_go_and_resize;
        else
            type.tp_finalize = let_go_and_resize;
        ob = rrc_gc_new_var(h->heap, &type, 3);
        ROW(ob)->length = 1;
        ROW(ob)->item[0] = ob;
        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
        knot_collect(h);
        check_int(h->finalized, 1);
        check_int(host_stats(h).objects, 0);
        host_close(h);
    }
}

static void resizing_keeps_what_was_there(void)
{
    static const size_t sizes[] = { 1, 5, 4, 300, 2, 0, 9 };
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new_var(h->heap, &Row, 3), *held = knot_new(h, &Knot, 0);
    size_t i, k;

    ROW(ob)->length = 1;
    ROW(ob)->item[0] = held;
    for (i = 0; i < sizeof sizes / sizeof sizes[0] - 2; i++) {
        rrc_object *moved = rrc_gc_resize(h->heap, ob, sizes[i]);

        check(moved != NULL);
        ob = moved;
        check_int(REFCNT(ob), 1);
        check_ptr(RRC_TYPE(ob), &Row);
        check_ptr(ROW(ob)->item[0], held);
        for (k = 1; k < sizes[i] && (i == 0 || k < sizes[i - 1] || sizes[i] > sizes[i - 1]); k++)
            check_ptr(ROW(ob)->item[k], NULL);
    }
    check_int(host_stats(h).objects, 2);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    check_ptr(rrc_gc_resize(h->heap, ob, 10), NULL);
    host_expect_log(h, RRC_ETRACKED, "rrc_gc_resize");
    check_ptr(ROW(ob)->item[0], held);
    rrc_gc_untrack(h->heap, ob);
    ob_link(h, P, host_rooted(h, HOST_OLD), ob, FULL);
    check_ptr(rrc_gc_resize(h->heap, ob, 10), NULL);
    host_expect_log(h, RRC_ELINKED, "rrc_gc_resize");
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    h->fail_at = h->calls.allocate + 1;
    check_ptr(rrc_gc_resize(h->heap, ob, 1000), NULL);
    h->fail_at = 0;
    check_ptr(ROW(ob)->item[0], held);
    check_int(REFCNT(held), 1);
    rrc_decref(h->heap, ob);
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

/* ---- tracking ---- */

static void tracking_can_be_repeated(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new(h->heap, &KnotFinal);
    int i;

    for (i = 0; i < 3; i++) {
        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
        check(rrc_gc_is_tracked(h->heap, ob));
        check_int(host_stats(h).tracked, 1);
        check_int(rrc_gc_track(h->heap, ob), RRC_ETRACKED);
        host_expect_log(h, RRC_ETRACKED, "rrc_gc_track");
        rrc_gc_untrack(h->heap, ob);
        check(!rrc_gc_is_tracked(h->heap, ob));
        rrc_gc_untrack(h->heap, ob);
        check_int(host_stats(h).tracked, 0);
        check_int(rrc_check(h->heap), RRC_OK);
    }
    rrc_decref(h->heap, ob);
    check_int(h->finalized, 1);
    host_close(h);
}

static void tracking_that_finds_no_memory(void)
{
    size_t fail_at, done = 0;

    for (fail_at = 1; done == 0; fail_at++) {
        host *h = host_open(NULL);
        rrc_object *ob;
        int code;

        unit_context("allocation %u fails", (unsigned)fail_at);
        ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
        ob = rrc_gc_new(h->heap, &Knot);
        h->fail_at = h->calls.allocate + fail_at;
        code = rrc_gc_track(h->heap, ob);
        done = h->failed == 0;
        h->fail_at = 0;
        check_int(code, done ? RRC_OK : RRC_ENOMEM);
        check_int(rrc_gc_is_tracked(h->heap, ob), done);
        check_int(rrc_check(h->heap), RRC_OK);
        host_major(h);
        if (!done)
            check_int(rrc_gc_track(h->heap, ob), RRC_OK);
        knot_collect(h);
        check_int(h->deallocs, 0);
        rrc_decref(h->heap, ob);
        check_int(h->deallocs, 1);
        host_close(h);
    }
    check(fail_at > 2);
}

/* Collections neither allocate nor need more than tracking reserved (I5): the host
   fails the test if they allocate. Sizes around those of blocks. */
static void collections_allocate_nothing(void)
{
    static const int sizes[] = { 1, 2, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1025, 3000 };
    size_t i;
    int live, linked;

    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (live = 0; live < 2; live++)
            for (linked = 0; linked < 3; linked++) {
                host_options options = { .reports_marks = live };
                host *h = host_open(&options);
                rrc_object *first = knot_ring(h, live ? &Knot : &KnotFull, sizes[i], NULL), *ob = first;
                int k;

                unit_context("%d objects, live %d, links %d", sizes[i], live, linked);
                for (k = 0; k < sizes[i] && linked > 0; k++, ob = KNOT(ob)->ref[0])
                    if (k % linked == 0)
                        ob_link(h, k % 3 == 0 ? P : O, host_new(h, HOST_YOUNG), ob, FULL);
                if (live)
                    rrc_incref(h->heap, first);
                h->events[0] = '\0';
                host_major(h);
                host_minor(h);
                host_major(h);
                rrc_run_pending(h->heap, 0);
                knot_collect(h);
                check_int(h->deallocs, live ? 0 : sizes[i]);
                if (live)
                    rrc_decref(h->heap, first);
                knot_collect(h);
                check_int(host_stats(h).objects, 0);
                h->events[0] = '\0';
                host_close(h);
            }
}

static void track_and_untrack_in_any_order(void)
{
    enum { N = 700 };
    host *h = host_open(NULL);
    rrc_object *obs[N];
    unsigned x = 1, i;

    for (i = 0; i < N; i++)
        obs[i] = rrc_gc_new(h->heap, &Knot);
    for (i = 0; i < 20000; i++) {
        rrc_object *ob;

        x = x * 1103515245u + 12345u;
        ob = obs[(x >> 12) % N];
        if (rrc_gc_is_tracked(h->heap, ob))
            rrc_gc_untrack(h->heap, ob);
        else
            check_int(rrc_gc_track(h->heap, ob), RRC_OK);
        if (i % 1000 == 0)
            knot_collect(h);
    }
    for (i = 0; i < N; i++)
        rrc_decref(h->heap, obs[i]);
    check_int(h->deallocs, N);
    check_int(host_stats(h).tracked, 0);
    host_close(h);
}

/* ---- rrc_gc_collect ---- */

static void collect_returns_how_many(void)
{
    int with_host, n;

    for (with_host = 0; with_host < 2; with_host++)
        for (n = 1; n < 6; n++) {
            host_options options = { .collects = with_host };
            host *h = host_open(&options);
            rrc_object *stiff;

            unit_context("with_host %d, %d objects", with_host, n);
            knot_ring(h, &Knot, n, NULL);
            check_int(rrc_gc_collect(h->heap), n);
            check_int(rrc_gc_collect(h->heap), 0);
            check_int(host_stats(h).garbage, n);
            knot_ring(h, &KnotFinal, n, NULL);
            check_int(rrc_gc_collect(h->heap), n);
            check_int(h->finalized, n);
            stiff = knot_ring(h, &KnotStiff, n, NULL);
            check_int(rrc_gc_collect(h->heap), n);
            check_int(host_stats(h).uncollectable, n);
            while (h->log_read < h->log_count)
                host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
            check_int(rrc_gc_collect(h->heap), n);
            host_expect_silence(h);
            RRC_CLEAR(h->heap, KNOT(stiff)->ref[0]);
            check_int(host_stats(h).objects, 0);
            check_int(host_stats(h).uncollectable, 0);
            check_int(host_stats(h).major_collections, with_host ? host_stats(h).major_collections : 0);
            host_close(h);
        }
}

static void count_what_collect_returns(host *h, rrc_object *ob)
{
    (void)ob;
    check_int(rrc_gc_collect(h->heap), 0);
    check_int(rrc_run_pending(h->heap, 0), 0);
}

static void collect_is_not_nested(void)
{
    host_options options = { .collects = 1 };
    host *h = host_open(&options);

    h->on_dealloc = h->on_finalize = count_what_collect_returns;
    knot_ring(h, &KnotFinal, 3, NULL);
    check_int(rrc_gc_collect(h->heap), 3);
    /* Nor from a dealloc outside of it, though there is garbage. */
    knot_ring(h, &Knot, 5, NULL);
    rrc_decref(h->heap, knot_new(h, &Knot, 0));
    check_int(h->deallocs, 4);
    check_int(rrc_gc_collect(h->heap), 5);
    h->on_dealloc = h->on_finalize = NULL;
    h->events[0] = '\0';
    host_close(h);
}

/* Nor from the collect hook, nor in a walk. */
static void collect_in_the_hook(host *h, const char *hook)
{
    if (strcmp(hook, "collect") == 0)
        check_int(rrc_gc_collect(h->heap), 0);
}

static int collect_in_a_walk(rrc_object *ob, void *arg)
{
    host *h = (host *)arg;

    (void)ob;
    check_int(rrc_gc_collect(h->heap), 0);
    return 1;
}

static void collect_inside_of_others(void)
{
    int with_host;

    for (with_host = 0; with_host < 2; with_host++) {
        host_options options = { .collects = with_host };
        host *h = host_open(&options);
        size_t majors;

        unit_context("with_host %d", with_host);
        knot_ring(h, &Knot, 3, NULL);
        rrc_gc_visit_objects(h->heap, collect_in_a_walk, h);
        check_int(h->deallocs, 0);
        check_int(host_stats(h).major_collections, 0);
        check_int(host_stats(h).pending, 0);
        h->on_hook = collect_in_the_hook;
        check_int(rrc_gc_collect(h->heap), 3);
        majors = host_stats(h).major_collections;
        check_int(majors, with_host);                   /* once, as no finalizer ran */
        knot_ring(h, &KnotFinal, 3, NULL);
        check_int(rrc_gc_collect(h->heap), 3);
        check_int(host_stats(h).major_collections - majors, 2 * with_host);
        h->events[0] = '\0';
        host_close(h);
    }
}

static void collect_and_the_switch(void)
{
    host_options options = { .collects = 1 };
    host *h = host_open(&options);
    size_t majors;

    check(rrc_gc_is_enabled(h->heap));
    check_int(rrc_gc_enable(h->heap), 1);
    check_int(rrc_gc_disable(h->heap), 1);
    check_int(rrc_gc_disable(h->heap), 0);
    check(!rrc_gc_is_enabled(h->heap));
    knot_ring(h, &Knot, 3, NULL);
    majors = host_stats(h).major_collections;
    check_int(rrc_gc_collect(h->heap), 0);
    check_int(host_stats(h).major_collections, majors);
    knot_collect(h);
    check_int(h->deallocs, 0);
    check_int(rrc_gc_enable(h->heap), 0);
    check(rrc_gc_is_enabled(h->heap));
    check_int(rrc_gc_collect(h->heap), 3);
    host_close(h);
}

/* Without a host collection, all that is linked is held, and all that it reaches. */
static void collect_without_a_host(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[3], *linked, *below[2];
    int kind;

    for (kind = P; kind <= O; kind++) {
        linked = knot_new(h, &Knot, 9);
        knot_ring(h, &Knot, 2, below);
        knot_tie(h, linked, 0, below[0]);
        knot_tie(h, below[1], 1, linked);
        ob_link(h, (link_kind)kind, host_new(h, HOST_OLD), linked, FULL);
        rrc_decref(h->heap, linked);
        knot_ring(h, &Knot, 3, ring);
        h->deallocs = 0;
        check_int(rrc_gc_collect(h->heap), 3);
        check_int(h->deallocs, 3);
        check_int(host_stats(h).major_collections, (size_t)kind);
        check_int(rrc_gc_collect(h->heap), 0);
        knot_collect(h);
        check_int(host_stats(h).objects, 0);
        h->events[0] = '\0';
    }
    host_close(h);
}

static void phases_are_checked(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new(h->heap, &Row);

    host_major_begin(h);
    check_ptr(rrc_gc_new(h->heap, &Knot), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_new");
    check_int(rrc_gc_track(h->heap, ob), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_track");
    check_ptr(rrc_gc_resize(h->heap, ob, 3), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_resize");
    check_int(rrc_gc_collect(h->heap), 0);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_collect");
    rrc_gc_visit_objects(h->heap, NULL, NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_visit_objects");
    host_major_end(h);
    rrc_gc_visit_objects(h->heap, NULL, NULL);
    host_expect_log(h, RRC_ENULL, "rrc_gc_visit_objects");
    rrc_decref(h->heap, ob);
    host_close(h);
    check_int(rrc_gc_is_enabled(NULL), 0);
    check_int(rrc_gc_enable(NULL), 0);
    check_int(rrc_gc_disable(NULL), 0);
    check_int(rrc_gc_collect(NULL), 0);
    rrc_gc_untrack(NULL, NULL);
    rrc_marked(NULL, NULL);
}

/* ---- rrc_gc_visit_objects ---- */

typedef struct visits {
    host *h;
    size_t count, stop_at;
    int what;
    rrc_object *victim;
    rrc_object *untracked[3000];        /* held */
    size_t untracked_count;
} visits;

static int count_visit(rrc_object *ob, void *arg)
{
    visits *v = (visits *)arg;

    check(REFCNT(ob) > 1);
    v->count++;
    return v->count != v->stop_at;
}

static void walks_stop_when_told(void)
{
    enum { N = 600 };
    host *h = host_open(NULL);
    rrc_object *ring = knot_ring(h, &Knot, N, NULL);
    size_t stop_at;

    h->events[0] = '\0';
    for (stop_at = 0; stop_at <= N; stop_at += 150) {
        visits v = { .h = h, .stop_at = stop_at };

        rrc_gc_visit_objects(h->heap, count_visit, &v);
        check_int(v.count, stop_at > 0 ? stop_at : N);
    }
    RRC_CLEAR(h->heap, KNOT(ring)->ref[0]);
    check_int(h->deallocs, N);
    host_close(h);
}

static int check_numbers(rrc_object *ob, void *arg)
{
    visits *v = (visits *)arg;

    check_int(host_stats(v->h).tracked, v->stop_at);
    check_int(host_stats(v->h).pending, v->count);
    if (KNOT(ob)->tag != 0) {
        v->count -= (size_t)KNOT(ob)->tag - 1;
        rrc_incref(v->h->heap, ob);
        rrc_gc_untrack(v->h->heap, ob);
        v->untracked[v->untracked_count++] = ob;
        v->stop_at--;
        check_int(rrc_check(v->h->heap), RRC_OK);
        check_int(host_stats(v->h).tracked, v->stop_at);
        check_int(host_stats(v->h).pending, v->count);
    }
    return 1;
}

/* What a callback untracks is counted no more, neither among objects in use, with tag 1 here, nor among garbage that
   waits, with tag 2. */
static void numbers_in_a_walk(void)
{
    host *h = host_open(NULL);
    visits v = { .h = h, .stop_at = 7, .count = 3 };
    rrc_object *held[4];
    int i;

    for (i = 0; i < 3; i++)
        KNOT(knot_ring(h, &Knot, 1, NULL))->tag = i == 2 ? 0 : 2;
    host_major(h);
    for (i = 0; i < 4; i++)
        held[i] = knot_new(h, &Knot, i == 1 || i == 2);
    rrc_gc_visit_objects(h->heap, check_numbers, &v);
    check_int(v.untracked_count, 4);
    check_int(host_stats(h).tracked, 3);
    check_int(host_stats(h).pending, 1);
    check_int(rrc_check(h->heap), RRC_OK);
    while (v.untracked_count > 0) {
        check_int(rrc_gc_track(h->heap, v.untracked[--v.untracked_count]), RRC_OK);
        rrc_decref(h->heap, v.untracked[v.untracked_count]);
    }
    for (i = 0; i < 4; i++)
        rrc_decref(h->heap, held[i]);
    knot_collect(h);                            /* what has waited is taken as alive this time */
    knot_collect(h);
    check_int(h->deallocs, 7);
    h->events[0] = '\0';
    host_close(h);
}

/* Everything that a callback may do to tracked objects: the one at hand, the next in
   the ring, new ones; with collections of the host in between. */
enum { UNTRACKS, TRACKS_NEW, FREES_ITS_RING, UNTRACKS_NEXT, COLLECTS, DOES_NOTHING, VISIT_ACTIONS };

static void untrack_for_now(visits *v, rrc_object *ob)
{
    if (ob == NULL || !rrc_gc_is_tracked(v->h->heap, ob))
        return;
    rrc_incref(v->h->heap, ob);
    v->untracked[v->untracked_count++] = ob;
    rrc_gc_untrack(v->h->heap, ob);
}

static int act_on_visit(rrc_object *ob, void *arg)
{
    visits *v = (visits *)arg;
    rrc_object *next = KNOT(ob)->ref[0];

    v->count++;
    switch (v->what == VISIT_ACTIONS ? (int)(v->count % VISIT_ACTIONS) : v->what) {
    case UNTRACKS:
        untrack_for_now(v, ob);
        break;
    case TRACKS_NEW:
        rrc_decref(v->h->heap, knot_new(v->h, &KnotFinal, 0));
        knot_ring(v->h, &Knot, 2, NULL);
        break;
    case FREES_ITS_RING:
        RRC_CLEAR(v->h->heap, KNOT(ob)->ref[0]);
        break;
    case UNTRACKS_NEXT:
        untrack_for_now(v, next);
        break;
    default:
        break;
    }
    if (v->count % 3 == 0)
        host_major(v->h);
    if (v->count % 7 == 0)
        host_minor(v->h);
    check_int(rrc_gc_collect(v->h->heap), 0);
    return v->count < 3000;
}

static void callbacks_may_do_much(void)
{
    enum { RINGS = 60 };
    int what, reports, waiting, i;

    for (what = 0; what <= VISIT_ACTIONS; what++)
        for (reports = 0; reports < 3; reports++)
            for (waiting = 0; waiting < 2; waiting++) {
                host_options options = { .reports_marks = reports };
                host *h = host_open(&options);
                visits v = { .h = h, .what = what };
                rrc_object *first[RINGS];
                size_t k;

                unit_context("action %d, reports %d, waiting %d", what, reports, waiting);
                for (i = 0; i < RINGS; i++) {
                    first[i] = knot_ring(h, i % 3 == 0 ? &KnotFull : &Knot, i % 9 + 1, NULL);
                    if (i % 2 == 0)
                        ob_link(h, i % 4 == 0 ? P : O, host_rooted(h, HOST_OLD), first[i], FULL);
                }
                if (waiting)
                    host_major(h);
                h->events[0] = '\0';
                rrc_gc_visit_objects(h->heap, act_on_visit, &v);
                check(v.count > 0);
                check_int(rrc_check(h->heap), RRC_OK);
                knot_collect(h);
                check_int(rrc_check(h->heap), RRC_OK);
                for (k = 0; k < v.untracked_count; k++) {
                    check_int(rrc_gc_track(h->heap, v.untracked[k]), RRC_OK);
                    rrc_decref(h->heap, v.untracked[k]);
                }
                knot_collect(h);
                h->events[0] = '\0';
                host_close(h);
            }
}

/* While garbage waits, and much of it goes because of the callback. */
typedef struct wide {
    OB_HEAD
    rrc_object *child[2000];
} wide;

static int wide_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    size_t i;

    for (i = 0; i < 2000; i++)
        RRC_VISIT(((wide *)(void *)self)->child[i]);
    return 0;
}

static int wide_clear(rrc_heap *heap, rrc_object *self)
{
    size_t i;

    for (i = 0; i < 2000; i++)
        RRC_CLEAR(heap, ((wide *)(void *)self)->child[i]);
    return 0;
}

static void wide_dealloc(rrc_heap *heap, rrc_object *self)
{
    wide_clear(heap, self);
    rrc_gc_del(heap, self);
}

static const rrc_type Wide = {
    .tp_name = "Wide", .tp_basicsize = sizeof(wide), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = wide_dealloc, .tp_traverse = wide_traverse, .tp_clear = wide_clear,
};

static int let_the_chain_go(rrc_object *ob, void *arg)
{
    visits *v = (visits *)arg;

    (void)ob;
    if (v->victim != NULL) {
        rrc_object *victim = v->victim;

        v->victim = NULL;
        RRC_CLEAR(v->h->heap, KNOT(victim)->ref[0]);
    }
    return 1;
}

/* A chain deeper than deallocs nest, at its end an object with many children: all
   garbage that waits. */
static void much_garbage_goes_during_a_walk(void)
{
    enum { DEPTH = 60, HUBS = 12 };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    visits v = { .h = h };
    rrc_object *ring[DEPTH];
    int i, k;

    knot_ring(h, &Knot, DEPTH, ring);
    for (i = 0; i < HUBS; i++) {
        rrc_object *hub = rrc_gc_new(h->heap, &Wide);

        for (k = 0; k < 2000; k++)
            ((wide *)(void *)hub)->child[k] = knot_new(h, &Knot, 0);
        check_int(rrc_gc_track(h->heap, hub), RRC_OK);
        KNOT(ring[DEPTH - 1 - i / 2])->ref[1 + i % 2] = hub;
    }
    host_major(h);
    check_int(host_stats(h).pending, DEPTH + HUBS * 2001);
    v.victim = ring[0];
    h->events[0] = '\0';
    rrc_gc_visit_objects(h->heap, let_the_chain_go, &v);
    check_int(rrc_check(h->heap), RRC_OK);
    knot_collect(h);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

static void sizes_of_types(void)
{
    static const rrc_type huge = { .tp_name = "Huge", .tp_basicsize = SIZE_MAX, .tp_flags = RRC_TPFLAGS_HAVE_GC };
    static const rrc_type items = { .tp_name = "Items", .tp_basicsize = sizeof(node), .tp_itemsize = 4 };
    host *h = host_open(NULL);

    check_ptr(rrc_gc_new(h->heap, &huge), NULL);
    rrc_decref(h->heap, rrc_new(h->heap, &items));      /* without items */
    host_close(h);
}

/* A finalizer that makes garbage with a finalizer: collect looks twice, not for ever. */
static void make_garbage(host *h, rrc_object *ob)
{
    (void)ob;
    if (h->finalized < 5)
        knot_ring(h, &KnotFinal, 1, NULL);
}

static void collect_is_not_for_ever(void)
{
    host *h = host_open(NULL);

    h->on_finalize = make_garbage;
    knot_ring(h, &KnotFinal, 1, NULL);
    check_int(rrc_gc_collect(h->heap), 1);
    check_int(h->finalized, 2);
    host_close(h);
}

/* A collection looks at what is tracked: it stays so, and is there, to the end of it. */
static void delete_in_a_hook(host *h, const char *hook)
{
    if (strcmp(hook, "trace") != 0)
        return;
    h->on_hook = NULL;
    rrc_gc_del(h->heap, h->test);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_del");
    rrc_gc_untrack(h->heap, (rrc_object *)h->test);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_untrack");
}

static void nothing_tracked_is_deleted_in_a_hook(void)
{
    host *h = host_open(NULL);
    rrc_object *tracked = knot_new(h, &Knot, 1), *view = ob_shared(h, P, host_new(h, HOST_OLD), FULL);

    h->test = tracked;
    h->on_hook = delete_in_a_hook;
    host_major(h);
    check(h->on_hook == NULL);
    check(rrc_gc_is_tracked(h->heap, tracked));
    rrc_decref(h->heap, tracked);
    check_events(h, "d1");
    rrc_decref(h->heap, view);
    knot_collect(h);
    host_close(h);
}

/* A host that finds a p only after the trace function: what it is linked with was
   taken for garbage, but has a link to the end; it is no garbage. */
static void a_p_that_is_found_late(void)
{
    host_options options = { .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t id = host_new(h, HOST_OLD);
    rrc_object *ob = knot_new(h, &Knot, 1);

    ob_link(h, P, id, ob, FULL);
    rrc_decref(h->heap, ob);
    host_major_begin(h);
    h->phase = HOST_MAJOR_TRACE;
    host_trace(h, host_at(h, id));
    host_propagate(h);
    h->phase = HOST_MAJOR_PLAN;
    host_major_end(h);
    host_expect_late_mark(h, ob);
    check(host_is_alive(h, id));
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    check_int(host_stats(h).pending, 0);
    check_int(host_stats(h).garbage, 0);
    knot_collect(h);
    check(!host_is_alive(h, id));
    check_int(host_stats(h).garbage, 1);
    check_events(h, "d1");
    host_close(h);
}

/* The host did not announce any. */
static void reports_that_were_not_announced(void)
{
    enum { COUNT = 100 };
    host *h = host_open(NULL);
    size_t ids[COUNT], i;
    rrc_object *obs[COUNT];

    for (i = 0; i < COUNT; i++) {
        ids[i] = host_new(h, HOST_OLD);
        obs[i] = knot_new(h, &Knot, 0);
        ob_link(h, O, ids[i], obs[i], FULL);
        KNOT(obs[i])->ref[0] = obs[i];
    }
    check_int(rrc_unlink(h->heap, obs[0]), RRC_OK);     /* so that the others have a dictionary */
    for (i = 1; i < COUNT; i++)
        rrc_marked(h->heap, host_at(h, ids[i]));
    knot_collect(h);
    check_int(h->deallocs, COUNT);
    host_close(h);
}

/* ---- when to search ---- */

static size_t searches(host *h) { return host_stats(h).searches; }

/* A ring of 20 tracked objects that lives, and 20 links beside it. */
static rrc_object *open_with_40(host **h, unsigned percent)
{
    const host_options options = { .search_percent = percent, .collects = 1 };
    rrc_object *ring;
    int i;

    *h = host_open(&options);
    ring = knot_ring(*h, &Knot, 20, NULL);
    rrc_incref((*h)->heap, ring);
    for (i = 0; i < 20; i++)
        ob_given(*h, i % 2 == 0 ? P : O, host_rooted(*h, HOST_OLD), FULL);
    return ring;
}

/* The number of major collections until the next search, which is among them. */
static int majors_until_search(host *h)
{
    size_t before = searches(h);
    int majors;

    for (majors = 1; majors < 1000; majors++) {
        host_major(h);
        if (searches(h) > before)
            break;
    }
    return majors;
}

static void close_with_40(host *h, rrc_object *ring)
{
    rrc_decref(h->heap, ring);
    rrc_gc_collect(h->heap);
    check_int(host_stats(h).tracked, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* By default each collection searches; else, if nothing changes, fewer and fewer, but never none. */
static void what_lives_is_searched_less_and_less(void)
{
    static const int expected[] = { 1, 1, 2, 4, 8, 16, 32, 64, 64, 64 };
    unsigned percent;
    size_t i;

    for (percent = 0; percent <= 100; percent += 25) {
        host *h;
        rrc_object *ring = open_with_40(&h, percent);

        unit_context("percent %d", (int)percent);
        for (i = 0; i < sizeof expected / sizeof *expected; i++)
            check_int(majors_until_search(h), percent == 0 ? 1 : expected[i]);
        close_with_40(h, ring);
    }
}

/* Each kind of change counts: 10 of 40 are 25 percent, 9 are not. */
static void a_change_makes_a_search_due(void)
{
    enum { TRACKED_NOW, UNTRACKED_NOW, LINKED_NOW, UNLINKED_NOW, DEAD, CHANGES };
    int kind, n;

    for (kind = 0; kind < CHANGES; kind++)
        for (n = 7; n <= 13; n++) {
            host *h;
            rrc_object *ring = open_with_40(&h, 25), *obs[20];
            size_t ids[20], total, i;

            unit_context("kind %d, n %d", kind, n);
            for (i = 0; i < 20; i++) {
                obs[i] = rrc_gc_new(h->heap, &Knot);
                ids[i] = host_new(h, HOST_OLD);
                host_root(h, ids[i]);
                if (kind == UNTRACKED_NOW)
                    check_int(rrc_gc_track(h->heap, obs[i]), RRC_OK);
                if (kind == UNLINKED_NOW || kind == DEAD)
                    ob_link(h, O, ids[i], obs[i], FULL);
            }
            for (i = 0; i < 4; i++)
                majors_until_search(h);
            for (i = 0; i < (size_t)n; i++)
                switch (kind) {
                case TRACKED_NOW: check_int(rrc_gc_track(h->heap, obs[i]), RRC_OK); break;
                case UNTRACKED_NOW: rrc_gc_untrack(h->heap, obs[i]); break;
                case LINKED_NOW: ob_link(h, O, ids[i], obs[i], FULL); break;
                case UNLINKED_NOW: check_int(rrc_unlink(h->heap, obs[i]), RRC_OK); break;
                default: host_unroot(h, ids[i]);
                }
            if (kind == DEAD)
                host_major(h);              /* this one finds them dead when it has decided */
            total = host_stats(h).tracked + host_stats(h).p_old + host_stats(h).o_old;
            check_int(majors_until_search(h) == 1, (size_t)n >= total * 25 / 100);
            for (i = 0; i < 20; i++)
                rrc_decref(h->heap, obs[i]);
            close_with_40(h, ring);
        }
}

/* What is dropped changes nothing that the header sees: it goes at the latest with the next search. After
   one that has found garbage, the next collection searches too. rrc_gc_collect always does. */
static void garbage_makes_searches_due(void)
{
    host *h;
    rrc_object *ring = open_with_40(&h, 50);
    int i;

    for (i = 0; i < 6; i++)
        majors_until_search(h);
    check_int(host_stats(h).garbage, 0);
    knot_ring(h, &Knot, 3, NULL);
    check_int(majors_until_search(h), 32);
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).garbage, 3);
    check_int(majors_until_search(h), 1);
    for (i = 0; i < 4; i++)
        majors_until_search(h);
    knot_ring(h, &Knot, 3, NULL);
    check_int(rrc_gc_collect(h->heap), 3);
    close_with_40(h, ring);
}

/* The first report decides whether a collection searches. If it does not, reports are ignored to its end. rrc_gc_collect
   searches although the host has begun a collection that does not. */
static void the_first_report_decides(void)
{
    host *h;
    rrc_object *ring = open_with_40(&h, 50);
    int i;

    for (i = 0; i < 6; i++)
        majors_until_search(h);
    rrc_marked_ob(h->heap, ring);                           /* no search is due */
    knot_ring(h, &Knot, 100, NULL);
    check_int(majors_until_search(h), 2);
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).garbage, 100);

    knot_ring(h, &Knot, 100, NULL);
    rrc_marked_ob(h->heap, ring);                           /* one is due */
    rrc_gc_disable(h->heap);
    host_major(h);
    rrc_gc_enable(h->heap);
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).garbage, 100);
    check_int(majors_until_search(h), 1);
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).garbage, 200);

    for (i = 0; i < 6; i++)
        majors_until_search(h);
    knot_ring(h, &Knot, 3, NULL);
    rrc_marked_ob(h->heap, ring);
    check_int(rrc_gc_collect(h->heap), 3);
    rrc_marked_ob(h->heap, ring);
    check_int(rrc_major_collection_pause(h->heap), RRC_OK);
    check_int(rrc_gc_collect(h->heap), 0);
    close_with_40(h, ring);
}

UNIT_GROUP(gc_protocol,
    UNIT(the_first_report_decides),
    UNIT(what_lives_is_searched_less_and_less),
    UNIT(a_change_makes_a_search_due),
    UNIT(garbage_makes_searches_due),
    UNIT(resized_with_others), UNIT(resized_in_its_finalizer), UNIT(resized_as_garbage),
    UNIT(nothing_tracked_is_deleted_in_a_hook),
    UNIT(a_p_that_is_found_late),
    UNIT(reports_that_were_not_announced),
    UNIT(sizes_of_types),
    UNIT(collect_is_not_for_ever),
    UNIT(a_new_object_is_untracked),
    UNIT(items_and_extra_bytes_are_zeroed),
    UNIT(few_bytes),
    UNIT(deleting_what_is_tracked),
    UNIT(sizes_that_overflow),
    UNIT(types_that_do_not_fit),
    UNIT(static_objects_have_no_header),
    UNIT(static_objects_keep_their_p),
    UNIT(a_tracked_object_becomes_immortal),
    UNIT(lists_that_fill_their_blocks),
    UNIT(resizing_keeps_what_was_there),
    UNIT(tracking_can_be_repeated),
    UNIT(tracking_that_finds_no_memory),
    UNIT(collections_allocate_nothing),
    UNIT(track_and_untrack_in_any_order),
    UNIT(collect_returns_how_many),
    UNIT(collect_is_not_nested),
    UNIT(collect_inside_of_others),
    UNIT(collect_and_the_switch),
    UNIT(collect_without_a_host),
    UNIT(phases_are_checked),
    UNIT(walks_stop_when_told), UNIT(numbers_in_a_walk),
    UNIT(callbacks_may_do_much),
    UNIT(much_garbage_goes_during_a_walk),
);
