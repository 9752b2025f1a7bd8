/* The language of tests/graphs, which README.md documents: a file is read, and a world
 * of one kind or another does what it says. Mistakes are reported with file and line. */

#ifndef GRAPH_H
#define GRAPH_H

#include "unit.h"

#include <stddef.h>

enum { GRAPH_NODES = 40, GRAPH_WORDS = 20, GRAPH_LINE = 400, GRAPH_NONE = -1 };

/* What a node is; bits to be combined. It has a host object, a counted object or both. */
enum {
    GRAPH_P = 1, GRAPH_OB = 2, GRAPH_GC = 4, GRAPH_FINAL = 8, GRAPH_WEAK = 16, GRAPH_LIGHT = 32,
    GRAPH_O = 64,                       /* their link is an O link */
    GRAPH_UNTRACKED = 128, GRAPH_YOUNG = 256
};

/* What its finalizer does. */
typedef enum graph_will { GRAPH_NOTHING, GRAPH_RESURRECT, GRAPH_HAND_OUT, GRAPH_CUT } graph_will;

typedef enum graph_deed {
    GRAPH_ROOT, GRAPH_UNROOT, GRAPH_HOLD, GRAPH_DROP, GRAPH_TRACK, GRAPH_UNTRACK, GRAPH_UNLINK, GRAPH_RELINK,
    GRAPH_LET_GO                        /* the graph is built: what the reader held it with goes */
} graph_deed;

typedef enum graph_act { GRAPH_MINOR, GRAPH_MAJOR, GRAPH_COLLECT, GRAPH_RUN } graph_act;

typedef struct graph_node {
    char name[32];
    int p, ob;                  /* numbers in the world, or GRAPH_NONE */
    int fresh;                  /* the graph is not built: the reader holds it, too */
    int told[2];                /* whether the fate of p, of ob is told since the last action */
} graph_node;

typedef struct graph {
    const char *path, *how;     /* which file, under which circumstances */
    int line;
    const struct graph_world *is;
    void *world;
    graph_node nodes[GRAPH_NODES];
    int count;
    char *words[GRAPH_WORDS];
    int word_count;
    int expectations;
} graph;

/* What a kind of world does with it. */
typedef struct graph_world {
    /* Makes the halves that the bits name, each held by the reader. */
    void (*make)(graph *g, graph_node *n, int bits, graph_will will);
    int (*p_is_alive)(graph *g, const graph_node *n);
    int (*ob_is_alive)(graph *g, const graph_node *n);
    int (*is_held)(graph *g, const graph_node *n);      /* by C, but for the reader */
    int (*is_light)(graph *g, const graph_node *n);
    /* The references of its host object, or of its counted object; and one of them is set. */
    const int *(*references)(graph *g, const graph_node *n, int of_host, int *size);
    void (*refer)(graph *g, const graph_node *n, int of_host, int place, int to);
    void (*do_to)(graph *g, graph_node *n, graph_deed deed);
    void (*act)(graph *g, graph_act what, size_t max);
    /* Is this half of the node alive, or dead? Has its finalizer run? */
    void (*check_fate)(graph *g, const graph_node *n, int of_host, int alive);
    void (*check_finalized)(graph *g, const graph_node *n, int finalized);
} graph_world;

/* Ends the test, and names the line. */
#define graph_wrong(g, ...) unit_fail((g)->path, (g)->line, __VA_ARGS__)

/* Does what a file says. */
void graph_run(const char *path, const char *how, const graph_world *is, void *world);

/* Is this word in the file, outside of comments? */
int graph_has_word(const char *path, const char *word);

/* Runs a test for each file that the arguments name: unit_name() is its path. The result is the
   exit status. */
int graph_tests(int argc, char **argv, void (*run)(void));

#endif
