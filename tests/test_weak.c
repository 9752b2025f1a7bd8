/* Weak references (rrc_weak.h): which die when, and what their callbacks see. */

#include "knots.h"
#include "bindings/weak/rrc_weak.h"

#include <stdlib.h>
#include <string.h>

/* ---- objects with weak references ---- */

/* The last field can own a weak reference, which goes first. */
static void lazy_dealloc(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, KNOT(self)->ref[2]);
    knot_dealloc(heap, self);
}

static void prompt_dealloc(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, KNOT(self)->ref[2]);
    rrc_weak_clear(heap, self);
    knot_dealloc(heap, self);
}

static void final_slot(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);
    check(REFCNT(self) > 0);
    host_event(h, 'f', KNOT(self)->tag);
    if (h->on_finalize != NULL)
        h->on_finalize(h, self);
}

#define WEAK_TYPE(name, dealloc, final) \
    { .tp_name = name, .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = dealloc, \
      .tp_traverse = knot_traverse, .tp_clear = knot_clear, .tp_finalize = final, .tp_clear_weakrefs = rrc_weak_clear }

/* Its callbacks are called in its tp_dealloc; by rrc_weak_run only; and with a finalizer. */
static const rrc_type Prompt = WEAK_TYPE("Prompt", prompt_dealloc, NULL);
static const rrc_type Lazy = WEAK_TYPE("Lazy", lazy_dealloc, NULL);
static const rrc_type Last = WEAK_TYPE("Last", prompt_dealloc, final_slot);
static const rrc_type Members = { .tp_name = "Members", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                  .tp_members = knot_members, .tp_dealloc = rrc_weak_dealloc,
                                  .tp_clear_weakrefs = rrc_weak_clear };

/* ---- callbacks that note what they see ---- */

typedef struct watcher {
    host *h;
    int tag;                        /* of the event k */
    int called;
    rrc_weakref *ref;               /* that it belongs to; set by watch() */
    rrc_weakref **others;           /* all of these are dead when it is called, if they are given */
    size_t count;
    void (*act)(struct watcher *w, rrc_weakref *ref);
    void *data;
} watcher;

static rrc_object *get(host *h, rrc_weakref *ref) { return rrc_weakref_get(h->heap, ref); }

/* What ref gives, without keeping it. */
static rrc_object *peek(host *h, rrc_weakref *ref)
{
    rrc_object *ob = get(h, ref);
    if (ob != NULL)
        rrc_decref(h->heap, ob);
    return ob;
}

static void call(rrc_heap *heap, rrc_weakref *ref, void *arg)
{
    watcher *w = (watcher *)arg;
    size_t i;
    check_ptr(heap, w->h->heap);
    check_ptr(ref, w->ref);
    check_int(w->h->phase, HOST_MUTATOR);
    check_ptr(get(w->h, ref), NULL);
    for (i = 0; i < w->count; i++)
        check_ptr(get(w->h, w->others[i]), NULL);
    w->called++;
    if (w->tag > 0)
        host_event(w->h, 'k', w->tag);
    if (w->act != NULL)
        w->act(w, ref);
}

static rrc_weakref *watch(watcher *w, host *h, rrc_object *ob, int tag)
{
    memset(w, 0, sizeof *w);
    w->h = h;
    w->tag = tag;
    w->ref = rrc_weakref_new(h->heap, ob, call, w);
    check(w->ref != NULL);
    return w->ref;
}

static rrc_weakref *plain(host *h, rrc_object *ob)
{
    rrc_weakref *ref = rrc_weakref_new(h->heap, ob, NULL, NULL);
    check(ref != NULL);
    return ref;
}

static void let_go(host *h, rrc_weakref *ref) { rrc_weakref_free(h->heap, ref); }

/* ---- deaths by count ---- */

static void a_death_is_told_at_once(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 1);
    watcher w;
    watch(&w, h, ob, 1);
    check_int(REFCNT(ob), 1);
    check_ptr(get(h, w.ref), ob);
    check_int(REFCNT(ob), 2);
    rrc_decref(h->heap, ob);
    check_ptr(peek(h, w.ref), ob);
    check_int(rrc_weak_run(h->heap, 0), 0);
    rrc_decref(h->heap, ob);
    check_events(h, "k1 d1");
    check_ptr(get(h, w.ref), NULL);
    check_int(rrc_weak_run(h->heap, 0), 0);
    check_ptr(rrc_weakref_get(h->heap, NULL), NULL);
    let_go(h, w.ref);
    let_go(h, NULL);
    host_close(h);
}

static void without_the_line_callbacks_wait(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Lazy, 1), *bare = ob_new(h, &Node), *other;
    watcher w, v;
    watch(&w, h, ob, 1);
    watch(&v, h, bare, 2);
    rrc_decref(h->heap, ob);
    check_events(h, "d1");
    check_ptr(get(h, w.ref), NULL);
    check_int(w.called, 0);
    rrc_decref(h->heap, bare);
    check_ptr(get(h, v.ref), NULL);
    check_int(rrc_weak_run(h->heap, 0), 2);
    check_events(h, "k1 k2");
    let_go(h, w.ref);
    let_go(h, v.ref);

    /* The tp_dealloc of any object calls those that wait. */
    ob = knot_new(h, &Lazy, 1);
    other = knot_new(h, &Prompt, 2);
    watch(&w, h, ob, 1);
    rrc_decref(h->heap, ob);
    check_events(h, "d1");
    rrc_decref(h->heap, other);
    check_events(h, "k1 d2");
    let_go(h, w.ref);
    host_close(h);
}

static void types_with_only_members(void)
{
    static const rrc_type Freed = { .tp_name = "Freed", .tp_basicsize = sizeof(node), .tp_dealloc = rrc_weak_dealloc,
                                    .tp_free = node_free };
    static const rrc_type Simple = { .tp_name = "Simple", .tp_basicsize = sizeof(node), .tp_dealloc = rrc_weak_dealloc };
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Members, 1), *owned = knot_new(h, &Prompt, 2);
    watcher w, v;
    watch(&w, h, ob, 1);
    watch(&v, h, owned, 2);
    KNOT(ob)->ref[2] = owned;
    rrc_decref(h->heap, ob);
    check(strcmp(h->events, "k1 k2 d2") == 0 || strcmp(h->events, "k1 d2 k2") == 0);    /* (few deallocs may nest) */
    h->events[0] = '\0';
    let_go(h, w.ref);
    let_go(h, v.ref);
    ob = rrc_new(h->heap, &Freed);
    watch(&w, h, ob, 3);
    rrc_decref(h->heap, ob);
    check_int(h->freed, 1);
    let_go(h, w.ref);
    ob = rrc_new(h->heap, &Simple);
    watch(&w, h, ob, 4);
    rrc_decref(h->heap, ob);
    check_events(h, "k3 k4");
    let_go(h, w.ref);
    host_close(h);
}

