/* The heap, and its part in Ruby's collections. Ruby calls us at these points:
 *
 *   GC_ENTER             a collection, or a slice of an incremental one, begins
 *   root_mark            ... it marks. Its mark stack cannot be drained from here, so that all
 *                        is left open: wrappers that it marks later report themselves
 *   END_MARK             marking is complete; nothing is swept or moved yet: deaths are found
 *   GC_EXIT              the mutator runs again; an incremental marking may be incomplete
 *   root_compact         objects were moved
 *
 * The root is not write barrier protected, on purpose: Ruby then marks it in every minor
 * collection, and again at the end of an incremental marking. So C fields need no
 * write barriers, and the search of an incremental marking is done once, in that last call.
 *
 * If all extensions promise to tell of each reference that they move (rrc_ruby_allow_slices), the
 * search begins at the first GC_EXIT, and goes on at each one after that. (Ruby marks in slices if
 * there is a GC_EXIT before END_MARK.) The last call then does what is left. What the header wants to
 * be marked while the mutator runs becomes gray by Ruby's own write barrier. */
#include "internal.h"

#include <ruby/ractor.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

rrb_state rrb;

/* ---- hooks of the heap ---- */

#ifdef HAVE_RB_OBJSPACE_MARKED_OBJECT_P
static void init_marked(void) { }
static void forget_asked(void) { }
#else
static ID id_marked;
static VALUE asked_last;

int rrb_is_marked(VALUE p)
{
#ifdef HAVE_RB_OBJ_GC_FLAGS
    ID flag[16];
    size_t count = rb_obj_gc_flags(p, flag, 16);
    while (count > 0)
        if (flag[--count] == id_marked)
            return 1;
#else
    const struct rb_gc_object_metadata_entry *entry;
    for (entry = rb_gc_object_metadata(p); entry->name != 0; entry++)
        if (entry->name == id_marked)
            return 1;
#endif
    return 0;
}

/* Ruby 4.0 gives the object_id with the marks, and each fiber remembers the last object that was looked at for it.
   When marking has ended, this must be one that lives. */
static void forget_asked(void)
{
    rrb_is_marked(asked_last);
}

/* (The first call makes names: that must not be in a collection.) */
static void init_marked(void)
{
    id_marked = rb_intern("marked");
    asked_last = rb_str_new(NULL, 0);
    rb_gc_register_mark_object(asked_last);
    rb_obj_id(asked_last);
    rrb_is_marked(asked_last);
}
#endif

int rrb_is_old(VALUE p)
{
    return (RBASIC(p)->flags & RUBY_FL_PROMOTED) == RUBY_FL_PROMOTED;   /* (RB_OBJ_PROMOTED asks for less) */
}

static inline void host_trace(rrc_gcref p)
{
    if (rrb.mode == RRB_TRACING || rrb.mode == RRB_SHOWING)
        rb_gc_mark_movable((VALUE)p);
    else if (rrb.mode == RRB_EXACT || rrb.mode == RRB_ENDING)
        rrb_exact_trace((VALUE)p);
    else if (rrb.mode == RRB_IDLE)      /* the mutator, while Ruby marks in slices: as if the gate got a reference */
        rb_gc_writebarrier(rrb.gate, (VALUE)p);         /* (before that is black, p is left to the last call) */
}

static rrc_gcref host_survivor(rrc_gcref ref)
{
    VALUE p = (VALUE)ref;
    switch (rrb.mode) {
    case RRB_KEEPING:
        rb_gc_mark_movable(p);
        return ref;
    case RRB_MOVING:
        return (rrc_gcref)rb_gc_location(p);
    case RRB_TRACING:
    case RRB_UNTRACED:
        return rrb_is_marked(p) ? ref : NULL;
    case RRB_SHOWING:
        return NULL;
    case RRB_EXACT:
        if (rrb_exact_is_marked(p))
            return ref;
        break;
    case RRB_FREEING:
        if (rrb_is_marked(p))
            return ref;
        break;
    case RRB_ENDING:
        return rrb_exact_is_marked(p) ? ref : NULL;
    default:
        return ref;
    }
    if (!rrb.is_open)                   /* asked by the free function: p is dead, though not swept yet */
        rrb_forget(p);
    return NULL;
}

