/* heap.c - allocation and collection. heap.h has the overview. */
#include "heap.h"

#include <stdlib.h>

enum {
    LARGE_SIZE = 4096,              /* unless the nursery is very small */
    LEAST_LARGE_TRIGGER = 1 << 20,
    PACE = 8,                       /* for each byte that is allocated while slices mark, so many are marked */
    STEP = CVM_SLICE / PACE,        /* so a slice follows so many bytes of allocation */
    LEAST_SLICE = 64                /* two small objects */
};

static size_t room(const char *top, const char *end)
{
    return (size_t)(end - top);
}

/* ---- pauses ------------------------------------------------------------- */

double cvm_heap_time(const cvm_heap *h)
{
    return h->clock != NULL ? h->clock() : 0;
}

void cvm_heap_note(cvm_heap *h, cvm_pause kind, double since)
{
    double pause = cvm_heap_time(h) - since;

    if (pause > h->longest[kind])
        h->longest[kind] = pause;
}

/* ---- the references inside an object ------------------------------------ */

cvm_value *cvm_heap_fields(const cvm_heap *h, cvm_object *p, size_t *n)
{
    const cvm_kind *kind = h->kinds[p->kind];

    *n = kind->first == 0 || (p->flags & CVM_OUTSIDE) ? 0
       : kind->count == CVM_REST ? (cvm_object_size(p) - kind->first) / sizeof(cvm_value) : kind->count;
    return (cvm_value *)(void *)((char *)p + kind->first);
}

static void visit_fields(cvm_heap *h, cvm_object *p)
{
    size_t n;
    cvm_value *field = cvm_heap_fields(h, p, &n);

    for (; n > 0; n--, field++)
        cvm_heap_visit(h, field);
}

/* ---- reaching objects --------------------------------------------------- */

static void push_gray(cvm_heap *h, cvm_object *p)
{
    p->gray = h->gray;
    h->gray = p;
}

/* Copy a young object to the old space. There is room: see set_nursery_end. While a major collection marks, the
   copy counts as reached, and is not scanned yet: see cvm_heap.unscanned. */
static cvm_object *promote(cvm_heap *h, cvm_object *p)
{
    cvm_object *copy = (cvm_object *)h->old_top;

    h->old_top += cvm_object_size(p);
    memcpy(copy, p, cvm_object_size(p));
    copy->flags &= (unsigned char)~CVM_YOUNG;
    if (h->marking) {
        copy->flags |= CVM_REACHED;
        h->live += cvm_object_size(p);
    }
    p->flags |= CVM_REACHED;
    p->forward = copy;
    h->moved++;
    return copy;
}

/* Note that p is alive, and return its address as this phase knows it. */
static cvm_object *reach(cvm_heap *h, cvm_object *p)
{
    if (h->phase == CVM_MOVING)
        return p->flags & CVM_FIXED ? p : p->forward;
    if ((h->phase == CVM_MINOR) != cvm_heap_is_young(p))
        return p;                               /* a minor collection is about the young ones, marking about the rest */
    if (h->phase == CVM_MINOR && !(p->flags & CVM_FIXED))
        return p->flags & CVM_REACHED ? p->forward : promote(h, p);
    if (p->flags & CVM_REACHED)
        return p;
    p->flags |= CVM_REACHED;
    p->flags &= (unsigned char)~CVM_YOUNG;      /* a large object has now grown old */
    if (!(p->flags & CVM_FIXED))
        h->live += cvm_object_size(p);
    push_gray(h, p);
    return p;
}

void cvm_heap_visit(cvm_heap *h, cvm_value *slot)
{
    if (cvm_is_object(*slot))
        *slot = (cvm_value)reach(h, cvm_object_of(*slot));
}

void cvm_heap_trace(cvm_heap *h, cvm_object *p)
{
    reach(h, p);
}

