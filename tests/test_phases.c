/* Each function in each phase: where it does not belong it says so, and has
 * changed nothing. */

#include "objects.h"

#include <string.h>

/* A heap with something of everything, whose state can be compared. */
typedef struct scene {
    host *h;
    size_t linked_id, proxy_id, free_id;
    rrc_object *linked, *proxied, *unlinked, *fresh, *waiting;
    rrc_stats stats;
    intptr_t counts[5];
    rrc_gcref refs[5];
} scene;

static void scene_note(scene *s)
{
    rrc_object *obs[5];
    int i;

    obs[0] = s->linked;
    obs[1] = s->proxied;
    obs[2] = s->unlinked;
    obs[3] = s->fresh;
    obs[4] = s->waiting;
    for (i = 0; i < 5; i++) {
        s->counts[i] = REFCNT(obs[i]);
        s->refs[i] = RRC_LINK(obs[i]);
    }
    s->stats = host_stats(s->h);
}

static scene scene_new(void)
{
    scene s;
    size_t dead;

    memset(&s, 0, sizeof s);
    s.h = host_open(NULL);
    dead = host_new(s.h, HOST_YOUNG);
    s.waiting = ob_given(s.h, O, dead, FULL);
    host_minor(s.h);
    s.linked_id = host_rooted(s.h, HOST_YOUNG);
    s.linked = ob_shared(s.h, P, s.linked_id, FULL);
    s.proxy_id = host_rooted(s.h, HOST_OLD);
    s.proxied = ob_shared(s.h, O, s.proxy_id, FULL);
    s.free_id = host_rooted(s.h, HOST_YOUNG);
    s.unlinked = ob_new(s.h, &Node);
    s.fresh = ob_new(s.h, &Leaf);
    scene_note(&s);
    return s;
}

static void scene_check_unchanged(const scene *before)
{
    scene now = *before;

    scene_note(&now);
    check(memcmp(now.counts, before->counts, sizeof now.counts) == 0);
    check(memcmp(now.refs, before->refs, sizeof now.refs) == 0);
    check(memcmp(&now.stats, &before->stats, sizeof now.stats) == 0);
    check_int(before->h->deallocs + before->h->freed, 0);
}

static void scene_end(scene *s)
{
    rrc_decref(s->h->heap, s->linked);
    rrc_decref(s->h->heap, s->proxied);
    rrc_decref(s->h->heap, s->unlinked);
    rrc_decref(s->h->heap, s->fresh);
    host_close(s->h);
}

/* The functions of the mutator. */
static void try_mutator(scene *s, int code)
{
    rrc_heap *heap = s->h->heap;
    rrc_gcref p = host_at(s->h, s->free_id);

    check_int(rrc_create_link_pypy(heap, p, s->unlinked), code);
    host_expect_log(s->h, code, "rrc_create_link_pypy");
    check_int(rrc_create_link_pyobj(heap, p, s->unlinked), code);
    host_expect_log(s->h, code, "rrc_create_link_pyobj");
    check_int(rrc_unlink(heap, s->linked), code);
    host_expect_log(s->h, code, "rrc_unlink");
    rrc_mark_deallocating(heap, p, s->unlinked);
    host_expect_log(s->h, code, "rrc_mark_deallocating");
    check_ptr(rrc_from_obj(heap, host_at(s->h, s->linked_id)), NULL);
    rrc_invoke_callback(heap);
    host_expect_log(s->h, code, "rrc_invoke_callback");
    check_int(s->h->calls.trigger, 0);
    check_ptr(rrc_next_dead(heap), NULL);
    host_expect_log(s->h, code, "rrc_next_dead");
    check_int(rrc_run_pending(heap, 0), 0);
    host_expect_log(s->h, code, "rrc_run_pending");
    check_int(rrc_check(heap), code);
    host_expect_log(s->h, code, "rrc_check");
    check(rrc_heap_free(heap) == SIZE_MAX);
    host_expect_log(s->h, code, "rrc_heap_free");
    check_ptr(rrc_new(heap, &Node), NULL);
    host_expect_log(s->h, code, "rrc_new");
    check_ptr(rrc_new_var(heap, &Node, 0), NULL);
    host_expect_log(s->h, code, "rrc_new_var");
    host_expect_silence(s->h);
    scene_check_unchanged(s);
}

