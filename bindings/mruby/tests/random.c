/* random.c - random changes to a graph over both heaps, with mruby's collector at work, and
 * an oracle beside it: reachability by brute force. What is reachable must live, be the
 * same, and own what it should; in the end nothing else may be left.
 *
 *     random SEED COUNT STEPS     runs COUNT seeds from SEED on
 *
 * Controls that must fail: WITHOUT_TOUCH, WITHOUT_INCREF (the rules of >>mirror in
 * rawrefcount.h are broken), and the mistakes of mutants.sh.
 */
#include "nodes.h"
#include "unit.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/compile.h>
#include <mruby/data.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THINGS = 60 };

/* What is in a place. C objects have fields in C, and places in mruby: an instance variable of their proxies, which
   C_PROXY gets when it is needed. The foreign object of a wrapper refers to those of others. The others are values of
   mruby: an array; a proc, a string or a plain object that reaches one. */
typedef enum kind { NOTHING, C_PROXY, C_MADE, C_WRAPPER, ARRAY, PROC, STRING, OBJECT, KINDS } kind;

typedef struct thing {
    kind        kind;
    int         is_dead;            /* its dealloc, or its witness, says so */
    rrc_object *ob;                 /* of C objects */
    mrb_value   value;              /* of the others */
    int         c_edges[FIELDS];    /* things, or -1 */
    int         host_edges[FIELDS];
    int         foreign_edges[FOREIGN_FIELDS];
    int         c_roots;            /* references of C's own */
    rrc_object *c_root_obs[4];
    int         host_root;
    foreign    *taken;              /* what foreign code holds of a wrapper, or NULL */
    int         is_reachable;
    int         is_kept;            /* reachable, or from a wrapper that has not been collected yet */
} thing;

static mrb_state *mrb;
static rrc_heap *heap;
static thing things[THINGS];
static mrb_value roots;             /* an array with a place for each thing */
static mrb_sym places_name;
static uint64_t random_state;
static unsigned long step_number;
static int step_rarity;             /* 0: the binding steps when it likes; else one of so many changes */

#define require(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static unsigned long seed;

static void fail(int line, const char *what)
{
    fprintf(stderr, "random.c:%d: seed %lu, step %lu: not true: %s\n", line, seed, step_number, what);
    exit(1);
}

static int below(int n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)n);
}

static int is_c(const thing *t) { return t->kind == C_PROXY || t->kind == C_MADE || t->kind == C_WRAPPER; }
static int has_host_places(const thing *t) { return t->kind != NOTHING && t->kind != STRING; }

/* ---- the oracle ---- */

static void reach(int i, int is_kept)
{
    thing *t = i >= 0 ? &things[i] : NULL;
    int k;
    if (t == NULL || (is_kept ? t->is_kept : t->is_reachable))
        return;
    if (is_kept)
        t->is_kept = 1;
    else
        t->is_reachable = 1;
    for (k = 0; k < FIELDS; k++) {
        reach(t->c_edges[k], is_kept);
        reach(t->host_edges[k], is_kept);
    }
    for (k = 0; k < FOREIGN_FIELDS; k++)
        reach(t->foreign_edges[k], is_kept);
}

/* Does a wrapper still have its proxy? Then foreign code can have it back, with all that it reaches. */
static int can_come_back(const thing *t)
{
    return t->kind == C_WRAPPER && !t->is_dead && rrc_to_obj(heap, t->ob) != NULL;
}

static void find_reachable(void)
{
    int i;
    for (i = 0; i < THINGS; i++)
        things[i].is_reachable = things[i].is_kept = 0;
    for (i = 0; i < THINGS; i++)
        if (things[i].kind != NOTHING && (things[i].c_roots > 0 || things[i].host_root || things[i].taken != NULL))
            reach(i, 0);
    for (i = 0; i < THINGS; i++)
        if (things[i].is_reachable || can_come_back(&things[i]))
            reach(i, 1);
}

/* ---- deaths ---- */

static void c_object_freed(int id)
{
    things[id].is_dead = 1;
}

