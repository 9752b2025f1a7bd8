/* embed.c - what only a C program can test: several states, objects that outlive their
 * state, and lack of memory at each allocation, in Lua and in C.
 *
 *     embed [TEST...]             the tests whose names have one of these words in them
 *     embed SCRIPT.lua WORD...    (EMBED_SCRIPTS) a script, whose modules are linked; nothing is left then
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

/* All memory of the binding and the header, counted, and failing when told to. */
long blocks;                                /* slots.c, too */
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

/* In front of each block, for those that are left. */
typedef union counted {
    struct { union counted *previous, *next; } is;
    long double aligned;
} counted;
static counted all_blocks = { { &all_blocks, &all_blocks } };

static void *counted_realloc(void *ptr, size_t size)
{
    counted *b = ptr != NULL ? (counted *)ptr - 1 : NULL, *result = NULL;
    if (size == 0 && ptr == NULL)
        return NULL;
    if (size > 0) {
        result = must_fail() ? NULL : (counted *)realloc(b, sizeof *b + size);
        if (result == NULL)
            return NULL;
    }
    if (b == NULL) {
        result->is.previous = all_blocks.is.previous;
        result->is.next = &all_blocks;
        blocks++;
    } else if (result == NULL) {
        b->is.previous->is.next = b->is.next;
        b->is.next->is.previous = b->is.previous;
        blocks--;
        free(b);
        return NULL;
    }
    result->is.previous->is.next = result->is.next->is.previous = result;
    return result + 1;
}
#define RRC_LUA_REALLOC(ptr, size) counted_realloc((ptr), (size))

#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"
#include "rrc_lua_insight.h"
#include "nodes.h"

int luaopen_classes(lua_State *L);

#include <lualib.h>
#include <string.h>

#include "unit.h"
#include "caught.h"

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

static void run(lua_State *L, const char *text)
{
    if (luaL_loadstring(L, text) != 0 || lua_pcall(L, 0, 0, 0) != 0)
        unit_fail(__FILE__, __LINE__, "%s", lua_tostring(L, -1));
}

static void open_nodes(lua_State *L)
{
    lua_pushcfunction(L, luaopen_nodes);
    lua_call(L, 0, 1);
    lua_setglobal(L, "nodes");
    lua_register(L, "rawrefcount_step", step_function);
    lua_register(L, "rawrefcount_collect", collect_function);
}

/* Without the heap, which open_nodes opens. */
static lua_State *open_plain_state(void)
{
    lua_State *L = luaL_newstate();
    check(L != NULL);
    luaL_openlibs(L);
    real_alloc = lua_getallocf(L, &real_data);
    run(L, "function finalizer(f) "
           "  if not newproxy then return setmetatable({}, { __gc = f }) end "
           "  local p = newproxy(true) getmetatable(p).__gc = f return p "
           "end");
    return L;
}

