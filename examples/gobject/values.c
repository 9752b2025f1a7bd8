/* values.c - GValue and GVariant to Lua, and back.
 *
 *   Lua                          GLib
 *   boolean, number, string      gboolean, all numbers, gchararray; numbers must fit
 *   text                         an enum: its short name (a number is taken, too)
 *   { name = true, ... }         flags: the short names of those that are set (a text or a number is taken, too)
 *   object                       GObject, and interfaces
 *   class or text                GType
 *   list of texts                GStrv
 *   value                        GVariant: numbers, texts, booleans; arrays, tuples and dictionaries are tables
 *   text                         GVariantType, and the name of a GParamSpec
 *   userdata                     all other boxed types, with the methods that their descriptions have
 */
#include "gobject.h"

#include <math.h>
#include <string.h>

#define VALUES "gobject.values"
#define BOXED "gobject.boxed"
#define VARIANT "gobject.variant"

/* ---- userdata with a metatable in the registry ---- */

static void set_metatable(lua_State *L, const char *name, lua_CFunction gc, lua_CFunction tostring)
{
    if (luaL_newmetatable(L, name)) {
        lua_pushcfunction(L, gc);
        lua_setfield(L, -2, "__gc");
        lua_pushcfunction(L, tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushstring(L, name);
        lua_setfield(L, -2, "__name");
    }
    lua_setmetatable(L, -2);
}

static void *test_userdata(lua_State *L, int index, const char *name)
{
    void *result = NULL;
    if (lua_type(L, index) == LUA_TUSERDATA && lua_getmetatable(L, index)) {
        luaL_getmetatable(L, name);
        if (lua_rawequal(L, -1, -2))
            result = lua_touserdata(L, index);
        lua_pop(L, 2);
    }
    return result;
}

/* ---- arrays of GValue ---- */

typedef struct value_array {
    guint  count;
    GValue values[1];
} value_array;

void go_free_values(GValue *values, guint n)
{
    for (; n > 0; n--, values++)
        if (G_IS_VALUE(values))
            g_value_unset(values);
}

static int values_gc(lua_State *L)
{
    value_array *array = (value_array *)lua_touserdata(L, 1);
    go_free_values(array->values, array->count);
    return 0;
}

GValue *go_new_values(lua_State *L, guint n)
{
    value_array *array = (value_array *)lua_newuserdata(L, sizeof *array + n * sizeof(GValue));
    memset(array, 0, sizeof *array + n * sizeof(GValue));
    array->count = n;
    set_metatable(L, VALUES, values_gc, values_gc);
    return array->values;
}

/* ---- messages ---- */

int go_bad_value(lua_State *L, int index, const char *what, const char *expected)
{
    const GObject *object = go_test(L, index);
    const char *got = object != NULL ? G_OBJECT_TYPE_NAME(object) : luaL_typename(L, index);
    if (lua_type(L, index) == LUA_TNUMBER || lua_type(L, index) == LUA_TSTRING) {
        lua_pushvalue(L, index);
        got = lua_tostring(L, -1);
    }
    return go_error(L, "bad value for %s (%s expected, got %s)", what, expected, got);
}

/* ---- numbers ---- */

static void push_int64(lua_State *L, gint64 number)
{
#if LUA_VERSION_NUM >= 503
    lua_pushinteger(L, number);
#else
    lua_pushnumber(L, (lua_Number)number);
#endif
}

static void push_uint64(lua_State *L, guint64 number)
{
    if (number <= G_MAXINT64)
        push_int64(L, (gint64)number);
    else
        lua_pushnumber(L, (lua_Number)number);
}

/* A whole number from min to max; as a gint64, if it is negative. */
guint64 go_to_integer(lua_State *L, int index, gint64 min, guint64 max, const char *what)
{
    char expected[80];
    lua_Number number = lua_tonumber(L, index);
    if (lua_type(L, index) == LUA_TNUMBER) {
#if LUA_VERSION_NUM >= 503
        lua_Integer integer = lua_tointeger(L, index);
        if (lua_isinteger(L, index) && (integer < 0 ? integer >= min : (guint64)integer <= max))
            return (guint64)integer;
        if (!lua_isinteger(L, index))
#endif
        if (number == floor(number) && number >= -9223372036854775808.0 && number < 18446744073709551616.0) {
            if (number < 0 && (gint64)number >= min)
                return (guint64)(gint64)number;
            if (number >= 0 && (guint64)number <= max)
                return (guint64)number;
        }
    }
    g_snprintf(expected, sizeof expected, "integer from %" G_GINT64_FORMAT " to %" G_GUINT64_FORMAT, min, max);
    go_bad_value(L, index, what, expected);
    return 0;
}

lua_Number go_to_number(lua_State *L, int index, const char *what)
{
    if (lua_type(L, index) != LUA_TNUMBER)
        go_bad_value(L, index, what, "number");
    return lua_tonumber(L, index);
}

gboolean go_to_boolean(lua_State *L, int index, const char *what)
{
    if (lua_type(L, index) != LUA_TBOOLEAN)
        go_bad_value(L, index, what, "boolean");
    return lua_toboolean(L, index);
}

/* NULL for nil. GLib's strings have no zeros inside. */
const char *go_to_string(lua_State *L, int index, const char *what)
{
    size_t size;
    const char *text;
    if (lua_isnil(L, index))
        return NULL;
    if (lua_type(L, index) != LUA_TSTRING)
        go_bad_value(L, index, what, "string");
    text = lua_tolstring(L, index, &size);
    if (strlen(text) != size)
        go_bad_value(L, index, what, "string without zeros");
    return text;
}

/* ---- GVariant ---- */

static int variant_gc(lua_State *L)
{
    GVariant **place = (GVariant **)lua_touserdata(L, 1);
    if (*place != NULL)
        g_variant_unref(*place);
    *place = NULL;
    return 0;
}

static int variant_tostring(lua_State *L)
{
    gchar *text = g_variant_print(*(GVariant **)luaL_checkudata(L, 1, VARIANT), TRUE);
    lua_pushstring(L, text);
    g_free(text);
    return 1;
}

/* Push a userdata for one reference to a GVariant. */
static GVariant **new_variant_place(lua_State *L)
{
    GVariant **place = (GVariant **)lua_newuserdata(L, sizeof *place);
    *place = NULL;
    set_metatable(L, VARIANT, variant_gc, variant_tostring);
    return place;
}

/* Replace the userdata on top, which has this place, by the value of the GVariant. */
static void push_kept(lua_State *L, GVariant **place)
{
    go_push_variant(L, *place);
    if (*place != NULL)
        g_variant_unref(*place);
    *place = NULL;
    lua_remove(L, -2);
}

/* A table: the list of an array or tuple, or the pairs of a dictionary. */
static void push_children(lua_State *L, GVariant *variant)
{
    gsize i, n = g_variant_n_children(variant);
    gboolean is_dictionary = g_variant_is_of_type(variant, G_VARIANT_TYPE_DICTIONARY);
    lua_newtable(L);
    for (i = 0; i < n; i++) {
        GVariant **place = new_variant_place(L), **value;
        *place = g_variant_get_child_value(variant, i);
        if (is_dictionary) {
            GVariant **key = new_variant_place(L);
            *key = g_variant_get_child_value(*place, 0);
            push_kept(L, key);
            value = new_variant_place(L);
            *value = g_variant_get_child_value(*place, 1);
            push_kept(L, value);
            lua_rawset(L, -4);
            g_variant_unref(*place);
            *place = NULL;
            lua_pop(L, 1);
        } else {
            push_kept(L, place);
            lua_rawseti(L, -2, (int)i + 1);
        }
    }
}

void go_push_variant(lua_State *L, GVariant *variant)
{
    GVariant **place;
    luaL_checkstack(L, 8, "too deep a GVariant");
    if (variant == NULL) {
        lua_pushnil(L);
        return;
    }
    switch (g_variant_classify(variant)) {
    case G_VARIANT_CLASS_BOOLEAN:       lua_pushboolean(L, g_variant_get_boolean(variant));                 break;
    case G_VARIANT_CLASS_BYTE:          push_int64(L, g_variant_get_byte(variant));                         break;
    case G_VARIANT_CLASS_INT16:         push_int64(L, g_variant_get_int16(variant));                        break;
    case G_VARIANT_CLASS_UINT16:        push_int64(L, g_variant_get_uint16(variant));                       break;
    case G_VARIANT_CLASS_INT32:         push_int64(L, g_variant_get_int32(variant));                        break;
    case G_VARIANT_CLASS_UINT32:        push_int64(L, g_variant_get_uint32(variant));                       break;
    case G_VARIANT_CLASS_INT64:         push_int64(L, g_variant_get_int64(variant));                        break;
    case G_VARIANT_CLASS_UINT64:        push_uint64(L, g_variant_get_uint64(variant));                      break;
    case G_VARIANT_CLASS_HANDLE:        push_int64(L, g_variant_get_handle(variant));                       break;
    case G_VARIANT_CLASS_DOUBLE:        lua_pushnumber(L, g_variant_get_double(variant));                   break;
    case G_VARIANT_CLASS_STRING:
    case G_VARIANT_CLASS_OBJECT_PATH:
    case G_VARIANT_CLASS_SIGNATURE:     lua_pushstring(L, g_variant_get_string(variant, NULL));             break;
    case G_VARIANT_CLASS_VARIANT:
        place = new_variant_place(L);
        *place = g_variant_get_variant(variant);
        push_kept(L, place);
        break;
    case G_VARIANT_CLASS_MAYBE:
        place = new_variant_place(L);
        *place = g_variant_get_maybe(variant);
        push_kept(L, place);
        break;
    default:
        push_children(L, variant);
    }
}

/* The type of a plain value. */
static const GVariantType *natural_type(lua_State *L, int index, const char *what)
{
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:  return G_VARIANT_TYPE_BOOLEAN;
    case LUA_TSTRING:   return G_VARIANT_TYPE_STRING;
    case LUA_TNUMBER:
#if LUA_VERSION_NUM >= 503
        return lua_isinteger(L, index) ? G_VARIANT_TYPE_INT64 : G_VARIANT_TYPE_DOUBLE;
#else
        return G_VARIANT_TYPE_DOUBLE;
#endif
    default:
        go_bad_value(L, index, what, "boolean, number, string or G.variant(type, value)");
        return NULL;
    }
}

