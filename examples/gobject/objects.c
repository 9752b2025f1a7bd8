/* objects.c - wrappers: identity, who holds whom, and the handlers of signals.
 *
 * A GObject has a reference count of its own. Its wrapper is an object of rawrefcount.h that owns one reference to it.
 * The rules by which the collector finds garbage over GObject and Lua are these three functions:
 *
 *   wrapper_outside    the references to the GObject that are not the wrapper's own: they hold it from outside
 *   wrapper_traverse   explains some of them: it visits the wrapper of each GObject to which this one
 *                      certainly has a reference, once for each reference; and the functions of handlers
 *   wrapper_clear      drops what wrapper_traverse visits
 *
 * A reference that wrapper_traverse leaves out keeps more alive, and nothing is lost. One that it visits and that is
 * not there could lose handlers and fields of an object that is in use. So it visits only what is certain:
 * the items of a GListStore, the actions of a GSimpleActionGroup, the values of properties that scripts have defined,
 * the children and controllers of GTK's widgets, and the models of GTK's models: see the table in holdings.c. What only
 * such an object owns, and Lua does not know, is looked through.
 */
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "gobject.h"

/* A closure whose function is a Lua value. As long as the closure exists, it has a reference to the function, and is
   in the list of its instance's wrapper. */
typedef struct go_handler {
    GClosure            closure;
    rrc_heap           *heap;
    go_wrapper         *wrapper;        /* NULL: parted */
    rrc_object         *function;
    gulong              id;
    struct go_handler  *next, **link;   /* in the list; link is where it points to this one */
} go_handler;

static GQuark wrappers_quark(void)
{
    return g_quark_from_static_string("rawrefcount-wrappers");
}

/* ---- handlers ---- */

/* Take the handler from its wrapper, and drop the function. */
static void part_handler(go_handler *handler)
{
    if (handler->wrapper == NULL)
        return;
    handler->wrapper = NULL;
    *handler->link = handler->next;
    if (handler->next != NULL)
        handler->next->link = handler->link;
    RRC_CLEAR(handler->heap, handler->function);
}

static void invalidate_handler(gpointer data, GClosure *closure)
{
    (void)data;
    part_handler((go_handler *)closure);
}

static void disconnect_handlers(go_wrapper *wrapper)
{
    while (wrapper->handlers != NULL) {
        gulong id = wrapper->handlers->id;
        part_handler(wrapper->handlers);
        if (g_signal_handler_is_connected(wrapper->object, id))
            g_signal_handler_disconnect(wrapper->object, id);
    }
}

/* An emission of a signal, as its handler sees it. */
typedef struct emission {
    rrc_object   *function;
    GValue       *result;
    const GValue *values;
    guint         count;
} emission;

static int call_function(lua_State *L)
{
    const emission *e = (const emission *)lua_touserdata(L, 1);
    guint i;
    luaL_checkstack(L, (int)e->count + 4, "too many arguments of a signal");
    rrc_lua_push(L, rrc_lua_heap(L), e->function);
    for (i = 0; i < e->count; i++)
        go_push_value(L, &e->values[i]);
    lua_call(L, (int)e->count, e->result != NULL);
    if (e->result != NULL)
        go_to_value(L, -1, e->result, "the result of a handler");
    return 0;
}

/* A collection has found that the wrapper is garbage, and has not cleared it yet. */
static gboolean is_garbage(const go_wrapper *wrapper)
{
    rrc_info info;
    gboolean result;
    if (rrc_inspect_begin(wrapper->heap, "call_handler") != RRC_OK)
        return FALSE;
    result = rrc_inspect(wrapper->heap, (rrc_object *)wrapper, &info) == RRC_OK && (info.is & RRC_IS_WAITING) != 0;
    rrc_inspect_end(wrapper->heap);
    return result;
}

/* The function can disconnect its own handler. Garbage can emit signals when other garbage is cleared: what its
   handlers mention can be gone, so that they do not run. */
static void call_handler(GClosure *closure, GValue *result, guint n, const GValue *values, gpointer hint, gpointer data)
{
    rrc_heap *heap = ((go_handler *)closure)->heap;
    emission e;
    (void)hint, (void)data;
    e.function = ((go_handler *)closure)->function;
    e.result = result;
    e.values = values;
    e.count = n;
    if (e.function == NULL || is_garbage(((go_handler *)closure)->wrapper))
        return;
    rrc_incref(heap, e.function);
    go_call(heap, call_function, &e);
    rrc_decref(heap, e.function);
}

/* The reference to the function goes to the handler. */
static go_handler *new_handler(go_wrapper *wrapper, rrc_object *function)
{
    go_handler *handler = (go_handler *)g_closure_new_simple(sizeof *handler, NULL);
    g_closure_set_marshal(&handler->closure, call_handler);
    g_closure_add_invalidate_notifier(&handler->closure, NULL, invalidate_handler);
    handler->heap = wrapper->heap;
    handler->wrapper = wrapper;
    handler->function = function;
    handler->next = wrapper->handlers;
    handler->link = &wrapper->handlers;
    if (handler->next != NULL)
        handler->next->link = &handler->next;
    wrapper->handlers = handler;
    return handler;
}

int go_connect(lua_State *L)
{
    rrc_heap *heap = rrc_lua_heap(L);
    GObject *object = go_check(L, 1);
    GQuark detail;
    guint signal = go_check_signal(L, G_OBJECT_TYPE(object), luaL_checkstring(L, 2), &detail);
    gboolean is_after = lua_toboolean(L, 4);
    rrc_object *function;
    go_handler *handler;
    luaL_checkany(L, 3);
    rrc_lua_check_callback(L, 3);
    luaL_argcheck(L, !lua_isnil(L, 3), 3, "function expected, got nil");
    function = rrc_lua_ref(L, heap, 3);             /* can run finalizers, which close the object */
    object = go_test(L, 1);
    if (object == NULL) {
        rrc_decref(heap, function);
        go_check(L, 1);
    }
    handler = new_handler(go_find(heap, object), function);
    handler->id = g_signal_connect_closure_by_id(object, signal, detail, &handler->closure, is_after);
    lua_pushinteger(L, (lua_Integer)handler->id);
    return 1;
}

