/* introspect.c - methods and functions by their names, as the descriptions of libraries (typelibs) say: object:method(),
 * G.Class.function(), G.require(namespace).
 *
 * libgirepository reads the descriptions. It is loaded when the first name is asked for, so that this module builds
 * and runs without it. (Its functions are declared here, as its headers need not be there.)
 *
 * A description is read once, into a `signature`. A call has a userdata with a slot for each argument and the result.
 * What a slot owns is released after the call, or by Lua's collector if an error comes in between.
 */
#include "gobject.h"

#include <gmodule.h>
#include <string.h>

#define METHODS "gobject.methods"       /* in the registry: GType -> name -> function, or false */
#define SIGNATURE "gobject.signature"
#define CALL "gobject.call"
#define TYPE "gobject.type"

/* ---- libgirepository ---- */

enum { INFO_FUNCTION = 1, INFO_CALLBACK, INFO_STRUCT, INFO_BOXED, INFO_ENUM, INFO_FLAGS, INFO_OBJECT, INFO_INTERFACE,
       INFO_CONSTANT, INFO_UNION = 11 };
enum { OWNS_NOTHING, OWNS_CONTAINER, OWNS_ALL };
enum { IN, OUT, INOUT };
enum { SCOPE_CALL = 1, SCOPE_ASYNC, SCOPE_NOTIFIED };
enum { IS_METHOD = 1, THROWS = 32 };
enum { TAG_VOID, TAG_BOOLEAN, TAG_INT8, TAG_UINT8, TAG_INT16, TAG_UINT16, TAG_INT32, TAG_UINT32, TAG_INT64, TAG_UINT64,
       TAG_FLOAT, TAG_DOUBLE, TAG_GTYPE, TAG_UTF8, TAG_FILENAME, TAG_ARRAY, TAG_INTERFACE, TAG_GLIST, TAG_GSLIST,
       TAG_GHASH, TAG_ERROR, TAG_UNICHAR };
enum { C_ARRAY };

typedef struct info info;             /* libgirepository's; each is a reference that we drop */

typedef union argument {
    gboolean boolean;
    gint8    int8;
    guint8   uint8;
    gint16   int16;
    guint16  uint16;
    gint32   int32;
    guint32  uint32;
    gint64   int64;
    guint64  uint64;
    gfloat   float_;
    gdouble  double_;
    gsize    size;
    gpointer pointer;
} argument;

typedef void (*closure_function)(void *cif, void *result, void **arguments, void *data);

#define FUNCTIONS(X) \
    X(void *, irepository_require, (void *, const char *, const char *, int, GError **)) \
    X(info *, irepository_find_by_gtype, (void *, GType)) \
    X(info *, irepository_find_by_name, (void *, const char *, const char *)) \
    X(int, base_info_get_type, (info *)) \
    X(const char *, base_info_get_name, (info *)) \
    X(const char *, base_info_get_namespace, (info *)) \
    X(info *, base_info_get_container, (info *)) \
    X(info *, base_info_ref, (info *)) \
    X(void, base_info_unref, (info *)) \
    X(GType, registered_type_info_get_g_type, (info *)) \
    X(int, object_info_get_n_methods, (info *)) \
    X(info *, object_info_get_method, (info *, int)) \
    X(int, interface_info_get_n_methods, (info *)) \
    X(info *, interface_info_get_method, (info *, int)) \
    X(int, struct_info_get_n_methods, (info *)) \
    X(info *, struct_info_get_method, (info *, int)) \
    X(gsize, struct_info_get_size, (info *)) \
    X(int, struct_info_get_n_fields, (info *)) \
    X(info *, struct_info_get_field, (info *, int)) \
    X(info *, field_info_get_type, (info *)) \
    X(gboolean, field_info_get_field, (info *, gpointer, argument *)) \
    X(gboolean, field_info_set_field, (info *, gpointer, const argument *)) \
    X(int, union_info_get_n_methods, (info *)) \
    X(info *, union_info_get_method, (info *, int)) \
    X(int, function_info_get_flags, (info *)) \
    X(const char *, function_info_get_symbol, (info *)) \
    X(gboolean, function_info_invoke, (info *, const argument *, int, const argument *, int, argument *, GError **)) \
    X(int, callable_info_get_n_args, (info *)) \
    X(info *, callable_info_get_arg, (info *, int)) \
    X(info *, callable_info_get_return_type, (info *)) \
    X(int, callable_info_get_caller_owns, (info *)) \
    X(int, callable_info_get_instance_ownership_transfer, (info *)) \
    X(gboolean, callable_info_skip_return, (info *)) \
    X(void *, callable_info_create_closure, (info *, void *, closure_function, void *)) \
    X(gpointer *, callable_info_get_closure_native_address, (info *, void *)) \
    X(void, callable_info_destroy_closure, (info *, void *)) \
    X(int, arg_info_get_direction, (info *)) \
    X(int, arg_info_get_ownership_transfer, (info *)) \
    X(gboolean, arg_info_may_be_null, (info *)) \
    X(gboolean, arg_info_is_caller_allocates, (info *)) \
    X(int, arg_info_get_scope, (info *)) \
    X(int, arg_info_get_closure, (info *)) \
    X(int, arg_info_get_destroy, (info *)) \
    X(info *, arg_info_get_type, (info *)) \
    X(int, type_info_get_tag, (info *)) \
    X(gboolean, type_info_is_pointer, (info *)) \
    X(info *, type_info_get_param_type, (info *, int)) \
    X(info *, type_info_get_interface, (info *)) \
    X(int, type_info_get_array_type, (info *)) \
    X(int, type_info_get_array_length, (info *)) \
    X(int, type_info_get_array_fixed_size, (info *)) \
    X(gboolean, type_info_is_zero_terminated, (info *)) \
    X(const char *, type_tag_to_string, (int)) \
    X(int, enum_info_get_n_values, (info *)) \
    X(info *, enum_info_get_value, (info *, int)) \
    X(gint64, value_info_get_value, (info *)) \
    X(info *, constant_info_get_type, (info *)) \
    X(int, constant_info_get_value, (info *, argument *)) \
    X(void, constant_info_free_value, (info *, argument *))

