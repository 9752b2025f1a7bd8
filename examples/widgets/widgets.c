#include "widgets.h"

#include <stdlib.h>
#include <string.h>

/* One layout for all: a widget that has no children, or no pixels, has none. */
typedef struct widget {
    rrc_object     head;
    rrc_heap      *heap;
    const wg_host *host;
    char          *text;                        /* NULL: empty */
    rrc_object    *callback[WG_EVENT_COUNT];    /* owned */
    struct widget *parent;                      /* borrowed: cleared when the parent lets go */
} widget;

typedef struct container {
    widget   base;
    widget **child;                             /* owned, each */
    size_t   count, capacity;
} container;

typedef struct canvas {
    widget         base;
    unsigned char *pixel;
    size_t         width, height;
} canvas;

#define WG_ERROR_MESSAGE(code, message) message,
const char *wg_error_message(int code)
{
    static const char *const messages[] = { WG_ERRORS(WG_ERROR_MESSAGE) };
    return code >= 0 && code < WG_ERROR_COUNT ? messages[code] : "unknown error";
}

static widget *as_widget(const rrc_object *ob) { return (widget *)(uintptr_t)ob; }
static container *as_container(const rrc_object *ob) { return (container *)(uintptr_t)ob; }
static canvas *as_canvas(const rrc_object *ob) { return (canvas *)(uintptr_t)ob; }

static int is_canvas(const rrc_object *ob) { return ob->ob_type == &wg_canvas_type; }

int wg_is_container(const rrc_object *ob)
{
    return ob->ob_type == &wg_window_type || ob->ob_type == &wg_container_type;
}

int wg_is_widget(const rrc_object *ob)
{
    return wg_is_container(ob) || is_canvas(ob) || ob->ob_type == &wg_button_type;
}

/* ---- what the types do ---- */

/* A widget that owns only its callbacks can just list them. */
#define WG_EVENT_MEMBER(name) \
    { "on_" #name, offsetof(widget, callback) + WG_EVENT_##name * sizeof(rrc_object *) },
static const rrc_member widget_members[] = { WG_EVENTS(WG_EVENT_MEMBER) { NULL, 0 } };

/* A container owns its children, too. Their number varies: it visits them by itself. */
static int container_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    const container *box = as_container(self);
    size_t i;
    for (i = 0; i < WG_EVENT_COUNT; i++)
        RRC_VISIT(box->base.callback[i]);
    for (i = 0; i < box->count; i++)
        RRC_VISIT(box->child[i]);
    return 0;
}

static void clear_callbacks(rrc_heap *heap, widget *w)
{
    size_t i;
    for (i = 0; i < WG_EVENT_COUNT; i++)
        RRC_CLEAR(heap, w->callback[i]);
}

/* Take children out one by one: what a decref runs must find the container whole. */
static int container_clear(rrc_heap *heap, rrc_object *self)
{
    container *box = as_container(self);
    clear_callbacks(heap, &box->base);
    while (box->count > 0) {
        widget *child = box->child[--box->count];
        child->parent = NULL;
        rrc_decref(heap, &child->head);
    }
    return 0;
}

static void widget_dealloc(rrc_heap *heap, rrc_object *self)
{
    clear_callbacks(heap, as_widget(self));
    free(as_widget(self)->text);
    rrc_gc_del(heap, self);
}

static void container_dealloc(rrc_heap *heap, rrc_object *self)
{
    container_clear(heap, self);
    free(as_container(self)->child);
    widget_dealloc(heap, self);
}

static void canvas_dealloc(rrc_heap *heap, rrc_object *self)
{
    free(as_canvas(self)->pixel);
    widget_dealloc(heap, self);
}

static size_t canvas_size(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return as_canvas(self)->width * as_canvas(self)->height;
}

const rrc_type wg_window_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Window", .tp_basicsize = sizeof(container),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = container_dealloc,
    .tp_traverse = container_traverse, .tp_clear = container_clear,
};
const rrc_type wg_container_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Container", .tp_basicsize = sizeof(container),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = container_dealloc,
    .tp_traverse = container_traverse, .tp_clear = container_clear,
};
const rrc_type wg_button_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Button", .tp_basicsize = sizeof(widget),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = widget_dealloc, .tp_members = widget_members,
};
const rrc_type wg_canvas_type = {
    .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "Canvas", .tp_basicsize = sizeof(canvas),
    .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = canvas_dealloc, .tp_members = widget_members,
    .tp_size = canvas_size,
};

/* ---- any widget ---- */

/* Tracked at once, as its fields are valid: from now on cycles through it are found. */
static rrc_object *widget_new(rrc_heap *heap, const wg_host *host, const rrc_type *type, const char *text)
{
    rrc_object *ob = rrc_gc_new(heap, type);
    if (ob == NULL)
        return NULL;
    as_widget(ob)->heap = heap;
    as_widget(ob)->host = host;
    if (wg_set_text(ob, text) != WG_OK || rrc_gc_track(heap, ob) != RRC_OK) {
        rrc_decref(heap, ob);
        return NULL;
    }
    return ob;
}

rrc_object *wg_window_new(rrc_heap *heap, const wg_host *host, const char *title)
{
    return widget_new(heap, host, &wg_window_type, title);
}

rrc_object *wg_container_new(rrc_heap *heap, const wg_host *host)
{
    return widget_new(heap, host, &wg_container_type, "");
}

