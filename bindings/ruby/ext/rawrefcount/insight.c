/* Rawrefcount.stats and its kin: what a program can ask; and the beginning of it all. */
#include "internal.h"


#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text is gathered outside of Ruby's memory, as no collection may run while it is written. */
typedef struct text {
    char *bytes;
    size_t size, capacity;
    int failed;
} text;

static void add_text(void *arg, const char *bytes, size_t size)
{
    text *t = arg;
    if (t->size + size > t->capacity) {
        size_t capacity = (t->size + size) * 2;
        char *grown = realloc(t->bytes, capacity);
        if (grown == NULL) {
            t->failed = 1;
            return;
        }
        t->bytes = grown;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static VALUE text_string(VALUE arg)
{
    const text *t = (const text *)arg;
    return rb_utf8_str_new(t->bytes != NULL ? t->bytes : "", (long)t->size);
}

static VALUE text_free(VALUE arg)
{
    free(((text *)arg)->bytes);
    return Qnil;
}

static VALUE finish_text(text *t, int code)
{
    if (code != RRC_OK || t->failed) {
        free(t->bytes);
        rb_raise(t->failed || code == RRC_ENOMEM ? rb_eNoMemError : rb_eRuntimeError, "rawrefcount: %s",
                 rrc_error_message(t->failed ? RRC_ENOMEM : code));
    }
    return rb_ensure(text_string, (VALUE)t, text_free, (VALUE)t);
}

typedef struct question {
    VALUE value;
    rrc_object *ob;
    text text;
    FILE *file;
    int with_bar, code;
} question;

static VALUE explain(VALUE arg)
{
    question *q = (question *)arg;
    q->ob = rrb_find(q->value);         /* now, as other threads ran meanwhile */
    if (q->ob != NULL)
        q->code = rrc_explain(rrb.heap, &rrb.insight, q->ob, add_text, &q->text);
    return Qnil;
}

/*
 * call-seq:
 *   Rawrefcount.explain(object) -> string
 *
 * Why is the C object of this wrapper or value alive? The path from a global, a constant, a local or C, through both
 * heaps.
 *
 * @param object [Object] a wrapper, or a value that C holds
 *
 * @return [String] one line for each reference of the path
 *
 * @raise [ArgumentError] no C object belongs to it
 *
 * @raise [RuntimeError] there are other Ractors
 */
static VALUE m_explain(VALUE self, VALUE object)
{
    question q = { object, NULL, { NULL, 0, 0, 0 }, NULL, 0, RRC_OK };
    (void)self;
    rrb_need_open();
    rrb_with_view(object, 0, 0, explain, (VALUE)&q);
    if (q.ob == NULL)
        rb_raise(rb_eArgError, "no C object belongs to this %s", rb_obj_classname(object));
    return finish_text(&q.text, q.code);
}

static void write_file(void *arg, const char *bytes, size_t size)
{
    fwrite(bytes, 1, size, (FILE *)arg);
}

static VALUE write_snapshot(VALUE arg)
{
    question *q = (question *)arg;
    q->code = rrc_dump_heapsnapshot(rrb.heap, &rrb.insight, write_file, q->file);
    return Qnil;
}

static VALUE snapshot_to(VALUE arg)
{
    return rrb_with_view(0, 1, ((question *)arg)->with_bar, write_snapshot, arg);
}

static VALUE close_file(VALUE arg)
{
    question *q = (question *)arg;
    q->text.failed = ferror(q->file) != 0;
    q->text.failed |= fclose(q->file) != 0;
    return Qnil;
}

/*
 * call-seq:
 *   Rawrefcount.snapshot(file, bar: false) -> nil
 *
 * Writes both heaps to a file for the memory panel of Chrome.
 *
 * @param file [String] its name should end in .heapsnapshot
 *
 * @param bar [Boolean] show how far it is, on stderr, if that is a terminal
 *
 * @return [nil]
 *
 * @raise [RuntimeError] there are other Ractors
 */
static VALUE m_snapshot(int argc, VALUE *argv, VALUE self)
{
    question q = { Qnil, NULL, { NULL, 0, 0, 0 }, NULL, 0, RRC_OK };
    VALUE path, options;
    ID name = rb_intern("bar");
    (void)self;
    rrb_need_open();
    rb_scan_args(argc, argv, "1:", &path, &options);
    if (!NIL_P(options)) {
        VALUE bar;
        rb_get_kwargs(options, &name, 0, 1, &bar);
        q.with_bar = bar != Qundef && RTEST(bar);
    }
    FilePathValue(path);
    q.file = fopen(StringValueCStr(path), "wb");
    if (q.file == NULL)
        rb_sys_fail_str(path);
    rb_ensure(snapshot_to, (VALUE)&q, close_file, (VALUE)&q);
    if (q.code != RRC_OK)
        rb_raise(q.code == RRC_ENOMEM ? rb_eNoMemError : rb_eRuntimeError, "rawrefcount: %s", rrc_error_message(q.code));
    if (q.text.failed)
        rb_raise(rb_eIOError, "cannot write %" PRIsVALUE, path);
    return Qnil;
}

/*
 * call-seq:
 *   Rawrefcount.graph -> string
 *
 * The graph of all C objects and what Ruby has of them, for Graphviz: dot -Tsvg.
 *
 * @return [String]
 */
static VALUE m_graph(VALUE self)
{
    text t = { NULL, 0, 0, 0 };
    (void)self;
    rrb_need_open();
    return finish_text(&t, rrc_dump_dot(rrb.heap, &rrb.insight, add_text, &t));
}

static void put(VALUE hash, const char *name, size_t number)
{
    rb_hash_aset(hash, ID2SYM(rb_intern(name)), SIZET2NUM(number));
}

static size_t object_count(void)
{
    rrc_stats stats;
    rrc_get_stats(rrb.heap, &stats);
    return stats.objects - 1;      /* (without the last object: collector.c) */
}

/*
 * call-seq:
 *   Rawrefcount.stats -> hash
 *
 * Numbers: links by kind and age, objects, garbage found, collections, bytes.
 *
 * @return [Hash{Symbol => Integer, Boolean}]
 */
static VALUE m_stats(VALUE self)
{
    rrc_stats stats;
    VALUE hash = rb_hash_new();
    (void)self;
    rrb_need_open();
    rrc_get_stats(rrb.heap, &stats);
    put(hash, "values_young", stats.p_young);
    put(hash, "values_old", stats.p_old);
    put(hash, "wrappers_young", stats.o_young);
    put(hash, "wrappers_old", stats.o_old);
    put(hash, "objects", object_count());
    put(hash, "tracked", stats.tracked);
    put(hash, "pending", stats.pending);
    put(hash, "finalizable", stats.finalizable);
    put(hash, "garbage", stats.garbage);
    put(hash, "uncollectable", stats.uncollectable);
    put(hash, "minor_collections", stats.minor_collections);
    put(hash, "major_collections", stats.major_collections);
    put(hash, "exact_collections", rrb.exact);
    put(hash, "marking_pauses", rrb.pauses);
    put(hash, "searches_in_slices", rrb.searches_in_slices);
    put(hash, "slices", rrb.slices);
    put(hash, "unhooked_collections", rrb.unhooked);
    put(hash, "errors", rrb.errors);
    put(hash, "memory", stats.memory);
    put(hash, "object_bytes", stats.object_bytes);
    put(hash, "pending_bytes", stats.pending_bytes);
    put(hash, "native_bytes", stats.native_bytes);
    rb_hash_aset(hash, ID2SYM(rb_intern("hooks")), rb_tracepoint_enabled_p(rrb.tracepoint));
    return hash;
}

static VALUE collect(VALUE unused)
{
    int round;
    for (round = 0; round < 2; round++) {
        rb_gc_start();
        rrb_run_pending(0);
        if (rrb_count_finalizable() > 0)
            rrb_exact_collection();
    }
    return unused;
}

/*
 * call-seq:
 *   Rawrefcount.collect -> integer
 *
 * Does a full collection, also of cycles with finalizers, and all pending deallocs; then the same for what those let
 * go.
 *
 * @return [Integer] how many C objects were freed
 */
static VALUE m_collect(VALUE self)
{
    size_t before, after;
    (void)self;
    rrb_need_open();
    before = object_count();
    rrb_masked_method(collect, Qnil);
    after = object_count();
    return SIZET2NUM(before > after ? before - after : 0);
}

static VALUE run_pending(VALUE max)
{
    return SIZET2NUM(rrb_run_pending((size_t)max));
}

/*
 * call-seq:
 *   Rawrefcount.run_pending(max = 0) -> integer
 *
 * Runs deallocs that wait. (Ruby runs them soon after a collection anyway.)
 *
 * @param max [Integer] at most so many units of work; 0: all. An object is a unit, or some more if it is cyclic garbage
 *
 * @return [Integer] how many units it did
 */
static VALUE m_run_pending(int argc, VALUE *argv, VALUE self)
{
    (void)self;
    rb_check_arity(argc, 0, 1);
    rrb_need_open();
    return rrb_masked_method(run_pending, (VALUE)(argc == 1 ? NUM2SIZET(argv[0]) : 0));
}

/*
 * call-seq:
 *   Rawrefcount.check -> true
 *
 * Checks all links and objects. For tests.
 *
 * @return [true]
 *
 * @raise [RuntimeError] something is wrong
 */
static VALUE m_check(VALUE self)
{
    int code;
    (void)self;
    rrb_need_open();
    rrb_settle();
    code = rrc_check(rrb.heap);
    if (code != RRC_OK)
        rb_raise(rb_eRuntimeError, "rawrefcount: %s: %s", rrc_error_name(code), rrc_error_message(code));
    return Qtrue;
}

rrc_heap *rrc_ruby_heap(void)
{
    return rrb.heap;
}

rrc_heap *rrc_ruby_open(int abi, const char *config)
{
    if (abi != RRC_RUBY_ABI || rrci_check_config(rrb.heap, config) != RRC_OK)
        rb_raise(rb_eLoadError, "this extension was built for another version of rawrefcount than %s, "
                                "or with other settings: build it again, by make clean and make (it has: %s)",
                 RRC_VERSION, config);
    rrb.promises_missing++;
    rrb.may_promise = 1;
    rrb_stop_slices();
    return rrb.heap;
}

void rrc_ruby_allow_slices(void)
{
    rrb.promises_missing -= rrb.may_promise;
    rrb.was_promised |= rrb.may_promise;
    rrb.may_promise = 0;
}

/*
 * call-seq:
 *   Rawrefcount.slice_units = units
 *
 * For tests: so many units of the search for cycles are done in each slice of Ruby's incremental marking. A unit
 * is an object, a reference or a link. 0, the default: as many as make no pause longer.
 *
 * @param units [Integer]
 */
static VALUE m_set_slice_units(VALUE self, VALUE units)
{
    (void)self;
    rrb.units = NUM2SIZET(units);
    return units;
}

/* Ruby loads libraries so that they do not see each other. Extensions are to see this one. */
static void make_visible(void)
{
    Dl_info info;
    if (dladdr((void *)(uintptr_t)&rrc_ruby_open, &info) == 0
        || dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == NULL)
        rb_raise(rb_eLoadError, "rawrefcount: cannot make its functions visible: %s", dlerror());
}

void Init_rawrefcount(void);
void Init_rawrefcount(void)
{
    rrb.module = rb_define_module("Rawrefcount");
    make_visible();
    rrb_init_usercode();
    rrb_init_collector();
    rrb_init_objects();
    rrb_init_view();
    rb_define_module_function(rrb.module, "stats", m_stats, 0);
    rb_define_module_function(rrb.module, "slice_units=", m_set_slice_units, 1);
    rb_define_module_function(rrb.module, "explain", m_explain, 1);
    rb_define_module_function(rrb.module, "snapshot", m_snapshot, -1);
    rb_define_module_function(rrb.module, "graph", m_graph, 0);
    rb_define_module_function(rrb.module, "collect", m_collect, 0);
    rb_define_module_function(rrb.module, "run_pending", m_run_pending, -1);
    rb_define_module_function(rrb.module, "check", m_check, 0);
}