typedef struct repository {
#define MEMBER(result, name, parameters) result (*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} repository;

static repository gi;
static gchar *why_not;                  /* the reason why no description can be read; NULL: they can be */
G_LOCK_DEFINE_STATIC(gi);

/* GOBJECT_GIREPOSITORY names another library than the usual one. */
static gchar *load_repository(void)
{
    static const struct { const char *name; gsize offset; } functions[] = {
#define ROW(result, name, parameters) { "g_" #name, offsetof(repository, name) },
        FUNCTIONS(ROW)
#undef ROW
    };
    const char *name = g_getenv("GOBJECT_GIREPOSITORY");
    GModule *library;
    gpointer address;
    guint i;
    if (name == NULL)
        name = "libgirepository-1.0.so.1";
    library = g_module_open(name, G_MODULE_BIND_LAZY);
    if (library == NULL)
        return g_strdup_printf("%s is not installed", name);
    for (i = 0; i < G_N_ELEMENTS(functions); i++) {
        if (!g_module_symbol(library, functions[i].name, &address)) {
            g_module_close(library);
            return g_strdup_printf("%s has no %s", name, functions[i].name);
        }
        memcpy((char *)&gi + functions[i].offset, &address, sizeof address);
    }
    g_module_make_resident(library);
    (void)gi.irepository_require(NULL, "Gio", "2.0", 0, NULL);      /* GLib and GObject come with it */
    return NULL;
}

const char *go_why_no_methods(void)
{
    static gboolean is_tried;
    G_LOCK(gi);
    if (!is_tried)
        why_not = load_repository();
    is_tried = TRUE;
    G_UNLOCK(gi);
    return why_not;
}

/* ---- what a description says ---- */

typedef struct type {
    int          tag, kind;             /* kind: INFO_..., if the tag is TAG_INTERFACE */
    gboolean     is_pointer;
    GType        gtype;
    int          array_type, length, fixed_size;        /* of an array; length: the number of the argument, or -1 */
    gboolean     is_zero_terminated;
    struct type *element;
    info        *interface;
    gchar       *name;
} type;

typedef struct param {
    type    *type;
    int      direction, transfer, scope, closure, destroy;
    gboolean is_nullable, is_allocated, is_implicit;    /* implicit: lengths, and the data of callbacks */
} param;

typedef struct signature {
    info    *info;
    gchar   *name, *problem;            /* problem: why it cannot be called, or NULL */
    type    *self;                      /* of a method, or NULL */
    int      self_transfer;
    gboolean throws;
    type    *result;
    int      result_transfer;
    gboolean has_result;
    int      count;
    param   *params;
    int      value_count;               /* the arguments that Lua gives, with self */
} signature;

static void drop_info(info *i)
{
    if (i != NULL)
        gi.base_info_unref(i);
}

static void free_type(type *t)
{
    if (t == NULL)
        return;
    free_type(t->element);
    drop_info(t->interface);
    g_free(t->name);
    g_free(t);
}

/* The type that an interface is: it takes the reference. */
static type *new_interface_type(info *interface)
{
    type *t = g_new0(type, 1);
    t->tag = TAG_INTERFACE;
    t->kind = gi.base_info_get_type(interface);
    t->interface = interface;
    t->length = -1;
    t->is_pointer = TRUE;
    if (t->kind >= INFO_STRUCT && t->kind != INFO_CONSTANT && t->kind <= INFO_UNION)
        t->gtype = gi.registered_type_info_get_g_type(interface);
    t->name = g_strdup_printf("%s.%s", gi.base_info_get_namespace(interface), gi.base_info_get_name(interface));
    return t;
}

/* It takes the reference. */
static type *new_type(info *i)
{
    int tag = gi.type_info_get_tag(i);
    type *t = tag == TAG_INTERFACE ? new_interface_type(gi.type_info_get_interface(i)) : g_new0(type, 1);
    t->tag = tag;
    t->is_pointer = gi.type_info_is_pointer(i);
    t->length = -1;
    if (tag == TAG_ARRAY) {
        t->array_type = gi.type_info_get_array_type(i);
        t->length = gi.type_info_get_array_length(i);
        t->fixed_size = gi.type_info_get_array_fixed_size(i);
        t->is_zero_terminated = gi.type_info_is_zero_terminated(i);
    }
    if (tag == TAG_ARRAY || tag == TAG_GLIST || tag == TAG_GSLIST)
        t->element = new_type(gi.type_info_get_param_type(i, 0));
    if (t->element != NULL)
        t->name = g_strdup_printf("%s of %s", gi.type_tag_to_string(tag), t->element->name);
    else if (t->name == NULL)
        t->name = g_strdup(gi.type_tag_to_string(tag));
    drop_info(i);
    return t;
}

static int type_gc(lua_State *L)
{
    type **t = (type **)lua_touserdata(L, 1);
    free_type(*t);
    *t = NULL;
    return 0;
}

static gboolean is_text(const type *t)
{
    return t->tag == TAG_UTF8 || t->tag == TAG_FILENAME;
}

static gboolean is_enum(const type *t)
{
    return t->tag == TAG_INTERFACE && (t->kind == INFO_ENUM || t->kind == INFO_FLAGS);
}

static gboolean is_object(const type *t)
{
    return t->tag == TAG_INTERFACE && (t->kind == INFO_OBJECT || t->kind == INFO_INTERFACE);
}

static gboolean is_boxed(const type *t)
{
    return t->tag == TAG_INTERFACE && !is_enum(t) && !is_object(t) && G_TYPE_FUNDAMENTAL(t->gtype) == G_TYPE_BOXED;
}

static gboolean is_variant(const type *t)
{
    return t->tag == TAG_INTERFACE && t->gtype == G_TYPE_VARIANT;
}

static gboolean is_callback(const type *t)
{
    return t->tag == TAG_INTERFACE && t->kind == INFO_CALLBACK;
}

/* Can Lua give or get such a value? Not as a whole: arrays, lists, callbacks. */
static gboolean is_single(const type *t)
{
    if (t->tag != TAG_INTERFACE)
        return (t->tag >= TAG_BOOLEAN && t->tag <= TAG_FILENAME) || t->tag == TAG_UNICHAR;
    if (is_object(t))
        return g_type_is_a(t->gtype, G_TYPE_OBJECT) || G_TYPE_IS_INTERFACE(t->gtype);
    return is_enum(t) || is_boxed(t) || is_variant(t);
}

static gboolean is_held_by_pointer(const type *t)
{
    return is_text(t) || (t->tag == TAG_INTERFACE && !is_enum(t));
}

/* (Some descriptions say that an array has objects themselves. There are pointers to them.) */
static gboolean is_element(const type *t)
{
    return is_single(t) && (t->is_pointer || is_object(t) || !is_held_by_pointer(t));
}

/* A container of C arrays and lists. */
static gboolean is_container(const type *t)
{
    if (t->tag == TAG_ARRAY)
        return t->array_type == C_ARRAY && is_element(t->element)
               && (t->is_zero_terminated || t->length >= 0 || t->fixed_size > 0);
    return (t->tag == TAG_GLIST || t->tag == TAG_GSLIST) && is_element(t->element) && is_held_by_pointer(t->element);
}

static gboolean is_known(const param *p)
{
    if (p->direction == IN)
        return is_single(p->type) || is_callback(p->type)
               || (is_container(p->type) && p->transfer != OWNS_CONTAINER && p->type->fixed_size <= 0);
    if (p->direction == INOUT)
        return is_single(p->type) && !is_held_by_pointer(p->type);
    return p->is_allocated ? is_boxed(p->type) && (p->type->kind == INFO_STRUCT || p->type->kind == INFO_BOXED)
                           : is_single(p->type) || is_container(p->type);
}

static void free_signature(signature *s)
{
    int i;
    for (i = 0; i < s->count; i++)
        free_type(s->params[i].type);
    g_free(s->params);
    free_type(s->self);
    free_type(s->result);
    drop_info(s->info);
    g_free(s->name);
    g_free(s->problem);
    memset(s, 0, sizeof *s);
}

static void make_implicit(signature *s, int i)
{
    if (i >= 0 && i < s->count)
        s->params[i].is_implicit = TRUE;
}

static void read_params(signature *s)
{
    int i;
    s->count = gi.callable_info_get_n_args(s->info);
    s->params = g_new0(param, (gsize)s->count);
    for (i = 0; i < s->count; i++) {
        info *argument_info = gi.callable_info_get_arg(s->info, i);
        param *p = &s->params[i];
        p->type = new_type(gi.arg_info_get_type(argument_info));
        p->direction = gi.arg_info_get_direction(argument_info);
        p->transfer = gi.arg_info_get_ownership_transfer(argument_info);
        p->is_nullable = gi.arg_info_may_be_null(argument_info);
        p->is_allocated = gi.arg_info_is_caller_allocates(argument_info) && p->direction == OUT
                          && is_held_by_pointer(p->type);
        p->scope = gi.arg_info_get_scope(argument_info);
        p->closure = p->destroy = -1;
        if (is_callback(p->type)) {
            p->closure = gi.arg_info_get_closure(argument_info);
            p->destroy = gi.arg_info_get_destroy(argument_info);
        }
        if (p->type->tag == TAG_ARRAY && gi.arg_info_is_caller_allocates(argument_info))
            p->is_allocated = TRUE;
        drop_info(argument_info);
    }
    for (i = 0; i < s->count; i++) {
        make_implicit(s, s->params[i].type->length);
        make_implicit(s, s->params[i].closure);
        make_implicit(s, s->params[i].destroy);
    }
    make_implicit(s, s->result->length);
}

/* Fill an empty signature. It takes the reference. */
static void read_signature(signature *s, info *callable)
{
    info *container = gi.base_info_get_container(callable);     /* borrowed */
    int i, flags;
    s->info = callable;
    s->result = new_type(gi.callable_info_get_return_type(callable));
    s->result_transfer = gi.callable_info_get_caller_owns(callable);
    s->has_result = (s->result->tag != TAG_VOID || s->result->is_pointer) && !gi.callable_info_skip_return(callable);
    read_params(s);
    if (gi.base_info_get_type(callable) != INFO_FUNCTION) {
        s->name = g_strdup_printf("a %s", gi.base_info_get_name(callable));
        return;
    }
    flags = gi.function_info_get_flags(callable);
    s->name = g_strdup(gi.function_info_get_symbol(callable));
    s->throws = (flags & THROWS) != 0;
    if (flags & IS_METHOD) {
        s->self = new_interface_type(gi.base_info_ref(container));
        s->self_transfer = gi.callable_info_get_instance_ownership_transfer(callable);
        s->value_count++;
        if (!is_single(s->self))
            s->problem = g_strdup_printf("no value of Lua can be its self (%s)", s->self->name);
    }
    for (i = 0; i < s->count; i++) {
        const param *p = &s->params[i];
        if (!p->is_implicit && p->direction != OUT)
            s->value_count++;
        if (!p->is_implicit && !is_known(p) && s->problem == NULL)
            s->problem = g_strdup_printf("no value of Lua can be its argument %d (%s)", i + 1, p->type->name);
    }
    if (s->has_result && !is_single(s->result) && !is_container(s->result) && s->problem == NULL)
        s->problem = g_strdup_printf("no value of Lua can be its result (%s)", s->result->name);
}

/* ---- single values ---- */

static gsize size_of(const type *t)
{
    switch (t->tag) {
    case TAG_INT8: case TAG_UINT8:   return 1;
    case TAG_INT16: case TAG_UINT16: return 2;
    case TAG_INT32: case TAG_UINT32: case TAG_BOOLEAN: case TAG_UNICHAR: return 4;
    case TAG_INT64: case TAG_UINT64: return 8;
    case TAG_FLOAT:  return sizeof(gfloat);
    case TAG_DOUBLE: return sizeof(gdouble);
    default: return is_enum(t) ? sizeof(gint) : sizeof(gpointer);
    }
}

/* A number of a type that has no values, if it is no integer. */
static gint64 get_integer(const type *t, const argument *a)
{
    switch (t->tag) {
    case TAG_INT8:   return a->int8;
    case TAG_UINT8:  return a->uint8;
    case TAG_INT16:  return a->int16;
    case TAG_UINT16: return a->uint16;
    case TAG_INT32:  return a->int32;
    case TAG_UINT32: return a->uint32;
    default:         return a->int64;
    }
}

static void set_integer(const type *t, argument *a, guint64 number)
{
    switch (t->tag) {
    case TAG_INT8: case TAG_UINT8:   a->uint8 = (guint8)number;   break;
    case TAG_INT16: case TAG_UINT16: a->uint16 = (guint16)number; break;
    case TAG_INT32: case TAG_UINT32: a->uint32 = (guint32)number; break;
    default:                         a->uint64 = number;
    }
}

static guint64 to_integer(lua_State *L, int index, const type *t, const char *what)
{
    switch (t->tag) {
    case TAG_INT8:   return go_to_integer(L, index, G_MININT8, G_MAXINT8, what);
    case TAG_UINT8:  return go_to_integer(L, index, 0, G_MAXUINT8, what);
    case TAG_INT16:  return go_to_integer(L, index, G_MININT16, G_MAXINT16, what);
    case TAG_UINT16: return go_to_integer(L, index, 0, G_MAXUINT16, what);
    case TAG_INT32:  return go_to_integer(L, index, G_MININT32, G_MAXINT32, what);
    case TAG_UINT32: return go_to_integer(L, index, 0, G_MAXUINT32, what);
    case TAG_INT64:  return go_to_integer(L, index, G_MININT64, G_MAXINT64, what);
    default:         return go_to_integer(L, index, 0, G_MAXUINT64, what);
    }
}

/* Enums and flags without a GType: their values have the names that the description gives them, with - as GObject's
   have it. */
static gboolean next_plain(const type *t, int *i, gchar **name, gint64 *number)
{
    info *value;
    if (*i >= gi.enum_info_get_n_values(t->interface))
        return FALSE;
    value = gi.enum_info_get_value(t->interface, (*i)++);
    *name = g_strdelimit(g_strdup(gi.base_info_get_name(value)), "_", '-');
    *number = gi.value_info_get_value(value);
    drop_info(value);
    return TRUE;
}

static gint to_plain_value(lua_State *L, int index, const type *t, const char *what)
{
    const char *wanted = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    gchar *name;
    gint64 number;
    int i = 0;
    if (wanted == NULL)
        return (gint)go_to_integer(L, index, G_MININT, G_MAXUINT, what);
    while (next_plain(t, &i, &name, &number)) {
        gboolean is_found = strcmp(name, wanted) == 0;
        g_free(name);
        if (is_found)
            return (gint)number;
    }
    return go_bad_value(L, index, what, t->name);
}

static gint to_plain_enum(lua_State *L, int index, const type *t, const char *what)
{
    gint result = 0;
    if (t->kind == INFO_ENUM || lua_type(L, index) != LUA_TTABLE)
        return to_plain_value(L, index, t, what);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_toboolean(L, -1))
            result |= to_plain_value(L, lua_gettop(L) - 1, t, what);
        lua_pop(L, 1);
    }
    return result;
}

