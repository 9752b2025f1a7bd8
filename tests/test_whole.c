/* What garbage owns is whole until its dealloc has run, if the host calls rrc_major_collection_keep. */

#include "knots.h"
#include "whole.h"

#include <string.h>

/* ---- the toy host ---- */

typedef struct view {
    OB_HEAD
    size_t id;              /* of its p */
    size_t captured;        /* what that refers to, or HOST_NOTHING */
} view;

#define VIEW(ob) ((view *)(void *)(ob))
#define HOST_OF(w) ((host *)(w)->host)

enum { IDS = 64 };
static size_t proxies[IDS];             /* of widgets, by number */
static rrc_object *proxied[IDS];
static size_t proxied_count;

static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(view) };
static const rrc_type GcView = { .tp_name = "GcView", .tp_basicsize = sizeof(view), .tp_flags = RRC_TPFLAGS_HAVE_GC };
static int views_are_tracked;

static rrc_object *new_view(whole_host *w, size_t captured)
{
    host *h = HOST_OF(w);
    rrc_object *ob = views_are_tracked ? rrc_gc_new(h->heap, &GcView) : rrc_new(h->heap, &View);
    size_t id = host_new(h, h->options.without_generations ? HOST_OLD : HOST_YOUNG);

    VIEW(ob)->id = id;
    VIEW(ob)->captured = captured;
    if (captured != HOST_NOTHING)
        host_point(h, id, 0, captured);
    if (views_are_tracked)
        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_P | (views_are_tracked ? 0 : RRC_LIGHT)), RRC_OK);
    host_note_link(h, id);
    return ob;
}

static rrc_object *new_string(whole_host *w) { return new_view(w, HOST_NOTHING); }

static rrc_object *new_closure(whole_host *w, rrc_object *captured)
{
    size_t i;

    for (i = 0; i < proxied_count; i++)
        if (captured != NULL && proxied[i] == captured)
            return new_view(w, proxies[i]);
    return new_view(w, HOST_NOTHING);
}

static void new_proxy(whole_host *w, rrc_object *ob, int is_rooted)
{
    host *h = HOST_OF(w);
    size_t id = host_new(h, h->options.without_generations ? HOST_OLD : HOST_YOUNG);

    check(proxied_count < IDS);
    proxies[proxied_count] = id;
    proxied[proxied_count++] = ob;
    if (is_rooted)
        host_root(h, id);
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_O | RRC_GIVE), RRC_OK);
    host_note_link(h, id);
}

static int read_view(whole_host *w, rrc_object *ob)
{
    host *h = HOST_OF(w);

    return host_is_alive(h, VIEW(ob)->id) && rrc_to_obj(h->heap, ob) == host_at(h, VIEW(ob)->id);
}

static int call_view(whole_host *w, rrc_object *ob)
{
    return read_view(w, ob) && (VIEW(ob)->captured == HOST_NOTHING || host_is_alive(HOST_OF(w), VIEW(ob)->captured));
}

static void collect(whole_host *w)
{
    host_major(HOST_OF(w));
    rrc_run_pending(w->heap, 0);
    check_int(rrc_check(w->heap), RRC_OK);
}

static void begin(whole_host *w, const host_options *options)
{
    host *h = host_open(options);

    memset(w, 0, sizeof *w);
    w->heap = h->heap;
    w->host = h;
    w->string = new_string;
    w->closure = new_closure;
    w->proxy = new_proxy;
    w->read = read_view;
    w->call = call_view;
    w->collect = collect;
    proxied_count = 0;
    whole_now = w;
}

/* How many host objects are there? */
static size_t count_alive(const host *h)
{
    size_t i, n = 0;

    for (i = 0; i < h->count; i++)
        n += host_is_alive(h, i) != 0;
    return n;
}

/* ---- the scenario ---- */

