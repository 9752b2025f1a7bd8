/* User code calls back: each function of the header is called from each slot and each callback
 * that is the mutator's: it works, or has nothing to do there, or is refused with a code. The last
 * reference to an object is also dropped in each hook. (What else hooks may call is in
 * test_states.c.) */

#include "knots.h"

#include <string.h>

/* Where the call comes from. */
typedef enum place {
    COLLECTION,         /* a hook or a slot inside a function of a collection */
    SLOT,               /* a slot that runs from rrc_decref or rrc_run_pending */
    TRIGGER,            /* dealloc_trigger */
    COLLECT,            /* the collect hook */
    WALK,               /* the callback of rrc_gc_visit_objects */
    ENDING,             /* a slot that runs from rrc_heap_free */
    HOOK                /* a hook outside a collection, or what must not call anything at all */
} place;

/* What comes of a call. */
typedef enum tag {
    WORKS,              /* where the mutator is */
    LAST,               /* drops a last reference: everywhere, but not in a hook of the mutator */
    REFUSED             /* everywhere but between a host's own calls */
} tag;

enum { NOT_CALLED = -1 };

typedef struct scene {
    host *h;
    size_t linked_id, free_id;
    rrc_object *plain, *linked, *fresh, *knot, *untracked, *var, *spare, *spare_gc, *last;
    const struct column *column;
    place place;
    int calls;
} scene;

typedef struct column {
    const char *name;
    tag tag;
    int (*call)(scene *s, rrc_heap *heap);      /* the code; RRC_OK where none is returned */
} column;

/* ---- what is called ---- */

static rrc_object *dropped(rrc_heap *heap, rrc_object *ob)
{
    if (ob != NULL)
        rrc_decref(heap, ob);
    return ob;
}

static const rrc_type Var = { .tp_name = "Var", .tp_basicsize = sizeof(knot), .tp_itemsize = 8 };
static const rrc_type GcVar = { .tp_name = "GcVar", .tp_basicsize = sizeof(knot), .tp_itemsize = 8,
                                .tp_flags = RRC_TPFLAGS_HAVE_GC };

static int call_new(scene *s, rrc_heap *heap) { (void)s, dropped(heap, rrc_new(heap, &Plain)); return RRC_OK; }
static int call_new_var(scene *s, rrc_heap *heap) { (void)s, dropped(heap, rrc_new_var(heap, &Var, 3)); return RRC_OK; }
static int call_gc_new(scene *s, rrc_heap *heap) { (void)s, dropped(heap, rrc_gc_new(heap, &KnotTable)); return RRC_OK; }
static int call_gc_new_var(scene *s, rrc_heap *heap) { (void)s, dropped(heap, rrc_gc_new_var(heap, &GcVar, 3)); return RRC_OK; }

static int call_gc_new_with_extra_data(scene *s, rrc_heap *heap)
{
    (void)s, dropped(heap, rrc_gc_new_with_extra_data(heap, &KnotTable, 10));
    return RRC_OK;
}

static int call_gc_resize(scene *s, rrc_heap *heap)
{
    rrc_object *ob = rrc_gc_resize(heap, s->var, 50);

    if (ob != NULL)
        s->var = ob;
    return RRC_OK;
}

static int call_del(scene *s, rrc_heap *heap) { rrc_del(heap, s->spare), s->spare = NULL; return RRC_OK; }
static int call_gc_del(scene *s, rrc_heap *heap) { rrc_gc_del(heap, s->spare_gc), s->spare_gc = NULL; return RRC_OK; }

static int call_incref(scene *s, rrc_heap *heap)
{
    rrc_incref(heap, s->plain);
    rrc_decref(heap, s->plain);
    check_int(REFCNT(s->plain), 1);
    return RRC_OK;
}

static int call_last_decref(scene *s, rrc_heap *heap)
{
    size_t logged = s->h->log_count;

    rrc_decref(heap, s->last);
    if (s->h->log_count == logged && s->h->on_log == NULL)
        s->last = NULL;
    return RRC_OK;
}

