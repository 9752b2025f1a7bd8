/* holdings.c - which references the GObjects of a type have, and how large they are.
 *
 * The table says what wrapper_traverse visits and wrapper_clear drops for the types of C. A row must be exact: a
 * reference that it leaves out leaks cycles, and one that is not there loses objects in use. go_unexplained finds
 * both mistakes: the tests make an object of each row, let it own all that it can own, and ask that function. Other C code
 * adds rows by go_register_holding, and scripts by G.owns.
 */
#include "gobject.h"

#include <string.h>

/* Objects without wrappers are seen through so deep. What is deeper counts as held from outside. */
#define MOST_DEPTH 200

int go_visit(const go_visitor *visitor, GObject *object)
{
    go_wrapper *wrapper = object != NULL ? go_find(visitor->heap, object) : NULL;
    go_visitor inner = *visitor;
    if (wrapper != NULL)
        return visitor->visit(&wrapper->head, visitor->arg);
    if (object == NULL || visitor->depth >= MOST_DEPTH || g_atomic_int_get((gint *)&object->ref_count) != 1)
        return 0;
    inner.depth++;
    return go_visit_owned(&inner, object);
}

/* The caller's reference is dropped before: the visit can count. (There is another one.) */
static int drop_and_visit(const go_visitor *visitor, GObject *object)
{
    if (object != NULL)
        g_object_unref(object);
    return go_visit(visitor, object);
}

/* ---- items and actions ---- */

static int visit_items_of(const go_visitor *visitor, GListModel *list)
{
    guint i, n = g_list_model_get_n_items(list);
    int result = 0;
    for (i = 0; i < n && result == 0; i++)
        result = drop_and_visit(visitor, (GObject *)g_list_model_get_item(list, i));
    return result;
}

static int visit_items(const go_visitor *visitor, GObject *store)
{
    return visit_items_of(visitor, G_LIST_MODEL(store));
}

/* A list of lists holds the model, and each list in it. (The model holds them, too: they stay without our reference.) */
static int visit_lists(const go_visitor *visitor, GObject *object)
{
    GListModel *model;
    g_object_get(object, "model", &model, NULL);
    if (model == NULL)
        return 0;
    g_object_unref(model);
    return visit_items_of(visitor, model);
}

static int visit_actions(const go_visitor *visitor, GObject *group)
{
    gchar **names = g_action_group_list_actions(G_ACTION_GROUP(group)), **name;
    int result = 0;
    for (name = names; *name != NULL && result == 0; name++)
        result = go_visit(visitor, (GObject *)g_action_map_lookup_action(G_ACTION_MAP(group), *name));
    g_strfreev(names);
    return result;
}

static void drop_items(GObject *store)
{
    g_list_store_remove_all(G_LIST_STORE(store));
}

static void drop_actions(GObject *group)
{
    gchar **names = g_action_group_list_actions(G_ACTION_GROUP(group)), **name;
    for (name = names; *name != NULL; name++)
        g_action_map_remove_action(G_ACTION_MAP(group), *name);
    g_strfreev(names);
}

/* ---- widgets: each widget has one reference to each of its children and controllers ---- */

/* The functions of GTK 4, or NULL. */
static struct {
    gpointer (*first_child)(gpointer widget);
    gpointer (*next_sibling)(gpointer widget);
    gpointer (*controllers)(gpointer widget);
} gtk;

static gboolean find_gtk(void)
{
    if (gtk.first_child == NULL) {
        *(gpointer *)&gtk.next_sibling = go_find_symbol("gtk_widget_get_next_sibling");
        *(gpointer *)&gtk.controllers = go_find_symbol("gtk_widget_observe_controllers");
        *(gpointer *)&gtk.first_child = go_find_symbol("gtk_widget_get_first_child");
    }
    return gtk.first_child != NULL && gtk.next_sibling != NULL && gtk.controllers != NULL;
}

/* (Nothing is dropped: children do not own their parents. So a cycle has another reference, which can be dropped.) */
static int visit_widget(const go_visitor *visitor, GObject *widget)
{
    GObject *child;
    GListModel *controllers;
    int result = 0;
    if (!find_gtk())
        return 0;
    for (child = (GObject *)gtk.first_child(widget); child != NULL && result == 0;
         child = (GObject *)gtk.next_sibling(child))
        result = go_visit(visitor, child);
    controllers = result == 0 ? (GListModel *)gtk.controllers(widget) : NULL;
    if (controllers != NULL) {
        result = visit_items_of(visitor, controllers);
        g_object_unref(controllers);
    }
    return result;
}

