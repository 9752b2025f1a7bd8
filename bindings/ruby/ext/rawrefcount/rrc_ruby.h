/* rrc_ruby.h - joins counted C objects (rawrefcount.h) with CRuby.
 *
 * For authors of extensions. The gem `rawrefcount` has one heap for the process;
 * your extension links against nothing: its functions are found at run time, in
 * the gem's library, which rrc_ruby_init loads. For that write in your extconf.rb:
 *
 *     require "rawrefcount/mkmf"
 *
 * (An initializer of static data cannot have the address of one of these functions,
 * unless Ruby code does `require "rawrefcount"` before it loads your library.)
 *
 * In every unit include this file, or rawrefcount.h, WITHOUT defining
 * RAWREFCOUNT_IMPLEMENTATION.
 *
 *     void Init_widgets(void)
 *     {
 *         rrc_heap *heap = rrc_ruby_init();
 *         ...
 *
 * WHO OWNS WHAT. "New reference" is the caller's to rrc_decref. A VALUE is rooted by
 * the C stack as ever in Ruby, and must not be stored in a C object: store the
 * object that rrc_ruby_hold gives.
 *
 * WHEN. All of this is called with the GVL, and not from a tp_traverse, tp_free or a
 * mark function. (A gem that was installed with --enable-debug aborts if a thread without the GVL calls it, and names
 * the function.) Where a comment says "raises", the function may leave by longjmp, as
 * Ruby's own do. A tp_dealloc, tp_finalize or tp_clear may raise: it ends there, the
 * error is reported (Rawrefcount.error_handler), and all else goes on. While it runs, what
 * other threads send (Thread#kill, Thread#raise) waits.
 */
#ifndef RRC_RUBY_H
#define RRC_RUBY_H

#include <ruby.h>
#include "rawrefcount.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the functions below. */
#define RRC_RUBY_ABI 2

/* ---- the heap ---- */

/* Call it first in your Init function: it loads the gem, in the version that rawrefcount/mkmf
   was from. Gives the heap; raises LoadError if there is no such gem, or if this unit was built
   for another version of it or with other settings. (rb_require bypasses RubyGems, and in
   Ruby 3.1 its LoadError crashes if it leaves an Init function.) */
rrc_heap *rrc_ruby_open(int abi, const char *config);
static inline rrc_heap *rrc_ruby_init(void)
{
#ifdef RRC_RUBY_GEM_VERSION
    if (!rb_provided("rawrefcount") && rb_obj_respond_to(rb_cObject, rb_intern("gem"), 1))
        rb_funcall(rb_cObject, rb_intern("gem"), 2, rb_str_new_cstr("rawrefcount"),
                   rb_str_new_cstr(RRC_RUBY_GEM_VERSION));
#endif
    rb_funcall(rb_cObject, rb_intern("require"), 1, rb_str_new_cstr("rawrefcount"));
    return rrc_ruby_open(RRC_RUBY_ABI, RRCI_CONFIG);
}

/* Call it right after rrc_ruby_init, in the same Init function, if your library keeps this promise: it changes
   counts by rrc_incref, rrc_decref and RRC_CLEAR only, reads them by rrc_refcnt, and calls rrc_touch directly before it
   moves a reference from one place to another without an incref (see >>slices of rawrefcount.h). If all extensions
   promise it, the search for cycles is divided, and runs in the slices of Ruby's incremental marking. */
void rrc_ruby_allow_slices(void);

/* The same heap, later. */
rrc_heap *rrc_ruby_heap(void);

/* ---- C objects as Ruby objects ---- */

/* The Ruby object of ob: its wrapper, which stays the same one as long as it lives; or
   the value, if ob is from rrc_ruby_hold. nil if ob is NULL, or if that value is gone:
   it was garbage with what holds it. The wrapper takes a reference of its own. Its class
   is that of ob's type (rrc_ruby_define_class), else Rawrefcount::Object. Raises
   NoMemoryError; RuntimeError if ob's tp_dealloc runs. O(1). */
VALUE rrc_ruby_wrap_unlinked(rrc_object *ob);   /* for rrc_ruby_wrap */
static inline VALUE rrc_ruby_wrap(rrc_object *ob)
{
#ifndef RRC_DEBUG                       /* (which checks each call) */
    if (ob != NULL && ob->ob_refcnt >= RRC_REFCNT_FROM_PYPY && ob->ob_pypy_link != NULL)
        return (VALUE)ob->ob_pypy_link;
#endif
    return rrc_ruby_wrap_unlinked(ob);
}

/* Like rrc_ruby_wrap for an object that was just made: takes over the caller's
   reference. ob NULL raises NoMemoryError, so that a constructor's result can be
   given as it is. klass: the class, a subclass perhaps, of which `new` was called. */
VALUE rrc_ruby_wrap_new(VALUE klass, rrc_object *ob);

/* For a method `initialize`: make self, which has no object yet, the wrapper of ob, and take
   over the caller's reference, in any case. ob NULL raises NoMemoryError; a frozen self FrozenError. Gives self.
   A subclass in Ruby can then have an `initialize` of its own, which calls super. Raises. */
