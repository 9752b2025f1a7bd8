/* Random changes to a graph over both heaps of a closed host, which collects as it
 * likes, in parts or by generations, at any allocation if it is under stress; steps,
 * portions of pending work, finalizers of the host with any of these, memory that runs
 * out. What is reached must be there at any time, and in the end nothing else.
 *
 *     mirror random [seed [runs [steps]]]          and more: see random.h
 *     mirror control increfs|moves [seed [runs]]      break a rule: something must be lost */

#include "mirror_programs.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a host's finalizer keeps, and an object's after it, takes a collection each, and so does what a foreign object
   refers to whose wrapper is gone. */
enum { MOST_P = 3000, MOST_OB = 50, MOST_DEPTH = 2, MOST_ROUNDS = 12, MOST_ROUNDS_ABROAD = 100 };

typedef struct driver {
    int depth;
    int steps_rarely;
    int slices;                     /* steps are done in slices */
    int wraps;                      /* some objects are wrappers */
} driver;

static unsigned choose(m_world *w, unsigned n)
{
    return vm_pick(w->v, n);
}

/* Code comes across what it can reach. */
static int some_p(m_world *w)
{
    unsigned recent = w->p_count < 60 ? (unsigned)w->p_count : 60;
    int i, tries;

    m_reach(w);
    for (tries = 0; recent > 0 && tries < 8; tries++) {
        i = (int)w->p_count - 1 - (int)choose(w, recent);
        if (w->p[i].at != NULL && w->p[i].reached)
            return i;
    }
    return NOBODY;
}

static int some_ob(m_world *w)
{
    int i, tries;

    m_reach(w);
    for (tries = 0; w->ob_count > 0 && tries < 8; tries++) {
        i = (int)choose(w, (unsigned)w->ob_count);
        if (w->ob[i].ob != NULL && w->ob[i].reached)
            return i;
    }
    return NOBODY;
}

static int population(const m_world *w)
{
    int n = 0;
    size_t i;

    for (i = 0; i < w->ob_count; i++)
        n += w->ob[i].ob != NULL;
    return n;
}

static void make_p(m_world *w)
{
    int p, other;

    if (w->p_count == MOST_P)
        return;
    p = m_new_p(w);
    if (choose(w, 4) == 0)
        w->p[p].at->has_finalizer = 1;
    m_root(w, p, 1);
    other = some_p(w);
    if (other != NOBODY && choose(w, 3) != 0) {
        m_point(w, other, (int)choose(w, VM_EDGES), p);
        m_root(w, p, 0);
    }
}

static void make_ob(m_world *w)
{
    static const int kinds[] = { M_GC, M_GC, M_GC, M_GC, M_GC | M_FINAL, M_BARE, M_LIGHT };
    static const int wrappers[] = { M_GC | M_WRAPPER, M_GC | M_WRAPPER, M_GC | M_FINAL | M_WRAPPER, M_WRAPPER };

    if (population(w) >= MOST_OB)
        return;
    if (((driver *)w->user)->wraps && choose(w, 2) == 0)
        m_new_ob(w, wrappers[choose(w, sizeof wrappers / sizeof wrappers[0])]);
    else
        m_new_ob(w, kinds[choose(w, sizeof kinds / sizeof kinds[0])]);
}

/* A proxy, or a view: made for an object that has none. */
static void make_link(m_world *w)
{
    int ob = some_ob(w), p;

    if (ob == NOBODY || w->p_count == MOST_P)
        return;
    if (choose(w, 3) == 0) {
        p = some_p(w);
    } else {
        m_hold(w, ob);
        w->ob[ob].pins++;
        p = m_new_p(w);
        m_root(w, p, 1);
        w->ob[ob].pins--;
        m_drop(w, ob);
    }
    if (p != NOBODY && w->ob[ob].ob != NULL)
        m_link(w, p, ob, (int)choose(w, 2));
    if (p != NOBODY && choose(w, 3) != 0) {
        int other = some_p(w);

        if (other != NOBODY && other != p && w->p[p].at != NULL) {
            m_point(w, other, (int)choose(w, VM_EDGES), p);
            m_root(w, p, 0);
        }
    }
}

