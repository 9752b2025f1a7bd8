/* The extension that the tests and benchmarks drive: nodes, which own others and any
 * Ruby values; and references that C holds. */
#include "nodes.h"

#include <pthread.h>
#include <ruby/debug.h>
#include <ruby/thread.h>
#include <ruby/version.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct node {
    rrc_object head;
    long id;                    /* 0: nobody asks */
    long test;                  /* in which it was made */
    size_t native;              /* bytes that it claims to have */
    int count;
    rrc_object *slot[];         /* owned */
} node;

static rrc_heap *heap;
static VALUE dead;              /* ids of the nodes deallocated, in order */
static VALUE finalized;
static VALUE last_word;         /* with this, the dealloc of last_speaker calls its slot 0 */
static rrc_object *last_speaker;
static VALUE on_dealloc = Qnil; /* called with the id; may do anything */
static VALUE on_finalize = Qnil;        /* called with the wrapper */
static long alive;              /* nodes made and not deallocated */
static long test;               /* what earlier ones have left is dealt with in silence */

long this_test(void) { return test; }

void note_dead(long id, long made_in_test)
{
    if (id == 0 || made_in_test != test)
        return;
    rb_ary_push(dead, LONG2NUM(id));
    if (!NIL_P(on_dealloc))
        rb_funcall(on_dealloc, rb_intern("call"), 1, LONG2NUM(id));
}

static int node_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    node *n = (node *)self;
    int i;
    for (i = 0; i < n->count; i++)
        RRC_VISIT(n->slot[i]);
    return 0;
}

static int node_clear(rrc_heap *h, rrc_object *self)
{
    node *n = (node *)self;
    int i;
    for (i = 0; i < n->count; i++)
        RRC_CLEAR(h, n->slot[i]);
    return 0;
}

static void node_dealloc(rrc_heap *h, rrc_object *self)
{
    node *n = (node *)self;
    long id = n->id, made_in_test = n->test;
    if (self == last_speaker)
        rrc_ruby_call(n->slot[0], 1, &last_word);
    node_clear(h, self);
    if (n->head.ob_type->tp_flags & RRC_TPFLAGS_HAVE_GC)
        rrc_gc_del(h, self);
    else
        rrc_del(h, self);
    alive--;
    note_dead(id, made_in_test);
}

static void node_finalize(rrc_heap *h, rrc_object *self)
{
    node *n = (node *)self;
    VALUE value = n->count > 0 ? rrc_ruby_wrap(n->slot[0]) : Qnil;
    if (n->test == test)
        rb_ary_push(finalized, rb_assoc_new(LONG2NUM(n->id), value));
    if (n->test == test && !NIL_P(on_finalize)) {
        VALUE wrapper = rrc_ruby_wrap(self);
        rb_funcall(on_finalize, rb_intern("call"), 1, wrapper);
    }
}

/* (Not for objects that earlier tests have left.) */
static void node_clear_weakrefs(rrc_heap *h, rrc_object *self)
{
    node *n = (node *)self;
    if (n->test == test && !NIL_P(on_dealloc))
        rb_funcall(on_dealloc, rb_intern("call"), 1, LONG2NUM(-n->id));
}

/* Reads what it owns, when it ends and (if it has a finalizer) before: a string in slot 0, and in
   slot 1 what is to be called. Says what it finds without Ruby, which may be gone. */
static void read_owned(const char *when, const node *n)
{
    VALUE text = rrc_ruby_wrap(n->slot[0]), result = Qnil;
    int tag = rrc_ruby_call_protected(n->slot[1], 0, NULL, &result);
    const char *called = NIL_P(result) ? "nil" : "called";
    if (tag != 0) {
        called = "an error";
        rb_set_errinfo(Qnil);
    }
    dprintf(1, "%s %ld: %s, %s\n", when, n->id, NIL_P(text) ? "nil" : StringValueCStr(text), called);
}

static void reader_dealloc(rrc_heap *h, rrc_object *self)
{
    read_owned("dealloc", (node *)self);
    node_clear(h, self);
    alive--;
    rrc_gc_del(h, self);
}

static void reader_finalize(rrc_heap *h, rrc_object *self)
{
    read_owned("finalizer", (node *)self);
}

