/* Stories of a closed host, one at a time. */

#include "mirror_programs.h"
#include "whole.h"
#include "bindings/weak/rrc_weak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const unit_group mirror_hook_calls, mirror_cells, mirror_reentry, mirror_states;

#define COUNT(w, n) (RRC_REFCNT((w)->ob[n].ob) & INTPTR_MAX)

static rrc_object *at(const m_world *w, int ob)
{
    return w->ob[ob].ob;
}

static rrc_closed_stats closed_stats_of(m_world *w)
{
    rrc_closed_stats stats;

    memset(&stats, 0, sizeof stats);
    check_int(rrc_closed_get_stats(w->v->heap, &stats), RRC_OK);
    return stats;
}

static rrc_stats stats_of(m_world *w)
{
    rrc_stats stats;

    check_int(rrc_get_stats(w->v->heap, &stats), RRC_OK);
    return stats;
}

/* An object with a link, held by nobody but its p, which nobody holds. */
static int linked(m_world *w, int kind, int is_p, int *p)
{
    int ob = m_new_ob(w, kind);

    *p = m_new_p(w);
    m_root(w, *p, 1);
    check_int(m_link(w, *p, ob, is_p), RRC_OK);
    m_drop(w, ob);
    m_root(w, *p, 0);
    return ob;
}

/* A new reference of an object without others to one that `to` is held by now. */
static void hand_over(m_world *w, int owner, int n, int to)
{
    m_refer(w, owner, n, to);
    m_drop(w, to);
}

/* What the host does by itself, after a step. */
static void live_on(m_world *w, int rounds)
{
    while (rounds-- > 0) {
        check_int(m_step(w), RRC_OK);
        m_compare(w);
        vm_collect(w->v);
        m_compare(w);
        m_run(w, 0);
        m_compare(w);
    }
}

static void check_all_gone(m_world *w)
{
    size_t i;

    for (i = 0; i < w->p_count; i++)
        check_ptr(w->p[i].at, NULL);
    for (i = 0; i < w->ob_count; i++)
        check_ptr(w->ob[i].ob, NULL);
    check_int(rrc_closed_count_weak(w->v->heap), 0);
    check_int(closed_stats_of(w).edge_nodes, 0);
    check_int(stats_of(w).objects, 0);
}

/* ---- weak references of C ---- */

typedef struct listener {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *owned[2];
} listener;

static const rrc_member listener_members[] = {
    { "first", offsetof(listener, owned) }, { "second", offsetof(listener, owned) + sizeof(rrc_object *) }, { NULL, 0 }
};
static const rrc_type Listener = {
    .tp_name = "Listener", .tp_basicsize = sizeof(listener), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_members = listener_members, .tp_dealloc = rrc_weak_dealloc, .tp_clear_weakrefs = rrc_weak_clear
};

/* A new one, with an O link, which only its p holds. */
static rrc_object *listener_new(vm *v, vm_object **p, int number)
{
    rrc_object *ob = rrc_gc_new(v->heap, &Listener);
    check(ob != NULL);
    check_int(rrc_gc_track(v->heap, ob), RRC_OK);
    *p = vm_new(v, number);
    vm_root(v, *p, 1);
    check_int(vm_link(v, *p, ob, RRC_O), RRC_OK);
    rrc_decref(v->heap, ob);
    return ob;
}

static void count_call(rrc_heap *heap, rrc_weakref *ref, void *arg)
{
    check_ptr(rrc_weakref_get(heap, ref), NULL);
    ++*(int *)arg;
}

static void live(vm *v, int rounds)
{
    while (rounds-- > 0) {
        check_int(rrc_closed_step(v->heap), RRC_OK);
        vm_collect(v);
        rrc_run_pending(v->heap, 0);
        rrc_weak_run(v->heap, 0);
    }
}

/* Two listeners own each other, and an object of the host refers to them. A publisher, which only the host holds, has a
   weak reference to the first, and C one to the second. publisher_goes: it is garbage at the same time. */
static void weak_references_of_c(void)
{
    int publisher_goes, given;
    for (publisher_goes = 0; publisher_goes < 2; publisher_goes++) {
        vm *v = vm_open(NULL, 1);
        vm_object *p[3];
        rrc_object *first = listener_new(v, &p[0], 0), *second = listener_new(v, &p[1], 1),
                   *publisher = listener_new(v, &p[2], 2), *ob;
        rrc_weakref *ref;
        int heard = 0, told = 0;
        rrc_stats stats;
        rrc_incref(v->heap, second);
        ((listener *)(void *)first)->owned[0] = second;
        rrc_incref(v->heap, first);
        ((listener *)(void *)second)->owned[0] = first;
        ((listener *)(void *)publisher)->owned[1] =
            (rrc_object *)(void *)rrc_weakref_new(v->heap, first, count_call, &heard);
        ref = rrc_weakref_new(v->heap, second, count_call, &told);
        check(((listener *)(void *)publisher)->owned[1] != NULL && ref != NULL);
        live(v, 3);
        vm_root(v, p[1], 0);
        for (given = 0; given < 3; given++) {       /* the first keeps it; and then C does, while it holds it */
            live(v, given);
            ob = rrc_weakref_get(v->heap, ref);
            check_ptr(ob, second);
            if (given == 2)
                vm_root(v, p[0], 0);
            live(v, 3);
            rrc_decref(v->heap, ob);
        }
        check_int(heard + told, 0);
        vm_root(v, p[2], !publisher_goes);
        live(v, 4);
        check_ptr(rrc_weakref_get(v->heap, ref), NULL);
        check_int(told, 1);
        check_int(heard, !publisher_goes);
        rrc_weakref_free(v->heap, ref);
        if (!publisher_goes)
            vm_root(v, p[2], 0);
        live(v, 4);
        check_int(rrc_get_stats(v->heap, &stats), RRC_OK);
        check_int(stats.objects, 0);
        v->closed = v->ending = 1;
        check_int(rrc_heap_free(v->heap), 0);
        v->ending = 0;
        vm_close(v);
    }
}

/* ---- cycles ---- */

/* A widget owns a callback, a closure that mentions the widget. */
static int widget(m_world *w, int *proxy, int *closure)
{
    int widget = linked(w, M_GC, 0, proxy), callback;

    m_root(w, *proxy, 1);
    callback = m_new_ob(w, M_BARE);
    *closure = m_new_p(w);
    m_root(w, *closure, 1);
    check_int(m_link(w, *closure, callback, 1), RRC_OK);
    m_point(w, *closure, 0, *proxy);
    m_root(w, *closure, 0);
    hand_over(w, widget, 0, callback);
    return widget;
}

