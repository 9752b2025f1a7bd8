/* pauses.c - how long a single call into the binding is while many objects live, each with a proxy and a callback
 * that mentions it:
 *
 *     pauses LUA OBJECTS...    prints the longest of each kind, in milliseconds
 *     pauses test OBJECTS...   counts the work of each call, which must be bounded for any number of objects: units
 *                              of steps, deallocs, and accesses to tables of Lua
 *
 * The automatic collector is stopped, and `tick` drives it between the calls, at the pace of Lua's own, or at once if the
 * binding asks for a cycle. So its time is known apart. What Lua's collector does inside a call, as the binding calls it,
 * belongs to that call, and is more than a call may do. Calls can be nested: each has the time that it spends itself. */
#define _POSIX_C_SOURCE 200809L
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "rrc_closed.h"

#include <lua.h>
#include <lauxlib.h>

static size_t work;             /* of the binding, up to now */

static size_t counted_closed_work(rrc_heap *heap, size_t max)
{
    size_t units = rrc_closed_work(heap, max);
    work += units;
    return units;
}

static size_t counted_run_pending(rrc_heap *heap, size_t max)
{
    size_t count = rrc_run_pending(heap, max);
    work += count;
    return count;
}

static int timed_gc(lua_State *L, int what, int data);

/* What the binding asks of Lua and of the header. */
#define lua_gc(L, what, data) timed_gc((L), (what), (int)(data))
#define lua_rawget(L, index) (work++, lua_rawget((L), (index)))
#define lua_rawset(L, index) (work++, lua_rawset((L), (index)))
#define lua_rawgeti(L, index, i) (work++, lua_rawgeti((L), (index), (i)))
#define lua_rawseti(L, index, i) (work++, lua_rawseti((L), (index), (i)))
#define lua_next(L, index) (work++, lua_next((L), (index)))
#define rrc_closed_work counted_closed_work
#define rrc_run_pending counted_run_pending
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"
#undef lua_gc
#undef lua_rawget
#undef lua_rawset
#undef lua_rawgeti
#undef lua_rawseti
#undef lua_next

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);         /* others may use the machine, too */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- whose time is it? ---- */

enum { LUA, MAKE, TAKE, FINALIZE, SENTINEL, STEP, OTHER, KINDS };
static const char *const names[KINDS] = { "Lua's collector", "new object", "new callback", "__gc of a proxy",
                                          "end of a cycle", "step(n)", "" };
static double longest[KINDS], started;
static size_t most[KINDS], work_before;
static int kinds[100], depth;
static double spent[100];
static size_t done[100];

static void enter(int kind)
{
    double t = now();
    if (depth > 0) {
        spent[depth - 1] += t - started;
        done[depth - 1] += work - work_before;
    }
    kinds[depth] = kind;
    done[depth] = 0;
    spent[depth++] = 0;
    work_before = work;
    started = now();
}

static void leave(void)
{
    double t = now();
    spent[--depth] += t - started;
    done[depth] += work - work_before;
    work_before = work;
    if (spent[depth] > longest[kinds[depth]])
        longest[kinds[depth]] = spent[depth];
    if (done[depth] > most[kinds[depth]])
        most[kinds[depth]] = done[depth];
    started = now();
}

static int next_kbytes, is_in_cycle;

/* A call may do so much. The longest ones do the first slice of a cycle, or fill the tables of a new shard. */
#define MOST_WORK 60000

static int timed_gc(lua_State *L, int what, int data)
{
    int result;
#ifdef LUA_GCISRUNNING
    if (what == LUA_GCISRUNNING)
        return 1;
#endif
    if (what == LUA_GCRESTART) {                /* the next tick goes on */
        next_kbytes = INT_MIN / 2;
        return 0;
    }
    result = lua_gc(L, what, data);
    if (what == LUA_GCSTEP || what == LUA_GCCOLLECT) {
        work += MOST_WORK + 1;
        lua_gc(L, LUA_GCSTOP, 0);               /* 5.1 has started it again */
    }
    return result;
}

