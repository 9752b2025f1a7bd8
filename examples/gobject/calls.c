/* calls.c - calls from Lua to GObject and back, and their errors.
 *
 * An error of Lua jumps, which GObject's functions do not survive. So each call of Lua from C is protected. Its error
 * is kept, and raised by the method that made C run the handler, when GObject has returned. If no method has, as when
 * the program's own main loop runs, it is a warning of GLib.
 */
#include "gobject.h"

#include <stdarg.h>
#include <string.h>

/* What the registry has of a state. The errors are in a table: the depth -> the first error. */
#define STATE "gobject.state"
#define ERRORS "gobject.errors"
#define TRACEBACK "gobject.traceback"

typedef struct call_state {
    int        depth;                   /* methods that have called GObject, one inside of the other */
    GMainLoop *loop;                    /* of the innermost G.run(), or NULL */
    int        loop_depth;              /* its depth */
} call_state;

static call_state *state_of(lua_State *L)
{
    call_state *state;
    lua_getfield(L, LUA_REGISTRYINDEX, STATE);
    state = (call_state *)lua_touserdata(L, -1);
    lua_pop(L, 1);
    return state;
}

void go_open_calls(lua_State *L)
{
    memset(lua_newuserdata(L, sizeof(call_state)), 0, sizeof(call_state));
    lua_setfield(L, LUA_REGISTRYINDEX, STATE);
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, ERRORS);
    lua_getglobal(L, "debug");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "traceback");
        lua_setfield(L, LUA_REGISTRYINDEX, TRACEBACK);
    }
    lua_pop(L, 1);
}

/* ---- from Lua to GObject ---- */

void go_enter(lua_State *L, GObject *object)
{
    if (object != NULL)
        g_object_ref(object);
    state_of(L)->depth++;
}

gboolean go_leave_with_error(lua_State *L, GObject *object)
{
    call_state *state = state_of(L);
    int depth = state->depth;
    if (object != NULL) {
        rrc_heap *heap = rrc_lua_heap(L);
        rrc_measure(heap, (rrc_object *)go_find(heap, object));
        g_object_unref(object);             /* can run handlers, too */
    }
    state->depth--;
    lua_getfield(L, LUA_REGISTRYINDEX, ERRORS);
    lua_rawgeti(L, -1, depth);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 2);
        return FALSE;
    }
    lua_pushnil(L);
    lua_rawseti(L, -3, depth);
    lua_remove(L, -2);
    return TRUE;
}

int go_leave(lua_State *L, GObject *object, int n)
{
    return go_leave_with_error(L, object) ? lua_error(L) : n;
}

/* ---- from GObject to Lua ---- */

typedef struct protected_call {
    lua_CFunction function;
    void         *data;
    gboolean      is_done;
} protected_call;

/* The handler of errors: a text gets a traceback. That of a handler inside of this one has all there is to say. */
static int add_traceback(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING || strstr(lua_tostring(L, 1), "\nstack traceback:") != NULL)
        return 1;
    lua_getfield(L, LUA_REGISTRYINDEX, TRACEBACK);
    if (lua_isfunction(L, -1)) {
        lua_pushvalue(L, 1);
        lua_pushinteger(L, 2);
        lua_call(L, 2, 1);
    } else {
        lua_settop(L, 1);
    }
    return 1;
}

/* The error on top is kept, or becomes a warning. */
static void keep_error(lua_State *L)
{
    call_state *state = state_of(L);
    if (state->loop != NULL && state->depth == state->loop_depth)
        g_main_loop_quit(state->loop);
    lua_getfield(L, LUA_REGISTRYINDEX, ERRORS);
    lua_rawgeti(L, -1, state->depth);
    if (state->depth == 0 || !lua_isnil(L, -1)) {
        lua_pop(L, 2);
        g_warning("error in a handler: %s",
                  lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1));
        return;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, state->depth);
    lua_pop(L, 1);
}

static int call_protected(lua_State *L)
{
    protected_call *call = (protected_call *)lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_pushcfunction(L, add_traceback);
    lua_pushcfunction(L, call->function);
    lua_pushlightuserdata(L, call->data);
    call->is_done = lua_pcall(L, 1, 0, 1) == 0;
    if (!call->is_done)
        keep_error(L);
    return 0;
}

/* (A closed state has no thread any more.) */
gboolean go_call(rrc_heap *heap, lua_CFunction function, void *data)
{
    protected_call call;
    call.function = function;
    call.data = data;
    call.is_done = FALSE;
    if (rrc_lua_state(heap) != NULL && rrc_lua_protect(heap, call_protected, &call) != 0)
        g_warning("a handler could not be called: there is no memory");
    return call.is_done;
}

/* ---- the main loop ---- */

int go_run(lua_State *L)
{
    call_state *state = state_of(L);
    call_state outer = *state;
    go_enter(L, NULL);
    state->loop = g_main_loop_new(NULL, FALSE);
    state->loop_depth = state->depth;
    g_main_loop_run(state->loop);
    g_main_loop_unref(state->loop);
    state->loop = outer.loop;
    state->loop_depth = outer.loop_depth;
    return go_leave(L, NULL, 0);
}

int go_quit(lua_State *L)
{
    call_state *state = state_of(L);
    if (state->loop == NULL)
        return luaL_error(L, "no main loop runs");
    g_main_loop_quit(state->loop);
    return 0;
}

/* ---- errors of arguments ---- */

/* A metamethod is called by a function of rrc_lua.h: the script is further up. */
int go_error(lua_State *L, const char *format, ...)
{
    va_list list;
    int level;
    for (level = 1; level <= 3; level++) {
        luaL_where(L, level);
        if (lua_tostring(L, -1)[0] != '\0')
            break;
        if (level < 3)
            lua_pop(L, 1);
    }
    va_start(list, format);
    lua_pushvfstring(L, format, list);
    va_end(list);
    lua_concat(L, 2);
    return lua_error(L);
}