static void a_widget_and_its_closure(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure;

    widget(w, &proxy, &closure);
    live_on(w, 3);
    check(w->p[closure].at != NULL);
    m_root(w, proxy, 0);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

/* An object that only its p holds, by a P link. */
static int given_ob(m_world *w, int kind, int *p)
{
    int ob = m_new_ob(w, kind);

    *p = m_new_p(w);
    check_int(m_link(w, *p, ob, 1), RRC_OK);
    m_drop(w, ob);
    return ob;
}

static void at_once_by_collect(void)
{
    vm_options options = { 0, 0, 0, 0, 0 };
    int after_a_step, proxy, closure;

    for (after_a_step = 0; after_a_step < 2; after_a_step++) {
        m_world *w = m_open(&options, 1);

        widget(w, &proxy, &closure);
        if (after_a_step)
            check_int(m_step(w), RRC_OK);
        check_int(m_collect(w), 0);
        m_root(w, proxy, 0);
        check_int(m_collect(w), 1);
        check_ptr(w->ob[0].ob, NULL);
        check_ptr(w->p[closure].at, NULL);
        check_int(m_collect(w), 0);
        check_all_gone(w);
        m_close(w);
    }
}

/* The owner goes by its count, when the step has ended. Only then is what it owned garbage, in a cycle of C or as a
   foreign object has dropped it: the same collection frees that. */
static void a_collection_frees_what_the_dead_owned(void)
{
    static const vm_options hosts[] = { { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 1 } };
    int host, final, after_a_step;

    for (host = 0; host < 2; host++)
        for (final = 0; final < 4; final++)
            for (after_a_step = 0; after_a_step < 2; after_a_step++) {
                m_world *w = m_open(&hosts[host], 1);
                int kind = M_GC | (host > 0 ? M_WRAPPER : 0), p, q;
                int owner = given_ob(w, kind | (final % 2 != 0 ? M_FINAL : 0), &p);
                int owned = given_ob(w, kind | (final / 2 != 0 ? M_FINAL : 0), &q);

                unit_context("host %d, finalizers %d, %d: ", host, final, after_a_step);
                if (host > 0) {
                    m_f_refer(w, owner, 0, owned);
                } else {
                    m_refer(w, owner, 0, owned);
                    m_refer(w, owned, 0, owned);
                }
                if (after_a_step)
                    check_int(m_step(w), RRC_OK);
                check_int((int)m_collect(w), 2);
                check_ptr(w->ob[owner].ob, NULL);
                check_ptr(w->ob[owned].ob, NULL);
                check_int((int)m_garbage(w), 0);
                m_compare(w);
                m_close(w);
            }
}

static void through_pure_c_objects(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), x = m_new_ob(w, M_GC), y = m_new_ob(w, M_GC);

    m_refer(w, a, 1, x);
    hand_over(w, x, 0, y);
    m_refer(w, y, 0, w->ob[a].ref[0]);
    m_refer(w, a, 0, NOBODY);
    m_drop(w, x);
    live_on(w, 2);
    check(at(w, y) != NULL && w->p[closure].at != NULL);
    check_int(closed_stats_of(w).edge_nodes, 3);
    m_root(w, proxy, 0);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

static void two_proxies_in_a_c_cycle(void)
{
    m_world *w = m_open(NULL, 1);
    int p, q, a = linked(w, M_GC, 0, &p), b;

    m_root(w, p, 1);
    b = linked(w, M_GC, 0, &q);
    m_refer(w, a, 0, b);
    m_refer(w, b, 0, a);
    live_on(w, 2);
    check(at(w, b) != NULL);
    m_root(w, p, 0);
    live_on(w, 3);
    check_all_gone(w);
    m_close(w);
}

static void a_c_cycle_never_exported(void)
{
    m_world *w = m_open(NULL, 1);
    int a = m_new_ob(w, M_GC), b = m_new_ob(w, M_GC | M_FINAL);

    m_refer(w, a, 0, b);
    hand_over(w, b, 0, a);
    m_drop(w, b);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

static void finalizers_run_once(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), x = m_new_ob(w, M_GC | M_FINAL);

    hand_over(w, a, 1, x);
    m_refer(w, x, 0, a);
    m_root(w, proxy, 0);
    live_on(w, 3);
    check_int(w->ob[x].finalized, 1);
    check_all_gone(w);
    m_close(w);
}

/* ---- what must not be lost ---- */

static void a_reference_is_taken_after_the_step(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), callback = w->ob[a].ref[0];

    live_on(w, 1);
    check(RRC_REFCNT(at(w, callback)) < 0);
    m_hold(w, callback);
    check(RRC_REFCNT(at(w, callback)) > 0);
    m_root(w, proxy, 0);
    vm_collect(w->v);
    vm_collect(w->v);
    m_compare(w);
    check(w->p[closure].at != NULL && w->p[proxy].at != NULL);
    m_drop(w, callback);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

static void what_a_held_pure_c_object_owns(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), x = m_new_ob(w, M_GC), callback = w->ob[a].ref[0];

    m_refer(w, x, 0, callback);
    m_refer(w, a, 0, NOBODY);
    hand_over(w, a, 1, x);
    live_on(w, 1);
    m_hold(w, x);
    m_point(w, closure, 0, NOBODY);
    m_root(w, proxy, 0);
    live_on(w, 2);
    check_ptr(at(w, a), NULL);
    check(w->p[closure].at != NULL);
    m_drop(w, x);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

/* From one object's field to another's; then the first object goes. */
static void move(m_world *w, int *closure, int *other)
{
    int proxy, a = widget(w, &proxy, closure), p;

    m_point(w, *closure, 0, NOBODY);
    *other = linked(w, M_GC, 0, &p);
    m_root(w, p, 1);
    live_on(w, 1);
    m_move(w, a, 0, *other, 1);
    m_root(w, proxy, 0);
}

static void a_move_with_touch(void)
{
    m_world *w = m_open(NULL, 1);
    int closure, b;

    move(w, &closure, &b);
    vm_collect(w->v);
    m_run(w, 0);
    m_compare(w);
    check(w->p[closure].at != NULL);
    live_on(w, 2);
    check(w->p[closure].at != NULL);
    m_close(w);
}

static void a_move_without_touch_is_found(void)
{
    m_world *w = m_open(NULL, 1);
    int closure, b;

    w->careless = M_NO_TOUCHES;
    move(w, &closure, &b);
#ifdef RRC_DEBUG
    check_int(rrc_check(w->v->heap), RRC_ETOUCH);
    w->v->logged[RRC_ETOUCH] = 0;
    check_int(m_step(w), RRC_ETOUCH);
    check_int(w->v->last_code, RRC_ETOUCH);
    check(strstr(w->v->last_text, "Bare") != NULL && strstr(w->v->last_text, "into Gc") != NULL);
    check_int(w->v->logged[RRC_ETOUCH], 1);
    m_compare(w);
    live_on(w, 2);                      /* strong again, and mirrored: nothing was lost */
    check(w->p[closure].at != NULL);
#else
    w->soft = 1;
    vm_collect(w->v);
    check_ptr(w->p[closure].at, NULL);
    check_int(w->lost, 1);
    w->soft = 0;
    w->ob[w->ob[b].ref[1]].p = NOBODY;
    rrc_closed_step(w->v->heap);
#endif
    m_close(w);
}

static void a_raw_increment_is_found(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), callback = w->ob[a].ref[0];

    live_on(w, 1);
    RRC_REFCNT(at(w, callback))++;
    check_int(rrc_check(w->v->heap), RRC_ETOUCH);
    check(strstr(w->v->last_text, "rrc_incref") != NULL);
    RRC_REFCNT(at(w, callback))--;
    check_int(rrc_check(w->v->heap), RRC_OK);
    m_close(w);
}

static void an_untracked_owner_keeps_what_it_owns(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure);

    live_on(w, 1);
    m_track(w, a, 0);
    check_int(closed_stats_of(w).edge_nodes, 0);
    vm_collect(w->v);
    m_compare(w);
    m_root(w, proxy, 0);
    live_on(w, 2);                      /* a leak, as nobody can see into it */
    check(w->p[proxy].at != NULL);
    m_track(w, a, 1);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

/* ---- proxies come and go ---- */

static void a_new_proxy_keeps_the_edges(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), p;

    m_point(w, closure, 0, NOBODY);
    m_hold(w, a);
    live_on(w, 1);
    m_root(w, proxy, 0);
    live_on(w, 1);
    check_ptr(w->p[proxy].at, NULL);
    check_int(w->ob[a].p, NOBODY);
    check(w->p[closure].at != NULL);
    p = m_new_p(w);
    m_root(w, p, 1);
    check_int(m_link(w, p, a, 0), RRC_OK);
    check_int(closed_stats_of(w).mirrored, 1);
    m_drop(w, a);
    vm_collect(w->v);                   /* before any step */
    m_compare(w);
    check(w->p[closure].at != NULL);
    m_root(w, p, 0);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

static int superseded;

static void take_the_widget(m_world *w)
{
    int p;

    if (w->ob[0].ob == NULL || superseded++)
        return;
    m_hold(w, 0);
    p = m_new_p(w);
    m_root(w, p, 1);
    check_int(m_link(w, p, 0, 0), RRC_OK);
    m_drop(w, 0);
}

/* A finalizer of the host, of the same garbage, gets hold of the widget, whose proxy's
   own finalizer has not run. Its callback is whole if the host can still find it. */
static void a_finalizer_takes_the_widget(void)
{
    vm_options options = { 0, 1, 1, 0, 0 };
    m_world *w = m_open(&options, 1);
    int proxy, closure, other;

    superseded = 0;
    widget(w, &proxy, &closure);
    other = m_new_p(w);
    w->p[other].at->has_finalizer = 1;
    m_point(w, other, 0, proxy);
    m_point(w, closure, 0, NOBODY);
    check_int(m_step(w), RRC_OK);
    w->in_finalizer = take_the_widget;
    m_root(w, proxy, 0);
    vm_collect(w->v);
    check_int(superseded > 0, 1);
    m_run(w, 0);
    check(at(w, 0) != NULL);
    check(w->ob[0].p != NOBODY && w->p[w->ob[0].p].at != NULL);
    vm_collect(w->v);
    check(vm_object_of(w->v, at(w, 0)) == w->p[w->ob[0].p].at);
    w->in_finalizer = NULL;
    m_close(w);
}

/* A finalizer that the host runs in a step takes one reference more to what tracked objects own,
   and lets go of their proxy. */
static int taken;

static void take_the_callback(m_world *w)
{
    if (taken++ > 0)
        return;
    m_hold(w, w->ob[0].ref[0]);
    m_root(w, w->ob[0].p, 0);
}

static void a_finalizer_takes_a_callback(void)
{
    vm_options options = { 2, 0, 0, 1, 0 };
    m_world *w = m_open(&options, 1);
    int proxy, closure, dying, a, callback;

    w->v->frozen = 1;
    a = widget(w, &proxy, &closure);
    callback = w->ob[a].ref[0];
    m_refer(w, a, 1, callback);         /* two references, so that one more is just counted */
    dying = m_new_p(w);
    w->p[dying].at->has_finalizer = 1;
    m_point(w, closure, 0, NOBODY);
    w->v->frozen = 0;
    taken = 0;
    w->in_finalizer = take_the_callback;
    m_collect(w);
    m_collect(w);
    check(taken > 0);
    m_compare(w);
    check_ptr(at(w, a), NULL);
    check(w->p[closure].at != NULL);
    m_drop(w, callback);
    m_collect(w);
    check_all_gone(w);
    m_close(w);
}

/* ---- what fails ---- */

/* Fails the n-th call of a kind until that does not come to be: nothing is lost. */
static void each_failure(int of_mirror)
{
    size_t n, failed = 1;

    for (n = 1; failed > 0; n++) {
        m_world *w = m_open(NULL, n);
        int proxy, closure, a = widget(w, &proxy, &closure), x = m_new_ob(w, M_GC), code;

        hand_over(w, a, 1, x);
        m_refer(w, x, 0, a);
        m_refer(w, x, 1, w->ob[a].ref[0]);
        if (of_mirror)
            w->v->fail_mirror_at = n;
        else
            w->v->fail_alloc_at = n;
        code = m_step(w);
        failed = w->v->failed;
        check_int(code, failed > 0 ? RRC_ENOMEM : RRC_OK);
        w->v->fail_mirror_at = w->v->fail_alloc_at = 0;
        m_compare(w);
        if (failed > 0)
            check(RRC_REFCNT(at(w, w->ob[a].ref[0])) > 0);
        vm_collect(w->v);
        m_compare(w);
        check(w->p[closure].at != NULL);
        m_root(w, proxy, 0);
        live_on(w, 3);
        check_all_gone(w);
        m_close(w);
    }
    check(n > 2);
}

