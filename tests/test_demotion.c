/* Hosts whose old objects can become young again. */

#include "objects.h"

static host *open_demoting(void)
{
    host_options options = { .demotes = 1, .moving = HOST_STAY };

    return host_open(&options);
}

/* Until the next major collection it counts as old: then it can die in a minor one. */
static void a_demoted_p_can_die_young(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = open_demoting();
        size_t id = host_rooted(h, HOST_OLD);
        rrc_object *ob = ob_given(h, (link_kind)kind, id, FULL);

        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);   /* there is room for young links */
        unit_context("link %d", kind);
        host_demote(h, id);
        check_int(rrc_check(h->heap), RRC_OK);
        host_minor(h);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        check_stats(h, 0, 1 + (kind == P), 0, kind == O, 0);
        host_major(h);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        check_stats(h, kind == P, 1, kind == O, 0, 0);
        host_unroot(h, id);
        host_minor(h);
        check(!host_is_alive(h, id));
        check_stats(h, 0, 1, 0, 0, 1);
        check_int(rrc_run_pending(h->heap, 0), 1);
        check_int(h->deallocs, 1);
        host_close(h);
    }
}

static void a_demoted_p_has_one_p_link(void)
{
    host *h = open_demoting();
    size_t id = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_given(h, P, id, FULL), *other = ob_new(h, &Node);

    host_demote(h, id);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), other), RRC_EPLINKED);
    host_expect_log(h, RRC_EPLINKED, "rrc_create_link_pypy");
    rrc_decref(h->heap, other);
    host_close(h);
}

/* Thousands at a time, though no link was ever young: there is no room for them, so
   that minor collections look at all, until a link is made. */
static void thousands_find_room_in_the_end(void)
{
    enum { COUNT = 3000 };
    host *h = open_demoting();
    size_t ids[COUNT], i;
    rrc_object *obs[COUNT];
    rrc_stats stats;

    for (i = 0; i < COUNT; i++) {
        ids[i] = host_rooted(h, HOST_OLD);
        obs[i] = ob_given(h, i % 4 == 0 ? O : P, ids[i], FULL);
    }
    for (i = 0; i < COUNT; i++)
        host_demote(h, ids[i]);
    host_major(h);
    for (i = 0; i < COUNT; i += 10)
        host_unroot(h, ids[i]);
    rrc_incref(h->heap, obs[10]);       /* a P link that C holds; obs[20] is an O link */
    rrc_incref(h->heap, obs[20]);
    host_minor(h);
    check_int(host_stats(h).pending, COUNT / 10 - 2);
    for (i = 0; i < COUNT; i++)
        check_int(host_is_alive(h, ids[i]), i % 10 != 0 || i == 10);
    rrc_run_pending(h->heap, 0);
    for (i = 0; i < COUNT; i++)
        if (host_is_alive(h, ids[i]))
            host_demote(h, ids[i]);
    ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    host_major(h);
    stats = host_stats(h);
    check_int(stats.p_young + stats.o_young, COUNT - COUNT / 10 + 1);
    check_int(stats.p_old + stats.o_old, 1);
    for (i = 0; i < COUNT; i++)
        if (host_is_alive(h, ids[i]))
            check_ptr(rrc_to_obj(h->heap, obs[i]), host_at(h, ids[i]));
    rrc_decref(h->heap, obs[10]);
    rrc_decref(h->heap, obs[20]);
    host_close(h);
}

/* Few links are young when many are demoted. */
static void many_are_demoted(void)
{
    enum { MANY = 100000, SOME = 5000 };
    static size_t ids[MANY];
    host_options options = { .demotes = 1, .unchecked = 1 };
    host *h = host_open(&options);
    size_t i;

    for (i = 0; i < MANY; i++) {
        ids[i] = host_rooted(h, HOST_YOUNG);
        ob_given(h, P, ids[i], FULL);
    }
    host_minor(h);
    for (i = 0; i < SOME; i++)
        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    host_minor(h);
    ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    for (i = 0; i < MANY; i++)
        host_demote(h, ids[i]);
    host_major(h);
    ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);   /* makes room for all */
    for (i = 0; i < MANY; i++)
        host_demote(h, ids[i]);
    host_major(h);
    check(host_stats(h).p_young >= MANY);
    for (i = 0; i < SOME; i++)
        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

