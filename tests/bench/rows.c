/* rows.c - the rows of the benchmark, each measured by turns with its plain loop.
 *
 * Built once for each way to set up the header: BENCH_SLOT (0: the header's
 * dictionary, 1: a field of p) and BENCH_MACRO (0: hooks by pointer, 1: by macro).
 * Each build has a private copy of the implementation. */
#define RAWREFCOUNT_STATIC
#if BENCH_MACRO
#define RRC_HOST_TRACE(heap, p)     host_trace(rrc_userdata(heap), p)
#define RRC_HOST_SURVIVOR(heap, p)  host_survivor(rrc_userdata(heap), p)
#define RRC_HOST_PROPAGATE(heap)    ((void)(heap))
#define RRC_HOST_IS_YOUNG(heap, p)  host_is_young(rrc_userdata(heap), p)
#if BENCH_SLOT
#define RRC_HOST_SLOT(heap, p)      host_slot(rrc_userdata(heap), p)
#endif
static inline void host_trace(void *userdata, void *p);
static inline void *host_survivor(void *userdata, void *p);
static inline int host_is_young(void *userdata, void *p);
#if BENCH_SLOT
static inline struct rrc_object **host_slot(void *userdata, void *p);
#endif
#endif
#include "bench.h"

#if BENCH_SLOT && BENCH_MACRO
#define ROWS rows_slot_macro
#elif BENCH_SLOT
#define ROWS rows_slot_desc
#elif BENCH_MACRO
#define ROWS rows_dict_macro
#else
#define ROWS rows_dict_desc
#endif

static inline void host_trace(void *userdata, rrc_gcref p)
{
    (void)userdata;
    ((cell *)p)->word |= CELL_MARK;
}

static inline rrc_gcref host_survivor(void *userdata, rrc_gcref p)
{
    intptr_t word = ((cell *)p)->word;

    (void)userdata;
    return word & CELL_MARK ? (char *)p + (word & ~(intptr_t)CELL_BITS) : NULL;
}

static inline int host_is_young(void *userdata, rrc_gcref p)
{
    const host *self = userdata;

    return (uintptr_t)p - self->nursery < self->nursery_bytes;
}

/* A host without a nursery: the object itself says so. */
static inline int host_reads_young(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return (((const cell *)p)->word & CELL_YOUNG) != 0;
}

#if BENCH_SLOT
static inline rrc_object **host_slot(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return &((cell *)p)->ob;
}
#endif

/* A program calls these from another unit than the implementing one. (rrc_to_obj and the counts are inline.) */
static BENCH_NOINLINE int link_pypy(rrc_heap *heap, rrc_gcref p, rrc_object *ob)
{
    return rrc_create_link_pypy(heap, p, ob);
}

static BENCH_NOINLINE rrc_object *from_obj(rrc_heap *heap, rrc_gcref p)
{
    return rrc_from_obj(heap, p);
}

/* ---- heaps --------------------------------------------------------------- */

static rrc_heap *new_heap_that(data *d, int incremental, int reads_young)
{
    rrc_desc desc = { 0 };

    desc.userdata = &d->host;
    desc.trace = host_trace;
    desc.survivor = host_survivor;
    desc.is_young = reads_young ? host_reads_young : host_is_young;
#if BENCH_SLOT
    desc.slot = host_slot;
#endif
    desc.incremental = incremental;
    return rrc_heap_new(&desc);
}

static rrc_heap *new_heap(data *d) { return new_heap_that(d, 0, 0); }

static void link_all(rrc_heap *heap, data *d, size_t from, size_t to, intptr_t bias, int pypy)
{
    size_t i;

    data_fresh(d, from, to);
    for (i = from; i < to; i++) {
        rrc_object *ob = &d->ob[i]->head;

        if (pypy)
            rrc_create_link_pypy(heap, d->p[i], ob);
        else
            rrc_create_link_pyobj(heap, d->p[i], ob);
        ob->ob_refcnt += bias - 1;      /* nothing in C holds it */
    }
}

/* End a heap whose objects are nobody's. */
static void end_heap(rrc_heap *heap)
{
    rrc_heap_free(heap);
}

static double major(rrc_heap *heap)
{
    double start = bench_now();

    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    return bench_now() - start;
}

