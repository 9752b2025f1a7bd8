/* Random operations against a naive oracle: plain arrays to which the published
 * rule is applied directly. After each operation all that can be seen of the
 * heap must be what the oracle says.
 *
 *     random [seed [runs [steps]]]          and more: see random.h */

#include "objects.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_P = 3000, MAX_OB = 90, MAX_DEPTH = 3 };

/* ---- the oracle's world ---- */

typedef enum life { ABSENT, ALIVE, DYING } life;

typedef struct oracle_p {
    int alive, young, age, rooted, prebuilt, mark;
    int edge[HOST_EDGES];           /* -1: none */
} oracle_p;

typedef struct oracle_ob {
    life life;
    rrc_object *ob;
    const rrc_type *type;
    int held;                       /* references of C outside of all objects */
    int queued;                     /* the queue's reference */
    int p;                          /* -1: unlinked */
    link_kind kind;
    ob_weight weight;
    int ref[2];                     /* owned; -1: none */
    int resurrections;              /* left to be done by its finalizer */
} oracle_ob;

typedef struct world {
    host *h;
    choices from;
    oracle_p p[MAX_P];
    int p_count;
    oracle_ob ob[MAX_OB];
    int depth;                      /* of operations inside deallocs */
    int ending;                     /* rrc_heap_free was called */
    int busy_end;                   /* deallocs go on with operations then */
    int running;                    /* the queue is being run */
    int nested;                     /* ... and some dealloc did operations */
    size_t dealt;                   /* deaths, and resurrections by a finalizer, so far */
    size_t left_queue;              /* obs that left the queue and stayed alive, so far */
    int stays_young;
} world;

static int count_of(const world *w, int i)
{
    int j, k, count = w->ob[i].held + w->ob[i].queued;

    for (j = 0; j < MAX_OB; j++)
        for (k = 0; k < 2; k++)
            count += w->ob[j].life != ABSENT && w->ob[j].ref[k] == i;
    return count;
}

/* Waiting for a dealloc that a limit put off, which has a reference like that of the queue. */
static int is_due(const world *w, int i)
{
    return w->ob[i].life == ALIVE && w->ob[i].p < 0 && count_of(w, i) == 0;
}

static intptr_t bias_of(const oracle_ob *o)
{
    return o->p < 0 ? 0 : o->weight == LIGHT_OB ? LIGHT : BIAS;
}

static int index_of(const world *w, rrc_object *ob)
{
    int i;

    for (i = 0; i < MAX_OB; i++)
        if (w->ob[i].life != ABSENT && w->ob[i].ob == ob)
            return i;
    unit_fail(__FILE__, __LINE__, "%p is no object", (void *)ob);
}

/* ---- what the header does to objects ---- */

static void operate(world *w);
static void change_references(world *w, unsigned how);

/* What the queue lets go of shows in the counts only. */
static void note_what_left_the_queue(world *w)
{
    int i;

    for (i = 0; i < MAX_OB; i++) {
        oracle_ob *o = &w->ob[i];

        if (o->life == ALIVE && o->queued && REFCNT(o->ob) == count_of(w, i) + bias_of(o) - 1) {
            o->queued = 0;
            w->left_queue++;
        }
    }
}

/* An object goes, or is about to: nobody may have a reference to it. */
static oracle_ob *going(world *w, rrc_object *ob, int count)
{
    int i = index_of(w, ob);
    oracle_ob *o = &w->ob[i];

    if (w->running && o->queued)
        o->queued = 0;
    check_int(o->life, ALIVE);
    check_int(count_of(w, i), 0);
    check_int(REFCNT(ob), count);
    return o;
}

static void random_finalize(rrc_heap *heap, rrc_object *self)
{
    world *w = (world *)HOST(heap)->test;
    oracle_ob *o = going(w, self, 1);

    check_int(w->h->phase, HOST_MUTATOR);
    check(o->p < 0);
    if (o->resurrections > 0) {
        o->resurrections--;
        rrc_incref(heap, self);
        o->held++;
        w->dealt++;
    }
}

