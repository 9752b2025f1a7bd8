/* rrc_heap_free: what it returns, what it runs, and the husk that is left. */

#include "knots.h"

#include <stdlib.h>
#include <string.h>

static const host_options without_order = { .order = 1 };

static void an_empty_heap(void)
{
    host *h = host_open(NULL);

    check_int(host_free_heap(h), 0);
    host_end(h);
    check_int(rrc_heap_free(NULL), 0);
}

/* Every p counts as dead, be it rooted or prebuilt. */
static void what_the_host_held_goes(void)
{
    host *h = host_open(NULL);
    size_t i;

    for (i = 0; i < HOST_KINDS; i++) {
        size_t id = host_rooted(h, (host_kind)i);

        ob_given(h, P, id, i % 2 == 0 ? FULL : LIGHT_OB);
        ob_given(h, O, id, i % 2 == 0 ? LIGHT_OB : FULL);
    }
    check_int(host_free_heap(h), 0);
    check_int(h->freed, 10);
    check_int(h->deallocs, 5);
    host_end(h);
}

static void what_c_holds_ends_with_its_true_count(void)
{
    int before;

    for (before = 0; before < 3; before++) {
        host *h = host_open(NULL);
        rrc_object *obs[8];
        size_t i;

        for (i = 0; i < 8; i++) {
            size_t id = host_rooted(h, i % 2 == 0 ? HOST_YOUNG : HOST_OLD);

            obs[i] = ob_shared(h, i & 2 ? P : O, id, i & 4 ? LIGHT_OB : FULL);
            if (i % 3 == 0)
                rrc_incref(h->heap, obs[i]);
        }
        if (before == 1)
            host_minor(h);
        if (before == 2)
            host_major(h);
        check_int(host_free_heap(h), 8);
        check_int(h->freed, 0);
        for (i = 0; i < 8; i++) {
            check_int(REFCNT(obs[i]), 1 + (i % 3 == 0));
            check_ptr(RRC_LINK(obs[i]), NULL);
            if (i % 3 == 0)
                rrc_decref(h->heap, obs[i]);
            rrc_decref(h->heap, obs[i]);
        }
        check_int(h->freed, 8);
        host_end(h);
    }
}

/* Objects that were neither linked nor pending are not counted, but keep the husk. */
static void unlinked_obs_are_not_counted(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    check_int(host_free_heap(h), 0);
    check_int(h->freed, 0);
    check(h->live_bytes > 0);
    rrc_incref(h->heap, ob);
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), 1);
    rrc_decref(h->heap, ob);
    check_int(h->freed, 1);
    host_end(h);
}

static void what_is_pending_runs(void)
{
    host *h = host_open(NULL);
    rrc_object *chain = ob_chain(h, &Node, 100), *held;
    size_t id = host_new(h, HOST_OLD);

    ob_link(h, O, id, chain, FULL);
    rrc_decref(h->heap, chain);
    held = ob_given(h, P, host_new(h, HOST_YOUNG), FULL);
    host_major(h);
    rrc_incref(h->heap, held);
    check_int(rrc_run_pending(h->heap, 10), 10);
    check(host_stats(h).pending > 0);
    check_int(host_free_heap(h), 1);
    check_int(h->deallocs, 100);
    check_int(REFCNT(held), 1);
    rrc_decref(h->heap, held);
    host_end(h);
}

/* 0 owns 1 owns 2. Who was linked first, which of them are linked, waiting or
   neither, and whether C holds the middle one: the result is always the number
   of those on the heap's books that are alive in the end. */
static void play_owners(const int *order, int states, link_kind kind, int held)
{
    host *h = host_open(NULL);
    rrc_object *obs[3];
    int i, linked = 0, top_is_held = states % 3 == 0;

    for (i = 0; i < 3; i++) {
        obs[i] = ob_new(h, &Node);
        NODE(obs[i])->tag = i;
    }
    NODE(obs[0])->ref[0] = obs[1];
    NODE(obs[1])->ref[1] = obs[2];
    if (held)
        rrc_incref(h->heap, obs[1]);
    for (i = 0; i < 3; i++) {
        int n = order[i], state = (n == 0 ? states : n == 1 ? states / 3 : states / 9) % 3;

        if (state > 0)
            ob_link(h, kind, state == 1 ? host_rooted(h, HOST_OLD) : host_new(h, HOST_OLD), obs[n], FULL);
    }
    if (!top_is_held)
        rrc_decref(h->heap, obs[0]);
    host_major(h);
    for (i = 1; i < 3; i++)
        linked += RRC_LINK(obs[i]) != NULL;
    check_int(host_free_heap(h), held || top_is_held ? linked : 0);
    check_int(h->deallocs, top_is_held ? 0 : held ? 1 : 3);
    if (top_is_held) {
        check_int(REFCNT(obs[0]), 1);
        rrc_decref(h->heap, obs[0]);
    }
    if (held) {
        check_int(h->deallocs, 1);
        check_int(REFCNT(obs[1]), 1);
        check_int(REFCNT(obs[2]), 1);
        rrc_decref(h->heap, obs[1]);
    }
    check_int(h->deallocs, 3);
    host_end(h);
}

static void owners_in_any_order(void)
{
    static const int orders[6][3] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
    };
    int order, states, kind, held;

    for (order = 0; order < 6; order++)
        for (states = 0; states < 27; states++)
            for (kind = P; kind <= O; kind++)
                for (held = 0; held < 2; held++) {
                    unit_context("order %d, states %d, %c links, held %d", order, states,
                                 kind == P ? 'P' : 'O', held);
                    play_owners(orders[order], states, (link_kind)kind, held);
                }
}

/* A chain of linked objects, deeper than is deallocated at once: linked from
   either end, with C holding one of them or none. */
