/* subclass.c - types that scripts define: G.subclass(name, parent, definition).
 *
 * The type is registered with GObject for good, under a name that the process must not have yet. So C makes and uses
 * its objects like any others, as long as the Lua state lives that has defined it. After that they have their
 * properties' default values, and no methods.
 *
 * The values of its properties are in the wrapper of the object. So wrapper_traverse knows each reference of them.
 */
#include "gobject.h"

#include <string.h>

/* What GObject has to know of a type of a script. */
typedef struct script_type {
    rrc_heap   *heap;
    rrc_object *table;          /* the class: this reference, which stays, keeps heap valid after the state is closed */
    GType       type;
    guint       first, count;   /* its properties, in the values of a wrapper */
    GParamSpec **properties;
} script_type;

static GQuark script_quark(void)
{
    return g_quark_from_static_string("rawrefcount-script-type");
}

static script_type *script_of(GType type)
{
    return (script_type *)g_type_get_qdata(type, script_quark());
}

GType go_native_type(GType type)
{
    while (script_of(type) != NULL)
        type = g_type_parent(type);
    return type;
}

/* ---- properties ---- */

/* Where the value of a property is, or NULL: its state is closed, or the script has closed the object. */
static GValue *find_value(GObject *object, guint id, const GParamSpec *property)
{
    const script_type *script = script_of(property->owner_type);
    const go_wrapper *wrapper = go_find(script->heap, object);
    guint i = script->first + id - 1;
    return wrapper != NULL && i < wrapper->value_count ? &wrapper->values[i] : NULL;
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *property)
{
    const GValue *stored = find_value(object, id, property);
    if (stored != NULL)
        g_value_copy(stored, value);
    else
        g_param_value_set_default(property, value);
}

/* What the old value held can run any code when it goes: the new one is there before. */
static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *property)
{
    GValue *stored = find_value(object, id, property), old;
    if (stored == NULL)
        return;
    old = *stored;
    memset(stored, 0, sizeof *stored);
    g_value_copy(value, g_value_init(stored, property->value_type));
    g_value_unset(&old);
}

/* ---- instances ---- */

/* Each level of types calls this for its own properties. The first makes the wrapper; its reference is given to Lua
   by `constructed`. */
static void init_instance(GTypeInstance *instance, gpointer cls)
{
    GObject *object = G_OBJECT(instance);
    const script_type *script = script_of(G_OBJECT_TYPE(object));   /* of the level, while it is initialized */
    go_wrapper *wrapper;
    guint i;
    (void)cls;
    if (rrc_lua_state(script->heap) == NULL)
        return;
    wrapper = go_find(script->heap, object);
    if (wrapper == NULL)
        wrapper = go_wrap_new(script->heap, object);
    if (wrapper == NULL)
        g_error("not enough memory for %s", G_OBJECT_TYPE_NAME(object));
    wrapper->values = g_renew(GValue, wrapper->values, script->first + script->count);
    for (i = 0; i < script->count; i++) {
        GValue *value = &wrapper->values[script->first + i];
        memset(value, 0, sizeof *value);
        g_param_value_set_default(script->properties[i], g_value_init(value, script->properties[i]->value_type));
    }
    wrapper->value_count = script->first + script->count;
}

/* Make the Lua object of a new instance, which lives as long as that, and call init(self). */
static int call_init(lua_State *L)
{
    go_wrapper **place = (go_wrapper **)lua_touserdata(L, 1), *wrapper = *place;
    *place = NULL;
    rrc_lua_give(L, wrapper->heap, &wrapper->head);
    go_push_member(L, G_OBJECT_TYPE(wrapper->object), "init");
    if (!lua_isnil(L, -1)) {
        lua_pushvalue(L, -2);
        lua_call(L, 1, 0);
    }
    return 0;
}

static void constructed(GObject *object)
{
    GType native = go_native_type(G_OBJECT_TYPE(object));
    rrc_heap *heap = script_of(G_OBJECT_TYPE(object))->heap;
    go_wrapper *wrapper = go_find(heap, object);
    G_OBJECT_CLASS(g_type_class_peek(native))->constructed(object);
    if (wrapper == NULL)
        return;
    go_call(heap, call_init, &wrapper);
    if (wrapper != NULL)
        rrc_decref(heap, &wrapper->head);       /* the state is closed by now */
}

/* ---- definitions ---- */

/* The definition of a type while it is read: names are kept by the table of the script, all else by a userdata. */
typedef struct member {
    const char *name;
    GType       type;                   /* of a property; the result of a signal */
    guint       count;                  /* of a signal's arguments */
    GType       arguments[10];
} member;

