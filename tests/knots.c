#include "knots.h"

static void note(rrc_heap *heap, char what, rrc_object *self)
{
    host *h = HOST(heap);

    if (h->phase != HOST_MUTATOR)
        unit_fail(__FILE__, __LINE__, "slot %c runs inside a collection", what);
    if (KNOT(self)->tag > 0)
        host_event(h, what, KNOT(self)->tag);
}

int knot_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int i;

    KNOT(self)->traversed++;
    for (i = 0; i < KNOT_REFS; i++)
        RRC_VISIT(KNOT(self)->ref[i]);
    return 0;
}

int knot_clear(rrc_heap *heap, rrc_object *self)
{
    int i;

    check(REFCNT(self) > 0);
    note(heap, 'c', self);
    for (i = 0; i < KNOT_REFS; i++)
        RRC_CLEAR(heap, KNOT(self)->ref[i]);
    return 0;
}

void knot_dealloc(rrc_heap *heap, rrc_object *self)
{
    int i;

    check_int(REFCNT(self), 0);
    check(!rrc_gc_is_tracked(heap, self));
    note(heap, 'd', self);
    HOST(heap)->deallocs++;
    if (HOST(heap)->on_dealloc != NULL)
        HOST(heap)->on_dealloc(HOST(heap), self);
    for (i = 0; i < KNOT_REFS; i++)
        RRC_CLEAR(heap, KNOT(self)->ref[i]);
    rrc_gc_del(heap, self);
}

static void knot_finalize(rrc_heap *heap, rrc_object *self)
{
    check(REFCNT(self) > 0);
    note(heap, 'f', self);
    HOST(heap)->finalized++;
    if (HOST(heap)->on_finalize != NULL)
        HOST(heap)->on_finalize(HOST(heap), self);
}

static void knot_clear_weakrefs(rrc_heap *heap, rrc_object *self)
{
    check(REFCNT(self) > 0);
    note(heap, 'w', self);
}

const rrc_member knot_members[] = {
    { "left", offsetof(knot, ref) },
    { "middle", offsetof(knot, ref) + sizeof(rrc_object *) },
    { "right", offsetof(knot, ref) + 2 * sizeof(rrc_object *) },
    { NULL, 0 },
};

#define KNOT_TYPE(name, clear, final, weak) \
    { .tp_name = name, .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, \
      .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = clear, \
      .tp_finalize = final, .tp_clear_weakrefs = weak }

const rrc_type Knot = KNOT_TYPE("Knot", knot_clear, NULL, NULL);
const rrc_type KnotFinal = KNOT_TYPE("KnotFinal", knot_clear, knot_finalize, NULL);
const rrc_type KnotWeak = KNOT_TYPE("KnotWeak", knot_clear, NULL, knot_clear_weakrefs);
const rrc_type KnotFull = KNOT_TYPE("KnotFull", knot_clear, knot_finalize, knot_clear_weakrefs);
const rrc_type KnotStiff = KNOT_TYPE("KnotStiff", NULL, NULL, NULL);
const rrc_type KnotTable = { .tp_name = "KnotTable", .tp_basicsize = sizeof(knot),
                             .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = knot_members };

rrc_object *knot_new(host *h, const rrc_type *type, int tag)
{
    rrc_object *ob = rrc_gc_new(h->heap, type);

    check(ob != NULL);
    KNOT(ob)->tag = tag;
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    return ob;
}

void knot_tie(host *h, rrc_object *from, int n, rrc_object *to)
{
    check_ptr(KNOT(from)->ref[n], NULL);
    rrc_incref(h->heap, to);
    KNOT(from)->ref[n] = to;
}

rrc_object *knot_ring(host *h, const rrc_type *type, int n, rrc_object **all)
{
    rrc_object *first = knot_new(h, type, 1), *last = first, *next;
    int i;

    for (i = 1; i < n; i++) {
        if (all != NULL)
            all[i - 1] = last;
        next = knot_new(h, type, i + 1);
        KNOT(last)->ref[0] = next;
        last = next;
    }
    if (all != NULL)
        all[n - 1] = last;
    KNOT(last)->ref[0] = first;
    return first;
}

void knot_collect(host *h)
{
    host_major(h);
    rrc_run_pending(h->heap, 0);
}
