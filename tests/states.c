#include "states.h"

#include <stdio.h>
#include <string.h>

#ifdef RRC_DEBUG
#define IS_DEBUG 1
#else
#define IS_DEBUG 0
#endif

typedef struct thing {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *ref[2];
} thing;

#define THING(ob) ((thing *)(void *)(ob))

/* ---- types ---- */

states_cast *states_probed;

static void probe(const char *slot)
{
    if (states_probed != NULL && states_probed->slot != NULL && strcmp(states_probed->slot, slot) == 0)
        states_call(states_probed);
}

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(THING(self)->ref[0]);
    RRC_VISIT(THING(self)->ref[1]);
    return 0;
}

static int thing_clear(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, THING(self)->ref[0]);
    RRC_CLEAR(heap, THING(self)->ref[1]);
    return 0;
}

static void thing_dealloc(rrc_heap *heap, rrc_object *self)
{
    thing_clear(heap, self);
    rrc_gc_del(heap, self);
}

static int probe_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    probe("tp_traverse");
    return thing_traverse(self, visit, arg);
}

static int probe_clear(rrc_heap *heap, rrc_object *self)
{
    probe("tp_clear");
    return thing_clear(heap, self);
}

static void probe_finalize(rrc_heap *heap, rrc_object *self) { (void)heap, (void)self, probe("tp_finalize"); }

static void probe_dealloc(rrc_heap *heap, rrc_object *self)
{
    probe("tp_dealloc");
    thing_clear(heap, self);
    RRC_TYPE(self)->tp_free(heap, self);
}

static void probe_free(rrc_heap *heap, void *self)
{
    probe("tp_free");
    rrc_gc_del(heap, self);
}

static const rrc_type Bare = { .tp_name = "Bare", .tp_basicsize = sizeof(thing) };
static const rrc_type Var = { .tp_name = "Var", .tp_basicsize = sizeof(thing), .tp_itemsize = 8 };
static const rrc_type Thing = {
    .tp_name = "Thing", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_dealloc = thing_dealloc,
};
static const rrc_type GcVar = {
    .tp_name = "GcVar", .tp_basicsize = sizeof(thing), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC,
};
const rrc_type StatesProbe = {
    .tp_name = "Probe", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_traverse = probe_traverse, .tp_clear = probe_clear, .tp_finalize = probe_finalize,
    .tp_dealloc = probe_dealloc, .tp_free = probe_free,
};

static rrc_object *tracked(states_cast *c, const rrc_type *type)
{
    rrc_object *ob = rrc_gc_new(c->heap, type);

    check(ob != NULL);
    check_int(rrc_gc_track(c->heap, ob), RRC_OK);
    return ob;
}

static void tie(states_cast *c, const rrc_type *type)
{
    rrc_object *a = tracked(c, type), *b = tracked(c, type);

    THING(a)->ref[0] = b;
    THING(b)->ref[0] = a;
}

rrc_object *states_probe(states_cast *c) { return tracked(c, &StatesProbe); }
rrc_object *states_thing(states_cast *c) { return tracked(c, &Thing); }
void states_own(rrc_object *owner, rrc_object *ob) { THING(owner)->ref[0] = ob; }
void states_probe_ring(states_cast *c) { tie(c, &StatesProbe); }

/* In a closed heap *p is an object of the host to begin with, and then a cell. */
static void link(states_cast *c, rrc_gcref *p, rrc_object *ob, int kind)
{
#ifdef TEST_CLOSED
    if (c->is_mirrored) {
        check_int(rrc_cell_link(c->heap, *p, ob, kind), RRC_OK);
        *p = rrc_cell_of(c->heap, ob);
        return;
    }
#endif
    check_int(rrc_link(c->heap, *p, ob, kind), RRC_OK);
}

