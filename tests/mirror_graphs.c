/* The graphs of tests/graphs, in a closed host. What such a host cannot know is asked
 * for more gently: an object with a finalizer keeps C objects for it, but not the host
 * objects behind P links; garbage may need a few collections; and there are no
 * generations.
 *
 *     mirror graphs FILE...
 *
 * Each file is run by a program that makes steps and by one that only calls
 * rrc_gc_collect, with the host's collector at rest and under stress, then with each call
 * of the mirror hook failing in turn. */

#include "mirror_programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 40, MOST_WORDS = 20, MOST_LINE = 400 };

typedef struct node_of_graph {
    char name[32];
    int p, ob, fresh;
} node_of_graph;

typedef struct reader {
    const char *path;
    int line;
    m_world *w;
    node_of_graph nodes[MOST_NODES];
    int count;
    char *words[MOST_WORDS];
    int word_count;
    int has_finalizers, runs;           /* runs: does a collection run what is pending? */
} reader;

#define wrong(r, ...) unit_fail((r)->path, (r)->line, __VA_ARGS__)

static node_of_graph *find(reader *r, const char *name)
{
    int i;

    for (i = 0; i < r->count; i++)
        if (strcmp(r->nodes[i].name, name) == 0)
            return &r->nodes[i];
    wrong(r, "there is no node \"%s\"", name);
}

static int has_word(const reader *r, const char *word)
{
    int i;

    for (i = 2; i < r->word_count; i++)
        if (strcmp(r->words[i], word) == 0)
            return 1;
    return 0;
}

static void make_node(reader *r)
{
    node_of_graph *n = &r->nodes[r->count++];
    int kind = (has_word(r, "gc") ? M_GC : 0) | (has_word(r, "final") ? M_FINAL : 0);

    if (has_word(r, "light"))
        kind = M_LIGHT;
    snprintf(n->name, sizeof n->name, "%s", r->words[1]);
    n->p = n->ob = NOBODY;
    n->fresh = 1;
    r->has_finalizers |= (kind & M_FINAL) != 0;
    if (!has_word(r, "host"))
        n->ob = m_new_ob(r->w, kind);
    if (has_word(r, "untracked"))
        m_track(r->w, n->ob, 0);
    if (n->ob == NOBODY || has_word(r, "P") || has_word(r, "O")) {
        n->p = m_new_p(r->w);
        m_root(r->w, n->p, 1);
        if (n->ob != NOBODY)
            check_int(m_link(r->w, n->p, n->ob, has_word(r, "P")), RRC_OK);
    }
}

static int place(reader *r, const int *refs, int size, int now)
{
    int i;

    for (i = 0; i < size && refs[i] != now; i++)
        ;
    if (i == size)
        wrong(r, "there is no such place in \"%s\"", r->words[0]);
    return i;
}

/* A -> B, A => B; or the same cut. */
static void edge(reader *r, char **words, int cut)
{
    m_world *w = r->w;
    node_of_graph *a = find(r, words[0]), *b = find(r, words[2]);

    if (strcmp(words[1], "->") == 0)
        m_refer(w, a->ob, place(r, w->ob[a->ob].ref, M_REFS, cut ? b->ob : NOBODY), cut ? NOBODY : b->ob);
    else
        m_point(w, a->p, place(r, w->p[a->p].edge, VM_EDGES, cut ? b->p : NOBODY), cut ? NOBODY : b->p);
}

static void let_go_of_nodes(reader *r)
{
    int i;

    for (i = 0; i < r->count; i++)
        if (r->nodes[i].fresh) {
            r->nodes[i].fresh = 0;
            if (r->nodes[i].p != NOBODY && r->w->p[r->nodes[i].p].rooted == 1)
                m_root(r->w, r->nodes[i].p, 0);
            if (r->nodes[i].ob != NOBODY)
                m_drop(r->w, r->nodes[i].ob);
        }
}

static void collect(reader *r, int and_run)
{
    let_go_of_nodes(r);
    r->runs = and_run;
    if (r->w->v->options.only_collects) {
        m_collect(r->w);
    } else {
        m_step(r->w);
        vm_collect(r->w->v);
        m_step(r->w);
        if (and_run)
            m_run(r->w, 0);
    }
    m_compare(r->w);
}

/* Is a half of the node there? What is told dead may wait for its turn, and what waits
   to be cleared keeps what it owns; what is told alive only for the sake of a
   finalizer may be gone. */
static void check_fate(reader *r, char *name, int alive)
{
    char *dot = strchr(name, '.');
    int halves = dot == NULL ? 3 : strcmp(dot, ".p") == 0 ? 1 : 2, rounds;
    node_of_graph *n;

    if (dot != NULL)
        *dot = '\0';
    n = find(r, name);
    if (!alive && !r->runs)
        return;
    m_reach(r->w);
    for (rounds = 0; !alive && rounds < 3; rounds++)
        if (((halves & 1) != 0 && n->p != NOBODY && r->w->p[n->p].at != NULL)
            || ((halves & 2) != 0 && n->ob != NOBODY && r->w->ob[n->ob].ob != NULL))
            collect(r, 1);
    if ((halves & 1) != 0 && n->p != NOBODY && (!alive || r->w->p[n->p].reached || !r->has_finalizers)
            && (r->w->p[n->p].at != NULL) != alive)
        wrong(r, "the host object of \"%s\" is %s", name, alive ? "dead" : "alive");
    if ((halves & 2) != 0 && n->ob != NOBODY && (!alive || r->w->ob[n->ob].reached)
            && (r->w->ob[n->ob].ob != NULL) != alive)
        wrong(r, "the counted object of \"%s\" is %s", name, alive ? "dead" : "alive");
}

