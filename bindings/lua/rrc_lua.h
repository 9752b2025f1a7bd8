/* rrc_lua.h - version 2.0.0
 * Reference-counted C objects in stock Lua, without leaks through callbacks: Lua 5.1
 * to 5.5 and LuaJIT, unmodified. One file beside rawrefcount.h and rrc_closed.h.
 *
 *     #define RAWREFCOUNT_IMPLEMENTATION      // in exactly one file of the module
 *     #define RRC_LUA_IMPLEMENTATION
 *     #include "rrc_lua.h"
 *
 *     static int button_click(lua_State *L)
 *     {
 *         my_button_click(rrc_lua_check(L, 1, &Button));
 *         return 0;
 *     }
 *     static const luaL_Reg button_methods[] = { { "click", button_click }, { NULL, NULL } };
 *     static const rrc_lua_class Button = { .type = &my_button_type, .methods = button_methods };
 *
 *     static int new_button(lua_State *L)
 *     {
 *         rrc_heap *heap = rrc_lua_heap(L);
 *         return rrc_lua_give(L, heap, my_button_new(heap, luaL_checkstring(L, 1)));
 *     }
 *
 * The C library is compiled as for any other host: it includes rawrefcount.h only.
 *
 * It does NOT patch Lua, or keep global state: Lua's collector finds the garbage, also
 * cycles through both heaps, when it runs.
 *
 * CONTENTS (search for the tag)
 *     >>ownership       who holds what
 *     >>api             the functions
 *     >>implementation  states, slots, nodes, proxies, values, calls, collection
 *     >>cycles          how Lua's cycles are counted
 *     >>wrappers        collections at once, for wrappers of foreign objects
 */

/* >>ownership
 * ---------------------------------------------------------------------------
 * An ob is a C object. Its PROXY is a userdata: the same one as long as it lives, a
 * new one when C still had the ob and Lua had let go. The VALUE of any other Lua
 * value in C is an ob too (rrc_lua_ref): the same one as long as a function, table,
 * coroutine or userdata lives; a fresh one each time for strings, numbers, booleans.
 *
 *   a proxy             holds its ob           until the proxy dies or is closed
 *   an ob held by C     holds its Lua value    a P link; a proxy may die, and come again
 *   a script's fields   held by the object     if its type is tracked, else by the proxy
 *
 * Functions marked "raises" leave by a Lua error (also for lack of memory), so that a
 * C library must not call them from its own frames. Those for hooks and callbacks
 * (rrc_lua_call, rrc_lua_protect) never do.
 *
 * Anything that allocates in Lua can run finalizers, and so tp_dealloc of objects that
 * nobody holds.
 */

#ifndef RRC_LUA_H
#define RRC_LUA_H

#include "rawrefcount.h"
#include "rrc_closed.h"             /* Lua's collector is closed */

/* (Not all versions of Lua say themselves that their functions are C's. Include lua.h before, if your
   Lua is compiled as C++.) */
#ifdef __cplusplus
extern "C" {
#endif
#include <lua.h>
#include <lauxlib.h>
#ifdef __cplusplus
}
#endif

#define RRC_LUA_VERSION "2.0.0"

/* Like the header's own functions: static copies with RAWREFCOUNT_STATIC. */
#define RRC_LUA_API RRC_API

/* In front of luaopen_...: Lua finds it, also in C++ and on Windows. */
#if defined(__cplusplus) && defined(_WIN32)
#define RRC_LUA_MODULE extern "C" __declspec(dllexport)
#elif defined(__cplusplus)
#define RRC_LUA_MODULE extern "C"
#elif defined(_WIN32)
#define RRC_LUA_MODULE __declspec(dllexport)
#else
#define RRC_LUA_MODULE extern
#endif

/* >>api
 * --------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* A property: ob.name calls get(ob), ob.name = value calls set(ob, value); with the arguments on the stack, as for
   any lua_CFunction. NULL: it cannot be read (written). Errors of both, such as luaL_checkstring's, are raised where
   the script uses the property, with its name: "bad value for text of Button (string expected, got nil)". */
typedef struct rrc_lua_property {
    const char   *name;
    lua_CFunction get, set;
} rrc_lua_property;

/* A number that scripts find in the class, and in its objects: Button.WIDE. */
typedef struct rrc_lua_constant {
    const char *name;
    lua_Integer value;
} rrc_lua_constant;

/* A property that is a member of the object's struct: ob.name reads what is at `offset`, and ob.name = value checks
   the value and writes it. The messages are those of properties.

       kind   in the struct   in scripts
       'b'    int             a boolean
       'i'    int             a whole number
       'I'    lua_Integer     a whole number
       'n'    lua_Number      a number
       't'    rrc_object *    a text or nil: see rrc_lua_string
       'f'    rrc_object *    a callback or nil: see rrc_lua_emit
       'o'    rrc_object *    any value; with a class: an object of that class, or nil

   The struct owns a reference to a rrc_object *, which tp_members or tp_traverse must name. */
typedef struct rrc_lua_member {
    const char                  *name;
    char                         kind;
    size_t                       offset;
    int                          flags;         /* 0, or RRC_LUA_READONLY: scripts cannot set it */
    const struct rrc_lua_class  *cls;           /* for 'o'; NULL: any value */
} rrc_lua_member;

#define RRC_LUA_READONLY 1

/* How the objects of a type look to scripts. Zero is a fine value for every field but
   one of type and name. It must live as long as the Lua state. What is not found in
   a class is looked for in its base.

   The metamethods can be all but __gc. __index and __newindex are called for names that
   are no method and no property, for properties that only the library knows. __index(ob,
   name) returns a value (which can be nil), or nothing at all if it does not know the name.
   __newindex(ob, name, value) returns true if it took the value. A name that they do not
   know is a field of the script, or an error if the class is strict. A class without __pairs
   has rrc_lua_pairs. A __tostring is also called for closed objects: rrc_lua_test
   gives NULL then, and rrc_lua_tostring the usual text. */
typedef struct rrc_lua_class {
    const rrc_type               *type;         /* NULL: only a base for others */
    const char                   *name;         /* for messages; NULL: tp_name */
    const struct rrc_lua_class   *base;
    const luaL_Reg               *methods;      /* end with a NULL name, each */
    const rrc_lua_property       *properties;
    const luaL_Reg               *metamethods;
    void (*close)(rrc_heap *heap, rrc_object *ob);  /* what ob:close() does before it lets go */
    lua_CFunction                 constructor;  /* Class(...) calls it with these arguments; not inherited */
    const rrc_lua_constant       *constants;    /* end with a NULL name */
    int                           is_strict;    /* scripts cannot have fields in the objects: an unknown name
                                                   is an error. Classes based on it are strict, too */
    const rrc_lua_member         *members;      /* end with a NULL name */
} rrc_lua_class;

/* ---- states ---- */

/* The heap of a Lua state; made by the first call, freed by lua_close. Modules of the
   same version share it. Raises. [O(1): look it up once per function] */
RRC_LUA_API rrc_heap *rrc_lua_heap(lua_State *L);

/* The thread to run Lua code on that belongs to the heap: the one which used this file
   last, if it still can. NULL when the state is closed. [O(1)] */
RRC_LUA_API lua_State *rrc_lua_state(rrc_heap *heap);

/* ---- classes ---- */

/* Make a class known and push its table of methods, to which scripts may add. The base
   is made known too. A second time just pushes. Raises. */
RRC_LUA_API void rrc_lua_register(lua_State *L, const rrc_lua_class *cls);

/* Push a table for luaopen_...: the functions (or NULL), and each class's methods under
   its name; classes ends with NULL. If no other module `rawrefcount` is installed, require "rawrefcount" gives scripts
   its functions collect, step, stats and pairs from now on. Returns 1. Raises. */
RRC_LUA_API int rrc_lua_module(lua_State *L, const rrc_lua_class *const *classes, const luaL_Reg *functions);

/* ---- objects in Lua ---- */

/* Push the proxy of ob, or the value ob stands for; nil for NULL. An ob whose type has no class gets a proxy that
   can do nothing but close and tostring. nil also for a value that is gone for good (see README.md). Raises, also
   for an ob whose tp_dealloc runs. [O(1)] */
RRC_LUA_API void rrc_lua_push(lua_State *L, rrc_heap *heap, rrc_object *ob);

/* For a constructor: push ob and drop the caller's reference, in any case. NULL raises
   "not enough memory". Returns 1. Raises. */
RRC_LUA_API int rrc_lua_give(lua_State *L, rrc_heap *heap, rrc_object *ob);

/* For a constructor: make an object of this type, with all else 0, track it if its type can be tracked, and push its
   proxy, which holds it. Raises. */
RRC_LUA_API rrc_object *rrc_lua_new(lua_State *L, const rrc_type *type);

/* The ob of an argument, which must be a proxy of this class or one based on it (NULL: of any). Else raises an error
   that names both, or says that it was closed. test returns NULL instead. Borrowed: ob is valid as long as the
   argument is on the stack of this C function, even if code that runs meanwhile closes it. [O(depth of the class)] */
RRC_LUA_API rrc_object *rrc_lua_check(lua_State *L, int arg, const rrc_lua_class *cls);
RRC_LUA_API rrc_object *rrc_lua_test(lua_State *L, int index, const rrc_lua_class *cls);

/* The default __tostring and __pairs of objects, for the metamethods of a class. pairs goes
   through the properties that can be read and are not nil, and the fields of scripts. Lua 5.1
   and LuaJIT do not call a __pairs: there, a module can have it as a function. Both raise. */
RRC_LUA_API int rrc_lua_tostring(lua_State *L);
RRC_LUA_API int rrc_lua_pairs(lua_State *L);

/* ---- Lua values in C ---- */

/* The argument must be a function, a coroutine, something else that can be called, or nil. Else
   raises an error that says so: for what takes a callback. */
RRC_LUA_API void rrc_lua_check_callback(lua_State *L, int arg);

/* A method that takes a callback: the member of ob at `offset`, a rrc_object *, becomes the argument, which must be
   a callback or nil. ob is one of the arguments. Raises. (A member of kind 'f' does the same.) */
RRC_LUA_API void rrc_lua_set_callback(lua_State *L, int arg, rrc_object *ob, size_t offset);

/* A method that calls the callback at `offset` of `sender`, if there is one, with the sender and what a format of
   rrc_lua_callf has: return rrc_lua_emit(L, &c->head, offsetof(counter, on_change), "i", c->value). Raises what the
   callback raises. Returns 0. Without a callback all results are 0.
   Make it the last call of the method: from Lua 5.2 on a callback without results can yield, and then nothing of the
   method runs after it. (Not in a property or a metamethod.) */
RRC_LUA_API int rrc_lua_emit(lua_State *L, rrc_object *sender, size_t offset, const char *format, ...);

/* A new reference to the ob of any Lua value: of a proxy, its ob; else one that stands
   for the value. NULL for nil and none. Raises. [O(1)] */
RRC_LUA_API rrc_object *rrc_lua_ref(lua_State *L, rrc_heap *heap, int index);

/* The same, but equal strings, numbers and booleans have the same ob as long as that lives: for a
   key of a map in C, which compares addresses. Raises. [O(1)] */
RRC_LUA_API rrc_object *rrc_lua_key(lua_State *L, rrc_heap *heap, int index);

/* The ob of a Lua value that has one already, borrowed, or NULL; of a string, number or boolean, the
   ob of rrc_lua_key. Never raises. [O(1)] */
RRC_LUA_API rrc_object *rrc_lua_peek(lua_State *L, rrc_heap *heap, int index);

/* Does ob stand for a Lua value (and not for itself)? [O(1)] */
RRC_LUA_API int rrc_lua_is_value(rrc_heap *heap, const rrc_object *ob);

/* The bytes of the Lua string that ob stands for, with a 0 behind them, and their number (size can
   be NULL). NULL if it does not stand for a string. Valid as long as ob. Never raises. [O(1)] */
RRC_LUA_API const char *rrc_lua_string(rrc_heap *heap, const rrc_object *ob, size_t *size);

/* Call the value of `callback` with these obs as arguments. Results are dropped. Returns 0, or a code of lua_pcall:
   the error, with a traceback, is kept for rrc_lua_raise. Never raises. What is called cannot yield, as C functions
   wait for it. A coroutine is resumed, and its next yield returns. */
RRC_LUA_API int rrc_lua_call(rrc_heap *heap, rrc_object *callback, size_t n, rrc_object *const *args);

/* The same with values of C, and with results: a letter of the format for each argument, and after
   '>' for each result. rrc_lua_callf(heap, callback, "ois>b", sender, 5, "text", &is_done):

       letter   argument                        result
       o        rrc_object *; NULL is nil       rrc_object **: a new reference, or NULL for nil
       b        int: 0 is false                 int *
       i        int                             int *
       I        lua_Integer                     lua_Integer *
       n        lua_Number                      lua_Number *
       s        const char *; NULL is nil       -  (use o, and rrc_lua_string)
       l        const char *, size_t            -

   A result that is no such number is an error. After an error all results are 0. */
RRC_LUA_API int rrc_lua_callf(rrc_heap *heap, rrc_object *callback, const char *format, ...);

/* Call function(L) with the light userdata `data` as its argument, likewise: for all else. */
RRC_LUA_API int rrc_lua_protect(rrc_heap *heap, lua_CFunction function, void *data);

/* Raise the error that rrc_lua_call or rrc_lua_protect kept last; does nothing if there
   is none: for the end of a method whose C function says that a callback failed. */
RRC_LUA_API void rrc_lua_raise(lua_State *L, rrc_heap *heap);

/* Drop that error: for C code that deals with it. Returns whether there was one. The next call drops it, too; and one
   that a tp_finalize, tp_clear or tp_dealloc leaves in pending work is given to Lua's warning function (before 5.4 it
   is dropped). Never raises. */
RRC_LUA_API int rrc_lua_drop_error(rrc_heap *heap);

/* ---- references of a method ---- */

/* For a method that holds references while it calls what can raise. function(L, refs) is called with
   the method's arguments on the stack, and its results are those of the method. It keeps its references
   in refs, which has room for n and is made empty first. When it has returned or raised, they are
   dropped. Check the arguments before: messages name the method then. Raises what it raises. */
typedef int (*rrc_lua_scoped)(lua_State *L, rrc_object **refs);
RRC_LUA_API int rrc_lua_scope(lua_State *L, rrc_heap *heap, rrc_lua_scoped function, rrc_object **refs, size_t n);

/* ---- collection ---- */

/* Tell Lua's collector which objects C refers to. The binding begins such a step at the end of a cycle of
   Lua's when enough has changed, and every so many cycles otherwise. It does the step in slices, in the
   calls that make objects and at the end of each cycle. After a call of this function,
   garbage goes with the next cycle. RRC_OK or a code. [O(tracked objects)] */
RRC_LUA_API int rrc_lua_step(lua_State *L, rrc_heap *heap);

/* Do a slice of a step, for a program that must not stop for long, such as a loop of frames. A step is begun if none
   is open. max is the number of units, each some 10 to 100 ns; 0 means all that is left. Returns 1 if the step has
   ended, and 0 if it is still open, or if none can be made now. Then it does max units of pending work. [O(max)] */
RRC_LUA_API int rrc_lua_work(lua_State *L, rrc_heap *heap, size_t max);

/* Collect all garbage of both heaps now, in one to three rounds of collections. Returns how many objects of C were
   freed. Raises what finalizers of scripts raise, when all is done. */
RRC_LUA_API size_t rrc_lua_collect(lua_State *L, rrc_heap *heap);

/* In place of lua_close: owners go before what they own, also through Lua (an object of C owns a table, in which is
   another object). What scripts have in globals and loaded modules is dropped first: all but numbers, strings, functions
   of C and modules, so that finalizers can use Lua's libraries. Drop what C itself has on the stack and in the registry
   before the call. See README.md. Where a function runs in L, this raises an error. Else it never raises. */
RRC_LUA_API void rrc_lua_close(lua_State *L);

/* An object's memory outside of Lua grew by `change` bytes (or shrank): the same as rrc_native_bytes. Lua is made to
   collect as if it had allocated them itself, but seldom when much of it lives: see README.md. Can be called from
   any C code; the work is done by later calls that allocate in Lua. Never raises. If the type has tp_size,
   rrc_lua_push measures the object when it makes a proxy: then call rrc_measure if it grows. [O(1)] */
RRC_LUA_API void rrc_lua_native_bytes(rrc_heap *heap, ptrdiff_t change);

#ifdef __cplusplus
}
#endif

#endif /* RRC_LUA_H */

/* >>implementation
 * ===========================================================================
 * Lua's collector has no hook in its marking, so it is not driven but informed (see
 * >>mirror in rrc_closed.h). A hidden thread has tables on its stack:
 *
 *   VALUES    slot -> a Lua object, weakly: what is in there lives
 *   ANCHORS   slot -> the same object, strongly; nothing where C does not hold it
 *   OWNERS    a Lua object to which a node refers, a key of C, or a node with fields of scripts -> its slot,
 *             weakly by key
 *
 * A slot is an entry of VALUES and ANCHORS: some have things of the binding, and each other one is that of a cell (see
 * rrc_closed.h), and has its number. The cell of an O link has the proxy, that of a P link the Lua value, that of a NODE
 * a plain table that lists what an ob refers to, as Lua objects. A proxy refers to the node of its ob
 * by its user value, so that Lua's collector sees the references of C. The node also
 * has the fields that scripts store in the object.
 *
 * VALUES and ANCHORS have room for all slots at any time: to change an entry allocates
 * nothing and cannot raise, and so rrc_incref can do it. They are divided into shards of RRCL_SHARD
 * slots: growth copies one shard at most. Lua, too, passes a table as a whole, and once more if it has changed
 * meanwhile. OWNERS is divided into as many shards by a hash of the key. With each new shard one of the others is
 * split in two (linear hashing, Litwin). */

#if defined(RRC_LUA_IMPLEMENTATION) && !defined(RRCL_IMPLEMENTED)
#define RRCL_IMPLEMENTED

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- differences between the versions of Lua ---- */

#if LUA_VERSION_NUM < 501
#error "rrc_lua.h: needs Lua 5.1 or newer, or LuaJIT"
#endif

#if LUA_VERSION_NUM == 501
#define rrcl_rawlen(L, index) lua_objlen(L, index)
#define rrcl_set_uservalue(L, index) ((void)lua_setfenv(L, index))
#define rrcl_get_uservalue(L, index) lua_getfenv(L, index)
#define rrcl_push_no_uservalue(L) lua_pushvalue(L, LUA_GLOBALSINDEX)
#else
#define rrcl_rawlen(L, index) lua_rawlen(L, index)
#define rrcl_push_no_uservalue(L) lua_pushnil(L)
#if LUA_VERSION_NUM >= 504
#define rrcl_new_userdata(L, size) lua_newuserdatauv(L, size, 1)
#define rrcl_set_uservalue(L, index) ((void)lua_setiuservalue(L, index, 1))
#define rrcl_get_uservalue(L, index) ((void)lua_getiuservalue(L, index, 1))
#else
#define rrcl_set_uservalue(L, index) lua_setuservalue(L, index)
#define rrcl_get_uservalue(L, index) ((void)lua_getuservalue(L, index))
#endif
#endif
#if LUA_VERSION_NUM < 504
#define rrcl_new_userdata(L, size) lua_newuserdata(L, size)
#endif

/* Push a metatable with this __gc. */
static void rrcl_push_finalizer(lua_State *L, lua_CFunction function)
{
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, function);
    lua_setfield(L, -2, "__gc");
}

#if LUA_VERSION_NUM >= 505
#define rrcl_close_thread(co, L) lua_closethread(co, L)
#elif LUA_VERSION_NUM == 504
#define rrcl_close_thread(co, L) lua_resetthread(co)
#else
#define rrcl_close_thread(co, L) ((void)0)
#endif

/* (Lua 5.1 cannot tell, and each full collection starts it again.) */
#ifdef LUA_GCISRUNNING
#define rrcl_is_running(L) lua_gc(L, LUA_GCISRUNNING, 0)
#else
#define rrcl_is_running(L) 1
#endif

/* The type of what a call pushes. (From 5.3 on the call says it.) */
#if LUA_VERSION_NUM >= 503
#define rrcl_typed(L, push) (push)
#else
#define rrcl_typed(L, push) ((push), lua_type((L), -1))
#endif

/* Can n values be pushed? Lua has given each C function room for LUA_MINSTACK. Raises nothing. (In 5.1 and LuaJIT,
   lua_checkstack can.) */
RRC_INLINE int rrcl_has_room(lua_State *L, int n)
{
    return lua_gettop(L) + n <= LUA_MINSTACK || (LUA_VERSION_NUM > 501 && lua_checkstack(L, n));
}

/* rrcl_pcall: the stack is full. */
#define RRCL_NO_STACK (-1)

/* Call function(L) with the light userdata data. Returns 0, or what lua_pcall does with the
   error on the stack, or RRCL_NO_STACK with nothing on it. */
static int rrcl_pcall(lua_State *L, lua_CFunction function, void *data)
{
#if LUA_VERSION_NUM == 501
    return lua_cpcall(L, function, data);
#else
    if (!lua_checkstack(L, 2))
        return RRCL_NO_STACK;
    lua_pushcfunction(L, function);
    lua_pushlightuserdata(L, data);
    return lua_pcall(L, 1, 0, 0);
#endif
}

/* The same, but the error is dropped. */
static int rrcl_try(lua_State *L, lua_CFunction function, void *data)
{
    int top = lua_gettop(L), status = rrcl_pcall(L, function, data);
    lua_settop(L, top);
    return status;
}

/* ---- data ---- */

/* All memory that is not Lua's: as realloc; size 0 frees. */
#ifndef RRC_LUA_REALLOC
#define RRC_LUA_REALLOC(ptr, size) \
    ((size) == 0 ? (free(ptr), (void *)NULL) : (ptr) != NULL ? realloc((ptr), (size)) : malloc(size))
#endif

/* Native memory below this does not hurry the collector. */
#ifndef RRC_LUA_NATIVE_BYTES
#define RRC_LUA_NATIVE_BYTES ((size_t)1 << 20)
#endif

/* The places on the stack of the hidden thread. */
enum {
    RRCL_CLASSES = 1,               /* number of a class -> its metatable */
    RRCL_RESERVE,                   /* a thread for callbacks when no other is known */
    RRCL_HANDLER,                   /* the function that adds a traceback to an error */
    RRCL_NO_STACK_ERROR,            /* the message when the caller's stack is full */
    RRCL_CALL_ERROR,                /* what rrc_lua_call kept */
    RRCL_SLOT_ERROR,                /* ... in a slot that pending work runs */
    RRCL_COLLECT_ERROR,             /* what finalizers raised in rrc_lua_collect */
    RRCL_SPARE,                     /* a proxy without an object: see rrcl_need_spare */
    RRCL_NEW_NODE,                  /* what rrcl_new_node has made */
    RRCL_PLACES = RRCL_NEW_NODE
};