static void play_linked_chain(const rrc_type *type, int last_first, int held)
{
    enum { LENGTH = 1000 };
    host *h = host_open(NULL);
    rrc_object *chain = ob_chain(h, type, LENGTH), *obs[LENGTH], *ob = chain;
    size_t i;

    for (i = 0; i < LENGTH; i++, ob = NODE(ob)->ref[0])
        obs[i] = ob;
    for (i = 0; i < LENGTH; i++)
        ob_link(h, i % 2 == 0 ? P : O, host_rooted(h, i % 3 == 0 ? HOST_YOUNG : HOST_OLD),
                obs[last_first ? LENGTH - 1 - i : i], FULL);
    rrc_decref(h->heap, chain);
    if (held)
        rrc_incref(h->heap, obs[LENGTH / 4]);
    check_int(host_free_heap(h), held ? LENGTH - LENGTH / 4 : 0);
    check_int(h->deallocs, held ? LENGTH / 4 : LENGTH);
    for (i = LENGTH / 4; held && i < LENGTH; i++) {
        check_int(REFCNT(obs[i]), 1);
        check_ptr(RRC_LINK(obs[i]), NULL);
    }
    if (held)
        rrc_decref(h->heap, obs[LENGTH / 4]);
    check_int(h->deallocs, LENGTH);
    check_int(h->finalized, type == &Final ? LENGTH : 0);
    host_end(h);
}

/* A proxy's dealloc can still find a view. */
static rrc_object *a_view;
static size_t p_of_view;

static void find_the_view(host *h, rrc_object *ob)
{
    if (ob != a_view)
        check_ptr(rrc_from_obj(h->heap, host_at(h, p_of_view)), a_view);
}

static void proxies_go_before_views(void)
{
    int i, young;

    for (young = 0; young < 2; young++)
        for (i = 0; i < 3; i++) {
            host *h = host_open(&without_order);
            host_kind generation = young ? HOST_YOUNG : HOST_OLD;

            unit_context("view %d of 3, young %d", i, young);
            h->on_dealloc = find_the_view;
            p_of_view = host_rooted(h, generation);
            if (i > 0)
                ob_given(h, O, host_rooted(h, generation), FULL);
            if (i > 1)
                ob_given(h, O, host_rooted(h, generation), FULL);
            a_view = ob_given(h, P, p_of_view, FULL);
            if (i < 2)
                ob_given(h, O, host_rooted(h, generation), FULL);
            check_int(host_free_heap(h), 0);
            check_int(h->deallocs, i == 0 ? 2 : 3);
            host_end(h);
        }
}

static void a_chain_of_linked_obs(void)
{
    int which;

    for (which = 0; which < 8; which++) {
        unit_context("which %d", which);
        play_linked_chain(which & 1 ? &Final : &Node, which & 2, which & 4);
    }
}

/* Two objects that own each other are held from C, as far as this version looks. */
static void a_cycle_is_held(void)
{
    host *h = host_open(NULL);
    rrc_object *a = ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
    rrc_object *b = ob_given(h, O, host_rooted(h, HOST_OLD), FULL);

    NODE(a)->ref[0] = b;
    NODE(b)->ref[0] = a;
    rrc_incref(h->heap, a);
    rrc_incref(h->heap, b);
    check_int(host_free_heap(h), 2);
    check_int(REFCNT(a), 1);
    check_int(REFCNT(b), 1);
    check_int(h->deallocs, 0);
    RRC_CLEAR(h->heap, NODE(a)->ref[0]);
    check_int(h->deallocs, 2);
    host_end(h);
}

/* ---- user code while it ends ---- */

static void resurrect(host *h, rrc_object *ob)
{
    if (NODE(ob)->tag == 1) {
        NODE(ob)->tag = 0;
        rrc_incref(h->heap, ob);
    }
}

static void finalizers_may_resurrect(void)
{
    host *h = host_open(NULL);
    rrc_object *linked = ob_new(h, &Final), *waiting = ob_new(h, &Final), *owned = ob_new(h, &Final);

    ob_link(h, P, host_rooted(h, HOST_OLD), linked, FULL);
    ob_link(h, O, host_new(h, HOST_OLD), waiting, FULL);
    NODE(linked)->tag = NODE(waiting)->tag = NODE(owned)->tag = 1;
    rrc_decref(h->heap, linked);
    rrc_decref(h->heap, waiting);
    NODE(waiting)->ref[0] = owned;
    host_major(h);
    h->on_finalize = resurrect;
    check_int(host_free_heap(h), 2);
    check_int(h->finalized, 2);
    check_int(REFCNT(linked), 1);
    check_int(REFCNT(waiting), 1);
    rrc_decref(h->heap, linked);
    rrc_decref(h->heap, waiting);
    check_int(h->finalized, 5);
    check_int(REFCNT(owned), 1);
    rrc_decref(h->heap, owned);
    check_int(h->deallocs, 3);
    host_end(h);
}

static void items_finalize(rrc_heap *heap, rrc_object *self) { HOST(heap)->on_finalize(HOST(heap), self); }
static int clear_nothing(rrc_heap *heap, rrc_object *self) { return (void)heap, (void)self, 0; }

/* A host whose graph gives no order: links let go at once. */

/* An object that its finalizer has saved at the end is like any other: it can be resized, and linked. */
static rrc_object *saved;
static size_t saved_id;

static void save(host *h, rrc_object *ob)
{
    if (saved == NULL) {
        rrc_incref(h->heap, ob);
        saved = ob;
    }
}

