/* What a wrapper leaves behind for the finalizer of its object.
 *
 * A tp_finalize finds a wrapper of its object as scripts have changed it: of the same class, with the same instance
 * variables, frozen if it was. When Ruby's marking has ended, and the wrapper turns out to be dead, it is too late to
 * keep it. If the root kept it before, until the finalizer has run, that would never run.
 *
 * So the root marks what the state of the wrapper refers to, and not the wrapper. If the wrapper is dead in END_MARK,
 * its state is noted, and the next wrapper of the object gets it. This is so if C has no reference to the object. If
 * it has one, that keeps the wrapper itself (host_has_state). */
#include "internal.h"

#include <stdlib.h>

/* ---- states ---- */

typedef struct variable {
    ID name;
    VALUE value;
} variable;

typedef struct state {
    struct state *next;
    const rrc_object *ob;
    VALUE klass;
    int is_frozen;
    size_t count;
    variable variable[];
} state;

/* By their objects: lists, whose number is a power of two. */
static struct {
    state **list;
    size_t size, count;
} noted;

static state **list_of(const rrc_object *ob)
{
    return &noted.list[((uintptr_t)ob >> 4) & (noted.size - 1)];
}

static void grow(void)
{
    size_t old_size = noted.size, i;
    state **old = noted.list, **list = calloc(old_size * 2 + 16 * (old_size == 0), sizeof *list), *s;
    if (list == NULL)
        return;
    noted.list = list;
    noted.size = old_size * 2 + 16 * (old_size == 0);
    for (i = 0; i < old_size; i++)
        while ((s = old[i]) != NULL) {
            old[i] = s->next;
            s->next = *list_of(s->ob);
            *list_of(s->ob) = s;
        }
    free(old);
}

static state *find(const rrc_object *ob)
{
    state *s = noted.count > 0 ? *list_of(ob) : NULL;
    while (s != NULL && s->ob != ob)
        s = s->next;
    return s;
}

void rrb_drop_state(const rrc_object *ob)
{
    state **at, *s;
    if (noted.count == 0)
        return;
    at = list_of(ob);
    while ((s = *at) != NULL) {
        if (s->ob != ob) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        noted.count--;
        free(s);
    }
}

static int count_variable(ID name, VALUE value, st_data_t count)
{
    (void)name;
    (void)value;
    ++*(size_t *)count;
    return ST_CONTINUE;
}

static int note_variable(ID name, VALUE value, st_data_t arg)
{
    state *s = (state *)arg;
    s->variable[s->count].name = name;
    s->variable[s->count++].value = value;
    return ST_CONTINUE;
}

/* A singleton class refers to its object. So the wrapper is in a cycle, and our own marking finds that if the object is
   tracked. If it is not, the singleton class is left out. */
static VALUE class_left_by(VALUE wrapper)
{
    return rrc_gc_is_tracked(rrb.heap, RTYPEDDATA_DATA(wrapper)) ? RBASIC_CLASS(wrapper) : rb_obj_class(wrapper);
}

/* (In a collection: it uses no memory of Ruby's. If there is no memory, the state is lost, and nothing else.) */
static void note_state(VALUE wrapper)
{
    const rrc_object *ob = RTYPEDDATA_DATA(wrapper);
    size_t count = 0;
    state *s;
    if (noted.count >= noted.size)
        grow();
    rb_ivar_foreach(wrapper, count_variable, (st_data_t)&count);
    s = noted.size > 0 ? malloc(sizeof *s + count * sizeof s->variable[0]) : NULL;
    if (s == NULL)
        return;
    s->ob = ob;
    s->klass = class_left_by(wrapper);
    s->is_frozen = RB_FL_ANY_RAW(wrapper, RUBY_FL_FREEZE) != 0;
    s->count = 0;
    rb_ivar_foreach(wrapper, note_variable, (st_data_t)s);
    s->next = *list_of(ob);
    *list_of(ob) = s;
    noted.count++;
}

VALUE rrb_class_in_state(const rrc_object *ob)
{
    const state *s = find(ob);
    return s != NULL ? s->klass : 0;
}

/* (Ruby can collect meanwhile: the state is dropped last.) */
void rrb_take_state(VALUE wrapper, const rrc_object *ob)
{
    const state *s = find(ob);
    size_t i;
    if (s == NULL)
        return;
    if (RB_FL_TEST(s->klass, RUBY_FL_SINGLETON))
        rb_singleton_class_attached(s->klass, wrapper);
    for (i = 0; i < s->count; i++)
        rb_ivar_set(wrapper, s->variable[i].name, s->variable[i].value);
    if (s->is_frozen)
        rb_obj_freeze(wrapper);
    rrb_drop_state(ob);
}