/* Scan about so many bytes. */
static void propagate(cvm_heap *h, size_t bytes)
{
    char **scan = h->phase == CVM_MINOR ? &h->scan : &h->unscanned;
    size_t done;
    cvm_object *p;

    for (done = 0; done < bytes; done += cvm_object_size(p)) {
        if (h->gray != NULL) {
            p = h->gray;
            h->gray = p->gray;
        } else if (*scan < h->old_top) {
            p = (cvm_object *)*scan;
            *scan += cvm_object_size(p);
        } else {
            return;
        }
        visit_fields(h, p);
        if ((p->flags & CVM_LINKED) && h->phase == CVM_MARKING)
            h->phases->marked(h->arg, p);
    }
}

void cvm_heap_propagate(cvm_heap *h)
{
    propagate(h, SIZE_MAX);
}

cvm_object *cvm_heap_survivor(cvm_heap *h, cvm_object *p)
{
    if ((h->phase == CVM_MINOR) != cvm_heap_is_young(p))
        return p;                               /* as in reach */
    if (!(p->flags & CVM_REACHED))
        return NULL;
    return h->phase == CVM_MUTATOR || h->phase == CVM_MARKING || (p->flags & CVM_FIXED) ? p : p->forward;
}

/* ---- objects that do not move ------------------------------------------- */

static cvm_object *object_behind(cvm_fixed *f)
{
    return (cvm_object *)(f + 1);
}

/* Free what this collection has not reached. `survivors` takes the rest. */
static void sweep_fixed(cvm_heap *h, cvm_fixed **list, cvm_fixed **survivors)
{
    cvm_fixed *f = *list;

    *list = NULL;
    while (f != NULL) {
        cvm_fixed *next = f->next;
        cvm_object *p = object_behind(f);

        if (p->flags & CVM_REACHED) {
            if (h->marking)                     /* as what was promoted */
                push_gray(h, p);
            else
                p->flags &= (unsigned char)~CVM_REACHED;
            f->next = *survivors;
            *survivors = f;
        } else {
            h->large_bytes -= cvm_object_size(p);
            free(f);
        }
        f = next;
    }
}

static void free_fixed(cvm_fixed *f)
{
    while (f != NULL) {
        cvm_fixed *next = f->next;
        free(f);
        f = next;
    }
}

/* ---- the minor collection ----------------------------------------------- */

/* Let the nursery be filled only as far as the old space could take it all.
   When little is left we say that nothing is: otherwise a full heap would
   spend all its time in collections that gain a few bytes each. */
static void set_nursery_end(cvm_heap *h)
{
    size_t size = room(h->old_top, h->old_end);

    if (size > h->nursery_size)
        size = h->nursery_size;
    if (size < h->nursery_size / 4)
        size = 0;
    h->nursery_end = h->nursery_limit = h->nursery + size;
}

/* In stress mode the next objects get other addresses than those that just
   left: tools that watch memory then see every use of a stale address. */
static void renew_nursery(cvm_heap *h)
{
    char *fresh = h->stress ? malloc(h->nursery_size) : NULL;

    if (fresh != NULL) {
        free(h->nursery);
        h->nursery = fresh;
    }
    h->nursery_top = h->nursery;
}

void cvm_heap_minor(cvm_heap *h)
{
    double since = cvm_heap_time(h);
    cvm_object *gray = h->gray;         /* of a major collection that marks */
    cvm_object *p;

    h->phase = CVM_MINOR;
    h->gray = NULL;
    h->scan = h->old_top;
    h->phases->roots(h->arg);
    for (p = h->remembered; p != NULL; ) {
        cvm_object *next = p->forward;

        p->flags &= (unsigned char)~CVM_REMEMBERED;
        visit_fields(h, p);
        p = next;
    }
    h->remembered = NULL;
    h->phases->minor_trace(h->arg);

    cvm_heap_propagate(h);
    h->phases->minor_free(h->arg);

    h->gray = gray;
    sweep_fixed(h, &h->young_large, &h->old_large);
    renew_nursery(h);
    set_nursery_end(h);
    h->phase = CVM_MUTATOR;
    h->minors++;
    cvm_heap_note(h, CVM_PAUSE_MINOR, since);
}