static int link_and_unlink(scene *s, rrc_heap *heap, link_kind kind)
{
    int code = (kind == P ? rrc_create_link_pypy : rrc_create_link_pyobj)(heap, host_at(s->h, s->free_id), s->fresh);

    if (code == RRC_OK) {
        REFCNT(s->fresh) += BIAS;
        check_int(rrc_unlink(heap, s->fresh), RRC_OK);
        check_int(REFCNT(s->fresh), 1);
    }
    return code;
}

static int call_create_link_pypy(scene *s, rrc_heap *heap) { return link_and_unlink(s, heap, P); }
static int call_create_link_pyobj(scene *s, rrc_heap *heap) { return link_and_unlink(s, heap, O); }

static int call_unlink(scene *s, rrc_heap *heap)
{
    int code = rrc_unlink(heap, s->linked);

    if (code == RRC_OK)
        ob_link(s->h, P, s->linked_id, s->linked, FULL);
    return code;
}

static int call_from_obj(scene *s, rrc_heap *heap)
{
    rrc_object *ob = rrc_from_obj(heap, host_at(s->h, s->linked_id));

    check(ob == NULL || ob == s->linked);
    return RRC_OK;
}

static int call_to_obj(scene *s, rrc_heap *heap)
{
    rrc_to_obj(heap, s->linked);
    check_ptr(rrc_to_obj(heap, s->plain), NULL);
    return RRC_OK;
}

static int call_mark_deallocating(scene *s, rrc_heap *heap)
{
    static short marker;
    size_t logged = s->h->log_count;

    rrc_mark_deallocating(heap, &marker, s->plain);
    if (RRC_LINK(s->plain) != NULL && s->h->log_count == logged)
        rrc_mark_deallocating(heap, NULL, s->plain);
    return RRC_OK;
}

static int call_invoke_callback(scene *s, rrc_heap *heap) { (void)s, rrc_invoke_callback(heap); return RRC_OK; }
static int call_next_dead(scene *s, rrc_heap *heap) { (void)s, dropped(heap, rrc_next_dead(heap)); return RRC_OK; }

static int call_run_pending(scene *s, rrc_heap *heap)
{
    size_t done = rrc_run_pending(heap, 0);

    if (s->place == SLOT)
        check_int(done, 0);
    return RRC_OK;
}

static int call_gc_track(scene *s, rrc_heap *heap)
{
    int code = rrc_gc_track(heap, s->untracked);

    if (code == RRC_OK)
        rrc_gc_untrack(heap, s->untracked);
    return code;
}

static int call_gc_untrack(scene *s, rrc_heap *heap)
{
    rrc_gc_untrack(heap, s->knot);
    if (!rrc_gc_is_tracked(heap, s->knot))
        check_int(rrc_gc_track(heap, s->knot), RRC_OK);
    return RRC_OK;
}

static int call_gc_queries(scene *s, rrc_heap *heap)
{
    check_int(rrc_gc_is_tracked(heap, s->knot), 1);
    check_int(rrc_gc_is_finalized(heap, s->knot), 0);
    check_int(rrc_gc_is_uncollectable(heap, s->knot), 0);
    check_int(rrc_gc_is_enabled(heap), 1);
    return RRC_OK;
}

static int call_gc_switch(scene *s, rrc_heap *heap)
{
    (void)s;
    check_int(rrc_gc_disable(heap), 1);
    check_int(rrc_gc_enable(heap), 0);
    return RRC_OK;
}

static int call_gc_collect(scene *s, rrc_heap *heap)
{
    size_t done = rrc_gc_collect(heap);

    if (s->place != TRIGGER)
        check_int(done, 0);
    return RRC_OK;
}

static int go_on(rrc_object *ob, void *arg)
{
    (void)ob, (void)arg;
    return 1;
}

static int call_gc_visit_objects(scene *s, rrc_heap *heap) { (void)s, rrc_gc_visit_objects(heap, go_on, NULL); return RRC_OK; }

static int call_marked(scene *s, rrc_heap *heap)
{
    rrc_marked_ob(heap, s->plain);
    return RRC_OK;
}

static int call_check(scene *s, rrc_heap *heap) { (void)s; return rrc_check(heap); }