static void mirror_fails(void) { each_failure(1); }
static void memory_is_lacking(void) { each_failure(0); }

static int visits_twice(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(self);
    RRC_VISIT(self);
    return 0;
}

static void a_wrong_traverse_makes_all_strong(void)
{
    static const rrc_type wrong = { .tp_name = "Wrong", .tp_basicsize = 4 * sizeof(rrc_object),
                                    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = visits_twice };
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure);
    rrc_object *ob;

    live_on(w, 1);
    ob = rrc_gc_new(w->v->heap, &wrong);
    check_int(rrc_gc_track(w->v->heap, ob), RRC_OK);
    check_int(m_step(w), RRC_ETRAVERSE);
    check(strstr(w->v->last_text, "Wrong") != NULL);
    check(RRC_REFCNT(at(w, w->ob[a].ref[0])) > 0);
    rrc_decref(w->v->heap, ob);
    live_on(w, 1);
    check(RRC_REFCNT(at(w, w->ob[a].ref[0])) < 0);
    m_close(w);
}

static int codes_inside[2];

static void step_inside(m_world *w)
{
    codes_inside[0] = rrc_closed_step(w->v->heap);
    codes_inside[1] = (int)rrc_run_pending(w->v->heap, 0);
}

static void steps_do_not_nest(void)
{
    vm_options options = { 2, 0, 0, 0, 0 };
    m_world *w = m_open(&options, 1);
    int proxy, closure, dying;

    widget(w, &proxy, &closure);
    dying = m_new_p(w);
    w->p[dying].at->has_finalizer = 1;
    codes_inside[0] = codes_inside[1] = -1;
    w->in_finalizer = step_inside;
    check_int(m_step(w), RRC_OK);       /* makes an edge node, which collects first */
    check_int(codes_inside[0], RRC_EPHASE);
    check_int(codes_inside[1], 0);
    check_int(w->v->logged[RRC_EPHASE], 0);
    m_close(w);
}

static void mirrored_heaps_are_not_driven(void)
{
    m_world *w = m_open(NULL, 1);
    rrc_heap *heap = w->v->heap;

    check_int(rrc_major_collection_trace(heap), RRC_EPHASE);
    check(strstr(w->v->last_text, "rrc_closed.h") != NULL);
    check_int(rrc_minor_collection_trace(heap), RRC_EPHASE);
    m_close(w);
}

static rrc_gcref no_survivor(void *userdata, rrc_gcref p)
{
    (void)userdata, (void)p;
    return NULL;
}

static void no_trace(void *userdata, rrc_gcref p)
{
    (void)userdata, (void)p;
}

static int idle_pin(void *userdata, rrc_cell *c, int on) { (void)userdata, (void)c; return on; }

static void *idle_node(void *userdata, rrc_object *ob, size_t n)
{
    static short node;

    (void)userdata, (void)ob, (void)n;
    return &node;
}

static int idle_write(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    (void)userdata, (void)node, (void)targets, (void)n;
    return 0;
}

static void idle_join(void *userdata, rrc_cell *proxy, rrc_cell *node) { (void)userdata, (void)proxy, (void)node; }

/* The hooks of a host that does nothing, and in which nothing dies. */
static rrc_closed_desc idle_hooks(void)
{
    rrc_closed_desc closed;

    memset(&closed, 0, sizeof closed);
    closed.pin = idle_pin;
    closed.new_node = idle_node;
    closed.write_node = idle_write;
    closed.join = idle_join;
    return closed;
}

static char detail[100];

static void count_code(void *userdata, const rrc_log_item *item)
{
    *(int *)userdata = item->code;
    snprintf(detail, sizeof detail, "%s", item->detail);
}

static void lacks(const rrc_desc *desc, rrc_closed_desc closed, const char *hook)
{
    int *code = (int *)desc->userdata;

    *code = RRC_OK;
    check_ptr(rrc_closed_new(desc, &closed), NULL);
    check_int(*code, RRC_EDESC);
    check_str(detail, hook);
}

static void all_hooks_or_none(void)
{
    static const rrc_type bare = { .tp_name = "bare", .tp_basicsize = 64 };
    rrc_desc desc;
    rrc_closed_desc closed;
    rrc_heap *heap;
    rrc_object *ob;
    static short p;
    int code = RRC_OK;

    memset(&desc, 0, sizeof desc);
    desc.userdata = &code;
    desc.log = count_code;
    closed = idle_hooks(), closed.pin = NULL, lacks(&desc, closed, "pin is missing");
    closed = idle_hooks(), closed.new_node = NULL, lacks(&desc, closed, "new_node is missing");
    closed = idle_hooks(), closed.write_node = NULL, lacks(&desc, closed, "write_node is missing");
    closed = idle_hooks(), closed.join = NULL, lacks(&desc, closed, "join is missing");
    closed = idle_hooks();
    heap = rrc_closed_new(&desc, &closed);      /* without trace */
    check(heap != NULL);
    rrc_heap_free(heap);
    desc.survivor = no_survivor;
    desc.trace = no_trace;
    heap = rrc_heap_new(&desc);         /* an ordinary one */
    check(heap != NULL);
    code = RRC_OK;
    check_int(rrc_closed_step(heap), RRC_EPHASE);
    check_int(code, RRC_EPHASE);
    check_int(rrc_closed_is_due(heap), 0);
    ob = rrc_new(heap, &bare);
    check_int(rrc_create_link_pypy(heap, &p, ob), RRC_OK);
    RRC_REFCNT(ob) += RRC_REFCNT_FROM_PYPY;
    rrc_decref(heap, ob);               /* only p refers to it: nothing is weak here */
    check_int(RRC_REFCNT(ob), RRC_REFCNT_FROM_PYPY);
    rrc_heap_free(heap);
}

/* A library that does not know what kind of heap it is used in: its objects own one another. */
typedef struct member {
    rrc_object head;
    rrc_object *next;
} member;

typedef struct side {
    int       freed;
    rrc_heap *heap;
} side;

static void member_dealloc(rrc_heap *heap, rrc_object *self)
{
    ((side *)rrc_userdata(heap))->freed++;
    rrc_gc_untrack(heap, self);
    RRC_CLEAR(heap, ((member *)(void *)self)->next);
    rrc_gc_del(heap, self);
}

static rrc_object *ring_of_members(rrc_heap *heap, int n)
{
    static const rrc_member fields[] = { { "next", offsetof(member, next) }, { NULL, 0 } };
    static const rrc_type Member = { .tp_name = "Member", .tp_basicsize = sizeof(member), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                     .tp_members = fields, .tp_dealloc = member_dealloc };
    rrc_object *first = NULL, *ob = NULL;
    member *last = NULL;

    while (n-- > 0) {
        ob = (rrc_object *)rrc_gc_new(heap, &Member);
        check(ob != NULL);
        if (last == NULL)
            first = ob;
        else
            last->next = ob;
        last = (member *)(void *)ob;
        check_int(rrc_gc_track(heap, ob), RRC_OK);
    }
    last->next = first;
    rrc_incref(heap, first);            /* for the caller */
    return first;
}

static rrc_gcref all_survive(void *userdata, rrc_gcref p) { (void)userdata; return p; }

/* One compiled header, and one library, in an open heap and a closed one, turn by turn. */
static void open_and_closed_heaps_side_by_side(void)
{
    enum { RING = 5, ROUNDS = 4 };
    side open = { 0, NULL }, closed = { 0, NULL };
    rrc_desc desc;
    rrc_closed_desc hooks = idle_hooks();
    rrc_stats stats;
    rrc_closed_stats numbers;
    rrc_object *a, *b, *kept;
    size_t size;
    int i;

    memset(&desc, 0, sizeof desc);
    desc.userdata = &open;
    desc.trace = no_trace;
    desc.survivor = all_survive;
    open.heap = rrc_heap_new(&desc);
    desc.userdata = &closed;
    desc.trace = NULL;
    desc.survivor = NULL;
    closed.heap = rrc_closed_new(&desc, &hooks);
    check(open.heap != NULL && closed.heap != NULL);
    for (i = 1; i <= ROUNDS; i++) {
        a = ring_of_members(open.heap, RING);
        b = ring_of_members(closed.heap, RING);
        check_int(rrc_closed_step(closed.heap), RRC_OK);
        check_int(rrc_major_collection_trace(open.heap), RRC_OK);
        check_int(rrc_major_collection_free(open.heap), RRC_OK);
        rrc_run_pending(open.heap, 0);
        check_int(rrc_check(open.heap), RRC_OK);
        check_int(rrc_check(closed.heap), RRC_OK);
        check_int(open.freed + closed.freed, 2 * RING * (i - 1));
        rrc_decref(open.heap, a);
        rrc_decref(closed.heap, b);
        check_int(rrc_gc_collect(open.heap), RING);
        check_int(open.freed, RING * i);
        check_int(closed.freed, RING * (i - 1));
        check_int(rrc_gc_collect(closed.heap), RING);
        check_int(closed.freed, RING * i);
    }
    a = ring_of_members(open.heap, 1);
    kept = ring_of_members(closed.heap, 1);
    check_int(rrc_get_stats(open.heap, &stats), RRC_OK);
    size = stats.object_bytes;
    check_int(rrc_get_stats(closed.heap, &stats), RRC_OK);
    check(stats.object_bytes > size);   /* only there objects have the words of the layer */
    check_int(rrc_closed_get_stats(closed.heap, &numbers), RRC_OK);
    check(numbers.mirror_steps > ROUNDS);
    check_int(rrc_closed_get_stats(open.heap, &numbers), RRC_ETYPE);
    check_int(rrc_closed_count_weak(open.heap), 0);
    check_int(rrc_closed_get_stats(closed.heap, NULL), RRC_ENULL);
    rrc_cell_bury_all(open.heap);       /* there are none */
    check_int(rrc_link(open.heap, &closed, a, RRC_O), RRC_OK);
    check_ptr(rrc_cell_of(open.heap, a), NULL);
    check_int(rrc_unlink(open.heap, a), RRC_OK);
    check_int(rrc_major_collection_trace(closed.heap), RRC_EPHASE);
    rrc_decref(open.heap, a);
    check_int(rrc_heap_free(open.heap), 0);
    check_int(open.freed, RING * ROUNDS + 1);
    rrc_incref(closed.heap, kept);      /* it outlives its heap, and the other one */
    check_int(rrc_heap_free(closed.heap), 0);
    check_int(closed.freed, RING * ROUNDS);
    RRC_CLEAR(closed.heap, ((member *)(void *)kept)->next);
    rrc_decref(closed.heap, kept);
    rrc_decref(closed.heap, kept);
    check_int(closed.freed, RING * ROUNDS + 1);
}

