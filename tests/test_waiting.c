/* Objects whose dealloc a limit put off, and other objects at the edge of their
 * lives: markers, deletion, finalizers that wait. */

#include "knots.h"

#include <stdlib.h>

/* A parent that died with its p, of which a limit has spared both children. */
static rrc_object *spared(host *h, rrc_object *children[2])
{
    rrc_object *parent = ob_new(h, &Node);
    int i;

    for (i = 0; i < 2; i++)
        NODE(parent)->ref[i] = children[i] = ob_new(h, &Node);
    ob_link(h, O, host_new(h, HOST_OLD), parent, FULL);
    rrc_decref(h->heap, parent);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(h->deallocs, 1);
    for (i = 0; i < 2; i++) {
        check_int(REFCNT(children[i]), 1);
        check_ptr(rrc_to_obj(h->heap, children[i]), NULL);
    }
    check_int(host_stats(h).pending, 2);
    check_int(rrc_check(h->heap), RRC_OK);
    return parent;
}

static void found_again_while_it_waits(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        host *h = host_open(NULL);
        rrc_object *children[2];

        spared(h, children);
        rrc_incref(h->heap, children[i]);
        check_int(rrc_run_pending(h->heap, 0), 2);
        check_int(h->deallocs, 2);
        check_int(REFCNT(children[i]), 1);
        rrc_decref(h->heap, children[i]);
        host_close(h);
    }
}

/* The bias may be put in before the link is made, or after it (I1). */
static void linked_while_it_waits(void)
{
    int i, kind;

    for (kind = 0; kind < 4; kind++)
        for (i = 0; i < 2; i++) {
            host *h = host_open(NULL);
            rrc_object *children[2];
            size_t id = host_rooted(h, HOST_YOUNG);

            spared(h, children);
            if (kind < 2) {
                ob_link(h, (link_kind)kind, id, children[i], FULL);
            } else {
                REFCNT(children[i]) += BIAS;
                check_int((kind == 2 ? rrc_create_link_pypy : rrc_create_link_pyobj)(h->heap, host_at(h, id), children[i]),
                          RRC_OK);
                host_note_link(h, id);
            }
            check_int(REFCNT(children[i]), BIAS + 1);           /* its wait has a reference */
            check_ptr(rrc_to_obj(h->heap, children[i]), host_at(h, id));
            check_int(host_stats(h).pending, 2);
            check_int(rrc_check(h->heap), RRC_OK);
            check_int(rrc_run_pending(h->heap, 0), 2);
            check_int(REFCNT(children[i]), BIAS);
            host_major(h);
            check_int(h->deallocs, 2);
            check_ptr(rrc_to_obj(h->heap, children[i]), host_at(h, id));
            host_close(h);
        }
}

static void unlinked_and_taken_while_it_waits(void)
{
    host *h = host_open(NULL);
    rrc_object *children[2], *dead;

    spared(h, children);
    check_int(rrc_unlink(h->heap, children[0]), RRC_EUNLINKED);
    host_expect_log(h, RRC_EUNLINKED, "rrc_unlink");
    while ((dead = rrc_next_dead(h->heap)) != NULL) {
        check_int(REFCNT(dead), 1);
        check_ptr(rrc_to_obj(h->heap, dead), NULL);
        rrc_decref(h->heap, dead);
    }
    check_int(h->deallocs, 3);
    host_close(h);
}

/* Markers are told apart from the words of those that wait. */
static void markers_beside_what_waits(void)
{
    static short words[4];
    rrc_gcref marker[2];
    host *h = host_open(NULL);
    rrc_object *children[2], *marked[2];
    int i;

    marker[0] = &words[1];
    marker[1] = &words[2];
    spared(h, children);
    for (i = 0; i < 2; i++) {
        marked[i] = ob_new(h, &Node);
        rrc_mark_deallocating(h->heap, marker[i], marked[i]);
    }
    for (i = 0; i < 2; i++) {
        check_ptr(rrc_to_obj(h->heap, marked[i]), marker[i]);
        check_ptr(rrc_to_obj(h->heap, children[i]), NULL);
    }
    check_int(rrc_run_pending(h->heap, 0), 2);
    for (i = 0; i < 2; i++) {
        check_ptr(rrc_to_obj(h->heap, marked[i]), marker[i]);
        rrc_decref(h->heap, marked[i]);
    }
    host_close(h);
}

