/* nodes.c - the Lua module `nodes`, see nodes.h.
 *
 *     nodes.new(id [, kind])      a node; kind: "Node" (default), "Stubborn", "Untracked", "Finalized",
 *                                 "Closing", "Counted", "Wrapper"
 *     node:set(i, value)          field i owns a reference to the value, or to the object of a proxy
 *     node:get(i)                 what field i has
 *     node:move(i, other, j)      moves a reference without counting; "no touch" as a 4th argument
 *                                 breaks the rule for that
 *     (an Untracked node says that it has memory elsewhere: as many bytes as its id, if that is over 1000000)
 *     nodes.hold(value)           a reference of C's own; nodes.release(value) drops one
 *     nodes.held(i)               what was held i-th
 *     nodes.ids()                 a table: id -> true, of all nodes that live
 *     nodes.live()                how many; nodes.freed(): the ids freed since the last call, in order
 *     nodes.traversals()          how often Counted nodes were traversed since the last call
 *     nodes.on_finalize = f       called with the id of a Finalized node; nodes.on_close = f: of a Closing one
 *     nodes.call(value, ...)      rrc_lua_call; nodes.raise(): rrc_lua_raise
 *     nodes.native(bytes)         rrc_lua_native_bytes
 *     nodes.check()               rrc_check
 *
 *     node:refer(i, other)        of Wrappers: the foreign object refers to that of the other, or to none; nobody is told
 *     node:referred(i)            the Wrapper of what it refers to
 *     nodes.take(node)            foreign code takes a reference; nodes.drop(i): drops the i-th that was taken
 *     nodes.taken(i)              the Wrapper of what was taken i-th
 *     nodes.retake(id[, any])     takes the Wrapper with this id, if it still has its proxy (any: also if not), by a weak
 *                                 reference of the foreign code. Returns whether it has
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

node all_nodes = { { 0, NULL, NULL }, 0, { NULL }, &all_nodes, &all_nodes, NULL };
static char freed[100000];
struct foreign_library foreign_library;

/* A control that must fail: references are taken without telling. */
#ifdef NODES_RAW
#define TAKE(heap, ob) ((void)(heap), (void)++(ob)->ob_refcnt)
#else
#define TAKE(heap, ob) rrc_incref((heap), (ob))
#endif

static const rrc_member node_members[] = {
    { "1", offsetof(node, field[0]) }, { "2", offsetof(node, field[1]) }, { "3", offsetof(node, field[2]) },
    { NULL, 0 }
};

static void drop_fields(rrc_heap *heap, node *n)
{
    int i;
    for (i = 0; i < FIELDS; i++)
        RRC_CLEAR(heap, n->field[i]);
    foreign_clear(n->of);
}

static void node_dealloc(rrc_heap *heap, rrc_object *ob)
{
    node *n = (node *)ob;
    size_t length = strlen(freed);
    if (n->of != NULL)
        foreign_unwrap(n->of);
    n->of = NULL;
    drop_fields(heap, n);
    n->previous->next = n->next;
    n->next->previous = n->previous;
    if (length < sizeof freed - 20)
        sprintf(freed + length, "%d ", n->id);
    if ((ob->ob_type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0)
        rrc_gc_del(heap, ob);
    else
        rrc_del(heap, ob);
}

static int stubborn_clear(rrc_heap *heap, rrc_object *ob)
{
    (void)heap, (void)ob;
    return 0;
}

/* How linear something is, is counted and not timed. */
static lua_Integer traversals;

static int counted_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    int i;
    traversals++;
    for (i = 0; i < FIELDS; i++)
        RRC_VISIT(((node *)ob)->field[i]);
    return 0;
}

static intptr_t wrapper_outside(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    return foreign_outside(((node *)ob)->of);
}

static int wrapper_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    const node *n = (node *)ob;
    int i;
    for (i = 0; i < FIELDS; i++)
        RRC_VISIT(n->field[i]);
    return foreign_visit(n->of, visit, arg);
}