/* ---- cost ---- */

enum { MANY = 20000 };

/* Each object is mirrored once, and not again as long as it stays as it is. */
static void a_long_chain_is_mirrored_once(void)
{
    m_world *w = m_open(NULL, 1);
    int n = unit_is_quick() ? 2000 : MANY, first = m_new_ob(w, M_GC), last = first, i, p;
    rrc_closed_stats before, after;

    for (i = 1; i < n; i++) {
        int next = m_new_ob(w, M_GC);

        hand_over(w, last, 0, next);
        last = next;
    }
    m_refer(w, last, 0, linked(w, M_BARE, 1, &p));
    check_int(m_step(w), RRC_OK);
    before = closed_stats_of(w);
    check_int(before.mirrored, n);
    check_int(before.edge_nodes, n);
    check_int(rrc_closed_count_weak(w->v->heap), n);          /* all but the first, and the handle */
    check_int(rrc_closed_is_due(w->v->heap), 0);
    check_int(m_step(w), RRC_OK);
    after = closed_stats_of(w);
    check_int(after.mirrored, n);
    m_drop(w, first);
    check_int(rrc_check(w->v->heap), RRC_OK);
    vm_collect(w->v);
    m_run(w, 0);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

static void a_step_is_due_after_changes(void)
{
    m_world *w = m_open(NULL, 1);
    int i, p, cycles = 1;

    for (i = 0; i < 100; i++) {
        linked(w, M_GC, 0, &p);
        m_root(w, p, 1);
    }
    check_int(rrc_closed_is_due(w->v->heap), 1);
    check_int(m_step(w), RRC_OK);
    for (i = 0; i < 100; i++)
        check_int(rrc_closed_is_due(w->v->heap), 0);
    linked(w, M_GC, 0, &p);
    while (!rrc_closed_cycle(w->v->heap))
        cycles++;
    check_int(cycles, 8);
    check_int(rrc_closed_is_due(w->v->heap), 1);
    m_close(w);
}

static int cycles_until_due(m_world *w)
{
    int cycles = 1;

    while (!rrc_closed_cycle(w->v->heap) && cycles < 10000)
        cycles++;
    return cycles;
}

/* A value that C has let go, but not the host: nothing tells when it dies. A step looks
   now and then, ever more seldom as long as it lives. */
static void is_due_for(int kind)
{
    m_world *w = m_open(NULL, 1);
    int p, cycles;

    linked(w, kind, 1, &p);
    m_root(w, p, 1);
    check_int(m_step(w), RRC_OK);
    for (cycles = 8; cycles < 100; cycles *= 2) {
        check_int(cycles_until_due(w), cycles < 64 ? cycles : 64);
        vm_collect(w->v);
        check_int(m_step(w), RRC_OK);
        check_int(stats_of(w).objects, 1);
    }
    m_root(w, p, 0);
    vm_collect(w->v);
    check_int(cycles_until_due(w), 64);
    check_int(m_step(w), RRC_OK);
    m_run(w, 0);
    check_all_gone(w);
    m_close(w);
}

static void a_step_is_due_for_what_only_the_host_holds(void)
{
    int kind;

    for (kind = M_BARE; kind <= M_GC; kind++)
        is_due_for(kind);
}

/* The owner's edges look the same: it is the child's p that is another one. */
static void a_child_is_linked_anew(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, first, second, owner = linked(w, M_GC, 0, &proxy), child = m_new_ob(w, M_BARE);

    first = m_new_p(w);
    m_root(w, first, 1);
    check_int(m_link(w, first, child, 1), RRC_OK);
    m_root(w, proxy, 1);
    m_root(w, first, 0);
    hand_over(w, owner, 0, child);
    live_on(w, 2);
    check(w->p[first].at != NULL);
    m_unlink(w, child);
    second = m_new_p(w);
    m_root(w, second, 1);
    check_int(m_link(w, second, child, 1), RRC_OK);
    m_root(w, second, 0);
    live_on(w, 2);
    check(w->p[second].at != NULL);
    m_root(w, proxy, 0);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

static rrc_cell *node_of(m_world *w, int ob) { return rrc_cell_of_node(w->v->heap, at(w, ob)); }

/* An edge node in which the host keeps things of its own. */
static void a_node_of_the_hosts(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure);
    rrc_cell *node;

    live_on(w, 1);
    node = node_of(w, a);
    check(node != NULL);
    check_ptr(rrc_cell_keep_node(w->v->heap, at(w, a), NULL), node);
    m_refer(w, a, 0, NOBODY);
    live_on(w, 2);
    check_ptr(node_of(w, a), node);
    check_ptr(w->p[closure].at, NULL);
    m_root(w, proxy, 0);
    live_on(w, 2);
    check_all_gone(w);
    m_close(w);
}

/* ---- what C gets hold of after the host has found it dead ---- */

static void hold_self(m_world *w, int ob, int dies)
{
    if (!dies)
        m_hold(w, ob);
}

/* An object with a finalizer that owns the view of a host object, which is rooted. */
static int owner_of_a_view(m_world *w, int is_p, int *p, int *q)
{
    int owner = linked(w, M_GC | M_FINAL, is_p, p), view;

    m_root(w, *p, 1);
    view = m_new_ob(w, M_BARE);
    *q = m_new_p(w);
    m_root(w, *q, 1);
    check_int(m_link(w, *q, view, 1), RRC_OK);
    hand_over(w, owner, 0, view);
    w->in_slot = hold_self;
    return owner;
}

/* Nothing but C holds a from now on. */
static void view_lives_with(m_world *w, int a, int q)
{
    m_root(w, q, 0);                    /* (m_compare calls rrc_to_obj, which can root q) */
    vm_collect(w->v);
    m_compare(w);
    check(w->p[q].at != NULL);
    live_on(w, 2);
    check(w->p[q].at != NULL);
    w->in_slot = NULL;
    m_drop(w, a);
    live_on(w, 3);
    check_all_gone(w);
    m_close(w);
}

/* Its p and its edge node die in one collection. After some slices of a step its finalizer brings it back. q is
   unrooted then, or when the step has ended. */
static void brought_back_between_slices(void)
{
    int slices, later, is_open = 1;

    for (slices = 1; is_open; slices++)
        for (later = 0; later < 2; later++) {
            m_world *w = m_open(NULL, 1);
            int p, q, a = owner_of_a_view(w, 1, &p, &q), i;

            live_on(w, 2);
            check(RRC_REFCNT(at(w, a)) < 0);
            m_root(w, p, 0);
            vm_collect(w->v);
            check_ptr(w->p[p].at, NULL);
            for (i = 0; i < slices && is_open; i++)
                is_open = !m_work(w, 1);
            while (w->ob[a].held == 0 && !m_work(w, 1))
                m_run(w, 0);
            m_run(w, 0);
            check_int(w->ob[a].held, 1);
            while (later && !m_work(w, 1))
                m_compare(w);
            view_lives_with(w, a, q);
        }
    check(slices > 5);
}

/* A cycle of C alone is garbage, and is found in a step. After any number of units C gets hold of one of its objects: both
   live on. */
static void garbage_of_c_is_taken_between_slices(void)
{
    int units, kind, is_open = 1;

    for (kind = M_GC; kind <= (M_GC | M_FINAL); kind += M_FINAL)
        for (units = 1, is_open = 1; is_open; units++) {
            m_world *w = m_open(NULL, 1);
            int a = m_new_ob(w, kind), b = m_new_ob(w, M_GC), i;

            unit_context("kind %d, after %d units", kind, units);
            m_track(w, a, 1);
            m_track(w, b, 1);
            m_refer(w, a, 0, b);
            m_refer(w, b, 0, a);
            m_drop(w, a);
            m_drop(w, b);
            for (i = 0; i < units && is_open; i++)
                is_open = !m_work(w, 1);
            m_hold(w, b);
            m_compare(w);
            while (is_open && !m_work(w, 1))
                m_compare(w);
            m_run(w, 0);
            check(w->ob[a].ob != NULL && w->ob[b].ob != NULL);
            m_drop(w, b);
            for (i = 0; i < 3; i++) {
                check_int(m_step(w), RRC_OK);
                m_run(w, 0);
            }
            check_ptr(w->ob[a].ob, NULL);
            check_ptr(w->ob[b].ob, NULL);
            m_close(w);
            if (!is_open)
                break;
        }
    check(units > 5);
}

/* The host reports that c is dead, and its finalizer brings it back, with a. The p of a is dead, too, but only the next
   step finds that. */
static void brought_back_by_its_owner(void)
{
    m_world *w = m_open(NULL, 1);
    int p, q, r, a = owner_of_a_view(w, 1, &p, &q), c = linked(w, M_GC | M_FINAL, 1, &r);

    m_root(w, r, 1);
    m_refer(w, c, 0, a);
    m_root(w, p, 0);
    live_on(w, 2);
    check(w->p[p].at != NULL);
    m_root(w, r, 0);
    vm_collect(w->v);
    check_ptr(w->p[p].at, NULL);
    m_unlink(w, c);
    m_run(w, 0);
    check_int(w->ob[c].held, 1);
    check_int(w->ob[a].held, 0);
    view_lives_with(w, c, q);
}

static void a_heap_ends_with_everything_alive(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure), x = m_new_ob(w, M_GC | M_FINAL);

    m_refer(w, a, 1, x);
    m_refer(w, x, 0, a);
    m_refer(w, x, 1, w->ob[a].ref[0]);
    live_on(w, 1);
    check(rrc_closed_count_weak(w->v->heap) > 0);
    m_close(w);
}

