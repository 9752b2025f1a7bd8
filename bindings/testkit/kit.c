/* kit.c - random programs for a port of rawrefcount.h, with an exact oracle. README.md says how to use it.
 *
 *     kit [SEED [COUNT [STEPS]]]          so many programs of so many steps, from this seed on, up to the first failure
 *     kit SEED 1 STEPS STEP,STEP,...      these steps of one program only, in words
 *
 * A program makes plain objects of the VM and NODES, which are counted objects of C, lets them refer to each other, and
 * collects. The oracle has the same graph in plain arrays, with all references alike: an object is alive if the
 * program can reach it from a root of the VM or from a variable of C. These must hold:
 *
 *   LOST     what the program can reach is never cleared or deallocated, is found where it should be, and is not
 *            finalized, unless another finalizer has brought it back just before
 *   LEAK     what it cannot reach is gone after a few full collections
 *   WHOLE    a dealloc finds the VM's objects that its node owns, if kit_keeps says so
 *   LOG      the header reports nothing
 *
 * Each step draws its numbers from the seed and its own number. So a step does not change when others are left
 * out, and a program that fails is made shorter: kit tries which steps it can do without.
 */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>
#endif
#include "kit.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFS = 3, MOST = 64, VARIABLES = 6, SAVED = 2, ALL_VARIABLES = VARIABLES + SAVED };
enum { OWN_ROOTS = 4, WALK_ROOT = 4, SLOT_ROOT = 5 };   /* the program's roots; those that the kit itself uses */
enum { MOST_STEPS = 10000, SECONDS = 60 };
enum { NOTHING, PLAIN, NODE };
enum { GONE = -2 };                     /* a plain object refers to a node that was deallocated */

/* ---- the oracle's graph ---- */

typedef struct thing {
    int         kind;
    long        number;
    int         ref[REFS];              /* what it refers to, -1 or GONE; a plain object has KIT_FIELDS of them */
    rrc_object *ob;                     /* of a node */
    int         has_finalizer, finalized;
    int         reached;
} thing;

static thing things[MOST];
static int root[OWN_ROOTS];             /* what the VM's roots are, or -1 */
static int variable[ALL_VARIABLES];     /* what the variables of C are, or -1; finalizers use the last ones */
static rrc_object *held[ALL_VARIABLES]; /* the variables themselves */
static long last_number;
static rrc_heap *the_heap;              /* (when the VM has ended, kit_heap need not know it any more) */
static int ending, ended, talks, step;
static int brought_back;                /* a finalizer has made garbage alive, and other finalizers may still wait */

void kit_fail(const char *format, ...)
{
    va_list args;
    printf("  step %d: ", step);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    exit(1);
}

void kit_log(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    kit_fail("LOG: %s", item->text);
}

static void say(const char *format, ...)
{
    va_list args;
    if (!talks)
        return;
    printf("  step %d: ", step);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);                     /* (the step may crash) */
}

/* What the program can reach; if `also`, from nodes that are not deallocated yet, too. (When the VM has ended,
   references between its objects are gone.) */
static void reach(int also)
{
    int i, k, more = 1;
    for (i = 0; i < MOST; i++)
        things[i].reached = also && things[i].kind == NODE;
    for (i = 0; i < OWN_ROOTS; i++)
        if (root[i] >= 0)
            things[root[i]].reached = 1;
    for (i = 0; i < ALL_VARIABLES; i++)
        if (variable[i] >= 0)
            things[variable[i]].reached = 1;
    while (more)
        for (more = i = 0; i < MOST; i++)
            for (k = 0; k < REFS && things[i].reached && !(ending && things[i].kind == PLAIN); k++)
                if (things[i].ref[k] >= 0 && !things[things[i].ref[k]].reached)
                    more = things[things[i].ref[k]].reached = 1;
}

static void expect_garbage(int i, const char *what)
{
    reach(0);
    if (things[i].reached)
        kit_fail("LOST: node %ld is %s, but the program can reach it", things[i].number, what);
}

