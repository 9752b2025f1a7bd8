#include "mirror_world.h"

#include <stdlib.h>
#include <string.h>

typedef struct thing {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *ref[M_REFS];
    int number;
} thing;

#define THING(ob) ((thing *)(void *)(ob))
#define WORLD(heap) ((m_world *)((vm *)rrc_userdata(heap))->test)
#define COUNT(ob) (RRC_REFCNT(ob) & INTPTR_MAX)

static void *grown(void *array, size_t *room, size_t count, size_t item)
{
    if (count < *room)
        return array;
    *room = *room * 2 + 64;
    array = realloc(array, *room * item);
    if (array == NULL)
        abort();
    return array;
}

/* ---- reachability ---- */

static int set_to_one(int *flag)
{
    int was = *flag;

    *flag = 1;
    return !was;
}

/* What has died was not reached then. An object that C got hold of since does not bring its p back.
   Objects that the search does not see, or whose references it does not, hold what
   they refer to until they go: so they are roots as long as they are there. A foreign object that others refer to
   holds its wrapper, as long as that has a link, and with a P link p, too. widely: all that the header takes as held. */
static void reach(m_world *w, int widely)
{
    int again = 1, k;
    size_t i;

    for (i = 0; i < w->p_count; i++)
        w->p[i].reached = w->p[i].at != NULL && w->p[i].rooted;
    for (i = 0; i < w->ob_count; i++)
        w->ob[i].reached = w->ob[i].ob != NULL && w->ob[i].held > 0;
    for (i = 0; i < w->ob_count; i++) {
        m_ob *o = &w->ob[i];

        o->f_reached = o->f_held = o->f_ext > 0;
        if (widely && o->f_wrapped && (o->f_count > 1 || o->p != NOBODY || o->inner > 0) && !w->v->options.at_once)
            o->f_reached = o->f_held = 1;       /* it stays rooted */
        if (widely && o->f_count > 0 && (!o->f_wrapped || !o->tracked))
            o->f_reached = 1;                   /* nobody visits what it refers to */
    }
    while (again) {
        again = 0;
        for (i = 0; i < w->p_count; i++) {
            if (!w->p[i].reached)
                continue;
            for (k = 0; k < VM_EDGES; k++)
                if (w->p[i].edge[k] != NOBODY)
                    again |= set_to_one(&w->p[w->p[i].edge[k]].reached);
            if (w->p[i].ob != NOBODY)
                again |= set_to_one(&w->ob[w->p[i].ob].reached);
        }
        for (i = 0; i < w->ob_count; i++) {
            if (!w->ob[i].reached)
                continue;
            if (w->ob[i].p != NOBODY && w->ob[i].is_p && w->p[w->ob[i].p].at != NULL)
                again |= set_to_one(&w->p[w->ob[i].p].reached);
            for (k = 0; k < M_REFS; k++)
                if (w->ob[i].ref[k] != NOBODY)
                    again |= set_to_one(&w->ob[w->ob[i].ref[k]].reached);
            if (w->ob[i].f_wrapped)
                again |= set_to_one(&w->ob[i].f_reached);
        }
        for (i = 0; i < w->ob_count; i++) {
            m_ob *o = &w->ob[i];

            for (k = 0; k < M_REFS && o->f_reached; k++)
                if (o->f_ref[k] != NOBODY) {
                    again |= set_to_one(&w->ob[o->f_ref[k]].f_reached);
                    again |= set_to_one(&w->ob[o->f_ref[k]].f_held);
                }
            if (o->f_held && o->f_wrapped && o->ob != NULL && (widely || (o->p != NOBODY && w->p[o->p].at != NULL)))
                again |= set_to_one(&o->reached);
        }
    }
}

void m_reach(m_world *w) { reach(w, 0); }

static void lose(m_world *w, const char *what, int number)
{
    if (!w->soft)
        unit_fail(__FILE__, __LINE__, "%s %d is lost", what, number);
    w->lost++;
}