/* ---- what is seen of both heaps ---- */

typedef struct seen {
    char text[8000];
    size_t size;
} seen;

/* The length of the address that the text begins with, as %p prints it here, or 0. */
static size_t address_at(const char *text)
{
    size_t n = strspn(text, "0123456789abcdefABCDEF");

    if (strncmp(text, "0x", 2) == 0)
        return 2 + strspn(text + 2, "0123456789abcdef");
    return n == 2 * sizeof(void *) ? n : 0;
}

/* Keep the text, without addresses and the letters in front of them. */
static void see(void *arg, const char *text, size_t size)
{
    seen *s = (seen *)arg;

    check(s->size + size < sizeof s->text);
    while (*text != '\0') {
        size_t length = strchr(" pn", *text) != NULL ? address_at(text + 1) : 0;

        if (length > 0)
            text += 1 + length;
        else
            s->text[s->size++] = *text++;
    }
    s->text[s->size] = '\0';
}

static const char *explained(m_world *w, int ob)
{
    static seen s;
    rrc_insight insight = vm_insight(w->v);

    s.size = 0;
    check_int(rrc_explain(w->v->heap, &insight, at(w, ob), see, &s), RRC_OK);
    return s.text;
}

/* The number of times that words are in a picture (or else in a snapshot). */
static int seen_in(m_world *w, int is_picture, const char *words)
{
    seen s = { "", 0 };
    const char *from = s.text;
    rrc_insight insight = vm_insight(w->v);
    int n = 0;

    check_int(is_picture ? rrc_dump_dot(w->v->heap, &insight, see, &s)
                         : rrc_dump_heapsnapshot(w->v->heap, &insight, see, &s), RRC_OK);
    for (; (from = strstr(from, words)) != NULL; from++)
        n++;
    return n;
}

#define PATH_TO_CALLBACK \
    "  held by Gc[0] of Gc,\n" \
    "  held by object[2] of object 0,\n" \
    "  which root 0 of the host keeps alive\n"

static void both_heaps_are_seen(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, table = m_new_p(w), a = widget(w, &proxy, &closure), callback = w->ob[a].ref[0], round;

    m_root(w, table, 1);
    m_point(w, table, 2, proxy);
    m_root(w, proxy, 0);
    /* Before the first step, and when objects are weak and have edge nodes, which are not shown. */
    for (round = 0; round < 2; round++) {
        check_str(explained(w, callback), round == 0
                  ? "Bare (1 reference, P link to p, not tracked):\n" PATH_TO_CALLBACK
                  : "Bare (1 reference, P link to p, not tracked, weak):\n" PATH_TO_CALLBACK);
        check_int(seen_in(w, 1, "shape=ellipse"), 3);
        check_int(seen_in(w, 1, "cccccc"), 0);
        check_int(seen_in(w, 0, "\"node_count\":9,\"edge_count\":10,"), 1);
        live_on(w, 1);
    }
    m_close(w);
}

/* Nothing says that a p has died before the next step does: it is shown as dead. */
static void a_p_that_died_is_seen(void)
{
    m_world *w = m_open(NULL, 1);
    int p, ob = linked(w, M_BARE, 1, &p);

    vm_collect(w->v);
    check_str(explained(w, ob), "Bare (0 references, P link to p, not tracked, weak):\n"
              "  its host object p keeps it alive until the next collection: no root reaches it\n");
    check_int(seen_in(w, 1, "dead"), 1);
    check_int(seen_in(w, 0, "dead"), 1);
    live_on(w, 1);
    check_all_gone(w);
    m_close(w);
}

/* ---- the end of a heap: what goes then is whole (whole.h) ---- */

typedef struct view {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    vm_object *object, *captured;
} view;

#define VIEW(ob) ((view *)(void *)(ob))
#define VM_OF(w) ((vm *)(w)->host)

static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(view) };

static rrc_object *new_view(whole_host *w, vm_object *captured)
{
    rrc_object *ob = rrc_new(w->heap, &View);

    VIEW(ob)->object = vm_new(VM_OF(w), 0);
    VIEW(ob)->captured = captured;
    if (captured != NULL)
        vm_point(VM_OF(w), VIEW(ob)->object, 0, captured);
    check_int(vm_link(VM_OF(w), VIEW(ob)->object, ob, RRC_P), RRC_OK);
    return ob;
}

static rrc_object *new_string(whole_host *w) { return new_view(w, NULL); }

static rrc_object *new_closure(whole_host *w, rrc_object *captured)
{
    return new_view(w, captured != NULL ? vm_object_of(VM_OF(w), captured) : NULL);
}

static void new_proxy(whole_host *w, rrc_object *ob, int is_rooted)
{
    vm_object *o = vm_new(VM_OF(w), 0);

    vm_root(VM_OF(w), o, is_rooted);
    check_int(vm_link(VM_OF(w), o, ob, RRC_TYPE(ob)->tp_outside != NULL ? RRC_P : RRC_O), RRC_OK);
    rrc_decref(w->heap, ob);
}

static int is_there(vm *v, const vm_object *o)
{
    size_t i;

    for (i = 0; i < v->objects.count; i++)
        if (v->objects.at[i] == o)
            return 1;
    return 0;
}

static int read_view(whole_host *w, rrc_object *ob)
{
    check(rrc_to_obj(w->heap, ob) == NULL || is_there(VM_OF(w), VIEW(ob)->object));     /* no p that has died */
    return rrc_to_obj(w->heap, ob) != NULL && is_there(VM_OF(w), VIEW(ob)->object)
        && vm_object_of(VM_OF(w), ob) == VIEW(ob)->object;
}

static int call_view(whole_host *w, rrc_object *ob)
{
    return read_view(w, ob) && (VIEW(ob)->captured == NULL || is_there(VM_OF(w), VIEW(ob)->captured));
}

static vm *open_whole(whole_host *w, const vm_options *options)
{
    vm *v = vm_open(options, 1);

    memset(w, 0, sizeof *w);
    w->heap = v->heap;
    w->host = v;
    w->string = new_string;
    w->closure = new_closure;
    w->proxy = new_proxy;
    w->read = read_view;
    w->call = call_view;
    whole_now = w;
    return v;
}

static void end_whole(vm *v)
{
    v->closed = v->ending = 1;
    check_int(rrc_heap_free(v->heap), 0);
    v->ending = 0;
}

static void what_goes_at_the_end_is_whole(void)
{
    int shape, finalizes, steps;

    for (shape = 0; shape < WHOLE_SHAPES * 2 + WHOLE_PATHS; shape++)
        for (finalizes = 0; finalizes < 2; finalizes++)
            for (steps = 0; steps < 3; steps++) {
                int is_path = shape >= WHOLE_SHAPES * 2, path = (shape - WHOLE_SHAPES * 2) & ~1;
                int is_rooted = is_path || shape < WHOLE_SHAPES;
                whole_host w;
                vm *v = open_whole(&w, NULL);
                int n, i;

                unit_context("shape %d, finalizers %d, steps %d", shape, finalizes, steps);
                if (is_path)            /* (which of the C objects goes first, a closed host does not say) */
                    n = whole_make_path(&w, path | (path & WHOLE_PLAIN ? 0 : finalizes), 1);
                else
                    n = whole_make(&w, shape % WHOLE_SHAPES, finalizes, is_rooted);
                for (i = 0; i < steps; i++) {
                    check_int(rrc_closed_step(v->heap), RRC_OK);
                    vm_collect(v);
                }
                end_whole(v);
                check(w.dead == 0 || !is_rooted);       /* the host has found garbage dead before */
                check_int(w.deallocated, n);
                check(w.looked >= 2 * (is_path ? WHOLE_DEPTH - 1 : n));
                vm_close(v);
            }
}

/* ... in the order of owners through the host, if that drops its roots first. */
static void what_goes_is_whole_through_the_host(void)
{
    int path, kind, drops, steps, missed = 0;

    for (path = 0; path < WHOLE_PATHS; path++)
        for (kind = 0; kind < 8; kind++)
            for (drops = 0; drops < 2; drops++)
                for (steps = 0; steps < 3; steps++) {
                    vm_options options = { .late_finalizers = kind & 1, .keeps_resurrected = (kind & 2) != 0,
                                           .at_once = (kind & 4) != 0 };
                    whole_host w;
                    vm *v = open_whole(&w, &options);
                    size_t gone;
                    int n, i, is_ordered;

                    unit_context("path %d, host %d, drops %d, steps %d", path, kind, drops, steps);
                    n = whole_make_path(&w, path, 1);
                    for (i = 0; i < steps; i++) {
                        check_int(rrc_closed_step(v->heap), RRC_OK);
                        vm_collect(v);
                    }
                    for (i = 0; drops && i < (int)v->objects.count; i++)
                        vm_root(v, (vm_object *)v->objects.at[i], 0);
                    gone = vm_collect_in_order(v);
                    is_ordered = drops;
                    if (path % 4 == WHOLE_FOREIGN)      /* (their p's are rooted, or part of a cycle) */
                        is_ordered &= options.at_once && (path & WHOLE_IN_PEERS) == 0;
                    check_int(gone > 0, is_ordered);
                    check_int(w.deallocated, is_ordered ? n : 0);
                    end_whole(v);
                    check_int(w.dead, 0);
                    check(!is_ordered || w.missed == 0);
                    missed += w.missed;
                    check_int(w.deallocated, n);
                    vm_close(v);
                }
    check(missed > 0);                  /* of those that have not dropped them */
}