/* A place for a new thing, or -1. A plain object that nothing can reach gives up its place. */
static int new_thing(int kind)
{
    int i;
    reach(1);
    for (i = 0; i < MOST && things[i].kind != NOTHING && (things[i].kind == NODE || things[i].reached); i++)
        ;
    if (i == MOST)
        return -1;
    memset(&things[i], 0, sizeof things[i]);
    things[i].kind = kind;
    things[i].number = ++last_number;
    memset(things[i].ref, -1, sizeof things[i].ref);
    return i;
}

/* ---- nodes, a library in C ---- */

typedef struct node { rrc_object head; int thing; rrc_object *ref[REFS]; } node;

static node *node_of(int i) { return (node *)(void *)things[i].ob; }

static int node_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int k;
    for (k = 0; k < REFS; k++)
        RRC_VISIT(((node *)(void *)self)->ref[k]);
    return 0;
}

static void drop_refs(rrc_heap *heap, rrc_object *self)
{
    node *n = (node *)(void *)self;
    int k;
    for (k = 0; k < REFS; k++) {
        things[n->thing].ref[k] = -1;
        RRC_CLEAR(heap, n->ref[k]);
    }
}

static int node_clear(rrc_heap *heap, rrc_object *self)
{
    expect_garbage(((node *)(void *)self)->thing, "cleared");
    drop_refs(heap, self);
    return 0;
}

/* Some come back to life: a variable of C gets them. (Other garbage that they reach through the VM is finalized even
   so, as all finalizers of garbage run, but it lives.) */
static void node_finalize(rrc_heap *heap, rrc_object *self)
{
    int i = ((node *)(void *)self)->thing, v;
    if (!brought_back)
        expect_garbage(i, "finalized");
    if (things[i].finalized++)
        kit_fail("node %ld is finalized twice", things[i].number);
    for (v = VARIABLES; v < ALL_VARIABLES && variable[v] >= 0; v++)
        ;
    if (things[i].number % 3 == 0 && v < ALL_VARIABLES && !ending && kit_keeps() != KIT_NOTHING) {
        rrc_incref(heap, self);
        held[v] = self;
        variable[v] = i;
        brought_back = 1;
    }
}

/* A dealloc has got the VM's object of a node's reference in SLOT_ROOT. */
static void expect_whole(int i, int is_right, const char *what)
{
    if (!is_right)
        kit_fail("WHOLE: the dealloc of node %ld finds %ld in place of %s", things[i].number, kit_number(SLOT_ROOT),
                 what);
}

/* The plain objects that node i owns are there, with what they refer to. A proxy among that may have parted from its
   node, and must have if the node is gone. */
static void look_at_what_it_owns(int i)
{
    int k, f;
    for (k = 0; k < REFS; k++) {
        rrc_object *ob = node_of(i)->ref[k];
        const thing *t = &things[things[i].ref[k] >= 0 ? things[i].ref[k] : i];
        if (t->kind != PLAIN)
            continue;
        if (rrc_to_obj(the_heap, ob) == NULL)
            kit_fail("WHOLE: node %ld is deallocated, but the plain object %ld that it owns has died before",
                     things[i].number, t->number);
        for (f = 0; f < KIT_FIELDS; f++) {
            int to = t->ref[f];
            long number;
            kit_to_vm(ob, SLOT_ROOT);
            expect_whole(i, kit_number(SLOT_ROOT) == t->number, "a plain object");
            kit_get_field(SLOT_ROOT, f, SLOT_ROOT);
            number = kit_number(SLOT_ROOT);
            if (to == -1)
                expect_whole(i, number == KIT_NIL, "nil");
            else if (to == GONE)
                expect_whole(i, number == KIT_PARTED, "a proxy that has lost its node");
            else if (things[to].kind == NODE)
                expect_whole(i, number == KIT_PROXY || number == KIT_PARTED, "a proxy");
            else
                expect_whole(i, number == things[to].number, "a plain object behind another one");
        }
        kit_set_root(SLOT_ROOT, KIT_NIL);
    }
}

static void node_dealloc(rrc_heap *heap, rrc_object *self)
{
    int i = ((node *)(void *)self)->thing, t, f;
    expect_garbage(i, "deallocated");
    if (kit_keeps() > 0 && !ended)
        look_at_what_it_owns(i);
    drop_refs(heap, self);
    things[i].kind = NOTHING;
    for (t = 0; t < MOST; t++)
        for (f = 0; f < KIT_FIELDS && things[t].kind == PLAIN; f++)
            if (things[t].ref[f] == i)
                things[t].ref[f] = GONE;
    rrc_gc_del(heap, self);
}