static void see_death(vm *v, int number)
{
    m_world *w = (m_world *)v->test;
    int k;

    m_reach(w);
    if (w->p[number].reached)
        lose(w, "host object", number);
    w->p[number].at = NULL;
    w->p[number].rooted = 0;
    for (k = 0; k < VM_EDGES; k++)
        w->p[number].edge[k] = NOBODY;
}

static void see_finalizer(vm *v, int number)
{
    m_world *w = (m_world *)v->test;

    (void)number;
    if (w->in_finalizer != NULL)
        w->in_finalizer(w);
}

/* ---- counted objects ---- */

/* ---- the foreign library ---- */

static void f_drop(m_world *w, int f)
{
    int k;

    if (--w->ob[f].f_count > 0)
        return;
    for (k = 0; k < M_REFS; k++)
        if (w->ob[f].f_ref[k] != NOBODY) {
            int to = w->ob[f].f_ref[k];

            w->ob[f].f_ref[k] = NOBODY;
            f_drop(w, to);
        }
}

void m_f_take(m_world *w, int ob)
{
    w->ob[ob].f_ext++;
    w->ob[ob].f_count++;
}

void m_f_drop(m_world *w, int ob)
{
    w->ob[ob].f_ext--;
    f_drop(w, ob);
}

void m_f_refer(m_world *w, int ob, int n, int to)
{
    int old = w->ob[ob].f_ref[n];

    if (to != NOBODY)
        w->ob[to].f_count++;
    w->ob[ob].f_ref[n] = to;
    if (old != NOBODY)
        f_drop(w, old);
}

void m_f_take_out(m_world *w, int ob, int n)
{
    int to = w->ob[ob].f_ref[n];

    w->ob[ob].f_ref[n] = NOBODY;
    w->ob[to].f_ext++;
}

static intptr_t thing_outside(rrc_heap *heap, rrc_object *self)
{
    return WORLD(heap)->ob[THING(self)->number].f_count - 1;
}

/* (tp_traverse does not get the heap.) */
static m_world *world_now;

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int k;

    for (k = 0; k < M_REFS; k++)
        RRC_VISIT(THING(self)->ref[k]);
    return 0;
}

static int wrapper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const m_ob *o = &world_now->ob[THING(self)->number];
    int k;

    for (k = 0; k < M_REFS; k++)
        if (o->f_ref[k] != NOBODY && world_now->ob[o->f_ref[k]].f_wrapped)
            RRC_VISIT(world_now->ob[o->f_ref[k]].ob);
    return thing_traverse(self, visit, arg);
}

static void take(m_world *w, int ob)
{
    rrc_object *at = w->ob[ob].ob;
    intptr_t count = COUNT(at);

    if (w->careless == M_NO_INCREFS && count != 0 && count != RRC_REFCNT_FROM_PYPY && count != RRC_REFCNT_FROM_PYPY_LIGHT)
        RRC_REFCNT(at)++;
    else
        rrc_incref(w->v->heap, at);
}

static void forget_ref(m_world *w, int owner, int n)
{
    int to = w->ob[owner].ref[n];

    if (to == NOBODY)
        return;
    w->ob[owner].ref[n] = NOBODY;
    w->ob[to].inner--;
    RRC_CLEAR(w->v->heap, THING(w->ob[owner].ob)->ref[n]);
}

static int thing_clear(rrc_heap *heap, rrc_object *self)
{
    m_world *w = WORLD(heap);
    int number = THING(self)->number, k;

    for (k = 0; k < M_REFS && w->ob[number].f_wrapped; k++)
        if (w->ob[number].f_ref[k] != NOBODY)
            m_f_refer(w, number, k, NOBODY);
    for (k = 0; k < M_REFS; k++)
        forget_ref(w, number, k);
    return 0;
}

