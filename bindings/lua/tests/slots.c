/* slots.c - what a tp_finalize, a tp_clear and a tp_dealloc can use: a part of embed.c. The bindings for
 * Ruby and mruby have the same places.
 *
 * An owner owns a string and a function of Lua, and looks at both in each of its slots. Its `next` leads
 * on: to a table with another owner's proxy, or back to itself. Its tp_clear clears `next` only, so that
 * its tp_dealloc still has the rest. Each place gives a line of the table in README.md, which must be
 * there word for word. */
#include "nodes.h"

#include <stdio.h>
#include <string.h>

#include <lualib.h>

#include "unit.h"

/* Until 5.4.3 a finalizer that collects while the state is closed ends all objects at once: see README.md. */
#if LUA_VERSION_NUM >= 504
#define NEVER_COLLECTS_IN_FINALIZERS (LUA_VERSION_RELEASE_NUM >= 50404)
#else
#define NEVER_COLLECTS_IN_FINALIZERS 0
#endif

enum { FINALIZE, CLEAR, DEALLOC, SLOTS };
enum { ALL, STRING, NOTHING, WRONG, FINDINGS };

typedef struct owner {
    rrc_object  head;
    int         id, is_cleared;
    rrc_object *text, *callback, *next;
} owner;

static int found[SLOTS][FINDINGS];
static int wrong;                       /* a string or function that is another's */
static int owners;                      /* that live */
static int met;                         /* by the weak tables: what is cleared, or deallocated */
static int is_busy;                     /* the slots use all else that there is, and collect */
static int is_at_end, can_collect;
static rrc_object *held;                /* by C */

static int read_text(lua_State *L)
{
    const owner *o = (const owner *)lua_touserdata(L, 1);
    char text[40];
    rrc_lua_push(L, rrc_lua_heap(L), o->text);
    sprintf(text, "text %d", o->id);
    if (lua_isnil(L, -1))
        return luaL_error(L, "the text is gone");
    wrong += !lua_isstring(L, -1) || strcmp(lua_tostring(L, -1), text) != 0;
    return 0;
}

/* The function returns the number of its owner. */
static int call_callback(lua_State *L)
{
    const owner *o = (const owner *)lua_touserdata(L, 1);
    rrc_lua_push(L, rrc_lua_heap(L), o->callback);
    lua_call(L, 0, 1);
    wrong += lua_tointeger(L, -1) != o->id;
    return 0;
}

/* One that is being deallocated gets no proxy. */
static int push_self(lua_State *L)
{
    rrc_lua_push(L, rrc_lua_heap(L), (rrc_object *)lua_touserdata(L, 1));
    return 0;
}

/* Each works, or fails as its comment says. */
static int use_all(lua_State *L)
{
    owner *o = (owner *)lua_touserdata(L, 1);
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *ob;
    int top = lua_gettop(L);
    rrc_lua_push(L, heap, o->next);
    rrc_lua_peek(L, heap, -1);
    rrc_lua_test(L, -1, NULL);
    ob = rrc_lua_ref(L, heap, -1);
    check(ob == NULL || ob == o->next);
    RRC_CLEAR(heap, ob);
    rrc_lua_push(L, heap, o->callback);
    ob = rrc_lua_ref(L, heap, -1);
    check(ob == NULL || ob == o->callback);
    RRC_CLEAR(heap, ob);
    lua_newtable(L);
    ob = rrc_lua_ref(L, heap, -1);
    check(rrc_lua_is_value(heap, ob));
    RRC_CLEAR(heap, ob);
    lua_settop(L, top);
    if (is_at_end && o->is_cleared) {
        rrc_lua_push(L, heap, &o->head);        /* its proxy stays in use; or it is being deallocated */
        lua_setglobal(L, "kept");
    }
    rrc_lua_step(L, heap);
    if (can_collect) {
        lua_gc(L, LUA_GCCOLLECT, 0);
        rrc_lua_collect(L, heap);
    }
    return 0;
}

static int do_nothing(lua_State *L)
{
    (void)L;
    return 0;
}

/* (The error that is kept last would be raised by the collection.) */
static void look(rrc_heap *heap, owner *o, int slot)
{
    int has_text, has_callback;
    wrong = 0;
    if (is_busy) {
        if (slot == DEALLOC)
            check(rrc_lua_protect(heap, push_self, o) != 0);
        rrc_lua_native_bytes(heap, 100);
        rrc_lua_protect(heap, use_all, o);
        rrc_lua_native_bytes(heap, -100);
    }
    has_text = rrc_lua_protect(heap, read_text, o) == 0;
    has_callback = rrc_lua_protect(heap, call_callback, o) == 0;
    check_int(rrc_lua_call(heap, o->callback, 0, NULL) == 0, has_callback);
    rrc_lua_protect(heap, do_nothing, NULL);
    found[slot][wrong > 0 || (has_callback && !has_text) ? WRONG : has_callback ? ALL : has_text ? STRING : NOTHING]++;
}