/* Each value of mruby refers to a witness, whose dfree tells. */
static void witness_freed(mrb_state *vm, void *data)
{
    (void)vm;
    if (data != NULL)
        ((thing *)data)->is_dead = 1;
}
static const mrb_data_type witness_type = { "witness", witness_freed };

/* ---- values ---- */

static mrb_value value_of(int i)
{
    const thing *t = &things[i];
    return is_c(t) ? rrc_mruby_wrap(heap, t->ob) : t->value;
}

/* The array with the places, the witness last; or nil. */
static mrb_value places_of(int i)
{
    const thing *t = &things[i];
    switch (t->kind) {
    case ARRAY: return t->value;
    case PROC: return mrb_funcall(mrb, t->value, "call", 0);
    case C_PROXY: case C_MADE: case C_WRAPPER: return mrb_iv_get(mrb, value_of(i), places_name);
    default: return mrb_iv_get(mrb, t->value, places_name);
    }
}

static mrb_value new_places(thing *t)
{
    mrb_value places = mrb_ary_new(mrb);
    struct RData *witness = mrb_data_object_alloc(mrb, mrb->object_class, t, &witness_type);
    mrb_ary_set(mrb, places, FIELDS, mrb_obj_value(witness));
    return places;
}

/* mruby 3.1 may lose the variables of a proc if it has to collect for want of memory just
   when they leave the stack. */
static mrb_value new_proc(mrb_value places)
{
    long hiccup = memory_hiccup;
    mrb_value result;
    memory_hiccup = 0;
    result = mrb_funcall(mrb, mrb_top_self(mrb), "mention", 1, places);
    memory_hiccup = hiccup;
    return result;
}

static void make_value(int i)
{
    thing *t = &things[i];
    mrb_value places = new_places(t);
    switch (t->kind) {
    case ARRAY: t->value = places; break;
    case PROC: t->value = new_proc(places); break;
    default:
        t->value = t->kind == STRING ? mrb_str_new_cstr(mrb, "text")
                                     : mrb_obj_new(mrb, mrb_class_get(mrb, "Plain"), 0, NULL);
        /* A string has no places: nothing tells of its death. */
        if (t->kind == OBJECT)
            mrb_iv_set(mrb, t->value, places_name, places);
        else
            DATA_PTR(mrb_ary_ref(mrb, places, FIELDS)) = NULL;
    }
}

static void hold_in_host(int i, int on)
{
    mrb_ary_set(mrb, roots, i, on ? value_of(i) : mrb_nil_value());
    things[i].host_root = on;
}

static void make(int i, kind what)
{
    thing *t = &things[i];
    int k;
    memset(t, 0, sizeof *t);
    t->kind = what;
    for (k = 0; k < FIELDS; k++)
        t->c_edges[k] = t->host_edges[k] = -1;
    for (k = 0; k < FOREIGN_FIELDS; k++)
        t->foreign_edges[k] = -1;
    if (t->kind == C_MADE || t->kind == C_WRAPPER) {
        mrb_value id = mrb_int_value(mrb, i), places, self;
        if (t->kind == C_WRAPPER && below(2))
            self = rrc_mruby_wrap_new(heap, (rrc_object *)node_make(heap, &wrapper_type, i));
        else
            self = mrb_obj_new(mrb, mrb_class_get(mrb, t->kind == C_MADE ? "Node" : "Wrapper"), 1, &id);
        t->ob = rrc_mruby_unwrap(mrb, self, &AnyNode);
        places = new_places(t);
        DATA_PTR(mrb_ary_ref(mrb, places, FIELDS)) = NULL;
        mrb_iv_set(mrb, self, places_name, places);
        mrb_ary_set(mrb, roots, i, self);
        t->host_root = 1;
    } else if (t->kind == C_PROXY) {
        t->ob = (rrc_object *)node_make(heap, &node_type, i);
        t->c_roots = 1;
        t->c_root_obs[0] = t->ob;
    } else {
        make_value(i);
        hold_in_host(i, 1);
    }
}

/* ---- changes; all of them to things that are reachable ---- */

