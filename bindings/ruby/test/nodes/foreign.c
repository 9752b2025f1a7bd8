/* The binding of a library with reference counts of its own (foreign.h): each wrapper owns one reference to a thing of
 * the library (tp_outside in rawrefcount.h). */
#include "nodes.h"
#include "foreign.h"

struct foreign_library foreign_library;

typedef struct wrapper {
    rrc_object head;
    foreign *of;                        /* it owns one reference */
    rrc_object *handler;
    long test;
} wrapper;

static long wrappers;                   /* so many are there */

static intptr_t wrapper_outside(rrc_heap *heap, rrc_object *self)
{
    return foreign_outside(((wrapper *)self)->of);
}

static int wrapper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((wrapper *)self)->handler);
    return foreign_visit(((wrapper *)self)->of, visit, arg);
}

static int wrapper_clear(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, ((wrapper *)self)->handler);
    foreign_clear(((wrapper *)self)->of);
    return 0;
}

static void wrapper_dealloc(rrc_heap *heap, rrc_object *self)
{
    wrapper *w = (wrapper *)self;
    long id = w->of->id, test = w->test;
    foreign_unwrap(w->of);
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
static rrc_object *wrapper_new(foreign *f)
{
    rrc_heap *heap = rrc_ruby_heap();
    wrapper *w = (wrapper *)rrc_gc_new(heap, &wrapper_type);
    if (w == NULL) {
        foreign_drop(f);
        return NULL;
    }
    w->of = f;
    w->test = this_test();
    f->wrapper = &w->head;
    wrappers++;
    if (rrc_gc_track(heap, &w->head) != RRC_OK) {
        rrc_decref(heap, &w->head);
        return NULL;
    }
    return &w->head;
}

/* The Ruby object of a thing: that of its wrapper. One whose wrapper is gone gets a new one. */
static VALUE value_of(foreign *f)
{
    if (f == NULL)
        return Qnil;
    if (f->wrapper != NULL)
        return rrc_ruby_wrap(f->wrapper);
    return rrc_ruby_wrap_new(rb_path2class("Foreign::Thing"), wrapper_new(foreign_take(f)));
}

static wrapper *unwrap(VALUE self) { return (wrapper *)rrc_ruby_unwrap(self, &wrapper_type); }

static foreign **place_at(foreign **places, int count, VALUE index)
{
    int i = NUM2INT(index);
    if (i < 0 || i >= count)
        rb_raise(rb_eIndexError, "no place %d", i);
    return &places[i];
}

/* (The conversion can dispose of the thing: it comes first.) */
static foreign **field_at(VALUE self, VALUE index)
{
    VALUE i = INT2NUM(NUM2INT(index));
    return place_at(unwrap(self)->of->field, FOREIGN_FIELDS, i);
}

static VALUE thing_initialize(VALUE self, VALUE id)
{
    return rrc_ruby_initialize(self, wrapper_new(foreign_new(NUM2LONG(id))));
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
    foreign **field = field_at(self, index);
    foreign_set(field, NIL_P(other) ? NULL : unwrap(other)->of);
    return other;
}
static VALUE thing_referred(VALUE self, VALUE index)
{
    return value_of(*field_at(self, index));
}
/* a.swap(i, b, j): their fields exchange references, which nobody counts anew. */
static VALUE thing_swap(VALUE self, VALUE index, VALUE other, VALUE other_index)
{
    VALUE i = INT2NUM(NUM2INT(index)), j = INT2NUM(NUM2INT(other_index));
    foreign **a = field_at(self, i), **b = field_at(other, j), *f = *a;
    *a = *b;
    *b = f;
    return Qnil;
}
static VALUE m_take(VALUE self, VALUE index, VALUE value)
{
    foreign **place = place_at(foreign_library.taken, FOREIGN_PLACES, index);
    foreign_set(place, unwrap(value)->of);
    return value;
}
static VALUE m_drop(VALUE self, VALUE index)
{
    foreign_set(place_at(foreign_library.taken, FOREIGN_PLACES, index), NULL);
    return Qnil;
}
static VALUE m_taken(VALUE self, VALUE index) { return value_of(*place_at(foreign_library.taken, FOREIGN_PLACES, index)); }

/* Foreign.retake(place, id, any = false): the library takes a thing by a weak pointer, if its wrapper still has its
   Ruby object; any: if it is there. Gives whether it was. */
static VALUE m_retake(int argc, VALUE *argv, VALUE self)
{
    foreign *f, **place;
    rb_check_arity(argc, 2, 3);
    place = place_at(foreign_library.taken, FOREIGN_PLACES, argv[0]);
    f = foreign_find(NUM2LONG(argv[1]));
    if (f == NULL || (!(argc > 2 && RTEST(argv[2]))
                      && (f->wrapper == NULL || rrc_to_obj(rrc_ruby_heap(), f->wrapper) == NULL)))
        return Qfalse;
    foreign_set(place, f);
    return Qtrue;
}

static VALUE m_things(VALUE self) { return SIZET2NUM(foreign_library.alive); }
static VALUE m_wrappers(VALUE self) { return LONG2NUM(wrappers); }

/* When Ruby is gone: what the library still has. */
static void print(void)
{
    int i;
    for (i = 0; i < FOREIGN_PLACES; i++) {
        const foreign *f = foreign_library.taken[i];
        if (f != NULL)
            printf("thing %ld: %ld references, %s wrapper\n", f->id, (long)f->count, f->wrapper != NULL ? "a" : "no");
    }
    printf("%ld things, %ld wrappers\n", (long)foreign_library.alive, wrappers);
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
    rrc_ruby_class spec = { "Thing", &wrapper_type, 0, methods, 1 };
    rrc_ruby_define_class(module, &spec);
    rb_define_module_function(module, "take", m_take, 2);
    rb_define_module_function(module, "drop", m_drop, 1);
    rb_define_module_function(module, "taken", m_taken, 1);
    rb_define_module_function(module, "retake", m_retake, -1);
    rb_define_module_function(module, "things", m_things, 0);
    rb_define_module_function(module, "wrappers", m_wrappers, 0);
    rb_define_module_function(module, "print_at_exit", m_print_at_exit, 0);
}