void states_set(states_cast *c)
{
    rrc_object *waiting = rrc_new(c->heap, &Bare);

    link(c, &c->free_p, waiting, RRC_O | RRC_GIVE);
    check_int(rrc_unlink(c->heap, waiting), RRC_OK);        /* (this keeps a cell) */
    c->linked = rrc_new(c->heap, &Bare);
    link(c, &c->linked_p, c->linked, RRC_P);
    c->knot = tracked(c, &Thing);
    link(c, &c->knot_p, c->knot, RRC_O);
    c->plain = rrc_new(c->heap, &Bare);
    c->fresh = rrc_new(c->heap, &Bare);
    c->weak = rrc_weakref_new(c->heap, c->plain, NULL, NULL);
    check(c->weak != NULL);
    c->loose = rrc_gc_new(c->heap, &Thing);
    c->var = rrc_gc_new_var(c->heap, &GcVar, 1);
    c->spare = rrc_new(c->heap, &Bare);
    c->spare_gc = rrc_gc_new(c->heap, &Thing);
    tie(c, &Thing);
}

void states_let_go(states_cast *c)
{
    rrc_object *held[8];
    int i;

    held[0] = c->linked, held[1] = c->knot, held[2] = c->plain, held[3] = c->fresh;
    held[4] = c->loose, held[5] = c->var, held[6] = c->spare, held[7] = c->spare_gc;
    rrc_weakref_free(c->heap, c->weak);
    for (i = 0; i < 8; i++)
        if (held[i] != NULL)
            rrc_decref(c->heap, held[i]);
}

/* ---- the calls ----
   Each makes its call with good arguments, and takes back what it did where that can be. */

#define CALL(function) static states_answer call_##function(states_cast *c, int works)

static states_answer answer(int code, int worked)
{
    states_answer given;

    given.code = code;
    given.worked = worked;
    return given;
}

/* The answer of a function without a code. */
static states_answer says(int worked) { return answer(STATES_NO_CODE, worked); }

/* ... and of one that made an object, or did not. */
static states_answer made(states_cast *c, rrc_object *ob)
{
    if (ob != NULL)
        rrc_decref(c->heap, ob);
    return says(ob != NULL);
}

static void no_trace(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }
static rrc_gcref no_survivor(void *userdata, rrc_gcref p) { (void)userdata, (void)p; return NULL; }

CALL(rrc_heap_new)
{
    rrc_desc desc;
    rrc_heap *heap;

    (void)c, (void)works;
    memset(&desc, 0, sizeof desc);
    desc.trace = no_trace;
    desc.survivor = no_survivor;
    heap = rrc_heap_new(&desc);
    return says(heap != NULL && rrc_check(heap) == RRC_OK && rrc_heap_free(heap) == 0);
}

CALL(rrc_heap_free)
{
    int had_ended = c->has_ended;
    size_t held;

    c->has_ended = works;
    held = rrc_heap_free(c->heap);
    c->has_ended |= had_ended;
    if (works)
        check_int(held, 2);             /* linked, and the knot */
    if (held != SIZE_MAX)
        c->state = STATE_HUSK;
    return says(held != SIZE_MAX);
}

CALL(rrc_userdata) { (void)works; return says(rrc_userdata(c->heap) == c->host); }

CALL(rrc_check_config)
{
    int code = rrc_check_config(c->heap);

    (void)works;
    return answer(code, code == RRC_OK);
}

static states_answer linked(states_cast *c, int code, intptr_t bias)
{
    if (code != RRC_OK)
        return answer(code, 0);
    check_ptr(RRC_LINK(c->fresh), c->free_p);
    RRC_REFCNT(c->fresh) += bias;
    check_int(rrc_refcnt(c->fresh), 1);
    check_int(rrc_unlink(c->heap, c->fresh), RRC_OK);
    return answer(code, RRC_LINK(c->fresh) == NULL && RRC_REFCNT(c->fresh) == 1);
}

CALL(rrc_link) { (void)works; return linked(c, rrc_link(c->heap, c->free_p, c->fresh, RRC_P), 0); }

CALL(rrc_create_link_pypy)
{
    (void)works;
    return linked(c, rrc_create_link_pypy(c->heap, c->free_p, c->fresh), RRC_REFCNT_FROM_PYPY);
}

CALL(rrc_create_link_pyobj)
{
    (void)works;
    return linked(c, rrc_create_link_pyobj(c->heap, c->free_p, c->fresh), RRC_REFCNT_FROM_PYPY);
}

CALL(rrc_from_obj)
{
    rrc_object *ob = rrc_from_obj(c->heap, c->linked_p);

    (void)works;
    check(ob == NULL || ob == c->linked);
    return says(ob != NULL);
}

