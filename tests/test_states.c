/* Each function in each state of a heap whose host drives it: states.h. */

#include "objects.h"
#include "states.h"

#include <stdio.h>
#include <string.h>

#define HOST_OF(c) ((host *)(c)->host)

static states_cast *hooked;             /* whose host's hooks call */
static const char *hooked_in;           /* ... in this one, */
static host_phase hooked_phase;         /* ... in this phase */

static void in_hook(host *h, const char *name)
{
    if (strcmp(name, hooked_in) == 0 && h->phase == hooked_phase)
        states_call(hooked);
}

static void in_host(host *h) { (void)h, states_call(hooked); }

static void call_in(states_cast *c, const char *hook, host_phase phase)
{
    hooked = c;
    hooked_in = hook;
    hooked_phase = phase;
    HOST_OF(c)->on_hook = in_hook;
}

/* ---- the host's part of the functions of collections ---- */

static int is_function(const states_cast *c, const char *name) { return strcmp(c->function->name, name) == 0; }

/* Begun again, in the middle of a collection. */
static int trace_again(host *h, host_phase phase, int (*function)(rrc_heap *heap))
{
    host_phase was = h->phase;
    int code;

    h->phase = phase;
    code = function(h->heap);
    h->phase = was;
    return code;
}

static int collect(states_cast *c)
{
    host *h = HOST_OF(c);
    size_t minor = host_stats(h).minor_collections, major = host_stats(h).major_collections;

    if (is_function(c, "rrc_links_moved")) {
        host_move(h);
    } else if (is_function(c, "rrc_major_collection_pause")) {
        host_phase was = h->phase;

        check_int(rrc_major_collection_pause(h->heap), RRC_OK);
        h->slices = 0;
        h->phase = HOST_MUTATOR;
        check_int(rrc_check(h->heap), RRC_OK);
        h->phase = was;
        if (c->state == STATE_MARKING || c->state == STATE_OPEN)
            return trace_again(h, HOST_MAJOR_TRACE, rrc_major_collection_trace);
    } else if (is_function(c, "rrc_minor_collection_trace")) {
        if (c->state == STATE_COPYING)
            return trace_again(h, HOST_MINOR_TRACE, rrc_minor_collection_trace);
        host_minor(h);
        check_int(host_stats(h).minor_collections, minor + 1);
    } else if (is_function(c, "rrc_minor_collection_free")) {
        host_minor_end(h);
        check_int(host_stats(h).minor_collections, minor + 1);
    } else if (is_function(c, "rrc_major_collection_start")) {
        int code = rrc_major_collection_start(h->heap);

        h->slices = code == RRC_OK && c->state != STATE_ENDING;
        return code;
    } else if (is_function(c, "rrc_major_collection_keep") && c->state == STATE_SWEEPING) {
        return rrc_major_collection_keep(h->heap);
    } else if (is_function(c, "rrc_major_collection_free") && c->state == STATE_SWEEPING) {
        host_major(h);
        check_int(host_stats(h).major_collections, major + 1);
    } else if (is_function(c, "rrc_major_collection_keep")) {
        int code;

        if (h->options.early != 0) {    /* the search is open */
            check_int(rrc_major_collection_keep(h->heap), RRC_EPHASE);
            h->log_count--;
            return RRC_OK;
        }
        code = trace_again(h, HOST_MAJOR_TRACE, rrc_major_collection_keep);
        check_int(rrc_major_collection_trace(h->heap), RRC_EPHASE);
        h->log_count--;
        return code;
    } else if (is_function(c, "rrc_major_collection_free") || is_function(c, "rrc_major_collection_sweep")) {
        h->sweeps = is_function(c, "rrc_major_collection_sweep");
        host_major_end(h);
        check_int(host_stats(h).major_collections, major + 1);
    } else {
        int early = is_function(c, "rrc_major_collection_trace_early");

        if (c->state == STATE_MARKING || c->state == STATE_OPEN)
            return trace_again(h, HOST_MAJOR_TRACE,
                               early ? rrc_major_collection_trace_early : rrc_major_collection_trace);
        h->options.early = early;
        host_major(h);
        check_int(host_stats(h).major_collections, major + 1);
    }
    return RRC_OK;
}

static size_t triggers(states_cast *c) { return HOST_OF(c)->calls.trigger; }

static size_t logged(states_cast *c, states_item *last)
{
    host *h = HOST_OF(c);
    const host_log *log = &h->log[(h->log_count + 31) % (sizeof h->log / sizeof h->log[0])];

    last->code = log->code;
    snprintf(last->function, sizeof last->function, "%s", log->function);
    snprintf(last->detail, sizeof last->detail, "%s", log->detail);
    return h->log_count;
}