static void forget(world *w, oracle_ob *o)
{
    memset(o, 0, sizeof *o);
    o->life = ABSENT;
    w->dealt++;
}

static void random_dealloc(rrc_heap *heap, rrc_object *self)
{
    world *w = (world *)HOST(heap)->test;
    oracle_ob *o = going(w, self, 0);
    int k;

    check_int(w->h->phase, HOST_MUTATOR);
    check(o->p < 0);
    check_ptr(RRC_LINK(self), NULL);
    o->life = DYING;
    if (w->depth < MAX_DEPTH && pick(&w->from, 4) == 0) {
        w->depth++;
        w->nested = 1;
        if (w->running)
            note_what_left_the_queue(w);
        if (!w->ending)
            operate(w);
        else if (w->busy_end)
            change_references(w, pick(&w->from, 3));
        w->depth--;
    }
    for (k = 0; k < 2; k++) {
        check_int(NODE(self)->ref[k] != NULL, o->ref[k] >= 0);
        o->ref[k] = -1;
        RRC_CLEAR(heap, NODE(self)->ref[k]);
    }
    forget(w, o);
    rrc_del(heap, self);
}

/* A leaf goes in the mutator with count 0, or in a collection by the rule. */
static void random_free(rrc_heap *heap, void *self)
{
    world *w = (world *)HOST(heap)->test;
    oracle_ob *o = going(w, (rrc_object *)self, 0);

    if (o->p >= 0) {
        check_int(o->weight, LIGHT_OB);
        o->p = -1;
    }
    forget(w, o);
    rrc_del(heap, self);
}

static const rrc_type RandomNode = {
    .tp_name = "RandomNode", .tp_basicsize = sizeof(node), .tp_dealloc = random_dealloc,
};
static const rrc_type RandomFinal = {
    .tp_name = "RandomFinal", .tp_basicsize = sizeof(node), .tp_dealloc = random_dealloc,
    .tp_finalize = random_finalize,
};
static const rrc_type RandomLeaf = {
    .tp_name = "RandomLeaf", .tp_basicsize = sizeof(node), .tp_free = random_free,
};

/* ---- comparison ---- */

static void compare(world *w)
{
    size_t links[4] = { 0, 0, 0, 0 }, objects = 0, pending = 0;
    rrc_stats stats;
    int i;

    for (i = 0; i < w->p_count; i++) {
        check_int(host_is_alive(w->h, (size_t)i), w->p[i].alive);
        if (w->p[i].alive)
            check_int(host_in_nursery(w->h, (size_t)i), w->p[i].young);
    }
    for (i = 0; i < MAX_OB; i++) {
        oracle_ob *o = &w->ob[i];

        objects += o->life != ABSENT;
        if (o->life != ALIVE)
            continue;
        check_int(REFCNT(o->ob), count_of(w, i) + bias_of(o) + is_due(w, i));
        pending += o->queued > 0 || is_due(w, i);
        if (o->p >= 0) {
            rrc_gcref p = host_at(w->h, (size_t)o->p);

            check(w->p[o->p].alive);
            check_ptr(RRC_LINK(o->ob), p);
            check_ptr(rrc_to_obj(w->h->heap, o->ob), p);
            if (o->kind == P)
                check_ptr(rrc_from_obj(w->h->heap, p), o->ob);
            links[(o->kind == O) + (w->p[o->p].young ? 2 : 0)]++;
        } else if (!is_due(w, i)) {
            check_ptr(RRC_LINK(o->ob), NULL);
            check_ptr(rrc_to_obj(w->h->heap, o->ob), NULL);
        }
    }
    stats = host_stats(w->h);
    check_int(stats.p_old, links[P]);
    check_int(stats.o_old, links[O]);
    check_int(stats.p_young, links[P + 2]);
    check_int(stats.o_young, links[O + 2]);
    check_int(stats.pending, pending);
    check_int(stats.objects, objects);
    host_expect_silence(w->h);
}

