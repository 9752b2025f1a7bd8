/* Major collections in slices, against an oracle of reachability over both heaps.
 *
 *     slices random [SEED [COUNT [OPERATIONS [talk]]]]    random programs: see random.h
 *     slices small [STRIDE [FIRST [COUNT [talk]]]] all small graphs, with one mutation between any two slices
 *
 * The host here is small, and marks in slices of its own: gray objects in a list, and
 * a barrier. It has one of two. With a forward barrier, a black object that gets a
 * reference makes its target gray, and roots are marked at the end. With a snapshot
 * barrier, a reference that is overwritten makes its target gray, and roots are marked
 * at the start only.
 *
 * Some C objects are wrappers (tp_outside). They own a reference to an object of a foreign library, which has counts and
 * fields of its own, and whose code takes, moves and drops references at any moment, also in the hooks, without telling
 * the header.
 *
 * What is tested: no object that the program can reach is finalized, cleared or freed,
 * and no host object that it can reach dies (LOST). What was garbage when a search began,
 * and was not touched since, is gone after two complete collections (MISSED). */

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

#include "random.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HOST_SLOT
#define HOST_SLOT 0
#endif

enum { MOST_C = 14, MOST_P = 12, MOST_F = 18, FIELDS = 3, MOST_WEAK = 4, NONE = -1, MOST_GRAY = 4096, DEEPEST = 2 };

/* ---- what there is ---- */

typedef enum c_kind {
    GC, WEAK, FINAL, WRAPPER, FINAL_WRAPPER, PLAIN, OWN, LIGHT, PLAIN_WRAPPER, OWN_WRAPPER, KINDS
} c_kind;

/* A counted object. */
typedef struct thing {
    rrc_object ob;
    int        id;
    rrc_object *field[FIELDS];
} thing;

/* Where a host object is. It may move. */
typedef struct cell {
    int          id;
    rrc_object  *slot;
    struct cell *next;
} cell;

typedef struct c_node {
    thing *at;              /* NULL: there is no such object */
    c_kind kind;
    int    tracked;
    int    ext;             /* references of C variables */
    int    held;            /* code that is running uses it */
    int    link, is_p;      /* a host object, or NONE */
    int    foreign;         /* of a wrapper: its foreign object, or NONE */
    int    dying;           /* its dealloc is running */
    int    suspect;         /* it was not reachable at the last verdict, and some garbage is not dealt with yet */
    int    guarded;         /* C could reach it when rrc_run_pending began */
    int    finalized, cleared;
    int    wanted;          /* a suspect has a P link with this old host object, which was to be kept; or NONE */
    long   found;           /* it was garbage, and untouched, since that many complete collections; 0: it was not */
} c_node;

typedef enum color { WHITE, GRAY, BLACK } color;

typedef struct p_node {
    cell *at;
    int   young, roots, is_copied;
    color color;
    int   field[FIELDS];
    long  found;
} p_node;

/* An object of the foreign library. It is freed when nothing refers to it. */
typedef struct f_node {
    int is_there;
    int wrapper;            /* the C object that owns a reference to it, or NONE */
    int ext;                /* references of foreign variables */
    int dying;              /* its wrapper's dealloc is running, and drops the reference at the end */
    int field[FIELDS];
} f_node;

/* held: foreign objects to which others than their wrappers refer. */
typedef struct set { unsigned c, p, f, held; } set;

typedef enum phase { IDLE, MARKING, VERDICT, SWEEPING } phase;

static struct {
    rrc_heap *heap;
    rrc_object *last;                   /* the heap exists until it goes */
    choices   from;
    c_node    c[MOST_C];
    p_node    p[MOST_P];
    f_node    f[MOST_F];
    int       weak[MOST_WEAK];
    int       gray[MOST_GRAY], gray_count;
    cell     *moved;                    /* cells that are not in use any more, in a collection */
    phase     phase;
    int       snapshot, reports_early, checks, small;
    int       in_minor, in_major, in_move, in_work, in_pending, in_slot, ending, calm;
    int       in_early;                 /* the host marks on after the trace call, and not in propagate */
    int       ends_early;               /* small graphs: as soon as all is marked; 2: after the mutation */
    int       walking;
    int       favors;                   /* which operations are frequent */
    int       garbage_waits;            /* rrc_run_pending was called after a verdict, before the end of the sweep */
    int       moves_out;                /* small graphs: a dealloc moves out what its object owns */
    int       is_decided;               /* a collection at once has weighed wrappers for the last time */
    set       decided;                  /* ... and this could be reached then */
    int       is_clean;                 /* this collection finds all garbage of its start */
    int       was_paused;               /* what was reported before counts as alive in the next collection */
    long      complete;                 /* collections that did, and whose garbage is gone */
    int       finished_one;             /* ... but for the garbage, which is still pending */
    unsigned long operations;
} w;

static int talks;               /* everything is printed */


#define BIT(i) (1u << (i))

static c_node *node_of(rrc_object *ob) { return &w.c[((thing *)(void *)ob)->id]; }
static int id_of(rrc_object *ob) { return ((thing *)(void *)ob)->id; }
static int id_of_p(rrc_gcref p) { return ((cell *)p)->id; }
static rrc_object *ob_of(int x) { return &w.c[x].at->ob; }

static int is_gc(c_kind kind) { return kind <= FINAL_WRAPPER; }
static int is_own(c_kind kind) { return kind == OWN || kind == OWN_WRAPPER; }
static int is_final(c_kind kind) { return kind == FINAL || kind == FINAL_WRAPPER; }

static int is_wrapper(c_kind kind)
{
    return kind == WRAPPER || kind == FINAL_WRAPPER || kind == PLAIN_WRAPPER || kind == OWN_WRAPPER;
}

/* The verdict is that it is dead. */
static int is_doomed(const p_node *p)
{
    return w.phase >= VERDICT && p->color == WHITE;
}

static int is_alive(int q)
{
    return w.p[q].at != NULL && !is_doomed(&w.p[q]);
}

/* For a minor collection. What died is not swept yet, and can be kept for finalizers until the keep call. */
static int is_there(int q)
{
    return w.p[q].at != NULL && (w.phase == VERDICT || !is_doomed(&w.p[q]));
}

static unsigned choose(unsigned n)
{
    return pick(&w.from, n);
}

/* ---- the oracle ---- */

static void add_c(set *s, int x, int *todo, int *count)
{
    if ((s->c & BIT(x)) == 0) {
        s->c |= BIT(x);
        todo[(*count)++] = x;
    }
}

static void add_p(set *s, int q, int *todo, int *count)
{
    if ((s->p & BIT(q)) == 0 && is_alive(q)) {
        s->p |= BIT(q);
        todo[(*count)++] = MOST_C + q;
    }
}

static void add_f(set *s, int f, int is_held, int *todo, int *count)
{
    if ((s->f & BIT(f)) != 0 && (!is_held || (s->held & BIT(f)) != 0))
        return;
    s->f |= BIT(f);
    if (is_held)
        s->held |= BIT(f);
    todo[(*count)++] = MOST_C + MOST_P + f;
}

/* The references to a foreign object, but for its wrapper's. */
static int count_outside(int f)
{
    int n = w.f[f].ext + w.f[f].dying, i, k;

    for (i = 0; i < MOST_F; i++)
        for (k = 0; k < FIELDS; k++)
            n += w.f[i].is_there && w.f[i].field[k] == f;
    return n;
}

/* What can be reached over both heaps. Of what was garbage at the last verdict, links do not count, as they do not
   hold. A foreign object that others refer to holds its wrapper, as long as that has a link. wide: what a search takes
   as held counts, too. */
static set reach_from(set s, int wide)
{
    int todo[MOST_C + MOST_P + 2 * MOST_F], count = 0, i, k;
    set from = s;

    s.c = s.p = s.f = s.held = 0;
    for (i = 0; i < MOST_F; i++)
        if ((from.f & BIT(i)) != 0)
            add_f(&s, i, (from.held & BIT(i)) != 0, todo, &count);
    for (i = 0; i < MOST_C; i++)
        if ((from.c & BIT(i)) != 0)
            add_c(&s, i, todo, &count);
    for (i = 0; i < MOST_P; i++)
        if ((from.p & BIT(i)) != 0)
            add_p(&s, i, todo, &count);
    while (count > 0) {
        i = todo[--count];
        if (i < MOST_C) {
            const c_node *x = &w.c[i];

            for (k = 0; k < FIELDS; k++)
                if (x->at->field[k] != NULL)
                    add_c(&s, id_of(x->at->field[k]), todo, &count);
            if (x->link != NONE && x->is_p && (wide || !x->suspect))
                add_p(&s, x->link, todo, &count);
            if (x->foreign != NONE)
                add_f(&s, x->foreign, 0, todo, &count);
            if (wide && x->link != NONE && x->foreign != NONE && count_outside(x->foreign) > 0)
                add_p(&s, x->link, todo, &count);
        } else if (i >= MOST_C + MOST_P) {
            const f_node *f = &w.f[i - MOST_C - MOST_P];

            for (k = 0; k < FIELDS; k++)
                if (f->field[k] != NONE)
                    add_f(&s, f->field[k], 1, todo, &count);
            if (f->wrapper == NONE || (s.held & BIT(i - MOST_C - MOST_P)) == 0)
                continue;
            if (wide || (w.c[f->wrapper].link != NONE && is_alive(w.c[f->wrapper].link) && !w.c[f->wrapper].suspect)) {
                add_c(&s, f->wrapper, todo, &count);
                if (w.c[f->wrapper].link != NONE)
                    add_p(&s, w.c[f->wrapper].link, todo, &count);
            }
        } else {
            int q = i - MOST_C;

            for (k = 0; k < FIELDS; k++)
                if (w.p[q].field[k] != NONE)
                    add_p(&s, w.p[q].field[k], todo, &count);
            for (i = 0; i < MOST_C; i++)
                if (w.c[i].at != NULL && w.c[i].link == q && (wide || !w.c[i].suspect))
                    add_c(&s, i, todo, &count);
        }
    }
    return s;
}