static void read_text(void *arg, const char *text, size_t size)
{
    (void)arg;
    check_int(strlen(text), size);
}

static int call_explain(scene *s, rrc_heap *heap) { return rrc_explain(heap, NULL, s->linked, read_text, NULL); }
static int call_dump_dot(scene *s, rrc_heap *heap) { (void)s; return rrc_dump_dot(heap, NULL, read_text, NULL); }

static int call_dump_heapsnapshot(scene *s, rrc_heap *heap)
{
    (void)s;
    return rrc_dump_heapsnapshot(heap, NULL, read_text, NULL);
}

static int call_queries(scene *s, rrc_heap *heap)
{
    rrc_stats stats;

    check_ptr(rrc_userdata(heap), s->h);
    check_int(rrc_check_config(heap), RRC_OK);
    check_str(rrc_version(), RRC_VERSION);
    rrc_touch(heap, s->plain);
    rrc_native_bytes(heap, 10);
    rrc_native_bytes(heap, -10);
    rrc_measure(heap, s->plain);
    return rrc_get_stats(heap, &stats);
}

static int call_heap_new(scene *s, rrc_heap *heap)
{
    host *other = host_open(NULL);

    (void)s, (void)heap;
    ob_given(other, P, host_new(other, HOST_OLD), FULL);
    host_major(other);
    check_int(rrc_run_pending(other->heap, 0), 1);
    host_close(other);
    return RRC_OK;
}

static int call_heap_free(scene *s, rrc_heap *heap)
{
    (void)s;
    check(rrc_heap_free(heap) == SIZE_MAX);
    return RRC_OK;
}

/* The host's own collection. */
static int call_minor(scene *s, rrc_heap *heap) { (void)heap, host_minor(s->h); return RRC_OK; }
static int call_major(scene *s, rrc_heap *heap) { (void)heap, host_major(s->h); return RRC_OK; }

static int call_major_early(scene *s, rrc_heap *heap)
{
    (void)heap;
    s->h->options.early = 2;
    host_major(s->h);
    s->h->options.early = 0;
    return RRC_OK;
}

static int call_links_moved(scene *s, rrc_heap *heap) { (void)heap, host_move(s->h); return RRC_OK; }
static int call_pause(scene *s, rrc_heap *heap) { (void)s; return rrc_major_collection_pause(heap); }
static int call_minor_free(scene *s, rrc_heap *heap) { (void)s; return rrc_minor_collection_free(heap); }
static int call_major_free(scene *s, rrc_heap *heap) { (void)s; return rrc_major_collection_free(heap); }