static void use_what_was_saved(host *h, rrc_object *ob)
{
    rrc_object *other;

    if (saved == NULL || NODE(ob)->tag != 9)
        return;
    saved = rrc_gc_resize(h->heap, saved, 4);
    check(saved != NULL);
    check_int(rrc_link(h->heap, host_at(h, saved_id), saved, RRC_P), RRC_OK);
    check_ptr(rrc_from_obj(h->heap, host_at(h, saved_id)), saved);
    rrc_decref(h->heap, saved);                 /* it parts */
    check_ptr(rrc_from_obj(h->heap, host_at(h, saved_id)), NULL);
    other = ob_new(h, &Leaf);                   /* a light one that parts is not freed under this code */
    NODE(other)->tag = 7;
    check_int(rrc_link(h->heap, host_at(h, saved_id), other, RRC_P | RRC_LIGHT), RRC_OK);
    rrc_decref(h->heap, other);
    check_int(REFCNT(other), 1);
    check_int(NODE(other)->tag, 7);
    other = ob_new(h, &Plain);                  /* a bias without a link: there is nothing to part */
    REFCNT(other) += BIAS;
    rrc_decref(h->heap, other);
    check_int(REFCNT(other), BIAS);
    REFCNT(other) = 1;
    rrc_decref(h->heap, other);
    saved = NULL;
}

static void saved_objects_can_be_used(void)
{
    static const rrc_type Items = {
        .tp_name = "Items", .tp_basicsize = sizeof(knot), .tp_itemsize = 8,
        .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = knot_dealloc, .tp_finalize = items_finalize,
    };
    host *h = host_open(&without_order);
    rrc_object *items = rrc_gc_new_var(h->heap, &Items, 1), *user = ob_new(h, &Node);

    NODE(user)->tag = 9;
    saved = NULL;
    saved_id = host_rooted(h, HOST_OLD);
    ob_link(h, O, host_rooted(h, HOST_OLD), user, FULL);
    ob_link(h, O, host_rooted(h, HOST_OLD), items, FULL);
    rrc_decref(h->heap, user);
    rrc_decref(h->heap, items);
    h->on_finalize = save;
    h->on_dealloc = use_what_was_saved;
    check_int(host_free_heap(h), 0);
    check_ptr(saved, NULL);
    check_int(h->deallocs, 2);
    h->events[0] = '\0';
    host_end(h);
}

/* Garbage that cannot be cleared holds itself: it is not counted as held, whether it was linked, or saved by its
   finalizer. */
static void tie_itself(host *h, rrc_object *ob)
{
    knot_tie(h, ob, 0, ob);
}

static void uncollectable_at_the_end(void)
{
    static const rrc_type StiffFinal = {
        .tp_name = "StiffFinal", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = clear_nothing,
        .tp_finalize = items_finalize,
    };
    int is_final;

    for (is_final = 0; is_final < 2; is_final++) {
        host *h = host_open(NULL);
        rrc_object *ob = knot_new(h, is_final ? &StiffFinal : &KnotStiff, 1);

        unit_context("is_final %d", is_final);
        ob_link(h, O, host_rooted(h, HOST_OLD), ob, FULL);
        if (!is_final)
            knot_tie(h, ob, 0, ob);
        rrc_decref(h->heap, ob);
        h->on_finalize = tie_itself;
        check_int(host_free_heap(h), 0);
        host_expect_log(h, RRC_EUNCOLLECTABLE, NULL);
        check_int(REFCNT(ob), 1);
        check_ptr(RRC_LINK(ob), NULL);
        h->on_finalize = NULL;
        RRC_CLEAR(h->heap, KNOT(ob)->ref[0]);
        check_int(h->deallocs, 1);
        h->events[0] = '\0';
        host_end(h);
    }
}

/* The hook drops references to others, which part at once: their records go. */
static rrc_object *others[20];

static void drop_others(host *h, rrc_gcref p, rrc_object *ob)
{
    int i;

    (void)p, (void)ob;
    for (i = 0; i < 20; i++)
        RRC_CLEAR(h->heap, others[i]);
}

static void parted_drops_references(void)
{
    int order, i;

    for (order = 0; order < 2; order++) {
        host_options options = { .order = order };      /* with the hook mark_from_c, and without */
        host *h = host_open(&options);

        for (i = 0; i < 20; i++)
            others[i] = ob_shared(h, O, host_rooted(h, HOST_OLD), FULL);
        for (i = 0; i < 20; i++)
            ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
        h->on_parted = drop_others;
        check_int(host_free_heap(h), 0);
        check_int(h->deallocs, 40);
        host_end(h);
    }
}

/* Views have an order, too: one that owns another through the host goes first, whichever was made first. */
static char gone[8];

static void note_gone(host *h, rrc_object *ob)
{
    (void)h;
    gone[strlen(gone)] = (char)('0' + NODE(ob)->tag);
}

static void views_that_own_go_first(void)
{
    int owner_is_older;

    for (owner_is_older = 0; owner_is_older < 2; owner_is_older++) {
        host *h = host_open(NULL);
        size_t through = host_rooted(h, HOST_OLD), owned = host_rooted(h, HOST_OLD);
        rrc_object *inner = ob_shared(h, P, through, FULL), *owner = NULL, *ob;

        if (owner_is_older)
            owner = ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
        ob = ob_given(h, P, owned, FULL);
        if (!owner_is_older)
            owner = ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
        NODE(owner)->tag = 1;
        NODE(inner)->tag = 2;
        NODE(ob)->tag = 3;
        NODE(owner)->ref[0] = inner;    /* owner -> inner -> through -> owned -> ob */
        host_point(h, through, 0, owned);
        memset(gone, 0, sizeof gone);
        h->on_dealloc = note_gone;
        check_int(host_free_heap(h), 0);
        check_int(h->deallocs, 3);
        check_int(gone[0], '1');
        host_end(h);
    }
}

/* The dealloc of one object unlinks another, whose maker forgot the bias. The markings that look for the order have
   found that before, and said nothing. */
static rrc_object *wrong;