static double minor(rrc_heap *heap)
{
    double start = bench_now();

    rrc_minor_collection_trace(heap);
    rrc_minor_collection_free(heap);
    return bench_now() - start;
}

/* The time of a plain loop. */
#define TIME(into, call) \
    do { \
        double start_ = bench_now(); \
        bench_sink += (call); \
        (into) = bench_now() - start_; \
    } while (0)

#define PER(seconds, n) ((seconds) * 1e9 / (double)(n))

/* ---- rows ---------------------------------------------------------------- */

/* Allocate and link, as a program does that makes both. */
static double create_warm(rrc_heap *heap, data *d, size_t from, size_t to)
{
    double start = bench_now();
    size_t i;

    for (i = from; i < to; i++) {
        rrc_object *ob = &d->ob[i]->head;

        bench_fill(d, i, to);
        link_pypy(heap, d->p[i], ob);
        ob->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
    }
    return bench_now() - start;
}

/* Link objects that were made long ago. */
static double create_cold(rrc_heap *heap, data *d, size_t from, size_t to)
{
    double start = bench_now();
    size_t i;

    for (i = from; i < to; i++) {
        link_pypy(heap, d->p[i], &d->ob[i]->head);
        d->ob[i]->head.ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
    }
    return bench_now() - start;
}

static void rows_create(bench *b)
{
    const char *warm = "create a P link, warm", *cold = "create a P link, cold";
    const char *young = "create a P link, warm young p", *memory = "memory of a link";
    data *d = b->d;
    samples w = { 0 }, c = { 0 }, y = { 0 }, bytes = { 0 };
    size_t from = d->n, to = d->n + d->young;

    if (!bench_wants(b, warm) && !bench_wants(b, cold) && !bench_wants(b, young) && !bench_wants(b, memory))
        return;
    while (w.count <= b->repeats) {
        double allocate, value, limit;
        plain_links links = { 0 };
        rrc_heap *heap = new_heap(d);
        rrc_stats stats, none;

        rrc_get_stats(heap, &none);
        TIME(allocate, plain_allocate(d, 0, d->n));
        TIME(limit, plain_create(d, &links, 0, d->n, !BENCH_SLOT, 0));
        plain_links_free(&links);
        value = create_warm(heap, d, 0, d->n);
        rrc_get_stats(heap, &stats);
        sample_beyond(&w, PER(value, d->n), PER(limit, d->n), PER(allocate, d->n));
        sample(&bytes, (double)(stats.memory - none.memory) / (double)d->n, 0);

        /* A nursery full, in a heap that has had others; it dies in the next minor. */
        data_mark(d, from, to, 0, 0);
        create_warm(heap, d, from, to);
        minor(heap);
        rrc_run_pending(heap, 0);
        TIME(allocate, plain_allocate(d, from, to));
        TIME(limit, plain_create(d, &links, from, to, !BENCH_SLOT, 0));
        plain_links_free(&links);
        value = create_warm(heap, d, from, to);
        sample_beyond(&y, PER(value, d->young), PER(limit, d->young), PER(allocate, d->young));
        end_heap(heap);

        heap = new_heap(d);
        data_fresh(d, 0, d->n);
        TIME(limit, plain_create(d, &links, 0, d->n, !BENCH_SLOT, 1));
        plain_links_free(&links);
        data_fresh(d, 0, d->n);
        value = create_cold(heap, d, 0, d->n);
        sample(&c, PER(value, d->n), PER(limit, d->n));
        end_heap(heap);
    }
    if (bench_wants(b, warm))
        bench_row(b, warm, "ns", &w);
    if (bench_wants(b, cold))
        bench_row(b, cold, "ns", &c);
    if (bench_wants(b, young))
        bench_row(b, young, "ns", &y);
    if (bench_wants(b, memory))
        bench_row(b, memory, "bytes", &bytes);
}

static const rrc_type tracked_type = { .tp_name = "tracked", .tp_basicsize = sizeof(object),
                                       .tp_flags = RRC_TPFLAGS_HAVE_GC };

/* The search for cycles looks at each link too. Without a tracked object there is
   none, and what it costs is the difference of two of these rows. */
