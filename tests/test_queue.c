/* The dealloc queue: what waits there is a normal object; the work is done in
 * portions; depth costs no stack. */

#define _POSIX_C_SOURCE 200809L

#include "objects.h"
#include "threads.h"


/* n objects whose proxies died. */
static void bury(host *h, const rrc_type *type, size_t n, rrc_object **obs)
{
    size_t i;

    for (i = 0; i < n; i++) {
        rrc_object *ob = ob_new(h, type);

        ob_link(h, O, host_new(h, HOST_OLD), ob, FULL);
        rrc_decref(h->heap, ob);
        NODE(ob)->tag = (int)i;
        if (obs != NULL)
            obs[i] = ob;
    }
    host_major(h);
    check_int(host_stats(h).pending, n);
}

static void portions_are_counted(void)
{
    host *h = host_open(NULL);

    bury(h, &Node, 10, NULL);
    check_int(rrc_run_pending(h->heap, 3), 3);
    check_int(h->deallocs, 3);
    check_int(host_stats(h).pending, 7);
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(rrc_run_pending(h->heap, 5), 5);
    check_int(rrc_run_pending(h->heap, 100), 1);
    check_int(rrc_run_pending(h->heap, 100), 0);
    check_int(rrc_run_pending(h->heap, 0), 0);
    check_int(h->deallocs, 10);
    host_close(h);
}

/* What goes because of others counts too, and is left for the next call. */
static void a_portion_ends_within_a_chain(void)
{
    size_t max;

    for (max = 1; max < 120; max += max < 12 ? 1 : 29) {
        host *h = host_open(NULL);
        rrc_object *chain = ob_chain(h, &Node, 100);
        size_t done = 0, n;

        unit_context("portions of %u", (unsigned)max);
        ob_link(h, O, host_new(h, HOST_YOUNG), chain, FULL);
        rrc_decref(h->heap, chain);
        host_minor(h);
        do {
            check(host_stats(h).pending > 0);
            n = rrc_run_pending(h->heap, max);
            check(n <= max);
            check(n == max || done + n == 100);
            done += n;
            check_int(h->deallocs, done);
            check_int(rrc_check(h->heap), RRC_OK);
        } while (done < 100 && n > 0);
        check_int(done, 100);
        check_int(host_stats(h).pending, 0);
        host_close(h);
    }
}

/* What one portion left over is not done by the next decref that happens to
   come along: the mutator's pauses stay short. */
static void a_decref_does_not_run_what_a_portion_left(void)
{
    host *h = host_open(NULL);
    rrc_object *chain = ob_chain(h, &Node, 100), *other = ob_new(h, &Node);

    ob_link(h, O, host_new(h, HOST_OLD), chain, FULL);
    rrc_decref(h->heap, chain);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 10), 10);
    rrc_decref(h->heap, other);
    check_int(h->deallocs, 11);
    check(host_stats(h).pending > 0);
    check_int(rrc_run_pending(h->heap, 0), 90);
    host_close(h);
}

static void next_dead_gives_one_after_the_other(void)
{
    host *h = host_open(NULL);
    rrc_object *obs[5], *ob;
    int seen = 0;

    bury(h, &Node, 5, obs);
    while ((ob = rrc_next_dead(h->heap)) != NULL) {
        check_int(REFCNT(ob), 1);
        check_ptr(RRC_LINK(ob), NULL);
        check_int(seen & (1 << NODE(ob)->tag), 0);
        seen |= 1 << NODE(ob)->tag;
        rrc_decref(h->heap, ob);
    }
    check_int(seen, 31);
    check_int(h->deallocs, 5);
    check_int(host_stats(h).pending, 0);
    host_close(h);
}

/* next_dead also gives what run_pending left over in the midst of a chain. */
static void next_dead_after_a_portion(void)
{
    host *h = host_open(NULL);
    rrc_object *chain = ob_chain(h, &Node, 10), *ob;

    ob_link(h, O, host_new(h, HOST_OLD), chain, FULL);
    rrc_decref(h->heap, chain);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 4), 4);
    ob = rrc_next_dead(h->heap);
    check(ob != NULL);
    check_int(REFCNT(ob), 1);
    check_ptr(RRC_LINK(ob), NULL);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    rrc_incref(h->heap, ob);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 4);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 10);
    host_close(h);
}

static void incref_resurrects(void)
{
    host *h = host_open(NULL);
    rrc_object *obs[3];

    bury(h, &Final, 3, obs);
    rrc_incref(h->heap, obs[1]);
    check_int(rrc_run_pending(h->heap, 0), 3);
    check_int(h->deallocs, 2);
    check_int(h->finalized, 2);
    check_int(REFCNT(obs[1]), 1);
    rrc_decref(h->heap, obs[1]);
    check_int(h->deallocs, 3);
    check_int(h->finalized, 3);
    host_close(h);
}

