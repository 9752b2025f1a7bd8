/* rrc_weak.h - weak references to the C objects of rawrefcount.h
 *
 *     #define RAWREFCOUNT_IMPLEMENTATION      // in exactly one C or C++ file
 *     #include "rawrefcount.h"
 *     #include "rrc_weak.h"
 *
 *     static void gone(rrc_heap *h, rrc_weakref *ref, void *arg) { ((Publisher *)arg)->lost++; }
 *
 *     rrc_weakref *ref = rrc_weakref_new(h, subscriber, gone, publisher);     // does not keep subscriber alive
 *     rrc_object *ob = rrc_weakref_get(h, ref);       // a new reference, or NULL: subscriber has gone, or goes
 *     rrc_weakref_free(h, ref);
 *
 *     .tp_clear_weakrefs = rrc_weak_clear             // in the type of a subscriber that can be tracked
 *     rrc_run_pending(h, 0); rrc_weak_run(h, 0);      // at a safe point of the host: callbacks that wait are called
 *
 * RAWREFCOUNT_IMPLEMENTATION switches on the functions of both headers. To have these functions in another unit, define
 * RRC_WEAK_IMPLEMENTATION there. They use only public functions of rawrefcount.h, and of the C library only memcpy.
 * If RRC_REFCNT, RRC_LINK or RRC_TYPE adapt the header to a layout of your own, define RRC_WEAK_HEAD in the unit with
 * the functions: the type of the head of your objects. The page README.md beside this file is a guide. The license is
 * that of rawrefcount.h.
 *
 * CONTENTS (search for the tag): >>semantics, >>functions, >>implementation (nodes, the table, deaths, callbacks, weak
 * references)
 */

#ifndef RRC_WEAK_H
#define RRC_WEAK_H

#ifndef RAWREFCOUNT_H
#error "rrc_weak.h: include rawrefcount.h first"
#endif
#ifdef RRC_NO_CYCLES
#error "rrc_weak.h: it needs what RRC_NO_CYCLES leaves out: do not define that in this unit and in the implementing one"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* >>semantics
 * ---------------------------------------------------------------------------
 * A weak reference refers to an object and does not keep it alive. It is DEAD as soon as
 *   - the object's last reference is gone, and its tp_finalize, if any, has not taken a new one;
 *   - a collection has found the object to be garbage that waits for rrc_run_pending. All weak references to the
 *     garbage of a collection are dead before any of its callbacks or finalizers runs (PEP 442). They stay dead if a
 *     finalizer resurrects the object. (If C takes a reference to garbage that waits, before rrc_run_pending or
 *     rrc_weakref_get has come to it, the object keeps its weak references.)
 *   - the weak reference itself is such garbage;
 *   - rrc_weak_clear was called for the object, rrc_gc_resize has moved it, or the heap has ended.
 * A dead weak reference stays dead. An object in the dealloc queue is alive: rrc_weakref_get brings it back.
 *
 * The callback of a weak reference is called once, when the object is dead, with the dead weak reference. It is not
 * called if the weak reference was freed before, is itself garbage, or died because the heap has ended. Of several
 * callbacks for one object the newest is called first, as in CPython. They run outside collections, in one of these
 * calls:
 *   - rrc_weak_run, which calls all that wait;
 *   - rrc_weak_clear in the tp_dealloc of any object. If the tp_dealloc of a type begins with
 *     rrc_weak_clear(heap, self), callbacks for its objects are called at once, as by PyObject_ClearWeakRefs in
 *     CPython.
 *
 * A weak reference is itself a counted and tracked object, which owns nothing. The object that owns it visits it in
 * tp_traverse, or lists it in tp_members: so a collection knows that it is garbage when its owner is. The tp_dealloc of
 * the owner drops its weak references first of all, also before it calls rrc_weak_clear: else one of its own callbacks
 * can be called while it goes. */

