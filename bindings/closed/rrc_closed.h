/* rrc_closed.h - rawrefcount.h for hosts whose collector is closed
 *
 *     #define RAWREFCOUNT_IMPLEMENTATION      // in exactly one C or C++ file
 *     #include "rawrefcount.h"
 *     #include "rrc_closed.h"
 *
 *     rrc_heap *heap = rrc_closed_new(&desc, &closed);        // in place of rrc_heap_new
 *     rrc_cell_link(heap, obj, ob, RRC_O);                    // in place of rrc_link
 *     rrc_closed_keep_up(heap, 1, 0);                         // at the end of each cycle of the host's collector
 *
 * Such a collector cannot be driven, and does not say what it has marked; that of stock Lua is one. This layer over
 * rawrefcount.h lets it find garbage cycles over both heaps all the same. RAWREFCOUNT_IMPLEMENTATION switches on the
 * functions of both headers, in the same unit. Other units include both headers alike, or only rawrefcount.h. Open and
 * closed heaps can live side by side. The page README.md beside this file is a guide. The license is that of
 * rawrefcount.h.
 *
 * CONTENTS (search for the tag): >>types, >>functions, >>wrappers, >>mirror (how it works, and why it is right),
 * >>implementation (data, cells, what stands for an object, weak and strong, edge nodes, deaths, weighing, mirroring,
 * letting go, functions of cells, the step, the layer, maps)
 */

#ifndef RRC_CLOSED_H
#define RRC_CLOSED_H

#ifndef RAWREFCOUNT_H
#error "rrc_closed.h: include rawrefcount.h first"
#endif
#ifdef RRC_NO_CYCLES
#error "rrc_closed.h: it needs the search for cycles: do not define RRC_NO_CYCLES"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* >>types
 * --------------------------------------------------------------------------- */

/* A cell: what stands for an object of a closed host, as the p of a link, or as the edge node of a C object. It does
   not move, and outlives the host's object. The host's own struct can begin with it: see cell_size in
   rrc_closed_desc. The header makes and frees cells. The host reads these fields, and writes only `object` and `tag`. */
typedef struct rrc_cell {
    void       *object;         /* the host's; NULL: it has died */
    rrc_object *ob;
    uint32_t    place;          /* the header's: where its link is */
    unsigned    number : 27;    /* from 1 on. A new cell gets that of one that has gone, if there is one */
    unsigned    is_node : 1;    /* an edge node */
    unsigned    is_pinned : 1;
    unsigned    is_free : 1;    /* there is no such cell at present */
    unsigned    tag : 2;        /* for the host; 0 at first */
} rrc_cell;

/* What a closed host adds to rrc_desc, which needs no trace. survivor and parted of rrc_desc must be NULL: the header
   supplies them. These hooks get the userdata of rrc_desc. Zero in a field means its default; the struct is copied.
   new_node and write_node may run code that calls the header. The others may call only rrc_to_obj and
   rrc_cell_of_node. */
typedef struct rrc_closed_desc {
    /* If on, root the object of the cell, else unroot it. Return whether it is rooted now: 0 if it is to be rooted, but
       has died; not 0 if it is to be unrooted, but the host keeps it rooted until the next call for the cell. (There is
       none while C takes no reference: keep only what is about to go.) This is called only when that changes, and while
       the object is there, also by rrc_incref, rrc_decref and the link functions. It must be O(1) and allocate
       nothing. */
    int (*pin)(void *userdata, rrc_cell *cell, int on);

    /* Make and return an empty object for the edge node of ob, which will refer to n others, or to an unknown number (0).
       This may collect and run finalizers with any code. It must return to its caller. NULL reports failure. (If a
       finalizer has made a node of ob meanwhile, the object is not used, and watch is not called for it.) */
    void *(*new_node)(void *userdata, rrc_object *ob, size_t n);

    /* Make the edge node refer to the objects of these n cells, and to nothing else. This may collect, as new_node may:
       then a target's object can become NULL, so read it after the last allocation. A result other than 0 reports
       failure. The node then refers to its former targets, or to some of them. If n is 0, this must allocate nothing,
       and cannot fail: other objects may still refer to the node. */
    int (*write_node)(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n);

    /* Make the object of proxy, a cell that is linked or about to be, refer to that of the edge node, and no longer to
       an earlier node. This must allocate nothing, and cannot fail. It is called for tracked objects. */
    void (*join)(void *userdata, rrc_cell *proxy, rrc_cell *node);

    /* The cell has just got its object: let the object know the cell, and watch for its death. This must allocate
       nothing in the host, and cannot fail: what it needs is reserved before. NULL: nothing is to be done. */
    void (*watch)(void *userdata, rrc_cell *cell);

    /* A cell is about to be freed. Its object, if it is alive, must forget the cell. If it has died, its finalizer must
       not report that any more. The ob is still there. (cell->ob is NULL if a call of rrc_unlink itself has dissolved
       the link, and the heap ends.) This must allocate nothing. NULL: nothing is to be done. */
    void (*forget)(void *userdata, rrc_cell *cell);

    /* Is the object of the cell, which is not NULL, alive? NULL: it is, until rrc_cell_died is called. This is for
       hosts where a finalizer runs, or the object is freed, later than the collector has found it dead. If may_defer,
       and to find out would take long, the host can say that it is: the next step asks again. */
    int (*is_live)(void *userdata, const rrc_cell *cell, int may_defer);

    /* The size of the host's struct that begins with a rrc_cell. 0: there is nothing more in it. */
    size_t cell_size;

    /* Not zero: in rrc_gc_collect, no code of the program runs in calls of new_node and write_node, and in a call of
       collect not before the collection has found its dead, in any thread. Then wrappers need not stay rooted
       meanwhile, and garbage cycles through them go: see >>wrappers. If finalizers of the program can run before
       collect returns, call rrc_touch before the first of them for each wrapper that has not died. */
    int collects_at_once;
} rrc_closed_desc;

/* Numbers about a closed heap, besides those of rrc_stats. */
typedef struct rrc_closed_stats {
    size_t edge_nodes;                          /* edge nodes that the host has made */
    size_t mirrored;                            /* updates of edge nodes, since rrc_closed_new */
    size_t mirror_steps;                        /* finished since rrc_closed_new */
    size_t mirror_cycles;                       /* calls of rrc_closed_cycle since the last step */
    size_t cells;                               /* see rrc_cell */
} rrc_closed_stats;

/* >>functions
 * ---------------------------------------------------------------------------
 * The tags in brackets are those of rawrefcount.h, >>api. */

/* Make a heap for a closed host. Returns NULL as rrc_heap_new does, and also if closed lacks a hook. The functions of
   collections are refused in it; all others are called as for any heap. Objects of rrc_gc_new take 16 bytes more there.
   Both structs are copied.
   [any | allocates | calls no hook but realloc and log | O(1)] */
RRC_INLINE rrc_heap *rrc_closed_new(const rrc_desc *desc, const rrc_closed_desc *closed);

/* Fill in stats. Fails with RRC_ENULL, RRC_ECLOSED, and with RRC_ETYPE if rrc_closed_new did not make the heap.
   [any until rrc_heap_free is done | no | nothing | O(1)] */
RRC_API int rrc_closed_get_stats(const rrc_heap *heap, rrc_closed_stats *stats);

/* Count the weak objects: those that only the host's graph keeps. 0 if rrc_closed_new did not make the heap, or when it
   ends. [any | no | nothing | O(links + tracked objects)] */
RRC_API size_t rrc_closed_count_weak(const rrc_heap *heap);

/* Bring the host's mirror of the C side up to date, so that its own collector finds garbage over both heaps. An open
   step of rrc_closed_work is given up. In a closed heap every reference must, from the start, be taken by rrc_incref and
   dropped by rrc_decref (and moved after rrc_touch). After RRC_ENOMEM, RRC_ETRAVERSE or RRC_ETOUCH all objects that C
   refers to are strong for now, and nothing is lost. RRC_EPHASE, which is not logged, means that a dealloc,
   rrc_run_pending, a walk or another step is running, and nothing was done.
   [mutator until rrc_heap_free | allocates | calls is_live, new_node, write_node, join, pin, watch, forget,
   tp_traverse | O(links + tracked objects + references)] */
RRC_API int rrc_closed_step(rrc_heap *heap);

/* Do a slice of a step. Begin one if none is open. `max` is the number of units, each some 10 to 100 ns: a link, an
   object or a reference; an edge node that is brought up to date is 16. 0 means all that is left. Returns the units
   done: less than max means that the step has ended. The mutator and the host's collector run between slices;
   rrc_closed_step and rrc_gc_collect give an open step up. While the objects of C are weighed, rrc_run_pending leaves
   garbage alone. A single object's tp_traverse and a single edge node are not divided. Errors are those of
   rrc_closed_step. They are logged, but not returned: after one, rrc_closed_is_due says yes.
   [mutator until rrc_heap_free | allocates | as rrc_closed_step | O(max)] */
RRC_API size_t rrc_closed_work(rrc_heap *heap, size_t max);

/* A cycle of the host's collector has ended. Is a step to be made now? Call this once for each cycle. The answer is yes
   when about a quarter of all objects and links has changed, and after 8 cycles without a step if anything has. (The
   header does not notice that a reference is dropped if others are left, nor that p has died if only the host holds the
   ob of its P link.) So it is also yes if nothing has changed: after 8 cycles, and after twice as many each time that
   such a step finds nothing, up to 64. If it does find something, the next three answers are yes, too, because what it
   let go of dies in the next cycles. While a step is open, the answer is yes.
   [any | no | nothing | O(1)] */
RRC_API int rrc_closed_cycle(rrc_heap *heap);

/* Return what rrc_closed_cycle would, but for the cycle that it counts. [any | no | nothing | O(1)] */
RRC_API int rrc_closed_is_due(rrc_heap *heap);

/* Begin a step if one is due, go on with one that is open, and do pending work. Call this at the end of each cycle of the
   host's collector, with has_cycle_ended 1, and before an object of the host is made for one of C, with 0. At the end
   of a cycle rrc_closed_cycle decides. Otherwise a step is due if more than a quarter of all links is newer than the
   last step: the host's collector cannot find garbage among them yet. At most max units of the step are done, as by
   rrc_closed_work, and max units of pending work, as by rrc_run_pending; 0: all. The calls that follow do the rest.
   If the step fails, garbage waits for the next one.
   [mutator, ignored in a step and in rrc_heap_free | allocates | calls dealloc, and what rrc_closed_step calls |
   O(max); 0: O(pending objects), and as rrc_closed_step if one is due] */
RRC_API void rrc_closed_keep_up(rrc_heap *heap, int has_cycle_ended, size_t max);

/* The host is about to end, and has dropped its roots: deallocate what nothing holds any more, owners before what they
   own, also through the host (an object owns a table of the host, in which is the proxy of another object). This
   collects by the hook `collect`, as often as that frees anything, while all that C refers to is rooted. So it frees
   one object of each path of owners at a time, and nothing that is in or below a cycle over both heaps; cycles of C
   alone go. At most so many objects and links are looked at as in rrc_heap_free. What is left is for that, and has no
   order. Returns how many objects have gone. Without `collect`, and where rrc_gc_collect does nothing, it is 0.
   [mutator until rrc_heap_free | allocates | calls collect, dealloc, is_live, pin, forget, tp_traverse |
   O(rounds * (host objects + links + tracked objects + references))] */
RRC_API size_t rrc_closed_collect_in_order(rrc_heap *heap);

/* For the tables of a port: a map from addresses, such as those of the host's objects, to values. It is empty if all
   its bytes are 0. */
typedef struct rrc_map {
    size_t count, size;         /* of keys, and of entries: 0, or a power of two */
    struct rrci_entry *entries;
} rrc_map;

/* Return the value of key, or NULL if the map does not have key. [any | no | nothing | O(1)] */
RRC_API void *rrc_map_get(const rrc_map *map, const void *key);

/* Make room for so many new keys. Fails with RRC_ENULL, RRC_EPHASE, RRC_ECLOSED, RRC_ENOMEM. Then the map is as before.
   [mutator | allocates | calls realloc | O(1) amortized] */
RRC_API int rrc_map_reserve(rrc_heap *heap, rrc_map *map, size_t more);

/* Give key, which is not NULL, this value. There must be room for a new key. The value NULL takes key out of the map,
   and makes room for another one. [any | no | nothing | O(1)] */
RRC_API void rrc_map_put(rrc_map *map, const void *key, void *value);

/* Free the memory of the map, which is empty then. Call this before rrc_heap_free.
   [any | frees only | calls realloc | O(1)] */
RRC_API void rrc_map_free(rrc_heap *heap, rrc_map *map);

/* ---- cells: see rrc_cell ----
   In a closed heap all links are made by rrc_cell_link, as rrc_link refuses, and dissolved by the functions below, and
   never by rrc_unlink itself. The header frees a cell, after a call of forget, when its link has been dissolved (also if a
   step finds its object dead, or the object of C is garbage), when an edge node is not needed any more, and when the
   heap ends. Then the next cell that is made takes its place and its number. (One that goes during a call of
   write_node keeps them until that returns.) The memory of cells is given back when the heap ends. */

/* Make room for a cell. Returns the number of the next one that is made, so that the host can make room for it in
   tables of its own. 0: memory is lacking, or the heap is not closed. [mutator | allocates | calls realloc | O(1)] */
RRC_API unsigned rrc_cell_reserve(rrc_heap *heap);

