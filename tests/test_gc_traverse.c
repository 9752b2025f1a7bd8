/* Traverses that are wrong: found, named in the log, and nobody is harmed. */

#include "knots.h"

#include <string.h>

/* What the wrong traverses of this topic do beside visiting their references. */
typedef enum wrong_kind {
    VISITS_WELL, VISITS_TWICE, VISITS_ANOTHER, VISITS_FREED, VISITS_FOREIGN, VISITS_JUNK,
    CHANGES_A_COUNT, DIFFERS, ALTERNATES, SWAPS
} wrong_kind;

typedef struct liar {
    OB_HEAD
    rrc_object *ref[KNOT_REFS];
    int tag;
    size_t traversed;
    wrong_kind kind;
    rrc_object *other;          /* not owned */
} liar;

#define LIAR(ob) ((liar *)(void *)(ob))

static rrc_object still[4];     /* static objects */

static int liar_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    liar *l = LIAR(self);

    l->traversed++;
    switch (l->kind) {
    case VISITS_TWICE:
        RRC_VISIT(l->ref[0]);
        break;
    case VISITS_ANOTHER:
    case VISITS_FREED:
    case VISITS_FOREIGN:
    case VISITS_JUNK:
        visit(l->other, arg);
        break;
    case CHANGES_A_COUNT:
        if (l->ref[0] != NULL)
            REFCNT(l->ref[0])++;
        break;
    case DIFFERS:
        if (l->traversed % 2 == 0)
            return 0;
        break;
    case ALTERNATES:
        return visit(l->traversed % 2 == 0 ? l->ref[0] : l->ref[1], arg);
    case SWAPS:                 /* the outer ones or the inner ones of four, which lie side by side */
        RRC_VISIT(l->ref[0]);
        RRC_VISIT((rrc_object *)(void *)&still[l->traversed % 2]);
        RRC_VISIT((rrc_object *)(void *)&still[3 - l->traversed % 2]);
        return 0;
    default:
        break;
    }
    RRC_VISIT(l->ref[0]);
    RRC_VISIT(l->ref[1]);
    RRC_VISIT(l->ref[2]);
    return 0;
}

static const rrc_type Liar = {
    .tp_name = "Liar", .tp_basicsize = sizeof(liar), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = liar_traverse, .tp_clear = knot_clear,
};

static rrc_object *liar_new(host *h, wrong_kind kind, rrc_object *other)
{
    rrc_object *ob = knot_new(h, &Liar, 9);

    LIAR(ob)->kind = kind;
    LIAR(ob)->other = other;
    return ob;
}

static void skip_log(host *h)
{
    h->log_read = h->log_count;
}

static const host_log *expect_the_liar(host *h, int code)
{
    const host_log *log = host_expect_log(h, code, "rrc_major_collection_trace");

    check_str(log->type_name, "Liar");
    return log;
}

/* More visits than references: no cycle is collected, and what is alive stays. */
static void too_many_visits_are_found(void)
{
    int twice, linked;

    for (twice = 0; twice < 2; twice++)
        for (linked = -1; linked <= O; linked++) {
            host_options options = { .reports_marks = twice, .unchecked = 1 };
            host *h = host_open(&options);
            rrc_object *victim = knot_new(h, &Knot, 1), *wrong;
            size_t p = host_new(h, HOST_OLD);
            const host_log *log;

            unit_context("twice %d, linked %d", twice, linked);
            wrong = liar_new(h, twice ? VISITS_TWICE : VISITS_ANOTHER, victim);
            if (twice) {
                knot_tie(h, wrong, 0, victim);
                rrc_decref(h->heap, victim);
            }
            if (linked >= 0)
                ob_link(h, (link_kind)linked, p, victim, FULL);
            knot_ring(h, &Knot, 3, NULL);
            /* One reference from outside hides one visit too many. */
            if (!twice) {
                knot_tie(h, wrong, 0, victim);
                rrc_decref(h->heap, victim);
            }
            host_major(h);
            log = expect_the_liar(h, RRC_ETRAVERSE);
            check_ptr(log->ob, wrong);
            check(strstr(log->detail, "visits") != NULL);
            host_expect_silence(h);
            check_int(host_stats(h).pending, 0);
            rrc_run_pending(h->heap, 0);
            check_int(h->deallocs, 0);
            check_int(REFCNT(victim), 1 + (linked == P ? BIAS : 0));
            check_int(host_is_alive(h, p), linked == P);
            if (twice) {
                check_int(rrc_check(h->heap), RRC_ETRAVERSE);
                check_int(h->log[h->log_read % 32].code, RRC_ETRAVERSE);
                skip_log(h);
            }
            /* Once the liar is gone, all is as ever. */
            rrc_decref(h->heap, wrong);
            knot_collect(h);
            check_int(host_stats(h).objects, 0);
            host_expect_silence(h);
            h->events[0] = '\0';
            host_close(h);
        }
}