typedef struct definition {
    script_type  *script;
    const member *properties, *signals;
    guint         property_count, signal_count;
} definition;

static GParamSpec *new_property(const member *m)
{
    const GParamFlags flags = (GParamFlags)(G_PARAM_READWRITE | G_PARAM_CONSTRUCT);     /* set before init(self) */
    const char *name = m->name;
    GEnumClass *values;
    switch (G_TYPE_FUNDAMENTAL(m->type)) {
    case G_TYPE_BOOLEAN: return g_param_spec_boolean(name, NULL, NULL, FALSE, flags);
    case G_TYPE_INT:     return g_param_spec_int(name, NULL, NULL, G_MININT, G_MAXINT, 0, flags);
    case G_TYPE_UINT:    return g_param_spec_uint(name, NULL, NULL, 0, G_MAXUINT, 0, flags);
    case G_TYPE_INT64:   return g_param_spec_int64(name, NULL, NULL, G_MININT64, G_MAXINT64, 0, flags);
    case G_TYPE_UINT64:  return g_param_spec_uint64(name, NULL, NULL, 0, G_MAXUINT64, 0, flags);
    case G_TYPE_FLOAT:   return g_param_spec_float(name, NULL, NULL, -G_MAXFLOAT, G_MAXFLOAT, 0, flags);
    case G_TYPE_DOUBLE:  return g_param_spec_double(name, NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);
    case G_TYPE_STRING:  return g_param_spec_string(name, NULL, NULL, NULL, flags);
    case G_TYPE_BOXED:   return g_param_spec_boxed(name, NULL, NULL, m->type, flags);
    case G_TYPE_VARIANT: return g_param_spec_variant(name, NULL, NULL, G_VARIANT_TYPE_ANY, NULL, flags);
    case G_TYPE_FLAGS:   return g_param_spec_flags(name, NULL, NULL, m->type, 0, flags);
    case G_TYPE_ENUM:
        values = (GEnumClass *)g_type_class_ref(m->type);
        return g_param_spec_enum(name, NULL, NULL, m->type, values->values[0].value, flags);
    default:             return g_param_spec_object(name, NULL, NULL, m->type, flags);
    }
}

static void init_class(gpointer cls, gpointer data)
{
    const definition *d = (const definition *)data;
    GObjectClass *object_class = G_OBJECT_CLASS(cls);
    GType type = G_TYPE_FROM_CLASS(cls);
    guint i;
    object_class->get_property = get_property;
    object_class->set_property = set_property;
    object_class->constructed = constructed;
    for (i = 0; i < d->property_count; i++) {
        d->script->properties[i] = new_property(&d->properties[i]);
        g_object_class_install_property(object_class, i + 1, d->script->properties[i]);
    }
    for (i = 0; i < d->signal_count; i++)
        g_signal_newv(d->signals[i].name, type, G_SIGNAL_RUN_LAST, NULL, NULL, NULL, NULL, d->signals[i].type,
                      d->signals[i].count, (GType *)d->signals[i].arguments);
}

/* The type that a definition names: a class, the name of a type, or "string", "int", "boolean" ... */
static GType check_value_type(lua_State *L, int index, const char *name)
{
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    GType type = 0;
    if (g_strcmp0(text, "string") == 0)
        type = G_TYPE_STRING;
    else if (g_strcmp0(text, "variant") == 0)
        type = G_TYPE_VARIANT;
    else if (text != NULL)
        type = g_type_from_name(lua_pushfstring(L, "g%s", text));
    if (type == 0)
        type = go_type_at(L, index);
    if (type == 0 || !G_TYPE_IS_VALUE(type))
        go_error(L, "bad type for %s (%s)", name, text != NULL ? text : luaL_typename(L, index));
    return type;
}

static void read_property(lua_State *L, GType parent, member *m)
{
    GType fundamental;
    m->type = check_value_type(L, lua_gettop(L), m->name);
    fundamental = G_TYPE_FUNDAMENTAL(m->type);
    if (fundamental == G_TYPE_CHAR || fundamental == G_TYPE_UCHAR || fundamental == G_TYPE_LONG
        || fundamental == G_TYPE_ULONG || fundamental == G_TYPE_POINTER || fundamental == G_TYPE_PARAM)
        go_error(L, "no property can be of type %s: %s", g_type_name(m->type), m->name);
    if (!g_param_spec_is_valid_name(m->name)
        || g_object_class_find_property((GObjectClass *)g_type_class_ref(parent), m->name) != NULL)
        go_error(L, "%s cannot be the name of a new property", m->name);
}

