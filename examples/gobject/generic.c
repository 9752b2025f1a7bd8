/* generic.c - any function of the libraries: G.call(name, signature, ...).
 *
 * GLib's generic marshaller calls it. (That passes one pointer more than the function has parameters, as GLib does
 * where a handler of a signal leaves parameters out.)
 */
#include "gobject.h"

#include <string.h>

#define MOST_ARGUMENTS 16

/* A function that a library calls once, when its result is ready. Nobody explains its reference: see module.c. */
typedef struct ready {
    rrc_heap     *heap;
    rrc_object   *function;
    GObject      *source;
    GAsyncResult *result;
} ready;

static int call_function(lua_State *L)
{
    const ready *r = (const ready *)lua_touserdata(L, 1);
    rrc_lua_push(L, r->heap, r->function);
    go_push(L, r->source);
    go_push(L, G_OBJECT(r->result));
    lua_call(L, 2, 0);
    return 0;
}

static void call_ready(GObject *source, GAsyncResult *result, gpointer data)
{
    ready *r = (ready *)data;
    r->source = source;
    r->result = result;
    go_call(r->heap, call_function, r);
    rrc_decref(r->heap, r->function);
    g_free(r);
}

static ready *new_ready(lua_State *L, int arg)
{
    rrc_heap *heap = rrc_lua_heap(L);
    rrc_object *function = rrc_lua_ref(L, heap, arg);
    ready *r = g_new0(ready, 1);
    r->heap = heap;
    r->function = function;
    return r;
}

static GType type_of(lua_State *L, const char *letter, gboolean is_result)
{
    switch (*letter) {
    case 'b': return G_TYPE_BOOLEAN;
    case 'i': return G_TYPE_INT;
    case 'u': return G_TYPE_UINT;
    case 'x': return G_TYPE_INT64;
    case 't': return G_TYPE_UINT64;
    case 'd': return G_TYPE_DOUBLE;
    case 's': return is_result ? G_TYPE_POINTER : G_TYPE_STRING;
    case 'o': return is_result ? G_TYPE_POINTER : G_TYPE_OBJECT;
    case 'S': if (is_result) return G_TYPE_STRING;  break;
    case 'O': if (is_result) return G_TYPE_POINTER; break;
    case 'v': if (is_result) return G_TYPE_NONE;    break;
    case 'e':
    case 'f': if (!is_result) return G_TYPE_POINTER; break;
    default: break;
    }
    luaL_argerror(L, 2, lua_pushfstring(L, "no letter for %s at \"%s\"", is_result ? "a result" : "an argument",
                                        letter));
    return 0;
}

/* The arguments, whose letters end with a parenthesis. `function` becomes the place of the one that is called when a
   result is ready, or 0. Returns how many arguments C gets. Raises. */
static guint collect(lua_State *L, const char *name, const char *letter, GValue *values, GError **error, int *function)
{
    guint n = 0;
    int arg = 3;
    *function = 0;
    for (; *letter != ')'; letter++, n++) {
        GType type = type_of(L, letter, FALSE);
        luaL_argcheck(L, n + 2 < MOST_ARGUMENTS, 2, "too many letters");
        g_value_init(&values[n], type);
        if (*letter == 'e') {
            g_value_set_pointer(&values[n], error);
        } else if (*letter == 'f') {
            luaL_argcheck(L, *function == 0, 2, "two functions");
            if (!lua_isnil(L, arg))
                luaL_checktype(L, arg, LUA_TFUNCTION);
            *function = arg++;
            g_value_init(&values[++n], type);
        } else {
            go_to_value(L, arg, &values[n], lua_pushfstring(L, "argument %d of %s", arg - 2, name));
            lua_pop(L, 1);
            arg++;
        }
    }
    if (n == 0)
        g_value_init(&values[n++], G_TYPE_POINTER);
    return n;
}

static int push_object(lua_State *L, GObject *object, rrc_object *wrapper)
{
    if (object != NULL)
        return rrc_lua_give(L, rrc_lua_heap(L), wrapper);
    lua_pushnil(L);
    return 1;
}

/* The wrapper of an object that a function has returned, perhaps with a reference for us. */
static rrc_object *wrap_result(lua_State *L, GObject *object, gboolean is_given)
{
    gboolean is_floating = g_object_is_floating(object);        /* then the wrapper takes that reference */
    rrc_object *wrapper = go_wrap(rrc_lua_heap(L), object);
    if (is_given && !is_floating)
        g_object_unref(object);
    return wrapper;
}

int go_generic_call(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1), *signature = luaL_checkstring(L, 2), *letter;
    gpointer address = go_find_symbol(name);
    GType type = type_of(L, signature, TRUE);
    GValue *values, *result;
    GError *error = NULL;
    GClosure *closure;
    GObject *object;
    rrc_object *wrapper = NULL;
    guint n, places = 0;
    int function;
    if (address == NULL)
        return go_error(L, "there is no function %s", name);
    luaL_argcheck(L, signature[1] == '(' && strchr(signature, ')') == signature + strlen(signature) - 1, 2,
                  "a signature is a letter for the result, and those of the arguments in parentheses");
    for (letter = signature + 2; *letter != ')'; letter++)
        places += *letter != 'e';
    if ((guint)lua_gettop(L) - 2 != places)
        return go_error(L, "%s %s takes %d values, got %d", name, signature, (int)places, lua_gettop(L) - 2);
    values = go_new_values(L, MOST_ARGUMENTS);
    result = &values[MOST_ARGUMENTS - 1];
    n = collect(L, name, signature + 2, values, &error, &function);
    if (function != 0 && !lua_isnil(L, function)) {
        guint i = (guint)(strchr(signature, 'f') - signature) - 2;
        g_value_set_pointer(&values[i + 1], new_ready(L, function));
        g_value_set_pointer(&values[i], (gpointer)(gsize)call_ready);
    }
    if (type != G_TYPE_NONE)
        g_value_init(result, type);
    go_enter(L, NULL);                              /* (the values hold the objects) */
    closure = g_closure_ref(g_cclosure_new((GCallback)(gsize)address, NULL, NULL));
    g_closure_sink(closure);
    g_closure_set_marshal(closure, g_cclosure_marshal_generic);
    g_closure_invoke(closure, type != G_TYPE_NONE ? result : NULL, n, values, NULL);
    g_closure_unref(closure);
    object = *signature == 'o' || *signature == 'O' ? (GObject *)g_value_get_pointer(result) : NULL;
    if (object != NULL)
        wrapper = wrap_result(L, object, *signature == 'O');
    if (*signature == 's') {                        /* it may be a part of an argument */
        const char *text = (const char *)g_value_get_pointer(result);
        g_value_unset(result);
        g_value_set_string(g_value_init(result, G_TYPE_STRING), text);
    }
    go_free_values(values, n);
    if (go_leave_with_error(L, NULL) || error != NULL) {
        if (object != NULL && wrapper != NULL)
            rrc_decref(rrc_lua_heap(L), wrapper);
        if (error == NULL)
            return lua_error(L);
        lua_pushstring(L, error->message);
        g_error_free(error);
        return go_error(L, "%s", lua_tostring(L, -1));
    }
    if (*signature == 'v')
        return 0;
    if (*signature == 'o' || *signature == 'O')
        return push_object(L, object, wrapper);
    go_push_value(L, result);
    go_free_values(result, 1);
    return 1;
}