#ifndef RRC_NO_STDIO
static char text[4000];

static void append(void *arg, const char *part, size_t size)
{
    (void)arg;
    if (strlen(text) + size < sizeof text)
        strncat(text, part, size);
}

static void words_about_weak_objects(void)
{
    m_world *w = m_open(NULL, 1);
    int proxy, closure, a = widget(w, &proxy, &closure);
    rrc_insight insight = vm_insight(w->v);

    live_on(w, 1);
    text[0] = '\0';
    check_int(rrc_explain(w->v->heap, &insight, at(w, w->ob[a].ref[0]), append, NULL), RRC_OK);
    check(strstr(text, "weak") != NULL);
    text[0] = '\0';
    m_hold(w, w->ob[a].ref[0]);
    check_int(rrc_explain(w->v->heap, &insight, at(w, w->ob[a].ref[0]), append, NULL), RRC_OK);
    check_ptr(strstr(text, "weak"), NULL);
    text[0] = '\0';
    check_int(rrc_dump_dot(w->v->heap, &insight, append, NULL), RRC_OK);
    check(strstr(text, "\\nweak") != NULL);
    m_close(w);
}
#endif

/* C takes a reference to an object at any moment of a step in slices. Two others are garbage, and go in that step. */
static void what_is_found_early_counts_once(void)
{
    size_t units;

    for (units = 1; units < 30; units++) {
        m_world *w = m_open(NULL, 1);
        int held = m_new_ob(w, M_GC), a = m_new_ob(w, M_GC), b = m_new_ob(w, M_GC);

        unit_context("after %d units", (int)units);
        m_refer(w, a, 0, b);
        m_refer(w, b, 0, a);
        m_drop(w, a);
        m_drop(w, b);
        if (!m_work(w, units))
            m_hold(w, held);
        while (!m_work(w, 1000))
            ;
        m_run(w, 0);
        check_ptr(w->ob[a].ob, NULL);
        check_ptr(w->ob[b].ob, NULL);
        check(w->ob[held].ob != NULL);
        m_close(w);
    }
}

static int slices_of_a_step(int objects)
{
    m_world *w = m_open(NULL, 1);
    int slices = 0, i;
    size_t done;

    for (i = 0; i < objects; i++)
        m_new_ob(w, M_GC);
    while ((done = rrc_closed_work(w->v->heap, 1)) > 0) {
        check(done < 100);
        slices++;
    }
    m_close(w);
    return slices;
}

/* Four stages pass all tracked objects: each of these is a unit. */
static void each_pass_takes_units(void)
{
    check_int(slices_of_a_step(300) - slices_of_a_step(100), 200 * 4);
}

/* ---- wrappers: see >>outside ---- */

static void a_wrapper_stays_rooted(void)
{
    m_world *w = m_open(NULL, 1);
    int p, q, a = given_ob(w, M_GC | M_WRAPPER, &p), b = given_ob(w, M_WRAPPER, &q);

    check_int(m_step(w), RRC_OK);
    vm_collect(w->v);
    m_f_take(w, a);
    vm_collect(w->v);
    check(w->p[p].at != NULL && w->p[q].at != NULL);
    m_f_drop(w, a);
    m_unlink(w, a);
    m_unlink(w, b);
    m_run(w, 0);
    check_ptr(w->ob[a].ob, NULL);
    m_close(w);
}

/* The host may need a p to learn of the death of its edge node. */
static void a_wrapper_that_lost_its_link_is_mirrored_anew(void)
{
    m_world *w = m_open(NULL, 1);
    int p, q, r, n = given_ob(w, M_GC, &p), a = given_ob(w, M_GC | M_WRAPPER, &q), b = given_ob(w, M_GC, &r);

    m_root(w, p, 1);
    m_refer(w, n, 0, a);
    m_refer(w, a, 0, b);
    check_int(m_step(w), RRC_OK);
    check_int(m_step(w), RRC_OK);
    check_int(closed_stats_of(w).mirrored, 2);
    m_unlink(w, a);
    check_int(m_step(w), RRC_OK);
    check_int(closed_stats_of(w).mirrored, 4);         /* n, too: what stands for a has changed */
    check_int(m_step(w), RRC_OK);
    check_int(closed_stats_of(w).mirrored, 4);
    m_close(w);
}

static m_world *collecting_at_once(void)
{
    vm_options options = { 0, 0, 0, 0, 1 };

    return m_open(&options, 1);
}

static void a_collection_at_once_frees_foreign_cycles(void)
{
    m_world *w = collecting_at_once();
    int p, q, s = given_ob(w, M_GC | M_WRAPPER, &p), a = given_ob(w, M_GC | M_WRAPPER, &q), i;

    m_f_refer(w, s, 0, a);
    m_f_refer(w, a, 0, s);
    for (i = 0; i < 3; i++) {
        check_int(m_step(w), RRC_OK);
        vm_collect(w->v);
    }
    check(w->p[p].at != NULL && w->p[q].at != NULL);
    m_f_take(w, a);
    m_collect(w);
    check(w->p[p].at != NULL && w->p[q].at != NULL);
    m_f_drop(w, a);
    m_collect(w);
    m_expect_no_garbage(w);
    check_ptr(w->ob[s].ob, NULL);
    check_int(w->ob[s].f_count + w->ob[a].f_count, 0);
    m_close(w);
}

typedef struct at_once {
    int owner, wrapper, p;
    int is_held;                /* by C; else the owner holds it */
} at_once;

/* Foreign code takes the wrapper by a weak reference, and tells nobody. Then nothing else holds it. */
static void take_the_wrapper(m_world *w)
{
    const at_once *scene = (const at_once *)w->user;

    w->in_finalizer = NULL;
    if (scene->is_held)
        m_drop(w, scene->wrapper);
    m_f_take(w, scene->wrapper);
    m_root(w, scene->p, 0);
    vm_collect(w->v);
    vm_collect(w->v);
}

/* What a collection at once has not found dead is rooted again, before a finalizer runs and after it. */
static void a_collection_at_once_roots_what_lives(void)
{
    int variant;

    for (variant = 0; variant < 4; variant++) {
        m_world *w = collecting_at_once();
        at_once scene;
        int p, q, garbage = given_ob(w, M_GC | M_WRAPPER, &p);

        unit_context("variant %d", variant);
        m_f_refer(w, garbage, 0, garbage);      /* so its finalizer runs in the collection at once */
        scene.is_held = variant / 2;
        scene.owner = m_new_ob(w, M_GC);
        scene.p = m_new_p(w);
        m_track(w, scene.owner, 1);
        m_root(w, scene.p, 1);
        check_int(m_link(w, scene.p, scene.owner, 0), RRC_OK);
        m_drop(w, scene.owner);
        scene.wrapper = given_ob(w, M_GC | M_WRAPPER, &q);
        if (scene.is_held)
            m_hold(w, scene.wrapper);
        else
            m_refer(w, scene.owner, 0, scene.wrapper);
        w->user = &scene;
        if (variant % 2 == 0)
            w->in_finalizer = take_the_wrapper;
        m_collect(w);
        check_ptr(w->ob[garbage].ob, NULL);
        if (variant % 2 != 0) {
            check_int((int)m_collect(w), 0);    /* (a further step would root it, too) */
            take_the_wrapper(w);
        }
        check(w->in_finalizer == NULL && w->p[q].at != NULL && w->ob[scene.wrapper].ob != NULL);
        check_ptr(w->p[scene.p].at, NULL);
        m_compare(w);
        m_f_drop(w, scene.wrapper);
        m_collect(w);
        m_collect(w);
        m_expect_no_garbage(w);
        m_close(w);
    }
}

/* C knows of garbage without a reference to it. Between any two slices it gets a link to a p that lives. */
static void a_suspect_is_linked_between_slices(void)
{
    int slices, is_p, i;

    for (is_p = 0; is_p < 2; is_p++)
        for (slices = 0; slices < 16; slices++) {
            m_world *w = m_open(NULL, 1);
            int ob = m_new_ob(w, M_GC), p;

            unit_context("%d slices", slices);
            m_track(w, ob, 1);
            m_refer(w, ob, 0, ob);
            m_drop(w, ob);
            for (i = 0; i < slices && rrc_closed_work(w->v->heap, 1) > 0; i++)
                ;
            if (rrc_run_pending(w->v->heap, 0) == 0 && w->ob[ob].ob != NULL) {
                p = m_new_p(w);
                m_root(w, p, 1);
                check_int(m_link(w, p, ob, is_p), RRC_OK);
                while (rrc_closed_work(w->v->heap, 1) > 0)
                    ;
                m_collect(w);
                check(w->ob[ob].ob != NULL);
                m_compare(w);
                m_root(w, p, 0);
            }
            for (i = 0; i < 3; i++)
                m_collect(w);
            m_expect_no_garbage(w);
            m_close(w);
        }
}

