/* Threads drop references with rrc_decref_later, while the heap's thread reads them, or ends the heap.
 *
 *     mail [references [threads]]
 *
 * Each object is deallocated when its last reference is dropped: not before, not twice, and not never. What comes
 * too late for the heap is refused, and is dropped by the heap's thread then.
 *
 * It is built with the atomics of C11 and of gcc, and with its own (MAIL_ATOMICS), which take a lock. */

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef MAIL_ATOMICS
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t take_word(uintptr_t *address, int change, uintptr_t value)
{
    uintptr_t old;

    pthread_mutex_lock(&lock);
    old = *address;
    if (change)
        *address = value;
    pthread_mutex_unlock(&lock);
    return old;
}

static int try_word(uintptr_t *address, uintptr_t *old, uintptr_t value)
{
    int same;

    pthread_mutex_lock(&lock);
    same = *address == *old;
    if (same)
        *address = value;
    else
        *old = *address;
    pthread_mutex_unlock(&lock);
    return same;
}

#define RRC_ATOMIC_WORD uintptr_t
#define RRC_ATOMIC_LOAD(address) take_word((address), 0, 0)
#define RRC_ATOMIC_SWAP(address, value) take_word((address), 1, (value))
#define RRC_ATOMIC_TRY(address, old, value) try_word((address), (old), (value))
#endif

#define RRC_THREADS
#define RAWREFCOUNT_STATIC
#include "rawrefcount.h"

enum { OBJECTS = 500, HEAPS = 8, MOST_THREADS = 64 };

#define expect(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "mail.c:%d: %s\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

typedef struct item {
    rrc_object head;
    size_t number;
} item;

typedef struct office {
    rrc_heap *heap;
    rrc_object *ob[OBJECTS];
    int deallocs[OBJECTS];
    size_t live_bytes, times;
    pthread_mutex_t end;        /* held until the heap has ended, if it ends early */
} office;

typedef struct sender {
    office *o;
    pthread_t thread;
    int waits;                  /* in the middle, for the end of the heap */
    size_t refused[OBJECTS];
} sender;

static void keep(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }
static rrc_gcref stay(void *userdata, rrc_gcref p) { (void)userdata; return p; }

static void *reallocate(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    office *o = (office *)userdata;

    o->live_bytes += new_size - old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

static void item_dealloc(rrc_heap *heap, rrc_object *self)
{
    office *o = (office *)rrc_userdata(heap);

    o->deallocs[((item *)(void *)self)->number]++;
    rrc_del(heap, self);
}

static const rrc_type Item = { .tp_name = "Item", .tp_basicsize = sizeof(item), .tp_dealloc = item_dealloc };

static void *send(void *arg)
{
    sender *s = (sender *)arg;
    size_t n, i;

    for (n = 0; n < s->o->times; n++) {
        if (s->waits && n == s->o->times / 2) {
            pthread_mutex_lock(&s->o->end);
            pthread_mutex_unlock(&s->o->end);
        }
        for (i = 0; i < OBJECTS; i++) {
            int code = rrc_decref_later(s->o->heap, s->o->ob[i]);

            expect(code == RRC_OK || code == RRC_ECLOSED);
            s->refused[i] += code == RRC_ECLOSED;
        }
    }
    return NULL;
}

/* Returns how many references were refused. */
static size_t live(size_t times, size_t threads, int is_cut_short)
{
    static sender senders[MOST_THREADS];
    office o = { .times = times };
    rrc_desc desc = { .userdata = &o, .trace = keep, .survivor = stay, .realloc = reallocate };
    size_t i, t, refused = 0;

    o.heap = rrc_heap_new(&desc);
    expect(o.heap != NULL);
    for (i = 0; i < OBJECTS; i++) {
        size_t n;

        o.ob[i] = rrc_new(o.heap, &Item);
        expect(o.ob[i] != NULL);
        ((item *)(void *)o.ob[i])->number = i;
        for (n = 1; n < times * threads; n++)
            rrc_incref(o.heap, o.ob[i]);
    }
    expect(pthread_mutex_init(&o.end, NULL) == 0);
    if (is_cut_short)
        pthread_mutex_lock(&o.end);
    for (t = 0; t < threads; t++) {
        sender fresh = { .o = &o, .waits = is_cut_short && t % 2 == 0 };

        senders[t] = fresh;
        expect(pthread_create(&senders[t].thread, NULL, send, &senders[t]) == 0);
    }
    if (is_cut_short) {
        for (i = 0; i < times; i++)
            rrc_run_pending(o.heap, OBJECTS);
        rrc_heap_free(o.heap);
        pthread_mutex_unlock(&o.end);
    } else {
        rrc_stats stats = { .objects = 0 };

        do {
            rrc_run_pending(o.heap, 1000);
            expect(rrc_get_stats(o.heap, &stats) == RRC_OK);
        } while (stats.objects > 0);
    }
    for (t = 0; t < threads; t++)
        expect(pthread_join(senders[t].thread, NULL) == 0);
    for (i = 0; i < OBJECTS; i++) {
        size_t late = 0;

        for (t = 0; t < threads; t++)
            late += senders[t].refused[i];
        refused += late;
        expect(o.deallocs[i] == (late == 0));
        for (; late > 0; late--)
            rrc_decref(o.heap, o.ob[i]);
        expect(o.deallocs[i] == 1);
    }
    expect((refused > 0) == is_cut_short);
    pthread_mutex_destroy(&o.end);
    if (!is_cut_short)
        expect(rrc_heap_free(o.heap) == 0);
    expect(o.live_bytes == 0);
    return refused;
}

int main(int argc, char **argv)
{
    size_t references = argc > 1 ? (size_t)atol(argv[1]) : 1000000, threads = argc > 2 ? (size_t)atol(argv[2]) : 16;
    size_t times = references / (threads * OBJECTS * HEAPS) + 1, refused = 0, i;

    expect(threads > 0 && threads <= MOST_THREADS);
    for (i = 0; i < HEAPS; i++)
        refused += live(times, threads, i % 2 == 1);
    printf("%lu references, %lu of them too late\n%d passed, 0 failed\n",
           (unsigned long)(times * threads * OBJECTS * HEAPS), (unsigned long)refused, HEAPS);
    return 0;
}
