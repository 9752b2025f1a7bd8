/* glue.c - how this VM drives rawrefcount.h. If you port the header to a VM
 * of your own, this is the file to write; the rest of the folder is the VM.
 *
 * The header never collects by itself. The host does, and at fixed points of
 * each collection it calls the header, which answers by calling the host's
 * hooks. So there are two halves: the hooks (1), and the calls (2). Then comes
 * what runs after a collection (3), and how links are made (4).
 *
 * This is also the one file that holds the header's implementation.
 */
#include "glue.h"

#include <stdlib.h>

/* ---- 1. The hooks: what the header asks of the host ---------------------
 *
 * trace      "C code holds the object p: keep it, and all it reaches." In a
 *            minor collection we move p at once, in a major one we mark it...
 * propagate  ...and this does the same with all that such objects reach.
 * survivor   "Where will p be after this collection?" NULL if it is dead. The
 *            answer must be final once the ..._free call is made: so a heap
 *            that moves objects first computes all the new addresses.
 * is_young   "Can p die in the next minor collection?" The header keeps young
 *            links apart, and so a minor collection costs nothing for the rest.
 * slot       A word in each object for its C object, if the VM can afford one.
 *            Without it the header keeps a dictionary from p to ob.
 * collect    "Run a full collection of your own."
 *
 * An rrc_gcref is simply the address of a cvm_object.
 */
#ifndef CVM_HOOK_MACROS
#define CVM_HOOK_MACROS 0
#endif

#if CVM_HOOK_MACROS             /* fixed at compile time: no calls through pointers */

#define CVM_HEAP_OF(h)              (&((cvm *)rrc_userdata(h))->heap)
#define RRC_HOST_TRACE(h, p)        cvm_heap_trace(CVM_HEAP_OF(h), (cvm_object *)(p))
#define RRC_HOST_SURVIVOR(h, p)     ((rrc_gcref)cvm_heap_survivor(CVM_HEAP_OF(h), (cvm_object *)(p)))
#define RRC_HOST_PROPAGATE(h)       cvm_heap_propagate(CVM_HEAP_OF(h))
#define RRC_HOST_IS_YOUNG(h, p)     cvm_heap_is_young((const cvm_object *)(p))
#define RRC_HOST_DEALLOC_TRIGGER(h) dealloc_trigger(rrc_userdata(h))
#if CVM_SLOT
#define RRC_HOST_SLOT(h, p)         (&((cvm_object *)(p))->ob)
#endif

#else                           /* given in the rrc_desc, at run time */

static void trace(void *vm, rrc_gcref p)
{
    cvm_heap_trace(&((cvm *)vm)->heap, p);
}

static rrc_gcref survivor(void *vm, rrc_gcref p)
{
    return cvm_heap_survivor(&((cvm *)vm)->heap, p);
}

static void propagate(void *vm)
{
    cvm_heap_propagate(&((cvm *)vm)->heap);
}

static int is_young(void *vm, rrc_gcref p)
{
    (void)vm;
    return cvm_heap_is_young(p);
}

#if CVM_SLOT
static rrc_object **slot(void *vm, rrc_gcref p)
{
    (void)vm;
    return &((cvm_object *)p)->ob;
}
#endif
#endif

/* "C objects wait to be deallocated." This comes from rrc_invoke_callback in
   part 3, not from a collection, so it may do the work. It does so in portions:
   a thousand dead objects need not make one long pause. (The more there is to do,
   the larger a portion: each begins with a look at all cyclic garbage that waits,
   and the sum of these looks must stay in proportion.) */
enum { PORTION = 100 };

static void dealloc_trigger(void *userdata)
{
    cvm *vm = userdata;
    rrc_stats stats;
    size_t portion;

    if (!vm->auto_pending)
        return;
    rrc_get_stats(vm->rrc, &stats);
    portion = PORTION + stats.pending / 8;
    if (rrc_run_pending(vm->rrc, portion) == portion)
        vm->attention = 1;      /* there may be more: go on at the next safe point */
}

/* "Collect all that can be collected, now." Only rrc_gc_collect asks for it: a
   program's explicit wish. */
static void collect(void *vm)
{
    cvm_heap_major(&((cvm *)vm)->heap);
}

/* "p and ob have no link any more, although p is still there." ob was garbage, and p was kept for other garbage
   only; or the VM ends. p must forget ob, which is about to go: what had its data in C is empty from now on. */