/* The tables of a shard, behind these places. (In 5.1 and LuaJIT, C can use 8000 places of a stack.) */
enum { RRCL_VALUES = 1, RRCL_ANCHORS, RRCL_OWNERS, RRCL_TABLES = RRCL_OWNERS };
#define RRCL_SHARD (LUA_VERSION_NUM == 501 ? 4096u : 2048u)

/* Are there cycles that do not look at what is old? See >>cycles. */
#define RRCL_HAS_MODES (LUA_VERSION_NUM >= 504)
/* Does one request begin a cycle that ends soon? See rrcl_pace. */
#define RRCL_ASKS_ONCE (LUA_VERSION_NUM == 504)

/* The slots of the thread that used a heap last, of the sentinel and of the clock. Those of cells follow. */
#define RRCL_CALLER_SLOT 1u
#define RRCL_SENTINEL_SLOT 2u
#define RRCL_CLOCK_SLOT 3u
/* The numbers of the metatables of canaries (see rrcl_canary), in front of those of classes. */
#define RRCL_CANARY_CLASS(slot) ((int)(slot) - 1)

/* What only a proxy reached dies in the cycle after it, as Lua resurrects the proxy for its
   __gc; and the step in the cycle after that finds it. */
#define RRCL_CYCLES_OF_A_DEATH 3
/* rrc_lua_collect makes so many collections at most, as long as they find garbage. */
#define RRCL_ROUNDS 3
/* With so many slots a whole step is a long pause. */
#define RRCL_MANY_SLOTS 16384
/* A step takes about so many units for each slot. */
#define RRCL_UNITS_OF_A_SLOT 10
/* Units of a step (see rrc_closed_work) that the first sentinel of a cycle does, and each other one; and what one of
   RRCL_CALLS_OF_A_LOOK calls does that make objects. Each of them spends so many units on pending work, too. */
#define RRCL_UNITS_OF_A_CYCLE 4096
#define RRCL_UNITS_OF_A_SENTINEL 512
#define RRCL_UNITS_OF_CALLS 2048
#define RRCL_CALLS_OF_A_LOOK 8
#define RRCL_UNITS_OF_PENDING 256
/* A slice may search one shard of OWNERS, and one more for so many units. */
#define RRCL_UNITS_OF_A_SEARCH 8192
/* While a step looks for deaths, it gets so many units at a time, and its slice ends after so many more searches: see
   rrcl_do_units. */
#define RRCL_UNITS_OF_A_LOOK 8
#define RRCL_SEARCHES 4
/* A sentinel makes others until there are so many, and is not alone for so many cycles after a step. */
#define RRCL_SENTINELS 64
#define RRCL_BUSY_CYCLES 4
/* See rrcl_collect_wrappers: so many cycles can pass between two collections; and so many wrappers are few. */
#define RRCL_MOST_WAIT 63
#define RRCL_FEW_WRAPPERS 16
/* What an empty slot costs in VALUES, ANCHORS and OWNERS; and new memory below which no cycle begins. */
#define RRCL_BYTES_OF_A_SLOT 64
#define RRCL_LEAST_KBYTES 128

/* Where a node keeps the fields of scripts. */
#define RRCL_FIELDS 0

/* Where a metatable keeps what a class based on it starts from; and the upvalues of its __index
   and __newindex: the fallback is that of the class. */
enum { RRCL_METHODS = 1, RRCL_GETTERS, RRCL_SETTERS, RRCL_FALLBACK, RRCL_INFO = RRCL_FALLBACK };

#define RRCL_NAME "rawrefcount"

/* Buckets of values in a block of memory: see rrcl_find_value. */
#define RRCL_BUCKETS 1024u

/* The tag of a cell: does OWNERS have what it has, or is that a proxy, or in a box (see rrcl_push_box)? */
enum { RRCL_NOT_NOTED, RRCL_NOTED, RRCL_IS_PROXY, RRCL_IS_BOXED };

/* An ob that stands for a Lua value. */
typedef struct rrcl_value {
    rrc_object head;
    rrc_cell  *cell;                /* NULL: the value is gone */
    uint32_t   next;                /* the number of the next cell in its bucket, or 0 */
} rrcl_value;

typedef struct rrcl_class_info {    /* its metatable keeps it; Lua's memory, so that it outlives all proxies */
    const rrc_lua_class *cls;
    struct rrcl_closer  *closer;    /* has the state */
    int                  number;    /* of its metatable in CLASSES */
} rrcl_class_info;

/* A userdata that is garbage from the start, in a slot of its own: see rrcl_sees_end. */
typedef struct rrcl_canary {
    uint32_t era;                   /* the number of the one that is in the slot, or was last */
    uint32_t ended;                 /* ... and of the last one whose cycle has been counted */
} rrcl_canary;

/* What is to be done about steps: see rrcl_sees_end. */
enum { RRCL_NO_STEP, RRCL_STEP_WANTED, RRCL_STEP_OPEN };

typedef struct rrcl_step_state {
    int      stage;                 /* RRCL_NO_STEP, ... */
    uint32_t decided;               /* the last cycle for which it was decided whether there is to be a step */
    int      has_left;              /* another step must follow this one: it has left deaths, or somebody asked */
    size_t   units;                 /* of the open step, done so far */
} rrcl_step_state;

typedef struct rrcl_state {
    rrc_heap   *heap;
    lua_State  *hidden;             /* NULL: closed */
    lua_State  *caller;             /* used a function of this file last; see RRCL_CALLER_SLOT */
    lua_State  *main;               /* the main thread, which lives as long as the state; NULL: unknown */
    uint32_t   *revived;            /* for each shard, the era in which its OWNERS was searched: see rrcl_revive */
    uint32_t    shard_count;
    uint32_t  **buckets;            /* blocks of them: see rrcl_find_value */
    uint32_t    bucket_count, in_buckets;
    rrcl_canary sentinel, ticker;
    int         searches;           /* of shards, that this slice may still do: see rrcl_is_live */
    uint32_t    must_search;        /* all shards before this one must be searched; 0: none */
    uint32_t    slot_count;         /* with slot 0, which stays empty */
    const rrc_cell *in_hand;        /* the Lua object of this cell is on top of the hidden thread; NULL: unknown */
    rrc_map     classes;            /* rrc_lua_class, and rrc_type -> rrcl_class_info */
    int         class_count;        /* with the metatables of canaries */
    struct rrcl_proxy *spare;       /* is in SPARE; NULL: there is none */
    const rrc_type *spare_type;     /* the last one had the class of this type */
    const rrcl_class_info *spare_info;
    int         in_step;
    int         deaths;             /* of proxies: so many cycles of Lua's have still to look for
                                       what died with them */
    rrcl_step_state step;
    uint32_t    cycle;              /* of Lua's: their number */
    size_t      sentinels;          /* whose __gc has not been called */
    uint32_t    calls;              /* that allocate: see rrcl_before_allocating */
    size_t      new_values;         /* that were made, up to now */
    size_t      used;               /* cells */
    size_t      made;               /* cells, since the cycle for which is_paced was decided */
    uint32_t    ticked_in;          /* the value of `cycle` when the clock ticked last: see rrcl_read_clock */
    size_t      wrappers;           /* the proxies of wrappers */
    size_t      most_wrappers;      /* with more than so many there is a collection: see rrcl_collect_wrappers */
    int         wait, next_wait;    /* ... or after so many cycles; and how many pass after that one */
    int         is_collecting;      /* inside rrc_lua_collect */
    int         in_order;           /* ... which keeps the order of owners */
    int         must_collect;       /* ... and it is due */
    int         must_root;          /* wrappers are weak, for a collection at once: see rrcl_root_wrappers */
    int         calls_pay;          /* sentinels leave a step to the calls that make objects: see rrcl_sentinel_gc */
    int         is_paced;           /* the next cycle is to begin when Lua's memory is next_kbytes: see rrcl_pace */
    int         next_kbytes;
    int         is_asked;           /* ... and Lua was asked to begin it, when the value of `cycle` was asked_in */
    uint32_t    asked_in;
    struct rrcl_closed *closed;     /* see rrcl_let_go_of_closed */
    size_t      closed_count, closed_size;
    size_t      closings;           /* calls of rrcl_close that are at work */
    struct rrcl_closer *closer;
    void      (*at_end)(rrc_heap *heap);    /* called while all proxies are still there: see rrc_lua_insight.h */
    int         is_ending;          /* see rrcl_part_all */
    int         must_end;           /* closed, but the header was at work: its heap is still to be freed */
    int         is_kept;            /* the heap's own memory stays: see rrcl_can_be_known */
    int         has_error[RRCL_PLACES + 1];
    int         in_slots;           /* pending work runs: see rrcl_error_place */
    int         has_backlog;        /* pending work was left */
    const void *collectgarbage;     /* Lua's function; NULL: unknown */
    int         has_searcher;       /* see rrcl_add_searcher */
    size_t      memory;             /* the header's */
    size_t      native_before, native_new, native_told;    /* see rrc_lua_native_bytes */
    const rrc_type *value_type;
} rrcl_state;

/* The payload of a proxy. Its ob is that of the cell, as long as the cell has the proxy: see rrcl_ob_of. */
typedef struct rrcl_proxy {
    const rrcl_class_info *info;
    uint32_t               check;   /* its own address, disguised: tells a proxy from other userdata */
    unsigned               cell : 27;       /* its number; 0: it has none, or not any more */
    unsigned               has_table : 1;   /* its user value is ours */
    unsigned               is_closed : 1;
    unsigned               is_closing : 1;
} rrcl_proxy;

#define RRCL_DISGUISE(proxy) ((uint32_t)((uint64_t)(uintptr_t)(proxy) * 0x9E3779B97F4A7C15u >> 32))

/* An ob that was closed while C functions used it, and its proxy, which can be gone. We own a reference to ob. */
typedef struct rrcl_closed {
    rrc_object       *ob;
    const rrcl_proxy *proxy;
} rrcl_closed;

/* What copies of this file in different modules must agree on. */
static const char rrcl_config[] = "rrc_lua.h " RRC_LUA_VERSION ", " RRCI_CONFIG;

/* What the registry has: finalized last, it ends the heap. */
typedef struct rrcl_closer {
    rrcl_state *state;
    const char *config;
    int         is_closed;
} rrcl_closer;

/* ---- memory ---- */

/* For the header. The state goes with the last memory of its heap, which may be long
   after lua_close: C can hold obs as long as it likes. */
static void *rrcl_heap_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    rrcl_state *state = (rrcl_state *)userdata;
    if (new_size > 0) {
        ptr = RRC_LUA_REALLOC(ptr, new_size);
        if (ptr != NULL)
            state->memory += new_size - old_size;
        return ptr;
    }
    if (state->is_kept && state->memory == old_size)
        return NULL;                        /* the heap itself goes last */
    state->memory -= old_size;
    (void)RRC_LUA_REALLOC(ptr, 0);
    if (state->memory == 0 && state->hidden == NULL)
        (void)RRC_LUA_REALLOC(state, 0);
    return NULL;
}

static void *rrcl_realloc_or_raise(lua_State *L, void *ptr, size_t size)
{
    void *result = RRC_LUA_REALLOC(ptr, size);
    if (result == NULL)
        luaL_error(L, "not enough memory");
    return result;
}

/* ---- slots ---- */

RRC_INLINE uint32_t rrcl_slot_of(const rrc_cell *cell)
{
    return cell->number + RRCL_CLOCK_SLOT;
}

/* The place of a table of the slot's shard. */
RRC_INLINE int rrcl_place(int table, uint32_t slot)
{
    return RRCL_PLACES + (int)(slot / RRCL_SHARD) * RRCL_TABLES + table;
}

RRC_INLINE int rrcl_index_in_shard(uint32_t slot)
{
    return (int)(slot % RRCL_SHARD) + 1;
}

/* Push an entry of VALUES or ANCHORS on the hidden thread, and return whether it is not
   nil; set one to what is on top. */
RRC_INLINE int rrcl_get(rrcl_state *state, int table, uint32_t slot)
{
    lua_State *hidden = state->hidden;
    return rrcl_typed(hidden, lua_rawgeti(hidden, rrcl_place(table, slot), rrcl_index_in_shard(slot))) != LUA_TNIL;
}

static void rrcl_set(rrcl_state *state, int table, uint32_t slot)
{
    lua_rawseti(state->hidden, rrcl_place(table, slot), rrcl_index_in_shard(slot));
}

static int rrcl_is_empty(rrcl_state *state, uint32_t slot)
{
    int is_there = rrcl_get(state, RRCL_VALUES, slot);
    lua_pop(state->hidden, 1);
    return !is_there;
}

static uint32_t rrcl_hash_bits(uint64_t bits)
{
    return (uint32_t)(bits * 0x9E3779B97F4A7C15u >> 33);
}

/* A hash of the value at index, which is no nil: equal values have the same. */
static uint32_t rrcl_hash(lua_State *L, int index)
{
    uint64_t bits = 0;
    switch (lua_type(L, index)) {
    case LUA_TNUMBER: {
        lua_Number number = lua_tonumber(L, index);
        if (number == 0)
            number = 0;                         /* not -0 */
        memcpy(&bits, &number, sizeof number < sizeof bits ? sizeof number : sizeof bits);
        bits ^= bits >> 32;
        break;
    }
    case LUA_TSTRING: {
        size_t size, i;
        const char *text = lua_tolstring(L, index, &size);
        bits = size;
        for (i = size > 32 ? size - 32 : 0; i < size; i++)
            bits = bits * 31 + (unsigned char)text[i];
        break;
    }
    default:                                    /* NULL for booleans */
        bits = (uint64_t)(uintptr_t)lua_topointer(L, index);
    }
    return rrcl_hash_bits(bits);
}

/* The shard of OWNERS for a hash, if there are `count`. */
static uint32_t rrcl_owners_shard(uint32_t hash, uint32_t count)
{
    uint32_t mask = 1, shard;
    while (mask < count)
        mask *= 2;
    shard = hash & (mask - 1);
    return shard < count ? shard : shard & (mask / 2 - 1);
}

/* The place of the OWNERS for the value at index of L. */
static int rrcl_owners(lua_State *L, const rrcl_state *state, int index)
{
    uint32_t shard = state->shard_count > 1 ? rrcl_owners_shard(rrcl_hash(L, index), state->shard_count) : 0;
    return rrcl_place(RRCL_OWNERS, shard * RRCL_SHARD);
}

/* Whatever allocates in Lua can end the state, while it is closed: see rrcl_end. */
static void rrcl_need_open(lua_State *L, const rrcl_state *state)
{
    if (state->hidden == NULL)
        luaL_error(L, "this Lua state is being closed");
}

/* The hidden thread needs room for a new shard. In 5.1 and LuaJIT, lua_checkstack can raise an error, which nobody
   would catch there. So another thread grows its stack while it runs, and becomes the hidden one. */
#if LUA_VERSION_NUM == 501
static int rrcl_need_stack(lua_State *thread)
{
    int n = (int)lua_tointeger(thread, 1);
    lua_settop(thread, 0);
    luaL_checkstack(thread, n, "too many objects of C");
    return 0;
}

/* Push such a thread. Raises. */
static void rrcl_push_hidden(lua_State *L, const rrcl_state *state)
{
    int n = lua_gettop(state->hidden) + RRCL_TABLES + LUA_MINSTACK;
    lua_State *thread = lua_newthread(L);
    lua_pushcfunction(L, rrcl_need_stack);
    lua_xmove(L, thread, 1);
    lua_pushinteger(thread, n);
    if (lua_resume(thread, 1) != 0) {
        lua_xmove(thread, L, 1);
        lua_error(L);
    }
    lua_checkstack(thread, n);
}

/* The thread at index becomes the hidden one. Nothing is allocated: Lua has the name already. */
static void rrcl_replace_hidden(lua_State *L, rrcl_state *state, int index)
{
    lua_State *thread = lua_tothread(L, index);
    lua_xmove(state->hidden, thread, lua_gettop(state->hidden));
    lua_pushvalue(L, index);
    lua_setfield(L, LUA_REGISTRYINDEX, RRCL_NAME ".hidden");
    state->hidden = thread;
}
#endif

/* Push a table whose keys, or values, are weak. */
static void rrcl_push_weak(lua_State *L, const char *mode, uint32_t values, uint32_t keys)
{
    lua_createtable(L, (int)values, (int)keys);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
}

/* Of the shard of OWNERS that is split when a shard is added, so many keys go to the new one, and so many stay. If
   is_moving, they get into the two tables on top, of which the last takes the place of the old one. (Nothing is
   allocated.) */
static void rrcl_split_owners(rrcl_state *state, uint32_t count, uint32_t keys[2], int is_moving)
{
    lua_State *hidden = state->hidden;
    int top = lua_gettop(hidden), from = rrcl_place(RRCL_OWNERS, rrcl_owners_shard(count - 1, count - 1) * RRCL_SHARD);
    keys[0] = keys[1] = 0;
    lua_pushnil(hidden);
    while (lua_next(hidden, from)) {
        int stays = rrcl_owners_shard(rrcl_hash(hidden, -2), count) != count - 1;
        keys[stays]++;
        if (is_moving) {
            lua_pushvalue(hidden, -2);
            lua_insert(hidden, -2);
            lua_rawset(hidden, top - 1 + stays);
        } else {
            lua_pop(hidden, 1);
        }
    }
    if (is_moving)
        lua_replace(hidden, from);
}

/* Move all entries of the first shard to the new tables on the hidden thread, in place of which they are then.
   Nothing is allocated, so that nothing dies in between. */
static void rrcl_replace_shard(rrcl_state *state)
{
    lua_State *hidden = state->hidden;
    uint32_t i;
    for (i = 1; i < state->slot_count; i++) {
        rrcl_get(state, RRCL_VALUES, i);
        lua_rawseti(hidden, -3, rrcl_index_in_shard(i));
        rrcl_get(state, RRCL_ANCHORS, i);
        lua_rawseti(hidden, -2, rrcl_index_in_shard(i));
        lua_pushnil(hidden);                    /* somebody's stack can still have a copy of the old table */
        rrcl_set(state, RRCL_ANCHORS, i);
    }
    lua_replace(hidden, rrcl_place(RRCL_ANCHORS, 0));
    lua_replace(hidden, rrcl_place(RRCL_VALUES, 0));
}

/* Push the tables of a shard, with both OWNERS of one that is split. Returns how many. 0: a finalizer has grown the slots
   meanwhile. */
static int rrcl_push_shard(lua_State *L, rrcl_state *state, uint32_t size, int is_new)
{
    uint32_t old_count = state->slot_count, shards = state->shard_count + 1, keys[2], more[2] = { 0, 0 };
    int top = lua_gettop(L), is_split = is_new && shards > 1;
    do {                                        /* finalizers can add keys */
        memcpy(keys, more, sizeof keys);
        lua_settop(L, top);
#if LUA_VERSION_NUM == 501
        rrcl_push_hidden(L, state);
#endif
        rrcl_push_weak(L, "v", size, 0);
        lua_createtable(L, (int)size, 0);
        if (is_new)
            rrcl_push_weak(L, "k", 0, keys[0]);
        if (is_split)
            rrcl_push_weak(L, "k", 0, keys[1]);
        rrcl_need_open(L, state);
        if (state->slot_count != old_count) {
            lua_settop(L, top);
            return 0;
        }
        if (is_split)
            rrcl_split_owners(state, shards, more, 0);
    } while (more[0] > keys[0] || more[1] > keys[1]);
    return 2 + is_new + is_split;
}

/* More slots: a new shard, or a first shard of twice the size. */
static void rrcl_grow_slots(lua_State *L, rrcl_state *state)
{
    uint32_t old_count = state->slot_count, shard = old_count / RRCL_SHARD, keys[2];
    uint32_t size = old_count == 0 ? 64 : old_count < RRCL_SHARD ? old_count * 2 : RRCL_SHARD;
    int is_new = shard == state->shard_count, top = lua_gettop(L), tables, i;
    luaL_checkstack(L, 8, NULL);
    tables = rrcl_push_shard(L, state, size, is_new);
    if (tables == 0)
        return;
    if (is_new && shard % 64 == 0)
        state->revived = (uint32_t *)rrcl_realloc_or_raise(L, state->revived, (shard + 64) * sizeof *state->revived);
#if LUA_VERSION_NUM == 501
    rrcl_replace_hidden(L, state, top + 1);
#else
    if (!lua_checkstack(state->hidden, RRCL_TABLES + LUA_MINSTACK))
        luaL_error(L, "too many objects of C");
#endif
    lua_xmove(L, state->hidden, tables);
    lua_settop(L, top);
    if (is_new) {
        if (shard > 0)
            rrcl_split_owners(state, shard + 1, keys, 1);
        for (i = 0; i < RRCL_TABLES; i++)
            lua_insert(state->hidden, rrcl_place(RRCL_VALUES, old_count));
        state->revived[shard] = 0;
        state->shard_count++;
    } else {
        rrcl_replace_shard(state);
    }
    state->slot_count = shard * RRCL_SHARD + size;
}

static int rrcl_has_room_for_cell(const rrcl_state *state)
{
    unsigned number = rrc_cell_reserve(state->heap);
    return number != 0 && number + RRCL_CLOCK_SLOT < state->slot_count;
}

/* After this a cell can be made: there is room for its slot. Raises before anything is changed, also if the state was
   closed meanwhile. What is done after it must not allocate in Lua before the cell is made. Returns the slot. */
static uint32_t rrcl_reserve_cell(lua_State *L, rrcl_state *state)
{
    for (;;) {
        uint32_t number;
        rrcl_need_open(L, state);
        number = rrc_cell_reserve(state->heap);
        if (number == 0)
            luaL_error(L, "not enough memory");
        if (number + RRCL_CLOCK_SLOT < state->slot_count)
            return number + RRCL_CLOCK_SLOT;
        rrcl_grow_slots(L, state);
    }
}

/* The state of a proxy; NULL: it is closed. */
RRC_INLINE rrcl_state *rrcl_state_of(const rrcl_proxy *proxy)
{
    return proxy->info->closer->state;
}

/* The cell of a proxy. NULL: the proxy was closed or finalized, there is a newer one, or its state is closed. */
RRC_INLINE rrc_cell *rrcl_cell_of(const rrcl_proxy *proxy)
{
    const rrcl_state *state = rrcl_state_of(proxy);
    rrc_cell *cell = state != NULL ? rrc_cell_at(state->heap, proxy->cell) : NULL;
    return cell != NULL && cell->object == proxy ? cell : NULL;
}

/* The ob of a proxy, or NULL likewise. */
RRC_INLINE rrc_object *rrcl_ob_of(const rrcl_proxy *proxy)
{
    const rrc_cell *cell = rrcl_cell_of(proxy);
    return cell != NULL ? cell->ob : NULL;
}