static int due_count(const world *w)
{
    int i, due = 0;

    for (i = 0; i < MAX_OB; i++)
        due += is_due(w, i);
    return due;
}

/* ---- collections, by the published rule ---- */

static void spread(world *w)
{
    int i, n, again;

    do {
        again = 0;
        for (i = 0; i < w->p_count; i++)
            if (w->p[i].alive && w->p[i].mark)
                for (n = 0; n < HOST_EDGES; n++) {
                    int to = w->p[i].edge[n];

                    if (to >= 0 && !w->p[to].mark) {
                        w->p[to].mark = 1;
                        again = 1;
                    }
                }
    } while (again);
}

static void apply_rule(world *w, int major)
{
    int i, freed[MAX_OB];

    for (i = 0; i < w->p_count; i++)
        w->p[i].mark = w->p[i].prebuilt || w->p[i].rooted || (!major && !w->p[i].young);
    for (i = 0; i < MAX_OB; i++)
        if (w->ob[i].life == ALIVE && w->ob[i].p >= 0 && w->ob[i].kind == P && count_of(w, i) != 0)
            w->p[w->ob[i].p].mark = 1;
    spread(w);
    memset(freed, 0, sizeof freed);
    for (i = 0; i < MAX_OB; i++) {
        oracle_ob *o = &w->ob[i];

        if (o->life != ALIVE || o->p < 0 || w->p[o->p].mark)
            continue;
        if (o->weight == LIGHT_OB && count_of(w, i) == 0) {
            freed[i] = 1;
        } else {
            o->p = -1;
            if (count_of(w, i) == 0)
                o->queued = 1;
        }
    }
    for (i = 0; i < w->p_count; i++) {
        oracle_p *p = &w->p[i];

        if (!p->mark) {
            p->alive = 0;
        } else if (p->young) {
            p->young = p->age + 1 <= w->stays_young;
            p->age = p->young ? p->age + 1 : 0;
        }
    }
    /* What is to be freed is forgotten by its tp_free. */
    if (major)
        host_major(w->h);
    else
        host_minor(w->h);
    for (i = 0; i < MAX_OB; i++)
        if (freed[i] && w->ob[i].life != ABSENT && w->ob[i].p >= 0)
            unit_fail(__FILE__, __LINE__, "a light object is not freed");
}

/* ---- operations ---- */

static int some_ob(world *w)
{
    int i = (int)pick(&w->from, MAX_OB);

    return w->ob[i].life == ALIVE && !is_due(w, i) ? i : -1;
}

static int some_p(world *w)
{
    int i;

    if (w->p_count == 0)
        return -1;
    i = w->p_count - 1 - (int)pick(&w->from, w->p_count < 200 ? (unsigned)w->p_count : 200);
    return w->p[i].alive ? i : -1;
}

static void new_p(world *w)
{
    static const host_kind kinds[] = { HOST_YOUNG, HOST_YOUNG, HOST_YOUNG, HOST_OLD, HOST_LARGE,
                                       HOST_LARGE_OLD, HOST_PREBUILT };
    host_kind kind = kinds[pick(&w->from, sizeof kinds / sizeof kinds[0])];
    oracle_p *p = &w->p[w->p_count];
    int n;

    if (w->p_count == MAX_P)
        return;
    if (kind == HOST_PREBUILT && pick(&w->from, 8) != 0)
        kind = HOST_YOUNG;
    memset(p, 0, sizeof *p);
    p->alive = 1;
    p->prebuilt = kind == HOST_PREBUILT;
    p->young = !w->h->options.without_generations && (kind == HOST_YOUNG || kind == HOST_LARGE);
    for (n = 0; n < HOST_EDGES; n++)
        p->edge[n] = -1;
    check_int(host_new(w->h, kind), (size_t)w->p_count++);
    if (pick(&w->from, 2) == 0) {
        p->rooted = 1;
        host_root(w->h, (size_t)w->p_count - 1);
    }
}