/* A foreign cycle of two, of which a dead object owns one: that goes by its count, and drops it. */
static void a_count_does_not_free_what_others_hold(void)
{
    m_world *w = collecting_at_once();
    int p, q, r, a = given_ob(w, M_GC | M_WRAPPER, &p), s = given_ob(w, M_GC | M_WRAPPER, &q);
    int n = given_ob(w, M_GC | M_WRAPPER, &r);

    m_root(w, p, 1), m_root(w, q, 1), m_root(w, r, 1);
    m_f_refer(w, s, 0, a);
    m_f_refer(w, a, 0, s);
    m_refer(w, n, 0, a);
    m_root(w, p, 0), m_root(w, q, 0), m_root(w, r, 0);
    check_int(m_step(w), RRC_OK);
    vm_collect(w->v);
    check(w->ob[a].ob != NULL && w->ob[s].ob != NULL && w->ob[n].ob != NULL);
    m_collect(w);
    check_ptr(w->ob[n].ob, NULL);
    m_collect(w);
    check_ptr(w->ob[a].ob, NULL);
    check_ptr(w->ob[s].ob, NULL);
    check_int(w->ob[a].f_count + w->ob[s].f_count, 0);
    m_close(w);
}

/* The host collects all the same, right after the step that failed. */
static void a_failed_step_roots_wrappers(void)
{
    size_t failed = 1, n;

    for (n = 1; failed > 0; n++) {
        m_world *w = collecting_at_once();
        int p[2], q[2], s, a[2], k;

        unit_context("call %lu", (unsigned long)n);
        for (k = 0; k < 2; k++) {
            s = given_ob(w, M_GC | M_WRAPPER, &p[k]);
            a[k] = given_ob(w, M_GC | M_WRAPPER, &q[k]);
            m_root(w, p[k], 1);
            m_f_refer(w, s, 0, a[k]);
        }
        w->v->fail_mirror_at = n;                       /* a store has no edge node, or an empty one */
        m_collect(w);
        w->v->fail_mirror_at = 0;
        failed = w->v->failed;
        m_compare(w);
        for (k = 0; k < 2; k++) {
            check(w->p[q[k]].at != NULL);
            check(RRC_REFCNT(w->ob[a[k]].ob) > 0);
            m_root(w, p[k], 0);
        }
        m_collect(w);
        m_collect(w);
        for (k = 0; k < 2; k++)
            check_ptr(w->ob[a[k]].ob, NULL);
        m_close(w);
    }
    check(n > 2);
}

/* In slices a number is read, and then foreign code gives the wrapper to other stores: there are more visits. */
static void a_visit_later_than_the_number(void)
{
    int kind, units;

    for (kind = 0; kind < 2; kind++)
        for (units = 1; units < 60; units++) {
            m_world *w = m_open(NULL, 1);
            int p[5], s[4], a, i;

            for (i = 0; i < 4; i++) {
                s[i] = given_ob(w, M_GC | M_WRAPPER, &p[i]);
                m_root(w, p[i], 1);
            }
            a = given_ob(w, kind == 0 ? M_GC | M_WRAPPER : M_WRAPPER, &p[4]);
            m_root(w, p[4], 1);
            m_f_refer(w, s[0], 0, a);
            m_work(w, (size_t)units);
            for (i = 1; i < 4; i++) {
                m_f_refer(w, s[i], 0, a);
                m_f_refer(w, s[i], 1, a);
            }
            while (!m_work(w, 1000))
                ;
            check_int(w->v->logged[RRC_ETRAVERSE], 0);
            m_root(w, p[4], 0);
            vm_collect(w->v);
            check(w->p[p[4]].at != NULL);
            m_close(w);
        }
}

/* A foreign cycle that has lost its p's waits to be cleared. Then foreign code, called by a finalizer, takes one of its
   objects. */
static int taken_in_slot;

static void take_it_in_its_finalizer(m_world *w, int ob, int dies)
{
    (void)ob;
    if (!dies)
        m_f_take(w, taken_in_slot);
}

static void foreign_code_takes_what_waits(void)
{
    m_world *w = collecting_at_once();
    int p, q, r, a = given_ob(w, M_GC | M_WRAPPER, &p), s = given_ob(w, M_GC | M_FINAL | M_WRAPPER, &q);

    m_f_refer(w, s, 0, a);
    m_f_refer(w, a, 0, s);
    m_unlink(w, a);
    m_unlink(w, s);
    taken_in_slot = a;
    w->in_slot = take_it_in_its_finalizer;
    m_collect(w);
    check(w->ob[a].f_ext == 1 && w->ob[a].ob != NULL && w->ob[s].ob != NULL);
    check_int(rrc_check(w->v->heap), RRC_OK);
    r = m_new_p(w);                             /* held by the header, and linked once more */
    check_int(m_link(w, r, a, 0), RRC_OK);
    m_unlink(w, a);
    check_int(rrc_check(w->v->heap), RRC_OK);
    m_collect(w);
    check(w->ob[a].ob != NULL && w->ob[s].ob != NULL);
    w->in_slot = NULL;
    m_f_drop(w, a);
    m_collect(w);
    m_collect(w);
    check_ptr(w->ob[a].ob, NULL);
    check_ptr(w->ob[s].ob, NULL);
    check_int(w->ob[a].f_count + w->ob[s].f_count, 0);
    m_close(w);
}

/* The same, and the object that is taken has a marker. */
static void foreign_code_takes_what_has_a_marker(void)
{
    static short marker;
    m_world *w = collecting_at_once();
    int p, q, a = given_ob(w, M_GC | M_WRAPPER, &p), s = given_ob(w, M_GC | M_FINAL | M_WRAPPER, &q);

    m_f_refer(w, s, 0, a);
    m_f_refer(w, a, 0, s);
    m_unlink(w, a);
    m_unlink(w, s);
    rrc_mark_deallocating(w->v->heap, &marker, w->ob[a].ob);
    taken_in_slot = a;
    w->in_slot = take_it_in_its_finalizer;
    m_collect(w);
    check(w->ob[a].f_ext == 1 && w->ob[a].ob != NULL && w->ob[s].ob != NULL);
    check_ptr(rrc_to_obj(w->v->heap, w->ob[a].ob), &marker);
    check_int(rrc_check(w->v->heap), RRC_OK);
    w->in_slot = NULL;
    m_f_drop(w, a);
    m_collect(w);
    check_ptr(w->ob[a].ob, NULL);
    check_ptr(w->ob[s].ob, NULL);
    check_int(w->ob[a].f_count + w->ob[s].f_count, 0);
    m_close(w);
}

/* In slices a number is read, two stores explain it, and then one of them gives the wrapper to a variable. Two references
   are left. One of them is not explained, although as many were when the wrapper was seen. */
static void a_wrapper_is_taken_after_it_was_seen(void)
{
    int kind, units;

    for (kind = M_WRAPPER; kind <= (M_GC | M_WRAPPER); kind += M_GC)
        for (units = 1; units < 40; units++) {
            m_world *w = m_open(NULL, 1);
            int p[3], s, t, a;

            unit_context("kind %d, after %d units", kind, units);
            s = given_ob(w, M_GC | M_WRAPPER, &p[0]);
            t = given_ob(w, M_GC | M_WRAPPER, &p[1]);
            a = given_ob(w, M_GC | M_WRAPPER, &p[2]);
            if (kind == M_WRAPPER)
                m_track(w, a, 0);
            m_root(w, p[0], 1);
            m_root(w, p[1], 1);
            m_f_refer(w, s, 0, a);
            m_f_refer(w, t, 0, a);
            m_work(w, (size_t)units);
            m_f_take_out(w, t, 0);
            while (!m_work(w, 1000))
                ;
            m_compare(w);
            m_f_refer(w, s, 0, NOBODY);
            vm_collect(w->v);
            check(w->p[p[2]].at != NULL);
            m_close(w);
        }
}

/* A closed heap has no major collection that could be paused. An open step goes on as if nothing had been called. */
static void a_pause_between_slices_changes_nothing(void)
{
    int slices, is_open = 1;

    for (slices = 1; is_open; slices++) {
        m_world *w = m_open(NULL, 1);
        int proxy, closure, other, i, code, a = widget(w, &proxy, &closure);

        unit_context("after %d slices", slices);
        m_refer(w, a, 1, linked(w, M_GC, 1, &other));
        live_on(w, 2);
        m_refer(w, a, 2, a);
        for (i = 0; i < slices && is_open; i++)
            is_open = !m_work(w, 1);
        code = rrc_major_collection_pause(w->v->heap);
        check(code == RRC_OK || code == RRC_EPHASE);
        check_int(w->v->logged[RRC_EPHASE], code == RRC_EPHASE);
        w->v->logged[RRC_EPHASE] = 0;
        while (is_open && !m_work(w, 1))
            m_compare(w);
        live_on(w, 2);
        m_root(w, proxy, 0);
        live_on(w, 3);
        check_all_gone(w);
        m_close(w);
    }
    check(slices > 10);
}

/* A limit has put off the dealloc of b, and a slice of a step weighs it. A script that still finds b links it. */
static void what_was_put_off_is_linked_between_slices(void)
{
    int slices, is_open = 1, was_weak = 0;

    for (slices = 0; is_open; slices++) {
        m_world *w = m_open(NULL, 1);
        int p, q = m_new_p(w), a = linked(w, M_GC, 1, &p), b = m_new_ob(w, M_GC), i;

        unit_context("after %d slices", slices);
        m_root(w, q, 1);
        hand_over(w, a, 0, b);
        m_unlink(w, a);
        m_run(w, 1);
        check_ptr(at(w, a), NULL);
        check_int(stats_of(w).pending, 1);
        for (i = 0; i < slices && is_open; i++)
            is_open = !m_work(w, 1);
        was_weak |= RRC_REFCNT(at(w, b)) < 0;
        check_int(vm_link(w->v, w->p[q].at, at(w, b), RRC_P), RRC_OK);
        check_int(w->v->logged[RRC_EUNLINKED], 0);
        w->ob[b].p = q;
        w->ob[b].is_p = 1;
        w->p[q].ob = b;
        while (is_open && !m_work(w, 1))
            check_int(rrc_check(w->v->heap), RRC_OK);
        m_run(w, 0);
        live_on(w, 2);
        check(at(w, b) != NULL);
        m_root(w, q, 0);
        live_on(w, 2);
        check_all_gone(w);
        m_close(w);
    }
    check(was_weak);
}

