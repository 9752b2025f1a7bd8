/* port.c - a small VM joined to the header, by the steps 1 to 7 of the porting guide
 * (bindings/PORTING.md; the parts below have its numbers), and by step 9 of the page after it
 * (bindings/PORTING_MORE.md). The VM marks and sweeps, with a list of gray objects. It has a weak
 * reference and interned symbols, and may collect at each allocation. What a larger VM needs is
 * in bindings/compactvm.
 *
 *     cc -I.. port.c -o port && ./port
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* ---- the VM, as it was before, but for a word in each object ---- */

typedef struct object {
    struct object *next, *next_gray, *next_symbol;
    struct object *field[2];            /* what it refers to */
    const char    *name;                /* a symbol's */
    char           marked;
    rrc_object    *ob;                  /* a proxy's C object; no other object uses this field (4) */
} object;

typedef struct vm {
    object   *all, *gray;
    object   *symbols;                  /* no two have the same name; they are not roots */
    object   *root[8], *weak;           /* variables of the program; it holds its object weakly */
    unsigned  count, allocations, collections;
    rrc_heap *heap;                     /* the header's */
} vm;

static void mark(vm *m, object *p)
{
    if (p == NULL || p->marked)
        return;
    p->marked = 1;
    p->next_gray = m->gray;
    m->gray = p;
    if (p->ob != NULL)
        rrc_marked_ob(m->heap, p->ob);  /* 6 */
}

static void mark_all_gray(vm *m)
{
    object *p;
    while ((p = m->gray) != NULL) {
        m->gray = p->next_gray;
        mark(m, p->field[0]);
        mark(m, p->field[1]);
    }
}

static void sweep(vm *m)
{
    object **at = &m->all, *p;
    while ((p = *at) != NULL) {
        if (p->marked) {
            p->marked = 0;
            at = &p->next;
        } else {
            *at = p->next;
            free(p);
            m->count--;
        }
    }
}

static void forget_marks(vm *m)
{
    for (object *p = m->all; p != NULL; p = p->next)
        p->marked = 0;
}

static void drop_dead_symbols(vm *m)
{
    object **at = &m->symbols;
    while (*at != NULL)
        if ((*at)->marked)
            at = &(*at)->next_symbol;
        else
            *at = (*at)->next_symbol;
}

static void must(int code)
{
    if (code != RRC_OK) {
        fprintf(stderr, "%s: %s\n", rrc_error_name(code), rrc_error_message(code));
        exit(1);
    }
}

static void collect(void *userdata)
{
    vm *m = userdata;
    m->collections++;
    for (int i = 0; i < 8; i++)
        mark(m, m->root[i]);
    mark_all_gray(m);
    must(rrc_major_collection_trace(m->heap));  /* 1: the roots are marked */
    if (m->weak != NULL && !m->weak->marked)
        m->weak = NULL;                         /* 9: the program must not get a proxy that is kept for a dealloc */
    must(rrc_major_collection_keep(m->heap));   /* 9: what garbage owns stays for its deallocs */
    drop_dead_symbols(m);                       /* 9: only now, as these deallocs may look for a symbol */
    must(rrc_major_collection_free(m->heap));   /* 1: marking is complete, nothing is swept */
    sweep(m);
    must(rrc_check(m->heap));                   /*    while one ports */
}

static object *new_object(vm *m, object *a, object *b)
{
    object *p = calloc(1, sizeof *p);
    if (p == NULL)
        exit(1);
    p->field[0] = m->root[6] = a;       /* the arguments are roots for as long as this takes */
    p->field[1] = m->root[7] = b;
    if (++m->allocations % 7 == 0)
        collect(m);
    m->root[6] = m->root[7] = NULL;
    p->next = m->all;
    m->all = p;
    m->count++;
    return p;
}

static object *symbol(vm *m, const char *name)
{
    object *p;
    for (p = m->symbols; p != NULL; p = p->next_symbol)
        if (strcmp(p->name, name) == 0)
            return p;
    p = new_object(m, NULL, NULL);
    p->name = name;
    p->next_symbol = m->symbols;
    return m->symbols = p;
}

/* ---- the hooks ---- */

static void trace(void *m, rrc_gcref p)          { mark(m, p); }                                        /* 1 */
static rrc_gcref survivor(void *m, rrc_gcref p)  { (void)m; return ((object *)p)->marked ? p : NULL; }  /* 1 */
static void propagate(void *m)                   { mark_all_gray(m); }                                  /* 2 */
static void mark_from_c(void *m, int on)         { (void)on; forget_marks(m); }                         /* 7 */
static void parted(void *m, rrc_gcref p, rrc_object *ob) { (void)m; (void)ob; ((object *)p)->ob = NULL; } /* 4, 7 */
static void log_item(void *m, const rrc_log_item *item) { (void)m; fprintf(stderr, "%s\n", item->text); }

static void safe_point(vm *m) { rrc_run_pending(m->heap, 0); }      /* 3: any code of the program may run here */

/* ---- 4. objects cross ---- */

static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };

/* The C object for p: a reference of the caller's, or NULL. */
static rrc_object *to_c(vm *m, object *p)
{
    rrc_object *ob = p->ob != NULL ? p->ob : rrc_from_obj(m->heap, p);
    if (ob != NULL) {
        rrc_incref(m->heap, ob);
        return ob;
    }
    ob = rrc_new(m->heap, &View);
    if (ob == NULL)
        return NULL;
    if (rrc_link(m->heap, p, ob, RRC_P) != RRC_OK) {
        rrc_decref(m->heap, ob);
        return NULL;
    }
    return ob;
}

