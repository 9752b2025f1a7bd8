/* toolkit.c - a library of reference-counted C objects, and its Lisp functions.
 *
 *   type       link, count   what it shows
 *   point      O, light      plain data
 *   buffer     O, light      plain data of variable size
 *   widget     O, full       owns a name, children and Lisp callbacks
 *   window     O, full       a widget with a finalizer
 *   document   O, full       outlives its proxies while C holds it
 *
 * Widgets and documents own references, and so they can be part of cycles: their
 * types have RRC_TPFLAGS_HAVE_GC and say by tp_traverse and tp_clear, or just by
 * tp_members, what they own. The others own nothing and need none of that.
 *
 * Besides there is a registry, C code that holds objects by name: no tp_traverse
 * tells of its references, so that what it holds is held from outside. And there
 * is a log in which the deallocators write what they do.
 */
#include "toolkit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* An rrc_type with what Lisp needs to know about it. The type of every object
   here is the first member of one of these. */
typedef struct ctype {
    rrc_type type;
    int least, most;            /* arguments of `make` */
    rrc_object *(*make)(cvm *vm, cvm_value *args, size_t n);    /* for (new ...); NULL: not from Lisp */
    const struct method *methods;                           /* for (call ...) */
    const struct ctype *base;                               /* whose methods it has too; or NULL */
} ctype;

typedef struct method {
    const char *name;           /* NULL ends the list */
    int least, most;
    cvm_value (*call)(cvm *vm, rrc_object *self, cvm_value *args, size_t n);
} method;

static inline const ctype *ctype_of(rrc_object *ob)
{
    return (const ctype *)RRC_TYPE(ob);
}

struct held {
    char *name;
    rrc_object *ob;             /* a reference of its own */
};

typedef struct toolkit {
    struct held *held;
    size_t held_count, held_capacity;
    char **log;
    size_t log_count, log_capacity;
} toolkit;

static toolkit *toolkit_of(const cvm *vm)
{
    return vm->state[CVM_LIBRARY];
}

/* ---- small helpers ------------------------------------------------------ */

static int get_index(cvm *vm, const char *who, cvm_value v, size_t *n)
{
    if (!cvm_check(vm, who, v, 'i'))
        return 0;
    *n = cvm_index_of(v);
    return 1;
}

static int get_real(cvm *vm, const char *who, cvm_value v, double *number)
{
    if (!cvm_check(vm, who, v, 'n'))
        return 0;
    *number = cvm_number_of(v);
    return 1;
}

static char *copy_bytes(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy != NULL) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return copy;
}

static char *copy_string(cvm_value string)
{
    return copy_bytes(cvm_bytes(string), CVM_STRING_OF(string)->length);
}

/* Room for one more item of the given size in a growing array; 0: no memory. */
static int make_room(void *array, size_t count, size_t *capacity, size_t size)
{
    void **items = array;
    size_t wanted = *capacity > 0 ? *capacity * 2 : 8;
    void *bigger;

    if (count < *capacity)
        return 1;
    if (wanted > SIZE_MAX / 4 / size)
        return 0;
    bigger = realloc(*items, wanted * size);
    if (bigger == NULL)
        return 0;
    *items = bigger;
    *capacity = wanted;
    return 1;
}

/* Note what happened. A line that finds no memory is lost, no more than that:
   deallocators must not fail. */
CVM_PRINTF(2, 3) static void note(cvm *vm, const char *format, ...)
{
    toolkit *lib = toolkit_of(vm);
    char line[160];
    char *copy;
    va_list args;

    if (vm->closing || !make_room(&lib->log, lib->log_count, &lib->log_capacity, sizeof *lib->log))
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    copy = copy_bytes(line, strlen(line));
    if (copy != NULL)
        lib->log[lib->log_count++] = copy;
}

static rrc_object *no_memory(cvm *vm)
{
    cvm_out_of_memory(vm);
    return NULL;
}

/* ---- point and buffer: plain data --------------------------------------- */

typedef struct point {
    rrc_object head;
    double x, y;
} point;

static cvm_value point_x(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_real_new(vm, ((point *)self)->x);
}

