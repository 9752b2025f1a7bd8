/* port.c - the test kit's functions for the example port (examples/port.c), whose VM they use as it is. */
#ifndef EXAMPLE_PORT
#define EXAMPLE_PORT "../../examples/port.c"    /* (tests take one with a mistake) */
#endif
#define main example_main
#include EXAMPLE_PORT
#undef main
#include "kit.h"

static vm *m;
static const char numbers[1 << 20];     /* a plain object is named by the place of its number here */

void kit_open(unsigned way)
{
    rrc_desc desc = { .trace = trace, .survivor = survivor, .propagate = propagate, .log = kit_log,
                      .parted = parted, .collect = collect, .mark_from_c = mark_from_c };
    (void)way;
    desc.userdata = m = calloc(1, sizeof *m);
    if (m == NULL || (m->heap = rrc_heap_new(&desc)) == NULL)
        kit_fail("no memory");
}

rrc_heap *kit_heap(void) { return m->heap; }

void kit_close(void)
{
    for (int i = 0; i < KIT_ROOTS; i++)
        m->root[i] = NULL;
    rrc_heap_free(m->heap);
    sweep(m);
}

int kit_keeps(void) { return 1; }

void kit_new_object(int to, long number)
{
    m->root[to] = new_object(m, NULL, NULL);
    m->root[to]->name = numbers + number;
}

long kit_number(int root)
{
    const object *p = m->root[root];
    return p == NULL ? KIT_NIL : p->ob != NULL ? KIT_PROXY : p->name != NULL ? p->name - numbers : KIT_PARTED;
}

void kit_set_root(int to, int from)                 { m->root[to] = from == KIT_NIL ? NULL : m->root[from]; }
void kit_set_field(int owner, int field, int from)  { m->root[owner]->field[field] = from == KIT_NIL ? NULL : m->root[from]; }
void kit_get_field(int owner, int field, int to)    { m->root[to] = m->root[owner]->field[field]; }
rrc_object *kit_to_c(int root)                      { return to_c(m, m->root[root]); }

void kit_to_vm(rrc_object *ob, int to)
{
    object *p = to_vm(m, ob);
    if (p == NULL)
        kit_fail("there is no VM object for an object of C");
    m->root[to] = p;
}

void kit_collect(int kind)
{
    if (kind == KIT_MAJOR)
        collect(m);
}

void kit_safe_point(void) { safe_point(m); }
long kit_count(void)      { return (long)m->count; }
