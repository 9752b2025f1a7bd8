/* Links follow their p, and the dictionary keeps up: many links, killed and
 * moved in all ways, addresses taken over by others. */

#include "objects.h"

#include <stdlib.h>

static uint32_t seed;

static uint32_t chance(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

typedef struct pair {
    size_t id;
    rrc_object *ob;
    link_kind kind;
} pair;

typedef struct herd {
    host *h;
    pair *pairs;
    size_t count, live;
} herd;

static herd herd_new(const host_options *options, size_t count)
{
    herd all;

    all.h = host_open(options);
    all.pairs = (pair *)malloc(count * sizeof *all.pairs);
    all.count = 0;
    all.live = 0;
    check(all.pairs != NULL);
    return all;
}

static void herd_add(herd *all, host_kind p, link_kind kind, ob_weight weight)
{
    pair *one = &all->pairs[all->count++];

    one->id = host_rooted(all->h, p);
    one->kind = kind;
    one->ob = ob_given(all->h, kind, one->id, weight);
    all->live++;
}

static void herd_kill(herd *all, size_t i)
{
    if (all->pairs[i].ob != NULL) {
        host_unroot(all->h, all->pairs[i].id);
        all->pairs[i].ob = NULL;
        all->live--;
    }
}

/* The two of each live pair find each other. */
static void herd_check(const herd *all)
{
    size_t i;

    for (i = 0; i < all->count; i++) {
        const pair *one = &all->pairs[i];
        rrc_gcref p = host_at(all->h, one->id);

        if (one->ob == NULL)
            continue;
        check(p != NULL);
        check_ptr(RRC_LINK(one->ob), p);
        check_ptr(rrc_from_obj(all->h->heap, p), one->kind == P ? one->ob : NULL);
    }
}

static void herd_end(herd *all)
{
    free(all->pairs);
    host_close(all->h);
}

/* In rounds: make some of all sorts, kill some, collect somehow. */
static void churn(const host_options *options, size_t rounds, size_t per_round, unsigned kill)
{
    herd all = herd_new(options, rounds * per_round);
    size_t i, r;

    for (r = 0; r < rounds; r++) {
        unit_context("round %u", (unsigned)r);
        for (i = 0; i < per_round; i++)
            herd_add(&all, chance(3) == 0 ? HOST_OLD : chance(20) == 0 ? HOST_LARGE : HOST_YOUNG,
                     chance(3) == 0 ? O : P, chance(2) == 0 ? LIGHT_OB : FULL);
        for (i = 0; i < all.count; i++)
            if (chance(100) < kill)
                herd_kill(&all, i);
        if (chance(2) == 0)
            host_minor(all.h);
        if (chance(2) == 0)
            host_major(all.h);
        herd_check(&all);
        if (chance(4) == 0)
            rrc_run_pending(all.h->heap, chance(100));
    }
    host_major(all.h);
    rrc_run_pending(all.h->heap, 0);
    herd_check(&all);
    check_int(host_stats(all.h).objects, all.live);
    herd_end(&all);
}

static void churn_on_each_host(size_t rounds, size_t per_round, unsigned kill)
{
    static const host_options hosts[] = {
        { .unchecked = 1 },
        { .unchecked = 1, .moving = HOST_PERMUTE },
        { .unchecked = 1, .moving = HOST_STAY, .reuse = 1 },
        { .unchecked = 1, .reuse = 1, .stays_young = 1 },
        { .unchecked = 1, .moving = HOST_EVACUATE },
        { .unchecked = 1, .reuse = 1, .moving = HOST_PERMUTE, .without_generations = 1 },
    };
    size_t i;

    for (i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        seed = (uint32_t)i + 1;
        churn(&hosts[i], rounds, per_round, kill);
    }
}

static void few_links_die(void) { churn_on_each_host(12, 300, 1); }
static void many_links_die(void) { churn_on_each_host(25, 300, 40); }
static void almost_all_die(void) { churn_on_each_host(25, 300, 95); }
static void small_heaps(void) { churn_on_each_host(300, 3, 30); }

/* All survivors of a major collection live where others lived before. */
static void addresses_rotate(void)
{
    host_options options = { .moving = HOST_PERMUTE, .unchecked = 1 };
    herd all = herd_new(&options, 2000);
    size_t i, round;

    for (i = 0; i < 2000; i++)
        herd_add(&all, HOST_OLD, P, FULL);
    for (round = 0; round < 20; round++) {
        host_major(all.h);
        herd_check(&all);
        herd_kill(&all, round * 50);
    }
    check_int(rrc_check(all.h->heap), RRC_OK);
    herd_end(&all);
}

/* A new p is born where a dead one lived, and must not inherit its ob. */
static void a_new_p_takes_a_dead_ones_address(void)
{
    host_options options = { .reuse = 1, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t dead = host_new(h, HOST_OLD), next;
    rrc_gcref address = host_at(h, dead);
    rrc_object *first = ob_given(h, P, dead, FULL), *second;

    host_major(h);
    next = host_rooted(h, HOST_OLD);
    check_ptr(host_at(h, next), address);
    check_ptr(rrc_from_obj(h->heap, address), NULL);
    check_int(REFCNT(first), 1);
    second = ob_given(h, P, next, FULL);
    check_ptr(rrc_from_obj(h->heap, address), second);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_ptr(rrc_from_obj(h->heap, address), second);
    host_close(h);
}

/* A survivor of a minor collection moves to where a linked old p died. */
static void a_young_p_moves_to_a_dead_ones_address(void)
{
    host_options options = { .reuse = 1 };
    host *h = host_open(&options);
    size_t dead = host_new(h, HOST_OLD), young = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_given(h, P, young, FULL);

    ob_given(h, P, dead, LIGHT_OB);
    host_minor(h);
    host_major(h);
    host_major(h);
    check_ptr(rrc_from_obj(h->heap, host_at(h, young)), ob);
    check_stats(h, 0, 1, 0, 0, 0);
    host_close(h);
}

/* A host that evacuates a few objects in each collection: no new links are made
   in between, so that nothing is reserved anew. */
static void evacuate(size_t count)
{
    host_options options = { .unchecked = 1, .hoard = 1, .moving = HOST_EVACUATE };
    herd all = herd_new(&options, count);
    size_t i, round;

    for (i = 0; i < count; i++)
        herd_add(&all, HOST_OLD, P, FULL);
    for (round = 0; round < 400; round++) {
        unit_context("%u links, round %u", (unsigned)count, (unsigned)round);
        host_major(all.h);
        if (round % 40 == 0) {
            herd_check(&all);
            check_int(rrc_check(all.h->heap), RRC_OK);
        }
    }
    herd_check(&all);
    for (i = 0; i < 50; i++) {
        host_new(all.h, HOST_OLD);
        check_ptr(rrc_from_obj(all.h->heap, host_at(all.h, all.h->count - 1)), NULL);
    }
    herd_end(&all);
}

/* A table may be more or less full when it begins. */
static void a_few_move_in_each_of_many_collections(void)
{
    size_t count;

    for (count = 600; count < 1000; count += 60)
        evacuate(count);
}

static void a_link_is_known_at_the_new_address_only(void)
{
    host_options options = { .reuse = 1 };
    host *h = host_open(&options);
    size_t id = host_rooted(h, HOST_YOUNG), round;
    rrc_object *ob = ob_given(h, P, id, FULL);
    rrc_gcref old = host_at(h, id);

    for (round = 0; round < 4; round++) {
        if (round == 1)
            host_minor(h);
        else
            host_major(h);
        check_int(host_at(h, id) != old, HOST_MOVES && round != 1);
        check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        if (!HOST_SLOT && HOST_MOVES && round != 1)
            check_ptr(rrc_from_obj(h->heap, old), NULL);
        old = host_at(h, id);
    }
    host_close(h);
}

/* Links are asked for in random order, some gone by unlink. */
static void unlinking_at_random(void)
{
    static const host_options hosts[] = {
        { .unchecked = 1 }, { .unchecked = 1, .moving = HOST_PERMUTE, .stays_young = 1 },
    };
    size_t which;

    for (which = 0; which < 2; which++) {
        herd all = herd_new(&hosts[which], 3000);
        size_t i;

        seed = 7;
        for (i = 0; i < 3000; i++) {
            herd_add(&all, chance(2) == 0 ? HOST_OLD : HOST_YOUNG, chance(2) == 0 ? O : P, FULL);
            if (chance(3) == 0) {
                size_t victim = chance((uint32_t)all.count);
                rrc_object *ob = all.pairs[victim].ob;

                if (ob != NULL) {
                    rrc_gcref p = host_at(all.h, all.pairs[victim].id);

                    rrc_incref(all.h->heap, ob);
                    check_int(rrc_unlink(all.h->heap, ob), RRC_OK);
                    check_int(REFCNT(ob), 1);
                    check_ptr(rrc_from_obj(all.h->heap, p), NULL);
                    rrc_decref(all.h->heap, ob);
                    herd_kill(&all, victim);
                }
            }
            if (chance(200) == 0) {
                host_minor(all.h);
                herd_check(&all);
            }
            if (chance(300) == 0) {
                host_major(all.h);
                herd_check(&all);
                check_int(rrc_check(all.h->heap), RRC_OK);
            }
        }
        check_int(host_stats(all.h).objects, all.live);
        herd_check(&all);
        herd_end(&all);
    }
}

/* Links that come and go without a collection leave nothing in the dictionary. */
static void links_come_and_go(void)
{
    enum { LINKS = 781, POOL = 2 * LINKS, ROUNDS = 20000 };     /* the most for a dictionary of that size */
    host *h = host_open(NULL);
    size_t ids[POOL], i, round, memory = 0;     /* ids[0 .. LINKS) have the links */
    rrc_object *obs[LINKS];
    unsigned random = 1;

    for (i = 0; i < POOL; i++)
        ids[i] = host_rooted(h, HOST_OLD);
    for (i = 0; i < LINKS; i++)
        obs[i] = ob_shared(h, P, ids[i], FULL);
    for (round = 0; round < ROUNDS; round++) {
        size_t from, to, id;

        random = random * 1664525 + 1013904223;
        from = (random >> 8) % LINKS;
        to = LINKS + (random >> 4) % LINKS;
        check_int(rrc_unlink(h->heap, obs[from]), RRC_OK);
        id = ids[from];
        ids[from] = ids[to];
        ids[to] = id;
        ob_link(h, P, ids[from], obs[from], FULL);
        if (round == 0)
            memory = host_stats(h).memory;
        check(host_stats(h).memory <= memory + 2 * LINKS * 8);      /* (two tables, while one replaces the other) */
        if (round % 1000 == 999) {
            check_int(rrc_check(h->heap), RRC_OK);
            for (i = 0; i < POOL; i++)
                check_ptr(rrc_from_obj(h->heap, host_at(h, ids[i])), i < LINKS ? obs[i] : NULL);
        }
    }
    for (i = 0; i < LINKS; i++)
        rrc_decref(h->heap, obs[i]);
    host_close(h);
}

UNIT_GROUP(movement,
    UNIT(links_come_and_go),
    UNIT(few_links_die),
    UNIT(many_links_die),
    UNIT(almost_all_die),
    UNIT(small_heaps),
    UNIT(addresses_rotate),
    UNIT(a_new_p_takes_a_dead_ones_address),
    UNIT(a_young_p_moves_to_a_dead_ones_address),
    UNIT(a_few_move_in_each_of_many_collections),
    UNIT(a_link_is_known_at_the_new_address_only),
    UNIT(unlinking_at_random));