/* Minor collections look for those that found no room among the old ones, and leave
   the others alone. */
static void only_the_crowded_out_are_asked_for(void)
{
    enum { COUNT = 200 };
    host *h = open_demoting();
    size_t ids[COUNT], i;

    for (i = 0; i < COUNT; i++) {
        ids[i] = host_rooted(h, HOST_OLD);
        ob_given(h, i % 2 ? O : P, ids[i], FULL);
    }
    for (i = 0; i < 20; i++)
        host_demote(h, ids[i]);
    host_major(h);
    check_int(host_stats(h).p_young, HOST_SLOT ? 10 : 0);   /* no dictionary, no room */
    for (i = 0; i < COUNT; i++)
        host_unroot(h, ids[i]);                 /* what is old is not looked at, and lives on */
    h->calls.survivor = 0;
    host_minor(h);
    check_int(h->calls.survivor, 20);
    check_int(host_stats(h).pending, 20);
    check_int(rrc_run_pending(h->heap, 0), 20);
    host_close(h);
}

/* One is enough to be looked for, whether C holds it or not; when there is room for it, the old ones
   are left alone again. */
static void one_is_crowded_out(void)
{
    enum { OTHERS = 50 };
    int held, i;

    for (held = 0; held < 2; held++) {
        host *h = open_demoting();
        size_t id = host_rooted(h, HOST_OLD);
        rrc_object *ob = ob_given(h, P, id, FULL);

        unit_context("held %d", held);
        for (i = 0; i < OTHERS; i++)
            ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
        host_demote(h, id);
        host_major(h);
        if (held)
            rrc_incref(h->heap, ob);
        host_unroot(h, id);
        host_minor(h);
        check_int(host_is_alive(h, id), held);
        check_int(rrc_run_pending(h->heap, 0), !held);
        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);
        host_major(h);
        h->options.unchecked = 1;               /* (rrc_check asks for each) */
        h->calls.is_young = 0;
        host_minor(h);
        check(h->calls.is_young < OTHERS);
        if (held)
            rrc_decref(h->heap, ob);
        host_close(h);
    }
}

/* The dictionary of the old links keeps the room for those that became young to come back: rrc_check looks. */
static void demotion_leaves_room_for_promotion(void)
{
    enum { MOST = 2000 };
    size_t ids[MOST + 1], i, count, step;

    for (step = 0; step < 12; step++) {
        host *h = open_demoting();

        count = MOST - step * 60;       /* more or less full */
        unit_context("%u links", (unsigned)count);
        for (i = 0; i < count; i++) {
            ids[i] = host_rooted(h, HOST_OLD);
            ob_given(h, P, ids[i], FULL);
        }
        for (i = 0; i < count; i++)
            host_demote(h, ids[i]);
        host_major(h);
        ob_given(h, P, host_rooted(h, HOST_YOUNG), FULL);   /* makes room for all */
        for (i = 0; i < count; i++)
            host_demote(h, ids[i]);
        host_major(h);
        check_int(host_stats(h).p_young, count);
        for (i = 0; i < 3; i++)
            host_minor(h);
        check_int(host_stats(h).p_old, count + 1);
        host_close(h);
    }
}

