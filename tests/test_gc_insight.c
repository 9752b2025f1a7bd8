/* rrc_explain, rrc_dump_dot and rrc_report_leaks: their exact words, with names in place of addresses. What they show of the
 * host, if that has the hooks for it. */

#define _POSIX_C_SOURCE 200809L

#include "knots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 12, MOST_TEXT = 20000 };

typedef struct text {
    host *h;
    struct {
        const void *address;
        const char *name;
    } names[MOST_NAMES];
    size_t count, size;
    char written[MOST_TEXT], readable[MOST_TEXT];
} text;

static void name_it(text *t, const void *address, const char *name)
{
    check(t->count < MOST_NAMES);
    t->names[t->count].address = address;
    t->names[t->count++].name = name;
}

static void write_text(void *arg, const char *bytes, size_t size)
{
    text *t = (text *)arg;

    check_int(strlen(bytes), size);
    check(t->size + size < MOST_TEXT);
    memcpy(t->written + t->size, bytes, size + 1);
    t->size += size;
}

/* The text with a name for each address. */
static const char *readable(text *t)
{
    const char *from = t->written;
    char *to = t->readable;

    while (*from != '\0') {
        char address[40];
        size_t i;

        for (i = 0; i < t->count; i++) {
            snprintf(address, sizeof address, "%p", t->names[i].address);
            if (strncmp(from, address, strlen(address)) == 0 && t->names[i].address != NULL)
                break;
        }
        if (i < t->count) {
            from += strlen(address);
            to += sprintf(to, "%s", t->names[i].name);
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return t->readable;
}

static void clear_text(text *t)
{
    t->size = 0;
    t->written[0] = '\0';
}

#define check_explained(t, ob, expected) \
    do { \
        clear_text(t); \
        check_int(rrc_explain((t)->h->heap, host_insight((t)->h), (ob), write_text, (t)), RRC_OK); \
        check_str(readable(t), (expected)); \
    } while (0)

static text *text_open(host *h)
{
    text *t = (text *)calloc(1, sizeof *t);

    if (t == NULL)
        abort();
    t->h = h;
    return t;
}

static int mentions(const char *where, const char *what)
{
    int n = 0;

    for (; (where = strstr(where, what)) != NULL; where++)
        n++;
    return n;
}

/* ---- in words ---- */

static void held_from_outside(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *a = knot_new(h, &KnotTable, 0), *b = knot_new(h, &Knot, 0), *c = knot_new(h, &Knot, 0);

    name_it(t, a, "A");
    name_it(t, b, "B");
    name_it(t, c, "C");
    check_explained(t, a, "KnotTable A (1 reference):\n  1 reference from outside keeps it alive\n");
    rrc_incref(h->heap, a);
    check_explained(t, a, "KnotTable A (2 references):\n  2 references from outside keep it alive\n");
    KNOT(a)->ref[1] = b;
    KNOT(b)->ref[2] = c;
    check_explained(t, b, "Knot B (1 reference):\n"
                          "  held by KnotTable.middle of KnotTable A,\n"
                          "  which 2 references from outside keep alive\n");
    check_explained(t, c, "Knot C (1 reference):\n"
                          "  held by Knot[0] of Knot B,\n"
                          "  held by KnotTable.middle of KnotTable A,\n"
                          "  which 2 references from outside keep alive\n");
    /* The shortest path. */
    knot_tie(h, a, 2, c);
    check_explained(t, c, "Knot C (2 references):\n"
                          "  held by KnotTable.right of KnotTable A,\n"
                          "  which 2 references from outside keep alive\n");
    rrc_gc_untrack(h->heap, a);
    check_explained(t, a, "KnotTable A (2 references, not tracked):\n"
                          "  2 references from outside keep it alive\n");
    check_explained(t, b, "Knot B (1 reference):\n  1 reference from outside keeps it alive\n");
    rrc_decref(h->heap, a);
    rrc_decref(h->heap, a);
    host_close(h);
    free(t);
}

/* A count can need more digits than a long has, where that is shorter than a pointer. A wrong one
   often does. */
static void a_very_large_count(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *ob = knot_new(h, &KnotTable, 0);
    char expected[600], number[40];

    snprintf(number, sizeof number, "%jd", (intmax_t)(RRC_REFCNT_FROM_PYPY - 1));
    name_it(t, ob, "A");
    REFCNT(ob) = RRC_REFCNT_FROM_PYPY - 1;
    snprintf(expected, sizeof expected, "KnotTable A (%s references):\n  %s references from outside keep it alive\n",
             number, number);
    check_explained(t, ob, expected);
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    snprintf(expected, sizeof expected, "KnotTable\\nA\\n%s references\"", number);
    check_int(mentions(readable(t), expected), 1);
    snprintf(expected, sizeof expected, "label=\"%s outside\"", number);
    check_int(mentions(readable(t), expected), 1);
    REFCNT(ob) = 1;
    rrc_decref(h->heap, ob);
    host_close(h);
    free(t);
}

/* The shortest path, in whatever order the references are. */
static void the_shortest_path(void)
{
    int order;

    for (order = 0; order < 2; order++) {
        host *h = host_open(NULL);
        text *t = text_open(h);
        rrc_object *root = knot_new(h, &KnotTable, 0), *near = knot_new(h, &Knot, 0);
        rrc_object *far = knot_new(h, &Knot, 0), *farther = knot_new(h, &Knot, 0), *ob = knot_new(h, &Knot, 0);
        char expected[200];

        unit_context("order %d", order);
        name_it(t, root, "ROOT");
        name_it(t, near, "NEAR");
        name_it(t, ob, "OB");
        KNOT(root)->ref[order ? 2 : 0] = near;
        KNOT(root)->ref[order ? 0 : 2] = far;
        KNOT(far)->ref[0] = farther;
        KNOT(farther)->ref[0] = ob;
        knot_tie(h, near, 0, ob);
        snprintf(expected, sizeof expected, "Knot OB (2 references):\n  held by Knot[0] of Knot NEAR,\n"
                 "  held by KnotTable.%s of KnotTable ROOT,\n  which 1 reference from outside keeps alive\n",
                 order ? "right" : "left");
        check_explained(t, ob, expected);
        rrc_decref(h->heap, root);
        host_close(h);
        free(t);
    }
}

static void the_same_object_in_two_members(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *a = knot_new(h, &KnotTable, 0), *b = knot_new(h, &Knot, 0);

    name_it(t, a, "A");
    name_it(t, b, "B");
    KNOT(a)->ref[0] = b;
    knot_tie(h, a, 2, b);
    check_explained(t, b, "Knot B (2 references):\n"
                          "  held by KnotTable.left of KnotTable A,\n"
                          "  which 1 reference from outside keeps alive\n");
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "label=\".left\""), 1);
    check_int(mentions(t->written, "label=\".right\""), 1);
    rrc_decref(h->heap, a);
    host_close(h);
    free(t);
}

static void garbage_is_called_so(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *ring = knot_ring(h, &Knot, 2, NULL), *stiff = knot_ring(h, &KnotStiff, 1, NULL);

    name_it(t, ring, "A");
    name_it(t, stiff, "S");
    check_explained(t, ring, "Knot A (1 reference):\n  garbage, will go at the next collection\n");
    host_major(h);
    check_explained(t, ring, "Knot A (1 reference):\n  garbage, waits for rrc_run_pending\n");
    rrc_run_pending(h->heap, 0);
    knot_collect(h);
    host_expect_log(h, RRC_EUNCOLLECTABLE, NULL);
    check_explained(t, stiff, "KnotStiff S (1 reference):\n  garbage that could not be cleared\n");
    RRC_CLEAR(h->heap, KNOT(stiff)->ref[0]);
    h->events[0] = '\0';
    host_close(h);
    free(t);
}

/* A traverse may know of more than tp_members: that is told by its number. */
static void references_that_are_no_members(void)
{
    static const rrc_member members[] = { { "left", offsetof(knot, ref) }, { NULL, 0 } };
    static const rrc_type Half = {
        .tp_name = "Half", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_members = members,
    };
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *a = knot_new(h, &Half, 0), *b = knot_new(h, &Knot, 0), *c = knot_new(h, &Knot, 0);

    name_it(t, a, "A");
    name_it(t, b, "B");
    name_it(t, c, "C");
    KNOT(a)->ref[0] = b;
    KNOT(a)->ref[1] = c;
    check_explained(t, b, "Knot B (1 reference):\n  held by Half.left of Half A,\n"
                          "  which 1 reference from outside keeps alive\n");
    check_explained(t, c, "Knot C (1 reference):\n  held by Half[1] of Half A,\n"
                          "  which 1 reference from outside keeps alive\n");
    rrc_decref(h->heap, a);
    host_close(h);
    free(t);
}

