#include "graph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_NOT, TOLD_ALIVE, TOLD_DEAD };

static graph_node *find(graph *g, const char *name)
{
    int i;

    for (i = 0; i < g->count; i++)
        if (strcmp(g->nodes[i].name, name) == 0)
            return &g->nodes[i];
    graph_wrong(g, "there is no node \"%s\"", name);
}

/* The node, whose host object, or counted object, must be alive. */
static graph_node *with_p(graph *g, const char *name)
{
    graph_node *n = find(g, name);

    if (n->p == GRAPH_NONE)
        graph_wrong(g, "\"%s\" has no host object", name);
    if (!g->is->p_is_alive(g, n))
        graph_wrong(g, "the host object of \"%s\" is dead", name);
    return n;
}

static graph_node *that_counts(graph *g, const char *name)
{
    graph_node *n = find(g, name);

    if (n->ob == GRAPH_NONE)
        graph_wrong(g, "\"%s\" has no counted object", name);
    return n;
}

static graph_node *with_ob(graph *g, const char *name)
{
    graph_node *n = that_counts(g, name);

    if (!g->is->ob_is_alive(g, n))
        graph_wrong(g, "the counted object of \"%s\" is dead", name);
    return n;
}

/* ---- nodes and edges ---- */

static int bits_of_word(graph *g, const char *word, graph_will *will)
{
    static const struct {
        const char *word;
        int bits;
        graph_will will;
    } known[] = {
        { "host", GRAPH_P, GRAPH_NOTHING }, { "gc", GRAPH_OB | GRAPH_GC, GRAPH_NOTHING },
        { "bare", GRAPH_OB, GRAPH_NOTHING }, { "P", GRAPH_P, GRAPH_NOTHING },
        { "O", GRAPH_P | GRAPH_O, GRAPH_NOTHING }, { "light", GRAPH_OB | GRAPH_LIGHT, GRAPH_NOTHING },
        { "final", GRAPH_FINAL, GRAPH_NOTHING }, { "weak", GRAPH_WEAK, GRAPH_NOTHING },
        { "untracked", GRAPH_UNTRACKED, GRAPH_NOTHING }, { "young", GRAPH_YOUNG, GRAPH_NOTHING },
        { "resurrects", GRAPH_FINAL, GRAPH_RESURRECT }, { "hands-out", GRAPH_FINAL, GRAPH_HAND_OUT },
        { "cuts", GRAPH_FINAL, GRAPH_CUT },
    };
    size_t i;

    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].word, word) == 0) {
            if (known[i].will != GRAPH_NOTHING)
                *will = known[i].will;
            return known[i].bits;
        }
    graph_wrong(g, "a node cannot be \"%s\"", word);
}

static void make_node(graph *g)
{
    graph_node *n = &g->nodes[g->count];
    int bits = 0, i;
    graph_will will = GRAPH_NOTHING;

    if (g->word_count < 3)
        graph_wrong(g, "node: its name and kind are missing");
    if (g->count == GRAPH_NODES)
        graph_wrong(g, "more than %d nodes", GRAPH_NODES);
    for (i = 0; i < g->count; i++)
        if (strcmp(g->nodes[i].name, g->words[1]) == 0)
            graph_wrong(g, "there is a node \"%s\" already", g->words[1]);
    for (i = 2; i < g->word_count; i++)
        bits |= bits_of_word(g, g->words[i], &will);
    if ((bits & (GRAPH_P | GRAPH_OB)) == 0 || ((bits & GRAPH_GC) == 0 && (bits & (GRAPH_FINAL | GRAPH_WEAK)) != 0))
        graph_wrong(g, "\"%s\" must be host, gc or bare", g->words[1]);
    memset(n, 0, sizeof *n);
    snprintf(n->name, sizeof n->name, "%s", g->words[1]);
    n->p = n->ob = GRAPH_NONE;
    n->fresh = 1;
    g->is->make(g, n, bits, will);
    g->count++;
}

