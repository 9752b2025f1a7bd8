/* widgets.c - the whole widget library in mruby: module Widgets. Objects, callbacks and
 * their lifetimes are rrc_mruby.h's affair. */
#define RRC_MRUBY_IMPLEMENTATION
#include "rrc_mruby.h"
#include "widgets.h"

static const rrc_mruby_class Widget, Container;

static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    return rrc_mruby_call(heap, callback, 1, &sender);
}
static const wg_host host = { call, rrc_mruby_native_bytes };

static rrc_object *widget(mrb_state *mrb, mrb_value value) { return rrc_mruby_unwrap(mrb, value, &Widget); }
static mrb_value wrap(mrb_state *mrb, rrc_object *ob) { return rrc_mruby_wrap(rrc_mruby_heap(mrb), ob); }
static mrb_value done(mrb_state *mrb, mrb_value self, int code)
{
    if (code != WG_OK)
        mrb_raise(mrb, mrb->eStandardError_class, wg_error_message(code));
    return self;
}

static mrb_value get_text(mrb_state *mrb, mrb_value self)
{
    return mrb_str_new_cstr(mrb, wg_text(widget(mrb, self)));
}
static mrb_value set_text(mrb_state *mrb, mrb_value self)
{
    const char *text;
    mrb_get_args(mrb, "z", &text);
    return done(mrb, self, wg_set_text(widget(mrb, self), text));
}
static mrb_value get_parent(mrb_state *mrb, mrb_value self)
{
    return wrap(mrb, wg_parent(widget(mrb, self)));
}