static void the_newest_comes_first(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 9);
    rrc_weakref *ref, *again;
    watcher w[4];
    watch(&w[0], h, ob, 1);
    ref = plain(h, ob);
    watch(&w[1], h, ob, 2);
    again = plain(h, ob);
    check_ptr(again, ref);
    check_int(REFCNT((rrc_object *)(void *)ref), 2);
    watch(&w[2], h, ob, 3);
    watch(&w[3], h, ob, 4);
    let_go(h, w[2].ref);            /* this one is not told */
    let_go(h, again);
    check_ptr(peek(h, ref), ob);
    rrc_decref(h->heap, ob);
    check_events(h, "k4 k2 k1 d9");
    check_ptr(get(h, ref), NULL);
    let_go(h, ref);
    let_go(h, w[0].ref);
    let_go(h, w[1].ref);
    let_go(h, w[3].ref);
    host_close(h);
}

/* The shared one goes with its last reference, and the next one is new. */
static void what_is_shared_is_made_again(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 1);
    size_t objects = host_stats(h).objects, memory = host_stats(h).memory;
    let_go(h, plain(h, ob));
    check_int(host_stats(h).objects, objects);
    check_int(host_stats(h).memory, memory);
    let_go(h, plain(h, ob));
    rrc_decref(h->heap, ob);
    host_close(h);
}

static rrc_object *kept;
static void resurrect(host *h, rrc_object *ob)
{
    rrc_weakref *ref = (rrc_weakref *)h->test;
    check_ptr(get(h, ref), ob);     /* it is not dead yet */
    kept = ob;
}

static void a_finalizer_can_keep_its_weak_references(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Last, 1);
    watcher w;
    h->test = watch(&w, h, ob, 1);
    h->on_finalize = resurrect;
    rrc_decref(h->heap, ob);
    check_events(h, "f1");
    check_ptr(kept, ob);
    check_ptr(peek(h, w.ref), ob);
    rrc_decref(h->heap, ob);
    check_events(h, "k1 d1");
    let_go(h, w.ref);
    host_close(h);
}

/* An object that waits in the dealloc queue is a normal object. */
static void the_queue_gives_its_objects_back(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_given(h, O, host_new(h, HOST_OLD), FULL);
    watcher w;
    watch(&w, h, ob, 1);
    host_major(h);
    check_int(host_stats(h).pending, 1);
    check_ptr(get(h, w.ref), ob);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 0);
    check_ptr(peek(h, w.ref), ob);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    check_ptr(get(h, w.ref), NULL);
    rrc_weak_run(h->heap, 0);
    check_events(h, "k1");
    let_go(h, w.ref);
    host_close(h);
}

/* A light object is freed inside the collection. */
static void light_objects_are_told_later(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_given(h, O, host_new(h, HOST_OLD), LIGHT_OB);
    watcher w;
    watch(&w, h, ob, 1);
    check_ptr(peek(h, w.ref), ob);
    host_major(h);
    check_int(h->freed, 1);
    check_ptr(get(h, w.ref), NULL);
    check_int(w.called, 0);
    check_int(rrc_weak_run(h->heap, 0), 1);
    check_events(h, "k1");
    let_go(h, w.ref);
    host_close(h);
}

static void moved_objects_are_others(void)
{
    static const rrc_type Row = { .tp_name = "Row", .tp_basicsize = sizeof(knot), .tp_itemsize = 8,
                                  .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_clear_weakrefs = rrc_weak_clear };
    host *h = host_open(NULL);
    rrc_object *ob = rrc_gc_new_var(h->heap, &Row, 1);
    watcher w;
    watch(&w, h, ob, 1);
    ob = rrc_gc_resize(h->heap, ob, 50000);
    check(ob != NULL);
    check_ptr(get(h, w.ref), NULL);
    check_int(rrc_weak_run(h->heap, 0), 1);
    check_events(h, "k1");
    rrc_decref(h->heap, ob);
    let_go(h, w.ref);
    host_close(h);
}

static void cleared_by_hand(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 1);
    rrc_weakref *ref;
    watcher w;
    rrc_weak_clear(h->heap, ob);
    watch(&w, h, ob, 1);
    rrc_weak_clear(h->heap, ob);
    rrc_weak_clear(h->heap, NULL);
    rrc_weak_clear(NULL, ob);
    check_ptr(get(h, w.ref), NULL);
    check_events(h, "");
    ref = plain(h, ob);
    check_ptr(peek(h, ref), ob);
    check_int(rrc_weak_run(h->heap, 0), 1);
    check_int(rrc_weak_run(NULL, 0), 0);
    check_events(h, "k1");
    rrc_decref(h->heap, ob);
    let_go(h, ref);
    let_go(h, w.ref);
    host_close(h);
}

static void weak_references_to_weak_references(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 1);
    rrc_weakref *ref = plain(h, ob);
    watcher w;
    watch(&w, h, (rrc_object *)(void *)ref, 1);
    check_ptr(peek(h, w.ref), ref);
    let_go(h, ref);
    check_ptr(get(h, w.ref), NULL);
    rrc_decref(h->heap, ob);
    check_events(h, "k1 d1");
    let_go(h, w.ref);
    host_close(h);
}

static void static_objects_never_go(void)
{
    static STATIC_OB(Static, &Node);
    host *h = host_open(NULL);
    rrc_weakref *ref = plain(h, STATIC_PTR(Static));
    check_ptr(peek(h, ref), STATIC_PTR(Static));
    knot_collect(h);
    check_ptr(peek(h, ref), STATIC_PTR(Static));
    let_go(h, ref);
    host_close(h);
}

/* ---- garbage ---- */

/* a and b are in a cycle, each with a weak reference from outside. Both are dead before the first callback. */
static void all_are_dead_before_the_first_callback(void)
{
    static const rrc_type *const types[] = { &Prompt, &Lazy, &Members, &Last };
    size_t i;
    for (i = 0; i < 4; i++) {
        host *h = host_open(NULL);
        rrc_object *all[2];
        rrc_weakref *refs[2];
        watcher w[2];
        unit_context("type %d: ", (int)i);
        knot_ring(h, types[i], 2, all);
        refs[0] = watch(&w[0], h, all[0], 1);
        refs[1] = watch(&w[1], h, all[1], 2);
        w[0].others = w[1].others = refs;
        w[0].count = w[1].count = 2;
        host_major(h);
        check_int(w[0].called + w[1].called, 0);
        rrc_run_pending(h->heap, 0);
        rrc_weak_run(h->heap, 0);
        check_int(w[0].called, 1);
        check_int(w[1].called, 1);
        knot_collect(h);
        check_ptr(get(h, refs[0]), NULL);
        check_int(w[0].called + w[1].called, 2);
        let_go(h, refs[0]);
        let_go(h, refs[1]);
        host_close(h);
    }
}