static void play(int kind, int shape, int finalizes)
{
    host_options options = { .keeps = 1 };
    whole_host w;
    int n;

    unit_context("host %d, shape %d, finalizers %d", kind, shape, finalizes);
    options.reports_marks = kind & 1 ? REPORT_LINKED : 0;
    options.without_generations = (kind & 2) != 0;
    views_are_tracked = (kind & 4) != 0;
    options.moving = kind & 8 ? HOST_PERMUTE : HOST_FRESH;
    options.eager = (kind & 16) != 0;
    begin(&w, &options);
    n = whole_make(&w, shape, finalizes, 0);
    w.collect(&w);
    if (finalizes) {
        check_int(w.finalized, n);      /* (what its finalizer alone has kept goes by its count) */
        w.collect(&w);
    }
    check_int(w.dead, 0);
    check_int(w.deallocated, n);
    check_int(w.cleared > 0, shape == WHOLE_PEERS);
    check(w.looked >= 2 * n);
    check_int(host_stats(HOST_OF(&w)).tracked, 0);
    w.collect(&w);                      /* what was kept dies now */
    check_int(count_alive(HOST_OF(&w)), 0);
    check_stats(HOST_OF(&w), 0, 0, 0, 0, 0);
    host_close(HOST_OF(&w));
}

static void what_garbage_owns_is_whole(void)
{
    int kind, shape, finalizes;

    for (kind = 0; kind < 32; kind++)
        for (shape = 0; shape < WHOLE_SHAPES; shape++)
            for (finalizes = 0; finalizes < 2; finalizes++)
                play(kind, shape, finalizes);
}

/* ... and at the end of the heap, be the proxies rooted, garbage, or garbage that waits. */
static void what_goes_at_the_end_is_whole(void)
{
    int kind, shape, finalizes, when;

    for (kind = 0; kind < 8; kind++)
        for (shape = 0; shape < WHOLE_SHAPES; shape++)
            for (finalizes = 0; finalizes < 2; finalizes++)
                for (when = 0; when < 3; when++) {
                    host_options options = { .keeps = 1 };
                    whole_host w;
                    int n;

                    unit_context("host %d, shape %d, finalizers %d, when %d", kind, shape, finalizes, when);
                    options.reports_marks = kind & 1 ? REPORT_LINKED : 0;
                    options.without_generations = (kind & 2) != 0;
                    views_are_tracked = (kind & 4) != 0;
                    begin(&w, &options);
                    n = whole_make(&w, shape, finalizes, when == 0);
                    if (when == 2)
                        host_major(HOST_OF(&w));
                    check_int(host_free_heap(HOST_OF(&w)), 0);
                    check_int(w.dead, 0);
                    check_int(w.deallocated, n);
                    check_int(w.finalized, finalizes ? n : 0);
                    check(w.looked >= 2 * n);
                    check(HOST_OF(&w)->parted >= 2);
                    host_end(HOST_OF(&w));
                }
}

/* What garbage owns through the host: a closure, which refers to the proxy of an object of C. */
static void what_goes_is_whole_through_the_host(void)
{
    static STATIC_OB(still, &Node);
    int kind, path, collects, is_rooted;

    for (kind = 0; kind < 64; kind++)
        for (path = 0; path < WHOLE_PATHS; path++)
            for (collects = 0; collects < 2; collects++)
                for (is_rooted = 0; is_rooted <= !collects; is_rooted++) {
                    host_options options = { .keeps = 1 };
                    whole_host w;
                    int n, i;

                    if (path % 4 == WHOLE_FOREIGN || (collects && path % 4 != WHOLE_PLAIN))
                        continue;       /* (tracked garbage goes in one collection, in which only p's are kept) */
                    unit_context("host %d, path %d, collects %d, rooted %d", kind, path, collects, is_rooted);
                    options.reports_marks = kind & 1 ? REPORT_LINKED : 0;
                    options.without_generations = (kind & 2) != 0;
                    options.eager = (kind & 4) != 0;
                    views_are_tracked = (kind & 8) != 0;
                    options.order = kind & 16 ? 2 : 0;
                    begin(&w, &options);
                    w.still = kind & 32 ? STATIC_PTR(still) : NULL;
                    n = whole_make_path(&w, path, is_rooted);
                    for (i = 0; collects && i < 2 * WHOLE_DEPTH; i++)
                        w.collect(&w);
                    if (collects)
                        check_int(w.deallocated, n);
                    if (kind & 32)
                        rrc_gc_disable(HOST_OF(&w)->heap);      /* the order is looked for in any case */
                    check_int(host_free_heap(HOST_OF(&w)), 0);
                    check_int(w.dead, 0);
                    check_int(w.missed, 0);
                    check_int(w.deallocated, n);
                    check(w.looked >= 2 * WHOLE_DEPTH - 2);
                    host_end(HOST_OF(&w));
                }
}

