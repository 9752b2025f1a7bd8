/* pauses.c - pauses of a major collection that searches for cycles: how long are its calls if
 * it is one pause, how long in slices, and how long those of the mutator meanwhile?
 *
 * n tracked objects of C are in pairs. The proxy of the first one (O link) is a root of the host. The
 * two refer to each other, and the second one has a P link, so that its p is kept
 * because C refers to it. Either all live, or the proxy of each tenth pair is no root any more. */
#define RAWREFCOUNT_STATIC
#include "nodes.h"

enum { MAX = 1000, PAIRS_BETWEEN = 4, TENTH = 10 };

/* The functions of the mutator, and those that do slices. */
typedef enum function {
    GC_NEW, GC_TRACK, LINK, UNLINK, DECREF, MUTATORS, START = MUTATORS, WORK, TRACE, KEEP_WORK, KEEP, SWEEP, PENDING,
    MARKING, FUNCTIONS
} function;

static const char *const names[] = {
    "rrc_gc_new", "rrc_gc_track", "rrc_link", "rrc_unlink", "rrc_decref",
    "start", "work", "trace", "work for keep", "keep", "sweep", "run_pending", "the host marks"
};

typedef struct world {
    bench    *b;
    store     store;
    rrc_heap *heap;
    size_t    n, next;          /* next: the pair that the mutator replaces next */
    node    **nodes;            /* two for each pair */
    cell    **cells, **gray;
    size_t    gray_count;
    int       dying, reports;   /* does each tenth pair die? does the host report what it marks? */
    watch     watch[FUNCTIONS];
} world;

#define TIMED(w, function, statement) \
    do { \
        watch_begin(&(w)->watch[function]); \
        statement; \
        watch_end(&(w)->watch[function]); \
    } while (0)

/* ---- the host ------------------------------------------------------------- */

static void mark(world *w, cell *p)
{
    if (p->word & CELL_MARK)
        return;
    p->word |= CELL_MARK;
    w->gray[w->gray_count++] = p;
}

/* Returns how many it has marked, at most max. */
static size_t drain(world *w, size_t max)
{
    size_t done;

    for (done = 0; done < max && w->gray_count > 0; done++) {
        cell *p = w->gray[--w->gray_count];

        w->b->d->host.nursery += (uintptr_t)p->payload[0];      /* a host would look at what p refers to */
        if (w->reports)
            rrc_marked(w->heap, p);
    }
    return done;
}

static void trace(void *userdata, rrc_gcref p)
{
    mark(userdata, p);
}

static void propagate(void *userdata)
{
    drain(userdata, SIZE_MAX);
}

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return ((cell *)p)->word & CELL_MARK ? p : NULL;
}

static rrc_object **slot(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return &((cell *)p)->ob;
}

static void parted(void *userdata, rrc_gcref p, rrc_object *ob)
{
    (void)userdata;
    (void)p;
    (void)ob;
}

static void *world_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    return store_realloc(&((world *)userdata)->store, ptr, old_size, new_size);
}

static void failed(world *w, const char *text)
{
    printf("FAILED: pauses, %s, %lu: %s\n", w->b->variant, (unsigned long)w->n, text);
    w->b->failed = 1;
}

static void log_item(void *userdata, const rrc_log_item *item)
{
    failed(userdata, item->function);
}

/* Does the pair of object i die in the next collection? */
static int dies(const world *w, size_t i)
{
    return w->dying && i / 2 % TENTH == 0;
}

static void unmark(world *w)
{
    size_t i;

    for (i = 0; i < w->n; i++)
        w->cells[i]->word = 0;
    w->gray_count = 0;
}

/* A slice of marking: roots from *root on, and what they reach. A root and a mark are a unit each. Returns
   whether anything is left. */
static int mark_some(world *w, size_t *root, size_t max)
{
    size_t done = drain(w, max);

    for (; *root < w->n && done < max; *root += 2) {
        if (!dies(w, *root))
            mark(w, w->cells[*root]);
        done++;
        done += drain(w, max - done);
    }
    return *root < w->n || w->gray_count > 0;
}

/* ---- the mutator ---------------------------------------------------------- */

