/* types.c - classes, constructors, properties, methods.
 *
 * A class is a table for each GType: its methods, and those of its interfaces. It finds those of its parent by its
 * metatable. Some methods are listed in `bindings`; others are found by introspect.c. Properties and signals are
 * GObject's, by name.
 */
#include "gobject.h"

#include <gmodule.h>
#include <string.h>

#define CLASSES "gobject.classes"       /* in the registry: GType -> class */

/* ---- methods: positions are those of C, from 0 ---- */

static GObject *check_instance(lua_State *L, int arg, GType type)
{
    GObject *object = go_check(L, arg);
    if (!g_type_is_a(G_OBJECT_TYPE(object), type))
        luaL_argerror(L, arg, lua_pushfstring(L, "%s expected, got %s", g_type_name(type), G_OBJECT_TYPE_NAME(object)));
    return object;
}

static guint check_position(lua_State *L, int arg, guint limit)
{
    lua_Number position = luaL_checknumber(L, arg);
    luaL_argcheck(L, position >= 0 && position < limit && position == (lua_Number)(guint)position, arg,
                  "no position of this list");
    return (guint)position;
}

static GListModel *check_list(lua_State *L)
{
    return G_LIST_MODEL(check_instance(L, 1, G_TYPE_LIST_MODEL));
}

/* Push an item of a list, or nil behind its end. */
static int push_item(lua_State *L, GListModel *list, guint position)
{
    GObject *item = (GObject *)g_list_model_get_item(list, position);
    rrc_object *wrapper = item != NULL ? go_wrap(rrc_lua_heap(L), item) : NULL;
    if (item == NULL) {
        lua_pushnil(L);
        return 1;
    }
    g_object_unref(item);
    return rrc_lua_give(L, rrc_lua_heap(L), wrapper);
}

static int list_get_item(lua_State *L)
{
    GListModel *list = check_list(L);
    return push_item(L, list, check_position(L, 2, G_MAXUINT));
}

static int list_get_n_items(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)g_list_model_get_n_items(check_list(L)));
    return 1;
}

static GListStore *check_store(lua_State *L)
{
    return G_LIST_STORE(check_instance(L, 1, G_TYPE_LIST_STORE));
}

static int insert_item(lua_State *L, guint position, int arg)
{
    GListStore *store = check_store(L);
    GObject *item = check_instance(L, arg, g_list_model_get_item_type(G_LIST_MODEL(store)));
    go_enter(L, G_OBJECT(store));
    g_list_store_insert(store, position, item);
    return go_leave(L, G_OBJECT(store), 0);
}

static int store_append(lua_State *L)
{
    return insert_item(L, g_list_model_get_n_items(G_LIST_MODEL(check_store(L))), 2);
}

static int store_insert(lua_State *L)
{
    return insert_item(L, check_position(L, 2, g_list_model_get_n_items(G_LIST_MODEL(check_store(L))) + 1), 3);
}

static int store_remove(lua_State *L)
{
    GListStore *store = check_store(L);
    guint position = check_position(L, 2, g_list_model_get_n_items(G_LIST_MODEL(store)));
    go_enter(L, G_OBJECT(store));
    g_list_store_remove(store, position);
    return go_leave(L, G_OBJECT(store), 0);
}

static int store_remove_all(lua_State *L)
{
    GListStore *store = check_store(L);
    go_enter(L, G_OBJECT(store));
    g_list_store_remove_all(store);
    return go_leave(L, G_OBJECT(store), 0);
}

static GAction *check_action(lua_State *L, int arg)
{
    return G_ACTION(check_instance(L, arg, G_TYPE_ACTION));
}

/* The argument at 2, of the type that an action wants; NULL: it wants none. */
static GVariant *check_parameter(lua_State *L, int arg, const GVariantType *type)
{
    if (type != NULL)
        return g_variant_ref_sink(go_to_variant(L, arg, type, "the parameter of an action"));
    luaL_argcheck(L, lua_isnoneornil(L, arg), arg, "this action has no parameter");
    return NULL;
}