static inline int host_is_young(rrc_gcref p)
{
    return rrb.mode == RRB_KEEPING || !rrb_is_old((VALUE)p);
}

/* Asked for the proxies of O links whose objects are held, by C or for their finalizers. (A proxy that is not ours has
   nothing that scripts could lose.) What is held for its finalizer only does not keep its wrapper, or that would keep it
   alive for ever: see states.c. (Our own marking knows what is garbage.) */
static inline int host_has_state(rrc_gcref ref)
{
    VALUE p = (VALUE)ref;
    return rrb_is_wrapper(p) && RTYPEDDATA_DATA(p) != NULL
        && (rrb.mode == RRB_EXACT || rrc_refcnt(RTYPEDDATA_DATA(p)) > 0) && rrb_has_state(p);
}

#define RRC_HOST_TRACE(heap, p) host_trace(p)
#define RRC_HOST_SURVIVOR(heap, p) host_survivor(p)
#define RRC_HOST_PROPAGATE(heap) (rrb.mode == RRB_EXACT || rrb.mode == RRB_ENDING ? rrb_exact_propagate() : (void)0)
#define RRC_HOST_IS_YOUNG(heap, p) host_is_young(p)
#define RRC_HOST_HAS_STATE(heap, p) host_has_state(p)
#define RRC_HOST_GUARD(heap, slot, ob) rrb_guard((heap), (slot), (ob))

#define RRC_THREADS
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "rrc_insight.h"

/* ---- memory ---- */

static VALUE sym_major_by, sym_state, sym_marking, sym_sweeping, sym_old_objects, sym_allow_full_mark;

static rrc_stats stats_now(void)
{
    rrc_stats stats;
    rrc_get_stats(rrb.heap, &stats);
    return stats;
}

/* As few tracked objects start no collection. */
#define TRACKED_MIN 5000

/* From 3.4 on a program can forbid major collections but those that it starts itself (rgengc_allow_full_mark). */
static int majors_are_allowed(void)
{
    VALUE allowed;
    if (!rb_respond_to(rb_mGC, rb_intern("config")))
        return 1;
    allowed = rb_hash_lookup2(rb_funcall(rb_mGC, rb_intern("config"), 0), sym_allow_full_mark, Qtrue);
    return RTEST(allowed);
}

/* Let Ruby do a collection, with lazy sweeping; a major one with incremental marking. (Where majors are forbidden, Ruby
   would make a major one of a minor one that it is told to do, and crash, as it marks in slices.) */
static void start_collection(int is_major)
{
    VALUE options;
    if (!majors_are_allowed() || RTEST(rb_gc_disable()))
        return;                         /* it was disabled, and stays so */
    rb_gc_enable();
    options = rb_hash_new();
    rb_hash_aset(options, ID2SYM(rb_intern("full_mark")), is_major ? Qtrue : Qfalse);
    rb_hash_aset(options, ID2SYM(rb_intern("immediate_mark")), Qfalse);
    rb_hash_aset(options, ID2SYM(rb_intern("immediate_sweep")), Qfalse);
    rb_funcallv_kw(rb_mGC, rb_intern("start"), 1, &options, RB_PASS_KEYWORDS);
}

/* Minor collections take all that C objects hold for alive, and cycles over both heaps stay. Ruby does not know that,
   and lets its heap grow. So a collection is started when there are twice as many tracked objects as after the last
   major one, and enough of them, compared with Ruby's own, to be worth it: a minor one first, and if that leaves as
   many, a major one. */
static void weigh_tracked(size_t tracked)
{
    rrb.minor_started = 0;
    if (rrb.major_ended) {
        size_t more = rb_gc_stat(sym_old_objects) / 4;
        if (more < tracked)
            more = tracked;
        rrb.tracked_limit = tracked + (more < TRACKED_MIN ? TRACKED_MIN : more);
        rrb.major_ended = 0;
    } else if (tracked >= rrb.tracked_limit) {
        rrb.tracked_limit = tracked * 2;        /* in case we do not hear of its end */
        start_collection(1);
    }
}

