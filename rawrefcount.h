/* rawrefcount.h - version 0.1.0
 * One C header that joins a tracing garbage collector with reference-counted
 * C objects: stable proxies, no leaks, deallocation at the right time.
 *
 *     #define RAWREFCOUNT_IMPLEMENTATION      // in exactly one C or C++ file
 *     #include "rawrefcount.h"
 *
 *     static void trace(void *vm, rrc_gcref p)         { vm_mark(vm, p); }
 *     static rrc_gcref survivor(void *vm, rrc_gcref p) { return vm_is_marked(vm, p) ? p : NULL; }
 *     static void file_dealloc(rrc_heap *h, rrc_object *ob) { close_file(ob); rrc_del(h, ob); }
 *
 *     static const rrc_type File = { .tp_name = "File", .tp_basicsize = sizeof(File_object),
 *                                    .tp_dealloc = file_dealloc };
 *
 *     rrc_heap *h = rrc_heap_new(&(rrc_desc){ .userdata = vm, .trace = trace, .survivor = survivor });
 *     rrc_object *ob = rrc_new(h, &File);              // one reference, ours
 *     rrc_create_link_pyobj(h, p, ob);                 // the VM's object p is now ob's proxy ...
 *     ob->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;       // ... and holds ob in our place
 *
 *     vm_mark_roots(vm);                               // the VM's full collection:
 *     rrc_major_collection_trace(h);                   //   keep what C holds
 *     rrc_major_collection_free(h);                    //   unlink what died
 *     vm_sweep(vm);
 *     rrc_run_pending(h, 0);                           // p died: file_dealloc(ob) runs here
 *
 * It does NOT collect anything by itself, start threads, hold global state,
 * move objects, or allocate during a collection. License at the end.
 *
 * CONTENTS (search for the tag)
 *     >>concepts      what a link is, the rule of a collection, the queue
 *     >>invariants    I1 to I7
 *     >>protocol      which call goes where in the host's collector
 *     >>names         PyPy's and CPython's names beside ours
 *     >>errors        every code, its cause and its cure
 *     >>changes       changelog
 *     >>config        the configuration macros
 *     >>types         objects, types, the descriptor and its hooks
 *     >>api           the functions
 *     >>implementation  memory, dictionary, links, collections, deallocation,
 *                     objects, heaps, insight
 *     >>license
 */

