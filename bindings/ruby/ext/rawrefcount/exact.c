/* A marking of our own, between Ruby's collections.
 *
 * Inside Ruby's marking nobody knows in time whether an object with a finalizer is
 * garbage: it would have to be kept, with all it reaches, after the end of marking.
 * So in Ruby's collections such objects count as held. Their cycles are found here:
 * all that Ruby's roots reach is marked in a table, and with it the header's own
 * protocol runs as for any host that can finish its marking. It costs a look at every
 * object, and is done when there are twice as many finalizers to run as were left the
 * last time, or when Rawrefcount.collect is called. */
#include "internal.h"

#include <ruby/ractor.h>
#include <stdlib.h>

/* A set of objects, by open addressing, and those whose references are to be visited. */
static struct {
    VALUE *slot;
    size_t size, count;         /* size is a power of two */
    VALUE *gray;
    size_t gray_count, gray_size;
    int out_of_memory;          /* then all counts as marked */
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
    if (RB_SPECIAL_CONST_P(v) || marked.out_of_memory)
        return;
    if (marked.count * 2 >= marked.size && !grow()) {
        marked.out_of_memory = 1;
        return;
    }
    slot = find(v);
    if (*slot == v)
        return;
    *slot = v;
    marked.count++;
    if (!push(v))
        marked.out_of_memory = 1;
}

int rrb_exact_is_marked(VALUE v)
{
    return marked.out_of_memory || *find(v) == v;
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

/* (The objects of marked wrappers are asked for by the header: they need not be reported.) */
void rrb_exact_propagate(void)
{
    while (marked.gray_count > 0 && !marked.out_of_memory)
        rb_objspace_reachable_objects_from(marked.gray[--marked.gray_count], visit, NULL);
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
