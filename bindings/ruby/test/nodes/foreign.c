/* A library with reference counts of its own, and its binding: each wrapper owns one reference to a thing of the
 * library (tp_outside in rawrefcount.h). */
#include "nodes.h"

#include <stdlib.h>

/* ---- the library: it knows nothing of Ruby, nor of rawrefcount.h ---- */

#define FIELDS 3

typedef struct thing {
    int count;
    long id;
    struct thing *field[FIELDS];        /* it has references to these */
    void *data;                         /* the wrapper, or NULL */
    struct thing *next, *previous;      /* all things: weak pointers */
} thing;

static thing all = { 0, 0, { NULL }, NULL, &all, &all };
static long things;                     /* so many are there */

static void thing_set(thing **place, thing *to);

static void thing_drop(thing *t)
{
    int i;
    if (--t->count > 0)
        return;
    for (i = 0; i < FIELDS; i++)
        thing_set(&t->field[i], NULL);
    t->next->previous = t->previous;
    t->previous->next = t->next;
    things--;
    free(t);
}

/* A place refers to another thing from now on, or to none. */
static void thing_set(thing **place, thing *to)
{
    thing *old = *place;
    if (to != NULL)
        to->count++;
    *place = to;
    if (old != NULL)
        thing_drop(old);
}

static thing *thing_new(long id)
{
    thing *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->count = 1;
    t->id = id;
    t->next = &all;
    t->previous = all.previous;
    t->previous->next = t->next->previous = t;
    things++;
    return t;
}

static thing *thing_with_id(long id)
{
    thing *t = all.next;
    while (t != &all && t->id != id)
        t = t->next;
    return t != &all ? t : NULL;
}

#define PLACES 64
static thing *taken[PLACES];            /* the library's own references */

/* ---- the binding ---- */

typedef struct wrapper {
    rrc_object head;
    thing *of;                          /* it owns one reference */
    rrc_object *handler;
    long test;
} wrapper;

static long wrappers;                   /* so many are there */

static intptr_t wrapper_outside(rrc_heap *heap, rrc_object *self)
{
    return ((wrapper *)self)->of->count - 1;
}

static int wrapper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const wrapper *w = (wrapper *)self;
    int i;
    RRC_VISIT(w->handler);
    for (i = 0; i < FIELDS; i++)
        if (w->of->field[i] != NULL)
            RRC_VISIT((rrc_object *)w->of->field[i]->data);
    return 0;
}

static int wrapper_clear(rrc_heap *heap, rrc_object *self)
{
    wrapper *w = (wrapper *)self;
    int i;
    RRC_CLEAR(heap, w->handler);
    for (i = 0; i < FIELDS; i++)
        thing_set(&w->of->field[i], NULL);
    return 0;
}

static void wrapper_dealloc(rrc_heap *heap, rrc_object *self)
{
    wrapper *w = (wrapper *)self;
    long id = w->of->id, test = w->test;
    w->of->data = NULL;
    thing_drop(w->of);
    RRC_CLEAR(heap, w->handler);
    rrc_gc_del(heap, self);
    wrappers--;
    note_dead(id, test);
}

static const rrc_type wrapper_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "wrapper",
                                       .tp_basicsize = sizeof(wrapper), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                       .tp_outside = wrapper_outside, .tp_traverse = wrapper_traverse,
                                       .tp_clear = wrapper_clear, .tp_dealloc = wrapper_dealloc };

/* A new wrapper, which takes over the caller's reference to the thing. NULL: there is no memory. */
static rrc_object *wrapper_new(thing *t)
{
    rrc_heap *heap = rrc_ruby_heap();
    wrapper *w;
    if (t == NULL)
        return NULL;
    w = (wrapper *)rrc_gc_new(heap, &wrapper_type);
    if (w == NULL) {
        thing_drop(t);
        return NULL;
    }
    w->of = t;
    w->test = this_test();
    t->data = w;
    wrappers++;
    if (rrc_gc_track(heap, &w->head) != RRC_OK) {
        rrc_decref(heap, &w->head);
        return NULL;
    }
    return &w->head;
}

/* The Ruby object of a thing: that of its wrapper. One whose wrapper is gone gets a new one. */
static VALUE value_of(thing *t)
{
    if (t == NULL)
        return Qnil;
    if (t->data != NULL)
        return rrc_ruby_wrap(t->data);
    t->count++;
    return rrc_ruby_wrap_new(rb_path2class("Foreign::Thing"), wrapper_new(t));
}

static wrapper *unwrap(VALUE self) { return (wrapper *)rrc_ruby_unwrap(self, &wrapper_type); }

static thing **place_at(thing **places, int count, VALUE index)
{
    int i = NUM2INT(index);
    if (i < 0 || i >= count)
        rb_raise(rb_eIndexError, "no place %d", i);
    return &places[i];
}