/* The queue's reference is one from outside: it keeps the p of a new P link. */
static void an_ob_is_linked_again_while_it_waits(void)
{
    int kind, weight;

    for (kind = P; kind <= O; kind++)
        for (weight = FULL; weight <= LIGHT_OB; weight++) {
            host *h = host_open(NULL);
            intptr_t bias = weight == FULL ? BIAS : LIGHT;
            rrc_object *ob;
            size_t id;

            unit_context("%c link, %s", kind == P ? 'P' : 'O', weight == FULL ? "full" : "light");
            bury(h, &Leaf, 1, &ob);
            id = host_new(h, HOST_YOUNG);
            ob_link(h, (link_kind)kind, id, ob, (ob_weight)weight);
            check_int(REFCNT(ob), bias + 1);
            host_minor(h);
            host_major(h);
            check_int(host_is_alive(h, id), kind == P);
            check_int(host_stats(h).pending, 1);
            check_int(REFCNT(ob), kind == P ? bias + 1 : 1);
            check_int(rrc_run_pending(h->heap, 0), 1);
            check_int(h->freed, kind == O);
            if (kind == P) {
                check_int(REFCNT(ob), bias);
                check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
                host_major(h);
                check(!host_is_alive(h, id));
                check_int(rrc_run_pending(h->heap, 0), weight == FULL);
                check_int(h->freed, 1);
            }
            host_close(h);
        }
}

/* An ob that waits, is linked, and whose new p dies before the queue is run:
   still only one dealloc. */
static void an_ob_dies_twice_while_it_waits(void)
{
    host *h = host_open(NULL);
    rrc_object *ob;
    int round;

    bury(h, &Node, 1, &ob);
    for (round = 0; round < 3; round++) {
        ob_link(h, O, host_new(h, round == 1 ? HOST_OLD : HOST_YOUNG), ob, FULL);
        host_major(h);
        check_int(REFCNT(ob), 1);
        check_int(host_stats(h).pending, 1);
    }
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* ---- what a dealloc may do ---- */

static void do_everything(host *h, rrc_object *ob)
{
    rrc_object *fresh, *dead;
    size_t id;

    check_int(rrc_run_pending(h->heap, 0), 0);
    fresh = ob_new(h, &Node);
    if (NODE(ob)->tag >= 0) {
        NODE(fresh)->tag = -1;
        id = host_rooted(h, HOST_YOUNG);
        ob_link(h, NODE(ob)->tag % 2 == 0 ? P : O, id, fresh, FULL);
        check_ptr(rrc_to_obj(h->heap, fresh), host_at(h, id));
    }
    rrc_decref(h->heap, fresh);
    if (NODE(ob)->tag == 3) {
        dead = rrc_next_dead(h->heap);
        check(dead != NULL);
        check(dead != ob);
        rrc_decref(h->heap, dead);
    }
    if (NODE(ob)->tag == 5) {
        host_minor(h);
        host_major(h);
    }
    rrc_invoke_callback(h->heap);
}

static void a_dealloc_may_do_everything(void)
{
    host *h = host_open(NULL);
    size_t i, total = 0;

    bury(h, &Node, 12, NULL);
    h->on_dealloc = NULL;
    for (i = 0; i < 4; i++) {
        if (i == 1)
            h->on_dealloc = do_everything;
        total += rrc_run_pending(h->heap, 3);
        check_int(rrc_check(h->heap), RRC_OK);
        if (i == 1)
            h->on_dealloc = NULL;
    }
    total += rrc_run_pending(h->heap, 0);
    check(h->deallocs >= 12);
    check(total + 1 >= 12);
    host_major(h);
    check_int(host_stats(h).pending, 0);
    check_int(host_stats(h).objects, host_stats(h).p_old + host_stats(h).o_old);
    host_close(h);
}

static void all_deallocs_may_do_everything(void)
{
    host *h = host_open(NULL);

    bury(h, &Node, 12, NULL);
    h->on_dealloc = do_everything;
    rrc_run_pending(h->heap, 0);
    while (rrc_run_pending(h->heap, 0) > 0)
        ;
    h->on_dealloc = NULL;
    check_int(host_stats(h).pending, 0);
    check_int(host_stats(h).objects,
              host_stats(h).p_old + host_stats(h).o_old + host_stats(h).p_young + host_stats(h).o_young);
    host_close(h);
}

static void drop_the_test_object(host *h, rrc_object *ob)
{
    rrc_object *other = (rrc_object *)h->test;

    (void)ob;
    h->test = NULL;
    if (other != NULL)
        rrc_decref(h->heap, other);
}

/* The dealloc of one drops the last reference of another that it does not own. */
static void a_dealloc_may_drop_others(void)
{
    host *h = host_open(NULL);

    bury(h, &Node, 2, NULL);
    h->test = ob_new(h, &Node);
    h->on_dealloc = drop_the_test_object;
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 3);
    host_close(h);
}

