/* classes.c - the Lua module `classes`: what a class can have beside methods and properties, and values
 * that go from C to Lua and back.
 *
 *     classes.Open(text)          an object with a text; scripts can have fields in it
 *     classes.Strict(text)        the same, but strict; StrictChild is based on it, and has no constructor
 *     classes.Bag()               has properties at run time: names that begin with "x_", and numbers;
 *                                 StrictBag is based on it, and strict
 *     classes.Record()            has a member of each kind
 *     classes.learn_wrong()       makes a class known that has a member of no kind
 *     classes.pairs(object)       rrc_lua_pairs
 *     classes.send(f, object)     calls f(object, true, -5, 2^40, 2.5, "text", "a\0b", nil, nil); gives its
 *                                 results: any value, a boolean, an integer, a large one, a number
 *     classes.result(f, kind)     the result of f, of this kind: a letter of rrc_lua_callf
 *     classes.results(f)          calls f for four values, two numbers behind them; returns whether the
 *                                 variables of C are 0 and the call failed, and raises nothing
 *     classes.call(f, ...)        rrc_lua_call
 *     classes.text_of(value)      rrc_lua_string
 *     classes.is_same_key(a, b)   have they the same ob as keys; classes.peek(a): has it one
 *     classes.hold_key(a)         C holds the ob of a; nil: it drops what it holds
 *     classes.raise_with(f, ...)  a method that takes references to all its arguments, and calls f(...) then;
 *                                 raises what f raises, and gives its results
 */
#include "rrc_lua.h"

#include <string.h>

int luaopen_classes(lua_State *L);

enum { BAG_SIZE = 4, TEXT_SIZE = 20 };

typedef struct thing {
    rrc_object  head;
    char        text[TEXT_SIZE];
    int         bag[BAG_SIZE];
    rrc_object *owned;
} thing;

static const rrc_member thing_members[] = { { "owned", offsetof(thing, owned) }, { NULL, 0 } };

#define THING_TYPE(name) \
    static const rrc_type name##_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = #name, \
                                          .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC, \
                                          .tp_members = thing_members }
THING_TYPE(Open);
THING_TYPE(Strict);
THING_TYPE(StrictChild);
THING_TYPE(Bag);
THING_TYPE(StrictBag);

static const rrc_lua_class Thing;

static thing *self(lua_State *L) { return (thing *)rrc_lua_check(L, 1, &Thing); }

static int new_thing(lua_State *L, const rrc_type *type)
{
    rrc_heap *heap = rrc_lua_heap(L);
    const char *text = luaL_optstring(L, 1, "");
    thing *t = (thing *)rrc_gc_new(heap, type);
    if (t != NULL && rrc_gc_track(heap, &t->head) != RRC_OK)
        RRC_CLEAR(heap, t);
    if (t != NULL)
        strncat(t->text, text, TEXT_SIZE - 1);
    return rrc_lua_give(L, heap, (rrc_object *)t);
}
static int new_open(lua_State *L) { return new_thing(L, &Open_type); }
static int new_strict(lua_State *L) { return new_thing(L, &Strict_type); }
static int new_child(lua_State *L) { return new_thing(L, &StrictChild_type); }
static int new_bag(lua_State *L) { return new_thing(L, &Bag_type); }
static int new_strict_bag(lua_State *L) { return new_thing(L, &StrictBag_type); }

static int get_text(lua_State *L)
{
    lua_pushstring(L, self(L)->text);
    return 1;
}
static int set_text(lua_State *L)
{
    thing *t = self(L);
    const char *text = luaL_checkstring(L, 2);
    luaL_argcheck(L, strlen(text) < TEXT_SIZE, 2, "too long");
    memcpy(t->text, text, strlen(text) + 1);
    return 0;
}
static int get_nothing(lua_State *L)
{
    self(L);
    lua_pushnil(L);
    return 1;
}
static int do_nothing(lua_State *L)
{
    self(L);
    return 0;
}

