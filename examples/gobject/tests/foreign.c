/* foreign.c - the Lua module `gobject.foreign`: what tests need of C code that uses GObject and knows no Lua. It is in
 * the same library as the module `gobject`.
 *
 *     foreign.watch(object)       counts the object when it is finalized; returns it
 *     foreign.finalized()         how many were
 *     foreign.number(object, n)   gives it a number until it is finalized; returns it
 *     foreign.number_of(object)   this number, or nil
 *     foreign.numbers()           a table with the numbers of all objects that live as keys
 *     foreign.hold(object)        a static list takes a reference to it
 *     foreign.held(i)             the object at this place of the list, from 1
 *     foreign.release(i)          the list drops the object at this place; the last one takes the place
 *     foreign.drop()              the list drops all
 *     foreign.count(object)       the references to it
 *     foreign.emit(i, signal)     emits a signal, with NULL as its argument, on the object that is held there
 *     foreign.make(type)          g_object_new, by C; the object is held then
 *     foreign.floating()          a new GInitiallyUnowned, floating, and the references to it when Lua has it
 *     foreign.set(i, name, other) sets a property of an object that is held
 *     foreign.remember(object)    has a weak reference to it
 *     foreign.revive()            the list takes references to all objects that are remembered, and live. Returns how many
 *     foreign.listed()            the names of the types whose references are known
 *     foreign.properties(type)    its properties that can be set to objects: the type of each by its name; how many of
 *                                 them are set once and for all
 *     foreign.unexplained(object) what go_unexplained says
 *     foreign.visits(object)      how many wrappers of GObjects its wrapper visits
 *     foreign.clear(object)       calls the tp_clear of its wrapper
 *     foreign.nest(list, object)  appends a list that has the object; returns nothing, so that Lua does not know that list
 *     foreign.hold_item(list, i)  the static list takes a reference to an item, from 0
 *     foreign.control(widget, controller)  gtk_widget_add_controller
 *     foreign.blocks()            how many objects of the type Block there are: each has a megabyte
 *     foreign.variant(text)       the value of a GVariant that is written like this
 *     foreign.sleep()             lets other threads run, for a millisecond
 */
#include "../gobject.h"

RRC_LUA_MODULE int luaopen_gobject_foreign(lua_State *L);

static GPtrArray *held;
static gint finalized;                  /* (Threads of GIO can drop the last reference.) */

static void count_finalized(gpointer data, GObject *object)
{
    (void)data, (void)object;
    g_atomic_int_inc(&finalized);
}

static int watch(lua_State *L)
{
    g_object_weak_ref(go_check(L, 1), count_finalized, NULL);
    lua_settop(L, 1);
    return 1;
}

static int get_finalized(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)g_atomic_int_get(&finalized));
    return 1;
}

static GHashTable *numbers;

static void drop_number(gpointer n, GObject *object)
{
    (void)object;
    g_hash_table_remove(numbers, n);
}

static int set_number(lua_State *L)
{
    GObject *object = go_check(L, 1);
    gpointer n = GINT_TO_POINTER((gint)luaL_checkinteger(L, 2));
    if (numbers == NULL)
        numbers = g_hash_table_new(NULL, NULL);
    g_hash_table_add(numbers, n);
    g_object_set_data(object, "test-number", n);
    g_object_weak_ref(object, drop_number, n);
    lua_settop(L, 1);
    return 1;
}

static int get_number(lua_State *L)
{
    gpointer n = g_object_get_data(go_check(L, 1), "test-number");
    if (n == NULL)
        return 0;
    lua_pushinteger(L, (lua_Integer)GPOINTER_TO_INT(n));
    return 1;
}

/* (Lua can finalize objects meanwhile.) */
static int get_numbers(lua_State *L)
{
    guint i, n = 0;
    gpointer *keys = numbers != NULL ? g_hash_table_get_keys_as_array(numbers, &n) : NULL;
    lua_newtable(L);
    for (i = 0; i < n; i++) {
        lua_pushboolean(L, 1);
        lua_rawseti(L, -2, GPOINTER_TO_INT(keys[i]));
    }
    g_free(keys);
    return 1;
}

static void take(GObject *object)
{
    if (held == NULL)
        held = g_ptr_array_new_with_free_func(g_object_unref);
    g_ptr_array_add(held, object);
}

static int hold(lua_State *L)
{
    take((GObject *)g_object_ref(go_check(L, 1)));
    return 0;
}