/* The proxy at index, or NULL. */
static rrcl_proxy *rrcl_to_proxy(lua_State *L, int index)
{
    rrcl_proxy *proxy = (rrcl_proxy *)lua_touserdata(L, index);
    if (proxy == NULL || rrcl_rawlen(L, index) != sizeof *proxy         /* (0 for light userdata) */
        || proxy->check != RRCL_DISGUISE(proxy))
        return NULL;
    return proxy;
}

/* ---- who calls ---- */

/* Remember the thread, weakly: callbacks run on it. */
static void rrcl_use(rrcl_state *state, lua_State *L)
{
    if (state->caller == L)
        return;
    if (lua_pushthread(L))
        state->main = L;
    lua_xmove(L, state->hidden, 1);
    rrcl_set(state, RRCL_VALUES, RRCL_CALLER_SLOT);
    state->caller = L;
}

static lua_State *rrcl_caller(rrcl_state *state)
{
    if (state->hidden == NULL)
        return NULL;
    if (state->caller != NULL) {
        if (state->caller == state->main || (!rrcl_is_empty(state, RRCL_CALLER_SLOT) && lua_status(state->caller) == 0))
            return state->caller;
        state->caller = NULL;
    }
    return lua_tothread(state->hidden, RRCL_RESERVE);
}

RRC_LUA_API lua_State *rrc_lua_state(rrc_heap *heap)
{
    return rrcl_caller((rrcl_state *)rrc_userdata(heap));
}

/* ---- errors that are kept ---- */

static void rrcl_keep_error(lua_State *L, rrcl_state *state, int place, int status)
{
    if (state->hidden == NULL) {
        lua_pop(L, status != RRCL_NO_STACK);
        return;
    }
    if (status == RRCL_NO_STACK)
        lua_pushvalue(state->hidden, RRCL_NO_STACK_ERROR);
    else
        lua_xmove(L, state->hidden, 1);
    lua_replace(state->hidden, place);
    state->has_error[place] = 1;
}

/* Push what is kept, which is not kept any more. Returns whether there was an error. */
static int rrcl_take_error(lua_State *L, rrcl_state *state, int place)
{
    if (state->hidden == NULL || !state->has_error[place])
        return 0;
    state->has_error[place] = 0;
    lua_pushvalue(state->hidden, place);
    lua_xmove(state->hidden, L, 1);
    lua_pushnil(state->hidden);
    lua_replace(state->hidden, place);
    return 1;
}

/* Where the error of a call is kept. What a slot in pending work leaves there is nobody's, and must not replace what a
   method is going to raise. */
static int rrcl_error_place(const rrcl_state *state)
{
    return state->in_slots > 0 ? RRCL_SLOT_ERROR : RRCL_CALL_ERROR;
}

/* An error that slots have left is given to Lua's warning function; before 5.4 it is dropped. */
static RRCI_COLD void rrcl_warn_of_slots(rrcl_state *state)
{
    if (!rrcl_take_error(state->hidden, state, RRCL_SLOT_ERROR))
        return;
#if LUA_VERSION_NUM >= 504
    {
        lua_State *L = state->hidden;
        const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1);
        lua_warning(L, "error in a finalizer (", 1);
        lua_warning(L, text, 1);
        lua_warning(L, ")", 0);
    }
#endif
    lua_pop(state->hidden, 1);
}

/* Slots have run since in_slots was raised. */
RRC_INLINE void rrcl_end_slots(rrcl_state *state)
{
    if (--state->in_slots == 0 && state->has_error[RRCL_SLOT_ERROR])
        rrcl_warn_of_slots(state);
}

/* Free the heap of a closed state, unless the header is at work: then it is called again
   when that returns. */
static void rrcl_end_heap(rrcl_state *state)
{
    state->must_end = 0;
    if (rrc_heap_free(state->heap) == SIZE_MAX)     /* else the state may have gone with it */
        state->must_end = 1;
}

/* Pending work was done, at most max units (0: all), since in_slots was raised. */
RRC_INLINE void rrcl_end_run(rrcl_state *state, size_t done, size_t max)
{
    state->has_backlog = done >= max && max > 0;
    rrcl_end_slots(state);
    if (state->must_end)
        rrcl_end_heap(state);
}

/* Do pending work: at most max units (0: all). */
static void rrcl_run_pending(rrcl_state *state, size_t max)
{
    state->in_slots++;
    rrcl_end_run(state, rrc_run_pending(state->heap, max), max);
}

RRC_LUA_API int rrc_lua_drop_error(rrc_heap *heap)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    if (!rrcl_take_error(state->hidden, state, rrcl_error_place(state)))
        return 0;
    lua_pop(state->hidden, 1);
    return 1;
}

static void rrcl_raise_kept(lua_State *L, rrcl_state *state, int place)
{
    if (rrcl_take_error(L, state, place))
        lua_error(L);
}

/* The text has a position: "file:12: ..." in its first line. */
static int rrcl_has_position(const char *text)
{
    for (; *text != '\0' && *text != '\n'; text++) {
        size_t digits = text[0] == ':' ? strspn(text + 1, "0123456789") : 0;
        if (digits > 0 && text[digits + 1] == ':')
            return 1;
    }
    return 0;
}

/* Raise the error of a protected call, with the place in the script as for any error of a method. */
static int rrcl_raise_again(lua_State *L, int status)
{
    if (status == LUA_ERRRUN && lua_type(L, -1) == LUA_TSTRING && !rrcl_has_position(lua_tostring(L, -1))) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* ---- closing ----
 *
 * A C function uses ob while its argument, the proxy, is on its stack. What it calls can close the object: a metamethod
 * of another argument, a callback, or a finalizer. The proxy loses ob at once then, but the proxy's reference is kept
 * in state->closed until no C function at work has the proxy on its stack. */

/* So many levels of a thread are looked at, and so many threads. */
#define RRCL_MOST_LEVELS 1000
#define RRCL_MOST_THREADS 100

/* Does a C function of this thread, from this level on, have the proxy on its stack? (Yes, if there is no room to look.) */
static int rrcl_thread_uses(lua_State *L, const rrcl_proxy *proxy, int level)
{
    lua_Debug frame;
    for (; lua_getstack(L, level, &frame); level++) {
        int i, is_c;
        if (level > RRCL_MOST_LEVELS || !rrcl_has_room(L, 1))
            return 1;
        lua_getinfo(L, "f", &frame);
        is_c = lua_iscfunction(L, -1);
        lua_pop(L, 1);
        for (i = 1; is_c && lua_getlocal(L, &frame, i) != NULL; i++) {
            const void *local = lua_touserdata(L, -1);
            lua_pop(L, 1);
            if (local == proxy)
                return 1;
        }
    }
    return 0;
}

/* The thread that a C function at the top of this one resumes: the only one on its stack, or its upvalue. NULL: unknown */
static lua_State *rrcl_resumed(lua_State *L)
{
    lua_State *result = NULL, *thread;
    lua_Debug frame;
    int i;
    if (!rrcl_has_room(L, 2) || !lua_getstack(L, 0, &frame))
        return NULL;
    for (i = 1; lua_getlocal(L, &frame, i) != NULL; i++) {
        thread = lua_tothread(L, -1);
        lua_pop(L, 1);
        if (thread != NULL && result != NULL)
            return NULL;
        if (thread != NULL)
            result = thread;
    }
    if (result == NULL) {
        lua_getinfo(L, "f", &frame);
        if (lua_getupvalue(L, -1, 1) != NULL) {
            result = lua_tothread(L, -1);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    return result;
}

/* The same of all threads that are at work: L, which runs the function at level 0, and those that have resumed it, from
   the main thread on. (Yes, if these are not found.) */
static int rrcl_is_used(lua_State *L, const rrcl_state *state, const rrcl_proxy *proxy)
{
    lua_State *thread = state->main;
    int i;
    if (rrcl_thread_uses(L, proxy, 1))
        return 1;
    for (i = 0; i < RRCL_MOST_THREADS && thread != NULL; i++) {
        if (thread == L)
            return 0;
        if (rrcl_thread_uses(thread, proxy, 0))
            return 1;
        thread = rrcl_resumed(thread);
    }
    return 1;
}

/* Let go of what was closed, as far as it is not in use any more. L NULL: of all. */
static void rrcl_let_go_of_closed(lua_State *L, rrcl_state *state)
{
    size_t i = 0;
    while (i < state->closed_count) {
        rrc_object *ob = state->closed[i].ob;
        const rrcl_proxy *proxy = state->closed[i].proxy;
        if (L != NULL && proxy != NULL && rrcl_is_used(L, state, proxy)) {
            i++;
            continue;
        }
        state->closed[i] = state->closed[--state->closed_count];
        state->in_slots++;
        rrc_decref(state->heap, ob);        /* its slots can close others, and come here */
        rrcl_end_slots(state);
    }
}

/* A proxy that was closed is dead: no stack has it. */
static void rrcl_forget_closed(lua_State *L, rrcl_state *state, const rrcl_proxy *proxy)
{
    size_t i;
    for (i = 0; i < state->closed_count; i++)
        if (state->closed[i].proxy == proxy)
            state->closed[i].proxy = NULL;
    if (state->closed_count > 0)
        rrcl_let_go_of_closed(L, state);
}

/* Room for one more, and for those whose closing is at work. Raises. */
static void rrcl_reserve_closed(lua_State *L, rrcl_state *state)
{
    size_t size = 2 * (state->closed_count + state->closings) + 4;
    if (state->closed_count + state->closings < state->closed_size)
        return;
    state->closed = (rrcl_closed *)rrcl_realloc_or_raise(L, state->closed, size * sizeof *state->closed);
    state->closed_size = size;
}

/* C functions may have returned that used what is closed. */
static void rrcl_end_closing(lua_State *L, rrcl_state *state)
{
    rrcl_let_go_of_closed(L, state);
    rrcl_run_pending(state, RRCL_UNITS_OF_PENDING);
}

/* ---- values: obs that stand for functions, tables, strings ... ---- */

/* Lua 5.1 and LuaJIT drop a userdata that was resurrected once from weak values in each cycle, also when it is held. So
   its slot has a box: a table with the userdata as a weak key, and at 1, if anchored, the userdata. */
#define RRCL_NEEDS_BOX(L, index) (LUA_VERSION_NUM == 501 && lua_type(L, index) == LUA_TUSERDATA)

static void rrcl_push_box(lua_State *L, int index)
{
    rrcl_push_weak(L, "k", 1, 1);
    lua_pushvalue(L, index);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, 1);
}

static int rrcl_is_boxed(const rrc_cell *cell)
{
    return LUA_VERSION_NUM == 501 && cell->tag == RRCL_IS_BOXED;
}

/* Replace the box on top of the hidden thread by what is in it, or nil. */
static void rrcl_unbox(lua_State *hidden)
{
    lua_pushnil(hidden);
    while (lua_next(hidden, -2)) {
        lua_pop(hidden, 1);
        if (lua_type(hidden, -1) == LUA_TUSERDATA) {
            lua_replace(hidden, -2);
            return;
        }
    }
    lua_pop(hidden, 1);
    lua_pushnil(hidden);
}

/* Push what a cell has, or nil; returns whether it is not nil. */
RRC_INLINE int rrcl_get_live(rrcl_state *state, const rrc_cell *cell)
{
    int is_there = rrcl_get(state, RRCL_VALUES, rrcl_slot_of(cell));
    if (!rrcl_is_boxed(cell))
        return is_there;
    rrcl_unbox(state->hidden);
    return !lua_isnil(state->hidden, -1);
}

/* The same on L, if it is not nil. */
RRC_INLINE int rrcl_push_cell(lua_State *L, rrcl_state *state, const rrc_cell *cell)
{
    if (cell == NULL)
        return 0;
    if (!rrcl_get_live(state, cell)) {
        lua_pop(state->hidden, 1);
        return 0;
    }
    lua_xmove(state->hidden, L, 1);
    return 1;
}

/* The same of the link of ob. */
RRC_INLINE int rrcl_push_existing(lua_State *L, rrcl_state *state, rrc_object *ob)
{
    return rrcl_push_cell(L, state, (const rrc_cell *)rrc_to_obj(state->heap, ob));
}

/* Values that are the same object as long as they live. The others are kept strongly,
   each reference by an ob of its own. */
static int rrcl_has_identity(int type)
{
    return type >= LUA_TTABLE;                  /* functions, userdata, threads, and LuaJIT's cdata, too */
}

/* What a cell has as its object, which is the value at index. */
static void *rrcl_identity(lua_State *L, rrcl_state *state, int index)
{
    return rrcl_has_identity(lua_type(L, index)) ? (void *)(uintptr_t)lua_topointer(L, index) : state;
}

/* The cell whose slot is on top of the hidden thread, if OWNERS has it for this identity; NULL: it was about an earlier
   cell in this slot. (What is a key there still has its address, so that no other value has it.) */
static rrc_cell *rrcl_owner_cell(const rrcl_state *state, const void *identity)
{
    rrc_cell *cell = rrc_cell_at(state->heap, (unsigned)lua_tonumber(state->hidden, -1) - RRCL_CLOCK_SLOT);
    return cell != NULL && cell->object == identity ? cell : NULL;
}

/* OWNERS gets this slot for the value on top of L, which is popped. Raises. */
static void rrcl_note(lua_State *L, const rrcl_state *state, uint32_t slot)
{
    lua_pushvalue(state->hidden, rrcl_owners(L, state, -1));
    lua_xmove(state->hidden, L, 1);
    lua_insert(L, -2);
    lua_pushnumber(L, (lua_Number)slot);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* The cell for which OWNERS has the value on top of the hidden thread, which is popped; or NULL. */
static rrc_cell *rrcl_noted_cell(rrcl_state *state, const void *identity)
{
    rrc_cell *cell = NULL;
    lua_rawget(state->hidden, rrcl_owners(state->hidden, state, -1));
    if (!lua_isnil(state->hidden, -1))
        cell = rrcl_owner_cell(state, identity);
    lua_pop(state->hidden, 1);
    return cell;
}

/* >>cycles: Lua's cycles
   ----------------------
   Two canaries tell of them: the main sentinel of all cycles (of the generational mode of 5.4: also of young
   collections), and, from 5.4 on, the ticker of the clock of those that look at what is old. Lua takes a canary out of
   its slot when a cycle finds it dead, and calls its __gc later. Canaries have numbers. Whoever looks first counts the
   cycle, once: for the sentinel that is the first __gc of any sentinel, for the ticker also whoever asks for the time.

       canary           counted    what has happened              what comes next
       n, in its slot   n - 1      nothing                        a cycle takes it out
       n, dying         n - 1      a cycle has ended              it is counted: n; a __gc puts n + 1 into the slot
       n + 1, in slot   n - 1      the same; a call made n + 1    it is counted: n
       n, dying         n          n + 1 is still to be made      its __gc makes n + 1. If memory is lacking, calls that
                                                                  allocate make the sentinel, and later cycles the
                                                                  ticker

   For each counted cycle of the sentinel it is decided whether there is to be a step. While a step is open, the decision
   waits until that has ended.

       step             decided    what a __gc of a sentinel, or a call that makes an object, does about steps
       none             cycle      nothing
       wanted           cycle      begins one: a slice
       open, at work    <= cycle   a slice. When the step has ended, the decision that waits is made

   RRC_DEBUG checks all numbers. */

/* What is on top of the hidden thread becomes the canary in this slot. */
static void rrcl_set_canary(rrcl_state *state, uint32_t slot, rrcl_canary *canary)
{
    canary->era += (uint32_t)rrcl_is_empty(state, slot);        /* else it takes the place of one that lives */
    rrcl_set(state, RRCL_VALUES, slot);
}

/* Has a cycle taken a canary out of the slot, and nobody has counted that cycle yet? Then it is counted now. */
static int rrcl_sees_end(rrcl_state *state, uint32_t slot, rrcl_canary *canary)
{
    uint32_t taken = canary->era - !rrcl_is_empty(state, slot);
    RRC_ASSERT((int32_t)(taken - canary->ended) >= 0 && "a cycle that goes on has been counted");
    if (taken == canary->ended)
        return 0;
    canary->ended = taken;
    return 1;
}

/* Is all decided that can be? */
static void rrcl_check_steps(const rrcl_state *state)
{
    int waits = state->step.stage == RRCL_STEP_OPEN || state->in_step > 0 || state->hidden == NULL;
    int is_decided = waits ? (int32_t)(state->cycle - state->step.decided) >= 0 : state->step.decided == state->cycle;
    (void)is_decided;
    RRC_ASSERT(is_decided && "a cycle has ended, and it was not decided whether a step follows");
}

/* A value or node that is being finalized, or reached from what is, has lost its slot but is still a key of OWNERS:
   give all of them in a shard their slots back. (While this sentinel is in its slot, nothing else is lost.) */
static void rrcl_revive(rrcl_state *state, uint32_t shard)
{
    lua_State *hidden = state->hidden;
    lua_pushnil(hidden);
    while (lua_next(hidden, rrcl_place(RRCL_OWNERS, shard * RRCL_SHARD))) {
        const rrc_cell *cell = rrcl_owner_cell(state, rrcl_identity(hidden, state, -2));
        lua_pop(hidden, 1);
        if (cell != NULL && rrcl_is_empty(state, rrcl_slot_of(cell))) {
            lua_pushvalue(hidden, -1);
            rrcl_set(state, RRCL_VALUES, rrcl_slot_of(cell));
        }
    }
    state->revived[shard] = state->sentinel.era;
    state->searches--;
}

static int rrcl_is_revived(rrcl_state *state, uint32_t shard)
{
    return state->revived[shard] == state->sentinel.era && !rrcl_is_empty(state, RRCL_SENTINEL_SLOT);
}

/* Can OWNERS have what the cell has lost? Sets the shard that would have it. */
static int rrcl_may_revive(rrcl_state *state, const rrc_cell *cell, uint32_t *shard)
{
    if (cell->tag != RRCL_NOTED)
        return 0;
    *shard = rrcl_owners_shard(rrcl_hash_bits((uint64_t)(uintptr_t)cell->object), state->shard_count);
    return !rrcl_is_revived(state, *shard);
}

/* Like rrcl_get_live, and look everywhere. */
static int rrcl_get_or_revive(rrcl_state *state, const rrc_cell *cell)
{
    uint32_t shard;
    if (rrcl_get_live(state, cell))
        return 1;
    if (!rrcl_may_revive(state, cell, &shard))
        return 0;
    lua_pop(state->hidden, 1);
    rrcl_revive(state, shard);
    return rrcl_get_live(state, cell);
}

/* Is what the cell has in Lua alive? If may_defer, and a slice has searched enough, what may be in another shard is left
   to the next step, which follows at once. */
static int rrcl_is_live(void *userdata, const rrc_cell *cell, int may_defer)
{
    rrcl_state *state = (rrcl_state *)userdata;
    uint32_t shard;
    int is_there;
    if (state->hidden == NULL || cell->tag == RRCL_IS_PROXY)
        return 1;                           /* all links go soon; only its __gc lets a proxy go */
    is_there = rrcl_get_live(state, cell);
    lua_pop(state->hidden, 1);
    if (is_there || !rrcl_may_revive(state, cell, &shard))
        return is_there;
    if (may_defer && state->in_step && state->searches <= 0) {
        state->must_search = state->shard_count;
        state->step.has_left = 1;
        return 1;
    }
    is_there = rrcl_get_or_revive(state, cell);
    lua_pop(state->hidden, 1);
    return is_there;
}

/* (Only that of a value without an identity is still there.) */
static void rrcl_value_dealloc(rrc_heap *heap, rrc_object *ob)
{
    rrc_cell *cell = ((rrcl_value *)(void *)ob)->cell;
    if (cell != NULL && ((rrcl_state *)rrc_userdata(heap))->hidden != NULL)
        rrc_cell_free(heap, cell);
    rrc_del(heap, ob);
}

static const rrc_type rrcl_value_type = {
    RRC_OBJECT_HEAD_INIT(NULL), "Lua value", sizeof(rrcl_value), 0, 0,
    rrcl_value_dealloc, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
};

RRC_LUA_API int rrc_lua_is_value(rrc_heap *heap, const rrc_object *ob)
{
    return ob->ob_type == ((rrcl_state *)rrc_userdata(heap))->value_type;
}

RRC_LUA_API const char *rrc_lua_string(rrc_heap *heap, const rrc_object *ob, size_t *size)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    const rrc_cell *cell = rrc_lua_is_value(heap, ob) ? ((const rrcl_value *)(const void *)ob)->cell : NULL;
    const char *result = NULL;
    if (cell == NULL || state->hidden == NULL)
        return NULL;
    rrcl_get(state, RRCL_VALUES, rrcl_slot_of(cell));
    if (lua_type(state->hidden, -1) == LUA_TSTRING)     /* the slot holds it */
        result = lua_tolstring(state->hidden, -1, size);
    lua_pop(state->hidden, 1);
    return result;
}

/* ---- buckets: the address of a value -> its cell. They grow by linear hashing, as OWNERS do. ---- */

static uint32_t *rrcl_bucket(const rrcl_state *state, const void *identity)
{
    uint32_t i = rrcl_owners_shard(rrcl_hash_bits((uint64_t)(uintptr_t)identity), state->bucket_count);
    return &state->buckets[i / RRCL_BUCKETS][i % RRCL_BUCKETS];
}

static uint32_t *rrcl_next_in_bucket(const rrc_cell *cell)
{
    return &((rrcl_value *)(void *)cell->ob)->next;
}

static void rrcl_put_in_bucket(rrcl_state *state, const rrc_cell *cell)
{
    uint32_t *place = rrcl_bucket(state, cell->object);
    *rrcl_next_in_bucket(cell) = *place;
    *place = cell->number;
    state->in_buckets++;
}

static void rrcl_take_from_bucket(rrcl_state *state, const rrc_cell *cell)
{
    uint32_t *place = rrcl_bucket(state, cell->object);
    while (*place != cell->number)
        place = rrcl_next_in_bucket(rrc_cell_at(state->heap, *place));
    *place = *rrcl_next_in_bucket(cell);
    state->in_buckets--;
}

/* Make room for one more value: a block of buckets, which take cells from those of another block. Raises. */
static void rrcl_reserve_bucket(lua_State *L, rrcl_state *state)
{
    uint32_t block = state->bucket_count / RRCL_BUCKETS, from_block = rrcl_owners_shard(block, block), i;
    size_t bytes = RRCL_BUCKETS * sizeof **state->buckets;
    if (state->in_buckets < state->bucket_count)
        return;
    state->buckets = (uint32_t **)rrcl_realloc_or_raise(L, state->buckets, (block + 1) * sizeof *state->buckets);
    state->buckets[block] = (uint32_t *)rrcl_realloc_or_raise(L, NULL, bytes);
    memset(state->buckets[block], 0, bytes);
    state->bucket_count += RRCL_BUCKETS;
    for (i = 0; block > 0 && i < RRCL_BUCKETS; i++) {
        uint32_t *from = &state->buckets[from_block][i], *to = &state->buckets[block][i], *end = to;
        while (*from != 0) {
            const rrc_cell *cell = rrc_cell_at(state->heap, *from);
            uint32_t *next = rrcl_next_in_bucket(cell);
            if (rrcl_bucket(state, cell->object) != to) {
                from = next;
                continue;
            }
            *end = *from;                       /* the order stays: the newest first */
            *from = *next;
            *next = 0;
            end = next;
        }
    }
}

/* The ob that stands for the value at index, or NULL. */
static rrc_object *rrcl_find_value(lua_State *L, rrcl_state *state, int index)
{
    const void *identity = rrcl_identity(L, state, index);
    const rrc_cell *cell;
    if (identity != state) {                        /* the newest cell for this address, which can be dead */
        cell = state->bucket_count > 0 ? rrc_cell_at(state->heap, *rrcl_bucket(state, identity)) : NULL;
        while (cell != NULL && cell->object != identity)
            cell = rrc_cell_at(state->heap, *rrcl_next_in_bucket(cell));
        return cell != NULL && (cell->is_pinned || rrcl_is_live(state, cell, 0)) ? cell->ob : NULL;
    }
    lua_pushvalue(L, index);
    lua_xmove(L, state->hidden, 1);
    cell = rrcl_noted_cell(state, identity);
    return cell != NULL ? cell->ob : NULL;
}

/* A cell can be made; its slot will be `slot`. If the value needs a box, that is on top, and is popped. is_found: the
   value is to be found again. */
static rrc_object *rrcl_new_value(lua_State *L, rrcl_state *state, int index, uint32_t slot, int is_found)
{
    rrcl_value *value;
    void *identity = rrcl_identity(L, state, index);
    int is_noted = is_found && identity == state;   /* (another value is noted by the first node that refers to it) */
    int is_boxed = RRCL_NEEDS_BOX(L, index);
    if (is_noted) {                                 /* the only step that allocates in Lua */
        lua_pushvalue(L, index);
        rrcl_note(L, state, slot);
    }
    value = (rrcl_value *)(void *)rrc_new(state->heap, state->value_type);
    if (value != NULL) {
        state->new_values++;
        if (!is_boxed)
            lua_pushvalue(L, index);
        lua_xmove(L, state->hidden, 1);
        if (identity != state)
            rrc_cell_link(state->heap, identity, &value->head, RRC_P);
        else
            state->made -= rrc_cell_new(state->heap, state, &value->head) != NULL;  /* it goes by its count */
        state->in_hand = NULL;
        lua_pop(state->hidden, 1);
        if (value->cell != NULL) {
            value->cell->tag = (is_noted ? RRCL_NOTED : is_boxed ? RRCL_IS_BOXED : RRCL_NOT_NOTED) & 3;
            return &value->head;
        }
        rrc_decref(state->heap, &value->head);
    }
    if (is_noted) {
        lua_pushvalue(L, index);
        lua_xmove(L, state->hidden, 1);
        lua_pushnil(state->hidden);
        lua_rawset(state->hidden, rrcl_owners(state->hidden, state, -2));
    }
    luaL_error(L, "not enough memory");
    return NULL;
}

static void rrcl_catch_up(lua_State *L, rrcl_state *state, int looks);

/* Called where Lua may run anything anyway. Only some of the calls, the first among them, look for what is seldom due. */
RRC_INLINE void rrcl_before_allocating(lua_State *L, rrcl_state *state)
{
    int looks = state->calls++ % RRCL_CALLS_OF_A_LOOK == 0;
    if (looks || state->closed_count > 0 || state->native_new > RRC_LUA_NATIVE_BYTES
        || (!RRCL_ASKS_ONCE && state->is_asked) || (RRCL_HAS_MODES && state->must_collect))
        rrcl_catch_up(L, state, looks);
    rrcl_check_steps(state);
}

/* Is the value to be found again? is_key: also one without identity. (NaN is no key of a table.) */
static int rrcl_is_found(lua_State *L, int index, int is_key)
{
    int type = lua_type(L, index);
    return rrcl_has_identity(type)
           || (is_key && type != LUA_TNONE && type != LUA_TNIL && (type != LUA_TNUMBER || lua_rawequal(L, index, index)));
}

/* The ob of a value that has one, or of a proxy. */
static rrc_object *rrcl_peek(lua_State *L, rrcl_state *state, int index, int is_found)
{
    const rrcl_proxy *proxy = rrcl_to_proxy(L, index);
    rrc_object *ob = proxy != NULL ? rrcl_ob_of(proxy) : NULL;
    return ob != NULL || !is_found ? ob : rrcl_find_value(L, state, index);
}

RRC_LUA_API rrc_object *rrc_lua_peek(lua_State *L, rrc_heap *heap, int index)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    return state->hidden != NULL ? rrcl_peek(L, state, index, rrcl_is_found(L, index, 1)) : NULL;
}

static rrc_object *rrcl_ref(lua_State *L, rrc_heap *heap, int index, int is_key)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    int is_found = rrcl_is_found(L, index, is_key), top;
    size_t values = state->new_values;
    uint32_t slot;
    rrc_object *ob;
    if (!is_found && lua_isnoneornil(L, index))
        return NULL;
    rrcl_need_open(L, state);
    rrcl_use(state, L);
    ob = rrcl_peek(L, state, index, is_found);
    if (ob == NULL) {
        index = index > 0 || index <= LUA_REGISTRYINDEX ? index : lua_gettop(L) + index + 1;
        top = lua_gettop(L);
        if (!rrcl_has_room(L, 6))
            luaL_checkstack(L, 6, NULL);
        rrcl_before_allocating(L, state);
        if (RRCL_NEEDS_BOX(L, index))
            rrcl_push_box(L, index);
        slot = rrcl_reserve_cell(L, state);
        rrcl_reserve_bucket(L, state);
        if (state->new_values != values)                /* a finalizer may have made it just now */
            ob = rrcl_peek(L, state, index, is_found);
        if (ob == NULL)
            return rrcl_new_value(L, state, index, slot, is_found);
        lua_settop(L, top);
    }
    rrc_incref(heap, ob);
    return ob;
}