/* Return the cell with this number, or NULL if there is none at present. [any | no | nothing | O(1)] */
RRC_API rrc_cell *rrc_cell_at(const rrc_heap *heap, unsigned number);

/* Link ob and obj, an object of the host, by a new cell, as rrc_link does: kind is RRC_P or RRC_O, also with RRC_LIGHT
   or RRC_GIVE. If ob has an edge node, obj is made to refer to it first. Returns a code of rrc_link, RRC_ENULL if
   obj is NULL, or RRC_EPHASE if the heap is not closed. rrc_cell_of gives the cell afterwards. (If ob has a cell whose
   object has died, that one is dissolved first.) A call that fails has called no hook but log and realloc. (The p of the
   link is the cell: a second P link of obj is not refused, and the host must not make one.)
   [mutator | allocates | calls watch, join, pin, forget, and what rrc_link calls | as rrc_link] */
RRC_API int rrc_cell_link(rrc_heap *heap, void *obj, rrc_object *ob, int kind);

/* Return the cell of ob's link, whose object is alive, or NULL, as always in a heap that is not closed. If the host
   has not reported yet that the object has died, its link is dissolved now.
   [mutator | no | calls what rrc_cell_unlink calls | O(1), or as rrc_unlink] */
RRC_API rrc_cell *rrc_cell_of(rrc_heap *heap, rrc_object *ob);

/* Dissolve the link of a cell, as rrc_unlink does, and free the cell. Its object may live on without ob. A call that
   rrc_unlink would refuse does nothing, and returns its code. Then the cell stays.
   [mutator | no | calls pin, write_node without targets, forget, and what rrc_unlink calls | as rrc_unlink] */
RRC_API int rrc_cell_unlink(rrc_heap *heap, rrc_cell *cell);

/* Return the cell of ob's edge node, or NULL. Its object may have died. [any | no | nothing | O(1)] */
RRC_API rrc_cell *rrc_cell_of_node(rrc_heap *heap, rrc_object *ob);

/* Return the cell of the edge node of ob, which is tracked, and keep it from now on, even if ob owns nothing: the host
   has things of its own in the node. If there is no node, or it has died, obj is it from now on: an empty object of the
   host. NULL: memory is lacking, or ob is not tracked. [mutator | allocates | calls watch, join, pin | O(1)] */
RRC_API rrc_cell *rrc_cell_keep_node(rrc_heap *heap, rrc_object *ob, void *obj);

/* Make a cell for use by the host alone: it is the p of no link, and no edge node. NULL: memory is lacking.
   rrc_cell_free frees it. [mutator | allocates | calls watch | O(1)] */
RRC_API rrc_cell *rrc_cell_new(rrc_heap *heap, void *obj, rrc_object *ob);
RRC_API void rrc_cell_free(rrc_heap *heap, rrc_cell *cell);

/* The object of the cell has died. Call this from its finalizer, for links and edge nodes alike. The link is dissolved,
   and the cell of an edge node waits for the next step. If the host allows no such call there, let the finalizer only
   set cell->object to NULL, and call rrc_cell_bury_all as soon as possible.
   [mutator | no | calls what rrc_cell_unlink calls | as rrc_unlink] */
RRC_API void rrc_cell_died(rrc_heap *heap, rrc_cell *cell);

/* Do what rrc_cell_unlink does, and then what rrc_run_pending(heap, max) does, for a finalizer that may run any code. If
   nothing else waits and nothing else holds the cell's ob, it is deallocated without waiting, too, in the queue. Returns
   what rrc_run_pending does.
   [mutator | no | calls what rrc_cell_unlink and rrc_run_pending call | as these] */
RRC_API size_t rrc_cell_unlink_and_run(rrc_heap *heap, rrc_cell *cell, size_t max);

/* Call rrc_cell_died for each cell whose object is NULL.
   [mutator | no | calls what rrc_cell_unlink calls | O(cells)] */
RRC_API void rrc_cell_bury_all(rrc_heap *heap);

/* Call visit(arg, cell) for all cells, those of edge nodes too. visit may dissolve links and make cells. Some of those
   that are made meanwhile are left out. [any | no | calls visit | O(cells)] */
RRC_API void rrc_cell_each(rrc_heap *heap, void (*visit)(void *arg, rrc_cell *cell), void *arg);

/* ---- what the inline functions need ---- */

RRC_API rrc_heap *rrci_closed_new(const rrc_desc *desc, const rrc_closed_desc *closed, const char *config);

#ifdef __cplusplus
}
#endif

RRC_INLINE rrc_heap *rrc_closed_new(const rrc_desc *desc, const rrc_closed_desc *closed)
{
    return rrci_closed_new(desc, closed, RRCI_CONFIG);
}

#endif /* RRC_CLOSED_H */

/* >>wrappers
 * ---------------------------------------------------------------------------
 * In a closed heap a wrapper whose foreign references are all explained could become weak. But then foreign code takes
 * a reference, and nobody makes the wrapper strong. So a wrapper stays rooted, but for one case: a collection of
 * rrc_gc_collect finds its dead while the program stands still (collects_at_once). What a step has weighed just before
 * is true until then, and a step just after it roots the others again.
 *
 * A tracked wrapper that loses its link while others refer to its foreign object is held by the header from then on
 * (rrci_mirror_words.held), as nobody else would. So is one that is not garbage any more. If C holds it besides, and it
 * was not weak, it was parted on purpose, and lives by its count. Steps weigh what is held: when visits explain all, it is
 * garbage of C. Its p was not kept, so a wrapper should have a P link in such a heap, if p has data. */

/* >>mirror
 * ---------------------------------------------------------------------------
 * The host's collector has strong roots, weak references that tell when an object has died, and fields that it
 * follows. So the header mirrors edges between C objects by edges in the host's heap. The host's own collector, be
 * it incremental or generational, then finds all that is unreachable over both heaps.
 *
 *   edge node   an object of the host for a tracked ob that owns others. It refers to the object that stands for each of
 *               them: the p of a P link, else their edge node. The p of a linked ob, of either kind, refers to ob's edge
 *               node.
 *   strong      The object that stands for ob is rooted, because C may hold ob.
 *   weak        The object that stands for ob is not rooted, because all references to ob are mirrored. The sign bit of
 *               the count marks ob as weak, in any band. An rrc_incref of a weak object makes it strong (it tests its
 *               result), and so does rrc_touch. An rrc_decref that leaves just the bias makes an object weak.
 *
 * An object for which nothing stands is neither strong nor weak. A static object is always strong.
 *
 * In a closed heap every reference is taken by rrc_incref and dropped by rrc_decref, from the start. A reference
 * that leaves a field in another way is moved after rrc_touch. Therefore all edges to a weak object are mirrored,
 * and stay so: a new reference needs an incref, and one that moves needs a touch. An edge in the host's heap whose
 * reference is gone leaks until the next step.
 *
 * A step does the following, at once (rrc_closed_step) or in slices (rrc_closed_work):
 *
 *   1. deaths   Links whose p has died are dissolved by the rule. Edge nodes that died are forgotten, and what their
 *               objects own becomes strong. The same happens at any time when an object becomes strong and what stands
 *               for it turns out to be dead. If that is a p, the object stays weak until the next step dissolves the
 *               link.
 *   2. weigh    Trial deletion, as in >>slices: when an object is seen first, it becomes weak, but its anchor stays. An
 *               rrc_incref or rrc_touch makes it strong again. It also becomes strong if tracked objects do not explain
 *               all references to it. If there are objects without links whose references are all explained, they may be
 *               garbage of C alone: a search among C objects decides. The garbage is set aside for rrc_run_pending. It is
 *               strong, and so is all that it owns.
 *   3. mirror   Edge nodes are made and brought up to date. This part allocates in the host, which may collect, and run
 *               finalizers with any code. This code may take references, which makes objects strong again.
 *   4. let go   The anchors of the objects that are still weak are dropped.
 *
 * Why this is right although the mutator and the host's collector run between slices: an object that is still weak
 * in 4 has been weak since it was seen first. So it has gained no reference since, and none has moved. All
 * references to it that existed then were explained, each by the field of a tracked object, and 3 has mirrored that
 * field if the object did not list it. An object that was made, tracked or linked meanwhile is strong. The p of an
 * anchored object cannot die. If another p dies in the middle, the next step finds that.
 *
 * If 3 fails, or a traverse is wrong, all objects that C refers to become strong. That leaks for a while, but loses
 * nothing. If a step is given up, what has become weak in it becomes strong.
 *
 * Deaths: the host reports the deaths that it finds by calling rrc_cell_died (from a proxy's finalizer, also in the
 * middle of 3). The header finds the others by calling is_live: those of P links on host objects without a
 * finalizer. When all links of a garbage cycle are dissolved, C objects that hold each other are left. The search
 * among C objects finds these, and rrc_run_pending finalizes and clears them. An object that loses its link, or
 * waits to be cleared or deallocated, is strong. So all that it refers to stays whole, unless the host has already
 * found it dead.
 *
 * The header remembers the targets of an edge node as a sum over the numbers of the objects that stand for them. A
 * number is given once, so that the header notices if another object has taken over an address. An object without
 * RRC_TPFLAGS_HAVE_GC has no number. An edge to it counts as changed unless the object is weak already, or no link
 * was made since the last step. */

/* >>implementation
 * --------------------------------------------------------------------------- */
#if defined(RAWREFCOUNT_IMPLEMENTATION) && !defined(RRCI_CLOSED_IMPLEMENTED)
#define RRCI_CLOSED_IMPLEMENTED

#if RRCI_SLOT_IS_FIXED
#error "rrc_closed.h: do not define RRC_HOST_SLOT: in a closed host p can be dead before the header learns of it"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data ---- */

/* The stages of a step, in their order, and what holds in each. heap->machine.cursor is the place in the list that the
   stage passes. In RRCI_STEP_EXPLAIN to RRCI_STEP_SEARCH heap->rest is RRCI_LAYER_RESTS.

   RRCI_NO_STEP          No step is open.
   RRCI_STEP_DEATHS      P links from the cursor on are dissolved if p died.
   RRCI_STEP_DEAD_NODES  The same holds for all P links. From the cursor on, dead edge nodes are forgotten.
   RRCI_STEP_EXPLAIN     Tracked objects before the cursor have visited. heap->machine.stage is RRCI_EXPLAIN.
   RRCI_STEP_SIFT        The same holds for all, and all references are explained. Of the objects before the cursor, only
                         those are weak to which nothing but tracked objects refers.
   RRCI_STEP_SEARCH      The same holds for all, and there are suspects. heap->machine.stage says more: RRCI_SCAN,
                         RRCI_DRAIN, RRCI_FINALIZABLE, RRCI_ASIDE.
   RRCI_STEP_MIRROR      From the cursor on, edge nodes are up to date.
   RRCI_STEP_RELEASE     All are. From the cursor on, weak objects have no anchor.
   RRCI_STEP_RELEASE_P   The same holds for all tracked objects, and for the P links from the cursor on.
   RRCI_STEP_TRIM        The same holds for all objects. Spare memory is given back. */
typedef enum rrci_step_stage {
    RRCI_NO_STEP, RRCI_STEP_DEATHS, RRCI_STEP_DEAD_NODES, RRCI_STEP_EXPLAIN, RRCI_STEP_SIFT, RRCI_STEP_SEARCH,
    RRCI_STEP_MIRROR, RRCI_STEP_RELEASE, RRCI_STEP_RELEASE_P, RRCI_STEP_TRIM
} rrci_step_stage;

/* A step of a closed heap. */
typedef struct rrci_step {
    rrci_step_stage stage;
    int      code;              /* an error: all that C refers to becomes strong again */
    int      is_given_up;       /* what has become weak in this step becomes strong again */
    int      is_stale;          /* an edge node is not up to date */
    int      gave_numbers;      /* other edge nodes may have to list objects that got a number */
    size_t   changes, links_made, found_dead;   /* those of rrci_closed_heap when it began */
    size_t   tracked;           /* number of entries of RRCI_TRACKED when RRCI_STEP_EXPLAIN began */
    size_t   suspects;          /* objects that may be garbage of C alone */
    int      was_quiet;         /* it began because so many cycles had none: see rrc_closed_cycle */
    size_t   pending;           /* objects when it began */
    size_t   let_go;            /* objects that have lost their anchors */
} rrci_step;

/* The layer's part of a heap. */
typedef struct rrci_closed_heap {
    rrc_closed_desc desc;
    size_t        node_count;   /* edge nodes */
    size_t        changes;      /* since the last step, but for those that heap->machine.changed counts: ... */
    size_t        changed;      /* ... its value then */
    size_t        links_made;   /* since the last step */
    size_t        mirrored, mirror_steps;
    unsigned      last_number : 25;     /* the last number of what stands for an object */
    size_t        found_dead;   /* weak objects whose p had died when C took a reference, since the last step */
    rrc_object   *lost;         /* what they own is to become strong next; threaded through the sum of edges */
    unsigned      pinning;      /* inside the hook pin */
    rrci_step     step;
    int           is_at_once;   /* in a step of rrc_gc_collect that lets wrappers be weak: desc.collects_at_once */
    int           is_in_order;  /* steps mirror nothing, and root all that C refers to: rrc_closed_collect_in_order */
    size_t        cycles;       /* calls of rrc_closed_cycle since the last step */
    size_t        most_cycles;  /* after so many a step is due, even if nothing has changed */
    unsigned      eager;        /* in so many of the next calls a step is due */

    /* Cells: see rrc_cell. */
    char        **blocks;       /* of cells; that number 0 has is not used */
    size_t        block_count, blocks_room;
    rrc_cell     *free_cells, *gone_cells;      /* ... and those that become free later. Each has the next one as ob */
    size_t        cell_count;   /* without those that are free or gone */
    int           holds_cells;  /* cells that go are not free yet: see rrci_mirror_one */
    rrc_object  **targets;      /* of the edge node that is brought up to date: a buffer for so many, ... */
    rrc_cell    **target_cells; /* ... and in the same block for what stands for them */
    size_t        targets_room;
} rrci_closed_heap;