static int wrapper_clear(rrc_heap *heap, rrc_object *ob)
{
    drop_fields(heap, (node *)ob);
    return 0;
}

static int call_handler(lua_State *L)
{
    const node *n = (const node *)lua_touserdata(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, "nodes");
    lua_getfield(L, -1, n->head.ob_type == &Closing ? "on_close" : "on_finalize");
    lua_pushinteger(L, n->id);
    if (!lua_isnil(L, -2))
        lua_call(L, 1, 0);
    return 0;
}

static void call_handler_of(rrc_heap *heap, rrc_object *ob)
{
    rrc_lua_protect(heap, call_handler, ob);
}

#define NODE_TYPE(name, flags, traverse, clear, finalize, members) \
    const rrc_type name = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = #name, .tp_basicsize = sizeof(node), \
                            .tp_flags = flags, .tp_dealloc = node_dealloc, .tp_traverse = traverse, \
                            .tp_clear = clear, .tp_finalize = finalize, .tp_members = members }
NODE_TYPE(Node, RRC_TPFLAGS_HAVE_GC, NULL, NULL, NULL, node_members);
NODE_TYPE(Stubborn, RRC_TPFLAGS_HAVE_GC, NULL, stubborn_clear, NULL, node_members);
NODE_TYPE(Finalized, RRC_TPFLAGS_HAVE_GC, NULL, NULL, call_handler_of, node_members);
NODE_TYPE(Closing, RRC_TPFLAGS_HAVE_GC, NULL, NULL, NULL, node_members);
NODE_TYPE(Counted, RRC_TPFLAGS_HAVE_GC, counted_traverse, NULL, NULL, node_members);
static size_t untracked_size(rrc_heap *heap, rrc_object *ob)
{
    int id = ((node *)ob)->id;
    (void)heap;
    return id > 1000000 ? (size_t)id : 0;
}

const rrc_type Untracked = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Untracked",
                             .tp_basicsize = sizeof(node), .tp_dealloc = node_dealloc, .tp_size = untracked_size };
const rrc_type Wrapper = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Wrapper", .tp_basicsize = sizeof(node),
                           .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = node_dealloc, .tp_traverse = wrapper_traverse,
                           .tp_clear = wrapper_clear, .tp_outside = wrapper_outside };
static const rrc_type *const types[] = { &Node, &Stubborn, &Untracked, &Finalized, &Closing, &Counted, &Wrapper };

static const rrc_lua_class NodeBase;

static node *self(lua_State *L) { return (node *)rrc_lua_check(L, 1, &NodeBase); }

static rrc_object **field(lua_State *L, node *n, int arg)
{
    int i = (int)luaL_checkinteger(L, arg);
    luaL_argcheck(L, i >= 1 && i <= FIELDS, arg, "no such field");
    return &n->field[i - 1];
}