/* A reference that is there, to some other place. */
static void move_any(m_world *w)
{
    int from = some_ob(w), to = some_ob(w), k;

    for (k = 0; k < M_REFS && from != NOBODY && to != NOBODY; k++)
        if (w->ob[from].ref[k] != NOBODY && (w->ob[to].kind & M_LIGHT) == 0) {
            m_move(w, from, k, to, (int)choose(w, M_REFS));
            return;
        }
}

static void hold_any(m_world *w)
{
    int ob = some_ob(w);

    if (ob != NOBODY)
        m_hold(w, ob);
}

/* Somebody holds a weak object, and lets go of the host's roots. */
static void hold_weak(m_world *w)
{
    int ob = some_ob(w);
    size_t i;

    if (ob == NOBODY || RRC_REFCNT(w->ob[ob].ob) >= 0)
        return;
    m_hold(w, ob);
    for (i = 0; i < w->p_count; i++)
        if (w->p[i].at != NULL && w->p[i].rooted && choose(w, 2) == 0)
            m_root(w, (int)i, 0);
}

static int can_own(const m_world *w, int ob)
{
    return (w->ob[ob].kind & M_LIGHT) == 0;
}

/* A new object that another one owns: the view of a host object, which refers to
   what is there already, or one with fields, or both. */
static void grow(m_world *w)
{
    int owner = some_ob(w), ob, p, other, n, view = choose(w, 2) == 0;

    if (population(w) >= MOST_OB || w->p_count == MOST_P)
        return;
    ob = m_new_ob(w, view ? M_BARE : (((driver *)w->user)->wraps && choose(w, 2) == 0 ? M_GC | M_WRAPPER : M_GC)
                                     | (w->in_slot != NULL && choose(w, 2) == 0 ? M_FINAL : 0));
    if (ob == NOBODY)
        return;
    w->ob[ob].pins++;
    if (view || choose(w, 2) == 0) {
        p = m_new_p(w);
        m_root(w, p, 1);
        m_link(w, p, ob, view || choose(w, 2) == 0);
        other = some_p(w);
        if (other != NOBODY)
            m_point(w, p, 0, other);
        other = some_p(w);
        if (other != NOBODY && choose(w, 3) == 0)
            m_point(w, other, (int)choose(w, VM_EDGES), p);
        if (view || choose(w, 4) != 0)
            m_root(w, p, 0);
    }
    m_reach(w);
    n = (int)choose(w, M_REFS);
    if (owner != NOBODY && w->ob[owner].ob != NULL && w->ob[owner].reached && can_own(w, owner)
            && w->ob[owner].ref[n] == NOBODY)
        m_refer(w, owner, n, ob);
    w->ob[ob].pins--;
    if (w->ob[ob].inner > 0 || w->ob[ob].p != NOBODY || choose(w, 4) == 0)
        m_drop(w, ob);
}

static int some_f(m_world *w)
{
    int i, tries;

    m_reach(w);
    for (tries = 0; w->ob_count > 0 && tries < 16; tries++) {
        i = (int)w->ob_count - 1 - (int)choose(w, w->ob_count < 80 ? (unsigned)w->ob_count : 80);
        if (w->ob[i].f_count > 0 && w->ob[i].f_reached)
            return i;
    }
    return NOBODY;
}