static void thing_finalize(rrc_heap *heap, rrc_object *self)
{
    m_world *w = WORLD(heap);
    int number = THING(self)->number;

    m_reach(w);
    check(!w->ob[number].reached || w->in_slot != NULL);        /* (PEP 442: another finalizer may have saved it) */
    check(!w->ob[number].finalized);
    w->ob[number].finalized = 1;
    if (w->in_slot != NULL)
        w->in_slot(w, number, 0);
}

/* An object goes: its p, if it had one, is dead or was unlinked. */
static void see_freed(m_world *w, rrc_object *self)
{
    m_ob *o = &w->ob[THING(self)->number];

    check_ptr(o->ob, self);
    if (o->p != NOBODY) {
        m_reach(w);
        if (w->p[o->p].reached)
            lose(w, "counted object", THING(self)->number);
        w->p[o->p].ob = NOBODY;
        o->p = NOBODY;
    }
    if (o->held > 0 || o->inner > 0)
        lose(w, "counted object", THING(self)->number);
    if (o->f_wrapped) {
        o->f_wrapped = 0;
        f_drop(w, THING(self)->number);
    }
}

static void thing_dealloc(rrc_heap *heap, rrc_object *self)
{
    m_world *w = WORLD(heap);
    int number = THING(self)->number;

    if (w->in_slot != NULL)
        w->in_slot(w, number, 1);
    see_freed(w, self);
    rrc_gc_untrack(heap, self);
    thing_clear(heap, self);
    w->ob[number].ob = NULL;
    if ((w->ob[number].kind & M_GC) != 0)
        rrc_gc_del(heap, self);
    else
        rrc_del(heap, self);
}

static void thing_free(rrc_heap *heap, void *self)
{
    m_world *w = WORLD(heap);

    see_freed(w, (rrc_object *)self);
    w->ob[THING(self)->number].ob = NULL;
    rrc_del(heap, self);
}

#define OUTSIDE .tp_outside = thing_outside, .tp_basicsize = sizeof(thing), .tp_dealloc = thing_dealloc
#define GC_OUTSIDE OUTSIDE, .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = wrapper_traverse, .tp_clear = thing_clear
static const rrc_type types[16] = {
    [M_WRAPPER] = { .tp_name = "BareWrapper", OUTSIDE },
    [M_WRAPPER | M_GC] = { .tp_name = "Wrapper", GC_OUTSIDE },
    [M_WRAPPER | M_GC | M_FINAL] = { .tp_name = "FinalWrapper", GC_OUTSIDE, .tp_finalize = thing_finalize },
    [M_BARE] = { .tp_name = "Bare", .tp_basicsize = sizeof(thing), .tp_dealloc = thing_dealloc },
    [M_GC] = { .tp_name = "Gc", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
               .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear },
    [M_GC | M_FINAL] = { .tp_name = "GcFinal", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                         .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear,
                         .tp_finalize = thing_finalize },
    [M_LIGHT] = { .tp_name = "Light", .tp_basicsize = sizeof(thing), .tp_free = thing_free },
};

/* ---- operations ---- */

int m_new_p(m_world *w)
{
    m_p p = { NULL, 0, 0, { NOBODY, NOBODY, NOBODY }, NOBODY };
    int number;

    p.at = vm_new(w->v, 0);             /* which may collect, and so change the array */
    number = (int)w->p_count;
    p.at->number = number;
    w->p = (m_p *)grown(w->p, &w->p_room, w->p_count, sizeof *w->p);
    w->p[w->p_count++] = p;
    return number;
}

