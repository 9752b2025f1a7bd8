/* Cells: what the header does for a closed host that leaves its p's and edge nodes to it. This host has no collector:
 * a test says what has died, what fails, and what finalizers do in a hook. */

#include "mirror_programs.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 400, REFS = 4, MANY = 210 };

typedef struct being {
    int is_dead;
    int is_found;               /* dead, but its finalizer has not run: is_live tells */
    int pins, is_joined;
    rrc_cell *cell, *node;      /* that of its own; and the edge node that join gave */
    struct being *ref[REFS];    /* of an edge node */
    size_t count;
} being;

typedef struct own_cell {
    rrc_cell head;
    int mark;
    rrc_heap *heap;
} own_cell;

typedef struct world {
    rrc_heap *heap;
    being beings[OBJECTS];
    int used;
    int watched, forgotten, joined, written, emptied;
    int deferred;               /* calls of is_live that may wait */
    int defers;                 /* ... do so */
    int fail_node, fail_write;  /* the next so many calls fail */
    void (*in_node)(struct world *w);       /* the host collects, and runs finalizers */
    void (*in_write)(struct world *w);
    void (*in_pin)(struct world *w);
    void (*in_collect)(struct world *w);
    rrc_object *victim;
    int uncleared;              /* objects whose weak references are not cleared */
    int keeps;                  /* a dealloc keeps its object; 2: with what it owns; 3: by a link */
    being *doomed;
    int last_code, logged;
    int allocations, fail_alloc_at;         /* 0: none */
    ptrdiff_t bytes;
    int deallocs, visits;
    ptrdiff_t objects_at_forget;
    int has_lost;               /* a cell has no ob any more */
} world;

typedef struct thing {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *ref[REFS];
} thing;

#define THING(ob) ((thing *)(void *)(ob))
#define WORLD(heap) ((world *)rrc_userdata(heap))
#define IS_WEAK(ob) (RRC_REFCNT(ob) < 0)

/* ---- the host ---- */

static being *new_being(world *w)
{
    check(w->used < OBJECTS);
    return &w->beings[w->used++];
}

static being *being_of(const rrc_cell *c) { return (being *)c->object; }

static void call(void (**function)(world *w), world *w)
{
    void (*once)(world *w) = *function;

    *function = NULL;
    if (once != NULL)
        once(w);
}

static int is_live(void *userdata, const rrc_cell *c, int may_defer)
{
    ((world *)userdata)->deferred += may_defer;
    check(c->object != NULL);
    return (may_defer && ((world *)userdata)->defers) || (!being_of(c)->is_dead && !being_of(c)->is_found);
}

static int pin(void *userdata, rrc_cell *c, int on)
{
    check(c->object != NULL && (int)c->is_pinned != on);
    if (on && !is_live(userdata, c, 0))
        return 0;
    being_of(c)->pins += on ? 1 : -1;
    check(being_of(c)->pins == on);
    call(&((world *)userdata)->in_pin, (world *)userdata);
    return on;
}

static void watch(void *userdata, rrc_cell *c)
{
    check(being_of(c)->cell == NULL && c->ob != NULL && rrc_cell_at(((world *)userdata)->heap, c->number) == c);
    check_int(((own_cell *)c)->mark, 0);
    ((own_cell *)c)->mark = 77;
    ((own_cell *)c)->heap = ((world *)userdata)->heap;
    being_of(c)->cell = c;
    ((world *)userdata)->watched++;
}

static void forget(void *userdata, rrc_cell *c)
{
    rrc_stats stats;

    check_int(((own_cell *)c)->mark, 77);
    check((c->ob == NULL) == ((world *)userdata)->has_lost && !c->is_pinned);
    if (c->object != NULL)
        being_of(c)->cell = NULL;
    if (rrc_get_stats(((world *)userdata)->heap, &stats) == RRC_OK)
        ((world *)userdata)->objects_at_forget = (ptrdiff_t)stats.objects;
    ((world *)userdata)->forgotten++;
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    world *w = (world *)userdata;

    check(rrc_gc_is_tracked(w->heap, ob) && n <= REFS);
    call(&w->in_node, w);
    if (w->fail_node > 0) {
        w->fail_node--;
        return NULL;
    }
    return new_being(w);
}

static int write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    world *w = (world *)userdata;
    being *b = being_of(node);
    size_t i;

    check(node->is_node && n <= REFS && b->cell == node && is_live(w, node, 0));
    if (n == 0) {
        w->emptied++;
        b->count = 0;
        return 0;
    }
    w->written++;
    call(&w->in_write, w);
    if (w->fail_write > 0) {
        w->fail_write--;
        return 1;
    }
    for (i = b->count = 0; i < n; i++)
        if (targets[i]->object != NULL)
            b->ref[b->count++] = being_of(targets[i]);
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    check(!proxy->is_node && node->is_node && proxy->ob == node->ob && node->object != NULL);
    being_of(proxy)->node = node;
    being_of(proxy)->is_joined = 1;
    ((world *)userdata)->joined++;
}

static void collect(void *userdata) { call(&((world *)userdata)->in_collect, (world *)userdata); }

static void write_log(void *userdata, const rrc_log_item *item)
{
    world *w = (world *)userdata;

    w->last_code = item->code;
    w->logged++;
}

static void *reallocate(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    world *w = (world *)userdata;
    void *memory;

    if (new_size > 0 && ++w->allocations == w->fail_alloc_at)
        return NULL;
    memory = new_size > 0 ? realloc(ptr, new_size) : NULL;
    if (new_size == 0)
        free(ptr);
    w->bytes += (ptrdiff_t)new_size - (ptrdiff_t)old_size;
    return memory;
}

typedef struct hooks {
    rrc_desc open;
    rrc_closed_desc closed;
} hooks;

static hooks hooks_of(world *w)
{
    hooks all;

    memset(&all, 0, sizeof all);
    all.open.userdata = w;
    all.open.collect = collect;
    all.open.log = write_log;
    all.open.realloc = reallocate;
    all.closed.cell_size = sizeof(own_cell);
    all.closed.pin = pin;
    all.closed.watch = watch;
    all.closed.forget = forget;
    all.closed.is_live = is_live;
    all.closed.new_node = new_node;
    all.closed.write_node = write_node;
    all.closed.join = join;
    return all;
}

static world *open_world(void)
{
    world *w = (world *)calloc(1, sizeof *w);
    hooks all;

    if (w == NULL)
        abort();
    all = hooks_of(w);
    w->heap = rrc_closed_new(&all.open, &all.closed);
    check(w->heap != NULL);
    return w;
}

static rrc_closed_stats closed_stats_of(const world *w)
{
    rrc_closed_stats stats;

    memset(&stats, 0, sizeof stats);
    check_int(rrc_closed_get_stats(w->heap, &stats), RRC_OK);
    return stats;
}

static rrc_stats stats_of(const world *w)
{
    rrc_stats stats;

    memset(&stats, 0, sizeof stats);
    check_int(rrc_get_stats(w->heap, &stats), RRC_OK);
    return stats;
}

/* Each cell was forgotten once, whatever was left when the heap ended. */
static void close_world(world *w)
{
    int i;

    check_int(w->logged, 0);
    check_int(rrc_heap_free(w->heap), 0);
    check_int(w->logged, 0);
    check_int(w->bytes, 0);
    check_int(w->forgotten, w->watched);
    for (i = 0; i < w->used; i++)
        check(w->beings[i].is_dead || (w->beings[i].cell == NULL && w->beings[i].pins == 0));
    free(w);
}

static void expect_log(world *w, int code)
{
    check_int(w->logged, 1);
    check_int(w->last_code, code);
    w->logged = 0;
}

/* ---- its counted objects ---- */

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int i;

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
    WORLD(heap)->deallocs++;
    thing_clear(heap, self);
    rrc_gc_del(heap, self);
}

static const rrc_type Tracked = {
    .tp_name = "Tracked", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear,
};
static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(thing) };
static void counted_dealloc(rrc_heap *heap, rrc_object *self)
{
    WORLD(heap)->deallocs++;
    rrc_del(heap, self);
}
static const rrc_type Counted = { .tp_name = "Counted", .tp_basicsize = sizeof(thing), .tp_dealloc = counted_dealloc };

static rrc_object *new_tracked(world *w)
{
    rrc_object *ob = rrc_gc_new(w->heap, &Tracked);

    check(ob != NULL);
    check_int(rrc_gc_track(w->heap, ob), RRC_OK);
    return ob;
}

/* The reference of the caller's goes to the owner. */
static void own(rrc_object *owner, int n, rrc_object *ob) { THING(owner)->ref[n] = ob; }

static being *link_new(world *w, rrc_object *ob, int kind)
{
    being *b = new_being(w);

    check_int(rrc_cell_link(w->heap, b, ob, kind), RRC_OK);
    return b;
}

/* A view of a new object, which C holds. */
static rrc_object *new_view(world *w, being **b)
{
    rrc_object *ob = rrc_new(w->heap, &View);

    check(ob != NULL);
    *b = link_new(w, ob, RRC_P);
    return ob;
}

static void die(being *b)
{
    rrc_cell *c = b->cell;

    b->is_dead = 1;
    check_int(b->pins, 0);
    b->cell = NULL;
    rrc_cell_died(((own_cell *)c)->heap, c);
}

static void step(world *w)
{
    check_int(rrc_closed_step(w->heap), RRC_OK);
    check_int(rrc_check(w->heap), RRC_OK);
}

/* A tracked object with a proxy, that owns a view of another object of the host. */
typedef struct pair {
    rrc_object *owner, *owned;
    being *proxy, *value;
} pair;

