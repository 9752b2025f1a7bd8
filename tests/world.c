#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct thing {
    OB_HEAD
    rrc_object *ref[WORLD_REFS];
    int number;
} thing;

#define THING(ob) ((thing *)(void *)(ob))
/* (The sign says that the header watches an object.) */
#define COUNT(ob) (REFCNT(ob) & INTPTR_MAX)
#define WORLD(heap) ((world *)HOST(heap)->test)

/* ---- counts ---- */

int world_count_of(const world *w, int ob)
{
    const world_ob *o = &w->ob[ob];

    return o->held + o->queued + o->deferred + o->listed + o->hooked + o->inner;
}

int world_is_usable(const world *w, int ob)
{
    return w->ob[ob].life == ALIVE;
}

static intptr_t bias_of(const world_ob *o)
{
    return o->p == NONE ? 0 : (o->kind & W_LIGHT) != 0 ? LIGHT : BIAS;
}

static int number_of(const world *w, rrc_object *ob)
{
    int i = THING(ob)->number;

    if (i < 0 || (size_t)i >= w->ob_count || w->ob[i].ob != ob || w->ob[i].life == ABSENT)
        unit_fail(__FILE__, __LINE__, "%p is no object", (void *)ob);
    return i;
}

static void set_ref(world *w, int owner, int n, int to)
{
    int *ref = &w->ob[owner].ref[n];

    if (*ref != NONE)
        w->ob[*ref].inner--;
    *ref = to;
    if (to != NONE) {
        w->ob[to].inner++;
        w->ob[to].lost = 0;
    }
}

/* It does not wait as garbage any more, unless it was cleared. */
static void unlist(world_ob *o)
{
    o->listed = 0;
    o->weak_pending = 0;
    if (o->waiting != W_CLEARED)
        o->waiting = W_ALIVE;
}

/* Does o wait as garbage? Then searches leave it alone. */
static int is_set_aside(const world_ob *o)
{
    return o->tracked && o->listed && o->waiting != W_ALIVE && o->waiting != W_CLEARED;
}

/* Does the header notice when C takes a reference to o, as it is garbage? */
static int is_condemned(const world_ob *o)
{
    return o->life == ALIVE && o->tracked && (is_set_aside(o) || o->watched);
}

/* An object is garbage no more, and nor is all garbage that it reaches in C. */
static void absolve(world *w, int ob)
{
    world_ob *o = &w->ob[ob];
    int k;

    if (!is_condemned(o))
        return;
    if (o->in_slot) {                   /* the header decides when its slot has returned */
        o->reached_in_slot = 1;
        return;
    }
    o->watched = 0;
    o->absolved = 1;
    if (o->waiting == W_CLEARED)
        o->waiting = W_ALIVE;
    else
        unlist(o);
    for (k = 0; k < WORLD_REFS; k++)
        if (o->ref[k] != NONE)
            absolve(w, o->ref[k]);
}

/* C has taken a reference to an object. In its own slot only what is left of that counts. */
static void take_hold(world *w, int ob)
{
    if (!w->ob[ob].in_slot)
        absolve(w, ob);
}

/* The object got a link, or is untracked. */
static void absolve_at_once(world *w, int ob)
{
    int in_slot = w->ob[ob].in_slot;

    w->ob[ob].in_slot = 0;
    absolve(w, ob);
    w->ob[ob].in_slot = in_slot;
}

static int set_to_one(int *flag)
{
    int was = *flag;

    *flag = 1;
    return !was;
}

/* What C has got hold of among what is set aside, and what that reaches in C, is alive. */
static void find_held(world *w)
{
    int again = 1, k;
    size_t i;

    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        o->alive = o->life == DYING || (o->life == ALIVE && !(w->ending ? o->tracked : is_set_aside(o)));
        o->alive |= o->life == ALIVE && (o->held + o->hooked + (w->ending ? 0 : o->queued + o->deferred) > 0
                                         || (o->p != NONE && w->ending));
    }
    while (again) {
        again = 0;
        for (i = 0; i < w->ob_count; i++)
            for (k = 0; k < WORLD_REFS; k++)
                if (w->ob[i].life != ABSENT && w->ob[i].alive && w->ob[i].ref[k] != NONE)
                    again |= set_to_one(&w->ob[w->ob[i].ref[k]].alive);
    }
}

/* Is it garbage that waits, and not only kept for finalizers? Then its link does not hold it. */
static int is_garbage(const world_ob *o)
{
    return o->tracked && (o->waiting == W_CLEARED || (is_set_aside(o) && o->waiting == W_TO_CLEAR));
}

/* Do major collections keep what garbage owns? */
static int keeps(const world *w)
{
    return w->h->options.keeps && w->h->options.early == 0;
}

/* Garbage has parted from a p that was kept for other garbage. */
static void part(host *h, rrc_gcref p, rrc_object *ob)
{
    world *w = (world *)h->test;
    world_ob *o = &w->ob[number_of(w, ob)];

    (void)p;
    if (o->p == NONE)                   /* the heap ends */
        return;
    check(w->ending || is_garbage(o));
    if (o->link == P)
        w->p[o->p].p_link = NONE;
    if (COUNT(ob) == bias_of(o)) {
        o->listed = 0;
        o->queued = 1;
        if (o->waiting == W_TO_CLEAR)
            o->waiting = W_CLEARED;
    }
    o->p = NONE;
}