/* The hook `parted` takes a reference to an object that is about to part, too. Then C holds that. */
static rrc_object *two[2], *gone;

static void hold_the_other(host *h, rrc_gcref p, rrc_object *ob)
{
    (void)p;
    h->on_parted = NULL;
    gone = ob;
    rrc_incref(h->heap, two[ob == two[0]]);
}

static void a_hook_holds_what_is_about_to_part(void)
{
    host *h = host_open(NULL);
    rrc_object *held;
    int i;

    for (i = 0; i < 2; i++)
        two[i] = ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
    h->on_parted = hold_the_other;
    check_int(host_free_heap(h), 1);
    check_int(h->parted, 2);
    check_int(h->deallocs, 1);
    held = two[gone == two[0]];
    check_int(REFCNT(held), 1);
    rrc_decref(h->heap, held);
    check_int(h->deallocs, 2);
    host_end(h);
}

/* ---- what else is promised ---- */

/* Types with members only, and those that promise not to look, have nothing kept. */
static void nothing_is_kept_for_those_who_do_not_look(void)
{
    static const rrc_type Drops = {
        .tp_name = "Drops", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_DROPS_ONLY,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = knot_clear,
    };
    static const rrc_type *const types[] = { &Knot, &KnotTable, &Drops };
    int i;

    for (i = 0; i < 3; i++) {
        host_options options = { .keeps = 1 };
        host *h = host_open(&options);
        rrc_object *owner = knot_new(h, types[i], 0);
        size_t id = host_new(h, HOST_OLD);

        unit_context("type %d", i);
        KNOT(owner)->ref[0] = ob_shared(h, P, id, FULL);
        ob_link(h, O, host_new(h, HOST_OLD), owner, FULL);
        rrc_decref(h->heap, owner);
        host_major(h);
        check_int(host_is_alive(h, id), types[i] == &Knot);
        rrc_run_pending(h->heap, 0);
        host_major(h);
        check(!host_is_alive(h, id));
        rrc_run_pending(h->heap, 0);
        check_int(host_stats(h).objects, 0);
        host_close(h);
    }
}

/* w1 owns the view of q, and q refers to p, whose ob w2 is garbage too: p is kept for w1 only. */
typedef struct kept_for_another {
    host *h;
    rrc_object *owner, *view, *other;
    size_t q, p;
} kept_for_another;

static void keep_for_another(kept_for_another *k, link_kind kind)
{
    host_options options = { .keeps = 1 };

    k->h = host_open(&options);
    k->owner = knot_new(k->h, &Knot, 1);
    k->other = knot_new(k->h, &Knot, 2);
    k->q = host_new(k->h, HOST_OLD);
    k->p = host_new(k->h, HOST_OLD);
    host_point(k->h, k->q, 0, k->p);
    k->view = KNOT(k->owner)->ref[0] = ob_shared(k->h, P, k->q, FULL);
    ob_link(k->h, O, host_new(k->h, HOST_OLD), k->owner, FULL);
    ob_link(k->h, kind, k->p, k->other, FULL);
    rrc_decref(k->h->heap, k->owner);
    rrc_decref(k->h->heap, k->other);
    host_major(k->h);
    check(host_is_alive(k->h, k->q) && host_is_alive(k->h, k->p));
    check_ptr(rrc_to_obj(k->h->heap, k->other), host_at(k->h, k->p));
    check_int(host_stats(k->h).pending, 2);
}