/* Where a bag keeps what has the name at 2; NULL: it is none of its names. */
static int *bag_place(lua_State *L)
{
    thing *t = self(L);
    int i = 0;
    if (lua_type(L, 2) == LUA_TNUMBER)
        i = (int)lua_tointeger(L, 2);
    else if (lua_type(L, 2) == LUA_TSTRING && strncmp(lua_tostring(L, 2), "x_", 2) == 0)
        i = lua_tostring(L, 2)[2] - '0';
    else
        return NULL;
    if (i < 1 || i > BAG_SIZE)
        luaL_error(L, "there are %d", (int)BAG_SIZE);
    return &t->bag[i - 1];
}
static int bag_index(lua_State *L)
{
    const int *place = bag_place(L);
    if (place == NULL)
        return 0;
    if (*place == 0)
        lua_pushnil(L);                 /* it is known, and nil */
    else
        lua_pushinteger(L, *place);
    return 1;
}
static int bag_newindex(lua_State *L)
{
    int *place = bag_place(L);
    if (place == NULL)
        return 0;
    *place = (int)luaL_checkinteger(L, 3);
    if (*place == 13) {                 /* a library can have it closed, and not know the name after all */
        lua_getfield(L, 1, "close");
        lua_pushvalue(L, 1);
        lua_call(L, 1, 0);
        return 0;
    }
    lua_pushboolean(L, 1);
    return 1;
}
static int bag_tostring(lua_State *L)
{
    if (rrc_lua_test(L, 1, &Thing) == NULL)
        return rrc_lua_tostring(L);
    lua_pushfstring(L, "a bag of %d", (int)BAG_SIZE);
    return 1;
}

/* ---- members ---- */

typedef struct record {
    rrc_object  head;
    int         flag, whole, serial;
    lua_Integer big;
    lua_Number  number;
    rrc_object *text, *callback, *any, *peer;
} record;

static const rrc_member record_members[] = { { "text", offsetof(record, text) }, { "callback", offsetof(record, callback) },
                                             { "any", offsetof(record, any) }, { "peer", offsetof(record, peer) },
                                             { NULL, 0 } };
static const rrc_type Record_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Record",
                                      .tp_basicsize = sizeof(record), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                      .tp_members = record_members };
static const rrc_type Untracked_type = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "UntrackedRecord",
                                         .tp_basicsize = sizeof(record) };
static const rrc_lua_class Record, Wrong;

static int new_record(lua_State *L)
{
    ((record *)rrc_lua_new(L, &Record_type))->serial = 7;
    return 1;
}
static int new_untracked(lua_State *L)
{
    ((record *)rrc_lua_new(L, &Untracked_type))->serial = 8;
    return 1;
}
static int learn_wrong(lua_State *L)
{
    rrc_lua_register(L, &Wrong);
    return 1;
}
static rrc_object *self_record(lua_State *L) { return rrc_lua_check(L, 1, &Record); }
static int set_record(lua_State *L)
{
    rrc_lua_set_callback(L, 2, self_record(L), offsetof(record, callback));
    return 0;
}
static int emit(lua_State *L)
{
    return rrc_lua_emit(L, self_record(L), offsetof(record, callback), "in", 5, luaL_optnumber(L, 2, 0));
}
static int emit_wrong(lua_State *L)
{
    return rrc_lua_emit(L, self_record(L), offsetof(record, callback), "i?", 5);
}
/* The results of the callback: any value and an integer. */
static int ask_with(lua_State *L, rrc_object **refs)
{
    int integer = 5;
    rrc_lua_emit(L, self_record(L), offsetof(record, callback), "s>oi", "text", &refs[0], &integer);
    rrc_lua_push(L, rrc_lua_heap(L), refs[0]);
    lua_pushinteger(L, integer);
    return 2;
}
static int ask(lua_State *L)
{
    rrc_object *refs[1];
    return rrc_lua_scope(L, rrc_lua_heap(L), ask_with, refs, 1);
}
static int get_asked(lua_State *L) { return emit(L); }

static const luaL_Reg record_methods[] = { { "set", set_record }, { "emit", emit }, { "emit_wrong", emit_wrong },
                                           { "ask", ask }, { NULL, NULL } };
static const rrc_lua_property record_properties[] = { { "asked", get_asked, NULL }, { NULL, NULL, NULL } };
static const rrc_lua_member record_kinds[] = {
    { "flag", 'b', offsetof(record, flag), 0, NULL },
    { "whole", 'i', offsetof(record, whole), 0, NULL },
    { "serial", 'i', offsetof(record, serial), RRC_LUA_READONLY, NULL },
    { "big", 'I', offsetof(record, big), 0, NULL },
    { "number", 'n', offsetof(record, number), 0, NULL },
    { "text", 't', offsetof(record, text), 0, NULL },
    { "callback", 'f', offsetof(record, callback), 0, NULL },
    { "any", 'o', offsetof(record, any), 0, NULL },
    { "peer", 'o', offsetof(record, peer), 0, &Record },
    { NULL, 0, 0, 0, NULL }
};
static const rrc_lua_member wrong_kinds[] = { { "strange", 'x', 0, 0, NULL }, { NULL, 0, 0, 0, NULL } };
static const rrc_lua_class Record = { .type = &Record_type, .methods = record_methods, .properties = record_properties,
                                      .constructor = new_record, .is_strict = 1, .members = record_kinds };
