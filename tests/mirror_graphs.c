/* The graphs of tests/graphs, in a closed host. What such a host cannot know is asked
 * for more gently: an object with a finalizer keeps C objects for it, but not the host
 * objects behind P links; garbage may need a few collections; and there are no
 * generations.
 *
 *     mirror graphs FILE...
 *
 * Each file is run by a program that makes steps and by one that only calls
 * rrc_gc_collect, with the host's collector at rest and under stress, then with each call
 * that writes an edge node failing in turn. */

#include "graph.h"
#include "mirror_programs.h"

#include <stdio.h>
#include <string.h>

typedef struct closed_graph {
    m_world *w;
    int has_finalizers, runs;           /* runs: does a collection run what is pending? */
} closed_graph;

static m_world *world_of(graph *g) { return ((closed_graph *)g->world)->w; }

static void make(graph *g, graph_node *n, int bits, graph_will will)
{
    m_world *w = world_of(g);
    int kind = (bits & GRAPH_LIGHT) != 0 ? M_LIGHT
               : ((bits & GRAPH_GC) != 0 ? M_GC : 0) | ((bits & GRAPH_FINAL) != 0 ? M_FINAL : 0);

    check_int(will, GRAPH_NOTHING);
    ((closed_graph *)g->world)->has_finalizers |= (kind & M_FINAL) != 0;
    if ((bits & GRAPH_OB) != 0)
        n->ob = m_new_ob(w, kind);
    if ((bits & GRAPH_UNTRACKED) != 0)
        m_track(w, n->ob, 0);
    if ((bits & GRAPH_P) == 0)
        return;
    n->p = m_new_p(w);
    m_root(w, n->p, 1);
    if (n->ob != NOBODY)
        check_int(m_link(w, n->p, n->ob, (bits & GRAPH_O) == 0), RRC_OK);
}

static int p_is_alive(graph *g, const graph_node *n) { return world_of(g)->p[n->p].at != NULL; }
static int ob_is_alive(graph *g, const graph_node *n) { return world_of(g)->ob[n->ob].ob != NULL; }
static int is_held(graph *g, const graph_node *n) { return world_of(g)->ob[n->ob].held > n->fresh; }
static int is_light(graph *g, const graph_node *n) { return (world_of(g)->ob[n->ob].kind & M_LIGHT) != 0; }

static const int *references(graph *g, const graph_node *n, int of_host, int *size)
{
    *size = of_host ? VM_EDGES : M_REFS;
    return of_host ? world_of(g)->p[n->p].edge : world_of(g)->ob[n->ob].ref;
}

static void refer(graph *g, const graph_node *n, int of_host, int place, int to)
{
    if (of_host)
        m_point(world_of(g), n->p, place, to);
    else
        m_refer(world_of(g), n->ob, place, to);
}

static void do_to(graph *g, graph_node *n, graph_deed deed)
{
    m_world *w = world_of(g);

    switch (deed) {
    case GRAPH_ROOT:
        m_root(w, n->p, 1);
        w->p[n->p].rooted = 2;          /* not just until the graph is built */
        break;
    case GRAPH_UNROOT:
        m_root(w, n->p, 0);
        break;
    case GRAPH_HOLD:
        m_hold(w, n->ob);
        break;
    case GRAPH_DROP:
        m_drop(w, n->ob);
        break;
    case GRAPH_TRACK:
    case GRAPH_UNTRACK:
        m_track(w, n->ob, deed == GRAPH_TRACK);
        break;
    case GRAPH_UNLINK:
        m_unlink(w, n->ob);
        break;
    case GRAPH_RELINK:
        n->p = m_new_p(w);
        check_int(m_link(w, n->p, n->ob, 1), RRC_OK);
        break;
    case GRAPH_LET_GO:
        if (n->p != NOBODY && w->p[n->p].rooted == 1)
            m_root(w, n->p, 0);
        if (n->ob != NOBODY)
            m_drop(w, n->ob);
    }
}