static void push_plain_enum(lua_State *L, const type *t, gint set)
{
    gchar *name;
    gint64 number;
    int i = 0;
    if (t->kind == INFO_FLAGS)
        lua_newtable(L);
    while (next_plain(t, &i, &name, &number)) {
        gboolean is_found = t->kind == INFO_ENUM ? set == (gint)number : number != 0 && (set & number) == number;
        if (is_found)
            lua_pushstring(L, name);
        g_free(name);
        if (is_found && t->kind == INFO_ENUM)
            return;
        if (is_found) {
            lua_pushboolean(L, 1);
            lua_rawset(L, -3);
        }
    }
    if (t->kind == INFO_ENUM)
        lua_pushinteger(L, set);
}

static gint to_enum(lua_State *L, int index, const type *t, const char *what)
{
    GValue value = G_VALUE_INIT;
    if (t->gtype == G_TYPE_NONE || t->gtype == 0)
        return to_plain_enum(L, index, t, what);
    go_to_value(L, index, g_value_init(&value, t->gtype), what);
    return t->kind == INFO_ENUM ? g_value_get_enum(&value) : (gint)g_value_get_flags(&value);
}

static void push_enum(lua_State *L, const type *t, gint number)
{
    GValue value = G_VALUE_INIT;
    if (t->gtype == G_TYPE_NONE || t->gtype == 0) {
        push_plain_enum(L, t, number);
        return;
    }
    g_value_init(&value, t->gtype);
    if (t->kind == INFO_ENUM)
        g_value_set_enum(&value, number);
    else
        g_value_set_flags(&value, (guint)number);
    go_push_value(L, &value);
}

