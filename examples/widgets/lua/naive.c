/* naive.c - the Lua module `naive`: windows and buttons as most bindings have them. A
 * widget is a userdata that owns a reference; a callback is kept by luaL_ref. Each is
 * correct, and together they leak: Lua's collector takes the registry for a root.
 */
#define RAWREFCOUNT_IMPLEMENTATION
#include "widgets.h"

#include <lua.h>
#include <lauxlib.h>

/* A callback: the library counts it, and the last reference gives it back to Lua. */
typedef struct lua_callback {
    rrc_object head;
    lua_State *L;
    int        ref;
} lua_callback;

static void callback_dealloc(rrc_heap *heap, rrc_object *ob)
{
    lua_callback *callback = (lua_callback *)ob;
    luaL_unref(callback->L, LUA_REGISTRYINDEX, callback->ref);
    rrc_del(heap, ob);
}
static const rrc_type callback_type = { .tp_name = "callback", .tp_basicsize = sizeof(lua_callback),
                                        .tp_dealloc = callback_dealloc };

static int call(rrc_heap *heap, rrc_object *callback, rrc_object *sender)
{
    lua_State *L = ((lua_callback *)callback)->L;
    (void)heap, (void)sender;
    lua_rawgeti(L, LUA_REGISTRYINDEX, ((lua_callback *)callback)->ref);
    lua_call(L, 0, 0);
    return 0;
}
static const wg_host host = { call };

static void trace(void *vm, rrc_gcref p) { (void)vm, (void)p; }
static rrc_gcref survivor(void *vm, rrc_gcref p) { (void)vm; return p; }

static rrc_heap *heap_of(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }
static rrc_object *check(lua_State *L, int arg) { return *(rrc_object **)luaL_checkudata(L, arg, "naive widget"); }

static int give(lua_State *L, rrc_object *ob)
{
    *(rrc_object **)lua_newuserdata(L, sizeof ob) = ob;
    luaL_getmetatable(L, "naive widget");
    lua_setmetatable(L, -2);
    return 1;
}
static int window(lua_State *L) { return give(L, wg_window_new(heap_of(L), &host, luaL_checkstring(L, 1))); }
static int button(lua_State *L) { return give(L, wg_button_new(heap_of(L), &host, luaL_checkstring(L, 1))); }
static int add(lua_State *L) { wg_add(check(L, 1), check(L, 2)); return 0; }
static int gc(lua_State *L) { rrc_decref(heap_of(L), check(L, 1)); return 0; }

static int on_click(lua_State *L)
{
    lua_callback *callback = (lua_callback *)rrc_new(heap_of(L), &callback_type);
    lua_settop(L, 2);
    callback->ref = luaL_ref(L, LUA_REGISTRYINDEX);
    callback->L = L;
    wg_set_callback(check(L, 1), WG_EVENT_click, &callback->head);
    rrc_decref(heap_of(L), &callback->head);
    return 0;
}

static int live(lua_State *L)
{
    rrc_stats stats;
    rrc_get_stats(heap_of(L), &stats);
    lua_pushnumber(L, (lua_Number)stats.objects);
    return 1;
}

int luaopen_naive(lua_State *L);
int luaopen_naive(lua_State *L)
{
    static const luaL_Reg functions[] = { { "window", window }, { "button", button }, { "add", add },
                                          { "on_click", on_click }, { "live", live }, { "__gc", gc }, { NULL, NULL } };
    rrc_heap *heap = rrc_heap_new(&(rrc_desc){ .trace = trace, .survivor = survivor });
    luaL_newmetatable(L, "naive widget");
    for (const luaL_Reg *f = functions; f->name != NULL; f++) {
        lua_pushlightuserdata(L, heap);
        lua_pushcclosure(L, f->func, 1);
        lua_setfield(L, -2, f->name);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    return 1;
}