/* ---- the major collection ----------------------------------------------- */

static void begin(cvm_heap *h)
{
    cvm_fixed *f;

    h->marking = 1;
    h->live = 0;
    h->unscanned = h->old_top;
    for (f = h->prebuilt; f != NULL; f = f->next)
        reach(h, object_behind(f));
}

/* What slices have not found is marked now: what has changed on the stack. After this we know what is alive. */
static int decide(cvm_heap *h)
{
    h->phases->roots(h->arg);
    h->marking = 2;
    return h->phases->major_trace(h->arg);
}

/* Mark all that is left. */
static void mark(cvm_heap *h)
{
    h->phase = CVM_MARKING;
    if (h->marking == 0)
        begin(h);
    if (h->marking == 1)
        decide(h);
    cvm_heap_propagate(h);
    h->phases->major_keep(h->arg);
    cvm_heap_propagate(h);
    h->marking = 0;
}

/* The block to slide into: a fresh one when the old space should get another
   size, else NULL. `request` bytes must stay free for a large object. */
static char *fresh_block(const cvm_heap *h, size_t request, size_t *size)
{
    size_t capacity = room(h->old, h->old_end);
    size_t taken = h->large_bytes + request;
    size_t most = h->limit > taken ? h->limit - taken : 0;
    size_t least = h->live + h->live / 2 + h->nursery_size;
    size_t best = 2 * h->live + 2 * h->nursery_size;

    if (!h->stress && capacity <= most && capacity >= least && capacity / 4 <= best)
        return NULL;
    if (best > most)
        best = most;
    if (best < h->live)
        best = h->live;
    best -= best % CVM_ALIGN;       /* live is a multiple, so it still fits */
    *size = best;
    return malloc(best > 0 ? best : CVM_ALIGN);
}

/* Slide towards `to`. First each survivor learns its new address, and then
   everybody else does, before anything has moved. */
static char *plan(cvm_heap *h, char *to)
{
    char *at = h->old;

    h->phase = CVM_MOVING;
    while (at < h->old_top) {
        cvm_object *p = (cvm_object *)at;

        if (p->flags & CVM_REACHED) {
            p->forward = (cvm_object *)to;
            to += cvm_object_size(p);
        }
        at += cvm_object_size(p);
    }
    return to;
}

static void visit_all_fields(cvm_heap *h)
{
    char *at;
    cvm_fixed *f;

    for (at = h->old; at < h->old_top; at += cvm_object_size((cvm_object *)at))
        if (((cvm_object *)at)->flags & CVM_REACHED)
            visit_fields(h, (cvm_object *)at);
    for (f = h->old_large; f != NULL; f = f->next)
        visit_fields(h, object_behind(f));
    for (f = h->prebuilt; f != NULL; f = f->next)
        visit_fields(h, object_behind(f));
}

static void move(cvm_heap *h)
{
    char *at = h->old;

    while (at < h->old_top) {
        cvm_object *p = (cvm_object *)at;
        cvm_object *to = p->forward;

        at += cvm_object_size(p);              /* before the move may overwrite it */
        if (!(p->flags & CVM_REACHED))
            continue;
        if (to != p) {
            memmove(to, p, cvm_object_size(p));
            h->moved++;
        }
        to->flags &= (unsigned char)~CVM_REACHED;
    }
}

