/* layout.c - a C library that counted references long before it met this
 * header. Its objects have a class pointer and a count of their own, and no room
 * for a link; its compiled users know that layout, so that nothing can be added.
 *
 * The count is used as it is (RRC_REFCNT). The link goes in FRONT of the object
 * (RRC_LINK, RRC_OBJECT_PREFIX). The class begins with an rrc_type (RRC_TYPE,
 * RRC_SET_TYPE).
 *
 *     cc -I.. layout.c -o layout && ./layout
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the library as it always was --------------------------------------- */

struct shape_class;

typedef struct shape {
    const struct shape_class *cls;
    intptr_t refs;
    double width, height;
} shape;

#define SHAPE_RETAIN(s) ((void)(s)->refs++)     /* compiled into its users */

/* ---- how the header sees its objects ------------------------------------ */

/* In front of each object, where its users never look. 16 bytes keep the object
   as aligned as malloc made it. */
typedef union front {
    void *link;
    char  bytes[16];
} front;

#define RRC_REFCNT(ob)         (((shape *)(void *)(ob))->refs)
#define RRC_LINK(ob)           (((front *)(void *)(ob))[-1].link)
#define RRC_TYPE(ob)           ((const rrc_type *)(const void *)((shape *)(void *)(ob))->cls)
#define RRC_SET_TYPE(ob, type) \
    (((shape *)(void *)(ob))->cls = (const struct shape_class *)(const void *)(type))
#define RRC_OBJECT_PREFIX      16

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* These six macros belong into one file of the library that all units include
   in place of rawrefcount.h: rrc_heap_new refuses units that differ. */

struct shape_class {
    rrc_type type;              /* first, so that either pointer is the other */
    double (*area)(const shape *self);
};

static rrc_object *ob_of(shape *s)       { return (rrc_object *)(void *)s; }
static shape *shape_of(rrc_object *ob)   { return (shape *)(void *)ob; }

static double rectangle_area(const shape *self) { return self->width * self->height; }

static void shape_dealloc(rrc_heap *heap, rrc_object *self)
{
    printf("  dealloc: the %s of area %g\n", RRC_TYPE(self)->tp_name,
           shape_of(self)->cls->area(shape_of(self)));
    rrc_del(heap, self);
}

static const struct shape_class Rectangle = {
    .type = { .tp_name = "rectangle", .tp_basicsize = sizeof(shape), .tp_dealloc = shape_dealloc },
    .area = rectangle_area
};

/* ---- a host: two cells, which this program marks by hand ---------------- */

typedef struct cell { int marked; } cell;

static void trace(void *vm, rrc_gcref p)
{
    (void)vm;
    ((cell *)p)->marked = 1;
}

static rrc_gcref survivor(void *vm, rrc_gcref p)
{
    (void)vm;
    return ((cell *)p)->marked ? p : NULL;
}

static void collect(rrc_heap *heap, cell *c)
{
    c->marked = 0;              /* no root of the host refers to it */
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    printf("  the cell %s\n", c->marked ? "lives, because C holds its shape" : "is dead");
    rrc_run_pending(heap, 0);
}

int main(void)
{
    cell c = { 0 };
    rrc_desc desc = { .trace = trace, .survivor = survivor };
    rrc_heap *heap = rrc_heap_new(&desc);
    rrc_object *ob;
    shape *s;

    if (heap == NULL || (ob = rrc_new(heap, &Rectangle.type)) == NULL)
        return 1;
    s = shape_of(ob);
    s->width = 3;
    s->height = 4;
    printf("a new %s: %d reference, area %g\n", s->cls->type.tp_name, (int)s->refs, s->cls->area(s));

    if (rrc_link(heap, &c, ob, RRC_P) != RRC_OK)
        return 1;
    printf("linked: the word in front of it %s, and the shape itself is untouched: area %g\n",
           ((front *)s)[-1].link == &c ? "is its cell" : "is wrong", s->cls->area(s));

    SHAPE_RETAIN(s);
    printf("old code retains it: %d references from C\n", (int)rrc_refcnt(ob_of(s)));
    collect(heap, &c);

    puts("C drops both:");
    rrc_decref(heap, ob_of(s));
    rrc_decref(heap, ob_of(s));
    collect(heap, &c);

    printf("objects still held by C: %u\n", (unsigned)rrc_heap_free(heap));
    return 0;
}
