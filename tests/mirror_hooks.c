/* Cells, step by step: when the header roots what stands for an object, what it writes to edge nodes, and what it
 * does when they die, or fail. This host has no collector: a test says what has died, what fails, and what the host's
 * finalizers do in a hook. */

#include "mirror_programs.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 600, REFS = 4 };

/* An object of the host: a p, or an edge node. */
typedef struct place {
    int is_dead, anchored;
    int cannot_be_rooted;       /* though it lives: the host is about to find it dead */
    rrc_cell *cell;
    size_t list_count;
    struct place *list[REFS];   /* what an edge node refers to, as far as a test looks */
    struct place *node;         /* of a p: the edge node that it refers to */
    rrc_object *ob;             /* of a host with slots */
} place;

typedef struct hand {
    rrc_heap *heap;
    place places[PLACES];
    int used;
    size_t update;              /* the number of the last update: see begin_update */
    int fail_mirror;            /* the next so many updates fail */
    int mirrors;                /* updates of edge nodes */
    int emptied;                /* calls of write_node without targets */
    int forgotten;              /* edge nodes */
    int anchors;
    int is_ending;              /* only p's may be rooted */
    int watched, cells_forgotten;
    rrc_object **expected;      /* the targets of the next update */
    size_t expected_count;
    int last_code, logged;
    void (*in_mirror)(struct hand *h);      /* an update begins: the host collects, and runs finalizers */
    void (*after_mirror)(struct hand *h);   /* ... when the edge node is written */
    void (*in_new_node)(struct hand *h, rrc_object *ob);
    void (*in_is_live)(struct hand *h);
    void (*in_pin)(struct hand *h);
    void (*in_log)(struct hand *h);
    void (*in_slot)(struct hand *h, rrc_object *self, const char *slot);
    int deallocs, finalized;
    ptrdiff_t bytes;            /* what the heap has allocated */
    int allocations;
    int keeps_memory;           /* the next that is freed */
    void *kept;
} hand;

typedef struct thing {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *ref[REFS];
} thing;

#define THING(ob) ((thing *)(void *)(ob))
#define HAND(heap) ((hand *)rrc_userdata(heap))
#define BIAS RRC_REFCNT_FROM_PYPY
#define IS_WEAK(ob) (RRC_REFCNT(ob) < 0)

/* ---- the host ---- */

static place *new_place(hand *h)
{
    check(h->used < PLACES);
    return &h->places[h->used++];
}

static place *place_of(const rrc_cell *c) { return c != NULL ? (place *)c->object : NULL; }

/* The cell of ob's edge node, or NULL. */
static rrc_cell *node_cell(hand *h, rrc_object *ob) { return rrc_cell_of_node(h->heap, ob); }

static place *node(hand *h, rrc_object *ob) { return place_of(node_cell(h, ob)); }

/* The p of a link, as rrc_to_obj gives it. */
static place *p_of(hand *h, rrc_object *ob) { return place_of((rrc_cell *)rrc_to_obj(h->heap, ob)); }

static void call(void (**function)(hand *h), hand *h)
{
    void (*once)(hand *h) = *function;

    *function = NULL;
    if (once != NULL)
        once(h);
}

static int is_live(void *userdata, const rrc_cell *c, int may_defer)
{
    hand *h = (hand *)userdata;

    (void)may_defer;
    check(c->object != NULL && place_of(c)->cell == c);
    call(&h->in_is_live, h);
    return !place_of(c)->is_dead;
}

static int pin(void *userdata, rrc_cell *c, int on)
{
    hand *h = (hand *)userdata;
    place *s = place_of(c);

    check(s != NULL && s->cell == c && (int)c->is_pinned != on);
    check_int(s->anchored, !on);
    check(!on || !h->is_ending || !c->is_node);
    h->anchors++;
    call(&h->in_pin, h);
    if (on && (s->is_dead || s->cannot_be_rooted))
        return 0;
    s->anchored = on;
    return on;
}

static void watch(void *userdata, rrc_cell *c)
{
    check(place_of(c)->cell == NULL);
    place_of(c)->cell = c;
    ((hand *)userdata)->watched++;
}

static void forget(void *userdata, rrc_cell *c)
{
    hand *h = (hand *)userdata;

    check(!c->is_pinned);
    if (c->object != NULL)
        place_of(c)->cell = NULL;
    h->forgotten += c->is_node;
    h->cells_forgotten++;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *to)
{
    (void)userdata;
    check(to->is_node && to->ob == proxy->ob && place_of(to) != NULL);
    place_of(proxy)->node = place_of(to);
}

/* The first hook of an update of an edge node is called. 0: it fails. */
static int begin_update(hand *h)
{
    rrc_closed_stats stats;

    check_int(rrc_closed_get_stats(h->heap, &stats), RRC_OK);
    if (stats.mirrored == h->update)
        return 1;
    h->update = stats.mirrored;
    h->mirrors++;
    call(&h->in_mirror, h);
    if (h->fail_mirror == 0)
        return 1;
    h->fail_mirror--;
    return 0;
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    hand *h = (hand *)userdata;

    (void)n;
    if (!begin_update(h))
        return NULL;
    if (h->in_new_node != NULL)
        h->in_new_node(h, ob);
    return new_place(h);
}

static int write_node(void *userdata, rrc_cell *c, rrc_cell *const *targets, size_t n)
{
    hand *h = (hand *)userdata;
    place *s = place_of(c);
    size_t i;

    check(c->is_node && s != NULL && s->cell == c && !s->is_dead);
    if (n == 0) {
        h->emptied++;
        s->list_count = 0;
        return 0;
    }
    if (!begin_update(h))
        return 1;
    if (h->expected != NULL) {
        check_int(n, h->expected_count);
        for (i = 0; i < n; i++)
            check_ptr(targets[i]->ob, h->expected[i]);
        h->expected = NULL;
    }
    for (i = s->list_count = 0; i < n; i++)
        if (place_of(targets[i]) != NULL && s->list_count < REFS)
            s->list[s->list_count++] = place_of(targets[i]);
    call(&h->after_mirror, h);
    return 0;
}

static void write_log(void *userdata, const rrc_log_item *item)
{
    hand *h = (hand *)userdata;

    h->last_code = item->code;
    h->logged++;
    call(&h->in_log, h);
}

static void *reallocate(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    hand *h = (hand *)userdata;

    h->bytes += (ptrdiff_t)new_size - (ptrdiff_t)old_size;
    h->allocations += new_size > 0;
    if (new_size > 0)
        return realloc(ptr, new_size);
    if (h->keeps_memory) {
        h->keeps_memory = 0;
        h->kept = ptr;
        return NULL;
    }
    free(ptr);
    return NULL;
}

static int is_young(void *userdata, rrc_gcref p)
{
    (void)userdata;
    check_ptr(p, NULL);                 /* a closed heap does not ask */
    return 1;
}

#if !HOST_FRONT
static const rrc_type Metatype = { .tp_name = "Metatype", .tp_basicsize = sizeof(rrc_type) };
/* Of types that are static, but counted: the header has not made them. */
static void free_nothing(rrc_heap *heap, void *self) { (void)heap, (void)self; }
static const rrc_type StaticMetatype = { .tp_name = "StaticMetatype", .tp_free = free_nothing };
#endif

static int with_generations, with_slots, at_once;

static rrc_object **slot(void *userdata, rrc_gcref p)
{
    place *s = place_of((const rrc_cell *)p);

    (void)userdata;
    check(s != NULL && !s->is_dead);
    return &s->ob;
}

static hand *open_with(void (*collect)(void *))
{
    hand *h = (hand *)calloc(1, sizeof *h);
    rrc_desc desc;
    rrc_closed_desc closed;

    if (h == NULL)
        abort();
    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    desc.userdata = h;
    desc.collect = collect;
    desc.is_young = with_generations ? is_young : NULL;
    desc.slot = with_slots ? slot : NULL;
    desc.log = write_log;
    desc.realloc = reallocate;
    closed.collects_at_once = at_once;
    closed.pin = pin;
    closed.watch = watch;
    closed.forget = forget;
    closed.is_live = is_live;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    h->heap = rrc_closed_new(&desc, &closed);
    check(h->heap != NULL);
    return h;
}

static hand *open_hand(void) { return open_with(NULL); }

/* The test has dropped what it held, and looked at what was logged. What it wanted hooks to do has been done. */
static void close_hand(hand *h)
{
    int i;

    h->in_slot = NULL;
    check(h->in_mirror == NULL && h->after_mirror == NULL && h->in_is_live == NULL && h->in_pin == NULL
          && h->in_log == NULL && h->expected == NULL);
    check_int(h->fail_mirror, 0);
    check_int(h->logged, 0);
    check_int(rrc_heap_free(h->heap), 0);
    check_int(h->logged, 0);
    check_int(h->bytes, 0);
    check_int(h->cells_forgotten, h->watched);
    for (i = 0; i < h->used; i++)
        check(h->places[i].cell == NULL && (h->places[i].is_dead || !h->places[i].anchored));
    free(h->kept);
    free(h);
}

#define expect_log(h, code) \
    do { \
        check_int((h)->logged, 1); \
        check_int((h)->last_code, (code)); \
        (h)->logged = 0; \
    } while (0)

/* ---- its counted objects ---- */

static int traversals;

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int i;

    traversals++;
    for (i = 0; i < REFS; i++)
        RRC_VISIT(THING(self)->ref[i]);
    return 0;
}

static int thing_clear(rrc_heap *heap, rrc_object *self)
{
    int i;

    for (i = 0; i < REFS; i++)
        RRC_CLEAR(heap, THING(self)->ref[i]);
    return 0;
}

static void thing_dealloc(rrc_heap *heap, rrc_object *self)
{
    HAND(heap)->deallocs++;
    if (HAND(heap)->in_slot != NULL)
        HAND(heap)->in_slot(HAND(heap), self, "tp_dealloc");
    thing_clear(heap, self);
    rrc_gc_del(heap, self);
}

static void thing_finalize(rrc_heap *heap, rrc_object *self)
{
    HAND(heap)->finalized++;
    if (HAND(heap)->in_slot != NULL)
        HAND(heap)->in_slot(HAND(heap), self, "tp_finalize");
}

static const rrc_type Tracked = {
    .tp_name = "Tracked", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear,
};
static const rrc_type Final = {
    .tp_name = "Final", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear,
    .tp_finalize = thing_finalize,
};
static const rrc_type Stubborn = {
    .tp_name = "Stubborn", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse,
};
static const rrc_type Bare = { .tp_name = "Bare", .tp_basicsize = sizeof(thing) };
static const rrc_type Var = { .tp_name = "Var", .tp_basicsize = sizeof(thing), .tp_itemsize = 8,
                              .tp_flags = RRC_TPFLAGS_HAVE_GC };

/* Tracked, held once. */
static rrc_object *new_thing(hand *h, const rrc_type *type)
{
    rrc_object *ob = type == &Bare ? rrc_new(h->heap, type) : rrc_gc_new(h->heap, type);

    check(ob != NULL);
    if (type != &Bare)
        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    return ob;
}

static place *link_kind(hand *h, rrc_object *ob, int kind)
{
    place *p = new_place(h);

    check_int(rrc_cell_link(h->heap, p, ob, kind), RRC_OK);
    return p;
}

static place *link_to(hand *h, rrc_object *ob, int is_p) { return link_kind(h, ob, is_p ? RRC_P : RRC_O); }

/* As link_to does, but somebody forgets the bias. */
static place *link_without_bias(hand *h, rrc_object *ob)
{
    place *p = link_to(h, ob, 1);

    RRC_REFCNT(ob) -= BIAS;
    return p;
}

/* Dissolve the link of ob, whose p may live on. */
static void part(hand *h, rrc_object *ob)
{
    check_int(rrc_cell_unlink(h->heap, (rrc_cell *)RRC_LINK(ob)), RRC_OK);
}

/* The host reports a death. */
static void report(hand *h, place *p)
{
    rrc_cell *c = p->cell;

    p->is_dead = 1;
    p->cell = NULL;
    rrc_cell_died(h->heap, c);
}

static void own(hand *h, rrc_object *owner, int n, rrc_object *ob)
{
    rrc_incref(h->heap, ob);
    THING(owner)->ref[n] = ob;
}

/* The reference of the test becomes one of the owner. */
static void give(rrc_object *owner, int n, rrc_object *ob)
{
    THING(owner)->ref[n] = ob;
}

static void step(hand *h)
{
    check_int(rrc_closed_step(h->heap), RRC_OK);
    check_int(rrc_check(h->heap), RRC_OK);
}

static void step_makes_weak(hand *h, rrc_object *ob, const place *p)
{
    step(h);
    check(IS_WEAK(ob));
    check_int(p->anchored, 0);
}

static size_t uncollectable(hand *h)
{
    rrc_stats stats;

    check_int(rrc_get_stats(h->heap, &stats), RRC_OK);
    return stats.uncollectable;
}

static size_t edge_nodes(hand *h)
{
    rrc_closed_stats stats;

    check_int(rrc_closed_get_stats(h->heap, &stats), RRC_OK);
    return stats.edge_nodes;
}

/* ---- edge nodes that die ---- */

/* x, which has a proxy, and y hold each other; y owns a handle, a view of p. All is
   mirrored, and C holds nothing. */
typedef struct pair {
    rrc_object *x, *y, *handle;
    place *proxy, *p;
} pair;

static pair new_pair(hand *h, const rrc_type *type)
{
    pair t;

    t.x = new_thing(h, type);
    t.y = new_thing(h, type);
    t.handle = new_thing(h, &Bare);
    t.proxy = link_to(h, t.x, 0);
    t.p = link_to(h, t.handle, 1);
    give(t.x, 0, t.y);
    own(h, t.y, 0, t.x);
    give(t.y, 1, t.handle);
    rrc_decref(h->heap, t.x);
    step(h);
    check(IS_WEAK(t.x) && IS_WEAK(t.y) && IS_WEAK(t.handle));
    check_int(t.p->anchored, 0);
    check_int(edge_nodes(h), 2);
    h->mirrors = 0;
    return t;
}

/* The host finds all of it unreachable but p, which a root of its own holds; the
   proxy's finalizer has not told yet. */
static void die(hand *h, const pair *t)
{
    t->proxy->is_dead = node(h, t->x)->is_dead = node(h, t->y)->is_dead = 1;
}

static void step_and_run(hand *h)
{
    step(h);
    rrc_run_pending(h->heap, 0);
}

/* Now it tells. */
static void end_pair(hand *h, const pair *t)
{
    int deallocs;

    step_and_run(h);
    deallocs = h->deallocs;
    report(h, t->proxy);
    step_and_run(h);
    step_and_run(h);                    /* what has a finalizer goes now */
    check_int(h->deallocs, deallocs + 2);
    check_int(edge_nodes(h), 0);
}

/* C gets hold of x again (by a borrowed pointer): neither its edge node nor that of y
   can be rooted any more. */
static void held_again_when_its_node_has_died(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);

    die(h, &t);
    rrc_incref(h->heap, t.x);
    check(!IS_WEAK(t.x) && !IS_WEAK(t.y) && !IS_WEAK(t.handle));
    check_int(t.p->anchored, 1);
    check_int(h->forgotten, 2);
    check_int(edge_nodes(h), 0);
    step(h);
    check_int(h->mirrors, 2);
    check(!IS_WEAK(t.x) && IS_WEAK(t.y) && IS_WEAK(t.handle));
    check_int(node(h, t.x)->anchored, 1);
    check_ptr(node(h, t.y)->list[1], t.p);
    check_int(t.p->anchored, 0);
    rrc_decref(h->heap, t.x);
    end_pair(h, &t);
    close_hand(h);
}

static void a_step_makes_dead_nodes_anew(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);

    die(h, &t);
    step(h);
    check_int(h->forgotten, 2);
    check_int(h->mirrors, 2);
    check(node(h, t.x) != NULL && !node(h, t.x)->is_dead && node(h, t.y) != NULL && !node(h, t.y)->is_dead);
    check(IS_WEAK(t.x) && IS_WEAK(t.handle));
    check_ptr(node(h, t.y)->list[1], t.p);
    end_pair(h, &t);
    close_hand(h);
}