/* A function that is timed: upvalues are its kind and the function. */
static int timed_call(lua_State *L)
{
    lua_CFunction function = lua_tocfunction(L, lua_upvalueindex(2));
    int results;
    enter((int)lua_tointeger(L, lua_upvalueindex(1)));
    results = function(L);
    leave();
    return results;
}

/* Replace the function on top. */
static void time_it(lua_State *L, int kind)
{
    lua_pushinteger(L, kind);
    lua_insert(L, -2);
    lua_pushcclosure(L, timed_call, 2);
}

/* ---- the library ---- */

typedef struct thing {
    rrc_object  head;
    rrc_object *callback;
} thing;

static const rrc_member members[] = { { "callback", offsetof(thing, callback) }, { NULL, 0 } };
static const rrc_type thing_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Thing",
                                     .tp_basicsize = sizeof(thing),
                                     .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = members };
static const rrc_lua_class Thing = { .type = &thing_type };
static rrc_heap *heap;

static int thing_new(lua_State *L)
{
    rrc_object *ob = rrc_gc_new(heap, &thing_type);
    if (ob != NULL && rrc_gc_track(heap, ob) != RRC_OK)
        RRC_CLEAR(heap, ob);
    return rrc_lua_give(L, heap, ob);
}

static int thing_set(lua_State *L)
{
    rrc_object *callback = rrc_lua_ref(L, heap, 2);
    thing *t = (thing *)rrc_lua_check(L, 1, &Thing);
    rrc_object *old = t->callback;
    t->callback = callback;
    if (old != NULL)
        rrc_decref(heap, old);
    return 0;
}

/* The same without the binding. */
static int plain_new(lua_State *L)
{
    lua_newuserdata(L, sizeof(thing));
    luaL_getmetatable(L, "plain");
    lua_setmetatable(L, -2);
    return 1;
}

static int plain_set(lua_State *L)
{
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 2);
    lua_rawseti(L, -2, 1);
    rrcl_set_uservalue(L, 1);
    return 0;
}

static int nothing(lua_State *L) { (void)L; return 0; }

/* ---- Lua's pace ---- */

#define STEP_KBYTES 16

static int tick(lua_State *L)
{
    int kbytes = lua_gc(L, LUA_GCCOUNT, 0);
    if (!is_in_cycle && kbytes < next_kbytes)
        return 0;
    if (is_in_cycle && kbytes < next_kbytes + STEP_KBYTES)
        return 0;
    is_in_cycle = 1;
    next_kbytes = kbytes;
    enter(LUA);
#if LUA_VERSION_NUM >= 505
    if (lua_gc(L, LUA_GCSTEP, (size_t)STEP_KBYTES << 10))
#else
    if (lua_gc(L, LUA_GCSTEP, STEP_KBYTES))
#endif
        is_in_cycle = 0;
    lua_gc(L, LUA_GCSTOP, 0);
    leave();
    if (!is_in_cycle)
        next_kbytes = 2 * lua_gc(L, LUA_GCCOUNT, 0);
    return 0;
}

static int frame_step(lua_State *L)
{
    enter(STEP);
    rrc_lua_work(L, heap, 2000);
    leave();
    return 0;
}

static void run(lua_State *L, const char *text, long n)
{
    if (luaL_loadstring(L, text) != 0)
        exit(1);
    lua_pushinteger(L, n);
    if (lua_pcall(L, 1, 0, 0) != 0) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        exit(1);
    }
}

static int is_test, failed;

static void rows(const char *lua, long n, const char *what, int is_ours)
{
    int kind;
    double worst = 0;
    for (kind = LUA; kind < OTHER; kind++) {
        if (!is_test && longest[kind] > 0)
            printf("%-8s %8ld objects, %-16s %-18s %8.2f ms\n", lua, n, what, names[kind], longest[kind]);
        if (is_test && is_ours && kind != LUA) {
            printf("%8ld objects, %-16s %-18s %8lu\n", n, what, names[kind], (unsigned long)most[kind]);
            if (most[kind] > MOST_WORK) {
                failed++;
                printf("FAILED: more than %d\n", MOST_WORK);
            }
        }
        if (kind != LUA && longest[kind] > worst)
            worst = longest[kind];
        longest[kind] = 0;
        most[kind] = 0;
    }
    if (!is_test)
        printf("%-8s %8ld objects, %-16s %-18s %8.2f ms\n", lua, n, what, "any call", worst);
    fflush(stdout);
}

