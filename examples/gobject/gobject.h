/* gobject.h - what the files of the Lua module `gobject` share. A C program that hands its own GObjects to
 * scripts uses go_push and go_check.
 *
 *   objects.c    wrappers: identity, who holds whom, handlers of signals. To bind another library that has
 *                reference counts, begin with this file.
 *   holdings.c   which references the types of C have
 *   calls.c      calls from Lua to GObject and back, and their errors
 *   generic.c    calls of any function
 *   introspect.c methods and functions that the descriptions of libraries know
 *   values.c     GValue and GVariant to Lua, and back
 *   types.c      classes, constructors, properties, methods
 *   subclass.c   types that scripts define
 *   module.c     the functions of the module; the main loop
 */
#ifndef GOBJECT_H
#define GOBJECT_H

#include "rrc_lua.h"

#include <gio/gio.h>

#if LUA_VERSION_NUM == 501
#define go_length(L, index) lua_objlen(L, index)
#else
#define go_length(L, index) lua_rawlen(L, index)
#endif

/* ---- objects.c ---- */

/* A wrapper is what a Lua state knows of a GObject. It owns one reference to it. While both live, the GObject's
   data points to its wrappers: one in each state. */
typedef struct go_wrapper {
    rrc_object         head;
    rrc_heap          *heap;
    GObject           *object;
    struct go_wrapper *next;            /* the wrapper of the same GObject in another state */
    struct go_handler *handlers;        /* that scripts have connected, and whose closures exist */
    GValue            *values;          /* of the properties that scripts have defined: see subclass.c */
    guint              value_count;
} go_wrapper;

extern const rrc_type go_wrapper_type;

/* A new reference to the wrapper of object in this heap, made if there is none; NULL: there is no memory. A floating
   reference is sunk: the wrapper takes it. */
rrc_object *go_wrap(rrc_heap *heap, GObject *object);

/* The wrapper of an object that is being made, and has none. A floating reference stays floating: it is for who
   makes the object. */
go_wrapper *go_wrap_new(rrc_heap *heap, GObject *object);

/* The wrapper, borrowed, or NULL. */
go_wrapper *go_find(rrc_heap *heap, GObject *object);

/* Push the Lua object of a GObject, or nil for NULL. The reference stays the caller's. Raises. */
void go_push(lua_State *L, GObject *object);

/* The GObject of an argument, borrowed. check raises an error if it is none, test returns NULL. */
GObject *go_check(lua_State *L, int arg);
GObject *go_test(lua_State *L, int index);

/* The methods connect(signal, function[, after]) and disconnect(id). */
int go_connect(lua_State *L);
int go_disconnect(lua_State *L);

/* ---- holdings.c ---- */

/* A traverse. Give each object to which the traversed one has a reference to go_visit, once for each reference, and
   without a reference of your own. Returns what you must return, if it is not 0. If object has no wrapper, and no other
   reference, what it owns is visited as well: so the collector sees through objects that Lua does not know. */
typedef struct go_visitor {
    rrc_heap     *heap;
    rrc_visitproc visit;
    void         *arg;
    guint         depth;
} go_visitor;
int go_visit(const go_visitor *visitor, GObject *object);

/* What is known of the objects of a type of C, by its name: its library need not be there. Several can be registered
   for a type. Types that scripts derive from it are the same to GObject. A subclass in C is not, unless it is said here:
   it can hold its items in its own way. A reference that is missing here leaks cycles, and one that is not there loses
   objects in use: see go_unexplained. */
typedef struct go_holding {
    const char *type;
    const char *properties[4];          /* an object has one reference to the value of each; up to NULL */
    int       (*visit)(const go_visitor *visitor, GObject *object);     /* other references, or NULL */
    void      (*drop)(GObject *object); /* drops what visit visits, so far as cycles can be broken there; or NULL */
    gsize     (*size)(GObject *object); /* the bytes that an object has beside its instance, or NULL */
    gboolean    is_for_subclasses;
} go_holding;

/* The holding must stay. Any thread can call this. */
void go_register_holding(const go_holding *holding);

/* The functions G.owns(type, { property, ... }), G.unexplained(object) and G.size(object). */
int go_owns(lua_State *L);
int go_get_unexplained(lua_State *L);
int go_get_size(lua_State *L);

/* The name of a type whose references are listed, by its number from 0; NULL behind the last one. */
const char *go_listed_type(guint i);

/* How large is the object of a wrapper: its instance, what scripts have given to their properties, and what holdings
   say. This is the tp_size of wrappers, by which Lua knows that it has to collect. */
size_t go_size(rrc_heap *heap, rrc_object *wrapper);

/* go_construct has made object with these properties. */
void go_note_given(GObject *object, guint n, const char **names, const GValue *values);

/* Visit, and drop, what the table says. */
int go_visit_owned(const go_visitor *visitor, GObject *object);
void go_drop_owned(go_wrapper *wrapper);

/* How many references to object, which has a wrapper, are neither its wrapper's nor visited from any
   wrapper? More than 0: C holds it, or a holding is not listed, and a cycle would leak. Less than 0: something visits
   a reference that is not there. */
gint go_unexplained(rrc_heap *heap, GObject *object);

/* ---- calls.c ---- */

/* A method brackets what calls GObject by these two, as that can run handlers. object (or NULL) is held
   meanwhile. Nothing between them may raise. leave raises the first error of the handlers, and returns n. */