/* A weak reference. It begins with the head of an object: (rrc_object *)ref. */
typedef struct rrc_weakref rrc_weakref;

/* The object that ref referred to is gone, or goes. ref is dead, and is held during the call, so that the callback may
   free it. The callback may call what a tp_dealloc may call, such as any function of the mutator; rrc_run_pending and
   rrc_heap_free do nothing there. It must return to its caller. Callbacks are not nested: what dies meanwhile is told
   after it. */
typedef void (*rrc_weakproc)(rrc_heap *heap, rrc_weakref *ref, void *arg);

/* >>functions
 * ---------------------------------------------------------------------------
 * The tag lines are those of rawrefcount.h. */

/* Make a weak reference to ob. The caller owns one reference to it. callback may be NULL. Then arg is ignored, and all
   such weak references to one object are the same one. arg is what the callback gets; it must be valid until the weak
   reference is freed or the callback was called.
   Returns NULL if memory is lacking, or after a mistake, which is logged: RRC_ENULL; RRC_ETYPE: the type of ob has
   RRC_TPFLAGS_HAVE_GC, but no tp_clear_weakrefs; RRC_EREFCNT: ob is being deallocated; RRC_EPHASE: ob waits as garbage
   (its own tp_finalize may be running), or a collection is going on; RRC_ECLOSED; RRC_ELIMIT. Then nothing has changed.
   With RRC_DEBUG, RRC_ETYPE is also logged when callbacks have waited for two major collections because nobody calls
   rrc_weak_run or, in a tp_dealloc, rrc_weak_clear.
   [mutator | allocates | calls tp_outside; in a collection in slices perhaps trace | O(1)] */
RRC_API rrc_weakref *rrc_weakref_new(rrc_heap *heap, rrc_object *ob, rrc_weakproc callback, void *arg);

/* Return a new reference to the object of ref, or NULL: ref is dead, or NULL. In a collection in slices the object may
   be garbage that does not wait yet: then it is alive again, as after rrc_incref. (In a hook, or inside a collection,
   the call can be refused with RRC_EPHASE, which is logged. Then it returns NULL, although ref is not dead.)
   [mutator, unchecked | frees only | calls what rrc_incref does | O(1)] */
RRC_API rrc_object *rrc_weakref_get(rrc_heap *heap, rrc_weakref *ref);

/* Drop a reference to a weak reference, as rrc_decref does. After the last one its callback is not called any more.
   NULL is ignored. [any | frees only | nothing | O(1)] */
RRC_API void rrc_weakref_free(rrc_heap *heap, rrc_weakref *ref);

/* All weak references to ob are dead from now on. This function is the tp_clear_weakrefs of the types of objects with
   weak references. (A type that has a tp_clear_weakrefs of its own calls this function there.) In the tp_dealloc of ob
   it also calls all callbacks that wait. It may be called for a living object, such as one that is disposed of.
   [any | frees only | in a tp_dealloc calls callbacks | O(1) + callbacks] */
RRC_API void rrc_weak_clear(rrc_heap *heap, rrc_object *ob);

/* A tp_dealloc for types that have only tp_members: drop those that are weak references, call rrc_weak_clear, drop the
   others, and free the object. (With a tp_dealloc of NULL, callbacks wait for rrc_weak_run.)
   [any | frees only | calls callbacks, dealloc, tp_free | O(members) + callbacks] */
RRC_API void rrc_weak_dealloc(rrc_heap *heap, rrc_object *self);

/* Call callbacks that wait, at most max; 0 means all, also those of what dies meanwhile. Call this after
   rrc_run_pending. Returns how many were called. In a callback it does nothing and returns 0. In a collection or a
   step, in nested deallocs and at the limit of rrc_run_pending, the callbacks wait for the next rrc_run_pending.
   [any | frees only | calls callbacks | O(callbacks)] */
RRC_API size_t rrc_weak_run(rrc_heap *heap, size_t max);

