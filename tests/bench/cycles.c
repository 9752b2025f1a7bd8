/* cycles.c - the search for cycles: n tracked objects, in pairs that refer to each
 * other, or each referring to two others, so that all of them hang together; or in
 * pairs over the border between the heaps. They are live because C holds one of them
 * (of each pair), or they die. */
#define RAWREFCOUNT_STATIC
#include "nodes.h"

static const rrc_member node_members[] = {
    { "a", offsetof(node, a) }, { "b", offsetof(node, b) }, { NULL, 0 }
};

/* What slots_type says, by the table alone. */
static const rrc_type members_type = {
    .tp_name = "node", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_members = node_members
};

/* ---- the host: cells that refer to at most one other, and the nodes' memory ---- */

typedef struct graph {
    store     store;            /* of the nodes */
    rrc_heap *heap;
    size_t    n;
    node    **nodes;            /* in the order in which they were made */
    const uint32_t *order;      /* a permutation */
    cell    **cells;            /* n of them, at random addresses */
} graph;

static void *node_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    return store_realloc(&((graph *)userdata)->store, ptr, old_size, new_size);
}

/* What the host does to mark as much without the header. */
static uintptr_t mark_alone(graph *g)
{
    uintptr_t marked = 0;
    size_t i;

    for (i = 1; i < g->n; i += 2) {
        cell *c = g->cells[i];

        for (; c != NULL && !(c->word & CELL_MARK); c = (cell *)c->payload[0], marked++)
            c->word |= CELL_MARK;
    }
    return marked;
}

