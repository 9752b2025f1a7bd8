/* Memory: every allocation fails in turn, and what a link costs. */

#include "knots.h"

#include <stdlib.h>
#include <string.h>

/* ---- failure at every point ---- */

enum { MANY = 700 };

/* A life with links of all sorts, in which any call may run out of memory: it
   must then have changed nothing, and be repeatable. Returns how many failed. */
static size_t live_with_failures(size_t fail_at, int fail_on, const host_options *options)
{
    host *h = host_bare(options);
    rrc_object *obs[MANY];
    size_t ids[MANY], i, failed = 0;
    rrc_desc desc;

    host_describe(h, &desc);
    h->fail_at = fail_at;
    h->fail_on = fail_on;
    h->heap = rrc_heap_new(&desc);
    if (h->heap == NULL) {
        check_int(h->failed, 1);
        check_int(h->live_blocks, 0);
        h->fail_at = 0;
        failed = 1;
        h->heap = rrc_heap_new(&desc);
        check(h->heap != NULL);
    }
    for (i = 0; i < MANY; i++) {
        host_kind p = i % 5 == 0 ? HOST_OLD : i % 11 == 0 ? HOST_LARGE : HOST_YOUNG;
        link_kind kind = i % 3 == 0 ? O : P;
        size_t before = h->failed;

        do {
            before = h->failed;
            obs[i] = rrc_new(h->heap, i % 2 == 0 ? &Node : &Leaf);
            check_int(obs[i] == NULL, h->failed > before);
            failed += h->failed - before;
            if (h->failed > before)
                h->fail_at = 0;
        } while (obs[i] == NULL);
        ids[i] = host_rooted(h, p);
        for (;;) {
            rrc_stats stats = host_stats(h), now;
            int code;

            before = h->failed;
            code = kind == P ? rrc_create_link_pypy(h->heap, host_at(h, ids[i]), obs[i])
                             : rrc_create_link_pyobj(h->heap, host_at(h, ids[i]), obs[i]);
            failed += h->failed - before;
            if (code == RRC_OK)
                break;
            check_int(code, RRC_ENOMEM);
            check(h->failed > before);
            now = host_stats(h);
            now.memory = stats.memory;      /* reserves may stay */
            check(memcmp(&now, &stats, sizeof now) == 0);
            check_ptr(RRC_LINK(obs[i]), NULL);
            check_int(REFCNT(obs[i]), 1);
            check_ptr(rrc_from_obj(h->heap, host_at(h, ids[i])), NULL);
            check_int(rrc_check(h->heap), RRC_OK);
            /* The reserves of before still do for a collection. */
            host_minor(h);
            host_major(h);
            h->fail_at = 0;
        }
        REFCNT(obs[i]) += (i % 2 == 0 ? BIAS : LIGHT) - 1;
        if (i % 100 == 99)
            host_minor(h);
        if (i % 40 == 39) {
            size_t before_unlink = h->failed;

            check_int(rrc_unlink(h->heap, obs[i]), RRC_OK);
            failed += h->failed - before_unlink;
            obs[i] = NULL;
            host_unroot(h, ids[i]);
            if (i % 160 == 159)
                host_major(h);
        }
    }
    for (i = 0; i < MANY; i++)
        if (obs[i] != NULL) {
            check_ptr(rrc_to_obj(h->heap, obs[i]), host_at(h, ids[i]));
            if (i % 3 != 0)
                check_ptr(rrc_from_obj(h->heap, host_at(h, ids[i])), obs[i]);
            if (i % 4 == 0)
                host_unroot(h, ids[i]);
        }
    host_expect_silence(h);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    host_close(h);
    return failed;
}

