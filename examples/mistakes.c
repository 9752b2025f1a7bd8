/* mistakes.c - ten ways in which a port goes wrong, and what the library says to each.
 * bindings/MISTAKES.md explains them one by one.
 *
 *     cc -I.. mistakes.c -o mistakes && ./mistakes
 */
#include <stdio.h>
#include <string.h>

#define RRC_DEBUG                   /* adds the checks that cost time */
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"

/* ---- a host that makes one mistake, if it is told to --------------------- */

typedef struct thing {
    int marked, young;
    struct thing *moved, *field;
    rrc_object *slot;
} thing;

typedef struct vm {
    rrc_heap *heap;
    thing from[4], to[4];
    thing *queued;
    int has_no_propagate, marks_when_queued;
    rrc_object *linked_in_a_hook;
} vm;

static void trace(void *userdata, rrc_gcref p)
{
    vm *self = userdata;
    if (self->linked_in_a_hook != NULL)
        rrc_link(self->heap, p, self->linked_in_a_hook, RRC_O);
    self->queued = p;               /* this host marks later, from its queue */
    if (self->marks_when_queued)
        self->queued->marked = 1;
}

static void propagate(void *userdata)
{
    vm *self = userdata;
    if (self->queued == NULL)
        return;
    self->queued->marked = 1;
    if (self->queued->field != NULL)
        self->queued->field->marked = 1;
}

static void no_propagate(void *userdata)
{
    (void)userdata;
}

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    thing *self = p;
    (void)userdata;
    return !self->marked ? NULL : self->moved != NULL ? self->moved : self;
}

static int is_young(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return ((thing *)p)->young;
}

static rrc_object **slot(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return &((thing *)p)->slot;
}

/* Text without its addresses: they differ from run to run, and the output of this
   program is compared by a test. */
static void print_text(void *arg, const char *text, size_t size)
{
    const char *end = text + size;
    (void)arg;
    while (text < end) {
        if (end - text >= 3 && strncmp(text, " 0x", 3) == 0)
            text += 3 + strspn(text + 3, "0123456789abcdef");
        else
            putchar(*text++);
    }
}

/* What the library says. item->text is all of it in one line, for printing. */
static void report(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    printf("  %s in %s, type %s:\n    %s\n    (", item->name, item->function, item->type_name, item->message);
    print_text(NULL, item->detail, strlen(item->detail));
    printf(")\n");
}

static void start(vm *self)
{
    rrc_desc desc = { .userdata = self, .trace = trace, .survivor = survivor, .is_young = is_young,
                      .slot = slot, .log = report };
    desc.propagate = self->has_no_propagate ? no_propagate : propagate;
    self->heap = rrc_heap_new(&desc);
}

/* A full collection in which only what C holds is alive. */
static void collect(vm *self)
{
    rrc_major_collection_trace(self->heap);
    rrc_major_collection_free(self->heap);
}

/* ---- C objects ----------------------------------------------------------- */

typedef struct node {
    rrc_object ob_base;
    rrc_object *next;               /* owned */
    rrc_object *parent;             /* borrowed */
} node;

static const rrc_member node_members[] = {
    { "next", offsetof(node, next) }, { NULL, 0 }
};
static const rrc_member wrong_members[] = {
    { "next", offsetof(node, next) }, { "parent", offsetof(node, parent) }, { NULL, 0 }
};
static const rrc_member no_members[] = { { NULL, 0 } };

#define NODE_TYPE(name, members) \
    { .tp_name = (name), .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = (members) }

static const rrc_type Node = NODE_TYPE("Node", node_members);
static const rrc_type WrongNode = NODE_TYPE("WrongNode", wrong_members);
static const rrc_type SilentNode = NODE_TYPE("SilentNode", no_members);

static rrc_object *new_node(vm *self, const rrc_type *type)
{
    rrc_object *ob = rrc_gc_new(self->heap, type);
    if (ob != NULL)
        rrc_gc_track(self->heap, ob);
    return ob;
}

/* A new node that C holds once, with a P link. */
static rrc_object *linked_node(vm *self, thing *p)
{
    rrc_object *ob = new_node(self, &Node);
    rrc_link(self->heap, p, ob, RRC_P);
    return ob;
}

/* ---- the mistakes -------------------------------------------------------- */

static void the_bias_is_forgotten(vm *self)
{
    rrc_object *ob;
    start(self);
    ob = new_node(self, &Node);
    rrc_create_link_pypy(self->heap, &self->from[0], ob);   /* as in PyPy: unlike rrc_link it adds no bias */
    collect(self);
    rrc_decref(self->heap, ob);
}

