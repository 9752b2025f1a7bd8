/* closed_port.c - a small VM with a closed collector, joined to the header by the steps 1 to 11 of
 * bindings/MIRRORING.md. The parts below have their numbers.
 *
 * First comes the VM, which does not mention the header, and then the binding, a C library, and a program.
 * An argument says how often the VM collects: "./closed_port 1" collects at each allocation.
 *
 *     cc -I.. closed_port.c -o closed_port && ./closed_port
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* ==== the VM: it marks and sweeps, and calls nobody while it does ==== */

typedef struct object {
    struct object   *next, *next_gray;
    struct weak_ref *weak;              /* the weak references to it */
    void            *tag;               /* a word for the program that embeds the VM */
    int              is_marked, pins;   /* an object with pins is a root */
    size_t           count;
    struct object   *field[];           /* what it refers to */
} object;

/* When the object has died, `to` is NULL, and the finalizer died(arg) is called after the collection. There
   any code may run. */
typedef struct weak_ref {
    object          *to;
    struct weak_ref *next;
    void           (*died)(void *arg);  /* or NULL */
    void            *arg;
} weak_ref;

typedef struct vm {
    object   *all, *gray;
    weak_ref *due;                      /* those whose finalizer is to be called */
    unsigned  period, allocations;
    int       is_off;                   /* do not collect now */
} vm;

static void vm_watch(weak_ref *w, object *p, void (*died)(void *arg), void *arg)
{
    w->to = p;
    w->died = died;
    w->arg = arg;
    w->next = p->weak;
    p->weak = w;
}

static void vm_unwatch(vm *m, weak_ref *w)
{
    weak_ref **at = w->to != NULL ? &w->to->weak : &m->due;
    while (*at != NULL && *at != w)
        at = &(*at)->next;
    if (*at == w)
        *at = w->next;
    w->to = NULL;
}

static void vm_mark(vm *m, object *p)
{
    if (p == NULL || p->is_marked)
        return;
    p->is_marked = 1;
    p->next_gray = m->gray;
    m->gray = p;
}

/* The weak references to p, which is dead, are cleared. */
static void vm_clear_weak(vm *m, object *p)
{
    weak_ref *w;
    while ((w = p->weak) != NULL) {
        p->weak = w->next;
        w->to = NULL;
        if (w->died != NULL) {
            w->next = m->due;
            m->due = w;
        }
    }
}

static void vm_collect(vm *m)
{
    object **at = &m->all, *p;
    weak_ref *w;
    for (p = m->all; p != NULL; p = p->next)
        if (p->pins > 0)
            vm_mark(m, p);
    while ((p = m->gray) != NULL) {
        m->gray = p->next_gray;
        for (size_t i = 0; i < p->count; i++)
            vm_mark(m, p->field[i]);
    }
    while ((p = *at) != NULL) {
        if (p->is_marked) {
            p->is_marked = 0;
            at = &p->next;
        } else {
            *at = p->next;
            vm_clear_weak(m, p);
            free(p);
        }
    }
    while ((w = m->due) != NULL) {
        m->due = w->next;
        w->died(w->arg);
    }
}

/* NULL: there is no memory. */
static object *vm_new(vm *m, size_t count)
{
    object *p;
    if (!m->is_off && ++m->allocations % m->period == 0)
        vm_collect(m);
    p = calloc(1, sizeof *p + count * sizeof *p->field);
    if (p == NULL)
        return NULL;
    p->count = count;
    p->next = m->all;
    m->all = p;
    return p;
}

/* ==== the binding ==== */

#define RRC_MIRROR                      /* 1 */
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* 2: a p, or an edge node. The tag of its object is the cell. */
typedef struct cell {
    weak_ref        life;               /* life.to is the object, or NULL: it has died */
    int             is_anchored;        /* 3: it has a pin of ours */
    rrc_object     *ob;
    struct binding *binding;
    struct cell    *next, *previous;
} cell;

typedef struct binding {
    vm       *m;
    rrc_heap *heap;
    cell     *cells;
    size_t    count, made;              /* cells; those that are newer than the last step */
    weak_ref  sentinel;                 /* 7 */
    int       has_sentinel;             /* until its finalizer has run */
    unsigned  cycles;                   /* since the last step */
    size_t    bytes;                    /* 11: of C, after the last collection for their sake */
} binding;

enum { NODE, PROXY_FIELDS };            /* a proxy's field for the edge node of its ob */
enum { LIST, NODE_FIELDS };             /* an edge node's field for an object with all targets */

static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };

/* ---- 2. cells ---- */