static VALUE thing_initialize(VALUE self, VALUE id)
{
    return rrc_ruby_initialize(self, wrapper_new(thing_new(NUM2LONG(id))));
}
static VALUE thing_id(VALUE self) { return LONG2NUM(unwrap(self)->of->id); }

static VALUE thing_set_handler(VALUE self, VALUE value)
{
    wrapper *w = unwrap(self);
    rrc_object *fresh = NIL_P(value) ? NULL : rrc_ruby_hold(value), *old = w->handler;
    w->handler = fresh;
    if (old != NULL)
        rrc_decref(rrc_ruby_heap(), old);
    return value;
}
static VALUE thing_handler(VALUE self) { return rrc_ruby_wrap(unwrap(self)->handler); }
static VALUE thing_call(VALUE self) { return rrc_ruby_call(unwrap(self)->handler, 0, NULL); }

/* From here on, nobody is told of references to things. */
static VALUE thing_refer(VALUE self, VALUE index, VALUE other)
{
    thing *to = NIL_P(other) ? NULL : unwrap(other)->of;
    thing_set(place_at(unwrap(self)->of->field, FIELDS, index), to);
    return other;
}
static VALUE thing_referred(VALUE self, VALUE index)
{
    return value_of(*place_at(unwrap(self)->of->field, FIELDS, index));
}
/* a.swap(i, b, j): their fields exchange references, which nobody counts anew. */
static VALUE thing_swap(VALUE self, VALUE index, VALUE other, VALUE other_index)
{
    thing **a = place_at(unwrap(self)->of->field, FIELDS, index);
    thing **b = place_at(unwrap(other)->of->field, FIELDS, other_index), *t = *a;
    *a = *b;
    *b = t;
    return Qnil;
}
static VALUE m_take(VALUE self, VALUE index, VALUE value)
{
    thing_set(place_at(taken, PLACES, index), unwrap(value)->of);
    return value;
}
static VALUE m_drop(VALUE self, VALUE index)
{
    thing_set(place_at(taken, PLACES, index), NULL);
    return Qnil;
}
static VALUE m_taken(VALUE self, VALUE index) { return value_of(*place_at(taken, PLACES, index)); }

/* Foreign.retake(place, id, any = false): the library takes a thing by a weak pointer, if its wrapper still has its
   Ruby object; any: if it is there. Gives whether it was. */
static VALUE m_retake(int argc, VALUE *argv, VALUE self)
{
    thing *t, **place;
    rb_check_arity(argc, 2, 3);
    place = place_at(taken, PLACES, argv[0]);
    t = thing_with_id(NUM2LONG(argv[1]));
    if (t == NULL || (!(argc > 2 && RTEST(argv[2]))
                      && (t->data == NULL || rrc_to_obj(rrc_ruby_heap(), (rrc_object *)t->data) == NULL)))
        return Qfalse;
    thing_set(place, t);
    return Qtrue;
}

static VALUE m_things(VALUE self) { return LONG2NUM(things); }
static VALUE m_wrappers(VALUE self) { return LONG2NUM(wrappers); }

/* When Ruby is gone: what the library still has. */
static void print(void)
{
    int i;
    for (i = 0; i < PLACES; i++)
        if (taken[i] != NULL)
            printf("thing %ld: %d references, %s wrapper\n", taken[i]->id, taken[i]->count,
                   taken[i]->data != NULL ? "a" : "no");
    printf("%ld things, %ld wrappers\n", things, wrappers);
}
static VALUE m_print_at_exit(VALUE self)
{
    atexit(print);
    return Qnil;
}

void init_foreign(void)
{
    static const rrc_ruby_method methods[] = {
        { "initialize", RUBY_METHOD_FUNC(thing_initialize), 1, 0 },
        { "id", RUBY_METHOD_FUNC(thing_id), 0, 0 },
        { "handler=", RUBY_METHOD_FUNC(thing_set_handler), 1, 0 },
        { "handler", RUBY_METHOD_FUNC(thing_handler), 0, 0 },
        { "call", RUBY_METHOD_FUNC(thing_call), 0, 0 },
        { "refer", RUBY_METHOD_FUNC(thing_refer), 2, 0 },
        { "referred", RUBY_METHOD_FUNC(thing_referred), 1, 0 },
        { "swap", RUBY_METHOD_FUNC(thing_swap), 3, 0 },
        { NULL, NULL, 0, 0 },
    };
    VALUE module = rb_define_module("Foreign");
    rrc_ruby_class spec = { "Thing", &wrapper_type, 0, methods, NULL };
    rrc_ruby_define_class(module, &spec);
    rb_define_module_function(module, "take", m_take, 2);
    rb_define_module_function(module, "drop", m_drop, 1);
    rb_define_module_function(module, "taken", m_taken, 1);
    rb_define_module_function(module, "retake", m_retake, -1);
    rb_define_module_function(module, "things", m_things, 0);
    rb_define_module_function(module, "wrappers", m_wrappers, 0);
    rb_define_module_function(module, "print_at_exit", m_print_at_exit, 0);
}
