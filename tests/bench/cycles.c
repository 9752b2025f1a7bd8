/* cycles.c - the search for cycles: n tracked objects, in pairs that refer to each
 * other, or each referring to two others, so that all of them hang together. They are
 * live because C holds one of them (of each pair), or they die. */
#define RAWREFCOUNT_STATIC
#include <stdlib.h>
#include "bench.h"

typedef struct node {
    rrc_object  head;
    rrc_object *a, *b;
    intptr_t    payload;
} node;

static const rrc_member node_members[] = {
    { "a", offsetof(node, a) }, { "b", offsetof(node, b) }, { NULL, 0 }
};

static int node_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((node *)self)->a);
    RRC_VISIT(((node *)self)->b);
    return 0;
}

static int node_clear(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((node *)self)->a);
    RRC_CLEAR(heap, ((node *)self)->b);
    return 0;
}

static void node_dealloc(rrc_heap *heap, rrc_object *self)
{
    node_clear(heap, self);
    rrc_gc_del(heap, self);
}

/* The same twice: with slots written by hand, as most C types have them, and with
   the table alone. */
static const rrc_type slots_type = {
    .tp_name = "node", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = node_dealloc, .tp_traverse = node_traverse, .tp_clear = node_clear
};
static const rrc_type members_type = {
    .tp_name = "node", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_members = node_members
};

/* ---- the host: a heap without objects, and the nodes' memory -------------- */

/* Nodes lie where malloc would place them when asked for one after the other, so that
   some of them cross a cache line. To give one back is a push on a list, the least
   that it can cost. */
enum { NODE_STRIDE = 80, GC_HEAD = 16 };

typedef struct pool {
    char *memory, *next, *end;
    void *free_list;
} pool;

static void *pool_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    pool *self = userdata;
    char *block = ptr;

    (void)old_size;
    if (block >= self->memory && block < self->end) {   /* a node goes */
        *(void **)ptr = self->free_list;
        self->free_list = ptr;
        return NULL;
    }
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    if (ptr != NULL || new_size > NODE_STRIDE)          /* a table of the header */
        return realloc(ptr, new_size);
    block = self->next;
    self->next += NODE_STRIDE;
    return block < self->end ? block : NULL;
}

static void trace(void *userdata, rrc_gcref p)
{
    (void)userdata, (void)p;
}

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return p;
}

/* ---- the graph ------------------------------------------------------------ */

typedef struct graph {
    pool      pool;
    rrc_heap *heap;
    size_t    n;
    node    **nodes;            /* in the order in which they were made */
    const uint32_t *order;      /* a permutation */
} graph;

/* To whom does an object refer? The chain is the worst case: no search can know the
   next address before it has read an object. */
typedef enum shape {
    PAIRS,                      /* each to the other of its pair, and to nothing else */
    IN_ORDER,                   /* to the two that were made after it */
    SHUFFLED,                   /* to any two */
    CHAIN                       /* to the next two on a way through memory in random order */
} shape;

/* Is object i held from outside, while the graph is live? */
static int is_root(shape s, size_t i)
{
    return s == PAIRS ? i % 2 == 0 : i == 0;
}

static void connect_pairs(graph *g)
{
    size_t i;

    for (i = 0; i < g->n; i++) {
        g->nodes[i]->a = g->nodes[i]->b = NULL;
        g->nodes[i]->head.ob_refcnt = 1;
    }
    for (i = 0; i + 1 < g->n; i += 2) {
        g->nodes[i]->a = &g->nodes[i + 1]->head;
        g->nodes[i + 1]->a = &g->nodes[i]->head;
        g->nodes[i]->head.ob_refcnt = 2;
    }
}

