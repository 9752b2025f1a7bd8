/* test_mruby.c - what the binding promises, mostly as mruby scripts: each raises when
 * something is not as it must be. */
#define _POSIX_C_SOURCE 200809L
#include "nodes.h"
#include "unit.h"
#include "caught.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/compile.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <stdio.h>
#include <string.h>

static mrb_state *mrb;
static rrc_heap *heap;

static void run_at(int line, const char *script)
{
    int arena = mrb_gc_arena_save(mrb);
    mrb_load_string(mrb, script);
    if (mrb->exc != NULL) {
        mrb_value text = mrb_funcall(mrb, mrb_obj_value(mrb->exc), "inspect", 0);
        char copy[500];
        snprintf(copy, sizeof copy, "%s", RSTRING_PTR(text));
        unit_fail(__FILE__, line, "%s", copy);
    }
    mrb_gc_arena_restore(mrb, arena);
}
#define run(script) run_at(__LINE__, script)

/* A test that failed may have left anything. */
static void open_vm(void)
{
    node_forget_all();
    memory_stress = 0;
    memory_after = -1;
    mrb = nodes_open();
    heap = rrc_mruby_heap(mrb);
}

/* Whatever a test did: in the end nothing is left. */
static void close_vm(void)
{
    run("Nodes.release; Nodes.drop; Rawrefcount.collect; Rawrefcount.collect; Rawrefcount.check");
    check_int(node_count(), 0);
    mrb_close(mrb);
    check_int(node_count(), 0);
    check_int(foreign_library.alive, 0);
}

/* Run a script in each mode of mruby's collector, also when it is always at work. */
static void in_all_modes(int line, const char *script)
{
    int mode;
    for (mode = 0; mode < 4; mode++) {
        unit_context("%s%s: ", mode & 1 ? "generational" : "incremental", mode & 2 ? ", stress" : "");
        open_vm();
        run(mode & 1 ? "GC.generational_mode = true" : "GC.generational_mode = false");
        memory_stress = (mode & 2) != 0;
        if (memory_stress)
            run("GC.step_ratio = 1");
        run_at(line, script);
        memory_stress = 0;
        close_vm();
    }
    unit_context("%s", "");
}
#define everywhere(script) in_all_modes(__LINE__, script)

/* ---- cycles ---- */

static void widget_and_proc(void)
{
    everywhere("apart { w = Node.new(1); w[0] = mention(w) }\n"
               "Rawrefcount.collect; equal Nodes.live, 0\n"
               "apart { w = Nodes.proxy(1); w[0] = mention(w) }\n"
               "Rawrefcount.collect; equal Nodes.live, 0");
}

static void by_mrubys_collector_alone(void)
{
    everywhere("apart { w = Node.new(1); w[0] = mention(w) }\n"
               "Rawrefcount.step; GC.start; GC.start; Node.new(2); equal Nodes.live, 1");
}

static void without_any_call(void)
{
    everywhere("100.times { |round| 1000.times { |i| w = Node.new(i); w[0] = mention(w) } }\n"
               "raise Nodes.live.to_s if Nodes.live > 75_000");
}

static void through_pure_objects(void)
{
    everywhere("def ring(n) = apart {\n"
               "  first = last = Nodes.proxy(0)\n"
               "  n.times { |i| x = Nodes.proxy(i); last[0] = x; last = x }\n"
               "  last[0] = mention(first)\n"
               "}\n"
               "ring(2); Rawrefcount.collect; equal Nodes.live, 0\n"
               "ring(500); Rawrefcount.collect; equal Nodes.live, 0");
}

static void kept_from_each_part(void)
{
    everywhere("parts = [Nodes.proxy(1), Nodes.proxy(2), Node.new(3)]\n"
               "w, x, y = parts\n"
               "w[0] = x; x[0] = y; y[0] = mention(w)\n"
               "parts << y[0]\n"
               "w = x = y = nil\n"
               "4.times do |i|\n"
               "  part = parts[i]\n"
               "  parts.clear\n"
               "  3.times { Rawrefcount.collect; Rawrefcount.step; GC.start; equal Nodes.live, 3 }\n"
               "  part = part.is_a?(Proc) ? part.call : part[0] until part.is_a?(Node) && part.id == 1\n"
               "  parts << part << part[0] << part[0][0] << part[0][0][0]\n"
               "  part = nil\n"
               "end\n"
               "parts.clear");
}

static void held_by_c(void)
{
    everywhere("def make(what) = apart {\n"
               "  w, x = Nodes.proxy(1), Nodes.proxy(2)\n"
               "  w[0] = x; x[0] = mention(w)\n"
               "  Nodes.hold([w, x, x[0]][what])\n"
               "}\n"
               "3.times do |i|\n"
               "  make(i)\n"
               "  3.times { Rawrefcount.collect; GC.start; equal Nodes.live, 2 }\n"
               "  apart { h = Nodes.held(0); w = i == 2 ? h.call : i == 1 ? h[0].call : h; equal w.id, 1\n"
               "          equal w[0][0].call.id, 1 }\n"
               "  Nodes.release; Rawrefcount.collect; equal Nodes.live, 0\n"
               "end");
}

static void cycles_of_c_alone(void)
{
    everywhere("apart { a, b = Nodes.proxy(1), Nodes.proxy(2); a[0] = b; b[0] = a; a[1] = a }\n"
               "Rawrefcount.collect; equal Nodes.live, 0\n"
               "apart { a, b = Nodes.proxy(1), Nodes.proxy(2); a[0] = b; b[0] = a; Nodes.hold(a) }\n"
               "Rawrefcount.collect; equal Nodes.live, 2; equal Nodes.held(0)[0][0].id, 1");
}

static void moved_references(void)
{
    everywhere("a, b = Nodes.proxy(1), Nodes.proxy(2)\n"
               "apart { a[0] = mention(a) }\n"
               "Rawrefcount.step\n"
               "a.move(0, b, 1); a = nil\n"
               "3.times { GC.start }\n"
               "equal b[1].call.id, 1\n"
               "b.move(1, b, 2); Rawrefcount.collect; equal b[2].call.id, 1");
}

/* Between two steps C puts two references in front of one that only a node keeps; what the second
   one leads to needs a node of its own. (It is the oldest object, and would get that node last.) Each
   allocation of the step collects. */
static void references_in_front_of_another(const char *how)
{
    rrc_object *first, *owned;
    node *n, *second;
    open_vm();
    second = node_make(heap, &node_type, 2);
    run(how);
    run("$n[2] = ['only', 'here']");
    n = (node *)rrc_mruby_unwrap(mrb, mrb_gv_get(mrb, mrb_intern_lit(mrb, "$n")), &NodeClass);
    first = rrc_mruby_hold(heap, mrb_str_new_cstr(mrb, "first"));
    owned = rrc_mruby_hold(heap, mrb_str_new_cstr(mrb, "owned"));
    mrb_gc_arena_restore(mrb, 0);
    rrc_mruby_collect(heap);
    check(n->field[2]->ob_refcnt < 0);      /* weak */
    second->field[0] = owned;
    n->field[0] = first;
    n->field[1] = &second->head;
    memory_hiccup = 1;
    check_int(rrc_mruby_step(heap), RRC_OK);
    memory_hiccup = 0;
    mrb_full_gc(mrb);
    run("equal [$n[0], $n[1].id, $n[1][0], $n[2]], ['first', 2, 'owned', ['only', 'here']]; $n = nil");
    close_vm();
}

static void a_step_loses_nothing_that_is_still_owned(void)
{
    references_in_front_of_another("GC.generational_mode = false; $n = Node.new(1)");
    references_in_front_of_another("GC.generational_mode = true; $n = Node.new(1)");
    references_in_front_of_another("GC.generational_mode = false; $n = Nodes.proxy(1)");
    references_in_front_of_another("GC.generational_mode = true; $n = Nodes.proxy(1)");
}

/* The program does nothing but call a callback, whose garbage makes mruby collect. */
static void call_for_a_while(rrc_object *callback, long calls)
{
    int before = node_count();
    for (; calls > 0 && node_count() == before; calls--)
        check_int(rrc_mruby_call(heap, callback, 0, NULL), 0);
}

static size_t count_steps(void)
{
    rrc_closed_stats stats;
    rrc_closed_get_stats(heap, &stats);
    return stats.mirror_steps;
}

/* C drops a ring of its own, which a decref does not tell. Before, there is nothing to find for
   so long that steps are rare. */
static void a_dropped_ring(const char *ring)
{
    rrc_object *callback;
    size_t steps;
    open_vm();
    run("GC.generational_mode = false");
    run(ring);
    callback = rrc_mruby_hold(heap, mrb_load_string(mrb, "-> { Array.new(50) { 'x' } }"));
    mrb_gc_arena_restore(mrb, 0);
    run("4.times { Rawrefcount.collect }; equal Nodes.live, 1000; equal Rawrefcount.check, true");
    steps = count_steps();
    call_for_a_while(callback, 20000);
    steps = count_steps() - steps;
    check(steps > 0 && steps < 12);
    run("Nodes.release");
    call_for_a_while(callback, 100000);
    check_int(node_count(), 0);
    rrc_decref(heap, callback);
    close_vm();
}