static pair new_pair(world *w)
{
    pair t;

    t.owner = new_tracked(w);
    t.owned = new_view(w, &t.value);
    own(t.owner, 0, t.owned);
    t.proxy = link_new(w, t.owner, RRC_O);
    return t;
}

static rrc_cell *node_of(world *w, rrc_object *ob) { return rrc_cell_of_node(w->heap, ob); }

/* ---- stories ---- */

static void a_cell_goes_with_its_link(void)
{
    world *w = open_world();
    rrc_object *ob = new_tracked(w), *given = rrc_new(w->heap, &View);
    being *b = link_new(w, ob, RRC_O);
    rrc_cell *c = rrc_cell_of(w->heap, ob);

    check(c != NULL && c == b->cell && c->object == b && c->ob == ob && !c->is_node);
    check_ptr(rrc_to_obj(w->heap, ob), c);
    check_int(closed_stats_of(w).cells, 1);
    check_int(stats_of(w).o_young + stats_of(w).o_old, 1);
    check_int(rrc_cell_unlink(w->heap, c), RRC_OK);
    check_ptr(b->cell, NULL);
    check_ptr(rrc_cell_of(w->heap, ob), NULL);
    check_int(closed_stats_of(w).cells, 0);
    check_int(w->forgotten, 1);
    check_int(rrc_refcnt(ob), 1);
    b = new_being(w);
    check_int(rrc_cell_link(w->heap, b, given, RRC_P | RRC_GIVE), RRC_OK);      /* the same object again */
    check_int(rrc_refcnt(given), 0);
    check_int(b->pins, 0);
    rrc_incref(w->heap, given);
    check_int(b->pins, 1);
    rrc_decref(w->heap, given);
    check_int(b->pins, 0);
    die(b);
    given = rrc_new(w->heap, &View);
    rrc_incref(w->heap, given);
    b = new_being(w);
    check_int(rrc_cell_link(w->heap, b, given, RRC_P | RRC_GIVE), RRC_OK);      /* one of two references */
    check_int(b->pins, 1);
    rrc_decref(w->heap, given);
    check_int(b->pins, 0);
    die(b);
    rrc_decref(w->heap, ob);
    rrc_run_pending(w->heap, 0);
    check_int(stats_of(w).objects, 0);
    close_world(w);
}

static intptr_t others_of_foreign;

static intptr_t foreign_outside(rrc_heap *heap, rrc_object *ob)
{
    (void)heap, (void)ob;
    return others_of_foreign;
}
static const rrc_type Foreign = {
    .tp_name = "Foreign", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_outside = foreign_outside,
};

static rrc_cell *given_to_host(world *w, rrc_object *ob, int kind)
{
    return link_new(w, ob, kind | RRC_GIVE)->cell;
}

/* An object that is unlinked in a finalizer goes at once, if only its link held it, and no limit has left work. */
static void a_cell_goes_with_its_object(void)
{
    world *w = open_world();
    rrc_object *ob = new_tracked(w), *owned = rrc_new(w->heap, &Counted);
    rrc_cell *c = given_to_host(w, ob, RRC_O), *first, *second;
    int max;

    own(ob, 0, owned);
    check_int(rrc_cell_unlink_and_run(w->heap, c, 0), 2);
    check_int(w->deallocs, 2);
    check_int(stats_of(w).objects, 0);
    check_int(w->forgotten, 1);
    for (max = 1; max <= 2; max++) {    /* what waits already is older */
        first = given_to_host(w, new_tracked(w), RRC_O);
        second = given_to_host(w, rrc_new(w->heap, &Counted), RRC_P);
        check_int(rrc_cell_unlink(w->heap, first), RRC_OK);
        check_int(rrc_cell_unlink_and_run(w->heap, second, (size_t)max), max);
        check_int(stats_of(w).objects, 2 - max);
        check_int(stats_of(w).tracked, 0);
        check_int(stats_of(w).pending, 2 - max);
        check_int(rrc_run_pending(w->heap, 0), 2 - max);
    }
    own(ob = new_tracked(w), 0, rrc_new(w->heap, &Counted));    /* what it owns waits for the next call */
    check_int(rrc_cell_unlink_and_run(w->heap, given_to_host(w, ob, RRC_O), 1), 1);
    check_int(stats_of(w).objects, 1);
    check_int(rrc_run_pending(w->heap, 0), 1);
    ob = new_tracked(w);                /* C holds it */
    rrc_incref(w->heap, ob);
    check_int(rrc_cell_unlink_and_run(w->heap, given_to_host(w, ob, RRC_O), 0), 0);
    check_int(rrc_refcnt(ob), 1);
    rrc_decref(w->heap, ob);
    check_int(rrc_cell_unlink_and_run(w->heap, given_to_host(w, rrc_new(w->heap, &View), RRC_O | RRC_LIGHT), 0), 0);
    check_int(stats_of(w).objects, 0);
    others_of_foreign = 1;              /* others refer to a foreign object: the header holds its wrapper */
    ob = rrc_gc_new(w->heap, &Foreign);
    check_int(rrc_gc_track(w->heap, ob), RRC_OK);
    check_int(rrc_cell_unlink_and_run(w->heap, given_to_host(w, ob, RRC_P), 0), 0);
    check_int(rrc_refcnt(ob), 1);
    others_of_foreign = 0;
    step(w);
    check_int(rrc_run_pending(w->heap, 0), 1);
    check_int(stats_of(w).objects, 0);
    close_world(w);
}

/* The p of a link is its cell: the header cannot refuse this, and the host must not do it. */
static void one_object_has_two_p_links(void)
{
    world *w = open_world();
    being *b;
    rrc_object *first = new_view(w, &b), *second = rrc_new(w->heap, &View);
    rrc_cell *c = b->cell;

    b->cell = NULL;                     /* the host forgets that it has one */
    b->pins = 0;
    check_int(rrc_cell_link(w->heap, b, second, RRC_P), RRC_OK);
    check(b->cell != c && rrc_cell_of(w->heap, first) == c && rrc_cell_of(w->heap, second) == b->cell);
    check_int(rrc_check(w->heap), RRC_OK);
    check_int(rrc_cell_unlink(w->heap, b->cell), RRC_OK);
    b->pins = 1;
    check_int(rrc_cell_unlink(w->heap, c), RRC_OK);
    rrc_decref(w->heap, first);
    rrc_decref(w->heap, second);
    close_world(w);
}

static void cells_have_numbers(void)
{
    world *w = open_world();
    unsigned number = rrc_cell_reserve(w->heap), i;
    being *b, *own;
    rrc_object *ob = new_view(w, &b);
    rrc_cell *c = b->cell;

    check(number > 0 && c->number == number && rrc_cell_at(w->heap, number) == c);
    check_ptr(rrc_cell_at(w->heap, 0), NULL);
    check_ptr(rrc_cell_at(w->heap, 1000000), NULL);
    check_int(rrc_cell_unlink(w->heap, c), RRC_OK);
    check_ptr(rrc_cell_at(w->heap, number), NULL);
    check_int(rrc_cell_reserve(w->heap), number);
    for (i = 0; i < 200; i++) {
        own = new_being(w);
        c = rrc_cell_new(w->heap, own, ob);
        check(c != NULL && own->cell == c && c->object == own && c->ob == ob && !c->is_node && c->tag == 0);
        check_ptr(rrc_cell_at(w->heap, c->number), c);
        check(c->number <= number + i);
    }
    check_int(closed_stats_of(w).cells, 200);
    rrc_cell_free(w->heap, c);
    check_ptr(own->cell, NULL);
    check_int(closed_stats_of(w).cells, 199);
    for (i = 0; i < (unsigned)w->used; i++)
        if (w->beings[i].cell != NULL)
            rrc_cell_free(w->heap, w->beings[i].cell);
    rrc_decref(w->heap, ob);
    check_int(rrc_cell_reserve(NULL), 0);
    close_world(w);
}

/* ... although its object owns nothing. */
static void the_host_keeps_a_node(void)
{
    world *w = open_world();
    rrc_object *bare = new_tracked(w), *ob = rrc_new(w->heap, &View);
    being *first = new_being(w), *second = new_being(w), *proxy;
    rrc_cell *node;

    check_ptr(rrc_cell_keep_node(w->heap, bare, NULL), NULL);
    check_ptr(rrc_cell_keep_node(w->heap, ob, first), NULL);     /* it is not tracked */
    proxy = link_new(w, bare, RRC_O);
    node = rrc_cell_keep_node(w->heap, bare, first);
    check(node != NULL && node->object == first && first->pins == 1 && proxy->node == node);
    step(w);
    check_ptr(node_of(w, bare), node);
    w->deferred = 0;
    check_ptr(rrc_cell_keep_node(w->heap, bare, second), node);
    check_int(w->deferred, 0);                  /* a death would be told at once */
    rrc_decref(w->heap, bare);
    check_int(first->pins, 0);
    first->is_found = 1;
    node = rrc_cell_keep_node(w->heap, bare, second);
    check(node != NULL && node->object == second && proxy->node == node);
    first->is_dead = 1;
    step(w);
    check_ptr(node_of(w, bare), node);
    rrc_decref(w->heap, ob);
    close_world(w);
}

