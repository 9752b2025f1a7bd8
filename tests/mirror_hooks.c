/* What the header asks of a closed host, hook by hook. This host has no collector: a
 * test says what has died, what fails, and what the host's finalizers do in a hook. */

#include "mirror_programs.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 200, REFS = 4 };

/* A p, or an edge node. */
typedef struct place {
    int is_node, is_used, is_dead, anchored;
    size_t list_count;
    struct place *list[REFS];   /* what an edge node refers to, as far as a test looks */
} place;

typedef struct hand {
    rrc_heap *heap;
    place places[PLACES];
    int used;
    int fresh_nodes;            /* mirror never uses a node again */
    int fail_mirror;            /* the next so many calls fail */
    int mirrors, forgotten;
    rrc_object **expected;      /* the targets of the next call */
    size_t expected_count;
    int last_code, logged;
    void (*in_mirror)(struct hand *h);      /* the host collects, and runs finalizers */
    void (*in_survivor)(struct hand *h);
    void (*in_anchor)(struct hand *h);
    void (*in_slot)(struct hand *h, rrc_object *self, const char *slot);
    int deallocs, finalized;
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

static place *new_place(hand *h, int is_node)
{
    place *s = &h->places[h->used++];

    check(h->used <= PLACES);
    s->is_node = is_node;
    s->is_used = 1;
    return s;
}

static void call(void (**function)(hand *h), hand *h)
{
    void (*once)(hand *h) = *function;

    *function = NULL;
    if (once != NULL)
        once(h);
}

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    hand *h = (hand *)userdata;
    place *s = (place *)p;

    check(s->is_used);
    call(&h->in_survivor, h);
    return s->is_dead ? NULL : p;
}

static int anchor(void *userdata, rrc_object *ob, int on)
{
    hand *h = (hand *)userdata;
    place *s = (place *)rrc_mirror_target(h->heap, ob);

    check(s != NULL && s->is_used);
    call(&h->in_anchor, h);
    if (on && s->is_dead)
        return 0;
    s->anchored = on;
    return 1;
}

static place *node_of(hand *h, rrc_object *ob)
{
    place *s = (place *)rrc_mirror_node(h->heap, ob);

    if (s == NULL || s->is_dead) {
        s = new_place(h, 1);
        rrc_mirror_set_node(h->heap, ob, s);
    }
    return s;
}

static int mirror(void *userdata, rrc_object *ob, rrc_object *const *targets, size_t n)
{
    hand *h = (hand *)userdata;
    place *s = (place *)rrc_mirror_node(h->heap, ob);
    size_t i;

    if (targets == NULL) {
        check_int(n, 0);
        check(s != NULL && s->is_used);
        s->is_used = s->anchored = 0;
        s->list_count = 0;
        h->forgotten++;
        return 0;
    }
    h->mirrors++;
    if (h->expected != NULL) {
        check_int(n, h->expected_count);
        check(memcmp(targets, h->expected, n * sizeof *targets) == 0);
        h->expected = NULL;
    }
    call(&h->in_mirror, h);
    if (h->fail_mirror > 0) {
        h->fail_mirror--;
        return 1;
    }
    s = (place *)rrc_mirror_node(h->heap, ob);
    if (s == NULL || s->is_dead || h->fresh_nodes) {
        s = new_place(h, 1);
        rrc_mirror_set_node(h->heap, ob, s);
    }
    s->list_count = 0;
    for (i = 0; i < n; i++) {
        place *target = (place *)rrc_mirror_target(h->heap, targets[i]);

        if (target == NULL && rrc_gc_is_tracked(h->heap, targets[i]))
            target = node_of(h, targets[i]);
        if (target != NULL && s->list_count < REFS)
            s->list[s->list_count++] = target;
    }
    return 0;
}

static void write_log(void *userdata, const rrc_log_item *item)
{
    hand *h = (hand *)userdata;

    h->last_code = item->code;
    h->logged++;
}