/* ---- sizes ---- */

static gsize stream_size(GObject *stream)
{
    return g_memory_output_stream_get_size(G_MEMORY_OUTPUT_STREAM(stream));
}

static gsize icon_size(GObject *icon)
{
    return g_bytes_get_size(g_bytes_icon_get_bytes(G_BYTES_ICON(icon)));
}

static gsize texture_size(GObject *texture)
{
    gint width, height;
    g_object_get(texture, "width", &width, "height", &height, NULL);
    return (gsize)width * (gsize)height * 4;
}

/* ---- the table ---- */

static const go_holding holdings[] = {
    { "GListStore", { NULL }, visit_items, drop_items, NULL, FALSE },
    { "GSimpleActionGroup", { NULL }, visit_actions, drop_actions, NULL, FALSE },
    { "GPropertyAction", { "object" }, NULL, NULL, NULL, FALSE },
    { "GBufferedInputStream", { "base-stream" }, NULL, NULL, NULL, FALSE },
    { "GDataInputStream", { "base-stream" }, NULL, NULL, NULL, FALSE },
    { "GConverterInputStream", { "base-stream", "converter" }, NULL, NULL, NULL, FALSE },
    { "GBufferedOutputStream", { "base-stream" }, NULL, NULL, NULL, FALSE },
    { "GDataOutputStream", { "base-stream" }, NULL, NULL, NULL, FALSE },
    { "GConverterOutputStream", { "base-stream", "converter" }, NULL, NULL, NULL, FALSE },
    { "GSimpleIOStream", { "input-stream", "output-stream" }, NULL, NULL, NULL, FALSE },
    { "GEmblem", { "icon" }, NULL, NULL, NULL, FALSE },
    { "GEmblemedIcon", { "gicon" }, NULL, NULL, NULL, FALSE },
    { "GSocketClient", { "local-address" }, NULL, NULL, NULL, FALSE },
    { "GUnixCredentialsMessage", { "credentials" }, NULL, NULL, NULL, FALSE },
    { "GUnixFDMessage", { "fd-list" }, NULL, NULL, NULL, FALSE },
    { "GZlibCompressor", { "file-info" }, NULL, NULL, NULL, FALSE },
    { "GtkFilterListModel", { "model", "filter" }, NULL, NULL, NULL, FALSE },
    { "GtkSortListModel", { "model", "sorter", "section-sorter" }, NULL, NULL, NULL, FALSE },
    { "GtkSliceListModel", { "model" }, NULL, NULL, NULL, FALSE },
    { "GtkMapListModel", { "model" }, NULL, NULL, NULL, FALSE },
    { "GtkFlattenListModel", { "model" }, visit_lists, NULL, NULL, FALSE },
    { "GtkNoSelection", { "model" }, NULL, NULL, NULL, FALSE },
    { "GtkSingleSelection", { "model", "selected-item" }, NULL, NULL, NULL, FALSE },
    { "GtkMultiSelection", { "model" }, NULL, NULL, NULL, FALSE },
    { "GtkSelectionFilterModel", { "model" }, NULL, NULL, NULL, FALSE },
    { "GtkTreeListRowSorter", { "sorter" }, NULL, NULL, NULL, FALSE },
    { "GtkColumnViewColumn", { "factory", "sorter", "header-menu" }, NULL, NULL, NULL, FALSE },
    { "GtkShortcut", { "trigger", "action" }, NULL, NULL, NULL, FALSE },
    { "GtkAlternativeTrigger", { "first", "second" }, NULL, NULL, NULL, FALSE },
    { "GtkWidget", { NULL }, visit_widget, NULL, NULL, TRUE },
    { "GMemoryOutputStream", { NULL }, NULL, NULL, stream_size, FALSE },
    { "GBytesIcon", { NULL }, NULL, NULL, icon_size, FALSE },
    { "GdkTexture", { NULL }, NULL, NULL, texture_size, TRUE },
};

/* All of them: those above, and what was registered. */
static GPtrArray *all;
static guint registered;                /* changes when one is added */
G_LOCK_DEFINE_STATIC(all);

static GPtrArray *all_holdings(void)
{
    guint i;
    if (all == NULL) {
        all = g_ptr_array_new();
        for (i = 0; i < G_N_ELEMENTS(holdings); i++)
            g_ptr_array_add(all, (gpointer)&holdings[i]);
    }
    return all;
}

void go_register_holding(const go_holding *holding)
{
    G_LOCK(all);
    g_ptr_array_add(all_holdings(), (gpointer)holding);
    registered++;
    G_UNLOCK(all);
}

