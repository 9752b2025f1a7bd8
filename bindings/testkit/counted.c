/* counted.c - a small VM that counts references, and detects cycles now and then: a closed host. It is joined to the
 * header as ../COUNTED.md says, and has the test kit's functions. First comes the VM, which does not mention the
 * header. */
#include <stddef.h>
#include <stdlib.h>

/* ==== the VM ==== */

enum { PLAIN, PROXY, NODE, SENTINEL };

typedef struct object {
    struct object  *next, **link;       /* of all, and what refers to it there */
    struct object  *next_listed;        /* in a list of a function below */
    size_t          count, unexplained; /* references to it */
    int             kind, is_live;
    void           *tag;                /* a word for the program that embeds the VM */
    long            number;
    size_t          size;
    struct object **field;              /* what it refers to */
} object;

typedef struct vm {
    object *all, *condemned;
    size_t  count;
    int     is_freeing, is_detecting;
    void  (*finalize)(object *o);       /* o is about to go. What it refers to is there, unless vm_detect goes on */
} vm;

static vm m;

static void vm_retain(object *o) { o->count++; }

/* What o keeps alive goes with it, one after the other. */
static void vm_release(object *o)
{
    if (o == NULL || --o->count > 0)
        return;
    o->next_listed = m.condemned;
    m.condemned = o;
    if (m.is_freeing)
        return;
    m.is_freeing = 1;
    while ((o = m.condemned) != NULL) {
        m.condemned = o->next_listed;
        m.finalize(o);
        for (size_t i = 0; i < o->size; i++)
            vm_release(o->field[i]);
        *o->link = o->next;
        if (o->next != NULL)
            o->next->link = o->link;
        free(o->field);
        free(o);
        m.count--;
    }
    m.is_freeing = 0;
}

static void vm_store(object *o, size_t i, object *to)
{
    object *old = o->field[i];
    if (to != NULL)
        vm_retain(to);
    o->field[i] = to;
    vm_release(old);
}

static void live(object *o, object **list)
{
    if (o == NULL || o->is_live)
        return;
    o->is_live = 1;
    o->next_listed = *list;
    *list = o;
}

static void vm_detect(void)
{
    object *o, *next, *list = NULL;
    size_t i;
    if (m.is_freeing || m.is_detecting)
        return;
    m.is_detecting = 1;
    for (o = m.all; o != NULL; o = o->next) {
        o->unexplained = o->count;
        o->is_live = 0;
    }
    for (o = m.all; o != NULL; o = o->next)
        for (i = 0; i < o->size; i++)
            if (o->field[i] != NULL)
                o->field[i]->unexplained--;
    for (o = m.all; o != NULL; o = o->next)
        if (o->unexplained > 0)
            live(o, &list);
    while ((o = list) != NULL) {
        list = o->next_listed;
        for (i = 0; i < o->size; i++)
            live(o->field[i], &list);
    }
    for (o = m.all; o != NULL; o = o->next)
        if (!o->is_live) {
            vm_retain(o);
            o->next_listed = list;
            list = o;
        }
    for (o = list; o != NULL; o = o->next_listed)
        m.finalize(o);
    for (o = list; o != NULL; o = next) {
        next = o->next_listed;
        o->kind = PLAIN;                /* (it is finalized already) */
        for (i = 0; i < o->size; i++)
            vm_store(o, i, NULL);
        vm_release(o);
    }
    m.is_detecting = 0;
}

/* The caller owns the first reference. */
static object *vm_new(int kind, size_t size)
{
    object *o = calloc(1, sizeof *o);
    if (o == NULL || (o->field = calloc(size + 1, sizeof *o->field)) == NULL)
        exit(1);
    o->kind = kind;
    o->size = size;
    o->count = 1;
    o->link = &m.all;
    o->next = m.all;
    if (o->next != NULL)
        o->next->link = &o->next;
    m.all = o;
    m.count++;
    return o;
}

/* ==== the binding ==== */

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "bindings/closed/rrc_closed.h"
#include "kit.h"

typedef struct cell {
    rrc_cell     head;
    size_t       owed;                  /* the number of its entry in `owed`, or 0 */
    struct cell *next_dead, **dead;     /* in the list of deaths */
} cell;

