/* rrc_lua_insight.h - version 2.0.0
 * Why an object is alive, through C and Lua: rawrefcount.explain, snapshot and graph in scripts.
 *
 *     #define RAWREFCOUNT_IMPLEMENTATION
 *     #define RRC_LUA_IMPLEMENTATION
 *     #include "rrc_lua.h"
 *     #include "rrc_lua_insight.h"            // this file and rrc_insight.h are optional
 *
 *     rrc_lua_define_insight(L);              // in luaopen_...
 *
 * RRC_LUA_IMPLEMENTATION switches on the functions of both headers, in exactly one file of the module.
 *
 * CONTENTS: the function, text, what values of Lua refer to, what scripts have
 */

#ifndef RRC_LUA_INSIGHT_H
#define RRC_LUA_INSIGHT_H

#ifndef RRC_LUA_H
#error "rrc_lua_insight.h: include rrc_lua.h first"
#endif

#include "rrc_insight.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The module `rawrefcount`, which scripts require, gets these functions in this state:

       explain(x)           in words: why C's part of x is alive, with the whole path from a global, a local or C
                            through both heaps; nil if x has no part in C
       snapshot(file, bar)  writes both heaps, for the memory panel of Chrome; bar: with a bar on stderr, if that is
                            a terminal, which shows how far it is
       graph()              C's part in the language of Graphviz

   In a module that is built with RRC_DEBUG, lua_close prints on stderr what C still holds, and why. Raises. */
RRC_LUA_API void rrc_lua_define_insight(lua_State *L);

#ifdef __cplusplus
}
#endif

#endif /* RRC_LUA_INSIGHT_H */

#if defined(RRC_LUA_IMPLEMENTATION) && !defined(RRCL_INSIGHT_IMPLEMENTED)
#define RRCL_INSIGHT_IMPLEMENTED

#include <stdio.h>

/* Is stderr a terminal? */
#if defined(_WIN32)
#include <io.h>
#define RRCL_VIEW_HAS_TERMINAL _isatty(2)
#else
#include <unistd.h>
#define RRCL_VIEW_HAS_TERMINAL isatty(2)
#endif

/* Text that is written piece by piece, by a function that must not call Lua. */
typedef struct rrcl_text {
    char  *bytes;
    size_t size, capacity;
    int    is_lost;             /* there was no memory */
} rrcl_text;