static int owner_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    owner *o = (owner *)ob;
    RRC_VISIT(o->text);
    RRC_VISIT(o->callback);
    RRC_VISIT(o->next);
    return 0;
}

static void owner_finalize(rrc_heap *heap, rrc_object *ob) { look(heap, (owner *)ob, FINALIZE); }

static int owner_clear(rrc_heap *heap, rrc_object *ob)
{
    ((owner *)ob)->is_cleared = 1;
    look(heap, (owner *)ob, CLEAR);
    RRC_CLEAR(heap, ((owner *)ob)->next);
    return 0;
}

static void owner_dealloc(rrc_heap *heap, rrc_object *ob)
{
    owner *o = (owner *)ob;
    o->is_cleared = 1;
    look(heap, o, DEALLOC);
    RRC_CLEAR(heap, o->next);
    RRC_CLEAR(heap, o->text);
    RRC_CLEAR(heap, o->callback);
    owners--;
    rrc_gc_del(heap, ob);
}

#define OWNER_TYPE(name, finalize) \
    static const rrc_type name = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = #name, \
        .tp_basicsize = sizeof(owner), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = owner_dealloc, \
        .tp_traverse = owner_traverse, .tp_clear = owner_clear, .tp_finalize = finalize }
OWNER_TYPE(Owner, owner_finalize);
OWNER_TYPE(Unfinalized, NULL);

static const rrc_type *type_of_owners;

/* new_owner(id, text, callback) */
static int new_owner(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    owner *o = (owner *)rrc_gc_new(heap, type_of_owners);
    check(o != NULL);
    owners++;
    o->id = (int)lua_tointeger(L, 1);
    check_int(rrc_gc_track(heap, &o->head), RRC_OK);
    rrc_lua_give(L, heap, &o->head);
    o->text = rrc_lua_ref(L, heap, 2);
    o->callback = rrc_lua_ref(L, heap, 3);
    return 1;
}

static int set_next(lua_State *L)
{
    owner *o = (owner *)rrc_lua_check(L, 1, NULL);
    o->next = rrc_lua_ref(L, rrc_lua_heap(L), 2);
    return 0;
}

static int hold_owner(lua_State *L)
{
    held = rrc_lua_ref(L, rrc_lua_heap(L), 1);
    return 0;
}

/* What is in a weak table is no object that is being cleared. */
static int meet(lua_State *L)
{
    const owner *o = (const owner *)rrc_lua_test(L, 1, NULL);
    met += o != NULL && o->is_cleared;
    return 0;
}

static void run(lua_State *L, const char *text)
{
    if (luaL_loadstring(L, text) != 0 || lua_pcall(L, 0, 0, 0) != 0)
        unit_fail(__FILE__, __LINE__, "%s", lua_tostring(L, -1));
}

extern long blocks;                     /* of the binding and the header */

static const char library[] =
    "local values, keys = setmetatable({}, { __mode = 'v' }), setmetatable({}, { __mode = 'k' }) "
    "function owner(id) "
    "  local o = new_owner(id, 'text ' .. id, function() "
    "    for _, x in pairs(values) do meet(x) end "
    "    for x in pairs(keys) do meet(x) end "
    "    return id "
    "  end) "
    "  values[id], keys[o] = o, true "
    "  return o "
    "end "
    "function chain() "
    "  local first = owner(1) "
    "  local last = first "
    "  for i = 2, 10 do "
    "    local o = owner(i) "
    "    set_next(last, { o }) "
    "    last = o "
    "  end "
    "  return first "
    "end "
    "function cycle() local o = owner(1) set_next(o, { o }) return o end "
    "function cycle_of_c() local o = owner(1) set_next(o, o) return o end "
    "function cycle_below() local top = nodes.new(1) top:set(1, cycle_of_c()) return top end";

/* How a place is reached: by rawrefcount.collect(), or by full collections of Lua's alone. */
enum { BY_COLLECT = 1, BY_LUA = 2, BOTH = BY_COLLECT | BY_LUA };

/* When C, which holds the object while its proxy goes, lets go of it. */
enum { NOT_HELD, CLOSED, HELD, HELD_LONGER };

typedef struct place {
    const char *name, *script;
    int         count, held, is_end, ways;
} place;

static const place places[] = {
    { "alone", "owner(1)", 1, NOT_HELD, 0, BOTH },
    { "alone, let go of by C", "owner(1)", 1, HELD, 0, BOTH },
    { "a cycle over both heaps", "cycle()", 1, NOT_HELD, 0, BOTH },
    { "a chain over both heaps", "chain()", 10, NOT_HELD, 0, BOTH },
    { "a cycle of C", "cycle_of_c()", 1, NOT_HELD, 0, BOTH },
    { "a cycle of C, let go of by C", "cycle_of_c()", 1, HELD, 0, BOTH },
    { "a cycle of C below an object that dies, by `collect()`", "cycle_below()", 1, NOT_HELD, 0, BY_COLLECT },
    { "a cycle of C below an object that dies, by Lua", "cycle_below()", 1, NOT_HELD, 0, BY_LUA },
    { "closed", "owner(1)", 1, CLOSED, 0, BOTH },
    { "the end: alone", "owner(1)", 1, NOT_HELD, 1, BOTH },
    { "the end: a cycle over both heaps", "cycle()", 1, NOT_HELD, 1, BOTH },
    { "the end: a chain over both heaps", "chain()", 10, NOT_HELD, 1, BOTH },
    { "the end: a cycle of C", "cycle_of_c()", 1, NOT_HELD, 1, BOTH },
    { "the end: a cycle of C, let go of by C", "cycle_of_c()", 1, HELD, 1, BOTH },
    { "after the end: alone, let go of by C", "owner(1)", 1, HELD_LONGER, 1, BOTH },
};