static void unlink_what_is_wrong(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_dealloc = NULL;
    check_int(rrc_unlink(h->heap, wrong), RRC_OK);
    host_expect_log(h, RRC_EREFCNT, "rrc_unlink");
}

static void mistakes_are_logged_while_the_order_is_looked_for(void)
{
    host *h = host_open(NULL);

    wrong = ob_new(h, &Node);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, host_rooted(h, HOST_OLD)), wrong), RRC_OK);
    ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
    h->on_dealloc = unlink_what_is_wrong;
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 1);
    check_int(REFCNT(wrong), 1);
    rrc_decref(h->heap, wrong);
    check_int(h->deallocs, 2);
    host_end(h);
}

static void make_an_object(host *h, rrc_gcref p, rrc_object *ob)
{
    (void)p, (void)ob;
    check_ptr(rrc_new(h->heap, &Plain), NULL);
    host_expect_log(h, RRC_EPHASE, "rrc_new");
}

/* The end calls slots, which may make objects, and hooks, which may not. */
static void parted_makes_no_object(void)
{
    host *h = host_open(NULL);

    ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
    if (HOST_DEBUG)
        h->on_parted = make_an_object;
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 1);
    host_end(h);
}

static void try_all_sorts(host *h, rrc_object *ob)
{
    static short marker;
    rrc_object *fresh;
    size_t id;

    if (h->closed)
        return;
    check(rrc_heap_free(h->heap) == SIZE_MAX);
    host_expect_log(h, RRC_EPHASE, "rrc_heap_free");
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    rrc_mark_deallocating(h->heap, &marker, ob);
    check_ptr(rrc_to_obj(h->heap, ob), &marker);
    rrc_mark_deallocating(h->heap, NULL, ob);
    check_int(rrc_run_pending(h->heap, 0), 0);
    check_int(rrc_gc_collect(h->heap), 0);
    /* All else works. A link holds its object as long as C does. */
    fresh = rrc_new(h->heap, &Leaf);
    id = host_rooted(h, HOST_YOUNG);
    check_int(rrc_link(h->heap, host_at(h, id), fresh, RRC_P), RRC_OK);
    host_minor(h);
    host_major(h);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), fresh);
    check_ptr(rrc_to_obj(h->heap, fresh), host_at(h, id));
    rrc_decref(h->heap, fresh);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), NULL);
    if (h->test != NULL) {
        fresh = (rrc_object *)h->test;
        h->test = NULL;
        rrc_decref(h->heap, fresh);
    }
}

/* Deallocs drop what others hold, linked or not, earlier or later. */
static void deallocs_may_do_all_sorts(void)
{
    size_t dropped;

    for (dropped = 0; dropped < 10; dropped++) {
        host *h = host_open(&without_order);
        rrc_object *obs[10];
        size_t i;

        unit_context("the first dealloc drops %u", (unsigned)dropped);
        for (i = 0; i < 10; i++) {
            size_t id = host_new(h, HOST_OLD);

            obs[i] = ob_given(h, i % 2 == 0 ? P : O, id, FULL);
            if (i >= 5)
                host_root(h, id);
        }
        host_major(h);
        rrc_incref(h->heap, obs[dropped]);
        h->test = obs[dropped];
        h->on_dealloc = try_all_sorts;
        check_int(host_free_heap(h), 0);
        check_int(h->deallocs, 10);
        host_end(h);
    }
}

static void free_the_heap(host *h, rrc_object *ob)
{
    (void)ob;
    check(rrc_heap_free(h->heap) == SIZE_MAX);
    host_expect_log(h, RRC_EPHASE, "rrc_heap_free");
}

static void a_heap_is_not_freed_by_its_own_deallocs(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Final);

    h->on_dealloc = free_the_heap;
    h->on_finalize = free_the_heap;
    rrc_decref(h->heap, ob);
    ob = ob_new(h, &Final);
    ob_link(h, O, host_new(h, HOST_OLD), ob, FULL);
    rrc_decref(h->heap, ob);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->deallocs, 2);
    check_int(h->finalized, 2);
    host_close(h);
}

static void free_the_heap_in_the_trigger(host *h)
{
    free_the_heap(h, NULL);
}

static void a_heap_is_not_freed_by_its_trigger(void)
{
    host *h = host_open(NULL);

    ob_given(h, O, host_new(h, HOST_YOUNG), FULL);
    host_minor(h);
    h->on_trigger = free_the_heap_in_the_trigger;
    rrc_invoke_callback(h->heap);
    check_int(rrc_run_pending(h->heap, 0), 1);
    host_close(h);
}

/* Waiting, and linked again: one record, whichever comes first. */
static void linked_again_while_it_waited(void)
{
    int held, kind;

    for (held = 0; held < 2; held++)
        for (kind = P; kind <= O; kind++) {
            host *h = host_open(NULL);
            rrc_object *full = ob_new(h, &Node), *light = ob_new(h, &Leaf);

            ob_link(h, O, host_new(h, HOST_OLD), full, FULL);
            ob_link(h, O, host_new(h, HOST_OLD), light, FULL);
            rrc_decref(h->heap, full);
            rrc_decref(h->heap, light);
            host_major(h);
            check_int(host_stats(h).pending, 2);
            ob_link(h, (link_kind)kind, host_rooted(h, HOST_YOUNG), full, FULL);
            ob_link(h, (link_kind)kind, host_rooted(h, HOST_YOUNG), light, LIGHT_OB);
            if (held) {
                rrc_incref(h->heap, full);
                rrc_incref(h->heap, light);
            }
            check_int(host_free_heap(h), held ? 2 : 0);
            check_int(h->freed, held ? 0 : 2);
            if (held) {
                check_int(REFCNT(full), 1);
                check_int(REFCNT(light), 1);
                rrc_decref(h->heap, full);
                rrc_decref(h->heap, light);
            }
            check_int(h->freed, 2);
            check_int(h->deallocs, 1);
            host_end(h);
        }
}