/* A visit too many of an object that is linked, but not tracked. */
static void too_many_visits_of_a_headerless_object(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        rrc_object *view = ob_given(h, (link_kind)kind, host_rooted(h, HOST_OLD), FULL);
        rrc_object *wrong = liar_new(h, VISITS_ANOTHER, view);

        host_major(h);
        if (!HOST_DEBUG || h->log_count > 0)
            expect_the_liar(h, RRC_ETRAVERSE);
        host_expect_silence(h);
        check_int(REFCNT(view), BIAS);
        check_ptr(RRC_LINK(view), rrc_to_obj(h->heap, view));
        check_int(rrc_check(h->heap), RRC_ETRAVERSE);
        check_ptr(host_expect_log(h, RRC_ETRAVERSE, "rrc_check")->ob, wrong);
        check_ptr(RRC_LINK(view), rrc_to_obj(h->heap, view));
        rrc_decref(h->heap, wrong);
        host_major(h);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* A visit too many that a reference from outside matches cannot be told from a right one: garbage
   that visits what C holds takes it along. It is cleared, but it is not freed, and nor is what it
   reaches from elsewhere. */
static void a_visit_too_many_can_be_hidden(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *victim = knot_new(h, &Knot, 1), *shared = knot_new(h, &Knot, 2);
    rrc_object *wrong = liar_new(h, VISITS_ANOTHER, victim);

    knot_tie(h, victim, 0, shared);
    knot_tie(h, wrong, 0, wrong);
    rrc_decref(h->heap, wrong);         /* garbage from here on */
    host_major(h);
    rrc_run_pending(h->heap, 0);
    host_expect_silence(h);
    check_int(host_stats(h).objects, 2);
    check_int(rrc_refcnt(victim), 1);
    check_ptr(KNOT(victim)->ref[0], NULL);
    check_int(REFCNT(shared), 1);
    rrc_decref(h->heap, victim);
    rrc_decref(h->heap, shared);
    h->events[0] = '\0';
    host_close(h);
}

/* ---- what only debug builds see ---- */

/* Memory that is freed while `on` is set stays readable until the end. */
typedef struct attic {
    int on;
    void *memory;
    size_t size;
} attic;

static void *keep_freed_memory(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    attic *a = (attic *)((host *)userdata)->test;

    if (new_size > 0 || !a->on || old_size < sizeof(knot))
        return host_realloc(userdata, ptr, old_size, new_size);
    check_ptr(a->memory, NULL);
    a->memory = ptr;
    a->size = old_size;
    return NULL;
}

static host *open_with_attic(attic *a)
{
    host_options options = { .unchecked = 1 };
    host *h = host_bare(&options);
    rrc_desc desc;

    h->test = a;
    host_describe(h, &desc);
    desc.realloc = keep_freed_memory;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    return h;
}

/* Memory that is no object: for each way there is one reason why not. */
static rrc_object *make_junk(size_t way)
{
    static const rrc_type Huge = { .tp_name = "Huge", .tp_basicsize = SIZE_MAX };
    static intptr_t memory[12];
    rrc_object *junk = (rrc_object *)(void *)(memory + 4);

    REFCNT(junk) = way > 0;
    RRC_TYPE(junk) = way == 1 ? NULL : way == 2 ? &Huge : &Plain;
    if (way == 5)
        return NULL;
    if (way == 3)
        RRC_TYPE(junk) = (const rrc_type *)(const void *)((const char *)&Plain + 2);
    return way < 4 ? junk : (rrc_object *)(void *)((char *)junk + 1);
}

static void debug_builds_see_more(void)
{
    static const struct {
        wrong_kind kind;
        const char *detail;
    } cases[] = {
        { VISITS_JUNK, "visits what is not an object" }, { VISITS_JUNK, "not an object" },
        { VISITS_JUNK, "not an object" }, { VISITS_JUNK, "not an object" },
        { VISITS_JUNK, "not an object" }, { VISITS_JUNK, "not an object" },
        { CHANGES_A_COUNT, "changes the counts" }, { DIFFERS, "visits other objects the second time" },
        { ALTERNATES, "visits other objects the second time" }, { SWAPS, "visits other objects the second time" },
        { VISITS_FREED, "refers to an object that was freed" }, { VISITS_FOREIGN, "visits an object of another heap" },
    };
    size_t i;

    for (i = 0; i < 4; i++)             /* (their types do not matter) */
        REFCNT(&still[i]) = RRC_REFCNT_IMMORTAL;
    for (i = 0; HOST_DEBUG && i < sizeof cases / sizeof cases[0]; i++) {
        wrong_kind kind = cases[i].kind;
        attic kept = { 0, NULL, 0 };
        host *h = open_with_attic(&kept), *elsewhere = host_open(NULL);
        rrc_object *target = knot_new(h, &Knot, 1), *foreign = knot_new(elsewhere, &Knot, 2);
        rrc_object *wrong = liar_new(h, kind, foreign);
        const host_log *log;

        unit_context("number %u", (unsigned)i);
        knot_tie(h, wrong, 0, target);
        rrc_decref(h->heap, target);
        KNOT(wrong)->ref[1] = knot_new(h, &Knot, 3);
        knot_ring(h, &Knot, 3, NULL);
        if (kind == VISITS_JUNK)
            LIAR(wrong)->other = make_junk(i);
        if (kind == VISITS_FREED) {
            LIAR(wrong)->other = knot_new(h, &Knot, 5);
            kept.on = 1;
            rrc_decref(h->heap, LIAR(wrong)->other);
            kept.on = 0;
        }
        h->deallocs = 0;
        host_major(h);
        log = expect_the_liar(h, kind == VISITS_FREED ? RRC_EFREED : RRC_ETRAVERSE);
        check(strstr(log->detail, cases[i].detail) != NULL);
        host_expect_silence(h);
        rrc_run_pending(h->heap, 0);
        check_int(h->deallocs, 0);
        skip_log(h);
        if (kind == CHANGES_A_COUNT)
            REFCNT(target) = 1;
        LIAR(wrong)->kind = VISITS_WELL;
        rrc_decref(h->heap, wrong);
        knot_collect(h);
        check_int(host_stats(h).objects, 0);
        host_expect_silence(h);
        h->events[0] = '\0';
        check_int(host_free_heap(h), 0);
        if (kept.memory != NULL)
            host_realloc(h, kept.memory, kept.size, 0);
        host_end(h);
        rrc_decref(elsewhere->heap, foreign);
        elsewhere->events[0] = '\0';
        host_close(elsewhere);
    }
}

/* What another heap tracks is told from what this one does wherever it stands there,
   also where this one has no such place. */
static void objects_of_another_heap_have_any_place(void)
{
    static const size_t sizes[] = { 1, 2, 127, 128, 129, 255, 256, 257, 511, 512, 513 };
    size_t s, i, far;

    for (s = 0; HOST_DEBUG && s < sizeof sizes / sizeof sizes[0]; s++)
        for (far = 0; far < 2; far++) {
            host_options options = { .unchecked = 1 };
            host *h = host_open(&options), *elsewhere = host_open(&options);
            rrc_object *wrong = liar_new(h, VISITS_FOREIGN, NULL), *next = NULL;

            unit_context("%u objects, far %u", (unsigned)sizes[s], (unsigned)far);
            for (i = 1; i < sizes[s]; i++) {
                rrc_object *ob = knot_new(h, &Knot, 0);

                KNOT(ob)->ref[0] = KNOT(wrong)->ref[0];
                KNOT(wrong)->ref[0] = ob;
            }
            for (i = 0; i <= sizes[s] + 3000 * far; i++) {
                rrc_object *ob = knot_new(elsewhere, &Knot, 0);

                KNOT(ob)->ref[0] = next;
                next = ob;
            }
            LIAR(wrong)->other = next;  /* the last one there */
            host_major(h);
            check(strstr(expect_the_liar(h, RRC_ETRAVERSE)->detail, "of another heap") != NULL);
            host_expect_silence(h);
            rrc_decref(h->heap, wrong);
            h->events[0] = '\0';
            host_close(h);
            rrc_decref(elsewhere->heap, next);
            host_close(elsewhere);
        }
}

/* A traverse runs inside the search: what would change under the search is refused. */
static rrc_heap *meddled;

static int meddlesome_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    if (meddled != NULL) {
        rrc_heap *heap = meddled;

        meddled = NULL;
        rrc_gc_untrack(heap, self);
        check_ptr(rrc_gc_new(heap, &Knot), NULL);
    }
    return knot_traverse(self, visit, arg);
}

