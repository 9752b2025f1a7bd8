/* What may happen around a collection, and while deallocs wait for its end. (What each
 * function does in each state is in test_states.c.) */

#include "objects.h"

/* One object waits in the queue. */
static host *with_one_waiting(void)
{
    host *h = host_open(NULL);
    size_t dead = host_new(h, HOST_YOUNG);

    ob_given(h, O, dead, FULL);
    host_minor(h);
    check_int(host_stats(h).pending, 1);
    return h;
}

/* A last reference that goes inside a collection: the dealloc waits. */
static void a_dealloc_waits_for_the_end_of_the_collection(void)
{
    host *h = with_one_waiting();
    rrc_object *ob = ob_new(h, &Final);

    host_minor_begin(h);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs + h->finalized, 0);
    host_minor_end(h);
    check_int(h->deallocs + h->finalized, 0);
    check_int(host_stats(h).pending, 2);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    check_int(rrc_run_pending(h->heap, 0), 2);
    check_int(h->finalized, 1);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* A trace call may come again before its free call. */
static void trace_may_be_repeated(void)
{
    host_options options = { .repeat_trace = 3 };
    host *h = host_open(&options);
    size_t id = host_new(h, HOST_YOUNG);
    rrc_object *ob = ob_shared(h, P, id, FULL);

    host_minor(h);
    check_int(h->calls.trace, 4);
    host_major(h);
    check_int(h->calls.trace, 8);
    check_int(host_stats(h).minor_collections, 1);
    check_int(host_stats(h).major_collections, 1);
    rrc_decref(h->heap, ob);
    host_close(h);
}

/* The trigger may run what is pending at once. */
static void run_all(host *h)
{
    check_int(rrc_run_pending(h->heap, 0), 1);
    rrc_invoke_callback(h->heap);
}

static void the_trigger_may_run_what_is_pending(void)
{
    host *h = with_one_waiting();

    h->on_trigger = run_all;
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    check_int(h->deallocs, 1);
    rrc_invoke_callback(h->heap);
    check_int(h->calls.trigger, 1);
    host_close(h);
}

/* A major collection inside a dealloc: the mutator is anywhere. */
static void collect_now(host *h, rrc_object *ob)
{
    (void)ob;
    h->on_dealloc = NULL;
    host_minor(h);
    host_major(h);
}

static void a_dealloc_may_collect(void)
{
    host *h = host_open(NULL);
    size_t a = host_new(h, HOST_OLD), b = host_rooted(h, HOST_YOUNG), c = host_new(h, HOST_YOUNG);
    rrc_object *survivor = ob_given(h, P, b, FULL);

    host_root(h, c);
    ob_given(h, O, a, FULL);
    ob_given(h, P, c, FULL);
    host_major(h);
    host_unroot(h, c);
    check_int(host_stats(h).pending, 1);
    h->on_dealloc = collect_now;
    check_int(rrc_run_pending(h->heap, 0), 2);
    check(!host_is_alive(h, c));
    check_int(h->deallocs, 2);
    check_ptr(rrc_from_obj(h->heap, host_at(h, b)), survivor);
    host_close(h);
}

UNIT_GROUP(phases,
    UNIT(a_dealloc_waits_for_the_end_of_the_collection),
    UNIT(trace_may_be_repeated),
    UNIT(the_trigger_may_run_what_is_pending),
    UNIT(a_dealloc_may_collect));
