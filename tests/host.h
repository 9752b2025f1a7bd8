/* A toy host VM, which drives the header as its >>protocol says, and checks from
 * its side what the header promises: which hook is called when, that a
 * collection allocates nothing, that no dealloc runs inside one.
 *
 * Settings of a build:
 *     HOST_MACROS   the hooks are fixed by RRC_HOST_* macros (else: rrc_desc)
 *     HOST_SLOT     objects have a field for their ob      (else: a dictionary)
 *     HOST_MOVES    objects move                           (else: RRC_HOST_MOVES 0)
 *     HOST_FRONT    another object layout, with the link in front of the object
 *     RRC_DEBUG     the header's own checks
 *
 * Tests name the host's objects by number, because addresses change. */

#ifndef HOST_H
#define HOST_H

#ifndef HOST_MACROS
#define HOST_MACROS 0
#endif
#ifndef HOST_SLOT
#define HOST_SLOT 0
#endif
#ifndef HOST_MOVES
#define HOST_MOVES 1
#endif
#ifndef HOST_FRONT
#define HOST_FRONT 0
#endif

#include "jumps.h"
#include "layout.h"
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"
#include "unit.h"

#ifdef RRC_DEBUG
#define HOST_DEBUG 1
#else
#define HOST_DEBUG 0
#endif

/* 1 where memory is checked by a sanitizer, which makes big tests too slow. */
#if defined(__SANITIZE_ADDRESS__)
#define HOST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_SANITIZED 1
#endif
#endif
#ifndef HOST_SANITIZED
#define HOST_SANITIZED 0
#endif

enum { HOST_EDGES = 3 };

typedef enum host_kind {
    HOST_YOUNG,         /* born in the nursery */
    HOST_OLD,           /* born in the old space */
    HOST_LARGE,         /* young, never moves */
    HOST_LARGE_OLD,
    HOST_PREBUILT       /* never moves, never dies */
} host_kind;
#define HOST_KINDS 5

typedef enum host_phase {
    HOST_MUTATOR,
    HOST_MINOR_TRACE, HOST_MINOR_COPY, HOST_MINOR_FREE,
    HOST_MAJOR_TRACE, HOST_MAJOR_PLAN, HOST_MAJOR_FREE
} host_phase;

typedef enum host_moving {
    HOST_FRESH,         /* each survivor gets memory of its own */
    HOST_PERMUTE,       /* survivors of a major collection swap addresses, also with the dead */
    HOST_EVACUATE,      /* one of forty moves in a major collection, another each time */
    HOST_STAY           /* the host happens not to move */
} host_moving;

typedef struct host host;
typedef struct cell cell;

/* What desc.reports_marks promises can be kept in two ways. */
enum { REPORT_LINKED = 1, REPORT_ALL };

/* How a host behaves; zero is a generational host, which moves, whose survivors
   leave the nursery at once. */
typedef struct host_options {
    int without_generations;    /* everything is born old */
    int stays_young;            /* how many minor collections a survivor stays young */
    int eager;                  /* trace marks at once: no propagate hook */
    int reuse;                  /* memory of the dead is reused first */
    int hoard;                  /* ... or never: no address comes twice */
    int repeat_trace;           /* extra trace calls of each collection */
    int unchecked;              /* no rrc_check after each collection, for big tests */
    int stress;                 /* collect whenever host_safepoint is reached */
    int plain_memory;           /* leave desc.realloc NULL */
    unsigned search_percent;
    int reports_marks;          /* tell the header which objects are marked: REPORT_... */
    int collects;               /* set desc.collect: a major collection */
    int early;                  /* it cannot finish its marking in a trace call, and marks on after it; 2: it
                                   pauses in between, too; 3: and forgets to report. Needs reports_marks */
    int shows;                  /* host_insight has edges; 2: and describe; 3, 4: which gives half of the objects an
                                   id, or none */
    int progresses;             /* host_insight has progress */
    int demotes;                /* host_demote may be called */
    int order;                  /* 1: leave desc.mark_from_c NULL; 2: that hook makes a minor collection first */
    int keeps;                  /* major collections call rrc_major_collection_keep (but not if early) */
    int incremental;            /* host_start may be called; 2: if early, host_major calls it */
    host_moving moving;
} host_options;

typedef struct host_calls {
    size_t trace, survivor, propagate, is_young, slot, trigger, allocate, release, reports, guard;
} host_calls;

typedef struct host_log {
    int code;
    char name[32], function[48], type_name[32], message[200], detail[300], text[600];
    rrc_object *ob;
    rrc_gcref p;
} host_log;

typedef struct host_entry {
    cell *at;               /* NULL: dead */
    unsigned char rooted, remembered;
} host_entry;

struct host {
    rrc_heap *heap;
    rrc_insight insight;
    host_options options;
    host_phase phase;
    int closed;             /* rrc_heap_free was called: hooks must be silent */
    int sweeps;             /* major collections end with rrc_major_collection_sweep */
    int ignores;            /* trace does nothing */
    int slices;             /* a major collection in slices: 1 marking, 2 sweeping */
    int from_c;             /* it marks from C only */
    size_t marked_from_c;   /* calls of that hook */

    host_entry *objects;
    size_t count, room;
    size_t *young, young_count, young_room;
    size_t *remembered, remembered_count, remembered_room;
    cell **gray;
    size_t gray_count, gray_room;
    cell **spare;
    size_t spare_count, spare_room;
    unsigned rotation;

