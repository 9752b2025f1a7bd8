/* bench.c - what the binding costs, beside what a plain binding would pay: nanoseconds,
 * the best of some rounds; and bytes. bench LUA [LINKED_OBJECTS] */
#define _POSIX_C_SOURCE 200809L
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "nodes.h"

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Can be asked how much is allocated? */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#define HAS_MALLINFO 1
#include <malloc.h>
#else
#define HAS_MALLINFO 0
#endif

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

static void push_weak_table(void)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
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

static int traceback(lua_State *state)
{
    lua_getglobal(state, "debug");
    lua_getfield(state, -1, "traceback");
    lua_pushvalue(state, 1);
    lua_call(state, 1, 1);
    return 1;
}

static int callback_ref;                        /* of the function at 2 */
static rrc_object *callback_ob;

static void call_plain(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        lua_pushcfunction(L, traceback);
        lua_rawgeti(L, LUA_REGISTRYINDEX, callback_ref);
        lua_pushlightuserdata(L, node_ob);
        lua_rawget(L, 1);
        if (lua_pcall(L, 1, 0, -3) != 0)
            exit(1);
        lua_pop(L, 1);
    }
}

static void call(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i++)
        if (rrc_lua_call(heap, callback_ob, 1, &node_ob) != 0)
            exit(1);
}

/* A binding by hand for the same library, whose objects are counted and have a type: a userdata has the address of its
   object, a weak table finds the userdata again, and a callback is an object that owns a reference of luaL_ref. */
typedef struct plain_callback {
    long        count;
    const void *type;
    lua_State  *L;
    int         ref;
} plain_callback;

typedef struct plain_object {
    long            count;
    const void     *type;
    int             id;
    plain_callback *callback;
    char            rest[sizeof(node) - offsetof(node, field[1])];
} plain_object;

/* A script's loops: objects of a plain binding, whose __index is a function that looks for a method, and
   then for a getter. */
static int plain_id(lua_State *state)
{
    lua_pushinteger(state, (*(plain_object **)luaL_checkudata(state, 1, "plain"))->id);
    return 1;
}

static int plain_index(lua_State *state)
{
    lua_pushvalue(state, 2);
    lua_rawget(state, lua_upvalueindex(1));
    if (!lua_isnil(state, -1))
        return 1;
    lua_pushvalue(state, 2);
    lua_rawget(state, lua_upvalueindex(2));
    if (lua_isnil(state, -1))
        return 1;
    lua_pushvalue(state, 1);
    lua_call(state, 1, 1);
    return 1;
}

/* Objects whose type has nothing of the tests in it. */
static const rrc_member small_members[] = { { "1", offsetof(node, field[0]) }, { NULL, 0 } };
static const rrc_type small_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Small", .tp_basicsize = sizeof(node),
                                     .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = small_members };

static int small_id(lua_State *state)
{
    lua_pushinteger(state, ((const node *)rrc_lua_check(state, 1, NULL))->id);
    return 1;
}

static int small_set(lua_State *state)
{
    node *n = (node *)rrc_lua_check(state, 1, NULL);
    n->field[0] = rrc_lua_ref(state, rrc_lua_heap(state), 2);
    return 0;
}

static int small_new(lua_State *state)
{
    node *n = (node *)rrc_gc_new(heap, &small_type);
    n->id = (int)luaL_checkinteger(state, 1);
    rrc_gc_track(heap, &n->head);
    return rrc_lua_give(state, heap, &n->head);
}

static const luaL_Reg small_methods[] = { { "set", small_set }, { NULL, NULL } };
static const rrc_lua_property small_properties[] = { { "id", small_id, NULL }, { NULL, NULL, NULL } };
static const rrc_lua_class Small = { .type = &small_type, .methods = small_methods, .properties = small_properties };

static int plain_gc(lua_State *state)
{
    plain_object *object = *(plain_object **)lua_touserdata(state, 1);
    plain_callback *callback = object->callback;
    if (--object->count > 0)
        return 0;
    if (callback != NULL && --callback->count == 0) {
        luaL_unref(callback->L, LUA_REGISTRYINDEX, callback->ref);
        free(callback);
    }
    free(object);
    return 0;
}

static int plain_new(lua_State *state)
{
    plain_object **place = (plain_object **)lua_newuserdata(state, sizeof(plain_object *));
    *place = (plain_object *)calloc(1, sizeof(plain_object));
    (*place)->count = 1;
    (*place)->id = (int)luaL_checkinteger(state, 1);
    luaL_getmetatable(state, "plain");
    lua_setmetatable(state, -2);
    lua_pushlightuserdata(state, *place);
    lua_pushvalue(state, -2);
    lua_rawset(state, lua_upvalueindex(1));
    return 1;
}

static int plain_set(lua_State *state)
{
    plain_object *object = *(plain_object **)luaL_checkudata(state, 1, "plain");
    plain_callback *callback = (plain_callback *)calloc(1, sizeof(plain_callback));
    callback->count = 1;
    callback->L = state;
    callback->ref = luaL_ref(state, LUA_REGISTRYINDEX);
    object->callback = callback;
    return 0;
}