/* 0 owns 1 owns 2 and so on, deeper than is deallocated at once. What was put off for that
   can be found by a dealloc, and held. */
enum { DEEP = 200 };

static void hold_what_was_put_off(host *h, rrc_object *ob)
{
    rrc_object **chain = (rrc_object **)h->test, *waiting;

    if (NODE(ob)->tag != -1)
        return;
    waiting = chain[h->deallocs - 2];           /* the owner is dead, and so is ob */
    check_int(REFCNT(waiting), 1);
    check_ptr(rrc_to_obj(h->heap, waiting), NULL);
    rrc_incref(h->heap, waiting);
}

static void what_is_put_off_at_the_end_can_be_held(void)
{
    host *h = host_open(&without_order);
    rrc_object *chain[DEEP], *owner = ob_new(h, &Node), *last = ob_new(h, &Node);
    size_t i, dead;

    chain[0] = ob_chain(h, &Node, DEEP);
    for (i = 1; i < DEEP; i++)
        chain[i] = NODE(chain[i - 1])->ref[0];
    for (i = 0; i < DEEP; i++)
        ob_link(h, P, host_rooted(h, HOST_OLD), chain[i], FULL);
    NODE(owner)->ref[0] = chain[0];
    NODE(owner)->ref[1] = last;
    NODE(last)->tag = -1;
    ob_link(h, P, host_rooted(h, HOST_OLD), owner, FULL);
    rrc_decref(h->heap, owner);
    h->test = chain;
    h->on_dealloc = hold_what_was_put_off;
    i = host_free_heap(h);
    check(i > 0 && i <= DEEP);
    dead = DEEP - i;
    check_int(h->deallocs, dead + 2);
    for (i = dead; i < DEEP; i++) {
        check_int(REFCNT(chain[i]), 1);
        check_ptr(rrc_to_obj(h->heap, chain[i]), NULL);
    }
    rrc_decref(h->heap, chain[dead]);
    check_int(h->deallocs, DEEP + 2);
    host_end(h);
}

/* Who has the last reference may delete the object instead of dropping it, also while
   the heap ends. */
static void delete_the_other(host *h, rrc_object *ob)
{
    rrc_object *other = (rrc_object *)h->test;

    (void)ob;
    if (RRC_REFCNT(other) >= BIAS)
        check_int(rrc_unlink(h->heap, other), RRC_OK);
    check_int(REFCNT(other), 1);
    rrc_del(h->heap, other);
}

static void deallocs_may_delete_what_was_linked(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = host_open(NULL);

        h->test = ob_new(h, &Plain);
        ob_link(h, (link_kind)kind, host_rooted(h, HOST_OLD), (rrc_object *)h->test, FULL);
        ob_given(h, (link_kind)kind, host_rooted(h, HOST_OLD), FULL);
        h->on_dealloc = delete_the_other;
        check_int(host_free_heap(h), 0);
        check_int(h->deallocs, 1);
        host_end(h);
    }
}

/* ... or what C took from the queue. */
static void delete_what_was_queued(host *h, rrc_object *ob)
{
    rrc_object *other = (rrc_object *)h->test;

    if (ob == other)
        return;
    check_int(REFCNT(other), 1);
    rrc_del(h->heap, other);
}

static void deallocs_may_delete_what_was_queued(void)
{
    host *h = host_open(NULL);
    rrc_object *queued = ob_new(h, &Plain);

    ob_link(h, O, host_new(h, HOST_OLD), queued, FULL);
    rrc_decref(h->heap, queued);
    host_major(h);
    rrc_incref(h->heap, queued);
    ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
    h->test = queued;
    h->on_dealloc = delete_what_was_queued;
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 1);
    host_end(h);
}

/* What was in the queue is owned by the last object of a chain that is deeper than is deallocated at once. */
static void queued_at_the_end_of_a_chain(void)
{
    host *h = host_open(NULL);
    rrc_object *queued = ob_new(h, &Node), *chain = ob_chain(h, &Node, DEEP), *last = chain;

    ob_link(h, O, host_new(h, HOST_OLD), queued, FULL);
    rrc_decref(h->heap, queued);
    host_major(h);
    while (NODE(last)->ref[0] != NULL)
        last = NODE(last)->ref[0];
    rrc_incref(h->heap, queued);
    NODE(last)->ref[0] = queued;
    ob_link(h, P, host_rooted(h, HOST_OLD), chain, FULL);
    rrc_decref(h->heap, chain);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, DEEP + 1);
    host_end(h);
}

/* ---- the husk ---- */