static lua_State *open_state(void)
{
    lua_State *L = open_plain_state();
    open_nodes(L);
    return L;
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

/* Builds with RRC_DEBUG print what C holds at the end, and no other builds do. */
static void the_end_reports_leaks(void)
{
    lua_State *L = open_state();
    const char *text;
    rrc_heap *heap;
    rrc_object *held;
    rrc_lua_define_insight(L);
    run(L, make_garbage);
    run(L, "w = nodes.new(1) w:set(1, function() return w end)");
    catch_stderr();
    close_state(L);
    check_str(stderr_text(), "");
    L = open_state();
    heap = rrc_lua_heap(L);
    rrc_lua_define_insight(L);
    run(L, "v = nodes.new(1) w = nodes.new(2) w:set(1, nodes.new(3)) w:set(2, v)");
    lua_getglobal(L, "w");
    held = rrc_lua_ref(L, heap, -1);
    lua_settop(L, 0);
    catch_stderr();
    close_state(L);
    text = stderr_text();
#ifdef RRC_DEBUG
    check(strstr(text, "C still holds 3 objects of Node, ") == text);
    check(strstr(text, "  1 reference from outside keeps it alive\n") != NULL);
    check(strstr(text, "  held by ") != NULL);
#else
    check_str(text, "");
#endif
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
    lua_settop(L, 0);
    check(rrc_lua_call(heap, callback, 0, NULL) != 0);
    run(L, "ran = {} nodes.on_finalize = function(id) ran[1] = id end nodes.new(4, 'Finalized')");
    lua_gc(L, LUA_GCCOLLECT, 0);            /* does not take the method's error away */
    lua_gc(L, LUA_GCCOLLECT, 0);
    run(L, "assert(ran[1] == 4)");
    lua_pushcfunction(L, raise_kept);
    check(lua_pcall(L, 0, 0, 0) != 0);
    check(strstr(lua_tostring(L, -1), "the message") != NULL);
    rrc_decref(heap, callback);
    lua_settop(L, 0);
    close_state(L);
    check_int(blocks, 0);
}

static void fill_stack(lua_State *L)
{
    while (lua_checkstack(L, 1))
        lua_pushinteger(L, lua_gettop(L) + 1);
}

/* The object of the light userdata, with the last place of a full stack for it. */
static int push_on_full_stack(lua_State *L)
{
    rrc_object *ob = (rrc_object *)lua_touserdata(L, 1);
    fill_stack(L);
    lua_pop(L, 1);
    rrc_lua_push(L, rrc_lua_heap(L), ob);
    return 0;
}

static int give_on_full_stack(lua_State *L)
{
    rrc_object *ob = (rrc_object *)lua_touserdata(L, 1);
    rrc_heap *heap = rrc_lua_heap(L);
    fill_stack(L);
    lua_pop(L, 1);
    rrc_incref(heap, ob);
    rrc_lua_give(L, heap, ob);
    return 0;
}

static void check_on_full_stack(lua_State *L, lua_CFunction function, rrc_object *ob)
{
    lua_pushcfunction(L, function);
    lua_pushlightuserdata(L, ob);
    if (lua_pcall(L, 1, 0, 0) != 0)
        check(strstr(lua_tostring(L, -1), "stack overflow") != NULL);
    lua_settop(L, 0);
}

static void full_stacks(void)
{
    lua_State *L = open_state();
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *callback, *ob;
    int top, status;
    run(L, "function callback() called = true end w = nodes.new(1)");
    lua_getglobal(L, "callback");
    callback = rrc_lua_ref(L, heap, -1);
    lua_getglobal(L, "w");
    ob = rrc_lua_ref(L, heap, -1);
    run(L, "w = nil");
    lua_settop(L, 0);
    lua_gc(L, LUA_GCCOLLECT, 0);            /* ob has no proxy any more */
    fill_stack(L);
    top = lua_gettop(L);
    status = rrc_lua_call(heap, callback, 0, NULL);
    check_int(lua_gettop(L), top);
    check_int(lua_tointeger(L, top), top);
    rrc_lua_step(L, heap);
    check_int(lua_gettop(L), top);
    check_int(lua_tointeger(L, top), top);
    lua_settop(L, 0);
    lua_getglobal(L, "called");
    check_int(lua_toboolean(L, -1), status == 0);
    lua_pushcfunction(L, raise_kept);
    check_int(lua_pcall(L, 0, 0, 0) != 0, status != 0);
    if (status != 0)
        check(strstr(lua_tostring(L, -1), "stack overflow") != NULL);
    lua_settop(L, 0);
    check_on_full_stack(L, push_on_full_stack, ob);
    lua_gc(L, LUA_GCCOLLECT, 0);
    check_on_full_stack(L, give_on_full_stack, ob);
    check_int(lua_gettop(L), 0);
    rrc_decref(heap, callback);
    rrc_decref(heap, ob);
    collect_all(L);
    check_int(live(), 0);
    close_state(L);
    check_int(blocks, 0);
}

/* What finalizers do while the state is closed. Until 5.4.3 a collection in a finalizer runs all
   the others, in the middle of it. Then the heap itself can be left, and the state; and more, if
   it was in the tp_finalize of something that C dropped. */
static const char *const last_actions[] = {
#if LUA_VERSION_NUM != 503              /* which collects for ever there, with or without us */
    "rawrefcount_collect()",
    "collectgarbage() rawrefcount_collect()",
    "w:set(1, function() return w end) w.field = {} rawrefcount_collect() w:set(2, 'text') w.other = {}",
    "nodes.call(function() collectgarbage() end)",
    "nodes.call(function(x) rawrefcount_collect() x:set(1, x) end, w)",
    "coroutine.wrap(function() nodes.call(function() rawrefcount_collect() nodes.new(5) end) end)()",
    "nodes.call(function(x, y) collectgarbage() y[1] = x x:set(3, y) end, w, {})",
    "w:close() nodes.new(8) collectgarbage() nodes.new(8)",
#endif
    "rawrefcount_step()",
    "collectgarbage('restart') for i = 1, many do nodes.new(i):set(1, function() return w end) end",
    "collectgarbage('restart') for i = 1, many do nodes.call(function(x) w[i] = x end, {}) w:get(1) end",
    "collectgarbage('restart') collectgarbage('setpause', 0) "
        "for i = 1, 30 do w:set(1, {}) local x = w:get(2) rawrefcount_step() end",
    "error('in a finalizer')",
};

static void finalizers_run_at_the_end(void)
{
    size_t i;
    int when;
    for (i = 0; i < sizeof last_actions / sizeof *last_actions; i++)
        for (when = 0; when < 4; when++) {
            lua_State *L = open_plain_state();
            unit_context("%s, %d", last_actions[i], when);
            lua_pushstring(L, last_actions[i]);
            lua_setglobal(L, "text");
            lua_pushinteger(L, unit_is_quick() ? 100 : 1000);
            lua_setglobal(L, "many");
            run(L, "action = (loadstring or load)(text) "
                   "function act() ran = 1 for i = 1, 3 do action() end end "
                   "first = finalizer(act)");
            open_nodes(L);
            run(L, "w = nodes.new(1) w:set(1, function() return w end) "
                   "all = {} for i = 1, 50 do all[i] = nodes.new(i) all[i]:set(1, all[i - 1] or w) end "
                   "for i = 1, 20 do local a, b = nodes.new(i), nodes.new(i, 'Finalized') a:set(1, b) b:set(1, a) end "
                   "nodes.on_finalize = function() nodes.new(3) end");
            if ((when & 1) != 0)
                run(L, "second = finalizer(act)");
            if ((when & 2) != 0)
                run(L, "nodes.on_finalize = act local n = nodes.new(9, 'Finalized') n:set(1, function() return n end)");
            close_state(L);
            if ((when & 2) == 0) {
                check_int(live(), 0);
                check(blocks <= 4);         /* with what nodes.call had when it was interrupted */
            }
            while (blocks > 0)
                counted_realloc(all_blocks.is.next + 1, 0);
            all_nodes.next = all_nodes.previous = &all_nodes;
        }
}

/* ---- what deallocs, clears and finalizers can use ---- */

/* Owns a string and a function of Lua, another object, and maybe itself; and looks at the first two
   in each of its slots. */
typedef struct reader {
    rrc_object  head;
    rrc_object *text, *callback, *other;
} reader;

enum { FINALIZED, CLEARED, DEALLOCATED, SLOTS };
static struct { int texts, calls, failures; } seen[SLOTS];

static int read_text(lua_State *L)
{
    const reader *r = (const reader *)lua_touserdata(L, 1);
    rrc_lua_push(L, rrc_lua_heap(L), r->text);
    if (strcmp(luaL_checkstring(L, -1), "the text") != 0)
        return luaL_error(L, "another text");
    return 0;
}

static void look(rrc_heap *heap, reader *r, int slot)
{
    if (r->text != NULL) {
        int status = rrc_lua_protect(heap, read_text, r);
        seen[slot].texts += status == 0;
        seen[slot].failures += status != 0;
    }
    if (r->callback != NULL) {
        int status = rrc_lua_call(heap, r->callback, 0, NULL);
        seen[slot].calls += status == 0;
        seen[slot].failures += status != 0;
    }
}

static int reader_clear(rrc_heap *heap, rrc_object *ob)
{
    reader *r = (reader *)ob;
    look(heap, r, CLEARED);
    RRC_CLEAR(heap, r->text);
    RRC_CLEAR(heap, r->callback);
    RRC_CLEAR(heap, r->other);
    return 0;
}

static int reader_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    reader *r = (reader *)ob;
    RRC_VISIT(r->text);
    RRC_VISIT(r->callback);
    RRC_VISIT(r->other);
    return 0;
}

