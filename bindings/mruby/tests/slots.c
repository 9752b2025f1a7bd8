/* slots.c - what a tp_finalize, a tp_clear and a tp_dealloc can use: a part of test_mruby. The bindings for
 * Lua and Ruby have the same places.
 *
 * An owner owns a string and a proc of mruby, and looks at both in each of its slots. Its `next` leads on:
 * to an array with another owner's proxy, or back to itself. Its tp_clear clears `next` only, so that its
 * tp_dealloc still has the rest. Each place gives a line of the table in README.md, which must be there
 * word for word. */
#include "nodes.h"
#include "unit.h"

#include <mruby/compile.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <stdio.h>
#include <string.h>

enum { FINALIZE, CLEAR, DEALLOC, SLOTS };
enum { ALL, STRING, NOTHING, WRONG, FINDINGS };

typedef struct owner {
    rrc_object  head;
    int         id, is_cleared, is_kept;
    rrc_object *text, *callback, *next;
} owner;

static int found[SLOTS][FINDINGS];
static int wrong;                       /* a string or proc that is another's */
static int owners;                      /* that live */
static int met;                         /* by ObjectSpace: what is cleared, or deallocated */
static int mode;                        /* of mruby's collector: 1: generational, 2: at each allocation */
static int is_busy;                     /* the slots use all else that there is, and collect */
static int is_at_end;
static rrc_object *held;                /* by C */

/* The proc returns the number of its owner. */
static mrb_value call_callback(mrb_state *mrb, void *data)
{
    const owner *o = (const owner *)data;
    mrb_value callback = rrc_mruby_wrap(rrc_mruby_heap(mrb), o->callback);
    mrb_value result = mrb_funcall(mrb, callback, "call", 0);
    wrong += !mrb_integer_p(result) || mrb_integer(result) != o->id;
    return result;
}

/* One that is being deallocated gets no proxy. */
static mrb_value wrap_self(mrb_state *mrb, void *data)
{
    return rrc_mruby_wrap(rrc_mruby_heap(mrb), (rrc_object *)data);
}

/* Each works, or fails as its comment says. */
static mrb_value use_all(mrb_state *mrb, void *data)
{
    owner *o = (owner *)data;
    rrc_heap *heap = rrc_mruby_heap(mrb);
    rrc_object *ob;
    mrb_value next = rrc_mruby_wrap(heap, o->next), callback = rrc_mruby_wrap(heap, o->callback);
    ob = rrc_mruby_hold(heap, next);
    check(ob == NULL || ob == o->next);
    if (ob != NULL)
        rrc_decref(heap, ob);
    ob = rrc_mruby_hold(heap, callback);
    check(ob == NULL || ob == o->callback);
    if (ob != NULL)
        rrc_decref(heap, ob);
    ob = rrc_mruby_hold(heap, mrb_str_new_cstr(mrb, "new"));
    check(rrc_mruby_is_value(ob));
    rrc_decref(heap, ob);
    rrc_mruby_test(next, NULL);
    o->is_kept |= is_at_end && o->is_cleared;
    if (o->is_kept)                             /* its proxy stays in use; or it is being deallocated */
        mrb_gv_set(mrb, mrb_intern_lit(mrb, "$kept"), rrc_mruby_wrap(heap, &o->head));
    rrc_mruby_step(heap);
    rrc_mruby_collect(heap);
    return mrb_nil_value();
}

static void look(rrc_heap *heap, owner *o, int slot)
{
    char expected[40];
    mrb_value text;
    int has_text, has_callback;
    if (is_busy) {
        if (slot == DEALLOC)
            check(rrc_mruby_protect(heap, wrap_self, o, NULL) != 0);
        rrc_mruby_native_bytes(heap, 100);
        rrc_mruby_protect(heap, use_all, o, NULL);
        rrc_mruby_native_bytes(heap, -100);
    }
    wrong = 0;
    text = rrc_mruby_wrap(heap, o->text);
    has_text = !mrb_nil_p(text);
    sprintf(expected, "text %d", o->id);
    wrong += has_text && (!mrb_string_p(text) || strcmp(RSTRING_PTR(text), expected) != 0);
    has_callback = rrc_mruby_protect(heap, call_callback, o, NULL) == 0;
    check_int(rrc_mruby_call(heap, o->callback, 0, NULL) == 0, has_callback);
    found[slot][wrong > 0 || (has_callback && !has_text) ? WRONG : has_callback ? ALL : has_text ? STRING : NOTHING]++;
}