static int action_activate(lua_State *L)
{
    GAction *action = check_action(L, 1);
    GVariant *parameter = check_parameter(L, 2, g_action_get_parameter_type(action));
    go_enter(L, G_OBJECT(action));
    g_action_activate(action, parameter);
    if (parameter != NULL)
        g_variant_unref(parameter);
    return go_leave(L, G_OBJECT(action), 0);
}

static int action_change_state(lua_State *L)
{
    GAction *action = check_action(L, 1);
    const GVariantType *type = g_action_get_state_type(action);
    GVariant *state;
    luaL_argcheck(L, type != NULL, 1, "this action has no state");
    state = check_parameter(L, 2, type);
    go_enter(L, G_OBJECT(action));
    g_action_change_state(action, state);
    g_variant_unref(state);
    return go_leave(L, G_OBJECT(action), 0);
}

static GActionMap *check_map(lua_State *L)
{
    return G_ACTION_MAP(check_instance(L, 1, G_TYPE_ACTION_MAP));
}

static int map_add_action(lua_State *L)
{
    GActionMap *map = check_map(L);
    GAction *action = check_action(L, 2);
    luaL_argcheck(L, g_action_get_name(action) != NULL, 2, "an action without a name");
    go_enter(L, G_OBJECT(map));
    g_action_map_add_action(map, action);
    return go_leave(L, G_OBJECT(map), 0);
}

static int map_remove_action(lua_State *L)
{
    GActionMap *map = check_map(L);
    const char *name = luaL_checkstring(L, 2);
    go_enter(L, G_OBJECT(map));
    g_action_map_remove_action(map, name);
    return go_leave(L, G_OBJECT(map), 0);
}

static int map_lookup_action(lua_State *L)
{
    GActionMap *map = check_map(L);
    go_push(L, (GObject *)g_action_map_lookup_action(map, luaL_checkstring(L, 2)));
    return 1;
}

static const luaL_Reg list_methods[] = { { "get_item", list_get_item }, { "get_n_items", list_get_n_items },
                                         { NULL, NULL } };
static const luaL_Reg store_methods[] = { { "append", store_append }, { "insert", store_insert },
                                          { "remove", store_remove }, { "remove_all", store_remove_all },
                                          { NULL, NULL } };
static const luaL_Reg action_methods[] = { { "activate", action_activate }, { "change_state", action_change_state },
                                           { NULL, NULL } };
static const luaL_Reg map_methods[] = { { "add_action", map_add_action }, { "remove_action", map_remove_action },
                                        { "lookup_action", map_lookup_action }, { NULL, NULL } };

/* Methods, and the property that a constructor takes as its only argument: G.SimpleAction("quit"). */
static const struct {
    GType         (*type)(void);
    const luaL_Reg *methods;
    const char     *argument;
} bindings[] = {
    { g_list_model_get_type, list_methods, NULL },
    { g_list_store_get_type, store_methods, "item-type" },
    { g_action_get_type, action_methods, NULL },
    { g_simple_action_get_type, NULL, "name" },
    { g_action_map_get_type, map_methods, NULL },
    { g_simple_action_group_get_type, NULL, NULL },
};

/* ---- types by name ---- */

/* "GtkStringList" -> "gtk_string_list_get_type", the function that registers the type. */
static gchar *name_of_get_type(const char *name)
{
    GString *result = g_string_new(NULL);
    const char *c;
    for (c = name; *c != '\0'; c++) {
        if (g_ascii_isupper(*c) && c > name && (!g_ascii_isupper(c[-1]) || g_ascii_islower(c[1])))
            g_string_append_c(result, '_');
        g_string_append_c(result, g_ascii_tolower(*c));
    }
    g_string_append(result, "_get_type");
    return g_string_free(result, FALSE);
}

/* Libraries that G.load has opened. They stay, as their types do. */
static GSList *libraries;
G_LOCK_DEFINE_STATIC(libraries);

