/* User code calls back, with a closed host: each function of the header is called from
 * each hook of cells that a step calls, and from the slots that a step or rrc_gc_collect
 * runs. What must come of it is what the header's comments say, as in test_reentry.c. */

#include "mirror_programs.h"

#include <stdlib.h>
#include <string.h>

#ifdef RRC_DEBUG
#define IS_DEBUG 1
#else
#define IS_DEBUG 0
#endif

/* Where the call comes from. */
typedef enum place {
    HOOK,               /* what must call nothing, or only what tells about objects */
    MAKING,             /* new_node or write_node: the host may run anything */
    COLLECTING,         /* collect */
    SLOT                /* a slot that runs from rrc_decref or rrc_run_pending */
} place;

/* What the tag line of a function says. */
typedef enum tag {
    ANY,
    MUTATOR,
    CELLS,              /* mutator, but nothing refuses it */
    STEP,               /* mutator; says no in a step, a dealloc or rrc_run_pending */
    WORK,               /* likewise, but there is nothing to say it with: does nothing */
    HEAP_FREE,          /* mutator, but refused inside all of these */
    DRIVEN              /* for hosts that are driven */
} tag;

enum { REFUSED_SILENTLY = -1, NOT_CALLED = -2 };

enum { PLACES = 60 };

typedef struct spot {           /* an object of the host */
    int is_pinned;
} spot;

typedef struct scene {
    rrc_heap *heap;
    spot spots[PLACES];
    int used;
    rrc_object *owner, *view, *plain, *fresh, *free_gc, *spare, *last;
    rrc_cell *proxy;            /* of owner */
    const struct column *column;
    place place;
    const char *wanted;         /* the hook or slot that calls */
    int calls, logged, last_code;
} scene;

typedef struct column {
    const char *name;
    tag tag;
    int (*call)(scene *s, rrc_heap *heap);      /* the code; RRC_OK where none is returned */
} column;

typedef struct thing {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *ref[2];
} thing;

#define THING(ob) ((thing *)(void *)(ob))
#define SCENE(heap) ((scene *)rrc_userdata(heap))

static void call_back(scene *s, const char *from);

/* ---- the host, where nothing dies ---- */

static spot *new_spot(scene *s)
{
    check(s->used < PLACES);
    return &s->spots[s->used++];
}

static rrc_cell *node_of(scene *s, rrc_object *ob) { return rrc_cell_of_node(s->heap, ob); }

static int is_live(void *userdata, const rrc_cell *c, int may_defer)
{
    (void)may_defer;
    check(c->object != NULL);
    call_back((scene *)userdata, "is_live");
    return 1;
}

static int pin(void *userdata, rrc_cell *c, int on)
{
    call_back((scene *)userdata, "pin");
    ((spot *)c->object)->is_pinned = on;
    return on;
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    (void)ob, (void)n;
    call_back((scene *)userdata, "new_node");
    return new_spot((scene *)userdata);
}

static int write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    (void)targets;
    check(node->is_node);
    call_back((scene *)userdata, n > 0 ? "write_node" : "write_node without targets");
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    (void)userdata;
    check(proxy->ob == node->ob && !proxy->is_node && node->is_node);
}

static void collect(void *userdata) { call_back((scene *)userdata, "collect"); }

static void write_log(void *userdata, const rrc_log_item *item)
{
    scene *s = (scene *)userdata;

    s->logged++;
    s->last_code = item->code;
}

/* ---- counted objects ---- */

static scene *traversed_by;

static int thing_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    if (traversed_by != NULL)
        call_back(traversed_by, "tp_traverse");
    RRC_VISIT(THING(self)->ref[0]);
    RRC_VISIT(THING(self)->ref[1]);
    return 0;
}

static int thing_clear(rrc_heap *heap, rrc_object *self)
{
    call_back(SCENE(heap), "tp_clear");
    RRC_CLEAR(heap, THING(self)->ref[0]);
    RRC_CLEAR(heap, THING(self)->ref[1]);
    return 0;
}

static void thing_finalize(rrc_heap *heap, rrc_object *self) { (void)self, call_back(SCENE(heap), "tp_finalize"); }

static void thing_dealloc(rrc_heap *heap, rrc_object *self)
{
    call_back(SCENE(heap), "tp_dealloc");
    RRC_CLEAR(heap, THING(self)->ref[0]);
    RRC_CLEAR(heap, THING(self)->ref[1]);
    rrc_gc_del(heap, self);
}

static const rrc_type Tracked = {
    .tp_name = "Tracked", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear,
};
static const rrc_type Final = {
    .tp_name = "Final", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = thing_dealloc, .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_finalize = thing_finalize,
};
static const rrc_type Bare = { .tp_name = "Bare", .tp_basicsize = sizeof(thing) };