/* The items are kept by the table of their userdata until the array is made: an error leaves none behind. */
static GVariant *to_array(lua_State *L, int index, const GVariantType *type, const char *what)
{
    GVariant *result, **items;
    gsize i, n;
    if (lua_type(L, index) != LUA_TTABLE)
        go_bad_value(L, index, what, "table");
    n = (gsize)go_length(L, index);
    items = (GVariant **)lua_newuserdata(L, (n + 1) * sizeof *items);
    lua_createtable(L, (int)n, 0);
    for (i = 0; i < n; i++) {
        GVariant **place = new_variant_place(L);
        lua_rawseti(L, -2, (int)i + 1);
        lua_rawgeti(L, index, (int)i + 1);
        *place = items[i] = g_variant_ref_sink(go_to_variant(L, lua_gettop(L), g_variant_type_element(type), what));
        lua_pop(L, 1);
    }
    result = g_variant_new_array(g_variant_type_element(type), items, n);
    lua_pop(L, 2);
    return result;
}

/* A GVariant that is kept, as those above: by the table on top, at place i from 1, until the whole is made. */
static GVariant *keep_variant(lua_State *L, int i, int index, const GVariantType *type, const char *what)
{
    GVariant **place = new_variant_place(L);
    lua_rawseti(L, -2, i);
    lua_pushvalue(L, index);
    *place = g_variant_ref_sink(go_to_variant(L, lua_gettop(L), type, what));
    lua_pop(L, 1);
    return *place;
}

