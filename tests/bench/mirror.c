/* mirror.c - hosts whose collector is closed (RRC_MIRROR): what the test in rrc_incref
 * and rrc_decref costs, and what a step costs for each linked object: widgets with a
 * proxy (an O link), each of which owns the view (a P link) of a callback. The host does
 * nothing: it has a byte and a pointer for what stands for an object. */
#define RAWREFCOUNT_STATIC
#define RRC_MIRROR
#include <stdlib.h>
#include "bench.h"

typedef struct slot {           /* what stands for an object in the host */
    const void *node;
    char        anchored;
} slot;

typedef struct widget {
    rrc_object  head;
    rrc_object *callback;
} widget;

static int widget_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((widget *)self)->callback);
    return 0;
}

static void widget_dealloc(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((widget *)self)->callback);
    rrc_gc_del(heap, self);
}

static const rrc_type widget_type = { .tp_name = "widget", .tp_basicsize = sizeof(widget),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = widget_traverse, .tp_dealloc = widget_dealloc };
static const rrc_type view_type = { .tp_name = "view", .tp_basicsize = sizeof(rrc_object) };

/* ---- the host ------------------------------------------------------------- */

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return p;
}

static int anchor(void *userdata, rrc_object *ob, int on)
{
    slot *s = rrc_mirror_target(*(rrc_heap **)userdata, ob);

    s->anchored = (char)on;
    return 1;
}

static int mirror(void *userdata, rrc_object *ob, rrc_object *const *targets, size_t n)
{
    rrc_heap *heap = *(rrc_heap **)userdata;
    slot *s;

    if (n == 0)
        return 0;
    s = rrc_to_obj(heap, ob);
    s->node = rrc_mirror_target(heap, targets[0]);
    rrc_mirror_set_node(heap, ob, s);
    return 0;
}

/* ---- counts --------------------------------------------------------------- */

enum { FEW = 1024 };

static BENCH_NOINLINE void count_up_and_down(rrc_heap *heap, rrc_object **obs)
{
    size_t i;

    for (i = 0; i < FEW; i++)
        rrc_incref(heap, obs[i]);
    for (i = 0; i < FEW; i++)
        rrc_decref(heap, obs[i]);
}

/* The same without RRC_MIRROR. */
static BENCH_NOINLINE void plain_up_and_down(rrc_heap *heap, rrc_object **obs)
{
    size_t i;

    for (i = 0; i < FEW; i++)
        obs[i]->ob_refcnt++;
    for (i = 0; i < FEW; i++)
        if (--obs[i]->ob_refcnt == 0)
            rrci_last_reference(heap, obs[i]);
}

static void measure_counts(bench *b, rrc_heap *heap, rrc_object **obs)
{
    samples s = { 0 };
    size_t rounds = b->d->n / FEW * 4 + 16, i;

    if (!bench_wants(b, "mirror, incref + decref"))
        return;
    for (i = 0; i < FEW; i++)
        rrc_incref(heap, obs[i]);       /* held: the first reference makes strong, the last one weak */
    while (s.count <= b->repeats) {
        double start = bench_now(), plain, unit = (double)(rounds * FEW) * 1e-9;

        for (i = 0; i < rounds; i++)
            plain_up_and_down(heap, obs);
        plain = bench_now() - start;
        start = bench_now();
        for (i = 0; i < rounds; i++)
            count_up_and_down(heap, obs);
        sample(&s, (bench_now() - start) / unit, plain / unit);
    }
    for (i = 0; i < FEW; i++)
        rrc_decref(heap, obs[i]);
    bench_row(b, "mirror, incref + decref", "ns", &s);
}

/* ---- steps ---------------------------------------------------------------- */

static int fill(rrc_heap *heap, slot *slots, rrc_object **widgets, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        rrc_object *view = rrc_new(heap, &view_type), *ob = rrc_gc_new(heap, &widget_type);

        if (view == NULL || ob == NULL || rrc_gc_track(heap, ob) != RRC_OK
                || rrc_create_link_pypy(heap, &slots[2 * i], view) != RRC_OK
                || rrc_create_link_pyobj(heap, &slots[2 * i + 1], ob) != RRC_OK)
            return 0;
        view->ob_refcnt += RRC_REFCNT_FROM_PYPY;
        ob->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
        ((widget *)ob)->callback = view;
        widgets[i] = ob;
    }
    return 1;
}

static double step(rrc_heap *heap)
{
    double start = bench_now();

    rrc_mirror_step(heap);
    return bench_now() - start;
}

void rows_mirror(bench *b)
{
    samples first = { 0 }, steady = { 0 };
    size_t n = b->d->n / 2 > FEW ? b->d->n / 2 : FEW;
    double links = (double)(2 * n) * 1e-9;
    slot *slots = malloc(2 * n * sizeof *slots);
    rrc_object **widgets = malloc(n * sizeof *widgets);

    while (bench_wants(b, "mirror") && slots != NULL && widgets != NULL && first.count <= b->repeats) {
        rrc_heap *heap = NULL;
        rrc_desc desc = { 0 };

        desc.userdata = &heap;
        desc.survivor = survivor;
        desc.anchor = anchor;
        desc.mirror = mirror;
        heap = rrc_heap_new(&desc);
        if (heap == NULL || !fill(heap, slots, widgets, n))
            break;
        sample(&first, step(heap) / links, 0);
        sample(&steady, step(heap) / links, 0);
        if (first.count > b->repeats)
            measure_counts(b, heap, widgets);
        rrc_heap_free(heap);
    }
    if (bench_wants(b, "mirror, first step"))
        bench_row(b, "mirror, first step", "ns", &first);
    if (bench_wants(b, "mirror, step, nothing changed"))
        bench_row(b, "mirror, step, nothing changed", "ns", &steady);
    free(slots);
    free(widgets);
}
