/* Slots, as the header calls them: what they run is user code, and Ruby code.
 *
 * A slot may run while an exception, a throw or a break is passing through C. rb_ensure keeps that, whatever the slot
 * rescues or catches. What leaves the slot itself ends here, and is reported.
 *
 * What other threads send (Thread#kill, Thread#raise, Timeout, the end of the process) must not end a slot, and cannot
 * be thrown through the C code that has called it. So the slot runs in Thread.handle_interrupt(Object => :never).
 * Ruby delivers what has come meanwhile when that block ends, which is too early: the C code is still there. If there
 * is anything, a fiber that stops in such a block of its own keeps the thread masked. When Ruby code runs again in this
 * thread, an event hook resumes the fiber, and Ruby delivers.
 *
 * Ruby can still switch to another thread between the last look at what has come and the end of the block, and deliver
 * then what that thread sends. A method of the gem's own (dispose) may be left by it. Under C code it must be caught.
 * An exception is delivered late, too. A kill is lost: Ruby kills a thread once only. */
#include "internal.h"

static ID id_handle_interrupt, id_is_pending;
static VALUE never;                 /* { Object => :never } */
static VALUE inside;                /* a thread that runs a slot, masked; or 0 */
static VALUE others_inside;         /* more of them: thread => true */
static VALUE late;                  /* thread => array of fibers and exceptions, to be delivered */

/* What Ruby code does next. While an exception leaves methods, there are ends of methods only: another one in their place
   would end the first. */
#define NEXT_EVENTS (RUBY_EVENT_LINE | RUBY_EVENT_CALL | RUBY_EVENT_C_CALL | RUBY_EVENT_B_CALL)
#define EVENTS (NEXT_EVENTS | RUBY_EVENT_C_RETURN)

/* ---- late delivery ---- */

/* (errinfo can also be a number, or an object of Ruby's own, without a class.) */
static int is_exception(VALUE error)
{
    return !RB_SPECIAL_CONST_P(error) && RB_BUILTIN_TYPE(error) != RUBY_T_IMEMO
        && RTEST(rb_obj_is_kind_of(error, rb_eException));
}

static int is_inside(VALUE thread)
{
    return thread == inside || (rrb.guards > 0 && RTEST(rb_hash_lookup(others_inside, thread)));
}

static void deliver(rb_event_flag_t event, VALUE data, VALUE self, ID method, VALUE klass);

static void hook(VALUE thread, rb_event_flag_t events)
{
    rb_thread_remove_event_hook(thread, deliver);
    if (events != 0)
        rb_thread_add_event_hook(thread, deliver, events, Qnil);
}

static void deliver_late(VALUE item)
{
    VALUE thread = rb_thread_current(), list = rb_hash_lookup(late, thread);
    if (NIL_P(list)) {
        list = rb_ary_new();
        rb_hash_aset(late, thread, list);
        hook(thread, EVENTS);
    }
    rb_ary_push(list, item);
}

/* A fiber gives an exception, and then perhaps more; or nil. A kill ends it, and then comes out of here. */
static VALUE next_error(VALUE item)
{
    return is_exception(item) ? item : rb_fiber_resume(item, 0, NULL);
}

/* Ruby code runs in a thread to which something is to be delivered. (Not while the fiber runs: it has events as well.) */
static void deliver(rb_event_flag_t event, VALUE data, VALUE self, ID method, VALUE klass)
{
    VALUE thread = rb_thread_current(), list = rb_hash_lookup(late, thread);
    (void)event;
    (void)data;
    (void)self;
    (void)method;
    (void)klass;
    while (!is_inside(thread) && !NIL_P(list)) {
        VALUE item = rb_ary_shift(list), error;
        int tag;
        hook(thread, 0);
        error = rb_protect(next_error, item, &tag);
        if (tag == 0 && !NIL_P(error) && error != item)
            rb_ary_unshift(list, item);
        if (RARRAY_LEN(list) > 0)
            hook(thread, NEXT_EVENTS);
        else
            rb_hash_delete(late, thread);
        if (tag != 0)
            rb_jump_tag(tag);
        if (!NIL_P(error))
            rb_exc_raise(error);
        list = rb_hash_lookup(late, thread);
    }
}