/* Ruby is told in steps of this. */
#define REPORT_STEP (64 * 1024)

/* Tell Ruby of native memory, where a collection may happen: not from inside the header. And
   as Ruby collects when it allocates for itself, not when it is told, let it do so. (No Ruby code runs here, as C
   functions are in the middle of their work. GC.start would do pending work, and let other threads run.) */
void rrb_press(void)
{
    ptrdiff_t bytes = rrb.unreported;
    if (rrb.job_was_astray && RUBY_ATOMIC_EXCHANGE(rrb.job_was_astray, 0))
        rrb_schedule();
    if ((bytes < REPORT_STEP && bytes > -REPORT_STEP) || rrb.is_closed || rb_during_gc())
        return;
    rrb.unreported = 0;
    rb_gc_adjust_memory_usage(bytes);
    if (bytes <= 0)
        return;
    ruby_xfree(ruby_xmalloc(1));
    if (!rrb.minor_started && rb_gc_latest_gc_info(sym_state) != sym_marking
        && stats_now().tracked >= rrb.tracked_limit) {
        rrb.minor_started = rrb.minor_wanted = 1;
        rrb_schedule();
    }
}

void rrc_ruby_native_bytes(ptrdiff_t change)
{
    rrb_need_gvl("rrc_ruby_native_bytes");
    rrc_native_bytes(rrb.heap, change);
    if (change >= 0)
        rrb_press();
}

static void host_native_bytes(void *userdata, ptrdiff_t change)
{
    (void)userdata;
    rrb.unreported += change;
}

static void *host_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    void *memory;
    (void)userdata;
    rrb_need_gvl("a function of rawrefcount.h that makes or frees memory");
    if (new_size == 0) {
        free(ptr);
        rrb.unreported -= (ptrdiff_t)old_size;
        return NULL;
    }
    memory = realloc(ptr, new_size);
    if (memory != NULL)
        rrb.unreported += (ptrdiff_t)new_size - (ptrdiff_t)old_size;
    return memory;
}

/* It may be called inside a collection, where Ruby must make no objects. (What is refused
   because the heap is closed, is told by an exception.) */
static void host_log(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    if (item->code != RRC_ECLOSED)
        fprintf(stderr, "%s\n", item->text);
}

#ifdef RRC_DEBUG
extern int ruby_thread_has_gvl_p(void);         /* exported, but in no public header */

/* (What an exception would leave, or a report would need, is not there without the lock.) */
void rrb_need_gvl(const char *function)
{
    if (rrb.is_closed || ruby_thread_has_gvl_p())
        return;
    fprintf(stderr, "rawrefcount: %s was called by a thread that does not hold Ruby's lock (the GVL). "
                    "Call it in rb_thread_call_with_gvl; only rrc_decref_later needs no lock\n", function);
    abort();
}
#endif

/* ---- pending work ---- */

static rb_ractor_local_key_t our_key;

/* Only our Ractor can do pending work, at its next chance. But Ruby runs a postponed job in the Ractor that asks for it,
   or in any other that looks for jobs, while ours goes on. */
static int is_astray(void)
{
    if (rb_ractor_local_storage_ptr(our_key) == &rrb)
        return 0;
    RUBY_ATOMIC_SET(rrb.job_was_astray, 1);
    return 1;
}

static int start_wanted(void)
{
    if (!rrb.minor_wanted)
        return 0;
    rrb.minor_wanted = 0;
    start_collection(0);
    return 1;
}

static void run_job(void *unused)
{
    rrc_stats stats;
    int minor_started;
    (void)unused;
    if (is_astray() || rrb.ending)
        return;
    if (rrb.guards > 0) {               /* inside user code: when that is done */
        rrb.job_was_early = 1;
        return;
    }
    minor_started = start_wanted();
    rrb_run_pending(0);
    stats = stats_now();
    if (rrb_count_finalizable() >= rrb.finalizable_limit && majors_are_allowed())
        rrb_exact_collection();
    if (!minor_started)                 /* (else the job after it: late, if collections are disabled) */
        weigh_tracked(stats.tracked);
    stats = stats_now();                /* (other threads may have run) */
    if (rrb.hooks_on && stats.p_young + stats.p_old + stats.o_young + stats.o_old == 0) {
        rrb.hooks_on = 0;
        rb_tracepoint_disable(rrb.tracepoint);
        rrb_watch_nothing();
    }
}