static set reach(void)
{
    set s = { 0, 0, 0, 0 };
    int i;

    for (i = 0; i < MOST_F; i++)
        if (w.f[i].is_there && w.f[i].ext > 0)
            s.f = s.held |= BIT(i);
    for (i = 0; i < MOST_C; i++)
        if (w.c[i].at != NULL && (w.c[i].ext > 0 || w.c[i].held > 0 || (w.c[i].dying && !w.c[i].suspect)))
            s.c |= BIT(i);
    for (i = 0; i < MOST_P; i++)
        if (w.p[i].at != NULL && w.p[i].roots > 0)
            s.p |= BIT(i);
    return reach_from(s, 0);
}

/* What C can reach without the host. */
static unsigned reach_in_c(void)
{
    unsigned c = 0, f = 0, before, before_f;
    int i, k;

    for (i = 0; i < MOST_C; i++)
        if (w.c[i].at != NULL && w.c[i].ext > 0)
            c |= BIT(i);
    for (i = 0; i < MOST_F; i++)
        if (w.f[i].is_there && w.f[i].ext > 0)
            f |= BIT(i);
    do {
        before = c;
        before_f = f;
        for (i = 0; i < MOST_C; i++) {
            for (k = 0; k < FIELDS; k++)
                if ((c & BIT(i)) != 0 && w.c[i].at->field[k] != NULL)
                    c |= BIT(id_of(w.c[i].at->field[k]));
            if ((c & BIT(i)) != 0 && w.c[i].foreign != NONE)
                f |= BIT(w.c[i].foreign);
        }
        for (i = 0; i < MOST_F; i++)
            if ((f & BIT(i)) != 0) {
                for (k = 0; k < FIELDS; k++)
                    if (w.f[i].field[k] != NONE)
                        f |= BIT(w.f[i].field[k]);
                if (w.f[i].wrapper != NONE)
                    c |= BIT(w.f[i].wrapper);
            }
    } while (c != before || f != before_f);
    return c;
}

/* Without C. */
static unsigned reach_in_host(void)
{
    unsigned p = 0, before;
    int i, k;

    for (i = 0; i < MOST_P; i++)
        if (is_alive(i) && w.p[i].roots > 0)
            p |= BIT(i);
    do {
        before = p;
        for (i = 0; i < MOST_P; i++)
            for (k = 0; k < FIELDS; k++)
                if ((p & BIT(i)) != 0 && w.p[i].field[k] != NONE)
                    p |= BIT(w.p[i].field[k]);
    } while (p != before);
    return p;
}

static int count_references(int x)
{
    int i, k, n = w.c[x].ext;

    for (i = 0; i < MOST_C; i++)
        if (w.c[i].at != NULL)
            for (k = 0; k < FIELDS; k++)
                n += w.c[i].at->field[k] == ob_of(x);
    return n;
}

/* What a search must not call garbage: the references of objects that it does not see count as held. */
static set reach_widely(void)
{
    set s = { 0, 0, 0, 0 };
    int i, k;

    for (i = 0; i < MOST_F; i++) {
        if (w.f[i].is_there && w.f[i].ext + w.f[i].dying > 0)
            s.f |= BIT(i), s.held |= BIT(i);
        if (w.f[i].is_there && (w.f[i].wrapper == NONE || !w.c[w.f[i].wrapper].tracked))
            for (k = 0; k < FIELDS; k++)
                if (w.f[i].field[k] != NONE)
                    s.f |= BIT(w.f[i].field[k]), s.held |= BIT(w.f[i].field[k]);
    }
    for (i = 0; i < MOST_C; i++) {
        const c_node *x = &w.c[i];

        if (x->at == NULL)
            continue;
        if (x->ext > 0 || x->held > 0 || x->dying)
            s.c |= BIT(i);
        if (!x->tracked)
            for (k = 0; k < FIELDS; k++)
                if (x->at->field[k] != NULL)
                    s.c |= BIT(id_of(x->at->field[k]));
        if (is_own(x->kind) && (count_references(i) > 0 || (x->foreign != NONE && count_outside(x->foreign) > 0)))
            s.c |= BIT(i);
        if (is_own(x->kind) && x->foreign != NONE && count_outside(x->foreign) > 0)
            s.f |= BIT(x->foreign), s.held |= BIT(x->foreign);
    }
    for (i = 0; i < MOST_P; i++)
        if (w.p[i].at != NULL && w.p[i].roots > 0)
            s.p |= BIT(i);
    return reach_from(s, 1);
}

static void lost(int x, const char *what)
{
    if ((reach().c & BIT(x)) != 0 && !w.c[x].suspect && !w.ending)
        unit_fail(__FILE__, __LINE__, "LOST: C object %d can be reached, but is %s (operation %lu)", x, what, w.operations);
}

/* Something was done to what the program could not reach. It may be alive for the search that is going on. */
static void touch_garbage(void)
{
    int i;

    for (i = 0; i < MOST_C; i++)
        w.c[i].found = 0;
    for (i = 0; i < MOST_P; i++)
        w.p[i].found = 0;
}

static void find_garbage(void)
{
    set alive = reach_widely();
    int i;

    for (i = 0; i < MOST_C; i++)
        w.c[i].found = (alive.c & BIT(i)) != 0 ? 0 : w.c[i].found > 0 ? w.c[i].found : w.complete + w.finished_one + 1;
    for (i = 0; i < MOST_P; i++)
        w.p[i].found = (alive.p & BIT(i)) != 0 ? 0 : w.p[i].found > 0 ? w.p[i].found : w.complete + w.finished_one + 1;
}

/* Prints both heaps. */
static void dump(void)
{
    set r = reach();
    int i, k;

    if (!talks)
        return;
    for (i = 0; i < MOST_C; i++) {
        const c_node *c = &w.c[i];

        if (c->at == NULL)
            continue;
        printf("C %d %p %d:%s%s%s%s%s ext %d held %d link %d%s count %ld found %ld ->", i, (void *)c->at, (int)c->kind,
               (r.c & BIT(i)) != 0 ? " reachable" : "", c->tracked ? " tracked" : "", c->dying ? " dying" : "",
               c->suspect ? " suspect" : "", c->finalized ? " finalized" : "", c->ext, c->held, c->link,
               c->is_p ? "P" : "", (long)rrc_refcnt(ob_of(i)), c->found);
        for (k = 0; k < FIELDS; k++)
            printf(" %d", c->at->field[k] != NULL ? id_of(c->at->field[k]) : NONE);
        printf("\n");
    }
    for (i = 0; i < MOST_F; i++)
        if (w.f[i].is_there)
            printf("foreign %d:%s wrapper %d ext %d outside %d -> %d %d %d\n", i, (r.f & BIT(i)) != 0 ? " reachable" : "",
                   w.f[i].wrapper, w.f[i].ext, count_outside(i), w.f[i].field[0], w.f[i].field[1], w.f[i].field[2]);
    for (i = 0; i < MOST_P; i++)
        if (w.p[i].at != NULL)
            printf("p %d:%s%s roots %d color %d found %ld -> %d %d %d\n", i, (r.p & BIT(i)) != 0 ? " reachable" : "",
                   w.p[i].young ? " young" : "", w.p[i].roots, (int)w.p[i].color, w.p[i].found, w.p[i].field[0],
                   w.p[i].field[1], w.p[i].field[2]);
    fflush(stdout);
}

/* The p's that garbage owns are kept once more, and so is what is not tracked but has such a p. */
static long most_collections(int is_tracked)
{
    return is_tracked ? 2 : 3;
}

static void expect_no_old_garbage(void)
{
    int i;

    for (i = 0; i < MOST_C; i++)
        if (w.c[i].at != NULL && w.c[i].found > 0 && w.complete + 1 - w.c[i].found >= most_collections(w.c[i].tracked))
            unit_fail(__FILE__, __LINE__, "MISSED: C object %d was garbage %ld complete collections ago (operation %lu)", i,
                      w.complete + 1 - w.c[i].found, w.operations);
    for (i = 0; i < MOST_P; i++)
        if (w.p[i].at != NULL && w.p[i].found > 0 && w.complete + 1 - w.p[i].found >= most_collections(0))
            unit_fail(__FILE__, __LINE__, "MISSED: host object %d was garbage %ld complete collections ago (operation %lu)", i,
                      w.complete + 1 - w.p[i].found, w.operations);
}

/* ---- the host ---- */

static void report(int q)
{
#if HOST_SLOT
    int x;

    for (x = 0; x < MOST_C; x++)
        if (w.c[x].at != NULL && w.c[x].link == q && RRC_LINK(ob_of(x)) == w.p[q].at)
            rrc_marked_ob(w.heap, ob_of(x));
#else
    rrc_marked(w.heap, w.p[q].at);
#endif
}

static void mark(int q)
{
    if (q == NONE || w.p[q].at == NULL || w.p[q].color != WHITE)
        return;
    w.p[q].color = GRAY;
    check(w.gray_count < MOST_GRAY);
    w.gray[w.gray_count++] = q;
    if (w.reports_early)
        report(q);
}

/* Returns whether there was anything to do. */
static int mark_one(void)
{
    int q, k;

    do {
        if (w.gray_count == 0)
            return 0;
        q = w.gray[--w.gray_count];
    } while (w.p[q].at == NULL || w.p[q].color != GRAY);
    w.p[q].color = BLACK;
    if (!w.reports_early)
        report(q);
    for (k = 0; k < FIELDS; k++)
        mark(w.p[q].field[k]);
    return 1;
}

static void mark_roots(void)
{
    int q;

    for (q = 0; q < MOST_P; q++)
        if (w.p[q].at != NULL && w.p[q].roots > 0)
            mark(q);
}

static void check_cell(rrc_gcref p)
{
    int q = id_of_p(p);

    if (q < 0 || q >= MOST_P)
        unit_fail(__FILE__, __LINE__, "the header names a host object that was freed (operation %lu)", w.operations);
}

static void foreign_step(void);