CALL(rrc_to_obj) { (void)works; return says(rrc_to_obj(c->heap, c->linked) == c->linked_p); }

CALL(rrc_mark_deallocating)
{
    static short marker;
    int worked;

    rrc_mark_deallocating(c->heap, &marker, c->plain);
    worked = RRC_LINK(c->plain) == &marker;
    if (works) {
        check_ptr(rrc_to_obj(c->heap, c->plain), &marker);
        rrc_mark_deallocating(c->heap, NULL, c->plain);
        check_ptr(RRC_LINK(c->plain), NULL);
    }
    return says(worked);
}

CALL(rrc_unlink)
{
    int code = rrc_unlink(c->heap, c->linked), worked = RRC_LINK(c->linked) == NULL;

    (void)works;
#ifdef TEST_CLOSED
    if (code == RRC_OK && c->is_mirrored)
        c->linked_p = ((rrc_cell *)c->linked_p)->object;
#endif
    if (code == RRC_OK)
        link(c, &c->linked_p, c->linked, RRC_P);
    return answer(code, code == RRC_OK && worked);
}

CALL(rrc_incref)
{
    intptr_t before = RRC_REFCNT(c->plain), after;

    (void)works;
    rrc_incref(c->heap, c->plain);
    after = RRC_REFCNT(c->plain);
    RRC_REFCNT(c->plain) = before;
    return says(after == before + 1);
}

CALL(rrc_decref)
{
    intptr_t before = RRC_REFCNT(c->plain)++;

    (void)works;
    rrc_decref(c->heap, c->plain);
    return says(RRC_REFCNT(c->plain) == before);
}

CALL(rrc_refcnt) { (void)works; return says(rrc_refcnt(c->plain) == 1); }

/* Where a function of a collection may be called, the host does what belongs to it. */
static states_answer collected(states_cast *c, int works, int (*function)(rrc_heap *heap))
{
    int code = works && !c->is_mirrored ? c->collect(c) : function(c->heap);

    return answer(code, code == RRC_OK);
}

CALL(rrc_minor_collection_trace) { return collected(c, works, rrc_minor_collection_trace); }
CALL(rrc_minor_collection_free) { return collected(c, works, rrc_minor_collection_free); }
CALL(rrc_major_collection_trace) { return collected(c, works, rrc_major_collection_trace); }
CALL(rrc_major_collection_trace_early) { return collected(c, works, rrc_major_collection_trace_early); }
CALL(rrc_major_collection_pause) { return collected(c, works, rrc_major_collection_pause); }
CALL(rrc_major_collection_keep) { return collected(c, works, rrc_major_collection_keep); }
CALL(rrc_major_collection_free) { return collected(c, works, rrc_major_collection_free); }
CALL(rrc_major_collection_start) { return collected(c, works, rrc_major_collection_start); }

/* A slice of the whole. */
static states_answer sliced(states_cast *c, int works, size_t (*slice)(rrc_heap *heap, size_t max))
{
    size_t done = slice(c->heap, 2);

    return says(works ? STATES_NOT_KNOWN : done > 0);
}

CALL(rrc_major_collection_work) { return sliced(c, works, rrc_major_collection_work); }

CALL(rrc_major_collection_sweep)
{
    if (c->state == STATE_MARKING || c->state == STATE_OPEN || c->state == STATE_KEPT)      /* then it is the free function */
        return answer(c->collect(c), 1);
    return sliced(c, works, rrc_major_collection_sweep);
}

CALL(rrc_links_moved) { return collected(c, works, rrc_links_moved); }

CALL(rrc_marked) { (void)works; rrc_marked(c->heap, c->knot_p); return says(STATES_NOT_KNOWN); }
CALL(rrc_marked_ob) { (void)works; rrc_marked_ob(c->heap, c->knot); return says(STATES_NOT_KNOWN); }

CALL(rrc_invoke_callback)
{
    size_t before = c->triggers(c);

    (void)works;
    rrc_invoke_callback(c->heap);
    return says(c->triggers(c) == before + 1);
}

