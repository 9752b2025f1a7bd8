/* A scenario for a unit with settings or a language of its own: the smallest
 * moving host there is, with two places for its two objects. The unit defines
 * the settings first, then includes this, then calls play. */

#include "rawrefcount.h"

#include <string.h>

typedef struct tiny_host {
    int places[2][2];       /* p is &places[half][n] */
    int half, marked[2], deallocs;
} tiny_host;

static int tiny_index(const tiny_host *t, rrc_gcref p)
{
    return (int)((int *)p - t->places[t->half]);
}

static void tiny_trace(void *userdata, rrc_gcref p)
{
    tiny_host *t = (tiny_host *)userdata;

    t->marked[tiny_index(t, p)] = 1;
}

static rrc_gcref tiny_survivor(void *userdata, rrc_gcref p)
{
    tiny_host *t = (tiny_host *)userdata;
    int n = tiny_index(t, p);

    return t->marked[n] ? &t->places[!t->half][n] : NULL;
}

static void tiny_dealloc(rrc_heap *heap, rrc_object *self)
{
    ((tiny_host *)rrc_userdata(heap))->deallocs++;
    rrc_del(heap, self);
}

static void tiny_collect(tiny_host *t, rrc_heap *heap)
{
    t->marked[0] = t->marked[1] = 0;
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    t->half = !t->half;
}

#define STEP(condition) if (!(condition)) return __LINE__

static int play(size_t basicsize)
{
    tiny_host t;
    rrc_desc desc;
    rrc_type type;
    rrc_heap *heap;
    rrc_object *view, *proxied;
    int i;

    memset(&t, 0, sizeof t);
    memset(&desc, 0, sizeof desc);
    memset(&type, 0, sizeof type);
    desc.userdata = &t;
    desc.trace = tiny_trace;
    desc.survivor = tiny_survivor;
    type.tp_name = "Tiny";
    type.tp_basicsize = basicsize;
    type.tp_dealloc = tiny_dealloc;
    heap = rrc_heap_new(&desc);
    STEP(heap != NULL);
    view = rrc_new(heap, &type);
    proxied = rrc_new(heap, &type);
    STEP(view != NULL && proxied != NULL);
    STEP(rrc_create_link_pypy(heap, &t.places[0][0], view) == RRC_OK);
    STEP(rrc_create_link_pyobj(heap, &t.places[0][1], proxied) == RRC_OK);
    RRC_REFCNT(view) += RRC_REFCNT_FROM_PYPY;
    RRC_REFCNT(proxied) += RRC_REFCNT_FROM_PYPY - 1;
    for (i = 0; i < 5; i++) {
        tiny_collect(&t, heap);
        STEP(rrc_from_obj(heap, &t.places[t.half][0]) == view);
        STEP(rrc_to_obj(heap, view) == &t.places[t.half][0]);
        STEP(rrc_check(heap) == RRC_OK);
    }
    STEP(rrc_run_pending(heap, 0) == 1);
    STEP(t.deallocs == 1);
    rrc_decref(heap, view);
    tiny_collect(&t, heap);
    STEP(rrc_run_pending(heap, 0) == 1);
    STEP(t.deallocs == 2);
    STEP(rrc_heap_free(heap) == 0);
    return 0;
}