/* Foreign code runs. */
static void operate_abroad(m_world *w)
{
    int a = some_f(w), b = some_f(w), n = (int)choose(w, M_REFS);

    if (a == NOBODY)
        return;
    switch (choose(w, 6)) {
    case 0:
        m_f_take(w, a);
        break;
    case 1:
    case 2:
        if (w->ob[a].f_ext > 0)
            m_f_drop(w, a);
        break;
    case 3:
        if (w->ob[a].f_ref[n] != NOBODY)
            m_f_take_out(w, a, n);
        break;
    default:
        m_f_refer(w, a, n, choose(w, 6) == 0 ? NOBODY : b);
        break;
    }
}

static void operate(m_world *w)
{
    int a = NOBODY, b = NOBODY;

    if (((driver *)w->user)->wraps && choose(w, 3) == 0)
        operate_abroad(w);

    switch (choose(w, 48)) {
    case 0:
    case 1:
        make_p(w);
        break;
    case 2:
    case 3:
        make_ob(w);
        break;
    case 4:
    case 5:
    case 6:
        make_link(w);
        break;
    case 7:
        a = some_ob(w);
        if (a != NOBODY && choose(w, 3) == 0)
            m_unlink(w, a);
        break;
    case 8:
        hold_any(w);
        break;
    case 9:
    case 10:
    case 11:
    case 12:
        a = some_ob(w);
        if (a != NOBODY && w->ob[a].held > w->ob[a].pins)
            m_drop(w, a);
        break;
    case 13:
    case 14:
    case 15:
    case 16:
        a = some_ob(w);
        b = some_ob(w);
        if (a != NOBODY && can_own(w, a))
            m_refer(w, a, (int)choose(w, M_REFS), choose(w, 8) == 0 ? NOBODY : b);
        break;
    case 17:
    case 18:
        move_any(w);
        break;
    case 19:
    case 20:
        a = some_p(w);
        if (a != NOBODY)
            m_root(w, a, !w->p[a].rooted && choose(w, 2) == 0);
        break;
    case 21:
    case 22:
        a = some_p(w);
        b = some_p(w);
        if (a != NOBODY)
            m_point(w, a, (int)choose(w, VM_EDGES), b);
        break;
    case 23:
        a = some_ob(w);
        if (a != NOBODY && (w->ob[a].kind & M_GC) != 0 && choose(w, 3) == 0)
            m_track(w, a, !w->ob[a].tracked);
        break;
    case 24:
        m_run(w, choose(w, 5));
        break;
    case 25:
        vm_collect_minor(w->v);
        break;
    case 26:
        vm_collect_slice(w->v);
        break;
    case 27:
        vm_run_finalizers(w->v);
        break;
    case 28:
    case 29:
        vm_collect(w->v);
        break;
    case 30:
    case 31:
        a = some_ob(w);
        for (b = 0; b < M_REFS && a != NOBODY; b++)
            if (w->ob[a].ob != NULL && w->ob[a].ref[b] != NOBODY && choose(w, 4) == 0)
                m_refer(w, a, b, NOBODY);
        break;
    default:
        grow(w);
        break;
    case 32:
    case 33:
    case 34:
    case 35:
        if (((driver *)w->user)->steps_rarely && choose(w, 25) != 0)
            grow(w);
        else if (((driver *)w->user)->slices)
            m_work(w, choose(w, 30));
        else if (!w->v->options.only_collects && (choose(w, 4) != 0 || rrc_closed_is_due(w->v->heap)))
            m_step(w);
        else if (choose(w, 4) == 0)
            m_collect(w);
        else if (choose(w, 4) == 0)
            vm_collect_in_order(w->v);
        break;
    }
}

static void operate_in_finalizer(m_world *w)
{
    driver *d = (driver *)w->user;

    if (d->depth >= MOST_DEPTH || choose(w, 3) == 0)
        return;
    d->depth++;
    operate(w);
    operate(w);
    d->depth--;
}