static int collect(lua_State *L)
{
    rrc_lua_collect(L, rrc_lua_heap(L));
    return 0;
}

static lua_State *open_place(const place *where)
{
    lua_State *L = luaL_newstate();
    check(L != NULL);
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_nodes);
    lua_call(L, 0, 1);
    lua_setglobal(L, "nodes");
    lua_register(L, "new_owner", new_owner);
    lua_register(L, "set_next", set_next);
    lua_register(L, "hold_owner", hold_owner);
    lua_register(L, "meet", meet);
    lua_register(L, "collect", collect);
    run(L, library);
    lua_pushfstring(L, "it = %s", where->script);
    run(L, lua_tostring(L, -1));
    lua_settop(L, 0);
    run(L, "for i = 1, 4 do collect() end");    /* only `it` has a proxy now, and what Lua refers to */
    if (where->held >= HELD)
        run(L, "hold_owner(it) it = nil for i = 1, 4 do collect() end");
    return L;
}

/* At the end, all is still reachable by BY_COLLECT, and garbage by BY_LUA. */
static void go_to(const place *where, int way)
{
    lua_State *L = open_place(where);
    rrc_heap *heap = rrc_lua_heap(L);
    is_at_end = where->is_end;
    can_collect = !where->is_end || NEVER_COLLECTS_IN_FINALIZERS;
    if (where->held == HELD)
        rrc_decref(heap, held);
    if (where->held == CLOSED)
        run(L, "it:close()");
    if (!where->is_end) {
        run(L, way == BY_COLLECT ? "it = nil for i = 1, 4 do collect() end"
                                 : "it = nil for i = 1, 40 do collectgarbage() end");
        check_int(rrc_check(heap), RRC_OK);
        check_int(owners, 0);
    }
    if (way == BY_LUA)
        run(L, "it = nil");
    lua_close(L);
    if (where->held == HELD_LONGER) {
        check_int(owners, 1);
        rrc_decref(heap, held);
    }
    check_int(owners, 0);
    check_int(met, 0);
    check_int(blocks, 0);
}

/* A cell of the table: what a slot of `count` objects has found. */
static const char *finding(int slot, int count)
{
    static const char *const names[] = { "all", "the string", "nothing", "**wrong**" };
    int i, sum = 0;
    for (i = 0; i < FINDINGS; i++)
        sum += found[slot][i];
    for (i = 0; i < FINDINGS; i++)
        if (found[slot][i] == count && sum == count)
            return names[i];
    return sum == 0 ? "-" : "**mixed**";
}

static char page[100000];

static void read_page(void)
{
    FILE *file = fopen("bindings/lua/README.md", "rb");
    check(file != NULL);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
}

static void check_place(const place *where, int way)
{
    char line[2][50], row[200];
    int has_finalizer;
    for (has_finalizer = 0; has_finalizer < 2; has_finalizer++) {
        memset(found, 0, sizeof found);
        met = 0;
        type_of_owners = has_finalizer ? &Owner : &Unfinalized;
        unit_context("%s, way %d%s%s", where->name, way, is_busy ? ", busy" : "", has_finalizer ? ", with a finalizer" : "");
        go_to(where, way);
        if (!has_finalizer)
            check_str(finding(FINALIZE, where->count), "-");
        sprintf(line[has_finalizer], " %s | %s |", finding(CLEAR, where->count), finding(DEALLOC, where->count));
    }
    check_str(line[0], line[1]);
    sprintf(row, "\n| %s | %s |%s\n", where->name, finding(FINALIZE, where->count), line[1]);
    if (strstr(page, row) == NULL)
        unit_fail(__FILE__, __LINE__, "README.md does not say: %s", row);
}

static void slots_find_what_the_page_says(void)
{
    size_t i;
    read_page();
    for (i = 0; i < sizeof places / sizeof *places; i++)
        for (is_busy = 0; is_busy < 2; is_busy++) {
            if ((places[i].ways & BY_COLLECT) != 0)
                check_place(&places[i], BY_COLLECT);
            if ((places[i].ways & BY_LUA) != 0)
                check_place(&places[i], BY_LUA);
        }
    unit_context("%s", "");
}

UNIT_GROUP(slots, UNIT(slots_find_what_the_page_says));
