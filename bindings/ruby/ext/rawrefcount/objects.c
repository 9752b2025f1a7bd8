/* Wrappers of C objects, C objects for Ruby values, calls, classes. */
#include "internal.h"

#include <stddef.h>

/* A Ruby value in C: its p is the value. */
static const rrc_type value_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Ruby value", .tp_basicsize = sizeof(rrc_object),
};

/* A value that Ruby does not collect (a small integer, true, nil) has no p, and is kept right here. A table finds the
   object of each. */
typedef struct immediate_object {
    rrc_object head;
    VALUE value;
} immediate_object;

static st_table *immediates;

static void immediate_free(rrc_heap *heap, void *self)
{
    st_data_t value = (st_data_t)((immediate_object *)self)->value;
    if (!rrb.is_closed)
        st_delete(immediates, &value, NULL);
    rrc_del(heap, (rrc_object *)self);
}

static const rrc_type immediate_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Ruby value", .tp_basicsize = sizeof(immediate_object),
    .tp_free = immediate_free,
};

static int is_immediate(const rrc_object *ob)
{
    return ob->ob_type == &immediate_type;
}

int rrc_ruby_is_value(const rrc_object *ob)
{
    return ob->ob_type == &value_type || is_immediate(ob);
}

static void need_memory(const void *result)
{
    if (result == NULL)
        rb_raise(rb_eNoMemError, "rawrefcount: out of memory");
}

void rrb_need_open(void)
{
    if (rrb.is_closed)
        rb_raise(rb_eRuntimeError, "rawrefcount: Ruby is shutting down, and the C objects are gone");
}

/* ---- classes ---- */

static st_table *classes;            /* of types, by their addresses */
static VALUE disposable;             /* the module with the method `dispose` */

/* The class that was defined for a type, or 0. */
static VALUE defined_class(const rrc_type *type)
{
    st_data_t found;
    return type != NULL && st_lookup(classes, (st_data_t)type, &found) ? (VALUE)found : 0;
}

/* The class of the last type is remembered: often many of one kind are made. */
static VALUE class_of_type(const rrc_type *type)
{
    static const rrc_type *last_type;
    static VALUE last_class;
    VALUE klass;
    if (type == last_type && type != NULL)
        return last_class;
    klass = defined_class(type);
    if (klass == 0)
        return rrb.object_class;
    last_type = type;
    return last_class = klass;
}

/* What has no object yet. */
rrc_object rrb_no_object;
static VALUE allocate_wrapper(VALUE klass)
{
    return rb_data_typed_object_wrap(klass, &rrb_no_object, &rrb_wrapper_type);
}

VALUE rrc_ruby_define_class(VALUE outer, const rrc_ruby_class *spec)
{
    VALUE superclass = spec->superclass != 0 ? spec->superclass : rrb.object_class;
    VALUE klass;
    const rrc_ruby_method *method;
    rrb_need_gvl("rrc_ruby_define_class");
    if (!RTEST(rb_class_inherited_p(superclass, rrb.object_class)))
        rb_raise(rb_eTypeError, "the superclass of %s must be Rawrefcount::Object or below it", spec->name);
    if (defined_class(spec->type) != 0)
        rb_raise(rb_eArgError, "the type of %s has a class already: %" PRIsVALUE, spec->name,
                 defined_class(spec->type));
    klass = rb_define_class_under(outer, spec->name, superclass);
    rb_gc_register_mark_object(klass);
    if (spec->can_dispose)
        rb_include_module(klass, disposable);
    for (method = spec->methods; method != NULL && method->name != NULL; method++) {
        if (method->is_singleton) {
            (rb_define_singleton_method)(klass, method->name, method->function, method->arity);
            continue;
        }
        (rb_define_method)(klass, method->name, method->function, method->arity);
        if (strcmp(method->name, "initialize") == 0) {
            rb_define_alloc_func(klass, allocate_wrapper);
            rb_define_singleton_method(klass, "new", rb_class_new_instance_pass_kw, -1);
        }
    }
    if (spec->type != NULL)
        st_insert(classes, (st_data_t)spec->type, (st_data_t)klass);
    return klass;
}

/* ---- wrappers ---- */

