/* rrc_unlink, immortal objects, and the marker of rrc_mark_deallocating. */

#include "objects.h"

static void unlinking_is_like_the_death_of_p(void)
{
    int kind, weight, held, promoted;

    for (kind = P; kind <= O; kind++)
        for (weight = FULL; weight <= LIGHT_OB; weight++)
            for (held = 0; held < 3; held++)
                for (promoted = 0; promoted < 2; promoted++) {
                    host *h = host_open(NULL);
                    size_t id = host_rooted(h, HOST_YOUNG);
                    rrc_object *ob = ob_given(h, (link_kind)kind, id, (ob_weight)weight);
                    int i;

                    unit_context("%c link, %s, held %d times, %s", kind == P ? 'P' : 'O',
                                 weight == FULL ? "full" : "light", held, promoted ? "old" : "young");
                    if (promoted)
                        host_minor(h);
                    for (i = 0; i < held; i++)
                        rrc_incref(h->heap, ob);
                    check_int(rrc_unlink(h->heap, ob), RRC_OK);
                    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), NULL);
                    check_stats(h, 0, 0, 0, 0, weight == FULL && held == 0);
                    check_int(h->deallocs, 0);
                    check_int(h->freed, weight == LIGHT_OB && held == 0);
                    if (weight == FULL || held > 0) {
                        check_int(REFCNT(ob), held == 0 ? 1 : held);
                        check_ptr(rrc_to_obj(h->heap, ob), NULL);
                    }
                    check_int(rrc_check(h->heap), RRC_OK);
                    if (held > 0) {
                        check_int(rrc_unlink(h->heap, ob), RRC_EUNLINKED);
                        host_expect_log(h, RRC_EUNLINKED, "rrc_unlink");
                        for (i = 0; i < held; i++)
                            rrc_decref(h->heap, ob);
                    }
                    check_int(rrc_run_pending(h->heap, 0), weight == FULL && held == 0);
                    check_int(h->freed, 1);
                    host_minor(h);
                    host_major(h);
                    check(host_is_alive(h, id));
                    host_close(h);
                }
}

static void disposed_of_at_once(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_given(h, P, id, FULL);

    rrc_incref(h->heap, ob);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    check_int(host_stats(h).pending, 0);
    host_close(h);
}

/* p is free for another ob, and ob for another p, at once. */
static void both_are_free_for_others(void)
{
    host *h = host_open(NULL);
    size_t a = host_rooted(h, HOST_YOUNG), b = host_rooted(h, HOST_OLD);
    rrc_object *x = ob_shared(h, P, a, FULL), *y = ob_shared(h, P, b, FULL);
    int round;

    for (round = 0; round < 6; round++) {
        check_int(rrc_unlink(h->heap, x), RRC_OK);
        check_int(rrc_unlink(h->heap, y), RRC_OK);
        ob_link(h, P, round % 2 == 0 ? b : a, x, round % 3 == 0 ? LIGHT_OB : FULL);
        ob_link(h, P, round % 2 == 0 ? a : b, y, FULL);
        check_ptr(rrc_from_obj(h->heap, host_at(h, round % 2 == 0 ? b : a)), x);
        check_ptr(rrc_from_obj(h->heap, host_at(h, round % 2 == 0 ? a : b)), y);
        if (round == 2)
            host_minor(h);
        if (round == 4)
            host_major(h);
        check_int(rrc_check(h->heap), RRC_OK);
    }
    check_int(rrc_unlink(h->heap, x), RRC_OK);
    rrc_decref(h->heap, x);
    rrc_decref(h->heap, y);
    host_close(h);
}

static void unlinked_obs_are_not_unlinked_again(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    check_int(rrc_unlink(h->heap, ob), RRC_EUNLINKED);
    check_ptr(host_expect_log(h, RRC_EUNLINKED, "rrc_unlink")->ob, ob);
    rrc_mark_deallocating(h->heap, h, ob);
    check_int(rrc_unlink(h->heap, ob), RRC_EUNLINKED);
    host_expect_log(h, RRC_EUNLINKED, "rrc_unlink");
    rrc_mark_deallocating(h->heap, NULL, ob);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* ---- immortal ---- */

static void an_immortal_ob_is_never_freed(void)
{
    STATIC_OB(statue, &Node);
    rrc_object *ob = STATIC_PTR(statue);
    intptr_t count = REFCNT(ob);
    host *h = host_open(NULL);
    size_t i, id;

    check(count >= RRC_REFCNT_IMMORTAL);
    for (i = 0; i < 1000; i++)
        rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), count - 1000);
    for (i = 0; i < 2000; i++)
        rrc_incref(h->heap, ob);
    count += 1000;
    for (i = 0; i < 4; i++) {
        id = host_new(h, i % 2 == 0 ? HOST_YOUNG : HOST_OLD);
        check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_OK);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        if (i < 2)
            host_major(h);
        else
            check_int(rrc_unlink(h->heap, ob), RRC_OK);
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
        check_int(REFCNT(ob), count);
        check_int(host_stats(h).pending, 0);
        check_int(rrc_run_pending(h->heap, 0), 0);
    }
    check_int(h->deallocs + h->freed, 0);
    host_close(h);
}

