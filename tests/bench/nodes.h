/* nodes.h - the counted objects of cycles.c and pauses.c, and the memory that they lie in.
 * A file that includes this has defined RAWREFCOUNT_STATIC. */
#ifndef NODES_H
#define NODES_H

#include <stdlib.h>
#include <string.h>
#include "bench.h"

typedef struct node {
    rrc_object  head;
    rrc_object *a, *b;
    intptr_t    payload;
} node;

static int node_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((node *)self)->a);
    RRC_VISIT(((node *)self)->b);
    return 0;
}

static int node_clear(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((node *)self)->a);
    RRC_CLEAR(heap, ((node *)self)->b);
    return 0;
}

static void node_dealloc(rrc_heap *heap, rrc_object *self)
{
    node_clear(heap, self);
    rrc_gc_del(heap, self);
}

/* With slots written by hand, as most C types have them. */
static const rrc_type slots_type = {
    .tp_name = "node", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = node_dealloc, .tp_traverse = node_traverse, .tp_clear = node_clear
};

/* Nodes lie where malloc would place them when asked for one after the other, so that
   some of them cross a cache line. To give one back is a push on a list, the least
   that it can cost. */
enum { NODE_STRIDE = 80, GC_HEAD = 16, NODE_BYTES = sizeof(node) + GC_HEAD, STORE_SPARE = 64 };

typedef struct store {
    char *memory, *next, *end;
    void *free_list;
} store;

/* Room for n nodes, and for some small tables of the header. */
static int store_make(store *s, size_t n)
{
    size_t bytes = (n + STORE_SPARE) * NODE_STRIDE;

    s->memory = s->next = malloc(bytes);
    s->end = s->memory != NULL ? s->memory + bytes : NULL;
    s->free_list = NULL;
    return s->memory != NULL;
}

static void store_give_back(store *s, void *block)
{
    *(void **)block = s->free_list;
    s->free_list = block;
}

/* What the hook realloc does. */
static void *store_realloc(store *s, void *ptr, size_t old_size, size_t new_size)
{
    char *block = ptr, *larger;

    if (block >= s->memory && block < s->end) {         /* a node goes, or a small table */
        larger = new_size > 0 ? malloc(new_size) : NULL;
        if (new_size > 0 && larger == NULL)
            return NULL;
        if (larger != NULL)
            memcpy(larger, block, old_size < new_size ? old_size : new_size);
        store_give_back(s, block);
        return larger;
    }
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    if (ptr != NULL || new_size != NODE_BYTES)          /* a table of the header */
        return realloc(ptr, new_size);
    block = s->free_list;
    if (block != NULL) {
        s->free_list = *(void **)(void *)block;
        return block;
    }
    if (s->next == s->end)
        return NULL;
    block = s->next;
    s->next += NODE_STRIDE;
    return block;
}

#endif
