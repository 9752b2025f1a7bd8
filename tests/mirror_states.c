/* Each function in each state of a heap whose host is closed: states.h. What only a host that
 * drives its heap can bring about is missing: minor collections, and the time between the trace
 * and the free function of a major one. */

#include "mirror_programs.h"
#include "states.h"

#include <stdio.h>
#include <string.h>

enum { SPOTS = 40, SLICES_BEFORE_WEIGHING = 5 };

/* The host: nothing dies. */
typedef struct spots {
    states_cast *c;
    int used;
    short spot[SPOTS];
    const char *wanted;             /* the hook that calls */
    size_t triggers, logged;
    states_item last;
} spots;

#define SPOTS_OF(c) ((spots *)(c)->host)

static void *new_spot(spots *s)
{
    check(s->used < SPOTS);
    return &s->spot[s->used++];
}

static void hook(spots *s, const char *name)
{
    if (s->wanted != NULL && strcmp(s->wanted, name) == 0)
        states_call(s->c);
}

static int is_live(void *userdata, const rrc_cell *c, int may_defer)
{
    (void)may_defer;
    check(c->object != NULL);
    hook((spots *)userdata, "is_live");
    return 1;
}

static int pin(void *userdata, rrc_cell *c, int on)
{
    check(c->object != NULL);
    hook((spots *)userdata, "pin");
    return on;
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    (void)ob, (void)n;
    hook((spots *)userdata, "new_node");
    return new_spot((spots *)userdata);
}

static int write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    (void)targets;
    check(node->is_node);
    hook((spots *)userdata, n > 0 ? "write_node" : "write_node without targets");
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    (void)userdata;
    check(proxy->ob == node->ob && !proxy->is_node && node->is_node);
}

static void trigger(void *userdata) { ((spots *)userdata)->triggers++; }

static void write_log(void *userdata, const rrc_log_item *item)
{
    spots *s = (spots *)userdata;

    s->logged++;
    s->last.code = item->code;
    snprintf(s->last.function, sizeof s->last.function, "%s", item->function);
    snprintf(s->last.detail, sizeof s->last.detail, "%s", item->detail);
    hook(s, "log");
}

static size_t triggers(states_cast *c) { return SPOTS_OF(c)->triggers; }

static size_t logged(states_cast *c, states_item *last)
{
    *last = SPOTS_OF(c)->last;
    return SPOTS_OF(c)->logged;
}

/* The function of a collection that this host may call: it does nothing. */
static int collect(states_cast *c) { return rrc_major_collection_pause(c->heap); }

/* ---- how a heap comes into each state ---- */

static void step(states_cast *c) { check_int(rrc_closed_step(c->heap), RRC_OK); }

static void after_a_step(states_cast *c)
{
    step(c);
    states_call(c);
}

/* In each of these slices the objects of C are being weighed. */
static void between_slices(states_cast *c)
{
    int i;

    for (i = 0; i < SLICES_BEFORE_WEIGHING; i++)
        check_int(rrc_closed_work(c->heap, 1), 1);
    states_call(c);
}

static void call_in(states_cast *c, const char *name, void (*function)(states_cast *c))
{
    SPOTS_OF(c)->wanted = name;
    function(c);
    SPOTS_OF(c)->wanted = NULL;
}

static void in_is_live(states_cast *c) { call_in(c, "is_live", step); }

/* A step makes a node for a new object, and writes it. */
static void in_making(states_cast *c, const char *name)
{
    rrc_object *owner = states_thing(c);

    rrc_incref(c->heap, c->linked);
    states_own(owner, c->linked);
    /* (These two are refused, and logged, but by no gate: mirror_hooks.c and mirror_reentry.c call them.) */
    if (strcmp(c->function->name, "rrc_heap_free") != 0 && strcmp(c->function->name, "rrc_gc_resize") != 0) {
        c->state = STATE_LAYER_RUNS;
        call_in(c, name, step);
    } else {
        c->calls++;
    }
    c->state = STATE_MUTATOR;
    rrc_decref(c->heap, owner);
}

static void in_new_node(states_cast *c) { in_making(c, "new_node"); }
static void in_write_node(states_cast *c) { in_making(c, "write_node"); }

/* A view that only the host's graph keeps becomes strong. */
static void take_a_reference(states_cast *c)
{
    rrc_incref(c->heap, c->linked);
    rrc_decref(c->heap, c->linked);
}

static void in_pin(states_cast *c)
{
    rrc_decref(c->heap, c->linked);
    step(c);
    check(RRC_REFCNT(c->linked) < 0);
    call_in(c, "pin", take_a_reference);
    rrc_incref(c->heap, c->linked);
}

static void untrack(states_cast *c) { rrc_gc_untrack(c->heap, c->knot); }

static void in_forgetting(states_cast *c)
{
    call_in(c, "write_node without targets", untrack);
    check_int(rrc_gc_track(c->heap, c->knot), RRC_OK);
}

static void unlink_plain(states_cast *c) { check_int(rrc_unlink(c->heap, c->plain), RRC_EUNLINKED); }

static void in_log(states_cast *c)
{
    c->in_log = 1;
    call_in(c, "log", unlink_plain);
}

static void in_slot(states_cast *c, void (*function)(states_cast *c))
{
    rrc_object *ob = states_probe(c);

    c->slot = "tp_traverse";
    function(c);
    c->slot = NULL;
    rrc_decref(c->heap, ob);
}

