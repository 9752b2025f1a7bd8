/* The numbered invariants of the header, each attacked by name. (I7 also has the
 * topic "heaps".) */

#include "objects.h"

#include <stdlib.h>

enum { SOME = 60 };

typedef struct zoo {
    host *h;
    size_t ids[SOME];
    rrc_object *obs[SOME];
    link_kind kinds[SOME];
    int unlinked[SOME];
} zoo;

/* Objects of all sorts, each held by us once. */
static zoo zoo_new(const host_options *options)
{
    zoo z;
    size_t i;

    z.h = host_open(options);
    for (i = 0; i < SOME; i++) {
        z.ids[i] = host_rooted(z.h, (host_kind)(i % HOST_KINDS));
        z.kinds[i] = i % 2 == 0 ? P : O;
        z.obs[i] = ob_shared(z.h, z.kinds[i], z.ids[i], i % 3 == 0 ? LIGHT_OB : FULL);
        z.unlinked[i] = 0;
    }
    return z;
}

static void zoo_end(zoo *z)
{
    size_t i;

    for (i = 0; i < SOME; i++)
        rrc_decref(z->h->heap, z->obs[i]);
    host_close(z->h);
}

static void i1_count_and_link_of_each_ob(void)
{
    static const host_options hosts[] = {
        { 0 }, { .moving = HOST_PERMUTE, .reuse = 1, .stays_young = 1 }
    };
    size_t which, round, i;

    for (which = 0; which < 2; which++) {
        zoo z = zoo_new(&hosts[which]);

        for (round = 0; round < 20; round++) {
            size_t victim = round * 7 % SOME;

            unit_context("host %u, round %u", (unsigned)which, (unsigned)round);
            if (round % 3 == 0) {
                if (rrc_unlink(z.h->heap, z.obs[victim]) == RRC_OK)
                    z.unlinked[victim] = 1;
                z.h->log_read = z.h->log_count;
            } else if (z.kinds[victim] == O) {
                host_unroot(z.h, z.ids[victim]);
            }
            if (round % 2 == 0)
                host_minor(z.h);
            else
                host_major(z.h);
            for (i = 0; i < SOME; i++) {
                intptr_t bias = i % 3 == 0 ? LIGHT : BIAS;
                int linked = !z.unlinked[i] && host_is_alive(z.h, z.ids[i]);

                check_int(REFCNT(z.obs[i]), linked ? bias + 1 : 1);
                check_ptr(RRC_LINK(z.obs[i]), linked ? host_at(z.h, z.ids[i]) : NULL);
            }
        }
        zoo_end(&z);
    }
}

static void i2_each_p_knows_its_view_exactly(void)
{
    static const host_options options = { .moving = HOST_PERMUTE };
    zoo z = zoo_new(&options);
    size_t bare = host_rooted(z.h, HOST_YOUNG), round, i;

    for (round = 0; round < 12; round++) {
        for (i = 0; i < SOME; i++) {
            rrc_gcref p = host_at(z.h, z.ids[i]);

            if (p != NULL)
                check_ptr(rrc_from_obj(z.h->heap, p), z.kinds[i] == P ? z.obs[i] : NULL);
            if (p != NULL && z.kinds[i] == P) {
                check_int(rrc_create_link_pypy(z.h->heap, p, z.obs[i]), RRC_ELINKED);
                host_expect_log(z.h, RRC_ELINKED, NULL);
            }
        }
        check_ptr(rrc_from_obj(z.h->heap, host_at(z.h, bare)), NULL);
        host_unroot(z.h, z.ids[round * 5]);
        if (round % 2 == 0)
            host_minor(z.h);
        host_major(z.h);
    }
    zoo_end(&z);
}

