/* What a collection does to one link: every combination, and the stories. */

#include "objects.h"

typedef struct scenario {
    host_kind p;
    ob_weight weight;
    link_kind link;
    int from_c, from_host;      /* who holds on to the pair */
} scenario;

typedef enum how { MINOR, MAJOR, MINOR_MAJOR, MINOR_MINOR, MAJOR_MAJOR, HOWS } how;

static const char *const kind_names[] = { "young", "old", "large", "large old", "prebuilt" };
static const char *const how_names[] = { "minor", "major", "minor major", "minor minor", "major major" };

static int starts_young(host_kind kind)
{
    return kind == HOST_YOUNG || kind == HOST_LARGE;
}

static void check_survival(host *h, const scenario *s, size_t id, rrc_object *ob)
{
    intptr_t count = (s->weight == LIGHT_OB ? LIGHT : BIAS) + (s->from_c ? 1 : 0);

    check(host_is_alive(h, id));
    check_int(REFCNT(ob), count);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), s->link == P ? ob : NULL);
    check_int(h->deallocs + h->freed, 0);
    check_int(host_stats(h).pending, 0);
}

static void check_death(host *h, const scenario *s, rrc_object *ob)
{
    check_stats(h, 0, 0, 0, 0, !s->from_c && s->weight == FULL);
    if (s->from_c) {
        check_int(REFCNT(ob), 1);
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
        check_int(h->freed, 0);
        rrc_decref(h->heap, ob);
    } else if (s->weight == FULL) {
        check_int(REFCNT(ob), 1);
        check_ptr(rrc_to_obj(h->heap, ob), NULL);
        check_int(h->deallocs, 0);
        rrc_invoke_callback(h->heap);
        check_int(h->calls.trigger, 1);
        check_int(rrc_run_pending(h->heap, 0), 1);
    }
    check_int(h->deallocs, s->weight == FULL);
    check_int(h->freed, 1);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, s->weight == FULL && !s->from_c);
}

static void play(const scenario *s, how way, const host_options *options)
{
    host *h = host_open(options);
    size_t id = host_new(h, s->p);
    rrc_object *ob = s->from_c ? ob_shared(h, s->link, id, s->weight)
                               : ob_given(h, s->link, id, s->weight);
    int young = starts_young(s->p) && !options->without_generations;
    int held = s->from_host || s->p == HOST_PREBUILT || (s->link == P && s->from_c);
    int minor_first = way == MINOR || way == MINOR_MAJOR || way == MINOR_MINOR;
    int round;

    unit_context("%s p, %s ob, %c link, held by%s%s%s, %s%s%s", kind_names[s->p],
                 s->weight == FULL ? "full" : "light", s->link == P ? 'P' : 'O',
                 s->from_c ? " C" : "", s->from_host ? " host" : "",
                 !s->from_c && !s->from_host ? " nobody" : "", how_names[way],
                 options->without_generations ? ", no generations" : "",
                 options->eager ? ", eager" : "");
    if (s->from_host)
        host_root(h, id);
    if (minor_first)
        host_minor(h);
    else
        host_major(h);
    if (held || (minor_first && !young)) {
        check_survival(h, s, id, ob);
        check_stats(h, 0, s->link == P, 0, s->link == O, 0);
        if (way >= MINOR_MAJOR) {
            if (way == MINOR_MINOR)
                host_minor(h);
            else
                host_major(h);
        }
        if (held || way == MINOR_MINOR)
            check_survival(h, s, id, ob);
    }
    /* Let go of it, and everything dies but a prebuilt p. */
    host_unroot(h, id);
    for (round = 0; round < 2; round++)
        host_major(h);
    if (s->p == HOST_PREBUILT || (s->link == P && s->from_c)) {
        check_survival(h, s, id, ob);
        if (s->from_c)
            rrc_decref(h->heap, ob);
        host_close(h);
        return;
    }
    check(!host_is_alive(h, id));
    check_death(h, s, ob);
    host_close(h);
}