/* (While the heap ends, the queue may be empty.) */
CALL(rrc_next_dead)
{
    states_answer given = made(c, rrc_next_dead(c->heap));

    (void)works;
    return c->state == STATE_ENDING ? says(STATES_NOT_KNOWN) : given;
}

CALL(rrc_run_pending) { (void)works; return says(rrc_run_pending(c->heap, 1) == 1); }

CALL(rrc_new) { (void)works; return made(c, rrc_new(c->heap, &Bare)); }
CALL(rrc_new_var) { (void)works; return made(c, rrc_new_var(c->heap, &Var, 3)); }
CALL(rrc_gc_new) { (void)works; return made(c, rrc_gc_new(c->heap, &Thing)); }
CALL(rrc_gc_new_var) { (void)works; return made(c, rrc_gc_new_var(c->heap, &GcVar, 3)); }
CALL(rrc_gc_new_with_extra_data) { (void)works; return made(c, rrc_gc_new_with_extra_data(c->heap, &Thing, 10)); }

CALL(rrc_gc_resize)
{
    rrc_object *ob = rrc_gc_resize(c->heap, c->var, 50);

    (void)works;
    if (ob != NULL)
        c->var = ob;
    return says(ob != NULL);
}

/* How many objects there are; of what is left of a heap nobody is told. */
static size_t objects(states_cast *c)
{
    rrc_stats stats;

    if (c->state == STATE_HUSK)
        return 0;
    check_int(rrc_get_stats(c->heap, &stats), RRC_OK);
    return stats.objects;
}

static states_answer deleted(states_cast *c, void (*function)(rrc_heap *heap, void *ob), rrc_object **ob)
{
    size_t before = objects(c);

    function(c->heap, *ob);
    *ob = NULL;
    return says(c->state == STATE_HUSK || objects(c) == before - 1);
}

CALL(rrc_del) { (void)works; return deleted(c, rrc_del, &c->spare); }
CALL(rrc_gc_del) { (void)works; return deleted(c, rrc_gc_del, &c->spare_gc); }

CALL(rrc_gc_track)
{
    int code = rrc_gc_track(c->heap, c->loose), worked = rrc_gc_is_tracked(c->heap, c->loose);

    (void)works;
    if (code == RRC_OK)
        rrc_gc_untrack(c->heap, c->loose);
    return answer(code, worked);
}

CALL(rrc_gc_untrack)
{
    (void)works;
    rrc_gc_untrack(c->heap, c->knot);
    return says(!rrc_gc_is_tracked(c->heap, c->knot));
}

/* (In what is left of a heap nothing is tracked.) */
CALL(rrc_gc_is_tracked) { (void)works; return says(rrc_gc_is_tracked(c->heap, c->knot) == (c->state != STATE_HUSK)); }
CALL(rrc_gc_set_finalized)
{
    int code = rrc_gc_set_finalized(c->heap, c->knot, 1), is = rrc_gc_is_finalized(c->heap, c->knot);

    (void)works;
    if (code == RRC_OK)
        check_int(rrc_gc_set_finalized(c->heap, c->knot, 0), RRC_OK);
    return answer(code, is);
}

CALL(rrc_gc_is_finalized) { (void)works; return says(rrc_gc_is_finalized(c->heap, c->knot) == 0); }
CALL(rrc_gc_is_uncollectable) { (void)works; return says(rrc_gc_is_uncollectable(c->heap, c->knot) == 0); }

/* (Garbage that waits already counts, too.) */
CALL(rrc_gc_collect)
{
    rrc_stats stats = { 0 };
    size_t gone;

    (void)works;
    if (c->state == STATE_MUTATOR)
        (void)rrc_get_stats(c->heap, &stats);
    gone = rrc_gc_collect(c->heap);
    if (c->state == STATE_SWEEPING)
        return says(STATES_NOT_KNOWN);
    return says(gone == 2 || (stats.pending > 0 && gone > 2));
}

static states_answer switched(states_cast *c, int (*function)(rrc_heap *heap), int on)
{
    int was = function(c->heap), is = rrc_gc_is_enabled(c->heap);

    rrc_gc_enable(c->heap);
    return says(was == 1 && is == on);
}

