/* heap.c - allocation and collection. heap.h has the overview; README.md goes through a collection step by step.
 *
 * The header never collects by itself: a collection calls it at fixed points, by the functions rrc_..., and it
 * answers by calling the hooks in glue.c. A light C object whose p died is freed right there. Any other is queued: its
 * deallocator may run Lisp code, which has no place in a collection.
 *
 * The header searches for cycles in slices only if all C code takes references by rrc_incref and moves them after
 * rrc_touch (searches_in_slices). Other layers (counts_freely) have its search in one go, in
 * rrc_major_collection_trace: then only our marking is divided.
 */
#include "vm.h"

#include <stdlib.h>

enum {
    LARGE_SIZE = 4096,              /* or a quarter of the nursery, if that is less */
    LEAST_LARGE_TRIGGER = 1 << 20,
    PACE = 8,                       /* for each byte that is allocated while slices mark, so many are marked */
    STEP = CVM_SLICE / PACE,        /* so a slice follows so many bytes of allocation */
    LEAST_SLICE = 64                /* two small objects */
};

static size_t room(const char *top, const char *end) { return (size_t)(end - top); }

/* ---- the references inside an object ------------------------------------ */

cvm_value *cvm_heap_fields(const cvm_heap *h, cvm_object *p, size_t *n)
{
    const cvm_kind *kind = &h->kinds[p->kind];
    *n = p->flags & CVM_OUTSIDE ? 0
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

cvm_object *cvm_heap_trace(cvm_heap *h, cvm_object *p)
{
    if (h->phase == CVM_MOVING)
        return p->flags & CVM_FIXED ? p : p->forward;
    if ((h->phase == CVM_MINOR) != cvm_heap_is_young(p))
        return p;                               /* a minor collection is about the young ones, marking about the rest */
    if (h->phase == CVM_MINOR && !(p->flags & CVM_FIXED))
        return p->flags & CVM_REACHED ? p->forward : promote(h, p);
    if (!(p->flags & CVM_REACHED)) {
        p->flags |= CVM_REACHED;
        p->flags &= (unsigned char)~CVM_YOUNG;  /* a large object has now grown old */
        if (!(p->flags & CVM_FIXED))
            h->live += cvm_object_size(p);
        push_gray(h, p);
    }
    return p;
}

void cvm_heap_visit(cvm_heap *h, cvm_value *slot)
{
    if (cvm_is_object(*slot))
        *slot = (cvm_value)cvm_heap_trace(h, cvm_object_of(*slot));
}

/* The stack, and what the layers have. */
static void visit_roots(cvm_heap *h)
{
    cvm *vm = h->vm;
    for (size_t i = 0; i < vm->sp; i++)
        cvm_heap_visit(h, &vm->stack[i]);
    cvm_heap_visit(h, &vm->tombstone);
    for (size_t i = 0; i < CVM_LAYERS; i++)
        if (vm->layers[i] != NULL && vm->layers[i]->roots != NULL)
            vm->layers[i]->roots(vm);
}

/* We know a linked object by a bit in its header, set when the link is made. The bit may stay when the link is
   gone: p is then looked up in vain. A proxy that knows its C object names it (rrc_marked_ob), which is quicker. A
   host that cannot do either leaves rrc_desc.reports_marks 0. */
void cvm_heap_marked(cvm_heap *h, cvm_object *p)
{
    rrc_object *ob = p->kind == CVM_FOREIGN ? ((cvm_foreign *)p)->ob : NULL;
    ob != NULL ? rrc_marked_ob(h->vm->rrc, ob) : rrc_marked(h->vm->rrc, p);
}

void cvm_heap_propagate(cvm_heap *h, size_t bytes)
{
    char **scan = h->phase == CVM_MINOR ? &h->scan : &h->unscanned;
    cvm_object *p;
    for (size_t done = 0; done < bytes; done += cvm_object_size(p)) {
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
        if ((p->flags & CVM_LINKED) && h->phase != CVM_MINOR)
            cvm_heap_marked(h, p);
    }
}

cvm_object *cvm_heap_survivor(cvm_heap *h, cvm_object *p)
{
    if ((h->phase == CVM_MINOR) != cvm_heap_is_young(p))
        return p;                               /* as in cvm_heap_trace */
    if (!(p->flags & CVM_REACHED))
        return NULL;
    return (h->phase == CVM_MINOR || h->phase == CVM_MOVING) && !(p->flags & CVM_FIXED) ? p->forward : p;
}

/* ---- objects that do not move ------------------------------------------- */

static cvm_object *object_behind(cvm_fixed *f) { return (cvm_object *)(f + 1); }

/* Free those of the list that this collection has not reached. The rest is old. (A major collection reaches
   all that is prebuilt.) */
static void sweep_fixed(cvm_heap *h, cvm_fixed **list)
{
    cvm_fixed *f = *list, *next;
    for (*list = NULL; f != NULL; f = next) {
        cvm_object *p = object_behind(f);
        next = f->next;
        if (!(p->flags & CVM_REACHED)) {
            h->large_bytes -= cvm_object_size(p);
            free(f);
            continue;
        }
        if (h->marking)                         /* as what was promoted */
            push_gray(h, p);
        else
            p->flags &= (unsigned char)~CVM_REACHED;
        f->next = h->fixed;
        h->fixed = f;
    }
}

static void free_fixed(cvm_fixed *f)
{
    for (cvm_fixed *next; f != NULL; f = next) {
        next = f->next;
        free(f);
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
    cvm_object *gray = h->gray;         /* of a major collection that marks */
    h->phase = CVM_MINOR;
    h->gray = NULL;
    h->scan = h->old_top;
    visit_roots(h);
    for (cvm_object *p = h->remembered; p != NULL; ) {
        cvm_object *next = p->forward;
        p->flags &= (unsigned char)~CVM_REMEMBERED;
        visit_fields(h, p);
        p = next;
    }
    h->remembered = NULL;
    rrc_minor_collection_trace(h->vm->rrc);     /* C's young objects are roots too */

    cvm_heap_propagate(h, SIZE_MAX);
    rrc_minor_collection_free(h->vm->rrc);      /* links follow the survivors, or are dissolved */
    h->vm->attention = 1;

    h->gray = gray;
    sweep_fixed(h, &h->young_large);
    renew_nursery(h);
    set_nursery_end(h);
    h->phase = CVM_MUTATOR;
    h->minors++;
}

/* ---- the major collection ----------------------------------------------- */

static void begin(cvm_heap *h)
{
    h->marking = 1;
    h->live = 0;
    h->unscanned = h->old_top;
    for (cvm_fixed *f = h->fixed; f != NULL; f = f->next)
        if (object_behind(f)->flags & CVM_PREBUILT)
            cvm_heap_trace(h, object_behind(f));
}

/* What slices have not found is marked now: what has changed on the stack. After this we know what is alive. */
static void decide(cvm_heap *h)
{
    visit_roots(h);
    h->marking = 2;
    rrc_major_collection_trace(h->vm->rrc);     /* what C holds is alive, too, but for garbage that holds itself */
}

/* Mark all that is left. (This VM has no weak references, and its symbols are roots. One that has weak references
   clears them just before rrc_major_collection_keep, but drops unmarked interned strings just after it.) */
static void mark(cvm_heap *h)
{
    h->phase = CVM_MARKING;
    if (h->marking == 0)
        begin(h);
    if (h->marking == 1)
        decide(h);
    else
        visit_roots(h);     /* C may have given the program a proxy that is kept, and the program has read its fields */
    cvm_heap_propagate(h, SIZE_MAX);
    rrc_major_collection_keep(h->vm->rrc);      /* what garbage owns stays for its deallocators */
    cvm_heap_propagate(h, SIZE_MAX);
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
    *size = best - best % CVM_ALIGN;            /* live is a multiple of it */
    return malloc(*size);
}

/* Slide towards `to`. First each survivor learns its new address, and then
   everybody else does, before anything has moved. */
static char *plan(cvm_heap *h, char *to)
{
    h->phase = CVM_MOVING;
    for (char *at = h->old; at < h->old_top; at += cvm_object_size((cvm_object *)at)) {
        cvm_object *p = (cvm_object *)at;
        if (p->flags & CVM_REACHED) {
            p->forward = (cvm_object *)to;
            to += cvm_object_size(p);
        }
    }
    return to;
}

static void visit_all_fields(cvm_heap *h)
{
    const char *end = h->old_top;
    for (char *at = h->old; at < end; at += cvm_object_size((cvm_object *)at))
        if (((cvm_object *)at)->flags & CVM_REACHED)
            visit_fields(h, (cvm_object *)at);
    for (cvm_fixed *f = h->fixed; f != NULL; f = f->next)
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
    mark(h);
    char *block = fresh_block(h, request, &size);
    char *top = plan(h, block != NULL ? block : h->old);
    rrc_major_collection_free(h->vm->rrc);      /* as above. Only now may objects move, and memory be used anew */
    h->vm->attention = 1;

    sweep_fixed(h, &h->fixed);
    visit_roots(h);
    visit_all_fields(h);
    move(h);

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
}

/* What became garbage while slices marked is still there when they have ended. Then all is collected once more. */
void cvm_heap_major(cvm_heap *h)
{
    cvm_heap_minor(h);
    if (h->marking)
        major(h, 0);
    major(h, 0);
}

static void forget_marks(cvm_heap *h)
{
    const char *end = h->old_top;
    for (char *at = h->old; at < end; at += cvm_object_size((cvm_object *)at))
        ((cvm_object *)at)->flags &= (unsigned char)~CVM_REACHED;
    for (cvm_fixed *f = h->fixed; f != NULL; f = f->next)
        object_behind(f)->flags &= (unsigned char)~CVM_REACHED;
    h->gray = NULL;
    h->marking = 0;
}

void cvm_heap_mark_from_c(cvm_heap *h, int on)
{
    forget_marks(h);            /* if on, those of slices */
    if (on) {
        cvm_heap_minor(h);      /* marking is about old objects */
        h->unscanned = h->old_top;
    }
    h->phase = on ? CVM_MARKING : CVM_MUTATOR;
}

static int has_more(const cvm_heap *h) { return h->gray != NULL || h->unscanned < h->old_top; }

/* The header's part of a slice. Is anything left of it? (A unit is an object, a link or a reference: some 16 bytes
   of our marking take as long.) */
static int search(const cvm_heap *h, size_t bytes)
{
    size_t units = bytes / 16 + 1;
    return rrc_major_collection_work(h->vm->rrc, units) >= units;
}

int cvm_heap_slice(cvm_heap *h, size_t bytes)
{
    int more = 0;
    if (h->incremental) {
        h->phase = CVM_MARKING;
        if (!h->marking) {
            if (h->vm->searches_in_slices)
                rrc_major_collection_start(h->vm->rrc);
            begin(h);
            visit_roots(h);
        }
        cvm_heap_propagate(h, bytes);
        /* (After `decide` the other side may propagate all that we have left. So our own part comes first.) */
        more = (h->marking == 2 && has_more(h)) || search(h, bytes) || has_more(h);
        h->slices++;
    }
    if (!more) {
        cvm_heap_minor(h);
        h->phase = CVM_MARKING;
        if (h->marking == 1) {
            decide(h);
            more = h->vm->searches_in_slices && (search(h, bytes) || has_more(h));
        }
        if (!more)
            major(h, 0);
    }
    h->phase = CVM_MUTATOR;
    return more;
}

/* ---- allocation --------------------------------------------------------- */

static cvm_object *make(void *at, int kind, size_t size, int flags)
{
    cvm_object *p = at;
    memset(p, 0, size);
    p->kind = (unsigned char)kind;
    p->flags = (unsigned char)flags;
    p->units = (uint32_t)(size / CVM_ALIGN);
    return p;
}

static void remember(cvm_heap *h, cvm_object *p)
{
    p->flags |= CVM_REMEMBERED;
    p->forward = h->remembered;
    h->remembered = p;
}

static cvm_object *alloc_fixed(int kind, size_t size, cvm_fixed **list, int flags)
{
    cvm_fixed *f = malloc(sizeof *f + size);
    if (f == NULL)
        return NULL;
    f->next = *list;
    *list = f;
    return make(f + 1, kind, size, flags);
}

/* It is old at once, and may be filled with young values, and while slices mark. */
static cvm_object *alloc_prebuilt(cvm_heap *h, int kind, size_t size)
{
    cvm_object *p = alloc_fixed(kind, size, &h->fixed, CVM_PREBUILT);
    if (p != NULL)
        remember(h, p);
    if (p != NULL && h->marking)
        cvm_heap_trace(h, p);
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
    if (size > h->limit)
        return NULL;
    if (h->incremental && (h->stress || h->large_bytes + size > h->large_trigger / 4 * 3))
        cvm_heap_slice(h, h->stress ? LEAST_SLICE : PACE * size);
    if ((h->stress && !h->incremental) || h->large_bytes + size > h->large_trigger || !large_fits(h, size)) {
        cvm_heap_minor(h);
        make_room(h, size);
    }
    cvm_object *p = large_fits(h, size) ? alloc_fixed(kind, size, &h->young_large, CVM_YOUNG | CVM_LARGE) : NULL;
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
    int fills_up = room(h->old_top, h->old_end) < room(h->old, h->old_top) / 4 + h->nursery_size;
    if (!is_minor || (h->incremental && !h->marking && fills_up))
        cvm_heap_slice(h, h->stress ? LEAST_SLICE : CVM_SLICE);
    if (stress || room(h->old_top, h->old_end) < h->nursery_size)
        make_room(h, 0);            /* a minor collection has taken it just now, so no object is young */
    h->nursery_end = h->nursery_limit;
    if (h->marking && room(h->nursery_top, h->nursery_end) > STEP)
        h->nursery_end = h->nursery_top + STEP;
}

cvm_object *cvm_heap_alloc(cvm_heap *h, int kind, size_t size)
{
    if (size > SIZE_MAX / 4 || size / CVM_ALIGN >= UINT32_MAX || (h->fail_in > 0 && --h->fail_in == 0))
        return NULL;
    size = (size + CVM_ALIGN - 1) / CVM_ALIGN * CVM_ALIGN;
    if (h->booting)
        return alloc_prebuilt(h, kind, size);
    if (size >= LARGE_SIZE || size >= h->nursery_size / 4)
        return alloc_large(h, kind, size);
    if (h->stress || room(h->nursery_top, h->nursery_end) < size) {
        collect(h, size);
        if (room(h->nursery_top, h->nursery_end) < size)
            return NULL;
    }
    h->nursery_top += size;
    return make(h->nursery_top - size, kind, size, CVM_YOUNG);
}

cvm_value cvm_store(cvm *vm, cvm_value owner, cvm_value *slot, cvm_value v)
{
    cvm_object *p = cvm_object_of(owner);
    *slot = v;
    if (!cvm_is_object(v) || cvm_heap_is_young(p))
        return v;
    if (!cvm_heap_is_young(cvm_object_of(v))) {
        if (vm->heap.marking && (p->flags & CVM_REACHED))
            cvm_heap_trace(&vm->heap, cvm_object_of(v));
    } else if (!(p->flags & CVM_REMEMBERED)) {
        remember(&vm->heap, p);
    }
    return v;
}

/* ---- opening and closing ------------------------------------------------ */

int cvm_heap_open(cvm_heap *h, cvm *vm)
{
    const cvm_config *c = &vm->config;
    size_t nursery_size = c->nursery < c->heap_limit / 8 ? c->nursery : c->heap_limit / 8;
    nursery_size -= nursery_size % CVM_ALIGN;
    *h = (cvm_heap){
        .vm = vm, .limit = c->heap_limit, .stress = c->stress, .incremental = c->incremental,
        .large_trigger = LEAST_LARGE_TRIGGER, .nursery_size = nursery_size,
        .nursery = malloc(nursery_size), .old = malloc(2 * nursery_size)
    };
    if (h->nursery == NULL || h->old == NULL)
        return 0;
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
    free_fixed(h->fixed);
    memset(h, 0, sizeof *h);
}
