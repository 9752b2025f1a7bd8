/* closed_port.c - the binding of examples/closed_port.c under random programs, against an oracle.
 *
 *     closed_port [SEED [RUNS [STEPS]]]
 *
 * Run by run, the VM collects at each allocation, often, or seldom, and in every third run allocations fail.
 * The oracle knows the graph over both heaps. What is reachable must be alive after each step, and what is not
 * must be gone after a full collection. */
#include <stdlib.h>
static void *failing_calloc(size_t n, size_t size);
static void *failing_realloc(void *memory, size_t size);
#define calloc failing_calloc
#define realloc failing_realloc
#define main example_main
#include "examples/closed_port.c"
#undef calloc
#undef realloc
#undef main
#include "choices.h"

static choices from;
static int fails;

static void *failing_calloc(size_t n, size_t size)
{
    return fails && pick(&from, 8) == 0 ? NULL : calloc(n, size);
}

static void *failing_realloc(void *memory, size_t size)
{
    return fails && pick(&from, 8) == 0 ? NULL : realloc(memory, size);
}

/* ---- the oracle ---- */

enum { FREE, WIDGET, OBJECT, DEAD };    /* DEAD: it has gone since the last step */
enum { IDS = 200, PLACES = 8, NOBODY = -1 };

typedef struct node {
    int         kind, edge[2], is_reached;
    rrc_object *ob;                     /* of a widget */
    weak_ref    weak;                   /* to an object */
} node;

static node nodes[IDS];
static struct { rrc_object *ob; int id; } held[PLACES];    /* by C */
static struct { object *p; int id; } variables[PLACES];    /* of the VM: pinned */
static unsigned long seed, steps_done;

static void require(int is_so, const char *what)
{
    if (is_so)
        return;
    printf("FAILED: %s; repeat with: closed_port %lu 1 %lu\n", what, seed, steps_done + 1);
    exit(1);
}

static void reach(int id)
{
    if (id == NOBODY || nodes[id].is_reached)
        return;
    require(nodes[id].kind == WIDGET || nodes[id].kind == OBJECT, "something died that is reachable");
    nodes[id].is_reached = 1;
    reach(nodes[id].edge[0]);
    reach(nodes[id].edge[1]);
}

/* What has died can have its number used again. If is_exact, all that is not reachable must have died. */
static void compare(int is_exact)
{
    for (int i = 0; i < IDS; i++)
        nodes[i].is_reached = 0;
    for (int i = 0; i < PLACES; i++) {
        reach(held[i].id);
        reach(variables[i].id);
    }
    for (int i = 0; i < IDS; i++) {
        require(!is_exact || nodes[i].is_reached || nodes[i].kind == FREE || nodes[i].kind == DEAD, "garbage is left");
        if (nodes[i].kind == DEAD)
            nodes[i].kind = FREE;
    }
}

static size_t count_live(void)
{
    size_t count = 0;
    for (int i = 0; i < IDS; i++)
        count += nodes[i].kind == WIDGET || nodes[i].kind == OBJECT;
    return count;
}

static int new_id(int kind)
{
    for (int i = 0; i < IDS; i++)
        if (nodes[i].kind == FREE) {
            nodes[i].kind = kind;
            nodes[i].edge[0] = nodes[i].edge[1] = NOBODY;
            return i;
        }
    return NOBODY;
}

/* ---- the world ---- */

typedef struct numbered { widget w; int id; } numbered;

static void numbered_dealloc(rrc_heap *heap, rrc_object *self)
{
    nodes[((numbered *)self)->id].kind = DEAD;
    widget_dealloc(heap, self);
}

static const rrc_type Numbered = { .tp_name = "Numbered", .tp_basicsize = sizeof(numbered),
                                   .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = widget_members,
                                   .tp_dealloc = numbered_dealloc };

static void in_finalizer(void);

static void object_died(void *n)
{
    ((node *)n)->kind = DEAD;
    in_finalizer();
}

static void hold(binding *b, int i, rrc_object *ob, int id)
{
    rrc_object *old = held[i].ob;
    held[i].ob = ob;
    held[i].id = id;
    if (old != NULL)
        rrc_decref(b->heap, old);
}