/* The same with what raises. */
static void bold_dealloc(rrc_heap *h, rrc_object *self)
{
    node *n = (node *)self;
    rrc_object *callable = n->slot[1];
    long id = n->id;
    n->slot[1] = NULL;
    node_clear(h, self);
    alive--;
    rrc_gc_del(h, self);
    rrc_ruby_call(callable, 0, NULL);
    dprintf(1, "dealloc %ld: called\n", id);
    rrc_decref(h, callable);
}

static size_t node_size(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    return ((const node *)ob)->native + (((const node *)ob)->id >= 1000000 ? (size_t)((const node *)ob)->id : 0);
}

#define NODE_TYPE(name, flags, traverse, clear, finalize) \
    { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = name, .tp_basicsize = sizeof(node), \
      .tp_itemsize = sizeof(rrc_object *), .tp_flags = flags, .tp_dealloc = node_dealloc, \
      .tp_traverse = traverse, .tp_clear = clear, .tp_finalize = finalize }

static const rrc_type node_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "node",
    .tp_basicsize = sizeof(node), .tp_itemsize = sizeof(rrc_object *), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = node_dealloc, .tp_traverse = node_traverse, .tp_clear = node_clear, .tp_size = node_size };
static const rrc_type final_type = NODE_TYPE("final_node", RRC_TPFLAGS_HAVE_GC, node_traverse, node_clear, node_finalize);
/* One that is freed by the header itself, and does nothing else. */
static void plain_finalize(rrc_heap *h, rrc_object *self) { alive--; }
static const rrc_type plain_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "plain_node",
    .tp_basicsize = sizeof(node), .tp_itemsize = sizeof(rrc_object *), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_traverse = node_traverse, .tp_clear = node_clear, .tp_finalize = plain_finalize };
static const rrc_type bare_final_type = NODE_TYPE("bare_final_node", 0, NULL, NULL, node_finalize);
static const rrc_type bare_type = NODE_TYPE("bare_node", 0, NULL, NULL, NULL);
static const rrc_type made_type = NODE_TYPE("made_node", RRC_TPFLAGS_HAVE_GC, node_traverse, node_clear, NULL);
static const rrc_type weak_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "weak_node",
    .tp_basicsize = sizeof(node), .tp_itemsize = sizeof(rrc_object *), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = node_dealloc, .tp_traverse = node_traverse, .tp_clear = node_clear,
    .tp_clear_weakrefs = node_clear_weakrefs };
#define READER_TYPE(name, dealloc, finalize) \
    { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = name, .tp_basicsize = sizeof(node), \
      .tp_itemsize = sizeof(rrc_object *), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = dealloc, \
      .tp_traverse = node_traverse, .tp_clear = node_clear, .tp_finalize = finalize }
static const rrc_type reader_type = READER_TYPE("reader", reader_dealloc, NULL);
static const rrc_type final_reader_type = READER_TYPE("final_reader", reader_dealloc, reader_finalize);
static const rrc_type bold_reader_type = READER_TYPE("bold_reader", bold_dealloc, NULL);
static const rrc_type unknown_type = NODE_TYPE("unknown_node", 0, NULL, NULL, NULL);

static VALUE node_class, plain_class, final_class, bare_class, bare_final_class, weak_class;