static void try_free_functions(scene *s, int minor, int major)
{
    if (minor) {
        check_int(rrc_minor_collection_free(s->h->heap), RRC_EPHASE);
        host_expect_log(s->h, RRC_EPHASE, "rrc_minor_collection_free");
    }
    if (major) {
        check_int(rrc_major_collection_free(s->h->heap), RRC_EPHASE);
        host_expect_log(s->h, RRC_EPHASE, "rrc_major_collection_free");
    }
    scene_check_unchanged(s);
}

static void free_needs_its_trace(void)
{
    scene s = scene_new();

    try_free_functions(&s, 1, 1);
    check_int(rrc_check(s.h->heap), RRC_OK);
    scene_end(&s);
}

static void nothing_of_the_mutator_in_a_minor(void)
{
    scene s = scene_new();

    host_minor_begin(s.h);
    try_mutator(&s, RRC_EPHASE);
    try_free_functions(&s, 0, 1);
    check_int(rrc_major_collection_trace(s.h->heap), RRC_EPHASE);
    host_expect_log(s.h, RRC_EPHASE, "rrc_major_collection_trace");
    host_minor_end(s.h);
    check_ptr(rrc_from_obj(s.h->heap, host_at(s.h, s.linked_id)), s.linked);
    scene_end(&s);
}

static void nothing_of_the_mutator_in_a_major(void)
{
    scene s = scene_new();

    host_major_begin(s.h);
    try_mutator(&s, RRC_EPHASE);
    try_free_functions(&s, 1, 0);
    check_int(rrc_minor_collection_trace(s.h->heap), RRC_EPHASE);
    host_expect_log(s.h, RRC_EPHASE, "rrc_minor_collection_trace");
    host_major_end(s.h);
    check_ptr(rrc_from_obj(s.h->heap, host_at(s.h, s.linked_id)), s.linked);
    scene_end(&s);
}

/* Counts may change at any time, stats may be read, an object may be deleted. */
static void what_is_legal_at_any_time(void)
{
    scene s = scene_new();
    rrc_object *spare = ob_new(s.h, &Node);
    int major;

    for (major = 0; major < 2; major++) {
        if (major)
            host_major_begin(s.h);
        else
            host_minor_begin(s.h);
        rrc_incref(s.h->heap, s.unlinked);
        check_int(REFCNT(s.unlinked), 2);
        rrc_decref(s.h->heap, s.unlinked);
        check_int(REFCNT(s.unlinked), 1);
        check_ptr(rrc_userdata(s.h->heap), s.h);
        check_int(host_stats(s.h).pending, 1);
        check_int(rrc_check_config(s.h->heap), RRC_OK);
        check_str(rrc_version(), RRC_VERSION);
        if (!major)
            rrc_del(s.h->heap, spare);
        host_expect_silence(s.h);
        if (major)
            host_major_end(s.h);
        else
            host_minor_end(s.h);
    }
    scene_end(&s);
}

/* A last reference that goes inside a collection: the dealloc waits. */
static void a_dealloc_waits_for_the_end_of_the_collection(void)
{
    scene s = scene_new();
    rrc_object *ob = ob_new(s.h, &Final);

    host_minor_begin(s.h);
    rrc_decref(s.h->heap, ob);
    check_int(s.h->deallocs + s.h->finalized, 0);
    host_minor_end(s.h);
    check_int(s.h->deallocs + s.h->finalized, 0);
    check_int(host_stats(s.h).pending, 2);
    rrc_invoke_callback(s.h->heap);
    check_int(s.h->calls.trigger, 1);
    check_int(rrc_run_pending(s.h->heap, 0), 2);
    check_int(s.h->finalized, 1);
    check_int(s.h->deallocs, 2);
    scene_end(&s);
}

