/* random.c - the random programs of random.lua, each in a state of its own, whose allocations
 * fail at random. From 5.3 on Lua then collects everything at once, in the middle of whatever it
 * does, and tries again, which succeeds. (5.1 and LuaJIT do not try again, and 5.2 has a fault
 * of its own there, see README.md: with these nothing fails.)
 *
 *     random FIRST COUNT STEPS MODE
 *     random FIRST COUNT quiet    the programs of quiet.lua; nothing fails
 *     random soak SECONDS         seeds from 1 on, in several modes; memory must stay flat
 */
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"
#include "rrc_lua_insight.h"
#include "nodes.h"

#include <stdlib.h>
#include <string.h>
#include <lualib.h>

#include "soak.h"
#include "rawrefcount.c"                    /* the module */

enum { SOAK_STEPS = 3000 };

static unsigned long failures, operations, first_seed = 1, last_seed;

#if LUA_VERSION_NUM >= 503
static lua_Alloc real_alloc;
static lua_State *running;                  /* NULL: nothing fails */
static uint32_t choices;                    /* Marsaglia's xorshift */
static uint32_t rate;                       /* one of so many allocations fails */
static const void *failed_block;            /* what failed last: that is tried again */
static size_t failed_size;

static int must_fail(const void *ptr, size_t new_size)
{
    if (running == NULL || (LUA_VERSION_NUM >= 505 && ptr != NULL))
        return 0;                           /* (5.5 does not try again to make a stack larger) */
    if (failed_size > 0) {                  /* (until then the collection can allocate, too) */
        if (failed_size == new_size && failed_block == ptr)
            failed_size = 0;
        return 0;
    }
    choices ^= choices << 13;
    choices ^= choices >> 17;
    choices ^= choices << 5;
    if (choices % rate != 0 || lua_gc(running, LUA_GCISRUNNING, 0) != 1)
        return 0;                           /* (when the collector is stopped, Lua does not try again) */
    failed_block = ptr;
    failed_size = new_size;
    failures++;
    return 1;
}

static void *failing_alloc(void *data, void *ptr, size_t old_size, size_t new_size)
{
    if (new_size > (ptr != NULL ? old_size : 0) && must_fail(ptr, new_size))
        return NULL;
    return real_alloc(data, ptr, old_size, new_size);
}

static void start_failing(lua_State *L, unsigned long seed)
{
    void *data;
    real_alloc = lua_getallocf(L, &data);
    failed_size = 0;
    lua_setallocf(L, failing_alloc, data);
    choices = (uint32_t)seed * 2654435761u | 1;
    rate = 20u << seed % 6;
    running = L;
}

static void stop_failing(void)
{
    running = NULL;
}
#else
static void start_failing(lua_State *L, unsigned long seed) { (void)L, (void)seed; }
static void stop_failing(void) { }
#endif

static lua_State *open_state(void)
{
    static const luaL_Reg modules[] = { { "rawrefcount", luaopen_rawrefcount }, { "nodes", luaopen_nodes } };
    lua_State *L = luaL_newstate();
    size_t i;
    check(L != NULL);
    luaL_openlibs(L);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (i = 0; i < sizeof modules / sizeof *modules; i++) {
        lua_pushcfunction(L, modules[i].func);
        lua_setfield(L, -2, modules[i].name);
    }
    lua_settop(L, 0);
    return L;
}

/* A script's program for this seed. The state must leave no node. */
static void run_script(const char *script, unsigned long seed, unsigned long steps, const char *mode, int fails)
{
    lua_State *L = open_state();
    int status = luaL_loadfile(L, script);
    lua_pushnumber(L, (lua_Number)seed);
    lua_pushnumber(L, 1);
    lua_pushnumber(L, (lua_Number)steps);
    lua_pushstring(L, mode);
    lua_pushboolean(L, 1);
    if (fails)
        start_failing(L, seed);
    status = status != 0 ? status : lua_pcall(L, 5, 1, 0);
    stop_failing();
    if (status != 0)
        unit_fail(__FILE__, __LINE__, "%s", lua_tostring(L, -1));
    if (!lua_toboolean(L, -1))
        unit_fail(__FILE__, __LINE__, "seed %lu, %s: it failed, see above", seed, mode);
    operations += steps;
    last_seed = seed;
    lua_close(L);
    check_ptr(all_nodes.next, &all_nodes);
}

static void run(unsigned long seed, unsigned long steps, const char *mode)
{
    run_script("bindings/lua/tests/random.lua", seed, steps, mode, 1);
}

static void run_to_soak(unsigned long seed, unsigned steps)
{
    static const char *const modes[] = { "rare", "rare", "sliced", "stepped", "incremental", "stressed" };
    run(seed, steps, modes[seed % (sizeof modes / sizeof *modes)]);
}

int main(int argc, char **argv)
{
    unsigned long count, seed;
    int result = 0;
    if (argc == 3 && strcmp(argv[1], "soak") == 0) {
        result = soak("random", strtoul(argv[2], NULL, 10), run_to_soak, SOAK_STEPS);
    } else if (argc == 5) {
        first_seed = strtoul(argv[1], NULL, 10);
        count = strtoul(argv[2], NULL, 10);
        for (seed = first_seed; seed < first_seed + count; seed++) {
            unit_context("repeat with: random %lu 1 %s %s", seed, argv[3], argv[4]);
            run(seed, strtoul(argv[3], NULL, 10), argv[4]);
        }
        printf("1 passed, 0 failed\n");
    } else if (argc == 4 && strcmp(argv[3], "quiet") == 0) {
        first_seed = strtoul(argv[1], NULL, 10);
        count = strtoul(argv[2], NULL, 10);
        for (seed = first_seed; seed < first_seed + count; seed++) {
            unit_context("repeat with: random %lu 1 quiet", seed);
            run_script("bindings/lua/tests/quiet.lua", seed, 1, "quiet", 0);
        }
        printf("1 passed, 0 failed\n");
    } else {
        fprintf(stderr, "usage: random FIRST COUNT STEPS MODE, random FIRST COUNT quiet, or random soak SECONDS\n");
        return 2;
    }
    fprintf(stderr, "%s: %lu operations, seeds %lu to %lu; %lu allocations failed\n", LUA_VERSION, operations,
            first_seed, last_seed, failures);
    return result;
}
