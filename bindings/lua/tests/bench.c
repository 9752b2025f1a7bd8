/* bench.c - what the binding costs, beside what a plain binding would pay: nanoseconds,
 * the best of some rounds. bench LUA [LINKED_OBJECTS] */
#define _POSIX_C_SOURCE 200809L
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "nodes.h"

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OPERATIONS = 200000, ROUNDS = 25 };

static lua_State *L;
static rrc_heap *heap;
static rrc_object *node_ob;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);       /* others may use the machine, too */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The compiler must not see through a count. */
#define OPAQUE(p) __asm__ volatile("" : "+r"(p) : : "memory")

static void counts_plain(void)
{
    rrc_object *ob = node_ob;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        OPAQUE(ob);
        ob->ob_refcnt++;
        OPAQUE(ob);
        if (--ob->ob_refcnt == 0)
            abort();
    }
}

static void counts_checked(void)
{
    rrc_object *ob = node_ob;
    rrc_heap *its_heap = heap;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        OPAQUE(ob);
        rrc_incref(its_heap, ob);
        OPAQUE(ob);
        rrc_decref(its_heap, ob);
    }
}

static void push_from_weak_table(void)          /* at 1: address -> proxy */
{
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        lua_pushlightuserdata(L, node_ob);
        lua_rawget(L, 1);
        lua_pop(L, 1);
    }
}

static void push(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        rrc_lua_push(L, heap, node_ob);
        lua_pop(L, 1);
    }
}

static void reference_plain(void)               /* at 2: a function */
{
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        lua_pushvalue(L, 2);
        luaL_unref(L, LUA_REGISTRYINDEX, luaL_ref(L, LUA_REGISTRYINDEX));
    }
}

static void reference(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i++)
        rrc_decref(heap, rrc_lua_ref(L, heap, 2));
}

static void check_plain(void)                   /* at 3: a proxy of a plain binding */
{
    int i;
    for (i = 0; i < OPERATIONS; i++)
        luaL_checkudata(L, 3, "plain");
}

static void check(void)                         /* at 4: the proxy of node_ob */
{
    int i;
    for (i = 0; i < OPERATIONS; i++)
        rrc_lua_check(L, 4, NULL);
}

static void proxy_plain(void)
{
    int i;
    for (i = 0; i < OPERATIONS / 10; i++) {
        lua_newuserdata(L, sizeof(void *));
        luaL_getmetatable(L, "plain");
        lua_setmetatable(L, -2);
        lua_pop(L, 1);
    }
}

static void proxy(void)                         /* new, as the one before was closed */
{
    int i;
    lua_getfield(L, 4, "close");
    for (i = 0; i < OPERATIONS / 10; i++) {
        rrc_lua_push(L, heap, node_ob);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_call(L, 1, 0);
    }
    lua_pop(L, 1);
}

static void row(const char *lua, const char *what, double ours, double plain, const char *goal)
{
    if (plain > 0)
        printf("%-8s %-44s %8.1f  plain %6.1f  x %5.2f  %s\n", lua, what, ours, plain, ours / plain, goal);
    else
        printf("%-8s %-44s %8.1f                        %s\n", lua, what, ours, goal);
    fflush(stdout);
}

static void time_once(void (*run)(void), int operations, double *least)
{
    double start = now(), time;
    run();
    time = (now() - start) / operations;
    if (time < *least)
        *least = time;
}

/* In turns, so that both see the same moods of the machine. */
static void compare(const char *lua, const char *what, void (*ours)(void), void (*plain)(void), int operations,
                    const char *goal)
{
    double least_ours = 1e18, least_plain = 1e18;
    int round;
    for (round = 0; round < ROUNDS; round++) {
        time_once(ours, operations, &least_ours);
        time_once(plain, operations, &least_plain);
    }
    row(lua, what, least_ours, least_plain, goal);
}

static void run(const char *text)
{
    if (luaL_loadstring(L, text) != 0 || lua_pcall(L, 0, 0, 0) != 0) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        exit(1);
    }
}

/* Widgets with a callback each that mentions them: two links for each. */
static void bench_steps(const char *lua, long links)
{
    char text[300];
    double start, first, again = 1e18;
    int round;
    sprintf(text, "collectgarbage('stop') all = {} for i = 1, %ld do local w = nodes.new(i) all[i] = w "
                  "w:set(1, function() return w end) end", links / 2);
    run(text);
    start = now();
    if (rrc_lua_step(L, heap) != RRC_OK)
        exit(1);
    first = (now() - start) / (double)links;
    for (round = 0; round < 3; round++) {
        double time;
        start = now();
        rrc_lua_step(L, heap);
        time = (now() - start) / (double)links;
        again = time < again ? time : again;
    }
    row(lua, "first step, per linked object", first, 0, "");
    row(lua, "step with nothing changed, per linked object", again, 0, "goal: <= 100");
    row(lua, "is a step due then (0: no step at all)", rrc_mirror_is_due(heap), 0, "goal: 0");
}

int main(int argc, char **argv)
{
    const char *lua = argc > 1 ? argv[1] : "lua";
    long links = argc > 2 ? atol(argv[2]) : 1000000;
    L = luaL_newstate();
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_nodes);
    lua_call(L, 0, 1);
    lua_setglobal(L, "nodes");
    heap = rrc_lua_heap(L);
    run("w = nodes.new(1)");
    lua_getglobal(L, "w");
    node_ob = rrc_lua_ref(L, heap, -1);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushlightuserdata(L, node_ob);
    lua_pushvalue(L, 1);
    lua_rawset(L, -3);
    lua_replace(L, 1);
    luaL_loadstring(L, "return 1");
    lua_newuserdata(L, sizeof(void *));
    luaL_newmetatable(L, "plain");
    lua_setmetatable(L, -2);
    lua_getglobal(L, "w");
    compare(lua, "incref and decref, with the check", counts_checked, counts_plain, OPERATIONS, "goal: + 0.5");
    compare(lua, "push of a live proxy", push, push_from_weak_table, OPERATIONS, "goal: x 1.2");
    compare(lua, "callback reference", reference, reference_plain, OPERATIONS, "goal: x 1.5");
    compare(lua, "check of an argument", check, check_plain, OPERATIONS, "");
    compare(lua, "new proxy, and close", proxy, proxy_plain, OPERATIONS / 10, "");
    bench_steps(lua, links);
    return 0;
}