static int owner_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    owner *o = (owner *)ob;
    RRC_VISIT(o->text);
    RRC_VISIT(o->callback);
    RRC_VISIT(o->next);
    return 0;
}

static void owner_finalize(rrc_heap *heap, rrc_object *ob) { look(heap, (owner *)ob, FINALIZE); }

static int owner_clear(rrc_heap *heap, rrc_object *ob)
{
    ((owner *)ob)->is_cleared = 1;
    look(heap, (owner *)ob, CLEAR);
    RRC_CLEAR(heap, ((owner *)ob)->next);
    return 0;
}

static void owner_dealloc(rrc_heap *heap, rrc_object *ob)
{
    owner *o = (owner *)ob;
    o->is_cleared = 1;
    look(heap, o, DEALLOC);
    RRC_CLEAR(heap, o->next);
    RRC_CLEAR(heap, o->text);
    RRC_CLEAR(heap, o->callback);
    owners--;
    rrc_gc_del(heap, ob);
}

#define OWNER_TYPE(variable, name, finalize) \
    static const rrc_type variable = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = name, \
        .tp_basicsize = sizeof(owner), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = owner_dealloc, \
        .tp_traverse = owner_traverse, .tp_clear = owner_clear, .tp_finalize = finalize }
OWNER_TYPE(owner_type, "Owner", owner_finalize);
OWNER_TYPE(unfinalized_type, "Unfinalized", NULL);

/* Owner.new(id, text, proc); Owner.wrapped with the same arguments is made by C; Owner.unseen has no object in mruby,
   and C holds it. */
static rrc_object *make(const rrc_mruby_args *a, const rrc_type *type)
{
    owner *o = (owner *)rrc_gc_new(a->heap, type);
    check(o != NULL);
    owners++;
    o->id = (int)a->arg[0].integer;
    check_int(rrc_gc_track(a->heap, &o->head), RRC_OK);
    o->text = rrc_mruby_hold(a->heap, a->arg[1].value);
    o->callback = rrc_mruby_hold(a->heap, a->arg[2].value);
    return &o->head;
}

static rrc_object *make_owner(const rrc_mruby_args *a) { return make(a, &owner_type); }
static rrc_object *make_unfinalized(const rrc_mruby_args *a) { return make(a, &unfinalized_type); }
static mrb_value wrap_owner(const rrc_mruby_args *a) { return rrc_mruby_wrap_new(a->heap, make_owner(a)); }
static mrb_value wrap_unfinalized(const rrc_mruby_args *a) { return rrc_mruby_wrap_new(a->heap, make_unfinalized(a)); }
static mrb_value unseen(const rrc_mruby_args *a) { held = make_owner(a); return a->self; }
static mrb_value unseen_unfinalized(const rrc_mruby_args *a) { held = make_unfinalized(a); return a->self; }

static mrb_value set_next(const rrc_mruby_args *a)
{
    rrc_object *next = rrc_mruby_hold(a->heap, a->arg[0].value);
    ((owner *)a->ob)->next = next;
    return a->self;
}

static const rrc_mruby_method methods[] = { { "next=", set_next, "o" }, { NULL, NULL, NULL } };
static const rrc_mruby_method owner_class_methods[] = { { "wrapped", wrap_owner, "ioo" },
                                                        { "unseen", unseen, "ioo" }, { NULL, NULL, NULL } };
static const rrc_mruby_method unfinalized_class_methods[] = { { "wrapped", wrap_unfinalized, "ioo" },
                                                              { "unseen", unseen_unfinalized, "ioo" },
                                                              { NULL, NULL, NULL } };
static const rrc_mruby_class OwnerClass = { .type = &owner_type, .make = make_owner, .arguments = "ioo",
                                            .methods = methods, .class_methods = owner_class_methods };
static const rrc_mruby_class Unfinalized = { .type = &unfinalized_type, .make = make_unfinalized, .arguments = "ioo",
                                             .methods = methods, .class_methods = unfinalized_class_methods };

/* What ObjectSpace gives is no object that is being cleared. */
static mrb_value meet(mrb_state *mrb, mrb_value self)
{
    const owner *o = (const owner *)rrc_mruby_test(mrb_get_arg1(mrb), NULL);
    met += o != NULL && o->is_cleared && !o->is_kept;
    return self;
}

