#include "objects.h"

static void must_be_mutator(rrc_heap *heap, const char *slot)
{
    if (HOST(heap)->phase != HOST_MUTATOR)
        unit_fail(__FILE__, __LINE__, "%s runs inside a collection", slot);
}

void node_dealloc(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);

    must_be_mutator(heap, "tp_dealloc");
    check_int(REFCNT(self), 0);
    check_ptr(RRC_LINK(self), NULL);
    h->deallocs++;
    h->last_dead = NODE(self)->tag;
    if (h->on_dealloc != NULL)
        h->on_dealloc(h, self);
    RRC_CLEAR(heap, NODE(self)->ref[0]);
    RRC_CLEAR(heap, NODE(self)->ref[1]);
    node_free(heap, self);
}

static void node_finalize(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);

    must_be_mutator(heap, "tp_finalize");
    check_int(REFCNT(self), 1);
    h->finalized++;
    if (h->on_finalize != NULL)
        h->on_finalize(h, self);
}

void node_free(rrc_heap *heap, void *self)
{
    HOST(heap)->freed++;
    rrc_del(heap, self);
}

#if HOST_FRONT
#define TYPE_HEAD { 0, NULL, NULL }
#else
#define TYPE_HEAD RRC_OBJECT_HEAD_INIT(NULL)
#endif

const rrc_type Node = {
    .ob_base = TYPE_HEAD, .tp_name = "Node", .tp_basicsize = sizeof(node),
    .tp_dealloc = node_dealloc,
};

const rrc_type Final = {
    .ob_base = TYPE_HEAD, .tp_name = "Final", .tp_basicsize = sizeof(node),
    .tp_dealloc = node_dealloc, .tp_finalize = node_finalize,
};

const rrc_type Leaf = {
    .ob_base = TYPE_HEAD, .tp_name = "Leaf", .tp_basicsize = sizeof(node),
    .tp_free = node_free,
};

const rrc_type Plain = {
    .ob_base = TYPE_HEAD, .tp_name = "Plain", .tp_basicsize = sizeof(node),
};

rrc_object *ob_new(host *h, const rrc_type *type)
{
    rrc_object *ob = rrc_new(h->heap, type);

    check(ob != NULL);
    check_int(REFCNT(ob), 1);
    check_ptr(RRC_LINK(ob), NULL);
    return ob;
}

void ob_link(host *h, link_kind kind, size_t id, rrc_object *ob, ob_weight weight)
{
    rrc_gcref p = host_at(h, id);

    check(p != NULL);
    if (kind == P)
        check_int(rrc_create_link_pypy(h->heap, p, ob), RRC_OK);
    else
        check_int(rrc_create_link_pyobj(h->heap, p, ob), RRC_OK);
    host_note_link(h, id);
    REFCNT(ob) += weight == LIGHT_OB ? LIGHT : BIAS;
}

rrc_object *ob_shared(host *h, link_kind kind, size_t id, ob_weight weight)
{
    rrc_object *ob = ob_new(h, weight == LIGHT_OB ? &Leaf : &Node);

    ob_link(h, kind, id, ob, weight);
    return ob;
}

rrc_object *ob_given(host *h, link_kind kind, size_t id, ob_weight weight)
{
    rrc_object *ob = ob_shared(h, kind, id, weight);

    rrc_decref(h->heap, ob);
    return ob;
}

rrc_object *ob_chain(host *h, const rrc_type *type, size_t length)
{
    rrc_object *first = NULL;
    size_t i;

    for (i = 0; i < length; i++) {
        rrc_object *ob = ob_new(h, type);

        NODE(ob)->tag = (int)i;
        NODE(ob)->ref[0] = first;
        first = ob;
    }
    return first;
}