static void row_all_live(bench *b, const char *row, int pypy, int held, int searched)
{
    data *d = b->d;
    samples s = { 0 };
    rrc_heap *heap;
    rrc_object *tracked = NULL;

    if (!bench_wants(b, row))
        return;
    heap = new_heap(d);
    link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY + held, pypy);
    if (searched && ((tracked = rrc_gc_new(heap, &tracked_type)) == NULL
                     || rrc_gc_track(heap, tracked) != RRC_OK))
        return;
    while (s.count <= b->repeats) {
        double limit, value;

        data_mark(d, 0, d->n, !held, 0);
        if (held)
            TIME(limit, plain_held(d, 0, d->n));
        else
            TIME(limit, plain_all_live(d, 0, d->n));
        data_mark(d, 0, d->n, !held, 0);
        value = major(heap);
        sample(&s, PER(value, d->n), PER(limit, d->n));
    }
    if (tracked != NULL)
        rrc_decref(heap, tracked);
    end_heap(heap);
    bench_row(b, row, "ns", &s);
}

static void row_moved(bench *b)
{
    const char *row = "major, all live, every p moved";
    data *d = b->d;
    samples s = { 0 };
    rrc_heap *heap;

    if (!bench_wants(b, row))
        return;
    heap = new_heap(d);
    link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 1);
    while (s.count <= b->repeats) {
        double limit, value;

        data_mark(d, 0, d->n, 1, 1);
        TIME(limit, plain_moved(d, 0, d->n, !BENCH_SLOT, 1, 0));
        value = major(heap);
        data_move(d, 0, d->n);
        sample(&s, PER(value, d->n), PER(limit, d->n));
    }
    end_heap(heap);
    bench_row(b, row, "ns", &s);
}

static double from_obj_random(rrc_heap *heap, const data *d)
{
    double start = bench_now();
    uintptr_t sum = 0;
    size_t i;

    for (i = 0; i < d->n; i++)
        sum += (uintptr_t)from_obj(heap, d->lookup[i]);
    bench_sink += sum;
    return bench_now() - start;
}

/* Each address depends on the last answer. */
static double from_obj_chain(rrc_heap *heap, const data *d)
{
    double start = bench_now();
    uintptr_t sum = 0;
    size_t i = 0;

    while (i < d->n) {
        uintptr_t ob = (uintptr_t)from_obj(heap, d->lookup[i]);

        sum += ob;
        i += 1 + (ob & 2);
    }
    bench_sink += sum;
    return bench_now() - start;
}

static void rows_from_obj(bench *b)
{
    const char *random = "rrc_from_obj, random order";
    const char *table = "rrc_from_obj, and a bare table";
    const char *chain = "rrc_from_obj, one needs the last";
    data *d = b->d;
    samples r = { 0 }, t = { 0 }, c = { 0 };
    rrc_heap *heap;

    if (!bench_wants(b, random) && !bench_wants(b, table) && !bench_wants(b, chain))
        return;
    heap = new_heap(d);
    plain_fill_table(d);
    link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 1);
    data_lookups(d);
    while (r.count <= b->repeats) {
        double limit, value;

        TIME(limit, plain_read(d));
        value = from_obj_random(heap, d);
        sample(&r, PER(value, d->n), PER(limit, d->n));
        TIME(limit, plain_look_up(d));
        sample(&t, PER(value, d->n), PER(limit, d->n));
        TIME(limit, plain_read_chain(d));
        value = from_obj_chain(heap, d);
        sample(&c, PER(value, d->n), PER(limit, d->n));
    }
    end_heap(heap);
    if (bench_wants(b, random))
        bench_row(b, random, "ns", &r);
    if (!BENCH_SLOT && bench_wants(b, table))
        bench_row(b, table, "ns", &t);
    if (bench_wants(b, chain))
        bench_row(b, chain, "ns", &c);
}