/* What an edge node listed that died, and what cannot be rooted in its place, is no mistake of
   whoever holds it. */
static void what_cannot_be_rooted_stays_weak(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);

    die(h, &t);
    t.proxy->is_dead = 0;
    t.p->cannot_be_rooted = 1;
    check_int(rrc_closed_step(h->heap), RRC_OK);
    check_int(h->logged, 0);
    check(IS_WEAK(t.handle));
    t.p->cannot_be_rooted = 0;
    step(h);
    check_ptr(node(h, t.y)->list[1], t.p);
    end_pair(h, &t);
    close_hand(h);
}

/* Where a step makes no edge nodes, what was listed by those that died is strong. */
static void a_step_without_a_search(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);

    die(h, &t);
    rrc_gc_disable(h->heap);
    step(h);
    check_int(edge_nodes(h), 0);
    check_int(h->mirrors, 0);
    rrc_incref(h->heap, t.x);
    check_int(t.p->anchored, 1);
    rrc_decref(h->heap, t.x);
    rrc_gc_enable(h->heap);
    end_pair(h, &t);
    close_hand(h);
}

/* ... also of what has no owner, but a proxy. */
static void a_step_without_a_search_finds_a_dead_node(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *handle = new_thing(h, &Bare);
    place *p = link_to(h, handle, 1);

    link_to(h, ob, 0);
    give(ob, 0, handle);
    rrc_decref(h->heap, ob);
    step(h);
    check(IS_WEAK(ob) && IS_WEAK(handle));
    node(h, ob)->is_dead = 1;
    rrc_gc_disable(h->heap);
    step(h);
    check(!IS_WEAK(ob) && !IS_WEAK(handle));
    check_int(p->anchored, 1);
    close_hand(h);
}

/* The dead are many, and each is owned by another one: no recursion. */
enum { LONG = 20000 };

static int all_dead;
static char chain_nodes[LONG];
static size_t chain_node_count;

static int pin_the_living(void *userdata, rrc_cell *c, int on)
{
    (void)userdata, (void)c;
    return on && !all_dead;
}

static void *next_of_chain(void *userdata, rrc_object *ob, size_t n)
{
    (void)userdata, (void)ob, (void)n;
    return &chain_nodes[chain_node_count++];
}

static int write_nothing(void *userdata, rrc_cell *c, rrc_cell *const *targets, size_t n)
{
    (void)userdata, (void)c, (void)targets, (void)n;
    return 0;
}

static void join_nothing(void *userdata, rrc_cell *proxy, rrc_cell *to) { (void)userdata, (void)proxy, (void)to; }

static void a_long_chain_is_held_again(void)
{
    static const rrc_type link = { .tp_name = "Link", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                   .tp_traverse = thing_traverse, .tp_clear = thing_clear };
    static short proxy;
    rrc_heap *heap;
    rrc_desc desc;
    rrc_closed_desc closed;
    rrc_object *first = NULL, *ob;
    rrc_closed_stats stats;
    int i;

    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    closed.pin = pin_the_living;
    closed.new_node = next_of_chain;
    closed.write_node = write_nothing;
    closed.join = join_nothing;
    heap = rrc_closed_new(&desc, &closed);
    all_dead = 0;
    chain_node_count = 0;
    for (i = 0; i < LONG; i++) {
        ob = rrc_gc_new(heap, &link);
        check(ob != NULL);
        give(ob, 0, first);
        check_int(rrc_gc_track(heap, ob), RRC_OK);
        first = ob;
    }
    check_int(rrc_cell_link(heap, &proxy, first, RRC_O), RRC_OK);
    rrc_decref(heap, first);
    check_int(rrc_closed_step(heap), RRC_OK);
    check_int(rrc_closed_get_stats(heap, &stats), RRC_OK);
    check_int(stats.edge_nodes, LONG - 1);
    check_int(rrc_closed_count_weak(heap), LONG - 1);
    all_dead = 1;
    rrc_incref(heap, first);
    check_int(rrc_closed_get_stats(heap, &stats), RRC_OK);
    check_int(stats.edge_nodes, 0);
    check_int(rrc_closed_count_weak(heap), 0);
    while (first != NULL) {             /* (not all by one decref, which would nest) */
        ob = THING(first)->ref[0];
        THING(first)->ref[0] = NULL;
        if (rrc_cell_of(heap, first) != NULL)
            check_int(rrc_cell_unlink(heap, rrc_cell_of(heap, first)), RRC_OK);
        rrc_decref(heap, first);
        first = ob;
    }
    check_int(rrc_heap_free(heap), 0);
}

/* C gets hold of what has a P link whose p has died: the next step dissolves it. */
static void taken_when_its_p_has_died(void)
{
    enum { A_STEP, RELINKED, RELINKED_BEFORE_ITS_DEATH, WAYS };
    int i, way;

    for (i = 0; i < 2; i++)
    for (way = 0; way < WAYS; way++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, i ? &Tracked : &Bare), *owner = new_thing(h, &Tracked);
        rrc_object *other = new_thing(h, &Tracked), *third = new_thing(h, &Bare);
        place *p = link_to(h, ob, 1), *other_p = link_to(h, other, 0), *third_p = link_to(h, third, 1);

        unit_context("%d, way %d: ", i, way);
        own(h, other, 0, other);                        /* so that it has an edge node */
        rrc_decref(h->heap, ob);
        rrc_decref(h->heap, other);
        rrc_decref(h->heap, third);
        step(h);
        check(IS_WEAK(other) && IS_WEAK(third));
        if (way == RELINKED_BEFORE_ITS_DEATH)
            p->cannot_be_rooted = 1;
        else
            p->is_dead = 1;
        rrc_incref(h->heap, ob);
        check_int(rrc_check(h->heap), RRC_OK);
        check_ptr(p_of(h, ob), NULL);       /* pin has said that it is gone */
        check_ptr(p_of(h, other), other_p); /* of an O link, and of a P link that lives, it has not */
        check_ptr(p_of(h, third), third_p);
        if (way != A_STEP) {
            place *former = p;

            p = link_to(h, ob, 1);                      /* in place of the old link */
            check_ptr(p_of(h, ob), p);
            check_ptr(former->cell, NULL);
            check_int(RRC_REFCNT(ob), RRC_REFCNT_FROM_PYPY + 1);
            part(h, ob);
        } else {
            step(h);
        }
        check_ptr(p_of(h, ob), NULL);
        check_int(RRC_REFCNT(ob), 1);
        own(h, owner, 0, ob);           /* from now on rrc_check believes all counts again */
        link_to(h, ob, 1);
        rrc_decref(h->heap, ob);
        step(h);
        check(IS_WEAK(ob));
        RRC_REFCNT(ob)++;
        check_int(rrc_check(h->heap), RRC_ETOUCH);
        expect_log(h, RRC_ETOUCH);
        RRC_REFCNT(ob)--;
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* The same, of an object that is not tracked: nobody knows what it owns. */
static void an_untracked_object_is_taken_when_its_p_has_died(void)
{
    hand *h = open_hand();
    rrc_object *ob = rrc_gc_new(h->heap, &Tracked);
    place *p;

    check(ob != NULL);
    p = link_to(h, ob, 1);
    rrc_decref(h->heap, ob);
    check(IS_WEAK(ob));
    p->is_dead = 1;
    traversals = 0;
    rrc_incref(h->heap, ob);
    check(IS_WEAK(ob));
    check_int(traversals, 0);
    step(h);
    check_ptr(RRC_LINK(ob), NULL);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    close_hand(h);
}

/* What is weak, and whose p lives, keeps its link. */
static void a_weak_object_gets_no_second_link(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, i ? &Tracked : &Bare), *dead = new_thing(h, &Bare);
        place *p = link_to(h, ob, 1), *gone = link_to(h, dead, 1), *other = new_place(h);

        rrc_decref(h->heap, ob);
        rrc_decref(h->heap, dead);
        step(h);
        check(IS_WEAK(ob) && IS_WEAK(dead));
        gone->is_dead = 1;
        rrc_incref(h->heap, dead);      /* so that p's are asked for */
        check_int(rrc_cell_link(h->heap, other, ob, RRC_P), RRC_ELINKED);
        expect_log(h, RRC_ELINKED);
        check_ptr(p_of(h, ob), p);
        check_int(p->anchored, 1);      /* strong until the next step */
        step_makes_weak(h, ob, p);
        rrc_decref(h->heap, dead);
        close_hand(h);
    }
}

/* The same in what rrc_gc_collect does after the host's collection; and a finalizer
   still finds all that its object owns. */
static pair collected;
static int reported;

static void collect_pair(void *userdata)
{
    hand *h = (hand *)userdata;

    if (collected.proxy->is_dead)
        return;
    die(h, &collected);
    if (reported)
        report(h, collected.proxy);
}

static void handle_is_whole(hand *h, rrc_object *self, const char *slot)
{
    (void)h, (void)self;
    if (strcmp(slot, "tp_finalize") == 0)
        check_int(collected.p->anchored, 1);
}

static void a_collection_finds_dead_nodes(void)
{
    for (reported = 0; reported < 2; reported++) {
        hand *h = open_with(collect_pair);
        rrc_object *other;

        collected = new_pair(h, &Final);
        h->in_slot = handle_is_whole;
        other = new_thing(h, &Tracked);
        own(h, other, 0, other);        /* garbage, too, so that there is something to do */
        rrc_decref(h->heap, other);
        check_int(rrc_gc_collect(h->heap), reported ? 3 : 1);
        check_int(h->finalized, reported ? 2 : 0);
        check(reported || collected.p->anchored || node(h, collected.y) != NULL);
        if (!reported)
            end_pair(h, &collected);
        close_hand(h);
    }
}

/* The host collects while an edge node is made, and a finalizer of its takes x. */
static pair taken;

static void take_x(hand *h)
{
    die(h, &taken);
    rrc_incref(h->heap, taken.x);
}

static void a_finalizer_in_a_step_takes_the_dead(void)
{
    hand *h = open_hand();
    rrc_object *owner;

    taken = new_pair(h, &Tracked);
    owner = new_thing(h, &Tracked);
    own(h, owner, 0, owner);
    h->in_mirror = take_x;
    step(h);
    check_int(h->mirrors, 1);
    check(!IS_WEAK(taken.x));
    check_int(taken.p->anchored, 1);
    step(h);
    check_int(taken.p->anchored, 0);
    check_ptr(node(h, taken.y)->list[1], taken.p);
    rrc_decref(h->heap, taken.x);
    rrc_decref(h->heap, owner);
    end_pair(h, &taken);
    close_hand(h);
}

/* ---- what a step does to anchors ---- */

static void what_a_step_finds_held_is_strong(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);

    RRC_REFCNT(t.handle)++;             /* against the rule */
    check_int(rrc_closed_step(h->heap), RRC_OK);
    check(!IS_WEAK(t.handle));
    check_int(t.p->anchored, 1);
    rrc_decref(h->heap, t.handle);
    step(h);
    check(IS_WEAK(t.handle));
    check_int(t.p->anchored, 0);
    close_hand(h);
}

/* The edge node of y dies in a step that has looked for dead nodes already, before it is to be written. */
static place *dying;

static void it_dies(hand *h)
{
    (void)h;
    dying->is_dead = 1;
}

static void a_new_node_of_a_weak_object_is_let_go(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    rrc_object *more = new_thing(h, &Bare), *youngest = new_thing(h, &Tracked);     /* that is mirrored first */
    place *p = link_to(h, more, 1);

    dying = node(h, t.y);
    give(t.y, 2, more);
    own(h, youngest, 0, youngest);
    h->in_mirror = it_dies;
    step(h);
    check_int(h->mirrors, 2);
    check(node(h, t.y) != NULL && node(h, t.y) != dying);
    check_int(node(h, t.y)->list_count, 3);
    check_int(node(h, t.y)->anchored, 0);
    check_int(p->anchored, 0);
    check(IS_WEAK(t.y) && IS_WEAK(more));
    RRC_CLEAR(h->heap, THING(youngest)->ref[0]);
    rrc_decref(h->heap, youngest);
    h->deallocs = 0;
    end_pair(h, &t);
    close_hand(h);
}

/* An edge node whose update failed is stale until one does not, also where each of
   its targets is known by a number. */