static void garbage_parts_from_what_was_kept(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        kept_for_another k;

        keep_for_another(&k, (link_kind)kind);
        check_ptr(rrc_from_obj(k.h->heap, host_at(k.h, k.p)), NULL);
        check_int(rrc_run_pending(k.h->heap, 0), 2);
        check_int(k.h->deallocs, 2);
        check_int(k.h->parted, 1);
        check(host_is_alive(k.h, k.p));
        check_ptr(rrc_from_obj(k.h->heap, host_at(k.h, k.p)), NULL);
        host_major(k.h);
        rrc_run_pending(k.h->heap, 0);
        check(!host_is_alive(k.h, k.p) && !host_is_alive(k.h, k.q));
        k.h->events[0] = '\0';
        host_close(k.h);
    }
}

/* p is kept, and code makes a new P link for it: the garbage parts first. */
static void a_new_link_takes_the_place_of_garbage(void)
{
    kept_for_another k;
    rrc_object *fresh;

    keep_for_another(&k, P);
    fresh = ob_new(k.h, &Node);
    check_int(rrc_link(k.h->heap, host_at(k.h, k.p), fresh, RRC_P), RRC_OK);
    check_int(k.h->parted, 1);
    check_ptr(rrc_from_obj(k.h->heap, host_at(k.h, k.p)), fresh);
    check_ptr(rrc_to_obj(k.h->heap, k.other), NULL);
    check_int(rrc_check(k.h->heap), RRC_OK);
    check_int(rrc_run_pending(k.h->heap, 0), 2);
    check_int(k.h->parted, 1);
    host_major(k.h);
    check(host_is_alive(k.h, k.p));
    rrc_decref(k.h->heap, fresh);
    k.h->events[0] = '\0';
    host_major(k.h);
    rrc_run_pending(k.h->heap, 0);
    host_close(k.h);
}

/* C takes a reference to what waits: it goes back with its link. */
static void what_c_takes_keeps_its_link(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        kept_for_another k;

        keep_for_another(&k, (link_kind)kind);
        rrc_incref(k.h->heap, k.other);
        check_int(rrc_run_pending(k.h->heap, 0), 1);
        check_int(k.h->parted, 0);
        check_ptr(rrc_to_obj(k.h->heap, k.other), host_at(k.h, k.p));
        check_ptr(rrc_from_obj(k.h->heap, host_at(k.h, k.p)), kind == P ? k.other : NULL);
        host_major(k.h);
        check_int(host_is_alive(k.h, k.p), kind == P);
        rrc_decref(k.h->heap, k.other);
        host_major(k.h);
        rrc_run_pending(k.h->heap, 0);
        check_int(host_stats(k.h).tracked, 0);
        k.h->events[0] = '\0';
        host_close(k.h);
    }
}

/* The next collections come before the pending work is done. */
static void what_waits_stays_whole(void)
{
    int kind, minor;

    for (kind = P; kind <= O; kind++)
        for (minor = 0; minor < 2; minor++) {
            kept_for_another k;
            int i;

            keep_for_another(&k, (link_kind)kind);
            for (i = 0; i < 3; i++)
                minor ? host_minor(k.h) : host_major(k.h);
            check(host_is_alive(k.h, k.q));
            check_ptr(rrc_to_obj(k.h->heap, k.view), host_at(k.h, k.q));
            check(host_is_alive(k.h, k.p));
            check_int(k.h->deallocs, 0);
            check_int(rrc_run_pending(k.h->heap, 0), 2);
            check_int(k.h->deallocs, 2);
            k.h->events[0] = '\0';
            host_major(k.h);
            rrc_run_pending(k.h->heap, 0);
            host_close(k.h);
        }
}

/* A dealloc takes hold of the view that it owns: p lives on, but what has parted has parted. */
static rrc_object *taken;

static void take_the_view(host *h, rrc_object *ob)
{
    if (KNOT(ob)->tag != 1)
        return;
    taken = KNOT(ob)->ref[0];
    rrc_incref(h->heap, taken);
}

