/* Both heaps of a closed host with an oracle beside them: the graph in plain arrays.
 * What can be reached there from a root, or from what C holds, must be there: whole,
 * linked, and never finalized by the host. What cannot must be gone when nothing
 * changes any more and both heaps were collected.
 *
 * Objects of both heaps are named by number. */

#ifndef MIRROR_WORLD_H
#define MIRROR_WORLD_H

#include "mirror_host.h"

enum { M_REFS = 3, NOBODY = -1 };

/* What kind of counted object; bits to be combined. */
enum { M_BARE = 0, M_GC = 1, M_FINAL = 2, M_LIGHT = 4, M_WRAPPER = 8 };

/* The rules that a control breaks. */
enum { M_NO_INCREFS = 1, M_NO_TOUCHES = 2 };

typedef struct m_p {
    vm_object *at;              /* NULL: it was found to be unreachable */
    int rooted, reached;
    int edge[VM_EDGES];
    int ob;                     /* linked to it, or NOBODY */
} m_p;

typedef struct m_ob {
    rrc_object *ob;             /* NULL: freed */
    int kind, tracked, held, inner, reached, is_p, finalized;
    int pins;                   /* of held: no operation in a finalizer drops these */
    int ref[M_REFS];
    int p;                      /* linked, as far as was seen; or NOBODY */
    /* The foreign object of a wrapper, which can live longer than that: */
    int f_count, f_ext;         /* references; those of foreign variables */
    int f_wrapped;              /* the wrapper has a reference */
    int f_ref[M_REFS];          /* others, by the numbers of their wrappers */
    int f_reached, f_held;      /* ... held: by others than the wrapper */
} m_ob;

typedef struct m_world {
    vm *v;
    m_p *p;
    m_ob *ob;
    size_t p_count, p_room, ob_count, ob_room;
    int careless;               /* a control breaks a rule: M_NO_INCREFS or M_NO_TOUCHES; 0: none */
    int soft;                   /* a control: what is lost is counted, and no failure */
    size_t lost;
    void (*in_finalizer)(struct m_world *w);
    void (*in_slot)(struct m_world *w, int ob, int dies);   /* in its tp_finalize, or in its tp_dealloc: then it dies */
    int has_slots;              /* in_slot was there */
    void *user;
} m_world;

m_world *m_open(const vm_options *options, uint64_t seed);
void m_close(m_world *w);

int m_new_p(m_world *w);
int m_new_ob(m_world *w, int kind);     /* held once; NOBODY: no memory */
int m_link(m_world *w, int p, int ob, int is_p);
void m_unlink(m_world *w, int ob);
void m_root(m_world *w, int p, int on);
void m_point(m_world *w, int from, int n, int to);
void m_hold(m_world *w, int ob);
void m_drop(m_world *w, int ob);
void m_refer(m_world *w, int owner, int n, int to);
void m_move(m_world *w, int from, int n, int to, int k);    /* a reference, without counting */
void m_take_out(m_world *w, int ob, int n);             /* likewise: C gets what the field has */
void m_track(m_world *w, int ob, int on);

/* Foreign code takes, drops and moves references. It tells the header only if the types say so. */
void m_f_take(m_world *w, int ob);
void m_f_drop(m_world *w, int ob);
void m_f_refer(m_world *w, int ob, int n, int to);      /* to NOBODY: clears the field */
void m_f_take_out(m_world *w, int ob, int n);           /* a variable gets what the field has */

/* What can be reached now: sets .reached. */
void m_reach(m_world *w);

/* A step, if it may be one; what it must return. */
int m_step(m_world *w);
int m_work(m_world *w, size_t max);
size_t m_collect(m_world *w);
void m_collect_all(m_world *w);                         /* and check that a step would find no more */
void m_run(m_world *w, size_t max);

/* All that is reached is there, with the right counts, and rrc_check finds nothing. */
void m_compare(m_world *w);

/* How many objects, of both kinds, are there that nothing reaches. */
size_t m_garbage(m_world *w);

/* After some collections: there are none. */
void m_expect_no_garbage(m_world *w);

#endif