/* Optional dictionaries are given up where there is no room; rrc_unlink finds all links. */
static void any_dictionary_may_be_too_small(void)
{
    enum { COUNT = 1500 };
    host *h = open_demoting();
    size_t ids[COUNT], i;
    rrc_object *obs[COUNT], *young[500];

    for (i = 0; i < 500; i++)
        young[i] = ob_given(h, i % 2 ? P : O, host_rooted(h, HOST_YOUNG), FULL);
    for (i = 0; i < COUNT; i++) {
        ids[i] = host_rooted(h, HOST_OLD);
        obs[i] = ob_given(h, i % 2 ? P : O, ids[i], FULL);
    }
    for (i = 0; i < 2; i++)
        check_int(rrc_unlink(h->heap, obs[i]), RRC_OK);
    for (i = 0; i < 450; i++)
        check_int(rrc_unlink(h->heap, young[i]), RRC_OK);
    rrc_run_pending(h->heap, 0);
    for (i = 2; i < COUNT; i++)
        host_demote(h, ids[i]);
    host_major(h);
    for (i = 2; i < COUNT; i++)
        check_int(rrc_unlink(h->heap, obs[i]), RRC_OK);
    for (i = 450; i < 500; i++)
        check_int(rrc_unlink(h->heap, young[i]), RRC_OK);
    check_stats(h, 0, 0, 0, 0, COUNT - 2 + 50);
    rrc_run_pending(h->heap, 0);
    host_close(h);
}

/* The optional dictionary of a young list that is empty now is given up, too. */
static void an_empty_dictionary_may_be_too_small(void)
{
    enum { YOUNG = 100, COUNT = 500 };
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = open_demoting();
        size_t ids[COUNT], i;
        rrc_object *obs[COUNT], *young[YOUNG];

        unit_context("link %d", kind);
        for (i = 0; i < YOUNG; i++)
            young[i] = ob_given(h, (link_kind)kind, host_rooted(h, HOST_YOUNG), FULL);
        for (i = 0; i < COUNT; i++) {
            ids[i] = host_rooted(h, HOST_OLD);
            obs[i] = ob_given(h, (link_kind)kind, ids[i], FULL);
        }
        for (i = 0; i < YOUNG; i++)
            check_int(rrc_unlink(h->heap, young[i]), RRC_OK);
        for (i = 0; i < COUNT; i++)
            host_demote(h, ids[i]);
        host_major(h);
        if (HOST_SLOT || kind == O)             /* else they were crowded out */
            check_stats(h, kind == P ? COUNT : 0, 0, kind == O ? COUNT : 0, 0, YOUNG);
        for (i = 0; i < COUNT; i++)
            check_int(rrc_unlink(h->heap, obs[i]), RRC_OK);
        check_int(rrc_run_pending(h->heap, 0), YOUNG + COUNT);
        host_close(h);
    }
}

#if !HOST_MACROS
static void without_generations_nothing_is_demoted(void)
{
    host_options options = { .demotes = 1, .moving = HOST_STAY, .without_generations = 1 };
    host *h = host_open(&options);

    ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
    host_major(h);
    check_stats(h, 0, 1, 0, 0, 0);
    host_close(h);
}
#define WITHOUT_GENERATIONS UNIT(without_generations_nothing_is_demoted),
#else
#define WITHOUT_GENERATIONS
#endif

/* A p that is young again, of a host that did not say that this can be. */
static void youth_that_was_not_announced(void)
{
    host_options options = { .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t id = host_rooted(h, HOST_OLD);

    ob_given(h, P, id, FULL);
    h->options.demotes = 1;
    host_demote(h, id);
    check_int(rrc_check(h->heap), RRC_EHOOK);
    host_expect_log(h, RRC_EHOOK, "rrc_check");
    check_int(host_free_heap(h), 0);
    host_end(h);
}

UNIT_GROUP(demotion,
    UNIT(an_empty_dictionary_may_be_too_small),
    UNIT(any_dictionary_may_be_too_small),
    UNIT(youth_that_was_not_announced), WITHOUT_GENERATIONS
    UNIT(only_the_crowded_out_are_asked_for), UNIT(one_is_crowded_out), UNIT(demotion_leaves_room_for_promotion),
           UNIT(a_demoted_p_can_die_young), UNIT(a_demoted_p_has_one_p_link),
           UNIT(thousands_find_room_in_the_end), UNIT(many_are_demoted));