static void rrcl_text_write(void *arg, const char *bytes, size_t size)
{
    rrcl_text *t = (rrcl_text *)arg;
    if (t->is_lost)
        return;
    if (t->capacity - t->size < size) {
        size_t capacity = t->capacity * 2 + size + 1000;
        char *grown = (char *)RRC_LUA_REALLOC(t->bytes, capacity);
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

static int rrcl_text_push_protected(lua_State *L)
{
    const rrcl_text *t = (const rrcl_text *)lua_touserdata(L, 1);
    lua_pushlstring(L, t->bytes != NULL ? t->bytes : "", t->size);
    lua_setfield(L, LUA_REGISTRYINDEX, RRCL_NAME ".text");
    return 0;
}

/* Push what was written, free it, and raise what went wrong. */
static int rrcl_text_push(lua_State *L, rrcl_text *t, int code)
{
    int status = 0;
    if (code == RRC_OK && t->is_lost)
        code = RRC_ENOMEM;
    if (code == RRC_OK)
        status = rrcl_pcall(L, rrcl_text_push_protected, t);
    (void)RRC_LUA_REALLOC(t->bytes, 0);
    if (code != RRC_OK)
        return luaL_error(L, "%s", rrc_error_message(code));
    if (status != 0)
        return lua_error(L);
    lua_getfield(L, LUA_REGISTRYINDEX, RRCL_NAME ".text");
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, RRCL_NAME ".text");
    return 1;
}

/* ---- what values of Lua refer to ----
 *
 * Lua cannot find a value by its address. So all values that can be reached are listed first: `list` has
 * them by number, and `seen` has the number of each. Then the header calls the hooks, which allocate
 * nothing in Lua. The number of a value that has a cell is that of the cell. Others have their number in the
 * list. Strings and numbers are not shown. */

typedef struct rrcl_view {
    lua_State    *L;
    rrcl_state   *state;
    int           list, seen, ids, globals, mode;   /* places on the stack; ids: 0, or a table with an id of each */
    int           count;
    rrc_edgeproc  visit;        /* NULL: what is found is listed */
    void         *arg;
    int           shows_bar;
    int           bar;          /* percents that it shows, plus 1; 0: it is not there */
} rrcl_view;

/* Numbers of the list come after those of all cells. */
#define RRCL_VIEW_LISTED ((uintptr_t)1 << 28)

/* For the header a value with a cell is the cell, and any other one its number, so that it is not the address of a
   cell. */
static rrc_gcref rrcl_view_ref(const rrcl_view *v, uintptr_t number)
{
    return number > RRCL_VIEW_LISTED ? (rrc_gcref)((number << 2) + 2)
                                     : (rrc_gcref)rrc_cell_at(v->state->heap, (unsigned)number);
}

#define RRCL_VIEW_IDS RRCL_NAME ".ids"

/* Is the value on top of the stack the header's own? Else set *number to its number. */
static int rrcl_view_is_own(rrcl_view *v, uintptr_t *number)
{
    const rrcl_proxy *proxy = rrcl_to_proxy(v->L, -1);
    rrc_object *ob;
    *number = RRCL_VIEW_LISTED + (uintptr_t)v->count + 1;
    if (proxy != NULL && rrcl_ob_of(proxy) != NULL) {
        *number = proxy->cell;
        return 0;
    }
    ob = rrcl_find_value(v->L, v->state, lua_gettop(v->L));
    if (ob != NULL && ob->ob_type == v->state->value_type)
        *number = ((rrcl_value *)(void *)ob)->cell->number;
    return (ob != NULL && ob->ob_type != v->state->value_type)
           || (lua_type(v->L, -1) == LUA_TTHREAD && lua_tothread(v->L, -1) == v->state->hidden);
}

/* List the value on top of the stack. */
static void rrcl_view_list(rrcl_view *v)
{
    lua_State *L = v->L;
    uintptr_t number;
    if (rrcl_view_is_own(v, &number))
        return;
    v->count++;
    lua_pushvalue(L, -1);
    lua_rawseti(L, v->list, v->count);
    lua_pushvalue(L, -1);
    lua_pushnumber(L, (lua_Number)number);
    lua_rawset(L, v->seen);
    if (v->ids == 0)
        return;
    lua_pushvalue(L, -1);
    lua_rawget(L, v->ids);
    if (lua_isnil(L, -1)) {
        lua_Number last;
        lua_rawgeti(L, v->ids, 0);              /* the last id */
        last = lua_tonumber(L, -1) + 1;
        lua_pop(L, 1);
        lua_pushnumber(L, last);
        lua_rawseti(L, v->ids, 0);
        lua_pushvalue(L, -2);
        lua_pushnumber(L, last);
        lua_rawset(L, v->ids);
    }
    lua_pop(L, 1);
}

/* What refers to the value on top of the stack by this name has been found. Pops the value. */
static void rrcl_view_found(rrcl_view *v, const char *name, size_t number)
{
    lua_State *L = v->L;
    uintptr_t known;
    if (rrcl_has_identity(lua_type(L, -1))) {
        lua_pushvalue(L, -1);
        lua_rawget(L, v->seen);
        known = (uintptr_t)lua_tonumber(L, -1);
        lua_pop(L, 1);
        if (v->visit == NULL && known == 0)
            rrcl_view_list(v);
        else if (v->visit != NULL && known != 0)
            v->visit(v->arg, rrcl_view_ref(v, known), name, number);
    }
    lua_pop(L, 1);
}

/* The field whose key is below its value, on top of the stack. Pops the value. */
static void rrcl_view_field(rrcl_view *v, const char *before)
{
    char name[100];
    lua_Number key = lua_type(v->L, -2) == LUA_TNUMBER ? lua_tonumber(v->L, -2) : -1;
    if (lua_type(v->L, -2) == LUA_TSTRING) {
        snprintf(name, sizeof name, "%s%.60s", before, lua_tostring(v->L, -2));
        rrcl_view_found(v, name, 0);
    } else if (key >= 0 && key < 4294967296.0) {
        rrcl_view_found(v, NULL, (size_t)key);
    } else {
        rrcl_view_found(v, "value", 0);
    }
}

static void rrcl_view_table(rrcl_view *v, int index)
{
    lua_State *L = v->L;
    const char *mode = NULL;
    int weak_keys, weak_values;
    if (lua_getmetatable(L, index)) {
        lua_pushvalue(L, v->mode);
        lua_rawget(L, -2);
        mode = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
        lua_pop(L, 1);
        rrcl_view_found(v, "metatable", 0);
    }
    weak_keys = mode != NULL && strchr(mode, 'k') != NULL;
    weak_values = mode != NULL && strchr(mode, 'v') != NULL;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (weak_values)
            lua_pop(L, 1);
        else
            rrcl_view_field(v, ".");
        lua_pushvalue(L, -1);
        if (weak_keys)
            lua_pop(L, 1);
        else
            rrcl_view_found(v, "key", 0);
    }
}