/* Mark it and what it reaches: its payload is the cell that it refers to. */
static void trace(void *userdata, rrc_gcref p)
{
    cell *c = p;

    for (; c != NULL && !(c->word & CELL_MARK); c = (cell *)c->payload[0]) {
        c->word |= CELL_MARK;
        rrc_marked(((graph *)userdata)->heap, c);
    }
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

/* ---- the graph ------------------------------------------------------------ */

/* To whom does an object refer? The chain is the worst case: no search can know the
   next address before it has read an object. */
typedef enum shape {
    PAIRS,                      /* each to the other of its pair, and to nothing else */
    IN_ORDER,                   /* to the two that were made after it */
    SHUFFLED,                   /* to any two */
    CHAIN,                      /* to the next two on a way through memory in random order */
    BORDER                      /* a widget to its callback's view (P link), whose cell refers to the widget's proxy (O link) */
} shape;

/* Is object i held from outside, while the graph is live? */
static int is_root(shape s, size_t i)
{
    return s == PAIRS || s == BORDER ? i % 2 == 0 : i == 0;
}

static void connect_pairs(graph *g, int back)
{
    size_t i;

    for (i = 0; i < g->n; i++) {
        g->nodes[i]->a = g->nodes[i]->b = NULL;
        g->nodes[i]->head.ob_refcnt = 1;
    }
    for (i = 0; i + 1 < g->n; i += 2) {
        g->nodes[i]->a = &g->nodes[i + 1]->head;
        if (back) {
            g->nodes[i + 1]->a = &g->nodes[i]->head;
            g->nodes[i]->head.ob_refcnt = 2;
        }
    }
}

/* But for pairs, each is referred to twice, and nodes[0] is held from outside besides. */
static void connect(graph *g, shape s)
{
    const uint32_t *order = g->order;
    size_t i, n = g->n;

    if (s == PAIRS || s == BORDER) {
        connect_pairs(g, s == PAIRS);
        return;
    }
    for (i = 0; i < n; i++) {
        size_t self = s == CHAIN ? order[i] : i, a, b;

        a = s == IN_ORDER ? (i + 1) % n : s == SHUFFLED ? order[i] : order[(i + 1) % n];
        b = s == IN_ORDER ? (i + 2) % n : s == SHUFFLED ? order[n - 1 - i] : order[(i + 2) % n];
        g->nodes[self]->a = &g->nodes[a]->head;
        g->nodes[self]->b = &g->nodes[b]->head;
        g->nodes[self]->head.ob_refcnt = 2;
    }
    g->nodes[0]->head.ob_refcnt = 3;
}

/* For the plain loops: the same memory, without the header. */
static void fill_plainly(graph *g, shape s)
{
    size_t i;

    for (i = 0; i < g->n; i++)
        g->nodes[i] = (node *)(void *)(g->store.memory + i * NODE_STRIDE + GC_HEAD);
    connect(g, s);
}

static void drop_roots(graph *g, shape s)
{
    size_t i;

    for (i = 0; i < g->n; i++)
        if (is_root(s, i))
            rrc_decref(g->heap, &g->nodes[i]->head);
}

static int link_over_the_border(graph *g)
{
    size_t i;

    for (i = 0; i < g->n; i++) {
        g->cells[i]->ob = NULL;
        g->cells[i]->payload[0] = 0;
    }
    for (i = 0; i + 1 < g->n; i += 2) {
        rrc_object *widget = &g->nodes[i]->head, *view = &g->nodes[i + 1]->head;
        cell *proxy = g->cells[i], *closure = g->cells[i + 1];

        closure->payload[0] = (intptr_t)proxy;
        if (rrc_create_link_pyobj(g->heap, proxy, widget) != RRC_OK
                || rrc_create_link_pypy(g->heap, closure, view) != RRC_OK)
            return 0;
        widget->ob_refcnt += RRC_REFCNT_FROM_PYPY;
        view->ob_refcnt += RRC_REFCNT_FROM_PYPY;
    }
    return 1;
}

static int fill(graph *g, const rrc_type *type, shape s)
{
    size_t i;

    g->store.next = g->store.memory;
    g->store.free_list = NULL;
    for (i = 0; i < g->n; i++)
        if ((g->nodes[i] = (node *)(void *)rrc_gc_new(g->heap, type)) == NULL)
            return 0;
    connect(g, s);
    for (i = 0; i < g->n; i++)
        if (rrc_gc_track(g->heap, &g->nodes[i]->head) != RRC_OK)
            return 0;
    return s == BORDER ? link_over_the_border(g) : 1;
}

static void unmark(graph *g)
{
    size_t i;

    for (i = 0; i < g->n; i++)
        g->cells[i]->word = 0;
}

/* Its time; the longer one of the collection's two calls goes to *pause. */
static double collect(graph *g, double *pause)
{
    double start, cpu, middle, end;

    unmark(g);
    start = bench_now();
    cpu = bench_cpu_now();
    rrc_major_collection_trace(g->heap);
    middle = bench_cpu_now();
    rrc_major_collection_free(g->heap);
    end = bench_cpu_now();
    *pause = middle - cpu > end - middle ? middle - cpu : end - middle;
    rrc_run_pending(g->heap, 0);
    return bench_now() - start;
}

/* What no search can leave out: read each object and what it refers to, once to see
   who is held, and once to see what that keeps. */
static uintptr_t plain_search(const graph *g)
{
    uintptr_t sum = 0;
    size_t i;
    int round;

    for (round = 0; round < 2; round++)
        for (i = 0; i < g->n; i++) {
            const node *self = g->nodes[i];

            if (i + 2 * BENCH_AHEAD < g->n)
                BENCH_PREFETCH(g->nodes[i + 2 * BENCH_AHEAD]);
            if (i + BENCH_AHEAD < g->n) {
                BENCH_PREFETCH(g->nodes[i + BENCH_AHEAD]->a);
                BENCH_PREFETCH(g->nodes[i + BENCH_AHEAD]->b);
            }
            sum += (uintptr_t)self->head.ob_refcnt;
            sum += self->a != NULL ? (uintptr_t)self->a->ob_refcnt : 0;
            sum += self->b != NULL ? (uintptr_t)self->b->ob_refcnt : 0;
        }
    return sum;
}

/* Over the border each cell is asked besides. (That the host marks it is no part of the row.) */
static uintptr_t plain_cells(const graph *g)
{
    uintptr_t sum = 0;
    size_t i;

    for (i = 0; i < g->n; i++) {
        if (i + BENCH_AHEAD < g->n)
            BENCH_PREFETCH(g->cells[i + BENCH_AHEAD]);
        sum += (uintptr_t)g->cells[i]->word;
    }
    return sum;
}

/* The rest of what dying costs: each object's memory is given back. */
static uintptr_t plain_free(graph *g)
{
    size_t i;

    for (i = 0; i < g->n; i++) {
        if (i + BENCH_AHEAD < g->n)
            BENCH_PREFETCH_WRITE((char *)g->nodes[i + BENCH_AHEAD] - GC_HEAD);
        store_give_back(&g->store, (char *)g->nodes[i] - GC_HEAD);
    }
    return g->n;
}

/* ---- rows ----------------------------------------------------------------- */

static void measure(bench *b, graph *g, const rrc_type *type, shape s, const char *live_row,
                    const char *dying_row)
{
    const char *live_pause = "longest pause, cycles, live", *dying_pause = "longest pause, cycles, dying";
    samples live = { 0 }, dying = { 0 }, live_stop = { 0 }, dying_stop = { 0 };
    int pauses = s == SHUFFLED && type == &slots_type;
    double n = (double)g->n * 1e-9;

    if (!bench_wants(b, live_row) && !bench_wants(b, dying_row)
            && !(pauses && (bench_wants(b, live_pause) || bench_wants(b, dying_pause))))
        return;
    while (live.count <= b->repeats) {
        double search, all, pause, alone = 0, start = (fill_plainly(g, s), unmark(g), bench_now());

        bench_sink += plain_search(g);
        if (s == BORDER)
            bench_sink += plain_cells(g);
        search = bench_now() - start;
        bench_sink += plain_free(g);
        all = bench_now() - start;
        if (!fill(g, type, s))
            return;
        if (s == BORDER) {      /* the host would mark these cells without the header, too */
            unmark(g);
            start = bench_now();
            bench_sink += mark_alone(g);
            alone = bench_now() - start;
        }
        sample_beyond(&live, collect(g, &pause) / n, (search + alone) / n, alone / n);
        sample(&live_stop, pause * 1e3, 0);
        drop_roots(g, s);
        sample(&dying, collect(g, &pause) / n, all / n);
        sample(&dying_stop, pause * 1e3, 0);
    }
    if (bench_wants(b, live_row))
        bench_row(b, live_row, "ns", &live);
    if (bench_wants(b, dying_row))
        bench_row(b, dying_row, "ns", &dying);
    if (pauses && bench_wants(b, live_pause))
        bench_pause(b, live_pause, &live_stop);
    if (pauses && bench_wants(b, dying_pause))
        bench_pause(b, dying_pause, &dying_stop);
}

void rows_cycles(bench *b)
{
    graph g = { 0 };
    rrc_desc desc = { 0 };

    desc.userdata = &g;
    desc.trace = trace;
    desc.survivor = survivor;
    desc.slot = slot;
    desc.reports_marks = 1;
    desc.realloc = node_realloc;
    g.n = b->d->n;
    g.order = b->d->order;
    g.cells = b->d->p;
    g.nodes = malloc(g.n * sizeof *g.nodes);
    if (g.nodes != NULL && store_make(&g.store, g.n)) {
        g.heap = rrc_heap_new(&desc);
        measure(b, &g, &slots_type, PAIRS, "cycles, live, pairs", "cycles, dying, pairs");
        measure(b, &g, &slots_type, IN_ORDER, "cycles, live, in order", "cycles, dying, in order");
        measure(b, &g, &slots_type, SHUFFLED, "cycles, live, shuffled", "cycles, dying, shuffled");
        measure(b, &g, &members_type, SHUFFLED, "cycles, live, tp_members", "cycles, dying, tp_members");
        measure(b, &g, &slots_type, CHAIN, "cycles, live, a chain", "cycles, dying, a chain");
        measure(b, &g, &slots_type, BORDER, "cycles, live, over the border", "cycles, dying, over the border");
        rrc_heap_free(g.heap);
    }
    free(g.store.memory);
    free(g.nodes);
}