static cvm_value point_y(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_real_new(vm, ((point *)self)->y);
}

static cvm_value point_move(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    double dx, dy;

    (void)n;
    if (!get_real(vm, "move", args[0], &dx) || !get_real(vm, "move", args[1], &dy))
        return CVM_NONE;
    ((point *)self)->x += dx;
    ((point *)self)->y += dy;
    return CVM_NIL;
}

static rrc_object *point_make(cvm *vm, cvm_value *args, size_t n);

static const method point_methods[] = {
    { "x", 0, 0, point_x }, { "y", 0, 0, point_y }, { "move", 2, 2, point_move },
    { NULL, 0, 0, NULL }
};

static const ctype point_type = {
    { RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "point", .tp_basicsize = sizeof(point),
      .tp_flags = CVM_TPFLAGS_LIGHT },
    .least = 2, .most = 2, .make = point_make, .methods = point_methods
};

static rrc_object *point_make(cvm *vm, cvm_value *args, size_t n)
{
    double x, y;
    point *p;

    (void)n;
    if (!get_real(vm, "point", args[0], &x) || !get_real(vm, "point", args[1], &y))
        return NULL;
    p = (point *)rrc_new(vm->rrc, &point_type.type);
    if (p == NULL)
        return no_memory(vm);
    p->x = x;
    p->y = y;
    return &p->head;
}

typedef struct buffer {
    rrc_object head;
    size_t length;
    unsigned char bytes[];
} buffer;

static cvm_value buffer_length(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_size(vm, ((buffer *)self)->length);
}

static unsigned char *buffer_place(cvm *vm, buffer *b, cvm_value index)
{
    size_t i;

    if (!get_index(vm, "buffer", index, &i))
        return NULL;
    if (i < b->length)
        return &b->bytes[i];
    cvm_fail(vm, "buffer: index %lu is out of range, the length is %lu",
             (unsigned long)i, (unsigned long)b->length);
    return NULL;
}

static cvm_value buffer_get(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    const unsigned char *place = buffer_place(vm, (buffer *)self, args[0]);

    (void)n;
    return place != NULL ? cvm_fixnum(*place) : CVM_NONE;
}

static cvm_value buffer_set(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    unsigned char *place = buffer_place(vm, (buffer *)self, args[0]);
    size_t byte;

    (void)n;
    if (place == NULL || !get_index(vm, "buffer", args[1], &byte))
        return CVM_NONE;
    if (byte > 255)
        return cvm_expected(vm, "buffer", "a byte", args[1]);
    *place = (unsigned char)byte;
    return CVM_NIL;
}

static rrc_object *buffer_make(cvm *vm, cvm_value *args, size_t n);

static const method buffer_methods[] = {
    { "length", 0, 0, buffer_length }, { "get", 1, 1, buffer_get }, { "set", 2, 2, buffer_set },
    { NULL, 0, 0, NULL }
};

static const ctype buffer_type = {
    { RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "buffer", .tp_basicsize = sizeof(buffer),
      .tp_itemsize = 1, .tp_flags = CVM_TPFLAGS_LIGHT },
    .least = 1, .most = 1, .make = buffer_make, .methods = buffer_methods
};

static rrc_object *buffer_make(cvm *vm, cvm_value *args, size_t n)
{
    size_t length;
    buffer *b;

    (void)n;
    if (!get_index(vm, "buffer", args[0], &length))
        return NULL;
    b = length >= SIZE_MAX / 16 || length > vm->heap.limit ? NULL
      : (buffer *)rrc_new_var(vm->rrc, &buffer_type.type, length);
    if (b == NULL)
        return no_memory(vm);
    b->length = length;
    return &b->head;
}

/* ---- widget: owns other objects, and calls Lisp code -------------------- */

typedef struct widget {
    rrc_object head;
    char *name;
    rrc_object *on_click, *on_close, *on_finalize;      /* views of procedures, or NULL */
    rrc_object **children;
    size_t count, capacity;
} widget;

/* Let a field own ob (whose reference it takes over) in place of what it owned:
   that is dropped last, because it may run code that comes back here. */