/* Only just after a minor collection: it counts on nothing being young. */
static void major(cvm_heap *h, size_t request)
{
    size_t size;
    char *block, *top;
    cvm_fixed *live_large = NULL;
    cvm_fixed *f;
    double since = cvm_heap_time(h);

    mark(h);
    cvm_heap_note(h, CVM_PAUSE_FINISH, since);
    since = cvm_heap_time(h);
    block = fresh_block(h, request, &size);
    top = plan(h, block != NULL ? block : h->old);
    h->phases->major_free(h->arg);

    sweep_fixed(h, &h->old_large, &live_large);
    h->old_large = live_large;
    h->phases->roots(h->arg);
    visit_all_fields(h);
    move(h);
    for (f = h->prebuilt; f != NULL; f = f->next)
        object_behind(f)->flags &= (unsigned char)~CVM_REACHED;

    if (block != NULL) {
        free(h->old);
        h->old = block;
        h->old_end = block + size;
    }
    h->old_top = top;
    h->large_trigger = 2 * h->large_bytes + LEAST_LARGE_TRIGGER;
    set_nursery_end(h);
    h->phase = CVM_MUTATOR;
    h->majors++;
    cvm_heap_note(h, CVM_PAUSE_COMPACTION, since);
}

/* What became garbage while slices marked is still there when they have ended. Then all is collected once more. */
void cvm_heap_major(cvm_heap *h)
{
    cvm_heap_minor(h);
    if (h->marking)
        major(h, 0);
    major(h, 0);
}

static int has_more(const cvm_heap *h)
{
    return h->gray != NULL || h->unscanned < h->old_top;
}

int cvm_heap_slice(cvm_heap *h, size_t bytes)
{
    double since = cvm_heap_time(h);
    int more = 0;

    if (h->incremental) {
        h->phase = CVM_MARKING;
        if (!h->marking) {
            h->phases->major_start(h->arg);
            begin(h);
            h->phases->roots(h->arg);
        }
        propagate(h, bytes);
        /* (After `decide` the other side may propagate all that we have left. So our own part comes first.) */
        more = (h->marking == 2 && has_more(h)) || h->phases->major_work(h->arg, bytes) || has_more(h);
        h->phase = CVM_MUTATOR;
        h->slices++;
        cvm_heap_note(h, CVM_PAUSE_SLICE, since);
    }
    if (!more) {
        cvm_heap_minor(h);
        since = cvm_heap_time(h);
        h->phase = CVM_MARKING;
        more = h->marking == 1 && decide(h) && (h->phases->major_work(h->arg, bytes) || has_more(h));
        h->phase = CVM_MUTATOR;
        cvm_heap_note(h, CVM_PAUSE_FINISH, since);
        if (!more)
            major(h, 0);
    }
    return more;
}

/* ---- allocation --------------------------------------------------------- */

static cvm_object *alloc_fixed(int kind, size_t size, cvm_fixed **list, int flags)
{
    cvm_fixed *f = calloc(1, sizeof *f + size);
    cvm_object *p;

    if (f == NULL)
        return NULL;
    p = object_behind(f);
    p->kind = (unsigned char)kind;
    p->flags = (unsigned char)flags;
    p->units = (uint32_t)(size / CVM_ALIGN);
    f->next = *list;
    *list = f;
    return p;
}

static int large_fits(const cvm_heap *h, size_t size)
{
    size_t taken = room(h->old, h->old_end) + h->large_bytes;
    return taken <= h->limit && size <= h->limit - taken;
}

/* Just after a minor collection. What became garbage while slices marked is still there after the first one. */
static void make_room(cvm_heap *h, size_t request)
{
    int marked = h->marking;

    major(h, request);
    if (marked && (room(h->old_top, h->old_end) < h->nursery_size || !large_fits(h, request)))
        major(h, request);
}

static cvm_object *alloc_large(cvm_heap *h, int kind, size_t size)
{
    cvm_object *p;

    if (size > h->limit)
        return NULL;
    if (h->incremental && (h->stress || h->large_bytes + size > h->large_trigger / 4 * 3))
        cvm_heap_slice(h, h->stress ? LEAST_SLICE : PACE * size);
    if ((h->stress && !h->incremental) || h->large_bytes + size > h->large_trigger || !large_fits(h, size)) {
        cvm_heap_minor(h);
        make_room(h, size);
    }
    if (!large_fits(h, size))
        return NULL;
    p = alloc_fixed(kind, size, &h->young_large, CVM_YOUNG | CVM_LARGE);
    if (p != NULL)
        h->large_bytes += size;
    return p;
}

