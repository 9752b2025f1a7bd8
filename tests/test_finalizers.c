/* tp_finalize: once for each drop to zero, on a whole object, which it may
 * resurrect. */

#include "objects.h"

static rrc_object *final(host *h, int tag)
{
    rrc_object *ob = ob_new(h, &Final);

    NODE(ob)->tag = tag;
    return ob;
}

static rrc_object *buried_final(host *h)
{
    rrc_object *ob = final(h, 0);
    size_t finalized = h->finalized;

    ob_link(h, O, host_new(h, HOST_OLD), ob, FULL);
    rrc_decref(h->heap, ob);
    host_major(h);
    check_int(h->finalized, finalized);
    return ob;
}

static void it_runs_once_before_the_dealloc(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = final(h, 1), *owner = ob_new(h, &Node);

    rrc_incref(h->heap, ob);
    rrc_decref(h->heap, ob);
    check_int(h->finalized, 0);
    NODE(owner)->ref[1] = ob;
    rrc_decref(h->heap, owner);
    check_int(h->finalized, 1);
    check_int(h->deallocs, 2);
    buried_final(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->finalized, 2);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* References taken and dropped inside it are nothing special. */
static void take_and_drop(host *h, rrc_object *ob)
{
    int i;

    for (i = 0; i < 3; i++)
        rrc_incref(h->heap, ob);
    for (i = 0; i < 3; i++)
        rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), 1);
}

static void it_may_take_and_drop_references(void)
{
    host *h = host_open(NULL);

    h->on_finalize = take_and_drop;
    rrc_decref(h->heap, final(h, 1));
    check_int(h->finalized, 1);
    check_int(h->deallocs, 1);
    host_close(h);
}

static void resurrect(host *h, rrc_object *ob)
{
    if (h->test == NULL) {
        rrc_incref(h->heap, ob);
        h->test = ob;
    }
}

static void resurrection_leaves_the_dealloc_out(void)
{
    int from_queue;

    for (from_queue = 0; from_queue < 2; from_queue++) {
        host *h = host_open(NULL);
        rrc_object *ob;

        h->on_finalize = resurrect;
        if (from_queue) {
            ob = buried_final(h);
            check_int(rrc_run_pending(h->heap, 0), 1);
        } else {
            ob = final(h, 1);
            rrc_decref(h->heap, ob);
        }
        check_ptr(h->test, ob);
        check_int(h->finalized, 1);
        check_int(h->deallocs, 0);
        check_int(REFCNT(ob), 1);
        check_int(host_stats(h).pending, 0);
        check_int(rrc_check(h->heap), RRC_OK);
        rrc_decref(h->heap, ob);
        check_int(h->finalized, 2);
        check_int(h->deallocs, 1);
        host_close(h);
    }
}

/* Resurrected into the arms of a new p. */
static void link_again(host *h, rrc_object *ob)
{
    if (h->finalized < 3)
        ob_link(h, h->finalized == 1 ? O : P, host_new(h, HOST_YOUNG), ob, FULL);
}

static void it_may_link_its_object(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = final(h, 1);

    h->on_finalize = link_again;
    rrc_decref(h->heap, ob);
    check_int(REFCNT(ob), BIAS);
    check_int(h->finalized, 1);
    host_minor(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->finalized, 2);
    check_int(h->deallocs, 0);
    check_int(REFCNT(ob), BIAS);
    check_stats(h, 1, 0, 0, 0, 0);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_int(h->finalized, 3);
    check_int(h->deallocs, 1);
    host_close(h);
}

static void collect(host *h, rrc_object *ob)
{
    (void)ob;
    host_minor(h);
    host_major(h);
    check_int(rrc_run_pending(h->heap, 0), 0);
}

static void it_may_collect(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *survivor = ob_given(h, P, id, FULL);

    buried_final(h);
    ob_given(h, O, host_new(h, HOST_YOUNG), FULL);
    h->on_finalize = collect;
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), survivor);
    rrc_decref(h->heap, final(h, 2));
    check_int(h->finalized, 2);
    host_close(h);
}

/* Nested deeper than is done at once, each finalizer still runs once, and each
   resurrects or not by itself. */