/* ---- how a heap comes into each state ---- */

/* A hook of the host calls while the host runs `collection`. */
static void call_during(states_cast *c, const char *hook, host_phase phase, void (*collection)(host *h))
{
    call_in(c, hook, phase);
    collection(HOST_OF(c));
}

static void in_trace_of_minor(states_cast *c) { call_during(c, "trace", HOST_MINOR_TRACE, host_minor); }
static void in_free_of_minor(states_cast *c) { call_during(c, "survivor", HOST_MINOR_FREE, host_minor); }
static void in_is_young_of_minor(states_cast *c) { call_during(c, "is_young", HOST_MINOR_FREE, host_minor); }
static void in_trace_of_major(states_cast *c) { call_during(c, "trace", HOST_MAJOR_TRACE, host_major); }
static void in_free_of_major(states_cast *c) { call_during(c, "survivor", HOST_MAJOR_FREE, host_major); }
static void in_is_young_of_major(states_cast *c) { call_during(c, "is_young", HOST_MAJOR_FREE, host_major); }
static void in_propagate(states_cast *c) { call_during(c, "propagate", HOST_MAJOR_TRACE, host_major); }
static void in_links_moved(states_cast *c) { call_during(c, "survivor", HOST_MAJOR_FREE, host_move); }

static void in_a_minor(states_cast *c)
{
    host_minor_begin(HOST_OF(c));
    states_call(c);
    if (HOST_OF(c)->phase != HOST_MUTATOR)
        host_minor_end(HOST_OF(c));
}

static void link_to(states_cast *c, size_t id, rrc_object *ob, int kind)
{
    check_int(rrc_link(c->heap, host_at(HOST_OF(c), id), ob, kind), RRC_OK);
    host_note_link(HOST_OF(c), id);
}

/* The search asks whether a proxy that nobody but the host holds is alive. */
static void in_survivor_of_trace(states_cast *c)
{
    host *h = HOST_OF(c);

    link_to(c, host_rooted(h, HOST_OLD), states_probe(c), RRC_O | RRC_GIVE);
    h->options.reports_marks = 0;
    call_in(c, "survivor", HOST_MAJOR_TRACE);
    host_major(h);
}

/* A host that marks on after its trace call reports a proxy: what its ob owns is traced. */
static void in_trace_of_report(states_cast *c)
{
    host *h = HOST_OF(c);
    size_t p = host_new(h, HOST_OLD), view = host_new(h, HOST_OLD), root = host_rooted(h, HOST_OLD);
    rrc_object *ob = states_thing(c), *owned = states_thing(c);

    host_point(h, root, 0, p);
    link_to(c, view, owned, RRC_P);
    states_own(ob, owned);
    link_to(c, p, ob, RRC_O | RRC_GIVE);
    h->options.early = 3;
    host_major_begin(h);
    h->phase = HOST_MAJOR_TRACE;
    call_in(c, "trace", HOST_MAJOR_TRACE);
    rrc_marked_ob(h->heap, ob);
    h->phase = HOST_MAJOR_PLAN;
    host_major_end(h);
}

static void in_a_major(states_cast *c)
{
    host_major_begin(HOST_OF(c));
    states_call(c);
    if (HOST_OF(c)->phase != HOST_MUTATOR)
        host_major_end(HOST_OF(c));
}

static void in_an_early_major(states_cast *c)
{
    HOST_OF(c)->options.early = 1;
    in_a_major(c);
}

/* The same if slices have begun it. */
static void in_an_early_end_of_slices(states_cast *c)
{
    host *h = HOST_OF(c);

    h->options.early = 1;
    host_start(h);
    check(rrc_major_collection_work(h->heap, 3) >= 3);
    host_major_begin(h);
    states_call(c);
    if (is_function(c, "rrc_major_collection_trace")) {     /* it was a verdict */
        h->slices = 2;
        host_major_keep(h);
    }
    if (h->phase != HOST_MUTATOR)
        host_major_end(h);
}

/* A slot of an object calls while `function` runs. */
static void in_slot(states_cast *c, const char *slot, void (*function)(states_cast *c))
{
    rrc_object *ob = states_probe(c);

    c->slot = slot;
    function(c);
    c->slot = NULL;
    rrc_decref(c->heap, ob);
}

