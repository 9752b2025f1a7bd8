/* count_port.c - instructions of a collection in the example port (examples/port.c), in which BUTTONS buttons live, each
 * with a proxy and a callback that mentions it, or die. By hand, an array of handles holds the callbacks, and a button is a
 * word in its proxy: such cycles leak, but this is what a host pays without the header. Then C holds views of BUTTONS
 * objects, or an array of roots does. (by_hand.c has the same scenes, with a search for cycles by hand.) */
#define RAWREFCOUNT_STATIC
#include "rawrefcount.h"
#include "count.h"

#include <stdlib.h>

#define free(p) count_realloc(NULL, (p), sizeof(object), 0)     /* in sweep, as objects are those of make */
#define main port_main
#include "../../examples/port.c"
#undef free
#undef main

enum { BUTTONS = 10000, ROUNDS = 10 };      /* after these rounds a search is not due each time */

static vm m;
static object *handle[BUTTONS];

/* The collection of port.c, but for rrc_check, which is for the time while one ports. */
static void collect_linked(void)
{
    mark(&m, m.root[0]);
    mark_all_gray(&m);
    must(rrc_major_collection_trace(m.heap));
    must(rrc_major_collection_free(m.heap));
    sweep(&m);
}

static void collect_by_hand(void)
{
    int i;

    mark(&m, m.root[0]);
    for (i = 0; i < BUTTONS; i++)
        mark(&m, handle[i]);
    mark_all_gray(&m);
    sweep(&m);
}

/* (new_object may collect, and checks the heap each time.) */
static object *make(object *a, object *b)
{
    object *p = (object *)count_memory(sizeof *p);

    p->field[0] = a;
    p->field[1] = b;
    p->next = m.all;
    m.all = p;
    m.count++;
    return p;
}

static void *take(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    return count_realloc(userdata, ptr, old_size, new_size);
}

/* A list of proxies is rooted. */
static void link_buttons(unsigned search_percent)
{
    rrc_desc desc = { .userdata = &m, .trace = trace, .survivor = survivor, .propagate = propagate, .realloc = take };
    int i;

    memset(&m, 0, sizeof m);
    desc.search_percent = search_percent;
    m.heap = rrc_heap_new(&desc);
    for (i = 0; i < BUTTONS; i++) {
        rrc_object *ob = new_button(&m, &Button);
        object *p = make(NULL, NULL);

        must(rrc_link(m.heap, p, ob, RRC_O | RRC_GIVE));
        p->ob = ob;
        m.root[0] = make(p, m.root[0]);
        ((button *)ob)->on_click = to_c(&m, make(p, NULL));
    }
    for (i = 0; i < ROUNDS; i++)
        collect_linked();
}

static void dead_buttons(void)
{
    link_buttons(0);
    m.root[0] = NULL;
}

/* Nothing is tracked, so nothing is searched. */
static void hold_views(void)
{
    rrc_desc desc = { .userdata = &m, .trace = trace, .survivor = survivor, .propagate = propagate, .realloc = take };
    int i;

    if (buttons != BUTTONS * 2)
        abort();                        /* (of three heaps, one is dead) */
    memset(&m, 0, sizeof m);
    m.heap = rrc_heap_new(&desc);
    for (i = 0; i < BUTTONS; i++)
        to_c(&m, make(NULL, NULL));
    for (i = 0; i < ROUNDS; i++)
        collect_linked();
}

static void search_each_time(void) { link_buttons(0); }
static void search_seldom(void) { link_buttons(25); }

static void by_hand(void)
{
    int i;

    memset(&m, 0, sizeof m);
    for (i = 0; i < BUTTONS; i++) {
        object *p = make(NULL, NULL);

        m.root[0] = make(p, m.root[0]);
        handle[i] = make(p, NULL);
    }
}

static void roots_by_hand(void)
{
    int i;

    memset(&m, 0, sizeof m);
    for (i = 0; i < BUTTONS; i++)
        handle[i] = make(NULL, NULL);
}

void op_port_search(void);
void op_port_quiet(void);
void op_port_hand(void);
void op_port_die(void);
void op_port_held(void);
void op_port_roots(void);
void op_port_search(void) { collect_linked(); }
void op_port_quiet(void) { collect_linked(); }
void op_port_hand(void) { collect_by_hand(); }
void op_port_die(void) { collect_linked(), safe_point(&m); }
void op_port_held(void) { collect_linked(); }
void op_port_roots(void) { collect_by_hand(); }

const count_op count_port[] = {
    { "examples/port.c: a collection, a button lives", "op_port_search", op_port_search, search_each_time, BUTTONS },
    { "examples/port.c: a collection, a button lives, no search", "op_port_quiet", op_port_quiet, search_seldom, BUTTONS },
    { "examples/port.c: a collection, a button by hand lives", "op_port_hand", op_port_hand, by_hand, BUTTONS },
    { "examples/port.c: a collection, a button dies, with its dealloc", "op_port_die", op_port_die, dead_buttons, BUTTONS },
    { "examples/port.c: a collection, a view that C holds lives", "op_port_held", op_port_held, hold_views, BUTTONS },
    { "examples/port.c: a collection, a root in an array lives", "op_port_roots", op_port_roots, roots_by_hand, BUTTONS },
    { NULL, NULL, NULL, NULL, 0 }
};