static void new_ob(world *w)
{
    const rrc_type *const types[] = { &RandomNode, &RandomLeaf, &RandomFinal };
    oracle_ob *o;
    int i = 0;

    while (i < MAX_OB && w->ob[i].life != ABSENT)
        i++;
    if (i == MAX_OB)
        return;
    o = &w->ob[i];
    memset(o, 0, sizeof *o);
    o->type = types[pick(&w->from, 3)];
    o->ob = ob_new(w->h, o->type);
    o->life = ALIVE;
    o->held = 1;
    o->p = o->ref[0] = o->ref[1] = -1;
    o->resurrections = o->type == &RandomFinal && pick(&w->from, 3) == 0;
}

static int p_link_of(const world *w, int p)
{
    int i;

    for (i = 0; i < MAX_OB; i++)
        if (w->ob[i].life == ALIVE && w->ob[i].p == p && w->ob[i].kind == P)
            return i;
    return -1;
}

static void make_link(world *w)
{
    int i = some_ob(w), p = some_p(w), code, expected = RRC_OK;
    link_kind kind = pick(&w->from, 3) == 0 ? O : P;
    oracle_ob *o;

    if (i < 0 || p < 0)
        return;
    o = &w->ob[i];
    if (o->p >= 0)
        expected = RRC_ELINKED;
    else if (kind == P && p_link_of(w, p) >= 0)
        expected = RRC_EPLINKED;
    else if (pick(&w->from, 6) == 0)
        w->h->fail_at = w->h->calls.allocate + 1 + pick(&w->from, 4);
    code = kind == P ? rrc_create_link_pypy(w->h->heap, host_at(w->h, (size_t)p), o->ob)
                     : rrc_create_link_pyobj(w->h->heap, host_at(w->h, (size_t)p), o->ob);
    if (w->h->fail_at > 0 && w->h->calls.allocate >= w->h->fail_at && code == RRC_ENOMEM)
        expected = RRC_ENOMEM;
    w->h->fail_at = 0;
    check_int(code, expected);
    if (code == RRC_OK) {
        o->p = p;
        o->kind = kind;
        o->weight = o->type == &RandomLeaf && pick(&w->from, 2) == 0 ? LIGHT_OB : FULL;
        REFCNT(o->ob) += bias_of(o);
    } else if (code != RRC_ENOMEM) {
        host_expect_log(w->h, code, NULL);
    }
}

static void unlink_one(world *w)
{
    int i = some_ob(w);
    oracle_ob *o;

    if (i < 0)
        return;
    o = &w->ob[i];
    if (o->p < 0) {
        check_int(rrc_unlink(w->h->heap, o->ob), RRC_EUNLINKED);
        host_expect_log(w->h, RRC_EUNLINKED, "rrc_unlink");
    } else if (o->weight == LIGHT_OB && count_of(w, i) == 0) {
        check_int(rrc_unlink(w->h->heap, o->ob), RRC_OK);
        check_int(o->life, ABSENT);
    } else {
        o->p = -1;
        if (count_of(w, i) == 0)
            o->queued = 1;
        check_int(rrc_unlink(w->h->heap, o->ob), RRC_OK);
        check(w->ob[i].life == ALIVE);
    }
}

static void drop(world *w, int i)
{
    int due = due_count(w);

    w->ob[i].held--;
    rrc_decref(w->h->heap, w->ob[i].ob);
    /* Only inside a dealloc may anything be put off; what was, may be done now. */
    if (w->depth == 0 && !w->ending)
        check(due_count(w) <= due);
}

static void take(world *w, int i)
{
    rrc_incref(w->h->heap, w->ob[i].ob);
    w->ob[i].held++;
}

/* Hand one of our references over to an object, or take one back. */
static void change_ref(world *w)
{
    int owner = some_ob(w), i = some_ob(w), k = (int)pick(&w->from, 2);

    if (owner < 0 || w->ob[owner].type == &RandomLeaf)
        return;
    if (w->ob[owner].ref[k] >= 0) {
        w->ob[owner].ref[k] = -1;
        RRC_CLEAR(w->h->heap, NODE(w->ob[owner].ob)->ref[k]);
    } else if (i >= 0 && w->ob[i].held > 0) {
        w->ob[i].held--;
        w->ob[owner].ref[k] = i;
        NODE(w->ob[owner].ob)->ref[k] = w->ob[i].ob;
    }
}

