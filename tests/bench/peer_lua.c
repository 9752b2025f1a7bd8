/* peer_lua.c N - what a plain binding to Lua does for a link, for the rows about links.
 *
 * A p is a userdata with a pointer, an ob a counted object of 48 bytes. The link: a table
 * with weak values finds p by ob's address, and p's __gc tells that ob has lost it. While C
 * holds ob, the binding keeps p by luaL_ref. (That makes no cycle collectable; it is what
 * one does without this library. What the binding of this project costs in Lua is measured
 * by bindings/lua/tests/bench.c.)
 *
 * Making a link is the entry and the metatable, beyond making p. This collector marks by
 * itself: a figure about a collection is that with links less that of the same userdata
 * without, in the same run. Userdata that Lua finalizes go in the collection after that, as
 * a rule; both are counted here, as it is the link that asks for it. */
#include <lua.h>
#include <lauxlib.h>
#include "peer.h"

typedef struct shell {
    intptr_t refcnt;
    int      ref;
    intptr_t payload[4];
} shell;                        /* 48 bytes */

enum { ROOTS = 1, WEAK, META };     /* where on the stack these tables are */

typedef struct heap {
    size_t     n;
    uint32_t  *order;
    shell    **ob;
    lua_State *L;
} heap;

static size_t finalized;

static int finalize(lua_State *L)
{
    shell *ob = *(shell **)lua_touserdata(L, 1);

    ob->refcnt = 1;             /* it would go on a queue now */
    finalized++;
    return 0;
}

/* Full collections, until all that has died is gone. */
static double collect(heap *h, int times)
{
    double start = bench_now();

    while (times-- > 0)
        lua_gc(h->L, LUA_GCCOLLECT, 0);
    return bench_now() - start;
}

/* A full collection in which nothing dies: the quickest of some, as differences of these are small. */
static double collect_live(heap *h)
{
    double best = collect(h, 1);
    int i;

    for (i = 0; i < 4; i++) {
        double next = collect(h, 1);
        best = next < best ? next : best;
    }
    return best;
}

static double bytes(heap *h)
{
    return lua_gc(h->L, LUA_GCCOUNT, 0) * 1024.0 + lua_gc(h->L, LUA_GCCOUNTB, 0);
}

static void new_table(heap *h, int where, const char *mode)
{
    lua_newtable(h->L);
    if (mode != NULL) {
        lua_newtable(h->L);
        lua_pushstring(h->L, mode);
        lua_setfield(h->L, -2, "__mode");
        lua_setmetatable(h->L, -2);
    }
    lua_replace(h->L, where);
}

/* New userdata, with links or without. Lua finds an object whose metatable has a __gc at
   once only if it is new. Returns the time. */
static double make(heap *h, int linked)
{
    lua_State *L = h->L;
    double start;
    size_t i;

    lua_gc(L, LUA_GCSTOP, 0);
    lua_createtable(L, (int)h->n, 0);
    lua_replace(L, ROOTS);
    for (i = 0; i < h->n; i++) {        /* now it is an array for good */
        lua_pushboolean(L, 0);
        lua_rawseti(L, ROOTS, (int)i + 1);
    }
    start = bench_now();
    for (i = 0; i < h->n; i++) {
        shell *ob = h->ob[h->order[i]];

        *(shell **)lua_newuserdata(L, sizeof ob) = ob;
        if (linked) {
            lua_pushvalue(L, META);
            lua_setmetatable(L, -2);
            lua_pushlightuserdata(L, ob);
            lua_pushvalue(L, -2);
            lua_rawset(L, WEAK);
        }
        lua_rawseti(L, ROOTS, (int)h->order[i] + 1);
    }
    return bench_now() - start;
}

static void push(heap *h, size_t i)
{
    lua_pushlightuserdata(h->L, h->ob[i]);
    lua_rawget(h->L, WEAK);
}

int main(int argc, char **argv)
{
    static samples create, memory, to_obj, counts, live, held, die, stop;
    heap h;
    int repeats, turn;
    double n;
    char *obs;
    size_t i;

    h.n = peer_begin(argc, argv, &h.order);
    n = (double)h.n * 1e-9;
    h.ob = malloc(h.n * sizeof *h.ob);
    obs = malloc(h.n * sizeof(shell));
    h.L = luaL_newstate();
    if (h.ob == NULL || obs == NULL || h.L == NULL)
        return 1;
    for (i = 0; i < h.n; i++)
        h.ob[h.order[h.n - 1 - i]] = (shell *)(void *)(obs + i * sizeof(shell));
    lua_settop(h.L, META);
    lua_newtable(h.L);
    lua_pushcfunction(h.L, finalize);
    lua_setfield(h.L, -2, "__gc");
    lua_replace(h.L, META);
    new_table(&h, WEAK, "v");
    repeats = peer_repeats(h.n);
    for (turn = 0; turn <= repeats; turn++) {
        double start, without, without_dead, made, before;
        uintptr_t sum = 0;

        made = make(&h, 0);     /* the same without links */
        collect(&h, 1);
        before = bytes(&h);
        without = collect_live(&h);
        new_table(&h, ROOTS, NULL);
        without_dead = collect(&h, 2);

        sample_beyond(&create, make(&h, 1) / n, 0, made / n);
        collect(&h, 1);
        sample(&memory, (bytes(&h) - before) / (double)h.n, 0);
        start = collect_live(&h);
        sample_beyond(&live, start / n, 0, without / n);
        sample_beyond(&stop, start * 1e3, 0, without * 1e3);

        start = bench_now();
        for (i = 0; i < h.n; i++) {
            push(&h, i);
            sum += (uintptr_t)lua_touserdata(h.L, -1);
            lua_pop(h.L, 1);
        }
        sample(&to_obj, (bench_now() - start) / n, 0);
        bench_sink += sum;

        lua_gc(h.L, LUA_GCSTOP, 0);
        start = bench_now();
        for (i = 0; i < h.n; i++) {
            push(&h, i);
            luaL_unref(h.L, LUA_REGISTRYINDEX, luaL_ref(h.L, LUA_REGISTRYINDEX));
        }
        sample(&counts, (bench_now() - start) / n, 0);

        for (i = 0; i < h.n; i++) {
            push(&h, i);
            h.ob[i]->ref = luaL_ref(h.L, LUA_REGISTRYINDEX);
        }
        collect(&h, 1);
        sample_beyond(&held, collect_live(&h) / n, 0, without / n);
        for (i = 0; i < h.n; i++)
            luaL_unref(h.L, LUA_REGISTRYINDEX, h.ob[i]->ref);

        new_table(&h, ROOTS, NULL);
        finalized = 0;
        sample_beyond(&die, collect(&h, 2) / n, 0, without_dead / n);
        if (finalized != h.n) {
            fprintf(stderr, "peer_lua: %lu userdata have died, not %lu\n", (unsigned long)finalized, (unsigned long)h.n);
            return 1;
        }
        new_table(&h, WEAK, "v");
    }
    lua_close(h.L);
    printf("variant\t%s\n", LUA_VERSION);
    peer_row("create a P link, warm", &create, "ns");
    peer_row("memory of a link", &memory, "bytes");
    peer_row("major, all live, P links", &live, "ns");
    peer_row("major, all live, P links held by C", &held, "ns");
    peer_row("major, all die, queued", &die, "ns");
    peer_row("rrc_to_obj, random order", &to_obj, "ns");
    peer_row("incref + decref, random order", &counts, "ns");
    peer_row("longest pause, all live", &stop, "ms");
    return 0;
}