/* Between the collection and rrc_run_pending no program gets hold of garbage. What was dead stays dead, even if C brings
   the object back by a reference of its own. */
static void garbage_that_waits_is_not_given(void)
{
    int ask, keep;
    for (ask = 0; ask < 2; ask++)
        for (keep = 0; keep < 2; keep++) {
            host *h = host_open(NULL);
            rrc_object *all[2];
            watcher w;
            knot_ring(h, &Prompt, 2, all);
            watch(&w, h, all[0], 9);
            host_major(h);
            if (ask)
                check_ptr(get(h, w.ref), NULL);
            if (keep)
                rrc_incref(h->heap, all[0]);
            check_ptr(peek(h, w.ref), keep && !ask ? all[0] : NULL);
            rrc_run_pending(h->heap, 0);
            rrc_weak_run(h->heap, 0);
            check_int(w.called, !(keep && !ask));
            check_int(h->deallocs, keep ? 0 : 2);
            if (keep) {
                rrc_weakref *ref = plain(h, all[0]);
                check_ptr(peek(h, ref), all[0]);
                rrc_decref(h->heap, all[0]);
                knot_collect(h);
                rrc_weak_run(h->heap, 0);
                check_ptr(get(h, ref), NULL);
                let_go(h, ref);
            }
            check_int(w.called, 1);
            let_go(h, w.ref);
            check_int(h->deallocs, 2);
            host_close(h);
        }
}

/* The callback of a weak reference that is garbage is never called, whether its object is garbage or not. */
static void garbage_hears_nothing(void)
{
    int how;
    for (how = 0; how < 4; how++) {
        host *h = host_open(NULL);
        rrc_object *publisher = knot_new(h, &Prompt, 1), *subscriber = knot_new(h, &Prompt, 2);
        watcher w;
        unit_context("how %d: ", how);
        watch(&w, h, subscriber, 3);
        KNOT(publisher)->ref[0] = (rrc_object *)(void *)w.ref;
        knot_tie(h, publisher, 1, publisher);
        if (how == 0) {                             /* one cycle */
            knot_tie(h, publisher, 2, subscriber);
            knot_tie(h, subscriber, 0, publisher);
        } else if (how == 1) {                      /* two */
            knot_tie(h, subscriber, 0, subscriber);
        }
        if (how < 3)
            rrc_decref(h->heap, publisher);
        if (how < 2)
            rrc_decref(h->heap, subscriber);
        host_major(h);
        if (how == 2) {                             /* the subscriber goes while the weak reference waits as garbage */
            rrc_decref(h->heap, subscriber);
            check_int(h->deallocs, 1);
        }
        rrc_run_pending(h->heap, 0);
        rrc_weak_run(h->heap, 0);
        if (how == 3) {                             /* (the control: it is no garbage) */
            rrc_decref(h->heap, subscriber);
            check_int(w.called, 1);
            rrc_decref(h->heap, publisher);
            knot_collect(h);
        } else {
            check_int(w.called, 0);
        }
        check_int(h->deallocs, 2);
        host_close(h);
    }
}

/* A weak reference that is garbage is dead for the finalizers, too. */
static void ask_own_reference(host *h, rrc_object *ob)
{
    rrc_weakref *ref = (rrc_weakref *)(void *)KNOT(ob)->ref[1];
    check_ptr(get(h, ref), NULL);
    check_ptr(peek(h, (rrc_weakref *)h->test), KNOT(ob)->ref[2]);
}

static void garbage_has_no_weak_references(void)
{
    host *h = host_open(NULL);
    rrc_object *publisher = knot_new(h, &Last, 1), *subscriber = knot_new(h, &Prompt, 2);
    rrc_weakref *outside;
    watcher w;
    outside = plain(h, subscriber);
    knot_tie(h, publisher, 0, publisher);
    KNOT(publisher)->ref[1] = (rrc_object *)(void *)watch(&w, h, subscriber, 3);
    knot_tie(h, publisher, 2, subscriber);
    h->test = outside;
    h->on_finalize = ask_own_reference;
    rrc_decref(h->heap, publisher);
    host_major(h);
    check_ptr(get(h, w.ref), NULL);                 /* before rrc_run_pending, too */
    rrc_run_pending(h->heap, 0);
    check_events(h, "f1");
    knot_collect(h);
    check_ptr(peek(h, outside), subscriber);
    rrc_decref(h->heap, subscriber);
    check_ptr(get(h, outside), NULL);
    check_int(w.called, 0);
    let_go(h, outside);
    host_close(h);
}

/* A finalizer resurrects garbage. Its weak references are dead all the same; new ones are not. */
static void keep_for_ever(host *h, rrc_object *ob)
{
    rrc_incref(h->heap, ob);
    kept = ob;
    check_ptr(get(h, (rrc_weakref *)h->test), NULL);
    check_ptr(rrc_weakref_new(h->heap, ob, NULL, NULL), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_weakref_new");
}

static void the_resurrected_have_lost_theirs(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_ring(h, &Last, 1, NULL);
    rrc_weakref *ref;
    watcher w;
    kept = NULL;
    h->test = watch(&w, h, ob, 2);
    h->on_finalize = keep_for_ever;
    knot_collect(h);
    check_ptr(kept, ob);
    check_events(h, "f1");
    check_ptr(get(h, w.ref), NULL);
    check_int(rrc_weak_run(h->heap, 0), 1);
    check_events(h, "k2");
    ref = plain(h, ob);
    check_ptr(peek(h, ref), ob);
    knot_collect(h);
    check_ptr(peek(h, ref), ob);
    rrc_decref(h->heap, ob);
    knot_collect(h);
    check_ptr(get(h, ref), NULL);
    check_int(w.called, 1);
    let_go(h, ref);
    let_go(h, w.ref);
    host_close(h);
}

/* ---- what callbacks do ---- */

static void free_own(watcher *w, rrc_weakref *ref)
{
    let_go(w->h, ref);
    w->ref = NULL;
}

static void free_other(watcher *w, rrc_weakref *ref)
{
    watcher *other = (watcher *)w->data;
    (void)ref;
    let_go(w->h, other->ref);
    other->ref = NULL;
}

static void callbacks_free_weak_references(void)
{
    int run;
    for (run = 0; run < 2; run++) {                 /* by rrc_weak_run, or in a dealloc */
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, run ? &Lazy : &Prompt, 5);
        watcher w[4];
        size_t i;
        for (i = 0; i < 4; i++)
            watch(&w[i], h, ob, (int)i + 1);
        w[3].act = free_other;
        w[3].data = &w[2];                          /* the next one, which is not called then */
        w[1].act = free_own;
        w[0].act = free_other;
        w[0].data = &w[3];                          /* one that was called */
        rrc_decref(h->heap, ob);
        if (run)
            check_int(rrc_weak_run(h->heap, 0), 3);
        check_events(h, run ? "d5 k4 k2 k1" : "k4 k2 k1 d5");
        let_go(h, w[0].ref);
        check_int(host_stats(h).objects, 0);
        host_close(h);
    }
}

