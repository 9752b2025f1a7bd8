/* Two heap snapshots of a heap with windows and widgets, before and after it leaks some, for snapshot.js.
 *
 *     snapshot DIRECTORY      writes before.heapsnapshot and after.heapsnapshot there, and says in
 *                             expected.json what is in them
 *     snapshot big NODES      writes one of so many nodes to nowhere, and says what it took */

#define _POSIX_C_SOURCE 200809L

#include "knots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOWS = 20, LEAKED = 7, FILLERS = 50 };

static const rrc_member window_members[] = {
    { "title", offsetof(knot, ref) }, { "on_close", offsetof(knot, ref) + sizeof(rrc_object *) }, { NULL, 0 }
};
static const rrc_type Window = {
    .tp_name = "Window", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = window_members,
};
static const rrc_type Widget = {
    .tp_name = "Widget", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = window_members,
};
static const rrc_type View = {
    .tp_name = "View", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_members = window_members,
};
static size_t five_hundred(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    (void)self;
    return 500;
}
static const rrc_type Sized = { .tp_name = "Sized", .tp_basicsize = sizeof(knot), .tp_size = five_hundred };
static const rrc_type Items = {
    .tp_name = "Items", .tp_basicsize = sizeof(knot), .tp_itemsize = 8, .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_members = window_members,
};

/* The words of each host object. Bytes that are not UTF-8, or are not as they are in JSON, must get through. */
static const char *words[2000];

static const char *say(host *h, size_t id)
{
    (void)h;
    return id < sizeof words / sizeof words[0] && words[id] != NULL ? words[id] : "table";
}

static void write_to_file(void *arg, const char *text, size_t size)
{
    check(text[size] == '\0');
    check_int(fwrite(text, 1, size, (FILE *)arg), size);
}

static size_t host_object(host *h, const char *text)
{
    size_t id = host_new(h, HOST_OLD);

    words[id] = text;
    return id;
}

/* A window, whose callback mentions a widget. Returns the proxy. */
static size_t make_window(host *h)
{
    size_t proxy = host_object(h, "userdata Window"), closure = host_object(h, "function at main.lua:12");
    size_t widget = host_object(h, "userdata Widget");
    rrc_object *window = rrc_gc_new(h->heap, &Window), *view = rrc_gc_new(h->heap, &View);
    rrc_object *ob = rrc_gc_new(h->heap, &Widget);

    check(window != NULL && view != NULL && ob != NULL);
    check_int(rrc_link(h->heap, host_at(h, proxy), window, RRC_O | RRC_GIVE), RRC_OK);
    check_int(rrc_link(h->heap, host_at(h, closure), view, RRC_P), RRC_OK);
    check_int(rrc_link(h->heap, host_at(h, widget), ob, RRC_O | RRC_GIVE), RRC_OK);
    host_note_link(h, proxy), host_note_link(h, closure), host_note_link(h, widget);
    check_int(rrc_gc_track(h->heap, window), RRC_OK);
    check_int(rrc_gc_track(h->heap, view), RRC_OK);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    KNOT(window)->ref[1] = view;
    host_point(h, closure, 1, widget);
    return proxy;
}

/* A widget of a callback that `owner` refers to. Returns the callback. */
static size_t make_widget(host *h, size_t owner)
{
    size_t closure = host_object(h, "function at main.lua:30"), widget = host_object(h, "userdata Widget");
    rrc_object *ob = rrc_gc_new(h->heap, &Widget);

    check(ob != NULL);
    check_int(rrc_link(h->heap, host_at(h, widget), ob, RRC_O | RRC_GIVE), RRC_OK);
    host_note_link(h, widget);
    check_int(rrc_gc_track(h->heap, ob), RRC_OK);
    host_point(h, closure, 1, widget);
    host_point(h, owner, 2, closure);
    return closure;
}

static void write_snapshot(host *h, const char *directory, const char *name)
{
    char path[4000];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "wb");
    check(file != NULL);
    check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), write_to_file, file), RRC_OK);
    check_int(fclose(file), 0);
}