/* A character: a text that has only that, or its number. */
static gunichar to_character(lua_State *L, int index, const char *what)
{
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    if (text == NULL)
        return (gunichar)go_to_integer(L, index, 0, 0x10ffff, what);
    if (*text == '\0' || !g_utf8_validate(text, -1, NULL) || *g_utf8_next_char(text) != '\0')
        go_bad_value(L, index, what, "a character");
    return g_utf8_get_char(text);
}

/* A GValue of the type that the value of Lua has. */
static GValue *to_natural_value(lua_State *L, int index, const char *what)
{
    const GObject *object = go_test(L, index);
    GType gtype = object != NULL                       ? G_OBJECT_TYPE(object)
                  : lua_isboolean(L, index)            ? G_TYPE_BOOLEAN
                  : lua_type(L, index) == LUA_TSTRING  ? G_TYPE_STRING
                  : lua_type(L, index) == LUA_TNUMBER  ? G_TYPE_DOUBLE : 0;
    GValue *value;
    if (gtype == 0)
        go_bad_value(L, index, what, "boolean, number, string or object");
#if LUA_VERSION_NUM >= 503
    if (lua_isinteger(L, index))
        gtype = G_TYPE_INT64;
#endif
    if (gtype == G_TYPE_STRING)
        (void)go_to_string(L, index, what);             /* raises here */
    value = g_new0(GValue, 1);
    go_to_value(L, index, g_value_init(value, gtype), what);
    return value;
}

/* Convert a value that is not nil. *is_owned becomes whether the result is ours: a boxed value is that of the
   userdata. */
static argument to_single(lua_State *L, int index, const type *t, gboolean *is_owned, const char *what)
{
    argument a;
    GObject *object;
    memset(&a, 0, sizeof a);
    *is_owned = TRUE;
    if (is_enum(t)) {
        a.int32 = to_enum(L, index, t, what);
    } else if (is_object(t)) {
        object = go_test(L, index);
        if (object == NULL || !g_type_is_a(G_OBJECT_TYPE(object), t->gtype))
            go_bad_value(L, index, what, g_type_name(t->gtype));
        a.pointer = g_object_ref(object);
    } else if (is_variant(t)) {
        a.pointer = g_variant_ref_sink(go_to_variant(L, index, NULL, what));
    } else if (is_boxed(t)) {
        a.pointer = go_test_boxed(L, index, t->gtype);
        *is_owned = a.pointer == NULL;
        if (a.pointer == NULL && t->gtype == G_TYPE_VALUE) {
            a.pointer = to_natural_value(L, index, what);
        } else if (a.pointer == NULL && t->gtype == G_TYPE_BYTES && lua_type(L, index) == LUA_TSTRING) {
            size_t size;
            const char *text = lua_tolstring(L, index, &size);
            a.pointer = g_bytes_new(text, size);
        } else if (a.pointer == NULL && t->gtype == G_TYPE_VARIANT_TYPE && lua_type(L, index) == LUA_TSTRING
                   && g_variant_type_string_is_valid(lua_tostring(L, index))) {
            a.pointer = g_variant_type_new(lua_tostring(L, index));
        } else if (a.pointer == NULL) {
            go_bad_value(L, index, what, g_type_name(t->gtype));
        }
    } else {
        switch (t->tag) {
        case TAG_BOOLEAN: a.boolean = go_to_boolean(L, index, what);                break;
        case TAG_FLOAT:   a.float_ = (gfloat)go_to_number(L, index, what);          break;
        case TAG_DOUBLE:  a.double_ = go_to_number(L, index, what);                 break;
        case TAG_UNICHAR: a.uint32 = to_character(L, index, what);                  break;
        case TAG_UTF8:
        case TAG_FILENAME: a.pointer = g_strdup(go_to_string(L, index, what));      break;
        case TAG_GTYPE:
            a.size = go_type_at(L, index);
            if (a.size == 0)
                go_bad_value(L, index, what, "a class, or the name of a type,");
            break;
        default: set_integer(t, &a, to_integer(L, index, t, what));
        }
    }
    return a;
}

static void push_single(lua_State *L, const type *t, const argument *a)
{
    GValue value = G_VALUE_INIT;
    char character[7];
    if (is_enum(t)) {
        push_enum(L, t, a->int32);
    } else if (is_held_by_pointer(t) && a->pointer == NULL) {
        lua_pushnil(L);
    } else if (is_object(t)) {
        go_push(L, (GObject *)a->pointer);
    } else if (is_variant(t)) {
        go_push_variant(L, (GVariant *)a->pointer);
    } else if (is_boxed(t) && t->gtype == G_TYPE_VALUE) {
        go_push_value(L, (const GValue *)a->pointer);
    } else if (is_boxed(t)) {
        g_value_set_static_boxed(g_value_init(&value, t->gtype), a->pointer);
        go_push_value(L, &value);
    } else {
        switch (t->tag) {
        case TAG_BOOLEAN:  lua_pushboolean(L, a->boolean);                      return;
        case TAG_FLOAT:    lua_pushnumber(L, (lua_Number)a->float_);            return;
        case TAG_DOUBLE:   lua_pushnumber(L, a->double_);                       return;
        case TAG_UTF8:
        case TAG_FILENAME: lua_pushstring(L, (const char *)a->pointer);         return;
        case TAG_UNICHAR:
            lua_pushlstring(L, character, (size_t)g_unichar_to_utf8(a->uint32, character));
            return;
        case TAG_GTYPE:
            g_value_set_gtype(g_value_init(&value, G_TYPE_GTYPE), a->size);
            break;
        case TAG_UINT64:
            g_value_set_uint64(g_value_init(&value, G_TYPE_UINT64), a->uint64);
            break;
        default:
            g_value_set_int64(g_value_init(&value, G_TYPE_INT64), get_integer(t, a));
        }
        go_push_value(L, &value);
    }
}

static void release_single(const type *t, gpointer pointer)
{
    if (!is_held_by_pointer(t) || pointer == NULL)
        return;
    if (is_text(t))
        g_free(pointer);
    else if (is_object(t))
        g_object_unref(pointer);
    else if (is_variant(t))
        g_variant_unref((GVariant *)pointer);
    else if (is_boxed(t))
        g_boxed_free(t->gtype, pointer);
}

/* ---- calls: their slots ---- */

