/* The same library as one binds it without rawrefcount, for comparison: a wrapper owns its
 * widget, and a callback is a value object of its own, a global root. Each is right by itself;
 * but a widget whose callback mentions it is never collected. */
#include <rrc_ruby.h>
#include "widgets.h"

typedef struct naive_callback {
    rrc_object head;
    VALUE block;
} naive_callback;

static void callback_dealloc(rrc_heap *heap, rrc_object *self)
{
    rb_gc_unregister_address(&((naive_callback *)self)->block);
    rrc_del(heap, self);
}

static const rrc_type callback_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "naive callback",
    .tp_basicsize = sizeof(naive_callback), .tp_dealloc = callback_dealloc };

static VALUE call_block(VALUE block) { return rb_funcall(block, rb_intern("call"), 0); }

static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    int tag;
    rb_protect(call_block, ((naive_callback *)callback)->block, &tag);
    return tag;
}
static const wg_host host = { call };

static void button_free(void *button) { rrc_decref(rrc_ruby_heap(), button); }
static const rb_data_type_t button_type = { .wrap_struct_name = "naive button",
    .function = { .dfree = button_free }, .flags = RUBY_TYPED_FREE_IMMEDIATELY };

static VALUE button_new(VALUE klass, VALUE label)
{
    rrc_object *button = wg_button_new(rrc_ruby_heap(), &host, StringValueCStr(label));
    return rb_data_typed_object_wrap(klass, button, &button_type);
}

static VALUE on_click(VALUE self)
{
    rrc_object *callback = rrc_new(rrc_ruby_heap(), &callback_type);
    if (callback == NULL)
        rb_memerror();
    ((naive_callback *)callback)->block = rb_block_proc();
    rb_gc_register_address(&((naive_callback *)callback)->block);
    wg_set_callback(rb_check_typeddata(self, &button_type), WG_EVENT_click, callback);
    rrc_decref(rrc_ruby_heap(), callback);
    return self;
}

static VALUE click(VALUE self)
{
    rrc_ruby_raise(wg_emit(rb_check_typeddata(self, &button_type), WG_EVENT_click));
    return self;
}

void Init_naive(void);
void Init_naive(void)
{
    VALUE klass = rb_define_class_under(rb_define_module("Naive"), "Button", rb_cObject);
    rb_undef_alloc_func(klass);
    rb_define_singleton_method(klass, "new", button_new, 1);
    rb_define_method(klass, "on_click", on_click, 0);
    rb_define_method(klass, "click", click, 0);
}