rrc_object *wg_button_new(rrc_heap *heap, const wg_host *host, const char *label)
{
    return widget_new(heap, host, &wg_button_type, label);
}

const char *wg_text(const rrc_object *ob)
{
    const char *text = as_widget(ob)->text;
    return text != NULL ? text : "";
}

int wg_set_text(rrc_object *ob, const char *text)
{
    char *copy = NULL;
    if (text[0] != '\0') {
        copy = malloc(strlen(text) + 1);
        if (copy == NULL)
            return WG_ENOMEM;
        strcpy(copy, text);
    }
    free(as_widget(ob)->text);
    as_widget(ob)->text = copy;
    return WG_OK;
}

void wg_set_callback(rrc_object *ob, enum wg_event event, rrc_object *callback)
{
    widget *w = as_widget(ob);
    rrc_object *old = w->callback[event];
    if (callback != NULL)
        rrc_incref(w->heap, callback);
    w->callback[event] = callback;
    if (old != NULL)
        rrc_decref(w->heap, old);
}

rrc_object *wg_callback(const rrc_object *ob, enum wg_event event)
{
    return as_widget(ob)->callback[event];
}

int wg_emit(rrc_object *ob, enum wg_event event)
{
    widget *w = as_widget(ob);
    rrc_heap *heap = w->heap;
    rrc_object *callback = w->callback[event];
    int result;
    if (callback == NULL)
        return 0;
    rrc_incref(heap, ob);               /* the callback may drop both */
    rrc_incref(heap, callback);
    result = w->host->call(heap, callback, ob);
    rrc_decref(heap, callback);
    rrc_decref(heap, ob);
    return result;
}

rrc_object *wg_parent(const rrc_object *ob)
{
    widget *parent = as_widget(ob)->parent;
    return parent != NULL ? &parent->head : NULL;
}

/* ---- containers ---- */

static int is_inside(const widget *w, const widget *outer)
{
    while (w != NULL && w != outer)
        w = w->parent;
    return w != NULL;
}

static int reserve_child(container *box)
{
    size_t capacity = box->capacity * 2 + 4;
    widget **grown;
    if (box->count < box->capacity)
        return WG_OK;
    grown = realloc(box->child, capacity * sizeof *grown);
    if (grown == NULL)
        return WG_ENOMEM;
    box->child = grown;
    box->capacity = capacity;
    return WG_OK;
}

static void take_out(container *box, widget *child)
{
    size_t i = 0;
    while (box->child[i] != child)
        i++;
    memmove(&box->child[i], &box->child[i + 1], (box->count - i - 1) * sizeof(widget *));
    box->count--;
    child->parent = NULL;
}

int wg_add(rrc_object *ob, rrc_object *child_ob)
{
    container *box = as_container(ob);
    widget *child = as_widget(child_ob);
    widget *before = child->parent;
    if (!wg_is_container(ob))
        return WG_ETYPE;
    if (child_ob->ob_type == &wg_window_type || is_inside(&box->base, child))
        return WG_ECYCLE;
    if (reserve_child(box) != WG_OK)
        return WG_ENOMEM;
    rrc_incref(box->base.heap, child_ob);
    if (before != NULL)
        take_out(as_container(&before->head), child);
    box->child[box->count++] = child;
    child->parent = &box->base;
    if (before != NULL)
        rrc_decref(box->base.heap, child_ob);
    return WG_OK;
}

int wg_remove(rrc_object *ob, rrc_object *child_ob)
{
    if (wg_parent(child_ob) != ob)
        return WG_EPARENT;
    take_out(as_container(ob), as_widget(child_ob));
    rrc_decref(as_widget(ob)->heap, child_ob);
    return WG_OK;
}

size_t wg_count(const rrc_object *ob)
{
    return wg_is_container(ob) ? as_container(ob)->count : 0;
}

rrc_object *wg_child(const rrc_object *ob, size_t i)
{
    return i < wg_count(ob) ? &as_container(ob)->child[i]->head : NULL;
}

/* ---- canvases ---- */

int wg_resize(rrc_object *ob, size_t width, size_t height)
{
    canvas *c = as_canvas(ob);
    unsigned char *pixel;
    if (!is_canvas(ob))
        return WG_ETYPE;
    if (height != 0 && width > PTRDIFF_MAX / height)
        return WG_ENOMEM;
    pixel = calloc(width * height + 1, 1);
    if (pixel == NULL)
        return WG_ENOMEM;
    free(c->pixel);
    c->pixel = pixel;
    c->width = width;
    c->height = height;
    rrc_measure(c->base.heap, ob);
    return WG_OK;
}

rrc_object *wg_canvas_new(rrc_heap *heap, const wg_host *host, size_t width, size_t height)
{
    rrc_object *ob = widget_new(heap, host, &wg_canvas_type, "");
    if (ob != NULL && wg_resize(ob, width, height) != WG_OK) {
        rrc_decref(heap, ob);
        return NULL;
    }
    return ob;
}

size_t wg_width(const rrc_object *ob) { return is_canvas(ob) ? as_canvas(ob)->width : 0; }
size_t wg_height(const rrc_object *ob) { return is_canvas(ob) ? as_canvas(ob)->height : 0; }

unsigned char *wg_pixel(rrc_object *ob, size_t x, size_t y)
{
    canvas *c = as_canvas(ob);
    return x < wg_width(ob) && y < wg_height(ob) ? &c->pixel[y * c->width + x] : NULL;
}