/* The last weak reference of the heap is freed in its callback. */
static void a_callback_frees_the_last(void)
{
    int run;
    for (run = 0; run < 2; run++) {
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, run ? &Lazy : &Prompt, 1);
        watcher w;
        watch(&w, h, ob, 1);
        w.act = free_own;
        rrc_decref(h->heap, ob);
        if (run)
            check_int(rrc_weak_run(h->heap, 0), 1);
        check_int(w.called, 1);
        check_int(host_stats(h).objects, 0);
        host_close(h);
    }
}

static void refer_to_dying(watcher *w, rrc_weakref *ref)
{
    host *h = w->h;
    rrc_object *dying = (rrc_object *)w->data;
    (void)ref;
    check_ptr(rrc_weakref_new(h->heap, dying, NULL, NULL), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_weakref_new");
}

/* The callback makes a weak reference to other garbage, of which it has a plain pointer. */
static void callbacks_cannot_refer_to_garbage(void)
{
    host *h = host_open(NULL);
    rrc_object *bare = ob_new(h, &Node), *ring = knot_ring(h, &Prompt, 2, NULL);
    watcher w, v;
    watch(&w, h, bare, 1);
    watch(&v, h, ring, 2);
    w.act = refer_to_dying;
    w.data = ring;
    rrc_decref(h->heap, bare);
    host_major(h);
    check_int(rrc_weak_run(h->heap, 0), 1);
    rrc_run_pending(h->heap, 0);
    check_int(v.called, 1);
    let_go(h, w.ref);
    let_go(h, v.ref);
    host_close(h);
}

static void refer_to_living(watcher *w, rrc_weakref *ref)
{
    (void)ref;
    *(rrc_weakref **)w->others = plain(w->h, (rrc_object *)w->data);
}

static void callbacks_make_weak_references(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 1), *other = knot_new(h, &Prompt, 2);
    rrc_weakref *made = NULL;
    watcher w;
    watch(&w, h, ob, 1);
    w.act = refer_to_living;
    w.data = other;
    w.others = &made;
    rrc_decref(h->heap, ob);
    check_ptr(peek(h, made), other);
    let_go(h, w.ref);
    rrc_decref(h->heap, other);
    check_ptr(get(h, made), NULL);
    let_go(h, made);
    host_close(h);
}

/* Each callback drops the next object: they are called one after the other, not in one another. */
enum { CHAIN = 100000 };

static int nested, deepest;

static void drop_next(watcher *w, rrc_weakref *ref)
{
    rrc_object *next = (rrc_object *)w->data;
    (void)ref;
    deepest = ++nested > deepest ? nested : deepest;
    if (next != NULL)
        rrc_decref(w->h->heap, next);
    nested--;
}

static void callbacks_are_not_nested(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    watcher *w = (watcher *)calloc(CHAIN, sizeof *w);
    rrc_object *next = NULL;
    size_t i;
    check(w != NULL);
    for (i = 0; i < CHAIN; i++) {
        rrc_object *ob = knot_new(h, &Prompt, 0);
        watch(&w[i], h, ob, 0);
        w[i].act = drop_next;
        w[i].data = next;
        next = ob;
    }
    nested = deepest = 0;
    rrc_decref(h->heap, next);
    rrc_run_pending(h->heap, 0);
    rrc_weak_run(h->heap, 0);
    check_int(h->deallocs, CHAIN);
    for (i = 0; i < CHAIN; i++) {
        check_int(w[i].called, 1);
        let_go(h, w[i].ref);
    }
    check_int(deepest, 1);
    free(w);
    host_close(h);
}

static void call_everything(watcher *w, rrc_weakref *ref)
{
    host *h = w->h;
    (void)ref;
    check_int(rrc_weak_run(h->heap, 0), 0);
    check_int(rrc_run_pending(h->heap, 0), 0);
    check_int(rrc_gc_collect(h->heap), 0);
    check(rrc_heap_free(h->heap) == SIZE_MAX);
    host_expect_log(h, RRC_EPHASE, "rrc_heap_free");
    host_minor(h);
    host_major(h);
}

static void callbacks_may_collect(void)
{
    int run;
    for (run = 0; run < 2; run++) {
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, run ? &Lazy : &Prompt, 1);
        watcher w, v;
        watch(&w, h, ob, 1);
        w.act = call_everything;
        watch(&v, h, knot_ring(h, &Prompt, 2, NULL), 3);
        rrc_decref(h->heap, ob);
        if (run)
            check_int(rrc_weak_run(h->heap, 0), 1);
        check_int(w.called, 1);
        check_int(v.called, 0);
        check_ptr(get(h, v.ref), NULL);
        rrc_run_pending(h->heap, 0);
        check_int(v.called, 1);
        let_go(h, w.ref);
        let_go(h, v.ref);
        host_close(h);
    }
}

static void limits(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Lazy, 9), *other = knot_new(h, &Lazy, 8);
    watcher w[5];
    size_t i;
    for (i = 0; i < 5; i++)
        watch(&w[i], h, i < 3 ? ob : other, (int)i + 1);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, other);
    check_events(h, "d9 d8");
    check_int(rrc_weak_run(h->heap, 2), 2);
    check_events(h, "k3 k2");
    check_int(rrc_weak_run(h->heap, 2), 2);
    check_events(h, "k1 k5");
    check_int(rrc_weak_run(h->heap, 2), 1);
    check_events(h, "k4");
    check_int(rrc_weak_run(h->heap, 2), 0);
    for (i = 0; i < 5; i++)
        let_go(h, w[i].ref);
    host_close(h);
}

/* ---- other threads ---- */

static void references_dropped_later(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Prompt, 1), *other = knot_new(h, &Prompt, 2);
    watcher w, v;
    watch(&w, h, ob, 1);
    watch(&v, h, other, 2);
    check_int(rrc_decref_later(h->heap, ob), RRC_OK);
    check_int(rrc_decref_later(h->heap, (rrc_object *)(void *)v.ref), RRC_OK);
    check_ptr(peek(h, w.ref), ob);
    check_ptr(peek(h, v.ref), other);
    rrc_run_pending(h->heap, 0);
    check_events(h, "k1 d1");
    check_ptr(get(h, w.ref), NULL);
    rrc_decref(h->heap, other);
    check_events(h, "d2");
    let_go(h, w.ref);
    host_close(h);
}

/* ---- mistakes ---- */

static rrc_weakref *refused(host *h, rrc_object *ob, int code, const char *part)
{
    rrc_weakref *ref = rrc_weakref_new(h->heap, ob, NULL, NULL);
    const host_log *item = host_expect_log(h, code, "rrc_weakref_new");
    check_ptr(ref, NULL);
    if (strstr(item->detail, part) == NULL)
        unit_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, item->detail);
    return ref;
}