static void a_dropped_ring_goes(void)
{
    static const char *const rings[] = {
        "apart {\n"
        "  first = last = Nodes.proxy(0)\n"
        "  999.times { |i| x = Nodes.proxy(i); last[0] = x; last = x }\n"
        "  last[0] = first; Nodes.hold(first)\n"
        "}",
        "apart {\n"
        "  first = last = Nodes.proxy(0)\n"
        "  999.times { |i| x = Nodes.proxy(i); last[0] = x; last = x }\n"
        "  last[0] = mention(first); Nodes.hold(first)\n"
        "}" };
    a_dropped_ring(rings[0]);
    a_dropped_ring(rings[1]);
}

static void a_chain_costs_what_it_is_long(void)
{
    int n = unit_is_quick() ? 20000 : 100000;
    char script[400];
    open_vm();
    snprintf(script, sizeof script, "apart { last = Nodes.proxy(0); Nodes.hold(last)\n"
             "%d.times { |i| x = Nodes.proxy(i); last[0] = x; last = x } }\n"
             "Rawrefcount.collect; equal Nodes.live, %d\n"
             "Nodes.release; Rawrefcount.collect; equal Nodes.live, 0", n, n + 1);
    run(script);
    close_vm();
}

static void finalizers_once(void)
{
    everywhere("$seen = []\n"
               "def Nodes.finalized(id) = $seen << id\n"
               "apart { w = Finalized.new(7); w[0] = mention(w) }\n"
               "3.times { Rawrefcount.collect }\n"
               "equal $seen, [7]; equal Nodes.live, 0");
}

/* Run mruby's collector until it is about to do this. */
static void collect_until(mrb_gc_state state)
{
    do
        mrb_incremental_gc(mrb);
    while (mrb->gc.state != state);
}

/* Also what mruby had marked before C let go of it. */
static void a_collection_takes_all(void)
{
    open_vm();
    run("GC.generational_mode = false; GC.step_ratio = 1\n"
        "apart { w, x = Nodes.proxy(1), Nodes.proxy(2); w[0] = x; x[0] = w; Nodes.hold(w) }\n"
        "Rawrefcount.step");
    collect_until(MRB_GC_STATE_ROOT);
    collect_until(MRB_GC_STATE_SWEEP);
    run("Nodes.release; equal Rawrefcount.collect, 2; equal Nodes.live, 0");
    close_vm();
}

static int count_dead(mrb_state *vm, struct RBasic *array, void *count)
{
    mrb_int i;
    if (array->tt != MRB_TT_ARRAY || array->c != NULL)
        return MRB_EACH_OBJ_OK;
    for (i = 0; i < ARY_LEN((struct RArray *)array); i++) {
        mrb_value item = ARY_PTR((struct RArray *)array)[i];
        *(int *)count += !mrb_immediate_p(item) && mrb_object_dead_p(vm, mrb_basic_ptr(item));
    }
    return MRB_EACH_OBJ_OK;
}

/* A node is made while mruby marks, for an object whose proxy and value mruby has not reached: they die in the
   sweep that follows, and the node does not. */
static void a_node_made_while_marking(void)
{
    int dead = 0;
    open_vm();
    run("GC.generational_mode = false; GC.step_ratio = 1\n"
        "apart { 3000.times { |i| w = Node.new(i); w[0] = mention(w) } }");
    collect_until(MRB_GC_STATE_ROOT);
    collect_until(MRB_GC_STATE_MARK);   /* and no farther */
    rrc_closed_step(heap);
    collect_until(MRB_GC_STATE_ROOT);
    mrb_objspace_each_objects(mrb, count_dead, &dead);  /* hidden arrays: what nodes list, and what is rooted */
    check_int(dead, 0);
    run("3.times { Rawrefcount.collect }; equal Nodes.live, 0");
    close_vm();
}

static int count_dead_texts(mrb_state *vm, struct RBasic *object, void *count)
{
    mrb_value text = mrb_nil_value();
    if (object->tt == MRB_TT_DATA && !mrb_object_dead_p(vm, object))
        text = mrb_obj_iv_get(vm, (struct RObject *)object, mrb_intern_lit(vm, "@text"));
    *(int *)count += !mrb_immediate_p(text) && mrb_object_dead_p(vm, mrb_basic_ptr(text));
    return MRB_EACH_OBJ_OK;
}

/* A proxy is made while mruby marks, gets a text that only another proxy had, and is let go of with that one:
   it lives through the sweep, and so must the text. */
static void a_proxy_let_go_while_marking(void)
{
    int dead = 0;
    open_vm();
    run("GC.generational_mode = false; GC.step_ratio = 1\n"
        "apart { 30.times { |i| o = Node.new(i); o[1] = Node.new(100 + i); Nodes.hold(o)\n"
        "  o.instance_variable_set(:@text, \"a text that is on the heap \" + i.to_s) } }");
    rrc_closed_step(heap);
    collect_until(MRB_GC_STATE_ROOT);
    collect_until(MRB_GC_STATE_MARK);   /* and no farther */
    run("apart { 30.times { |i| o = Nodes.held(i); o[0] = w = Node.new(200 + i)\n"
        "  w.instance_variable_set(:@text, o.instance_variable_get(:@text)) }\n"
        "Nodes.release }");
    check_int(mrb->gc.state, MRB_GC_STATE_MARK);
    rrc_closed_step(heap);
    collect_until(MRB_GC_STATE_ROOT);
    mrb_objspace_each_objects(mrb, count_dead_texts, &dead);
    check_int(dead, 0);
    run("3.times { Rawrefcount.collect }; equal Nodes.live, 0");
    close_vm();
}

static void without_traverse_held(void)
{
    open_vm();
    run("apart { w = Loose.new(1); w[0] = mention(w) }\n"
        "2.times { Rawrefcount.collect }; equal Nodes.live, 1\n"
        "ObjectSpace.each_object(Loose) { |x| $x = x }; $x[0] = nil; $x = nil");
    close_vm();
}

/* ---- objects and values ---- */

static void identity(void)
{
    everywhere("a = Nodes.proxy(1); b = Nodes.proxy(2); a[0] = b\n"
               "raise unless a[0].equal?(b)\n"
               "b = nil; Rawrefcount.collect\n"
               "equal a[0].id, 2; raise unless a[0].equal?(a[0])\n"
               "f = mention(1); a[1] = f; a[2] = f\n"
               "3.times { raise unless a[1].equal?(f) && a[2].equal?(f); Rawrefcount.collect }\n"
               "before = Rawrefcount.stats[:objects]; a[2] = f; equal Rawrefcount.stats[:objects], before");
}

static void what_a_script_made_stays_whole(void)
{
    everywhere("class Special < Node\n"
               "  attr_accessor :name\n"
               "  def initialize(id, name); super(id); @name = name; end\n"
               "end\n"
               "parent = Nodes.proxy(1)\n"
               "apart { s = Special.new(2, 'special'); def s.single = 'single'; parent[0] = s }\n"
               "3.times { Rawrefcount.collect; GC.start }\n"
               "equal parent[0].class, Special; equal parent[0].name, 'special'\n"
               "equal parent[0].single, 'single'\n"
               "apart { parent[0].name = mention(parent[0]) }\n"
               "parent[0] = nil; Rawrefcount.collect; equal Nodes.live, 1");
}

/* What a script gives to an object that C made, while C holds it: directly, by an object of C, by a proc. */
static void what_a_script_adds_stays(void)
{
    everywhere("module Named; def named = \"named #{@name}\"; end\n"
               "def add(o)\n"
               "  o.instance_variable_set(:@name, 'name')\n"
               "  o.instance_variable_set(:@others, [o, mention(o)])\n"
               "  def o.single = @name + '!'\n"
               "  o.extend(Named)\n"
               "  nil\n"
               "end\n"
               "def added(o)\n"
               "  equal o.single, 'name!'; equal o.named, 'named name'\n"
               "  raise unless o.instance_variable_get(:@others)[0].equal?(o)\n"
               "end\n"
               "apart { parent = Nodes.proxy(0); Nodes.hold(parent); parent[0] = mention(parent[1] = Nodes.proxy(1))\n"
               "        Nodes.hold(Nodes.wrapper(2)); Nodes.hold(Nodes.proxy(3).freeze) }\n"
               "Rawrefcount.collect\n"
               "apart { add(Nodes.held(0)); add(Nodes.held(0)[1]); add(Nodes.held(1)) }\n"
               "20.times { |i|\n"
               "  i % 2 == 1 ? GC.start : Rawrefcount.collect; Rawrefcount.step if i % 3 == 0; 200.times { 'garbage' + '' }\n"
               "  apart { added(Nodes.held(0)); added(Nodes.held(0)[1]); added(Nodes.held(1)) } }\n"
               "raise unless Nodes.held(2).frozen?\n"
               "apart { Nodes.held(0)[1] = nil }; 3.times { Rawrefcount.collect }; equal Nodes.live, 4\n"
               "apart { Nodes.held(0)[0] = nil }; 3.times { Rawrefcount.collect }; equal Nodes.live, 3\n"
               "Nodes.release; 3.times { Rawrefcount.collect }; equal Nodes.live, 0");
}