#define COLUMN(function) { "rrc_" #function, WORKS, call_##function }
static const column columns[] = {
    COLUMN(new), COLUMN(new_var), COLUMN(gc_new), COLUMN(gc_new_var), COLUMN(gc_new_with_extra_data), COLUMN(gc_resize),
    COLUMN(del), COLUMN(gc_del), COLUMN(incref), { "rrc_decref", LAST, call_last_decref },
    COLUMN(create_link_pypy), COLUMN(create_link_pyobj), COLUMN(unlink),
    COLUMN(from_obj), COLUMN(to_obj), COLUMN(mark_deallocating),
    COLUMN(invoke_callback), COLUMN(next_dead), COLUMN(run_pending),
    COLUMN(gc_track), COLUMN(gc_untrack), COLUMN(gc_queries), COLUMN(gc_switch),
    COLUMN(gc_collect), COLUMN(gc_visit_objects),
    COLUMN(marked), COLUMN(check), COLUMN(explain), COLUMN(dump_dot), COLUMN(dump_heapsnapshot),
    COLUMN(queries), COLUMN(heap_new),
    COLUMN(minor), COLUMN(major), COLUMN(major_early), COLUMN(links_moved), COLUMN(pause),
    { "rrc_heap_free", REFUSED, call_heap_free },
    { "rrc_minor_collection_free", REFUSED, call_minor_free }, { "rrc_major_collection_free", REFUSED, call_major_free },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Is the call from where the mutator is? */
static int is_mutator(place from)
{
    return from == SLOT || from == TRIGGER || from == COLLECT || from == WALK;
}

static int expected(place from, tag what)
{
    if (what == LAST && from == HOOK)
        return HOST_DEBUG ? RRC_EPHASE : NOT_CALLED;
    return what == REFUSED ? RRC_EPHASE : RRC_OK;
}

/* ---- from where ---- */

/* Makes the one call of this scene, and checks what comes of it. */
static void call_back(scene *s)
{
    host *h = s->h;
    size_t logged = h->log_count;
    int code, expects = expected(s->place, s->column->tag);
    void (*on_log)(host *h) = h->on_log;

    if (s->calls++ > 0 || expects == NOT_CALLED)
        return;
    code = s->column->call(s, h->heap);
    if (on_log != NULL) {               /* the log hook is not called inside itself */
        check(code == RRC_OK || code == expects);
        return;
    }
    if (h->log_count > logged) {
        const host_log *item = &h->log[logged % (sizeof h->log / sizeof h->log[0])];

        check_int(h->log_count, logged + 1);
        h->log_read = h->log_count;
        if (item->code != expects)
            unit_fail(__FILE__, __LINE__, "logged: %s", item->text);
        check(code == RRC_OK || code == expects);
    } else {
        check_int(code, expects);
    }
}

static void in_hook(host *h, const char *name);

typedef struct row {
    const char *name;
    place place;
    void (*provoke)(scene *s);
    const char *hook;                   /* of the host; or NULL */
    host_phase phase;                   /* ... in this one */
} row;

static const row *wanted;

static void in_hook(host *h, const char *name)
{
    if (strcmp(name, wanted->hook) == 0 && h->phase == wanted->phase)
        call_back((scene *)h->test);
}

static void in_host(host *h) { call_back((scene *)h->test); }
static void in_dealloc(host *h, rrc_object *ob) { (void)ob, call_back((scene *)h->test); }

/* A type whose slots call back: the one that wanted->hook names. */
static void probe(rrc_heap *heap, const char *slot)
{
    if (wanted->hook != NULL && strcmp(wanted->hook, slot) == 0)
        call_back((scene *)HOST(heap)->test);
}

static scene *traversed_by;

static int probe_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    if (traversed_by != NULL && strcmp(wanted->hook, "tp_traverse") == 0)
        call_back(traversed_by);
    return knot_traverse(self, visit, arg);
}

static int probe_clear(rrc_heap *heap, rrc_object *self)
{
    probe(heap, "tp_clear");
    return knot_clear(heap, self);
}

static void probe_finalize(rrc_heap *heap, rrc_object *self) { (void)self, probe(heap, "tp_finalize"); }
static void probe_clear_weakrefs(rrc_heap *heap, rrc_object *self) { (void)self, probe(heap, "tp_clear_weakrefs"); }

static void probe_dealloc(rrc_heap *heap, rrc_object *self)
{
    int i;

    probe(heap, "tp_dealloc");
    for (i = 0; i < KNOT_REFS; i++)
        RRC_CLEAR(heap, KNOT(self)->ref[i]);
    RRC_TYPE(self)->tp_free(heap, self);
}

static void probe_free(rrc_heap *heap, void *self)
{
    probe(heap, "tp_free");
    rrc_gc_del(heap, self);
}

static const rrc_type Probe = {
    .tp_name = "Probe", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = probe_dealloc, .tp_free = probe_free, .tp_traverse = probe_traverse, .tp_clear = probe_clear,
    .tp_finalize = probe_finalize, .tp_clear_weakrefs = probe_clear_weakrefs,
};

static void do_minor(scene *s) { host_minor(s->h); }
static void do_major(scene *s) { host_major(s->h); }

static void do_question(scene *s)
{
    rrc_object *ob = knot_new(s->h, &Knot, 0);

    ob_link(s->h, O, host_rooted(s->h, HOST_OLD), ob, FULL);
    rrc_decref(s->h->heap, ob);         /* nobody but the host holds it */
    s->h->options.reports_marks = 0;
    host_major(s->h);
    if (HOST_DEBUG && s->h->log_count > s->h->log_read
            && s->h->log[(s->h->log_count - 1) % (sizeof s->h->log / sizeof s->h->log[0])].code == RRC_EHOOK)
        s->h->log_count--;              /* that the report is missing is no news here */
}

