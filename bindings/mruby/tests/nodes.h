/* nodes.h - what the tests of the mruby binding share: counted objects that own others, as
 * classes of mruby; and an mruby whose allocator fails when told to.
 */
#ifndef NODES_H
#define NODES_H

#include "rrc_mruby.h"
#include "rrc_mruby_insight.h"
#include "foreign.h"

enum { FIELDS = 3 };

typedef struct node {
    rrc_object  head;
    int         id;
    rrc_object *field[FIELDS];
    foreign    *of;                     /* of a Wrapper; else NULL */
} node;

extern const rrc_type node_type;        /* tracked */
extern const rrc_type wrapper_type;     /* ... with a foreign object */
extern const rrc_mruby_class AnyNode, NodeClass;

/* Called with the id of each node that is deallocated. NULL: nobody wants to know. */
extern void (*node_freed)(int id);

/* How many exceptions of deallocs were printed. */
extern int reports;

node *node_make(rrc_heap *heap, const rrc_type *type, int id);
int   node_count(void);
void  node_forget_all(void);            /* count from 0 again */

/* A mrb_state with the classes Node, Finalized, Like and Loose, the module Nodes, and a tiny
 * library of mruby code. It fails the test where it cannot be made. */
mrb_state *nodes_open(void);

/* May a full collection begin now? mruby 3.2 itself loses objects if it interrupts a major collection of the
   generational mode. */
int nodes_can_interrupt(const mrb_state *mrb);

/* From now on the binding steps when rrc_mruby_step is called, or very much is new. */
void nodes_step_by_hand(mrb_state *mrb);

/* How mruby's allocations fail from now on: one of n, at random, but not when mruby has collected
   and asks again (1: so each allocation collects); or all after the next `after` (-1: none). */
extern long memory_hiccup, memory_after;

/* Makes mruby's collector go on at each allocation. */
extern int memory_stress;

#endif