static void a_dealloc_may_take_what_it_owns(void)
{
    kept_for_another k;

    keep_for_another(&k, O);
    k.h->on_dealloc = take_the_view;
    check_int(rrc_run_pending(k.h->heap, 0), 2);
    k.h->on_dealloc = NULL;
    check_ptr(rrc_to_obj(k.h->heap, taken), host_at(k.h, k.q));
    host_major(k.h);
    check(host_is_alive(k.h, k.q) && host_is_alive(k.h, k.p));
    rrc_decref(k.h->heap, taken);
    k.h->events[0] = '\0';
    host_major(k.h);
    rrc_run_pending(k.h->heap, 0);
    host_close(k.h);
}

/* Any slot may look, not only tp_dealloc and tp_clear. */
static void weakrefs_or_finalize(rrc_heap *heap, rrc_object *self) { (void)heap, (void)self; }

static void each_slot_may_look(void)
{
    static const rrc_type types[] = {
        { .tp_name = "Members", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
          .tp_members = knot_members },
        { .tp_name = "WithWeakrefs", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
          .tp_members = knot_members, .tp_clear_weakrefs = weakrefs_or_finalize },
        { .tp_name = "WithFinalize", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
          .tp_members = knot_members, .tp_finalize = weakrefs_or_finalize },
    };
    size_t i;

    for (i = 0; i < 3; i++) {
        host_options options = { .keeps = 1 };
        host *h = host_open(&options);
        rrc_object *ring = knot_ring(h, &types[i], 2, NULL);
        size_t id = host_new(h, HOST_OLD);

        unit_context("type %d", (int)i);
        KNOT(ring)->ref[1] = ob_shared(h, P, id, FULL);
        if (i == 2) {                           /* its finalizer runs after the first collection */
            host_major(h);
            rrc_run_pending(h->heap, 0);
        }
        host_major(h);
        check_int(host_is_alive(h, id), i > 0);
        rrc_run_pending(h->heap, 0);
        check_int(host_stats(h).tracked, 0);
        host_major(h);
        rrc_run_pending(h->heap, 0);
        check(!host_is_alive(h, id));
        host_close(h);
    }
}

/* Two collections keep garbage before the pending work is done. */
static void keeping_twice(void)
{
    kept_for_another k;

    keep_for_another(&k, O);
    knot_ring(k.h, &Knot, 3, NULL);
    host_major(k.h);
    check_int(host_stats(k.h).pending, 5);
    rrc_run_pending(k.h->heap, 0);
    check_int(k.h->deallocs, 5);
    k.h->events[0] = '\0';
    host_major(k.h);
    rrc_run_pending(k.h->heap, 0);
    host_close(k.h);
}

/* The host's weak references are cleared before it keeps. One that it clears too late gives what is garbage. */
static size_t weak_id;
static int weak_is_cleared;

static void clear_weak(host *h)
{
    weak_is_cleared = !host_is_marked(h, weak_id);
}

static void weak_references_are_cleared_first(void)
{
    host_options options = { .keeps = 1 };
    host *h = host_open(&options);
    rrc_object *owner = knot_new(h, &Knot, 0), *other = knot_new(h, &Knot, 0);
    size_t q = host_new(h, HOST_OLD);

    weak_id = host_new(h, HOST_OLD);
    host_point(h, q, 0, weak_id);
    KNOT(owner)->ref[0] = ob_shared(h, P, q, FULL);
    ob_link(h, O, host_new(h, HOST_OLD), owner, FULL);
    ob_link(h, O, weak_id, other, FULL);
    rrc_decref(h->heap, owner);
    rrc_decref(h->heap, other);
    weak_is_cleared = 0;
    h->on_weak = clear_weak;
    host_major(h);
    check(weak_is_cleared);
    check(host_is_alive(h, weak_id));
    rrc_run_pending(h->heap, 0);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    host_close(h);
}