typedef struct callback callback;

typedef struct slot {
    const type *type;
    argument    value;
    int         owned;                  /* OWNS_...: what is released after the call */
    gsize       count;                  /* of an array */
    gpointer    memory;                 /* that C fills */
    callback   *callback;               /* that C has not got, or that goes after the call */
} slot;

typedef struct call {
    signature *signature;
    slot      *self, *result, *slots;
    argument  *in, *out;
    slot       all[1];
} call;

static void free_callback(callback *c);

static void release_slot(slot *s)
{
    const type *t = s->type;
    int owned = s->owned;
    gsize i;
    s->owned = OWNS_NOTHING;
    if (s->callback != NULL)
        free_callback(s->callback);
    s->callback = NULL;
    if (s->memory != NULL && t->gtype == G_TYPE_VALUE && G_IS_VALUE(s->memory))
        g_value_unset((GValue *)s->memory);
    g_free(s->memory);
    s->memory = NULL;
    if (owned == OWNS_NOTHING || t == NULL)
        return;
    if (t->element == NULL) {
        release_single(t, s->value.pointer);
    } else if (t->tag == TAG_ARRAY) {
        if (owned == OWNS_ALL && is_held_by_pointer(t->element))
            for (i = 0; i < s->count; i++)
                release_single(t->element, ((gpointer *)s->value.pointer)[i]);
        g_free(s->value.pointer);
    } else {
        GSList *list;                   /* (a GList begins like a GSList) */
        if (owned == OWNS_ALL)
            for (list = (GSList *)s->value.pointer; list != NULL; list = list->next)
                release_single(t->element, list->data);
        if (t->tag == TAG_GLIST)
            g_list_free((GList *)s->value.pointer);
        else
            g_slist_free((GSList *)s->value.pointer);
    }
    s->value.pointer = NULL;
}

static int release_call(lua_State *L)
{
    call *c = (call *)lua_touserdata(L, 1);
    int i;
    for (i = 0; i < c->signature->count + 2; i++)
        release_slot(&c->all[i]);
    return 0;
}

/* Push a userdata for a call. (The function on the stack keeps the signature.) */
static call *new_call(lua_State *L, signature *s)
{
    gsize n = (gsize)s->count + 2, size = sizeof(call) + n * (sizeof(slot) + 2 * sizeof(argument));
    call *c = (call *)lua_newuserdata(L, size);
    memset(c, 0, size);
    c->signature = s;
    c->self = c->all;
    c->result = c->all + 1;
    c->slots = c->all + 2;
    c->in = (argument *)(c->all + n);
    c->out = c->in + n;
    if (luaL_newmetatable(L, CALL)) {
        lua_pushcfunction(L, release_call);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return c;
}

/* ---- arrays and lists ---- */

/* Bytes are a text as well. */
static void to_bytes(lua_State *L, int index, slot *s)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);
    s->count = size;
    s->value.pointer = g_malloc0(size + 1);
    s->owned = OWNS_ALL;
    memcpy(s->value.pointer, text, size);
}

/* An element that is ours. */
static argument to_element(lua_State *L, int list, gsize i, const type *t, const char *what)
{
    gboolean is_owned;
    argument a;
    lua_rawgeti(L, list, (int)i);
    a = to_single(L, lua_gettop(L), t, &is_owned, what);
    if (!is_owned)
        a.pointer = g_boxed_copy(t->gtype, a.pointer);
    lua_pop(L, 1);
    return a;
}

static void to_container(lua_State *L, int index, slot *s, const char *what)
{
    const type *t = s->type;
    gsize n, i, size = size_of(t->element);
    if (t->tag == TAG_ARRAY && size == 1 && lua_type(L, index) == LUA_TSTRING) {
        to_bytes(L, index, s);
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE)
        go_bad_value(L, index, what, "list");
    n = (gsize)go_length(L, index);
    s->owned = OWNS_ALL;                        /* an error leaves the first ones to the collector */
    if (t->tag == TAG_ARRAY) {
        s->value.pointer = g_malloc0_n(n + 1, size);
        s->count = n;
        for (i = 0; i < n; i++) {
            argument a = to_element(L, index, i + 1, t->element, what);
            memcpy((char *)s->value.pointer + i * size, &a, size);
        }
        return;
    }
    for (i = n; i > 0; i--) {
        gpointer element = to_element(L, index, i, t->element, what).pointer;
        s->value.pointer = t->tag == TAG_GLIST ? (gpointer)g_list_prepend((GList *)s->value.pointer, element)
                                               : (gpointer)g_slist_prepend((GSList *)s->value.pointer, element);
    }
}

static void push_container(lua_State *L, const slot *s)
{
    const type *t = s->type;
    const char *memory = (const char *)s->value.pointer;
    gsize i, size = size_of(t->element);
    argument a;
    if (t->tag == TAG_ARRAY && size == 1) {
        lua_pushlstring(L, memory != NULL ? memory : "", s->count);
        return;
    }
    lua_newtable(L);
    if (t->tag == TAG_ARRAY) {
        for (i = 0; i < s->count; i++) {
            memset(&a, 0, sizeof a);
            memcpy(&a, memory + i * size, size);
            push_single(L, t->element, &a);
            lua_rawseti(L, -2, (int)i + 1);
        }
    } else {
        const GSList *list = (const GSList *)s->value.pointer;
        for (i = 1; list != NULL; list = list->next, i++) {
            a.pointer = list->data;
            push_single(L, t->element, &a);
            lua_rawseti(L, -2, (int)i);
        }
    }
}

/* How many elements C has given. */
static void count_elements(call *c, slot *s)
{
    const type *t = s->type;
    gsize size = size_of(t->element);
    static const char zeros[8];
    s->count = 0;
    if (s->value.pointer == NULL)
        return;
    if (t->length >= 0)
        s->count = (gsize)get_integer(c->slots[t->length].type, &c->slots[t->length].value);
    else if (t->fixed_size > 0)
        s->count = (gsize)t->fixed_size;
    else
        while (memcmp((const char *)s->value.pointer + s->count * size, zeros, size) != 0)
            s->count++;
}

/* ---- callbacks ---- */

/* A function of Lua that C calls. Nobody explains its reference: see module.c. */
struct callback {
    rrc_heap   *heap;
    rrc_object *function;
    signature   signature;
    int         scope, depth;           /* depth: how often it runs now */
    gboolean    compares_objects;
    void       *closure;
    callback   *next;
    guint64     cif[32];                /* libffi's: it takes less */
};

static callback *dead;                  /* of all states: their code may still be running */

/* Free those of this heap that are not running. */
static void free_dead(const rrc_heap *heap)
{
    callback **place, *c, *idle = NULL;
    G_LOCK(gi);
    for (place = &dead; *place != NULL;) {
        c = *place;
        if (c->heap == heap && c->depth == 0) {
            *place = c->next;
            c->next = idle;
            idle = c;
        } else {
            place = &c->next;
        }
    }
    G_UNLOCK(gi);
    while (idle != NULL) {
        c = idle;
        idle = c->next;
        gi.callable_info_destroy_closure(c->signature.info, c->closure);
        free_signature(&c->signature);
        g_free(c);
    }
}

/* The function goes now, all else before a later call of its state. */
static void free_callback(callback *c)
{
    RRC_CLEAR(c->heap, c->function);
    G_LOCK(gi);
    c->next = dead;
    dead = c;
    G_UNLOCK(gi);
}