/* In a walk over all objects: what was let go in it is not told any more. */
static int let_the_other_go(rrc_object *ob, void *arg)
{
    text *t = (text *)arg;
    rrc_object **both = (rrc_object **)t->h->test;

    rrc_gc_untrack(t->h->heap, both[ob == both[0]]);
    check_int(rrc_dump_dot(t->h->heap, host_insight(t->h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "[shape=box"), 1);
    check_explained(t, ob, ob == both[0] ? "Knot A (2 references):\n  2 references from outside keep it alive\n"
                                         : "Knot B (2 references):\n  2 references from outside keep it alive\n");
    return 1;
}

static void pictures_in_a_walk(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *both[2];

    both[0] = knot_new(h, &Knot, 0);
    both[1] = knot_new(h, &Knot, 0);
    name_it(t, both[0], "A");
    name_it(t, both[1], "B");
    h->test = both;
    rrc_gc_visit_objects(h->heap, let_the_other_go, t);
    check(t->size > 0);
    check_int(host_stats(h).tracked, 1);
    rrc_decref(h->heap, both[0]);
    rrc_decref(h->heap, both[1]);
    host_close(h);
    free(t);
}

static void links_and_the_queue(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *a = knot_new(h, &Knot, 0), *b = knot_new(h, &Knot, 0), *o = knot_new(h, &Knot, 0);
    rrc_object *view = ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
    size_t p = host_rooted(h, HOST_OLD), q = host_new(h, HOST_OLD);

    name_it(t, a, "A");
    name_it(t, b, "B");
    name_it(t, o, "OB");
    name_it(t, view, "VIEW");
    ob_link(h, P, p, a, FULL);
    rrc_decref(h->heap, a);
    KNOT(a)->ref[0] = b;
    ob_link(h, O, q, o, FULL);
    rrc_decref(h->heap, o);
    name_it(t, host_at(h, p), "PA");
    name_it(t, host_at(h, q), "PO");
    name_it(t, host_at(h, 0), "PV");
    check_explained(t, a, "Knot A (0 references, P link to p PA):\n"
                          "  its host object p PA keeps it alive for as long as that lives\n");
    check_explained(t, b, "Knot B (1 reference):\n  held by Knot[0] of Knot A,\n"
                          "  which its host object p PA keeps alive for as long as that lives\n");
    check_explained(t, o, "Knot OB (0 references, O link to p PO):\n"
                          "  its host object p PO keeps it alive for as long as that lives\n");
    check_explained(t, view, "Node VIEW (0 references, P link to p PV, not tracked):\n"
                             "  its host object p PV keeps it alive for as long as that lives\n");
    host_major(h);
    check_explained(t, o, "Knot OB (1 reference):\n  it waits in the queue for rrc_run_pending\n");
    rrc_incref(h->heap, o);
    check_explained(t, o, "Knot OB (2 references):\n  2 references from outside keep it alive\n");
    rrc_decref(h->heap, o);
    rrc_run_pending(h->heap, 0);
    host_unroot(h, p);
    knot_collect(h);
    host_close(h);
    free(t);
}

static void what_is_not_in_the_graph(void)
{
    static STATIC_OB(still, &Node);
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *plain = ob_new(h, &Node);

    name_it(t, STATIC_PTR(still), "STILL");
    name_it(t, plain, "PLAIN");
    check_explained(t, STATIC_PTR(still), "Node STILL: static, never freed\n");
    check_explained(t, plain, "Node PLAIN (1 reference, not tracked):\n"
                              "  1 reference from outside keeps it alive\n");
    check_int(rrc_explain(h->heap, host_insight(h), NULL, write_text, t), RRC_ENULL);
    check_str(host_expect_log(h, RRC_ENULL, "rrc_explain")->detail, "ob is NULL");
    check_int(rrc_explain(h->heap, host_insight(h), plain, NULL, t), RRC_ENULL);
    check_str(host_expect_log(h, RRC_ENULL, "rrc_explain")->detail, "write is NULL");
    check_int(rrc_dump_dot(h->heap, host_insight(h), NULL, t), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_dump_dot");
    host_major_begin(h);
    check_int(rrc_explain(h->heap, host_insight(h), plain, write_text, t), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_explain");
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_dump_dot");
    host_major_end(h);
    rrc_decref(h->heap, plain);
    host_close(h);
    free(t);
}

/* Each allocation fails in turn: nothing is written, and nothing lost. */
static void without_memory_nothing_is_written(void)
{
    int dot;

    for (dot = 0; dot < 2; dot++) {
        size_t fail_at;
        int code = RRC_ENOMEM;

        for (fail_at = 1; code != RRC_OK; fail_at++) {
            host *h = host_open(NULL);
            text *t = text_open(h);
            rrc_object *ring = knot_ring(h, &Knot, 100, NULL);
            size_t bytes;

            unit_context("dot %d, allocation %u fails", dot, (unsigned)fail_at);
            bytes = h->live_bytes;
            h->fail_at = h->calls.allocate + fail_at;
            code = dot ? rrc_dump_dot(h->heap, host_insight(h), write_text, t) : rrc_explain(h->heap, host_insight(h), ring, write_text, t);
            check_int(code, h->failed > 0 ? RRC_ENOMEM : RRC_OK);
            check_int(t->size > 0, code == RRC_OK);
            h->fail_at = 0;
            check_int(h->live_bytes, bytes);
            h->events[0] = '\0';
            host_close(h);
            free(t);
        }
        check(fail_at > 3);
    }
}

/* ---- what is left at the end ---- */

/* End the heap, with a report. Returns what rrc_heap_free does. */
static size_t end_with_report(text *t)
{
    size_t held;

    clear_text(t);
    check_int(rrc_report_leaks(t->h->heap, host_insight(t->h), write_text, t), RRC_OK);
    check_int(t->size, 0);
    t->h->events[0] = '\0';
    held = host_free_heap(t->h);
    t->h->events[0] = '\0';
    return held;
}

static void an_empty_heap_has_no_leaks(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);

    check_int(end_with_report(t), 0);
    check_int(t->size, 0);
    host_end(h);
    free(t);
}

/* A program ends in the middle of its work: nothing of this is held by C. */
static void what_goes_is_no_leak(void)
{
    static STATIC_OB(still, &Node);
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *box = ob_new(h, &Node), *owned = knot_new(h, &Knot, 0), *below = knot_new(h, &KnotTable, 0);

    /* Who owns this one is not known before the box goes, as that is not tracked. */
    NODE(box)->ref[0] = owned;
    KNOT(owned)->ref[0] = below;
    knot_tie(h, below, 0, STATIC_PTR(still));
    ob_link(h, O, host_rooted(h, HOST_OLD), box, FULL);
    rrc_decref(h->heap, box);
    knot_ring(h, &KnotFull, 4, NULL);
    ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
    ob_given(h, O, host_rooted(h, HOST_OLD), LIGHT_OB);
    ob_given(h, O, host_new(h, HOST_OLD), FULL);
    host_major(h);
    check(host_stats(h).pending > 0);
    check_int(end_with_report(t), 0);
    check_str(t->written, "");
    host_end(h);
    free(t);
}

static void leaks_by_type(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *table = knot_new(h, &KnotTable, 0), *inner[5], *view = ob_shared(h, P, host_new(h, HOST_OLD), FULL);
    rrc_object *second = knot_new(h, &KnotTable, 0);
    char expected[1000];
    int i;

    for (i = 0; i < 5; i++)
        inner[i] = knot_new(h, &Knot, 0);
    KNOT(table)->ref[0] = inner[0];
    KNOT(table)->ref[1] = inner[1];
    KNOT(inner[1])->ref[2] = inner[3];
    KNOT(inner[3])->ref[0] = inner[4];
    ob_link(h, O, host_rooted(h, HOST_OLD), second, FULL);
    rrc_incref(h->heap, second);
    name_it(t, table, "TABLE");
    name_it(t, second, "SECOND");
    name_it(t, view, "VIEW");
    name_it(t, inner[0], "K0");
    name_it(t, inner[1], "K1");
    name_it(t, inner[2], "K2");
    check_int(end_with_report(t), 2);           /* those with links */
    snprintf(expected, sizeof expected,
             "C still holds 2 objects of KnotTable, %u bytes:\n"
             "KnotTable TABLE (1 reference):\n  1 reference from outside keeps it alive\n"
             "KnotTable SECOND (2 references):\n  2 references from outside keep it alive\n"
             "C still holds 5 objects of Knot, %u bytes:\n"
             "Knot K2 (1 reference):\n  1 reference from outside keeps it alive\n"
             "Knot K0 (1 reference):\n  held by KnotTable.left of KnotTable TABLE,\n"
             "  which 1 reference from outside keeps alive\n"
             "Knot K1 (1 reference):\n  held by KnotTable.middle of KnotTable TABLE,\n"
             "  which 1 reference from outside keeps alive\n"
             "... and 2 more\n"
             "C still holds 1 object of Node, %u bytes:\n"
             "Node VIEW (1 reference, not tracked):\n  1 reference from outside keeps it alive\n",
             (unsigned)(2 * sizeof(knot)), (unsigned)(5 * sizeof(knot)), (unsigned)sizeof(node));
    check_str(readable(t), expected);
    rrc_decref(h->heap, table);
    rrc_decref(h->heap, inner[2]);
    rrc_decref(h->heap, second);
    rrc_decref(h->heap, second);
    rrc_decref(h->heap, view);
    host_end(h);
    free(t);
}

/* What refers to an object is what is left, and not what has gone meanwhile. */
static void who_refers_at_the_end(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *box = ob_new(h, &Node), *going = knot_new(h, &KnotTable, 0), *ob = knot_new(h, &Knot, 0);
    rrc_object *owner = knot_new(h, &Knot, 0), *top = knot_new(h, &Knot, 0), *gone = knot_new(h, &Knot, 0);

    NODE(box)->ref[0] = going;                  /* seems to be held */
    KNOT(going)->ref[0] = ob;                   /* the shortest path of now */
    KNOT(top)->ref[1] = owner;
    knot_tie(h, owner, 2, ob);
    KNOT(gone)->ref[0] = NULL;
    knot_tie(h, going, 1, gone);
    ob_link(h, O, host_rooted(h, HOST_OLD), box, FULL);
    rrc_decref(h->heap, box);
    rrc_decref(h->heap, gone);
    name_it(t, top, "TOP");
    name_it(t, owner, "OWNER");
    name_it(t, ob, "OB");
    check_int(end_with_report(t), 0);
    check_int(mentions(t->written, "C still holds"), 1);
    check_int(mentions(t->written, "3 objects of Knot, "), 1);
    check(strstr(readable(t), "Knot OB (1 reference):\n  held by Knot[0] of Knot OWNER,\n"
                              "  held by Knot[0] of Knot TOP,\n"
                              "  which 1 reference from outside keeps alive\n") != NULL);
    rrc_decref(h->heap, top);
    host_end(h);
    free(t);
}

/* A long way is cut short, and the first objects are those with the shortest ways. */
static void a_long_way_to_a_leak(void)
{
    static const int lengths[] = { 8, 9, 20000 };
    size_t l;

    for (l = 0; l < 3; l++) {
        const host_options options = { .unchecked = 1, .plain_memory = 1 };
        host *h = host_open(&options);
        text *t = text_open(h);
        rrc_object *last = knot_new(h, &KnotTable, 0), *top = last, *owner;
        char expected[60];
        int i;

        for (i = 0; i < lengths[l]; i++) {
            owner = knot_new(h, &Knot, 0);
            KNOT(owner)->ref[0] = top;
            top = owner;
        }
        unit_context("%d: ", lengths[l]);
        name_it(t, top, "TOP");
        check_int(end_with_report(t), 0);
        check_int(mentions(t->written, "C still holds "), 2);
        check(strstr(readable(t), ":\nKnot TOP (1 reference):\n  1 reference from outside keeps it alive\n") != NULL);
        snprintf(expected, sizeof expected, "  ... (%d more)\n", lengths[l] - 8);
        check_int(mentions(t->written, expected), lengths[l] > 8);
        check_int(mentions(t->written, "  held by "), 1 + 2 + 8);
        rrc_decref(h->heap, top);
        host_end(h);
        free(t);
    }
    unit_context("%s", "");
}

/* Static objects and uncollectable garbage are not told. What they own is. Memory of others counts by its type. */
static void leaks_without_heads(void)
{
    static const rrc_type Bare = { .tp_name = "Bare" };
    union {
        void *align;
        char bytes[128];
    } memory;
    static STATIC_OB(still, &Node);
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *bare = (rrc_object *)(void *)(memory.bytes + 32), *stiff = knot_ring(h, &KnotStiff, 2, NULL);
    rrc_object *owner = knot_new(h, &Knot, 0);

    memset(&memory, 0, sizeof memory);
    RRC_TYPE(bare) = &Bare;
    REFCNT(bare) = 1;
    name_it(t, bare, "BARE");
    knot_tie(h, owner, 0, STATIC_PTR(still));
    knot_tie(h, owner, 1, bare);
    check_int(end_with_report(t), 0);
    host_expect_log(h, RRC_EUNCOLLECTABLE, NULL);
    host_expect_log(h, RRC_EUNCOLLECTABLE, NULL);       /* (it was tried again) */
    check(strstr(readable(t), "C still holds 1 object of Bare, 0 bytes:\nBare BARE (2 references, not tracked):\n"
                              "  1 reference from outside keeps it alive\n") != NULL);
    check_int(mentions(t->written, "C still holds"), 2);
    RRC_CLEAR(h->heap, KNOT(stiff)->ref[0]);
    rrc_decref(h->heap, owner);
    host_end(h);
    free(t);
}

static size_t thousand_and_tag(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return 1000 + (size_t)KNOT(self)->tag;
}

/* What objects hold elsewhere is theirs. */
static void sizes_have_what_is_elsewhere(void)
{
    static const rrc_type Sized = {
        .tp_name = "Sized", .tp_basicsize = sizeof(knot), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_members = knot_members, .tp_size = thousand_and_tag,
    };
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *ob = knot_new(h, &Sized, 7), *var = rrc_gc_new_var(h->heap, &Sized, 5);
    char expected[1000];

    KNOT(ob)->ref[0] = var;
    KNOT(var)->tag = 30;
    name_it(t, ob, "OB");
    name_it(t, var, "VAR");
    snprintf(expected, sizeof expected, "Sized OB (1 reference, %u bytes):\n"
             "  1 reference from outside keeps it alive\n", (unsigned)sizeof(knot) + 1007);
    check_explained(t, ob, expected);
    check_int(end_with_report(t), 0);
    snprintf(expected, sizeof expected,
             "C still holds 2 objects of Sized, %u bytes:\n"
             "Sized OB (1 reference, %u bytes):\n  1 reference from outside keeps it alive\n"
             "Sized VAR (1 reference, not tracked, %u bytes):\n  held by Sized.left of Sized OB,\n"
             "  which 1 reference from outside keeps alive\n",
             (unsigned)(2 * sizeof(knot) + 5 * 8 + 2037), (unsigned)sizeof(knot) + 1007,
             (unsigned)sizeof(knot) + 5 * 8 + 1030);
    check_str(readable(t), expected);
    rrc_decref(h->heap, ob);
    host_end(h);
    free(t);
}

/* Objects whose type is not known, or has no name. */
static void leaks_of_no_type(void)
{
    static const rrc_type NoName = { .tp_basicsize = 12345, .tp_dealloc = node_dealloc };
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *plain = ob_shared(h, P, host_new(h, HOST_OLD), FULL), *owner = knot_new(h, &Knot, 0);
    rrc_object *other = ob_shared(h, P, host_new(h, HOST_OLD), FULL);

    RRC_TYPE(plain) = NULL;
    RRC_TYPE(other) = &NoName;
    check_int(end_with_report(t), 2);
    check_int(mentions(t->written, "C still holds 1 object of ?, 0 bytes:\n? "), 1);
    check_int(mentions(t->written, "C still holds 1 object of ?, 12345 bytes:\n? "), 1);
    check_int(mentions(t->written, "C still holds 1 object of Knot, "), 1);
    RRC_TYPE(plain) = RRC_TYPE(other) = &Node;
    rrc_decref(h->heap, plain);
    rrc_decref(h->heap, other);
    rrc_decref(h->heap, owner);
    host_end(h);
    free(t);
}

static rrc_object *made_at_the_end;

static void make_another(host *h, rrc_object *ob)
{
    (void)ob;
    if (made_at_the_end == NULL)
        made_at_the_end = knot_new(h, &KnotTable, 0);
}

/* What finalizers make is not known to the report. What they let go of is, and what they save. */
static void the_end_changes_what_is_left(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *ring = knot_ring(h, &KnotFinal, 2, NULL), *ob = knot_new(h, &Knot, 0);

    made_at_the_end = NULL;
    h->on_finalize = make_another;
    knot_tie(h, ring, 1, ob);
    check_int(end_with_report(t), 0);
    check(made_at_the_end != NULL);
    check_int(mentions(t->written, "C still holds"), 1);
    check_int(mentions(t->written, "C still holds 1 object of Knot, "), 1);
    check_int(mentions(t->written, "1 reference from outside keeps it alive"), 1);
    rrc_decref(h->heap, made_at_the_end);
    rrc_decref(h->heap, ob);
    host_end(h);
    free(t);
}

/* An object that stays lets go of another one while the heap ends. */
static void let_go_of_the_field(host *h, rrc_object *ob)
{
    if (KNOT(ob)->tag == 1)
        RRC_CLEAR(h->heap, KNOT((rrc_object *)h->test)->ref[0]);
}

static void what_leaks_let_go_of_at_the_end(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *owner = knot_new(h, &KnotTable, 0), *going = knot_new(h, &Knot, 1);

    KNOT(owner)->ref[0] = knot_new(h, &Knot, 2);
    KNOT(owner)->ref[1] = knot_new(h, &Knot, 3);
    ob_link(h, O, host_rooted(h, HOST_OLD), going, FULL);
    rrc_decref(h->heap, going);
    h->test = owner;
    h->on_dealloc = let_go_of_the_field;
    check_int(end_with_report(t), 0);
    h->on_dealloc = NULL;
    check_int(h->deallocs, 2);
    check_int(mentions(t->written, "C still holds 1 object of Knot"), 2);       /* (KnotTable, too) */
    check_int(mentions(t->written, "  held by KnotTable.middle of "), 1);
    check_int(mentions(t->written, "  held by "), 1);
    rrc_decref(h->heap, owner);
    host_end(h);
    free(t);
}

static void a_report_in_place_of_another(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h), *other = text_open(h);
    rrc_object *ob = knot_new(h, &Knot, 0), *late;
    size_t bytes;

    check_int(rrc_report_leaks(h->heap, NULL, write_text, other), RRC_OK);
    bytes = h->live_bytes;
    check_int(rrc_report_leaks(h->heap, NULL, write_text, other), RRC_OK);
    check_int(h->live_bytes, bytes);
    late = knot_new(h, &KnotTable, 0);
    check_int(end_with_report(t), 0);
    check_int(other->size, 0);
    check_int(mentions(t->written, "C still holds"), 2);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, late);
    host_end(h);
    free(t);
    free(other);
}