/* Bit 0 of a link field says that the word is the header's own: an odd marker would be taken for
   one, be it the end of the list of those that wait. */
static void odd_markers_are_refused(void)
{
    static short words[2];
    rrc_gcref odd[2];
    host *h = host_open(NULL);
    rrc_object *children[2], *marked = ob_new(h, &Node);
    int i;

    odd[0] = (rrc_gcref)(uintptr_t)1;
    odd[1] = (rrc_gcref)((uintptr_t)words + 1);
    spared(h, children);
    for (i = 0; i < 2; i++) {
        rrc_mark_deallocating(h->heap, odd[i], marked);
        host_expect_log(h, RRC_ETAGGED, "rrc_mark_deallocating");
        check_ptr(rrc_to_obj(h->heap, marked), NULL);
    }
    rrc_mark_deallocating(h->heap, &words[0], marked);
    rrc_mark_deallocating(h->heap, odd[0], marked);
    host_expect_log(h, RRC_ETAGGED, "rrc_mark_deallocating");
    check_ptr(rrc_to_obj(h->heap, marked), &words[0]);
    check_ptr(rrc_to_obj(h->heap, children[0]), NULL);
    check_int(rrc_run_pending(h->heap, 0), 2);
    rrc_decref(h->heap, marked);
    host_close(h);
}

/* When a heap ends, many objects own others, in any order, and there were two markers: those
   that are deallocated before their turn come are not looked at again. */
static void markers_and_many_links_at_the_end(void)
{
    enum { COUNT = 1000 };
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *obs[COUNT], *marked[2];
    static short words[2];
    size_t i;

    for (i = 0; i < 2; i++) {
        marked[i] = ob_new(h, &Node);
        rrc_mark_deallocating(h->heap, &words[i], marked[i]);
    }
    for (i = 0; i < COUNT; i++)
        obs[i] = i % 10 == 9 ? ob_given(h, O, host_new(h, HOST_OLD), FULL)      /* dies before */
                             : ob_given(h, i % 2 ? P : O, host_rooted(h, HOST_OLD), FULL);
    for (i = 0; i + 1 < COUNT; i++) {
        size_t owner = i * 7 % COUNT, owned = (i + 1) * 7 % COUNT;

        rrc_incref(h->heap, obs[owned]);
        NODE(obs[owner])->ref[0] = obs[owned];
    }
    for (i = 0; i < 2; i++)                     /* these wait in the queue */
        NODE(ob_given(h, O, host_new(h, HOST_OLD), FULL))->ref[0] = marked[i];
    host_major(h);
    check_int(host_stats(h).pending, 2);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, COUNT + 4);
    host_end(h);
}

/* The end of a heap writes to no marker, whether it knows it or not. */
static void markers_at_the_end(void)
{
    int markers;

    for (markers = 1; markers <= 2; markers++) {
        rrc_gcref words[2][4] = { { NULL, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL } };
        host *h = host_open(NULL);
        rrc_object *owner = ob_given(h, O, host_new(h, HOST_OLD), FULL);
        int i, k;

        for (i = 0; i < 2; i++) {
            for (k = 0; k < 4; k++)
                words[i][k] = h;
            NODE(owner)->ref[i] = ob_new(h, &Node);
            rrc_mark_deallocating(h->heap, words[i % markers], NODE(owner)->ref[i]);
        }
        check_int(host_free_heap(h), 0);
        check_int(h->deallocs, 3);
        for (i = 0; i < 2; i++)
            for (k = 0; k < 4; k++)
                check_ptr(words[i][k], h);
        host_end(h);
    }
}

/* What was put off, and is held again, is not deallocated when the heap ends, and keeps
   its true count. (It is as any object of C that has no link: it is not told.) */