static void reader_dealloc(rrc_heap *heap, rrc_object *ob)
{
    reader *r = (reader *)ob;
    look(heap, r, DEALLOCATED);
    RRC_CLEAR(heap, r->text);
    RRC_CLEAR(heap, r->callback);
    RRC_CLEAR(heap, r->other);
    rrc_gc_del(heap, ob);
}

static void reader_finalize(rrc_heap *heap, rrc_object *ob) { look(heap, (reader *)ob, FINALIZED); }

static const rrc_type Reader = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Reader",
    .tp_basicsize = sizeof(reader), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = reader_dealloc,
    .tp_traverse = reader_traverse, .tp_clear = reader_clear, .tp_finalize = reader_finalize };

/* new_reader(text, callback, other): other is true for itself. */
static int new_reader(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    reader *r = (reader *)rrc_gc_new(heap, &Reader);
    lua_settop(L, 3);
    check(r != NULL);
    check_int(rrc_gc_track(heap, &r->head), RRC_OK);
    rrc_lua_give(L, heap, &r->head);
    r->text = rrc_lua_ref(L, heap, 1);
    r->callback = rrc_lua_ref(L, heap, 2);
    if (lua_isboolean(L, 3)) {
        r->other = &r->head;
        rrc_incref(heap, r->other);
    } else {
        r->other = rrc_lua_ref(L, heap, 3);
    }
    return 1;
}

static int text_of_reader(lua_State *L)
{
    reader *r = (reader *)rrc_lua_check(L, 1, NULL);
    rrc_lua_push(L, rrc_lua_heap(L), r->text);
    return 1;
}

/* What a script's finalizer is told, when it uses a proxy after all objects have ended. */
static int told;

static int tell(lua_State *L)
{
    check(!lua_toboolean(L, 1));
    check(strstr(lua_tostring(L, 2), "is gone: ") != NULL);
    told++;
    return 0;
}

/* As long as the state is open, they can use everything. While it is closed, each use works or
   fails with a code; and nothing crashes. */