static void callback_is_over(gpointer data)
{
    free_callback((callback *)data);
}

static gboolean is_anything(const type *t)
{
    return t->tag == TAG_VOID && t->is_pointer;
}

/* The last argument is the data of who has connected the callback, if it is a pointer to anything. */
static gboolean is_data(const signature *s, int i)
{
    return i == s->count - 1 && is_anything(s->params[i].type);
}

/* The descriptions of these functions do not say that their callbacks compare the items of lists. */
static gboolean compares_objects(const signature *s)
{
    static const char *const names[] = { "g_list_store_sort", "g_list_store_insert_sorted", "gtk_custom_sorter_new",
                                         "gtk_custom_sorter_set_sort_func" };
    guint i;
    for (i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(s->name, names[i]) == 0)
            return TRUE;
    return FALSE;
}

typedef struct callback_run {
    callback   *callback;
    rrc_object *function;
    void      **arguments;
    void       *result;
} callback_run;

/* libffi wants a whole word for a small integer. */
static void give_result(lua_State *L, const callback_run *run)
{
    const signature *s = &run->callback->signature;
    const type *t = s->result;
    gboolean is_owned;
    argument a;
    memset(&a, 0, sizeof a);
    if (!lua_isnil(L, -1) || !is_held_by_pointer(t)) {
        a = to_single(L, lua_gettop(L), t, &is_owned, "the result of a callback");
        if (is_object(t) && s->result_transfer == OWNS_NOTHING)
            g_object_unref(a.pointer);                  /* Lua has it */
        else if (!is_owned)
            a.pointer = g_boxed_copy(t->gtype, a.pointer);
    }
    if (t->tag == TAG_FLOAT || t->tag == TAG_DOUBLE || size_of(t) >= sizeof(gsize))
        memcpy(run->result, &a, size_of(t));
    else if (t->tag == TAG_BOOLEAN || is_enum(t))
        *(gssize *)run->result = a.int32;
    else
        *(gssize *)run->result = (gssize)get_integer(t, &a);
}

static int call_function(lua_State *L)
{
    const callback_run *run = (const callback_run *)lua_touserdata(L, 1);
    const signature *s = &run->callback->signature;
    int i, n = 0;
    luaL_checkstack(L, s->count + 4, "too many arguments of a callback");
    rrc_lua_push(L, run->callback->heap, run->function);
    for (i = 0; i < s->count; i++) {
        const type *t = s->params[i].type;
        slot one;
        if (is_data(s, i))
            continue;
        memset(&one, 0, sizeof one);
        one.type = t;
        one.owned = s->params[i].transfer;
        memcpy(&one.value, run->arguments[i], size_of(t));
        if (t->element != NULL)
            push_container(L, &one);
        else if (is_anything(t))
            go_push(L, (GObject *)one.value.pointer);
        else
            push_single(L, t, &one.value);
        release_slot(&one);
        n++;
    }
    lua_call(L, n, s->has_result);
    if (s->has_result)
        give_result(L, run);
    return 0;
}

static void run_callback(void *cif, void *result, void **arguments, void *data)
{
    callback *c = (callback *)data;
    rrc_heap *heap = c->heap;
    callback_run run;
    (void)cif;
    if (c->signature.result->tag != TAG_VOID)
        memset(result, 0, MAX(size_of(c->signature.result), sizeof(gsize)));
    run.callback = c;
    run.function = c->function;
    run.arguments = arguments;
    run.result = result;
    if (run.function == NULL)
        return;
    rrc_incref(heap, run.function);
    c->depth++;
    go_call(heap, call_function, &run);
    c->depth--;
    rrc_decref(heap, run.function);
    if (c->scope == SCOPE_ASYNC && c->function != NULL)
        free_callback(c);
}

/* The type that keeps a function of Lua from being such a callback, or NULL. */
static const type *unknown_type(const callback *c)
{
    const signature *s = &c->signature;
    int i;
    for (i = 0; i < s->count; i++) {
        const param *p = &s->params[i];
        if (is_data(s, i) || (c->compares_objects && is_anything(p->type)))
            continue;
        if (p->direction != IN || (!is_single(p->type) && (p->type->tag == TAG_ARRAY || !is_container(p->type))))
            return p->type;
    }
    if (s->has_result
        && (!is_single(s->result)
            || (is_held_by_pointer(s->result) && s->result_transfer == OWNS_NOTHING && !is_object(s->result))))
        return s->result;
    return NULL;
}

static void to_callback(lua_State *L, int index, call *c, int i, const char *what)
{
    const param *p = &c->signature->params[i];
    slot *s = &c->slots[i];
    rrc_heap *heap = rrc_lua_heap(L);
    const type *unknown;
    callback *made;
    rrc_object *function;
    if (lua_type(L, index) != LUA_TFUNCTION)
        go_bad_value(L, index, what, "function");
    function = rrc_lua_ref(L, heap, index);
    made = g_new0(callback, 1);
    made->heap = heap;
    made->function = function;
    made->scope = p->scope;
    read_signature(&made->signature, gi.base_info_ref(p->type->interface));
    made->closure = gi.callable_info_create_closure(made->signature.info, made->cif, run_callback, made);
    s->callback = made;
    made->compares_objects = compares_objects(c->signature);
    unknown = unknown_type(made);
    if (unknown != NULL)
        go_error(L, "%s cannot be a function of Lua: a %s has to do with %s", what, p->type->name, unknown->name);
    s->value.pointer = (gpointer)gi.callable_info_get_closure_native_address(made->signature.info, made->closure);
    if (p->closure >= 0)
        c->slots[p->closure].value.pointer = made;
    if (p->destroy >= 0)
        c->slots[p->destroy].value.pointer = (gpointer)(gsize)callback_is_over;
}

/* ---- the call of a function ---- */

/* Give the argument that says how long array i is. Arrays can share one. */
static void set_length(lua_State *L, call *c, int i)
{
    const signature *s = c->signature;
    int length = c->slots[i].type->length, other;
    for (other = 0; other < i; other++)
        if (s->params[other].type->length == length && s->params[other].direction == IN
            && c->slots[other].count != c->slots[i].count)
            go_error(L, "two lists of %s are not equally long: %d and %d values", s->name, (int)c->slots[other].count,
                     (int)c->slots[i].count);
    set_integer(c->slots[length].type, &c->slots[length].value, c->slots[i].count);
}

/* Convert argument i from the value at index. */
static void to_argument(lua_State *L, int index, call *c, int i)
{
    const param *p = &c->signature->params[i];
    slot *s = &c->slots[i];
    const char *what = lua_pushfstring(L, "argument %d of %s", index - (c->signature->self != NULL),
                                       c->signature->name);
    gboolean is_owned;
    if (lua_isnil(L, index) && p->is_nullable && (s->type->element != NULL || is_held_by_pointer(s->type))) {
        s->value.pointer = NULL;
    } else if (is_callback(s->type)) {
        to_callback(L, index, c, i, what);
    } else if (s->type->element != NULL) {
        to_container(L, index, s, what);
    } else {
        if (lua_isnil(L, index))
            go_bad_value(L, index, what, s->type->tag == TAG_INTERFACE && s->type->gtype > G_TYPE_NONE
                                             ? g_type_name(s->type->gtype)
                                         : is_text(s->type) ? "string" : s->type->name);
        s->value = to_single(L, index, s->type, &is_owned, what);
        s->owned = is_owned ? OWNS_ALL : OWNS_NOTHING;
    }
    if (s->type->length >= 0)
        set_length(L, c, i);
    lua_pop(L, 1);
}