static VALUE pause_fiber(RB_BLOCK_CALL_FUNC_ARGLIST(unused, error))
{
    return rb_fiber_yield(1, &error);
}

static VALUE mask_and_pause(VALUE error)
{
    return rb_block_call(rb_cThread, id_handle_interrupt, 1, &never, pause_fiber, error);
}

/* Stop in a masked block. When this is resumed and the block ends, Ruby delivers what has come, up to an exception: that
   is for the resumer, and what comes next waits in another block. */
static VALUE keep_masked(RB_BLOCK_CALL_FUNC_ARGLIST(unused, unused_data))
{
    VALUE error = Qnil;
    int tag;
    for (;;) {
        rb_protect(mask_and_pause, error, &tag);
        if (tag == 0)
            return Qnil;
        error = rb_errinfo();
        if (!is_exception(error))
            rb_jump_tag(tag);           /* a kill */
        rb_set_errinfo(Qnil);
    }
}

/* Keep this thread masked when the present block has ended. */
static void stay_masked(void)
{
    VALUE fiber;
    if (!NIL_P(rb_hash_lookup(late, rb_thread_current())))
        return;                         /* it stays so already */
    fiber = rb_fiber_new(keep_masked, Qnil);
    rb_fiber_resume(fiber, 0, NULL);
    deliver_late(fiber);
}

/* ---- masked code ---- */

/* One that is about to begin is in a list, as Ruby gives the block nothing. (With a block of its own for each, Ruby would
   make an object for each.) */
typedef struct masked_call {
    VALUE (*work)(VALUE);
    VALUE arg;
    VALUE thread;
    struct masked_call *next;
} masked_call;

static masked_call *beginning;
static VALUE begin_masked;          /* the block */

static masked_call *take_beginning(VALUE thread)
{
    masked_call **at = &beginning, *call;
    while (*at != NULL && (*at)->thread != thread)
        at = &(*at)->next;
    call = *at;
    if (call != NULL)
        *at = call->next;
    return call;
}

static VALUE work_masked(RB_BLOCK_CALL_FUNC_ARGLIST(unused, unused_data))
{
    masked_call *call = take_beginning(rb_thread_current());
    VALUE result = call->work(call->arg);
    rb_thread_check_ints();             /* if another thread is to run, it runs before the question */
    if (RTEST(rb_funcallv(rb_cThread, id_is_pending, 0, NULL)))
        stay_masked();
    return result;
}

static VALUE mask(VALUE unused)
{
    return rb_funcall_with_block(rb_cThread, id_handle_interrupt, 1, &never, begin_masked);
}

/* (If Ruby delivers between the question and the end of the block, that is caught here.) */
static void work_in_mask(masked_call *call)
{
    VALUE error;
    int tag;
    call->next = beginning;
    beginning = call;
    rb_protect(mask, Qnil, &tag);
    error = tag != 0 ? rb_errinfo() : Qnil;
    rb_set_errinfo(Qnil);
    if (take_beginning(call->thread) != NULL)       /* (Ruby has not come to the block) */
        call->work(call->arg);
    if (is_exception(error))
        deliver_late(error);
}

static void enter(VALUE thread)
{
    if (inside == 0)
        inside = thread;
    else
        rb_hash_aset(others_inside, thread, Qtrue);
    rrb.guards++;
}

static void leave(VALUE thread)
{
    rrb.guards--;
    if (inside == thread)
        inside = 0;
    else
        rb_hash_delete(others_inside, thread);
    if (rrb.guards == 0 && rrb.job_was_early) {
        rrb.job_was_early = 0;
        rrb_schedule();
    }
}

static VALUE noop(VALUE unused)
{
    return unused;
}

/* (While there is one thread only, nobody sends anything.) */
static VALUE enter_and_work(VALUE arg)
{
    masked_call *call = (masked_call *)arg;
    enter(call->thread);
    if (rb_thread_alone())
        call->work(call->arg);
    else
        work_in_mask(call);
    leave(call->thread);
    return Qnil;
}

