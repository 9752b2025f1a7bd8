/* The counted objects of the tests: nodes that own up to two others. */

#ifndef OBJECTS_H
#define OBJECTS_H

#include "host.h"

#if HOST_FRONT
#define OB_HEAD front_head head;
#define OB_PREFIX sizeof(front_prefix)
#define STATIC_OB(name, type_) \
    struct { front_prefix prefix; node ob; } name = { \
        { { NULL, NULL } }, { { (type_), 0, 0, RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16 }, { NULL, NULL }, 0 } }
#define STATIC_PTR(name) ((rrc_object *)(void *)&(name).ob)
#else
#define OB_HEAD rrc_object head;
#define OB_PREFIX ((size_t)0)
#define STATIC_OB(name, type_) \
    struct { node ob; } name = { { RRC_OBJECT_HEAD_INIT(type_), { NULL, NULL }, 0 } }
#define STATIC_PTR(name) ((rrc_object *)(void *)&(name).ob)
#endif

/* The bytes that the header puts in front of an object: a GC head, and in debug builds a note of its heap. */
#define OB_HEADS ((size_t)(HOST_DEBUG ? 32 : 16))

typedef struct node {
    OB_HEAD
    rrc_object *ref[2];     /* owned */
    int tag;
} node;

#define NODE(ob) ((node *)(void *)(ob))
#define REFCNT(ob) RRC_REFCNT(ob)
#define BIAS RRC_REFCNT_FROM_PYPY
#define LIGHT RRC_REFCNT_FROM_PYPY_LIGHT

/* Node: drops what it owns, and calls host.on_dealloc first.
   Final: the same, with a tp_finalize that calls host.on_finalize.
   Leaf: for light objects: no tp_dealloc, a tp_free that counts.
   Plain: every slot NULL. */
extern const rrc_type Node, Final, Leaf, Plain;

typedef enum link_kind { P, O } link_kind;
typedef enum ob_weight { FULL, LIGHT_OB } ob_weight;

/* Make an object (count 1, ours), a Leaf if it is to be light. */
rrc_object *ob_new(host *h, const rrc_type *type);

/* Link and put the bias in; the count's references stay as they are. */
void ob_link(host *h, link_kind kind, size_t id, rrc_object *ob, ob_weight weight);

/* A new object in the hands of a host object only: count == bias. */
rrc_object *ob_given(host *h, link_kind kind, size_t id, ob_weight weight);

/* A new object in the hands of both: count == bias + 1. */
rrc_object *ob_shared(host *h, link_kind kind, size_t id, ob_weight weight);

/* Make a chain of objects, each owning the next: the first is returned. */
rrc_object *ob_chain(host *h, const rrc_type *type, size_t length);

void node_dealloc(rrc_heap *heap, rrc_object *self);
void node_free(rrc_heap *heap, void *self);

#define HOST(heap) ((host *)rrc_userdata(heap))

#endif