static void do_major(states_cast *c) { host_major(HOST_OF(c)); }
static void do_collect(states_cast *c) { rrc_gc_collect(c->heap); }
static void do_check(states_cast *c) { check_int(rrc_check(c->heap), RRC_OK); }
static void in_traverse(states_cast *c) { in_slot(c, "tp_traverse", do_major); }
static void in_traverse_without_host(states_cast *c) { in_slot(c, "tp_traverse", do_collect); }
static void in_traverse_of_check(states_cast *c) { in_slot(c, "tp_traverse", do_check); }

/* An object that is freed as soon as its p dies. */
static void give_light(states_cast *c)
{
    rrc_object *ob = states_probe(c);

    link_to(c, host_new(HOST_OF(c), HOST_LARGE), ob, RRC_O | RRC_GIVE | RRC_LIGHT);
    c->slot = "tp_free";
}

static void in_free_of_light_in_minor(states_cast *c)
{
    give_light(c);
    host_minor(HOST_OF(c));
}

static void in_free_of_light_in_major(states_cast *c)
{
    give_light(c);
    host_major(HOST_OF(c));
}

static void do_link(states_cast *c)
{
    check_int(rrc_link(c->heap, c->free_p, c->fresh, RRC_O), RRC_OK);
    check_int(rrc_unlink(c->heap, c->fresh), RRC_OK);
}

static void in_is_young(states_cast *c)
{
    call_in(c, "is_young", HOST_MUTATOR);
    do_link(c);
}

#if HOST_SLOT
static void in_the_slot_hook(states_cast *c)
{
    rrc_object *ob = states_probe(c);

    call_in(c, "slot", HOST_MUTATOR);
    link_to(c, host_new(HOST_OF(c), HOST_OLD), ob, RRC_P | RRC_GIVE);
}
#endif

static void in_realloc_in_a_major(states_cast *c)
{
    give_light(c);
    c->slot = NULL;
    host_major_begin(HOST_OF(c));
    hooked = c;
    HOST_OF(c)->on_realloc = in_host;
    host_major_end(HOST_OF(c));
    HOST_OF(c)->on_realloc = NULL;
}

static void in_realloc(states_cast *c)
{
    rrc_object *ob;

    hooked = c;
    HOST_OF(c)->on_realloc = in_host;
    ob = rrc_gc_new(c->heap, &StatesProbe);
    HOST_OF(c)->on_realloc = NULL;
    rrc_decref(c->heap, ob);
}

static void in_log(states_cast *c)
{
    host *h = HOST_OF(c);

    hooked = c;
    c->in_log = 1;
    h->on_log = in_host;
    check_int(rrc_unlink(c->heap, c->plain), RRC_EUNLINKED);
    h->on_log = NULL;
}

static void write_text(void *arg, const char *text, size_t size)
{
    (void)text, (void)size;
    states_call((states_cast *)arg);
}

static void ignore_text(void *arg, const char *text, size_t size) { (void)arg, (void)text, (void)size; }

static void at_the_end_of_work(host *h, const char *function, size_t done, size_t total)
{
    (void)function, (void)done, (void)total;
    h->on_progress = NULL;
    states_call(hooked);
}

static void in_progress(states_cast *c)
{
    hooked = c;
    HOST_OF(c)->on_progress = at_the_end_of_work;
    check_int(rrc_dump_dot(c->heap, host_insight(HOST_OF(c)), ignore_text, NULL), RRC_OK);
}

static void in_writeproc(states_cast *c) { check_int(rrc_explain(c->heap, NULL, c->linked, write_text, c), RRC_OK); }

/* What garbage owns is kept. */
static void with_keep(states_cast *c, void (*keep)(host *h))
{
    host *h = HOST_OF(c);

    host_major_begin(h);
    keep(h);
    if (c->state == STATE_KEPT)
        states_call(c);
    if (h->phase != HOST_MUTATOR)
        host_major_end(h);
}

static void after_keep(states_cast *c) { with_keep(c, host_major_keep); }

/* Garbage that owns a view of garbage. */
static void own_a_view(states_cast *c)
{
    host *h = HOST_OF(c);
    rrc_object *owner = states_thing(c), *view = states_thing(c);

    link_to(c, host_new(h, HOST_OLD), view, RRC_P);
    states_own(owner, view);
    link_to(c, host_new(h, HOST_OLD), owner, RRC_O | RRC_GIVE);
}

static void keep_in_hook(host *h)
{
    h->on_hook = in_hook;
    host_major_keep(h);
    h->on_hook = NULL;
}

static void in_trace_of_keep(states_cast *c)
{
    own_a_view(c);
    hooked = c;
    hooked_in = "trace";
    hooked_phase = HOST_MAJOR_TRACE;
    with_keep(c, keep_in_hook);
}