static void refuse_in_dealloc(host *h, rrc_object *ob) { refused(h, ob, RRC_EREFCNT, "is being deallocated"); }
static void refuse_in_hook(host *h, const char *hook)
{
    (void)hook;
    h->on_hook = NULL;
    check_ptr(rrc_weakref_new(h->heap, (rrc_object *)h->test, NULL, NULL), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_weakref_new");
}

static void mistakes(void)
{
    static const rrc_type Forgot = { .tp_name = "Forgot", .tp_basicsize = sizeof(knot),
                                     .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = knot_members };
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Forgot, 1);
    size_t objects;
    check_ptr(rrc_weakref_new(NULL, ob, NULL, NULL), NULL);
    refused(h, NULL, RRC_ENULL, "ob is NULL");
    objects = host_stats(h).objects;
    refused(h, ob, RRC_ETYPE, "set it to rrc_weak_clear");
    rrc_decref(h->heap, ob);
    h->on_dealloc = refuse_in_dealloc;
    rrc_decref(h->heap, knot_new(h, &Prompt, 1));
    rrc_decref(h->heap, knot_new(h, &Lazy, 1));
    h->on_dealloc = NULL;
    check_int(host_stats(h).objects, objects - 1);
    ob = knot_new(h, &Prompt, 1);
    ob_link(h, P, host_rooted(h, HOST_OLD), ob, FULL);
    h->test = ob;
    h->on_hook = refuse_in_hook;
    host_major(h);
    check(h->on_hook == NULL);
    ob = knot_ring(h, &Prompt, 2, NULL);
    host_major(h);
    refused(h, ob, RRC_EPHASE, "resurrect it by rrc_incref");
    rrc_run_pending(h->heap, 0);
    rrc_decref(h->heap, (rrc_object *)h->test);
    host_close(h);
}

static void types_that_are_missing(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    RRC_TYPE(ob) = NULL;
    refused(h, ob, RRC_ETYPE, "the type is NULL");
    RRC_TYPE(ob) = &Node;
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* A host that never calls callbacks. Debug builds notice. */
static void callbacks_that_nobody_calls(void)
{
    host *h = host_open(NULL);
    rrc_object *live = knot_new(h, &Prompt, 1), *ob = knot_new(h, &Lazy, 2);
    rrc_weakref *empty = plain(h, ob);
    watcher w;
    int i;
    rrc_decref(h->heap, ob);                        /* (nobody has to be told) */
    for (i = 0; i < 3; i++) {
        host_major(h);
        let_go(h, plain(h, live));
    }
    ob = knot_new(h, &Lazy, 3);
    watch(&w, h, ob, 1);
    rrc_decref(h->heap, ob);
    let_go(h, plain(h, live));
    host_major(h);
    let_go(h, plain(h, live));
    rrc_weak_run(h->heap, 0);                       /* in time */
    let_go(h, plain(h, live));
    let_go(h, w.ref);
    ob = knot_new(h, &Lazy, 3);
    watch(&w, h, ob, 1);
    rrc_decref(h->heap, ob);
    for (i = 0; i < 4; i++) {
        let_go(h, plain(h, live));
        if (HOST_DEBUG && i == 2)
            check(strstr(host_expect_log(h, RRC_ETYPE, "rrc_weakref_new")->detail, "call rrc_weak_run") != NULL);
        host_expect_silence(h);
        host_major(h);
    }
    check_int(w.called, 0);
    let_go(h, w.ref);                               /* (it is never told, then) */
    let_go(h, empty);
    rrc_decref(h->heap, live);
    host_close(h);
}

/* ---- the end of a heap ---- */

static void the_end_tells(void)
{
    int type;
    for (type = 0; type < 2; type++) {
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, type ? &Lazy : &Prompt, 1), *ring = knot_ring(h, type ? &Lazy : &Prompt, 2, NULL);
        rrc_object *left = knot_new(h, &Prompt, 4);
        watcher w, v, u;
        watch(&w, h, ob, 1);
        watch(&v, h, ring, 2);
        watch(&u, h, left, 3);
        ob_link(h, O, host_rooted(h, HOST_OLD), ob, FULL);
        rrc_decref(h->heap, ob);
        check_int(host_free_heap(h), 0);
        check_int(w.called, !type);
        check_int(v.called, !type);
        check_int(u.called, 0);
        check_int(h->deallocs, 3);
        check_ptr(rrc_weakref_get(h->heap, w.ref), NULL);
        check_ptr(rrc_weakref_get(h->heap, u.ref), NULL);       /* although it is there */
        check_int(rrc_weak_run(h->heap, 0), 0);
        check_ptr(rrc_weakref_new(h->heap, left, NULL, NULL), NULL);
        host_expect_log(h, RRC_ECLOSED, "rrc_weakref_new");
        rrc_weakref_free(h->heap, v.ref);
        rrc_decref(h->heap, left);                  /* its tp_dealloc calls rrc_weak_clear */
        rrc_weakref_free(h->heap, u.ref);
        rrc_weakref_free(h->heap, w.ref);
        host_end(h);
    }
}

/* The publisher and its weak references are garbage at the end, in any order. */
static void the_end_takes_publishers(void)
{
    host *h = host_open(NULL);
    rrc_object *publisher = knot_ring(h, &Prompt, 1, NULL), *subscriber = knot_new(h, &Prompt, 2);
    watcher w, v;
    KNOT(publisher)->ref[1] = (rrc_object *)(void *)watch(&w, h, subscriber, 1);
    KNOT(publisher)->ref[2] = (rrc_object *)(void *)watch(&v, h, publisher, 2);
    ob_link(h, P, host_rooted(h, HOST_OLD), subscriber, FULL);
    rrc_decref(h->heap, subscriber);
    check_int(host_free_heap(h), 0);
    check_int(v.called, 0);
    check_int(h->deallocs, 2);
    host_end(h);
}

/* ---- memory ---- */

static void make_many(host *h, rrc_object *ob, rrc_weakref **refs, int n, watcher *w)
{
    int i;
    for (i = 0; i < n; i++)
        refs[i] = rrc_weakref_new(h->heap, ob, i % 2 == 0 ? NULL : call, w);
}