/* Young links whose p's move, beside n old ones. */
static void row_minor_moved(bench *b, const char *row, int reads_young)
{
    data *d = b->d;
    samples s = { 0 };
    rrc_heap *heap;
    size_t from = d->n, to = d->n + d->young, i;

    if (!bench_wants(b, row))
        return;
    heap = new_heap_that(d, 0, reads_young);
    link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 1);
    data_mark(d, 0, d->n, 1, 0);
    major(heap);
    while (s.count <= b->repeats) {
        double limit, value;

        data_fresh(d, from, to);
        for (i = from; i < to; i++) {
            d->p[i]->word = CELL_YOUNG;
            d->target[i]->word = 0;             /* the host has copied p, which is old there */
        }
        for (i = from; i < to; i++) {
            rrc_create_link_pypy(heap, d->p[i], &d->ob[i]->head);
            d->ob[i]->head.ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
        }
        data_mark(d, from, to, 1, 1);
        TIME(limit, plain_moved(d, from, to, !BENCH_SLOT, 0, reads_young));
        value = minor(heap);
        sample(&s, PER(value, d->young), PER(limit, d->young));

        /* Let the new old ones die, so that the next turn finds n old links. */
        data_move(d, from, to);
        data_mark(d, from, to, 0, 0);
        major(heap);
        rrc_run_pending(heap, 0);
        data_move(d, from, to);
    }
    end_heap(heap);
    bench_row(b, row, "ns", &s);
}

static void rows_minor(bench *b)
{
    const char *none = "minor, no young links, in all";
    enum { BATCH = 1000 };      /* one empty collection is too short for the clock */
    data *d = b->d;
    samples s = { 0 };
    rrc_heap *heap;

    if (bench_wants(b, none)) {
        heap = new_heap(d);
        link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 1);
        data_mark(d, 0, d->n, 1, 0);
        major(heap);
        while (s.count <= b->repeats) {
            double start = bench_wall_now();
            int i;

            for (i = 0; i < BATCH; i++) {
                rrc_minor_collection_trace(heap);
                rrc_minor_collection_free(heap);
            }
            sample(&s, PER(bench_wall_now() - start, BATCH), 0);
        }
        end_heap(heap);
        bench_row(b, none, "ns", &s);
    }
    row_minor_moved(b, "minor, a young link that moved", 0);
    if (!BENCH_MACRO)
        row_minor_moved(b, "minor, moved, is_young reads p", 1);
}

static void rows_all_die(bench *b)
{
    const char *full = "major, all die, queued";
    const char *pending = "rrc_run_pending, an object";
    const char *light = "major, all die, light: and freed";
    data *d = b->d;
    samples dies = { 0 }, deallocs = { 0 }, frees = { 0 };
    rrc_heap *heap;

    if (!bench_wants(b, full) && !bench_wants(b, pending) && !bench_wants(b, light))
        return;
    heap = new_heap(d);
    while (dies.count <= b->repeats) {
        double limit, dealloc_limit, value, start;

        data_fresh(d, 0, d->n);
        TIME(limit, plain_die(d, !BENCH_SLOT));
        TIME(dealloc_limit, plain_dealloc(d));
        link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 1);
        data_mark(d, 0, d->n, 0, 0);
        value = major(heap);
        sample(&dies, PER(value, d->n), PER(limit, d->n));

        start = bench_now();
        rrc_run_pending(heap, 0);
        value = bench_now() - start;
        sample(&deallocs, PER(value, d->n), PER(dealloc_limit, d->n));

        data_fresh(d, 0, d->n);
        TIME(limit, plain_die_light(d, !BENCH_SLOT));
        link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY_LIGHT, 1);
        data_mark(d, 0, d->n, 0, 0);
        value = major(heap);
        sample(&frees, PER(value, d->n), PER(limit, d->n));
    }
    end_heap(heap);
    if (bench_wants(b, full))
        bench_row(b, full, "ns", &dies);
    if (bench_wants(b, light))
        bench_row(b, light, "ns", &frees);
    if (bench_wants(b, pending))
        bench_row(b, pending, "ns", &deallocs);
}

