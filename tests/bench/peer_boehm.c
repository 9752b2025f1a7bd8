/* peer_boehm.c N - links made with the Boehm collector, for the rows about links.
 *
 * A p is 32 bytes from GC_malloc, an ob 48 bytes outside of the collector's heap, both at
 * random addresses with respect to the order of the links, as in data.c. What a link does
 * there takes two registrations here: ob's pointer to p is a disappearing link (ob learns
 * that p has died, and does not keep it), and a finalizer of p puts ob on a queue. An O
 * link that only has to learn of the death is compared with the disappearing link alone.
 *
 * This collector marks by itself; the header's host in rows.c does not. So each figure
 * about a collection is the difference of two in one run, of the same objects, with and
 * without links; and that about creation leaves out filling p and ob, as there. The limit
 * is not measured again. One marker thread: the header has one, too. */
#define _POSIX_C_SOURCE 200112L
#include <gc.h>
#include <stdlib.h>
#include "peer.h"

typedef struct shell {
    intptr_t      refcnt;
    void         *link;
    struct shell *next;
    intptr_t      payload[3];
} shell;                        /* 48 bytes */

enum { P_WORDS = 4 };           /* 32 bytes */

typedef struct heap {
    size_t    n;
    uint32_t *order;
    intptr_t **p;               /* roots */
    shell   **ob;
} heap;

typedef struct figures {
    samples warm, cold, live, die, run, memory, live_stop, die_stop;
} figures;

static shell *dead;

static void GC_CALLBACK queue(void *p, void *of)
{
    shell *ob = of;

    (void)p;
    ob->refcnt = 1;
    ob->next = dead;
    dead = ob;
}

static double collect(void)
{
    double start = bench_now();

    GC_gcollect();
    return bench_now() - start;
}

/* New objects. The roots are cleared before, or the collector may keep what they held. */
static void make(heap *h)
{
    size_t i;

    for (i = 0; i < h->n; i++)
        h->p[h->order[i]] = GC_MALLOC(P_WORDS * sizeof(intptr_t));
}

static void drop(heap *h)
{
    size_t i;

    for (i = 0; i < h->n; i++)
        h->p[i] = NULL;
}

static void link_one(shell *ob, intptr_t *p, int finalizer)
{
    ob->link = p;
    p[1] = (intptr_t)ob;
    GC_general_register_disappearing_link(&ob->link, p);
    if (finalizer)
        GC_register_finalizer_no_order(p, queue, ob, NULL, NULL);
}

static double fill(heap *h, int linked, int finalizer)
{
    double start = bench_now();
    size_t i, j;

    for (i = 0; i < h->n; i++) {
        shell *ob = h->ob[i];
        intptr_t *p = h->p[i];

        if (i + BENCH_AHEAD < h->n) {
            BENCH_PREFETCH_WRITE(h->p[i + BENCH_AHEAD]);
            BENCH_PREFETCH_WRITE(h->ob[i + BENCH_AHEAD]);
        }
        for (j = 0; j < P_WORDS; j++)
            p[j] = 0;
        ob->refcnt = 1;
        ob->link = NULL;
        if (linked)
            link_one(ob, p, finalizer);
    }
    return bench_now() - start;
}

/* Links of objects that were made long ago. */
static double link_all(heap *h, int finalizer)
{
    double start = bench_now();
    size_t i;

    for (i = 0; i < h->n; i++)
        link_one(h->ob[i], h->p[i], finalizer);
    return bench_now() - start;
}

static size_t in_use(void)
{
    return GC_get_heap_size() - GC_get_free_bytes();
}

/* One turn. Returns how many links have not disappeared. */
static size_t turn(heap *h, int finalizer, figures *f)
{
    double n = (double)h->n * 1e-9, live, die, value;
    size_t before, left = 0, i;

    make(h);                    /* the same without links */
    collect();
    live = collect();
    drop(h);
    die = collect();

    GC_disable();               /* a collection while links are made is not what is timed */
    make(h);
    GC_enable();
    collect();
    before = in_use();
    GC_disable();
    value = fill(h, 0, 0);
    sample_beyond(&f->warm, fill(h, 1, finalizer) / n, 0, value / n);
    GC_enable();
    collect();
    sample(&f->memory, ((double)in_use() - (double)before) / (double)h->n, 0);
    value = collect();
    sample_beyond(&f->live, value / n, 0, live / n);
    sample_beyond(&f->live_stop, value * 1e3, 0, live * 1e3);
    drop(h);
    value = collect();
    sample_beyond(&f->die, value / n, 0, die / n);
    sample_beyond(&f->die_stop, value * 1e3, 0, die * 1e3);
    for (i = 0; i < h->n; i++)
        left += h->ob[i]->link != NULL;
    value = bench_now();
    dead = NULL;
    GC_invoke_finalizers();
    while (dead != NULL) {      /* as the benchmark's tp_dealloc: a push on a list */
        shell *ob = dead;

        dead = ob->next;
        ob->refcnt = 0;
        ob->link = (void *)h->ob;
    }
    sample(&f->run, (bench_now() - value) / n, 0);

    GC_disable();
    make(h);
    fill(h, 0, 0);
    sample(&f->cold, link_all(h, finalizer) / n, 0);
    GC_enable();
    drop(h);
    collect();
    GC_invoke_finalizers();
    dead = NULL;
    return left;
}

int main(int argc, char **argv)
{
    heap h;
    static figures links, weak;
    int repeats, i;
    char *memory;
    size_t k, left = 0;

    h.n = peer_begin(argc, argv, &h.order);
    setenv("GC_MARKERS", "1", 1);
    GC_INIT();
    GC_set_finalize_on_demand(1);
    GC_set_warn_proc(GC_ignore_warn_proc);
    h.p = GC_MALLOC_UNCOLLECTABLE(h.n * sizeof *h.p);
    h.ob = malloc(h.n * sizeof *h.ob);
    memory = malloc(h.n * sizeof(shell));
    if (h.p == NULL || h.ob == NULL || memory == NULL)
        return 1;
    for (k = 0; k < h.n; k++)
        h.ob[h.order[h.n - 1 - k]] = (shell *)(void *)(memory + k * sizeof(shell));
    repeats = peer_repeats(h.n);
    for (i = 0; i <= repeats; i++) {
        left += turn(&h, 1, &links);
        left += turn(&h, 0, &weak);
    }
    /* A few are: the collector is conservative. */
    if (left > 2 * (size_t)(repeats + 1) * (8 + h.n / 1000)) {
        fprintf(stderr, "peer_boehm: %lu links of dead objects are left\n", (unsigned long)left);
        return 1;
    }
    printf("variant\tBoehm %u.%u.%u\n", GC_get_version() >> 16, (GC_get_version() >> 8) & 0xff,
           GC_get_version() & 0xff);
    peer_row("create a P link, warm", &links.warm, "ns");
    peer_row("create a P link, cold", &links.cold, "ns");
    peer_row("memory of a link", &links.memory, "bytes");
    peer_row("major, all live, P links", &links.live, "ns");
    peer_row("major, all live, O links", &weak.live, "ns");
    peer_row("major, all die, queued", &links.die, "ns");
    peer_row("rrc_run_pending, an object", &links.run, "ns");
    peer_row("longest pause, all live", &links.live_stop, "ms");
    peer_row("longest pause, all die", &links.die_stop, "ms");
    return 0;
}
