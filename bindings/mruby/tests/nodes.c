/* nodes.c - see nodes.h. What scripts have:
 *
 *     Node.new(id)             an object that owns up to three others; tracked, P-linked
 *     Finalized.new(id)        ... whose finalizer calls Nodes.finalized(id), if there is such a method
 *     Loose.new(id)            ... without a traverse
 *     node[i], node[i] = x     field i owns a reference to x, or to the object of a proxy
 *     node.move(i, other, j)   moves a reference without counting
 *     node.tell("z", 1, 2.0, x), Node.tell   what C was given
 *     node.ask(x[, other]), Node.ask(x, other)   the id of the object, or of the other one, after x.to_s was called
 *     node.lend { |node| }     its id, after the block was called
 *     node.pause(x)            yields the fiber with x, as a method of mruby can; node.pause_disposed(x): after dispose
 *     node.fail                disposes of itself, and returns with an IndexError in mrb->exc
 *     Like.new(x, other)       a node with the id of the other one, after x.to_s was called
 *     Nodes.proxy(id)          a new Node that C makes
 *     Nodes.hold(x)            a reference of C's own; Nodes.held(i): the i-th; Nodes.release: drop all
 *     Nodes.adopt(x)           a proxy of the object that stands for x, which must raise
 *     Nodes.live               how many nodes there are
 *     Nodes.call(f, *args)     rrc_mruby_call
 *     Nodes.native(bytes)      rrc_mruby_native_bytes
 *
 *     Wrapper.new(id)          a node that is the wrapper of a foreign object; Nodes.wrapper(id): made by C
 *     w.refer(i, other)        the foreign object refers to that of the other, or to none (nil); nobody is told
 *     w.referred(i)            the Wrapper of what it refers to
 *     Nodes.take(w)            foreign code takes a reference; Nodes.drop: drops all that was taken, or Nodes.drop(i)
 *     Nodes.taken(i)           the Wrapper of what was taken i-th
 *     Nodes.note(w)            foreign code has a weak reference; Nodes.retake: takes by it. Returns whether it can
 *     Nodes.taker              an object whose dfree does the same
 *     Nodes.foreigners         how many foreign objects there are
 */
#define RRC_MRUBY_IMPLEMENTATION
int reports;
#define RRC_MRUBY_REPORT(mrb, exception) (reports++, rrcm_print(mrb, exception))
#include "nodes.h"
#include "unit.h"

#include <mruby/compile.h>
#include <mruby/string.h>

#include <string.h>

void (*node_freed)(int id);
long memory_hiccup, memory_after = -1;
int memory_stress;
struct foreign_library foreign_library;
static int live;

/* ---- memory ---- */

static uint64_t hiccup_random;

/* Not twice in a row: mruby asks again when it has collected. */
static int hiccups(void)
{
    static int did;
    hiccup_random = hiccup_random * 6364136223846793005u + 1442695040888963407u;
    did = !did && memory_hiccup > 0 && (hiccup_random >> 33) % (uint64_t)memory_hiccup == 0;
    return did;
}

static mrb_state *newest;           /* NULL: it is closed */

static void forget_newest(mrb_state *mrb)
{
    if (newest == mrb)
        newest = NULL;
}

int nodes_can_interrupt(const mrb_state *mrb)
{
    const mrb_gc *gc = &mrb->gc;
    return MRUBY_RELEASE_NO / 100 != 302 || !gc->generational || !gc->full;
}

/* Does mruby collect and try again, if an allocation fails now? */
static int tries_again(const mrb_state *mrb)
{
    if (mrb == NULL)
        return 1;
    return nodes_can_interrupt(mrb) && (MRUBY_RELEASE_NO < 30400 || mrb->gc.state != MRB_GC_STATE_SWEEP);
}

static void *allocate(mrb_state *mrb, void *ptr, size_t size)
{
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    if (memory_stress && mrb != NULL)
        mrb->gc.threshold = 0;
    if (tries_again(mrb) && hiccups())
        return NULL;
    if (memory_after >= 0 && memory_after-- == 0) {
        memory_after = 0;
        return NULL;
    }
    return realloc(ptr, size);
}

