/* count.c - operations whose instructions are counted. What is counted is the loop in a
 * function of OP, with all that it calls; what comes before is left out. The objects are
 * those of the rows about links, N of them in an order that has nothing to do with their
 * addresses. Built for the dictionary, for slots, and for closed hosts. */
#define RAWREFCOUNT_STATIC
#include <string.h>
#include "bench.h"
#if defined(COUNT_mirror)
#include "bindings/closed/rrc_closed.h"
#endif
#include "count.h"

#if defined(COUNT_dict)
#define KIND   "dict: "
#define OPS    count_dict
#define NAME(op) op_dict_##op
#elif defined(COUNT_slot)
#define KIND   "slot: "
#define OPS    count_slot
#define NAME(op) op_slot_##op
#else
#define KIND   "mirror: "
#define OPS    count_mirror
#define NAME(op) op_mirror_##op
#endif
/* Two of them with the same body must not become one. */
#if defined(__GNUC__) && !defined(__clang__)
#define OP(op) __attribute__((no_icf)) void NAME(op)(void); void NAME(op)(void)
#else
#define OP(op) void NAME(op)(void); void NAME(op)(void)
#endif
#define TEXT(name) TEXT2(name)
#define TEXT2(name) #name
#define ENTRY(name, op, prepare, times) { name, TEXT(NAME(op)), NAME(op), prepare, times }

enum { N = 4096, TIMES = 1000 };

static rrc_heap *heap;
static cell *p[N], *target[N];
static object *ob[N];
static size_t order[N];         /* a permutation */
static volatile uintptr_t sink;

/* ---- the host ------------------------------------------------------------- */

static int reports;             /* the host tells what it marks, and a cell's payload is the one it refers to */
static int young;               /* all of them, or none */

#if defined(COUNT_mirror)

static size_t nodes_made;       /* those of the host are targets */

static int pin(void *userdata, rrc_cell *c, int on)
{
    (void)userdata;
    ((cell *)c->object)->payload[0] = on;
    return on;
}

static void *new_node(void *userdata, rrc_object *of, size_t n)
{
    (void)userdata, (void)of, (void)n;
    return target[nodes_made++];
}

static int write_node(void *userdata, rrc_cell *c, rrc_cell *const *targets, size_t n)
{
    (void)userdata;
    ((cell *)c->object)->payload[1] = n > 0 ? (intptr_t)targets[0]->object : 0;
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *c)
{
    (void)userdata;
    ((cell *)proxy->object)->payload[1] = (intptr_t)c->object;
}

#else

static void trace(void *userdata, rrc_gcref of)
{
    cell *c = of;

    (void)userdata;
    if (!reports) {
        c->word |= CELL_MARK;
        return;
    }
    for (; c != NULL && !(c->word & CELL_MARK); c = (cell *)c->payload[0]) {
        c->word |= CELL_MARK;
        rrc_marked(heap, c);
    }
}

static rrc_gcref survivor(void *userdata, rrc_gcref of)
{
    intptr_t word = ((cell *)of)->word;

    (void)userdata;
    return word & CELL_MARK ? (char *)of + (word & ~(intptr_t)CELL_BITS) : NULL;
}

static int is_young(void *userdata, rrc_gcref of)
{
    (void)userdata, (void)of;
    return young;
}

#if defined(COUNT_slot)
static rrc_object **slot(void *userdata, rrc_gcref of)
{
    (void)userdata;
    return &((cell *)of)->ob;
}
#endif

#endif

/* ---- objects -------------------------------------------------------------- */

static void free_object(rrc_heap *h, void *self)
{
    (void)h;
    sink = (uintptr_t)self;
}

static void dealloc(rrc_heap *h, rrc_object *self)
{
    self->ob_type->tp_free(h, self);
}

static const rrc_type object_type = { .tp_name = "object", .tp_basicsize = sizeof(object),
                                      .tp_dealloc = dealloc, .tp_free = free_object };

/* ---- what is prepared ----------------------------------------------------- */

