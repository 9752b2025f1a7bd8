/* Making links and asking for them, without any collection. */

#include "objects.h"

static void a_p_link_leads_both_ways(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_new(h, &Node);

    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), NULL);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), ob), RRC_OK);
    check_int(REFCNT(ob), 1);
    REFCNT(ob) += BIAS;
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    check_ptr(RRC_LINK(ob), host_at(h, id));
    check_int(REFCNT(ob), BIAS + 1);
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), BIAS);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    host_close(h);
}

static void an_o_link_leads_to_p_only(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_new(h, &Node);

    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_OK);
    REFCNT(ob) += BIAS - 1;
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), NULL);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

/* rrc_link puts the bias in, and takes the reference that it is given: every kind, for objects that C
   holds once or twice. */
static void links_that_carry_their_bias(void)
{
    int is_p, is_light, is_given, refs;

    for (is_p = 0; is_p < 2; is_p++)
        for (is_light = 0; is_light < 2; is_light++)
            for (is_given = 0; is_given < 2; is_given++)
                for (refs = 1; refs < 3; refs++) {
                    host *h = host_open(NULL);
                    size_t id = host_rooted(h, HOST_YOUNG);
                    rrc_object *ob = ob_new(h, is_light ? &Leaf : &Node);
                    int kind = (is_p ? RRC_P : RRC_O) | (is_light ? RRC_LIGHT : 0) | (is_given ? RRC_GIVE : 0);
                    int left = refs - is_given;

                    unit_context("kind %d, %d references", kind, refs);
                    if (refs == 2)
                        rrc_incref(h->heap, ob);
                    check_int(rrc_link(h->heap, host_at(h, id), ob, kind), RRC_OK);
                    check_int(REFCNT(ob), (is_light ? LIGHT : BIAS) + left);
                    check_int(rrc_refcnt(ob), left);
                    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
                    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), is_p ? ob : NULL);
                    check_int(rrc_check(h->heap), RRC_OK);
                    host_major(h);
                    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
                    host_unroot(h, id);
                    host_major(h);
                    check_int(host_is_alive(h, id), is_p && left > 0);
                    while (left-- > 0)
                        rrc_decref(h->heap, ob);
                    host_major(h);
                    rrc_run_pending(h->heap, 0);
                    check_int(host_stats(h).objects, 0);
                    host_close(h);
                }
}

/* A link that cannot be made changes nothing: what was given is still the caller's. */
static void links_of_no_kind(void)
{
    static const int wrong[] = { 0, RRC_P | RRC_O, RRC_LIGHT, RRC_GIVE, RRC_LIGHT | RRC_GIVE, RRC_P | 16, -1 };
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_OLD), i;
    rrc_object *ob = ob_new(h, &Node), *other = ob_new(h, &Node);

    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        check_int(rrc_link(h->heap, host_at(h, id), ob, wrong[i]), RRC_EKIND);
        host_expect_log(h, RRC_EKIND, "rrc_link");
        check_int(REFCNT(ob), 1);
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
    }
    check_int(rrc_link(h->heap, NULL, ob, RRC_P | RRC_GIVE), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_link");
    check_int(rrc_link(NULL, host_at(h, id), ob, RRC_P), RRC_ENULL);
    REFCNT(ob) = 0;                     /* as in its dealloc */
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_P | RRC_GIVE), RRC_EREFCNT);
    host_expect_log(h, RRC_EREFCNT, "rrc_link");
    REFCNT(ob) = 1;
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    check_int(rrc_link(h->heap, host_at(h, id), NULL, RRC_P), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_link");
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_P), RRC_OK);
    check_int(rrc_link(h->heap, host_at(h, id), other, RRC_P | RRC_GIVE), RRC_EPLINKED);
    host_expect_log(h, RRC_EPLINKED, "rrc_link");
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_O | RRC_GIVE), RRC_ELINKED);
    host_expect_log(h, RRC_ELINKED, "rrc_link");
    check_int(REFCNT(other), 1);
    check_int(REFCNT(ob), BIAS + 1);
    check_int(REFCNT(other), 1);
    rrc_decref(h->heap, other);
    rrc_decref(h->heap, ob);
    host_close(h);
    h = host_open(NULL);
    id = host_rooted(h, HOST_OLD);
    ob = ob_new(h, &Node);
    h->fail_at = h->calls.allocate + 1;         /* the first link of a heap needs memory */
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_P | RRC_GIVE), RRC_ENOMEM);
    check_int(REFCNT(ob), 1);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_P | RRC_GIVE), RRC_OK);
    check_int(REFCNT(ob), BIAS);
    host_close(h);
}

/* A static object gets no bias. */
static void a_static_object_is_linked(void)
{
    static STATIC_OB(fixed, &Node);
    host *h = host_open(NULL);
    rrc_object *ob = STATIC_PTR(fixed);
    intptr_t count = REFCNT(ob);

    check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), ob, RRC_P), RRC_OK);
    check_int(REFCNT(ob), count);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    check_int(REFCNT(ob), count);
    host_close(h);
}