/* A step is given up while it weighs objects, and then some are untracked: their scratch words mean nothing. */
static void untracked_after_a_step_was_given_up(void)
{
    int slices, is_open = 1;

    for (slices = 1; is_open; slices++) {
        m_world *w = m_open(NULL, 1);
        int p, q = m_new_p(w), a = linked(w, M_GC, 1, &p), b = m_new_ob(w, M_GC), c = m_new_ob(w, M_GC), i;

        unit_context("after %d slices", slices);
        m_root(w, p, 1);
        m_root(w, q, 1);
        hand_over(w, a, 0, b);
        hand_over(w, a, 1, c);                  /* the first one that the rest of the step passes */
        for (i = 0; i < slices && is_open; i++)
            is_open = !m_work(w, 1);
        rrc_gc_disable(w->v->heap);
        m_work(w, 1);
        m_track(w, b, 0);
        rrc_gc_enable(w->v->heap);
        while (is_open && !m_work(w, 1))
            m_compare(w);
        check_int(m_link(w, q, b, 1), RRC_OK);
        m_compare(w);
        live_on(w, 2);
        m_root(w, p, 0);
        m_root(w, q, 0);
        live_on(w, 2);
        check_all_gone(w);
        m_close(w);
    }
}

/* A wrapper without a link is held because others refer to its foreign object. The end of the heap lets it go, and then the
   garbage that it owned. */
static void what_a_held_wrapper_owned_goes_at_the_end(void)
{
    m_world *w = m_open(NULL, 1);
    int p, a = given_ob(w, M_GC | M_WRAPPER, &p), x = m_new_ob(w, M_GC), y = m_new_ob(w, M_GC);

    m_new_ob(w, M_BARE);                /* C holds it, and so a part of the heap stays */
    m_refer(w, x, 0, y);
    m_refer(w, y, 0, x);
    m_refer(w, a, 0, x);
    m_drop(w, x);
    m_drop(w, y);
    m_f_take(w, a);
    m_unlink(w, a);
    live_on(w, 1);
    w->v->closed = w->v->ending = 1;
    check_int(rrc_heap_free(w->v->heap), 0);
    check_ptr(at(w, a), NULL);
    check_ptr(at(w, x), NULL);
    check_ptr(at(w, y), NULL);
    m_f_drop(w, a);
    m_close(w);
}

/* ---- maps ---- */

enum { KEYS = 40 };

static void check_map(const rrc_map *map, char *keys, char *const *values, int count)
{
    int k;

    for (k = 0; k < KEYS; k++)
        check_ptr(rrc_map_get(map, keys + 8 * k), values[k]);
    check_int((int)map->count, count);
}

/* Random changes to a map and to an array. Whenever the map needs memory, there is none at first. */
static void a_map_is_like_an_array(void)
{
    static char bytes[20 * 8 * KEYS];
    int round, i;

    for (round = 0; round < 20; round++) {
        m_world *w = m_open(NULL, (uint64_t)round);
        rrc_map map = { 0 };
        char *keys = bytes + round * 8 * KEYS, *values[KEYS] = { NULL };
        int count = 0, most = 1 + (int)vm_pick(w->v, KEYS), failed = 0;
        size_t memory = stats_of(w).memory;

        for (i = 0; i < 300; i++) {
            int k = (int)vm_pick(w->v, KEYS);
            char *value = count < most && vm_pick(w->v, 4) != 0 ? keys + vm_pick(w->v, KEYS) : NULL;

            w->v->allocations = 0;
            w->v->fail_alloc_at = 1;
            if (value != NULL && values[k] == NULL && rrc_map_reserve(w->v->heap, &map, 1) != RRC_OK) {
                check_map(&map, keys, values, count);
                w->v->fail_alloc_at = 0;
                check_int(rrc_map_reserve(w->v->heap, &map, 1), RRC_OK);
                failed++;
            }
            rrc_map_put(&map, keys + 8 * k, value);
            count += (value != NULL) - (values[k] != NULL);
            values[k] = value;
            check_map(&map, keys, values, count);
        }
        w->v->fail_alloc_at = 0;
        check(failed > 0 && stats_of(w).memory > memory);
        rrc_map_free(w->v->heap, &map);
        check_int((int)map.count, 0);
        check_ptr(rrc_map_get(&map, keys), NULL);
        check_int((int)(stats_of(w).memory - memory), 0);
        m_close(w);
    }
}

/* Returns how many keys the map takes memory for. */
static int room_of(m_world *w, rrc_map *map, size_t more, size_t memory)
{
    check_int(rrc_map_reserve(w->v->heap, map, more), RRC_OK);
    return (int)((stats_of(w).memory - memory) / (2 * sizeof(void *)));
}

static void a_map_has_room_for_what_is_reserved(void)
{
    static char keys[11];
    m_world *w = m_open(NULL, 1);
    rrc_map map = { 0 };
    size_t memory = stats_of(w).memory;
    int k;

    check_int(room_of(w, &map, 0, memory), 4);
    check_int(room_of(w, &map, 10, memory), 16);
    for (k = 0; k < 10; k++)
        rrc_map_put(&map, keys + k, keys);
    w->v->fail_alloc_at = 1;            /* no memory is asked for */
    check_int(room_of(w, &map, 0, memory), 16);
    w->v->fail_alloc_at = 0;
    check_int(room_of(w, &map, 1, memory), 32);
    check_int(room_of(w, &map, 100, memory), 256);
    check_int(rrc_map_reserve(w->v->heap, NULL, 1), RRC_ENULL);
    check_int(w->v->logged[RRC_ENULL], 1);
    w->v->logged[RRC_ENULL] = 0;
    check_int(rrc_map_reserve(w->v->heap, &map, SIZE_MAX), RRC_ENOMEM);
    check_int(rrc_map_reserve(w->v->heap, &map, SIZE_MAX / 64 - 9), RRC_ENOMEM);
    check_int(w->v->failed, 0);
    for (k = 0; k <= 10; k++)
        check_ptr(rrc_map_get(&map, keys + k), k < 10 ? keys : NULL);
    rrc_map_free(w->v->heap, &map);
    m_close(w);
}

UNIT_GROUP(closed_hosts,
    UNIT(a_map_is_like_an_array), UNIT(a_map_has_room_for_what_is_reserved),
    UNIT(a_widget_and_its_closure),
    UNIT(at_once_by_collect), UNIT(a_collection_frees_what_the_dead_owned),
    UNIT(through_pure_c_objects),
    UNIT(two_proxies_in_a_c_cycle),
    UNIT(a_c_cycle_never_exported),
    UNIT(finalizers_run_once),
    UNIT(a_reference_is_taken_after_the_step),
    UNIT(what_a_held_pure_c_object_owns),
    UNIT(a_move_with_touch),
    UNIT(a_move_without_touch_is_found),
    UNIT(a_raw_increment_is_found),
    UNIT(an_untracked_owner_keeps_what_it_owns),
    UNIT(both_heaps_are_seen),
    UNIT(a_p_that_died_is_seen),
    UNIT(a_new_proxy_keeps_the_edges),
    UNIT(a_finalizer_takes_the_widget),
    UNIT(a_finalizer_takes_a_callback),
    UNIT(mirror_fails),
    UNIT(memory_is_lacking),
    UNIT(a_wrong_traverse_makes_all_strong),
    UNIT(steps_do_not_nest),
    UNIT(mirrored_heaps_are_not_driven), UNIT(open_and_closed_heaps_side_by_side),
    UNIT(all_hooks_or_none),
    UNIT(a_long_chain_is_mirrored_once),
    UNIT(a_step_is_due_after_changes), UNIT(a_step_is_due_for_what_only_the_host_holds),
    UNIT(a_child_is_linked_anew),
    UNIT(a_node_of_the_hosts),
    UNIT(brought_back_between_slices), UNIT(garbage_of_c_is_taken_between_slices),
    UNIT(brought_back_by_its_owner),
    UNIT(a_heap_ends_with_everything_alive),
    UNIT(what_goes_at_the_end_is_whole),
    UNIT(what_goes_is_whole_through_the_host),
    UNIT(words_about_weak_objects),
    UNIT(what_is_found_early_counts_once), UNIT(each_pass_takes_units),
    UNIT(a_wrapper_stays_rooted), UNIT(a_wrapper_that_lost_its_link_is_mirrored_anew),
    UNIT(a_collection_at_once_frees_foreign_cycles), UNIT(a_collection_at_once_roots_what_lives),
    UNIT(a_suspect_is_linked_between_slices),
    UNIT(a_count_does_not_free_what_others_hold), UNIT(foreign_code_takes_what_waits),
    UNIT(foreign_code_takes_what_has_a_marker),
    UNIT(a_failed_step_roots_wrappers), UNIT(a_visit_later_than_the_number),
    UNIT(a_pause_between_slices_changes_nothing), UNIT(what_a_held_wrapper_owned_goes_at_the_end),
    UNIT(what_was_put_off_is_linked_between_slices),
    UNIT(untracked_after_a_step_was_given_up), UNIT(weak_references_of_c),
    UNIT(a_wrapper_is_taken_after_it_was_seen));

int mirror_cases(int argc, char **argv)
{
    static const unit_group *const groups[] = { &closed_hosts, &mirror_hook_calls, &mirror_cells, &mirror_reentry,
                                                &mirror_states };

    return unit_main(argc, argv, groups, 5);
}