static void reports_that_are_refused(void)
{
    const host_options options = { .shows = 2, .progresses = 1 };
    host *h = host_open(&options);
    text *t = text_open(h);
    rrc_object *ob = knot_new(h, &Knot, 0);

    check_int(rrc_report_leaks(NULL, NULL, write_text, t), RRC_ENULL);
    check_int(rrc_report_leaks(h->heap, NULL, NULL, t), RRC_ENULL);
    check_str(host_expect_log(h, RRC_ENULL, "rrc_report_leaks")->detail, "write is NULL");
    host_major_begin(h);
    check_int(rrc_report_leaks(h->heap, NULL, write_text, t), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_report_leaks");
    host_major_end(h);
    check_int(rrc_inspect_begin(h->heap, "viewer"), RRC_OK);
    check_int(rrc_report_leaks(h->heap, NULL, write_text, t), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_report_leaks");
    check_int(rrc_inspect_end(h->heap), RRC_OK);
    check_int(host_free_heap(h), 0);
    check_int(t->size, 0);
    check_int(rrc_report_leaks(h->heap, NULL, write_text, t), RRC_ECLOSED);
    host_expect_log(h, RRC_ECLOSED, "rrc_report_leaks");
    rrc_decref(h->heap, ob);
    check_int(h->shown, 0);
    host_end(h);
    free(t);
}

/* Each allocation fails in turn: then an earlier report is as it was. At the end, none is needed. */
static void a_report_without_memory(void)
{
    size_t fail_at;
    int code = RRC_ENOMEM;

    for (fail_at = 1; code != RRC_OK; fail_at++) {
        const host_options options = { .shows = 2 };
        host *h = host_open(&options);
        text *t = text_open(h), *other = text_open(h);
        rrc_object *ring[100];
        size_t bytes;

        unit_context("allocation %u fails", (unsigned)fail_at);
        knot_ring(h, &KnotTable, 100, ring);
        check_int(rrc_report_leaks(h->heap, NULL, write_text, other), RRC_OK);
        bytes = h->live_bytes;
        h->fail_at = h->calls.allocate + fail_at;
        code = rrc_report_leaks(h->heap, NULL, write_text, t);
        check_int(code, h->failed > 0 ? RRC_ENOMEM : RRC_OK);
        check_int(h->live_bytes, bytes);
        rrc_incref(h->heap, ring[0]);
        h->fail_at = h->calls.allocate + 1;
        h->fail_on = 1;
        check_int(host_free_heap(h), 0);
        h->fail_at = 0;
        h->fail_on = 0;
        check_int(mentions((code == RRC_OK ? t : other)->written, "C still holds 100 objects of KnotTable, "), 1);
        check_int((code == RRC_OK ? other : t)->size, 0);
        check_int(h->shown, 0);
        RRC_CLEAR(h->heap, KNOT(ring[0])->ref[0]);
        rrc_decref(h->heap, ring[0]);
        host_end(h);
        free(t);
        free(other);
    }
    check(fail_at > 8);
    unit_context("%s", "");
}

/* ---- as a picture ---- */

#define DOT_HEAD "digraph rawrefcount {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n" \
                 "  edge [fontname=\"sans-serif\", fontsize=9];\n"

static void a_picture_of_one(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *ob;
    size_t p = host_rooted(h, HOST_OLD);

    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_str(readable(t), DOT_HEAD "}\n");
    ob = knot_new(h, &KnotTable, 0);
    knot_tie(h, ob, 1, ob);
    name_it(t, ob, "A");
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_str(readable(t), DOT_HEAD
              "  c0 [shape=box, style=\"filled\", fillcolor=\"#ffd9b3\", label=\"KnotTable\\nA\\n2 references\"];\n"
              "  o0 [shape=plaintext, label=\"1 outside\"];\n"
              "  o0 -> c0 [color=\"#cc5500\"];\n"
              "  c0 -> c0 [label=\".middle\"];\n"
              "}\n");
    rrc_decref(h->heap, ob);
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_str(readable(t), DOT_HEAD
              "  c0 [shape=box, style=\"filled\", fillcolor=\"#cccccc\", label=\"KnotTable\\nA\\n1 reference\\ngarbage\"];\n"
              "  c0 -> c0 [label=\".middle\"];\n"
              "}\n");
    ob_link(h, P, p, ob, FULL);
    name_it(t, host_at(h, p), "PA");
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_str(readable(t), DOT_HEAD
              "  c0 [shape=box, style=\"filled\", fillcolor=\"#ffffff\", label=\"KnotTable\\nA\\n1 reference\"];\n"
              "  \"pPA\" [shape=ellipse, style=filled, fillcolor=\"#d9e8ff\", label=\"p\\nPA\"];\n"
              "  \"pPA\" -> c0 [style=bold, color=\"#3366cc\", label=\"P\", dir=both];\n"
              "  c0 -> c0 [label=\".middle\"];\n"
              "}\n");
    host_unroot(h, p);
    host_major(h);
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "\\ngarbage, waits\""), 1);
    rrc_run_pending(h->heap, 0);
    check_int(host_stats(h).objects, 0);
    host_close(h);
    free(t);
}

