/* glue.c - how this VM works with rawrefcount.h. If you port the header to a VM of your own, this is the file to
 * write, and the calls that heap.c makes are what to add to your collector; the rest of the folder is the VM. The
 * header answers these calls by calling the host's hooks (1). Then comes what runs after a collection (2), and how
 * links are made (3). */
#include "vm.h"

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
 * mark_from_c "Mark what C holds, and nothing else." Only the end of the VM asks for it.
 *
 * An rrc_gcref is simply the address of a cvm_object. (The macros RRC_HOST_TRACE and so on would
 * fix these hooks at compile time, without calls through pointers.)
 */
static void trace(void *vm, rrc_gcref p) { cvm_heap_trace(&((cvm *)vm)->heap, p); }
static rrc_gcref survivor(void *vm, rrc_gcref p) { return cvm_heap_survivor(&((cvm *)vm)->heap, p); }
static void propagate(void *vm) { cvm_heap_propagate(&((cvm *)vm)->heap, SIZE_MAX); }

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

/* "C objects wait to be deallocated." This comes from rrc_invoke_callback in
   part 2, not from a collection, so it may do the work. It does so in portions:
   a thousand dead objects need not make one long pause. */
enum { PORTION = 200 };

static void dealloc_trigger(void *userdata)
{
    cvm *vm = userdata;
    if (vm->auto_pending && rrc_run_pending(vm->rrc, PORTION) == PORTION)
        vm->attention = 1;      /* there may be more: go on at the next safe point */
}

/* "Collect all that can be collected, now." Only rrc_gc_collect asks for it: a
   program's explicit wish. */
static void collect(void *vm) { cvm_heap_major(&((cvm *)vm)->heap); }

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

/* "The VM ends: which objects of C own others through yours?" The header marks from what C holds, and from no root of
   ours, so that an owner goes before what it owns. */
static void mark_from_c(void *vm, int on) { cvm_heap_mark_from_c(&((cvm *)vm)->heap, on); }

/* A mistake in the use of the header was found. */
static void log_mistake(void *vm, const rrc_log_item *item)
{
    (void)vm;
    fprintf(stderr, "%s\n", item->text);
}

enum { LEAST_C_TRIGGER = 1 << 20 };     /* see part 2 */

int cvm_glue_open(cvm *vm)
{
    rrc_desc desc = {           /* zero is the default of everything else */
        .userdata = vm, .log = log_mistake, .collect = collect, .parted = parted, .trace = trace,
        .mark_from_c = mark_from_c,
        .survivor = survivor, .propagate = propagate, .is_young = is_young, .dealloc_trigger = dealloc_trigger,
        .reports_marks = 1,     /* we call rrc_marked: see cvm_heap_marked */
        .search_percent = vm->config.search_percent
    };
    vm->searches_in_slices = vm->heap.incremental;
    vm->insight.userdata = vm;
    for (int i = 0; i < CVM_LAYERS; i++) {
        const cvm_layer *layer = vm->layers[i];
        if (layer == NULL)
            continue;
        vm->searches_in_slices &= !layer->counts_freely;
        vm->insight.edges = layer->edges != NULL ? layer->edges : vm->insight.edges;
        vm->insight.describe = layer->describe != NULL ? layer->describe : vm->insight.describe;
        desc.realloc = layer->realloc != NULL ? layer->realloc : desc.realloc;
    }
    desc.incremental = vm->searches_in_slices;
#if CVM_SLOT
    desc.slot = slot;
#endif
    vm->rrc = rrc_heap_new(&desc);
    vm->c_trigger = LEAST_C_TRIGGER;
    return vm->rrc != NULL;
}

/* ---- 2. After a collection, at a safe point of the mutator --------------
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
    int excess = is_c_too_large(vm);
    vm->attention = 0;
    if (excess > 0 && vm->auto_pending)
        cvm_heap_slice(&vm->heap, excess == 1 ? CVM_SLICE : SIZE_MAX);
    rrc_invoke_callback(vm->rrc);       /* -> dealloc_trigger, if anything waits */
    if (vm->layers[CVM_API] != NULL)
        vm->layers[CVM_API]->attend(vm);
}

/* ---- 3. Making links ----------------------------------------------------
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
        cvm_heap_marked(&vm->heap, cvm_object_of(p));   /* it was marked when it had no link */
    rrc_measure(vm->rrc, ob);
    if (is_c_too_large(vm))
        vm->attention = 1;
    return 1;
}

/* From C to the heap. An object made in C gets a proxy, by an O link: the proxy
   may die and be replaced by a new one as long as C holds ob. */
cvm_value cvm_from_ob(cvm *vm, rrc_object *ob)
{
    cvm_value p = (cvm_value)rrc_to_obj(vm->rrc, ob);
    int light = (RRC_TYPE(ob)->tp_flags & CVM_TPFLAGS_LIGHT) != 0 ? RRC_LIGHT : 0;
    if (p != CVM_NONE)
        return p;
    if (RRC_REFCNT(ob) == 0)            /* its deallocator shows it: too late */
        return vm->tombstone;
    p = vm->layers[CVM_API] != NULL ? vm->layers[CVM_API]->proxy(vm, ob) : cvm_foreign_new(vm, ob);
    return p != CVM_NONE && make_link(vm, p, ob, RRC_O | light) ? p : CVM_NONE;
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

rrc_object *cvm_linked_ob(cvm *vm, cvm_value v)
{
    if (!cvm_is_object(v))
        return NULL;
    return cvm_named_ob(v) != NULL ? cvm_named_ob(v) : rrc_from_obj(vm->rrc, (rrc_gcref)v);
}

int cvm_make_view(cvm *vm, cvm_value v, rrc_object *ob)
{
    return make_link(vm, v, ob, RRC_P | RRC_LIGHT);
}

rrc_object *cvm_ob_of(cvm *vm, cvm_value v)
{
    rrc_object *ob = cvm_linked_ob(vm, v);
    if (ob != NULL) {
        rrc_incref(vm->rrc, ob);
        return ob;
    }
    ob = vm->layers[CVM_API] != NULL ? vm->layers[CVM_API]->view(vm, v) : rrc_new(vm->rrc, &view_type);
    if (ob == NULL)                     /* else it has one reference, which goes to our caller */
        cvm_out_of_memory(vm);
    else if (make_link(vm, v, ob, RRC_P | RRC_LIGHT))
        return ob;
    else
        rrc_decref(vm->rrc, ob);
    return NULL;
}