/* Foreign code does something in a hook. (A collection that ends early weighs wrappers for the last time in the trace
   call. One that is done at once does so before it keeps what finalizers need: a reference that is taken after that
   does not keep a proxy that was dead by then.) */
static void foreign_in_hook(unsigned chance)
{
    if (w.in_early || w.small || w.calm || w.ending || choose(chance) != 0)
        return;
    if (w.heap->machine.keeping != 0 && w.phase == IDLE && !w.is_decided) {
        w.decided = reach();
        w.is_decided = 1;
    }
    foreign_step();
}

static void hook_trace(void *userdata, rrc_gcref p)
{
    int q = id_of_p(p);

    (void)userdata;
    check_cell(p);
    check(w.p[q].at == p);
    if (w.in_minor) {
        check(is_there(q));
        w.p[q].is_copied = 1;
        return;
    }
    check(w.in_major || w.phase == MARKING || w.phase == VERDICT || w.in_work || w.ending);
    mark(q);
    foreign_in_hook(8);
    if (!w.small && choose(256) == 0) {
        rrc_gc_disable(w.heap);         /* in the middle of any stage */
        w.is_clean = 0;
    }
}

static void hook_propagate(void *userdata)
{
    (void)userdata;
    while (!w.in_early && mark_one())
        ;
    foreign_in_hook(4);
}

static rrc_gcref hook_survivor(void *userdata, rrc_gcref p)
{
    const p_node *q = &w.p[id_of_p(p)];

    (void)userdata;
    check_cell(p);
    if (w.in_minor) {
        check(is_there(id_of_p(p)));
        return q->young && !q->is_copied ? NULL : q->at;
    }
    return w.in_move || q->color != WHITE ? q->at : NULL;
}

static int hook_is_young(void *userdata, rrc_gcref p)
{
    (void)userdata;
    check_cell(p);
    return w.p[id_of_p(p)].young;
}

#if HOST_SLOT
static rrc_object **hook_slot(void *userdata, rrc_gcref p)
{
    (void)userdata;
    check_cell(p);
    return &((cell *)p)->slot;
}
#endif

static void hook_parted(void *userdata, rrc_gcref p, rrc_object *ob)
{
    c_node *x = node_of(ob);

    (void)userdata;
    check_cell(p);
    check(x->suspect || w.ending);
    check_int(x->link, id_of_p(p));
    x->link = x->wanted = NONE;
}

static void *hook_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    (void)userdata;
    if (new_size == 0) {
        if (ptr != NULL)
            memset(ptr, 0xdb, old_size);
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static void hook_log(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    if (item->code == RRC_EUNCOLLECTABLE && !w.small)
        return;                         /* the program has perhaps filled it again */
    dump();
    unit_fail(__FILE__, __LINE__, "%p: %s (operation %lu)", (void *)item->ob, item->text, w.operations);
}

static cell *new_cell(int q)
{
    cell *at = (cell *)malloc(sizeof *at);

    check(at != NULL);
    at->id = q;
    at->slot = NULL;
    at->next = NULL;
    return at;
}

static void retire(cell *at)
{
    at->next = w.moved;
    w.moved = at;
}

static void free_retired(void)
{
    while (w.moved != NULL) {
        cell *next = w.moved->next;

        w.moved->id = -1;
        free(w.moved);
        w.moved = next;
    }
}

static void move(int q)
{
    cell *at = new_cell(q);

    at->slot = w.p[q].at->slot;
    retire(w.p[q].at);
    w.p[q].at = at;
}

/* The host object is gone, and so are its links. */
static void kill_p(int q)
{
    int x;

    retire(w.p[q].at);
    w.p[q].at = NULL;
    w.p[q].found = 0;
    for (x = 0; x < MOST_C; x++)
        if (w.c[x].link == q)
            w.c[x].link = NONE;
}

static void expect_alive(int q, set alive, const char *when)
{
    if ((alive.p & BIT(q)) == 0)
        return;
    dump();
    unit_fail(__FILE__, __LINE__, "LOST: host object %d can be reached, but dies in a %s (operation %lu)", q, when,
                  w.operations);
}

static void minor(void)
{
    set alive = reach();
    unsigned before;
    int q, k;

    w.in_minor = 1;
    for (q = 0; q < MOST_P; q++)
        w.p[q].is_copied = is_there(q) && (!w.p[q].young || w.p[q].roots > 0);
    check_int(rrc_minor_collection_trace(w.heap), RRC_OK);
    do {
        before = 0;
        for (q = 0; q < MOST_P; q++)
            for (k = 0; k < FIELDS; k++) {
                int t = w.p[q].at != NULL && w.p[q].is_copied ? w.p[q].field[k] : NONE;

                if (t != NONE && is_there(t) && !w.p[t].is_copied)
                    before = (unsigned)(w.p[t].is_copied = 1);
            }
    } while (before);
    for (q = 0; q < MOST_P; q++)
        if (w.p[q].at != NULL && w.p[q].young && w.p[q].is_copied) {
            move(q);
            w.p[q].young = choose(4) == 0;
        } else if (w.p[q].at != NULL && !w.p[q].is_copied) {
            expect_alive(q, alive, "minor collection");
        }
    w.in_minor = 2;
    check_int(rrc_minor_collection_free(w.heap), RRC_OK);
    w.in_minor = 0;
    for (q = 0; q < MOST_P; q++)
        if (w.p[q].at != NULL && w.p[q].young && !w.p[q].is_copied) {
            if (w.snapshot && w.phase == MARKING)
                for (k = 0; k < FIELDS; k++)
                    mark(w.p[q].field[k]);      /* the program may have read its fields */
            for (k = 0; k < MOST_C; k++)
                if (w.phase == MARKING && w.c[k].at != NULL && w.c[k].link == q)
                    touch_garbage();            /* what loses its link is alive for this search */
            kill_p(q);
        }
    free_retired();
}

/* ---- the host's major collections ---- */

static void start(void)
{
    find_garbage();
    w.is_clean = w.walking == 0 && rrc_gc_is_enabled(w.heap) && !w.finished_one && !w.was_paused;
    if (w.is_clean) {
        rrc_stats stats;

        check_int(rrc_get_stats(w.heap, &stats), RRC_OK);
        w.is_clean = stats.pending == 0;
    }
    if (talks)
        printf("start%s\n", w.is_clean ? ", clean" : "");
    dump();
    w.gray_count = 0;
    if (choose(4) == 0)
        mark_roots();                   /* the host may report before */
    check_int(rrc_major_collection_start(w.heap), RRC_OK);
    w.phase = MARKING;
    if (w.snapshot || choose(2))
        mark_roots();
}

static void pronounce(set alive, int keeps)
{
    int i, k;

    check_int(w.gray_count, 0);
    if (w.is_decided)
        alive = w.decided;
    w.is_decided = 0;
    w.phase = VERDICT;
    for (i = 0; i < MOST_P; i++)
        if (w.p[i].at != NULL && w.p[i].color == WHITE)
            expect_alive(i, alive, "major collection");
    for (i = 0; i < MOST_C; i++)
        if (w.c[i].at != NULL) {
            w.c[i].suspect |= (alive.c & BIT(i)) == 0;
            w.c[i].wanted = NONE;
        }
    for (i = 0; i < MOST_C && keeps; i++)
        for (k = 0; k < FIELDS && w.c[i].at != NULL && w.c[i].suspect; k++)
            if (w.c[i].at->field[k] != NULL) {
                c_node *x = node_of(w.c[i].at->field[k]);

                if (x->link != NONE && x->is_p)
                    x->wanted = x->link;
            }
}

static void end_marking(void)
{
    w.in_major = 1;
    if (!w.snapshot)
        mark_roots();
    if (choose(2))
        hook_propagate(NULL);
    check_int(rrc_major_collection_trace(w.heap), RRC_OK);
    while (mark_one())
        ;
    w.in_major = 0;
    pronounce(reach(), 1);
}

static void end_collection(void)
{
    int q;

    for (q = 0; q < MOST_P; q++)
        if (w.p[q].at != NULL && w.p[q].color == WHITE)
            kill_p(q);
    free_retired();
    for (q = 0; q < MOST_P; q++)
        w.p[q].color = WHITE;
    w.phase = IDLE;
    w.was_paused = 0;
    w.finished_one |= w.is_clean;
}

static size_t work(size_t max)
{
    size_t done;

    w.in_work = w.phase == VERDICT;
    done = rrc_major_collection_work(w.heap, max);
    w.in_work = 0;
    return done;
}

static void keep(void)
{
    w.in_work = 1;
    check_int(rrc_major_collection_keep(w.heap), RRC_OK);
    w.in_work = 0;
    hook_propagate(NULL);
    w.phase = SWEEPING;
}

static void sweep(size_t max)
{
    if (rrc_major_collection_sweep(w.heap, max) < max || max == 0)
        end_collection();
}

/* The host ends its marking, and cannot do that in a trace call. */
static void end_collection_early(void)
{
    set alive = reach();
    unsigned repeats = choose(8) == 0;
    int i;

    for (i = 0; i < MOST_C; i++)
        if (w.c[i].at != NULL && is_final(w.c[i].kind) && !w.c[i].finalized)
            w.is_clean = 0;             /* it counts as held */
    w.in_major = w.in_early = 1;
    if (!w.snapshot)
        mark_roots();
    while (choose(2) && mark_one())
        ;
    do {
        check_int(rrc_major_collection_trace_early(w.heap), RRC_OK);
        while ((repeats == 0 || choose(2)) && mark_one())
            ;
    } while (repeats-- > 0);
    while (mark_one())
        ;
    w.in_early = 0;
    pronounce(alive, 0);
    if (choose(2))
        check_int(rrc_major_collection_free(w.heap), RRC_OK);
    else
        check_int(rrc_major_collection_sweep(w.heap, choose(3)), 0);
    w.in_major = 0;
    end_collection();
}

/* One slice, or a step to the next phase. */
static void advance(size_t max)
{
    w.garbage_waits = 0;                /* (from here on) */
    if (talks)
        printf("%*sadvance, phase %d\n", w.in_slot * 2, "", (int)w.phase);
    switch (w.phase) {
    case IDLE:
        start();
        break;
    case MARKING:
        if (choose(2)) {
            size_t n = choose(3) + 1;

            while (n-- > 0 && mark_one())
                ;
        } else if (work(max) < max && choose(w.gray_count == 0 ? 3 : 8) == 0) {
            (choose(3) ? end_marking : end_collection_early)();
        } else if (choose(24) == 0) {
            (choose(2) ? end_marking : end_collection_early)();
        }
        break;
    case VERDICT:
        if (choose(4) == 0)
            minor();
        if (choose(3) == 0 || work(max) < max)
            keep();
        break;
    case SWEEPING:
        if (choose(32) != 0) {
            sweep(max);
        } else {
            check_int(rrc_major_collection_free(w.heap), RRC_OK);
            end_collection();
        }
        break;
    }
}

static void finish_collection(void)
{
    while (w.phase != IDLE)
        advance(choose(8) + 1);
}

/* All at once. */
static void collect_whole(void)
{
    int keeps;

    finish_collection();
    find_garbage();
    w.is_clean = 0;
    w.gray_count = 0;
    w.in_major = 1;
    mark_roots();
    if (choose(2))
        hook_propagate(NULL);
    check_int(rrc_major_collection_trace(w.heap), RRC_OK);
    while (mark_one())
        ;
    keeps = (int)choose(2);
    pronounce(reach(), keeps);
    if (keeps) {
        check_int(rrc_major_collection_keep(w.heap), RRC_OK);
        hook_propagate(NULL);
    }
    check_int(rrc_major_collection_free(w.heap), RRC_OK);
    w.in_major = 0;
    end_collection();
}

static void hook_collect(void *userdata)
{
    (void)userdata;
    collect_whole();
}

/* Moves all host objects, outside a collection. */
static void move_all(void)
{
    int q;

    for (q = 0; q < MOST_P; q++)
        if (w.p[q].at != NULL)
            move(q);
    w.in_move = 1;
    check_int(rrc_links_moved(w.heap), RRC_OK);
    w.in_move = 0;
    free_retired();
}

static void pause_marking(void)
{
    int q;

    check_int(rrc_major_collection_pause(w.heap), RRC_OK);
    w.was_paused |= w.phase == MARKING;
    for (q = 0; q < MOST_P; q++)
        w.p[q].color = WHITE;
    w.gray_count = 0;
    w.phase = IDLE;
}

/* ---- C objects ---- */

static void steps(unsigned count);

static void slot_steps(unsigned count)
{
    if (w.calm || w.ending || w.small || w.in_slot >= DEEPEST)
        return;
    w.in_slot++;
    steps(count);
    w.in_slot--;
}

static void forget_weak(int x)
{
    int i;

    for (i = 0; i < MOST_WEAK; i++)
        if (w.weak[i] == x)
            w.weak[i] = NONE;
}

static void expect_unguarded(int x, const char *what)
{
    if (w.c[x].guarded && (reach_in_c() & BIT(x)) != 0)
        unit_fail(__FILE__, __LINE__, "LOST: C has a reference to waiting object %d, but it is %s (operation %lu)", x, what,
                  w.operations);
}

/* What garbage owns is whole while its code runs: the p of each P link is there. */
static void expect_whole(int x)
{
    int k;

    for (k = 0; k < FIELDS && w.c[x].suspect && !w.ending; k++) {
        rrc_object *ob = w.c[x].at->field[k];

        if (ob != NULL && node_of(ob)->suspect && node_of(ob)->wanted != NONE && node_of(ob)->link != node_of(ob)->wanted)
            unit_fail(__FILE__, __LINE__, "LOST: the host object of C object %d, which garbage %d owns (operation %lu)",
                      id_of(ob), x, w.operations);
    }
}

static void expect_uncleared(int x)
{
    unsigned c = BIT(x), before;
    int i, k;

    do {
        before = c;
        for (i = 0; i < MOST_C; i++)
            for (k = 0; k < FIELDS; k++)
                if ((c & BIT(i)) != 0 && w.c[i].at->field[k] != NULL)
                    c |= BIT(id_of(w.c[i].at->field[k]));
    } while (c != before);
    for (i = 0; i < MOST_C; i++)
        if ((c & BIT(i)) != 0 && w.c[i].cleared && !w.ending)
            unit_fail(__FILE__, __LINE__, "LOST: C object %d is finalized, but it reaches %d, which was cleared (operation %lu)",
                      x, i, w.operations);
}

/* ---- the foreign library ---- */

/* A reference to f is gone. */
static void foreign_drop(int f)
{
    f_node *x = &w.f[f];
    int k, t;

    if (x->wrapper != NONE || count_outside(f) > 0 || !x->is_there)
        return;
    x->is_there = 0;
    for (k = 0; k < FIELDS; k++) {
        t = x->field[k];
        x->field[k] = NONE;
        if (t == NONE)
            continue;
        if (!w.calm && !w.ending && !w.small && choose(6) == 0) {       /* it moves out */
            w.f[t].ext++;
            touch_garbage();
            for (t = 0; t < MOST_C; t++)
                w.c[t].cleared = 0;
        } else {
            foreign_drop(t);
        }
    }
}

static void foreign_clear(int f, int k)
{
    int t = w.f[f].field[k];

    w.f[f].field[k] = NONE;
    if (t != NONE)
        foreign_drop(t);
}

static int new_f(int wrapper)
{
    int f, k;

    for (f = 0; f < MOST_F && w.f[f].is_there; f++)
        ;
    if (f == MOST_F)
        return NONE;
    memset(&w.f[f], 0, sizeof w.f[f]);
    w.f[f].is_there = 1;
    w.f[f].wrapper = wrapper;
    w.f[f].ext = wrapper == NONE;
    for (k = 0; k < FIELDS; k++)
        w.f[f].field[k] = NONE;
    return f;
}

static intptr_t thing_outside(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return count_outside(node_of(self)->foreign);
}

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int k;

    for (k = 0; k < FIELDS; k++)
        RRC_VISIT(((thing *)(void *)self)->field[k]);
    return 0;
}