static GObject *held_at(lua_State *L)
{
    guint i = (guint)luaL_checkinteger(L, 1);
    luaL_argcheck(L, held != NULL && i >= 1 && i <= held->len, 1, "not held");
    return (GObject *)g_ptr_array_index(held, i - 1);
}

static int get_held(lua_State *L)
{
    go_push(L, held_at(L));
    return 1;
}

static int release(lua_State *L)
{
    (void)held_at(L);
    g_object_unref(g_ptr_array_steal_index_fast(held, (guint)luaL_checkinteger(L, 1) - 1));
    return 0;
}

static int drop(lua_State *L)
{
    GPtrArray *array = held;
    (void)L;
    held = NULL;
    if (array != NULL)
        g_ptr_array_unref(array);
    return 0;
}

static int count(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)go_check(L, 1)->ref_count);
    return 1;
}

static int emit_signal(lua_State *L)
{
    g_signal_emit_by_name(held_at(L), luaL_checkstring(L, 2), NULL);
    return 0;
}

static int make(lua_State *L)
{
    take((GObject *)g_object_new(go_check_type(L, 1), NULL));
    return 0;
}

static int make_floating(lua_State *L)
{
    GObject *object = (GObject *)g_object_new(G_TYPE_INITIALLY_UNOWNED, NULL);
    go_push(L, object);
    lua_pushinteger(L, (lua_Integer)object->ref_count);
    lua_pushboolean(L, g_object_is_floating(object));
    return 3;
}

static int set(lua_State *L)
{
    g_object_set(held_at(L), luaL_checkstring(L, 2), go_test(L, 3), NULL);
    return 0;
}

static GSList *remembered;

static int remember(lua_State *L)
{
    GWeakRef *ref = g_new0(GWeakRef, 1);
    g_weak_ref_init(ref, go_check(L, 1));
    remembered = g_slist_append(remembered, ref);
    return 0;
}

static int revive(lua_State *L)
{
    GSList *entry;
    lua_Integer n = 0;
    for (entry = remembered; entry != NULL; entry = entry->next) {
        GObject *object = (GObject *)g_weak_ref_get((GWeakRef *)entry->data);
        if (object != NULL)
            take(object), n++;
        g_weak_ref_clear((GWeakRef *)entry->data);
    }
    g_slist_free_full(remembered, g_free);
    remembered = NULL;
    lua_pushinteger(L, n);
    return 1;
}