VALUE rrc_ruby_initialize(VALUE self, rrc_object *ob);

/* The object of a wrapper, borrowed. type NULL: of any type. Raises TypeError, which
   names both types, or Rawrefcount::DisposedError. O(1). While a method runs, Ruby keeps its self and its arguments, and
   so their objects stay. Objects of a class with can_dispose are the exception: see there. */
rrc_object *rrc_ruby_unwrap(VALUE wrapper, const rrc_type *type);

/* The same, for a method that changes the object: raises FrozenError if the wrapper is frozen. */
rrc_object *rrc_ruby_unwrap_for_write(VALUE wrapper, const rrc_type *type);

/* rrc_ruby_unwrap for a wrapper whose class must be klass or below it. */
rrc_object *rrc_ruby_unwrap_kind(VALUE wrapper, VALUE klass);

/* Part a wrapper from its object now, and drop its reference: unless C holds more, the
   object is deallocated before this returns. Later uses raise DisposedError. Classes with can_dispose
   have it as the method `dispose`. Nothing happens the second time. */
void rrc_ruby_dispose(VALUE wrapper);

/* ---- Ruby values as C objects ---- */

/* A new reference to the object that stands for this value in C: any value at all. As
   long as C holds it, the value lives; one value has one such object at a time. So C can compare values, and use them
   as keys, by their objects. For a wrapper it is the object wrapped. Raises NoMemoryError. O(1). */
rrc_object *rrc_ruby_hold(VALUE value);

/* Is ob from rrc_ruby_hold, and so a Ruby value (not a wrapped C object)? */
int rrc_ruby_is_value(const rrc_object *ob);

/* Send `call` to a held value (a Proc, a Method, ...). Raises what it raises; RuntimeError if the
   value is gone (see rrc_ruby_wrap). When Ruby has ended, it does nothing and gives nil. */
VALUE rrc_ruby_call(rrc_object *callable, int argc, const VALUE *argv);

/* The same, called from a C library that must not be left by longjmp: returns 0, or a
   tag, which goes through the library as its error code and, back in Ruby's hands, is
   given to rrc_ruby_raise. In between, the library may drop references, and call this again: if
   that fails as well, the first tag is void. A tp_dealloc has nobody to give a tag to, and calls
   rb_set_errinfo(Qnil) instead. result may be NULL. */
int rrc_ruby_call_protected(rrc_object *callable, int argc, const VALUE *argv, VALUE *result);

/* The same with C objects as arguments, which are wrapped inside of the protection. */
int rrc_ruby_call_objects(rrc_object *callable, int argc, rrc_object *const *args, VALUE *result);

/* Raise what rrc_ruby_call_protected caught. Returns if tag is 0. */
void rrc_ruby_raise(int tag);

/* ---- classes ---- */

typedef struct rrc_ruby_method {
    const char *name;                   /* NULL ends a table */
    VALUE (*function)(ANYARGS);         /* RUBY_METHOD_FUNC(f) */
    int arity;                          /* as for rb_define_method */
    int is_singleton;                   /* not 0: a method of the class itself */
} rrc_ruby_method;

typedef struct rrc_ruby_class {
    const char *name;
    const rrc_type *type;               /* its objects get this class; NULL: an abstract class */
    VALUE superclass;                   /* 0: Rawrefcount::Object; else one of rrc_ruby_define_class */
    const rrc_ruby_method *methods;     /* or NULL */
    int can_dispose;                    /* not 0: its objects have the method `dispose` (rrc_ruby_dispose). A script can
                                           call it while a C function works with the object: in to_int or to_str of an
                                           argument, in a callback, in another thread. So unwrap them after the last
                                           call that can run Ruby code, or again after it: unwrapping raises then */
} rrc_ruby_class;

/* Define a class; under `outer`, a class or module. `new` works if "initialize" (see
   rrc_ruby_initialize) is among its methods or those of a superclass; or "new" itself, as a
   method of the class, which ends with rrc_ruby_wrap_new. dup, clone and Marshal raise
   TypeError. spec->type must live for ever, and have one class. Raises. */
VALUE rrc_ruby_define_class(VALUE outer, const rrc_ruby_class *spec);

/* ---- memory ---- */

/* Native memory grew (or shrank) by so many bytes: Ruby collects sooner. With 0, Ruby only hears at once what
   rrc_measure has reported. Objects of rrc_new and rrc_gc_new are counted already. What the tp_size of a type says is
   measured when an object gets its wrapper, and is in ObjectSpace.memsize_of: there, call rrc_measure if it grows. */
void rrc_ruby_native_bytes(ptrdiff_t change);

/* Do what rrc_run_pending does, now: at most max units (0: all). Ruby does it by itself soon after a collection.
   A loop in C that gives Ruby no chance to run calls this. Returns the units that were spent. */
size_t rrc_ruby_run_pending(size_t max);

/* A thread without Ruby's lock may call one function of all: rrc_decref_later (rawrefcount.h). Ruby drops these
   references after its next collection, or in rrc_ruby_run_pending. */

#ifdef __cplusplus
}
#endif

#endif