static const rrc_lua_class RecordChild = { .type = &Untracked_type, .base = &Record, .constructor = new_untracked };
static const rrc_lua_class Wrong = { .name = "Wrong", .members = wrong_kinds };

/* ---- values ----
 *
 * Functions hold references while they call what raises, and so have a scope each. */

enum { REFERENCES = 5 };

static int scoped(lua_State *L, rrc_lua_scoped function)
{
    rrc_object *refs[REFERENCES];
    return rrc_lua_scope(L, rrc_lua_heap(L), function, refs, REFERENCES);
}

static int send_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    lua_Integer big = sizeof(lua_Integer) > 4 ? (lua_Integer)1 << 20 << 20 : 1 << 20;
    lua_Number number;
    int truth, integer;
    refs[0] = rrc_lua_ref(L, heap, 1);
    if (rrc_lua_callf(heap, refs[0], "obiInslos>obiIn", rrc_lua_check(L, 2, &Thing), 2, -5, big, (lua_Number)2.5, "text",
                      "a\0b", (size_t)3, (rrc_object *)NULL, (const char *)NULL, &refs[1], &truth, &integer, &big,
                      &number) != 0)
        rrc_lua_raise(L, heap);
    rrc_lua_push(L, heap, refs[1]);
    lua_pushboolean(L, truth);
    lua_pushinteger(L, integer);
    lua_pushinteger(L, big);
    lua_pushnumber(L, number);
    return 5;
}
static int send(lua_State *L) { return scoped(L, send_with); }

static int result_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    const char *kind = luaL_checkstring(L, 2);
    rrc_object *callback = refs[0] = rrc_lua_ref(L, heap, 1);
    lua_Number number = 0;
    lua_Integer big = 0;
    int integer = 0, status;
    switch (*kind) {
    case 'o': status = rrc_lua_callf(heap, callback, ">o", &refs[1]);           break;
    case 'b':
    case 'i': status = rrc_lua_callf(heap, callback, *kind == 'b' ? ">b" : ">i", &integer);     break;
    case 'I': status = rrc_lua_callf(heap, callback, ">I", &big);               break;
    case 'n': status = rrc_lua_callf(heap, callback, ">n", &number);            break;
    case '>': status = rrc_lua_callf(heap, callback, "i>s", 1, &refs[1]);       break;
    default:  status = rrc_lua_callf(heap, callback, "?");                      break;
    }
    if (status != 0)
        rrc_lua_raise(L, heap);
    switch (*kind) {
    case 'o': rrc_lua_push(L, heap, refs[1]);   break;
    case 'b': lua_pushboolean(L, integer);      break;
    case 'i': lua_pushinteger(L, integer);      break;
    case 'I': lua_pushinteger(L, big);          break;
    default:  lua_pushnumber(L, number);        break;
    }
    return 1;
}
static int result(lua_State *L) { return scoped(L, result_with); }

static int raise_kept(lua_State *L)
{
    rrc_lua_raise(L, rrc_lua_heap(L));
    return 0;
}

/* Is there an error, and no result? And the error. */
static int results_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    int numbers[2] = { 7, 7 }, status;
    refs[0] = rrc_lua_ref(L, heap, 1);
    status = rrc_lua_callf(heap, refs[0], ">ooooii", &refs[1], &refs[2], &refs[3], &refs[4], &numbers[0], &numbers[1]);
    lua_pushboolean(L, status != 0 && refs[1] == NULL && refs[2] == NULL && refs[3] == NULL && refs[4] == NULL
                       && numbers[0] == 0 && numbers[1] == 0);
    lua_pushcfunction(L, raise_kept);
    lua_pcall(L, 0, 1, 0);
    return 2;
}
static int results(lua_State *L) { return scoped(L, results_with); }

static int text_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    size_t size;
    const char *text;
    refs[0] = rrc_lua_ref(L, heap, 1);
    text = rrc_lua_string(heap, refs[0], &size);
    if (text != rrc_lua_string(heap, refs[0], NULL))
        return luaL_error(L, "two texts");
    if (text != NULL)
        lua_pushlstring(L, text, size);
    else
        lua_pushnil(L);
    return 1;
}
static int text_of(lua_State *L) { return scoped(L, text_with); }

static int keys_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    refs[0] = rrc_lua_key(L, heap, 1);
    refs[1] = rrc_lua_key(L, heap, 2);
    lua_pushboolean(L, refs[0] == refs[1]);
    return 1;
}
static int is_same_key(lua_State *L) { return scoped(L, keys_with); }

static int peek(lua_State *L)
{
    lua_pushboolean(L, rrc_lua_peek(L, rrc_lua_heap(L), 1) != NULL);
    return 1;
}

static rrc_object *held;                /* by hold_key: one state only */