static void rrcl_view_function(rrcl_view *v, int index)
{
    char words[100];
    const char *name;
    int i;
    for (i = 1; (name = lua_getupvalue(v->L, index, i)) != NULL; i++) {
        snprintf(words, sizeof words, *name != '\0' ? "upvalue %.60s" : "upvalue %.0s%d", name, i);
        rrcl_view_found(v, words, 0);
    }
#if LUA_VERSION_NUM == 501
    lua_getfenv(v->L, index);
    rrcl_view_found(v, "environment", 0);
#endif
}

/* (A proxy's user value is a node, or will be one: of it, only the fields of scripts are shown.) */
static void rrcl_view_userdata(rrcl_view *v, int index)
{
    lua_State *L = v->L;
    if (lua_getmetatable(L, index))
        rrcl_view_found(v, "metatable", 0);
    rrcl_get_uservalue(L, index);
    if (rrcl_to_proxy(L, index) == NULL) {
        rrcl_view_found(v, "user value", 0);
    } else if (lua_type(L, -1) == LUA_TTABLE && rrcl_to_proxy(L, index)->has_table) {
        lua_rawgeti(L, -1, RRCL_FIELDS);
        rrcl_view_found(v, "fields", 0);
        lua_pop(L, 1);
    } else {
        lua_pop(L, 1);
    }
}

/* The locals of a thread, and the functions that it is in, without this one. */
static void rrcl_view_thread(rrcl_view *v, lua_State *co)
{
    lua_Debug ar;
    char words[100];
    const char *name;
    int level, i;
    if (v->visit == NULL && co != v->L && !lua_checkstack(co, 5))
        return;
    for (level = co == v->L; lua_getstack(co, level, &ar); level++) {
        for (i = 1; (name = lua_getlocal(co, &ar, i)) != NULL; i++) {
            if (co != v->L)
                lua_xmove(co, v->L, 1);
            snprintf(words, sizeof words, "local %.60s", name);
            rrcl_view_found(v, words, 0);
        }
        lua_getinfo(co, "f", &ar);
        if (co != v->L)
            lua_xmove(co, v->L, 1);
        rrcl_view_found(v, "a running function", 0);
    }
    for (i = 1; level == 0 && i <= lua_gettop(co); i++) {      /* it was not started yet */
        lua_pushvalue(co, i);
        lua_xmove(co, v->L, 1);
        rrcl_view_found(v, "the stack", 0);
    }
}

static void rrcl_view_roots(rrcl_view *v)
{
    lua_State *L = v->L;
    lua_pushnil(L);
    while (lua_next(L, v->globals))
        rrcl_view_field(v, "global ");
    lua_pushnil(L);
    while (lua_next(L, v->globals)) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        rrcl_view_found(v, "a key of the globals", 0);
    }
    rrcl_view_thread(v, L);
    lua_pushnil(L);
    while (lua_next(L, LUA_REGISTRYINDEX)) {
        if (lua_type(L, -2) == LUA_TSTRING && strncmp(lua_tostring(L, -2), RRCL_NAME, strlen(RRCL_NAME)) == 0)
            lua_pop(L, 1);
        else
            rrcl_view_field(v, "registry.");
    }
}

/* What the value on top of the stack refers to. Pops it. */
static void rrcl_view_value(rrcl_view *v)
{
    int index = lua_gettop(v->L);
    switch (lua_type(v->L, index)) {
    case LUA_TTABLE:    rrcl_view_table(v, index);                               break;
    case LUA_TFUNCTION: rrcl_view_function(v, index);                            break;
    case LUA_TUSERDATA: rrcl_view_userdata(v, index);                            break;
    case LUA_TTHREAD:   rrcl_view_thread(v, lua_tothread(v->L, index));          break;
    default:            break;
    }
    lua_settop(v->L, index - 1);
}