/* The whole table for one kind of p, on hosts of each sort. */
static void play_all(host_kind p)
{
    static const host_options hosts[] = {
        { 0 },
        { .eager = 1, .repeat_trace = 1, .reuse = 1 },
        { .without_generations = 1, .moving = HOST_PERMUTE },
        { .moving = HOST_STAY, .reuse = 1 },
    };
    scenario s;
    int from, how_i;
    size_t i;

    s.p = p;
    for (i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        for (how_i = 0; how_i < HOWS; how_i++)
            for (from = 0; from < 16; from++) {
                s.weight = from & 1 ? LIGHT_OB : FULL;
                s.link = from & 2 ? O : P;
                s.from_c = (from & 4) != 0;
                s.from_host = (from & 8) != 0;
                play(&s, (how)how_i, &hosts[i]);
            }
}

static void all_of_a_young_p(void) { play_all(HOST_YOUNG); }
static void all_of_an_old_p(void) { play_all(HOST_OLD); }
static void all_of_a_large_p(void) { play_all(HOST_LARGE); }
static void all_of_a_large_old_p(void) { play_all(HOST_LARGE_OLD); }
static void all_of_a_prebuilt_p(void) { play_all(HOST_PREBUILT); }

/* A young p dies in the first collection, be it a minor one or a major one. */
static void a_young_p_dies_in_the_minor(void)
{
    int major;

    for (major = 0; major < 2; major++) {
        host *h = host_open(NULL);
        size_t p = host_new(h, HOST_YOUNG), o = host_new(h, HOST_YOUNG), l = host_new(h, HOST_LARGE);
        rrc_object *view = ob_given(h, P, p, FULL), *object = ob_given(h, O, o, FULL);

        ob_given(h, O, l, LIGHT_OB);
        NODE(view)->tag = 1;
        NODE(object)->tag = 2;
        if (!major)
            host_minor(h);
        else
            host_major(h);
        check_stats(h, 0, 0, 0, 0, 2);
        check_int(h->freed, 1);
        check_int(h->deallocs, 0);
        check_int(rrc_run_pending(h->heap, 0), 2);
        check_int(h->deallocs, 2);
        check_int(h->freed, 3);
        host_close(h);
    }
}

/* Two pairs, one held; the dead one must not be confused with the live one. */
static void the_right_one_dies(void)
{
    host *h = host_open(NULL);
    size_t a = host_new(h, HOST_YOUNG), b = host_new(h, HOST_YOUNG);
    rrc_object *of_a = ob_shared(h, P, a, FULL), *of_b = ob_given(h, P, b, FULL);

    NODE(of_b)->tag = 77;
    host_minor(h);
    check(host_is_alive(h, a));
    check(!host_is_alive(h, b));
    check_ptr(rrc_from_obj(h->heap, host_at(h, a)), of_a);
    check_ptr(rrc_to_obj(h->heap, of_a), host_at(h, a));
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->last_dead, 77);
    rrc_decref(h->heap, of_a);
    host_major(h);
    check(!host_is_alive(h, a));
    check_int(rrc_run_pending(h->heap, 0), 1);
    host_close(h);
}

/* C's reference to a P link keeps all that p reaches, with the obs on the way;
   an O link keeps nothing of the host. */
static void held_from_c_keeps_what_p_reaches(void)
{
    int eager;

    for (eager = 0; eager < 2; eager++) {
        host_options options = { .eager = eager };
        host *h = host_open(&options);
        size_t first = host_new(h, HOST_YOUNG), i;
        size_t ids[6];
        rrc_object *held = ob_shared(h, P, first, FULL), *last;
        rrc_object *proxied;
        size_t proxy = host_new(h, HOST_YOUNG), child = host_new(h, HOST_YOUNG);

        ids[0] = first;
        for (i = 1; i < 6; i++) {
            ids[i] = host_new(h, i % 2 == 0 ? HOST_YOUNG : HOST_LARGE);
            host_point(h, ids[i - 1], 0, ids[i]);
        }
        last = ob_given(h, P, ids[5], FULL);
        proxied = ob_shared(h, O, proxy, FULL);
        host_point(h, proxy, 1, child);
        ob_given(h, P, child, LIGHT_OB);
        if (eager)
            host_major(h);
        else
            host_minor(h);
        for (i = 0; i < 6; i++)
            check(host_is_alive(h, ids[i]));
        check_ptr(rrc_from_obj(h->heap, host_at(h, ids[5])), last);
        check(!host_is_alive(h, proxy));
        check(!host_is_alive(h, child));
        check_int(h->freed, 1);
        check_int(REFCNT(proxied), 1);
        rrc_decref(h->heap, proxied);
        rrc_decref(h->heap, held);
        host_major(h);
        check(!host_is_alive(h, ids[0]));
        check(!host_is_alive(h, ids[5]));
        check_int(rrc_run_pending(h->heap, 0), 2);
        host_close(h);
    }
}