static rrc_object *make(const rrc_type *type, long id, int count)
{
    int is_gc = (type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0;
    rrc_object *ob = is_gc ? rrc_gc_new_var(heap, type, (size_t)count) : rrc_new_var(heap, type, (size_t)count);
    if (ob == NULL)
        return NULL;
    ((node *)ob)->id = id;
    ((node *)ob)->test = test;
    ((node *)ob)->count = count;
    alive++;
    if (is_gc && rrc_gc_track(heap, ob) != RRC_OK) {
        rrc_decref(heap, ob);
        return NULL;
    }
    return ob;
}

/* Node.new(id = 0, slots = 2) */
static VALUE node_s_new(int argc, VALUE *argv, VALUE klass)
{
    const rrc_type *type = RTEST(rb_class_inherited_p(klass, final_class)) ? &final_type
                         : RTEST(rb_class_inherited_p(klass, plain_class)) ? &plain_type
                         : RTEST(rb_class_inherited_p(klass, bare_final_class)) ? &bare_final_type
                         : RTEST(rb_class_inherited_p(klass, bare_class)) ? &bare_type
                         : RTEST(rb_class_inherited_p(klass, weak_class)) ? &weak_type : &node_type;
    rb_check_arity(argc, 0, 2);
    return rrc_ruby_wrap_new(klass, make(type, argc > 0 ? NUM2LONG(argv[0]) : 0, argc > 1 ? NUM2INT(argv[1]) : 2));
}

static node *self_node(VALUE self)
{
    return (node *)rrc_ruby_unwrap(self, NULL);
}

static rrc_object **slot_at(VALUE self, VALUE index)
{
    int i = NUM2INT(index);
    node *n = self_node(self);          /* (the conversion may have disposed of it) */
    if (i < 0 || i >= n->count)
        rb_raise(rb_eIndexError, "no slot %d", i);
    return &n->slot[i];
}

static VALUE node_set(VALUE self, VALUE index, VALUE value)
{
    rrc_object **slot = slot_at(self, index), *old = *slot, *fresh;
    rrc_ruby_unwrap_for_write(self, NULL);
    fresh = NIL_P(value) ? NULL : rrc_ruby_hold(value);
    *slot = fresh;
    if (old != NULL)
        rrc_decref(heap, old);
    return value;
}

static VALUE node_get(VALUE self, VALUE index)
{
    return rrc_ruby_wrap(*slot_at(self, index));
}

/* Call what is in slot 0, as a C library would that must not be jumped out of. */
static VALUE node_call(int argc, VALUE *argv, VALUE self)
{
    rrc_object *callable = *slot_at(self, INT2FIX(0));
    VALUE result;
    int tag;
    if (callable == NULL)
        return Qnil;
    rrc_incref(heap, callable);
    tag = rrc_ruby_call_protected(callable, argc, argv, &result);
    rrc_decref(heap, callable);
    rrc_ruby_raise(tag);
    return result;
}

static VALUE node_id(VALUE self) { return LONG2NUM(self_node(self)->id); }

static VALUE node_claim(VALUE self, VALUE bytes)
{
    size_t size = NUM2SIZET(bytes);
    node *n = self_node(self);
    n->native = size;
    rrc_measure(rrc_ruby_heap(), (rrc_object *)n);
    rrc_ruby_native_bytes(0);
    return bytes;
}

/* A thread of C, which does not have Ruby's lock, drops a reference that it was given. */
static void *drop_later(void *ob)
{
    return rrc_decref_later(heap, (rrc_object *)ob) == RRC_OK ? NULL : ob;
}

static VALUE node_drop_in_thread(VALUE self)
{
    node *n = self_node(self);
    pthread_t thread;
    void *result = n;
    rrc_incref(heap, &n->head);
    if (pthread_create(&thread, NULL, drop_later, n) != 0 || pthread_join(thread, &result) != 0 || result != NULL)
        rb_raise(rb_eRuntimeError, "the thread failed");
    return self;
}

/* How many references C has. */
static VALUE node_count(VALUE self)
{
    return LL2NUM(rrc_refcnt(&self_node(self)->head));
}

static VALUE made_initialize(VALUE self, VALUE id)
{
    return rrc_ruby_initialize(self, make(&made_type, NUM2LONG(id), 2));
}
/* What must not be: an object that is wrapped already. */
static VALUE made_adopt(VALUE self, VALUE other)
{
    rrc_object *ob = rrc_ruby_unwrap(other, NULL);
    rrc_incref(heap, ob);
    return rrc_ruby_initialize(self, ob);
}
/* Or a Ruby value, which stays what it is. */
static VALUE m_adopt_value(VALUE self, VALUE node, VALUE value)
{
    return rrc_ruby_initialize(node, rrc_ruby_hold(value));
}
static const rrc_ruby_method made_methods[] = {
    { "initialize", RUBY_METHOD_FUNC(made_initialize), 1, 0 }, { "adopt", RUBY_METHOD_FUNC(made_adopt), 1, 0 },
    { NULL, NULL, 0, 0 },
};

static const rrc_ruby_method node_methods[] = {
    { "new", RUBY_METHOD_FUNC(node_s_new), -1, 1 }, { "[]=", RUBY_METHOD_FUNC(node_set), 2, 0 },
    { "[]", RUBY_METHOD_FUNC(node_get), 1, 0 },     { "call", RUBY_METHOD_FUNC(node_call), -1, 0 },
    { "id", RUBY_METHOD_FUNC(node_id), 0, 0 },      { "claim", RUBY_METHOD_FUNC(node_claim), 1, 0 },
    { "held", RUBY_METHOD_FUNC(node_count), 0, 0 },
    { "drop_in_thread", RUBY_METHOD_FUNC(node_drop_in_thread), 0, 0 }, { NULL, NULL, 0, 0 },
};

static VALUE reader_initialize(VALUE self, VALUE id) { return rrc_ruby_initialize(self, make(&reader_type, NUM2LONG(id), 3)); }
static VALUE final_reader_initialize(VALUE self, VALUE id) { return rrc_ruby_initialize(self, make(&final_reader_type, NUM2LONG(id), 3)); }
static VALUE bold_reader_initialize(VALUE self, VALUE id) { return rrc_ruby_initialize(self, make(&bold_reader_type, NUM2LONG(id), 3)); }

static void define_reader(VALUE outer, const char *name, const rrc_type *type, VALUE (*initialize)(VALUE, VALUE))
{
    const rrc_ruby_method methods[] = { { "initialize", RUBY_METHOD_FUNC(initialize), 1, 0 }, { NULL, NULL, 0, 0 } };
    rrc_ruby_class spec = { name, type, node_class, methods, 0 };
    rrc_ruby_define_class(outer, &spec);
}

/* ---- what C holds: a table of references ---- */

#define HELD_MAX (1 << 22)
static rrc_object *held[HELD_MAX];

static size_t held_index(VALUE index)
{
    size_t i = NUM2SIZET(index);
    if (i >= HELD_MAX)
        rb_raise(rb_eIndexError, "no place %zu", i);
    return i;
}

static VALUE m_hold(VALUE self, VALUE index, VALUE value)
{
    size_t i = held_index(index);
    rrc_object *fresh = rrc_ruby_hold(value), *old = held[i];
    held[i] = fresh;
    if (old != NULL)
        rrc_decref(heap, old);
    return value;
}

/* Calls that need the lock, in a thread that does not hold it; of C, or of Ruby. */
static void *misuse(void *name)
{
    if (strcmp(name, "rrc_ruby_hold") == 0)
        rrc_ruby_hold(Qnil);
    else if (strcmp(name, "rrc_ruby_wrap") == 0)
        rrc_ruby_wrap(held[0]);
    else if (strcmp(name, "rrc_ruby_native_bytes") == 0)
        rrc_ruby_native_bytes(1);
    else if (strcmp(name, "rrc_decref") == 0)
        rrc_decref(heap, held[0]);
    else
        rrc_new(heap, &unknown_type);
    return NULL;
}

static VALUE m_misuse(VALUE self, VALUE name, VALUE by_ruby)
{
    pthread_t thread;
    if (RTEST(by_ruby))
        rb_thread_call_without_gvl(misuse, StringValueCStr(name), NULL, NULL);
    else if (pthread_create(&thread, NULL, misuse, StringValueCStr(name)) == 0)
        pthread_join(thread, NULL);
    return Qnil;
}

static VALUE m_release(VALUE self, VALUE index)
{
    RRC_CLEAR(heap, held[held_index(index)]);
    return Qnil;
}

/* Release it when Ruby is gone. */
static size_t last_index;
static void release_last(void) { RRC_CLEAR(heap, held[last_index]); }
static VALUE m_release_after_ruby(VALUE self, VALUE index)
{
    last_index = held_index(index);
    atexit(release_last);
    return Qnil;
}

static VALUE m_held(VALUE self, VALUE index) { return rrc_ruby_wrap(held[held_index(index)]); }

/* An object that is never freed. */
static const rrc_type eternal_type = NODE_TYPE("eternal_node", 0, NULL, NULL, NULL);
static VALUE m_eternal(VALUE self)
{
    static node eternal = { .head = RRC_OBJECT_HEAD_INIT(&eternal_type) };
    return rrc_ruby_wrap(&eternal.head);
}

/* A node that no class is defined for. */
static VALUE m_unknown(VALUE self) { return rrc_ruby_wrap_new(rb_path2class("Rawrefcount::Object"), make(&unknown_type, 0, 0)); }

static VALUE m_expect_node(VALUE self, VALUE value) { rrc_ruby_unwrap(value, &node_type); return Qtrue; }
static VALUE m_expect_kind(VALUE self, VALUE value, VALUE klass) { rrc_ruby_unwrap_kind(value, klass); return Qtrue; }
static VALUE m_alive(VALUE self) { return LONG2NUM(alive); }
static VALUE m_dead(VALUE self) { return dead; }
static VALUE m_finalized(VALUE self) { return finalized; }
static VALUE m_on_dealloc(VALUE self, VALUE callable) { return on_dealloc = callable; }
static VALUE m_on_finalize(VALUE self, VALUE callable) { return on_finalize = callable; }
static VALUE m_call_in_dealloc(VALUE self, VALUE speaker, VALUE word)
{
    last_speaker = rrc_ruby_unwrap(speaker, &node_type);
    return last_word = word;
}
static VALUE m_is_old(VALUE self, VALUE v)
{
    return (RBASIC(v)->flags & RUBY_FL_PROMOTED) == RUBY_FL_PROMOTED ? Qtrue : Qfalse;
}

/* Another test begins. */
static VALUE m_next_test(VALUE self)
{
    test++;
    rb_ary_clear(dead);
    rb_ary_clear(finalized);
    return on_dealloc = on_finalize = Qnil;
}

/* Overwrite what other calls have left on the machine's stack. */
static VALUE m_wipe(VALUE self)
{
    volatile VALUE words[1 << 14];
    size_t i;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        words[i] = Qfalse;
    return Qnil;
}

/* Nodes.leave(way, place) { ... }: a C library calls back, and works on the way out, whatever leaves the block. */
static VALUE yield_to(VALUE unused) { return rb_yield(Qnil); }
static VALUE m_leave(VALUE self, VALUE way, VALUE place)
{
    const char *name = StringValueCStr(way);
    size_t i = held_index(place);
    int tag;
    VALUE result = rb_protect(yield_to, Qnil, &tag);
    if (strcmp(name, "drop") == 0)
        RRC_CLEAR(heap, held[i]);
    else if (strcmp(name, "run_pending") == 0) {
        rb_gc_start();
        rrc_ruby_run_pending(0);
    }
    else if (strcmp(name, "collect") == 0)
        rrc_gc_collect(heap);
    else if (strcmp(name, "native_bytes") == 0)
        rrc_ruby_native_bytes(1 << 20);
    else if (strcmp(name, "call") == 0 && rrc_ruby_call_protected(held[i], 0, NULL, NULL) != 0)
        rb_bug("the second call failed");
    rrc_ruby_raise(tag);
    return result;
}

static VALUE m_dispose(VALUE self, VALUE wrapper) { rrc_ruby_dispose(wrapper); return Qnil; }

/* Take and drop n references to new values, wrap n new objects, and tell of much memory, in one C function: as no Ruby
   code runs meanwhile, the number of nodes that live stays. Gives by how much it has changed. */
static VALUE m_work_in_c(VALUE self, VALUE n)
{
    long i, before = alive, count = NUM2LONG(n);
    VALUE value;
    for (i = 0; i < count; i++) {
        rrc_decref(heap, rrc_ruby_hold(rb_str_new_cstr("held")));
        rrc_ruby_native_bytes(100000);
        value = rrc_ruby_wrap_new(node_class, make(&node_type, 0, 0));
        before++;
        rrc_ruby_native_bytes(-100000);
        RB_GC_GUARD(value);
    }
    return LONG2NUM(alive - before);
}

static VALUE m_gc_collect(VALUE self) { return SIZET2NUM(rrc_gc_collect(heap)); }
static VALUE m_unprotect(VALUE self, VALUE v) { RB_OBJ_WB_UNPROTECT(v); return v; }

/* Make n nodes that no script has seen; nobody drops them. */
static VALUE m_fill(VALUE self, VALUE n)
{
    long i;
    for (i = NUM2LONG(n); i > 0; i--)
        if (make(&node_type, 0, 0) == NULL)
            rb_memerror();
    return Qnil;
}

/* A second class for one type; a class below no rrc class. */
static VALUE m_define_twice(VALUE self)
{
    rrc_ruby_class spec = { "Again", &node_type, 0, NULL, 0 };
    return rrc_ruby_define_class(self, &spec);
}
static VALUE m_define_below(VALUE self, VALUE superclass)
{
    rrc_ruby_class spec = { "Below", &unknown_type, superclass, NULL, 0 };
    return rrc_ruby_define_class(self, &spec);
}

/* What an author may do wrong. */
static VALUE m_open_with(VALUE self, VALUE abi, VALUE config)
{
    rrc_ruby_open(NUM2INT(abi), StringValueCStr(config));
    return Qtrue;
}

/* ---- benchmarks, in nanoseconds per item ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static VALUE per_item(double begin, long n) { return DBL2NUM((now() - begin) / (double)n); }

static volatile VALUE sink;     /* for results that nobody needs */

static VALUE b_hold(VALUE self, VALUE values)
{
    long i, n = RARRAY_LEN(values);
    double begin = now();
    for (i = 0; i < n; i++)
        held[i] = rrc_ruby_hold(RARRAY_AREF(values, i));
    return per_item(begin, n);
}

static VALUE b_hold_again(VALUE self, VALUE values)
{
    long i, n = RARRAY_LEN(values);
    double begin = now();
    for (i = 0; i < n; i++)
        rrc_decref(heap, rrc_ruby_hold(RARRAY_AREF(values, i)));
    return per_item(begin, n);
}

static VALUE b_value(VALUE self, VALUE count)
{
    long i, n = NUM2LONG(count);
    double begin = now();
    VALUE x = 0;
    for (i = 0; i < n; i++)
        x ^= rrc_ruby_wrap(held[i]);
    sink = x;
    return per_item(begin, n);
}

static VALUE b_value_again(VALUE self, VALUE count)
{
    long i, n = NUM2LONG(count);
    double begin = now();
    VALUE x = 0;
    for (i = 0; i < n; i++)
        x ^= rrc_ruby_wrap(*(rrc_object *volatile *)&held[0]);
    sink = x;
    return per_item(begin, n);
}

static VALUE b_release(VALUE self, VALUE count)
{
    long i, n = NUM2LONG(count);
    double begin = now();
    for (i = 0; i < n; i++)
        RRC_CLEAR(heap, held[i]);
    return per_item(begin, n);
}

/* Wrappers of new objects, kept in `keep`. (The objects are made before.) */
static VALUE b_wrap(VALUE self, VALUE keep, VALUE count)
{
    long i, n = NUM2LONG(count);
    double begin;
    for (i = 0; i < n; i++)
        held[i] = make(&bare_type, 0, 0);
    begin = now();
    for (i = 0; i < n; i++)
        rb_ary_push(keep, rrc_ruby_wrap(held[i]));
    return per_item(begin, n);
}

static VALUE b_data(VALUE self, VALUE keep, VALUE count)
{
    static const rb_data_type_t plain = { "plain", { 0, RUBY_DEFAULT_FREE, 0, 0, { 0 } }, 0, 0,
                                          RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED };
    long i, n = NUM2LONG(count);
    void **memory = malloc((size_t)n * sizeof *memory);
    double begin;
    for (i = 0; i < n; i++)
        memory[i] = malloc(48);
    begin = now();
    for (i = 0; i < n; i++)
        rb_ary_push(keep, rb_data_typed_object_wrap(rb_cObject, memory[i], &plain));
    free(memory);
    return per_item(begin, n);
}

/* Ruby's own data object, with two references: Nodes::Pair.new(a, b), pair.a = value. */
typedef struct pair { VALUE a, b; } pair;

static void pair_mark(void *data)
{
    rb_gc_mark(((pair *)data)->a);
    rb_gc_mark(((pair *)data)->b);
}

static const rb_data_type_t pair_type = { "pair", { pair_mark, RUBY_DEFAULT_FREE, 0, 0, { 0 } }, 0, 0,
                                          RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED };

static VALUE pair_s_new(VALUE klass, VALUE a, VALUE b)
{
    pair *data;
    VALUE self = TypedData_Make_Struct(klass, pair, &pair_type, data);
    RB_OBJ_WRITE(self, &data->a, a);
    RB_OBJ_WRITE(self, &data->b, b);
    return self;
}

static VALUE pair_set(VALUE self, VALUE value)
{
    pair *data = rb_check_typeddata(self, &pair_type);
    rb_check_frozen(self);
    RB_OBJ_WRITE(self, &data->a, value);
    return value;
}

/* The same as a counted object: Nodes::Twin. Its two fields own references. */
typedef struct twin { rrc_object head; rrc_object *a, *b; } twin;
static const rrc_member twin_members[] = { { "a", offsetof(twin, a) }, { "b", offsetof(twin, b) }, { NULL, 0 } };
static const rrc_type twin_type = { .tp_name = "Twin", .tp_basicsize = sizeof(twin), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                    .tp_members = twin_members };

static VALUE twin_initialize(VALUE self, VALUE a, VALUE b)
{
    twin *t = (twin *)rrc_gc_new(heap, &twin_type);
    if (t != NULL && rrc_gc_track(heap, &t->head) == RRC_OK) {
        rrc_ruby_initialize(self, &t->head);
        t->a = rrc_ruby_hold(a);
        t->b = NIL_P(b) ? NULL : rrc_ruby_hold(b);
        return self;
    }
    if (t != NULL)
        rrc_decref(heap, &t->head);
    return rrc_ruby_initialize(self, NULL);
}

static VALUE twin_set(VALUE self, VALUE value)
{
    twin *t = (twin *)rrc_ruby_unwrap_for_write(self, &twin_type);
    rrc_object *fresh = rrc_ruby_hold(value), *old = t->a;
    t->a = fresh;
    if (old != NULL)
        rrc_decref(heap, old);
    return value;
}

static const rrc_ruby_method twin_methods[] = {
    { "initialize", RUBY_METHOD_FUNC(twin_initialize), 2, 0 }, { "a=", RUBY_METHOD_FUNC(twin_set), 1, 0 }, { NULL, NULL, 0, 0 },
};

/* The way without a collector that knows of C: a global root for each value. It is in a counted object, as libraries have
   them, or in an array. */
typedef struct root {
    long  count;
    VALUE value;
} root;

static VALUE *roots;

static VALUE b_register(VALUE self, VALUE values)
{
    long i, n = RARRAY_LEN(values);
    double begin;
    roots = malloc((size_t)n * sizeof *roots);
    begin = now();
    for (i = 0; i < n; i++) {
        roots[i] = RARRAY_AREF(values, i);
        rb_gc_register_address(&roots[i]);
    }
    return per_item(begin, n);
}

static VALUE b_register_counted(VALUE self, VALUE values)
{
    long i, n = RARRAY_LEN(values);
    root **counted = malloc((size_t)n * sizeof *counted);
    double begin = now();
    for (i = 0; i < n; i++) {
        counted[i] = malloc(sizeof **counted);
        counted[i]->count = 1;
        counted[i]->value = RARRAY_AREF(values, i);
        rb_gc_register_address(&counted[i]->value);
    }
    return per_item(begin, n);
}

/* Like another extension, without a promise. */
static VALUE m_open_again(VALUE self)
{
    rrc_ruby_init();
    return self;
}

#if RUBY_API_VERSION_CODE < 30200
extern VALUE rb_mRubyVMFrozenCore;

/* Ruby 3.1 does not mark the name of this hidden class, and yet looks at it when it compacts, even on a page that was
   freed (github.com/ruby/ruby/pull/7875). The tests compact often: here it gets a name that stays. For that it must be
   a usual class for a moment. */
static void name_hidden_class(void)
{
    VALUE hidden = rb_mRubyVMFrozenCore, name = rb_str_new_cstr("RubyVM::FrozenCore");
    VALUE flags = RBASIC(hidden)->flags;
    rb_gc_register_mark_object(name);
    RBASIC(hidden)->flags = (flags & ~(VALUE)(RUBY_T_MASK | RUBY_FL_FREEZE)) | RUBY_T_CLASS;
    rb_ivar_set(hidden, rb_intern("__classpath__"), name);
    RBASIC(hidden)->flags = flags;
}
#endif

#define MODULE_FUNCTION(name, function, arity) rb_define_module_function(module, name, function, arity)

void Init_nodes(void)
{
    VALUE module = rb_define_module("Nodes");
    rrc_ruby_class spec = { "Node", &node_type, 0, node_methods, 1 };
    heap = rrc_ruby_init();
    if (getenv("NODES_WHOLE") == NULL)
        rrc_ruby_allow_slices();
    node_class = rrc_ruby_define_class(module, &spec);
    spec.superclass = node_class;
    spec.methods = NULL;
    spec.name = "FinalNode";
    spec.type = &final_type;
    final_class = rrc_ruby_define_class(module, &spec);
    spec.name = "BareNode";
    spec.type = &bare_type;
    bare_class = rrc_ruby_define_class(module, &spec);
    spec.name = "PlainNode";
    spec.type = &plain_type;
    plain_class = rrc_ruby_define_class(module, &spec);
    spec.name = "BareFinalNode";
    spec.type = &bare_final_type;
    bare_final_class = rrc_ruby_define_class(module, &spec);
    spec.name = "WeakNode";
    spec.type = &weak_type;
    weak_class = rrc_ruby_define_class(module, &spec);
    spec.methods = made_methods;
    spec.name = "MadeNode";
    spec.type = &made_type;
    rrc_ruby_define_class(module, &spec);
    init_slots();
    init_foreign();
#if RUBY_API_VERSION_CODE < 30200
    name_hidden_class();
#endif
    define_reader(module, "Reader", &reader_type, reader_initialize);
    define_reader(module, "FinalReader", &final_reader_type, final_reader_initialize);
    define_reader(module, "BoldReader", &bold_reader_type, bold_reader_initialize);
    rrc_ruby_define_class(module, &(rrc_ruby_class){ "Twin", &twin_type, 0, twin_methods, 0 });
    rb_undef_alloc_func(rb_define_class_under(module, "Pair", rb_cObject));
    rb_define_singleton_method(rb_const_get(module, rb_intern("Pair")), "new", pair_s_new, 2);
    rb_define_method(rb_const_get(module, rb_intern("Pair")), "a=", pair_set, 1);
    rb_gc_register_mark_object(dead = rb_ary_new());
    rb_gc_register_mark_object(finalized = rb_ary_new());
    rb_gc_register_address(&on_dealloc);
    rb_gc_register_address(&on_finalize);
    rb_gc_register_address(&last_word);
    MODULE_FUNCTION("hold", m_hold, 2);
    MODULE_FUNCTION("release", m_release, 1);
    MODULE_FUNCTION("release_after_ruby", m_release_after_ruby, 1);
    MODULE_FUNCTION("held", m_held, 1);
    MODULE_FUNCTION("adopt_value", m_adopt_value, 2);
    MODULE_FUNCTION("unknown", m_unknown, 0);
    MODULE_FUNCTION("eternal", m_eternal, 0);
    MODULE_FUNCTION("expect_node", m_expect_node, 1);
    MODULE_FUNCTION("expect_kind", m_expect_kind, 2);
    MODULE_FUNCTION("alive", m_alive, 0);
    MODULE_FUNCTION("dead", m_dead, 0);
    MODULE_FUNCTION("misuse", m_misuse, 2);
    MODULE_FUNCTION("finalized", m_finalized, 0);
    MODULE_FUNCTION("on_dealloc", m_on_dealloc, 1);
    MODULE_FUNCTION("on_finalize", m_on_finalize, 1);
    MODULE_FUNCTION("call_in_dealloc", m_call_in_dealloc, 2);
    MODULE_FUNCTION("fill", m_fill, 1);
    MODULE_FUNCTION("old?", m_is_old, 1);
    MODULE_FUNCTION("unprotect", m_unprotect, 1);
    MODULE_FUNCTION("next_test", m_next_test, 0);
    MODULE_FUNCTION("wipe", m_wipe, 0);
    MODULE_FUNCTION("leave", m_leave, 2);
    MODULE_FUNCTION("dispose", m_dispose, 1);
    MODULE_FUNCTION("work_in_c", m_work_in_c, 1);
    MODULE_FUNCTION("gc_collect", m_gc_collect, 0);
    MODULE_FUNCTION("define_twice", m_define_twice, 0);
    MODULE_FUNCTION("define_below", m_define_below, 1);
    MODULE_FUNCTION("open_with", m_open_with, 2);
    MODULE_FUNCTION("open_again", m_open_again, 0);
    MODULE_FUNCTION("bench_hold", b_hold, 1);
    MODULE_FUNCTION("bench_hold_again", b_hold_again, 1);
    MODULE_FUNCTION("bench_value", b_value, 1);
    MODULE_FUNCTION("bench_value_again", b_value_again, 1);
    MODULE_FUNCTION("bench_release", b_release, 1);
    MODULE_FUNCTION("bench_wrap", b_wrap, 2);
    MODULE_FUNCTION("bench_data", b_data, 2);
    MODULE_FUNCTION("bench_register", b_register, 1);
    MODULE_FUNCTION("bench_register_counted", b_register_counted, 1);
}