#if RUBY_API_VERSION_CODE >= 40000
static int stop_at_variable(ID id, VALUE value, st_data_t found)
{
    (void)id;
    (void)value;
    *(int *)found = 1;
    return ST_STOP;
}
#endif

/* (From 4.0 on, an object of Ruby's own has the variables, and the object_id. An object_id alone is no state. rb_ivar_count
   gives 0 if that object keeps them in a hash.) */
static int has_variables(VALUE wrapper)
{
#if RUBY_API_VERSION_CODE >= 40000
    int found = 0;
    if (RTYPEDDATA(wrapper)->fields_obj != 0)
        rb_ivar_foreach(wrapper, stop_at_variable, (st_data_t)&found);
    return found;
#else
    return RB_FL_ANY_RAW(wrapper, RUBY_FL_EXIVAR);
#endif
}

/* Would a new wrapper of the same object be another one? It would have no instance variables, would not be
   frozen, and would have the class of the object's type: no subclass, and no singleton class. */
int rrb_has_state(VALUE wrapper)
{
    const rrc_object *ob = RTYPEDDATA_DATA(wrapper);
    return has_variables(wrapper) || RB_FL_ANY_RAW(wrapper, RUBY_FL_FREEZE)
        || RBASIC_CLASS(wrapper) != class_of_type(ob->ob_type);
}

void rrb_forget(VALUE p)
{
    if (rrb_is_wrapper(p))
        RTYPEDDATA_DATA(p) = NULL;
}

static void link_wrapper(VALUE wrapper, rrc_object *ob)
{
    int is_watched = RRC_TYPE(ob)->tp_finalize != NULL;
    if (is_watched && !rrb_can_watch())
        need_memory(NULL);
    if (rrc_link(rrb.heap, (rrc_gcref)wrapper, ob, RRC_O) != RRC_OK)
        need_memory(NULL);
    RTYPEDDATA_DATA(wrapper) = ob;
    if (RRC_TYPE(ob)->tp_size != NULL)
        rrc_measure(rrb.heap, ob);
    if (is_watched)
        rrb_watch(wrapper);
}

static VALUE wrapper_of(VALUE klass, rrc_object *ob)
{
    VALUE wrapper;
    rrb_press();
    wrapper = (VALUE)rrc_to_obj(rrb.heap, ob);
    if (wrapper != 0)
        return wrapper;
    rrb_need_hooks();
    wrapper = rb_data_typed_object_wrap(klass, NULL, &rrb_wrapper_type);
    link_wrapper(wrapper, ob);
    return wrapper;
}

VALUE rrc_ruby_wrap_unlinked(rrc_object *ob)
{
    rrc_gcref p;
    VALUE klass, wrapper;
    rrb_need_gvl("rrc_ruby_wrap");
    if (ob == NULL || rrb.is_closed)
        return Qnil;
    p = rrc_to_obj(rrb.heap, ob);       /* (one that waits for its end can bear a marker) */
    if (p != NULL)
        return (VALUE)p;
    if (rrc_ruby_is_value(ob))
        return is_immediate(ob) ? ((const immediate_object *)ob)->value : Qnil;
    if (rrc_refcnt(ob) == 0)
        rb_raise(rb_eRuntimeError, "this %s is being deallocated", ob->ob_type->tp_name);
    klass = rrb_class_in_state(ob);
    wrapper = wrapper_of(klass != 0 ? klass : class_of_type(ob->ob_type), ob);
    rrb_take_state(wrapper, ob);
    return wrapper;
}

typedef struct wrap_args {
    VALUE klass;                        /* of rrc_ruby_initialize: self */
    rrc_object *ob;
} wrap_args;

static VALUE wrap_as(VALUE arg)
{
    const wrap_args *args = (const wrap_args *)arg;
    return wrapper_of(args->klass, args->ob);
}

static VALUE drop_reference(VALUE ob)
{
    rrc_decref(rrb.heap, (rrc_object *)ob);
    return Qnil;
}

