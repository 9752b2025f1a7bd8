/* References that other threads drop (rrc_decref_later): what the heap's thread does about them. mail.c has the
 * threads. */

#include "knots.h"
#include "threads.h"

#include <string.h>

static void send(host *h, rrc_object *ob)
{
    rrc_incref(h->heap, ob);
    check_int(rrc_decref_later(h->heap, ob), RRC_OK);
}

static void a_reference_is_dropped_later(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    check_int(rrc_decref_later(h->heap, ob), RRC_OK);
    check_int(REFCNT(ob), 1);
    check_int(h->deallocs, 0);
    check_int(host_stats(h).pending, 1);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    check_int(rrc_run_pending(h->heap, 0), 2);      /* the reference, and the object */
    check_int(h->deallocs, 1);
    check_int(host_stats(h).pending, 0);
    check_int(rrc_run_pending(h->heap, 0), 0);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    check_int(rrc_decref_later(NULL, ob), RRC_ENULL);
    check_int(rrc_decref_later(h->heap, NULL), RRC_ENULL);
    host_close(h);
}

/* Each counts in max. */
static void some_at_a_time(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    int i;

    for (i = 0; i < 10; i++)
        send(h, ob);
    check_int(REFCNT(ob), 11);
    check_int(rrc_run_pending(h->heap, 3), 3);
    check_int(REFCNT(ob), 8);
    for (i = 0; i < 5; i++)
        send(h, ob);
    check_int(rrc_run_pending(h->heap, 8), 8);      /* those that were fetched, and one of the others */
    check_int(REFCNT(ob), 5);
    check_int(host_stats(h).pending, 1);
    check_int(rrc_run_pending(h->heap, 8), 4);
    check_int(REFCNT(ob), 1);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* Without a limit all go that have come, also if some were fetched before. */
static void all_that_have_come(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    send(h, ob);
    send(h, ob);
    check_int(rrc_run_pending(h->heap, 1), 1);
    send(h, ob);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(REFCNT(ob), 1);
    check_int(host_stats(h).pending, 0);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* However many come, objects of the queue go, too; and none of both waits for ever. */
static void mail_and_the_queue_share_a_limit(void)
{
    size_t max;

    for (max = 1; max < 5; max++) {
        host *h = host_open(NULL);
        rrc_object *ob = ob_new(h, &Node);
        int i, k;

        unit_context("a limit of %d", (int)max);
        for (i = 0; i < 10; i++)
            ob_given(h, O, host_new(h, HOST_OLD), FULL);
        for (i = 0; i < 10; i++)
            send(h, ob);
        host_major(h);
        for (i = 0; i < 10; i++) {
            for (k = 0; k < (int)max; k++)
                send(h, ob);
            check_int(rrc_run_pending(h->heap, max), max);
        }
        check_int(h->deallocs, 10);
        for (i = 0; REFCNT(ob) > 1; i++)
            check(rrc_run_pending(h->heap, max) > 0);
        check(i > 0);
        rrc_decref(h->heap, ob);
        host_close(h);
    }
}

/* In a collection a reference that waits counts as held. */
static void what_waits_is_held(void)
{
    host *h = host_open(NULL);
    rrc_object *ring = knot_ring(h, &Knot, 3, NULL), *view;
    size_t p = host_new(h, HOST_OLD);

    view = ob_given(h, P, p, FULL);
    send(h, view);
    send(h, ring);
    host_major(h);
    check_ptr(rrc_to_obj(h->heap, view), host_at(h, p));
    check_int(host_stats(h).tracked, 3);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 0);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).objects, 0);
    h->events[0] = '\0';
    host_close(h);
}