/* p's made while a collection goes on count as marked. */
static int make_pair(world *w, size_t i)
{
    size_t k;
    int code = RRC_OK;

    for (k = i; k < i + 2; k++) {
        rrc_object *ob;

        TIMED(w, GC_NEW, ob = rrc_gc_new(w->heap, &slots_type));
        if (ob == NULL)
            return 0;
        w->nodes[k] = (node *)(void *)ob;
    }
    w->nodes[i]->a = &w->nodes[i + 1]->head;
    rrc_incref(w->heap, w->nodes[i]->a);
    w->nodes[i + 1]->a = &w->nodes[i]->head;
    rrc_incref(w->heap, w->nodes[i + 1]->a);
    for (k = i; k < i + 2 && code == RRC_OK; k++) {
        rrc_object *ob = &w->nodes[k]->head;

        w->cells[k]->word |= CELL_MARK;
        TIMED(w, GC_TRACK, code = rrc_gc_track(w->heap, ob));
        if (code == RRC_OK)
            TIMED(w, LINK, code = rrc_link(w->heap, w->cells[k], ob, (k == i ? RRC_O : RRC_P) | RRC_GIVE));
    }
    return code == RRC_OK;
}

/* The mutator lets a pair go: both are deallocated now. */
static void drop_pair(world *w, size_t i)
{
    rrc_object *first = &w->nodes[i]->head, *second = w->nodes[i]->a;

    rrc_incref(w->heap, first);
    TIMED(w, UNLINK, rrc_unlink(w->heap, first));
    TIMED(w, UNLINK, rrc_unlink(w->heap, second));
    w->nodes[i]->a = NULL;
    TIMED(w, DECREF, rrc_decref(w->heap, second));
    TIMED(w, DECREF, rrc_decref(w->heap, first));
}

/* What runs between two slices: other pairs take the places of some. */
static int mutate(world *w, size_t pairs)
{
    const data *d = w->b->d;
    int i;

    for (; pairs > 0; pairs--) {
        size_t k = d->order[w->next++ % w->n] / 2 * 2;

        if (k + 1 >= w->n || dies(w, k))
            continue;
        drop_pair(w, k);
        if (!make_pair(w, k))
            return 0;
    }
    for (i = 0; i < MUTATORS; i++)
        watch_flush(&w->watch[i]);
    return 1;
}

/* ---- collections ---------------------------------------------------------- */

/* The time of the host's own marking, of just as many cells. */
static double mark_alone(world *w)
{
    double start = bench_cpu_now();
    size_t i;

    w->reports = 0;
    for (i = 0; i < w->n; i++)
        if (!dies(w, i)) {
            mark(w, w->cells[i]);
            drain(w, MAX);
        }
    w->reports = 1;
    return bench_cpu_now() - start;
}

/* All in one pause, from the host's roots on. */
static double collect_whole(world *w)
{
    double start = bench_cpu_now();
    size_t root = 0;

    mark_some(w, &root, SIZE_MAX);
    rrc_major_collection_trace(w->heap);
    rrc_major_collection_keep(w->heap);
    rrc_major_collection_free(w->heap);
    rrc_run_pending(w->heap, 0);
    return bench_cpu_now() - start;
}

/* In slices, with the mutator between them. */
static int collect_in_slices(world *w)
{
    rrc_heap *h = w->heap;
    size_t root = 0, done;
    int more, good = 1;

    TIMED(w, START, rrc_major_collection_start(h));
    do {
        TIMED(w, WORK, done = rrc_major_collection_work(h, MAX));
        good = good && mutate(w, PAIRS_BETWEEN);
        TIMED(w, MARKING, more = mark_some(w, &root, MAX));
    } while (more || done >= MAX);
    TIMED(w, TRACE, rrc_major_collection_trace(h));
    do {
        TIMED(w, KEEP_WORK, done = rrc_major_collection_work(h, MAX));
        good = good && mutate(w, PAIRS_BETWEEN);
        TIMED(w, MARKING, more = drain(w, MAX) >= MAX);
    } while (more || done >= MAX);
    TIMED(w, KEEP, rrc_major_collection_keep(h));
    do {
        TIMED(w, SWEEP, done = rrc_major_collection_sweep(h, MAX));
        good = good && mutate(w, PAIRS_BETWEEN);
    } while (done >= MAX);
    do {
        TIMED(w, PENDING, done = rrc_run_pending(h, MAX));
        good = good && mutate(w, PAIRS_BETWEEN);
    } while (done > 0);
    return good;
}