static void fail_each(int fail_on)
{
    static const host_options hosts[] = {
        { .unchecked = 1 }, { .unchecked = 1, .moving = HOST_PERMUTE, .stays_young = 1 },
    };
    size_t which, n;

    for (which = 0; which < 2; which++) {
        size_t step = unit_is_quick() ? 31 : HOST_SANITIZED || HOST_DEBUG ? 7 : 1, last = 0;

        for (n = 1;; n += n < 100 ? 1 : step) {
            unit_context("host %u, allocation %u fails", (unsigned)which, (unsigned)n);
            if (live_with_failures(n, fail_on, &hosts[which]) == 0)
                break;
            last = n;
        }
        check(last + step > MANY);
    }
}

static void each_allocation_fails_once(void) { fail_each(0); }
static void all_allocations_fail_from_some_point_on(void) { fail_each(1); }

static void rrc_new_reports_lack_of_memory(void)
{
    host *h = host_open(NULL);

    h->fail_at = 1;
    h->fail_on = 1;
    check_ptr(rrc_new(h->heap, &Node), NULL);
    check_int(host_stats(h).objects, 0);
    host_expect_silence(h);
    host_close(h);
}

/* rrc_unlink does without the memory that would make it fast. */
static void unlink_needs_no_memory(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *obs[200];
    size_t i;

    for (i = 0; i < 200; i++)
        obs[i] = ob_given(h, i % 2 == 0 ? P : O, host_rooted(h, i % 3 == 0 ? HOST_OLD : HOST_YOUNG), FULL);
    h->fail_at = 1;
    h->fail_on = 1;
    for (i = 0; i < 200; i++) {
        check_int(rrc_unlink(h->heap, obs[i * 7 % 200]), RRC_OK);
        if (i == 90)
            host_major(h);
    }
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_run_pending(h->heap, 0), 200);
    host_close(h);
}

/* ---- what a link costs ---- */

/* stats.memory is what the allocator gave, without the objects. */
static void stats_tell_the_memory(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t i;

    for (i = 0; i < 5000; i++) {
        if (i % 500 == 0)
            check_int(host_stats(h).memory,
                      h->live_bytes - i * (sizeof(node) + OB_PREFIX + OB_HEADS));
        ob_given(h, i % 2 == 0 ? P : O, host_rooted(h, HOST_OLD), FULL);
    }
    host_close(h);
}