/* Push the value that p stands for, or nil. */
static void rrcl_view_push(rrcl_view *v, rrc_gcref p)
{
    if (((uintptr_t)p & 2) != 0) {
        lua_rawgeti(v->L, v->list, (int)(((uintptr_t)p >> 2) - RRCL_VIEW_LISTED));
    } else {
        rrcl_get_live(v->state, (const rrc_cell *)p);
        lua_xmove(v->state->hidden, v->L, 1);
    }
}

static void rrcl_view_edges(void *userdata, rrc_gcref p, rrc_edgeproc visit, void *arg)
{
    rrcl_view *v = (rrcl_view *)userdata;
    v->visit = visit;
    v->arg = arg;
    if (p == NULL) {
        rrcl_view_roots(v);
        return;
    }
    rrcl_view_push(v, p);
    rrcl_view_value(v);
}

/* (Lua does not say how large a table or a function is: these are the usual sizes.) */
static void rrcl_view_describe(void *userdata, rrc_gcref p, rrc_description *about)
{
    rrcl_view *v = (rrcl_view *)userdata;
    lua_State *L = v->L;
    rrcl_proxy *proxy;
    lua_Debug ar;
    rrcl_view_push(v, p);
    if (v->ids != 0) {
        lua_pushvalue(L, -1);
        if (!lua_isnil(L, -1))
            lua_rawget(L, v->ids);
        about->id = (uint32_t)lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    snprintf(about->text, sizeof about->text, "%s", lua_typename(L, lua_type(L, -1)));
    switch (lua_type(L, -1)) {
    case LUA_TTABLE:
        about->size = 56;
        lua_pushnil(L);
        for (; lua_next(L, -2); lua_pop(L, 1))
            about->size += 32;
        break;
    case LUA_TFUNCTION:
        about->size = 40;
        lua_pushvalue(L, -1);
        lua_getinfo(L, ">S", &ar);
        if (*ar.what == 'C')
            snprintf(about->text, sizeof about->text, "function of C");
        else
            snprintf(about->text, sizeof about->text, "function at %.60s:%d", ar.short_src, ar.linedefined);
        break;
    case LUA_TUSERDATA:
        about->size = 40 + rrcl_rawlen(L, -1);
        proxy = rrcl_to_proxy(L, -1);
        if (proxy != NULL)
            snprintf(about->text, sizeof about->text, "proxy of %.60s", rrcl_proxy_name(proxy));
        break;
    case LUA_TTHREAD:
        about->size = 200;
        break;
    case LUA_TNIL:
        snprintf(about->text, sizeof about->text, "dead");
        break;
    default:
        break;
    }
    lua_pop(L, 1);
}

/* Show how far a long function is, and nothing when it is done. (The bar does not go back when more is found
   to do.) */
static void rrcl_view_progress(void *userdata, const char *function, size_t done, size_t total)
{
    static const char marks[] = "########################################";
    rrcl_view *v = (rrcl_view *)userdata;
    int percents = (int)(100.0 * (double)done / ((double)total + 1));
    (void)function;
    if (done == total && v->bar > 0) {
        fprintf(stderr, "\r%75s\r", "");
        v->bar = 0;
    } else if (done < total && percents >= v->bar) {
        fprintf(stderr, "\rsnapshot [%-40.*s] %3d%%", percents * 2 / 5, marks, percents);
        v->bar = percents + 1;
    }
}

/* List the p's of links: C may be all that holds them. */
static void rrcl_view_link(void *arg, rrc_cell *cell)
{
    rrcl_view *v = (rrcl_view *)arg;
    if (cell->is_node)
        return;
    rrcl_get_live(v->state, cell);
    lua_xmove(v->state->hidden, v->L, 1);
    rrcl_view_found(v, NULL, 0);
}

static void rrcl_view_links(rrcl_view *v)
{
    v->visit = NULL;
    rrc_cell_each(v->state->heap, rrcl_view_link, v);
}

/* List all values. Everything that can fail is done here. */
static void rrcl_view_open(lua_State *L, rrcl_view *v, int with_ids)
{
    int i;
    luaL_checkstack(L, 30, "no room to look at all values");
    memset(v, 0, sizeof *v);
    v->L = L;
    v->state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    lua_newtable(L);
    v->list = lua_gettop(L);
    lua_newtable(L);
    v->seen = lua_gettop(L);
    lua_pushliteral(L, "__mode");
    v->mode = lua_gettop(L);
#if LUA_VERSION_NUM == 501
    lua_pushvalue(L, LUA_GLOBALSINDEX);
#else
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
#endif
    v->globals = lua_gettop(L);
    if (with_ids) {
        lua_getfield(L, LUA_REGISTRYINDEX, RRCL_VIEW_IDS);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            rrcl_push_weak(L, "k", 0, 0);
            lua_pushvalue(L, -1);
            lua_setfield(L, LUA_REGISTRYINDEX, RRCL_VIEW_IDS);
        }
        v->ids = lua_gettop(L);
    }
    rrcl_view_roots(v);
    rrcl_view_links(v);
    for (i = 1; i <= v->count; i++) {
        lua_rawgeti(L, v->list, i);
        rrcl_view_value(v);
    }
}