/* After a collection: all that was to die is gone, and nothing else. Make it anew. */
static int refill(world *w, size_t dead)
{
    rrc_stats stats = { 0 };
    size_t i;

    if (rrc_get_stats(w->heap, &stats) != RRC_OK || stats.tracked + dead != w->n || stats.pending != 0) {
        failed(w, "the wrong objects died");
        return 0;
    }
    if (dead > 0)
        for (i = 0; i < w->n; i += 2)
            if (dies(w, i) && !make_pair(w, i))
                return 0;
    return 1;
}

/* ---- rows ----------------------------------------------------------------- */

/* What is kept of all turns. */
typedef struct results {
    least_times least[FUNCTIONS];
    size_t  calls_in_turn[FUNCTIONS];
    calls   slices, mutator;    /* the turn whose longest call was the shortest */
    samples whole, ratio;
} results;

static void begin_watching(world *w, results *r)
{
    int i;

    for (i = 0; i < FUNCTIONS; i++)
        watch_turn(&w->watch[i], &r->least[i], i < MUTATORS ? BENCH_BATCH : 1);
}

/* The calls from first to last, and the best turn of them. */
static void take(const world *w, calls *best, int first, int last)
{
    calls together = { 0 };
    int i;

    for (i = first; i < last; i++)
        calls_add(&together, &w->watch[i].calls);
    calls_keep_best(best, &together);
}

/* All turns make the same calls. Returns whether that is so. */
static int end_watching(world *w, results *r, int counts)
{
    int i, same = 1;

    for (i = 0; i < FUNCTIONS; i++) {
        watch *of = &w->watch[i];

        watch_flush(of);
        if (counts && of->place != r->calls_in_turn[i])
            same = 0;
        r->calls_in_turn[i] = of->place;
        same = same && !r->least[i].failed;
    }
    if (counts) {
        take(w, &r->mutator, 0, MUTATORS);
        take(w, &r->slices, START, MARKING);
    }
    if (!same)
        failed(w, "the turns differ");
    return same;
}

static void free_results(results *r)
{
    int i;

    for (i = 0; i < FUNCTIONS; i++)
        free(r->least[i].time);
}

/* The time of all that a collection in slices did, without the mutator. */
static double sum_of_slices(const world *w)
{
    double sum = 0;
    int i;

    for (i = START; i < FUNCTIONS; i++)
        sum += w->watch[i].calls.sum;
    return sum;
}

static int collect(world *w, results *r, int dying, int counts)
{
    double n = (double)w->n * 1e-9, alone, whole;
    size_t i, dead = 0;

    w->dying = dying;
    for (i = 0; i < w->n; i++)
        dead += (size_t)dies(w, i);
    unmark(w);
    alone = mark_alone(w);
    unmark(w);
    whole = collect_whole(w);
    if (!refill(w, dead))
        return 0;
    unmark(w);
    begin_watching(w, r);
    if (!collect_in_slices(w) || !end_watching(w, r, counts))
        return 0;
    sample(&r->whole, whole * 1e3, 0);
    sample_beyond(&r->ratio, sum_of_slices(w) / n, whole / n, alone / n);
    return refill(w, dead);
}

static int turn(world *w, const rrc_desc *desc, results *building, results *live, results *dying, int counts)
{
    size_t i;
    int good;

    w->dying = 0;
    w->next = 0;
    unmark(w);
    for (i = 0; i < w->n; i++)
        w->cells[i]->ob = NULL;
    w->store.next = w->store.memory;
    w->store.free_list = NULL;
    w->heap = rrc_heap_new(desc);
    if (w->heap == NULL)
        return 0;
    begin_watching(w, building);
    for (i = 0, good = 1; i < w->n && good; i += 2)
        good = make_pair(w, i);
    good = good && mutate(w, w->n / TENTH);
    good = good && end_watching(w, building, counts);
    good = good && collect(w, live, 0, counts) && collect(w, dying, 1, counts);
    rrc_heap_free(w->heap);
    return good;
}