static void *reallocate(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    hand *h = (hand *)userdata;

    (void)old_size;
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

static hand *open_with(int (*mirror_hook)(void *, rrc_object *, rrc_object *const *, size_t), void (*collect)(void *))
{
    hand *h = (hand *)calloc(1, sizeof *h);
    rrc_desc desc;

    if (h == NULL)
        abort();
    memset(&desc, 0, sizeof desc);
    desc.userdata = h;
    desc.survivor = survivor;
    desc.anchor = anchor;
    desc.mirror = mirror_hook;
    desc.collect = collect;
    desc.log = write_log;
    desc.realloc = reallocate;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    return h;
}

static hand *open_hand(void) { return open_with(mirror, NULL); }

/* The test has dropped what it held, and looked at what was logged. */
static void close_hand(hand *h)
{
    h->in_slot = NULL;
    check_int(h->logged, 0);
    check_int(rrc_heap_free(h->heap), 0);
    check_int(h->logged, 0);
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

static place *link_to(hand *h, rrc_object *ob, int is_p)
{
    place *p = new_place(h, 0);

    check_int((is_p ? rrc_create_link_pypy : rrc_create_link_pyobj)(h->heap, p, ob), RRC_OK);
    RRC_REFCNT(ob) += BIAS;
    return p;
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
    check_int(rrc_mirror_step(h->heap), RRC_OK);
    check_int(rrc_check(h->heap), RRC_OK);
}

static size_t uncollectable(hand *h)
{
    rrc_stats stats;

    check_int(rrc_get_stats(h->heap, &stats), RRC_OK);
    return stats.uncollectable;
}

static size_t edge_nodes(hand *h)
{
    rrc_stats stats;

    check_int(rrc_get_stats(h->heap, &stats), RRC_OK);
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

static place *node(hand *h, rrc_object *ob)
{
    return (place *)rrc_mirror_node(h->heap, ob);
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
    check_int(rrc_unlink(h->heap, t->x), RRC_OK);
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

/* The same in what rrc_mirror_collect does after the host's collection; and a finalizer
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
        check_int(rrc_unlink(h->heap, collected.x), RRC_OK);
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
        hand *h = open_with(mirror, collect_pair);
        rrc_object *other;

        collected = new_pair(h, &Final);
        h->in_slot = handle_is_whole;
        other = new_thing(h, &Tracked);
        own(h, other, 0, other);        /* garbage, too, so that there is something to do */
        rrc_decref(h->heap, other);
        check_int(rrc_mirror_collect(h->heap), reported ? 3 : 1);
        check_int(h->finalized, reported ? 2 : 0);
        check(reported || collected.p->anchored || node(h, collected.y) != NULL);
        if (!reported)
            end_pair(h, &collected);
        close_hand(h);
    }
}

/* The host collects inside the mirror hook, and a finalizer of its takes x. */
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
    check_int(rrc_mirror_step(h->heap), RRC_OK);
    check(!IS_WEAK(t.handle));
    check_int(t.p->anchored, 1);
    rrc_decref(h->heap, t.handle);
    step(h);
    check(IS_WEAK(t.handle));
    check_int(t.p->anchored, 0);
    close_hand(h);
}

/* A host whose edge nodes cannot be changed makes new ones. */
static void a_new_node_of_a_weak_object_is_let_go(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    rrc_object *more = new_thing(h, &Bare);
    place *p = link_to(h, more, 1), *before = node(h, t.y);

    h->fresh_nodes = 1;
    give(t.y, 2, more);
    step(h);
    check(node(h, t.y) != before);
    check_int(node(h, t.y)->anchored, 0);
    check_int(p->anchored, 0);
    check(IS_WEAK(t.y) && IS_WEAK(more));
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
        check_int(rrc_mirror_step(h->heap), RRC_ENOMEM);
        check(!IS_WEAK(a) && !IS_WEAK(b));
        check_int(rrc_check(h->heap), RRC_OK);
    }
    step(h);
    check_int(node(h, owner)->list_count, 2);
    check(IS_WEAK(a) && IS_WEAK(b));
    rrc_decref(h->heap, owner);
    close_hand(h);
}

