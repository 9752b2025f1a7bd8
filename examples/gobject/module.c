/* module.c - the functions of the module `gobject`, and sources of the main loop.
 *
 * One thread: that of the Lua state. Signals that other threads emit, and sources of other contexts than the default
 * one, must not reach handlers in Lua.
 */
#include "gobject.h"

/* ---- sources: a function that the main loop calls ---- */

/* The source owns a reference to the function. Nobody explains it: the source holds the function until it is
   removed. */
typedef struct source_data {
    rrc_heap   *heap;
    rrc_object *function;
    gboolean    goes_on;
} source_data;

static int call_source_function(lua_State *L)
{
    source_data *source = (source_data *)lua_touserdata(L, 1);
    rrc_lua_push(L, source->heap, source->function);
    lua_call(L, 0, 1);
    source->goes_on = lua_toboolean(L, -1);
    return 0;
}

/* (GLib keeps the data until this returns, also if the function removes its source.) */
static gboolean call_source(gpointer data)
{
    source_data *source = (source_data *)data;
    source->goes_on = G_SOURCE_REMOVE;
    go_call(source->heap, call_source_function, source);
    return source->goes_on;
}

static void free_source(gpointer data)
{
    source_data *source = (source_data *)data;
    rrc_decref(source->heap, source->function);
    g_free(source);
}

static source_data *new_source(lua_State *L, int arg)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *function;
    source_data *source;
    luaL_checktype(L, arg, LUA_TFUNCTION);
    function = rrc_lua_ref(L, heap, arg);
    source = g_new0(source_data, 1);
    source->heap = heap;
    source->function = function;
    return source;
}

/* G.idle(function), G.timeout(milliseconds, function): called until it does not return true. They return a number
   for G.remove. */
static int add_idle(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, call_source,
                                                    new_source(L, 1), free_source));
    return 1;
}

static int add_timeout(lua_State *L)
{
    lua_Number interval = luaL_checknumber(L, 1);
    luaL_argcheck(L, interval >= 0 && interval <= G_MAXUINT, 1, "not a time");
    lua_pushinteger(L, (lua_Integer)g_timeout_add_full(G_PRIORITY_DEFAULT, (guint)interval, call_source,
                                                       new_source(L, 2), free_source));
    return 1;
}

/* G.remove(number): whether there was such a source. */
static int remove_source(lua_State *L)
{
    GSource *source = g_main_context_find_source_by_id(NULL, (guint)luaL_checknumber(L, 1));
    if (source != NULL)
        g_source_destroy(source);
    lua_pushboolean(L, source != NULL);
    return 1;
}

/* ---- types ---- */

/* G.new(type[, properties]) */
static int new_object(lua_State *L)
{
    GType type = go_check_type(L, 1);
    lua_settop(L, 2);
    if (!lua_isnil(L, 2))
        luaL_checktype(L, 2, LUA_TTABLE);
    return go_construct(L, type, lua_isnil(L, 2) ? 0 : 2);
}

/* G.type(object or class): the name of its type; nil: it has none. */
static int type_of(lua_State *L)
{
    const GObject *object = go_test(L, 1);
    GType type = object != NULL ? G_OBJECT_TYPE(object) : go_type_at(L, 1);
    luaL_checkany(L, 1);
    lua_pushstring(L, type != 0 ? g_type_name(type) : NULL);
    return 1;
}

int luaopen_gobject(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "new", new_object }, { "type", type_of }, { "subclass", go_subclass }, { "load", go_load },
        { "variant", go_new_variant }, { "idle", add_idle }, { "timeout", add_timeout }, { "remove", remove_source },
        { "run", go_run }, { "quit", go_quit }, { "owns", go_owns }, { "unexplained", go_get_unexplained },
        { "size", go_get_size }, { "call", go_generic_call }, { "require", go_require }, { NULL, NULL }
    };
    static const rrc_lua_class *const no_classes[] = { NULL };
    go_open_calls(L);
    rrc_lua_module(L, no_classes, functions);
    go_open_introspection(L);
    go_open_types(L);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, go_module_index);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}