static const rrc_type Quoted = {
    .tp_name = "say \"hi\" \\", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = knot_clear,
};

/* Something of everything. */
typedef struct zoo {
    rrc_object *held, *stiff;
} zoo;

static zoo make_a_zoo(host *h)
{
    zoo z;
    static STATIC_OB(still, &Node);
    rrc_object *quoted = knot_new(h, &Quoted, 0), *table = knot_new(h, &KnotTable, 0);
    rrc_object *view = ob_given(h, P, host_rooted(h, HOST_OLD), FULL);

    z.held = quoted;
    z.stiff = knot_ring(h, &KnotStiff, 2, NULL);
    knot_tie(h, quoted, 0, table);
    knot_tie(h, table, 1, quoted);
    knot_tie(h, table, 2, view);
    knot_tie(h, quoted, 1, STATIC_PTR(still));
    ob_link(h, O, host_rooted(h, HOST_OLD), table, FULL);
    ob_given(h, O, host_rooted(h, HOST_OLD), LIGHT_OB);
    knot_ring(h, &KnotFull, 5, NULL);
    rrc_decref(h->heap, table);
    return z;
}

static void leave_the_zoo(host *h, zoo z)
{
    rrc_decref(h->heap, z.held);
    RRC_CLEAR(h->heap, KNOT(z.stiff)->ref[0]);
    h->events[0] = '\0';
    host_close(h);
}

static void a_picture_of_everything(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    zoo z = make_a_zoo(h);

    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "[shape=box"), 12);
    check_int(mentions(t->written, "[shape=ellipse"), 3);
    check_int(mentions(t->written, "label=\"say \\\"hi\\\" \\\\\\n"), 1);
    check_int(mentions(t->written, "\\nstatic\""), 1);
    check_int(mentions(t->written, "\\nlight\""), 1);
    check_int(mentions(t->written, "filled,rounded"), 3);
    check_int(mentions(t->written, "label=\"O\"];"), 2);
    check_int(mentions(t->written, "label=\"P\", dir=both];"), 1);
    check_int(mentions(t->written, "\\ngarbage\""), 7);
    check_int(mentions(t->written, "outside\"];"), 1);
    check_int(mentions(t->written, "#ffd9b3"), 2);      /* what is held, and what is static */
    leave_the_zoo(h, z);
    free(t);
}

#ifdef __wasi__                         /* there are no other processes */
#define system(command) 1
#define popen(command, mode) NULL
#define pclose(pipe) 0
#endif

static void graphviz_understands_it(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    zoo z = make_a_zoo(h);
    FILE *dot;

    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    if (system("command -v dot >/dev/null 2>&1") != 0) {
        printf("\nskipped: what rrc_dump_dot writes is not given to dot: there is none\n");
    } else {
        dot = popen("dot -Tsvg >/dev/null 2>&1", "w");
        check(dot != NULL);
        check(fputs(t->written, dot) >= 0);
        check_int(pclose(dot), 0);
    }
    leave_the_zoo(h, z);
    free(t);
}

static void ignore_text(void *arg, const char *bytes, size_t size)
{
    (void)arg, (void)bytes, (void)size;
}

/* Objects without GC heads are shown for who refers to them; what untracked ones refer to is not. */
static void only_tracked_objects_have_edges(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *owner = knot_new(h, &Knot, 1), *bare = ob_new(h, &Node);

    knot_tie(h, owner, 0, bare);
    rrc_decref(h->heap, bare);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "[shape=box"), 2);
    check_int(mentions(t->written, " [label=\""), 1);
    rrc_gc_untrack(h->heap, owner);
    ob_link(h, P, host_rooted(h, HOST_OLD), owner, FULL);
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "[shape=box"), 1);
    check_int(mentions(t->written, " [label=\""), 0);
    rrc_decref(h->heap, owner);
    h->events[0] = '\0';
    host_close(h);
    free(t);
}

/* Many in the queue, some behind it, and what these own. */
static void a_long_queue(void)
{
    enum { COUNT = 600 };
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *owner = knot_new(h, &Knot, 1), *child = knot_new(h, &Knot, 2), *deferred, *bystander;
    int i;

    KNOT(owner)->ref[0] = child;
    ob_link(h, O, host_new(h, HOST_OLD), owner, FULL);
    rrc_decref(h->heap, owner);
    for (i = 0; i < COUNT; i++)
        ob_given(h, O, host_new(h, HOST_OLD), FULL);
    rrc_gc_disable(h->heap);
    host_major(h);
    rrc_gc_enable(h->heap);
    bystander = knot_new(h, &Knot, 4);
    deferred = knot_new(h, &KnotTable, 3);
    host_minor_begin(h);
    rrc_decref(h->heap, deferred);
    host_minor_end(h);
    check_int(host_stats(h).pending, COUNT + 2);
    name_it(t, owner, "OWNER");
    name_it(t, child, "CHILD");
    check_explained(t, child, "Knot CHILD (1 reference):\n  held by Knot[0] of Knot OWNER,\n"
                              "  which waits in the queue for rrc_run_pending\n");
    clear_text(t);
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "in the queue"), 2);
    check_int(mentions(t->written, "#cccccc"), 3);      /* the child, too */
    check_int(mentions(t->written, "#ffd9b3"), 1);
    clear_text(t);
    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "\n,9,3,16,0,2,0,0\n"), 1);  /* the owner, and what waits behind the queue */
    rrc_decref(h->heap, bystander);
    check_int(rrc_run_pending(h->heap, 0), COUNT + 3);
    if (HOST_DEBUG) {
        rrc_object *ob = ob_new(h, &Node);
        node saved = *NODE(ob);

        memset(NODE(ob), 0xDD, sizeof(node));
        check_int(rrc_explain(h->heap, host_insight(h), ob, ignore_text, NULL), RRC_EFREED);
        host_expect_log(h, RRC_EFREED, "rrc_explain");
        *NODE(ob) = saved;
        rrc_decref(h->heap, ob);
    }
    host_close(h);
    free(t);
}

/* ---- both heaps ---- */

/* A global table has a field with the proxy of a window, which owns the view of a closure,
   whose variable is the proxy of a widget. */
typedef struct app {
    host *h;
    text *t;
    size_t table, window_p, closure, widget_p;
    rrc_object *window, *view, *widget;
} app;

static const char *app_words(host *h, size_t id)
{
    static const char *const words[] = { "table", "userdata Window", "function at \"app\":12", "userdata Widget" };

    (void)h;
    return words[id % 4];
}

static rrc_object *app_link(app *a, size_t p, const rrc_type *type, int kind, const char *name)
{
    rrc_object *ob = knot_new(a->h, type, (int)p);

    check_int(rrc_link(a->h->heap, host_at(a->h, p), ob, kind), RRC_OK);
    host_note_link(a->h, p);
    name_it(a->t, ob, name);
    return ob;
}

static app app_open(int shows)
{
    const host_options options = { .shows = shows, .keeps = 1 };
    app a;

    a.h = host_open(&options);
    a.h->words = app_words;
    a.t = text_open(a.h);
    a.table = host_rooted(a.h, HOST_OLD);
    a.window_p = host_new(a.h, HOST_OLD);
    a.closure = host_new(a.h, HOST_OLD);
    a.widget_p = host_new(a.h, HOST_OLD);
    name_it(a.t, host_at(a.h, a.table), "TABLE");
    name_it(a.t, host_at(a.h, a.window_p), "WINDOW_P");
    name_it(a.t, host_at(a.h, a.closure), "CLOSURE");
    name_it(a.t, host_at(a.h, a.widget_p), "WIDGET_P");
    a.window = app_link(&a, a.window_p, &KnotTable, RRC_O | RRC_GIVE, "WINDOW");
    a.view = app_link(&a, a.closure, &Knot, RRC_P, "VIEW");
    a.widget = app_link(&a, a.widget_p, &Knot, RRC_O | RRC_GIVE, "WIDGET");
    host_point(a.h, a.table, 0, a.window_p);
    KNOT(a.window)->ref[2] = a.view;
    host_point(a.h, a.closure, 1, a.widget_p);
    return a;
}

static void app_close(app *a)
{
    host_unroot(a->h, a->table);
    host_major(a->h);
    rrc_run_pending(a->h->heap, 0);
    host_major(a->h);
    rrc_run_pending(a->h->heap, 0);
    check_int(host_stats(a->h).objects, 0);
    a->h->events[0] = '\0';
    host_close(a->h);
    free(a->t);
}