/* A finalizer brings its object back, or what this refers to. A dealloc can do the latter. */
static void operate_in_slot(m_world *w, int ob, int dies)
{
    driver *d = (driver *)w->user;
    int k = (int)choose(w, M_REFS), to = w->ob[ob].ref[k];

    if (d->depth >= MOST_DEPTH)
        return;
    d->depth++;
    switch (choose(w, dies ? 12 : 6)) {
    case 0:
        if (to != NOBODY)
            m_hold(w, to);
        break;
    case 1:
        if (to != NOBODY)
            m_take_out(w, ob, k);
        break;
    case 2:
        operate(w);
        break;
    case 3:
    case 4:
        if (!dies)
            m_hold(w, ob);
        break;
    default:
        break;
    }
    d->depth--;
}

/* All that rrc_gc_collect does, with the step before it in slices, between which the host collects. */
static void collect_in_slices(m_world *w)
{
    while (!m_work(w, 1 + choose(w, 20)))
        if (choose(w, 5) == 0)
            vm_collect(w->v);
    vm_collect(w->v);
    while (!m_work(w, 1 + choose(w, 20)))
        if (choose(w, 3) == 0)
            m_run(w, choose(w, 3));
    m_run(w, 0);
}

/* Foreign cycles without wrappers, or with such as are not searched, leak. */
static void break_cycles_abroad(m_world *w)
{
    size_t i;
    int k;

    for (i = 0; i < w->ob_count; i++)
        for (k = 0; k < M_REFS; k++)
            if (w->ob[i].f_count > 0 && w->ob[i].f_ref[k] != NOBODY
                    && !(w->ob[i].f_wrapped && (w->ob[i].kind & M_GC) != 0))
                m_f_refer(w, (int)i, k, NOBODY);
}

/* Let go of nearly everything; then nothing but the rest may be left. */
static void settle(m_world *w, int all)
{
    const driver *d = (const driver *)w->user;
    size_t i;
    int k;

    w->in_finalizer = NULL;
    w->in_slot = NULL;
    for (i = 0; i < w->ob_count; i++)
        if (w->ob[i].ob != NULL && (w->ob[i].kind & M_GC) != 0 && !w->ob[i].tracked)
            m_track(w, (int)i, 1);
    /* Objects that cannot be searched leak in cycles. */
    for (i = 0; i < w->ob_count; i++)
        for (k = 0; k < M_REFS; k++)
            if (w->ob[i].ob != NULL && (w->ob[i].kind & M_GC) == 0 && w->ob[i].ref[k] != NOBODY)
                m_refer(w, (int)i, k, NOBODY);
    for (i = 0; i < w->ob_count; i++)
        while (w->ob[i].ob != NULL && w->ob[i].held > 0 && (all || choose(w, 8) != 0))
            m_drop(w, (int)i);
    for (i = 0; i < w->ob_count; i++)
        while (w->ob[i].f_ext > 0 && (all || choose(w, 4) != 0))
            m_f_drop(w, (int)i);
    for (i = 0; i < w->p_count; i++)
        if (w->p[i].at != NULL && w->p[i].rooted && (all || choose(w, 4) != 0))
            m_root(w, (int)i, 0);
    break_cycles_abroad(w);
    if (choose(w, 2) == 0)
        vm_collect_in_order(w->v);
    for (k = 0; k < 4 || (k < (d->wraps ? MOST_ROUNDS_ABROAD : MOST_ROUNDS) && m_garbage(w) > 0); k++) {
        if (d->slices && !w->v->options.at_once)
            collect_in_slices(w);
        else
            m_collect_all(w);
        m_compare(w);
        break_cycles_abroad(w);
    }
    m_expect_no_garbage(w);
}

