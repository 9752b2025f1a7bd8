/* Random changes to a graph over both heaps, with finalizers that resurrect, weak
 * references, collections at any time (also from finalizers and deallocs), portions
 * of pending work, memory that runs out, and many kinds of host. After each step all
 * that can be seen must be what the oracle of world.c says.
 *
 *     cycles random [seed [runs [steps]]]          and more: see random.h */

#include "random.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_P = 2000, MOST_OB = 60, MOST_DEPTH = 3 };

static int some_p(world *w, choices *from)
{
    unsigned recent = w->p_count < 60 ? (unsigned)w->p_count : 60;
    int i;

    if (recent == 0)
        return NONE;
    i = (int)w->p_count - 1 - (int)pick(from, recent);
    return w->p[i].alive ? i : NONE;
}

static int some_ob(world *w, choices *from)
{
    int i;

    if (w->ob_count == 0)
        return NONE;
    i = (int)pick(from, (unsigned)w->ob_count);
    return world_is_usable(w, i) ? i : NONE;
}

/* ---- steps ---- */

/* The next allocation fails, sometimes. */
static void tighten(world *w, choices *from)
{
    w->h->fail_at = pick(from, 6) == 0 ? w->h->calls.allocate + 1 + pick(from, 3) : 0;
}

static void new_p(world *w, choices *from)
{
    static const host_kind some[] = { HOST_YOUNG, HOST_YOUNG, HOST_OLD, HOST_OLD, HOST_LARGE,
                                      HOST_LARGE_OLD, HOST_PREBUILT };
    host_kind kind = some[pick(from, sizeof some / sizeof some[0])];
    int p;

    if (w->p_count == MOST_P)
        return;
    if (kind == HOST_PREBUILT && pick(from, 8) != 0)
        kind = HOST_OLD;
    p = world_new_p(w, kind);
    if (pick(from, 4) == 0)
        world_root(w, p, 1);
}

static int population(const world *w)
{
    int n = 0;
    size_t i;

    for (i = 0; i < w->ob_count; i++)
        n += w->ob[i].life != ABSENT;
    return n;
}

static int new_ob(world *w, choices *from)
{
    static const int some[] = { W_GC, W_GC, W_GC | W_WEAK, W_GC | W_FINAL, W_GC | W_FINAL | W_WEAK,
                                W_BARE, W_LIGHT, W_GC | W_LIGHT };
    int kind = some[pick(from, sizeof some / sizeof some[0])], ob;

    if (population(w) >= MOST_OB)
        return NONE;
    tighten(w, from);
    ob = world_new_ob(w, kind);
    w->h->fail_at = 0;
    if (ob != NONE && (kind & W_FINAL) != 0)
        w->ob[ob].will = (world_last_will)pick(from, W_CUT + 1);
    return ob;
}

static void link_one(world *w, choices *from)
{
    int p = some_p(w, from), ob = some_ob(w, from);
    link_kind kind = pick(from, 3) == 0 ? O : P;

    if (p == NONE || ob == NONE)
        return;
    tighten(w, from);
    world_link(w, kind, p, ob);
    w->h->fail_at = 0;
}

/* What C does: it takes references only by way of what it holds, or of a weak or
   borrowed pointer, and so of anything that is there. */
static void refer(world *w, choices *from)
{
    int owner = some_ob(w, from), to = some_ob(w, from), n = (int)pick(from, WORLD_REFS);

    if (owner == NONE || (w->ob[owner].kind & W_LIGHT) != 0)
        return;
    if (to == NONE || pick(from, 3) == 0)
        to = NONE;
    world_refer(w, owner, n, to);
}

static void drop(world *w, choices *from)
{
    int ob = some_ob(w, from);

    if (ob != NONE && w->ob[ob].held > 0)
        world_drop(w, ob);
}

static void track(world *w, choices *from)
{
    int ob = some_ob(w, from);

    if (ob == NONE || (w->ob[ob].kind & W_GC) == 0)
        return;
    if (w->ob[ob].tracked && pick(from, 2) == 0) {
        world_untrack(w, ob);
        return;
    }
    tighten(w, from);
    world_track(w, ob);
    w->h->fail_at = 0;
}

static void switch_searches(world *w)
{
    check_int(rrc_gc_is_enabled(w->h->heap), !w->unsearched);
    check_int(w->unsearched ? rrc_gc_enable(w->h->heap) : rrc_gc_disable(w->h->heap), !w->unsearched);
    w->unsearched = !w->unsearched;
}