/* ---- what is called ---- */

static int call_new(scene *s, rrc_heap *heap)
{
    rrc_object *ob = rrc_new(heap, &Bare);

    (void)s;
    if (ob != NULL)
        rrc_decref(heap, ob);
    return ob != NULL ? RRC_OK : RRC_EPHASE;
}

static int call_gc_new(scene *s, rrc_heap *heap)
{
    rrc_object *ob = rrc_gc_new(heap, &Tracked);

    (void)s;
    if (ob != NULL)
        rrc_gc_del(heap, ob);
    return ob != NULL ? RRC_OK : RRC_EPHASE;
}

static int call_del(scene *s, rrc_heap *heap) { rrc_del(heap, s->spare), s->spare = NULL; return RRC_OK; }

static int call_incref(scene *s, rrc_heap *heap)
{
    rrc_incref(heap, s->plain);
    rrc_decref(heap, s->plain);
    check_int(RRC_REFCNT(s->plain), 1);
    return RRC_OK;
}

/* In the middle of a step, of what the step is about. */
static int call_incref_weak(scene *s, rrc_heap *heap)
{
    rrc_incref(heap, s->view);
    check(RRC_REFCNT(s->view) > 0);
    rrc_decref(heap, s->view);
    return RRC_OK;
}

static int call_last_decref(scene *s, rrc_heap *heap)
{
    rrc_decref(heap, s->last);
    if (s->logged == 0)
        s->last = NULL;
    return RRC_OK;
}

static int link_and_unlink(scene *s, rrc_heap *heap, int kind)
{
    int code = rrc_cell_link(heap, new_spot(s), s->fresh, kind);

    if (code == RRC_OK)
        check_int(rrc_cell_unlink(heap, rrc_cell_of(heap, s->fresh)), RRC_OK);
    return code;
}

static int call_cell_link_p(scene *s, rrc_heap *heap) { return link_and_unlink(s, heap, RRC_P); }
static int call_cell_link_o(scene *s, rrc_heap *heap) { return link_and_unlink(s, heap, RRC_O); }

static int call_cell_unlink(scene *s, rrc_heap *heap)
{
    void *obj = s->proxy->object;
    int code = rrc_cell_unlink(heap, s->proxy);

    if (code == RRC_OK) {
        check_int(rrc_cell_link(heap, obj, s->owner, RRC_O), RRC_OK);
        s->proxy = rrc_cell_of(heap, s->owner);
    }
    return code;
}

static int call_cell_new(scene *s, rrc_heap *heap)
{
    rrc_cell *c = rrc_cell_new(heap, new_spot(s), s->plain);

    check(c != NULL);
    rrc_cell_free(heap, c);
    return RRC_OK;
}

static int call_cell_keep_node(scene *s, rrc_heap *heap)
{
    rrc_cell *node = rrc_cell_keep_node(heap, s->owner, new_spot(s));

    check(node != NULL && node == node_of(s, s->owner));
    return RRC_OK;
}

static int call_gc_track(scene *s, rrc_heap *heap)
{
    int code = rrc_gc_track(heap, s->free_gc);

    if (code == RRC_OK)
        rrc_gc_untrack(heap, s->free_gc);
    return code;
}

static int call_gc_untrack(scene *s, rrc_heap *heap)
{
    rrc_gc_untrack(heap, s->owner);
    if (rrc_gc_is_tracked(heap, s->owner))
        return RRC_EPHASE;
    return rrc_gc_track(heap, s->owner);
}

static int call_run_pending(scene *s, rrc_heap *heap) { (void)s; check_int(rrc_run_pending(heap, 0), 0); return RRC_OK; }
static int call_gc_collect(scene *s, rrc_heap *heap) { (void)s; check_int(rrc_gc_collect(heap), 0); return RRC_OK; }
static int call_mirror_step(scene *s, rrc_heap *heap) { (void)s; return rrc_closed_step(heap); }

static int call_mirror_queries(scene *s, rrc_heap *heap)
{
    rrc_stats stats;

    (void)rrc_closed_is_due(heap);
    if (traversed_by == NULL)           /* in a traverse link fields are in use */
        check_ptr(rrc_to_obj(heap, s->owner), s->proxy);
    check_ptr(rrc_cell_at(heap, s->proxy->number), s->proxy);
    (void)node_of(s, s->owner);
    rrc_touch(heap, s->plain);
    rrc_native_bytes(heap, 10);
    rrc_native_bytes(heap, -10);
    rrc_measure(heap, s->plain);
    return rrc_get_stats(heap, &stats);
}

static int go_on(rrc_object *ob, void *arg)
{
    (void)ob, (void)arg;
    return 1;
}