static void slots_use_what_is_owned(void)
{
    static const char *const programs[] = {
        "w = new_reader(text, f)",                                      /* goes by its count */
        "local r r = new_reader(text, function() return r end) w = r",  /* a cycle through Lua */
        "w = new_reader(text, f, true)",                                /* a cycle in C */
        "local r r = new_reader(text, function() return r end, true) w = r",
        "w = new_reader(text, f, new_reader(text, f))",
        "local t = {} w = new_reader(text, function() return t end, t) t[1] = w"
    };
    size_t i;
    int at_exit;
    for (i = 0; i < sizeof programs / sizeof *programs; i++)
        for (at_exit = 0; at_exit < 3; at_exit++) {             /* 2: it is still in use then */
            lua_State *L = open_plain_state();
            int readers = i == 4 ? 2 : 1;
            unit_context("%s, %d", programs[i], at_exit);
            memset(seen, 0, sizeof seen);
            told = 0;
            lua_register(L, "text_of_reader", text_of_reader);
            lua_register(L, "tell", tell);
            run(L, "last = finalizer(function() if w then tell(pcall(text_of_reader, w)) end end)");
            open_nodes(L);
            lua_register(L, "new_reader", new_reader);
            run(L, "text, calls = 'the text', 0 function f() calls = calls + 1 end");
            run(L, programs[i]);
            if (at_exit < 2)
                run(L, "w, f, text = nil, nil, nil");
            if (at_exit == 0) {
                collect_all(L);
                check_int(seen[FINALIZED].texts, readers);
                check_int(seen[FINALIZED].calls, readers);
                check_int(seen[CLEARED].texts + seen[DEALLOCATED].texts, readers);
                check_int(seen[CLEARED].calls + seen[DEALLOCATED].calls, readers);
                check_int(seen[FINALIZED].failures + seen[CLEARED].failures + seen[DEALLOCATED].failures, 0);
            }
            close_state(L);
            check_int(seen[FINALIZED].texts + seen[FINALIZED].calls + seen[FINALIZED].failures, 2 * readers);
            check_int(seen[CLEARED].texts + seen[CLEARED].calls + seen[CLEARED].failures
                      + seen[DEALLOCATED].texts + seen[DEALLOCATED].calls + seen[DEALLOCATED].failures, 2 * readers);
            check_int(told, at_exit == 2);
            check_int(blocks, 0);
        }
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

/* The same for what classes.c has. */
static const char busy_classes[] =
    "local x "
    "for i = 1, 10 do "
    "  local o = classes.Open('text') "
    "  o.field = i "
    "  for name, value in classes.pairs(o) do x = value end "
    "  pcall(function() return classes.Strict().x end) "
    "  local b = classes.Bag() "
    "  b.x_1 = 5 "
    "  x = classes.send(function(...) return ... end, o) "
    "  x = classes.result(function() return 'text' .. i end, 'o') "
    "  x = classes.results(function() return 'a' .. i, 'b' .. i, {}, o, 5, 6 end) "
    "  x = classes.text_of('text' .. i) "
    "  classes.hold_key('key' .. i) "
    "  x = classes.is_same_key('key' .. i, 'other') "
    "  classes.call(coroutine.create(function(y) coroutine.yield(y) end), o, 'x') "
    "  pcall(classes.call, coroutine.create(function() error('in a coroutine') end)) "
    "  pcall(classes.raise_with, function() error('in a script') end, o, 'x' .. i) "
    "  classes.raise_with(function() end, o) "
    "end ";

/* So many objects that the header needs more memory for their links. */
static const char many_links[] =
    "local all = {} "
    "for i = 1, 600 do all[i] = nodes.new(i, 'Untracked') end ";

/* The n-th allocation fails: once, or with all that follow. 1: the program came through. */
static int run_with_limit(const char *program, long n, int all)
{
    lua_State *L = open_state();
    int status;
    lua_pushcfunction(L, luaopen_classes);
    lua_call(L, 0, 1);
    lua_setglobal(L, "classes");
    check_int(luaL_loadstring(L, program), 0);
    lua_setallocf(L, limited_alloc, NULL);
    allocations_left = n;
    fail_on = all;
    status = lua_pcall(L, 0, 0, 0);
    status |= allocations_left < 0;
    allocations_left = -1;
    fail_on = 0;
    lua_settop(L, 0);
    run(L, "while pcall(nodes.release, 1) do end classes.hold_key(nil)");
    run(L, make_garbage);
    collect_all(L);
    check_int(live(), 0);
    close_state(L);
    check_int(blocks, 0);
    return status == 0;
}

static void fail_each_allocation(const char *program, int all)
{
    long n, by = unit_is_quick() ? 41 : 1;
    for (n = 0;; n += n < 300 * by ? by : 7 * by) {
        unit_context("allocation %ld", n);
        if (run_with_limit(program, n, all))
            break;
        check(n < 100000);
    }
    check(n > 300);
}

static void an_allocation_fails(void) { fail_each_allocation(busy, 0); }
static void all_allocations_fail_from_one_on(void) { fail_each_allocation(busy, 1); }
static void an_allocation_fails_for_links(void) { fail_each_allocation(many_links, 0); }
static void an_allocation_fails_for_values(void) { fail_each_allocation(busy_classes, 0); }
static void all_allocations_fail_for_values(void) { fail_each_allocation(busy_classes, 1); }

/* Lua has found a sentinel dead, and calls its __gc later. The next one, which is made meanwhile, ends another cycle. */
static void each_cycle_ends_once_with_an_early_sentinel(void)
{
    lua_State *L = open_state();
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    uint32_t cycle, i;
    lua_gc(L, LUA_GCSTOP, 0);
    run(L, "nodes.new(1)");
    cycle = state->cycle;
    lua_pushnil(state->hidden);
    rrcl_set(state, RRCL_VALUES, RRCL_SENTINEL_SLOT);
    run(L, "for i = 1, 8 do nodes.new(i) end");
    check_int(state->cycle == cycle, 1);
    for (i = 1; i < 5; i++) {
        lua_gc(L, LUA_GCCOLLECT, 0);            /* the first one calls the __gc of both */
        check_int(state->cycle == cycle + i, 1);
    }
    close_state(L);
}

/* The table above rrcl_sees_end. */
static void each_cycle_is_counted_once(void)
{
    lua_State *L = open_state();
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    uint32_t n;
    int i;
    lua_gc(L, LUA_GCSTOP, 0);
    run(L, "nodes.new(1)");
    n = state->sentinel.era;                        /* n, in its slot */
    check_int(rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel), 0);
    check_int(state->sentinel.ended == n - 1, 1);
    lua_pushnil(state->hidden);
    rrcl_set(state, RRCL_VALUES, RRCL_SENTINEL_SLOT);       /* n, dying */
    for (i = 1; i >= 0; i--)
        check_int(rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel), i);
    check_int(state->sentinel.ended == n, 1);
    rrcl_need_sentinel(L, state);                   /* n + 1, in its slot */
    check_int(state->sentinel.era == n + 1, 1);
    check_int(rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel), 0);
    check_int(rrcl_try(L, rrcl_new_sentinel, state), 0);    /* another one in its place */
    check_int(state->sentinel.era == n + 1, 1);
    check_int(rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel), 0);
    lua_pushnil(state->hidden);
    rrcl_set(state, RRCL_VALUES, RRCL_SENTINEL_SLOT);
    rrcl_need_sentinel(L, state);                   /* n + 1, dying; n + 2 was made by a call */
    for (i = 2; i >= 0; i--)
        check_int(rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel), i == 2);
    check_int(state->sentinel.ended == n + 1, 1);
    close_state(L);
}