static void set_object(cell *c, object *p, void (*died)(void *arg))
{
    vm_watch(&c->life, p, died, c);
    p->tag = c;
}

static cell *new_cell(binding *b, rrc_object *ob, object *p, void (*died)(void *arg))
{
    cell *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->ob = ob;
    c->binding = b;
    c->next = b->cells;
    if (c->next != NULL)
        c->next->previous = c;
    b->cells = c;
    b->count++;
    b->made++;
    set_object(c, p, died);
    return c;
}

/* 3: this allocates nothing. */
static void set_anchor(cell *c, int on)
{
    if (c->life.to != NULL)
        c->life.to->pins += on - c->is_anchored;
    c->is_anchored = on;
}

static void free_cell(cell *c)
{
    set_anchor(c, 0);
    if (c->life.to != NULL)
        c->life.to->tag = NULL;
    vm_unwatch(c->binding->m, &c->life);
    *(c->previous != NULL ? &c->previous->next : &c->binding->cells) = c->next;
    if (c->next != NULL)
        c->next->previous = c->previous;
    c->binding->count--;
    free(c);
}

/* ---- 3. anchors ---- */

static int anchor(void *b, rrc_object *ob, int on)
{
    cell *c = rrc_mirror_target(((binding *)b)->heap, ob);
    if (c != NULL && c->life.to == NULL)
        return !on;
    if (c != NULL)
        set_anchor(c, on);
    return 1;
}

/* ---- 4. deaths ---- */

/* The finalizer of a proxy. */
static void bury(void *c)
{
    rrc_unlink(((cell *)c)->binding->heap, ((cell *)c)->ob);
    free_cell(c);
}

/* The header drops the link of a view whose object has died. For a node that has died it calls `mirror`. */
static rrc_gcref survivor(void *b, rrc_gcref p)
{
    cell *c = p;
    (void)b;
    if (c->life.to != NULL)
        return c;
    if (c->ob->ob_type == &View)
        free_cell(c);
    return NULL;
}

/* ---- 6. edge nodes ---- */

/* A live node, or NULL: there is no memory. */
static cell *need_node(binding *b, rrc_object *ob)
{
    cell *node = rrc_mirror_node(b->heap, ob), *proxy = rrc_to_obj(b->heap, ob);
    object *p;
    if (node != NULL && node->life.to != NULL)
        return node;
    p = vm_new(b->m, NODE_FIELDS);
    if (p != NULL && node != NULL)
        set_object(node, p, NULL);
    else if (p == NULL || (node = new_cell(b, ob, p, NULL)) == NULL)
        return NULL;
    if (proxy != NULL && proxy->life.to != NULL)
        proxy->life.to->field[NODE] = p;
    rrc_mirror_set_node(b->heap, ob, node);
    return node;
}

static int write_node(binding *b, rrc_object *ob, rrc_object *const *targets, size_t n)
{
    cell *node = need_node(b, ob);
    object *list = vm_new(b->m, n);
    if (node == NULL || list == NULL)
        return 0;
    for (size_t i = 0; i < n; i++) {
        cell *target = rrc_mirror_target(b->heap, targets[i]);
        if (target == NULL)
            target = need_node(b, targets[i]);
        if (target == NULL)
            return 0;
        list->field[i] = target->life.to;
    }
    node->life.to->field[LIST] = list;
    return 1;
}

static int mirror(void *userdata, rrc_object *ob, rrc_object *const *targets, size_t n)
{
    binding *b = userdata;
    cell *node = rrc_mirror_node(b->heap, ob);
    int is_written;
    if (targets == NULL) {              /* (node is not NULL then) */
        if (node->life.to != NULL)
            node->life.to->field[LIST] = NULL;
        free_cell(node);
        return 0;
    }
    b->m->is_off++;
    is_written = write_node(b, ob, targets, n);
    b->m->is_off--;
    return !is_written;
}

/* ---- 7. steps, 8. full collections, 11. memory ---- */

static void step(binding *b)
{
    rrc_mirror_step(b->heap);           /* if it fails, garbage waits for the next one */
    b->made = b->cycles = 0;
    rrc_run_pending(b->heap, 0);
}

static void cycle_is_over(void *binding);

static void need_sentinel(binding *b)
{
    object *p = b->has_sentinel ? NULL : vm_new(b->m, 0);
    if (p == NULL || b->has_sentinel)
        return;
    vm_watch(&b->sentinel, p, cycle_is_over, b);
    b->has_sentinel = 1;
}