/* A -> B, of counted objects; A => B, of host objects; or one of these that is cut. */
static void edge(graph *g, char **words, int cut)
{
    int of_host = strcmp(words[1], "=>") == 0, size = 0, i, to, now;
    graph_node *from = (of_host ? with_p : with_ob)(g, words[0]);
    const graph_node *other = (of_host ? with_p : with_ob)(g, words[2]);
    const int *references = g->is->references(g, from, of_host, &size);

    if (!of_host && g->is->is_light(g, from))
        graph_wrong(g, "\"%s\" is light, and can refer to nothing", words[0]);
    to = of_host ? other->p : other->ob;
    now = cut ? to : GRAPH_NONE;
    for (i = 0; i < size && references[i] != now; i++)
        ;
    if (i == size)
        graph_wrong(g, cut ? "\"%s\" has no such reference (of %d)" : "\"%s\" refers to %d others already", words[0],
                    size);
    g->is->refer(g, from, of_host, i, cut ? GRAPH_NONE : to);
}

static void cut_edge(graph *g)
{
    if (g->word_count != 4)
        graph_wrong(g, "cut: which edge?");
    edge(g, g->words + 1, 1);
}

/* ---- what C and the host do ---- */

static void let_go(graph *g)
{
    int i, k;

    for (i = 0; i < g->count; i++) {
        for (k = 0; k < 2; k++)
            if (g->nodes[i].told[k] == TOLD_ALIVE)
                g->nodes[i].told[k] = TOLD_NOT;
        if (g->nodes[i].fresh) {
            g->nodes[i].fresh = 0;
            g->is->do_to(g, &g->nodes[i], GRAPH_LET_GO);
        }
    }
}

static void act(graph *g)
{
    static const char *const names[] = { "minor", "major", "collect", "run" };
    int what = GRAPH_MINOR;

    while (strcmp(names[what], g->words[0]) != 0)
        what++;
    let_go(g);
    g->is->act(g, (graph_act)what, g->word_count > 1 ? (size_t)atoi(g->words[1]) : 0);
}

static void root(graph *g, char *name) { g->is->do_to(g, with_p(g, name), GRAPH_ROOT); }
static void unroot(graph *g, char *name) { g->is->do_to(g, with_p(g, name), GRAPH_UNROOT); }
static void hold(graph *g, char *name) { g->is->do_to(g, with_ob(g, name), GRAPH_HOLD); }
static void track(graph *g, char *name) { g->is->do_to(g, with_ob(g, name), GRAPH_TRACK); }
static void untrack(graph *g, char *name) { g->is->do_to(g, with_ob(g, name), GRAPH_UNTRACK); }
static void unlink_one(graph *g, char *name) { g->is->do_to(g, with_ob(g, name), GRAPH_UNLINK); }
static void relink(graph *g, char *name) { g->is->do_to(g, with_ob(g, name), GRAPH_RELINK); }

static void drop(graph *g, char *name)
{
    graph_node *n = with_ob(g, name);

    if (!g->is->is_held(g, n))
        graph_wrong(g, "\"%s\" is not held", name);
    g->is->do_to(g, n, GRAPH_DROP);
}

/* ---- what must be so ---- */

/* "widget", or one half of it: "widget.p", "widget.ob". */
static void check_fate(graph *g, char *name, int alive)
{
    char *dot = strchr(name, '.');
    graph_node *n;
    int half;

    if (dot != NULL) {
        *dot++ = '\0';
        if (strcmp(dot, "p") != 0 && strcmp(dot, "ob") != 0)
            graph_wrong(g, "\"%s\": a node has the halves .p and .ob", name);
    }
    n = find(g, name);
    g->expectations++;
    for (half = 0; half < 2; half++) {
        if (dot != NULL && (half == 0) != (*dot == 'p'))
            continue;
        if ((half == 0 ? n->p : n->ob) != GRAPH_NONE) {
            n->told[half] = alive ? TOLD_ALIVE : TOLD_DEAD;
            g->is->check_fate(g, n, half == 0, alive);
        } else if (dot != NULL) {
            graph_wrong(g, "\"%s\" has no such half", name);
        }
    }
}

static void check_alive(graph *g, char *name) { check_fate(g, name, 1); }
static void check_dead(graph *g, char *name) { check_fate(g, name, 0); }
static void check_finalized(graph *g, char *name) { g->is->check_finalized(g, that_counts(g, name), 1); }
static void check_unfinalized(graph *g, char *name) { g->is->check_finalized(g, that_counts(g, name), 0); }