CALL(rrc_gc_enable) { (void)works; return switched(c, rrc_gc_enable, 1); }
CALL(rrc_gc_disable) { (void)works; return switched(c, rrc_gc_disable, 0); }
CALL(rrc_gc_is_enabled) { (void)works; return switched(c, rrc_gc_is_enabled, 1); }

static int visit(rrc_object *ob, void *arg)
{
    (void)ob;
    *(int *)arg = 1;
    return 0;
}

CALL(rrc_gc_visit_objects)
{
    int visited = 0;

    (void)works;
    rrc_gc_visit_objects(c->heap, visit, &visited);
    return says(visited);
}

CALL(rrc_touch)
{
    (void)works;
    rrc_touch(c->heap, c->plain);
    return says(STATES_NOT_KNOWN);
}

CALL(rrc_check)
{
    int code = rrc_check(c->heap);

    (void)works;
    return answer(code, code == RRC_OK);
}

CALL(rrc_decref_later)
{
    int code;

    (void)works;
    rrc_incref(c->heap, c->plain);
    code = rrc_decref_later(c->heap, c->plain);
    check_int(code, c->state == STATE_HUSK ? RRC_ECLOSED : RRC_OK);     /* (it cannot log) */
    if (code != RRC_OK)
        rrc_decref(c->heap, c->plain);
    return says(code == RRC_OK);
}

CALL(rrc_native_bytes)
{
    (void)works;
    rrc_native_bytes(c->heap, 10);
    rrc_native_bytes(c->heap, -10);
    return says(STATES_NOT_KNOWN);
}

CALL(rrc_measure)
{
    (void)works;
    rrc_measure(c->heap, c->plain);
    return says(STATES_NOT_KNOWN);
}

CALL(rrc_size_of)
{
    size_t size = rrc_size_of(c->heap, c->plain);

    return says(works ? size > 0 : STATES_NOT_KNOWN);
}

CALL(rrc_get_stats)
{
    rrc_stats stats;
    int code;

    (void)works;
    memset(&stats, 0, sizeof stats);
    code = rrc_get_stats(c->heap, &stats);
    return answer(code, stats.objects > 0);
}

static void read_text(void *arg, const char *text, size_t size)
{
    check_int(strlen(text), size);
    *(int *)arg = 1;
}

CALL(rrc_explain)
{
    int wrote = 0, code = rrc_explain(c->heap, NULL, c->linked, read_text, &wrote);

    (void)works;
    return answer(code, wrote);
}

CALL(rrc_dump_dot)
{
    int wrote = 0, code = rrc_dump_dot(c->heap, NULL, read_text, &wrote);

    (void)works;
    return answer(code, wrote);
}

CALL(rrc_dump_heapsnapshot)
{
    int wrote = 0, code = rrc_dump_heapsnapshot(c->heap, NULL, read_text, &wrote);

    (void)works;
    return answer(code, wrote);
}

static void no_text(void *arg, const char *text, size_t size) { (void)arg, check_int(strlen(text), size); }

/* (It writes at the end of the heap.) */
CALL(rrc_report_leaks)
{
    int code = rrc_report_leaks(c->heap, NULL, no_text, NULL);

    (void)works;
    return answer(code, code == RRC_OK);
}

CALL(rrc_weakref_new)
{
    (void)works;
    return made(c, (rrc_object *)(void *)rrc_weakref_new(c->heap, c->fresh, NULL, NULL));
}

CALL(rrc_weakref_get)
{
    (void)works;
    return made(c, rrc_weakref_get(c->heap, c->weak));
}

CALL(rrc_weakref_free)
{
    (void)works;
    rrc_incref(c->heap, (rrc_object *)(void *)c->weak);
    rrc_weakref_free(c->heap, c->weak);
    return says(STATES_NOT_KNOWN);
}

CALL(rrc_weak_clear)
{
    (void)works;
    rrc_weak_clear(c->heap, c->fresh);
    return says(STATES_NOT_KNOWN);
}

CALL(rrc_weak_run)
{
    (void)works;
    return says(rrc_weak_run(c->heap, 0) == 0 ? STATES_NOT_KNOWN : 0);
}