VALUE rrc_ruby_wrap_new(VALUE klass, rrc_object *ob)
{
    wrap_args args = { klass, ob };
    rrb_need_gvl("rrc_ruby_wrap_new");
    if (ob == NULL) {
        rrb_need_open();
        need_memory(NULL);
    }
    if (rrb.is_closed || rrc_ruby_is_value(ob)) {
        VALUE value = rrc_ruby_wrap(ob);
        rrc_decref(rrb.heap, ob);
        return value;
    }
    return rb_ensure(wrap_as, (VALUE)&args, drop_reference, (VALUE)ob);
}

static VALUE initialize_as(VALUE arg)
{
    const wrap_args *args = (const wrap_args *)arg;
    VALUE self = args->klass;
    rrb_press();
    rb_check_frozen(self);
    if (!rrb_is_wrapper(self) || RTYPEDDATA_DATA(self) != &rrb_no_object)
        rb_raise(rb_eTypeError, "this %s is initialized already", rb_obj_classname(self));
    if (rrc_ruby_is_value(args->ob))
        rb_raise(rb_eTypeError, "a Ruby value was given to this %s as its C object", rb_obj_classname(self));
    if (rrc_to_obj(rrb.heap, args->ob) != NULL)
        rb_raise(rb_eTypeError, "what this %s is to stand for has a wrapper already", rb_obj_classname(self));
    rrb_need_hooks();
    link_wrapper(self, args->ob);
    return self;
}

VALUE rrc_ruby_initialize(VALUE self, rrc_object *ob)
{
    wrap_args args = { self, ob };
    rrb_need_gvl("rrc_ruby_initialize");
    rrb_need_open();
    need_memory(ob);
    return rb_ensure(initialize_as, (VALUE)&args, drop_reference, (VALUE)ob);
}

static NORETURN(void wrong_type(VALUE value, const char *expected));
static void wrong_type(VALUE value, const char *expected)
{
    const char *given = NIL_P(value) ? "nil" : value == Qtrue ? "true" : value == Qfalse ? "false"
                      : rb_obj_classname(value);
    rb_raise(rb_eTypeError, "wrong argument type %s (expected %s)", given, expected);
}

static rrc_object *object_of(VALUE wrapper)
{
    rrc_object *ob = RTYPEDDATA_DATA(wrapper);
    if (ob == NULL)
        rb_raise(rrb.disposed_error, "this %s was disposed of", rb_obj_classname(wrapper));
    if (ob == &rrb_no_object)
        rb_raise(rb_eTypeError, "this %s was not initialized: call super in initialize", rb_obj_classname(wrapper));
    return ob;
}

/* What a type is called in Ruby. */
static const char *name_of(const rrc_type *type)
{
    VALUE klass = defined_class(type);
    return klass != 0 ? rb_class2name(klass) : type != NULL ? type->tp_name : "Rawrefcount::Object";
}

rrc_object *rrc_ruby_unwrap(VALUE value, const rrc_type *type)
{
    rrc_object *ob;
    rrb_need_gvl("rrc_ruby_unwrap");
    if (!rrb_is_wrapper(value))
        wrong_type(value, name_of(type));
    ob = object_of(value);
    if (type != NULL && ob->ob_type != type)
        wrong_type(value, name_of(type));
    return ob;
}

rrc_object *rrc_ruby_unwrap_for_write(VALUE value, const rrc_type *type)
{
    rrc_object *ob;
    rrb_need_gvl("rrc_ruby_unwrap_for_write");
    ob = rrc_ruby_unwrap(value, type);
    rb_check_frozen(value);
    return ob;
}

rrc_object *rrc_ruby_unwrap_kind(VALUE value, VALUE klass)
{
    rrb_need_gvl("rrc_ruby_unwrap_kind");
    if (!rrb_is_wrapper(value) || !RTEST(rb_obj_is_kind_of(value, klass)))
        wrong_type(value, rb_class2name(klass));
    return object_of(value);
}

void rrc_ruby_dispose(VALUE wrapper)
{
    rrc_object *ob;
    rrb_need_gvl("rrc_ruby_dispose");
    if (!rrb_is_wrapper(wrapper))
        wrong_type(wrapper, "Rawrefcount::Object");
    ob = RTYPEDDATA_DATA(wrapper);
    if (ob == NULL || rrb.is_closed)
        return;
    if (ob != &rrb_no_object)
        rrb_leave_state(wrapper);
    RTYPEDDATA_DATA(wrapper) = NULL;
    if (ob == &rrb_no_object)
        return;
    rrc_incref(rrb.heap, ob);
    rrc_unlink(rrb.heap, ob);
    rrc_decref(rrb.heap, ob);
}