#ifdef __cplusplus
}
#endif

#endif /* RRC_WEAK_H */

/* >>implementation
 * ===========================================================================
 * Each object that has weak references has a node, which its weak references share. The death of the object changes the
 * node alone, however many weak references there are. A table finds the node of an object by its address, so that
 * objects and types need no field. An observer (rrc_observe) tells of each dealloc: a type that forgets to call
 * rrc_weak_clear in its tp_dealloc delays callbacks, but leaves no weak reference to freed memory.
 *
 * The table, the nodes that wait, and the observer belong to the center, one for each heap, which lives as long as any
 * weak reference. Callbacks are called by the tp_finalize of the center, after its last reference was dropped: so they
 * run where a dealloc may run, rrc_heap_free refuses to end the heap meanwhile, and where no dealloc may run, they
 * wait. */

#if (defined(RAWREFCOUNT_IMPLEMENTATION) || defined(RRC_WEAK_IMPLEMENTATION)) && !defined(RRCW_IMPLEMENTED)
#define RRCW_IMPLEMENTED

#ifdef RRC_NO_STDLIB
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t size);
#ifdef __cplusplus
}
#endif
#else
#include <string.h>
#endif

#ifndef RRC_WEAK_HEAD
#ifdef RRCI_ADAPTED_LAYOUT
#error "rrc_weak.h: RRC_REFCNT, RRC_LINK or RRC_TYPE is defined: define RRC_WEAK_HEAD, too, as the type of your head"
#endif
#define RRC_WEAK_HEAD rrc_object
#endif

/* ---- nodes ---- */

typedef struct rrcw_node {
    rrc_object  *ob;                /* NULL: it is dead */
    rrc_weakref *first;             /* the one without a callback, then the others, the newest first; never NULL between
                                       calls */
    struct rrcw_node *next, **at;   /* in a bucket of the table, or among those that wait; at is where this one hangs */
} rrcw_node;

/* The table is a linear hash table. It grows by one bucket at a time, so that no call takes long. */
#define RRCW_CHUNK ((size_t)512)
typedef struct rrcw_chunk {
    rrcw_node *bucket[RRCW_CHUNK];
} rrcw_chunk;

typedef struct rrcw_center {
    RRC_WEAK_HEAD head;
    rrc_observer  observer;
    rrcw_chunk  **chunk;
    size_t        chunks, room;     /* in chunk: chunks, and room for them */
    size_t        buckets, mask;    /* mask / 2 < buckets <= mask + 1; mask + 1 is a power of two */
    size_t        nodes;            /* in the table */
    rrcw_node    *waiting, **waiting_end;   /* nodes of dead objects, the oldest death first */
    size_t        references;       /* weak references */
    size_t        most, called;     /* for rrc_weak_run: how many may be called, and have been */
    int           is_dropped;       /* its last reference is dropped: its tp_finalize will run, or runs */
    int           has_ended;        /* the heap has ended: the observer and the table are gone */
#ifdef RRC_DEBUG
    size_t        waits_since;      /* major collections when a callback was first seen to wait, and 1 more */
    int           has_complained;
#endif
} rrcw_center;

struct rrc_weakref {
    RRC_WEAK_HEAD head;
    rrcw_center  *center;
    rrcw_node    *node;             /* NULL: it is dead */
    rrc_weakref  *next, **at;       /* in the list of the node */
    rrc_weakproc  callback;
    void         *arg;
};

#define RRCW_OB(pointer) ((rrc_object *)(void *)(pointer))

/* Put the node in front of the list that hangs at `at`. */
static void rrcw_hang(rrcw_node *node, rrcw_node **at)
{
    node->at = at;
    node->next = *at;
    if (node->next != NULL)
        node->next->at = &node->next;
    *at = node;
}