/* References to a static object may drift by more than its band has room for: then the slow paths of
   rrc_incref and rrc_decref set the count back. */
static void an_immortal_count_can_drift(void)
{
    static STATIC_OB(fixed, &Node);
    const intptr_t middle = RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16;
    host *h = host_open(NULL);
    rrc_object *ob = STATIC_PTR(fixed);

    REFCNT(ob) = INTPTR_MAX;
    rrc_incref(h->heap, ob);
    check_int(REFCNT(ob), middle);
    REFCNT(ob) = RRC_REFCNT_IMMORTAL + 1;
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), middle);
    rrc_incref(h->heap, ob);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), middle - 1);
    host_close(h);
}

/* C's references, in each band. */
static void references_are_counted_without_the_bias(void)
{
    host *h = host_open(NULL);
    rrc_object *ob[3];
    int i;

    ob[0] = ob_new(h, &Node);
    ob[1] = ob_shared(h, P, host_rooted(h, HOST_OLD), FULL);
    ob[2] = ob_shared(h, O, host_rooted(h, HOST_OLD), LIGHT_OB);
    for (i = 0; i < 3; i++) {
        check_int(rrc_refcnt(ob[i]), 1);
        rrc_incref(h->heap, ob[i]);
        check_int(rrc_refcnt(ob[i]), 2);
        rrc_decref(h->heap, ob[i]);
    }
    for (i = 1; i < 3; i++) {
        rrc_decref(h->heap, ob[i]);
        check_int(rrc_refcnt(ob[i]), 0);
    }
    rrc_decref(h->heap, ob[0]);
    host_close(h);
}

static void an_immortal_p_link_keeps_its_p(void)
{
    STATIC_OB(statue, &Node);
    rrc_object *ob = STATIC_PTR(statue);
    host *h = host_open(NULL);
    size_t id = host_new(h, HOST_YOUNG), child = host_new(h, HOST_YOUNG);
    int i;

    host_point(h, id, 0, child);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), ob), RRC_OK);
    for (i = 0; i < 3; i++) {
        host_minor(h);
        host_major(h);
        check(host_is_alive(h, id) && host_is_alive(h, child));
        check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        rrc_decref(h->heap, ob);
    }
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(host_free_heap(h), 0);
    check_ptr(RRC_LINK(ob), NULL);
    check(REFCNT(ob) >= RRC_REFCNT_IMMORTAL);
    host_end(h);
}

/* A type is an object too. */
#if !HOST_FRONT
static void a_type_can_be_linked(void)
{
    static rrc_type type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Type" };
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_PREBUILT);

    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), &type.ob_base), RRC_OK);
    host_major(h);
    check_ptr(rrc_to_obj(h->heap, &type.ob_base), host_at(h, id));
    check_int(rrc_unlink(h->heap, &type.ob_base), RRC_OK);
    host_close(h);
}
#else
static void a_type_can_be_linked(void)
{
    static const rrc_type type = { .tp_name = "Type" };
    STATIC_OB(statue, &type);
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_PREBUILT);

    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), STATIC_PTR(statue)), RRC_OK);
    check_int(rrc_unlink(h->heap, STATIC_PTR(statue)), RRC_OK);
    host_close(h);
}
#endif

/* ---- the marker ---- */

static short marker, other_marker;

static void mark_and_look(host *h, rrc_object *ob)
{
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    rrc_mark_deallocating(h->heap, &marker, ob);
    check_ptr(rrc_to_obj(h->heap, ob), &marker);
    rrc_mark_deallocating(h->heap, &other_marker, ob);
    check_ptr(rrc_to_obj(h->heap, ob), &other_marker);
    rrc_mark_deallocating(h->heap, NULL, ob);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    rrc_mark_deallocating(h->heap, &marker, ob);
    if (NODE(ob)->tag == 1) {
        host_minor(h);
        host_major(h);
    }
    check_int(rrc_check(h->heap), RRC_OK);
    check_ptr(rrc_to_obj(h->heap, ob), &marker);
}

static void deallocs_may_mark_their_object(void)
{
    host *h = host_open(NULL);

    h->on_dealloc = mark_and_look;
    rrc_decref(h->heap, ob_chain(h, &Node, 100));
    ob_given(h, P, host_new(h, HOST_YOUNG), FULL);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 101);
    host_close(h);
}