static void replace(cvm *vm, rrc_object **field, rrc_object *ob)
{
    rrc_object *old = *field;

    *field = ob;
    if (old != NULL)
        rrc_decref(vm->rrc, old);
}

/* The procedure behind a handler. Nil if there is none, or none any more: it died
   together with its widget, and then somebody got hold of the widget again. */
static cvm_value procedure_of(cvm *vm, rrc_object *handler)
{
    rrc_gcref p = handler != NULL ? rrc_to_obj(vm->rrc, handler) : NULL;

    return p != NULL ? (cvm_value)p : CVM_NIL;
}

/* Let a handler know that self goes. If the handler's only holder was self, it has
   died in the same collection: a deallocator cannot count on the other heap's part
   of what self owns. (A finalizer can: see window.) Whatever goes wrong in it stays
   in it: a deallocator may run in the middle of another error. */
static void notify(cvm *vm, const char *event, rrc_object *handler, rrc_object *self, const char *name)
{
    size_t scope = cvm_open(vm);
    cvm_error saved = vm->error;

    cvm_error_clear(vm);
    if (cvm_enter(vm)) {
        cvm_value *procedure = cvm_root(vm, procedure_of(vm, handler));
        cvm_value *args = cvm_root(vm, cvm_from_ob(vm, self));

        cvm_root(vm, cvm_text(vm, name));
        if (!vm->error.failed && *procedure != CVM_NIL)
            cvm_call(vm, *procedure, args, 2);
        cvm_leave(vm);
    }
    if (vm->error.failed)
        note(vm, "%s of %.40s failed: %.80s", event, name, vm->error.message);
    vm->error = saved;
    vm->attention = 1;      /* what a collection in there has queued could not be run in there */
    cvm_close(vm, scope);
}

/* The collector asks: what do you own? Every reference, once. */
static int widget_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const widget *w = (const widget *)self;
    size_t i;

    for (i = 0; i < w->count; i++)
        RRC_VISIT(w->children[i]);
    RRC_VISIT(w->on_click);
    RRC_VISIT(w->on_close);
    RRC_VISIT(w->on_finalize);
    return 0;
}

/* The collector says: you are garbage, and part of a cycle perhaps. Break it. (on_close
   is left to the deallocator, which still calls it. That is safe because a view owns
   nothing: no cycle is closed on this side of the border through it.) */
static int widget_clear(rrc_heap *heap, rrc_object *self)
{
    widget *w = (widget *)self;

    RRC_CLEAR(heap, w->on_click);
    RRC_CLEAR(heap, w->on_finalize);
    while (w->count > 0)
        rrc_decref(heap, w->children[--w->count]);
    return 0;
}

static void widget_dealloc(rrc_heap *heap, rrc_object *self)
{
    widget *w = (widget *)self;
    cvm *vm = rrc_userdata(heap);

    if (w->on_close != NULL && !vm->closing) {
        /* Lisp must not get hold of self again: from now on it sees a tombstone. */
        rrc_mark_deallocating(heap, (rrc_gcref)vm->tombstone, self);
        notify(vm, "on-close", w->on_close, self, w->name);
    }
    note(vm, "%s \"%.40s\" deallocated", RRC_TYPE(self)->tp_name, w->name);
    widget_clear(heap, self);
    RRC_CLEAR(heap, w->on_close);
    free(w->children);
    free(w->name);
    rrc_gc_del(heap, self);
}

static cvm_value widget_name(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_text(vm, ((widget *)self)->name);
}

static cvm_value widget_add(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    widget *w = (widget *)self;
    rrc_object *child;

    (void)n;
    if (!make_room(&w->children, w->count, &w->capacity, sizeof *w->children))
        return cvm_out_of_memory(vm);
    child = cvm_to_c(vm, "add", args[0]);
    if (child == NULL)
        return CVM_NONE;
    w->children[w->count++] = child;
    return args[0];
}

static cvm_value widget_count(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_size(vm, ((widget *)self)->count);
}

static int child_index(cvm *vm, widget *w, cvm_value v, size_t *i)
{
    if (!get_index(vm, "child", v, i))
        return 0;
    if (*i < w->count)
        return 1;
    cvm_fail(vm, "child: index %lu is out of range, there are %lu",
             (unsigned long)*i, (unsigned long)w->count);
    return 0;
}