static int wrapper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const f_node *f = &w.f[node_of(self)->foreign];
    int k;

    for (k = 0; k < FIELDS; k++)
        if (f->field[k] != NONE && w.f[f->field[k]].wrapper != NONE)
            RRC_VISIT(ob_of(w.f[f->field[k]].wrapper));
    return thing_traverse(self, visit, arg);
}

static void thing_dealloc(rrc_heap *heap, rrc_object *self)
{
    thing *at = (thing *)(void *)self;
    int x = at->id, f = w.c[x].foreign, k;

    if (f != NONE) {                    /* nobody visits it from now on */
        w.f[f].wrapper = w.c[x].foreign = NONE;
        w.f[f].dying = 1;
    }
    if (w.c[x].ext > 0)
        unit_fail(__FILE__, __LINE__, "LOST: C object %d is deallocated, but C has a reference (operation %lu)", x, w.operations);
    check_int(count_references(x), 0);
    lost(x, "deallocated");
    if (talks)
        printf("%*sdealloc %d\n", w.in_slot * 2, "", x);
    forget_weak(x);
    expect_whole(x);
    w.c[x].tracked = 0;
    w.c[x].dying = 1;
    if (f != NONE && choose(2)) {
        w.f[f].dying = 0;
        foreign_drop(f);
        f = NONE;
    }
    for (k = 0; k < FIELDS && w.small && w.moves_out && w.phase == MARKING; k++)
        if (at->field[k] != NULL) {
            w.c[id_of(at->field[k])].ext++;
            at->field[k] = NULL;
        }
    if (choose(2)) {
        slot_steps(choose(6));
        for (k = 0; k < FIELDS; k++)
            if (at->field[k] != NULL && !w.calm && !w.ending && !w.small && choose(2)) {
                int t = id_of(at->field[k]);

                rrc_touch(heap, at->field[k]);
                at->field[k] = NULL;            /* it moves out, and its count does not change */
                w.c[t].ext++;
                touch_garbage();
                for (t = 0; t < MOST_C && w.c[x].suspect; t++)
                    w.c[t].cleared = 0;         /* the program can reach it again */
                slot_steps(choose(4));
            }
    }
    for (k = 0; k < FIELDS; k++)
        RRC_CLEAR(heap, at->field[k]);
    if (f != NONE) {
        w.f[f].dying = 0;
        foreign_drop(f);
    }
    RRC_TYPE(self)->tp_free(heap, self);
}

static void thing_free(rrc_heap *heap, void *self)
{
    thing *at = (thing *)self;
    c_node *x = &w.c[at->id];

    x->dying = 0;
    check(x->at == at);
    check_int(count_references(at->id), 0);
    lost(at->id, "freed");
    forget_weak(at->id);
    x->at = NULL;
    x->link = NONE;
    x->found = 0;
    if (is_gc(x->kind))
        rrc_gc_del(heap, self);
    else if (is_own(x->kind))
        free(self);
    else
        rrc_del(heap, self);
}

static int thing_clear(rrc_heap *heap, rrc_object *self)
{
    thing *at = (thing *)(void *)self;
    int k;

    lost(at->id, "cleared");
    expect_unguarded(at->id, "cleared");
    expect_whole(at->id);
    check(!w.garbage_waits);
    check(!is_final(w.c[at->id].kind) || w.c[at->id].finalized || w.ending);
    w.c[at->id].cleared = 1;
    if (talks)
        printf("%*sclear %d\n", w.in_slot * 2, "", at->id);
    check(w.in_pending > 0 || w.ending);
    for (k = 0; k < FIELDS && w.c[at->id].foreign != NONE; k++)
        foreign_clear(w.c[at->id].foreign, k);
    for (k = 0; k < FIELDS; k++)
        RRC_CLEAR(heap, at->field[k]);
    return 0;
}

static void thing_clear_weakrefs(rrc_heap *heap, rrc_object *self)
{
    int x = id_of(self);

    (void)heap;
    lost(x, "about to be cleared");
    expect_unguarded(x, "about to be cleared");
    check(!w.garbage_waits);
    forget_weak(x);
}

