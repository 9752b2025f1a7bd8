/* foreign.c - a library with reference counts of its own. Its store holds an action, and the
 * action's handler is a closure of the host, which mentions the store: a cycle through three
 * kinds of references. It is collected, but not while the library uses the action.
 *
 *     cc -I.. foreign.c -o foreign && ./foreign
 */
#include <stdio.h>
#include <stdlib.h>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* The library. It knows nothing of the host, nor of rawrefcount.h. */
typedef struct action { int refs; void *data; } action;
typedef struct store { int refs; action *item; void *data; } store;

static action *action_ref(action *a) { a->refs++; return a; }
static void action_unref(action *a)
{
    if (--a->refs == 0) {
        puts("  the library frees the action");
        free(a);
    }
}
static void store_set(store *s, action *a)
{
    action *old = s->item;
    s->item = a != NULL ? action_ref(a) : NULL;
    if (old != NULL)
        action_unref(old);
}
static void store_unref(store *s)
{
    if (--s->refs == 0) {
        puts("  the library frees the store");
        store_set(s, NULL);
        free(s);
    }
}

/* The host: three cells, a root, and a collector that marks. */
typedef struct cell { struct cell *mentions; int marked; } cell;
static cell store_proxy, action_proxy, closure = { &store_proxy, 0 };
static cell *root;

static void trace(void *vm, rrc_gcref p)
{
    (void)vm;
    for (cell *c = p; c != NULL && !c->marked; c = c->mentions)
        c->marked = 1;
}
static rrc_gcref survivor(void *vm, rrc_gcref p) { (void)vm; return ((cell *)p)->marked ? p : NULL; }

static void collect(rrc_heap *heap)
{
    store_proxy.marked = action_proxy.marked = closure.marked = 0;
    trace(NULL, root);
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    printf("  store's proxy %s, closure %s\n", store_proxy.marked ? "lives" : "is dead",
           closure.marked ? "lives" : "is dead");
    rrc_run_pending(heap, 0);
}

/* The wrappers. Each owns one reference to its object. tp_outside tells of the others. */
typedef struct store_wrapper { rrc_object head; store *s; } store_wrapper;
typedef struct action_wrapper { rrc_object head; action *a; rrc_object *handler; } action_wrapper;

static intptr_t store_outside(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return ((store_wrapper *)self)->s->refs - 1;
}
/* The store refers to the action: so its wrapper visits the action's wrapper. */
static int store_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    store *s = ((store_wrapper *)self)->s;
    if (s->item != NULL)
        RRC_VISIT(s->item->data);
    return 0;
}
/* What is visited must be dropped here: a store in itself would be freed by nobody else. */
static int store_clear(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    store_set(((store_wrapper *)self)->s, NULL);
    return 0;
}
static void store_dealloc(rrc_heap *heap, rrc_object *self)
{
    store *s = ((store_wrapper *)self)->s;
    s->data = NULL;                     /* it has no wrapper any more */
    store_unref(s);
    rrc_gc_del(heap, self);
}

static intptr_t action_outside(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return ((action_wrapper *)self)->a->refs - 1;
}
static int action_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((action_wrapper *)self)->handler);
    return 0;
}
static int action_clear(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((action_wrapper *)self)->handler);
    return 0;
}
static void action_dealloc(rrc_heap *heap, rrc_object *self)
{
    action *a = ((action_wrapper *)self)->a;
    a->data = NULL;
    action_unref(a);
    action_clear(heap, self);
    rrc_gc_del(heap, self);
}

static const rrc_type Store = { .tp_name = "Store", .tp_basicsize = sizeof(store_wrapper),
                                .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_outside = store_outside,
                                .tp_traverse = store_traverse, .tp_clear = store_clear, .tp_dealloc = store_dealloc };
static const rrc_type Action = { .tp_name = "Action", .tp_basicsize = sizeof(action_wrapper),
                                 .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_outside = action_outside,
                                 .tp_traverse = action_traverse, .tp_clear = action_clear,
                                 .tp_dealloc = action_dealloc };
static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };

int main(void)
{
    rrc_heap *heap = rrc_heap_new(&(rrc_desc){ .trace = trace, .survivor = survivor });
    rrc_object *s = rrc_gc_new(heap, &Store), *a = rrc_gc_new(heap, &Action), *view = rrc_new(heap, &View);
    store *shop = calloc(1, sizeof *shop);
    action *buy = calloc(1, sizeof *buy), *used;
    if (s == NULL || a == NULL || view == NULL || shop == NULL || buy == NULL)
        return 1;
    shop->refs = buy->refs = 1;         /* the wrappers' */
    shop->data = s;
    buy->data = a;
    ((store_wrapper *)s)->s = shop;
    ((action_wrapper *)a)->a = buy;
    ((action_wrapper *)a)->handler = view;
    if (rrc_gc_track(heap, s) != RRC_OK || rrc_gc_track(heap, a) != RRC_OK
        || rrc_link(heap, &store_proxy, s, RRC_P | RRC_GIVE) != RRC_OK
        || rrc_link(heap, &action_proxy, a, RRC_P | RRC_GIVE) != RRC_OK
        || rrc_link(heap, &closure, view, RRC_P) != RRC_OK)     /* the handler owns our reference to the view */
        return 1;
    store_set(shop, buy);

    puts("The root refers to the store. The store holds the action, and that the closure:");
    root = &store_proxy;
    collect(heap);
    puts("The root is cleared, but the library uses the action, and may call its handler:");
    root = NULL;
    used = action_ref(buy);
    collect(heap);
    puts("The library is done. Store, action and closure hold each other only:");
    action_unref(used);
    collect(heap);
    printf("objects still held by C: %u\n", (unsigned)rrc_heap_free(heap));
    return 0;
}