static void fresh(void)         /* a new heap; the old one is left as it is */
{
    static uint64_t random = 0x9e3779b97f4a7c15u;
    static char *cells, *obs;
    rrc_desc desc = { 0 };
#if defined(COUNT_mirror)
    rrc_closed_desc closed;
#endif
    size_t i;

    if (cells == NULL) {
        cells = count_memory(2 * N * sizeof(cell));
        obs = count_memory(N * BENCH_OB_STRIDE);
        for (i = 0; i < N; i++)
            order[i] = i;
        for (i = N; i > 1; i--) {
            size_t j, swap = order[i - 1];

            random = random * 6364136223846793005u + 1442695040888963407u;
            j = (size_t)(random >> 33) % i;
            order[i - 1] = order[j];
            order[j] = swap;
        }
    }
    for (i = 0; i < N; i++) {
        p[i] = (cell *)(void *)(cells + order[i] * sizeof(cell));
        target[i] = (cell *)(void *)(cells + (N + order[N - 1 - i]) * sizeof(cell));
        ob[i] = (object *)(void *)(obs + order[order[i]] * BENCH_OB_STRIDE + BENCH_OB_FRONT);
        memset(p[i], 0, sizeof *p[i]);
        BENCH_CLEAR_FRONT(ob[i]);
        ob[i]->head.ob_refcnt = 1;
        ob[i]->head.ob_pypy_link = NULL;
        ob[i]->head.ob_type = &object_type;
    }
    young = 0;
    desc.realloc = count_realloc;
#if defined(COUNT_mirror)
    nodes_made = 0;
    memset(&closed, 0, sizeof closed);
    closed.pin = pin;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    heap = rrc_closed_new(&desc, &closed);
#else
    desc.trace = trace;
    desc.survivor = survivor;
    desc.is_young = is_young;
    desc.reports_marks = reports;
#if defined(COUNT_slot)
    desc.slot = slot;
#endif
    heap = rrc_heap_new(&desc);
#endif
}

#if !defined(COUNT_mirror)

static void major(void)
{
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
}

static void minor(void)
{
    rrc_minor_collection_trace(heap);
    rrc_minor_collection_free(heap);
}

static void link_all(intptr_t bias, int pypy)
{
    size_t i;

    for (i = 0; i < N; i++) {
        if (pypy)
            rrc_create_link_pypy(heap, p[i], &ob[i]->head);
        else
            rrc_create_link_pyobj(heap, p[i], &ob[i]->head);
        ob[i]->head.ob_refcnt += bias - 1;
    }
}

static void mark(int marked, int moving)
{
    size_t i;

    for (i = 0; i < N; i++)
        p[i]->word = (marked ? CELL_MARK : 0) | (moving ? (intptr_t)target[i] - (intptr_t)p[i] : 0);
}

static void fresh_young(void) { fresh(); young = 1; }
static void p_links(void)     { fresh(); link_all(RRC_REFCNT_FROM_PYPY, 1); }
static void live_p(void)      { p_links(); mark(1, 0); }
static void held_p(void)      { fresh(); link_all(RRC_REFCNT_FROM_PYPY + 1, 1); }
static void live_o(void)      { fresh(); link_all(RRC_REFCNT_FROM_PYPY, 0); mark(1, 0); }
static void moved_p(void)     { p_links(); mark(1, 1); }
static void dead_light(void)  { fresh(); link_all(RRC_REFCNT_FROM_PYPY_LIGHT, 1); }
static void dead_queued(void) { p_links(); major(); }
static void moved_young(void) { fresh_young(); link_all(RRC_REFCNT_FROM_PYPY, 1); mark(1, 1); }
static void dead_young(void)  { fresh_young(); link_all(RRC_REFCNT_FROM_PYPY, 1); }

OP(create)           { link_all(RRC_REFCNT_FROM_PYPY, 1); }
OP(create_young)     { link_all(RRC_REFCNT_FROM_PYPY, 1); }
OP(major_live)       { major(); }
OP(major_held)       { major(); }
OP(major_live_o)     { major(); }
OP(major_moved)      { major(); }
OP(major_die)        { major(); }
OP(major_die_light)  { major(); }
OP(run_pending)      { rrc_run_pending(heap, 0); }
OP(minor_moved)      { minor(); }
OP(minor_die)        { minor(); }

OP(minor_none)
{
    int i;

    for (i = 0; i < TIMES; i++)
        minor();
}

OP(from_obj)
{
    size_t i;

    for (i = 0; i < N; i++)
        sink = (uintptr_t)rrc_from_obj(heap, p[order[i]]);
}

OP(from_obj_none)
{
    size_t i;

    for (i = 0; i < N; i++)
        sink = (uintptr_t)rrc_from_obj(heap, target[order[i]]);
}

OP(to_obj)
{
    size_t i;

    for (i = 0; i < N; i++)
        sink = (uintptr_t)rrc_to_obj(heap, &ob[order[i]]->head);
}