static void i3_no_link_to_the_dead_or_to_where_p_was(void)
{
    static const host_options hosts[] = {
        { 0 }, { .moving = HOST_PERMUTE }, { .reuse = 1, .stays_young = 1 }, { .without_generations = 1 },
    };
    size_t which, i;

    for (which = 0; which < 4; which++) {
        zoo z = zoo_new(&hosts[which]);
        rrc_stats stats;
        size_t linked = 0;

        for (i = 0; i < SOME; i++)
            if (i % 4 < 2)
                host_unroot(z.h, z.ids[i]);
        if (which % 2 == 0)
            host_minor(z.h);
        host_major(z.h);
        for (i = 0; i < SOME; i++) {
            check_ptr(RRC_LINK(z.obs[i]), host_at(z.h, z.ids[i]));
            linked += host_at(z.h, z.ids[i]) != NULL;
        }
        check(linked > 0 && linked < SOME);
        stats = host_stats(z.h);
        check_int(stats.p_young + stats.p_old + stats.o_young + stats.o_old, linked);
        zoo_end(&z);
    }
}

/* The types of the tests fail if their slots run inside a collection. */
static void i4_nothing_is_deallocated_in_a_collection(void)
{
    int major;

    for (major = 0; major < 2; major++) {
        host *h = host_open(NULL);
        size_t i;

        for (i = 0; i < 500; i++) {
            rrc_object *ob = i % 2 == 0 ? ob_chain(h, &Final, 3) : ob_chain(h, &Node, 2);

            ob_link(h, i % 3 == 0 ? P : O, host_new(h, i % 5 == 0 ? HOST_LARGE : HOST_YOUNG), ob, FULL);
            rrc_decref(h->heap, ob);
            ob_given(h, O, host_new(h, HOST_YOUNG), LIGHT_OB);
        }
        if (major)
            host_major(h);
        else
            host_minor(h);
        check_int(h->deallocs + h->finalized, 0);
        check_int(h->freed, 500);
        check_int(host_stats(h).pending, 500);
        rrc_run_pending(h->heap, 0);
        check_int(h->finalized, 750);
        check_int(h->deallocs, 1250);
        host_close(h);
    }
}

/* Whatever becomes of the links, in whatever order: the host's allocator fails
   the test if a collection allocates, and nothing is logged or lost. */