/* But for pairs, each is referred to twice, and nodes[0] is held from outside besides. */
static void connect(graph *g, shape s)
{
    const uint32_t *order = g->order;
    size_t i, n = g->n;

    if (s == PAIRS) {
        connect_pairs(g);
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
        g->nodes[i] = (node *)(void *)(g->pool.memory + i * NODE_STRIDE + GC_HEAD);
    connect(g, s);
}

static void drop_roots(graph *g, shape s)
{
    size_t i;

    for (i = 0; i < g->n; i++)
        if (is_root(s, i))
            rrc_decref(g->heap, &g->nodes[i]->head);
}

static int fill(graph *g, const rrc_type *type, shape s)
{
    size_t i;

    g->pool.next = g->pool.memory;
    for (i = 0; i < g->n; i++)
        if ((g->nodes[i] = (node *)(void *)rrc_gc_new(g->heap, type)) == NULL)
            return 0;
    connect(g, s);
    for (i = 0; i < g->n; i++)
        if (rrc_gc_track(g->heap, &g->nodes[i]->head) != RRC_OK)
            return 0;
    return 1;
}

static double collect(rrc_heap *heap)
{
    double start = bench_now();

    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    rrc_run_pending(heap, 0);
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

/* The rest of what dying costs: each object's memory is given back. */
static uintptr_t plain_free(graph *g)
{
    size_t i;

    for (i = 0; i < g->n; i++) {
        if (i + BENCH_AHEAD < g->n)
            BENCH_PREFETCH_WRITE((char *)g->nodes[i + BENCH_AHEAD] - GC_HEAD);
        pool_realloc(&g->pool, (char *)g->nodes[i] - GC_HEAD, 0, 0);
    }
    return g->n;
}

/* ---- rows ----------------------------------------------------------------- */

static void measure(bench *b, graph *g, const rrc_type *type, shape s,
                    const char *live_row, const char *dying_row)
{
    samples live = { 0 }, dying = { 0 };
    double n = (double)g->n * 1e-9;

    if (!bench_wants(b, live_row) && !bench_wants(b, dying_row))
        return;
    while (live.count <= b->repeats) {
        double search, all, start = (fill_plainly(g, s), bench_now());

        bench_sink += plain_search(g);
        search = bench_now() - start;
        bench_sink += plain_free(g);
        all = bench_now() - start;
        if (!fill(g, type, s))
            return;
        sample(&live, collect(g->heap) / n, search / n);
        drop_roots(g, s);
        sample(&dying, collect(g->heap) / n, all / n);
    }
    if (bench_wants(b, live_row))
        bench_row(b, live_row, "ns", &live, s != CHAIN ? 15 : 0, 0);
    if (bench_wants(b, dying_row))
        bench_row(b, dying_row, "ns", &dying, s != CHAIN ? 35 : 0, 0);
}

void rows_cycles(bench *b)
{
    graph g = { 0 };
    rrc_desc desc = { 0 };
    size_t bytes = b->d->n * NODE_STRIDE;

    desc.userdata = &g.pool;
    desc.trace = trace;
    desc.survivor = survivor;
    desc.realloc = pool_realloc;
    g.n = b->d->n;
    g.order = b->d->order;
    g.nodes = malloc(g.n * sizeof *g.nodes);
    g.pool.memory = malloc(bytes);
    if (g.nodes != NULL && g.pool.memory != NULL) {
        g.pool.end = g.pool.memory + bytes;
        g.heap = rrc_heap_new(&desc);
        measure(b, &g, &slots_type, PAIRS, "cycles, live, pairs", "cycles, dying, pairs");
        measure(b, &g, &slots_type, IN_ORDER, "cycles, live, in order", "cycles, dying, in order");
        measure(b, &g, &slots_type, SHUFFLED, "cycles, live, shuffled", "cycles, dying, shuffled");
        measure(b, &g, &members_type, SHUFFLED, "cycles, live, tp_members", "cycles, dying, tp_members");
        measure(b, &g, &slots_type, CHAIN, "cycles, live, a chain", "cycles, dying, a chain");
        rrc_heap_free(g.heap);
    }
    free(g.pool.memory);
    free(g.nodes);
}
