/* widgets.c - the whole widget library in mruby: module Widgets. Objects, callbacks and
 * their lifetimes are rrc_mruby.h's affair. */
#define RRC_MRUBY_IMPLEMENTATION
#include "rrc_mruby.h"
#include "rrc_mruby_insight.h"
#include "widgets.h"

static const rrc_mruby_class Widget;

static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    return rrc_mruby_call(heap, callback, 1, &sender);
}
static const wg_host host = { call };

static rrc_object *widget(const rrc_mruby_args *a, int i) { return rrc_mruby_unwrap(a->mrb, a->arg[i].value, &Widget); }
static size_t size(const rrc_mruby_args *a, int i)
{
    mrb_state *mrb = a->mrb;                        /* E_ARGUMENT_ERROR wants it by this name */
    if (a->arg[i].integer < 0 || a->arg[i].integer > 1000000000)
        mrb_raise(mrb, E_ARGUMENT_ERROR, "not a size");
    return (size_t)a->arg[i].integer;
}
static mrb_value done(const rrc_mruby_args *a, int code)
{
    if (code != WG_OK)
        mrb_raise(a->mrb, a->mrb->eStandardError_class, wg_error_message(code));
    return a->self;
}

static mrb_value get_text(const rrc_mruby_args *a) { return mrb_str_new_cstr(a->mrb, wg_text(a->ob)); }
static mrb_value set_text(const rrc_mruby_args *a) { return done(a, wg_set_text(a->ob, a->arg[0].string)); }
static mrb_value get_parent(const rrc_mruby_args *a) { return rrc_mruby_wrap(a->heap, wg_parent(a->ob)); }

/* Methods on_click { |widget| ... }, on_click = proc, emit_click ... */
static mrb_value set_callback(const rrc_mruby_args *a, enum wg_event event, mrb_value proc)
{
    rrc_object *callback = rrc_mruby_hold(a->heap, proc);
    wg_set_callback(a->ob, event, callback);
    if (callback != NULL)
        rrc_decref(a->heap, callback);              /* the widget has its own reference */
    return a->self;
}
static mrb_value on(const rrc_mruby_args *a, enum wg_event event)
{
    if (!mrb_nil_p(a->block))
        return set_callback(a, event, a->block);
    return rrc_mruby_wrap(a->heap, wg_callback(a->ob, event));
}
static mrb_value emit(const rrc_mruby_args *a, enum wg_event event)
{
    if (wg_emit(a->ob, event) != 0)
        rrc_mruby_raise(a->heap);                   /* the callback's exception */
    return a->self;
}
#define EVENT(name) \
    static mrb_value on_##name(const rrc_mruby_args *a) { return on(a, WG_EVENT_##name); } \
    static mrb_value set_on_##name(const rrc_mruby_args *a) { return set_callback(a, WG_EVENT_##name, a->arg[0].value); } \
    static mrb_value emit_##name(const rrc_mruby_args *a) { return emit(a, WG_EVENT_##name); }
WG_EVENTS(EVENT)

static mrb_value add(const rrc_mruby_args *a) { return done(a, wg_add(a->ob, widget(a, 0))); }
static mrb_value take_out(const rrc_mruby_args *a) { return done(a, wg_remove(a->ob, widget(a, 0))); }
static mrb_value child(const rrc_mruby_args *a) { return rrc_mruby_wrap(a->heap, wg_child(a->ob, size(a, 0))); }
static mrb_value count(const rrc_mruby_args *a) { return mrb_int_value(a->mrb, (mrb_int)wg_count(a->ob)); }
static mrb_value resize(const rrc_mruby_args *a) { return done(a, wg_resize(a->ob, size(a, 0), size(a, 1))); }

static rrc_object *window(const rrc_mruby_args *a) { return wg_window_new(a->heap, &host, a->arg[0].string); }
static rrc_object *container(const rrc_mruby_args *a) { return wg_container_new(a->heap, &host); }
static rrc_object *button(const rrc_mruby_args *a) { return wg_button_new(a->heap, &host, a->arg[0].string); }
static rrc_object *canvas(const rrc_mruby_args *a) { return wg_canvas_new(a->heap, &host, size(a, 0), size(a, 1)); }

#define EVENT_METHODS(name) { "on_" #name, on_##name, NULL }, { "on_" #name "=", set_on_##name, "o" }, \
                            { "emit_" #name, emit_##name, NULL },
#define END { NULL, NULL, NULL }
static const rrc_mruby_method
    widget_methods[] = { { "text", get_text, NULL }, { "text=", set_text, "z" }, { "parent", get_parent, NULL },
                         WG_EVENTS(EVENT_METHODS) END },
    container_methods[] = { { "<<", add, "o" }, { "remove", take_out, "o" }, { "[]", child, "i" },
                            { "count", count, NULL }, END },
    canvas_methods[] = { { "resize", resize, "ii" }, END };

static const rrc_mruby_class
    Widget = { .name = "Widget", .methods = widget_methods },
    Container = { .type = &wg_container_type, .base = &Widget, .make = container, .methods = container_methods },
    Window = { .type = &wg_window_type, .base = &Container, .make = window, .arguments = "z" },
    Button = { .type = &wg_button_type, .base = &Widget, .make = button, .arguments = "z" },
    Canvas = { .type = &wg_canvas_type, .base = &Widget, .make = canvas, .arguments = "ii",
               .methods = canvas_methods };

extern void widgets_init(mrb_state *mrb);
void widgets_init(mrb_state *mrb)
{
    struct RClass *module = mrb_define_module(mrb, "Widgets");
    rrc_mruby_define_insight(mrb);
    rrc_mruby_define_class(mrb, module, &Window);
    rrc_mruby_define_class(mrb, module, &Button);
    rrc_mruby_define_class(mrb, module, &Canvas);
}
