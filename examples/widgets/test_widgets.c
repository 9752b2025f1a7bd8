/* test_widgets.c - the library alone: a heap without any VM, callbacks in C. */
#define RAWREFCOUNT_IMPLEMENTATION
#include "widgets.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* ---- a host that has no objects ---- */

static void no_trace(void *host, rrc_gcref p) { (void)host; (void)p; }
static rrc_gcref no_survivor(void *host, rrc_gcref p) { (void)host; (void)p; return NULL; }

static long allocations_left = -1;      /* then the next one fails; -1: none does */

static void *limited_realloc(void *host, void *ptr, size_t old_size, size_t new_size)
{
    (void)host;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    if (allocations_left == 0)
        return NULL;
    allocations_left -= allocations_left > 0;
    return realloc(ptr, new_size);
}

static rrc_heap *heap;

/* A callback: a function in C that knows one object more. */
typedef struct action {
    rrc_object  head;
    int       (*run)(struct action *self, rrc_object *sender);
    rrc_object *target;
    int         runs;
} action;

static const rrc_member action_members[] = { { "target", offsetof(action, target) }, { NULL, 0 } };
static const rrc_type action_type = { .tp_name = "Action", .tp_basicsize = sizeof(action),
                                      .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = action_members };

static action *new_action(int (*run)(action *self, rrc_object *sender), rrc_object *target)
{
    action *a = (action *)rrc_gc_new(heap, &action_type);
    check(a != NULL);
    a->run = run;
    a->target = target;
    if (target != NULL)
        rrc_incref(heap, target);
    check_int(rrc_gc_track(heap, &a->head), RRC_OK);
    return a;
}

static int call_action(rrc_heap *h, rrc_object *callback, rrc_object *sender)
{
    action *a = (action *)callback;
    check(h == heap);
    a->runs++;
    return a->run != NULL ? a->run(a, sender) : 0;
}

static const wg_host host = { call_action };

static void open_heap(void)
{
    allocations_left = -1;
    heap = rrc_heap_new(&(rrc_desc){ .trace = no_trace, .survivor = no_survivor, .realloc = limited_realloc });
    check(heap != NULL);
}

static rrc_stats stats(void)
{
    rrc_stats result;
    check_int(rrc_get_stats(heap, &result), RRC_OK);
    return result;
}

static size_t objects(void)
{
    return stats().objects;
}

/* Nothing may be left, and no byte unreported. */
static void close_heap(void)
{
    check_int(rrc_check(heap), RRC_OK);
    check_int(objects(), 0);
    check_int(stats().native_bytes, 0);
    check_int(rrc_heap_free(heap), 0);
}

/* ---- the tests ---- */

static void widgets_have_texts(void)
{
    rrc_object *window, *button;
    open_heap();
    window = wg_window_new(heap, &host, "a window");
    button = wg_button_new(heap, &host, "");
    check_str(wg_text(window), "a window");
    check_str(wg_text(button), "");
    check_int(wg_set_text(button, "OK"), WG_OK);
    check_str(wg_text(button), "OK");
    check_int(wg_set_text(window, ""), WG_OK);
    check_str(wg_text(window), "");
    check(wg_is_widget(window) && wg_is_container(window));
    check(wg_is_widget(button) && !wg_is_container(button));
    rrc_decref(heap, window);
    rrc_decref(heap, button);
    close_heap();
}

static void containers_own_their_children(void)
{
    rrc_object *window, *box, *button;
    open_heap();
    window = wg_window_new(heap, &host, "w");
    box = wg_container_new(heap, &host);
    button = wg_button_new(heap, &host, "b");
    check_int(wg_add(window, box), WG_OK);
    check_int(wg_add(box, button), WG_OK);
    rrc_decref(heap, box);
    rrc_decref(heap, button);
    check_int(objects(), 3);
    check_ptr(wg_child(window, 0), box);
    check_ptr(wg_child(window, 1), NULL);
    check_ptr(wg_parent(button), box);
    rrc_incref(heap, button);
    rrc_decref(heap, window);
    check_int(objects(), 1);
    check_ptr(wg_parent(button), NULL);
    rrc_decref(heap, button);
    close_heap();
}

static void children_move(void)
{
    rrc_object *boxes[2], *child[10];
    int i;
    open_heap();
    boxes[0] = wg_container_new(heap, &host);
    boxes[1] = wg_window_new(heap, &host, "w");
    for (i = 0; i < 10; i++) {
        child[i] = wg_button_new(heap, &host, "b");
        check_int(wg_add(boxes[0], child[i]), WG_OK);
        rrc_decref(heap, child[i]);
    }
    check_int(wg_add(boxes[1], child[3]), WG_OK);
    check_int(wg_add(boxes[0], child[9]), WG_OK);       /* to where it was */
    check_int(wg_add(boxes[0], child[0]), WG_OK);       /* to the end */
    check_int(wg_count(boxes[0]), 9);
    check_int(wg_count(boxes[1]), 1);
    check_ptr(wg_child(boxes[0], 0), child[1]);
    check_ptr(wg_child(boxes[0], 2), child[4]);
    check_ptr(wg_child(boxes[0], 8), child[0]);
    check_ptr(wg_parent(child[3]), boxes[1]);
    check_int(wg_remove(boxes[0], child[3]), WG_EPARENT);
    check_int(wg_remove(boxes[1], child[3]), WG_OK);
    check_int(objects(), 11);
    rrc_decref(heap, boxes[0]);
    rrc_decref(heap, boxes[1]);
    close_heap();
}