static rrci_closed_heap *rrci_closed(const rrc_heap *heap)
{
    return (rrci_closed_heap *)heap->layer_data;
}

/* Does the open step look for deaths? */
static int rrci_is_looking(const rrc_heap *heap)
{
    rrci_step_stage stage = rrci_closed(heap)->step.stage;
    return stage == RRCI_STEP_DEATHS || stage == RRCI_STEP_DEAD_NODES;
}

/* The layer's words in front of the GC head of each object of rrc_gc_new: mostly in the same cache line. To get at the
   edge node takes two dependent loads more: the place of its block, and the cell. */
typedef struct rrci_mirror_words {
    uint32_t  node;             /* the number of the edge node, or 0 */
    unsigned  number : 25;      /* of what stands for the object in the host's heap, or 0. So many are given before one
                                   is given again that an object at the same address, with the same number, is the one
                                   that was in a sum */
    unsigned  wanted : 1;       /* it owns something, and must have an edge node */
    unsigned  stale : 1;        /* the node is to be made, changed or forgotten */
    unsigned  pending : 1;      /* it became weak in this step, and has its anchor */
    unsigned  lost : 1;         /* the node died before ob did, and was not written again */
    unsigned  kept : 1;         /* the host keeps things of its own in the node */
    unsigned  held : 1;         /* the header holds this wrapper: see rrci_is_held_for_others */
    unsigned  p_died : 1;       /* its p was found dead, and it is still linked: see rrci_root */
    uint64_t  edges;            /* a sum over what it refers to: see rrci_add_edge */
#ifdef RRC_DEBUG
    rrc_map   listed;           /* what the edge node refers to */
#endif
} rrci_mirror_words;

typedef union rrci_mirror_head {
    rrci_mirror_words is;
    char alignment[(sizeof(rrci_mirror_words) + 15) / 16 * 16];
} rrci_mirror_head;

/* ob is one of rrc_gc_new. */
static rrci_mirror_head *rrci_mirror_head_of(rrc_object *ob)
{
    return (rrci_mirror_head *)(void *)((char *)rrci_gc_head_of(ob) - RRCI_DEBUG_HEAD) - 1;
}

#define RRCI_PREFETCH_NODE(ob) \
    do { \
        RRCI_PREFETCH_FIELDS(ob); \
        RRCI_PREFETCH_TO_WRITE((const char *)((uintptr_t)(ob) - sizeof(rrci_gc_head) - sizeof(rrci_mirror_head))); \
    } while (0)

/* In an object of rrc_new, which has no such words: it is pending. (The core does not use that bit there.) */
#define RRCI_GC_ANCHORED RRCI_GC_OWNED

/* Is ob weak? Garbage that waits is watched as well, but is not weak. */
static int rrci_is_weak(rrc_object *ob)
{
    return RRC_REFCNT(ob) < 0 && !(rrci_is_gc_object(ob) && rrci_is_waiting(rrci_gc_head_of(ob)));
}

/* ---- cells ---- */

static int rrci_may_be_live(const rrc_heap *heap, const rrc_cell *c, int may_defer)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    return c->object != NULL
        && (closed->desc.is_live == NULL || closed->desc.is_live(heap->desc.userdata, c, may_defer));
}

static int rrci_is_cell_live(const rrc_heap *heap, const rrc_cell *c)
{
    return rrci_may_be_live(heap, c, 0);
}

#define RRCI_CELLS_OF_A_BLOCK 64
#define RRCI_MOST_CELLS (1u << 27)

static rrc_cell *rrci_cell_at(const rrc_heap *heap, size_t number)
{
    const rrci_closed_heap *closed = rrci_closed(heap);
    return (rrc_cell *)(void *)(closed->blocks[number / RRCI_CELLS_OF_A_BLOCK]
                                + number % RRCI_CELLS_OF_A_BLOCK * closed->desc.cell_size);
}

/* Put a cell that is not in use into one of the two lists of these. */
static void rrci_push_cell(rrc_cell **list, rrc_cell *c)
{
    c->object = NULL;
    c->is_free = 1;
    c->ob = (rrc_object *)(void *)*list;
    *list = c;
}

/* Make a block of cells. Returns 0 if memory is lacking. */
static RRCI_COLD int rrci_add_cells(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    size_t bytes = RRCI_CELLS_OF_A_BLOCK * closed->desc.cell_size, first = closed->block_count * RRCI_CELLS_OF_A_BLOCK, i;
    char *block;
    if (first >= RRCI_MOST_CELLS)
        return 0;
    if (closed->block_count == closed->blocks_room) {
        size_t room = 2 * closed->blocks_room + 4;
        char **grown = (char **)rrci_alloc_table(heap, room * sizeof *grown);
        if (grown == NULL)
            return 0;
        if (closed->block_count > 0)
            memcpy(grown, closed->blocks, closed->block_count * sizeof *grown);
        rrci_free_table(heap, closed->blocks, closed->blocks_room * sizeof *grown);
        closed->blocks = grown;
        closed->blocks_room = room;
    }
    block = (char *)rrci_alloc_table(heap, bytes);
    if (block == NULL)
        return 0;
    memset(block, 0, bytes);
    closed->blocks[closed->block_count++] = block;
    for (i = RRCI_CELLS_OF_A_BLOCK; i-- > (first > 0 ? 0u : 1u);) {
        rrc_cell *c = rrci_cell_at(heap, first + i);
        c->number = (unsigned)(first + i) & (RRCI_MOST_CELLS - 1);
        rrci_push_cell(&closed->free_cells, c);
    }
    return 1;
}

static int rrci_reserve_cell(rrc_heap *heap)
{
    return rrci_closed(heap)->free_cells != NULL || rrci_add_cells(heap);
}

/* A new cell for this object of the host, which knows nothing of it yet. There is room. */
static rrc_cell *rrci_take_cell(rrc_heap *heap, void *obj, rrc_object *ob, int is_node)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrc_cell *c = closed->free_cells;
    closed->free_cells = (rrc_cell *)(void *)c->ob;
    c->object = obj;
    c->ob = ob;
    c->is_node = is_node != 0;
    c->is_pinned = c->is_free = 0;
    c->tag = 0;
    if (closed->desc.cell_size > sizeof *c)
        memset(c + 1, 0, closed->desc.cell_size - sizeof *c);
    return c;
}

/* The cell is going to be used: let its object know it. */
static void rrci_watch_cell(rrc_heap *heap, rrc_cell *c)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    closed->cell_count++;
    if (closed->desc.watch != NULL)
        closed->desc.watch(heap->desc.userdata, c);
}

/* Cells that have gone may be used again. */
static void rrci_free_gone_cells(rrci_closed_heap *closed)
{
    closed->holds_cells = 0;
    while (closed->gone_cells != NULL) {
        rrc_cell *c = closed->gone_cells;
        closed->gone_cells = (rrc_cell *)(void *)c->ob;
        rrci_push_cell(&closed->free_cells, c);
    }
}

/* Root the object of the cell, or unroot it. Returns whether it is rooted then. */
static int rrci_pin(rrc_heap *heap, rrc_cell *c, int on)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    if (c->object == NULL) {
        c->is_pinned = 0;
    } else if ((int)c->is_pinned != on) {
        closed->pinning++;
        RRCI_BEGIN_HOOK(heap);
        c->is_pinned = closed->desc.pin(heap->desc.userdata, c, on) != 0;
        RRCI_END_HOOK(heap);
        closed->pinning--;
    }
    return (int)c->is_pinned;
}

/* The header has no link and no node with this cell any more. */
static void rrci_free_cell(rrc_heap *heap, rrc_cell *c)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    RRC_ASSERT(!c->is_free && "each cell goes once");
    if (c->is_pinned)
        rrci_pin(heap, c, 0);
    if (closed->desc.forget != NULL)
        closed->desc.forget(heap->desc.userdata, c);
    closed->cell_count--;
    rrci_push_cell(closed->holds_cells ? &closed->gone_cells : &closed->free_cells, c);
}

/* The hook survivor. A step that looks for deaths dissolves the link of a dead p. */
static rrc_gcref rrci_live_cell(void *userdata, rrc_gcref p)
{
    rrc_heap *heap = (rrc_heap *)userdata;
    rrc_cell *c = (rrc_cell *)p;
    if (rrci_may_be_live(heap, c, 1))
        return p;
    RRC_ASSERT(rrci_is_looking(heap) && "only a step asks, and dissolves the link");
    rrci_free_cell(heap, c);
    return NULL;
}

/* The hook parted. */
static void rrci_part_cell(void *userdata, rrc_gcref p, rrc_object *ob)
{
    (void)ob;
    rrci_free_cell((rrc_heap *)userdata, (rrc_cell *)p);
}

/* ---- what stands for an object ---- */

static void rrci_give_number(rrc_heap *heap, rrci_mirror_head *head)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    closed->last_number++;
    if (closed->last_number == 0)
        closed->last_number = 1;
    head->is.number = closed->last_number;
}

static inline rrc_cell *rrci_node_in(const rrc_heap *heap, const rrci_mirror_head *head)
{
    return head->is.node != 0 ? rrci_cell_at(heap, head->is.node) : NULL;
}

static inline rrc_cell *rrci_node_of(const rrc_heap *heap, rrc_object *ob)
{
    return rrci_is_gc_object(ob) ? rrci_node_in(heap, rrci_mirror_head_of(ob)) : NULL;
}

RRC_API rrc_cell *rrc_cell_of_node(rrc_heap *heap, rrc_object *ob)
{
    return heap != NULL && heap->layer != NULL && ob != NULL ? rrci_node_of(heap, ob) : NULL;
}

/* What stands for ob: the p of its P link, else its edge node, else NULL. */
static rrc_cell *rrci_target(rrc_heap *heap, rrc_object *ob)
{
    return rrci_is_p_linked(heap, ob) ? (rrc_cell *)RRC_LINK(ob) : rrci_node_of(heap, ob);
}

/* The cell of ob's link, or NULL. (A marker is none.) */
static rrc_cell *rrci_cell_of_link(const rrc_heap *heap, rrc_object *ob)
{
    rrc_gcref p = RRC_LINK(ob);
    return rrci_is_linked_ob(ob) && p != NULL && p != heap->links.marker ? (rrc_cell *)p : NULL;
}

/* The link field of ob is in use. Has it a cell whose object has died? */
static int rrci_has_dead_cell(rrc_heap *heap, rrc_object *ob)
{
    const rrc_cell *c = rrci_cell_of_link(heap, ob);
    return c != NULL && !rrci_is_cell_live(heap, c);
}

/* ---- weak and strong ---- */

static void rrci_set_weak(rrc_object *ob)
{
    RRC_REFCNT(ob) |= INTPTR_MIN;
}

static void rrci_clear_weak(rrc_object *ob)
{
    if (rrci_is_weak(ob))
        RRC_REFCNT(ob) &= INTPTR_MAX;
}

/* Has ob become weak in this step? Then it still has its anchor. (Without a GC head it loses that at once.) */
static int rrci_is_anchored(rrc_object *ob)
{
    return rrci_is_gc_object(ob) ? rrci_mirror_head_of(ob)->is.pending
         : rrci_has_gc_head(ob) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_ANCHORED) != 0;
}

static void rrci_note_anchored(rrc_object *ob, int on)
{
    if (rrci_is_gc_object(ob)) {
        rrci_mirror_head_of(ob)->is.pending = on != 0;
    } else if (rrci_has_gc_head(ob)) {
        rrci_gc_head *head = rrci_gc_head_of(ob);
        head->is.word = on ? head->is.word | RRCI_GC_ANCHORED : head->is.word & ~RRCI_GC_ANCHORED;
    }
}

/* Is ob weak since before this step? */
static int rrci_was_weak(rrc_object *ob)
{
    return rrci_is_weak(ob) && !rrci_is_anchored(ob);
}

/* Root what stands for ob, or unroot it. Returns whether it is rooted then. */
static int rrci_anchor(rrc_heap *heap, rrc_object *ob, int on)
{
    return rrci_pin(heap, rrci_target(heap, ob), on);
}

/* Nothing stands for the objects of closed->lost any more: make all that they own strong instead. The same may be true
   of what is owned. Therefore they are listed, and no tp_traverse is called inside another. */
static void rrci_spread_strength(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    if (heap->calls.touching > 0)
        return;
    heap->calls.touching++;
    while (closed->lost != NULL) {
        rrc_object *ob = closed->lost;
        rrci_mirror_head *head = rrci_mirror_head_of(ob);
        closed->lost = (rrc_object *)(uintptr_t)head->is.edges;
        head->is.edges = 0;
        rrci_touch_owned(heap, ob);
    }
    heap->calls.touching--;
}

static void rrci_forget_listed(rrc_heap *heap, rrci_mirror_head *head)
{
#ifdef RRC_DEBUG
    rrc_map_free(heap, &head->is.listed);
#else
    (void)heap, (void)head;
#endif
}