/* Has the list let go of an object that waits, which was not deallocated? */
static int has_gone_back(const world *w, int ob)
{
    const world_ob *o = &w->ob[ob];

    return o->life == ALIVE && o->listed && COUNT(o->ob) == world_count_of(w, ob) + bias_of(o) - 1;
}

/* Garbage goes back of itself only if all is done that it was kept for, or if it was cleared. */
static void note_what_went_back(world *w)
{
    size_t i;

    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (!has_gone_back(w, (int)i))
            continue;
        check(!o->weak_pending && o->waiting != W_TO_FINALIZE && o->waiting != W_TO_CLEAR);
        o->watched = o->waiting == W_CLEARED;
        unlist(o);
    }
}

/* An object whose last reference is gone, but which was not deallocated, waits for
   that; what the queue, or that wait, lets go of shows in the counts only. */
static void note_what_waits(world *w)
{
    size_t i;

    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (o->life != ALIVE)
            continue;
        if (o->p == NONE && world_count_of(w, (int)i) == 0)
            o->deferred = 1;
        else if (o->deferred && COUNT(o->ob) == world_count_of(w, (int)i) + bias_of(o) - 1)
            o->deferred = 0;
        else if (o->queued && w->running && COUNT(o->ob) == world_count_of(w, (int)i) + bias_of(o) - 1)
            o->queued = 0;
    }
    if (w->running)
        note_what_went_back(w);
}

/* Only what was filled again after its clearing, and what that refers to, cannot be cleared. */
static void note_uncollectable(world *w)
{
    size_t i;

    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];
        int now = o->life == ALIVE && rrc_gc_is_uncollectable(w->h->heap, o->ob);

        if (now && !o->uncollectable) {
            check(w->refilled);
            host_expect_log(w->h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
        }
        o->uncollectable = now;
    }
}

/* The reference of a field of the header's, or of an object, was dropped. */
static void dropped(world *w, int i, const rrc_object *ob)
{
    if (w->ob[i].life == ALIVE && w->ob[i].ob == ob && w->ob[i].p == NONE && world_count_of(w, i) == 0)
        w->ob[i].deferred = 1;
}

/* An object's field, and the oracle's note of it, are emptied. */
static void clear_ref(world *w, int owner, int n)
{
    rrc_object **field = &THING(w->ob[owner].ob)->ref[n], *old = *field;
    int i = w->ob[owner].ref[n];

    check_int(old != NULL, i != NONE);
    set_ref(w, owner, n, NONE);
    RRC_CLEAR(w->h->heap, *field);
    if (i != NONE)
        dropped(w, i, old);
}

static void more_in_hook(world *w)
{
    if (w->in_hook == NULL)
        return;
    note_what_waits(w);
    w->depth++;
    w->in_hook(w);
    w->depth--;
}

/* ---- what the search finds ---- */

static int is_finalizable(const world_ob *o)
{
    return (o->kind & W_FINAL) != 0 && !o->finalized;
}

/* Does the search see what o refers to? Else its references are from outside. */
static int is_searched(const world *w, const world_ob *o)
{
    return o->life == ALIVE && o->tracked && !w->unsearched && !o->set_aside;
}

static void count_outside(world *w)
{
    size_t i;
    int k;

    for (i = 0; i < w->ob_count; i++)
        w->ob[i].outside = w->ob[i].held + w->ob[i].queued + w->ob[i].deferred + w->ob[i].listed + w->ob[i].hooked;
    for (i = 0; i < w->ob_count; i++)
        for (k = 0; k < WORLD_REFS; k++)
            if (w->ob[i].life != ABSENT && w->ob[i].ref[k] != NONE && !is_searched(w, &w->ob[i]))
                w->ob[w->ob[i].ref[k]].outside++;
}

/* An alive object makes what it refers to alive, and the p of its P link; an alive
   p what it refers to, and the obs linked to it. */
static void spread(world *w)
{
    int again = 1, k;
    size_t i;

    while (again) {
        again = 0;
        for (i = 0; i < w->p_count; i++)
            for (k = 0; k < HOST_EDGES; k++)
                if (w->p[i].alive && w->p[i].mark && w->p[i].edge[k] != NONE)
                    again |= set_to_one(&w->p[w->p[i].edge[k]].mark);
        for (i = 0; i < w->ob_count; i++) {
            world_ob *o = &w->ob[i];

            if (o->life != ALIVE)
                continue;
            if (is_searched(w, o) && o->p != NONE && w->p[o->p].mark)
                again |= set_to_one(&o->alive);
            if (!o->alive)
                continue;
            if (o->p != NONE && o->link == P)
                again |= set_to_one(&w->p[o->p].mark);
            for (k = 0; k < WORLD_REFS; k++)
                if (o->ref[k] != NONE && is_searched(w, o))
                    again |= set_to_one(&w->ob[o->ref[k]].alive);
        }
    }
}