static void every_kind_of_value(void)
{
    everywhere("values = [1, -5, 2**62, 1.5, 1e300, :sym, true, false, 'text', 'frozen'.freeze,\n"
               "          [1, [2]], { a: 1 }, 1..3, mention(1), method(:mention), Object, Kernel,\n"
               "          Object.new, Fiber.new { 1 }, nil,\n"
               "          RuntimeError.new('x'), ObjectSpace, Struct.new(:a).new(1), 1r, 1i]\n"
               "n = Node.new(1)\n"
               "values.each do |v|\n"
               "  n[0] = v; Rawrefcount.collect\n"
               "  raise v.inspect unless n[0] == v && n[0].class == v.class\n"
               "end\n"
               "apart { n[0] = 'only ' + 'here'; n[1] = ['only here', mention(3)] }\n"
               "Rawrefcount.collect; equal n[0], 'only here'; equal n[1][1].call, 3\n"
               "n[0] = [n]; n[1] = { n => n }; n[2] = n; n = nil\n"
               "Rawrefcount.collect; equal Nodes.live, 0");
}

static void errors_name_both_types(void)
{
    open_vm();
    run("n = Node.new(1)\n"
        "raises(TypeError, 'AnyNode expected, got String') { n.move(0, 'text', 0) }\n"
        "raises(TypeError, 'AnyNode expected, got NilClass') { n.move(0, nil, 0) }\n"
        "class Forgetful < Node; def initialize; end; end\n"
        "raises(TypeError, 'this Forgetful was not initialized') { Forgetful.new[0] }\n"
        "raises(TypeError, 'this Node was not initialized') { Node.allocate.id }\n"
        "raises(TypeError, 'initialized already') { n.__send__(:initialize, 2) }\n"
        "raises(TypeError, 'AnyNode cannot be made by new') { AnyNode.new }\n"
        "raises(TypeError, 'cannot be copied') { n.dup }\n"
        "raises(TypeError, 'cannot be copied') { n.clone }\n");
    close_vm();
}

static void arguments_are_checked(void)
{
    everywhere("n, block = Node.new(1), -> { 1 }\n"
               "equal n.tell('text', 5), [2, 'text', 5, 0.0, nil, nil, true]\n"
               "equal n.tell('text', 5, 3), [3, 'text', 5, 3.0, nil, nil, true]\n"
               "equal n.tell('', -1, 0.5, n, &block), [4, '', -1, 0.5, n, block, true]\n"
               "equal Node.tell('', 5, 1, :x), [4, '', 5, 1.0, :x, nil, false]\n"
               "equal n.tell(*['text', 5]), [2, 'text', 5, 0.0, nil, nil, true]\n"
               "raises(ArgumentError, 'wrong number of arguments (given 1, expected 2..4)') { n.tell('') }\n"
               "raises(ArgumentError, '(given 5, expected 2..4)') { n.tell('', 1, 2, 3, 4) }\n"
               "raises(ArgumentError, '(given 3, expected 4)') { Node.tell('', 1, 2) }\n"
               "raises(ArgumentError, '(given 1, expected 0)') { n.id(1) }\n"
               "raises(ArgumentError, '(given 0, expected 1)') { Node.new }\n"
               "raises(ArgumentError, '(given 2, expected 1)') { Node.new(1, 2) }\n"
               "raises(TypeError, 'Integer cannot be converted to String') { n.tell(1, 1) }\n"
               "raises(TypeError, 'nil cannot be converted to String') { n.tell(nil, 1) }\n"
               "raises(ArgumentError, 'null byte') { n.tell(\"a\\0b\", 1) }\n"
               "raises(TypeError, 'cannot be converted to Integer') { n.tell('', 'x') }\n"
               "raises(TypeError, 'cannot be converted to Float') { n.tell('', 1, []) }\n"
               "raises(TypeError, 'cannot be converted to Integer') { Node.new('x') }\n"
               "raises(ScriptError, 'no such letter') { n.wrong('', 1) }\n"
               "raises(ScriptError, 'too many letters') { n.too_many(1, 2, 3, 4, 5, 6, 7, 8, 9) }\n"
               "raises(ArgumentError, '(given 1, expected 2..4)') { n.dispose; n.tell(1) }\n"
               "raises(Rawrefcount::DisposedError, 'this Node was disposed of') { n.tell('', 1) }\n");
}

static void disposal(void)
{
    everywhere("n = Node.new(1); equal n.disposed?, false\n"
               "apart { n[0] = mention(n); n[1] = Node.new(2) }\n"
               "Rawrefcount.step; n[2] = 'text'; GC.start\n"
               "n.freeze.dispose; equal Nodes.live, 1; equal n.disposed?, true\n"
               "Rawrefcount.collect; equal Nodes.live, 0\n"
               "n.dispose\n"
               "raises(Rawrefcount::DisposedError, 'this Node was disposed of') { n[0] }\n"
               "raises(Rawrefcount::DisposedError, 'Node was disposed of') { Node.new(3).move(0, n, 0) }\n"
               "parent = Node.new(4); parent[0] = Node.new(5); parent[0].dispose\n"
               "equal parent[0].id, 5; equal parent[0].disposed?, false");
}

static void what_was_disposed_of_keeps_nothing(void)
{
    everywhere("n = Node.new(1)\n"
               "apart { x = Node.new(2); n[1] = x; x[1] = n }\n"
               "Rawrefcount.step; n.dispose; equal Nodes.live, 2\n"
               "Rawrefcount.collect; equal Nodes.live, 0");
}

/* A script that disposes of an object in the middle of a function of C that uses it: of self, of an argument, in inner
   calls, in a fiber; and functions that are left by an exception, a break, a return. It goes when they are over. */
static void disposal_in_use(void)
{
    everywhere("class Closer\n"
               "  def initialize(*nodes, &block); @nodes, @block = nodes, block; end\n"
               "  def to_s\n"
               "    before = Nodes.live\n"
               "    @nodes.each { |n| n.dispose; equal n.disposed?, true; raises(Rawrefcount::DisposedError, '') { n.id } }\n"
               "    3.times { Rawrefcount.collect; GC.start }\n"
               "    equal Nodes.live, before\n"
               "    @block.call if @block\n"
               "    'text'\n"
               "  end\n"
               "end\n"
               "def gone(count = 0) = equal(Nodes.live, count)\n"
               "n = Node.new(71)\n"
               "equal n.ask(Closer.new(n)), 71; gone\n"
               "n, m = Node.new(72), Nodes.proxy(73)\n"
               "equal n.ask(Closer.new(m), m), 73; gone 1\n"
               "m = Wrapper.new(74)\n"
               "equal Node.ask(Closer.new(m), m), 74; gone 1\n"
               "m = Node.new(75)\n"
               "equal n.ask(Closer.new(n, m), m), 75; gone\n"
               "n = Node.new(76)\n"
               "equal n.ask(Closer.new(n), n), 76; gone\n"
               "n = Node.new(77)\n"
               "equal n.lend { |x| equal x.ask(Closer.new(x)), 77; gone 1 }, 77; gone\n"
               "n = Node.new(78)\n"
               "equal n.lend { |x| equal x.lend { x.dispose; gone 1 }, 78; gone 1 }, 78; gone\n"
               "kept = RuntimeError.new('mine')\n"
               "n = Node.new(79)\n"
               "begin; n.ask(Closer.new(n) { raise kept }); rescue => e; equal e.equal?(kept), true; end; gone\n"
               "n = Node.new(80)\n"
               "equal n.lend { |x| x.dispose; break 5 }, 5; gone\n"
               "n = Node.new(81)\n"
               "equal n.lend { |x| equal x.lend { x.dispose; break 6 }, 6; gone 1; break 7 }, 7; gone\n"
               "n = Node.new(82)\n"
               "def leave(n) = n.lend { |x| x.dispose; return 7 }\n"
               "leave(n); gone\n"                 /* (what it returns depends on the version of mruby) */
               "if respond_to?(:catch, true)\n"     /* (Not all builds of mruby have it.) */
               "  n = Node.new(90)\n"
               "  equal catch(:out) { n.lend { |x| x.dispose; throw :out, 8 } }, 8; gone\n"
               "end\n"
               "m = Node.new(91)\n"
               "made = Like.new(Closer.new(m), m)\n"
               "equal made.id, 91; gone 1; made.dispose; gone\n"
               "args = [nil, Node.new(92)]\n"
               "args[0] = Closer.new(args[1]) { args.clear; GC.start }\n"
               "equal Node.ask(*args), 92; gone\n"
               "n = Node.new(93)\n"
               "raises(IndexError, 'failed') { n.fail }; gone\n"
               "parent = Node.new(86); parent[0] = Node.new(87)\n"
               "equal parent[0].lend { |x| x.dispose; parent[0] = nil }, 87; gone 1\n"
               "parent.dispose; gone\n"
               "f = Fiber.new { Fiber.yield Node.new(88).lend { |x| x.dispose }; gone; Node.new(89).lend { |x| x.dispose } }\n"
               "equal f.resume, 88; gone; equal f.resume, 89; gone\n"
               "f = nil");
}