/* >>concepts
 * ---------------------------------------------------------------------------
 * Two heaps in one process:
 *
 *   p    an object of the host VM: found by reachability, perhaps moved.
 *   ob   an object of a C library: freed when its reference count drops to zero.
 *
 * A LINK ties one p to one ob.
 *
 *   link    made by                   the data is in     held from C means
 *   P link  rrc_create_link_pypy      p (ob is its view) p stays alive, with all it reaches
 *   O link  rrc_create_link_pyobj     ob (p is a proxy)  nothing for p: it may die, ob can get a new one
 *
 * Either way ob stays alive as long as p does. While linked, the count carries
 * a BIAS, RRC_REFCNT_FROM_PYPY, put in by whoever makes the link; "C holds a
 * reference" is then one comparison. A LIGHT ob carries the other bias,
 * RRC_REFCNT_FROM_PYPY_LIGHT: it owns no references and needs no tp_dealloc,
 * so that its memory is freed during the collection itself.
 *
 * THE RULE of a collection, as PyPy published it (rpython/doc/rawrefcount.rst;
 * Armin Rigo and others); this header implements it to the letter:
 *
 *   while marking, for each P link:
 *       count is neither bias exactly        -> p survives, with all it reaches
 *   after marking, for each link whose p did not survive, even if ob does:
 *       unlink p and ob
 *       count == LIGHT                       -> free ob
 *       count >  LIGHT                       -> count -= LIGHT
 *       otherwise                            -> count -= BIAS; if that leaves 0,
 *                                               count = 1 and ob joins the dealloc queue
 *
 * THE QUEUE owns that one reference. An ob that waits there is a normal
 * object: code may incref, decref or link it again. rrc_run_pending drops the
 * queue's reference at a moment the host chooses; tp_dealloc runs there, never
 * in the collection.
 *
 * FOUR BANDS of counts, told apart by one comparison each:
 *
 *   0 ...                            unlinked
 *   RRC_REFCNT_FROM_PYPY ...         linked
 *   RRC_REFCNT_FROM_PYPY_LIGHT ...   linked and light
 *   RRC_REFCNT_IMMORTAL ...          never freed (static types); the count may
 *                                    drift. Put no bias into such a count: it
 *                                    is large enough as it is.
 *
 * >>invariants
 * ---------------------------------------------------------------------------
 * I1  A linked ob has ob_refcnt >= RRC_REFCNT_FROM_PYPY and its ob_pypy_link is
 *     the current address of its p. The link of an unlinked ob is NULL, or the
 *     marker of rrc_mark_deallocating.
 * I2  An ob has at most one link. A p has at most one P link.
 *     rrc_from_obj(heap, p) == ob exactly for P links.
 * I3  After a collection no link refers to a p that died, and every link refers
 *     to where its p is now.
 * I4  No user code but the host's hooks and the freeing of light obs runs
 *     inside a collection. tp_dealloc and tp_finalize run only from
 *     rrc_run_pending, rrc_decref and rrc_heap_free, outside a collection.
 * I5  The collection functions allocate nothing and cannot fail. What they need
 *     is reserved when a link is made; that call reports RRC_ENOMEM and changes
 *     nothing.
 * I6  The cost of a minor collection depends on the number of young links, not
 *     on that of old ones.
 * I7  No global state: any number of heaps in a process, each used by one thread
 *     at a time.
 *
 * rrc_check walks all of them that memory can show (I1, I2, and what I3, I5 and
 * I6 leave behind).
 *
 * >>protocol
 * ---------------------------------------------------------------------------
 *   minor:  the host scans its roots
 *           rrc_minor_collection_trace(h)   -> trace(p) for each young P link held from C
 *           the host finishes copying
 *           rrc_minor_collection_free(h)    -> survivor(p) for each young link; the rest is unlinked
 *   major:  the host marks its roots
 *           rrc_major_collection_trace(h)   -> trace(p) for each P link held from C, then propagate()
 *           the host computes the new addresses, if it moves objects
 *           rrc_major_collection_free(h)    -> survivor(p) for each link; the rest is unlinked
 *           the host sweeps or compacts
 *   later, at a safe point of the mutator:
 *           rrc_invoke_callback(h)          -> dealloc_trigger(), if anything is pending
 *           rrc_run_pending(h, n)           -> finalizers and deallocs
 *
 * A host without generations has only the major one, and leaves is_young NULL.
 * A major collection covers young links too; it may come without a minor before
 * it. A trace call may be repeated before its free call (a host with ephemerons
 * may want to). A p that is never collected (prebuilt) is its own survivor; a
 * young p that does not move (a large object) survives at its own address.
 * Between a trace call and its free call no code of the mutator may run.
 *
 * Weak references of the host to p: clear them when p dies, as usual; a P link
 * held from C keeps its p alive, so that there is nothing special to do.
 *
 * >>names
 * ---------------------------------------------------------------------------
 *   PyPy (rpython.rlib.rawrefcount)            here
 *   init(dealloc_trigger_callback)             rrc_heap_new, hook dealloc_trigger
 *   create_link_pypy, create_link_pyobj        rrc_create_link_pypy, rrc_create_link_pyobj
 *   from_obj, to_obj                           rrc_from_obj, rrc_to_obj
 *   mark_deallocating                          rrc_mark_deallocating
 *   next_dead                                  rrc_next_dead, or rrc_run_pending
 *   rrc_invoke_callback                        rrc_invoke_callback
 *   rrc_minor_collection_trace/_free           the same
 *   rrc_major_collection_trace/_free           the same
 *   REFCNT_FROM_PYPY, .._LIGHT                 RRC_REFCNT_FROM_PYPY, .._LIGHT
 *
 *   CPython                                    here
 *   Py_INCREF, Py_DECREF, Py_CLEAR             rrc_incref, rrc_decref, RRC_CLEAR
 *   PyObject_New, _NewVar, _Del                rrc_new, rrc_new_var, rrc_del
 *   PyTypeObject and its tp_ slots             rrc_type and the same tp_ slots
 *   PyObject_HEAD_INIT                         RRC_OBJECT_HEAD_INIT
 *
 * >>errors
 * ---------------------------------------------------------------------------
 * A function that can fail returns RRC_OK (0) or one of the codes of RRC_ERRORS
 * below, which is the one list of codes, names and messages. A call that fails
 * has changed nothing. Each failure that is the caller's mistake is also given
 * to the log hook, with the function, the type's name and the addresses; with
 * RRC_DEBUG and no log hook, to stderr. RRC_ENOMEM is only returned: lack of
 * memory is not a mistake.
 *
 * A collection does not stop for an error: it logs it and does the safe thing
 * for that one link, which its item tells.
 *
 * >>changes
 * ---------------------------------------------------------------------------
 * 0.1.0  Links, minor and major collections, movement, the dealloc queue,
 *        objects, checks.
 */