/* What garbage owns is kept, with all that this reaches. It may be garbage all the same. */
static void keep_owned(world *w)
{
    int again = 1, k;
    size_t i;

    for (i = 0; i < w->ob_count; i++)
        w->ob[i].reached = 0;
    for (i = 0; i < w->ob_count; i++)
        for (k = 0; k < WORLD_REFS; k++)
            if (is_searched(w, &w->ob[i]) && w->ob[i].waiting == W_TO_CLEAR && w->ob[i].ref[k] != NONE)
                w->ob[w->ob[i].ref[k]].reached = 1;
    while (again) {
        again = 0;
        for (i = 0; i < w->p_count; i++)
            for (k = 0; k < HOST_EDGES; k++)
                if (w->p[i].alive && w->p[i].mark && w->p[i].edge[k] != NONE)
                    again |= set_to_one(&w->p[w->p[i].edge[k]].mark);
        for (i = 0; i < w->ob_count; i++) {
            world_ob *o = &w->ob[i];

            if (is_searched(w, o) && o->p != NONE && w->p[o->p].mark)
                again |= set_to_one(&o->reached);
            if (o->life != ALIVE || !o->reached)
                continue;
            if (o->p != NONE && o->link == P)
                again |= set_to_one(&w->p[o->p].mark);
            for (k = 0; k < WORLD_REFS; k++)
                if (o->ref[k] != NONE && is_searched(w, o))
                    again |= set_to_one(&w->ob[o->ref[k]].reached);
        }
    }
}

/* Which objects does the search of a major collection find alive, and what is to
   be done with the others? */
static void search(world *w)
{
    size_t i;
    int forgives = !w->running;

    for (i = 0; i < w->p_count; i++)
        w->p[i].mark = w->p[i].alive && (w->p[i].prebuilt || w->p[i].rooted);
    for (i = 0; i < w->ob_count; i++) {
        w->ob[i].set_aside = is_set_aside(&w->ob[i]);
        forgives &= !w->ob[i].set_aside;
    }
    count_outside(w);
    /* Where marking goes on after the trace call, a finalizer still to run holds its object. */
    for (i = 0; i < w->ob_count; i++)
        w->ob[i].alive = w->ob[i].life == ALIVE
                && (w->ob[i].outside > 0 || (w->ob[i].set_aside && !w->unsearched)
                    || (w->h->options.early && is_searched(w, &w->ob[i]) && is_finalizable(&w->ob[i])));
    spread(w);
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (is_searched(w, o)) {
            if (!o->alive || o->waiting != W_CLEARED || forgives)
                o->waiting = o->alive ? W_ALIVE : W_TO_CLEAR;
            o->weak_pending = !o->alive && (o->kind & W_WEAK) != 0;
            o->watched &= o->waiting == W_CLEARED;
            o->absolved = 0;
        }
    }
    for (i = 0; i < w->ob_count; i++)
        if (is_searched(w, &w->ob[i]) && w->ob[i].waiting == W_TO_CLEAR && is_finalizable(&w->ob[i]))
            w->ob[i].alive = 1;
    spread(w);
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (!is_searched(w, o) || o->waiting != W_TO_CLEAR)
            continue;
        if (o->alive)
            o->waiting = is_finalizable(o) ? W_TO_FINALIZE : W_KEPT;
        /* What has but its bias goes by its count, unless something is to be called for it, or its p may be kept. */
        o->listed = world_count_of(w, (int)i) != 0
                 || ((o->kind & W_LIGHT) == 0 && (o->alive || o->weak_pending || keeps(w)));
    }
    if (keeps(w) && !w->unsearched)
        keep_owned(w);
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (is_searched(w, o) && (o->waiting == W_TO_CLEAR || o->waiting == W_KEPT || o->waiting == W_TO_FINALIZE)
                && !o->listed) {
            o->watched = o->waiting == W_TO_CLEAR && (o->kind & W_LIGHT) == 0;
            unlist(o);
            o->waiting = o->watched ? W_CLEARED : W_ALIVE;
        }
    }
}

static void generations(world *w)
{
    size_t i;

    for (i = 0; i < w->p_count; i++) {
        world_p *p = &w->p[i];

        if (!p->mark) {
            p->alive = 0;
        } else if (p->young) {
            p->young = p->age + 1 <= w->stays_young;
            p->age = p->young ? p->age + 1 : 0;
        }
    }
}

/* The rule, for links whose p was not marked. Light objects that go at once are
   left to their tp_free, which runs while the host collects. */
static void dissolve(world *w)
{
    size_t i;

    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (o->life != ALIVE || o->p == NONE || w->p[o->p].mark)
            continue;
        if (o->link == P) {
            w->p[o->p].p_link = NONE;
            o->lost = 1;
        }
        if ((o->kind & W_LIGHT) != 0 && world_count_of(w, (int)i) == 0) {
            o->life = DYING;
        } else {
            o->p = NONE;
            if (world_count_of(w, (int)i) == 0)
                o->queued = 1;
        }
    }
}