OP(unlink)
{
    size_t i;

    for (i = 0; i < N; i++)
        rrc_unlink(heap, &ob[order[i]]->head);
}

#define LINK_ENTRIES \
    ENTRY(KIND "create a P link, old p", create, fresh, N), \
    ENTRY(KIND "create a P link, young p", create_young, fresh_young, N), \
    ENTRY(KIND "rrc_from_obj", from_obj, p_links, N), \
    ENTRY(KIND "rrc_from_obj, there is none", from_obj_none, p_links, N), \
    ENTRY(KIND "rrc_to_obj", to_obj, p_links, N), \
    ENTRY(KIND "rrc_unlink", unlink, p_links, N), \
    ENTRY(KIND "minor, no young links, in all", minor_none, p_links, TIMES), \
    ENTRY(KIND "minor, a young link that moved", minor_moved, moved_young, N), \
    ENTRY(KIND "minor, a young link that died", minor_die, dead_young, N), \
    ENTRY(KIND "major, all live, P links", major_live, live_p, N), \
    ENTRY(KIND "major, all live, P links held by C", major_held, held_p, N), \
    ENTRY(KIND "major, all live, O links", major_live_o, live_o, N), \
    ENTRY(KIND "major, all live, every p moved", major_moved, moved_p, N), \
    ENTRY(KIND "major, all die, queued", major_die, p_links, N), \
    ENTRY(KIND "major, all die, light: and freed", major_die_light, dead_light, N), \
    ENTRY(KIND "rrc_run_pending, an object", run_pending, dead_queued, N)

#endif

/* ---- counts: with and without the test that a closed host needs ------------ */

static void unlinked(void)
{
    reports = 0;
    fresh();
}

OP(counts)
{
    size_t i;

    for (i = 0; i < N; i++) {
        rrc_incref(heap, &ob[i]->head);
        BENCH_BARRIER();
        rrc_decref(heap, &ob[i]->head);
    }
}

/* ---- objects of rrc_new and rrc_gc_new -------------------------------------- */

#if !defined(COUNT_slot)

typedef struct node {           /* a tracked object with two fields */
    rrc_object  head;
    rrc_object *a, *b;
} node;

static node *nodes[N];

static int node_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((node *)self)->a);
    RRC_VISIT(((node *)self)->b);
    return 0;
}

static int node_clear(rrc_heap *h, rrc_object *self)
{
    RRC_CLEAR(h, ((node *)self)->a);
    RRC_CLEAR(h, ((node *)self)->b);
    return 0;
}

static void node_dealloc(rrc_heap *h, rrc_object *self)
{
    node_clear(h, self);
    rrc_gc_del(h, self);
}

static const rrc_type new_type = { .tp_name = "new", .tp_basicsize = sizeof(object) };
static const rrc_type node_type = { .tp_name = "node", .tp_basicsize = sizeof(node),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = node_dealloc, .tp_traverse = node_traverse,
    .tp_clear = node_clear };

#endif

/* ---- objects and cycles: no matter how a p is found ------------------------ */

#if defined(COUNT_dict)

static void make_nodes(void)
{
    size_t i;

    fresh();
    for (i = 0; i < N; i++)
        nodes[i] = (node *)(void *)rrc_gc_new(heap, &node_type);
}

static void track_nodes(void)
{
    size_t i;

    for (i = 0; i < N; i++)
        rrc_gc_track(heap, &nodes[i]->head);
}

static void live_pairs(void)    /* C holds one of each */
{
    size_t i;

    make_nodes();
    for (i = 0; i < N; i += 2) {
        nodes[i]->a = &nodes[i + 1]->head;
        nodes[i + 1]->a = &nodes[i]->head;
        nodes[i]->head.ob_refcnt = 2;
    }
    track_nodes();
}

static void dying_pairs(void)
{
    size_t i;

    live_pairs();
    for (i = 0; i < N; i += 2)
        rrc_decref(heap, &nodes[i]->head);
}

static void live_shuffled(void) /* each refers to any two */
{
    size_t i;

    make_nodes();
    for (i = 0; i < N; i++) {
        nodes[i]->a = &nodes[order[i]]->head;
        nodes[i]->b = &nodes[order[N - 1 - i]]->head;
        nodes[i]->head.ob_refcnt = 2;
    }
    nodes[0]->head.ob_refcnt = 3;
    track_nodes();
}