static void thing_finalize(rrc_heap *heap, rrc_object *self)
{
    int x = id_of(self);

    lost(x, "finalized");
    if (rrc_refcnt(self) > 1)           /* (else it goes by its count, although foreign code may hold its object) */
        expect_unguarded(x, "finalized");
    expect_uncleared(x);
    if (talks)
        printf("%*sfinalize %d\n", w.in_slot * 2, "", x);
    expect_whole(x);
    check(!w.c[x].finalized);
    w.c[x].finalized = 1;
    if (w.calm || w.ending || choose(2))
        return;
    w.c[x].held++;
    touch_garbage();
    if (w.phase == IDLE && choose(2)) {     /* what it owns is explained before it moves out */
        start();
        work(choose(40));
    }
    slot_steps(choose(6));
    if (choose(3) == 0) {
        rrc_incref(heap, self);
        w.c[x].ext++;
    }
    w.c[x].held--;
    touch_garbage();
}

static const rrc_member members[] = {
    { "first", offsetof(thing, field) },
    { "second", offsetof(thing, field) + sizeof(rrc_object *) },
    { "third", offsetof(thing, field) + 2 * sizeof(rrc_object *) },
    { NULL, 0 }
};

#define HEAD .ob_base = RRC_OBJECT_HEAD_INIT(NULL)
#define SLOTS .tp_dealloc = thing_dealloc, .tp_free = thing_free
static const rrc_type types[KINDS] = {
    { HEAD, .tp_name = "Gc", .tp_basicsize = sizeof(thing), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC, SLOTS,
      .tp_members = members, .tp_clear = thing_clear },
    { HEAD, .tp_name = "Weak", .tp_basicsize = sizeof(thing), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC, SLOTS,
      .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_clear_weakrefs = thing_clear_weakrefs },
    { HEAD, .tp_name = "Final", .tp_basicsize = sizeof(thing), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC, SLOTS,
      .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_finalize = thing_finalize },
    { HEAD, .tp_name = "Wrapper", .tp_basicsize = sizeof(thing), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC, SLOTS,
      .tp_traverse = wrapper_traverse, .tp_clear = thing_clear, .tp_clear_weakrefs = thing_clear_weakrefs,
      .tp_outside = thing_outside },
    { HEAD, .tp_name = "FinalWrapper", .tp_basicsize = sizeof(thing), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC,
      SLOTS, .tp_traverse = wrapper_traverse, .tp_clear = thing_clear, .tp_finalize = thing_finalize,
      .tp_outside = thing_outside },
    { HEAD, .tp_name = "Plain", .tp_basicsize = sizeof(thing), SLOTS },
    { HEAD, .tp_name = "Own", SLOTS },
    { HEAD, .tp_name = "Light", .tp_basicsize = sizeof(thing), SLOTS },
    { HEAD, .tp_name = "PlainWrapper", .tp_basicsize = sizeof(thing), SLOTS, .tp_outside = thing_outside },
    { HEAD, .tp_name = "OwnWrapper", SLOTS, .tp_outside = thing_outside },
};

static const rrc_type last_type = { HEAD, .tp_name = "Last", .tp_basicsize = sizeof(rrc_object) };

static int new_c(c_kind kind, int tracked)
{
    rrc_object *ob;
    c_node *x;
    int i, f = NONE;

    for (i = 0; i < MOST_C && w.c[i].at != NULL; i++)
        ;
    if (i == MOST_C)
        return NONE;
    if (is_wrapper(kind)) {
        f = new_f(i);
        if (f == NONE)
            return NONE;
    }
    if (is_gc(kind)) {
        ob = rrc_gc_new_var(w.heap, &types[kind], 1);
    } else if (is_own(kind)) {
        ob = (rrc_object *)calloc(1, sizeof(thing));
        check(ob != NULL);
        ob->ob_refcnt = 1;
        ob->ob_type = &types[kind];
    } else {
        ob = rrc_new(w.heap, &types[kind]);
    }
    check(ob != NULL);
    x = &w.c[i];
    memset(x, 0, sizeof *x);
    x->at = (thing *)(void *)ob;
    x->at->id = i;
    x->kind = kind;
    x->ext = 1;
    x->link = x->wanted = NONE;
    x->foreign = f;
    if (is_gc(kind) && tracked) {
        check_int(rrc_gc_track(w.heap, ob), RRC_OK);
        x->tracked = 1;
    }
    return i;
}

static int new_p(int young)
{
    int q, k;

    for (q = 0; q < MOST_P && w.p[q].at != NULL; q++)
        ;
    if (q == MOST_P)
        return NONE;
    w.p[q].at = new_cell(q);
    w.p[q].young = young;
    w.p[q].roots = 1;
    w.p[q].color = w.phase == IDLE ? WHITE : BLACK;
    w.p[q].found = 0;
    for (k = 0; k < FIELDS; k++)
        w.p[q].field[k] = NONE;
    return q;
}

/* ---- operations of the program ---- */

typedef enum op_kind {
    /* Those up to OP_SMALL also come in small graphs. */
    OP_TAKE, OP_DROP, OP_STORE, OP_CLEAR, OP_MOVE, OP_GIVE, OP_SHIFT, OP_ROOT, OP_UNROOT, OP_HOST_STORE, OP_HOST_CLEAR,
    OP_LINK_P, OP_LINK_O, OP_UNLINK, OP_TRACK, OP_UNTRACK, OP_READ, OP_NEW_STORED, OP_MINOR, OP_PENDING,
    OP_F_TAKE, OP_F_DROP, OP_F_STORE, OP_F_CLEAR, OP_F_MOVE, OP_F_SHIFT,
    OP_SMALL,
    OP_F_NEW = OP_SMALL, OP_F_WEAK, OP_NEW_C, OP_NEW_P, OP_WEAK, OP_WEAK_TAKE, OP_RESIZE, OP_NEXT_DEAD, OP_DISABLE, OP_ENABLE, OP_WALK, OP_PAUSE,
    OP_MOVE_ALL, OP_COLLECT, OP_CHECK, OP_TO_OBJ,
    OPS
} op_kind;

static const char *const names[OPS] = {
    "take", "drop", "store", "clear", "move", "give", "shift", "root", "unroot", "host_store", "host_clear",
    "link_p", "link_o", "unlink", "track", "untrack", "read", "new_stored", "minor", "pending",
    "f_take", "f_drop", "f_store", "f_clear", "f_move", "f_shift", "f_new", "f_weak",
    "new_c", "new_p", "weak", "weak_take", "resize", "next_dead", "disable", "enable", "walk", "pause",
    "move_all", "collect", "check", "to_obj",
};

typedef struct op {
    op_kind kind;
    int a, b, k;
} op;

/* The program asks for what x is linked to. A host that marks a snapshot marks it then. */
static rrc_gcref read_link(int x)
{
    rrc_gcref p = rrc_to_obj(w.heap, ob_of(x));

#ifndef READS_UNMARKED          /* see slices_errors.sh */
    if (p != NULL && w.snapshot && w.phase == MARKING)
        mark(w.c[x].link);
#endif
    return p;
}

/* In a host that marks a snapshot: can the program get hold of q? (to_obj: it does.) */
static int can_get(int q, set r, int to_obj)
{
    int x;

    if (!w.snapshot || w.phase != MARKING || (reach_in_host() & BIT(q)) != 0)
        return 1;
    for (x = 0; x < MOST_C; x++)
        if ((r.c & BIT(x)) != 0 && w.c[x].link == q && !w.c[x].suspect) {
            if (to_obj)
                check_ptr(read_link(x), w.p[q].at);
            return 1;
        }
    return 0;
}

static int has_p_link(int q)
{
    int x;

    for (x = 0; x < MOST_C; x++)
        if (w.c[x].at != NULL && w.c[x].link == q && w.c[x].is_p)
            return 1;
    return 0;
}

/* (In small graphs one way to fill an object is enough.) */
static int is_first_free(const thing *at, int k)
{
    int i;

    for (i = 0; w.small && i < k; i++)
        if (at->field[i] == NULL)
            return 0;
    return 1;
}