/* The program, with all that it is linked to, and GIO, which perhaps only this module is linked to. */
static void open_first_libraries(void)
{
    static const char *const names[] = { NULL, "libgio-2.0.so.0", "libgio-2.0.0.dylib", "libgio-2.0-0.dll" };
    guint i;
    for (i = 0; i < G_N_ELEMENTS(names); i++) {
        GModule *library = g_module_open(names[i], G_MODULE_BIND_LAZY);
        if (library != NULL) {
            g_module_make_resident(library);
            libraries = g_slist_append(libraries, library);
        }
    }
}

gpointer go_find_symbol(const char *name)
{
    gpointer result = NULL;
    GSList *entry;
    G_LOCK(libraries);
    if (libraries == NULL)
        open_first_libraries();
    for (entry = libraries; entry != NULL && result == NULL; entry = entry->next)
        if (!g_module_symbol((GModule *)entry->data, name, &result))
            result = NULL;
    G_UNLOCK(libraries);
    return result;
}

static GType find_type(const char *name)
{
    GType type = g_type_from_name(name);
    gchar *symbol = type == 0 ? name_of_get_type(name) : NULL;
    GType (*get_type)(void) = NULL;
    if (symbol != NULL)
        *(gpointer *)(void *)&get_type = go_find_symbol(symbol);
    g_free(symbol);
    return get_type != NULL ? get_type() : type;
}

int go_load(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1), *init = luaL_optstring(L, 2, NULL);
    GModule *library = g_module_open(name, G_MODULE_BIND_LAZY);
    gboolean (*function)(void);
    if (library == NULL)
        return go_error(L, "%s", g_module_error());
    g_module_make_resident(library);
    G_LOCK(libraries);
    if (libraries == NULL)
        open_first_libraries();
    libraries = g_slist_prepend(libraries, library);
    G_UNLOCK(libraries);
    if (init == NULL)
        return 0;
    if (!g_module_symbol(library, init, (gpointer *)(void *)&function))
        return go_error(L, "%s has no function %s", name, init);
    lua_pushboolean(L, function());
    return 1;
}

/* The class at index has its type in its metatable. */
GType go_type_at(lua_State *L, int index)
{
    GType type = 0;
    if (lua_type(L, index) == LUA_TSTRING)
        return find_type(lua_tostring(L, index));
    if (lua_istable(L, index) && lua_getmetatable(L, index)) {
        lua_pushliteral(L, "gtype");
        lua_rawget(L, -2);
        type = (GType)lua_touserdata(L, -1);
        lua_pop(L, 2);
    }
    return type;
}

GType go_check_type(lua_State *L, int index)
{
    GType type = go_type_at(L, index);
    if (type == 0 && lua_type(L, index) == LUA_TSTRING)
        go_error(L, "there is no type %s", lua_tostring(L, index));
    luaL_argcheck(L, type != 0, index, "a class or the name of a type expected");
    return type;
}

/* ---- classes ---- */

/* Class(argument) */
static int call_class(lua_State *L)
{
    GType type = go_check_type(L, 1), ancestor;
    guint i;
    lua_settop(L, 2);
    if (lua_isnil(L, 2))
        return go_construct(L, type, 0);
    if (lua_istable(L, 2) && go_type_at(L, 2) == 0)
        return go_construct(L, type, 2);
    for (ancestor = type; ancestor != 0; ancestor = g_type_parent(ancestor))
        for (i = 0; i < G_N_ELEMENTS(bindings); i++)
            if (bindings[i].type() == ancestor && bindings[i].argument != NULL) {
                lua_newtable(L);
                lua_pushvalue(L, 2);
                lua_setfield(L, -2, bindings[i].argument);
                return go_construct(L, type, lua_gettop(L));
            }
    return luaL_argerror(L, 2, "a table of properties expected");
}

static int class_tostring(lua_State *L)
{
    lua_pushstring(L, g_type_name(go_check_type(L, 1)));
    return 1;
}