/* A list with a value for each place. (Only nil can be missing.) */
static GVariant *to_tuple(lua_State *L, int index, const GVariantType *type, const char *what)
{
    gsize n = g_variant_type_n_items(type), i;
    const GVariantType *item = g_variant_type_first(type);
    GVariant *result, **items;
    if (lua_type(L, index) != LUA_TTABLE || go_length(L, index) > n)
        go_bad_value(L, index, what, lua_pushfstring(L, "table of %d values", (int)n));
    items = (GVariant **)lua_newuserdata(L, (n + 1) * sizeof *items);
    lua_newtable(L);
    for (i = 0; i < n; i++, item = g_variant_type_next(item)) {
        lua_rawgeti(L, index, (int)i + 1);
        lua_insert(L, -2);
        items[i] = keep_variant(L, (int)i + 1, lua_gettop(L) - 1, item, what);
        lua_remove(L, -2);
    }
    result = g_variant_new_tuple(items, n);
    lua_pop(L, 2);
    return result;
}

static GVariant *to_dictionary(lua_State *L, int index, const GVariantType *type, const char *what)
{
    const GVariantType *pair = g_variant_type_element(type);
    GVariant *result, **entries;
    int n = 0, i = 0, list;
    if (lua_type(L, index) != LUA_TTABLE)
        go_bad_value(L, index, what, "table");
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        n++;
    entries = (GVariant **)lua_newuserdata(L, ((gsize)n + 1) * sizeof *entries);
    lua_newtable(L);
    list = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, index); i++) {
        int key = lua_gettop(L) - 1;
        GVariant **place, *first, *second;
        lua_pushvalue(L, list);
        first = keep_variant(L, 2 * n + 1, key, g_variant_type_key(pair), what);
        second = keep_variant(L, 2 * n + 2, key + 1, g_variant_type_value(pair), what);
        place = new_variant_place(L);
        *place = entries[i] = g_variant_ref_sink(g_variant_new_dict_entry(first, second));
        lua_rawseti(L, -2, i + 1);
        lua_settop(L, key);
    }
    result = g_variant_new_array(pair, entries, (gsize)n);
    lua_settop(L, list - 2);
    return result;
}