static void see_light_ones_gone(world *w)
{
    size_t i;

    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].life == DYING && (w->ob[i].kind & W_LIGHT) != 0)
            unit_fail(__FILE__, __LINE__, "light object %u is not freed", (unsigned)i);
}

void world_major(world *w)
{
    search(w);
    dissolve(w);
    generations(w);
    w->majors++;
    host_major(w->h);
    see_light_ones_gone(w);
    note_uncollectable(w);
}

void world_minor(world *w)
{
    int again = 1, k;
    size_t i;

    for (i = 0; i < w->p_count; i++)
        w->p[i].mark = w->p[i].alive && (w->p[i].prebuilt || w->p[i].rooted || !w->p[i].young);
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].life == ALIVE && w->ob[i].p != NONE && w->ob[i].link == P
                && world_count_of(w, (int)i) != 0)
            w->p[w->ob[i].p].mark = 1;
    while (again) {
        again = 0;
        for (i = 0; i < w->p_count; i++)
            for (k = 0; k < HOST_EDGES; k++)
                if (w->p[i].alive && w->p[i].mark && w->p[i].edge[k] != NONE)
                    again |= set_to_one(&w->p[w->p[i].edge[k]].mark);
    }
    dissolve(w);
    generations(w);
    host_minor(w->h);
    see_light_ones_gone(w);
}

/* ---- what the header does to objects ---- */

/* rrc_run_pending begins, or user code has run. */
static void look(world *w, int begins)
{
    size_t i;

    note_what_waits(w);
    find_held(w);
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        o->was_held = o->alive || (o->was_held && !begins);
        o->held_throughout = o->alive && (o->held_throughout || begins);
    }
}

/* Of the garbage that is connected with object `one` by C references, not by way of what C got hold of: nothing
   is finalized before all weak references are cleared, nothing cleared before all is finalized. */
static void must_be_done(world *w, int one, int final)
{
    int again = 1, k;
    size_t i;

    if (w->ending)
        return;
    for (i = 0; i < w->ob_count; i++)
        w->ob[i].alive = (int)i == one;
    while (again) {
        again = 0;
        for (i = 0; i < w->ob_count; i++)
            for (k = 0; k < WORLD_REFS; k++) {
                int to = w->ob[i].ref[k];

                if (w->ob[i].life != ALIVE || to == NONE || !is_set_aside(&w->ob[i]) || !is_set_aside(&w->ob[to])
                    || w->ob[i].was_held || w->ob[to].was_held)
                    continue;
                if (w->ob[i].alive || w->ob[to].alive)
                    again |= set_to_one(&w->ob[i].alive) | set_to_one(&w->ob[to].alive);
            }
    }
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].alive && !w->ob[i].was_held) {
            check(!w->ob[i].weak_pending);
            check(!final || w->ob[i].waiting != W_TO_FINALIZE);
        }
}

/* An object goes, or is about to: nobody may have a reference to it. */
static world_ob *going(world *w, rrc_object *ob, int count)
{
    int i = number_of(w, ob);
    world_ob *o = &w->ob[i];

    if (w->running)
        o->queued = o->listed = 0;
    o->deferred = 0;
    check_int(o->life, ALIVE);
    check_int(world_count_of(w, i), 0);
    check_int(COUNT(ob), count);
    check_int(w->h->phase, HOST_MUTATOR);
    check(o->p == NONE);
    return o;
}

/* A slot looks at what its object owns: no p of a view is lost. */
static void see_it_whole(world *w, int i)
{
    int k;

    for (k = 0; keeps(w) && k < WORLD_REFS; k++)
        if (w->ob[i].ref[k] != NONE && w->ob[w->ob[i].ref[k]].lost)
            unit_fail(__FILE__, __LINE__, "%d owns %d, whose p has died", i, w->ob[i].ref[k]);
}

static void follow_the_will(world *w, int i)
{
    world_last_will will = w->ob[i].will;
    int k;

    w->ob[i].will = W_NOTHING;
    switch (will) {
    case W_RESURRECT:
        world_hold(w, i);
        break;
    case W_HAND_OUT:
        for (k = 0; k < WORLD_REFS; k++)
            if (w->ob[i].ref[k] != NONE)
                world_hold(w, w->ob[i].ref[k]);
        break;
    case W_CUT:
        if (w->ob[i].ref[0] != NONE)
            world_refer(w, i, 0, NONE);
        break;
    default:
        more_in_hook(w);
    }
}

static void thing_finalize(rrc_heap *heap, rrc_object *self)
{
    world *w = WORLD(heap);
    int i = number_of(w, self), before;
    world_ob *o = &w->ob[i];

    check_int(w->h->phase, HOST_MUTATOR);
    see_it_whole(w, i);
    check(!o->finalized);
    /* The queue has let go of it: what is left is the reference that holds it now. */
    if (o->deferred && COUNT(self) == world_count_of(w, i) + bias_of(o))
        o->deferred = 0;
    if (o->queued && w->running && COUNT(self) == world_count_of(w, i) + bias_of(o))
        o->queued = 0;
    if (o->listed && !w->ending) {
        check_int(COUNT(self), world_count_of(w, i) + bias_of(o) + 1);     /* held for this, and by the list */
        check_int(o->waiting, W_TO_FINALIZE);
        must_be_done(w, i, 0);
        o->waiting = W_KEPT;
    } else if (!w->ending) {
        check_int(COUNT(self), 1);
        check_int(world_count_of(w, i), 0);
    }
    o->hooked++;
    w->finals++;
    o->finalized = 1;
    before = world_count_of(w, i);
    o->in_slot = 1;
    follow_the_will(w, i);
    o = &w->ob[i];
    o->in_slot = 0;
    if (o->reached_in_slot || world_count_of(w, i) > before)
        absolve(w, i);
    o->reached_in_slot = 0;
    w->ob[i].hooked--;
    look(w, 0);
}