RRC_LUA_API rrc_object *rrc_lua_ref(lua_State *L, rrc_heap *heap, int index)
{
    return rrcl_ref(L, heap, index, 0);
}

RRC_LUA_API rrc_object *rrc_lua_key(lua_State *L, rrc_heap *heap, int index)
{
    return rrcl_ref(L, heap, index, 1);
}

/* ---- nodes: what Lua sees of C's references ---- */

static int rrcl_is_wrapper(const rrc_object *ob)
{
    return ob->ob_type != NULL && ob->ob_type->tp_outside != NULL;
}

/* Empty the list of the node on top, from `first` on. */
static void rrcl_truncate_node(lua_State *L, size_t first)
{
    for (; rrcl_typed(L, lua_rawgeti(L, -1, (int)first)) != LUA_TNIL; first++) {
        lua_pop(L, 1);
        lua_pushnil(L);
        lua_rawseti(L, -2, (int)first);
    }
    lua_pop(L, 1);
}

/* Make the list of the node on top n entries long, or longer. Raises. */
static void rrcl_lengthen_node(lua_State *L, size_t n)
{
    size_t length = rrcl_rawlen(L, -1);
    while (length < n) {
        lua_pushboolean(L, 0);
        lua_rawseti(L, -2, (int)++length);
    }
}

typedef struct rrcl_node_job {
    rrcl_state       *state;
    rrc_object       *ob;
    const rrc_cell   *node;
    rrc_cell *const  *targets;
    size_t            n;
} rrcl_node_job;

/* (A proxy that has a table already, for fields of scripts, shares that one.) */
static int rrcl_make_node(lua_State *L)
{
    rrcl_node_job *job = (rrcl_node_job *)lua_touserdata(L, 1);
    rrcl_state *state = job->state;
    lua_createtable(L, job->n < 1000000 ? (int)job->n : 0, 0);
    rrcl_lengthen_node(L, job->n);
    rrcl_reserve_cell(L, state);
    if (rrcl_push_existing(L, state, job->ob) && ((const rrcl_proxy *)lua_touserdata(L, -1))->has_table) {
        rrcl_get_uservalue(L, -1);
        rrcl_truncate_node(L, 1);           /* that of a dying proxy can still have a list */
    } else {
        lua_pushvalue(L, 2);
    }
    lua_xmove(L, state->hidden, 1);
    lua_replace(state->hidden, RRCL_NEW_NODE);
    return 0;
}

/* Is this target of a node a value that OWNERS must have from now on? It can be left to Lua, and be resurrected. */
static int rrcl_must_note(const rrc_cell *cell)
{
    return cell->tag == RRCL_NOT_NOTED && !cell->is_node && cell->object != NULL;
}

/* Note these targets, and make the list of the node long enough. */
static int rrcl_prepare_node(lua_State *L)
{
    rrcl_node_job *job = (rrcl_node_job *)lua_touserdata(L, 1);
    rrcl_state *state = job->state;
    size_t i;
    for (i = 0; i < job->n; i++) {
        rrc_cell *cell = job->targets[i];
        if (!rrcl_must_note(cell))
            continue;
        rrcl_get(state, RRCL_VALUES, rrcl_slot_of(cell));
        lua_xmove(state->hidden, L, 1);
        if (!lua_isnil(L, -1)) {
            rrcl_note(L, state, rrcl_slot_of(cell));
            cell->tag = RRCL_NOTED;
        }
        lua_settop(L, 1);
    }
    rrcl_get(state, RRCL_VALUES, rrcl_slot_of(job->node));
    lua_xmove(state->hidden, L, 1);
    if (!lua_isnil(L, -1))
        rrcl_lengthen_node(L, job->n);
    return 0;
}

/* Push what the cell of a target has, or false if that is gone: then what it refers to is
   anchored in place of it, until the next step. Allocates nothing. */
static void rrcl_push_target(rrcl_state *state, const rrc_cell *cell)
{
    if (cell->object != NULL) {
        if (rrcl_get_or_revive(state, cell))
            return;
        lua_pop(state->hidden, 1);
        rrc_touch(state->heap, cell->ob);
    }
    lua_pushboolean(state->hidden, 0);
}

/* ---- the hooks of the header: they never raise ---- */

/* What the cell has in Lua is in NEW_NODE, or on top of the hidden thread. */
static void rrcl_watch(void *userdata, rrc_cell *cell)
{
    rrcl_state *state = (rrcl_state *)userdata;
    lua_State *hidden = state->hidden;
    lua_pushvalue(hidden, cell->is_node ? RRCL_NEW_NODE : -1);
    rrcl_set(state, RRCL_VALUES, rrcl_slot_of(cell));
    state->used++;
    state->made++;
    if (cell->is_node) {
        lua_pushnil(hidden);
        lua_replace(hidden, RRCL_NEW_NODE);
        return;
    }
    state->in_hand = cell;
    if (cell->ob->ob_type == state->value_type) {
        ((rrcl_value *)(void *)cell->ob)->cell = cell;
        if (cell->object != state)
            rrcl_put_in_bucket(state, cell);
    } else {
        cell->tag = RRCL_IS_PROXY;
        ((rrcl_proxy *)cell->object)->cell = cell->number;
        state->wrappers += (size_t)rrcl_is_wrapper(cell->ob);
    }
}

static void rrcl_drop_anchor(rrcl_state *state, const rrc_cell *cell)
{
    lua_pushnil(state->hidden);
    rrcl_set(state, RRCL_ANCHORS, rrcl_slot_of(cell));
}

static void rrcl_forget_value(rrcl_state *state, const rrc_cell *cell)
{
    lua_State *hidden = state->hidden;
    int is_there = rrcl_get_live(state, cell);
    if (is_there && cell->tag == RRCL_NOTED) {
        lua_pushvalue(hidden, -1);
        if (rrcl_noted_cell(state, cell->object) == cell) {
            lua_pushvalue(hidden, -1);
            lua_pushnil(hidden);
            lua_rawset(hidden, rrcl_owners(hidden, state, -2));
        }
    }
    lua_pop(hidden, 1);
    if (is_there) {                                 /* it can be a string */
        lua_pushnil(hidden);
        rrcl_set(state, RRCL_VALUES, rrcl_slot_of(cell));
    }
    if (rrcl_is_boxed(cell))
        rrcl_drop_anchor(state, cell);
    if (cell->object != state)
        rrcl_take_from_bucket(state, cell);
    ((rrcl_value *)(void *)cell->ob)->cell = NULL;
}

/* (VALUES can still have what was in the slot, if that can die.) */
static void rrcl_forget(void *userdata, rrc_cell *cell)
{
    rrcl_state *state = (rrcl_state *)userdata;
    if (state->hidden == NULL || cell->ob == NULL)
        return;
    state->used--;
    if (cell->is_pinned)
        rrcl_drop_anchor(state, cell);
    if (cell->tag == RRCL_IS_PROXY)
        state->wrappers -= (size_t)rrcl_is_wrapper(cell->ob);
    else if (!cell->is_node)
        rrcl_forget_value(state, cell);
}

/* If a proxy is unreachable, and its __gc has not run, finalizers that run before it can use its ob by it. The link of
   the ob goes soon, and makes it strong: until then its node, to which the proxy may not refer, stays rooted. */
static int rrcl_pin(void *userdata, rrc_cell *cell, int on)
{
    rrcl_state *state = (rrcl_state *)userdata;
    if (state->hidden == NULL)
        return on;
    if (!on) {
        const rrc_cell *link = cell->is_node ? (const rrc_cell *)rrc_to_obj(state->heap, cell->ob) : NULL;
        if (link != NULL && rrcl_is_empty(state, rrcl_slot_of(link)))
            return 1;
        lua_pushnil(state->hidden);
    } else if (cell == state->in_hand) {
        lua_pushvalue(state->hidden, -1);
        rrcl_set(state, RRCL_ANCHORS, rrcl_slot_of(cell));
        return 1;
    } else if (!rrcl_get_or_revive(state, cell)) {
        lua_pop(state->hidden, 1);
        return 0;
    }
    if (rrcl_is_boxed(cell)) {
        rrcl_get(state, RRCL_ANCHORS, rrcl_slot_of(cell));
        lua_insert(state->hidden, -2);
        lua_rawseti(state->hidden, -2, 1);
        lua_pop(state->hidden, 1);
    } else {
        rrcl_set(state, RRCL_ANCHORS, rrcl_slot_of(cell));
    }
    return on;
}

static void *rrcl_new_node(void *userdata, rrc_object *ob, size_t n)
{
    rrcl_state *state = (rrcl_state *)userdata;
    lua_State *L = rrcl_caller(state);
    rrcl_node_job job = { state, ob, NULL, NULL, n };
    if (L == NULL || rrcl_try(L, rrcl_make_node, &job) != 0 || state->hidden == NULL)
        return NULL;
    return (void *)(uintptr_t)lua_topointer(state->hidden, RRCL_NEW_NODE);
}

/* The list can be all that keeps what is in it. So nothing is taken out of it before
   there is room, which can make Lua collect, or fail. */
static int rrcl_write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    rrcl_state *state = (rrcl_state *)userdata;
    rrcl_node_job job = { state, node->ob, node, targets, n };
    lua_State *hidden = state->hidden;
    size_t i;
    if (hidden == NULL)
        return n > 0;
    for (i = 0; i < n && !rrcl_must_note(targets[i]); i++)
        ;
    if ((rrcl_get(state, RRCL_VALUES, rrcl_slot_of(node)) && rrcl_rawlen(hidden, -1) < n) || i < n) {
        lua_pop(hidden, 1);
        if (rrcl_try(rrcl_caller(state), rrcl_prepare_node, &job) != 0 || state->hidden == NULL)
            return 1;
        hidden = state->hidden;
        rrcl_get(state, RRCL_VALUES, rrcl_slot_of(node));
    }
    if (lua_isnil(hidden, -1)) {            /* it has died with the proxy: the next step finds that */
        lua_pop(hidden, 1);
        return 0;
    }
    for (i = 0; i < n; i++) {
        rrcl_push_target(state, targets[i]);
        lua_rawseti(hidden, -2, (int)i + 1);
    }
    rrcl_truncate_node(hidden, n + 1);
    lua_pop(hidden, 1);
    return 0;
}

/* (A proxy that is dying does not need it.) */
static void rrcl_join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    rrcl_state *state = (rrcl_state *)userdata;
    lua_State *hidden = state->hidden;
    if (hidden == NULL)
        return;
    if (rrcl_get(state, RRCL_VALUES, rrcl_slot_of(proxy))) {
        rrcl_get(state, RRCL_VALUES, rrcl_slot_of(node));
        rrcl_set_uservalue(hidden, -2);
        ((rrcl_proxy *)proxy->object)->has_table = 1;
    }
    lua_pop(hidden, 1);
}

/* ---- classes ---- */

static const char *rrcl_class_name(const rrc_lua_class *cls)
{
    return cls->name != NULL ? cls->name : cls->type != NULL ? cls->type->tp_name : "object";
}

/* A class is the same as another description of the same type, by another module. */
static int rrcl_is_kind_of(const rrc_lua_class *cls, const rrc_lua_class *wanted)
{
    for (; cls != NULL; cls = cls->base)
        if (cls == wanted || (cls->type != NULL && cls->type == wanted->type))
            return 1;
    return 0;
}

/* What an object whose type has no class can do. */
static const rrc_lua_class rrcl_plain_class = { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL };

#if LUA_VERSION_NUM == 501
static int rrcl_guard_gc(lua_State *L);
#endif
static int rrcl_index(lua_State *L);
static int rrcl_newindex(lua_State *L);
static int rrcl_close(lua_State *L);
static int rrcl_proxy_gc(lua_State *L);

static void rrcl_set_functions(lua_State *L, const luaL_Reg *functions)
{
    for (; functions != NULL && functions->name != NULL; functions++) {
        lua_pushcfunction(L, functions->func);
        lua_setfield(L, -2, functions->name);
    }
}

static void rrcl_set_metamethods(lua_State *L, const rrc_lua_class *cls)
{
    if (cls == NULL)
        return;
    rrcl_set_metamethods(L, cls->base);
    rrcl_set_functions(L, cls->metamethods);
}

/* Class(...): the upvalue is the class. (In messages, Lua 5.5 counts arguments without that of __call,
   which is not there any more: so the constructor is called as a function of its own.) */
static int rrcl_construct(lua_State *L)
{
    const rrc_lua_class *cls = (const rrc_lua_class *)lua_touserdata(L, lua_upvalueindex(1));
#if LUA_VERSION_NUM >= 505
    int status;
    lua_pushcfunction(L, cls->constructor);
    lua_replace(L, 1);
    status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    return status == 0 ? lua_gettop(L) : rrcl_raise_again(L, status);
#else
    lua_remove(L, 1);
    return cls->constructor(L);
#endif
}

static int rrcl_get_member(lua_State *L);
static int rrcl_set_member(lua_State *L);

/* Add the getters or setters of the class's members to the table on top. */
static void rrcl_set_members(lua_State *L, const rrc_lua_class *cls, int table)
{
    const rrc_lua_member *member = cls->members;
    for (; member != NULL && member->name != NULL; member++) {
        if (member->kind == '\0' || strchr("biIntfo", member->kind) == NULL)
            luaL_error(L, "member %s of %s has no such kind: %d", member->name, rrcl_class_name(cls), member->kind);
        if (table == RRCL_SETTERS && (member->flags & RRC_LUA_READONLY) != 0)
            continue;
        lua_pushlightuserdata(L, (void *)(uintptr_t)member);
        lua_pushlightuserdata(L, (void *)(uintptr_t)cls);
        lua_pushcclosure(L, table == RRCL_GETTERS ? rrcl_get_member : rrcl_set_member, 2);
        lua_setfield(L, -2, member->name);
    }
}

/* Push the table of getters or setters of a metatable's class: those of the base, at `base` (or 0),
   are copied to it, as nobody can add one later. */
static void rrcl_push_properties(lua_State *L, const rrc_lua_class *cls, int base, int table)
{
    const rrc_lua_property *property = cls->properties;
    lua_newtable(L);
    if (base != 0) {
        lua_rawgeti(L, base, table);
        lua_pushnil(L);
        while (lua_next(L, -2)) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -5);
        }
        lua_pop(L, 1);
    }
    for (; property != NULL && property->name != NULL; property++) {
        lua_CFunction function = table == RRCL_GETTERS ? property->get : property->set;
        if (function != NULL)
            lua_pushcfunction(L, function);
        else
            lua_pushnil(L);
        lua_setfield(L, -2, property->name);
    }
    rrcl_set_members(L, cls, table);
}

/* Push the methods of cls; with those of its base, whose metatable is at `base`, or 0. */
static void rrcl_push_methods(lua_State *L, const rrc_lua_class *cls, int base)
{
    const rrc_lua_constant *constant;
    lua_newtable(L);
    if (base == 0) {
        lua_pushcfunction(L, rrcl_close);
        lua_setfield(L, -2, "close");
    }
    rrcl_set_functions(L, cls->methods);
    for (constant = cls->constants; constant != NULL && constant->name != NULL; constant++) {
        lua_pushinteger(L, constant->value);
        lua_setfield(L, -2, constant->name);
    }
    lua_newtable(L);
    if (base != 0) {
        lua_rawgeti(L, base, RRCL_METHODS);
        lua_setfield(L, -2, "__index");
    }
    if (cls->constructor != NULL) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)cls);
        lua_pushcclosure(L, rrcl_construct, 1);
        lua_setfield(L, -2, "__call");
    }
    lua_setmetatable(L, -2);
}

/* Make function, with the members and the class's own metamethod as its upvalues, that
   metamethod of the metatable at meta. */
static void rrcl_set_access(lua_State *L, int meta, const char *name, lua_CFunction function)
{
    int table;
    for (table = RRCL_METHODS; table <= RRCL_SETTERS; table++)
        lua_rawgeti(L, meta, table);
    lua_getfield(L, meta, name);
    lua_pushcclosure(L, function, RRCL_FALLBACK);
    lua_setfield(L, meta, name);
}

/* Push the metatable of a class; base: that of its base, or 0. */
static void rrcl_push_metatable(lua_State *L, const rrc_lua_class *cls, int base)
{
    static const luaL_Reg own[] = { { "__tostring", rrc_lua_tostring }, { "__pairs", rrc_lua_pairs },
                                    { "__close", rrcl_close }, { NULL, NULL } };
    int meta = lua_gettop(L) + 1, table;
    lua_newtable(L);
    rrcl_push_methods(L, cls, base);
    lua_rawseti(L, meta, RRCL_METHODS);
    for (table = RRCL_GETTERS; table <= RRCL_SETTERS; table++) {
        rrcl_push_properties(L, cls, base, table);
        lua_rawseti(L, meta, table);
    }
    rrcl_set_functions(L, own);
    rrcl_set_metamethods(L, cls);
    rrcl_set_access(L, meta, "__index", rrcl_index);
    rrcl_set_access(L, meta, "__newindex", rrcl_newindex);
    lua_pushcfunction(L, rrcl_proxy_gc);
    lua_setfield(L, meta, "__gc");
    lua_pushstring(L, rrcl_class_name(cls));
    lua_pushvalue(L, -1);
    lua_setfield(L, meta, "__name");
    lua_setfield(L, meta, "__metatable");       /* what getmetatable gives a script */
}