static void collect(graph *g, int and_run)
{
    m_world *w = world_of(g);

    ((closed_graph *)g->world)->runs = and_run;
    if (w->v->options.only_collects) {
        m_collect(w);
    } else {
        m_step(w);
        vm_collect(w->v);
        m_step(w);
        if (and_run)
            m_run(w, 0);
    }
    m_compare(w);
}

static void act(graph *g, graph_act what, size_t max)
{
    switch (what) {
    case GRAPH_MINOR:
        break;
    case GRAPH_MAJOR:
    case GRAPH_COLLECT:
        collect(g, what == GRAPH_COLLECT);
        break;
    case GRAPH_RUN:
        m_run(world_of(g), max);
        ((closed_graph *)g->world)->runs = 1;
    }
}

/* What is told dead may wait for its turn, and what waits to be cleared keeps what it
   owns; what is told alive only for the sake of a finalizer may be gone. */
static void check_fate(graph *g, const graph_node *n, int of_host, int alive)
{
    m_world *w = world_of(g);
    const closed_graph *c = (const closed_graph *)g->world;
    int (*is_alive)(graph *g, const graph_node *n) = of_host ? p_is_alive : ob_is_alive;
    int rounds;

    if (!alive && !c->runs)
        return;
    m_reach(w);
    for (rounds = 0; !alive && rounds < 3 && is_alive(g, n); rounds++)
        collect(g, 1);
    if (alive && !(of_host ? w->p[n->p].reached || !c->has_finalizers : w->ob[n->ob].reached))
        return;
    if (is_alive(g, n) != alive)
        graph_wrong(g, "the %s object of \"%s\" is %s", of_host ? "host" : "counted", n->name, alive ? "dead" : "alive");
}

static void check_finalized(graph *g, const graph_node *n, int finalized)
{
    m_ob *ob = &world_of(g)->ob[n->ob];
    int rounds;

    for (rounds = 0; finalized && !ob->finalized && rounds < 3; rounds++)
        collect(g, 1);
    if (ob->finalized != finalized)
        graph_wrong(g, "the finalizer of \"%s\" has %srun", n->name, finalized ? "not " : "");
}

static const graph_world closed = {
    make, p_is_alive, ob_is_alive, is_held, is_light, references, refer, do_to, act, check_fate, check_finalized,
};

/* Finalizers that do more than to run are left to the other hosts' tests; and
   rrc_gc_collect runs what is pending. */
static int is_for_us(const char *path, int only_collects)
{
    return !(only_collects && graph_has_word(path, "major")) && !graph_has_word(path, "resurrects")
           && !graph_has_word(path, "hands-out") && !graph_has_word(path, "cuts");
}

/* Returns whether an edge node was not written, as it was to be. */
static int run_file(const char *path, const vm_options *options, size_t fail_at)
{
    closed_graph c = { 0 };
    char how[80];
    size_t failed;

    c.w = m_open(options, 1);
    c.w->v->fail_mirror_at = fail_at;
    snprintf(how, sizeof how, "only collects %d, stress %d, failure %lu", options->only_collects, options->stress,
             (unsigned long)fail_at);
    graph_run(path, how, &closed, &c);
    failed = c.w->v->failed;
    m_close(c.w);
    return failed > 0;
}

static void run_graph(void)
{
    const char *path = unit_name();
    vm_options options;
    size_t n;

    for (n = 0; n < 12; n++) {
        memset(&options, 0, sizeof options);
        options.only_collects = n % 2 != 0;
        options.stress = (int)(n / 2 % 3);
        options.keeps_resurrected = n / 6 != 0;
        if (is_for_us(path, options.only_collects))
            run_file(path, &options, 0);
    }
    memset(&options, 0, sizeof options);
    for (n = 1; is_for_us(path, 0) && run_file(path, &options, n); n++)
        ;
}

int mirror_graphs(int argc, char **argv)
{
    return graph_tests(argc, argv, run_graph);
}