static void thing_clear_weakrefs(rrc_heap *heap, rrc_object *self)
{
    world *w = WORLD(heap);
    world_ob *o = &w->ob[number_of(w, self)];

    check_int(w->h->phase, HOST_MUTATOR);
    if (!w->ending) {
        check(o->weak_pending && o->listed);
    }
    o->weak_pending = 0;
}

static int thing_clear(rrc_heap *heap, rrc_object *self)
{
    world *w = WORLD(heap);
    int i = number_of(w, self), k;

    check_int(w->h->phase, HOST_MUTATOR);
    see_it_whole(w, i);
    if (w->ending) {
        find_held(w);
        check(!w->ob[i].alive);
    } else {
        note_what_waits(w);
        check(w->ob[i].listed);
        check_int(w->ob[i].waiting, W_TO_CLEAR);
        must_be_done(w, i, 1);
    }
    w->ob[i].waiting = W_CLEARED;
    for (k = 0; k < WORLD_REFS; k++) {
        clear_ref(w, i, k);
    }
    look(w, 0);
    return 0;
}

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int k;

    for (k = 0; k < WORLD_REFS; k++)
        RRC_VISIT(THING(self)->ref[k]);
    return 0;
}

static void forget(world *w, world_ob *o)
{
    o->life = ABSENT;
    o->ob = NULL;
    o->died_in = w->majors;
}