static void rrcw_unhang(rrcw_center *center, rrcw_node *node)
{
    *node->at = node->next;
    if (node->next != NULL)
        node->next->at = node->at;
    else if (center->waiting_end == &node->next)
        center->waiting_end = node->at;
}

/* The weak reference is dead. If it was the last one of its node, the node is freed. */
static void rrcw_cut(rrc_heap *heap, rrc_weakref *ref)
{
    rrcw_node *node = ref->node;
    if (node == NULL)
        return;
    ref->node = NULL;
    *ref->at = ref->next;
    if (ref->next != NULL)
        ref->next->at = ref->at;
    if (node->first != NULL)
        return;
    ref->center->nodes -= node->ob != NULL;
    rrcw_unhang(ref->center, node);
    rrc_realloc(heap, node, sizeof *node, 0);
}

/* ---- the table ---- */

static rrcw_node **rrcw_bucket(const rrcw_center *center, size_t index)
{
    return &center->chunk[index / RRCW_CHUNK]->bucket[index % RRCW_CHUNK];
}

static size_t rrcw_index_of(const rrcw_center *center, const rrc_object *ob)
{
    uint64_t hash = (uint64_t)(uintptr_t)ob * 0x9E3779B97F4A7C15u;
    size_t index = (size_t)(hash >> 32) & center->mask;
    return index < center->buckets ? index : index & center->mask / 2;
}

static rrcw_node *rrcw_node_of(const rrcw_center *center, const rrc_object *ob)
{
    rrcw_node *node = *rrcw_bucket(center, rrcw_index_of(center, ob));
    while (node != NULL && node->ob != ob)
        node = node->next;
    return node;
}

/* Add a chunk of empty buckets. Returns 0 if memory is lacking. */
static int rrcw_add_chunk(rrc_heap *heap, rrcw_center *center)
{
    rrcw_chunk *chunk;
    size_t i;
    if (center->chunks == center->room) {
        size_t room = center->room * 2 + 1;
        rrcw_chunk **more = (rrcw_chunk **)rrc_realloc(heap, center->chunk, center->room * sizeof *more,
                                                       room * sizeof *more);
        if (more == NULL)
            return 0;
        center->chunk = more;
        center->room = room;
    }
    chunk = (rrcw_chunk *)rrc_realloc(heap, NULL, 0, sizeof *chunk);
    if (chunk == NULL)
        return 0;
    for (i = 0; i < RRCW_CHUNK; i++)
        chunk->bucket[i] = NULL;
    center->chunk[center->chunks++] = chunk;
    return 1;
}

/* Add a bucket, to which one other gives what belongs there now. If memory is lacking, chains get longer. */
static void rrcw_grow(rrc_heap *heap, rrcw_center *center)
{
    size_t index = center->buckets;
    rrcw_node *node, *next;
    if (index == center->chunks * RRCW_CHUNK && !rrcw_add_chunk(heap, center))
        return;
    if (index > center->mask)
        center->mask = center->mask * 2 + 1;
    center->buckets++;
    for (node = *rrcw_bucket(center, index & center->mask / 2); node != NULL; node = next) {
        next = node->next;
        if (rrcw_index_of(center, node->ob) != index)
            continue;
        rrcw_unhang(center, node);
        rrcw_hang(node, rrcw_bucket(center, index));
    }
}

static void rrcw_free_table(rrc_heap *heap, rrcw_center *center)
{
    while (center->chunks > 0)
        rrc_realloc(heap, center->chunk[--center->chunks], sizeof(rrcw_chunk), 0);
    rrc_realloc(heap, center->chunk, center->room * sizeof *center->chunk, 0);
    center->chunk = NULL;
    center->room = 0;
}

/* ---- deaths ---- */

/* The object of the node is dead: the node waits for the calls of callbacks. This allocates and frees nothing, and
   calls nothing of rawrefcount.h, as collections come here, too. */