#ifndef RAWREFCOUNT_H
#define RAWREFCOUNT_H

#include <stddef.h>
#include <stdint.h>

#define RRC_VERSION_MAJOR 0
#define RRC_VERSION_MINOR 1
#define RRC_VERSION_PATCH 0
#define RRC_VERSION "0.1.0"

/* >>config
 * ---------------------------------------------------------------------------
 * Macro                       Default          Meaning
 *
 * In the implementing unit only:
 *   RAWREFCOUNT_IMPLEMENTATION  off            this unit holds the functions
 *   RAWREFCOUNT_STATIC          off            ... and they are static: a private copy for this unit
 *   RRC_HOST_TRACE(heap, p)     desc.trace     fixes a hook at compile time: no call through a
 *   RRC_HOST_SURVIVOR(heap, p)  desc.survivor  pointer. rrc_userdata(heap) gives the userdata.
 *   RRC_HOST_PROPAGATE(heap)    desc.propagate The field of rrc_desc is then ignored.
 *   RRC_HOST_IS_YOUNG(heap, p)  desc.is_young
 *   RRC_HOST_SLOT(heap, p)      desc.slot
 *   RRC_HOST_DEALLOC_TRIGGER(heap)  desc.dealloc_trigger
 *   RRC_HOST_MOVES              1              0: no p ever moves; survivor then just says whether
 *   RRC_SET_TYPE(ob, type)      RRC_TYPE(ob) = type    for a layout whose RRC_TYPE is not an lvalue
 *   RRC_OBJECT_PREFIX           0              bytes of an object in front of its address (a multiple
 *                                              of the strictest alignment): rrc_new allocates them too
 *   RRC_DEALLOC_DEPTH           50             deallocs nested deeper wait for the outermost
 *   RRC_CHUNK_LINKS             256            links in one block of memory; a power of two
 *   RRC_ASSERT(condition)       assert if RRC_DEBUG, else nothing     internal invariants only
 *   RRC_NO_STDIO                off            no <stdio.h>: items carry no composed text
 *
 * In every unit alike (rrc_heap_new compares the units; see rrc_check_config):
 *   RRC_DEBUG                   off            the expensive checks, poisoned memory
 *   RRC_REFCNT(ob)              ob->ob_refcnt     adapt the header to an object layout that exists
 *   RRC_LINK(ob)                ob->ob_pypy_link  already: lvalues of type intptr_t and rrc_gcref,
 *   RRC_TYPE(ob)                ob->ob_type       and a const rrc_type *. ob is a rrc_object *: cast it.
 */

#if defined(RRC_IMPLEMENTATION) || defined(RAWREFCOUNT_IMPLEMENT) || defined(RAWREFCOUNT_IMPL)
#error "rawrefcount.h: the name is RAWREFCOUNT_IMPLEMENTATION"
#endif
#if defined(RRC_STATIC)
#error "rawrefcount.h: the name is RAWREFCOUNT_STATIC"
#endif
#if defined(RAWREFCOUNT_DEBUG)
#error "rawrefcount.h: the name is RRC_DEBUG"
#endif
#if defined(RRC_HOST_MOVE) || defined(RRC_HOST_MOVING)
#error "rawrefcount.h: the name is RRC_HOST_MOVES"
#endif
#if defined(RRC_HOST_YOUNG) || defined(RRC_IS_YOUNG)
#error "rawrefcount.h: the name is RRC_HOST_IS_YOUNG"
#endif
#if defined(RRC_HOST_TRIGGER)
#error "rawrefcount.h: the name is RRC_HOST_DEALLOC_TRIGGER"
#endif