/* (mruby 3.2 resumes no fiber in a function of C.) */
static void disposal_in_use_by_fibers(void)
{
    if (MRUBY_RELEASE_NO / 100 == 302)
        return;
    everywhere("def gone(count = 0) = equal(Nodes.live, count)\n"
               "kept = RuntimeError.new('mine')\n"
               "n = Node.new(83)\n"
               "f = Fiber.new { n.lend { |x| x.dispose; gone 1 } }\n"
               "equal n.lend { equal f.resume, 83; gone 1 }, 83; gone\n"
               "n = Node.new(84)\n"
               "f = Fiber.new { Fiber.yield n.lend { |x| x.dispose }; raise kept }\n"
               "equal f.resume, 84; gone\n"
               "begin; Node.new(85).lend { |x| x.dispose; f.resume }; rescue => e; equal e.equal?(kept), true; end; gone\n"
               "f = kept = nil");
}

/* The function returns into another fiber: what it has disposed of goes later. */
static void functions_can_yield(void)
{
    everywhere("n = Node.new(1)\n"
               "f = Fiber.new { |x| y = n.pause(x + 1); z = n.pause(y * 2); [y, z] }\n"
               "equal f.resume(1), 2; equal f.resume(10), 20; equal f.resume(7), [10, 7]; equal f.alive?, false\n"
               "f = Fiber.new { [1, 2].each { |x| n.pause([x]) }; 'end' }\n"
               "equal f.resume, [1]; GC.start; equal f.resume, [2]; Rawrefcount.collect; equal f.resume, 'end'\n"
               "40.times { |i|\n"
               "  n = Node.new(i)\n"
               "  f = Fiber.new { |x| y = n.pause_disposed('x' * x); y + y }\n"
               "  equal f.resume(3), 'xxx'; raises(Rawrefcount::DisposedError, 'disposed') { n.id }\n"
               "  equal f.resume('y' * i), 'y' * (2 * i)\n"
               "}\n"
               "n = f = nil; Rawrefcount.collect; equal Nodes.live, 0");
}

/* What the deallocs of such objects do to mruby: it does not change how the function ends. */
static mrb_value raise_text(mrb_state *m, void *text)
{
    mrb_raise(m, m->eStandardError_class, (const char *)text);
    return mrb_nil_value();
}

static void use_mruby(int id)
{
    static char text[] = "from a dealloc";
    if (id == 5)
        rrc_mruby_protect(heap, raise_text, text, NULL);
    if (id < 10)
        mrb_load_string(mrb, "begin; raise 'inner'; rescue; end; [1].each { break }; GC.start; 'y' * 100");
    mrb->exc = NULL;
}

static void disposed_in_a_fiber_that_yields(void)
{
    open_vm();
    node_freed = use_mruby;
    run("10.times { |i| n = Node.new(1); f = Fiber.new { |x| n.pause_disposed(x) + 1 }\n"
        "               equal f.resume(i), i; equal f.resume(5), 6 }\n"
        "Rawrefcount.step; equal Nodes.live, 0\n"
        "n = Node.new(1); Fiber.new { n.pause_disposed(1) }.resume\n"
        "equal Nodes.live, 1");
    mrb_close(mrb);
    check_int(node_count(), 0);
    node_freed = NULL;
}

static void disposal_in_use_calls_back(void)
{
    open_vm();
    node_freed = use_mruby;
    reports = 0;
    run("10.times do |i|\n"
        "  n = Node.new(i)\n"
        "  equal n.lend { |x| x.dispose }, i\n"
        "  n = Node.new(i)\n"
        "  raises(IndexError, 'outer') { n.lend { |x| x.dispose; raise IndexError, 'outer' } }\n"
        "  n = Node.new(i)\n"
        "  equal n.lend { |x| x.dispose; break 'x' * 50 }, 'x' * 50\n"
        "  n = Node.new(i)\n"
        "  raises(IndexError, 'failed') { n.fail }\n"
        "  Node.new(10).dispose          # raises nothing\n"
        "end\n"
        "equal Nodes.live, 0");
    check_int(reports, 4);
    node_freed = NULL;
    close_vm();
}

/* The exception of a callback waits for rrc_mruby_raise, also while such an object goes whose dealloc has one, too. */
static mrb_value fail_in_a_callback(mrb_state *m, mrb_value self)
{
    static char text[] = "waiting";
    (void)m;
    rrc_mruby_protect(heap, raise_text, text, NULL);
    return self;
}

static mrb_value raise_waiting(mrb_state *m, mrb_value self)
{
    (void)m;
    rrc_mruby_raise(heap);
    return self;
}

static void disposal_in_use_while_an_error_waits(void)
{
    open_vm();
    node_freed = use_mruby;
    reports = 0;
    mrb_define_method(mrb, mrb->object_class, "fail_in_a_callback", fail_in_a_callback, MRB_ARGS_NONE());
    mrb_define_method(mrb, mrb->object_class, "raise_waiting", raise_waiting, MRB_ARGS_NONE());
    run("n = Node.new(5)\n"
        "equal n.lend { |x| x.dispose; fail_in_a_callback }, 5; equal Nodes.live, 0\n"
        "GC.start\n"
        "raises(StandardError, 'waiting') { raise_waiting }\n"
        "raise_waiting");
    check_int(reports, 1);
    node_freed = NULL;
    close_vm();
}

/* An exception of a callback waits for the method that made C run it, whatever the callbacks after it do. */
static mrb_value call_each(mrb_state *m, mrb_value self)
{
    rrc_heap *h = rrc_mruby_heap(m);
    const mrb_value *blocks;
    mrb_int count, i;
    mrb_get_args(m, "*", &blocks, &count);
    for (i = 0; i < count; i++) {
        rrc_object *block = rrc_mruby_hold(h, blocks[i]);
        rrc_mruby_call(h, block, 0, NULL);
        rrc_decref(h, block);
    }
    rrc_mruby_raise(h);
    return self;
}

static mrb_value get_reports(mrb_state *m, mrb_value self)
{
    (void)self;
    return mrb_int_value(m, reports);
}

static void errors_wait_for_their_method(void)
{
    int i;
    for (i = 0; i < 2; i++) {
        open_vm();
        memory_stress = i == 1;
        reports = 0;
        mrb_define_method(mrb, mrb->object_class, "call_each", call_each, MRB_ARGS_ANY());
        mrb_define_method(mrb, mrb->object_class, "reports", get_reports, MRB_ARGS_NONE());
        run("first = -> { raise IndexError, 'first ' + 'one' }; said = []\n"
            "say = ->(what) { -> { what.call; said << 'on' } }\n"
            "n = Node.new(1); m = Node.new(2); k = -> { m.id }\n"
            "raises(IndexError, 'first one') { call_each(first, say[-> { n.dispose }], say[-> { Nodes.call(k) }],\n"
            "                                            say[-> { call_each(k, k) }], say[-> { GC.start }]) }\n"
            "equal said, ['on'] * 4\n"
            "raises(IndexError, 'first one') {\n"
            "  call_each(first, -> { raises(KeyError, 'inner') { call_each(-> { raise KeyError, 'inner' }, say[k]) } }) }\n"
            "equal said.size, 5\n"
            "call_each(k)        # nothing was kept\n"
            "equal reports, 0\n"
            "raises(IndexError, 'first one') { call_each(first, -> { raise 'second' }, -> { raise 'third' }) }\n"
            "call_each(k)");
        check_int(reports, 2);
        close_vm();
    }
}

/* Also a proxy that nobody but the arena refers to. */
static void what_wrap_gives_is_safe(void)
{
    rrc_object *ob;
    mrb_value proxy;
    int arena;
    open_vm();
    ob = (rrc_object *)node_make(heap, &node_type, 1);
    arena = mrb_gc_arena_save(mrb);
    rrc_mruby_wrap(heap, ob);
    mrb_gc_arena_restore(mrb, arena);
    proxy = rrc_mruby_wrap(heap, ob);
    mrb_full_gc(mrb);
    check_ptr(rrc_mruby_test(proxy, &NodeClass), ob);
    rrc_decref(heap, ob);
    mrb_full_gc(mrb);
    check_ptr(rrc_mruby_test(proxy, &NodeClass), ob);
    mrb_gc_arena_restore(mrb, arena);
    mrb_full_gc(mrb);
    rrc_mruby_step(heap);
    check_int(node_count(), 0);
    close_vm();
}

static void exceptions_pass_through_c(void)
{
    everywhere("raises(IndexError, 'inner 1') { Nodes.call(->(x) { raise IndexError, \"inner #{x}\" }, 1) }\n"
               "kept = RuntimeError.new('mine')\n"
               "begin; Nodes.call(-> { raise kept }); rescue => e; raise unless e.equal?(kept); end\n"
               "seen = nil; Nodes.call(->(*a) { seen = a }, 1, 'two', Node.new(3))\n"
               "equal seen[0, 2], [1, 'two']; equal seen[2].id, 3; seen = nil\n"
               "raises(NoMethodError, 'call') { Nodes.call(5) }\n"
               "def deep(n) = n == 0 ? raise('bottom') : Nodes.call(->(m) { deep(m - 1) }, n)\n"
               "raises(RuntimeError, 'bottom') { deep(5) }\n"
               "def leave = Nodes.call(-> { return 5 })\n"
               "Nodes.call(mention(1)) # nothing was kept");
}