static void assign(int i, object *p, int id)
{
    if (p != NULL)
        p->pins++;
    if (variables[i].p != NULL)
        variables[i].p->pins--;
    variables[i].p = p;
    variables[i].id = id;
}

static void make_widget(binding *b, int i)
{
    int id = new_id(WIDGET);
    rrc_object *ob = id != NOBODY ? rrc_gc_new(b->heap, &Numbered) : NULL;
    if (id != NOBODY)
        nodes[id].kind = FREE;
    if (ob == NULL)
        return;
    widgets++;
    ((numbered *)ob)->id = id;
    nodes[id].ob = ob;
    nodes[id].kind = WIDGET;
    if (rrc_gc_track(b->heap, ob) == RRC_OK)
        hold(b, i, ob, id);
    else
        rrc_decref(b->heap, ob);
}

static void make_object(binding *b, int i)
{
    object *p = vm_new(b->m, 2);
    int id = p != NULL ? new_id(OBJECT) : NOBODY;
    if (id == NOBODY)
        return;
    vm_watch(&nodes[id].weak, p, object_died, &nodes[id]);
    assign(i, p, id);
}

/* (A finalizer can change what held[k] is.) */
static void to_variable(binding *b, int i, int k)
{
    rrc_object *ob = held[k].ob;
    int id = held[k].id;
    object *p;
    if (ob == NULL)
        return;
    rrc_incref(b->heap, ob);
    p = to_vm(b, ob);
    require(p != NULL || fails, "no object");
    require(p == NULL || nodes[id].kind != OBJECT || p == nodes[id].weak.to, "it is another object");
    if (p != NULL)
        assign(i, p, id);
    rrc_decref(b->heap, ob);
}

static void to_held(binding *b, int i, int k)
{
    int id = variables[k].id;
    rrc_object *ob = id != NOBODY ? to_c(b, variables[k].p) : NULL;
    if (ob == NULL)
        return;
    require(nodes[id].kind != WIDGET || ob == nodes[id].ob, "it is another widget");
    hold(b, i, ob, id);
}

static rrc_object **field_of(rrc_object *ob, unsigned k)
{
    return k == 0 ? &((widget *)ob)->on_click : &((widget *)ob)->next;
}

static int is(int id, int kind) { return id != NOBODY && nodes[id].kind == kind; }

static void set_field(binding *b, int i, int from_place, unsigned k)
{
    rrc_object **field, *old;
    if (!is(held[i].id, WIDGET))
        return;
    field = field_of(held[i].ob, k);
    old = *field;
    *field = held[from_place].ob;
    if (*field != NULL)
        rrc_incref(b->heap, *field);
    nodes[held[i].id].edge[k] = held[from_place].id;
    if (old != NULL)
        rrc_decref(b->heap, old);
}

/* The reference moves from one widget to another. */
static void move_field(binding *b, int i, int to, unsigned k)
{
    rrc_object *moving, *old;
    if (!is(held[i].id, WIDGET) || !is(held[to].id, WIDGET) || held[i].id == held[to].id)
        return;
    moving = *field_of(held[i].ob, k);
    old = *field_of(held[to].ob, k);
    if (moving != NULL)
        rrc_touch(b->heap, moving);
    *field_of(held[i].ob, k) = NULL;
    *field_of(held[to].ob, k) = moving;
    nodes[held[to].id].edge[k] = nodes[held[i].id].edge[k];
    nodes[held[i].id].edge[k] = NOBODY;
    if (old != NULL)
        rrc_decref(b->heap, old);
}

static void get_field(binding *b, int i, int from_place, unsigned k)
{
    rrc_object *ob = is(held[from_place].id, WIDGET) ? *field_of(held[from_place].ob, k) : NULL;
    if (ob == NULL)
        return;
    rrc_incref(b->heap, ob);
    hold(b, i, ob, nodes[held[from_place].id].edge[k]);
}

static binding *the_binding;
static int in_finalizers;

