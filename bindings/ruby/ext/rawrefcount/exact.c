/* A marking of our own, between Ruby's collections.
 *
 * Inside Ruby's marking nobody knows in time whether an object with a finalizer is
 * garbage: it would have to be kept, with all it reaches, after the end of marking.
 * So in Ruby's collections such objects count as held. Their cycles are found here:
 * all that Ruby's roots reach is marked in a table, and with it the header's own
 * protocol runs as for any host that can finish its marking. It costs a look at every
 * object, and is done when there are twice as many finalizers to run as were left the
 * last time, or when Rawrefcount.collect is called.
 *
 * At the end of the heap the table has what C objects reach through Ruby. */
#include "internal.h"

#include <ruby/ractor.h>
#include <stdlib.h>

/* A set of objects, by open addressing, and those whose references are to be visited. */
static struct {
    VALUE *slot;
    size_t size, count;         /* size is a power of two */
    VALUE *gray;
    size_t gray_count, gray_size;
    size_t most;                /* objects to be marked; 0: all */
    int gave_up;                /* too many, or no memory: then all counts as marked */
} marked;

static size_t place_of(VALUE v, size_t size)
{
    return (size_t)(((uint64_t)v * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (size - 1);
}

static VALUE *find(VALUE v)
{
    size_t i = place_of(v, marked.size);
    while (marked.slot[i] != 0 && marked.slot[i] != v)
        i = (i + 1) & (marked.size - 1);
    return &marked.slot[i];
}

static int grow(void)
{
    VALUE *old = marked.slot;
    size_t old_size = marked.size, i;
    size_t size = old_size == 0 ? (size_t)1 << 16 : old_size * 2;
    VALUE *slot = calloc(size, sizeof *slot);
    if (slot == NULL)
        return 0;
    marked.slot = slot;
    marked.size = size;
    for (i = 0; i < old_size; i++)
        if (old[i] != 0)
            *find(old[i]) = old[i];
    free(old);
    return 1;
}

static int push(VALUE v)
{
    if (marked.gray_count == marked.gray_size) {
        size_t size = marked.gray_size * 2 + 1024;
        VALUE *gray = realloc(marked.gray, size * sizeof *gray);
        if (gray == NULL)
            return 0;
        marked.gray = gray;
        marked.gray_size = size;
    }
    marked.gray[marked.gray_count++] = v;
    return 1;
}

void rrb_exact_trace(VALUE v)
{
    VALUE *slot;
    if (RB_SPECIAL_CONST_P(v) || marked.gave_up)
        return;
    if ((marked.most > 0 && marked.count >= marked.most) || (marked.count * 2 >= marked.size && !grow())) {
        marked.gave_up = 1;
        return;
    }
    slot = find(v);
    if (*slot == v)
        return;
    *slot = v;
    marked.count++;
    if (!push(v))
        marked.gave_up = 1;
}

int rrb_exact_is_marked(VALUE v)
{
    return marked.gave_up || *find(v) == v;
}

static void visit(VALUE v, void *unused)
{
    (void)unused;
    rrb_exact_trace(v);
}

static void visit_root(const char *category, VALUE v, void *unused)
{
    (void)category;
    (void)unused;
    rrb_exact_trace(v);
}

/* Is it a class, or compiled code? These lead to constants, and so to all that the program has. At the end of the heap
   that tells nothing of who owns what. */
static int is_of_program(VALUE v)
{
    enum { KIND_CLASS_REFERENCE = 1, KIND_METHOD = 6, KIND_CODE = 7 };      /* imemo_cref, imemo_ment, imemo_iseq */
    int kind;
    switch (RB_BUILTIN_TYPE(v)) {
    case T_CLASS:
    case T_ICLASS:
    case T_MODULE:
        return 1;
    case T_IMEMO:
        kind = (int)(RBASIC(v)->flags >> RUBY_FL_USHIFT) & 15;
        return kind == KIND_CLASS_REFERENCE || kind == KIND_METHOD || kind == KIND_CODE;
    default:
        return 0;
    }
}

/* (The objects of marked wrappers are asked for by the header: they need not be reported.) */
void rrb_exact_propagate(void)
{
    while (marked.gray_count > 0 && !marked.gave_up) {
        VALUE v = marked.gray[--marked.gray_count];
        if (rrb.mode == RRB_EXACT || !is_of_program(v))
            rb_objspace_reachable_objects_from(v, visit, NULL);
    }
}

static void forget_marks(void)
{
    free(marked.slot);
    free(marked.gray);
    memset(&marked, 0, sizeof marked);
}

int rrb_has_other_ractors(void)
{
    return NUM2LONG(rb_funcall(rb_cRactor, rb_intern("count"), 0)) > 1;
}

/* (The objects of some watched wrappers are not tracked; others have no wrapper.) */
size_t rrb_count_finalizable(void)
{
    rrc_stats stats;
    size_t watched = rrb_count_watched();
    rrc_get_stats(rrb.heap, &stats);
    return stats.finalizable > watched ? stats.finalizable : watched;
}

/* After Ruby's own: then no object is left that is dead but not swept, into which a stale
   word on the stack could lead. (While there are other Ractors, it is left out.) */
void rrb_exact_collection(void)
{
    VALUE was_disabled;
    size_t left;
    int has_others = rrb_has_other_ractors();       /* (this call may do pending work) */
    rb_gc_start();
    was_disabled = rb_gc_disable();
    if (!has_others && grow()) {
        rb_objspace_reachable_objects_from_root(visit_root, NULL);
        rrb_mark_states(rrb_exact_trace);
        rrb.mode = RRB_EXACT;
        rrb.is_open = 1;
        rrc_major_collection_trace(rrb.heap);
        rrb.is_open = 0;
        rrc_major_collection_free(rrb.heap);
        rrb.mode = RRB_IDLE;
        rrb.exact++;
    }
    forget_marks();
    if (!RTEST(was_disabled))
        rb_gc_enable();
    rrb_run_pending(0);
    rrb_settle_watched();               /* finalizers have run */
    left = rrb_count_finalizable();
    rrb.finalizable_limit = left * 2 < 1000 ? 1000 : left * 2;
}

/* In all markings of the end so many objects may be marked, and eight times as many as in the first. */
#define MOST_AT_END ((size_t)1 << 20)

/* (Ruby must not make objects in between, nor sweep: a stale word on the stack of a fiber could lead to what it has
   freed. To disable it ends the sweep.) */
void rrb_mark_from_c(void *unused, int on)
{
    static VALUE was_disabled;
    static size_t most;
    (void)unused;
    if (on) {
        was_disabled = rb_gc_disable();
        marked.most = most;
        marked.gave_up = !grow();
        rrb.mode = RRB_ENDING;
        return;
    }
    rrb.mode = RRB_IDLE;
    most = most == 0 ? MOST_AT_END + 7 * marked.count : most - marked.count;
    if (most == 0)
        most = 1;
    forget_marks();
    if (!RTEST(was_disabled))
        rb_gc_enable();
}