/* The VM object for ob, or NULL. The caller keeps its reference to ob. */
static object *to_vm(vm *m, rrc_object *ob)
{
    object *p = rrc_to_obj(m->heap, ob);
    if (p != NULL)
        return p;
    p = new_object(m, NULL, NULL);
    if (rrc_link(m->heap, p, ob, RRC_O) != RRC_OK)
        return NULL;                    /* the next collection takes p */
    p->ob = ob;
    return p;
}

/* ---- 5, 6. a C library: buttons, which own what is to be called ---- */

typedef struct button { rrc_object head; rrc_object *on_click; } button;
static const rrc_member button_members[] = { { "on_click", offsetof(button, on_click) }, { NULL, 0 } };
static unsigned buttons;

static void button_dealloc(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((button *)self)->on_click);
    buttons--;
    rrc_gc_del(heap, self);
}

/* 9: a window is a button, but its dealloc looks at what it owns. The callback of a window refers to a symbol. */
static void window_dealloc(rrc_heap *heap, rrc_object *self)
{
    object *callback = rrc_to_obj(heap, ((button *)self)->on_click), *name = callback->field[1];
    printf("The window \"%s\" is deallocated. The VM has %s symbol of this name.\n", name->name,
           symbol(rrc_userdata(heap), name->name) == name ? "one" : "another");
    button_dealloc(heap, self);
}

/* 9: nothing is kept for a type that drops only. */
static const rrc_type Button = { .tp_name = "Button", .tp_basicsize = sizeof(button),
                                 .tp_flags = RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_DROPS_ONLY,
                                 .tp_members = button_members, .tp_dealloc = button_dealloc };
static const rrc_type Window = { .tp_name = "Window", .tp_basicsize = sizeof(button), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                 .tp_members = button_members, .tp_dealloc = window_dealloc };

static rrc_object *new_button(vm *m, const rrc_type *type)
{
    rrc_object *self = rrc_gc_new(m->heap, type);
    if (self == NULL)
        exit(1);
    must(rrc_gc_track(m->heap, self));  /* its fields are valid: NULL */
    buttons++;
    return self;
}

/* ---- a program ---- */

static void tell(vm *m, const char *what)
{
    rrc_stats stats = { 0 };
    collect(m);
    safe_point(m);
    must(rrc_get_stats(m->heap, &stats));
    printf("%-58s VM objects %4u, C objects %4u\n", what, m->count, (unsigned)stats.objects);
}

int main(void)
{
    static vm m;
    rrc_desc desc = { .userdata = &m, .trace = trace, .survivor = survivor, .propagate = propagate, .log = log_item,
                      .parted = parted, .collect = collect, .mark_from_c = mark_from_c };
    rrc_object *view, *ob;
    object *p, *last = NULL;

    m.heap = rrc_heap_new(&desc);
    if (m.heap == NULL)
        return 1;

    p = new_object(&m, new_object(&m, NULL, NULL), NULL);
    view = to_c(&m, p);
    tell(&m, "C holds the view of an object that refers to another:");
    rrc_decref(m.heap, view);
    tell(&m, "C lets go:");

    ob = new_button(&m, &Button);
    m.root[0] = to_vm(&m, ob);
    rrc_decref(m.heap, ob);
    tell(&m, "A root refers to a button's proxy:");
    ob = to_c(&m, m.root[0]);           /* the same button */
    m.root[0] = NULL;
    tell(&m, "C holds the button instead, which needs no proxy now:");
    m.root[0] = to_vm(&m, ob);          /* another proxy */
    ((button *)ob)->on_click = to_c(&m, new_object(&m, m.root[0], NULL));
    rrc_decref(m.heap, ob);
    tell(&m, "A root, again. The button's callback mentions the button:");
    m.root[0] = NULL;
    tell(&m, "Nobody refers to that cycle:");

    ob = new_button(&m, &Window);       /* its callback mentions it, and a symbol to which nothing else refers */
    m.root[0] = m.weak = to_vm(&m, ob);
    ((button *)ob)->on_click = to_c(&m, new_object(&m, m.root[0], symbol(&m, "main")));
    rrc_decref(m.heap, ob);
    m.root[0] = NULL;
    tell(&m, "Nobody refers to a window. Its dealloc saw all it owns:");
    printf("The weak reference %s.\n", m.weak == NULL ? "was cleared" : "gives a proxy whose button is gone");
    tell(&m, "What was kept for it dies in the next collection:");

    for (int i = 0; i < 1000; i++) {    /* a callback mentions its button, and the button before */
        ob = new_button(&m, &Button);
        m.root[0] = last;
        m.root[1] = to_vm(&m, ob);
        ((button *)ob)->on_click = to_c(&m, new_object(&m, m.root[1], last));
        rrc_decref(m.heap, ob);
        last = m.root[1];
    }
    m.root[0] = NULL;
    tell(&m, "A chain of a thousand such cycles:");
    m.root[1] = NULL;
    tell(&m, "Nobody refers to that chain:");

    ob = new_button(&m, &Button);
    m.root[0] = to_vm(&m, ob);
    printf("The VM ends after %u allocations and %u collections. ", m.allocations, m.collections);
    printf("C objects still held: %u\n", (unsigned)rrc_heap_free(m.heap));      /* 7 */
    sweep(&m);
    printf("VM objects left: %u. ", m.count);
    rrc_decref(m.heap, ob);             /* late, and legal: the last one, with which the header's heap goes */
    printf("Buttons left: %u\n", buttons);
    return 0;
}