static void resurrect_every_third(host *h, rrc_object *ob)
{
    if (NODE(ob)->tag % 3 == 0 && NODE(ob)->tag > 0) {
        rrc_object **kept = (rrc_object **)h->test;

        kept[NODE(ob)->tag / 3] = ob;
        rrc_incref(h->heap, ob);
    }
}

static void each_of_a_chain_decides_for_itself(void)
{
    host *h = host_open(NULL);
    rrc_object *kept[110] = { NULL };
    rrc_object *first = ob_chain(h, &Final, 320);
    int i;

    h->test = kept;
    h->on_finalize = resurrect_every_third;
    rrc_decref(h->heap, first);
    check_int(h->deallocs, 1);              /* 319; then 318 was kept */
    for (i = 106; i >= 1; i--) {
        check(kept[i] != NULL);
        check_int(REFCNT(kept[i]), 1);
        first = kept[i];
        NODE(first)->tag = -1;
        rrc_decref(h->heap, first);
    }
    check_int(h->deallocs, 320);
    check_int(h->finalized, 320 + 106);
    host_close(h);
}

/* A finalizer links its object, or somebody links what waits, and the bias is forgotten:
   it is put in, as the host needs the object. */
static void link_without_a_bias(host *h, rrc_object *ob)
{
    h->on_finalize = NULL;
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, 0), ob), RRC_OK);
}

static void a_bias_that_a_finalizer_forgets(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_OLD), dead = host_new(h, HOST_OLD), other = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_new(h, &Final), *waiting = ob_given(h, O, dead, FULL);

    h->on_finalize = link_without_a_bias;
    rrc_decref(h->heap, ob);
    host_expect_log(h, RRC_EREFCNT, "rrc_decref");
    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
    host_major(h);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, other), waiting), RRC_OK);
    check_int(rrc_run_pending(h->heap, 0), 1);
    host_expect_log(h, RRC_EREFCNT, "rrc_decref");
    check_int(REFCNT(waiting), BIAS);
    check_int(h->deallocs, 0);
    host_close(h);
}

/* In a dealloc the count is 0. Code that it calls may take and drop references. */
static int held_where;

static void hold_for_a_while(host *h, rrc_object *ob)
{
    int i;

    for (i = 0; i < 3; i++) {
        rrc_incref(h->heap, ob);
        check_int(REFCNT(ob), 1);
        rrc_touch(h->heap, ob);
        if (held_where == 1)
            host_major(h);
        if (held_where == 2)
            rrc_run_pending(h->heap, 0);
        if (held_where == 3) {
            check_int(rrc_create_link_pypy(h->heap, host_at(h, 0), ob), RRC_OK);
            REFCNT(ob) += BIAS;
            check_int(rrc_unlink(h->heap, ob), RRC_OK);
        }
        rrc_incref(h->heap, ob);
        rrc_decref(h->heap, ob);
        rrc_decref(h->heap, ob);
        check_int(REFCNT(ob), 0);
        check_int(rrc_check(h->heap), RRC_OK);
    }
}

/* Also where deallocs are nested so deeply that they are put off, and in the queue. */
static void a_dealloc_may_hold_its_object(void)
{
    enum { CHAIN = 200 };
    rrc_object *ob, *next;
    int i;

    for (held_where = 0; held_where < 4; held_where++) {
        host *h = host_open(NULL);

        unit_context("way %d", held_where);
        host_rooted(h, HOST_OLD);
        h->on_dealloc = hold_for_a_while;
        for (next = NULL, i = 0; i < CHAIN; i++, next = ob) {
            ob = ob_new(h, &Node);
            NODE(ob)->ref[0] = next;
        }
        rrc_decref(h->heap, next);
        check_int(h->deallocs, CHAIN);
        ob_given(h, O, host_new(h, HOST_OLD), FULL);
        host_major(h);
        check_int(rrc_run_pending(h->heap, 0), 1);
        check_int(h->deallocs, CHAIN + 1);
        host_close(h);
    }
}

/* What is at the address of an object that its dealloc has freed is another object. */
static const rrc_type *type_of_heirs;
static rrc_object *heir;

static void dealloc_and_make_another(rrc_heap *heap, rrc_object *self)
{
    host *h = HOST(heap);

    h->deallocs++;
    if (h->deallocs > 2)
        return;
    rrc_del(heap, self);
    heir = rrc_new(heap, type_of_heirs);
    rrc_decref(heap, heir);
}