static void thing_dealloc(rrc_heap *heap, rrc_object *self)
{
    world *w = WORLD(heap);
    world_ob *o = going(w, self, 0);
    int i = number_of(w, self), k;

    see_it_whole(w, i);
    check_ptr(RRC_LINK(self), NULL);
    check(!rrc_gc_is_tracked(heap, self));
    check(!is_finalizable(o));
    o->life = DYING;
    o->tracked = 0;
    note_what_waits(w);                 /* (what went back can go now, and nobody would see then that it did) */
    more_in_hook(w);
    for (k = 0; k < WORLD_REFS; k++) {
        clear_ref(w, i, k);
    }
    forget(w, &w->ob[i]);
    look(w, 0);
    (RRC_TYPE(self)->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 ? rrc_gc_del(heap, self) : rrc_del(heap, self);
}

/* A light object goes in the mutator with count 0, or in a collection by the rule. */
static void thing_free(rrc_heap *heap, void *self)
{
    world *w = WORLD(heap);
    world_ob *o = &w->ob[number_of(w, (rrc_object *)self)];

    if (o->life == DYING || (w->ending && o->p != NONE))
        check(o->p != NONE && (o->kind & W_LIGHT) != 0);
    else
        going(w, (rrc_object *)self, 0);
    check_int(COUNT((rrc_object *)self), 0);
    check(!rrc_gc_is_tracked(heap, (rrc_object *)self));
    forget(w, o);
    (o->kind & W_GC) != 0 ? rrc_gc_del(heap, self) : rrc_del(heap, self);
}

#define GC_TYPE(name, final, weak) \
    { .tp_name = name, .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC, \
      .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear, \
      .tp_finalize = final, .tp_clear_weakrefs = weak }

static const rrc_type types[WORLD_TYPES] = {
    [W_BARE] = { .tp_name = "Bare", .tp_basicsize = sizeof(thing), .tp_dealloc = thing_dealloc },
    [W_GC] = GC_TYPE("Gc", NULL, NULL),
    [W_GC | W_FINAL] = GC_TYPE("GcFinal", thing_finalize, NULL),
    [W_GC | W_WEAK] = GC_TYPE("GcWeak", NULL, thing_clear_weakrefs),
    [W_GC | W_FINAL | W_WEAK] = GC_TYPE("GcFinalWeak", thing_finalize, thing_clear_weakrefs),
    [W_LIGHT] = { .tp_name = "Light", .tp_basicsize = sizeof(thing), .tp_free = thing_free },
    [W_GC | W_LIGHT] = { .tp_name = "GcLight", .tp_basicsize = sizeof(thing),
                         .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_free = thing_free,
                         .tp_traverse = thing_traverse, .tp_clear = thing_clear },
};

/* ---- operations ---- */

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

/* Was the failure of a call one that the test asked for? Then it may be tried again. */
static int failed_as_asked(const world *w, size_t failed_before, int code)
{
    return code == RRC_ENOMEM && w->h->failed > failed_before;
}

int world_new_p(world *w, host_kind kind)
{
    world_p p = { 1, 0, 0, 0, kind == HOST_PREBUILT, 0, { NONE, NONE, NONE }, NONE };

    p.young = !w->h->options.without_generations && (kind == HOST_YOUNG || kind == HOST_LARGE);
    w->p = (world_p *)grown(w->p, &w->p_room, w->p_count, sizeof *w->p);
    w->p[w->p_count] = p;
    check_int(host_new(w->h, kind), w->p_count);
    return (int)w->p_count++;
}

static int free_number(const world *w)
{
    size_t i;

    for (i = 0; w->reuses && i < w->ob_count; i++)
        if (w->ob[i].life == ABSENT)
            return (int)i;
    return (int)w->ob_count;
}

int world_new_ob(world *w, int kind)
{
    world_ob o;
    size_t failed;
    int i;

    memset(&o, 0, sizeof o);
    do {
        failed = w->h->failed;
        o.ob = (kind & W_GC) != 0 ? rrc_gc_new(w->h->heap, &types[kind]) : rrc_new(w->h->heap, &types[kind]);
    } while (o.ob == NULL && w->retries && w->h->failed > failed);
    if (o.ob == NULL) {
        check(w->h->failed > failed);
        return NONE;
    }
    o.life = ALIVE;
    o.kind = kind;
    o.held = 1;
    o.ref[0] = o.ref[1] = o.ref[2] = o.p = NONE;
    i = free_number(w);
    if ((size_t)i == w->ob_count) {
        w->ob = (world_ob *)grown(w->ob, &w->ob_room, w->ob_count, sizeof *w->ob);
        w->ob_count++;
    }
    w->ob[i] = o;
    THING(o.ob)->number = i;
    if ((kind & W_GC) != 0)
        world_track(w, i);
    return i;
}

int world_track(world *w, int ob)
{
    world_ob *o = &w->ob[ob];
    int code, expected = (o->kind & W_GC) == 0 ? RRC_ETYPE : o->tracked ? RRC_ETRACKED : RRC_OK;
    size_t failed;

    do {
        failed = w->h->failed;
        code = rrc_gc_track(w->h->heap, o->ob);
    } while (w->retries && failed_as_asked(w, failed, code));
    if (failed_as_asked(w, failed, code))
        return code;
    check_int(code, expected);
    if (code == RRC_OK)
        o->tracked = 1;
    else
        host_expect_log(w->h, code, "rrc_gc_track");
    return code;
}

void world_untrack(world *w, int ob)
{
    world_ob *o = &w->ob[ob];

    rrc_gc_untrack(w->h->heap, o->ob);
    absolve_at_once(w, ob);
    o->tracked = 0;
    o->waiting = W_ALIVE;
    dropped(w, ob, o->ob);
    note_uncollectable(w);
}

int world_link(world *w, link_kind link, int p, int ob)
{
    world_ob *o = &w->ob[ob];
    rrc_gcref at = host_at(w->h, (size_t)p);
    int code, expected = o->p != NONE ? RRC_ELINKED
                       : link == P && w->p[p].p_link != NONE && !is_garbage(&w->ob[w->p[p].p_link]) ? RRC_EPLINKED
                       : RRC_OK;
    size_t failed;

    do {
        failed = w->h->failed;
        code = link == P ? rrc_create_link_pypy(w->h->heap, at, o->ob)
                         : rrc_create_link_pyobj(w->h->heap, at, o->ob);
    } while (w->retries && failed_as_asked(w, failed, code));
    if (failed_as_asked(w, failed, code))
        return code;
    check_int(code, expected);
    if (code != RRC_OK) {
        host_expect_log(w->h, code, NULL);
        return code;
    }
    o->queued |= o->deferred;           /* linked, it waits in the queue */
    o->deferred = 0;
    if (o->queued && COUNT(o->ob) < world_count_of(w, ob))
        o->queued = 0;                  /* (it had left the queue, and waited again: its count was the same) */
    absolve_at_once(w, ob);
    if (o->waiting == W_CLEARED)
        o->waiting = W_ALIVE;
    o->lost = 0;
    o->p = p;
    o->link = link;
    if (link == P)
        w->p[p].p_link = ob;
    host_note_link(w->h, (size_t)p);
    REFCNT(o->ob) += bias_of(o);
    return code;
}

int world_unlink(world *w, int ob)
{
    world_ob *o = &w->ob[ob];

    if (o->p == NONE) {
        check_int(rrc_unlink(w->h->heap, o->ob), RRC_EUNLINKED);
        host_expect_log(w->h, RRC_EUNLINKED, "rrc_unlink");
        return RRC_EUNLINKED;
    }
    if (o->link == P)
        w->p[o->p].p_link = NONE;
    if ((o->kind & W_LIGHT) != 0 && world_count_of(w, ob) == 0) {
        o->life = DYING;
        check_int(rrc_unlink(w->h->heap, o->ob), RRC_OK);
        check_int(w->ob[ob].life, ABSENT);
    } else {
        o->p = NONE;
        o->queued += world_count_of(w, ob) == 0;
        check_int(rrc_unlink(w->h->heap, o->ob), RRC_OK);
        check_int(w->ob[ob].life, ALIVE);
    }
    return RRC_OK;
}

void world_root(world *w, int p, int on)
{
    w->p[p].rooted = on;
    if (on)
        host_root(w->h, (size_t)p);
    else
        host_unroot(w->h, (size_t)p);
}

void world_point(world *w, int from, int n, int to)
{
    w->p[from].edge[n] = to;
    host_point(w->h, (size_t)from, (unsigned)n, to == NONE ? HOST_NOTHING : (size_t)to);
}

void world_hold(world *w, int ob)
{
    rrc_incref(w->h->heap, w->ob[ob].ob);
    w->ob[ob].held++;
    take_hold(w, ob);
}

void world_drop(world *w, int ob)
{
    rrc_object *at = w->ob[ob].ob;

    w->ob[ob].held--;
    rrc_decref(w->h->heap, at);
    dropped(w, ob, at);
}

/* A reference of the caller's, that no operation in a hook drops. */
static void pin(world *w, int ob, int change)
{
    rrc_object *at = w->ob[ob].ob;

    w->ob[ob].hooked += change;
    if (change > 0) {
        rrc_incref(w->h->heap, at);
        take_hold(w, ob);
    } else {
        rrc_decref(w->h->heap, at);
        dropped(w, ob, at);
    }
}

void world_refer(world *w, int owner, int n, int to)
{
    thing *t = THING(w->ob[owner].ob);

    /* What goes because of this may do anything: both are held meanwhile. */
    pin(w, owner, 1);
    if (to != NONE)
        pin(w, to, 1);
    clear_ref(w, owner, n);
    if (to != NONE && t->ref[n] == NULL) {
        rrc_incref(w->h->heap, w->ob[to].ob);
        set_ref(w, owner, n, to);
        t->ref[n] = w->ob[to].ob;
        w->refilled |= w->ob[owner].waiting == W_CLEARED;
    }
    if (to != NONE)
        pin(w, to, -1);
    pin(w, owner, -1);
}

/* What rrc_dump_dot says of an object that waited: does it still wait as garbage, or for its dealloc alone? */
typedef struct drawing {
    char label[64];
    char line[1000];
    size_t size;
    int waits;
} drawing;

static void read_drawing(void *arg, const char *text, size_t size)
{
    drawing *d = (drawing *)arg;
    size_t i;

    for (i = 0; i < size; i++) {
        if (d->size < sizeof d->line - 1)
            d->line[d->size++] = text[i];
        if (text[i] != ';')
            continue;
        d->line[d->size] = '\0';
        d->size = 0;
        d->waits |= strstr(d->line, d->label) != NULL && strstr(d->line, "garbage, waits") != NULL;
    }
}

static int waits(world *w, const world_ob *o)
{
    drawing d;
    size_t fail_at = w->h->fail_at;

    memset(&d, 0, sizeof d);
    snprintf(d.label, sizeof d.label, "\\n%p\\n", (void *)o->ob);
    w->h->fail_at = 0;
    check_int(rrc_dump_dot(w->h->heap, host_insight(w->h), read_drawing, &d), RRC_OK);
    w->h->fail_at = fail_at;
    return d.waits;
}

size_t world_run(world *w, size_t max)
{
    size_t done, i;

    if (w->running || w->depth > 0) {
        check_int(rrc_run_pending(w->h->heap, max), 0);
        return 0;
    }
    w->running = 1;
    look(w, 1);
    for (i = 0; i < w->ob_count; i++)
        w->ob[i].doomed = w->ob[i].life == ALIVE && w->ob[i].listed && w->ob[i].waiting == W_TO_CLEAR;
    done = rrc_run_pending(w->h->heap, max);
    look(w, 0);
    note_uncollectable(w);
    w->running = 0;
    check(max == 0 || done <= max + w->ob_count);
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (o->life != ALIVE)
            continue;
        if (o->listed && (o->waiting == W_KEPT || o->waiting == W_CLEARED) && !waits(w, o)) {
            o->listed = 0;              /* the last reference, which the list had, was dropped when the limit was met */
            o->deferred = 1;
        }
        if (max == 0 || done < max) {
            check(!o->queued && !o->deferred && !o->listed);
            check(!o->doomed || o->absolved || w->refilled);
        }
    }
    return done;
}