static GVariant *to_maybe(lua_State *L, int index, const GVariantType *type, const char *what)
{
    const GVariantType *inner = g_variant_type_element(type);
    return g_variant_new_maybe(inner, lua_isnil(L, index) ? NULL : go_to_variant(L, index, inner, what));
}

static const char *check_variant_text(lua_State *L, int index, const char *what, gboolean (*is_valid)(const gchar *))
{
    const char *text = go_to_string(L, index, what);
    if (text == NULL || !is_valid(text))
        go_bad_value(L, index, what, is_valid == g_variant_is_signature ? "signature" : "path of an object");
    return text;
}

GVariant *go_to_variant(lua_State *L, int index, const GVariantType *type, const char *what)
{
    GVariant **place = (GVariant **)test_userdata(L, index, VARIANT);
    const char *text;
    luaL_checkstack(L, 8, "too deep a table for a GVariant");
    if (place != NULL) {
        if (type != NULL && g_variant_type_equal(type, G_VARIANT_TYPE_VARIANT) && !g_variant_is_of_type(*place, type))
            return g_variant_new_variant(*place);
        if (type != NULL && !g_variant_is_of_type(*place, type))
            go_bad_value(L, index, what, g_variant_type_peek_string(type));
        return *place;                  /* not floating: who takes it refs it */
    }
    if (type == NULL || g_variant_type_equal(type, G_VARIANT_TYPE_ANY))
        type = natural_type(L, index, what);
    switch (*g_variant_type_peek_string(type)) {
    case 'b': return g_variant_new_boolean(go_to_boolean(L, index, what));
    case 'y': return g_variant_new_byte((guint8)go_to_integer(L, index, 0, G_MAXUINT8, what));
    case 'n': return g_variant_new_int16((gint16)go_to_integer(L, index, G_MININT16, G_MAXINT16, what));
    case 'q': return g_variant_new_uint16((guint16)go_to_integer(L, index, 0, G_MAXUINT16, what));
    case 'i': return g_variant_new_int32((gint32)go_to_integer(L, index, G_MININT32, G_MAXINT32, what));
    case 'u': return g_variant_new_uint32((guint32)go_to_integer(L, index, 0, G_MAXUINT32, what));
    case 'x': return g_variant_new_int64((gint64)go_to_integer(L, index, G_MININT64, G_MAXINT64, what));
    case 't': return g_variant_new_uint64(go_to_integer(L, index, 0, G_MAXUINT64, what));
    case 'd': return g_variant_new_double(go_to_number(L, index, what));
    case 'o': return g_variant_new_object_path(check_variant_text(L, index, what, g_variant_is_object_path));
    case 'g': return g_variant_new_signature(check_variant_text(L, index, what, g_variant_is_signature));
    case 'v': return g_variant_new_variant(go_to_variant(L, index, NULL, what));
    case 's':
        text = go_to_string(L, index, what);
        return text != NULL ? g_variant_new_string(text) : (go_bad_value(L, index, what, "string"), NULL);
    case 'a':
        return g_variant_type_is_dict_entry(g_variant_type_element(type)) ? to_dictionary(L, index, type, what)
                                                                          : to_array(L, index, type, what);
    case '(': return to_tuple(L, index, type, what);
    case 'm': return to_maybe(L, index, type, what);
    default:
        go_error(L, "no value of Lua can become a GVariant of type %s", g_variant_type_peek_string(type));
        return NULL;
    }
}