static void native_bytes_hurry_the_collector(void)
{
    everywhere("300.times { |i| apart { w = Node.new(i); w[0] = mention(w); Nodes.native(1 << 20) } }\n"
               "raise Nodes.live.to_s if Nodes.live > 150\n"
               "Nodes.native(-(1 << 40))\n"
               "equal Rawrefcount.stats[:native], 0");
}

static void types_tell_of_memory(void)
{
    everywhere("300.times { |i| apart { w = Loose.new(5_000_000) } }\n"
               "raise Nodes.live.to_s if Nodes.live > 150\n"
               "equal Rawrefcount.stats[:native], Nodes.live * 5_000_000\n"
               "Rawrefcount.collect; Rawrefcount.collect\n"
               "equal Rawrefcount.stats[:native], 0");
}

static void scripts_see_why(void)
{
    open_vm();
    run("n = Node.new(1); n[0] = mention(n)\n"
        "raise unless Rawrefcount.explain(n).include?('Node')\n"
        "raise unless Rawrefcount.explain(n[0]).include?('mruby value')\n"
        "equal Rawrefcount.explain('x'), nil; equal Rawrefcount.explain(3), nil\n"
        "raise unless Rawrefcount.graph.include?('digraph')\n"
        "equal Rawrefcount.stats[:values], 1; equal Rawrefcount.check, true\n"
        "ObjectSpace.each_object { |x| x.class }\n"
        "raise n.instance_variables.inspect unless n.instance_variables.empty?");
    close_vm();
}

/* Why is a node alive that only what a block returns refers to? The block gets the node. C asks, and no script:
   a script would hold the node. The first line is left out, and so are addresses. */
static rrc_object *asked;

static mrb_value remember(mrb_state *state, mrb_value self)
{
    asked = rrc_mruby_unwrap(state, mrb_get_arg1(state), NULL);
    return self;
}

typedef struct written {
    char   bytes[4000];
    size_t size;
} written;

static void write_text(void *arg, const char *bytes, size_t size)
{
    written *t = (written *)arg;
    for (; size > 0 && t->size + 1 < sizeof t->bytes; bytes++, size--)
        t->bytes[t->size++] = *bytes;
    t->bytes[t->size] = '\0';
}

static void check_why(int line, const char *block, const char *expected)
{
    char script[500], *from, *to;
    rrc_insight insight;
    written t;
    t.size = 0;
    snprintf(script, sizeof script, "def why = $explained = Nodes.proxy(7).then { |node| Nodes.remember(node); %s }\n"
             "why; [1, 2, 3, 4, 5, 6, 7, 8].each { |i| [i] }", block);
    run_at(line, script);
    insight = rrc_mruby_insight(mrb);
    check_int(rrc_explain(heap, &insight, asked, write_text, &t), RRC_OK);
    for (from = to = t.bytes; *from != '\0';) {
        if (strncmp(from, " 0x", 3) == 0)
            from += 3 + strspn(from + 3, "0123456789abcdef");
        else
            *to++ = *from++;
    }
    *to = '\0';
    from = strchr(t.bytes, '\n');
    if (from == NULL || strcmp(from + 1, expected) != 0)
        unit_fail(__FILE__, line, "it says:\n%s", t.bytes);
}
#define why(block, expected) check_why(__LINE__, block, expected)

static void explain_names_the_whole_path(void)
{
    open_vm();
    mrb_define_module_function(mrb, mrb_module_get(mrb, "Nodes"), "remember", remember, MRB_ARGS_REQ(1));
    run("class Holder; attr_accessor :note; end\n"
        "class Pair < Struct.new(:left, :right); end\n"
        "module App; X = {}; end");
#define ROOT "  which global $explained keeps alive\n"
    why("outer = Nodes.proxy(1); outer[0] = -> { node }; Holder.new.tap { |h| h.note = { main: [outer] } }",
        "  held by local node of Proc,\n  held by Node.1 of Node,\n  held by Array[0] of Array,\n"
        "  held by element :main of Hash,\n  held by Holder.@note of Holder,\n" ROOT);
    why("node", "  global $explained keeps it alive\n");
    why("Pair.new(1, node)", "  held by Pair.right of Pair,\n" ROOT);
    why("{ 'x' => node }", "  held by element \"x\" of Hash,\n" ROOT);
    why("{ 5 => node }", "  held by element 5 of Hash,\n" ROOT);
    why("{ nil => node }", "  held by element of Hash,\n" ROOT);
    why("{ node => 1 }", "  held by key of Hash,\n" ROOT);
    why("App::X[:node] = node; nil", "  held by element :node of Hash,\n  held by constant X of module App,\n"
        "  which constant App keeps alive\n");
    why("App::X.clear; App.const_set(:NODE, node); nil", "  held by constant NODE of module App,\n"
        "  which constant App keeps alive\n");
    why("Object.const_set(:NODE, node); nil", "  constant NODE keeps it alive\n");
    why("Object.send(:remove_const, :NODE); Class.new.tap { |c| c.class_variable_set(:@@x, node) }",
        "  held by class variable @@x of class (anonymous),\n" ROOT);
    why("Class.new.tap { |c| c.instance_variable_set(:@x, node) }", "  held by class.@x of class (anonymous),\n" ROOT);
    why("Class.new.tap { |c| c.define_method(:get) { node } }", "  held by local node of Proc,\n"
        "  held by enclosing Proc of Proc,\n  held by method get of class (anonymous),\n" ROOT);
    why("node.instance_eval { -> { } }", "  held by self of Proc,\n" ROOT);
    why("-> { -> { 1 } }", "  held by local node of Proc,\n" ROOT);
    why("-> { -> { 1 } }.call", "  held by local node of Proc,\n  held by enclosing Proc of Proc,\n" ROOT);
    why("Fiber.new { |x| Fiber.yield; x }.tap { |f| f.resume(node) }", "  held by local x of Fiber,\n" ROOT);
    why("StandardError.new('x').tap { |e| e.instance_variable_set(:@x, node) }",
        "  held by StandardError.@x of StandardError,\n" ROOT);
    why("node.instance_variable_set(:@self, node); nil",
        "  its host object p keeps it alive until the next collection: no root reaches it\n");
    why("Nodes.proxy(1)[0] = node; nil",
        "  its host object p keeps it alive until the next collection: no root reaches it\n");
    why("Nodes.hold([node]); nil", "  held by Array[0] of Array,\n  which 1 reference from outside keeps alive\n");
    run("node = Nodes.proxy(8); raise unless Rawrefcount.explain(node).include?('  local node keeps it alive')");
    run("def deep = Nodes.proxy(9).then { |n| $explained = { n: n }; nil }\n"
        "deep; raise Rawrefcount.explain($explained[:n]) unless Rawrefcount.explain($explained[:n]).include?('element :n of Hash')");
    /* Also while mruby marks and sweeps, and when what is asked for has just died. */
    run("GC.step_ratio = 1; GC.interval_ratio = 100\n"
        "500.times { |i| n = Node.new(i); n[0] = mention(n); Nodes.proxy(i)[0] = n; [i]\n"
        "  raise unless Rawrefcount.explain(n).include?('local n keeps it alive') }");
    run("$explained = nil; App.send(:remove_const, :NODE)");
    close_vm();
#undef ROOT
}

static void explain_is_asked_of_the_dead(void)
{
    rrc_object *ob;
    rrc_insight insight;
    written t;
    open_vm();
    insight = rrc_mruby_insight(mrb);
    nodes_step_by_hand(mrb);
    ob = (rrc_object *)node_make(heap, &node_type, 1);
    rrc_mruby_wrap(heap, ob);
    mrb_gc_arena_restore(mrb, 0);
    t.size = 0;
    check_int(rrc_explain(heap, &insight, ob, write_text, &t), RRC_OK);
    check(strstr(t.bytes, "1 reference from outside") != NULL);
    run("Nodes.proxy(3)");
    mrb_full_gc(mrb);
    t.size = 0;
    check_int(rrc_dump_dot(heap, &insight, write_text, &t), RRC_OK);
    check(strstr(t.bytes, "digraph") != NULL);
    rrc_decref(heap, ob);
    close_vm();
}

/* ---- the end ---- */