static void the_path_through_both_heaps(void)
{
    app a = app_open(2);

    check_explained(a.t, a.widget, "Knot WIDGET (0 references, O link to p WIDGET_P):\n"
                                   "  held by upvalue w of function at \"app\":12 CLOSURE,\n"
                                   "  held by KnotTable.right of KnotTable WINDOW,\n"
                                   "  held by table.window of table TABLE,\n"
                                   "  which global g0 keeps alive\n");
    check_explained(a.t, a.view, "Knot VIEW (1 reference, P link to p CLOSURE):\n"
                                 "  held by KnotTable.right of KnotTable WINDOW,\n"
                                 "  held by table.window of table TABLE,\n"
                                 "  which global g0 keeps alive\n");
    /* A shorter way. */
    host_point(a.h, a.table, 2, a.widget_p);
    check_explained(a.t, a.widget, "Knot WIDGET (0 references, O link to p WIDGET_P):\n"
                                   "  held by table[2] of table TABLE,\n"
                                   "  which global g0 keeps alive\n");
    host_root(a.h, a.widget_p);
    check_explained(a.t, a.widget, "Knot WIDGET (0 references, O link to p WIDGET_P):\n"
                                   "  global g3 keeps it alive\n");
    host_unroot(a.h, a.widget_p);
    host_point(a.h, a.table, 2, HOST_NOTHING);
    /* C's references to the window do not keep its proxy, but those to the view keep the closure. */
    rrc_incref(a.h->heap, a.window);
    host_unroot(a.h, a.table);
    check_explained(a.t, a.window, "KnotTable WINDOW (1 reference, O link to p WINDOW_P):\n"
                                   "  1 reference from outside keeps it alive\n");
    check_explained(a.t, a.widget, "Knot WIDGET (0 references, O link to p WIDGET_P):\n"
                                   "  held by upvalue w of function at \"app\":12 CLOSURE,\n"
                                   "  held by KnotTable.right of KnotTable WINDOW,\n"
                                   "  which 1 reference from outside keeps alive\n");
    rrc_decref(a.h->heap, a.window);
    check_explained(a.t, a.window, "KnotTable WINDOW (0 references, O link to p WINDOW_P):\n"
                                   "  its host object p WINDOW_P keeps it alive until the next collection:"
                                   " no root reaches it\n");
    app_close(&a);
}

/* A library describes its own objects. */
static void describe_ob(void *userdata, rrc_object *ob, rrc_description *about)
{
    host *h = (host *)userdata;

    check(h->phase == HOST_MUTATOR);
    check_str(about->text, RRC_TYPE(ob)->tp_name);
    if (RRC_TYPE(ob) == &KnotTable)
        strcat(about->text, " 'main'");
    else if (RRC_LINK(ob) != NULL)
        memset(about->text, 'k', sizeof about->text);
}

