/* A toy host VM whose collector is closed: nothing can hook into its marking. It has
 * strong roots, weak references, fields that it follows, and finalizers; it collects
 * when objects are made, in any of three ways. The header only gets the hooks of
 * >>mirror.
 *
 * Cells are slots: weak references, whose memory is used again soon. */

#ifndef MIRROR_HOST_H
#define MIRROR_HOST_H

#include "choices.h"
#include "layout.h"
#include "rawrefcount.h"
#include "bindings/closed/rrc_closed.h"
#include "bindings/insight/rrc_insight.h"
#include "unit.h"

enum { VM_EDGES = 3 };

typedef struct vm vm;
typedef struct vm_object vm_object;

typedef struct vm_slot {
    rrc_cell head;
    vm_object *weak;            /* NULL: it died */
    vm_object *owner;           /* the same; it is known for longer if its finalizer is still to be run */
    size_t place;               /* in vm.slots */
    int anchored;
} vm_slot;

struct vm_object {
    int number;                 /* -1: an edge node */
    unsigned char marked, young, rooted, has_finalizer, finalized, pinned;
    vm_object *edge[VM_EDGES];
    vm_object *node;            /* of a proxy: the edge node of its ob */
    vm_object **list;           /* of an edge node */
    size_t list_count;
    vm_slot *slot;              /* of a linked object, or of an edge node */
    size_t place;               /* in vm.objects */
};

typedef struct vm_options {
    int stress;                 /* 1: may collect whenever an object is made; 2: always, all of it */
    int late_finalizers;        /* they run some time after the collection */
    int keeps_resurrected;      /* weak references to what a finalizer can see are cleared after it */
    int only_collects;          /* the program calls rrc_gc_collect, but no step */
    int at_once;                /* no finalizer runs in vm_gc_collect before its collection ends: desc.collects_at_once */
} vm_options;

typedef struct vm_pointers {
    void **at;
    size_t count, room;
} vm_pointers;

struct vm {
    rrc_heap *heap;
    vm_options options;
    vm_pointers objects, gray, to_finalize, slots;
    int marking, in_minor, in_collection, closed, frozen;
    int ending;                 /* inside rrc_heap_free, which roots what it needs */
    int stopped;                /* only collections that rrc_gc_collect asks for */
    int finds_living;           /* wrappers that a collection at once has not found dead go to living */
    vm_pointers living;
    choices from;

    size_t collections, live_bytes, allocations;
    size_t fail_mirror_at, mirror_calls;    /* the call of this number fails; 0: none */
    size_t fail_alloc_at;                   /* of the header's */
    size_t failed;
    int last_code;              /* of the log, and how often each was logged */
    size_t logged[64];
    char last_text[800];

    /* Each object that is found to be unreachable; and each finalizer. */
    void (*on_death)(vm *v, int number);
    void (*on_finalizer)(vm *v, int number);
    void *test;
};

vm *vm_open(const vm_options *options, uint64_t seed);

/* For rrc_explain and its like. */
rrc_insight vm_insight(vm *v);
void vm_close(vm *v);

/* rrc_gc_collect and rrc_closed_collect_in_order; at once, if the host does that. */
size_t vm_gc_collect(vm *v);
size_t vm_collect_in_order(vm *v);

unsigned vm_pick(vm *v, unsigned n);

vm_object *vm_new(vm *v, int number);
void vm_point(vm *v, vm_object *from, unsigned n, vm_object *to);
void vm_root(vm *v, vm_object *o, int on);

/* Link an object: see rrc_cell_link. A code of the header. */
int vm_link(vm *v, vm_object *o, rrc_object *ob, int kind);
int vm_unlink(vm *v, rrc_object *ob);

/* The object of a linked ob, or NULL. */
vm_object *vm_object_of(vm *v, rrc_object *ob);

void vm_collect(vm *v);         /* all of it, finalizers included */
void vm_collect_minor(vm *v);
void vm_collect_slice(vm *v);   /* a part of an incremental collection */
void vm_run_finalizers(vm *v);

#endif