/* mruby 4.0 has one allocator for the whole program, and this is what it is called. */
#if MRUBY_RELEASE_NO < 40000
static void *allocate_for(mrb_state *mrb, void *ptr, size_t size, void *userdata)
{
    (void)userdata;
    return allocate(mrb, ptr, size);
}
#define OPEN() mrb_open_allocf(allocate_for, NULL)
#else
void *mrb_basic_alloc_func(void *ptr, size_t size)
{
    return allocate(newest, ptr, size);
}
#define OPEN() mrb_open()
#endif

/* ---- the objects ---- */

static const rrc_member node_members[] = {
    { "1", offsetof(node, field[0]) }, { "2", offsetof(node, field[1]) }, { "3", offsetof(node, field[2]) },
    { NULL, 0 }
};

/* What foreign code refers to weakly. */
static foreign *noted;

static void drop_fields(rrc_heap *heap, node *n)
{
    int i;
    for (i = 0; i < FIELDS; i++)
        RRC_CLEAR(heap, n->field[i]);
    foreign_clear(n->of);
}

static void node_dealloc(rrc_heap *heap, rrc_object *ob)
{
    node *n = (node *)ob;
    if (n->of != NULL) {
        if (noted == n->of)
            noted = NULL;
        foreign_unwrap(n->of);
        n->of = NULL;
    }
    drop_fields(heap, n);
    live--;
    if (node_freed != NULL)
        node_freed(n->id);
    if ((ob->ob_type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0)
        rrc_gc_del(heap, ob);
    else
        rrc_del(heap, ob);
}

static mrb_value call_finalized(mrb_state *mrb, void *data)
{
    mrb_value module = mrb_obj_value(mrb_module_get(mrb, "Nodes"));
    mrb_sym name = mrb_intern_lit(mrb, "finalized");
    if (mrb_respond_to(mrb, module, name))
        mrb_funcall_id(mrb, module, name, 1, mrb_int_value(mrb, ((const node *)data)->id));
    return mrb_nil_value();
}

static void node_finalize(rrc_heap *heap, rrc_object *ob)
{
    rrc_mruby_protect(heap, call_finalized, ob, NULL);
}

static intptr_t wrapper_outside(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    return foreign_outside(((node *)ob)->of);
}

static int wrapper_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    const node *n = (node *)ob;
    int i;
    for (i = 0; i < FIELDS; i++)
        RRC_VISIT(n->field[i]);
    return foreign_visit(n->of, visit, arg);
}

static int wrapper_clear(rrc_heap *heap, rrc_object *ob)
{
    drop_fields(heap, (node *)ob);
    return 0;
}

#define NODE_TYPE(variable, name, flags, finalize, members) \
    const rrc_type variable = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = name, \
                                .tp_basicsize = sizeof(node), .tp_flags = flags, .tp_dealloc = node_dealloc, \
                                .tp_finalize = finalize, .tp_members = members }
NODE_TYPE(node_type, "Node", RRC_TPFLAGS_HAVE_GC, NULL, node_members);
static NODE_TYPE(finalized_type, "Finalized", RRC_TPFLAGS_HAVE_GC, node_finalize, node_members);
static NODE_TYPE(like_type, "Like", RRC_TPFLAGS_HAVE_GC, NULL, node_members);

/* A Loose node has so many bytes elsewhere as its id says, if that is over 1000000. */
static size_t loose_size(rrc_heap *heap, rrc_object *ob)
{
    int id = ((node *)ob)->id;
    (void)heap;
    return id > 1000000 ? (size_t)id : 0;
}

static const rrc_type loose_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Loose",
                                     .tp_basicsize = sizeof(node), .tp_dealloc = node_dealloc, .tp_size = loose_size };
const rrc_type wrapper_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Wrapper", .tp_basicsize = sizeof(node),
                                .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = node_dealloc,
                                .tp_traverse = wrapper_traverse, .tp_clear = wrapper_clear,
                                .tp_outside = wrapper_outside };