static int write_both(const char *directory)
{
    const host_options options = { .shows = 2, .reuse = 1, .plain_memory = 1 };
    host *h = host_open(&options);
    size_t app = host_rooted(h, HOST_OLD), last = app, leaks, i;
    rrc_object *fillers[FILLERS], *held = rrc_gc_new_var(h->heap, &Items, 1000), *bare = rrc_new(h->heap, &Sized);
    char path[4000];
    FILE *file;

    h->words = say;
    check(held != NULL && bare != NULL);
    check_int(rrc_gc_track(h->heap, held), RRC_OK);
    KNOT(held)->ref[0] = bare;
    host_point(h, app, 1, host_object(h, "string \"caf\xc3\xa9\" \x01 \\ \xff\xed\xa0\x80 end"));
    for (i = 0; i < WINDOWS; i++) {
        size_t next = host_object(h, NULL);

        host_point(h, last, 2, next);
        host_point(h, next, 0, make_window(h));
        last = next;
    }
    for (i = 0; i < FILLERS; i++) {
        fillers[i] = rrc_gc_new(h->heap, &View);
        check(fillers[i] != NULL);
        check_int(rrc_gc_track(h->heap, fillers[i]), RRC_OK);
    }
    write_snapshot(h, directory, "before.heapsnapshot");
    /* What is new is at the addresses of what is gone, and the rest has moved. */
    for (i = 0; i < FILLERS; i++)
        rrc_decref(h->heap, fillers[i]);
    leaks = last;
    for (i = 0; i < LEAKED; i++)
        leaks = make_widget(h, leaks);
    for (i = 0; i < 3; i++) {
        make_window(h);                         /* no leak */
        host_major(h);
        rrc_run_pending(h->heap, 0);
        host_major(h);
        rrc_run_pending(h->heap, 0);
    }
    write_snapshot(h, directory, "after.heapsnapshot");
    snprintf(path, sizeof path, "%s/expected.json", directory);
    file = fopen(path, "w");
    check(file != NULL);
    /* Edges: three of the first nodes' own; held, fillers; g0; held's title; its string; for a window: of
       the cell before, of the cell, of the window, of the closure, and four of links. */
    fprintf(file, "{ \"windows\": %d, \"leaked\": %d, \"fillers\": %d, \"knot\": %d, \"items\": %d, \"sized\": %d,\n",
            WINDOWS, LEAKED, FILLERS, (int)sizeof(knot), (int)sizeof(knot) + 8000, (int)sizeof(knot) + 500);
    fprintf(file, "  \"nodesBefore\": %d, \"edgesBefore\": %d, \"nodesAfter\": %d, \"edgesAfter\": %d }\n",
            4 + 2 + 2 + WINDOWS * 7 + FILLERS, 3 + 1 + 1 + 1 + 1 + WINDOWS * 8 + FILLERS,
            4 + 2 + 2 + WINDOWS * 7 + LEAKED * 3, 3 + 1 + 1 + 1 + 1 + WINDOWS * 8 + LEAKED * 3);
    check_int(fclose(file), 0);
    rrc_decref(h->heap, held);
    host_unroot(h, app);
    for (i = 0; i < 2; i++) {
        host_major(h);
        rrc_run_pending(h->heap, 0);
    }
    host_close(h);
    return 0;
}

static void count_text(void *arg, const char *text, size_t size)
{
    (void)text;
    *(size_t *)arg += size;
}

/* How much memory and time does it take? */
static int write_big(size_t nodes)
{
    const host_options options = { .shows = 2, .unchecked = 1 };
    host *h = host_open(&options);
    size_t root = host_rooted(h, HOST_OLD), last = root, text, before, i;
    int round;

    for (i = 0; i < nodes / 2; i++) {
        size_t p = host_new(h, HOST_OLD);
        rrc_object *ob = rrc_gc_new(h->heap, &Widget);

        check(ob != NULL);
        check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_O | RRC_GIVE), RRC_OK);
        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
        host_point(h, last, 0, p);
        last = p;
    }
    for (round = 1; round <= 2; round++) {
        struct timespec from, to;

        before = h->live_bytes;
        h->most_bytes = 0;
        text = 0;
        clock_gettime(CLOCK_MONOTONIC, &from);
        check_int(rrc_dump_heapsnapshot(h->heap, host_insight(h), count_text, &text), RRC_OK);
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("snapshot %d: %lu nodes, %.1f bytes of text each; %.1f bytes of memory each, of which %.1f stay; %.2f s\n",
               round, (unsigned long)nodes, (double)text / (double)nodes,
               (double)(h->most_bytes - before) / (double)nodes,
               ((double)h->live_bytes - (double)before) / (double)nodes,
               (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
    }
    host_unroot(h, root);
    host_major(h);
    rrc_run_pending(h->heap, 0);
    host_close(h);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "big") == 0)
        return write_big((size_t)strtoul(argv[2], NULL, 10));
    if (argc == 2)
        return write_both(argv[1]);
    fprintf(stderr, "snapshot DIRECTORY, or snapshot big NODES\n");
    return 2;
}