static int can(op o, set r)
{
    const c_node *x = o.a < MOST_C ? &w.c[o.a] : NULL;
    int is_c = x != NULL && (r.c & BIT(o.a)) != 0, is_p = o.a < MOST_P && (r.p & BIT(o.a)) != 0;
    int to_c = o.b < MOST_C && (r.c & BIT(o.b)) != 0, to_p = o.b < MOST_P && (r.p & BIT(o.b)) != 0;
    int has_fields = is_c && x->kind != LIGHT && !x->dying;
    const f_node *f = o.a < MOST_F && (r.f & BIT(o.a)) != 0 ? &w.f[o.a] : NULL;
    int to_f = o.b < MOST_F && (r.f & BIT(o.b)) != 0;

    switch (o.kind) {
    case OP_F_TAKE: return f != NULL && o.b == 0 && o.k == 0;
    case OP_F_DROP: return f != NULL && o.b == 0 && o.k == 0 && f->ext > 0;
    case OP_F_STORE: return f != NULL && to_f && f->field[o.k] == NONE && (!w.small || o.k == 0);
    case OP_F_CLEAR: case OP_F_MOVE: return f != NULL && o.b == 0 && f->field[o.k] != NONE;
    case OP_F_SHIFT: return f != NULL && to_f && f->field[o.k] != NONE && w.f[o.b].field[(o.k + 1) % FIELDS] == NONE;
    case OP_F_NEW: return 1;
    case OP_F_WEAK: return o.a < MOST_F && w.f[o.a].is_there;
    case OP_TAKE: return is_c && o.b == 0 && o.k == 0 && !x->dying;
    case OP_DROP: return is_c && o.b == 0 && o.k == 0 && x->ext > 0;
    case OP_STORE: return has_fields && to_c && is_first_free(x->at, o.k) && x->at->field[o.k] == NULL && !w.c[o.b].dying;
    case OP_CLEAR: return is_c && o.b == 0 && x->at->field[o.k] != NULL;
    case OP_MOVE: return is_c && o.b == 0 && x->at->field[o.k] != NULL;
    case OP_GIVE: return has_fields && to_c && is_first_free(x->at, o.k) && x->at->field[o.k] == NULL && w.c[o.b].ext > 0;
    case OP_SHIFT: return is_c && to_c && !w.c[o.b].dying && x->at->field[o.k] != NULL && w.c[o.b].kind != LIGHT
                          && w.c[o.b].at->field[(o.k + 1) % FIELDS] == NULL;
    case OP_ROOT: return is_p && o.b == 0 && o.k == 0 && can_get(o.a, r, 0);
    case OP_UNROOT: return is_p && o.b == 0 && o.k == 0 && w.p[o.a].roots > 0;
    case OP_HOST_STORE: return is_p && to_p && w.p[o.a].field[o.k] == NONE && can_get(o.b, r, 0);
    case OP_HOST_CLEAR: return is_p && o.b == 0 && w.p[o.a].field[o.k] != NONE;
    case OP_LINK_P: case OP_LINK_O:
        return is_c && to_p && o.k < 2 && x->link == NONE && !x->dying && !x->suspect && (o.k == 0 || x->ext > 0)
               && can_get(o.b, r, 0) && (o.kind == OP_LINK_O || !has_p_link(o.b));
    case OP_UNLINK: return is_c && o.b == 0 && o.k == 0 && x->link != NONE && !x->suspect && is_alive(x->link);
    case OP_TRACK: return is_c && o.b == 0 && o.k == 0 && is_gc(x->kind) && !x->tracked && !x->dying;
    case OP_UNTRACK: return is_c && o.b == 0 && o.k == 0 && x->tracked && !x->dying;
    case OP_READ: return is_c && o.b == 0 && o.k == 0 && x->link != NONE && !x->suspect && is_alive(x->link);
    case OP_NEW_STORED: return has_fields && to_c && o.k == 0 && x->at->field[0] == NULL && !w.c[o.b].dying;
    case OP_MINOR: case OP_PENDING: return o.a == 0 && o.b == 0 && o.k == 0;
    case OP_NEXT_DEAD: return w.in_pending == 0;
    case OP_WEAK: return is_c && !x->dying && (x->kind == WEAK || x->kind == PLAIN);
    case OP_WEAK_TAKE: return w.weak[o.k] != NONE;
    case OP_RESIZE:
        return is_c && is_gc(x->kind) && !x->dying && x->held == 0 && x->link == NONE && x->ext == 1 && !x->suspect
               && RRC_REFCNT(ob_of(o.a)) == 1 && count_references(o.a) == 1;
    case OP_PAUSE: return w.phase == MARKING;
    case OP_MOVE_ALL: return w.phase <= MARKING;
    case OP_WALK: case OP_COLLECT: return w.in_slot == 0;
    default: return 1;
    }
}

static void host_store(int a, int k, int b)
{
    if (w.phase == MARKING && w.snapshot)
        mark(w.p[a].field[k]);
    w.p[a].field[k] = b;
    if (w.phase == MARKING && !w.snapshot && w.p[a].color == BLACK)
        mark(b);
}

static void compare(void);
static void pending(size_t max);
static void walk(void);

/* Foreign code tells nobody what it does. */
static void do_foreign(op o, set r)
{
    f_node *f = &w.f[o.a];

    switch (o.kind) {
    case OP_F_TAKE:
        f->ext++;
        break;
    case OP_F_DROP:
        f->ext--;
        foreign_drop(o.a);
        break;
    case OP_F_STORE:
        f->field[o.k] = o.b;
        break;
    case OP_F_CLEAR:
        foreign_clear(o.a, o.k);
        break;
    case OP_F_MOVE:
        w.f[f->field[o.k]].ext++;
        f->field[o.k] = NONE;
        break;
    case OP_F_SHIFT:
        w.f[o.b].field[(o.k + 1) % FIELDS] = f->field[o.k];
        f->field[o.k] = NONE;
        break;
    case OP_F_NEW:
        new_f(NONE);
        break;
    default:                            /* OP_F_WEAK */
        if ((r.f & BIT(o.a)) == 0) {
            int x;

            touch_garbage();
            for (x = 0; x < MOST_C; x++)
                w.c[x].cleared = 0;     /* its wrapper may have been cleared, and can be reached again */
        }
        f->ext++;
        break;
    }
}

/* Some foreign code runs. */
static void foreign_step(void)
{
    set r = reach();
    int tries, i;
    op o;

    for (tries = 0; tries < 8; tries++) {
        o.kind = (op_kind)(OP_F_TAKE + choose(OP_F_NEW - OP_F_TAKE));
        o.a = (int)choose(MOST_F);
        o.b = o.kind == OP_F_STORE || o.kind == OP_F_SHIFT ? (int)choose(MOST_F) : 0;
        o.k = o.kind == OP_F_TAKE || o.kind == OP_F_DROP ? 0 : (int)choose(FIELDS);
        if (!can(o, r))
            continue;
        for (i = 0; i < MOST_C; i++)
            w.c[i].guarded = 0;
        if (talks)
            printf("%*sin a hook: %s %d %d %d\n", w.in_slot * 2, "", names[o.kind], o.a, o.b, o.k);
        do_foreign(o, r);
        return;
    }
}

static void do_op(op o, set r)
{
    c_node *x = o.a < MOST_C ? &w.c[o.a] : NULL;
    int t;

    if (talks)
        printf("%*s%lu: %s %d %d %d\n", w.in_slot * 2, "", w.operations, names[o.kind], o.a, o.b, o.k);

    switch (o.kind) {
    case OP_F_TAKE: case OP_F_DROP: case OP_F_STORE: case OP_F_CLEAR: case OP_F_MOVE: case OP_F_SHIFT: case OP_F_NEW:
    case OP_F_WEAK:
        do_foreign(o, r);
        break;
    case OP_TAKE:
        rrc_incref(w.heap, ob_of(o.a));
        x->ext++;
        break;
    case OP_DROP:
        x->ext--;
        rrc_decref(w.heap, ob_of(o.a));
        break;
    case OP_STORE:
        w.c[o.b].wanted = NONE;         /* who owned it at the verdict may not do so any more */
        rrc_incref(w.heap, ob_of(o.b));
        x->at->field[o.k] = ob_of(o.b);
        break;
    case OP_CLEAR:
        RRC_CLEAR(w.heap, x->at->field[o.k]);
        break;
    case OP_MOVE:
        t = id_of(x->at->field[o.k]);
        rrc_touch(w.heap, x->at->field[o.k]);
        x->at->field[o.k] = NULL;
        w.c[t].ext++;
        break;
    case OP_GIVE:
        rrc_touch(w.heap, ob_of(o.b));
        w.c[o.b].ext--;
        w.c[o.b].wanted = NONE;
        x->at->field[o.k] = ob_of(o.b);
        break;
    case OP_SHIFT:
        if (o.a != o.b)                 /* (a move within one object needs none) */
            rrc_touch(w.heap, x->at->field[o.k]);
        node_of(x->at->field[o.k])->wanted = NONE;
        w.c[o.b].at->field[(o.k + 1) % FIELDS] = x->at->field[o.k];
        x->at->field[o.k] = NULL;
        break;
    case OP_ROOT:
        can_get(o.a, r, 1);
        w.p[o.a].roots++;
        break;
    case OP_UNROOT:
        w.p[o.a].roots--;
        break;
    case OP_HOST_STORE:
        can_get(o.b, r, 1);
        host_store(o.a, o.k, o.b);
        break;
    case OP_HOST_CLEAR:
        host_store(o.a, o.k, NONE);
        break;
    case OP_LINK_P:
    case OP_LINK_O: {
        int kind = (o.kind == OP_LINK_P ? RRC_P : RRC_O) | (x->kind == LIGHT ? RRC_LIGHT : 0) | (o.k == 1 ? RRC_GIVE : 0);

        can_get(o.b, r, 1);
        check_int(rrc_link(w.heap, w.p[o.b].at, ob_of(o.a), kind), RRC_OK);
        x->link = o.b;
        x->is_p = o.kind == OP_LINK_P;
        if (o.k == 1)
            x->ext--;
        break;
    }
    case OP_UNLINK:
        x->link = NONE;
        check_int(rrc_unlink(w.heap, ob_of(o.a)), RRC_OK);
        break;
    case OP_TRACK:
        check_int(rrc_gc_track(w.heap, ob_of(o.a)), RRC_OK);
        x->tracked = 1;
        break;
    case OP_UNTRACK:
        w.in_work = w.phase == VERDICT;         /* (it may be kept, and what it keeps is traced at once) */
        rrc_gc_untrack(w.heap, ob_of(o.a));
        w.in_work = 0;
        x->tracked = 0;
        break;
    case OP_READ:
        if ((r.p & BIT(x->link)) == 0)
            touch_garbage();            /* (a host that marks a snapshot keeps it) */
        check_ptr(read_link(o.a), w.p[x->link].at);
        break;
    case OP_NEW_STORED:     /* a new object refers to b, and a to the new object */
        t = new_c(GC, 1);
        if (t == NONE)
            break;
        rrc_incref(w.heap, ob_of(o.b));
        w.c[t].at->field[0] = ob_of(o.b);
        rrc_touch(w.heap, ob_of(t));
        x->at->field[0] = ob_of(t);
        w.c[t].ext--;
        break;
    case OP_MINOR:
        minor();
        break;
    case OP_PENDING:
        pending(w.small ? 0 : choose(4) + 1);
        break;
    case OP_NEW_C:
        new_c((c_kind)choose(KINDS), choose(4) != 0);
        break;
    case OP_NEW_P:
        new_p(choose(2) != 0);
        break;
    case OP_WEAK:
        w.weak[o.k] = o.a;
        break;
    case OP_WEAK_TAKE:
        t = w.weak[o.k];
        if ((r.c & BIT(t)) == 0)
            touch_garbage();
        rrc_incref(w.heap, ob_of(t));
        w.c[t].ext++;
        break;
    case OP_RESIZE: {
        rrc_object *ob;

        rrc_gc_untrack(w.heap, ob_of(o.a));
        x->tracked = 0;
        ob = rrc_gc_resize(w.heap, ob_of(o.a), choose(64));
        check(ob != NULL);
        x->at = (thing *)(void *)ob;
        if (choose(2)) {
            check_int(rrc_gc_track(w.heap, ob), RRC_OK);
            x->tracked = 1;
        }
        break;
    }
    case OP_NEXT_DEAD: {
        rrc_object *ob = rrc_next_dead(w.heap);

        if (ob != NULL) {
            touch_garbage();
            node_of(ob)->ext++;
        }
        break;
    }
    case OP_DISABLE:
        rrc_gc_disable(w.heap);
        w.is_clean = 0;
        break;
    case OP_ENABLE:
        rrc_gc_enable(w.heap);
        break;
    case OP_WALK:
        walk();
        break;
    case OP_PAUSE:
        pause_marking();
        break;
    case OP_MOVE_ALL:
        move_all();
        break;
    case OP_COLLECT:
        w.is_clean = 0;
        touch_garbage();
        w.in_pending++;
        rrc_gc_collect(w.heap);
        w.in_pending--;
        break;
    case OP_CHECK:
        check_int(rrc_check(w.heap), RRC_OK);
        break;
    case OP_TO_OBJ:         /* the proxy of an object that C has: the host may not reach it any more */
        for (t = 0; t < MOST_C; t++)
            if ((r.c & BIT(t)) != 0 && w.c[t].link != NONE && !w.c[t].suspect && choose(3) == 0) {
                int q = w.c[t].link;
                rrc_gcref p = read_link(t);

                check_ptr(p, is_alive(q) ? w.p[q].at : NULL);
                if (p == NULL)
                    break;
                if ((r.p & BIT(q)) == 0)
                    touch_garbage();
                w.p[q].roots++;
                break;
            }
        break;
    default:
        break;
    }
}