static void a_husk_refuses_all_else(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    rrc_stats stats;
    char p;

    check_int(host_free_heap(h), 0);
#define REFUSED(call, name) \
    do { \
        check_int((call), RRC_ECLOSED); \
        host_expect_log(h, RRC_ECLOSED, name); \
    } while (0)
    REFUSED(rrc_create_link_pypy(h->heap, &p, ob), "rrc_create_link_pypy");
    REFUSED(rrc_create_link_pyobj(h->heap, &p, ob), "rrc_create_link_pyobj");
    REFUSED(rrc_unlink(h->heap, ob), "rrc_unlink");
    REFUSED(rrc_minor_collection_trace(h->heap), "rrc_minor_collection_trace");
    REFUSED(rrc_minor_collection_free(h->heap), "rrc_minor_collection_free");
    REFUSED(rrc_major_collection_trace(h->heap), "rrc_major_collection_trace");
    REFUSED(rrc_major_collection_free(h->heap), "rrc_major_collection_free");
    REFUSED(rrc_check(h->heap), "rrc_check");
    REFUSED(rrc_get_stats(h->heap, &stats), "rrc_get_stats");
#undef REFUSED
    check_ptr(rrc_from_obj(h->heap, &p), NULL);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    h->log_read = h->log_count;
    rrc_mark_deallocating(h->heap, &p, ob);     /* may come from a late tp_dealloc: no mistake */
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    rrc_invoke_callback(h->heap);
    host_expect_log(h, RRC_ECLOSED, "rrc_invoke_callback");
    check_ptr(rrc_next_dead(h->heap), NULL);
    host_expect_log(h, RRC_ECLOSED, "rrc_next_dead");
    check_int(rrc_run_pending(h->heap, 0), 0);
    host_expect_log(h, RRC_ECLOSED, "rrc_run_pending");
    check_ptr(rrc_new(h->heap, &Node), NULL);
    host_expect_log(h, RRC_ECLOSED, "rrc_new");
    check_ptr(rrc_gc_resize(h->heap, ob, 1), NULL);
    host_expect_log(h, RRC_ECLOSED, "rrc_gc_resize");
    check(rrc_heap_free(h->heap) == SIZE_MAX);
    host_expect_log(h, RRC_ECLOSED, "rrc_heap_free");
    host_expect_silence(h);
    check_ptr(rrc_userdata(h->heap), h);
    rrc_decref(h->heap, ob);
    host_end(h);
}

/* Late references drop in any order, with all that hangs on them; the last one
   frees the husk. */
static void late_decrefs(void)
{
    int order;

    for (order = 0; order < 2; order++) {
        host *h = host_open(NULL);
        rrc_object *a, *b = ob_chain(h, &Final, 200), *c = ob_new(h, &Leaf);

        a = ob_shared(h, P, host_rooted(h, HOST_YOUNG), FULL);
        NODE(a)->ref[0] = ob_chain(h, &Node, 200);
        ob_link(h, O, host_rooted(h, HOST_OLD), c, LIGHT_OB);
        check_int(host_free_heap(h), 2);
        rrc_decref(h->heap, order ? a : b);
        check_int(h->deallocs, order ? 201 : 200);
        rrc_decref(h->heap, c);
        check(h->live_bytes > 0);
        rrc_decref(h->heap, order ? b : a);
        check_int(h->deallocs, 401);
        check_int(h->finalized, 200);
        host_end(h);
    }
}

/* The search for cycles finds a wrong traverse, and the log hook drops the last reference
   to what had a link. */
static rrc_object *let_go;

static void drop_in_the_log_hook(host *h)
{
    rrc_object *ob = let_go;

    let_go = NULL;
    if (ob != NULL)
        rrc_decref(h->heap, ob);
}

static int traverse_twice(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(KNOT(self)->ref[0]);
    RRC_VISIT(KNOT(self)->ref[0]);
    return 0;
}

static void dropped_while_cycles_are_looked_for(void)
{
    static const rrc_type Wrong = {
        .tp_name = "Wrong", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_traverse = traverse_twice, .tp_members = knot_members,
    };
    int kind, is_marked;

    for (kind = P; kind <= O; kind++)
        for (is_marked = 0; is_marked < 2; is_marked++) {
            static short marker, other_marker;
            host *h = host_open(NULL);
            rrc_object *other = rrc_gc_new(h->heap, &Wrong), *marked = ob_new(h, &Plain);

            KNOT(other)->ref[0] = knot_new(h, &KnotTable, 1);
            check_int(rrc_gc_track(h->heap, other), RRC_OK);
            let_go = ob_shared(h, (link_kind)kind, host_rooted(h, HOST_OLD), FULL);
            if (is_marked) {
                rrc_mark_deallocating(h->heap, &marker, marked);
                rrc_mark_deallocating(h->heap, &other_marker, marked);
            }
            h->on_log = drop_in_the_log_hook;
            check_int(host_free_heap(h), 0);
            h->on_log = NULL;
            check_ptr(let_go, NULL);
            check_int(h->deallocs, 1);
            host_expect_log(h, RRC_ETRAVERSE, "rrc_heap_free");
            host_expect_log(h, RRC_ETRAVERSE, "rrc_heap_free");     /* (it is repeated, as an object has gone) */
            rrc_decref(h->heap, other);
            rrc_decref(h->heap, marked);
            host_end(h);
        }
}

/* A traverse that asks for the link of its object: it is there while the heap ends. */
static rrc_heap *ending;
static int asked;

static int traverse_and_ask(rrc_object *self, rrc_visitproc visit, void *arg)
{
    if (ending != NULL) {
        asked++;
        check((rrc_to_obj(ending, self) != NULL) == (KNOT(self)->tag == 1));
    }
    return knot_traverse(self, visit, arg);
}

static void links_are_told_while_cycles_are_looked_for(void)
{
    static const rrc_type Asking = {
        .tp_name = "Asking", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = traverse_and_ask, .tp_clear = knot_clear,
    };
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = host_open(NULL);
        rrc_object *ring[2];

        unit_context("kind %d", kind);
        knot_ring(h, &Asking, 2, ring);
        ob_link(h, (link_kind)kind, host_rooted(h, HOST_OLD), ring[0], FULL);
        asked = 0;
        ending = h->heap;
        check_int(host_free_heap(h), 0);
        ending = NULL;
        check(asked >= 4);              /* in the search, and while the garbage waits */
        check_int(h->deallocs, 2);
        h->events[0] = '\0';
        host_end(h);
    }
}

/* rrc_del is as good as a decref for one who knows that he is the last. */
static void late_del(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Plain);

    check_int(host_free_heap(h), 0);
    rrc_del(h->heap, ob);
    host_end(h);
}

/* An object waits in the queue, and is linked again without a bias, to a young p: when the heap ends, it goes
   once. */
