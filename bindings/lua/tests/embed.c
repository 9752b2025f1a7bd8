/* embed.c - what only a C program can test: several states, objects that outlive their
 * state, and lack of memory at each allocation, in Lua and in C. */
#include <stdlib.h>

/* All memory of the binding and the header, counted, and failing when told to. */
static long blocks;
static long allocations_left = -1;          /* then one fails; -1: none */
static int fail_on;                         /* and all that follow, too */

static int must_fail(void)
{
    if (allocations_left < 0)
        return 0;
    if (allocations_left > 0) {
        allocations_left--;
        return 0;
    }
    if (!fail_on)
        allocations_left = -1;
    return 1;
}

static void *counted_realloc(void *ptr, size_t size)
{
    void *result;
    if (size == 0) {
        blocks -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (must_fail())
        return NULL;
    result = realloc(ptr, size);
    blocks += ptr == NULL && result != NULL;
    return result;
}
#define RRC_LUA_REALLOC(ptr, size) counted_realloc((ptr), (size))

#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "nodes.h"

#include <lualib.h>
#include <string.h>

#include "unit.h"

/* ---- states ---- */

static lua_Alloc real_alloc;
static void *real_data;

static void *limited_alloc(void *data, void *ptr, size_t old_size, size_t new_size)
{
    (void)data;
    if (new_size > (ptr != NULL ? old_size : 0) && must_fail())
        return NULL;
    return real_alloc(real_data, ptr, old_size, new_size);
}

static lua_State *open_state(void)
{
    lua_State *L = luaL_newstate();
    check(L != NULL);
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_nodes);
    lua_call(L, 0, 1);
    lua_setglobal(L, "nodes");
    real_alloc = lua_getallocf(L, &real_data);
    return L;
}

static void run(lua_State *L, const char *text)
{
    if (luaL_loadstring(L, text) != 0 || lua_pcall(L, 0, 0, 0) != 0)
        unit_fail(__FILE__, __LINE__, "%s", lua_tostring(L, -1));
}

static int live(void)
{
    const node *n;
    int count = 0;
    for (n = all_nodes.next; n != &all_nodes; n = n->next)
        count++;
    return count;
}

static void collect_all(lua_State *L)
{
    int i;
    for (i = 0; i < 4; i++)
        rrc_lua_collect(L, rrc_lua_heap(L));
    check_int(rrc_check(rrc_lua_heap(L)), RRC_OK);
}

static void close_state(lua_State *L)
{
    run(L, "while pcall(nodes.release, 1) do end");
    lua_close(L);
}

static const char make_garbage[] =
    "for i = 1, 100 do "
    "  local w = nodes.new(i) "
    "  w:set(1, function() return w end) "
    "  w:set(2, coroutine.create(function() return w end)) "
    "  w.field = w "
    "end";

/* ---- the tests ---- */

static void several_states(void)
{
    lua_State *state[3];
    int i;
    for (i = 0; i < 3; i++)
        state[i] = open_state();
    for (i = 0; i < 3; i++)
        run(state[i], make_garbage);
    check(rrc_lua_heap(state[0]) != rrc_lua_heap(state[1]));
    check_int(live() > 0, 1);
    collect_all(state[1]);
    run(state[0], "w = nodes.new(1) w:set(1, function() return w end)");
    close_state(state[0]);
    run(state[2], make_garbage);
    close_state(state[2]);
    collect_all(state[1]);
    check_int(live(), 0);
    close_state(state[1]);
    check_int(blocks, 0);
}

static void close_with_everything_alive(void)
{
    lua_State *L = open_state();
    run(L, make_garbage);
    run(L, "all = {} "
           "for i = 1, 300 do "
           "  local w = nodes.new(i, i % 7 == 0 and 'Finalized' or 'Node') "
           "  all[i] = w "
           "  w:set(1, all[i - 1]) "
           "  w:set(2, function() return all end) "
           "end "
           "a, b = nodes.new(1001), nodes.new(1002) a:set(1, b) b:set(1, a) "
           "nodes.on_finalize = function(id) nodes.new(5000 + id) end");
    close_state(L);
    check_int(live(), 0);
    check_int(blocks, 0);
}

static void objects_outlive_their_state(void)
{
    lua_State *L = open_state();
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *held, *value, *text;
    run(L, "w = nodes.new(1) w:set(1, nodes.new(2)) w:set(2, function() return w end)");
    lua_getglobal(L, "w");
    held = rrc_lua_ref(L, heap, -1);
    lua_getglobal(L, "print");
    value = rrc_lua_ref(L, heap, -1);
    lua_pushliteral(L, "text");
    text = rrc_lua_ref(L, heap, -1);
    check(rrc_lua_is_value(heap, text) && rrc_lua_is_value(heap, value) && !rrc_lua_is_value(heap, held));
    lua_settop(L, 0);
    close_state(L);
    check_int(live(), 2);
    check_ptr(rrc_lua_state(heap), NULL);
    check_int(rrc_lua_call(heap, value, 0, NULL) != 0, 1);
    rrc_lua_native_bytes(heap, 100);
    rrc_decref(heap, value);
    rrc_decref(heap, text);
    check_int(blocks > 0, 1);
    rrc_decref(heap, held);
    check_int(live(), 0);
    check_int(blocks, 0);
}