static int get_listed(lua_State *L)
{
    guint i;
    lua_newtable(L);
    for (i = 0; go_listed_type(i) != NULL; i++) {
        lua_pushstring(L, go_listed_type(i));
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static int get_properties(lua_State *L)
{
    GObjectClass *cls = (GObjectClass *)g_type_class_ref(go_check_type(L, 1));
    guint i, n, fixed = 0;
    GParamSpec **properties = g_object_class_list_properties(cls, &n);
    lua_newtable(L);
    for (i = 0; i < n; i++)
        if (properties[i]->flags & G_PARAM_WRITABLE
            && (G_TYPE_IS_OBJECT(properties[i]->value_type) || G_TYPE_IS_INTERFACE(properties[i]->value_type))) {
            lua_pushstring(L, g_type_name(properties[i]->value_type));
            lua_setfield(L, -2, properties[i]->name);
            fixed += (properties[i]->flags & G_PARAM_CONSTRUCT_ONLY) != 0;
        }
    g_free(properties);
    g_type_class_unref(cls);
    lua_pushinteger(L, (lua_Integer)fixed);
    return 2;
}

static int get_unexplained(lua_State *L)
{
    lua_pushinteger(L, go_unexplained(rrc_lua_heap(L), go_check(L, 1)));
    return 1;
}

static int count_wrapper(rrc_object *ob, void *count)
{
    *(lua_Integer *)count += RRC_TYPE(ob) == &go_wrapper_type;
    return 0;
}

static int get_visits(lua_State *L)
{
    lua_Integer n = 0;
    go_wrapper_type.tp_traverse((rrc_object *)go_find(rrc_lua_heap(L), go_check(L, 1)), count_wrapper, &n);
    lua_pushinteger(L, n);
    return 1;
}

static int clear(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    GObject *object = go_check(L, 1);
    go_enter(L, object);
    go_wrapper_type.tp_clear(heap, (rrc_object *)go_find(heap, object));
    return go_leave(L, object, 0);
}

static int nest(lua_State *L)
{
    GObject *list = go_check(L, 1), *object = go_check(L, 2);
    GListStore *inner = g_list_store_new(G_TYPE_OBJECT);
    g_list_store_append(inner, object);
    go_enter(L, list);
    g_list_store_append(G_LIST_STORE(list), inner);
    g_object_unref(inner);
    return go_leave(L, list, 0);
}

static int hold_item(lua_State *L)
{
    take((GObject *)g_list_model_get_item(G_LIST_MODEL(go_check(L, 1)), (guint)luaL_checkinteger(L, 2)));
    return 0;
}

static int control(lua_State *L)
{
    void (*add)(gpointer widget, gpointer controller);
    *(gpointer *)(void *)&add = go_find_symbol("gtk_widget_add_controller");
    add(go_check(L, 1), g_object_ref(go_check(L, 2)));
    return 0;
}

/* A type whose objects have much memory, and can hold another object. */
typedef struct Block { GObject object; gpointer memory; GObject *next; } Block;
typedef struct BlockClass { GObjectClass cls; } BlockClass;
static GType block_get_type(void);
G_DEFINE_TYPE(Block, block, G_TYPE_OBJECT)
#define BLOCK_BYTES ((gsize)1 << 20)
static gint block_count;

static void block_init(Block *self)
{
    self->memory = g_malloc(BLOCK_BYTES);
    block_count++;
}

static void block_finalize(GObject *object)
{
    g_free(((Block *)object)->memory);
    g_clear_object(&((Block *)object)->next);
    block_count--;
    G_OBJECT_CLASS(block_parent_class)->finalize(object);
}

static void block_set(GObject *object, guint id, const GValue *value, GParamSpec *property)
{
    (void)id, (void)property;
    g_set_object(&((Block *)object)->next, g_value_get_object(value));
}

static void block_get(GObject *object, guint id, GValue *value, GParamSpec *property)
{
    (void)id, (void)property;
    g_value_set_object(value, ((Block *)object)->next);
}

static void block_class_init(BlockClass *cls)
{
    cls->cls.finalize = block_finalize;
    cls->cls.set_property = block_set;
    cls->cls.get_property = block_get;
    g_object_class_install_property(&cls->cls, 1, g_param_spec_object("next", NULL, NULL, G_TYPE_OBJECT,
                                                                      G_PARAM_READWRITE));
}

static gsize block_size(GObject *object)
{
    (void)object;
    return BLOCK_BYTES;
}

static int get_blocks(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)block_count);
    return 1;
}

static int parse_variant(lua_State *L)
{
    GVariant *variant = g_variant_parse(NULL, luaL_checkstring(L, 1), NULL, NULL, NULL);
    if (variant == NULL)
        return luaL_error(L, "no GVariant");
    go_push_variant(L, variant);
    g_variant_unref(variant);
    return 1;
}

/* bytes(text): a boxed value. */
static int make_bytes(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    GValue *value = go_new_values(L, 1);
    g_value_take_boxed(g_value_init(value, G_TYPE_BYTES), g_bytes_new(text, size));
    go_push_value(L, value);
    return 1;
}

static int sleep_a_little(lua_State *L)
{
    (void)L;
    g_usleep(1000);
    return 0;
}

int luaopen_gobject_foreign(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "watch", watch }, { "finalized", get_finalized }, { "hold", hold }, { "held", get_held }, { "drop", drop },
        { "count", count }, { "emit", emit_signal }, { "make", make }, { "floating", make_floating }, { "set", set },
        { "number", set_number }, { "number_of", get_number }, { "numbers", get_numbers }, { "release", release },
        { "remember", remember }, { "revive", revive }, { "listed", get_listed }, { "properties", get_properties },
        { "unexplained", get_unexplained }, { "visits", get_visits }, { "clear", clear }, { "variant", parse_variant },
        { "nest", nest }, { "hold_item", hold_item }, { "control", control }, { "blocks", get_blocks },
        { "sleep", sleep_a_little }, { "bytes", make_bytes }, { NULL, NULL }
    };
    static const rrc_lua_class *const no_classes[] = { NULL };
    static const go_holding holding = { "Block", { NULL }, NULL, NULL, block_size, FALSE };
    static gsize is_registered;
    if (g_once_init_enter(&is_registered)) {
        g_type_ensure(block_get_type());
        go_register_holding(&holding);
        g_once_init_leave(&is_registered, 1);
    }
    return rrc_lua_module(L, no_classes, functions);
}