static void rrcl_get_metatable(lua_State *L, rrcl_state *state, int number)
{
    lua_rawgeti(state->hidden, RRCL_CLASSES, number);
    lua_xmove(state->hidden, L, 1);
}

static const rrcl_class_info *rrcl_learn(lua_State *L, rrcl_state *state, const rrc_lua_class *cls)
{
    rrcl_class_info *info = (rrcl_class_info *)rrc_map_get(&state->classes, cls), *known;
    int base = 0;
    if (info != NULL)
        return info;
    luaL_checkstack(L, 12, NULL);
    if (cls->base != NULL) {
        rrcl_get_metatable(L, state, rrcl_learn(L, state, cls->base)->number);
        base = lua_gettop(L);
    }
    rrcl_push_metatable(L, cls, base);
    if (base != 0)
        lua_remove(L, base);
    info = (rrcl_class_info *)rrcl_new_userdata(L, sizeof *info);
    lua_rawseti(L, -2, RRCL_INFO);
    rrcl_need_open(L, state);
    known = (rrcl_class_info *)rrc_map_get(&state->classes, cls);
    if (known != NULL) {                        /* a finalizer made it known just now */
        lua_pop(L, 1);
        return known;
    }
    if (rrc_map_reserve(state->heap, &state->classes, 2) != RRC_OK)
        luaL_error(L, "not enough memory");
    lua_pushvalue(state->hidden, RRCL_CLASSES);
    lua_xmove(state->hidden, L, 1);
    lua_insert(L, -2);
    lua_rawseti(L, -2, state->class_count + 1);
    lua_pop(L, 1);
    info->cls = cls;
    info->closer = state->closer;
    info->number = ++state->class_count;
    state->spare_type = NULL;                   /* its type may have no plain class any more */
    rrc_map_put(&state->classes, cls, info);
    if (cls->type != NULL && rrc_map_get(&state->classes, cls->type) == NULL)
        rrc_map_put(&state->classes, cls->type, info);
    return info;
}

static const rrcl_class_info *rrcl_class_of(lua_State *L, rrcl_state *state, const rrc_type *type)
{
    const rrcl_class_info *info = (const rrcl_class_info *)rrc_map_get(&state->classes, type);
    return info != NULL ? info : rrcl_learn(L, state, &rrcl_plain_class);
}

/* In lua_close, Lua 5.1 and LuaJIT unload a module as soon as what was made after it was loaded is finalized. So each
   has a userdata that ends the heap before that. Other versions unload modules last of all. */
static void rrcl_guard_module(lua_State *L)
{
#if LUA_VERSION_NUM == 501
    lua_pushlightuserdata(L, rrcl_new_userdata(L, 1));
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);           /* before it has a __gc; 5.1 can lose what luaL_ref keeps, without memory */
    rrcl_push_finalizer(L, rrcl_guard_gc);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
#else
    (void)L;
#endif
}

RRC_LUA_API void rrc_lua_register(lua_State *L, const rrc_lua_class *cls)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(rrc_lua_heap(L));
    if (rrc_map_get(&state->classes, cls) == NULL)
        rrcl_guard_module(L);
    rrcl_get_metatable(L, state, rrcl_learn(L, state, cls)->number);
    lua_rawgeti(L, -1, RRCL_METHODS);
    lua_remove(L, -2);
}

static int rrcl_open_functions(lua_State *L);

/* What `require` asks last, as no module of this name was found. */
static int rrcl_search(lua_State *L)
{
    if (strcmp(luaL_checkstring(L, 1), RRCL_NAME) != 0)
        return 0;
    lua_pushcfunction(L, rrcl_open_functions);
    return 1;
}

/* Add rrcl_search to package.searchers (package.loaders in 5.1 and LuaJIT), once in each state. */
static void rrcl_add_searcher(lua_State *L, rrcl_state *state)
{
    static const char *const path[] = { "_LOADED", "package", LUA_VERSION_NUM == 501 ? "loaders" : "searchers" };
    int top = lua_gettop(L), i;
    luaL_checkstack(L, 5, NULL);
    lua_pushvalue(L, LUA_REGISTRYINDEX);
    for (i = 0; i < 3 && lua_istable(L, -1); i++)
        lua_getfield(L, -1, path[i]);
    if (!state->has_searcher && lua_istable(L, -1)) {
        lua_pushcfunction(L, rrcl_search);
        lua_rawseti(L, -2, (int)rrcl_rawlen(L, -2) + 1);
        state->has_searcher = 1;
    }
    lua_settop(L, top);
}

RRC_LUA_API int rrc_lua_module(lua_State *L, const rrc_lua_class *const *classes, const luaL_Reg *functions)
{
    rrcl_add_searcher(L, (rrcl_state *)rrc_userdata(rrc_lua_heap(L)));
    rrcl_guard_module(L);
    lua_newtable(L);
    rrcl_set_functions(L, functions);
    for (; *classes != NULL; classes++) {
        rrc_lua_register(L, *classes);
        lua_setfield(L, -2, rrcl_class_name(*classes));
    }
    return 1;
}

/* ---- proxies ---- */

/* "Button", of a live proxy or of one that was. */
static const char *rrcl_proxy_name(const rrcl_proxy *proxy)
{
    const rrc_object *ob = rrcl_ob_of(proxy);
    return proxy->info->cls != &rrcl_plain_class || ob == NULL ? rrcl_class_name(proxy->info->cls) : ob->ob_type->tp_name;
}

static const char *rrcl_why_useless(const rrcl_proxy *proxy)
{
    return proxy->is_closed ? "was closed"
           : proxy->info->closer->is_closed ? "is gone: its Lua state is being closed" : "is gone: it was finalized already";
}

/* What messages call a value. (It can leave the name on the stack.) */
static const char *rrcl_type_name(lua_State *L, int arg)
{
    const rrcl_proxy *proxy = rrcl_to_proxy(L, arg);
    if (proxy != NULL)
        return rrcl_proxy_name(proxy);
    if (luaL_getmetafield(L, arg, "__name") && lua_type(L, -1) == LUA_TSTRING)
        return lua_tostring(L, -1);
    return lua_type(L, arg) == LUA_TLIGHTUSERDATA ? "light userdata" : luaL_typename(L, arg);
}

static int rrcl_bad_argument(lua_State *L, int arg, const rrc_lua_class *cls)
{
    const rrcl_proxy *proxy = rrcl_to_proxy(L, arg);
    const char *message;
    if (proxy != NULL && rrcl_ob_of(proxy) == NULL && (cls == NULL || rrcl_is_kind_of(proxy->info->cls, cls)))
        message = lua_pushfstring(L, "this %s %s", rrcl_proxy_name(proxy), rrcl_why_useless(proxy));
    else
        message = lua_pushfstring(L, "%s expected, got %s", cls != NULL ? rrcl_class_name(cls) : "an object of C",
                                  rrcl_type_name(L, arg));
    return luaL_argerror(L, arg, message);
}

RRC_LUA_API rrc_object *rrc_lua_test(lua_State *L, int index, const rrc_lua_class *cls)
{
    const rrcl_proxy *proxy = rrcl_to_proxy(L, index);
    rrc_object *ob = proxy != NULL ? rrcl_ob_of(proxy) : NULL;
    if (ob == NULL || (cls != NULL && !rrcl_is_kind_of(proxy->info->cls, cls)))
        return NULL;
    rrcl_use(rrcl_state_of(proxy), L);
    return ob;
}

RRC_LUA_API rrc_object *rrc_lua_check(lua_State *L, int arg, const rrc_lua_class *cls)
{
    rrc_object *ob = rrc_lua_test(L, arg, cls);
    if (ob == NULL)
        rrcl_bad_argument(L, arg, cls);
    return ob;
}

RRC_LUA_API void rrc_lua_check_callback(lua_State *L, int arg)
{
    if (lua_isnoneornil(L, arg) || lua_isfunction(L, arg) || lua_isthread(L, arg))
        return;
    if (luaL_getmetafield(L, arg, "__call"))
        lua_pop(L, 1);
    else
        luaL_argerror(L, arg, lua_pushfstring(L, "function or nil expected, got %s", rrcl_type_name(L, arg)));
}

/* The spare proxy gets the class of this type, which is known. */
RRC_INLINE void rrcl_dress_spare(lua_State *L, rrcl_state *state, const rrc_type *type)
{
    if (state->spare_type != type) {
        state->spare_info = rrcl_class_of(L, state, type);
        state->spare_type = type;
    }
    if (state->spare->info == state->spare_info)
        return;
    state->spare->info = state->spare_info;
    lua_rawgeti(state->hidden, RRCL_CLASSES, state->spare_info->number);
    lua_setmetatable(state->hidden, RRCL_SPARE);
}

/* Make a proxy without an object, of this type's class, if there is none. So nothing is to be allocated when an object
   gets it. (From 5.2 on, a __gc that comes later makes Lua look for the proxy among all that is new. So it has a class
   from the start: that of the next object, mostly.) Raises. */
RRC_INLINE void rrcl_need_spare(lua_State *L, rrcl_state *state, const rrc_type *type)
{
    rrcl_before_allocating(L, state);
    if (state->spare_type != type)
        rrcl_class_of(L, state, type);          /* it is known from now on */
    if (state->spare == NULL) {
        rrcl_proxy *proxy = (rrcl_proxy *)rrcl_new_userdata(L, sizeof *proxy);
        memset(proxy, 0, sizeof *proxy);
        proxy->check = RRCL_DISGUISE(proxy);
        rrcl_need_open(L, state);
        lua_xmove(L, state->hidden, 1);
        lua_replace(state->hidden, RRCL_SPARE);
        state->spare = proxy;
    }
    rrcl_dress_spare(L, state, type);
}

/* Can ob get the spare proxy at once? Then that has the class of ob. */
static int rrcl_has_spare(lua_State *L, rrcl_state *state, const rrc_object *ob)
{
    if (state->spare == NULL || !rrcl_has_room_for_cell(state))
        return 0;
    if (state->spare_type == ob->ob_type)
        return 1;
    if (rrc_map_get(&state->classes, ob->ob_type) == NULL)
        return 0;
    rrcl_dress_spare(L, state, ob->ob_type);
    return 1;
}

/* The proxy on top of the hidden thread takes the place of the one of this cell, which is dead. */
static void rrcl_take_over(rrcl_state *state, rrc_cell *cell, rrcl_proxy *proxy)
{
    rrc_cell *node = rrc_cell_of_node(state->heap, cell->ob);
    proxy->cell = cell->number;
    cell->object = proxy;
    lua_pushvalue(state->hidden, -1);
    rrcl_set(state, RRCL_VALUES, rrcl_slot_of(cell));
    if (cell->is_pinned) {
        lua_pushvalue(state->hidden, -1);
        rrcl_set(state, RRCL_ANCHORS, rrcl_slot_of(cell));
    }
    if (node != NULL && rrcl_is_live(state, node, 0))
        rrcl_join(state, cell, node);
    else if (node != NULL)
        rrc_touch(state->heap, cell->ob);       /* until the next step, nothing else protects what ob refers to */
}

typedef struct rrcl_spare_job {
    rrcl_state     *state;
    const rrc_type *type;
} rrcl_spare_job;

static int rrcl_new_spare(lua_State *L)
{
    const rrcl_spare_job *job = (const rrcl_spare_job *)lua_touserdata(L, 1);
    do {                                        /* finalizers can use up what there is */
        rrcl_reserve_cell(L, job->state);
        rrcl_need_spare(L, job->state, job->type);
    } while (!rrcl_has_room_for_cell(job->state));
    return 0;
}

/* Make a spare proxy for ob, and room for its cell. If that fails, drop the caller's reference to ob, and raise. */
static RRCI_COLD void rrcl_make_spare(lua_State *L, rrcl_state *state, rrc_object *ob)
{
    rrcl_spare_job job = { state, ob->ob_type };
    int status = rrcl_pcall(L, rrcl_new_spare, &job);
    int is_closed = state->hidden == NULL && (status == 0 || status == RRCL_NO_STACK);
    if (status == 0 && !is_closed)
        return;
    if (status == RRCL_NO_STACK && !is_closed) {        /* a new string could make finalizers run, which would raise */
        lua_pushvalue(state->hidden, RRCL_NO_STACK_ERROR);
        lua_xmove(state->hidden, L, 1);
    }
    rrc_decref(state->heap, ob);
    if (is_closed)
        luaL_error(L, "this Lua state is being closed");
    lua_error(L);
}

static void rrcl_empty_spare(const rrcl_state *state)
{
    lua_pushnil(state->hidden);
    lua_replace(state->hidden, RRCL_SPARE);
}

/* Push a new proxy of ob: the spare one, which also stays in SPARE until there is another one, or a cycle ends. If ob
   has a cell, its old proxy is dead; the __gc of that comes later, and does nothing. Takes the caller's reference, also
   if this raises. */
RRC_INLINE void rrcl_push_new(lua_State *L, rrcl_state *state, rrc_object *ob, rrc_cell *cell)
{
    const rrc_type *type = ob->ob_type;
    rrcl_proxy *proxy;
    int code = RRC_OK;
    if (!rrcl_has_spare(L, state, ob)) {
        rrcl_make_spare(L, state, ob);
        cell = (rrc_cell *)rrc_to_obj(state->heap, ob);
        if (rrcl_push_cell(L, state, cell)) {   /* a finalizer made one just now */
            rrc_decref(state->heap, ob);
            return;
        }
    }
    proxy = state->spare;
    state->spare = NULL;
    lua_pushvalue(state->hidden, RRCL_SPARE);
    if (cell != NULL) {
        rrcl_take_over(state, cell, proxy);
        rrc_decref(state->heap, ob);
    } else {
        code = rrc_cell_link(state->heap, proxy, ob, (rrcl_is_wrapper(ob) ? RRC_P : RRC_O) | RRC_GIVE);
        state->in_hand = NULL;
        if (code == RRC_OK && type != NULL && type->tp_size != NULL)
            rrc_measure(state->heap, ob);
    }
    if (code != RRC_OK) {
        lua_pop(state->hidden, 1);
        rrc_decref(state->heap, ob);
        luaL_error(L, "%s", code == RRC_ENOMEM ? "not enough memory" : rrc_error_message(code));
    }
    lua_xmove(state->hidden, L, 1);
    if (rrcl_has_room(L, 8))                /* the next one is made, without the need to catch errors */
        rrcl_need_spare(L, state, type);
    else
        rrcl_empty_spare(state);
}

static void rrcl_push_slowly(lua_State *L, rrcl_state *state, rrc_object *ob)
{
    if (ob->ob_type == state->value_type) {
        const rrc_cell *cell = ((rrcl_value *)(void *)ob)->cell;
        if (cell != NULL)
            rrcl_get_or_revive(state, cell);
        else
            lua_pushnil(state->hidden);
        lua_xmove(state->hidden, L, 1);
        return;
    }
    if (rrc_refcnt(ob) == 0 && rrc_to_obj(state->heap, ob) == NULL)
        luaL_error(L, "this %s is being deallocated", ob->ob_type->tp_name);
    rrc_incref(state->heap, ob);            /* finalizers may run, and drop the last reference */
    rrcl_push_new(L, state, ob, (rrc_cell *)rrc_to_obj(state->heap, ob));
}

RRC_LUA_API void rrc_lua_push(lua_State *L, rrc_heap *heap, rrc_object *ob)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    if (ob == NULL) {
        lua_pushnil(L);
        return;
    }
    if (state->caller != L) {               /* (a closed state has none) */
        rrcl_need_open(L, state);
        rrcl_use(state, L);
    }
    if (!rrcl_push_existing(L, state, ob))
        rrcl_push_slowly(L, state, ob);
}

RRC_LUA_API int rrc_lua_give(lua_State *L, rrc_heap *heap, rrc_object *ob)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    rrc_cell *cell;
    int is_there;
    if (ob == NULL)
        return luaL_error(L, "not enough memory");
    if (state->hidden == NULL) {
        rrc_decref(heap, ob);
        return luaL_error(L, "this Lua state is being closed");
    }
    rrcl_use(state, L);
    cell = (rrc_cell *)rrc_to_obj(heap, ob);
    is_there = ob->ob_type == state->value_type;
    if (is_there)
        rrcl_push_slowly(L, state, ob);
    else
        is_there = rrcl_push_cell(L, state, cell);
    if (is_there)
        rrc_decref(heap, ob);
    else
        rrcl_push_new(L, state, ob, cell);
    return 1;
}

RRC_LUA_API rrc_object *rrc_lua_new(lua_State *L, const rrc_type *type)
{
    rrc_heap *heap = rrc_lua_heap(L);
    int is_tracked = (type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0;
    rrc_object *ob = is_tracked ? rrc_gc_new(heap, type) : rrc_new(heap, type);
    if (ob != NULL && is_tracked && rrc_gc_track(heap, ob) != RRC_OK)
        RRC_CLEAR(heap, ob);
    rrc_lua_give(L, heap, ob);
    return ob;
}

/* Lua may have taken the node of a dying proxy, which is at index, out of its slot. Until the header knows of the
   death, the node protects what ob refers to. If the header has forgotten the node, its table is to have no edges any
   more. */
static void rrcl_restore_node(lua_State *L, int index, const rrcl_proxy *proxy)
{
    rrcl_state *state = rrcl_state_of(proxy);
    const rrc_cell *node = rrc_cell_of_node(state->heap, rrcl_ob_of(proxy));
    if (node != NULL && !rrcl_is_empty(state, rrcl_slot_of(node)))
        return;
    rrcl_get_uservalue(L, index);
    if (node != NULL) {
        lua_xmove(L, state->hidden, 1);
        rrcl_set(state, RRCL_VALUES, rrcl_slot_of(node));
    } else {
        rrcl_truncate_node(L, 1);
        lua_pop(L, 1);
    }
}

/* The proxy at 1 has lost its object, and keeps nothing alive from now on: somebody can still
   refer to it. */
static void rrcl_take_table(lua_State *L, rrcl_proxy *proxy)
{
    if (!proxy->has_table)
        return;
    rrcl_push_no_uservalue(L);
    rrcl_set_uservalue(L, 1);
    proxy->has_table = 0;
}

static rrcl_state *rrcl_open_state(lua_State *L)
{
    rrcl_closer *closer;
    lua_getfield(L, LUA_REGISTRYINDEX, RRCL_NAME);
    closer = (rrcl_closer *)lua_touserdata(L, -1);
    lua_pop(L, 1);
    return closer != NULL ? closer->state : NULL;
}

#define RRCL_NEW_SLOTS 64

/* One of Lua's cycles has found what is dead, also of what is old: see rrcl_pace. */
static void rrcl_plan_cycle(rrcl_state *state)
{
    int is_many = state->made >= state->used / RRCL_NEW_SLOTS;
    state->calls_pay = state->used >= RRCL_MANY_SLOTS && state->made >= state->used / 16;
    if (is_many || state->is_asked) {
        state->is_paced = is_many;
        state->made = 0;
    }
    state->next_kbytes = INT_MAX;
    state->is_asked = 0;
}

/* Count a cycle that looks at what is old. */
static void rrcl_read_clock(rrcl_state *state)
{
    if (!RRCL_HAS_MODES || !rrcl_sees_end(state, RRCL_CLOCK_SLOT, &state->ticker))
        return;
    rrcl_plan_cycle(state);
    state->ticked_in = state->cycle;
}

/* Push a new userdata with the __gc of the canaries in this slot. */
static void rrcl_push_canary(lua_State *L, rrcl_state *state, uint32_t slot)
{
    rrcl_new_userdata(L, 1);
    rrcl_get_metatable(L, state, RRCL_CANARY_CLASS(slot));
    lua_setmetatable(L, -2);
}

static void rrcl_push_sentinel(lua_State *L, rrcl_state *state)
{
    rrcl_push_canary(L, state, RRCL_SENTINEL_SLOT);
    state->sentinels++;
}

/* Such a userdata becomes the canary in this slot. Raises. */
static void rrcl_new_canary(lua_State *L, rrcl_state *state, uint32_t slot, rrcl_canary *canary)
{
    rrcl_push_canary(L, state, slot);
    rrcl_need_open(L, state);
    lua_pushvalue(L, -1);
    lua_xmove(L, state->hidden, 1);
    rrcl_set_canary(state, slot, canary);
    lua_pushnil(L);                             /* over the copies: these places can be registers */
    lua_replace(L, -2);                         /* of the Lua function that runs, which would hold it */
    lua_pop(L, 1);
}

static int rrcl_new_clock(lua_State *L)
{
    rrcl_state *state = (rrcl_state *)lua_touserdata(L, 1);
    rrcl_new_canary(L, state, RRCL_CLOCK_SLOT, &state->ticker);
    return 0;
}

/* (If there is no memory for a new one, rrcl_end_cycle makes it.) */
static int rrcl_clock_gc(lua_State *L)
{
    rrcl_state *state = rrcl_open_state(L);
    if (state == NULL)
        return 0;
    rrcl_read_clock(state);
    lua_getmetatable(L, 1);
    lua_setmetatable(L, 1);
    lua_xmove(L, state->hidden, 1);
    rrcl_set_canary(state, RRCL_CLOCK_SLOT, &state->ticker);
    return 0;
}

/* >>wrappers
 * Foreign code can take a reference to the foreign object of a wrapper (tp_outside in rawrefcount.h), and tells nobody.
 * So a wrapper that Lua refers to stays rooted, whatever a step finds, but for collections at once (collects_at_once
 * in rrc_closed.h): rrc_lua_collect first runs the finalizers that wait, and stops the collector. Then nobody runs
 * from the moment when the header has weighed the wrappers until Lua has found the dead, and calls the first __gc. Lua
 * finalizes what is newest first. That is a sentinel, made just before, which roots the wrappers that live. If Lua has
 * found dead all the same while that one was made, as memory was lacking, or if finalizers still wait, as one of them
 * has failed, the wrappers are rooted before the collection, and stay for this time.
 * Such a collection is made in rrc_lua_collect, and after some of Lua's cycles: see rrcl_collect_wrappers. */

static void rrcl_root_wrapper(void *arg, rrc_cell *cell)
{
    rrcl_state *state = (rrcl_state *)arg;
    if (rrcl_is_wrapper(cell->ob) && !rrcl_is_empty(state, rrcl_slot_of(cell))
        && (!cell->is_node || rrc_to_obj(state->heap, cell->ob) == NULL))
        rrc_touch(state->heap, cell->ob);
}

/* A collection at once has found its dead, and nobody has run since then. The wrappers that live are rooted again. */
static void rrcl_root_wrappers(rrcl_state *state)
{
    state->must_root = 0;
    rrc_cell_each(state->heap, rrcl_root_wrapper, state);
}

/* Is this __gc called by a script's collectgarbage(), which is a full collection? */
static int rrcl_is_full_collection(lua_State *L, const rrcl_state *state)
{
    lua_Debug frame;
    int is_full;
    if (!rrcl_has_room(L, 2) || !lua_getstack(L, 1, &frame))
        return 0;
    lua_getinfo(L, "f", &frame);
    is_full = state->collectgarbage != NULL && lua_topointer(L, -1) == state->collectgarbage;
    lua_pop(L, 1);
    if (is_full && lua_getlocal(L, &frame, 1) != NULL) {
        is_full = lua_isnil(L, -1) || (lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "collect") == 0);
        lua_pop(L, 1);
    }
    return is_full;
}