/* ... or owns nothing any more, and loses its P link while a step in slices finds that. */
static void the_host_keeps_a_node_in_a_step(void)
{
    int slices, i;

    for (slices = 0; slices < 40; slices++) {
        world *w = open_world();
        rrc_object *owner = new_tracked(w);
        being *value;
        rrc_cell *node;

        unit_context("after %d slices", slices);
        own(owner, 0, new_view(w, &value));
        link_new(w, owner, RRC_O);
        step(w);
        check(node_of(w, owner) != NULL);
        check_int(rrc_cell_unlink(w->heap, rrc_cell_of(w->heap, owner)), RRC_OK);
        link_new(w, owner, RRC_P);
        RRC_CLEAR(w->heap, THING(owner)->ref[0]);
        for (i = 0; i < slices; i++)
            rrc_closed_work(w->heap, 1);
        check_int(rrc_cell_unlink(w->heap, rrc_cell_of(w->heap, owner)), RRC_OK);
        node = rrc_cell_keep_node(w->heap, owner, new_being(w));
        check(node != NULL);
        step(w);
        check_ptr(node_of(w, owner), node);
        rrc_decref(w->heap, owner);
        close_world(w);
    }
}

/* An object of which nothing stood when its owner was mirrored gets a node between slices: that stays rooted until a
   later step has mirrored the owner again. */
static void a_node_is_kept_after_its_owner_was_mirrored(void)
{
    int slices, i, k;

    for (slices = 0; slices < 40; slices++) {
        world *w = open_world();
        rrc_object *owner = new_tracked(w), *owned = new_tracked(w);
        being *value, *listed;
        rrc_cell *node;

        unit_context("after %d slices", slices);
        own(owner, 0, new_view(w, &value));
        own(owner, 1, owned);
        for (i = 0; i < slices; i++)
            rrc_closed_work(w->heap, 1);
        node = rrc_cell_keep_node(w->heap, owned, new_being(w));
        check(node != NULL);
        for (k = 0; k < 3; k++) {
            while (rrc_closed_work(w->heap, 1) > 0 && !node->is_pinned && node_of(w, owner) == NULL)
                ;
            for (i = 0; i < 200 && rrc_closed_work(w->heap, 1) > 0; i++) {
                rrc_cell *owners = node_of(w, owner);
                size_t n;
                int is_there = node->is_pinned;

                listed = owners != NULL ? (being *)owners->object : NULL;
                for (n = 0; listed != NULL && n < listed->count; n++)
                    is_there |= listed->ref[n] == (being *)node->object;
                check(is_there);
            }
        }
        check_ptr(node_of(w, owned), node);
        rrc_decref(w->heap, owner);
        close_world(w);
    }
}

static void a_link_that_fails_leaves_no_cell(void)
{
    world *w = open_world();
    rrc_object *ob = new_tracked(w);
    being *b = link_new(w, ob, RRC_O), *other = new_being(w);

    check_int(rrc_cell_link(w->heap, other, ob, RRC_O), RRC_ELINKED);
    expect_log(w, RRC_ELINKED);
    check_int(w->forgotten, 0);
    check_ptr(other->cell, NULL);
    check_int(rrc_cell_link(w->heap, NULL, ob, RRC_O), RRC_ENULL);
    expect_log(w, RRC_ENULL);
    check_int(rrc_cell_link(w->heap, other, NULL, RRC_O), RRC_ENULL);
    expect_log(w, RRC_ENULL);
    check_int(rrc_cell_link(NULL, other, ob, RRC_O), RRC_ENULL);
    check_int(closed_stats_of(w).cells, 1);
#if defined(RRC_DEBUG) && !HOST_FRONT
    RRC_TYPE(ob) = (const rrc_type *)((uintptr_t)RRC_TYPE(ob) | 1);     /* as if it were freed */
    check_int(rrc_cell_link(w->heap, other, ob, RRC_O), RRC_EFREED);
    RRC_TYPE(ob) = (const rrc_type *)((uintptr_t)RRC_TYPE(ob) & ~(uintptr_t)1);
    expect_log(w, RRC_EFREED);
#endif
    check(b->cell != NULL);
    rrc_decref(w->heap, ob);
    close_world(w);
}

/* The object of the host knows its cell as before, its death is still reported, and nothing refers to an edge node. */
static void a_failing_link_changes_nothing(void)
{
    static const struct {
        int kind, code;
    } calls[] = { { RRC_O, RRC_ELINKED }, { RRC_P, RRC_ELINKED }, { RRC_P | RRC_O, RRC_EKIND }, { 64, RRC_EKIND },
                  { RRC_O | RRC_GIVE, RRC_EREFCNT } };
    world *w = open_world();
    pair t = new_pair(w);
    being *b;
    rrc_object *view = new_view(w, &b);
    rrc_cell *c = b->cell;
    int watched, joined;
    size_t i;

    rrc_decref(w->heap, t.owner);
    step(w);
    check(node_of(w, t.owner) != NULL);
    watched = w->watched;
    joined = w->joined;
    for (i = 0; i < sizeof calls / sizeof *calls; i++) {
        unit_context("%d: ", (int)i);
        check_int(rrc_cell_link(w->heap, b, t.owner, calls[i].kind), calls[i].code);
        expect_log(w, calls[i].code);
        check(b->cell == c && ((own_cell *)c)->mark == 77 && !b->is_joined);
        check(w->watched == watched && w->joined == joined && w->forgotten == 0);
        check_int(closed_stats_of(w).cells, watched);
    }
    t.proxy->is_found = 1;              /* a link whose object has died stays as well */
    check_int(rrc_cell_link(w->heap, b, t.owner, 0), RRC_EKIND);
    expect_log(w, RRC_EKIND);
    check_int(w->forgotten, 0);
    check_int(stats_of(w).o_young + stats_of(w).o_old, 1);
    t.proxy->is_found = 0;
    rrc_decref(w->heap, view);
    die(b);
    check_int(closed_stats_of(w).cells, watched - 1);
    close_world(w);
}

static void memory_is_lacking_for_a_link(void)
{
    world *w = open_world();
    int n, code = RRC_ENOMEM;

    for (n = 1; code != RRC_OK; n++) {
        rrc_object *ob = new_tracked(w);
        being *b = new_being(w);
        size_t cells = closed_stats_of(w).cells;
        int watched = w->watched;

        w->allocations = 0;
        w->fail_alloc_at = n;
        code = rrc_cell_link(w->heap, b, ob, RRC_O);
        w->fail_alloc_at = 0;
        check_int(w->watched, watched + (code == RRC_OK));
        check(code == RRC_OK || (code == RRC_ENOMEM && b->cell == NULL));
        check_int(closed_stats_of(w).cells, cells + (code == RRC_OK));
        check_int(rrc_check(w->heap), RRC_OK);
        rrc_decref(w->heap, ob);
    }
    check(n > 2);                       /* the cell, at least */
    close_world(w);
}

static void a_node_refers_to_the_targets(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    rrc_object *bare = new_tracked(w);
    being *node;

    own(t.owner, 1, bare);
    rrc_decref(w->heap, (rrc_incref(w->heap, bare), bare));
    rrc_incref(w->heap, t.owned);
    own(bare, 0, t.owned);
    step(w);
    check(node_of(w, t.owner) != NULL && node_of(w, bare) != NULL);
    node = being_of(node_of(w, t.owner));
    check_ptr(t.proxy->node, node_of(w, t.owner));
    check_int(node->count, 2);
    check_ptr(node->ref[0], t.value);
    check_ptr(node->ref[1], node_of(w, bare)->object);
    check_ptr(being_of(node_of(w, bare))->ref[0], t.value);
    check_int(closed_stats_of(w).cells, 4);
    check(IS_WEAK(t.owned) && t.value->pins == 0);
    check_int(node->pins, 1);                               /* C holds the owner */
    rrc_decref(w->heap, t.owner);
    check_int(node->pins, 0);

    RRC_CLEAR(w->heap, THING(t.owner)->ref[0]);
    RRC_CLEAR(w->heap, THING(t.owner)->ref[1]);
    step(w);                                                /* it owns nothing: the node is not needed */
    check_ptr(node_of(w, t.owner), NULL);
    check_int(node->count, 0);
    die(t.proxy);
    rrc_run_pending(w->heap, 0);
    close_world(w);
}