void rrb_schedule(void)
{
    if (is_astray() || rrb.is_closed)
        return;
#ifdef HAVE_RB_POSTPONED_JOB_PREREGISTER
    rb_postponed_job_trigger(rrb.job);
#else
    rb_postponed_job_register_one(0, run_job, NULL);
#endif
}

/* A collection went by without us. It was another Ractor's; or our hooks are lost: Ruby 3.1
   turns off all hooks of the collector when it frees a Ractor. */
static void recover(void)
{
    rrb.recovering = 1;
    if (rrb.hooks_on) {
        rb_tracepoint_disable(rrb.tracepoint);
        rb_tracepoint_enable(rrb.tracepoint);
    }
    rrb.recovering = 0;
    rrb_settle();
}

static VALUE run_pending(VALUE arg)
{
    size_t *max = (size_t *)arg;
    *max = rrc_run_pending(rrb.heap, *max);
    return Qnil;
}

/* (What is masked takes memory of Ruby's, and that can start a collection, which schedules a job. So that comes to an
   end under GC.stress, too, nothing is masked if nothing waits.) */
size_t rrb_run_pending(size_t max)
{
    rrc_stats stats;
    if (rrb.unsettled)
        recover();
    stats = stats_now();
    if (stats.pending > 0)
        rrb_masked(run_pending, (VALUE)&max);
    else
        run_pending((VALUE)&max);
    rrb_press();
    return max;
}

size_t rrc_ruby_run_pending(size_t max)
{
    rrb_need_gvl("rrc_ruby_run_pending");
    if (rrb.is_closed)
        return 0;
    if (rrb.guards == 0)
        start_wanted();
    return rrb_run_pending(max);
}

/* ---- collections ---- */

/* For a C library that calls rrc_gc_collect. */
static void host_collect(void *userdata)
{
    (void)userdata;
    if (!rrb.is_closed)
        rb_gc_start();
}

/* Is the collection that goes on a major one? Asked once for each. */
static int collection_is_major(void)
{
    static size_t asked = (size_t)-1;
    size_t count = rb_gc_count();
    if (count != asked) {
        asked = count;
        rrb.is_major = !NIL_P(rb_gc_latest_gc_info(sym_major_by));
        rrb.is_incremental = rrb.root_was_marked = 0;
    }
    return rrb.is_major;
}

/* ---- slices ---- */

void rrb_stop_slices(void)
{
    if (!rrb.in_slices)
        return;
    rrb.in_slices = rrb.reports = 0;    /* (reports are lost) */
    rrc_major_collection_pause(rrb.heap);
}

static int slices_are_allowed(void)
{
    return rrb.was_promised && rrb.promises_missing == 0;
}

/* The processor's time, in seconds. */
static double time_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start_slices(void)
{
    if (rrc_major_collection_start(rrb.heap) != RRC_OK)
        return;
    rrb.in_slices = 1;
    rrb.searches_in_slices++;
}

/* In seconds: a slice takes at least as long; the first one does, and a unit of it, as nothing better is known. */
#define SHORTEST_SLICE 0.5e-3
#define FIRST_SLICE 2e-3
#define TIME_OF_A_UNIT 10e-9

/* Ruby has done a slice of its marking, and the mutator runs next. Search until this pause has taken as long as the
   longest one that Ruby's marking alone has made: so the search makes no pause longer. */
static void do_slice(void)
{
    double begin_time = time_now(), taken = begin_time - rrb.slice_began, time;
    size_t done;
    if (taken > rrb.longest)
        rrb.longest = taken;
    time = rrb.longest - taken;
    if (time < SHORTEST_SLICE)
        time = SHORTEST_SLICE;
    rrb.mode = RRB_TRACING;
    done = rrc_major_collection_work(rrb.heap, rrb.units > 0 ? rrb.units : (size_t)(time / rrb.time_of_unit) + 1);
    rrb.mode = RRB_IDLE;
    rrb.slices++;
    if (done > 10000)
        rrb.time_of_unit = (time_now() - begin_time) / (double)done + 1e-9;
}