/* Forget ob's edge node, if it has one. */
static void rrci_forget_node(rrc_heap *heap, rrc_object *ob)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_mirror_head *head = rrci_mirror_head_of(ob);
    rrc_cell *node = rrci_node_in(heap, head);
    if (!rrci_is_p_linked(heap, ob)) {
        rrci_clear_weak(ob);
        head->is.number = 0;
    }
    head->is.wanted = head->is.stale = head->is.lost = head->is.kept = head->is.p_died = 0;
    head->is.edges = 0;
    rrci_forget_listed(heap, head);
    if (node == NULL)
        return;
    if (rrci_is_cell_live(heap, node)) {
        RRCI_BEGIN_HOOK(heap);
        closed->desc.write_node(heap->desc.userdata, node, NULL, 0);
        RRCI_END_HOOK(heap);
    }
    rrci_free_cell(heap, node);
    head->is.node = 0;
    closed->node_count--;
}

/* What stands for ob has died. Its edge node protects nothing any more: make what ob owns strong. */
static void rrci_lose_owned(rrc_heap *heap, rrc_object *ob)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    if (!rrci_is_tracked(ob))
        return;
    rrci_mirror_head_of(ob)->is.edges = (uintptr_t)closed->lost;
    closed->lost = ob;
    rrci_spread_strength(heap);
}

/* ob's edge node has died. */
static void rrci_lose_node(rrc_heap *heap, rrc_object *ob)
{
    rrci_forget_node(heap, ob);
    rrci_mirror_head_of(ob)->is.lost = 1;
    rrci_lose_owned(heap, ob);
}

/* The p of ob has died. The next step dissolves the link. Until then what ob owns is strong. */
static void rrci_lose_p(rrc_heap *heap, rrc_object *ob)
{
    rrci_set_weak(ob);
    rrci_closed(heap)->found_dead++;
    if (!rrci_is_gc_object(ob) || rrci_mirror_head_of(ob)->is.p_died)
        return;
    rrci_mirror_head_of(ob)->is.p_died = rrci_mirror_head_of(ob)->is.stale = 1;
    rrci_lose_owned(heap, ob);
}

/* Root what stands for a strong object. If that is a p which has died, leave ob weak. */
static void rrci_root(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_target(heap, ob) == NULL || rrci_anchor(heap, ob, 1))
        return;
    if (rrci_is_p_linked(heap, ob))
        rrci_lose_p(heap, ob);
    else
        rrci_lose_node(heap, ob);
}

/* A weak object becomes strong. */
static RRCI_NOINLINE void rrci_become_strong(rrc_heap *heap, rrc_object *ob)
{
    rrci_clear_weak(ob);
    rrci_closed(heap)->changes++;
    rrci_root(heap, ob);
}

/* A strong object that C has no reference to becomes weak. (An object whose tp_dealloc runs is not tracked, and what is
   left of its edge node does not stand for it.) */
static void rrci_weaken(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_is_tracked(ob) ? rrci_target(heap, ob) == NULL : !rrci_is_p_linked(heap, ob))
        return;
    rrci_set_weak(ob);
    rrci_note_anchored(ob, 0);
    rrci_anchor(heap, ob, 0);
}

/* C has dropped its last reference to an object that is or was linked. */
static void rrci_leave_to_host(rrc_heap *heap, rrc_object *ob)
{
    rrci_closed(heap)->changes++;                    /* only a step can tell whether p is garbage now */
    if (!rrci_is_weak(ob) && rrci_weight(heap, ob) == 0)
        rrci_weaken(heap, ob);
}

/* ---- edge nodes ---- */

/* ob is to have an edge node. */
static void rrci_want_node(rrc_heap *heap, rrc_object *ob)
{
    rrci_mirror_head *head = rrci_mirror_head_of(ob);
    head->is.wanted = 1;
    if (head->is.number == 0) {
        rrci_give_number(heap, head);
        rrci_closed(heap)->changes++;
    }
}

/* This object of the host is the edge node of ob from now on. There is room for its cell. It is rooted until the step
   ends, even if ob is weak. */
static rrc_cell *rrci_set_node(rrc_heap *heap, rrc_object *ob, void *obj)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_mirror_head *head = rrci_mirror_head_of(ob);
    rrc_cell *node = rrci_take_cell(heap, obj, ob, 1), *former = rrci_node_in(heap, head), *proxy;
    rrci_watch_cell(heap, node);
    rrci_want_node(heap, ob);
    closed->changes += heap->state != RRCI_LAYER_RUNS;
    closed->node_count += former == NULL;
    head->is.node = node->number;
    if (!rrci_is_p_linked(heap, ob)) {
        rrci_pin(heap, node, 1);
        if (rrci_is_weak(ob))           /* (in a step) */
            rrci_note_anchored(ob, 1);
    }
    if (former != NULL)
        rrci_free_cell(heap, former);
    proxy = rrci_cell_of_link(heap, ob);
    if (proxy != NULL && rrci_is_cell_live(heap, proxy))
        closed->desc.join(heap->desc.userdata, proxy, node);
    return node;
}

/* The live edge node of ob, which is tracked. Make one, if there is none. It will refer to n others; 0: unknown. NULL:
   that has failed, or a finalizer has untracked ob. */
static rrc_cell *rrci_need_node(rrc_heap *heap, rrc_object *ob, size_t n)
{
    rrc_cell *node = rrci_node_of(heap, ob);
    void *obj;
    if (node != NULL && rrci_is_cell_live(heap, node))
        return node;
    obj = rrci_closed(heap)->desc.new_node(heap->desc.userdata, ob, n);
    if (obj == NULL || !rrci_reserve_cell(heap) || !rrci_is_tracked(ob))
        return NULL;
    node = rrci_node_of(heap, ob);      /* a finalizer may have made one just now */
    return node != NULL && rrci_is_cell_live(heap, node) ? node : rrci_set_node(heap, ob, obj);
}

/* ---- links and tracking change ---- */

/* A P link has been made: p replaces the edge node. */
static void rrci_mirror_p_linked(rrc_heap *heap, rrc_object *ob)
{
    rrc_cell *node = rrci_node_of(heap, ob);
    if (rrci_is_gc_object(ob))
        rrci_give_number(heap, rrci_mirror_head_of(ob));
    rrci_pin(heap, (rrc_cell *)RRC_LINK(ob), 1);
    if (node != NULL)
        rrci_pin(heap, node, 0);
}

/* ob's link is gone. If p stood for ob, its edge node does so now, under a new number, if it is to have one. The node of
   a wrapper is mirrored anew, as the host may need a p to learn of its death. */
static void rrci_mirror_unlinked(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head;
    int was_weak = rrci_is_weak(ob);
    rrci_clear_weak(ob);
    if (!rrci_has_gc_head(ob))
        return;
    head = rrci_gc_head_of(ob);
    if ((RRCI_COUNT(ob) == 0 || was_weak) && rrci_is_in_tracked(ob) && rrci_outside(heap, ob) > 0) {
        /* (If it was weak, only the dead hold it: one of them may go by its count, and drop it. While it was linked, it
           was not held.) */
        RRC_REFCNT(ob)++;
        rrci_mirror_head_of(ob)->is.held = 1;
    }
    if (rrci_is_gc_object(ob)) {
        rrci_mirror_head *mirror = rrci_mirror_head_of(ob);
        if ((head->is.word & RRCI_GC_P_LINKED) != 0) {
            mirror->is.number = 0;
            if (mirror->is.wanted)
                rrci_give_number(heap, mirror);
        }
        if (rrci_is_wrapper(heap, ob) && mirror->is.node != 0)
            mirror->is.stale = 1;
    }
    head->is.word &= ~RRCI_GC_P_LINKED;
    if (!rrci_is_tracked(ob))
        head->is.refs = 0;
    if (rrci_node_of(heap, ob) != NULL)
        rrci_root(heap, ob);
}

/* ob is about to be untracked: its references will not be mirrored. */
static void rrci_mirror_untracking(rrc_heap *heap, rrc_object *ob)
{
    rrc_touch(heap, ob);                /* (a step does not see untracked objects) */
    rrci_touch_owned(heap, ob);         /* (even without a node: a step may be about to make one) */
    rrci_forget_node(heap, ob);
}

/* The p of this weak object, or NULL. If a p was found dead since the last step, this one may be dead too. To make the
   object strong shows this, and keeps p if it lives. */
static rrc_gcref rrci_p_of_weak(rrc_heap *heap, rrc_object *ob)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    if (closed->found_dead > 0 && closed->pinning == 0 && rrci_is_p_linked(heap, ob)) {
        if (!rrci_anchor(heap, ob, 1))
            return NULL;
        rrci_clear_weak(ob);
        closed->changes++;
        if (rrci_is_marking(heap))
            rrci_get_hold(heap, ob);
    }
    return RRC_LINK(ob);
}

/* Garbage stays whole until it is cleared: make it strong, and all that it owns. */
static void rrci_keep_whole(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_is_weak(ob))
        rrci_become_strong(heap, ob);
    rrci_touch_owned(heap, ob);
    rrci_mirror_head_of(ob)->is.stale = 1;          /* (links may be new when it comes back) */
}

/* ---- 1. deaths ---- */

/* (Of a slice that may go on.) */
static size_t rrci_units_left(const rrci_search *search)
{
    return (size_t)search->end - search->at;
}

/* Ask the host about the P links, from heap->machine.cursor down. */
static void rrci_find_dead_links(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrci_list *list = &heap->links.list[RRCI_P_OLD];
    size_t end = heap->machine.cursor < list->count ? heap->machine.cursor : list->count;
    rrci_sweeper sweeper;
    rrci_begin_sweep(&sweeper, heap, list, search->max != INTPTR_MAX, search->function);
    heap->calls.touching++;                  /* (some obs are not linked any more, but still have their bias) */
    heap->machine.cursor = rrci_sweep_part(&sweeper, end, rrci_units_left(search));
    heap->calls.touching--;
    rrci_spread_strength(heap);
    search->end -= (intptr_t)(end - heap->machine.cursor);
}

/* The next entry of a stage that passes the tracked objects downwards, at heap->machine.cursor from now on. NULL: the
   stage or the slice is over. (Code that the host runs can have untracked any number. An entry that moves comes from the
   end of the table, and has been passed.) */
RRCI_ALWAYS_INLINE rrc_object *rrci_pass_down(rrci_search *search)
{
    rrci_machine *machine = &search->heap->machine;
    const rrci_list *list = &search->heap->tracked.list[RRCI_TRACKED];
    if (machine->cursor > list->count)
        machine->cursor = list->count;
    if (machine->cursor == 0 || !rrci_may_go_on(search))
        return NULL;
    search->end--;
    machine->cursor--;
    if (machine->cursor >= RRCI_SEGMENT)
        RRCI_PREFETCH_NODE(*rrci_ob_at(list, machine->cursor - RRCI_SEGMENT));
    return *rrci_ob_at(list, machine->cursor);
}

/* Ask the host about the edge nodes of weak objects. */
static void rrci_find_dead_nodes(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrc_object *ob;
    while ((ob = rrci_pass_down(search)) != NULL)
        if (rrci_is_weak(ob) && rrci_node_of(heap, ob) != NULL
            && !rrci_may_be_live(heap, rrci_node_of(heap, ob), 1))
            rrci_lose_node(heap, ob);
}

/* ---- 2. weigh ---- */

/* The state of a pass over the tracked objects. */
typedef struct rrci_weighing {
    rrci_search search;         /* first, because visitors get its address */
    int         owns;           /* of the object being traversed: has it a child? */
    int         is_fresh;       /* ... and one that its edge node may not list */
    uint64_t    edges;          /* ... and the sum over all that its edge node must list */
    size_t      target_count;
    int         failed;
    int         is_moved;       /* a reference was moved without rrc_touch */
} rrci_weighing;