void rrb_masked(VALUE (*work)(VALUE), VALUE arg)
{
    masked_call call = { work, arg, rb_thread_current(), NULL };
    if (is_inside(call.thread))
        rb_ensure(noop, Qnil, work, arg);
    else
        rb_ensure(noop, Qnil, enter_and_work, (VALUE)&call);
}

/* ---- methods of the gem's own ---- */

static VALUE do_method(VALUE arg)
{
    masked_call *call = (masked_call *)arg;
    if (rb_thread_alone())
        return call->work(call->arg);
    call->next = beginning;
    beginning = call;
    return mask(Qnil);
}

static VALUE end_method(VALUE arg)
{
    VALUE thread = ((masked_call *)arg)->thread;
    take_beginning(thread);             /* (if Ruby has not come to the block) */
    leave(thread);
    return Qnil;
}

VALUE rrb_masked_method(VALUE (*work)(VALUE), VALUE arg)
{
    masked_call call = { work, arg, rb_thread_current(), NULL };
    if (is_inside(call.thread))
        return work(arg);
    enter(call.thread);
    return rb_ensure(do_method, (VALUE)&call, end_method, (VALUE)&call);
}

/* ---- slots ---- */

typedef struct slot_call {
    rrc_heap *heap;
    void (*slot)(rrc_heap *, rrc_object *);
    rrc_object *ob;
} slot_call;

static VALUE run_slot(VALUE arg)
{
    const slot_call *call = (const slot_call *)arg;
    call->slot(call->heap, call->ob);
    return Qnil;
}

static VALUE report(VALUE args)
{
    return rb_funcallv(rrb.module, rb_intern("report_error"), 2, RARRAY_CONST_PTR(args));
}

/* The error that is in errinfo came out of a slot. Whatever the report raises is lost. (A signal that the process was
   sent is no error of the slot: it ends the program later.) */
static void report_error(const char *type_name)
{
    VALUE error = rb_errinfo(), args;
    int tag;
    rrb.errors++;
    rb_set_errinfo(Qnil);
    if (!is_exception(error))
        error = Qnil;                   /* a throw, or the end of a thread */
    args = rb_ary_new_from_args(2, error, rb_str_new_cstr(type_name));
    rb_protect(report, args, &tag);
    if (tag != 0)
        rb_set_errinfo(Qnil);
    if (RTEST(rb_obj_is_kind_of(error, rb_eSignal)))
        deliver_late(error);
}

static VALUE run_slot_protected(VALUE arg)
{
    const char *type_name = RRC_TYPE(((const slot_call *)arg)->ob)->tp_name;
    int tag;
    rb_protect(run_slot, arg, &tag);
    if (tag != 0)
        report_error(type_name);
    return Qnil;
}

void rrb_guard(rrc_heap *heap, void (*slot)(rrc_heap *, rrc_object *), rrc_object *ob)
{
    slot_call call = { heap, slot, ob };
    int is_finalizer = slot == RRC_TYPE(ob)->tp_finalize;
    rrb_need_gvl("rrc_decref");
    if (rrb.ending && !is_finalizer && slot != RRC_TYPE(ob)->tp_clear_weakrefs && rrb_value_of(ob) != 0)
        rrb_forget(rrb_value_of(ob));   /* it is cleared, and so no script may get it */
    if (rrb.is_closed)                  /* Ruby itself may be gone */
        slot(heap, ob);
    else
        rrb_masked(run_slot_protected, (VALUE)&call);
    if (is_finalizer)
        rrb_drop_state(ob);             /* (if it has not asked for it) */
}

static VALUE new_map(void)
{
    VALUE map = rb_hash_new();
    rb_funcall(map, rb_intern("compare_by_identity"), 0);
    rb_gc_register_mark_object(map);
    return map;
}

void rrb_init_usercode(void)
{
    id_handle_interrupt = rb_intern("handle_interrupt");
    id_is_pending = rb_intern("pending_interrupt?");
    others_inside = new_map();
    late = new_map();
    never = new_map();
    rb_hash_aset(never, rb_cObject, ID2SYM(rb_intern("never")));
    rb_obj_freeze(never);
    begin_masked = rb_proc_new(work_masked, Qnil);
    rb_gc_register_mark_object(begin_masked);
    rb_gc_register_address(&inside);
}