#ifdef RAWREFCOUNT_STATIC
#  ifndef RAWREFCOUNT_IMPLEMENTATION
#  define RAWREFCOUNT_IMPLEMENTATION
#  endif
#  if defined(__GNUC__)
#    define RRC_API static __attribute__((unused))
#  else
#    define RRC_API static
#  endif
#else
#  define RRC_API extern
#endif

#if defined(__GNUC__)
#  define RRC_INLINE static inline __attribute__((unused))
#else
#  define RRC_INLINE static inline
#endif

#ifndef RRC_REFCNT
#define RRC_REFCNT(ob) ((ob)->ob_refcnt)
#endif
#ifndef RRC_LINK
#define RRC_LINK(ob) ((ob)->ob_pypy_link)
#endif
#ifndef RRC_TYPE
#define RRC_TYPE(ob) ((ob)->ob_type)
#endif

#define RRC_REFCNT_FROM_PYPY       (INTPTR_MAX / 4 + 1)
#define RRC_REFCNT_FROM_PYPY_LIGHT (RRC_REFCNT_FROM_PYPY + (INTPTR_MAX / 2 + 1))
#define RRC_REFCNT_IMMORTAL        (RRC_REFCNT_FROM_PYPY_LIGHT + (INTPTR_MAX / 8 + 1))

/* code, its message: what was wrong, and what to do. */
#define RRC_ERRORS(X) \
    X(RRC_OK, "no error") \
    X(RRC_ENOMEM, "out of memory; nothing was changed: free something and call again") \
    X(RRC_ENULL, "an argument is NULL that must not be: look at the caller") \
    X(RRC_EDESC, "the descriptor lacks a hook that every host needs: set trace and survivor") \
    X(RRC_ECONFIG, "this unit and the implementing unit were built with different settings: " \
                   "define the macros of the every-unit group alike in all of them") \
    X(RRC_ELINKED, "the object has a link already: rrc_unlink it first") \
    X(RRC_EPLINKED, "the host object p has a P link already: use the object that rrc_from_obj gives") \
    X(RRC_EUNLINKED, "the object has no link, so that there is nothing to undo") \
    X(RRC_EPHASE, "this function cannot be called now: see the phase in its comment") \
    X(RRC_ECLOSED, "the heap was freed by rrc_heap_free: only rrc_incref and rrc_decref are left") \
    X(RRC_ETYPE, "the object's type is missing or does not fit this function: " \
                 "check tp_basicsize, tp_itemsize and tp_flags") \
    X(RRC_EREFCNT, "the reference count is wrong: look for a forgotten incref, a second decref, " \
                   "or a link whose maker did not add the bias") \
    X(RRC_ELINK, "the object's link field does not name its p: something wrote over it") \
    X(RRC_EHOOK, "the host's hooks contradict each other: compare them with their comments in rrc_desc") \
    X(RRC_EFREED, "the object was freed already: look for the decref that was one too many") \
    X(RRC_ECORRUPT, "the tables of the heap are damaged: something wrote over memory that is not its own") \
    X(RRC_ELIMIT, "more links than one heap can have (2^30): use several heaps")

/* >>types
 * --------------------------------------------------------------------------- */

#define RRCI_ERROR_CODE(code, message) code,
enum { RRC_ERRORS(RRCI_ERROR_CODE) RRCI_ERROR_END };
#undef RRCI_ERROR_CODE

typedef void *rrc_gcref;                /* p, an object of the host; NULL = none */
typedef struct rrc_heap rrc_heap;       /* one for each heap of a host */
typedef struct rrc_type rrc_type;

/* The head of every ob. Make it the first member of your own struct. */
typedef struct rrc_object {
    intptr_t        ob_refcnt;
    rrc_gcref       ob_pypy_link;
    const rrc_type *ob_type;
} rrc_object;

/* The head of a static object, such as a static type: never freed. Its count
   starts in the middle of the immortal band, so that it can drift either way. */
#define RRC_OBJECT_HEAD_INIT(type) \
    { RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16, NULL, (type) }