static void a_failed_update_is_made_up_for(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *a = new_thing(h, &Tracked), *b = new_thing(h, &Tracked);
    int i;

    own(h, a, 0, a);
    own(h, b, 0, b);
    give(owner, 0, a);
    step(h);
    check_int(node(h, owner)->list_count, 1);
    give(owner, 1, b);
    for (i = 0; i < 3; i++) {
        h->fail_mirror = 1;
        check_int(rrc_closed_step(h->heap), RRC_ENOMEM);
        check(!IS_WEAK(a) && !IS_WEAK(b));
        check_int(rrc_check(h->heap), RRC_OK);
    }
    step(h);
    check_int(node(h, owner)->list_count, 2);
    check(IS_WEAK(a) && IS_WEAK(b));
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* Anchors change when objects become weak or strong, and at no other time. */
static void anchors_of_what_stays_are_let_be(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    rrc_object *more = new_thing(h, &Bare), *held = new_thing(h, &Bare);
    rrc_closed_stats stats;
    size_t steps;

    link_to(h, more, 1);
    link_to(h, held, 1);
    h->anchors = 0;
    step(h);
    check_int(h->anchors, 0);
    check_int(h->mirrors, 0);
    give(t.y, 2, more);
    step(h);
    check_int(h->anchors, 1);           /* `more` is let go */
    check_int(h->mirrors, 1);
    own(h, t.x, 1, more);
    check_int(h->anchors, 2);
    step(h);
    check_int(h->anchors, 3);
    check_int(h->mirrors, 2);
    rrc_incref(h->heap, t.y);
    rrc_decref(h->heap, t.y);
    step(h);
    check_int(h->anchors, 5);
    rrc_decref(h->heap, held);
    check_int(h->anchors, 6);
    check_int(rrc_closed_get_stats(h->heap, &stats), RRC_OK);
    steps = stats.mirror_steps;
    step(h);
    check_int(h->anchors, 6);
    check_int(rrc_closed_get_stats(h->heap, &stats), RRC_OK);
    check_int(stats.mirror_steps, steps + 1);
    end_pair(h, &t);
    close_hand(h);
}

/* Objects get numbers that had none: those which own other things are not mirrored again. */
static void only_what_changed_is_mirrored(void)
{
    hand *h = open_hand();
    rrc_object *top = new_thing(h, &Tracked), *viewed = new_thing(h, &Tracked), *bare = new_thing(h, &Bare);

    give(top, 0, viewed);
    give(top, 1, bare);                 /* for which nothing stands */
    link_to(h, viewed, 1);
    step(h);
    check_int(h->mirrors, 1);
    own(h, viewed, 0, bare);
    step(h);
    check_int(h->mirrors, 1);
    link_to(h, bare, 1);
    part(h, bare);
    own(h, viewed, 1, viewed);          /* (the number of its p is that of before) */
    step(h);
    check_int(h->mirrors, 2);
    give(viewed, 2, new_thing(h, &Tracked));
    own(h, THING(viewed)->ref[2], 0, THING(viewed)->ref[2]);
    step(h);
    check_int(h->mirrors, 4);
    check_int(node(h, top)->list_count, 1);
    rrc_decref(h->heap, top);
    close_hand(h);
}

/* ---- who has an edge node ---- */

/* Objects that own nothing have none, be they linked or not, and are not listed. */
static void what_owns_nothing_has_no_node(void)
{
    hand *h = open_hand();
    rrc_object *top = new_thing(h, &Tracked), *leaf = new_thing(h, &Tracked), *proxied = new_thing(h, &Tracked);
    rrc_object *view = new_thing(h, &Bare), *only_leaf = new_thing(h, &Tracked);
    place *p = link_to(h, view, 1), *other;

    link_to(h, proxied, 0);
    own(h, top, 0, leaf);
    own(h, top, 1, proxied);
    give(top, 2, view);
    own(h, only_leaf, 0, proxied);
    step(h);
    check_int(edge_nodes(h), 1);
    check_int(h->mirrors, 1);
    check_int(node(h, top)->list_count, 1);
    check_ptr(node(h, top)->list[0], p);
    other = link_to(h, leaf, 1);
    step(h);
    check_int(node(h, top)->list_count, 2);
    check_ptr(node(h, top)->list[0], other);
    part(h, leaf);
    step(h);
    check_int(node(h, top)->list_count, 1);
    check_int(edge_nodes(h), 1);
    rrc_decref(h->heap, leaf);
    rrc_decref(h->heap, proxied);
    rrc_decref(h->heap, only_leaf);
    rrc_decref(h->heap, top);
    close_hand(h);
}

/* Those that do not own anything any more lose theirs. */
static void nodes_of_what_owns_nothing_any_more(void)
{
    int link;

    for (link = 0; link < 3; link++) {          /* of the object in the middle */
        hand *h = open_hand();
        rrc_object *top = new_thing(h, &Tracked), *middle = new_thing(h, &Tracked), *view = new_thing(h, &Bare);

        link_to(h, view, 1);
        give(middle, 0, view);
        own(h, top, 0, middle);
        if (link > 0)
            link_to(h, middle, link == 1);
        step(h);
        check_int(edge_nodes(h), 2);
        rrc_incref(h->heap, view);
        RRC_CLEAR(h->heap, THING(middle)->ref[0]);
        step(h);
        check_int(h->forgotten, 1);
        check_ptr(node(h, middle), NULL);
        step(h);
        check_int(node(h, top)->list_count, link == 1);
        check_int(edge_nodes(h), 1);
        rrc_decref(h->heap, view);
        rrc_decref(h->heap, middle);
        rrc_decref(h->heap, top);
        close_hand(h);
    }
}

/* Another node than before, of an object at the same place: its owners list that. */
static void tracked_anew(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *owner = new_thing(h, &Tracked), *view = new_thing(h, &Bare);
    place *before;

    link_to(h, view, 1);
    give(ob, 0, view);
    own(h, owner, 0, ob);
    step(h);
    before = node(h, ob);
    check_ptr(node(h, owner)->list[0], before);
    rrc_gc_untrack(h->heap, ob);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    step(h);
    check(node(h, ob) != NULL && node(h, ob) != before);
    check_ptr(node(h, owner)->list[0], node(h, ob));
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* GC objects that are not tracked are children if they have a P link; and a step changes
   nothing in a p. */
static void untracked_children(void)
{
    int is_p;

    for (is_p = 0; is_p < 2; is_p++) {
        hand *h = open_hand();
        rrc_object *owner = new_thing(h, &Tracked), *child = new_thing(h, &Tracked);
        place *p, was;

        rrc_gc_untrack(h->heap, child);
        p = link_to(h, child, is_p);
        give(owner, 0, child);
        was = *p;
        was.anchored = 0;
        step(h);
        check(memcmp(p, &was, sizeof was) == 0);
        check_int(IS_WEAK(child) != 0, is_p);
        check_int(edge_nodes(h), is_p);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* One of them leaves its p in the middle of a step, and gets another now or after it. The next step weighs it as if it
   were new. */
static void an_untracked_child_changes_its_p_between_slices(void)
{
    int units;

    for (units = 1; units < 60; units++) {
        hand *h = open_hand();
        rrc_object *owner = new_thing(h, &Tracked), *child = new_thing(h, &Tracked);

        unit_context("%d: ", units);
        rrc_gc_untrack(h->heap, child);
        link_to(h, child, 1);
        give(owner, 0, child);
        rrc_closed_work(h->heap, (size_t)units);
        rrc_incref(h->heap, child);
        part(h, child);
        if (units % 2 == 0)
            check_int(rrc_closed_step(h->heap), RRC_OK);
        link_to(h, child, 1);
        if (units % 3 == 0)
            check_int(rrc_closed_step(h->heap), RRC_OK);
        rrc_decref(h->heap, child);
        check_int(rrc_closed_step(h->heap), RRC_OK);
        check(IS_WEAK(child));
        check_int(edge_nodes(h), 1);
        rrc_incref(h->heap, child);
        check_int(rrc_closed_step(h->heap), RRC_OK);
        check(!IS_WEAK(child));
        rrc_decref(h->heap, child);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* What an edge node stood for is rooted by its p from now on. */
static void a_weak_object_gets_a_p(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    place *p = link_to(h, t.y, 1);

    check(!IS_WEAK(t.y));
    check_int(p->anchored, 1);
    step_makes_weak(h, t.y, p);
    check_ptr(node(h, t.x)->list[0], p);
    part(h, t.y);
    end_pair(h, &t);
    close_hand(h);
}

/* A link whose bias somebody has taken off, with a p that dies. */
static void a_p_that_dies_without_a_bias(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked);
    place *p;

    own(h, ob, 0, ob);
    step(h);
    p = link_without_bias(h, ob);
    p->is_dead = 1;
    check_int(rrc_closed_step(h->heap), RRC_OK);
    expect_log(h, RRC_EREFCNT);
    check_ptr(p_of(h, ob), NULL);
    check_ptr(rrc_cell_of(h->heap, ob), NULL);
    check(node(h, ob) != NULL);
    RRC_CLEAR(h->heap, THING(ob)->ref[0]);
    rrc_decref(h->heap, ob);
    close_hand(h);
}

static void fail_a_step(hand *h, rrc_object *wrong)
{
    THING(wrong)->ref[0] = THING(wrong)->ref[1] = wrong;        /* which it does not own */
    check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
    THING(wrong)->ref[0] = THING(wrong)->ref[1] = NULL;
    h->logged = 0;
}

/* Whatever a step has missed, only what C refers to becomes strong. */
static void what_the_host_alone_holds_stays_weak(void)
{
    hand *h = open_hand();
    rrc_object *wrong = new_thing(h, &Tracked), *held = new_thing(h, &Bare), *other = new_thing(h, &Bare);

    link_to(h, held, 1);
    link_to(h, other, 1);
    rrc_decref(h->heap, other);
    step(h);
    check(!IS_WEAK(held));
    check(IS_WEAK(other));
    fail_a_step(h, wrong);
    check(!IS_WEAK(held));
    check(IS_WEAK(other));
    rrc_decref(h->heap, held);
    rrc_decref(h->heap, wrong);
    close_hand(h);
}

/* A step that fails has not told changed links apart: that which comes next looks closely. */
static void a_view_of_another_p_and_a_failed_step(void)
{
    hand *h = open_hand();
    rrc_object *wrong = new_thing(h, &Tracked), *owner = new_thing(h, &Tracked), *view = new_thing(h, &Bare);
    place *p;
    int i;

    own(h, owner, 0, view);
    for (i = 0; i < 3; i++) {
        if (i == 2)
            fail_a_step(h, wrong);
        if (i > 0)
            part(h, view);
        p = link_to(h, view, 1);
        if (i == 1)
            fail_a_step(h, wrong);
        step(h);
        check_ptr(node(h, owner)->list[0], p);
    }
    rrc_decref(h->heap, view);
    rrc_decref(h->heap, owner);
    rrc_decref(h->heap, wrong);
    close_hand(h);
}

/* Nor does it keep the edge nodes of what owns nothing any more. */
static void a_step_without_changes_after_a_failed_one(void)
{
    hand *h = open_hand();
    rrc_object *wrong = new_thing(h, &Tracked), *owner = new_thing(h, &Tracked), *view = new_thing(h, &Bare);

    link_to(h, view, 1);
    own(h, owner, 0, view);
    give(wrong, 0, new_thing(h, &Tracked));
    step(h);
    check_int(edge_nodes(h), 1);
    RRC_CLEAR(h->heap, THING(owner)->ref[0]);
    THING(wrong)->ref[1] = THING(wrong)->ref[0];        /* visited twice, and owned once */
    check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
    expect_log(h, RRC_ETRAVERSE);
    THING(wrong)->ref[1] = NULL;
    step(h);
    check_int(edge_nodes(h), 0);
    check_int(h->forgotten, 1);
    rrc_decref(h->heap, view);
    rrc_decref(h->heap, owner);
    rrc_decref(h->heap, wrong);
    close_hand(h);
}

/* ---- when a step is due ---- */

static int cycles_until_due(hand *h)
{
    int cycles = 1;

    while (!rrc_closed_cycle(h->heap) && cycles < 10000)
        cycles++;
    return cycles;
}

/* Cycles without a change, until a step is made after 64 of them only. */
static void pass_quiet_cycles(hand *h)
{
    int n;

    for (n = 8; n <= 64; n *= 2) {
        check_int(cycles_until_due(h), n);
        step(h);
    }
}

static void each_change_makes_a_step_due(void)
{
    enum { TRACK, LINK_P, LINK_O, UNLINK, UNTRACK, LEAVE, TAKE, KEEP_NODE, FAIL, CHANGES, OTHERS = 20 };
    int change, i;

    for (change = 0; change < CHANGES; change++) {
        hand *h = open_hand();
        rrc_object *others[OTHERS], *ob = new_thing(h, &Tracked), *view = new_thing(h, &Bare), *bare = new_thing(h, &Bare);
        rrc_object *loose = rrc_gc_new(h->heap, &Tracked);
        place *p = link_to(h, view, 1);

        check(loose != NULL);
        for (i = 0; i < OTHERS; i++)
            link_to(h, others[i] = new_thing(h, &Bare), 1);
        if (change == TAKE)
            rrc_decref(h->heap, view);
        step(h);
        step(h);
        pass_quiet_cycles(h);
        switch (change) {
        case TRACK: check_int(rrc_gc_track(h->heap, loose), RRC_OK); break;
        case LINK_P: case LINK_O: link_to(h, bare, change == LINK_P); break;
        case UNLINK: part(h, view); break;
        case UNTRACK: rrc_gc_untrack(h->heap, ob); break;
        case LEAVE: rrc_decref(h->heap, view); break;
        case TAKE: rrc_incref(h->heap, view); break;
        case KEEP_NODE: check(rrc_cell_keep_node(h->heap, ob, new_place(h)) != NULL); break;
        case FAIL:
            own(h, ob, 0, ob);
            h->fail_mirror = 1;
            check_int(rrc_closed_step(h->heap), RRC_ENOMEM);
            break;
        }
        check_int(cycles_until_due(h), 8);
        if (change == FAIL)
            RRC_CLEAR(h->heap, THING(ob)->ref[0]);
        if (change == LEAVE)
            rrc_incref(h->heap, view);
        for (i = 0; i < OTHERS; i++)
            rrc_decref(h->heap, others[i]);
        check(change == UNLINK || p_of(h, view) == p);
        rrc_decref(h->heap, view);
        rrc_decref(h->heap, bare);
        rrc_decref(h->heap, loose);
        rrc_decref(h->heap, ob);
        close_hand(h);
    }
}

/* ... and it finds a death that nobody reports. Others may follow in the next cycles. */
static void due_for_what_only_the_host_holds(void)
{
    enum { OTHERS = 20 };
    rrc_object *others[OTHERS];
    int i;
    hand *h = open_hand();
    rrc_object *view = new_thing(h, &Bare);
    place *p;

    for (i = 0; i < OTHERS; i++)
        link_to(h, others[i] = new_thing(h, &Bare), 1);
    p = link_to(h, view, 1);
    rrc_decref(h->heap, view);
    step(h);
    pass_quiet_cycles(h);
    p->is_dead = 1;
    check_int(cycles_until_due(h), 64);
    step(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    for (i = 0; i < 3; i++)
        check_int(cycles_until_due(h), 1);
    check_int(cycles_until_due(h), 5);
    for (i = 0; i < OTHERS; i++)
        rrc_decref(h->heap, others[i]);
    close_hand(h);
}

/* ---- what finalizers of the host do in a step ---- */

static rrc_object *victim, *restless_owner;
static size_t ran;

static void drop_the_last_reference(hand *h)
{
    rrc_decref(h->heap, victim);
    check_int(h->deallocs, 0);
    ran = rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 0);
}

static void nothing_is_deallocated_in_a_step(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);

    own(h, owner, 0, owner);
    victim = new_thing(h, &Tracked);
    h->in_mirror = drop_the_last_reference;
    ran = 1;
    step(h);
    check_int(ran, 0);
    check_int(h->deallocs, 0);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->deallocs, 1);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

static void resize_the_victim(hand *h)
{
    rrc_gc_untrack(h->heap, victim);
    check_ptr(rrc_gc_resize(h->heap, victim, 1000), NULL);
    expect_log(h, RRC_EPHASE);
}

/* (It may be one of the targets.) */
static void nothing_is_resized_in_a_step(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);

    own(h, owner, 0, owner);
    victim = new_thing(h, &Var);
    h->in_mirror = resize_the_victim;
    step(h);
    check(h->in_mirror == NULL);
    victim = rrc_gc_resize(h->heap, victim, 1000);
    check(victim != NULL);
    rrc_decref(h->heap, victim);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

static int inner_code;

static void step_inside(hand *h)
{
    inner_code = rrc_closed_step(h->heap);
}

/* In rrc_gc_collect, too, when the host's collection is done. */
static void step_in_the_next_is_live(void *userdata)
{
    ((hand *)userdata)->in_is_live = step_inside;
}

static void no_step_begins_in_a_hook_of_a_collection(void)
{
    hand *h = open_with(step_in_the_next_is_live);
    pair t = new_pair(h, &Tracked);

    inner_code = RRC_OK;
    check_int(rrc_gc_collect(h->heap), 0);
    check_int(inner_code, RRC_EPHASE);
#ifdef RRC_DEBUG
    expect_log(h, RRC_EPHASE);
#endif
    check(IS_WEAK(t.x) && IS_WEAK(t.y) && IS_WEAK(t.handle));   /* (steps go on: as they left it) */
    check_int(t.p->anchored, 0);
    h->in_is_live = NULL;
    end_pair(h, &t);
    close_hand(h);
}

static void no_step_begins_in_a_hook(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    int i;

    for (i = 0; i < 3; i++) {
        rrc_object *more = new_thing(h, &Tracked);

        own(h, more, 0, more);
        inner_code = RRC_OK;
        if (i == 0)
            h->in_is_live = step_inside;
        else if (i == 1)
            h->in_pin = step_inside;
        else
            h->in_mirror = step_inside;
        step(h);
        check_int(inner_code, RRC_EPHASE);
#ifdef RRC_DEBUG
        if (i < 2)
            expect_log(h, RRC_EPHASE);  /* no hook but mirror may call anything */
#endif
        rrc_decref(h->heap, more);
    }
    end_pair(h, &t);
    close_hand(h);
}

static void untrack_the_victim(hand *h)
{
    rrc_gc_untrack(h->heap, victim);
}

static rrc_object *taken_view;

static void take_both(hand *h)
{
    rrc_incref(h->heap, victim);
    rrc_incref(h->heap, taken_view);
}

/* What has become weak in this step is taken before it is let go. */
static void a_finalizer_in_a_step_takes_the_living(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);
    place *p;
    int i;

    victim = new_thing(h, &Tracked);
    taken_view = new_thing(h, &Bare);
    p = link_to(h, taken_view, 1);
    own(h, victim, 0, victim);
    give(owner, 0, victim);
    give(owner, 1, taken_view);
    h->in_mirror = take_both;
    for (i = 0; i < 2; i++) {
        step(h);
        check(!IS_WEAK(victim) && !IS_WEAK(taken_view));
        check_int(node(h, victim)->anchored, 1);
        check_int(p->anchored, 1);
    }
    rrc_decref(h->heap, victim);
    rrc_decref(h->heap, taken_view);
    step_makes_weak(h, taken_view, p);
    step_makes_weak(h, victim, node(h, victim));
    rrc_decref(h->heap, owner);
    close_hand(h);
}

static void untrack_if_victim(hand *h, rrc_object *ob)
{
    if (ob == victim)
        rrc_gc_untrack(h->heap, victim);
}

/* A target is untracked before its edge node is made, or while it is. */
static void targets_that_are_untracked(void)
{
    int at, in_new_node;

    for (at = 0; at < 2; at++)
    for (in_new_node = 0; in_new_node < 2; in_new_node++) {
        hand *h = open_hand();
        rrc_object *owner, *other;

        unit_context("at %d, in_new_node %d: ", at, in_new_node);
        victim = new_thing(h, &Tracked);
        other = new_thing(h, &Tracked);
        owner = new_thing(h, &Tracked);         /* the youngest is mirrored first */
        own(h, other, 0, other);
        own(h, victim, 0, victim);
        give(owner, at, victim);
        give(owner, 1 - at, other);
        if (in_new_node)
            h->in_new_node = untrack_if_victim;
        else
            h->in_mirror = untrack_the_victim;
        step(h);
        check(!rrc_gc_is_tracked(h->heap, victim));
        check_ptr(node(h, victim), NULL);
        check(node(h, other) != NULL);
        check_int(edge_nodes(h), 2);
        RRC_CLEAR(h->heap, THING(victim)->ref[0]);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* An object is untracked while its edge node is made, and loses its link. */
static void untrack_and_part_victim(hand *h, rrc_object *ob)
{
    check_ptr(ob, victim);
    rrc_gc_untrack(h->heap, victim);
    traversals = 0;
    part(h, victim);
    check_int(traversals, 0);           /* its fields may be anything by now */
}

static void untracked_objects_are_not_traversed(void)
{
    hand *h = open_hand();

    victim = new_thing(h, &Tracked);
    own(h, victim, 0, victim);
    link_to(h, victim, 1);
    h->in_new_node = untrack_and_part_victim;
    step(h);
    check(!rrc_gc_is_tracked(h->heap, victim) && RRC_LINK(victim) == NULL);
    check_ptr(node(h, victim), NULL);
    check_int(edge_nodes(h), 0);
    RRC_CLEAR(h->heap, THING(victim)->ref[0]);
    rrc_decref(h->heap, victim);
    close_hand(h);
}

/* An object with memory of its own has no words in front of it that belong to the header (except in a layout
   that has the link there). */
#if !HOST_FRONT
static int foreign_deallocs;

static void foreign_dealloc(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    (void)self;
    foreign_deallocs++;
}
#endif

static void steps_write_nothing_in_front_of_others_objects(void)
{
#if !HOST_FRONT
    enum { FRONT = 32 };
    static const rrc_type foreign = { .tp_name = "Foreign", .tp_dealloc = foreign_dealloc };
    struct { uintptr_t front[FRONT]; rrc_object ob; } own;
    hand *h = open_hand();
    place *p;
    int i;

    for (i = 0; i < FRONT; i++)
        own.front[i] = (uintptr_t)i * 0x01010101 + 1;
    own.ob.ob_refcnt = 1;
    own.ob.ob_pypy_link = NULL;
    own.ob.ob_type = &foreign;
    foreign_deallocs = 0;
    p = link_to(h, &own.ob, 1);
    step(h);
    check(!IS_WEAK(&own.ob));
    rrc_decref(h->heap, &own.ob);
    step_makes_weak(h, &own.ob, p);
    p->is_dead = 1;
    step_and_run(h);
    check_int(foreign_deallocs, 1);
    for (i = 0; i < FRONT; i++)
        check(own.front[i] == (uintptr_t)i * 0x01010101 + 1);
    close_hand(h);
#endif
}

/* What is untracked while its anchor is about to be dropped has it until the next step. */
static void views_that_are_untracked_in_a_step(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);
    place *p;

    victim = new_thing(h, &Tracked);
    p = link_to(h, victim, 1);
    give(owner, 0, victim);
    h->in_mirror = untrack_the_victim;
    step(h);
    check(!IS_WEAK(victim));
    check_int(p->anchored, 1);
    step_makes_weak(h, victim, p);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* The host finds an object dead just after it has mirrored it. */
static void die_when_mirrored(hand *h)
{
    node(h, victim)->is_dead = 1;
    report(h, p_of(h, victim));
}

static void dead_when_it_is_mirrored(void)
{
    hand *h = open_hand();
    rrc_object *view = new_thing(h, &Bare);

    victim = new_thing(h, &Tracked);
    link_to(h, victim, 1);
    give(victim, 0, victim);
    step(h);
    check(IS_WEAK(victim));
    link_to(h, view, 1);
    give(victim, 1, view);
    h->after_mirror = die_when_mirrored;
    step(h);
    check_ptr(node(h, victim), NULL);
    step(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    close_hand(h);
}

static void keep_a_node_of_the_victim(hand *h)
{
    check_ptr(rrc_cell_keep_node(h->heap, victim, new_place(h)), NULL);
}

static void no_nodes_for_bare_objects(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);

    victim = new_thing(h, &Bare);
    own(h, owner, 0, owner);
    h->in_mirror = keep_a_node_of_the_victim;
    step(h);
    check(h->in_mirror == NULL);
    check_int(edge_nodes(h), 1);
    rrc_decref(h->heap, owner);
    rrc_decref(h->heap, victim);
    close_hand(h);
}

/* A view whose p dies in the step of rrc_gc_collect, and that tracked objects own from then on. */

static void own_what_has_died(hand *h)
{
    dying->is_dead = 1;
    own(h, restless_owner, 1, victim);
}

static void taken_dead_in_a_collection(void)
{
    hand *h = open_hand();

    restless_owner = new_thing(h, &Tracked);
    victim = new_thing(h, &Bare);
    dying = link_to(h, victim, 1);
    rrc_decref(h->heap, victim);
    own(h, restless_owner, 0, restless_owner);
    h->in_mirror = own_what_has_died;
    check_int(rrc_gc_collect(h->heap), 0);
    check_int(h->logged, 0);
    check_ptr(p_of(h, victim), NULL);
    check_int(RRC_REFCNT(victim), 1);
    rrc_decref(h->heap, restless_owner);
    close_hand(h);
}

/* ---- many links ---- */

/* A finalizer unlinks nearly all that the step has noted, and makes one link: what was
   reserved for many may shrink, but not what the step is using. */
enum { CHILDREN = 30000 };

static rrc_object *children[CHILDREN];
static short child_p[CHILDREN + 1];
static size_t child_count;

static int visit_children(rrc_object *self, rrc_visitproc visit, void *arg)
{
    size_t i;

    (void)self;
    for (i = 0; i < child_count; i++)
        RRC_VISIT(children[i]);
    return 0;
}

static int pin_all(void *userdata, rrc_cell *c, int on)
{
    (void)userdata, (void)c;
    return on;
}

static void *node_of_parent(void *userdata, rrc_object *ob, size_t n)
{
    static short node_of_ob;

    (void)userdata, (void)ob;
    check_int(n, CHILDREN);
    return &node_of_ob;
}

static int may_unlink;

static int unlink_most(void *userdata, rrc_cell *c, rrc_cell *const *targets, size_t n)
{
    rrc_heap *heap = *(rrc_heap **)userdata;
    size_t i;

    check(c->is_node);
    if (!may_unlink)
        return 0;
    may_unlink = 0;
    check_int(n, CHILDREN);
    for (i = 1; i < CHILDREN; i++)
        check_int(rrc_cell_unlink(heap, targets[i]), RRC_OK);
    check_int(rrc_cell_link(heap, &child_p[CHILDREN], children[CHILDREN - 1], RRC_P), RRC_OK);
    check_ptr(targets[0]->object, &child_p[0]);
    for (i = 1; i < CHILDREN; i++)
        check_ptr(targets[i]->object, NULL);
    return 0;
}

static void a_step_keeps_what_it_has_noted(void)
{
    static const rrc_type parent = { .tp_name = "Parent", .tp_basicsize = sizeof(thing),
                                     .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = visit_children };
    rrc_heap *heap = NULL;
    rrc_desc desc;
    rrc_closed_desc closed;
    rrc_object *ob;
    rrc_stats before, after;

    memset(&desc, 0, sizeof desc);
    desc.userdata = &heap;
    memset(&closed, 0, sizeof closed);
    closed.pin = pin_all;
    closed.new_node = node_of_parent;
    closed.write_node = unlink_most;
    closed.join = join_nothing;
    heap = rrc_closed_new(&desc, &closed);
    ob = rrc_gc_new(heap, &parent);
    for (child_count = 0; child_count < CHILDREN; child_count++) {
        children[child_count] = rrc_new(heap, &Bare);
        check(children[child_count] != NULL);
        check_int(rrc_cell_link(heap, &child_p[child_count], children[child_count], RRC_P), RRC_OK);
    }
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    may_unlink = 0;
    check_int(rrc_closed_step(heap), RRC_OK);       /* (this allocates what the next one uses again) */
    check(IS_WEAK(children[0]));
    check_int(rrc_cell_unlink(heap, rrc_cell_of(heap, children[0])), RRC_OK);
    check_int(rrc_cell_link(heap, &child_p[0], children[0], RRC_P), RRC_OK);
    check_int(rrc_get_stats(heap, &before), RRC_OK);
    may_unlink = 1;
    check_int(rrc_closed_step(heap), RRC_OK);
    check_int(may_unlink, 0);
    check_int(rrc_get_stats(heap, &after), RRC_OK);
    check(after.memory < before.memory);    /* what is not needed any more is given back, though the targets are noted */
    check(IS_WEAK(children[0]));
    check_int(rrc_check(heap), RRC_OK);
    rrc_gc_untrack(heap, ob);
    while (child_count > 0)
        rrc_decref(heap, children[--child_count]);
    rrc_decref(heap, ob);
    check_int(rrc_heap_free(heap), 0);
}

/* A ring is garbage, and some of it has been weak for long. C gets hold of one of the ring between any two slices of the
   step that finds it: what stands for that one is rooted, whether the ring waits by then, in part or not. */
static void garbage_is_taken_in_any_slice(void)
{
    enum { LENGTH = 6 };
    int ends = 0, k, i;
    size_t slices;

    for (slices = 1; !ends; slices++)
        for (k = 0; k < LENGTH; k += 2) {
            hand *h = open_hand();
            rrc_object *ring[LENGTH];
            size_t n;

            unit_context("%d slices, ring[%d]", (int)slices, k);
            for (i = 0; i < LENGTH; i++)
                ring[i] = new_thing(h, &Tracked);
            for (i = 1; i < LENGTH; i++)
                give(ring[i - 1], 0, ring[i]);
            own(h, ring[LENGTH - 1], 0, ring[0]);
            step(h);
            check(IS_WEAK(ring[LENGTH - 1]) && !IS_WEAK(ring[0]));
            rrc_decref(h->heap, ring[0]);
            ends = 0;
            for (n = 0; n < slices && !ends; n++)
                ends = rrc_closed_work(h->heap, 1) < 1;
            rrc_incref(h->heap, ring[k]);
            check(!IS_WEAK(ring[k]));
            check_int(node_cell(h, ring[k])->is_pinned, 1);
            check_int(rrc_closed_step(h->heap), RRC_OK);
            check_int(rrc_run_pending(h->heap, 0), 0);
            step(h);
            check_int(h->deallocs, 0);
            check_int(node_cell(h, ring[k])->is_pinned, 1);
            check_int(node_cell(h, ring[(k + 1) % LENGTH])->is_pinned, 0);
            rrc_decref(h->heap, ring[k]);
            step(h);
            rrc_run_pending(h->heap, 0);
            check_int(h->deallocs, LENGTH);
            close_hand(h);
        }
}

/* ---- links that change ---- */

/* The owner waits to be cleared when its child gets another p, and comes back. */
static void a_child_of_what_waits_is_linked_again(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    place *other;

    report(h, t.proxy);
    step(h);                            /* sets x and y aside */
    rrc_incref(h->heap, t.handle);
    part(h, t.handle);
    other = link_to(h, t.handle, 1);
    rrc_decref(h->heap, t.handle);
    step(h);
    rrc_incref(h->heap, t.x);           /* C gets hold of it: it is not cleared */
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 0);
    step(h);
    check(IS_WEAK(t.handle));
    check_int(other->anchored, 0);
    check_ptr(node(h, t.y)->list[1], other);
    rrc_decref(h->heap, t.x);
    step(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 2);
    close_hand(h);
}

/* The bias may come first. Nothing but the edge node stands for an object that had a
   P link until it has one again. */
static void an_old_p_link_is_forgotten(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked);
    int i;

    own(h, ob, 0, ob);
    link_to(h, ob, 1);
    step(h);
    check(node(h, ob) != NULL);
    part(h, ob);
    check_int(node(h, ob)->anchored, 1);
    RRC_REFCNT(ob) += BIAS;
    for (i = 0; i < 2; i++) {
        RRC_CLEAR(h->heap, THING(ob)->ref[0]);
        rrc_decref(h->heap, ob);
        check(IS_WEAK(ob));
        check_int(node(h, ob)->anchored, 0);
        rrc_incref(h->heap, ob);
        check_int(node(h, ob)->anchored, 1);
        own(h, ob, 0, ob);
        if (i == 0) {
            link_to(h, ob, 0);
            check_int(RRC_REFCNT(ob), BIAS + 2);
        }
    }
    rrc_decref(h->heap, ob);
    part(h, ob);
    step(h);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 1);
    close_hand(h);
}

/* What is unlinked is not kept by its anchor. */
static void an_unlinked_p_is_let_go(void)
{
    hand *h = open_hand();
    int tracked;

    for (tracked = 0; tracked < 2; tracked++) {
        rrc_object *ob = new_thing(h, tracked ? &Tracked : &Bare);
        place *p = link_to(h, ob, 1);

        check_int(p->anchored, 1);
        part(h, ob);
        check_int(p->anchored, 0);
        rrc_decref(h->heap, ob);
    }
    close_hand(h);
}

/* ---- misuse ---- */

/* The host says that what is rooted has died. */
static void a_rooted_p_that_dies(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Bare);
    place *p = link_to(h, ob, 1);

    step(h);
    check_int(p->anchored, 1);
    p->is_dead = 1;
    check_int(rrc_closed_step(h->heap), RRC_OK);
#ifdef RRC_DEBUG
    expect_log(h, RRC_EHOOK);
#endif
    check_ptr(p_of(h, ob), NULL);
    check_int(RRC_REFCNT(ob), 1);
    rrc_decref(h->heap, ob);
    close_hand(h);
}

/* Nor may a step begin where user code of the header's runs. */
static int in_walk(rrc_object *ob, void *arg)
{
    hand *h = (hand *)arg;

    (void)ob;
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_closed_step(h->heap), RRC_EPHASE);
    check_int(rrc_gc_collect(h->heap), 0);
    check(rrc_heap_free(h->heap) == SIZE_MAX);
    expect_log(h, RRC_EPHASE);
    return 1;
}