int go_new_variant(lua_State *L)
{
    const char *type = luaL_checkstring(L, 1);
    GVariant **place;
    luaL_argcheck(L, g_variant_type_string_is_valid(type) && g_variant_type_is_definite((const GVariantType *)type), 1,
                  "not the type of a GVariant");
    place = new_variant_place(L);
    *place = g_variant_ref_sink(go_to_variant(L, 2, (const GVariantType *)type, "a GVariant"));
    return 1;
}

/* ---- enums, flags ---- */

static void push_enum(lua_State *L, const GValue *value)
{
    GEnumClass *cls = (GEnumClass *)g_type_class_ref(G_VALUE_TYPE(value));
    const GEnumValue *found = g_enum_get_value(cls, g_value_get_enum(value));
    if (found != NULL)
        lua_pushstring(L, found->value_nick);
    else
        lua_pushinteger(L, g_value_get_enum(value));
    g_type_class_unref(cls);
}

static gint to_enum(lua_State *L, int index, GType type, const char *what)
{
    GEnumClass *cls = (GEnumClass *)g_type_class_ref(type);     /* (such classes are static: they stay) */
    const GEnumValue *found;
    g_type_class_unref(cls);
    if (lua_type(L, index) != LUA_TSTRING)
        return (gint)go_to_integer(L, index, G_MININT, G_MAXINT, what);
    found = g_enum_get_value_by_nick(cls, lua_tostring(L, index));
    if (found == NULL)
        go_bad_value(L, index, what, g_type_name(type));
    return found->value;
}

static void push_flags(lua_State *L, const GValue *value)
{
    GFlagsClass *cls = (GFlagsClass *)g_type_class_ref(G_VALUE_TYPE(value));
    guint set = g_value_get_flags(value), i;
    lua_newtable(L);
    for (i = 0; i < cls->n_values; i++)
        if (cls->values[i].value != 0 && (set & cls->values[i].value) == cls->values[i].value) {
            lua_pushboolean(L, 1);
            lua_setfield(L, -2, cls->values[i].value_nick);
        }
    g_type_class_unref(cls);
}

static guint to_flag(lua_State *L, int index, GType type, const char *what)
{
    GFlagsClass *cls = (GFlagsClass *)g_type_class_ref(type);
    const GFlagsValue *found;
    g_type_class_unref(cls);
    if (lua_type(L, index) != LUA_TSTRING)
        return (guint)go_to_integer(L, index, 0, G_MAXUINT, what);
    found = g_flags_get_value_by_nick(cls, lua_tostring(L, index));
    if (found == NULL)
        go_bad_value(L, index, what, g_type_name(type));
    return found->value;
}