static void rrcw_die(rrcw_center *center, rrcw_node *node)
{
    rrcw_unhang(center, node);
    center->nodes--;
    node->ob = NULL;
    rrcw_hang(node, center->waiting_end);
    center->waiting_end = &node->next;
}

/* Forget a list of nodes, and let their weak references be dead. */
static void rrcw_free_nodes(rrc_heap *heap, rrcw_node *node)
{
    while (node != NULL) {
        rrcw_node *next = node->next;
        rrc_weakref *ref;
        for (ref = node->first; ref != NULL; ref = ref->next)
            ref->node = NULL;
        rrc_realloc(heap, node, sizeof *node, 0);
        node = next;
    }
}

/* The observer: an object goes, or with NULL the heap. */
static void rrcw_gone(rrc_observer *observer, rrc_heap *heap, rrc_object *ob)
{
    rrcw_center *center = (rrcw_center *)(void *)((char *)observer - offsetof(rrcw_center, observer));
    rrcw_node *node;
    size_t i;
    if (ob != NULL) {
        node = center->nodes > 0 ? rrcw_node_of(center, ob) : NULL;
        if (node != NULL)
            rrcw_die(center, node);
        return;
    }
    center->has_ended = 1;
    for (i = 0; i < center->buckets; i++)
        rrcw_free_nodes(heap, *rrcw_bucket(center, i));
    rrcw_free_nodes(heap, center->waiting);
    center->waiting = NULL;
    rrcw_free_table(heap, center);
}

/* Does ob wait as garbage? Returns 1 or 0; -1: nothing may be asked now, and the reason was logged. */
static int rrcw_is_waiting(rrc_heap *heap, rrc_object *ob, const char *function)
{
    rrc_info info;
    int code;
    if (RRC_REFCNT(ob) >= 0)
        return 0;                   /* what waits is watched */
    if (rrc_inspect_begin(heap, function) != RRC_OK)
        return -1;
    code = rrc_inspect(heap, ob, &info);
    rrc_inspect_end(heap);
    return code != RRC_OK ? -1 : (info.is & RRC_IS_WAITING) != 0;
}

/* ---- callbacks ---- */

/* Is a callback to be called? Not if the last reference to ref was dropped, but its dealloc was put off: then the link
   field has an odd word of the header. */
static int rrcw_is_owed(rrc_heap *heap, rrc_weakref *ref)
{
    rrc_object *ob = RRCW_OB(ref);
    int is_put_off = ((uintptr_t)RRC_LINK(ob) & 1) != 0 && rrc_refcnt(ob) == 1;
    return ref->callback != NULL && !is_put_off && rrcw_is_waiting(heap, ob, "rrc_weak_run") == 0;
}

/* Call callbacks until none waits, or the limit is reached. */
static void rrcw_call_back(rrc_heap *heap, rrcw_center *center)
{
    while (center->waiting != NULL && center->called < center->most) {
        rrc_weakref *ref = center->waiting->first;
        if (!rrcw_is_owed(heap, ref)) {
            rrcw_cut(heap, ref);
            continue;
        }
        rrc_incref(heap, RRCW_OB(ref));
        rrcw_cut(heap, ref);
        center->called++;
        ref->callback(heap, ref, ref->arg);
        rrc_weakref_free(heap, ref);
    }
}

/* The tp_finalize of the center: its last reference was dropped. With weak references left it takes a new one. */
static void rrcw_center_finalize(rrc_heap *heap, rrc_object *self)
{
    rrcw_center *center = (rrcw_center *)(void *)self;
    rrc_incref(heap, self);
    rrcw_call_back(heap, center);
    center->is_dropped = 0;
#ifdef RRC_DEBUG
    center->waits_since = 0;
#endif
    if (center->references == 0)
        rrc_decref(heap, self);
}

static void rrcw_center_dealloc(rrc_heap *heap, rrc_object *self)
{
    rrcw_center *center = (rrcw_center *)(void *)self;
    if (!center->has_ended) {
        rrc_observe(heap, &center->observer, 0);
        rrcw_free_table(heap, center);
    }
    rrc_del(heap, self);
}