/* Is ob a child of the objects that refer to it? It is if something stands for it, or could. */
static int rrci_is_child(const rrci_weighing *weighing, rrc_object *ob)
{
    if (RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        return 0;
    if (rrci_has_gc_head(ob))
        return rrci_gc_list(rrci_gc_head_of(ob)) == RRCI_TRACKED
            || ((rrci_gc_head_of(ob)->is.word & RRCI_GC_P_LINKED) != 0 && rrci_is_linked_ob(ob));
    return rrci_is_p_linked(weighing->search.heap, ob);
}

/* The number of what stands for a child, or 0 if nothing does. */
static uint32_t rrci_number_of(rrc_object *ob)
{
    return rrci_is_gc_object(ob) ? rrci_mirror_head_of(ob)->is.number : 1;
}

static void rrci_add_edge(rrci_weighing *weighing, rrc_object *ob, uint32_t number)
{
    weighing->edges += rrci_hash_edge(ob, number);
}

#ifdef RRC_DEBUG
/* Remember the targets of ob's edge node: the first n of closed->targets. Returns 0 if memory is lacking. */
static int rrci_note_listed(rrc_heap *heap, rrc_object *ob, size_t n)
{
    rrc_map *listed = &rrci_mirror_head_of(ob)->is.listed;
    size_t i;
    rrc_map_free(heap, listed);
    if (rrc_map_reserve(heap, listed, n) != RRC_OK)
        return 0;
    for (i = 0; i < n; i++)
        rrc_map_put(listed, rrci_closed(heap)->targets[i], rrci_closed(heap)->targets[i]);
    return 1;
}

/* The edge nodes of all its owners list ob, which has been weak since an earlier step. If one does not, a
   reference was moved there without rrc_touch. */
static void rrci_check_listed(rrci_weighing *weighing, rrc_object *ob)
{
    rrc_heap *heap = weighing->search.heap;
    rrc_object *owner = weighing->search.parent;
    const rrci_mirror_head *head = rrci_mirror_head_of(owner);
    char detail[200];
    if (head->is.lost                               /* (ob's own p may have died with it) */
        || rrc_map_get(&head->is.listed, ob) != NULL
        || !rrci_is_cell_live(heap, rrci_target(heap, ob)))     /* (then ob stays weak, whoever refers to it) */
        return;
    weighing->is_moved = 1;
#ifdef RRC_NO_STDIO
    detail[0] = '\0';
    (void)detail;
    rrci_error(heap, RRC_ETOUCH, weighing->search.function, ob, NULL, "it was moved without rrc_touch");
#else
    snprintf(detail, sizeof detail, "a reference to it was moved into %.60s %p without rrc_touch",
             rrci_type_name(owner), (void *)owner);
    rrci_error(heap, RRC_ETOUCH, weighing->search.function, ob, NULL, detail);
#endif
}
#endif

/* Add an edge to a child to the sum. Is it one that the edge node may lack? */
static void rrci_compare_edge(rrci_weighing *weighing, rrc_object *ob)
{
    const rrci_closed_heap *closed = rrci_closed(weighing->search.heap);
    uint32_t number = rrci_number_of(ob);
    weighing->owns = 1;
    if (number == 0)
        return;
    rrci_add_edge(weighing, ob, number);
    weighing->is_fresh |= closed->step.links_made + closed->links_made > 0
                       && !rrci_was_weak(ob) && !rrci_is_gc_object(ob);     /* (links are made between slices, too) */
}

static int rrci_visit_edge(rrc_object *ob, void *arg)
{
    rrci_weighing *weighing = (rrci_weighing *)arg;
    weighing->search.at++;
    if (rrci_is_child(weighing, ob))
        rrci_compare_edge(weighing, ob);
    return 0;
}

static int rrci_visit_reference(rrc_object *ob, void *arg)
{
    rrci_weighing *weighing = (rrci_weighing *)arg;
    weighing->search.at++;
    if (rrci_is_child(weighing, ob)) {
        rrci_explain_one(&weighing->search, ob);
        rrci_compare_edge(weighing, ob);
#ifdef RRC_DEBUG
        if (rrci_was_weak(ob) && !rrci_is_wrapper(weighing->search.heap, ob))
            rrci_check_listed(weighing, ob);
#endif
    }
    return 0;
}

static void rrci_compare_edges(rrci_weighing *weighing, rrc_object *ob, rrc_visitproc visit)
{
    weighing->owns = weighing->is_fresh = 0;
    weighing->edges = 0;
    rrci_traverse(&weighing->search, ob, visit);
}

/* After this comparison: must ob's edge node be made, changed or forgotten? */
static int rrci_note_stale(rrci_weighing *weighing, rrc_object *ob)
{
    rrci_mirror_head *head = rrci_mirror_head_of(ob);
    int is_wanted = weighing->owns || head->is.kept;
    if (is_wanted ? weighing->is_fresh || head->is.edges != weighing->edges : head->is.wanted)
        head->is.stale = 1;
    head->is.wanted = is_wanted != 0;
    return head->is.stale;
}

static void rrci_begin_weighing(rrci_weighing *weighing, rrc_heap *heap, const char *function)
{
    memset(weighing, 0, sizeof *weighing);
    rrci_begin_search(&weighing->search, heap, function);
    weighing->search.explains_linked = 1;
    weighing->search.ends = 1;
}

/* RRCI_STEP_EXPLAIN: explain the references that tracked objects own. Find those that must have an edge node, and
   which of these are stale. */
static void rrci_explain_edges(rrci_weighing *weighing)
{
    rrci_search *search = &weighing->search;
    rrc_heap *heap = search->heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrc_object **place = NULL;
    for (; heap->machine.cursor < closed->step.tracked && rrci_may_go_on(search); heap->machine.cursor++) {
        rrc_object *ob = rrci_next_ob(list, heap->machine.cursor, &place);
        rrci_mirror_head *head;
        search->end--;
        if (rrci_is_hole(ob))
            continue;
#ifdef RRC_DEBUG
        rrci_compare_traverses(search, ob);
        if (search->is_wrong)
            return;
#endif
        if (!rrci_is_alive(&heap->machine, rrci_gc_head_of(ob)))
            rrci_see(search, ob, rrci_gc_head_of(ob));
        rrci_compare_edges(weighing, ob, rrci_visit_reference);
        head = rrci_mirror_head_of(ob);
        head->is.p_died = 0;            /* (what it owns has been seen: if C holds it, rrci_sift finds that) */
        if (weighing->owns && head->is.number == 0) {
            rrci_give_number(heap, head);
            closed->step.gave_numbers = 1;
        }
        closed->step.is_stale |= rrci_note_stale(weighing, ob);
    }
}

/* ob turned out to be held from outside, or nothing can stand for it: end the watch that this step began. */
static void rrci_stay_strong(rrc_heap *heap, rrc_object *ob)
{
    if (!rrci_is_weak(ob))
        return;
    if (rrci_was_weak(ob))
        rrci_become_strong(heap, ob);
    else
        rrci_clear_weak(ob);
}

/* RRCI_STEP_SIFT: an object stays weak only if nothing but tracked objects refers to it. Count those of them that can
   be garbage of C alone: they have no link. */
static void rrci_sift(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrc_object **place = NULL;
    for (; heap->machine.cursor < closed->step.tracked && rrci_may_go_on(search); heap->machine.cursor++) {
        rrc_object *ob = rrci_next_ob(list, heap->machine.cursor, &place);
        rrci_gc_head *head;
        intptr_t outside;
        search->end--;
        if (rrci_is_hole(ob))
            continue;
        head = rrci_gc_head_of(ob);
        outside = rrci_is_alive(&heap->machine, head) ? 1 : rrci_unexplained(search, ob);
        if (outside < 0 && rrci_is_weak(ob)) {
            rrci_too_many_visits(search, ob);
            return;
        }
        head->is.refs = 0;
        if (outside != 0) {
            rrci_stay_strong(heap, ob);
            if (!rrci_is_alive(&heap->machine, head))
                rrci_color(heap, ob, head, 0);  /* (it can be weak still, as its edge node has died) */
        } else if (!rrci_is_held_by_link(heap, ob)) {
            closed->step.suspects++;
        }
    }
}

/* ---- 3. mirror ---- */

/* Make room for a target after n of them. */
static RRCI_COLD int rrci_add_targets(rrc_heap *heap, size_t n)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    size_t room = 2 * n + 30, bytes = sizeof(rrc_object *) + sizeof(rrc_cell *);
    rrc_object **targets = (rrc_object **)rrci_alloc_table(heap, room * bytes);
    if (targets == NULL)
        return 0;
    if (n > 0)
        memcpy(targets, closed->targets, n * sizeof *targets);
    rrci_free_table(heap, closed->targets, closed->targets_room * bytes);
    closed->targets = targets;
    closed->target_cells = (rrc_cell **)(void *)(targets + room);
    closed->targets_room = room;
    return 1;
}

static int rrci_visit_target(rrc_object *ob, void *arg)
{
    rrci_weighing *weighing = (rrci_weighing *)arg;
    rrc_heap *heap = weighing->search.heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    uint32_t number;
    weighing->search.at++;
    if (!rrci_is_child(weighing, ob) || weighing->failed)
        return 0;
    number = rrci_number_of(ob);
    if (number == 0)
        return 0;
    if (weighing->target_count == closed->targets_room && !rrci_add_targets(heap, weighing->target_count)) {
        weighing->failed = 1;
        return 0;
    }
    closed->targets[weighing->target_count++] = ob;
    rrci_add_edge(weighing, ob, number);
    return 0;
}

/* Make the edge node of ob refer to the first n of closed->targets. Returns 0 if that has failed. The host may run
   finalizers: what they untrack or unlink is left out if nothing stands for it any more. */
static int rrci_write_node(rrc_heap *heap, rrc_object *ob, size_t n)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrc_cell *node = rrci_need_node(heap, ob, n);
    size_t count = 0, i;
    if (node == NULL)
        return !rrci_is_tracked(ob);
    for (i = 0; i < n; i++) {
        rrc_object *target = closed->targets[i];
        if (rrci_target(heap, target) == NULL && rrci_is_tracked(target) && rrci_need_node(heap, target, 0) == NULL
            && rrci_is_tracked(target))
            return 0;
    }
    for (i = 0; i < n; i++) {
        rrc_cell *target = rrci_target(heap, closed->targets[i]);
        if (target != NULL && rrci_is_cell_live(heap, target))
            closed->target_cells[count++] = target;
        else
            rrc_touch(heap, closed->targets[i]);
    }
    return !rrci_is_cell_live(heap, node)       /* (its p is dead, too, and the next step finds that) */
        || closed->desc.write_node(heap->desc.userdata, node, closed->target_cells, count) == 0;
}

/* Bring the edge node of ob up to date. 0: that has failed. */
static int rrci_mirror_one(rrci_weighing *weighing, rrc_object *ob)
{
    rrc_heap *heap = weighing->search.heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_mirror_head *head = rrci_mirror_head_of(ob);
    size_t i;
    int is_written;
    weighing->target_count = 0;
    weighing->edges = 0;
    rrci_traverse(&weighing->search, ob, rrci_visit_target);
    if (weighing->failed)
        return 0;
    head->is.edges = weighing->edges;
    head->is.lost = 0;
#ifdef RRC_DEBUG
    if (!rrci_note_listed(heap, ob, weighing->target_count))
        return 0;
#endif
    closed->mirrored++;
    closed->holds_cells = 1;            /* the host gets addresses of cells: no new one takes the place of one that goes */
    is_written = rrci_write_node(heap, ob, weighing->target_count);
    rrci_free_gone_cells(closed);
    if (!is_written)
        rrci_forget_listed(heap, head);         /* (nobody forgets it later, if there is no node) */
    for (i = 0; i < weighing->target_count && !rrci_is_weak(ob); i++)
        if (rrci_is_gc_object(closed->targets[i])
            && rrci_mirror_head_of(closed->targets[i])->is.p_died)
            head->is.stale = 1;         /* (the node does not list it) */
    return is_written;
}

/* What an edge node that is brought up to date counts in a slice. */
#define RRCI_MIRROR_UNITS 16

/* RRCI_STEP_MIRROR: bring stale edge nodes up to date. The host may run any code meanwhile. Deallocs wait until the
   slice ends. */
static void rrci_mirror_stale(rrci_weighing *weighing)
{
    rrci_search *search = &weighing->search;
    rrc_heap *heap = search->heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    rrc_object *ob;
    while ((ob = rrci_pass_down(search)) != NULL) {
        rrci_mirror_head *head;
        if (rrci_is_hole(ob))
            continue;
        head = rrci_mirror_head_of(ob);
        if (closed->step.gave_numbers && head->is.wanted && !head->is.stale) {
            rrci_compare_edges(weighing, ob, rrci_visit_edge);
            rrci_note_stale(weighing, ob);
        }
        if (!head->is.stale)
            continue;
        search->end -= RRCI_MIRROR_UNITS;
        head->is.stale = 0;             /* (code that the host runs can make it stale again) */
        if (!head->is.wanted) {
            rrci_forget_node(heap, ob);
        } else if (!rrci_mirror_one(weighing, ob)) {
            head->is.stale = 1;
            closed->step.code = RRC_ENOMEM;       /* the next step tries again */
            rrci_touch_owned(heap, ob);
            break;
        }
    }
}

/* ---- 4. let go ---- */

/* After an error an object that C refers to is strong. Otherwise one that is still weak loses its anchor, if
   something stands for it. */
static void rrci_release(rrc_heap *heap, rrc_object *ob)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    int is_anchored = rrci_is_anchored(ob);
    rrci_note_anchored(ob, 0);
    if (closed->step.code != RRC_OK && rrci_references(heap, ob) > 0) {
        rrc_touch(heap, ob);
        return;
    }
    if (is_anchored && rrci_is_weak(ob)) {
        if ((closed->step.is_given_up && rrci_references(heap, ob) > 0) || rrci_target(heap, ob) == NULL
            || (RRC_LINK(ob) != NULL && !rrci_is_linked_ob(ob))) {  /* (if it lacks its bias, its p stays rooted) */
            rrci_clear_weak(ob);
        } else {
            rrci_anchor(heap, ob, 0);
            closed->step.let_go++;
        }
    }
}

/* RRCI_STEP_RELEASE. It fills holes, too. */
static void rrci_release_tracked(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrc_object *ob;
    while ((ob = rrci_pass_down(search)) != NULL) {
        if (rrci_is_hole(ob)) {
            if (heap->machine.cursor != list->count - 1)
                rrci_gc_fill(list, RRCI_TRACKED, heap->machine.cursor, list->count - 1);
            rrci_drop_last_ob(heap, list);
            heap->tracked.holes--;
            continue;
        }
        if (closed->step.is_given_up || (rrci_gc_head_of(ob)->is.word & RRCI_GC_COLOR) != heap->machine.white)
            rrci_whiten(&heap->machine, rrci_gc_head_of(ob));
        if (closed->step.code != RRC_OK || rrci_mirror_head_of(ob)->is.pending)
            rrci_release(heap, ob);
    }
}

