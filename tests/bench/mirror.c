/* mirror.c - hosts whose collector is closed (rrc_closed.h): what the test in rrc_incref
 * and rrc_decref costs, what a step costs for each linked object, and how long the calls of
 * a step in slices take. There are widgets with a proxy (an O link), each of which owns the
 * view (a P link) of a callback. The host does nothing: its objects have a byte and a pointer. */
#define RAWREFCOUNT_STATIC
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "bindings/closed/rrc_closed.h"

typedef struct slot {           /* an object of the host */
    const void *to;             /* of a proxy: the edge node; of a node: what it refers to */
    char        pinned;
} slot;

enum { SLOTS = 3 };             /* for each widget: view, proxy and edge node */

typedef struct closed_host {
    slot  *slots;
    size_t used;
} closed_host;

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

static int pin(void *userdata, rrc_cell *c, int on)
{
    (void)userdata;
    ((slot *)c->object)->pinned = (char)on;
    return on;
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    closed_host *vm = userdata;

    (void)ob, (void)n;
    return &vm->slots[vm->used++];
}

static int write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    (void)userdata;
    ((slot *)node->object)->to = n > 0 ? targets[0]->object : NULL;
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    (void)userdata;
    ((slot *)proxy->object)->to = node->object;
}

static rrc_heap *open_heap(closed_host *vm)
{
    rrc_desc desc = { 0 };
    rrc_closed_desc closed = { 0 };

    vm->used = 0;
    desc.userdata = vm;
    closed.pin = pin;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    return rrc_closed_new(&desc, &closed);
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

/* The same without that test. */
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

/* A heap with n widgets, or NULL. */
static rrc_heap *filled_heap(closed_host *vm, rrc_object **widgets, size_t n)
{
    rrc_heap *heap = open_heap(vm);
    size_t i;

    for (i = 0; heap != NULL && i < n; i++) {
        rrc_object *view = rrc_new(heap, &view_type), *ob = rrc_gc_new(heap, &widget_type);

        if (view == NULL || ob == NULL || rrc_gc_track(heap, ob) != RRC_OK
                || rrc_cell_link(heap, &vm->slots[vm->used++], view, RRC_P) != RRC_OK
                || rrc_cell_link(heap, &vm->slots[vm->used++], ob, RRC_O | RRC_GIVE) != RRC_OK)
            return NULL;
        ((widget *)ob)->callback = view;
        widgets[i] = ob;
    }
    return heap;
}

static double step(rrc_heap *heap)
{
    double start = bench_now();

    rrc_closed_step(heap);
    return bench_now() - start;
}

void rows_mirror(bench *b)
{
    samples first = { 0 }, steady = { 0 };
    size_t n = b->d->n / 2 > FEW ? b->d->n / 2 : FEW;
    double links = (double)(2 * n) * 1e-9;
    closed_host vm = { malloc(SLOTS * n * sizeof(slot)), 0 };
    rrc_object **widgets = malloc(n * sizeof *widgets);

    while (bench_wants(b, "mirror") && vm.slots != NULL && widgets != NULL && first.count <= b->repeats) {
        rrc_heap *heap = filled_heap(&vm, widgets, n);

        if (heap == NULL)
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
    free(vm.slots);
    free(widgets);
}

/* ---- pauses --------------------------------------------------------------- */

/* The steps: all objects are new; nothing has changed; C has held each tenth widget since the last one; the mutator
   holds and drops widgets between two slices. */
enum { FIRST, IDLE, TOUCHED, MEANWHILE, STEPS };
enum { MAX = 1000, BETWEEN = 4, TENTH = 10 };

static const char *const steps[] = { "first", "idle", "touched", "meanwhile" };

typedef struct pauses {
    samples     whole, ratio;
    calls       slices;                 /* of the turn whose longest one was the shortest */
    least_times least;
} pauses;

static void hold_and_drop(rrc_heap *heap, rrc_object *ob)
{
    rrc_incref(heap, ob);
    rrc_decref(heap, ob);
}

static void touch_some(rrc_heap *heap, rrc_object **widgets, size_t n)
{
    size_t i;

    for (i = 0; i < n; i += TENTH)
        hold_and_drop(heap, widgets[i]);
}

/* Returns the time of all slices. */
static double step_in_slices(const data *d, rrc_heap *heap, rrc_object **widgets, size_t n, size_t held, watch *work,
                             watch *hold)
{
    size_t done, next = 0, i;

    do {
        watch_begin(work);
        done = rrc_closed_work(heap, MAX);
        watch_end(work);
        for (i = 0; i < held; i++) {
            watch_begin(hold);
            hold_and_drop(heap, widgets[d->order[next++ % d->n] % n]);
            watch_end(hold);
        }
        watch_flush(hold);
    } while (done >= MAX);
    return work->calls.sum;
}

/* One turn: the steps in one heap whole, in another one in slices. */
static int pause_turn(bench *b, closed_host *vm, rrc_object **widgets, size_t n, pauses *of, least_times *counts,
                      int is_kept)
{
    double whole[STEPS], unit = (double)(2 * n) * 1e-9;
    rrc_heap *heap = filled_heap(vm, widgets, n);
    watch hold;
    int which;

    if (heap == NULL)
        return 0;
    for (which = FIRST; which < MEANWHILE; which++) {
        double start;

        if (which == TOUCHED)
            touch_some(heap, widgets, n);
        start = bench_cpu_now();
        rrc_closed_step(heap);
        whole[which] = bench_cpu_now() - start;
        sample(&of[which].whole, whole[which] * 1e3, 0);
    }
    rrc_heap_free(heap);

    heap = filled_heap(vm, widgets, n);
    if (heap == NULL)
        return 0;
    watch_turn(&hold, is_kept ? counts : NULL, BENCH_BATCH);
    for (which = FIRST; which < STEPS; which++) {
        watch work;
        double all;

        if (which >= TOUCHED)
            touch_some(heap, widgets, n);
        watch_turn(&work, is_kept ? &of[which].least : NULL, 1);
        all = step_in_slices(b->d, heap, widgets, n, which == MEANWHILE ? BETWEEN : 0, &work, &hold);
        if (which < MEANWHILE)
            sample(&of[which].ratio, all / unit, whole[which] / unit);
        if (is_kept)
            calls_keep_best(&of[which].slices, &work.calls);
    }
    rrc_heap_free(heap);
    return 1;
}

static void pause_row(bench *b, const char *step_name, const char *name, double ms)
{
    samples s = { 2, { 0 }, { 0 }, { 0 } };
    char row[64];

    snprintf(row, sizeof row, "pause, %s step, %s", step_name, name);
    s.value[0] = ms;
    if (bench_wants(b, row))
        bench_pause(b, row, &s);
}

void rows_mirror_pauses(bench *b)
{
    pauses of[STEPS];
    least_times counts = { 0 };
    size_t n = b->d->n / 2 > FEW ? b->d->n / 2 : FEW;
    closed_host vm = { malloc(SLOTS * n * sizeof(slot)), 0 };
    rrc_object **widgets = malloc(n * sizeof *widgets);
    int turns, which, good = vm.slots != NULL && widgets != NULL;

    memset(of, 0, sizeof of);
    for (turns = 0; good && turns <= b->repeats && bench_wants(b, "pause"); turns++)
        good = pause_turn(b, &vm, widgets, n, of, &counts, turns > 0);
    if (!good) {
        printf("FAILED: mirror pauses, %lu: there is not enough memory\n", (unsigned long)b->d->n);
        b->failed = 1;
    }
    for (which = FIRST; which < STEPS && of[which].least.count > 0; which++) {
        char text[64];

        if (which < MEANWHILE)
            pause_row(b, steps[which], "whole", best(of[which].whole.value, b->repeats));
        pause_row(b, steps[which], "longest slice", of[which].slices.longest * 1e3);
        pause_row(b, steps[which], "rrc_closed_work", least_longest(&of[which].least) * 1e3);
        if (which == MEANWHILE)
            pause_row(b, steps[which], "incref + decref", least_longest(&counts) * 1e3);
        snprintf(text, sizeof text, "pause, %s step, slices in all", steps[which]);
        if (which < MEANWHILE && bench_wants(b, text))
            bench_row(b, text, "ns", &of[which].ratio);
        snprintf(text, sizeof text, "%s step, slices", steps[which]);
        bench_calls(b, text, &of[which].slices);
        free(of[which].least.time);
    }
    free(counts.time);
    free(vm.slots);
    free(widgets);
}