static void unlink_the_test_object(host *h, rrc_object *ob)
{
    (void)ob;
    if (h->test != NULL)
        check_int(rrc_unlink(h->heap, (rrc_object *)h->test), RRC_OK);
    h->test = NULL;
}

static void a_dealloc_may_unlink_others(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_OLD);

    h->test = ob_given(h, P, id, FULL);
    bury(h, &Node, 1, NULL);
    h->on_dealloc = unlink_the_test_object;
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 2);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), NULL);
    host_close(h);
}

static void run_the_queue(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_dealloc = NULL;
    check_int(rrc_run_pending(h->heap, 0), 0);
}

/* What waits is not run inside a dealloc, whoever called it. */
static void a_dealloc_does_not_run_the_queue(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    bury(h, &Node, 2, NULL);
    h->on_dealloc = run_the_queue;
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    check_int(host_stats(h).pending, 2);
    h->on_dealloc = run_the_queue;
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* Many die at once, in several collections, taken in uneven portions. */
static void a_long_queue(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t round, i, waiting = 0, done;

    for (round = 0; round < 30; round++) {
        for (i = 0; i < 400; i++)
            ob_given(h, i % 2 == 0 ? P : O, host_new(h, i % 3 == 0 ? HOST_OLD : HOST_YOUNG), FULL);
        if (round % 2 == 0)
            host_minor(h);
        host_major(h);
        waiting += 400;
        check_int(host_stats(h).pending, waiting);
        done = rrc_run_pending(h->heap, 1 + round * 37);
        check_int(done, 1 + round * 37 < waiting ? 1 + round * 37 : waiting);
        waiting -= done;
        check_int(rrc_check(h->heap), RRC_OK);
    }
    check_int(rrc_run_pending(h->heap, 0), waiting);
    check_int(h->deallocs, 12000);
    host_close(h);
}

/* ---- depth ---- */

typedef struct ring {
    OB_HEAD
    rrc_object *next;
} ring;

#define RING(ob) ((ring *)(void *)(ob))

static void ring_dealloc(rrc_heap *heap, rrc_object *self)
{
    HOST(heap)->deallocs++;
    RRC_CLEAR(heap, RING(self)->next);
    rrc_del(heap, self);
}

static void ring_finalize(rrc_heap *heap, rrc_object *self)
{
    (void)self;
    HOST(heap)->finalized++;
}

static const rrc_type Ring = {
    .tp_name = "Ring", .tp_basicsize = sizeof(ring), .tp_dealloc = ring_dealloc,
};
static const rrc_type FinalRing = {
    .tp_name = "FinalRing", .tp_basicsize = sizeof(ring), .tp_dealloc = ring_dealloc,
    .tp_finalize = ring_finalize,
};

static size_t many(void)
{
    return unit_is_quick() || HOST_SANITIZED ? 200000 : 10000000;
}

enum { STACK = 512 * 1024 };

typedef enum way { BY_DECREF, BY_QUEUE, BY_PORTIONS, BY_NEXT_DEAD, BY_HEAP_FREE, IN_A_HUSK } drop_way;

typedef struct long_chain {
    drop_way way;
    const rrc_type *type;
    size_t length, deallocs, finalized, returned;
} long_chain;

/* Runs in a thread of little stack, and so without checks. */
static void *drop_chain(void *arg)
{
    long_chain *c = (long_chain *)arg;
    host_options options = { .plain_memory = 1, .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *first = NULL, *ob;
    size_t i, n, id = host_new(h, HOST_OLD);

    for (i = 0; i < c->length; i++) {
        ob = rrc_new(h->heap, c->type);
        if (ob == NULL)
            return NULL;
        RING(ob)->next = first;
        first = ob;
    }
    if (c->way != BY_DECREF) {
        ob_link(h, O, id, first, FULL);
        if (c->way != IN_A_HUSK)
            rrc_decref(h->heap, first);
        if (c->way != BY_HEAP_FREE && c->way != IN_A_HUSK)
            host_major(h);
    }
    switch (c->way) {
    case BY_DECREF:
        rrc_decref(h->heap, first);
        c->returned = c->length;
        break;
    case BY_QUEUE:
        c->returned = rrc_run_pending(h->heap, 0);
        break;
    case BY_PORTIONS:
        while ((n = rrc_run_pending(h->heap, 1000)) > 0)
            c->returned += n > 1000 ? c->length : n;
        break;
    case BY_NEXT_DEAD:
        while ((ob = rrc_next_dead(h->heap)) != NULL)
            rrc_decref(h->heap, ob);
        c->returned = c->length;
        break;
    case BY_HEAP_FREE:
    case IN_A_HUSK:
        c->returned = c->length;
    }
    n = host_free_heap(h);
    if (n != (c->way == IN_A_HUSK))
        c->returned = n;
    if (c->way == IN_A_HUSK)
        rrc_decref(h->heap, first);
    c->deallocs = h->deallocs;
    c->finalized = h->finalized;
    host_end(h);
    return NULL;
}

static void drop_long_chain(drop_way way, const rrc_type *type, size_t length)
{
    long_chain c = { way, type, length, 0, 0, 0 };
    pthread_attr_t attr;
    pthread_t thread;

    check_int(pthread_attr_init(&attr), 0);
    check_int(pthread_attr_setstacksize(&attr, STACK), 0);
    check_int(pthread_create(&thread, &attr, drop_chain, &c), 0);
    check_int(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    check_int(c.deallocs, length);
    check_int(c.finalized, type == &FinalRing ? length : 0);
    check_int(c.returned, length);
}

static void ten_million_by_decref(void) { drop_long_chain(BY_DECREF, &Ring, many()); }
static void ten_million_by_the_queue(void) { drop_long_chain(BY_QUEUE, &Ring, many()); }
static void ten_million_in_portions(void) { drop_long_chain(BY_PORTIONS, &Ring, many()); }
static void long_chain_by_next_dead(void) { drop_long_chain(BY_NEXT_DEAD, &Ring, many() / 10); }
static void long_chain_by_heap_free(void) { drop_long_chain(BY_HEAP_FREE, &Ring, many() / 10); }
static void long_chain_in_a_husk(void) { drop_long_chain(IN_A_HUSK, &Ring, many() / 10); }

static void long_chain_with_finalizers(void)
{
    int way;

    for (way = BY_DECREF; way <= IN_A_HUSK; way++)
        drop_long_chain((drop_way)way, &FinalRing, many() / 50);
}

/* What was put off is taken by the dealloc of another object, before its turn comes. */
static rrc_object *put_off;

static void take_what_was_put_off(host *h, rrc_object *ob)
{
    if (NODE(ob)->tag == -1)
        rrc_incref(h->heap, put_off);
}

static void taken_before_its_turn(void)
{
    host *h = host_open(NULL);
    rrc_object *owner = ob_new(h, &Node), *taker = ob_new(h, &Node), *ob;
    int depth = 0;

    NODE(owner)->ref[0] = ob_chain(h, &Node, 200);
    NODE(owner)->ref[1] = taker;
    NODE(taker)->tag = -1;
    for (ob = NODE(owner)->ref[0]; depth < 48; depth++)     /* the 50th is the last that is not put off */
        ob = NODE(ob)->ref[0];
    put_off = NODE(ob)->ref[0];
    h->on_dealloc = take_what_was_put_off;
    rrc_decref(h->heap, owner);
    check(REFCNT(put_off) >= 1);
    rrc_decref(h->heap, put_off);
    check_int(h->deallocs, 202);
    host_close(h);
}

UNIT_GROUP(queue,
    UNIT(taken_before_its_turn),
    UNIT(portions_are_counted),
    UNIT(a_portion_ends_within_a_chain),
    UNIT(a_decref_does_not_run_what_a_portion_left),
    UNIT(next_dead_gives_one_after_the_other),
    UNIT(next_dead_after_a_portion),
    UNIT(incref_resurrects),
    UNIT(an_ob_is_linked_again_while_it_waits),
    UNIT(an_ob_dies_twice_while_it_waits),
    UNIT(a_dealloc_may_do_everything),
    UNIT(all_deallocs_may_do_everything),
    UNIT(a_dealloc_may_drop_others),
    UNIT(a_dealloc_may_unlink_others),
    UNIT(a_dealloc_does_not_run_the_queue),
    UNIT(a_long_queue),
    UNIT(ten_million_by_decref),
    UNIT(ten_million_by_the_queue),
    UNIT(ten_million_in_portions),
    UNIT(long_chain_by_next_dead),
    UNIT(long_chain_by_heap_free),
    UNIT(long_chain_in_a_husk),
    UNIT(long_chain_with_finalizers));
