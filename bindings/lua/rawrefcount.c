/* rawrefcount.c - the Lua module `rawrefcount`, for scripts that use objects of C:
 *
 *     local rawrefcount = require "rawrefcount"
 *     rawrefcount.collect()       -- collect garbage of Lua and C now; how many objects of C went
 *     rawrefcount.step()          -- tell Lua's collector what C refers to (it is told anyway, at times)
 *     rawrefcount.stats()         -- a table of numbers
 *     rawrefcount.explain(x)      -- in words: why C's part of x is alive; nil if x has no part in C
 *     rawrefcount.graph()         -- all of it in the language of Graphviz
 *
 * It shares the heap with the modules that bind C libraries (see rrc_lua.h).
 */
#define RAWREFCOUNT_STATIC
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"

/* Text that is written piece by piece, by a function that must not call Lua. */
typedef struct text {
    char  *bytes;
    size_t size, capacity;
    int    is_lost;             /* there was no memory */
} text;

static void text_write(void *arg, const char *bytes, size_t size)
{
    text *t = (text *)arg;
    if (t->is_lost)
        return;
    if (t->capacity - t->size < size) {
        size_t capacity = t->capacity * 2 + size + 1000;
        char *grown = (char *)realloc(t->bytes, capacity);
        if (grown == NULL) {
            t->is_lost = 1;
            return;
        }
        t->bytes = grown;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static int text_push_protected(lua_State *L)
{
    const text *t = (const text *)lua_touserdata(L, 1);
    lua_pushlstring(L, t->bytes != NULL ? t->bytes : "", t->size);
    lua_setfield(L, LUA_REGISTRYINDEX, "rawrefcount.text");
    return 0;
}

/* Push what was written, free it, and raise what went wrong. */
static int text_push(lua_State *L, text *t, int code)
{
    int status = 0;
    if (code == RRC_OK && t->is_lost)
        code = RRC_ENOMEM;
    if (code == RRC_OK)
        status = rrcl_pcall(L, text_push_protected, t);
    free(t->bytes);
    if (code != RRC_OK)
        return luaL_error(L, "%s", rrc_error_message(code));
    if (status != 0)
        return lua_error(L);
    lua_getfield(L, LUA_REGISTRYINDEX, "rawrefcount.text");
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, "rawrefcount.text");
    return 1;
}

static int module_collect(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)rrc_lua_collect(L, rrc_lua_heap(L)));
    return 1;
}

static int module_step(lua_State *L)
{
    int code = rrc_lua_step(L, rrc_lua_heap(L));
    if (code != RRC_OK && code != RRC_EPHASE)
        return luaL_error(L, "%s", rrc_error_message(code));
    lua_pushboolean(L, code == RRC_OK);
    return 1;
}

static int module_stats(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_stats stats;
    if (rrc_get_stats(heap, &stats) != RRC_OK)
        return luaL_error(L, "the heap is closed");
    lua_newtable(L);
#define FIELD(name, value) (lua_pushnumber(L, (lua_Number)(value)), lua_setfield(L, -2, name))
    FIELD("objects", stats.objects);
    FIELD("proxies", stats.o_old + stats.o_young);
    FIELD("values", stats.p_old + stats.p_young);
    FIELD("tracked", stats.tracked);
    FIELD("weak", stats.weak);
    FIELD("nodes", stats.edge_nodes);
    FIELD("steps", stats.mirror_steps);
    FIELD("mirrored", stats.mirrored);
    FIELD("pending", stats.pending);
    FIELD("garbage", stats.garbage);
    FIELD("uncollectable", stats.uncollectable);
    FIELD("memory", stats.memory);
    FIELD("native", ((rrcl_state *)rrc_userdata(heap))->native);
#undef FIELD
    return 1;
}

static int module_explain(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    text t = { NULL, 0, 0, 0 };
    rrc_object *ob;
    int code;
    luaL_checkany(L, 1);
    ob = rrc_lua_peek(L, heap, 1);
    if (ob == NULL) {
        lua_pushnil(L);
        return 1;
    }
    code = rrc_explain(heap, ob, text_write, &t);
    return text_push(L, &t, code);
}

static int module_graph(lua_State *L)
{
    text t = { NULL, 0, 0, 0 };
    int code = rrc_dump_dot(rrc_lua_heap(L), text_write, &t);
    return text_push(L, &t, code);
}

static const luaL_Reg module_functions[] = {
    { "collect", module_collect }, { "step", module_step }, { "stats", module_stats },
    { "explain", module_explain }, { "graph", module_graph }, { NULL, NULL },
};

#if defined(_WIN32)
__declspec(dllexport)
#endif
int luaopen_rawrefcount(lua_State *L);

int luaopen_rawrefcount(lua_State *L)
{
    static const rrc_lua_class *const no_classes[] = { NULL };
    rrc_lua_heap(L);
    rrc_lua_module(L, no_classes, module_functions);
    lua_pushliteral(L, RRC_LUA_VERSION);
    lua_setfield(L, -2, "_VERSION");
    return 1;
}
