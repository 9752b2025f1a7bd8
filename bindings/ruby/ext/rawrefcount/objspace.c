/* C references, for those who look at Ruby's objects between collections: ObjectSpace.reachable_objects_from,
 * ObjectSpace.dump_all, GC.verify_internal_consistency. They call mark functions to learn what an object refers to.
 *
 * A wrapper shows the Ruby objects of the C objects that its own one refers to. C objects without a Ruby object
 * cannot be shown: the wrapper shows what these refer to instead. The root shows what C holds. */
#include "internal.h"

/* As many C objects without a Ruby object are passed for one wrapper. Else a dump of many wrappers of one large
   structure would take very long. */
#define MAX_PASSED 1000
#define PLACES 2048             /* a power of two, about twice as many */

typedef struct look {
    VALUE from;
    size_t count;
    rrc_object *passed[MAX_PASSED];     /* in order: visited, then to be visited */
    rrc_object *place[PLACES];          /* the same, by open addressing */
} look;

/* Ruby takes it for a reference between two of its objects, and may compare it with the ages and colors that it
   knows. So it has to be told of the reference, as of any that is stored. */
static void show(VALUE from, VALUE to)
{
    rb_gc_writebarrier(from, to);
    rb_gc_mark_movable(to);
}

static int show_reference(rrc_object *ob, void *arg)
{
    look *l = arg;
    size_t i = (size_t)(((uint64_t)(uintptr_t)ob * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (PLACES - 1);
    if (rrb_value_of(ob) != 0) {
        show(l->from, rrb_value_of(ob));
        return 0;
    }
    if (l->count == MAX_PASSED || !rrc_gc_is_tracked(rrb.heap, ob))
        return 0;
    for (; l->place[i] != NULL; i = (i + 1) & (PLACES - 1))
        if (l->place[i] == ob)
            return 0;
    l->place[i] = l->passed[l->count++] = ob;
    return 0;
}

static void show_references(rrc_object *ob, look *l)
{
    const rrc_type *type = ob->ob_type;
    const rrc_member *member;
    if (type->tp_traverse != NULL) {
        type->tp_traverse(ob, show_reference, l);
        return;
    }
    for (member = type->tp_members; member != NULL && member->name != NULL; member++) {
        rrc_object *target = *(rrc_object **)(void *)((char *)ob + member->offset);
        if (target != NULL)
            show_reference(target, l);
    }
}

void rrb_show_wrapper(rrc_object *ob)
{
    look l = { rrb_value_of(ob), 0, { NULL }, { NULL } };
    size_t i;
    if (l.from == 0 || !rrc_gc_is_tracked(rrb.heap, ob))
        return;
    show_references(ob, &l);
    for (i = 0; i < l.count; i++)
        show_references(l.passed[i], &l);
}

/* The search for what C holds is that of a major collection. It ends here, without a result. (The root has no write
   barrier. So it can show everything.) */
void rrb_show_root(void)
{
    rrb_stop_slices();
    rrb.mode = RRB_SHOWING;
    if (rrc_major_collection_trace_early(rrb.heap) == RRC_OK)
        rrc_major_collection_pause(rrb.heap);
    rrb.mode = RRB_IDLE;
}