/* What a limit has left is done in a __gc of a script's full collection, whose first sentinel also makes a whole step. */
static void rrcl_run_backlog_in_gc(lua_State *L, rrcl_state *state)
{
    if (state->hidden != NULL && state->has_backlog && rrcl_is_full_collection(L, state))
        rrcl_run_pending(state, 0);
}

static int rrcl_proxy_gc(lua_State *L)
{
    rrcl_proxy *proxy = rrcl_to_proxy(L, 1);
    rrcl_state *state;
    rrc_cell *cell;
    if (proxy == NULL)
        return 0;
    state = rrcl_state_of(proxy);
    cell = rrcl_cell_of(proxy);
    if (cell == NULL) {                         /* closed, or there is a newer one */
        rrcl_take_table(L, proxy);
        if (state != NULL)
            rrcl_forget_closed(L, state, proxy);
        return 0;
    }
    rrcl_use(state, L);
    if (state->must_root)
        rrcl_root_wrappers(state);
    if (proxy->has_table)
        rrcl_restore_node(L, 1, proxy);
    rrcl_take_table(L, proxy);
    state->deaths = RRCL_CYCLES_OF_A_DEATH;
    proxy->cell = 0;
    state->in_slots++;
    rrcl_end_run(state, rrc_cell_unlink_and_run(state->heap, cell, RRCL_UNITS_OF_PENDING), RRCL_UNITS_OF_PENDING);
    rrcl_run_backlog_in_gc(L, state);
    return 0;
}

static int rrcl_close(lua_State *L)
{
    rrcl_proxy *proxy = rrcl_to_proxy(L, 1);
    const rrc_lua_class *cls;
    rrcl_state *state;
    rrc_heap *heap;
    rrc_object *ob;
    rrc_cell *cell;
    if (proxy == NULL)
        return rrcl_bad_argument(L, 1, NULL);
    ob = rrcl_ob_of(proxy);
    if (ob == NULL || proxy->is_closing)
        return 0;
    state = rrcl_state_of(proxy);
    rrcl_use(state, L);
    rrcl_reserve_closed(L, state);
    heap = state->heap;
    rrc_lua_drop_error(heap);                   /* nobody has raised it */
    rrc_incref(heap, ob);
    for (cls = proxy->info->cls; cls != NULL && cls->close == NULL; cls = cls->base)
        ;
    proxy->is_closing = 1;
    state->closings++;
    if (cls != NULL)
        cls->close(heap, ob);                   /* callbacks may run, which close it again */
    state->closings--;
    proxy->is_closing = 0;
    cell = rrcl_cell_of(proxy);
    if (cell != NULL) {
        proxy->cell = 0;
        rrc_cell_unlink(heap, cell);
        proxy->is_closed = 1;
        rrcl_take_table(L, proxy);
    }
    if (state->hidden != NULL) {
        state->closed[state->closed_count].ob = ob;
        state->closed[state->closed_count++].proxy = proxy;
        rrcl_let_go_of_closed(L, state);
    } else {
        rrc_decref(heap, ob);
    }
    rrcl_run_pending(state, RRCL_UNITS_OF_PENDING);
    rrcl_raise_kept(L, state, rrcl_error_place(state));
    return 0;
}

RRC_LUA_API int rrc_lua_tostring(lua_State *L)
{
    const rrcl_proxy *proxy = rrcl_to_proxy(L, 1);
    if (proxy == NULL)
        return rrcl_bad_argument(L, 1, NULL);
    if (rrcl_ob_of(proxy) != NULL)
        lua_pushfstring(L, "%s: %p", rrcl_proxy_name(proxy), (void *)rrcl_ob_of(proxy));
    else
        lua_pushfstring(L, "%s (%s)", rrcl_proxy_name(proxy), proxy->is_closed ? "closed" : "gone");
    return 1;
}

/* ---- members: upvalues are the tables of methods, getters, setters, and a fallback or nil ---- */

static rrcl_proxy *rrcl_need_live(lua_State *L)
{
    rrcl_proxy *proxy = rrcl_to_proxy(L, 1);
    if (proxy == NULL)
        rrcl_bad_argument(L, 1, NULL);
    else if (rrcl_ob_of(proxy) == NULL)
        luaL_error(L, "this %s %s", rrcl_proxy_name(proxy), rrcl_why_useless(proxy));
    return proxy;
}

/* Push the member with the key at 2, of one kind. (Bases are behind a table of methods only.) */
static int rrcl_push_member(lua_State *L, int kind)
{
    lua_pushvalue(L, 2);
    if (rrcl_typed(L, (kind == RRCL_METHODS ? lua_gettable : lua_rawget)(L, lua_upvalueindex(kind))) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    return 0;
}

/* Push the table of script fields of the proxy at 1, if there is one. */
static int rrcl_push_fields(lua_State *L, const rrcl_proxy *proxy)
{
    if (!proxy->has_table)
        return 0;
    rrcl_get_uservalue(L, 1);
    lua_rawgeti(L, -1, RRCL_FIELDS);
    return lua_istable(L, -1);
}

/* Push the key at 2, as messages have it. */
static const char *rrcl_push_key(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TSTRING || lua_type(L, 2) == LUA_TNUMBER)
        lua_pushvalue(L, 2);
    else
        lua_pushfstring(L, "a %s", luaL_typename(L, 2));
    return lua_tostring(L, -1);
}

/* Call a getter, a setter or a fallback with n arguments, of which the value to set is the last.
   Its errors know neither a name nor a place, as no code of the script calls it: they get both. */
static void rrcl_call_property(lua_State *L, const rrcl_proxy *proxy, int is_setter, int n, int results)
{
    int status = lua_pcall(L, n, results, 0);
    const char *text, *name, *reason, *verb;
    if (status == 0)
        return;
    text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (status != LUA_ERRRUN || text == NULL || rrcl_has_position(text))
        lua_error(L);
    name = rrcl_push_key(L);
    luaL_where(L, 1);
    reason = strncmp(text, "bad argument #", 14) == 0 ? strchr(text, '(') : NULL;
    verb = !is_setter ? "cannot get" : reason != NULL && text[14] == '0' + n ? "bad value for" : "cannot set";
    lua_pushfstring(L, "%s %s of %s%s%s", verb, name, rrcl_proxy_name(proxy), reason != NULL ? " " : ": ",
                    reason != NULL ? reason : text);
    lua_concat(L, 2);
    lua_error(L);
}

/* Call the class's own __index or __newindex, if it has one. Did it know the name? Then its result
   is on top. */
static int rrcl_call_fallback(lua_State *L, const rrcl_proxy *proxy, int is_setter)
{
    int top = lua_gettop(L), n;
    if (lua_isnil(L, lua_upvalueindex(RRCL_FALLBACK)))
        return 0;
    lua_pushvalue(L, lua_upvalueindex(RRCL_FALLBACK));
    for (n = 1; n <= 2 + is_setter; n++)
        lua_pushvalue(L, n);
    rrcl_call_property(L, proxy, is_setter, 2 + is_setter, LUA_MULTRET);
    n = lua_gettop(L) - top;
    lua_settop(L, top + 1);
    return is_setter ? lua_toboolean(L, -1) : n > 0;
}

/* A name that no class knows: an error if one is strict. */
static void rrcl_check_strict(lua_State *L, const rrcl_proxy *proxy, int is_setter)
{
    const rrc_lua_class *cls;
    for (cls = proxy->info->cls; cls != NULL && !cls->is_strict; cls = cls->base)
        ;
    if (cls == NULL)
        return;
    if (!is_setter && rrcl_push_member(L, RRCL_SETTERS))
        luaL_error(L, "%s of %s cannot be read", rrcl_push_key(L), rrcl_proxy_name(proxy));
    luaL_error(L, "%s has no property %s", rrcl_proxy_name(proxy), rrcl_push_key(L));
}

/* An object that scripts use: what was closed in an earlier call can go. */
static rrcl_proxy *rrcl_use_proxy(lua_State *L)
{
    rrcl_proxy *proxy = rrcl_need_live(L);
    if (rrcl_state_of(proxy)->closed_count > 0) {
        rrcl_end_closing(L, rrcl_state_of(proxy));
        rrcl_need_live(L);
    }
    return proxy;
}

static int rrcl_index(lua_State *L)
{
    const rrcl_proxy *proxy;
    if (rrcl_push_member(L, RRCL_METHODS))
        return 1;
    proxy = rrcl_use_proxy(L);
    if (rrcl_push_member(L, RRCL_GETTERS)) {
        lua_pushvalue(L, 1);
        rrcl_call_property(L, proxy, 0, 1, 1);
        return 1;
    }
    if (rrcl_call_fallback(L, proxy, 0))
        return 1;
    rrcl_check_strict(L, proxy, 0);
    if (!rrcl_push_fields(L, proxy))
        return 0;
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    return 1;
}

/* Pairs: the upvalue has the names as keys, at 1 is the object, at 2 the last name. */
static int rrcl_next_property(lua_State *L)
{
    lua_settop(L, 2);
    while (lua_next(L, lua_upvalueindex(1))) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_gettable(L, 1);
        if (!lua_isnil(L, -1))
            return 2;
        lua_pop(L, 1);
    }
    return 0;
}

/* Add the keys of the table on top to the table at 2. */
static void rrcl_add_keys(lua_State *L)
{
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushboolean(L, 1);
        lua_rawset(L, 2);
    }
}

RRC_LUA_API int rrc_lua_pairs(lua_State *L)
{
    const rrcl_proxy *proxy = rrcl_need_live(L);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_getmetatable(L, 1);
    lua_rawgeti(L, -1, RRCL_GETTERS);
    rrcl_add_keys(L);
    if (rrcl_push_fields(L, proxy))
        rrcl_add_keys(L);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, rrcl_next_property, 1);
    lua_pushvalue(L, 1);
    return 2;
}

/* OWNERS has the tables of nodes with fields of scripts. If only a dying proxy refers to such a table, Lua takes it
   out of its slot. If C takes a reference to the ob before the __gc of that proxy, OWNERS still has it, and the fields
   stay. Is the node of ob there, with the table of the proxy at 1? */
static int rrcl_node_is_noted(lua_State *L, rrcl_state *state, rrc_object *ob)
{
    const rrc_cell *node = rrc_cell_of_node(state->heap, ob);
    const void *table;
    rrcl_get_uservalue(L, 1);
    table = lua_topointer(L, -1);
    lua_xmove(L, state->hidden, 1);
    return rrcl_noted_cell(state, table) == node && node != NULL;
}

/* The table on top becomes the node of ob, unless there is one, which is pushed in place of it. The node is noted. A
   cell is reserved. Raises. */
static void rrcl_keep_node(lua_State *L, rrcl_state *state, rrc_object *ob)
{
    rrc_cell *node = rrc_cell_of_node(state->heap, ob);
    if (node == NULL || rrcl_is_empty(state, rrcl_slot_of(node)))
        rrcl_truncate_node(L, 1);       /* the table of a dying proxy can still have a list */
    lua_pushvalue(L, -1);
    lua_xmove(L, state->hidden, 1);
    lua_replace(state->hidden, RRCL_NEW_NODE);
    node = rrc_cell_keep_node(state->heap, ob, (void *)(uintptr_t)lua_topointer(L, -1));
    lua_pushnil(state->hidden);
    lua_replace(state->hidden, RRCL_NEW_NODE);
    if (node == NULL)
        luaL_error(L, "not enough memory");
    rrcl_get(state, RRCL_VALUES, rrcl_slot_of(node));
    lua_xmove(state->hidden, L, 1);
    lua_replace(L, -2);
    node->tag = RRCL_NOTED;
    lua_pushvalue(L, -1);
    rrcl_note(L, state, rrcl_slot_of(node));
}

/* Give the proxy at 1 a table with fields: that of the node, if its ob is tracked. Finalizers can
   close the proxy meanwhile, or set fields. Raises. */
static void rrcl_need_fields(lua_State *L, rrcl_state *state, rrcl_proxy *proxy)
{
    rrc_object *ob = rrcl_ob_of(proxy);
    lua_settop(L, 3);
    lua_newtable(L);                            /* 4: the fields */
    lua_createtable(L, 0, 1);                   /* 5: the node */
    rrcl_reserve_cell(L, state);
    rrcl_need_live(L);
    if (proxy->has_table) {
        rrcl_get_uservalue(L, 1);
        lua_replace(L, 5);
    }
    if (rrc_gc_is_tracked(state->heap, ob))
        rrcl_keep_node(L, state, ob);
    lua_rawgeti(L, 5, RRCL_FIELDS);
    if (!lua_istable(L, -1)) {
        lua_pushvalue(L, 4);
        lua_rawseti(L, 5, RRCL_FIELDS);
    }
    lua_settop(L, 5);
    rrcl_set_uservalue(L, 1);
    proxy->has_table = 1;
    lua_settop(L, 3);
}

/* The fields live in the node's table, so that they stay with the object. (One that is
   not tracked has no node: then they stay with the proxy.) */
static void rrcl_set_field(lua_State *L, rrcl_proxy *proxy)
{
    rrcl_state *state = rrcl_state_of(proxy);
    rrc_heap *heap = state->heap;
    rrc_object *ob = rrcl_ob_of(proxy);
    rrcl_use(state, L);
    if (!rrcl_push_fields(L, proxy) || (rrc_gc_is_tracked(heap, ob) && !rrcl_node_is_noted(L, state, ob))) {
        rrcl_need_fields(L, state, proxy);
        rrcl_push_fields(L, proxy);
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, -3);
}

static int rrcl_newindex(lua_State *L)
{
    rrcl_proxy *proxy = rrcl_use_proxy(L);
    if (rrcl_push_member(L, RRCL_SETTERS)) {
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 3);
        rrcl_call_property(L, proxy, 1, 2, 0);
        return 0;
    }
    if (rrcl_push_member(L, RRCL_METHODS) || rrcl_push_member(L, RRCL_GETTERS))
        return luaL_error(L, "%s of %s cannot be set", rrcl_push_key(L), rrcl_proxy_name(proxy));
    if (rrcl_call_fallback(L, proxy, 1))
        return 0;
    rrcl_need_live(L);                          /* it may have closed the object */
    rrcl_check_strict(L, proxy, 1);
    if (lua_isnil(L, 2) || (lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)))
        return luaL_error(L, "a field of %s cannot be named nil or NaN", rrcl_proxy_name(proxy));
    rrcl_set_field(L, proxy);
    return 0;
}

/* ---- calls ---- */

/* Add the traceback of a thread, from a level on, to the message on top; another thread than L is below
   that. A message of a callback inside of this one has all that there is to say. */
static void rrcl_add_traceback(lua_State *L, lua_State *thread, int level)
{
    int top = lua_gettop(L);
    if (!lua_isstring(L, -1) || strstr(lua_tostring(L, -1), "\nstack traceback:") != NULL)
        return;
#if LUA_VERSION_NUM == 501 && !defined(LUAJIT_VERSION)
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_getfield(L, -1, "debug");
    if (lua_istable(L, -1)) {
        lua_getfield(L, -1, "traceback");
        if (thread == L)
            lua_pushthread(L);
        else
            lua_pushvalue(L, top - 1);
        lua_pushvalue(L, top);
        lua_pushinteger(L, level + (thread == L));
        if (lua_pcall(L, 3, 1, 0) == 0)         /* a script can have taken it away, or replaced it */
            lua_replace(L, top);
    }
    lua_settop(L, top);
#else
    luaL_traceback(L, thread, lua_tostring(L, -1), level);
    lua_replace(L, top);
#endif
}

static int rrcl_traceback(lua_State *L)
{
    lua_settop(L, 1);
    rrcl_add_traceback(L, L, 1);
    return 1;
}

/* (In 5.1 and LuaJIT lua_pushcfunction allocates.) */
static void rrcl_push_handler(lua_State *L, const rrcl_state *state)
{
#if LUA_VERSION_NUM == 501
    lua_pushvalue(state->hidden, RRCL_HANDLER);
    lua_xmove(state->hidden, L, 1);
#else
    (void)state;
    lua_pushcfunction(L, rrcl_traceback);
#endif
}

/* A call of a callback, or of a function of C. format: NULL, or what rrc_lua_callf has. */
typedef struct rrcl_calling {
    rrcl_state        *state;
    lua_CFunction      function;        /* NULL: the callback is called */
    void              *data;            /* ... which is given to the function */
    rrc_object        *callback;
    size_t             n;
    rrc_object *const *args;
    const char        *format;
    va_list            list;
    int                is_wrong;        /* the format */
    int                status;
} rrcl_calling;

/* Push the arguments of a format, up to its results. L NULL: go past them. Returns whether all letters are known. */
static int rrcl_push_arguments(lua_State *L, rrcl_calling *job)
{
    const char *text;
#define RRCL_ARGUMENT(type, push) { type x = va_arg(job->list, type); if (L != NULL) push; }
    for (; *job->format != '\0' && *job->format != '>'; job->format++) {
        if (L != NULL)
            luaL_checkstack(L, 3, "too many arguments");
        switch (*job->format) {
        case 'o': RRCL_ARGUMENT(rrc_object *, rrc_lua_push(L, job->state->heap, x))     break;
        case 'b': RRCL_ARGUMENT(int, lua_pushboolean(L, x))                             break;
        case 'i': RRCL_ARGUMENT(int, lua_pushinteger(L, x))                             break;
        case 'I': RRCL_ARGUMENT(lua_Integer, lua_pushinteger(L, x))                     break;
        case 'n': RRCL_ARGUMENT(lua_Number, lua_pushnumber(L, x))                       break;
        case 's': RRCL_ARGUMENT(const char *, lua_pushstring(L, x))                     break;
        case 'l': text = va_arg(job->list, const char *);
                  RRCL_ARGUMENT(size_t, lua_pushlstring(L, text, x))                    break;
        default:  return 0;
        }
    }
#undef RRCL_ARGUMENT
    return 1;
}

/* Is the value at index a whole number, which fits an int if it is to? */
static int rrcl_is_whole(lua_State *L, int index, int is_int)
{
    lua_Integer n = lua_tointeger(L, index);
    return lua_isnumber(L, index) && (lua_Number)n == lua_tonumber(L, index) && (!is_int || (n >= INT_MIN && n <= INT_MAX));
}

/* The result at index is not of the kind that the format wants. (They begin at 2.) Raises. */
static void rrcl_bad_result(lua_State *L, int index, const char *wanted)
{
    luaL_error(L, "bad result #%d of a callback (%s expected, got %s)", index - 1, wanted,
               lua_isnumber(L, index) ? lua_tostring(L, index) : rrcl_type_name(L, index));
}

static lua_Integer rrcl_integer_result(lua_State *L, int index, int is_int)
{
    if (!rrcl_is_whole(L, index, is_int))
        rrcl_bad_result(L, index, "integer");
    return lua_tointeger(L, index);
}

/* Store the results, from index 2 on. L NULL: make them 0; has_values: they were stored before an error. Returns
   whether all letters are known. */
static int rrcl_take_results(lua_State *L, rrcl_calling *job, int has_values)
{
    const char *letter = job->format;
    rrc_object **place;
    int index = 2;
    for (letter += *letter == '>'; *letter != '\0'; letter++, index++)
        switch (*letter) {
        case 'o':
            place = va_arg(job->list, rrc_object **);
            if (has_values && *place != NULL)
                rrc_decref(job->state->heap, *place);
            *place = L != NULL ? rrc_lua_ref(L, job->state->heap, index) : NULL;
            break;
        case 'b': *va_arg(job->list, int *) = L != NULL && lua_toboolean(L, index);                         break;
        case 'i': *va_arg(job->list, int *) = L != NULL ? (int)rrcl_integer_result(L, index, 1) : 0;        break;
        case 'I': *va_arg(job->list, lua_Integer *) = L != NULL ? rrcl_integer_result(L, index, 0) : 0;     break;
        case 'n':
            if (L != NULL && !lua_isnumber(L, index))
                rrcl_bad_result(L, index, "number");
            *va_arg(job->list, lua_Number *) = L != NULL ? lua_tonumber(L, index) : 0;
            break;
        default: return 0;
        }
    return 1;
}

/* Make the results of a format 0, and look whether it is wrong: then the call raises an error that says so. */
static void rrcl_empty_results(rrcl_calling *job, const char *format, va_list list, int has_values)
{
    job->format = format;
    va_copy(job->list, list);
    job->is_wrong = !rrcl_push_arguments(NULL, job) || !rrcl_take_results(NULL, job, has_values);
    va_end(job->list);
}

/* Resume the coroutine below n arguments; what it yields or returns takes their place. Raises its error. */
static void rrcl_resume(lua_State *L, int n)
{
    lua_State *co = lua_tothread(L, -n - 1);
    lua_Debug frame;
    int count = 0, status = lua_status(co), is_closed;
    if (co == L || (status == 0 && lua_getstack(co, 0, &frame)))
        luaL_error(L, "the callback is a coroutine that runs already");
    if (status != LUA_YIELD && (status != 0 || lua_gettop(co) == 0))
        luaL_error(L, "the callback is a coroutine that has ended");
    if (!lua_checkstack(co, n + 1))
        luaL_error(L, "too many arguments");
    lua_xmove(L, co, n);
#if LUA_VERSION_NUM >= 504
    status = lua_resume(co, L, n, &count);
#elif LUA_VERSION_NUM >= 502
    status = lua_resume(co, L, n);
    count = lua_gettop(co);
#else
    status = lua_resume(co, n);
    count = lua_gettop(co);
#endif
    if (status == 0 || status == LUA_YIELD) {
        if (!lua_checkstack(L, count)) {
            lua_pop(co, count);
            luaL_error(L, "too many results of a coroutine");
        }
        lua_xmove(co, L, count);
        return;
    }
    is_closed = LUA_VERSION_NUM >= 504 && lua_checkstack(co, 1);
    if (is_closed)
        lua_pushvalue(co, -1);                  /* for its variables that are to be closed */
    lua_xmove(co, L, 1);
    rrcl_add_traceback(L, co, 0);
    if (is_closed) {
        rrcl_close_thread(co, L);
        lua_settop(co, 0);
    }
    lua_error(L);
}