int m_new_ob(m_world *w, int kind)
{
    m_ob o = { NULL, 0, 0, 1, 0, 0, 0, 0, 0, { NOBODY, NOBODY, NOBODY }, NOBODY, 0, 0, 0, { NOBODY, NOBODY, NOBODY }, 0, 0 };
    int number = (int)w->ob_count;
    const rrc_type *type = &types[kind];

    o.ob = (kind & M_GC) != 0 ? rrc_gc_new(w->v->heap, type) : rrc_new(w->v->heap, type);
    if (o.ob == NULL)
        return NOBODY;
    o.kind = kind;
    o.f_count = o.f_wrapped = (kind & M_WRAPPER) != 0;
    THING(o.ob)->number = number;
    w->ob = (m_ob *)grown(w->ob, &w->ob_room, w->ob_count, sizeof *w->ob);
    w->ob[w->ob_count++] = o;
    if ((kind & M_GC) != 0)
        m_track(w, number, 1);
    return number;
}

void m_track(m_world *w, int ob, int on)
{
    if (!on)
        rrc_gc_untrack(w->v->heap, w->ob[ob].ob);
    else if (!w->ob[ob].tracked && rrc_gc_track(w->v->heap, w->ob[ob].ob) != RRC_OK)
        return;
    w->ob[ob].tracked = on;
}

/* The header, or a finalizer of the host, may have dissolved the link. */
static void look_at_link(m_world *w, int ob)
{
    m_ob *o = &w->ob[ob];

    if (o->p == NOBODY || o->ob == NULL || COUNT(o->ob) >= RRC_REFCNT_FROM_PYPY)
        return;
    if (w->p[o->p].at != NULL)
        lose(w, "the link of counted object", ob);
    w->p[o->p].ob = NOBODY;
    o->p = NOBODY;
}

int m_link(m_world *w, int p, int ob, int is_p)
{
    m_ob *o = &w->ob[ob];
    int kind = (is_p ? RRC_P : RRC_O) | ((o->kind & M_LIGHT) != 0 ? RRC_LIGHT : 0), code;

    look_at_link(w, ob);
    if (w->p[p].ob != NOBODY)
        return RRC_EPLINKED;
    if (o->p != NOBODY) {
        if (w->p[o->p].at != NULL)
            return RRC_ELINKED;
        /* Its p died, and that was not told yet: another one takes its place. */
        take(w, ob);
        code = vm_unlink(w->v, o->ob);
        check_int(code, RRC_OK);
        look_at_link(w, ob);
        code = vm_link(w->v, w->p[p].at, o->ob, kind);
    } else {
        take(w, ob);
        code = vm_link(w->v, w->p[p].at, o->ob, kind);
    }
    if (code == RRC_OK) {
        o->p = p;
        o->is_p = is_p;
        w->p[p].ob = ob;
    }
    rrc_decref(w->v->heap, o->ob);
    return code;
}

void m_unlink(m_world *w, int ob)
{
    m_ob *o = &w->ob[ob];
    rrc_object *at = o->ob;

    look_at_link(w, ob);
    if (o->p == NOBODY)
        return;
    w->p[o->p].ob = NOBODY;
    o->p = NOBODY;
    check_int(vm_unlink(w->v, at), RRC_OK);
}

void m_root(m_world *w, int p, int on)
{
    w->p[p].rooted = on;
    vm_root(w->v, w->p[p].at, on);
}

void m_point(m_world *w, int from, int n, int to)
{
    w->p[from].edge[n] = to;
    vm_point(w->v, w->p[from].at, (unsigned)n, to == NOBODY ? NULL : w->p[to].at);
}

void m_hold(m_world *w, int ob)
{
    take(w, ob);
    w->ob[ob].held++;
}

void m_drop(m_world *w, int ob)
{
    w->ob[ob].held--;
    if (w->careless == M_NO_INCREFS && w->ob[ob].held + w->ob[ob].inner > 1)
        RRC_REFCNT(w->ob[ob].ob)--;
    else
        rrc_decref(w->v->heap, w->ob[ob].ob);
}

/* Hold an object while other operations run. */
static void pin(m_world *w, int ob)
{
    m_hold(w, ob);
    w->ob[ob].pins++;
}

static void unpin(m_world *w, int ob)
{
    w->ob[ob].pins--;
    m_drop(w, ob);
}