/* A host that marks on after its trace call reports a proxy: what its ob owns is traced. */
static void do_report(scene *s)
{
    host *h = s->h;
    rrc_object *ob = knot_new(h, &Knot, 0), *leaf = ob_new(h, &Node);
    size_t p = host_new(h, HOST_OLD);

    host_point(h, s->free_id, 0, p);    /* so that it is marked later */
    ob_link(h, O, p, ob, FULL);
    ob_link(h, P, host_new(h, HOST_OLD), leaf, FULL);
    knot_tie(h, ob, 0, leaf);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, leaf);
    h->options.early = 3;
    h->on_hook = NULL;
    host_major_begin(h);
    h->on_hook = in_hook;
    h->phase = HOST_MAJOR_TRACE;
    rrc_marked_ob(h->heap, ob);
    h->phase = HOST_MAJOR_PLAN;
    h->on_hook = NULL;
    host_major_end(h);
}

static void do_link(scene *s)
{
    rrc_object *ob = ob_given(s->h, P, host_new(s->h, HOST_YOUNG), FULL);

    check_int(rrc_unlink(s->h->heap, ob), RRC_OK);
    rrc_run_pending(s->h->heap, 0);
}

static void do_trigger(scene *s)
{
    rrc_object *ob = ob_given(s->h, O, host_new(s->h, HOST_OLD), FULL);

    check_int(rrc_unlink(s->h->heap, ob), RRC_OK);
    rrc_invoke_callback(s->h->heap);
}

static void do_collect(scene *s) { rrc_gc_collect(s->h->heap); }

static void do_new(scene *s)
{
    s->h->on_realloc = in_host;
    dropped(s->h->heap, rrc_new(s->h->heap, &Plain));
    s->h->on_realloc = NULL;
}

static void do_many_links(scene *s)
{
    int i;

    s->h->on_realloc = in_host;
    for (i = 0; i < 1000 && s->calls == 0; i++) {
        rrc_object *ob = NULL;

        s->h->on_realloc = NULL;
        ob = ob_new(s->h, &Node);
        s->h->on_realloc = in_host;
        ob_link(s->h, P, host_rooted(s->h, HOST_OLD), ob, FULL);
        rrc_decref(s->h->heap, ob);
    }
    s->h->on_realloc = NULL;
}

static void do_log(scene *s)
{
    s->h->on_log = in_host;
    check_int(rrc_unlink(s->h->heap, s->plain), RRC_EUNLINKED);
    s->h->on_log = NULL;
    s->h->log_read = s->h->log_count;
}

/* Light objects die in a major collection: their memory is freed inside it. */
static void do_free_memory(scene *s)
{
    ob_given(s->h, P, host_new(s->h, HOST_OLD), LIGHT_OB);
    host_major_begin(s->h);
    s->h->on_realloc = in_host;
    host_major_end(s->h);
    s->h->on_realloc = NULL;
}

static void do_free_light(scene *s)
{
    rrc_object *ob = knot_new(s->h, &Probe, 0);

    ob_link(s->h, O, host_new(s->h, HOST_OLD), ob, LIGHT_OB);
    rrc_decref(s->h->heap, ob);
    host_major(s->h);
}

static void do_decref(scene *s) { rrc_decref(s->h->heap, knot_new(s->h, &Probe, 0)); }

static void do_queue(scene *s)
{
    rrc_object *ob = knot_new(s->h, &Probe, 0);

    ob_link(s->h, O, host_new(s->h, HOST_OLD), ob, FULL);
    rrc_decref(s->h->heap, ob);
    host_major(s->h);
    rrc_run_pending(s->h->heap, 0);
}

static void do_garbage(scene *s)
{
    knot_ring(s->h, &Probe, 3, NULL);
    host_major(s->h);
    rrc_run_pending(s->h->heap, 0);
    host_major(s->h);
    rrc_run_pending(s->h->heap, 0);
}

static void traverse(scene *s, void (*function)(scene *s))
{
    rrc_object *ob = knot_new(s->h, &Probe, 0);

    knot_tie(s->h, ob, 0, s->knot);
    traversed_by = s;
    function(s);
    traversed_by = NULL;
    rrc_decref(s->h->heap, ob);
}