static void do_check(states_cast *c) { check_int(rrc_check(c->heap), RRC_OK); }

/* A check of the heap, and a step, visit a ring that waits as garbage. */
static void in_traverse_of_check(states_cast *c) { in_slot(c, do_check); }
static void in_traverse_of_step(states_cast *c) { in_slot(c, step); }

/* The end of the heap follows. */
static void in_free_of_light_at_the_end(states_cast *c)
{
    check_int(rrc_cell_link(c->heap, new_spot(SPOTS_OF(c)), states_probe(c), RRC_O | RRC_GIVE | RRC_LIGHT), RRC_OK);
    c->slot = "tp_free";
}

static void at_the_end(states_cast *c, const char *slot)
{
    step(c);
    states_probe_ring(c);
    c->slot = slot;
}

static void in_traverse_at_the_end(states_cast *c) { at_the_end(c, "tp_traverse"); }
static void in_finalize_at_the_end(states_cast *c) { at_the_end(c, "tp_finalize"); }
static void in_dealloc_at_the_end(states_cast *c) { at_the_end(c, "tp_dealloc"); }

static void in_husk(states_cast *c)
{
    c->state = STATE_MUTATOR;           /* to begin with */
    step(c);
    c->has_ended = 1;
    check_int(rrc_heap_free(c->heap), 2);
    c->state = STATE_HUSK;
    states_call(c);
}

static const struct row {
    const char *name;
    states_state state;
    void (*bring)(states_cast *c);
    states_state base;
} rows[] = {
    { "before the first step", STATE_MUTATOR, states_call, STATE_MUTATOR },
    { "after a step", STATE_MUTATOR, after_a_step, STATE_MUTATOR },
    { "between two slices of a step", STATE_LAYER_RESTS, between_slices, STATE_MUTATOR },
    { "is_live in a step", STATE_HOOK, in_is_live, STATE_LAYER_RUNS },
    { "new_node in a step", STATE_LAYER_RUNS, in_new_node, STATE_MUTATOR },
    { "write_node in a step", STATE_LAYER_RUNS, in_write_node, STATE_MUTATOR },
    { "pin in rrc_incref", STATE_HOOK, in_pin, STATE_MUTATOR },
    { "write_node in rrc_gc_untrack", STATE_HOOK, in_forgetting, STATE_MUTATOR },
    { "the log hook", STATE_HOOK, in_log, STATE_MUTATOR },
    { "a tp_traverse in rrc_check", STATE_LOOK, in_traverse_of_check, STATE_MUTATOR },
    { "a tp_traverse in a step", STATE_LOOK, in_traverse_of_step, STATE_LAYER_RUNS },
    { "a tp_free in rrc_heap_free", STATE_ENDING, in_free_of_light_at_the_end, STATE_MUTATOR },
    { "a tp_traverse in rrc_heap_free", STATE_MAJOR, in_traverse_at_the_end, STATE_MUTATOR },
    { "a tp_finalize in rrc_heap_free", STATE_ENDING, in_finalize_at_the_end, STATE_MUTATOR },
    { "a tp_dealloc in rrc_heap_free", STATE_ENDING, in_dealloc_at_the_end, STATE_MUTATOR },
    { "after rrc_heap_free", STATE_HUSK, in_husk, STATE_MUTATOR },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void call_from(const struct row *from, const states_function *function)
{
    spots s;
    states_cast c;
    rrc_desc desc;
    rrc_closed_desc closed;

    memset(&s, 0, sizeof s);
    memset(&c, 0, sizeof c);
    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    s.c = &c;
    desc.userdata = &s;
    closed.pin = pin;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    closed.is_live = is_live;
    desc.dealloc_trigger = trigger;
    desc.log = write_log;
    c.heap = rrc_closed_new(&desc, &closed);
    check(c.heap != NULL);
    c.is_mirrored = 1;
    c.host = &s;
    c.function = function;
    c.state = STATE_MUTATOR;
    c.collect = collect;
    c.triggers = triggers;
    c.logged = logged;
    c.linked_p = new_spot(&s);
    c.knot_p = new_spot(&s);
    c.free_p = new_spot(&s);
    states_set(&c);
    c.knot_node = rrc_cell_keep_node(c.heap, c.knot, new_spot(&s));
    check(c.knot_node != NULL);
    states_probed = &c;
    c.state = from->state;
    c.base = from->base;
    c.place = from->name;
    unit_context("%s from %s", function->name, from->name);
    from->bring(&c);
    if (from->state < STATE_ENDING && c.slot == NULL && c.state != STATE_HUSK) {
        rrc_run_pending(c.heap, 0);
        step(&c);
        check_int(rrc_check(c.heap), RRC_OK);
    }
    c.has_ended = 1;
    if (c.state != STATE_HUSK)
        rrc_heap_free(c.heap);
    check(c.calls > 0);
    c.state = STATE_HUSK;
    c.slot = NULL;
    states_let_go(&c);
    states_probed = NULL;
}

static void each_function_in_each_state(void)
{
    int from, what;

    for (from = 0; from < ROWS; from++)
        for (what = 0; what < states_function_count; what++)
            call_from(&rows[from], &states_functions[what]);
}

UNIT_GROUP(mirror_states, UNIT(each_function_in_each_state));