void go_push_member(lua_State *L, GType type, const char *name)
{
    for (; type != 0; type = g_type_parent(type)) {
        go_push_class(L, type);
        lua_pushstring(L, name);
        lua_rawget(L, -2);
        lua_remove(L, -2);
        if (!lua_isnil(L, -1))
            return;
        lua_pop(L, 1);
    }
    lua_pushnil(L);
}

/* Class.name: a member, or what a description has. */
static int class_index(lua_State *L)
{
    GType type = go_check_type(L, 1);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    if (name == NULL)
        return 0;
    go_push_member(L, type, name);
    if (lua_isnil(L, -1))
        (void)go_push_method(L, type, name);
    return 1;
}

/* Add the methods that a type has, and its parent has not. */
static void add_methods(lua_State *L, GType type)
{
    GType parent = g_type_parent(type);
    const luaL_Reg *method;
    guint i;
    for (i = 0; i < G_N_ELEMENTS(bindings); i++)
        if (g_type_is_a(type, bindings[i].type()) && (parent == 0 || !g_type_is_a(parent, bindings[i].type())))
            for (method = bindings[i].methods; method != NULL && method->name != NULL; method++) {
                lua_pushcfunction(L, method->func);
                lua_setfield(L, -2, method->name);
            }
}

void go_push_class(lua_State *L, GType type)
{
    luaL_checkstack(L, 6, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, CLASSES);
    lua_pushlightuserdata(L, (void *)type);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1)) {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    lua_newtable(L);
    add_methods(L, type);
    lua_createtable(L, 0, 4);
    lua_pushcfunction(L, class_index);
    lua_setfield(L, -2, "__index");
    lua_pushlightuserdata(L, (void *)type);
    lua_setfield(L, -2, "gtype");
    lua_pushcfunction(L, call_class);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, class_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    lua_pushlightuserdata(L, (void *)type);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
    lua_remove(L, -2);
}

int go_module_index(lua_State *L)
{
    const char *name = luaL_checkstring(L, 2);
    GType type = find_type(lua_pushfstring(L, "G%s", name));
    if (type == 0)
        type = find_type(name);
    if (type == 0)
        return go_error(L, "there is no function %s, and no type G%s or %s", name, name, name);
    go_push_class(L, type);
    return 1;
}

/* ---- near names ---- */

/* The number of letters to add, drop or change. (Levenshtein; long names are not compared.) */
static guint distance(const char *a, const char *b)
{
    guint row[40], i, j, n = (guint)strlen(b);
    if (n >= G_N_ELEMENTS(row))
        return G_MAXUINT;
    for (j = 0; j <= n; j++)
        row[j] = j;
    for (i = 1; a[i - 1] != '\0'; i++) {
        guint diagonal = row[0];
        row[0] = i;
        for (j = 1; j <= n; j++) {
            guint changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = MIN(changed, MIN(row[j - 1], row[j]) + 1);
        }
    }
    return row[n];
}

typedef struct near_name {
    const char *wanted, *found;
    guint       distance;
} near_name;

static void look_at_name(near_name *near, const char *name)
{
    guint d = distance(near->wanted, name);
    if (d < near->distance) {
        near->distance = d;
        near->found = name;
    }
}

static void begin_near(near_name *near, const char *wanted)
{
    near->wanted = wanted;
    near->found = NULL;
    near->distance = (guint)strlen(wanted) / 3 + 2;
}

static void look_at_method(void *near, const char *name)
{
    look_at_name((near_name *)near, name);
}

static int no_such(lua_State *L, GType type, const char *kind, const near_name *near)
{
    if (near->found == NULL)
        return go_error(L, "%s has no %s %s", g_type_name(type), kind, near->wanted);
    return go_error(L, "%s has no %s %s (is %s meant?)", g_type_name(type), kind, near->wanted, near->found);
}

/* ---- properties ---- */

/* Classes are never unloaded: the reference is kept. */
static GObjectClass *class_of(GType type)
{
    gpointer cls = g_type_class_peek(type);
    return (GObjectClass *)(cls != NULL ? cls : g_type_class_ref(type));
}