static void survivor_is_asked_before_the_queue_is_empty(vm *self)
{
    rrc_object *ob;
    self->has_no_propagate = 1;     /* "trace queues p, and the collector will get to it" */
    start(self);
    ob = linked_node(self, &self->from[0]);
    collect(self);
    rrc_decref(self->heap, ob);
    rrc_heap_free(self->heap);

    self->marks_when_queued = 1;    /* the same mistake, in a host whose mark bit hides it */
    self->from[1].field = &self->from[2];
    start(self);
    ob = linked_node(self, &self->from[1]);
    collect(self);
    printf("  trace sets the mark bit: p %s, and the object to which p refers %s\n",
           self->from[1].marked ? "lives" : "is dead", self->from[2].marked ? "lives" : "is dead");
    rrc_decref(self->heap, ob);
}

static void a_hook_calls_back(vm *self)
{
    rrc_object *ob;
    start(self);
    ob = linked_node(self, &self->from[0]);
    self->linked_in_a_hook = ob;
    collect(self);
    rrc_decref(self->heap, ob);
}

static void free_comes_without_trace(vm *self)
{
    rrc_object *ob;
    start(self);
    ob = linked_node(self, &self->from[0]);
    rrc_minor_collection_trace(self->heap);
    rrc_major_collection_free(self->heap);      /* the minor collection turned into a major one */
    rrc_minor_collection_free(self->heap);
    rrc_decref(self->heap, ob);
}

static void the_slot_stays_behind(vm *self)
{
    rrc_object *ob;
    start(self);
    ob = linked_node(self, &self->from[0]);
    self->from[0].moved = &self->to[0];         /* p moves, its slot is not copied */
    collect(self);
    rrc_check(self->heap);
    rrc_decref(self->heap, ob);
}

static void generations_are_confused(vm *self)
{
    rrc_object *ob;
    start(self);
    self->from[0].young = 1;
    ob = linked_node(self, &self->from[0]);
    self->from[0].young = 0;                    /* promoted, but in no collection that was told of */
    rrc_check(self->heap);
    rrc_decref(self->heap, ob);
}

static void nobody_runs_what_is_pending(vm *self)
{
    rrc_stats stats;
    int i;
    start(self);
    for (i = 0; i < 3; i++) {
        rrc_object *ob = linked_node(self, &self->from[i]);
        rrc_decref(self->heap, ob);
        collect(self);
    }
    rrc_get_stats(self->heap, &stats);
    printf("  rrc_get_stats: %u objects, of which %u are pending\n", (unsigned)stats.objects, (unsigned)stats.pending);
}

static void a_borrowed_reference_is_dropped(vm *self)
{
    rrc_object *ob;
    start(self);
    ob = linked_node(self, &self->from[0]);
    rrc_decref(self->heap, ob);                 /* ours */
    ob = rrc_from_obj(self->heap, &self->from[0]);
    rrc_decref(self->heap, ob);                 /* borrowed: not ours to drop */
}

static void a_borrowed_field_is_visited(vm *self)
{
    rrc_object *root, *parent, *child;
    start(self);
    root = new_node(self, &Node);
    parent = new_node(self, &Node);
    child = new_node(self, &WrongNode);
    ((node *)root)->next = parent;              /* each takes over our reference */
    ((node *)parent)->next = child;
    ((node *)child)->parent = parent;           /* borrowed, but in tp_members */
    rrc_check(self->heap);
    ((node *)child)->parent = NULL;
    rrc_decref(self->heap, root);
}

static void an_owned_field_is_not_visited(vm *self)
{
    rrc_object *a, *b;
    start(self);
    a = new_node(self, &Node);
    b = new_node(self, &SilentNode);            /* does not visit what it owns */
    ((node *)a)->next = b;
    ((node *)b)->next = a;                      /* a cycle; nothing else holds it */
    collect(self);
    printf("  rrc_explain: ");
    rrc_explain(self->heap, NULL, a, print_text, NULL);
    rrc_incref(self->heap, b);                  /* (to clean up) */
    RRC_CLEAR(self->heap, ((node *)b)->next);
    rrc_decref(self->heap, b);
}

static void show(int number, const char *title, void (*mistake)(vm *self))
{
    vm self;
    memset(&self, 0, sizeof self);
    printf("%d. %s\n", number, title);
    mistake(&self);
    rrc_heap_free(self.heap);
}

int main(void)
{
    show(1, "The bias is forgotten", the_bias_is_forgotten);
    show(2, "survivor is asked before the host's queue is empty", survivor_is_asked_before_the_queue_is_empty);
    show(3, "A hook calls back", a_hook_calls_back);
    show(4, "A free call comes without its trace call", free_comes_without_trace);
    show(5, "p moves, its slot stays behind", the_slot_stays_behind);
    show(6, "The generations are confused", generations_are_confused);
    show(7, "Nobody runs what is pending", nobody_runs_what_is_pending);
    show(8, "A borrowed reference is dropped", a_borrowed_reference_is_dropped);
    show(9, "A borrowed field is visited", a_borrowed_field_is_visited);
    show(10, "An owned field is not visited", an_owned_field_is_not_visited);
    return 0;
}