static void weak_dealloc(rrc_heap *heap, void *ob) { rrc_weak_dealloc(heap, (rrc_object *)ob); }
CALL(rrc_weak_dealloc) { (void)works; return deleted(c, weak_dealloc, &c->spare); }

/* What follows in an inspection, of which the function is this one. */
static int inspect_begin(states_cast *c, int code)
{
    return code == RRC_OK ? rrc_inspect_begin(c->heap, c->function->name) : code;
}

static void inspect_end(states_cast *c) { check_int(rrc_inspect_end(c->heap), RRC_OK); }

CALL(rrc_inspect_begin)
{
    int code = inspect_begin(c, RRC_OK);

    (void)works;
    if (code == RRC_OK)
        inspect_end(c);
    return answer(code, code == RRC_OK);
}

CALL(rrc_inspect_end)
{
    int code = inspect_begin(c, RRC_OK);

    (void)works;
    if (code == RRC_OK)
        code = rrc_inspect_end(c->heap);
    return answer(code, code == RRC_OK);
}

CALL(rrc_inspect_each)
{
    int visited = 0, code = inspect_begin(c, RRC_OK);

    (void)works;
    if (code == RRC_OK) {
        code = rrc_inspect_each(c->heap, RRC_EACH_TRACKED, visit, &visited);
        inspect_end(c);
    }
    return answer(code, visited);
}

static void note_reference(void *arg, rrc_object *to, const char *name)
{
    (void)name;
    *(rrc_object **)arg = to;
}

CALL(rrc_inspect_references)
{
    rrc_object *to = NULL;
    int code = inspect_begin(c, RRC_OK);

    (void)works;
    if (code == RRC_OK) {
        THING(c->knot)->ref[0] = c->plain;
        code = rrc_inspect_references(c->heap, c->knot, note_reference, &to);
        THING(c->knot)->ref[0] = NULL;
        inspect_end(c);
    }
    return answer(code, to == c->plain);
}

CALL(rrc_inspect)
{
    rrc_info info = { 0, NULL, 0, 0, 0 };
    int code = inspect_begin(c, RRC_OK);

    (void)works;
    if (code == RRC_OK) {
        code = rrc_inspect(c->heap, c->plain, &info);
        inspect_end(c);
    }
    return answer(code, info.references == 1);
}

static void hears_nothing(rrc_observer *self, rrc_heap *heap, rrc_object *ob) { (void)self, (void)heap, (void)ob; }

CALL(rrc_observe)
{
    rrc_observer observer = { hears_nothing, NULL };
    int code = rrc_observe(c->heap, &observer, 1), worked = rrc_find_observer(c->heap, hears_nothing) == &observer;

    (void)works;
    if (code == RRC_OK)
        check_int(rrc_observe(c->heap, &observer, 0), RRC_OK);
    return answer(code, worked && rrc_find_observer(c->heap, hears_nothing) == NULL);
}

CALL(rrc_find_observer) { (void)works; return says(rrc_find_observer(c->heap, hears_nothing) == NULL); }

CALL(rrc_realloc)
{
    void *memory = rrc_realloc(c->heap, NULL, 0, 100);

    (void)works;
    if (memory != NULL)
        check_ptr(rrc_realloc(c->heap, memory, 100, 0), NULL);
    return says(memory != NULL);
}

CALL(rrc_log)
{
    int code = rrc_log(c->heap, RRC_ETYPE, "rrc_log", c->plain, NULL, "said");

    (void)works;
    return says(code == RRC_ETYPE);
}

CALL(rrc_version) { (void)c, (void)works; return says(strcmp(rrc_version(), RRC_VERSION) == 0); }
CALL(rrc_error_name) { (void)c, (void)works; return says(strcmp(rrc_error_name(RRC_EPHASE), "RRC_EPHASE") == 0); }
CALL(rrc_error_message) { (void)c, (void)works; return says(strcmp(rrc_error_message(RRC_OK), "no error") == 0); }

#ifdef TEST_CLOSED
CALL(rrc_closed_step)
{
    int code = rrc_closed_step(c->heap);

    (void)works;
    return answer(code, code == RRC_OK);
}

CALL(rrc_closed_work)
{
    size_t done = rrc_closed_work(c->heap, 1000);

    (void)works;
    return says(done > 0 && done < 1000);
}

