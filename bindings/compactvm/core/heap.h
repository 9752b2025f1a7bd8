/* heap.h - the collected heap: a nursery, an old space, and fixed objects.
 *
 *   nursery     New objects are made here by moving a pointer. A minor
 *               collection moves the survivors to the old space.
 *   old space   One block without holes. A major collection marks (in slices, if
 *               the heap is incremental), then slides the survivors together:
 *               each of them may move each time.
 *   large       Big objects, malloc'ed one by one. They never move, but they
 *               too start young and may die in a minor collection.
 *   prebuilt    Objects made while the VM starts. They never move or die, and
 *               may refer to objects that do.
 *
 * A collection cannot fail, and allocates nothing that it depends on (README.md says how). So lack of memory is
 * seen in one place only, cvm_heap_alloc, as NULL.
 */
#ifndef CVM_HEAP_H
#define CVM_HEAP_H

#include "value.h"

#include <string.h>

/* Where the references of an object are: from `first` on, `count` words; CVM_REST: up to its end. */
typedef struct cvm_kind {
    const char *name;
    size_t first;
    size_t count;
} cvm_kind;

#define CVM_REST SIZE_MAX

typedef struct cvm cvm;             /* whose heap it is: see vm.h */

enum { CVM_SLICE = 64 * 1024 };     /* bytes that a slice marks, so that it stops the mutator for a short time only */

typedef enum cvm_phase {
    CVM_MUTATOR,            /* no collection */
    CVM_MINOR,              /* moving young survivors to the old space */
    CVM_MARKING,            /* finding what is alive in all of the heap, or a slice of that */
    CVM_MOVING              /* new addresses are known */
} cvm_phase;

/* In front of each large or prebuilt object. As wide as CVM_ALIGN. */
typedef union cvm_fixed {
    union cvm_fixed *next;
    uint64_t align;
} cvm_fixed;

typedef struct cvm_heap {
    cvm_kind kinds[CVM_KINDS];
    cvm *vm;
    cvm_phase phase;
    int booting;            /* objects made now are prebuilt */
    int stress;             /* collect at every allocation, and move everything; if incremental: do a slice */
    int incremental;        /* major collections mark in slices */
    int marking;            /* a major collection marks: 1 at first, 2 after rrc_major_collection_trace */
    char *nursery, *nursery_top;
    char *nursery_end;      /* here the allocator does something: collect, or mark a slice */
    char *nursery_limit;    /* here it must collect. It may lie below the nursery's size, see above */
    size_t nursery_size;
    char *old, *old_top, *old_end;
    char *scan;             /* minor: objects from here to old_top are not yet scanned */
    char *unscanned;        /* major: likewise. They were promoted since marking began */
    cvm_object *gray;       /* reached but not scanned; chained by gray */
    cvm_object *remembered; /* old objects that may refer to young ones; chained by forward */
    cvm_fixed *young_large, *fixed;     /* fixed: the old large objects, and the prebuilt ones */
    size_t limit;           /* for the old space and the large objects together */
    size_t large_bytes;
    size_t large_trigger;   /* when large_bytes gets here, collect */
    size_t live;            /* major: bytes reached in the old space */
    size_t minors, majors, slices;  /* so far */
    size_t moved;           /* objects that changed their address, ever */
    uint32_t hashes, ids;   /* identity hashes, and ids, given out */
    size_t fail_in;         /* for tests: so many allocations from now, one fails; 0: none */
} cvm_heap;

/* Start an empty heap. 0 when there is no memory for it: it must be closed even so. */
int cvm_heap_open(cvm_heap *h, cvm *vm);
void cvm_heap_close(cvm_heap *h);

/* A new object, all zero behind its header; NULL when there is no room for it.
   It may collect first: every value that is still needed must be rooted. */
cvm_object *cvm_heap_alloc(cvm_heap *h, int kind, size_t size);

/* Every store into an object of the heap is one of these three. The first: *slot = v, which it returns, for a slot
   inside `owner`, which can be old: minor collections find references from old objects to young ones by it. And
   while a major collection marks in slices, v is marked if owner is: what was scanned is not scanned again. */
cvm_value cvm_store(cvm *vm, cvm_value owner, cvm_value *slot, cvm_value v);

/* The first store into the slot of an object that was just made: nothing was allocated since. */
static inline void cvm_heap_init(cvm_value *slot, cvm_value v) { *slot = v; }

/* Values move to other slots of the same object. */
static inline void cvm_heap_shift(cvm_value *to, const cvm_value *from, size_t n)
{
    memmove(to, from, n * sizeof *to);
}

void cvm_heap_minor(cvm_heap *h);
void cvm_heap_major(cvm_heap *h);

/* Begin a major collection, or go on with it: mark about so many bytes. If nothing is left to mark, or if the heap is
   not incremental, the collection ends, and the result is 0. */
int cvm_heap_slice(cvm_heap *h, size_t bytes);

/* The VM ends. On: begin a marking in which nothing is marked but what cvm_heap_trace is given, and what that reaches.
   Off: it has ended. Nothing is freed or moved meanwhile. (If slices mark, their marks are forgotten.) */
void cvm_heap_mark_from_c(cvm_heap *h, int on);

/* The first of the n references inside p. */
cvm_value *cvm_heap_fields(const cvm_heap *h, cvm_object *p, size_t *n);

/* ---- inside a collection only ------------------------------------------- */

/* Treat *slot as a reference that is followed, and give it its new address. */
void cvm_heap_visit(cvm_heap *h, cvm_value *slot);

/* Keep p alive; what it refers to follows when propagate runs. Returns its address as this phase knows it. */
cvm_object *cvm_heap_trace(cvm_heap *h, cvm_object *p);

/* Follow the references from what has been reached so far: scan about so many bytes of objects. */
void cvm_heap_propagate(cvm_heap *h, size_t bytes);

/* A major collection has found that p is alive, and p has the flag CVM_LINKED: tell the header. */
void cvm_heap_marked(cvm_heap *h, cvm_object *p);

/* Where p is or will be after this collection; NULL: not reached so far. While
   marking this is where p is now; once there are new addresses, where it will be. */
cvm_object *cvm_heap_survivor(cvm_heap *h, cvm_object *p);

static inline int cvm_heap_is_young(const cvm_object *p) { return (p->flags & CVM_YOUNG) != 0; }

#endif