static int hold_key(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *key = rrc_lua_key(L, heap, 1);
    RRC_CLEAR(heap, held);
    held = key;
    return 0;
}

static void take_all(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    int i, n = lua_gettop(L);
    for (i = 0; i < n && i < REFERENCES; i++)
        refs[i] = rrc_lua_ref(L, heap, i + 1);
}

static int raise_inside(lua_State *L, rrc_object **refs)
{
    take_all(L, refs);
    if (lua_isstring(L, 1))
        return luaL_error(L, "%s", lua_tostring(L, 1));
    if (lua_isnumber(L, 2))
        luaL_checkstack(L, (int)lua_tointeger(L, 2), "no room");
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}
static int raise_with(lua_State *L) { return scoped(L, raise_inside); }

static int call_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    take_all(L, refs);
    if (rrc_lua_call(heap, refs[0], (size_t)lua_gettop(L) - 1, refs + 1) != 0)
        rrc_lua_raise(L, heap);
    return 0;
}
static int call(lua_State *L)
{
    rrc_lua_check_callback(L, 1);
    return scoped(L, call_with);
}

/* Height, callback, arguments: a call on a stack of this height, at least. Are the other values there then as before? */
static int call_from_with(lua_State *L, rrc_object **refs)
{
    rrc_heap *heap = rrc_lua_heap(L);
    int height = (int)luaL_checkinteger(L, 1), n = lua_gettop(L), i;
    take_all(L, refs);
    luaL_checkstack(L, height > n ? height + 2 - n : 2, "no room");     /* 2: for lua_cpcall, and not for what is called */
    for (i = n + 1; i <= height; i++)
        lua_pushinteger(L, i);
    if (rrc_lua_call(heap, refs[1], (size_t)n - 2, refs + 2) != 0)
        rrc_lua_raise(L, heap);
    for (i = n + 1; i <= height && lua_tointeger(L, i) == i; i++)
        ;
    lua_pushboolean(L, i > height && lua_gettop(L) == i - 1);
    return 1;
}
static int call_from(lua_State *L) { return scoped(L, call_from_with); }

static const luaL_Reg thing_methods[] = { { "poke", do_nothing }, { "raise_with", raise_with }, { NULL, NULL } };
static const rrc_lua_property thing_properties[] = { { "text", get_text, set_text }, { "nothing", get_nothing, NULL },
                                                     { "sink", NULL, do_nothing }, { NULL, NULL, NULL } };
static const rrc_lua_property open_properties[] = { { "more", get_text, NULL }, { NULL, NULL, NULL } };
static const rrc_lua_constant thing_constants[] = { { "LOW", -1 }, { "HIGH", 7 }, { NULL, 0 } };
static const rrc_lua_constant open_constants[] = { { "HIGH", 8 }, { NULL, 0 } };
static const luaL_Reg bag_metamethods[] = { { "__index", bag_index }, { "__newindex", bag_newindex },
                                            { "__tostring", bag_tostring }, { NULL, NULL } };

static const rrc_lua_class Thing = { .name = "Thing", .methods = thing_methods, .properties = thing_properties,
                                     .constants = thing_constants };
static const rrc_lua_class Open = { .type = &Open_type, .base = &Thing, .properties = open_properties,
                                    .constructor = new_open, .constants = open_constants };
static const rrc_lua_class Strict = { .type = &Strict_type, .base = &Thing, .constructor = new_strict, .is_strict = 1 };
static const rrc_lua_class StrictChild = { .type = &StrictChild_type, .base = &Strict };
static const rrc_lua_class Bag = { .type = &Bag_type, .base = &Thing, .metamethods = bag_metamethods,
                                   .constructor = new_bag };
static const rrc_lua_class StrictBag = { .type = &StrictBag_type, .base = &Bag, .constructor = new_strict_bag,
                                         .is_strict = 1 };

int luaopen_classes(lua_State *L)
{
    static const rrc_lua_class *const classes[] = { &Thing, &Open, &Strict, &StrictChild, &Bag, &StrictBag, &Record,
                                                    &RecordChild, NULL };
    static const luaL_Reg functions[] = { { "pairs", rrc_lua_pairs }, { "learn_wrong", learn_wrong },
                                          { "child", new_child }, { "send", send },
                                          { "result", result }, { "results", results }, { "call", call },
                                          { "call_from", call_from },
                                          { "text_of", text_of }, { "is_same_key", is_same_key }, { "peek", peek },
                                          { "hold_key", hold_key }, { "raise_with", raise_with }, { NULL, NULL } };
    rrc_lua_module(L, classes, functions);
    lua_pushboolean(L, sizeof(lua_Integer) >= 8);
    lua_setfield(L, -2, "has_long");
    return 1;
}
