/* The widget library in Ruby: see demo.rb for what it looks like from there. */
#include <rrc_ruby.h>
#include "widgets.h"

static VALUE eError, cWidget, cContainer;
static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    return rrc_ruby_call_objects(callback, 1, &sender, NULL);
}
static const wg_host host = { call };

static void check(int code)
{
    if (code != WG_OK)
        rb_raise(eError, "%s", wg_error_message(code));
}

static enum wg_event event_of(VALUE name)
{
#define IS_EVENT(event) if (name == ID2SYM(rb_intern(#event))) return WG_EVENT_##event;
    WG_EVENTS(IS_EVENT)
    rb_raise(rb_eArgError, "no such event: %" PRIsVALUE, rb_inspect(name));
}

static size_t size_of(VALUE number)
{
    long n = NUM2LONG(number);
    if (n < 0 || n > 1000000000)
        rb_raise(rb_eArgError, "not a size: %ld", n);
    return (size_t)n;
}

#define HEAP rrc_ruby_heap()
static VALUE window(VALUE self, VALUE s) { return rrc_ruby_initialize(self, wg_window_new(HEAP, &host, StringValueCStr(s))); }
static VALUE container(VALUE self) { return rrc_ruby_initialize(self, wg_container_new(HEAP, &host)); }
static VALUE button(VALUE self, VALUE s) { return rrc_ruby_initialize(self, wg_button_new(HEAP, &host, StringValueCStr(s))); }
static VALUE canvas(VALUE self, VALUE width, VALUE height)
{
    return rrc_ruby_initialize(self, wg_canvas_new(HEAP, &host, size_of(width), size_of(height)));
}

/* The methods of a class are called for its wrappers only: self may be of any type. A canvas can be disposed of: so all
   that may run Ruby code comes first. */
#define SELF rrc_ruby_unwrap(self, NULL)
#define SELF_FOR_WRITE rrc_ruby_unwrap_for_write(self, NULL)

static VALUE text(VALUE self) { return rb_utf8_str_new_cstr(wg_text(SELF)); }
static VALUE set_text(VALUE self, VALUE t)
{
    const char *text = StringValueCStr(t);
    check(wg_set_text(SELF_FOR_WRITE, text));
    return t;
}
static VALUE parent(VALUE self) { return rrc_ruby_wrap(wg_parent(SELF)); }
static VALUE callback(VALUE self, VALUE name)
{
    enum wg_event event = event_of(name);
    return rrc_ruby_wrap(wg_callback(SELF, event));
}
static VALUE emit(VALUE self, VALUE name)
{
    enum wg_event event = event_of(name);
    rrc_ruby_raise(wg_emit(SELF, event));
    return self;
}

/* on(event) { |widget| ... }; without a block: not any more. */
static VALUE on(VALUE self, VALUE name)
{
    enum wg_event event = event_of(name);
    rrc_object *widget = SELF_FOR_WRITE;
    rrc_object *held = rb_block_given_p() ? rrc_ruby_hold(rb_block_proc()) : NULL;
    wg_set_callback(widget, event, held);
    if (held != NULL)
        rrc_decref(HEAP, held);
    return self;
}

#define WIDGET(value) rrc_ruby_unwrap_kind(value, cWidget)
static VALUE add(VALUE self, VALUE child) { check(wg_add(SELF_FOR_WRITE, WIDGET(child))); return self; }
static VALUE take_out(VALUE self, VALUE child) { check(wg_remove(SELF_FOR_WRITE, WIDGET(child))); return child; }
static VALUE size(VALUE self) { return SIZET2NUM(wg_count(SELF)); }
static VALUE at(VALUE self, VALUE index)
{
    size_t i = NUM2SIZET(index);
    return rrc_ruby_wrap(wg_child(SELF, i));
}
static VALUE width(VALUE self) { return SIZET2NUM(wg_width(SELF)); }
static VALUE height(VALUE self) { return SIZET2NUM(wg_height(SELF)); }
#define METHOD(name, function, arity) { name, RUBY_METHOD_FUNC(function), arity, 0 }
#define END { NULL, NULL, 0, 0 }
static const rrc_ruby_method widget_methods[] = { METHOD("text", text, 0), METHOD("text=", set_text, 1),
    METHOD("parent", parent, 0), METHOD("on", on, 1), METHOD("callback", callback, 1),
    METHOD("emit", emit, 1), END };
static const rrc_ruby_method container_methods[] = { METHOD("initialize", container, 0), METHOD("<<", add, 1),
    METHOD("remove", take_out, 1), METHOD("size", size, 0), METHOD("[]", at, 1), END };
static const rrc_ruby_method window_methods[] = { METHOD("initialize", window, 1), END };
static const rrc_ruby_method button_methods[] = { METHOD("initialize", button, 1), END };
static const rrc_ruby_method canvas_methods[] = { METHOD("initialize", canvas, 2), METHOD("width", width, 0),
    METHOD("height", height, 0), END };

void Init_widgets_ruby(void)
{
    void Init_naive(void);
    VALUE module = (rrc_ruby_init(), rb_define_module("Widgets"));
    eError = rb_define_class_under(module, "Error", rb_eStandardError);
#define CLASS(...) rrc_ruby_define_class(module, &(rrc_ruby_class){ __VA_ARGS__ })
    cWidget = CLASS("Widget", NULL, 0, widget_methods, 0);
    cContainer = CLASS("Container", &wg_container_type, cWidget, container_methods, 0);
    CLASS("Window", &wg_window_type, cContainer, window_methods, 0);
    CLASS("Button", &wg_button_type, cWidget, button_methods, 0);
    CLASS("Canvas", &wg_canvas_type, cWidget, canvas_methods, 1);
    Init_naive();
}