/* Have the tp_finalize of the center called, now or where the header puts it off to. */
static void rrcw_drop_center(rrc_heap *heap, rrcw_center *center, size_t most)
{
    if (center->is_dropped)
        return;
    center->is_dropped = 1;
    center->most = most;
    center->called = 0;
    rrc_decref(heap, RRCW_OB(center));
}

/* A weak reference is gone, or was not made. The center goes with the last one. */
static void rrcw_release_center(rrc_heap *heap, rrcw_center *center)
{
    if (--center->references == 0)
        rrcw_drop_center(heap, center, SIZE_MAX);
}

static const rrc_type rrcw_center_type = {
    RRC_OBJECT_HEAD_INIT(NULL), "rrc_weak", sizeof(rrcw_center), 0, 0, rrcw_center_dealloc, NULL, NULL, NULL,
    rrcw_center_finalize, NULL, NULL, NULL, NULL
};

static rrcw_center *rrcw_center_of(rrc_heap *heap)
{
    rrc_observer *observer = rrc_find_observer(heap, rrcw_gone);
    return observer == NULL ? NULL
         : (rrcw_center *)(void *)((char *)observer - offsetof(rrcw_center, observer));
}

/* The center of the heap, or a new one. NULL: memory is lacking. */
static rrcw_center *rrcw_need_center(rrc_heap *heap)
{
    rrcw_center *center = rrcw_center_of(heap);
    if (center != NULL)
        return center;
    center = (rrcw_center *)(void *)rrc_new(heap, &rrcw_center_type);
    if (center == NULL)
        return NULL;
    center->waiting_end = &center->waiting;
    center->observer.gone = rrcw_gone;
    if (!rrcw_add_chunk(heap, center)) {
        rrcw_drop_center(heap, center, SIZE_MAX);
        return NULL;
    }
    center->buckets = 1;
    rrc_observe(heap, &center->observer, 1);
    return center;
}

#ifdef RRC_DEBUG
/* Does a callback wait? */
static int rrcw_has_calls(const rrcw_center *center)
{
    const rrcw_node *node = center->waiting;
    while (node != NULL && node->first->callback == NULL && node->first->next == NULL)
        node = node->next;
    return node != NULL;
}

/* Complain once if callbacks wait and nobody calls them. */
static void rrcw_look_for_calls(rrc_heap *heap, rrcw_center *center)
{
    rrc_stats stats;
    if (center->has_complained || rrc_get_stats(heap, &stats) != RRC_OK)
        return;
    if (center->is_dropped || !rrcw_has_calls(center)) {
        center->waits_since = 0;
    } else if (center->waits_since == 0) {
        center->waits_since = stats.major_collections + 1;
    } else if (stats.major_collections > center->waits_since) {
        center->has_complained = 1;
        rrc_log(heap, RRC_ETYPE, "rrc_weakref_new", NULL, NULL,
                "callbacks of weak references have waited for two major collections: call rrc_weak_run after "
                "rrc_run_pending, or rrc_weak_clear first in the tp_dealloc of the type");
    }
}
#endif

/* ---- weak references ---- */

static void rrcw_ref_dealloc(rrc_heap *heap, rrc_object *self)
{
    rrc_weakref *ref = (rrc_weakref *)(void *)self;
    rrcw_center *center = ref->center;
    rrcw_cut(heap, ref);
    rrc_gc_del(heap, self);
    rrcw_release_center(heap, center);
}

/* A weak reference is garbage. */
static void rrcw_ref_clear(rrc_heap *heap, rrc_object *self)
{
    rrcw_cut(heap, (rrc_weakref *)(void *)self);
    rrc_weak_clear(heap, self);
}