/* ---- what finalizers of the host do in a step ---- */

static rrc_object *victim;
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
    inner_code = rrc_mirror_step(h->heap);
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
            h->in_survivor = step_inside;
        else if (i == 1)
            h->in_anchor = step_inside;
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

/* ---- many links ---- */

/* A finalizer unlinks nearly all that the step has noted, and makes one link: what was
   reserved for many may shrink, but not what the step is using. */
enum { CHILDREN = 30000 };

static rrc_object *children[CHILDREN];
static char child_p[CHILDREN + 1];
static size_t child_count;

static int visit_children(rrc_object *self, rrc_visitproc visit, void *arg)
{
    size_t i;

    (void)self;
    for (i = 0; i < child_count; i++)
        RRC_VISIT(children[i]);
    return 0;
}

static rrc_gcref always_there(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return p;
}

static int anchor_nothing(void *userdata, rrc_object *ob, int on)
{
    (void)userdata, (void)ob, (void)on;
    return 1;
}

static int unlink_most(void *userdata, rrc_object *ob, rrc_object *const *targets, size_t n)
{
    rrc_heap *heap = *(rrc_heap **)userdata;
    static char node_of_ob;
    size_t i;

    if (targets == NULL)
        return 0;
    check_int(n, CHILDREN);
    for (i = 1; i < CHILDREN; i++)
        check_int(rrc_unlink(heap, children[i]), RRC_OK);
    check_int(rrc_create_link_pypy(heap, &child_p[CHILDREN], children[CHILDREN - 1]), RRC_OK);
    RRC_REFCNT(children[CHILDREN - 1]) += BIAS;
    rrc_mirror_set_node(heap, ob, &node_of_ob);
    return 0;
}

static void a_step_keeps_what_it_has_noted(void)
{
    static const rrc_type parent = { .tp_name = "Parent", .tp_basicsize = sizeof(thing),
                                     .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = visit_children };
    rrc_heap *heap = NULL;
    rrc_desc desc;
    rrc_object *ob;

    memset(&desc, 0, sizeof desc);
    desc.userdata = &heap;
    desc.survivor = always_there;
    desc.anchor = anchor_nothing;
    desc.mirror = unlink_most;
    heap = rrc_heap_new(&desc);
    ob = rrc_gc_new(heap, &parent);
    for (child_count = 0; child_count < CHILDREN; child_count++) {
        children[child_count] = rrc_new(heap, &Bare);
        check(children[child_count] != NULL);
        check_int(rrc_create_link_pypy(heap, &child_p[child_count], children[child_count]), RRC_OK);
        RRC_REFCNT(children[child_count]) += BIAS;
    }
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    check_int(rrc_mirror_step(heap), RRC_OK);
    check(IS_WEAK(children[0]));
    check_int(rrc_check(heap), RRC_OK);
    rrc_gc_untrack(heap, ob);
    while (child_count > 0)
        rrc_decref(heap, children[--child_count]);
    rrc_decref(heap, ob);
    check_int(rrc_heap_free(heap), 0);
}

/* ---- links that change ---- */

/* The owner waits to be cleared when its child gets another p, and comes back. */
static void a_child_of_what_waits_is_linked_again(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    place *other;

    t.proxy->is_dead = 1;
    check_int(rrc_unlink(h->heap, t.x), RRC_OK);
    step(h);                            /* sets x and y aside */
    rrc_incref(h->heap, t.handle);
    check_int(rrc_unlink(h->heap, t.handle), RRC_OK);
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
    place *proxy;

    own(h, ob, 0, ob);
    link_to(h, ob, 1);
    step(h);
    check(node(h, ob) != NULL);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    RRC_REFCNT(ob) += BIAS;
    check_ptr(rrc_mirror_target(h->heap, ob), node(h, ob));
    proxy = new_place(h, 0);
    check_int(rrc_create_link_pyobj(h->heap, proxy, ob), RRC_OK);
    check_ptr(rrc_mirror_target(h->heap, ob), node(h, ob));
    rrc_decref(h->heap, ob);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    step(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->deallocs, 1);
    close_hand(h);
}