static void objects_with_names_of_their_own(void)
{
    app a = app_open(2);
    char expected[1000], k[128];

    memset(k, 'k', sizeof k);
    k[sizeof k - 1] = '\0';
    a.h->insight.describe_ob = describe_ob;
    snprintf(expected, sizeof expected, "%s WIDGET (0 references, O link to p WIDGET_P):\n"
             "  held by upvalue w of function at \"app\":12 CLOSURE,\n"
             "  held by KnotTable.right of KnotTable 'main' WINDOW,\n"
             "  held by table.window of table TABLE,\n"
             "  which global g0 keeps alive\n", k);
    check_explained(a.t, a.widget, expected);
    clear_text(a.t);
    check_int(rrc_dump_dot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
    check_int(mentions(readable(a.t), "label=\"KnotTable 'main'\\nWINDOW\\n"), 1);
    clear_text(a.t);
    check_int(rrc_dump_heapsnapshot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
    check_int(mentions(a.t->written, "\"KnotTable\""), 1);
    check_int(mentions(a.t->written, "'main'"), 0);
    a.h->insight.describe_ob = NULL;
    app_close(&a);
}

/* Garbage waits, and its p's were kept for it: they do not hold it. */
static void kept_for_garbage(void)
{
    int shows;

    for (shows = 0; shows <= 2; shows++) {
        app a = app_open(shows);

        unit_context("shows %d", shows);
        knot_tie(a.h, a.widget, 0, a.view);     /* (a Knot has slots that may look at the view) */
        host_unroot(a.h, a.table);
        host_major(a.h);
        name_it(a.t, host_at(a.h, a.closure), "CLOSURE");       /* (they may have moved) */
        name_it(a.t, host_at(a.h, a.widget_p), "WIDGET_P");
        check_explained(a.t, a.widget, "Knot WIDGET (0 references, O link to p WIDGET_P):\n"
                                       "  garbage, waits for rrc_run_pending\n");
        check_explained(a.t, a.view, "Knot VIEW (2 references, P link to p CLOSURE):\n"
                                     "  garbage, waits for rrc_run_pending\n");
        clear_text(a.t);
        check_int(rrc_dump_dot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
        check_int(mentions(a.t->written, "\\ngarbage, waits\""), 3);
        clear_text(a.t);
        check_int(rrc_dump_heapsnapshot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
        check_int(mentions(a.t->written, "\n,6,"), 2);      /* its p's refer to it weakly */
        check_int(rrc_run_pending(a.h->heap, 0), 3);
        a.table = host_rooted(a.h, HOST_OLD);
        app_close(&a);
    }
}

/* Names that a host need not give. */
static void roots_and_hosts_without_names(void)
{
    app a = app_open(1);
    size_t prebuilt = host_new(a.h, HOST_PREBUILT);
    rrc_object *second;

    name_it(a.t, host_at(a.h, prebuilt), "PREBUILT");
    host_point(a.h, prebuilt, 2, a.widget_p);
    check_explained(a.t, a.widget, "Knot WIDGET (0 references, O link to p WIDGET_P):\n"
                                   "  held by p[2] of p PREBUILT,\n"
                                   "  which root 4 of the host keeps alive\n");
    host_point(a.h, prebuilt, 2, HOST_NOTHING);
    check_explained(a.t, a.window, "KnotTable WINDOW (0 references, O link to p WINDOW_P):\n"
                                   "  held by p.window of p TABLE,\n"
                                   "  which global g0 keeps alive\n");
    /* Two objects with one p: the view that C holds keeps the closure, and that its other object. */
    second = app_link(&a, a.closure, &Knot, RRC_O | RRC_GIVE, "SECOND");
    RRC_CLEAR(a.h->heap, KNOT(a.window)->ref[2]);
    check_explained(a.t, second, "Knot SECOND (0 references, O link to p CLOSURE):\n"
                                 "  its host object p CLOSURE keeps it alive until the next collection:"
                                 " no root reaches it\n");
    rrc_incref(a.h->heap, a.view);
    check_explained(a.t, second, "Knot SECOND (0 references, O link to p CLOSURE):\n"
                                 "  held by p CLOSURE, the host object of Knot VIEW,\n"
                                 "  which 1 reference from outside keeps alive\n");
    rrc_decref(a.h->heap, a.view);
    app_close(&a);
}

static void a_picture_of_both_heaps(void)
{
    app a = app_open(2);
    size_t other = host_new(a.h, HOST_OLD), lost = host_new(a.h, HOST_OLD);
    FILE *dot;

    host_point(a.h, a.table, 2, other);
    host_point(a.h, other, 0, a.table);
    check_int(rrc_dump_dot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
    name_it(a.t, host_at(a.h, other), "OTHER");
    readable(a.t);
    check_int(mentions(a.t->readable, "[shape=box"), 3);
    check_int(mentions(a.t->readable, "[shape=ellipse"), 5);
    check_int(mentions(a.t->readable, "#cccccc"), 0);
    check_int(mentions(a.t->readable, "label=\"function at \\\"app\\\":12\\nCLOSURE\""), 1);
    check_int(mentions(a.t->readable, "\"pTABLE\" -> \"pWINDOW_P\" [label=\".window\"];"), 1);
    check_int(mentions(a.t->readable, "\"pTABLE\" -> \"pOTHER\" [label=\"[2]\"];"), 1);
    check_int(mentions(a.t->readable, "\"pOTHER\" -> \"pTABLE\" [label=\".window\"];"), 1);
    check_int(mentions(a.t->readable, "\"pCLOSURE\" -> \"pWIDGET_P\" [label=\"upvalue w\"];"), 1);
    check_int(mentions(a.t->readable, "  roots -> \"pTABLE\" [color=\"#cc5500\", label=\"global g0\"];"), 1);
    check_int(mentions(a.t->readable, " -> "), 3 + 4 + 1 + 1);
    if (system("command -v dot >/dev/null 2>&1") == 0) {
        dot = popen("dot -Tsvg >/dev/null 2>&1", "w");
        check(dot != NULL);
        check(fputs(a.t->written, dot) >= 0);
        check_int(pclose(dot), 0);
    } else {
        printf("\nskipped: what rrc_dump_dot writes is not given to dot: there is none\n");
    }
    host_unroot(a.h, a.table);
    clear_text(a.t);
    check_int(rrc_dump_dot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
    check_int(mentions(a.t->written, "[shape=ellipse"), 3);     /* the table is not known any more */
    check_int(mentions(a.t->written, "#cccccc"), 6);
    (void)lost;
    app_close(&a);
}

/* The hooks are called by what shows the heap, and by nothing else; with each allocation failing in turn. */
static void seeing_both_heaps_without_memory(void)
{
    int dot;

    for (dot = 0; dot < 2; dot++) {
        size_t fail_at;
        int code = RRC_ENOMEM;

        for (fail_at = 1; code != RRC_OK; fail_at++) {
            app a = app_open(2);
            size_t bytes = a.h->live_bytes, last = a.table, i;

            unit_context("dot %d, allocation %u fails", dot, (unsigned)fail_at);
            for (i = 0; i < 200; i++) {
                size_t next = host_new(a.h, HOST_OLD);

                host_point(a.h, last, 2, next);
                host_point(a.h, last, 1, host_new(a.h, HOST_OLD));
                last = next;
            }
            host_point(a.h, last, 0, a.widget_p);
            host_point(a.h, a.closure, 1, HOST_NOTHING);
            check_int(a.h->shown, 0);
            a.h->fail_at = a.h->calls.allocate + fail_at;
            code = dot ? rrc_dump_dot(a.h->heap, host_insight(a.h), ignore_text, NULL)
                       : rrc_explain(a.h->heap, host_insight(a.h), a.widget, write_text, a.t);
            check_int(code, a.h->failed > 0 ? RRC_ENOMEM : RRC_OK);
            a.h->fail_at = 0;
            check_int(a.h->live_bytes, bytes);
            if (!dot) {
                check_int(a.t->size > 0, code == RRC_OK);
                check_int(mentions(a.t->written, "[2] of"), code == RRC_OK ? 200 : 0);
            }
            app_close(&a);
        }
        check(fail_at > 8);
    }
}

/* The hooks may not call what the mutator may: debug builds refuse it. */
static void call_from_a_hook(host *h, const char *name)
{
    if (strcmp(name, "edges") == 0 || strcmp(name, "describe") == 0)
        check_int(rrc_run_pending(h->heap, 0), 0);
}

static void the_hooks_that_show_may_only_look(void)
{
    app a = app_open(2);
    size_t i, calls;

    if (!HOST_DEBUG) {
        app_close(&a);
        return;
    }
    rrc_unlink(a.h->heap, a.widget);            /* something to run */
    a.h->on_hook = call_from_a_hook;
    check_int(rrc_explain(a.h->heap, host_insight(a.h), a.window, write_text, a.t), RRC_OK);
    a.h->on_hook = NULL;
    calls = a.h->shown;
    check(calls > 5);
    for (i = 0; i < calls; i++)
        host_expect_log(a.h, RRC_EPHASE, "rrc_run_pending");
    check_int(host_stats(a.h).pending, 1);
    rrc_run_pending(a.h->heap, 0);
    app_close(&a);
}

/* ---- heap snapshots ---- */

/* All of it but the first part, which is always the same. */
static void a_snapshot_in_full(void)
{
    app a = app_open(2);
    char expected[2000];
    int size = (int)sizeof(knot);

    check_int(rrc_dump_heapsnapshot(a.h->heap, host_insight(a.h), write_text, a.t), RRC_OK);
    snprintf(expected, sizeof expected, "\"node_count\":11,\"edge_count\":11,\"trace_function_count\":0},\n"
             "\"nodes\":[9,4,4,0,3,0,0\n,9,5,8,0,0,0,0\n,9,6,12,0,1,0,0\n,9,7,16,0,0,0,0\n"
             ",8,8,6,%d,1,0,0\n,8,9,10,%d,1,0,0\n,8,9,14,%d,0,0,0\n"
             ",3,10,9,40,1,0,0\n,5,11,13,40,2,0,0\n,3,12,17,40,1,0,0\n,3,13,5,40,1,0,0\n],\n"
             "\"edges\":[1,1,7\n,1,2,14\n,1,3,21\n,2,1,70\n,2,0,35\n,3,14,56\n,3,15,28\n,2,2,63\n,3,15,35\n"
             ",3,15,42\n,2,3,49\n],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n"
             "\"locations\":[],\n\"strings\":[\"right\",\n\"global g0\",\n\"upvalue w\",\n\"window\",\n"
             "\"\",\n\"(references from C)\",\n\"(roots of the host)\",\n"
             "\"(pending work)\",\n\"KnotTable\",\n\"Knot\",\n\"userdata Window\",\n"
             "\"function at \\\"app\\\":12\",\n\"userdata Widget\",\n\"table\",\n"
             "\"host object\",\n\"C object\"]}\n", size, size, size);
    check(strstr(a.t->written, "\"node_count\"") != NULL);
    check_str(strstr(a.t->written, "\"node_count\""), expected);
    check_int(rrc_dump_heapsnapshot(a.h->heap, host_insight(a.h), NULL, NULL), RRC_ENULL);
    host_expect_log(a.h, RRC_ENULL, "rrc_dump_heapsnapshot");
    app_close(&a);
}

/* The ids of the nodes with this name, in their order: "6 10". */
static const char *ids_of(text *t, const char *name)
{
    const char *from = strstr(t->written, "\"strings\":["), *quoted;
    char wanted[100], *to = t->readable;
    unsigned long index = 0;

    snprintf(wanted, sizeof wanted, "\"%s\"", name);
    quoted = strstr(from, wanted);
    *to = '\0';
    if (quoted == NULL)
        return to;
    for (; from < quoted; from++)
        index += *from == '\n';
    for (from = strstr(t->written, "\"nodes\":[") + 8; *from != ']'; from = strchr(from, '\n') + 1) {
        unsigned long type, string, id;

        check_int(sscanf(from + 1, "%lu,%lu,%lu", &type, &string, &id), 3);
        if (string == index)
            to += sprintf(to, "%s%lu", to > t->readable ? " " : "", id);
    }
    return t->readable;
}

static const char *snapshot_ids(text *t, const char *name)
{
    clear_text(t);
    check_int(rrc_dump_heapsnapshot(t->h->heap, host_insight(t->h), write_text, t), RRC_OK);
    return ids_of(t, name);
}

/* Each way in which an object goes: what is at its address later has another id. (Most allocators use an
   address again at once.) */
static void ids_are_those_of_one_life(void)
{
    static const rrc_type Var = {
        .tp_name = "Var", .tp_basicsize = sizeof(knot), .tp_itemsize = 1, .tp_flags = RRC_TPFLAGS_HAVE_GC,
    };
    const host_options options = { .plain_memory = 1, .shows = 2 };
    host *h = host_open(&options);
    text *t = text_open(h);
    rrc_object *owner = knot_new(h, &KnotTable, 0), *ob = knot_new(h, &Knot, 1), *var, *moved;
    size_t p = host_rooted(h, HOST_OLD);
    char expected[40];
    int id;

    check_str(snapshot_ids(t, "Knot"), "10");
    check_str(snapshot_ids(t, "Knot"), "10");
    rrc_decref(h->heap, ob);                    /* by its count */
    ob = knot_new(h, &Knot, 2);
    check_str(snapshot_ids(t, "Knot"), "14");
    rrc_gc_untrack(h->heap, ob);
    rrc_gc_del(h->heap, ob);                    /* without a dealloc */
    ob = knot_new(h, &Knot, 3);
    check_str(snapshot_ids(t, "Knot"), "18");
    knot_tie(h, ob, 0, ob);
    rrc_decref(h->heap, ob);
    knot_collect(h);                            /* as garbage */
    ob = knot_new(h, &Knot, 4);
    check_str(snapshot_ids(t, "Knot"), "22");
    ob_link(h, O, p, ob, FULL);
    check_str(snapshot_ids(t, "Knot"), "22");
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_str(snapshot_ids(t, "Knot"), "22");
    rrc_decref(h->heap, ob);
    host_unroot(h, p);
    host_major(h);                              /* with its proxy */
    rrc_run_pending(h->heap, 0);
    ob = knot_new(h, &Knot, 5);
    check_str(snapshot_ids(t, "Knot"), "26");
    rrc_decref(h->heap, ob);
    p = host_new(h, HOST_OLD);
    ob = ob_given(h, O, p, LIGHT_OB);           /* a light one */
    check_str(snapshot_ids(t, RRC_TYPE(ob)->tp_name), "30");
    host_major(h);
    ob = ob_given(h, O, host_rooted(h, HOST_OLD), LIGHT_OB);
    check_str(snapshot_ids(t, RRC_TYPE(ob)->tp_name), "34");
    /* One that others refer to may not be resized, but one that is only referred to from a field may. */
    var = rrc_gc_new_var(h->heap, &Var, 1);
    check(var != NULL);
    KNOT(owner)->ref[0] = var;
    check_str(snapshot_ids(t, "Var"), "38");
    moved = rrc_gc_resize(h->heap, var, 1);         /* (most allocators leave it where it is) */
    check(moved != NULL);
    KNOT(owner)->ref[0] = moved;
    id = moved == var ? 38 : 42;
    snprintf(expected, sizeof expected, "%d", id);
    check_str(snapshot_ids(t, "Var"), expected);
    var = moved;
    moved = rrc_gc_resize(h->heap, var, 1000000);
    check(moved != NULL);
    KNOT(owner)->ref[0] = moved;
    ob = rrc_gc_new_var(h->heap, &Var, 1);      /* where the other one was */
    check(ob != NULL);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    snprintf(expected, sizeof expected, "%d %d", id + 4, moved == var ? id : id + 8);
    check_str(snapshot_ids(t, "Var"), expected);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, owner);
    h->events[0] = '\0';
    host_unroot(h, h->count - 1);
    host_major(h);
    host_close(h);
    free(t);
}

enum { MANY = 70 };

/* Something of which there are many: a table of names, before and after the others; counts; roots. */
typedef struct crowd {
    app a;
    rrc_object *obs[MANY], *first, *last;
    size_t p[MANY];
} crowd;

static rrc_member many_members[MANY + 1];
static char many_names[MANY][16];

typedef struct many_fields {
    knot knot;
    rrc_object *field[MANY];
} many_fields;

static rrc_type Many = {
    .tp_name = "Many", .tp_basicsize = sizeof(many_fields), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_members = many_members,
};

static void name_many(void)
{
    int i;

    for (i = 0; i < MANY; i++) {
        snprintf(many_names[i], sizeof many_names[i], "m%d", i);
        many_members[i].name = many_names[i];
        many_members[i].offset = offsetof(many_fields, field) + (size_t)i * sizeof(rrc_object *);
    }
}

/* which & 1: roots; & 2: counts; & 4: fields. */
static crowd crowd_open(int which)
{
    crowd c;
    int i, k;

    name_many();
    c.a = app_open(2);
    c.first = rrc_gc_new(c.a.h->heap, &Many);
    c.last = rrc_gc_new(c.a.h->heap, &Many);
    check(c.first != NULL && c.last != NULL);
    check_int(rrc_gc_track(c.a.h->heap, c.first), RRC_OK);
    for (i = 0; i < MANY; i++) {
        c.p[i] = (which & 1) != 0 ? host_rooted(c.a.h, HOST_OLD) : HOST_NOTHING;
        c.obs[i] = knot_new(c.a.h, &Knot, i);
        for (k = 0; k < i && (which & 2) != 0; k++)
            rrc_incref(c.a.h->heap, c.obs[i]);
        if ((which & 4) != 0) {
            rrc_incref(c.a.h->heap, c.obs[i]);
            ((many_fields *)(void *)c.first)->field[i] = c.obs[i];
        }
    }
    check_int(rrc_gc_track(c.a.h->heap, c.last), RRC_OK);
    return c;
}

static void crowd_close(crowd *c, int which)
{
    int i, k;

    for (i = 0; i < MANY; i++) {
        for (k = 0; k < i && (which & 2) != 0; k++)
            rrc_decref(c->a.h->heap, c->obs[i]);
        rrc_decref(c->a.h->heap, c->obs[i]);
        if (c->p[i] != HOST_NOTHING)
            host_unroot(c->a.h, c->p[i]);
    }
    rrc_decref(c->a.h->heap, c->first);
    rrc_decref(c->a.h->heap, c->last);
    app_close(&c->a);
}

/* Lack of memory is told, nothing is lost, and ids stay what they were. (An array that cannot be made
   smaller stays as it is.) */
static void a_snapshot_without_memory(void)
{
    int which;

    for (which = 0; which < 8; which++) {
        size_t fail_at, failures = 0;
        int has_failed = 1;

        for (fail_at = 1; has_failed; fail_at++) {
            crowd c = crowd_open(which);
            host *h = c.a.h;
            size_t bytes;
            rrc_stats stats = host_stats(h);
            int code;

            unit_context("world %d, allocation %u fails", which, (unsigned)fail_at);
            check_str(snapshot_ids(c.a.t, "KnotTable"), "6");
            check(host_stats(h).memory > stats.memory);
            stats = host_stats(h);
            bytes = h->live_bytes;
            h->fail_at = h->calls.allocate + fail_at;
            code = rrc_dump_heapsnapshot(h->heap, host_insight(h), ignore_text, NULL);
            has_failed = h->failed > 0;
            check_int(code, !has_failed || code == RRC_OK ? RRC_OK : RRC_ENOMEM);
            failures += code != RRC_OK;
            h->fail_at = 0;
            check_int(h->live_bytes - bytes, host_stats(h).memory - stats.memory);
            check_str(snapshot_ids(c.a.t, "KnotTable"), "6");
            crowd_close(&c, which);
        }
        check(failures > 8);
        check(failures < fail_at - 2);          /* some did no harm */
    }
}

/* The first snapshot of a heap, which has to remember its objects. */
static void a_first_snapshot_without_memory(void)
{
    size_t fail_at, failures = 0;
    int has_failed = 1;

    for (fail_at = 1; has_failed; fail_at++) {
        crowd c = crowd_open(0);
        host *h = c.a.h;
        size_t bytes = h->live_bytes;
        rrc_stats stats = host_stats(h);
        char ids[40];
        int code;

        unit_context("allocation %u fails", (unsigned)fail_at);
        h->fail_at = h->calls.allocate + fail_at;
        code = rrc_dump_heapsnapshot(h->heap, host_insight(h), ignore_text, NULL);
        has_failed = h->failed > 0;
        check_int(code, !has_failed || code == RRC_OK ? RRC_OK : RRC_ENOMEM);
        failures += code != RRC_OK;
        h->fail_at = 0;
        check_int(h->live_bytes - bytes, host_stats(h).memory - stats.memory);
        snprintf(ids, sizeof ids, "%s", snapshot_ids(c.a.t, "KnotTable"));      /* (numbers can have been used up) */
        check_str(snapshot_ids(c.a.t, "KnotTable"), ids);
        crowd_close(&c, 0);
    }
    check(failures > 8);
    unit_context("%s", "");
}

/* Long names are cut, and a name may begin another one. An object may have lost its type. */
static void names_of_all_lengths(void)
{
    static char name[400];
    static const rrc_type Long = { .tp_name = name, .tp_basicsize = sizeof(node) };
    host *h = host_open(NULL);
    text *t = text_open(h);
    rrc_object *ob = ob_new(h, &Long);
    size_t p = host_rooted(h, HOST_OLD), length;

    ob_link(h, O, p, ob, FULL);
    for (length = 240; length < 260; length++) {
        char expected[400];

        memset(name, 'x', length);
        name[length] = '\0';
        snprintf(expected, sizeof expected, "\"%.250s\"", name);
        clear_text(t);
        check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
        check_int(mentions(t->written, expected), 1);
    }
    RRC_TYPE(ob) = NULL;
    clear_text(t);
    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "\"?\""), 1);
    RRC_TYPE(ob) = &Long;
    rrc_decref(h->heap, ob);
    host_unroot(h, p);
    host_major(h);
    host_close(h);
    free(t);
}

/* A host may give ids to some of its objects, and may stop to. */
static void objects_with_ids_and_without(void)
{
    app a = app_open(3);

    check_str(snapshot_ids(a.t, "userdata Widget"), "23");
    check_str(ids_of(a.t, "function at \\\"app\\\":12"), "13");
    a.h->options.shows = 4;
    check_str(snapshot_ids(a.t, "userdata Widget"), "23");
    check_str(ids_of(a.t, "function at \\\"app\\\":12"), "27");
    app_close(&a);
}

/* A tp_traverse that gives another answer at each second call. What is written agrees with itself, as each object is
   asked once. */
static int fickle_answers;

static int fickle_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    if (++fickle_answers % 2 == 0)
        RRC_VISIT(KNOT(self)->ref[0]);
    RRC_VISIT(KNOT(self)->ref[1]);
    return 0;
}

static void traverses_that_change(void)
{
    static const rrc_type Fickle = {
        .tp_name = "Fickle", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = fickle_traverse,
    };
    int way;

    for (way = 0; way < 6; way++) {
        host *h = host_open(NULL);
        text *t = text_open(h);
        rrc_object *fickle = knot_new(h, &Fickle, 0), *a = ob_new(h, &Node), *b = ob_new(h, &Node);
        int before;

        unit_context("way %d", way);
        KNOT(fickle)->ref[0] = a;
        KNOT(fickle)->ref[1] = b;
        before = fickle_answers = way / 3;
        check_int(way % 3 == 0 ? rrc_explain(h->heap, host_insight(h), a, write_text, t)
                : way % 3 == 1 ? rrc_dump_dot(h->heap, host_insight(h), write_text, t)
                : rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
        check_int(fickle_answers, before + 1);
        rrc_decref(h->heap, fickle);
        host_close(h);
        free(t);
    }
}

/* What waits, what is static, and what no collection has found yet. */
static void a_snapshot_of_what_waits(void)
{
    host *h = host_open(NULL);
    text *t = text_open(h);
    zoo z = make_a_zoo(h);

    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "\"say \\\"hi\\\" \\\\\""), 1);
    check_int(mentions(t->written, "\"static\""), 1);
    check_int(mentions(t->written, "\"1 reference\""), 1);
    check_int(mentions(t->written, "\"waits\""), 0);
    check_int(mentions(t->written, ",16,0,0,0,0\n"), 1);
    check_int(mentions(t->written, "\n,3,"), 3 + 3 + 1);        /* three p's; their links, of which one leads back */
    host_major(h);
    clear_text(t);
    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "\"waits\""), 1);
    check_int(mentions(t->written, ",16,0,7,0,0\n"), 1);  /* the ring of five, and the stiff one */
    leave_the_zoo(h, z);
    free(t);
}