/* Garbage that only its link holds is deallocated before what it owns is cleared. */
static void owners_go_before_what_they_own(void)
{
    int order;

    for (order = 0; order < 2; order++) {
        host_options options = { .keeps = 1 };
        host *h = host_open(&options);
        rrc_object *first = knot_new(h, &Knot, 2 - order), *second = knot_new(h, &Knot, 1 + order);
        rrc_object *owner = order ? first : second, *owned = order ? second : first;

        unit_context("order %d", order);
        KNOT(owner)->ref[0] = owned;
        ob_link(h, O, host_new(h, HOST_OLD), owner, FULL);
        rrc_decref(h->heap, owner);
        host_major(h);
        check_int(rrc_run_pending(h->heap, 0), 2);
        check_events(h, "d1 d2");
        host_close(h);
    }
}

/* At the end proxies part first: their deallocs still find views that nobody owns. */
static rrc_gcref viewed;
static rrc_object *its_view;

static void find_the_view(host *h, rrc_object *ob)
{
    if (RRC_TYPE(ob) == &Knot)
        check_ptr(rrc_from_obj(h->heap, viewed), its_view);
}

static void proxies_part_before_views(void)
{
    host_options options = { .keeps = 1 };
    host *h = host_open(&options);
    rrc_object *widget = knot_new(h, &Knot, 1);
    size_t id = host_rooted(h, HOST_OLD);

    its_view = ob_given(h, P, id, FULL);
    viewed = host_at(h, id);
    ob_link(h, O, host_rooted(h, HOST_OLD), widget, FULL);
    rrc_decref(h->heap, widget);
    h->on_dealloc = find_the_view;
    its_view = rrc_from_obj(h->heap, viewed);
    check_int(host_free_heap(h), 0);
    check_int(h->parted, 2);
    check_events(h, "d1");
    host_end(h);
}

/* A walk links all that waits: each object goes back at once, and leaves a hole in its list. */
static int link_in_walk(rrc_object *ob, void *arg)
{
    host *h = (host *)arg;

    if (rrc_to_obj(h->heap, ob) == NULL)
        check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), ob, RRC_O), RRC_OK);
    return 1;
}

static void a_walk_links_what_waits(void)
{
    enum { RINGS = 3000 };
    host_options options = { .keeps = 1, .unchecked = 1 };
    host *h = host_open(&options);
    int i;

    for (i = 0; i < RINGS; i++)
        knot_ring(h, &KnotTable, 1, NULL);
    host_major(h);
    check_int(host_stats(h).pending, RINGS);
    rrc_gc_visit_objects(h->heap, link_in_walk, h);
    check_int(host_stats(h).pending, 0);
    check_int(rrc_run_pending(h->heap, 0), 0);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(host_stats(h).tracked, RINGS);
    host_close(h);
}

