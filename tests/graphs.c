/* Reads graphs over both heaps from files, does with them what they say, and sees
 * whether the fate of each node is the one they tell; and the one that the oracle of
 * world.c tells. The language is documented in README.md.
 *
 *     cycles graphs FILE...
 *
 * Each file is run with hosts that behave in different ways, then with each
 * allocation failing in turn. */

#include "world.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 40, MOST_WORDS = 20, MOST_LINE = 400 };

enum { TOLD_NOT, TOLD_ALIVE, TOLD_DEAD };

typedef struct node_of_graph {
    char name[32];
    int p, ob;                  /* NONE: it has no such half */
    int fresh;                  /* held only until the graph is built */
    int told[2];                /* the fate of p, of ob: told; an action makes the living TOLD_NOT */
} node_of_graph;

typedef struct reader {
    const char *path, *how;     /* which file, under which circumstances */
    int line;
    world *w;
    node_of_graph nodes[MOST_NODES];
    int count;
    char *words[MOST_WORDS];
    int word_count;
    int expectations;
} reader;

/* ---- errors name the file and the line ---- */

#define wrong(r, ...) unit_fail((r)->path, (r)->line, __VA_ARGS__)

static node_of_graph *find(reader *r, const char *name)
{
    int i;

    for (i = 0; i < r->count; i++)
        if (strcmp(r->nodes[i].name, name) == 0)
            return &r->nodes[i];
    wrong(r, "there is no node \"%s\"", name);
}

static int p_of(reader *r, const char *name)
{
    node_of_graph *n = find(r, name);

    if (n->p == NONE)
        wrong(r, "\"%s\" has no host object", name);
    if (!r->w->p[n->p].alive)
        wrong(r, "the host object of \"%s\" is dead", name);
    return n->p;
}

static int ob_of(reader *r, const char *name)
{
    node_of_graph *n = find(r, name);

    if (n->ob == NONE)
        wrong(r, "\"%s\" has no counted object", name);
    if (r->w->ob[n->ob].life != ALIVE)
        wrong(r, "the counted object of \"%s\" is dead", name);
    return n->ob;
}

/* ---- nodes and edges ---- */

typedef struct word_bits {
    const char *word;
    int bits;
} word_bits;

enum { HAS_P = 1 << 8, HAS_OB = 1 << 9, IS_O = 1 << 10, IS_UNTRACKED = 1 << 11, IS_YOUNG = 1 << 12 };

static int bits_of_word(reader *r, const char *word, int *will)
{
    static const word_bits known[] = {
        { "host", HAS_P }, { "gc", HAS_OB | W_GC }, { "bare", HAS_OB }, { "P", HAS_P },
        { "O", HAS_P | IS_O }, { "light", HAS_OB | W_LIGHT }, { "final", W_FINAL }, { "weak", W_WEAK },
        { "untracked", IS_UNTRACKED }, { "young", IS_YOUNG },
    };
    static const word_bits wills[] = {
        { "resurrects", W_RESURRECT }, { "hands-out", W_HAND_OUT }, { "cuts", W_CUT },
    };
    size_t i;

    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].word, word) == 0)
            return known[i].bits;
    for (i = 0; i < sizeof wills / sizeof wills[0]; i++)
        if (strcmp(wills[i].word, word) == 0) {
            *will = wills[i].bits;
            return W_FINAL;
        }
    wrong(r, "a node cannot be \"%s\"", word);
}

static void make_node(reader *r)
{
    node_of_graph *n = &r->nodes[r->count];
    int bits = 0, kind, will = W_NOTHING, i;

    if (r->word_count < 3)
        wrong(r, "node: its name and kind are missing");
    if (r->count == MOST_NODES)
        wrong(r, "more than %d nodes", MOST_NODES);
    for (i = 0; i < r->count; i++)
        if (strcmp(r->nodes[i].name, r->words[1]) == 0)
            wrong(r, "there is a node \"%s\" already", r->words[1]);
    for (i = 2; i < r->word_count; i++)
        bits |= bits_of_word(r, r->words[i], &will);
    kind = bits & (W_GC | W_FINAL | W_WEAK | W_LIGHT);
    if ((bits & (HAS_P | HAS_OB)) == 0 || ((bits & HAS_OB) == 0 && kind != 0)
            || ((kind & W_GC) == 0 && (kind & (W_FINAL | W_WEAK)) != 0))
        wrong(r, "\"%s\" must be host, gc or bare", r->words[1]);
    memset(n, 0, sizeof *n);
    snprintf(n->name, sizeof n->name, "%s", r->words[1]);
    n->p = (bits & HAS_P) != 0 ? world_new_p(r->w, (bits & IS_YOUNG) != 0 ? HOST_YOUNG : HOST_OLD) : NONE;
    n->ob = (bits & HAS_OB) != 0 ? world_new_ob(r->w, kind) : NONE;
    r->count++;
    if (n->ob == NONE)
        return;
    n->fresh = 1;
    r->w->ob[n->ob].will = (world_last_will)will;
    if ((bits & IS_UNTRACKED) != 0)
        world_untrack(r->w, n->ob);
    if (n->p != NONE)
        check_int(world_link(r->w, (bits & IS_O) != 0 ? O : P, n->p, n->ob), RRC_OK);
}

