/* The graphs of tests/graphs in a host that the header collects with. The fate of each node
 * must be the one that the file tells; and the one that the oracle of world.c tells.
 *
 *     cycles graphs FILE...
 *
 * Each file is run with hosts that behave in different ways, then with each
 * allocation failing in turn. */

#include "graph.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

static void make(graph *g, graph_node *n, int bits, graph_will will)
{
    static const world_last_will wills[] = { W_NOTHING, W_RESURRECT, W_HAND_OUT, W_CUT };
    world *w = (world *)g->world;
    int kind = ((bits & GRAPH_GC) != 0 ? W_GC : 0) | ((bits & GRAPH_FINAL) != 0 ? W_FINAL : 0)
               | ((bits & GRAPH_WEAK) != 0 ? W_WEAK : 0) | ((bits & GRAPH_LIGHT) != 0 ? W_LIGHT : 0);

    if ((bits & GRAPH_P) != 0)
        n->p = world_new_p(w, (bits & GRAPH_YOUNG) != 0 ? HOST_YOUNG : HOST_OLD);
    if ((bits & GRAPH_OB) == 0)
        return;
    n->ob = world_new_ob(w, kind);
    w->ob[n->ob].will = wills[will];
    if ((bits & GRAPH_UNTRACKED) != 0)
        world_untrack(w, n->ob);
    if (n->p != NONE)
        check_int(world_link(w, (bits & GRAPH_O) != 0 ? O : P, n->p, n->ob), RRC_OK);
}

static int p_is_alive(graph *g, const graph_node *n) { return ((world *)g->world)->p[n->p].alive; }
static int ob_is_alive(graph *g, const graph_node *n) { return ((world *)g->world)->ob[n->ob].life == ALIVE; }
static int is_held(graph *g, const graph_node *n) { return ((world *)g->world)->ob[n->ob].held > n->fresh; }
static int is_light(graph *g, const graph_node *n) { return (((world *)g->world)->ob[n->ob].kind & W_LIGHT) != 0; }

static const int *references(graph *g, const graph_node *n, int of_host, int *size)
{
    world *w = (world *)g->world;

    *size = of_host ? HOST_EDGES : WORLD_REFS;
    return of_host ? w->p[n->p].edge : w->ob[n->ob].ref;
}

static void refer(graph *g, const graph_node *n, int of_host, int place, int to)
{
    if (of_host)
        world_point((world *)g->world, n->p, place, to);
    else
        world_refer((world *)g->world, n->ob, place, to);
}

static void do_to(graph *g, graph_node *n, graph_deed deed)
{
    world *w = (world *)g->world;

    switch (deed) {
    case GRAPH_ROOT:
    case GRAPH_UNROOT:
        world_root(w, n->p, deed == GRAPH_ROOT);
        break;
    case GRAPH_HOLD:
        world_hold(w, n->ob);
        break;
    case GRAPH_TRACK:
        check_int(world_track(w, n->ob), RRC_OK);
        break;
    case GRAPH_UNTRACK:
        world_untrack(w, n->ob);
        break;
    case GRAPH_UNLINK:
        check_int(world_unlink(w, n->ob), RRC_OK);
        break;
    case GRAPH_RELINK:
        n->p = world_new_p(w, HOST_OLD);
        check_int(world_link(w, P, n->p, n->ob), RRC_OK);
        break;
    case GRAPH_DROP:
    case GRAPH_LET_GO:
        if (n->ob != NONE)
            world_drop(w, n->ob);
    }
}

static void act(graph *g, graph_act what, size_t max)
{
    world *w = (world *)g->world;

    switch (what) {
    case GRAPH_MINOR:
        world_minor(w);
        break;
    case GRAPH_MAJOR:
        world_major(w);
        break;
    case GRAPH_COLLECT:
        world_collect(w);
        break;
    case GRAPH_RUN:
        world_run(w, max);
    }
    world_compare(w);
}

static void check_fate(graph *g, const graph_node *n, int of_host, int alive)
{
    world *w = (world *)g->world;

    if ((of_host ? host_is_alive(w->h, (size_t)n->p) : w->ob[n->ob].life == ALIVE) != alive)
        graph_wrong(g, "the %s object of \"%s\" is %s", of_host ? "host" : "counted", n->name, alive ? "dead" : "alive");
}

static void check_finalized(graph *g, const graph_node *n, int finalized)
{
    world *w = (world *)g->world;

    if (!ob_is_alive(g, n))
        graph_wrong(g, "the counted object of \"%s\" is dead", n->name);
    if (rrc_gc_is_finalized(w->h->heap, w->ob[n->ob].ob) != finalized)
        graph_wrong(g, "the finalizer of \"%s\" has %srun", n->name, finalized ? "not " : "");
}

static const graph_world searched = {
    make, p_is_alive, ob_is_alive, is_held, is_light, references, refer, do_to, act, check_fate, check_finalized,
};

/* Returns whether an allocation failed, as it was to. */
static int run_file(const char *path, const char *how, const host_options *options, size_t fail_at)
{
    world *w = world_open(options);
    size_t failed;

    w->retries = 1;
    w->h->fail_at = fail_at > 0 ? w->h->calls.allocate + fail_at : 0;
    graph_run(path, how, &searched, w);
    failed = w->h->failed;
    world_close(w);
    return failed > 0;
}

enum { SETTINGS = 24 };

static void run_graph(void)
{
    static const host_moving moving[] = { HOST_FRESH, HOST_PERMUTE, HOST_STAY };
    const char *path = unit_name();
    host_options options;
    char how[40];
    size_t fail_at;
    int n;

    for (n = 0; n < SETTINGS; n++) {
        memset(&options, 0, sizeof options);
        options.reports_marks = n % 3;
        options.moving = moving[n / 3 % 3];
        options.eager = n / 2 % 2;
        options.repeat_trace = n / 12;
        snprintf(how, sizeof how, "host %d", n);
        run_file(path, how, &options, 0);
    }
    memset(&options, 0, sizeof options);
    for (fail_at = 1, n = 1; n; fail_at++) {
        snprintf(how, sizeof how, "allocation %u fails", (unsigned)fail_at);
        n = run_file(path, how, &options, fail_at);
    }
}

int graphs(int argc, char **argv)
{
    return graph_tests(argc, argv, run_graph);
}