static void step(world *w, choices *from)
{
    int p = NONE, ob = NONE;

    switch (pick(from, 24)) {
    case 0:
    case 1:
        new_p(w, from);
        break;
    case 2:
    case 3:
    case 4:
        new_ob(w, from);
        break;
    case 5:
    case 6:
    case 7:
        link_one(w, from);
        break;
    case 8:
        ob = some_ob(w, from);
        if (ob != NONE && pick(from, 2) == 0)
            world_unlink(w, ob);
        break;
    case 9:
        ob = some_ob(w, from);
        if (ob != NONE)
            world_hold(w, ob);
        break;
    case 10:
    case 11:
    case 12:
        drop(w, from);
        break;
    case 13:
    case 14:
    case 15:
        refer(w, from);
        break;
    case 16:
        p = some_p(w, from);
        if (p != NONE)
            world_root(w, p, !w->p[p].rooted && pick(from, 3) == 0);
        break;
    case 17:
    case 18:
        p = some_p(w, from);
        if (p != NONE)
            world_point(w, p, (int)pick(from, HOST_EDGES), some_p(w, from));
        break;
    case 19:
        world_minor(w);
        break;
    case 20:
        world_major(w);
        break;
    case 21:
        world_run(w, pick(from, 5));
        break;
    case 22:
        if (pick(from, 4) == 0)
            world_next_dead(w);
        else
            world_run(w, 0);
        break;
    default:
        if (pick(from, 6) == 0)
            switch_searches(w);
        else
            track(w, from);
    }
}

static void step_in_hook(world *w)
{
    choices *from = (choices *)w->user;

    if (from->calm || from->depth >= MOST_DEPTH || pick(from, 4) != 0)
        return;
    from->depth++;
    step(w, from);
    from->depth--;
}

/* ---- a run ---- */

/* Let go of everything: but for what objects that cannot be searched hold in cycles,
   nothing may be left after some collections. */
static void let_go(world *w, choices *from)
{
    size_t i;
    int rounds;

    from->calm = 1;
    if (w->unsearched)
        switch_searches(w);
    for (i = 0; i < w->ob_count; i++) {
        w->ob[i].will = W_NOTHING;
        if (world_is_usable(w, (int)i) && (w->ob[i].kind & W_GC) != 0 && !w->ob[i].tracked)
            world_track(w, (int)i);
    }
    for (i = 0; i < w->p_count; i++)
        if (w->p[i].rooted)
            world_root(w, (int)i, 0);
    for (i = 0; i < w->ob_count; i++)
        while (w->ob[i].life == ALIVE && w->ob[i].held > 0)
            world_drop(w, (int)i);
    for (rounds = 0; rounds < 8; rounds++)
        world_collect(w);
    for (i = 0; i < w->ob_count; i++)
        check(w->ob[i].life != ALIVE || !w->ob[i].tracked || w->ob[i].inner > 0 || w->ob[i].p != NONE);
}

static void run(choices from, unsigned steps)
{
    host_options options;
    world *w;
    unsigned i;

    memset(&options, 0, sizeof options);
    options.without_generations = pick(&from, 5) == 0;
    options.stays_young = (int)pick(&from, 3);
    options.moving = (host_moving)pick(&from, HOST_STAY + 1);
    options.eager = pick(&from, 3) == 0;
    options.reuse = pick(&from, 3) == 0;
    options.hoard = !options.reuse && pick(&from, 2) == 0;
    options.repeat_trace = (int)pick(&from, 8) / 6;
    options.reports_marks = (int)pick(&from, 3);
    options.early = options.reports_marks != 0 ? (int)pick(&from, 3) : 0;
    options.keeps = (int)pick(&from, 2);
    w = world_open(&options);
    w->user = &from;
    w->reuses = 1;
    w->in_hook = pick(&from, 2) == 0 ? step_in_hook : NULL;
    for (i = 0; i < steps && choices_are_left(&from); i++) {
        step(w, &from);
        world_compare(w);
    }
    if (pick(&from, 2) == 0)
        let_go(w, &from);
    check_int(rrc_check(w->h->heap), RRC_OK);
    world_close(w);
}

static void run_bytes(const unsigned char *bytes, size_t size)
{
    run(choices_of_bytes(bytes, size), 100000);
}

static void run_seed(unsigned long seed, unsigned steps)
{
    run(choices_of_seed(seed), steps);
}

static const random_runs program = { "cycles random", 1000, run_seed, run_bytes };

RANDOM_PROGRAM(random_cycles, program)
