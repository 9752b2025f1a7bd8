/* rawrefcount.h - version 2.0.0
 * This C header joins a tracing garbage collector with reference-counted C objects.
 * Proxies are stable, objects are deallocated at the right time, and nothing leaks,
 * not even garbage cycles that run through both heaps.
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
 *     rrc_link(h, p, ob, RRC_O | RRC_GIVE);            // the VM's object p is now ob's proxy and holds ob
 *
 *     vm_mark_roots(vm);                               // the VM's full collection:
 *     rrc_major_collection_trace(h);                   //   keep what C holds
 *     rrc_major_collection_free(h);                    //   unlink what died
 *     vm_sweep(vm);
 *     rrc_run_pending(h, 0);                           // p died: file_dealloc(ob) runs here
 *
 * It does NOT start collections or threads, hold global state, move objects, or
 * allocate during a collection. The license is at the end.
 *
 * The changes of each version are in bindings/STABILITY.md.
 *
 * CONTENTS (search for the tag)
 *     >>caveats       what to know before the first crash
 *     >>concepts      what a link is, the rule of a collection, the queue
 *     >>invariants    I1 to I7
 *     >>protocol      which call goes where in the host's collector
 *     >>names         PyPy's and CPython's names beside ours
 *     >>errors        every code, its cause and its cure
 *     >>config        the configuration macros
 *     >>types         objects, types, the descriptor and its hooks
 *     >>api           the functions
 *     >>implementation  memory, lists, dictionary, >>objects, >>deallocation, links, collections,
 *                     >>outside, >>cycles, >>slices, pending work, heaps, inspection
 *     >>license
 */

/* >>caveats
 * ---------------------------------------------------------------------------
 * - rrc_link adds the bias to the count. rrc_create_link_pypy and rrc_create_link_pyobj leave that to you, as in PyPy.
 * - rrc_from_obj and rrc_to_obj return borrowed references. Take a reference to ob, or root p,
 *   before any code runs that can collect or deallocate.
 * - The host must call rrc_run_pending now and then, to deallocate the queue and cyclic garbage.
 * - Any rrc_decref can run a tp_dealloc, which can call any code. Make your fields consistent first, as RRC_CLEAR does.
 * - The link field belongs to the header. It usually holds p or a marker, but the header also
 *   stores words of its own there. Read it with rrc_to_obj.
 * - The search for cycles sees an object of rrc_gc_new only after rrc_gc_track.
 * - The count of a tracked or linked object may be negative, and a bare ++ or -- of it can lose objects. Take
 *   references by rrc_incref, drop them by rrc_decref, and call rrc_touch before one moves. rrc_refcnt counts them.
 *
 * >>concepts
 * ---------------------------------------------------------------------------
 * There are two heaps in one process:
 *
 *   p    an object of the host VM, which frees it when it is unreachable, and may move it.
 *   ob   an object of a C library, which is freed when its reference count drops to zero.
 *
 * A LINK ties one p to one ob. With either kind of link, ob stays alive as long as p does.
 *
 *   link    made by                      the data is in     while C holds a reference to ob
 *   P link  rrc_link(h, p, ob, RRC_P)    p (ob is its view) p stays alive, with all it reaches
 *   O link  rrc_link(h, p, ob, RRC_O)    ob (p is a proxy)  p may still die; ob can then get a new p
 *
 * In some hosts scripts can add state to a proxy. Such a host says which proxies have state
 * (RRC_HOST_HAS_STATE). C's references to ob keep such a proxy alive, as if it had a P link.
 *
 * rrc_from_obj finds ob by a P link only. The host stores the address of ob in the proxy of an
 * O link. That address is valid as long as the two are linked.
 *
 * While ob is linked, its count includes a BIAS, RRC_REFCNT_FROM_PYPY, so that one comparison tells
 * whether C holds a reference. A LIGHT ob (RRC_LIGHT) has another bias, RRC_REFCNT_FROM_PYPY_LIGHT.
 * It owns no references and needs no tp_dealloc, so that the collection itself frees its memory.
 *
 * PyPy published THE RULE of a collection (pypy/doc/discussion/rawrefcount.rst; Armin Rigo and
 * others). This header implements it exactly:
 *
 *   while marking, for each P link:
 *       count equals neither bias            -> p survives, with all it reaches
 *   after marking, for each link whose p did not survive, even if ob does:
 *       unlink p and ob
 *       count == LIGHT                       -> free ob
 *       count >  LIGHT                       -> count -= LIGHT
 *       otherwise                            -> count -= BIAS; if that leaves 0,
 *                                               count = 1 and ob joins the dealloc queue
 *
 * THE QUEUE owns that one reference. An ob in the queue is a normal object: code may take and
 * drop references to it, or link it again. The host calls rrc_run_pending at a moment that it
 * chooses. That call drops the queue's reference. tp_dealloc runs there, never in the collection.
 *
 * CYCLES. A widget owns a callback, which is a closure of the VM, and the closure refers to the widget. When nothing
 * else refers to the two, they are garbage, but neither heap can detect that alone. Therefore a major collection
 * searches both heaps at once. An object whose type has RRC_TPFLAGS_HAVE_GC takes part after rrc_gc_track: it is
 * TRACKED, and its tp_traverse visits each reference that it owns. Such a reference is EXPLAINED. All other references,
 * such as those of an object that is not tracked, count as held from C ("from outside"). For the garbage,
 * rrc_run_pending calls tp_clear_weakrefs, tp_finalize and tp_clear, in PEP 442 order. Minor collections do not search.
 *
 * The collection moves garbage to a list that owns a reference to each object, and rrc_run_pending clears it later. If
 * C takes a reference to an object before that, the object and all that it reaches in C are no longer garbage: they are
 * not finalized, and keep their weak references. A link that was dissolved stays dissolved. Garbage with a finalizer
 * takes two collections. After the first the finalizer runs; until the second, it and all that it reaches are kept.
 *
 * WHAT GARBAGE OWNS can be kept whole for its slots: a widget's tp_dealloc may call a closure of the VM that the widget
 * owns, although both are garbage. For this the host calls rrc_major_collection_keep. The closure's p, and all that p
 * reaches, live until the next collection. The garbage of C does not wait for that. If the p of a garbage object was
 * kept for another one, the object and its p PART, and then the object is deallocated. Types that have only tp_members
 * have no code that could look, so nothing is kept for them.
 *
 * WRAPPERS. Many C libraries have reference counts of their own (GObject, COM, Qt). An ob that wraps such an object
 * owns one reference to it, and tp_outside says how many others there are. These count as held from outside. But
 * tp_traverse visits those that the foreign objects of other wrappers own. So a cycle is collected even if some of its
 * references are in the foreign library: see >>outside.
 *
 * CLOSED HOSTS have a collector that cannot call this header (Lua, mruby, most JavaScript engines). They use a second
 * header, bindings/closed/rrc_closed.h, a layer above this one. A heap is CLOSED if rrc_closed_new has made it.
 *
 * Counts are in one of FOUR BANDS. One comparison tells a band from the next:
 *
 *   0 ...                            unlinked
 *   RRC_REFCNT_FROM_PYPY ...         linked
 *   RRC_REFCNT_FROM_PYPY_LIGHT ...   linked and light
 *   RRC_REFCNT_IMMORTAL ...          never freed, such as a static type. The count may drift.
 *                                    Such an object gets no bias when it is linked.
 *
 * >>invariants
 * ---------------------------------------------------------------------------
 * I1  The count of a linked ob, without its sign bit, is at least RRC_REFCNT_FROM_PYPY, and its
 *     ob_pypy_link is the current address of its p. (The sign bit means that the header watches
 *     ob: a search goes on, ob waits as garbage, or a layer wants it.) The link of an unlinked ob
 *     is NULL, the marker of rrc_mark_deallocating, or an odd word of the header's own.
 * I2  An ob has at most one link. A p has at most one P link. rrc_from_obj(heap, p) == ob exactly for P links.
 * I3  After a collection no link refers to a p that died, and every link refers to the current address of its p.
 * I4  Inside a collection no user code runs except the host's hooks, observers, tp_traverse, tp_outside and the tp_free
 *     of light obs. tp_dealloc, tp_finalize, tp_clear and tp_clear_weakrefs run only outside a collection: from
 *     rrc_run_pending, rrc_decref, rrc_gc_collect and rrc_heap_free, from rrc_gc_visit_objects for an object that its
 *     callback drops, and for a heap type from rrc_del or rrc_gc_del of its last instance.
 * I5  The collection functions allocate nothing and cannot fail. The call that makes a link or
 *     tracks an object reserves their memory, or returns RRC_ENOMEM and changes nothing.
 * I6  The cost of a minor collection depends on the number of young links, not on that of old ones. Without tracked
 *     objects cycle support costs nothing.
 * I7  No state is global. A process may have any number of heaps, each used by one thread at a time.
 *
 * rrc_check verifies what can be checked at run time: I1, I2, and parts of I3, I5 and I6.
 *
 * >>protocol
 * ---------------------------------------------------------------------------
 *   minor:  the host scans its roots
 *           rrc_minor_collection_trace(h)   -> trace(p) for each young P link held from C
 *           the host finishes copying
 *           rrc_minor_collection_free(h)    -> survivor(p) for each young link; the rest is unlinked
 *   major:  the host marks its roots
 *           rrc_major_collection_trace(h)   -> trace(p) for each P link held from C, then propagate();
 *                                              with tracked objects, survivor(p) too
 *           [the host clears its weak references to what is not marked: the ob of a p that is kept now may go
 *           rrc_major_collection_keep(h)    -> trace(p), propagate() for what garbage owns
 *           the host drops interned strings that are not marked even now]
 *           the host computes the new addresses, if it moves objects
 *           rrc_major_collection_free(h)    -> survivor(p) for each link; the rest is unlinked
 *           the host sweeps or compacts
 *   later, at a safe point of the mutator:
 *           rrc_invoke_callback(h)          -> dealloc_trigger(), if anything is pending
 *           rrc_run_pending(h, n)           -> weakrefs, finalizers, deallocs, clears;
 *                                              parted(p, ob) where p was kept
 *
 * A host without generations has only major collections, and leaves is_young NULL. A major collection covers young
 * links too, and needs no minor one before it. A host may repeat a trace call before its free call, and keeps its marks
 * until then. A host with ephemerons looks at them in propagate. If it can only do so after the trace call, it repeats
 * that call. (Then an object that only the value of an ephemeron reaches can be finalized although it is alive: the
 * first call has marked the value for the finalizer, so that the host sees nothing to do.) survivor returns p itself
 * for a p that is never collected (a prebuilt one), and for a young p that does not move (a large object). No code of
 * the mutator may run between a trace call and its free call, except in slices (below).
 *
 * Some hosts, such as Ruby, cannot finish their marking from inside a hook. They call an extension once while they
 * mark, and then go on marking. If such a host marks in slices and sets `incremental`, the search is divided as well:
 *
 *   major:  [rrc_major_collection_start(h)      as its marking begins; from here on the host reports what it marks
 *           with each slice of its marking: rrc_major_collection_work(h, max)
 *           the host has marked all that it reaches, and its roots once more]
 *           rrc_major_collection_trace_early(h) -> trace(p) only queues p; the search stays open
 *           the host goes on marking; for each linked p of a tracked object that
 *             it marks: rrc_marked(h, p), or rrc_marked_ob(h, ob)   -> trace(p) of what ob reaches
 *           [rrc_major_collection_pause(h)      if the mutator runs before marking is complete:
 *             back to the first line, as often as the host likes]
 *           rrc_major_collection_free(h), or after _start, if no p moves before it: rrc_major_collection_sweep(h, 0)
 *           the host sweeps, and perhaps moves objects now: rrc_links_moved(h)
 *
 * A host whose collector marks and sweeps in slices sets `incremental`, and does this (see >>slices):
 *
 *   major:  rrc_major_collection_start(h)       as its marking begins
 *           with each slice of its marking: rrc_major_collection_work(h, max)
 *                                               -> trace(p) only queues p; rrc_marked(h, p) for each linked
 *                                                  p that it marks. The functions of the mutator call trace, too
 *           the host looks at its roots once more, and marking is complete
 *           rrc_major_collection_trace(h)       -> trace(p), propagate(): little is left to do
 *           the host clears its weak references to what is not marked
 *           rrc_major_collection_work(h, max)   -> trace(p), propagate() for what finalizers need and garbage
 *                                                  owns, with slices of its marking, until less than max is done
 *           the host looks at its roots once more
 *           rrc_major_collection_keep(h)        what is left of that
 *           the host drops interned strings that are not marked even now
 *           rrc_major_collection_sweep(h, max)  -> survivor(p), until less than max is done
 *           the host sweeps; only now may memory of dead p's be used again
 *
 * The mutator and minor collections may run between any two of these calls, except that nothing runs between
 * the last look at the roots and the trace call. A p that is made meanwhile counts as marked. Until
 * rrc_major_collection_keep has returned, marking goes on: the host's write barrier stays on, and the host looks at
 * its roots once more just before that call. (rrc_to_obj of an ob that lives may give a p that is kept for garbage.
 * What the program reads there may not be marked yet.)
 *
 * In a collection with rrc_major_collection_trace_early, an object whose finalizer has not run yet counts as held,
 * because the header learns too late whether it must keep all that the object reaches. Only a collection with
 * rrc_major_collection_trace finds the cycles of such an object.
 *
 * At the end the host calls rrc_heap_free while it still works, and frees its objects afterwards:
 *
 *   end:    mark_from_c(1), trace(p), propagate(), survivor(p), mark_from_c(0), parted(p, ob), deallocs; then again
 *
 * >>names
 * ---------------------------------------------------------------------------
 *   PyPy (rpython.rlib.rawrefcount)            here
 *   init(dealloc_trigger_callback)             rrc_heap_new, hook dealloc_trigger
 *   create_link_pypy, create_link_pyobj        rrc_create_link_pypy, _pyobj; or rrc_link, which adds the bias
 *   from_obj, to_obj, mark_deallocating        rrc_from_obj, rrc_to_obj, rrc_mark_deallocating
 *   next_dead                                  rrc_next_dead, or rrc_run_pending
 *   rrc_invoke_callback,                       the same
 *   rrc_minor_collection_trace, _free, rrc_major_collection_trace, _free
 *   REFCNT_FROM_PYPY, .._LIGHT                 RRC_REFCNT_FROM_PYPY, .._LIGHT
 *
 *   CPython                                    here
 *   Py_INCREF, Py_DECREF, Py_CLEAR, Py_REFCNT  rrc_incref, rrc_decref, RRC_CLEAR, rrc_refcnt
 *   PyObject_New, _NewVar, _Del                rrc_new, rrc_new_var, rrc_del
 *   PyTypeObject and its tp_ slots             rrc_type and the same tp_ slots, except that
 *                                              tp_members lists the fields that own references
 *   PyObject_HEAD_INIT                         RRC_OBJECT_HEAD_INIT
 *   PyObject_GC_New, _NewVar, _Del             rrc_gc_new, rrc_gc_new_var, rrc_gc_del
 *   PyUnstable_Object_GC_NewWithExtraData      rrc_gc_new_with_extra_data
 *   PyObject_GC_Resize, _Track, _UnTrack       rrc_gc_resize, rrc_gc_track, rrc_gc_untrack
 *   PyObject_GC_IsTracked, _IsFinalized        rrc_gc_is_tracked, rrc_gc_is_finalized
 *   PyGC_Collect, _Enable, _Disable, _IsEnabled   rrc_gc_collect, _enable, _disable, _is_enabled
 *   PyUnstable_GC_VisitObjects, Py_VISIT       rrc_gc_visit_objects, RRC_VISIT
 *   Py_TPFLAGS_HAVE_GC, _HEAPTYPE              RRC_TPFLAGS_HAVE_GC, RRC_TPFLAGS_HEAPTYPE
 *   destructor, freefunc, inquiry,             rrc_destructor, rrc_freefunc, rrc_inquiry, rrc_traverseproc,
 *   traverseproc, visitproc                    rrc_visitproc
 *
 * >>errors
 * ---------------------------------------------------------------------------
 * A function that can fail returns RRC_OK (0), or a code of the list RRC_ERRORS below, which has all
 * codes, names and messages. A call that fails has changed nothing. If the caller made a mistake, the
 * log hook gets an item with the function, the type's name and the addresses. With RRC_DEBUG and
 * without a log hook, the header writes the item to stderr. Lack of memory is not a mistake:
 * RRC_ENOMEM is returned but not logged. (rrc_gc_visit_objects returns nothing, and so logs it.)
 *
 * With RRC_DEBUG many functions refuse an object that was freed (RRC_EFREED) or is of another heap (RRC_EHEAP).
 *
 * A collection does not stop for an error. It logs the error, and does the safe thing for that one
 * link, as the item says.
 */

#ifndef RAWREFCOUNT_H
#define RAWREFCOUNT_H

#include <stddef.h>
#include <stdint.h>

#define RRC_VERSION_MAJOR 2
#define RRC_VERSION_MINOR 0
#define RRC_VERSION_PATCH 0
#define RRC_VERSION "2.0.0"

/* This number grows when units that were built with an older header no longer fit: see rrc_check_config. */
#define RRC_ABI 6

/* >>config
 * ---------------------------------------------------------------------------
 * Macro                       Default          Meaning
 *
 * In the implementing unit only:
 *   RAWREFCOUNT_IMPLEMENTATION  off            this unit holds the functions
 *   RAWREFCOUNT_STATIC          off            the functions are static: this unit has a private copy
 *   RRC_HOST_TRACE(heap, p)     desc.trace     These fix a hook at compile time, so that it is not
 *   RRC_HOST_SURVIVOR(heap, p)  desc.survivor  called through a pointer. The field of rrc_desc is then
 *   RRC_HOST_PROPAGATE(heap)    desc.propagate ignored. rrc_userdata(heap) gives the userdata.
 *   RRC_HOST_IS_YOUNG(heap, p)  desc.is_young
 *   RRC_HOST_SLOT(heap, p)      desc.slot
 *   RRC_HOST_DEALLOC_TRIGGER(heap)  desc.dealloc_trigger
 *   RRC_HOST_GUARD(heap, slot, ob)  slot(heap, ob)  calls tp_dealloc, tp_finalize, tp_clear and tp_clear_weakrefs. A
 *                                              host whose errors leave functions by longjmp catches them here. The
 *                                              macro must return, as must every hook and callback, and tp_free.
 *   RRC_HOST_HAS_STATE(heap, p) 0              does p, the proxy of an O link, have state that a new proxy would not
 *                                              have? Then it lives while C holds its ob. The header asks while the
 *                                              host marks, unless the heap is closed, and in rrc_inspect. (A host in
 *                                              slices must then use rrc_major_collection_trace_early)
 *   RRC_HOST_MOVES              1              0: no p ever moves: survivor returns p itself, or NULL
 *   RRC_SET_TYPE(ob, type)      RRC_TYPE(ob) = type    for a layout whose RRC_TYPE is not an lvalue
 *   RRC_OBJECT_PREFIX           0              bytes of an object in front of its address (a multiple of the
 *                                              strictest alignment); rrc_new allocates them
 *   RRC_DEALLOC_DEPTH           50             deallocs that are nested deeper wait for the outermost one
 *   RRC_CHUNK_LINKS             256            links in one block of memory; a power of two, at least 64. A heap
 *                                              takes 6 blocks for its first link, 7 more to track objects
 *   RRC_ASSERT(condition)       assert if RRC_DEBUG, else nothing     internal invariants only
 *   RRC_NO_CYCLES               off            leaves out the search for cycles, and so half of the code: the part
 *                                              "cycles", rrc_major_collection_keep, collections in slices, inspection,
 *                                              and layers. A program that calls one of them does not link. (A unit
 *                                              that defines this macro does not see them.) Types with
 *                                              RRC_TPFLAGS_HAVE_GC or tp_outside are refused
 *   RRC_THREADS                 off            rrc_decref_later, for threads that do not use the heap. It needs C11's
 *                                              atomics, gcc's or clang's, or these macros: the type
 *   RRC_ATOMIC_WORD                            of an atomic uintptr_t; RRC_ATOMIC_LOAD(address),
 *   RRC_ATOMIC_LOAD, _SWAP, _TRY               RRC_ATOMIC_SWAP(address, value), which returns the old value, and
 *                                              RRC_ATOMIC_TRY(address, &old, value), which sets old and returns 0
 *                                              if the word was not old. They acquire and release
 *   RRC_THREAD_MALLOC(size)     malloc, free   memory for rrc_decref_later, in any thread
 *   RRC_THREAD_FREE(memory)
 *   RRC_NO_STDIO                off            no <stdio.h>: items carry no composed text
 *   RRC_NO_STDLIB               off            no C library (kernels, firmware; -ffreestanding). It implies
 *                                              RRC_NO_STDIO and requires desc.realloc. The header calls only
 *                                              memcpy, memset and strcmp. There is no assert: define RRC_ASSERT
 *
 * In every unit alike (rrc_heap_new compares the units; see rrc_check_config):
 *   (All units must have the same RRC_ABI. Versions that share it can be mixed.)
 *   RRC_DEBUG                   off            the expensive checks, poisoned memory. Units that differ do not link
 *   RRC_REFCNT(ob)              ob->ob_refcnt     These adapt the header to an existing object
 *   RRC_LINK(ob)                ob->ob_pypy_link  layout. They are lvalues of type intptr_t, rrc_gcref
 *   RRC_TYPE(ob)                ob->ob_type       and const rrc_type *. ob is a rrc_object *: cast it. */

#if defined(RRC_NO_STDLIB) && !defined(RRC_NO_STDIO)
#define RRC_NO_STDIO
#endif

#if defined(__GNUC__) || defined(__clang__)
#  define RRCI_UNUSED __attribute__((unused))
#else
#  define RRCI_UNUSED
#endif
#define RRC_INLINE static inline RRCI_UNUSED
#ifdef RAWREFCOUNT_STATIC
#  ifndef RAWREFCOUNT_IMPLEMENTATION
#  define RAWREFCOUNT_IMPLEMENTATION
#  endif
#  define RRC_API static RRCI_UNUSED
#else
#  define RRC_API extern
#endif

#if defined(RRC_REFCNT) || defined(RRC_LINK) || defined(RRC_TYPE)
#define RRCI_ADAPTED_LAYOUT
#endif
#ifndef RRC_REFCNT
#define RRC_REFCNT(ob) ((ob)->ob_refcnt)
#endif
#ifndef RRC_LINK
#define RRC_LINK(ob) ((ob)->ob_pypy_link)
#endif
#ifdef RRC_TYPE
#define RRCI_ADAPTED_TYPE
#else
#define RRC_TYPE(ob) ((ob)->ob_type)
#endif

#define RRC_REFCNT_FROM_PYPY       (INTPTR_MAX / 4 + 1)
#define RRC_REFCNT_FROM_PYPY_LIGHT (RRC_REFCNT_FROM_PYPY + (INTPTR_MAX / 2 + 1))
#define RRC_REFCNT_IMMORTAL        (RRC_REFCNT_FROM_PYPY_LIGHT + (INTPTR_MAX / 8 + 1))

/* The count of ob without its sign, which marks watched objects: see >>slices. */
#define RRCI_COUNT(ob) (RRC_REFCNT(ob) & INTPTR_MAX)

/* Each code, with a message that names the mistake and its cure. */
#define RRC_ERRORS(X) \
    X(RRC_OK, "no error") \
    X(RRC_ENOMEM, "out of memory; nothing was changed: free something and call again") \
    X(RRC_ENULL, "an argument is NULL that must not be: look at the caller") \
    X(RRC_EDESC, "the descriptor lacks a hook that every host needs: set trace and survivor") \
    X(RRC_ECONFIG, "this unit and the implementing unit were built with different settings: " \
                   "define the macros of the every-unit group alike in all of them") \
    X(RRC_EKIND, "the kind of a link is RRC_P or RRC_O, to which RRC_LIGHT and RRC_GIVE can be added") \
    X(RRC_ELINKED, "the object has a link already: rrc_unlink it first") \
    X(RRC_EPLINKED, "the host object p has a P link already: use the object that rrc_from_obj gives") \
    X(RRC_EUNLINKED, "the object has no link, so that there is nothing to undo") \
    X(RRC_EPHASE, "this function cannot be called now: see the phase in its comment") \
    X(RRC_ECLOSED, "the heap was freed by rrc_heap_free: only rrc_incref, rrc_decref and what frees objects are left") \
    X(RRC_ETYPE, "the object's type is missing or does not fit this function: " \
                 "check tp_basicsize, tp_itemsize and tp_flags") \
    X(RRC_EREFCNT, "the reference count is wrong: look for a forgotten incref, a second decref, " \
                   "or a link whose maker did not add the bias, or added it twice") \
    X(RRC_EHEAP, "the object belongs to another heap: pass the one that it was made with") \
    X(RRC_ETAGGED, "the address of a host object, or a marker, is odd: pass it without tag bits") \
    X(RRC_ELINK, "the object's link field does not name its p: something wrote over it") \
    X(RRC_EHOOK, "the host's hooks contradict each other: compare them with their comments in rrc_desc") \
    X(RRC_EFREED, "the object was freed already: look for a forgotten incref, or a decref that was one too many") \
    X(RRC_ECORRUPT, "the tables of the heap are damaged: something wrote over memory that is not its own") \
    X(RRC_ELIMIT, "more links or tracked objects than one heap can have: use several heaps") \
    X(RRC_ETRACKED, "the object is tracked: rrc_gc_untrack it first, and track an object only once") \
    X(RRC_ETRAVERSE, "visits and references differ: a tp_traverse must visit each reference that the object owns " \
                     "once, the same ones each time, and change nothing") \
    X(RRC_EUNCOLLECTABLE, "a garbage cycle cannot be broken: give one of its types a tp_clear that drops " \
                          "the references, or tp_members (unless code filled it again meanwhile)") \
    X(RRC_ETOUCH, "a reference left a tracked field without rrc_touch, or was taken without rrc_incref: " \
                  "call the one before it moves, or the other when it is taken") \
    X(RRC_EOUTSIDE, "a tp_outside returned a number below 0: it must subtract only the one reference that the " \
                    "wrapper owns from the count of the foreign object")

/* >>types
 * --------------------------------------------------------------------------- */

#define RRCI_ERROR_CODE(code, message) code,
enum { RRC_ERRORS(RRCI_ERROR_CODE) RRCI_ERROR_END };
#undef RRCI_ERROR_CODE

typedef void *rrc_gcref;                /* p, an object of the host; NULL: none */
typedef struct rrc_heap rrc_heap;       /* one for each heap of a host */
typedef struct rrc_type rrc_type;

/* The head of every ob. Make it the first member of your own struct. */
typedef struct rrc_object {
    intptr_t        ob_refcnt;
    rrc_gcref       ob_pypy_link;
    const rrc_type *ob_type;
} rrc_object;

/* The head of a static object, such as a static type, which is never freed. Its count
   starts in the middle of the immortal band, so that it can drift either way. */
#define RRC_OBJECT_HEAD_INIT(type) \
    { RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16, NULL, (type) }

/* The types of a type's slots, most of them by CPython's names. */
typedef int      (*rrc_visitproc)(rrc_object *ob, void *arg);
typedef int      (*rrc_traverseproc)(rrc_object *self, rrc_visitproc visit, void *arg);
typedef void     (*rrc_destructor)(rrc_heap *heap, rrc_object *self);
typedef void     (*rrc_freefunc)(rrc_heap *heap, void *self);
typedef int      (*rrc_inquiry)(rrc_heap *heap, rrc_object *self);
typedef intptr_t (*rrc_outsideproc)(rrc_heap *heap, rrc_object *self);
typedef size_t   (*rrc_sizeproc)(rrc_heap *heap, rrc_object *self);

/* A field that owns a reference. It holds a rrc_object *, or a pointer to a struct
   that begins with one. A table of members ends with a NULL name. */
typedef struct rrc_member {
    const char *name;
    size_t      offset;
} rrc_member;

/* tp_flags */
#define RRC_TPFLAGS_HAVE_GC  (1ul << 0)     /* objects come from rrc_gc_new and can be tracked; tp_basicsize is not 0 */
#define RRC_TPFLAGS_HEAPTYPE (1ul << 1)     /* the type is itself counted: each instance owns a reference */
#define RRC_TPFLAGS_DROPS_ONLY (1ul << 2)   /* its slots only drop what the object owns, and do not look at it:
                                               rrc_major_collection_keep keeps nothing for them */

/* The type of an object, with CPython's slots under their names. Every field but
   tp_basicsize may be zero. A type must outlive its objects. */
struct rrc_type {
    rrc_object    ob_base;
    const char   *tp_name;
    size_t        tp_basicsize;         /* bytes of an object of rrc_new, with its head. It must be 0 if
                                           the library allocates its objects in its own way, because the
                                           header writes to two words in front of those of rrc_new */
    size_t        tp_itemsize;          /* bytes of each item of rrc_new_var */
    unsigned long tp_flags;             /* RRC_TPFLAGS_... With an adapted layout HEAPTYPE is not allowed,
                                           and types are not visited, as they have the layout above */
    /* The last reference is gone. Drop the references that self owns, release all else that it holds, and end with the
       type's tp_free (rrc_del, rrc_gc_del). On entry self has count 0 and no link, and is not tracked. This slot, and
       what it calls, may take references to self if they are dropped before tp_free is called. (rrc_del does not free
       an object with others, and logs RRC_EREFCNT. To keep self alive, keep a reference, do not call tp_free, and call
       rrc_touch for what self still owns: it can be garbage that waits for its tp_clear.) If the library allocates its
       objects (tp_basicsize 0), the slot makes no new object in the memory of self before it returns. This slot may
       call any function of the mutator. If the host calls rrc_major_collection_keep, the objects that self owns still
       have the p of their P links, with all that p reaches. Otherwise an object that self owns may have lost its p in
       the same collection as self: ask rrc_to_obj before you use p. (In a tp_finalize no p has been lost yet.)
       NULL: the header drops the tp_members and calls tp_free. */
    rrc_destructor tp_dealloc;
    /* Free the memory. NULL: rrc_gc_del with HAVE_GC, else rrc_del. For a light object it is called
       inside a collection, and may then call only the one of these two that it replaces. */
    rrc_freefunc tp_free;
    /* Visit each reference that self owns once, with RRC_VISIT(field). It is called inside collections, at any time
       while self is tracked. It must not change anything or call anything else, and must visit objects of this heap
       only. A reference that it leaves out counts as held from C: a cycle through it leaks, but nothing is lost. To
       visit a reference that self does not own is an error. The header usually reports it (RRC_ETRAVERSE), but it
       cannot if C holds a reference to the same object. Then that object may be cleared while C uses it. An instance of
       a heap type owns a reference to its type, and its tp_traverse visits the type, as in CPython since 3.9.
       NULL: the header visits the tp_members, and the heap type. */
    rrc_traverseproc tp_traverse;
    /* Break the cycles through self: RRC_CLEAR each field. Meanwhile the header holds self, and
       the other garbage that waits, so only rrc_decref may free an object
       here. Leave self in a state that tp_dealloc can handle. The result is ignored.
       NULL: the header clears the tp_members. */
    rrc_inquiry tp_clear;
    /* Runs before self is cleared or deallocated. The count is above 0, and self is intact.
       It may resurrect self by an incref. With HAVE_GC it runs once for each object (PEP 442),
       else each time the count drops to zero, as in CPython. */
    rrc_destructor tp_finalize;
    /* self is cyclic garbage: make every weak reference to it fail from now on. It runs before any finalizer of the
       garbage that C references connect with self. It must not run code of the program, such as the callback of a weak
       reference, take references to garbage, or move them: note what is to be called, and call it in the next
       tp_finalize or tp_clear, or after rrc_run_pending. Between the collection and this call other code may run: the
       program, deallocs, and slots of garbage that C references do not connect with self. So a weak reference can be
       asked for self before it is cleared. If it answers as if it were cleared already, no code gets hold of garbage:
       rrc_inspect says whether an object waits (RRC_IS_WAITING). If it gives self, self is alive again with all that it
       reaches in C, but what it reaches only through the host's objects is not. */
    rrc_destructor tp_clear_weakrefs;
    /* The fields that own references, or NULL. The header uses them where traverse, clear or
       dealloc is NULL, and to name references. */
    const rrc_member *tp_members;
    /* For a wrapper: self owns one reference to a foreign object, whose library has reference counts of its own.
       Return the number of references to the foreign object that are not self's; it is at least 0. They hold self
       from outside, except for those that are visited. The tp_traverse of a wrapper may visit another wrapper, once
       for each reference that its own foreign object has to the other's. Its tp_clear must drop those references, as
       the foreign library cannot break cycles. A foreign object has one wrapper at a time, from the call that gives
       the wrapper its reference to the beginning of the wrapper's tp_dealloc. See >>outside.
       The header calls this slot where it calls tp_traverse, and where it sets garbage aside; for linked objects even
       if they are not tracked. It does so several times in a collection, so the slot should be O(1). It must not
       change anything, or call anything of the header. NULL: self is no wrapper. */
    rrc_outsideproc tp_outside;
    /* Return how many bytes of memory self owns besides its own, such as pixels; without those of other objects.
       rrc_measure and rrc_size_of call this, outside collections, from when self is tracked or linked until its
       tp_dealloc. It must not change anything, allocate, or call anything of the header. NULL: there are none. */
    rrc_sizeproc tp_size;
};

/* One message for the log hook. The strings are valid during the call only, except
   name, function and message, which are constants. */
typedef struct rrc_log_item {
    int         code;                   /* RRC_E... */
    const char *name;                   /* its name: "RRC_EREFCNT" */
    const char *message;                /* its message, from RRC_ERRORS */
    const char *function;               /* who noticed: "rrc_minor_collection_free" */
    const char *detail;                 /* what was found in this case, and what was done about it */
    const char *text;                   /* all of it in one line, for printing */
    rrc_object *ob;                     /* the objects concerned, or NULL; do not change them */
    rrc_gcref   p;
    const char *type_name;              /* ob's tp_name, or "?" */
} rrc_log_item;

/* The hooks by which a heap calls its host. Zero in a field means its default. The struct is copied. userdata is the
   first argument of every hook. A hook may call rrc_marked and the functions tagged `any` below. It may drop the last
   reference to an object only inside a collection. All other calls are refused with RRC_EPHASE, inside a collection by
   every build, elsewhere by a build with RRC_DEBUG. dealloc_trigger and collect are not hooks in this sense: they may
   call whatever the mutator may call, except rrc_heap_free. */
typedef struct rrc_desc {
    void *userdata;

    /* Keep p and all that it reaches. p may be kept already. The trace functions call this at least once for each P
       link that C holds (with tracked objects: whose ob is found alive). The hook may mark at once, or only queue p for
       propagate. In a minor collection it may move p at once. Required. */
    void (*trace)(void *userdata, rrc_gcref p);

    /* Return the address of p after this collection, or NULL if p was not reached (so far). The free functions call
       this once for each link: from the free call on, the answer is final. With tracked objects
       rrc_major_collection_trace calls it too, after propagate. There new addresses need not be known. Required. */
    rrc_gcref (*survivor)(void *userdata, rrc_gcref p);

    /* Finish the marking that trace queued. rrc_major_collection_trace calls this hook after calls of trace. With
       tracked objects it calls the hook first, so that the host marks what its own roots reach, and then after each
       round of trace. (After rrc_minor_collection_trace the host finishes its own copying.)
       NULL: trace marks at once. */
    void (*propagate)(void *userdata);

    /* Is p in the young generation? The header asks when a link is made. The free functions ask with the new address of
       each young survivor: if p is still young, so is the link. Between collections the answer for a linked p must not
       change (but see demotes). A closed heap does not ask. NULL: no generations. */
    int (*is_young)(void *userdata, rrc_gcref p);

    /* Return the address of a field of p that the header owns: "the ob of p's P link". The host sets the field to NULL
       when p is born, and copies it when p moves. With it no dictionary is needed. Never called inside a collection,
       and not at all in a closed heap, where p can be dead before the header learns of it. NULL: no such field. */
    rrc_object **(*slot)(void *userdata, rrc_gcref p);

    /* Something is pending. Only rrc_invoke_callback calls this. It may call
       rrc_run_pending at once, or remember to do so at a safe point. */
    void (*dealloc_trigger)(void *userdata);

    /* Do a full collection of the host, for rrc_gc_collect. NULL: that function
       looks for cycles among C objects alone. */
    void (*collect)(void *userdata);

    /* Not zero: the host calls rrc_marked for each linked p that it marks in a major collection. Cycles are then found
       in linear time, and links cost 10 bytes more where there would be no dictionary. (One p should then not be the
       proxy of very many objects at a time, as the header searches them one by one.) */
    int reports_marks;

    /* When does a major collection search for cycles? 0: always. Else it does if the links and tracked objects that
       were made or have gone since the last search are at least this percentage of those that are there. A program that
       only drops references changes nothing that the header sees. So a collection searches now and then in any case.
       After a search that found no garbage, twice as many collections go by without one as before it, at most 64.
       rrc_gc_collect always searches. 25 is a good value: then a living graph costs little more than links alone. */
    unsigned search_percent;

    /* Not zero: major collections may be divided into slices (rrc_major_collection_start), and the mutator runs
       between them. Then every reference must be taken by rrc_incref and dropped by rrc_decref, and moved after
       rrc_touch. While a collection goes on, the functions of the mutator may call trace. The host should report what
       it marks, by reports_marks or rrc_marked_ob. (Otherwise the trace function asks about all objects in one long
       pass.) If the host does not look at its stack again before rrc_major_collection_trace (a snapshot barrier), it
       marks each p that rrc_to_obj gives the program before that call.
       No rrc_unlink takes long then. Each link costs 10 bytes more where there would be no dictionary. Otherwise an
       rrc_unlink that finds none makes one for all links of its list. A collection that changes many links drops that
       dictionary, unless rrc_unlink has used it since the collection before. */
    int incremental;

    /* Not zero: the mutator can make an old p young again. The link of p stays old until the next major collection,
       which asks is_young for each old link too, and makes links young again. (If there is no memory for that, minor
       collections trace old p's too, and ask is_young for old links. After rrc_major_collection_trace_early and _sweep
       in slices, the next minor collection's trace function asks instead, or rrc_major_collection_start.) */
    int demotes;

    /* All memory comes from here. new_size 0 frees; old_size 0 (with ptr NULL) allocates; NULL reports failure and
       leaves ptr as it is. Memory is aligned as malloc's. The hook must not collect, as objects may not be rooted yet
       when it is called. Inside a collection the header may free, but never allocates. old_size is also 0 when an
       object of tp_basicsize 0 is freed. NULL: the C library's functions. Required with RRC_NO_STDLIB. */
    void *(*realloc)(void *userdata, void *ptr, size_t old_size, size_t new_size);

    /* A mistake was found. Any function may call this, also inside a collection.
       NULL: nothing is written, or with RRC_DEBUG to stderr. */
    void (*log)(void *userdata, const rrc_log_item *item);

    /* p and ob have no link any more, although p is still there, or at least its memory is, before a sweep in slices
       has ended. p must forget ob, which may be deallocated from now on. Either ob is garbage, or the heap ends. Called
       just before the bias is subtracted. rrc_unlink calls this only if rrc_to_obj does not show p, but the collection
       in slices that goes on may keep p. Then rrc_link calls it, too, which replaces the link. NULL: no proxy is used
       after its ob is gone. */
    void (*parted)(void *userdata, rrc_gcref p, rrc_object *ob);

    /* The heap ends, and rrc_heap_free has to know which objects own others through the host. If on, forget all marks.
       Calls of trace, propagate and survivor follow, as for rrc_major_collection_trace, but nothing is marked except
       what trace is given and what that reaches: no root, and nothing that is never collected. survivor returns p if
       it is marked, else NULL. (Report what is marked, as in a collection.) If not on, forget all marks again. No
       object of the host moves or is freed in between. This is called outside collections, with on and off in turn. A
       host with a nursery can make a minor collection first. NULL: what only the host's objects own may go first. */
    void (*mark_from_c)(void *userdata, int on);

    /* Objects hold `change` bytes more elsewhere, or fewer: see rrc_native_bytes, rrc_measure. It may be called inside
       a collection, not after rrc_heap_free. A host notes it, and collects sooner. NULL: only rrc_stats has the sum. */
    void (*native_bytes)(void *userdata, ptrdiff_t change);
} rrc_desc;

/* Numbers about a heap. */
typedef struct rrc_stats {
    size_t p_young, p_old, o_young, o_old;      /* links, by kind and generation */
    size_t pending;                             /* objects that wait, and 1 more for references of rrc_decref_later */
    size_t tracked;                             /* objects of rrc_gc_track */
    size_t uncollectable;                       /* of these, garbage that could not be cleared */
    size_t objects;                             /* made by rrc_new or rrc_gc_new, not freed yet */
    size_t object_bytes;                        /* the memory of these, with their heads */
    size_t pending_bytes;                       /* the part of these bytes that waits for rrc_run_pending */
    size_t native_bytes;                        /* the sum of what rrc_native_bytes and rrc_measure reported */
    size_t finalizable;                         /* tracked objects whose tp_finalize was not called yet */
    size_t garbage;                             /* tracked objects that searches found to be garbage, and freed */
    size_t minor_collections, major_collections;    /* finished since rrc_heap_new */
    size_t searches;                            /* of the major ones, those that searched for cycles */
    size_t memory;                              /* bytes of the heap, its tables and rrc_realloc, without objects */
} rrc_stats;

/* >>api
 * ---------------------------------------------------------------------------
 * The functions are in four parts: core, generations, cycles, inspection. A first port
 * needs eighteen of them, with RRC_CLEAR and RRC_VISIT:
 *
 *   the VM      rrc_heap_new, rrc_heap_free, rrc_major_collection_trace, rrc_major_collection_free,
 *               rrc_run_pending, and for cycles rrc_marked_ob
 *   the glue    rrc_link, rrc_unlink, rrc_from_obj, rrc_to_obj
 *   C code      rrc_new, rrc_del, rrc_incref, rrc_decref, and for cycles rrc_gc_new, rrc_gc_track,
 *               rrc_gc_del
 *   tests       rrc_check
 *
 * Each comment has a tag line: [phase | allocates? | calls | cost].
 *   mutator     outside a collection: not between a trace call and its free
 *               call, not from a hook
 *   any         any time, from the thread that uses the heap
 *   any thread  any time, from all threads
 *   unchecked   in other phases nothing is refused or changed, but the result is meaningless
 * "Calls dealloc" means that tp_finalize, tp_dealloc and tp_free are called, and so any code. */

#ifdef __cplusplus
extern "C" {
#endif

/* ==== core ==== */

/* ---- heap ---- */

/* Make a heap. Returns NULL if memory is lacking, if desc lacks a required hook (RRC_EDESC, logged) or if this unit's
   settings are not the implementing unit's (RRC_ECONFIG, logged). desc is copied.
   [any | allocates | calls no hook but realloc and log | O(1)] */
RRC_INLINE rrc_heap *rrc_heap_new(const rrc_desc *desc);

/* End a heap. The program still runs: finalizers and deallocs are called, every p is still there, and all functions of
   the mutator and of collections work. But no root of the host counts any more, so every object that C does not hold
   goes, owners before what they own. First pending work is done. Then, with the hook mark_from_c, the host's graph is
   marked from what C holds, again and again. Each time those objects go that nobody owns, neither in C nor through the
   host, and if there are none, cyclic garbage. (At most as many objects and links are marked for this as eight times
   all, and 2^20.) For what is left, such as what C holds with all that it reaches, links do not hold their objects any
   more: the obs of O links go, then those of P links, then cyclic garbage. In the end the links of what C holds are
   dissolved. The hook `parted` is called for each link before that, and the slot of p is set to NULL. (A collection in
   slices that has passed its trace call is finished first: what it has found dead loses its links without `parted`.)
   Finalizers and deallocs can make more garbage and links; such a link parts when nobody owns its object. The work goes
   on until nothing is left to do, or 10000 rounds have not reduced the number of objects (fewer rounds if there are
   many objects: those rounds search as many as are marked above). A closed heap first roots the p's of its P links, and
   an O link keeps no p: see rrc_closed.h.
   Returns how many of the obs that were linked or in the queue C still holds. They end unlinked with their true count.
   (Not counted: static objects, uncollectable garbage, and objects without a link whose dealloc a limit of
   rrc_run_pending put off. If the rounds were too many, what still waits is never deallocated.)
   A part of the heap lives on until the last object of rrc_new and rrc_gc_new is freed. Until then rrc_incref and
   rrc_decref stay legal, and so do the functions that a late tp_dealloc ends with: rrc_gc_untrack, rrc_del, rrc_gc_del.
   All others do nothing, and are refused with RRC_ECLOSED, unless their tag line says something else. The heap then
   calls no hook but realloc and log, and userdata must be valid as long as these and late deallocs need it.
   Inside a collection, a dealloc, a hook or a callback the call is refused: it is logged, returns SIZE_MAX, and changes
   nothing. NULL is ignored (returns 0).
   [mutator until rrc_heap_free | frees only | calls mark_from_c, trace, propagate, survivor, parted, slot,
   tp_traverse, tp_outside, tp_clear_weakrefs, tp_clear, dealloc; in a closed heap those of rrc_closed.h |
   O(links + tracked objects + references) for each marking, and for each round that finalizers ask for] */
RRC_API size_t rrc_heap_free(rrc_heap *heap);

/* The userdata of the descriptor. [any | no | nothing | O(1)] */
RRC_API void *rrc_userdata(const rrc_heap *heap);

/* Is this unit built like the implementing unit? rrc_heap_new checks its caller's unit. Call this
   once from each other unit. Returns RRC_OK, RRC_ECONFIG or RRC_ENULL.
   [any | no | calls log | O(1)] */
RRC_INLINE int rrc_check_config(rrc_heap *heap);

/* ---- links ---- */

/* The kind of a link is RRC_P or RRC_O, to which the other two can be added. */
enum {
    RRC_P = 1,                  /* p has the data, ob is its view: C's references to ob keep p alive */
    RRC_O = 2,                  /* ob has the data, p is its proxy */
    RRC_LIGHT = 4,              /* ob owns no references, and its memory can just be freed */
    RRC_GIVE = 8                /* the caller's reference to ob goes to p */
};

/* Link p and ob. From now on ob lives as long as p. The bias is added to ob's count, unless ob is immortal. With
   RRC_GIVE the caller's reference goes to p, so that p alone holds an object that rrc_new has just made. If the call
   fails, nothing has changed, and the reference is still the caller's. p must be even, because the header stores words
   of its own in link fields and knows them by bit 0. A host with tagged pointers passes them without their tags. Fails
   with RRC_ENULL, RRC_EKIND, RRC_ETAGGED (p is odd), RRC_ELINKED (ob), RRC_EPLINKED (p, P link only), RRC_EREFCNT
   (RRC_GIVE, but there is no reference to give), RRC_ETYPE (RRC_TPFLAGS_HAVE_GC with tp_basicsize 0), RRC_EPHASE (also
   in a closed heap: see rrc_cell_link), RRC_ECLOSED, RRC_ELIMIT, RRC_ENOMEM.
   [mutator | allocates | calls is_young, slot; in a collection in slices perhaps survivor, trace, parted; for garbage
   tp_traverse, parted | O(1) amortized; for garbage as rrc_incref] */
RRC_API int rrc_link(rrc_heap *heap, rrc_gcref p, rrc_object *ob, int kind);

/* PyPy's own functions. The first makes a P link, the second an O link. The caller adds the bias, RRC_REFCNT_FROM_PYPY
   (or .._LIGHT), before the call or just after it, with no collection in between. Add the bias - 1 to give the caller's
   reference to p. An immortal ob gets no bias. [as rrc_link] */
RRC_API int rrc_create_link_pypy(rrc_heap *heap, rrc_gcref p, rrc_object *ob);
RRC_API int rrc_create_link_pyobj(rrc_heap *heap, rrc_gcref p, rrc_object *ob);

/* Return the ob of p's P link. NULL: p is NULL or has no P link, the ob is garbage that waits although the host has
   kept p, or a collection is going on (a build with RRC_DEBUG logs that). The reference is borrowed.
   [mutator, else NULL | no | calls slot | O(1)] */
RRC_API rrc_object *rrc_from_obj(rrc_heap *heap, rrc_gcref p);

/* Return the p of ob's link, P or O; or the marker of rrc_mark_deallocating; or NULL. Like any reference that is not
   rooted, p is valid until the next collection. A closed heap returns NULL if it is known that p is dead.
   [mutator and its hooks, unchecked | no | nothing; closed heap: perhaps `pin`; in slices perhaps survivor | O(1)] */
RRC_INLINE rrc_gcref rrc_to_obj(rrc_heap *heap, rrc_object *ob);

/* For a tp_dealloc: make rrc_to_obj(ob) return marker, so that code which still finds ob can recognize it. The marker
   is a p of your own that is never linked. NULL takes the marker back. The call is logged and ignored if ob is linked,
   if ob waits for its dealloc, or if marker is odd (RRC_ETAGGED). After rrc_heap_free the call is ignored. Use the same
   marker for all objects: if ob has an older one, the call searches all links.
   [mutator, ignored after rrc_heap_free | no | calls log | O(1), O(links) if ob has an older marker] */
RRC_API void rrc_mark_deallocating(rrc_heap *heap, rrc_gcref marker, rrc_object *ob);

/* Dissolve ob's link as if p had died: the bias is subtracted, and if nothing else holds
   ob, ob joins the queue (a light one is freed at once). To deallocate ob at once, incref it, unlink
   it, and decref it. Fails with RRC_ENULL, RRC_EUNLINKED, RRC_EPHASE, RRC_ECLOSED.
   [mutator | may allocate, does not fail for it | calls slot, tp_free, in a closed heap those of rrc_closed.h; in a
   collection in slices perhaps survivor and parted | O(1); in an open heap O(links) for the first O link (with slot:
   for the first P link, too), unless the descriptor says incremental] */
RRC_API int rrc_unlink(rrc_heap *heap, rrc_object *ob);

/* ---- counts ---- */

/* Take a reference. [any | no | nothing; in a collection in slices perhaps trace; in a closed heap perhaps `pin`;
   tp_traverse if ob is garbage, or if what stands for ob has died | O(1); in these cases O(what it reaches in C)] */
RRC_INLINE void rrc_incref(rrc_heap *heap, rrc_object *ob);

/* Drop a reference. After the last one, tp_finalize is called with the count held at 1, and then tp_dealloc, unless
   code has taken a reference meanwhile. Deallocs nested deeper than RRC_DEALLOC_DEPTH wait until the outermost one
   returns. Inside a collection or rrc_closed_step they wait for rrc_run_pending.
   [any | no | calls dealloc; for garbage perhaps parted, slot; in slices perhaps trace, tp_traverse | O(dealloc)] */
RRC_INLINE void rrc_decref(rrc_heap *heap, rrc_object *ob);

/* Return the number of references that C has to ob: its count without the bias and the sign bit.
   For a static object it is some large number. [any | no | nothing | O(1)] */
RRC_INLINE intptr_t rrc_refcnt(rrc_object *ob);

/* Set a field that owns a reference to NULL, and then drop the reference. So code that runs in the
   dealloc does not find the object in the field. `field` is evaluated twice. */
#define RRC_CLEAR(heap, field) \
    do { \
        rrc_object *rrci_old = RRCI_OBJECT(field); \
        if (rrci_old != NULL) { \
            (field) = NULL; \
            rrc_decref((heap), rrci_old); \
        } \
    } while (0)

/* ---- objects ---- */

/* Make an object of tp_basicsize (+ n * tp_itemsize) bytes. All bytes after its head are 0. It has
   no link, and one reference, which is the caller's. (The object does not record n.)
   Returns NULL if memory is lacking, or if an argument is wrong, which is logged. rrc_del frees the
   memory: every tp_dealloc and tp_free of such a type must end with it.
   [mutator | allocates | calls realloc | O(bytes)] */
RRC_API rrc_object *rrc_new(rrc_heap *heap, const rrc_type *type);
RRC_API rrc_object *rrc_new_var(rrc_heap *heap, const rrc_type *type, size_t n);

/* Free the memory of an object made by rrc_new or rrc_new_var. (An object whose tp_basicsize is 0 must come from the
   allocator of the realloc hook, or its type needs a tp_free of its own.) NULL is ignored. The call is refused, and
   logged, while ob is linked, while others refer to it, and, in a hook of a collection, while it is tracked.
   [any | frees only | calls realloc; dealloc of a heap type | O(1)] */
RRC_API void rrc_del(rrc_heap *heap, void *ob);

/* ---- major collections: see >>protocol ----
   The functions of collections return RRC_OK, RRC_ENULL, RRC_EPHASE or RRC_ECLOSED. They allocate
   nothing. None may be called from inside another one (RRC_EPHASE). */

/* Keep the p of each P link that C holds; with tracked objects, search for garbage over both heaps.
   After rrc_major_collection_start this is called once, and not repeated.
   [host's major collection, roots marked; may be repeated | no | calls trace,
   propagate, survivor, tp_traverse, tp_outside | O(P links), with tracked objects O(links +
   objects + references); see >>cycles for hosts without reports_marks] */
RRC_API int rrc_major_collection_trace(rrc_heap *heap);

/* Let each link follow its p, or dissolve it; set garbage aside.
   [same major collection, marking done, new addresses known, nothing freed or moved yet | frees only | calls survivor,
   is_young, tp_traverse, tp_outside, tp_free of light obs | O(links + tracked objects)] */
RRC_API int rrc_major_collection_free(rrc_heap *heap);

#ifndef RRC_NO_CYCLES
/* Keep what garbage owns, so that its slots can use it. This call is optional, between the two calls above. The host
   has finished its marking, and cleared its own weak references to all that is not marked. This marks each p that is
   reached from what tracked garbage owns, for types with a tp_dealloc, tp_clear, tp_clear_weakrefs or tp_finalize.
   (RRC_TPFLAGS_DROPS_ONLY says that these do not look at it.) The garbage remains garbage: an object that only its link
   holds is deallocated before what it owns is cleared, if C takes nothing out of the garbage that waits. A p that was
   kept dies in the next collection. Until then rrc_from_obj does not return its ob if ob is garbage, and the hook
   `parted` is called when their link is dissolved. (If ob lives, rrc_to_obj returns such a p. What a program reaches
   from there can be proxies that lose their objects.) The call has no effect if the collection does not search for
   cycles. After rrc_major_collection_trace_early it is refused with RRC_EPHASE. Only the free call can follow.
   [same major collection, marking done | no | calls trace, propagate, survivor, tp_traverse |
   as rrc_major_collection_trace] */
RRC_API int rrc_major_collection_keep(rrc_heap *heap);

/* ---- major collections in slices, for heaps with `incremental`: see >>protocol and >>slices ---- */

/* Begin a major collection, as the host begins its marking. From now on, until rrc_major_collection_keep or _sweep,
   the header calls trace for each p that the host has to mark. It does so between slices, too, when the mutator gets
   hold of an object, or untracks it. The host reports what it marks (rrc_marked). This call is optional: without it,
   rrc_major_collection_trace does everything at once. It has no effect in rrc_heap_free. RRC_EDESC: no `incremental`.
   [host's major collection begins | no | with `demotes` perhaps is_young | O(1); O(links) if the collection before it
   has left the demotion to this one] */
RRC_API int rrc_major_collection_start(rrc_heap *heap);

/* Do a slice of the work that can be done now: about max units, or all if max is 0. A unit is an object, a reference or
   a link. (The tp_traverse of one object is not divided.) Returns the units done: less than max means that nothing is
   left for now. Before rrc_major_collection_trace the work is the search for garbage, and then to follow what the host
   reports. After that call, it is the work of rrc_major_collection_keep. Outside these phases this returns 0.
   [mutator, in a major collection in slices, else 0 | frees only | calls trace, tp_traverse, tp_outside; after the
   trace call also propagate and survivor, when all that finalizers need has been traced, and when all that garbage
   owns has been; then survivor for young links, and tp_free of light obs | O(max); then O(young links)] */
RRC_API size_t rrc_major_collection_work(rrc_heap *heap, size_t max);

/* Do a slice of what rrc_major_collection_free does: let each link follow its p, or dissolve it. Call this after
   rrc_major_collection_keep until it returns less than max; 0 means all. Until then the memory of a p that died must
   not be used for another one, and survivor must answer for all p's. p's must not move in this collection: a host that
   moves them calls rrc_major_collection_free instead. (If rrc_major_collection_start did not begin the marking, or it
   was paused, this does all that rrc_major_collection_free does.) After rrc_major_collection_trace_early it does
   everything in one call, and returns 0. If proxies can have state, the trace call has noted the links whose p was not
   marked then, and survivor is asked again only about these. `demotes` is left to the next collection.
   [mutator, after rrc_major_collection_keep, else 0 | frees only | calls survivor, tp_outside, tp_free of light obs,
   with `demotes` is_young | O(max); with `demotes` O(links) in the last call] */
RRC_API size_t rrc_major_collection_sweep(rrc_heap *heap, size_t max);
#endif

/* ---- pending work ---- */

/* Call dealloc_trigger if work is pending. [mutator, ignored in rrc_heap_free | no | calls dealloc_trigger | O(1)] */
RRC_API void rrc_invoke_callback(rrc_heap *heap);

/* Take one ob off the queue, for a host that chooses the moment to drop it. The ob has count 1 and link NULL, unless
   code used it while it waited. The caller owns the reference, and must rrc_decref it. NULL: the queue is empty.
   (Cyclic garbage is not in the queue. It needs rrc_run_pending.) [mutator | no | nothing | O(1)] */
RRC_API rrc_object *rrc_next_dead(rrc_heap *heap);

/* Do pending work. First drop the references of rrc_decref_later (with a limit, half of it goes to these, and what is
   left of it in the end), then the queue's. Then clear the weak references of all cyclic garbage, run its finalizers,
   and clear it. What C gets hold of before that is garbage no more: see >>concepts. An object whose own slot is running
   may take references to itself, if it drops them again. (If its tp_finalize keeps one, and drops none of the others,
   what it reaches in C is garbage no more, either. If its tp_clear keeps one, only the object itself is saved.)
   At most max units are spent; 0 means no limit. An object is a unit, also if another one frees it, and so is each
   reference of rrc_decref_later. Garbage takes a unit more for each call of tp_clear_weakrefs, tp_finalize and
   tp_clear.
   Returns the units that were spent. Less than max means that nothing is left that can be done now. (While a collection
   in slices sweeps, garbage is left alone.) Inside a dealloc, a collection, a step, rrc_heap_free or itself it does
   nothing and returns 0. So a host whose deallocs can run a collection must look for pending work again after them.
   [mutator, ignored in a step and in rrc_heap_free | no | calls tp_clear_weakrefs, tp_finalize, tp_clear, dealloc;
   for what rrc_major_collection_keep kept, parted and slot; for garbage tp_outside, tp_traverse |
   O(objects + their references); with wrappers O(garbage + its references)] */
RRC_API size_t rrc_run_pending(rrc_heap *heap, size_t max);

/* This function exists if the implementing unit has RRC_THREADS. */
#if defined(RRC_THREADS) || !defined(RAWREFCOUNT_STATIC)

/* Drop a reference, from any thread, at any time: for the destructors of libraries that have threads of their own. The
   heap's thread drops it in its next rrc_run_pending, or in rrc_heap_free; rrc_invoke_callback knows that something is
   pending. No thread waits for another one. The order is not that of the calls. Fails with RRC_ENOMEM, RRC_ENULL,
   RRC_ECLOSED (rrc_heap_free is done). Then the reference is still the caller's, ob was not touched, and nothing is
   logged. (The heap must still exist. It does until the last object of rrc_new is freed.)
   [any thread, else RRC_ECLOSED | RRC_THREAD_MALLOC | nothing | O(1)] */
RRC_API int rrc_decref_later(rrc_heap *heap, rrc_object *ob);

#endif

/* ==== generations, and hosts that move objects ==== */

/* Keep the p of each young P link that C holds.
   [host's minor collection, roots scanned; may be repeated | no | calls trace, with demotes is_young |
   O(young P links); see demotes] */
RRC_API int rrc_minor_collection_trace(rrc_heap *heap);

/* Let each young link follow its p, or dissolve it.
   [same minor collection, copying done, nothing freed yet | frees only | calls
   survivor, is_young, tp_free of light obs | O(young links)] */
RRC_API int rrc_minor_collection_free(rrc_heap *heap);

/* Let every link follow its p, for a host that moves objects outside a collection, or after its free
   call. survivor returns the current address of p. (In a closed heap the call is refused with
   RRC_EPHASE, like all functions of collections.)
   [mutator is stopped, old addresses can still be told | frees only | calls
   survivor, is_young; tp_free of light obs where survivor says NULL | O(links)] */
RRC_API int rrc_links_moved(rrc_heap *heap);

#ifndef RRC_NO_CYCLES
/* ==== cycles ==== */

/* ---- hosts that report what they mark, or go on marking after the trace function ---- */

/* For a host with reports_marks: report that a major collection has just marked p. The collection is going on, or
   the host is about to call rrc_major_collection_trace. Call this once for every linked p, also from inside trace and
   propagate. If the collection moves objects, p is still the old address. A p without a link is ignored. If a
   collection does not search (search_percent), it ignores all reports.
   [host's major collection and its hooks, else ignored | no | nothing; after _trace_early also trace,
   tp_traverse | O(1); then also O(what becomes alive by it)] */
RRC_API void rrc_marked(rrc_heap *heap, rrc_gcref p);

/* The same, for a host whose proxies refer to their ob. It needs no dictionary and no reports_marks. [as rrc_marked] */
RRC_API void rrc_marked_ob(rrc_heap *heap, rrc_object *ob);

/* Like rrc_major_collection_trace, for a host that cannot finish its marking now. Here trace may only queue p, and
   propagate does nothing. Until the free call, the host must report each linked p of a tracked object once when it
   marks it. The header then traces all that the ob of p reaches. (If the free call finds a p that was marked but not
   reported, it logs RRC_EHOOK, and collects no cycle.) This call asks tp_outside for its numbers, and so no foreign
   code may take a reference from now until the free call.
   After rrc_major_collection_start this finishes what slices have left of the search. The host must have reported what
   it marked since; only debug builds look for a missing report. If proxies can have state (RRC_HOST_HAS_STATE), each p
   that is to be kept and is not marked is traced again, so that a host may ignore trace while the mutator runs. The
   free call follows, or rrc_major_collection_sweep.
   [host's major collection; may be repeated | no | calls trace, propagate,
   survivor, tp_traverse | as rrc_major_collection_trace] */
RRC_API int rrc_major_collection_trace_early(rrc_heap *heap);

/* The host interrupts its marking, and the mutator is about to run. The header forgets this collection: call a trace
   function again before the free call. (In the host all that was traced stays marked. If it reports its marks, it need
   not report these again: the header asks survivor.) Nothing happens if no major collection is going on.
   [host's major collection, marking interrupted | no | nothing | O(links + tracked objects)] */
RRC_API int rrc_major_collection_pause(rrc_heap *heap);

/* ---- CPython's protocol for C types with RRC_TPFLAGS_HAVE_GC ---- */

/* For use in a tp_traverse, whose arguments must be named visit and arg. */
#define RRC_VISIT(o) \
    do { \
        if ((o) != NULL) { \
            int rrci_result = visit(RRCI_OBJECT(o), arg); \
            if (rrci_result != 0) \
                return rrci_result; \
        } \
    } while (0)

/* Like rrc_new and rrc_new_var, for a type with RRC_TPFLAGS_HAVE_GC. The object is not tracked yet.
   with_extra_data adds `extra` bytes at its end, which are 0. [as rrc_new] */
RRC_API rrc_object *rrc_gc_new(rrc_heap *heap, const rrc_type *type);
RRC_API rrc_object *rrc_gc_new_var(rrc_heap *heap, const rrc_type *type, size_t n);
RRC_API rrc_object *rrc_gc_new_with_extra_data(rrc_heap *heap, const rrc_type *type, size_t extra);

/* Give an object of rrc_gc_new_var room for n items. New items are 0. The caller must hold the only reference, as the
   address may change. Returns the object, or on failure NULL, and then ob is intact. The call fails if memory is
   lacking. It also fails, and is logged, if ob is tracked or linked, if others refer to it, if its type has no
   tp_itemsize, if its tp_dealloc, tp_finalize or tp_clear_weakrefs is running, or if rrc_closed_step is going on.
   [mutator | allocates | calls realloc | O(bytes)] */
RRC_API rrc_object *rrc_gc_resize(rrc_heap *heap, rrc_object *ob, size_t n);

/* Untrack an object of rrc_gc_new, and free its memory. [as rrc_del] */
RRC_API void rrc_gc_del(rrc_heap *heap, void *ob);

/* Let the search for cycles see ob. Its fields must be valid from now on. Fails with RRC_ENULL, RRC_ETYPE,
   RRC_ETRACKED, RRC_EPHASE, RRC_ECLOSED, RRC_ELIMIT, RRC_ENOMEM.
   [mutator | allocates | nothing | O(1) amortized] */
RRC_API int rrc_gc_track(rrc_heap *heap, rrc_object *ob);

/* Hide ob from the search again, before its fields become invalid. It may be tracked again later. An
   object that is not tracked is ignored. In a hook the call is refused, and logged.
   [any but a hook | no | nothing; in a collection in slices perhaps calls trace, tp_traverse; for garbage
   tp_traverse | O(1); there O(references of ob); for garbage as rrc_incref] */
RRC_API void rrc_gc_untrack(rrc_heap *heap, rrc_object *ob);

/* Is ob tracked? Has its tp_finalize been called? Has a collection found it to be garbage again, after its tp_clear was
   called? (It is tried again.) Returns 0 for an object without RRC_TPFLAGS_HAVE_GC.
   [any | no | nothing | O(1)] */
RRC_API int rrc_gc_is_tracked(rrc_heap *heap, rrc_object *ob);
RRC_API int rrc_gc_is_finalized(rrc_heap *heap, rrc_object *ob);
RRC_API int rrc_gc_is_uncollectable(rrc_heap *heap, rrc_object *ob);

/* Say that the tp_finalize of this object of rrc_gc_new has nothing to do (finalized 1), or has something to do
   again (0). With 1 the object is treated as if its tp_finalize had been called: it is not called, and garbage with
   the object goes in one collection instead of two. For types with a tp_finalize that few of their objects need.
   Fails with RRC_ENULL, RRC_ETYPE, RRC_EPHASE, RRC_ECLOSED.
   [mutator | no | nothing | O(1)] */
RRC_API int rrc_gc_set_finalized(rrc_heap *heap, rrc_object *ob, int finalized);

/* Collect cycles now. First call `collect`, the host's full collection. Without that hook, search among C objects
   alone, and take every linked object as held. Then do all pending work. If finalizers ran, repeat this once, for the
   objects that they released. In a closed heap a step comes before `collect`, and another one after it. As long as
   pending work has freed tracked objects, a further step looks for what only they owned (at most 10 times), and a step
   that was open is given up. What garbage leaves is searched for once more, to tell whether it is uncollectable.
   Returns how many tracked objects were found unreachable and freed, or are uncollectable. Returns 0 at once if the
   search is disabled, or if a collection, a dealloc, a walk, a step, pending work or rrc_heap_free is going on. If a
   collection in slices is going on, `collect` finishes it. Without `collect` only the host can finish it: while it
   marks, this returns 0, as PyGC_Collect does in a collection; while it sweeps, this only does pending work.
   [mutator, ignored in a step, in slices of marking without collect, and in rrc_heap_free |
   allocates if closed, else no | calls collect, dealloc; if closed also what a step calls | O(all)] */
RRC_API size_t rrc_gc_collect(rrc_heap *heap);

/* Turn the search for cycles on and off, in major collections and in rrc_gc_collect. It is on in a new
   heap. Links are treated alike in both cases. If it is off in one of the trace calls of a collection, that collection
   finds no garbage. enable and disable return 1 if it was on before, else 0.
   [any | no | nothing | O(1)] */
RRC_API int rrc_gc_enable(rrc_heap *heap);
RRC_API int rrc_gc_disable(rrc_heap *heap);
RRC_API int rrc_gc_is_enabled(rrc_heap *heap);

/* Call callback(ob, arg) for each tracked object, until it returns 0. ob is held during the call. The
   callback may make, track, untrack and free objects. Objects that are tracked during the walk, and garbage that C gets
   hold of meanwhile, may be left out. The search for cycles is off during the walk. In the middle of a major collection
   in slices a walk needs memory; if there is none, no object is visited.
   [mutator | allocates | calls callback, dealloc, realloc | O(tracked objects)] */
RRC_API void rrc_gc_visit_objects(rrc_heap *heap, int (*callback)(rrc_object *ob, void *arg), void *arg);

/* Call this before a reference to ob moves from a field of a tracked object to another field, or to a variable, without
   an rrc_incref. In a tp_dealloc, self counts as tracked if it was. (A reference that is dropped does not need it, nor
   one that moves within one object.) Without this call, a closed heap, or one with `incremental`, can lose an object.
   Other heaps need it only in a slot of garbage, when a reference moves to what is not garbage. [as rrc_incref] */
RRC_INLINE void rrc_touch(rrc_heap *heap, rrc_object *ob);

#endif /* RRC_NO_CYCLES */

/* ==== checks and inspection ==== */

/* Check all invariants that can be checked at run time. Returns RRC_OK, or the code of the first error.
   Logs each error. It changes nothing, and is slow. RRC_EPHASE in a collection.
   [mutator | no | calls is_young, slot, tp_traverse, log, tp_outside; if closed also survivor |
   O(links, tracked objects and their references)] */
RRC_API int rrc_check(rrc_heap *heap);

/* Report that the memory that objects hold elsewhere, such as pixels, has grown by `change` bytes, or has
   shrunk if change is negative. The header adds this up for rrc_stats, and tells the host. So a host
   can collect when the memory of C has grown (see "Pacing" in bindings/PORTING_MORE.md).
   [any | no | calls native_bytes | O(1)] */
RRC_API void rrc_native_bytes(rrc_heap *heap, ptrdiff_t change);

/* Ask tp_size how much ob holds elsewhere, and report how it differs from the last answer for ob. When ob is freed, the
   last answer is taken back. Bindings call this when ob gets a proxy, and libraries when ob has grown or shrunk.
   Objects without tp_size, and those that rrc_new did not make, are ignored. (With tp_size they take 16 bytes more.)
   [mutator and its hooks, unchecked | no | calls tp_size, native_bytes | O(1)] */
RRC_API void rrc_measure(rrc_heap *heap, rrc_object *ob);

/* Return the bytes of an object that rrc_new made, else its tp_basicsize; and what its tp_size says.
   [mutator and its hooks, unchecked | no | calls tp_size | O(1)] */
RRC_API size_t rrc_size_of(rrc_heap *heap, rrc_object *ob);

/* Fill in stats. Fails with RRC_ENULL, RRC_ECLOSED. [any until rrc_heap_free is done | no | nothing | O(1)] */
RRC_API int rrc_get_stats(const rrc_heap *heap, rrc_stats *stats);

/* ---- inspection: what a viewer needs that shows a heap, such as bindings/insight/rrc_insight.h ---- */

#ifndef RRC_NO_CYCLES
/* Begin an inspection. `function` is the name of the viewer's function, a constant: errors are logged under it. Until
   rrc_inspect_end nothing may change. Of the header's functions only those of this part may be called, and those
   tagged `any` that do not change an object. A build with RRC_DEBUG refuses others.
   Fails with RRC_EPHASE (also if an inspection is open already), RRC_ECLOSED.
   [mutator | no | nothing | O(1)] */
RRC_API int rrc_inspect_begin(rrc_heap *heap, const char *function);

/* End it. Fails with RRC_EPHASE if no inspection is open; so do the next three functions.
   [mutator, in an inspection | no | nothing | O(1)] */
RRC_API int rrc_inspect_end(rrc_heap *heap);

/* Which objects rrc_inspect_each visits. */
enum {
    RRC_EACH_TRACKED = 1,       /* tracked objects, and after them garbage that waits for rrc_run_pending */
    RRC_EACH_LINKED = 2,        /* objects with a link, once for each link */
    RRC_EACH_QUEUED = 3         /* objects that wait for their dealloc. The queue owns a reference to each */
};

/* Call visit(ob, arg) for each object of one kind, until it returns a value that is not 0. visit may call the other
   functions of an inspection. Fails also with RRC_ENULL, RRC_EKIND.
   [mutator, in an inspection | no | calls visit | O(objects)] */
RRC_API int rrc_inspect_each(rrc_heap *heap, int kind, rrc_visitproc visit, void *arg);

/* Call visit(arg, to, name) for each reference that ob owns, if it is tracked. The name is that of the member of
   tp_members which holds the reference, "tp_type" for the one to a heap type, or NULL.
   [mutator, in an inspection | no | calls tp_traverse, visit | O(references of ob)] */
typedef void (*rrc_referenceproc)(void *arg, rrc_object *to, const char *name);
RRC_API int rrc_inspect_references(rrc_heap *heap, rrc_object *ob, rrc_referenceproc visit, void *arg);

/* What is known of an object. */
enum {
    RRC_IS_P_LINKED = 1 << 0, RRC_IS_O_LINKED = 1 << 1, RRC_IS_LIGHT = 1 << 2, RRC_IS_STATIC = 1 << 3,
    RRC_IS_TRACKED = 1 << 4,        /* also if it waits */
    RRC_IS_WAITING = 1 << 5,        /* a collection set it aside for rrc_run_pending */
    RRC_IS_UNCOLLECTABLE = 1 << 6,
    RRC_IS_FINALIZED = 1 << 7,      /* its tp_finalize was called */
    RRC_IS_WRAPPER = 1 << 8,        /* it has tp_outside */
    RRC_IS_WEAK = 1 << 9,           /* in a closed heap: only the host's graph keeps it */
    RRC_IS_HELD_BY_P = 1 << 10,     /* it lives for as long as its p */
    RRC_HOLDS_P = 1 << 11           /* its p lives for as long as it does */
};
typedef struct rrc_info {
    unsigned  is;               /* RRC_IS_... */
    rrc_gcref p;                /* of its link, or NULL */
    intptr_t  references;       /* to it, without the bias, and without that of the list of waiting garbage. (That of
                                   the queue counts.) Those that no rrc_inspect_references shows are held from C.
                                   For a static object it is some large number */
    intptr_t  outside;          /* references to its foreign object, as tp_outside says */
    size_t    size;             /* see rrc_size_of */
} rrc_info;

/* Fill in info. Fails also with RRC_ENULL, and with RRC_DEBUG RRC_EFREED.
   [mutator, in an inspection | no | calls slot, tp_outside, tp_size |
   O(1); O(links) if the maker of its link forgot the bias] */
RRC_API int rrc_inspect(rrc_heap *heap, rrc_object *ob, rrc_info *info);
#endif

/* Hears when an address stops to be that of an object. Make it the first member of a struct of your own. */
typedef struct rrc_observer rrc_observer;
typedef void (*rrc_goneproc)(rrc_observer *self, rrc_heap *heap, rrc_object *ob);
struct rrc_observer {
    rrc_goneproc  gone;
    rrc_observer *next;         /* the heap's */
};

/* Call observer->gone for each object whose dealloc begins, which is freed, or which rrc_gc_resize has moved: what is
   at its address later is another object. (It may be called twice for one object, also in collections. It must not
   call the header or look at ob.) At the end of the heap it is called with NULL, and then forgotten: in that call it
   may free memory by rrc_realloc. `on` 0 takes the observer off again. Fails with RRC_ENULL, RRC_ECLOSED.
   [any until rrc_heap_free is done | no | nothing | O(observers)] */
RRC_API int rrc_observe(rrc_heap *heap, rrc_observer *observer, int on);

/* The observer that has this function, or NULL. [any | no | nothing | O(observers)] */
RRC_API rrc_observer *rrc_find_observer(rrc_heap *heap, rrc_goneproc gone);

/* Memory of the heap's allocator, for what is built on the header: see the hook `realloc`. rrc_stats counts it. memory
   NULL: new memory; new_size 0: free it. Returns NULL if memory is lacking, and then the old memory is as it was.
   [any but a collection, hooks too | allocates | calls realloc | O(bytes)] */
RRC_API void *rrc_realloc(rrc_heap *heap, void *memory, size_t old_size, size_t new_size);

/* Report a mistake of the caller of `function`, which is built on the header, as the header itself does: see >>errors.
   ob and p may be NULL, detail not. Returns code. [any | no | calls log | O(1)] */
RRC_API int rrc_log(rrc_heap *heap, int code, const char *function, rrc_object *ob, rrc_gcref p, const char *detail);

/* Return the version of the implementation (RRC_VERSION is that of this file), and the
   name and message of a code, for any int. [any | no | nothing | O(1)] */
RRC_API const char *rrc_version(void);
RRC_API const char *rrc_error_name(int code);
RRC_API const char *rrc_error_message(int code);

/* ---- what the inline functions need ---- */

RRC_API rrc_heap *rrci_heap_new(const rrc_desc *desc, const char *config);
RRC_API int rrci_check_config(rrc_heap *heap, const char *config);
/* The part of a heap that rrc_to_obj reads. */
typedef struct rrci_heap_head {
    size_t sweeping;            /* p's of links may have died, and their memory is still there */
} rrci_heap_head;

/* A linker that lacks one of these names has found units with RRC_DEBUG and units without it. */
#ifdef RRC_DEBUG
#define rrci_no_reference   rrci_no_reference_if_all_units_define_RRC_DEBUG
#define rrci_strengthen     rrci_strengthen_if_all_units_define_RRC_DEBUG
#define rrci_count_is_sound rrci_count_is_sound_if_all_units_define_RRC_DEBUG
#else
#define rrci_no_reference   rrci_no_reference_if_no_unit_defines_RRC_DEBUG
#define rrci_strengthen     rrci_strengthen_if_no_unit_defines_RRC_DEBUG
#endif

RRC_API rrc_gcref rrci_to_obj_otherwise(rrc_heap *heap, rrc_object *ob);
RRC_API void rrci_no_reference(rrc_heap *heap, rrc_object *ob);
RRC_API void rrci_strengthen(rrc_heap *heap, rrc_object *ob);
#ifdef RRC_DEBUG
RRC_API int rrci_count_is_sound(rrc_heap *heap, rrc_object *ob, const char *function);
#endif

#ifdef __cplusplus
}
#endif

/* The casts of this part. With those of C++ a unit that only includes the header is clean under -Wold-style-cast.
   RRCI_OBJECT takes a rrc_object *, or a pointer to a struct that begins with one. */
#ifdef __cplusplus
#define RRCI_CAST(type, value) static_cast<type>(value)
#define RRCI_OBJECT(o) rrci_object(o)
RRC_INLINE rrc_object *rrci_object(const rrc_object *ob) { return const_cast<rrc_object *>(ob); }
RRC_INLINE rrc_object *rrci_object(const void *ob) { return static_cast<rrc_object *>(const_cast<void *>(ob)); }
#else
#define RRCI_CAST(type, value) ((type)(value))
#define RRCI_OBJECT(o) ((rrc_object *)(o))
#endif

/* The settings that units must agree on, as text. */
#define RRCI_TEXT(x) RRCI_TEXT_(x)
#define RRCI_TEXT_(x) #x
#ifdef RRC_DEBUG
#define RRCI_CHECKS 1
#else
#define RRCI_CHECKS 0
#endif
#define RRCI_CONFIG \
    "RRC_ABI " RRCI_TEXT(RRC_ABI) ", RRC_DEBUG " RRCI_TEXT(RRCI_CHECKS) \
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

RRC_INLINE intptr_t rrc_refcnt(rrc_object *ob)
{
    intptr_t count = RRCI_COUNT(ob);
    return count >= RRC_REFCNT_FROM_PYPY_LIGHT ? count - RRC_REFCNT_FROM_PYPY_LIGHT
         : count >= RRC_REFCNT_FROM_PYPY ? count - RRC_REFCNT_FROM_PYPY : count;
}

RRC_INLINE rrc_gcref rrc_to_obj(rrc_heap *heap, rrc_object *ob)
{
    if (ob != NULL && RRC_REFCNT(ob) >= RRC_REFCNT_FROM_PYPY
        && RRCI_CAST(const rrci_heap_head *, RRCI_CAST(const void *, heap))->sweeping == 0)
        return RRC_LINK(ob);
    return rrci_to_obj_otherwise(heap, ob);
}

RRC_INLINE void rrc_incref(rrc_heap *heap, rrc_object *ob)
{
#ifdef RRC_DEBUG
    if (!rrci_count_is_sound(heap, ob, "rrc_incref"))
        return;
#endif
    /* (It is unsigned, as the count of a static object may overflow on small machines.) */
    RRC_REFCNT(ob) = RRCI_CAST(intptr_t, RRCI_CAST(uintptr_t, RRC_REFCNT(ob)) + 1);
    if (RRC_REFCNT(ob) < 0)
        rrci_strengthen(heap, ob);
}

/* Is a count, watched or not, 0 without its bias? This is a cheap test with false positives.
   rrci_no_reference checks exactly. */
#if INTPTR_MAX > 0x7fffffff
#define RRCI_MAY_BE_BIAS(count) (RRCI_CAST(uint32_t, count) == 0)
#else
#define RRCI_MAY_BE_BIAS(count) (((count) & (INTPTR_MAX / 8)) == 0)
#endif

RRC_INLINE void rrc_decref(rrc_heap *heap, rrc_object *ob)
{
#ifdef RRC_DEBUG
    if (!rrci_count_is_sound(heap, ob, "rrc_decref"))
        return;
#endif
    --RRC_REFCNT(ob);
    if (RRCI_MAY_BE_BIAS(RRC_REFCNT(ob)))
        rrci_no_reference(heap, ob);
}

RRC_INLINE void rrc_touch(rrc_heap *heap, rrc_object *ob)
{
    if (RRC_REFCNT(ob) < 0)
        rrci_strengthen(heap, ob);
}

#endif /* RAWREFCOUNT_H */

/* >>implementation
 * ===========================================================================
 * A function stands below those that it calls, but for a few that are declared ahead.
 *
 * A collection spends its time on memory accesses, and the data is laid out for that. A link is a
 * record of two words, {p, ob}, in one of four dense lists: P or O, young or old.
 *
 *   pass               reads                        writes, for links that change only
 *   minor/major trace  records in order, ob's head  -
 *   minor/major free   records in order, p's head   record, ob's head, dictionary entry
 *
 * Only the two heads are accessed at random, and both are prefetched some records ahead. A link
 * that does not change costs just these reads.
 *
 * Records live in chunks of fixed size, which the lists and the queue take from one pool. A list never moves its
 * records when it grows, so that there is no pause for copying. A dictionary grows in steps. All that a collection can
 * need is a number of chunks and the room in dictionaries, which are reserved beforehand. */

#if defined(RAWREFCOUNT_IMPLEMENTATION) && !defined(RRCI_IMPLEMENTED)
#define RRCI_IMPLEMENTED

#ifdef RRC_NO_STDLIB
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int strcmp(const char *a, const char *b);
#ifdef __cplusplus
}
#endif
#else
#include <stdlib.h>
#include <string.h>
#endif
#if defined(__SSE2__) && !defined(RRC_NO_STDLIB)      /* gcc's header includes <stdlib.h> */
#define RRCI_SSE2
#include <emmintrin.h>
#endif
#ifndef RRC_NO_STDIO
#include <stdio.h>
#endif

/* ---- configuration of the implementing unit ---- */

#ifdef RRC_HOST_TRACE
#define RRCI_TRACE_IS_FIXED 1
#else
#define RRCI_TRACE_IS_FIXED 0
#define RRC_HOST_TRACE(heap, p) ((heap)->desc.trace((heap)->desc.userdata, (p)))
#endif

#ifdef RRC_HOST_SURVIVOR
#define RRCI_SURVIVOR_IS_FIXED 1
#else
#define RRCI_SURVIVOR_IS_FIXED 0
#define RRC_HOST_SURVIVOR(heap, p) ((heap)->desc.survivor((heap)->p_userdata, (p)))
#endif

#ifndef RRC_HOST_PROPAGATE
#define RRC_HOST_PROPAGATE(heap) \
    ((heap)->desc.propagate != NULL ? (heap)->desc.propagate((heap)->desc.userdata) : (void)0)
#endif

#ifdef RRC_HOST_IS_YOUNG
#define RRCI_YOUNG_IS_FIXED 1
#define RRCI_HAS_GENERATIONS(heap) 1
#else
#define RRCI_YOUNG_IS_FIXED 0
#define RRCI_HAS_GENERATIONS(heap) ((heap)->desc.is_young != NULL)
#define RRC_HOST_IS_YOUNG(heap, p) ((heap)->desc.is_young((heap)->desc.userdata, (p)))
#endif

#ifdef RRC_HOST_SLOT
#define RRCI_SLOT_IS_FIXED 1
#define RRCI_HAS_SLOT(heap) 1
#else
#define RRCI_SLOT_IS_FIXED 0
#define RRCI_HAS_SLOT(heap) ((heap)->desc.slot != NULL)
#define RRC_HOST_SLOT(heap, p) ((heap)->desc.slot((heap)->desc.userdata, (p)))
#endif

#ifdef RRC_HOST_DEALLOC_TRIGGER
#define RRCI_HAS_TRIGGER(heap) 1
#else
#define RRCI_HAS_TRIGGER(heap) ((heap)->desc.dealloc_trigger != NULL)
#define RRC_HOST_DEALLOC_TRIGGER(heap) ((heap)->desc.dealloc_trigger((heap)->desc.userdata))
#endif

#ifndef RRC_HOST_GUARD
#define RRC_HOST_GUARD(heap, slot, ob) slot((heap), (ob))
#endif

#ifdef RRC_THREADS
#ifndef RRC_ATOMIC_WORD
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
#define RRC_ATOMIC_WORD _Atomic(uintptr_t)
#define RRC_ATOMIC_LOAD(address) atomic_load_explicit((address), memory_order_acquire)
#define RRC_ATOMIC_SWAP(address, value) atomic_exchange_explicit((address), (value), memory_order_acq_rel)
#define RRC_ATOMIC_TRY(address, old, value) \
    atomic_compare_exchange_weak_explicit((address), (old), (value), memory_order_acq_rel, memory_order_acquire)
#elif defined(__GNUC__) || defined(__clang__)
#define RRC_ATOMIC_WORD uintptr_t
#define RRC_ATOMIC_LOAD(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#define RRC_ATOMIC_SWAP(address, value) __atomic_exchange_n((address), (value), __ATOMIC_ACQ_REL)
#define RRC_ATOMIC_TRY(address, old, value) \
    __atomic_compare_exchange_n((address), (old), (value), 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#else
#error "rawrefcount.h: RRC_THREADS needs the atomics of C11 or gcc, or RRC_ATOMIC_WORD, _LOAD, _SWAP and _TRY"
#endif
#endif
#ifndef RRC_THREAD_MALLOC
#ifdef RRC_NO_STDLIB
#error "rawrefcount.h: RRC_THREADS with RRC_NO_STDLIB needs RRC_THREAD_MALLOC and RRC_THREAD_FREE"
#endif
#define RRC_THREAD_MALLOC(size) malloc(size)
#define RRC_THREAD_FREE(memory) free(memory)
#endif
#endif
#ifdef RRC_HOST_HAS_STATE
#define RRCI_PROXIES_HAVE_STATE 1
#else
#define RRCI_PROXIES_HAVE_STATE 0
#define RRC_HOST_HAS_STATE(heap, p) ((void)(heap), (void)(p), 0)
#endif
#ifndef RRC_HOST_MOVES
#define RRC_HOST_MOVES 1
#endif
#ifndef RRC_SET_TYPE
#define RRC_SET_TYPE(ob, type) (RRC_TYPE(ob) = (type))
#endif
#ifndef RRC_OBJECT_PREFIX
#define RRC_OBJECT_PREFIX 0
#endif
#ifndef RRC_DEALLOC_DEPTH
#define RRC_DEALLOC_DEPTH 50
#endif
#ifndef RRC_CHUNK_LINKS
#define RRC_CHUNK_LINKS 256
#endif
#if (RRC_CHUNK_LINKS & (RRC_CHUNK_LINKS - 1)) != 0 || RRC_CHUNK_LINKS < 64
#error "rawrefcount.h: RRC_CHUNK_LINKS must be a power of two, at least 64"
#endif
#if RRC_DEALLOC_DEPTH < 1
#error "rawrefcount.h: RRC_DEALLOC_DEPTH must be at least 1"
#endif

#ifndef RRC_ASSERT
#if defined(RRC_DEBUG) && !defined(RRC_NO_STDLIB)
#include <assert.h>
#define RRC_ASSERT(condition) assert(condition)
#else
#define RRC_ASSERT(condition) ((void)0)
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RRCI_PREFETCH(address) __builtin_prefetch((address), 0)
#define RRCI_PREFETCH_TO_WRITE(address) __builtin_prefetch((address), 1)
#define RRCI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#ifdef __OPTIMIZE_SIZE__
#define RRCI_ALWAYS_INLINE static inline
#else
#define RRCI_ALWAYS_INLINE static inline __attribute__((always_inline))
#endif
#define RRCI_NOINLINE __attribute__((noinline))
#define RRCI_COLD __attribute__((noinline, cold))
#else
#define RRCI_PREFETCH(address) ((void)(address))
#define RRCI_PREFETCH_TO_WRITE(address) ((void)(address))
#define RRCI_UNLIKELY(condition) (condition)
#define RRCI_ALWAYS_INLINE static inline
#define RRCI_NOINLINE
#define RRCI_COLD
#endif

/* Prefetch the two heads of an object, or these and its first fields. Both may lie in two cache lines. (These are
   macros because gcc drops calls of functions that only prefetch. They take a hole, too: see rrci_hole.) */
#define RRCI_PREFETCH_HEADS(ob) \
    do { \
        RRCI_PREFETCH_TO_WRITE((const char *)((uintptr_t)(ob) - sizeof(rrci_gc_head))); \
        RRCI_PREFETCH_TO_WRITE((const char *)((uintptr_t)(ob) + sizeof(rrc_object) - 1)); \
    } while (0)
#define RRCI_PREFETCH_FIELDS(ob) \
    do { \
        RRCI_PREFETCH_TO_WRITE((const char *)((uintptr_t)(ob) - sizeof(rrci_gc_head))); \
        RRCI_PREFETCH((const char *)((uintptr_t)(ob) - sizeof(rrci_gc_head) + 63)); \
    } while (0)

/* A pass walks a list by segments, so that its inner loop has plain pointers: to the current segment, and to the next
   two, whose objects it prefetches. That is far ahead, but one cache miss takes as long as the work on a hundred
   records. RRCI_AHEAD is the number of operations kept in flight where there is no list to look ahead in, RRCI_STRIPES
   that of queues for gray objects: see rrci_push_gray. */
#define RRCI_SEGMENT ((size_t)64)
#define RRCI_AHEAD ((size_t)64)
#define RRCI_STRIPES ((size_t)64)

/* ---- data ----
   The comment of each structure says which memory the operations on it touch. The unit is a cache line of 64 bytes;
   pointers have 8 bytes. Loads are dependent if each needs the result of the one before. */

/* Four records are in a line. A pass over a list reads them in order. For each it reads the line of ob or p; these
   addresses come from the record, so that one pass has many such loads at a time (see RRCI_SEGMENT). From ob to p
   is one load, of ob's head. From p to ob is one load with a slot, of p's line. */
typedef struct rrci_link {
    rrc_gcref   p;
    rrc_object *ob;
} rrci_link;

#define RRCI_CHUNK_OBS ((size_t)2 * RRC_CHUNK_LINKS)
#define RRCI_CHUNK_QUEUED (RRCI_CHUNK_OBS - 1)

/* 64 lines, if chunks have the usual size. A line has 4 records or 8 objects. A record is two dependent loads away from
   its index: that of the chunk in the list's directory (8 bytes for 256 records, so mostly cached), and its own. */
typedef union rrci_chunk {
    union rrci_chunk *next;                     /* in the pool */
    rrci_link link[RRC_CHUNK_LINKS];            /* in a list of links */
    rrc_object *ob[RRCI_CHUNK_OBS];             /* in a list of objects */
    struct {
        union rrci_chunk *next;
        rrc_object *ob[RRCI_CHUNK_QUEUED];
    } queue;                                    /* in the queue */
} rrci_chunk;

/* An array of words of four bytes, in pages, so that no call has to allocate, clear or free a block whose size depends
   on the number of links, but for the directory (16 bytes for a page of 2 KB). */
typedef struct rrci_page {
    void     *memory;           /* holds the words, aligned to cache lines */
    uint32_t *word;
} rrci_page;

typedef struct rrci_pages {
    rrci_page *page;
    size_t     count, room;     /* pages, and those that the directory can have */
} rrci_pages;

/* Maps p to the index of its record in the list. To find one takes four dependent loads: the page of its group, the
   line of the group, the chunk of the record, and the line of the record. The second and the fourth are not in the
   cache if there are many links. A few records in a hundred are not in the group itself, and take two more. To insert
   touches the line of the group; to remove or renumber, too. A new link is looked for first (the same line). One in
   RRCI_LOAD also moves the records of a group: it reads two lines of groups, and RRCI_LOAD lines of records. */
typedef struct rrci_dict {
    rrci_pages groups;          /* 16 words each: see rrci_home */
    rrci_pages next;            /* of each record, if it is not in its group itself: the next one of these, plus 1 */
    size_t     homes;           /* groups in use */
    size_t     half;            /* the greatest power of 2 that is not above homes */
    size_t     spare;           /* there are pages for so many more links, also when they are promoted; off: 0 */
    char       on;              /* kept up to date? (If not, its contents mean nothing.) */
    char       optional;        /* made when it is needed, and dropped when it is not */
    char       asked;           /* optional: it has been used since the last sweep of its list */
} rrci_dict;

/* An array in chunks, which can grow. Its last chunk is partly filled. An empty list has no
   chunk. A list holds links, or objects in the lists of the cycle search (see >>cycles). */
typedef struct rrci_list {
    rrci_chunk **chunk;         /* the directory */
    size_t       count;
    rrci_dict    dict;
} rrci_list;

/* The four lists: bit 0 says O rather than P, bit 1 young rather than old. */
enum { RRCI_P_OLD, RRCI_O_OLD, RRCI_P_YOUNG, RRCI_O_YOUNG, RRCI_LISTS };
enum { RRCI_O = 1, RRCI_YOUNG = 2 };

/* The lists of the cycle search. A tracked object is in exactly one of them. Its GC head says in which. Garbage that
   waits, and what its finalizers may see, is in one of the last five, which own a reference to each of their objects:
   see rrci_do_garbage. */
typedef enum rrci_gc_kind {
    RRCI_UNTRACKED,             /* (in a GC head: in none of the lists) */
    RRCI_TRACKED,               /* those that do not wait */
    RRCI_WEAKREFS, RRCI_FINALIZE, RRCI_SAVED, RRCI_OWNERS, RRCI_CLEAR,
    RRCI_GC_LISTS
} rrci_gc_kind;

/* The directories of some lists. They are parts of one block, so that all of them grow or none does. */
typedef struct rrci_directory {
    rrci_chunk **block;
    size_t       capacity;      /* of each list, in chunks */
} rrci_directory;

/* First in, first out: objects are deallocated in the order in which they died. A line has 8 objects. Adding one writes
   its head, taking one out reads its two heads: one line or two, prefetched RRCI_AHEAD objects before. */
typedef struct rrci_queue {
    rrci_chunk *head, *tail;
    size_t      head_index, tail_index;     /* next to take, next to fill */
    size_t      count;
} rrci_queue;

#ifdef RRC_THREADS
/* A reference that another thread drops. */
typedef struct rrci_letter {
    struct rrci_letter *next;
    rrc_object *ob;
} rrci_letter;
#define RRCI_MAIL_IS_CLOSED ((uintptr_t)1)
#endif

/* The state of a heap, and the invariant that holds in each. Between two calls from the host it is
   heap->rest, or one of RRCI_COPYING, RRCI_MARKING, RRCI_OPEN and RRCI_KEPT. heap->rest is the state in which
   the mutator runs: one of the first four, or RRCI_ENDING.

   RRCI_MUTATOR    I1 to I3 hold. Each link is in the list of its kind and generation. No scratch word is
                   in use, but objects that rrc_marked has reported have their color (heap->machine.alive is their
                   number). Garbage that waits or was cleared may have a link, which does not hold it: p was kept for
                   other garbage. If its count is its bare bias, it is parted from p, and waits in the queue.
   RRCI_STARTED    A major collection in slices is marking: see rrci_stage.
   RRCI_SWEEPING   The verdict of a major collection in slices is final: see rrci_stage.
   RRCI_LAYER_RESTS  The layer has begun a search, and the mutator runs between its slices. No garbage is cleared.
   RRCI_LAYER_RUNS   The layer works. The same holds as in heap->rest, as it can call code of the mutator; but nothing
                   is freed. Deallocs wait until it has ended.
   RRCI_ENDING     rrc_heap_free runs. The same holds as in RRCI_MUTATOR, but when heap->waiting.orders is not set any
                   more, no link holds its object: one whose count is its bare bias is parted from p, and waits in the
                   queue. An object that has left the queue has RRCI_LEFT_QUEUE in its link field, as long as it lives
                   and has no link.
   RRCI_MINOR      A function of a minor collection is running. Only this function changes links.
   RRCI_COPYING    The trace call of a minor collection has traced the p of each young P link that C holds.
                   No code of the mutator runs until the free call.
   RRCI_MAJOR      The header runs a function of a major collection, searches among C objects alone, or looks
                   at waiting garbage.
   RRCI_MARKING    The trace call of a major collection has traced all that C holds, and colored what the
                   search found alive.
   RRCI_OPEN       The same after rrc_major_collection_trace_early. rrc_marked goes on with the search. If
                   heap->rest is RRCI_STARTED, what slices have found is complete, but for reports.
   RRCI_KEPT       rrc_major_collection_keep has also traced what garbage owns, and colored what that reaches.
                   Only the free call can follow.
   RRCI_HUSK       rrc_heap_free is done. Only objects that C still holds are left, and no tables. */
typedef enum rrci_state {
    RRCI_MUTATOR, RRCI_STARTED, RRCI_SWEEPING, RRCI_LAYER_RESTS, RRCI_LAYER_RUNS, RRCI_ENDING,
    RRCI_MINOR, RRCI_COPYING,
    RRCI_MAJOR, RRCI_MARKING, RRCI_OPEN, RRCI_KEPT,
    RRCI_HUSK, RRCI_STATES
} rrci_state;

/* The stages of a major collection, in their order, and what holds in each. heap->machine.cursor is the place in the
   list that the stage passes: see rrci_single.

   RRCI_IDLE         No collection is going on.
   RRCI_RESET        The search was given up. Objects from the cursor on are white, and have no scratch word.
   RRCI_EXPLAIN      Tracked objects before the cursor have visited. In slices they are watched or alive.
   RRCI_ROOTS        The same holds for all objects tracked at the start. Links from the cursor on, of this list
                     and the former ones, have been looked at: p was traced, or ob is watched, or the scan decides.
   RRCI_SCAN         Tracked objects before the cursor are black, gray, or white, explained and watched.
   RRCI_DRAIN        The same holds for all. Gray objects are left, or the host has to go on.
   RRCI_VERDICT      Nothing is gray. What is white is garbage.
   RRCI_FINALIZABLE  Of the garbage before the cursor, what has a finalizer still to run is kept.
   RRCI_OWNED        The same holds for all garbage. What garbage before the cursor owns is colored RRCI_GC_OWNED.
   RRCI_ASIDE        The same holds for all garbage. From the cursor on, garbage waits.
   RRCI_RELINK       All garbage waits. Links from the cursor on, of this list and the former ones, are
                     dissolved if p died.
   RRCI_LAYER        The layer does work of its own, and searches for nothing. */
typedef enum rrci_stage {
    RRCI_IDLE, RRCI_RESET, RRCI_EXPLAIN, RRCI_ROOTS, RRCI_SCAN, RRCI_DRAIN, RRCI_VERDICT,
    RRCI_FINALIZABLE, RRCI_OWNED, RRCI_ASIDE, RRCI_RELINK, RRCI_LAYER
} rrci_stage;

/* For rrci_machine.host_reports. */
enum { RRCI_REPORTS = 1, RRCI_REPORTS_LOST = 2 };

/* Does a major collection search for cycles? */
enum { RRCI_UNDECIDED, RRCI_SEARCH, RRCI_NO_SEARCH };

/* At the end of a heap, before links let go: what does a marking look for? See rrci_order. */
enum { RRCI_NO_ORDER, RRCI_BY_OWNERS, RRCI_BY_CYCLES };

/* Groups of functions: a state allows some of them. See rrci_gate. */
enum {
    RRCI_MUTATES     = 1,       /* the functions of the mutator */
    RRCI_ENDS        = 2,       /* those that make no sense while the heap ends, and rrc_heap_free itself */
    RRCI_MINOR_TRACE = 4, RRCI_MINOR_FREE = 8,
    RRCI_MAJOR_TRACE = 16, RRCI_MAJOR_FREE = 32, RRCI_MAJOR_PAUSE = 64, RRCI_MAJOR_KEEP = 128,
    RRCI_MAJOR_START = 256, RRCI_MAJOR_WORK = 512, RRCI_MAJOR_SWEEP = 1024
};

/* Gray objects: see rrci_push_gray. */
typedef struct rrci_gray {
    size_t in, out;                 /* numbers of gray objects queued, and taken out */
    uintptr_t first[RRCI_STRIPES], last[RRCI_STRIPES];
} rrci_gray;

#define RRCI_BLAMED 4

/* A call of the tp_dealloc, tp_finalize, tp_clear_weakrefs or tp_clear of an object, which may not be moved meanwhile.
   If code of the slot takes and drops a reference to it, that was not the last one. */
typedef struct rrci_slot_call {
    const rrc_object *ob;
    int   is_reached;           /* C has got hold of what refers to ob, which waits and is not watched now */
    struct rrci_slot_call *outer;
    uintptr_t bits;             /* those of the outer ones: see rrci_slot_bit */
} rrci_slot_call;

/* A layer above the core, for hosts that need more: bindings/closed/rrc_closed.h is one. A heap has at most one. It is
   told what happens to objects, and answers some questions. An object that the header watches in a heap with a layer,
   and that does not wait as garbage, is watched for the layer, and for as long as it likes. */
typedef enum rrci_news {
    RRCI_NEWS_HELD,             /* C or the header has got hold of a watched object: the layer ends its watch */
    RRCI_NEWS_LET_GO,           /* C has dropped its last reference to it, and a link holds it */
    RRCI_NEWS_WEIGHED,          /* the search has seen it first, and it is not watched: the layer begins its watch */
    RRCI_NEWS_PARTING,          /* a P link is about to be dissolved, and p is there */
    RRCI_NEWS_UNLINKED,         /* the layer can take a reference that RRCI_NEWS_KEEP_NO_MORE takes back */
    RRCI_NEWS_UNTRACKING,       /* it is about to be untracked */
    RRCI_NEWS_ASIDE,            /* it is garbage, or kept for it, and is about to wait */
    RRCI_NEWS_RETURNED,         /* it waits no more */
    RRCI_NEWS_KEEP,             /* the header holds this unlinked wrapper, because others refer to its foreign object */
    RRCI_NEWS_KEEP_NO_MORE,
    RRCI_NEWS_LEFT,             /* its tp_dealloc has ended, and it is still there */
    RRCI_NEWS_FREED             /* its memory is about to be freed, and the first uint32_t of the layer's is not 0 */
} rrci_news;

struct rrci_checker;

typedef struct rrci_layer {
    size_t bytes;               /* those of the layer in front of each object of rrc_gc_new: a multiple of 16 */
    size_t place;               /* where in each p is a uint32_t of the header's: see rrci_place_in */
    void (*news)(rrc_heap *heap, rrc_object *ob, rrci_news news);
    void (*touched)(rrc_heap *heap);        /* rrc_touch was called for all that some object owns */
    int  (*keeps)(rrc_object *ob);          /* was RRCI_NEWS_KEEP the last one of the two for this tracked object? */
    int  (*must_stay)(rrc_heap *heap, rrc_object *ob);      /* must this wrapper not be judged by its references? */
    rrc_gcref (*p_of)(rrc_heap *heap, rrc_object *ob);      /* of a watched object with a link: p, or NULL if it died */
    int  (*has_lost_p)(rrc_heap *heap, rrc_object *ob);     /* ... of any with a link: is it known that p has died? */
    void (*collect)(rrc_heap *heap);        /* a round of rrc_gc_collect, without the pending work ... */
    int  (*search)(rrc_heap *heap, const char *function);   /* ... and one more search after it. Returns a code */
    void (*check_all)(rrc_heap *heap, struct rrci_checker *checker);     /* for rrc_check */
    void (*end)(rrc_heap *heap);            /* the heap ends: it sets heap->listens to 0, and gets no more news. Of the
                                               questions above only `keeps` and `has_lost_p` are still asked */
    void (*free)(rrc_heap *heap);           /* all links and lists are gone */
} rrci_layer;

/* The parts of a heap, each with the topic that owns it. */

/* Memory that is reserved for collections: see rrci_reserve_lists. */
typedef struct rrci_memory {
    rrci_chunk   *pool;             /* spare chunks */
    size_t        pool_count;
    size_t        chunk_count;      /* all chunks: in lists, the queue and the pool */
    size_t        spare_links;      /* chunks and directories are enough for so many more */
    size_t        room_for_tracked; /* ... and for so many tracked objects */
} rrci_memory;

typedef struct rrci_links {
    rrci_list     list[RRCI_LISTS];
    rrci_directory directory;       /* of list */
    rrc_gcref     marker;           /* the last one that rrc_mark_deallocating got */
    size_t        crowded_out;      /* old links whose p is young: the young dictionary had no room */
    const rrc_type *blamed[RRCI_BLAMED];    /* types of objects with a wrong bias: see rrci_is_news */
    size_t        blamed_at;
} rrci_links;

typedef struct rrci_tracked {
    rrci_list     list[RRCI_GC_LISTS];
    rrci_directory directory;       /* of list; its block is NULL until an object is tracked */
    size_t        holes;            /* in RRCI_TRACKED: objects removed while it may not move */
    size_t        waiting_holes;    /* the same in the lists of garbage, which only a walk leaves */
    size_t        finalizable;      /* those whose tp_finalize was not called */
    size_t        wrappers;         /* objects with tp_outside that rrc_new made, and links of others that were made */
    size_t        uncollectable;    /* those with RRCI_GC_UNCOLLECTABLE */
    size_t        cleared;          /* those with RRCI_GC_CLEARED */
    unsigned      walking;          /* during walks: removed objects leave holes */
    size_t        walked;           /* ... and until the outermost one ends, objects can move to other lists so often:
                                       back from where they wait, and if a search goes on, to there and back */
} rrci_tracked;

/* The search for cycles. */
typedef struct rrci_machine {
    rrci_stage    stage;
    int           passing;          /* number of the list of links that RRCI_ROOTS or RRCI_RELINK passes */
    size_t        cursor;
    size_t        tracked_first;    /* number of entries of RRCI_TRACKED when the search began */
    uintptr_t     white;            /* the RRCI_GC_COLOR of objects that no search is looking at */
    uintptr_t     unfound;          /* the RRCI_GC_COLOR of objects not found alive so far. Until the verdict this is
                                       `white`. Then garbage has it, and `white` is the other color */
    uintptr_t     keeping;          /* while objects are found alive for finalizers only, RRCI_GC_KEPT; while they
                                       are found to be owned by garbage, RRCI_GC_OWNED; else 0 */
    size_t        alive;            /* number of objects found alive by this search, without those kept */
    size_t        scan;             /* number of tracked objects passed by the scan of this search */
    rrci_gray     gray;
    char          host_reports;     /* RRCI_REPORTS: the host has done so since the last major collection;
                                       RRCI_REPORTS_LOST: some reports are forgotten */
    char          plan;             /* RRCI_SEARCH or RRCI_NO_SEARCH, from the first report or the trace call of a
                                       major collection to its end; else RRCI_UNDECIDED */
    char          searched;         /* this major collection has searched for cycles; 2: the result is not used, as
                                       the host did not report all it marked */
    char          to_demote;        /* the next minor collection, or one in slices, begins with rrci_demote */
    char          is_disabled;      /* by rrc_gc_disable */
    char          is_collecting;    /* inside rrc_gc_collect */
    size_t        changed;          /* links and tracked objects made or gone since the last search */
    unsigned      not_searched;     /* major collections since then */
    unsigned      search_every;     /* so many of them make a search due */
} rrci_machine;

/* Work that waits, and the functions that do it. */
typedef struct rrci_waiting {
    rrci_queue    queue;
    rrc_object   *later;            /* objects that wait for their dealloc, each with one reference, as in the
                                       queue; threaded through their link fields: see rrci_defer */
    size_t        later_count;
    size_t        left;             /* in RRCI_ENDING: objects with RRCI_LEFT_QUEUE */
    char          parts_wrappers;   /* ... no foreign cycle is left that a tp_clear could break: the wrappers go, too */
    char          orders;           /* ... the order is being asked: links still hold. See rrci_order */
    size_t        quota;            /* while running: the units that may still be spent, see rrc_run_pending */
    int           forgives;         /* what a search finds alive has not been cleared: see rrci_forgive */
    rrci_gc_kind  working;          /* in heaps with wrappers: the kind of work that was begun last */
    int           running;          /* inside rrci_do_pending */
    unsigned      is_hidden;        /* there may be garbage, which rrc_from_obj does not find */
} rrci_waiting;

/* Calls of the program's code that are in progress. */
typedef struct rrci_calls {
    struct rrci_slot_call *slot_calls;      /* the innermost first */
    uintptr_t     slot_bits;        /* of the outer ones' objects: nearly always this tells that ob is none of them */
    unsigned      depth;            /* nested deallocs */
    unsigned      triggering;       /* inside dealloc_trigger */
    unsigned      touching;         /* nested: a tp_traverse is called to touch objects */
#ifdef RRC_DEBUG
    unsigned      in_hook;          /* inside a hook, a tp_traverse or a writeproc, in any phase */
    char          logging;          /* inside the log hook */
#endif
} rrci_calls;

typedef struct rrci_counters {
    ptrdiff_t     objects;          /* made by rrc_new or rrc_gc_new, less those freed */
    size_t        finalized;        /* calls of tp_finalize for cyclic garbage */
    size_t        parted;           /* links that did not hold their objects, and were dissolved */
} rrci_counters;

#ifdef RRC_THREADS
/* References that other threads drop. */
typedef struct rrci_mailbox {
    RRC_ATOMIC_WORD newest;         /* a letter, 0, or RRCI_MAIL_IS_CLOSED */
    rrci_letter  *letters;          /* those that were fetched, the oldest first */
} rrci_mailbox;
#endif

struct rrc_heap {
    rrci_heap_head head;            /* must be the first field: see rrc_to_obj */
    rrc_desc      desc;
    const rrci_layer *layer;        /* NULL: there is none */
    void         *layer_data;       /* the layer's own */
    size_t        layer_bytes;      /* in front of each object of rrc_gc_new */
    unsigned      listens;          /* the layer gets news: there is one, and the heap has not ended */
    void         *p_userdata;       /* of the hooks survivor and parted, which a layer can replace */
    rrci_state    state;
    rrci_state    rest;             /* the state between collections */
    rrci_memory   memory;
    rrci_links    links;
    rrci_tracked  tracked;
    rrci_machine  machine;
    rrci_waiting  waiting;
    rrci_calls    calls;
    rrci_counters counters;
    rrc_stats     stats;            /* rrc_get_stats fills in what is not counted here */
#ifdef RRC_THREADS
    rrci_mailbox  mailbox;
#endif
    const char   *inspecting;       /* in an inspection: the name of the viewer's function; else NULL */
    rrc_observer *observers;
};

static int rrci_in_collection(const rrc_heap *heap)
{
    return heap->state >= RRCI_MINOR && heap->state <= RRCI_KEPT;
}

/* Is a function of a collection running? Then the caller is a hook, a slot of a type or a visitor. */
static int rrci_is_inside(const rrc_heap *heap)
{
    return heap->state == RRCI_MINOR || heap->state == RRCI_MAJOR;
}

/* Debug builds refuse calls from a hook outside a collection. (Inside one all builds do so.) */
#ifdef RRC_DEBUG
#define RRCI_BEGIN_HOOK(heap) ((void)(heap)->calls.in_hook++)
#define RRCI_END_HOOK(heap) ((void)(heap)->calls.in_hook--)
#define RRCI_IN_HOOK(heap) ((heap)->calls.in_hook > 0)
#else
#define RRCI_BEGIN_HOOK(heap) ((void)0)
#define RRCI_END_HOOK(heap) ((void)0)
#define RRCI_IN_HOOK(heap) 0
#endif

/* Without cycles nothing is tracked, no search goes on, and nothing waits as garbage. */
#ifdef RRC_NO_CYCLES
#define RRCI_CYCLES 0
#else
#define RRCI_CYCLES 1
#endif
#define RRCI_LISTENS(heap) (RRCI_CYCLES && (heap)->listens)
#define RRCI_IS_IDLE(heap) (!RRCI_CYCLES || (heap)->machine.stage == RRCI_IDLE)
#define RRCI_HAS_WRAPPERS(heap) (RRCI_CYCLES && (heap)->tracked.wrappers > 0)

/* ---- errors ---- */

#define RRCI_ERROR_NAME(code, message) #code,
#define RRCI_ERROR_MESSAGE(code, message) message,

RRC_API const char *rrc_error_name(int code)
{
    static const char *const names[] = { RRC_ERRORS(RRCI_ERROR_NAME) NULL };
    return code >= 0 && code < RRCI_ERROR_END ? names[code] : "unknown code";
}

RRC_API const char *rrc_error_message(int code)
{
    static const char *const messages[] = { RRC_ERRORS(RRCI_ERROR_MESSAGE) NULL };
    return code >= 0 && code < RRCI_ERROR_END ? messages[code] : "not a code of rawrefcount.h: see RRC_ERRORS";
}

RRC_API const char *rrc_version(void)
{
    return RRC_VERSION;
}

/* Debug builds keep the type of a freed object, with a tag. The allocator overwrites that word less
   often than the first two. */
#if defined(RRC_DEBUG) && !defined(RRCI_ADAPTED_TYPE)
#define RRCI_TAGS_FREED 1
#else
#define RRCI_TAGS_FREED 0
#endif
#define RRCI_POISON 0xDD

static int rrci_is_freed(rrc_object *ob)
{
#ifdef RRC_DEBUG
    intptr_t poison;
    memset(&poison, RRCI_POISON, sizeof poison);
    return RRC_REFCNT(ob) == poison || (RRCI_TAGS_FREED && ((uintptr_t)RRC_TYPE(ob) & 1) != 0);
#else
    (void)ob;
    return 0;
#endif
}

/* Debug builds put this in front of each object of rrc_new and rrc_gc_new. */
#ifdef RRC_DEBUG
typedef union rrci_debug_head {
    struct {
        const rrc_heap *heap;
        uintptr_t cookie;
    } is;
    char alignment[16];
} rrci_debug_head;
#define RRCI_DEBUG_HEAD sizeof(rrci_debug_head)
#else
#define RRCI_DEBUG_HEAD ((size_t)0)
#endif

static const char *rrci_type_name(rrc_object *ob)
{
    const rrc_type *type = ob != NULL ? RRC_TYPE(ob) : NULL;
    if (ob != NULL && rrci_is_freed(ob)) {
        uintptr_t poison;
        memset(&poison, RRCI_POISON, sizeof poison);
        type = RRCI_TAGS_FREED && ((uintptr_t)type & 1) != 0 && (uintptr_t)type != poison
                   ? (const rrc_type *)((uintptr_t)type - 1) : NULL;
    }
    return type != NULL && type->tp_name != NULL ? type->tp_name : "?";
}

/* Report a mistake to the host. Returns code. */
static int rrci_report(const rrc_desc *desc, int code, const char *function,
                       rrc_object *ob, rrc_gcref p, const char *detail)
{
    const char *message = rrc_error_message(code);
    rrc_log_item item = { code, rrc_error_name(code), message, function, detail, message, ob, p, NULL };
    const int is_logged = desc != NULL && desc->log != NULL;
#ifndef RRC_NO_STDIO
    char text[768], about[200] = "";
#endif
    if (!is_logged && !RRCI_CHECKS)
        return code;
    item.type_name = rrci_type_name(ob);
#ifndef RRC_NO_STDIO
    if (ob != NULL && p != NULL)
        snprintf(about, sizeof about, " (type %.100s, ob %p, p %p)", item.type_name, (void *)ob, (void *)p);
    else if (ob != NULL)
        snprintf(about, sizeof about, " (type %.100s, ob %p)", item.type_name, (void *)ob);
    else if (p != NULL)
        snprintf(about, sizeof about, " (p %p)", (void *)p);
    snprintf(text, sizeof text, "rawrefcount: %s: %s: %s%s%s%.330s", function, item.name, message, about,
             *detail ? "; " : "", detail);
    item.text = text;
    if (!is_logged)
        fprintf(stderr, "%s\n", text);
#endif
    if (is_logged)
        desc->log(desc->userdata, &item);
    return code;
}

static int rrci_error(const rrc_heap *heap, int code, const char *function,
                      rrc_object *ob, rrc_gcref p, const char *detail)
{
#ifdef RRC_DEBUG
    rrc_heap *h = (rrc_heap *)(uintptr_t)heap;
    if (h->calls.logging)
        return code;                    /* no endless recursion */
    h->calls.logging = 1;
    RRCI_BEGIN_HOOK(h);
#endif
    rrci_report(&heap->desc, code, function, ob, p, detail);
#ifdef RRC_DEBUG
    RRCI_END_HOOK(h);
    h->calls.logging = 0;
#endif
    return code;
}

/* May a function of this group be called now? Returns RRC_OK, or the logged code. */
static inline int rrci_gate(const rrc_heap *heap, unsigned group, const char *function)
{
    static const struct {
        unsigned    allowed;
        const char *words;
    } states[RRCI_STATES] = {
        /* RRCI_MUTATOR */ { RRCI_MUTATES | RRCI_ENDS | RRCI_MINOR_TRACE | RRCI_MAJOR_TRACE | RRCI_MAJOR_PAUSE
                             | RRCI_MAJOR_START, "the trace function of this collection must come first" },
        /* RRCI_STARTED */ { RRCI_MUTATES | RRCI_ENDS | RRCI_MINOR_TRACE | RRCI_MAJOR_TRACE | RRCI_MAJOR_PAUSE
                             | RRCI_MAJOR_WORK,
                             "a major collection was started, and rrc_major_collection_trace must come next" },
        /* RRCI_SWEEPING */ { RRCI_MUTATES | RRCI_ENDS | RRCI_MINOR_TRACE | RRCI_MAJOR_WORK | RRCI_MAJOR_KEEP
                             | RRCI_MAJOR_FREE | RRCI_MAJOR_SWEEP,
                             "the free function of a major collection must come next" },
        /* RRCI_LAYER_RESTS */ { RRCI_MUTATES | RRCI_ENDS, "a search of the layer is going on" },
        /* RRCI_LAYER_RUNS */  { RRCI_MUTATES | RRCI_ENDS, "the layer is running" },
        /* RRCI_ENDING */    { RRCI_MUTATES | RRCI_MINOR_TRACE | RRCI_MAJOR_TRACE | RRCI_MAJOR_PAUSE
                             | RRCI_MAJOR_START, "rrc_heap_free is running, and no collection is going on" },
        /* RRCI_MINOR */     { 0, "called from inside a function of a collection" },
        /* RRCI_COPYING */   { RRCI_MINOR_TRACE | RRCI_MINOR_FREE, "a minor collection is going on" },
        /* RRCI_MAJOR */     { 0, "called from inside a function of a collection" },
        /* RRCI_MARKING */   { RRCI_MAJOR_TRACE | RRCI_MAJOR_FREE | RRCI_MAJOR_PAUSE | RRCI_MAJOR_KEEP
                             | RRCI_MAJOR_WORK | RRCI_MAJOR_SWEEP, "a major collection is going on" },
        /* RRCI_OPEN */      { RRCI_MAJOR_TRACE | RRCI_MAJOR_FREE | RRCI_MAJOR_PAUSE | RRCI_MAJOR_SWEEP,
                             "a major collection is going on" },
        /* RRCI_KEPT */      { RRCI_MAJOR_FREE | RRCI_MAJOR_WORK | RRCI_MAJOR_SWEEP,
                             "only rrc_major_collection_free can follow rrc_major_collection_keep" },
        /* RRCI_HUSK */      { 0, "" }
    };
    if (heap == NULL)
        return rrci_report(NULL, RRC_ENULL, function, NULL, NULL, "heap is NULL");
    if (RRCI_UNLIKELY((states[heap->state].allowed & group) == 0))
        return rrci_error(heap, heap->state == RRCI_HUSK ? RRC_ECLOSED : RRC_EPHASE, function, NULL, NULL,
                          states[heap->state].words);
    if (RRCI_UNLIKELY(RRCI_IN_HOOK(heap) && heap->state <= RRCI_ENDING))
        return rrci_error(heap, RRC_EPHASE, function, NULL, NULL, "called from a hook, a tp_traverse or a writeproc");
    return RRC_OK;
}

/* The same for a function of the mutator that needs ob. */
static inline int rrci_gate_ob(const rrc_heap *heap, rrc_object *ob, const char *function)
{
    int code = rrci_gate(heap, RRCI_MUTATES, function);
    if (code != RRC_OK)
        return code;
    if (ob == NULL)
        return rrci_error(heap, RRC_ENULL, function, ob, NULL, "ob is NULL");
    return rrci_is_freed(ob) ? rrci_error(heap, RRC_EFREED, function, ob, NULL, "") : RRC_OK;
}

/* Is a dealloc, pending work, a walk or a step running? Then garbage is neither searched nor cleared. */
static int rrci_is_busy(const rrc_heap *heap)
{
    return heap->calls.depth > 0 || heap->waiting.running || heap->state == RRCI_LAYER_RUNS
        || (RRCI_CYCLES && heap->tracked.walking > 0);
}

/* ---- memory ---- */

/* new_size 0 frees. */
static void *rrci_realloc(const rrc_desc *desc, void *ptr, size_t old_size, size_t new_size)
{
    if (desc->realloc != NULL)
        return desc->realloc(desc->userdata, ptr, old_size, new_size);
#ifndef RRC_NO_STDLIB
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
#endif
    return NULL;
}

static void *rrci_heap_realloc(rrc_heap *heap, void *ptr, size_t old_size, size_t new_size)
{
    void *memory;
    RRCI_BEGIN_HOOK(heap);
    memory = rrci_realloc(&heap->desc, ptr, old_size, new_size);
    RRCI_END_HOOK(heap);
    return memory;
}

/* The same for memory that rrc_stats counts. */
static void *rrci_resize_table(rrc_heap *heap, void *table, size_t old_size, size_t new_size)
{
    if (table == NULL && new_size == 0)
        return NULL;
    table = rrci_heap_realloc(heap, table, old_size, new_size);
    if (table != NULL || new_size == 0)
        heap->stats.memory += new_size - old_size;
    return new_size > 0 ? table : NULL;         /* (a hook may return anything for memory that it has freed) */
}

static void *rrci_alloc_table(rrc_heap *heap, size_t size)
{
    return rrci_resize_table(heap, NULL, 0, size);
}

static void rrci_free_table(rrc_heap *heap, void *table, size_t size)
{
    rrci_resize_table(heap, table, size, 0);
}

static rrci_chunk *rrci_take_chunk(rrci_memory *memory)
{
    rrci_chunk *chunk = memory->pool;
    RRC_ASSERT(chunk != NULL && "I5: reserved when the link was made");
    memory->pool = chunk->next;
    memory->pool_count--;
    return chunk;
}

static void rrci_give_chunk(rrci_memory *memory, rrci_chunk *chunk)
{
    chunk->next = memory->pool;
    memory->pool = chunk;
    memory->pool_count++;
}

static size_t rrci_count_links(const rrc_heap *heap)
{
    size_t count = 0;
    int i;
    for (i = 0; i < RRCI_LISTS; i++)
        count += heap->links.list[i].count;
    return count;
}

/* Garbage, and what is kept for its finalizers. */
static size_t rrci_count_waiting(const rrc_heap *heap)
{
    const rrci_list *list = heap->tracked.list;
    return !RRCI_CYCLES ? 0 : list[RRCI_WEAKREFS].count + list[RRCI_FINALIZE].count + list[RRCI_SAVED].count
        + list[RRCI_OWNERS].count + list[RRCI_CLEAR].count;
}

static size_t rrci_count_tracked(const rrc_heap *heap)
{
    return RRCI_CYCLES ? heap->tracked.list[RRCI_TRACKED].count + rrci_count_waiting(heap) : 0;
}

/* I5: the number of chunks that hold `links` links and `tracked` objects, however these are spread
   over the lists and the queue. Each list can have one partly filled chunk, the queue two. (An ob
   takes half as much room in the queue as its link did.) */
static size_t rrci_chunks_needed(size_t links, size_t tracked)
{
    return links / RRC_CHUNK_LINKS + RRCI_LISTS + 2 + (tracked > 0 ? tracked / RRCI_CHUNK_OBS + RRCI_GC_LISTS : 0);
}

/* The records that the lists of links and the queue need. In RRCI_ENDING what has left the queue may come back. */
static size_t rrci_count_records(const rrc_heap *heap)
{
    return rrci_count_links(heap) + heap->waiting.queue.count + heap->waiting.left;
}

/* The length that a directory needs: all could be in one list. */
static size_t rrci_directory_needed(size_t links, size_t tracked)
{
    return links / RRC_CHUNK_LINKS + tracked / RRCI_CHUNK_OBS + 1;
}

static int rrci_is_directory_long(const rrci_directory *directory, size_t needed)
{
    return needed * 8 + 64 <= directory->capacity;
}

/* The directories are copied in one call: 8 bytes for 256 links. So only the chunks in use are copied. */
static int rrci_reserve_directory(rrc_heap *heap, rrci_directory *directory, rrci_list *lists, size_t n,
                                  size_t needed)
{
    const size_t in_chunk = lists == heap->links.list ? RRC_CHUNK_LINKS : RRCI_CHUNK_OBS;
    size_t capacity, i;
    rrci_chunk **block;
    if (needed <= directory->capacity && !rrci_is_directory_long(directory, needed))
        return RRC_OK;
    capacity = needed + needed / 4 + 4;
    block = (rrci_chunk **)rrci_alloc_table(heap, capacity * n * sizeof *block);
    if (block == NULL)
        return needed <= directory->capacity ? RRC_OK : RRC_ENOMEM;
    for (i = 0; i < n; i++) {
        if (lists[i].count > 0)
            memcpy(block + i * capacity, lists[i].chunk, ((lists[i].count - 1) / in_chunk + 1) * sizeof *block);
        lists[i].chunk = block + i * capacity;
    }
    rrci_free_table(heap, directory->block, directory->capacity * n * sizeof *block);
    directory->block = block;
    directory->capacity = capacity;
    return RRC_OK;
}

#define RRCI_MAX_LINKS ((size_t)1 << 29)        /* an index and bits of a hash share 32 bits: see rrci_home */

/* I5: reserve all that collections, rrc_unlink and rrc_run_pending can need for `more` links besides those that are
   there, and for so many tracked objects, but for dictionaries. Half a chunk or more is reserved besides, and rrc_link
   counts it down, so that few of its calls come here. (rrc_unlink does not count up again.) */
static RRCI_NOINLINE int rrci_reserve_lists(rrc_heap *heap, size_t more, size_t tracked)
{
    size_t needed = rrci_count_records(heap) + more, links = (needed + RRC_CHUNK_LINKS / 2) | (RRC_CHUNK_LINKS - 1);
    size_t chunks;
    tracked += heap->tracked.walked;
    chunks = rrci_chunks_needed(links, tracked);
    heap->memory.spare_links = heap->memory.room_for_tracked = 0;
    if (needed > RRCI_MAX_LINKS)
        return RRC_ELIMIT;
    if (rrci_reserve_directory(heap, &heap->links.directory, heap->links.list, RRCI_LISTS,
                               rrci_directory_needed(links, 0)) != RRC_OK)
        return RRC_ENOMEM;
    if (tracked > 0
        && rrci_reserve_directory(heap, &heap->tracked.directory, heap->tracked.list, RRCI_GC_LISTS,
                                  rrci_directory_needed(0, tracked)) != RRC_OK)
        return RRC_ENOMEM;
    while (heap->memory.chunk_count < chunks) {
        rrci_chunk *chunk = (rrci_chunk *)rrci_alloc_table(heap, sizeof *chunk);
        if (chunk == NULL)
            return RRC_ENOMEM;
        memset(chunk, 0, sizeof *chunk);        /* (rrci_next_ob reads behind the end of a list) */
        heap->memory.chunk_count++;
        rrci_give_chunk(&heap->memory, chunk);
    }
    if (rrci_is_directory_long(&heap->links.directory, rrci_directory_needed(links, 0)))
        return RRC_OK;                  /* there was no memory for a shorter one: try again next time */
    heap->memory.spare_links = links - needed;
    heap->memory.room_for_tracked = tracked > 0 ? tracked | (RRCI_CHUNK_OBS - 1) : 0;
    return RRC_OK;
}

/* ---- lists ---- */

static rrci_link *rrci_at(const rrci_list *list, size_t index)
{
    return &list->chunk[index / RRC_CHUNK_LINKS]->link[index % RRC_CHUNK_LINKS];
}

/* In a heap with a layer each p has a word with the place of its link: index * RRCI_LISTS + number of the list. Such a
   heap needs no dictionary. The word is in a line that whoever uses p reads anyway. */
#define RRCI_HAS_PLACES(heap) (RRCI_CYCLES && (heap)->layer != NULL)

static uint32_t *rrci_place_in(const rrc_heap *heap, rrc_gcref p)
{
    return (uint32_t *)(void *)((char *)p + heap->layer->place);
}

static RRCI_NOINLINE void rrci_note_place(const rrc_heap *heap, const rrci_list *list, size_t index)
{
    *rrci_place_in(heap, rrci_at(list, index)->p) = (uint32_t)index * RRCI_LISTS + (uint32_t)(list - heap->links.list);
}

/* The list and index of the link of p, or NULL. */
static RRCI_NOINLINE rrci_list *rrci_look_in_place(rrc_heap *heap, rrc_gcref p, size_t *index)
{
    size_t place = *rrci_place_in(heap, p);
    rrci_list *list = &heap->links.list[place % RRCI_LISTS];
    *index = place / RRCI_LISTS;
    return *index < list->count && rrci_at(list, *index)->p == p ? list : NULL;
}

static inline void rrci_append(rrc_heap *heap, rrci_list *list, rrci_link link)
{
    if (list->count % RRC_CHUNK_LINKS == 0)
        list->chunk[list->count / RRC_CHUNK_LINKS] = rrci_take_chunk(&heap->memory);
    *rrci_at(list, list->count++) = link;
    if (RRCI_UNLIKELY(RRCI_HAS_PLACES(heap)))
        rrci_note_place(heap, list, list->count - 1);
}

/* Remove record `index` by moving the last one to its place. */
static inline void rrci_remove(rrc_heap *heap, rrci_list *list, size_t index)
{
    list->count--;
    *rrci_at(list, index) = *rrci_at(list, list->count);
    if (RRCI_UNLIKELY(RRCI_HAS_PLACES(heap)))
        rrci_note_place(heap, list, index);
    if (list->count % RRC_CHUNK_LINKS == 0)
        rrci_give_chunk(&heap->memory, list->chunk[list->count / RRC_CHUNK_LINKS]);
}

/* The same for lists of objects. */

static rrc_object **rrci_ob_at(const rrci_list *list, size_t index)
{
    RRC_ASSERT(index < list->count);
    return &list->chunk[index / RRCI_CHUNK_OBS]->ob[index % RRCI_CHUNK_OBS];
}

static void rrci_drop_last_ob(rrc_heap *heap, rrci_list *list)
{
    list->count--;
    if (list->count % RRCI_CHUNK_OBS == 0)
        rrci_give_chunk(&heap->memory, list->chunk[list->count / RRCI_CHUNK_OBS]);
}

/* ---- GC heads ----
   In front of each object of rrc_new are two words of the header's own: a scratch word for the search,
   and a word with flags and the object's place in its list. Mostly the head of the object is in the same
   cache line. A search touches these for each object and for each that it refers to, and the fields of each. To leave
   a list touches its end, the place in it, and the heads of the object that was there and of the last one.
   Objects of rrc_gc_new have more words in front of these if the heap has a layer. An object with memory of its own
   (tp_basicsize is 0) and a static one have none of this. */

typedef union rrci_gc_head {
    struct {
        uintptr_t refs;         /* in a search: 2 x (references not explained) + 1, or the next gray object, or 0 */
        uintptr_t word;         /* index in the list << RRCI_GC_SHIFT | flags | list */
    } is;
    char alignment[16];         /* keeps the object as aligned as the block */
} rrci_gc_head;

#define RRCI_GC_LIST          ((uintptr_t)7)        /* RRCI_UNTRACKED, RRCI_TRACKED .. RRCI_CLEAR */
#define RRCI_GC_FINALIZED     ((uintptr_t)1 << 3)
#define RRCI_GC_SIZED         ((uintptr_t)1 << 4)   /* a rrci_var_head comes before this one */
#define RRCI_GC_P_LINKED      ((uintptr_t)1 << 5)   /* its link, if it has one, is a P link */
#define RRCI_GC_KEPT          ((uintptr_t)1 << 6)   /* alive only because a finalizer has to see it */
#define RRCI_GC_OWNED         ((uintptr_t)1 << 7)   /* reached by rrc_major_collection_keep only: it is garbage */
#define RRCI_GC_COLOR         ((uintptr_t)1 << 8)   /* equal to heap->machine.white: not found alive so far */
#define RRCI_GC_CLEARED       ((uintptr_t)1 << 9)   /* its tp_clear has run, or is to run soon; it does not wait */
#define RRCI_GC_UNCOLLECTABLE ((uintptr_t)1 << 10)
#define RRCI_GC_SOON          ((uintptr_t)1 << 11)  /* in RRCI_TRACKED: it has the reference of its next list already */
#define RRCI_GC_SHIFT 12
#define RRCI_MAX_TRACKED ((size_t)(UINTPTR_MAX >> RRCI_GC_SHIFT))

/* Do objects of the type come from rrc_gc_new? (Those with tp_basicsize 0 have no head, whatever the flag says.) */
static int rrci_is_gc_type(const rrc_type *type)
{
    return RRCI_CYCLES && type != NULL && (type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 && type->tp_basicsize > 0;
}

/* Does ob have a GC head? */
static int rrci_has_gc_head(rrc_object *ob)
{
    const rrc_type *type = RRC_TYPE(ob);
    return RRC_REFCNT(ob) < RRC_REFCNT_IMMORTAL && type != NULL && type->tp_basicsize > 0;
}

/* Does ob come from rrc_gc_new? */
static int rrci_is_gc_object(rrc_object *ob)
{
    return RRC_REFCNT(ob) < RRC_REFCNT_IMMORTAL && rrci_is_gc_type(RRC_TYPE(ob));
}

static rrci_gc_head *rrci_gc_head_of(rrc_object *ob)
{
    return (rrci_gc_head *)(void *)((char *)ob - RRC_OBJECT_PREFIX) - 1;
}

typedef union rrci_var_head {
    struct { size_t size, native; } is; /* of the whole block; elsewhere, when it was last measured */
    char alignment[16];
} rrci_var_head;

/* The size of all that is in front of an object. */
static size_t rrci_bytes_before(const rrc_heap *heap, const rrc_type *type, int is_sized)
{
    size_t size = RRCI_DEBUG_HEAD + sizeof(rrci_gc_head) + RRC_OBJECT_PREFIX + (is_sized ? sizeof(rrci_var_head) : 0);
    if (type->tp_basicsize == 0)
        return RRC_OBJECT_PREFIX;
    return RRCI_UNLIKELY(heap->layer_bytes > 0) && rrci_is_gc_type(type) ? size + heap->layer_bytes : size;
}

static int rrci_is_sized(rrc_object *ob, const rrc_type *type)
{
    return type->tp_basicsize > 0
        && (type->tp_itemsize > 0 || (rrci_gc_head_of(ob)->is.word & RRCI_GC_SIZED) != 0);
}

/* The memory of an object of rrc_new, with its heads. Returns 0 for others. */
static inline size_t rrci_bytes_of(const rrc_heap *heap, rrc_object *ob)
{
    const rrc_type *type = rrci_is_freed(ob) ? NULL : RRC_TYPE(ob);
    if (type == NULL || type->tp_basicsize == 0)
        return 0;
    return rrci_is_sized(ob, type)
         ? ((const rrci_var_head *)(const void *)((const char *)ob - rrci_bytes_before(heap, type, 1)))->is.size
         : rrci_bytes_before(heap, type, 0) + type->tp_basicsize;
}

#ifdef RRC_DEBUG
static rrci_debug_head *rrci_debug_head_of(rrc_object *ob)
{
    return (rrci_debug_head *)(void *)rrci_gc_head_of(ob) - 1;
}

/* (Bit 0 is 1. While ob is in the queue it is 0: see rrci_note_queued.) */
static uintptr_t rrci_debug_cookie(const rrc_object *ob)
{
    return ~(uintptr_t)ob;
}
#endif

/* For debug builds: did rrc_new make ob with another heap, or not at all although its type says so?
   Returns RRC_OK, RRC_EHEAP or RRC_ETYPE. */
static int rrci_check_maker(const rrc_heap *heap, rrc_object *ob)
{
#ifdef RRC_DEBUG
    const rrci_debug_head *head;
    if (!rrci_has_gc_head(ob))
        return RRC_OK;
    head = rrci_debug_head_of(ob);
    if ((head->is.cookie | 1) != rrci_debug_cookie(ob))
        return RRC_ETYPE;
    return head->is.heap == heap ? RRC_OK : RRC_EHEAP;
#else
    (void)heap, (void)ob;
    return RRC_OK;
#endif
}

/* The same for a function that is about to use ob. Logs what is wrong. */
static int rrci_refuse_foreign(const rrc_heap *heap, rrc_object *ob, const char *function, const char *result)
{
    int code = rrci_check_maker(heap, ob);
    return code == RRC_OK ? code
         : rrci_error(heap, code, function, ob, NULL, code == RRC_EHEAP ? result
                      : "rrc_new did not make this object: the tp_basicsize of its type must be 0");
}

/* An object was removed, and the others may not move. If it was gray, `next` is the place of the one after it. */
static rrc_object *rrci_hole(uintptr_t next)
{
    return (rrc_object *)(next << 1 | 1);
}

static int rrci_is_hole(const rrc_object *ob)
{
    return ((uintptr_t)ob & 1) != 0;
}

static uintptr_t rrci_gc_list(const rrci_gc_head *head)
{
    return head->is.word & RRCI_GC_LIST;
}

static int rrci_is_waiting(const rrci_gc_head *head)
{
    return rrci_gc_list(head) >= RRCI_WEAKREFS;
}

/* The search need not watch this tracked object any more. (What goes by its count is watched all the same, as may be
   all at the end of the heap: see rrci_let_wait.) */
RRCI_ALWAYS_INLINE void rrci_unwatch(const rrc_heap *heap, rrc_object *ob)
{
    if (RRC_REFCNT(ob) < 0 && (rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) == 0
        && heap->waiting.orders != RRCI_BY_CYCLES)
        RRC_REFCNT(ob) &= INTPTR_MAX;
}

/* Tell the layer, if there is one. */
RRCI_ALWAYS_INLINE void rrci_tell(rrc_heap *heap, rrc_object *ob, rrci_news news)
{
    if (RRCI_UNLIKELY(RRCI_LISTENS(heap)))
        heap->layer->news(heap, ob, news);
}

/* (With a layer only.) Does the header hold this unlinked, tracked wrapper, as others refer to its foreign object? */
static int rrci_is_held_for_others(const rrc_heap *heap, rrc_object *ob)
{
    return RRCI_HAS_WRAPPERS(heap) && heap->layer != NULL && heap->layer->keeps(ob);
}

static void rrci_hold_for_others(rrc_heap *heap, rrc_object *ob, int on)
{
    if (heap->layer != NULL)
        heap->layer->news(heap, ob, on ? RRCI_NEWS_KEEP : RRCI_NEWS_KEEP_NO_MORE);
}

/* Has the current search found the object alive? */
RRCI_ALWAYS_INLINE int rrci_is_alive(const rrci_machine *machine, const rrci_gc_head *head)
{
    return (head->is.word & RRCI_GC_COLOR) != machine->unfound;
}

/* Has the search not found this object, or only below this level? See rrci_color. (The color is above the levels.) */
RRCI_ALWAYS_INLINE int rrci_is_below(const rrci_machine *machine, const rrci_gc_head *head, uintptr_t level)
{
    uintptr_t found = head->is.word ^ machine->unfound ^ RRCI_GC_COLOR;
    return (found & (RRCI_GC_COLOR | RRCI_GC_KEPT | RRCI_GC_OWNED)) > level;
}

RRCI_ALWAYS_INLINE int rrci_is_tracked(rrc_object *ob)
{
    return rrci_is_gc_object(ob) && rrci_gc_list(rrci_gc_head_of(ob)) != RRCI_UNTRACKED;
}

/* Is ob watched for the layer, and not as garbage that waits? */
static int rrci_is_layers(const rrc_heap *heap, rrc_object *ob)
{
    return RRC_REFCNT(ob) < 0 && RRCI_LISTENS(heap)
        && !(rrci_is_gc_object(ob) && rrci_is_waiting(rrci_gc_head_of(ob)));
}

/* C or the header has got hold of ob: end its watch. */
static void rrci_end_watch(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_is_layers(heap, ob))
        rrci_tell(heap, ob, RRCI_NEWS_HELD);
    else
        RRC_REFCNT(ob) &= INTPTR_MAX;
}

/* Is ob tracked, and not waiting as garbage? */
RRCI_ALWAYS_INLINE int rrci_is_in_tracked(rrc_object *ob)
{
    return rrci_is_gc_object(ob) && rrci_gc_list(rrci_gc_head_of(ob)) == RRCI_TRACKED;
}

/* Does the header own a reference to ob, that of a list of garbage? */
static int rrci_is_listed(const rrc_heap *heap, rrc_object *ob)
{
    return rrci_is_tracked(ob)
        && (rrci_is_waiting(rrci_gc_head_of(ob)) || (rrci_gc_head_of(ob)->is.word & RRCI_GC_SOON) != 0
            || rrci_is_held_for_others(heap, ob));
}

/* Is ob garbage that waits, or that was cleared? */
static int rrci_is_garbage(rrc_object *ob)
{
    return rrci_is_tracked(ob)
        && ((rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) != 0
            || (rrci_is_waiting(rrci_gc_head_of(ob)) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_KEPT) == 0));
}

static int rrci_is_uncollectable(rrc_object *ob)
{
    return rrci_is_gc_object(ob) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_UNCOLLECTABLE) != 0;
}

/* Is ob's finalizer still to run? */
static int rrci_is_finalizable(rrc_object *ob)
{
    return RRC_TYPE(ob)->tp_finalize != NULL && (rrci_gc_head_of(ob)->is.word & RRCI_GC_FINALIZED) == 0;
}

static void rrci_gc_place(rrci_gc_head *head, uintptr_t list, size_t index)
{
    const uintptr_t flags = (((uintptr_t)1 << RRCI_GC_SHIFT) - 1) & ~RRCI_GC_LIST;
    head->is.word = (head->is.word & flags) | (uintptr_t)index << RRCI_GC_SHIFT | list;
}

/* Move the object at `from` to the place `to` of its list. */
static void rrci_gc_fill(rrci_list *list, uintptr_t kind, size_t to, size_t from)
{
    rrc_object *ob = *rrci_ob_at(list, from);
    *rrci_ob_at(list, to) = ob;
    rrci_gc_place(rrci_gc_head_of(ob), kind, to);
}

/* Does a search go on, so that the entries of RRCI_TRACKED may not move? */
static int rrci_is_searching(const rrci_machine *machine)
{
    return RRCI_CYCLES && machine->searched && machine->stage < RRCI_ASIDE;
}

/* Is a major collection in slices going on, and has its verdict not been pronounced? */
static int rrci_is_started(const rrc_heap *heap)
{
    return RRCI_CYCLES && heap->rest == RRCI_STARTED;
}

/* ... or has it been? */
static int rrci_is_sweeping(const rrc_heap *heap)
{
    return RRCI_CYCLES && heap->rest == RRCI_SWEEPING;
}

static int rrci_in_slices(const rrc_heap *heap)
{
    return rrci_is_started(heap) || rrci_is_sweeping(heap);
}

/* The verdict of a collection or step has been pronounced: is ob garbage, or kept for it, and not set aside yet? */
static int rrci_is_late(const rrc_heap *heap, rrc_object *ob)
{
    const rrci_machine *machine = &heap->machine;
    return machine->searched && machine->stage >= RRCI_FINALIZABLE && machine->stage <= RRCI_ASIDE
        && rrci_is_in_tracked(ob) && rrci_is_below(&heap->machine, rrci_gc_head_of(ob), 0);
}

/* Is ob garbage, or kept for it? It waits, or is to wait, or it goes by its count: it was cleared, or only its link
   held it, or at the end of the heap its owner goes first (rrci_let_wait). */
static int rrci_is_condemned(const rrc_heap *heap, rrc_object *ob)
{
    if ((RRC_REFCNT(ob) >= 0 && heap->calls.slot_calls == NULL) || !rrci_is_tracked(ob))
        return 0;                       /* (only in its own slot garbage is not watched) */
    return rrci_is_waiting(rrci_gc_head_of(ob)) || rrci_is_late(heap, ob)
        || (RRC_REFCNT(ob) < 0 && (((rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) != 0 && !RRCI_LISTENS(heap))
                                   || (heap->waiting.orders == RRCI_BY_CYCLES && !heap->machine.searched)));
}

/* Take an object out of its list. */
RRCI_ALWAYS_INLINE void rrci_gc_take_out(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    uintptr_t kind = rrci_gc_list(head);
    rrci_list *list = &heap->tracked.list[kind];
    size_t index = (size_t)(head->is.word >> RRCI_GC_SHIFT);
    RRC_ASSERT(*rrci_ob_at(list, index) == ob);
    if (kind > RRCI_TRACKED)
        heap->stats.pending_bytes -= rrci_bytes_of(heap, ob);
    if (heap->tracked.walking > 0 || (kind == RRCI_TRACKED && rrci_is_searching(&heap->machine))) {
        *rrci_ob_at(list, index) = rrci_hole(head->is.refs);    /* (read only if ob is gray) */
        head->is.refs = 0;
        heap->tracked.holes += kind == RRCI_TRACKED;
        heap->tracked.waiting_holes += kind != RRCI_TRACKED;
    } else {
        for (; heap->tracked.holes > 0 && rrci_is_hole(*rrci_ob_at(list, list->count - 1)); heap->tracked.holes--)
            rrci_drop_last_ob(heap, list);      /* (of RRCI_TRACKED, when a search has just ended) */
        if (index != list->count - 1)
            rrci_gc_fill(list, kind, index, list->count - 1);
        rrci_drop_last_ob(heap, list);
    }
    rrci_gc_place(head, RRCI_UNTRACKED, 0);
}

/* Close the holes. */
static void rrci_fill_holes(rrc_heap *heap, rrci_list *list, uintptr_t kind)
{
    size_t i, to = 0, count = list->count;
    for (i = 0; i < count; i++) {
        rrc_object *ob = *rrci_ob_at(list, i);
        if (rrci_is_hole(ob))
            continue;
        *rrci_ob_at(list, to) = ob;
        rrci_gc_place(rrci_gc_head_of(ob), kind, to++);
    }
    while (list->count > to)
        rrci_drop_last_ob(heap, list);
    if (kind == RRCI_TRACKED)
        heap->tracked.holes = 0;
}

/* The object of RRCI_TRACKED at *index, or the next one; NULL if that was the last one. */
static rrc_object *rrci_next_tracked(const rrc_heap *heap, size_t *index)
{
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrc_object *ob = NULL;
    for (; *index < list->count && (ob == NULL || rrci_is_hole(ob)); ++*index)
        ob = *rrci_ob_at(list, *index);
    return ob != NULL && !rrci_is_hole(ob) ? ob : NULL;
}

static void rrci_set_uncollectable(rrci_tracked *tracked, rrci_gc_head *head, int on)
{
    if (on == ((head->is.word & RRCI_GC_UNCOLLECTABLE) != 0))
        return;
    head->is.word ^= RRCI_GC_UNCOLLECTABLE;
    tracked->uncollectable += on ? 1 : SIZE_MAX;
}

static void rrci_forget_cleared(rrci_tracked *tracked, rrci_gc_head *head)
{
    tracked->cleared -= (head->is.word & RRCI_GC_CLEARED) != 0;
    head->is.word &= ~RRCI_GC_CLEARED;
}

/* Take a tracked object out of its list: the search for cycles does not see it any more. */
static void rrci_untrack(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    if (rrci_is_finalizable(ob))
        heap->tracked.finalizable--;
    rrci_set_uncollectable(&heap->tracked, head, 0);
    heap->stats.garbage += (head->is.word & RRCI_GC_CLEARED) != 0;
    rrci_forget_cleared(&heap->tracked, head);
    if (heap->machine.alive > 0 && rrci_is_alive(&heap->machine, head))
        heap->machine.alive--;                  /* rrc_marked reported it before the collection began */
    rrci_gc_take_out(heap, ob);
    head->is.word &= ~(RRCI_GC_KEPT | RRCI_GC_SOON);
    head->is.refs = 0;
    heap->machine.changed++;
}

/* ---- the dictionary ----
   Linear hashing (Litwin 1980): there is one home group more for each RRCI_LOAD records, and the records of one group
   are divided between that group and the new one. So a dictionary grows and shrinks a group at a time, and never has
   to be copied. A group is a cache line of sixteen words. Fifteen hold a record's index and bits of its key's hash,
   and are compared at once, so that nearly every lookup is one pass without a branch that depends on the data, and its
   two cache misses (group, record) overlap with those of the lookups around it. The last word begins a chain of the
   records that found no place. So to insert a record that has its words never takes memory (I5).

   The P lists have a dictionary if the host has no `slot`. All lists have one if the host reports marks, or runs the
   header in slices. Any other list has one that is optional: the first rrc_unlink makes it. Heaps with a layer have
   none: see rrci_place_in. */

#define RRCI_GROUP ((size_t)16)                 /* words in a group */
#define RRCI_CHAIN (RRCI_GROUP - 1)             /* the last one */
#define RRCI_IN_GROUP ((1u << RRCI_CHAIN) - 1)  /* a bit for each of the others */
#define RRCI_LOAD ((size_t)12)                  /* records for a home group */
#define RRCI_LINE (RRCI_GROUP * sizeof(uint32_t))
#define RRCI_GROUP_WORDS(links) (((links) / RRCI_LOAD + 1) * RRCI_GROUP)
#define RRCI_PAGE_WORDS ((size_t)2 * RRC_CHUNK_LINKS)
#define RRCI_PAGE_BYTES (RRCI_PAGE_WORDS * sizeof(uint32_t) + RRCI_LINE)

/* A bit for each word of the group, but for the last one, that equals `value` in the bits of `care`. */
RRCI_ALWAYS_INLINE unsigned rrci_group_match(const uint32_t *group, uint32_t value, uint32_t care)
{
#ifdef RRCI_SSE2
    const __m128i *line = (const __m128i *)(const void *)group;
    __m128i v = _mm_set1_epi32((int)(value & care)), c = _mm_set1_epi32((int)care);
    __m128i m0 = _mm_cmpeq_epi32(_mm_and_si128(_mm_loadu_si128(line), c), v);
    __m128i m1 = _mm_cmpeq_epi32(_mm_and_si128(_mm_loadu_si128(line + 1), c), v);
    __m128i m2 = _mm_cmpeq_epi32(_mm_and_si128(_mm_loadu_si128(line + 2), c), v);
    __m128i m3 = _mm_cmpeq_epi32(_mm_and_si128(_mm_loadu_si128(line + 3), c), v);
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(m0, m1), _mm_packs_epi32(m2, m3)))
        & RRCI_IN_GROUP;
#else
    unsigned bits = 0, i;
    for (i = 0; i < RRCI_CHAIN; i++)
        bits |= (unsigned)(((group[i] ^ value) & care) == 0) << i;
    return bits;
#endif
}

static unsigned rrci_lowest_bit(unsigned bits)
{
#if defined(__GNUC__) || defined(__clang__)
    return (unsigned)__builtin_ctz(bits);
#else
    unsigned i = 0;
    while ((bits >> i & 1) == 0)
        i++;
    return i;
#endif
}

#define RRCI_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* One term of a sum over edges. Sums of a + d and b + c must not agree because the addresses do. So both words are
   mixed well, in 64 bits on all machines. (The factors are digits of the square roots of 2 and 3.) */
static inline uint64_t rrci_hash_edge(const rrc_object *ob, uintptr_t number)
{
    uint64_t x = (uint64_t)(uintptr_t)ob * RRCI_GOLDEN + number;
    x = (x ^ (x >> 32)) * UINT64_C(0x6A09E667F3BCC909);
    x = (x ^ (x >> 29)) * UINT64_C(0xBB67AE8584CAA73B);
    return x ^ (x >> 32);
}

/* Fibonacci hashing (Knuth). The low bits choose the group, the high ones are compared there. */
static inline uint32_t rrci_hash(rrc_gcref p)
{
    return (uint32_t)(((uint64_t)(uintptr_t)p * RRCI_GOLDEN) >> 32);
}

static uint32_t *rrci_word(const rrci_pages *pages, size_t number)
{
    return pages->page[number / RRCI_PAGE_WORDS].word + number % RRCI_PAGE_WORDS;
}

static int rrci_pages_reserve(rrc_heap *heap, rrci_pages *pages, size_t words)
{
    while (words > pages->count * RRCI_PAGE_WORDS) {
        char *memory;
        if (pages->count == pages->room) {
            size_t room = pages->room * 2 + 1;
            rrci_page *page = (rrci_page *)rrci_alloc_table(heap, room * sizeof *page);
            if (page == NULL)
                return RRC_ENOMEM;
            if (pages->count > 0)
                memcpy(page, pages->page, pages->count * sizeof *page);
            rrci_free_table(heap, pages->page, pages->room * sizeof *page);
            pages->page = page;
            pages->room = room;
        }
        memory = (char *)rrci_alloc_table(heap, RRCI_PAGE_BYTES);
        if (memory == NULL)
            return RRC_ENOMEM;
        pages->page[pages->count].memory = memory;
        pages->page[pages->count++].word = (uint32_t *)(void *)(memory + (RRCI_LINE - (uintptr_t)memory % RRCI_LINE));
    }
    return RRC_OK;
}

/* Free pages behind those for so many words, and the directory with the last one, at most n. Returns how many. */
static size_t rrci_pages_trim(rrc_heap *heap, rrci_pages *pages, size_t words, size_t n)
{
    size_t done = 0;
    for (; done < n && pages->count > 0 && words <= (pages->count - 1) * RRCI_PAGE_WORDS; done++)
        rrci_free_table(heap, pages->page[--pages->count].memory, RRCI_PAGE_BYTES);
    if (pages->count == 0) {
        rrci_free_table(heap, pages->page, pages->room * sizeof *pages->page);
        memset(pages, 0, sizeof *pages);
    }
    return done;
}

/* The dictionary can have fewer links than this without more memory. */
static size_t rrci_dict_room(const rrci_dict *dict)
{
    size_t grouped = dict->groups.count * RRCI_PAGE_WORDS / RRCI_GROUP * RRCI_LOAD;
    size_t chained = dict->next.count * RRCI_PAGE_WORDS + 1;
    return grouped < chained ? grouped : chained;
}

static int rrci_dict_reserve(rrc_heap *heap, rrci_dict *dict, size_t links)
{
    int code = rrci_pages_reserve(heap, &dict->groups, RRCI_GROUP_WORDS(links));
    return code == RRC_OK ? rrci_pages_reserve(heap, &dict->next, links) : code;
}

/* Free what more than so many links need, at most n pages. */
static size_t rrci_dict_trim(rrc_heap *heap, rrci_dict *dict, size_t links, size_t n)
{
    size_t words = RRCI_GROUP_WORDS(links), used = dict->homes * RRCI_GROUP, done;
    if (!dict->on)
        words = used = links = 0;
    dict->spare = 0;
    done = rrci_pages_trim(heap, &dict->groups, words > used ? words : used, n);
    return done + rrci_pages_trim(heap, &dict->next, links, n - done);
}

/* Where a key is looked for first. `mask` gets the bits of an index there: there are always more than a 24th as many
   home groups as records, so that 5 bits besides those that choose the group are enough. */
RRCI_ALWAYS_INLINE uint32_t *rrci_home(const rrci_dict *dict, uint32_t hash, uint32_t *mask)
{
    size_t size = (hash & (dict->half - 1)) < dict->homes - dict->half ? 2 * dict->half : dict->half;
    *mask = (uint32_t)(size * 32 - 1);
    return rrci_word(&dict->groups, (hash & (size - 1)) * RRCI_GROUP);
}

/* Where a link is. */
typedef struct rrci_spot {
    rrci_list *list;
    size_t     index;
    uint32_t  *word;            /* in the dictionary of the list, if that is on ... */
    uint32_t   mask;            /* ... and the bits of the index there: all bits if it is in a chain */
} rrci_spot;

/* The records of a key, one after the other. */
typedef struct rrci_probe {
    rrci_spot spot;             /* of the one that was found last, but for its list */
    uint32_t *group;
    unsigned  matches;          /* words of the group that are left */
    uint32_t  chained, *chain;  /* the next one of the chain, plus 1, and where that is */
} rrci_probe;

RRCI_ALWAYS_INLINE void rrci_begin_probe(rrci_probe *probe, const rrci_list *list, rrc_gcref p)
{
    uint32_t hash = rrci_hash(p);
    RRC_ASSERT(list->dict.on && list->count > 0);
    probe->group = rrci_home(&list->dict, hash, &probe->spot.mask);
    probe->matches = rrci_group_match(probe->group, hash, ~probe->spot.mask);
    probe->chain = probe->group + RRCI_CHAIN;
    probe->chained = *probe->chain;
}

/* The next record, or NULL. (An empty word looks like one of index -1.) */
RRCI_ALWAYS_INLINE const rrci_link *rrci_next_probe(rrci_probe *probe, const rrci_list *list, rrc_gcref p)
{
    const rrci_link *link;
    uint32_t number;
    while (probe->matches != 0) {
        probe->spot.word = probe->group + rrci_lowest_bit(probe->matches);
        probe->matches &= probe->matches - 1;
        number = *probe->spot.word & probe->spot.mask;
        if (number == 0)
            continue;
        probe->spot.index = (size_t)number - 1;
        link = rrci_at(list, probe->spot.index);
        if (link->p == p)
            return link;
    }
    while (probe->chained != 0) {
        probe->spot.word = probe->chain;
        probe->spot.mask = ~(uint32_t)0;
        probe->spot.index = (size_t)probe->chained - 1;
        probe->chain = rrci_word(&list->dict.next, probe->spot.index);
        probe->chained = *probe->chain;
        link = rrci_at(list, probe->spot.index);
        if (link->p == p)
            return link;
    }
    return NULL;
}

/* Find the record of p and ob. (A p can have several O links.) */
static int rrci_dict_find(rrci_list *list, rrc_gcref p, const rrc_object *ob, rrci_spot *spot)
{
    const rrci_link *link;
    rrci_probe probe;
    rrci_begin_probe(&probe, list, p);
    do
        link = rrci_next_probe(&probe, list, p);
    while (link != NULL && link->ob != ob);
    if (link == NULL)
        return 0;
    *spot = probe.spot;
    spot->list = list;
    return 1;
}

static void rrci_dict_insert(const rrci_dict *dict, size_t index, rrc_gcref p)
{
    uint32_t hash = rrci_hash(p), mask, *group = rrci_home(dict, hash, &mask);
    unsigned places = rrci_group_match(group, 0, ~(uint32_t)0);
    if (places != 0) {
        group[rrci_lowest_bit(places)] = (hash & ~mask) | ((uint32_t)index + 1);
    } else {
        *rrci_word(&dict->next, index) = group[RRCI_CHAIN];
        group[RRCI_CHAIN] = (uint32_t)index + 1;
    }
}

/* The word of record `index`, which was inserted with p. `mask` gets the bits of the index: all if it is in a chain. */
static uint32_t *rrci_dict_place(const rrci_dict *dict, size_t index, rrc_gcref p, uint32_t *mask)
{
    uint32_t number = (uint32_t)index + 1, *place = rrci_home(dict, rrci_hash(p), mask);
    unsigned matches = rrci_group_match(place, number, *mask);
    if (matches != 0)
        return place + rrci_lowest_bit(matches);
    *mask = ~(uint32_t)0;
    for (place += RRCI_CHAIN; *place != number; place = rrci_word(&dict->next, *place - 1))
        RRC_ASSERT(*place != 0 && "I2: every link of the list is in its dictionary");
    return place;
}

/* Where record `index` is. */
RRCI_ALWAYS_INLINE rrci_spot rrci_spot_at(rrci_list *list, size_t index)
{
    rrci_spot spot = { list, index, NULL, 0 };
    if (list->dict.on)
        spot.word = rrci_dict_place(&list->dict, index, rrci_at(list, index)->p, &spot.mask);
    return spot;
}

RRCI_ALWAYS_INLINE void rrci_dict_remove(rrci_spot spot)
{
    *spot.word = ~spot.mask != 0 ? 0 : *rrci_word(&spot.list->dict.next, spot.index);
}

/* ---- its growth ---- */

/* Take all records out of a group. Returns the group. */
static uint32_t *rrci_take_group(const rrci_dict *dict, size_t number, uint32_t *taken)
{
    uint32_t *group = rrci_word(&dict->groups, number * RRCI_GROUP);
    memcpy(taken, group, RRCI_LINE);
    memset(group, 0, RRCI_LINE);
    return group;
}

/* Insert again what was taken, when the number of groups has changed: at to[1] if `bit` is 1 in the hash, else at
   to[0], where the words of a group are empty from there on. `mask` had the bits of an index. */
static void rrci_insert_taken(const rrci_list *list, const uint32_t *taken, uint32_t mask, uint32_t bit, uint32_t **to)
{
    const unsigned used = RRCI_IN_GROUP & ~rrci_group_match(taken, 0, ~(uint32_t)0);
    const uint32_t new_mask = bit != 0 ? mask * 2 + 1 : mask / 2;
    unsigned bits;
    for (bits = used; bits != 0; bits &= bits - 1)
        RRCI_PREFETCH(rrci_at(list, (taken[rrci_lowest_bit(bits)] & mask) - 1));
    for (bits = used; bits != 0; bits &= bits - 1) {
        uint32_t number = taken[rrci_lowest_bit(bits)] & mask;
        uint32_t hash = rrci_hash(rrci_at(list, number - 1)->p), **place = &to[(hash & bit) != 0];
        if ((uintptr_t)*place % RRCI_LINE != RRCI_CHAIN * sizeof(uint32_t))
            *(*place)++ = (hash & ~new_mask) | number;
        else
            rrci_dict_insert(&list->dict, number - 1, rrci_at(list, number - 1)->p);    /* the group is full */
    }
}

/* The same for the chain of a group, when its words have been inserted. */
static void rrci_insert_chain(const rrci_list *list, uint32_t number)
{
    uint32_t next;
    for (; number != 0; number = next) {
        next = *rrci_word(&list->dict.next, number - 1);
        rrci_dict_insert(&list->dict, number - 1, rrci_at(list, number - 1)->p);
    }
}

/* The dictionary is to have no records, and so many home groups. */
static void rrci_dict_clear(rrci_dict *dict, size_t homes)
{
    size_t i;
    dict->homes = homes;
    for (dict->half = 1; dict->half * 2 <= homes; dict->half *= 2)
        ;
    for (i = 0; i < homes; i++)
        memset(rrci_word(&dict->groups, i * RRCI_GROUP), 0, RRCI_LINE);
}

/* One home group more. Its records come from the one that it was a part of. */
static void rrci_dict_grow(rrci_list *list)
{
    rrci_dict *dict = &list->dict;
    uint32_t taken[RRCI_GROUP], *to[2], bit = (uint32_t)dict->half;
    if (dict->homes == 0) {
        rrci_dict_clear(dict, 1);
        return;
    }
    to[0] = rrci_take_group(dict, dict->homes - bit, taken);
    to[1] = rrci_word(&dict->groups, dict->homes * RRCI_GROUP);
    memset(to[1], 0, RRCI_LINE);
    if (++dict->homes == 2 * dict->half)
        dict->half = dict->homes;
    rrci_insert_taken(list, taken, bit * 32 - 1, bit, to);
    rrci_insert_chain(list, taken[RRCI_CHAIN]);
}

/* One home group less. Its records go back. */
static void rrci_dict_shrink(rrci_list *list)
{
    rrci_dict *dict = &list->dict;
    uint32_t high[RRCI_GROUP], low[RRCI_GROUP], mask, *to[1];
    if (dict->homes == dict->half)
        dict->half /= 2;
    mask = (uint32_t)(dict->half * 64 - 1);
    rrci_take_group(dict, --dict->homes, high);
    to[0] = rrci_take_group(dict, dict->homes - dict->half, low);
    rrci_insert_taken(list, high, mask, 0, to);
    rrci_insert_taken(list, low, mask, 0, to);
    rrci_insert_chain(list, high[RRCI_CHAIN]);
    rrci_insert_chain(list, low[RRCI_CHAIN]);
}

/* Insert the records from `first` on, for which there is room. The place of each is prefetched some records ahead. */
static void rrci_dict_add_all(rrci_list *list, size_t first)
{
    size_t i, end = list->count + RRCI_AHEAD;
    uint32_t mask;
    while (list->dict.homes * RRCI_LOAD < list->count)
        rrci_dict_grow(list);
    for (i = first; i < end; i++) {
        if (i >= first + RRCI_AHEAD)
            rrci_dict_insert(&list->dict, i - RRCI_AHEAD, rrci_at(list, i - RRCI_AHEAD)->p);
        if (i < list->count)
            RRCI_PREFETCH_TO_WRITE(rrci_home(&list->dict, rrci_hash(rrci_at(list, i)->p), &mask));
    }
}

/* Fill the dictionary anew, and turn it on. It has room for `wish` links, and is likely to have so many soon. */
static void rrci_dict_fill(rrci_list *list, size_t wish)
{
    rrci_dict_clear(&list->dict, (wish > list->count ? wish : list->count) / RRCI_LOAD + 1);
    rrci_dict_add_all(list, 0);
    list->dict.on = 1;
}

/* ---- a list with its dictionary ---- */

/* The dictionary of this list must have room for its links, and for those that can be promoted to it. */
static size_t rrci_keys_needed(const rrc_heap *heap, int kind)
{
    size_t young = heap->links.list[kind | RRCI_YOUNG].count;
    return (kind & RRCI_YOUNG) != 0 ? young : heap->links.list[kind].count + young;
}

/* Free chunks and pages if there are far more than can be needed. */
static size_t rrci_trim(rrc_heap *heap, size_t max)
{
    size_t tracked = rrci_count_tracked(heap) + heap->tracked.walked, done = 0;
    size_t enough = rrci_chunks_needed(rrci_count_records(heap), tracked);
    int kind;
    enough += enough / 4;
    heap->memory.spare_links = heap->memory.room_for_tracked = 0;
    while (heap->memory.pool != NULL && heap->memory.chunk_count > enough && done < max) {
        rrci_free_table(heap, rrci_take_chunk(&heap->memory), sizeof(rrci_chunk));
        heap->memory.chunk_count--;
        done++;
    }
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        size_t keys = rrci_keys_needed(heap, kind);
        done += rrci_dict_trim(heap, &heap->links.list[kind].dict, keys + keys / 4, max - done);
    }
    return done;
}

/* Add a link to a list that has room for it. */
static void rrci_add_link(rrc_heap *heap, rrci_list *list, rrci_link link)
{
    rrci_append(heap, list, link);
    if (!list->dict.on)
        return;
    if (list->count > list->dict.homes * RRCI_LOAD)
        rrci_dict_grow(list);
    rrci_dict_insert(&list->dict, list->count - 1, link.p);
}

/* Remove a record of a list with a dictionary. The last one takes its place. */
static RRCI_NOINLINE void rrci_drop_key(rrc_heap *heap, const rrci_spot *spot)
{
    rrci_list *list = spot->list;
    const rrci_dict *dict = &list->dict;
    size_t index = spot->index, last = list->count - 1;
    rrci_dict_remove(*spot);
    if (index != last) {
        uint32_t mask, *word = rrci_dict_place(dict, last, rrci_at(list, last)->p, &mask);
        *word = (*word & ~mask) | ((uint32_t)index + 1);
        if (~mask == 0)
            *rrci_word(&dict->next, index) = *rrci_word(&dict->next, last);
    }
    rrci_remove(heap, list, index);
    if (dict->homes > 1 && last < dict->homes * (RRCI_LOAD / 6))
        rrci_dict_shrink(list);
}

/* ... of any list. */
RRCI_ALWAYS_INLINE void rrci_drop_link(rrc_heap *heap, rrci_spot spot)
{
    if (spot.list->dict.on)
        rrci_drop_key(heap, &spot);
    else
        rrci_remove(heap, spot.list, spot.index);
}

static int rrci_is_odd(rrc_gcref p)
{
    return ((uintptr_t)p & 1) != 0;
}

/* Find ob's link in this list without a dictionary. */
static int rrci_look_for_ob(rrci_list *list, const rrc_object *ob, rrci_spot *spot)
{
    spot->list = list;
    for (spot->index = 0; spot->index < list->count; spot->index++)
        if (rrci_at(list, spot->index)->ob == ob)
            return 1;
    return 0;
}

/* Find the link of ob, whose link field is not NULL. Returns 0 if it has none. (The maker of a link may have forgotten
   the bias, and the link field of a static object may have a marker.) Only the first search of a long list makes an
   optional dictionary, and not in a collection. If there is none, because the list is short or memory is lacking, the
   list is searched from its beginning. */
static int rrci_find_link(rrc_heap *heap, rrc_object *ob, rrci_spot *spot)
{
    rrci_list *list = &heap->links.list[RRCI_LISTS];
    if (RRC_LINK(ob) == heap->links.marker || rrci_is_odd(RRC_LINK(ob)))
        return 0;
    if (RRCI_UNLIKELY(RRCI_HAS_PLACES(heap)) && RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY) {
        spot->list = rrci_look_in_place(heap, RRC_LINK(ob), &spot->index);
        return spot->list != NULL;
    }
    while (list-- > heap->links.list) {
        rrci_dict *dict = &list->dict;
        if (list->count == 0)
            continue;
        if (!dict->on && list->count > RRCI_AHEAD && !RRCI_HAS_PLACES(heap) && !rrci_in_collection(heap)
            && rrci_dict_reserve(heap, dict, list->count) == RRC_OK)
            rrci_dict_fill(list, 0);
        dict->asked = 1;
        if (dict->on ? rrci_dict_find(list, RRC_LINK(ob), ob, spot) : rrci_look_for_ob(list, ob, spot))
            return 1;
    }
    return 0;
}

/* The ob of p in a P list, or NULL. */
static rrc_object *rrci_ob_of(const rrci_list *list, rrc_gcref p)
{
    const rrci_link *link;
    rrci_probe probe;
    if (list->count == 0)
        return NULL;
    rrci_begin_probe(&probe, list, p);
    link = rrci_next_probe(&probe, list, p);
    return link != NULL ? link->ob : NULL;
}

/* The ob of p's P link in a heap with young links or with places, or NULL. */
static RRCI_NOINLINE rrc_object *rrci_from_young(rrc_heap *heap, rrc_gcref p)
{
    const rrci_list *list;
    rrc_object *ob;
    size_t index;
    if (RRCI_HAS_PLACES(heap)) {
        list = rrci_look_in_place(heap, p, &index);
        return list != NULL && ((list - heap->links.list) & RRCI_O) == 0 ? rrci_at(list, index)->ob : NULL;
    }
    ob = rrci_ob_of(&heap->links.list[RRCI_P_YOUNG], p);
    return ob != NULL ? ob : rrci_ob_of(&heap->links.list[RRCI_P_OLD], p);
}

/* ... in any heap without a slot. */
static RRCI_NOINLINE rrc_object *rrci_from_dict(rrc_heap *heap, rrc_gcref p)
{
    if (heap->links.list[RRCI_P_YOUNG].count > 0 || RRCI_HAS_PLACES(heap))
        return rrci_from_young(heap, p);
    return rrci_ob_of(&heap->links.list[RRCI_P_OLD], p);
}

/* The ob of p's P link, or NULL. */
RRCI_ALWAYS_INLINE rrc_object *rrci_from_obj(rrc_heap *heap, rrc_gcref p)
{
    if (RRCI_HAS_SLOT(heap)) {
        rrc_object *ob;
        RRCI_BEGIN_HOOK(heap);
        ob = *RRC_HOST_SLOT(heap, p);
        RRCI_END_HOOK(heap);
        return ob;
    }
    return rrci_from_dict(heap, p);
}

/* ---- the queue ---- */

/* Debug builds know of an object with a debug head whether it is in the queue. */
static void rrci_note_queued(rrc_object *ob, int is_queued)
{
#ifdef RRC_DEBUG
    if (!rrci_is_freed(ob) && rrci_has_gc_head(ob)
        && (rrci_debug_head_of(ob)->is.cookie | 1) == rrci_debug_cookie(ob))
        rrci_debug_head_of(ob)->is.cookie = rrci_debug_cookie(ob) ^ (uintptr_t)is_queued;
#else
    (void)ob, (void)is_queued;
#endif
}

RRCI_ALWAYS_INLINE void rrci_enqueue(rrc_heap *heap, rrc_object *ob)
{
    rrci_queue *queue = &heap->waiting.queue;
    if (queue->tail == NULL || queue->tail_index == RRCI_CHUNK_QUEUED) {
        rrci_chunk *chunk = rrci_take_chunk(&heap->memory);
        *(queue->tail == NULL ? &queue->head : &queue->tail->queue.next) = chunk;
        queue->tail = chunk;
        queue->tail_index = 0;
    }
    queue->tail->queue.ob[queue->tail_index++] = ob;
    queue->count++;
    heap->stats.pending_bytes += rrci_bytes_of(heap, ob);
    rrci_note_queued(ob, 1);
}

/* The place of the object behind the n oldest ones. n is less than queue->count, and than a chunk. */
static rrc_object **rrci_queued_at(const rrci_queue *queue, size_t n)
{
    size_t index = queue->head_index + n;
    return index < RRCI_CHUNK_QUEUED ? &queue->head->queue.ob[index]
                                     : &queue->head->queue.next->queue.ob[index - RRCI_CHUNK_QUEUED];
}

/* ---- the link field ----
   The link field of an ob is NULL, its p, or the marker of rrc_mark_deallocating. All of these are
   even. (So are the addresses that a search or rrc_check puts there.) An odd word is the header's own,
   and its low two bits say what it holds. */

#define RRCI_DEFERRED   ((uintptr_t)1)      /* ob is in heap->waiting.later: the next object of that list, plus this */
#define RRCI_LEFT_QUEUE ((uintptr_t)3)      /* in RRCI_ENDING: ob has left the queue, and has no link */

/* The object after ob in heap->waiting.later. */
static rrc_object *rrci_next_deferred(rrc_object *ob)
{
    return (rrc_object *)((uintptr_t)RRC_LINK(ob) - RRCI_DEFERRED);
}

/* Does ob wait for its dealloc in heap->waiting.later? */
static int rrci_is_deferred(rrc_object *ob)
{
    return ((uintptr_t)RRC_LINK(ob) & 3) == RRCI_DEFERRED;
}

/* Has ob left the queue while rrc_heap_free runs? If it goes on living, C holds it. */
static int rrci_has_left(const rrc_heap *heap, rrc_object *ob)
{
    return heap->rest == RRCI_ENDING && (uintptr_t)RRC_LINK(ob) == RRCI_LEFT_QUEUE;
}

/* Set ob's link field to NULL. ob has no link. */
static void rrci_empty_link_field(rrc_heap *heap, rrc_object *ob)
{
    heap->waiting.left -= (size_t)rrci_has_left(heap, ob);
    RRC_LINK(ob) = NULL;
}

/* Take the oldest object off the queue, or return NULL. The caller owns its reference. */
static rrc_object *rrci_dequeue(rrc_heap *heap)
{
    rrci_queue *queue = &heap->waiting.queue;
    rrci_chunk *chunk = queue->head;
    rrc_object *ob;
    if (queue->count == 0)
        return NULL;
    ob = chunk->queue.ob[queue->head_index++];
    queue->count--;
    if (queue->count == 0 || queue->head_index == RRCI_CHUNK_QUEUED) {
        queue->head = queue->count > 0 ? chunk->queue.next : NULL;
        queue->tail = queue->count > 0 ? queue->tail : NULL;
        queue->head_index = 0;
        rrci_give_chunk(&heap->memory, chunk);
    }
    heap->stats.pending_bytes -= rrci_bytes_of(heap, ob);
    rrci_note_queued(ob, 0);
    if (heap->rest == RRCI_ENDING && RRC_LINK(ob) == NULL) {
        RRC_LINK(ob) = (rrc_gcref)RRCI_LEFT_QUEUE;
        heap->waiting.left++;
    }
    return ob;
}

static int rrci_is_linked_ob(rrc_object *ob)
{
    return RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY;
}

/* Does C hold this linked object? */
static int rrci_is_held(const rrc_object *ob)
{
    intptr_t count = RRCI_COUNT(ob);
    return count != RRC_REFCNT_FROM_PYPY && count != RRC_REFCNT_FROM_PYPY_LIGHT;
}

#ifndef RRC_NO_CYCLES
static int rrci_is_p_linked(rrc_heap *heap, rrc_object *ob)
{
    if (!rrci_is_linked_ob(ob))
        return 0;
    if (rrci_has_gc_head(ob))
        return (rrci_gc_head_of(ob)->is.word & RRCI_GC_P_LINKED) != 0;
    return RRC_LINK(ob) != NULL && rrci_from_obj(heap, RRC_LINK(ob)) == ob;
}
#endif

/* ---- wrappers: see >>outside ---- */

/* (The type is read only in heaps that have wrappers.) */
RRCI_ALWAYS_INLINE int rrci_is_wrapper(const rrc_heap *heap, rrc_object *ob)
{
    return RRCI_UNLIKELY(RRCI_HAS_WRAPPERS(heap)) && RRC_TYPE(ob) != NULL && RRC_TYPE(ob)->tp_outside != NULL;
}

/* More references than visits can explain, also if there are more of them by then. */
#define RRCI_INEXPLICABLE (INTPTR_MAX / 16)

static void rrci_outside_error(rrc_heap *heap, const char *function, rrc_object *ob, intptr_t count)
{
#ifndef RRC_NO_STDIO
    char detail[100];
    snprintf(detail, sizeof detail, "it returned %lld; the object counts as held", (long long)count);
#else
    const char *detail = "the object counts as held";
    (void)count;
#endif
    rrci_error(heap, RRC_EOUTSIDE, function, ob, NULL, detail);
}

/* The number of references to a wrapper's foreign object that are not the wrapper's own; 0 if ob is no wrapper;
   RRCI_INEXPLICABLE if tp_outside returns a wrong number. */
static RRCI_NOINLINE intptr_t rrci_ask_outside(rrc_heap *heap, rrc_object *ob, const char *function)
{
    intptr_t count;
    if (!rrci_is_wrapper(heap, ob))
        return 0;
    RRCI_BEGIN_HOOK(heap);
    count = RRC_TYPE(ob)->tp_outside(heap, ob);
    RRCI_END_HOOK(heap);
    if (count >= 0)
        return count;
    rrci_outside_error(heap, function, ob, count);
    return RRCI_INEXPLICABLE;
}

/* The same, quick in heaps without wrappers. */
RRCI_ALWAYS_INLINE intptr_t rrci_outside(rrc_heap *heap, rrc_object *ob)
{
    return RRCI_UNLIKELY(RRCI_HAS_WRAPPERS(heap)) ? rrci_ask_outside(heap, ob, "tp_outside") : 0;
}

/* All references to ob, but for that of its link: C's, and those to its foreign object. */
RRCI_ALWAYS_INLINE intptr_t rrci_references(rrc_heap *heap, rrc_object *ob)
{
    return rrc_refcnt(ob) + rrci_outside(heap, ob);
}

static RRCI_NOINLINE intptr_t rrci_weight_among_wrappers(rrc_heap *heap, rrc_object *ob)
{
    intptr_t weight = rrci_references(heap, ob);
    if (RRCI_LISTENS(heap) && rrci_is_wrapper(heap, ob) && heap->layer->must_stay(heap, ob))
        return weight + RRCI_INEXPLICABLE;      /* nobody tells when foreign code takes or drops one */
    if (rrci_is_in_tracked(ob))
        weight -= rrci_is_held_for_others(heap, ob);
    return weight;
}

/* The number of these that visits must explain, for a search. */
RRCI_ALWAYS_INLINE intptr_t rrci_weight(rrc_heap *heap, rrc_object *ob)
{
    return RRCI_UNLIKELY(RRCI_HAS_WRAPPERS(heap)) ? rrci_weight_among_wrappers(heap, ob) : rrc_refcnt(ob);
}

static void rrci_trace_p(rrc_heap *heap, rrc_gcref p)
{
    RRCI_BEGIN_HOOK(heap);
    RRC_HOST_TRACE(heap, p);
    RRCI_END_HOOK(heap);
}

/* ---- calls of slots, and the fields that they find ---- */

/* A bit for the address of ob. */
RRCI_ALWAYS_INLINE uintptr_t rrci_slot_bit(const rrc_object *ob)
{
    return (uintptr_t)1 << (((uintptr_t)ob >> 4 ^ (uintptr_t)ob >> 9) % (8 * sizeof(uintptr_t)));
}

static void rrci_begin_slot(rrci_calls *calls, rrci_slot_call *call, const rrc_object *ob)
{
    call->ob = ob;
    call->bits = calls->slot_bits;
    call->is_reached = 0;
    call->outer = calls->slot_calls;
    if (call->outer != NULL)
        calls->slot_bits |= rrci_slot_bit(call->outer->ob);
    calls->slot_calls = call;
}

/* Slots of several threads or coroutines of a host can be in progress at a time, and end in any order. (Then more bits
   are set than needed, which costs a walk.) */
static void rrci_end_slot(rrci_calls *calls, const rrci_slot_call *call)
{
    rrci_slot_call *inner = calls->slot_calls;
    if (inner == call) {
        calls->slot_calls = call->outer;
        calls->slot_bits = call->bits;
        return;
    }
    while (inner->outer != call)
        inner = inner->outer;
    inner->outer = call->outer;
}

RRCI_ALWAYS_INLINE rrci_slot_call *rrci_slot_call_of(const rrci_calls *calls, const rrc_object *ob)
{
    rrci_slot_call *call = calls->slot_calls;
    if (call == NULL || call->ob == ob)
        return call;
    if (!RRCI_UNLIKELY((calls->slot_bits & rrci_slot_bit(ob)) != 0))
        return NULL;
    while (call != NULL && call->ob != ob)
        call = call->outer;
    return call;
}

/* The field can be a pointer to any struct, so it is not accessed as a rrc_object *. */
static rrc_object *rrci_member_value(rrc_object *ob, const rrc_member *member)
{
    rrc_object *value;
    memcpy(&value, (const char *)ob + member->offset, sizeof value);
    return value;
}

#ifndef RRC_NO_CYCLES
/* ---- what a search and garbage do to the heads of tracked objects ---- */

/* From now on the header is told when C takes a reference to ob, by the sign of its count: see rrci_event. */
static void rrci_watch(rrc_object *ob)
{
    RRC_REFCNT(ob) |= INTPTR_MIN;
}

/* The search is over for this object: forget all that it noted in the GC head. */
static void rrci_whiten(const rrci_machine *machine, rrci_gc_head *head)
{
    head->is.word &= ~(RRCI_GC_COLOR | RRCI_GC_KEPT | RRCI_GC_OWNED | RRCI_GC_SOON);
    head->is.word |= machine->white;
    head->is.refs = 0;
}

/* Add an object that is in none of them to one of the lists, which has room for it. */
RRCI_ALWAYS_INLINE void rrci_gc_add(rrc_heap *heap, uintptr_t list, rrc_object *ob)
{
    rrci_list *to = &heap->tracked.list[list];
    size_t index = to->count++;
    if (index % RRCI_CHUNK_OBS == 0)
        to->chunk[index / RRCI_CHUNK_OBS] = rrci_take_chunk(&heap->memory);
    *rrci_ob_at(to, index) = ob;
    rrci_gc_place(rrci_gc_head_of(ob), list, index);
    if (list > RRCI_TRACKED)            /* it waits there */
        heap->stats.pending_bytes += rrci_bytes_of(heap, ob);
}

static void rrci_gc_move(rrc_heap *heap, rrci_gc_kind list, rrc_object *ob)
{
    rrci_gc_take_out(heap, ob);
    rrci_gc_add(heap, (uintptr_t)list, ob);
    heap->tracked.walked -= heap->tracked.walked > 0;
}

/* A stage that passes RRCI_TRACKED downwards has come to a hole: the last entry fills it. */
static void rrci_fill_hole(rrc_heap *heap, size_t index)
{
    rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    if (heap->tracked.walking > 0)
        return;
    if (index != list->count - 1)
        rrci_gc_fill(list, RRCI_TRACKED, index, list->count - 1);
    rrci_drop_last_ob(heap, list);
    heap->tracked.holes--;
}

/* The tp_clear of this tracked object is to be called next. */
static void rrci_note_cleared(rrci_tracked *tracked, rrci_gc_head *head)
{
    tracked->cleared += (head->is.word & RRCI_GC_CLEARED) == 0;
    head->is.word |= RRCI_GC_CLEARED;
}

/* A search has found ob alive. (If garbage was waiting or being cleared when it began, the next search decides.) */
static void rrci_forgive(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    rrci_set_uncollectable(&heap->tracked, head, 0);
    if ((head->is.word & RRCI_GC_CLEARED) == 0 || !heap->waiting.forgives)
        return;
    rrci_forget_cleared(&heap->tracked, head);
    if (!RRCI_LISTENS(heap))
        RRC_REFCNT(ob) &= INTPTR_MAX;
}

/* Where is garbage that waits, and has no weak references to be cleared, to wait? */
RRCI_ALWAYS_INLINE rrci_gc_kind rrci_list_to_wait_in(rrc_heap *heap, rrc_object *ob)
{
    if ((rrci_gc_head_of(ob)->is.word & RRCI_GC_KEPT) != 0)
        return rrci_is_finalizable(ob) ? RRCI_FINALIZE : RRCI_SAVED;
    return rrc_refcnt(ob) == 1 && rrci_outside(heap, ob) == 0 ? RRCI_OWNERS : RRCI_CLEAR;
}

/* ---- traverses, and objects that wait for theirs ---- */

#define RRCI_RING 64

typedef struct rrci_search {
    rrc_heap   *heap;
    const char *function;
    rrc_object *parent;         /* the object that is being traversed */
    uintptr_t   level;          /* ... and the level at which it makes objects alive: see rrci_color */
    char        explains_linked;        /* references to linked objects that are not tracked are explained, too */
    char        with_host;      /* over both heaps; else links hold their objects */
    char        is_divided;     /* the mutator runs before it ends: objects are weighed when they are first seen */
    char        ends;           /* the search ends in this call: the host is asked to finish its marking */
    char        is_early;       /* for rrc_major_collection_trace_early */
    char        is_wrong;       /* a traverse is wrong: the result is not used */
    intptr_t    max;            /* the slice ends after so many units: objects and visits; INTPTR_MAX: never */
    intptr_t    end;            /* `max` less the objects so far, or 0 if a traverse is wrong: `at` goes up to it */
#ifdef RRC_DEBUG
    uint64_t    sum, counts;    /* of one traverse: over what it visits, and with their counts */
#endif
    rrc_object *ring[RRCI_RING];    /* visited objects whose heads are being prefetched */
    size_t      at, delayed;        /* number of visits; number of objects in the ring */
} rrci_search;

static void rrci_begin_search(rrci_search *search, rrc_heap *heap, const char *function)
{
    memset(search, 0, sizeof *search);
    search->heap = heap;
    search->function = function;
    search->max = search->end = INTPTR_MAX;
}

/* The slice ends after `max` units, or begins once more. */
static void rrci_limit(rrci_search *search, size_t max)
{
    search->max = search->end = max < INTPTR_MAX ? (intptr_t)max : INTPTR_MAX;
}

/* May the slice go on? */
static int rrci_may_go_on(const rrci_search *search)
{
    return (intptr_t)search->at < search->end;
}

static size_t rrci_units_done(const rrci_search *search)
{
    return (size_t)(search->max - search->end) + search->at;
}

static void rrci_traverse_members(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    const rrc_member *member = RRC_TYPE(ob)->tp_members;
    for (; member != NULL && member->name != NULL; member++) {
        rrc_object *target = rrci_member_value(ob, member);
        if (target != NULL)
            visit(target, arg);
    }
}

/* Visit all that ob refers to. (A tp_traverse visits the heap type of its object too.) */
RRCI_ALWAYS_INLINE void rrci_traverse(rrci_search *search, rrc_object *ob, rrc_visitproc visit)
{
    const rrc_type *type = RRC_TYPE(ob);
    search->parent = ob;
    RRCI_BEGIN_HOOK(search->heap);
    if (type->tp_traverse != NULL) {
        type->tp_traverse(ob, visit, search);
    } else {
        rrci_traverse_members(ob, visit, search);
        if ((type->tp_flags & RRC_TPFLAGS_HEAPTYPE) != 0)
            visit((rrc_object *)(uintptr_t)type, search);
    }
    RRCI_END_HOOK(search->heap);
}

/* Where an object is in RRCI_TRACKED: its index plus 1. It is never 0. */
static uintptr_t rrci_place(const rrci_gc_head *head)
{
    return (head->is.word >> RRCI_GC_SHIFT) + 1;
}

static rrc_object **rrci_at_place(const rrci_tracked *tracked, uintptr_t place)
{
    return rrci_ob_at(&tracked->list[RRCI_TRACKED], (size_t)(place - 1));
}

/* Gray objects are threaded through their scratch words, first in, first out. One queue would show only
   the next one, and each object would be waited for. So each of many queues gets every 64th object.
   When one is taken off, its successor is prefetched, and has the time of 63 others to arrive.
   A gray object can be freed or moved while it waits. So the scratch words have places instead of addresses. An object
   that leaves its place leaves a hole, which is threaded instead. */
RRCI_ALWAYS_INLINE void rrci_push_gray(rrc_heap *heap, rrci_gray *gray, rrc_object *ob)
{
    size_t stripe = gray->in++ % RRCI_STRIPES;
    rrci_gc_head *head = rrci_gc_head_of(ob);
    uintptr_t place = rrci_place(head);
    head->is.refs = 0;
    if (gray->first[stripe] == 0) {
        gray->first[stripe] = place;
    } else {
        rrc_object **last = rrci_at_place(&heap->tracked, gray->last[stripe]);
        if (RRCI_UNLIKELY(rrci_is_hole(*last)))
            *last = rrci_hole(place);
        else
            rrci_gc_head_of(*last)->is.refs = place;
    }
    gray->last[stripe] = place;
}

/* Returns NULL if no object is gray. */
RRCI_ALWAYS_INLINE rrc_object *rrci_pop_gray(rrc_heap *heap, rrci_gray *gray)
{
    while (gray->out != gray->in) {
        uintptr_t *first = &gray->first[gray->out++ % RRCI_STRIPES];
        rrc_object *ob = *rrci_at_place(&heap->tracked, *first);
        rrci_gc_head *head;
        if (RRCI_UNLIKELY(rrci_is_hole(ob))) {
            *first = (uintptr_t)ob >> 1;
            continue;
        }
        head = rrci_gc_head_of(ob);
        *first = head->is.refs;
        head->is.refs = 0;
        if (*first != 0)
            RRCI_PREFETCH_FIELDS(*rrci_at_place(&heap->tracked, *first));
        return ob;
    }
    return NULL;
}

/* Is this object, which the search has found, gray? (The last one of a queue has no successor.) */
static int rrci_is_gray(const rrci_gray *gray, const rrci_gc_head *head)
{
    size_t i;
    for (i = 0; i < RRCI_STRIPES && head->is.refs == 0; i++)
        if (gray->first[i] != 0 && gray->last[i] == rrci_place(head))
            return 1;
    return head->is.refs != 0;
}

static int rrci_visit_touch(rrc_object *ob, void *arg)
{
    rrc_heap *heap = ((rrci_search *)arg)->heap;
    if (RRC_REFCNT(ob) < 0 && !(rrci_is_gc_object(ob) && rrci_is_waiting(rrci_gc_head_of(ob))) && !rrci_is_late(heap, ob))
        rrc_touch(heap, ob);                /* (touching a heap type twice is harmless) */
    return 0;
}

/* Call rrc_touch for all objects that ob owns, but for those that are garbage, as ob is, or was. */
static void rrci_touch_owned(rrc_heap *heap, rrc_object *ob)
{
    rrci_search search;
    rrci_begin_search(&search, heap, "rrc_touch");
    heap->calls.touching++;
    rrci_traverse(&search, ob, rrci_visit_touch);
    heap->calls.touching--;
    if (RRCI_LISTENS(heap))
        heap->layer->touched(heap);
}

/* ---- what is found alive ---- */

/* A search has found a tracked object at this level: 0, it is alive; RRCI_GC_KEPT, garbage with a finalizer to run
   reaches it; RRCI_GC_OWNED, it is garbage that other garbage owns. A level is above the others if its number is
   less. */
RRCI_ALWAYS_INLINE void rrci_color(rrc_heap *heap, rrc_object *ob, rrci_gc_head *head, uintptr_t level)
{
    head->is.word = (head->is.word & ~(RRCI_GC_COLOR | RRCI_GC_KEPT | RRCI_GC_OWNED))
                  | (heap->machine.unfound ^ RRCI_GC_COLOR) | level;
    heap->machine.alive += level == 0;
    if (level == 0 && RRC_REFCNT(ob) < 0 && !RRCI_LISTENS(heap))
        rrci_unwatch(heap, ob);
}

/* ob, which was below this level, was found there. The scan visits what ob refers to. If it has passed ob, ob becomes
   gray instead. */
RRCI_ALWAYS_INLINE void rrci_make_alive(rrc_heap *heap, rrc_object *ob, uintptr_t level)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    int is_gray = RRCI_UNLIKELY(rrci_is_alive(&heap->machine, head)) && rrci_is_gray(&heap->machine.gray, head);
    rrci_color(heap, ob, head, level);
    if (head->is.word >> RRCI_GC_SHIFT < heap->machine.scan && !is_gray)
        rrci_push_gray(heap, &heap->machine.gray, ob);
}

/* ---- events: what happens to an object while a search goes on, or while it waits as garbage ---- */

typedef enum rrci_event_kind {
    RRCI_EVENT_HELD,            /* C or the header has taken a reference to it, or one is about to move */
    RRCI_EVENT_LEAVING          /* it is about to be untracked, finalized or deallocated: what it owns can move out
                                   unseen */
} rrci_event_kind;

/* Is the verdict of a collection or step still to come? */
static int rrci_is_marking(const rrc_heap *heap)
{
    return !RRCI_IS_IDLE(heap) && heap->machine.stage <= RRCI_VERDICT;
}

/* Before the verdict: ob is alive. If nobody visits p from ob, p is traced. */
static void rrci_get_hold(rrc_heap *heap, rrc_object *ob)
{
    int was_watched = RRC_REFCNT(ob) < 0;
    if (was_watched)
        rrci_end_watch(heap, ob);
    if (heap->machine.searched && rrci_is_in_tracked(ob)) {
        if (rrci_is_below(&heap->machine, rrci_gc_head_of(ob), 0))
            rrci_make_alive(heap, ob, 0);
        return;
    }
    if (rrci_has_gc_head(ob) && !rrci_is_tracked(ob)) {
        rrci_gc_head_of(ob)->is.refs = 0;
        was_watched = (rrci_gc_head_of(ob)->is.word & RRCI_GC_P_LINKED) != 0;
    }
    if (rrci_is_started(heap) && was_watched && rrci_is_linked_ob(ob))
        rrci_trace_p(heap, RRC_LINK(ob));       /* (without a GC head only objects with P links are watched) */
}

/* An event that concerns no garbage: ob has got or lost a link, has lost its last reference, or is tracked now. */
static void rrci_note_change(rrc_heap *heap, rrc_object *ob)
{
    if (RRCI_UNLIKELY(rrci_is_marking(heap)) && !rrci_is_condemned(heap, ob))
        rrci_get_hold(heap, ob);
}

static void rrci_drop_quietly(rrc_heap *heap, rrc_object *ob);        /* see >>deallocation */

/* Move an object that waits to RRCI_TRACKED. The caller owns the reference of its list. */
static void rrci_gc_return(rrc_heap *heap, rrc_object *ob)
{
    RRC_REFCNT(ob) &= INTPTR_MAX;
    rrci_gc_move(heap, RRCI_TRACKED, ob);
    rrci_whiten(&heap->machine, rrci_gc_head_of(ob));
    if (rrci_is_marking(heap))
        rrci_get_hold(heap, ob);
    rrci_tell(heap, ob, RRCI_NEWS_RETURNED);
}

/* In a heap with a layer: an unlinked wrapper is not garbage any more, and others refer to its foreign object. The
   header holds it, by the reference that the list of garbage had. Returns 0 for all else. */
static int rrci_hold_again(rrc_heap *heap, rrc_object *ob)
{
    if (!RRCI_LISTENS(heap) || rrci_outside(heap, ob) <= 0)
        return 0;
    rrci_hold_for_others(heap, ob, 1);
    return 1;
}

/* ob, which was garbage or kept for it, is not any more. */
static void rrci_absolve(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    int is_late = rrci_is_late(heap, ob), is_waiting = rrci_is_waiting(head);
    int has_reference = is_waiting || (head->is.word & RRCI_GC_SOON) != 0;
    if (rrci_is_layers(heap, ob))
        rrci_end_watch(heap, ob);
    if (is_waiting)
        rrci_gc_return(heap, ob);
    else
        rrci_forget_cleared(&heap->tracked, head);
    if (is_late && heap->machine.stage == RRCI_ASIDE)
        rrci_color(heap, ob, head, 0);
    else if (is_late)
        rrci_make_alive(heap, ob, 0);
    head->is.word &= ~RRCI_GC_SOON;
    if (rrci_is_marking(heap))
        rrci_get_hold(heap, ob);
    if (has_reference && !rrci_hold_again(heap, ob))
        rrci_drop_quietly(heap, ob);
}

#define RRCI_ABSOLVING_GRAY 50

/* Objects to be absolved, threaded through their scratch words. They are not watched any more. What was cleared can be
   gray, if a search goes on. Then its scratch word is in use. (Mostly it reaches nothing any more.) */
typedef struct rrci_absolving {
    rrci_search search;         /* first, because visitors get its address */
    rrc_object *first, *gray[RRCI_ABSOLVING_GRAY];
    size_t      gray_count;
    char        leaves_some;    /* there were too many gray ones: others are left, cleared and not watched any more */
} rrci_absolving;

/* (What is garbage, and not aside yet, still has the scratch word by which it was found.) */
static void rrci_absolve_reached(rrci_absolving *absolving, rrc_object *ob)
{
    rrc_heap *heap = absolving->search.heap;
    rrci_gc_head *head = rrci_gc_head_of(ob);
    rrci_end_watch(heap, ob);
    RRC_REFCNT(ob) &= INTPTR_MAX;       /* (the layer can leave it watched) */
    if (!rrci_is_in_tracked(ob) || !rrci_is_alive(&heap->machine, head) || !rrci_is_gray(&heap->machine.gray, head)) {
        head->is.refs = (uintptr_t)absolving->first;
        absolving->first = ob;
    } else if (absolving->gray_count < RRCI_ABSOLVING_GRAY) {
        absolving->gray[absolving->gray_count++] = ob;
    } else {
        absolving->leaves_some = 1;
        return;
    }
    rrci_forget_cleared(&heap->tracked, head);
}

static int rrci_visit_absolve(rrc_object *ob, void *arg)
{
    rrci_absolving *absolving = (rrci_absolving *)arg;
    rrc_heap *heap = absolving->search.heap;
    rrci_slot_call *call;
    if ((RRC_REFCNT(ob) < 0 && rrci_is_condemned(heap, ob))
        || (RRCI_LISTENS(heap) && rrci_is_in_tracked(ob) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) != 0))
        rrci_absolve_reached(absolving, ob);
    else if ((call = rrci_slot_call_of(&heap->calls, ob)) != NULL)
        call->is_reached = 1;
    return 0;
}

static void rrci_absolve_listed(rrci_absolving *absolving)
{
    while (absolving->first != NULL || absolving->gray_count > 0) {
        rrc_object *ob = absolving->first;
        if (ob != NULL) {
            absolving->first = (rrc_object *)rrci_gc_head_of(ob)->is.refs;
            rrci_gc_head_of(ob)->is.refs = 0;
        } else {
            ob = absolving->gray[--absolving->gray_count];
        }
        rrci_traverse(&absolving->search, ob, rrci_visit_absolve);
        rrci_absolve(absolving->search.heap, ob);
    }
}

/* C has got hold of garbage, or of what is kept for it: absolve ob, and all garbage that it reaches in C. */
static void rrci_absolve_all(rrc_heap *heap, rrc_object *ob)
{
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrci_absolving absolving;
    size_t i;
    memset(&absolving, 0, sizeof absolving);
    rrci_begin_search(&absolving.search, heap, "rrc_incref");
    rrci_absolve_reached(&absolving, ob);
    rrci_absolve_listed(&absolving);
    while (absolving.leaves_some) {
        absolving.leaves_some = 0;
        for (i = 0; i < list->count; i++) {
            ob = *rrci_ob_at(list, i);
            if (!rrci_is_hole(ob) && RRC_REFCNT(ob) >= 0 && (rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) != 0)
                rrci_absolve_reached(&absolving, ob);
            rrci_absolve_listed(&absolving);
        }
    }
}

static void rrci_blacken_now(rrc_heap *heap, rrc_object *ob);      /* see >>cycles */
static RRCI_NOINLINE void rrci_visit_found(rrc_heap *heap);

static void rrci_event(rrc_heap *heap, rrc_object *ob, rrci_event_kind event)
{
    int is_leaving = event == RRCI_EVENT_LEAVING;
    if (rrci_is_condemned(heap, ob) || (is_leaving && rrci_is_late(heap, ob))) {
        if (heap->machine.stage < RRCI_ASIDE && rrci_is_late(heap, ob))
            rrci_absolve(heap, ob);     /* the machine still finds what ob reaches, over both heaps */
        else
            rrci_absolve_all(heap, ob);
    } else if (rrci_is_marking(heap)) {
        rrci_get_hold(heap, ob);
        if (is_leaving && heap->machine.searched && rrci_is_tracked(ob))
            rrci_touch_owned(heap, ob);
    } else if (!is_leaving) {
        rrci_end_watch(heap, ob);       /* it is the layer's, or has outlived its search */
    }
    if (is_leaving && heap->machine.keeping != 0 && rrci_is_in_tracked(ob)
        && rrci_is_gray(&heap->machine.gray, rrci_gc_head_of(ob)))
        rrci_blacken_now(heap, ob);     /* it leaves the gray objects, too */
    if (heap->state == RRCI_OPEN)
        rrci_visit_found(heap);         /* nobody else visits what ob refers to */
}

/* Move an object that is garbage, or kept for finalizers, to the list where it waits, which takes a reference. There it
   is watched. */
static void rrci_set_aside(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    uintptr_t kept = head->is.word & RRCI_GC_KEPT;
    int has_reference = rrci_is_listed(heap, ob);
    rrci_tell(heap, ob, RRCI_NEWS_ASIDE);
    rrci_hold_for_others(heap, ob, 0);
    rrci_whiten(&heap->machine, head);
    RRC_REFCNT(ob) += !has_reference;
    head->is.word |= kept;
    rrci_forget_cleared(&heap->tracked, head);
    rrci_gc_move(heap, RRC_TYPE(ob)->tp_clear_weakrefs != NULL ? RRCI_WEAKREFS : rrci_list_to_wait_in(heap, ob), ob);
    rrci_watch(ob);
}
#else
#define rrci_event(heap, ob, event) ((void)0)
#define rrci_note_change(heap, ob) ((void)0)
#define rrci_touch_owned(heap, ob) ((void)0)
#endif

/* ---- observers ---- */

static RRCI_NOINLINE void rrci_tell_observers(rrc_heap *heap, rrc_object *ob)
{
    rrc_observer *observer, *next;
    for (observer = heap->observers; observer != NULL; observer = next) {
        next = observer->next;
        observer->gone(observer, heap, ob);
    }
}

/* ob is freed, or gets another address: what is at this address later is another object. */
RRCI_ALWAYS_INLINE void rrci_is_gone(rrc_heap *heap, rrc_object *ob)
{
    if (RRCI_UNLIKELY(heap->observers != NULL))
        rrci_tell_observers(heap, ob);
}

/* >>objects
 * ---------------------------------------------------------------------------
 * The memory of an object:
 *
 *   [rrci_var_head, if its size varies or the type has tp_size][the layer's words, with HAVE_GC]
 *   [rrci_debug_head, with RRC_DEBUG][rrci_gc_head][RRC_OBJECT_PREFIX][object]
 *
 * The size is kept because the realloc hook gets it when the memory is freed. */

#ifdef RRCI_ADAPTED_LAYOUT
#define RRCI_SMALLEST_OBJECT ((size_t)1)
#else
#define RRCI_SMALLEST_OBJECT sizeof(rrc_object)
#endif

/* before + basic + n * item, or 0 if that is too much. */
static size_t rrci_block_size(size_t before, size_t basic, size_t n, size_t item)
{
    if (basic > SIZE_MAX - before || (n > 0 && n > (SIZE_MAX - before - basic) / item))
        return 0;
    return before + basic + n * item;
}

/* Does a type need what this build leaves out? */
#define RRCI_NEEDS_CYCLES \
    "the type has RRC_TPFLAGS_HAVE_GC or tp_outside: build the implementing unit without RRC_NO_CYCLES"
static int rrci_needs_cycles(const rrc_type *type)
{
    return !RRCI_CYCLES && type != NULL && ((type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 || type->tp_outside != NULL);
}

/* Make an object with n items of `item` bytes. */
static rrc_object *rrci_new(rrc_heap *heap, const rrc_type *type, size_t n, size_t item, int is_gc,
                            const char *function)
{
    const char *wrong = NULL;
    size_t before, size;
    int is_sized;
    char *memory;
    rrc_object *ob;
    if (rrci_gate(heap, RRCI_MUTATES, function) != RRC_OK)
        return NULL;
    if (type == NULL)
        wrong = "type is NULL";
    else if (rrci_needs_cycles(type))
        wrong = RRCI_NEEDS_CYCLES;
    else if (type->tp_basicsize < RRCI_SMALLEST_OBJECT)
        wrong = "tp_basicsize is smaller than the head of an object";
    else if (n > 0 && item == 0)
        wrong = "items are asked for, but tp_itemsize is 0";
    else if (is_gc && !rrci_is_gc_type(type))
        wrong = "tp_flags lack RRC_TPFLAGS_HAVE_GC: use rrc_new, or set it";
    else if (!is_gc && rrci_is_gc_type(type))
        wrong = "tp_flags have RRC_TPFLAGS_HAVE_GC: use rrc_gc_new";
    if (wrong != NULL) {
        rrci_error(heap, RRC_ETYPE, function, NULL, NULL, wrong);
        return NULL;
    }
    is_sized = (item | type->tp_itemsize | (uintptr_t)type->tp_size) != 0;
    before = rrci_bytes_before(heap, type, is_sized);
    size = rrci_block_size(before, type->tp_basicsize, n, item);
    memory = size > 0 ? (char *)rrci_heap_realloc(heap, NULL, 0, size) : NULL;
    if (memory == NULL)
        return NULL;
    memset(memory, 0, size);
    ob = (rrc_object *)(void *)(memory + before);
    if (is_sized) {
        ((rrci_var_head *)(void *)memory)->is.size = size;
        rrci_gc_head_of(ob)->is.word = RRCI_GC_SIZED;
    }
    RRC_REFCNT(ob) = 1;
    RRC_LINK(ob) = NULL;
    RRC_SET_TYPE(ob, type);
#ifdef RRC_DEBUG
    rrci_debug_head_of(ob)->is.heap = heap;
    rrci_debug_head_of(ob)->is.cookie = rrci_debug_cookie(ob);
#endif
    if ((type->tp_flags & RRC_TPFLAGS_HEAPTYPE) != 0) {
        RRC_REFCNT((rrc_object *)(uintptr_t)type)++;
        rrc_touch(heap, (rrc_object *)(uintptr_t)type);
    }
    heap->counters.objects++;
    heap->stats.object_bytes += size;
    if (RRCI_UNLIKELY(type->tp_outside != NULL))
        heap->tracked.wrappers++;
    return ob;
}

RRC_API rrc_object *rrc_new(rrc_heap *heap, const rrc_type *type)
{
    return rrci_new(heap, type, 0, 0, 0, "rrc_new");
}

RRC_API rrc_object *rrc_new_var(rrc_heap *heap, const rrc_type *type, size_t n)
{
    return rrci_new(heap, type, n, type != NULL ? type->tp_itemsize : 0, 0, "rrc_new_var");
}

#ifndef RRC_NO_CYCLES
RRC_API rrc_object *rrc_gc_new(rrc_heap *heap, const rrc_type *type)
{
    return rrci_new(heap, type, 0, 0, 1, "rrc_gc_new");
}

RRC_API rrc_object *rrc_gc_new_var(rrc_heap *heap, const rrc_type *type, size_t n)
{
    return rrci_new(heap, type, n, type != NULL ? type->tp_itemsize : 0, 1, "rrc_gc_new_var");
}

RRC_API rrc_object *rrc_gc_new_with_extra_data(rrc_heap *heap, const rrc_type *type, size_t extra)
{
    return rrci_new(heap, type, extra, 1, 1, "rrc_gc_new_with_extra_data");
}

RRC_API rrc_object *rrc_gc_resize(rrc_heap *heap, rrc_object *ob, size_t n)
{
    const char *function = "rrc_gc_resize";
    int code = rrci_gate_ob(heap, ob, function);
    const rrc_type *type;
    size_t before, size, old_size;
    char *memory;
    if (code != RRC_OK)
        return NULL;
    if (!rrci_is_gc_object(ob) || RRC_TYPE(ob)->tp_itemsize == 0)
        code = rrci_error(heap, RRC_ETYPE, function, ob, NULL, "the object is not one of rrc_gc_new_var");
    else if (rrci_is_tracked(ob) || (RRC_LINK(ob) != NULL && !rrci_has_left(heap, ob)))
        code = rrci_error(heap, rrci_is_tracked(ob) ? RRC_ETRACKED : RRC_ELINKED, function, ob, RRC_LINK(ob),
                          "its address may not change now; it was left alone");
    else if (rrci_slot_call_of(&heap->calls, ob) != NULL)
        code = rrci_error(heap, RRC_EPHASE, function, ob, NULL,
                          "one of its slots is running, such as tp_finalize; it was left alone");
    else if (RRCI_COUNT(ob) > 1 || heap->state == RRCI_LAYER_RUNS)
        code = rrci_error(heap, RRCI_COUNT(ob) > 1 ? RRC_EREFCNT : RRC_EPHASE, function, ob, NULL,
                          "others refer to it, and its address may change; it was left alone");
    if (code != RRC_OK)
        return NULL;
    type = RRC_TYPE(ob);
    before = rrci_bytes_before(heap, type, 1);
    size = rrci_block_size(before, type->tp_basicsize, n, type->tp_itemsize);
    memory = (char *)ob - before;
    old_size = ((rrci_var_head *)(void *)memory)->is.size;
    memory = size > 0 ? (char *)rrci_heap_realloc(heap, memory, old_size, size) : NULL;
    if (memory == NULL)
        return NULL;
    if (memory + before != (char *)ob)
        rrci_is_gone(heap, ob);
    if (size > old_size)
        memset(memory + old_size, 0, size - old_size);
    ((rrci_var_head *)(void *)memory)->is.size = size;
    heap->stats.object_bytes += size - old_size;
    ob = (rrc_object *)(void *)(memory + before);
#ifdef RRC_DEBUG
    rrci_debug_head_of(ob)->is.cookie = rrci_debug_cookie(ob);
#endif
    return ob;
}
#endif

/* When the last object of a heap that has ended is freed, free the heap itself. */
static void rrci_end_husk(rrc_heap *heap)
{
    if (RRCI_UNLIKELY(heap->state == RRCI_HUSK) && heap->counters.objects <= 0 && heap->calls.depth == 0) {
        rrc_desc desc = heap->desc;
        rrci_realloc(&desc, heap, sizeof *heap, 0);
    }
}

/* Has ob lost its last reference? Then what it owns must stay until its dealloc has run: the layer is told. */
RRCI_ALWAYS_INLINE int rrci_is_dying(rrc_heap *heap, rrc_object *ob)
{
    if (RRCI_COUNT(ob) != 0)
        return 0;
    if (RRC_REFCNT(ob) < 0)
        rrci_end_watch(heap, ob);
    RRC_REFCNT(ob) = 0;
    return 1;
}

/* Drop a reference. Was it the last one? */
static int rrci_drop_one(rrc_heap *heap, rrc_object *ob)
{
    RRC_REFCNT(ob)--;
    return rrci_is_dying(heap, ob);
}

/* Debug builds know: does ob wait for rrc_run_pending, in the queue or elsewhere, which owns a reference? */
static int rrci_is_owned(rrc_object *ob)
{
#ifdef RRC_DEBUG
    return rrci_is_deferred(ob) || (rrci_is_tracked(ob) && rrci_is_waiting(rrci_gc_head_of(ob)))
        || (rrci_has_gc_head(ob) && (rrci_debug_head_of(ob)->is.cookie & 1) == 0);
#else
    (void)ob;
    return 0;
#endif
}

/* May ob, of which a slot is running if `call` is not NULL, be freed? Logs why not. */
static int rrci_may_del(rrc_heap *heap, rrc_object *ob, const rrci_slot_call *call, const char *function)
{
    int is_owned, code = RRC_OK;
    rrci_spot spot;
    if (rrci_is_freed(ob))
        return rrci_error(heap, RRC_EFREED, function, ob, NULL, "");
    is_owned = call != NULL || rrci_is_owned(ob);
    if (RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY || (RRC_LINK(ob) != NULL && rrci_find_link(heap, ob, &spot)))
        code = rrci_error(heap, RRC_ELINKED, function, ob, RRC_LINK(ob), "the object was not freed");
    else if (RRCI_COUNT(ob) > !is_owned)
        code = rrci_error(heap, RRC_EREFCNT, function, ob, RRC_LINK(ob),
                          "others refer to the object; it was not freed");
    else if (rrci_is_inside(heap) && rrci_is_tracked(ob))
        code = rrci_error(heap, RRC_EPHASE, function, ob, NULL,
                          "called from a hook; a collection is looking at the object");
    else if (RRC_TYPE(ob) == NULL)
        code = rrci_error(heap, RRC_ETYPE, function, ob, NULL, "the type is NULL; the object is leaked");
    return code;
}

/* Free the memory of ob, which nothing refers to. Returns its heap type, to which it had a reference, or NULL. */
RRCI_ALWAYS_INLINE rrc_object *rrci_free_block(rrc_heap *heap, rrc_object *ob, rrci_slot_call *call)
{
    const rrc_type *type = RRC_TYPE(ob);
    int is_sized = rrci_is_sized(ob, type);
    size_t before = rrci_bytes_before(heap, type, is_sized);
    char *memory = (char *)ob - before;
    size_t size = is_sized ? ((rrci_var_head *)(void *)memory)->is.size
                : type->tp_basicsize > 0 ? before + type->tp_basicsize : 0;
    if (rrci_is_tracked(ob))
        rrci_untrack(heap, ob);
    rrci_is_gone(heap, ob);
    if (call != NULL)
        call->ob = NULL;                /* what is at this address later is another object */
    if (RRCI_UNLIKELY(RRCI_LISTENS(heap)) && rrci_is_gc_type(type)
        && *(uint32_t *)(void *)(is_sized ? memory + sizeof(rrci_var_head) : memory) != 0)
        heap->layer->news(heap, ob, RRCI_NEWS_FREED);
    if (is_sized && ((rrci_var_head *)(void *)memory)->is.native > 0)
        rrc_native_bytes(heap, -(ptrdiff_t)((rrci_var_head *)(void *)memory)->is.native);
    if (type->tp_basicsize > 0) {
        heap->counters.objects--;
        heap->stats.object_bytes -= size;
        if (RRCI_UNLIKELY(type->tp_outside != NULL))
            heap->tracked.wrappers--;
#ifdef RRC_DEBUG
        memset(memory, RRCI_POISON, size);
#if RRCI_TAGS_FREED
        RRC_TYPE(ob) = (const rrc_type *)((uintptr_t)type | 1);
#endif
#endif
    }
    rrci_heap_realloc(heap, memory, size, 0);
    return type->tp_basicsize > 0 && (type->tp_flags & RRC_TPFLAGS_HEAPTYPE) != 0 ? (rrc_object *)(uintptr_t)type : NULL;
}

static void rrci_last_reference(rrc_heap *heap, rrc_object *ob);     /* of a heap type: see >>deallocation */
RRCI_ALWAYS_INLINE void rrci_drop_to_bias(rrc_heap *heap, rrc_object *ob);

static void rrci_del(rrc_heap *heap, rrc_object *ob, const char *function)
{
    rrci_slot_call *call;
    rrc_object *type;
    if (heap == NULL || ob == NULL)
        return;
    call = rrci_slot_call_of(&heap->calls, ob);
    if (rrci_may_del(heap, ob, call, function) != RRC_OK)
        return;
    if (rrci_has_left(heap, ob))
        rrci_empty_link_field(heap, ob);
    type = rrci_free_block(heap, ob, call);
    if (type != NULL && rrci_drop_one(heap, type)) {
        rrci_last_reference(heap, type);        /* (this can end the heap) */
        return;
    }
    if (type != NULL)
        rrci_drop_to_bias(heap, type);
    rrci_end_husk(heap);
}

RRC_API void rrc_del(rrc_heap *heap, void *ob)
{
    rrci_del(heap, (rrc_object *)ob, "rrc_del");
}

#ifndef RRC_NO_CYCLES
RRC_API void rrc_gc_del(rrc_heap *heap, void *ob)
{
    rrci_del(heap, (rrc_object *)ob, "rrc_gc_del");
}
#endif

/* >>deallocation
 * --------------------------------------------------------------------------- */

/* Put off the dealloc of ob, whose count is 0. It may never have had a link, so that no memory is reserved
   for it. Therefore the list of these objects is threaded through their link fields. (While the heap ends,
   objects that have left the queue go back there, so that they can be told from others.) */
static void rrci_defer(rrc_heap *heap, rrc_object *ob)
{
    rrci_note_change(heap, ob);
    RRC_REFCNT(ob) = 1;
    if (rrci_has_left(heap, ob)) {
        rrci_enqueue(heap, ob);         /* which has room for it */
        return;
    }
    RRC_LINK(ob) = (rrc_gcref)((uintptr_t)heap->waiting.later + RRCI_DEFERRED);
    heap->waiting.later = ob;
    heap->waiting.later_count++;
    heap->stats.pending_bytes += rrci_bytes_of(heap, ob);
}

static rrc_object *rrci_take_deferred(rrc_heap *heap)
{
    rrc_object *ob = heap->waiting.later;
    heap->waiting.later = rrci_next_deferred(ob);
    heap->waiting.later_count--;
    heap->stats.pending_bytes -= rrci_bytes_of(heap, ob);
    RRC_LINK(ob) = NULL;
    return ob;
}

/* Drop a reference of the header's own, perhaps in a collection: a dealloc waits, and nothing parts. */
static void rrci_drop_quietly(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_drop_one(heap, ob))
        rrci_defer(heap, ob);
    else if (!rrci_is_held(ob))
        rrci_tell(heap, ob, RRCI_NEWS_LET_GO);
}

/* The count of ob has dropped to zero. If ob is linked nevertheless, the maker of the link forgot the
   bias. Add it now, because p still needs ob. */
static int rrci_bias_was_forgotten(rrc_heap *heap, rrc_object *ob)
{
    rrci_spot spot;
    if (RRC_LINK(ob) == NULL || !rrci_find_link(heap, ob, &spot))
        return 0;
    RRC_REFCNT(ob) = RRC_REFCNT_FROM_PYPY;
    rrci_error(heap, RRC_EREFCNT, "rrc_decref", ob, rrci_at(spot.list, spot.index)->p,
               "the count of a linked object dropped to zero; the bias was put in");
    return 1;
}

static void rrci_clear_members(rrc_heap *heap, rrc_object *ob)
{
    rrc_object *const none = NULL;
    const rrc_member *member = RRC_TYPE(ob)->tp_members;
    for (; member != NULL && member->name != NULL; member++) {
        rrc_object *value = rrci_member_value(ob, member);
        if (value != NULL) {
            memcpy((char *)ob + member->offset, &none, sizeof none);
            rrc_decref(heap, value);
        }
    }
}

/* Call the tp_finalize of an object whose last reference is gone. Has it taken a reference? */
static int rrci_finalize_dying(rrc_heap *heap, rrc_object *ob, int is_gc)
{
    rrci_slot_call call;
    if (RRCI_UNLIKELY(!RRCI_IS_IDLE(heap)))
        rrci_event(heap, ob, RRCI_EVENT_LEAVING);
    if (is_gc) {
        if (rrci_is_tracked(ob))
            heap->tracked.finalizable--;
        rrci_gc_head_of(ob)->is.word |= RRCI_GC_FINALIZED;
    }
    RRC_REFCNT(ob) = 1;
    rrci_begin_slot(&heap->calls, &call, ob);
    RRC_HOST_GUARD(heap, RRC_TYPE(ob)->tp_finalize, ob);
    rrci_end_slot(&heap->calls, &call);
    if (rrci_drop_one(heap, ob) && !rrci_bias_was_forgotten(heap, ob))
        return 0;
    if (is_gc)
        rrci_forget_cleared(&heap->tracked, rrci_gc_head_of(ob));
    return 1;
}

/* A tracked object whose last reference is gone is untracked. */
static void rrci_untrack_dying(rrc_heap *heap, rrc_object *ob)
{
    if (RRCI_UNLIKELY(!RRCI_IS_IDLE(heap)))
        rrci_event(heap, ob, RRCI_EVENT_LEAVING);
    if (RRCI_UNLIKELY(RRCI_LISTENS(heap)) && heap->waiting.running
        && (rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) == 0)
        heap->stats.garbage++;       /* (rrci_untrack counts cleared objects) */
    rrci_untrack(heap, ob);
}

/* Finalize and deallocate ob, whose count is 0. */
static void rrci_dealloc(rrc_heap *heap, rrc_object *ob)
{
    const rrc_type *type = RRC_TYPE(ob);
    rrci_slot_call call;
    int is_gc;
    if (type == NULL) {
        rrci_error(heap, RRC_ETYPE, "rrc_decref", ob, NULL, "the type is NULL; the object is leaked");
        return;
    }
    is_gc = rrci_is_gc_type(type);
    heap->calls.depth++;
    if (type->tp_finalize != NULL && (!is_gc || rrci_is_finalizable(ob)) && rrci_finalize_dying(heap, ob, is_gc)) {
        heap->calls.depth--;                  /* resurrected */
        return;
    }
    rrci_empty_link_field(heap, ob);
    if (is_gc && rrci_gc_list(rrci_gc_head_of(ob)) != RRCI_UNTRACKED)
        rrci_untrack_dying(heap, ob);
    rrci_is_gone(heap, ob);
    rrci_begin_slot(&heap->calls, &call, ob);
    if (type->tp_dealloc != NULL) {
        RRC_HOST_GUARD(heap, type->tp_dealloc, ob);
    } else {
        rrci_clear_members(heap, ob);
        if (type->tp_free != NULL && RRCI_COUNT(ob) == 0)
            type->tp_free(heap, ob);
        else
            rrci_del(heap, ob, "rrc_del");      /* (if code has taken a reference, this reports it, and ob lives on) */
    }
    rrci_end_slot(&heap->calls, &call);
    if (is_gc && call.ob != NULL)
        rrci_tell(heap, ob, RRCI_NEWS_LEFT);
    heap->calls.depth--;
}

/* The count of ob is 0. */
static void rrci_last_reference(rrc_heap *heap, rrc_object *ob)
{
    rrc_object *waiting = heap->waiting.later;
    size_t units = heap->waiting.running        /* (what was cleared has been counted) */
                && !(rrci_is_tracked(ob) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_CLEARED) != 0);
    if (rrci_slot_call_of(&heap->calls, ob) != NULL || (RRC_LINK(ob) != NULL && rrci_bias_was_forgotten(heap, ob)))
        return;
    if (rrci_in_collection(heap) || heap->state == RRCI_LAYER_RUNS || heap->calls.depth >= RRC_DEALLOC_DEPTH
        || heap->waiting.quota < units) {
        rrci_defer(heap, ob);
        return;
    }
    heap->waiting.quota -= units;
    rrci_dealloc(heap, ob);
    if (heap->calls.depth > 0 || heap->waiting.running)
        return;
    /* This is the outermost dealloc. Do the deallocs that were put off meanwhile, but not those that
       the limit of an earlier rrc_run_pending left over. */
    while (heap->waiting.later != NULL && heap->waiting.later != waiting) {
        ob = rrci_take_deferred(heap);
        if (rrci_drop_one(heap, ob))
            rrci_dealloc(heap, ob);
    }
    rrci_end_husk(heap);
}

/* ---- what has lost its p, or is to lose it ---- */

static RRCI_NOINLINE void rrci_free_light_block(rrc_heap *heap, rrc_object *ob)
{
    rrc_object *type = rrci_free_block(heap, ob, rrci_slot_call_of(&heap->calls, ob));
    if (type != NULL)
        rrci_drop_quietly(heap, type);
}

static void rrci_free_light(rrc_heap *heap, rrc_object *ob)
{
    RRC_REFCNT(ob) = 0;
    if (RRC_TYPE(ob)->tp_free == NULL) {
        rrci_free_light_block(heap, ob);
        return;
    }
    if (rrci_is_tracked(ob))
        rrci_untrack(heap, ob);
    rrci_is_gone(heap, ob);
    RRC_TYPE(ob)->tp_free(heap, ob);
}

/* Is this one of the markings of rrci_order? Each would find the same mistakes. What follows them finds and logs them
   once. */
static int rrci_is_ordering(const rrc_heap *heap)
{
    return heap->waiting.orders != RRCI_NO_ORDER && heap->state == RRCI_MAJOR;
}

/* A maker of links that forgets the bias, or adds it twice, forgets it for all of its objects. Is this the first one of
   its type? (The last few types are remembered.) */
static int rrci_is_news(rrci_links *links, rrc_object *ob)
{
    const rrc_type *type = RRC_TYPE(ob);
    size_t i;
    for (i = 0; i < RRCI_BLAMED; i++)
        if (type != NULL && links->blamed[i] == type)
            return 0;
    links->blamed[links->blamed_at++ % RRCI_BLAMED] = type;
    return 1;
}

/* Was the bias of this linked object added twice? Nothing has so many references. (That of a light one goes round.) */
static int rrci_has_two_biases(rrc_object *ob)
{
    return RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY / 2 * 3 && RRCI_COUNT(ob) < RRC_REFCNT_FROM_PYPY_LIGHT;
}

#define RRCI_NO_BIAS    "the count of a linked object is below the bias; reported once for each type"
#define RRCI_TWO_BIASES "the bias was added twice: rrc_link adds it itself; reported once for each type"

static int rrci_refcount_error(rrc_heap *heap, const char *function, rrc_object *ob, rrc_gcref p)
{
    if (rrci_is_ordering(heap))
        return RRC_EREFCNT;
    if (rrci_is_freed(ob))
        return rrci_error(heap, RRC_EFREED, function, ob, p, "it is still linked");
    if (!rrci_is_news(&heap->links, ob))
        return RRC_EREFCNT;
    return rrci_error(heap, RRC_EREFCNT, function, ob, p, rrci_has_two_biases(ob) ? RRCI_TWO_BIASES : RRCI_NO_BIAS);
}

/* Apply the rule to an ob whose p and record are gone. */
static void rrci_bury(rrc_heap *heap, rrc_object *ob, const char *function)
{
    intptr_t count = RRCI_COUNT(ob);
    if (RRCI_UNLIKELY(count < RRC_REFCNT_FROM_PYPY || rrci_is_freed(ob))) {
        /* The count is wrong, so that others may still use ob. */
        rrci_refcount_error(heap, function, ob, rrci_is_freed(ob) ? NULL : RRC_LINK(ob));
        if (!rrci_is_freed(ob))
            RRC_LINK(ob) = NULL;
        return;
    }
    RRC_LINK(ob) = NULL;
    if (count == RRC_REFCNT_FROM_PYPY_LIGHT && heap->state != RRCI_LAYER_RUNS) {
        rrci_free_light(heap, ob);
        return;
    }
    if (count < RRC_REFCNT_IMMORTAL)
        RRC_REFCNT(ob) -= count >= RRC_REFCNT_FROM_PYPY_LIGHT ? RRC_REFCNT_FROM_PYPY_LIGHT : RRC_REFCNT_FROM_PYPY;
    rrci_tell(heap, ob, RRCI_NEWS_UNLINKED);
    count = RRCI_COUNT(ob);
    if (count == 0 && rrci_in_slices(heap) && rrci_is_late(heap, ob)) {
        RRC_REFCNT(ob)++;               /* it has to stay in its place for now, and is still watched */
        rrci_gc_head_of(ob)->is.word |= RRCI_GC_SOON;
    } else if (count == 0 && rrci_slot_call_of(&heap->calls, ob) == NULL) {     /* (else its tp_dealloc goes on) */
        RRC_REFCNT(ob)++;
        rrci_enqueue(heap, ob);
    }
    rrci_note_change(heap, ob);
}

/* Dissolve this link by the rule, although p is still there. parts: tell the host. 1: because p itself did not ask for
   it. 2: because the layer wants it; heap->counters.parted does not count this. */
RRCI_ALWAYS_INLINE void rrci_dissolve(rrc_heap *heap, const rrci_spot spot, int parts, const char *function)
{
    const rrci_link link = *rrci_at(spot.list, spot.index);
    const int is_p = spot.list == &heap->links.list[RRCI_P_OLD] || spot.list == &heap->links.list[RRCI_P_YOUNG];
    if (is_p)
        rrci_tell(heap, link.ob, RRCI_NEWS_PARTING);
    rrci_drop_link(heap, spot);
    heap->machine.changed++;
    heap->counters.parted += parts & 1;
    RRCI_BEGIN_HOOK(heap);
    if (is_p && RRCI_HAS_SLOT(heap))
        *RRC_HOST_SLOT(heap, link.p) = NULL;
    if (parts && heap->desc.parted != NULL)
        heap->desc.parted(heap->p_userdata, link.p, link.ob);
    RRCI_END_HOOK(heap);
    rrci_bury(heap, link.ob, function);
}

/* Does the link of this linked object hold it? That of garbage does not: its p may have been kept for other
   garbage only. At the end of the heap no link does, when the host's graph has given the order. */
static int rrci_link_holds(const rrc_heap *heap, rrc_object *ob)
{
    return (heap->rest != RRCI_ENDING || heap->waiting.orders) && !rrci_is_garbage(ob);
}

/* While the heap ends: is ob a wrapper to whose foreign object others refer? Then it waits for the search, as its
   tp_clear may have to break a foreign cycle. */
static int rrci_awaits_search(rrc_heap *heap, rrc_object *ob)
{
    return heap->rest == RRCI_ENDING && !heap->waiting.parts_wrappers && rrci_outside(heap, ob) > 0;
}

/* Part an object that only its link holds from its p, with `parts` as above. A light one is not freed at once: the code
   that has dropped the last reference may have borrowed another one. */
static void rrci_part(rrc_heap *heap, rrc_object *ob, int parts)
{
    rrci_spot spot;
    if (!rrci_find_link(heap, ob, &spot))
        return;
    if (RRCI_COUNT(ob) == RRC_REFCNT_FROM_PYPY_LIGHT)
        RRC_REFCNT(ob) -= RRC_REFCNT_FROM_PYPY_LIGHT - RRC_REFCNT_FROM_PYPY;
    rrci_dissolve(heap, spot, parts, "rrc_run_pending");
}

/* ---- the last reference ---- */

/* The count of a static object has drifted to an end of its band: reset it to the middle. */
static void rrci_center(rrc_object *ob)
{
    RRC_REFCNT(ob) = RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16;
}

/* The slow part of rrc_incref and rrc_touch: the count of ob is below 0. */
RRC_API void rrci_strengthen(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    if (RRC_REFCNT(ob) == INTPTR_MIN)
        rrci_center(ob);
    else if (RRCI_IS_IDLE(heap) && rrci_is_layers(heap, ob))    /* (the event would do the same, but slowly) */
        heap->layer->news(heap, ob, RRCI_NEWS_HELD);
    else
        rrci_event(heap, ob, RRCI_EVENT_HELD);
}

/* C, or the header, has dropped its last reference to ob, which is linked. */
static RRCI_NOINLINE void rrci_reached_bias(rrc_heap *heap, rrc_object *ob)
{
    if ((heap->rest != RRCI_MUTATOR || !RRCI_LISTENS(heap)) && !rrci_in_collection(heap) && !rrci_link_holds(heap, ob)
        && !rrci_awaits_search(heap, ob))
        rrci_part(heap, ob, 1);
    else
        rrci_tell(heap, ob, RRCI_NEWS_LET_GO);
}

/* A reference to ob has been dropped, but not the last one. A handle comes here each time that C lets go of it: this
   must be fast. (Garbage is watched.) */
RRCI_ALWAYS_INLINE void rrci_drop_to_bias(rrc_heap *heap, rrc_object *ob)
{
    if ((RRC_REFCNT(ob) < 0 || heap->rest != RRCI_MUTATOR || RRCI_LISTENS(heap)) && !rrci_is_held(ob))
        rrci_reached_bias(heap, ob);
}

/* The slow part of rrc_decref: the count of ob is 0 without its bias, or seems to be. */
RRC_API void rrci_no_reference(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_is_dying(heap, ob))
        rrci_last_reference(heap, ob);
    else if (RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        rrci_center(ob);
    else
        rrci_drop_to_bias(heap, ob);
}

#ifdef RRC_DEBUG
/* May a reference to ob be taken or dropped? */
RRC_API int rrci_count_is_sound(rrc_heap *heap, rrc_object *ob, const char *function)
{
    const char *wrong = NULL;
    intptr_t count;
    int dropping = strcmp(function, "rrc_decref") == 0;
    if (heap == NULL || ob == NULL)
        return rrci_report(heap != NULL ? &heap->desc : NULL, RRC_ENULL, function, ob, NULL,
                           heap == NULL ? "heap is NULL" : "ob is NULL") == RRC_OK;
    if (rrci_is_freed(ob))
        return rrci_error(heap, RRC_EFREED, function, ob, NULL, "") == RRC_OK;
    if (rrci_refuse_foreign(heap, ob, function, "the count was left alone") != RRC_OK)
        return 0;
    count = RRC_REFCNT(ob);
    if (RRCI_COUNT(ob) < RRC_REFCNT_IMMORTAL)
        count = RRCI_COUNT(ob);         /* it may be watched */
    if (count < 0 || (count == 0 && (dropping || heap->calls.depth == 0)))
        wrong = "the count is not above 0; it was left alone";
    else if (dropping && rrc_refcnt(ob) == 1 && rrci_is_owned(ob))
        wrong = "ob waits for rrc_run_pending, which drops the last reference itself; the count was left alone";
    else if (dropping && (count == RRC_REFCNT_FROM_PYPY || count == RRC_REFCNT_FROM_PYPY_LIGHT))
        wrong = "C holds no reference to this linked object that it could drop; the count was left alone";
    if (wrong != NULL)
        return rrci_error(heap, RRC_EREFCNT, function, ob, RRC_LINK(ob), wrong) == RRC_OK;
    if (dropping && count == 1 && RRCI_IN_HOOK(heap) && !rrci_in_collection(heap))
        return rrci_error(heap, RRC_EPHASE, function, ob, NULL, "the last reference, dropped in a hook, a tp_traverse "
                          "or a writeproc; the count was left alone") == RRC_OK;
    return 1;
}
#endif

/* ---- links ---- */

/* I5: reserve room for one more link in the dictionary of this list. */
static RRCI_NOINLINE int rrci_reserve_keys(rrc_heap *heap, int kind)
{
    rrci_dict *dict = &heap->links.list[kind].dict;
    size_t keys = rrci_keys_needed(heap, kind) + 1 + ((kind & RRCI_YOUNG) != 0 ? heap->links.crowded_out : 0);
    int code = rrci_dict_reserve(heap, dict, keys);
    if (code == RRC_OK)
        dict->spare = rrci_dict_room(dict) - keys - 1;
    if (code == RRC_OK || !dict->optional)
        return code;
    dict->on = 0;
    return RRC_OK;
}

/* ... which rarely takes more than this. */
RRCI_ALWAYS_INLINE int rrci_reserve_key(rrc_heap *heap, int kind)
{
    rrci_dict *dict = &heap->links.list[kind].dict;
    if (!dict->on)
        return RRC_OK;
    if (dict->spare == 0)
        return rrci_reserve_keys(heap, kind);
    dict->spare--;
    return RRC_OK;
}

/* I5: reserve all that collections and rrc_unlink can need from now on, with one more link in list
   `kind`, and `more` records besides. */
RRCI_ALWAYS_INLINE int rrci_reserve(rrc_heap *heap, int kind, size_t more)
{
    int code = RRC_OK;
    if (heap->memory.spare_links > more)
        heap->memory.spare_links -= 1 + more;
    else
        code = rrci_reserve_lists(heap, 1 + more, rrci_count_tracked(heap));
    if (code == RRC_OK)
        code = rrci_reserve_key(heap, kind & RRCI_O);
    if (code == RRC_OK && (kind & RRCI_YOUNG) != 0)
        code = rrci_reserve_key(heap, kind);
    return code;
}

/* The ob of p's P link in a heap without a slot, or NULL. `kind` is the P list of p's generation. */
RRCI_ALWAYS_INLINE rrc_object *rrci_p_linked_ob(rrc_heap *heap, rrc_gcref p, int kind)
{
    return RRCI_HAS_PLACES(heap) || heap->desc.demotes ? rrci_from_young(heap, p)
                                                       : rrci_ob_of(&heap->links.list[kind], p);
}

/* The link field of ob is in use. Has its p died, although the link is still there? This happens in closed hosts (also
   when the heap ends), and in RRCI_SWEEPING. Then a new link may replace the old one. */
static int rrci_has_lost_p(rrc_heap *heap, rrc_object *ob)
{
    if (!rrci_is_linked_ob(ob) || RRC_LINK(ob) == heap->links.marker)
        return 0;
    if (RRCI_CYCLES && heap->layer != NULL && heap->layer->has_lost_p(heap, ob))
        return 1;
    return (rrci_is_layers(heap, ob) || rrci_is_sweeping(heap)) && rrc_to_obj(heap, ob) == NULL;
}

/* May this object, whose link field is in use, get a link? It waits for its dealloc, or has lost its p. */
static RRCI_COLD int rrci_can_be_relinked(rrc_heap *heap, rrc_object *ob)
{
    return rrci_is_deferred(ob) || rrci_has_left(heap, ob) || rrci_has_lost_p(heap, ob);
}

/* Empty its link field: take from ob what that stands for, the old link or its place in heap->waiting.later. With ob
   all that comes before it there goes to the queue, so that each object is moved once. */
static RRCI_COLD void rrci_prepare_to_relink(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_has_lost_p(heap, ob))
        rrci_part(heap, ob, heap->layer != NULL ? 2 : heap->machine.stage < RRCI_ASIDE);    /* see rrci_unlink */
    while (rrci_is_deferred(ob))
        rrci_enqueue(heap, rrci_take_deferred(heap));
    rrci_empty_link_field(heap, ob);
}

/* A link that is about to be made. */
typedef struct rrci_new_link {
    rrci_link   link;
    int         kind;           /* the list for it */
    rrc_object **slot;          /* that of p, if it has one, and the link is a P link */
    rrc_object *former;         /* garbage that p has a P link with, and parts from */
} rrci_new_link;

/* May this link be made, in a state that lets the mutator do so? `kind` says P or O. If so, reserve its memory, so that
   rrci_make_link cannot fail. Returns a code. */
static int rrci_may_link(rrc_heap *heap, rrci_new_link *made, const char *function)
{
    rrc_gcref p = made->link.p;
    rrc_object *ob = made->link.ob;
    int code;
    if (p == NULL || ob == NULL)
        return rrci_error(heap, RRC_ENULL, function, ob, p, p == NULL ? "p is NULL" : "ob is NULL");
    if (rrci_is_freed(ob))
        return rrci_error(heap, RRC_EFREED, function, ob, p, "");
    code = rrci_refuse_foreign(heap, ob, function, "the link was not made");
    if (code != RRC_OK)
        return code;
    if (rrci_is_odd(p))
        return rrci_error(heap, RRC_ETAGGED, function, ob, p, "the link was not made");
    if (RRC_TYPE(ob) != NULL && (RRC_TYPE(ob)->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0 && RRC_TYPE(ob)->tp_basicsize == 0)
        return rrci_error(heap, RRC_ETYPE, function, ob, p,
                          "RRC_TPFLAGS_HAVE_GC with tp_basicsize 0: use rrc_gc_new and its size, or clear the flag");
    if (rrci_needs_cycles(RRC_TYPE(ob)))
        return rrci_error(heap, RRC_ETYPE, function, ob, p, RRCI_NEEDS_CYCLES);
    if (RRC_LINK(ob) != NULL && !rrci_can_be_relinked(heap, ob))
        return rrci_error(heap, RRC_ELINKED, function, ob, p,
                          RRC_LINK(ob) != heap->links.marker ? ""
                          : "what it has is a marker: rrc_mark_deallocating(heap, NULL, ob) takes it back");
    RRCI_BEGIN_HOOK(heap);
    if (RRCI_HAS_GENERATIONS(heap) && RRC_HOST_IS_YOUNG(heap, p))
        made->kind |= RRCI_YOUNG;
    if ((made->kind & RRCI_O) == 0 && RRCI_HAS_SLOT(heap))
        made->slot = RRC_HOST_SLOT(heap, p);
    RRCI_END_HOOK(heap);
    if ((made->kind & RRCI_O) == 0)
        made->former = made->slot != NULL ? *made->slot : rrci_p_linked_ob(heap, p, made->kind);
    if (made->former != NULL && !rrci_is_garbage(made->former))
        return rrci_error(heap, RRC_EPLINKED, function, ob, p, "");
    code = rrci_reserve(heap, made->kind, rrci_is_deferred(ob) ? heap->waiting.later_count : 0);
    if (code != RRC_OK && code != RRC_ENOMEM)
        rrci_error(heap, code, function, ob, p, "");
    return code;
}

/* p is about to hold ob, and ob is watched, slots are running, or there are wrappers: ob may be garbage, or what a slot
   was called for, or be held for others. */
static RRCI_COLD void rrci_hold_by_link(rrc_heap *heap, rrc_object *ob)
{
    rrci_slot_call *call = rrci_slot_call_of(&heap->calls, ob);
    if (rrci_is_condemned(heap, ob)) {
        RRC_REFCNT(ob)++;
        rrci_event(heap, ob, RRCI_EVENT_HELD);
        RRC_REFCNT(ob)--;
    }
    if (call != NULL)
        call->is_reached = 1;
    if (rrci_is_tracked(ob) && rrci_is_held_for_others(heap, ob)) {
        rrci_hold_for_others(heap, ob, 0);
        RRC_REFCNT(ob)--;
    }
    if (rrci_is_layers(heap, ob))
        heap->layer->news(heap, ob, RRCI_NEWS_HELD);
}

/* Make a link of which rrci_may_link has said that it may be made. */
static void rrci_make_link(rrc_heap *heap, const rrci_new_link *made)
{
    rrc_gcref p = made->link.p;
    rrc_object *ob = made->link.ob;
    int kind = made->kind;
    if (made->former != NULL)
        rrci_part(heap, made->former, 1);
    if (RRC_LINK(ob) != NULL)
        rrci_prepare_to_relink(heap, ob);
    if (RRCI_UNLIKELY(RRC_REFCNT(ob) < 0 || heap->calls.slot_calls != NULL || RRCI_HAS_WRAPPERS(heap)))
        rrci_hold_by_link(heap, ob);
    RRC_LINK(ob) = p;
    if (rrci_has_gc_head(ob)) {
        rrci_gc_head *head = rrci_gc_head_of(ob);
        rrci_forget_cleared(&heap->tracked, head);
        head->is.word = (head->is.word & ~RRCI_GC_P_LINKED) | ((kind & RRCI_O) == 0 ? RRCI_GC_P_LINKED : 0);
    } else if (RRCI_UNLIKELY(RRC_TYPE(ob) != NULL && RRC_TYPE(ob)->tp_outside != NULL)) {
        heap->tracked.wrappers++;       /* rrc_new did not make it: it is counted once for each link that it gets */
    }
    heap->machine.changed++;
    rrci_add_link(heap, &heap->links.list[kind], made->link);
    if (made->slot != NULL)
        *made->slot = ob;
    if (RRCI_UNLIKELY(!RRCI_IS_IDLE(heap))) {
        rrci_note_change(heap, ob);
        if ((kind & RRCI_O) == 0        /* after the verdict the host reads the fields of a p kept for garbage */
            && (rrci_is_started(heap) || (rrci_is_sweeping(heap) && heap->machine.keeping != 0)))
            rrci_trace_p(heap, p);
    }
}

static int rrci_create_link(rrc_heap *heap, rrc_gcref p, rrc_object *ob, int kind, const char *function)
{
    rrci_new_link made = { { p, ob }, kind, NULL, NULL };
    int code = rrci_gate(heap, RRCI_MUTATES, function);
    if (code == RRC_OK)
        code = rrci_may_link(heap, &made, function);
    if (code == RRC_OK && RRCI_HAS_PLACES(heap))
        return rrci_error(heap, RRC_EPHASE, function, ob, p, "in a closed heap rrc_cell_link makes links");
    if (code == RRC_OK)
        rrci_make_link(heap, &made);
    return code;
}

RRC_API int rrc_create_link_pypy(rrc_heap *heap, rrc_gcref p, rrc_object *ob)
{
    return rrci_create_link(heap, p, ob, RRCI_P_OLD, "rrc_create_link_pypy");
}

RRC_API int rrc_create_link_pyobj(rrc_heap *heap, rrc_gcref p, rrc_object *ob)
{
    return rrci_create_link(heap, p, ob, RRCI_O_OLD, "rrc_create_link_pyobj");
}

/* May a link be of this kind, which a caller gives? Returns a code. */
static int rrci_check_kind(rrc_heap *heap, rrc_gcref p, rrc_object *ob, int kind, const char *function)
{
    int which = kind & (RRC_P | RRC_O);
    if ((which != RRC_P && which != RRC_O) || (kind & ~(RRC_P | RRC_O | RRC_LIGHT | RRC_GIVE)) != 0)
        return rrci_error(heap, RRC_EKIND, function, ob, p, "");
    if (ob != NULL && (kind & RRC_GIVE) != 0 && rrc_refcnt(ob) <= (rrci_is_deferred(ob) || rrci_is_listed(heap, ob)))
        return rrci_error(heap, RRC_EREFCNT, function, ob, p, "there is no reference to give");
    return RRC_OK;
}

/* The link has been made: add the bias. */
static void rrci_add_bias(rrc_object *ob, int kind)
{
    if (RRC_REFCNT(ob) < RRC_REFCNT_FROM_PYPY)
        RRC_REFCNT(ob) += (kind & RRC_LIGHT) != 0 ? RRC_REFCNT_FROM_PYPY_LIGHT : RRC_REFCNT_FROM_PYPY;
    if ((kind & RRC_GIVE) != 0)
        RRC_REFCNT(ob)--;
}

RRC_API int rrc_link(rrc_heap *heap, rrc_gcref p, rrc_object *ob, int kind)
{
    int code = heap != NULL && heap->state <= RRCI_ENDING ? rrci_check_kind(heap, p, ob, kind, "rrc_link") : RRC_OK;
    if (code == RRC_OK)
        code = rrci_create_link(heap, p, ob, (kind & RRC_P) != 0 ? RRCI_P_OLD : RRCI_O_OLD, "rrc_link");
    if (code == RRC_OK)
        rrci_add_bias(ob, kind);
    return code;
}

/* The slow part of rrc_from_obj. If some links do not hold, garbage is not found by them. */
static RRCI_COLD rrc_object *rrci_from_obj_otherwise(rrc_heap *heap, rrc_gcref p)
{
    rrc_object *ob = heap != NULL && p != NULL && heap->state <= RRCI_ENDING ? rrci_from_obj(heap, p) : NULL;
    if (RRCI_CHECKS && heap != NULL && rrci_in_collection(heap))
        rrci_error(heap, RRC_EPHASE, "rrc_from_obj", NULL, p, "a collection is going on; the result is NULL");
    return ob != NULL && rrci_is_garbage(ob) ? NULL : ob;
}

RRC_API rrc_object *rrc_from_obj(rrc_heap *heap, rrc_gcref p)
{
    if (heap == NULL || p == NULL || ((unsigned)heap->state | heap->waiting.is_hidden) != RRCI_MUTATOR)  /* (one test) */
        return rrci_from_obj_otherwise(heap, p);
    return rrci_from_obj(heap, p);
}

/* The slow part of rrc_to_obj: ob is not linked, or watched, or a collection in slices goes on. */
RRC_API rrc_gcref rrci_to_obj_otherwise(rrc_heap *heap, rrc_object *ob)
{
    if (heap == NULL || ob == NULL || RRC_LINK(ob) == NULL || rrci_is_odd(RRC_LINK(ob)))
        return NULL;
    if (rrci_is_sweeping(heap) && rrci_is_linked_ob(ob)) {
        rrc_gcref q;
        RRCI_BEGIN_HOOK(heap);
        q = RRC_HOST_SURVIVOR(heap, RRC_LINK(ob));
        RRCI_END_HOOK(heap);
        return q;
    }
    if (rrci_is_layers(heap, ob))
        return heap->layer->p_of(heap, ob);
    return RRC_LINK(ob);
}

RRC_API void rrc_mark_deallocating(rrc_heap *heap, rrc_gcref marker, rrc_object *ob)
{
    const char *function = "rrc_mark_deallocating";
    rrci_spot spot;
    if (heap != NULL && heap->state == RRCI_HUSK)
        return;                         /* a late dealloc */
    if (rrci_gate_ob(heap, ob, function) != RRC_OK)
        return;
    if (rrci_is_odd(marker)) {
        rrci_error(heap, RRC_ETAGGED, function, ob, marker, "the marker was not set");
    } else if (RRC_LINK(ob) != NULL && (RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY || rrci_is_odd(RRC_LINK(ob))
                                        || rrci_find_link(heap, ob, &spot))) {
        rrci_error(heap, RRC_ELINKED, function, ob, marker, "the marker was not set");
    } else {
        RRC_LINK(ob) = marker;
        if (marker != NULL)
            heap->links.marker = marker;
    }
}

static int rrci_unlink(rrc_heap *heap, rrc_object *ob, int parts)
{
    const char *function = "rrc_unlink";
    rrci_spot spot;
    int code = rrci_gate_ob(heap, ob, function);
    if (code != RRC_OK)
        return code;
    if (RRC_LINK(ob) == NULL || !rrci_find_link(heap, ob, &spot))
        return rrci_error(heap, RRC_EUNLINKED, function, ob, NULL, "");
    /* (Has the collection hidden a p that it may still keep? Then nobody but the header can tell p that ob is lost.) */
    if (RRCI_UNLIKELY(rrci_is_sweeping(heap)) && heap->machine.stage < RRCI_ASIDE && rrci_has_lost_p(heap, ob))
        parts |= 1;
    rrci_dissolve(heap, spot, parts, function);
    return RRC_OK;
}

RRC_API int rrc_unlink(rrc_heap *heap, rrc_object *ob)
{
    return rrci_unlink(heap, ob, 0);
}

/* ---- collections ---- */

/* Begin a function of an open host's collection, if it may be called. Returns a code. */
static int rrci_begin_function(rrc_heap *heap, unsigned group, rrci_state state, const char *function)
{
    int code = rrci_gate(heap, group, function);
    if (code == RRC_OK && heap->layer != NULL)
        code = rrci_error(heap, RRC_EPHASE, function, NULL, NULL,
                          "the collector of this host is closed: call rrc_closed_step of rrc_closed.h");
    if (code == RRC_OK)
        heap->state = state;
    return code;
}

/* The number of records from index `first` on, at most a segment. */
static size_t rrci_segment_count(const rrci_list *list, size_t first)
{
    size_t left = first < list->count ? list->count - first : 0;
    return left < RRCI_SEGMENT ? left : RRCI_SEGMENT;
}

/* Trace the p of every link of this list that C holds; of O links only proxies that have state. The counts
   of the next segment are read early, so that only the p's that will be traced are prefetched. */
static void rrci_trace_list(rrc_heap *heap, int kind, const char *function)
{
    const rrci_list *list = &heap->links.list[kind];
    const int is_p = (kind & RRCI_O) == 0;
    size_t i, first = (list->count + RRCI_SEGMENT - 1) / RRCI_SEGMENT * RRCI_SEGMENT;
    for (i = first > 2 * RRCI_SEGMENT ? first - 2 * RRCI_SEGMENT : 0; i < list->count; i++)
        RRCI_PREFETCH(rrci_at(list, i)->ob);
    while (first > 0) {
        const rrci_link *link, *near_link, *far_link;
        first -= RRCI_SEGMENT;
        link = rrci_at(list, first);
        near_link = first >= RRCI_SEGMENT ? rrci_at(list, first - RRCI_SEGMENT) : link;
        far_link = first >= 2 * RRCI_SEGMENT ? rrci_at(list, first - 2 * RRCI_SEGMENT) : link;
        for (i = rrci_segment_count(list, first); i-- > 0;) {
            RRCI_PREFETCH(far_link[i].ob);
            if (!RRCI_MAY_BE_BIAS(RRC_REFCNT(near_link[i].ob)))
                RRCI_PREFETCH_TO_WRITE(near_link[i].p);
            if (rrci_is_held(link[i].ob)) {
                if (RRCI_UNLIKELY(RRCI_COUNT(link[i].ob) < RRC_REFCNT_FROM_PYPY || rrci_is_freed(link[i].ob))) {
                    if (!is_p)
                        continue;       /* the free function reports it */
                    rrci_refcount_error(heap, function, link[i].ob, link[i].p);
                }
                if (is_p || RRC_HOST_HAS_STATE(heap, link[i].p))
                    RRC_HOST_TRACE(heap, link[i].p);
            }
        }
    }
}

/* The same for the old lists, or the young ones. */
static void rrci_trace_lists(rrc_heap *heap, int age, const char *function)
{
    if (heap->links.list[RRCI_P_OLD | age].count > 0)
        rrci_trace_list(heap, RRCI_P_OLD | age, function);
    if (RRCI_PROXIES_HAVE_STATE)
        rrci_trace_list(heap, RRCI_O_OLD | age, function);
}

/* The link at *index of the list *kind, or the next one, also of the lists that follow; NULL if that was the last one.
   The objects of later links are prefetched. */
static const rrci_link *rrci_next_link(const rrc_heap *heap, int *kind, size_t *index)
{
    for (; *kind < RRCI_LISTS; ++*kind, *index = 0) {
        const rrci_list *list = &heap->links.list[*kind];
        if (*index + RRCI_SEGMENT < list->count)
            RRCI_PREFETCH_HEADS(rrci_at(list, *index + RRCI_SEGMENT)->ob);
        if (*index < list->count)
            return rrci_at(list, (*index)++);
    }
    return NULL;
}

/* The state of a sweep, which keeps the dictionary of its list exact. It makes single changes as long as these are few.
   If there are more, it fills the dictionary anew at the end. */
typedef struct rrci_sweeper {
    rrc_heap   *heap;
    rrci_list  *list;
    const char *function;
    size_t      changes_left;
    char        keeps_dict;         /* it was on, and has been used */
    char        in_slices;          /* p's do not move; 2: new addresses are not known yet */
    rrc_object *ob[RRCI_SEGMENT];   /* those whose p died, until their heads have been fetched */
    size_t      dead, buried;
} rrci_sweeper;

static void rrci_not_marked(rrc_heap *heap, const rrci_link *link, const char *function)
{
    rrci_error(heap, RRC_EHOOK, function, link->ob, link->p, "C holds ob, so that p was given to trace, but survivor "
               "says that p died: trace must mark p, or propagate what trace has queued; unlinked");
}

/* Did the search of this collection find ob, which has a link? (What it did not find waits by now, or has another color
   than before the verdict.) */
static int rrci_was_found(const rrc_heap *heap, rrc_object *ob)
{
    if (rrci_is_tracked(ob))
        return rrci_gc_list(rrci_gc_head_of(ob)) == RRCI_TRACKED;
    return heap->machine.stage == RRCI_RELINK
        && (!rrci_has_gc_head(ob) || !rrci_is_alive(&heap->machine, rrci_gc_head_of(ob)));
}

/* Do the hooks contradict each other here? q is the result of survivor. Returns the address to go on
   with. */
static rrc_gcref rrci_check_survivor(const rrci_sweeper *sweeper, const rrci_link *link, rrc_gcref q)
{
    rrc_heap *heap = sweeper->heap;
    const rrci_list *list = sweeper->list;
    const char *function = sweeper->function;
    int is_p = list == &heap->links.list[RRCI_P_OLD] || list == &heap->links.list[RRCI_P_YOUNG];
    intptr_t refcount = RRCI_COUNT(link->ob);
    int was_traced = heap->machine.searched == 0 || (heap->machine.searched == 1 && rrci_was_found(heap, link->ob));
    if ((refcount < RRC_REFCNT_FROM_PYPY && q != NULL && !is_p)    /* (the trace call has logged P links) */
        || rrci_has_two_biases(link->ob))
        rrci_refcount_error(heap, function, link->ob, link->p);
    if (q == NULL && is_p && was_traced && !rrci_is_sweeping(heap) && !rrci_is_freed(link->ob)
        && !rrci_is_layers(heap, link->ob) && refcount > RRC_REFCNT_FROM_PYPY
        && refcount != RRC_REFCNT_FROM_PYPY_LIGHT)
        rrci_not_marked(heap, link, function);
    if (rrci_is_odd(q))
        rrci_error(heap, RRC_ETAGGED, function, link->ob, q, "survivor gave this address");
    if (q == NULL || q == link->p || ((RRC_HOST_MOVES) && sweeper->in_slices != 1))
        return q;
    rrci_error(heap, RRC_EHOOK, function, link->ob, link->p, sweeper->in_slices == 1
               ? "survivor gave a new address, but p's do not move in this collection; the old one is kept"
               : "survivor gave a new address, but RRC_HOST_MOVES is 0; the old one is kept");
    return link->p;
}

static void rrci_check_distinct(rrc_heap *heap, const rrci_list *list, const char *function)
{
    size_t i;
    if (!list->dict.on)
        return;
    for (i = 0; i < list->count; i++) {
        const rrci_link *link = rrci_at(list, i);
        if (rrci_ob_of(list, link->p) != link->ob)
            rrci_error(heap, RRC_EHOOK, function, link->ob, link->p,
                       "survivor gave this address for two host objects that have P links");
    }
}

/* May one more change be made in the dictionary? If not, it is off. */
static int rrci_may_change_dict(rrci_sweeper *sweeper)
{
    rrci_dict *dict = &sweeper->list->dict;
    if (dict->on && sweeper->changes_left-- == 0)
        dict->on = 0;
    return dict->on;
}

/* The p of record `index` died. */
static void rrci_sweep_dead(rrci_sweeper *sweeper, size_t index)
{
    rrc_object *ob = rrci_at(sweeper->list, index)->ob, **place;
    rrci_may_change_dict(sweeper);
    rrci_drop_link(sweeper->heap, rrci_spot_at(sweeper->list, index));
    place = &sweeper->ob[sweeper->dead % RRCI_SEGMENT];
    if (sweeper->dead - sweeper->buried == RRCI_SEGMENT) {
        rrci_bury(sweeper->heap, *place, sweeper->function);
        sweeper->buried++;
    }
    RRCI_PREFETCH_HEADS(ob);
    *place = ob;
    sweeper->dead++;
}

/* The p of record `index` is at q now. */
static void rrci_sweep_moved(rrci_sweeper *sweeper, size_t index, rrc_gcref q)
{
    rrci_list *list = sweeper->list;
    rrci_link *link = rrci_at(list, index);
    int change = rrci_may_change_dict(sweeper);
    if (change)
        rrci_dict_remove(rrci_spot_at(list, index));
    link->p = q;
    RRC_LINK(link->ob) = q;
    if (change)
        rrci_dict_insert(&list->dict, index, q);
}

/* Apply the rule to each link below `end`, from last to first, until a slice has done `max` of them. Returns the
   new end. The last record replaces a removed one, and has been visited already. */
static size_t rrci_sweep_part(rrci_sweeper *sweeper, size_t end, size_t max)
{
    rrc_heap *heap = sweeper->heap;
    rrci_list *list = sweeper->list;
    size_t first, i, stop;
    const int only_young = heap->state == RRCI_MINOR && list < &heap->links.list[RRCI_P_YOUNG];
    int special = only_young;           /* some p's are passed over, or have moved */
    first = (end + RRCI_SEGMENT - 1) / RRCI_SEGMENT * RRCI_SEGMENT;
    stop = max < first ? first - max : 0;
    for (i = first > 2 * RRCI_SEGMENT ? first - 2 * RRCI_SEGMENT : 0; i < end; i++)
        RRCI_PREFETCH(rrci_at(list, i)->p);
    while (first > stop) {
        const rrci_link *link, *near_link, *far_link;
        first -= RRCI_SEGMENT;
        link = rrci_at(list, first);
        near_link = first >= RRCI_SEGMENT ? rrci_at(list, first - RRCI_SEGMENT) : link;
        far_link = first >= 2 * RRCI_SEGMENT ? rrci_at(list, first - 2 * RRCI_SEGMENT) : link;
        for (i = rrci_segment_count(list, first); i-- > 0;) {
            rrc_gcref p = link[i].p, q;
            RRCI_PREFETCH(far_link[i].p);
            if (special) {
                if (only_young && !RRC_HOST_IS_YOUNG(heap, p))
                    continue;
                RRCI_PREFETCH_TO_WRITE(near_link[i].ob);
            }
            q = RRC_HOST_SURVIVOR(heap, p);
            if (RRCI_CHECKS)
                q = rrci_check_survivor(sweeper, &link[i], q);
            if (q == p)
                continue;
            if (q == NULL) {
                rrci_sweep_dead(sweeper, first + i);
            } else if (RRC_HOST_MOVES && !sweeper->in_slices) {
                rrci_sweep_moved(sweeper, first + i, q);
                special = 1;
            }
        }
    }
    heap->machine.changed += sweeper->dead;
    for (; sweeper->buried < sweeper->dead; sweeper->buried++)
        rrci_bury(heap, sweeper->ob[sweeper->buried % RRCI_SEGMENT], sweeper->function);
    return first;
}

static void rrci_begin_sweep(rrci_sweeper *sweeper, rrc_heap *heap, rrci_list *list, int in_slices,
                             const char *function)
{
    sweeper->heap = heap;
    sweeper->list = list;
    sweeper->function = function;
    sweeper->dead = sweeper->buried = 0;
    sweeper->in_slices = (char)in_slices;
    sweeper->changes_left = in_slices ? SIZE_MAX : list->count / 32 + 1;        /* (slices refill nothing) */
    sweeper->keeps_dict = list->dict.on && (!list->dict.optional || list->dict.asked);
    list->dict.asked = 0;
}

/* Apply the rule to all links. */
static void rrci_sweep(rrc_heap *heap, rrci_list *list, int in_slices, const char *function)
{
    rrci_sweeper sweeper;
    rrci_begin_sweep(&sweeper, heap, list, in_slices, function);
    rrci_sweep_part(&sweeper, list->count, SIZE_MAX);
    if (sweeper.keeps_dict && !list->dict.on)
        rrci_dict_fill(list, 0);
}

/* Move links whose p is not young any more to the old list. The young dictionary must be off. */
static void rrci_promote(rrc_heap *heap, rrci_list *young, rrci_list *old)
{
    size_t i = young->count, first = old->count;
    char on = old->dict.on;
    old->dict.on = 0;
    while (i-- > 0) {
        const rrci_link *link = rrci_at(young, i);
        if (!RRC_HOST_IS_YOUNG(heap, link->p)) {
            rrci_append(heap, old, *link);
            rrci_remove(heap, young, i);
        }
    }
    if (on && old->count < rrci_dict_room(&old->dict)) {     /* (an optional one may have too little) */
        rrci_dict_add_all(old, first);
        old->dict.on = 1;
    }
}

/* Sweep the two young lists, and promote their links. Their dictionaries are filled anew, because usually
   few links stay. They have groups for as many links as there were. */
static void rrci_sweep_young(rrc_heap *heap, const char *function)
{
    int kind;
    for (kind = RRCI_P_YOUNG; kind <= RRCI_O_YOUNG; kind++) {
        rrci_list *list = &heap->links.list[kind];
        size_t count = list->count;
        if (count == 0)
            continue;
        list->dict.on = 0;
        rrci_sweep(heap, list, 0, function);
        rrci_promote(heap, list, &heap->links.list[kind & RRCI_O]);
        if (!list->dict.optional)
            rrci_dict_fill(list, count);
        rrci_dict_trim(heap, &list->dict, 2 * count + heap->links.crowded_out, SIZE_MAX);
        if (RRCI_CHECKS && (kind & RRCI_O) == 0)
            rrci_check_distinct(heap, &heap->links.list[RRCI_P_OLD], function);
    }
}

static void rrci_sweep_all(rrc_heap *heap, const char *function)
{
    rrci_sweep(heap, &heap->links.list[RRCI_P_OLD], 0, function);
    rrci_sweep(heap, &heap->links.list[RRCI_O_OLD], 0, function);
    if (RRCI_CHECKS)
        rrci_check_distinct(heap, &heap->links.list[RRCI_P_OLD], function);
    rrci_sweep_young(heap, function);
}

/* Move links whose p is young again to the young lists. A link for which there is no room stays. Then
   minor collections look at the old links too. */
static void rrci_demote(rrc_heap *heap)
{
    int kind;
    heap->links.crowded_out = 0;
    heap->machine.to_demote = 0;
    if (!heap->desc.demotes || !RRCI_HAS_GENERATIONS(heap))
        return;
    for (kind = RRCI_P_OLD; kind <= RRCI_O_OLD; kind++) {
        rrci_list *old = &heap->links.list[kind], *young = &heap->links.list[kind | RRCI_YOUNG];
        size_t i = old->count;
        young->dict.spare = 0;
        while (i-- > 0) {
            const rrci_link link = *rrci_at(old, i);
            if (i >= RRCI_SEGMENT)
                RRCI_PREFETCH(rrci_at(old, i - RRCI_SEGMENT)->p);
            if (!RRC_HOST_IS_YOUNG(heap, link.p))
                continue;
            if (young->dict.on && young->count + 1 >= rrci_dict_room(&young->dict)) {
                if (!young->dict.optional) {
                    heap->links.crowded_out++;
                    continue;
                }
                young->dict.on = 0;
            }
            rrci_drop_link(heap, rrci_spot_at(old, i));
            rrci_add_link(heap, young, link);
        }
    }
}

#ifndef RRC_NO_CYCLES
/* >>outside
 * ---------------------------------------------------------------------------
 * A WRAPPER is an ob whose type has tp_outside. It owns one reference to a FOREIGN OBJECT, whose library has counts
 * of its own. Example: a store of the library holds an action. The action's handler is a closure of the host, and the
 * closure mentions the store's wrapper.
 *
 *     closure -> proxy of the store -> store's wrapper -> store ..> action <- action's wrapper -> closure
 *
 * The dotted reference is in no count of the header. tp_outside of the action's wrapper counts it, and tp_traverse of
 * the store's wrapper visits the action's wrapper for it.
 *
 *   1. The weight of an object is its count less the bias, plus tp_outside. It takes the place of the count wherever
 *      references are compared with visits.
 *   2. While tp_outside is above 0, the link of a wrapper is like a P link that C holds: p is kept, with O links too.
 *      A search keeps only what visits of garbage do not explain. (If C has a reference as well, p is kept until C
 *      lets go, as nobody can tell which reference a visit explains.) Collections without a search keep all.
 *   3. A wrapper without a link lives by its count alone. Foreign references to its object hold what it refers to as
 *      long as it is there, but they do not keep it from its dealloc.
 *   4. Garbage to whose foreign object others refer does not go by its count: its tp_clear is called first, as only
 *      that can break a foreign cycle. At the end of a heap such wrappers wait for the search, and then go in any case.
 *
 * Foreign counts have no barrier: between slices, and in the hooks trace and propagate, foreign code can move a
 * reference that was visited to a place that was visited before. So when all else is decided, the white objects are
 * weighed again, number and visits of all of them in one undivided pass without hooks (rrci_weigh_wrappers). A wrapper
 * with a greater weight than white objects visit is alive, and marking goes on, until such a pass finds none. (Slices
 * promise no bound for it.) Where a call of the host goes on with what finalizers or slots of garbage need, there is
 * such a pass after that, too.
 *
 * Why it is right: at the moment of the last pass, all references to white wrappers belonged to foreign objects of
 * white wrappers, and so did ordinary references, as in >>slices. The program could reach none of them then, and
 * foreign code takes references only to what it can reach, but for weak references of its own. It can use those as long
 * as the foreign object lives: so waiting garbage is weighed once more before each kind of work of rrc_run_pending. A
 * reference that is taken later keeps the foreign object, which counts for itself, but not its wrapper.
 *
 * In closed heaps the host's collector alone cannot decide about wrappers: see >>wrappers in rrc_closed.h. */

/* >>cycles
 * ---------------------------------------------------------------------------
 * Garbage cycles over both heaps are found by trial deletion on the C side (Christopher 1984; CPython's gc by
 * Schemenauer, Tismer and Gaufin), joined to the host's marking:
 *
 *   1. explain   The traverse of each tracked object visits what it refers to. Each visit explains one reference to
 *                the visited object. Objects that the host reached from its own roots before are left out: step 3
 *                makes alive what they refer to.
 *   2. roots     An object whose count, less the bias, is not all explained is held from outside. It is alive.
 *   3. mark      An alive object makes alive the objects that it visits, and the p of its P link. A p that the host
 *                marks makes its ob alive. This goes on until nothing changes.
 *   4. keep      Of the other objects, those with a finalizer still to run are kept this time, with all that they
 *                reach. (If the host goes on marking after the trace function, there is no such step: see >>protocol.)
 *
 * The rest is garbage. Before links are dissolved it moves to the lists of what waits. These own a reference to each of
 * their objects, so that none also joins the dealloc queue. (An object that only its link holds is left to the rule:
 * see rrci_goes_by_count.) Until rrc_run_pending has done its work, searches take what waits as alive: its references
 * are not explained, and its P links hold.
 *
 * Garbage remains watched (see >>slices) while it waits, until its own slot is called. So the first reference that C
 * takes to it is an event, and absolves it, with all that it reaches in C (rrci_absolve_all). What is still tracked
 * after its tp_clear is marked (RRCI_GC_CLEARED). If the next search finds it to be garbage again, it is uncollectable.
 *
 * rrc_major_collection_keep goes on with step 3, from what garbage owns. What it finds is colored too, but remains
 * garbage (RRCI_GC_OWNED). The p of waiting garbage may then live on, without holding it. When nothing else holds it,
 * it parts from p, and joins the queue.
 *
 * A host with reports_marks reports each p that it marks (rrc_marked), and the search takes linear time. For others the
 * header calls survivor, before step 1 and after each round of marking, for the links not reached so far. There are as
 * many rounds as the longest path has crossings from heap to heap. (With reports_marks, survivor is called when
 * nothing else is left to do. So a missing report costs a round, but loses no object.)
 *
 * Steps 2 and 3 are one scan over the tracked objects, in order. An object that is found alive after the scan has
 * passed it becomes gray, and is visited later. There is no recursion: gray objects are threaded through their scratch
 * words. */

/* >>slices
 * ---------------------------------------------------------------------------
 * In a heap with `incremental` a major collection can be divided into slices: see >>protocol. A collection in one call
 * runs the same stages, without the mutator between them (rrci_run_to). On the C side:
 *
 *   1. When a search first sees an object, as itself or as what another one refers to, the object becomes watched: the
 *      sign of its count is set. Its scratch word becomes twice its weight and 1. (If the mutator does not run, the
 *      weight is read when the scan comes to the object.)
 *   2. Each object tracked at the start is traversed once. A visit subtracts 2 from the scratch word. An object without
 *      a GC head counts as held by each reference to it.
 *   3. An object whose weight is not all explained at the end was held from outside. It is alive.
 *   4. rrc_incref and rrc_touch of a watched object end the watch, and make it alive. So does each reference that
 *      the header takes itself.
 *   5. An object that is tracked or linked meanwhile is alive, and so is the p of its P link. An object without
 *      a scratch word that has a P link is watched until C takes a reference to it: then p is traced.
 *   6. An object whose count drops to 0, or that is untracked, is alive, and so is all that it owns.
 *   7. Entries of the table of tracked objects do not move. Objects that leave it leave holes.
 *
 * Why a verdict is right although the mutator ran: a white object has been watched since it was first seen. So it has
 * gained no reference since, and none has moved out of the field that held it. Each visit that was counted is therefore
 * a reference that existed when the object was first seen, and if all are explained, there were no others then, and are
 * none now. They belong to white objects: an alive object makes alive what it visits, and marking goes on until nothing
 * is gray and the host has nothing to mark. A reference that is dropped needs no barrier. It can only make garbage that
 * the next search finds.
 *
 * After rrc_major_collection_trace the verdict is final. The mutator cannot reach garbage, but for what C has a pointer
 * to without a reference. If C takes a reference to that, it is absolved: see >>cycles. So the rest needs no barrier of
 * ours. (The host needs its own until 8 is done: see >>protocol.)
 *
 *   8. What finalizers need and what garbage owns is kept: this is rrc_major_collection_keep.
 *   9. Garbage moves to the lists of what waits. rrc_run_pending leaves it alone until the collection has ended.
 *  10. Links whose p died are dissolved. Young links are as soon as 8 is done, so that no minor collection after that
 *      sees a dead p. Until the sweep has passed a link, rrc_to_obj asks the host about its p.
 *
 * After rrc_major_collection_trace_early the search stays open for reports instead, and the free call pronounces the
 * verdict. All that follows it is done at once, without 8.
 *
 * A major collection that does not search goes the same way, without 2 and 3: for each P link, p is traced if C holds
 * ob, and ob is watched otherwise. The same is done when a search is given up because a traverse is wrong.
 *
 * A watch can outlive the search. Then it means nothing, and the next rrc_incref ends it. */

/* ---- the objects that a search visits ---- */

/* Delay a visited object until its head has been fetched. Returns an object that was
   visited some time ago, or NULL. The delayed objects are the last `delayed` of the ring. */
RRCI_ALWAYS_INLINE rrc_object *rrci_through_ring(rrci_search *search, rrc_object *ob)
{
    rrc_object **place = &search->ring[search->at++ % RRCI_RING], *ready = *place;
    *place = ob;
    if (ready == NULL)
        search->delayed++;
    return ready;
}

static rrc_object *rrci_from_ring(rrci_search *search)
{
    rrc_object **oldest, *ready;
    if (search->delayed == 0)
        return NULL;
    oldest = &search->ring[(search->at - search->delayed--) % RRCI_RING];
    ready = *oldest;
    *oldest = NULL;
    return ready;
}

static void rrci_wrong_traverse(rrci_search *search, int code, rrc_object *parent, const char *detail)
{
    if (!rrci_is_ordering(search->heap))
        rrci_error(search->heap, code, search->function, parent, NULL, detail);
    search->is_wrong = 1;
    search->end = 0;
}

/* The work goes on without the result of a traverse that was wrong. */
static void rrci_leave_out_result(rrci_search *search)
{
    if (search->is_wrong)
        search->end = search->max;
    search->is_wrong = 0;
}

/* ---- EXPLAIN ---- */

/* A search that is divided sees ob, perhaps for the first time: ob is weighed, and watched from now on. (In a search
   that is not divided, this is done when the scan comes to ob, if it is not found alive then.) */
RRCI_ALWAYS_INLINE void rrci_see(const rrci_search *search, rrc_object *ob, rrci_gc_head *head)
{
    rrc_heap *heap = search->heap;
    if (head->is.refs != 0)
        return;
    head->is.refs = (uintptr_t)rrci_weight(heap, ob) * 2 + 1;
    if (!RRCI_LISTENS(heap))
        rrci_watch(ob);
    else if (RRC_REFCNT(ob) >= 0)
        rrci_tell(heap, ob, RRCI_NEWS_WEIGHED);
}

/* Twice the number of references to ob, when it was weighed, that are not explained. */
RRCI_ALWAYS_INLINE intptr_t rrci_unexplained(const rrci_search *search, rrc_object *ob)
{
    intptr_t refs = (intptr_t)rrci_gc_head_of(ob)->is.refs;
    return (refs & 1) != 0 ? refs - 1 : 2 * rrci_weight(search->heap, ob) + refs;
}

/* Can C's references to ob, which has a GC head, keep the p of its link? */
RRCI_ALWAYS_INLINE int rrci_can_keep_p(const rrc_heap *heap, rrc_object *ob)
{
    return RRCI_PROXIES_HAVE_STATE || (rrci_gc_head_of(ob)->is.word & RRCI_GC_P_LINKED) != 0
        || rrci_is_wrapper(heap, ob);
}

/* Trial deletion: one reference to ob is explained. */
RRCI_ALWAYS_INLINE void rrci_explain_one(const rrci_search *search, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    uintptr_t list = RRCI_UNTRACKED;
    if (RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        return;
    if (rrci_is_gc_type(RRC_TYPE(ob)))
        list = rrci_gc_list(head);
    if (list != RRCI_TRACKED
        && !(list == RRCI_UNTRACKED && search->explains_linked && rrci_is_linked_ob(ob) && rrci_has_gc_head(ob)
             && RRC_LINK(ob) != NULL))
        return;
    if (search->is_divided) {
        if (list == RRCI_TRACKED && rrci_is_alive(&search->heap->machine, head))
            return;
        rrci_see(search, ob, head);
    }
    head->is.refs -= 2;
}

#ifdef RRC_DEBUG
/* Is ob an object? Reads as little of it as possible. */
static int rrci_looks_like_object(rrc_object *ob)
{
    const rrc_type *type;
    if (RRCI_COUNT(ob) <= 0)
        return 0;
    if (RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        return 1;
    type = RRC_TYPE(ob);
    return type != NULL && (uintptr_t)type % sizeof(void *) == 0 && type->tp_basicsize < (size_t)1 << 30;
}

static void rrci_debug_visit(rrci_search *search, rrc_object *ob)
{
    int is_aligned = ob != NULL && (uintptr_t)ob % sizeof(void *) == 0, is_freed = is_aligned && rrci_is_freed(ob);
    if (!is_aligned || is_freed || !rrci_looks_like_object(ob)) {
        rrci_wrong_traverse(search, is_freed ? RRC_EFREED : RRC_ETRAVERSE, search->parent,
                            is_freed ? "a field that its tp_traverse visits refers to an object that was freed"
                                     : "the tp_traverse of this object's type visits what is not an object");
        return;
    }
    if (RRC_REFCNT(ob) < RRC_REFCNT_IMMORTAL && rrci_is_gc_type(RRC_TYPE(ob))) {
        const rrci_gc_head *head = rrci_gc_head_of(ob);
        const rrci_list *list = &search->heap->tracked.list[rrci_gc_list(head)];
        size_t index = (size_t)(head->is.word >> RRCI_GC_SHIFT);
        if (rrci_gc_list(head) != RRCI_UNTRACKED
            && (index >= list->count || *rrci_ob_at(list, index) != ob)) {
            rrci_wrong_traverse(search, RRC_ETRAVERSE, search->parent,
                                "the tp_traverse of this object's type visits an object of another heap");
            return;
        }
    }
    search->sum += rrci_hash_edge(ob, 0);
    search->counts += rrci_hash_edge(ob, (uintptr_t)RRC_REFCNT(ob));
}

static int rrci_visit_to_compare(rrc_object *ob, void *arg)
{
    rrci_debug_visit((rrci_search *)arg, ob);
    return 0;
}

/* Two traverses of ob must be the same, and change no count. */
static void rrci_compare_traverses(rrci_search *search, rrc_object *ob)
{
    uint64_t sum, counts;
    search->sum = search->counts = 0;
    rrci_traverse(search, ob, rrci_visit_to_compare);
    sum = search->sum;
    counts = search->counts;
    if (search->is_wrong)
        return;
    search->sum = search->counts = 0;
    rrci_traverse(search, ob, rrci_visit_to_compare);
    if (sum != search->sum)
        rrci_wrong_traverse(search, RRC_ETRAVERSE, ob,
                            "the tp_traverse of this object's type visits other objects the second time");
    else if (counts != search->counts)
        rrci_wrong_traverse(search, RRC_ETRAVERSE, ob,
                            "the tp_traverse of this object's type changes the counts of what it visits");
}
#endif

static int rrci_visit_explain(rrc_object *ob, void *arg)
{
    rrci_search *search = (rrci_search *)arg;
#ifdef RRC_DEBUG
    rrci_debug_visit(search, ob);       /* it may be wrong this time only */
    if (search->is_wrong)
        return 0;
#endif
    RRCI_PREFETCH_HEADS(ob);
    ob = rrci_through_ring(search, ob);
    if (ob != NULL)
        rrci_explain_one(search, ob);
    return 0;
}

/* The next object of a list that is passed upwards, number `index`. *place is where the one before stood, or NULL.
   Prefetches the object one segment later, and its GC head. */
RRCI_ALWAYS_INLINE rrc_object *rrci_next_ob(const rrci_list *list, size_t index, rrc_object ***place)
{
    size_t in_chunk = index % RRCI_CHUNK_OBS;
    *place = in_chunk == 0 || *place == NULL ? rrci_ob_at(list, index) : *place + 1;
    if (in_chunk + RRCI_SEGMENT < RRCI_CHUNK_OBS)
        RRCI_PREFETCH_FIELDS((*place)[RRCI_SEGMENT]);       /* (perhaps an old one, behind the end of the list) */
    else if (index + RRCI_SEGMENT < list->count)
        RRCI_PREFETCH_FIELDS(*rrci_ob_at(list, index + RRCI_SEGMENT));
    return **place;
}

/* Have all tracked objects been found alive? */
static int rrci_all_found(const rrc_heap *heap)
{
    return heap->machine.alive + heap->tracked.holes == heap->tracked.list[RRCI_TRACKED].count;
}

/* Explain the references that the objects of this list own, from index `first` up to `end`. Returns where the slice ends.
   Those of objects that are known to be alive are left out: what they refer to is taken as held then, and is alive
   indeed. (A search among C objects alone begins with none.) Debug builds explain them all the same, if the search is
   not divided: otherwise too many visits would not be found. */
static size_t rrci_explain_part(rrci_search *search, const rrci_list *list, size_t first, size_t end)
{
    const int leaves_out = search->heap->machine.alive > 0 && (!RRCI_CHECKS || search->max != INTPTR_MAX);
    rrc_object *ob, **place = NULL;
    size_t i = leaves_out && rrci_all_found(search->heap) ? end : first;
    for (; i < end && rrci_may_go_on(search); i++) {
        ob = rrci_next_ob(list, i, &place);
        search->end--;
        if (RRCI_UNLIKELY(rrci_is_hole(ob)))
            continue;
#ifdef RRC_DEBUG
        rrci_compare_traverses(search, ob);
        if (search->is_wrong)
            break;
#endif
        if (rrci_is_alive(&search->heap->machine, rrci_gc_head_of(ob))) {
            if (leaves_out)
                continue;
        } else if (search->is_divided) {
            rrci_see(search, ob, rrci_gc_head_of(ob));
        }
        rrci_traverse(search, ob, rrci_visit_explain);
    }
    while ((ob = rrci_from_ring(search)) != NULL)
        rrci_explain_one(search, ob);
    return i;
}

/* Counts how often search.parent visits `target`, for the report. */
typedef struct rrci_blame {
    rrci_search search;
    rrc_object *target;
    size_t visits;
} rrci_blame;

static int rrci_visit_blame(rrc_object *ob, void *arg)
{
    rrci_blame *blame = (rrci_blame *)arg;
    blame->visits += ob == blame->target;
    return 0;
}

/* ob has more visits than references. Report the object that visits it most often, and another one: either
   can be wrong. */
static void rrci_too_many_visits(rrci_search *search, rrc_object *ob)
{
    rrc_heap *heap = search->heap;
    rrci_blame blame;
    rrc_object *culprit = NULL, *other = NULL;
    size_t i, most = 0, all = 0;
    int kind;
#ifndef RRC_NO_STDIO
    char detail[330], also[100] = "";
    intptr_t references = rrci_references(heap, ob);
#else
    const char *detail = "it visits an object with fewer references: one was stored without rrc_incref, or dropped "
                         "twice, or a tp_traverse visits what its object does not own";
#endif
    blame.search.heap = heap;
    blame.target = ob;
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count; i++) {
            rrc_object *visitor = *rrci_ob_at(&heap->tracked.list[kind], i);
            if (rrci_is_hole(visitor))
                continue;
            blame.visits = 0;
            rrci_traverse(&blame.search, visitor, rrci_visit_blame);
            all += blame.visits;
            if (blame.visits > most) {
                most = blame.visits;
                other = culprit;
                culprit = visitor;
            } else if (blame.visits > 0) {
                other = visitor;
            }
        }
#ifndef RRC_NO_STDIO
    if (other != NULL)
        snprintf(also, sizeof also, "and %.50s %p visit ", rrci_type_name(other), (void *)other);
    snprintf(detail, sizeof detail,
             "it %s%.50s %p: %lu visit%s, but %ld reference%s. One was stored without rrc_incref, or dropped twice, "
             "or a tp_traverse visits what its object does not own; no cycle is collected now",
             other != NULL ? also : "visits ", rrci_type_name(ob), (void *)ob,
             (unsigned long)all, all == 1 ? "" : "s", (long)references, references == 1 ? "" : "s");
#else
    (void)other;
    (void)all;
#endif
    rrci_wrong_traverse(search, RRC_ETRAVERSE, culprit, detail);
}

/* ---- what a found object reaches ---- */

/* Does C's reference to ob, which is linked and has a GC head, keep the p of its link? */
RRCI_ALWAYS_INLINE int rrci_keeps_p(rrc_heap *heap, rrc_object *ob)
{
    return (rrci_gc_head_of(ob)->is.word & RRCI_GC_P_LINKED) != 0
        || (RRC_LINK(ob) != NULL && (RRC_HOST_HAS_STATE(heap, RRC_LINK(ob)) || rrci_outside(heap, ob) > 0));
}

/* A linked object that is not tracked, but has a GC head, is alive: it has turned out now, or before. */
static void rrci_reach_linked(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    if (rrci_is_alive(&heap->machine, head))
        return;
    head->is.word ^= RRCI_GC_COLOR;
    RRC_REFCNT(ob) &= INTPTR_MAX;
    if (rrci_keeps_p(heap, ob))
        RRC_HOST_TRACE(heap, RRC_LINK(ob));
}

/* An object at this level refers to ob. */
RRCI_ALWAYS_INLINE void rrci_reach(rrci_search *search, rrc_object *ob, uintptr_t level)
{
    if (RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL)
        return;
    if (rrci_is_gc_type(RRC_TYPE(ob))) {
        const rrci_gc_head *head = rrci_gc_head_of(ob);
        if (rrci_gc_list(head) == RRCI_TRACKED) {
            if (rrci_is_below(&search->heap->machine, head, level))
                rrci_make_alive(search->heap, ob, level);
            return;
        }
        if (rrci_gc_list(head) != RRCI_UNTRACKED)
            return;
    }
    if (search->with_host && rrci_is_linked_ob(ob) && rrci_has_gc_head(ob))
        rrci_reach_linked(search->heap, ob);
}

/* The visitor of the scan, whose objects are alive. It delays nothing: an object must be known to be alive before the
   scan gets there. */
static int rrci_visit_alive(rrc_object *ob, void *arg)
{
    ((rrci_search *)arg)->at++;
    rrci_reach((rrci_search *)arg, ob, 0);
    return 0;
}

/* The visitor for gray objects before the verdict, when all of them are alive. It delays each visited object until its
   head has been fetched, because these objects are spread over memory. */
static int rrci_visit_alive_later(rrc_object *ob, void *arg)
{
    rrci_search *search = (rrci_search *)arg;
    RRCI_PREFETCH_HEADS(ob);
    ob = rrci_through_ring(search, ob);
    if (ob != NULL)
        rrci_reach(search, ob, 0);
    return 0;
}

/* The visitor for objects that were found at search->level. */
static int rrci_visit_reach(rrc_object *ob, void *arg)
{
    ((rrci_search *)arg)->at++;
    rrci_reach((rrci_search *)arg, ob, ((rrci_search *)arg)->level);
    return 0;
}

/* The search has found ob: trace the p that it keeps, and visit what it refers to. */
RRCI_ALWAYS_INLINE void rrci_blacken(rrci_search *search, rrc_object *ob, rrc_visitproc visit)
{
    search->level = rrci_gc_head_of(ob)->is.word & (RRCI_GC_KEPT | RRCI_GC_OWNED);
    if (search->with_host && rrci_can_keep_p(search->heap, ob) && rrci_is_linked_ob(ob)
        && RRC_REFCNT(ob) < RRC_REFCNT_IMMORTAL && rrci_keeps_p(search->heap, ob))
        RRC_HOST_TRACE(search->heap, RRC_LINK(ob));
    rrci_traverse(search, ob, visit);
}

/* What ob reaches is to be found before ob leaves the table of tracked objects. */
static void rrci_blacken_now(rrc_heap *heap, rrc_object *ob)
{
    rrci_search search;
    rrci_begin_search(&search, heap, "rrc_gc_untrack");
    search.with_host = !RRCI_LISTENS(heap);
    RRCI_BEGIN_HOOK(heap);
    rrci_blacken(&search, ob, rrci_visit_reach);
    RRCI_END_HOOK(heap);
}

static void rrci_drain_gray(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrc_visitproc visit = heap->machine.keeping == 0 ? rrci_visit_alive_later : rrci_visit_reach;
    rrc_object *ob;
    for (;;) {
        while (rrci_may_go_on(search) && (ob = rrci_pop_gray(heap, &heap->machine.gray)) != NULL) {
            search->end--;
            rrci_blacken(search, ob, visit);
        }
        ob = rrci_from_ring(search);
        if (ob == NULL)
            return;
        rrci_reach(search, ob, 0);
    }
}

static int rrci_has_gray(const rrci_machine *machine)
{
    return machine->gray.in != machine->gray.out;
}

/* While the search is open: visit what rrc_marked, or rrc_incref in a hook, made alive. (A trace hook that marks at
   once calls rrc_marked from here, and leaves the rest to the loop.) */
static RRCI_NOINLINE void rrci_visit_found(rrc_heap *heap)
{
    rrci_search search;
    rrc_object *ob;
    rrci_begin_search(&search, heap, "rrc_marked");
    search.with_host = 1;
    heap->state = RRCI_MAJOR;
    while ((ob = rrci_pop_gray(heap, &heap->machine.gray)) != NULL)
        rrci_blacken(&search, ob, rrci_visit_reach);
    heap->state = RRCI_OPEN;
}

/* ---- the host is asked ---- */

/* Is all that the host has marked in this collection reported? */
static int rrci_reports_all(const rrc_heap *heap)
{
    return heap->machine.host_reports == RRCI_REPORTS || (heap->machine.host_reports == 0 && heap->desc.reports_marks);
}

/* Look for tracked objects that are not found although the host has marked their p's. Returns one of them, or NULL.
   finds: they are alive; else the first one is enough. */
static rrc_object *rrci_look_for_marked(rrc_heap *heap, int finds)
{
    rrc_object *marked = NULL;
    int kind;
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        const rrci_list *list = &heap->links.list[kind];
        size_t first, i;
        for (first = 0; first < list->count; first += RRCI_SEGMENT) {
            const rrci_link *link = rrci_at(list, first);
            const rrci_link *ahead = first + RRCI_SEGMENT < list->count ? rrci_at(list, first + RRCI_SEGMENT) : link;
            for (i = rrci_segment_count(list, first); i > 0; i--, link++, ahead++) {
                RRCI_PREFETCH(ahead->p);
                RRCI_PREFETCH_HEADS(ahead->ob);
                if (!rrci_is_in_tracked(link->ob) || rrci_is_alive(&heap->machine, rrci_gc_head_of(link->ob))
                    || RRC_HOST_SURVIVOR(heap, link->p) == NULL)
                    continue;
                marked = link->ob;
                if (!finds)
                    return marked;
                rrci_make_alive(heap, marked, heap->machine.keeping);
            }
        }
    }
    return marked;
}

/* Has the host reached tracked objects that are not found yet? One pass over all links. A host that reports is not
   asked in slices, but by debug builds. */
static int rrci_ask_host(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrc_object *reached;
    if (!heap->machine.searched || rrci_all_found(heap)
        || (rrci_reports_all(heap) && rrci_in_slices(heap)
            && !(RRCI_CHECKS && heap->machine.stage == RRCI_DRAIN && !search->is_early)))
        return 0;
    reached = rrci_look_for_marked(heap, 1);
    if (reached != NULL && RRCI_CHECKS && !search->is_early && rrci_reports_all(heap))
        rrci_error(heap, RRC_EHOOK, search->function, reached, RRC_LINK(reached),
                   "the host marked p, but did not report it by rrc_marked");
    return reached != NULL;
}

/* ---- wrappers are weighed again: see >>outside ---- */

/* Has this search not found ob alive, which is tracked, or linked with a scratch word? */
static int rrci_is_white(const rrc_heap *heap, rrc_object *ob)
{
    if (!rrci_has_gc_head(ob) || rrci_is_alive(&heap->machine, rrci_gc_head_of(ob)))
        return 0;
    return rrci_is_tracked(ob) ? rrci_is_in_tracked(ob) : rrci_is_linked_ob(ob);
}

static int rrci_visit_weigh(rrc_object *ob, void *arg)
{
    rrci_search *search = (rrci_search *)arg;
    if (rrci_is_wrapper(search->heap, ob) && rrci_is_white(search->heap, ob)) {
        rrci_see(search, ob, rrci_gc_head_of(ob));
        rrci_gc_head_of(ob)->is.refs -= 2;
    }
    return 0;
}

/* Is a white wrapper held by more than visits of white objects explain? */
static int rrci_is_held_after_all(rrci_search *search, rrc_object *ob)
{
    intptr_t held = rrci_unexplained(search, ob);
    rrci_gc_head_of(ob)->is.refs = 0;
    if (held < 0)
        rrci_too_many_visits(search, ob);
    return held > 0;
}

/* Weigh the white objects again. Returns 1 if some have turned out to be alive. */
static int rrci_weigh_tracked(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    rrc_object *ob;
    int found = 0;
    size_t i;
    for (i = 0; (ob = rrci_next_tracked(heap, &i)) != NULL;)
        if (rrci_is_white(heap, ob))
            rrci_gc_head_of(ob)->is.refs = 0;
    for (i = 0; (ob = rrci_next_tracked(heap, &i)) != NULL;)
        if (rrci_is_white(heap, ob))
            rrci_traverse(search, ob, rrci_visit_weigh);
    for (i = 0; !search->is_wrong && (ob = rrci_next_tracked(heap, &i)) != NULL;)
        if (rrci_is_white(heap, ob) && rrci_is_wrapper(heap, ob) && rrci_is_held_after_all(search, ob)) {
            rrci_make_alive(heap, ob, 0);
            found = 1;
        }
    return found;
}

/* The same for the links of wrappers. (In an early collection survivor does not know yet what was traced.) */
static int rrci_weigh_links(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    const rrci_link *link;
    size_t i = 0;
    int kind = 0, found = 0;
    while (!search->is_wrong && (link = rrci_next_link(heap, &kind, &i)) != NULL) {
        rrc_object *ob = link->ob;
        if (!rrci_is_linked_ob(ob) || !rrci_is_wrapper(heap, ob))
            continue;
        if (heap->machine.searched && rrci_is_white(heap, ob)) {
            if (!rrci_is_tracked(ob) && rrci_is_held_after_all(search, ob)) {
                rrci_reach_linked(heap, ob);
                found = 1;
            }
        } else if (rrci_outside(heap, ob) > 0 && RRC_HOST_SURVIVOR(heap, link->p) == NULL) {
            RRC_HOST_TRACE(heap, link->p);
            found |= !search->is_early;
        }
    }
    return found;
}

/* Everything else is decided: weigh again what depends on foreign references, number and visits at one time. Returns
   1 if some objects have turned out to be alive, so that marking must go on, or if a traverse is wrong. */
static int rrci_weigh_wrappers(rrci_search *search)
{
    int found;
    if (search->heap->tracked.wrappers == 0 || !search->with_host)
        return 0;
    found = search->heap->machine.searched && rrci_weigh_tracked(search);
    found |= rrci_weigh_links(search);
    return found || search->is_wrong;
}

/* ---- ROOTS, SCAN ---- */

/* In a search among C objects alone: does a link hold ob? If its count lacks the bias, the maker of the link may have
   forgotten it. (The link field can have an old marker.) */
static int rrci_is_held_by_link(rrc_heap *heap, rrc_object *ob)
{
    int kind, has_record = 0;
    rrci_spot spot;
    if (rrci_is_linked_ob(ob))
        return rrci_link_holds(heap, ob);
    if (RRC_LINK(ob) == NULL || RRC_LINK(ob) == heap->links.marker || rrci_is_odd(RRC_LINK(ob)))
        return 0;
    for (kind = 0; kind < RRCI_LISTS; kind++)
        has_record |= rrci_look_for_ob(&heap->links.list[kind], ob, &spot);
    return has_record;
}

/* Have the visits to ob, and the references that they explain, been counted at one time? The references to the foreign
   objects of wrappers can change in hooks and between slices: rrci_weigh_wrappers decides about those. */
static int rrci_is_exact(const rrci_search *search, rrc_object *ob)
{
    return !search->with_host || !rrci_is_wrapper(search->heap, ob);
}

/* What ROOTS does for a link: if C holds ob, p is traced. Otherwise ob is watched, so that p is traced when C takes a
   reference. The scan decides about tracked objects. The link of waiting garbage or of a static object keeps its p, and
   so does one whose maker forgot the bias. */
static void rrci_root_link(rrci_search *search, const rrci_link *link, int is_p)
{
    rrc_heap *heap = search->heap;
    rrc_object *ob = link->ob;
    int holds;
    if (RRCI_UNLIKELY(!rrci_is_linked_ob(ob))) {
        rrci_refcount_error(heap, search->function, ob, link->p);
        holds = 1;
    } else if (rrci_is_tracked(ob)) {
        if (rrci_gc_list(rrci_gc_head_of(ob)) == RRCI_TRACKED && heap->machine.searched)
            return;
        holds = rrc_refcnt(ob) > 0;
    } else if (rrci_has_gc_head(ob)) {
        rrci_gc_head *head = rrci_gc_head_of(ob);
        intptr_t outside = heap->machine.searched ? rrci_unexplained(search, ob) : rrc_refcnt(ob);
        if (outside < 0 && rrci_is_exact(search, ob)) {
            rrci_too_many_visits(search, ob);
            return;
        }
        holds = outside > 0;
        head->is.refs = 0;
        head->is.word = (head->is.word & ~RRCI_GC_COLOR) | heap->machine.unfound;
        if (!rrci_is_started(heap))
            RRC_REFCNT(ob) &= INTPTR_MAX;
        if (holds) {
            rrci_reach_linked(heap, ob);
            return;
        }
    } else {
        holds = rrc_refcnt(ob) > 0;
    }
    if (holds && (is_p || RRC_HOST_HAS_STATE(heap, link->p)))
        RRC_HOST_TRACE(heap, link->p);
    else if (is_p && rrci_is_started(heap))
        rrci_watch(ob);
}

static void rrci_root_links(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    const rrci_list *list = &heap->links.list[heap->machine.passing];
    const int is_p = (heap->machine.passing & RRCI_O) == 0;
    size_t i = heap->machine.cursor < list->count ? heap->machine.cursor : list->count;
    while (i > 0 && rrci_may_go_on(search)) {
        size_t first = (i - 1) / RRCI_SEGMENT * RRCI_SEGMENT;
        const rrci_link *link = rrci_at(list, first);
        const rrci_link *ahead = first > 0 ? rrci_at(list, first - RRCI_SEGMENT) : link;
        while (i > first && rrci_may_go_on(search)) {
            i--;
            RRCI_PREFETCH_HEADS(ahead[i - first].ob);
            search->end--;
            rrci_root_link(search, &link[i - first], is_p);
        }
    }
    heap->machine.cursor = i;
}

/* Find objects that are held from outside, and visit what is alive, from heap->machine.cursor on. */
static void rrci_scan(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrc_object **place = NULL;
    size_t i;
    for (i = heap->machine.cursor; i < list->count && rrci_may_go_on(search); i++) {
        rrc_object *ob = rrci_next_ob(list, i, &place);
        rrci_gc_head *head;
        heap->machine.scan = i;
        search->end--;
        if (RRCI_UNLIKELY(rrci_is_hole(ob)))
            continue;
        head = rrci_gc_head_of(ob);
        if (!rrci_is_alive(&heap->machine, head)) {
            intptr_t outside = RRCI_LISTENS(heap) ? RRC_REFCNT(ob) >= 0 : rrci_unexplained(search, ob);
            if (outside < 0 && rrci_is_exact(search, ob))
                rrci_too_many_visits(search, ob);
            if (outside <= 0 && (search->with_host || !rrci_is_held_by_link(heap, ob))) {
                rrci_watch(ob);
                continue;
            }
            rrci_color(heap, ob, head, 0);
        }
        head->is.refs = 0;
        rrci_blacken(search, ob, rrci_visit_alive);
    }
    heap->machine.cursor = i;
    heap->machine.scan = i < list->count ? i : SIZE_MAX;
}

/* ---- RESET: the search is given up ---- */

static void rrci_begin_reset(rrci_machine *machine)
{
    memset(&machine->gray, 0, sizeof machine->gray);
    machine->alive = 0;
    machine->cursor = SIZE_MAX;
}

/* Forget what the search noted of tracked objects, from heap->machine.cursor down. Holes are filled. Returns the units
   done. */
static size_t rrci_reset_part(rrc_heap *heap, size_t max)
{
    rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    size_t done, i = heap->machine.cursor < list->count ? heap->machine.cursor : list->count;
    for (done = 0; i > 0 && done < max; done++) {
        rrc_object *ob = *rrci_ob_at(list, --i);
        if (rrci_is_hole(ob)) {
            rrci_fill_hole(heap, i);
        } else {
            rrci_unwatch(heap, ob);
            rrci_whiten(&heap->machine, rrci_gc_head_of(ob));
        }
    }
    heap->machine.cursor = i;
    return done;
}

static void rrci_reset_scratch(rrc_heap *heap)
{
    rrci_begin_reset(&heap->machine);
    rrci_reset_part(heap, SIZE_MAX);
}

/* Between two pieces of work: if a traverse was wrong, or if rrc_gc_disable was called, the search goes on without a
   result. */
static void rrci_give_up_search(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    int is_off = heap->machine.is_disabled && search->with_host && heap->waiting.orders == RRCI_NO_ORDER;
    if (!heap->machine.searched || heap->machine.stage > RRCI_VERDICT || !(search->is_wrong || is_off))
        return;
    rrci_leave_out_result(search);
    heap->machine.searched = 0;
    heap->machine.plan = RRCI_NO_SEARCH;
    heap->machine.scan = 0;
    heap->machine.stage = RRCI_RESET;
    rrci_begin_reset(&heap->machine);
}

/* ---- FINALIZABLE, OWNED ---- */

/* Has garbage of this type code that may look at what it owns? */
static int rrci_looks(const rrc_type *type)
{
    return (type->tp_flags & RRC_TPFLAGS_DROPS_ONLY) == 0
        && (type->tp_dealloc != NULL || type->tp_clear != NULL || type->tp_clear_weakrefs != NULL
            || type->tp_finalize != NULL);
}

/* One pass over the garbage: keep what has a finalizer still to run; or find what garbage owns, if its code may look at
   it. (The p of the garbage itself is not traced for that.) */
static void rrci_keep_part(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    const rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    rrc_object **place = NULL;
    for (; heap->machine.cursor < list->count && rrci_may_go_on(search); heap->machine.cursor++) {
        rrc_object *ob = rrci_next_ob(list, heap->machine.cursor, &place);
        search->end--;
        if (rrci_is_hole(ob) || rrci_is_alive(&heap->machine, rrci_gc_head_of(ob)))
            continue;
        if (heap->machine.stage == RRCI_OWNED) {
            search->level = RRCI_GC_OWNED;
            if (rrci_looks(RRC_TYPE(ob)))
                rrci_traverse(search, ob, rrci_visit_reach);
        } else if (rrci_is_finalizable(ob)) {
            rrci_make_alive(heap, ob, RRCI_GC_KEPT);
        }
    }
}

/* ---- ASIDE ---- */

/* Is the count of an object that is garbage, or kept for finalizers, just its bias? Then it need not be set
   aside: the free function frees it if it is light, else queues it. It is watched until it is deallocated. */
static int rrci_goes_by_count(rrc_heap *heap, rrc_object *ob, int is_kept, int keeps)
{
    if (rrci_references(heap, ob) != 0)
        return 0;
    return RRCI_COUNT(ob) == RRC_REFCNT_FROM_PYPY_LIGHT
        || (!is_kept && !keeps && RRC_TYPE(ob)->tp_clear_weakrefs == NULL);
}

/* Garbage that its tp_clear has not broken is garbage again. It is tried once more. (As long as pending work is done,
   or the end of the heap looks for the order, owners may be left that go later.) */
static void rrci_note_uncollectable(rrc_heap *heap, rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);
    if ((head->is.word & RRCI_GC_CLEARED) == 0 || heap->waiting.running)
        return;
    if ((head->is.word & RRCI_GC_UNCOLLECTABLE) == 0) {
        rrci_set_uncollectable(&heap->tracked, head, 1);
        rrci_error(heap, RRC_EUNCOLLECTABLE, "rrc_run_pending", ob, NULL, "");
    }
}

/* Is anything left of garbage that was cleared, and no search has told yet whether it is uncollectable? */
static int rrci_is_in_doubt(const rrc_heap *heap)
{
    return heap->tracked.cleared > heap->tracked.uncollectable;
}

/* Garbage, and what is kept for finalizers, is to wait, from heap->machine.cursor down. Holes are filled. keeps: the
   p's that garbage owns have been kept. Then all of it waits, as the p of an object may be among them. Returns the
   units done. */
static size_t rrci_aside_part(rrc_heap *heap, int keeps, size_t max)
{
    rrci_list *list = &heap->tracked.list[RRCI_TRACKED];
    size_t done, i = heap->machine.cursor < list->count ? heap->machine.cursor : list->count;
    heap->waiting.is_hidden = 1;
    for (done = 0; i > 0 && done < max; done++) {
        rrc_object *ob = *rrci_ob_at(list, --i);
        rrci_gc_head *head;
        int is_kept;
        if (i >= RRCI_SEGMENT)
            RRCI_PREFETCH_FIELDS(*rrci_ob_at(list, i - RRCI_SEGMENT));
        if (RRCI_UNLIKELY(rrci_is_hole(ob))) {
            rrci_fill_hole(heap, i);
            continue;
        }
        head = rrci_gc_head_of(ob);
        is_kept = (head->is.word & RRCI_GC_KEPT) != 0;
        if (!rrci_is_below(&heap->machine, head, 0)) {
            rrci_forgive(heap, ob);
            if ((head->is.word & RRCI_GC_SOON) != 0) {  /* it was unlinked, and then C got hold of an owner */
                head->is.word &= ~RRCI_GC_SOON;
                rrci_drop_quietly(heap, ob);
            }
        } else if (rrci_goes_by_count(heap, ob, is_kept, keeps)) {
            rrci_whiten(&heap->machine, head);
            if (RRCI_COUNT(ob) == RRC_REFCNT_FROM_PYPY_LIGHT)
                RRC_REFCNT(ob) &= INTPTR_MAX;   /* it owns nothing */
            else
                rrci_note_cleared(&heap->tracked, head);
        } else {
            if (!is_kept)
                rrci_note_uncollectable(heap, ob);
            rrci_set_aside(heap, ob);
        }
    }
    heap->machine.cursor = i;
    return done;
}

/* Did the search find no garbage, and is none left that its tp_clear did not break? */
static int rrci_all_alive(const rrc_heap *heap)
{
    return rrci_all_found(heap) && heap->tracked.uncollectable + heap->tracked.cleared == 0;
}

/* The search is over: what it found alive is white from now on, and garbage is not, although nothing of it has
   been touched. */
static void rrci_pronounce(rrci_machine *machine)
{
    machine->white ^= RRCI_GC_COLOR;
}

/* ---- the machine ----
   Lua's singlestep is the model: one function does a piece of the current stage, and another one calls it. */

/* Begin a stage that passes RRCI_TRACKED: upwards from 0, or downwards from SIZE_MAX. */
static void rrci_begin_stage(rrci_machine *machine, rrci_stage stage, size_t cursor)
{
    machine->stage = stage;
    machine->cursor = cursor;
}

/* A search begins. */
static void rrci_begin_explain(rrc_heap *heap)
{
    heap->machine.searched = 1;
    heap->waiting.forgives = !heap->waiting.running && rrci_count_waiting(heap) == 0;
    rrci_begin_stage(&heap->machine, RRCI_EXPLAIN, 0);
}

/* Begin a stage that passes lists of links downwards. */
static void rrci_begin_links(rrc_heap *heap, rrci_stage stage, int kind)
{
    heap->machine.stage = stage;
    heap->machine.passing = kind;
    heap->machine.cursor = heap->links.list[kind].count;
}

/* Young lists come first, as a link can only move from a young list to an old one. Returns 0 if this was the last
   list. */
static int rrci_next_links(rrc_heap *heap)
{
    if (heap->machine.passing == RRCI_O_OLD)
        return 0;
    rrci_begin_links(heap, heap->machine.stage, (heap->machine.passing + 1) % RRCI_LISTS);
    return 1;
}

/* Begin FINALIZABLE or OWNED. */
static void rrci_begin_keeping(rrc_heap *heap, rrci_stage stage, uintptr_t keeping)
{
    rrci_begin_stage(&heap->machine, stage, 0);
    heap->machine.keeping = keeping;
    heap->machine.scan = SIZE_MAX;
}

/* OWNED is done, or there is no garbage: nothing is to be kept. */
static void rrci_end_keeping(rrc_heap *heap)
{
    int has_none = heap->machine.keeping == 0 && (!heap->machine.searched || heap->tracked.holes == 0);
    rrci_begin_stage(&heap->machine, RRCI_ASIDE, has_none ? 0 : SIZE_MAX);
    heap->machine.keeping = 0;
}

/* Begin a search, or what is left of a collection without one. */
static void rrci_begin_machine(rrc_heap *heap, int searches)
{
    heap->machine.searched = 0;
    heap->machine.scan = 0;
    heap->machine.tracked_first = heap->tracked.list[RRCI_TRACKED].count;
    if (searches) {
        rrci_begin_explain(heap);
    } else {
        rrci_begin_links(heap, RRCI_ROOTS, RRCI_P_YOUNG);
        heap->machine.plan = RRCI_NO_SEARCH;
    }
}

/* Is there nothing to mark, in the host either? */
static int rrci_host_is_done(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    if (!search->with_host)
        return 1;
    RRC_HOST_PROPAGATE(heap);
    return !rrci_has_gray(&heap->machine) && !rrci_ask_host(search);
}

/* Do a piece of the current stage. Returns 0 if there is nothing to do now. */
static int rrci_single(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    switch (heap->machine.stage) {
    case RRCI_RESET:
        search->end -= (intptr_t)rrci_reset_part(heap, (size_t)search->end - search->at);
        if (heap->machine.cursor > 0)
            break;
        if (search->with_host)
            rrci_begin_links(heap, RRCI_ROOTS, RRCI_P_YOUNG);
        else
            heap->machine.stage = RRCI_VERDICT;
        break;
    case RRCI_EXPLAIN:
        heap->machine.cursor = rrci_explain_part(search, &heap->tracked.list[RRCI_TRACKED], heap->machine.cursor,
                                                 heap->machine.tracked_first);
        if (heap->machine.cursor == heap->machine.tracked_first) {
            if (search->with_host)
                rrci_begin_links(heap, RRCI_ROOTS, RRCI_P_YOUNG);
            else
                rrci_begin_stage(&heap->machine, RRCI_SCAN, 0);
        }
        break;
    case RRCI_ROOTS:
        rrci_root_links(search);
        if (heap->machine.cursor == 0 && !search->is_wrong && !rrci_next_links(heap))
            rrci_begin_stage(&heap->machine, heap->machine.searched ? RRCI_SCAN : RRCI_DRAIN, 0);
        break;
    case RRCI_SCAN:
        rrci_scan(search);
        if (heap->machine.scan == SIZE_MAX)
            heap->machine.stage = RRCI_DRAIN;
        break;
    case RRCI_DRAIN:
        rrci_drain_gray(search);
        if (!search->ends)
            return rrci_has_gray(&heap->machine);
        if (rrci_host_is_done(search) && !rrci_weigh_wrappers(search))
            heap->machine.stage = RRCI_VERDICT;
        break;
    default:                            /* RRCI_FINALIZABLE, RRCI_OWNED */
        rrci_keep_part(search);
        if (heap->machine.cursor < heap->tracked.list[RRCI_TRACKED].count)
            break;
        rrci_drain_gray(search);
        if (rrci_has_gray(&heap->machine) || (heap->machine.keeping != 0 && !rrci_host_is_done(search)))
            break;
        if (heap->machine.stage == RRCI_FINALIZABLE) {
            rrci_begin_keeping(heap, RRCI_OWNED, RRCI_GC_OWNED);
        } else {
            rrci_end_keeping(heap);
        }
        break;
    }
    return 1;
}

/* Do the work up to the beginning of this stage, but no more than the search allows. */
static void rrci_run_to(rrci_search *search, rrci_stage stage)
{
    rrci_give_up_search(search);
    while (search->heap->machine.stage < stage && rrci_may_go_on(search) && rrci_single(search))
        rrci_give_up_search(search);
}

/* A search of this heap, over both heaps or among C objects alone. */
static void rrci_begin_run(rrci_search *search, rrc_heap *heap, int with_host, const char *function)
{
    rrci_begin_search(search, heap, function);
    search->with_host = search->explains_linked = (char)with_host;
    search->is_divided = (char)rrci_is_started(heap);
}

/* ---- whole collections, and what slices share with them ---- */

/* Find what is to be kept, in FINALIZABLE or OWNED, and leave the search open. (If foreign code has taken references in
   hooks meanwhile, there is a new verdict.) */
static void rrci_keep_at_once(rrci_search *search, rrci_stage stage, uintptr_t keeping)
{
    rrc_heap *heap = search->heap;
    while (heap->machine.searched && !rrci_all_found(heap)
           && (stage == RRCI_OWNED || heap->tracked.finalizable > 0)) {
        rrci_begin_keeping(heap, stage, keeping);
        rrci_run_to(search, stage == RRCI_OWNED ? RRCI_ASIDE : RRCI_OWNED);
        heap->machine.keeping = 0;
        if (!rrci_weigh_wrappers(search))
            break;
        heap->machine.stage = RRCI_DRAIN;
        rrci_run_to(search, RRCI_VERDICT);
    }
    heap->machine.stage = RRCI_VERDICT;
}

/* All garbage is to wait. */
static void rrci_all_aside(rrc_heap *heap, int keeps)
{
    int is_garbage = !rrci_all_alive(heap);
    heap->machine.alive = 0;
    rrci_pronounce(&heap->machine);
    if (is_garbage) {
        rrci_begin_stage(&heap->machine, RRCI_ASIDE, SIZE_MAX);
        rrci_aside_part(heap, keeps, SIZE_MAX);
    }
    heap->machine.unfound = heap->machine.white;
}

/* The search is over, or the collection. */
static void rrci_end_machine(rrc_heap *heap)
{
    heap->machine.searched = 0;
    heap->machine.scan = 0;
    heap->machine.stage = RRCI_IDLE;
    heap->head.sweeping = 0;
    if (rrci_in_slices(heap))
        heap->rest = RRCI_MUTATOR;
}

/* A search among C objects alone. */
static void rrci_collect_c(rrc_heap *heap, const char *function)
{
    rrci_search search;
    rrci_state state = heap->state;
    heap->state = RRCI_MAJOR;
    if (heap->machine.alive > 0) {              /* this search does not use the marks of the host */
        rrci_reset_scratch(heap);
        heap->machine.host_reports |= RRCI_REPORTS_LOST;
    }
    rrci_begin_run(&search, heap, 0, function);
    search.ends = 1;
    rrci_begin_machine(heap, 1);
    rrci_run_to(&search, RRCI_VERDICT);
    rrci_keep_at_once(&search, RRCI_FINALIZABLE, RRCI_GC_KEPT);
    if (heap->machine.searched)
        rrci_all_aside(heap, 0);
    rrci_end_machine(heap);
    heap->state = state;
}

/* Have enough objects come and gone since the last search, or enough collections gone by? */
static int rrci_is_search_due(const rrc_heap *heap)
{
    size_t all = rrci_count_links(heap) + rrci_count_tracked(heap), percent = heap->desc.search_percent;
    return heap->machine.is_collecting || heap->machine.changed >= all / 100 * percent + all % 100 * percent / 100
        || heap->machine.not_searched + 1 >= heap->machine.search_every;
}

/* Does this major collection search for cycles? The answer is the same until its end, because reports that came
   before a search would be lost if they were ignored. */
static int rrci_wants_search(rrc_heap *heap)
{
    int finds_any = !heap->machine.is_disabled && heap->tracked.walking == 0 && rrci_count_tracked(heap) > 0;
    if (heap->machine.plan == RRCI_UNDECIDED)
        heap->machine.plan = finds_any && rrci_is_search_due(heap) ? RRCI_SEARCH : RRCI_NO_SEARCH;
    return heap->machine.plan == RRCI_SEARCH && finds_any;
}

#define RRCI_MOST_SEARCH_EVERY 64

/* After a search: when is the next one due? */
static void rrci_note_search(rrc_heap *heap)
{
    heap->machine.changed = 0;
    heap->machine.not_searched = 0;
    heap->stats.searches++;
    if (!rrci_all_alive(heap))
        heap->machine.search_every = 1;
    else if (heap->machine.search_every < RRCI_MOST_SEARCH_EVERY)
        heap->machine.search_every = heap->machine.search_every * 2 + (heap->machine.search_every == 0);
}

/* Begin a major collection whose trace function does it all. */
static void rrci_begin_whole(rrci_search *search, int searches)
{
    rrc_heap *heap = search->heap;
    if (!searches && (heap->machine.searched || heap->machine.alive > 0))
        rrci_reset_scratch(heap);
    rrci_begin_machine(heap, searches);
    if (searches) {             /* what the host reaches from its own roots is alive: it need not be explained */
        RRC_HOST_PROPAGATE(heap);
        if (!rrci_reports_all(heap))
            rrci_ask_host(search);
    } else {            /* (quicker than ROOTS) */
        rrci_trace_lists(heap, 0, search->function);
        rrci_trace_lists(heap, RRCI_YOUNG, search->function);
        heap->machine.stage = RRCI_DRAIN;
    }
}

/* After the search in slices: does C hold ob, which has a link? (If an object that is not tracked is still watched, it
   has no references, or white objects own all of them.) */
static int rrci_is_held_now(const rrc_heap *heap, rrc_object *ob)
{
    if (heap->machine.searched && rrci_is_in_tracked(ob))
        return rrci_is_alive(&heap->machine, rrci_gc_head_of(ob));
    return rrc_refcnt(ob) > 0 && RRC_REFCNT(ob) >= 0;
}

/* The search stays open: no finalizer runs for what it did not find. In slices, scripts can have given state to proxies
   that were passed before: each p that is not marked is looked at again. */
static void rrci_open_search(rrci_search *search)
{
    rrc_heap *heap = search->heap;
    const rrci_link *link;
    rrc_object *ob;
    size_t i = 0;
    int kind = 0;
    if (heap->machine.searched && heap->tracked.finalizable > 0)
        while ((ob = rrci_next_tracked(heap, &i)) != NULL)
            if (rrci_is_white(heap, ob) && rrci_is_finalizable(ob))
                rrci_make_alive(heap, ob, 0);
    i = 0;
    if (RRCI_PROXIES_HAVE_STATE && rrci_is_started(heap))
        while ((link = rrci_next_link(heap, &kind, &i)) != NULL)
            if (RRC_HOST_SURVIVOR(heap, link->p) == NULL && rrci_is_held_now(heap, link->ob)
                && ((kind & RRCI_O) == 0 || RRC_HOST_HAS_STATE(heap, link->p)))
                RRC_HOST_TRACE(heap, link->p);
    rrci_drain_gray(search);
    heap->state = RRCI_OPEN;
}

/* For debug builds: the host has marked all that it has to. So it has marked what C holds. */
static void rrci_check_marked(rrc_heap *heap, const char *function)
{
    const rrci_link *link;
    size_t i = 0;
    int kind = 0;
    while ((link = rrci_next_link(heap, &kind, &i)) != NULL)
        if ((kind & RRCI_O) == 0 && rrci_is_held_now(heap, link->ob) && RRC_HOST_SURVIVOR(heap, link->p) == NULL) {
            rrci_not_marked(heap, link, function);
            return;
        }
}

/* The search in slices is complete: pronounce the verdict. */
static void rrci_pronounce_in_slices(rrc_heap *heap)
{
    heap->machine.not_searched++;
    heap->rest = RRCI_SWEEPING;
    heap->head.sweeping = 1;
    if (heap->machine.searched && !rrci_all_alive(heap)) {
        rrci_begin_keeping(heap, RRCI_FINALIZABLE, RRCI_GC_KEPT);
    } else {
        rrci_begin_stage(&heap->machine, RRCI_OWNED, SIZE_MAX);       /* nothing is to be kept */
    }
    if (heap->machine.searched) {
        rrci_note_search(heap);
        rrci_pronounce(&heap->machine);
    }
    heap->state = heap->rest;
}

/* The trace function of a major collection: do the search, or what slices or an earlier call have left of it. */
static void rrci_finish_marking(rrc_heap *heap, int is_early, int searches, const char *function)
{
    rrci_search search;
    int started = rrci_is_started(heap);
    rrci_begin_run(&search, heap, 1, function);
    search.is_early = (char)is_early;
    search.ends = 1;
    if (!started && !(heap->machine.stage == RRCI_VERDICT && heap->machine.searched && searches))
        rrci_begin_whole(&search, searches);
    else if (heap->machine.stage == RRCI_VERDICT)
        heap->machine.stage = RRCI_DRAIN;
    rrci_run_to(&search, RRCI_VERDICT);
    if (is_early) {
        rrci_open_search(&search);
    } else if (started) {
        if (RRCI_CHECKS)
            rrci_check_marked(heap, function);
        rrci_pronounce_in_slices(heap);
    } else {
        rrci_keep_at_once(&search, RRCI_FINALIZABLE, RRCI_GC_KEPT);
        heap->state = RRCI_MARKING;
    }
}

/* The free function begins. If the search is open, the host must have reported all that it has marked meanwhile. Else
   it must have marked nothing. In slices, and if the search is not open, only debug builds look. */
static void rrci_close_search(rrc_heap *heap, int is_open, const char *function)
{
    rrc_object *ob = heap->machine.searched && (RRCI_CHECKS || (is_open && !rrci_is_started(heap)))
                   ? rrci_look_for_marked(heap, 0) : NULL;
    if (ob == NULL)
        return;
    rrci_error(heap, RRC_EHOOK, function, ob, RRC_LINK(ob), is_open
               ? "the host marked p after rrc_major_collection_trace_early, but did not report it by rrc_marked; no "
                 "cycle is collected now"
               : "the host marked p after rrc_major_collection_trace: let propagate do all marking, or use "
                 "rrc_major_collection_trace_early; no cycle is collected now");
    rrci_reset_scratch(heap);
    heap->machine.searched = 2;
}

/* rrc_major_collection_keep in a collection that is not divided. The host may have marked more since the trace call:
   that is alive. */
static void rrci_keep_whole_garbage(rrc_heap *heap, const char *function)
{
    rrci_search search;
    if (!heap->machine.searched || rrci_all_alive(heap))
        return;
    rrci_begin_run(&search, heap, 1, function);
    search.ends = 1;
    heap->machine.stage = RRCI_DRAIN;
    rrci_run_to(&search, RRCI_VERDICT);
    rrci_keep_at_once(&search, RRCI_OWNED, RRCI_GC_OWNED);
}

/* Garbage whose link is still there after all: the host has marked its p since the search. In each list, new garbage
   begins at index first[kind]. */
static void rrci_return_late(rrc_heap *heap, const size_t *first)
{
    size_t i;
    int kind;
    for (kind = RRCI_WEAKREFS; kind < RRCI_GC_LISTS; kind++) {
        const rrci_list *list = &heap->tracked.list[kind];
        for (i = list->count; i-- > first[kind];) {
            rrc_object *ob;
            if (i >= list->count)
                continue;               /* it has returned with another one */
            ob = *rrci_ob_at(list, i);
            if (rrci_is_linked_ob(ob) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_KEPT) == 0)
                rrci_absolve_all(heap, ob);
        }
    }
}

/* The free function of a major collection, when the search has ended. */
static void rrci_free_whole(rrc_heap *heap, int keeps, const char *function)
{
    size_t first[RRCI_GC_LISTS];
    rrci_search search;
    int kind;
    for (kind = RRCI_WEAKREFS; kind < RRCI_GC_LISTS; kind++)
        first[kind] = heap->tracked.list[kind].count;
    heap->machine.not_searched++;
    if (heap->machine.searched == 1) {
        rrci_begin_search(&search, heap, function);
        rrci_drain_gray(&search);       /* what was found after the trace function: only C is left to be visited */
        rrci_note_search(heap);
        rrci_all_aside(heap, keeps);
    }
    heap->machine.stage = RRCI_RELINK;
    rrci_sweep_all(heap, function);
    if (!keeps)
        rrci_return_late(heap, first);
}

/* ---- collections in slices: the mutator runs between their functions ---- */

/* Dissolve the young links whose p died. If links whose p is young are in the old lists, all are looked at. */
static void rrci_dissolve_young(rrc_heap *heap, const char *function)
{
    int kind;
    for (kind = heap->links.crowded_out > 0 ? RRCI_P_OLD : RRCI_P_YOUNG; kind < RRCI_LISTS; kind++)
        rrci_sweep(heap, &heap->links.list[kind], 2, function);
}

/* A slice of the stages before ASIDE. */
static size_t rrci_work_slice(rrc_heap *heap, size_t max, const char *function)
{
    rrci_search search;
    int was_aside = heap->machine.stage == RRCI_ASIDE;
    heap->state = RRCI_MAJOR;
    rrci_begin_run(&search, heap, 1, function);
    rrci_limit(&search, max);
    rrci_run_to(&search, heap->machine.stage <= RRCI_VERDICT ? RRCI_VERDICT : RRCI_ASIDE);
    if (heap->machine.stage == RRCI_ASIDE && !was_aside)
        rrci_dissolve_young(heap, function);
    heap->state = heap->rest;
    return rrci_units_done(&search);
}

/* Forget what the collection has done so far. The heap may end next, and C's objects keep their counts: no mark of a
   watched object stays in them. */
static void rrci_pause_slices(rrc_heap *heap)
{
    const rrci_link *link;
    size_t i = 0;
    int kind = 0;
    rrci_reset_scratch(heap);
    while ((link = rrci_next_link(heap, &kind, &i)) != NULL) {
        if (rrci_is_tracked(link->ob))
            continue;
        RRC_REFCNT(link->ob) &= INTPTR_MAX;
        if (rrci_has_gc_head(link->ob))
            rrci_gc_head_of(link->ob)->is.refs = 0;
    }
    heap->machine.host_reports |= RRCI_REPORTS_LOST;
    heap->machine.plan = RRCI_UNDECIDED;
    rrci_end_machine(heap);
}

/* Has all been done that rrc_major_collection_keep does? (If there is no garbage, that is little.) */
static int rrci_has_kept(rrc_heap *heap, const char *function)
{
    if (heap->machine.stage < RRCI_ASIDE && heap->machine.keeping == 0) {
        heap->state = RRCI_MAJOR;
        rrci_end_keeping(heap);
        rrci_dissolve_young(heap, function);
    }
    if (heap->machine.stage >= RRCI_ASIDE)
        return 1;
    rrci_error(heap, RRC_EPHASE, function, NULL, NULL, "rrc_major_collection_keep must come first");
    return 0;
}

/* Set garbage aside, in slices. Returns the units done: less than max if this is done. */
static size_t rrci_aside_slice(rrc_heap *heap, size_t max)
{
    size_t done;
    if (heap->machine.stage != RRCI_ASIDE)
        return 0;
    done = rrci_aside_part(heap, 1, max);
    if (heap->machine.cursor == 0)
        rrci_begin_links(heap, RRCI_RELINK, RRCI_P_OLD);
    return done;
}

/* ---- what the host reports ---- */

/* The host has marked the p of ob. If the search is open, nobody else visits what ob refers to. */
static void rrci_marked_ob(rrc_heap *heap, rrc_object *ob)
{
    if (!rrci_is_in_tracked(ob) || !rrci_is_below(&heap->machine, rrci_gc_head_of(ob), heap->machine.keeping))
        return;
    rrci_make_alive(heap, ob, heap->machine.keeping);
    if (heap->state == RRCI_OPEN)
        rrci_visit_found(heap);
}

/* A collection that does not search ignores reports, and those that come too late. */
RRCI_ALWAYS_INLINE int rrci_takes_reports(rrc_heap *heap)
{
    if (heap->machine.plan == RRCI_NO_SEARCH || heap->machine.stage >= RRCI_ASIDE
        || (heap->state != heap->rest && heap->state != RRCI_MAJOR && heap->state != RRCI_MARKING
            && heap->state != RRCI_OPEN))
        return 0;
    return heap->machine.plan == RRCI_SEARCH || rrci_wants_search(heap);
}

/* (The loop in which a host marks stays small.) */
RRC_API RRCI_NOINLINE void rrc_marked_ob(rrc_heap *heap, rrc_object *ob)
{
    if (heap != NULL && ob != NULL && rrci_takes_reports(heap)) {
        heap->machine.host_reports |= RRCI_REPORTS;
        rrci_marked_ob(heap, ob);
    }
}

RRC_API void rrc_marked(rrc_heap *heap, rrc_gcref p)
{
    int kind;
    if (heap == NULL || !heap->desc.reports_marks || !rrci_takes_reports(heap))
        return;
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        const rrci_list *list = &heap->links.list[kind];
        const rrci_link *link;
        rrci_probe probe;
        if (!list->dict.on || list->count == 0)
            continue;
        rrci_begin_probe(&probe, list, p);
        while ((link = rrci_next_probe(&probe, list, p)) != NULL)     /* (a p can have many O links) */
            rrci_marked_ob(heap, link->ob);
    }
}
#else
/* What a build without cycles has in place of all this. */

static void rrci_mark_without_cycles(rrc_heap *heap, int is_early, int searches, const char *function)
{
    (void)is_early, (void)searches;
    rrci_trace_lists(heap, 0, function);
    rrci_trace_lists(heap, RRCI_YOUNG, function);
    RRC_HOST_PROPAGATE(heap);
    heap->state = RRCI_MARKING;
}

#define rrci_finish_marking rrci_mark_without_cycles
#define rrci_free_whole(heap, keeps, function) rrci_sweep_all(heap, function)
#define rrci_wants_search(heap) 0
#define rrci_has_kept(heap, function) 1
#define rrci_aside_slice(heap, max) ((void)0)
#define rrci_close_search(heap, is_open, function) ((void)(is_open))
#define rrci_all_alive(heap) 1
#define rrci_reset_scratch(heap) ((void)0)
#define rrci_end_machine(heap) ((void)0)
#define rrci_collect_c(heap, function) ((void)0)
#define rrci_is_in_doubt(heap) 0
#define rrci_do_garbage(heap) 0
#endif

/* ---- the functions of collections ---- */

/* Trace the p of every link of a wrapper that is held from outside, in this list and those that follow. */
static RRCI_NOINLINE void rrci_trace_held_wrappers(rrc_heap *heap, int kind)
{
    const rrci_link *link;
    size_t i = 0;
    while ((link = rrci_next_link(heap, &kind, &i)) != NULL)
        if (rrci_outside(heap, link->ob) > 0)
            RRC_HOST_TRACE(heap, link->p);
}

RRC_API int rrc_minor_collection_trace(rrc_heap *heap)
{
    const char *function = "rrc_minor_collection_trace";
    int code = rrci_begin_function(heap, RRCI_MINOR_TRACE, RRCI_MINOR, function);
    if (code != RRC_OK)
        return code;
    if (heap->machine.to_demote)
        rrci_demote(heap);
    rrci_trace_lists(heap, RRCI_YOUNG, function);
    if (heap->links.crowded_out > 0)
        rrci_trace_lists(heap, 0, function);
    if (RRCI_UNLIKELY(RRCI_HAS_WRAPPERS(heap)))
        rrci_trace_held_wrappers(heap, heap->links.crowded_out > 0 ? RRCI_P_OLD : RRCI_P_YOUNG);
    heap->state = RRCI_COPYING;
    return RRC_OK;
}

RRC_API int rrc_minor_collection_free(rrc_heap *heap)
{
    const char *function = "rrc_minor_collection_free";
    int code = rrci_gate(heap, RRCI_MINOR_FREE, function);
    if (code != RRC_OK)
        return code;
    heap->state = RRCI_MINOR;
    if (heap->links.crowded_out > 0)
        rrci_sweep_all(heap, function);
    else
        rrci_sweep_young(heap, function);
    heap->stats.minor_collections++;
    heap->state = heap->rest;
    return RRC_OK;
}

/* A major collection is over. demotes_later: the next collection begins with that. */
static void rrci_end_major(rrc_heap *heap, int demotes_later)
{
    heap->machine.host_reports = 0;
    heap->machine.plan = RRCI_UNDECIDED;
    heap->machine.alive = 0;
    heap->machine.unfound = heap->machine.white;
    rrci_end_machine(heap);
    if (heap->tracked.holes > 0 && heap->tracked.walking == 0)
        rrci_fill_holes(heap, &heap->tracked.list[RRCI_TRACKED], RRCI_TRACKED);
    heap->machine.to_demote = (char)demotes_later;
    if (!demotes_later)
        rrci_demote(heap);
    heap->stats.major_collections++;
}

/* The free function of a collection whose sweep is not divided. stay: p's have not moved since the trace call. */
static int rrci_free_major(rrc_heap *heap, int stay, const char *function)
{
    int is_open = heap->state == RRCI_OPEN, keeps = heap->state == RRCI_KEPT;
    if (rrci_is_sweeping(heap) && !rrci_has_kept(heap, function))
        return RRC_EPHASE;
    heap->state = RRCI_MAJOR;
    if (rrci_is_sweeping(heap)) {
        rrci_aside_slice(heap, SIZE_MAX);
        rrci_sweep_all(heap, function);
    } else {
        if (!keeps)
            rrci_close_search(heap, is_open, function);
        rrci_free_whole(heap, keeps, function);
    }
    rrci_end_major(heap, stay && rrci_is_started(heap));
    rrci_trim(heap, SIZE_MAX);
    heap->state = heap->rest;
    return RRC_OK;
}

static int rrci_trace_major(rrc_heap *heap, int is_early, const char *function)
{
    int code = rrci_begin_function(heap, RRCI_MAJOR_TRACE, RRCI_MAJOR, function);
    if (code != RRC_OK)
        return code;
    rrci_finish_marking(heap, is_early, !rrci_is_started(heap) && rrci_wants_search(heap), function);
    return RRC_OK;
}

RRC_API int rrc_major_collection_trace(rrc_heap *heap)
{
    return rrci_trace_major(heap, 0, "rrc_major_collection_trace");
}

RRC_API int rrc_major_collection_free(rrc_heap *heap)
{
    const char *function = "rrc_major_collection_free";
    int code = rrci_gate(heap, RRCI_MAJOR_FREE, function);
    return code == RRC_OK ? rrci_free_major(heap, 0, function) : code;
}

RRC_API int rrc_links_moved(rrc_heap *heap)
{
    const char *function = "rrc_links_moved";
    int code = rrci_begin_function(heap, RRCI_MUTATES, RRCI_MAJOR, function);
    if (code != RRC_OK)
        return code;
    rrci_sweep_all(heap, function);
    heap->state = heap->rest;
    return RRC_OK;
}

#ifndef RRC_NO_CYCLES
RRC_API int rrc_major_collection_start(rrc_heap *heap)
{
    const char *function = "rrc_major_collection_start";
    int code = rrci_begin_function(heap, RRCI_MAJOR_START, RRCI_MAJOR, function);
    if (code != RRC_OK)
        return code;
    if (!heap->desc.incremental) {
        code = rrci_error(heap, RRC_EDESC, function, NULL, NULL, "rrc_desc.incremental is 0");
    } else if (heap->rest != RRCI_ENDING) {
        if (!rrci_wants_search(heap) && heap->machine.alive > 0)
            rrci_reset_scratch(heap);   /* there were reports before rrc_gc_disable */
        if (heap->machine.to_demote)    /* not in ROOTS: a link that becomes young then can be passed over */
            rrci_demote(heap);
        rrci_begin_machine(heap, rrci_wants_search(heap));
        heap->rest = RRCI_STARTED;
    }
    heap->state = heap->rest;
    return code;
}

/* May a slice be done, and is there anything to do? */
static int rrci_can_slice(rrc_heap *heap, unsigned group, const char *function)
{
    if (heap != NULL && heap->state <= RRCI_ENDING && !rrci_in_slices(heap))
        return 0;
    return rrci_gate(heap, group, function) == RRC_OK;
}

RRC_API size_t rrc_major_collection_work(rrc_heap *heap, size_t max)
{
    const char *function = "rrc_major_collection_work";
    return rrci_can_slice(heap, RRCI_MAJOR_WORK, function) && heap->state == heap->rest
               ? rrci_work_slice(heap, max > 0 ? max : SIZE_MAX, function) : 0;
}

RRC_API size_t rrc_major_collection_sweep(rrc_heap *heap, size_t max)
{
    const char *function = "rrc_major_collection_sweep";
    size_t done;
    if (!rrci_can_slice(heap, RRCI_MAJOR_SWEEP, function))
        return 0;
    if (!rrci_is_sweeping(heap)) {
        rrci_free_major(heap, 1, function);     /* the sweep is not divided */
        return 0;
    }
    if (!rrci_has_kept(heap, function))
        return 0;
    max = max > 0 ? max : SIZE_MAX;
    heap->state = RRCI_MAJOR;
    done = rrci_aside_slice(heap, max);
    while (done < max) {
        rrci_sweeper sweeper;
        rrci_list *list = &heap->links.list[heap->machine.passing];
        size_t end = heap->machine.cursor < list->count ? heap->machine.cursor : list->count;
        rrci_begin_sweep(&sweeper, heap, list, 1, function);
        heap->machine.cursor = rrci_sweep_part(&sweeper, end, max - done);
        done += end - (heap->machine.cursor < end ? heap->machine.cursor : end);
        if (heap->machine.cursor > 0) {
            done = done > max ? done : max;     /* (the first segment may have been short) */
            break;
        }
        if (!rrci_next_links(heap)) {
            done += rrci_trim(heap, done < max ? max - done : 0);     /* (the last segment may have been long) */
            if (done < max)
                rrci_end_major(heap, 0);
            break;
        }
    }
    heap->state = heap->rest;
    return done;
}

RRC_API int rrc_major_collection_trace_early(rrc_heap *heap)
{
    return rrci_trace_major(heap, 1, "rrc_major_collection_trace_early");
}

RRC_API int rrc_major_collection_pause(rrc_heap *heap)
{
    const char *function = "rrc_major_collection_pause";
    int code = rrci_gate(heap, RRCI_MAJOR_PAUSE, function);
    if (code != RRC_OK)
        return code;
    if (rrci_is_started(heap) || heap->state != heap->rest)
        rrci_pause_slices(heap);
    heap->state = heap->rest;
    return RRC_OK;
}

RRC_API int rrc_major_collection_keep(rrc_heap *heap)
{
    const char *function = "rrc_major_collection_keep";
    int code = rrci_gate(heap, RRCI_MAJOR_KEEP, function);
    if (code != RRC_OK)
        return code;
    if (heap->state == RRCI_SWEEPING) {
        rrci_work_slice(heap, SIZE_MAX, function);
        return RRC_OK;
    }
    heap->state = RRCI_MAJOR;
    rrci_keep_whole_garbage(heap, function);
    heap->state = RRCI_KEPT;
    return RRC_OK;
}

/* ---- garbage in rrc_run_pending ----
   Garbage waits in five lists, each of which owns a reference to each of its objects:

   RRCI_WEAKREFS     its tp_clear_weakrefs is to be called. It goes on to one of the other lists.
   RRCI_FINALIZE     its tp_finalize is to be called. It goes on to the next list.
   RRCI_SAVED        its finalizer has run, or the finalizers before may see it. When all of them have run, it goes back
                     to RRCI_TRACKED: the next collection decides.
   RRCI_OWNERS       only its list, and its link, held it when it was set aside: it is deallocated first.
   RRCI_CLEAR        its tp_clear is to be called. What is left of it afterwards goes back to RRCI_TRACKED, with
                     RRCI_GC_CLEARED.

   They are emptied in this order. As what waits is watched, it is not looked at again: see >>cycles. */

/* Drop a reference that the header holds. */
static void rrci_drop(rrc_heap *heap, rrc_object *ob)
{
    if (rrci_drop_one(heap, ob))
        rrci_last_reference(heap, ob);
    else
        rrci_drop_to_bias(heap, ob);
}

/* Move a waiting object on to another list, and call its slot. The watch on it ends for the call. If C has got hold of
   it meanwhile, or of what refers to it, it is garbage no more. */
static void rrci_call_waiting(rrc_heap *heap, rrc_object *ob, rrci_gc_kind to,
                              void (*slot)(rrc_heap *heap, rrc_object *ob))
{
    rrci_slot_call call;
    intptr_t count;
    heap->waiting.quota--;
    rrci_gc_move(heap, to, ob);
    RRC_REFCNT(ob)++;                   /* as user code may untrack ob */
    RRC_REFCNT(ob) &= INTPTR_MAX;
    count = rrc_refcnt(ob);
    rrci_begin_slot(&heap->calls, &call, ob);
    RRC_HOST_GUARD(heap, slot, ob);
    rrci_end_slot(&heap->calls, &call);
    if (rrci_is_tracked(ob) && rrci_is_waiting(rrci_gc_head_of(ob))) {
        if (call.is_reached || rrc_refcnt(ob) > count)
            rrci_absolve_all(heap, ob);
        else
            rrci_watch(ob);
    }
    rrci_drop(heap, ob);
}

static void rrci_call_clear(rrc_heap *heap, rrc_object *ob)
{
    if (RRC_TYPE(ob)->tp_clear != NULL)
        RRC_TYPE(ob)->tp_clear(heap, ob);
    else
        rrci_clear_members(heap, ob);
}

/* Clear a garbage object, if anything but its list refers to it, and drop the reference of the list. If C takes a
   reference to what is left, it is garbage no more. (If the last reference is dropped, and no finalizer is to run, ob is
   deallocated at once: then it need not leave its list before.) */
static void rrci_clear_waiting(rrc_heap *heap, rrc_object *ob)
{
    int dies = rrci_references(heap, ob) == 1 && RRC_LINK(ob) == NULL && RRCI_IS_IDLE(heap) && !RRCI_LISTENS(heap)
            && !rrci_is_finalizable(ob);
    rrci_slot_call call;
    call.is_reached = 0;
    heap->waiting.quota -= !(rrci_is_linked_ob(ob) && rrc_refcnt(ob) == 1);     /* (else when it leaves the queue) */
    if (!dies) {
        rrci_gc_return(heap, ob);
        rrci_begin_slot(&heap->calls, &call, ob);
        if (rrci_references(heap, ob) > 1) {
            heap->waiting.quota -= heap->waiting.quota > 0;
            RRC_HOST_GUARD(heap, rrci_call_clear, ob);
        }
        rrci_end_slot(&heap->calls, &call);
    }
    if (rrci_is_tracked(ob) && call.is_reached) {
        rrci_absolve_all(heap, ob);
    } else if (rrci_is_tracked(ob)) {
        rrci_note_cleared(&heap->tracked, rrci_gc_head_of(ob));
        if (!RRCI_LISTENS(heap))
            rrci_watch(ob);
    }
    rrci_drop(heap, ob);
}

static int rrci_visit_waiting(rrc_object *ob, void *arg)
{
    (void)arg;
    if (rrci_is_gc_object(ob) && rrci_is_waiting(rrci_gc_head_of(ob)))
        rrci_gc_head_of(ob)->is.refs++;
    return 0;
}

/* Weigh the wrappers that wait, number and visits at one time: see >>outside. */
static void rrci_weigh_waiting(rrc_heap *heap)
{
    rrci_search search;
    size_t i;
    int kind;
    rrci_begin_search(&search, heap, "rrc_run_pending");
    for (kind = RRCI_WEAKREFS; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count; i++)
            rrci_traverse(&search, *rrci_ob_at(&heap->tracked.list[kind], i), rrci_visit_waiting);
    for (kind = RRCI_WEAKREFS; kind < RRCI_GC_LISTS; kind++)
        for (i = heap->tracked.list[kind].count; i-- > 0;) {
            rrc_object *ob;
            if (i >= heap->tracked.list[kind].count)
                continue;               /* others were absolved, too; one that fills a place may be weighed twice */
            ob = *rrci_ob_at(&heap->tracked.list[kind], i);
            if (rrci_is_wrapper(heap, ob) && rrci_references(heap, ob) - 1 > (intptr_t)rrci_gc_head_of(ob)->is.refs)
                rrci_absolve_all(heap, ob);
        }
    for (kind = RRCI_WEAKREFS; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count; i++)
            rrci_gc_head_of(*rrci_ob_at(&heap->tracked.list[kind], i))->is.refs = 0;
}

/* Do some work for one garbage object. Returns 0 if none waits. */
static int rrci_do_garbage(rrc_heap *heap)
{
    const rrci_list *list = &heap->tracked.list[RRCI_WEAKREFS];
    rrci_gc_kind kind;
    rrc_object *ob;
    if (heap->tracked.walking > 0 || rrci_is_sweeping(heap) || heap->rest == RRCI_LAYER_RESTS
        || rrci_count_waiting(heap) == 0)
        return 0;
    while (list->count == 0)
        list++;
    ob = *rrci_ob_at(list, list->count - 1);
    kind = (rrci_gc_kind)rrci_gc_list(rrci_gc_head_of(ob));
    if (list->count > RRCI_SEGMENT)
        RRCI_PREFETCH_FIELDS((const char *)*rrci_ob_at(list, list->count - 1 - RRCI_SEGMENT));
    if (heap->tracked.wrappers > 0 && kind != heap->waiting.working) {
        heap->waiting.working = kind;
        rrci_weigh_waiting(heap);
    } else if (kind >= RRCI_OWNERS) {
        rrci_clear_waiting(heap, ob);
    } else if (kind == RRCI_WEAKREFS) {
        rrci_call_waiting(heap, ob, rrci_list_to_wait_in(heap, ob), RRC_TYPE(ob)->tp_clear_weakrefs);
    } else if (kind == RRCI_FINALIZE && !rrci_is_finalizable(ob)) {
        rrci_gc_move(heap, RRCI_SAVED, ob);     /* (rrc_gc_set_finalized was called meanwhile) */
    } else if (kind == RRCI_FINALIZE) {
        rrci_gc_head_of(ob)->is.word |= RRCI_GC_FINALIZED;
        heap->tracked.finalizable--;
        heap->counters.finalized++;
        rrci_call_waiting(heap, ob, RRCI_SAVED, RRC_TYPE(ob)->tp_finalize);
    } else {
        heap->waiting.quota--;
        rrci_gc_return(heap, ob);
        if (!rrci_hold_again(heap, ob))
            rrci_drop(heap, ob);
    }
    return 1;
}
#endif

/* ---- references that other threads drop ----
   Each is a letter. A thread puts it in front of the others, and reads nothing of these, so that only the heap's
   thread need know when they are freed: it takes all at once. */

#ifdef RRC_THREADS

static int rrci_has_mail(const rrc_heap *heap)
{
    return heap->mailbox.letters != NULL
        || RRC_ATOMIC_LOAD(&((rrc_heap *)(uintptr_t)heap)->mailbox.newest) > RRCI_MAIL_IS_CLOSED;
}

/* Drop references for other threads: each counts in the quota, of which `rest` is left. First those of letters that
   were fetched before, then those of all that have come since. */
static void rrci_read_mail(rrc_heap *heap, size_t rest)
{
    int may_fetch = 1;
    while (heap->waiting.quota > rest) {
        rrci_letter *letter = heap->mailbox.letters;
        rrc_object *ob;
        if (letter == NULL && may_fetch-- > 0 && rrci_has_mail(heap))
            letter = (rrci_letter *)RRC_ATOMIC_SWAP(&heap->mailbox.newest, 0);
        if (letter == NULL)
            return;
        heap->mailbox.letters = letter->next;
        ob = letter->ob;
        RRC_THREAD_FREE(letter);
        heap->waiting.quota--;
        rrc_decref(heap, ob);
    }
}

/* Accept no letters any more. Returns whether some are still to be read. */
static int rrci_close_mail(rrc_heap *heap)
{
    rrci_letter **end = &heap->mailbox.letters;
    while (*end != NULL)
        end = &(*end)->next;
    *end = (rrci_letter *)RRC_ATOMIC_SWAP(&heap->mailbox.newest, RRCI_MAIL_IS_CLOSED);
    return heap->mailbox.letters != NULL;
}

/* Forget letters that were not read, as the end was given up. */
static void rrci_free_mail(rrc_heap *heap)
{
    rrci_letter *letter;
    while ((letter = heap->mailbox.letters) != NULL) {
        heap->mailbox.letters = letter->next;
        RRC_THREAD_FREE(letter);
    }
}

RRC_API int rrc_decref_later(rrc_heap *heap, rrc_object *ob)
{
    rrci_letter *letter;
    uintptr_t newest;
    if (heap == NULL || ob == NULL)
        return RRC_ENULL;
    letter = (rrci_letter *)RRC_THREAD_MALLOC(sizeof *letter);
    if (letter == NULL)
        return RRC_ENOMEM;
    letter->ob = ob;
    newest = RRC_ATOMIC_LOAD(&heap->mailbox.newest);
    do {
        if (newest == RRCI_MAIL_IS_CLOSED) {
            RRC_THREAD_FREE(letter);
            return RRC_ECLOSED;
        }
        letter->next = (rrci_letter *)newest;
    } while (!RRC_ATOMIC_TRY(&heap->mailbox.newest, &newest, (uintptr_t)letter));
    return RRC_OK;
}

#else
#define rrci_has_mail(heap) ((void)(heap), 0)
#define rrci_read_mail(heap, rest) ((void)(heap), (void)(rest))
#define rrci_close_mail(heap) ((void)(heap), 0)
#define rrci_free_mail(heap) ((void)(heap))
#endif

/* ---- pending work ---- */

static size_t rrci_pending(const rrc_heap *heap)
{
    return heap->waiting.queue.count + heap->waiting.later_count
        + rrci_count_waiting(heap) - heap->tracked.waiting_holes + (size_t)rrci_has_mail(heap);
}

RRC_API void rrc_invoke_callback(rrc_heap *heap)
{
    if (rrci_gate(heap, RRCI_MUTATES, "rrc_invoke_callback") != RRC_OK)
        return;
    if (heap->rest != RRCI_ENDING && rrci_pending(heap) > 0 && RRCI_HAS_TRIGGER(heap)) {
        heap->calls.triggering++;
        RRC_HOST_DEALLOC_TRIGGER(heap);
        heap->calls.triggering--;
    }
}

RRC_API rrc_object *rrc_next_dead(rrc_heap *heap)
{
    rrc_object *ob;
    if (rrci_gate(heap, RRCI_MUTATES, "rrc_next_dead") != RRC_OK)
        return NULL;
    ob = rrci_dequeue(heap);
    if (ob == NULL && heap->waiting.later != NULL)
        ob = rrci_take_deferred(heap);
    if (ob != NULL)
        rrc_touch(heap, ob);            /* the caller holds it now */
    return ob;
}

/* Drop the queue's reference to an object that has left it. */
static void rrci_drop_queued(rrc_heap *heap, rrc_object *ob)
{
    heap->waiting.quota--;
    if (!rrci_drop_one(heap, ob))
        rrci_drop_to_bias(heap, ob);
    else if (!rrci_bias_was_forgotten(heap, ob))
        rrci_dealloc(heap, ob);
}

/* The same for the next one, or one whose dealloc was put off. Returns 0 if there is none. */
static int rrci_do_dead(rrc_heap *heap)
{
    rrci_queue *queue = &heap->waiting.queue;
    rrc_object *ob = heap->waiting.later != NULL ? rrci_take_deferred(heap) : rrci_dequeue(heap);
    if (ob == NULL)
        return 0;
    if (queue->count > RRCI_AHEAD)
        RRCI_PREFETCH_HEADS(*rrci_queued_at(queue, RRCI_AHEAD));
    rrci_drop_queued(heap, ob);
    return 1;
}

/* Do pending work in this order, until none is left or the quota is spent. Letters get half of it first, and what the
   rest leaves of it. Before all that, drop a reference to `first`, which is NULL or might have been queued. Returns
   what was spent. */
static size_t rrci_do_pending(rrc_heap *heap, rrc_object *first, size_t quota)
{
    int running = heap->waiting.running;
    heap->waiting.running = 1;
    heap->waiting.quota = quota;
    heap->waiting.working = RRCI_UNTRACKED;
    if (first != NULL)
        rrci_drop_queued(heap, first);
    rrci_read_mail(heap, quota - quota / 2);
    while (heap->waiting.quota > 0) {
        if (!rrci_do_dead(heap) && !rrci_do_garbage(heap))
            break;
    }
    rrci_read_mail(heap, 0);
    heap->waiting.running = running;
    if (rrci_count_waiting(heap) + heap->tracked.cleared == 0)
        heap->waiting.is_hidden = 0;
    return quota - heap->waiting.quota;
}

static int rrci_may_do_pending(const rrc_heap *heap)
{
    return heap->calls.depth == 0 && !heap->waiting.running && heap->state != RRCI_LAYER_RUNS;
}

RRC_API size_t rrc_run_pending(rrc_heap *heap, size_t max)
{
    if (rrci_gate(heap, RRCI_MUTATES, "rrc_run_pending") != RRC_OK || !rrci_may_do_pending(heap))
        return 0;
    return rrci_do_pending(heap, NULL, max > 0 ? max : SIZE_MAX);
}

#ifndef RRC_NO_CYCLES
/* ---- the protocol of the cyclic GC ---- */

RRC_API int rrc_gc_track(rrc_heap *heap, rrc_object *ob)
{
    const char *function = "rrc_gc_track";
    size_t tracked;
    int code = rrci_gate_ob(heap, ob, function);
    if (code != RRC_OK)
        return code;
    if (!rrci_is_gc_object(ob))
        return rrci_error(heap, RRC_ETYPE, function, ob, NULL, "the object is not one of rrc_gc_new");
    code = rrci_refuse_foreign(heap, ob, function, "it was not tracked");
    if (code != RRC_OK)
        return code;
    if (rrci_is_tracked(ob))
        return rrci_error(heap, RRC_ETRACKED, function, ob, NULL, "");
    tracked = rrci_count_tracked(heap) + 1;
    if (tracked + heap->tracked.walked > heap->memory.room_for_tracked) {
        if (tracked > RRCI_MAX_TRACKED)
            return rrci_error(heap, RRC_ELIMIT, function, ob, NULL, "");
        if (rrci_reserve_lists(heap, 0, tracked) != RRC_OK)
            return RRC_ENOMEM;
    }
    rrci_whiten(&heap->machine, rrci_gc_head_of(ob));
    rrci_gc_add(heap, RRCI_TRACKED, ob);
    rrci_note_change(heap, ob);
    heap->machine.changed++;
    if (rrci_is_finalizable(ob))
        heap->tracked.finalizable++;
    rrc_touch(heap, ob);                /* (a layer's step may have decided about all tracked objects) */
    return RRC_OK;
}

static RRCI_NOINLINE void rrci_untrack_alive(rrc_heap *heap, rrc_object *ob)
{
    int is_held;
    if (rrci_is_inside(heap) || RRCI_IN_HOOK(heap)) {
        rrci_error(heap, RRC_EPHASE, "rrc_gc_untrack", ob, NULL, "called from a hook; it is still tracked");
        return;
    }
    rrci_tell(heap, ob, RRCI_NEWS_UNTRACKING);
    is_held = rrci_is_condemned(heap, ob);
    RRC_REFCNT(ob) += is_held;
    rrci_event(heap, ob, RRCI_EVENT_LEAVING);
    is_held += rrci_is_held_for_others(heap, ob);
    rrci_hold_for_others(heap, ob, 0);
    rrci_untrack(heap, ob);
    if (rrci_is_marking(heap))
        rrci_event(heap, ob, RRCI_EVENT_HELD);        /* (it may have been gray: p is to be traced) */
    for (; is_held > 0; is_held--)
        rrci_drop_quietly(heap, ob);
}

/* (A tp_dealloc calls it for an object that is untracked already: that must be fast.) */
RRC_API void rrc_gc_untrack(rrc_heap *heap, rrc_object *ob)
{
    if (heap != NULL && ob != NULL && !rrci_is_freed(ob) && rrci_is_tracked(ob))
        rrci_untrack_alive(heap, ob);
}

RRC_API int rrc_gc_is_tracked(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    return ob != NULL && rrci_is_tracked(ob);
}

RRC_API int rrc_gc_set_finalized(rrc_heap *heap, rrc_object *ob, int finalized)
{
    const char *function = "rrc_gc_set_finalized";
    rrci_gc_head *head;
    int code = rrci_gate_ob(heap, ob, function);
    if (code != RRC_OK)
        return code;
    if (!rrci_is_gc_object(ob))
        return rrci_error(heap, RRC_ETYPE, function, ob, NULL, "the object is not one of rrc_gc_new");
    head = rrci_gc_head_of(ob);
    if (rrci_is_tracked(ob) && rrci_is_finalizable(ob))
        heap->tracked.finalizable--;
    head->is.word = finalized ? head->is.word | RRCI_GC_FINALIZED : head->is.word & ~RRCI_GC_FINALIZED;
    if (rrci_is_tracked(ob) && rrci_is_finalizable(ob))
        heap->tracked.finalizable++;
    return RRC_OK;
}

RRC_API int rrc_gc_is_finalized(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    return ob != NULL && rrci_is_gc_object(ob) && (rrci_gc_head_of(ob)->is.word & RRCI_GC_FINALIZED) != 0;
}

RRC_API int rrc_gc_is_uncollectable(rrc_heap *heap, rrc_object *ob)
{
    (void)heap;
    return ob != NULL && rrci_is_uncollectable(ob);
}

RRC_API int rrc_gc_is_enabled(rrc_heap *heap)
{
    return heap != NULL && !heap->machine.is_disabled;
}

static int rrci_gc_switch(rrc_heap *heap, int on)
{
    int was = rrc_gc_is_enabled(heap);
    if (heap != NULL)
        heap->machine.is_disabled = !on;
    return was;
}

RRC_API int rrc_gc_enable(rrc_heap *heap)
{
    return rrci_gc_switch(heap, 1);
}

RRC_API int rrc_gc_disable(rrc_heap *heap)
{
    return rrci_gc_switch(heap, 0);
}

RRC_API void rrc_gc_visit_objects(rrc_heap *heap, int (*callback)(rrc_object *ob, void *arg), void *arg)
{
    size_t counts[RRCI_GC_LISTS], i;
    int kind, go_on = 1;
    if (rrci_gate(heap, RRCI_MUTATES, "rrc_gc_visit_objects") != RRC_OK)
        return;
    if (callback == NULL) {
        rrci_error(heap, RRC_ENULL, "rrc_gc_visit_objects", NULL, NULL, "callback is NULL");
        return;
    }
    if (heap->tracked.walking++ == 0)        /* from here to the end of the walk, removed objects leave holes */
        heap->tracked.walked = rrci_count_waiting(heap)
                             + (heap->machine.searched ? 2 * heap->tracked.list[RRCI_TRACKED].count : 0);
    if (heap->tracked.walking == 1 && heap->tracked.walked > 0
        && rrci_reserve_lists(heap, 0, rrci_count_tracked(heap)) != RRC_OK) {
        rrci_error(heap, RRC_ENOMEM, "rrc_gc_visit_objects", NULL, NULL, "no object was visited");
        go_on = 0;
    }
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        counts[kind] = heap->tracked.list[kind].count;
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < counts[kind] && go_on; i++) {
            rrc_object *ob = *rrci_ob_at(&heap->tracked.list[kind], i);
            if (rrci_is_hole(ob))
                continue;
            RRC_REFCNT(ob)++;
            if (!rrci_is_condemned(heap, ob))
                rrc_touch(heap, ob);
            go_on = callback(ob, arg);
            rrc_decref(heap, ob);
        }
    if (--heap->tracked.walking > 0)
        return;
    heap->tracked.walked = 0;
    heap->tracked.waiting_holes = 0;
    for (kind = rrci_is_searching(&heap->machine) ? RRCI_WEAKREFS : RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        rrci_fill_holes(heap, &heap->tracked.list[kind], (uintptr_t)kind);
}

/* ---- all at once ---- */

/* How many searches a round of rrc_gc_collect can make besides those of the layer's `collect`. */
#define RRCI_FURTHER_SEARCHES 10

/* Do the pending work of a round of rrc_gc_collect.
   A layer takes what waits as held, with all that it owns. When that has gone, a cycle of C that it owned can be
   garbage, and so can wrappers that its foreign object held; when it was found alive after all, what it lets go of
   is not known yet. So there is a further search after any work, until one leaves nothing to do. (The limit is for
   deallocs that make garbage.) */
static void rrci_end_round(rrc_heap *heap)
{
    int searches = 0;
    while (rrci_pending(heap) > 0) {
        rrci_do_pending(heap, NULL, SIZE_MAX);
        if (!RRCI_LISTENS(heap) || searches++ == RRCI_FURTHER_SEARCHES)
            return;
        heap->layer->search(heap, "rrc_gc_collect");
    }
}

RRC_API size_t rrc_gc_collect(rrc_heap *heap)
{
    size_t garbage, finalized;
    int round, was_planned;
    if (rrci_gate(heap, RRCI_MUTATES, "rrc_gc_collect") != RRC_OK
        || heap->machine.is_disabled || heap->machine.is_collecting || rrci_is_busy(heap)
        || (rrci_is_started(heap) && heap->desc.collect == NULL))
        return 0;
    heap->machine.is_collecting = 1;
    garbage = heap->stats.garbage;
    for (round = 0; ; round++) {
        was_planned = heap->machine.plan == RRCI_NO_SEARCH;     /* the host may just end a collection of before */
        finalized = heap->counters.finalized;
        if (RRCI_LISTENS(heap)) {
            heap->layer->collect(heap);
        } else if (heap->desc.collect != NULL) {
            heap->desc.collect(heap->desc.userdata);
            if (heap->state != heap->rest) {
                rrci_error(heap, RRC_EHOOK, "rrc_gc_collect", NULL, NULL,
                           "collect returned, but the free function of its collection was not called");
                break;
            }
        } else if (!rrci_in_slices(heap)) {     /* (a finalizer can have started a collection) */
            heap->state = heap->rest;
            rrci_collect_c(heap, "rrc_gc_collect");
        }
        rrci_end_round(heap);
        if (!(round == 0 && (was_planned || heap->counters.finalized != finalized))
            && !(round < 2 && rrci_is_in_doubt(heap)))
            break;
    }
    heap->machine.is_collecting = 0;
    return heap->stats.garbage - garbage + heap->tracked.uncollectable;
}
#endif

/* ---- heaps ---- */

static int rrci_compare_config(const rrc_desc *desc, const char *config)
{
    const char *detail = config;
#ifndef RRC_NO_STDIO
    char both[330];
    snprintf(both, sizeof both, "this unit: %.145s; implementing unit: %.145s", config, RRCI_CONFIG);
    detail = both;
#endif
    return strcmp(config, RRCI_CONFIG) == 0 ? RRC_OK
                                            : rrci_report(desc, RRC_ECONFIG, "rrc_heap_new", NULL, NULL, detail);
}

RRC_API int rrci_check_config(rrc_heap *heap, const char *config)
{
    return heap != NULL ? rrci_compare_config(&heap->desc, config)
                        : rrci_gate(heap, RRCI_MUTATES, "rrc_check_config");
}

/* A text that names a hook which is missing, or NULL. */
static const char *rrci_missing_hook(const rrc_desc *desc, int has_layer)
{
    if (!RRCI_CYCLES && desc->incremental)
        return "incremental is set, but the implementing unit was built with RRC_NO_CYCLES";
#ifdef RRC_NO_STDLIB
    if (desc->realloc == NULL)
        return "realloc is missing, which RRC_NO_STDLIB needs";
#endif
    if (!RRCI_TRACE_IS_FIXED && !has_layer && desc->trace == NULL)
        return "trace is missing";
    return !RRCI_SURVIVOR_IS_FIXED && desc->survivor == NULL ? "survivor is missing" : NULL;
}

/* A new heap, with or without a layer. */
static rrc_heap *rrci_make_heap(const rrc_desc *desc, const char *config, const rrci_layer *layer, const char *function)
{
    rrc_heap *heap;
    const char *missing;
    int kind;
    if (desc == NULL) {
        rrci_report(NULL, RRC_ENULL, function, NULL, NULL, "desc is NULL");
        return NULL;
    }
    if (rrci_compare_config(desc, config) != RRC_OK)
        return NULL;
    missing = rrci_missing_hook(desc, layer != NULL);
    if (missing != NULL) {
        rrci_report(desc, RRC_EDESC, function, NULL, NULL, missing);
        return NULL;
    }
    heap = (rrc_heap *)rrci_realloc(desc, NULL, 0, sizeof *heap);
    if (heap == NULL)
        return NULL;
    memset(heap, 0, sizeof *heap);
    heap->desc = *desc;
    heap->p_userdata = desc->userdata;
    heap->stats.memory = sizeof *heap;
    heap->layer = layer;
    if (layer != NULL) {
        heap->layer_bytes = layer->bytes;
        heap->listens = 1;
        heap->desc.slot = NULL;         /* p can be dead before the header learns of it */
        heap->desc.mark_from_c = NULL;  /* (its trace is never called) */
    }
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        rrci_dict *dict = &heap->links.list[kind].dict;
        dict->optional = layer != NULL || (!desc->reports_marks && !desc->incremental
                                           && ((kind & RRCI_O) != 0 || RRCI_HAS_SLOT(heap)));
        dict->on = !dict->optional;
    }
    return heap;
}

RRC_API rrc_heap *rrci_heap_new(const rrc_desc *desc, const char *config)
{
    return rrci_make_heap(desc, config, NULL, "rrc_heap_new");
}

RRC_API void *rrc_userdata(const rrc_heap *heap)
{
    return heap != NULL ? heap->desc.userdata : NULL;
}

/* ---- the end of a heap ----
   First the host's graph gives the order in which objects go (rrci_order). For what is left then links do not hold any
   more, and objects go in the order of the lists. In the end the links of what C holds are dissolved. */

/* So many rounds of work may leave as many objects as before. For the order, a tenth. */
#define RRCI_MOST_ROUNDS 10000

/* In rounds of marking for the order, and in rounds of searching that leave as many objects as before, no more objects
   and links are looked at than these and eight times all. */
#define RRCI_MOST_MARKED ((size_t)1 << 20)

static size_t rrci_count_left(const rrc_heap *heap)
{
    ptrdiff_t objects = heap->counters.objects;
    return rrci_count_links(heap) + rrci_count_tracked(heap) + (objects > 0 ? (size_t)objects : 0);
}

/* Another number means that something has happened, apart from plain deallocs. */
static size_t rrci_progress(const rrc_heap *heap)
{
    return heap->counters.finalized + heap->stats.garbage + heap->counters.parted;
}

static size_t rrci_most_marked(const rrc_heap *heap)
{
    return RRCI_MOST_MARKED + 8 * rrci_count_left(heap);
}

/* Part the objects of P or O links that only these hold: all of them, or those that are watched. */
static void rrci_part_idle(rrc_heap *heap, int kind, int are_watched)
{
    for (; kind < RRCI_LISTS; kind += RRCI_YOUNG) {
        rrci_list *list = &heap->links.list[kind];
        size_t i;
        for (i = list->count; i-- > 0;) {
            rrc_object *ob;
            if (i >= list->count)
                continue;               /* a hook has dropped other references */
            if (i >= RRCI_AHEAD)
                RRCI_PREFETCH_TO_WRITE(rrci_at(list, i - RRCI_AHEAD)->ob);
            ob = rrci_at(list, i)->ob;
            if (!rrci_is_linked_ob(ob) || rrc_refcnt(ob) != 0 || rrci_awaits_search(heap, ob)
                || (are_watched && RRC_REFCNT(ob) >= 0))
                continue;               /* (what was cleared, and is referred to, is watched, too) */
            if (are_watched)
                RRC_REFCNT(ob) &= INTPTR_MAX;
            rrci_dissolve(heap, rrci_spot_at(list, i), 1, "rrc_heap_free");
        }
    }
}

/* Do all pending work. It can make more: that is done too. */
static void rrci_do_last(rrc_heap *heap, int *rounds_left)
{
    size_t pending;
    while ((pending = rrci_pending(heap)) > 0 && *rounds_left > 0) {
        ptrdiff_t objects = heap->counters.objects;
        heap->waiting.quota = SIZE_MAX;
        rrci_read_mail(heap, 0);
        rrci_do_pending(heap, NULL, pending);
        *rounds_left -= heap->counters.objects >= objects;
    }
}

/* Do what is pending. Part all that only links hold: proxies first, views that nobody owns after them. */
static void rrci_end_links(rrc_heap *heap, int *rounds_left)
{
    rrci_do_last(heap, rounds_left);
    rrci_part_idle(heap, RRCI_O_OLD, 0);
    rrci_do_last(heap, rounds_left);
    rrci_part_idle(heap, RRCI_P_OLD, 0);
    rrci_do_last(heap, rounds_left);
}

/* ---- the order of the end ----
   A marking that begins with what C holds, and with no root of the host, reaches the p of each object that another one
   owns through the host. An object that only its link holds, and whose p is not reached, is owned by nobody: it parts
   and goes, and the next marking tells what is owned by nobody then. When there is no such object, what is garbage of a
   collection without roots is cleared in the order of PEP 442. So there is a marking for each object on the longest
   path of owners through the host, at most. */

/* Watch the objects of P or O links that only these hold, and that nobody owns. Returns their number. */
static size_t rrci_watch_owners(rrc_heap *heap, int kind)
{
    const rrci_link *link;
    size_t n = 0, i = 0;
    int at = kind;
    while ((link = rrci_next_link(heap, &at, &i)) != NULL) {
        if (((at ^ kind) & RRCI_O) != 0 || !rrci_is_linked_ob(link->ob) || rrc_refcnt(link->ob) != 0)
            continue;
        RRC_REFCNT(link->ob) &= INTPTR_MAX;     /* (a watch may have outlived its search) */
        if (!rrci_awaits_search(heap, link->ob) && RRC_HOST_SURVIVOR(heap, link->p) == NULL) {
            RRC_REFCNT(link->ob) |= INTPTR_MIN;
            n++;
        }
    }
    return n;
}

#ifndef RRC_NO_CYCLES
/* Is ob a view to which one object refers? That object decides when it goes. */
static int rrci_is_owned_view(rrc_heap *heap, rrc_object *ob)
{
    return rrc_refcnt(ob) == 1 && rrci_is_p_linked(heap, ob);
}

/* Counts visits of garbage. */
static int rrci_visit_garbage(rrc_object *ob, void *arg)
{
    rrc_heap *heap = ((rrci_search *)arg)->heap;
    if (RRC_REFCNT(ob) < RRC_REFCNT_IMMORTAL && rrci_is_in_tracked(ob)
        && rrci_is_below(&heap->machine, rrci_gc_head_of(ob), 0) && !rrci_is_owned_view(heap, ob))
        ((rrci_search *)arg)->at++;
    return 0;
}

/* Can this garbage wait for the next marking? Others own it through the host only, and it owns no other garbage. */
static int rrci_can_wait(rrc_heap *heap, rrc_object *ob)
{
    rrci_search search;
    if (rrci_is_owned_view(heap, ob))
        return 1;
    if ((rrci_gc_head_of(ob)->is.word & RRCI_GC_OWNED) == 0 || rrc_refcnt(ob) > 0)
        return 0;
    rrci_begin_search(&search, heap, "rrc_heap_free");
    rrci_traverse(&search, ob, rrci_visit_garbage);
    return search.at == 0;
}

/* Let garbage that can wait be as if it was found alive, but watched, unless there is no other garbage. */
static void rrci_let_wait(rrc_heap *heap)
{
    rrc_object *ob;
    size_t others = 0, i = 0;
    while ((ob = rrci_next_tracked(heap, &i)) != NULL)
        others += (size_t)(rrci_is_below(&heap->machine, rrci_gc_head_of(ob), 0) && !rrci_can_wait(heap, ob));
    for (i = 0; others > 0 && (ob = rrci_next_tracked(heap, &i)) != NULL;) {
        if (!rrci_is_below(&heap->machine, rrci_gc_head_of(ob), 0) || !rrci_can_wait(heap, ob))
            continue;
        rrci_color(heap, ob, rrci_gc_head_of(ob), 0);
        rrci_gc_head_of(ob)->is.refs = 0;
    }
}

#endif

/* One marking as in a major collection, with what finalizers may see and what garbage owns, and what follows from it.
   Returns whether that was anything. (An owner with a finalizer is like any other: its dealloc calls the finalizer.) */
static int rrci_order_once(rrc_heap *heap, int orders, int *rounds_left, const char *function)
{
    int kind = RRCI_O_OLD, searches = rrci_count_tracked(heap) > 0;
    size_t before = rrci_progress(heap), n = 0;
    ptrdiff_t objects = heap->counters.objects;
    if (heap->machine.alive > 0)
        rrci_reset_scratch(heap);       /* the host has reported what it marked for itself */
    heap->waiting.orders = (char)orders;
    heap->desc.mark_from_c(heap->desc.userdata, 1);
    heap->state = RRCI_MAJOR;
    heap->machine.plan = searches ? RRCI_SEARCH : RRCI_NO_SEARCH;
    rrci_finish_marking(heap, 0, searches, function);
    heap->state = RRCI_MAJOR;
#ifndef RRC_NO_CYCLES
    rrci_keep_whole_garbage(heap, function);
    if (orders == RRCI_BY_OWNERS && heap->machine.searched) {
        rrci_reset_scratch(heap);
    } else if (heap->machine.searched && !rrci_all_alive(heap)) {
        rrci_let_wait(heap);
        rrci_all_aside(heap, 1);
    }
#endif
    rrci_end_machine(heap);
    if (orders == RRCI_BY_OWNERS)
        n = rrci_watch_owners(heap, kind);
    if (orders == RRCI_BY_OWNERS && n == 0)
        n = rrci_watch_owners(heap, kind = RRCI_P_OLD);
    heap->machine.plan = RRCI_UNDECIDED;
    heap->state = RRCI_ENDING;
    heap->desc.mark_from_c(heap->desc.userdata, 0);
    if (n > 0)
        rrci_part_idle(heap, kind, 1);
    rrci_do_last(heap, rounds_left);
    return heap->counters.objects != objects || rrci_progress(heap) != before;
}

/* Deallocate what C does not hold, as long as the host's graph tells which objects go first. */
static void rrci_order(rrc_heap *heap, const char *function)
{
    size_t limit = rrci_most_marked(heap), marked = 0, i = 0;
    rrc_object *ob;
    int goes_on = 1, rounds_left = RRCI_MOST_ROUNDS / 10;
    if (heap->desc.mark_from_c == NULL)
        return;
    heap->waiting.orders = RRCI_BY_OWNERS;
    rrci_do_last(heap, &rounds_left);
    while (goes_on && marked <= limit && rounds_left > 0) {
        ptrdiff_t objects = heap->counters.objects;
        marked += 2 * rrci_count_left(heap) + 1;
        goes_on = rrci_order_once(heap, RRCI_BY_OWNERS, &rounds_left, function)
                  || rrci_order_once(heap, RRCI_BY_CYCLES, &rounds_left, function);
        rounds_left -= heap->counters.objects >= objects;
    }
    heap->waiting.orders = RRCI_NO_ORDER;
    while ((ob = rrci_next_tracked(heap, &i)) != NULL) {
        rrci_forget_cleared(&heap->tracked, rrci_gc_head_of(ob));
        RRC_REFCNT(ob) &= INTPTR_MAX;
    }
}

/* Deallocate all that C does not hold, and then look for cycles. That is repeated for what finalizers kept, or only
   other garbage held. */
static void rrci_end_objects(rrc_heap *heap)
{
    size_t limit = rrci_most_marked(heap), searched = 0, i;
    rrc_object *ob;
    int goes_on, rounds_left;
    heap->waiting.parts_wrappers = 0;
    rrci_order(heap, "rrc_heap_free");
    rounds_left = RRCI_MOST_ROUNDS;
    rrci_end_links(heap, &rounds_left);
    do {
        ptrdiff_t objects = heap->counters.objects;
        size_t before = rrci_progress(heap);
        heap->waiting.running = 0;              /* (what this search finds alive has not been cleared) */
        rrci_collect_c(heap, "rrc_heap_free");
        heap->waiting.running = 1;
        rrci_end_links(heap, &rounds_left);
        if (heap->counters.objects >= objects) {
            rounds_left--;
            searched += rrci_count_tracked(heap);
        }
        goes_on = rrci_progress(heap) != before || rrci_is_in_doubt(heap);
        if (!goes_on && RRCI_HAS_WRAPPERS(heap) && !heap->waiting.parts_wrappers) {
            goes_on = 1;
            heap->waiting.parts_wrappers = 1;   /* those that are held because others refer to their foreign object, too */
            for (i = 0; (ob = rrci_next_tracked(heap, &i)) != NULL;)
                if (rrci_is_held_for_others(heap, ob)) {
                    rrci_hold_for_others(heap, ob, 0);
                    rrci_drop_quietly(heap, ob);
                }
            rrci_do_last(heap, &rounds_left);
        }
    } while (goes_on && rounds_left > 0 && searched <= limit);
}

/* Dissolve the links that are left. Returns the number of objects that C holds, of those that had a link or have
   been in the queue. */
static size_t rrci_part_all(rrc_heap *heap)
{
    static const int kinds[RRCI_LISTS] = { RRCI_O_OLD, RRCI_O_YOUNG, RRCI_P_OLD, RRCI_P_YOUNG };
    rrc_object *ob;
    size_t held = 0, i = 0;
    int k;
    for (k = 0; k < RRCI_LISTS; k++) {
        rrci_list *list = &heap->links.list[kinds[k]];
        while (list->count > 0) {
            ob = rrci_at(list, list->count - 1)->ob;
            held += (size_t)(RRC_REFCNT(ob) < RRC_REFCNT_IMMORTAL && rrci_is_linked_ob(ob) && rrc_refcnt(ob) > 0
                             && !rrci_is_uncollectable(ob));        /* (that holds itself) */
            rrci_dissolve(heap, rrci_spot_at(list, list->count - 1), 1, "rrc_heap_free");
        }
    }
    while ((ob = rrci_next_tracked(heap, &i)) != NULL) {
        if (rrci_has_left(heap, ob) && rrci_is_uncollectable(ob))
            rrci_empty_link_field(heap, ob);
    }
    return held + heap->waiting.left;
}

/* (If the end was given up, objects are left in the queue, with one reference more.) */
static void rrci_free_tables(rrc_heap *heap)
{
    int kind;
    while (rrci_dequeue(heap) != NULL)
        ;
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        heap->links.list[kind].dict.on = 0;
        rrci_dict_trim(heap, &heap->links.list[kind].dict, 0, SIZE_MAX);
    }
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        while (heap->tracked.list[kind].count > 0) {
            rrc_object *ob = *rrci_ob_at(&heap->tracked.list[kind], heap->tracked.list[kind].count - 1);
            RRC_REFCNT(ob) &= INTPTR_MAX;
            RRC_REFCNT(ob) -= rrci_is_waiting(rrci_gc_head_of(ob));
            rrci_gc_take_out(heap, ob);
        }
    while (heap->memory.pool != NULL)
        rrci_free_table(heap, rrci_take_chunk(&heap->memory), sizeof(rrci_chunk));
    rrci_free_table(heap, heap->links.directory.block,
                    heap->links.directory.capacity * RRCI_LISTS * sizeof(rrci_chunk *));
    rrci_free_table(heap, heap->tracked.directory.block,
                    heap->tracked.directory.capacity * RRCI_GC_LISTS * sizeof(rrci_chunk *));
    rrci_is_gone(heap, NULL);
    heap->observers = NULL;
    rrci_free_mail(heap);
}

RRC_API size_t rrc_heap_free(rrc_heap *heap)
{
    const char *function = "rrc_heap_free";
    size_t held;
    if (heap == NULL)
        return 0;
    if (rrci_gate(heap, RRCI_ENDS, function) != RRC_OK)
        return SIZE_MAX;
    if (rrci_is_busy(heap) || heap->calls.triggering > 0 || heap->machine.is_collecting) {
        rrci_error(heap, RRC_EPHASE, function, NULL, NULL,
                   "called from a dealloc, a hook or a callback; the heap was not freed");
        return SIZE_MAX;
    }
#ifndef RRC_NO_CYCLES
    if (rrci_is_started(heap)) {
        rrci_pause_slices(heap);
    } else if (rrci_is_sweeping(heap)) {
        rrci_work_slice(heap, SIZE_MAX, function);
        rrc_major_collection_sweep(heap, 0);
    }
#endif
    if (RRCI_LISTENS(heap))
        heap->layer->end(heap);
    heap->state = heap->rest = RRCI_ENDING;
    heap->waiting.running = 1;                  /* deallocs wait for rrci_do_last */
    rrci_end_objects(heap);
    if (rrci_close_mail(heap))
        rrci_end_objects(heap);
    held = rrci_part_all(heap);
    if (heap->layer != NULL)
        heap->layer->free(heap);
    heap->waiting.running = 0;
    rrci_free_tables(heap);
    heap->state = heap->rest = RRCI_HUSK;
    heap->desc.native_bytes = NULL;
    rrci_end_husk(heap);
    return held;
}

/* ---- numbers and checks ---- */

RRC_API void rrc_native_bytes(rrc_heap *heap, ptrdiff_t change)
{
    size_t sum;
    if (heap == NULL)
        return;
    sum = heap->stats.native_bytes + (size_t)change;
    heap->stats.native_bytes = change < 0 && sum > heap->stats.native_bytes ? 0 : sum;
    if (heap->desc.native_bytes != NULL)
        heap->desc.native_bytes(heap->desc.userdata, change);
}

RRC_API void rrc_measure(rrc_heap *heap, rrc_object *ob)
{
    const rrc_type *type = heap == NULL || ob == NULL || rrci_is_freed(ob) ? NULL : RRC_TYPE(ob);
    rrci_var_head *head;
    size_t size;
    if (type == NULL || type->tp_size == NULL || !rrci_has_gc_head(ob) || !rrci_is_sized(ob, type))
        return;
    size = type->tp_size(heap, ob);
    head = (rrci_var_head *)(void *)((char *)ob - rrci_bytes_before(heap, type, 1));
    rrc_native_bytes(heap, (ptrdiff_t)(size - head->is.native));
    head->is.native = size;
}

RRC_API size_t rrc_size_of(rrc_heap *heap, rrc_object *ob)
{
    const rrc_type *type = RRC_TYPE(ob);
    size_t size = type != NULL ? type->tp_basicsize : 0;
    if (type != NULL && rrci_has_gc_head(ob))
        size = rrci_bytes_of(heap, ob) - rrci_bytes_before(heap, type, rrci_is_sized(ob, type));
    return type != NULL && type->tp_size != NULL ? size + type->tp_size(heap, ob) : size;
}

RRC_API int rrc_get_stats(const rrc_heap *heap, rrc_stats *stats)
{
    if (heap == NULL || stats == NULL)
        return rrci_report(heap != NULL ? &heap->desc : NULL, RRC_ENULL, "rrc_get_stats", NULL, NULL, "");
    if (heap->state == RRCI_HUSK)
        return rrci_error(heap, RRC_ECLOSED, "rrc_get_stats", NULL, NULL, "");
    *stats = heap->stats;
    stats->p_young = heap->links.list[RRCI_P_YOUNG].count;
    stats->p_old = heap->links.list[RRCI_P_OLD].count;
    stats->o_young = heap->links.list[RRCI_O_YOUNG].count;
    stats->o_old = heap->links.list[RRCI_O_OLD].count;
    stats->pending = rrci_pending(heap);
    stats->tracked = rrci_count_tracked(heap) - heap->tracked.holes - heap->tracked.waiting_holes;
    stats->uncollectable = heap->tracked.uncollectable;
    stats->finalizable = heap->tracked.finalizable;
    stats->objects = heap->counters.objects > 0 ? (size_t)heap->counters.objects : 0;
    return RRC_OK;
}

/* The state of rrc_check. */
typedef struct rrci_checker {
    rrc_heap *heap;
    int code;                   /* of the first error */
    ptrdiff_t queued;           /* objects that wait for their dealloc, and were not found yet */
    size_t bytes;               /* the memory of all that waits */
} rrci_checker;

static void rrci_note_code(rrci_checker *checker, int code)
{
    checker->code = checker->code == RRC_OK ? code : checker->code;
}

static void rrci_found(rrci_checker *checker, int code, rrc_object *ob, rrc_gcref p, const char *detail)
{
    rrci_note_code(checker, rrci_error(checker->heap, code, "rrc_check", ob, p, detail));
}

static void rrci_check_outside(rrci_checker *checker, rrc_object *ob)
{
    if (rrci_ask_outside(checker->heap, ob, "rrc_check") == RRCI_INEXPLICABLE)
        rrci_note_code(checker, RRC_EOUTSIDE);
}

/* Check one link: I1, I2 and its generation. */
static void rrci_check_link(rrci_checker *checker, int kind, size_t index)
{
    rrc_heap *heap = checker->heap;
    rrci_list *list = &heap->links.list[kind];
    const rrci_link *link = rrci_at(list, index);
    rrc_object *ob = link->ob;
    rrci_spot spot;
    if (link->p == NULL || ob == NULL) {
        rrci_found(checker, RRC_ECORRUPT, ob, link->p, "a link lacks one of its ends");
        return;
    }
    if (rrci_is_freed(ob)) {
        rrci_found(checker, RRC_EFREED, ob, link->p, "the object is still linked");
        return;
    }
    if (!rrci_is_linked_ob(ob) || rrci_has_two_biases(ob))
        rrci_note_code(checker, rrci_refcount_error(heap, "rrc_check", ob, link->p));
    if (!rrci_is_tracked(ob))
        rrci_check_outside(checker, ob);
    if (RRC_LINK(ob) != link->p)
        rrci_found(checker, RRC_ELINK, ob, link->p, "I1: the link field differs from the link");
    if (RRCI_HAS_PLACES(heap) && *rrci_place_in(heap, link->p) != index * RRCI_LISTS + (size_t)kind)
        rrci_found(checker, RRC_EPLINKED, ob, link->p, "I2: two links have this p, or its place is not known");
    if (list->dict.on && (!rrci_dict_find(list, link->p, ob, &spot)
                          || ((kind & RRCI_O) == 0 && rrci_ob_of(list, link->p) != ob)))
        rrci_found(checker, RRC_EPLINKED, ob, link->p,
                   "I2: two P links have this p, or the dictionary does not know the link");
    RRCI_BEGIN_HOOK(heap);
    if ((kind & RRCI_O) == 0 && RRCI_HAS_SLOT(heap) && *RRC_HOST_SLOT(heap, link->p) != ob)
        rrci_found(checker, RRC_EHOOK, ob, link->p, "I2: the slot of p does not hold ob");
    if (RRCI_HAS_GENERATIONS(heap)) {
        int is_young = RRC_HOST_IS_YOUNG(heap, link->p) != 0;
        if (is_young != ((kind & RRCI_YOUNG) != 0) && !(is_young && heap->desc.demotes))
            rrci_found(checker, RRC_EHOOK, ob, link->p,
                       is_young ? "is_young says yes, but the link was promoted"
                                : "is_young says no, but the link is a young one");
    }
    RRCI_END_HOOK(heap);
}

/* Check I2: no ob has two links. Link fields are NULL meanwhile, but not when the log hook looks at them. */
static void rrci_check_single_links(rrci_checker *checker)
{
    const rrci_link *second = NULL;
    size_t i;
    int kind, pass;
    for (pass = 0; pass < 2; pass++)
        for (kind = 0; kind < RRCI_LISTS; kind++)
            for (i = 0; i < checker->heap->links.list[kind].count; i++) {
                const rrci_link *link = rrci_at(&checker->heap->links.list[kind], i);
                if (pass == 0 && RRC_LINK(link->ob) == NULL)
                    second = link;
                RRC_LINK(link->ob) = pass == 0 ? NULL : link->p;
            }
    if (second != NULL)
        rrci_found(checker, RRC_ELINKED, second->ob, second->p, "I2: the object has two links");
}

/* Each link is found in it (rrci_check_link). Is nothing else there? */
static void rrci_check_dict(rrci_checker *checker, const rrci_list *list)
{
    const rrci_dict *dict = &list->dict;
    size_t i, k, records = 0;
    for (i = 0; dict->on && i < dict->homes; i++) {
        const uint32_t *group = rrci_word(&dict->groups, i * RRCI_GROUP);
        uint32_t number = group[RRCI_CHAIN];
        for (k = 0; k < RRCI_CHAIN; k++)
            records += group[k] != 0;
        for (; number != 0 && number <= list->count && records <= list->count; records++)
            number = *rrci_word(&dict->next, number - 1);
        records += number != 0;
    }
    if (dict->on && records != list->count)
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "a dictionary does not match its list");
}

/* (Those whose dealloc was put off are not in the queue itself.) */
static int rrci_each_queued(rrc_heap *heap, rrc_visitproc visit, void *arg)
{
    const rrci_chunk *chunk = heap->waiting.queue.head;
    size_t index = heap->waiting.queue.head_index, i;
    rrc_object *ob;
    int result = 0;
    for (i = 0; i < heap->waiting.queue.count && result == 0; i++) {
        if (index == RRCI_CHUNK_QUEUED) {
            chunk = chunk->queue.next;
            index = 0;
        }
        result = visit(chunk->queue.ob[index++], arg);
    }
    for (ob = heap->waiting.later; ob != NULL && result == 0; ob = rrci_next_deferred(ob))
        result = visit(ob, arg);
    return RRC_OK;
}

static int rrci_check_queued(rrc_object *ob, void *arg)
{
    rrci_checker *checker = (rrci_checker *)arg;
    checker->bytes += rrci_bytes_of(checker->heap, ob);
    if (rrci_is_freed(ob))
        rrci_found(checker, RRC_EFREED, ob, NULL, "the object still waits for its dealloc");
    else if (RRCI_COUNT(ob) < 1)
        rrci_found(checker, RRC_EREFCNT, ob, NULL, "the reference of an object that waits for its dealloc was dropped");
    return --checker->queued < 0;
}

#ifndef RRC_NO_CYCLES
static int rrci_each_tracked(rrc_heap *heap, rrc_visitproc visit, void *arg)
{
    size_t i;
    int kind, result = 0;
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count && result == 0; i++)
            if (!rrci_is_hole(*rrci_ob_at(&heap->tracked.list[kind], i)))
                result = visit(*rrci_ob_at(&heap->tracked.list[kind], i), arg);
    return RRC_OK;
}

static int rrci_each_linked(rrc_heap *heap, rrc_visitproc visit, void *arg)
{
    size_t i;
    int kind, result = 0;
    for (kind = 0; kind < RRCI_LISTS; kind++)
        for (i = 0; i < heap->links.list[kind].count && result == 0; i++)
            result = visit(rrci_at(&heap->links.list[kind], i)->ob, arg);
    return RRC_OK;
}

static int rrci_check_explained(rrc_object *ob, void *arg)
{
    rrci_search *search = (rrci_search *)arg;
    if (!rrci_has_gc_head(ob))
        return 0;
    if (!search->is_wrong && rrci_gc_head_of(ob)->is.refs != 0 && rrci_unexplained(search, ob) < 0)
        rrci_too_many_visits(search, ob);
    rrci_gc_head_of(ob)->is.refs = 0;
    return 0;
}

/* Check that no tracked or linked object is visited more often than it has references. */
static void rrci_check_traverses(rrci_checker *checker)
{
    rrc_heap *heap = checker->heap;
    rrci_search search;
    int kind;
    rrci_begin_search(&search, heap, "rrc_check");
    search.explains_linked = 1;
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        if (!search.is_wrong)
            rrci_explain_part(&search, &heap->tracked.list[kind], 0, heap->tracked.list[kind].count);
    rrci_each_tracked(heap, rrci_check_explained, &search);
    rrci_each_linked(heap, rrci_check_explained, &search);
    if (search.is_wrong)
        checker->code = RRC_ETRAVERSE;
}

/* Check the places of tracked objects, and the number of visits to each. */
static void rrci_check_tracked(rrci_checker *checker)
{
    rrc_heap *heap = checker->heap;
    size_t i, finalizable = 0, holes = 0, scratch = 0;
    uintptr_t kind;
    for (kind = RRCI_TRACKED; kind < RRCI_GC_LISTS; kind++)
        for (i = 0; i < heap->tracked.list[kind].count; i++) {
            rrc_object *ob = *rrci_ob_at(&heap->tracked.list[kind], i);
            const rrci_gc_head *head;
            if (rrci_is_hole(ob)) {
                holes++;
                continue;
            }
            if (rrci_is_freed(ob)) {
                rrci_found(checker, RRC_EFREED, ob, NULL, "the object is still tracked");
                return;
            }
            head = rrci_gc_head_of(ob);
            if (head->is.word >> RRCI_GC_SHIFT != i || rrci_gc_list(head) != kind)
                rrci_found(checker, RRC_ECORRUPT, ob, NULL, "the GC head of a tracked object is damaged");
            finalizable += rrci_is_finalizable(ob) != 0;
            scratch += head->is.refs != 0;
            checker->bytes += kind > RRCI_TRACKED ? rrci_bytes_of(heap, ob) : 0;
            if (kind > RRCI_TRACKED && RRC_REFCNT(ob) >= 0 && rrci_slot_call_of(&heap->calls, ob) == NULL)
                rrci_found(checker, RRC_ECORRUPT, ob, NULL, "it waits as garbage, but is not watched");
            rrci_check_outside(checker, ob);
        }
    if (holes != heap->tracked.holes + heap->tracked.waiting_holes)
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "holes in the table of tracked objects are not counted right");
    if (finalizable != heap->tracked.finalizable)
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "objects with finalizers are not counted right");
    if (checker->code == RRC_OK && RRCI_IS_IDLE(heap) && scratch > 0)
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "a search has ended, but left a scratch word");
    if (checker->code == RRC_OK && heap->machine.alive == 0 && RRCI_IS_IDLE(heap) && rrci_count_tracked(heap) > 0)
        rrci_check_traverses(checker);
}
#endif

/* Check I5: the reserves on which the next collection relies. */
static void rrci_check_reserves(rrci_checker *checker)
{
    rrc_heap *heap = checker->heap;
    size_t links = rrci_count_records(heap), tracked = rrci_count_tracked(heap) + heap->tracked.walked;
    size_t chunks = 0;
    const rrci_chunk *chunk;
    int kind;
    for (chunk = heap->memory.pool; chunk != NULL && chunks <= heap->memory.pool_count; chunk = chunk->next)
        chunks++;
    if (chunks != heap->memory.pool_count)
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "the pool of chunks is damaged");
    if ((links + tracked > 0 && heap->memory.chunk_count < rrci_chunks_needed(links, tracked))
        || (heap->memory.spare_links > 0
            && heap->memory.chunk_count
               < rrci_chunks_needed(links + heap->memory.spare_links, heap->memory.room_for_tracked)))
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "I5: there are too few chunks");
    if ((links > 0 && heap->links.directory.capacity < rrci_directory_needed(links, 0))
        || (tracked > 0 && heap->tracked.directory.capacity < rrci_directory_needed(0, tracked)))
        rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "I5: the directories are too short");
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        const rrci_dict *dict = &heap->links.list[kind].dict;
        size_t keys = rrci_keys_needed(heap, kind) + dict->spare;
        if (dict->on && !dict->optional && keys > 0 && keys >= rrci_dict_room(dict))
            rrci_found(checker, RRC_ECORRUPT, NULL, NULL, "I5: a dictionary has too few pages");
    }
}

RRC_API int rrc_check(rrc_heap *heap)
{
    rrci_checker checker;
    size_t i;
    int kind, code = rrci_gate(heap, RRCI_MUTATES, "rrc_check");
    if (code != RRC_OK)
        return code;
    memset(&checker, 0, sizeof checker);
    checker.heap = heap;
    memset(heap->links.blamed, 0, sizeof heap->links.blamed);
    for (kind = 0; kind < RRCI_LISTS; kind++) {
        rrci_check_dict(&checker, &heap->links.list[kind]);
        for (i = 0; i < heap->links.list[kind].count; i++)
            rrci_check_link(&checker, kind, i);
    }
    if (checker.code == RRC_OK)
        rrci_check_single_links(&checker);
    checker.queued = (ptrdiff_t)(heap->waiting.queue.count + heap->waiting.later_count);
    rrci_each_queued(heap, rrci_check_queued, &checker);
    if (checker.queued != 0)
        rrci_found(&checker, RRC_ECORRUPT, NULL, NULL, "the list of deferred objects is damaged");
    if (heap->tracked.walking == 0) {
#ifndef RRC_NO_CYCLES
        rrci_check_tracked(&checker);
        if (RRCI_LISTENS(heap))
            heap->layer->check_all(heap, &checker);
#endif
        if (checker.code == RRC_OK && checker.bytes != heap->stats.pending_bytes)
            rrci_found(&checker, RRC_ECORRUPT, NULL, NULL,
                       "the size or the type of an object has changed while it waited for rrc_run_pending");
    }
    rrci_check_reserves(&checker);
    return checker.code;
}

/* ---- inspection ---- */

RRC_API int rrc_log(rrc_heap *heap, int code, const char *function, rrc_object *ob, rrc_gcref p, const char *detail)
{
    return heap != NULL ? rrci_error(heap, code, function, ob, p, detail)
                        : rrci_report(NULL, code, function, ob, p, detail);
}

#ifndef RRC_NO_CYCLES
RRC_API int rrc_inspect_begin(rrc_heap *heap, const char *function)
{
    int code = rrci_gate(heap, RRCI_MUTATES, function);
    if (code != RRC_OK)
        return code;
    if (heap->inspecting != NULL)
        return rrci_error(heap, RRC_EPHASE, function, NULL, NULL, "called from inside an inspection");
    heap->inspecting = function;
    RRCI_BEGIN_HOOK(heap);
    return RRC_OK;
}

/* Is an inspection open? Returns RRC_OK, or the logged code. */
static int rrci_inspects(rrc_heap *heap, const char *function)
{
    if (heap != NULL && heap->inspecting != NULL)
        return RRC_OK;
    return heap == NULL ? rrc_log(NULL, RRC_ENULL, function, NULL, NULL, "heap is NULL")
                        : rrc_log(heap, RRC_EPHASE, function, NULL, NULL, "rrc_inspect_begin must come first");
}

RRC_API int rrc_inspect_end(rrc_heap *heap)
{
    int code = rrci_inspects(heap, "rrc_inspect_end");
    if (code != RRC_OK)
        return code;
    RRCI_END_HOOK(heap);
    heap->inspecting = NULL;
    return RRC_OK;
}

RRC_API int rrc_inspect_each(rrc_heap *heap, int kind, rrc_visitproc visit, void *arg)
{
    int code = rrci_inspects(heap, "rrc_inspect_each");
    if (code != RRC_OK)
        return code;
    if (visit == NULL)
        return rrci_error(heap, RRC_ENULL, heap->inspecting, NULL, NULL, "visit is NULL");
    switch (kind) {
    case RRC_EACH_TRACKED:
        return rrci_each_tracked(heap, visit, arg);
    case RRC_EACH_LINKED:
        return rrci_each_linked(heap, visit, arg);
    case RRC_EACH_QUEUED:
        return rrci_each_queued(heap, visit, arg);
    default:
        return rrci_error(heap, RRC_EKIND, heap->inspecting, NULL, NULL, "kind must be one of RRC_EACH_...");
    }
}

/* The state of rrc_inspect_references. */
typedef struct rrci_naming {
    rrci_search       search;       /* (the first member: tp_traverse passes its address on) */
    rrc_referenceproc visit;
    void             *arg;
    uint64_t          members;      /* a bit for each of the tp_members that gave a name to a reference */
} rrci_naming;

/* References to one object have the names of its members in their order. */
static int rrci_visit_to_name(rrc_object *ob, void *arg)
{
    rrci_naming *naming = (rrci_naming *)arg;
    rrc_object *owner = naming->search.parent;
    const rrc_member *member = RRC_TYPE(owner)->tp_members;
    const char *name = ob == (rrc_object *)(uintptr_t)RRC_TYPE(owner) ? "tp_type" : NULL;
    uint64_t bit = 1;
    for (; name == NULL && member != NULL && member->name != NULL; member++, bit <<= 1)
        if ((naming->members & bit) == 0 && rrci_member_value(owner, member) == ob) {
            naming->members |= bit;
            name = member->name;
        }
    naming->visit(naming->arg, ob, name);
    return 0;
}

RRC_API int rrc_inspect_references(rrc_heap *heap, rrc_object *ob, rrc_referenceproc visit, void *arg)
{
    rrci_naming naming;
    int code = rrci_inspects(heap, "rrc_inspect_references");
    if (code != RRC_OK)
        return code;
    if (ob == NULL || visit == NULL)
        return rrci_error(heap, RRC_ENULL, heap->inspecting, ob, NULL, ob == NULL ? "ob is NULL" : "visit is NULL");
    if (!rrci_is_tracked(ob))
        return RRC_OK;
    naming.search.heap = heap;
    naming.visit = visit;
    naming.arg = arg;
    naming.members = 0;
    rrci_traverse(&naming.search, ob, rrci_visit_to_name);
    return RRC_OK;
}

/* RRC_IS_P_LINKED, RRC_IS_O_LINKED, or 0. */
static unsigned rrci_kind_of_link(rrc_heap *heap, rrc_object *ob)
{
    rrci_spot spot;
    if (RRC_LINK(ob) == NULL || RRC_LINK(ob) == heap->links.marker || rrci_is_odd(RRC_LINK(ob)))
        return 0;
    if (rrci_is_linked_ob(ob))
        return rrci_is_p_linked(heap, ob) ? RRC_IS_P_LINKED : RRC_IS_O_LINKED;
    return !rrci_find_link(heap, ob, &spot) ? 0     /* (else its maker may have forgotten the bias) */
         : ((spot.list - heap->links.list) & RRCI_O) != 0 ? RRC_IS_O_LINKED : RRC_IS_P_LINKED;
}

static unsigned rrci_if(int condition, unsigned is)
{
    return condition ? is : 0;
}

static unsigned rrci_what_is(rrc_heap *heap, rrc_object *ob)
{
    unsigned is = rrci_kind_of_link(heap, ob);
    int is_static = RRC_REFCNT(ob) >= RRC_REFCNT_IMMORTAL;
    int has_state = is == RRC_IS_O_LINKED && (RRC_HOST_HAS_STATE(heap, RRC_LINK(ob)) || rrci_outside(heap, ob) > 0);
    is |= rrci_if(is != 0 && rrci_link_holds(heap, ob), RRC_IS_HELD_BY_P)
        | rrci_if(is == RRC_IS_P_LINKED || has_state, RRC_HOLDS_P)
        | rrci_if(is_static, RRC_IS_STATIC)
        | rrci_if(!is_static && RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY_LIGHT, RRC_IS_LIGHT)
        | rrci_if(rrci_is_tracked(ob), RRC_IS_TRACKED)
        | rrci_if(rrci_is_tracked(ob) && !rrci_is_in_tracked(ob), RRC_IS_WAITING)
        | rrci_if(rrci_is_uncollectable(ob), RRC_IS_UNCOLLECTABLE)
        | rrci_if(rrc_gc_is_finalized(heap, ob), RRC_IS_FINALIZED)
        | rrci_if(rrci_is_wrapper(heap, ob), RRC_IS_WRAPPER)
        | rrci_if(rrci_is_layers(heap, ob), RRC_IS_WEAK);
    return is;
}

RRC_API int rrc_inspect(rrc_heap *heap, rrc_object *ob, rrc_info *info)
{
    int code = rrci_inspects(heap, "rrc_inspect");
    if (code != RRC_OK)
        return code;
    if (ob == NULL || info == NULL)
        return rrci_error(heap, RRC_ENULL, heap->inspecting, ob, NULL, ob == NULL ? "ob is NULL" : "info is NULL");
    if (rrci_is_freed(ob))
        return rrci_error(heap, RRC_EFREED, heap->inspecting, ob, NULL, "");
    info->is = rrci_what_is(heap, ob);
    info->p = (info->is & (RRC_IS_P_LINKED | RRC_IS_O_LINKED)) != 0 ? RRC_LINK(ob) : NULL;
    info->references = rrc_refcnt(ob) - rrci_is_listed(heap, ob);
    info->outside = rrci_outside(heap, ob);
    info->size = rrc_size_of(heap, ob);
    return RRC_OK;
}
#endif

RRC_API int rrc_observe(rrc_heap *heap, rrc_observer *observer, int on)
{
    const int is_null = heap == NULL || observer == NULL || observer->gone == NULL;
    rrc_observer **at;
    if (is_null || heap->state == RRCI_HUSK)
        return rrc_log(heap, is_null ? RRC_ENULL : RRC_ECLOSED, "rrc_observe", NULL, NULL, "");
    for (at = &heap->observers; *at != NULL && *at != observer; at = &(*at)->next)
        ;
    if (*at != NULL)
        *at = observer->next;
    if (on) {
        observer->next = heap->observers;
        heap->observers = observer;
    }
    return RRC_OK;
}

RRC_API rrc_observer *rrc_find_observer(rrc_heap *heap, rrc_goneproc gone)
{
    rrc_observer *observer = heap != NULL ? heap->observers : NULL;
    while (observer != NULL && observer->gone != gone)
        observer = observer->next;
    return observer;
}

RRC_API void *rrc_realloc(rrc_heap *heap, void *memory, size_t old_size, size_t new_size)
{
    if (heap == NULL || heap->state > RRCI_ENDING) {     /* a collection, or a husk */
        rrc_log(heap, heap == NULL ? RRC_ENULL : heap->state == RRCI_HUSK ? RRC_ECLOSED : RRC_EPHASE, "rrc_realloc",
                NULL, NULL, "");
        return NULL;
    }
    return rrci_resize_table(heap, memory, old_size, new_size);
}

#endif /* RAWREFCOUNT_IMPLEMENTATION */

/* >>license
 * ---------------------------------------------------------------------------
 * rawrefcount.h is available under two licenses. Choose whichever you prefer.
 *
 * ------------------------------------------------------------------------------
 * ALTERNATIVE A - MIT License
 *
 * Copyright (c) 2026 the rawrefcount.h authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of
 * this software and associated documentation files (the "Software"), to deal in
 * the Software without restriction, including without limitation the rights to
 * use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
 * of the Software, and to permit persons to whom the Software is furnished to do
 * so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 *
 * ------------------------------------------------------------------------------
 * ALTERNATIVE B - Public Domain (www.unlicense.org)
 *
 * This is free and unencumbered software released into the public domain.
 *
 * Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
 * software, either in source code form or as a compiled binary, for any purpose,
 * commercial or non-commercial, and by any means.
 *
 * In jurisdictions that recognize copyright laws, the author or authors of this
 * software dedicate any and all copyright interest in the software to the public
 * domain. We make this dedication for the benefit of the public at large and to
 * the detriment of our heirs and successors. We intend this dedication to be an
 * overt act of relinquishment in perpetuity of all present and future rights to
 * this software under copyright law.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
 * ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
 * WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