/* Methods on_click { |widget| ... }, on_click = proc, emit_click ... */
static mrb_value set_callback(mrb_state *mrb, mrb_value self, enum wg_event event, mrb_value proc)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    rrc_object *sender = widget(mrb, self), *callback = rrc_mruby_hold(heap, proc);
    wg_set_callback(sender, event, callback);
    if (callback != NULL)
        rrc_decref(heap, callback);                 /* the widget has its own reference */
    return self;
}
static mrb_value get_or_set_callback(mrb_state *mrb, mrb_value self, enum wg_event event)
{
    mrb_value block;
    mrb_get_args(mrb, "&", &block);
    if (!mrb_nil_p(block))
        return set_callback(mrb, self, event, block);
    return wrap(mrb, wg_callback(widget(mrb, self), event));
}
static mrb_value emit(mrb_state *mrb, mrb_value self, enum wg_event event)
{
    if (wg_emit(widget(mrb, self), event) != 0)
        rrc_mruby_raise(rrc_mruby_heap(mrb));       /* the callback's exception */
    return self;
}
#define EVENT(name) \
    static mrb_value on_##name(mrb_state *mrb, mrb_value self) \
    { return get_or_set_callback(mrb, self, WG_EVENT_##name); } \
    static mrb_value set_on_##name(mrb_state *mrb, mrb_value self) \
    { return set_callback(mrb, self, WG_EVENT_##name, mrb_get_arg1(mrb)); } \
    static mrb_value emit_##name(mrb_state *mrb, mrb_value self) { return emit(mrb, self, WG_EVENT_##name); }
WG_EVENTS(EVENT)

static mrb_value add(mrb_state *mrb, mrb_value self)
{
    rrc_object *container = rrc_mruby_unwrap(mrb, self, &Container);
    return done(mrb, self, wg_add(container, widget(mrb, mrb_get_arg1(mrb))));
}
static mrb_value take_out(mrb_state *mrb, mrb_value self)
{
    return done(mrb, self, wg_remove(widget(mrb, self), widget(mrb, mrb_get_arg1(mrb))));
}
static mrb_value child(mrb_state *mrb, mrb_value self)
{
    mrb_int i;
    mrb_get_args(mrb, "i", &i);
    return wrap(mrb, i < 0 ? NULL : wg_child(widget(mrb, self), (size_t)i));
}
static mrb_value count(mrb_state *mrb, mrb_value self)
{
    return mrb_int_value(mrb, (mrb_int)wg_count(widget(mrb, self)));
}

static void get_size(mrb_state *mrb, size_t *width, size_t *height)
{
    mrb_int w, h;
    mrb_get_args(mrb, "ii", &w, &h);
    if (w < 0 || h < 0 || w > 1000000000 || h > 1000000000)
        mrb_raise(mrb, E_ARGUMENT_ERROR, "not a size");
    *width = (size_t)w;
    *height = (size_t)h;
}
static mrb_value resize(mrb_state *mrb, mrb_value self)
{
    size_t width, height;
    get_size(mrb, &width, &height);
    return done(mrb, self, wg_resize(widget(mrb, self), width, height));
}

/* The methods "initialize". */
static mrb_value init_with_text(mrb_state *mrb, mrb_value self,
                                rrc_object *(*make)(rrc_heap *heap, const wg_host *host, const char *text))
{
    const char *text;
    mrb_get_args(mrb, "z", &text);
    return rrc_mruby_init(rrc_mruby_heap(mrb), self, make(rrc_mruby_heap(mrb), &host, text));
}
static mrb_value window_init(mrb_state *mrb, mrb_value self) { return init_with_text(mrb, self, wg_window_new); }
static mrb_value button_init(mrb_state *mrb, mrb_value self) { return init_with_text(mrb, self, wg_button_new); }
static mrb_value container_init(mrb_state *mrb, mrb_value self)
{
    return rrc_mruby_init(rrc_mruby_heap(mrb), self, wg_container_new(rrc_mruby_heap(mrb), &host));
}
static mrb_value canvas_init(mrb_state *mrb, mrb_value self)
{
    size_t width, height;
    get_size(mrb, &width, &height);
    return rrc_mruby_init(rrc_mruby_heap(mrb), self, wg_canvas_new(rrc_mruby_heap(mrb), &host, width, height));
}

#define EVENT_METHODS(name) { "on_" #name, on_##name, MRB_ARGS_BLOCK() }, \
                            { "on_" #name "=", set_on_##name, MRB_ARGS_REQ(1) }, \
                            { "emit_" #name, emit_##name, MRB_ARGS_NONE() },
#define END { NULL, NULL, 0 }
static const rrc_mruby_method
    widget_methods[] = { { "text", get_text, MRB_ARGS_NONE() }, { "text=", set_text, MRB_ARGS_REQ(1) },
        { "parent", get_parent, MRB_ARGS_NONE() }, WG_EVENTS(EVENT_METHODS) END },
    container_methods[] = { { "initialize", container_init, MRB_ARGS_NONE() }, { "<<", add, MRB_ARGS_REQ(1) },
        { "remove", take_out, MRB_ARGS_REQ(1) }, { "[]", child, MRB_ARGS_REQ(1) },
        { "count", count, MRB_ARGS_NONE() }, END },
    window_methods[] = { { "initialize", window_init, MRB_ARGS_REQ(1) }, END },
    button_methods[] = { { "initialize", button_init, MRB_ARGS_REQ(1) }, END },
    canvas_methods[] = { { "initialize", canvas_init, MRB_ARGS_REQ(2) },
        { "resize", resize, MRB_ARGS_REQ(2) }, END };

#define CLASS(name, type, base, methods) \
    static const rrc_mruby_class name = { type, #name, base, methods, NULL, NULL }
CLASS(Widget, NULL, NULL, widget_methods);
CLASS(Container, &wg_container_type, &Widget, container_methods);
CLASS(Window, &wg_window_type, &Container, window_methods);
CLASS(Button, &wg_button_type, &Widget, button_methods);
CLASS(Canvas, &wg_canvas_type, &Widget, canvas_methods);

extern void widgets_init(mrb_state *mrb);
void widgets_init(mrb_state *mrb)
{
    struct RClass *module = mrb_define_module(mrb, "Widgets");
    rrc_mruby_define_class(mrb, module, &Window);
    rrc_mruby_define_class(mrb, module, &Button);
    rrc_mruby_define_class(mrb, module, &Canvas);
}