node *node_make(rrc_heap *heap, const rrc_type *type, int id)
{
    int is_tracked = (type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0;
    node *n = (node *)(is_tracked ? rrc_gc_new(heap, type) : rrc_new(heap, type));
    if (n == NULL)
        return NULL;
    n->id = id;
    live++;
    if (type->tp_outside != NULL) {
        n->of = foreign_new(id);
        n->of->wrapper = &n->head;
    }
    if (is_tracked && rrc_gc_track(heap, &n->head) != RRC_OK) {
        rrc_decref(heap, &n->head);
        return NULL;
    }
    return n;
}

int node_count(void)
{
    return live;
}

static void drop_taken(void);

void node_forget_all(void)
{
    drop_taken();
    live = 0;
    foreign_library.alive = 0;
}

/* ---- their classes ---- */

static rrc_object **place_of(mrb_state *mrb, rrc_object *ob, mrb_int i)
{
    if (i < 0 || i >= FIELDS)
        mrb_raise(mrb, E_INDEX_ERROR, "no such field");
    return &((node *)ob)->field[i];
}

static rrc_object *make(const rrc_mruby_args *a, const rrc_type *type)
{
    return (rrc_object *)node_make(a->heap, type, (int)a->arg[0].integer);
}
static rrc_object *make_node(const rrc_mruby_args *a) { return make(a, &node_type); }
static rrc_object *make_finalized(const rrc_mruby_args *a) { return make(a, &finalized_type); }
static rrc_object *make_loose(const rrc_mruby_args *a) { return make(a, &loose_type); }
static rrc_object *make_wrapper(const rrc_mruby_args *a) { return make(a, &wrapper_type); }

static rrc_object *make_like(const rrc_mruby_args *a)
{
    const node *other = (const node *)rrc_mruby_unwrap(a->mrb, a->arg[1].value, &AnyNode);
    mrb_obj_as_string(a->mrb, a->arg[0].value);
    return (rrc_object *)node_make(a->heap, &like_type, other->id);
}

static mrb_value get_field(const rrc_mruby_args *a)
{
    return rrc_mruby_wrap(a->heap, *place_of(a->mrb, a->ob, a->arg[0].integer));
}

static mrb_value set_field(const rrc_mruby_args *a)
{
    rrc_object **place = place_of(a->mrb, a->ob, a->arg[0].integer), *old;
    rrc_object *held = rrc_mruby_hold(a->heap, a->arg[1].value);
    old = *place;
    *place = held;
    if (old != NULL)
        rrc_decref(a->heap, old);
    return a->arg[1].value;
}

static mrb_value move_field(const rrc_mruby_args *a)
{
    rrc_object **from = place_of(a->mrb, a->ob, a->arg[0].integer);
    rrc_object *other = rrc_mruby_unwrap(a->mrb, a->arg[1].value, &AnyNode);
    rrc_object **to = place_of(a->mrb, other, a->arg[2].integer), *moved = *from, *old;
    if (from == to || moved == NULL)
        return a->self;
    rrc_touch(a->heap, moved);
    old = *to;
    *from = NULL;
    *to = moved;
    if (old != NULL)
        rrc_decref(a->heap, old);
    return a->self;
}

static mrb_value get_id(const rrc_mruby_args *a) { return mrb_int_value(a->mrb, ((node *)a->ob)->id); }

/* What it was given, as it was understood. */
static mrb_value tell(const rrc_mruby_args *a)
{
    mrb_value result = mrb_ary_new(a->mrb);
    mrb_ary_push(a->mrb, result, mrb_int_value(a->mrb, a->count));
    mrb_ary_push(a->mrb, result, mrb_str_new_cstr(a->mrb, a->arg[0].string));
    mrb_ary_push(a->mrb, result, mrb_int_value(a->mrb, a->arg[1].integer));
    mrb_ary_push(a->mrb, result, mrb_float_value(a->mrb, a->arg[2].number));
    mrb_ary_push(a->mrb, result, a->arg[3].value);
    mrb_ary_push(a->mrb, result, a->block);
    mrb_ary_push(a->mrb, result, mrb_bool_value(a->ob != NULL));
    return result;
}

/* It uses an object, without a reference, before and after mruby code that can dispose of it. */
static mrb_value ask(const rrc_mruby_args *a)
{
    const node *n = (const node *)(a->count > 1 ? rrc_mruby_unwrap(a->mrb, a->arg[1].value, &AnyNode) : a->ob);
    mrb_obj_as_string(a->mrb, a->arg[0].value);
    return mrb_int_value(a->mrb, n->id);
}

static mrb_value lend(const rrc_mruby_args *a)
{
    mrb_yield(a->mrb, a->block, a->self);
    return mrb_int_value(a->mrb, ((node *)a->ob)->id);
}

static mrb_value fail(const rrc_mruby_args *a)
{
    mrb_state *mrb = a->mrb;
    rrc_mruby_dispose(mrb, a->self);
    mrb->exc = mrb_obj_ptr(mrb_exc_new(mrb, E_INDEX_ERROR, "failed", 6));
    return mrb_int_value(mrb, ((node *)a->ob)->id);
}

static mrb_value pause_fiber(const rrc_mruby_args *a) { return mrb_fiber_yield(a->mrb, 1, &a->arg[0].value); }

static mrb_value pause_disposed(const rrc_mruby_args *a)
{
    rrc_mruby_dispose(a->mrb, a->self);
    return mrb_fiber_yield(a->mrb, 1, &a->arg[0].value);
}

static foreign **foreign_field(const rrc_mruby_args *a)
{
    mrb_state *mrb = a->mrb;
    mrb_int i = a->arg[0].integer;
    if (((node *)a->ob)->of == NULL || i < 0 || i >= FOREIGN_FIELDS)
        mrb_raise(mrb, E_INDEX_ERROR, "no such field");
    return &((node *)a->ob)->of->field[i];
}

static mrb_value refer(const rrc_mruby_args *a)
{
    foreign **place = foreign_field(a), *to = NULL;
    if (!mrb_nil_p(a->arg[1].value))
        to = ((node *)rrc_mruby_unwrap(a->mrb, a->arg[1].value, &AnyNode))->of;
    foreign_set(place, to);
    return a->self;
}

static mrb_value wrapper_of(rrc_heap *heap, const foreign *f)
{
    return rrc_mruby_wrap(heap, f != NULL ? f->wrapper : NULL);
}

static mrb_value referred(const rrc_mruby_args *a) { return wrapper_of(a->heap, *foreign_field(a)); }

static void close_node(rrc_heap *heap, rrc_object *ob)
{
    RRC_CLEAR(heap, ((node *)ob)->field[0]);
}

static const rrc_mruby_method
    any_methods[] = { { "[]", get_field, "i" }, { "[]=", set_field, "io" }, { "id", get_id, NULL },
        { "move", move_field, "ioi" }, { "tell", tell, "zi|fo" }, { "wrong", tell, "zx" },
        { "too_many", tell, "ooooooooo" }, { "refer", refer, "io" }, { "referred", referred, "i" },
        { "ask", ask, "o|o" }, { "lend", lend, NULL }, { "fail", fail, NULL }, { "pause", pause_fiber, "o" },
        { "pause_disposed", pause_disposed, "o" }, { NULL, NULL, NULL } },
    any_class_methods[] = { { "tell", tell, "zifo" }, { "ask", ask, "oo" }, { NULL, NULL, NULL } };

const rrc_mruby_class AnyNode = { .name = "AnyNode", .methods = any_methods,
                                  .class_methods = any_class_methods, .close = close_node };
const rrc_mruby_class NodeClass = { .type = &node_type, .base = &AnyNode, .make = make_node, .arguments = "i" };
static const rrc_mruby_class Finalized = { .type = &finalized_type, .base = &AnyNode, .make = make_finalized,
                                           .arguments = "i" };
static const rrc_mruby_class WrapperClass = { .type = &wrapper_type, .base = &AnyNode, .make = make_wrapper,
                                              .arguments = "i" };
static const rrc_mruby_class Like = { .type = &like_type, .base = &AnyNode, .make = make_like, .arguments = "oo" };
static const rrc_mruby_class Loose = { .type = &loose_type, .base = &AnyNode, .make = make_loose, .arguments = "i" };

/* ---- the module ---- */

static mrb_value new_proxy(mrb_state *mrb, mrb_value self)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    mrb_int id;
    (void)self;
    mrb_get_args(mrb, "i", &id);
    return rrc_mruby_wrap_new(heap, (rrc_object *)node_make(heap, &node_type, (int)id));
}

