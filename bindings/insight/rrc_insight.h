/* rrc_insight.h - shows a heap of rawrefcount.h: why an object is alive, pictures, heap snapshots, leaks
 *
 *     #define RAWREFCOUNT_IMPLEMENTATION      // in exactly one C or C++ file
 *     #include "rawrefcount.h"
 *     #include "rrc_insight.h"
 *
 *     static void print(void *arg, const char *text, size_t size) { fwrite(text, 1, size, (FILE *)arg); }
 *
 *     rrc_explain(heap, NULL, ob, print, stdout);      // the path of references that keeps ob alive
 *
 * RAWREFCOUNT_IMPLEMENTATION switches on the functions of both headers. To have these functions in another unit, define
 * RRC_INSIGHT_IMPLEMENTATION there. They use only public functions of rawrefcount.h (rrc_inspect_begin and those below
 * it), so that you can write another viewer in the same way. They need <stdio.h>. The page README.md beside this file
 * says how to use them. The license is that of rawrefcount.h.
 *
 * CONTENTS (search for the tag): >>hooks, >>functions, >>implementation (nodes, the graph, edges, paths, text,
 * explanations, what is remembered, leaks, pictures, heap snapshots)
 */

#ifndef RRC_INSIGHT_H
#define RRC_INSIGHT_H

#ifndef RAWREFCOUNT_H
#error "rrc_insight.h: include rawrefcount.h first"
#endif
#ifdef RRC_NO_STDIO
#error "rrc_insight.h: it needs <stdio.h>, and this unit has RRC_NO_STDIO"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* >>hooks
 * --------------------------------------------------------------------------- */

/* The hook `edges` calls this with each object `to` that p refers to. name says how p refers to it: ".title" for a
   field, else words such as "upvalue w" or "metatable". It is read during the call only. If name is NULL,
   number stands for it, such as the index in an array. A `to` that is NULL or odd is ignored. */
typedef void (*rrc_edgeproc)(void *arg, rrc_gcref to, const char *name, size_t number);

/* The hook `describe` fills this in for a host object. All fields are preset. */
typedef struct rrc_description {
    char     text[128];         /* one word for its kind, and perhaps more: "function at main.lua:12". Preset: "p" */
    size_t   size;              /* bytes, without those of other objects. Preset: 0 */
    uint32_t id;                /* 1 to 2^30 - 1: a number that this object keeps, and that no other one ever gets,
                                   not even after its death. A host whose objects move should give one to each.
                                   Preset: 0, for which the address is taken */
} rrc_description;

/* By these hooks the functions below show the host's objects as well. Zero in a field means its default. The hooks are
   called by these functions only, and so never in a collection. They must not allocate in the host, as nothing may move
   or die meanwhile, and must give the same answers each time. They may not call rawrefcount.h, but for rrc_userdata and
   functions that only read, such as rrc_to_obj. In a closed heap the p of a link can be dead already. Then `edges`
   visits nothing, and `describe` says that p is dead. */
typedef struct rrc_insight {
    void *userdata;             /* the first argument of each hook */

    /* Call visit(arg, to, name, number) for each object that p refers to; if p is NULL, for each root of the
       host, with names such as "global app". Leave out the edge nodes and anchors of a closed heap, and
       fields that serve the link, such as a proxy's pointer to ob. If you leave out any others, objects may look
       like garbage. NULL: of the host's objects only the p's of links are known. */
    void (*edges)(void *userdata, rrc_gcref p, rrc_edgeproc visit, void *arg);

    /* Describe p in a few words. NULL: all host objects are called "p". */
    void (*describe)(void *userdata, rrc_gcref p, rrc_description *about);

    /* A function, whose name is given, has done this many of its units of work. A host can show a bar with it. This is
       called about every 4096 units, and with done == total at the end, unless the function fails. done is never more
       than total, and never decreases. total grows while objects of the host are found. NULL: nobody is told. */
    void (*progress)(void *userdata, const char *function, size_t done, size_t total);

    /* Describe the C object ob in a few words, such as "Window 'main'", for rrc_explain and rrc_dump_dot. The text is
       preset to the name of its type; the other fields do not matter. (Snapshots sort objects by the names of types.)
       NULL: C objects are called by the names of their types. */
    void (*describe_ob)(void *userdata, rrc_object *ob, rrc_description *about);
} rrc_insight;

/* Receives text of size bytes, followed by a 0. It must not call rawrefcount.h or free objects. */
typedef void (*rrc_writeproc)(void *arg, const char *text, size_t size);

/* >>functions
 * ---------------------------------------------------------------------------
 * The tag lines are those of rawrefcount.h. `insight` may be NULL: there are no hooks. */

/* Why is ob alive? Write, in words, the shortest path of references to ob, from an object that is held from
   outside, or with the hook `edges` from a root of the host, through both heaps. If there is no such path, write one
   that begins at a p, or write that ob is garbage. RRC_ENOMEM: nothing was written.
   [mutator | allocates, and frees it |
   calls tp_traverse, tp_outside, tp_size, edges, describe, describe_ob, progress, write |
   O(links + tracked objects + references; with `edges` those of the host, too)] */
RRC_API int rrc_explain(rrc_heap *heap, const rrc_insight *insight, rrc_object *ob, rrc_writeproc write, void *arg);

/* Draw the same graph in the language of Graphviz (dot -Tsvg). Boxes are C objects; their corners are
   round if they are not tracked. Ellipses are host objects: those with links, and with the hook `edges` all that
   it visits. Bold blue edges are links. An orange object is held from outside, by as many references as are
   not explained. A gray object is garbage, or waits in the queue.
   [as rrc_explain] */
RRC_API int rrc_dump_dot(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg);

/* Write both heaps in the format of V8's heap snapshots. A file with it, whose name ends in .heapsnapshot,
   can be loaded in the memory panel of Chrome's developer tools, and in other tools for this format. They show
   what retains an object, retained sizes, and how two snapshots differ. A linked pair is two nodes. An edge
   has the name of the field, or the name that the hook `edges` gives. The size of an object of rrc_new is that of its
   memory, and that of other C objects is the tp_basicsize; the tp_size is added. `describe` gives the size of a host
   object. Garbage that no collection has found yet is in the snapshot, if it was tracked or linked.
   An object has the same id in all snapshots of a heap, and no other object gets it. (A C object that
   rrc_gc_resize moves counts as new. A host object without an id of its own, see rrc_description, is taken
   for the one that was at its address.) To this end the heap remembers the addresses of the last snapshot, 10 to 20
   bytes for each object, from the first one to its end. After RRC_ENOMEM the text is of no use.
   [mutator | allocates | calls tp_traverse, tp_outside, tp_size, edges, describe, progress, write |
   O(links + tracked objects + references, of the host too)] */
RRC_API int rrc_dump_heapsnapshot(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg);

/* Have rrc_heap_free report what C still holds: call this in front of it. When all else has gone, rrc_heap_free writes
   for each type the number of objects, their bytes, and why three of them are alive, as rrc_explain does, with at most
   eight steps of a path. It writes nothing if nothing is left. It knows the objects that are tracked or linked when
   this is called, and what they own in C. Static objects and uncollectable garbage do not count. `write` and `arg` must
   stay valid until then. A second call takes the place of the first. Of the hooks, this calls `progress`.
   RRC_ENOMEM: nothing has changed.
   [mutator | allocates | calls tp_traverse, tp_outside, tp_size, progress; rrc_heap_free calls write |
   O(links + tracked objects + references); in rrc_heap_free also O(reported objects) for each type] */
