/* All small graphs over both heaps: up to three nodes of every kind, with every
 * set of edges and roots. Each is built, collected, released and collected again,
 * many in one heap; the oracle of world.c tells what must become of each node.
 *
 *     cycles small [stride [first [count [batch [settings]]]]]
 *     cycles selves [...]      the graphs of three nodes some of which refer to themselves
 *
 * Graphs have numbers. The program takes each number that is `first` plus a
 * multiple of `stride`, and puts `batch` graphs at a time into one heap, of a host
 * that behaves in one of several ways: the next two for each heap, or always the
 * one of the given number. */

#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a graph is ---- */

enum { MOST_NODES = 3 };

typedef struct node_kind {
    const char *name;
    int has_p, has_ob;
    int ob;                 /* W_ bits */
    link_kind link;         /* if it has both */
    int untracked;
} node_kind;

static const node_kind kinds[] = {
    { "host", 1, 0, 0, P, 0 },
    { "gc", 0, 1, W_GC, P, 0 },
    { "gc-P", 1, 1, W_GC | W_WEAK, P, 0 },
    { "gc-O", 1, 1, W_GC, O, 0 },
    { "final", 0, 1, W_GC | W_FINAL, P, 0 },
    { "final-P", 1, 1, W_GC | W_FINAL | W_WEAK, P, 0 },
    { "final-O", 1, 1, W_GC | W_FINAL, O, 0 },
    { "bare", 0, 1, W_BARE, P, 0 },
    { "bare-P", 1, 1, W_BARE, P, 0 },
    { "bare-O", 1, 1, W_BARE, O, 0 },
    { "untracked-P", 1, 1, W_GC, P, 1 },
    { "light-P", 1, 1, W_GC | W_LIGHT, P, 0 },
    { "light-O", 1, 1, W_LIGHT, O, 0 },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The nodes of a family of graphs, in ascending order. */
typedef struct family {
    int kind[MOST_NODES];
    int nodes;
    unsigned selves;        /* of three nodes: those that refer to themselves, bit by bit */
    uint64_t members;
} family;

static int can_refer(const node_kind *from, const node_kind *to)
{
    return from->has_ob && to->has_ob && (from->ob & W_LIGHT) == 0;
}

/* References from one node to another: bit 0 of ob to ob, bit 1 of p to p. To
   itself: only the former, and in graphs of three nodes `selves` tells. */
static unsigned edge_bits(const family *f, int from, int to)
{
    const node_kind *a = &kinds[f->kind[from]], *b = &kinds[f->kind[to]];

    if (from == to)
        return f->nodes < MOST_NODES && can_refer(a, b);
    return (unsigned)can_refer(a, b) | (unsigned)(a->has_p && b->has_p) << 1;
}

static unsigned root_bits(const family *f, int i)
{
    return (unsigned)kinds[f->kind[i]].has_ob | (unsigned)kinds[f->kind[i]].has_p << 1;
}

static unsigned choices(unsigned bits)
{
    return bits == 3 ? 4 : bits == 0 ? 1 : 2;
}

static void count_members(family *f)
{
    int i, j;

    f->members = 1;
    for (i = 0; i < f->nodes; i++) {
        f->members *= choices(root_bits(f, i));
        for (j = 0; j < f->nodes; j++)
            f->members *= choices(edge_bits(f, i, j));
    }
}

/* The next choice that the number makes among the subsets of these bits. */
static unsigned take(uint64_t *number, unsigned bits)
{
    unsigned n = choices(bits), choice = (unsigned)(*number % n);

    *number /= n;
    return n == 4 ? choice : choice * bits;
}

/* ---- building one ---- */

typedef struct built {
    int p[MOST_NODES], ob[MOST_NODES];
    unsigned roots[MOST_NODES];
    int nodes;
} built;

static void make_node(world *w, const node_kind *kind, host_kind p_kind, int *p, int *ob)
{
    *p = kind->has_p ? world_new_p(w, p_kind) : NONE;
    *ob = kind->has_ob ? world_new_ob(w, kind->ob) : NONE;
    if (kind->untracked)
        world_untrack(w, *ob);
    if (*p != NONE && *ob != NONE)
        check_int(world_link(w, kind->link, *p, *ob), RRC_OK);
}

/* The order in which nodes are made, and so searched, is another one for each number. */
static const int orders[6][MOST_NODES] = {
    { 0, 1, 2 }, { 1, 0, 2 }, { 2, 1, 0 }, { 0, 2, 1 }, { 1, 2, 0 }, { 2, 0, 1 },
};

static void build(world *w, const family *f, uint64_t number, built *g)
{
    const int *order = orders[f->nodes == 3 ? number % 6 : number % (uint64_t)f->nodes];
    host_kind p_kind = number / 6 % 2 == 0 ? HOST_OLD : HOST_YOUNG;
    int i, j;

    g->nodes = f->nodes;
    for (i = 0; i < f->nodes; i++)
        make_node(w, &kinds[f->kind[order[i]]], p_kind, &g->p[order[i]], &g->ob[order[i]]);
    for (i = 0; i < f->nodes; i++) {
        g->roots[i] = take(&number, root_bits(f, i));
        if ((g->roots[i] & 2) != 0)
            world_root(w, g->p[i], 1);
        for (j = 0; j < f->nodes; j++) {
            unsigned edges = i == j && (f->selves >> i & 1) != 0 ? 1 : take(&number, edge_bits(f, i, j));

            if ((edges & 1) != 0)
                world_refer(w, g->ob[i], j, g->ob[j]);
            if ((edges & 2) != 0)
                world_point(w, g->p[i], j, g->p[j]);
        }
    }
    for (i = 0; i < f->nodes; i++)
        if (g->ob[i] != NONE && (g->roots[i] & 1) == 0)
            world_drop(w, g->ob[i]);
}

static void release(world *w, const built *g)
{
    int i;

    for (i = 0; i < g->nodes; i++) {
        if ((g->roots[i] & 2) != 0)
            world_root(w, g->p[i], 0);
        if ((g->roots[i] & 1) != 0)
            world_drop(w, g->ob[i]);
    }
}

/* The same in words: "a: gc-P, held; b: bare, rooted; a -> b, b => a". */
static void describe(const family *f, uint64_t number, char *text, size_t size)
{
    static const char *const roots[] = { "", ", held", ", rooted", ", held, rooted" };
    static const char *const edges[] = { "", "->", "=>", "->, =>" };
    char *end = text + size;
    int i, j;

    for (i = 0; i < f->nodes; i++) {
        text += snprintf(text, (size_t)(end - text), "%c: %s%s; ", 'a' + i, kinds[f->kind[i]].name,
                         roots[take(&number, root_bits(f, i))]);
        for (j = 0; j < f->nodes; j++) {
            unsigned choice = i == j && (f->selves >> i & 1) != 0 ? 1 : take(&number, edge_bits(f, i, j));

            if (choice != 0)
                text += snprintf(text, (size_t)(end - text), "%c %s %c; ", 'a' + i, edges[choice], 'a' + j);
        }
    }
}

/* ---- a heap full of them ---- */

enum { MOST_IN_BATCH = 200, SETTINGS = 12 };

static void choose_settings(unsigned n, host_options *options)
{
    static const host_moving moving[] = { HOST_FRESH, HOST_PERMUTE, HOST_STAY };

    memset(options, 0, sizeof *options);
    options->reports_marks = (int)(n % 2 * (n % 4 == 1 ? REPORT_LINKED : REPORT_ALL));
    options->moving = moving[n % 3];
    options->eager = n / 2 % 2 != 0;
    options->without_generations = n % 6 == 5;
    options->stays_young = n % 6 == 4 ? 2 : 0;
    options->repeat_trace = n == 7;
    options->keeps = n == 6 || n == 8 || n == 11;
    options->early = n == 3 ? 1 : n == 9 || n == 5 ? 2 : 0;
}

typedef struct batch {
    const char *command;
    family families[MOST_IN_BATCH];
    uint64_t numbers[MOST_IN_BATCH], members[MOST_IN_BATCH];
    int count, room;
    long settings;              /* -1: others for each batch */
    unsigned batches;
    uint64_t first, stride, graphs;
} batch;

/* Collect until nothing is left to be done: some garbage has to be found first by
   what a finalizer or the dealloc of an object without a header lets go. */
static void settle(world *w)
{
    int rounds;

    for (rounds = 0; rounds < MOST_NODES + 1; rounds++)
        world_collect(w);
}

static void live(const batch *b, unsigned settings)
{
    built graphs[MOST_IN_BATCH];
    char text[160];
    host_options options;
    world *w;
    int i;

    describe(&b->families[0], b->members[0], text, sizeof text);
    unit_context("graphs from %lu: %s see: cycles %s %lu %lu %d 1 %u", (unsigned long)b->numbers[0],
                 text, b->command, (unsigned long)b->stride, (unsigned long)b->numbers[0], b->count, settings);
    choose_settings(settings, &options);
    w = world_open(&options);
    for (i = 0; i < b->count; i++)
        build(w, &b->families[i], b->members[i], &graphs[i]);
    world_compare(w);
    settle(w);
    for (i = 0; i < b->count; i++)
        release(w, &graphs[i]);
    settle(w);
    world_close(w);
}

/* With a host that reports marks and one that does not, unless one is asked for. */
static void finish_batch(batch *b)
{
    if (b->count == 0)
        return;
    if (b->settings >= 0) {
        live(b, (unsigned)b->settings);
    } else {
        live(b, b->batches * 2 % SETTINGS);
        live(b, b->batches * 2 % SETTINGS + 1);
    }
    b->graphs += (uint64_t)b->count;
    b->count = 0;
    b->batches++;
}

static void add(batch *b, const family *f, uint64_t number, uint64_t member)
{
    b->families[b->count] = *f;
    b->numbers[b->count] = number;
    b->members[b->count] = member;
    if (++b->count == b->room)
        finish_batch(b);
}

/* The graphs of a family have the numbers from `base` on. */
static void add_family(batch *b, const family *f, uint64_t base, uint64_t end)
{
    uint64_t number = base <= b->first ? b->first
                    : b->first + (base - b->first + b->stride - 1) / b->stride * b->stride;

    for (; number < base + f->members && number < end; number += b->stride)
        add(b, f, number, number - base);
}

/* ---- all families ---- */

static int can_all_refer_to_themselves(const family *f)
{
    int i;

    for (i = 0; i < f->nodes; i++)
        if ((f->selves >> i & 1) != 0 && !can_refer(&kinds[f->kind[i]], &kinds[f->kind[i]]))
            return 0;
    return 1;
}

/* Those with so many nodes and these selves; returns the number after the last one. */
static uint64_t each_family(batch *b, int nodes, unsigned selves, uint64_t base, uint64_t end)
{
    family f;

    memset(&f, 0, sizeof f);
    f.nodes = nodes;
    f.selves = selves;
    for (f.kind[0] = 0; f.kind[0] < KINDS; f.kind[0]++)
        for (f.kind[1] = nodes > 1 ? f.kind[0] : KINDS - 1; f.kind[1] < KINDS; f.kind[1]++)
            for (f.kind[2] = nodes > 2 ? f.kind[1] : KINDS - 1; f.kind[2] < KINDS; f.kind[2]++) {
                if (!can_all_refer_to_themselves(&f))
                    continue;
                count_members(&f);
                add_family(b, &f, base, end);
                base += f.members;
            }
    return base;
}

static uint64_t each_graph(batch *b, int with_selves, uint64_t end)
{
    uint64_t base = 0;
    unsigned selves;
    int nodes;

    if (with_selves) {
        for (selves = 1; selves < 1u << MOST_NODES; selves++)
            base = each_family(b, MOST_NODES, selves, base, end);
    } else {
        for (nodes = 1; nodes <= MOST_NODES; nodes++)
            base = each_family(b, nodes, 0, base, end);
    }
    return base;
}

static uint64_t number_of_argument(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 0) : otherwise;
}

int small_graphs(int argc, char **argv)
{
    static batch b;
    uint64_t count, all;

    b.command = argv[0];
    b.batches = 0;
    b.stride = number_of_argument(argc, argv, 1, 9973);
    b.first = number_of_argument(argc, argv, 2, 0);
    count = number_of_argument(argc, argv, 3, UINT64_MAX / b.stride / 2);
    b.room = (int)number_of_argument(argc, argv, 4, MOST_IN_BATCH);
    b.settings = (long)number_of_argument(argc, argv, 5, UINT64_MAX);
    if (b.stride == 0 || b.room < 1 || b.room > MOST_IN_BATCH || b.settings >= SETTINGS)
        return 2;
    all = each_graph(&b, strcmp(b.command, "selves") == 0, b.first + count * b.stride);
    finish_batch(&b);
    printf("%lu of %lu graphs, %d at a time\n", (unsigned long)b.graphs, (unsigned long)all, b.room);
    printf("%d passed, 0 failed\n", b.graphs > 0);
    return b.graphs == 0;
}