static cvm_value widget_child(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    size_t i;

    (void)n;
    return child_index(vm, (widget *)self, args[0], &i)
         ? cvm_from_ob(vm, ((widget *)self)->children[i]) : CVM_NONE;
}

static cvm_value widget_remove(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    widget *w = (widget *)self;
    rrc_object *child;
    cvm_value *v;
    size_t i;

    (void)n;
    if (!child_index(vm, w, args[0], &i))
        return CVM_NONE;
    child = w->children[i];
    v = cvm_root(vm, cvm_from_ob(vm, child));
    if (*v == CVM_NONE)
        return CVM_NONE;
    memmove(&w->children[i], &w->children[i + 1], (--w->count - i) * sizeof *w->children);
    rrc_decref(vm->rrc, child);         /* the proxy holds it now */
    return *v;
}

static cvm_value set_handler(cvm *vm, rrc_object **handler, const char *who, cvm_value v)
{
    rrc_object *ob = NULL;

    if (v != CVM_NIL && !cvm_is_procedure(vm, v))
        return cvm_expected(vm, who, "a procedure or nil", v);
    if (v != CVM_NIL && (ob = cvm_to_c(vm, who, v)) == NULL)
        return CVM_NONE;
    replace(vm, handler, ob);
    return CVM_NIL;
}

static cvm_value widget_on_click(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)n;
    return set_handler(vm, &((widget *)self)->on_click, "on-click", args[0]);
}

static cvm_value widget_on_close(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)n;
    return set_handler(vm, &((widget *)self)->on_close, "on-close", args[0]);
}

/* Call the handler with whatever arguments came. */
static cvm_value widget_click(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    cvm_value procedure = procedure_of(vm, ((widget *)self)->on_click);

    return procedure != CVM_NIL ? cvm_call(vm, procedure, args, n) : CVM_NIL;
}

static rrc_object *widget_make(cvm *vm, cvm_value *args, size_t n);

static const method widget_methods[] = {
    { "name", 0, 0, widget_name },          { "add", 1, 1, widget_add },
    { "count", 0, 0, widget_count },        { "child", 1, 1, widget_child },
    { "remove", 1, 1, widget_remove },      { "on-click", 1, 1, widget_on_click },
    { "on-close", 1, 1, widget_on_close },  { "click", 0, -1, widget_click },
    { NULL, 0, 0, NULL }
};

/* As there is a tp_traverse and a tp_clear, only for the names: (explain widget)
   then speaks of on_click. A child is named by its number. */
static const rrc_member widget_members[] = {
    { "on_click", offsetof(widget, on_click) },
    { "on_close", offsetof(widget, on_close) },
    { "on_finalize", offsetof(widget, on_finalize) },
    { NULL, 0 }
};

static const ctype widget_type = {
    { RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "widget", .tp_basicsize = sizeof(widget),
      .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = widget_dealloc,
      .tp_traverse = widget_traverse, .tp_clear = widget_clear, .tp_members = widget_members },
    .least = 1, .most = 1, .make = widget_make, .methods = widget_methods
};

/* From here on the collector may ask what the object owns: its fields are valid. */
static rrc_object *track(cvm *vm, rrc_object *ob)
{
    if (rrc_gc_track(vm->rrc, ob) == RRC_OK)
        return ob;
    rrc_decref(vm->rrc, ob);
    return no_memory(vm);
}

static rrc_object *make_widget(cvm *vm, const rrc_type *type, cvm_value name_arg)
{
    char *name;
    widget *w;

    if (!cvm_check(vm, type->tp_name, name_arg, 's'))
        return NULL;
    name = copy_string(name_arg);
    w = name != NULL ? (widget *)rrc_gc_new(vm->rrc, type) : NULL;
    if (w == NULL) {
        free(name);
        return no_memory(vm);
    }
    w->name = name;
    return track(vm, &w->head);
}

static rrc_object *widget_make(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return make_widget(vm, &widget_type.type, args[0]);
}