static void in_survivor_of_keep(states_cast *c)
{
    own_a_view(c);
    HOST_OF(c)->options.reports_marks = 0;
    hooked = c;
    hooked_in = "survivor";
    hooked_phase = HOST_MAJOR_TRACE;
    with_keep(c, keep_in_hook);
}

static void keep_a_link(states_cast *c)
{
    host *h = HOST_OF(c);
    size_t p = host_new(h, HOST_OLD), q = host_new(h, HOST_OLD);
    rrc_object *owner = states_thing(c), *view = states_thing(c), *proxied = states_thing(c);

    /* owner -> view P q -> p O proxied: p is kept for owner. */
    link_to(c, q, view, RRC_P);
    states_own(owner, view);
    link_to(c, host_new(h, HOST_OLD), owner, RRC_O | RRC_GIVE);
    link_to(c, p, proxied, RRC_O | RRC_GIVE);
    host_point(h, q, 0, p);
    h->options.keeps = 1;
    host_major(h);
}

/* The mutator runs while a major collection is marking in slices. */
static void in_slices(states_cast *c)
{
    host_start(HOST_OF(c));
    check_int(rrc_major_collection_work(c->heap, 3) >= 3, 1);
    states_call(c);
    if (c->state != STATE_HUSK && HOST_OF(c)->slices != 0)
        host_major(HOST_OF(c));
}

/* ... and while one is sweeping. */
static void after_the_verdict(states_cast *c)
{
    host_start(HOST_OF(c));
    host_pronounce(HOST_OF(c));
    states_call(c);
    if (c->state != STATE_HUSK && HOST_OF(c)->slices != 0)
        host_major(HOST_OF(c));
}

static void with_a_kept_link(states_cast *c)
{
    keep_a_link(c);
    states_call(c);
}

static void in_parted(states_cast *c)
{
    keep_a_link(c);
    call_in(c, "parted", HOST_MUTATOR);
    rrc_run_pending(c->heap, 0);
}

/* The end of the heap follows. */
static void in_free_of_light_at_the_end(states_cast *c) { give_light(c); }

static void in_slot_at_the_end(states_cast *c, const char *slot)
{
    states_probe_ring(c);
    c->slot = slot;
}

static void in_traverse_at_the_end(states_cast *c) { in_slot_at_the_end(c, "tp_traverse"); }
static void in_finalize_at_the_end(states_cast *c) { in_slot_at_the_end(c, "tp_finalize"); }
static void in_clear_at_the_end(states_cast *c) { in_slot_at_the_end(c, "tp_clear"); }
static void in_dealloc_at_the_end(states_cast *c) { in_slot_at_the_end(c, "tp_dealloc"); }

static void in_dealloc_of_linked(states_cast *c)
{
    rrc_object *ob = states_probe(c);

    link_to(c, host_new(HOST_OF(c), HOST_OLD), ob, RRC_O | RRC_GIVE);
    c->slot = "tp_dealloc";
}

static void in_husk(states_cast *c)
{
    c->state = STATE_MUTATOR;           /* to begin with */
    check_int(host_free_heap(HOST_OF(c)), 2);
    c->state = STATE_HUSK;
    states_call(c);
}