static void in_a_slot(hand *h, rrc_object *self, const char *slot)
{
    (void)slot;
    in_walk(self, h);
}

static void no_step_in_deallocs_and_walks(void)
{
    hand *h = open_with(NULL);
    rrc_object *ob = new_thing(h, &Final);

    rrc_gc_visit_objects(h->heap, in_walk, h);
    own(h, ob, 0, ob);
    h->in_slot = in_a_slot;
    rrc_decref(h->heap, ob);
    check_int(rrc_gc_collect(h->heap), 1);          /* its finalizer, then itself */
    check_int(h->finalized, 1);
    rrc_decref(h->heap, new_thing(h, &Final));
    check_int(h->deallocs, 2);
    close_hand(h);
}

/* The first edge node of an object that owns nothing is one of the host's. */
static void a_first_node_of_the_hosts(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked);
    place *s = new_place(h);

    check(rrc_cell_keep_node(h->heap, ob, s) != NULL);
    check_ptr(node(h, ob), s);
    check_int(s->anchored, 1);
    step(h);
    step(h);
    check_ptr(node(h, ob), s);
    rrc_decref(h->heap, ob);
    check_int(h->forgotten, 1);
    close_hand(h);
}

/* C has only borrowed a weak object whose edge node has died. It gets a new one outside a step: it is strong until the
   next one. */
static void a_new_node_outside_a_step(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    place *s = new_place(h);

    node(h, t.y)->is_dead = 1;
    check_ptr(place_of(rrc_cell_keep_node(h->heap, t.y, s)), s);
    check(!IS_WEAK(t.y) && !IS_WEAK(t.handle));
    check_int(s->anchored, 1);
    check_int(t.p->anchored, 1);
    step(h);
    check(IS_WEAK(t.y));
    check_int(s->anchored, 0);
    check_ptr(s->list[1], t.p);
    check_int(t.p->anchored, 0);
    end_pair(h, &t);
    close_hand(h);
}