/* What rrc_unlink lets go is not kept by its anchor. */
static void an_unlinked_p_is_let_go(void)
{
    hand *h = open_hand();
    int tracked;

    for (tracked = 0; tracked < 2; tracked++) {
        rrc_object *ob = new_thing(h, tracked ? &Tracked : &Bare);
        place *p = link_to(h, ob, 1);

        check_int(p->anchored, 1);
        check_int(rrc_unlink(h->heap, ob), RRC_OK);
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
    check_int(rrc_mirror_step(h->heap), RRC_OK);
#ifdef RRC_DEBUG
    expect_log(h, RRC_EHOOK);
#endif
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
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
    check_int(rrc_mirror_step(h->heap), RRC_EPHASE);
    check_int(rrc_mirror_collect(h->heap), 0);
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
    hand *h = open_with(mirror, NULL);
    rrc_object *ob = new_thing(h, &Final);

    rrc_gc_visit_objects(h->heap, in_walk, h);
    own(h, ob, 0, ob);
    h->in_slot = in_a_slot;
    rrc_decref(h->heap, ob);
    check_int(rrc_mirror_collect(h->heap), 1);          /* its finalizer, then itself */
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
    place *s = new_place(h, 1);

    rrc_mirror_set_node(h->heap, ob, s);
    check_ptr(node(h, ob), s);
    check_int(s->anchored, 1);
    step(h);
    step(h);
    check_ptr(node(h, ob), s);
    rrc_decref(h->heap, ob);
    check_int(h->forgotten, 1);
    close_hand(h);
}

/* A new edge node for what is weak, outside a step: it is strong until the next one. */
static void a_new_node_outside_a_step(void)
{
    hand *h = open_hand();
    pair t = new_pair(h, &Tracked);
    place *s = new_place(h, 1);

    rrc_mirror_set_node(h->heap, t.y, s);
    check(!IS_WEAK(t.y));
    check_int(s->anchored, 1);
    step(h);
    check(IS_WEAK(t.y));
    check_int(s->anchored, 0);
    end_pair(h, &t);
    close_hand(h);
}

/* Links whose makers have not put the bias in yet: nothing is lost by a step. */
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
        check_int(rrc_create_link_pypy(h->heap, new_place(h, 0), i ? b : a), RRC_OK);
    rrc_gc_untrack(h->heap, b);
    RRC_CLEAR(h->heap, THING(a)->ref[0]);
    check_int(rrc_mirror_step(h->heap), RRC_OK);
    h->logged = 0;
    RRC_REFCNT(a) += BIAS;
    RRC_REFCNT(b) += BIAS;
    step(h);
    rrc_decref(h->heap, a);
    rrc_decref(h->heap, b);
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

static void untrack_the_victim(hand *h)
{
    rrc_gc_untrack(h->heap, victim);
}

static void untracked_while_it_is_mirrored(void)
{
    hand *h = open_hand();

    victim = new_thing(h, &Tracked);
    own(h, victim, 0, victim);
    h->in_mirror = untrack_the_victim;
    step(h);
    check_int(edge_nodes(h), 0);
    RRC_CLEAR(h->heap, THING(victim)->ref[0]);
    rrc_decref(h->heap, victim);
    close_hand(h);
}

/* In the explicit form a host whose finalizers never rest: a step gives up in the end,
   and lets nothing go. */
static rrc_object *restless[3];
static int rounds;

static void change_again(hand *h)
{
    rrc_object **field = &THING(restless[0])->ref[0];

    *field = *field == restless[1] ? restless[2] : restless[1];
    rounds++;
    h->in_mirror = change_again;
}

static void finalizers_that_never_rest(void)
{
    hand *h = open_hand();
    int i;

    for (i = 0; i < 3; i++)
        restless[i] = new_thing(h, i == 0 ? &Tracked : &Bare);
    for (i = 1; i < 3; i++) {
        link_to(h, restless[i], 1);
        RRC_REFCNT(restless[i])++;      /* one for the field, whichever it is */
    }
    THING(restless[0])->ref[0] = restless[1];
    rounds = 0;
    h->in_mirror = change_again;
    check_int(rrc_mirror_collect(h->heap), 0);
    check(rounds > 3);
    check(!IS_WEAK(restless[1]) && !IS_WEAK(restless[2]));
    h->in_mirror = NULL;
    RRC_REFCNT(THING(restless[0])->ref[0] == restless[1] ? restless[2] : restless[1])--;
    for (i = 0; i < 3; i++)
        rrc_decref(h->heap, restless[i]);
    check_int(rrc_mirror_collect(h->heap), 0);
    close_hand(h);
}

/* Weak or not, an object that is light goes with its p. */
static void light_objects_are_weak_too(void)
{
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Bare);
    place *p = new_place(h, 0);

    check_int(rrc_create_link_pypy(h->heap, p, ob), RRC_OK);
    RRC_REFCNT(ob) += RRC_REFCNT_FROM_PYPY_LIGHT;
    check_int(p->anchored, 1);
    rrc_decref(h->heap, ob);
    check(IS_WEAK(ob));
    check_int(p->anchored, 0);
    p->is_dead = 1;
    step_and_run(h);
    close_hand(h);
}

