/* All small graphs over both heaps of a closed host: up to three nodes of every kind,
 * with every set of edges and roots. Each lives in a heap of its own: it is mirrored,
 * collected by the host alone, let go of, and collected again.
 *
 *     mirror small [stride [first [count]]]
 *
 * Graphs have numbers. The program takes each number that is `first` plus a multiple
 * of `stride`. */

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

/* What the host and C do by themselves. */
static void live_on(m_world *w)
{
    int rounds;

    for (rounds = 0; rounds < MOST_NODES + 2; rounds++) {
        if (w->v->options.only_collects) {
            m_collect(w);
        } else {
            check_int(m_step(w), RRC_OK);
            vm_collect(w->v);
            m_run(w, 0);
        }
        m_compare(w);
    }
    m_expect_no_garbage(w);
}

static void live(const family *f, uint64_t number, uint64_t member)
{
    int p[MOST_NODES], ob[MOST_NODES], rooted[MOST_NODES], held[MOST_NODES], i, j;
    char name[80] = "";
    vm_options options;
    m_world *w;

    for (i = 0; i < f->nodes; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), " %s", f->node[i]->name);
    unit_context("mirror small 1 %lu 1:%s", (unsigned long)number, name);
    memset(&options, 0, sizeof options);
    options.only_collects = number % 3 == 0;
    options.late_finalizers = number % 5 == 0;
    options.keeps_resurrected = number % 7 < 3;
    options.stress = number % 4 == 1 ? 2 : 0;
    w = m_open(&options, number);
    for (i = 0; i < f->nodes; i++) {
        p[i] = ob[i] = NOBODY;
        if (f->node[i]->has_ob)
            ob[i] = m_new_ob(w, f->node[i]->kind);
        if (f->node[i]->has_p) {
            p[i] = m_new_p(w);
            m_root(w, p[i], 1);
        }
        if (p[i] != NOBODY && ob[i] != NOBODY)
            check_int(m_link(w, p[i], ob[i], f->node[i]->is_p), RRC_OK);
    }
    for (i = 0; i < f->nodes; i++) {
        rooted[i] = f->node[i]->has_p && take(&member, 2);
        held[i] = f->node[i]->has_ob && take(&member, 2);
        for (j = 0; j < f->nodes; j++) {
            if (can_refer(f->node[i], f->node[j]) && (i != j || f->nodes < MOST_NODES) && take(&member, 2))
                m_refer(w, ob[i], j, ob[j]);
            if (i != j && f->node[i]->has_p && f->node[j]->has_p && take(&member, 2))
                m_point(w, p[i], j, p[j]);
        }
    }
    for (i = 0; i < f->nodes; i++) {
        if (p[i] != NOBODY && !rooted[i])
            m_root(w, p[i], 0);
        if (ob[i] != NOBODY && !held[i])
            m_drop(w, ob[i]);
    }
    live_on(w);
    for (i = 0; i < f->nodes; i++) {
        if (rooted[i])
            m_root(w, p[i], 0);
        if (held[i])
            m_drop(w, ob[i]);
    }
    live_on(w);
    m_close(w);
}

int mirror_small(int argc, char **argv)
{
    uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 0) : 997, first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 0) : UINT64_MAX, base = 0, next = first, done = 0;
    int a, b, c, nodes;
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
                    for (n = members(&f); next < base + n && done < count; next += stride, done++)
                        live(&f, next, next - base);
                    base += n;
                }
    printf("%lu of %lu graphs\n", (unsigned long)done, (unsigned long)base);
    printf("%d passed, 0 failed\n", done > 0);
    return done == 0;
}
