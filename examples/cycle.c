/* cycle.c - a widget in C owns a callback, a closure of the host, which mentions the
 * widget: a cycle through both heaps. It is collected, but not while C holds it.
 *
 *     cc -I.. cycle.c -o cycle && ./cycle
 */
#include <stdio.h>
#include <string.h>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"

/* The host: two cells, a root, and a collector that marks. */
typedef struct cell { struct cell *mentions; int marked; } cell;
static cell proxy, closure = { &proxy, 0 };
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
    rrc_stats stats;
    proxy.marked = closure.marked = 0;
    trace(NULL, root);
    rrc_major_collection_trace(heap);       /* follows references through both heaps */
    rrc_major_collection_free(heap);
    rrc_run_pending(heap, 0);               /* what is garbage goes here */
    rrc_get_stats(heap, &stats);
    printf("  proxy %s, closure %s, objects in C: %u\n", proxy.marked ? "lives" : "is dead",
           closure.marked ? "lives" : "is dead", (unsigned)stats.objects);
}

/* The C side. tp_members says what a widget owns: that is all there is to write, for
   the collector to follow the reference, to drop it, and to name it. */
typedef struct widget { rrc_object head; rrc_object *on_click; } widget;
static const rrc_member widget_members[] = { { "on_click", offsetof(widget, on_click) }, { NULL, 0 } };
static const rrc_type Widget = { .tp_name = "Widget", .tp_basicsize = sizeof(widget),
                                 .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = widget_members };
static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };

/* For rrc_explain: text without its addresses, which differ from run to run. */
static void print_text(void *arg, const char *text, size_t size)
{
    const char *end = text + size;
    (void)arg;
    while (text < end)
        if (strncmp(text, " 0x", 3) == 0)
            text += 3 + strspn(text + 3, "0123456789abcdef");
        else
            putchar(*text++);
}

int main(void)
{
    rrc_heap *heap = rrc_heap_new(&(rrc_desc){ .trace = trace, .survivor = survivor });
    rrc_object *ob = rrc_gc_new(heap, &Widget), *view = rrc_new(heap, &View);
    if (ob == NULL || view == NULL
        || rrc_link(heap, &proxy, ob, RRC_O) != RRC_OK          /* the proxy stands for the widget */
        || rrc_link(heap, &closure, view, RRC_P) != RRC_OK)     /* the view stands for the closure */
        return 1;
    ((widget *)ob)->on_click = view;            /* our reference to the view is the widget's now */
    if (rrc_gc_track(heap, ob) != RRC_OK)       /* the fields are valid: let the search see it */
        return 1;

    puts("The root refers to the proxy, C holds the widget:");
    root = &proxy;
    collect(heap);
    puts("The root is cleared. C holds the widget, that the closure, that the proxy:");
    root = NULL;
    collect(heap);
    puts("Why is the closure alive?");
    rrc_explain(heap, NULL, view, print_text, NULL);
    puts("C lets go. Only the closure needs the widget, and only the widget needs the closure:");
    rrc_decref(heap, ob);
    collect(heap);
    printf("objects still held by C: %u\n", (unsigned)rrc_heap_free(heap));
    return 0;
}
