/* classes.c - the Lua module `classes`: what a class can have beside methods and properties, and values
 * that go from C to Lua and back.
 *
 *     classes.Open(text)          an object with a text; scripts can have fields in it
 *     classes.Strict(text)        the same, but strict; StrictChild is based on it, and has no constructor
 *     classes.Bag()               has properties at run time: names that begin with "x_", and numbers
 *     classes.pairs(object)       rrc_lua_pairs
 */
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"

#include <string.h>

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

static const luaL_Reg thing_methods[] = { { "poke", do_nothing }, { NULL, NULL } };
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

extern int luaopen_classes(lua_State *L);
int luaopen_classes(lua_State *L)
{
    static const rrc_lua_class *const classes[] = { &Thing, &Open, &Strict, &StrictChild, &Bag, NULL };
    static const luaL_Reg functions[] = { { "pairs", rrc_lua_pairs }, { "child", new_child }, { NULL, NULL } };
    return rrc_lua_module(L, classes, functions);
}