static void look_at_properties(GType type, near_name *near)
{
    guint i, n;
    GParamSpec **all = g_object_class_list_properties(class_of(type), &n);
    for (i = 0; i < n; i++)
        look_at_name(near, all[i]->name);
    g_free(all);
}

GParamSpec *go_check_property(lua_State *L, GType type, const char *name)
{
    GParamSpec *property = g_object_class_find_property(class_of(type), name);
    near_name near;
    if (property != NULL)
        return property;
    begin_near(&near, name);
    look_at_properties(type, &near);
    no_such(L, type, "property", &near);
    return NULL;
}

/* Neither a property nor a method has this name. */
static int no_such_member(lua_State *L, GType type, const char *name)
{
    near_name near;
    guint i;
    const luaL_Reg *method;
    begin_near(&near, name);
    look_at_properties(type, &near);
    for (i = 0; i < G_N_ELEMENTS(bindings); i++)
        if (g_type_is_a(type, bindings[i].type()))
            for (method = bindings[i].methods; method != NULL && method->name != NULL; method++)
                look_at_name(&near, method->name);
    go_look_at_methods(type, look_at_method, &near);
    if (near.found == NULL && go_why_no_methods() != NULL)
        return go_error(L, "%s has no property %s, and its methods are not known: %s", g_type_name(type), name,
                        go_why_no_methods());
    return no_such(L, type, "property or method", &near);
}

guint go_check_signal(lua_State *L, GType type, const char *name, GQuark *detail)
{
    GType at, *interfaces;
    near_name near;
    guint signal, i, n;
    if (g_signal_parse_name(name, type, &signal, detail, TRUE))
        return signal;
    begin_near(&near, name);
    interfaces = g_type_interfaces(type, &n);
    for (at = type; at != 0 || n > 0; at = at != 0 ? g_type_parent(at) : 0) {
        GType owner = at != 0 ? at : interfaces[--n];
        guint count, *ids = g_signal_list_ids(owner, &count);
        for (i = 0; i < count; i++)
            look_at_name(&near, g_signal_name(ids[i]));
        g_free(ids);
    }
    g_free(interfaces);
    no_such(L, type, "signal", &near);
    return 0;
}

/* The name of a property in messages. */
static const char *push_what(lua_State *L, GType type, const GParamSpec *property)
{
    return lua_pushfstring(L, "%s of %s", property->name, g_type_name(type));
}

static int get_property(lua_State *L, GObject *object, GParamSpec *property)
{
    GValue *value;
    if (!(property->flags & G_PARAM_READABLE))
        return go_error(L, "%s cannot be read", push_what(L, G_OBJECT_TYPE(object), property));
    value = go_new_values(L, 1);
    g_value_init(value, property->value_type);
    g_object_get_property(object, property->name, value);
    go_push_value(L, value);
    go_free_values(value, 1);
    return 1;
}

/* (The state of an action has a type of its own.) */
static void to_property(lua_State *L, int index, GObject *object, GParamSpec *property, GValue *value, const char *what)
{
    const GVariantType *type = NULL;
    g_value_init(value, property->value_type);
    if (G_VALUE_HOLDS_VARIANT(value) && !lua_isnil(L, index)) {
        if (object != NULL && G_IS_ACTION(object) && strcmp(property->name, "state") == 0)
            type = g_action_get_state_type(G_ACTION(object));
        g_value_set_variant(value, go_to_variant(L, index, type, what));
    } else {
        go_to_value(L, index, value, what);
    }
}

static int set_property(lua_State *L, GObject *object, GParamSpec *property, int index)
{
    const char *what = push_what(L, G_OBJECT_TYPE(object), property);
    GValue *value;
    if (!(property->flags & G_PARAM_WRITABLE) || (property->flags & G_PARAM_CONSTRUCT_ONLY))
        return go_error(L, "%s cannot be set", what);
    value = go_new_values(L, 1);
    to_property(L, index, object, property, value, what);
    go_enter(L, object);
    g_object_set_property(object, property->name, value);
    go_free_values(value, 1);
    return go_leave(L, object, 0);
}

