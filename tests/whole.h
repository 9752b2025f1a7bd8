/* One scenario for any host: what garbage owns is whole until its dealloc has run. A widget owns a view of a string of
 * the host, and one of a closure. Its tp_dealloc, tp_clear and tp_finalize read the string and call the closure. They
 * do so after a collection, in a cycle, in a chain of ten over the border, and at the end of the heap. A host says how
 * it does a few things: whole_host. */

#ifndef WHOLE_H
#define WHOLE_H

#include "layout.h"
#include "rawrefcount.h"

#include <stddef.h>

typedef struct whole_host {
    rrc_heap *heap;
    void *host;
    /* A view of a new string, and of a new closure that refers to the proxy of `captured` (or to nothing). The caller
       owns the reference. Nothing else holds the string or the closure. */
    rrc_object *(*string)(struct whole_host *w);
    rrc_object *(*closure)(struct whole_host *w, rrc_object *captured);
    /* Give an object a proxy, which takes over the caller's reference. It is rooted if asked for. */
    void (*proxy)(struct whole_host *w, rrc_object *ob, int is_rooted);
    /* Is the string there, and can the closure be called, with all that it refers to? */
    int (*read)(struct whole_host *w, rrc_object *string);
    int (*call)(struct whole_host *w, rrc_object *closure);
    void (*collect)(struct whole_host *w);      /* a full collection, and all pending work */
    /* The scenario counts: */
    int looked, dead;           /* what slots have looked at, and found dead */
    int missed;                 /* ... objects of C that they own through the host, and that were gone */
    int finalized, cleared, deallocated;
    rrc_object *still;          /* a static object that some widgets own; NULL: none */
    int made;                   /* widgets, which are numbered from 1 on */
    char is_gone[64];           /* by number */
} whole_host;

/* Finds the whole_host of a heap: each program with this scenario has one at a time. */
static whole_host *whole_now;

typedef struct whole_widget {
#if HOST_FRONT
    front_head head;
#else
    rrc_object head;
#endif
    rrc_object *text, *action, *peer;
    int number, captured;       /* its own, and that of the widget to whose proxy its closure refers; 0: none */
} whole_widget;

#define WHOLE(ob) ((whole_widget *)(void *)(ob))

static void whole_look(rrc_object *self)
{
    whole_host *w = whole_now;
    if (WHOLE(self)->text != NULL) {
        w->looked++;
        w->dead += !w->read(w, WHOLE(self)->text);
    }
    if (WHOLE(self)->action != NULL) {
        w->looked++;
        w->dead += !w->call(w, WHOLE(self)->action);
    }
    if (WHOLE(self)->captured > 0) {
        w->looked++;
        w->missed += w->is_gone[WHOLE(self)->captured];
    }
}

static int whole_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(WHOLE(self)->text);
    RRC_VISIT(WHOLE(self)->action);
    RRC_VISIT(WHOLE(self)->peer);
    return 0;
}

static void whole_drop(rrc_heap *heap, rrc_object *self)
{
    RRC_CLEAR(heap, WHOLE(self)->peer);
    RRC_CLEAR(heap, WHOLE(self)->text);
    RRC_CLEAR(heap, WHOLE(self)->action);
}

static int whole_clear(rrc_heap *heap, rrc_object *self)
{
    whole_now->cleared++;
    whole_look(self);
    whole_drop(heap, self);
    return 0;
}

static void whole_finalize(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    whole_now->finalized++;
    whole_look(self);
}