RRC_API int rrc_report_leaks(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* RRC_INSIGHT_H */

/* >>implementation
 * ===========================================================================
 * Each function begins an inspection, makes a picture of both heaps in memory of its own, writes, and ends the
 * inspection. */

#if (defined(RAWREFCOUNT_IMPLEMENTATION) || defined(RRC_INSIGHT_IMPLEMENTATION)) && !defined(RRCV_IMPLEMENTED)
#define RRCV_IMPLEMENTED

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

#define RRCV_NONE SIZE_MAX
#define RRCV_IS_LINKED ((unsigned)RRC_IS_P_LINKED | (unsigned)RRC_IS_O_LINKED)

/* Objects of both heaps, numbered in the order in which they were found. The key of an ob is its address, that of an
   object of the host is one more than its address. Key 0: an ob that was freed. */
typedef struct rrcv_nodes {
    uintptr_t *key;
    uint32_t  *slot;            /* a hash table: the number of a node + 1, or 0 */
    uint32_t  *id;              /* of each, in a heap snapshot, or NULL */
    size_t     count, capacity, slots, ids;     /* (the last three: of key, slot and id) */
} rrcv_nodes;

static uint64_t rrcv_hash_word(uintptr_t word)
{
    uint64_t hash = (uint64_t)word * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* Returns the number of a node, or RRCV_NONE. */
static size_t rrcv_node_of(const rrcv_nodes *nodes, uintptr_t key)
{
    size_t place = nodes->slots > 0 ? (size_t)rrcv_hash_word(key) & (nodes->slots - 1) : 0;
    if (nodes->slots == 0)
        return RRCV_NONE;
    for (; nodes->slot[place] != 0; place = (place + 1) & (nodes->slots - 1))
        if (nodes->key[nodes->slot[place] - 1] == key)
            return nodes->slot[place] - 1;
    return RRCV_NONE;
}

static void rrcv_free_nodes(rrc_heap *heap, rrcv_nodes *nodes)
{
    (void)rrc_realloc(heap, nodes->key, nodes->capacity * sizeof *nodes->key, 0);
    (void)rrc_realloc(heap, nodes->slot, nodes->slots * sizeof *nodes->slot, 0);
    (void)rrc_realloc(heap, nodes->id, nodes->ids * sizeof *nodes->id, 0);
    memset(nodes, 0, sizeof *nodes);
}

/* ---- the graph ----
   A picture of both heaps: the tracked objects and what they refer to, the linked objects, and with the hook `edges`
   all of the host that its roots or a linked p reach. Each object is asked once. An edge takes 12 bytes, and a
   node some 30. */

/* What an edge is. For the first two, rrcv_edge.name is the number of a string. */
enum {
    RRCV_FIELD,                 /* its name follows that of its owner, as in "Widget.on_click" */
    RRCV_PHRASE,                /* it has another name */
    RRCV_ELEMENT,               /* it has only a number */
    RRCV_LINK                   /* from one half of a linked pair to the other */
};

typedef struct rrcv_edge {
    uint32_t to, name;
    int      kind;
} rrcv_edge;

/* A link, by the numbers of its nodes. */
typedef struct rrcv_pair {
    uint32_t p, ob;
} rrcv_pair;

/* Strings, each of them once. */
typedef struct rrcv_strings {
    char     *text;             /* one behind the other */
    size_t   *start;            /* of each in text */
    uint32_t *slot;             /* a hash table: the number of a string + 1, or 0 */
    size_t    size, text_capacity, count, capacity, slots;
} rrcv_strings;

/* A flag of a C object, beside those of rrc_info. */
#define RRCV_IS_QUEUED (1u << 15)

/* What is known of a C object. */
typedef struct rrcv_known {
    size_t   size;
    uint32_t explained;         /* references that tracked objects own */
    uint16_t is;                /* RRC_IS_... */
} rrcv_known;

/* How a node was reached in a breadth-first search. */
typedef struct rrcv_path {
    const rrcv_edge *edge;      /* that leads from there, or that of a root of the host; else NULL */
    uint32_t by;                /* from this node, or RRCV_NO_NODE: it is a root */
    uint32_t queue;             /* (a place of the queue, which has as many as there are nodes) */
    int      how;               /* RRCV_ALIVE, RRCV_DYING; 0: it was not */
} rrcv_path;
#define RRCV_NO_NODE UINT32_MAX
enum { RRCV_ALIVE = 1, RRCV_DYING };    /* (dying: only from the queue, or from a p that no root reaches) */

typedef struct rrcv_graph {
    rrc_heap      *heap;
    rrc_insight    hooks;
    const char    *function;    /* which was called, with these: */
    rrc_writeproc  write;
    void          *arg;
    int            is_report;   /* the heap cannot be asked any more */
    size_t         done, told, total;   /* units of work, for the hook `progress`. (The total is an estimate.) */
    size_t         passes;      /* over all nodes, with that of rrcv_make_graph */
    rrcv_nodes     nodes;
    size_t         obs;         /* this many nodes, the first ones, are C objects, */
    size_t         linked_end;  /* and those from there to this one are p's with links */
    rrcv_known    *known;       /* for each of these */
    size_t         known_capacity;
    rrcv_edge     *edges;       /* those of each C object, then the roots of the host, then those of its objects */
    size_t         edge_count, edge_capacity;
    size_t        *first;       /* of each of these lists in `edges`, and their end */
    size_t         list_count, first_capacity;
    uint32_t       number;      /* of the next edge in its list */
    rrcv_pair     *pairs;       /* sorted by p */
    size_t         pair_count, pair_capacity;
    rrcv_path     *reach;
    rrcv_strings   strings;
    int            out_of_memory;
} rrcv_graph;

/* Begin a function that writes. Returns RRC_OK, or the logged code. */
static int rrcv_begin(rrcv_graph *graph, rrc_heap *heap, const rrc_insight *insight, const char *function,
                      rrc_writeproc write, void *arg)
{
    int code = rrc_inspect_begin(heap, function);
    memset(graph, 0, sizeof *graph);
    graph->heap = heap;
    if (insight != NULL)
        graph->hooks = *insight;
    graph->function = function;
    graph->write = write;
    graph->arg = arg;
    if (code != RRC_OK || write != NULL)
        return code;
    rrc_inspect_end(heap);
    return rrc_log(heap, RRC_ENULL, function, NULL, NULL, "write is NULL");
}

static void rrcv_tell_progress(rrcv_graph *graph)
{
    graph->told = graph->done;
    if (graph->hooks.progress != NULL)
        graph->hooks.progress(graph->hooks.userdata, graph->function,
                              graph->done < graph->total ? graph->done : graph->total, graph->total);
}

#define RRCV_PROGRESS_UNITS ((size_t)4096)

/* A unit of work is done. */
static void rrcv_advance(rrcv_graph *graph)
{
    graph->done++;
    if (graph->done - graph->told >= RRCV_PROGRESS_UNITS)
        rrcv_tell_progress(graph);
}

/* Resize an array. If memory is lacking, now or before, the array stays as it is. */
static void *rrcv_graph_realloc(rrcv_graph *graph, void *array, size_t old_count, size_t count, size_t size)
{
    void *memory;
    if (graph->out_of_memory)
        return array;
    memory = rrc_realloc(graph->heap, array, old_count * size, count * size);
    graph->out_of_memory = memory == NULL;
    return memory != NULL ? memory : array;
}

static void rrcv_free_array(const rrcv_graph *graph, void *array, size_t count, size_t size)
{
    (void)rrc_realloc(graph->heap, array, count * size, 0);
}

/* Make room for `more` elements. */
static void *rrcv_grow(rrcv_graph *graph, void *array, size_t count, size_t more, size_t *capacity, size_t size)
{
    size_t room = count + count / 2 + more + 63;
    void *grown;
    if (more <= *capacity - count)
        return array;
    grown = rrcv_graph_realloc(graph, array, *capacity, room, size);
    if (!graph->out_of_memory)
        *capacity = room;
    return grown;
}

/* Put `number` where its hash says. */
static void rrcv_fill_slot(uint32_t *slot, size_t slots, uint64_t hash, size_t number)
{
    size_t place = (size_t)hash & (slots - 1);
    while (slot[place] != 0)
        place = (place + 1) & (slots - 1);
    slot[place] = (uint32_t)number + 1;
}

/* Make room for one more in a hash table of `count`. Returns 1 if the table is new, and so empty. */
static int rrcv_grow_slots(rrcv_graph *graph, uint32_t **slot, size_t *slots, size_t count)
{
    size_t more = *slots > 0 ? *slots * 2 : 64;
    uint32_t *grown;
    graph->out_of_memory |= count >= UINT32_MAX - 1;    /* more than there are numbers for */
    if (graph->out_of_memory || count + 1 <= *slots / 4 * 3)
        return 0;
    grown = (uint32_t *)rrcv_graph_realloc(graph, NULL, 0, more, sizeof *grown);
    if (grown == NULL)
        return 0;
    memset(grown, 0, more * sizeof *grown);
    rrcv_free_array(graph, *slot, *slots, sizeof *grown);
    *slot = grown;
    *slots = more;
    return 1;
}

static uintptr_t rrcv_p_key(const void *p)
{
    return (uintptr_t)p + 1;
}

static rrc_object *rrcv_ob_of_node(const rrcv_graph *graph, size_t node)
{
    return (rrc_object *)graph->nodes.key[node];
}

static rrc_gcref rrcv_p_of_node(const rrcv_graph *graph, size_t node)
{
    return (rrc_gcref)(graph->nodes.key[node] - 1);
}

static rrc_info rrcv_info_of(const rrcv_graph *graph, size_t node)
{
    rrc_info info;
    memset(&info, 0, sizeof info);
    if (!graph->is_report) {
        (void)rrc_inspect(graph->heap, rrcv_ob_of_node(graph, node), &info);
    } else if (graph->nodes.key[node] != 0) {
        info.is = graph->known[node].is;
        info.references = rrc_refcnt(rrcv_ob_of_node(graph, node));
        info.size = graph->known[node].size;
    }
    return info;
}

/* Has the node of a C object one of these flags? */
static int rrcv_is(const rrcv_graph *graph, size_t node, unsigned flags)
{
    return (graph->known[node].is & flags) != 0;
}

static const char *rrcv_type_name(rrc_object *ob)
{
    const rrc_type *type = RRC_TYPE(ob);
    return type != NULL && type->tp_name != NULL ? type->tp_name : "?";
}

/* Returns the number of a node, which may be new. */
static size_t rrcv_add_node(rrcv_graph *graph, uintptr_t key)
{
    rrcv_nodes *nodes = &graph->nodes;
    size_t node = rrcv_node_of(nodes, key), i;
    if (graph->out_of_memory || node != RRCV_NONE)
        return node;
    if (rrcv_grow_slots(graph, &nodes->slot, &nodes->slots, nodes->count))
        for (i = 0; i < nodes->count; i++)
            rrcv_fill_slot(nodes->slot, nodes->slots, rrcv_hash_word(nodes->key[i]), i);
    nodes->key = (uintptr_t *)rrcv_grow(graph, nodes->key, nodes->count, 1, &nodes->capacity, sizeof *nodes->key);
    if (graph->out_of_memory)
        return RRCV_NONE;
    nodes->key[nodes->count] = key;
    rrcv_fill_slot(nodes->slot, nodes->slots, rrcv_hash_word(key), nodes->count);
    graph->total += graph->passes;
    return nodes->count++;
}

/* (For rrc_inspect_each.) */
static int rrcv_add_ob(rrc_object *ob, void *arg)
{
    (void)rrcv_add_node((rrcv_graph *)arg, (uintptr_t)ob);
    return 0;
}

/* Describe an object by the hooks. */
static rrc_description rrcv_describe(const rrcv_graph *graph, size_t node)
{
    rrc_description about;
    memset(&about, 0, sizeof about);
    snprintf(about.text, sizeof about.text, "%.100s",
             node < graph->obs ? rrcv_type_name(rrcv_ob_of_node(graph, node)) : "p");
    if (node < graph->obs && graph->hooks.describe_ob != NULL)
        graph->hooks.describe_ob(graph->hooks.userdata, rrcv_ob_of_node(graph, node), &about);
    else if (node >= graph->obs && graph->hooks.describe != NULL)
        graph->hooks.describe(graph->hooks.userdata, rrcv_p_of_node(graph, node), &about);
    about.text[sizeof about.text - 1] = '\0';
    return about;
}

/* ---- edges ---- */

static uint64_t rrcv_hash_text(const char *text, size_t size)
{
    uint64_t hash = size;
    size_t i;
    for (i = 0; i < size; i++)
        hash = rrcv_hash_word((uintptr_t)(hash ^ (unsigned char)text[i]));
    return hash;
}

/* Returns the number of a string, of which the first 250 bytes are kept. */
static uint32_t rrcv_intern(rrcv_graph *graph, const char *text)
{
    rrcv_strings *strings = &graph->strings;
    const char *end = (const char *)memchr(text, '\0', 250);
    size_t size = end != NULL ? (size_t)(end - text) : 250, i, place;
    char *fresh;
    if (rrcv_grow_slots(graph, &strings->slot, &strings->slots, strings->count))
        for (i = 0; i < strings->count; i++) {
            const char *known = strings->text + strings->start[i];
            rrcv_fill_slot(strings->slot, strings->slots, rrcv_hash_text(known, strlen(known)), i);
        }
    strings->text = (char *)rrcv_grow(graph, strings->text, strings->size, size + 1, &strings->text_capacity, 1);
    strings->start = (size_t *)rrcv_grow(graph, strings->start, strings->count, 1, &strings->capacity,
                                         sizeof *strings->start);
    if (graph->out_of_memory)
        return 0;
    fresh = strings->text + strings->size;
    memcpy(fresh, text, size);
    fresh[size] = '\0';
    for (place = (size_t)rrcv_hash_text(fresh, size) & (strings->slots - 1); strings->slot[place] != 0;
         place = (place + 1) & (strings->slots - 1))
        if (strcmp(strings->text + strings->start[strings->slot[place] - 1], fresh) == 0)
            return strings->slot[place] - 1;
    strings->start[strings->count] = strings->size;
    strings->size += size + 1;
    strings->slot[place] = (uint32_t)++strings->count;
    return (uint32_t)strings->count - 1;
}

static const char *rrcv_string(const rrcv_graph *graph, uint32_t number)
{
    return graph->strings.text + graph->strings.start[number];
}

/* The edges that are noted from now on are those of the next list. */
static void rrcv_begin_list(rrcv_graph *graph)
{
    graph->number = 0;
    graph->first = (size_t *)rrcv_grow(graph, graph->first, graph->list_count, 1, &graph->first_capacity,
                                       sizeof *graph->first);
    if (!graph->out_of_memory)
        graph->first[graph->list_count++] = graph->edge_count;
}

/* name NULL: the edge has only a number. */
static void rrcv_note_edge(rrcv_graph *graph, size_t to, int kind, const char *name, size_t number)
{
    rrcv_edge edge;
    edge.to = (uint32_t)to;
    edge.kind = name != NULL || kind == RRCV_LINK ? kind : RRCV_ELEMENT;
    edge.name = name == NULL ? (uint32_t)number : rrcv_intern(graph, name);
    graph->edges = (rrcv_edge *)rrcv_grow(graph, graph->edges, graph->edge_count, 1, &graph->edge_capacity,
                                          sizeof edge);
    if (!graph->out_of_memory)
        graph->edges[graph->edge_count++] = edge;
}

static void rrcv_visit_field(void *arg, rrc_object *to, const char *name)
{
    rrcv_graph *graph = (rrcv_graph *)arg;
    rrcv_note_edge(graph, rrcv_add_node(graph, (uintptr_t)to), RRCV_FIELD, name, graph->number++);
}

/* (An odd address is not that of an object.) */
static void rrcv_visit_p(void *arg, rrc_gcref p, const char *name, size_t number)
{
    rrcv_graph *graph = (rrcv_graph *)arg;
    int is_field = name != NULL && name[0] == '.';
    if (p != NULL && ((uintptr_t)p & 1) == 0)
        rrcv_note_edge(graph, rrcv_add_node(graph, rrcv_p_key(p)), is_field ? RRCV_FIELD : RRCV_PHRASE,
                       is_field ? name + 1 : name, number);
}

/* The edges of an object of the host, or of its roots (p NULL), are a list. */
static void rrcv_add_host_edges(rrcv_graph *graph, rrc_gcref p)
{
    rrcv_begin_list(graph);
    if (graph->hooks.edges != NULL)
        graph->hooks.edges(graph->hooks.userdata, p, rrcv_visit_p, graph);
}

/* The edges of a node. RRCV_NONE: the roots of the host. */
static const rrcv_edge *rrcv_edges_of(const rrcv_graph *graph, size_t node, size_t *count)
{
    const size_t *first = graph->first + (node == RRCV_NONE ? graph->obs : node + (node >= graph->obs));
    *count = first[1] - first[0];
    return *count > 0 ? graph->edges + first[0] : NULL;
}

static int rrcv_note_queued(rrc_object *ob, void *arg)
{
    rrcv_graph *graph = (rrcv_graph *)arg;
    size_t node = rrcv_node_of(&graph->nodes, (uintptr_t)ob);
    if (node != RRCV_NONE)
        graph->known[node].is |= (uint16_t)RRCV_IS_QUEUED;
    return 0;
}

/* Add the C objects. Their edges to objects of the host lead nowhere so far. */
static void rrcv_add_obs(rrcv_graph *graph, rrc_object *extra)
{
    rrc_info info;
    size_t i;
    rrc_inspect_each(graph->heap, RRC_EACH_TRACKED, rrcv_add_ob, graph);
    rrc_inspect_each(graph->heap, RRC_EACH_LINKED, rrcv_add_ob, graph);
    if (extra != NULL)
        rrcv_add_ob(extra, graph);
    for (i = 0; i < graph->nodes.count; i++) {
        rrc_object *ob = rrcv_ob_of_node(graph, i);
        rrcv_begin_list(graph);
        graph->known = (rrcv_known *)rrcv_grow(graph, graph->known, i, 1, &graph->known_capacity,
                                               sizeof *graph->known);
        if (graph->out_of_memory)
            return;
        rrc_inspect(graph->heap, ob, &info);
        graph->known[i].size = info.size;
        graph->known[i].explained = 0;
        graph->known[i].is = (uint16_t)info.is;
        rrc_inspect_references(graph->heap, ob, rrcv_visit_field, graph);
        if ((info.is & RRC_HOLDS_P) != 0)
            rrcv_note_edge(graph, RRCV_NO_NODE, RRCV_LINK, NULL, 0);
        rrcv_advance(graph);
    }
    graph->obs = graph->nodes.count;
    for (i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].kind != RRCV_LINK)
            graph->known[graph->edges[i].to].explained++;
    rrc_inspect_each(graph->heap, RRC_EACH_QUEUED, rrcv_note_queued, graph);
}

static int rrcv_compare_pairs(const void *a, const void *b)
{
    const rrcv_pair *pair = (const rrcv_pair *)a, *other = (const rrcv_pair *)b;
    uint64_t x = (uint64_t)pair->p << 32 | pair->ob, y = (uint64_t)other->p << 32 | other->ob;
    return (x > y) - (x < y);
}

/* Add the p's of links. */
static void rrcv_add_linked(rrcv_graph *graph)
{
    size_t i;
    for (i = 0; i < graph->obs; i++) {
        rrcv_pair pair;
        if (!rrcv_is(graph, i, RRCV_IS_LINKED))
            continue;
        pair.p = (uint32_t)rrcv_add_node(graph, rrcv_p_key(RRC_LINK(rrcv_ob_of_node(graph, i))));
        pair.ob = (uint32_t)i;
        graph->pairs = (rrcv_pair *)rrcv_grow(graph, graph->pairs, graph->pair_count, 1, &graph->pair_capacity,
                                              sizeof *graph->pairs);
        if (graph->out_of_memory)
            return;
        graph->pairs[graph->pair_count++] = pair;
        if (rrcv_is(graph, i, RRC_HOLDS_P))
            graph->edges[(i + 1 < graph->obs ? graph->first[i + 1] : graph->edge_count) - 1].to = pair.p;
    }
    if (graph->pair_count > 0)
        qsort(graph->pairs, graph->pair_count, sizeof *graph->pairs, rrcv_compare_pairs);
}

/* Add the objects of the host. */
static void rrcv_add_ps(rrcv_graph *graph)
{
    size_t i, k = 0;
    rrcv_add_linked(graph);
    graph->linked_end = graph->nodes.count;
    rrcv_add_host_edges(graph, NULL);
    for (i = graph->obs; i < graph->nodes.count && !graph->out_of_memory; i++) {
        rrcv_add_host_edges(graph, rrcv_p_of_node(graph, i));
        for (; k < graph->pair_count && graph->pairs[k].p == i; k++)
            rrcv_note_edge(graph, graph->pairs[k].ob, RRCV_LINK, NULL, 0);
        rrcv_advance(graph);
    }
    rrcv_begin_list(graph);             /* (the end of the last one) */
}

/* For a function that passes over all nodes so many times. `extra` need be neither tracked nor linked. */
static void rrcv_make_graph(rrcv_graph *graph, rrc_object *extra, size_t passes)
{
    graph->passes = 1 + passes;
    rrcv_add_obs(graph, extra);
    if (!graph->out_of_memory)
        rrcv_add_ps(graph);
}

static void rrcv_free_graph(rrcv_graph *graph)
{
    rrcv_strings *strings = &graph->strings;
    rrcv_free_array(graph, graph->known, graph->known_capacity, sizeof *graph->known);
    rrcv_free_array(graph, graph->first, graph->first_capacity, sizeof *graph->first);
    rrcv_free_array(graph, graph->pairs, graph->pair_capacity, sizeof *graph->pairs);
    rrcv_free_array(graph, graph->reach, graph->nodes.count, sizeof *graph->reach);
    rrcv_free_array(graph, graph->edges, graph->edge_capacity, sizeof *graph->edges);
    rrcv_free_array(graph, strings->text, strings->text_capacity, 1);
    rrcv_free_array(graph, strings->start, strings->capacity, sizeof *strings->start);
    rrcv_free_array(graph, strings->slot, strings->slots, sizeof *strings->slot);
    rrcv_free_nodes(graph->heap, &graph->nodes);
}

/* End a function that has begun, and may have failed. Returns its result. keeps: the graph, if it has succeeded. */
static int rrcv_end(rrcv_graph *graph, int code, int keeps)
{
    code = graph->out_of_memory ? RRC_ENOMEM : code;
    if (code == RRC_OK) {
        graph->done = graph->total;
        rrcv_tell_progress(graph);
    }
    if (code != RRC_OK || !keeps)
        rrcv_free_graph(graph);
    rrc_inspect_end(graph->heap);
    return code;
}

/* The number of references to a C object that tracked objects do not explain. */
static intptr_t rrcv_from_outside(const rrcv_graph *graph, size_t node)
{
    rrc_info info = rrcv_info_of(graph, node);
    return (info.is & RRC_IS_STATIC) != 0 ? 1 : info.references + info.outside - (intptr_t)graph->known[node].explained;
}

/* Does only the queue hold the object? (Foreign references do not save a wrapper that waits there.) */
static int rrcv_is_dying(const rrcv_graph *graph, size_t node)
{
    return rrcv_is(graph, node, RRCV_IS_QUEUED)
        && (rrcv_is(graph, node, RRC_IS_WRAPPER) ? rrcv_info_of(graph, node).references
                                                 : rrcv_from_outside(graph, node)) == 1;
}

/* ---- paths ---- */

/* Reach a node, and put it in the queue. Returns the new end of the queue. */
static size_t rrcv_reach_node(rrcv_graph *graph, size_t tail, size_t node, size_t by, const rrcv_edge *edge, int how)
{
    rrcv_path *reach = &graph->reach[node];
    if (reach->how != 0 || graph->nodes.key[node] == 0)
        return tail;
    reach->how = how;
    reach->by = (uint32_t)by;
    reach->edge = edge;
    graph->reach[tail].queue = (uint32_t)node;
    return tail + 1;
}

/* Do paths follow a link to this node? Without the hook `edges` the objects of the host take no part. */
static int rrcv_is_followed(const rrcv_graph *graph, size_t to)
{
    return graph->hooks.edges != NULL && (to >= graph->obs || rrcv_is(graph, to, RRC_IS_HELD_BY_P));
}

/* Find all that can be reached from the nodes in the queue, by shortest paths: breadth first. */
static void rrcv_spread(rrcv_graph *graph, size_t tail, int how)
{
    size_t head, i, count;
    for (head = 0; head < tail; head++) {
        size_t from = graph->reach[head].queue;
        const rrcv_edge *edge = rrcv_edges_of(graph, from, &count);
        for (i = 0; i < count; i++)
            if (edge[i].kind != RRCV_LINK || rrcv_is_followed(graph, edge[i].to))
                tail = rrcv_reach_node(graph, tail, edge[i].to, from, &edge[i], how);
        rrcv_advance(graph);
    }
}

/* Start at the roots of both heaps; in a second wave at what only a p keeps; and in a third at what is dying. Returns 0
   if memory is lacking. */
static int rrcv_find_paths(rrcv_graph *graph, int waves)
{
    int with_host = graph->hooks.edges != NULL, wave;
    size_t count = graph->nodes.count, roots, i;
    const rrcv_edge *root;
    if (graph->reach == NULL && count > 0)
        graph->reach = (rrcv_path *)rrcv_graph_realloc(graph, NULL, 0, count, sizeof *graph->reach);
    if (graph->out_of_memory)
        return 0;
    root = rrcv_edges_of(graph, RRCV_NONE, &roots);
    for (i = 0; i < count; i++)
        graph->reach[i].how = 0;
    for (wave = 0; wave < waves; wave++) {
        int how = wave == 2 || (wave == 1 && with_host) ? RRCV_DYING : RRCV_ALIVE;
        size_t tail = 0;
        for (i = 0; i < graph->obs; i++)
            if (wave == 0 ? rrcv_from_outside(graph, i) > 0 && !rrcv_is_dying(graph, i)
                : wave == 1 ? !with_host && rrcv_is(graph, i, RRC_IS_HELD_BY_P)
                : rrcv_is_dying(graph, i))
                tail = rrcv_reach_node(graph, tail, i, RRCV_NO_NODE, NULL, how);
        if (wave == 0) {
            for (i = 0; i < roots; i++)
                tail = rrcv_reach_node(graph, tail, root[i].to, RRCV_NO_NODE, &root[i], how);
        } else if (wave == 1 && with_host) {
            for (i = graph->obs; i < graph->linked_end; i++)
                tail = rrcv_reach_node(graph, tail, i, RRCV_NO_NODE, NULL, how);
        }
        rrcv_spread(graph, tail, how);
    }
    return 1;
}

/* ---- text ---- */

static void rrcv_write(const rrcv_graph *graph, const char *format, ...)
{
    char text[500];                     /* the formats limit strings, so that all fits */
    va_list arguments;
    int size;
    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    graph->write(graph->arg, text, (size_t)size);
}

/* The references to an object: C's, and those to its foreign object. (On Windows a long is shorter than a count.) */
static void rrcv_write_references(const rrcv_graph *graph, rrc_info info)
{
    rrcv_write(graph, "%lld reference%s", (long long)info.references, info.references == 1 ? "" : "s");
    if ((info.is & RRC_IS_WRAPPER) != 0)
        rrcv_write(graph, " and %lld foreign reference%s", (long long)info.outside, info.outside == 1 ? "" : "s");
}

/* Write an edge of a path. The two halves of a linked pair are like one object: their link is only
   named where the path goes through it from another link. Returns the number of lines. */
static int rrcv_write_step(const rrcv_graph *graph, size_t from, size_t to)
{
    const rrcv_edge *edge = graph->reach[to].edge;
    const void *address = from < graph->obs ? (void *)rrcv_ob_of_node(graph, from) : rrcv_p_of_node(graph, from);
    rrc_description about = rrcv_describe(graph, from);
    const char *kind = from < graph->obs ? rrcv_type_name(rrcv_ob_of_node(graph, from)) : about.text;
    int word = from < graph->obs ? 100 : (int)strcspn(about.text, " ");
    if (edge->kind == RRCV_LINK) {
        uint32_t by = graph->reach[from].by;
        if (from < graph->obs || by == RRCV_NO_NODE || by >= graph->obs)
            return 0;
        about = rrcv_describe(graph, by);
        rrcv_write(graph, "  held by p %p, the host object of %s %p,\n", address, about.text,
                   (void *)rrcv_ob_of_node(graph, by));
        return 1;
    }
    if (edge->kind == RRCV_PHRASE)
        rrcv_write(graph, "  held by %.100s", rrcv_string(graph, edge->name));
    else if (edge->kind == RRCV_FIELD)
        rrcv_write(graph, "  held by %.*s.%.100s", word, kind, rrcv_string(graph, edge->name));
    else
        rrcv_write(graph, "  held by %.*s[%lu]", word, kind, (unsigned long)edge->name);
    rrcv_write(graph, " of %s %p,\n", about.text, address);
    return 1;
}

/* Write what keeps the first node of a path. `it`: this is the explained object itself. */
static void rrcv_write_root(const rrcv_graph *graph, size_t root, int it)
{
    const char *which = it ? "" : "which ", *its = it ? " it" : "";
    const rrcv_edge *edge = graph->reach[root].edge;
    rrc_gcref p = root < graph->obs ? RRC_LINK(rrcv_ob_of_node(graph, root)) : rrcv_p_of_node(graph, root);
    intptr_t outside = root < graph->obs ? rrcv_from_outside(graph, root) : 0;
    if (edge != NULL && edge->kind == RRCV_ELEMENT)
        rrcv_write(graph, "  %sroot %lu of the host keeps%s alive\n", which, (unsigned long)edge->name, its);
    else if (edge != NULL)
        rrcv_write(graph, "  %s%.100s keeps%s alive\n", which, rrcv_string(graph, edge->name), its);
    else if (root >= graph->obs)
        rrcv_write(graph, "  %sits host object p %p keeps%s alive until the next collection: no root reaches it\n",
                   which, p, its);
    else if (rrcv_is_dying(graph, root))
        rrcv_write(graph, "  %s in the queue for rrc_run_pending\n", it ? "it waits" : "which waits");
    else if (outside > 0)
        rrcv_write(graph, "  %s%lld reference%s from outside keep%s%s alive\n", which, (long long)outside,
                   outside == 1 ? "" : "s", outside == 1 ? "s" : "", its);
    else
        rrcv_write(graph, "  %sits host object p %p keeps%s alive for as long as that lives\n", which, p, its);
}

/* With at most so many steps of the path. */
static void rrcv_write_explanation(const rrcv_graph *graph, size_t first, size_t most)
{
    rrc_object *ob = rrcv_ob_of_node(graph, first);
    rrc_info info = rrcv_info_of(graph, first);
    size_t node, lines = 0, left_out = 0;
    rrcv_write(graph, "%s %p", rrcv_describe(graph, first).text, (void *)ob);
    if ((info.is & RRC_IS_STATIC) != 0) {
        rrcv_write(graph, ": static, never freed\n");
        return;
    }
    rrcv_write(graph, " (");
    rrcv_write_references(graph, info);
    if ((info.is & RRCV_IS_LINKED) != 0)
        rrcv_write(graph, ", %s link to p %p", (info.is & RRC_IS_P_LINKED) != 0 ? "P" : "O", info.p);
    rrcv_write(graph, "%s%s", (info.is & RRC_IS_TRACKED) != 0 ? "" : ", not tracked",
               (info.is & RRC_IS_WEAK) != 0 ? ", weak" : "");
    if (RRC_TYPE(ob) != NULL && RRC_TYPE(ob)->tp_size != NULL)
        rrcv_write(graph, ", %llu bytes", (unsigned long long)info.size);
    rrcv_write(graph, "):\n");
    if (graph->reach[first].how == 0) {
        rrcv_write(graph, (info.is & RRC_IS_WAITING) != 0 ? "  garbage, waits for rrc_run_pending\n"
                         : (info.is & RRC_IS_UNCOLLECTABLE) != 0 ? "  garbage that could not be cleared\n"
                         : "  garbage, will go at the next collection\n");
        return;
    }
    for (node = first; graph->reach[node].by != RRCV_NO_NODE; node = graph->reach[node].by)
        if (lines < most)
            lines += (size_t)rrcv_write_step(graph, graph->reach[node].by, node);
        else
            left_out++;
    if (left_out > 0)
        rrcv_write(graph, "  ... (%llu more)\n", (unsigned long long)left_out);
    rrcv_write_root(graph, node, lines == 0);
}

RRC_API int rrc_explain(rrc_heap *heap, const rrc_insight *insight, rrc_object *ob, rrc_writeproc write, void *arg)
{
    rrcv_graph graph;
    rrc_info info;
    int code = rrcv_begin(&graph, heap, insight, "rrc_explain", write, arg);
    if (code != RRC_OK)
        return code;
    code = rrc_inspect(heap, ob, &info);
    if (code == RRC_OK) {
        rrcv_make_graph(&graph, ob, 1);
        if (rrcv_find_paths(&graph, 3))
            rrcv_write_explanation(&graph, rrcv_node_of(&graph.nodes, (uintptr_t)ob), SIZE_MAX);
    }
    return rrcv_end(&graph, code, 0);
}

/* ---- what is remembered ---- */

/* What a heap remembers of a call, in an observer that forgets the objects that go. */
typedef struct rrcv_memory {
    rrc_observer observer;
    rrcv_graph   graph;         /* of a snapshot, only the nodes */
    uint32_t     last_id;
} rrcv_memory;

/* Returns NULL if memory is lacking, now or before. */
static rrcv_memory *rrcv_new_memory(rrcv_graph *graph, rrc_goneproc gone)
{
    rrcv_memory *memory = (rrcv_memory *)rrcv_graph_realloc(graph, NULL, 0, 1, sizeof *memory);
    if (memory != NULL) {
        memset(memory, 0, sizeof *memory);
        memory->observer.gone = gone;
        memory->graph.heap = graph->heap;
    }
    return memory;
}

static void rrcv_forget(rrc_observer *self, rrc_heap *heap, rrc_object *ob)
{
    rrcv_memory *memory = (rrcv_memory *)(void *)self;
    size_t node = rrcv_node_of(&memory->graph.nodes, (uintptr_t)ob);
    if (ob == NULL) {                   /* the heap ends */
        rrcv_free_graph(&memory->graph);
        (void)rrc_realloc(heap, memory, sizeof *memory, 0);
    } else if (node != RRCV_NONE) {
        memory->graph.nodes.key[node] = 0;
    }
}

/* ---- leaks ----
   Only at the end of a heap is it known what C holds: an untracked object may own others. But then the heap cannot be
   asked about references any more. So a picture is made when the end is near, and what goes is taken out of it. */

enum { RRCV_REPORTED = RRCV_DYING + 1 };        /* rrcv_path.how of what a report has counted */

/* Is there something to report of a node, and is it of the type of ob (NULL: of any)? */
static int rrcv_is_leak(const rrcv_graph *graph, size_t node, rrc_object *ob)
{
    return graph->reach[node].how == RRCV_ALIVE && !rrcv_is(graph, node, RRC_IS_STATIC)
        && (ob == NULL || RRC_TYPE(rrcv_ob_of_node(graph, node)) == RRC_TYPE(ob));
}

/* Write about the objects of one type. The first one is at this place of the queue, which has this end. */
static void rrcv_write_type(rrcv_graph *graph, size_t place, size_t end)
{
    rrc_object *ob = rrcv_ob_of_node(graph, graph->reach[place].queue);
    size_t count = 0, bytes = 0, shown = 0, i;
    for (i = place; i < end; i++)
        if (rrcv_is_leak(graph, graph->reach[i].queue, ob)) {
            count++;
            bytes += rrcv_info_of(graph, graph->reach[i].queue).size;
        }
    rrcv_write(graph, "C still holds %llu object%s of %.100s, %llu bytes:\n", (unsigned long long)count,
               count == 1 ? "" : "s", rrcv_type_name(ob), (unsigned long long)bytes);
    for (i = place; i < end; i++)
        if (rrcv_is_leak(graph, graph->reach[i].queue, ob)) {
            graph->reach[graph->reach[i].queue].how = RRCV_REPORTED;
            if (shown++ < 3)
                rrcv_write_explanation(graph, graph->reach[i].queue, 8);
        }
    if (count > 3)
        rrcv_write(graph, "... and %llu more\n", (unsigned long long)(count - 3));
}

/* Those nearest to what holds them come first. */
static void rrcv_write_leaks(rrcv_graph *graph)
{
    size_t end = 0, count, i, k;
    for (i = 0; i < graph->obs; i++) {
        graph->known[i].explained = 0;
        graph->known[i].is &= (uint16_t)((unsigned)RRC_IS_STATIC | (unsigned)RRC_IS_TRACKED);
    }
    for (i = 0; i < graph->obs; i++) {
        const rrcv_edge *edge = rrcv_edges_of(graph, i, &count);
        for (k = 0; k < count && graph->nodes.key[i] != 0; k++)
            if (edge[k].kind != RRCV_LINK)
                graph->known[edge[k].to].explained++;
    }
    (void)rrcv_find_paths(graph, 1);
    for (i = 0; i < graph->obs; i++)
        end += graph->reach[i].how == RRCV_ALIVE;
    for (i = 0; i < end; i++)
        if (rrcv_is_leak(graph, graph->reach[i].queue, NULL))
            rrcv_write_type(graph, i, end);
}

static void rrcv_leave(rrc_observer *self, rrc_heap *heap, rrc_object *ob)
{
    if (ob == NULL)                     /* the heap ends */
        rrcv_write_leaks(&((rrcv_memory *)(void *)self)->graph);
    rrcv_forget(self, heap, ob);
}

RRC_API int rrc_report_leaks(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg)
{
    rrcv_memory *report;
    rrc_observer *earlier;
    rrcv_graph graph;
    int code = rrcv_begin(&graph, heap, insight, "rrc_report_leaks", write, arg);
    if (code != RRC_OK)
        return code;
    graph.hooks.edges = NULL;           /* the host takes no part */
    rrcv_make_graph(&graph, NULL, 0);
    if (graph.nodes.count > 0)
        graph.reach = (rrcv_path *)rrcv_graph_realloc(&graph, NULL, 0, graph.nodes.count, sizeof *graph.reach);
    report = rrcv_new_memory(&graph, rrcv_leave);
    code = rrcv_end(&graph, RRC_OK, 1);
    if (code != RRC_OK)
        return code;
    earlier = rrc_find_observer(heap, rrcv_leave);
    if (earlier != NULL) {
        rrc_observe(heap, earlier, 0);
        rrcv_forget(earlier, heap, NULL);
    }
    report->graph = graph;
    report->graph.is_report = 1;
    memset(&report->graph.hooks, 0, sizeof report->graph.hooks);
    return rrc_observe(heap, &report->observer, 1);
}

/* ---- pictures ---- */

/* Write text into a quoted string of the dot language. */
static void rrcv_write_quoted(const rrcv_graph *graph, const char *text)
{
    for (; *text != '\0'; text++)
        rrcv_write(graph, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void rrcv_write_p(const rrcv_graph *graph, size_t node)
{
    int is_gray = graph->hooks.edges != NULL && graph->reach[node].how != RRCV_ALIVE;
    rrcv_write(graph, "  \"p%p\" [shape=ellipse, style=filled, fillcolor=\"%s\", label=\"",
               rrcv_p_of_node(graph, node), is_gray ? "#cccccc" : "#d9e8ff");
    rrcv_write_quoted(graph, rrcv_describe(graph, node).text);
    rrcv_write(graph, "\\n%p\"];\n", rrcv_p_of_node(graph, node));
}

static void rrcv_write_node(const rrcv_graph *graph, size_t index)
{
    rrc_info info = rrcv_info_of(graph, index);
    intptr_t outside = rrcv_from_outside(graph, index);
    int is_static = (info.is & RRC_IS_STATIC) != 0, is_dying = rrcv_is_dying(graph, index);
    int waits = (info.is & RRC_IS_WAITING) != 0, how = graph->reach[index].how;
    const char *fill = how != RRCV_ALIVE || waits ? "#cccccc"       /* garbage */
                     : outside > 0 ? "#ffd9b3"                      /* a root */
                     : "#ffffff";
    rrcv_write(graph, "  c%lu [shape=box, style=\"filled%s\", fillcolor=\"%s\", label=\"", (unsigned long)index,
               (info.is & RRC_IS_TRACKED) != 0 ? "" : ",rounded", fill);
    rrcv_write_quoted(graph, rrcv_describe(graph, index).text);
    rrcv_write(graph, "\\n%p\\n", (void *)rrcv_ob_of_node(graph, index));
    if (is_static)
        rrcv_write(graph, "static");
    else
        rrcv_write_references(graph, info);
    rrcv_write(graph, "%s%s%s\"];\n", (info.is & RRC_IS_WEAK) != 0 ? "\\nweak" : "",
               (info.is & RRC_IS_LIGHT) != 0 ? "\\nlight" : "",
               is_dying ? "\\nin the queue" : waits ? "\\ngarbage, waits" : how == 0 ? "\\ngarbage" : "");
    if (outside > 0 && !is_static && !is_dying)
        rrcv_write(graph, "  o%lu [shape=plaintext, label=\"%lld outside\"];\n  o%lu -> c%lu [color=\"#cc5500\"];\n",
                   (unsigned long)index, (long long)outside, (unsigned long)index, (unsigned long)index);
    if ((info.is & RRCV_IS_LINKED) != 0) {
        rrcv_write_p(graph, rrcv_node_of(&graph->nodes, rrcv_p_key(info.p)));
        rrcv_write(graph, "  \"p%p\" -> c%lu [style=bold, color=\"#3366cc\", label=\"%s\"%s];\n", info.p,
                   (unsigned long)index, (info.is & RRC_IS_O_LINKED) != 0 ? "O" : "P",
                   (info.is & RRC_IS_O_LINKED) != 0 ? "" : ", dir=both");
    }
}

/* Write an edge from a node, or from the roots of the host. Links are drawn with their C objects. */
static void rrcv_write_edge(const rrcv_graph *graph, size_t from, const rrcv_edge *edge)
{
    if (edge->kind == RRCV_LINK)
        return;
    if (from == RRCV_NONE)
        rrcv_write(graph, "  roots -> \"p%p\" [color=\"#cc5500\", label=\"", rrcv_p_of_node(graph, edge->to));
    else if (from < graph->obs)
        rrcv_write(graph, "  c%lu -> c%lu [label=\"", (unsigned long)from, (unsigned long)edge->to);
    else
        rrcv_write(graph, "  \"p%p\" -> \"p%p\" [label=\"", rrcv_p_of_node(graph, from),
                   rrcv_p_of_node(graph, edge->to));
    if (edge->kind == RRCV_ELEMENT) {
        rrcv_write(graph, "[%lu]", (unsigned long)edge->name);
    } else {
        if (edge->kind == RRCV_FIELD)
            rrcv_write(graph, ".");
        rrcv_write_quoted(graph, rrcv_string(graph, edge->name));
    }
    rrcv_write(graph, "\"];\n");
}

RRC_API int rrc_dump_dot(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg)
{
    rrcv_graph graph;
    size_t from, count, i;
    int code = rrcv_begin(&graph, heap, insight, "rrc_dump_dot", write, arg);
    if (code != RRC_OK)
        return code;
    rrcv_make_graph(&graph, NULL, 2);
    if (rrcv_find_paths(&graph, 3)) {
        rrcv_write(&graph, "digraph rawrefcount {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n"
                           "  edge [fontname=\"sans-serif\", fontsize=9];\n");
        for (i = 0; i < graph.obs; i++)
            rrcv_write_node(&graph, i);
        for (i = graph.linked_end; i < graph.nodes.count; i++)      /* (those with links have been written) */
            rrcv_write_p(&graph, i);
        if (graph.hooks.edges != NULL)
            rrcv_write(&graph, "  roots [shape=plaintext, label=\"roots of the host\"];\n");
        for (from = RRCV_NONE; from + 1 <= graph.nodes.count; from++) {     /* (RRCV_NONE + 1 is 0) */
            const rrcv_edge *edge = rrcv_edges_of(&graph, from, &count);
            for (i = 0; i < count; i++)
                rrcv_write_edge(&graph, from, &edge[i]);
            rrcv_advance(&graph);
        }
        rrcv_write(&graph, "}\n");
    }
    return rrcv_end(&graph, RRC_OK, 0);
}

/* ---- heap snapshots ----
   A snapshot is written in passes over the nodes, so that no text is kept but the names. */

/* What a heap remembers of its last snapshot. Returns NULL if memory is lacking. */
static rrcv_memory *rrcv_seen_in(rrcv_graph *graph)
{
    rrcv_memory *seen = (rrcv_memory *)(void *)rrc_find_observer(graph->heap, rrcv_forget);
    if (seen == NULL) {
        seen = rrcv_new_memory(graph, rrcv_forget);
        if (seen != NULL)
            rrc_observe(graph->heap, &seen->observer, 1);
    }
    return seen;
}

/* The first nodes of a snapshot stand for no object. */
enum { RRCV_TOP, RRCV_BY_C, RRCV_BY_HOST, RRCV_BY_PENDING, RRCV_BEFORE_OBJECTS };

/* Types of nodes and edges, by their places in the lists of rrcv_snapshot_meta. */
enum { RRCV_V8_STRING = 2, RRCV_V8_OBJECT = 3, RRCV_V8_CLOSURE = 5, RRCV_V8_NATIVE = 8, RRCV_V8_SYNTHETIC = 9 };
enum { RRCV_V8_ELEMENT = 1, RRCV_V8_PROPERTY = 2, RRCV_V8_INTERNAL = 3, RRCV_V8_WEAK = 6 };
#define RRCV_V8_NODE_FIELDS 7

static const char rrcv_snapshot_meta[] =
    "{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\","
    "\"trace_node_id\",\"detachedness\"],\n"
    "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\","
    "\"native\",\"synthetic\",\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object shape\"],"
    "\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],\n"
    "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\n"
    "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],"
    "\"string_or_number\",\"node\"],\n"
    "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\",\"line\",\"column\"],\n"
    "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],\n"
    "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],\n"
    "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]},\n";

typedef struct rrcv_snapshot {
    rrcv_graph   graph;
    rrcv_memory *seen;          /* in the last snapshot: its nodes */
    size_t       written;       /* so far: records of nodes, or of edges */
    size_t       remembered;    /* the first nodes, up to the last one without an id of the host */
} rrcv_snapshot;

/* The number of bytes of the first character of a text in UTF-8, or 0: it is none. */
static size_t rrcv_utf8_size(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0, i;
    for (i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)
        || (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;                       /* too long a form, a surrogate, or too large */
    return n;
}

/* Write a string of JSON. A byte that is not UTF-8 becomes U+FFFD. */
static void rrcv_write_json(const rrcv_graph *graph, const char *text)
{
    char out[256];
    size_t size = 0, n;
    out[size++] = '"';
    for (; *text != '\0'; text += n > 0 ? n : 1) {
        unsigned char c = (unsigned char)*text;
        n = rrcv_utf8_size((const unsigned char *)text);
        if (size > sizeof out - 10) {
            out[size] = '\0';
            graph->write(graph->arg, out, size);
            size = 0;
        }
        if (n == 0 || c < 0x20) {
            size += (size_t)snprintf(out + size, sizeof out - size, "\\u%04x", n == 0 ? 0xFFFDu : (unsigned)c);
        } else {
            if (c == '"' || c == '\\')
                out[size++] = '\\';
            memcpy(out + size, text, n);
            size += n;
        }
    }
    out[size++] = '"';
    out[size] = '\0';
    graph->write(graph->arg, out, size);
}

/* Which of the first nodes refers to a C object? RRCV_TOP: none. */
static int rrcv_snapshot_parent(const rrcv_graph *graph, size_t node)
{
    if (rrcv_is(graph, node, RRC_IS_WAITING) || rrcv_is_dying(graph, node))
        return RRCV_BY_PENDING;
    return rrcv_from_outside(graph, node) > 0 ? RRCV_BY_C : RRCV_TOP;
}

/* The id of a node: a number that only this object has, times 4, and the kind of the number. */
static uint32_t rrcv_snapshot_id(rrcv_snapshot *snapshot, size_t node, uint32_t host_id)
{
    rrcv_graph *graph = &snapshot->graph;
    const rrcv_nodes *seen = &snapshot->seen->graph.nodes;
    size_t known = rrcv_node_of(seen, graph->nodes.key[node]);
    uint32_t id;
    if (host_id != 0) {
        graph->nodes.id[node] = 0;
        return host_id * 4 + 1;
    }
    id = known != RRCV_NONE && seen->id[known] != 0 ? seen->id[known] : ++snapshot->seen->last_id;
    graph->nodes.id[node] = id;
    snapshot->remembered = node + 1;
    return id * 4 + (node < graph->obs ? 2 : 3);
}

static void rrcv_snapshot_node(rrcv_snapshot *snapshot, int type, const char *name, uint32_t id, size_t size,
                               size_t edges)
{
    uint32_t string = rrcv_intern(&snapshot->graph, name);
    rrcv_write(&snapshot->graph, "%s%d,%lu,%lu,%lu,%lu,0,0\n", snapshot->written++ > 0 ? "," : "", type,
               (unsigned long)string, (unsigned long)id, (unsigned long)size, (unsigned long)edges);
}

static void rrcv_snapshot_object(rrcv_snapshot *snapshot, size_t node)
{
    rrcv_graph *graph = &snapshot->graph;
    size_t edges;
    (void)rrcv_edges_of(graph, node, &edges);
    if (node < graph->obs) {
        rrcv_snapshot_node(snapshot, RRCV_V8_NATIVE, rrcv_type_name(rrcv_ob_of_node(graph, node)),
                           rrcv_snapshot_id(snapshot, node, 0), rrcv_info_of(graph, node).size, edges);
    } else {
        rrc_description about = rrcv_describe(graph, node);
        size_t word = strcspn(about.text, " ");
        rrcv_snapshot_node(snapshot, word == 6 && strncmp(about.text, "string", 6) == 0 ? RRCV_V8_STRING
                                   : word == 8 && strncmp(about.text, "function", 8) == 0 ? RRCV_V8_CLOSURE
                                   : RRCV_V8_OBJECT,
                           about.text, rrcv_snapshot_id(snapshot, node, about.id), about.size, edges);
    }
}

/* name: the number of a string; of an element, its number. */
static void rrcv_snapshot_edge(rrcv_snapshot *snapshot, int type, uint32_t name, size_t to)
{
    rrcv_write(&snapshot->graph, "%s%d,%lu,%lu\n", snapshot->written++ > 0 ? "," : "", type, (unsigned long)name,
               (unsigned long)to * RRCV_V8_NODE_FIELDS);
}

/* Write the edges of one of the first nodes to C objects. */
static void rrcv_snapshot_parents(rrcv_snapshot *snapshot, int parent)
{
    rrcv_graph *graph = &snapshot->graph;
    char name[40];
    size_t i;
    for (i = 0; i < graph->obs && !graph->out_of_memory; i++) {
        intptr_t count = rrcv_from_outside(graph, i);
        if (rrcv_snapshot_parent(graph, i) != parent)
            continue;
        if (parent == RRCV_BY_PENDING)
            snprintf(name, sizeof name, "waits");
        else if (rrcv_is(graph, i, RRC_IS_STATIC))
            snprintf(name, sizeof name, "static");
        else
            snprintf(name, sizeof name, "%lld reference%s", (long long)count, count == 1 ? "" : "s");
        rrcv_snapshot_edge(snapshot, RRCV_V8_PROPERTY, rrcv_intern(graph, name), RRCV_BEFORE_OBJECTS + i);
    }
}

/* Write the edges of an object, or the roots of the host (RRCV_NONE). */
static void rrcv_snapshot_edges(rrcv_snapshot *snapshot, size_t node)
{
    rrcv_graph *graph = &snapshot->graph;
    size_t count, i;
    const rrcv_edge *edges = rrcv_edges_of(graph, node, &count);
    for (i = 0; i < count && !graph->out_of_memory; i++) {
        rrcv_edge edge = edges[i];
        if (edge.kind == RRCV_LINK)
            edge.name = rrcv_intern(graph, edge.to < graph->obs ? "C object" : "host object");
        rrcv_snapshot_edge(snapshot, edge.kind == RRCV_ELEMENT ? RRCV_V8_ELEMENT
                                   : edge.kind != RRCV_LINK ? RRCV_V8_PROPERTY
                                   : edge.to >= graph->obs || rrcv_is(graph, edge.to, RRC_IS_HELD_BY_P)
                                   ? RRCV_V8_INTERNAL : RRCV_V8_WEAK,
                           edge.name, RRCV_BEFORE_OBJECTS + edge.to);
    }
}

/* Write all. The caller looks at out_of_memory. */
static void rrcv_snapshot_write(rrcv_snapshot *snapshot)
{
    static const char *const names[] = { "", "(references from C)", "(roots of the host)", "(pending work)" };
    rrcv_graph *graph = &snapshot->graph;
    size_t edges[RRCV_BEFORE_OBJECTS] = { 0, 0, 0, 0 }, i;      /* of each of the first nodes */
    for (i = 0; i < graph->obs; i++)
        edges[rrcv_snapshot_parent(graph, i)]++;
    edges[RRCV_TOP] = RRCV_BEFORE_OBJECTS - 1;
    (void)rrcv_edges_of(graph, RRCV_NONE, &edges[RRCV_BY_HOST]);
    graph->write(graph->arg, rrcv_snapshot_meta, sizeof rrcv_snapshot_meta - 1);
    rrcv_write(graph, "\"node_count\":%lu,\"edge_count\":%lu,\"trace_function_count\":0},\n\"nodes\":[",
               (unsigned long)(RRCV_BEFORE_OBJECTS + graph->nodes.count),
               (unsigned long)(edges[RRCV_TOP] + edges[RRCV_BY_C] + edges[RRCV_BY_PENDING] + graph->edge_count));
    for (i = 0; i < RRCV_BEFORE_OBJECTS; i++)
        rrcv_snapshot_node(snapshot, RRCV_V8_SYNTHETIC, names[i], 4 * ((uint32_t)i + 1), 0, edges[i]);
    for (i = 0; i < graph->nodes.count && !graph->out_of_memory; i++) {
        rrcv_snapshot_object(snapshot, i);
        rrcv_advance(graph);
    }
    rrcv_write(graph, "],\n\"edges\":[");
    snapshot->written = 0;
    for (i = 1; i < RRCV_BEFORE_OBJECTS; i++)
        rrcv_snapshot_edge(snapshot, RRCV_V8_ELEMENT, (uint32_t)i, i);
    rrcv_snapshot_parents(snapshot, RRCV_BY_C);
    rrcv_snapshot_edges(snapshot, RRCV_NONE);
    rrcv_snapshot_parents(snapshot, RRCV_BY_PENDING);
    for (i = 0; i < graph->nodes.count && !graph->out_of_memory; i++) {
        rrcv_snapshot_edges(snapshot, i);
        rrcv_advance(graph);
    }
    rrcv_write(graph, "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n"
                       "\"strings\":[");
    for (i = 0; i < graph->strings.count; i++) {
        if (i > 0)
            rrcv_write(graph, ",\n");
        rrcv_write_json(graph, rrcv_string(graph, (uint32_t)i));
    }
    rrcv_write(graph, "]}\n");
}

/* Make an array smaller, if the allocator can. */
static void *rrcv_shrink(rrcv_graph *graph, void *array, size_t *capacity, size_t count, size_t size)
{
    void *smaller;
    if (count >= *capacity)
        return array;
    smaller = rrc_realloc(graph->heap, array, *capacity * size, count * size);
    if (smaller == NULL)
        return array;
    *capacity = count;
    return smaller;
}

/* Keep the first nodes, up to `count`, for the next snapshot. */
static void rrcv_remember_nodes(rrcv_graph *graph, rrcv_memory *seen, size_t count)
{
    rrcv_nodes *nodes = &graph->nodes, *kept = &seen->graph.nodes;
    size_t slots = nodes->slots, i;
    rrcv_free_nodes(graph->heap, kept);
    if (count == 0)
        return;
    while (slots > 64 && count <= slots / 8 * 3)
        slots /= 2;
    *kept = *nodes;
    memset(nodes, 0, sizeof *nodes);
    kept->key = (uintptr_t *)rrcv_shrink(graph, kept->key, &kept->capacity, count, sizeof *kept->key);
    kept->id = (uint32_t *)rrcv_shrink(graph, kept->id, &kept->ids, count, sizeof *kept->id);
    kept->slot = (uint32_t *)rrcv_shrink(graph, kept->slot, &kept->slots, slots, sizeof *kept->slot);
    memset(kept->slot, 0, kept->slots * sizeof *kept->slot);
    for (i = 0; i < count; i++)
        rrcv_fill_slot(kept->slot, kept->slots, rrcv_hash_word(kept->key[i]), i);
}

RRC_API int rrc_dump_heapsnapshot(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg)
{
    rrcv_snapshot snapshot;
    rrcv_graph *graph = &snapshot.graph;
    rrcv_nodes *nodes = &graph->nodes;
    int code;
    memset(&snapshot, 0, sizeof snapshot);
    code = rrcv_begin(graph, heap, insight, "rrc_dump_heapsnapshot", write, arg);
    if (code != RRC_OK)
        return code;
    rrcv_make_graph(graph, NULL, 2);
    snapshot.seen = rrcv_seen_in(graph);
    if (!graph->out_of_memory && nodes->count > 0) {
        nodes->key = (uintptr_t *)rrcv_shrink(graph, nodes->key, &nodes->capacity, nodes->count, sizeof *nodes->key);
        nodes->id = (uint32_t *)rrcv_graph_realloc(graph, NULL, 0, nodes->count, sizeof *nodes->id);
        nodes->ids = graph->out_of_memory ? 0 : nodes->count;
    }
    if (!graph->out_of_memory)
        rrcv_snapshot_write(&snapshot);
    if (!graph->out_of_memory)
        rrcv_remember_nodes(graph, snapshot.seen, snapshot.remembered);
    return rrcv_end(graph, RRC_OK, 0);
}

#endif /* RAWREFCOUNT_IMPLEMENTATION or RRC_INSIGHT_IMPLEMENTATION */