/* What must not be: a new Node whose object is that of a value. */
static mrb_value adopt(mrb_state *mrb, mrb_value self)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    rrc_object *ob = rrc_mruby_hold(heap, mrb_get_arg1(mrb));
    mrb_value object = mrb_obj_value(mrb_data_object_alloc(mrb, mrb_class_get_under(mrb, mrb_module_get(mrb, "Rawrefcount"),
                                                                                    "Object"), NULL, NULL));
    (void)self;
    return rrc_mruby_init(heap, object, ob);
}

static rrc_object *held_obs[100];
static int held_count;

static mrb_value hold(mrb_state *mrb, mrb_value self)
{
    if (held_count == 100)
        mrb_raise(mrb, E_RUNTIME_ERROR, "too much is held");
    held_obs[held_count] = rrc_mruby_hold(rrc_mruby_heap(mrb), mrb_get_arg1(mrb));
    held_count++;
    return self;
}

static mrb_value held(mrb_state *mrb, mrb_value self)
{
    mrb_int i;
    (void)self;
    mrb_get_args(mrb, "i", &i);
    return rrc_mruby_wrap(rrc_mruby_heap(mrb), i < held_count ? held_obs[i] : NULL);
}

static mrb_value release(mrb_state *mrb, mrb_value self)
{
    while (held_count > 0)
        if (held_obs[--held_count] != NULL)
            rrc_decref(rrc_mruby_heap(mrb), held_obs[held_count]);
    return self;
}

