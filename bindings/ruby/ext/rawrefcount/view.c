/* Ruby's objects, as rrc_explain and rrc_dump_heapsnapshot show them. While a view is open, Ruby does not
 * collect. So nothing moves, and what the functions here allocate harms nobody. */
#include "internal.h"

#include <stdlib.h>
#include <unistd.h>

/* References of one owner that names.rb names, one after the other. */
typedef struct name {
    const char *text;
    VALUE value;
    size_t next;                /* its number + 1, or 0 */
} name;

/* What has been shown under a name. */
typedef struct shown {
    VALUE p;
    size_t stamp;               /* of the owner */
} shown;

static VALUE mutex;             /* one view at a time */
static struct {
    VALUE asked;                /* rrc_explain is called for this one, or 0: it is on our own stack */
    VALUE thread, fiber;        /* whose stack that is */
    VALUE frames, list;         /* our own, and not shown: bindings, and what names.rb said */
    int with_ids;
    st_table *owner;            /* the number of its first name + 1; a root's owner is nil */
    st_table *text;             /* what to say about an object beside its class */
    name *names;
    size_t count;
    shown *shown;               /* by open addressing: all with another stamp are free places */
    size_t shown_size, shown_count, stamp;      /* (the size is a power of two) */
    int bar;                    /* percents that it shows, plus 1; 0: it is not there */
    VALUE p;                    /* whose references are shown, or 0: the roots */
    rrc_edgeproc visit;
    void *arg;
} view;

/* ---- names ---- */

typedef struct opening {
    VALUE asked;
    int with_ids, with_bar, was_disabled;
    VALUE (*show)(VALUE arg);
    VALUE arg;
} opening;

static VALUE note(RB_BLOCK_CALL_FUNC_ARGLIST(unused, list))
{
    rb_ary_push(list, argv[0]);
    rb_ary_push(list, argv[1]);
    rb_ary_push(list, argc > 2 ? argv[2] : Qundef);
    return Qnil;
}

/* (In a thread of its own, so that its leftovers are not on our stack.) */
static VALUE gather(void *unused)
{
    VALUE names = rb_const_get(rrb.module, rb_intern("Names"));
    rb_block_call(names, rb_intern("each"), 1, &view.frames, note, view.list);
    return Qnil;
}

static VALUE list_frames(const rb_debug_inspector_t *inspector, void *arg)
{
    VALUE frames = (VALUE)arg;
    long count = RARRAY_LEN(rb_debug_inspector_backtrace_locations(inspector)), i;
    for (i = 0; i < count; i++) {
        VALUE frame = rb_debug_inspector_frame_binding_get(inspector, i);
        if (!NIL_P(frame))
            rb_ary_push(frames, frame);
    }
    return Qnil;
}

/* No other thread runs from here on, and so nobody lets Ruby collect. */
static void order_names(VALUE list)
{
    long i;
    view.owner = st_init_numtable();
    view.text = st_init_numtable();
    view.names = ALLOC_N(name, RARRAY_LEN(list) / 3 + 1);
    for (i = RARRAY_LEN(list) - 3; i >= 0; i -= 3) {    /* from the last one, so that the first comes first */
        VALUE owner = RARRAY_AREF(list, i), value = RARRAY_AREF(list, i + 2);
        const char *text = RSTRING_PTR(RARRAY_AREF(list, i + 1));
        st_data_t next = 0;
        if (value == Qundef) {
            st_insert(view.text, owner, (st_data_t)text);
        } else if (!RB_SPECIAL_CONST_P(value)) {
            st_lookup(view.owner, owner, &next);
            view.names[view.count] = (name){ text, value, next };
            st_insert(view.owner, owner, ++view.count);
        }
    }
}

static void need_one_ractor(void)
{
    if (rrb_has_other_ractors())
        rb_raise(rb_eRuntimeError, "rawrefcount: there are other Ractors, which change their objects at the same time");
}

static VALUE run(VALUE arg)
{
    opening *o = (opening *)arg;
    VALUE result;
    VALUE frames, list;                 /* (on the stack, so that they live) */
    need_one_ractor();
    view.frames = frames = rb_ary_new();
    view.list = list = rb_ary_tmp_new(1000);
    rb_debug_inspector_open(list_frames, (void *)frames);
    rb_funcall(rb_thread_create(gather, NULL), rb_intern("join"), 0);
    rb_gc_disable();                    /* (another thread may have enabled it) */
    view.thread = rb_thread_current();
    view.fiber = rb_fiber_current();
    need_one_ractor();                  /* (other threads ran, and may have started one) */
    order_names(list);
    rrb_show(1, ((opening *)arg)->with_bar && isatty(STDERR_FILENO));
    result = o->show(o->arg);
    RB_GC_GUARD(list);
    RB_GC_GUARD(frames);
    return result;
}