/* A place in an array of references that holds `now`. */
static int place(reader *r, const int *refs, int size, int now)
{
    int i;

    for (i = 0; i < size; i++)
        if (refs[i] == now)
            return i;
    wrong(r, now == NONE ? "\"%s\" refers to %d others already" : "\"%s\" has no such reference (of %d)",
          r->words[0], size);
}

static void make_edge(reader *r)
{
    world *w = r->w;

    if (strcmp(r->words[1], "->") == 0) {
        int from = ob_of(r, r->words[0]), to = ob_of(r, r->words[2]);

        if ((w->ob[from].kind & W_LIGHT) != 0)
            wrong(r, "\"%s\" is light, and can refer to nothing", r->words[0]);
        world_refer(w, from, place(r, w->ob[from].ref, WORLD_REFS, NONE), to);
    } else {
        int from = p_of(r, r->words[0]), to = p_of(r, r->words[2]);

        world_point(w, from, place(r, w->p[from].edge, HOST_EDGES, NONE), to);
    }
}

static void cut_edge(reader *r)
{
    world *w = r->w;

    /* The words of an edge, as if "cut" was not there. */
    memmove(r->words, r->words + 1, sizeof r->words - sizeof r->words[0]);
    if (strcmp(r->words[1], "->") == 0) {
        int from = ob_of(r, r->words[0]), to = ob_of(r, r->words[2]);

        world_refer(w, from, place(r, w->ob[from].ref, WORLD_REFS, to), NONE);
    } else {
        int from = p_of(r, r->words[0]), to = p_of(r, r->words[2]);

        world_point(w, from, place(r, w->p[from].edge, HOST_EDGES, to), NONE);
    }
}

/* ---- what C and the host do ---- */

static void root_one(reader *r, const char *name) { world_root(r->w, p_of(r, name), 1); }
static void unroot_one(reader *r, const char *name) { world_root(r->w, p_of(r, name), 0); }
static void hold_one(reader *r, const char *name) { world_hold(r->w, ob_of(r, name)); }
static void untrack_one(reader *r, const char *name) { world_untrack(r->w, ob_of(r, name)); }
static void track_one(reader *r, const char *name) { check_int(world_track(r->w, ob_of(r, name)), RRC_OK); }
static void unlink_one(reader *r, const char *name) { check_int(world_unlink(r->w, ob_of(r, name)), RRC_OK); }

static void drop_one(reader *r, const char *name)
{
    int ob = ob_of(r, name);

    if (r->w->ob[ob].held <= find(r, name)->fresh)
        wrong(r, "\"%s\" is not held", name);
    world_drop(r->w, ob);
}

static void relink_one(reader *r, const char *name)
{
    node_of_graph *n = find(r, name);

    ob_of(r, name);
    n->p = world_new_p(r->w, HOST_OLD);
    check_int(world_link(r->w, P, n->p, n->ob), RRC_OK);
}

/* The graph is built: it is left to itself. */
static void let_go_of_nodes(reader *r)
{
    int i, k;

    for (i = 0; i < r->count; i++) {
        for (k = 0; k < 2; k++)
            if (r->nodes[i].told[k] == TOLD_ALIVE)
                r->nodes[i].told[k] = TOLD_NOT;
        if (r->nodes[i].fresh) {
            r->nodes[i].fresh = 0;
            world_drop(r->w, r->nodes[i].ob);
        }
    }
}

static void act(reader *r)
{
    const char *what = r->words[0];

    let_go_of_nodes(r);
    if (strcmp(what, "minor") == 0)
        world_minor(r->w);
    else if (strcmp(what, "major") == 0)
        world_major(r->w);
    else if (strcmp(what, "collect") == 0)
        world_collect(r->w);
    else
        world_run(r->w, r->word_count > 1 ? (size_t)atoi(r->words[1]) : 0);
    world_compare(r->w);
}

/* ---- what must be so ---- */