static void whole_dealloc(rrc_heap *heap, rrc_object *self)
{
    whole_now->deallocated++;
    whole_look(self);
    whole_drop(heap, self);
    whole_now->is_gone[WHOLE(self)->number] = 1;
    (RRC_TYPE(self)->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 ? rrc_gc_del(heap, self) : rrc_del(heap, self);
}

#define WHOLE_TYPE(name, finalize) \
    { .tp_name = name, .tp_basicsize = sizeof(whole_widget), .tp_flags = RRC_TPFLAGS_HAVE_GC, \
      .tp_dealloc = whole_dealloc, .tp_traverse = whole_traverse, .tp_clear = whole_clear, .tp_finalize = finalize }

static const rrc_type whole_types[2] = {
    WHOLE_TYPE("Widget", NULL), WHOLE_TYPE("FinalWidget", whole_finalize),
};

/* It is not tracked. */
static const rrc_type whole_plain = {
    .tp_name = "PlainWidget", .tp_basicsize = sizeof(whole_widget), .tp_dealloc = whole_dealloc,
};

/* A wrapper whose foreign object nobody else refers to. */
static intptr_t whole_outside(rrc_heap *heap, rrc_object *self) { (void)heap, (void)self; return 0; }

static const rrc_type whole_foreign = {
    .tp_name = "ForeignWidget", .tp_basicsize = sizeof(whole_widget), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = whole_dealloc, .tp_traverse = whole_traverse, .tp_clear = whole_clear, .tp_outside = whole_outside,
};

/* A widget whose closure refers to the proxy of `captured`. The reference is the caller's. */
static rrc_object *whole_new(whole_host *w, int finalizes, rrc_object *captured)
{
    rrc_object *ob = rrc_gc_new(w->heap, &whole_types[finalizes]);
    if (ob == NULL || rrc_gc_track(w->heap, ob) != RRC_OK)
        return NULL;
    WHOLE(ob)->text = w->string(w);
    WHOLE(ob)->action = w->closure(w, captured);
    return ob;
}

enum { WHOLE_ALONE, WHOLE_CYCLE, WHOLE_PEERS, WHOLE_CHAIN, WHOLE_SHAPES };
enum { WHOLE_LENGTH = 10 };

/* Make widgets of this shape, with proxies, rooted or not. Returns their number. */
static int whole_make(whole_host *w, int shape, int finalizes, int is_rooted)
{
    rrc_object *ob = NULL, *next = NULL;
    int i;
    switch (shape) {
    case WHOLE_ALONE:
        w->proxy(w, whole_new(w, finalizes, NULL), is_rooted);
        return 1;
    case WHOLE_CYCLE:                   /* through the closure, which refers to the proxy */
        ob = rrc_gc_new(w->heap, &whole_types[finalizes]);
        rrc_gc_track(w->heap, ob);
        WHOLE(ob)->text = w->string(w);
        rrc_incref(w->heap, ob);
        w->proxy(w, ob, is_rooted);
        WHOLE(ob)->action = w->closure(w, ob);
        rrc_decref(w->heap, ob);
        return 1;
    case WHOLE_PEERS:                   /* in C: only tp_clear breaks it */
        ob = whole_new(w, finalizes, NULL);
        next = whole_new(w, finalizes, ob);
        WHOLE(ob)->peer = next;
        WHOLE(next)->peer = ob;
        rrc_incref(w->heap, ob);
        w->proxy(w, ob, is_rooted);
        return 2;
    default:                            /* each widget's closure refers to the proxy of the next one */
        for (i = 0; i < WHOLE_LENGTH; i++) {
            ob = whole_new(w, finalizes, next);
            rrc_incref(w->heap, ob);
            w->proxy(w, ob, is_rooted && i == WHOLE_LENGTH - 1);
            if (next != NULL)
                rrc_decref(w->heap, next);
            next = ob;
        }
        rrc_decref(w->heap, next);
        return WHOLE_LENGTH;
    }
}

/* Through the host: a widget owns a closure that refers to the proxy of the next one, which so must outlive it. Nothing
   in C knows that. */
enum { WHOLE_DEPTH = 3 };
enum { WHOLE_TRACKED, WHOLE_FINAL, WHOLE_PLAIN, WHOLE_FOREIGN, WHOLE_BOTTOM_UP, WHOLE_ALL_ROOTED = 8, WHOLE_IN_PEERS = 16,
       WHOLE_PATHS = 32 };

/* Make such widgets, in this order or the other. The first is perhaps one of two peers, which are garbage that only
   tp_clear breaks. Returns the number of widgets. */
static int whole_make_path(whole_host *w, int path, int is_rooted)
{
    rrc_object *ob[WHOLE_DEPTH], *peer = NULL;
    int i, n, kind = path % 4, is_peer = (path & WHOLE_IN_PEERS) != 0 && kind != WHOLE_PLAIN;
    for (n = 0; n < WHOLE_DEPTH; n++) {
        i = path & WHOLE_BOTTOM_UP ? WHOLE_DEPTH - 1 - n : n;
        if (kind == WHOLE_PLAIN) {
            ob[i] = rrc_new(w->heap, &whole_plain);
        } else {
            ob[i] = rrc_gc_new(w->heap, kind == WHOLE_FOREIGN ? &whole_foreign : &whole_types[kind == WHOLE_FINAL]);
            rrc_gc_track(w->heap, ob[i]);
        }
        WHOLE(ob[i])->number = ++w->made;
        rrc_incref(w->heap, ob[i]);
        w->proxy(w, ob[i], is_rooted && (i == 0 || (path & WHOLE_ALL_ROOTED) != 0));
    }
    if (is_peer) {
        peer = whole_new(w, kind == WHOLE_FINAL, NULL);
        WHOLE(peer)->peer = ob[0];
        rrc_incref(w->heap, ob[0]);
        WHOLE(ob[0])->peer = peer;
    }
    for (i = 0; i + 1 < WHOLE_DEPTH; i++) {
        WHOLE(ob[i])->action = w->closure(w, ob[i + 1]);
        WHOLE(ob[i])->captured = WHOLE(ob[i + 1])->number;
    }
    for (i = 1; i < WHOLE_DEPTH && w->still != NULL; i++) {
        rrc_incref(w->heap, w->still);
        WHOLE(ob[i])->peer = w->still;
    }
    for (i = 0; i < WHOLE_DEPTH; i++)
        rrc_decref(w->heap, ob[i]);
    return WHOLE_DEPTH + is_peer;
}

#endif