/* The host tells of a node that the object has, or of one for what is linked: nothing else
   changes. The owners of what has nothing but a node of the host's list that. */
static void nodes_of_the_hosts_are_listed(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *ob = new_thing(h, &Tracked), *view = new_thing(h, &Tracked);
    place *s = new_place(h), *p = link_to(h, view, 1);
    int i;

    check(rrc_cell_keep_node(h->heap, ob, s) != NULL);
    give(owner, 0, ob);
    give(owner, 1, view);
    for (i = 0; i < 2; i++) {
        step_makes_weak(h, ob, s);
        check_ptr(node(h, owner)->list[0], s);
        check_int(h->mirrors, 1);
        check_ptr(rrc_cell_keep_node(h->heap, ob, NULL), s->cell);
        check(IS_WEAK(ob));
        check_int(s->anchored, 0);
        check_int(edge_nodes(h), 2);
    }
    s = new_place(h);
    check(rrc_cell_keep_node(h->heap, view, s) != NULL);
    check_ptr(node(h, view), s);
    check_ptr(p->node, s);
    check(IS_WEAK(view));
    check_int(p->anchored, 0);
    check_int(edge_nodes(h), 3);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* In the middle of a step, while another object's node is made: the host keeps things of its own
   in the node that the victim has, or in a first one. */
static place *victims_node;

static void keep_node_of_victim(hand *h)
{
    check_ptr(place_of(rrc_cell_keep_node(h->heap, victim, victims_node)), victims_node);
}

static void a_node_is_kept_in_a_step(void)
{
    int is_first;

    for (is_first = 0; is_first < 2; is_first++) {
        hand *h = open_hand();
        rrc_object *owner = new_thing(h, &Tracked), *changed = new_thing(h, &Tracked);

        victim = new_thing(h, &Tracked);
        give(owner, 0, victim);
        if (!is_first)
            own(h, victim, 0, victim);
        step(h);
        victims_node = is_first ? new_place(h) : node(h, victim);
        own(h, changed, 0, changed);
        h->in_mirror = keep_node_of_victim;
        check_int(IS_WEAK(victim), !is_first);
        step(h);
        check(h->in_mirror == NULL);
        check(rrc_closed_is_due(h->heap) || !is_first);
        RRC_CLEAR(h->heap, THING(victim)->ref[0]);
        step_makes_weak(h, victim, victims_node);
        step(h);
        check_ptr(node(h, victim), victims_node);
        check_ptr(node(h, owner)->list[0], victims_node);
        check_int(h->forgotten, 0);
        check_int(edge_nodes(h), 3);
        RRC_CLEAR(h->heap, THING(changed)->ref[0]);
        rrc_decref(h->heap, changed);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* The same while the node of the object itself is made, which is not needed then, or written. */
static void a_node_is_kept_in_its_own_hook(void)
{
    int is_first;

    for (is_first = 0; is_first < 2; is_first++) {
        hand *h = open_hand();

        victim = new_thing(h, &Tracked);
        own(h, victim, 0, victim);
        if (!is_first)
            step(h);
        victims_node = is_first ? new_place(h) : node(h, victim);
        own(h, victim, 1, victim);
        h->in_mirror = keep_node_of_victim;
        step(h);
        check(h->in_mirror == NULL);
        check_int(h->watched, 1);
        check_int(victims_node->list_count, 2);
        RRC_CLEAR(h->heap, THING(victim)->ref[0]);
        RRC_CLEAR(h->heap, THING(victim)->ref[1]);
        step(h);
        step(h);
        check_ptr(node(h, victim), victims_node);
        check_int(h->forgotten, 0);
        rrc_decref(h->heap, victim);
        close_hand(h);
    }
}

/* Garbage with such a node comes back, and owns nothing any more. */
static void come_back(hand *h, rrc_object *self, const char *slot)
{
    if (strcmp(slot, "tp_finalize") != 0)
        return;
    rrc_incref(h->heap, self);
    RRC_CLEAR(h->heap, THING(self)->ref[0]);
}

static void a_node_of_the_hosts_comes_back(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Final);
    place *s = new_place(h);

    check(rrc_cell_keep_node(h->heap, ob, s) != NULL);
    give(ob, 0, ob);
    h->in_slot = come_back;
    step_and_run(h);
    check_int(h->finalized, 1);
    step(h);
    check_ptr(node(h, ob), s);
    check_int(h->forgotten, 0);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    close_hand(h);
}

/* In a heap that makes no step but in rrc_gc_collect: what C holds is strong, what tracked
   objects own stays weak, and rrc_check finds a reference that was not taken by rrc_incref. */
static void collections_alone_root_what_c_holds(void)
{
    hand *h = open_hand();
    rrc_object *ob[5];
    place *p[5];
    int i, round;

    for (i = 0; i < 5; i++) {
        ob[i] = new_thing(h, i % 2 ? &Tracked : &Bare);
        p[i] = link_to(h, ob[i], 1);
        if (i == 4)
            own(h, ob[1], 0, ob[i]);
        if (i >= 2)
            rrc_decref(h->heap, ob[i]);
    }
    for (round = 0; round < 2; round++) {
        check_int(rrc_gc_collect(h->heap), 0);
        for (i = 0; i < 5; i++) {
            check_int(IS_WEAK(ob[i]) != 0, i >= 2);
            check_int(p[i]->anchored, i < 2);
        }
    }
    RRC_REFCNT(ob[4])++;
    check_int(rrc_check(h->heap), RRC_ETOUCH);
    expect_log(h, RRC_ETOUCH);
    RRC_REFCNT(ob[4])--;
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_decref(h->heap, ob[0]);
    rrc_decref(h->heap, ob[1]);
    close_hand(h);
}

/* To the header they are one. */
static void a_host_with_generations(void)
{
    hand *h;
    rrc_object *ob;
    place *p;

    with_generations = 1;
    h = open_hand();
    ob = new_thing(h, &Bare);
    p = link_to(h, ob, 1);
    rrc_decref(h->heap, ob);
    step(h);
    check_ptr(p_of(h, ob), p);
    check_int(rrc_check(h->heap), RRC_OK);
    p->is_dead = 1;
    step(h);
    check_ptr(p_of(h, ob), NULL);
    check_int(rrc_run_pending(h->heap, 0), 1);
    with_generations = 0;
    close_hand(h);
}

/* ---- the end of a heap ---- */

static void nodes_are_gone(hand *h, rrc_object *self, const char *slot)
{
    if (strcmp(slot, "tp_finalize") != 0)
        return;
    check_int(edge_nodes(h), 0);
    check(rrc_gc_is_tracked(h->heap, self));
    check_ptr(node_cell(h, self), NULL);
}

/* No edge node is made or written any more, and nothing stands for what is left. */
static void hooks_end_with_the_heap(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *final = new_thing(h, &Final), *ring[2];
    rrc_stats stats;
    int i, mirrors, emptied;

    own(h, ob, 0, ob);
    link_to(h, ob, 0);
    own(h, final, 0, final);
    for (i = 0; i < 2; i++)
        ring[i] = new_thing(h, &Tracked);
    for (i = 0; i < 2; i++)
        own(h, ring[i], 0, ring[1 - i]);
    step(h);
    check_int(edge_nodes(h), 4);
    check_int(rrc_get_stats(h->heap, &stats), RRC_OK);
    check_int(stats.finalizable, 1);
    rrc_decref(h->heap, final);
    h->in_slot = nodes_are_gone;
    for (i = 0; i < 2; i++)
        rrc_decref(h->heap, ring[i]);
    rrc_gc_untrack(h->heap, final);         /* C alone will not find it */
    check_int(rrc_gc_track(h->heap, final), RRC_OK);
    rrc_incref(h->heap, final);
    step(h);
    rrc_decref(h->heap, final);
    check_int(rrc_run_pending(h->heap, 1), 1);      /* half of the ring is cleared */
    check_int(h->deallocs, 0);
    mirrors = h->mirrors;
    emptied = h->emptied;
    h->is_ending = 1;
    check_int(rrc_heap_free(h->heap), 1);
    check_int(h->mirrors, mirrors);
    check_int(h->emptied, emptied);
    check_int(h->cells_forgotten, h->watched);
    for (i = 0; i < h->used; i++)
        check(h->places[i].cell == NULL && !h->places[i].anchored);
    check_int(h->finalized, 1);
    check_int(h->deallocs, 3);
    check_ptr(node_cell(h, ob), NULL);
    check_int(h->logged, 0);
    h->in_slot = NULL;
    RRC_CLEAR(h->heap, THING(ob)->ref[0]);
    rrc_decref(h->heap, ob);
    check_int(h->bytes, 0);
    free(h);
}

/* Links whose bias somebody has taken off: nothing is lost by a step. */
static void links_without_a_bias(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *a = new_thing(h, &Tracked), *b = new_thing(h, &Tracked);
    int i;

    own(h, a, 0, a);
    own(h, owner, 0, a);
    own(h, owner, 1, b);
    step(h);
    for (i = 0; i < 2; i++)
        link_without_bias(h, i ? b : a);
    rrc_gc_untrack(h->heap, b);
    RRC_CLEAR(h->heap, THING(a)->ref[0]);
    check_int(rrc_closed_step(h->heap), RRC_OK);
    h->logged = 0;
    RRC_REFCNT(a) += BIAS;
    RRC_REFCNT(b) += BIAS;
    step(h);
    rrc_decref(h->heap, a);
    rrc_decref(h->heap, b);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* A view without the bias loses its link: that there was one is not remembered by a step. */
static void unlinked_without_a_bias(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *owner = new_thing(h, &Tracked);

    link_without_bias(h, ob);
    part(h, ob);
    expect_log(h, RRC_EREFCNT);
    check_ptr(p_of(h, ob), NULL);
    check_ptr(rrc_cell_of(h->heap, ob), NULL);
    own(h, owner, 0, ob);
    step(h);
    check(!IS_WEAK(ob));
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* Without tracked objects a step only looks at P links. */
static void only_links(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Bare);
    place *p = link_to(h, ob, 1);

    RRC_REFCNT(ob)--;                   /* handed over to p */
    check_int(p->anchored, 1);
    step(h);
    check(IS_WEAK(ob));
    check_int(p->anchored, 0);
    close_hand(h);
}

static void untracked_while_it_is_mirrored(void)
{
    hand *h = open_hand();
    rrc_object *view = new_thing(h, &Bare);
    int i;

    link_to(h, view, 1);
    for (i = 0; i < 2; i++) {
        victim = new_thing(h, &Tracked);
        own(h, victim, 0, i ? view : victim);
        h->in_mirror = untrack_the_victim;
        step(h);
        check_int(edge_nodes(h), 0);
        RRC_CLEAR(h->heap, THING(victim)->ref[0]);
        rrc_decref(h->heap, victim);
    }
    rrc_decref(h->heap, view);
    close_hand(h);
}

/* Weak or not, an object that is light goes with its p. */
static void light_objects_are_weak_too(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Bare);
    place *p = link_kind(h, ob, RRC_P | RRC_LIGHT);

    check_int(p->anchored, 1);
    rrc_decref(h->heap, ob);
    check(IS_WEAK(ob));
    check_int(p->anchored, 0);
    p->is_dead = 1;
    step_and_run(h);
    close_hand(h);
}

/* While a step mirrors, a finalizer of the host finds one p dead, and asks for that of an object whose
   anchor still stands, as no edge node lists it yet: it lives on. */
static rrc_object *asked_for, *whose_p_is_dead;
static place *dead_place;

static void ask_in_the_step(hand *h)
{
    dead_place->is_dead = 1;
    rrc_incref(h->heap, whose_p_is_dead);
    check(p_of(h, asked_for) != NULL);
    check_int(p_of(h, asked_for)->anchored, 1);
}

static void asked_for_in_a_step(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);
    place *p;

    whose_p_is_dead = new_thing(h, &Bare);
    dead_place = link_to(h, whose_p_is_dead, 1);
    rrc_decref(h->heap, whose_p_is_dead);
    asked_for = new_thing(h, &Bare);
    p = link_to(h, asked_for, 1);
    give(owner, 0, asked_for);
    h->in_mirror = ask_in_the_step;
    step(h);
    check(p->anchored || node(h, owner)->list_count == 1);
    check_ptr(p_of(h, asked_for), p);
    step(h);
    check_ptr(p_of(h, asked_for), p);
    rrc_decref(h->heap, owner);
    rrc_decref(h->heap, whose_p_is_dead);
    p->is_dead = 1;
    step_and_run(h);
    close_hand(h);
}

/* A light object whose p has died gets a new link before a step has told: it is not freed meanwhile. */
static void a_light_object_is_linked_anew(void)
{
    hand *h = open_hand();
    rrc_object *light = new_thing(h, &Bare), *other = new_thing(h, &Bare);
    place *p = link_kind(h, light, RRC_P | RRC_LIGHT | RRC_GIVE), *q = link_kind(h, other, RRC_P | RRC_GIVE), *next;

    p->is_dead = q->is_dead = 1;
    rrc_incref(h->heap, other);                 /* from now on it is known that some p have died */
    check_ptr(p_of(h, light), NULL);
    next = link_kind(h, light, RRC_P | RRC_LIGHT);
    check_ptr(p_of(h, light), next);
    step_and_run(h);
    check_ptr(p_of(h, light), next);
    rrc_decref(h->heap, other);
    next->is_dead = 1;
    step_and_run(h);
    close_hand(h);
}

/* The host has found p dead, and no step has been made since: its memory may be that of another object by now, so
   that its slot must not be asked for. */
static void slots_of_the_dead(void)
{
    enum { INCREF, CHECK, REPORT, ASK, RELINK, WAYS };
    int way;

    with_slots = 1;
    for (way = 0; way < WAYS; way++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, &Bare);
        place *p = link_to(h, ob, 1);

        unit_context("way %d", way);
        check_ptr(rrc_from_obj(h->heap, p->cell), ob);
        rrc_decref(h->heap, ob);
        step(h);
        p->is_dead = 1;
        if (way == INCREF || way == RELINK)
            rrc_incref(h->heap, ob);
        else if (way == CHECK)
            check_int(rrc_check(h->heap), RRC_OK);
        else if (way == REPORT)
            report(h, p);
        else
            check_ptr(rrc_cell_of(h->heap, ob), NULL);
        if (way == RELINK)
            link_to(h, ob, 1);
        step(h);
        if (way == INCREF || way == RELINK)
            rrc_decref(h->heap, ob);
        rrc_run_pending(h->heap, 0);
        close_hand(h);
    }
    with_slots = 0;
}

/* The count of a static object looks linked; and so does one whose bias comes before the link. */
static void nothing_stands_for_what_is_to_be_linked(void)
{
#if !HOST_FRONT
    static thing fixed = { RRC_OBJECT_HEAD_INIT(&Bare), { NULL } };

    for (with_slots = 0; with_slots < 2; with_slots++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, &Bare);
        place *p;

        check_ptr(rrc_cell_of(h->heap, &fixed.head), NULL);
        RRC_REFCNT(ob) += BIAS;
        check_ptr(rrc_cell_of(h->heap, ob), NULL);
        rrc_decref(h->heap, ob);
        check(!IS_WEAK(ob));
        p = link_to(h, ob, 1);
        check_int(RRC_REFCNT(ob), BIAS);
        check_ptr(rrc_cell_of(h->heap, ob), p->cell);
        check_int(p->anchored, 1);
        step_makes_weak(h, ob, p);
        close_hand(h);
    }
    with_slots = 0;
#endif
}

/* Static objects: as children, as views, and in walks. */
#if !HOST_FRONT
static int visit_type_too(rrc_object *self, rrc_visitproc visit, void *arg)
{
    thing_traverse(self, visit, arg);
    RRC_VISIT((rrc_object *)(uintptr_t)RRC_TYPE(self));
    return 0;
}