/* { type, type ..., returns = type } */
static void read_signal(lua_State *L, GType parent, member *m)
{
    int table = lua_gettop(L);
    guint i;
    if (!g_signal_is_valid_name(m->name) || g_signal_lookup(m->name, parent) != 0)
        go_error(L, "%s cannot be the name of a new signal", m->name);
    if (!lua_istable(L, table) || go_length(L, table) > G_N_ELEMENTS(m->arguments))
        go_error(L, "bad signal %s (a list of at most %d types expected)", m->name, (int)G_N_ELEMENTS(m->arguments));
    m->count = (guint)go_length(L, table);
    for (i = 0; i < m->count; i++) {
        lua_rawgeti(L, table, (int)i + 1);
        m->arguments[i] = check_value_type(L, lua_gettop(L), m->name);
        lua_settop(L, table);
    }
    lua_getfield(L, table, "returns");
    m->type = lua_isnil(L, -1) ? G_TYPE_NONE : check_value_type(L, lua_gettop(L), m->name);
    lua_settop(L, table);
}

/* The members of the table in the definition at 3. Pushes what keeps them. */
static const member *read_members(lua_State *L, const char *name, GType parent, guint *count,
                                  void (*read)(lua_State *L, GType parent, member *m))
{
    member *members;
    guint n = 0;
    int table;
    lua_getfield(L, 3, name);
    if (lua_isnil(L, -1)) {
        lua_newtable(L);
        lua_replace(L, -2);
    }
    table = lua_gettop(L);
    if (!lua_istable(L, table))
        go_error(L, "bad %s of a type (table expected, got %s)", name, luaL_typename(L, table));
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        n++;
    members = (member *)lua_newuserdata(L, (n + 1) * sizeof *members);
    memset(members, 0, (n + 1) * sizeof *members);
    *count = n;
    n = 0;
    for (lua_pushnil(L); lua_next(L, table); n++) {
        int top = lua_gettop(L);
        if (lua_type(L, -2) != LUA_TSTRING)
            go_error(L, "bad %s of a type: a number where a name is expected", name);
        members[n].name = lua_tostring(L, -2);
        read(L, parent, &members[n]);
        lua_settop(L, top - 1);
    }
    return members;
}

/* Push the class, with all else that the definition at 3 has as its methods. */
static void push_class_with_methods(lua_State *L, GType type)
{
    go_push_class(L, type);
    for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1)) {
        if (lua_type(L, -1) != LUA_TFUNCTION)
            continue;
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, -5);
    }
}

static void check_parent(lua_State *L, GType parent, const char *name)
{
    const script_type *script = script_of(parent);
    gboolean is_final = FALSE;
#if GLIB_CHECK_VERSION(2, 70, 0)
    is_final = G_TYPE_IS_FINAL(parent);
#endif
    if (!G_TYPE_IS_OBJECT(parent) || is_final)
        go_error(L, "%s can have no subclass", g_type_name(parent));
    if (script != NULL && script->heap != rrc_lua_heap(L))
        go_error(L, "%s is a type of another Lua state", g_type_name(parent));
    if (g_type_from_name(name) != 0)
        go_error(L, "there is a type %s already", name);
    if (strlen(name) < 3 || strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_+") != strlen(name)
        || !(g_ascii_isalpha(name[0]) || name[0] == '_'))
        go_error(L, "%s cannot be the name of a type: it has three or more of A-Z a-z 0-9 - _ +, first a letter or _",
                 name);
}

int go_subclass(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    GType parent = go_check_type(L, 2), type;
    GTypeInfo info;
    GTypeQuery query;
    definition d;
    lua_settop(L, 3);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    luaL_checktype(L, 3, LUA_TTABLE);
    check_parent(L, parent, name);
    d.properties = read_members(L, "properties", parent, &d.property_count, read_property);
    d.signals = read_members(L, "signals", parent, &d.signal_count, read_signal);
    g_type_query(parent, &query);
    memset(&info, 0, sizeof info);
    info.class_size = (guint16)query.class_size;
    info.instance_size = (guint16)query.instance_size;
    info.class_init = init_class;
    info.class_data = &d;                           /* it is used now, and never again */
    info.instance_init = init_instance;
    type = g_type_register_static(parent, name, &info, 0);
    d.script = g_new0(script_type, 1);
    d.script->heap = rrc_lua_heap(L);
    d.script->type = type;
    d.script->first = script_of(parent) != NULL ? script_of(parent)->first + script_of(parent)->count : 0;
    d.script->count = d.property_count;
    d.script->properties = g_new0(GParamSpec *, d.property_count + 1);
    g_type_set_qdata(type, script_quark(), d.script);
    g_type_class_ref(type);
    push_class_with_methods(L, type);
    d.script->table = rrc_lua_ref(L, d.script->heap, -1);
    return 1;
}
