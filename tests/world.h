/* Both heaps with an oracle beside them: plain arrays, to which the rule of a
 * collection and the search for cycles are applied by brute force. Operations do
 * the same to both; what the header then does of itself (finalize, clear,
 * deallocate) must be what the oracle allows, and world_compare sees that nothing
 * was left out.
 *
 * Objects of both heaps are named by number. */

#ifndef WORLD_H
#define WORLD_H

#include "objects.h"

enum { WORLD_REFS = 3, NONE = -1 };

/* What kind of counted object; bits to be combined. */
enum {
    W_BARE = 0,         /* without RRC_TPFLAGS_HAVE_GC: the search knows only of its link */
    W_GC = 1,
    W_FINAL = 2,        /* with W_GC: has a finalizer */
    W_WEAK = 4,         /* with W_GC: has weak references */
    W_LIGHT = 8         /* owns nothing, its link is light */
};
#define WORLD_TYPES 16

typedef enum world_life { ABSENT, ALIVE, DYING } world_life;

/* What its finalizer does, the first time. */
typedef enum world_last_will {
    W_NOTHING,
    W_RESURRECT,        /* takes hold of itself */
    W_HAND_OUT,         /* takes hold of all it refers to */
    W_CUT               /* drops its first reference */
} world_last_will;

/* What waits to be done with an object that was found to be garbage. One that was
   cleared waits for the end of the clearing. W_KEPT: nothing, it is there for finalizers to see. */
typedef enum world_waiting { W_ALIVE, W_KEPT, W_TO_FINALIZE, W_TO_CLEAR, W_CLEARED } world_waiting;

typedef struct world_p {
    int alive, young, age, rooted, prebuilt;
    int mark;                       /* scratch of a prediction */
    int edge[HOST_EDGES];           /* NONE: nothing */
    int p_link;                     /* the ob of its P link, or NONE */
} world_p;

typedef struct world_ob {
    world_life life;
    rrc_object *ob;
    int kind;                       /* W_ bits */
    int tracked;
    int held;                       /* references of C, outside of all objects */
    int queued;                     /* the queue's reference */
    int deferred;                   /* the header's, to an object whose dealloc was put off */
    int listed;                     /* the header's, to garbage that waits, and what is kept for finalizers */
    int hooked;                     /* taken while its finalizer, clear or world_refer runs */
    int inner;                      /* references of other objects */
    int ref[WORLD_REFS];            /* owned; NONE: nothing */
    int p;                          /* NONE: unlinked */
    link_kind link;
    world_last_will will;
    int finalized, weak_pending;
    int uncollectable;              /* the header has said so, and has not thought better of it */
    world_waiting waiting;
    int watched;                    /* it goes by its count, and the header notices if C takes a reference */
    int in_slot, reached_in_slot;   /* its finalizer runs; C has got hold of what refers to it meanwhile */
    int absolved;                   /* C got hold of it, or of what reaches it, since it was found to be garbage */
    int was_held, held_throughout;  /* since this rrc_run_pending began: at some time; all the time */
    int alive, outside, set_aside;  /* scratch of a prediction */
    int reached;                    /* ... of what is kept for garbage that owns it */
    int lost;                       /* its p died, and it had a P link; since then nobody has begun to refer to it */
    int doomed;                     /* garbage when this rrc_run_pending began */
    size_t died_in;                 /* the major collection that it died after */
} world_ob;

typedef struct world {
    host *h;
    world_p *p;
    world_ob *ob;
    size_t p_count, p_room, ob_count, ob_room;

    int unsearched;                 /* searches are off: rrc_gc_disable */
    int running;                    /* rrc_run_pending or rrc_heap_free is going on */
    int ending;                     /* ... the latter */
    int depth;                      /* of finalizers and deallocs that do more */
    int stays_young;
    int retries;                    /* a call that finds no memory is repeated */
    int reuses;                     /* numbers of dead obs are used again */
    int refilled;                   /* something that was cleared got a reference after that */
    size_t finals, majors;
    void (*in_hook)(struct world *w);   /* more operations, from within a finalizer or a dealloc */
    void *user;
} world;

world *world_open(const host_options *options);

/* Ends the heap, sees what must be left and drops it all. */
void world_close(world *w);

int world_new_p(world *w, host_kind kind);

/* A new object, held once, tracked if it can be. NONE: no memory (unless the
   world retries). */
int world_new_ob(world *w, int kind);

/* Each gives the header's code. */
int world_link(world *w, link_kind link, int p, int ob);
int world_unlink(world *w, int ob);
int world_track(world *w, int ob);
void world_untrack(world *w, int ob);

void world_root(world *w, int p, int on);
void world_point(world *w, int from, int n, int to);
void world_hold(world *w, int ob);
void world_drop(world *w, int ob);

/* A field of an owner gets a reference of its own to an object, or to nothing; unless
   what went because of that has filled it already. */
void world_refer(world *w, int owner, int n, int to);

/* Collections, compared with what the oracle predicts; without run_pending. */
void world_minor(world *w);
void world_major(world *w);
size_t world_run(world *w, size_t max);
int world_next_dead(world *w);

/* A major collection, and all that it leaves to do. */
void world_collect(world *w);

/* All that can be seen of the heap is what the oracle says. */
void world_compare(world *w);

/* ---- the programs that use it: see cycles.c ---- */

int random_cycles(int argc, char **argv);
int small_graphs(int argc, char **argv);
int graphs(int argc, char **argv);

/* ---- what the oracle knows ---- */

int world_count_of(const world *w, int ob);     /* references, without a bias */
int world_is_usable(const world *w, int ob);    /* code may come across it */

#endif