/* An ob outlives its proxy, gets another one, then goes with it. */
static void an_ob_gets_a_new_proxy(void)
{
    host *h = host_open(NULL);
    size_t first = host_rooted(h, HOST_YOUNG), second;
    rrc_object *ob = ob_shared(h, O, first, FULL);

    host_minor(h);
    host_unroot(h, first);
    host_major(h);
    check(!host_is_alive(h, first));
    check_int(REFCNT(ob), 1);
    check_ptr(rrc_to_obj(h->heap, ob), NULL);
    second = host_rooted(h, HOST_YOUNG);
    ob_link(h, O, second, ob, FULL);
    rrc_decref(h->heap, ob);
    host_minor(h);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, second));
    host_unroot(h, second);
    host_minor(h);
    check(host_is_alive(h, second));
    host_major(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* The object that C holds owns one that only the host knew. */
static void an_owned_ob_outlives_its_p(void)
{
    host *h = host_open(NULL);
    size_t outer = host_new(h, HOST_OLD), inner = host_new(h, HOST_OLD);
    rrc_object *owner = ob_given(h, O, outer, FULL), *owned = ob_shared(h, O, inner, FULL);

    NODE(owner)->tag = 1;
    NODE(owned)->tag = 2;
    NODE(owner)->ref[0] = owned;
    host_major(h);
    check(!host_is_alive(h, outer));
    check(!host_is_alive(h, inner));
    check_int(REFCNT(owned), 1);
    check_stats(h, 0, 0, 0, 0, 1);
    check_int(rrc_run_pending(h->heap, 1) + rrc_run_pending(h->heap, 0), 2);
    check_int(h->deallocs, 2);
    check_int(h->last_dead, 2);
    host_close(h);
}

/* Held from C, a P link keeps its p; that p's own P-linked child is thus kept
   although its ob's count is the plain bias, whichever order they are asked in. */
static void order_of_links_does_not_matter(void)
{
    int order;

    for (order = 0; order < 2; order++) {
        host *h = host_open(NULL);
        size_t a = host_new(h, HOST_OLD), b = host_new(h, HOST_OLD);
        size_t parent = order ? a : b, child = order ? b : a;
        rrc_object *of_a = parent == a ? ob_shared(h, P, a, FULL) : ob_given(h, P, a, FULL);
        rrc_object *of_b = parent == b ? ob_shared(h, P, b, FULL) : ob_given(h, P, b, FULL);

        host_point(h, parent, 0, child);
        host_major(h);
        check_ptr(rrc_from_obj(h->heap, host_at(h, a)), of_a);
        check_ptr(rrc_from_obj(h->heap, host_at(h, b)), of_b);
        check_stats(h, 0, 2, 0, 0, 0);
        host_major(h);
        rrc_decref(h->heap, parent == a ? of_a : of_b);
        host_major(h);
        check_stats(h, 0, 0, 0, 0, 2);
        check_int(rrc_run_pending(h->heap, 0), 2);
        host_close(h);
    }
}

/* While it stays in the nursery its link stays young, and it can still die in a
   minor collection. */
static void survivors_may_stay_young(void)
{
    host_options options = { .stays_young = 2 };
    host *h = host_open(&options);
    size_t id = host_rooted(h, HOST_YOUNG), proxy = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_given(h, P, id, FULL);

    ob_given(h, O, proxy, LIGHT_OB);
    check_stats(h, 1, 0, 1, 0, 0);
    host_minor(h);
    check(host_in_nursery(h, id));
    check_stats(h, 1, 0, 1, 0, 0);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    host_unroot(h, proxy);
    host_minor(h);
    check(!host_is_alive(h, proxy));
    check_int(h->freed, 1);
    check_stats(h, 1, 0, 0, 0, 0);
    host_minor(h);
    check(!host_in_nursery(h, id));
    check_stats(h, 0, 1, 0, 0, 0);
    host_unroot(h, id);
    host_minor(h);
    check_stats(h, 0, 1, 0, 0, 0);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    host_major(h);
    check_stats(h, 0, 0, 0, 0, 1);
    host_close(h);
}

/* A major collection without a minor one before it asks about youth as well. */
static void young_links_may_survive_a_major_as_young(void)
{
    host_options options = { .stays_young = 1 };
    host *h = host_open(&options);
    size_t id = host_rooted(h, HOST_YOUNG), old = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_given(h, P, id, FULL);

    ob_given(h, P, old, FULL);
    host_major(h);
    check(host_in_nursery(h, id));
    check_stats(h, 1, 1, 0, 0, 0);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    host_unroot(h, id);
    host_minor(h);
    check(!host_is_alive(h, id));
    check_stats(h, 0, 1, 0, 0, 1);
    host_close(h);
}

/* A light ob that C holds when p dies is an ordinary object afterwards. */
static void a_light_ob_held_from_c_becomes_ordinary(void)
{
    int generation;

    for (generation = 0; generation < 2; generation++) {
        host *h = host_open(NULL);
        size_t id = host_new(h, generation ? HOST_OLD : HOST_YOUNG);
        rrc_object *ob = ob_shared(h, O, id, LIGHT_OB);

        rrc_incref(h->heap, ob);
        host_minor(h);
        host_major(h);
        check_int(REFCNT(ob), 2);
        check_ptr(RRC_LINK(ob), NULL);
        check_int(host_stats(h).pending, 0);
        rrc_decref(h->heap, ob);
        check_int(h->freed, 0);
        rrc_decref(h->heap, ob);
        check_int(h->freed, 1);
        host_close(h);
    }
}

/* A light ob of P kind held from C keeps p, like a full one. */
static void a_light_p_link_keeps_p(void)
{
    host *h = host_open(NULL);
    size_t id = host_new(h, HOST_YOUNG);
    rrc_object *ob = ob_shared(h, P, id, LIGHT_OB);

    host_minor(h);
    host_major(h);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), LIGHT);
    host_minor(h);
    check(host_is_alive(h, id));
    host_major(h);
    check(!host_is_alive(h, id));
    check_int(h->freed, 1);
    host_close(h);
}