static const rrc_type Meddlesome = {
    .tp_name = "Meddlesome", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = meddlesome_traverse, .tp_clear = knot_clear,
};

static void nothing_is_changed_by_a_traverse(void)
{
    host *h = host_open(NULL);

    knot_ring(h, &Meddlesome, 2, NULL);
    meddled = h->heap;
    host_major(h);
    check_ptr(meddled, NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_gc_untrack");
    host_expect_log(h, RRC_EPHASE, "rrc_gc_new");
    host_expect_silence(h);
    knot_collect(h);
    check_int(h->deallocs, 2);
    h->events[0] = '\0';
    host_close(h);
}

/* A traverse that leaves something out leaks it, if it is in a cycle, and no more. */
static int forgetful_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(KNOT(self)->ref[0]);
    return 0;
}

static const rrc_type Forgetful = {
    .tp_name = "Forgetful", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = forgetful_traverse, .tp_clear = knot_clear,
};

static void a_reference_left_out_is_held(void)
{
    host *h = host_open(NULL);
    rrc_object *ring[3];

    knot_ring(h, &Forgetful, 3, ring);
    knot_tie(h, ring[0], 1, ring[2]);
    knot_collect(h);
    check_events(h, "");
    RRC_CLEAR(h->heap, KNOT(ring[0])->ref[1]);
    knot_collect(h);
    check_int(h->deallocs, 3);
    h->events[0] = '\0';
    host_close(h);
}