/* Each allocation fails in turn: the call returns NULL, and nothing has changed. */
static void failing_allocations(void)
{
    size_t at, failed = 1;
    for (at = 1; failed > 0; at++) {
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, &Prompt, 1);
        rrc_weakref *refs[4];
        watcher w = { 0 };
        int i, made = 0;
        rrc_stats before = host_stats(h);
        h->fail_at = h->calls.allocate + at;
        make_many(h, ob, refs, 1, &w);
        failed = h->failed;
        h->fail_at = 0;
        check_int(refs[0] == NULL, failed > 0);
        if (failed > 0) {
            rrc_stats after = host_stats(h);
            check_int(after.objects, before.objects);
            check_int(after.tracked, before.tracked);
        }
        check_int(rrc_check(h->heap), RRC_OK);
        make_many(h, ob, refs + 1, 3, &w);
        for (i = 0; i < 4; i++)
            made += refs[i] != NULL;
        check_int(made, 4 - (failed > 0));
        for (i = 0; i < 4; i++)
            let_go(h, refs[i]);
        rrc_decref(h->heap, ob);
        host_close(h);
    }
    check(at > 4);
}

/* Many at once, some of which fail: the table grows when it can. */
static void all_allocations_fail_for_a_time(void)
{
    enum { N = 5000 };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    static rrc_object *obs[N];
    static rrc_weakref *refs[N];
    int i;
    for (i = 0; i < N; i++) {
        obs[i] = knot_new(h, &Prompt, 0);
        h->fail_at = i % 3 == 0 ? h->calls.allocate + 1 + (size_t)(i / 3 % 4) : 0;
        h->fail_on = i % 2;
        refs[i] = rrc_weakref_new(h->heap, obs[i], NULL, NULL);
        h->fail_at = 0;
    }
    for (i = 0; i < N; i++) {
        rrc_object *ob = refs[i] != NULL ? get(h, refs[i]) : NULL;
        if (refs[i] != NULL)
            check_ptr(ob, obs[i]);
        if (ob != NULL)
            rrc_decref(h->heap, ob);
        if (i % 2 == 0)
            rrc_decref(h->heap, obs[i]);
        check_ptr(refs[i] != NULL ? peek(h, refs[i]) : NULL, refs[i] != NULL && i % 2 != 0 ? obs[i] : NULL);
    }
    for (i = 0; i < N; i++) {
        let_go(h, refs[i]);
        if (i % 2 != 0)
            rrc_decref(h->heap, obs[i]);
    }
    check_int(host_stats(h).objects, 0);
    host_close(h);
}

static void a_million(void)
{
    size_t count = unit_is_quick() || HOST_SANITIZED ? 50000 : 1000000, i, called = 0;
    host_options options = { .unchecked = 1, .plain_memory = 1 };
    host *h = host_open(&options);
    rrc_object *ob = knot_new(h, &Prompt, 0), *other = knot_new(h, &Lazy, 0);
    rrc_weakref **refs = (rrc_weakref **)malloc(count * sizeof *refs);
    rrc_object **obs = (rrc_object **)malloc(count * sizeof *obs);
    watcher *w = (watcher *)calloc(count, sizeof *w);
    check(refs != NULL && obs != NULL && w != NULL);
    /* to one object, without callbacks: they are one */
    for (i = 0; i < count; i++) {
        refs[i] = plain(h, ob);
        check_ptr(refs[i], refs[0]);
    }
    for (i = 0; i < count; i++)
        let_go(h, refs[i]);
    /* with callbacks; the death itself is one change */
    for (i = 0; i < count; i++)
        watch(&w[i], h, other, 0);
    rrc_decref(h->heap, other);
    check_ptr(get(h, w[count / 2].ref), NULL);
    while (rrc_weak_run(h->heap, 1000) > 0)
        check_int(w[count - 1 - called].called, 1), called += 1000;
    for (i = 0; i < count; i++) {
        check_int(w[i].called, 1);
        let_go(h, w[i].ref);
    }
    /* to many objects */
    for (i = 0; i < count; i++) {
        obs[i] = ob_new(h, &Plain);
        refs[i] = plain(h, obs[i]);
    }
    for (i = 0; i < count; i++)
        check_ptr(peek(h, refs[i]), obs[i]);
    for (i = 0; i < count; i += 2)
        rrc_decref(h->heap, obs[i]);
    for (i = 0; i < count; i++)
        check_ptr(peek(h, refs[i]), i % 2 == 0 ? NULL : obs[i]);
    for (i = 1; i < count; i += 2)
        rrc_decref(h->heap, obs[i]);
    for (i = 0; i < count; i++)
        let_go(h, refs[i]);
    rrc_decref(h->heap, ob);
    check_int(host_stats(h).objects, 0);
    free(refs);
    free(obs);
    free(w);
    host_close(h);
}

/* ---- collections in slices ---- */

/* Between two slices get gives what is garbage, but does not wait yet: it lives on, with all that it reaches. */
static void garbage_in_slices_comes_back(void)
{
    int slices, total = 1000, waits = 0, lives = 0;
    for (slices = 0; slices < total; slices++) {
        host_options options = { .reports_marks = REPORT_LINKED, .incremental = 1, .moving = HOST_STAY,
                                 .without_generations = 1, .keeps = 1 };
        host *h = host_open(&options);
        rrc_object *all[3], *ob;
        watcher w;
        int i = 0;
        unit_context("after %d slices: ", slices);
        knot_ring(h, &Prompt, 3, all);
        watch(&w, h, all[1], 4);
        host_start(h);
        while (i < slices && rrc_major_collection_work(h->heap, 1) > 0)
            i++;
        if (i < slices) {
            host_pronounce(h);
            h->phase = HOST_MUTATOR;
            while (i++ < slices && rrc_major_collection_sweep(h->heap, 1) > 0)
                ;
            if (i <= slices)
                total = 0;
        }
        ob = get(h, w.ref);
        lives += ob != NULL;
        waits += ob == NULL;
        h->sweeps = 1;
        host_major(h);
        rrc_run_pending(h->heap, 0);
        if (ob != NULL) {
            check_int(h->deallocs, 0);
            check_events(h, "");
            check_ptr(peek(h, w.ref), all[1]);
            rrc_decref(h->heap, ob);
            host_start(h);
            host_major(h);
            rrc_run_pending(h->heap, 0);
        }
        check_int(h->deallocs, 3);
        check_int(w.called, 1);
        let_go(h, w.ref);
        host_close(h);
    }
    check(lives > 3);
    check(waits > 0);
}

/* ---- random programs ----
   Objects own others and weak references. The oracle knows which objects and weak references the program can reach. */

enum { OBJECTS = 8, REFS = 12, MOST_STEPS = 300 };

typedef struct model model;

typedef struct model_object {
    rrc_object *ob;                 /* NULL: freed, or never made */
    int held;                       /* references that C has */
    int was_lost;                   /* it was unreachable at some time */
    int resurrects, is_rooted;
    size_t p;                       /* HOST_NOTHING: it has no link */
} model_object;

typedef struct model_ref {
    rrc_weakref *ref;               /* NULL: none */
    model *m;
    int to;                         /* number of its object, or -1: this is gone */
    int owner;                      /* number, or -1: C */
    int callback, called;
    int is_dead;                    /* it has given NULL, or was called */
    int was_garbage;                /* a collection has found it unreachable */
    int owed;                       /* it was reachable when its object was freed */
} model_ref;