static int call_visit_objects(scene *s, rrc_heap *heap) { (void)s, rrc_gc_visit_objects(heap, go_on, NULL); return RRC_OK; }

static void read_text(void *arg, const char *text, size_t size)
{
    (void)arg;
    check_int(strlen(text), size);
}

static int call_check(scene *s, rrc_heap *heap) { (void)s; return rrc_check(heap); }
static int call_explain(scene *s, rrc_heap *heap) { return rrc_explain(heap, NULL, s->owner, read_text, NULL); }
static int call_dump_dot(scene *s, rrc_heap *heap) { (void)s; return rrc_dump_dot(heap, NULL, read_text, NULL); }

static int call_dump_heapsnapshot(scene *s, rrc_heap *heap)
{
    (void)s;
    return rrc_dump_heapsnapshot(heap, NULL, read_text, NULL);
}

static int call_heap_free(scene *s, rrc_heap *heap)
{
    (void)s;
    return rrc_heap_free(heap) == SIZE_MAX ? RRC_EPHASE : RRC_OK;
}

static int call_minor(scene *s, rrc_heap *heap) { (void)s; return rrc_minor_collection_trace(heap); }
static int call_major(scene *s, rrc_heap *heap) { (void)s; return rrc_major_collection_trace(heap); }
static int call_links_moved(scene *s, rrc_heap *heap) { (void)s; return rrc_links_moved(heap); }