/* Cycles end while finalizers wait: there are no more sentinels than do a step together. */
static void sentinels_that_wait_are_few(void)
{
    lua_State *L = open_state();
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    int i, kbytes;
    run(L, "keep = {} for i = 1, 1000 do keep[i] = nodes.new(i) end");
    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_gc(L, LUA_GCSTOP, 0);
    kbytes = lua_gc(L, LUA_GCCOUNT, 0);
    for (i = 0; i < 100; i++) {
        rrcl_end_cycle(L, state);
        check_int(rrcl_try(L, rrcl_more_sentinels, state), 0);
    }
    check(state->sentinels > 30);
    check(lua_gc(L, LUA_GCCOUNT, 0) < kbytes + 16);
    for (i = 0; i < 2 * RRCL_BUSY_CYCLES; i++)
        lua_gc(L, LUA_GCCOLLECT, 0);
    check_int((int)state->sentinels, 1);
    close_state(L);
}

/* Does a step in a dealloc, where none can be made. */
static lua_State *dealloc_caller;

static void step_in_dealloc(rrc_heap *heap, rrc_object *self)
{
    check_int(rrc_lua_step(dealloc_caller, heap), RRC_EPHASE);
    check_int(rrc_lua_work(dealloc_caller, heap, 8), 0);
    rrc_del(heap, self);
}

/* Whether there is to be a step is decided once for each cycle; and while one is open, when that has ended. */
static void each_cycle_is_decided_once(void)
{
    static const rrc_type Stepper = { .tp_name = "Stepper", .tp_basicsize = sizeof(rrc_object),
                                      .tp_dealloc = step_in_dealloc };
    lua_State *L = open_state();
    rrc_heap *heap = rrc_lua_heap(L);
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    rrcl_step_state step;
    uint32_t cycle;
    run(L, "keep = {} for i = 1, 20000 do keep[i] = nodes.new(i) end");
    lua_gc(L, LUA_GCSTOP, 0);
    while (state->step.stage == RRCL_STEP_OPEN)
        rrc_lua_work(L, heap, 1000);
    check_int(state->step.decided == state->cycle, 1);
    check_int(rrc_lua_work(L, heap, 8), 0);
    check_int(state->step.stage, RRCL_STEP_OPEN);
    cycle = state->cycle;

    step = state->step;                         /* nothing can be done: all stays as it is */
    dealloc_caller = L;
    rrc_decref(heap, rrc_new(heap, &Stepper));
    check_int(memcmp(&step, &state->step, sizeof step), 0);

    state->calls_pay = 1;                       /* one slice for each cycle */
    lua_gc(L, LUA_GCCOLLECT, 0);
    check_int(state->cycle == cycle + 1, 1);
    check_int(state->step.stage, RRCL_STEP_OPEN);
    check_int(state->step.decided == cycle, 1);
    while (!rrc_lua_work(L, heap, 1000))
        check_int(state->step.decided == cycle, 1);
    check_int(state->step.decided == cycle + 1, 1);

    check_int(rrc_lua_work(L, heap, 8), 0);     /* a wish is not lost */
    rrcl_want_step(state);
    while (!rrc_lua_work(L, heap, 1000))
        ;
    check_int(state->step.stage, RRCL_STEP_WANTED);
    rrc_decref(heap, rrc_new(heap, &Stepper));
    check_int(state->step.stage, RRCL_STEP_WANTED);
    check_int(rrc_lua_step(L, heap), RRC_OK);
    check_int(state->step.stage, RRCL_NO_STEP);
    close_state(L);
}

/* While the class of a new type is made, Lua collects. A finalizer pushes the object whose proxy is about to be made. */
static rrc_object *late;
static int late_pushes;

static int push_late(lua_State *L)
{
    if (late != NULL) {
        late_pushes++;
        rrc_lua_push(L, rrc_lua_heap(L), late);
        lua_setglobal(L, "late");
    }
    return 0;
}

/* How long Lua's collector waits, and how much it does then. */
static void set_pace(lua_State *L, int pause, int stepmul)
{
#if LUA_VERSION_NUM >= 505
    lua_gc(L, LUA_GCPARAM, LUA_GCPPAUSE, pause);
    lua_gc(L, LUA_GCPARAM, LUA_GCPSTEPMUL, stepmul);
    lua_gc(L, LUA_GCPARAM, LUA_GCPSTEPSIZE, 100);       /* soon again, as a step ends where the marking does */
#else
    lua_gc(L, LUA_GCSETPAUSE, pause);
    lua_gc(L, LUA_GCSETSTEPMUL, stepmul);
#endif
}