/* Collect at each point where a host may, with everything moving. */
static void a_story_under_stress(void)
{
    static const host_options hosts[] = {
        { .stress = 1 },
        { .stress = 1, .moving = HOST_PERMUTE, .reuse = 1, .stays_young = 1 },
        { .stress = 1, .without_generations = 1, .moving = HOST_PERMUTE },
        { .stress = 1, .reuse = 1, .eager = 1, .stays_young = 2 },
    };
    size_t i, n;

    for (i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        host *h = host_open(&hosts[i]);
        size_t list = HOST_NOTHING, ids[40];
        rrc_object *view[40];

        unit_context("host %u", (unsigned)i);
        for (n = 0; n < 40; n++) {
            ids[n] = host_rooted(h, n % 7 == 3 ? HOST_LARGE : n % 5 == 4 ? HOST_OLD : HOST_YOUNG);
            if (list != HOST_NOTHING) {
                host_point(h, ids[n], 0, list);
                host_unroot(h, list);
            }
            list = ids[n];
            host_safepoint(h);
            view[n] = n % 3 == 0 ? ob_shared(h, P, list, FULL) : ob_given(h, P, list, FULL);
            NODE(view[n])->tag = (int)n;
            host_safepoint(h);
            ob_given(h, O, list, n % 2 == 0 ? LIGHT_OB : FULL);
            host_safepoint(h);
        }
        for (n = 0; n < 40; n++) {
            check(host_is_alive(h, ids[n]));
            check_ptr(rrc_from_obj(h->heap, host_at(h, ids[n])), view[n]);
            check_ptr(rrc_to_obj(h->heap, view[n]), host_at(h, ids[n]));
            check_int(NODE(view[n])->tag, (int)n);
            check_int(REFCNT(view[n]), BIAS + (n % 3 == 0));
            host_safepoint(h);
        }
        host_unroot(h, list);
        for (n = 40; n-- > 0;) {
            host_safepoint(h);
            host_major(h);
            check_int(host_is_alive(h, ids[n]), n % 3 == 0);
            if (n % 3 == 0)
                rrc_decref(h->heap, view[n]);
            rrc_run_pending(h->heap, 1);
        }
        host_major(h);
        rrc_run_pending(h->heap, 0);
        check_int(h->deallocs, 60);
        check_int(h->freed, 80);
        host_close(h);
    }
}