void go_enter(lua_State *L, GObject *object);
int go_leave(lua_State *L, GObject *object, int n);

/* The same, but the error, if there is one, is pushed. Returns whether there is. */
gboolean go_leave_with_error(lua_State *L, GObject *object);

/* Call function(L) with the light userdata data, from any code of C. An error is kept for the method that made C run
   this, or is a warning of GLib if there is none. Returns whether all went well. Never raises. */
gboolean go_call(rrc_heap *heap, lua_CFunction function, void *data);

/* Run the default main loop until G.quit(), or until a handler fails. */
int go_run(lua_State *L);
int go_quit(lua_State *L);

/* Raise an error with the place in the script. */
int go_error(lua_State *L, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Make what calls.c keeps in the registry. */
void go_open_calls(lua_State *L);

/* ---- generic.c ---- */

/* The function G.call(name, signature, ...). */
int go_generic_call(lua_State *L);

/* ---- introspect.c ---- */

/* Push the function of this name that the description of a type, of an ancestor, or of an interface has. FALSE: there is
   none. */
gboolean go_push_method(lua_State *L, GType type, const char *name);

/* Why no description can be read; NULL: they can be. */
const char *go_why_no_methods(void);

/* Push the field of a boxed struct, or set it to the value at index. FALSE: there is no such field. */
gboolean go_push_field(lua_State *L, GType type, gpointer pointer, const char *name);
gboolean go_set_field(lua_State *L, GType type, gpointer pointer, const char *name, int index);

/* The size of a boxed struct that has only numbers, so that one of zeros is a valid one; 0: it is none. */
gsize go_plain_struct_size(GType type);

/* The names of all these functions. */
typedef void (*go_each_name)(void *data, const char *name);
void go_look_at_methods(GType type, go_each_name each, void *data);

/* The function G.require(namespace[, version]). */
int go_require(lua_State *L);

void go_open_introspection(lua_State *L);

/* ---- values.c ---- */

/* n empty GValues, which Lua's collector unsets if an error keeps go_free_values from it. Pushes one value. */
GValue *go_new_values(lua_State *L, guint n);
void go_free_values(GValue *values, guint n);

/* Push what a GValue has. Raises. */
void go_push_value(lua_State *L, const GValue *value);

/* Set a GValue that has a type to the Lua value at index. Raises an error that says what it was for. */
void go_to_value(lua_State *L, int index, GValue *value, const char *what);

/* The value at index; what it is for is a part of the errors. An integer is given as a gint64, if it is negative. A
   string is NULL for nil, and stays Lua's. */
guint64 go_to_integer(lua_State *L, int index, gint64 min, guint64 max, const char *what);
lua_Number go_to_number(lua_State *L, int index, const char *what);
gboolean go_to_boolean(lua_State *L, int index, const char *what);
const char *go_to_string(lua_State *L, int index, const char *what);

/* Raise the error that another value was expected. */
int go_bad_value(lua_State *L, int index, const char *what, const char *expected);

/* Push a boxed value that is all zeros, with the fields that the table at index has (0: none). */
int go_new_struct(lua_State *L, GType type, gsize size, int index);

/* The boxed value at index, which stays Lua's; NULL: it is none of this type. */
gpointer go_test_boxed(lua_State *L, int index, GType type);

/* Push the value of a GVariant; a new floating or full reference to one of the given type (NULL: that of the value).
   Both raise. */
void go_push_variant(lua_State *L, GVariant *variant);
GVariant *go_to_variant(lua_State *L, int index, const GVariantType *type, const char *what);

/* The function G.variant(type, value): a value of just this type. */
int go_new_variant(lua_State *L);

/* ---- types.c ---- */

void go_close_wrapper(rrc_heap *heap, rrc_object *self);
extern const rrc_lua_class go_class;        /* of all GObjects, as rrc_lua.h knows them */

/* A function of the libraries that are loaded, or NULL. */
gpointer go_find_symbol(const char *name);

/* Push the table of a type: its constructor and methods. */
void go_push_class(lua_State *L, GType type);

/* Push what a script or this module has put into the table of a type, or of an ancestor; or nil. */
void go_push_member(lua_State *L, GType type, const char *name);

/* The type that the value at index names: a class, or a text. 0: none. */
GType go_type_at(lua_State *L, int index);

/* The same with an error. */
GType go_check_type(lua_State *L, int index);

/* Make a GObject of this type with the properties of the table at index (0: none), and push it. */
int go_construct(lua_State *L, GType type, int index);

/* The property of a type, or an error that names those with similar names. */
GParamSpec *go_check_property(lua_State *L, GType type, const char *name);

/* The signal of a type, likewise. */
guint go_check_signal(lua_State *L, GType type, const char *name, GQuark *detail);

/* __index of the module: G.ListStore is the class of GListStore. */
int go_module_index(lua_State *L);

/* G.load(library[, function]): types of this library can be used; calls gboolean function(void). */
int go_load(lua_State *L);

void go_open_types(lua_State *L);

/* ---- subclass.c ---- */

/* The type that is not defined by a script and is nearest: the type itself, or an ancestor. */
GType go_native_type(GType type);

/* G.subclass(name, parent, definition) */
int go_subclass(lua_State *L);

/* ---- module.c ---- */

RRC_LUA_MODULE int luaopen_gobject(lua_State *L);

#endif