/* Call the value at 2 with what is above it, and the handler at 1. The results take its place. */
static void rrcl_call_value(lua_State *L, rrcl_calling *job)
{
    int n = lua_gettop(L) - 2, results = 0;
    if (job->format != NULL && *job->format == '>')
        results = (int)strlen(job->format + 1);
    luaL_checkstack(L, results, "too many results");
    if (lua_isthread(L, 2)) {
        rrcl_resume(L, n);
        lua_settop(L, 2 + results);
        lua_remove(L, 2);
    } else {
        job->status = lua_pcall(L, n, results, 1);
        if (job->status != 0)
            rrcl_keep_error(L, job->state, rrcl_error_place(job->state), job->status);
    }
}

static int rrcl_call_pushed(lua_State *L)
{
    rrcl_calling *job = (rrcl_calling *)lua_touserdata(L, 1);
    size_t i;
    if (job->is_wrong)
        return luaL_error(L, "rrc_lua_callf: \"%s\" is no format", job->format);
    if (job->n > 1000000)
        return luaL_error(L, "too many arguments");
    luaL_checkstack(L, (int)job->n + 3, "too many arguments");
    lua_settop(L, 0);
    rrcl_push_handler(L, job->state);
    if (job->function != NULL) {
        lua_pushcfunction(L, job->function);
        lua_pushlightuserdata(L, job->data);
    } else {
        rrc_lua_push(L, job->state->heap, job->callback);
    }
    if (lua_isnil(L, -1))
        return luaL_error(L, "the callback is gone");
    for (i = 0; i < job->n; i++)
        rrc_lua_push(L, job->state->heap, job->args[i]);
    if (job->format != NULL)
        rrcl_push_arguments(L, job);
    rrcl_call_value(L, job);
    if (job->format != NULL && job->status == 0)
        rrcl_take_results(L, job, 0);
    return 0;
}

/* Make the call, and keep its error. Returns a code of lua_pcall. */
static int rrcl_call(rrcl_calling *job)
{
    rrcl_state *state = job->state;
    lua_State *L = rrcl_caller(state);
    int status;
    if (L == NULL)
        return LUA_ERRRUN;
    rrc_lua_drop_error(state->heap);        /* nobody has raised it */
    status = rrcl_pcall(L, rrcl_call_pushed, job);
    if (status != 0)
        rrcl_keep_error(L, state, rrcl_error_place(state), status);
    if (state->hidden != NULL)
        rrcl_use(state, L);
    return status == RRCL_NO_STACK ? LUA_ERRRUN : status != 0 ? status : job->status;
}

/* The usual call, of what has no need of new proxies: nothing is allocated or raised before the callback
   runs. Returns whether it is such a call. */
static int rrcl_call_existing(rrcl_state *state, rrc_object *callback, size_t n, rrc_object *const *args, int *status)
{
    lua_State *L = rrcl_caller(state);
    int top, is_there;
    size_t i;
    rrc_lua_drop_error(state->heap);
    if (L == NULL || callback == NULL || n > 1000 || !rrcl_has_room(L, (int)n + 2))
        return 0;
    top = lua_gettop(L);
    rrcl_push_handler(L, state);
    is_there = rrcl_push_existing(L, state, callback) && !lua_isthread(L, -1);
    for (i = 0; is_there && i < n; i++)
        if (args[i] == NULL)
            lua_pushnil(L);
        else
            is_there = rrcl_push_existing(L, state, args[i]);
    if (is_there) {
        *status = lua_pcall(L, (int)n, 0, top + 1);
        if (*status != 0)
            rrcl_keep_error(L, state, rrcl_error_place(state), *status);
    }
    lua_settop(L, top);
    if (state->hidden != NULL)
        rrcl_use(state, L);
    return is_there;
}

static void rrcl_fill_call(rrcl_calling *job, rrc_heap *heap, rrc_object *callback, size_t n, rrc_object *const *args)
{
    memset(job, 0, sizeof *job);
    job->state = (rrcl_state *)rrc_userdata(heap);
    job->callback = callback;
    job->n = n;
    job->args = args;
}

RRC_LUA_API int rrc_lua_call(rrc_heap *heap, rrc_object *callback, size_t n, rrc_object *const *args)
{
    rrcl_calling job;
    int status;
    if (rrcl_call_existing((rrcl_state *)rrc_userdata(heap), callback, n, args, &status))
        return status;
    rrcl_fill_call(&job, heap, callback, n, args);
    return rrcl_call(&job);
}

RRC_LUA_API int rrc_lua_protect(rrc_heap *heap, lua_CFunction function, void *data)
{
    rrcl_calling job;
    rrcl_fill_call(&job, heap, NULL, 0, NULL);
    job.function = function;
    job.data = data;
    return rrcl_call(&job);
}

/* Call what is in job, with this format and what belongs to it: see rrcl_empty_results. */
static int rrcl_call_format(rrcl_calling *job, const char *format, va_list list)
{
    int status;
    job->format = format;
    va_copy(job->list, list);
    status = rrcl_call(job);
    va_end(job->list);
    if (status != 0 && !job->is_wrong)
        rrcl_empty_results(job, format, list, 1);
    return status;
}

RRC_LUA_API int rrc_lua_callf(rrc_heap *heap, rrc_object *callback, const char *format, ...)
{
    rrcl_calling job;
    va_list list;
    int status;
    rrcl_fill_call(&job, heap, callback, 0, NULL);
    va_start(list, format);
    rrcl_empty_results(&job, format, list, 0);
    status = rrcl_call_format(&job, format, list);
    va_end(list);
    return status;
}

RRC_LUA_API void rrc_lua_raise(lua_State *L, rrc_heap *heap)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    rrcl_raise_kept(L, state, rrcl_error_place(state));
}

/* ---- members: upvalues are the member and its class ---- */

static rrc_object **rrcl_object_at(rrc_object *ob, size_t offset)
{
    return (rrc_object **)(void *)((char *)ob + offset);
}

/* ob's reference at `offset` becomes the value at index. (rrc_lua_ref can run finalizers, which set it, too.) Raises. */
static void rrcl_store(lua_State *L, rrc_heap *heap, int index, rrc_object *ob, size_t offset)
{
    rrc_object *stored = rrc_lua_ref(L, heap, index), *old = *rrcl_object_at(ob, offset);
    *rrcl_object_at(ob, offset) = stored;
    if (old != NULL)
        rrc_decref(heap, old);
}

RRC_LUA_API void rrc_lua_set_callback(lua_State *L, int arg, rrc_object *ob, size_t offset)
{
    rrc_lua_check_callback(L, arg);
    rrcl_store(L, rrc_lua_heap(L), arg, ob, offset);
}

/* The object at 1, its member, and where that is. Raises. */
static const rrc_lua_member *rrcl_check_member(lua_State *L, rrc_object **ob, void **place)
{
    const rrc_lua_member *member = (const rrc_lua_member *)lua_touserdata(L, lua_upvalueindex(1));
    *ob = rrc_lua_check(L, 1, (const rrc_lua_class *)lua_touserdata(L, lua_upvalueindex(2)));
    *place = (char *)*ob + member->offset;
    return member;
}

static int rrcl_get_member(lua_State *L)
{
    rrc_object *ob;
    void *place;
    switch (rrcl_check_member(L, &ob, &place)->kind) {
    case 'b': lua_pushboolean(L, *(int *)place);                                                break;
    case 'i': lua_pushinteger(L, *(int *)place);                                                break;
    case 'I': lua_pushinteger(L, *(lua_Integer *)place);                                        break;
    case 'n': lua_pushnumber(L, *(lua_Number *)place);                                          break;
    default:  rrc_lua_push(L, rrcl_state_of(rrcl_to_proxy(L, 1))->heap, *(rrc_object **)place); break;
    }
    return 1;
}

/* The argument 2 as a whole number, which fits an int if it is to. Raises. */
static lua_Integer rrcl_check_whole(lua_State *L, int is_int)
{
    luaL_checknumber(L, 2);
    if (!rrcl_is_whole(L, 2, is_int))
        luaL_argerror(L, 2, lua_pushfstring(L, "integer expected, got %s", lua_tostring(L, 2)));
    return lua_tointeger(L, 2);
}

static int rrcl_set_member(lua_State *L)
{
    rrc_object *ob;
    void *place;
    const rrc_lua_member *member = rrcl_check_member(L, &ob, &place);
    switch (member->kind) {
    case 'b': *(int *)place = lua_toboolean(L, 2);                  return 0;
    case 'i': *(int *)place = (int)rrcl_check_whole(L, 1);          return 0;
    case 'I': *(lua_Integer *)place = rrcl_check_whole(L, 0);       return 0;
    case 'n': *(lua_Number *)place = luaL_checknumber(L, 2);        return 0;
    case 'f': rrc_lua_check_callback(L, 2);                         break;
    default:
        if (member->kind == 't' && !lua_isnil(L, 2))
            luaL_checkstring(L, 2);
        else if (member->cls != NULL && !lua_isnil(L, 2))
            rrc_lua_check(L, 2, member->cls);
    }
    rrcl_store(L, rrcl_state_of(rrcl_to_proxy(L, 1))->heap, 2, ob, member->offset);
    return 0;
}

/* ---- a method that calls a callback ---- */

/* What Lua calls when a callback that has yielded returns: the method has ended. */
#if LUA_VERSION_NUM >= 503
static int rrcl_end_emit(lua_State *L, int status, lua_KContext context)
{
    return (void)L, (void)status, (void)context, 0;
}
#elif LUA_VERSION_NUM == 502
static int rrcl_end_emit(lua_State *L)
{
    return (void)L, 0;
}
#else
#define lua_callk(L, n, results, context, function) lua_call((L), (n), (results))
#endif

RRC_LUA_API int rrc_lua_emit(lua_State *L, rrc_object *sender, size_t offset, const char *format, ...)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrcl_calling job;
    va_list list;
    int status = 0, top;
    luaL_checkstack(L, 4, "too many arguments");
    rrcl_fill_call(&job, heap, *rrcl_object_at(sender, offset), 1, &sender);    /* (finalizers can set another one) */
    va_start(list, format);
    rrcl_empty_results(&job, format, list, 0);
    if (job.is_wrong)
        luaL_error(L, "rrc_lua_emit: \"%s\" is no format", format);
    rrc_lua_push(L, heap, job.callback);
    if (job.callback != NULL && lua_isnil(L, -1))
        luaL_error(L, "the callback is gone");
    if (job.callback != NULL && (lua_isthread(L, -1) || strchr(format, '>') != NULL)) {
        rrc_incref(heap, job.callback);                     /* it can set another one */
        status = rrcl_call_format(&job, format, list);
        rrc_decref(heap, job.callback);
    } else if (job.callback != NULL) {
        job.format = format;
        va_copy(job.list, list);
        top = lua_gettop(L);
        rrc_lua_push(L, heap, sender);
        rrcl_push_arguments(L, &job);
        lua_callk(L, lua_gettop(L) - top, 0, 0, rrcl_end_emit);
        va_end(job.list);
    }
    va_end(list);
    if (status != 0)
        rrc_lua_raise(L, heap);
    return 0;
}

/* ---- references of a method ---- */

typedef struct rrcl_scope {
    rrc_lua_scoped function;
    rrc_object   **refs;
} rrcl_scope;

static int rrcl_run_scope(lua_State *L)
{
    const rrcl_scope *scope = (const rrcl_scope *)lua_touserdata(L, -1);
    lua_pop(L, 1);
    return scope->function(L, scope->refs);
}

RRC_LUA_API int rrc_lua_scope(lua_State *L, rrc_heap *heap, rrc_lua_scoped function, rrc_object **refs, size_t n)
{
    rrcl_scope scope = { function, refs };
    size_t i;
    int status;
    for (i = 0; i < n; i++)
        refs[i] = NULL;
    luaL_checkstack(L, 3, NULL);
    lua_pushcfunction(L, rrcl_run_scope);
    lua_insert(L, 1);
    lua_pushlightuserdata(L, &scope);
    status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    for (i = 0; i < n; i++)
        RRC_CLEAR(heap, refs[i]);
    return status == 0 ? lua_gettop(L) : rrcl_raise_again(L, status);
}

/* ---- collection ---- */

/* One of Lua's cycles has ended, or a step: is there to be another step? */
static void rrcl_decide_on_step(rrcl_state *state)
{
    if (state->step.stage == RRCL_STEP_OPEN || state->in_step || state->step.decided == state->cycle)
        return;
    state->step.decided = state->cycle;
    if (rrc_closed_cycle(state->heap) || state->deaths > 0)
        state->step.stage = RRCL_STEP_WANTED;
    state->deaths -= state->deaths > 0;
}

static void rrcl_begin_step(rrcl_state *state)
{
    memset(&state->step, 0, sizeof state->step);
    state->step.decided = state->cycle;
}

static int rrcl_step(rrcl_state *state)
{
    rrcl_step_state before = state->step;
    int code;
    rrcl_begin_step(state);
    state->searches = INT_MAX;
    state->in_step++;
    code = rrc_closed_step(state->heap);
    state->in_step--;
    if (code == RRC_EPHASE)
        state->step = before;               /* nothing could be done now */
    else
        state->step.stage = state->step.has_left ? RRCL_STEP_WANTED : RRCL_NO_STEP;
    rrcl_decide_on_step(state);
    rrcl_run_pending(state, 0);
    return code;
}

/* While the header looks for deaths, it roots what the dead owned, and each of these values can be in another shard. So
   it gets few units at a time, and the slice ends when enough has been searched. (This part of a step takes at most two
   units for each slot.) Returns the units done. */
static size_t rrcl_do_units(rrcl_state *state, size_t max)
{
    size_t units = 0, part, done;
    do {
        int looks = max > 0 && state->step.units < 2 * (size_t)state->slot_count;
        part = looks && max - units > RRCL_UNITS_OF_A_LOOK ? RRCL_UNITS_OF_A_LOOK : max > 0 ? max - units : 0;
        done = rrc_closed_work(state->heap, part);
        units += done;
        state->step.units += done;
    } while (done >= part && units < max && state->searches > -RRCL_SEARCHES);
    return units;
}

/* Do a slice of a step, of at most max units; 0: all that is left. Returns whether the step has ended. If not, it
   may not be possible now. */
static int rrcl_slice(rrcl_state *state, size_t max)
{
    rrc_closed_stats before, after;
    rrcl_step_state step = state->step;
    size_t units;
    if (state->in_step)
        return 0;
    if (step.stage != RRCL_STEP_OPEN)
        rrcl_begin_step(state);
    rrc_closed_get_stats(state->heap, &before);
    state->searches = max > 0 && max < INT_MAX ? 1 + (int)max / RRCL_UNITS_OF_A_SEARCH : INT_MAX;
    for (; state->must_search > 0 && state->searches > 0; state->must_search--)
        if (!rrcl_is_revived(state, state->must_search - 1))
            rrcl_revive(state, state->must_search - 1);
    state->in_step++;
    units = rrcl_do_units(state, max);
    state->in_step--;
    rrc_closed_get_stats(state->heap, &after);
    if (after.mirror_steps != before.mirror_steps)
        state->step.stage = state->step.has_left ? RRCL_STEP_WANTED : RRCL_NO_STEP;
    else if (units > 0)
        state->step.stage = RRCL_STEP_OPEN;
    else
        state->step = step;
    rrcl_decide_on_step(state);
    return after.mirror_steps != before.mirror_steps;
}

static void rrcl_want_step(rrcl_state *state)
{
    if (state->step.stage == RRCL_STEP_OPEN || state->in_step)
        state->step.has_left = 1;
    else
        state->step.stage = RRCL_STEP_WANTED;
}

/* A slice of at most max units (0: none; SIZE_MAX: a whole step), and pending work. */
static void rrcl_work(rrcl_state *state, size_t max)
{
    if (max == SIZE_MAX) {
        rrcl_run_pending(state, 0);
        if (rrcl_step(state) == RRC_EPHASE)
            rrcl_want_step(state);
    } else if (max > 0) {
        rrcl_slice(state, max);
    }
    rrcl_run_pending(state, RRCL_UNITS_OF_PENDING);
}

RRC_LUA_API int rrc_lua_step(lua_State *L, rrc_heap *heap)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    if (state->hidden == NULL)
        return RRC_ECLOSED;
    rrcl_use(state, L);
    return rrcl_step(state);
}

RRC_LUA_API int rrc_lua_work(lua_State *L, rrc_heap *heap, size_t max)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    int has_ended;
    if (state->hidden == NULL)
        return 0;
    rrcl_use(state, L);
    has_ended = rrcl_slice(state, max);
    rrcl_run_pending(state, max);
    return has_ended;
}

/* The data is an int: -1 if Lua refused, as it does in finalizers of 5.4. */
static int rrcl_full_collection(lua_State *L)
{
    *(int *)lua_touserdata(L, 1) = lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}

/* A full collection at once: see >>wrappers. */
static int rrcl_collection_at_once(lua_State *L)
{
    rrcl_state *state = rrcl_open_state(L);
    int has_sentinel = !rrcl_is_empty(state, RRCL_SENTINEL_SLOT);
    state->must_root = state->wrappers > 0;
    rrcl_push_sentinel(L, state);
    lua_pop(L, 1);
    if (state->has_error[RRCL_COLLECT_ERROR] || (has_sentinel && rrcl_is_empty(state, RRCL_SENTINEL_SLOT)))
        rrcl_root_wrappers(state);
    rrcl_full_collection(L);
    lua_gc(L, LUA_GCSTOP, 0);           /* it has started the collector, which rrc_lua_collect had stopped */
    return 0;
}

/* What has lost its proxy although all finalizers have run, has lost its __gc: Lua drops one that it has no memory to
   call. */
static void rrcl_find_lost_proxy(void *arg, rrc_cell *cell)
{
    rrcl_state *state = (rrcl_state *)arg;
    if (cell->tag == RRCL_IS_PROXY && rrcl_is_empty(state, rrcl_slot_of(cell)))
        rrc_cell_unlink(state->heap, cell);
}

static void rrcl_collect(void *userdata)
{
    rrcl_state *state = (rrcl_state *)userdata;
    lua_State *L = rrcl_caller(state);
    int result = -1, status;
    if (L == NULL)
        return;
    status = rrcl_pcall(L, rrcl_collection_at_once, &result);
    state->must_root = 0;           /* if Lua refused, the header's next step roots them */
    if (status != 0)
        rrcl_keep_error(L, state, RRCL_COLLECT_ERROR, status);
    else if (result != -1 && state->hidden != NULL)     /* all finalizers have run: see rrcl_find_lost_proxy */
        rrc_cell_each(state->heap, rrcl_find_lost_proxy, state);
}

/* Returns what rrc_gc_collect does, or SIZE_MAX: the state was closed, and has gone. */
static size_t rrcl_collect_round(lua_State *L, rrcl_state *state)
{
    int drained;
    size_t found;
    if (state->wrappers > 0 && !state->in_order) {
        int status = rrcl_pcall(L, rrcl_full_collection, &drained);     /* no finalizer waits any more */
        if (rrcl_open_state(L) == NULL)
            return SIZE_MAX;
        if (status != 0)
            rrcl_keep_error(L, state, RRCL_COLLECT_ERROR, status);
    }
    lua_gc(L, LUA_GCSTOP, 0);               /* what dies in the step would not be found this time */
    state->in_slots++;
    found = state->in_order ? rrc_closed_collect_in_order(state->heap) : rrc_gc_collect(state->heap);
    rrcl_end_slots(state);
    return found;
}

RRC_LUA_API size_t rrc_lua_collect(lua_State *L, rrc_heap *heap)
{
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    size_t result = 0, found;
    int was_running, rounds = 0;
    if (state->hidden == NULL || state->is_collecting)
        return 0;
    rrcl_use(state, L);
    state->is_collecting = 1;
    state->must_collect = 0;
    was_running = rrcl_is_running(L);
    do {                                    /* what proxies reached outlives them by one collection */
        found = rrcl_collect_round(L, state);
        if (found == SIZE_MAX)
            return result;
        result += found;
    } while (found > 0 && state->hidden != NULL && ++rounds < RRCL_ROUNDS);
    rrcl_begin_step(state);             /* (and it has ended) */
    state->is_collecting = state->in_order = 0;
    if (was_running)
        lua_gc(L, LUA_GCRESTART, 0);
    if (state->must_end)
        rrcl_end_heap(state);
    rrcl_raise_kept(L, state, RRCL_COLLECT_ERROR);
    return result;
}

/* Wrappers go by collections at once only. So such a collection follows a script's collectgarbage(), and any cycle of
   Lua's if enough cycles have passed since the last one, or the number of wrappers has doubled. If it frees less than
   an eighth of them, twice as many cycles pass before the next one. A __gc of a sentinel makes it. From 5.4 on a
   finalizer cannot collect, and the next call that allocates does. (Not in the cycle after one, as Lua 5.1 goes on
   with another cycle in the same collectgarbage(). Not while lua_close finalizes all: Lua 5.1 and LuaJIT would unload
   the module inside the collection, which would return to code that is gone.) Raises. */
static void rrcl_collect_wrappers(lua_State *L, rrcl_state *state)
{
    size_t before = state->wrappers;
    if (state->in_step || state->is_collecting || lua_gc(L, LUA_GCCOUNT, 0) < 0)
        return;
    state->wait = 1;                    /* Lua 5.1 begins a cycle at once: it must not have another one of these */
    rrc_lua_collect(L, state->heap);
    state = rrcl_open_state(L);
    if (state == NULL)
        return;
    state->most_wrappers = 2 * state->wrappers + RRCL_FEW_WRAPPERS;
    if (state->wrappers < before - before / 8)
        state->next_wait = 1;
    else if (state->next_wait < RRCL_MOST_WAIT)
        state->next_wait = 2 * state->next_wait + 1;
    state->wait = state->next_wait;
}

RRC_LUA_API void rrc_lua_native_bytes(rrc_heap *heap, ptrdiff_t change)
{
    rrc_native_bytes(heap, change);
}

static void rrcl_native_bytes(void *userdata, ptrdiff_t change)
{
    rrcl_state *state = (rrcl_state *)userdata;
    if (change < 0) {
        size_t less = (size_t)0 - (size_t)change;
        state->native_before -= less < state->native_before ? less : state->native_before;  /* it was garbage then */
    } else {
        state->native_new += (size_t)change;
    }
}

/* What is new since the last cycle, beyond as much as Lua has, and half of what C had then (some of that was garbage),
   is told to Lua as if it had allocated it: in portions, as this calls the collector. */
static void rrcl_tell_native(lua_State *L, rrcl_state *state)
{
    size_t limit = (size_t)lua_gc(L, LUA_GCCOUNT, 0) << 10, over;
    if (!rrcl_is_running(L))
        return;                                 /* collectgarbage("stop") is the script's word */
    if (limit < state->native_before / 2)
        limit = state->native_before / 2;
    if (limit < RRC_LUA_NATIVE_BYTES)
        limit = RRC_LUA_NATIVE_BYTES;
    if (state->native_new < limit + state->native_told + limit / 16)
        return;
    over = state->native_new - limit - state->native_told;
    state->native_told += over;
    over = over >> 10 < 1 << 20 ? over >> 10 : 1 << 20;
#if LUA_VERSION_NUM >= 505
    lua_gc(L, LUA_GCSTEP, over << 10);
#else
    lua_gc(L, LUA_GCSTEP, (int)over);
#endif
}