/* A type made at run time, held once. */
static rrc_object *new_heap_type(hand *h, const rrc_type *like)
{
    rrc_object *ob = rrc_new(h->heap, &Metatype), head;

    check(ob != NULL);
    head = *ob;
    *(rrc_type *)(void *)ob = *like;
    *ob = head;
    ((rrc_type *)(void *)ob)->tp_flags |= RRC_TPFLAGS_HEAPTYPE;
    if (like->tp_traverse != NULL)
        ((rrc_type *)(void *)ob)->tp_traverse = visit_type_too;
    return ob;
}
#endif

static void static_objects_are_no_children(void)
{
#if !HOST_FRONT
    static thing fixed = { RRC_OBJECT_HEAD_INIT(&Bare), { NULL } };
    static rrc_type heap_type;
    rrc_object *permanent = &fixed.head;
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *instance;
    place *p = link_to(h, permanent, 1);

    give(ob, 0, permanent);
    step(h);
    check_ptr(node(h, ob), NULL);
    check_int(p->anchored, 1);
    heap_type = Tracked;
    heap_type.tp_flags |= RRC_TPFLAGS_HEAPTYPE;
    heap_type.ob_base.ob_refcnt = 1;
    heap_type.ob_base.ob_type = &StaticMetatype;
    instance = new_thing(h, &heap_type);
    own(h, instance, 0, instance);
    give(ob, 1, instance);
    step(h);
    check_int(node(h, ob)->list_count, 1);
    check_int(node(h, instance)->list_count, 1);        /* its type is not listed */
    part(h, permanent);
    rrc_gc_untrack(h->heap, instance);
    RRC_CLEAR(h->heap, THING(instance)->ref[0]);
    rrc_decref(h->heap, ob);
    check_int(heap_type.ob_base.ob_refcnt, 1);
    close_hand(h);
#endif
}

/* A weak type gets an instance, and later has no other owner than one that goes. */
typedef struct made_type {
    rrc_type    is;
    rrc_object *owned;
} made_type;

#if !HOST_FRONT
/* What the type owns is whole until its dealloc has run. */
static void made_type_dealloc(rrc_heap *heap, rrc_object *self)
{
    rrc_object *owned = ((made_type *)(void *)self)->owned;

    check_int(node(HAND(heap), self)->anchored, 1);
    rrc_decref(heap, owned);
    rrc_gc_del(heap, self);
}
#endif

static void a_weak_type_has_instances(void)
{
#if !HOST_FRONT
    static const rrc_member members[] = { { "owned", offsetof(made_type, owned) }, { NULL, 0 } };
    static const rrc_type type_type = { .tp_name = "type", .tp_basicsize = sizeof(made_type),
                                        .tp_dealloc = made_type_dealloc,
                                        .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = members };
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *type = new_thing(h, &type_type), *instance, head = *type;
    place *p;

    *(rrc_type *)(void *)type = Tracked;
    *type = head;
    ((rrc_type *)(void *)type)->tp_flags |= RRC_TPFLAGS_HEAPTYPE;
    ((rrc_type *)(void *)type)->tp_traverse = visit_type_too;
    ((made_type *)(void *)type)->owned = new_thing(h, &Tracked);
    p = link_to(h, ((made_type *)(void *)type)->owned, 1);
    give(owner, 0, type);
    step(h);
    check(IS_WEAK(type));
    instance = rrc_gc_new(h->heap, (const rrc_type *)(const void *)type);
    check(!IS_WEAK(type));
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_gc_track(h->heap, instance), RRC_OK);
    RRC_CLEAR(h->heap, THING(owner)->ref[0]);
    step(h);
    check(IS_WEAK(type));
    check_int(p->anchored, 0);
    rrc_decref(h->heap, instance);
    check_int(h->deallocs, 1);
    step(h);
    p->is_dead = 1;
    step(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 2);
    rrc_decref(h->heap, owner);
    close_hand(h);
#endif
}

/* Whom a walk shows is held meanwhile. */
static int check_it(rrc_object *ob, void *arg)
{
    check(!IS_WEAK(ob));
    check_int(rrc_check(((hand *)arg)->heap), RRC_OK);
    return 1;
}

static void walks_show_weak_objects(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *owned = new_thing(h, &Tracked);

    give(owner, 0, owned);
    own(h, owned, 0, owner);
    step(h);
    check(IS_WEAK(owned));
    rrc_gc_visit_objects(h->heap, check_it, h);
    step(h);
    check(IS_WEAK(owned));
    RRC_CLEAR(h->heap, THING(owned)->ref[0]);
    rrc_decref(h->heap, owner);
    check_int(h->deallocs, 2);
    close_hand(h);
}

/* What is tracked is a change, and so is a finalizer that has run, as now its object can go. */
static void a_step_is_due_for_tracked_objects(void)
{
    enum { MANY = 20 };
    hand *h = open_hand();
    rrc_object *obs[MANY + 1], *ob;
    int i;

    step(h);
    check_int(rrc_closed_is_due(h->heap), 0);
    for (i = 0; i < MANY; i++)
        obs[i] = new_thing(h, &Tracked);
    check_int(rrc_closed_is_due(h->heap), 1);
    step(h);
    obs[MANY] = new_thing(h, &Tracked);
    check_int(rrc_closed_is_due(h->heap), 0);           /* one is not much */
    ob = new_thing(h, &Final);
    give(ob, 0, ob);
    step(h);
    step(h);
    check_int(rrc_closed_is_due(h->heap), 0);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->finalized, 1);
    check_int(cycles_until_due(h), 8);
    step(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    for (i = 0; i <= MANY; i++)
        rrc_decref(h->heap, obs[i]);
    close_hand(h);
}

/* A count that has dropped below 0 is wrong. */
#ifdef RRC_DEBUG
static void trace_nothing(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }
static rrc_gcref always_there(void *userdata, rrc_gcref p) { (void)userdata; return p; }

static void a_negative_count_elsewhere(void)
{
    static const intptr_t counts[] = { -1, -2 };
    hand *h = (hand *)calloc(1, sizeof *h);
    rrc_desc desc;
    rrc_object *ob;
    int i;

    check(h != NULL);
    memset(&desc, 0, sizeof desc);
    desc.userdata = h;
    desc.survivor = always_there;
    desc.trace = trace_nothing;
    desc.log = write_log;
    h->heap = rrc_heap_new(&desc);
    ob = new_thing(h, &Bare);
    for (i = 0; i < 2; i++) {
        RRC_REFCNT(ob) = counts[i];
        rrc_incref(h->heap, ob);
        expect_log(h, RRC_EREFCNT);
        check_int(RRC_REFCNT(ob), counts[i]);
    }
    RRC_REFCNT(ob) = 1;
    rrc_decref(h->heap, ob);
    close_hand(h);
}
#else
static void a_negative_count_elsewhere(void)
{
    /* Only debug builds look at counts. */
}
#endif

/* The type of an instance is one of what that owns. */
static void heap_types_are_children(void)
{
#if !HOST_FRONT
    int visits;

    for (visits = 0; visits < 2; visits++) {
        hand *h = open_hand();
        rrc_object *type_ob = new_heap_type(h, &Tracked), *instance;
        rrc_type *type = (rrc_type *)(void *)type_ob;
        place *p = link_to(h, type_ob, 1);

        if (!visits)
            type->tp_traverse = thing_traverse;
        instance = new_thing(h, type);
        own(h, instance, 0, instance);
        rrc_decref(h->heap, type_ob);
        if (!visits) {                  /* then the reference counts as held from outside */
            step(h);
            check(!IS_WEAK(type_ob));
            type->tp_traverse = visit_type_too;
        }
        step_makes_weak(h, type_ob, p);
        check_int(node(h, instance)->list_count, 2);
        check_ptr(node(h, instance)->list[1], p);
        rrc_gc_untrack(h->heap, instance);
        check(!IS_WEAK(type_ob));
        check_int(p->anchored, 1);
        check_int(rrc_gc_track(h->heap, instance), RRC_OK);
        step_makes_weak(h, type_ob, p);
        rrc_incref(h->heap, type_ob);
        RRC_CLEAR(h->heap, THING(instance)->ref[0]);
        rrc_decref(h->heap, instance);
        part(h, type_ob);
        check_int(RRC_REFCNT(type_ob), 1);
        rrc_decref(h->heap, type_ob);
        close_hand(h);
    }
#endif
}

/* Objects with memory of their own: each reference to one holds it, also that of a tracked object. */
static void objects_with_memory_of_their_own(void)
{
#if !HOST_FRONT
    static rrc_object own_p, own_o;
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked);
    place *p, *q;

    own_p.ob_refcnt = own_o.ob_refcnt = 1;
    own_p.ob_type = own_o.ob_type = &StaticMetatype;
    p = link_to(h, &own_p, 1);
    q = link_to(h, &own_o, 0);
    give(owner, 0, &own_p);
    give(owner, 1, &own_o);
    step(h);
    check(!IS_WEAK(&own_p));
    check_int(p->anchored, 1);
    check_int(q->anchored, 0);
    check_int(node(h, owner)->list_count, 1);
    check_int(rrc_check(h->heap), RRC_OK);
    RRC_CLEAR(h->heap, THING(owner)->ref[0]);
    check(IS_WEAK(&own_p));
    check_int(p->anchored, 0);
    RRC_CLEAR(h->heap, THING(owner)->ref[1]);
    step(h);
    p->is_dead = 1;
    report(h, q);
    step(h);
    check_int(rrc_run_pending(h->heap, 0), 2);
    rrc_decref(h->heap, owner);
    close_hand(h);
#endif
}

/* References that the header drops, or stops to look after: of the queue, of the last instance to its type. */
static void a_step_is_due_for_what_the_header_drops(void)
{
    enum { QUEUE, TYPE, KINDS };
    int kind;

    for (kind = 0; kind < KINDS; kind++) {
        hand *h = open_hand();
        rrc_object *ob, *other = NULL;
        place *p;

        if (kind == TYPE) {
#if HOST_FRONT
            close_hand(h);
            continue;
#else
            ob = new_heap_type(h, &Bare);
            other = rrc_new(h->heap, (const rrc_type *)(const void *)ob);
            check(other != NULL);
            p = link_to(h, ob, 1);
            rrc_decref(h->heap, ob);
#endif
        } else {
            ob = new_thing(h, &Bare);
            link_to(h, ob, 1);
            rrc_decref(h->heap, ob);
            step(h);
            part(h, ob);
            p = link_to(h, ob, 1);
        }
        step(h);
        step(h);
        check_int(p->anchored, 1);
        pass_quiet_cycles(h);
        if (kind == TYPE)
            rrc_decref(h->heap, other);
        else
            rrc_run_pending(h->heap, 0);
        check(cycles_until_due(h) <= 8);
        step_makes_weak(h, ob, p);
        if (kind == TYPE) {
            rrc_incref(h->heap, ob);
            part(h, ob);
            check_int(RRC_REFCNT(ob), 1);
            rrc_decref(h->heap, ob);
        } else {
            p->is_dead = 1;
            step(h);
            rrc_run_pending(h->heap, 0);
        }
        close_hand(h);
    }
}

/* ---- references taken and dropped in hooks of a step ---- */

static rrc_object *in_question;

static void take_it(hand *h) { rrc_incref(h->heap, in_question); }
static void drop_it(hand *h) { rrc_decref(h->heap, in_question); }

/* The hook may take what the weighing has passed, or has not. */
static void taken_in_the_log_hook_of_a_step(void)
{
    enum { VIEWS = 3 };
    int i, k;

    for (i = 0; i < VIEWS; i++) {
        hand *h = open_hand();
        rrc_object *owner = new_thing(h, &Tracked), *wrong = new_thing(h, &Tracked), *views[VIEWS];
        place *p[VIEWS];

        unit_context("view %d", i);
        for (k = 0; k < VIEWS; k++) {
            views[k] = new_thing(h, &Bare);
            p[k] = link_to(h, views[k], 1);
            give(owner, k, views[k]);
        }
        step_makes_weak(h, views[i], p[i]);
        in_question = views[i];
        own(h, wrong, 0, views[1]);
        THING(wrong)->ref[1] = views[1];        /* visited twice, and owned once */
        h->in_log = take_it;
        check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
        expect_log(h, RRC_ETRAVERSE);
        THING(wrong)->ref[1] = NULL;
        check(h->in_log == NULL);
        check(!IS_WEAK(views[i]));
        check_int(p[i]->anchored, 1);
        rrc_decref(h->heap, views[i]);
        step_makes_weak(h, views[i], p[i]);
        rrc_decref(h->heap, wrong);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* What is tracked has no side: it is dealt with at once. */
static void a_tracked_object_is_taken_in_a_hook(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *wrong = new_thing(h, &Tracked), *ob = new_thing(h, &Tracked);
    rrc_object *view = new_thing(h, &Bare);
    place *p = link_to(h, ob, 1);

    link_to(h, view, 1);
    give(owner, 0, ob);
    give(wrong, 0, view);
    step_makes_weak(h, ob, p);
    THING(wrong)->ref[1] = view;        /* visited twice, and owned once */
    in_question = ob;
    h->in_log = take_it;
    check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
    expect_log(h, RRC_ETRAVERSE);
    THING(wrong)->ref[1] = NULL;
    check(!IS_WEAK(ob));
    check_int(p->anchored, 1);
    rrc_decref(h->heap, ob);
    step_makes_weak(h, ob, p);
    rrc_decref(h->heap, wrong);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* In the log hook of a step C takes a reference to what the host is about to find dead, and asks for the p
   of another weak object. */
static rrc_object *to_be_taken, *to_be_asked;
static place *to_be_told;

static void take_it_and_ask(hand *h)
{
    rrc_incref(h->heap, to_be_taken);
    check_ptr(p_of(h, to_be_asked), to_be_told);
}

static void p_is_asked_for_in_a_step(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *wrong = new_thing(h, &Tracked), *view = new_thing(h, &Bare);
    rrc_object *ob = new_thing(h, &Tracked), *lost = new_thing(h, &Tracked);
    place *p = link_to(h, ob, 1), *gone = link_to(h, lost, 1);

    link_to(h, view, 1);
    give(owner, 0, ob);
    give(owner, 1, lost);
    give(wrong, 0, view);
    step(h);
    check(IS_WEAK(ob) && IS_WEAK(lost));
    THING(wrong)->ref[1] = view;        /* visited twice, and owned once */
    gone->cannot_be_rooted = 1;
    to_be_taken = lost;
    to_be_asked = ob;
    to_be_told = p;
    h->in_log = take_it_and_ask;
    check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
    expect_log(h, RRC_ETRAVERSE);
    check(h->in_log == NULL);
    THING(wrong)->ref[1] = NULL;
    gone->cannot_be_rooted = 0;
    gone->is_dead = 1;
    step(h);
    check_ptr(p_of(h, lost), NULL);
    rrc_decref(h->heap, lost);
    rrc_decref(h->heap, wrong);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

static void dropped_in_the_log_hook_of_a_step(void)
{
    hand *h = open_hand();
    rrc_object *wrong = new_thing(h, &Tracked), *view = new_thing(h, &Bare), *ob = new_thing(h, &Bare);
    place *p;

    link_to(h, view, 1);
    p = link_to(h, ob, 1);
    step(h);
    give(wrong, 0, view);
    THING(wrong)->ref[1] = view;        /* visited twice, and owned once */
    in_question = ob;
    h->in_log = drop_it;
    check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
    expect_log(h, RRC_ETRAVERSE);
    check_int(RRC_REFCNT(ob) & INTPTR_MAX, BIAS);
    THING(wrong)->ref[1] = NULL;
    check_int(rrc_closed_is_due(h->heap), 1);
    step_makes_weak(h, ob, p);
    rrc_decref(h->heap, wrong);
    close_hand(h);
}

static void nodes_are_for_tracked_objects(void)
{
    hand *h = open_hand();
    rrc_object *bare = new_thing(h, &Bare), *ob = new_thing(h, &Tracked);
    place *s = new_place(h);

    check_ptr(rrc_cell_keep_node(h->heap, NULL, s), NULL);
    check_ptr(rrc_cell_keep_node(h->heap, ob, NULL), NULL);
    check_ptr(rrc_cell_keep_node(h->heap, bare, s), NULL);
    rrc_gc_untrack(h->heap, ob);
    check_ptr(rrc_cell_keep_node(h->heap, ob, s), NULL);
    check_int(h->logged, 0);
    check_int(h->watched, 0);
    check_ptr(node_cell(h, NULL), NULL);
    check_ptr(node_cell(h, bare), NULL);
    check_ptr(node_cell(h, ob), NULL);
    check_int(rrc_closed_is_due(NULL), 0);
    check_int(rrc_closed_step(NULL), RRC_ENULL);
    check_int(rrc_gc_collect(NULL), 0);
    rrc_decref(h->heap, bare);
    rrc_decref(h->heap, ob);
    close_hand(h);
}

/* An object that owns many: the list of targets grows while it is written. */
enum { MANY_TARGETS = 150 };

typedef struct crowd {
    thing      base;
    rrc_object *ref[MANY_TARGETS];
} crowd;

static int crowd_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int i;

    for (i = 0; i < MANY_TARGETS; i++)
        RRC_VISIT(((crowd *)(void *)self)->ref[i]);
    return 0;
}

static void many_targets(void)
{
    static const rrc_type type = {
        .tp_name = "crowd", .tp_basicsize = sizeof(crowd), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = thing_dealloc, .tp_traverse = crowd_traverse, .tp_clear = thing_clear,
    };
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &type);
    rrc_object **ref = ((crowd *)(void *)ob)->ref;
    int i;

    for (i = 0; i < MANY_TARGETS; i++) {
        ref[i] = new_thing(h, &Bare);
        link_to(h, ref[i], 1);
    }
    h->expected = ref;
    h->expected_count = MANY_TARGETS;
    step(h);
    check_ptr(h->expected, NULL);
    for (i = 0; i < MANY_TARGETS; i++)
        RRC_CLEAR(h->heap, ref[i]);
    rrc_decref(h->heap, ob);
    close_hand(h);
}

/* Where all objects have links, no step looks for garbage of C alone; but for what such a
   search found before. */
static void uncollectable_till_it_is_linked(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Stubborn);
    place *p;

    give(ob, 0, ob);
    step_and_run(h);
    step_and_run(h);
    expect_log(h, RRC_EUNCOLLECTABLE);
    check_int(uncollectable(h), 1);
    p = link_to(h, ob, 0);
    step(h);
    check_int(uncollectable(h), 0);
    RRC_CLEAR(h->heap, THING(ob)->ref[0]);
    report(h, p);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    close_hand(h);
}

static void make_garbage(hand *h, rrc_object *self, const char *slot)
{
    rrc_object *ob = new_thing(h, &Tracked);

    (void)self;
    check_str(slot, "tp_dealloc");
    check_int(rrc_gc_collect(h->heap), 0);
    give(ob, 0, ob);
}

/* Collects, and returns the number of steps that were made. */
static int steps_of_a_collection(hand *h, size_t garbage)
{
    rrc_closed_stats before, after;

    check_int(rrc_closed_get_stats(h->heap, &before), RRC_OK);
    check_int(rrc_gc_collect(h->heap), garbage);
    check_int(rrc_closed_get_stats(h->heap, &after), RRC_OK);
    return (int)(after.mirror_steps - before.mirror_steps);
}

/* rrc_gc_collect makes further steps as long as each frees something, but not for ever. */
static void deallocs_that_make_garbage(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked);

    give(ob, 0, ob);
    h->in_slot = make_garbage;
    check_int(steps_of_a_collection(h, 11), 2 + 10);
    check_int(h->deallocs, 11);
    h->in_slot = NULL;
    check_int(steps_of_a_collection(h, 1), 2 + 1);
    check_int(steps_of_a_collection(h, 0), 2);
    close_hand(h);
}