static void dying_shuffled(void)
{
    live_shuffled();
    rrc_decref(heap, &nodes[0]->head);
}

/* A widget (O link) to its callback's view (P link), whose cell refers to the widget's proxy. */
static void live_border(void)
{
    size_t i;

    reports = 1;
    make_nodes();
    for (i = 0; i < N; i += 2) {
        rrc_object *widget = &nodes[i]->head, *view = &nodes[i + 1]->head;

        nodes[i]->a = view;
        p[i + 1]->payload[0] = (intptr_t)p[i];
        rrc_create_link_pyobj(heap, p[i], widget);
        rrc_create_link_pypy(heap, p[i + 1], view);
        widget->ob_refcnt += RRC_REFCNT_FROM_PYPY;
        view->ob_refcnt += RRC_REFCNT_FROM_PYPY;
    }
    track_nodes();
}

static void dying_border(void)
{
    size_t i;

    live_border();
    for (i = 0; i < N; i += 2)
        rrc_decref(heap, &nodes[i]->head);
}

OP(border_live)      { major(); rrc_run_pending(heap, 0); }
OP(border_dying)     { major(); rrc_run_pending(heap, 0); }
OP(cycles_live)      { major(); rrc_run_pending(heap, 0); }
OP(cycles_dying)     { major(); rrc_run_pending(heap, 0); }
OP(shuffled_live)    { major(); rrc_run_pending(heap, 0); }
OP(shuffled_dying)   { major(); rrc_run_pending(heap, 0); }

OP(new_and_drop)
{
    size_t i;

    for (i = 0; i < N; i++)
        rrc_decref(heap, rrc_new(heap, &new_type));
}

OP(track_and_drop)
{
    size_t i;

    for (i = 0; i < N; i++) {
        rrc_object *self = rrc_gc_new(heap, &node_type);

        rrc_gc_track(heap, self);
        rrc_decref(heap, self);
    }
}

#define OBJECT_ENTRIES \
    ENTRY("rrc_new, then rrc_decref", new_and_drop, fresh, N), \
    ENTRY("rrc_gc_new, track, then rrc_decref", track_and_drop, fresh, N), \
    ENTRY("cycles, live, pairs", cycles_live, live_pairs, N), \
    ENTRY("cycles, dying, pairs", cycles_dying, dying_pairs, N), \
    ENTRY("cycles, live, shuffled", shuffled_live, live_shuffled, N), \
    ENTRY("cycles, dying, shuffled", shuffled_dying, dying_shuffled, N), \
    ENTRY("cycles, live, over the border", border_live, live_border, N), \
    ENTRY("cycles, dying, over the border", border_dying, dying_border, N),

#else
#define OBJECT_ENTRIES
#endif

/* ---- closed hosts: widgets with a proxy that own the view of a callback ---- */

#if defined(COUNT_mirror)

static void linked_widgets(void)
{
    size_t i;

    fresh();
    for (i = 0; i < N; i += 2) {
        rrc_object *view = rrc_new(heap, &new_type), *widget = rrc_gc_new(heap, &node_type);

        nodes[i] = (node *)(void *)widget;
        nodes[i]->a = view;
        rrc_gc_track(heap, widget);
        rrc_cell_link(heap, p[i], view, RRC_P);
        rrc_cell_link(heap, p[i + 1], widget, RRC_O | RRC_GIVE);
    }
}

static void weak_widgets(void)
{
    linked_widgets();
    rrc_closed_step(heap);
}

OP(first_step)       { rrc_closed_step(heap); }
OP(step)             { rrc_closed_step(heap); }

OP(weak_counts)                 /* each time it becomes strong, and weak again */
{
    size_t i;

    for (i = 0; i < N; i += 2) {
        rrc_incref(heap, &nodes[i]->head);
        BENCH_BARRIER();
        rrc_decref(heap, &nodes[i]->head);
    }
}

#define KIND_ENTRIES \
    ENTRY(KIND "first step, a link", first_step, linked_widgets, N), \
    ENTRY(KIND "step, nothing changed, a link", step, weak_widgets, N), \
    ENTRY(KIND "incref + decref of a weak object", weak_counts, weak_widgets, N / 2),
#else
#define KIND_ENTRIES LINK_ENTRIES,
#endif

const count_op OPS[] = {
    KIND_ENTRIES
    OBJECT_ENTRIES
    ENTRY(KIND "incref + decref", counts, unlinked, N),
    { NULL, NULL, NULL, NULL, 0 }
};