/* Static objects: as children, as views, and in walks. */
static void static_objects_are_no_children(void)
{
#if !HOST_FRONT
    static thing fixed = { RRC_OBJECT_HEAD_INIT(&Bare), { NULL } };
    static rrc_type heap_type;
    rrc_object *permanent = &fixed.head;
    hand *h = open_hand();
    rrc_object *ob = new_thing(h, &Tracked), *instance;
    place *p = new_place(h, 0);

    give(ob, 0, permanent);
    check_int(rrc_create_link_pypy(h->heap, p, permanent), RRC_OK);
    step(h);
    check_ptr(node(h, ob), NULL);
    check_int(p->anchored, 1);
    heap_type = Tracked;
    heap_type.tp_flags |= RRC_TPFLAGS_HEAPTYPE;
    heap_type.ob_base.ob_refcnt = 1;
    heap_type.ob_base.ob_type = &Bare;
    instance = new_thing(h, &heap_type);
    own(h, instance, 0, instance);
    give(ob, 1, instance);
    step(h);
    check_int(node(h, ob)->list_count, 1);
    check_int(node(h, instance)->list_count, 1);        /* its type is not listed */
    check_int(rrc_unlink(h->heap, permanent), RRC_OK);
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

static void a_weak_type_has_instances(void)
{
#if !HOST_FRONT
    static const rrc_member members[] = { { "owned", offsetof(made_type, owned) }, { NULL, 0 } };
    static const rrc_type type_type = { .tp_name = "type", .tp_basicsize = sizeof(made_type),
                                        .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = members };
    hand *h = open_hand();
    rrc_object *owner = new_thing(h, &Tracked), *type = new_thing(h, &type_type), *instance, head = *type;

    *(rrc_type *)(void *)type = Tracked;
    *type = head;
    ((rrc_type *)(void *)type)->tp_flags |= RRC_TPFLAGS_HEAPTYPE;
    ((made_type *)(void *)type)->owned = new_thing(h, &Tracked);
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
    rrc_decref(h->heap, instance);
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
    check_int(rrc_mirror_is_due(h->heap), 0);
    for (i = 0; i < MANY; i++)
        obs[i] = new_thing(h, &Tracked);
    check_int(rrc_mirror_is_due(h->heap), 1);
    step(h);
    obs[MANY] = new_thing(h, &Tracked);
    check_int(rrc_mirror_is_due(h->heap), 0);           /* one is not much */
    ob = new_thing(h, &Final);
    give(ob, 0, ob);
    step(h);
    step(h);
    check_int(rrc_mirror_is_due(h->heap), 0);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->finalized, 1);
    for (i = 1; !rrc_mirror_is_due(h->heap); i++)
        check(i < 100);
    check(i > 1);
    step(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    for (i = 0; i <= MANY; i++)
        rrc_decref(h->heap, obs[i]);
    close_hand(h);
}

/* In a heap that is not mirrored a negative count is no mark, but wrong. */
#ifdef RRC_DEBUG
static void trace_nothing(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }

static void a_negative_count_elsewhere(void)
{
    static const intptr_t counts[] = { -1, INTPTR_MIN + 5 };
    hand *h = (hand *)calloc(1, sizeof *h);
    rrc_desc desc;
    rrc_object *ob;
    int i;

    check(h != NULL);
    memset(&desc, 0, sizeof desc);
    desc.userdata = h;
    desc.survivor = survivor;
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

static void nodes_are_for_tracked_objects(void)
{
    hand *h = open_hand();
    rrc_object *bare = new_thing(h, &Bare), *ob = new_thing(h, &Tracked);
    place *s = new_place(h, 1);

    rrc_mirror_set_node(NULL, ob, s);
    check_int(h->logged, 0);
    rrc_mirror_set_node(h->heap, NULL, s);
    expect_log(h, RRC_ENULL);
    rrc_mirror_set_node(h->heap, ob, NULL);
    expect_log(h, RRC_ENULL);
    rrc_mirror_set_node(h->heap, bare, s);
    expect_log(h, RRC_ETYPE);
    rrc_gc_untrack(h->heap, ob);
    rrc_mirror_set_node(h->heap, ob, s);
    expect_log(h, RRC_ETYPE);
    check_ptr(rrc_mirror_node(h->heap, NULL), NULL);
    check_ptr(rrc_mirror_target(h->heap, NULL), NULL);
    check_ptr(rrc_mirror_target(NULL, ob), NULL);
    check_ptr(rrc_mirror_node(h->heap, ob), NULL);
    check_int(rrc_mirror_is_due(NULL), 0);
    check_int(rrc_mirror_step(NULL), RRC_ENULL);
    check_int(rrc_mirror_collect(NULL), 0);
    rrc_decref(h->heap, bare);
    rrc_decref(h->heap, ob);
    close_hand(h);
}

/* A mirror hook that says it worked, but made no node. */
static int does_nothing(void *userdata, rrc_object *ob, rrc_object *const *targets, size_t n)
{
    (void)userdata, (void)ob, (void)targets, (void)n;
    return 0;
}

static void a_mirror_hook_without_a_node(void)
{
    hand *h = open_with(does_nothing, NULL);
    rrc_object *ob = new_thing(h, &Tracked);

    own(h, ob, 0, ob);
    check_int(rrc_mirror_step(h->heap), RRC_ENOMEM);
    expect_log(h, RRC_EHOOK);
    check(!IS_WEAK(ob));
    check_int(rrc_check(h->heap), RRC_OK);
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
    expect_log(h, RRC_EUNCOLLECTABLE);
    check_int(uncollectable(h), 1);
    p = link_to(h, ob, 0);
    step(h);
    check_int(uncollectable(h), 0);
    RRC_CLEAR(h->heap, THING(ob)->ref[0]);
    p->is_dead = 1;
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    close_hand(h);
}

/* Objects without links are looked at before all are searched: a chain that C holds, and that
   is tracked in the order from its end, costs no traversal of others. */
static void few_objects_without_links(void)
{
    enum { LINKED = 100, CHAIN = 20 };
    hand *h = open_hand();
    rrc_object *first = NULL, *proxied[LINKED];
    int i, first_step;

    for (i = 0; i < LINKED; i++) {
        proxied[i] = new_thing(h, &Tracked);
        link_to(h, proxied[i], 0);
    }
    for (i = 0; i < CHAIN; i++) {
        rrc_object *ob = new_thing(h, &Tracked);

        THING(ob)->ref[0] = first;
        first = ob;
    }
    check_int(rrc_mirror_step(h->heap), RRC_OK);
    traversals = 0;
    check_int(rrc_mirror_step(h->heap), RRC_OK);
    first_step = traversals;
#ifndef RRC_DEBUG
    check_int(first_step, LINKED + CHAIN + 2 * CHAIN);
#endif
    own(h, proxied[0], 0, first);
    rrc_decref(h->heap, first);             /* held by what has a link */
    step(h);
    check_int(uncollectable(h) + (size_t)h->deallocs, 0);
    RRC_CLEAR(h->heap, THING(proxied[0])->ref[0]);
    check_int(h->deallocs, CHAIN);
    traversals = 0;
    check_int(rrc_mirror_step(h->heap), RRC_OK);
    check(traversals < first_step);
    for (i = 0; i < LINKED; i++)
        rrc_decref(h->heap, proxied[i]);
    close_hand(h);
}

/* ... and if they are many, or one of them may be garbage, all are searched. */
static void many_objects_without_links(void)
{
    enum { MANY = 1100, RING = 3 };
    hand *h = open_hand();
    rrc_object *held[MANY], *ring[RING];
    int count, i;

    for (count = 1; count <= MANY; count += MANY - 1) {
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
        check_int(rrc_mirror_step(h->heap), RRC_ETRAVERSE);
        check_int(h->last_code, i == 1 ? RRC_EFREED : RRC_ETRAVERSE);
        check(h->logged > 0);
        h->logged = 0;
    }
    give(ob, 0, NULL);
    step(h);
    rrc_decref(h->heap, ob);
    close_hand(h);
}
#define DEBUG_TESTS , UNIT(what_is_no_object_is_reported)
#else
#define DEBUG_TESTS
#endif

UNIT_GROUP(mirror_hook_calls,
    UNIT(a_weak_type_has_instances),
    UNIT(walks_show_weak_objects),
    UNIT(a_negative_count_elsewhere),
    UNIT(a_step_is_due_for_tracked_objects),
    UNIT(held_again_when_its_node_has_died),
    UNIT(a_step_makes_dead_nodes_anew),
    UNIT(a_step_without_a_search),
    UNIT(a_collection_finds_dead_nodes),
    UNIT(a_finalizer_in_a_step_takes_the_dead),
    UNIT(what_a_step_finds_held_is_strong),
    UNIT(a_new_node_of_a_weak_object_is_let_go),
    UNIT(a_failed_update_is_made_up_for),
    UNIT(nothing_is_deallocated_in_a_step),
    UNIT(nothing_is_resized_in_a_step),
    UNIT(no_step_begins_in_a_hook),
    UNIT(a_step_keeps_what_it_has_noted),
    UNIT(a_child_of_what_waits_is_linked_again),
    UNIT(an_old_p_link_is_forgotten),
    UNIT(an_unlinked_p_is_let_go),
    UNIT(a_rooted_p_that_dies),
    UNIT(no_step_in_deallocs_and_walks),
    UNIT(a_first_node_of_the_hosts),
    UNIT(a_new_node_outside_a_step),
    UNIT(links_without_a_bias),
    UNIT(only_links),
    UNIT(untracked_while_it_is_mirrored),
    UNIT(finalizers_that_never_rest),
    UNIT(light_objects_are_weak_too),
    UNIT(static_objects_are_no_children),
    UNIT(nodes_are_for_tracked_objects),
    UNIT(a_mirror_hook_without_a_node),
    UNIT(many_targets),
    UNIT(uncollectable_till_it_is_linked),
    UNIT(few_objects_without_links),
    UNIT(many_objects_without_links) DEBUG_TESTS);