/* Text that is UTF-8 is written as it is, and each other byte as U+FFFD. */
static const char *strange_words(host *h, size_t id)
{
    static const char *const words[] = {
        "string \x01\x1f\"\\", "string \x7f\xc2\x80\xdf\xbf", "string \xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf",
        "string \xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "string \x80", "string \xc1\x80", "string \xe0\x9f\xbf",
        "string \xed\xa0\x80", "string \xf0\x8f\xbf\xbf", "string \xf4\x90\x80\x80", "string \xf5\x80\x80\x80",
        "string \xc2", "string \xe2\x82", "strings", "sorted", "function", "functions", "functors",
    };
    static char said[100];

    (void)h;
    if (id < sizeof words / sizeof words[0])
        return words[id];
    snprintf(said, sizeof said, "%s number %u", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", (unsigned)id);
    return said;
}

static void text_of_all_kinds(void)
{
    const host_options options = { .shows = 2 };
    host *h = host_open(&options);
    text *t = text_open(h);
    size_t i;

    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);      /* an empty heap */
    check_int(mentions(t->written, "\"node_count\":4,\"edge_count\":3,"), 1);
    h->words = strange_words;
    for (i = 0; i < 150; i++)
        host_rooted(h, HOST_OLD);
    clear_text(t);
    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_text, t), RRC_OK);
    check_int(mentions(t->written, "\"string \\u0001\\u001f\\\"\\\\\""), 1);
    check_int(mentions(t->written, "\"string \x7f\xc2\x80\xdf\xbf\""), 1);
    check_int(mentions(t->written, "\"string \xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf\""), 1);
    check_int(mentions(t->written, "\"string \xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), 1);
    check_int(mentions(t->written, "\"string \\ufffd\""), 2);
    check_int(mentions(t->written, "\"string \\ufffd\\ufffd\""), 2);
    check_int(mentions(t->written, "\"string \\ufffd\\ufffd\\ufffd\""), 2);
    check_int(mentions(t->written, "\"string \\ufffd\\ufffd\\ufffd\\ufffd\""), 3);
    check_int(mentions(t->written, "\n,2,"), 13 + 150);      /* strings, and edges of the roots */
    check_int(mentions(t->written, "\n,5,"), 1);             /* a function */
    check_int(mentions(t->written, "number 149\""), 1);
    host_close(h);
    free(t);
}

/* Each object of the host is asked for its edges once, and so are the roots. */
static void count_edges(host *h, const char *name)
{
    *(int *)h->test += strcmp(name, "edges") == 0;
}

static void the_host_is_asked_once(void)
{
    int way;

    for (way = 0; way < 3; way++) {
        app a = app_open(2);
        int asked = 0;

        unit_context("way %d", way);
        a.h->on_hook = count_edges;
        a.h->test = &asked;
        check_int(way == 0 ? rrc_explain(a.h->heap, host_insight(a.h), a.window, ignore_text, NULL)
                : way == 1 ? rrc_dump_dot(a.h->heap, host_insight(a.h), ignore_text, NULL)
                : rrc_dump_heapsnapshot(a.h->heap, host_insight(a.h), ignore_text, NULL), RRC_OK);
        check_int(asked, 4 + 1);
        a.h->on_hook = NULL;
        app_close(&a);
    }
}

/* ---- the inspection interface itself ---- */

static int count_until_two(rrc_object *ob, void *arg)
{
    (void)ob;
    return ++*(int *)arg == 2;
}

static void ignore_reference(void *arg, rrc_object *to, const char *name)
{
    (void)arg;
    (void)to;
    (void)name;
}

static void ignore_gone(rrc_observer *self, rrc_heap *heap, rrc_object *ob)
{
    (void)self;
    (void)heap;
    (void)ob;
}

static void note_gone(rrc_observer *self, rrc_heap *heap, rrc_object *ob)
{
    (void)self;
    (void)heap;
    (void)ob;
}

/* Each function of an inspection says what is wrong, and under whose name. */
static void inspections_that_are_refused(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &Knot, 0);
    rrc_info info;
    int n = 0;

    check_int(rrc_inspect_begin(NULL, "viewer"), RRC_ENULL);
    check_int(rrc_inspect_end(NULL), RRC_ENULL);
    check_int(rrc_inspect_each(NULL, RRC_EACH_TRACKED, count_until_two, &n), RRC_ENULL);
    check_int(rrc_inspect_end(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_inspect_end");
    check_int(rrc_inspect_each(h->heap, RRC_EACH_TRACKED, count_until_two, &n), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_inspect_each");
    check_int(rrc_inspect_references(h->heap, ob, ignore_reference, NULL), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_inspect_references");
    check_int(rrc_inspect(h->heap, ob, &info), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_inspect");

    check_int(rrc_inspect_begin(h->heap, "viewer"), RRC_OK);
    check_int(rrc_inspect_begin(h->heap, "another"), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "another");
    check_int(rrc_inspect_each(h->heap, RRC_EACH_TRACKED, NULL, &n), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "viewer");
    check_int(rrc_inspect_each(h->heap, 0, count_until_two, &n), RRC_EKIND);
    host_expect_log(h, RRC_EKIND, "viewer");
    check_int(rrc_inspect_each(h->heap, RRC_EACH_QUEUED + 1, count_until_two, &n), RRC_EKIND);
    host_expect_log(h, RRC_EKIND, "viewer");
    check_int(rrc_inspect_references(h->heap, NULL, ignore_reference, NULL), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "viewer");
    check_int(rrc_inspect_references(h->heap, ob, NULL, NULL), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "viewer");
    check_int(rrc_inspect(h->heap, NULL, &info), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "viewer");
    check_int(rrc_inspect(h->heap, ob, NULL), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "viewer");
    check_int(n, 0);
    check_int(rrc_inspect_end(h->heap), RRC_OK);
    check_int(rrc_check(h->heap), RRC_OK);              /* nothing is left of it */
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* What is said of links that are not as they should be, and of a marker. */
static void links_that_are_wrong(void)
{
    static short marker;
    static const unsigned kinds[] = { RRC_IS_P_LINKED, RRC_IS_O_LINKED, 0 };
    host *h = host_open(NULL);
    rrc_object *ob;
    rrc_info info;
    size_t k;

    for (k = 0; k < 3; k++) {
        rrc_gcref p = host_at(h, host_rooted(h, HOST_OLD));

        unit_context("kind %u", kinds[k]);
        ob = ob_new(h, &Node);
        if (kinds[k] == RRC_IS_P_LINKED)                /* its maker forgot the bias */
            check_int(rrc_create_link_pypy(h->heap, p, ob), RRC_OK);
        else if (kinds[k] == RRC_IS_O_LINKED)
            check_int(rrc_create_link_pyobj(h->heap, p, ob), RRC_OK);
        else
            RRC_LINK(ob) = p;                           /* somebody wrote it there */
        check_int(rrc_inspect_begin(h->heap, "viewer"), RRC_OK);
        check_int(rrc_inspect(h->heap, ob, &info), RRC_OK);
        check_int(info.is & (RRC_IS_P_LINKED | RRC_IS_O_LINKED), kinds[k]);
        check_ptr(info.p, kinds[k] != 0 ? p : NULL);
        check_int(rrc_inspect_end(h->heap), RRC_OK);
        if (kinds[k] != 0) {
            RRC_REFCNT(ob) += BIAS;
            check_int(rrc_unlink(h->heap, ob), RRC_OK);
        }
        RRC_LINK(ob) = NULL;
        rrc_decref(h->heap, ob);
    }
    ob = ob_new(h, &Node);
    rrc_mark_deallocating(h->heap, &marker, ob);
    check_int(rrc_inspect_begin(h->heap, "viewer"), RRC_OK);
    check_int(rrc_inspect(h->heap, ob, &info), RRC_OK);
    check_int(info.is & (RRC_IS_P_LINKED | RRC_IS_O_LINKED), 0);
    check_ptr(info.p, NULL);
    check_int(rrc_inspect_end(h->heap), RRC_OK);
    rrc_mark_deallocating(h->heap, NULL, ob);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* A look at the queue ends where the visit says so, also if the deallocs of others were put off. */
static void stop_in_the_queue(host *h, rrc_object *ob)
{
    int seen = 0;

    (void)ob;
    check_int(rrc_inspect_begin(h->heap, "viewer"), RRC_OK);
    check_int(rrc_inspect_each(h->heap, RRC_EACH_QUEUED, count_until_two, &seen), RRC_OK);
    check_int(rrc_inspect_end(h->heap), RRC_OK);
    check_int(seen, 2);
}

static void a_queue_that_is_left(void)
{
    host *h = host_open(NULL);
    rrc_object *chain = ob_chain(h, &Node, 200), *ob;
    int i;

    for (i = 0; i < 3; i++)
        ob_given(h, P, host_new(h, HOST_OLD), FULL);
    host_major(h);
    check_int(host_stats(h).pending, 3);
    for (ob = chain; ob != NULL; ob = NODE(ob)->ref[0])
        NODE(ob)->ref[1] = ob_new(h, &Node);
    h->on_dealloc = stop_in_the_queue;
    rrc_decref(h->heap, chain);
    h->on_dealloc = NULL;
    check_int(h->deallocs, 400);
    rrc_run_pending(h->heap, 0);
    host_close(h);
}

/* A visit ends when it returns something else than 0: of each kind there are three objects. */
static void inspections_that_stop(void)
{
    host *h = host_open(NULL);
    rrc_object *ob[3];
    int kind, i;

    for (i = 0; i < 3; i++)
        ob[i] = knot_new(h, &Knot, 0);
    for (i = 0; i < 3; i++)
        check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), ob[i], RRC_P), RRC_OK);
    check_int(rrc_inspect_begin(h->heap, "viewer"), RRC_OK);
    for (kind = RRC_EACH_TRACKED; kind <= RRC_EACH_QUEUED; kind++) {
        int n = 0;

        unit_context("kind %d", kind);
        check_int(rrc_inspect_each(h->heap, kind, count_until_two, &n), RRC_OK);
        check_int(n, kind == RRC_EACH_QUEUED ? 0 : 2);
    }
    check_int(rrc_inspect_end(h->heap), RRC_OK);
    for (i = 0; i < 3; i++)
        rrc_decref(h->heap, ob[i]);
    host_close(h);
}

static void observers_come_and_go(void)
{
    host *h = host_open(NULL);
    rrc_observer first, second, none;

    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    memset(&none, 0, sizeof none);
    first.gone = ignore_gone;
    second.gone = note_gone;
    check_int(rrc_observe(NULL, &first, 1), RRC_ENULL);
    check_int(rrc_observe(h->heap, NULL, 1), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_observe");
    check_int(rrc_observe(h->heap, &none, 1), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_observe");
    check(rrc_find_observer(NULL, ignore_gone) == NULL);
    check(rrc_find_observer(h->heap, ignore_gone) == NULL);
    check_int(rrc_observe(h->heap, &first, 1), RRC_OK);
    check_int(rrc_observe(h->heap, &second, 1), RRC_OK);
    check_int(rrc_observe(h->heap, &first, 1), RRC_OK);         /* (once is enough) */
    check(rrc_find_observer(h->heap, ignore_gone) == &first);
    check(rrc_find_observer(h->heap, note_gone) == &second);
    check_int(rrc_observe(h->heap, &first, 0), RRC_OK);
    check_int(rrc_observe(h->heap, &first, 0), RRC_OK);
    check(rrc_find_observer(h->heap, ignore_gone) == NULL);
    check(rrc_find_observer(h->heap, note_gone) == &second);
    check_int(rrc_observe(h->heap, &second, 0), RRC_OK);
    host_close(h);
}

static void memory_for_viewers(void)
{
    host *h = host_open(NULL);
    char *memory;

    check(rrc_realloc(NULL, NULL, 0, 10) == NULL);
    memory = (char *)rrc_realloc(h->heap, NULL, 0, 10);
    check(memory != NULL);
    memset(memory, 'x', 10);
    h->fail_at = h->calls.allocate + 1;
    check(rrc_realloc(h->heap, memory, 10, 100) == NULL);
    h->fail_at = 0;
    memory = (char *)rrc_realloc(h->heap, memory, 10, 100);
    check(memory != NULL && memory[9] == 'x');
    check(rrc_realloc(h->heap, memory, 100, 0) == NULL);
    check_int(rrc_log(NULL, RRC_ENULL, "viewer", NULL, NULL, ""), RRC_ENULL);
    check_int(rrc_log(h->heap, RRC_EKIND, "viewer", NULL, NULL, ""), RRC_EKIND);
    host_expect_log(h, RRC_EKIND, "viewer");
    host_close(h);
}

UNIT_GROUP(gc_insight,
    UNIT(inspections_that_are_refused),
    UNIT(inspections_that_stop),
    UNIT(links_that_are_wrong),
    UNIT(a_queue_that_is_left),
    UNIT(observers_come_and_go),
    UNIT(memory_for_viewers),
    UNIT(a_snapshot_in_full),
    UNIT(ids_are_those_of_one_life),
    UNIT(a_snapshot_without_memory),
    UNIT(a_first_snapshot_without_memory),
    UNIT(names_of_all_lengths),
    UNIT(objects_with_ids_and_without),
    UNIT(traverses_that_change),
    UNIT(a_snapshot_of_what_waits),
    UNIT(the_host_is_asked_once),
    UNIT(text_of_all_kinds),
    UNIT(the_path_through_both_heaps),
    UNIT(objects_with_names_of_their_own),
    UNIT(kept_for_garbage),
    UNIT(roots_and_hosts_without_names),
    UNIT(a_picture_of_both_heaps),
    UNIT(seeing_both_heaps_without_memory),
    UNIT(the_hooks_that_show_may_only_look),
    UNIT(references_that_are_no_members),
    UNIT(pictures_in_a_walk),
    UNIT(only_tracked_objects_have_edges),
    UNIT(a_long_queue),
    UNIT(held_from_outside),
    UNIT(a_very_large_count),
    UNIT(the_shortest_path),
    UNIT(the_same_object_in_two_members),
    UNIT(garbage_is_called_so),
    UNIT(links_and_the_queue),
    UNIT(what_is_not_in_the_graph),
    UNIT(without_memory_nothing_is_written),
    UNIT(a_picture_of_one),
    UNIT(a_picture_of_everything),
    UNIT(graphviz_understands_it),
    UNIT(an_empty_heap_has_no_leaks),
    UNIT(what_goes_is_no_leak),
    UNIT(leaks_by_type),
    UNIT(who_refers_at_the_end),
    UNIT(a_long_way_to_a_leak),
    UNIT(leaks_without_heads),
    UNIT(leaks_of_no_type),
    UNIT(sizes_have_what_is_elsewhere),
    UNIT(the_end_changes_what_is_left),
    UNIT(what_leaks_let_go_of_at_the_end),
    UNIT(a_report_in_place_of_another),
    UNIT(reports_that_are_refused),
    UNIT(a_report_without_memory),
);