static void open_plain(void)
{
    luaL_getmetatable(L, "plain");
    lua_newtable(L);
    lua_pushcfunction(L, plain_set);
    lua_setfield(L, -2, "set");
    lua_newtable(L);
    lua_pushcfunction(L, plain_id);
    lua_setfield(L, -2, "id");
    lua_pushcclosure(L, plain_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, plain_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    push_weak_table();
    lua_pushcclosure(L, plain_new, 1);
    lua_setglobal(L, "plain_new");
    rrc_lua_register(L, &Small);
    lua_pop(L, 1);
    lua_pushcfunction(L, small_new);
    lua_setglobal(L, "small_new");
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

static char script[300];

static void run_script(void) { run(script); }

static void open_state(void)
{
    L = luaL_newstate();
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_nodes);
    lua_call(L, 0, 1);
    lua_setglobal(L, "nodes");
    heap = rrc_lua_heap(L);
    luaL_newmetatable(L, "plain");
    lua_pop(L, 1);
}

/* The loop of a script, where NEW makes an object. */
static void compare_scripts(const char *lua, const char *what, const char *text, int operations, const char *goal)
{
    static const char *const makers[] = { "small_new", "plain_new" };
    double least[2] = { 1e18, 1e18 };
    int round, i;
    for (round = 0; round < ROUNDS; round++)
        for (i = 0; i < 2; i++) {
            sprintf(script, "local new, n, collect = %s, %d, collectgarbage %s", makers[i], operations, text);
            run("collectgarbage()");
            time_once(run_script, operations, &least[i]);
        }
    row(lua, what, least[0], least[1], goal);
}

#if HAS_MALLINFO
/* Bytes that are allocated, with and without Lua. */
static double bytes(void)
{
    int has_own;
    run("collectgarbage() collectgarbage()");
    lua_getglobal(L, "jit");                    /* which has an allocator of its own */
    has_own = !lua_isnil(L, -1);
    lua_pop(L, 1);
    return (double)mallinfo2().uordblks + (has_own ? lua_gc(L, LUA_GCCOUNT, 0) * 1024.0 : 0);
}

/* What is there for each object of a list, with what it has; in a state of its own, whose tables are small. */
static double measure_memory(const char *maker, const char *text)
{
    lua_State *saved_L = L;
    rrc_heap *saved_heap = heap;
    double before, used;
    open_state();
    open_plain();
    run("list = {} for i = 1, 50000 do list[i] = true end");
    before = bytes();
    sprintf(script, "local new = %s for i = 1, 50000 do %s list[i] = w end", maker, text);
    run(script);
    if (rrc_lua_step(L, heap) != RRC_OK)
        exit(1);
    used = (bytes() - before) / 50000;
    lua_close(L);
    L = saved_L;
    heap = saved_heap;
    return used;
}

static void compare_memory(const char *lua, const char *what, const char *text, const char *goal)
{
    row(lua, what, measure_memory("small_new", text), measure_memory("plain_new", text), goal);
}
#endif

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
    row(lua, "is a step due then (0: no step at all)", rrc_closed_is_due(heap), 0, "goal: 0");
}

int main(int argc, char **argv)
{
    const char *lua = argc > 1 ? argv[1] : "lua";
    long links = argc > 2 ? atol(argv[2]) : 1000000;
    open_state();
    run("w = nodes.new(1)");
    lua_getglobal(L, "w");
    node_ob = rrc_lua_ref(L, heap, -1);
    push_weak_table();
    lua_pushlightuserdata(L, node_ob);
    lua_pushvalue(L, 1);
    lua_rawset(L, -3);
    lua_replace(L, 1);
    luaL_loadstring(L, "return 1");
    lua_newuserdata(L, sizeof(void *));
    luaL_getmetatable(L, "plain");
    lua_setmetatable(L, -2);
    lua_getglobal(L, "w");
    compare(lua, "incref and decref, with the check", counts_checked, counts_plain, OPERATIONS, "goal: + 0.5");
    compare(lua, "push of a live proxy", push, push_from_weak_table, OPERATIONS, "goal: x 1.1; LuaJIT 1.3");
    compare(lua, "callback reference", reference, reference_plain, OPERATIONS, "goal: x 1.5");
    compare(lua, "check of an argument", check, check_plain, OPERATIONS, "");
    compare(lua, "new proxy, and close", proxy, proxy_plain, OPERATIONS / 10, "");
    lua_pushvalue(L, 2);
    callback_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    callback_ob = rrc_lua_ref(L, heap, 2);
    compare(lua, "call of a callback with an object", call, call_plain, OPERATIONS, "goal: x 1.3");
    open_plain();
    compare_scripts(lua, "get a property, in a script", "local w, x = new(1) for i = 1, n do x = w.id end", OPERATIONS,
                    "goal: x 1.1; LuaJIT 1.3");
    compare_scripts(lua, "look a method up, in a script", "local w, x = new(1) for i = 1, n do x = w.set end", OPERATIONS, "");
    compare_scripts(lua, "make an object and drop it, in a script", "for i = 1, n do new(i) end collect()", OPERATIONS / 4,
                    "goal: x 2");
    compare_scripts(lua, "... with a fresh closure as callback",
                    "for i = 1, n do new(i):set(function() return i end) end collect()", OPERATIONS / 4,
                    "goal: x 2");
#if HAS_MALLINFO
    compare_memory(lua, "bytes of an object", "local w = new(i)", "goal: x 2");
    compare_memory(lua, "bytes of an object with a callback", "local w = new(i) w:set(function() return i end)", "goal: x 2");
#endif
    bench_steps(lua, links);
    return 0;
}