static void letters_need_memory(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    unit_letters_fail = 1;
    check_int(rrc_decref_later(h->heap, ob), RRC_ENOMEM);
    unit_letters_fail = 0;
    check_int(REFCNT(ob), 1);
    check_int(host_stats(h).pending, 0);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* A dealloc that drops another object later, also while the heap ends. */
static rrc_object *dropped_in_dealloc;

static void drop_another(host *h, rrc_object *ob)
{
    rrc_object *other = dropped_in_dealloc;

    (void)ob;
    dropped_in_dealloc = NULL;
    if (other != NULL)
        check_int(rrc_decref_later(h->heap, other), RRC_OK);
}

static void at_the_end(void)
{
    host *h = host_open(NULL);
    rrc_object *first = ob_new(h, &Node), *held = ob_new(h, &Node);

    dropped_in_dealloc = ob_new(h, &Node);
    h->on_dealloc = drop_another;
    ob_link(h, O, host_rooted(h, HOST_OLD), first, FULL);
    rrc_decref(h->heap, first);
    send(h, held);
    host_free_heap(h);
    check_int(h->deallocs, 2);              /* the first one, and the one that it dropped */
    check_int(REFCNT(held), 1);
    check_int(rrc_decref_later(h->heap, held), RRC_ECLOSED);
    check_int(REFCNT(held), 1);
    rrc_decref(h->heap, held);
    check_int(h->deallocs, 3);
    host_end(h);
}

/* An object that makes another one whenever it goes, for ever: the end is given up, and the letters are freed. */
static rrc_object *phoenix;

static void rise(host *h, rrc_object *ob)
{
    (void)ob;
    phoenix = rrc_new(h->heap, &Node);
    check(phoenix != NULL);
    if (rrc_decref_later(h->heap, phoenix) != RRC_OK)
        h->on_dealloc = NULL;
}

static void an_end_that_is_given_up(void)
{
    host *h = host_open(NULL);

    h->on_dealloc = rise;
    check_int(rrc_decref_later(h->heap, ob_new(h, &Node)), RRC_OK);
    host_free_heap(h);
    h->on_dealloc = NULL;
    check_int(rrc_decref_later(h->heap, phoenix), RRC_ECLOSED);
    rrc_decref(h->heap, phoenix);
    host_end(h);
}

/* Another thread sends a letter just before the end of the heap closes its mailbox ... */
static host *ending;

static void send_last(uintptr_t value)
{
    rrc_object *last = dropped_in_dealloc;

    if (value != 0 && last != NULL) {
        dropped_in_dealloc = NULL;
        check_int(rrc_decref_later(ending->heap, last), RRC_OK);
    }
}

/* ... or just before this thread sends one. */
static void a_letter_between(void)
{
    if (UNIT_LOCKS) {
        ending = host_open(NULL);
        dropped_in_dealloc = ob_new(ending, &Node);
        unit_on_swap = send_last;
        check_int(rrc_decref_later(ending->heap, ob_new(ending, &Node)), RRC_OK);
        unit_on_swap = NULL;
        check_ptr(dropped_in_dealloc, NULL);
        rrc_run_pending(ending->heap, 0);
        check_int(ending->deallocs, 2);
        host_close(ending);
    }
}

static void the_last_letter(void)
{
    if (UNIT_LOCKS) {
        ending = host_open(NULL);
        dropped_in_dealloc = ob_new(ending, &Node);
        unit_on_swap = send_last;
        host_free_heap(ending);
        unit_on_swap = NULL;
        check_ptr(dropped_in_dealloc, NULL);
        check_int(ending->deallocs, 1);
        host_end(ending);
    }
}

/* Some real threads. */
typedef struct sender {
    rrc_heap *heap;
    rrc_object *ob;
} sender;

enum { SENDERS = 4, SENT = 20000 };

static void *send_many(void *arg)
{
    const sender *s = (const sender *)arg;
    int i;

    for (i = 0; i < SENT; i++)
        if (rrc_decref_later(s->heap, s->ob) != RRC_OK)
            return arg;
    return NULL;
}

static void from_threads(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    pthread_t thread[SENDERS];
    sender s;
    int i;

    s.heap = h->heap;
    s.ob = ob;
    for (i = 0; i < SENDERS * SENT; i++)
        rrc_incref(h->heap, ob);
    for (i = 0; i < SENDERS; i++)
        check_int(pthread_create(&thread[i], NULL, send_many, &s), 0);
    while (REFCNT(ob) > 1)
        rrc_run_pending(h->heap, 100);
    for (i = 0; i < SENDERS; i++)
        check_int(pthread_join(thread[i], NULL), 0);
    check_int(h->deallocs, 0);
    rrc_decref(h->heap, ob);
    host_close(h);
}

UNIT_GROUP(mail,
    UNIT(a_reference_is_dropped_later),
    UNIT(some_at_a_time), UNIT(all_that_have_come), UNIT(mail_and_the_queue_share_a_limit),
    UNIT(what_waits_is_held),
    UNIT(letters_need_memory),
    UNIT(at_the_end),
    UNIT(an_end_that_is_given_up),
    UNIT(a_letter_between),
    UNIT(the_last_letter),
    UNIT(from_threads));