static int some_reachable(void)
{
    int i = below(THINGS), tries;
    for (tries = 0; tries < THINGS; tries++, i = (i + 1) % THINGS)
        if (things[i].kind != NOTHING && things[i].is_reachable)
            return i;
    return -1;
}

/* A new reference to what stands for a thing in C. */
static rrc_object *new_reference(int i)
{
    if (!is_c(&things[i]) || below(2))
        return rrc_mruby_hold(heap, value_of(i));
#ifdef WITHOUT_INCREF
    things[i].ob->ob_refcnt++;
#else
    rrc_incref(heap, things[i].ob);
#endif
    return things[i].ob;
}

static void hold_in_c(int i)
{
    thing *t = &things[i];
    if (t->c_roots == 4)
        return;
    t->c_root_obs[t->c_roots] = new_reference(i);
    t->c_roots++;
}

static void release_in_c(int i)
{
    thing *t = &things[i];
    if (t->c_roots > 0)
        rrc_decref(heap, t->c_root_obs[--t->c_roots]);
}

static void let_go(int i)
{
    while (things[i].c_roots > 0)
        release_in_c(i);
    hold_in_host(i, 0);
}

/* Foreign code takes a reference, and drops it. (By a weak reference of its own, if need be.) */
static void take(int i)
{
    if (things[i].taken == NULL && can_come_back(&things[i]))
        foreign_set(&things[i].taken, ((node *)things[i].ob)->of);
}

static void drop(int i)
{
    foreign_set(&things[i].taken, NULL);
}

static void set_foreign_edge(int from, int k, int to)
{
    foreign_set(&((node *)things[from].ob)->of->field[k], to >= 0 ? ((node *)things[to].ob)->of : NULL);
    things[from].foreign_edges[k] = to;
}

static void set_c_edge(int from, int k, int to)
{
    node *n = (node *)things[from].ob;
    rrc_object *old = n->field[k];
    n->field[k] = to >= 0 ? new_reference(to) : NULL;
    things[from].c_edges[k] = to;
    if (old != NULL)
        rrc_decref(heap, old);
}

static void set_host_edge(int from, int k, int to)
{
    mrb_value places = places_of(from);
    if (mrb_nil_p(places)) {
        places = mrb_ary_new(mrb);
        mrb_iv_set(mrb, value_of(from), places_name, places);
    }
    mrb_ary_set(mrb, places, k, to >= 0 ? value_of(to) : mrb_nil_value());
    things[from].host_edges[k] = to;
}

static void move_c_edge(int from, int k, int to, int l)
{
    node *a = (node *)things[from].ob, *b = (node *)things[to].ob;
    rrc_object *moved = a->field[k], *old;
    if (moved == NULL || (from == to && k == l))
        return;
#ifndef WITHOUT_TOUCH
    rrc_touch(heap, moved);
#endif
    old = b->field[l];
    a->field[k] = NULL;
    b->field[l] = moved;
    things[to].c_edges[l] = things[from].c_edges[k];
    things[from].c_edges[k] = -1;
    if (old != NULL)
        rrc_decref(heap, old);
}

/* ---- checks ---- */