static const rrc_member owned[] = { { "ref[0]", offsetof(node, ref) }, { NULL, 0 } };
static const rrc_type Owner = { .tp_name = "Owner", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                .tp_members = owned };

static void ignore(void *arg, const char *text, size_t size) { (void)arg, (void)text, (void)size; }

static size_t proxy_of(host *h, rrc_object *ob, int has_state)
{
    size_t id = host_rooted(h, HOST_YOUNG);

    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_O), RRC_OK);
    if (has_state)
        host_give_state(h, id);
    host_unroot(h, id);
    return id;
}

/* A proxy with state of its own lives while C holds its ob: itself, by a tracked object, or as one that is. (Only a
   macro can say that it has state.) */
static void proxies_with_state(void)
{
    int has_state, searches;

    for (has_state = 0; has_state < 1 + HOST_MACROS; has_state++)
        for (searches = 0; searches < 2; searches++) {
            host *h = host_open(NULL);
            static STATIC_OB(fixed, &Node);
            rrc_object *held = ob_new(h, &Node), *owner = rrc_gc_new(h->heap, &Owner);
            rrc_object *child = rrc_gc_new(h->heap, &Owner), *leaf = ob_new(h, &Plain);
            size_t id[5];
            int i;

            unit_context("has state %d, searches %d", has_state, searches);
            id[0] = proxy_of(h, held, has_state);
            id[1] = proxy_of(h, owner, has_state);
            id[2] = proxy_of(h, child, has_state);
            id[3] = proxy_of(h, leaf, has_state);
            id[4] = proxy_of(h, STATIC_PTR(fixed), has_state);
            NODE(owner)->ref[0] = child;
            NODE(child)->ref[0] = leaf;
            check_int(rrc_gc_track(h->heap, owner), RRC_OK);
            check_int(rrc_gc_track(h->heap, child), RRC_OK);
            if (!searches)
                rrc_gc_disable(h->heap);
            check_int(rrc_dump_dot(h->heap, host_insight(h), ignore, NULL), RRC_OK);
            host_minor(h);
            host_major(h);
            host_major(h);
            for (i = 0; i < 5; i++)
                check_int(host_is_alive(h, id[i]), has_state);
            rrc_gc_enable(h->heap);
            rrc_decref(h->heap, held);
            rrc_decref(h->heap, owner);
            host_major(h);
            rrc_run_pending(h->heap, 0);
            host_major(h);
            rrc_run_pending(h->heap, 0);
            for (i = 0; i < 4; i++)
                check_int(host_is_alive(h, id[i]), 0);
            if (RRC_LINK(STATIC_PTR(fixed)) != NULL)
                check_int(rrc_unlink(h->heap, STATIC_PTR(fixed)), RRC_OK);
            host_close(h);
        }
}

UNIT_GROUP(scenarios,
    UNIT(proxies_with_state),
    UNIT(all_of_a_young_p),
    UNIT(all_of_an_old_p),
    UNIT(all_of_a_large_p),
    UNIT(all_of_a_large_old_p),
    UNIT(all_of_a_prebuilt_p),
    UNIT(a_young_p_dies_in_the_minor),
    UNIT(the_right_one_dies),
    UNIT(held_from_c_keeps_what_p_reaches),
    UNIT(an_ob_gets_a_new_proxy),
    UNIT(an_owned_ob_outlives_its_p),
    UNIT(order_of_links_does_not_matter),
    UNIT(survivors_may_stay_young),
    UNIT(young_links_may_survive_a_major_as_young),
    UNIT(a_light_ob_held_from_c_becomes_ordinary),
    UNIT(a_light_p_link_keeps_p),
    UNIT(a_story_under_stress));