/* A field was filled without rrc_incref, or the reference in it was dropped twice. Every tp_traverse is right, and the
   report names the causes before it: what is most likely comes first. */
static void a_forgotten_incref_is_named_first(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *owner = knot_new(h, &Knot, 1), *target = knot_new(h, &Knot, 2);
    const char *forgotten, *dropped, *traverse;
    const host_log *log;

    ob_link(h, O, host_rooted(h, HOST_OLD), target, FULL);
    rrc_decref(h->heap, target);        /* its p alone holds it */
    KNOT(owner)->ref[0] = target;
    check_int(rrc_check(h->heap), RRC_ETRAVERSE);
    log = host_expect_log(h, RRC_ETRAVERSE, "rrc_check");
    check_ptr(log->ob, owner);
    check(strstr(log->message, "is wrong") == NULL);
    check(strstr(log->detail, ": 1 visit, but 0 references.") != NULL);
    forgotten = strstr(log->detail, "stored without rrc_incref");
    dropped = strstr(log->detail, "dropped twice");
    traverse = strstr(log->detail, "a tp_traverse visits what its object does not own");
    check(forgotten != NULL && dropped != NULL && traverse != NULL);
    check(forgotten < dropped && dropped < traverse);
    host_expect_silence(h);
    KNOT(owner)->ref[0] = NULL;
    rrc_decref(h->heap, owner);
    h->events[0] = '\0';
    host_close(h);
}

/* Two are visited too often, and others visit them rightly. */
static void who_else_visits_is_named(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *victim = knot_new(h, &Knot, 1), *wrong = liar_new(h, VISITS_TWICE, NULL), *other = knot_new(h, &Knot, 2);
    rrc_object *handles[3];
    const host_log *log;
    int i;

    knot_tie(h, wrong, 0, victim);
    knot_tie(h, other, 0, victim);
    rrc_decref(h->heap, victim);
    host_major(h);
    log = host_expect_log(h, RRC_ETRAVERSE, "rrc_major_collection_trace");
    check(strstr(log->detail, "it and Knot") != NULL);
    LIAR(wrong)->kind = VISITS_WELL;
    RRC_CLEAR(h->heap, KNOT(wrong)->ref[0]);
    /* The first of several linked objects without a head. */
    for (i = 0; i < 3; i++)
        handles[i] = ob_shared(h, P, host_rooted(h, HOST_OLD), FULL);
    LIAR(wrong)->kind = VISITS_TWICE;
    LIAR(wrong)->ref[0] = handles[0];
    host_major(h);
    host_expect_log(h, RRC_ETRAVERSE, "rrc_major_collection_trace");
    host_expect_silence(h);
    LIAR(wrong)->ref[0] = NULL;
    for (i = 0; i < 3; i++)
        rrc_decref(h->heap, handles[i]);
    rrc_decref(h->heap, wrong);
    rrc_decref(h->heap, other);
    host_close(h);
}

/* One that visits less often is named too, also if it comes first; one that does not
   visit is not. */