static void what_was_put_off_and_is_held_at_the_end(void)
{
    host *h = host_open(NULL);
    rrc_object *owner = ob_given(h, O, host_new(h, HOST_OLD), FULL), *held = ob_new(h, &Node), *other = ob_new(h, &Node);

    NODE(owner)->ref[0] = held;
    NODE(owner)->ref[1] = other;
    host_major(h);
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(host_stats(h).pending, 2);
    rrc_incref(h->heap, held);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 2);
    check_int(REFCNT(held), 1);
    check_ptr(RRC_LINK(held), NULL);
    rrc_decref(h->heap, held);
    check_int(h->deallocs, 3);
    host_end(h);
}

/* The same holds if its own finalizer keeps it. */
static void keep(host *h, rrc_object *ob)
{
    rrc_incref(h->heap, ob);
}

static void what_was_put_off_is_kept_by_its_finalizer(void)
{
    host *h = host_open(NULL);
    rrc_object *owner = ob_given(h, O, host_new(h, HOST_OLD), FULL), *kept = ob_new(h, &Final);

    NODE(owner)->ref[0] = kept;
    host_major(h);
    check_int(rrc_run_pending(h->heap, 1), 1);
    check_int(host_stats(h).pending, 1);
    h->on_finalize = keep;
    check_int(host_free_heap(h), 0);
    check_int(h->finalized, 1);
    check_int(h->deallocs, 1);
    check_int(REFCNT(kept), 1);
    h->on_finalize = NULL;
    rrc_decref(h->heap, kept);
    check_int(h->deallocs, 2);
    host_end(h);
}

static void a_linked_object_is_not_deleted(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = host_open(NULL);
        size_t id = host_rooted(h, HOST_OLD);
        rrc_object *ob = ob_new(h, &Node);

        check_int((kind == P ? rrc_create_link_pypy : rrc_create_link_pyobj)(h->heap, host_at(h, id), ob), RRC_OK);
        rrc_del(h->heap, ob);           /* the bias is still missing */
        host_expect_log(h, RRC_ELINKED, "rrc_del");
        REFCNT(ob) += BIAS - 1;
        rrc_del(h->heap, ob);
        host_expect_log(h, RRC_ELINKED, "rrc_del");
        check_int(rrc_check(h->heap), RRC_OK);
        host_close(h);
    }
}

static void collect_half(void *userdata)
{
    rrc_major_collection_trace(((host *)userdata)->heap);
}

static void a_collect_hook_that_does_not_finish(void)
{
    host *h = host_bare(NULL);
    rrc_desc desc;

    host_describe(h, &desc);
    desc.collect = collect_half;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    ob_given(h, O, host_new(h, HOST_OLD), FULL);
    host_major(h);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_gc_collect(h->heap), 0);
    host_expect_log(h, RRC_EHOOK, "rrc_gc_collect");
    check_int(h->deallocs, 0);          /* what waits goes on waiting: the collection is not over */
    h->phase = HOST_MAJOR_FREE;
    check_int(rrc_major_collection_free(h->heap), RRC_OK);
    h->phase = HOST_MUTATOR;
    check_int(rrc_run_pending(h->heap, 0), 1);
    host_close(h);
}

/* What waits for its finalizer keeps its p, also when the next collection does not
   search. */
static void see_p(host *h, rrc_object *ob)
{
    h->test = rrc_to_obj(h->heap, ob);
}

static void a_waiting_finalizer_keeps_p(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = knot_new(h, &KnotFinal, 1);
    size_t id = host_new(h, HOST_OLD);

    knot_tie(h, ob, 0, ob);
    ob_link(h, P, id, ob, FULL);
    rrc_decref(h->heap, ob);
    host_major(h);
    check_int(host_stats(h).pending, 1);
    rrc_gc_disable(h->heap);
    host_major(h);
    check(host_is_alive(h, id));
    rrc_gc_enable(h->heap);
    host_major(h);
    check(host_is_alive(h, id));
    h->on_finalize = see_p;
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_ptr(h->test, host_at(h, id));
    knot_collect(h);
    check(!host_is_alive(h, id));
    check_int(h->deallocs, 1);
    host_close(h);
}