static void a_linked_ob_is_not_marked(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *p_linked = ob_given(h, P, id, FULL), *o_linked = ob_given(h, O, id, LIGHT_OB);

    rrc_mark_deallocating(h->heap, &marker, p_linked);
    check_ptr(host_expect_log(h, RRC_ELINKED, "rrc_mark_deallocating")->ob, p_linked);
    rrc_mark_deallocating(h->heap, &marker, o_linked);
    host_expect_log(h, RRC_ELINKED, "rrc_mark_deallocating");
    check_ptr(rrc_to_obj(h->heap, p_linked), host_at(h, id));
    check_ptr(rrc_to_obj(h->heap, o_linked), host_at(h, id));
    rrc_mark_deallocating(h->heap, &marker, NULL);
    host_expect_log(h, RRC_ENULL, "rrc_mark_deallocating");
    host_close(h);
}

/* An optional dictionary is given up where it cannot grow: when there is no
   memory for it, or when young links come to be old. */
static void the_dictionary_may_not_grow(void)
{
    enum { COUNT = 1100 };
    int which, old;

    for (old = 0; old < 2; old++) {
        size_t done_without = 0;

        for (which = 1; which <= 2; which++) {  /* a new chunk may come first */
            host *h = host_open(NULL);
            rrc_object *obs[COUNT];
            size_t i;

            unit_context("old %d, allocation %d fails", old, which);
            for (i = 0; i < COUNT; i++) {
                size_t id = host_rooted(h, old ? HOST_OLD : HOST_YOUNG), failed;
                int code;

                obs[i] = ob_new(h, &Node);
                if (i == 100)
                    check_int(rrc_unlink(h->heap, obs[0]), RRC_OK);
                failed = h->failed;
                h->fail_at = h->calls.allocate + (size_t)which;
                code = rrc_create_link_pyobj(h->heap, host_at(h, id), obs[i]);
                h->fail_at = 0;
                if (code == RRC_OK) {
                    done_without += h->failed > failed;
                } else {
                    check_int(code, RRC_ENOMEM);
                    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), obs[i]), RRC_OK);
                }
                REFCNT(obs[i]) += BIAS - 1;
            }
            for (i = 1; i < COUNT; i++)
                check_int(rrc_unlink(h->heap, obs[i]), RRC_OK);
            check_int(rrc_run_pending(h->heap, 0), COUNT);
            host_close(h);
        }
        check(done_without > 0);
    }
}

/* (For 240 entries and a few more, too.) */
static void promoted_links_may_be_too_many(void)
{
    enum { OLD = 100, MOST = 400 };
    int kind;
    size_t count;

    for (kind = P; kind <= O; kind++)
        for (count = 200; count <= MOST; count += 15) {
            host *h = host_open(NULL);
            rrc_object *obs[MOST];
            size_t i;

            unit_context("link %d, %u links", kind, (unsigned)count);
            for (i = 0; i < count; i++)
                obs[i] = ob_given(h, (link_kind)kind, host_rooted(h, i < OLD ? HOST_OLD : HOST_YOUNG), FULL);
            check_int(rrc_unlink(h->heap, obs[0]), RRC_OK);
            host_minor(h);
            check_stats(h, 0, kind == P ? count - 1 : 0, 0, kind == O ? count - 1 : 0, 1);
            for (i = 1; i < count; i++)
                check_int(rrc_unlink(h->heap, obs[i]), RRC_OK);
            check_int(rrc_run_pending(h->heap, 0), count);
            host_close(h);
        }
}

/* A marked ob is freed as usual, by whichever marker it was marked. */
static void marked_obs_go_as_usual(void)
{
    host *h = host_open(NULL);
    rrc_object *a = ob_new(h, &Leaf), *b = ob_new(h, &Leaf), *c = ob_new(h, &Leaf);

    rrc_mark_deallocating(h->heap, &marker, a);
    rrc_mark_deallocating(h->heap, &other_marker, b);
    rrc_mark_deallocating(h->heap, &marker, c);
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_decref(h->heap, b);
    rrc_decref(h->heap, a);
    check_int(h->freed, 2);
    check_int(host_free_heap(h), 0);
    rrc_decref(h->heap, c);
    check_int(h->freed, 3);
    host_end(h);
}

UNIT_GROUP(unlinking,
    UNIT(the_dictionary_may_not_grow),
    UNIT(promoted_links_may_be_too_many),
    UNIT(unlinking_is_like_the_death_of_p),
    UNIT(disposed_of_at_once),
    UNIT(both_are_free_for_others),
    UNIT(unlinked_obs_are_not_unlinked_again),
    UNIT(an_immortal_ob_is_never_freed),
    UNIT(an_immortal_p_link_keeps_its_p),
    UNIT(an_immortal_count_can_drift),
    UNIT(references_are_counted_without_the_bias),
    UNIT(a_type_can_be_linked),
    UNIT(deallocs_may_mark_their_object),
    UNIT(a_linked_ob_is_not_marked),
    UNIT(marked_obs_go_as_usual));