/* ---- constructors ---- */

/* The pairs of the table at index: their names, which the table keeps, and their values. Pushes two values. */
static guint collect_properties(lua_State *L, GType type, int index, const char ***names, GValue **values)
{
    guint n = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        n++;
    *names = (const char **)lua_newuserdata(L, (n + 1) * sizeof **names);
    *values = go_new_values(L, n);
    n = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1), n++) {
        GParamSpec *property;
        int top = lua_gettop(L);
        if (lua_type(L, -2) != LUA_TSTRING)
            go_error(L, "a property of %s has a name, and no number", g_type_name(type));
        property = go_check_property(L, type, lua_tostring(L, -2));
        if (!(property->flags & G_PARAM_WRITABLE))
            go_error(L, "%s cannot be set", push_what(L, type, property));
        (*names)[n] = property->name;
        to_property(L, top, NULL, property, &(*values)[n], push_what(L, type, property));
        lua_settop(L, top);
    }
    return n;
}

int go_construct(lua_State *L, GType type, int index)
{
    rrc_heap *heap = rrc_lua_heap(L);
    const char **names = NULL;
    GValue *values = NULL;
    GObject *object;
    rrc_object *wrapper;
    guint n = 0;
    if (go_plain_struct_size(type) > 0)
        return go_new_struct(L, type, go_plain_struct_size(type), index);
    if (!G_TYPE_IS_OBJECT(type) || G_TYPE_IS_ABSTRACT(type))
        return go_error(L, "%s cannot be made", g_type_name(type));
    class_of(type);
    if (index != 0)
        n = collect_properties(L, type, index, &names, &values);
    go_enter(L, NULL);
    object = g_object_new_with_properties(type, n, names, values);
    if (G_IS_INITIALLY_UNOWNED(object))
        g_object_ref_sink(object);                  /* the reference is ours now, as that of any other object is */
    go_note_given(object, n, names, values);
    if (values != NULL)
        go_free_values(values, n);
    wrapper = go_wrap(heap, object);
    rrc_measure(heap, wrapper);
    g_object_unref(object);
    if (!go_leave_with_error(L, NULL))
        return rrc_lua_give(L, heap, wrapper);
    rrc_decref(heap, wrapper);
    return lua_error(L);
}

/* ---- what all objects can do ---- */

GObject *go_test(lua_State *L, int index)
{
    go_wrapper *wrapper = (go_wrapper *)rrc_lua_test(L, index, &go_class);
    return wrapper != NULL ? wrapper->object : NULL;
}

GObject *go_check(lua_State *L, int arg)
{
    return ((go_wrapper *)rrc_lua_check(L, arg, &go_class))->object;
}

/* object:emit(signal, ...) */
static int emit(lua_State *L)
{
    GObject *object = go_check(L, 1);
    GQuark detail;
    GSignalQuery query;
    GValue *values, *result = NULL;
    guint i;
    g_signal_query(go_check_signal(L, G_OBJECT_TYPE(object), luaL_checkstring(L, 2), &detail), &query);
    if ((guint)lua_gettop(L) - 2 != query.n_params)
        return go_error(L, "signal %s of %s takes %d values, got %d", query.signal_name, G_OBJECT_TYPE_NAME(object),
                        (int)query.n_params, lua_gettop(L) - 2);
    values = go_new_values(L, query.n_params + 2);
    g_value_init(&values[0], G_OBJECT_TYPE(object));
    g_value_set_object(&values[0], object);
    for (i = 0; i < query.n_params; i++) {
        g_value_init(&values[i + 1], query.param_types[i] & ~G_SIGNAL_TYPE_STATIC_SCOPE);
        go_to_value(L, (int)i + 3, &values[i + 1],
                    lua_pushfstring(L, "value %d of signal %s", (int)i + 1, query.signal_name));
        lua_pop(L, 1);
    }
    if ((query.return_type & ~G_SIGNAL_TYPE_STATIC_SCOPE) != G_TYPE_NONE)
        result = g_value_init(&values[query.n_params + 1], query.return_type & ~G_SIGNAL_TYPE_STATIC_SCOPE);
    go_enter(L, NULL);                              /* (the first value holds the object) */
    g_signal_emitv(values, query.signal_id, detail, result);
    go_free_values(values, query.n_params + 1);
    go_leave(L, NULL, 0);
    if (result == NULL)
        return 0;
    go_push_value(L, result);
    go_free_values(result, 1);
    return 1;
}