static void i5_collections_live_on_what_was_reserved(void)
{
    static const size_t sizes[] = { 1, 2, 3, 255, 256, 257, 511, 512, 513, 1500, 6000 };
    size_t s, fate, i, split;

    for (s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (fate = 0; fate < 4; fate++)
            for (split = 1; split < 4; split++) {
                host_options options = {
                    .unchecked = 1, .moving = fate % 2 == 0 ? HOST_FRESH : HOST_PERMUTE,
                    .stays_young = fate == 3
                };
                host *h = host_open(&options);
                size_t n = sizes[s], allocations;

                unit_context("%u links, fate %u, split %u", (unsigned)n, (unsigned)fate, (unsigned)split);
                for (i = 0; i < n; i++) {
                    size_t id = host_new(h, i % split == 0 ? HOST_YOUNG : HOST_OLD);

                    ob_given(h, i % 3 == 0 ? O : P, id, FULL);
                    if (fate == 1 || (fate >= 2 && i % 2 == 0))
                        host_root(h, id);
                }
                allocations = h->calls.allocate;
                host_minor(h);
                host_major(h);
                host_major(h);
                for (i = 0; i < n; i++)
                    host_unroot(h, i);
                host_major(h);
                host_major(h);
                check_int(h->calls.allocate, allocations);
                check_int(rrc_check(h->heap), RRC_OK);
                check_stats(h, 0, 0, 0, 0, n);
                check_int(rrc_run_pending(h->heap, 0), n);
                check_int(h->calls.allocate, allocations);
                host_close(h);
            }
}

static size_t hook_calls(const host *h)
{
    return h->calls.trace + h->calls.survivor + h->calls.is_young + h->calls.slot;
}

static void i6_old_links_cost_a_minor_collection_nothing(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    const size_t old = 100000;
    rrc_object **obs = (rrc_object **)calloc(old + 1, sizeof *obs);
    size_t i, calls, propagations, survivors, traces;

    check(obs != NULL);

    for (i = 0; i < old; i++)
        obs[i] = ob_shared(h, i % 2 == 0 ? P : O, host_rooted(h, i % 4 == 0 ? HOST_YOUNG : HOST_OLD),
                           LIGHT_OB);
    host_minor(h);
    check_stats(h, 0, old / 2, 0, old / 2, 0);

    calls = hook_calls(h);
    propagations = h->calls.propagate;
    host_minor(h);
    host_minor(h);
    check_int(hook_calls(h), calls);
    check(h->calls.propagate <= propagations + 2);

    /* A few young ones: one trace for each that C holds, one survivor for each,
       and is_young for those that survive. */
    for (i = 0; i < 5; i++)
        ob_given(h, P, i < 3 ? host_rooted(h, HOST_YOUNG) : host_new(h, HOST_YOUNG), LIGHT_OB);
    obs[old] = ob_shared(h, P, host_new(h, HOST_LARGE), LIGHT_OB);
    ob_given(h, O, host_rooted(h, HOST_YOUNG), LIGHT_OB);
    calls = h->calls.is_young;
    survivors = h->calls.survivor;
    traces = h->calls.trace;
    host_minor(h);
    check_int(h->calls.trace, traces + 1);
    check_int(h->calls.survivor, survivors + 7);
    check_int(h->calls.is_young, calls + 5);
    check_stats(h, 0, old / 2 + 4, 0, old / 2 + 1, 0);

    /* A major collection asks about each link once, and traces what C holds. */
    survivors = h->calls.survivor;
    traces = h->calls.trace;
    host_major(h);
    check_int(h->calls.survivor, survivors + old + 5);
    check_int(h->calls.trace, traces + old / 2 + 1);
    for (i = 0; i <= old; i++)
        rrc_decref(h->heap, obs[i]);
    free(obs);
    host_close(h);
}

/* The sum of it for a host without generations: minor collections are nothing. */
static void i6_without_generations(void)
{
    host_options options = { .without_generations = 1 };
    host *h = host_open(&options);
    size_t calls, i;

    for (i = 0; i < 100; i++)
        ob_given(h, i % 2 == 0 ? P : O, host_new(h, HOST_YOUNG), FULL);
    calls = h->calls.trace + h->calls.survivor;
    host_minor(h);
    check_int(h->calls.trace + h->calls.survivor, calls);
    check_stats(h, 0, 50, 0, 50, 0);
    host_close(h);
}

/* Two heaps do not notice each other, not even with the same p. */
static void i7_two_heaps_side_by_side(void)
{
    zoo a = zoo_new(NULL), b = zoo_new(NULL);
    size_t i;

    for (i = 0; i < SOME; i++) {
        host_unroot(a.h, a.ids[i]);
        rrc_decref(a.h->heap, a.obs[i]);
    }
    host_major(a.h);
    for (i = 0; i < SOME; i++)
        check_ptr(rrc_to_obj(b.h->heap, b.obs[i]), host_at(b.h, b.ids[i]));
    check(host_stats(a.h).pending > 0);
    check_int(host_stats(b.h).pending, 0);
    check_int(rrc_run_pending(b.h->heap, 0), 0);
    check(rrc_run_pending(a.h->heap, 0) > 0);
    check_int(host_stats(b.h).objects, SOME);
    host_close(a.h);
    host_minor(b.h);
    zoo_end(&b);
}

/* The header asks the host to finish what trace queued, after the last trace of a
   major collection. In a minor one the host does that by itself. */
static void the_major_trace_propagates(void)
{
    host *h = host_open(NULL);
    size_t before;

    ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    host_minor(h);
    check_int(h->calls.propagate, 0);
    before = h->calls.propagate;
    host_major_begin(h);
    check(h->calls.propagate > before);
    host_major_end(h);
    host_close(h);
}

UNIT_GROUP(invariants,
    UNIT(i1_count_and_link_of_each_ob),
    UNIT(i2_each_p_knows_its_view_exactly),
    UNIT(i3_no_link_to_the_dead_or_to_where_p_was),
    UNIT(i4_nothing_is_deallocated_in_a_collection),
    UNIT(i5_collections_live_on_what_was_reserved),
    UNIT(i6_old_links_cost_a_minor_collection_nothing),
    UNIT(i6_without_generations),
    UNIT(i7_two_heaps_side_by_side),
    UNIT(the_major_trace_propagates));