/* A reference that is to be dropped at a safe point. */
typedef struct entry { object *object; cell *cell; } entry;

enum { NODE_FIELD, PROXY_FIELDS };

static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };
static rrc_heap *heap;
static entry *owed;
static size_t owed_count, owed_room, cells;
static cell *deaths;
static int has_sentinel, is_cycle_over, has_ended, detects_often;

static object *object_of(const rrc_cell *c) { return c->object; }

/* Each cell has an entry for its pin, and one for what its object kept. */
static void reserve(void)
{
    size_t needed = owed_count + 2 * cells + 3;
    if (needed <= owed_room)
        return;
    owed_room = 2 * needed;
    owed = realloc(owed, owed_room * sizeof *owed);
    if (owed == NULL)
        exit(1);
}

static void drop_later(object *o, cell *c)
{
    owed[owed_count].object = o;
    owed[owed_count++].cell = c;
    if (c != NULL)
        c->owed = owed_count;
}

static void take_out(cell *c)
{
    entry last = owed[--owed_count];
    if (c->owed <= owed_count) {
        owed[c->owed - 1] = last;
        if (last.cell != NULL)
            last.cell->owed = c->owed;
    }
    c->owed = 0;
}

static int pin(void *userdata, rrc_cell *c, int on)
{
    (void)userdata;
    if (!on)
        drop_later(object_of(c), (cell *)c);
    else if (((cell *)c)->owed > 0)
        take_out((cell *)c);
    else
        vm_retain(object_of(c));
    return on;
}

static void watch(void *userdata, rrc_cell *c)
{
    (void)userdata;
    object_of(c)->tag = c;
    cells++;
}

static void forget_death(cell *c)
{
    if (c->dead == NULL)
        return;
    *c->dead = c->next_dead;
    if (c->next_dead != NULL)
        c->next_dead->dead = c->dead;
    c->dead = NULL;
}

static void forget(void *userdata, rrc_cell *c)
{
    (void)userdata;
    cells--;
    if (c->object != NULL)
        object_of(c)->tag = NULL;
    forget_death((cell *)c);
    if (((cell *)c)->owed > 0)
        owed[((cell *)c)->owed - 1].cell = NULL;
}

/* The VM calls this. It allocates nothing, and calls nothing of the header. */
static void finalize(object *o)
{
    cell *c = o->tag;
    if (o->kind == SENTINEL) {
        has_sentinel = 0;
        is_cycle_over = 1;
    }
    if (c == NULL)
        return;
    o->tag = NULL;
    c->head.object = NULL;
    c->next_dead = deaths;
    c->dead = &deaths;
    if (deaths != NULL)
        deaths->dead = &c->next_dead;
    deaths = c;
    if (o->kind == PROXY && !m.is_detecting && o->field[NODE_FIELD] != NULL) {
        vm_retain(o->field[NODE_FIELD]);
        drop_later(o->field[NODE_FIELD], NULL);
    }
}

/* Report what has died, and then drop what is owed. Both can lead to more. */
static void settle(void)
{
    while (deaths != NULL || owed_count > 0)
        if (deaths != NULL) {
            cell *c = deaths;
            forget_death(c);
            rrc_cell_died(heap, &c->head);
        } else {
            entry e = owed[owed_count - 1];
            if (e.cell != NULL)
                e.cell->owed = 0;
            owed_count--;
            vm_release(e.object);
        }
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    object *o = vm_new(NODE, 0);
    (void)userdata, (void)ob, (void)n;
    reserve();
    drop_later(o, NULL);                /* it is held until the step has ended */
    return o;
}

static int write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    object *o = object_of(node), **old = o->field;
    size_t old_size = o->size, i;
    (void)userdata;
    o->size = 0;
    if (n == 0) {                       /* this allocates nothing */
        for (i = 0; i < old_size; i++)
            vm_release(old[i]);
        return 0;
    }
    o->field = calloc(n, sizeof *o->field);
    if (o->field == NULL)
        exit(1);
    for (i = 0; i < n; i++)
        if (targets[i]->object != NULL)
            vm_retain(o->field[o->size++] = targets[i]->object);
    for (i = 0; i < old_size; i++)
        vm_release(old[i]);
    free(old);
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    (void)userdata;
    vm_store(object_of(proxy), NODE_FIELD, node->object);
}