static void do_check(scene *s) { check_int(rrc_check(s->h->heap), RRC_OK); }
static void do_explain(scene *s) { check_int(rrc_explain(s->h->heap, host_insight(s->h), s->plain, read_text, NULL), RRC_OK); }
static void do_c_search(scene *s) { rrc_gc_collect(s->h->heap); }
static void traverse_in_major(scene *s) { traverse(s, do_major); }
static void traverse_in_check(scene *s) { traverse(s, do_check); }
static void traverse_in_explain(scene *s) { traverse(s, do_explain); }
static void traverse_in_c_search(scene *s) { traverse(s, do_c_search); }

static int callback(rrc_object *ob, void *arg)
{
    (void)ob;
    call_back((scene *)arg);
    return 1;
}

static void do_walk(scene *s) { rrc_gc_visit_objects(s->h->heap, callback, s); }

static void write_back(void *arg, const char *text, size_t size)
{
    (void)text, (void)size;
    call_back((scene *)arg);
}

static void do_write(scene *s) { check_int(rrc_dump_dot(s->h->heap, host_insight(s->h), write_back, s), RRC_OK); }

/* (rrc_heap_free is called by the end of the scene.) */
static void do_end(scene *s)
{
    ob_given(s->h, P, s->free_id, FULL);
    s->h->on_dealloc = in_dealloc;
}

static void do_end_light(scene *s)
{
    rrc_object *ob = knot_new(s->h, &Probe, 0);

    ob_link(s->h, O, s->free_id, ob, LIGHT_OB);
    rrc_decref(s->h->heap, ob);
}

static void do_dealloc(scene *s)
{
    s->h->on_dealloc = in_dealloc;
    rrc_decref(s->h->heap, ob_new(s->h, &Node));
    s->h->on_dealloc = NULL;
}