static void impossible_children_are_refused(void)
{
    rrc_object *window, *outer, *inner, *button;
    open_heap();
    window = wg_window_new(heap, &host, "w");
    outer = wg_container_new(heap, &host);
    inner = wg_container_new(heap, &host);
    button = wg_button_new(heap, &host, "b");
    check_int(wg_add(outer, inner), WG_OK);
    check_int(wg_add(inner, outer), WG_ECYCLE);
    check_int(wg_add(inner, inner), WG_ECYCLE);
    check_int(wg_add(outer, window), WG_ECYCLE);
    check_int(wg_add(button, inner), WG_ETYPE);
    check_int(wg_resize(button, 1, 1), WG_ETYPE);
    check_ptr(wg_parent(inner), outer);
    check_int(wg_count(button), 0);
    rrc_decref(heap, window);
    rrc_decref(heap, outer);
    rrc_decref(heap, inner);
    rrc_decref(heap, button);
    close_heap();
}

static int give_seven(action *self, rrc_object *sender)
{
    check_ptr(self->target, sender);
    return 7;
}

static void callbacks_are_called(void)
{
    rrc_object *button;
    action *a;
    open_heap();
    button = wg_button_new(heap, &host, "b");
    check_int(wg_emit(button, WG_EVENT_click), 0);
    a = new_action(give_seven, button);
    wg_set_callback(button, WG_EVENT_click, &a->head);
    check_ptr(wg_callback(button, WG_EVENT_click), a);
    check_int(wg_emit(button, WG_EVENT_click), 7);
    check_int(wg_emit(button, WG_EVENT_close), 0);
    check_int(a->runs, 1);
    wg_set_callback(button, WG_EVENT_click, NULL);
    check_int(wg_emit(button, WG_EVENT_click), 0);
    rrc_decref(heap, &a->head);
    rrc_decref(heap, button);
    close_heap();
}

static int drop_all(action *self, rrc_object *sender)
{
    rrc_object *target = self->target;
    wg_set_callback(sender, WG_EVENT_click, NULL);
    self->target = NULL;
    rrc_decref(heap, target);
    check_int(objects(), 2);            /* wg_emit holds them */
    return 0;
}

static void a_callback_may_drop_everything(void)
{
    rrc_object *button;
    action *a;
    open_heap();
    button = wg_button_new(heap, &host, "b");
    a = new_action(drop_all, button);
    wg_set_callback(button, WG_EVENT_click, &a->head);
    rrc_decref(heap, &a->head);
    rrc_decref(heap, button);
    check_int(wg_emit(button, WG_EVENT_click), 0);
    close_heap();
}

/* A button whose callback knows the window: the cycle is garbage of C alone, which
   counts do not find, but the traverse functions do. */
static void cycles_are_collected(void)
{
    rrc_object *window, *button;
    action *a;
    open_heap();
    window = wg_window_new(heap, &host, "w");
    button = wg_button_new(heap, &host, "b");
    check_int(wg_add(window, button), WG_OK);
    a = new_action(NULL, window);
    wg_set_callback(button, WG_EVENT_click, &a->head);
    rrc_decref(heap, button);
    rrc_decref(heap, &a->head);
    check_int(rrc_gc_collect(heap), 0);
    rrc_decref(heap, window);
    check_int(objects(), 3);
    check_int(rrc_gc_collect(heap), 3);
    close_heap();
}

static void canvases_report_their_memory(void)
{
    rrc_object *canvas;
    open_heap();
    canvas = wg_canvas_new(heap, &host, 30, 20);
    check_int(stats().native_bytes, 600);
    *wg_pixel(canvas, 29, 19) = 9;
    check_ptr(wg_pixel(canvas, 30, 0), NULL);
    check_ptr(wg_pixel(canvas, 0, 20), NULL);
    check_int(wg_resize(canvas, 10, 10), WG_OK);
    check_int(stats().native_bytes, 100);
    check_int(*wg_pixel(canvas, 9, 9), 0);
    check_int(wg_resize(canvas, SIZE_MAX / 4, SIZE_MAX / 4), WG_ENOMEM);
    check_int(wg_width(canvas) * wg_height(canvas), 100);
    check_int(wg_resize(canvas, 0, 5), WG_OK);
    check_int(stats().native_bytes, 0);
    check_ptr(wg_pixel(canvas, 0, 0), NULL);
    check_int(wg_resize(canvas, 8, 8), WG_OK);
    rrc_decref(heap, canvas);
    close_heap();
}

static void lack_of_memory_is_reported(void)
{
    long limit;
    int made = 0;
    for (limit = 0; !made; limit++) {
        rrc_object *ob;
        unit_context("%ld allocations", limit);
        open_heap();
        allocations_left = limit;
        ob = wg_canvas_new(heap, &host, 4, 4);
        allocations_left = -1;
        made = ob != NULL;
        if (made)
            rrc_decref(heap, ob);
        close_heap();
    }
    check(limit > 1);
}

static void every_error_has_a_message(void)
{
    int code, other;
    for (code = 0; code < WG_ERROR_COUNT; code++)
        for (other = 0; other < code; other++)
            check(strcmp(wg_error_message(code), wg_error_message(other)) != 0);
    check_str(wg_error_message(WG_ERROR_COUNT), "unknown error");
    check_str(wg_error_message(-1), "unknown error");
}

UNIT_GROUP(widgets, UNIT(widgets_have_texts), UNIT(containers_own_their_children), UNIT(children_move),
           UNIT(impossible_children_are_refused), UNIT(callbacks_are_called),
           UNIT(a_callback_may_drop_everything), UNIT(cycles_are_collected),
           UNIT(canvases_report_their_memory), UNIT(lack_of_memory_is_reported),
           UNIT(every_error_has_a_message));

int main(int argc, char **argv)
{
    const unit_group *const groups[] = { &widgets };
    return unit_main(argc, argv, groups, 1);
}