static const rrc_type Node = { .tp_name = "Node", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                               .tp_traverse = node_traverse, .tp_clear = node_clear, .tp_dealloc = node_dealloc };
static const rrc_type Final = { .tp_name = "Final", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                .tp_traverse = node_traverse, .tp_clear = node_clear, .tp_dealloc = node_dealloc,
                                .tp_finalize = node_finalize };

/* A reference to ob is about to move out of a field. (KIT_NO_TOUCH is a mistake, to see that it is found.) */
static void touch(rrc_object *ob)
{
#ifndef KIT_NO_TOUCH
    rrc_touch(the_heap, ob);
#else
    (void)ob;
#endif
}

/* ---- steps ---- */

static uint64_t noise;

static unsigned draw(unsigned n)
{
    uint64_t x = noise += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (unsigned)((x ^ (x >> 31)) % n);
}

/* The object in a root is this thing. */
static void expect_here(int at, int i, const char *from)
{
    long number = kit_number(at);
    rrc_object *ob;
    if (number != (things[i].kind == PLAIN ? things[i].number : KIT_PROXY))
        kit_fail("LOST: %s gives %ld in place of %s %ld (-1 is nil, -2 a proxy)", from, number,
                 things[i].kind == PLAIN ? "the plain object" : "a proxy of node", things[i].number);
    if (things[i].kind == PLAIN)
        return;
    ob = kit_to_c(at);
    if (ob != things[i].ob)
        kit_fail("LOST: the proxy of node %ld gives another object of C", things[i].number);
    rrc_decref(the_heap, ob);
}

static void set_variable(int v, int i, rrc_object *ob)      /* ob: a reference for it */
{
    rrc_object *old = held[v];
    variable[v] = i;
    held[v] = ob;
    if (old != NULL)
        rrc_decref(the_heap, old);
}

/* Follow references, and look whether the right objects are there. */
static void walk(int steps)
{
    int r = (int)draw(OWN_ROOTS), v = (int)draw(ALL_VARIABLES), i;
    rrc_object *ob;
    if (draw(2) && root[r] >= 0) {
        i = root[r];
        kit_set_root(WALK_ROOT, r);
    } else if (variable[v] >= 0) {
        i = variable[v];
        kit_to_vm(held[v], WALK_ROOT);
    } else {
        return;
    }
    expect_here(WALK_ROOT, i, "a variable");
    for (; steps > 0; steps--) {
        int k = (int)draw(things[i].kind == PLAIN ? KIT_FIELDS : REFS), to = things[i].ref[k];
        if (things[i].kind == PLAIN) {
            kit_get_field(WALK_ROOT, k, WALK_ROOT);
            if (to < 0 && kit_number(WALK_ROOT) != KIT_NIL)
                kit_fail("LOST: a field of plain object %ld is not nil", things[i].number);
        } else if (to >= 0) {
            ob = node_of(i)->ref[k];
            kit_to_vm(ob, WALK_ROOT);
        }
        if (to < 0)
            break;
        expect_here(WALK_ROOT, to, things[i].kind == PLAIN ? "a field of a plain object" : "a field of a node");
        i = to;
    }
    kit_set_root(WALK_ROOT, KIT_NIL);
}

static void finish_pending(void)
{
    rrc_stats stats = { 0 };
    int i;
    for (i = 0; i < 1000; i++) {
        kit_safe_point();
        if (rrc_get_stats(the_heap, &stats) != RRC_OK || stats.pending == 0)
            break;
    }
    brought_back = 0;
    if (i == 1000)
        kit_fail("a thousand safe points leave %lu objects pending", (unsigned long)stats.pending);
}

/* What the program cannot reach goes. (A finalizer costs a collection, what keeps an object for a dealloc another one,
   and finalizers bring some nodes back.) */
