/* widgets.c - the Lua module `widgets`: the whole widget library in Lua. Objects, callbacks
 * and their lifetimes are rrc_lua.h's affair. */
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"
#include "widgets.h"

static const rrc_lua_class Widget, Container, Canvas;

static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    return rrc_lua_call(heap, callback, 1, &sender);
}
static const wg_host host = { call };

static rrc_object *self(lua_State *L) { return rrc_lua_check(L, 1, &Widget); }
static rrc_object *self_container(lua_State *L) { return rrc_lua_check(L, 1, &Container); }
static rrc_object *other(lua_State *L) { return rrc_lua_check(L, 2, &Widget); }
static size_t size(lua_State *L, int arg)
{
    lua_Number n = luaL_checknumber(L, arg);
    luaL_argcheck(L, n >= 0 && n <= 1e9, arg, "not a size");
    return (size_t)n;
}
static int done(lua_State *L, int code)
{
    return code == WG_OK ? 0 : luaL_error(L, "%s", wg_error_message(code));
}
static int push(lua_State *L, rrc_object *ob)       /* ob is borrowed */
{
    rrc_lua_push(L, rrc_lua_heap(L), ob);
    return 1;
}

static int get_text(lua_State *L) { lua_pushstring(L, wg_text(self(L))); return 1; }
static int set_text(lua_State *L) { return done(L, wg_set_text(self(L), luaL_checkstring(L, 2))); }
static int get_parent(lua_State *L) { return push(L, wg_parent(self(L))); }

/* Properties on_click, on_close, on_draw, and methods emit_click() ... */
static int set_callback(lua_State *L, enum wg_event event)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *widget = self(L), *callback;
    rrc_lua_check_callback(L, 2);
    callback = rrc_lua_ref(L, heap, 2);
    wg_set_callback(widget, event, callback);
    RRC_CLEAR(heap, callback);                      /* the widget has its own reference */
    return 0;
}
static int emit(lua_State *L, enum wg_event event)
{
    if (wg_emit(self(L), event) != 0)
        rrc_lua_raise(L, rrc_lua_heap(L));          /* the callback's error */
    return 0;
}
#define EVENT(name) \
    static int get_on_##name(lua_State *L) { return push(L, wg_callback(self(L), WG_EVENT_##name)); } \
    static int set_on_##name(lua_State *L) { return set_callback(L, WG_EVENT_##name); } \
    static int emit_##name(lua_State *L) { return emit(L, WG_EVENT_##name); }
WG_EVENTS(EVENT)

static int add(lua_State *L) { return done(L, wg_add(self_container(L), other(L))); }
static int take_out(lua_State *L) { return done(L, wg_remove(self_container(L), other(L))); }
static int child(lua_State *L) { return push(L, wg_child(self_container(L), size(L, 2) - 1)); }
static int count(lua_State *L) { lua_pushnumber(L, (lua_Number)wg_count(self_container(L))); return 1; }
static int resize(lua_State *L) { return done(L, wg_resize(rrc_lua_check(L, 1, &Canvas), size(L, 2), size(L, 3))); }

#define METHOD(name) { "emit_" #name, emit_##name },
#define PROPERTY(name) { "on_" #name, get_on_##name, set_on_##name },
static const luaL_Reg widget_methods[] = { WG_EVENTS(METHOD) { NULL, NULL } };
static const luaL_Reg container_methods[] = { { "add", add }, { "remove", take_out }, { "child", child },
                                              { NULL, NULL } };
static const luaL_Reg canvas_methods[] = { { "resize", resize }, { NULL, NULL } };
static const rrc_lua_property widget_properties[] = { { "text", get_text, set_text }, { "parent", get_parent, NULL },
                                                      WG_EVENTS(PROPERTY) { NULL, NULL, NULL } };
static const rrc_lua_property container_properties[] = { { "count", count, NULL }, { NULL, NULL, NULL } };

static const rrc_lua_class Widget = { .name = "Widget", .methods = widget_methods, .properties = widget_properties };
static const rrc_lua_class Container = { .type = &wg_container_type, .base = &Widget, .methods = container_methods,
                                         .properties = container_properties };
static const rrc_lua_class Window = { .type = &wg_window_type, .base = &Container };
static const rrc_lua_class Button = { .type = &wg_button_type, .base = &Widget };
static const rrc_lua_class Canvas = { .type = &wg_canvas_type, .base = &Widget, .methods = canvas_methods };

static int give(lua_State *L, rrc_object *ob) { return rrc_lua_give(L, rrc_lua_heap(L), ob); }
static int window(lua_State *L) { return give(L, wg_window_new(rrc_lua_heap(L), &host, luaL_checkstring(L, 1))); }
static int container(lua_State *L) { return give(L, wg_container_new(rrc_lua_heap(L), &host)); }
static int button(lua_State *L) { return give(L, wg_button_new(rrc_lua_heap(L), &host, luaL_checkstring(L, 1))); }
static int canvas(lua_State *L) { return give(L, wg_canvas_new(rrc_lua_heap(L), &host, size(L, 1), size(L, 2))); }

extern int luaopen_widgets(lua_State *L);
int luaopen_widgets(lua_State *L)
{
    static const rrc_lua_class *const classes[] = { &Widget, &Container, &Window, &Button, &Canvas, NULL };
    static const luaL_Reg functions[] = { { "window", window }, { "container", container }, { "button", button },
                                          { "canvas", canvas }, { NULL, NULL } };
    return rrc_lua_module(L, classes, functions);
}