/* RRCI_STEP_RELEASE_P: decide about an object that is not tracked, but has a P link. Is it still weak, and are all
   references that it had at first sight explained? If it is strong, only one that nothing refers to becomes weak. */
static void rrci_release_linked(rrci_search *search, const rrci_link *link)
{
    rrc_heap *heap = search->heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    rrc_object *ob = link->ob;
    if (RRCI_UNLIKELY(!rrci_is_linked_ob(ob)))
        rrci_refcount_error(heap, search->function, ob, link->p);
    if (rrci_is_tracked(ob) || RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        return;
    if (rrci_is_weak(ob)) {
        intptr_t outside = rrci_has_gc_head(ob) ? rrci_unexplained(search, ob) : rrci_weight(heap, ob);
        if (outside < 0 && !closed->step.is_given_up)
            rrci_too_many_visits(search, ob);
        if (outside != 0 && !closed->step.is_given_up)
            rrci_stay_strong(heap, ob);
    } else if (rrci_weight(heap, ob) == 0) {
        rrci_weaken(heap, ob);
        closed->step.let_go++;
    }
    if (rrci_has_gc_head(ob))
        rrci_gc_head_of(ob)->is.refs = 0;
    rrci_release(heap, ob);
}

static void rrci_release_links(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    const rrci_list *list = &heap->links.list[RRCI_P_OLD];
    if (heap->machine.cursor > list->count)
        heap->machine.cursor = list->count;
    for (; heap->machine.cursor > 0 && rrci_may_go_on(search); search->end--) {
        heap->machine.cursor--;
        if (heap->machine.cursor >= RRCI_SEGMENT)
            RRCI_PREFETCH_HEADS(rrci_at(list, heap->machine.cursor - RRCI_SEGMENT)->ob);
        rrci_release_linked(search, rrci_at(list, heap->machine.cursor));
    }
}

/* ---- functions of cells ---- */

/* The heap has ended: free the cells whose links others have dissolved by rrc_unlink, and all that the layer has. */
static void rrci_free_closed(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    size_t i;
    for (i = 1; i < closed->block_count * RRCI_CELLS_OF_A_BLOCK; i++) {
        rrc_cell *c = rrci_cell_at(heap, i);
        if (!c->is_free) {
            c->ob = NULL;
            rrci_free_cell(heap, c);
        }
    }
    while (closed->block_count > 0)
        rrci_free_table(heap, closed->blocks[--closed->block_count], RRCI_CELLS_OF_A_BLOCK * closed->desc.cell_size);
    rrci_free_table(heap, closed->blocks, closed->blocks_room * sizeof *closed->blocks);
    rrci_free_table(heap, closed->targets,
                    closed->targets_room * (sizeof *closed->targets + sizeof *closed->target_cells));
    heap->layer_data = NULL;            /* (realloc may ask about the heap) */
    rrci_free_table(heap, closed, sizeof *closed);
}

RRC_API unsigned rrc_cell_reserve(rrc_heap *heap)
{
    if (heap == NULL || heap->layer_data == NULL || !rrci_reserve_cell(heap))
        return 0;
    return rrci_closed(heap)->free_cells->number;
}

RRC_API rrc_cell *rrc_cell_at(const rrc_heap *heap, unsigned number)
{
    const rrci_closed_heap *closed = rrci_closed(heap);
    rrc_cell *c;
    if (number == 0 || closed == NULL || number / RRCI_CELLS_OF_A_BLOCK >= closed->block_count)
        return NULL;
    c = rrci_cell_at(heap, number);
    return c->is_free ? NULL : c;
}

RRC_API rrc_cell *rrc_cell_new(rrc_heap *heap, void *obj, rrc_object *ob)
{
    rrc_cell *c = rrc_cell_reserve(heap) != 0 ? rrci_take_cell(heap, obj, ob, 0) : NULL;
    if (c != NULL)
        rrci_watch_cell(heap, c);
    return c;
}

RRC_API void rrc_cell_free(rrc_heap *heap, rrc_cell *c)
{
    rrci_free_cell(heap, c);
}

RRC_API rrc_cell *rrc_cell_keep_node(rrc_heap *heap, rrc_object *ob, void *obj)
{
    rrc_cell *node = rrc_cell_of_node(heap, ob);
    int is_live = node != NULL && rrci_is_cell_live(heap, node);
    if (node != NULL && !is_live) {
        rrc_touch(heap, ob);            /* nothing protects what ob refers to until the next step */
        node = rrci_node_of(heap, ob);
        is_live = node != NULL && rrci_is_cell_live(heap, node);
    }
    if (!is_live) {
        if (obj == NULL || !rrc_gc_is_tracked(heap, ob) || !rrci_reserve_cell(heap))
            return NULL;
        node = rrci_set_node(heap, ob, obj);
    }
    if (!rrci_is_p_linked(heap, ob) && (!is_live || rrci_mirror_head_of(ob)->is.number == 0))
        rrc_touch(heap, ob);            /* no owner lists the node before the next step */
    rrci_want_node(heap, ob);           /* (it may have been needed no more) */
    rrci_mirror_head_of(ob)->is.kept = 1;
    return node;
}

RRC_API int rrc_cell_link(rrc_heap *heap, void *obj, rrc_object *ob, int kind)
{
    const char *function = "rrc_cell_link";
    rrci_new_link made = { { NULL, ob }, (kind & RRC_P) != 0 ? RRCI_P_OLD : RRCI_O_OLD, NULL, NULL };
    rrc_cell *c, *node;
    int code = rrci_gate(heap, RRCI_MUTATES, function);
    if (code != RRC_OK)
        return code;
    if (heap->layer == NULL)
        return rrci_error(heap, RRC_EPHASE, function, ob, NULL, "this heap is not closed: rrc_closed_new did not make it");
    if (obj == NULL || ob == NULL)
        return rrci_error(heap, RRC_ENULL, function, ob, NULL, obj == NULL ? "obj is NULL" : "ob is NULL");
    made.link.p = rrci_reserve_cell(heap) ? rrci_closed(heap)->free_cells : NULL;
    code = made.link.p == NULL ? RRC_ENOMEM : rrci_check_kind(heap, made.link.p, ob, kind, function);
    if (code == RRC_OK)
        code = rrci_may_link(heap, &made, function);
    if (code != RRC_OK)
        return code;
    c = rrci_take_cell(heap, obj, ob, 0);
    if (RRC_LINK(ob) != NULL)
        rrci_prepare_to_relink(heap, ob);
    rrci_watch_cell(heap, c);
    node = rrci_node_of(heap, ob);
    if (node != NULL && rrci_is_cell_live(heap, node))
        rrci_closed(heap)->desc.join(heap->desc.userdata, c, node);
    else if (node != NULL)
        rrc_touch(heap, ob);            /* nothing protects what ob refers to until the next step */
    rrci_make_link(heap, &made);
    rrci_add_bias(ob, kind);
    rrci_closed(heap)->links_made++;
    if ((kind & RRC_P) != 0)
        rrci_mirror_p_linked(heap, ob);
    if ((kind & RRC_GIVE) != 0 && ((kind & RRC_P) != 0 || node != NULL) && !rrci_is_held(ob))
        heap->layer->news(heap, ob, RRCI_NEWS_LET_GO);
    return RRC_OK;
}

RRC_API int rrc_cell_unlink(rrc_heap *heap, rrc_cell *c)
{
    return rrci_unlink(heap, c->ob, 2);     /* (rrci_part_cell frees the cell before the object can go) */
}

/* (A wrapper may have to be held when it loses its link.) */
RRC_API size_t rrc_cell_unlink_and_run(rrc_heap *heap, rrc_cell *c, size_t max)
{
    rrc_object *ob = c->ob;
    int is_direct = RRCI_COUNT(ob) == RRC_REFCNT_FROM_PYPY && rrci_may_do_pending(heap) && rrci_pending(heap) == 0
                 && !rrci_is_wrapper(heap, ob);
    RRC_REFCNT(ob) += is_direct;
    if (rrci_unlink(heap, ob, 2) != RRC_OK) {
        RRC_REFCNT(ob) -= is_direct;
        return 0;
    }
    return is_direct ? rrci_do_pending(heap, ob, max > 0 ? max : SIZE_MAX) : rrc_run_pending(heap, max);
}

RRC_API rrc_cell *rrc_cell_of(rrc_heap *heap, rrc_object *ob)
{
    rrc_cell *c;
    if (heap->layer == NULL || ob == NULL)
        return NULL;
    c = rrci_cell_of_link(heap, ob);
    if (c == NULL || rrci_is_cell_live(heap, c))
        return c;
    rrc_cell_unlink(heap, c);
    return NULL;
}

RRC_API void rrc_cell_died(rrc_heap *heap, rrc_cell *c)
{
    c->object = NULL;
    if (!c->is_node)
        rrc_cell_unlink(heap, c);
}

RRC_API void rrc_cell_each(rrc_heap *heap, void (*visit)(void *arg, rrc_cell *c), void *arg)
{
    const rrci_closed_heap *closed = rrci_closed(heap);
    size_t end = closed != NULL ? closed->block_count * RRCI_CELLS_OF_A_BLOCK : 0, i;
    for (i = 1; i < end; i++) {
        rrc_cell *c = rrci_cell_at(heap, i);
        if (!c->is_free)
            visit(arg, c);
    }
}

static void rrci_bury_dead_cell(void *arg, rrc_cell *c)
{
    if (c->object == NULL)
        rrc_cell_died((rrc_heap *)arg, c);
}

RRC_API void rrc_cell_bury_all(rrc_heap *heap)
{
    rrc_cell_each(heap, rrci_bury_dead_cell, heap);
}

/* ---- the step ---- */

/* Limits of closed->most_cycles; and so many cycles of the host pass before all is gone that hung on what a step has
   let go of: one finds it dead, and the step after that can be what another one needs. See rrc_closed_cycle. */
#define RRCI_LEAST_CYCLES ((size_t)8)
#define RRCI_MOST_CYCLES ((size_t)64)
#define RRCI_CYCLES_OF_A_DEATH 3

/* Begin a stage that passes the P links downwards. To the core this is no search. */
static void rrci_begin_stage_on_links(rrc_heap *heap, rrci_step_stage stage)
{
    rrci_closed(heap)->step.stage = stage;
    rrci_begin_links(heap, RRCI_LAYER, RRCI_P_OLD);
}

/* ... or one that passes the tracked objects downwards. */
static void rrci_begin_stage_downwards(rrc_heap *heap, rrci_step_stage stage)
{
    rrci_closed(heap)->step.stage = stage;
    heap->machine.stage = RRCI_LAYER;
    heap->machine.cursor = SIZE_MAX;
}

/* What has changed since the last step: see rrc_closed_cycle. */
static size_t rrci_changes(const rrc_heap *heap)
{
    return rrci_closed(heap)->changes + heap->machine.changed - rrci_closed(heap)->changed;
}

static void rrci_begin_step(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    memset(&closed->step, 0, sizeof closed->step);
    closed->step.changes = rrci_changes(heap);
    closed->step.found_dead = closed->found_dead;
    closed->step.was_quiet = closed->cycles >= closed->most_cycles;
    closed->step.pending = rrci_pending(heap);
    rrci_begin_stage_on_links(heap, RRCI_STEP_DEATHS);
}

static void rrci_begin_explaining(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    closed->step.links_made = closed->links_made;
    closed->step.tracked = heap->tracked.list[RRCI_TRACKED].count;
    closed->links_made = closed->changes = 0;
    closed->changed = heap->machine.changed;
    closed->step.stage = RRCI_STEP_EXPLAIN;
    heap->rest = RRCI_LAYER_RESTS;
    rrci_begin_explain(heap);
}

/* Weighing is over, and the entries of RRCI_TRACKED may move again. */
static void rrci_end_weighing(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    memset(&heap->machine.gray, 0, sizeof heap->machine.gray);
    heap->machine.searched = 0;
    heap->machine.alive = heap->machine.scan = 0;
    heap->machine.keeping = 0;
    heap->machine.unfound = heap->machine.white;
    heap->rest = RRCI_MUTATOR;
    rrci_begin_stage_downwards(heap, closed->step.is_stale || closed->step.gave_numbers || closed->is_in_order
                                         ? RRCI_STEP_MIRROR : RRCI_STEP_RELEASE);
}

/* Do objects become weak later in this step, or have they just become so, and have their anchors? */
static int rrci_is_undecided(const rrc_heap *heap)
{
    rrci_step_stage stage = rrci_closed(heap)->step.stage;
    return stage >= RRCI_STEP_EXPLAIN && stage <= RRCI_STEP_MIRROR;
}

/* What has become weak in this step becomes strong again; after an error, all that C refers to. (Garbage that is being
   set aside is, all of it.) */
static void rrci_stop_weighing(rrc_heap *heap, int code)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    if (heap->machine.stage == RRCI_ASIDE)
        rrci_aside_part(heap, 0, SIZE_MAX);
    closed->step.code = code;
    closed->step.is_given_up = 1;
    closed->links_made += closed->step.links_made;
    closed->changes += closed->step.changes;
    rrci_end_weighing(heap);
    closed->step.stage = RRCI_STEP_RELEASE;
}

/* If the step that ends was made because there had been none for long: was it worth the while? (One that was given up
   does not count.) */