static void set_function(lua_State *L, const char *name, lua_CFunction function, int kind)
{
    lua_pushcfunction(L, function);
    if (kind != OTHER)
        time_it(L, kind);
    lua_setglobal(L, name);
}

static void wrap_gc(lua_State *L, int kind)
{
    lua_getfield(L, -1, "__gc");
    time_it(L, kind);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

static const char building[] = "local n = ... all = {} for i = 1, n do all[i] = false end "
                               "for i = 1, n do local w = new() all[i] = w set(w, function() return w end) tick() end";
static const char idle[] = "local n = ... "
                           "for f = 1, 300 do for i = 1, n / 100 do local t = { i, {} } tick() end step() end";
static const char changing[] = "local n = ... local at = 0 "
                               "for f = 1, 200 do "
                               "  for i = 1, n / 100 do "
                               "    at = at % n + 1 local w = all[at] set(w, function() return w end) tick() "
                               "  end step() end";
static const char dropping[] = "local n = ... all = nil "
                               "for f = 1, 300 do for i = 1, n / 100 do local t = { i, {} } tick() end step() end";

static void set_functions(lua_State *L, int is_ours)
{
    set_function(L, "tick", tick, OTHER);
    set_function(L, "step", is_ours ? frame_step : nothing, OTHER);
    set_function(L, "new", is_ours ? thing_new : plain_new, MAKE);
    set_function(L, "set", is_ours ? thing_set : plain_set, TAKE);
}

static lua_State *open_state(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_gc(L, LUA_GCSTOP, 0);
    next_kbytes = 1000;
    is_in_cycle = 0;
    return L;
}

/* Userdata of Lua alone, whose user values are tables with the callbacks. */
static void measure_plain(const char *lua, long n)
{
    lua_State *L = open_state();
    luaL_newmetatable(L, "plain");
    lua_pushcfunction(L, nothing);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    set_functions(L, 0);
    run(L, building, n);
    rows(lua, n, "plain, building", 0);
    run(L, idle, n);
    rows(lua, n, "plain, idle", 0);
    lua_close(L);
}

static void measure(const char *lua, long n)
{
    lua_State *L = open_state();
    heap = rrc_lua_heap(L);
    rrc_lua_register(L, &Thing);
    lua_pop(L, 1);
    rrcl_get_metatable(L, (rrcl_state *)rrc_userdata(heap), RRCL_CANARY_CLASS(RRCL_CLOCK_SLOT) + 1);
    wrap_gc(L, FINALIZE);
    rrcl_get_metatable(L, (rrcl_state *)rrc_userdata(heap), RRCL_CANARY_CLASS(RRCL_SENTINEL_SLOT));
    wrap_gc(L, SENTINEL);
    set_functions(L, 1);
    run(L, building, n);
    rows(lua, n, "building", 1);
    run(L, idle, n);
    rows(lua, n, "idle", 1);
    run(L, changing, n);
    rows(lua, n, "1 % changes", 1);
    run(L, dropping, n);
    rows(lua, n, "all dropped", 1);
    if (is_test && rrc_check(heap) != RRC_OK) {
        failed++;
        printf("FAILED: rrc_check\n");
    }
    lua_close(L);
}

int main(int argc, char **argv)
{
    int i;
    if (argc < 3) {
        fprintf(stderr, "usage: pauses LUA OBJECTS..., or pauses test OBJECTS...\n");
        return 2;
    }
    is_test = strcmp(argv[1], "test") == 0;
    for (i = 2; i < argc; i++) {
        if (!is_test)
            measure_plain(argv[1], atol(argv[i]));
        measure(argv[1], atol(argv[i]));
    }
    if (is_test)
        printf("%d passed, %d failed\n", failed == 0, failed);
    return failed > 0;
}