static void queued_and_linked_without_a_bias(void)
{
    int young;

    for (young = 0; young < 2; young++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        rrc_object *ob = ob_given(h, O, host_new(h, HOST_OLD), FULL);
        size_t p;

        host_major(h);
        check_int(host_stats(h).pending, 1);
        p = host_rooted(h, young ? HOST_YOUNG : HOST_OLD);
        check_int(rrc_create_link_pyobj(h->heap, host_at(h, p), ob), RRC_OK);
        host_free_heap(h);
        host_expect_log(h, RRC_EREFCNT, "rrc_decref");
        check_int(h->deallocs, 1);
        host_end(h);
    }
}

/* An object of the library's own memory, which slices have watched. That means nothing when the heap ends: its owner, which
   owns it through the host, goes first. */
static size_t owned_p;

static void watched_dealloc(rrc_heap *heap, rrc_object *self)
{
    host_event(HOST(heap), 'd', NODE(self)->tag);
    free((char *)(void *)self - OB_PREFIX);
}

static void find_what_is_owned(host *h, rrc_object *ob)
{
    host_event(h, 'd', NODE(ob)->tag);
    if (NODE(ob)->tag == 1)
        check(rrc_from_obj(h->heap, host_at(h, owned_p)) != NULL);
}

static void an_old_watch_beside(link_kind kind)
{
    static const rrc_type Watched = { .tp_name = "Watched", .tp_dealloc = watched_dealloc };
    host_options options = { .without_generations = 1, .incremental = 1, .moving = HOST_STAY };
    host *h = host_open(&options);
    rrc_object *owner = ob_given(h, kind, host_rooted(h, HOST_OLD), FULL), *owned;
    size_t view_p = host_new(h, HOST_OLD);

    owned_p = host_new(h, HOST_OLD);
    host_point(h, view_p, 0, owned_p);
    NODE(owner)->tag = 1;
    NODE(owner)->ref[0] = ob_shared(h, P, view_p, FULL);
    NODE(NODE(owner)->ref[0])->tag = 2;
    owned = (rrc_object *)(void *)((char *)calloc(1, sizeof(node) + OB_PREFIX) + OB_PREFIX);
    REFCNT(owned) = 1;
    RRC_TYPE(owned) = &Watched;
    NODE(owned)->tag = 3;
    ob_link(h, P, owned_p, owned, FULL);
    rrc_decref(h->heap, owned);
    host_start(h);
    host_major(h);
    check(REFCNT(owned) < 0);
    h->on_dealloc = find_what_is_owned;
    check_int(host_free_heap(h), 0);
    check_events(h, kind == O ? "d1 d3 d2" : "d1 d2 d3");       /* (2 had owned 3 only as long as 1 held 2) */
    host_end(h);
}

static void a_watch_that_has_outlived_its_search(void)
{
    an_old_watch_beside(O);
    an_old_watch_beside(P);             /* links of its own kind are passed for the owner */
}

/* Garbage whose tp_clear leaves it as it is, with a p that was kept for other garbage. Its owner, which it does not know,
   goes in the order; it is tried again when no more owners are left. */
static int clear_no_field(rrc_heap *heap, rrc_object *self)
{
    host_event(HOST(heap), 'c', KNOT(self)->tag);
    return 0;
}

static void note_parted(host *h, rrc_gcref p, rrc_object *ob)
{
    (void)p;
    host_event(h, 'p', KNOT(ob)->tag);
}

static void leftovers_part_last_by(link_kind kind)
{
    static const rrc_type Stiff = {
        .tp_name = "Stiff", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = clear_no_field,
    };
    host_options options = { .without_generations = 1, .keeps = 1 };
    host *h = host_open(&options);
    size_t kept = host_new(h, HOST_OLD), other_p = host_new(h, HOST_OLD);
    rrc_object *stiff = knot_new(h, &Stiff, 1), *other = knot_new(h, &Knot, 2), *owner = knot_new(h, &Knot, 3);

    ob_link(h, P, kept, stiff, FULL);
    ob_link(h, P, other_p, other, FULL);
    host_note_link(h, kept);
    knot_tie(h, stiff, 0, stiff);
    knot_tie(h, other, 0, other);
    knot_tie(h, other, 1, stiff);
    rrc_decref(h->heap, stiff);
    rrc_decref(h->heap, other);
    ob_link(h, kind, host_rooted(h, HOST_OLD), owner, FULL);
    rrc_decref(h->heap, owner);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_ptr(rrc_to_obj(h->heap, stiff), host_at(h, kept));
    h->events[0] = '\0';
    h->on_parted = note_parted;
    host_free_heap(h);
    h->log_read = h->log_count;         /* (it is uncollectable) */
    check_events(h, "p3 d3 c1 c1 c1 p1");
    RRC_CLEAR(h->heap, KNOT(stiff)->ref[0]);
    check_events(h, "d1");
    host_end(h);
}

static void leftovers_part_last(void)
{
    leftovers_part_last_by(O);
    leftovers_part_last_by(P);          /* links of its own kind are passed for the owner */
}

/* A finalizer brings garbage back. It owns a view, which waits for its owner, and that owns garbage with a finalizer. */
static void bring_back(host *h, rrc_object *ob)
{
    if (KNOT(ob)->tag == 1)
        rrc_incref(h->heap, ob);
}

static void a_view_is_whole_after(void (*on_finalize)(host *h, rrc_object *ob))
{
    host *h = host_open(NULL);
    rrc_object *owner = knot_new(h, &KnotFinal, 1), *view = knot_new(h, &Knot, 2), *owned = knot_new(h, &KnotFinal, 3);

    ob_link(h, P, host_new(h, HOST_OLD), view, FULL);
    KNOT(view)->ref[0] = owned;
    KNOT(owner)->ref[0] = view;
    knot_tie(h, owner, 1, owner);
    knot_tie(h, owned, 1, owned);
    rrc_decref(h->heap, owner);
    h->on_finalize = on_finalize;
    check_int(host_free_heap(h), 1);    /* (the view) */
    check_events(h, "f1");
    check_int(h->deallocs, 0);
    RRC_CLEAR(h->heap, KNOT(owned)->ref[1]);
    RRC_CLEAR(h->heap, KNOT(owner)->ref[1]);
    rrc_decref(h->heap, owner);
    check_int(h->deallocs, 3);
    host_end(h);
}