static void callbacks_without_a_caller(void)
{
    lua_State *L = open_state();
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *callback;
    run(L, "coroutine.wrap(function() callback = nodes.new(1):set(1, 2) or function() called = true end end)()");
    lua_getglobal(L, "callback");
    callback = rrc_lua_ref(L, heap, -1);
    run(L, "coroutine.wrap(function() nodes.new(1) end)() collectgarbage() collectgarbage()");
    check_int(rrc_lua_call(heap, callback, 0, NULL), 0);
    lua_getglobal(L, "called");
    check_int(lua_toboolean(L, -1), 1);
    rrc_decref(heap, callback);
    lua_settop(L, 0);
    close_state(L);
    check_int(blocks, 0);
}

static int raise_kept(lua_State *L)
{
    rrc_lua_raise(L, rrc_lua_heap(L));
    return 0;
}

static void errors_are_kept_for_raise(void)
{
    lua_State *L = open_state();
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *callback;
    rrc_lua_raise(L, heap);                 /* there is none */
    luaL_loadstring(L, "error('the message')");
    callback = rrc_lua_ref(L, heap, -1);
    check(rrc_lua_call(heap, callback, 0, NULL) != 0);
    lua_pushcfunction(L, raise_kept);
    check(lua_pcall(L, 0, 0, 0) != 0);
    check(strstr(lua_tostring(L, -1), "the message") != NULL);
    check(strstr(lua_tostring(L, -1), "traceback") != NULL);
    rrc_lua_raise(L, heap);                 /* raised once */
    rrc_decref(heap, callback);
    lua_settop(L, 0);
    close_state(L);
    check_int(blocks, 0);
}

/* A program that uses everything. It stops at the first error. */
static const char busy[] =
    "local kept = {} "
    "for i = 1, 40 do "
    "  local w = nodes.new(i, i % 5 == 0 and 'Finalized' or 'Node') "
    "  w:set(1, function() return w end) "
    "  w:set(2, kept[i - 1] or 'text') "
    "  w.field = { w } "
    "  kept[i] = i % 3 > 0 and w or nil "
    "  if i % 10 == 0 then nodes.hold(w) collectgarbage() rawrefcount_step() end "
    "  if i % 7 == 0 then w:close() end "
    "  nodes.call(function(x) x:get(1) end, nodes.new(100 + i)) "
    "  if i % 13 == 0 then collectgarbage('step', 10) end "
    "end "
    "for i = 1, 40 do if kept[i] then pcall(kept[i].move, kept[i], 1, kept[i], 3) end end "
    "rawrefcount_collect() ";

static int step_function(lua_State *L)
{
    rrc_lua_step(L, rrc_lua_heap(L));
    return 0;
}

static int collect_function(lua_State *L)
{
    rrc_lua_collect(L, rrc_lua_heap(L));
    return 0;
}

/* The n-th allocation fails: once, or with all that follow. 1: the program came through. */
static int run_with_limit(long n, int all)
{
    lua_State *L = open_state();
    int status;
    lua_pushcfunction(L, step_function);
    lua_setglobal(L, "rawrefcount_step");
    lua_pushcfunction(L, collect_function);
    lua_setglobal(L, "rawrefcount_collect");
    check_int(luaL_loadstring(L, busy), 0);
    lua_setallocf(L, limited_alloc, NULL);
    allocations_left = n;
    fail_on = all;
    status = lua_pcall(L, 0, 0, 0);
    status |= allocations_left < 0;
    allocations_left = -1;
    fail_on = 0;
    lua_settop(L, 0);
    run(L, "while pcall(nodes.release, 1) do end");
    run(L, make_garbage);
    collect_all(L);
    check_int(live(), 0);
    close_state(L);
    check_int(blocks, 0);
    return status == 0;
}

static void fail_each_allocation(int all)
{
    long n, by = unit_is_quick() ? 41 : 1;
    for (n = 0;; n += n < 300 * by ? by : 7 * by) {
        unit_context("allocation %ld", n);
        if (run_with_limit(n, all))
            break;
    }
    check(n > 300);
}

static void an_allocation_fails(void) { fail_each_allocation(0); }
static void all_allocations_fail_from_one_on(void) { fail_each_allocation(1); }

/* To open the heap itself. */
static void opening_fails(void)
{
    long n;
    int opened = 0;
    for (n = 0; !opened; n++) {
        lua_State *L = luaL_newstate();
        unit_context("allocation %ld", n);
        luaL_openlibs(L);
        real_alloc = lua_getallocf(L, &real_data);
        lua_setallocf(L, limited_alloc, NULL);
        lua_pushcfunction(L, luaopen_nodes);
        allocations_left = n;
        opened = lua_pcall(L, 0, 0, 0) == 0 && allocations_left >= 0;
        allocations_left = -1;
        lua_settop(L, 0);
        lua_pushcfunction(L, luaopen_nodes);
        lua_call(L, 0, 1);
        lua_setglobal(L, "nodes");
        run(L, make_garbage);
        close_state(L);
        check_int(live(), 0);
        check_int(blocks, 0);
    }
}

UNIT_GROUP(embed, UNIT(several_states), UNIT(close_with_everything_alive), UNIT(objects_outlive_their_state),
           UNIT(callbacks_without_a_caller), UNIT(errors_are_kept_for_raise), UNIT(an_allocation_fails),
           UNIT(all_allocations_fail_from_one_on), UNIT(opening_fails));

int main(int argc, char **argv)
{
    const unit_group *const groups[] = { &embed };
    return unit_main(argc, argv, groups, 1);
}