static const struct row {
    const char *name;
    states_state state;
    void (*bring)(states_cast *c);
} rows[] = {
    { "the mutator", STATE_MUTATOR, states_call },
    { "is_young for a new link", STATE_HOOK, in_is_young },
#if HOST_SLOT
    { "slot for a new link", STATE_HOOK, in_the_slot_hook },
#endif
    { "realloc", STATE_HOOK, in_realloc },
    { "the log hook", STATE_HOOK, in_log },
    { "a tp_traverse in rrc_check", STATE_LOOK, in_traverse_of_check },
    { "a writeproc", STATE_LOOK, in_writeproc },
    { "the progress hook", STATE_LOOK, in_progress },
    { "trace in a minor collection", STATE_MINOR, in_trace_of_minor },
    { "survivor in a minor collection", STATE_MINOR, in_free_of_minor },
    { "is_young in a minor collection", STATE_MINOR, in_is_young_of_minor },
    { "a tp_free in a minor collection", STATE_MINOR, in_free_of_light_in_minor },
    { "between trace and free of a minor collection", STATE_COPYING, in_a_minor },
    { "trace in a major collection", STATE_MAJOR, in_trace_of_major },
    { "survivor in a major collection", STATE_MAJOR, in_free_of_major },
    { "is_young in a major collection", STATE_MAJOR, in_is_young_of_major },
    { "propagate", STATE_MAJOR, in_propagate },
    { "survivor in the marking", STATE_MAJOR, in_survivor_of_trace },
    { "trace after a report", STATE_MAJOR, in_trace_of_report },
    { "realloc in a major collection", STATE_MAJOR, in_realloc_in_a_major },
    { "survivor in rrc_links_moved", STATE_MAJOR, in_links_moved },
    { "a tp_traverse in a major collection", STATE_MAJOR, in_traverse },
    { "a tp_traverse in rrc_gc_collect", STATE_MAJOR, in_traverse_without_host },
    { "a tp_free in a major collection", STATE_MAJOR, in_free_of_light_in_major },
    { "between trace and free of a major collection", STATE_MARKING, in_a_major },
    { "between trace and free of an early major collection", STATE_OPEN, in_an_early_major },
    { "between trace and free of an early major collection in slices", STATE_OPEN, in_an_early_end_of_slices },
    { "between keep and free of a major collection", STATE_KEPT, after_keep },
    { "trace in rrc_major_collection_keep", STATE_MAJOR, in_trace_of_keep },
    { "survivor in rrc_major_collection_keep", STATE_MAJOR, in_survivor_of_keep },
    { "with garbage that has kept its link", STATE_MUTATOR, with_a_kept_link },
    { "in a major collection in slices", STATE_STARTED, in_slices },
    { "between the verdict and the sweep", STATE_SWEEPING, after_the_verdict },
    { "parted in rrc_run_pending", STATE_HOOK, in_parted },
    { "a tp_free in rrc_heap_free", STATE_ENDING, in_free_of_light_at_the_end },
    { "a tp_traverse in rrc_heap_free", STATE_MAJOR, in_traverse_at_the_end },
    { "a tp_finalize in rrc_heap_free", STATE_ENDING, in_finalize_at_the_end },
    { "a tp_clear in rrc_heap_free", STATE_ENDING, in_clear_at_the_end },
    { "a tp_dealloc in rrc_heap_free", STATE_ENDING, in_dealloc_at_the_end },
    { "the tp_dealloc of a linked object in rrc_heap_free", STATE_ENDING, in_dealloc_of_linked },
    { "after rrc_heap_free", STATE_HUSK, in_husk },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void each_state_is_reached(void)
{
    int state, i;

    for (state = 0; state < STATE_COUNT; state++) {
        if (state == STATE_LAYER_RESTS || state == STATE_LAYER_RUNS)
            continue;                   /* mirror_states.c has these */
        for (i = 0; i < ROWS && (int)rows[i].state != state; i++)
            ;
        if (i == ROWS)
            unit_fail(__FILE__, __LINE__, "no row is about %s", states_names[state]);
    }
}

static void call_from(const struct row *from, const states_function *function)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY, .incremental = 1, .progresses = 1 };
    host *h = host_open(&options);
    states_cast c;
    size_t id;

    memset(&c, 0, sizeof c);
    c.host = h;
    c.heap = h->heap;
    c.function = function;
    c.state = STATE_MUTATOR;
    c.collect = collect;
    c.triggers = triggers;
    c.logged = logged;
    id = host_rooted(h, HOST_LARGE);
    c.linked_p = host_at(h, id);
    host_note_link(h, id);
    id = host_rooted(h, HOST_OLD);
    c.knot_p = host_at(h, id);
    host_note_link(h, id);
    c.free_p = host_at(h, host_rooted(h, HOST_OLD));
    states_set(&c);
    states_probed = &c;
    c.state = from->state;
    c.place = from->name;
    unit_context("%s from %s", function->name, from->name);
    from->bring(&c);
    h->on_hook = NULL;
    if (from->state < STATE_ENDING && c.slot == NULL && c.state != STATE_HUSK) {
        rrc_run_pending(c.heap, 0);
        check_int(rrc_check(c.heap), RRC_OK);
    }
    if (c.state != STATE_HUSK)
        host_free_heap(h);
    check(c.calls > 0);
    c.state = STATE_HUSK;
    c.slot = NULL;
    h->closed = 1;
    states_let_go(&c);
    states_probed = NULL;
    h->log_read = h->log_count;
    host_end(h);
}

static void each_function_in_each_state(void)
{
    int from, what;

    for (from = 0; from < ROWS; from++)
        for (what = 0; what < states_function_count; what++)
            call_from(&rows[from], &states_functions[what]);
}

UNIT_GROUP(states, UNIT(each_state_is_reached), UNIT(each_function_in_each_state));