int go_disconnect(lua_State *L)
{
    GObject *object = go_check(L, 1);
    gulong id = (gulong)luaL_checknumber(L, 2);
    go_handler *handler = go_find(rrc_lua_heap(L), object)->handlers;
    while (handler != NULL && handler->id != id)
        handler = handler->next;
    if (handler == NULL || !g_signal_handler_is_connected(object, id))
        return luaL_argerror(L, 2, "no handler of this object");
    go_enter(L, object);
    g_signal_handler_disconnect(object, id);
    return go_leave(L, object, 0);
}

/* ---- who holds whom ---- */

static intptr_t wrapper_outside(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return (intptr_t)g_atomic_int_get((gint *)&((go_wrapper *)self)->object->ref_count) - 1;
}

static int wrapper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    go_wrapper *wrapper = (go_wrapper *)self;
    const go_handler *handler;
    go_visitor visitor;
    int result = 0;
    guint i;
    for (handler = wrapper->handlers; handler != NULL; handler = handler->next)
        RRC_VISIT(handler->function);
    visitor.heap = wrapper->heap;
    visitor.visit = visit;
    visitor.arg = arg;
    visitor.depth = 0;
    for (i = 0; i < wrapper->value_count && result == 0; i++)
        if (G_VALUE_HOLDS_OBJECT(&wrapper->values[i]))
            result = go_visit(&visitor, (GObject *)g_value_get_object(&wrapper->values[i]));
    return result == 0 ? go_visit_owned(&visitor, wrapper->object) : result;
}

/* The values go with the wrapper, also if C still holds the GObject. So a cycle of such properties is broken. */
static void drop_values(go_wrapper *wrapper)
{
    GValue *values = wrapper->values;
    guint i, n = wrapper->value_count;
    wrapper->values = NULL;
    wrapper->value_count = 0;
    for (i = 0; i < n; i++)
        g_value_unset(&values[i]);
    g_free(values);
}

static int wrapper_clear(rrc_heap *heap, rrc_object *self)
{
    go_wrapper *wrapper = (go_wrapper *)self;
    (void)heap;
    disconnect_handlers(wrapper);
    drop_values(wrapper);
    go_drop_owned(wrapper);
    return 0;
}

/* object:close(): C functions can still use the object, but no handler runs any more. */
void go_close_wrapper(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    disconnect_handlers((go_wrapper *)self);
}

/* Nobody holds the GObject any more, or the script has closed it, or its Lua state has ended. */
static void wrapper_dealloc(rrc_heap *heap, rrc_object *self)
{
    go_wrapper *wrapper = (go_wrapper *)self;
    GObject *object = wrapper->object;
    go_wrapper *first = (go_wrapper *)g_object_get_qdata(object, wrappers_quark());
    if (first == wrapper) {
        g_object_set_qdata(object, wrappers_quark(), wrapper->next);
    } else {
        while (first->next != wrapper)
            first = first->next;
        first->next = wrapper->next;
    }
    disconnect_handlers(wrapper);
    drop_values(wrapper);
    rrc_gc_del(heap, self);
    g_object_unref(object);
}

const rrc_type go_wrapper_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "GObject", .tp_basicsize = sizeof(go_wrapper),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_outside = wrapper_outside, .tp_traverse = wrapper_traverse,
    .tp_clear = wrapper_clear, .tp_dealloc = wrapper_dealloc, .tp_size = go_size,
};

/* ---- identity ---- */

go_wrapper *go_find(rrc_heap *heap, GObject *object)
{
    go_wrapper *wrapper = (go_wrapper *)g_object_get_qdata(object, wrappers_quark());
    while (wrapper != NULL && wrapper->heap != heap)
        wrapper = wrapper->next;
    return wrapper;
}

/* The reference to object goes to the wrapper. */
static go_wrapper *new_wrapper(rrc_heap *heap, GObject *object)
{
    go_wrapper *wrapper = (go_wrapper *)rrc_gc_new(heap, &go_wrapper_type);
    if (wrapper == NULL) {
        g_object_unref(object);
        return NULL;
    }
    wrapper->heap = heap;
    wrapper->object = object;
    wrapper->next = (go_wrapper *)g_object_get_qdata(object, wrappers_quark());
    g_object_set_qdata(object, wrappers_quark(), wrapper);
    if (rrc_gc_track(heap, &wrapper->head) != RRC_OK)
        RRC_CLEAR(heap, wrapper);
    return wrapper;
}

go_wrapper *go_wrap_new(rrc_heap *heap, GObject *object)
{
    return new_wrapper(heap, (GObject *)g_object_ref(object));
}

rrc_object *go_wrap(rrc_heap *heap, GObject *object)
{
    go_wrapper *wrapper = go_find(heap, object);
    if (wrapper != NULL)
        rrc_incref(heap, &wrapper->head);
    else
        wrapper = new_wrapper(heap, (GObject *)g_object_ref_sink(object));
    return (rrc_object *)wrapper;
}

void go_push(lua_State *L, GObject *object)
{
    rrc_heap *heap = rrc_lua_heap(L);
    if (object == NULL)
        lua_pushnil(L);
    else
        rrc_lua_give(L, heap, go_wrap(heap, object));
}