#define COLUMN(function, tag) { "rrc_" #function, tag, call_##function }
static const column columns[] = {
    COLUMN(new, MUTATOR), COLUMN(gc_new, MUTATOR), COLUMN(del, ANY),
    COLUMN(incref, ANY), COLUMN(incref_weak, ANY), COLUMN(last_decref, MUTATOR),
    COLUMN(cell_link_p, MUTATOR), COLUMN(cell_link_o, MUTATOR), COLUMN(cell_unlink, MUTATOR),
    COLUMN(cell_new, CELLS), COLUMN(cell_keep_node, CELLS),
    COLUMN(gc_track, MUTATOR), COLUMN(gc_untrack, MUTATOR), COLUMN(run_pending, WORK),
    COLUMN(gc_collect, WORK), COLUMN(mirror_step, STEP), COLUMN(mirror_queries, ANY),
    COLUMN(visit_objects, MUTATOR), COLUMN(check, MUTATOR), COLUMN(explain, MUTATOR), COLUMN(dump_dot, MUTATOR),
    COLUMN(dump_heapsnapshot, MUTATOR),
    COLUMN(heap_free, HEAP_FREE), COLUMN(minor, DRIVEN), COLUMN(major, DRIVEN),
    COLUMN(links_moved, DRIVEN),
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static int expected(place from, tag what)
{
    if (what == ANY)
        return RRC_OK;
    if (what == DRIVEN)
        return RRC_EPHASE;
    if (from == HOOK)
        return IS_DEBUG && what != CELLS ? RRC_EPHASE : NOT_CALLED;
    if (what == HEAP_FREE)
        return RRC_EPHASE;
    return what == STEP && from != COLLECTING ? REFUSED_SILENTLY : RRC_OK;
}

/* Makes the one call of this scene, and checks what comes of it. */
static void call_back(scene *s, const char *from)
{
    int code, expects = expected(s->place, s->column->tag);

    if (s->wanted == NULL || strcmp(s->wanted, from) != 0 || s->calls++ > 0 || expects == NOT_CALLED)
        return;
    check_int(s->logged, 0);
    code = s->column->call(s, s->heap);
    if (expects == REFUSED_SILENTLY) {
        check_int(code, RRC_EPHASE);
        check_int(s->logged, 0);
        return;
    }
    check_int(s->logged, expects != RRC_OK);
    check_int(s->logged > 0 ? s->last_code : code, expects);
    check(code == RRC_OK || code == expects);
    s->logged = 0;
}

/* ---- from where ---- */

static void do_step(scene *s) { check_int(rrc_closed_step(s->heap), RRC_OK); }
static void do_collect(scene *s) { rrc_gc_collect(s->heap); }

static void do_first_reference(scene *s)
{
    do_step(s);
    rrc_incref(s->heap, s->view);
    rrc_decref(s->heap, s->view);
}

static void do_forget(scene *s) { rrc_gc_untrack(s->heap, s->owner), check_int(rrc_gc_track(s->heap, s->owner), RRC_OK); }

static void do_traverse(scene *s)
{
    traversed_by = s;
    do_step(s);
    traversed_by = NULL;
}

static void do_dealloc(scene *s)
{
    rrc_object *ob = rrc_gc_new(s->heap, &Final);

    check_int(rrc_gc_track(s->heap, ob), RRC_OK);
    rrc_decref(s->heap, ob);
}

/* A ring of C alone, which a step finds. */
static void do_garbage(scene *s)
{
    rrc_object *a = rrc_gc_new(s->heap, &Final), *b = rrc_gc_new(s->heap, &Final);
    int i;

    THING(a)->ref[0] = b;
    THING(b)->ref[0] = a;
    check_int(rrc_gc_track(s->heap, a), RRC_OK);
    check_int(rrc_gc_track(s->heap, b), RRC_OK);
    for (i = 0; i < 2; i++) {
        do_step(s);
        rrc_run_pending(s->heap, 0);
    }
}

static const struct row {
    const char *name, *hook;
    place place;
    void (*provoke)(scene *s);
} rows[] = {
    { "is_live in a step", "is_live", HOOK, do_step },
    { "pin in a step", "pin", HOOK, do_step },
    { "pin in rrc_incref", "pin", HOOK, do_first_reference },
    { "tp_traverse in a step", "tp_traverse", HOOK, do_traverse },
    { "write_node for what loses its node", "write_node without targets", HOOK, do_forget },
    { "new_node in a step", "new_node", MAKING, do_step },
    { "write_node in a step", "write_node", MAKING, do_step },
    { "write_node in rrc_gc_collect", "write_node", MAKING, do_collect },
    { "collect", "collect", COLLECTING, do_collect },
    { "tp_finalize by rrc_decref", "tp_finalize", SLOT, do_dealloc },
    { "tp_dealloc by rrc_decref", "tp_dealloc", SLOT, do_dealloc },
    { "tp_finalize of garbage", "tp_finalize", SLOT, do_garbage },
    { "tp_clear of garbage", "tp_clear", SLOT, do_garbage },
    { "tp_dealloc of garbage", "tp_dealloc", SLOT, do_garbage },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- all of them ---- */

static rrc_object *linked(scene *s, const rrc_type *type, int kind)
{
    rrc_object *ob = type == &Bare ? rrc_new(s->heap, type) : rrc_gc_new(s->heap, type);

    check_int(rrc_cell_link(s->heap, new_spot(s), ob, kind), RRC_OK);
    return ob;
}

/* An object with a proxy, held by C, owns a view, whose links are those of an earlier step
   where the row needs that. */
static scene *open_scene(const struct row *from, const column *what)
{
    scene *s = (scene *)calloc(1, sizeof *s);
    rrc_desc desc;
    rrc_closed_desc closed;

    if (s == NULL)
        abort();
    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    desc.userdata = s;
    closed.pin = pin;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    closed.is_live = is_live;
    desc.collect = collect;
    desc.log = write_log;
    s->heap = rrc_closed_new(&desc, &closed);
    check(s->heap != NULL);
    s->column = what;
    s->place = from->place;
    s->owner = linked(s, &Tracked, RRC_O);
    s->proxy = rrc_cell_of(s->heap, s->owner);
    check_int(rrc_gc_track(s->heap, s->owner), RRC_OK);
    s->view = linked(s, &Bare, RRC_P);
    THING(s->owner)->ref[0] = s->view;
    s->plain = rrc_new(s->heap, &Bare);
    s->fresh = rrc_new(s->heap, &Bare);
    s->spare = rrc_new(s->heap, &Bare);
    s->last = rrc_new(s->heap, &Bare);
    s->free_gc = rrc_gc_new(s->heap, &Tracked);
    if (from->provoke == do_forget || from->provoke == do_first_reference)
        do_step(s);
    s->wanted = from->hook;
    return s;
}

static void close_scene(scene *s)
{
    rrc_object *held[7];
    int i;

    s->wanted = NULL;
    check_int(s->logged, 0);
    do_step(s);
    check(RRC_REFCNT(s->view) < 0);
    check_int(rrc_check(s->heap), RRC_OK);
    held[0] = s->owner, held[1] = s->plain, held[2] = s->fresh, held[3] = s->spare, held[4] = s->last;
    held[5] = s->free_gc, held[6] = NULL;
    for (i = 0; i < 7; i++)
        if (held[i] != NULL)
            rrc_decref(s->heap, held[i]);
    rrc_run_pending(s->heap, 0);
    check_int(rrc_heap_free(s->heap), 0);
    check_int(s->logged, 0);
    free(s);
}

static void each_function_from_each_hook(void)
{
    int from, what;

    for (from = 0; from < ROWS; from++)
        for (what = 0; what < COLUMNS; what++) {
            scene *s = open_scene(&rows[from], &columns[what]);

            unit_context("%s from %s", columns[what].name, rows[from].name);
            rows[from].provoke(s);
            check(s->calls > 0);
            close_scene(s);
        }
}

UNIT_GROUP(mirror_reentry, UNIT(each_function_from_each_hook));