/* Lua begins a cycle when its memory has doubled since the last one. Garbage of both heaps is still there then: a step
   has to tell of it, the next cycle finalizes the proxies, which keeps what they refer to, and the one after that
   frees all. Lua takes it for live memory, and would wait longer with each cycle. So where one of 64 slots is new
   since the last cycle, the next one begins when live memory has grown by a fifth. Then garbage of two cycles waits:
   if L is live, and Lua's memory grows by a share f from one cycle to the next, it has at most L * (1 + f) / (1 - 2 *
   f). Nothing of a cycle is done by the call that asks for it: Lua does it in its own steps, from the next allocation
   on. Lua 5.4 goes through a cycle while its memory grows by a hundredth. The others take their time, so that each
   call asks for a step. In the generational mode all that can be asked for is a young collection. If the clock has not
   ticked in it, the next call makes a full one. (A cycle that has ticked already when it is asked for, and is counted
   after that, was not the one that was asked for.) */
#define RRCL_GROWTH 5

/* (Lua frees what is dead while calls come here, so that the least of what they see counts.) */
static void rrcl_pace(lua_State *L, rrcl_state *state)
{
    int kbytes = lua_gc(L, LUA_GCCOUNT, 0), growth;     /* -1 in finalizers of 5.4 */
    if (kbytes < 0 || !rrcl_is_running(L))
        return;
    rrcl_read_clock(state);
    kbytes -= (int)((state->slot_count - state->used) * RRCL_BYTES_OF_A_SLOT >> 10);
    growth = kbytes / RRCL_GROWTH > RRCL_LEAST_KBYTES ? kbytes / RRCL_GROWTH : RRCL_LEAST_KBYTES;
    if (kbytes + growth < state->next_kbytes)
        state->next_kbytes = kbytes + growth;
    if (kbytes < state->next_kbytes || (state->is_asked && RRCL_ASKS_ONCE && state->cycle == state->asked_in))
        return;
    if (state->is_asked && RRCL_HAS_MODES && state->cycle - state->asked_in > (state->ticked_in == state->asked_in)) {
        lua_gc(L, LUA_GCCOLLECT, 0);
        return;
    }
    state->asked_in = state->cycle;
    state->is_asked = 1;
    lua_gc(L, LUA_GCRESTART, 0);
}

static int rrcl_new_sentinel(lua_State *L)
{
    rrcl_state *state = (rrcl_state *)lua_touserdata(L, 1);
    rrcl_new_canary(L, state, RRCL_SENTINEL_SLOT, &state->sentinel);
    state->sentinels++;
    return 0;
}

/* While there are steps, the first sentinel of a cycle makes others, which are not in the slot, and so does each of
   these: all together do a step at the end of the cycle, in short calls. (Those that died and wait for their __gc
   count: in 5.4 a collection for lack of memory, in a __gc, leaves them to later ones.) Lua finalizes what is newer
   first: so a step comes after the deaths of the objects that were made in the cycle. But Lua calls hundreds of
   finalizers in a row, which can be a whole step. So where a step takes long, and the last cycle saw many new objects,
   the first sentinel makes no others: the calls that make objects pay for the step. */
static int rrcl_more_sentinels(lua_State *L)
{
    rrcl_state *state = (rrcl_state *)lua_touserdata(L, 1);
    size_t wanted = 2 * state->used * RRCL_UNITS_OF_A_SLOT / RRCL_UNITS_OF_A_SENTINEL;  /* memory can double */
    size_t most = state->sentinels + 3 > RRCL_SENTINELS ? state->sentinels + 3 : RRCL_SENTINELS;
    while (state->sentinels <= wanted && state->sentinels < most) {
        rrcl_push_sentinel(L, state);
        lua_pushnil(L);
        lua_replace(L, 2);
        lua_settop(L, 1);
    }
    return 0;
}

/* Make a main sentinel if the slot has none. (If memory is lacking, another call does.) */
static void rrcl_need_sentinel(lua_State *L, rrcl_state *state)
{
    if (rrcl_is_empty(state, RRCL_SENTINEL_SLOT))
        rrcl_try(L, rrcl_new_sentinel, state);
}

static void rrcl_end_cycle(lua_State *L, rrcl_state *state)
{
    rrc_stats stats;
    state->cycle++;
    if (state->spare == NULL)                   /* memory was lacking for the next one */
        rrcl_empty_spare(state);
    if (!RRCL_HAS_MODES)
        rrcl_plan_cycle(state);
    rrc_get_stats(state->heap, &stats);
    state->native_before = stats.native_bytes;
    state->native_new = state->native_told = 0;
    if (RRCL_HAS_MODES && state->ticker.ended == state->ticker.era && state->cycle - state->ticked_in > 1)
        rrcl_try(L, rrcl_new_clock, state);     /* lack of memory has lost the ticker */
    if (state->hidden != NULL)
        rrcl_decide_on_step(state);
}

static int rrcl_sentinel_gc(lua_State *L)
{
    rrcl_state *state = rrcl_open_state(L);
    size_t units = RRCL_UNITS_OF_A_SENTINEL;
    rrc_closed_stats stats;
    int is_first, is_full;
    if (state == NULL)
        return 0;
    state->sentinels--;
    rrcl_use(state, L);
    if (state->must_root)
        rrcl_root_wrappers(state);
    is_first = rrcl_sees_end(state, RRCL_SENTINEL_SLOT, &state->sentinel);
    if (is_first) {
        rrcl_end_cycle(L, state);
        units = RRCL_UNITS_OF_A_CYCLE;
    }
    if (state->hidden != NULL)
        rrcl_need_sentinel(L, state);
    rrcl_check_steps(state);
    if (state->hidden == NULL || state->in_step)
        return 0;
    if (state->step.stage == RRCL_NO_STEP)
        units = 0;
    is_full = is_first && rrcl_is_full_collection(L, state);
    if (is_full)
        units = SIZE_MAX;
    rrcl_let_go_of_closed(L, state);
    rrcl_work(state, units);
    rrcl_run_backlog_in_gc(L, state);
    if (state->hidden == NULL)
        return 0;
    rrc_closed_get_stats(state->heap, &stats);
    if (!state->calls_pay && (state->step.stage == RRCL_STEP_OPEN || stats.mirror_cycles < RRCL_BUSY_CYCLES))
        rrcl_try(L, rrcl_more_sentinels, state);
    if (state->hidden != NULL && is_first && !state->is_collecting && state->wrappers > 0) {
        state->must_collect |= state->wait == 0 || (is_full && state->wait < state->next_wait)
                               || state->wrappers > state->most_wrappers;
        state->wait -= state->wait > 0;
    }
    if (state->hidden != NULL && state->must_collect)
        rrcl_collect_wrappers(L, state);
    return 0;
}

/* A step that was begun at the end of a cycle is paid for by the calls that look. It ends when less than a sixteenth of
   the slots is new, before Lua begins the next cycle, which finds what the step let go. */
static void rrcl_catch_up(lua_State *L, rrcl_state *state, int looks)
{
    if (state->closed_count > 0)
        rrcl_end_closing(L, state);
    if (state->hidden != NULL && looks)
        rrcl_need_sentinel(L, state);
    if (state->hidden != NULL && state->native_new > RRC_LUA_NATIVE_BYTES)
        rrcl_tell_native(L, state);
    if (state->hidden != NULL && state->is_paced && (looks || (state->is_asked && !RRCL_ASKS_ONCE)))
        rrcl_pace(L, state);
    if (state->hidden != NULL && looks && !state->in_step && (state->step.stage != RRCL_NO_STEP || state->has_backlog))
        rrcl_work(state, state->step.stage != RRCL_NO_STEP ? RRCL_UNITS_OF_CALLS : 0);
    if (RRCL_HAS_MODES && state->hidden != NULL && state->must_collect && rrcl_is_running(L))
        rrcl_collect_wrappers(L, state);
}

/* ---- states ---- */

static void rrcl_free_tables(rrcl_state *state)
{
    rrc_map_free(state->heap, &state->classes);
    for (; state->bucket_count > 0; state->bucket_count -= RRCL_BUCKETS)
        (void)RRC_LUA_REALLOC(state->buckets[state->bucket_count / RRCL_BUCKETS - 1], 0);
    (void)RRC_LUA_REALLOC(state->buckets, 0);
    (void)RRC_LUA_REALLOC(state->revived, 0);
    (void)RRC_LUA_REALLOC(state->closed, 0);
    state->closed_count = 0;
}

/* Proxies and sentinels that are left do nothing from now on: on Lua 5.1 and LuaJIT their
   modules are unloaded soon, and LuaJIT's lua_close finalizes what finalizers have made. */
static void rrcl_disarm(lua_State *L, rrcl_state *state)
{
    static const char *const names[] = { "__gc", "__index", "__newindex", "__tostring", "__close" };
    int number, i, count = LUA_VERSION_NUM == 501 ? 5 : 1;
    for (number = 1; number <= state->class_count; number++) {
        rrcl_get_metatable(L, state, number);
        for (i = 0; i < count; i++) {
            lua_pushnil(L);
            lua_setfield(L, -2, names[i]);
        }
        lua_pop(L, 1);
    }
}

/* Can a function of C be at work that knows the heap? Then it may not be freed altogether.
   (From 5.4.4 on lua_gc refuses in finalizers, and no collection runs in them. LuaJIT runs finalizers in a thread of its
   own from the end of 2025 on: if nothing runs below this one there, the main thread tells.) */
static int rrcl_can_be_known(lua_State *L, const rrcl_state *state)
{
    lua_Debug frame;
    int level, is_main;
    if (lua_gc(L, LUA_GCCOUNT, 0) == -1)
        return 0;
    is_main = lua_pushthread(L);
    lua_pop(L, 1);
    if (!is_main)
        return lua_getstack(L, 1, &frame) || state->main == NULL || lua_getstack(state->main, 0, &frame);
    for (level = 1; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "S", &frame);
        if (frame.what[0] == 'C')
            return 1;
    }
    return 0;
}

static void rrcl_part_proxy(void *arg, rrc_cell *cell)
{
    if (cell->tag == RRCL_IS_PROXY)
        rrc_cell_unlink(((rrcl_state *)arg)->heap, cell);
}

static size_t rrcl_count_proxies(const rrcl_state *state, const rrc_stats *stats)
{
    return stats->o_old + stats->o_young + state->wrappers;
}

/* While Lua still works: no proxy is left, and what C does not hold is deallocated, cycles of C
   included. So slots find what their objects own. (In them, the state can be closed.) */
static void rrcl_part_all(lua_State *L, rrcl_state *state)
{
    rrc_stats before, after;
    int rounds = 10;                            /* slots can go on making objects, and proxies */
    state->is_ending = 1;
    rrcl_use(state, L);
    if (state->at_end != NULL && state->in_slots == 0 && state->in_step == 0)   /* (in a slot the header refuses it) */
        state->at_end(state->heap);
    do {
        rrc_get_stats(state->heap, &before);
        rrc_cell_each(state->heap, rrcl_part_proxy, state);
        rrcl_let_go_of_closed(NULL, state);
        rrcl_step(state);
        if (state->hidden == NULL)
            return;
        rrc_get_stats(state->heap, &after);
    } while ((rrcl_count_proxies(state, &after) > 0 || after.objects != before.objects
              || after.finalizable != before.finalizable) && --rounds > 0);
}

/* From now on Lua unloads no module. It has those that `require` has loaded in the registry: in userdata with the
   metatable _LOADLIB (5.1, LuaJIT), or in a list whose __gc unloads them. */
static void rrcl_keep_modules(lua_State *L)
{
    luaL_getmetatable(L, "_LOADLIB");
    if (lua_istable(L, -1)) {
        lua_pushnil(L);
        lua_setfield(L, -2, "__gc");
    }
    lua_pop(L, 1);
    for (lua_pushnil(L); lua_next(L, LUA_REGISTRYINDEX); lua_pop(L, 1)) {
        int is_list = 0;
        if (lua_istable(L, -1)) {
            lua_rawgeti(L, -1, 1);
            is_list = lua_islightuserdata(L, -1);
            lua_pop(L, 1);
        }
        if (is_list && luaL_getmetafield(L, -1, "__gc")) {
            lua_pushnil(L);
            lua_setmetatable(L, -3);
            lua_pop(L, 1);
        }
    }
}

/* lua_close: what has a __gc and was made later has been finalized. Until 5.4.3 a finalizer that collects (by
   collectgarbage, or by allocating much) runs all others inside. So this can be called wherever something of C that a
   finalizer calls allocates in Lua. Next Lua would unload the module to which it returns later. */
static int rrcl_end(lua_State *L, rrcl_closer *closer)
{
    lua_Debug caller;
    rrcl_state *state = closer != NULL ? closer->state : NULL;
    if (closer == NULL || (state == NULL && !closer->is_closed))
        return 0;                           /* the state could not be opened */
    if (state != NULL && !state->is_ending)
        rrcl_part_all(L, state);
    if (closer->state != NULL) {
        rrcl_disarm(L, state);
        closer->is_closed = 1;              /* the proxies find out when they are used */
        closer->state = NULL;
        state->hidden = state->caller = NULL;
        state->is_kept = rrcl_can_be_known(L, state);
        rrcl_free_tables(state);
        rrcl_end_heap(state);               /* the state goes with it, now or later */
    }
    if (lua_getstack(L, 1, &caller))
        rrcl_keep_modules(L);
    return 0;
}

static int rrcl_closer_gc(lua_State *L)
{
    return rrcl_end(L, (rrcl_closer *)lua_touserdata(L, 1));
}

#if LUA_VERSION_NUM == 501
static int rrcl_guard_gc(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, RRCL_NAME);
    return rrcl_end(L, (rrcl_closer *)lua_touserdata(L, -1));
}
#endif

static void rrcl_fill_hidden(lua_State *L, rrcl_state *state)
{
    lua_State *hidden = lua_newthread(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, RRCL_NAME ".hidden");
    lua_checkstack(hidden, 20);
    lua_newtable(L);
    rrcl_push_finalizer(L, rrcl_sentinel_gc);
    lua_rawseti(L, -2, RRCL_CANARY_CLASS(RRCL_SENTINEL_SLOT));
    rrcl_push_finalizer(L, rrcl_clock_gc);
    state->class_count = RRCL_CANARY_CLASS(RRCL_CLOCK_SLOT);
    lua_rawseti(L, -2, state->class_count);
    lua_newthread(L);
    lua_pushcfunction(L, rrcl_traceback);
    lua_pushliteral(L, "stack overflow: no room to call Lua");
    lua_xmove(L, hidden, 4);                /* CLASSES and so on */
    lua_settop(hidden, RRCL_PLACES);
    lua_pop(L, 1);
    state->hidden = hidden;
}

static int rrcl_open_protected(lua_State *L)
{
    rrcl_state *state = (rrcl_state *)lua_touserdata(L, 1);
    static const rrc_closed_desc closed = { rrcl_pin, rrcl_new_node, rrcl_write_node, rrcl_join, rrcl_watch, rrcl_forget,
                                            rrcl_is_live, 0, 1 };
    rrc_desc desc;
    rrcl_closer *closer = (rrcl_closer *)rrcl_new_userdata(L, sizeof *closer);
    memset(closer, 0, sizeof *closer);
    closer->config = rrcl_config;
    rrcl_push_finalizer(L, rrcl_closer_gc);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, RRCL_NAME);
    rrcl_fill_hidden(L, state);
    rrcl_grow_slots(L, state);
    if (RRCL_HAS_MODES)
        rrcl_new_clock(L);
    memset(&desc, 0, sizeof desc);
    desc.userdata = state;
    desc.collect = rrcl_collect;
    desc.realloc = rrcl_heap_realloc;
    desc.native_bytes = rrcl_native_bytes;
    lua_getglobal(L, "collectgarbage");
    state->collectgarbage = lua_topointer(L, -1);
#if LUA_VERSION_NUM >= 502
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    state->main = lua_tothread(L, -1);
#endif
    state->heap = rrc_closed_new(&desc, &closed);
    if (state->heap == NULL)
        return luaL_error(L, "not enough memory");
    closer->state = state;
    state->closer = closer;
    return 0;
}

static rrcl_state *rrcl_open(lua_State *L)
{
    rrcl_state *state;
    luaL_checkstack(L, 9, "no room for the heap of C objects");
    state = (rrcl_state *)RRC_LUA_REALLOC(NULL, sizeof *state);
    if (state == NULL)
        luaL_error(L, "not enough memory");
    memset(state, 0, sizeof *state);
    state->value_type = &rrcl_value_type;
    if (rrcl_pcall(L, rrcl_open_protected, state) != 0) {
        rrcl_free_tables(state);
        (void)RRC_LUA_REALLOC(state, 0);
        lua_error(L);
    }
    return state;
}

RRC_LUA_API rrc_heap *rrc_lua_heap(lua_State *L)
{
    const rrcl_closer *closer;
    const rrcl_proxy *proxy = rrcl_to_proxy(L, 1);      /* of a method: it is quicker to ask */
    if (proxy != NULL && rrcl_state_of(proxy) != NULL)
        return rrcl_state_of(proxy)->heap;
    lua_getfield(L, LUA_REGISTRYINDEX, RRCL_NAME);
    closer = (const rrcl_closer *)lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (closer == NULL || (closer->state == NULL && !closer->is_closed))
        return rrcl_open(L)->heap;
    if (closer->is_closed)
        luaL_error(L, "this Lua state is being closed");
    if (closer->config != rrcl_config && strcmp(closer->config, rrcl_config) != 0)
        luaL_error(L, "modules were built with different versions: %s; %s", closer->config, rrcl_config);
    return closer->state->heap;
}

/* ---- the end in order ---- */

/* Take out of the table at the top what scripts may have made. */
static void rrcl_strip(lua_State *L, int loaded)
{
    int table = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table); lua_settop(L, table + 1)) {
        int type = lua_type(L, -1), is_kept = type < LUA_TTABLE || lua_iscfunction(L, -1);
        if (type == LUA_TTABLE) {
            lua_pushvalue(L, -2);
            lua_rawget(L, loaded);
            is_kept = lua_rawequal(L, -1, -2);      /* string, or the module of this name */
        }
        if (is_kept)
            continue;
        lua_pushvalue(L, table + 1);
        lua_pushnil(L);
        lua_rawset(L, table);
    }
    lua_pushnil(L);
    lua_setmetatable(L, table);
}

/* (This allocates nothing before rrc_lua_collect stops the collector, as Lua's own cycles keep no order.) */
static int rrcl_drop_roots(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    lua_settop(L, 0);
    luaL_checkstack(L, 8, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    rrcl_strip(L, 1);
    for (lua_pushnil(L); lua_next(L, 1); lua_settop(L, 2))
        if (lua_istable(L, 3) && !(lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "io") == 0))
            rrcl_strip(L, 1);           /* (in io are files) */
    state->in_order = 1;
    rrc_lua_collect(L, heap);
    return 0;
}

/* A finalizer that fails can end a collection of Lua's. So many may. */
#define RRCL_MOST_FAILURES 100

RRC_LUA_API void rrc_lua_close(lua_State *L)
{
    lua_Debug frame;
    int failures = 0;
    if (lua_getstack(L, 0, &frame))
        luaL_error(L, "rrc_lua_close: a function is running in this thread");
    while (rrcl_open_state(L) != NULL && rrcl_try(L, rrcl_drop_roots, NULL) != 0 && ++failures < RRCL_MOST_FAILURES)
        ;
    lua_close(L);
}

/* ---- the module `rawrefcount` ---- */

static int rrcl_script_collect(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrcl_state *state = (rrcl_state *)rrc_userdata(heap);
    if (!state->is_collecting)
        state->in_order = lua_toboolean(L, 1);
    lua_pushinteger(L, (lua_Integer)rrc_lua_collect(L, heap));
    return 1;
}

static int rrcl_script_step(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    int code;
    if (!lua_isnoneornil(L, 1)) {
        lua_Number n = luaL_checknumber(L, 1);
        luaL_argcheck(L, n >= 1 && n < 1e15, 1, "1 or more expected");
        lua_pushboolean(L, rrc_lua_work(L, heap, n < (lua_Number)(SIZE_MAX / 2) ? (size_t)n : SIZE_MAX / 2));
        return 1;
    }
    code = rrc_lua_step(L, heap);
    if (code != RRC_OK && code != RRC_EPHASE)
        return luaL_error(L, "%s", rrc_error_message(code));
    lua_pushboolean(L, code == RRC_OK);
    return 1;
}

static int rrcl_script_stats(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    const rrcl_state *state = (const rrcl_state *)rrc_userdata(heap);
    rrc_stats stats;
    rrc_closed_stats closed;
    if (rrc_get_stats(heap, &stats) != RRC_OK || rrc_closed_get_stats(heap, &closed) != RRC_OK)
        return luaL_error(L, "the heap is closed");
    lua_newtable(L);
#define RRCL_FIELD(name, value) (lua_pushinteger(L, (lua_Integer)(value)), lua_setfield(L, -2, name))
    RRCL_FIELD("objects", stats.objects);
    RRCL_FIELD("proxies", rrcl_count_proxies(state, &stats));
    RRCL_FIELD("values", stats.p_old + stats.p_young - state->wrappers);
    RRCL_FIELD("tracked", stats.tracked);
    RRCL_FIELD("weak", rrc_closed_count_weak(heap));
    RRCL_FIELD("nodes", closed.edge_nodes);
    RRCL_FIELD("steps", closed.mirror_steps);
    RRCL_FIELD("mirrored", closed.mirrored);
    RRCL_FIELD("pending", stats.pending);
    RRCL_FIELD("garbage", stats.garbage);
    RRCL_FIELD("uncollectable", stats.uncollectable);
    RRCL_FIELD("memory", stats.memory);
    RRCL_FIELD("object_bytes", stats.object_bytes);
    RRCL_FIELD("pending_bytes", stats.pending_bytes);
    RRCL_FIELD("native", stats.native_bytes);
#undef RRCL_FIELD
    return 1;
}

/* luaopen_rawrefcount of those who have no other module of this name. */
static int rrcl_open_functions(lua_State *L)
{
    static const rrc_lua_class *const no_classes[] = { NULL };
    static const luaL_Reg functions[] = {
        { "collect", rrcl_script_collect }, { "step", rrcl_script_step }, { "stats", rrcl_script_stats },
        { "pairs", rrc_lua_pairs }, { NULL, NULL },
    };
    rrc_lua_module(L, no_classes, functions);
    lua_pushliteral(L, RRC_LUA_VERSION);
    lua_setfield(L, -2, "_VERSION");
    return 1;
}

#endif /* RRC_LUA_IMPLEMENTATION */