static void change_references(world *w, unsigned how)
{
    int i = how < 2 ? some_ob(w) : -1;

    if (how == 2)
        change_ref(w);
    else if (i >= 0 && how == 0)
        take(w, i);
    else if (i >= 0 && w->ob[i].held > 0)
        drop(w, i);
}

static void run_some(world *w)
{
    size_t max = pick(&w->from, 6), done, dealt = w->dealt, left_queue = w->left_queue;
    int i;

    if (w->depth > 0) {
        check_int(rrc_run_pending(w->h->heap, max), 0);
        return;
    }
    w->running = 1;
    w->nested = 0;
    done = rrc_run_pending(w->h->heap, max);
    note_what_left_the_queue(w);
    w->running = 0;
    check(max == 0 || done <= max);
    if (!w->nested)
        check_int(done, w->dealt - dealt + w->left_queue - left_queue);
    if (max == 0 || done < max)
        for (i = 0; i < MAX_OB; i++)
            check(w->ob[i].life != ALIVE || (!w->ob[i].queued && !is_due(w, i)));
}

static void take_next_dead(world *w)
{
    rrc_object *ob = rrc_next_dead(w->h->heap);
    int i, waiting = due_count(w);

    for (i = 0; i < MAX_OB; i++)
        waiting += w->ob[i].life == ALIVE && w->ob[i].queued;
    if (ob == NULL) {
        check_int(waiting, 0);
        return;
    }
    i = index_of(w, ob);
    check_int(w->ob[i].life, ALIVE);
    if (!w->ob[i].queued)
        check(is_due(w, i));
    w->ob[i].queued = 0;
    w->ob[i].held++;
    if (w->ob[i].p < 0)
        check_ptr(RRC_LINK(ob), NULL);
    check_int(REFCNT(ob), count_of(w, i) + bias_of(&w->ob[i]));
}

static void operate(world *w)
{
    int i, p, n;

    switch (pick(&w->from, 16)) {
    case 0:
    case 1:
        new_p(w);
        break;
    case 2:
    case 3:
        new_ob(w);
        break;
    case 4:
    case 5:
        make_link(w);
        break;
    case 6:
        unlink_one(w);
        break;
    case 7:
        change_references(w, 0);
        break;
    case 8:
    case 9:
        change_references(w, 1);
        break;
    case 10:
        change_references(w, 2);
        break;
    case 11:
        p = some_p(w);
        if (p >= 0 && (w->p[p].rooted = !w->p[p].rooted) != 0)
            host_root(w->h, (size_t)p);
        else if (p >= 0)
            host_unroot(w->h, (size_t)p);
        break;
    case 12:
        p = some_p(w);
        i = some_p(w);
        n = (int)pick(&w->from, HOST_EDGES);
        if (p >= 0) {
            w->p[p].edge[n] = i;
            host_point(w->h, (size_t)p, (unsigned)n, i < 0 ? HOST_NOTHING : (size_t)i);
        }
        break;
    case 13:
        apply_rule(w, pick(&w->from, 3) == 0);
        break;
    case 14:
        run_some(w);
        break;
    default:
        take_next_dead(w);
    }
}

/* ---- the end ---- */

/* What rrc_heap_free must return: dissolve all, drop what nobody holds, until
   nothing changes; then see who is left of those that were linked or in the queue.
   (An object that a limit put off has no link: it is not counted, even if its finalizer keeps it.) */