void m_refer(m_world *w, int owner, int n, int to)
{
    if (to != NOBODY)
        pin(w, to);
    pin(w, owner);
    while (w->ob[owner].ref[n] != NOBODY)       /* (what goes can fill the field again) */
        forget_ref(w, owner, n);
    if (to != NOBODY) {
        w->ob[to].pins--;
        w->ob[to].held--;
        w->ob[to].inner++;
        w->ob[owner].ref[n] = to;
        THING(w->ob[owner].ob)->ref[n] = w->ob[to].ob;
    }
    unpin(w, owner);
}

void m_move(m_world *w, int from, int n, int to, int k)
{
    int what = w->ob[from].ref[n];

    if (what == NOBODY || (from == to && n == k))
        return;
    pin(w, from);
    pin(w, to);
    while (w->ob[to].ref[k] != NOBODY)
        forget_ref(w, to, k);
    what = w->ob[from].ref[n];
    if (what != NOBODY) {
        if (w->careless != M_NO_TOUCHES && from != to)     /* (a move within one object needs none) */
            rrc_touch(w->v->heap, w->ob[what].ob);
        w->ob[to].ref[k] = what;
        w->ob[from].ref[n] = NOBODY;
        THING(w->ob[to].ob)->ref[k] = w->ob[what].ob;
        THING(w->ob[from].ob)->ref[n] = NULL;
    }
    unpin(w, from);
    unpin(w, to);
}

void m_take_out(m_world *w, int ob, int n)
{
    int what = w->ob[ob].ref[n];

    if (w->careless != M_NO_TOUCHES)
        rrc_touch(w->v->heap, w->ob[what].ob);
    w->ob[ob].ref[n] = NOBODY;
    THING(w->ob[ob].ob)->ref[n] = NULL;
    w->ob[what].inner--;
    w->ob[what].held++;
}

int m_step(m_world *w)
{
    return rrc_closed_step(w->v->heap);
}

/* Returns whether the step has ended. */
int m_work(m_world *w, size_t max)
{
    return rrc_closed_work(w->v->heap, max) < max || max == 0;
}

size_t m_collect(m_world *w)
{
    return vm_gc_collect(w->v);
}

static size_t freed(m_world *w)
{
    rrc_stats stats;

    check_int(rrc_get_stats(w->v->heap, &stats), RRC_OK);
    return stats.garbage;
}

/* (Under stress the host finds more that is dead, and a finalizer that runs late lets go of more. What a chain of
   finalizable objects holds takes more rounds.) */
void m_collect_all(m_world *w)
{
    size_t before;

    m_collect(w);
    before = freed(w);
    if (w->v->options.stress != 0 || w->v->options.late_finalizers || w->has_slots)
        return;
    check_int(m_step(w), RRC_OK);
    m_run(w, 0);
    check_int((int)(freed(w) - before), 0);
}

void m_run(m_world *w, size_t max)
{
    rrc_run_pending(w->v->heap, max);
}

/* ---- comparison ---- */

static intptr_t bias_of(const m_ob *o)
{
    return o->p == NOBODY ? 0 : (o->kind & M_LIGHT) != 0 ? RRC_REFCNT_FROM_PYPY_LIGHT : RRC_REFCNT_FROM_PYPY;
}