/* ---- foreign code ---- */

static mrb_value new_wrapper(mrb_state *mrb, mrb_value self)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    mrb_int id;
    (void)self;
    mrb_get_args(mrb, "i", &id);
    return rrc_mruby_wrap_new(heap, (rrc_object *)node_make(heap, &wrapper_type, (int)id));
}

static foreign *foreign_of(mrb_state *mrb)
{
    foreign *of = ((node *)rrc_mruby_unwrap(mrb, mrb_get_arg1(mrb), &AnyNode))->of;
    if (of == NULL)
        mrb_raise(mrb, E_TYPE_ERROR, "no Wrapper");
    return of;
}

static mrb_value take(mrb_state *mrb, mrb_value self)
{
    foreign *of = foreign_of(mrb);
    foreign_hold(of);
    return self;
}

static mrb_value get_taken(mrb_state *mrb, mrb_value self)
{
    mrb_int i;
    (void)self;
    mrb_get_args(mrb, "i", &i);
    return wrapper_of(rrc_mruby_heap(mrb), foreign_library.taken[i]);
}

static void drop_taken(void)
{
    int i;
    for (i = 0; i < FOREIGN_PLACES; i++)
        foreign_set(&foreign_library.taken[i], NULL);
}

static mrb_value drop(mrb_state *mrb, mrb_value self)
{
    mrb_int i;
    if (mrb_get_args(mrb, "|i", &i) == 0)
        drop_taken();
    else
        foreign_set(&foreign_library.taken[i], NULL);
    return self;
}

static mrb_value note_weakly(mrb_state *mrb, mrb_value self)
{
    noted = foreign_of(mrb);
    return self;
}

static mrb_value retake(mrb_state *mrb, mrb_value self)
{
    (void)mrb, (void)self;
    if (noted != NULL)
        foreign_hold(noted);
    return mrb_bool_value(noted != NULL);
}

static void taker_swept(mrb_state *mrb, void *data)
{
    (void)mrb, (void)data;
    if (noted != NULL)
        foreign_hold(noted);
}
static const mrb_data_type taker_type = { "taker", taker_swept };

static mrb_value new_taker(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_obj_value(mrb_data_object_alloc(mrb, mrb->object_class, &noted, &taker_type));
}

static mrb_value count_foreigners(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_int_value(mrb, (mrb_int)foreign_library.alive);
}

static mrb_value count_live(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_int_value(mrb, live);
}