CALL(rrc_closed_is_due)
{
    int is_due = rrc_closed_is_due(c->heap);

    (void)works;
    return says(c->is_mirrored ? STATES_NOT_KNOWN : !is_due);
}

CALL(rrc_closed_cycle)
{
    int is_due = rrc_closed_cycle(c->heap);

    (void)works;
    return says(c->is_mirrored ? STATES_NOT_KNOWN : !is_due);
}

CALL(rrc_closed_keep_up)
{
    (void)works;
    rrc_closed_keep_up(c->heap, 0, 0);
    return says(STATES_NOT_KNOWN);
}

CALL(rrc_closed_collect_in_order)
{
    size_t gone = rrc_closed_collect_in_order(c->heap);

    return says(works ? STATES_NOT_KNOWN : gone > 0);
}

static rrc_map no_keys;

static int no_pin(void *userdata, rrc_cell *cell, int on) { (void)userdata, (void)cell; return on; }
static void *no_node(void *userdata, rrc_object *ob, size_t n) { (void)userdata, (void)ob, (void)n; return NULL; }

static int no_write(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    (void)userdata, (void)node, (void)targets, (void)n;
    return 1;
}

static void no_join(void *userdata, rrc_cell *proxy, rrc_cell *node) { (void)userdata, (void)proxy, (void)node; }

CALL(rrc_closed_new)
{
    rrc_desc desc;
    rrc_closed_desc closed;
    rrc_heap *heap;

    (void)c, (void)works;
    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    closed.pin = no_pin;
    closed.new_node = no_node;
    closed.write_node = no_write;
    closed.join = no_join;
    heap = rrc_closed_new(&desc, &closed);
#if defined(HOST_MACROS) && HOST_MACROS
    return says(heap == NULL);          /* (in a closed heap the hook survivor is the header's) */
#else
    return says(heap != NULL && rrc_check(heap) == RRC_OK && rrc_heap_free(heap) == 0);
#endif
}

CALL(rrc_closed_get_stats)
{
    rrc_closed_stats stats;
    int code = rrc_closed_get_stats(c->heap, &stats);

    (void)works;
    return answer(code, code == RRC_OK);
}

CALL(rrc_closed_count_weak) { (void)works; return says(rrc_closed_count_weak(c->heap) < 1000); }
CALL(rrc_map_get) { (void)works; return says(rrc_map_get(&no_keys, c) == NULL); }
CALL(rrc_map_put) { (void)works, rrc_map_put(&no_keys, c, NULL); return says(no_keys.count == 0); }
CALL(rrc_map_free) { (void)works, rrc_map_free(c->heap, &no_keys); return says(no_keys.count == 0); }

CALL(rrc_map_reserve)
{
    rrc_map map = { 0 };
    int code = rrc_map_reserve(c->heap, &map, 1);

    (void)works;
    if (code != RRC_OK)
        return answer(code, 0);
    rrc_map_put(&map, c, c->host);
    check_ptr(rrc_map_get(&map, c), c->host);
    rrc_map_free(c->heap, &map);
    return answer(code, map.count == 0);
}
#endif

#define ROW(name, phase, in, asks_gate) { #name, phase, in, asks_gate, call_##name },
const states_function states_functions[] = {
    FUNCTIONS(ROW)
#ifdef TEST_CLOSED
    CLOSED_FUNCTIONS(ROW)
#endif
};
const int states_function_count = (int)(sizeof states_functions / sizeof states_functions[0]);

#define STATE_NAME(state, words) #state,
const char *const states_names[STATE_COUNT] = { STATES(STATE_NAME) };
#define STATE_WORDS(state, words) words,
static const char *const words_of[STATE_COUNT] = { STATES(STATE_WORDS) };

/* ---- what comes of a call ---- */

enum { NOTED = 8 };

/* What may not change when a call is refused. */
typedef struct notes {
    intptr_t count[NOTED];
    rrc_gcref link[NOTED];
    rrc_stats stats;
} notes;