/* ---- window: a widget with a finalizer ----------------------------------
 *
 * on-close comes late: the widget is beyond help, and its proxies have lost it. (The
 * handler itself is kept for the deallocator.) A finalizer comes before anything is taken apart: the
 * handler gets the window whole, and may even save it. The price is that garbage
 * with a finalizer stays until the next collection, with all that it reaches: hence
 * a type of its own, for those who need it. */

static void window_finalize(rrc_heap *heap, rrc_object *self)
{
    cvm *vm = rrc_userdata(heap);

    if (!vm->closing)
        notify(vm, "on-finalize", ((widget *)self)->on_finalize, self, ((widget *)self)->name);
}

static cvm_value window_on_finalize(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)n;
    rrc_gc_set_finalized(vm->rrc, self, args[0] == CVM_NIL);    /* without a handler there is nothing to do */
    return set_handler(vm, &((widget *)self)->on_finalize, "on-finalize", args[0]);
}

static rrc_object *window_make(cvm *vm, cvm_value *args, size_t n);

static const method window_methods[] = {
    { "on-finalize", 1, 1, window_on_finalize }, { NULL, 0, 0, NULL }
};

static const ctype window_type = {
    { RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "window", .tp_basicsize = sizeof(widget),
      .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = widget_dealloc,
      .tp_traverse = widget_traverse, .tp_clear = widget_clear,
      .tp_finalize = window_finalize, .tp_members = widget_members },
    .least = 1, .most = 1, .make = window_make, .methods = window_methods,
    .base = &widget_type
};

static rrc_object *window_make(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = make_widget(vm, &window_type.type, args[0]);

    (void)n;
    if (ob != NULL)
        rrc_gc_set_finalized(vm->rrc, ob, 1);
    return ob;
}

/* ---- document ----------------------------------------------------------- */

typedef struct document {
    rrc_object head;
    char *title;
    char *text;
    size_t length;
    rrc_object *attachment;     /* anything; or NULL */
} document;

/* All the references that a document owns stand in fields of the struct: a table
   of them does instead of a tp_traverse and a tp_clear. */
static const rrc_member document_members[] = {
    { "attachment", offsetof(document, attachment) },
    { NULL, 0 }
};

static void document_dealloc(rrc_heap *heap, rrc_object *self)
{
    document *d = (document *)self;

    note(rrc_userdata(heap), "document \"%.40s\" deallocated", d->title);
    RRC_CLEAR(heap, d->attachment);
    free(d->text);
    free(d->title);
    rrc_gc_del(heap, self);
}

static cvm_value document_title(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_text(vm, ((document *)self)->title);
}

static cvm_value document_write(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    document *d = (document *)self;
    size_t length;
    char *text;

    (void)n;
    if (!cvm_check(vm, "write", args[0], 's'))
        return CVM_NONE;
    length = CVM_STRING_OF(args[0])->length;
    text = realloc(d->text, d->length + length + 1);
    if (text == NULL)
        return cvm_out_of_memory(vm);
    memcpy(text + d->length, cvm_bytes(args[0]), length);
    d->text = text;
    d->length += length;
    return CVM_NIL;
}

static cvm_value document_text(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    (void)args, (void)n;
    return cvm_string_new(vm, ((document *)self)->text, ((document *)self)->length);
}

static cvm_value document_attach(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    rrc_object *ob = NULL;

    (void)n;
    if (args[0] != CVM_NIL && (ob = cvm_to_c(vm, "attach", args[0])) == NULL)
        return CVM_NONE;
    replace(vm, &((document *)self)->attachment, ob);
    return CVM_NIL;
}

static cvm_value document_attachment(cvm *vm, rrc_object *self, cvm_value *args, size_t n)
{
    rrc_object *ob = ((document *)self)->attachment;

    (void)args, (void)n;
    return ob != NULL ? cvm_from_ob(vm, ob) : CVM_NIL;
}

static rrc_object *document_make(cvm *vm, cvm_value *args, size_t n);

static const method document_methods[] = {
    { "title", 0, 0, document_title },      { "write", 1, 1, document_write },
    { "text", 0, 0, document_text },        { "attach", 1, 1, document_attach },
    { "attachment", 0, 0, document_attachment },
    { NULL, 0, 0, NULL }
};