int world_next_dead(world *w)
{
    rrc_object *ob = rrc_next_dead(w->h->heap);
    size_t k;
    int i;

    if (ob == NULL) {
        for (k = 0; k < w->ob_count; k++)           /* (what is being cleared is held meanwhile, but not in the queue) */
            check(w->ob[k].life != ALIVE || (w->running && w->ob[k].waiting == W_CLEARED)
                  || (!w->ob[k].queued && !w->ob[k].deferred));
        return NONE;
    }
    i = number_of(w, ob);
    check_int(w->ob[i].life, ALIVE);
    /* One that was kept, and finalized, or that was cleared, may have gone on to wait for its dealloc: its count is
       the same. */
    if (w->ob[i].listed && !w->ob[i].weak_pending
        && (w->ob[i].waiting == W_CLEARED || (w->ob[i].waiting == W_KEPT && !is_finalizable(&w->ob[i]))))
        unlist(&w->ob[i]);
    else
        check(w->ob[i].queued || w->ob[i].deferred);
    w->ob[i].queued = w->ob[i].deferred = 0;
    w->ob[i].held++;
    absolve(w, i);
    check_int(COUNT(ob), world_count_of(w, i) + bias_of(&w->ob[i]));
    return i;
}

void world_collect(world *w)
{
    world_major(w);
    world_compare(w);
    world_run(w, 0);
    world_compare(w);
}

