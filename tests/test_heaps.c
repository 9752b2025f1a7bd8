/* Several heaps: side by side, nested in each other's calls, and in threads. */

#define _POSIX_C_SOURCE 200809L

#include "knots.h"
#include "threads.h"

#include <stdlib.h>
#include <string.h>

/* A life of links and collections; the result tells one life from another. */
static uint32_t live(uint32_t seed, size_t rounds)
{
    host_options options = { .moving = seed % 2 == 0 ? HOST_FRESH : HOST_PERMUTE, .reuse = seed % 3 == 0 };
    host *h = host_open(&options);
    uint32_t sum = 0;
    size_t i;

    for (i = 0; i < rounds; i++) {
        size_t id = host_new(h, i % 3 == 0 ? HOST_OLD : HOST_YOUNG);
        rrc_object *ob;

        seed = seed * 1664525u + 1013904223u;
        ob = ob_given(h, seed >> 30 == 0 ? O : P, id, seed >> 29 & 1 ? FULL : LIGHT_OB);
        NODE(ob)->tag = (int)(seed >> 16 & 0xFF);
        if (seed >> 20 & 1)
            host_root(h, id);
        if (seed >> 28 == 3)
            host_unroot(h, (seed >> 8) % h->count);
        if (i % 50 == 49)
            host_minor(h);
        if (i % 120 == 119)
            host_major(h);
        if (i % 30 == 0)
            sum = sum * 31 + (uint32_t)rrc_run_pending(h->heap, 7);
    }
    sum = sum * 31 + (uint32_t)host_stats(h).objects;
    sum = sum * 31 + (uint32_t)h->deallocs;
    check_int(host_free_heap(h), 0);
    host_end(h);
    return sum;
}

static void the_same_life_twice(void)
{
    check_int(live(1, 1000), live(1, 1000));
    check(live(1, 1000) != live(2, 1000));
}

enum { THREADS = 4 };

typedef struct thread_life {
    pthread_t thread;
    uint32_t seed, sum;
} thread_life;

static void *run_thread(void *arg)
{
    thread_life *it = (thread_life *)arg;

    it->sum = live(it->seed, 3000);
    return NULL;
}

/* What threads do at the same time is what they do alone. */
static void a_heap_for_each_thread(void)
{
    thread_life threads[THREADS];
    uint32_t i;

    for (i = 0; i < THREADS; i++) {
        threads[i].seed = i + 1;
        check_int(pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]), 0);
    }
    for (i = 0; i < THREADS; i++)
        check_int(pthread_join(threads[i].thread, NULL), 0);
    for (i = 0; i < THREADS; i++)
        check_int(threads[i].sum, live(i + 1, 3000));
}

/* A dealloc of one heap does everything with the other. */
static void use_another_heap(host *h, rrc_object *ob)
{
    host *other = (host *)h->test;
    rrc_object *view;
    size_t id;

    (void)ob;
    host_major(other);
    id = host_new(other, HOST_YOUNG);
    view = ob_given(other, P, id, FULL);
    check_ptr(rrc_from_obj(other->heap, host_at(other, id)), view);
    host_minor(other);
    check_int(rrc_run_pending(other->heap, 0), 1);
}

static void a_dealloc_may_use_another_heap(void)
{
    host *a = host_open(NULL), *b = host_open(NULL);

    a->test = b;
    a->on_dealloc = use_another_heap;
    ob_given(a, O, host_new(a, HOST_YOUNG), FULL);
    ob_given(a, O, host_new(a, HOST_YOUNG), FULL);
    host_minor(a);
    check_int(rrc_run_pending(a->heap, 0), 2);
    check_int(a->deallocs, 2);
    check_int(b->deallocs, 2);
    host_close(a);
    host_close(b);
}

/* Also inside a collection of the first: the other is in its mutator phase. */
static void a_heap_works_while_another_collects(void)
{
    host *a = host_open(NULL), *b = host_open(NULL);
    size_t id = host_rooted(b, HOST_YOUNG);
    rrc_object *ob = ob_given(b, P, id, FULL);

    host_major_begin(a);
    check_ptr(rrc_from_obj(b->heap, host_at(b, id)), ob);
    host_minor(b);
    check_ptr(rrc_from_obj(b->heap, host_at(b, id)), ob);
    host_major_end(a);
    check_int(host_free_heap(a), 0);
    host_end(a);
    check_int(rrc_unlink(b->heap, ob), RRC_OK);
    host_close(b);
}