static void rrci_adapt_cycles(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    const rrci_step *step = &closed->step;
    int has_found = step->let_go > 0 || rrci_pending(heap) > step->pending;
    if (step->is_given_up && step->code == RRC_OK)
        return;
    closed->cycles = 0;
    if (!step->was_quiet || has_found)
        closed->most_cycles = RRCI_LEAST_CYCLES;
    else if (closed->most_cycles < RRCI_MOST_CYCLES)
        closed->most_cycles *= 2;
    if (step->was_quiet && has_found)
        closed->eager = RRCI_CYCLES_OF_A_DEATH;
}

static void rrci_end_step(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_adapt_cycles(heap);
    if (closed->step.code != RRC_OK)
        closed->links_made = closed->changes = 1;
    closed->mirror_steps++;
    closed->step.stage = RRCI_NO_STEP;
    heap->machine.stage = RRCI_IDLE;
}

/* RRCI_STEP_SEARCH: find garbage of C alone, by stages of the machine. */
static void rrci_find_garbage_of_c(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    if (heap->machine.stage == RRCI_ASIDE) {
        search->end -= (intptr_t)rrci_aside_part(heap, 0, rrci_units_left(search));
        if (heap->machine.cursor == 0)
            rrci_end_weighing(heap);
        return;
    }
    rrci_single(search);
    if (heap->machine.stage == RRCI_VERDICT) {
        int is_over = rrci_all_alive(heap);
        rrci_pronounce(&heap->machine);
        if (is_over)
            rrci_end_weighing(heap);
        else
            rrci_begin_keeping(heap, RRCI_FINALIZABLE, RRCI_GC_KEPT);
    } else if (heap->machine.stage == RRCI_OWNED) {
        rrci_end_keeping(heap);
    }
}

static void rrci_do_stage(rrci_weighing *weighing)
{
    rrci_search *search = &weighing->search;
    rrc_heap *heap = search->heap;
    rrci_closed_heap *closed = rrci_closed(heap);
    switch (closed->step.stage) {
    case RRCI_STEP_DEATHS:
        rrci_find_dead_links(search);
        if (heap->machine.cursor == 0)
            rrci_begin_stage_downwards(heap, RRCI_STEP_DEAD_NODES);
        break;
    case RRCI_STEP_DEAD_NODES:
        rrci_find_dead_nodes(search);
        if (heap->machine.cursor > 0)
            break;
        closed->found_dead -= closed->step.found_dead;
        if (heap->machine.is_disabled)
            closed->step.stage = RRCI_STEP_TRIM;
        else
            rrci_begin_explaining(heap);
        break;
    case RRCI_STEP_EXPLAIN:
        rrci_explain_edges(weighing);
        if (weighing->is_moved)
            closed->step.code = RRC_ETOUCH;
        if (heap->machine.cursor < closed->step.tracked)
            break;
        heap->machine.cursor = 0;
        closed->step.stage = RRCI_STEP_SIFT;
        if (closed->step.code != RRC_OK)
            rrci_stop_weighing(heap, closed->step.code);
        break;
    case RRCI_STEP_SIFT:
        rrci_sift(search);
        if (heap->machine.cursor < closed->step.tracked)
            break;
        rrci_begin_stage(&heap->machine, RRCI_SCAN, 0);
        closed->step.stage = RRCI_STEP_SEARCH;
        if (closed->step.suspects == 0 && heap->tracked.uncollectable + heap->tracked.cleared == 0)
            rrci_end_weighing(heap);
        break;
    case RRCI_STEP_SEARCH:
        rrci_find_garbage_of_c(search);
        break;
    case RRCI_STEP_MIRROR:
        if (closed->is_in_order) {
            rrci_stop_weighing(heap, RRC_EPHASE);
            break;
        }
        rrci_mirror_stale(weighing);
        if (closed->step.code == RRC_OK && heap->machine.cursor > 0)
            break;
        rrci_begin_stage_downwards(heap, RRCI_STEP_RELEASE);
        break;
    case RRCI_STEP_RELEASE:
        rrci_release_tracked(search);
        if (heap->machine.cursor == 0)
            rrci_begin_stage_on_links(heap, RRCI_STEP_RELEASE_P);
        break;
    case RRCI_STEP_RELEASE_P:
        rrci_release_links(search);
        if (heap->machine.cursor == 0)
            closed->step.stage = RRCI_STEP_TRIM;
        break;
    default:                    /* RRCI_STEP_TRIM */
        search->end -= (intptr_t)rrci_trim(heap, rrci_units_left(search));
        if (rrci_may_go_on(search))
            rrci_end_step(heap);
    }
}

/* A slice of the open step. Returns the units done: less than max if the step has ended. */
static size_t rrci_step_slice(rrc_heap *heap, size_t max, const char *function)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_weighing weighing;
    rrci_begin_weighing(&weighing, heap, function);
    weighing.search.is_divided = 1;
    rrci_limit(&weighing.search, max);
    heap->state = RRCI_LAYER_RUNS;
    while (closed->step.stage != RRCI_NO_STEP && rrci_may_go_on(&weighing.search)) {
        int looks = rrci_is_looking(heap);      /* (and calls is_live, which may not call the header) */
        if (heap->machine.is_disabled && rrci_is_undecided(heap) && heap->machine.stage != RRCI_ASIDE)
            rrci_stop_weighing(heap, RRC_OK);
        if (looks)
            RRCI_BEGIN_HOOK(heap);
        rrci_do_stage(&weighing);
        if (looks)
            RRCI_END_HOOK(heap);
        if (weighing.search.is_wrong) {
            rrci_leave_out_result(&weighing.search);
            rrci_stop_weighing(heap, RRC_ETRAVERSE);
        }
    }
    heap->state = heap->rest;
    return rrci_units_done(&weighing.search);
}

/* Objects that the open step made weak stay strong. */
static void rrci_give_up_step(rrc_heap *heap, const char *function)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    if (closed->step.stage == RRCI_NO_STEP)
        return;
    if (rrci_is_undecided(heap)) {
        heap->state = RRCI_LAYER_RUNS;
        rrci_stop_weighing(heap, RRC_OK);
    }
    if (rrci_is_looking(heap)) {
        closed->step.stage = RRCI_NO_STEP;
        heap->machine.stage = RRCI_IDLE;
    } else {
        rrci_step_slice(heap, SIZE_MAX, function);
    }
}

static int rrci_whole_step(rrc_heap *heap, const char *function)
{
    rrci_give_up_step(heap, function);
    rrci_begin_step(heap);
    rrci_step_slice(heap, SIZE_MAX, function);
    return rrci_closed(heap)->step.code;
}

/* May a step be made now? Returns a code. RRC_EPHASE may not be logged. */
static int rrci_may_step(rrc_heap *heap, const char *function)
{
    int code = rrci_gate(heap, RRCI_ENDS, function);
    if (code != RRC_OK)
        return code;
    if (!RRCI_LISTENS(heap))
        return rrci_error(heap, RRC_EPHASE, function, NULL, NULL,
                          "this heap is not closed: rrc_closed_new did not make it");
    return rrci_is_busy(heap) ? RRC_EPHASE : RRC_OK;
}

RRC_API int rrc_closed_step(rrc_heap *heap)
{
    const char *function = "rrc_closed_step";
    int code = rrci_may_step(heap, function);
    return code == RRC_OK ? rrci_whole_step(heap, function) : code;
}

RRC_API size_t rrc_closed_work(rrc_heap *heap, size_t max)
{
    const char *function = "rrc_closed_work";
    if (rrci_may_step(heap, function) != RRC_OK)
        return 0;
    if (rrci_closed(heap)->step.stage == RRCI_NO_STEP)
        rrci_begin_step(heap);
    return rrci_step_slice(heap, max > 0 ? max : SIZE_MAX, function);
}

RRC_API int rrc_closed_is_due(rrc_heap *heap)
{
    const rrci_closed_heap *closed;
    size_t changes;
    if (heap == NULL || !RRCI_LISTENS(heap))
        return 0;
    closed = rrci_closed(heap);
    changes = rrci_changes(heap);
    return closed->step.stage != RRCI_NO_STEP || closed->eager > 0
        || closed->cycles >= (changes > 0 ? RRCI_LEAST_CYCLES : closed->most_cycles)
        || changes > (rrci_count_links(heap) + rrci_count_tracked(heap)) / 4;
}

RRC_API int rrc_closed_cycle(rrc_heap *heap)
{
    rrci_closed_heap *closed;
    int is_due;
    if (heap == NULL || !RRCI_LISTENS(heap))
        return 0;
    closed = rrci_closed(heap);
    closed->cycles++;
    is_due = rrc_closed_is_due(heap);
    closed->eager -= closed->eager > 0;
    return is_due;
}

/* So many new links are never too many. */
#define RRCI_FEW_LINKS 64

RRC_API void rrc_closed_keep_up(rrc_heap *heap, int has_cycle_ended, size_t max)
{
    const rrci_closed_heap *closed;
    int is_due;
    if (rrci_gate(heap, RRCI_MUTATES, "rrc_closed_keep_up") != RRC_OK || !RRCI_LISTENS(heap)
        || heap->state == RRCI_LAYER_RUNS)
        return;
    closed = rrci_closed(heap);
    if (has_cycle_ended)
        is_due = rrc_closed_cycle(heap);
    else
        is_due = closed->step.stage != RRCI_NO_STEP
              || closed->links_made > rrci_count_links(heap) / 4 + RRCI_FEW_LINKS;
    if (is_due)
        rrc_closed_work(heap, max);
    rrc_run_pending(heap, max);
}

/* One round of rrc_gc_collect, without the pending work. In a collection at once, the first step lets wrappers become
   weak, the second one finds that those which have died are garbage of C, and the third one roots the others again. */
static void rrci_mirror_cycle(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    const char *function = "rrc_gc_collect";
    int is_at_once = closed->desc.collects_at_once && heap->tracked.wrappers > 0;
    closed->is_at_once = is_at_once;
    rrci_whole_step(heap, function);
    closed->is_at_once = 0;             /* finalizers can run in collect */
    if (heap->desc.collect != NULL)
        heap->desc.collect(heap->desc.userdata);
    closed->is_at_once = is_at_once;
    rrci_whole_step(heap, function);
    closed->is_at_once = 0;
    if (is_at_once)
        rrci_whole_step(heap, function);
}

/* (The collector can be in the middle of a cycle. Then wrappers may go in the second round only.) */
RRC_API size_t rrc_closed_collect_in_order(rrc_heap *heap)
{
    rrci_closed_heap *closed;
    size_t limit, marked = 0, left, last_left, finalized;
    ptrdiff_t objects;
    int rounds_left = RRCI_MOST_ROUNDS / 10, idle = 0;
    if (rrci_may_step(heap, "rrc_closed_collect_in_order") != RRC_OK
        || heap->machine.is_disabled || heap->machine.is_collecting || heap->desc.collect == NULL)
        return 0;
    closed = rrci_closed(heap);
    objects = heap->counters.objects;
    left = rrci_count_left(heap);
    limit = rrci_most_marked(heap);
    closed->is_in_order = 1;
    heap->machine.is_collecting = 1;
    do {
        last_left = left;
        finalized = heap->counters.finalized;
        marked += 2 * left + 1;
        rrci_mirror_cycle(heap);
        rrci_end_round(heap);
        left = rrci_count_left(heap);
        rounds_left -= left >= last_left;
        idle = left < last_left || heap->counters.finalized != finalized ? 0 : idle + 1;
    } while (idle <= RRCI_HAS_WRAPPERS(heap) && marked <= limit && rounds_left > 0);
    closed->is_in_order = 0;
    heap->machine.is_collecting = 0;
    return heap->counters.objects < objects ? (size_t)(objects - heap->counters.objects) : 0;
}

/* The heap ends: no edge node is made or written from now on. The p's of P links are rooted, so that they stay. Links
   whose p has died are dissolved. (After an error, an open step would root all that C refers to. It would forget
   each edge node that has died, and then root what the object owns. All p's are rooted here instead.) */
static void rrci_mirror_end(rrc_heap *heap)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    rrci_list *links = &heap->links.list[RRCI_P_OLD];
    size_t i;
    int kind;
    closed->step.code = RRC_OK;
    closed->step.is_given_up = 1;         /* (so that no more errors are looked for) */
    rrci_give_up_step(heap, "rrc_heap_free");
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count; i++) {
            rrc_object *ob = *rrci_ob_at(&heap->tracked.list[kind], i);
            if (!rrci_is_p_linked(heap, ob))
                rrci_clear_weak(ob);
            if (rrci_mirror_head_of(ob)->is.node != 0)
                rrci_free_cell(heap, rrci_node_of(heap, ob));
            rrci_mirror_head_of(ob)->is.node = 0;
            rrci_forget_listed(heap, rrci_mirror_head_of(ob));
        }
    for (i = 0; i < links->count; i++)
        rrc_touch(heap, rrci_at(links, i)->ob);
    closed->node_count = 0;
    heap->listens = 0;                  /* no link tells the layer any more */
    for (i = links->count; i-- > 0;) {
        rrc_object *ob = rrci_at(links, i)->ob;
        int is_lost = rrci_is_weak(ob);
        rrci_clear_weak(ob);
        if (is_lost)
            rrci_dissolve(heap, rrci_spot_at(links, i), 1, "rrc_heap_free");
    }
}

/* ---- checks ---- */

static void rrci_check_weak(rrci_checker *checker, const rrci_search *search, rrc_object *ob)
{
    intptr_t outside = rrci_has_gc_head(ob) ? rrci_unexplained(search, ob) : rrci_weight(checker->heap, ob);
    if (rrci_has_gc_head(ob))
        rrci_gc_head_of(ob)->is.refs = 0;
    if (rrci_is_weak(ob) && !rrci_is_wrapper(checker->heap, ob) && outside > 0)
        rrci_found(checker, RRC_ETOUCH, ob, NULL, "it is weak, but tracked objects do not own all references to it");
}