static size_t expected_rest(const world *start)
{
    world *w = (world *)malloc(sizeof *w);
    int counted[MAX_OB], i, again;
    size_t rest = 0;

    if (w == NULL)
        abort();
    *w = *start;
    for (i = 0; i < MAX_OB; i++) {
        counted[i] = w->ob[i].life == ALIVE && (w->ob[i].p >= 0 || w->ob[i].queued);
        w->ob[i].p = -1;
        w->ob[i].queued = 0;
    }
    do {
        again = 0;
        for (i = 0; i < MAX_OB; i++)
            if (is_due(w, i)) {
                again = 1;
                if (w->ob[i].resurrections > 0) {
                    w->ob[i].resurrections--;
                    w->ob[i].held++;
                } else {
                    w->ob[i].life = ABSENT;
                }
            }
    } while (again);
    for (i = 0; i < MAX_OB; i++)
        rest += counted[i] && w->ob[i].life == ALIVE;
    free(w);
    return rest;
}

static void end_world(world *w)
{
    size_t expected = expected_rest(w), returned, rest = 0;
    int counted[MAX_OB], i, k;

    w->ending = 1;
    w->running = 0;
    w->busy_end = (int)pick(&w->from, 2);
    for (i = 0; i < MAX_OB; i++)
        counted[i] = w->ob[i].life == ALIVE && (w->ob[i].p >= 0 || w->ob[i].queued);
    for (i = 0; i < MAX_OB; i++) {
        w->ob[i].p = -1;
        w->ob[i].queued = 0;
    }
    returned = host_free_heap(w->h);
    for (i = 0; i < MAX_OB; i++) {
        if (w->ob[i].life != ALIVE)
            continue;
        check(count_of(w, i) > 0);
        check_int(REFCNT(w->ob[i].ob), count_of(w, i));
        check_ptr(rrc_to_obj(w->h->heap, w->ob[i].ob), NULL);
        rest += counted[i] != 0;
    }
    check_int(returned, rest);
    if (!w->busy_end)
        check_int(returned, expected);
    /* The husk goes with the last of them: each is held once more, so that it
       does not go in the middle of this. */
    w->busy_end = 0;
    for (i = 0; i < MAX_OB; i++) {
        if (w->ob[i].life != ALIVE)
            continue;
        take(w, i);
        for (k = 0; k < 2; k++)
            if (w->ob[i].ref[k] >= 0) {
                w->ob[i].ref[k] = -1;
                RRC_CLEAR(w->h->heap, NODE(w->ob[i].ob)->ref[k]);
            }
        w->ob[i].resurrections = 0;
    }
    for (i = 0; i < MAX_OB; i++)
        while (w->ob[i].life == ALIVE && w->ob[i].held > 0)
            drop(w, i);
    for (i = 0; i < MAX_OB; i++)
        check_int(w->ob[i].life, ABSENT);
    host_end(w->h);
}

static void run(choices from, unsigned steps)
{
    world *w = (world *)calloc(1, sizeof *w);
    host_options options;
    unsigned step;

    if (w == NULL)
        abort();
    w->from = from;
    memset(&options, 0, sizeof options);
    options.without_generations = pick(&w->from, 5) == 0;
    options.stays_young = (int)pick(&w->from, 3);
    options.moving = (host_moving)pick(&w->from, HOST_STAY + 1);
    options.eager = pick(&w->from, 3) == 0;
    options.reuse = pick(&w->from, 3) == 0;
    options.hoard = !options.reuse && pick(&w->from, 2) == 0;
    options.repeat_trace = pick(&w->from, 5) == 0;
    w->stays_young = options.stays_young;
    w->h = host_open(&options);
    w->h->test = w;
    for (step = 0; step < steps && choices_are_left(&w->from); step++) {
        operate(w);
        compare(w);
    }
    check_int(rrc_check(w->h->heap), RRC_OK);
    end_world(w);
    free(w);
}

static void run_bytes(const unsigned char *bytes, size_t size)
{
    run(choices_of_bytes(bytes, size), 100000);
}

static void run_seed(unsigned long seed, unsigned steps)
{
    run(choices_of_seed(seed), steps);
}

static const random_runs program = { "random", 1000, run_seed, run_bytes };

RANDOM_PROGRAM(main, program)