/* From inside each hook, the mutator's functions are refused. */
static void call_back(host *h, const char *hook)
{
    scene *s = (scene *)h->test;

    if (h->phase == HOST_MUTATOR)
        return;
    (void)hook;
    h->on_hook = NULL;
    check_int(rrc_create_link_pyobj(h->heap, s, s->unlinked), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_create_link_pyobj");
    check_int(rrc_run_pending(h->heap, 0), 0);
    host_expect_log(h, RRC_EPHASE, "rrc_run_pending");
    check(rrc_heap_free(h->heap) == SIZE_MAX);
    host_expect_log(h, RRC_EPHASE, "rrc_heap_free");
    check_int(rrc_minor_collection_free(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_minor_collection_free");
    check_int(rrc_major_collection_free(h->heap), RRC_EPHASE);
    host_expect_log(h, RRC_EPHASE, "rrc_major_collection_free");
    h->on_hook = call_back;
}

static void hooks_cannot_call_back(void)
{
    scene s = scene_new();

    s.h->test = &s;
    s.h->on_hook = call_back;
    host_minor(s.h);
    host_major(s.h);
    host_move(s.h);
    s.h->on_hook = NULL;
    check(s.h->calls.trace > 0 && s.h->calls.survivor > 0 && s.h->calls.is_young > 0);
    host_expect_silence(s.h);
    scene_end(&s);
}

/* The log says what is going on, or what is missing. */
static const char *detail_of(host *h, int code)
{
    check_int(code, RRC_EPHASE);
    return host_expect_log(h, RRC_EPHASE, NULL)->detail;
}

static void say_from_a_hook(host *h, const char *hook)
{
    scene *s = (scene *)h->test;

    h->on_hook = NULL;
    if (h->phase == HOST_MUTATOR) {
        if (HOST_DEBUG)
            check_str(detail_of(h, rrc_unlink(h->heap, s->linked)),
                      "called from a hook, a tp_traverse or a writeproc");
    } else {
        check_str(detail_of(h, rrc_unlink(h->heap, s->linked)), "called from inside a function of a collection");
        check_str(detail_of(h, rrc_minor_collection_free(h->heap)), "called from inside a function of a collection");
    }
    (void)hook;
}

static void say_from_a_dealloc(host *h, rrc_object *ob)
{
    h->on_dealloc = NULL;
    check_str(detail_of(h, rrc_unlink(h->heap, ob)), "rrc_heap_free is running");
}

static void the_log_says_why(void)
{
    scene s = scene_new();
    host *h = s.h;

    check_str(detail_of(h, rrc_minor_collection_free(h->heap)), "the trace function of this collection must come first");
    h->test = &s;
    h->on_hook = say_from_a_hook;
    host_minor_begin(h);
    check(h->on_hook == NULL);
    check_str(detail_of(h, rrc_unlink(h->heap, s.linked)), "a minor collection is going on");
    check_str(detail_of(h, rrc_major_collection_free(h->heap)), "a minor collection is going on");
    host_minor_end(h);
    host_major_begin(h);
    check_str(detail_of(h, rrc_unlink(h->heap, s.linked)), "a major collection is going on");
    check_str(detail_of(h, rrc_minor_collection_free(h->heap)), "a major collection is going on");
    host_major_end(h);
    h->on_hook = say_from_a_hook;
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, s.free_id), s.unlinked), RRC_OK);
    check(h->on_hook == NULL);
    REFCNT(s.unlinked) += BIAS;
    host_expect_silence(h);
    h->on_dealloc = say_from_a_dealloc;
    scene_end(&s);
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
    scene s = scene_new();

    s.h->on_trigger = run_all;
    rrc_invoke_callback(s.h->heap);
    check_int(s.h->calls.trigger, 1);
    check_int(s.h->deallocs, 1);
    rrc_invoke_callback(s.h->heap);
    check_int(s.h->calls.trigger, 1);
    scene_end(&s);
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
    UNIT(free_needs_its_trace),
    UNIT(nothing_of_the_mutator_in_a_minor),
    UNIT(nothing_of_the_mutator_in_a_major),
    UNIT(what_is_legal_at_any_time),
    UNIT(a_dealloc_waits_for_the_end_of_the_collection),
    UNIT(hooks_cannot_call_back),
    UNIT(the_log_says_why),
    UNIT(trace_may_be_repeated),
    UNIT(the_trigger_may_run_what_is_pending),
    UNIT(a_dealloc_may_collect));
