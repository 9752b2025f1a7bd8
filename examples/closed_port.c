/* closed_port.c - a small VM with a closed collector, joined to the header by the steps 1 to 11 of
 * bindings/closed/README.md. The parts below have their numbers.
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

#define RAWREFCOUNT_IMPLEMENTATION      /* 1 */
#include "rawrefcount.h"
#include "bindings/closed/rrc_closed.h"

/* 2: its object has it as tag. */
typedef struct cell { rrc_cell head; weak_ref life; struct binding *binding; } cell;

typedef struct binding {
    vm       *m;
    rrc_heap *heap;
    weak_ref  sentinel;                 /* 7 */
    int       has_sentinel;             /* until its finalizer has run */
    size_t    bytes;                    /* 11: of C, after the last collection for their sake */
} binding;

enum { NODE, PROXY_FIELDS };            /* a proxy's field for the edge node of its ob */
enum { LIST, NODE_FIELDS };             /* an edge node's field for an object with all targets */

static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };

/* ---- 2. cells, 3. anchors, 4. deaths ---- */

static object *object_of(const rrc_cell *c) { return c->object; }

static void cell_died(void *c) { rrc_cell_died(((cell *)c)->binding->heap, c); }

static void watch(void *b, rrc_cell *c)
{
    ((cell *)c)->binding = b;
    object_of(c)->tag = c;
    vm_watch(&((cell *)c)->life, c->object, cell_died, c);
}

static int is_live(void *b, const rrc_cell *c, int may_defer)
{
    (void)b, (void)may_defer;
    return ((const cell *)c)->life.to != NULL;
}

static void forget(void *b, rrc_cell *c)
{
    if (is_live(b, c, 0))
        object_of(c)->tag = NULL;
    vm_unwatch(((binding *)b)->m, &((cell *)c)->life);
}

static int pin(void *b, rrc_cell *c, int on)
{
    if (is_live(b, c, 0))
        object_of(c)->pins += on ? 1 : -1;
    return on && is_live(b, c, 0);
}

/* ---- 6. edge nodes ---- */

static void *new_node(void *b, rrc_object *ob, size_t n)
{
    (void)ob, (void)n;
    return vm_new(((binding *)b)->m, NODE_FIELDS);
}

static int write_node(void *b, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    vm *m = ((binding *)b)->m;
    object *list;
    m->is_off++;                        /* the targets do not die meanwhile */
    list = n > 0 ? vm_new(m, n) : NULL;
    m->is_off--;
    for (size_t i = 0; list != NULL && i < n; i++)
        list->field[i] = targets[i]->object;
    if (list != NULL || n == 0)
        object_of(node)->field[LIST] = list;
    return list == NULL && n > 0;
}

static void join(void *b, rrc_cell *proxy, rrc_cell *node) { (void)b; object_of(proxy)->field[NODE] = node->object; }

/* ---- 7. steps, 8. full collections, 11. memory ---- */

static void cycle_is_over(void *binding);

/* Any code of the program may run here. (Lack of memory can lose the sentinel.) */
static void keep_up(binding *b, int has_cycle_ended)
{
    rrc_stats now;
    object *p = b->has_sentinel ? NULL : vm_new(b->m, 0);
    if (p != NULL && !b->has_sentinel) {
        vm_watch(&b->sentinel, p, cycle_is_over, b);
        b->has_sentinel = 1;
    }
    rrc_closed_keep_up(b->heap, has_cycle_ended, 1000);
    if (!has_cycle_ended && rrc_get_stats(b->heap, &now) == RRC_OK && now.object_bytes > 2 * b->bytes + 100000) {
        rrc_gc_collect(b->heap);
        rrc_get_stats(b->heap, &now);
        b->bytes = now.object_bytes;
    }
}

static void cycle_is_over(void *b)
{
    ((binding *)b)->has_sentinel = 0;
    keep_up(b, 1);
}

static void collect(void *b) { vm_collect(((binding *)b)->m); }

/* ---- 5. objects cross ---- */

/* The C object for p: a reference of the caller's, or NULL. This does not collect. */
static rrc_object *to_c(binding *b, object *p)
{
    rrc_object *ob = p->tag != NULL ? ((rrc_cell *)p->tag)->ob : rrc_new(b->heap, &View);
    if (p->tag != NULL)
        rrc_incref(b->heap, ob);
    else if (ob != NULL && rrc_cell_link(b->heap, p, ob, RRC_P) != RRC_OK)
        RRC_CLEAR(b->heap, ob);
    return ob;
}

/* The VM object for ob. NULL: there is no memory, or the object of a view is gone. The caller holds ob. */
static object *to_vm(binding *b, rrc_object *ob)
{
    rrc_cell *c = rrc_cell_of(b->heap, ob);
    object *p = NULL;
    if (c == NULL && ob->ob_type != &View) {
        keep_up(b, 0);
        p = vm_new(b->m, PROXY_FIELDS);
        c = rrc_cell_of(b->heap, ob);   /* a finalizer or a dealloc may have made a proxy just now */
    }
    if (c != NULL)
        return c->object;
    return p != NULL && rrc_cell_link(b->heap, p, ob, RRC_O) == RRC_OK ? p : NULL;
}

/* ---- 9. (errors of this VM are results), 10. the end ---- */

static void log_item(void *b, const rrc_log_item *item) { (void)b; fprintf(stderr, "%s\n", item->text); }

static int begin(binding *b, vm *m)
{
    rrc_desc desc = { .userdata = b, .collect = collect, .log = log_item };
    rrc_closed_desc closed = { .cell_size = sizeof(cell), .pin = pin, .watch = watch, .forget = forget,
                               .is_live = is_live, .new_node = new_node, .write_node = write_node, .join = join };
    b->m = m;
    b->heap = rrc_closed_new(&desc, &closed);
    return b->heap != NULL;
}

/* The VM still works, and has dropped its roots (all but one, in this program). Returns how many objects C holds. */
static size_t end(binding *b)
{
    rrc_closed_collect_in_order(b->heap);       /* owners go first */
    vm_unwatch(b->m, &b->sentinel);
    return rrc_heap_free(b->heap);
}

/* ==== a C library: widgets, which own what is to be called, and the next one in their row ==== */

typedef struct widget { rrc_object head; rrc_object *on_click, *next; } widget;
static const rrc_member widget_members[] = { { "on_click", offsetof(widget, on_click) },
                                             { "next", offsetof(widget, next) }, { NULL, 0 } };
static unsigned widgets;

static void widget_dealloc(rrc_heap *heap, rrc_object *self)
{
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
    set_variable(to_vm(&b, &w->head));
    printf("C has another widget. The VM ends, and C still holds %u: ", (unsigned)end(&b));
    set_variable(NULL);
    vm_collect(&m);
    printf("VM objects are left: %s, ", yes(m.all != NULL));
    printf("widgets %u, ", widgets);
    rrc_decref(b.heap, &w->head);       /* late, and legal */
    printf("and then %u\n", widgets);
    return 0;
}