static void an_object_at_the_same_address(void)
{
    static const rrc_type Heir = { .tp_name = "Heir", .tp_basicsize = sizeof(rrc_object) + 64,
                                   .tp_dealloc = dealloc_and_make_another };
    host *h = host_open(NULL);

    type_of_heirs = &Heir;
    rrc_decref(h->heap, rrc_new(h->heap, &Heir));
    check_int(h->deallocs, 3);          /* the third one, in the second one's, is not freed */
    rrc_del(h->heap, heir);
    host_close(h);
}

/* It may link its object for a while. */
static void link_for_a_while(host *h, rrc_object *ob)
{
    ob_link(h, P, 0, ob, FULL);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
}

static void a_dealloc_may_link_its_object(void)
{
    host *h = host_open(NULL);

    host_rooted(h, HOST_OLD);
    h->on_dealloc = link_for_a_while;
    rrc_decref(h->heap, ob_new(h, &Node));
    check_int(h->deallocs, 1);
    check_int(rrc_run_pending(h->heap, 0), 0);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* Without a tp_dealloc, the tp_members are dropped: their deallocs can use the owner. */
static rrc_object *the_owner;
static int owners_freed;

static void use_the_owner(host *h, rrc_object *ob)
{
    (void)ob;
    rrc_incref(h->heap, the_owner);
    rrc_decref(h->heap, the_owner);
}

static void free_the_owner(rrc_heap *heap, void *self)
{
    owners_freed++;
    rrc_del(heap, self);
}

/* Drop an owner whose member, when it goes, does something with it. */
static host *with_a_dropped_owner(void (*on_dealloc)(host *h, rrc_object *ob))
{
    static const rrc_member members[] = { { "left", offsetof(node, ref) }, { NULL, 0 } };
    static const rrc_type Owner = { .tp_name = "Owner", .tp_basicsize = sizeof(node), .tp_members = members,
                                    .tp_free = free_the_owner };
    host *h = host_open(NULL);

    the_owner = rrc_new(h->heap, &Owner);
    NODE(the_owner)->ref[0] = ob_new(h, &Node);
    h->on_dealloc = on_dealloc;
    owners_freed = 0;
    rrc_decref(h->heap, the_owner);
    return h;
}

static void the_owner_is_used_while_its_members_go(void)
{
    host *h = with_a_dropped_owner(use_the_owner);

    check_int(owners_freed, 1);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* It is not freed as long as a reference is left. */
static void hold_for_ever(host *h, rrc_object *ob)
{
    h->on_dealloc = NULL;
    rrc_incref(h->heap, ob);
}

static void a_dealloc_that_keeps_a_reference(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    h->on_dealloc = hold_for_ever;
    rrc_decref(h->heap, ob);
    host_expect_log(h, RRC_EREFCNT, "rrc_del");
    check_int(REFCNT(ob), 1);
    rrc_decref(h->heap, ob);            /* so its dealloc runs again */
    check_int(h->deallocs, 2);
    host_close(h);
}

static void hold_the_owner(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_dealloc = NULL;
    rrc_incref(h->heap, the_owner);
}

/* The same without a tp_dealloc: tp_free, which may release more than the memory, is not called either. */
static void the_owner_is_taken_while_its_members_go(void)
{
    host *h = with_a_dropped_owner(hold_the_owner);

    host_expect_log(h, RRC_EREFCNT, "rrc_del");
    check_int(owners_freed, 0);
    check_int(REFCNT(the_owner), 1);
    rrc_decref(h->heap, the_owner);
    check_int(owners_freed, 1);
    host_close(h);
}

UNIT_GROUP(finalizers,
    UNIT(a_bias_that_a_finalizer_forgets),
    UNIT(a_dealloc_may_hold_its_object), UNIT(an_object_at_the_same_address),
           UNIT(a_dealloc_may_link_its_object), UNIT(the_owner_is_used_while_its_members_go),
           UNIT(a_dealloc_that_keeps_a_reference), UNIT(the_owner_is_taken_while_its_members_go),
    UNIT(it_runs_once_before_the_dealloc),
    UNIT(it_may_take_and_drop_references),
    UNIT(resurrection_leaves_the_dealloc_out),
    UNIT(it_may_link_its_object),
    UNIT(it_may_collect),
    UNIT(each_of_a_chain_decides_for_itself));