/* Mark everything that is linked: we shall not hear of the end of this marking. */
static void keep_all(void)
{
    rrb_stop_slices();
    rrb.unhooked++;
    rrb.unsettled = 1;
    rrb.mode = RRB_KEEPING;
    rrc_links_moved(rrb.heap);
    rrb.mode = RRB_IDLE;
    rrb_keep_watched();
    if (!rrb.recovering)
        rrb_schedule();
}

/* Outside of collections a mark function tells somebody what an object refers to. (Our own views and our own marking
   know C references already, and better.) */
static int is_asked_by_others(void)
{
    return rrb.mode == RRB_IDLE && rrb.insight.edges == NULL;
}

/* (We may not hear of a part of an incremental marking: another Ractor does it, or our hooks were off. One of the
   root's two marks can be in that part.) */
static void root_mark(void *unused)
{
    int is_first;
    (void)unused;
    if (rrb.is_closed)
        return;
    if (!rb_during_gc()) {
        if (is_asked_by_others())
            rrb_show_root();
        return;
    }
    rrb_mark_states(rb_gc_mark);
    is_first = collection_is_major() && !rrb.root_was_marked;
    rrb.root_was_marked = rrb.is_major;
    if (!rrb.in_hooked_gc) {
        keep_all();
        return;
    }
    if (is_first && rrb.is_incremental)
        return;
    rrb.mode = RRB_TRACING;
    rrb.is_open = 1;
    if (rrb.is_major)
        rrc_major_collection_trace_early(rrb.heap);
    else
        rrc_minor_collection_trace(rrb.heap);
    rrb_mark_what_is_left(rrb.is_major);
}

/* A wrapper was marked; with its object, what that refers to lives. In a minor collection
   the root has marked all young values that C holds. (Data: the rrc_object.) */
static void wrapper_mark(void *data)
{
    if (data == &rrb_no_object || rrb.is_closed)
        return;
    if (!rb_during_gc()) {
        if (is_asked_by_others())
            rrb_show_wrapper((rrc_object *)data);
    } else if ((rrb.is_open || rrb.reports) && rrb.is_major) {
        rrc_marked_ob(rrb.heap, (rrc_object *)data);
    }
}

static size_t wrapper_size(const void *data)
{
    return data != NULL && data != &rrb_no_object ? rrc_size_of(rrb.heap, (rrc_object *)(uintptr_t)data) : 0;
}