static void cycle_is_over(void *userdata)
{
    binding *b = userdata;
    b->has_sentinel = 0;
    need_sentinel(b);
    if (++b->cycles >= 8 || rrc_mirror_is_due(b->heap))
        step(b);
}

static void collect(void *b) { vm_collect(((binding *)b)->m); }

/* Any code of the program may run here. */
static void before_allocating(binding *b)
{
    rrc_stats now;
    need_sentinel(b);                   /* lack of memory can lose it */
    if (b->made > b->count / 4 + 16)
        step(b);
    if (rrc_get_stats(b->heap, &now) == RRC_OK && now.object_bytes + now.native_bytes > 2 * b->bytes + 100000) {
        rrc_gc_collect(b->heap);
        rrc_get_stats(b->heap, &now);
        b->bytes = now.object_bytes + now.native_bytes;
    }
}

/* ---- 5. objects cross ---- */

static int make_link(binding *b, object *p, rrc_object *ob, int kind, void (*died)(void *arg))
{
    cell *c = new_cell(b, ob, p, died);
    if (c != NULL && rrc_link(b->heap, c, ob, kind) == RRC_OK)
        return 1;
    if (c != NULL)
        free_cell(c);
    return 0;
}

/* The C object for p: a reference of the caller's, or NULL. This does not collect. */
static rrc_object *to_c(binding *b, object *p)
{
    rrc_object *ob = p->tag != NULL ? ((cell *)p->tag)->ob : rrc_new(b->heap, &View);
    if (p->tag != NULL)
        rrc_incref(b->heap, ob);
    else if (ob != NULL && !make_link(b, p, ob, RRC_P, NULL))
        RRC_CLEAR(b->heap, ob);
    return ob;
}

/* The VM object for ob that is there, or NULL. */
static object *existing(binding *b, rrc_object *ob)
{
    cell *c = rrc_to_obj(b->heap, ob);
    if (c != NULL && c->life.to == NULL && ob->ob_type != &View)
        bury(c);                        /* its finalizer is due */
    else if (c != NULL)
        return c->life.to;
    return NULL;
}

/* The VM object for ob. NULL: there is no memory, or the object of a view is gone. The caller holds ob. */
static object *to_vm(binding *b, rrc_object *ob)
{
    object *p = existing(b, ob);
    cell *node;
    if (p != NULL || ob->ob_type == &View)
        return p;
    before_allocating(b);
    p = vm_new(b->m, PROXY_FIELDS);
    if (p == NULL || existing(b, ob) != NULL)       /* a finalizer or a dealloc may have made one just now */
        return existing(b, ob);
    node = rrc_mirror_node(b->heap, ob);
    if (node != NULL)
        p->field[NODE] = node->life.to;
    if (node != NULL && node->life.to == NULL)
        rrc_touch(b->heap, ob);
    return make_link(b, p, ob, RRC_O, bury) ? p : NULL;
}

/* ---- 9. (errors of this VM are results), 10. the end ---- */

static void parted(void *b, rrc_gcref p, rrc_object *ob) { (void)b; (void)ob; free_cell(p); }

static void log_item(void *b, const rrc_log_item *item) { (void)b; fprintf(stderr, "%s\n", item->text); }

static int begin(binding *b, vm *m)
{
    rrc_desc desc = { .userdata = b, .survivor = survivor, .mirror = mirror, .anchor = anchor, .collect = collect,
                      .parted = parted, .log = log_item };
    b->m = m;
    b->heap = rrc_heap_new(&desc);
    return b->heap != NULL;
}

/* The VM still works. Returns how many objects C holds. */
static size_t end(binding *b)
{
    size_t held;
    vm_unwatch(b->m, &b->sentinel);
    held = rrc_heap_free(b->heap);
    while (b->cells != NULL)            /* those of edge nodes */
        free_cell(b->cells);
    return held;
}

/* ==== a C library: widgets, which own what is to be called, and the next one in their row ==== */

typedef struct widget { rrc_object head; rrc_object *on_click, *next; } widget;
static const rrc_member widget_members[] = { { "on_click", offsetof(widget, on_click) },
                                             { "next", offsetof(widget, next) }, { NULL, 0 } };
static unsigned widgets;

static void widget_dealloc(rrc_heap *heap, rrc_object *self)
{
    rrc_gc_untrack(heap, self);
    RRC_CLEAR(heap, ((widget *)self)->on_click);
    RRC_CLEAR(heap, ((widget *)self)->next);
    widgets--;
    rrc_gc_del(heap, self);
}

static const rrc_type Widget = { .tp_name = "Widget", .tp_basicsize = sizeof(widget), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                 .tp_members = widget_members, .tp_dealloc = widget_dealloc };

