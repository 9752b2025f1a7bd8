/* Each function of the header in each state of a heap. What must become of a call is in the table
 * that states.sh makes of the header's own comments. A program brings a heap into a state, and has
 * one function called there: states_call. */

#ifndef STATES_H
#define STATES_H

#include "layout.h"
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"
#include "bindings/weak/rrc_weak.h"
#ifdef TEST_CLOSED
#include "bindings/closed/rrc_closed.h"
#endif
#include "unit.h"

#include "states.inc"

#define STATES_NAME(state, words) STATE_##state,
typedef enum states_state { STATES(STATES_NAME) STATE_COUNT } states_state;

typedef struct states_cast states_cast;

/* What a call gave back. */
typedef struct states_answer {
    int code;                   /* or STATES_NO_CODE */
    int worked;                 /* 1: it did its work; 0: it says that it did nothing; STATES_NOT_KNOWN */
} states_answer;
enum { STATES_NO_CODE = -1, STATES_NOT_KNOWN = -1 };

typedef struct states_function {
    const char *name;
    const char *phase;          /* of its tag line */
    const char *in;             /* what becomes of a call in each state: see states.sh */
    int asks_gate;              /* rrci_gate refuses it, and so says why */
    states_answer (*call)(states_cast *c, int works);
} states_function;

extern const states_function states_functions[];
extern const int states_function_count;
extern const char *const states_names[STATE_COUNT];

/* One item of the log. */
typedef struct states_item {
    int code;
    char function[48], detail[300];
} states_item;

/* A heap with something of everything. */
struct states_cast {
    rrc_heap *heap;             /* NULL: freed */
    int is_mirrored;
    int has_ended;              /* rrc_heap_free was called: there are no edge nodes any more */
    rrc_gcref linked_p, free_p, knot_p;     /* rooted. In closed heaps states_set puts cells in their places */
    rrc_gcref knot_node;        /* the cell of the edge node, in closed heaps */
    rrc_object *linked;         /* P link; held by C */
    rrc_object *knot;           /* tracked, with an O link; held by C */
    rrc_weakref *weak;          /* to plain */
    rrc_object *plain, *fresh, *loose, *var, *spare, *spare_gc;     /* unlinked, held by C */

    const states_function *function;
    states_state state;
    states_state base;          /* ... outside the hook, if that is STATE_HOOK or STATE_LOOK */
    const char *place;          /* in words */
    int in_log;                 /* called by the log hook */
    const char *slot;           /* the slot of Probe that calls, or NULL */
    int calls;

    /* What the host does to call a function of a collection where it may be called. */
    int (*collect)(states_cast *c);
    size_t (*triggers)(states_cast *c);
    size_t (*logged)(states_cast *c, states_item *last);
    void *host;
};

/* The objects, and garbage that waits for rrc_run_pending, and a ring that no collection has seen;
   each p must be set. Then let go of them all, whatever has become of the heap. */
void states_set(states_cast *c);
void states_let_go(states_cast *c);

/* Have the function called once, and check what comes of it. */
void states_call(states_cast *c);

/* A type whose slots call; states_probed is the cast that they belong to. An object of it
   with one reference, tracked; or a ring of two that nobody holds. */
extern const rrc_type StatesProbe;
extern states_cast *states_probed;
rrc_object *states_probe(states_cast *c);
void states_probe_ring(states_cast *c);

/* The same of a type without a finalizer; and let one own another, whose reference it takes over. */
rrc_object *states_thing(states_cast *c);
void states_own(rrc_object *owner, rrc_object *ob);

#endif