/* Keeping is part of a collection whose search is complete. */
static void keeping_has_its_place(void)
{
    host_options options = { .reports_marks = REPORT_LINKED, .early = 1 };
    host *h = host_open(&options);

    check_int(rrc_major_collection_keep(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_keep");
    knot_ring(h, &Knot, 2, NULL);
    host_major_begin(h);
    check_int(rrc_major_collection_keep(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_keep");
    host_major_end(h);
    h->options.early = 0;
    host_major_begin(h);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_major_collection_keep(h->heap), RRC_OK);
    check_int(rrc_major_collection_keep(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_keep");
    check_int(rrc_major_collection_trace(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_trace");
    check_int(rrc_major_collection_pause(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_pause");
    h->phase = HOST_MAJOR_PLAN;
    host_major_end(h);
    rrc_run_pending(h->heap, 0);
    h->events[0] = '\0';
    /* Without a search there is nothing to keep. */
    rrc_gc_disable(h->heap);
    h->options.keeps = 1;
    host_major(h);
    host_close(h);
}

/* A chain of views, each of which owns the next, ends in linear time. */
static void a_long_chain_of_views_ends(void)
{
    const size_t length = unit_is_quick() ? 20000 : 200000;
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *chain = ob_chain(h, &Node, length), *ob;

    for (ob = chain; ob != NULL; ob = NODE(ob)->ref[0])
        ob_link(h, P, host_rooted(h, HOST_OLD), ob, FULL);
    rrc_decref(h->heap, chain);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, length);
    check_int(h->parted, length);
    host_end(h);
}

/* Each dealloc makes a proxy and its object. That does not go on without end. */
static int gives;

static void make_a_proxy(host *h, rrc_object *ob)
{
    rrc_object *fresh;

    (void)ob;
    if (h->closed)
        return;
    fresh = ob_new(h, &Node);
    check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), fresh, gives ? RRC_O | RRC_GIVE : RRC_O), RRC_OK);
    if (!gives)
        rrc_decref(h->heap, fresh);     /* they part at once */
    h->test = fresh;
}

static void deallocs_that_make_links_end(void)
{
    for (gives = 0; gives < 2; gives++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);

        ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
        h->on_dealloc = make_a_proxy;
        check_int(host_free_heap(h), 0);
        check(h->deallocs > 5000 && h->deallocs < 100000);
        rrc_decref(h->heap, (rrc_object *)h->test);     /* the last one was left over */
        host_end(h);
    }
}

/* Garbage is done one by one. As long as any of it waits, its p finds nobody: also if one is left, or if as many are
   cleared, but held by themselves, as still wait. */
static void the_last_that_waits_is_not_found(void)
{
    int is_stiff;

    for (is_stiff = 0; is_stiff < 2; is_stiff++) {
        host_options options = { .keeps = 1 };
        host *h = host_open(&options);
        rrc_object *first = knot_new(h, is_stiff ? &KnotStiff : &Knot, 0), *second = knot_new(h, &Knot, 0), *owned;
        size_t p = host_new(h, HOST_OLD), q = host_new(h, HOST_OLD);

        unit_context("stiff %d", is_stiff);
        owned = ob_shared(h, P, p, FULL);
        knot_tie(h, first, 0, first);
        knot_tie(h, first, 1, owned);                /* whose p keeps the other's */
        rrc_decref(h->heap, owned);
        host_point(h, p, 0, q);
        ob_link(h, P, q, second, FULL);
        knot_tie(h, second, 0, second);
        rrc_decref(h->heap, first);
        rrc_decref(h->heap, second);
        host_major(h);
        check(host_is_alive(h, q));
        check_int(host_stats(h).pending, 2);
        check_int(rrc_run_pending(h->heap, 1), 1);
        check_int(host_stats(h).pending, 1);
        check_ptr(rrc_from_obj(h->heap, host_at(h, q)), NULL);
        rrc_run_pending(h->heap, 0);
        if (is_stiff) {
            host_major(h);
            rrc_run_pending(h->heap, 0);
            host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
            RRC_CLEAR(h->heap, KNOT(first)->ref[0]);
        }
        check_int(h->deallocs, 2);
        knot_collect(h);
        check_int(h->deallocs, 3);
        check(!host_is_alive(h, q));
        host_close(h);
    }
}

UNIT_GROUP(whole,
    UNIT(what_garbage_owns_is_whole),
    UNIT(what_goes_at_the_end_is_whole),
    UNIT(what_goes_is_whole_through_the_host),
    UNIT(a_hook_holds_what_is_about_to_part),
    UNIT(nothing_is_kept_for_those_who_do_not_look),
    UNIT(garbage_parts_from_what_was_kept),
    UNIT(a_new_link_takes_the_place_of_garbage),
    UNIT(what_c_takes_keeps_its_link),
    UNIT(what_waits_stays_whole),
    UNIT(a_dealloc_may_take_what_it_owns),
    UNIT(weak_references_are_cleared_first),
    UNIT(owners_go_before_what_they_own),
    UNIT(proxies_part_before_views),
    UNIT(a_walk_links_what_waits),
    UNIT(keeping_has_its_place),
    UNIT(a_long_chain_of_views_ends),
    UNIT(each_slot_may_look),
    UNIT(keeping_twice),
        UNIT(deallocs_that_make_links_end),
    UNIT(the_last_that_waits_is_not_found));