/* Code of the program runs between the deaths of objects. */
static void in_finalizer(void)
{
    int i = (int)pick(&from, PLACES), k = (int)pick(&from, PLACES);
    if (in_finalizers++ == 0)
        switch (pick(&from, 8)) {
        case 0: to_variable(the_binding, i, k); break;
        case 1: rrc_closed_step(the_binding->heap); break;
        case 2: hold(the_binding, i, NULL, NOBODY); break;
        case 3: assign(i, NULL, NOBODY); break;
        default: break;
        }
    in_finalizers--;
}

static void take_step(binding *b)
{
    int i = (int)pick(&from, PLACES), k = (int)pick(&from, PLACES);
    unsigned n = pick(&from, 2);
    switch (pick(&from, 20)) {
    case 0: case 1: make_widget(b, i); break;
    case 2: case 3: make_object(b, i); break;
    case 4: case 5: to_variable(b, i, k); break;
    case 6: case 7: to_held(b, i, k); break;
    case 8: hold(b, i, NULL, NOBODY); break;
    case 9: assign(i, NULL, NOBODY); break;
    case 10: case 11: set_field(b, i, k, n); break;
    case 12: get_field(b, i, k, n); break;
    case 13: move_field(b, i, k, n); break;
    case 14: case 15:
        if (is(variables[i].id, OBJECT)) {
            variables[i].p->field[n] = variables[k].p;
            nodes[variables[i].id].edge[n] = variables[k].id;
        }
        break;
    case 16:
        if (is(variables[k].id, OBJECT))
            assign(i, variables[k].p->field[n], nodes[variables[k].id].edge[n]);
        break;
    case 17: vm_collect(b->m); break;
    case 18:
        rrc_closed_step(b->heap);
        rrc_run_pending(b->heap, 0);
        break;
    default:
        if (pick(&from, 20) == 0)
            rrc_gc_collect(b->heap);
        break;
    }
}

/* A second collection is for what a cycle of C has owned. */
static void collect_all(binding *b)
{
    int failed = fails;
    rrc_stats stats;
    fails = 0;
    in_finalizers = 1;
    require(rrc_check(b->heap) == RRC_OK, "rrc_check");
    rrc_gc_collect(b->heap);
    rrc_gc_collect(b->heap);
    compare(1);
    rrc_get_stats(b->heap, &stats);
    require(stats.objects <= count_live(), "views are left");
    in_finalizers = 0;
    fails = failed;
}

static void finish(binding *b)
{
    fails = 0;
    collect_all(b);
    in_finalizers = 1;
    for (int i = 0; i < PLACES; i++)
        hold(b, i, NULL, NOBODY);
    make_widget(b, 0);                  /* (a cycle of C that C drops after the end would leak) */
    compare(0);
    to_vm(b, held[0].ob);
    end(b);
    require(widgets == 1, "the end left another widget");
    hold(b, 0, NULL, NOBODY);
    for (int i = 0; i < PLACES; i++)
        assign(i, NULL, NOBODY);
    vm_collect(b->m);
    in_finalizers = 0;
    require(b->m->all == NULL && widgets == 0, "something is left");
}

static void run(unsigned long steps)
{
    static const unsigned periods[] = { 1, 5, 100 };
    vm m = { 0 };
    binding b = { 0 };
    from = choices_of_seed(seed);
    the_binding = &b;
    widgets = 0;
    for (int i = 0; i < PLACES; i++)
        held[i].id = variables[i].id = NOBODY;
    for (int i = 0; i < IDS; i++)
        nodes[i].kind = FREE;
    m.period = periods[pick(&from, 3)];
    require(begin(&b, &m), "no heap");
    fails = seed % 3 == 0;
    for (steps_done = 0; steps_done < steps; steps_done++) {
        take_step(&b);
        compare(0);
        if (steps_done % 512 == 511)
            collect_all(&b);
    }
    finish(&b);
}

int main(int argc, char **argv)
{
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    unsigned long runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
    unsigned long steps = argc > 3 ? strtoul(argv[3], NULL, 10) : 3000;
    for (seed = first; seed < first + runs; seed++)
        run(steps);
    printf("%lu runs of %lu steps: all as the oracle says\n", runs, steps);
    return 0;
}
