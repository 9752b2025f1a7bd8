/* widgets.h - a small widget library in C: windows, containers, buttons, canvases.
 *
 * It knows no VM. Its objects are counted (rrc_incref, rrc_decref), and callbacks
 * are objects of somebody else's: the library owns a reference to each, and calls
 * it through a hook of its host. See README.md.
 *
 * Every function takes objects that the caller holds, and "borrowed" results are
 * valid as long as what they were taken from: rrc_incref them to keep them.
 */
#ifndef WIDGETS_H
#define WIDGETS_H

#include "rawrefcount.h"

/* What a host does for the library. It must outlive all widgets: make it static. */
typedef struct wg_host {
    /* Call `callback`, an object that the host once passed to wg_set_callback. Both
       are held meanwhile. The result is that of wg_emit: 0, or a code of the host's. */
    int (*call)(rrc_heap *heap, rrc_object *callback, rrc_object *sender);
} wg_host;

/* The events of a widget, each with one callback. */
#define WG_EVENTS(X) X(click) X(close) X(draw)
#define WG_EVENT_ENUM(name) WG_EVENT_##name,
enum wg_event { WG_EVENTS(WG_EVENT_ENUM) WG_EVENT_COUNT };
#undef WG_EVENT_ENUM

/* What can go wrong. */
#define WG_ERRORS(X) \
    X(WG_OK, "no error") \
    X(WG_ENOMEM, "out of memory") \
    X(WG_ETYPE, "this kind of widget cannot do that") \
    X(WG_ECYCLE, "a container cannot contain itself, nor a window be in a container") \
    X(WG_EPARENT, "that is not a child of this container")
#define WG_ERROR_ENUM(code, message) code,
enum wg_error { WG_ERRORS(WG_ERROR_ENUM) WG_ERROR_COUNT };
#undef WG_ERROR_ENUM

const char *wg_error_message(int code);

/* Every widget has a text and callbacks. A window is a container, too. */
extern const rrc_type wg_window_type, wg_container_type, wg_button_type, wg_canvas_type;

int wg_is_widget(const rrc_object *ob);
int wg_is_container(const rrc_object *ob);

/* A new widget with one reference, the caller's; NULL: out of memory. */
rrc_object *wg_window_new(rrc_heap *heap, const wg_host *host, const char *title);
rrc_object *wg_container_new(rrc_heap *heap, const wg_host *host);
rrc_object *wg_button_new(rrc_heap *heap, const wg_host *host, const char *label);
rrc_object *wg_canvas_new(rrc_heap *heap, const wg_host *host, size_t width, size_t height);

/* ---- any widget ---- */

const char *wg_text(const rrc_object *widget);                  /* borrowed; never NULL */
int wg_set_text(rrc_object *widget, const char *text);          /* copied */

/* The widget takes a reference to `callback` of its own; NULL: none any more. */
void wg_set_callback(rrc_object *widget, enum wg_event event, rrc_object *callback);
rrc_object *wg_callback(const rrc_object *widget, enum wg_event event);     /* borrowed, or NULL */

/* Something happened: call the callback, if there is one. Returns what that gave. */
int wg_emit(rrc_object *widget, enum wg_event event);

/* The container the widget is in, borrowed, or NULL: a widget does not own its parent. */
rrc_object *wg_parent(const rrc_object *widget);

/* ---- containers ---- */

/* Add a child at the end; the container takes a reference. The child leaves the
   container it was in. WG_OK, or nothing was changed. */
int wg_add(rrc_object *container, rrc_object *child);
int wg_remove(rrc_object *container, rrc_object *child);

size_t wg_count(const rrc_object *container);                   /* 0 for what is no container */
rrc_object *wg_child(const rrc_object *container, size_t i);    /* borrowed; NULL: there is none */

/* ---- canvases: a byte for each pixel, not in the object but in memory of their own ---- */

int wg_resize(rrc_object *canvas, size_t width, size_t height);     /* clears it */
size_t wg_width(const rrc_object *canvas);
size_t wg_height(const rrc_object *canvas);
unsigned char *wg_pixel(rrc_object *canvas, size_t x, size_t y);    /* NULL: outside */

#endif