void rrb_mark_states(void (*mark)(VALUE))
{
    size_t i, v;
    const state *s;
    for (i = 0; i < noted.size && noted.count > 0; i++)
        for (s = noted.list[i]; s != NULL; s = s->next) {
            mark(s->klass);
            for (v = 0; v < s->count; v++)
                mark(s->variable[v].value);
        }
}

/* ---- wrappers ---- */

/* Those of objects with a tp_finalize. The first ones are old. One stays until it is dead. A wrapper is spent if no
   finalizer will look for its state: it was disposed of, or the finalizer has run. The spent ones were counted when the
   wrappers were last sorted. */
static struct {
    VALUE *wrapper;
    size_t count, old, size;
    size_t spent, old_spent;
} watched;

int rrb_can_watch(void)
{
    size_t size = watched.size * 2 + 64;
    VALUE *wrapper;
    if (watched.count < watched.size)
        return 1;
    wrapper = realloc(watched.wrapper, size * sizeof *wrapper);
    if (wrapper == NULL)
        return 0;
    watched.wrapper = wrapper;
    watched.size = size;
    return 1;
}

void rrb_watch(VALUE wrapper)
{
    watched.wrapper[watched.count++] = wrapper;
}

size_t rrb_count_watched(void)
{
    return watched.count - watched.spent;
}

void rrb_watch_nothing(void)
{
    watched.count = watched.old = watched.spent = watched.old_spent = 0;
}

/* (It may be awaited once more: rrc_gc_set_finalized.) */
static int is_spent(VALUE wrapper)
{
    rrc_object *ob = RTYPEDDATA_DATA(wrapper);
    return ob == NULL || rrc_gc_is_finalized(rrb.heap, ob);
}

/* Will a finalizer run for its object, and can it find that the wrapper has changed? */
static int has_state_for_finalizer(VALUE wrapper)
{
    return !is_spent(wrapper) && RRC_TYPE((rrc_object *)RTYPEDDATA_DATA(wrapper))->tp_finalize != NULL
        && rrb_has_state(wrapper);
}

/* ... if the wrapper goes, and C has no reference to the object? */
static int leaves_state(VALUE wrapper)
{
    return has_state_for_finalizer(wrapper) && rrc_refcnt(RTYPEDDATA_DATA(wrapper)) == 0;
}

void rrb_leave_state(VALUE wrapper)
{
    if (leaves_state(wrapper))
        note_state(wrapper);
}

static int mark_variable(ID name, VALUE value, st_data_t unused)
{
    (void)name;
    (void)unused;
    rb_gc_mark(value);
    return ST_CONTINUE;
}

/* Of the wrappers that can die in this collection. (What is noted does not move.) */
void rrb_mark_what_is_left(int is_major)
{
    size_t i;
    for (i = is_major ? 0 : watched.old; i < watched.count; i++) {
        VALUE wrapper = watched.wrapper[i];
        if (leaves_state(wrapper)) {
            rb_gc_mark(class_left_by(wrapper));
            rb_ivar_foreach(wrapper, mark_variable, 0);
        }
    }
}

void rrb_keep_watched(void)
{
    size_t i;
    for (i = 0; i < watched.count; i++)
        rb_gc_mark(watched.wrapper[i]);
}

/* Those from `from` on have other ages now. */
static void sort_by_age(size_t from)
{
    size_t i;
    watched.old = from;
    if (from == 0)
        watched.old_spent = 0;
    watched.spent = watched.old_spent;
    for (i = from; i < watched.count; i++) {
        VALUE wrapper = watched.wrapper[i];
        size_t spent = (size_t)is_spent(wrapper);
        watched.spent += spent;
        if (!rrb_is_old(wrapper))
            continue;
        watched.old_spent += spent;
        watched.wrapper[i] = watched.wrapper[watched.old];
        watched.wrapper[watched.old++] = wrapper;
    }
}

void rrb_settle_watched(void)
{
    sort_by_age(0);
}

void rrb_note_dead(int is_major, int was_marked)
{
    size_t from = is_major ? 0 : watched.old, i, count = from;
    for (i = from; i < watched.count; i++) {
        VALUE wrapper = watched.wrapper[i];
        if (rrb_is_marked(wrapper))
            watched.wrapper[count++] = wrapper;
        else if (was_marked)
            rrb_leave_state(wrapper);
    }
    watched.count = count;
    sort_by_age(from);
}

void rrb_watched_moved(void)
{
    size_t i;
    for (i = 0; i < watched.count; i++)
        watched.wrapper[i] = rb_gc_location(watched.wrapper[i]);
}