static void a_finalizer_pushes_what_is_being_pushed(void)
{
    static const rrc_type Late = { .tp_name = "Late", .tp_basicsize = sizeof(rrc_object) };
    int i, times = 0;
    for (i = 0; i < 8; i++) {
        lua_State *L = open_state();
        rrc_heap *heap = rrc_lua_heap(L);
        int before = late_pushes;
        lua_register(L, "push_late", push_late);
        run(L, "collectgarbage() collectgarbage('stop') for i = 1, 9 do finalizer(push_late) end");
        late = rrc_new(heap, &Late);
        lua_gc(L, LUA_GCRESTART, 0);
        set_pace(L, 0, LUA_VERSION_NUM == 501 ? 0 : LUA_VERSION_NUM == 504 ? 1000 : 1000000);
        rrc_lua_push(L, heap, late);
        times += late_pushes > before;
        if (late_pushes > before) {
            lua_getglobal(L, "late");
            check(lua_rawequal(L, -1, -2));
            lua_pop(L, 1);
        }
        check_ptr(rrc_lua_test(L, -1, NULL), late);
        rrc_decref(heap, late);
        late = NULL;
        close_state(L);
    }
    check(times > 0);
    check_int(blocks, 0);
}

/* To open the heap itself. */
static void opening_fails(void)
{
    long n;
    int opened = 0;
    for (n = 0; !opened; n += unit_is_quick() ? 13 : 1) {
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

/* Runs the global function `task` in a coroutine that the stack of this function does not have. */
static int run_task(lua_State *L)
{
    lua_State *thread = lua_newthread(L);
#if LUA_VERSION_NUM >= 504
    int results;
#endif
    lua_setfield(L, LUA_REGISTRYINDEX, "task");
    lua_getglobal(thread, "task");
#if LUA_VERSION_NUM >= 504
    check_int(lua_resume(thread, L, 0, &results), 0);
#elif LUA_VERSION_NUM >= 502
    check_int(lua_resume(thread, L, 0), 0);
#else
    check_int(lua_resume(thread, 0), 0);
#endif
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, "task");
    return 0;
}

/* A coroutine whose resumer is unknown closes an object, which C functions use or do not use. */
static void close_in_a_hidden_coroutine(void)
{
    lua_State *L = open_state();
    lua_pushcfunction(L, run_task);
    lua_setglobal(L, "run_task");
    run(L, "local node = nodes.new(1)\n"
           "task = function() node:close() end\n"
           "assert(node:use(run_task) == 1)\n"
           "assert(nodes.new(2).id == 2)\n"
           "task = nil");
    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_gc(L, LUA_GCCOLLECT, 0);
    check_int(live(), 0);
    run(L, "task = function()\n"
           "    local node = nodes.new(1)\n"
           "    node:use(function() node:close() end)\n"
           "    node = nil\n"
           "    collectgarbage() collectgarbage()\n"
           "    task = nodes.live()\n"
           "end\n"
           "run_task() assert(task == 0, task)");
    run(L, "local node = nodes.new(1)\n"
           "task = function() node:close() end run_task()\n"
           "assert(nodes.live() == 1)\n"
           "nodes.new(2) assert(nodes.live() == 1)");
    close_state(L);
    check_int(live(), 0);
    check_int(blocks, 0);
}

#if RRCL_HAS_MODES
/* A thread that has called nothing needs memory to call a finalizer, and gets none. */
static int collect_without_memory(lua_State *L)
{
    lua_State *bare = lua_newthread(L);
    allocations_left = 0;
    fail_on = 1;
    lua_gc(bare, LUA_GCCOLLECT, 0);
    return 0;
}

/* Each collection is one tick, whoever looks first. */
static void the_clock_ticks_once_for_each_cycle(void)
{
    lua_State *L = open_state();
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    uint32_t clock, i;
    lua_gc(L, LUA_GCSTOP, 0);
    lua_gc(L, LUA_GCCOLLECT, 0);                /* 5.5 can have ended a cycle while the state was opened */
    clock = state->ticker.ended;
    for (i = 1; i < 5; i++) {
        rrcl_read_clock(state);
        check_int(state->ticker.ended == clock + i - 1, 1);
        lua_gc(L, LUA_GCCOLLECT, 0);
        check_int(state->ticker.ended == clock + i, 1);
        rrcl_read_clock(state);
        check_int(state->ticker.ended == clock + i, 1);
    }
    lua_pushnil(state->hidden);                 /* Lua has found the ticker dead, and calls its __gc later */
    rrcl_set(state, RRCL_VALUES, RRCL_CLOCK_SLOT);
    for (i = 0; i < 3; i++) {
        rrcl_read_clock(state);
        check_int(state->ticker.ended == clock + 5, 1);
    }
    lua_gc(L, LUA_GCCOLLECT, 0);                /* the same cycle: the ticker is back */
    check_int(state->ticker.ended == clock + 5, 1);
    lua_gc(L, LUA_GCCOLLECT, 0);
    check_int(state->ticker.ended == clock + 6, 1);
    close_state(L);
}

/* A cycle has found the sentinel and the ticker dead. A call sees that the clock has ticked, and asks for the next cycle,
   before the first one is counted. That is no reason for a full collection. */
static void an_early_tick_makes_no_full_collection(void)
{
    lua_State *L = open_state();
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    int i;
    run(L, "nodes.new(1) collectgarbage() setmetatable({}, { __gc = function() full = true end })");
    lua_gc(L, LUA_GCSTOP, 0);
    for (i = 0; i < 2; i++) {
        lua_pushnil(state->hidden);
        rrcl_set(state, RRCL_VALUES, i == 0 ? RRCL_CLOCK_SLOT : RRCL_SENTINEL_SLOT);
    }
    rrcl_read_clock(state);
    for (i = 0; i < 2; i++) {
        state->next_kbytes = 0;
        lua_gc(L, LUA_GCRESTART, 0);
        rrcl_pace(L, state);
        lua_gc(L, LUA_GCSTOP, 0);
        check_int(state->is_asked, 1);
        if (rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel))
            rrcl_end_cycle(L, state);
    }
    run(L, "assert(not full)");
    close_state(L);
}