#ifdef RRC_DEBUG
/* An object of one heap is handed to another: nothing is done to it. */
static void objects_of_another_heap_are_refused(void)
{
    host *a = host_open(NULL), *b = host_open(NULL);
    rrc_object *ob = ob_new(a, &Node), *tracked = rrc_gc_new(a->heap, &Knot);
    size_t id = host_rooted(b, HOST_YOUNG);
    int kind;

    for (kind = P; kind <= O; kind++) {
        check_int((kind == P ? rrc_create_link_pypy : rrc_create_link_pyobj)(b->heap, host_at(b, id), ob), RRC_EHEAP);
        check_ptr(host_expect_log(b, RRC_EHEAP, NULL)->ob, ob);
        check_int((kind == P ? rrc_create_link_pypy : rrc_create_link_pyobj)(b->heap, host_at(b, id), tracked), RRC_EHEAP);
        check_ptr(host_expect_log(b, RRC_EHEAP, NULL)->ob, tracked);
    }
    check_ptr(rrc_to_obj(a->heap, ob), NULL);
    check_int(rrc_gc_track(b->heap, tracked), RRC_EHEAP);
    host_expect_log(b, RRC_EHEAP, "rrc_gc_track");
    rrc_incref(b->heap, ob);
    host_expect_log(b, RRC_EHEAP, "rrc_incref");
    rrc_decref(b->heap, ob);
    host_expect_log(b, RRC_EHEAP, "rrc_decref");
    check_int(REFCNT(ob), 1);
    check_int(rrc_gc_track(a->heap, tracked), RRC_OK);
    rrc_decref(a->heap, ob);
    rrc_decref(a->heap, tracked);
    check_int(a->deallocs, 2);
    a->events[0] = '\0';
    host_close(a);
    host_close(b);
}

/* An object that the header did not make, although its type says so: nothing may be written in front of it. */
static void objects_of_nobody_are_refused(void)
{
    static const rrc_type Loose = { .tp_name = "Loose", .tp_basicsize = sizeof(node) };
    enum { BEFORE = 64 };
    host *h = host_open(NULL);
    char *memory = (char *)calloc(1, BEFORE + sizeof(node));
    size_t id = host_rooted(h, HOST_OLD);
    rrc_object *ob;
    int kind;

    check(memory != NULL);
    ob = (rrc_object *)(void *)(memory + BEFORE);
    REFCNT(ob) = 1;
    RRC_TYPE(ob) = &Loose;
    rrc_incref(h->heap, ob);
    host_expect_log(h, RRC_ETYPE, "rrc_incref");
    rrc_decref(h->heap, ob);
    host_expect_log(h, RRC_ETYPE, "rrc_decref");
    check_int(REFCNT(ob), 1);
    for (kind = P; kind <= O; kind++) {
        check_int(rrc_link(h->heap, host_at(h, id), ob, kind == P ? RRC_P : RRC_O), RRC_ETYPE);
        check(strstr(host_expect_log(h, RRC_ETYPE, "rrc_link")->detail, "tp_basicsize") != NULL);
    }
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    host_expect_silence(h);
    host_close(h);
    free(memory);
}
#define DEBUG_UNITS , UNIT(objects_of_another_heap_are_refused), UNIT(objects_of_nobody_are_refused)
#else
#define DEBUG_UNITS
#endif

/* Many heaps come and go; those freed early may be husks for long. */
static void husks_among_others(void)
{
    host *hosts[20];
    rrc_object *late[20];
    size_t i;

    for (i = 0; i < 20; i++) {
        hosts[i] = host_open(NULL);
        late[i] = ob_shared(hosts[i], i % 2 == 0 ? P : O, host_rooted(hosts[i], HOST_YOUNG), FULL);
    }
    for (i = 0; i < 20; i += 2)
        check_int(host_free_heap(hosts[i]), 1);
    for (i = 1; i < 20; i += 2) {
        host_minor(hosts[i]);
        check_ptr(rrc_to_obj(hosts[i]->heap, late[i]), host_at(hosts[i], 0));
    }
    for (i = 0; i < 20; i++) {
        rrc_decref(hosts[i]->heap, late[i]);
        check_int(hosts[i]->deallocs, i % 2 == 0);
        if (i % 2 == 0)
            host_end(hosts[i]);
        else
            host_close(hosts[i]);
    }
}

UNIT_GROUP(heaps,
    UNIT(the_same_life_twice),
    UNIT(a_heap_for_each_thread),
    UNIT(a_dealloc_may_use_another_heap),
    UNIT(a_heap_works_while_another_collects),
    UNIT(husks_among_others) DEBUG_UNITS);