static void check_thing(int i)
{
    const thing *t = &things[i];
    int k;
    require(!t->is_dead);
    if (is_c(t)) {
        mrb_value value = value_of(i);
        require(rrc_mruby_unwrap(mrb, value, &AnyNode) == t->ob && ((const node *)t->ob)->id == i);
        require(mrb_ptr(value) == mrb_ptr(value_of(i)));
        for (k = 0; k < FIELDS; k++) {
            rrc_object *ob = ((const node *)t->ob)->field[k];
            require((ob == NULL) == (t->c_edges[k] < 0));
            if (ob != NULL)
                require(mrb_ptr(rrc_mruby_wrap(heap, ob)) == mrb_ptr(value_of(t->c_edges[k])));
        }
    }
    for (k = 0; t->kind == C_WRAPPER && k < FOREIGN_FIELDS; k++) {
        const foreign *to = ((const node *)t->ob)->of->field[k];
        require((to == NULL) == (t->foreign_edges[k] < 0));
        require(to == NULL || to == ((const node *)things[t->foreign_edges[k]].ob)->of);
    }
    if (t->kind == STRING)
        require(mrb_string_p(t->value) && RSTRING_LEN(t->value) == 4);
    for (k = 0; has_host_places(t) && k < FIELDS; k++) {
        mrb_value places = places_of(i), value = mrb_nil_p(places) ? places : mrb_ary_ref(mrb, places, k);
        require(mrb_nil_p(value) == (t->host_edges[k] < 0));
        if (t->host_edges[k] >= 0)
            require(mrb_ptr(value) == mrb_ptr(value_of(t->host_edges[k])));
    }
    for (k = 0; k < t->c_roots; k++)
        require(mrb_ptr(rrc_mruby_wrap(heap, t->c_root_obs[k])) == mrb_ptr(value_of(i)));
}

static void check_deaths(void)
{
    int i;
    for (i = 0; i < THINGS; i++)
        if (things[i].is_reachable || things[i].is_kept)
            require(!things[i].is_dead);
}

/* A place is free for another thing when the one in it is known to be dead. */
static void forget_dead(void)
{
    int i;
    for (i = 0; i < THINGS; i++)
        if (!things[i].is_kept && (things[i].is_dead || things[i].kind == STRING))
            things[i].kind = NOTHING;
}

static void collect_all(void)
{
    int i;
    for (i = 0; i < 3; i++)
        rrc_mruby_collect(heap);
    require(rrc_check(heap) == RRC_OK);
    for (i = 0; i < THINGS; i++)
        if (things[i].kind != NOTHING && things[i].kind != STRING)
            require(things[i].is_dead == !things[i].is_reachable);
}

/* ---- a run ---- */

static void change(void)
{
    int a = some_reachable(), b = some_reachable(), k = below(FIELDS), l = below(FIELDS);
    int free_place = below(THINGS), weak = below(THINGS);
    if (things[free_place].kind == NOTHING && below(3) == 0) {
        make(free_place, (kind)(1 + below(KINDS - 1)));
        return;
    }
    if (below(20) == 0)
        take(weak);
    if (below(10) == 0)
        drop(weak);
    if (a < 0)
        return;
    if (things[a].kind == C_WRAPPER && below(3) == 0) {
        if (below(3) == 0)
            take(a);
        else if (below(4) == 0)
            set_foreign_edge(a, k, -1);
        else if (things[b].kind == C_WRAPPER)
            set_foreign_edge(a, k, b);
        return;
    }
    switch (below(9)) {
    case 0: hold_in_host(a, 1); break;
    case 1:
    case 2: hold_in_host(a, 0); break;
    case 3: hold_in_c(a); break;
    case 4:
    case 5: release_in_c(a); break;
    case 6:
        if (is_c(&things[a]) && is_c(&things[b])) {
            move_c_edge(a, k, b, l);
            let_go(a);                      /* of where it was: now the touch counts */
        }
        break;
    default:
        if (is_c(&things[a]) && below(2))
            set_c_edge(a, k, below(4) ? b : -1);
        else if (has_host_places(&things[a]))
            set_host_edge(a, k, below(4) ? b : -1);
    }
}

/* (The compiler of mruby 4.0 does not survive lack of memory.) */
static void toggle_generational(void)
{
    long hiccup = memory_hiccup;
    memory_hiccup = 0;
    if (nodes_can_interrupt(mrb))
        mrb_load_string(mrb, "GC.generational_mode = !GC.generational_mode");
    memory_hiccup = hiccup;
}

/* References in front of the last one; the second leads to what needs a node of its own. */
static void fill_front(int a, int place)
{
    if (things[place].kind != NOTHING || things[a].c_edges[2] < 0)
        return;
    make(place, C_PROXY);
    set_c_edge(place, 0, a);
    set_c_edge(a, 0, a);
    set_c_edge(a, 1, place);
    release_in_c(place);
}

