/* What the gem's units share.
 *
 *     collector.c   the heap, and its part in Ruby's collections
 *     usercode.c    what slots run
 *     exact.c       a marking of our own, for cycles with finalizers and for the order of the end
 *     objects.c     wrappers, values, calls, classes
 *     states.c      what a wrapper leaves behind for the finalizer of its object
 *     objspace.c    C references as ObjectSpace shows them
 *     insight.c     Rawrefcount.stats and its kin; Init
 *     view.c        Ruby's objects, as these show them */
#ifndef RRC_RUBY_INTERNAL_H
#define RRC_RUBY_INTERNAL_H

#include "rrc_ruby.h"
#include "rrc_insight.h"
#include <ruby/atomic.h>
#include <ruby/debug.h>
#include <ruby/version.h>

/* None of this is for extensions to see. */
#pragma GCC visibility push(hidden)

/* What the hooks of the heap are to do, by what goes on in Ruby. */
typedef enum rrb_mode {
    RRB_IDLE,           /* the mutator */
    RRB_TRACING,        /* Ruby marks, and lets us mark */
    RRB_UNTRACED,       /* ... but it is too late to mark anything */
    RRB_FREEING,        /* its marking is complete */
    RRB_KEEPING,        /* it marks, but will not tell us when that is complete: all is kept */
    RRB_MOVING,         /* it has moved objects */
    RRB_SETTLING,       /* links are sorted by age anew */
    RRB_SHOWING,        /* the mutator looks at what objects refer to: objspace.c */
    RRB_EXACT,          /* we mark by ourselves: exact.c */
    RRB_ENDING          /* ... what C holds, as the heap ends */
} rrb_mode;

/* The state of the binding; Ruby has one VM in a process. Not in Ruby's memory, so that
   it is there whatever Ruby has freed. */
typedef struct rrb_state {
    rrc_heap *heap;
    rrc_insight insight;        /* while a view is open, its hooks; else none */
    rrb_mode mode;
    VALUE root;                 /* its dmark is our part in marking */
    VALUE gate;                 /* what it has a reference to becomes gray: see host_trace */
#ifdef HAVE_RB_POSTPONED_JOB_PREREGISTER
    rb_postponed_job_handle_t job;      /* does pending work, soon */
#endif
    VALUE tracepoint;           /* tells of the phases of a collection */
    VALUE module, object_class, disposed_error;
    int hooks_on;               /* the tracepoint is enabled */
    int in_hooked_gc;           /* between GC_ENTER and END_MARK or GC_EXIT, seen by us */
    int is_open;                /* a trace function was called, its free function not yet */
    int is_major;
    int is_incremental;         /* Ruby marks in slices: the root is marked once more, at the end */
    int root_was_marked;        /* this major collection has marked the root, in whichever Ractor */
    int reports;                /* wrappers report even before the trace function is called */
    int in_slices;              /* rrc_major_collection_start was called; its free function was not yet */
    int unsettled;              /* a collection went by without us: ages are not up to date */
    int recovering;             /* ... and it is being made good */
    int ending;                 /* the process ends: nothing is collected unasked */
    int is_closed;              /* ... and the heap is freed; Ruby may be gone, too */
    int guards;                 /* threads that run slots, or are about to */
    int job_was_early;          /* pending work could not be done inside user code */
    rb_atomic_t job_was_astray; /* ... or in another Ractor */
    ptrdiff_t unreported;       /* bytes that Ruby was not told of */
    int major_ended;            /* a major collection has ended since the last job */
    int minor_wanted;           /* because of the limit; the next job starts it */
    int minor_started;          /* ... or has started it; the job after that decides what follows */
    size_t tracked_limit;       /* so many tracked objects start a major collection of Ruby's */
    size_t finalizable_limit;   /* so many objects with finalizers start an exact collection */
    size_t unhooked, pauses, exact, errors;     /* for Rawrefcount.stats */
    size_t searches_in_slices, slices;
    int promises_missing;       /* so many extensions have not called rrc_ruby_allow_slices */
    int may_promise;            /* the last one that was opened can */
    int was_promised;           /* ... and some have */
    double slice_began;         /* when Ruby began its slice, in seconds of processor time */
    double longest;             /* the longest slice of Ruby's marking so far */
    double time_of_unit;        /* of the search */
    size_t units;               /* so many in each slice, for tests; or 0: as many as there is time for */
} rrb_state;

extern rrb_state rrb;

/* collector.c */
void rrb_init_collector(void);
void rrb_need_hooks(void);              /* before a link is made; raises */
size_t rrb_run_pending(size_t max);
void rrb_schedule(void);                /* run pending work soon */
void rrb_settle(void);
void rrb_stop_slices(void);             /* the search goes on as one piece when Ruby's marking ends */
void rrb_press(void);                   /* tell Ruby of native memory; it may collect, and runs no Ruby code */
int rrb_is_old(VALUE p);
void rrb_show(int on, int with_bar);    /* rrb.insight shows Ruby's objects */