/* The clock is lost if its __gc cannot be called. */
static void a_lost_clock_is_replaced(void)
{
    lua_State *L = open_state();
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    uint32_t clock;
    int i;
    lua_setallocf(L, limited_alloc, NULL);
    for (i = 0; i < 3; i++) {
        lua_pushcfunction(L, collect_without_memory);
        (void)lua_pcall(L, 0, 0, 0);
        allocations_left = -1;
        fail_on = 0;
        lua_settop(L, 0);
    }
    for (i = 0; i < 16; i++)            /* it is looked for now and then */
        run(L, "nodes.new(2) rawrefcount_step() collectgarbage()");
    clock = state->ticker.ended;
    lua_gc(L, LUA_GCCOLLECT, 0);
    rrcl_read_clock(state);
    check_int(state->ticker.ended == clock + 1, 1);
    collect_all(L);
    check_int(live(), 0);
    close_state(L);
    check_int(blocks, 0);
}
#define WITH_CLOCK UNIT(the_clock_ticks_once_for_each_cycle), UNIT(an_early_tick_makes_no_full_collection), \
                   UNIT(a_lost_clock_is_replaced),
#else
#define WITH_CLOCK
#endif

/* ---- the end in order ---- */

static char gone[100];

/* The ids that were freed since the last call, in order. */
static const char *freed_ids(void)
{
    lua_State *L = open_state();
    run(L, "ids = nodes.freed()");
    lua_getglobal(L, "ids");
    strcpy(gone, lua_tostring(L, -1));
    lua_close(L);
    return gone;
}

/* Each node owns the next one through a table or a function. The last one is a Wrapper. */
static const char chains[] =
    "local kinds, i, j = { 'Node', 'Untracked', 'Finalized', 'Stubborn', 'Closing', 'Wrapper' }, ... "
    "local kind, order, made = kinds[i], j == 0 and { 1, 2, 3, 4 } or { 4, 2, 3, 1 }, {} "
    "for _, id in ipairs(order) do made[id] = nodes.new(id, kind) end "
    "for id = 1, 3 do local n = made[id + 1] made[id]:set(1, id ~= 2 and { { n } } or function() return n end) end "
    "made[4]:set(1, { nodes.new(5, 'Wrapper') }) "
    "local first = made[1] "
    "if j == 0 then all = made else "
    "  function use() return first end "
    "  package.loaded.module = setmetatable({ made[1], use = use }, { __index = made }) "
    "  package.loaded.use = use "
    "  thread = coroutine.create(function() local m = made coroutine.yield() return m end) coroutine.resume(thread) "
    "end";

static const char *const modes[] = {
    "", "rawrefcount_step() collectgarbage()", "for i = 1, 3 do rawrefcount_collect() end",
    "collectgarbage(_VERSION == 'Lua 5.4' and 'generational' or 'collect') rawrefcount_step()" };

static void the_end_is_in_order(void)
{
    int kind, way, mode;
    for (kind = 1; kind <= 6; kind++)
        for (way = 0; way < 2; way++)
            for (mode = 0; mode < 4; mode++) {
                lua_State *L = open_state();
                unit_context("kind %d, way %d, mode %d: ", kind, way, mode);
                run(L, "nodes.freed()");
                check(luaL_loadstring(L, chains) == 0);
                lua_pushinteger(L, kind);
                lua_pushinteger(L, way);
                if (lua_pcall(L, 2, 0, 0) != 0)
                    unit_fail(__FILE__, __LINE__, "%s", lua_tostring(L, -1));
                run(L, modes[mode]);
                rrc_lua_close(L);
                check_int(live(), 0);
                check_int((int)blocks, 0);
                check_str(freed_ids(), "1 2 3 4 5 ");
            }
    unit_context("%s", "");
}

static int close_function(lua_State *L)
{
    rrc_lua_close(L);
    return 0;
}

static int worked;

static int work_function(lua_State *L)
{
    (void)L;
    worked++;
    return 0;
}

/* A function of C that a script calls cannot close the state. Finalizers can fail, and can use Lua's libraries. What C
   holds lives on. A cycle over both heaps goes, too. The state can be closed by another thread of it, and without a heap. */