/* What C takes is not ours any more. A boxed value is copied for it. */
static void give(slot *s, int transfer)
{
    if (transfer == OWNS_NOTHING || s->value.pointer == NULL || s->type->tag == TAG_VOID)
        return;
    if (s->owned == OWNS_NOTHING && s->type->element == NULL && is_boxed(s->type))
        s->value.pointer = g_boxed_copy(s->type->gtype, s->value.pointer);
    s->owned = OWNS_NOTHING;
}

/* Everything that can fail is done. Number the arguments as C wants them. */
static void arrange(call *c, int *in, int *out)
{
    const signature *s = c->signature;
    int i;
    *in = *out = 0;
    if (s->self != NULL) {
        give(c->self, s->self_transfer);
        c->in[(*in)++] = c->self->value;
    }
    for (i = 0; i < s->count; i++) {
        const param *p = &s->params[i];
        slot *one = &c->slots[i];
        argument place;
        if (p->direction == IN) {
            give(one, p->transfer);
            if (one->callback != NULL && p->scope != SCOPE_CALL)
                one->callback = NULL;           /* it is over when C says so */
            c->in[(*in)++] = one->value;
            continue;
        }
        if (p->is_allocated) {
            one->memory = g_malloc0(gi.struct_info_get_size(one->type->interface));
            one->value.pointer = one->memory;
        }
        place.pointer = p->is_allocated ? one->memory : &one->value;
        if (p->direction == INOUT)
            c->in[(*in)++] = place;
        c->out[(*out)++] = place;
    }
}

/* What C has given is ours. A floating reference is sunk. */
static void take(call *c, slot *s, int transfer)
{
    s->owned = transfer;
    if (s->type->element != NULL) {
        if (s->type->tag == TAG_ARRAY)
            count_elements(c, s);
    } else if (is_object(s->type) && s->value.pointer != NULL && g_object_is_floating(s->value.pointer)) {
        g_object_ref_sink(s->value.pointer);
        s->owned = OWNS_ALL;
    }
}

static void push_slot(lua_State *L, const slot *s)
{
    if (s->type->element != NULL)
        push_container(L, s);
    else
        push_single(L, s->type, &s->value);
}

static int push_results(lua_State *L, call *c)
{
    const signature *s = c->signature;
    int i, n = 0;
    luaL_checkstack(L, s->count + 8, NULL);
    if (s->has_result) {
        push_slot(L, c->result);
        n++;
    }
    for (i = 0; i < s->count; i++)
        if (s->params[i].direction != IN && !s->params[i].is_implicit) {
            push_slot(L, &c->slots[i]);
            n++;
        }
    return n;
}

static void collect_arguments(lua_State *L, call *c)
{
    const signature *s = c->signature;
    int i, index = 1;
    if (s->self != NULL) {
        gboolean is_owned;
        c->self->type = s->self;
        c->self->value = to_single(L, index++, s->self, &is_owned, lua_pushfstring(L, "self of %s", s->name));
        c->self->owned = is_owned ? OWNS_ALL : OWNS_NOTHING;
        lua_pop(L, 1);
    }
    c->result->type = s->result;
    for (i = 0; i < s->count; i++)
        c->slots[i].type = s->params[i].type;
    for (i = 0; i < s->count; i++)
        if (!s->params[i].is_implicit && s->params[i].direction != OUT)
            to_argument(L, index++, c, i);
}

static int call_described(lua_State *L)
{
    signature *s = (signature *)lua_touserdata(L, lua_upvalueindex(1));
    GObject *self;
    GError *error = NULL;
    gboolean is_done;
    call *c;
    int i, in, out, n;
    free_dead(rrc_lua_heap(L));
    if (s->problem != NULL)
        return go_error(L, "%s cannot be called: %s", s->name, s->problem);
    if (lua_gettop(L) > s->value_count)
        return go_error(L, "%s takes %d values, got %d", s->name, s->value_count, lua_gettop(L));
    lua_settop(L, s->value_count);
    c = new_call(L, s);
    collect_arguments(L, c);
    self = s->self != NULL && is_object(s->self) ? (GObject *)c->self->value.pointer : NULL;
    go_enter(L, self);
    arrange(c, &in, &out);
    is_done = gi.function_info_invoke(s->info, c->in, in, c->out, out, &c->result->value, &error);
    if (is_done) {
        if (s->has_result)
            take(c, c->result, s->result_transfer);
        for (i = 0; i < s->count; i++)
            if (s->params[i].direction != IN && !s->params[i].is_implicit)
                take(c, &c->slots[i], s->params[i].is_allocated ? OWNS_NOTHING : s->params[i].transfer);
    }
    release_slot(c->self);
    for (i = 0; i < s->count; i++)
        if (s->params[i].direction == IN)
            release_slot(&c->slots[i]);
    if (go_leave_with_error(L, self)) {
        g_clear_error(&error);
        return lua_error(L);
    }
    if (!is_done) {
        lua_pushstring(L, error->message);
        g_error_free(error);
        return go_error(L, "%s", lua_tostring(L, -1));
    }
    n = push_results(L, c);
    for (i = 0; i < s->count + 2; i++)
        release_slot(&c->all[i]);
    return n;
}

static int signature_gc(lua_State *L)
{
    free_signature((signature *)lua_touserdata(L, 1));
    return 0;
}