static void settle(void)
{
    long count = 0;
    int i, k;
    for (i = 0; i < 6; i++) {
        kit_collect(KIT_MAJOR);
        finish_pending();
        rrc_gc_collect(the_heap);       /* (with search_percent only this call always searches) */
        finish_pending();
    }
    kit_collect(KIT_MAJOR);
    reach(0);
    for (i = 0; i < MOST; i++)
        if (things[i].kind == NODE && !things[i].reached)
            kit_fail("LEAK: the program cannot reach node %ld, but it is still there", things[i].number);
    for (i = 0; i < 20; i++)
        walk(10);
    kit_collect(KIT_MAJOR);             /* takes the proxies that the walks have made */
    finish_pending();
    kit_collect(KIT_MAJOR);
    reach(0);
    for (i = 0; i < MOST; i++) {        /* (a node needs a proxy if an object of the VM refers to it) */
        int is_used = things[i].reached && things[i].kind == PLAIN, from;
        for (k = 0; k < OWN_ROOTS; k++)
            is_used |= root[k] == i;
        for (from = 0; from < MOST; from++)
            for (k = 0; k < KIT_FIELDS; k++)
                is_used |= things[from].reached && things[from].kind == PLAIN && things[from].ref[k] == i;
        count += is_used;
    }
    if (kit_count() != KIT_NIL && kit_count() != count)
        kit_fail("LEAK: the VM has %ld objects, but the program can reach %ld", kit_count(), count);
}

static void new_node(int v, int has_finalizer)
{
    int i = new_thing(NODE);
    if (i < 0)
        return;
    say("variable %d = new node %ld%s", v, things[i].number, has_finalizer ? ", which has a finalizer" : "");
    things[i].ob = rrc_gc_new(the_heap, has_finalizer ? &Final : &Node);
    if (things[i].ob == NULL)
        kit_fail("no memory");
    node_of(i)->thing = i;
    things[i].has_finalizer = has_finalizer;
    if (rrc_gc_track(the_heap, things[i].ob) != RRC_OK)
        kit_fail("no memory");
    set_variable(v, i, things[i].ob);
}

static void new_plain(int r)
{
    int i = new_thing(PLAIN);
    if (i < 0)
        return;
    say("root %d = new plain object %ld", r, things[i].number);
    kit_new_object(r, things[i].number);
    root[r] = i;
}