/* ... but an O link does not keep it, although the object waits. */
static void a_waiting_finalizer_does_not_keep_a_proxy(void)
{
    host *h = host_open(NULL);
    size_t ids[2] = { host_new(h, HOST_OLD), host_new(h, HOST_OLD) };
    rrc_object *obs[2];
    int i;

    for (i = 0; i < 2; i++) {
        obs[i] = knot_new(h, &KnotFinal, i + 1);
        ob_link(h, i == 0 ? P : O, ids[i], obs[i], FULL);
        rrc_decref(h->heap, obs[i]);
    }
    host_point(h, ids[0], 0, ids[1]);           /* so that the finalizer of the first reaches the second */
    host_major(h);
    check_int(host_stats(h).pending, 2);
    check(host_is_alive(h, ids[0]) && host_is_alive(h, ids[1]));
    rrc_gc_disable(h->heap);
    host_major(h);
    check(host_is_alive(h, ids[0]) && host_is_alive(h, ids[1]));
    host_point(h, ids[0], 0, HOST_NOTHING);
    host_major(h);
    check(host_is_alive(h, ids[0]) && !host_is_alive(h, ids[1]));
    check_ptr(rrc_to_obj(h->heap, obs[1]), NULL);
    rrc_run_pending(h->heap, 0);
    check_int(h->finalized, 2);
    check_int(h->deallocs, 1);
    h->events[0] = '\0';
    rrc_gc_enable(h->heap);
    knot_collect(h);
    check_events(h, "d1");
    host_close(h);
}

/* A dealloc may mark its object, then another one with another marker, and delete the
   first: its marker is no link, though it is not the last one. */
static void mark_both_and_delete(host *h, rrc_object *ob)
{
    static short words[2];

    rrc_mark_deallocating(h->heap, &words[0], ob);
    rrc_mark_deallocating(h->heap, &words[1], (rrc_object *)h->test);
    check_ptr(rrc_to_obj(h->heap, ob), &words[0]);
}

static void deleted_with_an_old_marker(void)
{
    int kind;

    for (kind = P; kind <= O; kind++) {
        host *h = host_open(NULL);
        rrc_object *other = ob_new(h, &Node);

        ob_given(h, (link_kind)kind, host_rooted(h, HOST_OLD), FULL);
        h->test = other;
        h->on_dealloc = mark_both_and_delete;
        rrc_decref(h->heap, ob_new(h, &Node));
        h->on_dealloc = NULL;
        check_int(host_stats(h).objects, 2);
        rrc_decref(h->heap, other);
        host_close(h);
    }
}

/* Three that a collection put off, and one of them is linked. */
static void one_of_three_is_linked(void)
{
    int i, k;

    for (i = 0; i < 3; i++) {
        host *h = host_open(NULL);
        rrc_object *obs[3];
        size_t id = host_rooted(h, HOST_OLD);

        for (k = 0; k < 3; k++)
            obs[k] = ob_new(h, &Node);
        host_minor_begin(h);
        for (k = 0; k < 3; k++)
            rrc_decref(h->heap, obs[k]);
        host_minor_end(h);
        check_int(host_stats(h).pending, 3);
        rrc_mark_deallocating(h->heap, h, obs[i]);
        host_expect_log(h, RRC_ELINKED, "rrc_mark_deallocating");
        ob_link(h, O, id, obs[i], FULL);
        check_int(rrc_check(h->heap), RRC_OK);
        check_int(rrc_run_pending(h->heap, 0), 3);
        check_int(h->deallocs, 2);
        check_ptr(rrc_to_obj(h->heap, obs[i]), host_at(h, id));
        host_close(h);
    }
}

/* Many were put off, and each is found and linked, those first that come last there. To find its place takes a bounded number
   of steps for each of all, and the memory for that is asked for first. */
static void all_that_was_put_off_is_linked(void)
{
    enum { ALL = 100000 };
    host *h = host_open(NULL);
    rrc_object **obs = (rrc_object **)malloc(ALL * sizeof *obs);
    size_t i;

    check(obs != NULL);
    for (i = 0; i < ALL; i++)
        obs[i] = ob_new(h, &Node);
    host_minor_begin(h);
    for (i = 0; i < ALL; i++)
        rrc_decref(h->heap, obs[i]);
    host_minor_end(h);
    for (i = 0; i < ALL; i++) {
        size_t id = host_rooted(h, HOST_OLD);

        h->fail_at = h->calls.allocate + 1;
        if (rrc_link(h->heap, host_at(h, id), obs[i], RRC_O) == RRC_ENOMEM) {
            check_int(host_stats(h).pending, ALL);
            check_int(host_stats(h).o_old, i);
            h->fail_at = 0;
            check_int(rrc_link(h->heap, host_at(h, id), obs[i], RRC_O), RRC_OK);
        }
        h->fail_at = 0;
        host_note_link(h, id);
    }
    check(h->failed > 0);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_run_pending(h->heap, 0), ALL);
    check_int(h->deallocs, 0);
    for (i = 0; i < ALL; i++)
        check_int(REFCNT(obs[i]), BIAS);
    free(obs);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, ALL);
    host_end(h);
}