/* It takes the reference. */
static void push_function(lua_State *L, info *function)
{
    signature *s = (signature *)lua_newuserdata(L, sizeof *s);
    memset(s, 0, sizeof *s);
    if (luaL_newmetatable(L, SIGNATURE)) {
        lua_pushcfunction(L, signature_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    read_signature(s, function);
    lua_pushcclosure(L, call_described, 1);
}

/* ---- functions by name ---- */

/* References are counted by the binding. */
static gboolean is_refused(const char *name)
{
    static const char *const names[] = { "ref", "unref", "ref_sink", "force_floating", "free" };
    guint i;
    for (i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return TRUE;
    return FALSE;
}

/* The function `name` of a type itself, or NULL; each other one is told. */
static info *search_type(GType gtype, const char *name, go_each_name each, void *data)
{
    info *owner = gi.irepository_find_by_gtype(NULL, gtype), *found = NULL;
    int kind = owner != NULL ? gi.base_info_get_type(owner) : 0, i;
    int (*count)(info *) = kind == INFO_OBJECT      ? gi.object_info_get_n_methods
                           : kind == INFO_INTERFACE ? gi.interface_info_get_n_methods
                           : kind == INFO_UNION     ? gi.union_info_get_n_methods
                           : kind == INFO_STRUCT || kind == INFO_BOXED ? gi.struct_info_get_n_methods : NULL;
    info *(*get)(info *, int) = kind == INFO_OBJECT      ? gi.object_info_get_method
                                : kind == INFO_INTERFACE ? gi.interface_info_get_method
                                : kind == INFO_UNION     ? gi.union_info_get_method : gi.struct_info_get_method;
    for (i = count != NULL ? count(owner) - 1 : -1; i >= 0 && found == NULL; i--) {
        info *function = get(owner, i);
        const char *its_name = gi.base_info_get_name(function);
        if (is_refused(its_name)) {
            drop_info(function);
            continue;
        }
        if (strcmp(its_name, name) == 0) {
            found = function;
            continue;
        }
        if (each != NULL)
            each(data, its_name);
        drop_info(function);
    }
    drop_info(owner);
    return found;
}

/* The same of its ancestors and interfaces. */
static info *search(GType gtype, const char *name, go_each_name each, void *data)
{
    info *found = NULL;
    GType at, *interfaces;
    guint i, n;
    if (go_why_no_methods() != NULL)
        return NULL;
    for (at = gtype; at != 0 && found == NULL; at = g_type_parent(at))
        found = search_type(at, name, each, data);
    interfaces = g_type_interfaces(gtype, &n);
    for (i = 0; i < n && found == NULL; i++)
        found = search_type(interfaces[i], name, each, data);
    g_free(interfaces);
    return found;
}

void go_look_at_methods(GType gtype, go_each_name each, void *data)
{
    drop_info(search(gtype, "", each, data));
}

gboolean go_push_method(lua_State *L, GType gtype, const char *name)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 6, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, METHODS);
    lua_pushlightuserdata(L, (void *)gtype);
    lua_rawget(L, -2);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushlightuserdata(L, (void *)gtype);
        lua_pushvalue(L, -2);
        lua_rawset(L, top + 1);
    }
    lua_getfield(L, top + 2, name);
    if (lua_isnil(L, -1)) {
        info *found = search(gtype, name, NULL, NULL);
        lua_pop(L, 1);
        if (found != NULL)
            push_function(L, found);
        else
            lua_pushboolean(L, 0);
        lua_pushvalue(L, -1);
        lua_setfield(L, top + 2, name);
    }
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    if (lua_toboolean(L, -1))
        return TRUE;
    lua_settop(L, top);
    return FALSE;
}

/* ---- the fields of boxed structs ---- */

/* The description of a field, or NULL. */
static info *find_field(GType gtype, const char *name)
{
    info *owner = go_why_no_methods() == NULL ? gi.irepository_find_by_gtype(NULL, gtype) : NULL, *found = NULL;
    int i = owner != NULL && gi.base_info_get_type(owner) == INFO_STRUCT ? gi.struct_info_get_n_fields(owner) : 0;
    while (found == NULL && --i >= 0) {
        found = gi.struct_info_get_field(owner, i);
        if (strcmp(gi.base_info_get_name(found), name) != 0) {
            drop_info(found);
            found = NULL;
        }
    }
    drop_info(owner);
    return found;
}

gboolean go_push_field(lua_State *L, GType gtype, gpointer pointer, const char *name)
{
    info *field = find_field(gtype, name);
    type *t;
    argument a;
    gboolean is_read;
    if (field == NULL)
        return FALSE;
    t = new_type(gi.field_info_get_type(field));
    memset(&a, 0, sizeof a);
    is_read = is_element(t) && gi.field_info_get_field(field, pointer, &a);
    if (is_read)
        push_single(L, t, &a);
    free_type(t);
    drop_info(field);
    return is_read || go_error(L, "%s of %s has no value in Lua", name, g_type_name(gtype));
}

/* (What a pointer refers to would have an owner.) */
gboolean go_set_field(lua_State *L, GType gtype, gpointer pointer, const char *name, int index)
{
    info *field = find_field(gtype, name);
    const char *what;
    type **t;
    argument a;
    gboolean is_owned, is_set;
    if (field == NULL)
        return FALSE;
    t = (type **)lua_newuserdata(L, sizeof *t);         /* the collector frees it, also after an error */
    *t = new_type(gi.field_info_get_type(field));
    drop_info(field);
    if (luaL_newmetatable(L, TYPE)) {
        lua_pushcfunction(L, type_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    what = lua_pushfstring(L, "%s of %s", name, g_type_name(gtype));
    is_set = is_single(*t) && !is_held_by_pointer(*t);
    if (is_set) {
        a = to_single(L, index, *t, &is_owned, what);
        field = find_field(gtype, name);
        is_set = gi.field_info_set_field(field, pointer, &a);
        drop_info(field);
    }
    lua_pop(L, 2);
    return is_set || go_error(L, "%s of %s cannot be set", name, g_type_name(gtype));
}

gsize go_plain_struct_size(GType gtype)
{
    info *owner = go_why_no_methods() == NULL && G_TYPE_FUNDAMENTAL(gtype) == G_TYPE_BOXED
                  ? gi.irepository_find_by_gtype(NULL, gtype) : NULL;
    int i = owner != NULL && gi.base_info_get_type(owner) == INFO_STRUCT ? gi.struct_info_get_n_fields(owner) : 0;
    gsize size = i > 0 ? gi.struct_info_get_size(owner) : 0;
    while (--i >= 0) {
        info *field = gi.struct_info_get_field(owner, i);
        type *t = new_type(gi.field_info_get_type(field));
        if (!is_single(t) || is_held_by_pointer(t))
            size = 0;
        free_type(t);
        drop_info(field);
    }
    drop_info(owner);
    return size;
}

/* ---- namespaces ---- */

static int push_constant(lua_State *L, info *constant)
{
    type *t = new_type(gi.constant_info_get_type(constant));
    argument a;
    memset(&a, 0, sizeof a);
    gi.constant_info_get_value(constant, &a);
    push_single(L, t, &a);
    gi.constant_info_free_value(constant, &a);
    free_type(t);
    drop_info(constant);
    return 1;
}

/* namespace.name: a function, a class, or a constant. Upvalue 1: the name of the namespace. */
static int namespace_index(lua_State *L)
{
    const char *space = lua_tostring(L, lua_upvalueindex(1)), *name = luaL_checkstring(L, 2);
    info *found = gi.irepository_find_by_name(NULL, space, name);
    int kind = found != NULL ? gi.base_info_get_type(found) : 0;
    GType gtype;
    if (found == NULL)
        return go_error(L, "%s has no %s", space, name);
    if (kind == INFO_CONSTANT)
        return push_constant(L, found);
    if (kind == INFO_FUNCTION) {
        push_function(L, found);
    } else {
        gtype = kind >= INFO_STRUCT && kind <= INFO_UNION ? gi.registered_type_info_get_g_type(found) : G_TYPE_NONE;
        drop_info(found);
        if (gtype == G_TYPE_NONE || gtype == 0)
            return go_error(L, "no value of Lua can be a %s.%s", space, name);
        go_push_class(L, gtype);
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

static int namespace_tostring(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    return 1;
}

int go_require(lua_State *L)
{
    const char *space = luaL_checkstring(L, 1), *version = luaL_optstring(L, 2, NULL);
    GError *error = NULL;
    if (go_why_no_methods() != NULL)
        return go_error(L, "no description of %s can be read: %s", space, go_why_no_methods());
    if (gi.irepository_require(NULL, space, version, 0, &error) == NULL) {
        lua_pushstring(L, error->message);
        g_error_free(error);
        return go_error(L, "%s", lua_tostring(L, -1));
    }
    go_open_introspection(L);                   /* what was not found before may be there now */
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, namespace_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, namespace_tostring, 1);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    return 1;
}

void go_open_introspection(lua_State *L)
{
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, METHODS);
}