static void the_end_with_everything_alive(void)
{
    rrc_object *kept;
    open_vm();
    run("$n = Node.new(1); $n[0] = mention($n); $n[1] = Finalized.new(2); $n[1][0] = [$n]\n"
        "$p = Nodes.proxy(3); $p[1] = mention($n); Node.new(4)");
    kept = (rrc_object *)node_make(heap, &node_type, 5);
    ((node *)kept)->field[0] = rrc_mruby_hold(heap, mrb_str_new_cstr(mrb, "text"));
    ((node *)kept)->field[1] = rrc_mruby_hold(heap, mrb_gv_get(mrb, mrb_intern_lit(mrb, "$p")));
    mrb_close(mrb);
    check(rrc_mruby_state(heap) == NULL);
    check_int(rrc_mruby_call(heap, ((node *)kept)->field[0], 0, NULL), 1);
    check_int(rrc_mruby_step(heap), RRC_ECLOSED);
    check_int(node_count(), 2);             /* what C holds: kept, and $p */
    rrc_decref(heap, kept);
    check_int(node_count(), 0);
    mrb = nodes_open();                     /* another one, with nothing of the first */
    heap = rrc_mruby_heap(mrb);
    run("equal Rawrefcount.stats[:objects], 0");
    mrb_close(mrb);
}

static char gone[10];
static void note_gone(int id)
{
    size_t n = strlen(gone);
    snprintf(gone + n, sizeof gone - n, "%d", id);
}

/* Each object owns the next one through an array or a hash. Owners go first, if a last script drops what the global
   variables have; local variables of the scripts before go with it. */
static void the_end_is_in_order(void)
{
    static const char *const classes[] = { "Node", "Finalized", "Loose", "Wrapper" };
    static const char *const scripts[] = {
        "$first = n = %s.new(1); [2, 3, 4].each { |i| n[0] = [[m = %s.new(i)]]; n = m }",
        "m = nil; $all = [4, 3, 2, 1].map { |i| n = %s.new(i); n[0] = { i => m } if m; m = n; n }" };
    char script[200];
    int i, mode, drops;
    for (i = 0; i < 8; i++)
        for (mode = 0; mode < 8; mode++)
            for (drops = 0; drops < 2; drops++) {
                unit_context("%s, script %d, mode %d, drops %d: ", classes[i / 2], i % 2, mode, drops);
                open_vm();
                run(mode & 1 ? "GC.generational_mode = true" : "GC.generational_mode = false");
                snprintf(script, sizeof script, scripts[i % 2], classes[i / 2], classes[i / 2]);
                run(script);
                if (mode & 2)
                    run("3.times { Rawrefcount.collect }");
                memory_stress = (mode & 4) != 0;
                gone[0] = '\0';
                node_freed = note_gone;
                if (drops)
                    run("$all = $first = nil");
                mrb_close(mrb);
                memory_stress = 0;
                node_freed = NULL;
                check_int((int)strlen(gone), 4);
                if (drops)
                    check_str(gone, "1234");
            }
    unit_context("%s", "");
}

/* Builds with RRC_DEBUG print what C holds at the end, and no other builds do. */
static void the_end_reports_leaks(void)
{
    const char *text;
    rrc_object *kept;
    open_vm();
    run("$n = Node.new(1); $n[0] = mention($n); $p = Nodes.proxy(3); $p[0] = mention($n)");
    catch_stderr();
    mrb_close(mrb);
    check_str(stderr_text(), "");
    open_vm();
    run("$n = Node.new(1); $p = Nodes.proxy(3); $p[1] = Nodes.proxy(4)");
    kept = rrc_mruby_hold(heap, mrb_gv_get(mrb, mrb_intern_lit(mrb, "$p")));
    catch_stderr();
    mrb_close(mrb);
    text = stderr_text();
#ifdef RRC_DEBUG
    check(strstr(text, "C still holds 2 objects of Node, ") == text);
    check(strstr(text, "  1 reference from outside keeps it alive\n") != NULL);
    check(strstr(text, "  held by ") != NULL);
#else
    check_str(text, "");
#endif
    rrc_decref(heap, kept);
    check_int(node_count(), 0);
}

/* Its dealloc calls what it holds. */
static void speaker_dealloc(rrc_heap *h, rrc_object *ob)
{
    rrc_object **field = ((node *)ob)->field;
    if (field[0] != NULL)
        rrc_mruby_call(h, field[0], 1, &field[1]);
    RRC_CLEAR(h, field[0]);
    RRC_CLEAR(h, field[1]);
    rrc_gc_del(h, ob);
}
static int speaker_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((node *)self)->field[0]);
    RRC_VISIT(((node *)self)->field[1]);
    return 0;
}
static int heard;
static mrb_value hear(mrb_state *m, mrb_value self)
{
    mrb_int i;
    mrb_get_args(m, "i", &i);
    heard = heard * 10 + (int)i;
    return self;
}

static void deallocs_at_the_end_find_their_values(void)
{
    static const rrc_type type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Speaker",
                                   .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                   .tp_dealloc = speaker_dealloc, .tp_traverse = speaker_traverse };
    static const char *const variables[] = { "$a", "$b" };
    static const char *const scripts[] = { "->(x) { hear(x) }", "->(x) { $a.dispose; $n.id; hear(9) }" };
    int i;
    open_vm();
    heard = 0;
    mrb_define_method(mrb, mrb->kernel_module, "hear", hear, MRB_ARGS_REQ(1));
    run("$n = Node.new(1); $n[0] = $n");
    for (i = 0; i < 2; i++) {
        rrc_object *ob = rrc_gc_new(heap, &type);
        ((node *)ob)->field[0] = rrc_mruby_hold(heap, mrb_load_string(mrb, scripts[i]));
        ((node *)ob)->field[1] = rrc_mruby_hold(heap, mrb_int_value(mrb, i + 1));
        rrc_gc_track(heap, ob);
        mrb_gv_set(mrb, mrb_intern_cstr(mrb, variables[i]), rrc_mruby_wrap_new(heap, ob));
    }
    mrb_close(mrb);
    check_int(heard, 1);                    /* (the second one met a disposed node) */
    check_int(node_count(), 0);
}

/* Objects whose dealloc (and finalizer) reads what they own: a string, and what is to be called. They
   note it in a text: t or - for the string, c or - for the call; F for a finalizer. */
static char noted[200];
static void note(const char *text)
{
    if (strlen(noted) + strlen(text) < sizeof noted)
        strcat(noted, text);
}
static void read_owned(rrc_heap *h, rrc_object *ob)
{
    rrc_object **field = ((node *)ob)->field;
    mrb_value text = rrc_mruby_wrap(h, field[0]);
    note(mrb_nil_p(text) ? "-" : mrb_string_p(text) && strcmp(RSTRING_PTR(text), "text") == 0 ? "t" : "?");
    note(rrc_mruby_call(h, field[1], 1, &field[0]) == 0 ? "c" : "-");
}
static void reader_dealloc(rrc_heap *h, rrc_object *ob)
{
    read_owned(h, ob);
    RRC_CLEAR(h, ((node *)ob)->field[0]);
    RRC_CLEAR(h, ((node *)ob)->field[1]);
    RRC_CLEAR(h, ((node *)ob)->field[2]);
    rrc_gc_del(h, ob);
}
static void reader_finalize(rrc_heap *h, rrc_object *ob)
{
    note("F");
    read_owned(h, ob);
}
static int reader_clear(rrc_heap *h, rrc_object *ob)
{
    RRC_CLEAR(h, ((node *)ob)->field[2]);
    return 0;
}
static int reader_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((node *)self)->field[2]);
    return speaker_traverse(self, visit, arg);
}
static const rrc_type reader_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Reader",
                                      .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                      .tp_dealloc = reader_dealloc, .tp_traverse = reader_traverse,
                                      .tp_clear = reader_clear };
static const rrc_type final_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "FinalReader",
                                     .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                     .tp_dealloc = reader_dealloc, .tp_traverse = reader_traverse,
                                     .tp_clear = reader_clear, .tp_finalize = reader_finalize };

/* In no variable; in $r, alone, in a cycle with itself, or with a proc. The caller owns a reference. */
enum reader_kind { UNSEEN, ALONE, WITH_ITSELF, WITH_A_PROC };
static rrc_object *new_reader(const rrc_type *type, enum reader_kind how)
{
    int arena = mrb_gc_arena_save(mrb);
    rrc_object *ob = rrc_gc_new(heap, type), **field = ((node *)ob)->field;
    field[0] = rrc_mruby_hold(heap, mrb_load_string(mrb, "'te' + 'xt'"));
    field[1] = rrc_mruby_hold(heap, mrb_load_string(mrb, "->(x) { $heard = x }"));
    rrc_gc_track(heap, ob);
    if (how != UNSEEN)
        mrb_gv_set(mrb, mrb_intern_lit(mrb, "$r"), rrc_mruby_wrap(heap, ob));
    if (how == WITH_ITSELF) {
        rrc_incref(heap, ob);
        field[2] = ob;
    } else if (how == WITH_A_PROC) {
        field[2] = rrc_mruby_hold(heap, mrb_load_string(mrb, "mention($r)"));
    }
    mrb_gc_arena_restore(mrb, arena);
    return ob;
}

static void open_for_readers(void)
{
    open_vm();
    noted[0] = 0;
}