static widget *new_widget(rrc_heap *heap)
{
    rrc_object *self = rrc_gc_new(heap, &Widget);
    if (self == NULL || rrc_gc_track(heap, self) != RRC_OK)
        exit(1);
    widgets++;
    return (widget *)self;
}

/* The reference to b goes to a. */
static void insert_after(rrc_heap *heap, widget *a, widget *b)
{
    if (a->next != NULL)
        rrc_touch(heap, a->next);       /* it moves, without an rrc_incref */
    b->next = a->next;
    a->next = &b->head;
}

/* ==== a program ==== */

static object *variable;                /* of a script */

static void set_variable(object *p)
{
    if (p != NULL)
        p->pins++;
    if (variable != NULL)
        variable->pins--;
    variable = p;
}

/* Let `variable` be the proxy of a new widget, whose on_click is a closure that mentions the widget. */
static widget *new_cycle(binding *b)
{
    widget *w = new_widget(b->heap);
    object *closure;
    set_variable(to_vm(b, &w->head));
    closure = vm_new(b->m, 1);
    if (variable == NULL || closure == NULL || (w->on_click = to_c(b, closure)) == NULL)
        exit(1);
    closure->field[0] = variable;
    return w;
}

static void finalizer(void *words) { printf("  (A finalizer says: %s)\n", (const char *)words); }

static const char *yes(int is_so) { return is_so ? "yes" : "no"; }

static void collect_often(binding *b)
{
    for (int i = 0; i < 8; i++)
        vm_collect(b->m);               /* an ordinary collection of the VM */
    if (rrc_check(b->heap) != RRC_OK)
        exit(1);
}

int main(int argc, char **argv)
{
    static vm m;
    static binding b;
    weak_ref weak = { 0 };
    widget *w;
    object *p;
    unsigned most = 0;

    m.period = argc > 1 ? (unsigned)atoi(argv[1]) : 50;
    if (m.period == 0 || !begin(&b, &m))
        return 1;

    w = new_widget(b.heap);
    set_variable(p = to_vm(&b, &w->head));
    collect_often(&b);
    printf("A script holds a widget. It has the same proxy each time: %s\n", yes(to_vm(&b, &w->head) == p));
    vm_watch(&weak, p, finalizer, "the proxy is dead");
    set_variable(NULL);
    collect_often(&b);
    printf("The script drops it, and C holds it. The proxy is gone: %s\n", yes(weak.to == NULL && widgets == 1));

    w->on_click = to_c(&b, p = vm_new(&m, 0));
    vm_watch(&weak, p, finalizer, "the closure is dead");
    collect_often(&b);
    printf("Only C holds a closure. It lives: %s\n", yes(weak.to == p && to_vm(&b, w->on_click) == p));
    rrc_decref(b.heap, &w->head);
    collect_often(&b);
    printf("C drops it. It is gone: %s\n", yes(weak.to == NULL));

    w = new_cycle(&b);
    set_variable(p = to_vm(&b, &w->head));
    for (int i = 0; i < 3; i++)
        insert_after(b.heap, w, new_cycle(&b));
    vm_watch(&weak, to_vm(&b, w->on_click), finalizer, "the closure of the first one is dead");
    set_variable(p);
    rrc_decref(b.heap, &w->head);
    collect_often(&b);
    printf("A script holds the first of a row of widgets with closures: %u widgets\n", widgets);
    set_variable(weak.to);
    collect_often(&b);
    printf("It holds the closure instead, which mentions the widget: %u widgets\n", widgets);
    set_variable(NULL);
    collect_often(&b);
    printf("It drops the closure. The row is garbage over both heaps: %u widgets\n", widgets);

    for (int i = 0; i < 3000; i++) {
        rrc_decref(b.heap, &new_cycle(&b)->head);
        most = widgets > most ? widgets : most;
    }
    printf("A loop makes 3000 such cycles. There are never more than 300: %s\n", yes(most <= 300));
    rrc_gc_collect(b.heap);
    printf("A full collection leaves the one that the script holds: %u widget\n", widgets);

    w = new_widget(b.heap);
    to_vm(&b, &w->head);
    printf("C has another widget. The VM ends, and C still holds %u: ", (unsigned)end(&b));
    set_variable(NULL);
    vm_collect(&m);
    printf("VM objects are left: %s, ", yes(m.all != NULL));
    printf("widgets %u, ", widgets);
    rrc_decref(b.heap, &w->head);       /* late, and legal */
    printf("and then %u\n", widgets);
    return 0;
}
