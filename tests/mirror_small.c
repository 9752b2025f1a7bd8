/* All small graphs over both heaps of a closed host: up to three nodes of every kind,
 * with every set of edges and roots. Each lives in a heap of its own: it is mirrored,
 * collected by the host alone, let go of, and collected again.
 *
 *     mirror small [stride [first [count]]]
 *     mirror slices [stride [first [count]]]
 *
 * Graphs have numbers. The program takes each number that is `first` plus a multiple
 * of `stride`. The second form does the steps in slices of one unit, and changes the graph
 * once: with each change that the mutator can make, between every two slices. */

#include "mirror_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 3 };

typedef struct node_kind {
    const char *name;
    int has_p, has_ob, kind, is_p, untracked;
} node_kind;

static const node_kind kinds[] = {
    { "host", 1, 0, 0, 0, 0 },
    { "gc", 0, 1, M_GC, 0, 0 },
    { "gc-P", 1, 1, M_GC, 1, 0 },
    { "gc-O", 1, 1, M_GC, 0, 0 },
    { "final", 0, 1, M_GC | M_FINAL, 0, 0 },
    { "final-O", 1, 1, M_GC | M_FINAL, 0, 0 },
    { "bare", 0, 1, M_BARE, 0, 0 },
    { "bare-P", 1, 1, M_BARE, 1, 0 },
    { "bare-O", 1, 1, M_BARE, 0, 0 },
    { "light-P", 1, 1, M_LIGHT, 1, 0 },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct family {
    const node_kind *node[MOST_NODES];
    int nodes;
} family;

/* Objects that cannot be searched own nothing here: what they own leaks in cycles. */
static int can_refer(const node_kind *from, const node_kind *to)
{
    return from->has_ob && to->has_ob && (from->kind & M_GC) != 0;
}

/* One of n choices that the number makes. */
static unsigned take(uint64_t *number, unsigned n)
{
    unsigned choice = (unsigned)(*number % n);

    *number /= n;
    return choice;
}

static uint64_t members(const family *f)
{
    uint64_t n = 1;
    int i, j;

    for (i = 0; i < f->nodes; i++) {
        n *= (f->node[i]->has_p ? 2u : 1u) * (f->node[i]->has_ob ? 2u : 1u);
        for (j = 0; j < f->nodes; j++) {
            n *= can_refer(f->node[i], f->node[j]) && (i != j || f->nodes < MOST_NODES) ? 2 : 1;
            n *= i != j && f->node[i]->has_p && f->node[j]->has_p ? 2 : 1;
        }
    }
    return n;
}

/* What the host and C do by themselves. Finalizers of both sides that take turns need more rounds. */
static void live_on(m_world *w, int most_rounds)
{
    int rounds;

    for (rounds = 0; rounds < MOST_NODES + 2 || (rounds < most_rounds && m_garbage(w) > 0); rounds++) {
        if (w->v->options.only_collects) {
            m_collect_all(w);
        } else {
            check_int(m_step(w), RRC_OK);
            vm_collect(w->v);
            m_run(w, 0);
        }
        m_compare(w);
    }
    m_expect_no_garbage(w);
}

typedef struct scene {
    const family *f;
    m_world *w;
    int p[MOST_NODES], ob[MOST_NODES], rooted[MOST_NODES], held[MOST_NODES];
    int other;                  /* in slices: an object that C holds, and to which no other refers */
} scene;

static void build(scene *s, const family *f, uint64_t number, uint64_t member, const vm_options *options)
{
    m_world *w = m_open(options, number);
    int i, j;

    s->f = f;
    s->w = w;
    for (i = 0; i < f->nodes; i++) {
        s->p[i] = s->ob[i] = NOBODY;
        if (f->node[i]->has_ob)
            s->ob[i] = m_new_ob(w, f->node[i]->kind);
        if (f->node[i]->has_p) {
            s->p[i] = m_new_p(w);
            m_root(w, s->p[i], 1);
        }
        if (s->p[i] != NOBODY && s->ob[i] != NOBODY)
            check_int(m_link(w, s->p[i], s->ob[i], f->node[i]->is_p), RRC_OK);
    }
    for (i = 0; i < f->nodes; i++) {
        s->rooted[i] = f->node[i]->has_p && take(&member, 2);
        s->held[i] = f->node[i]->has_ob && take(&member, 2);
        for (j = 0; j < f->nodes; j++) {
            if (can_refer(f->node[i], f->node[j]) && (i != j || f->nodes < MOST_NODES) && take(&member, 2))
                m_refer(w, s->ob[i], j, s->ob[j]);
            if (i != j && f->node[i]->has_p && f->node[j]->has_p && take(&member, 2))
                m_point(w, s->p[i], j, s->p[j]);
        }
    }
}

static void let_go_of_others(scene *s)
{
    int i;

    for (i = 0; i < s->f->nodes; i++) {
        if (s->p[i] != NOBODY && !s->rooted[i])
            m_root(s->w, s->p[i], 0);
        if (s->ob[i] != NOBODY && !s->held[i])
            m_drop(s->w, s->ob[i]);
    }
}

static void let_go_of_all(scene *s)
{
    m_world *w = s->w;
    size_t i;

    for (i = 0; i < w->p_count; i++)
        if (w->p[i].at != NULL && w->p[i].rooted)
            m_root(w, (int)i, 0);
    for (i = 0; i < w->ob_count; i++)
        while (w->ob[i].ob != NULL && w->ob[i].held > 0)
            m_drop(w, (int)i);
}

static void live(const family *f, uint64_t number, uint64_t member)
{
    vm_options options;
    scene s;

    memset(&options, 0, sizeof options);
    options.only_collects = number % 3 == 0;
    options.late_finalizers = number % 5 == 0;
    options.keeps_resurrected = number % 7 < 3;
    options.stress = number % 4 == 1 ? 2 : 0;
    build(&s, f, number, member, &options);
    let_go_of_others(&s);
    live_on(s.w, 0);
    let_go_of_all(&s);
    live_on(s.w, 0);
    m_close(s.w);
}

/* ---- a change between two slices ---- */

enum { HOLD, DROP, BLINK, REFER, CLEAR, MOVE, MOVE_OUT, UNLINK, LINK_P, LINK_O, ROOT, POINT, TRACK, COLLECT, RUN,
       STEP, GC, DISABLE, CHANGES };

static const char *const change_names[CHANGES] = {
    "hold", "drop", "hold and drop", "refer", "clear", "move", "move out", "unlink", "link P", "link O", "root", "point", "track",
    "collect", "run pending", "step", "rrc_gc_collect", "rrc_gc_disable"
};

static int is_there(const scene *s, int ob) { return ob != NOBODY && s->w->ob[ob].ob != NULL && s->w->ob[ob].reached; }

/* Change node a, in a way that concerns node b. Returns 0 if the mutator cannot do that. */
static int change(scene *s, int what, int a, int b)
{
    m_world *w = s->w;
    const family *f = s->f;
    int ob = s->ob[a], p = s->p[a], q = s->p[b], fresh;

    m_reach(w);
    if (what < ROOT ? !is_there(s, ob) : what < TRACK && (p == NOBODY || w->p[p].at == NULL || !w->p[p].reached))
        return 0;
    switch (what) {
    case HOLD:
        m_hold(w, ob);
        return a == b;
    case DROP:
        if (a != b || w->ob[ob].held == 0)
            return 0;
        m_drop(w, ob);
        return 1;
    case BLINK:                         /* C takes a reference, and drops all that it has */
        m_hold(w, ob);
        while (w->ob[ob].ob != NULL && w->ob[ob].held > 0)
            m_drop(w, ob);
        return a == b;
    case REFER:
        if (!can_refer(f->node[a], f->node[b]) || !is_there(s, s->ob[b]))
            return 0;
        m_refer(w, ob, b, s->ob[b]);
        return 1;
    case CLEAR:
        if (w->ob[ob].ref[b] == NOBODY)
            return 0;
        m_refer(w, ob, b, NOBODY);
        return 1;
    case MOVE:
        if (w->ob[ob].ref[b] == NOBODY || !is_there(s, s->ob[b]) || (f->node[b]->kind & M_GC) == 0)
            return 0;
        m_move(w, ob, b, s->ob[b], a);
        return 1;
    case MOVE_OUT:
        if (w->ob[ob].ref[b] == NOBODY)
            return 0;
        m_move(w, ob, b, s->other, b);
        return 1;
    case UNLINK:
        if (a != b || w->ob[ob].p == NOBODY)
            return 0;
        m_unlink(w, ob);
        return 1;
    case LINK_P:
    case LINK_O:
        if (a != b || w->ob[ob].p != NOBODY)
            return 0;
        fresh = m_new_p(w);
        m_root(w, fresh, 1);
        m_link(w, fresh, ob, what == LINK_P);
        return 1;
    case ROOT:
        m_root(w, p, !w->p[p].rooted);
        return a == b;
    case POINT:
        if (a == b || q == NOBODY || w->p[q].at == NULL || !w->p[q].reached)
            return 0;
        m_point(w, p, b, w->p[p].edge[b] == q ? NOBODY : q);
        return 1;
    case TRACK:
        if (a != b || !is_there(s, ob) || (f->node[a]->kind & M_GC) == 0)
            return 0;
        m_track(w, ob, !w->ob[ob].tracked);
        return 1;
    case COLLECT:
        vm_collect(w->v);
        return a == 0 && b == 0;
    case STEP:
        m_step(w);
        return a == 0 && b == 0;
    case GC:
        m_collect(w);
        return a == 0 && b == 0;
    case DISABLE:
        rrc_gc_disable(w->v->heap);
        m_work(w, 1);
        rrc_gc_enable(w->v->heap);
        return a == 0 && b == 0;
    default:
        m_run(w, 1);
        return a == 0 && b == 0;
    }
}

/* C takes references to all that can be reached, and the host's roots go. */
static void hold_instead(scene *s)
{
    m_world *w = s->w;
    int i;

    m_reach(w);
    for (i = 0; i < s->f->nodes; i++)
        if (is_there(s, s->ob[i]))
            m_hold(w, s->ob[i]);
    for (i = 0; i < s->f->nodes; i++)
        if (s->p[i] != NOBODY && w->p[s->p[i]].at != NULL && w->p[s->p[i]].rooted)
            m_root(w, s->p[i], 0);
    vm_collect(w->v);
    m_compare(w);
}

/* Returns 0 if the step has ended before this slice. */
static int live_in_slices(const family *f, uint64_t number, uint64_t member, int what, int a, int b, int slices)
{
    vm_options options;
    scene s;
    int i, is_open = 1, changed;

    memset(&options, 0, sizeof options);
    options.late_finalizers = number % 5 == 0;
    options.keeps_resurrected = number % 7 < 3;
    options.stress = number % 4 == 1 ? 2 : 0;
    unit_context("mirror slices 1 %lu 1: %s %s, %d %d, after slice %d", (unsigned long)number,
                 f->node[0]->name, change_names[what], a, b, slices);
    build(&s, f, number, member, &options);
    s.other = m_new_ob(s.w, M_GC);
    if (number % 2 == 0)
        m_step(s.w);
    let_go_of_others(&s);
    if (what == TRACK && number % 8 < 4 && s.ob[a] != NOBODY && s.w->ob[s.ob[a]].ob != NULL && s.w->ob[s.ob[a]].tracked)
        m_track(s.w, s.ob[a], 0);       /* it is tracked between the slices */
    for (i = 0; i < slices && is_open; i++)
        is_open = !m_work(s.w, 1);
    changed = is_open && change(&s, what, a, b);
    if (changed) {
        if (number % 3 == 0)
            vm_collect(s.w->v);
        m_compare(s.w);
        while (!m_work(s.w, 1))
            ;
        vm_collect(s.w->v);
        m_compare(s.w);
        if (number % 4 < 2)
            hold_instead(&s);
    }
    for (i = 0; i < f->nodes; i++)
        if (s.ob[i] != NOBODY && s.w->ob[s.ob[i]].ob != NULL && (f->node[i]->kind & M_GC) != 0
            && !s.w->ob[s.ob[i]].tracked)
            m_track(s.w, s.ob[i], 1);
    live_on(s.w, 12);
    let_go_of_all(&s);
    live_on(s.w, 12);
    m_close(s.w);
    return changed ? 1 : is_open ? -1 : 0;
}

static unsigned long all_changes;

static void live_with_each_change(const family *f, uint64_t number, uint64_t member)
{
    int what, a, b, slices, result;

    for (what = 0; what < CHANGES; what++)
        for (a = 0; a < f->nodes; a++)
            for (b = 0; b < f->nodes; b++)
                for (slices = 0; (result = live_in_slices(f, number, member, what, a, b, slices)) > 0; slices++)
                    all_changes++;
}

static int small(int argc, char **argv, void (*run)(const family *f, uint64_t number, uint64_t member),
                 const char *program)
{
    uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 0) : 997, first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 0) : UINT64_MAX, base = 0, next = first, done = 0;
    int a, b, c, i, nodes;
    family f;

    for (nodes = 1; nodes <= MOST_NODES; nodes++)
        for (a = 0; a < KINDS; a++)
            for (b = nodes > 1 ? a : KINDS - 1; b < KINDS; b++)
                for (c = nodes > 2 ? b : KINDS - 1; c < KINDS; c++) {
                    uint64_t n;

                    f.nodes = nodes;
                    f.node[0] = &kinds[a];
                    f.node[1] = &kinds[b];
                    f.node[2] = &kinds[c];
                    for (n = members(&f); next < base + n && done < count; next += stride, done++) {
                        char name[80] = "";

                        for (i = 0; i < nodes; i++)
                            snprintf(name + strlen(name), sizeof name - strlen(name), " %s", f.node[i]->name);
                        unit_context("mirror %s 1 %lu 1:%s", program, (unsigned long)next, name);
                        run(&f, next, next - base);
                    }
                    base += n;
                }
    printf("%lu of %lu graphs\n", (unsigned long)done, (unsigned long)base);
    return done == 0;
}

int mirror_small(int argc, char **argv)
{
    int failed = small(argc, argv, live, "small");

    printf("%d passed, 0 failed\n", !failed);
    return failed;
}

int mirror_slices(int argc, char **argv)
{
    int failed = small(argc, argv, live_with_each_change, "slices") || all_changes == 0;

    printf("%lu changes\n", all_changes);
    printf("%d passed, %d failed\n", !failed, failed);
    return failed;
}