const rb_data_type_t rrb_wrapper_type = {
    .wrap_struct_name = "rawrefcount object",
    .function = { .dmark = wrapper_mark, .dfree = NULL, .dsize = wrapper_size },
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

/* Find the deaths. Without a trace before (the root was not marked while we looked) the
   links of all that Ruby did not mark are dissolved: too many perhaps, but none is left
   that leads to a dead object. */
static void end_of_marking(void)
{
    int is_major = collection_is_major();
    rrb.reports = 0;
    rrb_note_dead(is_major, rrb.is_open);
    if (!rrb.is_open) {
        rrb.mode = RRB_UNTRACED;
        if (is_major)
            rrc_major_collection_trace_early(rrb.heap);
        else
            rrc_minor_collection_trace(rrb.heap);
    }
    rrb.mode = RRB_FREEING;
    rrb.is_open = rrb.in_hooked_gc = 0;
    if (rrb.in_slices)
        rrc_major_collection_sweep(rrb.heap, 0);
    else if (is_major)
        rrc_major_collection_free(rrb.heap);
    else
        rrc_minor_collection_free(rrb.heap);
    forget_asked();
    rrb.in_slices = 0;
    rrb.major_ended |= is_major;
    rrb.mode = RRB_IDLE;
    rrb_schedule();
}

/* The mutator runs before marking is complete: what was marked stays so, and the root is
   marked again at the end. */
static void pause_marking(void)
{
    rrb.is_open = 0;
    if (!rrb.is_major) {                /* (Ruby never interrupts these: then it was not told how it ended) */
        rrb.mode = RRB_SETTLING;
        rrc_minor_collection_free(rrb.heap);
        rrb.mode = RRB_IDLE;
        return;
    }
    rrb.mode = RRB_IDLE;
    rrb.in_slices = rrb.reports = 0;
    rrc_major_collection_pause(rrb.heap);
}

/* Ruby marks in slices, and goes on later. */
static void go_on_later(void)
{
    rrb.is_incremental = 1;
    if (rrb.reports && !rrb.in_slices)
        start_slices();
    if (rrb.in_slices)
        do_slice();
}

static void on_gc_event(VALUE tracepoint, void *unused)
{
    (void)unused;
    if (rrb.is_closed)
        return;
    switch (rb_tracearg_event_flag(rb_tracearg_from_tracepoint(tracepoint))) {
    case RUBY_INTERNAL_EVENT_GC_ENTER:
        rrb.in_hooked_gc = rb_gc_latest_gc_info(sym_state) != sym_sweeping;
        rrb.slice_began = rrb.was_promised ? time_now() : 0;
        break;
    case RUBY_INTERNAL_EVENT_GC_START:
        rrb.reports = collection_is_major() && slices_are_allowed();
        break;
    case RUBY_INTERNAL_EVENT_GC_END_MARK:
        end_of_marking();
        break;
    case RUBY_INTERNAL_EVENT_GC_EXIT:
        if (!rrb.in_hooked_gc)
            break;                      /* its marking has ended, or it swept */
        rrb.in_hooked_gc = 0;
        rrb.pauses += rrb.root_was_marked || rrb.is_open;
        if (rrb.is_open)
            pause_marking();
        else if (collection_is_major())
            go_on_later();
        break;
    }
}

static void root_compact(void *unused)
{
    (void)unused;
    if (rrb.is_closed)
        return;
    rrb.mode = RRB_MOVING;
    rrc_links_moved(rrb.heap);
    rrb.mode = RRB_IDLE;
    rrb_watched_moved();
}

void rrb_settle(void)
{
    rrb.mode = RRB_SETTLING;
    rrc_links_moved(rrb.heap);
    rrb.mode = RRB_IDLE;
    rrb_settle_watched();
    rrb.unsettled = 0;
}

static const rb_data_type_t root_type = {
    .wrap_struct_name = "rawrefcount root",
    .function = { .dmark = root_mark, .dfree = NULL, .dcompact = root_compact },
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

void rrb_show(int on, int with_bar)
{
    rrb.insight.edges = on ? rrb_edges : NULL;
    rrb.insight.describe = on ? rrb_describe : NULL;
    rrb.insight.progress = on && with_bar ? rrb_progress : NULL;
}

/* ---- the beginning and the end ---- */

/* Before a link is made, with no call in between that lets other threads or pending work run. (While there are no
   links, Ruby's allocations are as fast as without us: any hook of its collector slows them down.) */
void rrb_need_hooks(void)
{
    if (!rrb.hooks_on) {
        rb_tracepoint_enable(rrb.tracepoint);
        rrb.hooks_on = 1;
    }
}

/* The heap ends, and p loses its object. */
static void host_parted(void *userdata, rrc_gcref p, rrc_object *ob)
{
    (void)userdata;
    (void)ob;
    if (rrb_is_wrapper((VALUE)p))
        rrb_leave_state((VALUE)p);
    rrb_forget((VALUE)p);
}

/* The end: what C does not hold is deallocated now. It is a finalizer of Ruby's, of the root:
   these run after every at_exit, when the other threads are gone, and the others run before it;
   Ruby works as ever, and what Ruby objects own is still there. So deallocs find all that their objects own. (From 4.0
   on, a marking may have begun that Ruby gives up at its end, and with it a search in slices.) */
static VALUE at_end(RB_BLOCK_CALL_FUNC_ARGLIST(unused, unused_data))
{
    rrb_stop_slices();
    rrb.ending = 1;
    if (rrb.guards == 0)                /* (else a fiber was left inside a dealloc) */
        rrc_heap_free(rrb.heap);
    rrb.is_closed = 1;
    if (rrb.hooks_on)
        rb_tracepoint_disable(rrb.tracepoint);
    return Qnil;
}

#if RUBY_API_VERSION_CODE >= 30400
/* From 3.4 on, the last defined runs last. When the last at_exit runs, all others are defined. */
static void come_last(VALUE unused)
{
    (void)unused;
    rb_undefine_finalizer(rrb.root);
    rb_define_finalizer(rrb.root, rb_proc_new(at_end, Qnil));
}
#endif

/* Some code may still use the heap when it is freed: an object that is never dropped keeps
   its last words. */
static void need_last_object(void)
{
    static const rrc_type type = {
        .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "last object", .tp_basicsize = sizeof(rrc_object),
    };
    if (rrc_new(rrb.heap, &type) == NULL)
        rb_memerror();
}

/* From 3.4 on, Ruby can be started with another collector. It has other phases, and tells no marks. */
static void need_default_collector(void)
{
    VALUE name;
    if (!rb_respond_to(rb_mGC, rb_intern("config")))
        return;
    name = rb_hash_aref(rb_funcall(rb_mGC, rb_intern("config"), 0), ID2SYM(rb_intern("implementation")));
    if (RB_TYPE_P(name, T_STRING) && strcmp(StringValueCStr(name), "default") != 0)
        rb_raise(rb_eLoadError, "rawrefcount: needs Ruby's default collector; this is %" PRIsVALUE, name);
}

void rrb_init_collector(void)
{
    rrc_desc desc = {
        .collect = host_collect, .realloc = host_realloc, .log = host_log, .native_bytes = host_native_bytes,
        .parted = host_parted, .mark_from_c = rrb_mark_from_c, .demotes = 1, .incremental = 1,
    };
    need_default_collector();
    rrb.heap = rrc_heap_new(&desc);
    if (rrb.heap == NULL)
        rb_memerror();
#ifdef HAVE_RB_POSTPONED_JOB_PREREGISTER
    rrb.job = rb_postponed_job_preregister(0, run_job, NULL);
    if (rrb.job == POSTPONED_JOB_HANDLE_INVALID)
        rb_raise(rb_eRuntimeError, "rawrefcount: Ruby has no room for one more postponed job");
#endif
    our_key = rb_ractor_local_storage_ptr_newkey(NULL);
    rb_ractor_local_storage_ptr_set(our_key, &rrb);
    rrb.finalizable_limit = 1000;
    rrb.tracked_limit = TRACKED_MIN;
    sym_major_by = ID2SYM(rb_intern("major_by"));
    sym_state = ID2SYM(rb_intern("state"));
    sym_sweeping = ID2SYM(rb_intern("sweeping"));
    sym_marking = ID2SYM(rb_intern("marking"));
    sym_allow_full_mark = ID2SYM(rb_intern("rgengc_allow_full_mark"));
    sym_old_objects = ID2SYM(rb_intern("old_objects"));
    init_marked();
    rb_gc_latest_gc_info(sym_major_by);         /* makes its symbols now, not in a collection */
    rrb.tracepoint = rb_tracepoint_new(0, RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_START
                                              | RUBY_INTERNAL_EVENT_GC_END_MARK | RUBY_INTERNAL_EVENT_GC_EXIT,
                                       on_gc_event, NULL);
    rb_gc_register_mark_object(rrb.tracepoint);
    rrb.root = rb_data_typed_object_wrap(0, &rrb, &root_type);
    rb_gc_register_mark_object(rrb.root);
    rrb.gate = rb_ary_tmp_new(0);
    rb_gc_register_mark_object(rrb.gate);
    rrb.longest = FIRST_SLICE;
    rrb.time_of_unit = TIME_OF_A_UNIT;
    rb_define_finalizer(rrb.root, rb_proc_new(at_end, Qnil));
#if RUBY_API_VERSION_CODE >= 30400
    rb_set_end_proc(come_last, Qnil);
#endif
    need_last_object();
}