/* Put off, held again, dropped again while others wait: it is put off once. */
static void one_that_is_held_again(void)
{
    host *h = host_open(NULL);
    rrc_object *obs[3];
    int k;

    for (k = 0; k < 3; k++)
        obs[k] = ob_new(h, &Node);
    host_minor_begin(h);
    for (k = 0; k < 3; k++)
        rrc_decref(h->heap, obs[k]);
    host_minor_end(h);
    rrc_incref(h->heap, obs[1]);
    rrc_decref(h->heap, rrc_next_dead(h->heap));
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 2);
    rrc_decref(h->heap, obs[1]);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* A hook drops the last reference to an object with an old marker, at each moment of a
   collection: also while dictionaries are not up to date. The dealloc waits until it is
   over (I4), and nothing is allocated for that (I5): host.c sees to both. */
static rrc_object *dropped;
static int hooks_left;

static void drop_in_a_hook(host *h, const char *hook)
{
    (void)hook;
    if (--hooks_left == 0)
        rrc_decref(h->heap, dropped);
}

static void dropped_with_an_old_marker_in_a_hook(void)
{
    enum { N = 30 };
    static short old_marker, last_marker;
    host_options options = { .unchecked = 1 };      /* rrc_check has hooks, too */
    int is_major, round;

    for (is_major = 0; is_major < 2; is_major++)
        for (round = 1;; round++) {
            host *h = host_open(&options);
            rrc_object *ob = ob_new(h, &Plain);
            int i;

            unit_context("hook %d of a %s collection", round, is_major ? "major" : "minor");
            for (i = 0; i < N; i++)
                ob_given(h, i % 2 == 0 ? P : O, i % 3 == 0 ? host_rooted(h, HOST_YOUNG) : host_new(h, HOST_YOUNG), FULL);
            dropped = ob_new(h, &Node);
            rrc_mark_deallocating(h->heap, &old_marker, dropped);
            rrc_mark_deallocating(h->heap, &last_marker, ob);
            rrc_decref(h->heap, ob);
            hooks_left = round;
            h->on_hook = drop_in_a_hook;
            (is_major ? host_major : host_minor)(h);
            h->on_hook = NULL;
            if (hooks_left > 0)
                rrc_decref(h->heap, dropped);
            check_int(rrc_run_pending(h->heap, 0), N - N / 3 + (hooks_left <= 0));
            check_int(h->deallocs, N - N / 3 + 1);
            host_close(h);
            if (hooks_left > 0)
                break;
        }
}

UNIT_GROUP(waiting,
    UNIT(dropped_with_an_old_marker_in_a_hook),
    UNIT(a_waiting_finalizer_does_not_keep_a_proxy),
    UNIT(deleted_with_an_old_marker),
    UNIT(one_of_three_is_linked), UNIT(all_that_was_put_off_is_linked), UNIT(one_that_is_held_again),
    UNIT(found_again_while_it_waits),
    UNIT(linked_while_it_waits),
    UNIT(unlinked_and_taken_while_it_waits),
    UNIT(markers_beside_what_waits),
    UNIT(odd_markers_are_refused),
    UNIT(markers_at_the_end),
    UNIT(markers_and_many_links_at_the_end),
    UNIT(what_was_put_off_and_is_held_at_the_end),
    UNIT(what_was_put_off_is_kept_by_its_finalizer),
    UNIT(a_linked_object_is_not_deleted),
    UNIT(a_collect_hook_that_does_not_finish),
    UNIT(a_waiting_finalizer_keeps_p));
