/* main.c SCRIPT [ARGUMENT] - runs a script with the module `gobject` and its helpers, all in one program: for
 * sanitizers. The state is closed while C still holds an object, and a source of the main loop is there. */
#include "../gobject.h"

#include <lualib.h>

extern int luaopen_gobject_foreign(lua_State *L);
extern int luaopen_rawrefcount(lua_State *L);

static void preload(lua_State *L, const char *name, lua_CFunction open)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_pushcfunction(L, open);
    lua_setfield(L, -2, name);
    lua_pop(L, 2);
}

static lua_State *new_state(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    preload(L, "rawrefcount", luaopen_rawrefcount);
    preload(L, "gobject", luaopen_gobject);
    preload(L, "gobject.foreign", luaopen_gobject_foreign);
    return L;
}

static gboolean has_failed;

static void run(lua_State *L, int status)
{
    if (status == 0)
        return;
    fprintf(stderr, "FAILED: %s\n", lua_tostring(L, -1));
    has_failed = TRUE;
}

/* Two states know the same object; the first is closed while C holds it. */
static const char held_script[] =
    "local G, foreign = require 'gobject', require 'gobject.foreign'\n"
    "local a, name = G.SimpleAction('a'), ...\n"
    "local Type = G.subclass(name, 'GObject', { properties = { any = 'GObject', text = 'string' } })\n"
    "local t = Type { any = a, text = 'text' }\n"
    "a:connect('activate', function() return t end)\n"
    "foreign.hold(a) foreign.hold(t) foreign.watch(a) foreign.watch(t)\n"
    "G.timeout(100000, function() return t end)\n"
    "G.idle(function() return true end)\n"
    "local is_there, GLib = pcall(G.require, 'GLib')\n"
    "if is_there then\n"
    "  GLib.timeout_add(0, 100000, function() return t ~= nil end)\n"
    "  GLib.idle_add(200, function() return t ~= nil end)\n"
    "end\n";
static const char other_script[] =
    "local G, foreign = require 'gobject', require 'gobject.foreign'\n"
    "local a, t, runs = foreign.held(1), foreign.held(2), 0\n"
    "a:connect('activate', function(self) runs = runs + 1 assert(self == a) end)\n"
    "a:activate()\n"
    "assert(runs == 1 and a.name == 'a')\n"
    "return t.text, t.any == a\n";
static const char last_script[] =
    "assert(require('gobject.foreign').finalized() == ... + 2, 'an object leaks')\n";

static void test_states(void)
{
    lua_State *first = new_state(), *second = new_state(), *last;
    lua_Integer before;
    lua_getglobal(second, "require");
    lua_pushliteral(second, "gobject.foreign");
    lua_call(second, 1, 1);
    lua_getfield(second, -1, "finalized");
    lua_call(second, 0, 1);
    before = lua_tointeger(second, -1);
    run(first, luaL_loadstring(first, held_script));
    lua_pushliteral(first, "HeldType");
    run(first, lua_pcall(first, 1, 0, 0));
    run(second, luaL_dostring(second, other_script));
    if (g_strcmp0(lua_tostring(second, -2), "text") != 0 || !lua_toboolean(second, -1)) {
        fprintf(stderr, "FAILED: properties in another state\n");
        has_failed = TRUE;
    }
    lua_close(first);
    g_main_context_iteration(NULL, FALSE);      /* the source finds that its state is closed */
    run(second, luaL_dostring(second, other_script));
    if (!lua_isnil(second, -2) || lua_toboolean(second, -1)) {
        fprintf(stderr, "FAILED: properties of a closed state\n");
        has_failed = TRUE;
    }
    run(second, luaL_dostring(second, "require('gobject.foreign').drop()"));
    lua_close(second);
    last = new_state();
    run(last, luaL_loadstring(last, last_script));
    lua_pushinteger(last, before);
    run(last, lua_pcall(last, 1, 0, 0));
    lua_close(last);
}

int main(int argc, char **argv)
{
    lua_State *L = new_state();
    int i;
    run(L, argc > 1 ? luaL_loadfile(L, argv[1]) : 1);
    for (i = 2; i < argc; i++)
        lua_pushstring(L, argv[i]);
    run(L, lua_pcall(L, argc - 2, 0, 0));
    lua_close(L);
    test_states();
    return has_failed;
}