/* The caller may put the bias in before the link is made, or just after. */
static void the_bias_may_come_first(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG), other = host_rooted(h, HOST_YOUNG);
    rrc_object *full = ob_new(h, &Node), *light = ob_new(h, &Leaf);

    REFCNT(full) += BIAS - 1;
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), full), RRC_OK);
    REFCNT(light) += LIGHT - 1;
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, other), light), RRC_OK);
    check_ptr(rrc_to_obj(h->heap, full), host_at(h, id));
    check_ptr(rrc_to_obj(h->heap, light), host_at(h, other));
    host_minor(h);
    check_ptr(rrc_to_obj(h->heap, full), host_at(h, id));
    check_ptr(rrc_to_obj(h->heap, light), host_at(h, other));
    host_close(h);
}

static void stats_count_links_by_kind_and_generation(void)
{
    host *h = host_open(NULL);
    size_t young = host_rooted(h, HOST_YOUNG), old = host_rooted(h, HOST_OLD);
    size_t large = host_rooted(h, HOST_LARGE), prebuilt = host_new(h, HOST_PREBUILT);

    check_stats(h, 0, 0, 0, 0, 0);
    ob_given(h, P, young, FULL);
    check_stats(h, 1, 0, 0, 0, 0);
    ob_given(h, P, old, FULL);
    ob_given(h, O, old, LIGHT_OB);
    ob_given(h, O, old, FULL);
    ob_given(h, O, young, FULL);
    ob_given(h, P, large, LIGHT_OB);
    ob_given(h, P, prebuilt, FULL);
    check_stats(h, 2, 2, 1, 2, 0);
    check_int(host_stats(h).objects, 7);
    check_int(host_stats(h).tracked, 0);
    check_int(host_stats(h).minor_collections, 0);
    host_minor(h);
    check_stats(h, 0, 4, 0, 3, 0);
    check_int(host_stats(h).minor_collections, 1);
    check_int(host_stats(h).major_collections, 0);
    host_major(h);
    check_stats(h, 0, 4, 0, 3, 0);
    check_int(host_stats(h).major_collections, 1);
    host_close(h);
}

/* A p may be the proxy of any number of obs beside its one P link. */
static void a_p_has_one_p_link_and_many_o_links(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *proxied[20], *view, *second;
    size_t i;

    for (i = 0; i < 10; i++)
        proxied[i] = ob_given(h, O, id, FULL);
    view = ob_given(h, P, id, FULL);
    for (; i < 20; i++)
        proxied[i] = ob_given(h, O, id, i % 2 == 0 ? LIGHT_OB : FULL);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), view);
    second = ob_new(h, &Node);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), second), RRC_EPLINKED);
    host_expect_log(h, RRC_EPLINKED, "rrc_create_link_pypy");
    check_int(REFCNT(second), 1);
    check_ptr(RRC_LINK(second), NULL);
    rrc_decref(h->heap, second);
    for (i = 0; i < 20; i++)
        check_ptr(rrc_to_obj(h->heap, proxied[i]), host_at(h, id));
    host_minor(h);
    host_major(h);
    for (i = 0; i < 20; i++)
        check_ptr(rrc_to_obj(h->heap, proxied[i]), host_at(h, id));
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), view);
    host_close(h);
}

static void null_is_asked_for_nothing(void)
{
    host *h = host_open(NULL);

    check_ptr(rrc_from_obj(h->heap, NULL), NULL);
    check_ptr(rrc_to_obj(h->heap, NULL), NULL);
    host_expect_silence(h);
    host_close(h);
}

static void a_heap_without_links_has_nothing_to_do(void)
{
    host *h = host_open(NULL);

    check_ptr(rrc_next_dead(h->heap), NULL);
    check_int(rrc_run_pending(h->heap, 0), 0);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 0);
    host_minor(h);
    host_major(h);
    check_ptr(rrc_next_dead(h->heap), NULL);
    check_int(h->calls.trace + h->calls.survivor + h->calls.slot + h->calls.is_young, 0);
    host_close(h);
}

/* Count and link behave the same whatever the object was before. */
static void a_dissolved_ob_can_be_linked_again(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    int round;

    for (round = 0; round < 8; round++) {
        size_t id = host_new(h, round % 2 == 0 ? HOST_YOUNG : HOST_OLD);

        ob_link(h, O, id, ob, FULL);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        check_int(REFCNT(ob), BIAS + 1);
        host_major(h);
        check(!host_is_alive(h, id));
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
        check_int(REFCNT(ob), 1);
    }
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    host_close(h);
}

UNIT_GROUP(links,
    UNIT(links_that_carry_their_bias), UNIT(links_of_no_kind), UNIT(a_static_object_is_linked),
    UNIT(a_p_link_leads_both_ways),
    UNIT(an_o_link_leads_to_p_only),
    UNIT(the_bias_may_come_first),
    UNIT(stats_count_links_by_kind_and_generation),
    UNIT(a_p_has_one_p_link_and_many_o_links),
    UNIT(null_is_asked_for_nothing),
    UNIT(a_heap_without_links_has_nothing_to_do),
    UNIT(a_dissolved_ob_can_be_linked_again));