static mrb_value call_back(mrb_state *mrb, mrb_value self)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    rrc_object *obs[20];
    const mrb_value *args;
    mrb_int n, i;
    int failed;
    mrb_get_args(mrb, "*", &args, &n);
    for (i = 0; i < n && i < 20; i++)
        obs[i] = rrc_mruby_hold(heap, args[i]);
    failed = rrc_mruby_call(heap, obs[0], (size_t)n - 1, obs + 1);
    for (i = 0; i < n && i < 20; i++)
        if (obs[i] != NULL)
            rrc_decref(heap, obs[i]);
    if (failed)
        rrc_mruby_raise(heap);
    return self;
}

static mrb_value native(mrb_state *mrb, mrb_value self)
{
    mrb_int change;
    mrb_get_args(mrb, "i", &change);
    rrc_mruby_native_bytes(rrc_mruby_heap(mrb), (ptrdiff_t)change);
    return self;
}

/* No local variable of a caller keeps what these make. */
static const char library[] =
    "def mention(x) = -> { x }\n"
    "def apart; yield; nil; end\n"
    "def equal(actual, expected)\n"
    "  raise \"#{actual.inspect}, not #{expected.inspect}\" unless actual == expected\n"
    "end\n"
    "def raises(type, message)\n"
    "  begin\n"
    "    yield\n"
    "  rescue type => e\n"
    "    raise \"wrong message: #{e.message}\" unless e.message.include?(message)\n"
    "    return e\n"
    "  end\n"
    "  raise \"no #{type}\"\n"
    "end\n";

mrb_state *nodes_open(void)
{
    static const struct { const char *name; mrb_func_t function; mrb_aspec arguments; } functions[] = {
        { "proxy", new_proxy, MRB_ARGS_REQ(1) }, { "hold", hold, MRB_ARGS_REQ(1) },
        { "held", held, MRB_ARGS_REQ(1) }, { "adopt", adopt, MRB_ARGS_REQ(1) }, { "release", release, MRB_ARGS_NONE() },
        { "live", count_live, MRB_ARGS_NONE() }, { "call", call_back, MRB_ARGS_ANY() },
        { "native", native, MRB_ARGS_REQ(1) }, { "wrapper", new_wrapper, MRB_ARGS_REQ(1) },
        { "take", take, MRB_ARGS_REQ(1) }, { "taken", get_taken, MRB_ARGS_REQ(1) }, { "drop", drop, MRB_ARGS_OPT(1) },
        { "note", note_weakly, MRB_ARGS_REQ(1) }, { "retake", retake, MRB_ARGS_NONE() },
        { "taker", new_taker, MRB_ARGS_NONE() }, { "foreigners", count_foreigners, MRB_ARGS_NONE() } };
    mrb_state *mrb;
    struct RClass *module;
    size_t i;
    int arena;
    newest = NULL;
    mrb = newest = OPEN();
    check(mrb != NULL);
    mrb_state_atexit(mrb, forget_newest);
    arena = mrb_gc_arena_save(mrb);
    held_count = 0;
    noted = NULL;
    drop_taken();                           /* (of the mrb_state before) */
    hiccup_random = 1;
    rrc_mruby_define_insight(mrb);
    rrc_mruby_define_class(mrb, NULL, &NodeClass);
    rrc_mruby_define_class(mrb, NULL, &Finalized);
    rrc_mruby_define_class(mrb, NULL, &Like);
    rrc_mruby_define_class(mrb, NULL, &Loose);
    rrc_mruby_define_class(mrb, NULL, &WrapperClass);
    module = mrb_define_module(mrb, "Nodes");
    for (i = 0; i < sizeof functions / sizeof *functions; i++)
        mrb_define_module_function(mrb, module, functions[i].name, functions[i].function,
                                   functions[i].arguments);
    mrb_load_string(mrb, library);
    check(mrb->exc == NULL);
    mrb_gc_arena_restore(mrb, arena);
#if MRUBY_RELEASE_NO / 100 == 302
    while (mrb->gc.full)                    /* else objects are lost when a script sets the mode */
        mrb_incremental_gc(mrb);
#endif
    return mrb;
}

/* The sentinel does not die, and so no cycle of mruby's seems to be over. */
void nodes_step_by_hand(mrb_state *mrb)
{
    rrcm_state *state = rrcm_state_of(rrc_mruby_heap(mrb));
    rrcm_new_sentinel(state);
    mrb_gc_register(mrb, mrb_obj_value(state->sentinel));
}