/* When nothing is pending, what is left of the garbage is ordinary. */
static void settle(void)
{
    rrc_stats stats;
    int x;

    check_int(rrc_get_stats(w.heap, &stats), RRC_OK);
    if (w.phase >= VERDICT || stats.pending > 0 || w.in_pending > 0 || w.in_slot > 0 || w.walking > 0)
        return;
    for (x = 0; x < MOST_C; x++)
        if (w.c[x].at != NULL && w.c[x].suspect) {
            w.c[x].suspect = w.c[x].cleared = 0;
            if (RRC_LINK(ob_of(x)) == NULL)
                w.c[x].link = NONE;
        }
    if (w.phase != IDLE)
        return;
    if (w.finished_one) {
        w.complete++;
        dump();
        expect_no_old_garbage();
    }
    w.finished_one = 0;
}

static void pending(size_t max)
{
    unsigned c = reach_in_c();
    int i;

    if (w.in_pending == 0)
        for (i = 0; i < MOST_C; i++)
            w.c[i].guarded = (c & BIT(i)) != 0;
    w.garbage_waits = w.in_pending == 0 && w.phase >= VERDICT;
    w.in_pending++;
    rrc_run_pending(w.heap, max);
    w.in_pending--;
    w.garbage_waits = 0;
    if (w.in_pending == 0)
        for (i = 0; i < MOST_C; i++)
            w.c[i].guarded = 0;
    settle();
}

static int walk_callback(rrc_object *ob, void *arg)
{
    c_node *x = node_of(ob);
    int *left = (int *)arg;

    x->held++;
    if (choose(2))
        slot_steps(choose(3));
    x->held--;
    return --*left > 0;
}

static void walk(void)
{
    int left = (int)choose(12) + 1;

    touch_garbage();
    w.is_clean = 0;
    w.walking++;
    rrc_gc_visit_objects(w.heap, walk_callback, &left);
    w.walking--;
    touch_garbage();
}

/* Is the header's view that of the oracle? */
static void compare(void)
{
    set r = reach();
    int x;

    for (x = 0; x < MOST_C; x++) {
        const c_node *c = &w.c[x];
        int n;

        if (c->at == NULL)
            continue;
        if ((r.c & BIT(x)) != 0 && c->link != NONE && is_alive(c->link) && !c->suspect && !w.ending) {
            check_ptr(RRC_LINK(ob_of(x)), w.p[c->link].at);
            if (c->is_p)
                check_ptr(rrc_from_obj(w.heap, w.p[c->link].at), ob_of(x));
        }
        if (c->dying)
            continue;
        n = count_references(x);
        if (rrc_refcnt(ob_of(x)) < n || rrc_refcnt(ob_of(x)) > n + 1 + c->held + w.walking + w.in_pending)
            unit_fail(__FILE__, __LINE__, "C object %d has %ld references, not %d (operation %lu)", x,
                      (long)rrc_refcnt(ob_of(x)), n, w.operations);
    }
}

/* Some programs do some things more often than others. */
static int is_favored(int kind)
{
    switch (w.favors) {
    case 1: return kind == OP_WEAK || kind == OP_WEAK_TAKE || kind == OP_PENDING;
    case 2: return kind == OP_NEW_P || kind == OP_LINK_P || kind == OP_LINK_O || kind == OP_UNROOT || kind == OP_DROP;
    case 4: return kind >= OP_F_TAKE && kind <= OP_F_WEAK;
    case 3: return kind == OP_DISABLE || kind == OP_ENABLE || kind == OP_LINK_P || kind == OP_UNTRACK;
    default: return 0;
    }
}

static void step(void)
{
    static const unsigned char weights[OPS] = {
        [OP_TAKE] = 6, [OP_DROP] = 14, [OP_STORE] = 10, [OP_CLEAR] = 6, [OP_MOVE] = 6, [OP_GIVE] = 10, [OP_SHIFT] = 6,
        [OP_ROOT] = 4, [OP_UNROOT] = 8, [OP_HOST_STORE] = 8, [OP_HOST_CLEAR] = 4, [OP_LINK_P] = 8, [OP_LINK_O] = 6,
        [OP_UNLINK] = 2, [OP_TRACK] = 4, [OP_UNTRACK] = 3, [OP_READ] = 1, [OP_NEW_STORED] = 3, [OP_MINOR] = 3,
        [OP_PENDING] = 7, [OP_NEW_C] = 10, [OP_NEW_P] = 6, [OP_WEAK] = 6, [OP_WEAK_TAKE] = 5, [OP_RESIZE] = 2,
        [OP_NEXT_DEAD] = 1, [OP_DISABLE] = 1, [OP_ENABLE] = 4, [OP_WALK] = 1, [OP_PAUSE] = 1, [OP_MOVE_ALL] = 1,
        [OP_COLLECT] = 1, [OP_CHECK] = 2, [OP_TO_OBJ] = 3,
        [OP_F_TAKE] = 4, [OP_F_DROP] = 8, [OP_F_STORE] = 8, [OP_F_CLEAR] = 4, [OP_F_MOVE] = 5, [OP_F_SHIFT] = 4,
        [OP_F_NEW] = 1, [OP_F_WEAK] = 1,
    };
    unsigned all = 0, n;
    int kind, tries;
    set r;
    op o;

    w.operations++;
    if (choose(3) == 0) {
        advance(choose(8) + 1);
    } else {
        for (kind = 0; kind < OPS; kind++)
            all += weights[kind] * (unsigned)(is_favored(kind) ? 4 : 1);
        n = choose(all);
        for (kind = 0; n >= weights[kind] * (unsigned)(is_favored(kind) ? 4 : 1); kind++)
            n -= weights[kind] * (unsigned)(is_favored(kind) ? 4 : 1);
        o.kind = (op_kind)kind;
        r = reach();
        for (tries = 0; tries < 40; tries++) {
            o.a = (int)choose(o.kind >= OP_F_TAKE && o.kind <= OP_F_WEAK ? MOST_F : MOST_C);
            o.b = (int)choose(MOST_C);
            o.k = (int)choose(FIELDS);
            if (!can(o, r)) {
                o.b = o.k = 0;
                if (!can(o, r)) {
                    o.a = 0;
                    if (!can(o, r))
                        continue;
                }
            }
            if (w.in_pending > 0)
                for (n = 0; n < MOST_C; n++)
                    w.c[n].guarded = 0;
            do_op(o, r);
            break;
        }
    }
    if (w.checks) {
        compare();
        if (w.checks > 1)
            check_int(rrc_check(w.heap), RRC_OK);
    }
}

static void steps(unsigned count)
{
    while (count-- > 0)
        step();
}

/* ---- a world ---- */

static void open_world(choices from, int snapshot, int reports_early)
{
    rrc_desc desc;
    int i;

    memset(&w, 0, sizeof w);
    memset(&desc, 0, sizeof desc);
    w.from = from;
    w.snapshot = snapshot;
    w.reports_early = reports_early;
    for (i = 0; i < MOST_WEAK; i++)
        w.weak[i] = NONE;
    for (i = 0; i < MOST_C; i++)
        w.c[i].link = w.c[i].foreign = NONE;
    desc.trace = hook_trace;
    desc.survivor = hook_survivor;
    desc.propagate = hook_propagate;
    desc.is_young = hook_is_young;
    desc.parted = hook_parted;
    desc.realloc = hook_realloc;
    desc.collect = hook_collect;
    desc.log = hook_log;
#if HOST_SLOT
    desc.slot = hook_slot;
#else
    desc.reports_marks = 1;
#endif
    desc.incremental = 1;
    w.heap = rrc_heap_new(&desc);
    check(w.heap != NULL);
    w.last = rrc_new(w.heap, &last_type);
    check(w.last != NULL);
}

/* Two complete collections leave no garbage. */
static void expect_all_found(void)
{
    int i;

    w.calm = 1;
    rrc_gc_enable(w.heap);
    finish_collection();
    pending(0);
    for (i = 0; i < 4; i++) {
        advance(1);
        finish_collection();
        pending(0);
        compare();
        check_int(rrc_check(w.heap), RRC_OK);
    }
}