/* usercode.c */
void rrb_init_usercode(void);
void rrb_guard(rrc_heap *heap, void (*slot)(rrc_heap *, rrc_object *), rrc_object *ob);
void rrb_masked(VALUE (*work)(VALUE), VALUE arg);   /* what other threads send waits; work must not raise */
VALUE rrb_masked_method(VALUE (*work)(VALUE), VALUE arg);   /* ... or is raised by this; work may raise, too */

/* With the header's own checks: abort if the calling thread does not have Ruby's lock. */
#ifdef RRC_DEBUG
void rrb_need_gvl(const char *function);
#else
#define rrb_need_gvl(function) ((void)0)
#endif

/* objects.c */
extern const rb_data_type_t rrb_wrapper_type;
extern rrc_object rrb_no_object;        /* the data of a wrapper before `initialize`; NULL: disposed of */
void rrb_init_objects(void);
void rrb_need_open(void);               /* raises at the end of the process */
int rrb_has_state(VALUE wrapper);       /* it has an object, and scripts have changed the wrapper */
void rrb_forget(VALUE p);               /* p dies: if it is a wrapper, it has no object any more */
rrc_object *rrb_find(VALUE value);      /* the object of a wrapper or value, borrowed; or NULL */

static inline int rrb_is_wrapper(VALUE value)
{
    return RB_TYPE_P(value, T_DATA) && RTYPEDDATA_P(value) && RTYPEDDATA_TYPE(value) == &rrb_wrapper_type;
}

/* The Ruby object of a linked object, or 0. */
static inline VALUE rrb_value_of(const rrc_object *ob)
{
    return (ob->ob_refcnt & INTPTR_MAX) >= RRC_REFCNT_FROM_PYPY ? (VALUE)ob->ob_pypy_link : 0;
}

/* states.c. A wrapper is watched if the type of its object has a tp_finalize. */
int rrb_can_watch(void);                /* reserve memory for one more; 0: there is none */
void rrb_watch(VALUE wrapper);
size_t rrb_count_watched(void);
void rrb_watch_nothing(void);           /* no wrapper is linked */
void rrb_leave_state(VALUE wrapper);    /* it loses its object: note its state, if a finalizer can look for it */
VALUE rrb_class_in_state(const rrc_object *ob);             /* of its next wrapper, or 0 */
void rrb_take_state(VALUE wrapper, const rrc_object *ob);   /* a new wrapper gets what was noted */
void rrb_drop_state(const rrc_object *ob);
void rrb_mark_states(void (*mark)(VALUE));      /* what was noted */
void rrb_mark_what_is_left(int is_major);       /* what can be noted at the end of this marking */
void rrb_note_dead(int is_major, int was_marked);
void rrb_keep_watched(void);
void rrb_settle_watched(void);
void rrb_watched_moved(void);

/* objspace.c: called by mark functions outside of collections */
void rrb_show_wrapper(rrc_object *ob);
void rrb_show_root(void);

/* exact.c */
int rrb_has_other_ractors(void);        /* they change their objects while we look at all objects */
void rrb_exact_collection(void);
size_t rrb_count_finalizable(void);     /* what could be garbage that only this finds */
void rrb_exact_trace(VALUE p);
void rrb_exact_propagate(void);
int rrb_exact_is_marked(VALUE p);
void rrb_mark_from_c(void *unused, int on);     /* a hook of the heap */

/* view.c */
void rrb_init_view(void);
VALUE rrb_with_view(VALUE asked, int with_ids, int with_bar, VALUE (*show)(VALUE), VALUE arg);      /* raises */
void rrb_edges(void *userdata, rrc_gcref p, rrc_edgeproc visit, void *arg);
void rrb_describe(void *userdata, rrc_gcref p, rrc_description *about);
void rrb_progress(void *userdata, const char *function, size_t done, size_t total);

#pragma GCC visibility pop

/* Exported by CRuby, but in no public header: the first by 3.1 to 3.3, the second by 3.4, the third by 4.0. */
#if defined HAVE_RB_OBJSPACE_MARKED_OBJECT_P
extern int rb_objspace_marked_object_p(VALUE obj);
#define rrb_is_marked(p) rb_objspace_marked_object_p(p)
#elif defined HAVE_RB_OBJ_GC_FLAGS
extern size_t rb_obj_gc_flags(VALUE obj, ID *flags, size_t max);
int rrb_is_marked(VALUE p);
#else
struct rb_gc_object_metadata_entry {
    ID    name;
    VALUE val;
};
extern struct rb_gc_object_metadata_entry *rb_gc_object_metadata(VALUE obj);    /* a name of 0 ends them */
int rrb_is_marked(VALUE p);
#endif
extern void rb_objspace_reachable_objects_from(VALUE obj, void (*visit)(VALUE, void *), void *data);
extern void rb_objspace_reachable_objects_from_root(void (*visit)(const char *, VALUE, void *), void *data);
extern size_t rb_obj_memsize_of(VALUE obj);

#endif