/* From ob to p: one read. And the counts of objects that are linked, as C code changes them. */
static void rows_ob(bench *b)
{
    const char *to_obj = "rrc_to_obj, random order", *counts = "incref + decref, random order";
    data *d = b->d;
    samples t = { 0 }, c = { 0 };
    rrc_heap *heap;

    if (!bench_wants(b, to_obj) && !bench_wants(b, counts))
        return;
    heap = new_heap(d);
    link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 1);
    while (t.count <= b->repeats) {
        double limit, value, start;
        uintptr_t sum = 0;
        size_t i;

        TIME(limit, plain_read_obs(d));
        start = bench_now();
        for (i = 0; i < d->n; i++)
            sum += (uintptr_t)rrc_to_obj(heap, &d->ob[i]->head);
        bench_sink += sum;
        value = bench_now() - start;
        sample(&t, PER(value, d->n), PER(limit, d->n));

        TIME(limit, plain_count(d));
        start = bench_now();
        for (i = 0; i < d->n; i++) {
            rrc_incref(heap, &d->ob[i]->head);
            BENCH_BARRIER();
            rrc_decref(heap, &d->ob[i]->head);
        }
        value = bench_now() - start;
        sample(&c, PER(value, d->n), PER(limit, d->n));
    }
    end_heap(heap);
    if (bench_wants(b, to_obj))
        bench_row(b, to_obj, "ns", &t);
    if (bench_wants(b, counts))
        bench_row(b, counts, "ns", &c);
}

/* For how long is the program stopped, at most? Each call of the header alone, in milliseconds. */
static double longer(double a, double b)
{
    return a > b ? a : b;
}

static double major_pause(rrc_heap *heap)
{
    double start = bench_cpu_now(), middle;

    rrc_major_collection_trace(heap);
    middle = bench_cpu_now();
    rrc_major_collection_free(heap);
    return longer(middle - start, bench_cpu_now() - middle);
}

static void rows_pauses(bench *b)
{
    const char *create = "longest pause, create a P link", *live = "longest pause, all live";
    const char *die = "longest pause, all die", *run = "longest pause, 100 deallocations";
    const char *unlink = "longest pause, unlink an O link";
    data *d = b->d;
    samples c = { 0 }, l = { 0 }, a = { 0 }, r = { 0 }, u = { 0 };

    if (!bench_wants(b, create) && !bench_wants(b, live) && !bench_wants(b, die) && !bench_wants(b, run)
        && !bench_wants(b, unlink))
        return;
    while (c.count <= b->repeats) {
        rrc_heap *heap = new_heap(d);
        double longest = 0, before, now;
        size_t i, done;

        data_fresh(d, 0, d->n);
        for (i = 0, before = bench_cpu_now(); i < d->n; i++, before = now) {
            link_pypy(heap, d->p[i], &d->ob[i]->head);
            d->ob[i]->head.ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
            now = bench_cpu_now();
            longest = longer(longest, now - before);
        }
        sample(&c, longest * 1e3, 0);
        data_mark(d, 0, d->n, 1, 0);
        sample(&l, major_pause(heap) * 1e3, 0);
        data_mark(d, 0, d->n, 0, 0);
        sample(&a, major_pause(heap) * 1e3, 0);
        longest = 0;
        before = bench_cpu_now();
        do {
            done = rrc_run_pending(heap, 100);
            now = bench_cpu_now();
            longest = longer(longest, now - before);
            before = now;
        } while (done > 0);
        sample(&r, longest * 1e3, 0);
        end_heap(heap);

        heap = new_heap_that(d, 1, 0);
        link_all(heap, d, 0, d->n, RRC_REFCNT_FROM_PYPY, 0);
        longest = 0;
        for (i = 0, before = bench_cpu_now(); i < d->n; i++, before = now) {
            rrc_unlink(heap, &d->ob[d->order[i]]->head);
            now = bench_cpu_now();
            longest = longer(longest, now - before);
        }
        sample(&u, longest * 1e3, 0);
        end_heap(heap);
    }
    if (bench_wants(b, unlink))
        bench_pause(b, unlink, &u);
    if (bench_wants(b, create))
        bench_pause(b, create, &c);
    if (bench_wants(b, live))
        bench_pause(b, live, &l);
    if (bench_wants(b, die))
        bench_pause(b, die, &a);
    if (bench_wants(b, run))
        bench_pause(b, run, &r);
}

void ROWS(bench *b)
{
    row_all_live(b, "major, all live, P links", 1, 0, 0);
    row_all_live(b, "major, all live, P links held by C", 1, 1, 0);
    row_all_live(b, "major, all live, O links", 0, 0, 0);
    row_all_live(b, "major, all live, P links, search", 1, 0, 1);
    row_moved(b);
    rows_create(b);
    rows_from_obj(b);
    rows_minor(b);
    rows_all_die(b);
    rows_ob(b);
    if (!BENCH_MACRO)
        rows_pauses(b);
}
