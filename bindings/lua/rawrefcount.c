/* rawrefcount.c - the Lua module `rawrefcount`, for scripts that use objects of C:
 *
 *     local rawrefcount = require "rawrefcount"
 *     rawrefcount.collect()       -- collect garbage of Lua and C now; how many objects of C went
 *     rawrefcount.collect(true)   -- the same, but owners go before what they own
 *     rawrefcount.step()          -- tell Lua's collector what C refers to (it is told anyway, at times)
 *     rawrefcount.step(n)         -- a slice of that, of n units; true: the step has ended
 *     rawrefcount.stats()         -- a table of numbers
 *     rawrefcount.explain(x)      -- in words: why C's part of x is alive, with the whole path from a global, a
 *                                    local or C through both heaps; nil if x has no part in C
 *     rawrefcount.snapshot(file, bar)  -- both heaps, for the memory panel of Chrome; bar: with a bar on
 *                                    stderr, if that is a terminal, which shows how far it is
 *     rawrefcount.graph()         -- C's part in the language of Graphviz
 *     rawrefcount.pairs(object)   -- pairs of an object of C, for Lua 5.1 and LuaJIT
 *
 * It shares the heap with the modules that bind C libraries (see rrc_lua.h).
 */
#define RAWREFCOUNT_STATIC
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"
#include "rrc_lua_insight.h"

RRC_LUA_MODULE int luaopen_rawrefcount(lua_State *L);
RRC_LUA_MODULE int luaopen_rawrefcount(lua_State *L)
{
    rrc_lua_define_insight(L);
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_getfield(L, -1, "rawrefcount");
    return 1;
}