static VALUE dispose(VALUE wrapper)
{
    rrc_ruby_dispose(wrapper);
    return Qnil;
}

/*
 * call-seq:
 *   object.dispose -> nil
 *
 * Gives up the C object now. Unless C holds it, it is deallocated before this returns. Later uses raise
 * Rawrefcount::DisposedError.
 *
 * @return [nil]
 */
static VALUE object_dispose(VALUE self)
{
    return rrb_masked_method(dispose, self);
}

/*
 * call-seq:
 *   object.disposed? -> true or false
 *
 * @return [Boolean] whether the C object was given up
 */
static VALUE object_is_disposed(VALUE self)
{
    return RTYPEDDATA_DATA(self) == NULL ? Qtrue : Qfalse;
}

/*
 * call-seq:
 *   object.inspect -> string
 *
 * The class, and the type and address of the C object.
 *
 * @return [String]
 */
static VALUE object_inspect(VALUE self)
{
    const rrc_object *ob = RTYPEDDATA_DATA(self);
    if (ob == NULL)
        return rb_sprintf("#<%s (disposed)>", rb_obj_classname(self));
    if (ob == &rrb_no_object)
        return rb_sprintf("#<%s (not initialized)>", rb_obj_classname(self));
    return rb_sprintf("#<%s %s at %p>", rb_obj_classname(self), ob->ob_type->tp_name, (const void *)ob);
}

static VALUE object_initialize_copy(VALUE self, VALUE original)
{
    (void)original;
    rb_raise(rb_eTypeError, "can't copy %s", rb_obj_classname(self));
    return self;
}

/* ---- values ---- */

static rrc_object *hold_immediate(VALUE value)
{
    st_data_t key = (st_data_t)value, found;
    rrc_object *ob;
    if (st_lookup(immediates, key, &found)) {
        rrc_incref(rrb.heap, (rrc_object *)found);
        return (rrc_object *)found;
    }
    st_insert(immediates, key, 0);      /* (first, as it may raise) */
    ob = rrc_new(rrb.heap, &immediate_type);
    if (ob == NULL) {
        st_delete(immediates, &key, NULL);
        need_memory(NULL);
    }
    ((immediate_object *)ob)->value = value;
    st_insert(immediates, key, (st_data_t)ob);
    return ob;
}

static rrc_object *new_value_object(void)
{
    rrc_object *ob = rrc_new(rrb.heap, &value_type);
    need_memory(ob);
    return ob;
}

rrc_object *rrb_find(VALUE value)
{
    if (RB_SPECIAL_CONST_P(value))
        return NULL;
    if (rrb_is_wrapper(value))
        return RTYPEDDATA_DATA(value) == &rrb_no_object ? NULL : RTYPEDDATA_DATA(value);
    return rrc_from_obj(rrb.heap, (rrc_gcref)value);
}

rrc_object *rrc_ruby_hold(VALUE value)
{
    rrc_object *ob;
    rrb_need_gvl("rrc_ruby_hold");
    rrb_need_open();
    if (RB_SPECIAL_CONST_P(value))
        return hold_immediate(value);
    rrb_press();
    ob = rrb_is_wrapper(value) ? object_of(value) : rrc_from_obj(rrb.heap, (rrc_gcref)value);
    if (ob != NULL) {
        rrc_incref(rrb.heap, ob);
        return ob;
    }
    rrb_need_hooks();
    ob = new_value_object();
    if (rrc_link(rrb.heap, (rrc_gcref)value, ob, RRC_P | RRC_LIGHT) != RRC_OK) {
        rrc_decref(rrb.heap, ob);
        need_memory(NULL);
    }
    return ob;
}