const char *go_listed_type(guint i)
{
    return i < G_N_ELEMENTS(holdings) && holdings[i].size == NULL && !holdings[i].is_for_subclasses ? holdings[i].type
                                                                                                    : NULL;
}

/* What a type keeps of them: those that are for it. */
typedef struct type_holdings {
    guint      registered;
    GPtrArray *list;
} type_holdings;

static GQuark holdings_quark(void)
{
    return g_quark_from_static_string("rawrefcount-holdings");
}

static void update_holdings(type_holdings *of, GType type)
{
    const char *name = g_type_name(go_native_type(type));
    guint i;
    G_LOCK(all);
    g_ptr_array_set_size(of->list, 0);
    for (i = 0; i < all_holdings()->len; i++) {
        const go_holding *holding = (const go_holding *)g_ptr_array_index(all, i);
        GType base = holding->is_for_subclasses ? g_type_from_name(holding->type) : 0;
        if (base != 0 ? g_type_is_a(type, base) : strcmp(holding->type, name) == 0)
            g_ptr_array_add(of->list, (gpointer)holding);
    }
    of->registered = registered;
    G_UNLOCK(all);
}

/* (A type belongs to the thread that uses its objects.) */
static const GPtrArray *holdings_of(GObject *object)
{
    GType type = G_OBJECT_TYPE(object);
    type_holdings *of = (type_holdings *)g_type_get_qdata(type, holdings_quark());
    if (of == NULL) {
        of = g_new0(type_holdings, 1);
        of->list = g_ptr_array_new();
        update_holdings(of, type);
        g_type_set_qdata(type, holdings_quark(), of);
    } else if (of->registered != registered) {
        update_holdings(of, type);
    }
    return of->list;
}

/* ---- what an object owns ---- */

/* The property of the type in C; NULL: this version of the library does not have it. */
static GParamSpec *find_property(GObject *object, const char *name)
{
    gpointer cls = g_type_class_peek(go_native_type(G_OBJECT_TYPE(object)));
    return g_object_class_find_property((GObjectClass *)cls, name);
}

/* The value of a property that cannot be read. (No type of the table has more than one.) */
static GQuark given_quark(void)
{
    return g_quark_from_static_string("rawrefcount-given");
}

static void note_given(const go_holding *holding, GObject *object, guint n, const char **names, const GValue *values)
{
    const char *const *name;
    guint i;
    for (name = holding->properties; *name != NULL; name++) {
        const GParamSpec *property = find_property(object, *name);
        for (i = 0; i < n; i++)
            if (property != NULL && strcmp(names[i], *name) == 0 && !(property->flags & G_PARAM_READABLE))
                g_object_set_qdata(object, given_quark(), g_value_get_object(&values[i]));
    }
}

void go_note_given(GObject *object, guint n, const char **names, const GValue *values)
{
    const GPtrArray *list = holdings_of(object);
    guint i;
    for (i = 0; i < list->len; i++)
        note_given((const go_holding *)g_ptr_array_index(list, i), object, n, names, values);
}

/* A new reference to the value, or NULL. */
static GObject *get_value(GObject *object, const char *name)
{
    const GParamSpec *property = find_property(object, name);
    GObject *value = NULL;
    if (property != NULL && property->flags & G_PARAM_READABLE)
        g_object_get(object, name, &value, NULL);
    else if (property != NULL && (value = (GObject *)g_object_get_qdata(object, given_quark())) != NULL)
        g_object_ref(value);
    return value;
}

static int visit_holding(const go_holding *holding, const go_visitor *visitor, GObject *object)
{
    const char *const *name;
    int result = 0;
    for (name = holding->properties; *name != NULL && result == 0; name++)
        result = drop_and_visit(visitor, get_value(object, *name));
    return result == 0 && holding->visit != NULL ? holding->visit(visitor, object) : result;
}

int go_visit_owned(const go_visitor *visitor, GObject *object)
{
    const GPtrArray *list = holdings_of(object);
    int result = 0;
    guint i;
    for (i = 0; i < list->len && result == 0; i++)
        result = visit_holding((const go_holding *)g_ptr_array_index(list, i), visitor, object);
    return result;
}

static void drop_holding(const go_holding *holding, GObject *object)
{
    const char *const *name;
    for (name = holding->properties; *name != NULL; name++) {
        const GParamSpec *property = find_property(object, *name);
        if (property != NULL && property->flags & G_PARAM_WRITABLE && !(property->flags & G_PARAM_CONSTRUCT_ONLY))
            g_object_set(object, *name, NULL, NULL);
    }
    if (holding->drop != NULL)
        holding->drop(object);
}