static void collect_and_bring_back(host *h, rrc_object *ob)
{
    if (KNOT(ob)->tag == 1)
        host_major(h);                  /* (it finds the view alive, as the owner is) */
    bring_back(h, ob);
}

static void a_view_of_what_comes_back_is_whole(void)
{
    a_view_is_whole_after(bring_back);
    a_view_is_whole_after(collect_and_bring_back);
}

/* Meanwhile a finalizer collects, and a hook of that search takes a reference to what it has not found yet. */
static rrc_object *looked_at;

static void look_at(host *h, const char *hook)
{
    (void)hook;
    if (looked_at != NULL) {
        rrc_incref(h->heap, looked_at);
        rrc_decref(h->heap, looked_at);
    }
}

static void bring_back_and_collect(host *h, rrc_object *ob)
{
    bring_back(h, ob);
    h->on_hook = look_at;
    host_major(h);
    h->on_hook = NULL;
}

static void a_view_is_looked_at_by_a_search(void)
{
    host *h = host_open(NULL);
    rrc_object *owner = knot_new(h, &KnotFinal, 1), *view = knot_new(h, &Knot, 2), *owned = knot_new(h, &KnotFinal, 3);
    rrc_object *held = knot_new(h, &Knot, 4);

    ob_link(h, P, host_new(h, HOST_OLD), view, FULL);
    ob_link(h, P, host_new(h, HOST_OLD), held, FULL);       /* C holds it, so that a search calls trace */
    KNOT(owner)->ref[0] = view;
    KNOT(view)->ref[0] = owned;
    knot_tie(h, owner, 1, owner);
    knot_tie(h, owned, 1, owned);
    rrc_decref(h->heap, owner);
    looked_at = view;
    h->on_finalize = bring_back_and_collect;
    host_free_heap(h);
    looked_at = NULL;
    h->events[0] = '\0';                /* (the collection finds out anew what is garbage) */
    RRC_CLEAR(h->heap, KNOT(owned)->ref[1]);
    RRC_CLEAR(h->heap, KNOT(owner)->ref[1]);
    rrc_decref(h->heap, owner);
    rrc_decref(h->heap, held);
    check_int(h->deallocs, 4);
    host_end(h);
}

/* Each finalizer makes another object, in a cycle. The end gives up before it has looked at all the others for minutes. */
static rrc_object *newest, *former;

static void make_a_cycle(host *h, rrc_object *ob)
{
    former = ob;
    newest = knot_new(h, &KnotFinal, 0);
    knot_tie(h, newest, 0, newest);
    rrc_decref(h->heap, newest);
    h->events[0] = '\0';
}

static void finalizers_without_end(void)
{
    enum { HELD = 20000 };
    int order;

    for (order = 0; order < 2; order++) {
        host_options options = { .order = order };
        host *h = host_open(&options);
        rrc_object *held = NULL;
        int i;

        for (i = 0; i < HELD; i++) {
            rrc_object *ob = knot_new(h, &Knot, 0);

            KNOT(ob)->ref[0] = held;
            held = ob;
        }
        h->on_finalize = make_a_cycle;
        make_a_cycle(h, NULL);
        host_free_heap(h);
        check(h->finalized > 10);
        check(KNOT(held)->traversed <= 1000);
        h->on_finalize = NULL;
        RRC_CLEAR(h->heap, KNOT(newest)->ref[0]);
        RRC_CLEAR(h->heap, KNOT(former)->ref[0]);
        rrc_decref(h->heap, held);
        h->events[0] = '\0';
        host_end(h);
    }
}

UNIT_GROUP(heap_end,
    UNIT(queued_and_linked_without_a_bias),
    UNIT(dropped_while_cycles_are_looked_for), UNIT(links_are_told_while_cycles_are_looked_for),
    UNIT(what_is_put_off_at_the_end_can_be_held),
    UNIT(deallocs_may_delete_what_was_linked),
    UNIT(deallocs_may_delete_what_was_queued),
    UNIT(queued_at_the_end_of_a_chain),
    UNIT(an_empty_heap),
    UNIT(what_the_host_held_goes),
    UNIT(what_c_holds_ends_with_its_true_count),
    UNIT(unlinked_obs_are_not_counted),
    UNIT(what_is_pending_runs),
    UNIT(owners_in_any_order),
    UNIT(proxies_go_before_views), UNIT(a_chain_of_linked_obs),
    UNIT(a_cycle_is_held),
    UNIT(finalizers_may_resurrect), UNIT(a_view_of_what_comes_back_is_whole),
    UNIT(a_view_is_looked_at_by_a_search),
    UNIT(deallocs_may_do_all_sorts),
    UNIT(a_heap_is_not_freed_by_its_own_deallocs),
    UNIT(a_heap_is_not_freed_by_its_trigger),
    UNIT(linked_again_while_it_waited),
    UNIT(a_husk_refuses_all_else),
    UNIT(late_decrefs),
    UNIT(late_del),
    UNIT(saved_objects_can_be_used),
    UNIT(uncollectable_at_the_end),
    UNIT(parted_drops_references),
    UNIT(views_that_own_go_first), UNIT(parted_makes_no_object),
    UNIT(mistakes_are_logged_while_the_order_is_looked_for), UNIT(a_watch_that_has_outlived_its_search),
    UNIT(leftovers_part_last), UNIT(finalizers_without_end));