void m_compare(m_world *w)
{
    size_t i, weak = 0;
    size_t held_weakly;
    rrc_stats stats;

    for (i = 0; i < w->ob_count; i++) {
        m_ob *o = &w->ob[i];
        intptr_t queued;

        if (o->ob == NULL)
            continue;
        look_at_link(w, (int)i);
        queued = COUNT(o->ob) - bias_of(o) - o->held - o->inner;
        if (queued < 0 || queued > 1)
            unit_fail(__FILE__, __LINE__, "counted object %d has %jd references more than it should",
                      (int)i, (intmax_t)queued);
        if (o->p != NOBODY && w->p[o->p].at != NULL)
            check_ptr(vm_object_of(w->v, o->ob), w->p[o->p].at);
    }
    m_reach(w);
    for (i = 0; i < w->p_count; i++)
        if (w->p[i].reached && w->p[i].at == NULL)
            lose(w, "host object", (int)i);
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].reached && w->ob[i].ob == NULL)
            lose(w, "counted object", (int)i);
    for (i = 0; i < w->ob_count; i++)           /* (rrc_to_obj can have made some of them strong just now) */
        weak += w->ob[i].ob != NULL && RRC_REFCNT(w->ob[i].ob) < 0;
    check_int(rrc_get_stats(w->v->heap, &stats), RRC_OK);
    held_weakly = rrc_closed_count_weak(w->v->heap);
    check(held_weakly <= weak && weak <= held_weakly + stats.pending);     /* (waiting garbage is watched) */
    if (!w->soft && !w->v->in_collection)
        check_int(rrc_check(w->v->heap), RRC_OK);
}

size_t m_garbage(m_world *w)
{
    size_t i, garbage = 0;

    reach(w, 1);
    for (i = 0; i < w->p_count; i++)
        garbage += w->p[i].at != NULL && !w->p[i].reached;
    for (i = 0; i < w->ob_count; i++)
        garbage += w->ob[i].ob != NULL && !w->ob[i].reached;
    return garbage;
}

/* With weak references that last as long as finalizers see the object, one of these can bring back a p that counts as
   dead here. What this refers to is not known. */
static int has_come_back(m_world *w)
{
    size_t i;

    for (i = 0; i < w->ob_count && w->v->options.keeps_resurrected; i++)
        if (w->ob[i].ob != NULL && w->ob[i].p != NOBODY && w->p[w->ob[i].p].at == NULL
                && vm_object_of(w->v, w->ob[i].ob) != NULL)
            return 1;
    return 0;
}

void m_expect_no_garbage(m_world *w)
{
    size_t i;

    if (has_come_back(w))
        return;
    reach(w, 1);
    for (i = 0; i < w->p_count; i++)
        if (w->p[i].at != NULL && !w->p[i].reached)
            unit_fail(__FILE__, __LINE__, "host object %d is leaked", (int)i);
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].ob != NULL && !w->ob[i].reached)
            unit_fail(__FILE__, __LINE__, "counted object %d is leaked", (int)i);
}

/* ---- a life ---- */

m_world *m_open(const vm_options *options, uint64_t seed)
{
    m_world *w = (m_world *)calloc(1, sizeof *w);

    if (w == NULL)
        abort();
    w->v = vm_open(options, seed);
    world_now = w;
    w->v->test = w;
    w->v->on_death = see_death;
    w->v->on_finalizer = see_finalizer;
    return w;
}

/* Ends the heap as it is, then drops what C still holds. */
void m_close(m_world *w)
{
    vm *v = w->v;
    rrc_heap *heap = v->heap;
    size_t i;

    w->in_finalizer = NULL;
    w->in_slot = NULL;
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].p != NOBODY) {
            w->p[w->ob[i].p].ob = NOBODY;
            w->ob[i].p = NOBODY;
        }
    v->closed = v->ending = 1;
    rrc_heap_free(heap);
    v->ending = 0;
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].ob != NULL) {
            int k;

            rrc_incref(heap, w->ob[i].ob);
            w->ob[i].held++;
            for (k = 0; k < M_REFS; k++)
                forget_ref(w, (int)i, k);
            while (w->ob[i].held > 0) {
                w->ob[i].held--;
                rrc_decref(heap, w->ob[i].ob);
            }
        }
    if (!w->soft)
        for (i = 0; i < w->ob_count; i++)
            check_ptr(w->ob[i].ob, NULL);
    vm_close(v);
    free(w->p);
    free(w->ob);
    free(w);
}