/* (What was given to a constructor for good stays. So no cycle has only such references: one of them would have been
   made before the object to which it leads.) */
void go_drop_owned(go_wrapper *wrapper)
{
    const GPtrArray *list = holdings_of(wrapper->object);
    guint i;
    for (i = 0; i < list->len; i++)
        drop_holding((const go_holding *)g_ptr_array_index(list, i), wrapper->object);
}

/* ---- how large an object is ---- */

static gsize value_size(const GValue *value)
{
    const GVariant *variant = G_VALUE_HOLDS_VARIANT(value) ? g_value_get_variant(value) : NULL;
    if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value) != NULL)
        return strlen(g_value_get_string(value));
    if (variant != NULL)
        return g_variant_get_size((GVariant *)variant);
    if (G_VALUE_HOLDS(value, G_TYPE_BYTES) && g_value_get_boxed(value) != NULL)
        return g_bytes_get_size((GBytes *)g_value_get_boxed(value));
    return 0;
}

size_t go_size(rrc_heap *heap, rrc_object *self)
{
    const go_wrapper *wrapper = (const go_wrapper *)self;
    const GPtrArray *list = holdings_of(wrapper->object);
    GTypeQuery query;
    gsize result;
    guint i;
    (void)heap;
    g_type_query(G_OBJECT_TYPE(wrapper->object), &query);
    result = query.instance_size;
    for (i = 0; i < wrapper->value_count; i++)
        result += value_size(&wrapper->values[i]);
    for (i = 0; i < list->len; i++) {
        const go_holding *holding = (const go_holding *)g_ptr_array_index(list, i);
        if (holding->size != NULL)
            result += holding->size(wrapper->object);
    }
    return result;
}

/* ---- the check of the table ---- */

typedef struct balance {
    const rrc_object *of;
    gint              references;
} balance;

static int subtract_visit(rrc_object *ob, void *arg)
{
    balance *b = (balance *)arg;
    if (ob == b->of)
        b->references--;
    return 0;
}

static int subtract_visits(rrc_object *ob, void *arg)
{
    if (RRC_TYPE(ob) == &go_wrapper_type)
        go_wrapper_type.tp_traverse(ob, subtract_visit, arg);
    return 1;
}

gint go_unexplained(rrc_heap *heap, GObject *object)
{
    balance b;
    b.of = &go_find(heap, object)->head;
    b.references = (gint)go_wrapper_type.tp_outside(heap, (rrc_object *)go_find(heap, object));
    rrc_gc_visit_objects(heap, subtract_visits, &b);
    return b.references;
}

/* ---- for scripts ---- */

static gboolean is_listed(const char *type, const char *property)
{
    gboolean result = FALSE;
    const char *const *name;
    guint i;
    G_LOCK(all);
    for (i = 0; i < all_holdings()->len; i++) {
        const go_holding *holding = (const go_holding *)g_ptr_array_index(all, i);
        if (strcmp(holding->type, type) == 0)
            for (name = holding->properties; *name != NULL; name++)
                result = result || strcmp(*name, property) == 0;
    }
    G_UNLOCK(all);
    return result;
}

/* (What is registered stays, as the type does.) */
int go_owns(lua_State *L)
{
    GType type = go_native_type(go_check_type(L, 1));
    int i, n;
    luaL_checktype(L, 2, LUA_TTABLE);
    n = (int)go_length(L, 2);
    for (i = 1; i <= n; i++) {
        const GParamSpec *property;
        lua_rawgeti(L, 2, i);
        luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "names of properties expected");
        property = go_check_property(L, type, lua_tostring(L, -1));
        luaL_argcheck(L, G_TYPE_IS_OBJECT(property->value_type) || G_TYPE_IS_INTERFACE(property->value_type), 2,
                      lua_pushfstring(L, "%s is no property with an object", property->name));
        if (!is_listed(g_type_name(type), property->name)) {
            go_holding *holding = g_new0(go_holding, 1);
            holding->type = g_type_name(type);
            holding->properties[0] = property->name;
            go_register_holding(holding);
        }
        lua_settop(L, 2);
    }
    return 0;
}

int go_get_unexplained(lua_State *L)
{
    lua_pushinteger(L, go_unexplained(rrc_lua_heap(L), go_check(L, 1)));
    return 1;
}

int go_get_size(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    lua_pushnumber(L, (lua_Number)go_size(heap, (rrc_object *)go_find(heap, go_check(L, 1))));
    return 1;
}