static mrb_value hold_owner(mrb_state *mrb, mrb_value self)
{
    held = rrc_mruby_hold(rrc_mruby_heap(mrb), mrb_get_arg1(mrb));
    return self;
}

static void run(mrb_state *mrb, const char *script)
{
    int arena = mrb_gc_arena_save(mrb);
    mrb_load_string(mrb, script);
    if (mrb->exc != NULL) {
        mrb_value text = mrb_funcall(mrb, mrb_obj_value(mrb->exc), "inspect", 0);
        unit_fail(__FILE__, __LINE__, "%s", RSTRING_PTR(text));
    }
    mrb_gc_arena_restore(mrb, arena);
}

/* No local variable of a caller keeps what these make. */
static const char library[] =
    "def owner(id)\n"
    "  classes = [Owner, Unfinalized]\n"
    "  text, callback = \"text #{id}\", -> { classes.each { |c| ObjectSpace.each_object(c) { |x| meet(x) } }; id }\n"
    "  $wrapped ? $class.wrapped(id, text, callback) : $class.new(id, text, callback)\n"
    "end\n"
    "def unseen; $class.unseen(1, 'text 1', -> { 1 }); nil; end\n"
    "def chain\n"
    "  first = last = owner(1)\n"
    "  9.times { |i| o = owner(i + 2); last.next = [o]; last = o }\n"
    "  first\n"
    "end\n"
    "def cycle; o = owner(1); o.next = [o]; o; end\n"
    "def cycle_of_c; o = owner(1); o.next = o; o; end\n"
    "def cycle_below; top = Node.new(1); top[0] = cycle_of_c; top; end\n"
    "def collect(n = 4); n.times { Rawrefcount.collect }; end\n";

/* How a place is reached: by Rawrefcount.collect, or by full collections of mruby's alone. */
enum { BY_COLLECT = 1, BY_MRUBY = 2, BOTH = BY_COLLECT | BY_MRUBY };

/* When C lets go of an object, to which mruby refers no more. */
enum { NOT_HELD, DISPOSED_OF, HELD_FROM_THE_START, HELD, HELD_LONGER };

typedef struct place {
    const char *name, *script;
    int         count, held, is_end, ways;
} place;

static const place places[] = {
    { "alone", "owner(1)", 1, NOT_HELD, 0, BOTH },
    { "alone", "owner(1)", 1, HELD, 0, BOTH },
    { "never seen by a script", "unseen", 1, HELD_FROM_THE_START, 0, BOTH },
    { "a cycle over both heaps", "cycle", 1, NOT_HELD, 0, BOTH },
    { "a chain over both heaps", "chain", 10, NOT_HELD, 0, BOTH },
    { "a cycle of C", "cycle_of_c", 1, NOT_HELD, 0, BOTH },
    { "a cycle of C", "cycle_of_c", 1, HELD, 0, BOTH },
    { "a cycle of C below an object that dies, by `collect`", "cycle_below", 1, NOT_HELD, 0, BY_COLLECT },
    { "a cycle of C below an object that dies, by mruby", "cycle_below", 1, NOT_HELD, 0, BY_MRUBY },
    { "disposed of", "owner(1)", 1, DISPOSED_OF, 0, BOTH },
    { "the end: alone", "owner(1)", 1, NOT_HELD, 1, BOTH },
    { "the end: a cycle over both heaps", "cycle", 1, NOT_HELD, 1, BOTH },
    { "the end: a chain over both heaps", "chain", 10, NOT_HELD, 1, BOTH },
    { "the end: a cycle of C", "cycle_of_c", 1, NOT_HELD, 1, BOTH },
    { "the end: a cycle of C", "cycle_of_c", 1, HELD, 1, BOTH },
    { "after the end: alone, let go of by C", "owner(1)", 1, HELD_LONGER, 1, BOTH },
};