static void deallocs_of_garbage_read_what_is_left(void)
{
    static const struct { const rrc_type *type; const char *said; } cases[] = {
        { &reader_type, "--" }, { &final_type, "F----" } };
    size_t i;
    int how, with_step;
    for (i = 0; i < 2; i++)
        for (how = ALONE; how <= WITH_A_PROC; how++)
            for (with_step = 0; with_step < 2; with_step++) {
                open_for_readers();
                rrc_decref(heap, new_reader(cases[i].type, (enum reader_kind)how));
                if (with_step)
                    rrc_mruby_step(heap);
                run("$r = nil; 3.times { Rawrefcount.collect }");
                unit_context("%s, %d, %d: ", cases[i].type->tp_name, how, with_step);
                check_str(noted, cases[i].said);
                run("equal Rawrefcount.stats[:objects], 0");
                close_vm();
            }
    unit_context("%s", "");
}

static void deallocs_of_what_is_let_go_find_all(void)
{
    open_for_readers();
    rrc_decref(heap, new_reader(&reader_type, ALONE));
    run("$r.dispose");
    check_str(noted, "tc");
    close_vm();
    open_for_readers();
    {
        rrc_object *ob = new_reader(&final_type, UNSEEN);
        run("3.times { Rawrefcount.collect }");
        rrc_decref(heap, ob);
    }
    check_str(noted, "Ftctc");
    close_vm();
}

static void deallocs_at_the_end_read_all(void)
{
    static const struct { const rrc_type *type; const char *said; } cases[] = {
        { &reader_type, "tc" }, { &final_type, "Ftctc" } };
    size_t i;
    int how;
    for (i = 0; i < 2; i++)
        for (how = ALONE; how <= WITH_A_PROC; how++) {
            open_for_readers();
            rrc_decref(heap, new_reader(cases[i].type, (enum reader_kind)how));
            mrb_close(mrb);
            unit_context("%s, %d: ", cases[i].type->tp_name, how);
            check_str(noted, cases[i].said);
        }
    unit_context("%s", "");
}

/* mrb_close has come and gone. */
static void deallocs_after_the_end_read_nothing(void)
{
    rrc_object *ob;
    open_for_readers();
    ob = new_reader(&reader_type, ALONE);
    mrb_close(mrb);
    check_str(noted, "");
    check(mrb_nil_p(rrc_mruby_wrap(heap, ob)));
    check(mrb_nil_p(rrc_mruby_wrap(heap, ((node *)ob)->field[1])));
    check_ptr(rrc_mruby_hold(heap, mrb_true_value()), NULL);
    rrc_incref(heap, ob);
    check(mrb_nil_p(rrc_mruby_wrap_new(heap, ob)));
    rrc_decref(heap, ob);
    check_str(noted, "--");
}

/* ---- wrappers of foreign objects ---- */

static void foreign_code_holds_a_wrapper(void)
{
    everywhere("class Wrapper; attr_accessor :note, :action; end\n"
               "2.times do |made_by_c|\n"
               "  apart { w = made_by_c == 1 ? Nodes.wrapper(1) : Wrapper.new(1)\n"
               "          w.note = 'kept'; w.action = -> { w.note + '!' }; w[0] = -> { w.id }; Nodes.take(w) }\n"
               "  3.times { GC.start; Rawrefcount.step; GC.start; Rawrefcount.collect; Rawrefcount.check }\n"
               "  apart { w = Nodes.taken(0)\n"
               "          equal [w.id, w.note, w.action.call, w[0].call], [1, 'kept', 'kept!', 1] }\n"
               "  Nodes.drop; Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]\n"
               "end");
}

static void a_store_and_its_action(void)
{
    everywhere("def pair(i) = apart {\n"
               "  store, action = Wrapper.new(i), Nodes.wrapper(i + 1)\n"
               "  store.refer(0, action); action[0] = mention(store)\n"
               "}\n"
               "pair(1)\n"
               "5.times { Rawrefcount.step; GC.start; Node.new(9) }\n"
               "equal Nodes.foreigners, 2\n"
               "equal Rawrefcount.stats[:wrappers], 2\n"
               "Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]\n"
               "equal Rawrefcount.stats[:wrappers], 0\n"
               "1000.times { |i| pair(i) }\n"
               "Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]\n"
               "apart { a, b = Wrapper.new(1), Wrapper.new(2); a.refer(0, b); b.refer(1, a); a.refer(1, a) }\n"
               "Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]\n"
               "Rawrefcount.check");
}

static void a_store_stays_for_its_action(void)
{
    everywhere("apart { store, action = Wrapper.new(1), Wrapper.new(2)\n"
               "        store.refer(0, action); action[0] = mention(store); Nodes.take(action) }\n"
               "3.times { Rawrefcount.collect; Rawrefcount.step; GC.start; Rawrefcount.check }\n"
               "apart { store = Nodes.taken(0)[0].call; equal [store.id, store.referred(0).id], [1, 2] }\n"
               "equal Nodes.foreigners, 2\n"
               "apart { Nodes.take(Nodes.taken(0)[0].call); Nodes.drop(0) }\n"
               "3.times { Rawrefcount.collect; Rawrefcount.step; GC.start; Rawrefcount.check }\n"
               "apart { equal Nodes.taken(1).referred(0)[0].call.id, 1 }\n"
               "Nodes.drop; Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]");
}

static void taken_and_dropped_silently(void)
{
    everywhere("class Wrapper; attr_accessor :note; end\n"
               "apart { 50.times { |i| w = Wrapper.new(i); w.note = i.to_s; w[0] = mention(w); Nodes.take(w) } }\n"
               "50.times do |i|\n"
               "  apart { w = Nodes.taken(i); Nodes.note(w); equal [w.id, w.note], [i, i.to_s] }\n"
               "  Nodes.drop(i)\n"
               "  i % 2 == 0 ? Rawrefcount.step : GC.start\n"
               "  equal Nodes.retake, true\n"
               "  i % 5 == 0 ? Rawrefcount.collect : GC.start\n"
               "  Rawrefcount.check\n"
               "end\n"
               "50.times { |i| apart { w = Nodes.taken(i); equal [w.id, w.note, w[0].call.id], [i, i.to_s, i] } }\n"
               "Nodes.drop; Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]");
}

static void what_is_taken_after_a_collection_stays(void)
{
    everywhere("class Wrapper; attr_accessor :note; end\n"
               "w = Wrapper.new(1)\n"
               "w.note = 'kept'; w[0] = mention(w)\n"
               "Nodes.note(w)\n"
               "Nodes.taker\n"
               "3.times { Rawrefcount.collect }\n"
               "w = nil\n"
               "GC.start; GC.start\n"
               "apart { equal Nodes.taken(0).id, 1 }; Nodes.drop; GC.start\n"
               "equal Nodes.retake, true\n"
               "GC.start; Rawrefcount.collect\n"
               "apart { equal [Nodes.taken(0).note, Nodes.taken(0)[0].call.id], ['kept', 1] }");
}

/* Foreign code takes by a weak reference what has just died: its proxy is gone. */
static void taken_too_late(void)
{
    everywhere("class Wrapper; attr_accessor :note; end\n"
               "apart { w, x = Wrapper.new(1), Wrapper.new(2); w.note = 'lost'; x.note = 'lost'; w[0] = mention(w)\n"
               "        w.refer(0, x); x.refer(0, w); Nodes.note(w); Nodes.taker }\n"
               "3.times { Rawrefcount.collect; Rawrefcount.step; GC.start; Rawrefcount.check }\n"
               "apart { w = Nodes.taken(0); equal w.id, 1 if w }\n"
               "Nodes.drop; Rawrefcount.collect; Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]");
}

#if MRUBY_RELEASE_NO >= 30300
#define OLD_THRESHOLD oldgen_threshold
#else
#define OLD_THRESHOLD majorgc_old_threshold
#endif

/* A collection of the header's own, which begins in the midst of mruby's or when a major one is due, has two sweeps. In
   the first one a dfree of the program makes foreign code take what is then not rooted. */
static void taken_in_a_sweep(void)
{
    int is_generational;
    for (is_generational = 0; is_generational < 2; is_generational++) {
        unit_context("%s: ", is_generational ? "generational" : "incremental");
        open_vm();
        run("class Wrapper; attr_accessor :note; end");
        run(is_generational ? "GC.generational_mode = true" : "GC.generational_mode = false");
        run("apart { w = $w = Wrapper.new(1); w.note = 'kept'; w[0] = mention(w)\n"
            "        Nodes.note(w); $taker = Nodes.taker }\n"
            "Rawrefcount.collect");
        if (is_generational) {
            mrb->gc.OLD_THRESHOLD = 0;
            mrb_incremental_gc(mrb);
            check(mrb->gc.full);
            run("$w = $taker = nil");
        } else {
            mrb->gc.step_ratio = 1;
            run("$w = $taker = nil");
            collect_until(MRB_GC_STATE_MARK);
        }
        rrc_gc_collect(heap);
        run("apart { equal [Nodes.taken(0).note, Nodes.taken(0)[0].call.id], ['kept', 1] }");
        run("Nodes.drop; Rawrefcount.collect; equal [Nodes.live, Nodes.foreigners], [0, 0]");
        close_vm();
    }
    unit_context("%s", "");
}

static void wrappers_in_a_loop(void)
{
    everywhere("most = 0\n"
               "10_000.times do |i|\n"
               "  store, action = Wrapper.new(i), Nodes.wrapper(i)\n"
               "  store.refer(0, action); action[0] = mention(store)\n"
               "  most = Nodes.foreigners if Nodes.foreigners > most\n"
               "end\n"
               "raise most.to_s unless most < 5000");
}