static notes note(states_cast *c)
{
    rrc_object *obs[NOTED];
    notes n;
    int i;

    memset(&n, 0, sizeof n);
    obs[0] = c->linked, obs[1] = c->knot, obs[2] = c->plain, obs[3] = c->fresh;
    obs[4] = c->loose, obs[5] = c->var, obs[6] = c->spare, obs[7] = c->spare_gc;
    for (i = 0; i < NOTED; i++)
        if (obs[i] != NULL) {
            n.count[i] = RRC_REFCNT(obs[i]);
            n.link[i] = RRC_LINK(obs[i]);
        }
    if (c->state != STATE_HUSK)
        check_int(rrc_get_stats(c->heap, &n.stats), RRC_OK);
    return n;
}

/* Some functions are for the other kind of host: the code, or RRC_OK. */
static int other_host(const states_cast *c)
{
    static const char *const for_open_hosts[] = {
        "rrc_minor_collection_trace", "rrc_major_collection_trace", "rrc_major_collection_trace_early",
        "rrc_major_collection_start", "rrc_links_moved",
        "rrc_link", "rrc_create_link_pypy", "rrc_create_link_pyobj",
    };
    size_t i;

    if (strcmp(c->function->name, "rrc_closed_step") == 0 || strcmp(c->function->name, "rrc_closed_work") == 0
        || strcmp(c->function->name, "rrc_closed_collect_in_order") == 0)
        return c->is_mirrored ? RRC_OK : RRC_EPHASE;
    if (strcmp(c->function->name, "rrc_closed_get_stats") == 0)
        return c->is_mirrored ? RRC_OK : RRC_ETYPE;
    for (i = 0; c->is_mirrored && i < sizeof for_open_hosts / sizeof for_open_hosts[0]; i++)
        if (strcmp(c->function->name, for_open_hosts[i]) == 0)
            return RRC_EPHASE;
    return RRC_OK;
}

static void check_refused(states_cast *c, states_answer given, size_t logged, int code, const char *words)
{
    states_item item;
    size_t now = c->logged(c, &item);

    check(given.code == STATES_NO_CODE || given.code == code);
    check(given.worked != 1);
    if (IS_DEBUG && c->in_log) {        /* the log hook is not called inside itself */
        check_int(now, logged);
        return;
    }
    check_int(now, logged + 1);
    check_str(rrc_error_name(item.code), rrc_error_name(code));
    check_str(item.function, c->function->name);
    if (words != NULL)
        check_str(item.detail, words);
}

void states_call(states_cast *c)
{
    char what = c->function->in[c->state];
    states_state state = c->state;
    states_answer given;
    states_item item;
    size_t logged;
    notes before, after;

    unit_context("%s [%s] in %s: %s", c->function->name, c->function->phase, states_names[state], c->place);
    if (c->calls++ > 0)
        return;
    if (what == '!' && !IS_DEBUG)
        return;
    logged = c->logged(c, &item);
    before = note(c);
    given = c->function->call(c, what == '+' && other_host(c) == RRC_OK);
    if (what == '+' && other_host(c) == RRC_OK) {
        check(given.code == STATES_NO_CODE || given.code == RRC_OK);
        check(given.worked != 0);
        logged += strcmp(c->function->name, "rrc_log") == 0 && !(IS_DEBUG && c->in_log);
        check_int(c->logged(c, &item), logged);
        return;
    }
    after = note(c);
    check(memcmp(&before, &after, sizeof before) == 0);
    if (what == '+') {
        check_refused(c, given, logged, other_host(c), NULL);
    } else if (what == '-' || what == '!') {
        int by_base = state <= STATE_LOOK && (what == '-' || c->function->in[c->base] == '-');
        const char *words = words_of[by_base ? c->base : state];

        check_refused(c, given, logged, state == STATE_HUSK ? RRC_ECLOSED : RRC_EPHASE,
                      c->function->asks_gate ? words : NULL);
    } else {
        check(what == '?' || given.worked != 1);
        logged += IS_DEBUG && !c->in_log && strcmp(c->function->name, "rrc_from_obj") == 0 && state != STATE_HUSK;
        if (strcmp(c->function->name, "rrc_weakref_get") == 0 && c->logged(c, &item) == logged + 1)
            check_int(item.code, RRC_EPHASE);   /* it asks about an object that is watched */
        else
            check_int(c->logged(c, &item), logged);
    }
}