typedef int (*rrc_visitproc)(rrc_object *ob, void *arg);

/* What the objects of one kind have in common: CPython's slots, by their names.
   Zero is a fine value for every field but tp_basicsize. A type must outlive
   its objects. */
struct rrc_type {
    rrc_object    ob_base;
    const char   *tp_name;
    size_t        tp_basicsize;         /* bytes of an object, with its head */
    size_t        tp_itemsize;          /* bytes of each item of rrc_new_var */
    unsigned long tp_flags;
    /* The last reference is gone: drop the references that self owns, release
       what it holds, and end with the type's tp_free (rrc_del). Count 0 and
       link NULL on entry. May call any function of the mutator. NULL: tp_free. */
    void (*tp_dealloc)(rrc_heap *heap, rrc_object *self);
    /* Gives the memory back. NULL: rrc_del. For a light object it is called
       inside a collection: it must not call back then. */
    void (*tp_free)(rrc_heap *heap, void *self);
    int  (*tp_traverse)(rrc_object *self, rrc_visitproc visit, void *arg);
    int  (*tp_clear)(rrc_heap *heap, rrc_object *self);
    /* Runs before tp_dealloc with the count held at 1: self is whole. It may
       resurrect self by an incref; tp_dealloc is then left out. As in CPython it
       runs again when the count of such an object drops to zero again. */
    void (*tp_finalize)(rrc_heap *heap, rrc_object *self);
    void (*tp_clear_weakrefs)(rrc_heap *heap, rrc_object *self);
    const struct rrc_member *tp_members;
};

/* One message for the log hook. The strings live during the call only, but for
   name, function and message, which are constants. */
typedef struct rrc_log_item {
    int         code;                   /* RRC_E... */
    const char *name;                   /* its name: "RRC_EREFCNT" */
    const char *message;                /* its message, from RRC_ERRORS */
    const char *function;               /* who noticed: "rrc_minor_collection_free" */
    const char *detail;                 /* this case: what was found and what was done about it */
    const char *text;                   /* all of it in one line, for printing */
    rrc_object *ob;                     /* the objects concerned, or NULL; do not change them */
    rrc_gcref   p;
    const char *type_name;              /* ob's tp_name, or "?" */
} rrc_log_item;

/* How a heap talks to its host. Zero means the default of each field; the
   struct is copied. userdata is the first argument of every hook. Hooks called
   inside a collection must not call back into the header, except for
   rrc_userdata. */
typedef struct rrc_desc {
    void *userdata;

    /* Keep p and all it reaches. Called by the two trace functions, once for
       each P link that C holds. May mark at once or only queue p for propagate;
       in a minor collection it may move p at once. Required. */
    void (*trace)(void *userdata, rrc_gcref p);

    /* The address of p after this collection; NULL: p was not reached (so far).
       Called once per link by the free functions, when marking is complete, and
       by rrc_major_collection_trace after propagate. Must give the same answer
       until the collection's free call returns. Required. */
    rrc_gcref (*survivor)(void *userdata, rrc_gcref p);

    /* Finish the marking that trace queued. Called by the trace functions, at
       the end. NULL: trace did it all. */
    void (*propagate)(void *userdata);

    /* Is p in the young generation? Called when a link is made, and by the free
       functions with the new address of each young survivor: where it still
       says yes, the link stays young. NULL: no generations. */
    int (*is_young)(void *userdata, rrc_gcref p);

    /* A field of p that the header owns and reads as "the ob of p's P link"; the
       host makes it NULL when p is born and copies it when p moves. With it no
       dictionary is needed. Never called inside a collection. NULL: none. */
    rrc_object **(*slot)(void *userdata, rrc_gcref p);

    /* Something is pending. Called by rrc_invoke_callback only; may call
       rrc_run_pending at once, or remember to do so at a safe point. */
    void (*dealloc_trigger)(void *userdata);

    void (*collect)(void *userdata);    /* not used in this version */
    int    reports_marks;               /* not used in this version */

    /* All memory comes from here: new_size 0 frees, old_size 0 (with ptr NULL)
       allocates; NULL reports failure and leaves ptr as it is. Memory is aligned
       as malloc's. Freeing happens inside a collection, allocating never does.
       old_size is 0 too when an object of tp_basicsize 0 is freed. NULL: the C
       library's. */
    void *(*realloc)(void *userdata, void *ptr, size_t old_size, size_t new_size);

    /* A mistake was found. May come from any function, also inside a collection.
       NULL: silence, or stderr with RRC_DEBUG. */
    void (*log)(void *userdata, const rrc_log_item *item);
} rrc_desc;