static void do_names(reader *r)
{
    const char *what = r->words[0];
    int i;

    for (i = 1; i < r->word_count; i++) {
        node_of_graph *n;

        if (strcmp(what, "alive") == 0 || strcmp(what, "dead") == 0) {
            check_fate(r, r->words[i], what[0] == 'a');
            continue;
        }
        n = find(r, r->words[i]);
        if (strstr(what, "finalized") != NULL) {
            int rounds;

            for (rounds = 0; what[0] == 'f' && !r->w->ob[n->ob].finalized && rounds < 3; rounds++)
                collect(r, 1);
            if (r->w->ob[n->ob].finalized != (what[0] == 'f'))
                wrong(r, "the finalizer of \"%s\" has %srun", n->name, what[0] == 'f' ? "not " : "");
            continue;
        }
        if (strstr(what, "root") == NULL && r->w->ob[n->ob].ob == NULL)
            wrong(r, "the counted object of \"%s\" is dead", n->name);
        if (strcmp(what, "root") == 0) {
            m_root(r->w, n->p, 1);
            r->w->p[n->p].rooted = 2;       /* not just until the graph is built */
        } else if (strcmp(what, "unroot") == 0) {
            m_root(r->w, n->p, 0);
        } else if (strcmp(what, "hold") == 0) {
            m_hold(r->w, n->ob);
        } else if (strcmp(what, "drop") == 0) {
            m_drop(r->w, n->ob);
        } else if (strcmp(what, "track") == 0 || strcmp(what, "untrack") == 0) {
            m_track(r->w, n->ob, what[0] == 't');
        } else if (strcmp(what, "unlink") == 0) {
            m_unlink(r->w, n->ob);
        } else if (strcmp(what, "relink") == 0) {
            n->p = m_new_p(r->w);
            check_int(m_link(r->w, n->p, n->ob, 1), RRC_OK);
        }
    }
}

/* Finalizers that do more than to run are left to the other hosts' tests; and
   rrc_gc_collect runs what is pending. */
static int is_for_us(const char *text, int only_collects)
{
    return !(only_collects && strstr(text, "\nmajor") != NULL) && strstr(text, "resurrects") == NULL && strstr(text, "hands-out") == NULL && strstr(text, "cuts") == NULL;
}

static void do_line(reader *r)
{
    if (r->word_count == 3 && (strcmp(r->words[1], "->") == 0 || strcmp(r->words[1], "=>") == 0))
        edge(r, r->words, 0);
    else if (strcmp(r->words[0], "cut") == 0)
        edge(r, r->words + 1, 1);
    else if (strcmp(r->words[0], "node") == 0)
        make_node(r);
    else if (strcmp(r->words[0], "collect") == 0)
        collect(r, 1);
    else if (strcmp(r->words[0], "major") == 0)
        collect(r, 0);
    else if (strcmp(r->words[0], "minor") == 0)
        let_go_of_nodes(r);
    else if (strcmp(r->words[0], "run") == 0)
        m_run(r->w, r->word_count > 1 ? (size_t)atoi(r->words[1]) : 0), r->runs = 1;
    else
        do_names(r);
}

static void split(reader *r, char *line)
{
    r->word_count = 0;
    line[strcspn(line, "#\n")] = '\0';
    while (*line != '\0' && r->word_count < MOST_WORDS) {
        while (isspace((unsigned char)*line))
            *line++ = '\0';
        if (*line != '\0')
            r->words[r->word_count++] = line;
        while (*line != '\0' && !isspace((unsigned char)*line))
            line++;
    }
}

/* Returns whether a call of the mirror hook failed, as it was to. */
static int run_file(const char *path, const vm_options *options, size_t fail_at)
{
    static char text[20000];
    static reader r;
    FILE *file = fopen(path, "r");
    char line[MOST_LINE];
    size_t failed, size;

    memset(&r, 0, sizeof r);
    r.path = path;
    if (file == NULL)
        unit_fail(path, 0, "cannot be read");
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    rewind(file);
    r.w = m_open(options, 1);
    r.w->v->fail_mirror_at = fail_at;
    for (r.line = 1; is_for_us(text, options->only_collects) && fgets(line, sizeof line, file) != NULL; r.line++) {
        unit_context("%s:%d, only collects %d, stress %d, failure %lu", path, r.line, options->only_collects,
                     options->stress, (unsigned long)fail_at);
        split(&r, line);
        if (r.word_count > 0)
            do_line(&r);
    }
    fclose(file);
    failed = r.w->v->failed;
    m_close(r.w);
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
        run_file(path, &options, 0);
    }
    memset(&options, 0, sizeof options);
    for (n = 1; run_file(path, &options, n); n++)
        ;
}

int mirror_graphs(int argc, char **argv)
{
    unit_test *tests = (unit_test *)calloc((size_t)argc, sizeof *tests);
    unit_group group;
    const unit_group *groups[1];
    int i, result;

    if (tests == NULL)
        return 1;
    for (i = 1; i < argc; i++) {
        tests[i - 1].name = argv[i];
        tests[i - 1].run = run_graph;
    }
    group.name = "graphs";
    group.tests = tests;
    group.count = argc > 1 ? (size_t)argc - 1 : 0;
    groups[0] = &group;
    result = unit_main(0, NULL, groups, 1);
    free(tests);
    return result;
}