/* Check that only tracked objects hold weak objects, and not waiting garbage. In debug builds, check that
   their owners' edge nodes list them. */
static void rrci_check_owners(rrci_checker *checker)
{
    rrc_heap *heap = checker->heap;
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrci_weighing weighing;
    size_t i;
    int kind;
    if (rrci_count_tracked(heap) == 0)
        return;
    rrci_begin_weighing(&weighing, heap, "rrc_check");
    for (i = 0; i < list->count; i++)
        rrci_compare_edges(&weighing, *rrci_ob_at(list, i), rrci_visit_reference);
    for (i = 0; i < list->count; i++)
        rrci_check_weak(checker, &weighing.search, *rrci_ob_at(list, i));
    for (kind = 0; kind < RRCI_LISTS; kind++)
        for (i = 0; i < heap->links.list[kind].count; i++)
            if (!rrci_is_tracked(rrci_at(&heap->links.list[kind], i)->ob))
                rrci_check_weak(checker, &weighing.search, rrci_at(&heap->links.list[kind], i)->ob);
    if (weighing.is_moved && checker->code == RRC_OK)
        checker->code = RRC_ETOUCH;
}

/* The host holds the edge node of a strong object: by its anchor, or by the p of its P link, which is anchored. */
static void rrci_check_node(rrci_checker *checker, rrc_object *ob)
{
    rrc_heap *heap = checker->heap;
    rrc_cell *node = rrci_node_of(heap, ob);
    int is_live;
    if (node == NULL || rrci_is_weak(ob) || heap->calls.depth > 0)
        return;
    RRCI_BEGIN_HOOK(heap);
    is_live = rrci_may_be_live(heap, node, 1);
    RRCI_END_HOOK(heap);
    if (!is_live)
        rrci_found(checker, RRC_ECORRUPT, ob, NULL, "it is strong, but its edge node has died");
}

/* Check that something stands for each weak object, that strong ones have live edge nodes, and the counters. */
static void rrci_check_mirror(rrc_heap *heap, rrci_checker *checker)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    size_t nodes = 0, i;
    int kind;
    for (kind = 0; kind < RRCI_LISTS; kind++)
        for (i = 0; i < heap->links.list[kind].count; i++) {
            rrc_object *ob = rrci_at(&heap->links.list[kind], i)->ob;
            if (rrci_is_tracked(ob))
                continue;
            if (rrci_is_weak(ob) && !rrci_is_p_linked(heap, ob))
                rrci_found(checker, RRC_ECORRUPT, ob, NULL, "it is weak, but nothing stands for it");
        }
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count; i++) {
            rrc_object *ob = *rrci_ob_at(&heap->tracked.list[kind], i);
            if (rrci_is_hole(ob))
                continue;
            nodes += rrci_node_of(heap, ob) != NULL;
            if (rrci_was_weak(ob) && rrci_target(heap, ob) == NULL)
                rrci_found(checker, RRC_ECORRUPT, ob, NULL, "it is weak, but nothing stands for it");
            rrci_check_node(checker, ob);
        }
    if (heap->calls.depth == 0 && nodes > closed->node_count)
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "edge nodes are not counted right");
    if (checker->code == RRC_OK && closed->found_dead == 0 && heap->calls.depth == 0
        && closed->step.stage == RRCI_NO_STEP)
        rrci_check_owners(checker);
}

/* ---- the layer ---- */

static void rrci_closed_news(rrc_heap *heap, rrc_object *ob, rrci_news news)
{
    rrci_closed_heap *closed = rrci_closed(heap);
    switch (news) {
    case RRCI_NEWS_HELD:
        rrci_become_strong(heap, ob);
        break;
    case RRCI_NEWS_LET_GO:
        rrci_leave_to_host(heap, ob);
        break;
    case RRCI_NEWS_WEIGHED:
        rrci_set_weak(ob);
        rrci_note_anchored(ob, 1);
        break;
    case RRCI_NEWS_PARTING:
        rrci_pin(heap, (rrc_cell *)RRC_LINK(ob), 0);     /* (the bias may have been forgotten) */
        break;
    case RRCI_NEWS_UNLINKED:
        rrci_mirror_unlinked(heap, ob);
        break;
    case RRCI_NEWS_UNTRACKING:
        rrci_mirror_untracking(heap, ob);
        break;
    case RRCI_NEWS_ASIDE:
        rrci_keep_whole(heap, ob);
        break;
    case RRCI_NEWS_RETURNED:
        closed->changes++;   /* it is strong now, but may become weak */
        break;
    case RRCI_NEWS_KEEP:
    case RRCI_NEWS_KEEP_NO_MORE:
        rrci_mirror_head_of(ob)->is.held = news == RRCI_NEWS_KEEP;
        break;
    case RRCI_NEWS_LEFT:
    case RRCI_NEWS_FREED:
        if (!rrci_is_tracked(ob))       /* (its tp_dealloc may have tracked it again) */
            rrci_forget_node(heap, ob);
        break;
    }
}

static int rrci_closed_keeps(rrc_object *ob)
{
    return rrci_mirror_head_of(ob)->is.held;
}

/* A wrapper must stay rooted. (But if only the header holds it, and no foreign reference is left, nobody can take one. In
   a collection at once nobody runs.) */
static int rrci_closed_must_stay(rrc_heap *heap, rrc_object *ob)
{
    return !rrci_closed(heap)->is_at_once
        && !(rrci_is_in_tracked(ob) && rrci_is_held_for_others(heap, ob) && rrci_references(heap, ob) == 1);
}

static const rrci_layer rrci_closed_layer = {
    sizeof(rrci_mirror_head), offsetof(rrc_cell, place), rrci_closed_news, rrci_spread_strength, rrci_closed_keeps,
    rrci_closed_must_stay, rrci_p_of_weak, rrci_has_dead_cell, rrci_mirror_cycle, rrci_whole_step, rrci_check_mirror,
    rrci_mirror_end, rrci_free_closed
};

/* Is a hook missing, or one there that the header supplies? */
static const char *rrci_wrong_closed_hook(const rrc_desc *desc, const rrc_closed_desc *closed)
{
    if (desc->survivor != NULL || desc->parted != NULL || RRCI_SURVIVOR_IS_FIXED || RRCI_YOUNG_IS_FIXED)
        return "in a closed heap survivor and parted are the header's";
    return closed->pin == NULL ? "pin is missing" : closed->new_node == NULL ? "new_node is missing"
         : closed->write_node == NULL ? "write_node is missing" : closed->join == NULL ? "join is missing" : NULL;
}

RRC_API rrc_heap *rrci_closed_new(const rrc_desc *desc, const rrc_closed_desc *closed, const char *config)
{
    const char *function = "rrc_closed_new", *wrong = NULL;
    rrc_desc copy;
    rrc_heap *heap;
    rrci_closed_heap *part;
    if (desc == NULL || closed == NULL) {
        rrci_report(desc, RRC_ENULL, function, NULL, NULL, desc == NULL ? "desc is NULL" : "closed is NULL");
        return NULL;
    }
    wrong = rrci_wrong_closed_hook(desc, closed);
    if (wrong != NULL) {
        rrci_report(desc, RRC_EDESC, function, NULL, NULL, wrong);
        return NULL;
    }
    copy = *desc;
    copy.survivor = rrci_live_cell;
    copy.parted = rrci_part_cell;
    copy.is_young = NULL;
    heap = rrci_make_heap(&copy, config, &rrci_closed_layer, function);
    if (heap == NULL)
        return NULL;
    heap->p_userdata = heap;
    part = (rrci_closed_heap *)rrci_alloc_table(heap, sizeof *part);
    if (part == NULL) {
        rrci_realloc(&copy, heap, sizeof *heap, 0);
        return NULL;
    }
    memset(part, 0, sizeof *part);
    part->desc = *closed;
    if (part->desc.cell_size < sizeof(rrc_cell))
        part->desc.cell_size = sizeof(rrc_cell);
    part->most_cycles = RRCI_LEAST_CYCLES;
    heap->layer_data = part;
    return heap;
}

RRC_API int rrc_closed_get_stats(const rrc_heap *heap, rrc_closed_stats *stats)
{
    const rrci_closed_heap *closed;
    const char *function = "rrc_closed_get_stats";
    if (heap == NULL || stats == NULL)
        return rrci_report(heap != NULL ? &heap->desc : NULL, RRC_ENULL, function, NULL, NULL, "");
    if (heap->state != RRCI_HUSK && heap->layer == NULL)
        return rrci_error(heap, RRC_ETYPE, function, NULL, NULL, "rrc_closed_new did not make this heap");
    closed = rrci_closed(heap);
    if (closed == NULL)
        return rrci_error(heap, RRC_ECLOSED, function, NULL, NULL, "");
    stats->edge_nodes = closed->node_count;
    stats->mirrored = closed->mirrored;
    stats->mirror_steps = closed->mirror_steps;
    stats->mirror_cycles = closed->cycles;
    stats->cells = closed->cell_count;
    return RRC_OK;
}

RRC_API size_t rrc_closed_count_weak(const rrc_heap *heap)
{
    size_t weak = 0, i;
    int kind;
    if (heap == NULL || !RRCI_LISTENS(heap))
        return 0;
    for (i = 0; i < heap->tracked.list[RRCI_TRACKED].count; i++) {
        rrc_object *ob = *rrci_ob_at(&heap->tracked.list[RRCI_TRACKED], i);
        weak += !rrci_is_hole(ob) && rrci_is_weak(ob);
    }
    for (kind = 0; kind < RRCI_LISTS; kind++)
        for (i = 0; i < heap->links.list[kind].count; i++) {
            rrc_object *ob = rrci_at(&heap->links.list[kind], i)->ob;
            weak += !rrci_is_tracked(ob) && rrci_is_weak(ob);
        }
    return weak;
}

/* ---- maps: linear probing ---- */

typedef struct rrci_entry {
    const void *key;            /* NULL: it is empty */
    void       *value;
} rrci_entry;

static size_t rrci_home_in_map(const rrc_map *map, const void *key)
{
    return (size_t)((uint64_t)(uintptr_t)key * RRCI_GOLDEN >> 32) & (map->size - 1);
}

/* The entry of key, or the empty one where it would go. There is one. */
static rrci_entry *rrci_find_entry(const rrc_map *map, const void *key)
{
    size_t i = rrci_home_in_map(map, key);
    while (map->entries[i].key != NULL && map->entries[i].key != key)
        i = (i + 1) & (map->size - 1);
    return &map->entries[i];
}

RRC_API void *rrc_map_get(const rrc_map *map, const void *key)
{
    return map->size > 0 ? rrci_find_entry(map, key)->value : NULL;
}

/* Later entries that were pushed away from their homes move up. */
static void rrci_empty_entry(rrc_map *map, const rrci_entry *entry)
{
    size_t mask = map->size - 1, hole = (size_t)(entry - map->entries), i;
    for (i = (hole + 1) & mask; map->entries[i].key != NULL; i = (i + 1) & mask)
        if (((i - rrci_home_in_map(map, map->entries[i].key)) & mask) >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    map->entries[hole].key = NULL;
    map->entries[hole].value = NULL;
    map->count--;
}

RRC_API void rrc_map_put(rrc_map *map, const void *key, void *value)
{
    rrci_entry *entry;
    if (map->size == 0)
        return;                         /* there is nothing to take out */
    entry = rrci_find_entry(map, key);
    if (value != NULL) {
        map->count += entry->key == NULL;
        entry->key = key;
        entry->value = value;
    } else if (entry->key != NULL) {
        rrci_empty_entry(map, entry);
    }
}

RRC_API void rrc_map_free(rrc_heap *heap, rrc_map *map)
{
    rrci_free_table(heap, map->entries, map->size * sizeof *map->entries);
    memset(map, 0, sizeof *map);
}

/* (A third of the entries stays empty.) */
RRC_API int rrc_map_reserve(rrc_heap *heap, rrc_map *map, size_t more)
{
    const char *function = "rrc_map_reserve";
    rrc_map grown = { 0, 0, NULL };
    size_t count, i;
    int code = rrci_gate(heap, RRCI_MUTATES, function);
    if (code != RRC_OK)
        return code;
    if (map == NULL)
        return rrci_error(heap, RRC_ENULL, function, NULL, NULL, "map is NULL");
    if (more > SIZE_MAX / 64 - map->count)
        return RRC_ENOMEM;
    grown.size = map->size > 0 ? map->size : 4;
    count = map->count + more;
    while (count + count / 2 >= grown.size)
        grown.size *= 2;
    if (grown.size == map->size)
        return RRC_OK;
    grown.entries = (rrci_entry *)rrci_alloc_table(heap, grown.size * sizeof *grown.entries);
    if (grown.entries == NULL)
        return RRC_ENOMEM;
    memset(grown.entries, 0, grown.size * sizeof *grown.entries);
    for (i = 0; i < map->size; i++)
        if (map->entries[i].key != NULL)
            rrc_map_put(&grown, map->entries[i].key, map->entries[i].value);
    rrc_map_free(heap, map);
    *map = grown;
    return RRC_OK;
}

#ifdef __cplusplus
}
#endif

#endif /* RAWREFCOUNT_IMPLEMENTATION */