struct model {
    host *h;
    unsigned random;
    model_object object[OBJECTS];
    model_ref ref[REFS];
    int is_ending;
};

static unsigned choose(model *m, unsigned below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    return (m->random >> 8) % below;
}

static int number_of(const model *m, const rrc_object *ob)
{
    int i;
    for (i = 0; i < OBJECTS; i++)
        if (ob != NULL && m->object[i].ob == ob)
            return i;
    return -1;
}

/* What the program can reach. */
static void mark(const model *m, int i, int *seen)
{
    int k;
    if (i < 0 || seen[i])
        return;
    seen[i] = 1;
    for (k = 0; k < 2; k++)
        mark(m, number_of(m, KNOT(m->object[i].ob)->ref[k]), seen);
}

static void reach(model *m, int *seen)
{
    int i;
    memset(seen, 0, OBJECTS * sizeof *seen);
    for (i = 0; i < OBJECTS; i++)
        if (m->object[i].ob != NULL && (m->object[i].held > 0 || m->object[i].is_rooted))
            mark(m, i, seen);
    for (i = 0; i < OBJECTS; i++)
        m->object[i].was_lost |= m->object[i].ob != NULL && !seen[i];
    for (i = 0; i < REFS; i++) {                    /* its owner may have been cleared */
        model_ref *r = &m->ref[i];
        if (r->ref != NULL && r->owner >= 0 && (m->object[r->owner].ob == NULL
                                                || KNOT(m->object[r->owner].ob)->ref[2] != (rrc_object *)(void *)r->ref))
            r->ref = NULL;
    }
}

static int is_reached(const model_ref *r, const int *seen) { return r->owner < 0 || seen[r->owner]; }

static void model_called(rrc_heap *heap, rrc_weakref *ref, void *arg)
{
    model_ref *r = (model_ref *)arg;
    int seen[OBJECTS];
    check_int(r->m->h->phase, HOST_MUTATOR);
    check_ptr(r->ref, ref);
    check_ptr(rrc_weakref_get(heap, ref), NULL);
    check_int(r->called, 0);
    check(!r->was_garbage);
    if (r->to >= 0) {
        reach(r->m, seen);
        check(r->m->object[r->to].was_lost);
    }
    r->called = 1;
    r->is_dead = 1;
    if (choose(r->m, 4) == 0 && r->owner < 0) {     /* free it at once */
        r->ref = NULL;
        rrc_weakref_free(heap, ref);
    }
}

static void model_get(model *m, model_ref *r, int keep)
{
    rrc_object *ob = rrc_weakref_get(m->h->heap, r->ref);
    int seen[OBJECTS];
    reach(m, seen);
    if (ob == NULL) {
        check(r->to < 0 || r->is_dead || r->was_garbage || m->object[r->to].was_lost || !is_reached(r, seen));
        r->is_dead = 1;
        return;
    }
    check(!r->is_dead);
    check(r->to >= 0);
    check_ptr(ob, m->object[r->to].ob);
    check(REFCNT(ob) != 0);
    if (keep)
        m->object[r->to].held++;
    else
        rrc_decref(m->h->heap, ob);
}

static void model_dealloc(host *h, rrc_object *ob)
{
    model *m = (model *)h->test;
    int i = number_of(m, ob), k, seen[OBJECTS];
    reach(m, seen);
    check(i >= 0);
    check(m->is_ending || !seen[i]);
    for (k = 0; k < REFS; k++) {
        model_ref *r = &m->ref[k];
        if (r->ref != NULL && r->owner == i) {      /* it may have others waiting for it no more */
            r->ref = NULL;
        } else if (r->ref != NULL && r->to == i) {
            r->owed = is_reached(r, seen) && !r->was_garbage && r->callback && !r->called;
            r->to = -1;
        }
    }
    for (k = 0; k < REFS; k++)
        check(m->ref[k].ref == NULL || m->ref[k].to != i);
    m->object[i].ob = NULL;
}

static void model_finalize(host *h, rrc_object *ob)
{
    model *m = (model *)h->test;
    int i = number_of(m, ob), k;
    for (k = 0; k < REFS; k++)
        if (m->ref[k].ref != NULL && m->ref[k].owner < 0 && choose(m, 2) == 0)
            model_get(m, &m->ref[k], 0);
    if (m->object[i].resurrects && !m->is_ending) {
        rrc_incref(h->heap, ob);
        m->object[i].held++;
    }
}

static int waits(host *h, rrc_weakref *ref)
{
    rrc_info info;
    check_int(rrc_inspect_begin(h->heap, "waits"), RRC_OK);
    check_int(rrc_inspect(h->heap, (rrc_object *)(void *)ref, &info), RRC_OK);
    check_int(rrc_inspect_end(h->heap), RRC_OK);
    return (info.is & RRC_IS_WAITING) != 0;
}

/* (What only an object in the dealloc queue owns is unreachable, but no garbage.) */
static void model_collect(model *m)
{
    int seen[OBJECTS], k;
    reach(m, seen);
    host_major(m->h);
    for (k = 0; k < REFS; k++)
        if (m->ref[k].ref != NULL && waits(m->h, m->ref[k].ref)) {
            check(!is_reached(&m->ref[k], seen));
            m->ref[k].was_garbage = 1;
        }
}

static void model_new(model *m, int i)
{
    static const rrc_type *const types[] = { &Prompt, &Lazy, &Last, &Last };
    model_object *o = &m->object[i];
    memset(o, 0, sizeof *o);
    o->ob = knot_new(m->h, types[choose(m, 4)], i + 1);
    o->held = 1;
    o->p = HOST_NOTHING;
    o->resurrects = choose(m, 3) == 0;
    if (choose(m, 3) == 0) {
        o->p = host_rooted(m->h, HOST_OLD);
        ob_link(m->h, choose(m, 2) == 0 ? P : O, o->p, o->ob, FULL);
        host_note_link(m->h, o->p);
        o->is_rooted = 1;
    }
}

static void model_drop(model *m, model_object *o)
{
    o->held--;
    rrc_decref(m->h->heap, o->ob);
}

static void model_refer(model *m, model_ref *r, int owner, int to)
{
    int callback = choose(m, 3) != 0;
    rrc_weakref *ref;
    if (owner >= 0 && KNOT(m->object[owner].ob)->ref[2] != NULL)
        return;
    memset(r, 0, sizeof *r);
    r->m = m;
    r->to = to;
    r->owner = owner;
    r->callback = callback;
    /* Those without callbacks are shared. The oracle looks at one owner of a weak reference, so each gets a callback in
       half of the programs, and C is the owner otherwise. */
    if (!callback)
        r->owner = -1;
    ref = rrc_weakref_new(m->h->heap, m->object[to].ob, callback ? model_called : NULL, r);
    check(ref != NULL);
    r->ref = ref;
    if (r->owner >= 0)
        KNOT(m->object[owner].ob)->ref[2] = (rrc_object *)(void *)ref;
}

