/* Counted objects that take part in the search for cycles, and note in host.events
 * what is done to them: w tp_clear_weakrefs, f tp_finalize, c tp_clear, d tp_dealloc,
 * each with the object's tag. */

#ifndef KNOTS_H
#define KNOTS_H

#include "objects.h"

enum { KNOT_REFS = 3 };

typedef struct knot {
    OB_HEAD
    rrc_object *ref[KNOT_REFS];     /* owned */
    int tag;
    size_t traversed;               /* calls of its tp_traverse */
} knot;

#define KNOT(ob) ((knot *)(void *)(ob))

/* Knot: traverse, clear, dealloc.
   KnotFinal: and a finalizer, which calls host.on_finalize.
   KnotWeak: and weak references. KnotFull: both.
   KnotStiff: no tp_clear. KnotTable: no slot at all, but tp_members. */
extern const rrc_type Knot, KnotFinal, KnotWeak, KnotFull, KnotStiff, KnotTable;

/* The slots, for types made by tests. */
int knot_traverse(rrc_object *self, rrc_visitproc visit, void *arg);
int knot_clear(rrc_heap *heap, rrc_object *self);
void knot_dealloc(rrc_heap *heap, rrc_object *self);
extern const rrc_member knot_members[];

/* A new one, with a tag, tracked, held once. */
rrc_object *knot_new(host *h, const rrc_type *type, int tag);

/* Let field n of an object own one more reference. */
void knot_tie(host *h, rrc_object *from, int n, rrc_object *to);

/* A ring of n, of which nothing is held: first -> ... -> last -> first, tagged from
   1 on; `first` and others may be asked for. */
rrc_object *knot_ring(host *h, const rrc_type *type, int n, rrc_object **all);

/* A major collection and all that it leaves to do. */
void knot_collect(host *h);

#endif