static mrb_state *open_place(const place *where, int has_finalizer, int is_wrapped)
{
    mrb_state *mrb;
    char script[100];
    node_forget_all();
    memory_stress = 0;
    mrb = nodes_open();
    run(mrb, (mode & 1) != 0 ? "GC.generational_mode = true" : "GC.generational_mode = false");
    memory_stress = (mode & 2) != 0;
    rrc_mruby_define_class(mrb, NULL, &OwnerClass);
    rrc_mruby_define_class(mrb, NULL, &Unfinalized);
    mrb_define_method(mrb, mrb->kernel_module, "meet", meet, MRB_ARGS_REQ(1));
    mrb_define_method(mrb, mrb->kernel_module, "hold_owner", hold_owner, MRB_ARGS_REQ(1));
    run(mrb, library);
    sprintf(script, "$class = %s; $wrapped = %s; $it = %s; nil", has_finalizer ? "Owner" : "Unfinalized",
            is_wrapped ? "true" : "false", where->script);
    run(mrb, script);
    run(mrb, "collect");                        /* only $it has a proxy now, and what mruby refers to */
    if (where->held >= HELD)
        run(mrb, "hold_owner($it); $it = nil; collect");
    return mrb;
}

/* At the end, all is still reachable by BY_COLLECT, and garbage by BY_MRUBY. */
static void go_to(const place *where, int way, int has_finalizer, int is_wrapped)
{
    mrb_state *mrb = open_place(where, has_finalizer, is_wrapped);
    rrc_heap *heap = rrc_mruby_heap(mrb);
    is_at_end = where->is_end;
    if (where->held == HELD || where->held == HELD_FROM_THE_START)
        rrc_decref(heap, held);
    if (where->held == DISPOSED_OF)
        run(mrb, "begin; $it.dispose; rescue RuntimeError; end");     /* of the slots */
    if (!where->is_end) {
        run(mrb, way == BY_COLLECT ? "$it = nil; collect" : "$it = nil; 100.times { GC.start; Nodes.hold('new'); Nodes.release }");
        check_int(rrc_check(heap), RRC_OK);
        check_int(owners, 0);
    }
    if (way == BY_MRUBY)
        run(mrb, "$it = nil");
    mrb_close(mrb);
    memory_stress = 0;
    if (where->held == HELD_LONGER) {
        check_int(owners, 1);
        rrc_decref(heap, held);
    }
    check_int(owners, 0);
    check_int(met, 0);
    check_int(node_count(), 0);
}

/* A cell of the table: what a slot of `count` objects has found. */
static const char *finding(int slot, int count)
{
    static const char *const names[] = { "all", "the string", "nothing", "**wrong**" };
    int i, sum = 0;
    for (i = 0; i < FINDINGS; i++)
        sum += found[slot][i];
    for (i = 0; i < FINDINGS; i++)
        if (found[slot][i] == count && sum == count)
            return names[i];
    return sum == 0 ? "-" : "**mixed**";
}

static char page[100000];

static void read_page(void)
{
    FILE *file = fopen("bindings/mruby/README.md", "rb");
    check(file != NULL);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
}

static void check_place(const place *where, int way, int is_wrapped)
{
    char line[2][50], row[200];
    int has_finalizer;
    for (has_finalizer = 0; has_finalizer < 2; has_finalizer++) {
        memset(found, 0, sizeof found);
        met = 0;
        unit_context("%s, mode %d, way %d%s%s%s: ", where->name, mode, way, is_busy ? ", busy" : "", is_wrapped ? ", wrapped" : "",
                     has_finalizer ? ", with a finalizer" : "");
        go_to(where, way, has_finalizer, is_wrapped);
        if (!has_finalizer)
            check_str(finding(FINALIZE, where->count), "-");
        sprintf(line[has_finalizer], " %s | %s |", finding(CLEAR, where->count), finding(DEALLOC, where->count));
    }
    sprintf(row, "\n| %s | %s |%s\n", where->name, finding(FINALIZE, where->count), line[1]);
    check_str(line[0], line[1]);
    if (strstr(page, row) == NULL)
        unit_fail(__FILE__, __LINE__, "README.md does not say: %s", row);
}

static void check_places(void)
{
    size_t i;
    int is_wrapped;
    for (i = 0; i < sizeof places / sizeof *places; i++)
        for (is_busy = 0; is_busy < 2; is_busy++)
            for (is_wrapped = 0; is_wrapped < 2; is_wrapped++) {
                if ((places[i].ways & BY_COLLECT) != 0)
                    check_place(&places[i], BY_COLLECT, is_wrapped);
                if ((places[i].ways & BY_MRUBY) != 0)
                    check_place(&places[i], BY_MRUBY, is_wrapped);
            }
}

static void slots_find_what_the_page_says(void)
{
    read_page();
    for (mode = 0; mode < 4; mode++)
        check_places();
    unit_context("%s", "");
}

UNIT_GROUP(slots_group, UNIT(slots_find_what_the_page_says));