static guint to_flags(lua_State *L, int index, GType type, const char *what)
{
    guint result = 0;
    if (lua_type(L, index) != LUA_TTABLE)
        return to_flag(L, index, type, what);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_toboolean(L, -1))
            result |= to_flag(L, lua_gettop(L) - 1, type, what);
        lua_pop(L, 1);
    }
    return result;
}

/* ---- boxed types ---- */

typedef struct boxed {
    GType    type;
    gpointer pointer;
} boxed;

static int boxed_gc(lua_State *L)
{
    boxed *b = (boxed *)lua_touserdata(L, 1);
    if (b->pointer != NULL)
        g_boxed_free(b->type, b->pointer);
    b->pointer = NULL;
    return 0;
}

static int boxed_tostring(lua_State *L)
{
    const boxed *b = (const boxed *)luaL_checkudata(L, 1, BOXED);
    lua_pushfstring(L, "%s: %p", g_type_name(b->type), b->pointer);
    return 1;
}

gpointer go_test_boxed(lua_State *L, int index, GType type)
{
    const boxed *b = (const boxed *)test_userdata(L, index, BOXED);
    return b != NULL && g_type_is_a(b->type, type) ? b->pointer : NULL;
}

static int boxed_index(lua_State *L)
{
    const boxed *b = (const boxed *)luaL_checkudata(L, 1, BOXED);
    const char *name = luaL_checkstring(L, 2);
    if (go_push_method(L, b->type, name) || go_push_field(L, b->type, b->pointer, name))
        return 1;
    return go_error(L, "%s has no method or field %s%s%s", g_type_name(b->type), name,
                    go_why_no_methods() != NULL ? ": " : "", go_why_no_methods() != NULL ? go_why_no_methods() : "");
}

static int boxed_newindex(lua_State *L)
{
    const boxed *b = (const boxed *)luaL_checkudata(L, 1, BOXED);
    const char *name = luaL_checkstring(L, 2);
    lua_settop(L, 3);
    if (go_set_field(L, b->type, b->pointer, name, 3))
        return 0;
    return go_error(L, "%s has no field %s", g_type_name(b->type), name);
}

/* Push a userdata for a boxed value. */
static boxed *new_boxed(lua_State *L, GType type)
{
    boxed *b = (boxed *)lua_newuserdata(L, sizeof *b);
    b->type = type;
    b->pointer = NULL;
    set_metatable(L, BOXED, boxed_gc, boxed_tostring);
    if (lua_getmetatable(L, -1)) {
        lua_pushcfunction(L, boxed_index);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, boxed_newindex);
        lua_setfield(L, -2, "__newindex");
        lua_pop(L, 1);
    }
    return b;
}

int go_new_struct(lua_State *L, GType type, gsize size, int index)
{
    gpointer zeros = g_malloc0(size);
    boxed *b = new_boxed(L, type);
    int made = lua_gettop(L);
    b->pointer = g_boxed_copy(type, zeros);
    g_free(zeros);
    if (index != 0)
        for (lua_pushnil(L); lua_next(L, index); lua_settop(L, made + 1)) {
            if (lua_type(L, -2) != LUA_TSTRING)
                go_error(L, "a field of %s has a name, and no number", g_type_name(type));
            if (!go_set_field(L, type, b->pointer, lua_tostring(L, -2), made + 2))
                go_error(L, "%s has no field %s", g_type_name(type), lua_tostring(L, -2));
        }
    lua_settop(L, made);
    return 1;
}