/* object:is_a(class) */
static int is_a(lua_State *L)
{
    lua_pushboolean(L, g_type_is_a(G_OBJECT_TYPE(go_check(L, 1)), go_check_type(L, 2)));
    return 1;
}

/* Names that begin with _ are fields of scripts (and so is what is no name). All others are methods and properties. */
static gboolean is_field(lua_State *L)
{
    return lua_type(L, 2) != LUA_TSTRING || lua_tostring(L, 2)[0] == '_';
}

static int object_index(lua_State *L)
{
    GObject *object = go_check(L, 1);
    const char *name;
    GParamSpec *property;
    if (lua_type(L, 2) == LUA_TNUMBER && G_IS_LIST_MODEL(object)) {
        lua_Number position = lua_tonumber(L, 2);
        if (position >= 1 && position <= (lua_Number)g_list_model_get_n_items(G_LIST_MODEL(object)))
            return push_item(L, G_LIST_MODEL(object), (guint)position - 1);
        lua_pushnil(L);
        return 1;
    }
    if (is_field(L))
        return 0;
    name = lua_tostring(L, 2);
    go_push_member(L, G_OBJECT_TYPE(object), name);
    if (!lua_isnil(L, -1))
        return 1;
    property = g_object_class_find_property(class_of(G_OBJECT_TYPE(object)), name);
    if (property != NULL)
        return get_property(L, object, property);
    if (go_push_method(L, G_OBJECT_TYPE(object), name))
        return 1;
    return no_such_member(L, G_OBJECT_TYPE(object), name);
}

static int object_newindex(lua_State *L)
{
    GObject *object = go_check(L, 1);
    if (lua_type(L, 2) == LUA_TNUMBER)
        return go_error(L, "items of %s are not set by their numbers", G_OBJECT_TYPE_NAME(object));
    if (is_field(L))
        return 0;
    set_property(L, object, go_check_property(L, G_OBJECT_TYPE(object), lua_tostring(L, 2)), 3);
    lua_pushboolean(L, 1);
    return 1;
}

static int object_len(lua_State *L)
{
    return list_get_n_items(L);
}

static int object_tostring(lua_State *L)
{
    GObject *object = go_test(L, 1);
    if (object == NULL)
        return rrc_lua_tostring(L);
    lua_pushfstring(L, "%s: %p", G_OBJECT_TYPE_NAME(object), (void *)object);
    return 1;
}

static const luaL_Reg object_methods[] = { { "connect", go_connect }, { "disconnect", go_disconnect },
                                           { "emit", emit }, { "is_a", is_a }, { NULL, NULL } };
static const luaL_Reg object_metamethods[] = { { "__index", object_index }, { "__newindex", object_newindex },
                                               { "__len", object_len }, { "__tostring", object_tostring },
                                               { NULL, NULL } };
const rrc_lua_class go_class = { .type = &go_wrapper_type, .close = go_close_wrapper, .methods = object_methods,
                                 .metamethods = object_metamethods };

void go_open_types(lua_State *L)
{
    guint i;
    for (i = 0; i < G_N_ELEMENTS(bindings); i++)
        g_type_ensure(bindings[i].type());
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, CLASSES);
    rrc_lua_register(L, &go_class);
    lua_pop(L, 1);
}