static const rrc_type rrcw_ref_type = {
    RRC_OBJECT_HEAD_INIT(NULL), "rrc_weakref", sizeof(rrc_weakref), 0, RRC_TPFLAGS_HAVE_GC, rrcw_ref_dealloc, NULL,
    NULL, NULL, NULL, rrcw_ref_clear, NULL, NULL, NULL
};

/* May ob get a weak reference? Logs the reason if not. */
static int rrcw_may_refer(rrc_heap *heap, rrc_object *ob)
{
    const char *function = "rrc_weakref_new";
    const rrc_type *type;
    rrc_info info;
    int code;
    if (heap == NULL || ob == NULL) {
        rrc_log(heap, RRC_ENULL, function, NULL, NULL, heap == NULL ? "heap is NULL" : "ob is NULL");
        return 0;
    }
    if (rrc_inspect_begin(heap, function) != RRC_OK)
        return 0;
    type = RRC_TYPE(ob);
    code = type == NULL ? rrc_log(heap, RRC_ETYPE, function, ob, NULL, "the type is NULL")
                        : rrc_inspect(heap, ob, &info);
    rrc_inspect_end(heap);
    if (code != RRC_OK)
        return 0;
    if ((type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 && type->tp_clear_weakrefs == NULL)
        code = rrc_log(heap, RRC_ETYPE, function, ob, NULL,
                       "tp_clear_weakrefs is NULL, so that a weak reference would give garbage: set it to "
                       "rrc_weak_clear");
    else if (RRC_REFCNT(ob) == 0)
        code = rrc_log(heap, RRC_EREFCNT, function, ob, NULL,
                       "the object is being deallocated: make weak references before its last reference is dropped");
    else if ((info.is & RRC_IS_WAITING) != 0)
        code = rrc_log(heap, RRC_EPHASE, function, ob, NULL,
                       "the object is garbage, whose finalizer may be running: resurrect it by rrc_incref, and make "
                       "the weak reference when its tp_finalize has returned");
    return code == RRC_OK;
}

/* The weak reference of this node that has no callback, with a new reference, or NULL. */
static rrc_weakref *rrcw_shared(rrc_heap *heap, rrcw_node *node)
{
    rrc_weakref *ref = node->first;
    if (ref->callback != NULL || rrcw_is_waiting(heap, RRCW_OB(ref), "rrc_weakref_new") != 0)
        return NULL;
    rrc_incref(heap, RRCW_OB(ref));
    return ref;
}

/* Add the weak reference to the node of ob, or to a new one. Returns 0 if memory is lacking. */
static int rrcw_join(rrc_heap *heap, rrcw_center *center, rrc_weakref *ref, rrc_object *ob)
{
    rrcw_node *node = rrcw_node_of(center, ob);
    if (node == NULL) {
        node = (rrcw_node *)rrc_realloc(heap, NULL, 0, sizeof *node);
        if (node == NULL)
            return 0;
        node->ob = ob;
        node->first = NULL;
        rrcw_hang(node, rrcw_bucket(center, rrcw_index_of(center, ob)));
        if (++center->nodes > center->buckets)
            rrcw_grow(heap, center);
    }
    ref->node = node;
    ref->at = &node->first;
    if (ref->callback != NULL && node->first != NULL && node->first->callback == NULL)
        ref->at = &node->first->next;
    ref->next = *ref->at;
    if (ref->next != NULL)
        ref->next->at = &ref->next;
    *ref->at = ref;
    return 1;
}

RRC_API rrc_weakref *rrc_weakref_new(rrc_heap *heap, rrc_object *ob, rrc_weakproc callback, void *arg)
{
    rrcw_center *center;
    rrcw_node *node;
    rrc_weakref *ref;
    if (!rrcw_may_refer(heap, ob))
        return NULL;
    center = rrcw_need_center(heap);
    if (center == NULL)
        return NULL;
#ifdef RRC_DEBUG
    rrcw_look_for_calls(heap, center);
#endif
    node = callback == NULL ? rrcw_node_of(center, ob) : NULL;
    ref = node != NULL ? rrcw_shared(heap, node) : NULL;
    if (ref != NULL)
        return ref;
    center->references++;
    ref = (rrc_weakref *)(void *)rrc_gc_new(heap, &rrcw_ref_type);
    if (ref == NULL) {
        rrcw_release_center(heap, center);
        return NULL;
    }
    ref->center = center;
    ref->callback = callback;
    ref->arg = arg;
    if (rrc_gc_track(heap, RRCW_OB(ref)) != RRC_OK || !rrcw_join(heap, center, ref, ob)) {
        rrc_weakref_free(heap, ref);
        return NULL;
    }
    return ref;
}

RRC_API rrc_object *rrc_weakref_get(rrc_heap *heap, rrc_weakref *ref)
{
    const char *function = "rrc_weakref_get";
    rrc_object *ob = ref != NULL && ref->node != NULL ? ref->node->ob : NULL;
    int is_waiting = ob != NULL ? rrcw_is_waiting(heap, ob, function) : 0;
    if (is_waiting > 0) {
        rrcw_die(ref->center, ref->node);
    } else if (ob != NULL && is_waiting == 0) {
        is_waiting = rrcw_is_waiting(heap, RRCW_OB(ref), function);
        if (is_waiting > 0)
            rrcw_cut(heap, ref);
    }
    if (ob == NULL || is_waiting != 0)
        return NULL;
    rrc_incref(heap, ob);
    return ob;
}

RRC_API void rrc_weakref_free(rrc_heap *heap, rrc_weakref *ref)
{
    if (ref != NULL)
        rrc_decref(heap, RRCW_OB(ref));
}

RRC_API void rrc_weak_clear(rrc_heap *heap, rrc_object *ob)
{
    rrcw_center *center = rrcw_center_of(heap);
    rrcw_node *node;
    if (center == NULL || ob == NULL)
        return;
    node = rrcw_node_of(center, ob);
    if (node != NULL)
        rrcw_die(center, node);
    if (RRC_REFCNT(ob) == 0 && center->waiting != NULL)
        rrcw_drop_center(heap, center, SIZE_MAX);
}

/* Drop the members of an object; if only_weak, those that are weak references. */
static void rrcw_drop_members(rrc_heap *heap, rrc_object *self, int only_weak)
{
    rrc_object *const none = NULL;
    const rrc_member *member = RRC_TYPE(self)->tp_members;
    for (; member != NULL && member->name != NULL; member++) {
        rrc_object *value;          /* (the field can be a pointer to any struct) */
        memcpy(&value, (const char *)self + member->offset, sizeof value);
        if (value == NULL || (only_weak && RRC_TYPE(value) != &rrcw_ref_type))
            continue;
        memcpy((char *)self + member->offset, &none, sizeof none);
        rrc_decref(heap, value);
    }
}

RRC_API void rrc_weak_dealloc(rrc_heap *heap, rrc_object *self)
{
    const rrc_type *type = RRC_TYPE(self);
    rrcw_drop_members(heap, self, 1);
    rrc_weak_clear(heap, self);
    rrcw_drop_members(heap, self, 0);
    if (type->tp_free != NULL)
        type->tp_free(heap, self);
    else if ((type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0)
        rrc_gc_del(heap, self);
    else
        rrc_del(heap, self);
}

RRC_API size_t rrc_weak_run(rrc_heap *heap, size_t max)
{
    rrcw_center *center = rrcw_center_of(heap);
    size_t called;
    if (center == NULL || center->waiting == NULL || center->is_dropped)
        return 0;
    center->references++;           /* a callback may free the last weak reference */
    rrcw_drop_center(heap, center, max > 0 ? max : SIZE_MAX);
    called = center->called;
    rrcw_release_center(heap, center);
    return called;
}

#endif