static void close_world(void)
{
    int x, k;

    w.ending = 1;
    check(rrc_heap_free(w.heap) <= MOST_C);
    for (x = 0; x < MOST_C; x++)
        w.c[x].link = NONE;
    for (x = 0; x < MOST_C; x++)
        while (w.c[x].at != NULL && w.c[x].ext > 0) {
            w.c[x].ext--;
            rrc_decref(w.heap, ob_of(x));
        }
    for (x = 0; x < MOST_C; x++)        /* cycles through what is not tracked */
        if (w.c[x].at != NULL) {
            rrc_incref(w.heap, ob_of(x));
            for (k = 0; k < FIELDS; k++)
                RRC_CLEAR(w.heap, w.c[x].at->field[k]);
            rrc_decref(w.heap, ob_of(x));
        }
    for (x = 0; x < MOST_C; x++)
        if (w.c[x].at != NULL)
            unit_fail(__FILE__, __LINE__, "C object %d is left at the end", x);
    for (x = 0; x < MOST_F; x++)
        if (w.f[x].is_there && w.f[x].wrapper != NONE)
            unit_fail(__FILE__, __LINE__, "foreign object %d has a wrapper at the end", x);
    rrc_decref(w.heap, w.last);
    for (x = 0; x < MOST_P; x++)
        if (w.p[x].at != NULL)
            kill_p(x);
    free_retired();
}

/* ---- random programs ---- */

static void run_random(choices from, unsigned long seed, unsigned count)
{
    unsigned i;

    open_world(from, (int)(seed % 2), (int)(seed / 2 % 2));
    w.checks = (int)(seed / 4 % 3);
    w.favors = (int)(seed / 12 % 5);
    for (i = 0; i < count && choices_are_left(&w.from); i++)
        step();
    if (seed % 3 != 0)
        expect_all_found();
    close_world();
}

static void run_seed(unsigned long seed, unsigned count)
{
    run_random(choices_of_seed(seed), seed, count);
}

/* The first byte is the seed. */
static void run_bytes(const unsigned char *bytes, size_t size)
{
    run_random(choices_of_bytes(bytes + 1, size - 1), bytes[0], 100000);
}

static const random_runs program = { "slices random", 600, run_seed, run_bytes };
RANDOM_PROGRAM(slices_random, program)

#ifndef RANDOM_FUZZ

/* ---- small graphs ---- */

enum { NODES = 3 };

/* A graph: tracked C objects and host objects, all their references and links, and what is held or rooted. */
typedef struct graph {
    int      cs, ps;
    unsigned edges[NODES], host_edges[NODES];       /* bits */
    unsigned held, roots;
    int      link[NODES];                           /* 0: none; 1 + 2 * q: a P link with q; 2 + 2 * q: an O link */
} graph;

static unsigned long count_graphs(int cs, int ps)
{
    unsigned long n = 1ul << (cs * cs + cs + ps * ps + ps);

    while (cs-- > 0)
        n *= (unsigned long)(1 + 2 * ps);
    return n;
}

static unsigned take(unsigned long *number, unsigned long n)
{
    unsigned long choice = *number % n;

    *number /= n;
    return (unsigned)choice;
}

/* Returns 0 if there is no such graph: two P links of one host object, or nothing holds a C object. */
static int choose_graph(int cs, int ps, unsigned long number, graph *g)
{
    unsigned has_p_link = 0, referred = 0;
    int x, q;

    g->cs = cs;
    g->ps = ps;
    g->held = take(&number, 1ul << cs);
    g->roots = take(&number, 1ul << ps);
    for (x = 0; x < cs; x++) {
        g->edges[x] = take(&number, 1ul << cs);
        referred |= g->edges[x];
        g->link[x] = (int)take(&number, (unsigned long)(1 + 2 * ps));
        if (g->link[x] % 2 == 1) {
            if ((has_p_link & BIT(g->link[x] / 2)) != 0)
                return 0;
            has_p_link |= BIT(g->link[x] / 2);
        }
        if (g->link[x] != 0)
            referred |= BIT(x);
    }
    for (q = 0; q < ps; q++)
        g->host_edges[q] = take(&number, 1ul << ps);
    return (referred | g->held) == BIT(cs) - 1;
}

/* wrappers: bits. A reference from one wrapper to another is then one between their foreign objects, and what is held
   is held by foreign code if it has a link. */
static void build(const graph *g, int young, unsigned wrappers)
{
    int x, q, k;

    for (x = 0; x < g->cs; x++)
        check_int(new_c((wrappers & BIT(x)) != 0 ? WRAPPER : GC, 1), x);
    for (q = 0; q < g->ps; q++)
        check_int(new_p(young), q);
    for (x = 0; x < g->cs; x++)
        for (k = 0; k < g->cs; k++)
            if ((g->edges[x] & BIT(k)) == 0) {
                continue;
            } else if ((wrappers & BIT(x)) != 0 && (wrappers & BIT(k)) != 0) {
                w.f[w.c[x].foreign].field[k] = w.c[k].foreign;
            } else {
                rrc_incref(w.heap, ob_of(k));
                w.c[x].at->field[k] = ob_of(k);
            }
    for (q = 0; q < g->ps; q++) {
        w.p[q].roots = (g->roots & BIT(q)) != 0;
        for (k = 0; k < g->ps; k++)
            w.p[q].field[k] = (g->host_edges[q] & BIT(k)) != 0 ? k : NONE;
    }
    for (x = 0; x < g->cs; x++)
        if (g->link[x] != 0) {
            w.c[x].link = (g->link[x] - 1) / 2;
            w.c[x].is_p = g->link[x] % 2;
            check_int(rrc_link(w.heap, w.p[w.c[x].link].at, ob_of(x), w.c[x].is_p ? RRC_P : RRC_O), RRC_OK);
        }
    for (x = 0; x < g->cs; x++) {
        int is_foreign = (wrappers & BIT(x)) != 0 && w.c[x].at != NULL && w.c[x].link != NONE;

        if (is_foreign && (g->held & BIT(x)) != 0)
            w.f[w.c[x].foreign].ext = 1;
        if (w.c[x].at != NULL && (is_foreign || (g->held & BIT(x)) == 0)) {
            w.c[x].ext = 0;
            rrc_decref(w.heap, ob_of(x));
        }
    }
}

/* One slice, the smallest that there is. Returns 0 at the end of the collection. */
static int advance_little(int turn)
{
    switch (w.phase) {
    case IDLE:
        return 0;
    case MARKING:
        if ((turn % 2 == 0 && work(1) == 0 && !mark_one()) || (turn % 2 != 0 && !mark_one() && work(1) == 0))
            (w.ends_early ? end_collection_early : end_marking)();
        break;
    case VERDICT:
        if (work(1) == 0)
            keep();
        break;
    case SWEEPING:
        sweep(1);
        break;
    }
    return 1;
}

/* A collection with this mutation before slice `point`. Returns how many mutations there are at that point, or -1
   if there is no such slice. */
static int run_small(const graph *g, unsigned long number, int variant, int point, int mutation)
{
    int turn = variant / 4 % 2, slice, n = -1;
    set r;
    op o, chosen = { OP_PENDING, 0, 0, 0 };

    open_world(choices_of_seed(number), variant % 2, variant / 2 % 2);
    w.small = 1;
    w.calm = 1;
    w.moves_out = (int)(number / 8 % 2);
    w.ends_early = (int)(number % 3);
    build(g, variant / 8 % 2, (unsigned)(number / 16 % 8));
    start();
    for (slice = 0; slice < point && advance_little(turn + slice); slice++)
        ;
    if (w.phase != IDLE) {
        n = 0;
        r = reach();
        for (o.kind = (op_kind)0; o.kind < OP_SMALL; o.kind = (op_kind)(o.kind + 1))
            for (o.a = 0; o.a < NODES; o.a++)
                for (o.b = 0; o.b < NODES; o.b++)
                    for (o.k = 0; o.k < FIELDS; o.k++)
                        if (can(o, r) && n++ == mutation)
                            chosen = o;
        do_op(chosen, r);
        if (w.ends_early == 2 && w.phase == MARKING)
            end_collection_early();
        while (advance_little(turn + slice++))
            ;
        pending(0);
        compare();
        for (slice = 0; slice < 2; slice++) {
            start();
            while (advance_little(turn++))
                ;
            pending(0);
        }
        compare();
    }
    close_world();
    return n;
}

static int slices_small(int argc, char **argv)
{
    unsigned long stride = argc > 1 ? strtoul(argv[1], NULL, 0) : 997;
    unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
    unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 0) : (unsigned long)-1, number = 0, graphs = 0, runs = 0, all = 0;
    int cs, ps;

    if (stride == 0)
        return 2;
    for (cs = 1; cs <= NODES; cs++)
        for (ps = 0; cs + ps <= NODES; ps++) {
            unsigned long i, n = count_graphs(cs, ps);

            for (i = 0; i < n; i++) {
                graph g;
                int variant, half, point, mutation, mutations;

                if (!choose_graph(cs, ps, i, &g))
                    continue;
                all++;
                if (number++ % stride != first % stride || graphs == count)
                    continue;
                graphs++;
                for (half = 0; half < 2; half++) {
                    variant = (int)((number - 1) % 8 * 2) + half;
                    for (point = 0, mutations = 0; mutations >= 0; point++)
                        for (mutation = 0, mutations = 1; mutation < mutations; mutation++) {
                            unit_context("repeat with: slices small %lu %lu 1 (mutation %d before slice %d)", all, number - 1,
                                         mutation, point);
                            mutations = run_small(&g, number, variant, point, mutation);
                            runs++;
                        }
                }
            }
        }
    printf("%lu of %lu graphs, %lu collections with a mutation\n", graphs, all, runs);
    printf("%d passed, 0 failed\n", graphs > 0);
    return graphs == 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "small") == 0)
        return slices_small(argc - 1, argv + 1);
    talks = argc > 5;
    setvbuf(stdout, NULL, talks ? _IONBF : _IOFBF, 1 << 12);
    if (argc > 1 && strcmp(argv[1], "random") == 0)
        return slices_random(argc - 1, argv + 1);
    return 2;
}

#endif