static int node_new(lua_State *L)
{
    static const char *const kinds[] = { "Node", "Stubborn", "Untracked", "Finalized", "Closing", "Counted",
                                        "Wrapper", NULL };
    rrc_heap *heap = rrc_lua_heap(L);
    int id = (int)luaL_checkinteger(L, 1);
    const rrc_type *type = types[luaL_checkoption(L, 2, "Node", kinds)];
    node *n = (node *)((type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 ? rrc_gc_new(heap, type) : rrc_new(heap, type));
    if (n == NULL)
        return luaL_error(L, "not enough memory");
    if (type == &Wrapper) {
        n->of = foreign_new(id);
        n->of->wrapper = &n->head;
    }
    n->id = id;
    n->next = &all_nodes;
    n->previous = all_nodes.previous;
    n->next->previous = n->previous->next = n;
    if ((type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 && rrc_gc_track(heap, &n->head) != RRC_OK) {
        rrc_decref(heap, &n->head);
        return luaL_error(L, "not enough memory");
    }
    return rrc_lua_give(L, heap, &n->head);
}

static int node_set(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object **place = field(L, self(L), 2), *value = rrc_lua_ref(L, heap, 3), *old;
    if (rrc_lua_test(L, 1, &NodeBase) == NULL) {        /* a finalizer has closed it just now */
        RRC_CLEAR(heap, value);
        self(L);                                        /* raises */
    }
    old = *place;
#ifdef NODES_RAW
    if (value != NULL)
        TAKE(heap, value), rrc_decref(heap, value);
#endif
    *place = value;
    if (old != NULL)
        rrc_decref(heap, old);
    return 0;
}

static int node_get(lua_State *L)
{
    rrc_lua_push(L, rrc_lua_heap(L), *field(L, self(L), 2));
    return 1;
}

static int node_move(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    node *other = (node *)rrc_lua_check(L, 3, &NodeBase);
    rrc_object **from = field(L, self(L), 2), **to = field(L, other, 4), *moved = *from, *old;
    if (from == to || moved == NULL)
        return 0;
    if (lua_isnoneornil(L, 5))
        rrc_touch(heap, moved);
    old = *to;
    *from = NULL;
    *to = moved;
    if (old != NULL)
        rrc_decref(heap, old);
    return 0;
}

static int is_live(const node *n)
{
    const node *other;
    for (other = all_nodes.next; other != &all_nodes && other != n; other = other->next)
        ;
    return other == n;
}

/* use(node..., function): method, setter, metamethod and function. Call function() while these nodes are used: they must
   live until then, whatever it does. Then raise the error of the function, if there is one. Returns the sum of the ids. */
static int node_use(lua_State *L)
{
    const node *used[8];
    int count = lua_gettop(L) - 1, i, sum = 0;
    for (i = 0; i < count && i < 8; i++)
        used[i] = (const node *)rrc_lua_check(L, i + 1, &NodeBase);
    lua_call(L, 0, 1);
    for (i = 0; i < count; i++) {
        if (!is_live(used[i]))
            return luaL_error(L, "node %d was freed while it was in use", i + 1);
        sum += used[i]->id;
    }
    if (lua_toboolean(L, -1))
        return lua_error(L);
    lua_pushinteger(L, sum);
    return 1;
}

/* A getter that uses the node while nodes.on_use runs. */
static int node_used(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "nodes");
    lua_getfield(L, -1, "on_use");
    lua_remove(L, -2);
    return node_use(L);
}

/* ---- foreign objects ---- */

static foreign **foreign_field(lua_State *L)
{
    node *n = self(L);
    int i = (int)luaL_checkinteger(L, 2);
    luaL_argcheck(L, n->of != NULL, 1, "no Wrapper");
    luaL_argcheck(L, i >= 1 && i <= FOREIGN_FIELDS, 2, "no such field");
    return &n->of->field[i - 1];
}

static int node_refer(lua_State *L)
{
    foreign **place = foreign_field(L);
    const node *to = lua_isnoneornil(L, 3) ? NULL : (node *)rrc_lua_check(L, 3, &NodeBase);
    foreign_set(place, to != NULL ? to->of : NULL);
    return 0;
}

static int push_wrapper(lua_State *L, const foreign *f)
{
    rrc_lua_push(L, rrc_lua_heap(L), f != NULL ? f->wrapper : NULL);
    return 1;
}

static int node_referred(lua_State *L)
{
    return push_wrapper(L, *foreign_field(L));
}

static foreign **taken_at(lua_State *L)
{
    lua_Integer i = luaL_checkinteger(L, 1);
    luaL_argcheck(L, i >= 1 && i <= FOREIGN_PLACES, 1, "no such place");
    return &foreign_library.taken[i - 1];
}

static int nodes_take(lua_State *L)
{
    foreign *of = self(L)->of;
    if (of == NULL || !foreign_hold(of))
        return luaL_error(L, "no room, or no Wrapper");
    return 0;
}

static int nodes_taken(lua_State *L)
{
    return push_wrapper(L, *taken_at(L));
}

static int nodes_drop(lua_State *L)
{
    foreign **place = taken_at(L), **last = &foreign_library.taken[FOREIGN_PLACES - 1];
    foreign_set(place, NULL);
    for (; place < last; place++)
        place[0] = place[1];
    *last = NULL;
    return 0;
}

static int nodes_retake(lua_State *L)
{
    foreign *f = foreign_find((long)luaL_checkinteger(L, 1));
    lua_pushboolean(L, f != NULL && f->wrapper != NULL
                       && (lua_toboolean(L, 2) || rrc_to_obj(rrc_lua_heap(L), f->wrapper) != NULL) && foreign_hold(f));
    return 1;
}

/* Properties that fail. */
static int node_broken(lua_State *L) { return luaL_error(L, "broken by %d", self(L)->id); }
static int node_self(lua_State *L) { return luaL_argerror(L, 1, "not this one"); }
static int node_other(lua_State *L)
{
    lua_settop(L, 2);
    return lua_error(L);
}

static int node_id(lua_State *L)
{
    lua_pushinteger(L, self(L)->id);
    return 1;
}

/* What C holds: a chain of cells in a userdata would be Lua's; this is a list in the
   heap's own memory, freed by nodes.release_all. */
typedef struct cell { rrc_object *ob; struct cell *next; } cell;

static cell **held(lua_State *L)
{
    cell **first;
    lua_getfield(L, LUA_REGISTRYINDEX, "nodes.held");
    first = (cell **)lua_touserdata(L, -1);
    lua_pop(L, 1);
    return first;
}

static int nodes_hold(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    cell *c = (cell *)malloc(sizeof *c), **last = held(L);
    if (c == NULL)
        return luaL_error(L, "not enough memory");
    c->ob = NULL;
    c->next = NULL;
    while (*last != NULL)
        last = &(*last)->next;
    *last = c;
    c->ob = rrc_lua_peek(L, heap, 1);
    if (c->ob != NULL)
        TAKE(heap, c->ob);
    else
        c->ob = rrc_lua_ref(L, heap, 1);
    return 0;
}

static int nodes_held(lua_State *L)
{
    lua_Integer i = luaL_checkinteger(L, 1);
    cell *c = *held(L);
    for (; c != NULL && i > 1; i--)
        c = c->next;
    rrc_lua_push(L, rrc_lua_heap(L), c != NULL ? c->ob : NULL);
    return 1;
}

static int nodes_release(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    lua_Integer i = luaL_checkinteger(L, 1);
    cell **place = held(L), *c;
    for (; *place != NULL && i > 1; i--)
        place = &(*place)->next;
    c = *place;
    luaL_argcheck(L, c != NULL, 1, "nothing is held there");
    *place = c->next;
    if (c->ob != NULL)
        rrc_decref(heap, c->ob);
    free(c);
    return 0;
}

static int nodes_ids(lua_State *L)
{
    const node *n;
    lua_newtable(L);
    for (n = all_nodes.next; n != &all_nodes; n = n->next) {
        lua_pushboolean(L, 1);
        lua_rawseti(L, -2, n->id);
    }
    return 1;
}

static int nodes_live(lua_State *L)
{
    const node *n;
    int count = 0;
    for (n = all_nodes.next; n != &all_nodes; n = n->next)
        count++;
    lua_pushinteger(L, count);
    return 1;
}

static int nodes_traversals(lua_State *L)
{
    lua_pushinteger(L, traversals);
    traversals = 0;
    return 1;
}

static int nodes_freed(lua_State *L)
{
    lua_pushstring(L, freed);
    freed[0] = '\0';
    return 1;
}

/* References that are dropped in any case: they belong to a userdata. */
enum { ARGS = 10 };
typedef struct references {
    rrc_heap   *heap;
    rrc_object *ob[ARGS];
} references;

static int references_drop(lua_State *L)
{
    references *refs = (references *)lua_touserdata(L, 1);
    int i;
    for (i = 0; i < ARGS; i++)
        RRC_CLEAR(refs->heap, refs->ob[i]);
    return 0;
}

static references *new_references(lua_State *L)
{
    references *refs = (references *)lua_newuserdata(L, sizeof *refs);
    memset(refs, 0, sizeof *refs);
    refs->heap = rrc_lua_heap(L);
    lua_newtable(L);
    lua_pushcfunction(L, references_drop);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return refs;
}

static int nodes_call(lua_State *L)
{
    int i, n = lua_gettop(L), status;
    references *refs = new_references(L);
    for (i = 0; i < n && i < ARGS; i++)
        refs->ob[i] = rrc_lua_ref(L, refs->heap, i + 1);
    status = rrc_lua_call(refs->heap, refs->ob[0], (size_t)n - 1, refs->ob + 1);
    for (i = 0; i < n; i++)
        RRC_CLEAR(refs->heap, refs->ob[i]);
    if (status != 0)
        rrc_lua_raise(L, refs->heap);
    return 0;
}

static int nodes_raise(lua_State *L)
{
    rrc_lua_raise(L, rrc_lua_heap(L));
    return 0;
}

static int nodes_native(lua_State *L)
{
    rrc_lua_native_bytes(rrc_lua_heap(L), (ptrdiff_t)luaL_checknumber(L, 1));
    return 0;
}

/* A full collection that is not a script's. */
static int nodes_collect(lua_State *L)
{
    lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}

static int nodes_check(lua_State *L)
{
    int code = rrc_check(rrc_lua_heap(L));
    if (code != RRC_OK)
        return luaL_error(L, "%s", rrc_error_name(code));
    return 0;
}

static const luaL_Reg node_methods[] = { { "set", node_set }, { "get", node_get }, { "move", node_move },
                                         { "refer", node_refer }, { "referred", node_referred }, { "use", node_use },
                                         { NULL, NULL } };
static const rrc_lua_property node_properties[] = { { "id", node_id, NULL }, { "broken", node_broken, node_broken },
                                                    { "self", node_self, node_self }, { "raised", NULL, node_other },
                                                    { "used", node_used, node_use },
                                                    { NULL, NULL, NULL } };
static const luaL_Reg node_metamethods[] = { { "__call", node_use }, { NULL, NULL } };
static const rrc_lua_class NodeBase = { .name = "NodeBase", .methods = node_methods, .properties = node_properties,
                                        .metamethods = node_metamethods };
static const rrc_lua_class classes[] = {
    { .type = &Node, .base = &NodeBase }, { .type = &Stubborn, .base = &NodeBase },
    { .type = &Untracked, .base = &NodeBase }, { .type = &Finalized, .base = &NodeBase },
    { .type = &Closing, .base = &NodeBase, .close = call_handler_of }, { .type = &Counted, .base = &NodeBase },
    { .type = &Wrapper, .base = &NodeBase }
};

int luaopen_nodes(lua_State *L)
{
    static const rrc_lua_class *const list[] = { &NodeBase, &classes[0], &classes[1], &classes[2], &classes[3], &classes[4],
                                                &classes[5], &classes[6], NULL };
    static const luaL_Reg functions[] = {
        { "new", node_new }, { "hold", nodes_hold }, { "held", nodes_held }, { "release", nodes_release },
        { "ids", nodes_ids }, { "live", nodes_live }, { "freed", nodes_freed }, { "traversals", nodes_traversals },
        { "call", nodes_call }, { "raise", nodes_raise }, { "native", nodes_native }, { "check", nodes_check }, { "take", nodes_take },
        { "taken", nodes_taken }, { "drop", nodes_drop }, { "retake", nodes_retake }, { "use", node_use }, { "collect", nodes_collect },
        { NULL, NULL }
    };
    *(cell **)lua_newuserdata(L, sizeof(cell *)) = NULL;
    lua_setfield(L, LUA_REGISTRYINDEX, "nodes.held");
    rrc_lua_module(L, list, functions);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "nodes");
    return 1;
}