static void push_boxed(lua_State *L, const GValue *value)
{
    gconstpointer pointer = g_value_get_boxed(value);
    GType type = G_VALUE_TYPE(value);
    if (pointer == NULL) {
        lua_pushnil(L);
    } else if (type == G_TYPE_STRV) {
        const gchar *const *text = (const gchar *const *)pointer;
        int i;
        lua_newtable(L);
        for (i = 0; text[i] != NULL; i++) {
            lua_pushstring(L, text[i]);
            lua_rawseti(L, -2, i + 1);
        }
    } else if (type == G_TYPE_VARIANT_TYPE) {
        const GVariantType *variant_type = (const GVariantType *)pointer;
        lua_pushlstring(L, g_variant_type_peek_string(variant_type), g_variant_type_get_string_length(variant_type));
    } else {
        new_boxed(L, type)->pointer = g_boxed_copy(type, pointer);
    }
}

static void to_strv(lua_State *L, int index, GValue *value, const char *what)
{
    gsize i, n = (gsize)go_length(L, index);
    const char **texts = (const char **)lua_newuserdata(L, (n + 1) * sizeof *texts);
    for (i = 0; i < n; i++) {
        lua_rawgeti(L, index, (int)i + 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            go_bad_value(L, index, what, "list of strings");
        texts[i] = lua_tostring(L, -1);         /* the list keeps it */
        lua_pop(L, 1);
    }
    texts[n] = NULL;
    g_value_set_boxed(value, texts);
    lua_pop(L, 1);
}

static void to_boxed(lua_State *L, int index, GValue *value, const char *what)
{
    GType type = G_VALUE_TYPE(value);
    gpointer pointer = go_test_boxed(L, index, type);
    if (lua_isnil(L, index)) {
        g_value_set_boxed(value, NULL);
    } else if (type == G_TYPE_STRV && lua_istable(L, index)) {
        to_strv(L, index, value, what);
    } else if (type == G_TYPE_VARIANT_TYPE && lua_type(L, index) == LUA_TSTRING) {
        if (!g_variant_type_string_is_valid(lua_tostring(L, index)))
            go_bad_value(L, index, what, "type of a GVariant");
        g_value_set_boxed(value, lua_tostring(L, index));
    } else if (pointer != NULL) {
        g_value_set_boxed(value, pointer);
    } else {
        go_bad_value(L, index, what, g_type_name(type));
    }
}

/* ---- GValue ---- */

static void push_type(lua_State *L, GType type)
{
    if (type == G_TYPE_INVALID || type == G_TYPE_NONE)
        lua_pushnil(L);
    else
        go_push_class(L, type);
}

void go_push_value(lua_State *L, const GValue *value)
{
    GType type = G_VALUE_TYPE(value);
    if (G_VALUE_HOLDS_OBJECT(value)) {          /* an interface, too */
        go_push(L, (GObject *)g_value_get_object(value));
        return;
    }
    if (type == G_TYPE_GTYPE) {
        push_type(L, g_value_get_gtype(value));
        return;
    }
    switch (G_TYPE_FUNDAMENTAL(type)) {
    case G_TYPE_BOOLEAN:    lua_pushboolean(L, g_value_get_boolean(value));                             break;
    case G_TYPE_CHAR:       push_int64(L, g_value_get_schar(value));                                    break;
    case G_TYPE_UCHAR:      push_int64(L, g_value_get_uchar(value));                                    break;
    case G_TYPE_INT:        push_int64(L, g_value_get_int(value));                                      break;
    case G_TYPE_UINT:       push_int64(L, g_value_get_uint(value));                                     break;
    case G_TYPE_LONG:       push_int64(L, g_value_get_long(value));                                     break;
    case G_TYPE_ULONG:      push_uint64(L, g_value_get_ulong(value));                                   break;
    case G_TYPE_INT64:      push_int64(L, g_value_get_int64(value));                                    break;
    case G_TYPE_UINT64:     push_uint64(L, g_value_get_uint64(value));                                  break;
    case G_TYPE_FLOAT:      lua_pushnumber(L, (lua_Number)g_value_get_float(value));                    break;
    case G_TYPE_DOUBLE:     lua_pushnumber(L, g_value_get_double(value));                               break;
    case G_TYPE_STRING:     lua_pushstring(L, g_value_get_string(value));                               break;
    case G_TYPE_ENUM:       push_enum(L, value);                                                        break;
    case G_TYPE_FLAGS:      push_flags(L, value);                                                       break;
    case G_TYPE_BOXED:      push_boxed(L, value);                                                       break;
    case G_TYPE_VARIANT:    go_push_variant(L, g_value_get_variant(value));                             break;
    case G_TYPE_PARAM:
        lua_pushstring(L, g_value_get_param(value) != NULL ? g_value_get_param(value)->name : NULL);
        break;
    default:
        go_error(L, "%s cannot be a value of Lua", G_VALUE_TYPE_NAME(value));
    }
}

static void to_object(lua_State *L, int index, GValue *value, const char *what)
{
    GObject *object = go_test(L, index);
    if (!lua_isnil(L, index) && (object == NULL || !g_type_is_a(G_OBJECT_TYPE(object), G_VALUE_TYPE(value))))
        go_bad_value(L, index, what, G_VALUE_TYPE_NAME(value));
    g_value_set_object(value, object);
}

void go_to_value(lua_State *L, int index, GValue *value, const char *what)
{
    GType type = G_VALUE_TYPE(value);
    if (index < 0)
        index = lua_gettop(L) + index + 1;
    luaL_checkstack(L, 8, NULL);
    if (G_VALUE_HOLDS_OBJECT(value)) {
        to_object(L, index, value, what);
        return;
    }
    if (type == G_TYPE_GTYPE) {
        if (go_type_at(L, index) == 0)
            go_bad_value(L, index, what, "a class, or the name of a type,");
        g_value_set_gtype(value, go_type_at(L, index));
        return;
    }
    switch (G_TYPE_FUNDAMENTAL(type)) {
    case G_TYPE_BOOLEAN: g_value_set_boolean(value, go_to_boolean(L, index, what));                                  break;
    case G_TYPE_CHAR:    g_value_set_schar(value, (gint8)go_to_integer(L, index, G_MININT8, G_MAXINT8, what));       break;
    case G_TYPE_UCHAR:   g_value_set_uchar(value, (guchar)go_to_integer(L, index, 0, G_MAXUINT8, what));             break;
    case G_TYPE_INT:     g_value_set_int(value, (gint)go_to_integer(L, index, G_MININT, G_MAXINT, what));            break;
    case G_TYPE_UINT:    g_value_set_uint(value, (guint)go_to_integer(L, index, 0, G_MAXUINT, what));                break;
    case G_TYPE_LONG:    g_value_set_long(value, (glong)go_to_integer(L, index, G_MINLONG, G_MAXLONG, what));        break;
    case G_TYPE_ULONG:   g_value_set_ulong(value, (gulong)go_to_integer(L, index, 0, G_MAXULONG, what));             break;
    case G_TYPE_INT64:   g_value_set_int64(value, (gint64)go_to_integer(L, index, G_MININT64, G_MAXINT64, what));    break;
    case G_TYPE_UINT64:  g_value_set_uint64(value, go_to_integer(L, index, 0, G_MAXUINT64, what));                   break;
    case G_TYPE_FLOAT:   g_value_set_float(value, (gfloat)go_to_number(L, index, what));                             break;
    case G_TYPE_DOUBLE:  g_value_set_double(value, go_to_number(L, index, what));                                    break;
    case G_TYPE_STRING:  g_value_set_string(value, go_to_string(L, index, what));                                    break;
    case G_TYPE_ENUM:    g_value_set_enum(value, to_enum(L, index, type, what));                                  break;
    case G_TYPE_FLAGS:   g_value_set_flags(value, to_flags(L, index, type, what));                                break;
    case G_TYPE_BOXED:   to_boxed(L, index, value, what);                                                         break;
    case G_TYPE_VARIANT:
        g_value_set_variant(value, lua_isnil(L, index) ? NULL : go_to_variant(L, index, NULL, what));
        break;
    default:
        go_error(L, "%s cannot be made of a value of Lua", G_VALUE_TYPE_NAME(value));
    }
}