/* What a heap takes for its first link and its first tracked object, with blocks of 256 links. */
static void a_small_heap_is_small(void)
{
    static const rrc_type Tracked = { .tp_name = "Tracked", .tp_basicsize = sizeof(node),
                                      .tp_flags = RRC_TPFLAGS_HAVE_GC };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t empty = host_stats(h).memory;
    rrc_object *ob;

    check(empty < 3650);
    ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
    check(host_stats(h).memory > empty && host_stats(h).memory < 32000);
    ob = rrc_gc_new(h->heap, &Tracked);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    check(host_stats(h).memory < 62000);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* Tenths of a byte, for pointers of 8 bytes; smaller blocks need more directories, and more to be aligned. */
static int costs_more(size_t links, size_t memory, size_t tenths)
{
#ifdef RRC_CHUNK_LINKS
    tenths += 25;
#endif
    return memory * 10 > links * tenths * (sizeof(void *) + 8) / 16;
}

static void check_cost(size_t links, size_t memory, size_t tenths)
{
    if (costs_more(links, memory, tenths))
        unit_fail(__FILE__, __LINE__, "%u links take %u bytes", (unsigned)links, (unsigned)memory);
}

/* With smaller blocks there are so many more of them. */
#ifdef RRC_CHUNK_LINKS
#define SMALLER (256 / RRC_CHUNK_LINKS)
#else
#define SMALLER 1
#endif

/* Old links of one kind, as many as fit under each limit while they grow. */
static void a_link_costs_little(void)
{
    const size_t most = unit_is_quick() || HOST_SANITIZED || HOST_DEBUG ? 100000 : 1000000;
    int kind;

    for (kind = P; kind <= O; kind++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        int has_dict = !HOST_SLOT && kind == P;
        size_t i;

        for (i = 1; i <= most; i++) {
            ob_given(h, (link_kind)kind, host_new(h, HOST_OLD), LIGHT_OB);
            if (i >= 100000 && i % 1000 == 0)
                check_cost(i, host_stats(h).memory, has_dict ? 263 : 165);
        }
        /* One allocation for an object, one for 256 links, and tables that grow by a part of their size. */
        check(h->calls.allocate < most + most / 50 * SMALLER);
        host_major(h);
        check_int(host_stats(h).objects, 0);
        host_close(h);
    }
}

/* The usual life: links are made on young p, a few thousand between two minor
   collections. */
static void a_link_that_was_young_costs_little(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t i;

    for (i = 1; i <= 100000; i++) {
        ob_given(h, P, host_rooted(h, HOST_YOUNG), LIGHT_OB);
        if (i % 1000 == 0)
            host_minor(h);
    }
    check_cost(100000, host_stats(h).memory, HOST_SLOT ? 170 : 268);
    host_close(h);
}

/* When most links have died, a major collection and a few more links give most of it back. */
static void memory_is_given_back(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t i, most;

    for (i = 0; i < 50000; i++)
        ob_given(h, i % 2 == 0 ? P : O, host_new(h, HOST_OLD), LIGHT_OB);
    most = host_stats(h).memory;
    host_major(h);
    for (i = 0; i < 20; i++)
        ob_given(h, P, host_new(h, HOST_OLD), LIGHT_OB);
    if (host_stats(h).memory > most / 10)
        unit_fail(__FILE__, __LINE__, "of %u bytes %u are kept", (unsigned)most,
                  (unsigned)host_stats(h).memory);
    host_close(h);
}

/* Many collections later it is still the same memory. */
static void memory_does_not_creep(void)
{
    host_options options = { .unchecked = 1, .moving = HOST_PERMUTE };
    host *h = host_open(&options);
    size_t round, i, first = 0;

    for (round = 0; round < 60; round++) {
        size_t start = h->count;

        for (i = 0; i < 500; i++)
            ob_given(h, i % 2 == 0 ? P : O, host_rooted(h, i % 3 == 0 ? HOST_YOUNG : HOST_OLD), LIGHT_OB);
        host_minor(h);
        for (i = 0; i < 500; i++)
            host_unroot(h, start + i);
        host_major(h);
        if (round == 5)
            first = host_stats(h).memory;
    }
    check_int(host_stats(h).memory, first);
    host_close(h);
}

/* ---- bytes ---- */

/* All memory of the host's hook is the heap's or an object's. */
static void check_bytes(host *h, size_t pending)
{
    rrc_stats stats = host_stats(h);

    check_int(stats.object_bytes, h->live_bytes - stats.memory);
    check_int(stats.pending_bytes, pending);
    check_int(rrc_check(h->heap), RRC_OK);
}

/* The memory that one more object takes. */
static size_t bytes_more(host *h, size_t *before)
{
    size_t bytes = host_stats(h).object_bytes, more = bytes - *before;

    *before = bytes;
    return more;
}

static void the_bytes_of_objects(void)
{
    static const rrc_type Var = {
        .tp_name = "Var", .tp_basicsize = sizeof(node), .tp_itemsize = 10, .tp_flags = RRC_TPFLAGS_HAVE_GC,
    };
    static const rrc_type Long = { .tp_name = "Long", .tp_basicsize = sizeof(node), .tp_itemsize = 4 };
    static const rrc_type Ring = {
        .tp_name = "Ring", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    };
    host *h = host_open(NULL);
    size_t bytes = 0, light, full, ring, var;
    rrc_object *ob, *grown;

    check_bytes(h, 0);
    ob = rrc_new_var(h->heap, &Long, 3);
    check(bytes_more(h, &bytes) >= sizeof(node) + 12);
    rrc_decref(h->heap, ob);
    check_bytes(h, 0);
    check_int(host_stats(h).object_bytes, 0);
    bytes = 0;
    ob_given(h, O, host_new(h, HOST_OLD), FULL);
    full = bytes_more(h, &bytes);
    check(full >= sizeof(node));
    ob_given(h, O, host_new(h, HOST_OLD), LIGHT_OB);
    light = bytes_more(h, &bytes);
    check_int(bytes, full + light);
    ob = rrc_gc_new_var(h->heap, &Var, 5);
    var = bytes_more(h, &bytes);
    check_bytes(h, 0);
    grown = rrc_gc_resize(h->heap, ob, 100);
    check_int(bytes_more(h, &bytes), 950);
    ob = rrc_gc_resize(h->heap, grown, 2);
    check_int(host_stats(h).object_bytes, bytes - 980);
    bytes = host_stats(h).object_bytes;
    var -= 30;
    check_bytes(h, 0);
    ob_link(h, O, host_new(h, HOST_OLD), ob, FULL);
    rrc_decref(h->heap, ob);
    host_major(h);                      /* the light one goes at once */
    check_bytes(h, full + var);
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_bytes(h, full);
    ob = rrc_next_dead(h->heap);
    check_bytes(h, 0);
    rrc_decref(h->heap, ob);
    check_bytes(h, 0);
    check_int(host_stats(h).object_bytes, 0);
    bytes = 0;
    ob = rrc_gc_new(h->heap, &Ring);
    ring = bytes_more(h, &bytes);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    host_minor_begin(h);                /* a dealloc that must wait, and garbage */
    rrc_decref(h->heap, ob);
    host_minor_end(h);
    check_bytes(h, ring);
    rrc_run_pending(h->heap, 0);
    check_bytes(h, 0);
    check_int(host_stats(h).object_bytes, 0);
    h->events[0] = '\0';
    host_close(h);
}

static void the_bytes_of_garbage(void)
{
    host *h = host_open(NULL);
    size_t all;
    rrc_object *ring = knot_ring(h, &Knot, 10, NULL);

    all = host_stats(h).object_bytes;
    check_bytes(h, 0);
    host_major(h);
    check_bytes(h, all);
    rrc_incref(h->heap, ring);
    rrc_run_pending(h->heap, 1);        /* C has it again */
    check_bytes(h, 0);
    rrc_decref(h->heap, ring);
    host_major(h);
    check_bytes(h, all);
    rrc_run_pending(h->heap, 0);
    check_bytes(h, 0);
    check_int(host_stats(h).object_bytes, 0);
    h->events[0] = '\0';
    host_close(h);
}

/* What waits may not change its size: rrc_check sees that of its type. */
static void a_type_that_changes_while_it_waits(void)
{
    static const rrc_type Larger = { .tp_name = "Larger", .tp_basicsize = sizeof(node) + 8 };
    int way;

    for (way = 0; way < 2; way++) {
        host *h = host_open(NULL);
        rrc_object *ob = ob_given(h, O, host_new(h, HOST_OLD), FULL);
        const rrc_type *type = RRC_TYPE(ob);

        host_major(h);
        check_int(rrc_check(h->heap), RRC_OK);
        RRC_TYPE(ob) = way == 0 ? NULL : &Larger;
        check_int(rrc_check(h->heap), RRC_ECORRUPT);
        host_expect_log(h, RRC_ECORRUPT, "rrc_check");
        RRC_TYPE(ob) = type;
        check_int(rrc_check(h->heap), RRC_OK);
        check_int(rrc_run_pending(h->heap, 0), 1);
        host_close(h);
    }
}

static void native_bytes_are_added_up(void)
{
    host *h = host_open(NULL);

    rrc_native_bytes(NULL, 10);
    check_int(host_stats(h).native_bytes, 0);
    rrc_native_bytes(h->heap, 1000);
    rrc_native_bytes(h->heap, 24);
    check_int(host_stats(h).native_bytes, 1024);
    rrc_native_bytes(h->heap, -1000);
    check_int(host_stats(h).native_bytes, 24);
    rrc_native_bytes(h->heap, -24);
    check_int(host_stats(h).native_bytes, 0);
    rrc_native_bytes(h->heap, 5);
    rrc_native_bytes(h->heap, PTRDIFF_MIN);     /* not less than nothing */
    check_int(host_stats(h).native_bytes, 0);
    host_close(h);
}

/* An object with memory elsewhere: so many bytes. */
typedef struct picture {
    OB_HEAD
    rrc_object *ref[1];
    size_t bytes;
} picture;

#define PICTURE(ob) ((picture *)(void *)(ob))

static size_t picture_size(rrc_heap *heap, rrc_object *self)
{
    check(heap != NULL);
    return PICTURE(self)->bytes;
}

static void picture_dealloc(rrc_heap *heap, rrc_object *self)
{
    PICTURE(self)->bytes = 0;           /* it is gone when the header takes it back */
    rrc_gc_del(heap, self);
}

#define IS_PICTURE(name) .tp_name = name, .tp_basicsize = sizeof(picture), .tp_size = picture_size

static const rrc_type Picture = { IS_PICTURE("Picture"), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                  .tp_dealloc = picture_dealloc };
static const rrc_type Pictures = { IS_PICTURE("Pictures"), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_itemsize = 8 };
static const rrc_type LightPicture = { IS_PICTURE("LightPicture") };
static const rrc_type NoSize = { .tp_name = "NoSize", .tp_basicsize = sizeof(picture) };

static void check_native(host *h, size_t expected)
{
    check_int(host_stats(h).native_bytes, expected);
    check_int(h->native, expected);
}

static void measure(host *h, rrc_object *ob, size_t bytes)
{
    PICTURE(ob)->bytes = bytes;
    rrc_measure(h->heap, ob);
}

static void objects_are_measured(void)
{
    host *h = host_open(NULL);
    rrc_object *plain = rrc_new(h->heap, &NoSize), *ob = rrc_gc_new(h->heap, &Picture);
    rrc_object *var = rrc_gc_new_var(h->heap, &Pictures, 3), *light = rrc_new(h->heap, &LightPicture);
    rrc_object *extra = rrc_gc_new_with_extra_data(h->heap, &Picture, 100);
    static picture still, own;
    static const rrc_type OwnMemory = { .tp_name = "OwnMemory", .tp_size = picture_size };
    size_t calls;

    rrc_measure(NULL, ob);
    rrc_measure(h->heap, NULL);
    measure(h, plain, 5);
    RRC_TYPE((rrc_object *)(void *)&still) = &LightPicture;
    REFCNT((rrc_object *)(void *)&still) = RRC_REFCNT_IMMORTAL;
    measure(h, (rrc_object *)(void *)&still, 5);
    RRC_TYPE((rrc_object *)(void *)&own) = &OwnMemory;
    REFCNT((rrc_object *)(void *)&own) = 1;
    measure(h, (rrc_object *)(void *)&own, 5);
    check_native(h, 0);
    check_int(rrc_size_of(h->heap, (rrc_object *)(void *)&own), 5);
    check_int(rrc_size_of(h->heap, (rrc_object *)(void *)&still), sizeof(picture) + 5);
    check_int(rrc_size_of(h->heap, var), sizeof(picture) + 24);
    measure(h, ob, 1000);
    measure(h, ob, 1000);
    check_native(h, 1000);
    measure(h, ob, 400);                /* it shrinks, */
    check_native(h, 400);
    PICTURE(ob)->bytes = 900;           /* ... and grows when nobody asks */
    check_native(h, 400);
    measure(h, light, 30);
    measure(h, var, 7);
    measure(h, extra, 1);
    check_native(h, 438);
    var = rrc_gc_resize(h->heap, var, 1000);
    check_native(h, 438);
    rrc_decref(h->heap, var);
    check_native(h, 431);
    rrc_decref(h->heap, ob);
    check_native(h, 31);
    rrc_decref(h->heap, extra);
    check_native(h, 30);
    rrc_decref(h->heap, light);
    check_native(h, 0);
    /* One that was never measured. One whose type had no tp_size when the object was made. */
    calls = h->native_calls;
    rrc_decref(h->heap, rrc_gc_new(h->heap, &Picture));
    RRC_TYPE(plain) = &LightPicture;
    measure(h, plain, 5);
    check_int(rrc_size_of(h->heap, plain), sizeof(picture) + 5);
    RRC_TYPE(plain) = &NoSize;
    check_int(rrc_size_of(h->heap, plain), sizeof(picture));
    RRC_TYPE(plain) = NULL;
    check_int(rrc_size_of(h->heap, plain), 0);
    RRC_TYPE(plain) = &NoSize;
    check_int(h->native_calls, calls);
    rrc_decref(h->heap, plain);
    host_close(h);
}

/* ... also in a collection, which frees light objects; and not when the host has gone. */
static void what_was_measured_is_taken_back(void)
{
    host *h = host_open(NULL);
    rrc_object *light = rrc_new(h->heap, &LightPicture), *held = rrc_gc_new(h->heap, &Picture);

    measure(h, light, 30);
    ob_link(h, O, host_new(h, HOST_OLD), light, LIGHT_OB);
    rrc_decref(h->heap, light);
    check_native(h, 30);
    host_major(h);
    check_native(h, 0);
    measure(h, held, 10);
    check_int(host_free_heap(h), 0);
    measure(h, held, 20);
    rrc_decref(h->heap, held);
    check_int(h->native, 10);
    host_end(h);
}

static void young_views(host *h, int count)
{
    int i;

    for (i = 0; i < count; i++)
        ob_given(h, P, host_new(h, HOST_YOUNG), FULL);
}

/* The table of young links is made smaller when it was large once, and has had few links since. */
static void the_young_table_shrinks(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t memory;

    young_views(h, 20000);
    host_minor(h);
    rrc_run_pending(h->heap, 0);
    memory = host_stats(h).memory;
    young_views(h, 100);
    host_minor(h);
    rrc_run_pending(h->heap, 0);
    check(HOST_SLOT || host_stats(h).memory < memory - 80000);
    host_minor(h);
    rrc_run_pending(h->heap, 0);
    host_close(h);
}

/* A hook may return anything when it has freed memory: the caller of rrc_realloc gets NULL. */
static void *free_and_return_something(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    (void)old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return userdata;
}

static void keep_nothing(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }
static rrc_gcref all_survive(void *userdata, rrc_gcref p) { return (void)userdata, p; }

static void what_was_freed_is_null(void)
{
    int something;
    rrc_desc desc = { .userdata = &something, .trace = keep_nothing, .survivor = all_survive,
                      .realloc = free_and_return_something };
    rrc_heap *heap;
    void *memory;

    if (HOST_MACROS)
        return;                         /* the hooks are those of host.h */
    heap = rrc_heap_new(&desc);
    check(heap != NULL);
    memory = rrc_realloc(heap, NULL, 0, 100);
    check(memory != NULL);
    check_ptr(rrc_realloc(heap, memory, 100, 0), NULL);
    check_ptr(rrc_realloc(heap, NULL, 0, 0), NULL);
    check_int(rrc_heap_free(heap), 0);
}

UNIT_GROUP(memory,
    UNIT(each_allocation_fails_once),
    UNIT(all_allocations_fail_from_some_point_on),
    UNIT(rrc_new_reports_lack_of_memory),
    UNIT(unlink_needs_no_memory),
    UNIT(stats_tell_the_memory),
    UNIT(a_small_heap_is_small),
    UNIT(a_link_costs_little),
    UNIT(a_link_that_was_young_costs_little),
    UNIT(memory_is_given_back),
    UNIT(memory_does_not_creep),
    UNIT(the_young_table_shrinks),
    UNIT(the_bytes_of_objects),
    UNIT(the_bytes_of_garbage),
    UNIT(a_type_that_changes_while_it_waits),
    UNIT(native_bytes_are_added_up),
    UNIT(objects_are_measured),
    UNIT(what_was_measured_is_taken_back), UNIT(what_was_freed_is_null));