static const ctype document_type = {
    { RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "document", .tp_basicsize = sizeof(document),
      .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = document_dealloc,
      .tp_members = document_members },
    .least = 1, .most = 1, .make = document_make, .methods = document_methods
};

static rrc_object *document_make(cvm *vm, cvm_value *args, size_t n)
{
    char *title;
    document *d;

    (void)n;
    if (!cvm_check(vm, "document", args[0], 's'))
        return NULL;
    title = copy_string(args[0]);
    d = title != NULL ? (document *)rrc_gc_new(vm->rrc, &document_type.type) : NULL;
    if (d == NULL) {
        free(title);
        return no_memory(vm);
    }
    d->title = title;
    return track(vm, &d->head);
}

/* ---- making and calling, from Lisp -------------------------------------- */

static const ctype *const types[] = {
    &point_type, &buffer_type, &widget_type, &window_type, &document_type
};

static int count_fits(cvm *vm, const char *name, int least, int most, size_t n)
{
    if (n >= (size_t)least && (most < 0 || n <= (size_t)most))
        return 1;
    cvm_fail(vm, "%s: expected %s%d arguments, got %lu", name, most < 0 ? "at least " : "",
             least, (unsigned long)n);
    return 0;
}

/* (new 'type args...) */
static cvm_value b_new(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob;
    cvm_value v;
    size_t i;

    for (i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i]->type.tp_name, cvm_symbol_text(args[0])) == 0)
            break;
    if (i == sizeof types / sizeof *types)
        return cvm_expected(vm, "new", "the name of a C type", args[0]);
    if (!count_fits(vm, types[i]->type.tp_name, types[i]->least, types[i]->most, n - 1))
        return CVM_NONE;
    ob = types[i]->make(vm, args + 1, n - 1);
    if (ob == NULL)
        return CVM_NONE;
    v = cvm_from_ob(vm, ob);
    rrc_decref(vm->rrc, ob);    /* never the last: the proxy holds it. Or v is none. */
    return v;
}

static rrc_object *get_foreign(cvm *vm, const char *who, cvm_value v)
{
    if (cvm_is(v, CVM_FOREIGN) && CVM_FOREIGN_OF(v)->ob != NULL)
        return CVM_FOREIGN_OF(v)->ob;
    cvm_expected(vm, who, "a living C object", v);
    return NULL;
}

/* NULL if neither the type nor one that it is based on has it. */
static const method *find_method(const ctype *type, const char *name)
{
    const method *m;

    for (; type != NULL; type = type->base)
        for (m = type->methods; m != NULL && m->name != NULL; m++)
            if (strcmp(m->name, name) == 0)
                return m;
    return NULL;
}

/* (call object 'method args...) */
static cvm_value b_call(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *self = get_foreign(vm, "call", args[0]);
    const method *m;
    cvm_value *result;

    if (self == NULL)
        return CVM_NONE;
    m = find_method(ctype_of(self), cvm_symbol_text(args[1]));
    if (m == NULL)
        return cvm_fail(vm, "call: %s has no method %.40s", RRC_TYPE(self)->tp_name,
                        cvm_symbol_text(args[1]));
    if (!count_fits(vm, m->name, m->least, m->most, n - 2))
        return CVM_NONE;
    rrc_incref(vm->rrc, self);          /* the method may run code that disposes of it */
    result = cvm_root(vm, m->call(vm, self, args + 2, n - 2));
    rrc_decref(vm->rrc, self);
    return *result;
}

/* (dispose object): end the C object now, whoever in Lisp still has its proxy. */
static cvm_value b_dispose(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = get_foreign(vm, "dispose", args[0]);

    (void)n;
    if (ob == NULL)
        return CVM_NONE;
    rrc_incref(vm->rrc, ob);
    rrc_unlink(vm->rrc, ob);
    CVM_FOREIGN_OF(args[0])->ob = NULL;
    rrc_decref(vm->rrc, ob);            /* last: it may run code */
    return CVM_NIL;
}

/* ---- the registry: C code that holds objects by name -------------------- */

