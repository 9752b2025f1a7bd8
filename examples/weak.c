/* weak.c - a publisher in C that lives long, and its subscribers, which do not. The publisher holds them by weak
 * references: it keeps none alive, hears when one has gone, and never sees one that is about to be cleared.
 *
 *     cc -I.. weak.c -o weak && ./weak
 */
#include <stdio.h>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "bindings/weak/rrc_weak.h"

/* A host without objects: only C objects refer to each other here. */
static void trace(void *vm, rrc_gcref p)         { (void)vm; (void)p; }
static rrc_gcref survivor(void *vm, rrc_gcref p) { (void)vm; return p; }

/* A subscriber can own another object, so that it can be in a cycle. One line makes it ready for weak references; the
   second one has callbacks called as soon as it goes. */
typedef struct subscriber { rrc_object head; const char *name; rrc_object *friend; } subscriber;
static const rrc_member subscriber_members[] = { { "friend", offsetof(subscriber, friend) }, { NULL, 0 } };
static const rrc_type Subscriber = {
    .tp_name = "Subscriber", .tp_basicsize = sizeof(subscriber), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_members = subscriber_members,
    .tp_clear_weakrefs = rrc_weak_clear,
    .tp_dealloc = rrc_weak_dealloc
};

static rrc_object *subscriber_new(rrc_heap *heap, const char *name)
{
    rrc_object *ob = rrc_gc_new(heap, &Subscriber);
    ((subscriber *)ob)->name = name;
    rrc_gc_track(heap, ob);
    return ob;
}

/* The publisher. */
enum { MOST = 8 };
typedef struct publisher { rrc_weakref *to[MOST]; int count, lost; } publisher;

static void gone(rrc_heap *heap, rrc_weakref *ref, void *arg)
{
    publisher *p = arg;
    for (int i = 0; i < p->count; i++)
        if (p->to[i] == ref) {
            p->to[i] = p->to[--p->count];
            break;
        }
    rrc_weakref_free(heap, ref);
    p->lost++;
}

static void subscribe(rrc_heap *heap, publisher *p, rrc_object *ob)
{
    rrc_weakref *ref = p->count < MOST ? rrc_weakref_new(heap, ob, gone, p) : NULL;
    if (ref != NULL)
        p->to[p->count++] = ref;
}

static void publish(rrc_heap *heap, publisher *p, const char *news)
{
    printf("%s:", news);
    for (int i = 0; i < p->count; i++) {
        rrc_object *ob = rrc_weakref_get(heap, p->to[i]);       /* a new reference, or NULL */
        if (ob == NULL)
            continue;
        printf(" %s", ((subscriber *)ob)->name);
        rrc_decref(heap, ob);
    }
    printf(" (%d have gone)\n", p->lost);
}

int main(void)
{
    rrc_heap *heap = rrc_heap_new(&(rrc_desc){ .trace = trace, .survivor = survivor });
    publisher paper = { { NULL }, 0, 0 };
    rrc_object *ann = subscriber_new(heap, "Ann"), *bob = subscriber_new(heap, "Bob");
    rrc_object *eve = subscriber_new(heap, "Eve");
    subscribe(heap, &paper, ann);
    subscribe(heap, &paper, bob);
    subscribe(heap, &paper, eve);
    publish(heap, &paper, "monday");

    rrc_decref(heap, ann);                      /* its last reference: the callback is called here */
    publish(heap, &paper, "tuesday");

    ((subscriber *)bob)->friend = eve;          /* a cycle, which nobody holds any more */
    ((subscriber *)eve)->friend = bob;
    publish(heap, &paper, "wednesday");
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    publish(heap, &paper, "thursday");          /* both are garbage: neither is seen */
    rrc_run_pending(heap, 0);                   /* the garbage goes */
    rrc_weak_run(heap, 0);                      /* (a host calls this, for types without the second line) */
    publish(heap, &paper, "friday");
    return (int)rrc_heap_free(heap) + paper.count;
}