/* Even what nobody else refers to waits for a collection at once. */
static void wrappers_wait(void)
{
    everywhere("apart {\n"
               "  s, a = Wrapper.new(1), Wrapper.new(2)\n"
               "  s.refer(0, a); a[0] = mention(s)\n"
               "}\n"
               "apart { Wrapper.new(1) }\n"
               "4.times { Rawrefcount.step; GC.start; GC.start; Node.new(9); Rawrefcount.check }\n"
               "equal Nodes.foreigners, 3\n"
               "Rawrefcount.collect; equal Nodes.foreigners, 0");
}

static void disposal_of_a_wrapper(void)
{
    everywhere("w = Wrapper.new(1)\n"
               "Nodes.take(w); w.dispose\n"
               "equal [w.disposed?, Nodes.live, Nodes.foreigners, Nodes.taken(0)], [true, 0, 1, nil]\n"
               "equal Rawrefcount.stats[:wrappers], 0");
}

static void the_end_with_wrappers(void)
{
    int is_dropped;
    for (is_dropped = 0; is_dropped < 2; is_dropped++) {
        open_vm();
        run("class Wrapper; attr_accessor :note; end\n"
            "100.times { |i| s, a = Wrapper.new(i), Nodes.wrapper(i); s.refer(0, a); a[0] = mention(s); s.note = a\n"
            "                i % 3 == 0 ? Nodes.take(s) : a.refer(0, s) }\n"
            "$kept = Wrapper.new(1); $kept[0] = -> { $kept }; Nodes.take($kept)");
        if (is_dropped)
            run("Nodes.drop");
        mrb_close(mrb);
        check_int(node_count(), 0);
        check_int(foreign_library.alive, is_dropped ? 0 : 2 * 34 + 1);
    }
}

/* What a dealloc's call raises is not left for the next method to raise. */
static void errors_of_pending_deallocs_are_reported(void)
{
    rrc_object *callback, *reader;
    open_for_readers();
    callback = rrc_mruby_hold(heap, mrb_load_string(mrb, "-> { 1 }"));
    reader = new_reader(&reader_type, ALONE);
    run("$r = nil; 3.times { Rawrefcount.collect }");
    RRC_CLEAR(heap, ((node *)reader)->field[1]);
    ((node *)reader)->field[1] = rrc_mruby_hold(heap, mrb_symbol_value(mrb_intern_lit(mrb, "not to be called")));
    mrb_gv_set(mrb, mrb_intern_lit(mrb, "$r"), rrc_mruby_wrap_new(heap, reader));
    mrb_gc_arena_restore(mrb, 0);
    rrc_mruby_step(heap);
    run("$r = nil; GC.start; GC.start");
    check_str(noted, "");
    check_int(rrc_mruby_call(heap, callback, 0, NULL), 0);
    check_str(noted, "--");
    rrc_mruby_raise(heap);
    rrc_decref(heap, callback);
    close_vm();
}

static void a_value_gets_no_proxy(void)
{
    open_vm();
    run("[Object.new, 5, 'text'].each { |x| raises(TypeError, 'stands for a value') { Nodes.adopt(x) } }");
    close_vm();
}

static void two_vms(void)
{
    mrb_state *first;
    open_vm();
    first = mrb;
    run("$n = Node.new(1); $n[0] = mention($n)");
    mrb = nodes_open();
    run("apart { n = Node.new(2); n[0] = mention(n) }; Rawrefcount.collect; equal Nodes.live, 1");
    mrb_close(mrb);
    mrb = first;
    run("equal $n[0].call.id, 1; $n = nil");
    close_vm();
}

/* ---- failures ---- */

/* Each allocation of mruby fails in turn, and with it all later ones. */
static void lack_of_memory(void)
{
    long after;
    int done = 0;
    for (after = 0; !done; after += after < 300 ? 1 : 37) {
        unit_context("after %ld allocations: ", after);
        open_vm();
        run("def all\n"
            "  w, x = Node.new(1), Nodes.proxy(2)\n"
            "  w[0] = x; x[0] = mention(w); x[1] = 'text'; w[1] = [w, x]\n"
            "  Rawrefcount.step\n"
            "  150.times { |i| x[2] = Nodes.proxy(i) }\n"
            "  Nodes.call(->(x) { x }, w)\n"
            "  Node.new(5).lend { |n| n.dispose; [n] * 10 }\n"
            "  s, a = Wrapper.new(3), Nodes.wrapper(4)\n"
            "  s.refer(0, a); a[0] = mention(s); Nodes.take(s); s = a = nil\n"
            "  Rawrefcount.collect\n"
            "  equal Nodes.taken(0).referred(0)[0].call.id, 3\n"
            "  Nodes.drop; Rawrefcount.collect\n"
            "end");
        memory_after = after;
        mrb_funcall(mrb, mrb_top_self(mrb), "all", 0);
        done = memory_after > 0;
        memory_after = -1;
        if (mrb->exc != NULL)
            check_str(mrb_obj_classname(mrb, mrb_obj_value(mrb->exc)), "NoMemoryError");
        mrb->exc = NULL;
        close_vm();
        check(after < 100000);
    }
}

static void raise_in_dealloc(rrc_heap *h, rrc_object *ob)
{
    rrc_gc_del(h, ob);
    mrb_raise(mrb, E_RUNTIME_ERROR, "from a dealloc");
}

static void a_dealloc_that_raises(void)
{
    static const rrc_type type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Raising",
                                   .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                   .tp_dealloc = raise_in_dealloc };
    int i;
    open_vm();
    for (i = 0; i < 3; i++) {
        rrc_object *ob = rrc_gc_new(heap, &type);
        int arena = mrb_gc_arena_save(mrb);
        rrc_gc_track(heap, ob);
        rrc_mruby_wrap_new(heap, ob);
        mrb_gc_arena_restore(mrb, arena);
    }
    run("apart { Node.new(1) }");
    rrc_mruby_collect(heap);
    check(mrb->exc == NULL);
    run("equal Rawrefcount.stats[:objects], 0; equal Rawrefcount.stats[:pending], 0");
    close_vm();
}

UNIT_GROUP(mruby_group, UNIT(widget_and_proc), UNIT(by_mrubys_collector_alone), UNIT(without_any_call),
           UNIT(through_pure_objects), UNIT(kept_from_each_part), UNIT(held_by_c), UNIT(cycles_of_c_alone),
           UNIT(moved_references), UNIT(a_step_loses_nothing_that_is_still_owned),
           UNIT(a_dropped_ring_goes), UNIT(a_chain_costs_what_it_is_long), UNIT(finalizers_once),
           UNIT(without_traverse_held), UNIT(identity), UNIT(what_a_script_made_stays_whole), UNIT(what_a_script_adds_stays),
           UNIT(every_kind_of_value), UNIT(errors_name_both_types), UNIT(arguments_are_checked), UNIT(disposal),
           UNIT(errors_wait_for_their_method), UNIT(exceptions_pass_through_c), UNIT(a_collection_takes_all), UNIT(a_node_made_while_marking),
           UNIT(a_proxy_let_go_while_marking), UNIT(what_wrap_gives_is_safe),
           UNIT(what_was_disposed_of_keeps_nothing), UNIT(disposal_in_use), UNIT(disposal_in_use_by_fibers), UNIT(functions_can_yield),
               UNIT(disposed_in_a_fiber_that_yields),
           UNIT(disposal_in_use_calls_back), UNIT(disposal_in_use_while_an_error_waits),
           UNIT(native_bytes_hurry_the_collector), UNIT(types_tell_of_memory),
           UNIT(scripts_see_why), UNIT(explain_names_the_whole_path), UNIT(explain_is_asked_of_the_dead),
           UNIT(the_end_with_everything_alive), UNIT(the_end_is_in_order), UNIT(the_end_reports_leaks),
           UNIT(deallocs_at_the_end_find_their_values), UNIT(deallocs_of_garbage_read_what_is_left),
           UNIT(deallocs_of_what_is_let_go_find_all), UNIT(deallocs_at_the_end_read_all),
           UNIT(deallocs_after_the_end_read_nothing), UNIT(errors_of_pending_deallocs_are_reported),
           UNIT(a_value_gets_no_proxy), UNIT(foreign_code_holds_a_wrapper), UNIT(a_store_and_its_action),
           UNIT(a_store_stays_for_its_action), UNIT(taken_and_dropped_silently),
           UNIT(what_is_taken_after_a_collection_stays), UNIT(taken_too_late), UNIT(taken_in_a_sweep), UNIT(wrappers_in_a_loop), UNIT(wrappers_wait),
           UNIT(disposal_of_a_wrapper), UNIT(the_end_with_wrappers),
           UNIT(two_vms), UNIT(lack_of_memory), UNIT(a_dealloc_that_raises));

extern const unit_group slots_group;            /* slots.c */

int main(int argc, char **argv)
{
    const unit_group *const groups[] = { &mruby_group, &slots_group };
    return unit_main(argc, argv, groups, 2);
}