    host_calls calls;
    size_t parted;          /* calls of that hook */
    ptrdiff_t native;       /* what the hook native_bytes was told, in sum, */
    size_t native_calls;    /* ... in so many calls */
    size_t shown;           /* calls of edges and describe */
    host_log log[32];
    size_t log_count, log_read;
    size_t live_bytes, live_blocks, most_bytes;
    size_t fail_at;         /* the allocation of this number fails; 0: none */
    int fail_on;            /* ... and all after it */
    size_t failed;          /* how many did fail */
    int may_be_unsized;     /* a block may be freed without its size */

    /* What tests hang in. on_hook is called from each hook, with its name. */
    void (*on_hook)(host *h, const char *hook);
    void (*on_trigger)(host *h);
    void (*on_realloc)(host *h);
    void (*on_log)(host *h);
    void (*on_weak)(host *h);           /* marking is complete: the time to clear weak references */
    void (*on_parted)(host *h, rrc_gcref p, rrc_object *ob);
    void (*on_progress)(host *h, const char *function, size_t done, size_t total);
    void (*on_dealloc)(host *h, rrc_object *ob);
    void (*on_finalize)(host *h, rrc_object *ob);
    const char *(*words)(host *h, size_t id);   /* for describe */
    void *test;
    jmp_buf *escape;        /* where an error in a slot jumps to, if host_guard catches them (HOST_MACROS) */
    int catches;

    /* What the types of objects.h count. */
    size_t deallocs, finalized, freed;
    int last_dead;          /* tag of the node deallocated last */
    char events[512];       /* what happened to which object: see host_event */
};

/* Make a host and its heap; NULL means the zero options. Fails the test if that
   does not work. */
host *host_open(const host_options *options);

/* The same without a heap, to be given to a test that makes it by itself. */
host *host_bare(const host_options *options);
void host_describe(host *h, rrc_desc *desc);

/* Free the heap and give rrc_heap_free's result. */
size_t host_free_heap(host *h);

/* The end of a host whose heap is freed: no bytes may be left, and no log items
   unread. */
void host_end(host *h);

/* The end of a test: nothing may be held by C any more. */
void host_close(host *h);

/* A new object, which is not rooted: nothing but the next collection kills it. */
size_t host_new(host *h, host_kind kind);
size_t host_rooted(host *h, host_kind kind);

/* Where an object is now; NULL if it died. */
rrc_gcref host_at(const host *h, size_t id);
void host_give_state(host *h, size_t id);       /* see RRC_HOST_HAS_STATE */
int host_has_state(const void *p);
int host_is_alive(const host *h, size_t id);
int host_in_nursery(const host *h, size_t id);
int host_is_marked(const host *h, size_t id);       /* in on_weak */
void host_root(host *h, size_t id);
void host_promote_by_hand(host *h, size_t id);      /* what no host should do */
void host_demote(host *h, size_t id);               /* from the next major collection on it is young again */
void host_unroot(host *h, size_t id);

/* Make edge number n of an object lead to another one, or to nothing. */
#define HOST_NOTHING ((size_t)-1)
void host_point(host *h, size_t from, unsigned n, size_t to);

void host_minor(host *h);
void host_major(host *h);

/* Move everything, apart from a collection. */
void host_move(host *h);

/* Collect in one of the ways a host may, if it is under stress. */
void host_safepoint(host *h);

/* The parts of a collection, for tests that look in between. If the host keeps, host_major_begin does so as its
   last step; host_major_keep is that step, for tests that turn it off. */
void host_major_keep(host *h);
void host_minor_begin(host *h);     /* ... up to after rrc_minor_collection_trace */
void host_minor_end(host *h);
void host_start(host *h);               /* a major collection in slices; host_major goes on with one */
void host_pronounce(host *h);           /* ... up to the verdict, with what garbage owns kept */
void host_major_begin(host *h);
void host_major_end(host *h);

/* The next log item that was not looked at must be this one. Without function:
   any. */
const host_log *host_expect_log(host *h, int code, const char *function);

/* Debug builds have reported that the p of ob (NULL: of some object) was marked after the trace call. */
void host_expect_late_mark(host *h, rrc_object *ob);
void host_expect_silence(host *h);

/* Note an event, for tests about order; take what was noted: "f1 f2 d2". */
void host_event(host *h, char what, int tag);
#define check_events(h, expected) \
    do { \
        check_str((h)->events, (expected)); \
        (h)->events[0] = '\0'; \
    } while (0)

/* An object gets a link: a host that keeps a bit per object would set it now. */
void host_note_link(host *h, size_t id);

/* The hooks. */
void host_collect(void *userdata);
void host_trace(void *userdata, rrc_gcref p);
rrc_gcref host_survivor(void *userdata, rrc_gcref p);
void host_propagate(void *userdata);
void host_mark_from_c(void *userdata, int on);
void host_native_bytes(void *userdata, ptrdiff_t change);
int host_is_young(void *userdata, rrc_gcref p);
rrc_object **host_slot(void *userdata, rrc_gcref p);
void host_dealloc_trigger(void *userdata);
void host_parted(void *userdata, rrc_gcref p, rrc_object *ob);
void host_guard(rrc_heap *heap, void (*slot)(rrc_heap *heap, rrc_object *ob), rrc_object *ob);

/* For rrc_explain and its like: what the options say. */
const rrc_insight *host_insight(host *h);
void *host_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size);
void host_write_log(void *userdata, const rrc_log_item *item);

rrc_stats host_stats(host *h);
#define check_stats(h, p_young_, p_old_, o_young_, o_old_, pending_) \
    do { \
        rrc_stats stats_ = host_stats(h); \
        check_int(stats_.p_young, (p_young_)); \
        check_int(stats_.p_old, (p_old_)); \
        check_int(stats_.o_young, (o_young_)); \
        check_int(stats_.o_old, (o_old_)); \
        check_int(stats_.pending, (pending_)); \
    } while (0)

#endif