static void who_does_not_visit_is_not_named(void)
{
    int visits;

    for (visits = 0; visits < 2; visits++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        rrc_object *victim = knot_new(h, &Knot, 1), *before = knot_new(h, &Knot, 2), *wrong, *after;
        const host_log *log;

        unit_context("visits %d", visits);
        wrong = liar_new(h, VISITS_TWICE, NULL);
        after = knot_new(h, &Knot, 3);
        knot_tie(h, wrong, 0, victim);
        if (visits)
            knot_tie(h, before, 0, victim);
        rrc_decref(h->heap, victim);
        host_major(h);
        log = expect_the_liar(h, RRC_ETRAVERSE);
        check_ptr(log->ob, wrong);
        check_int(strstr(log->detail, "it and ") != NULL, visits);
        host_expect_silence(h);
        rrc_decref(h->heap, before);
        rrc_decref(h->heap, wrong);
        rrc_decref(h->heap, after);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* Held in C, and refers to what the scan has passed by then, and that to another one. */
static rrc_object *three_in_a_row(host *h, size_t extra)
{
    rrc_object *obs[3];
    int i;

    for (i = 0; i < 3; i++) {
        obs[i] = rrc_gc_new_with_extra_data(h->heap, &Knot, extra);
        check_int(rrc_gc_track(h->heap, obs[i]), RRC_OK);
    }
    KNOT(obs[2])->ref[0] = obs[0];
    KNOT(obs[0])->ref[0] = obs[1];
    return obs[2];
}

/* Found in the middle of the search: what was still to be visited then is forgotten, and
   may be gone when the next search begins. */
static void what_was_to_be_visited_is_forgotten(void)
{
    enum { ROWS = 100 };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *row = three_in_a_row(h, 0), *victim = knot_new(h, &Knot, 0), *wrong = liar_new(h, VISITS_TWICE, NULL);
    rrc_object *rows[ROWS];
    size_t i;

    knot_tie(h, wrong, 0, victim);
    rrc_decref(h->heap, victim);
    host_major(h);
    expect_the_liar(h, RRC_ETRAVERSE);
    rrc_decref(h->heap, wrong);
    rrc_decref(h->heap, row);
    check_int(host_stats(h).objects, 0);
    h->deallocs = 0;
    for (i = 0; i < ROWS; i++)
        rows[i] = three_in_a_row(h, 1000);      /* (not in the memory of the first) */
    knot_collect(h);
    check_int(h->deallocs, 0);
    for (i = 0; i < ROWS; i++)
        rrc_decref(h->heap, rows[i]);
    check_int(h->deallocs, 3 * ROWS);
    host_close(h);
}

/* For visitors of others: what one returns that is not 0 ends the traverse, and is its result. */
static int stop_at_the_second(rrc_object *ob, void *arg)
{
    (void)ob;
    return ++*(int *)arg == 2 ? 7 : 0;
}

static void a_visitor_can_stop(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = liar_new(h, VISITS_WELL, NULL);
    int i, visits = 0;

    for (i = 0; i < KNOT_REFS; i++)
        LIAR(ob)->ref[i] = knot_new(h, &Knot, i);
    check_int(Liar.tp_traverse(ob, stop_at_the_second, &visits), 7);
    check_int(visits, 2);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* The bias without a link: the maker adds it first, or has lost the link. */
static void a_bias_without_a_link(void)
{
    host *h = host_open(NULL);
    rrc_object *owner = rrc_gc_new(h->heap, &Knot), *ob = rrc_gc_new(h->heap, &Knot);
    int i;

    check_int(rrc_gc_track(h->heap, owner), RRC_OK);
    KNOT(owner)->ref[0] = ob;
    REFCNT(ob) += BIAS;
    for (i = 0; i < 2; i++)
        host_major(h);                  /* with rrc_check */
    check_int(REFCNT(ob), BIAS + 1);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, host_rooted(h, HOST_OLD)), ob), RRC_OK);
    host_major(h);
    rrc_decref(h->heap, owner);
    check_int(REFCNT(ob), BIAS);
    host_close(h);
}

UNIT_GROUP(gc_traverse,
    UNIT(a_bias_without_a_link),
    UNIT(a_forgotten_incref_is_named_first), UNIT(who_else_visits_is_named),
    UNIT(who_does_not_visit_is_not_named),
    UNIT(what_was_to_be_visited_is_forgotten),
    UNIT(objects_of_another_heap_have_any_place),
    UNIT(nothing_is_changed_by_a_traverse),
        UNIT(too_many_visits_are_found),
    UNIT(a_visit_too_many_can_be_hidden),
    UNIT(too_many_visits_of_a_headerless_object),
    UNIT(debug_builds_see_more),
    UNIT(a_reference_left_out_is_held),
        UNIT(a_visitor_can_stop));