static void empty_front(int a)
{
    set_c_edge(a, 0, -1);
    set_c_edge(a, 1, -1);
}

static void change_front(int a)
{
    if (things[a].c_edges[0] < 0 && things[a].c_edges[1] < 0)
        fill_front(a, below(THINGS));
    else
        empty_front(a);
}

/* In a rare step much is to be mirrored: each allocation may collect. */
static void rare_step(void)
{
    long hiccup = memory_hiccup;
    int tries;
    for (tries = 0; tries < 5; tries++) {
        int a = some_reachable();
        if (a >= 0 && is_c(&things[a]))
            change_front(a);
        find_reachable();
    }
    if (below(2))
        memory_hiccup = 1;
    rrc_mruby_step(heap);
    memory_hiccup = hiccup;
}

static void collector_works(void)
{
    if (step_rarity > 0 && below(step_rarity) == 0)
        rare_step();
    switch (below(40)) {
    case 0: if (step_rarity == 0) rrc_mruby_step(heap); break;
    case 1:
    case 2: if (nodes_can_interrupt(mrb)) mrb_full_gc(mrb); break;
    case 3:
        if (step_rarity == 0 && below(3) == 0) {
            if (below(3) > 0)
                rrc_mruby_collect(heap);
            else
                rrc_gc_collect(heap);       /* perhaps in the midst of one of mruby's */
        }
        break;
    case 4: if (below(3) == 0) toggle_generational(); break;
    default: mrb_incremental_gc(mrb); break;
    }
}

static void run(unsigned long steps)
{
    int i, was_stressed;
    memset(things, 0, sizeof things);
    random_state = seed * 2654435761u + 12345;
    mrb = nodes_open();
    heap = rrc_mruby_heap(mrb);
    node_freed = c_object_freed;
    mrb_load_string(mrb, "class Plain; end");
    places_name = mrb_intern_lit(mrb, "@places");
    roots = mrb_ary_new_capa(mrb, THINGS);
    mrb_gc_register(mrb, roots);
    if (below(2))
        toggle_generational();
    mrb->gc.step_ratio = 1 + below(3) * 40;
    memory_stress = below(2);
    memory_hiccup = below(3) == 0 ? 5 + below(200) : 0;
    step_rarity = below(3) == 0 ? 20 + below(400) : 0;
    if (step_rarity > 0)
        nodes_step_by_hand(mrb);
    for (step_number = 0; step_number < steps; step_number++) {
        int arena = mrb_gc_arena_save(mrb);
        find_reachable();
        change();
        require(mrb->exc == NULL);
        mrb_gc_arena_restore(mrb, arena);
        collector_works();
        find_reachable();
        check_deaths();
        forget_dead();
        i = some_reachable();
        if (i >= 0)
            check_thing(i);
        mrb_gc_arena_restore(mrb, arena);
        if (step_number % 1000 == 999)
            collect_all();
    }
    for (i = 0; i < THINGS; i++)
        if (things[i].kind != NOTHING && things[i].is_reachable)
            check_thing(i);
    mrb_gc_arena_restore(mrb, 0);
    collect_all();
    was_stressed = memory_stress;
    memory_stress = 0;
    memory_hiccup = 0;
    for (i = 0; i < THINGS; i++)
        while (things[i].c_roots > 0)
            release_in_c(i);
    for (i = 0; i < THINGS; i++)
        drop(i);
    if (was_stressed) {                     /* let go of all the rest; else end with it alive */
        for (i = 0; i < THINGS; i++) {
            mrb_ary_set(mrb, roots, i, mrb_nil_value());
            things[i].host_root = 0;
        }
        find_reachable();
        collect_all();
        require(node_count() == 0);
    }
    mrb_close(mrb);
    require(node_count() == 0 && foreign_library.alive == 0);
}

int main(int argc, char **argv)
{
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;
    unsigned long steps = argc > 3 ? strtoul(argv[3], NULL, 10) : 5000;
    for (seed = first; seed < first + count; seed++)
        run(steps);
    printf("%lu passed, 0 failed\n", count);
    return 0;
}