static void one_step(void)
{
    rrc_stats stats = { 0 };
    unsigned kind = draw(114);
    int r = (int)draw(OWN_ROOTS), r2 = (int)draw(OWN_ROOTS), f = (int)draw(KIT_FIELDS);
    int v = (int)draw(VARIABLES), v2 = (int)draw(ALL_VARIABLES), v3 = (int)draw(ALL_VARIABLES);
    int k = (int)draw(REFS), k2 = (int)draw(REFS), flag = (int)draw(3) == 0;
    int n = variable[v2] >= 0 && things[variable[v2]].kind == NODE ? variable[v2] : -1;
    int m = variable[v3] >= 0 && things[variable[v3]].kind == NODE ? variable[v3] : -1;

    if (rrc_get_stats(the_heap, &stats) == RRC_OK && stats.pending == 0)
        brought_back = 0;
    if (kind < 8) {
        new_plain(r);
    } else if (kind < 16) {
        new_node(v, flag);
    } else if (kind < 21) {
        say("root %d = nil", r);
        root[r] = -1;
        kit_set_root(r, KIT_NIL);
    } else if (kind < 28) {
        say("variable %d = NULL", v2);
        set_variable(v2, -1, NULL);
    } else if (kind < 38 && root[r] >= 0 && things[root[r]].kind == PLAIN) {
        say("field %d of plain object %ld = root %d", f, things[root[r]].number, flag ? KIT_NIL : r2);
        kit_set_field(r, f, flag || root[r2] < 0 ? KIT_NIL : r2);
        things[root[r]].ref[f] = flag ? -1 : root[r2];
    } else if (kind >= 38 && kind < 42 && root[r] >= 0 && things[root[r]].kind == PLAIN) {
        say("root %d = field %d of plain object %ld", r2, f, things[root[r]].number);
        int to = things[root[r]].ref[f];
        kit_get_field(r, f, r2);
        root[r2] = to;
    } else if (kind >= 42 && kind < 50 && root[r] >= 0) {
        rrc_object *ob;
        say("variable %d = what C sees of root %d", v, r);
        ob = kit_to_c(r);
        if (ob == NULL || (things[root[r]].kind == NODE && ob != things[root[r]].ob))
            kit_fail("LOST: kit_to_c gives another object of C for root %d", r);
        set_variable(v, root[r], ob);
    } else if (kind >= 50 && kind < 58 && variable[v2] >= 0) {
        say("root %d = what the VM sees of variable %d", r, v2);
        kit_to_vm(held[v2], r);
        root[r] = variable[v2];
        expect_here(r, root[r], "kit_to_vm");
    } else if (kind >= 58 && kind < 68 && n >= 0) {
        rrc_object *old = node_of(n)->ref[k], *ob = flag ? NULL : held[v3];
        say("reference %d of node %ld = variable %d", k, things[n].number, flag ? KIT_NIL : v3);
        if (ob != NULL)
            rrc_incref(the_heap, ob);
        node_of(n)->ref[k] = ob;
        things[n].ref[k] = ob != NULL ? variable[v3] : -1;
        if (old != NULL)
            rrc_decref(the_heap, old);
    } else if (kind >= 68 && kind < 72 && n >= 0 && m >= 0 && things[n].ref[k] >= 0 && things[m].ref[k2] < 0) {
        say("reference %d of node %ld moves to reference %d of node %ld", k, things[n].number, k2, things[m].number);
        if (n != m)
            touch(node_of(n)->ref[k]);
        node_of(m)->ref[k2] = node_of(n)->ref[k];
        node_of(n)->ref[k] = NULL;
        things[m].ref[k2] = things[n].ref[k];
        things[n].ref[k] = -1;
    } else if (kind >= 72 && kind < 76 && n >= 0 && things[n].ref[k] >= 0) {
        rrc_object *ob = node_of(n)->ref[k];
        int i = things[n].ref[k];
        say("reference %d of node %ld moves to variable %d", k, things[n].number, v);
        touch(ob);
        node_of(n)->ref[k] = NULL;
        things[n].ref[k] = -1;
        set_variable(v, i, ob);
    } else if (kind >= 76 && kind < 80) {
        say("minor collection");
        kit_collect(KIT_MINOR);
    } else if (kind >= 80 && kind < 83) {
        say("major collection");
        kit_collect(KIT_MAJOR);
    } else if ((kind >= 83 && kind < 88) || kind >= 108) {
        say("slice");
        kit_collect(KIT_SLICE);
    } else if (kind >= 88 && kind < 92) {
        say("safe point");
        kit_safe_point();
    } else if (kind >= 92 && kind < 99) {
        say("walk");
        walk(8);
    } else if (kind >= 100 && kind < 108 && root[r] >= 0 && root[r2] >= 0 && things[root[r]].kind == PLAIN
               && things[root[r2]].kind == PLAIN && things[root[r]].ref[f] >= 0 && (r != r2 || f != k % KIT_FIELDS)) {
        int f2 = k % KIT_FIELDS;
        say("field %d of plain object %ld moves to field %d of plain object %ld", f, things[root[r]].number, f2,
            things[root[r2]].number);
        kit_get_field(r, f, WALK_ROOT);
        kit_set_field(r, f, KIT_NIL);
        kit_set_field(r2, f2, WALK_ROOT);
        kit_set_root(WALK_ROOT, KIT_NIL);
        k = things[root[r]].ref[f];
        things[root[r]].ref[f] = -1;
        things[root[r2]].ref[f2] = k;
    } else if (kind == 99) {
        say("everything settles");
        settle();
    }
    if (rrc_check(the_heap) != RRC_OK)
        kit_fail("rrc_check finds a mistake");
}