static void row_of(bench *b, const char *part, const char *name, double seconds)
{
    samples s = { 2, { 0 }, { 0 }, { 0 } };
    char row[64];

    snprintf(row, sizeof row, "pause, %s, %s", part, name);
    s.value[0] = seconds * 1e3;
    if (bench_wants(b, row))
        bench_pause(b, row, &s);
}

static void calls_of(bench *b, const char *part, const char *name, const calls *c)
{
    char text[64];

    snprintf(text, sizeof text, "%s, %s", part, name);
    bench_calls(b, text, c);
}

static void rows_of_collection(bench *b, const char *part, const results *r)
{
    char row[64];
    calls whole = { 0 };
    int i;

    for (i = 0; i < r->whole.count - 1; i++) {
        calls one = { 0 };

        calls_note(&one, r->whole.value[i] * 1e-3);
        calls_keep_best(&whole, &one);
    }
    row_of(b, part, "whole", whole.longest);
    row_of(b, part, "longest slice", r->slices.longest);
    for (i = START; i < FUNCTIONS; i++)
        row_of(b, part, names[i], least_longest(&r->least[i]));
    snprintf(row, sizeof row, "pause, %s, slices in all", part);
    if (bench_wants(b, row))
        bench_row(b, row, "ns", &r->ratio);
    calls_of(b, part, "whole", &whole);
    calls_of(b, part, "slices", &r->slices);
}

static void rows_of_mutator(bench *b, const char *part, const results *r, const results *other)
{
    calls all = r->mutator;
    int i;

    calls_add(&all, &other->mutator);
    row_of(b, part, "longest call", all.longest);
    for (i = 0; i < MUTATORS; i++) {
        double one = least_longest(&r->least[i]), two = least_longest(&other->least[i]);

        row_of(b, part, names[i], one > two ? one : two);
    }
    calls_of(b, part, "mutator", &all);
}

static void rows_pauses(bench *b, int has_slots)
{
    results building, live, dying, none;
    rrc_desc desc = { 0 };
    world w = { 0 };
    int count, good = 1;

    if (b->rows != NULL && strstr(b->rows, "pause") == NULL)
        return;
    memset(&building, 0, sizeof building);
    memset(&live, 0, sizeof live);
    memset(&dying, 0, sizeof dying);
    memset(&none, 0, sizeof none);
    w.b = b;
    w.n = b->d->n / 2 * 2;
    w.reports = 1;
    w.cells = b->d->p;
    w.nodes = malloc(w.n * sizeof *w.nodes);
    w.gray = malloc(w.n * sizeof *w.gray);
    desc.userdata = &w;
    desc.trace = trace;
    desc.propagate = propagate;
    desc.survivor = survivor;
    desc.parted = parted;
    desc.realloc = world_realloc;
    desc.log = log_item;
    desc.slot = has_slots ? slot : NULL;
    desc.reports_marks = 1;
    desc.incremental = 1;
    if (w.nodes == NULL || w.gray == NULL || !store_make(&w.store, w.n))
        failed(&w, "there is not enough memory");
    else {
        for (count = 0; count <= b->repeats && good; count++)   /* the first one is a warm-up */
            good = turn(&w, &desc, &building, &live, &dying, count > 0);
        if (!good || w.store.next == w.store.memory)
            failed(&w, "it could not be measured");
        else {
            rows_of_collection(b, "live", &live);
            rows_of_collection(b, "dying", &dying);
            rows_of_mutator(b, "building", &building, &none);
            rows_of_mutator(b, "meanwhile", &live, &dying);
        }
        free_results(&building);
        free_results(&live);
        free_results(&dying);
    }
    free(w.store.memory);
    free(w.nodes);
    free(w.gray);
}

void rows_pauses_dict(bench *b)
{
    rows_pauses(b, 0);
}

void rows_pauses_slot(bench *b)
{
    rows_pauses(b, 1);
}