static struct held *find_held(toolkit *lib, const char *name)
{
    size_t i;

    for (i = 0; i < lib->held_count; i++)
        if (strcmp(lib->held[i].name, name) == 0)
            return &lib->held[i];
    return NULL;
}

/* (hold 'name object) */
static cvm_value b_hold(cvm *vm, cvm_value *args, size_t n)
{
    toolkit *lib = toolkit_of(vm);
    struct held *h;
    rrc_object *ob;
    char *name;

    (void)n;
    if (find_held(lib, cvm_symbol_text(args[0])) != NULL)
        return cvm_fail(vm, "hold: %.40s is in use", cvm_symbol_text(args[0]));
    if (!make_room(&lib->held, lib->held_count, &lib->held_capacity, sizeof *lib->held))
        return cvm_out_of_memory(vm);
    ob = cvm_to_c(vm, "hold", args[1]);
    if (ob == NULL)
        return CVM_NONE;
    name = copy_string(CVM_VARIABLE_OF(args[0])->name);
    if (name == NULL) {
        rrc_decref(vm->rrc, ob);
        return cvm_out_of_memory(vm);
    }
    h = &lib->held[lib->held_count++];
    h->name = name;
    h->ob = ob;
    return args[1];
}

/* (held 'name): what C holds under this name, or nil */
static cvm_value b_held(cvm *vm, cvm_value *args, size_t n)
{
    const struct held *h;

    (void)n;
    h = find_held(toolkit_of(vm), cvm_symbol_text(args[0]));
    return h != NULL ? cvm_from_ob(vm, h->ob) : CVM_NIL;
}

/* (release 'name): C lets go of it; was there anything? */
static cvm_value b_release(cvm *vm, cvm_value *args, size_t n)
{
    struct held *h;
    rrc_object *ob;

    (void)n;
    h = find_held(toolkit_of(vm), cvm_symbol_text(args[0]));
    if (h == NULL)
        return CVM_FALSE;
    ob = h->ob;
    free(h->name);
    *h = toolkit_of(vm)->held[--toolkit_of(vm)->held_count];
    rrc_decref(vm->rrc, ob);            /* last: it may run code that comes back here */
    return CVM_TRUE;
}

/* (c-log): what the deallocators wrote since the last time, a list of lines */
static cvm_value b_c_log(cvm *vm, cvm_value *args, size_t n)
{
    toolkit *lib = toolkit_of(vm);
    cvm_value *list = cvm_root(vm, CVM_NIL);

    (void)args, (void)n;
    while (*list != CVM_NONE && lib->log_count > 0) {
        char *line = lib->log[--lib->log_count];
        cvm_value v = cvm_text(vm, line);

        free(line);
        *list = v != CVM_NONE ? cvm_cons(vm, v, *list) : CVM_NONE;
    }
    return *list;
}

/* ---- the layer ----------------------------------------------------------- */

static const cvm_builtin_def builtins[] = {
    { "new", "y.*", b_new },                { "call", ".y.*", b_call },
    { "dispose", ".", b_dispose },          { "hold", "y.", b_hold },
    { "held", "y", b_held },                { "release", "y", b_release },
    { "c-log", "", b_c_log },
    { NULL, NULL, NULL }
};

/* This file works on counts too: it must have been compiled like the glue. */
static int open_toolkit(cvm *vm)
{
    return rrc_check_config(vm->rrc) == RRC_OK && cvm_define_all(vm, CVM_BUILTIN, builtins);
}

static void close_toolkit(cvm *vm)
{
    toolkit *lib = toolkit_of(vm);

    while (lib->held_count > 0) {
        struct held h = lib->held[--lib->held_count];

        free(h.name);
        rrc_decref(vm->rrc, h.ob);
    }
    while (lib->log_count > 0)
        free(lib->log[--lib->log_count]);
    free(lib->held);
    free(lib->log);
    memset(lib, 0, sizeof *lib);
}

const cvm_layer cvm_toolkit_layer = {
    .size = sizeof(toolkit), .number = CVM_LIBRARY, .open = open_toolkit, .let_go = close_toolkit
};
