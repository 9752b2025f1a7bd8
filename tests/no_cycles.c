/* A build with RRC_NO_CYCLES: links, the rule, generations, the queue and counted objects are as in others, and what
 * needs the search for cycles is refused. Arguments: as those of suite.c. */

#include "objects.h"

#include <string.h>

extern const unit_group links, phases, finalizers, unlinking, demotion, queue, movement, invariants;

/* ---- what is refused ---- */

static const rrc_type Tracked = { .tp_name = "Tracked", .tp_basicsize = sizeof(node),
                                  .tp_flags = RRC_TPFLAGS_HAVE_GC };
static const rrc_type OwnTracked = { .tp_name = "OwnTracked", .tp_flags = RRC_TPFLAGS_HAVE_GC };

static intptr_t nobody(rrc_heap *heap, rrc_object *self)
{
    (void)heap, (void)self;
    return 0;
}

static const rrc_type Wrapper = { .tp_name = "Wrapper", .tp_basicsize = sizeof(node), .tp_outside = nobody };
static const rrc_type OwnWrapper = { .tp_name = "OwnWrapper", .tp_outside = nobody };

static void expect_cure(host *h, const char *function)
{
    check(strstr(host_expect_log(h, RRC_ETYPE, function)->detail, "RRC_NO_CYCLES") != NULL);
}

static void types_that_need_the_search(void)
{
    host *h = host_open(NULL);
    static STATIC_OB(own, NULL);
    rrc_object *ob = STATIC_PTR(own);
    rrc_gcref p = host_at(h, host_rooted(h, HOST_OLD));

    check_ptr(rrc_new(h->heap, &Tracked), NULL);
    expect_cure(h, "rrc_new");
    check_ptr(rrc_new(h->heap, &Wrapper), NULL);
    expect_cure(h, "rrc_new");
    check_ptr(rrc_new_var(h->heap, &Tracked, 1), NULL);
    expect_cure(h, "rrc_new_var");
    REFCNT(ob) = 1;
    RRC_TYPE(ob) = &OwnWrapper;
    check_int(rrc_link(h->heap, p, ob, RRC_P), RRC_ETYPE);
    expect_cure(h, "rrc_link");
    RRC_TYPE(ob) = &OwnTracked;
    check_int(rrc_link(h->heap, p, ob, RRC_O), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_link");
    check_int(REFCNT(ob), 1);
    check_ptr(RRC_LINK(ob), NULL);
    host_close(h);
}

static void hosts_in_slices(void)
{
    host *h = host_open(NULL);
    rrc_desc desc;

    host_describe(h, &desc);
    desc.incremental = 1;
    check_ptr(rrc_heap_new(&desc), NULL);
    check(strstr(host_expect_log(h, RRC_EDESC, "rrc_heap_new")->detail, "RRC_NO_CYCLES") != NULL);
    host_close(h);
}

/* ---- what is promised all the same ---- */

/* A ring through both heaps stays as long as the heap does. Then both objects go, as nobody in C holds them. */
static void a_ring_stays_to_the_end(void)
{
    host *h = host_open(NULL);
    size_t a = host_rooted(h, HOST_OLD), b = host_rooted(h, HOST_OLD);
    rrc_object *x = ob_shared(h, P, a, FULL), *y = ob_given(h, P, b, FULL);

    NODE(y)->ref[0] = x;                /* b's object owns a's, and a refers to b */
    host_point(h, a, 0, b);
    host_unroot(h, a);
    host_unroot(h, b);
    host_major(h);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 2);
    host_end(h);
}

/* The host's graph still gives the order of the end: an owner goes before what it owns through the host, whichever was
   made first. */
static char gone[8];

static void note_gone(host *h, rrc_object *ob)
{
    (void)h;
    gone[strlen(gone)] = (char)('0' + NODE(ob)->tag);
}

static const char *order_of_two(int order, int owner_is_older)
{
    host_options options = { .order = order };
    host *h = host_open(&options);
    size_t owned = host_rooted(h, HOST_OLD), through = host_new(h, HOST_OLD);
    rrc_object *ob, *owner, *inner = ob_shared(h, P, through, FULL);

    owner = owner_is_older ? ob_given(h, O, host_rooted(h, HOST_OLD), FULL) : NULL;
    ob = ob_given(h, O, owned, FULL);
    owner = owner != NULL ? owner : ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
    NODE(owner)->tag = 1;
    NODE(inner)->tag = 2;
    NODE(ob)->tag = 3;
    NODE(owner)->ref[0] = inner;        /* owner -> inner -> through -> owned -> ob */
    host_point(h, through, 0, owned);
    memset(gone, 0, sizeof gone);
    h->on_dealloc = note_gone;
    check_int(host_free_heap(h), 0);
    check_int(h->deallocs, 3);
    host_end(h);
    return gone;
}

static void owners_go_first_through_the_host(void)
{
    check_str(order_of_two(0, 0), "132");
    check_str(order_of_two(0, 1), "132");
    check_str(order_of_two(1, 1), "312");       /* (without mark_from_c it is that of the list) */
}

static void hooks_count_as_before(void)
{
    host *h = host_open(NULL);
    size_t id = host_new(h, HOST_OLD);
    rrc_object *ob = ob_shared(h, P, id, FULL);

    host_major(h);
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    rrc_decref(h->heap, ob);
    host_major(h);
    check_int(host_stats(h).pending, 1);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    host_close(h);
}

UNIT_GROUP(no_cycles,
    UNIT(types_that_need_the_search),
    UNIT(hosts_in_slices),
    UNIT(a_ring_stays_to_the_end),
    UNIT(owners_go_first_through_the_host),
    UNIT(hooks_count_as_before));

static const unit_group *const groups[] = {
    &no_cycles, &links, &phases, &finalizers, &unlinking, &demotion, &queue, &movement, &invariants
};

int main(int argc, char **argv)
{
    return unit_main(argc, argv, groups, sizeof groups / sizeof groups[0]);
}