static void hooks_fail(void)
{
    world *w = open_world();
    rrc_object *bare = new_tracked(w);  /* (steps make the node of its owner first) */
    pair t = new_pair(w);

    w->fail_node = 1;
    check_int(rrc_closed_step(w->heap), RRC_ENOMEM);
    check(!IS_WEAK(t.owned) && t.value->pins == 1);
    check_int(closed_stats_of(w).cells, 2);
    w->fail_write = 1;
    check_int(rrc_closed_step(w->heap), RRC_ENOMEM);
    check(!IS_WEAK(t.owned) && t.value->pins == 1);
    check_int(closed_stats_of(w).cells, 3);                        /* the node is there, and empty */
    check_int(rrc_check(w->heap), RRC_OK);
    step(w);
    check(IS_WEAK(t.owned) && t.value->pins == 0);
    own(t.owner, 1, bare);
    rrc_incref(w->heap, t.owned);
    own(bare, 0, t.owned);
    w->fail_node = 1;
    check_int(rrc_closed_step(w->heap), RRC_ENOMEM);
    check_int(w->fail_node, 0);
    check_ptr(node_of(w, bare), NULL);
    check_int(being_of(node_of(w, t.owner))->count, 1);
    step(w);
    check_int(being_of(node_of(w, t.owner))->count, 2);
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

static void memory_is_lacking_for_a_step(void)
{
    int n, code = RRC_ENOMEM;

    for (n = 1; code != RRC_OK; n++) {
        world *w = open_world();
        pair t = new_pair(w);

        w->allocations = 0;
        w->fail_alloc_at = n;
        code = rrc_closed_step(w->heap);
        w->fail_alloc_at = 0;
        check(code == RRC_OK || code == RRC_ENOMEM);
        check_int(IS_WEAK(t.owned), code == RRC_OK);
        check_int(t.value->pins, code != RRC_OK);
        check_int(rrc_check(w->heap), RRC_OK);
        step(w);
        check_ptr(being_of(node_of(w, t.owner))->ref[0], t.value);
        rrc_decref(w->heap, t.owner);
        close_world(w);
    }
    check(n > 2);                       /* the buffer of targets */
}

static void a_proxy_is_joined_with_its_node(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    being *node;

    step(w);
    node = being_of(node_of(w, t.owner));
    die(t.proxy);
    check_ptr(rrc_to_obj(w->heap, t.owner), NULL);
    check_int(node->pins, 1);
    w->joined = 0;
    t.proxy = link_new(w, t.owner, RRC_O);
    check_int(w->joined, 1);
    check_ptr(t.proxy->node, node->cell);
    check(IS_WEAK(t.owned));
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

static void kill_doomed(world *w) { die(w->doomed); }
static void find_doomed(world *w) { w->doomed->is_found = 1; }

/* A finalizer in new_node drops the view of a target, or it is to do so: the target is left out. */
static void targets_die_in_new_node(void)
{
    int is_late;

    for (is_late = 0; is_late < 2; is_late++) {
        world *w = open_world();
        pair t = new_pair(w);
        being *other;
        rrc_object *second = new_view(w, &other);

        own(t.owner, 1, second);
        other->pins = 0;                /* (the host is wrong to let it die, but the header must not read it) */
        other->cell->is_pinned = 0;
        w->doomed = other;
        w->in_node = is_late ? find_doomed : kill_doomed;
        check_int(rrc_closed_step(w->heap), RRC_OK);
        check_int(being_of(node_of(w, t.owner))->count, 1);
        check_ptr(being_of(node_of(w, t.owner))->ref[0], t.value);
        rrc_decref(w->heap, t.owner);
        close_world(w);
    }
}

/* Of an owner that only the host's garbage refers to the node dies, while a node is made for what it owns. */
static void a_node_dies_before_it_is_written(void)
{
    world *w = open_world();
    rrc_object *bare = new_tracked(w);
    pair t = new_pair(w);               /* (the newest has its turn first) */
    being *value;

    rrc_decref(w->heap, t.owner);
    step(w);
    own(bare, 0, new_view(w, &value));
    own(t.owner, 1, bare);
    w->doomed = being_of(node_of(w, t.owner));
    w->in_node = find_doomed;
    w->written = 0;
    check_int(rrc_closed_step(w->heap), RRC_OK);
    check_int(w->written, 1);           /* that of bare */
    w->doomed->is_dead = 1;
    die(t.proxy);
    rrc_run_pending(w->heap, 0);
    check_int(w->deallocs, 2);
    close_world(w);
}

/* Another node is made in its place. */
static void a_node_dies_before_its_turn(void)
{
    world *w = open_world();
    pair first = new_pair(w), second;
    being *more, *former;

    rrc_decref(w->heap, first.owner);
    step(w);
    second = new_pair(w);               /* (the newest has its turn first) */
    own(first.owner, 1, new_view(w, &more));
    former = w->doomed = being_of(node_of(w, first.owner));
    w->in_node = find_doomed;
    step(w);
    check(node_of(w, first.owner)->object != former);
    check_ptr(former->cell, NULL);
    check_ptr(first.proxy->node, node_of(w, first.owner));
    check_int(being_of(node_of(w, first.owner))->count, 2);
    check_int(closed_stats_of(w).cells, 7);
    former->is_dead = 1;
    rrc_decref(w->heap, second.owner);
    close_world(w);
}

/* C has only borrowed the object, so that nobody has asked for its node. */
static void a_proxy_comes_when_the_node_has_died(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    rrc_object *bare = new_tracked(w), *view;
    being *value, *node;

    view = new_view(w, &value);
    own(bare, 0, view);
    own(t.owner, 1, bare);
    step(w);
    check(IS_WEAK(bare) && IS_WEAK(view));
    node = being_of(node_of(w, bare));
    check_int(node->pins, 0);
    node->is_found = 1;
    w->joined = 0;
    link_new(w, bare, RRC_O);
    check_int(w->joined, 0);
    check(!IS_WEAK(view) && value->pins == 1);
    check_ptr(node_of(w, bare), NULL);
    step(w);
    check_int(w->joined, 1);
    check(IS_WEAK(view));
    node->is_dead = 1;
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

/* The cell's memory is still there when write_node reads it. */
static void targets_die_in_write_node(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    being *other;
    rrc_object *second = new_view(w, &other);

    own(t.owner, 1, second);
    other->pins = 0;
    other->cell->is_pinned = 0;
    w->doomed = other;
    w->in_write = kill_doomed;
    check_int(rrc_closed_step(w->heap), RRC_OK);
    check_int(being_of(node_of(w, t.owner))->count, 1);
    check_int(closed_stats_of(w).cells, 3);
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

static void untrack_victim(world *w) { rrc_gc_untrack(w->heap, w->victim); }

/* Then the node goes, while it is being written. */
static void the_owner_is_untracked_in_hooks(void)
{
    int in_write;

    for (in_write = 0; in_write < 2; in_write++) {
        world *w = open_world();
        pair t = new_pair(w);

        w->victim = t.owner;
        *(in_write ? &w->in_write : &w->in_node) = untrack_victim;
        if (in_write)
            w->fail_write = 1;          /* (its object has forgotten the cell) */
        check_int(rrc_closed_step(w->heap), in_write ? RRC_ENOMEM : RRC_OK);
        check_ptr(node_of(w, t.owner), NULL);
        check_int(closed_stats_of(w).cells, 2);
        check(!IS_WEAK(t.owned) && t.value->pins == 1);
        rrc_decref(w->heap, t.owner);
        close_world(w);
    }
}

static void take_owned(world *w) { rrc_incref(w->heap, w->victim); }

/* A finalizer in new_node makes an object strong. It stays so. */
static void a_target_is_taken_in_new_node(void)
{
    world *w = open_world();
    pair t = new_pair(w);

    w->victim = t.owned;
    w->in_node = take_owned;
    step(w);
    check(!IS_WEAK(t.owned) && t.value->pins == 1);
    rrc_decref(w->heap, t.owned);
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

/* A view that only the host holds, after a step. */
static rrc_object *new_weak_view(world *w, being **alone)
{
    rrc_object *view = new_view(w, alone);

    rrc_decref(w->heap, view);
    step(w);
    check(IS_WEAK(view));
    return view;
}

static void a_step_finds_a_dead_view(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    being *alone;

    new_weak_view(w, &alone);
    alone->is_found = 1;                /* the host reports nothing, but asked, it says so */
    step(w);
    check_int(closed_stats_of(w).cells, 3);
    check_ptr(alone->cell, NULL);
    rrc_run_pending(w->heap, 0);
    check_int(stats_of(w).objects, 2);
    alone->is_dead = 1;
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

static void a_dead_node_is_made_again(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    being *node, *value = t.value;
    int reported;

    for (reported = 0; reported < 2; reported++) {
        rrc_decref(w->heap, t.owner);
        step(w);
        node = being_of(node_of(w, t.owner));
        check(IS_WEAK(t.owned) && value->pins == 0 && node->pins == 0);
        if (reported) {
            die(node);
        } else {
            node->is_found = 1;
        }
        die(t.proxy);                   /* the owner is rooted, finds its node dead, and roots what it owns */
        check(t.owner != NULL && !IS_WEAK(t.owned) && value->pins == 1);
        check_ptr(node_of(w, t.owner), NULL);
        rrc_incref(w->heap, t.owner);
        rrc_run_pending(w->heap, 0);
        step(w);
        check(node_of(w, t.owner) != NULL && being_of(node_of(w, t.owner)) != node);
        node->is_dead = 1;
        t.proxy = link_new(w, t.owner, RRC_O);
        check_ptr(t.proxy->node, node_of(w, t.owner));
    }
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

/* The node of a weak owner has died, and its proxy lives: the step notices. */
static void a_step_finds_a_dead_node(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    being *node;

    rrc_decref(w->heap, t.owner);
    step(w);
    node = being_of(node_of(w, t.owner));
    check(IS_WEAK(t.owner) && IS_WEAK(t.owned));
    node->is_found = 1;
    step(w);
    check_ptr(node->cell, NULL);
    check(being_of(node_of(w, t.owner)) != node);
    check_ptr(t.proxy->node, node_of(w, t.owner));
    step(w);
    check(IS_WEAK(t.owned) && t.value->pins == 0);
    die(t.proxy);
    rrc_run_pending(w->heap, 0);
    close_world(w);
}

/* Garbage is made whole before it waits. One of its nodes has died, and what that listed is garbage, too. */
static void garbage_whose_node_has_died_waits(void)
{
    world *w = open_world();
    rrc_object *a = new_tracked(w), *b = new_tracked(w);
    being *node;

    rrc_incref(w->heap, a);
    own(a, 0, b);
    own(b, 0, a);
    step(w);
    node = being_of(node_of(w, b));
    check(IS_WEAK(b) && !IS_WEAK(a));
    rrc_decref(w->heap, a);
    node->is_found = w->defers = 1;
    step(w);
    check_ptr(node->cell, NULL);
    check_int(stats_of(w).pending, 2);
    rrc_run_pending(w->heap, 0);
    check_int(w->deallocs, 2);
    close_world(w);
}

/* C takes hold of garbage that reaches what was cleared. Both are garbage again later, and can go. */
static void what_was_cleared_is_reached_by_what_is_saved(void)
{
    world *w = open_world();
    rrc_object *cleared = new_tracked(w), *saved = new_tracked(w);

    rrc_incref(w->heap, saved);
    own(saved, 0, saved);
    own(saved, 1, cleared);
    own(cleared, 0, saved);
    step(w);
    check_int(stats_of(w).pending, 2);
    rrc_run_pending(w->heap, 1);
    check_ptr(THING(cleared)->ref[0], NULL);
    rrc_incref(w->heap, saved);
    check_int(stats_of(w).pending, 0);
    rrc_decref(w->heap, saved);
    step(w);
    check_int(stats_of(w).pending, 2);
    rrc_run_pending(w->heap, 0);
    check_int(w->deallocs, 2);
    close_world(w);
}

/* C gets hold of a view whose p has died, and an owner gets that reference. The host tells of the death later. */
static void a_dead_view_gets_an_owner(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    being *alone;
    rrc_object *view = new_weak_view(w, &alone);

    alone->is_found = w->defers = 1;
    rrc_incref(w->heap, view);
    check(IS_WEAK(view));
    own(t.owner, 1, view);
    step(w);
    check_ptr(rrc_cell_of(w->heap, view), NULL);
    alone->is_dead = 1;
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

/* The proxy has died, and its finalizer is late. The node is not joined with it. */
static void a_node_is_made_for_a_dead_proxy(void)
{
    world *w = open_world();
    pair t = new_pair(w);

    t.proxy->is_found = 1;
    step(w);
    check(node_of(w, t.owner) != NULL && w->joined == 0);
    rrc_decref(w->heap, t.owner);
    close_world(w);
}

/* The finalizer is late. Whoever asks for the object, or makes a new link, buries it, and then the finalizer has nothing
   to report. */
static void a_late_finalizer(void)
{
    int is_asked;

    for (is_asked = 0; is_asked < 2; is_asked++) {
        world *w = open_world();
        pair t = new_pair(w);
        being *former = t.proxy;

        former->is_found = 1;
        if (is_asked) {
            check_ptr(rrc_cell_of(w->heap, t.owner), NULL);
            check_ptr(former->cell, NULL);
            check_int(w->forgotten, 1);
        }
        t.proxy = link_new(w, t.owner, RRC_O);
        check_ptr(former->cell, NULL);
        check_int(w->forgotten, 1);
        check_ptr(rrc_cell_of(w->heap, t.owner), t.proxy->cell);
        check_ptr(rrc_cell_of(w->heap, NULL), NULL);
        rrc_decref(w->heap, t.owner);
        close_world(w);
    }
}

/* The finalizer may not call the header. */
static void deaths_are_noted_and_buried_later(void)
{
    world *w = open_world();
    pair first = new_pair(w), second = new_pair(w);
    rrc_cell *node;

    step(w);
    node = node_of(w, first.owner);
    first.proxy->cell->object = second.proxy->cell->object = NULL;
    first.proxy->is_dead = second.proxy->is_dead = 1;
    check_int(closed_stats_of(w).cells, 6);
    rrc_cell_bury_all(w->heap);
    check_int(closed_stats_of(w).cells, 4);
    check_ptr(rrc_to_obj(w->heap, first.owner), NULL);
    check_ptr(node_of(w, first.owner), node);
    check_int(being_of(node)->pins, 1);
    rrc_cell_bury_all(w->heap);
    check_int(closed_stats_of(w).cells, 4);
    rrc_decref(w->heap, first.owner);
    rrc_decref(w->heap, second.owner);
    close_world(w);
}

/* What is buried takes its node with it, which the walk would come to next. */
static void a_burial_takes_the_next_cell(void)
{
    world *w = open_world();
    pair t = new_pair(w);
    rrc_cell *node;

    step(w);
    die(t.proxy);
    t.proxy = link_new(w, t.owner, RRC_O);
    step(w);
    rrc_decref(w->heap, t.owner);
    node = node_of(w, t.owner);
    check(t.proxy->cell->number < node->number);
    being_of(node)->is_dead = t.proxy->is_dead = 1;
    node->object = t.proxy->cell->object = NULL;
    rrc_cell_bury_all(w->heap);
    check_int(closed_stats_of(w).cells, 1);
    rrc_run_pending(w->heap, 0);
    close_world(w);
}

static void burials_take_nodes_with_them(void)
{
    world *w = open_world();
    pair t[10];
    int i;

    for (i = 0; i < 10; i++) {
        t[i] = new_pair(w);
        if (i > 0) {
            rrc_incref(w->heap, t[i].owner);
            own(t[i - 1].owner, 1, t[i].owner);
        }
    }
    step(w);
    check_int(closed_stats_of(w).cells, 30);
    for (i = 0; i < 10; i++)
        rrc_decref(w->heap, t[i].owner);
    for (i = 0; i < 10; i++) {
        node_of(w, t[i].owner)->object = NULL;
        t[i].proxy->cell->object = NULL;
        t[i].proxy->is_dead = 1;
    }
    for (i = 0; i < w->used; i++)
        if (w->beings[i].cell != NULL && w->beings[i].cell->object == NULL)
            w->beings[i].is_dead = 1;
    rrc_cell_bury_all(w->heap);
    check_int(closed_stats_of(w).cells, 10);
    rrc_run_pending(w->heap, 0);
    close_world(w);
}

static void visit_cell(void *arg, rrc_cell *c)
{
    world *w = (world *)arg;
    rrc_object *ob;
    being *b;

    w->visits++;
    if (c->is_node)
        return;
    ob = c->ob;
    check_int(rrc_cell_unlink(w->heap, c), RRC_OK);
    b = new_being(w);
    check_int(rrc_cell_link(w->heap, b, ob, RRC_O), RRC_OK);
}

static void count_cell(void *arg, rrc_cell *c)
{
    (void)c;
    ++*(int *)arg;
}

static void each_cell_is_visited(void)
{
    world *w = open_world();
    pair first = new_pair(w), second = new_pair(w);
    int count = 0;

    rrc_cell_each(w->heap, count_cell, &count);
    check_int(count, 4);
    step(w);
    rrc_decref(w->heap, THING(first.owner)->ref[0]);
    rrc_decref(w->heap, THING(second.owner)->ref[0]);
    THING(first.owner)->ref[0] = THING(second.owner)->ref[0] = NULL;
    die(first.value);
    die(second.value);
    rrc_cell_each(w->heap, visit_cell, w);
    check_int(w->visits, 4);            /* two proxies, and two nodes */
    check_int(closed_stats_of(w).cells, 4);
    rrc_decref(w->heap, first.owner);
    rrc_decref(w->heap, second.owner);
    close_world(w);
}

/* Four views, the oldest first. While one is visited, another one goes: first the next one, then an earlier one. */
typedef struct walk {
    world *w;
    being *b[4];
    int seen[4], count;
} walk;

static void part_another(void *arg, rrc_cell *c)
{
    walk *k = (walk *)arg;
    int i = 0;

    while (i < 4 && k->b[i] != being_of(c))
        i++;
    check(i < 4 && k->count < 4);
    k->seen[k->count++] = i;
    if (i == 0)
        check_int(rrc_cell_unlink(k->w->heap, k->b[1]->cell), RRC_OK);
    else if (i == 2)
        check_int(rrc_cell_unlink(k->w->heap, k->b[0]->cell), RRC_OK);
}

static void others_go_while_one_is_visited(void)
{
    world *w = open_world();
    rrc_object *ob[4];
    walk k;
    int i;

    memset(&k, 0, sizeof k);
    k.w = w;
    for (i = 0; i < 4; i++)
        ob[i] = new_view(w, &k.b[i]);
    rrc_cell_each(w->heap, part_another, &k);
    check_int(k.count, 3);
    check(k.seen[0] == 0 && k.seen[1] == 2 && k.seen[2] == 3);
    check_int(closed_stats_of(w).cells, 2);
    for (i = 0; i < 4; i++)
        rrc_decref(w->heap, ob[i]);
    close_world(w);
}

static void kill_in_collect(world *w) { die(w->doomed); }

static void a_death_in_a_collection(void)
{
    world *w = open_world();
    pair t = new_pair(w);

    rrc_decref(w->heap, t.owner);
    w->doomed = t.proxy;
    w->in_collect = kill_in_collect;
    rrc_gc_collect(w->heap);
    check_int(w->deallocs, 1);
    check_int(closed_stats_of(w).cells, 1);
    check_int(t.value->pins, 0);
    rrc_closed_step(w->heap);
    close_world(w);
}

/* All kinds of cells are there: of what C holds, of what only the host holds, and of the dead. */
static void a_heap_ends_with_cells(void)
{
    world *w = open_world();
    pair held = new_pair(w), idle = new_pair(w), dead = new_pair(w);
    being *view;
    rrc_object *alone = new_view(w, &view);

    rrc_decref(w->heap, idle.owner);
    rrc_decref(w->heap, dead.owner);
    rrc_decref(w->heap, alone);
    step(w);
    check_int(closed_stats_of(w).cells, 10);
    dead.proxy->is_found = dead.value->is_found = view->is_found = 1;
    check_int(w->logged, 0);
    check_int(rrc_heap_free(w->heap), 2);                   /* an owner, and what it owns */
    check_int(w->logged, 0);
    check_int(w->forgotten, w->watched);
    check_ptr(held.proxy->cell, NULL);
    check_int(held.value->pins, 0);
    check_int(rrc_refcnt(held.owner), 1);
    check_int(rrc_cell_link(w->heap, held.proxy, held.owner, RRC_O), RRC_ECLOSED);
    expect_log(w, RRC_ECLOSED);
    check_ptr(rrc_cell_of(w->heap, held.owner), NULL);
    rrc_decref(w->heap, held.owner);
    check_int(w->bytes, 0);
    free(w);
}

/* The link of a cell is dissolved in another way than by rrc_cell_unlink: the cell stays until the end. */
static void a_cell_without_a_link(void)
{
    world *w = open_world();
    being *b;
    rrc_object *ob = new_view(w, &b);

    check_int(rrc_unlink(w->heap, ob), RRC_OK);
    check_int(w->forgotten, 0);
    check_int(closed_stats_of(w).cells, 1);
    rrc_decref(w->heap, ob);
    w->has_lost = 1;
    check_int(rrc_heap_free(w->heap), 0);
    check_int(w->forgotten, 1);
    check_ptr(b->cell, NULL);
    check_int(w->bytes, 0);
    free(w);
}

static void break_the_rule(world *w)
{
    being *b = new_being(w);

    check_int(rrc_cell_link(w->heap, b, w->victim, RRC_O), RRC_EPHASE);
    w->logged--;
    check_ptr(b->cell, NULL);
    check_int(rrc_cell_unlink(w->heap, rrc_cell_of(w->heap, w->victim)), RRC_EPHASE);
    w->logged--;
    rrc_decref(w->heap, w->victim);
    check_int(rrc_cell_unlink_and_run(w->heap, rrc_cell_of(w->heap, w->victim), 0), 0);
    w->logged--;
    check_int(rrc_refcnt(w->victim), 0);
    rrc_incref(w->heap, w->victim);
}

static void cells_are_refused_in_hooks(void)
{
#ifdef RRC_DEBUG
    world *w = open_world();
    pair t = new_pair(w);

    w->victim = t.owner;
    rrc_decref(w->heap, t.owned);
    THING(t.owner)->ref[0] = NULL;
    w->in_pin = break_the_rule;
    rrc_incref(w->heap, t.owned);
    check(w->in_pin == NULL && w->logged == 0);
    check_int(closed_stats_of(w).cells, 2);
    rrc_decref(w->heap, t.owned);
    rrc_decref(w->heap, t.owner);
    close_world(w);
#else
    (void)break_the_rule;
#endif
}

static void expect_no_heap(world *w, const hooks *all)
{
    check_ptr(rrc_closed_new(&all->open, &all->closed), NULL);
    expect_log(w, RRC_EDESC);
}

static void no_trace(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }
static rrc_gcref no_survivor(void *userdata, rrc_gcref p) { (void)userdata; return p; }
static void no_parted(void *userdata, rrc_gcref p, rrc_object *ob) { (void)userdata, (void)p, (void)ob; }

static void the_hooks_of_cells_come_together(void)
{
    world w;
    hooks all;
    rrc_heap *heap;

    memset(&w, 0, sizeof w);
    all = hooks_of(&w), all.closed.pin = NULL, expect_no_heap(&w, &all);
    all = hooks_of(&w), all.closed.new_node = NULL, expect_no_heap(&w, &all);
    all = hooks_of(&w), all.closed.write_node = NULL, expect_no_heap(&w, &all);
    all = hooks_of(&w), all.closed.join = NULL, expect_no_heap(&w, &all);
    all = hooks_of(&w), all.open.survivor = no_survivor, expect_no_heap(&w, &all);
    all = hooks_of(&w), all.open.parted = no_parted, expect_no_heap(&w, &all);

    all = hooks_of(&w), all.closed.pin = NULL, all.closed.new_node = NULL, expect_no_heap(&w, &all);
    all.closed.write_node = NULL, expect_no_heap(&w, &all);
    memset(&all.closed, 0, sizeof all.closed), expect_no_heap(&w, &all);

    for (w.fail_alloc_at = 1, heap = NULL; heap == NULL; w.fail_alloc_at++) {
        all = hooks_of(&w);
        w.allocations = 0;
        heap = rrc_closed_new(&all.open, &all.closed);
        check(heap != NULL || w.bytes == 0);
    }
    check_int(w.fail_alloc_at, 4);              /* of a heap and the layer's part each was not to be had */
    w.fail_alloc_at = 0;
    check_int(rrc_heap_free(heap), 0);
    check_int(w.bytes, 0);

    check_ptr(rrc_closed_new(NULL, &all.closed), NULL);
    check_ptr(rrc_closed_new(&all.open, NULL), NULL);
    expect_log(&w, RRC_ENULL);

    memset(&all, 0, sizeof all);        /* an open heap has no cells */
    all.open.userdata = &w;
    all.open.trace = no_trace;
    all.open.survivor = no_survivor;
    all.open.log = write_log;
    heap = rrc_heap_new(&all.open);
    check(heap != NULL);
    check_int(rrc_cell_reserve(heap), 0);
    check_int(rrc_cell_link(heap, &w, NULL, RRC_P), RRC_EPHASE);
    expect_log(&w, RRC_EPHASE);
    rrc_heap_free(heap);
}

/* A host that needs no more than it must: a cell of the header's size, and no hook that can be left out. */
static void only_the_hooks_that_must_be(void)
{
    world *w = (world *)calloc(1, sizeof *w);
    hooks all;
    rrc_object *ob;
    being *b;

    if (w == NULL)
        abort();
    all = hooks_of(w);
    all.closed.cell_size = 0;
    all.closed.watch = NULL;
    all.closed.forget = NULL;
    all.closed.is_live = NULL;
    w->heap = rrc_closed_new(&all.open, &all.closed);
    check(w->heap != NULL);
    ob = rrc_new(w->heap, &View);
    b = link_new(w, ob, RRC_P);
    check_int(b->pins, 1);
    rrc_decref(w->heap, ob);
    rrc_cell_died(w->heap, rrc_cell_of(w->heap, ob));
    check_int(closed_stats_of(w).cells, 0);
    close_world(w);
}

/* ---- when a step is due ---- */

static void a_step_now_and_then(void)
{
    static const int waits[] = { 8, 16, 32, 64, 64 };
    world *w = open_world();
    pair t = new_pair(w);
    int i, n;

    step(w);
    for (i = 0; i < 5; i++) {
        for (n = 1; !rrc_closed_cycle(w->heap); n++)
            check_int(closed_stats_of(w).mirror_cycles, n);
        check_int(n, waits[i]);
        check_int(closed_stats_of(w).mirror_cycles, n);
        step(w);
        check_int(closed_stats_of(w).mirror_cycles, 0);
    }
    for (n = 1; n < 64; n++)
        check_int(rrc_closed_cycle(w->heap), 0);
    rrc_incref(w->heap, t.owner);
    THING(t.owner)->ref[1] = t.owner;
    rrc_decref(w->heap, t.owner);       /* something has changed, and a step that is due in any case finds it */
    THING(t.owner)->ref[1] = NULL;
    check_int(rrc_closed_cycle(w->heap), 1);
    close_world((rrc_decref(w->heap, t.owner), w));
}

/* C hands its last reference to a field, which the header does not see. */
static void what_a_late_step_finds_is_followed(void)
{
    world *w = open_world();
    rrc_object *owner = new_tracked(w), *owned = new_tracked(w);
    int n;

    own(owned, 0, new_tracked(w));      /* (so that it has an edge node) */
    step(w);
    for (n = 1; !rrc_closed_cycle(w->heap); n++)
        ;
    check_int(n, 8);
    own(owner, 0, owned);
    check(!IS_WEAK(owned));
    step(w);
    check(IS_WEAK(owned));
    for (n = 0; n < 3; n++)
        check_int(rrc_closed_cycle(w->heap), 1);
    for (n = 4; !rrc_closed_cycle(w->heap); n++)
        ;
    check_int(n, 8);
    rrc_decref(w->heap, owner);
    close_world(w);
}

/* A late step that is given up is neither a step nor late: the one that follows is. */
static void a_step_that_is_given_up_does_not_count(void)
{
    world *w = open_world();
    rrc_object *owner = new_tracked(w);
    int n;

    own(owner, 0, new_tracked(w));
    step(w);
    for (n = 1; !rrc_closed_cycle(w->heap); n++)
        ;
    check_int(n, 8);
    for (n = 0; n < 3; n++)
        check(rrc_closed_work(w->heap, 1) >= 1);
    check_int(rrc_closed_cycle(w->heap), 1);
    check_int(closed_stats_of(w).mirror_cycles, 9);
    step(w);
    check_int(closed_stats_of(w).mirror_cycles, 0);
    for (n = 1; !rrc_closed_cycle(w->heap); n++)
        ;
    check_int(n, 16);
    rrc_decref(w->heap, owner);
    close_world(w);
}

static void steps_keep_up_with_new_links(void)
{
    world *w = open_world();
    rrc_object *obs[MANY];
    size_t before;
    int i, first = 0;

    rrc_closed_keep_up(w->heap, 0, 0);
    check_int(closed_stats_of(w).mirror_steps, 0);
    for (i = 0; i < MANY; i++) {
        being *b;
        obs[i] = new_view(w, &b);
        before = closed_stats_of(w).mirror_steps;
        rrc_closed_keep_up(w->heap, 0, 0);
        if (first == 0 && closed_stats_of(w).mirror_steps > before)
            first = i + 1;
    }
    check_int(first, 86);               /* the first number that is more than 64 and a quarter of itself */
    check_int(closed_stats_of(w).mirror_steps, 2);
    for (i = 0; i < 7; i++)
        rrc_closed_cycle(w->heap);
    rrc_closed_step(w->heap);
    for (i = 0; i < 7; i++) {
        before = closed_stats_of(w).mirror_steps;
        rrc_closed_keep_up(w->heap, 1, 0);
        check_int(closed_stats_of(w).mirror_steps, before);
    }
    rrc_decref(w->heap, obs[0]);
    rrc_closed_keep_up(w->heap, 1, 0);     /* the eighth cycle */
    check_int(closed_stats_of(w).mirror_steps, before + 1);
    for (i = 1; i < MANY; i++)
        rrc_decref(w->heap, obs[i]);
    rrc_closed_keep_up(NULL, 1, 0);
    check_int(rrc_closed_cycle(NULL), 0);
    close_world(w);
}

/* A step that is due is done in several calls, and so is the pending work. */
static void keeping_up_in_slices(void)
{
    enum { MAX = 20 };
    world *w = open_world();
    rrc_object *obs[MANY];
    being *beings[MANY];
    int i, calls = 0, deallocs;

    for (i = 0; i < MANY; i++) {
        obs[i] = rrc_new(w->heap, &Counted);
        beings[i] = link_new(w, obs[i], RRC_P | RRC_GIVE);
    }
    while (closed_stats_of(w).mirror_steps == 0) {
        rrc_closed_keep_up(w->heap, 0, MAX);
        calls++;
    }
    check(calls >= MANY / MAX && calls <= 4 * MANY / MAX);
    for (i = 0; i < MANY; i++)
        die(beings[i]);
    rrc_closed_keep_up(w->heap, 0, MAX);        /* no step is due */
    check_int(closed_stats_of(w).mirror_steps, 1);
    for (calls = 1; w->deallocs < MANY; calls++) {
        deallocs = w->deallocs;
        rrc_closed_keep_up(w->heap, 0, MAX);
        check(w->deallocs > deallocs && w->deallocs <= deallocs + MAX);
    }
    check(calls >= MANY / MAX);
    close_world(w);
}

/* They have no link at first, although their count is high. */
static void static_objects_get_cells(void)
{
#if !HOST_FRONT
    static thing fixed = { RRC_OBJECT_HEAD_INIT(&View), { NULL } };
    world *w = open_world();
    rrc_object *plain;
    int i;

    check_ptr(rrc_cell_of(w->heap, &fixed.head), NULL);
    for (i = 0; i < 2; i++) {
        being *b = link_new(w, &fixed.head, RRC_O);

        check_ptr(rrc_cell_of(w->heap, &fixed.head), b->cell);
        die(b);
        check_ptr(rrc_cell_of(w->heap, &fixed.head), NULL);
    }
    rrc_mark_deallocating(w->heap, w, &fixed.head);     /* (a marker is no cell) */
    check_int(rrc_unlink(w->heap, &fixed.head), RRC_EUNLINKED);
    expect_log(w, RRC_EUNLINKED);
    check_int(rrc_cell_link(w->heap, new_being(w), &fixed.head, RRC_O), RRC_ELINKED);
    expect_log(w, RRC_ELINKED);
    RRC_LINK(&fixed.head) = NULL;
    plain = rrc_new(w->heap, &View);
    rrc_mark_deallocating(w->heap, w, plain);
    check_ptr(rrc_cell_of(w->heap, plain), NULL);
    check_int(rrc_cell_link(w->heap, new_being(w), plain, RRC_O), RRC_ELINKED);
    expect_log(w, RRC_ELINKED);
    rrc_mark_deallocating(w->heap, NULL, plain);
    rrc_decref(w->heap, plain);
    close_world(w);
#endif
}

/* It is still there, although the link alone holds it. */
static void forget_sees_a_light_object(void)
{
    world *w = open_world();
    rrc_object *light = rrc_new(w->heap, &View);
    being *b = link_new(w, light, RRC_P | RRC_LIGHT | RRC_GIVE);

    check_int(rrc_cell_unlink(w->heap, b->cell), RRC_OK);
    check_int(w->objects_at_forget, 1);
    close_world(w);
}

/* Its cell is dead, and nobody has told. */
static void a_light_object_is_linked_anew(void)
{
    world *w = open_world();
    rrc_object *light = rrc_new(w->heap, &View);
    being *b = link_new(w, light, RRC_P | RRC_LIGHT | RRC_GIVE), *other = new_being(w);

    b->is_found = 1;
    check_int(rrc_cell_link(w->heap, other, light, RRC_P | RRC_LIGHT), RRC_OK);
    check_int(stats_of(w).objects, 1);
    check_ptr(rrc_cell_of(w->heap, light), other->cell);
    close_world(w);
}

/* The same of a weak view. The death is told when the view has another cell already. */
static void a_dead_cell_is_replaced(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        world *w = open_world();
        being *b, *other = new_being(w);
        rrc_object *view = new_view(w, &b);

        unit_context("%d: ", i);
        rrc_decref(w->heap, view);
        check(IS_WEAK(view));
        b->is_found = 1;
        if (i)
            rrc_incref(w->heap, view);
        else
            RRC_REFCNT(view)++;
        check_ptr(rrc_cell_of(w->heap, view), NULL);
        check_int(stats_of(w).p_old + stats_of(w).p_young, 0);
        check_int(rrc_cell_link(w->heap, other, view, RRC_P), RRC_OK);
        check_ptr(rrc_cell_of(w->heap, view), other->cell);
        check_int(closed_stats_of(w).cells, 1);
        if (b->cell != NULL)
            die(b);
        check_ptr(rrc_cell_of(w->heap, view), other->cell);
        rrc_decref(w->heap, view);
        close_world(w);
    }
}

static void a_dead_cell_is_replaced_at_once(void)
{
    world *w = open_world();
    being *b, *other = new_being(w);
    rrc_object *view = new_view(w, &b);

    rrc_decref(w->heap, view);
    b->is_found = 1;
    rrc_incref(w->heap, view);
    check_int(rrc_cell_link(w->heap, other, view, RRC_P), RRC_OK);
    check_ptr(rrc_cell_of(w->heap, view), other->cell);
    if (b->cell != NULL)
        die(b);
    check_ptr(rrc_cell_of(w->heap, view), other->cell);
    check_int(closed_stats_of(w).cells, 1);
    rrc_decref(w->heap, view);
    close_world(w);
}

/* An edge node is made for an object that is untracked meanwhile, and then the hook fails. */
static void then_untrack(world *w) { w->in_node = untrack_victim; }

static void untracked_in_a_hook_that_fails(void)
{
    world *w = open_world();
    rrc_object *owner = new_tracked(w);

    w->victim = new_tracked(w);
    own(w->victim, 0, new_tracked(w));
    own(owner, 0, w->victim);
    rrc_incref(w->heap, owner);
    own(owner, 1, owner);
    rrc_gc_untrack(w->heap, w->victim);
    check_int(rrc_gc_track(w->heap, w->victim), RRC_OK);
    rrc_gc_untrack(w->heap, owner);
    check_int(rrc_gc_track(w->heap, owner), RRC_OK);    /* the youngest is mirrored first */
    w->in_node = then_untrack;
    w->fail_write = 1;
    check_int(rrc_closed_step(w->heap), RRC_ENOMEM);
    w->logged = 0;
    check(!rrc_gc_is_tracked(w->heap, w->victim));
    check_ptr(node_of(w, w->victim), NULL);
    check_int(rrc_check(w->heap), RRC_OK);
    RRC_CLEAR(w->heap, THING(owner)->ref[1]);
    rrc_decref(w->heap, owner);
    close_world(w);
}

static void clear_weakrefs(rrc_heap *heap, rrc_object *self)
{
    (void)self;
    WORLD(heap)->uncleared--;
}

static int clear_later(rrc_heap *heap, rrc_object *self)
{
    check_int(WORLD(heap)->uncleared, 0);
    return thing_clear(heap, self);
}

static const rrc_type Watched = {
    .tp_name = "Watched", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = clear_later,
    .tp_clear_weakrefs = clear_weakrefs,
};

/* A step is given up while it sets garbage aside: all of that waits, or none of it. */
static void a_step_that_sets_aside_is_given_up(void)
{
    int slices, disables, i;

    for (disables = 0; disables <= 1; disables++)
        for (slices = 0; slices < 40; slices++) {
            world *w = open_world();
            rrc_object *ring[3];

            unit_context("disables %d, after %d slices", disables, slices);
            w->uncleared = 3;
            for (i = 0; i < 3; i++) {
                ring[i] = rrc_gc_new(w->heap, &Watched);
                check(ring[i] != NULL);
                check_int(rrc_gc_track(w->heap, ring[i]), RRC_OK);
            }
            for (i = 0; i < 3; i++)
                own(ring[i], 0, ring[(i + 1) % 3]);
            for (i = 0; i < slices; i++)
                rrc_closed_work(w->heap, 1);
            if (disables)
                rrc_gc_disable(w->heap);
            step(w);
            rrc_run_pending(w->heap, 0);
            rrc_gc_enable(w->heap);
            step(w);
            rrc_run_pending(w->heap, 0);
            check_int(w->deallocs, 3);
            close_world(w);
        }
}

static size_t pending(world *w)
{
    rrc_stats stats;

    check_int(rrc_get_stats(w->heap, &stats), RRC_OK);
    return stats.pending;
}

/* It sets garbage aside in slices, although there are to be no more searches. */
static void garbage_is_set_aside_in_slices_when_disabled(void)
{
    enum { RING = 100 };
    world *w = open_world();
    rrc_object *ring[RING];
    size_t aside = 0;
    int i;

    for (i = 0; i < RING; i++)
        ring[i] = new_tracked(w);
    for (i = 0; i < RING; i++)
        own(ring[i], 0, ring[(i + 1) % RING]);
    while (pending(w) == 0)
        check(rrc_closed_work(w->heap, 1) > 0);
    rrc_gc_disable(w->heap);
    while (pending(w) < RING) {
        check(pending(w) - aside <= 4);
        aside = pending(w);
        check(rrc_closed_work(w->heap, 1) > 0);
    }
    rrc_gc_enable(w->heap);
    close_world(w);
}

/* A dealloc keeps its object, as for a list of free ones, and perhaps what that owns. */
static void pooled_dealloc(rrc_heap *heap, rrc_object *self)
{
    world *w = WORLD(heap);

    if (!w->keeps) {
        thing_clear(heap, self);
        rrc_gc_del(heap, self);
        return;
    }
    w->victim = self;
    rrc_incref(heap, self);
    if (w->keeps == 2)
        rrc_touch(heap, THING(self)->ref[0]);
    else
        thing_clear(heap, self);
    if (w->keeps == 3) {
        link_new(w, self, RRC_O | RRC_GIVE);
        check_int(rrc_check(heap), RRC_OK);
    }
}

static const rrc_type Pooled = {
    .tp_name = "Pooled", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = pooled_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear,
};

static rrc_object *new_pooled(world *w, being **value)
{
    rrc_object *ob = rrc_gc_new(w->heap, &Pooled);

    check(ob != NULL);
    own(ob, 0, new_view(w, value));
    check_int(rrc_gc_track(w->heap, ob), RRC_OK);
    return ob;
}

/* The edge node of such an object goes at once. */
static void a_dealloc_keeps_an_object_with_a_node(void)
{
    int keeps, slices, i;

    for (keeps = 1; keeps <= 2; keeps++)
        for (slices = 0; slices < 30; slices++) {
            world *w = open_world();
            being *value, *last;
            rrc_object *ob = new_pooled(w, &value);

            unit_context("keeps %d, after %d slices", keeps, slices);
            w->keeps = keeps;
            step(w);
            check(node_of(w, ob) != NULL);
            for (i = 0; i < slices; i++)
                rrc_closed_work(w->heap, 1);
            rrc_decref(w->heap, ob);
            check_ptr(w->victim, ob);
            check_ptr(node_of(w, ob), NULL);
            while (rrc_closed_work(w->heap, 1) > 0)
                check(keeps == 1 || value->pins > 0);
            step(w);
            check_int(value->pins, keeps > 1);
            check_int(rrc_gc_track(w->heap, ob), RRC_OK);
            if (keeps == 1)
                own(ob, 0, new_view(w, &last));
            step(w);
            check(node_of(w, ob) != NULL);
            w->keeps = 0;
            rrc_decref(w->heap, ob);
            close_world(w);
        }
}

static void a_dealloc_keeps_an_object_without_a_node(void)
{
    world *w = open_world();
    being *value;
    rrc_object *ob = new_pooled(w, &value);

    w->keeps = 2;
    rrc_decref(w->heap, ob);
    check_ptr(w->victim, ob);
    check_ptr(node_of(w, ob), NULL);
    step(w);
    check_int(value->pins, 1);
    check_int(rrc_gc_track(w->heap, ob), RRC_OK);
    step(w);
    check(node_of(w, ob) != NULL);
    w->keeps = 0;
    rrc_decref(w->heap, ob);
    close_world(w);
}

/* It does not stand for the object until then. */
static void such_an_object_is_linked(void)
{
    world *w = open_world();
    being *value;
    rrc_object *ob = new_pooled(w, &value);

    w->keeps = 3;
    step(w);
    rrc_decref(w->heap, ob);
    check_ptr(w->victim, ob);
    check_int(rrc_check(w->heap), RRC_OK);
    step(w);
    check_ptr(node_of(w, ob), NULL);
    check_int(rrc_check(w->heap), RRC_OK);
    w->keeps = 0;
    check_int(rrc_cell_unlink(w->heap, rrc_cell_of(w->heap, ob)), RRC_OK);
    rrc_run_pending(w->heap, 0);
    close_world(w);
}

/* ... or when the heap ends. */
static void the_heap_of_such_an_object_ends(void)
{
    world *w = open_world();
    being *value;
    rrc_object *ob = new_pooled(w, &value);

    w->keeps = 1;
    step(w);
    rrc_decref(w->heap, ob);
    check_int(rrc_heap_free(w->heap), 0);
    check_int(w->forgotten, w->watched);
    w->keeps = 0;
    rrc_decref(w->heap, ob);
    check_int(w->logged, 0);
    check_int(w->bytes, 0);
    free(w);
}

/* A dealloc at the end of the heap links an object whose proxy has died. */
static void linker_dealloc(rrc_heap *heap, rrc_object *self)
{
    world *w = WORLD(heap);

    w->last_code = rrc_cell_link(heap, new_being(w), w->victim, RRC_O);
    rrc_del(heap, self);
}

static const rrc_type Linker = { .tp_name = "Linker", .tp_basicsize = sizeof(thing), .tp_dealloc = linker_dealloc };

static void a_dead_cell_is_replaced_at_the_end(void)
{
    world *w = open_world();
    rrc_object *linker = rrc_new(w->heap, &Linker);

    link_new(w, linker, RRC_O | RRC_GIVE);
    w->victim = rrc_new(w->heap, &View);
    w->last_code = -1;
    link_new(w, w->victim, RRC_O)->is_found = 1;
    check_int(rrc_heap_free(w->heap), 1);
    check_int(w->last_code, RRC_OK);
    check_int(w->logged, 0);
    check_int(w->forgotten, 3);
    check_int(rrc_refcnt(w->victim), 1);
    rrc_decref(w->heap, w->victim);
    check_int(w->bytes, 0);
    free(w);
}

/* The hook realloc may ask for the numbers of a heap until it has ended. */
static void *reallocate_and_ask(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    world *w = (world *)userdata;
    void *memory = reallocate(userdata, ptr, old_size, new_size);
    rrc_closed_stats stats;

    if (w->heap != NULL) {
        int code = rrc_closed_get_stats(w->heap, &stats);

        check(code == RRC_OK || code == RRC_ECLOSED);
    }
    return memory;
}

static void numbers_until_the_heap_has_ended(void)
{
    world *w = (world *)calloc(1, sizeof *w);
    hooks all;
    rrc_heap *heap;
    being *b;
    rrc_object *ob;

    if (w == NULL)
        abort();
    all = hooks_of(w);
    all.open.realloc = reallocate_and_ask;
    w->heap = rrc_closed_new(&all.open, &all.closed);
    check(w->heap != NULL);
    ob = new_view(w, &b);
    heap = w->heap;
    check_int(rrc_heap_free(heap), 1);
    w->heap = NULL;                     /* the last object takes the rest of the heap with it */
    b->is_dead = 1;
    rrc_decref(heap, ob);
    check_int(w->bytes, 0);
    free(w);
}

UNIT_GROUP(mirror_cells, UNIT(untracked_in_a_hook_that_fails), UNIT(forget_sees_a_light_object),
    UNIT(static_objects_get_cells),
    UNIT(a_light_object_is_linked_anew), UNIT(a_dead_cell_is_replaced), UNIT(a_dead_cell_is_replaced_at_once),
    UNIT(garbage_whose_node_has_died_waits), UNIT(what_was_cleared_is_reached_by_what_is_saved),
    UNIT(a_dead_view_gets_an_owner),
    UNIT(a_cell_goes_with_its_link), UNIT(a_cell_goes_with_its_object), UNIT(cells_have_numbers),
    UNIT(the_host_keeps_a_node), UNIT(the_host_keeps_a_node_in_a_step),
    UNIT(a_node_is_kept_after_its_owner_was_mirrored), UNIT(a_dealloc_keeps_an_object_without_a_node),
    UNIT(a_dealloc_keeps_an_object_with_a_node),
    UNIT(garbage_is_set_aside_in_slices_when_disabled),
    UNIT(such_an_object_is_linked), UNIT(the_heap_of_such_an_object_ends), UNIT(a_step_that_sets_aside_is_given_up),
    UNIT(one_object_has_two_p_links), UNIT(a_link_that_fails_leaves_no_cell),
    UNIT(a_failing_link_changes_nothing), UNIT(memory_is_lacking_for_a_link),
    UNIT(a_node_refers_to_the_targets), UNIT(hooks_fail), UNIT(memory_is_lacking_for_a_step),
    UNIT(a_proxy_is_joined_with_its_node), UNIT(targets_die_in_new_node), UNIT(targets_die_in_write_node),
    UNIT(the_owner_is_untracked_in_hooks), UNIT(a_target_is_taken_in_new_node), UNIT(a_step_finds_a_dead_view),
    UNIT(a_dead_node_is_made_again), UNIT(a_step_finds_a_dead_node), UNIT(a_node_is_made_for_a_dead_proxy),
    UNIT(a_late_finalizer), UNIT(deaths_are_noted_and_buried_later),
    UNIT(a_burial_takes_the_next_cell),
    UNIT(burials_take_nodes_with_them), UNIT(a_node_dies_before_it_is_written), UNIT(a_node_dies_before_its_turn),
    UNIT(a_proxy_comes_when_the_node_has_died), UNIT(each_cell_is_visited),
    UNIT(others_go_while_one_is_visited), UNIT(a_death_in_a_collection),
    UNIT(a_heap_ends_with_cells), UNIT(a_dead_cell_is_replaced_at_the_end),
    UNIT(numbers_until_the_heap_has_ended), UNIT(a_cell_without_a_link), UNIT(cells_are_refused_in_hooks),
    UNIT(the_hooks_of_cells_come_together),
    UNIT(only_the_hooks_that_must_be), UNIT(a_step_now_and_then), UNIT(what_a_late_step_finds_is_followed),
    UNIT(a_step_that_is_given_up_does_not_count),
    UNIT(steps_keep_up_with_new_links), UNIT(keeping_up_in_slices));