static void model_step(model *m)
{
    int i = (int)choose(m, OBJECTS), j = (int)choose(m, OBJECTS), k = (int)choose(m, REFS), seen[OBJECTS];
    model_object *o = &m->object[i], *to = &m->object[j];
    model_ref *r = &m->ref[k];
    reach(m, seen);
    switch (choose(m, 12)) {
    case 0:
        if (o->ob == NULL)
            model_new(m, i);
        break;
    case 1:
    case 2:
        if (o->ob != NULL && o->held > 0)
            model_drop(m, o);
        break;
    case 3:
    case 4:
        if (o->ob != NULL && to->ob != NULL && seen[i] && seen[j]) {
            rrc_object **field = &KNOT(o->ob)->ref[choose(m, 2)], *old = *field;
            rrc_incref(m->h->heap, to->ob);
            *field = to->ob;
            if (old != NULL)
                rrc_decref(m->h->heap, old);
        }
        break;
    case 5:
        if (o->ob != NULL && seen[i]) {
            rrc_object **field = &KNOT(o->ob)->ref[choose(m, 2)];
            RRC_CLEAR(m->h->heap, *field);
        }
        break;
    case 6:
        if (o->ob != NULL && o->is_rooted) {
            host_unroot(m->h, o->p);
            o->is_rooted = 0;
        }
        break;
    case 7:
        if (r->ref == NULL && to->ob != NULL && seen[j] && (o->ob == NULL || seen[i]))
            model_refer(m, r, o->ob != NULL && choose(m, 2) == 0 ? i : -1, j);
        break;
    case 8:
        if (r->ref != NULL && r->owner < 0 && choose(m, 2) == 0) {
            rrc_weakref *ref = r->ref;
            r->ref = NULL;
            rrc_weakref_free(m->h->heap, ref);
        }
        break;
    case 9:
        if (r->ref != NULL && is_reached(r, seen))
            model_get(m, r, (int)choose(m, 2));
        break;
    case 10:
        if (choose(m, 4) == 0)
            model_collect(m);
        break;
    default:
        if (choose(m, 2) == 0)
            rrc_run_pending(m->h->heap, choose(m, 5));
        else
            rrc_weak_run(m->h->heap, choose(m, 3));
    }
}

/* All garbage goes, and all are told who are owed a call. */
static void model_settle(model *m)
{
    int i, seen[OBJECTS];
    for (i = 0; i < 3 * OBJECTS; i++) {
        model_collect(m);
        rrc_run_pending(m->h->heap, 0);
        rrc_weak_run(m->h->heap, 0);
    }
    reach(m, seen);
    for (i = 0; i < OBJECTS; i++)
        check_int(m->object[i].ob != NULL, seen[i]);
    for (i = 0; i < REFS; i++)
        if (m->ref[i].ref != NULL) {
            check(!m->ref[i].owed || m->ref[i].called || m->ref[i].was_garbage);
            model_get(m, &m->ref[i], 0);
        }
}

static void random_program(unsigned seed)
{
    host_options options = { .without_generations = 1, .reports_marks = REPORT_LINKED, .keeps = (int)(seed % 2) };
    model m;
    int i, steps;
    memset(&m, 0, sizeof m);
    m.random = seed * 2654435761u | 1;
    m.h = host_open(&options);
    m.h->test = &m;
    m.h->on_dealloc = model_dealloc;
    m.h->on_finalize = model_finalize;
    steps = (int)choose(&m, MOST_STEPS);
    for (i = 0; i < steps; i++) {
        m.h->events[0] = '\0';
        model_step(&m);
    }
    m.h->events[0] = '\0';
    if (choose(&m, 2) == 0)
        model_settle(&m);
    m.h->events[0] = '\0';
    m.is_ending = 1;
    for (i = 0; i < OBJECTS; i++)
        while (m.object[i].ob != NULL && m.object[i].held > 0)
            model_drop(&m, &m.object[i]);
    m.h->events[0] = '\0';
    for (i = 0; i < REFS; i++)
        m.ref[i].was_garbage = 0;
    for (i = 0; i < OBJECTS; i++)
        m.object[i].is_rooted = 0;                  /* at the end no root of the host counts */
    check_int(host_free_heap(m.h), 0);
    for (i = 0; i < REFS; i++)
        if (m.ref[i].ref != NULL) {
            check_ptr(rrc_weakref_get(m.h->heap, m.ref[i].ref), NULL);
            rrc_weakref_free(m.h->heap, m.ref[i].ref);
        }
    for (i = 0; i < OBJECTS; i++)
        check_ptr(m.object[i].ob, NULL);
    while (HOST_DEBUG && m.h->log_read < m.h->log_count)       /* nobody may have called callbacks for long */
        host_expect_log(m.h, RRC_ETYPE, "rrc_weakref_new");
    host_end(m.h);
}

static void random_programs(void)
{
    unsigned seed, count = unit_is_quick() ? 700 : 5000;
    for (seed = 1; seed <= count; seed++) {
        unit_context("seed %u: ", seed);
        random_program(seed);
    }
}

UNIT_GROUP(weak,
    UNIT(a_death_is_told_at_once),
    UNIT(without_the_line_callbacks_wait),
    UNIT(types_with_only_members),
    UNIT(the_newest_comes_first),
    UNIT(what_is_shared_is_made_again),
    UNIT(a_finalizer_can_keep_its_weak_references),
    UNIT(the_queue_gives_its_objects_back),
    UNIT(light_objects_are_told_later),
    UNIT(moved_objects_are_others),
    UNIT(cleared_by_hand),
    UNIT(weak_references_to_weak_references),
    UNIT(static_objects_never_go),
    UNIT(all_are_dead_before_the_first_callback),
    UNIT(garbage_that_waits_is_not_given),
    UNIT(garbage_hears_nothing),
    UNIT(garbage_has_no_weak_references),
    UNIT(the_resurrected_have_lost_theirs),
    UNIT(callbacks_free_weak_references),
    UNIT(a_callback_frees_the_last),
    UNIT(callbacks_cannot_refer_to_garbage),
    UNIT(callbacks_make_weak_references),
    UNIT(callbacks_are_not_nested),
    UNIT(callbacks_may_collect),
    UNIT(limits),
    UNIT(references_dropped_later),
    UNIT(mistakes),
    UNIT(types_that_are_missing),
    UNIT(callbacks_that_nobody_calls),
    UNIT(the_end_tells),
    UNIT(the_end_takes_publishers),
    UNIT(failing_allocations),
    UNIT(all_allocations_fail_for_a_time),
    UNIT(a_million),
    UNIT(garbage_in_slices_comes_back),
    UNIT(random_programs));