/* Each step finds it again. It counts once. */
static void uncollectable_in_several_steps(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Stubborn), *owner = new_thing(h, &Tracked), *owned = new_thing(h, &Tracked);
    place *p = link_to(h, owner, 1);

    give(ob, 0, ob);
    give(owner, 0, owned);
    own(h, owned, 0, owned);
    rrc_decref(h->heap, owner);
    step(h);
    p->is_dead = 1;
    check_int(rrc_gc_collect(h->heap), 3);
    expect_log(h, RRC_EUNCOLLECTABLE);
    check_int(h->deallocs, 2);
    check_int(rrc_gc_collect(h->heap), 1);
    RRC_CLEAR(h->heap, THING(ob)->ref[0]);
    close_hand(h);
}

/* ---- steps in slices ---- */

static void slices(hand *h, int n)
{
    int i;

    for (i = 0; i < n; i++)
        rrc_closed_work(h->heap, 1);
}

static void the_rest(hand *h)
{
    while (rrc_closed_work(h->heap, 3) >= 3)
        ;
    check_int(rrc_check(h->heap), RRC_OK);
}

/* An object that only an edge node kept: the host finds that dead after the step has looked for dead nodes, and
   then C takes a reference. The same step forgets the node, and what the object owns is strong. */
static void a_node_that_dies_in_a_slice(void)
{
    int n;

    for (n = 0; n < 40; n++) {
        hand *h = open_hand();
        rrc_object *owner = new_thing(h, &Tracked), *ob = new_thing(h, &Tracked), *view = new_thing(h, &Tracked);
        place *p;

        unit_context("after slice %d", n);
        link_to(h, owner, 0);
        p = link_to(h, view, 1);
        own(h, owner, 0, ob);
        own(h, ob, 0, view);
        rrc_decref(h->heap, view);
        rrc_decref(h->heap, ob);
        step(h);
        check_int(p->anchored, 0);
        check_int(node(h, ob)->anchored, 0);
        slices(h, n);
        node(h, ob)->is_dead = 1;
        rrc_incref(h->heap, ob);
        the_rest(h);
        step(h);
        check(RRC_REFCNT(ob) > 0);
        check(node(h, ob) == NULL || node(h, ob)->anchored);
        check(p->anchored || node(h, ob) != NULL);
        RRC_CLEAR(h->heap, THING(owner)->ref[0]);
        rrc_decref(h->heap, ob);
        check_int(h->deallocs, 1);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

static int lists(const place *node, const place *p)
{
    size_t i;

    for (i = 0; i < node->list_count; i++)
        if (node->list[i] == p)
            return 1;
    return 0;
}

/* The step after one that was given up does what that left. */
static void a_step_after_one_that_was_given_up(void)
{
    int n;

    for (n = 0; n < 30; n++) {
        hand *h = open_hand();
        rrc_object *before = new_thing(h, &Tracked), *before_that = new_thing(h, &Tracked);
        rrc_object *owner = new_thing(h, &Tracked), *bare = new_thing(h, &Bare);
        place *p;

        unit_context("after slice %d", n);
        give(before, 0, before_that);
        link_to(h, owner, 0);
        own(h, owner, 0, bare);
        own(h, owner, 1, owner);
        link_to(h, bare, 1);
        step(h);
        part(h, bare);
        p = link_to(h, bare, 1);
        slices(h, n);
        step(h);
        rrc_decref(h->heap, bare);
        step(h);
        check(p->anchored || lists(node(h, owner), p));
        rrc_decref(h->heap, before);
        RRC_CLEAR(h->heap, THING(owner)->ref[0]);
        RRC_CLEAR(h->heap, THING(owner)->ref[1]);
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

/* The update of an edge node fails: what its object owns is strong when the call returns. */
static void a_node_that_fails_in_a_slice(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *view = new_thing(h, &Tracked), *more = new_thing(h, &Tracked);
    place *p;
    int calls;

    link_to(h, owner, 0);
    p = link_to(h, view, 1);
    give(owner, 0, view);
    step(h);
    check_int(p->anchored, 0);
    give(owner, 1, more);
    link_to(h, more, 1);
    calls = h->mirrors;
    h->fail_mirror = 1;
    while (h->mirrors == calls && h->fail_mirror > 0)
        rrc_closed_work(h->heap, 1);
    check_int(p->anchored, 1);
    the_rest(h);
    step(h);
    check_int(p->anchored, 0);
    RRC_CLEAR(h->heap, THING(owner)->ref[0]);
    RRC_CLEAR(h->heap, THING(owner)->ref[1]);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* A step is given up by the end of its heap, and perhaps has failed before. Edge nodes have died since it looked
   for these. No edge node is written or emptied. */
enum { NO_FAILURE, FAILED_MIRROR, WRONG_TRAVERSE, WRONG_TRAVERSE_OF_VIEW, FAILURES };

static void the_heap_ends_in_a_step(void)
{
    int failure, n;

    for (failure = 0; failure < FAILURES; failure++)
        for (n = 0; n < 60; n++) {
            hand *h = open_hand();
            pair t = new_pair(h, &Tracked);
            rrc_object *owner = new_thing(h, &Tracked), *view = new_thing(h, &Tracked);
            int mirrors, emptied;

            unit_context("failure %d, after slice %d", failure, n);
            link_to(h, view, 1);
            rrc_gc_untrack(h->heap, view);
            give(owner, 0, view);
            if (failure != FAILED_MIRROR)
                step(h);
            h->fail_mirror = failure == FAILED_MIRROR;
            if (failure == WRONG_TRAVERSE)      /* it visits what it does not own */
                THING(owner)->ref[1] = THING(owner)->ref[2] = owner;
            else if (failure == WRONG_TRAVERSE_OF_VIEW)
                THING(owner)->ref[1] = view;
            slices(h, n);
            h->fail_mirror = h->logged = 0;
            THING(owner)->ref[1] = THING(owner)->ref[2] = NULL;
            if (!node(h, t.x)->anchored && !node(h, t.y)->anchored)
                die(h, &t);
            mirrors = h->mirrors;
            emptied = h->emptied;
            h->is_ending = 1;
            check_int(rrc_heap_free(h->heap), 1);     /* the view, which owner owns */
            check_int(h->mirrors, mirrors);
            check_int(h->emptied, emptied);
            check_int(h->logged, 0);
            check_int(h->deallocs, 2);          /* (the handle has none) */
            rrc_decref(h->heap, owner);
            check_int(h->deallocs, 4);
            check_int(h->bytes, 0);
            free(h);
        }
}

/* Garbage whose tp_clear has run is not given up as uncollectable while objects are weighed. */
static void clearing_waits_for_the_weighing(void)
{
    int n;

    for (n = 0; n < 20; n++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, &Stubborn), *other = new_thing(h, &Tracked);

        give(ob, 0, ob);
        step(h);
        rrc_run_pending(h->heap, 1);
        slices(h, n);
        rrc_run_pending(h->heap, 0);
        the_rest(h);
        rrc_run_pending(h->heap, 0);
        expect_log(h, RRC_EUNCOLLECTABLE);
        RRC_CLEAR(h->heap, THING(ob)->ref[0]);
        check_int(h->deallocs, 1);
        rrc_decref(h->heap, other);
        close_hand(h);
    }
}

/* The lists of links change between the slices that go through them. */
static void links_change_between_slices(void)
{
    enum { LINKS = 200 };
    int n;

    for (n = 0; n < 60; n++) {
        hand *h = open_hand();
        rrc_object *ob[LINKS + 1];
        int i;

        unit_context("after slice %d", n);
        for (i = 0; i < LINKS; i++) {
            ob[i] = new_thing(h, &Bare);
            link_to(h, ob[i], 1);
        }
        for (i = 0; i < n; i++)
            rrc_closed_work(h->heap, 20);
        ob[LINKS] = new_thing(h, &Bare);
        link_to(h, ob[LINKS], 1);
        if (n % 3 == 0)
            step(h);
        rrc_closed_work(h->heap, 1);
        for (i = 0; i < LINKS; i += 2)
            part(h, ob[i]);
        the_rest(h);
        for (i = 0; i <= LINKS; i++)
            rrc_decref(h->heap, ob[i]);
        close_hand(h);
    }
}

/* A linked object without its bias is not let go: nothing else tells that its p needs it. */
static void an_owner_without_bias(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *ob = new_thing(h, &Tracked);
    place *p = link_without_bias(h, ob);

    own(h, ob, 0, ob);
    give(owner, 0, ob);
    link_to(h, owner, 0);
    check_int(rrc_closed_step(h->heap), RRC_OK);
    expect_log(h, RRC_EREFCNT);
    check(RRC_REFCNT(ob) > 0);
    check_int(p->anchored, 1);
    RRC_REFCNT(ob) += BIAS;
    RRC_CLEAR(h->heap, THING(ob)->ref[0]);
    RRC_CLEAR(h->heap, THING(owner)->ref[0]);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* What the host keeps in the node of garbage is there until the garbage is cleared. */
static void garbage_keeps_its_node(void)
{
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *ob = new_thing(h, &Tracked);

    link_to(h, owner, 0);
    own(h, owner, 0, ob);
    own(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    step(h);
    check(RRC_REFCNT(ob) < 0);
    check_int(node(h, ob)->anchored, 0);
    RRC_CLEAR(h->heap, THING(owner)->ref[0]);
    step(h);
    check_int(node(h, ob)->anchored, 1);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* A step traverses each object once, and once more only if objects without links may be garbage: if tracked
   objects own all references to one. */
static void few_objects_without_links(void)
{
    enum { LINKED = 100, CHAIN = 20 };
    hand *h = open_hand();
    rrc_object *first = NULL, *proxied[LINKED];
    int i;

    for (i = 0; i < LINKED; i++) {
        proxied[i] = new_thing(h, &Tracked);
        link_to(h, proxied[i], 0);
    }
    check_int(rrc_closed_step(h->heap), RRC_OK);
    traversals = 0;
    check_int(rrc_closed_step(h->heap), RRC_OK);
#ifndef RRC_DEBUG
    check_int(traversals, LINKED);
#endif
    for (i = 0; i < CHAIN; i++) {
        rrc_object *ob = new_thing(h, &Tracked);

        THING(ob)->ref[0] = first;
        first = ob;
    }
    check_int(rrc_closed_step(h->heap), RRC_OK);
    traversals = 0;
    check_int(rrc_closed_step(h->heap), RRC_OK);
#ifndef RRC_DEBUG
    check_int(traversals, 2 * (LINKED + CHAIN));
#endif
    own(h, proxied[0], 0, first);
    rrc_decref(h->heap, first);             /* held by what has a link */
    step(h);
    check_int(uncollectable(h) + (size_t)h->deallocs, 0);
    RRC_CLEAR(h->heap, THING(proxied[0])->ref[0]);
    check_int(h->deallocs, CHAIN);
    for (i = 0; i < LINKED; i++)
        rrc_decref(h->heap, proxied[i]);
    close_hand(h);
}

/* Garbage among few and many objects without links; there are as many as a chunk holds, or one more, too. */
static void many_objects_without_links(void)
{
    enum { MANY = 1100, RING = 3 };
    static const int counts[] = { 1, 125, 126, 128, 129, 509, 510, 512, 513, MANY };
    hand *h = open_hand();
    rrc_object *held[MANY], *ring[RING];
    size_t k;
    int count, i;

    for (k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        count = counts[k];
        h->deallocs = 0;
        for (i = 0; i < count; i++)
            held[i] = new_thing(h, &Tracked);
        for (i = 0; i < RING; i++)
            ring[i] = new_thing(h, &Tracked);
        for (i = 0; i < RING; i++)
            give(ring[i], 0, ring[(i + 1) % RING]);
        own(h, ring[0], 1, held[0]);
        step(h);
        rrc_run_pending(h->heap, 0);
        check_int(h->deallocs, RING);
        check_int(RRC_REFCNT(held[0]), 1);
        h->allocations = 0;
        step(h);
        check_int(h->allocations, 0);
        for (i = 0; i < count; i++)
            rrc_decref(h->heap, held[i]);
    }
    close_hand(h);
}

#ifdef RRC_DEBUG
/* An object without a link whose fields hold what is no object. */
static void what_is_no_object_is_reported(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *freed = new_thing(h, &Tracked), junk;
    rrc_object *wrong[3];
    int i;

    memset(&junk, 0, sizeof junk);
    h->keeps_memory = 1;
    rrc_decref(h->heap, freed);
    wrong[0] = (rrc_object *)(void *)((char *)ob + 1);
    wrong[1] = freed;
    wrong[2] = &junk;
    for (i = 0; i < 3; i++) {
        give(ob, 0, wrong[i]);
        check_int(rrc_closed_step(h->heap), RRC_ETRAVERSE);
        check_int(h->last_code, i == 1 ? RRC_EFREED : RRC_ETRAVERSE);
        check(h->logged > 0);
        h->logged = 0;
    }
    give(ob, 0, NULL);
    step(h);
    rrc_decref(h->heap, ob);
    close_hand(h);
}

/* References that are moved without rrc_touch to an object that owns others, above or below
   them in memory, or that owned one. */
static void moves_are_reported(void)
{
    hand *h = open_hand();
    rrc_object *a = new_thing(h, &Tracked), *b = new_thing(h, &Tracked), *view[2];
    int i, lower;

    for (i = 0; i < 2; i++) {
        view[i] = new_thing(h, &Bare);
        link_to(h, view[i], 1);
    }
    lower = (uintptr_t)view[0] > (uintptr_t)view[1];
    give(a, 0, view[lower]);
    give(b, 0, view[1 - lower]);
    for (i = 0; i < 4; i++) {           /* the upper to the lower, the lower to nothing, ... */
        thing *from = THING(i % 2 ? a : b), *to = THING(i % 2 ? b : a);
        int n = 0;

        step(h);
        check(IS_WEAK(view[0]) && IS_WEAK(view[1]));
        while (from->ref[n] == NULL)
            n++;
        to->ref[(i + 1) % REFS] = from->ref[n];
        from->ref[n] = NULL;
        check_int(rrc_closed_step(h->heap), RRC_ETOUCH);
        expect_log(h, RRC_ETOUCH);
    }
    step(h);
    rrc_decref(h->heap, a);
    rrc_decref(h->heap, b);
    close_hand(h);
}

/* ... also to an owner whose edge node had died, and was made again. */
static void moves_are_reported_after_a_loss(void)
{
    hand *h = open_hand();
    rrc_object *top = new_thing(h, &Tracked), *owner[2];
    int i;

    for (i = 0; i < 2; i++) {
        rrc_object *view = new_thing(h, &Bare);

        link_to(h, view, 1);
        owner[i] = new_thing(h, &Tracked);
        give(owner[i], 0, view);
        give(top, i, owner[i]);
    }
    step(h);
    for (i = 0; i < 2; i++) {
        check(IS_WEAK(owner[i]));
        node(h, owner[i])->is_dead = 1;
        rrc_incref(h->heap, owner[i]);
    }
    step(h);
    step(h);
    check(IS_WEAK(THING(owner[1])->ref[0]));
    THING(owner[0])->ref[1] = THING(owner[1])->ref[0];
    THING(owner[1])->ref[0] = NULL;
    check_int(rrc_closed_step(h->heap), RRC_ETOUCH);
    expect_log(h, RRC_ETOUCH);
    step(h);
    for (i = 0; i < 2; i++)
        rrc_decref(h->heap, owner[i]);
    rrc_decref(h->heap, top);
    close_hand(h);
}
#define DEBUG_TESTS , UNIT(what_is_no_object_is_reported), UNIT(moves_are_reported), UNIT(moves_are_reported_after_a_loss)
#else
#define DEBUG_TESTS
#endif

/* Its owner's edge node still lists the former p. The view has the same address and number as before. */
static void a_view_gets_another_p_between_slices(void)
{
    int n;

    for (n = 0; n < 40; n++) {
        hand *h = open_hand();
        rrc_object *owner = new_thing(h, &Tracked), *view = new_thing(h, &Bare);
        place *p;

        unit_context("after slice %d", n);
        link_to(h, owner, 0);
        give(owner, 0, view);
        link_to(h, view, 1);
        step(h);
        step(h);
        slices(h, n);
        part(h, view);
        p = link_to(h, view, 1);
        the_rest(h);
        check(p->anchored || lists(node(h, owner), p));
        step(h);
        check(p->anchored || lists(node(h, owner), p));
        rrc_decref(h->heap, owner);
        close_hand(h);
    }
}

static intptr_t no_others(rrc_heap *heap, rrc_object *self) { (void)heap, (void)self; return 0; }

static const rrc_type Wrapper = {
    .tp_name = "Wrapper", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_outside = no_others,
};
static rrc_object *wrapper_in_hook;

static void unlink_the_wrapper(hand *h) { part(h, wrapper_in_hook); }

/* It is mirrored anew, so that it may get another p. */
static void a_wrapper_loses_its_link_in_its_hook(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, &Wrapper), *view = new_thing(h, &Bare);

        unit_context("%d: ", i);
        link_to(h, view, 1);
        give(ob, 0, view);
        link_to(h, ob, 1);
        wrapper_in_hook = ob;
        if (i)
            h->after_mirror = unlink_the_wrapper;
        step(h);
        check_int(h->mirrors, 1);
        if (!i)
            unlink_the_wrapper(h);
        step(h);
        check_int(h->mirrors, 2);
        RRC_CLEAR(h->heap, THING(ob)->ref[0]);
        rrc_decref(h->heap, ob);
        close_hand(h);
    }
}

static intptr_t others;
static place *place_of_cleared;
static int cleared_gets_p;

static intptr_t given_others(rrc_heap *heap, rrc_object *self) { (void)heap, (void)self; return others; }

static int link_and_clear(rrc_heap *heap, rrc_object *self)
{
    check_ptr(place_of_cleared, NULL);
    place_of_cleared = link_to(HAND(heap), self, cleared_gets_p);
    others = 1;
    return thing_clear(heap, self);
}

static const rrc_type LinkingWrapper = {
    .tp_name = "LinkingWrapper", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = link_and_clear,
    .tp_outside = given_others,
};

/* In the tp_clear of a wrapper it gets a link, and foreign code takes a reference. When the link goes, the header holds
   the wrapper, until foreign code has dropped that. */
static void a_cleared_wrapper_is_held_for_others(void)
{
    int is_p;

    for (is_p = 0; is_p < 2; is_p++) {
        hand *h;
        rrc_object *ob;

        at_once = 1;
        h = open_hand();
        at_once = 0;
        ob = new_thing(h, &LinkingWrapper);
        unit_context("is_p %d", is_p);
        others = 0;
        place_of_cleared = NULL;
        cleared_gets_p = is_p;
        own(h, ob, 0, ob);
        rrc_decref(h->heap, ob);
        rrc_gc_collect(h->heap);
        check(place_of_cleared != NULL);
        check_int(RRC_REFCNT(ob), BIAS);
        part(h, ob);
        check_int(rrc_run_pending(h->heap, 0), 0);
        check_int(h->deallocs, 0);
        check_int(RRC_REFCNT(ob), 1);
        check_int(rrc_gc_collect(h->heap), 0);
        check_int(h->deallocs, 0);
        others = 0;
        rrc_gc_collect(h->heap);
        check_int(h->deallocs, 1);
        close_hand(h);
    }
}

static rrc_object *saved_in_clear;

static int save_and_clear(rrc_heap *heap, rrc_object *self)
{
    rrc_incref(heap, self);
    saved_in_clear = self;
    return thing_clear(heap, self);
}

static const rrc_type SavedInClear = {
    .tp_name = "SavedInClear", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = save_and_clear,
};

/* C gets hold of an object in its tp_clear. A step finds it alive. When it is garbage later, that is not because its
   tp_clear did not break a cycle. */
static void what_was_cleared_is_found_alive(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &SavedInClear);

    own(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    step(h);
    rrc_run_pending(h->heap, 0);
    check_ptr(saved_in_clear, ob);
    check_int(RRC_REFCNT(ob), 1);
    step(h);
    own(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    step(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->logged, 0);
    check_int(RRC_REFCNT(ob), 1);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    close_hand(h);
}

/* The step has passed the child, and then its edge node dies, and its owner's. */
static void nodes_die_while_a_step_looks_for_them(void)
{
    int n;

    for (n = 0; n < 40; n++) {
        hand *h = open_hand();
        rrc_object *a = new_thing(h, &Tracked), *x = new_thing(h, &Tracked), *view = new_thing(h, &Bare);
        place *proxy = link_to(h, a, 0), *p = link_to(h, view, 1);

        unit_context("after slice %d", n);
        give(a, 0, x);
        give(x, 0, view);
        rrc_decref(h->heap, a);
        step(h);
        check(IS_WEAK(a) && IS_WEAK(x) && IS_WEAK(view));
        slices(h, n);
        proxy->is_dead = node(h, a)->is_dead = node(h, x)->is_dead = 1;
        the_rest(h);
        rrc_incref(h->heap, a);
        check(p->anchored || (node(h, x) != NULL && !node(h, x)->is_dead && lists(node(h, x), p)));
        report(h, proxy);
        rrc_decref(h->heap, a);
        rrc_run_pending(h->heap, 0);
        close_hand(h);
    }
}

/* Its edge node has died in the middle of a step, and nobody has told. It gets a p, and so is strong. */
static void linked_when_its_node_has_died(void)
{
    int n;

    for (n = 0; n < 40; n++) {
        hand *h = open_hand();
        rrc_object *ob = new_thing(h, &Tracked), *view = new_thing(h, &Bare), *top = new_thing(h, &Tracked);
        place *p = link_to(h, view, 1);

        unit_context("after slice %d", n);
        give(ob, 0, view);
        give(top, 0, ob);
        step(h);
        check(IS_WEAK(ob) && IS_WEAK(view));
        slices(h, n);
        node(h, ob)->is_dead = 1;
        rrc_touch(h->heap, ob);
        link_to(h, ob, 1);
        rrc_incref(h->heap, ob);
        the_rest(h);
        check(p->anchored || (node(h, ob) != NULL && !node(h, ob)->is_dead && lists(node(h, ob), p)));
        step(h);
        check(p->anchored || (node(h, ob) != NULL && !node(h, ob)->is_dead && lists(node(h, ob), p)));
        rrc_decref(h->heap, ob);
        rrc_decref(h->heap, top);
        close_hand(h);
    }
}

static rrc_object *many[600];
static int many_gone;

static void untrack_some(hand *h)
{
    int i;

    for (i = 0; i < many_gone; i++)
        rrc_gc_untrack(h->heap, many[i]);
}

/* The list of tracked objects becomes so short that memory behind it is freed, where the step would go on. */
static void many_are_untracked_in_a_hook(void)
{
    int count, i;

    for (count = 500; count < 530; count++)
        for (many_gone = 0; many_gone < 40; many_gone += 3) {
            hand *h = open_hand();

            unit_context("%d of %d: ", many_gone, count);
            for (i = 0; i < count; i++)
                many[i] = new_thing(h, &Tracked);
            own(h, many[count - 1], 0, many[count - 1]);
            h->in_mirror = untrack_some;
            step(h);
            check(h->in_mirror == NULL);
            RRC_CLEAR(h->heap, THING(many[count - 1])->ref[0]);
            for (i = 0; i < count; i++)
                rrc_decref(h->heap, many[i]);
            close_hand(h);
        }
}

UNIT_GROUP(mirror_hook_calls, UNIT(many_are_untracked_in_a_hook), UNIT(linked_when_its_node_has_died),
    UNIT(a_view_gets_another_p_between_slices), UNIT(a_wrapper_loses_its_link_in_its_hook),
    UNIT(a_cleared_wrapper_is_held_for_others), UNIT(what_was_cleared_is_found_alive),
    UNIT(nodes_die_while_a_step_looks_for_them),
    UNIT(a_weak_type_has_instances),
    UNIT(walks_show_weak_objects),
    UNIT(a_negative_count_elsewhere),
    UNIT(a_step_is_due_for_tracked_objects),
    UNIT(held_again_when_its_node_has_died),
    UNIT(a_step_makes_dead_nodes_anew),
    UNIT(what_cannot_be_rooted_stays_weak),
    UNIT(a_step_without_a_search),
    UNIT(a_step_without_a_search_finds_a_dead_node),
    UNIT(a_long_chain_is_held_again),
    UNIT(taken_when_its_p_has_died), UNIT(an_untracked_object_is_taken_when_its_p_has_died),
    UNIT(a_collection_finds_dead_nodes),
    UNIT(a_finalizer_in_a_step_takes_the_dead),
    UNIT(what_a_step_finds_held_is_strong),
    UNIT(a_new_node_of_a_weak_object_is_let_go),
    UNIT(a_failed_update_is_made_up_for),
    UNIT(anchors_of_what_stays_are_let_be),
    UNIT(only_what_changed_is_mirrored),
    UNIT(what_owns_nothing_has_no_node),
    UNIT(nodes_of_what_owns_nothing_any_more),
    UNIT(tracked_anew),
    UNIT(untracked_children), UNIT(an_untracked_child_changes_its_p_between_slices),
    UNIT(a_weak_object_gets_a_p),
    UNIT(a_p_that_dies_without_a_bias), UNIT(what_the_host_alone_holds_stays_weak),
    UNIT(a_view_of_another_p_and_a_failed_step),
    UNIT(a_step_without_changes_after_a_failed_one),
    UNIT(each_change_makes_a_step_due),
    UNIT(due_for_what_only_the_host_holds),
    UNIT(nothing_is_deallocated_in_a_step),
    UNIT(nothing_is_resized_in_a_step),
    UNIT(no_step_begins_in_a_hook),
    UNIT(no_step_begins_in_a_hook_of_a_collection),
    UNIT(a_finalizer_in_a_step_takes_the_living),
    UNIT(targets_that_are_untracked),
    UNIT(untracked_objects_are_not_traversed),
    UNIT(steps_write_nothing_in_front_of_others_objects),
    UNIT(views_that_are_untracked_in_a_step),
    UNIT(dead_when_it_is_mirrored),
    UNIT(no_nodes_for_bare_objects),
    UNIT(taken_dead_in_a_collection),
    UNIT(a_step_keeps_what_it_has_noted),
    UNIT(a_child_of_what_waits_is_linked_again),
    UNIT(an_old_p_link_is_forgotten),
    UNIT(an_unlinked_p_is_let_go),
    UNIT(a_rooted_p_that_dies),
    UNIT(no_step_in_deallocs_and_walks),
    UNIT(a_first_node_of_the_hosts),
    UNIT(a_new_node_outside_a_step),
    UNIT(nodes_of_the_hosts_are_listed),
    UNIT(a_node_is_kept_in_a_step),
    UNIT(a_node_is_kept_in_its_own_hook),
    UNIT(a_node_of_the_hosts_comes_back),
    UNIT(collections_alone_root_what_c_holds),
    UNIT(garbage_is_taken_in_any_slice),
    UNIT(a_host_with_generations),
    UNIT(hooks_end_with_the_heap),
    UNIT(links_without_a_bias),
    UNIT(only_links),
    UNIT(untracked_while_it_is_mirrored),
    UNIT(a_weak_object_gets_no_second_link), UNIT(p_is_asked_for_in_a_step),
    UNIT(unlinked_without_a_bias),
    UNIT(light_objects_are_weak_too),
    UNIT(nothing_stands_for_what_is_to_be_linked), UNIT(slots_of_the_dead), UNIT(asked_for_in_a_step),
    UNIT(a_light_object_is_linked_anew),
    UNIT(static_objects_are_no_children),
    UNIT(heap_types_are_children),
    UNIT(objects_with_memory_of_their_own),
    UNIT(nodes_are_for_tracked_objects),
    UNIT(a_step_is_due_for_what_the_header_drops),
    UNIT(taken_in_the_log_hook_of_a_step), UNIT(a_tracked_object_is_taken_in_a_hook),
    UNIT(dropped_in_the_log_hook_of_a_step),
    UNIT(many_targets),
    UNIT(uncollectable_till_it_is_linked), UNIT(deallocs_that_make_garbage), UNIT(uncollectable_in_several_steps),
    UNIT(garbage_keeps_its_node), UNIT(a_step_after_one_that_was_given_up), UNIT(a_node_that_fails_in_a_slice),
    UNIT(a_node_that_dies_in_a_slice), UNIT(the_heap_ends_in_a_step), UNIT(clearing_waits_for_the_weighing),
    UNIT(links_change_between_slices), UNIT(an_owner_without_bias), UNIT(few_objects_without_links),
    UNIT(many_objects_without_links) DEBUG_TESTS);
