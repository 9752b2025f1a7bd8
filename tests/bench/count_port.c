/* count_port.c - instructions of a collection in the example port (examples/port.c), in which BUTTONS buttons live, each
 * with a proxy and a callback that mentions it. By hand, an array of handles holds the callbacks, and a button is a word
 * in its proxy: such cycles leak, but this is what a host pays without the header. */
#define RAWREFCOUNT_STATIC
#define main port_main
#include "../../examples/port.c"
#undef main
#include "count.h"

#include <string.h>

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

void op_port_search(void);
void op_port_quiet(void);
void op_port_hand(void);
void op_port_search(void) { collect_linked(); }
void op_port_quiet(void) { collect_linked(); }
void op_port_hand(void) { collect_by_hand(); }

const count_op count_port[] = {
    { "examples/port.c: a collection, a button lives", "op_port_search", op_port_search, search_each_time, BUTTONS },
    { "examples/port.c: a collection, a button lives, no search", "op_port_quiet", op_port_quiet, search_seldom, BUTTONS },
    { "examples/port.c: a collection, a button by hand lives", "op_port_hand", op_port_hand, by_hand, BUTTONS },
    { NULL, NULL, NULL, NULL, 0 }
};