static void what_happens_at_an_end_in_order(void)
{
    lua_State *L = open_state();
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *held;
    run(L, "nodes.freed()");
    lua_register(L, "close", close_function);
    lua_register(L, "works", work_function);
    worked = 0;
    run(L, "local closes, message = pcall(close) "
           "assert(not closes and message:find('rrc_lua_close: a function is running in this thread'), message) "
           "all = {} made = 0 "
           "for i = 1, 20 do all[i] = finalizer(function() error('fails') end) end "
           "for i = 1, 20 do all[20 + i] = finalizer(function() "
           "    assert(print and string.format('%d', math.floor(2.5)) == '2' and io.type(io.stdout) == 'file') "
           "    assert(io.stdout:write('') and table.concat({ os.date('%Y') }) ~= '' and all == nil) "
           "    works() "
           "end) end "
           "cycle = nodes.new(7) local c = cycle c:set(1, function() return c end) "
           "kept = nodes.new(8) nodes.hold(kept) "
           "first = nodes.new(1) local second, peer = nodes.new(2), nodes.new(9) "
           "first:set(1, { second }) first:set(2, peer) peer:set(1, first) second:set(1, { nodes.new(3) }) "
           "function finalizes() end ");
    lua_getglobal(L, "kept");
    held = rrc_lua_ref(L, heap, -1);
    run(L, "nodes.release(1)");
    lua_settop(L, 0);
    rrc_lua_close(lua_newthread(L));
    check_int(worked, 20);
    check_int(live(), 1);
    rrc_decref(heap, held);
    check_int(live(), 0);
    check_int((int)blocks, 0);
    check(strstr(freed_ids(), "2 ") < strstr(gone, "3 ") && strstr(gone, "1 ") < strstr(gone, "2 "));
    rrc_lua_close(open_plain_state());
}

/* Each allocation fails in turn, while the roots are dropped and both heaps are collected. */
static void an_allocation_fails_at_an_end_in_order(void)
{
    long n;
    for (n = 0; allocations_left < 0; n++) {
        lua_State *L = open_state();
        unit_context("allocation %ld", n);
        check(luaL_loadstring(L, chains) == 0);
        lua_pushinteger(L, 3);
        lua_pushinteger(L, n % 2);
        check(lua_pcall(L, 2, 0, 0) == 0);
        lua_setallocf(L, limited_alloc, NULL);
        allocations_left = n;
        rrc_lua_close(L);
        check_int(live(), 0);
        check_int((int)blocks, 0);
    }
    allocations_left = -1;
    check(n > 3);
    unit_context("%s", "");
}

UNIT_GROUP(embed, UNIT(several_states), UNIT(close_with_everything_alive), UNIT(objects_outlive_their_state),
           UNIT(the_end_reports_leaks), UNIT(the_end_is_in_order),
           UNIT(what_happens_at_an_end_in_order), UNIT(an_allocation_fails_at_an_end_in_order),
           UNIT(callbacks_without_a_caller), UNIT(errors_are_kept_for_raise), UNIT(full_stacks),
           UNIT(close_in_a_hidden_coroutine), UNIT(each_cycle_ends_once_with_an_early_sentinel),
           UNIT(each_cycle_is_counted_once), UNIT(sentinels_that_wait_are_few), UNIT(each_cycle_is_decided_once), UNIT(a_finalizer_pushes_what_is_being_pushed),
           UNIT(finalizers_run_at_the_end), UNIT(slots_use_what_is_owned),
           UNIT(an_allocation_fails), UNIT(all_allocations_fail_from_one_on), UNIT(an_allocation_fails_for_links),
           UNIT(an_allocation_fails_for_values), UNIT(all_allocations_fail_for_values), WITH_CLOCK UNIT(opening_fails));

#ifdef EMBED_SCRIPTS
#include "rawrefcount.c"                    /* the module */
int luaopen_widgets(lua_State *L);

static int run_script(int argc, char **argv)
{
    static const luaL_Reg modules[] = { { "rawrefcount", luaopen_rawrefcount }, { "nodes", luaopen_nodes },
                                        { "widgets", luaopen_widgets }, { "classes", luaopen_classes } };
    lua_State *L = luaL_newstate();
    int i, status;
    luaL_openlibs(L);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (i = 0; i < (int)(sizeof modules / sizeof *modules); i++) {
        lua_pushcfunction(L, modules[i].func);
        lua_setfield(L, -2, modules[i].name);
    }
    lua_settop(L, 0);
    status = luaL_loadfile(L, argv[1]);
    for (i = 2; i < argc; i++)
        lua_pushstring(L, argv[i]);
    status = status != 0 ? status : lua_pcall(L, argc - 2, 0, 0);
    if (status != 0)
        printf("FAILED: %s\n", lua_tostring(L, -1));
    lua_close(L);
    if (blocks != 0)
        printf("FAILED: %ld blocks are left\n", blocks);
    return status != 0 || blocks != 0;
}
#endif

extern const unit_group slots;               /* slots.c */

int main(int argc, char **argv)
{
    const unit_group *const groups[] = { &embed, &slots };
#ifdef EMBED_SCRIPTS
    if (argc > 1 && strstr(argv[1], ".lua") != NULL)
        return run_script(argc, argv);
#endif
    return unit_main(argc, argv, groups, 2);
}
