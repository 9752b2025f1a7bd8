/* holdings.c - which references the GObjects of a type have.
 *
 * The table says what wrapper_traverse visits and wrapper_clear drops for the types of C. A row must be exact: a
 * reference that it leaves out leaks cycles, and one that is not there loses objects in use. go_unexplained finds
 * both mistakes: the tests make an object of each row, let it own all that it can own, and ask that function.
 */
#include "gobject.h"

#include <string.h>

/* A type, by its name, so that GTK need not be there. A type that a script derives from it is the same to GObject. A
   subclass in C is not: it can hold its items in its own way. */
struct go_holding {
    const char *type;
    const char *properties[4];          /* an object has one reference to the value of each; up to NULL */
    int  (*visit)(go_wrapper *wrapper, rrc_visitproc visit, void *arg);     /* other references, or NULL */
    void (*drop)(go_wrapper *wrapper);
};

/* The wrapper of a GObject to which there is a reference that is not the caller's. The caller's is dropped before the
   wrapper is visited: the visit can count. */
static rrc_object *drop_and_find(rrc_heap *heap, GObject *object)
{
    go_wrapper *wrapper = object != NULL ? go_find(heap, object) : NULL;
    if (object != NULL)
        g_object_unref(object);
    return wrapper != NULL ? &wrapper->head : NULL;
}

/* ---- items and actions ---- */

static int visit_items_of(rrc_heap *heap, GListModel *list, rrc_visitproc visit, void *arg)
{
    guint i, n = g_list_model_get_n_items(list);
    for (i = 0; i < n; i++) {
        rrc_object *item = drop_and_find(heap, (GObject *)g_list_model_get_item(list, i));
        RRC_VISIT(item);
    }
    return 0;
}

static int visit_items(go_wrapper *wrapper, rrc_visitproc visit, void *arg)
{
    return visit_items_of(wrapper->heap, G_LIST_MODEL(wrapper->object), visit, arg);
}

/* A list of lists holds the model, and each list in it. (The model holds them, too: they stay without our reference.) */
static int visit_lists(go_wrapper *wrapper, rrc_visitproc visit, void *arg)
{
    GListModel *model;
    g_object_get(wrapper->object, "model", &model, NULL);
    if (model == NULL)
        return 0;
    g_object_unref(model);
    return visit_items_of(wrapper->heap, model, visit, arg);
}

static int visit_actions(go_wrapper *wrapper, rrc_visitproc visit, void *arg)
{
    gchar **names = g_action_group_list_actions(G_ACTION_GROUP(wrapper->object)), **name;
    int result = 0;
    for (name = names; *name != NULL && result == 0; name++) {
        GAction *action = g_action_map_lookup_action(G_ACTION_MAP(wrapper->object), *name);
        go_wrapper *found = action != NULL ? go_find(wrapper->heap, G_OBJECT(action)) : NULL;
        if (found != NULL)
            result = visit(&found->head, arg);
    }
    g_strfreev(names);
    return result;
}

static void drop_items(go_wrapper *wrapper)
{
    g_list_store_remove_all(G_LIST_STORE(wrapper->object));
}

static void drop_actions(go_wrapper *wrapper)
{
    gchar **names = g_action_group_list_actions(G_ACTION_GROUP(wrapper->object)), **name;
    for (name = names; *name != NULL; name++)
        g_action_map_remove_action(G_ACTION_MAP(wrapper->object), *name);
    g_strfreev(names);
}

/* ---- the table ---- */