/* One program. kept: which steps are made; NULL: all. */
static void run(unsigned seed, int steps, const char *kept)
{
    int i;
    memset(things, 0, sizeof things);
    memset(root, -1, sizeof root);
    memset(variable, -1, sizeof variable);
    kit_open(seed);
    the_heap = kit_heap();
    for (step = 0; step < steps; step++)
        if (kept == NULL || kept[step]) {
            noise = ((uint64_t)seed << 32 | (unsigned)step) * 0xD1342543DE82EF95u;
            one_step();
        }
    noise = seed;
    settle();
    if (seed % 2 == 0)
        for (i = 0; i < ALL_VARIABLES; i++)
            set_variable(i, -1, NULL);
    say("the VM ends");
    for (i = 0; i < OWN_ROOTS; i++)
        root[i] = -1;
    ending = 1;
    kit_close();
    ended = 1;
    for (i = 0; i < MOST; i++)          /* (nobody searches for cycles any more) */
        if (things[i].kind == NODE) {
            rrc_object *ob = things[i].ob;
            rrc_incref(the_heap, ob);
            drop_refs(the_heap, ob);
            rrc_decref(the_heap, ob);
        }
    for (i = 0; i < ALL_VARIABLES; i++)
        set_variable(i, -1, NULL);
    for (i = 0; i < MOST; i++)
        if (things[i].kind == NODE)
            kit_fail("LEAK: the VM has ended, and C holds nothing, but node %ld is still there", things[i].number);
}

/* ---- many programs, and shorter ones ---- */

#if defined(_WIN32)
static int fails(unsigned seed, int steps, const char *kept, int quiet)
{
    (void)quiet;
    run(seed, steps, kept);             /* the first failure ends all */
    return 0;
}
#else
/* Does it fail? In a process of its own, as it may crash. */
static int fails(unsigned seed, int steps, const char *kept, int quiet)
{
    int status;
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (quiet && (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL))
            _exit(2);
        alarm(SECONDS);
        run(seed, steps, kept);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror("kit");
        exit(2);
    }
    if (!quiet && WIFSIGNALED(status))
        printf("  signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == SIGALRM ? ": it does not end" : "");
    return status != 0;
}
#endif

/* Leave out steps as long as the program fails without them. */
static void shorten(unsigned seed, int steps, char *kept)
{
    int size, from, tries = 0;
    for (size = (steps + 1) / 2; size > 0; size /= 2)
        for (from = 0; from < steps && tries < 500; from += size) {
            char saved[MOST_STEPS];
            size_t n = (size_t)(from + size < steps ? size : steps - from);
            if (memchr(kept + from, 1, n) == NULL)
                continue;
            memcpy(saved, kept + from, n);
            memset(kept + from, 0, n);
            tries++;
            if (!fails(seed, steps, kept, 1))
                memcpy(kept + from, saved, n);
        }
}

static void report(const char *name, unsigned seed, int steps, char *kept)
{
    const char *comma = " ";
    int i;
    shorten(seed, steps, kept);
    talks = 1;
    printf("seed %u fails, also with these steps alone:\n", seed);
    if (!fails(seed, steps, kept, 0))
        printf("  (it passed this time: it depends on addresses)\n");
    printf("repeat with: %s %u 1 %d", name, seed, steps);
    for (i = 0; i < steps; i++)
        if (kept[i]) {
            printf("%s%d", comma, i);
            comma = ",";
        }
    printf("\n");
    talks = 0;
}

int main(int argc, char **argv)
{
    static char kept[MOST_STEPS];
    unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1, i;
    unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100, failed = 0;
    int steps = argc > 3 ? atoi(argv[3]) : 300;
    char *at;
    if (steps < 1 || steps > MOST_STEPS) {
        fprintf(stderr, "kit: 1 to %d steps\n", (int)MOST_STEPS);
        return 2;
    }
    if (argc > 4) {
        for (at = argv[4]; *at != '\0'; at += *at == ',') {
            long n = strtol(at, &at, 10);
            if (n < 0 || n >= steps || (*at != ',' && *at != '\0')) {
                fprintf(stderr, "kit: %s is no list of steps\n", argv[4]);
                return 2;
            }
            kept[n] = 1;
        }
        talks = 1;
        failed = fails(seed, steps, kept, 0) != 0;
        printf("%u passed, %u failed\n", 1 - failed, failed);
        return failed > 0;
    }
    for (i = 0; i < count && !failed; i++)
        if (fails(seed + i, steps, NULL, 0)) {
            failed = 1;
            memset(kept, 1, sizeof kept);
            report(argv[0], seed + i, steps, kept);
        }
    printf("%u passed, %u failed\n", i - failed, failed);
    return failed > 0;
}