VALUE rrc_ruby_call(rrc_object *callable, int argc, const VALUE *argv)
{
    VALUE value;
    rrb_need_gvl("rrc_ruby_call");
    if (rrb.is_closed)                  /* Ruby itself may be gone */
        return Qnil;
    value = rrc_ruby_wrap(callable);
    if (NIL_P(value) && callable != NULL && callable->ob_type == &value_type)
        rb_raise(rb_eRuntimeError, "the value is gone: it was garbage with all that refers to it");
    return rb_funcallv(value, rb_intern("call"), argc, argv);
}

/* Arguments are either values or objects. */
typedef struct call_args {
    rrc_object *callable;
    int argc;
    const VALUE *argv;
    rrc_object *const *objects;
    VALUE result;
} call_args;

static VALUE call_with(VALUE arg)
{
    const call_args *args = (const call_args *)arg;
    VALUE *wrapped, hidden;
    int i;
    if (args->objects == NULL)
        return rrc_ruby_call(args->callable, args->argc, args->argv);
    wrapped = ALLOCV_N(VALUE, hidden, args->argc + 1);
    for (i = 0; i < args->argc; i++)
        wrapped[i] = rrc_ruby_wrap(args->objects[i]);
    return rrc_ruby_call(args->callable, args->argc, wrapped);
}

static VALUE noop(VALUE unused)
{
    return unused;
}

static VALUE call_and_store(VALUE arg)
{
    call_args *args = (call_args *)arg;
    args->result = call_with(arg);
    return Qnil;
}

/* (The library may call this on its way out, with the tag of another call. What belongs to that stays, unless this call
   fails as well.) */
static VALUE call_as_ensure(VALUE arg)
{
    return rb_ensure(noop, Qnil, call_and_store, arg);
}

static int call_protected(call_args args, VALUE *result)
{
    int tag = 0;
    if (!rrb.is_closed)
        rb_protect(call_as_ensure, (VALUE)&args, &tag);
    if (result != NULL)
        *result = tag == 0 ? args.result : Qnil;
    return tag;
}

int rrc_ruby_call_protected(rrc_object *callable, int argc, const VALUE *argv, VALUE *result)
{
    call_args args = { callable, argc, argv, NULL, Qnil };
    rrb_need_gvl("rrc_ruby_call_protected");
    return call_protected(args, result);
}

int rrc_ruby_call_objects(rrc_object *callable, int argc, rrc_object *const *objects, VALUE *result)
{
    call_args args = { callable, argc, NULL, objects, Qnil };
    rrb_need_gvl("rrc_ruby_call_objects");
    return call_protected(args, result);
}

void rrc_ruby_raise(int tag)
{
    rrb_need_gvl("rrc_ruby_raise");
    if (tag != 0)
        rb_jump_tag(tag);
}

void rrb_init_objects(void)
{
    VALUE module = rrb.module;
    /* Documentation tools read this part. */
#if 0
    module = rb_define_module("Rawrefcount");
#endif
    classes = st_init_numtable();
    immediates = st_init_numtable();
    /* Document-module: Rawrefcount::Disposable
     *
     * Wrappers that can give up their C objects before Ruby finds them unreachable. Extensions decide which classes
     * include it (`can_dispose`).
     */
    disposable = rb_define_module_under(module, "Disposable");
    rb_gc_register_mark_object(disposable);
    rb_define_method(disposable, "dispose", object_dispose, 0);
    /* Document-class: Rawrefcount::DisposedError
     *
     * A wrapper was used after `dispose`.
     */
    rrb.disposed_error = rb_define_class_under(module, "DisposedError", rb_eRuntimeError);
    rb_gc_register_mark_object(rrb.disposed_error);
    /* Document-class: Rawrefcount::Object
     *
     * A wrapper: the Ruby object of a C object. Extensions define its subclasses (rrc_ruby_define_class).
     */
    rrb.object_class = rb_define_class_under(module, "Object", rb_cObject);
    rb_gc_register_mark_object(rrb.object_class);
    rb_undef_alloc_func(rrb.object_class);
    rb_undef_method(CLASS_OF(rrb.object_class), "new");
    rb_define_method(rrb.object_class, "disposed?", object_is_disposed, 0);
    rb_define_method(rrb.object_class, "inspect", object_inspect, 0);
    rb_define_private_method(rrb.object_class, "initialize_copy", object_initialize_copy, 1);
}