/* The kind of host is told by the seed. */
static size_t run(choices from, uint64_t seed, unsigned steps, int careless, int soft)
{
    vm_options options;
    driver d = { 0 };
    m_world *w;
    unsigned i;
    size_t lost;

    memset(&options, 0, sizeof options);
    options.stress = (int)(seed % 3);
    options.late_finalizers = seed / 3 % 2 != 0;
    options.keeps_resurrected = seed / 6 % 2 != 0;
    options.only_collects = careless == 0 && seed / 12 % 3 == 2;
    d.wraps = careless == 0 ? (int)(seed / 5 % 3) : 0;     /* 1: they stay rooted, 2: at once */
    options.at_once = d.wraps == 2;
    w = m_open(&options, seed);
    w->v->from = from;
    w->user = &d;
    d.steps_rarely = seed / 36 % 2 != 0;        /* many changes come between two steps */
    d.slices = seed / 2 % 5 < 3 && !options.only_collects;
    w->careless = careless;
    w->soft = soft;
    w->in_finalizer = seed % 4 != 0 ? operate_in_finalizer : NULL;
    w->in_slot = careless == 0 && seed / 7 % 3 != 0 ? operate_in_slot : NULL;
    w->has_slots = w->in_slot != NULL;
    for (i = 0; i < steps && w->lost == 0 && choices_are_left(&w->v->from); i++) {
        if (choose(w, 10) == 0) {
            w->v->fail_mirror_at = w->v->mirror_calls + 1 + choose(w, 3);
            w->v->fail_alloc_at = w->v->allocations + 1 + choose(w, 3);
        }
        if (careless != 0 && i % 40 == 0)
            rrc_closed_step(w->v->heap);
        if (careless == M_NO_TOUCHES && i % 3 == 0)
            move_any(w);
        else if (careless == M_NO_INCREFS && i % 3 == 0)
            hold_weak(w);
        else
            operate(w);
        if (d.slices && !d.steps_rarely && choose(w, 2) == 0)
            m_work(w, 1 + choose(w, 12));
        if (w->in_slot != NULL && choose(w, 4) == 0)
            m_run(w, choose(w, 3));
        w->v->fail_mirror_at = w->v->fail_alloc_at = 0;
        if (w->lost == 0)
            m_compare(w);
    }
    lost = w->lost;
    if (soft) {
        lost += w->v->logged[RRC_ETOUCH] + w->v->logged[RRC_EREFCNT];
        return lost;                    /* what is left cannot be trusted */
    }
    if (seed % 2 == 0) {
        settle(w, 0);
        settle(w, 1);
    }
    check_int(w->v->logged[RRC_ETOUCH] + w->v->logged[RRC_ECORRUPT] + w->v->logged[RRC_EHOOK]
              + w->v->logged[RRC_ETRAVERSE] + w->v->logged[RRC_EREFCNT], 0);
    m_close(w);
    return 0;
}

/* The first byte is the seed. */
static void run_bytes(const unsigned char *bytes, size_t size)
{
    run(choices_of_bytes(bytes + 1, size - 1), bytes[0], 100000, 0, 0);
}

static void run_seed(unsigned long seed, unsigned steps)
{
    run(choices_of_seed(seed), seed, steps, 0, 0);
}

static const random_runs program = { "mirror random", 600, run_seed, run_bytes };

RANDOM_PROGRAM(mirror_random, program)

#ifndef RANDOM_FUZZ

/* A rule is broken, so that something must be lost in some run. */
int mirror_control(int argc, char **argv)
{
    const char *rule = argc > 1 ? argv[1] : "";
    unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
    unsigned long runs = argc > 3 ? strtoul(argv[3], NULL, 0) : 60, i, lost = 0;
    int careless = strcmp(rule, "increfs") == 0 ? M_NO_INCREFS : strcmp(rule, "moves") == 0 ? M_NO_TOUCHES : 0;

    if (careless == 0)
        return 2;
    for (i = 0; i < runs; i++)
        lost += run(choices_of_seed(seed + i), seed + i, 2000, careless, 1) > 0;
    printf("%s: lost or found in %lu of %lu runs\n", rule, lost, runs);
    printf("%d passed, %d failed\n", lost > 0, lost == 0);
    return lost == 0;
}

#endif