/* So many bytes do not fit below nursery_end: a minor collection is due, or a slice of a major one. */
static void collect(cvm_heap *h, size_t size)
{
    int stress = h->stress && !h->incremental;
    int is_minor = stress || room(h->nursery_top, h->nursery_limit) < size;

    if (is_minor)
        cvm_heap_minor(h);
    if (!is_minor || (h->incremental && !h->marking
                      && room(h->old_top, h->old_end) < room(h->old, h->old_top) / 4 + h->nursery_size))
        cvm_heap_slice(h, h->stress ? LEAST_SLICE : CVM_SLICE);
    if (stress || room(h->old_top, h->old_end) < h->nursery_size)
        make_room(h, 0);            /* a minor collection has taken it just now, so no object is young */
    h->nursery_end = h->nursery_limit;
    if (h->marking && room(h->nursery_top, h->nursery_end) > STEP)
        h->nursery_end = h->nursery_top + STEP;
}

cvm_object *cvm_heap_alloc(cvm_heap *h, int kind, size_t size)
{
    cvm_object *p;

    if (size > SIZE_MAX / 4 || size / CVM_ALIGN >= UINT32_MAX || (h->fail_in > 0 && --h->fail_in == 0))
        return NULL;
    size = (size + CVM_ALIGN - 1) / CVM_ALIGN * CVM_ALIGN;
    if (h->booting)
        return alloc_fixed(kind, size, &h->prebuilt, CVM_PREBUILT);
    if (size >= h->large_size)
        return alloc_large(h, kind, size);

    if (h->stress || room(h->nursery_top, h->nursery_end) < size) {
        collect(h, size);
        if (room(h->nursery_top, h->nursery_end) < size)
            return NULL;
    }
    p = (cvm_object *)h->nursery_top;
    h->nursery_top += size;
    memset(p, 0, size);
    p->kind = (unsigned char)kind;
    p->flags = CVM_YOUNG;
    p->units = (uint32_t)(size / CVM_ALIGN);
    return p;
}

void cvm_heap_write(cvm_heap *h, cvm_object *owner, cvm_value *slot, cvm_value v)
{
    *slot = v;
    if (!cvm_is_object(v) || cvm_heap_is_young(owner))
        return;
    if (!cvm_heap_is_young(cvm_object_of(v))) {
        if (h->marking && (owner->flags & CVM_REACHED))
            reach(h, cvm_object_of(v));
    } else if (!(owner->flags & CVM_REMEMBERED)) {
        owner->flags |= CVM_REMEMBERED;
        owner->forward = h->remembered;
        h->remembered = owner;
    }
}

/* ---- opening and closing ------------------------------------------------ */

int cvm_heap_open(cvm_heap *h, const cvm_phases *phases, void *arg,
                  size_t limit, size_t nursery_size, int stress, int incremental)
{
    memset(h, 0, sizeof *h);
    h->phases = phases;
    h->arg = arg;
    h->stress = stress;
    h->incremental = incremental;
    h->limit = limit;
    if (nursery_size > limit / 8)
        nursery_size = limit / 8;
    nursery_size -= nursery_size % CVM_ALIGN;
    h->nursery_size = nursery_size;
    h->large_size = nursery_size / 4 < LARGE_SIZE ? nursery_size / 4 : LARGE_SIZE;
    h->large_trigger = LEAST_LARGE_TRIGGER;
    h->nursery = malloc(nursery_size);
    h->old = malloc(2 * nursery_size);
    if (h->nursery == NULL || h->old == NULL) {
        cvm_heap_close(h);
        return 0;
    }
    h->nursery_top = h->nursery;
    h->old_top = h->old;
    h->old_end = h->old + 2 * nursery_size;
    set_nursery_end(h);
    return 1;
}

void cvm_heap_close(cvm_heap *h)
{
    free(h->nursery);
    free(h->old);
    free_fixed(h->young_large);
    free_fixed(h->old_large);
    free_fixed(h->prebuilt);
    memset(h, 0, sizeof *h);
}
