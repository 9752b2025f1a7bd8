/* peer_boehm_pauses.c N - the Boehm collector's pauses, for the rows about pauses.
 *
 * N objects of two fields are in pairs that refer to each other, as in pauses.c, and the first one of
 * each pair is in an array of roots. Either all live, or each tenth pair dies. There are no links: this
 * collector marks and frees the objects itself. First it collects in one pause (GC_gcollect). Then it is incremental:
 * new pairs take the places of old ones, and a slice is a GC_malloc that took part in the
 * collector's work. One marker thread: the header has one, too. */
#define _POSIX_C_SOURCE 200112L
#include <gc.h>
#include <stdlib.h>
#include <string.h>
#include "peer.h"

enum { OBJECT_BYTES = 48, TENTH = 10 };

typedef struct pair_half {
    struct pair_half *other;
} half;

typedef struct world {
    size_t    n;                /* pairs */
    half    **root;
    uint32_t *order;
    watch     malloc_watch;
} world;

static half *make_half(world *w)
{
    half *h;

    watch_begin(&w->malloc_watch);
    h = GC_MALLOC(OBJECT_BYTES);
    watch_end(&w->malloc_watch);
    if (h == NULL)
        exit(1);
    return h;
}

static void make_pair(world *w, size_t i)
{
    half *h = make_half(w);

    h->other = make_half(w);
    h->other->other = h;
    w->root[i] = h;
}

static void fill(world *w)
{
    size_t i;

    for (i = 0; i < w->n; i++)
        if (w->root[i] == NULL)
            make_pair(w, i);
}

static double collect(void)
{
    double start = bench_cpu_now();

    GC_gcollect();
    return bench_cpu_now() - start;
}

static void start_watch(world *w)
{
    memset(&w->malloc_watch, 0, sizeof w->malloc_watch);
    w->malloc_watch.batch = BENCH_BATCH;
}

static void print(const char *row, const char *name, const calls *c)
{
    printf("%s\t%.4f\t0\tms\n", row, c->longest * 1e3);
    peer_calls(name, c);
}

int main(int argc, char **argv)
{
    static calls live, dying, slices, turn;
    world w;
    int repeats, i;
    size_t k;

    w.n = peer_begin(argc, argv, &w.order) / 2;
    setenv("GC_MARKERS", "1", 1);
    GC_INIT();
    GC_set_warn_proc(GC_ignore_warn_proc);
    w.root = GC_MALLOC_UNCOLLECTABLE((w.n + 1) * sizeof *w.root);
    if (w.root == NULL)
        return 1;
    repeats = peer_repeats(2 * w.n);
    start_watch(&w);
    for (i = 0; i <= repeats; i++) {    /* the first one is a warm-up */
        fill(&w);
        GC_gcollect();
        memset(&turn, 0, sizeof turn);
        calls_note(&turn, collect());
        if (i > 0)
            calls_keep_best(&live, &turn);
        for (k = 0; k < w.n; k += TENTH)
            w.root[k] = NULL;
        memset(&turn, 0, sizeof turn);
        calls_note(&turn, collect());
        if (i > 0)
            calls_keep_best(&dying, &turn);
    }
    fill(&w);
    GC_enable_incremental();
    for (i = 0; i <= repeats; i++) {
        start_watch(&w);
        for (k = 0; k < w.n; k++)
            make_pair(&w, w.order[k] / 2);
        watch_flush(&w.malloc_watch);
        if (i > 0)
            calls_keep_best(&slices, &w.malloc_watch.calls);
    }
    printf("variant\tBoehm %u.%u.%u\n", GC_get_version() >> 16, (GC_get_version() >> 8) & 0xff,
           GC_get_version() & 0xff);
    print("pause, live, whole", "live, whole", &live);
    print("pause, dying, whole", "dying, whole", &dying);
    print("pause, dying, longest slice", "dying, slices", &slices);
    return 0;
}