/* ---- comparison ---- */

void world_compare(world *w)
{
    size_t links[4] = { 0, 0, 0, 0 }, objects = 0, pending = 0, tracked = 0, uncollectable = 0, i;
    rrc_stats stats;

    note_what_waits(w);
    for (i = 0; i < w->p_count; i++) {
        check_int(host_is_alive(w->h, i), w->p[i].alive);
        if (w->p[i].alive)
            check_int(host_in_nursery(w->h, i), w->p[i].young);
    }
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        objects += o->life != ABSENT;
        if (o->life != ALIVE)
            continue;
        check_int(COUNT(o->ob), world_count_of(w, (int)i) + bias_of(o));
        check_int(rrc_gc_is_tracked(w->h->heap, o->ob), o->tracked);
        check_int(rrc_gc_is_finalized(w->h->heap, o->ob), o->finalized);
        check_int(rrc_gc_is_uncollectable(w->h->heap, o->ob), o->uncollectable);
        uncollectable += (size_t)o->uncollectable;
        tracked += o->tracked != 0;
        pending += (size_t)(o->queued + o->deferred + is_set_aside(o));
        if (o->p != NONE) {
            rrc_gcref p = host_at(w->h, (size_t)o->p);

            check(w->p[o->p].alive);
            check_ptr(RRC_LINK(o->ob), p);
            if (o->link == P)
                check_ptr(rrc_from_obj(w->h->heap, p), is_garbage(o) ? NULL : o->ob);
            links[(o->link == O) + (w->p[o->p].young ? 2 : 0)]++;
        } else {
            check_ptr(rrc_to_obj(w->h->heap, o->ob), NULL);
        }
    }
    stats = host_stats(w->h);
    check_int(stats.p_old, links[P]);
    check_int(stats.o_old, links[O]);
    check_int(stats.p_young, links[P + 2]);
    check_int(stats.o_young, links[O + 2]);
    check_int(stats.tracked, tracked);
    check_int(stats.pending, pending);
    check_int(stats.objects, objects);
    check_int(stats.uncollectable, uncollectable);
    host_expect_silence(w->h);
}

/* ---- a life ---- */

world *world_open(const host_options *options)
{
    world *w = (world *)calloc(1, sizeof *w);

    if (w == NULL)
        abort();
    w->h = host_open(options);
    w->h->test = w;
    w->h->on_parted = part;
    w->stays_young = w->h->options.stays_young;
    return w;
}

/* After rrc_heap_free only that is left which C holds, or what cannot be searched,
   with all that these reach. */
static void see_the_rest(world *w)
{
    size_t i;

    find_held(w);
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        if (o->life != ALIVE)
            continue;
        o->deferred = 0;                /* nothing waits any more */
        if (!o->alive)
            unit_fail(__FILE__, __LINE__, "garbage %u is left by rrc_heap_free", (unsigned)i);
        check_int(COUNT(o->ob), world_count_of(w, (int)i));
        check_ptr(rrc_to_obj(w->h->heap, o->ob), NULL);
    }
}

void world_close(world *w)
{
    size_t i, held = 0, returned;
    int *counted = (int *)calloc(w->ob_count + 1, sizeof *counted);
    int k;

    if (counted == NULL)
        abort();
    w->in_hook = NULL;
    w->ending = w->running = 1;
    for (i = 0; i < w->ob_count; i++) {
        world_ob *o = &w->ob[i];

        counted[i] = o->life == ALIVE && (o->p != NONE || o->queued || (o->deferred && RRC_LINK(o->ob) == NULL));
        if ((o->kind & W_LIGHT) == 0 || world_count_of(w, (int)i) > 0)
            o->p = NONE;
        unlist(o);
        o->queued = o->deferred = 0;
        o->waiting = W_ALIVE;
    }
    returned = host_free_heap(w->h);
    see_the_rest(w);
    for (i = 0; i < w->ob_count; i++)
        held += counted[i] && w->ob[i].life == ALIVE;
    check_int(returned, held);
    /* Each is held once more, so that nothing goes in the middle of this. */
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].life == ALIVE)
            world_hold(w, (int)i);
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].life == ALIVE) {
            w->ob[i].will = W_NOTHING;
            for (k = 0; k < WORLD_REFS; k++)
                world_refer(w, (int)i, k, NONE);
        }
    for (i = 0; i < w->ob_count; i++)
        while (w->ob[i].life == ALIVE && w->ob[i].held > 0)
            world_drop(w, (int)i);
    for (i = 0; i < w->ob_count; i++)
        check_int(w->ob[i].life, ABSENT);
    host_end(w->h);
    free(counted);
    free(w->p);
    free(w->ob);
    free(w);
}