static const row rows[] = {
    { "trace in a minor collection", COLLECTION, do_minor, "trace", HOST_MINOR_TRACE },
    { "survivor in a minor collection", COLLECTION, do_minor, "survivor", HOST_MINOR_FREE },
    { "is_young in a minor collection", COLLECTION, do_minor, "is_young", HOST_MINOR_FREE },
    { "trace in a major collection", COLLECTION, do_major, "trace", HOST_MAJOR_TRACE },
    { "propagate", COLLECTION, do_major, "propagate", HOST_MAJOR_TRACE },
    { "survivor in the marking", COLLECTION, do_question, "survivor", HOST_MAJOR_TRACE },
    { "trace after a report", COLLECTION, do_report, "trace", HOST_MAJOR_TRACE },
    { "survivor in a major collection", COLLECTION, do_major, "survivor", HOST_MAJOR_FREE },
    { "is_young in a major collection", COLLECTION, do_major, "is_young", HOST_MAJOR_FREE },
    { "is_young for a new link", HOOK, do_link, "is_young", HOST_MUTATOR },
#if HOST_SLOT
    { "slot", HOOK, do_link, "slot", HOST_MUTATOR },
#endif
    { "dealloc_trigger", TRIGGER, do_trigger, "dealloc_trigger", HOST_MUTATOR },
    { "collect", COLLECT, do_collect, "collect", HOST_MUTATOR },
    { "realloc for an object", HOOK, do_new, NULL, HOST_MUTATOR },
    { "realloc for a link", HOOK, do_many_links, NULL, HOST_MUTATOR },
    { "realloc in a collection", COLLECTION, do_free_memory, NULL, HOST_MUTATOR },
    { "log", HOOK, do_log, NULL, HOST_MUTATOR },
    { "tp_free of a light object", COLLECTION, do_free_light, "tp_free", HOST_MUTATOR },
    { "tp_dealloc of an untracked type", SLOT, do_dealloc, NULL, HOST_MUTATOR },
    { "tp_finalize by rrc_decref", SLOT, do_decref, "tp_finalize", HOST_MUTATOR },
    { "tp_dealloc by rrc_decref", SLOT, do_decref, "tp_dealloc", HOST_MUTATOR },
    { "tp_free by rrc_decref", SLOT, do_decref, "tp_free", HOST_MUTATOR },
    { "tp_finalize by the queue", SLOT, do_queue, "tp_finalize", HOST_MUTATOR },
    { "tp_dealloc by the queue", SLOT, do_queue, "tp_dealloc", HOST_MUTATOR },
    { "tp_clear_weakrefs", SLOT, do_garbage, "tp_clear_weakrefs", HOST_MUTATOR },
    { "tp_finalize of garbage", SLOT, do_garbage, "tp_finalize", HOST_MUTATOR },
    { "tp_clear", SLOT, do_garbage, "tp_clear", HOST_MUTATOR },
    { "tp_dealloc of garbage", SLOT, do_garbage, "tp_dealloc", HOST_MUTATOR },
    { "tp_traverse in a major collection", COLLECTION, traverse_in_major, "tp_traverse", HOST_MUTATOR },
    { "tp_traverse in a search without a host", COLLECTION, traverse_in_c_search, "tp_traverse", HOST_MUTATOR },
    { "tp_traverse in rrc_check", HOOK, traverse_in_check, "tp_traverse", HOST_MUTATOR },
    { "tp_traverse in rrc_explain", HOOK, traverse_in_explain, "tp_traverse", HOST_MUTATOR },
    { "the callback of a walk", WALK, do_walk, NULL, HOST_MUTATOR },
    { "the writeproc", HOOK, do_write, NULL, HOST_MUTATOR },
    { "tp_free of a light object in rrc_heap_free", COLLECTION, do_end_light, "tp_free", HOST_MUTATOR },
    { "tp_dealloc in rrc_heap_free", ENDING, do_end, NULL, HOST_MUTATOR },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- all of them ---- */

static scene scene_of(const row *from, const column *what)
{
    host_options options = { .reports_marks = REPORT_LINKED, .moving = HOST_STAY };
    scene s;

    memset(&s, 0, sizeof s);
    options.collects = from->place == COLLECT;
    s.h = host_open(&options);
    s.column = what;
    s.place = from->place;
    s.linked_id = host_rooted(s.h, HOST_YOUNG);
    s.linked = ob_shared(s.h, P, s.linked_id, FULL);
    s.free_id = host_rooted(s.h, HOST_OLD);
    s.plain = ob_new(s.h, &Plain);
    s.fresh = ob_new(s.h, &Plain);
    s.knot = knot_new(s.h, &Knot, 0);
    ob_link(s.h, P, host_new(s.h, HOST_OLD), s.knot, FULL);
    s.untracked = rrc_gc_new(s.h->heap, &KnotTable);
    s.var = rrc_gc_new_var(s.h->heap, &GcVar, 1);
    s.spare = ob_new(s.h, &Plain);
    s.spare_gc = rrc_gc_new(s.h->heap, &KnotTable);
    s.last = ob_new(s.h, &Node);
    return s;
}

static void each_function_from_each_place(void)
{
    int from, what;

    for (from = 0; from < ROWS; from++)
        for (what = 0; what < COLUMNS; what++) {
            scene s;
            rrc_heap *heap;
            rrc_object **held[9];
            int i, ending = rows[from].provoke == do_end || rows[from].provoke == do_end_light;

            if (!is_mutator(rows[from].place) && columns[what].tag != LAST)
                continue;
            s = scene_of(&rows[from], &columns[what]);
            heap = s.h->heap;
            unit_context("%s from %s", columns[what].name, rows[from].name);
            wanted = &rows[from];
            s.h->test = &s;
            s.h->on_hook = wanted->hook != NULL ? in_hook : NULL;
            wanted->provoke(&s);
            s.h->on_hook = NULL;
            held[0] = &s.plain, held[1] = &s.linked, held[2] = &s.fresh, held[3] = &s.knot;
            held[4] = &s.untracked, held[5] = &s.var, held[6] = &s.spare, held[7] = &s.spare_gc;
            held[8] = &s.last;
            for (i = 0; !ending && i < 9; i++)
                dropped(heap, *held[i]);
            if (!ending) {
                check(s.calls > 0);
                host_expect_silence(s.h);
                rrc_run_pending(heap, 0);
                host_close(s.h);
                continue;
            }
            check_int(rrc_check(heap), RRC_OK);
            check_int(host_free_heap(s.h), 2);          /* linked, and the knot */
            check(s.calls > 0);
            s.h->on_dealloc = NULL;
            for (i = 0; i < 9; i++)
                dropped(heap, *held[i]);
            host_end(s.h);
        }
}

/* ---- errors that jump ---- */

#if HOST_MACROS && CAN_JUMP
static int jumps_left;

static void jump(host *h)
{
    if (jumps_left > 0) {
        jumps_left--;
        check(h->escape != NULL);
        longjmp(*h->escape, 1);
    }
}

static void jump_out_of_finalize(host *h, rrc_object *ob) { (void)ob, jump(h); }

static rrc_object *abandoned;

static void jump_out_of_dealloc(host *h, rrc_object *ob)
{
    if (jumps_left > 0)
        abandoned = ob;
    jump(h);
}

static int jump_clear(rrc_heap *heap, rrc_object *self)
{
    jump(HOST(heap));
    return knot_clear(heap, self);
}

static void jump_weakrefs(rrc_heap *heap, rrc_object *self)
{
    (void)self;
    jump(HOST(heap));
}

static const rrc_type Jumping = {
    .tp_name = "Jumping", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = jump_clear, .tp_clear_weakrefs = jump_weakrefs,
};

static host *open_catching(int jumps)
{
    host *h = host_open(NULL);

    h->catches = 1;
    jumps_left = jumps;
    return h;
}

/* The guard ends the slot; all else goes on as if it had returned. */
static void an_error_in_a_finalizer(void)
{
    host *h = open_catching(2);

    h->on_finalize = jump_out_of_finalize;
    rrc_decref(h->heap, ob_new(h, &Final));
    check_int(h->deallocs, 1);
    knot_ring(h, &KnotFinal, 2, NULL);
    knot_collect(h);
    check_int(jumps_left, 0);
    knot_collect(h);
    check_int(h->deallocs, 3);
    host_close(h);
}

/* What tp_dealloc left undone is leaked: here the memory, which the test frees. */
static void an_error_in_a_dealloc(void)
{
    host *h = open_catching(1);
    rrc_object *ob;
    int nested;

    h->on_dealloc = jump_out_of_dealloc;
    for (nested = 0; nested < 3; nested++) {
        jumps_left = 1;
        h->deallocs = 0;
        if (nested == 2) {              /* in the queue, with others behind it */
            ob_given(h, O, host_new(h, HOST_OLD), FULL);
            ob_given(h, O, host_new(h, HOST_OLD), FULL);
            host_major(h);
            check_int(rrc_run_pending(h->heap, 0), 2);
        } else {
            ob = ob_new(h, &Node);
            if (nested == 1)
                NODE(ob)->ref[0] = ob_new(h, &Node);
            rrc_decref(h->heap, ob);
            check_int(h->deallocs, 1);
            if (nested == 1)
                RRC_CLEAR(h->heap, NODE(ob)->ref[0]);
        }
        check_int(jumps_left, 0);
        check_int(rrc_check(h->heap), RRC_OK);
        rrc_del(h->heap, abandoned);
    }
    host_close(h);
}

static void errors_while_garbage_is_cleared(void)
{
    host *h = open_catching(6);

    knot_ring(h, &Jumping, 3, NULL);
    knot_collect(h);                    /* three weak references, three clears: nothing is dropped */
    check_int(jumps_left, 0);
    check_int(h->deallocs, 0);
    check_int(rrc_check(h->heap), RRC_OK);
    knot_collect(h);
    check_int(h->deallocs, 3);
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    host_expect_log(h, RRC_EUNCOLLECTABLE, "rrc_run_pending");
    host_close(h);
}
#define JUMPS , UNIT(an_error_in_a_finalizer), UNIT(an_error_in_a_dealloc), UNIT(errors_while_garbage_is_cleared)
#else
#define JUMPS
#endif

UNIT_GROUP(reentry, UNIT(each_function_from_each_place) JUMPS);