/* "widget", or one half of it: "widget.p", "widget.ob". */
static void check_fate(reader *r, char *name, int alive)
{
    char *dot = strchr(name, '.');
    node_of_graph *n;
    int halves = 3;

    if (dot != NULL) {
        halves = strcmp(dot, ".p") == 0 ? 1 : strcmp(dot, ".ob") == 0 ? 2 : 0;
        if (halves == 0)
            wrong(r, "\"%s\": a node has the halves .p and .ob", name);
        *dot = '\0';
    }
    n = find(r, name);
    if (dot != NULL && (halves == 1 ? n->p : n->ob) == NONE)
        wrong(r, "\"%s\" has no such half", name);
    r->expectations++;
    if ((halves & 1) != 0 && n->p != NONE) {
        n->told[0] = alive ? TOLD_ALIVE : TOLD_DEAD;
        if (host_is_alive(r->w->h, (size_t)n->p) != alive)
            wrong(r, "the host object of \"%s\" is %s", name, alive ? "dead" : "alive");
    }
    if ((halves & 2) != 0 && n->ob != NONE) {
        n->told[1] = alive ? TOLD_ALIVE : TOLD_DEAD;
        if ((r->w->ob[n->ob].life == ALIVE) != alive)
            wrong(r, "the counted object of \"%s\" is %s", name, alive ? "dead" : "alive");
    }
}

static void check_alive(reader *r, const char *name) { check_fate(r, (char *)(uintptr_t)name, 1); }
static void check_dead(reader *r, const char *name) { check_fate(r, (char *)(uintptr_t)name, 0); }

static void check_finalized(reader *r, const char *name)
{
    if (!rrc_gc_is_finalized(r->w->h->heap, r->w->ob[ob_of(r, name)].ob))
        wrong(r, "the finalizer of \"%s\" has not run", name);
}

static void check_unfinalized(reader *r, const char *name)
{
    if (rrc_gc_is_finalized(r->w->h->heap, r->w->ob[ob_of(r, name)].ob))
        wrong(r, "the finalizer of \"%s\" has run", name);
}

/* ---- lines ---- */

typedef struct statement {
    const char *word;
    void (*for_each)(reader *r, const char *name);      /* of the names that follow */
    void (*whole)(reader *r);
} statement;

static const statement statements[] = {
    { "node", NULL, make_node }, { "cut", NULL, cut_edge },
    { "root", root_one, NULL }, { "unroot", unroot_one, NULL },
    { "hold", hold_one, NULL }, { "drop", drop_one, NULL },
    { "track", track_one, NULL }, { "untrack", untrack_one, NULL },
    { "unlink", unlink_one, NULL }, { "relink", relink_one, NULL },
    { "minor", NULL, act }, { "major", NULL, act }, { "collect", NULL, act }, { "run", NULL, act },
    { "alive", check_alive, NULL }, { "dead", check_dead, NULL },
    { "finalized", check_finalized, NULL }, { "unfinalized", check_unfinalized, NULL },
};

static void do_line(reader *r)
{
    size_t i;
    int k;

    if (r->word_count == 3 && (strcmp(r->words[1], "->") == 0 || strcmp(r->words[1], "=>") == 0)) {
        make_edge(r);
        return;
    }
    for (i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (strcmp(statements[i].word, r->words[0]) != 0)
            continue;
        if (statements[i].whole != NULL) {
            statements[i].whole(r);
            return;
        }
        if (r->word_count < 2)
            wrong(r, "%s: of which node?", r->words[0]);
        for (k = 1; k < r->word_count; k++)
            statements[i].for_each(r, r->words[k]);
        return;
    }
    wrong(r, "what is \"%s\"?", r->words[0]);
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

static void read_lines(reader *r, FILE *file)
{
    char line[MOST_LINE];
    int i;

    for (r->line = 1; fgets(line, sizeof line, file) != NULL; r->line++) {
        unit_context("%s:%d, %s", r->path, r->line, r->how);
        split(r, line);
        if (r->word_count > 0)
            do_line(r);
    }
    if (r->expectations == 0)
        wrong(r, "the fate of no node is told");
    for (i = 0; i < r->count; i++)
        if ((r->nodes[i].p != NONE && !r->nodes[i].told[0])
                || (r->nodes[i].ob != NONE && !r->nodes[i].told[1]))
            wrong(r, "the fate of \"%s\" in the end is not told", r->nodes[i].name);
}

/* ---- files ---- */

/* Returns whether an allocation failed, as it was to. */
static int run_file(const char *path, const char *how, const host_options *options, size_t fail_at)
{
    static reader r;
    FILE *file = fopen(path, "r");
    size_t failed;

    memset(&r, 0, sizeof r);
    r.path = path;
    r.how = how;
    if (file == NULL)
        unit_fail(path, 0, "cannot be read");
    r.w = world_open(options);
    r.w->retries = 1;
    r.w->h->fail_at = fail_at > 0 ? r.w->h->calls.allocate + fail_at : 0;
    read_lines(&r, file);
    fclose(file);
    failed = r.w->h->failed;
    world_close(r.w);
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