static void collect(void *userdata)
{
    (void)userdata;
    settle();
    vm_detect();
    settle();
}

/* Any code of the program may run here. */
static void keep_up(void)
{
    int is_over = is_cycle_over;
    if (has_ended)
        return;
    settle();
    is_cycle_over = 0;
    if (!has_sentinel) {
        object *o = vm_new(SENTINEL, 1);
        vm_store(o, 0, o);
        vm_release(o);
        has_sentinel = 1;
    }
    rrc_closed_keep_up(heap, is_over, 0);
    settle();
    if (detects_often)
        vm_detect();
}

/* ==== the test kit's functions ==== */

static object *root[KIT_ROOTS];

/* The root takes over the caller's reference. */
static void set_root(int to, object *o)
{
    object *old = root[to];
    root[to] = o;
    vm_release(old);
}

static object *shared(object *o)
{
    if (o != NULL)
        vm_retain(o);
    return o;
}

void kit_open(unsigned way)
{
    rrc_desc desc = { .collect = collect, .log = kit_log };
    rrc_closed_desc closed = { .cell_size = sizeof(cell), .pin = pin, .watch = watch, .forget = forget,
                               .new_node = new_node, .write_node = write_node, .join = join };
    m.finalize = finalize;
    detects_often = way % 2 == 0;
    heap = rrc_closed_new(&desc, &closed);
    if (heap == NULL)
        kit_fail("no memory");
    reserve();
}

rrc_heap *kit_heap(void) { return heap; }

void kit_close(void)
{
    for (int i = 0; i < KIT_ROOTS; i++)
        set_root(i, NULL);
    has_ended = 1;
    rrc_heap_free(heap);
    settle();
    vm_detect();
    if (m.count > 0)
        kit_fail("LEAK: the VM has ended, but %lu of its objects are there", (unsigned long)m.count);
}

int kit_keeps(void) { return KIT_NOTHING; }

void kit_new_object(int to, long number)
{
    object *o = vm_new(PLAIN, KIT_FIELDS);
    o->number = number;
    set_root(to, o);
}

long kit_number(int at)
{
    const object *o = root[at];
    return o == NULL ? KIT_NIL : o->kind == PLAIN ? o->number : o->tag != NULL ? KIT_PROXY : KIT_PARTED;
}

static object *value(int from) { return from == KIT_NIL ? NULL : root[from]; }

void kit_set_root(int to, int from)                { set_root(to, shared(value(from))); }
void kit_set_field(int owner, int field, int from) { vm_store(root[owner], (size_t)field, value(from)); }
void kit_get_field(int owner, int field, int to)   { set_root(to, shared(root[owner]->field[field])); }

rrc_object *kit_to_c(int at)
{
    object *o = root[at];
    rrc_object *ob;
    if (o->tag != NULL) {
        rrc_incref(heap, ((rrc_cell *)o->tag)->ob);
        return ((rrc_cell *)o->tag)->ob;
    }
    reserve();
    ob = rrc_new(heap, &View);
    if (ob != NULL && rrc_cell_link(heap, o, ob, RRC_P) != RRC_OK)
        RRC_CLEAR(heap, ob);
    return ob;
}

void kit_to_vm(rrc_object *ob, int to)
{
    rrc_cell *c = rrc_cell_of(heap, ob);
    object *o;
    if (c == NULL && ob->ob_type != &View) {
        keep_up();
        c = rrc_cell_of(heap, ob);      /* a dealloc may have made a proxy just now */
    }
    if (c != NULL) {
        set_root(to, shared(object_of(c)));
        return;
    }
    o = ob->ob_type != &View ? vm_new(PROXY, PROXY_FIELDS) : NULL;
    reserve();
    if (o == NULL || rrc_cell_link(heap, o, ob, RRC_O) != RRC_OK)
        kit_fail("LOST: there is no VM object for an object of C");
    set_root(to, o);
}

void kit_collect(int kind)
{
    if (kind == KIT_MAJOR)
        vm_detect();
}

void kit_safe_point(void) { keep_up(); }
long kit_count(void)      { return KIT_NIL; }       /* (an edge node can wait for the next step) */