/* Numbers about a heap. */
typedef struct rrc_stats {
    size_t p_young, p_old, o_young, o_old;      /* links, by kind and generation */
    size_t pending;                             /* what rrc_run_pending has to do */
    size_t tracked;                             /* 0 in this version */
    size_t objects;                             /* made by rrc_new and not freed yet */
    size_t minor_collections, major_collections;    /* finished since rrc_heap_new */
    size_t memory;                              /* bytes of tables, without objects */
} rrc_stats;

/* >>api
 * ---------------------------------------------------------------------------
 * Each comment has a tag line: [phase | allocates? | calls | cost].
 *   mutator     outside a collection: not between a trace call and its free
 *               call, not from a hook
 *   any         any time, from the thread that uses the heap
 * "Calls dealloc" means tp_finalize, tp_dealloc and tp_free, and so any code. */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- heap ---- */

/* Make a heap. Returns NULL if memory is lacking, if desc lacks a required hook
   (RRC_EDESC, logged) or if this unit's settings are not the implementing
   unit's (RRC_ECONFIG, logged). desc is copied.
   [mutator | allocates | calls no hook but realloc and log | O(1)] */
RRC_INLINE rrc_heap *rrc_heap_new(const rrc_desc *desc);

/* End a heap: every p counts as dead, so that each link is dissolved by the
   rule; then all that is pending is run. Returns how many of the obs that were
   linked or pending C still holds; they end unlinked with their true count.
   Later rrc_incref, rrc_decref, rrc_new's and rrc_del's on this heap: decref and
   del stay legal until the last object of rrc_new is gone, which frees the last
   of the heap; all else is refused with RRC_ECLOSED. After that no hook but
   realloc and log is called: userdata must live as long as those need it.
   From inside a collection, a dealloc or a hook it is refused: logged, returns
   SIZE_MAX, nothing changed. NULL is ignored (returns 0).
   [mutator | frees only | calls dealloc | O(links)] */
RRC_API size_t rrc_heap_free(rrc_heap *heap);

/* The userdata of the descriptor. [any | no | nothing | O(1)] */
RRC_API void *rrc_userdata(const rrc_heap *heap);

/* Is this unit built like the implementing unit? rrc_heap_new does this for the
   unit that calls it; call it from the others once. RRC_OK or RRC_ECONFIG.
   [any | no | calls log | O(1)] */
RRC_INLINE int rrc_check_config(rrc_heap *heap);

/* ---- links ---- */

/* Link p and ob; P: p has the data, and C's references to ob keep p alive;
   O: ob has the data, and p is its proxy. Either way ob lives as long as p.
   The count is left alone: add RRC_REFCNT_FROM_PYPY (or .._LIGHT, if ob owns no
   references and its memory can just be freed) before or just after; no
   collection may come in between. An object that rrc_new just made, and whose
   reference is handed over to p, thus gets bias - 1. Immortal obs get no bias.
   Fails with RRC_ENULL, RRC_ELINKED (ob), RRC_EPLINKED (p, P link only),
   RRC_EPHASE, RRC_ECLOSED, RRC_ELIMIT, RRC_ENOMEM.
   [mutator | allocates | calls is_young, slot | O(1) amortized] */
RRC_API int rrc_create_link_pypy(rrc_heap *heap, rrc_gcref p, rrc_object *ob);
RRC_API int rrc_create_link_pyobj(rrc_heap *heap, rrc_gcref p, rrc_object *ob);

/* The ob of p's P link, or NULL: p is NULL or has none, or a collection is going
   on. A borrowed reference: incref it to keep it.
   [mutator | no | calls slot | O(1)] */
RRC_API rrc_object *rrc_from_obj(rrc_heap *heap, rrc_gcref p);