static void parted(void *vm, rrc_gcref p, rrc_object *ob)
{
    cvm_value v = (cvm_value)p;

    (void)vm, (void)ob;
    if (cvm_is(v, CVM_FOREIGN)) {
        CVM_FOREIGN_OF(v)->ob = NULL;
    } else if (cvm_is_outside(v)) {
        cvm_object_of(v)->flags &= (unsigned char)~CVM_OUTSIDE;
        CVM_OUTSIDE_OF(v)->length = 0;
        CVM_OUTSIDE_OF(v)->ob = NULL;
        CVM_OUTSIDE_OF(v)->bytes = (const char *)CVM_NIL;       /* no reference, whatever the kind */
    }
}

/* For rrc_explain and pictures: what p refers to, and what it is. A port can do without these. */
static void edges(void *vm, rrc_gcref p, rrc_edgeproc visit, void *arg)
{
    if (((cvm *)vm)->ops.edges != NULL)
        ((cvm *)vm)->ops.edges(vm, p, visit, arg);
}

static void describe(void *vm, rrc_gcref p, rrc_description *about)
{
    if (((cvm *)vm)->ops.describe != NULL)
        ((cvm *)vm)->ops.describe(vm, p, about);
}

/* An API may watch C objects come and go. */
static void *reallocate(void *vm, void *ptr, size_t old_size, size_t new_size)
{
    if (((cvm *)vm)->ops.realloc != NULL)
        return ((cvm *)vm)->ops.realloc(vm, ptr, old_size, new_size);
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

/* A mistake in the use of the header was found. */
static void log_mistake(void *vm, const rrc_log_item *item)
{
    (void)vm;
    fprintf(stderr, "%s\n", item->text);
}

enum { LEAST_C_TRIGGER = 1 << 20 };     /* see part 3 */

#define RAWREFCOUNT_IMPLEMENTATION
#include "../../../rawrefcount.h"

int cvm_glue_open(cvm *vm)
{
    rrc_desc desc = { 0 };      /* zero is the default of everything */
    const cvm_layer *const *layer;

    vm->searches_in_slices = vm->heap.incremental;
    for (layer = vm->layers; layer != NULL && *layer != NULL; layer++)
        vm->searches_in_slices &= !(*layer)->counts_freely;
    desc.userdata = vm;
    desc.log = log_mistake;
    desc.collect = collect;
    desc.parted = parted;
    desc.reports_marks = 1;     /* we call rrc_marked: see part 2 */
    desc.incremental = vm->searches_in_slices;
    desc.realloc = reallocate;
    desc.edges = edges;
    desc.describe = describe;
#if !CVM_HOOK_MACROS
    desc.trace = trace;
    desc.survivor = survivor;
    desc.propagate = propagate;
    desc.is_young = is_young;
    desc.dealloc_trigger = dealloc_trigger;
#if CVM_SLOT
    desc.slot = slot;
#endif
#endif
    vm->rrc = rrc_heap_new(&desc);
    vm->c_trigger = LEAST_C_TRIGGER;
    return vm->rrc != NULL;
}

/* ---- 2. The calls: what the host does in its collections ----------------
 *
 * heap.c calls these at the points that their names say. In a minor collection:
 *
 *   roots scanned        -> rrc_minor_collection_trace: C's young objects are roots too
 *   survivors all copied -> rrc_minor_collection_free:  links follow them or are dissolved
 *
 * and in a major one:
 *
 *   roots marked         -> rrc_major_collection_trace: C's objects are roots too
 *   all is marked        -> rrc_major_collection_keep:  what garbage owns stays for its deallocators
 *   addresses computed   -> rrc_major_collection_free:  links follow them or are dissolved
 *   (only now may objects be moved and memory be reused)
 *
 * A light C object whose p died is freed right there. Any other is queued: its
 * deallocator may run Lisp code, which has no place in a collection.
 *
 * Cycles through both heaps: rrc_major_collection_trace takes as roots only the C
 * objects that are held by something it cannot see. From these it follows the
 * references of C objects (tp_traverse), as we follow those of Lisp objects, and
 * where the two meet each tells the other: it calls trace, and we say, wherever
 * in the marking it happens, that a linked object is
 *
 *   marked               -> rrc_marked: its C object is alive too
 *
 * In an incremental heap the marking is divided into slices, and the mutator runs
 * between them. The header then does its part of each:
 *
 *   marking begins       -> rrc_major_collection_start
 *   a slice is marked    -> rrc_major_collection_work:  the search for cycles, about so many units of it
 *
 * From the start on it may call trace at any time, also when C code takes a reference: what we had
 * not marked is then gray. When nothing is left, little is left to do for rrc_major_collection_trace. More slices
 * follow, in which rrc_major_collection_work does what else rrc_major_collection_keep would do. Then the
 * collection goes on as above: as objects move now, links follow them in rrc_major_collection_free, not in slices.
 *
 * The header can only do so if all C code takes references by rrc_incref and moves them after rrc_touch. Other
 * layers (counts_freely) have its search in one go, in rrc_major_collection_trace: then only our marking is divided.
 *
 * We know a linked object by a bit in its header, set when the link is made (part
 * 4). The bit may stay when the link is gone: p is then looked up in vain. A host
 * that cannot do this leaves reports_marks 0, and is asked by survivor instead.
 */
static void minor_trace(void *vm)
{
    rrc_minor_collection_trace(((cvm *)vm)->rrc);
}

static void minor_free(void *vm)
{
    rrc_minor_collection_free(((cvm *)vm)->rrc);
    ((cvm *)vm)->attention = 1;
}

static void major_start(void *vm)
{
    if (((cvm *)vm)->searches_in_slices)
        rrc_major_collection_start(((cvm *)vm)->rrc);
}

/* (A unit is an object, a link or a reference: some 16 bytes of our marking take as long.) */
static int major_work(void *vm, size_t bytes)
{
    size_t units = bytes / 16 + 1;

    return rrc_major_collection_work(((cvm *)vm)->rrc, units) >= units;
}

static int major_trace(void *vm)
{
    rrc_major_collection_trace(((cvm *)vm)->rrc);
    return ((cvm *)vm)->searches_in_slices;
}

/* (This VM has no weak references. One that has some clears them just before this.) */
static void major_keep(void *vm)
{
    rrc_major_collection_keep(((cvm *)vm)->rrc);
}

static void major_free(void *vm)
{
    rrc_major_collection_free(((cvm *)vm)->rrc);
    ((cvm *)vm)->attention = 1;
}

static void marked(void *vm, cvm_object *p)
{
    rrc_marked(((cvm *)vm)->rrc, p);
}

/* The roots: the stack, and what the layers have. */
static void roots(void *arg)
{
    cvm *vm = arg;
    const cvm_layer *const *layer;
    size_t i;

    for (i = 0; i < vm->sp; i++)
        cvm_heap_visit(&vm->heap, &vm->stack[i]);
    cvm_heap_visit(&vm->heap, &vm->error_file);
    for (layer = vm->layers; layer != NULL && *layer != NULL; layer++)
        if ((*layer)->roots != NULL)
            (*layer)->roots(vm);
}

const cvm_phases cvm_glue_phases = {
    roots, minor_trace, minor_free, major_start, major_work, major_trace, major_keep, major_free, marked
};

/* ---- 3. After a collection, at a safe point of the mutator --------------
 *
 * The language comes here between two steps, when all it works on is rooted:
 * deallocators may run programs, allocate, and start the next collection.
 *
 * C's objects can take much memory while ours take little: a buffer of megabytes
 * has a proxy of some bytes. So when C has doubled since the last major collection,
 * it is time for the next one. The doubling begins at what is left when the garbage of
 * that collection has been deallocated, and not earlier: else garbage counts as live, and
 * the wait is the longer, the more garbage there was.
 */
static int is_c_too_large(cvm *vm)      /* 2: and twice so */
{
    rrc_stats stats;

    rrc_get_stats(vm->rrc, &stats);
    if (vm->c_measured == vm->heap.majors) {
        size_t excess = (stats.object_bytes + stats.native_bytes) / vm->c_trigger;

        vm->c_asks |= excess > 0;
        return excess > 1 ? 2 : vm->c_asks;
    }
    vm->c_asks = 0;
    if (stats.pending == 0) {
        vm->c_trigger = 2 * (stats.object_bytes + stats.native_bytes) + LEAST_C_TRIGGER;
        vm->c_measured = vm->heap.majors;
    }
    return 0;
}

void cvm_glue_attend(cvm *vm)
{
    double since = cvm_heap_time(&vm->heap);
    int excess = is_c_too_large(vm);

    vm->attention = 0;
    if (excess > 0 && vm->auto_pending) {
        cvm_heap_slice(&vm->heap, excess == 1 ? CVM_SLICE : SIZE_MAX);
        since = cvm_heap_time(&vm->heap);
    }
    rrc_invoke_callback(vm->rrc);       /* -> dealloc_trigger, if anything waits */
    cvm_heap_note(&vm->heap, CVM_PAUSE_PENDING, since);
}

/* The heap must still be whole: every p counts as dead now, all links are
   dissolved, and the deallocators that are still due run. */
size_t cvm_glue_close(cvm *vm)
{
    size_t held;

    while (vm->heap.marking)    /* slices have begun a collection: end it */
        cvm_heap_slice(&vm->heap, SIZE_MAX);
    held = rrc_heap_free(vm->rrc);
    if (held == 0)              /* else those objects still need it */
        vm->rrc = NULL;
    return held;
}

/* ---- 4. Making links ----------------------------------------------------
 *
 * The count of ob now says that p needs ob; the caller keeps its own reference.
 * RRC_LIGHT promises that ob owns nothing but its memory.
 */
static int make_link(cvm *vm, cvm_value p, rrc_object *ob, int kind)
{
    if (vm->closing == CVM_CLOSED) {    /* a late deallocator tries it */
        cvm_fail(vm, "the VM is being closed: objects do not cross any more");
        return 0;
    }
    if (rrc_link(vm->rrc, cvm_object_of(p), ob, kind) != RRC_OK) {
        cvm_out_of_memory(vm);
        return 0;
    }
    cvm_object_of(p)->flags |= CVM_LINKED;
    if (vm->heap.marking && (cvm_object_of(p)->flags & CVM_REACHED))
        marked(vm, cvm_object_of(p));   /* it was marked when it had no link */
    if (is_c_too_large(vm))
        vm->attention = 1;
    return 1;
}

/* From C to the heap. An object made in C gets a proxy, as a rule by an O link: the proxy
   may die and be replaced by a new one as long as C holds ob. If the proxy has data of
   its own, that would be lost: then the API asks for a P link. */
cvm_value cvm_from_ob(cvm *vm, rrc_object *ob)
{
    cvm_value p = (cvm_value)rrc_to_obj(vm->rrc, ob);
    int kind = RRC_O, light = (RRC_TYPE(ob)->tp_flags & CVM_TPFLAGS_LIGHT) != 0 ? RRC_LIGHT : 0;

    if (p != CVM_NONE)
        return p;
    if (RRC_REFCNT(ob) == 0)            /* its deallocator shows it: too late */
        return vm->tombstone;
    p = vm->ops.proxy != NULL ? vm->ops.proxy(vm, ob, &kind) : cvm_foreign_new(vm, ob);
    return p != CVM_NONE && make_link(vm, p, ob, kind | light) ? p : CVM_NONE;
}

cvm_value cvm_foreign_new(cvm *vm, rrc_object *ob)
{
    cvm_foreign *p = (cvm_foreign *)cvm_object_new(vm, CVM_FOREIGN, sizeof *p);

    if (p == NULL)
        return CVM_NONE;
    cvm_heap_init(&p->attributes, CVM_NIL);
    p->ob = ob;
    return (cvm_value)p;
}

/* From the heap to C. An object gets a C view, by a P link: as long as C holds
   the view, the object lives, and there is only one view at a time. A new view
   owns nothing: it is light. */
static const rrc_type view_type = {
    RRC_OBJECT_HEAD_INIT(NULL), .tp_name = "view", .tp_basicsize = sizeof(rrc_object)
};

rrc_object *cvm_named_ob(cvm_value v)
{
    return cvm_is(v, CVM_FOREIGN) ? CVM_FOREIGN_OF(v)->ob
         : cvm_is_outside(v) ? CVM_OUTSIDE_OF(v)->ob : NULL;
}

rrc_object *cvm_ob_of(cvm *vm, cvm_value v)
{
    rrc_object *ob = cvm_named_ob(v);

    if (ob == NULL)
        ob = rrc_from_obj(vm->rrc, (rrc_gcref)v);
    if (ob != NULL) {
        rrc_incref(vm->rrc, ob);
        return ob;
    }
    ob = vm->ops.view != NULL ? vm->ops.view(vm, v) : rrc_new(vm->rrc, &view_type);
    if (ob == NULL)                     /* else it has one reference, which goes to our caller */
        cvm_out_of_memory(vm);
    else if (make_link(vm, v, ob, RRC_P | RRC_LIGHT))
        return ob;
    else
        rrc_decref(vm->rrc, ob);
    return NULL;
}

rrc_object *cvm_to_c(cvm *vm, const char *who, cvm_value v)
{
    if (!cvm_is_object(v))
        cvm_expected(vm, who, "an object on the heap", v);
    else if (cvm_is(v, CVM_FOREIGN) && cvm_named_ob(v) == NULL)
        cvm_expected(vm, who, "a living C object", v);
    else
        return cvm_ob_of(vm, v);
    return NULL;
}