/* ---- lines ---- */

static void do_line(graph *g)
{
    static const struct {
        const char *word;
        void (*for_each)(graph *g, char *name);         /* of the names that follow */
        void (*whole)(graph *g);
    } statements[] = {
        { "node", NULL, make_node }, { "cut", NULL, cut_edge },
        { "root", root, NULL }, { "unroot", unroot, NULL }, { "hold", hold, NULL }, { "drop", drop, NULL },
        { "track", track, NULL }, { "untrack", untrack, NULL },
        { "unlink", unlink_one, NULL }, { "relink", relink, NULL },
        { "minor", NULL, act }, { "major", NULL, act }, { "collect", NULL, act }, { "run", NULL, act },
        { "alive", check_alive, NULL }, { "dead", check_dead, NULL },
        { "finalized", check_finalized, NULL }, { "unfinalized", check_unfinalized, NULL },
    };
    size_t i;
    int k;

    if (g->word_count == 3 && (strcmp(g->words[1], "->") == 0 || strcmp(g->words[1], "=>") == 0)) {
        edge(g, g->words, 0);
        return;
    }
    for (i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (strcmp(statements[i].word, g->words[0]) != 0)
            continue;
        if (statements[i].whole != NULL) {
            statements[i].whole(g);
            return;
        }
        if (g->word_count < 2)
            graph_wrong(g, "%s: of which node?", g->words[0]);
        for (k = 1; k < g->word_count; k++)
            statements[i].for_each(g, g->words[k]);
        return;
    }
    graph_wrong(g, "what is \"%s\"?", g->words[0]);
}

static void split(graph *g, char *line)
{
    g->word_count = 0;
    line[strcspn(line, "#\n")] = '\0';
    while (*line != '\0' && g->word_count < GRAPH_WORDS) {
        while (isspace((unsigned char)*line))
            *line++ = '\0';
        if (*line != '\0')
            g->words[g->word_count++] = line;
        while (*line != '\0' && !isspace((unsigned char)*line))
            line++;
    }
}

/* ---- files ---- */

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "r");

    if (file == NULL)
        unit_fail(path, 0, "cannot be read");
    return file;
}

void graph_run(const char *path, const char *how, const graph_world *is, void *world)
{
    static graph g;
    FILE *file = open_file(path);
    char line[GRAPH_LINE];
    int i;

    memset(&g, 0, sizeof g);
    g.path = path;
    g.how = how;
    g.is = is;
    g.world = world;
    for (g.line = 1; fgets(line, sizeof line, file) != NULL; g.line++) {
        unit_context("%s:%d, %s", path, g.line, how);
        split(&g, line);
        if (g.word_count > 0)
            do_line(&g);
    }
    fclose(file);
    if (g.expectations == 0)
        graph_wrong(&g, "the fate of no node is told");
    for (i = 0; i < g.count; i++)
        if ((g.nodes[i].p != GRAPH_NONE && !g.nodes[i].told[0])
                || (g.nodes[i].ob != GRAPH_NONE && !g.nodes[i].told[1]))
            graph_wrong(&g, "the fate of \"%s\" in the end is not told", g.nodes[i].name);
}

int graph_has_word(const char *path, const char *word)
{
    static graph g;
    FILE *file = open_file(path);
    char line[GRAPH_LINE];
    int found = 0, i;

    while (!found && fgets(line, sizeof line, file) != NULL) {
        split(&g, line);
        for (i = 0; i < g.word_count; i++)
            found |= strcmp(g.words[i], word) == 0;
    }
    fclose(file);
    return found;
}

int graph_tests(int argc, char **argv, void (*run)(void))
{
    unit_test *tests = (unit_test *)calloc((size_t)argc, sizeof *tests);
    unit_group group;
    const unit_group *groups[1];
    int i, result;

    if (tests == NULL)
        return 1;
    for (i = 1; i < argc; i++) {
        tests[i - 1].name = argv[i];
        tests[i - 1].run = run;
    }
    group.name = "graphs";
    group.tests = tests;
    group.count = argc > 1 ? (size_t)argc - 1 : 0;
    groups[0] = &group;
    result = unit_main(0, NULL, groups, 1);
    free(tests);
    return result;
}