static rrc_insight rrcl_view_insight(rrcl_view *v)
{
    rrc_insight insight = { v, rrcl_view_edges, rrcl_view_describe, v->shows_bar ? rrcl_view_progress : NULL, NULL };
    return insight;
}

static int rrcl_script_explain(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrcl_text t = { NULL, 0, 0, 0 };
    rrc_object *ob;
    rrc_insight insight;
    rrcl_view v;
    int code;
    luaL_checkany(L, 1);
    ob = rrc_lua_peek(L, heap, 1);
    if (ob == NULL) {
        lua_pushnil(L);
        return 1;
    }
    rrcl_view_open(L, &v, 0);
    insight = rrcl_view_insight(&v);
    code = rrc_explain(heap, &insight, ob, rrcl_text_write, &t);
    return rrcl_text_push(L, &t, code);
}

static void rrcl_write_file(void *arg, const char *bytes, size_t size)
{
    fwrite(bytes, 1, size, (FILE *)arg);
}

static int rrcl_script_snapshot(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    int wants_bar = lua_toboolean(L, 2), code, is_lost;
    rrc_insight insight;
    FILE *file;
    rrcl_view v;
    rrcl_view_open(L, &v, 1);
    v.shows_bar = wants_bar && RRCL_VIEW_HAS_TERMINAL;
    file = fopen(name, "wb");
    if (file == NULL)
        return luaL_error(L, "cannot write %s", name);
    insight = rrcl_view_insight(&v);
    code = rrc_dump_heapsnapshot(v.state->heap, &insight, rrcl_write_file, file);
    is_lost = ferror(file) != 0;
    if (fclose(file) != 0 || is_lost)
        return luaL_error(L, "cannot write %s", name);
    if (code != RRC_OK)
        return luaL_error(L, "%s", rrc_error_message(code));
    return 0;
}

static int rrcl_script_graph(lua_State *L)
{
    rrcl_text t = { NULL, 0, 0, 0 };
    int code = rrc_dump_dot(rrc_lua_heap(L), NULL, rrcl_text_write, &t);
    return rrcl_text_push(L, &t, code);
}

#ifdef RRC_DEBUG
/* Have rrc_heap_free print what C still holds then. */
static void rrcl_report_leaks(rrc_heap *heap)
{
    (void)rrc_report_leaks(heap, NULL, rrcl_write_file, stderr);
}
#endif

RRC_LUA_API void rrc_lua_define_insight(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "explain", rrcl_script_explain }, { "snapshot", rrcl_script_snapshot }, { "graph", rrcl_script_graph },
        { NULL, NULL },
    };
    rrc_heap *heap = rrc_lua_heap(L);
    luaL_checkstack(L, 6, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_getfield(L, -1, RRCL_NAME);
    if (!lua_istable(L, -1)) {
        lua_pop(L, 1);
        rrcl_open_functions(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, RRCL_NAME);
    }
    rrcl_set_functions(L, functions);
    lua_pop(L, 2);
#ifdef RRC_DEBUG
    ((rrcl_state *)rrc_userdata(heap))->at_end = rrcl_report_leaks;
#else
    (void)heap;
#endif
}

#endif /* RRC_LUA_IMPLEMENTATION */