static const struct go_holding holdings[] = {
    { "GListStore", { NULL }, visit_items, drop_items },
    { "GSimpleActionGroup", { NULL }, visit_actions, drop_actions },
    { "GPropertyAction", { "object" }, NULL, NULL },
    { "GBufferedInputStream", { "base-stream" }, NULL, NULL },
    { "GDataInputStream", { "base-stream" }, NULL, NULL },
    { "GConverterInputStream", { "base-stream", "converter" }, NULL, NULL },
    { "GBufferedOutputStream", { "base-stream" }, NULL, NULL },
    { "GDataOutputStream", { "base-stream" }, NULL, NULL },
    { "GConverterOutputStream", { "base-stream", "converter" }, NULL, NULL },
    { "GSimpleIOStream", { "input-stream", "output-stream" }, NULL, NULL },
    { "GEmblem", { "icon" }, NULL, NULL },
    { "GEmblemedIcon", { "gicon" }, NULL, NULL },
    { "GSocketClient", { "local-address" }, NULL, NULL },
    { "GUnixCredentialsMessage", { "credentials" }, NULL, NULL },
    { "GUnixFDMessage", { "fd-list" }, NULL, NULL },
    { "GZlibCompressor", { "file-info" }, NULL, NULL },
    { "GtkFilterListModel", { "model", "filter" }, NULL, NULL },
    { "GtkSortListModel", { "model", "sorter", "section-sorter" }, NULL, NULL },
    { "GtkSliceListModel", { "model" }, NULL, NULL },
    { "GtkMapListModel", { "model" }, NULL, NULL },
    { "GtkFlattenListModel", { "model" }, visit_lists, NULL },
    { "GtkNoSelection", { "model" }, NULL, NULL },
    { "GtkSingleSelection", { "model", "selected-item" }, NULL, NULL },
    { "GtkMultiSelection", { "model" }, NULL, NULL },
    { "GtkSelectionFilterModel", { "model" }, NULL, NULL },
    { "GtkTreeListRowSorter", { "sorter" }, NULL, NULL },
    { "GtkColumnViewColumn", { "factory", "sorter", "header-menu" }, NULL, NULL },
    { "GtkShortcut", { "trigger", "action" }, NULL, NULL },
    { "GtkAlternativeTrigger", { "first", "second" }, NULL, NULL },
};

const struct go_holding *go_find_holding(GType type)
{
    const char *name = g_type_name(go_native_type(type));
    guint i;
    for (i = 0; i < G_N_ELEMENTS(holdings); i++)
        if (strcmp(holdings[i].type, name) == 0)
            return &holdings[i];
    return NULL;
}

const char *go_listed_type(guint i)
{
    return i < G_N_ELEMENTS(holdings) ? holdings[i].type : NULL;
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

void go_note_given(GObject *object, guint n, const char **names, const GValue *values)
{
    const struct go_holding *holding = go_find_holding(G_OBJECT_TYPE(object));
    const char *const *name = holding != NULL ? holding->properties : NULL;
    guint i;
    for (; name != NULL && *name != NULL; name++) {
        const GParamSpec *property = find_property(object, *name);
        for (i = 0; i < n; i++)
            if (property != NULL && strcmp(names[i], *name) == 0 && !(property->flags & G_PARAM_READABLE))
                g_object_set_qdata(object, given_quark(), g_value_get_object(&values[i]));
    }
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

int go_visit_owned(go_wrapper *wrapper, rrc_visitproc visit, void *arg)
{
    const struct go_holding *holding = wrapper->holding;
    const char *const *name = holding != NULL ? holding->properties : NULL;
    for (; name != NULL && *name != NULL; name++) {
        rrc_object *value = drop_and_find(wrapper->heap, get_value(wrapper->object, *name));
        RRC_VISIT(value);
    }
    return holding != NULL && holding->visit != NULL ? holding->visit(wrapper, visit, arg) : 0;
}

/* (What was given to a constructor for good stays. So no cycle has only such references: one of them would have been
   made before the object to which it leads.) */
void go_drop_owned(go_wrapper *wrapper)
{
    const struct go_holding *holding = wrapper->holding;
    const char *const *name = holding != NULL ? holding->properties : NULL;
    for (; name != NULL && *name != NULL; name++) {
        const GParamSpec *property = find_property(wrapper->object, *name);
        if (property != NULL && property->flags & G_PARAM_WRITABLE && !(property->flags & G_PARAM_CONSTRUCT_ONLY))
            g_object_set(wrapper->object, *name, NULL, NULL);
    }
    if (holding != NULL && holding->drop != NULL)
        holding->drop(wrapper);
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