/* The p of ob's link, P or O; or the marker of rrc_mark_deallocating; or NULL.
   p is as good as any unrooted reference: until the next collection.
   [mutator | no | nothing | O(1)] */
RRC_INLINE rrc_gcref rrc_to_obj(rrc_heap *heap, rrc_object *ob);

/* From a tp_dealloc: make rrc_to_obj(ob) return marker (a p of your own, never
   linked itself), so that code which still comes across ob can tell. marker
   NULL takes that back. Logged and ignored if ob is linked.
   [mutator | no | calls log | O(1)] */
RRC_API void rrc_mark_deallocating(rrc_heap *heap, rrc_gcref marker, rrc_object *ob);

/* Dissolve ob's link as if p had died: the bias comes off; if nothing else holds
   ob, it is queued (a light one freed at once). To dispose of it at once:
   incref, unlink, decref. Fails with RRC_ENULL, RRC_EUNLINKED, RRC_EPHASE,
   RRC_ECLOSED.
   [mutator | may allocate, does not fail for it | calls slot, tp_free | O(1);
   O(links) for the first O link (P link, with slot) after a major collection] */
RRC_API int rrc_unlink(rrc_heap *heap, rrc_object *ob);

/* ---- counts ---- */

/* Take a reference. [any | no | nothing | O(1)] */
RRC_INLINE void rrc_incref(rrc_heap *heap, rrc_object *ob);

/* Drop a reference. When it was the last: tp_finalize with the count held at 1;
   then, if it still was the last, tp_dealloc. Deallocs nested deeper than
   RRC_DEALLOC_DEPTH wait until the outermost one returns; inside a collection
   they wait for rrc_run_pending.
   [any | no | calls dealloc | O(1) + dealloc] */
RRC_INLINE void rrc_decref(rrc_heap *heap, rrc_object *ob);

/* Set a field that owns a reference to NULL, then drop the reference: in this
   order, so that code called by the dealloc does not find it. */
#define RRC_CLEAR(heap, field) \
    do { \
        rrc_object *rrci_old = (rrc_object *)(field); \
        if (rrci_old != NULL) { \
            (field) = NULL; \
            rrc_decref((heap), rrci_old); \
        } \
    } while (0)

/* ---- collections: see >>protocol ----
   They return RRC_OK, or RRC_ENULL, RRC_EPHASE, RRC_ECLOSED. They allocate
   nothing. */

/* [host's minor collection, roots scanned; may be repeated | no | calls trace,
   propagate | O(young P links)] */
RRC_API int rrc_minor_collection_trace(rrc_heap *heap);

/* [same minor collection, copying done, nothing freed yet | frees only | calls
   survivor, is_young, tp_free of light obs | O(young links)] */
RRC_API int rrc_minor_collection_free(rrc_heap *heap);

/* [host's major collection, roots marked; may be repeated | no | calls trace,
   propagate, survivor | O(P links)] */
RRC_API int rrc_major_collection_trace(rrc_heap *heap);

/* [same major collection, marking done, new addresses known, nothing freed or
   moved yet | frees only | calls survivor, is_young, tp_free of light obs |
   O(links)] */
RRC_API int rrc_major_collection_free(rrc_heap *heap);

/* ---- queue ---- */

/* Call the host's dealloc_trigger if anything is pending.
   [mutator | no | calls dealloc_trigger | O(1)] */
RRC_API void rrc_invoke_callback(rrc_heap *heap);

/* Take one ob off the queue, for a host that wants to drop it by itself: count 1
   and link NULL, unless code touched it while it waited. The caller owns the
   reference: rrc_decref it. NULL: none. [mutator | no | nothing | O(1)] */
RRC_API rrc_object *rrc_next_dead(rrc_heap *heap);

/* Do pending work: drop the queue's references. At most max objects are dealt
   with, counting those that go because of others; 0 = all. Returns how many.
   0 if called from inside a dealloc or a collection.
   [mutator | no | calls dealloc | O(objects)] */
RRC_API size_t rrc_run_pending(rrc_heap *heap, size_t max);

/* ---- objects ---- */

/* A new object of tp_basicsize (+ n * tp_itemsize) bytes, zeroed but for its
   head, unlinked, with one reference, the caller's. NULL: out of memory; or bad
   arguments, logged. Its memory is freed by rrc_del, by which every tp_dealloc
   and tp_free of such a type must end.
   [any but a collection | allocates | calls realloc | O(bytes)] */
