/* naive.c - module Naive: windows and buttons as most bindings have them. A widget is a
 * data object that owns a reference; a callback is kept by mrb_gc_register. Each is
 * correct, and together they leak: mruby's collector takes what is registered for a root.
 */
#include "rrc_mruby.h"
#include "widgets.h"

#include <mruby/class.h>
#include <mruby/data.h>

/* A callback: the library counts it, and the last reference gives it back to mruby. */
typedef struct naive_callback {
    rrc_object head;
    mrb_state *mrb;
    mrb_value  block;
} naive_callback;

static int closing;             /* mruby frees its objects in any order */
static void close(mrb_state *mrb) { (void)mrb; closing = 1; }

static void callback_dealloc(rrc_heap *heap, rrc_object *ob)
{
    naive_callback *callback = (naive_callback *)ob;
    if (!closing)
        mrb_gc_unregister(callback->mrb, callback->block);
    rrc_del(heap, ob);
}
static const rrc_type callback_type = { .tp_name = "naive callback", .tp_basicsize = sizeof(naive_callback),
                                        .tp_dealloc = callback_dealloc };

static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    const naive_callback *it = (const naive_callback *)callback;
    (void)heap, (void)sender;
    mrb_funcall(it->mrb, it->block, "call", 0);
    return 0;
}
static const wg_host host = { call };

static rrc_heap *heap;

static void widget_free(mrb_state *mrb, void *ob)
{
    (void)mrb;
    rrc_decref(heap, ob);
}
static const mrb_data_type widget_type = { "naive widget", widget_free };

static rrc_object *widget(mrb_state *mrb, mrb_value value)
{
    return mrb_data_get_ptr(mrb, value, &widget_type);
}

static mrb_value init(mrb_state *mrb, mrb_value self,
                      rrc_object *(*make)(rrc_heap *heap, const wg_host *host, const char *text))
{
    const char *text;
    mrb_get_args(mrb, "z", &text);
    mrb_data_init(self, make(heap, &host, text), &widget_type);
    return self;
}
static mrb_value init_window(mrb_state *mrb, mrb_value self) { return init(mrb, self, wg_window_new); }
static mrb_value init_button(mrb_state *mrb, mrb_value self) { return init(mrb, self, wg_button_new); }
static mrb_value add(mrb_state *mrb, mrb_value self)
{
    wg_add(widget(mrb, self), widget(mrb, mrb_get_arg1(mrb)));
    return self;
}
static mrb_value on_click(mrb_state *mrb, mrb_value self)
{
    naive_callback *callback = (naive_callback *)rrc_new(heap, &callback_type);
    callback->mrb = mrb;
    mrb_get_args(mrb, "&", &callback->block);
    mrb_gc_register(mrb, callback->block);
    wg_set_callback(widget(mrb, self), WG_EVENT_click, &callback->head);
    rrc_decref(heap, &callback->head);
    return self;
}
extern void naive_init(mrb_state *mrb);
void naive_init(mrb_state *mrb)
{
    struct RClass *module = mrb_define_module(mrb, "Naive");
    struct RClass *window = mrb_define_class_under(mrb, module, "Window", mrb->object_class);
    struct RClass *button = mrb_define_class_under(mrb, module, "Button", mrb->object_class);
    heap = rrc_mruby_heap(mrb);         /* any heap would do */
    mrb_state_atexit(mrb, close);
    MRB_SET_INSTANCE_TT(window, MRB_TT_DATA);
    MRB_SET_INSTANCE_TT(button, MRB_TT_DATA);
    mrb_define_method(mrb, window, "initialize", init_window, MRB_ARGS_REQ(1));
    mrb_define_method(mrb, button, "initialize", init_button, MRB_ARGS_REQ(1));
    mrb_define_method(mrb, window, "<<", add, MRB_ARGS_REQ(1));
    mrb_define_method(mrb, button, "on_click", on_click, MRB_ARGS_BLOCK());
}