static VALUE finish(VALUE arg)
{
    rrb_show(0, 0);
    if (view.owner != NULL)
        st_free_table(view.owner);
    if (view.text != NULL)
        st_free_table(view.text);
    xfree(view.names);
    free(view.shown);
    memset(&view, 0, sizeof view);
    if (!((opening *)arg)->was_disabled)
        rb_gc_enable();
    return Qnil;
}

static VALUE open_view(VALUE arg)
{
    opening *o = (opening *)arg;
    view.asked = o->asked;
    view.with_ids = o->with_ids;
    o->was_disabled = RTEST(rb_gc_disable());
    return rb_ensure(run, arg, finish, arg);
}

VALUE rrb_with_view(VALUE asked, int with_ids, int with_bar, VALUE (*show)(VALUE), VALUE arg)
{
    opening o = { asked, with_ids, with_bar, 0, show, arg };
    return rb_mutex_synchronize(mutex, open_view, (VALUE)&o);
}

void rrb_init_view(void)
{
    mutex = rb_mutex_new();
    rb_gc_register_mark_object(mutex);
}

/* ---- references ---- */

/* The place of an object among those that were shown, or a free place for it. */
static shown *place_of(VALUE p)
{
    size_t i = (size_t)(((uint64_t)p * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (view.shown_size - 1);
    while (view.shown[i].stamp == view.stamp && view.shown[i].p != p)
        i = (i + 1) & (view.shown_size - 1);
    return &view.shown[i];
}

static int was_shown(VALUE p)
{
    return view.shown_size > 0 && place_of(p)->stamp == view.stamp;
}

/* Twice the places. */
static int grow(void)
{
    shown *old = view.shown, *grown;
    size_t old_size = view.shown_size, size = old_size == 0 ? 64 : old_size * 2, i;
    grown = calloc(size, sizeof *grown);
    if (grown == NULL)
        return 0;
    view.shown = grown;
    view.shown_size = size;
    for (i = 0; i < old_size; i++)
        if (old[i].stamp == view.stamp)
            *place_of(old[i].p) = old[i];
    free(old);
    return 1;
}

static void show_named(VALUE to, const char *text, size_t number)
{
    shown *place;
    if (RB_SPECIAL_CONST_P(to))
        return;
    view.visit(view.arg, (rrc_gcref)to, text, number);
    if (view.shown_count * 2 >= view.shown_size && !grow())
        return;                         /* without memory, it is shown under another name as well */
    place = place_of(to);
    if (place->stamp == view.stamp)
        return;
    place->p = to;
    place->stamp = view.stamp;
    view.shown_count++;
}

static void show_noted(VALUE owner)
{
    st_data_t number;
    if (!st_lookup(view.owner, owner, &number))
        return;
    for (; number != 0; number = view.names[number - 1].next)
        show_named(view.names[number - 1].value, view.names[number - 1].text, 0);
}

/* (Ruby also keeps some things of its own as instance variables, under other names.) */
static int show_ivar(ID id, VALUE value, st_data_t unused)
{
    char text[100];
    const char *ivar = rb_id2name(id);
    if (ivar == NULL || ivar[0] != '@')
        return ST_CONTINUE;
    snprintf(text, sizeof text, ivar[1] == '@' ? "class variable %.70s" : ".%.70s", ivar);
    show_named(value, text, 0);
    return ST_CONTINUE;
}

/* An element of a hash. */
static int show_pair(VALUE key, VALUE value, VALUE unused)
{
    char text[100];
    if (RB_SYMBOL_P(key)) {
        const char *symbol = RB_STATIC_SYM_P(key) ? rb_id2name(rb_sym2id(key)) : NULL;
        snprintf(text, sizeof text, "element :%.70s", symbol != NULL ? symbol : "...");
    } else if (RB_TYPE_P(key, T_STRING)) {
        snprintf(text, sizeof text, "element \"%.*s\"", RSTRING_LEN(key) < 60 ? (int)RSTRING_LEN(key) : 60,
                 RSTRING_PTR(key));
    } else if (RB_FIXNUM_P(key)) {
        snprintf(text, sizeof text, "element %ld", FIX2LONG(key));
    } else {
        snprintf(text, sizeof text, "element");
    }
    show_named(value, text, 0);
    show_named(key, "key", 0);
    return ST_CONTINUE;
}

static void show_members(VALUE p)
{
    VALUE members = rb_struct_members(p);
    char text[100];
    long i;
    for (i = 0; i < RSTRUCT_LEN(p); i++) {
        const char *member = rb_id2name(rb_sym2id(RARRAY_AREF(members, i)));
        snprintf(text, sizeof text, ".%.70s", member != NULL ? member : "...");
        show_named(RSTRUCT_GET(p, i), text, 0);
    }
}

/* Is this an object that is not to be shown, or not again? */
static int is_hidden(VALUE to)
{
    return RB_SPECIAL_CONST_P(to) || to == view.frames || to == view.list || was_shown(to);
}

/* What has no name of its own. */
static void show_rest(VALUE to, void *unused)
{
    int is_stack = view.p == view.thread || view.p == view.fiber;
    if (is_hidden(to) || (is_stack && to == view.asked))
        return;
    view.visit(view.arg, (rrc_gcref)to, is_stack ? "the stack"
               : to == RBASIC_CLASS(view.p) ? "class" : "a reference", 0);
}

/* The words of our own stack say little: they may be left over. What a method has in its variables and as
   arguments is on the stack of its thread. */
static void show_root(const char *category, VALUE to, void *unused)
{
    char text[100];
    if (is_hidden(to) || strcmp(category, "machine_context") == 0)
        return;
    snprintf(text, sizeof text, "Ruby itself (%.70s)", category);
    view.visit(view.arg, (rrc_gcref)to, text, 0);
}

void rrb_edges(void *userdata, rrc_gcref ref, rrc_edgeproc visit, void *arg)
{
    VALUE p = (VALUE)ref;
    long i;
    view.visit = visit;
    view.arg = arg;
    view.p = p;
    view.stamp++;
    view.shown_count = 0;
    if (p == 0) {
        show_noted(Qnil);
        rb_objspace_reachable_objects_from_root(show_root, NULL);
        return;
    }
    show_noted(p);
    if (RB_BUILTIN_TYPE(p) == T_ARRAY)
        for (i = 0; i < RARRAY_LEN(p); i++)
            show_named(RARRAY_AREF(p, i), NULL, (size_t)i);
    else if (RB_BUILTIN_TYPE(p) == T_HASH)
        rb_hash_foreach(p, show_pair, 0);
    else if (RB_BUILTIN_TYPE(p) == T_STRUCT && RBASIC_CLASS(p) != 0)
        show_members(p);
    if (RB_BUILTIN_TYPE(p) != T_IMEMO && RB_BUILTIN_TYPE(p) != T_ICLASS)
        rb_ivar_foreach(p, show_ivar, 0);
    rb_objspace_reachable_objects_from(p, show_rest, NULL);
}

/* ---- descriptions ---- */

static void describe_class(VALUE klass, const char *format, char *text, size_t size)
{
    VALUE path = klass != 0 ? rb_mod_name(klass) : Qnil;
    snprintf(text, size, format, NIL_P(path) ? "(anonymous)" : RSTRING_PTR(path));
}

static void describe_text(VALUE p, char *text, size_t size)
{
    st_data_t words;
    if (st_lookup(view.text, p, &words)) {
        snprintf(text, size, "%s", (const char *)words);
        return;
    }
    switch (RB_BUILTIN_TYPE(p)) {
    case T_CLASS:
        if (RB_FL_TEST(p, FL_SINGLETON))
            snprintf(text, size, "singleton class");
        else
            describe_class(p, "class %.100s", text, size);
        break;
    case T_MODULE:
        describe_class(p, "module %.100s", text, size);
        break;
    case T_IMEMO:
    case T_ICLASS:
        snprintf(text, size, "internal");
        break;
    default:
        if (RBASIC_CLASS(p) == 0)
            snprintf(text, size, "internal");
        else
            describe_class(rb_obj_class(p), "%.120s", text, size);
        break;
    }
}

/* A number that no other object ever gets, or 0: Ruby has none. */
static uint32_t id_of(VALUE p)
{
    int tag;
    VALUE id;
    if (RB_BUILTIN_TYPE(p) == T_IMEMO || RB_BUILTIN_TYPE(p) == T_ICLASS || RBASIC_CLASS(p) == 0)
        return 0;
    id = rb_protect(rb_obj_id, p, &tag);
    if (tag != 0)
        rb_set_errinfo(Qnil);
    else if (RB_FIXNUM_P(id) && FIX2LONG(id) % 4 == 0 && FIX2LONG(id) / 4 < 1L << 30)
        return (uint32_t)(FIX2LONG(id) / 4);
    return 0;
}

void rrb_describe(void *userdata, rrc_gcref ref, rrc_description *about)
{
    VALUE p = (VALUE)ref;
    rrc_object *ob = rrb_is_wrapper(p) ? rrb_find(p) : NULL;
    describe_text(p, about->text, sizeof about->text);
    about->size = rb_obj_memsize_of(p) - (ob != NULL ? rrc_size_of(rrb.heap, ob) : 0);
    if (view.with_ids)
        about->id = id_of(p);
}

/* ---- progress ---- */

/* Show how far a long function is, and nothing when it is done. (The bar does not go back when more is found
   to do.) */
void rrb_progress(void *userdata, const char *function, size_t done, size_t total)
{
    static const char marks[] = "########################################";
    int percents = (int)(100.0 * (double)done / ((double)total + 1));
    if (done == total && view.bar > 0) {
        fprintf(stderr, "\r%75s\r", "");
        view.bar = 0;
    } else if (done < total && percents >= view.bar) {
        fprintf(stderr, "\rsnapshot [%-40.*s] %3d%%", percents * 2 / 5, marks, percents);
        view.bar = percents + 1;
    }
}