RRC_API rrc_object *rrc_new(rrc_heap *heap, const rrc_type *type);
RRC_API rrc_object *rrc_new_var(rrc_heap *heap, const rrc_type *type, size_t n);

/* Free the memory of an object made by rrc_new or rrc_new_var. (Also of one that
   is laid out as such but was allocated by the realloc hook's allocator, if its
   type's tp_basicsize is 0. All others need a tp_free of their own.) NULL is
   ignored. Refused, and logged, while ob is linked.
   [any | frees only | calls realloc | O(1)] */
RRC_API void rrc_del(rrc_heap *heap, void *ob);

/* ---- insight ---- */

/* Walk all invariants that memory can show. RRC_OK, or the first error's code;
   each is logged. Changes nothing, and is slow. RRC_EPHASE in a collection.
   [mutator | no | calls is_young, slot, log | O(links)] */
RRC_API int rrc_check(rrc_heap *heap);

/* [any | no | nothing | O(1)] Fails with RRC_ENULL, RRC_ECLOSED. */
RRC_API int rrc_get_stats(const rrc_heap *heap, rrc_stats *stats);

/* The version of the implementation (RRC_VERSION is that of this text), and the
   name and message of a code, for any int. [any | no | nothing | O(1)] */
RRC_API const char *rrc_version(void);
RRC_API const char *rrc_error_name(int code);
RRC_API const char *rrc_error_message(int code);

/* ---- what the inline functions need ---- */

RRC_API rrc_heap *rrci_heap_new(const rrc_desc *desc, const char *config);
RRC_API int rrci_check_config(rrc_heap *heap, const char *config);
RRC_API rrc_gcref rrci_to_obj_unlinked(const rrc_heap *heap, rrc_object *ob);
RRC_API void rrci_last_reference(rrc_heap *heap, rrc_object *ob);
RRC_API int rrci_count_is_sound(rrc_heap *heap, rrc_object *ob, const char *function);

#ifdef __cplusplus
}
#endif

/* Everything that units must agree on, as text. */
#define RRCI_TEXT(x) RRCI_TEXT_(x)
#define RRCI_TEXT_(x) #x
#ifdef RRC_DEBUG
#define RRCI_DEBUG 1
#else
#define RRCI_DEBUG 0
#endif
#define RRCI_CONFIG \
    "version " RRC_VERSION ", RRC_DEBUG " RRCI_TEXT(RRCI_DEBUG) \
    ", RRC_REFCNT(ob) " RRCI_TEXT(RRC_REFCNT(ob)) \
    ", RRC_LINK(ob) " RRCI_TEXT(RRC_LINK(ob)) \
    ", RRC_TYPE(ob) " RRCI_TEXT(RRC_TYPE(ob))

RRC_INLINE rrc_heap *rrc_heap_new(const rrc_desc *desc)
{
    return rrci_heap_new(desc, RRCI_CONFIG);
}

RRC_INLINE int rrc_check_config(rrc_heap *heap)
{
    return rrci_check_config(heap, RRCI_CONFIG);
}

RRC_INLINE rrc_gcref rrc_to_obj(rrc_heap *heap, rrc_object *ob)
{
    if (ob != NULL && RRC_REFCNT(ob) >= RRC_REFCNT_FROM_PYPY)
        return RRC_LINK(ob);
    return rrci_to_obj_unlinked(heap, ob);
}

RRC_INLINE void rrc_incref(rrc_heap *heap, rrc_object *ob)
{
#ifdef RRC_DEBUG
    if (!rrci_count_is_sound(heap, ob, "rrc_incref"))
        return;
#endif
    (void)heap;
    RRC_REFCNT(ob)++;
}

RRC_INLINE void rrc_decref(rrc_heap *heap, rrc_object *ob)
{
#ifdef RRC_DEBUG
    if (!rrci_count_is_sound(heap, ob, "rrc_decref"))
        return;
#endif
    if (--RRC_REFCNT(ob) == 0)
        rrci_last_reference(heap, ob);
}

#endif /* RAWREFCOUNT_H */
