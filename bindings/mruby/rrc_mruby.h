/* rrc_mruby.h - version 2.0.0
 * Reference-counted C objects in mruby, without leaks through callbacks: mruby 3.1 to 4.0, unmodified. One file beside
 * rawrefcount.h and rrc_closed.h.
 *
 *     #define RRC_MRUBY_IMPLEMENTATION        // in exactly one file of the program,
 *     #include "rrc_mruby.h"                  // which then holds the functions of these two, as well
 *
 *     static rrc_object *button_new(const rrc_mruby_args *a)      // Button.new("a label")
 *     {
 *         return my_button_new(a->heap, a->arg[0].string);
 *     }
 *     static mrb_value button_move(const rrc_mruby_args *a)       // button.move(3, 4)
 *     {
 *         my_button_move(a->ob, a->arg[0].number, a->arg[1].number);
 *         return a->self;
 *     }
 *     static const rrc_mruby_method button_methods[] = { { "move", button_move, "ff" }, { NULL, NULL, NULL } };
 *     static const rrc_mruby_class Button = { .type = &my_button_type, .make = button_new,
 *                                             .arguments = "z", .methods = button_methods };
 *
 *     rrc_mruby_define_class(mrb, NULL, &Button);     // class Button, with dispose and disposed?
 *
 * Self and the arguments are checked before your function is called: "wrong number of arguments (given 1, expected 2)",
 * "this Button was disposed of". The C library is compiled as for any other host: it includes rawrefcount.h only.
 *
 * It does NOT patch mruby, keep global state, or run mruby code inside a collection: mruby's own collector, incremental
 * or generational, finds the garbage, also cycles through both heaps. What C has to do about it (tp_dealloc) waits for
 * the next call of a function here that says so.
 *
 * CONTENTS (search for the tag)
 *     >>ownership       who holds what
 *     >>api             the functions
 *     >>implementation  cells, nodes, values, proxies, calls, collection
 */

/* >>ownership
 * ---------------------------------------------------------------------------
 * An ob is a C object. Its PROXY is its object in mruby: the same one as long as C or mruby refers to either. Any other
 * value of mruby has an ob in C (rrc_mruby_hold): the same one as long as C holds it; for small integers, symbols and
 * the like a new one each time.
 *
 *   rrc_mruby_wrap      borrows ob             the proxy, or the value, is in the arena
 *   rrc_mruby_wrap_new  takes your reference   also when it raises
 *   rrc_mruby_init      takes your reference   also when it raises
 *   `make` of a class   gives a new reference
 *   rrc_mruby_unwrap    gives a borrowed ob    valid as long as its proxy; of self and the arguments of a table's
 *                                              function: until that is over, also if they are disposed of
 *   rrc_mruby_hold      gives a new reference  rrc_decref it
 *   a proxy             holds its ob           until the proxy dies or is disposed of
 *   an ob held by C     holds its value, or its proxy: the class and singleton class, the instance variables and what
 *                       they refer to
 *   a wrapper           (a type with tp_outside) always holds its proxy, also for what foreign code holds; if garbage,
 *                       until rrc_mruby_collect
 *
 * "Raises": may leave by an exception of mruby, also for lack of memory. A C library must not call such a function from
 * its own frames; the functions for its hooks and callbacks (rrc_mruby_call, rrc_mruby_protect) never raise. A
 * tp_dealloc, tp_finalize or tp_clear may raise: it ends there, the exception is printed, and all else goes on.
 *
 * "Runs pending": may run tp_dealloc of objects that nobody holds. Do not call these functions, or rrc_decref, in the
 * dfree of a mrb_data_type: it runs inside a collection. */

#ifndef RRC_MRUBY_H
#define RRC_MRUBY_H

/* What user code raises must not leave by the header's frames: see rrcm_guard. */
#ifdef RRC_MRUBY_IMPLEMENTATION
#  ifdef RAWREFCOUNT_H
#  error "rrc_mruby.h: include it before rawrefcount.h, where RRC_MRUBY_IMPLEMENTATION is defined"
#  endif
#  ifndef RAWREFCOUNT_IMPLEMENTATION
#  define RAWREFCOUNT_IMPLEMENTATION
#  endif
struct rrc_heap;
struct rrc_object;
static void rrcm_guard(struct rrc_heap *heap, void (*slot)(struct rrc_heap *heap, struct rrc_object *ob),
                       struct rrc_object *ob);
#  define RRC_HOST_GUARD(heap, slot, ob) rrcm_guard((heap), (slot), (ob))
#  define RRC_HOST_MOVES 0
#endif

#include "rawrefcount.h"
#include "rrc_closed.h"             /* mruby's collector is closed */

#include <mruby.h>

#if MRUBY_RELEASE_NO < 30100
#error "rrc_mruby.h: needs mruby 3.1 or newer"
#endif

#define RRC_MRUBY_VERSION "2.0.0"

/* Like the header's own functions: static copies with RAWREFCOUNT_STATIC. */
#define RRC_MRUBY_API RRC_API

/* >>api
 * --------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- methods ---- */

#define RRC_MRUBY_MAX_ARGUMENTS 8

/* What a method is called with. (mruby's E_TYPE_ERROR and its kin want a variable `mrb`.) */
typedef struct rrc_mruby_args {
    mrb_state  *mrb;
    rrc_heap   *heap;
    mrb_value   self;
    rrc_object *ob;                         /* of self, borrowed; NULL in class methods and in `make` */
    mrb_value   block;                      /* or nil */
    int         count;                      /* of arguments */
    struct {
        mrb_value   value;                  /* as given; nil: left out */
        const char *string;                 /* "z" */
        mrb_int     integer;                /* "i" */
        double      number;                 /* "f" */
    } arg[RRC_MRUBY_MAX_ARGUMENTS];         /* what was left out is 0 */
} rrc_mruby_args;

/* It may raise. For a property `text` define methods "text" and "text=".
   `arguments` has a letter for each one, and NULL is for none at all:
       z   a String without 0 bytes        i   an Integer
       f   a Float or Integer              o   anything (see rrc_mruby_unwrap, rrc_mruby_hold)
       |   those after it may be left out */
typedef struct rrc_mruby_method {
    const char *name;                       /* NULL ends a table */
    mrb_value (*function)(const rrc_mruby_args *a);
    const char *arguments;
} rrc_mruby_method;

/* How the objects of a type look to scripts. Zero is a fine value for every field but
   one of type and name. It must live as long as the mrb_state. */
typedef struct rrc_mruby_class {
    const rrc_type               *type;     /* NULL: only a base for others */
    const char                   *name;     /* of the class in mruby; NULL: tp_name */
    const struct rrc_mruby_class *base;     /* NULL: Rawrefcount::Object */
    rrc_object *(*make)(const rrc_mruby_args *a);   /* for `new`: a new reference; NULL: NoMemoryError */
    const char                   *arguments;        /* of `new`: see rrc_mruby_method */
    const rrc_mruby_method       *methods;          /* or NULL */
    const rrc_mruby_method       *class_methods;    /* or NULL */
    void (*close)(rrc_heap *heap, rrc_object *ob);  /* what ob.dispose does before it lets go */
} rrc_mruby_class;

/* ---- states ---- */

/* The heap of a mrb_state; made by the first call, which also defines the module
   Rawrefcount; freed by mrb_close. Raises. [a look-up by name: once per function] */
RRC_MRUBY_API rrc_heap *rrc_mruby_heap(mrb_state *mrb);

/* The mrb_state of a heap. NULL: it is closed. [O(1)] */
RRC_MRUBY_API mrb_state *rrc_mruby_state(rrc_heap *heap);

/* ---- classes ---- */

/* Define a class, and first its base if need be, under the class or module `outer` (NULL: Object). A second time just
   gives it. `new` works if it, or its base, has a `make`; dup and clone raise. Methods of mruby's own form
   (mrb_define_method) can be added: they begin with rrc_mruby_unwrap, and hold ob (rrc_incref) while code of mruby can
   run, which may dispose of it. Raises. */
RRC_MRUBY_API struct RClass *rrc_mruby_define_class(mrb_state *mrb, struct RClass *outer,
                                                    const rrc_mruby_class *cls);

/* ---- objects in mruby ---- */

/* The proxy of ob, or the value that ob stands for; nil for NULL, for a value that is gone, which only garbage sees
   (README.md), and once mrb_close has begun to free. An ob whose type has no class gets a Rawrefcount::Object. Raises,
   also for an ob whose tp_dealloc runs; runs pending, but not if the proxy is there. [O(1)] */
RRC_MRUBY_API mrb_value rrc_mruby_wrap(rrc_heap *heap, rrc_object *ob);

/* For a function that makes objects: wrap ob and drop the caller's reference, in any
   case. NULL raises NoMemoryError. Raises; runs pending. */
RRC_MRUBY_API mrb_value rrc_mruby_wrap_new(rrc_heap *heap, rrc_object *ob);

/* For a method "initialize" of mruby's own form (`make` does it by itself): make self, an instance of the class of ob's
   type or of a subclass, the proxy of ob, and drop the caller's reference, in any case. As long as C holds ob, self
   lives. NULL raises NoMemoryError. Returns self. Raises; runs pending. */
RRC_MRUBY_API mrb_value rrc_mruby_init(rrc_heap *heap, mrb_value self, rrc_object *ob);

/* The ob of a value, which must be a proxy of this class or one based on it (NULL: of any). Else raises a TypeError
   that names both, or Rawrefcount::DisposedError. test returns NULL instead. Borrowed. [O(depth of the class)] */
RRC_MRUBY_API rrc_object *rrc_mruby_unwrap(mrb_state *mrb, mrb_value value, const rrc_mruby_class *cls);
RRC_MRUBY_API rrc_object *rrc_mruby_test(mrb_value value, const rrc_mruby_class *cls);

/* Part a proxy from its ob now; unless C holds more, ob is deallocated before this returns. Later uses raise
   DisposedError. If the proxy is self or an argument of a function of a table, which is at work, ob stays until the
   outermost of these is over. It is the method `dispose` of all classes. Nothing happens the second time. Raises what a
   callback raised; runs pending. */
RRC_MRUBY_API void rrc_mruby_dispose(mrb_state *mrb, mrb_value proxy);

/* ---- values in C ---- */

/* A new reference to the ob of any value: of a proxy, its ob; else one that stands for
   the value. NULL for nil, and after mrb_close. Raises; runs pending. [O(1)] */
RRC_MRUBY_API rrc_object *rrc_mruby_hold(rrc_heap *heap, mrb_value value);

/* Does ob stand for a value of mruby (and not for itself)? [O(1)] */
RRC_MRUBY_API int rrc_mruby_is_value(const rrc_object *ob);

/* Send `call` to the value of callback, with these obs as arguments. The result is dropped. Returns 0; or 1 and keeps
   the exception for rrc_mruby_raise, unless that of an earlier call waits there: then it is printed. Never raises; runs
   pending when the call is over. */
RRC_MRUBY_API int rrc_mruby_call(rrc_heap *heap, rrc_object *callback, size_t n, rrc_object *const *args);

/* Call function(mrb, data) likewise: for calls with other arguments, or with results.
   *result (or NULL) is what it returned, in the arena. */
RRC_MRUBY_API int rrc_mruby_protect(rrc_heap *heap, mrb_value (*function)(mrb_state *mrb, void *data),
                                    void *data, mrb_value *result);

/* Raise the exception that was kept, the same object; does nothing if there is none: for
   the end of a method whose C function runs callbacks. */
RRC_MRUBY_API void rrc_mruby_raise(rrc_heap *heap);

/* ---- collection ---- */

/* Tell mruby's collector what C refers to, and run pending. Done by itself, after mruby's cycles in which much has
   changed, by the next function that says "runs pending"; by hand, garbage goes with the next cycle. RRC_OK or a code.
   Never raises. [O(links + tracked objects)] */
RRC_MRUBY_API int rrc_mruby_step(rrc_heap *heap);

/* Collect all garbage of both heaps now (but not while GC.disable says no). Returns how
   many tracked objects of C were freed. Never raises. Garbage cycles through wrappers go only
   by this. It is also called before a wrapper gets a proxy, when the number of wrappers that have one
   has doubled. Meanwhile no other thread may take or move foreign references. */
RRC_MRUBY_API size_t rrc_mruby_collect(rrc_heap *heap);

/* An object's memory outside of mruby grew by `change` bytes (or shrank): the same as rrc_native_bytes. When as much is
   new as mruby's heap has, or as there was before, the next function that says "runs pending" collects. Can be called
   from any C code. Never raises. If the type has tp_size, the object is measured when it gets a proxy: then call
   rrc_measure if it grows. [O(1)] */
RRC_MRUBY_API void rrc_mruby_native_bytes(rrc_heap *heap, ptrdiff_t change);

#ifdef __cplusplus
}
#endif

#endif /* RRC_MRUBY_H */

/* >>implementation
 * ===========================================================================
 * mruby's collector has no hook in its marking and no weak references, so it is not driven but informed (see >>mirror
 * in rrc_closed.h). What it does tell is the death of a data object: it calls its dfree, inside the sweep, where
 * nothing may be allocated. So each thing whose death matters is a data object:
 *
 *   proxy   of a C object. A hidden instance variable refers to the node of its ob.
 *   box     refers to one value of mruby that C has an ob for. What is linked to that ob is the box, and so the value,
 *           which C may hold, needs no weak reference.
 *   node    an edge node: refers to an array of the proxies, boxes and nodes that stand for what an ob refers to.
 *
 * Boxes, nodes and their arrays have no class, as mruby's internal objects have none: scripts cannot get hold of them.
 *
 * What the header knows as p, or as an edge node, is a CELL (rrc_cell in rrc_closed.h), which does not move and
 * outlives its data object. Each cell has a place for its anchor in an array of mruby's. There is an array for each 128
 * places, and all of them are rooted. To change an anchor allocates nothing, and so rrc_incref can do it.
 *
 * Between mruby's marking and its sweep, which may take long, an object can be DOOMED: it is there, but the sweep will
 * free it, whatever refers to it now. A cell with a doomed object counts as dead, and is buried when somebody comes
 * across it. */

#if defined(RRC_MRUBY_IMPLEMENTATION) && !defined(RRCM_IMPLEMENTED)
#define RRCM_IMPLEMENTED

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/data.h>
#include <mruby/error.h>
#include <mruby/hash.h>
#include <mruby/proc.h>
#include <mruby/string.h>
#include <mruby/throw.h>
#include <mruby/variable.h>

#include <stdlib.h>
#include <string.h>

/* All memory that is not mruby's, since it may outlive mrb_close: as realloc; size 0 frees. */
#ifndef RRC_MRUBY_REALLOC
#define RRC_MRUBY_REALLOC(ptr, size) ((size) > 0 ? realloc((ptr), (size)) : (free(ptr), (void *)NULL))
#endif

/* Native memory below this does not hurry the collector. */
#ifndef RRC_MRUBY_NATIVE_BYTES
#define RRC_MRUBY_NATIVE_BYTES ((size_t)1 << 20)
#endif

/* As many new wrappers as this, or as there were before, or one for so many objects of mruby, whichever is
   more, are worth a collection: see rrcm_collect_wrappers. */
#ifndef RRC_MRUBY_WRAPPERS
#define RRC_MRUBY_WRAPPERS 1000
#endif
#define RRCM_OBJECTS_OF_A_WRAPPER 64

/* What is done with an exception that nobody can raise: of a tp_dealloc, tp_finalize or tp_clear, or of a callback if
   that of an earlier one waits for rrc_mruby_raise. */
#ifndef RRC_MRUBY_REPORT
#define RRC_MRUBY_REPORT(mrb, exception) rrcm_print(mrb, exception)
#endif

/* ---- differences between the versions of mruby ---- */

#if MRUBY_RELEASE_NO < 30400
#define RRCM_COLOR(object) ((unsigned)(object)->color)
#define rrcm_freeze(object, on) ((void)((on) ? MRB_SET_FROZEN_FLAG(object) : MRB_UNSET_FROZEN_FLAG(object)))
#else
#define RRCM_COLOR(object) ((unsigned)(object)->gc_color)
#define rrcm_freeze(object, on) ((void)((object)->frozen = (on) ? 1 : 0))
#endif

/* (mruby 3.2 loses objects if a full collection comes before the end of a major one of the generational mode.) */
static void rrcm_full_gc(mrb_state *mrb)
{
#if MRUBY_RELEASE_NO >= 30200 && MRUBY_RELEASE_NO < 30300
    mrb_gc *gc = &mrb->gc;
    while (gc->generational && gc->full && !gc->disabled && !gc->iterating)
        mrb_incremental_gc(mrb);
#endif
    mrb_full_gc(mrb);
}

/* Is a full collection one marking and one sweep, because none is half done or due to be done first? */
static int rrcm_is_between_cycles(const mrb_state *mrb)
{
    return mrb->gc.state == MRB_GC_STATE_ROOT && !(mrb->gc.generational && mrb->gc.full);
}

/* ---- data ---- */

typedef struct rrcm_cell {
    rrc_cell head;                      /* its object is a struct RData. The place of its anchor is its number - 1 */
    struct rrcm_state *state;
    union {
        const rrc_mruby_class *cls;     /* of a proxy */
        struct RArray         *list;    /* of a node */
    } is;
} rrcm_cell;

/* An ob that stands for a value of mruby. */
typedef struct rrcm_value {
    rrc_object head;
    mrb_value  value;           /* nil: it is gone */
} rrcm_value;

/* A function of a table that is at work. It uses objects without references, as mruby's stack has their proxies: self
   and the arguments. If one of these is disposed of meanwhile, the reference of the proxy is kept for the outermost
   frame that has it, and is dropped when the function is over. */
typedef struct rrcm_frame {
    rrc_mruby_args      args;
    struct rrcm_frame  *outer;
    struct mrb_context *context;            /* when it began; another one is there when a fiber has yielded */
    int                 arena;
    int                 keeps;              /* it has references in rrcm_state.kept */
    int                 is_left;            /* by an exception, a throw, a break or a return: mrb->exc has which */
    mrb_value           result;
} rrcm_frame;

typedef struct rrcm_kept {
    struct rrcm_kept *next;
    rrc_object       *ob;
    const rrcm_frame *frame;                /* NULL: dropped when pending work is done */
} rrcm_kept;

typedef struct rrcm_state {
    mrb_state     *mrb;         /* NULL: closed */
    rrc_heap      *heap;
    struct RArray *roots;       /* the next two, and classes */
    struct RArray *errors;      /* see rrcm_error_place */
    struct RArray *anchors;     /* arrays of RRCM_ANCHORS places each, one for each cell */
    rrc_map        values;      /* an object of mruby -> the cell of its box */
    rrc_map        classes;     /* rrc_mruby_class -> its RClass, and rrc_type -> its rrc_mruby_class */
    rrcm_frame    *frames;      /* the innermost one */
    rrcm_kept     *kept;        /* references that proxies had */
    struct RData  *sentinel;    /* NULL: a cycle of mruby's is over */
    size_t         wrappers;    /* the proxies of wrappers */
    size_t         most_wrappers;   /* with so many there is a collection: see rrcm_collect_wrappers */
    struct RClass *object_class, *disposed_error;
    mrb_sym        hidden_name, call_name;
    struct RBasic *asked;       /* Rawrefcount.explain is asked about it, or NULL: the stack has it for that only */
    int            is_ending;   /* all proxies die: see rrcm_part_proxies */
    int            is_closed;
    size_t         native_before, native_new;   /* see rrc_mruby_native_bytes */
    size_t         memory;      /* the header's */
} rrcm_state;

#define RRCM_ANCHORS 128
#define RRCM_NAME "rawrefcount"

static rrcm_state *rrcm_state_of(rrc_heap *heap)
{
    return (rrcm_state *)rrc_userdata(heap);
}

static rrc_stats rrcm_stats(const rrcm_state *state)
{
    rrc_stats stats;
    (void)rrc_get_stats(state->heap, &stats);
    return stats;
}

/* ---- errors ---- */

static void rrcm_no_memory(mrb_state *mrb)
{
    mrb_exc_raise(mrb, mrb_obj_value(mrb->nomem_err));
}

/* Raise an exception, unless the code is RRC_OK. */
static void rrcm_check_code(mrb_state *mrb, int code)
{
    if (code == RRC_OK)
        return;
    if (code == RRC_ENOMEM)
        rrcm_no_memory(mrb);
    mrb_raise(mrb, E_RUNTIME_ERROR, rrc_error_message(code));
}

static void rrcm_need_open(const rrcm_state *state)
{
    mrb_state *mrb = state->mrb;
    if (state->is_closed)
        mrb_raise(mrb, E_RUNTIME_ERROR, "this mrb_state is being closed");
}

/* Call function(mrb, data) and catch what it raises: that is returned, and *failed set.
   mrb_protect_error itself can raise when there is no memory for its result. */
static mrb_value rrcm_protect(mrb_state *mrb, mrb_value (*function)(mrb_state *mrb, void *data), void *data,
                              mrb_bool *failed)
{
    struct mrb_jmpbuf *previous = mrb->jmp;
    struct mrb_jmpbuf jump;
    mrb_value result;
    MRB_TRY(&jump) {
        mrb->jmp = &jump;
        result = mrb_protect_error(mrb, function, data, failed);
    } MRB_CATCH(&jump) {
        result = mrb_obj_value(mrb->exc);
        mrb->exc = NULL;
        *failed = TRUE;
    } MRB_END_EXC(&jump);
    mrb->jmp = previous;
    return result;
}

#ifndef MRB_NO_STDIO
static void rrcm_print(mrb_state *mrb, mrb_value exception)
{
    mrb->exc = mrb_obj_ptr(exception);
    mrb_print_error(mrb);
    mrb->exc = NULL;
}
#else
#define rrcm_print(mrb, exception) ((void)(exception))
#endif

typedef struct rrcm_guarded {
    rrc_heap   *heap;
    rrc_object *ob;
    void      (*slot)(rrc_heap *heap, rrc_object *ob);
} rrcm_guarded;

static mrb_value rrcm_call_guarded(mrb_state *mrb, void *data)
{
    const rrcm_guarded *job = (const rrcm_guarded *)data;
    (void)mrb;
    job->slot(job->heap, job->ob);
    return mrb_nil_value();
}

static mrb_value rrcm_report(mrb_state *mrb, void *data)
{
    RRC_MRUBY_REPORT(mrb, *(mrb_value *)data);
    return mrb_nil_value();
}

static void rrcm_guard(rrc_heap *heap, void (*slot)(rrc_heap *heap, rrc_object *ob), rrc_object *ob)
{
    const rrcm_state *state = rrcm_state_of(heap);
    mrb_state *mrb = state->mrb;
    rrcm_guarded job = { heap, ob, slot };
    mrb_bool failed = FALSE;
    int arena;
    mrb_value exception;
    if (mrb == NULL) {
        slot(heap, ob);
        return;
    }
    arena = mrb_gc_arena_save(mrb);
    exception = rrcm_protect(mrb, rrcm_call_guarded, &job, &failed);
    if (failed)
        rrcm_protect(mrb, rrcm_report, &exception, &failed);
    mrb_gc_arena_restore(mrb, arena);
}

/* ---- memory ---- */

/* The state goes with the last memory of its heap, which may be long after mrb_close: C can hold obs as long as it
   likes. */
static void *rrcm_heap_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    rrcm_state *state = (rrcm_state *)userdata;
    void *result = RRC_MRUBY_REALLOC(ptr, new_size);
    if (result == NULL && new_size > 0)
        return NULL;
    state->memory += new_size - old_size;
    if (state->memory == 0 && state->mrb == NULL)
        (void)RRC_MRUBY_REALLOC(state, 0);
    return result;
}

/* ---- cells ---- */

/* mruby paints what it has not marked with the other one of two whites, and flips them
   when marking begins: only in the sweep does that mean death. Objects that are not in its
   heap are red, which is 7. (mrb_object_dead_p looks through all pages of the heap.) */
static int rrcm_is_doomed(const mrb_state *mrb, const struct RData *object)
{
    unsigned other = (unsigned)(mrb->gc.current_white_part ^ 3) & 3;
    return mrb->gc.state == MRB_GC_STATE_SWEEP && (RRCM_COLOR(object) & other) != 0 && RRCM_COLOR(object) != 7;
}

/* Is there a foreign object, with a count of its own? See >>outside in rawrefcount.h. */
static int rrcm_is_wrapper(const rrc_object *ob)
{
    return ob->ob_type->tp_outside != NULL;
}

static int rrcm_is_box(const rrc_cell *cell)
{
    return !cell->is_node && cell->ob != NULL && rrc_mruby_is_value(cell->ob);
}

static int rrcm_is_proxy_cell(const rrc_cell *cell)
{
    return !cell->is_node && !rrcm_is_box(cell);
}

static struct RArray *rrcm_new_array(mrb_state *mrb, mrb_int length)
{
    mrb_value array = mrb_ary_new_capa(mrb, length);
    mrb_ary_resize(mrb, array, length);
    mrb_ary_ptr(array)->c = NULL;
    return mrb_ary_ptr(array);
}

/* After this a cell can be made. Raises. */
static void rrcm_reserve_cell(rrcm_state *state)
{
    mrb_state *mrb = state->mrb;
    int arena = mrb_gc_arena_save(mrb);
    unsigned number;
    while ((number = rrc_cell_reserve(state->heap)) > (unsigned)ARY_LEN(state->anchors) * RRCM_ANCHORS)
        mrb_ary_push(mrb, mrb_obj_value(state->anchors), mrb_obj_value(rrcm_new_array(mrb, RRCM_ANCHORS)));
    mrb_gc_arena_restore(mrb, arena);
    if (number == 0)
        rrcm_no_memory(mrb);
}

/* An object that is made while mruby marks lives through the sweep, marked or not, and C can get hold of it there. So
   mark it when it becomes a node, or when it is not rooted any more: then all that it refers to lives as well. */
static void rrcm_mark_too(mrb_state *mrb, const rrc_cell *cell)
{
    if (mrb->gc.state == MRB_GC_STATE_MARK)
        mrb_gc_mark(mrb, (struct RBasic *)cell->object);
}

/* The dfree function of proxies, boxes and nodes: inside the sweep, nothing may be allocated. */
static void rrcm_swept(mrb_state *mrb, void *data)
{
    (void)mrb;
    if (data != NULL)
        rrc_cell_died(((rrcm_cell *)data)->state->heap, (rrc_cell *)data);
}

static void rrcm_sentinel_swept(mrb_state *mrb, void *data)
{
    (void)mrb;
    if (data != NULL)
        ((rrcm_state *)data)->sentinel = NULL;
}

static const mrb_data_type rrcm_proxy_type = { "rawrefcount proxy", rrcm_swept };
static const mrb_data_type rrcm_disposed_type = { "rawrefcount proxy that was disposed of", NULL };
static const mrb_data_type rrcm_box_type = { "rawrefcount box", rrcm_swept };
static const mrb_data_type rrcm_node_type = { "rawrefcount node", rrcm_swept };
static const mrb_data_type rrcm_sentinel_type = { "rawrefcount sentinel", rrcm_sentinel_swept };
static const mrb_data_type rrcm_state_type = { "rawrefcount state", NULL };

/* Let a proxy refer to its node, a node to its list, or a box to its value, by a name that scripts cannot say. */
static void rrcm_set_hidden(const rrcm_state *state, struct RData *object, mrb_value value)
{
    mrb_obj_iv_set(state->mrb, (struct RObject *)object, state->hidden_name, value);
}

/* Let a proxy, perhaps a frozen one, refer to a node, or nil. Its instance variable is there already, so that this
   cannot fail. */
static void rrcm_set_node(const rrcm_state *state, struct RData *proxy, mrb_value node)
{
    int is_frozen = mrb_frozen_p(proxy) != 0;
    if (!mrb_obj_iv_defined(state->mrb, (struct RObject *)proxy, state->hidden_name))
        return;
    rrcm_freeze(proxy, 0);
    rrcm_set_hidden(state, proxy, node);
    rrcm_freeze(proxy, is_frozen);
}

/* ---- the hooks of the header: they never raise ---- */

static int rrcm_is_live(void *userdata, const rrc_cell *cell, int may_defer)
{
    (void)may_defer;
    return cell->object != NULL && !rrcm_is_doomed(((rrcm_state *)userdata)->mrb, (struct RData *)cell->object);
}

/* What the cell needs has been reserved. */
static void rrcm_watch(void *userdata, rrc_cell *head)
{
    rrcm_state *state = (rrcm_state *)userdata;
    rrcm_cell *cell = (rrcm_cell *)head;
    cell->state = state;
    ((struct RData *)head->object)->data = cell;
    if (head->is_node) {
        cell->is.list = mrb_ary_ptr(mrb_obj_iv_get(state->mrb, (struct RObject *)head->object, state->hidden_name));
        rrcm_mark_too(state->mrb, head);
    } else if (rrcm_is_box(head)) {
        rrc_map_put(&state->values, mrb_ptr(((rrcm_value *)(void *)head->ob)->value), cell);
    } else {
        state->wrappers += (size_t)rrcm_is_wrapper(head->ob);
    }
}

/* (When the heap ends, no object of mruby knows its cell any more.) */
static void rrcm_forget(void *userdata, rrc_cell *head)
{
    rrcm_state *state = (rrcm_state *)userdata;
    struct RData *object = (struct RData *)head->object;
    if (object != NULL)
        object->data = NULL;
    if (object != NULL && rrcm_is_proxy_cell(head))
        object->type = &rrcm_disposed_type;
    if (rrcm_is_box(head)) {
        rrcm_value *value = (rrcm_value *)(void *)head->ob;
        rrc_map_put(&state->values, mrb_ptr(value->value), NULL);
        value->value = mrb_nil_value();
    } else if (!head->is_node && head->ob != NULL) {
        state->wrappers -= (size_t)rrcm_is_wrapper(head->ob);
    }
}

/* (The place of an anchor has nil, or the object of its cell.) */
static int rrcm_pin(void *userdata, rrc_cell *cell, int on)
{
    rrcm_state *state = (rrcm_state *)userdata;
    struct RArray *places = mrb_ary_ptr(ARY_PTR(state->anchors)[(cell->number - 1) / RRCM_ANCHORS]);
    if (on && !rrcm_is_live(state, cell, 0))
        return 0;
    if (!on)
        rrcm_mark_too(state->mrb, cell);
    ARY_PTR(places)[(cell->number - 1) % RRCM_ANCHORS] = on ? mrb_obj_value(cell->object) : mrb_nil_value();
    if (on)
        mrb_write_barrier(state->mrb, (struct RBasic *)places);
    return on;
}

/* Call function(mrb, data) in a step, which sees one state of the world. Returns its result, or nil if it raised. */
static mrb_value rrcm_protect_in_step(rrcm_state *state, mrb_value (*function)(mrb_state *mrb, void *data), void *data)
{
    mrb_gc *gc = &state->mrb->gc;
    mrb_bool failed = FALSE, was_disabled = gc->disabled;
    int arena = mrb_gc_arena_save(state->mrb);
    mrb_value result;
    gc->disabled = TRUE;
    result = rrcm_protect(state->mrb, function, data, &failed);
    gc->disabled = was_disabled;
    mrb_gc_arena_restore(state->mrb, arena);
    return failed ? mrb_nil_value() : result;
}

static mrb_value rrcm_new_node_protected(mrb_state *mrb, void *data)
{
    rrcm_state *state = (rrcm_state *)data;
    struct RArray *list = rrcm_new_array(mrb, 0);
    struct RData *object = mrb_data_object_alloc(mrb, NULL, NULL, &rrcm_node_type);
    rrcm_set_hidden(state, object, mrb_obj_value(list));
    rrcm_reserve_cell(state);
    return mrb_obj_value(object);
}

static void *rrcm_new_node(void *userdata, rrc_object *ob, size_t n)
{
    mrb_value object = rrcm_protect_in_step((rrcm_state *)userdata, rrcm_new_node_protected, userdata);
    (void)ob, (void)n;
    return mrb_nil_p(object) ? NULL : mrb_ptr(object);
}

typedef struct rrcm_resizing {
    struct RArray *list;
    size_t         n;
} rrcm_resizing;

static mrb_value rrcm_resize_protected(mrb_state *mrb, void *data)
{
    const rrcm_resizing *job = (const rrcm_resizing *)data;
    mrb_ary_resize(mrb, mrb_obj_value(job->list), (mrb_int)job->n);
    return mrb_true_value();
}

static int rrcm_write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    rrcm_state *state = (rrcm_state *)userdata;
    rrcm_resizing job = { ((rrcm_cell *)node)->is.list, n };
    size_t i;
    if (n > 0 && mrb_nil_p(rrcm_protect_in_step(state, rrcm_resize_protected, &job)))
        return 1;
    for (i = 0; i < n; i++)
        ARY_PTR(job.list)[i] = mrb_obj_value(targets[i]->object);
    for (; i < (size_t)ARY_LEN(job.list); i++)
        ARY_PTR(job.list)[i] = mrb_nil_value();
    mrb_write_barrier(state->mrb, (struct RBasic *)job.list);
    return 0;
}

static void rrcm_join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    rrcm_set_node((rrcm_state *)userdata, (struct RData *)proxy->object, mrb_obj_value(node->object));
}

/* All wrappers that live are rooted again. */
static void rrcm_root_wrapper(void *arg, rrc_cell *cell)
{
    rrcm_state *state = (rrcm_state *)arg;
    if (rrcm_is_wrapper(cell->ob) && rrcm_is_live(state, cell, 0))
        rrc_touch(state->heap, cell->ob);
}

static void rrcm_dispose_proxy(void *arg, rrc_cell *cell)
{
    if (!rrcm_is_proxy_cell(cell))
        return;
    rrc_cell_unlink(((rrcm_cell *)cell)->state->heap, cell);
    *(int *)arg = 1;
}

/* Each proxy is disposed of. Returns whether there was one. */
static int rrcm_dispose_all(rrcm_state *state)
{
    int has_parted = 0;
    rrc_cell_each(state->heap, rrcm_dispose_proxy, &has_parted);
    return has_parted;
}

/* A collection at once (collects_at_once in rrc_closed.h): the only code of the program that runs in it are the
   dfree functions of its own data, in the sweep. So the dead have been found by then, if there is only one sweep. Where
   there are two, the wrappers do not go this time. */
static void rrcm_collect(void *userdata)
{
    rrcm_state *state = (rrcm_state *)userdata;
    if (state->is_ending) {
        rrcm_dispose_all(state);
        return;
    }
    if (state->wrappers > 0 && !rrcm_is_between_cycles(state->mrb))
        rrc_cell_each(state->heap, rrcm_root_wrapper, state);
    rrcm_full_gc(state->mrb);
}

/* ---- when to do what has to be done ---- */

/* The sentinel is garbage from the start: its dfree runs once in each of mruby's cycles. Raises. */
static void rrcm_new_sentinel(rrcm_state *state)
{
    int arena = mrb_gc_arena_save(state->mrb);
    state->sentinel = mrb_data_object_alloc(state->mrb, NULL, state, &rrcm_sentinel_type);
    mrb_gc_arena_restore(state->mrb, arena);
}

static int rrcm_is_native_too_much(const rrcm_state *state)
{
    size_t limit = state->mrb->gc.live * sizeof(struct RString) * 2;
    if (limit < state->native_before)
        limit = state->native_before;
    if (limit < RRC_MRUBY_NATIVE_BYTES)
        limit = RRC_MRUBY_NATIVE_BYTES;
    return state->native_new >= limit;
}

/* Drop what is kept for a function. NULL: for none. */
static void rrcm_drop(rrcm_state *state, const rrcm_frame *frame)
{
    rrcm_kept **at = &state->kept, *kept;
    while ((kept = *at) != NULL) {
        rrc_object *ob = kept->ob;
        if (kept->frame != frame) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        (void)RRC_MRUBY_REALLOC(kept, 0);
        rrc_decref(state->heap, ob);
        at = &state->kept;                  /* a dealloc may have changed the list */
    }
}

/* Do the pending work, if no fiber has yielded just now. */
static void rrcm_work(rrcm_state *state)
{
    rrcm_drop(state, NULL);
    rrc_run_pending(state->heap, 0);
}

/* Called before something is allocated. Raises for lack of memory. A step waits while mruby marks: all that it lets go
   of would live through this cycle. (Nobody knows whether the program will ever call again: what is new by then stays
   rooted.) */
static void rrcm_run_pending(rrcm_state *state)
{
    int has_cycle_ended = state->sentinel == NULL;
    if (state->mrb->gc.state != MRB_GC_STATE_MARK) {
        if (has_cycle_ended)
            rrcm_new_sentinel(state);
        rrc_closed_keep_up(state->heap, has_cycle_ended, 0);
    }
    if (rrcm_is_native_too_much(state))
        rrc_mruby_collect(state->heap);
    rrcm_work(state);
}

RRC_MRUBY_API int rrc_mruby_step(rrc_heap *heap)
{
    int code;
    if (rrcm_state_of(heap)->is_closed)
        return RRC_ECLOSED;
    code = rrc_closed_step(heap);
    rrcm_work(rrcm_state_of(heap));
    return code;
}

RRC_MRUBY_API size_t rrc_mruby_collect(rrc_heap *heap)
{
    rrcm_state *state = rrcm_state_of(heap);
    size_t count;
    if (state->is_closed)
        return 0;
    /* What mruby has marked so far, would live on, and where its proxy died, as strong. */
    if (!rrcm_is_between_cycles(state->mrb))
        rrcm_full_gc(state->mrb);
    rrcm_work(state);
    count = rrc_gc_collect(heap);
    state->native_before = rrcm_stats(state).native_bytes;
    state->native_new = 0;
    return count;
}

/* Garbage cycles through wrappers go by collections at once only. So before a wrapper gets a proxy there is one, when
   the number of wrappers has doubled, and mruby's heap is not too large for it. */
static void rrcm_collect_wrappers(rrcm_state *state)
{
    int is_first = state->most_wrappers == 0;
    if (state->wrappers < state->most_wrappers)
        return;
    state->most_wrappers = (size_t)-1;      /* for wrappers that deallocs make */
    if (!is_first)
        rrc_mruby_collect(state->heap);
    state->most_wrappers = 2 * state->wrappers + RRC_MRUBY_WRAPPERS
                         + state->mrb->gc.live / RRCM_OBJECTS_OF_A_WRAPPER;
}

RRC_MRUBY_API void rrc_mruby_native_bytes(rrc_heap *heap, ptrdiff_t change)
{
    rrc_native_bytes(heap, change);
}

static void rrcm_native_bytes(void *userdata, ptrdiff_t change)
{
    if (change > 0)
        ((rrcm_state *)userdata)->native_new += (size_t)change;
}

/* ---- values: obs that stand for procs, strings, arrays ... ---- */

static const rrc_type rrcm_value_type = {
    RRC_OBJECT_HEAD_INIT(NULL), "mruby value", sizeof(rrcm_value), 0, 0,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
};

RRC_MRUBY_API int rrc_mruby_is_value(const rrc_object *ob)
{
    return ob->ob_type == &rrcm_value_type;
}

/* The ob that stands for an object of mruby, borrowed, or NULL. */
static rrc_object *rrcm_find_value(rrcm_state *state, mrb_value value)
{
    const rrcm_cell *cell = (const rrcm_cell *)rrc_map_get(&state->values, mrb_ptr(value));
    rrc_object *ob = cell != NULL ? cell->head.ob : NULL;
    return ob != NULL && rrc_cell_of(state->heap, ob) != NULL ? ob : NULL;  /* (another value may be in its place) */
}

static rrcm_value *rrcm_new_value(rrcm_state *state, mrb_value value)
{
    rrcm_value *result = (rrcm_value *)(void *)rrc_new(state->heap, &rrcm_value_type);
    if (result == NULL)
        rrcm_no_memory(state->mrb);
    result->value = value;
    return result;
}

/* A new ob for an object of mruby, in a box. All that can raise comes first. */
static rrc_object *rrcm_box(rrcm_state *state, mrb_value value)
{
    mrb_state *mrb = state->mrb;
    struct RData *box = mrb_data_object_alloc(mrb, NULL, NULL, &rrcm_box_type);
    rrcm_value *result;
    int code;
    rrcm_set_hidden(state, box, value);
    rrcm_reserve_cell(state);
    if (rrc_map_reserve(state->heap, &state->values, 1) != RRC_OK)
        rrcm_no_memory(mrb);
    result = rrcm_new_value(state, value);
    code = rrc_cell_link(state->heap, box, &result->head, RRC_P);
    if (code != RRC_OK) {
        rrc_decref(state->heap, &result->head);
        rrcm_check_code(mrb, code);
    }
    return &result->head;
}

RRC_MRUBY_API rrc_object *rrc_mruby_hold(rrc_heap *heap, mrb_value value)
{
    rrcm_state *state = rrcm_state_of(heap);
    rrc_object *ob;
    int arena;
    if (mrb_nil_p(value) || state->mrb == NULL)
        return NULL;
    rrcm_need_open(state);
    if (mrb_immediate_p(value))
        return &rrcm_new_value(state, value)->head;
    ob = rrc_mruby_test(value, NULL);
    if (ob == NULL)
        ob = rrcm_find_value(state, value);
    if (ob == NULL) {
        arena = mrb_gc_arena_save(state->mrb);
        mrb_gc_protect(state->mrb, value);
        rrcm_run_pending(state);
        ob = rrcm_find_value(state, value);             /* a dealloc may have held it just now */
        if (ob != NULL)
            rrc_incref(heap, ob);
        else
            ob = rrcm_box(state, value);
        mrb_gc_arena_restore(state->mrb, arena);
        return ob;
    }
    rrc_incref(heap, ob);
    return ob;
}

/* ---- classes ---- */

static const char *rrcm_class_name(const rrc_mruby_class *cls)
{
    return cls->name != NULL ? cls->name : cls->type != NULL ? cls->type->tp_name : "object of C";
}

/* The exception that a callback raised, and that rrc_mruby_raise is going to raise; or nil. While mruby code runs,
   those that wait outside of it are below this one: what the code calls must not raise them. */
static mrb_value *rrcm_error_place(const rrcm_state *state)
{
    return &ARY_PTR(state->errors)[ARY_LEN(state->errors) - 1];
}

static void rrcm_set_error(rrcm_state *state, mrb_value exception)
{
    *rrcm_error_place(state) = exception;
    mrb_write_barrier(state->mrb, (struct RBasic *)state->errors);
}

/* Nobody is going to raise it. */
static void rrcm_report_error(rrcm_state *state)
{
    mrb_value exception = *rrcm_error_place(state);
    mrb_bool failed = FALSE;
    if (mrb_nil_p(exception))
        return;
    rrcm_protect(state->mrb, rrcm_report, &exception, &failed);
    *rrcm_error_place(state) = mrb_nil_value();
}

/* Where mruby keeps the state: a global variable whose name scripts cannot say. */
static mrb_value rrcm_holder(mrb_state *mrb)
{
    return mrb_gv_get(mrb, mrb_intern_lit(mrb, RRCM_NAME));
}

/* The heap whose state the holder has. Raises if that is closed. */
static rrc_heap *rrcm_heap_in(mrb_state *mrb, mrb_value holder)
{
    if (DATA_PTR(holder) == NULL)
        mrb_raise(mrb, E_RUNTIME_ERROR, "this mrb_state is being closed");
    return ((rrcm_state *)DATA_PTR(holder))->heap;
}

/* What a method is made from is in its environment: its rrc_mruby_method (NULL: it is "initialize"), its class (NULL:
   it is a class method), and the holder. */
enum { RRCM_OF_METHOD, RRCM_OF_CLASS, RRCM_OF_HOLDER };

static const mrb_value *rrcm_environment(const mrb_state *mrb)
{
    return MRB_PROC_ENV(mrb->c->ci->proc)->stack;
}

static void rrcm_get_arguments(rrc_mruby_args *a, mrb_state *mrb, mrb_value self, const char *letters)
{
    const char *letter = letters != NULL ? letters : "", *bar = strchr(letter, '|');
    const mrb_value *given;
    mrb_int count;
    int possible = (int)strlen(letter) - (bar != NULL), needed = bar != NULL ? (int)(bar - letter) : possible, i;
    a->mrb = mrb;
    a->heap = rrcm_heap_in(mrb, rrcm_environment(mrb)[RRCM_OF_HOLDER]);
    a->self = self;
    mrb_get_args(mrb, "*!&", &given, &count, &a->block);
    if (count > possible || count < needed)
        mrb_argnum_error(mrb, count, needed, possible);
    if (possible > RRC_MRUBY_MAX_ARGUMENTS)
        mrb_raise(mrb, E_SCRIPT_ERROR, "rrc_mruby.h: too many letters in `arguments`");
    a->count = (int)count;
    for (i = 0; i < possible; i++)
        a->arg[i].value = i < a->count ? given[i] : mrb_nil_value();
    for (i = 0; i < a->count; letter++) {
        mrb_value *value = &a->arg[i].value;
        switch (*letter) {
        case '|':
            continue;
        case 'z':
            a->arg[i].string = mrb_string_value_cstr(mrb, value);
            break;
        case 'i':
            a->arg[i].integer = mrb_as_int(mrb, *value);
            break;
        case 'f':
#ifdef MRB_NO_FLOAT
            a->arg[i].number = (double)mrb_as_int(mrb, *value);
#else
            a->arg[i].number = (double)mrb_as_float(mrb, *value);
#endif
            break;
        case 'o':
            break;
        default:
            mrb_raisef(mrb, E_SCRIPT_ERROR, "rrc_mruby.h: no such letter in `arguments`: %c", *letter);
        }
        i++;
    }
}

/* The outermost function at work that has the proxy as self or as an argument, or NULL. */
static rrcm_frame *rrcm_user_of(const rrcm_state *state, mrb_value proxy)
{
    rrcm_frame *frame, *user = NULL;
    int i;
    for (frame = state->frames; frame != NULL; frame = frame->outer) {
        int uses = mrb_obj_eq(state->mrb, frame->args.self, proxy);
        for (i = 0; i < frame->args.count && !uses; i++)
            uses = mrb_obj_eq(state->mrb, frame->args.arg[i].value, proxy);
        if (uses)
            user = frame;
    }
    return user;
}

/* Keep a reference for a frame. Returns 0 if memory is lacking. */
static int rrcm_keep(rrcm_state *state, rrcm_frame *frame, rrc_object *ob)
{
    rrcm_kept *kept = (rrcm_kept *)RRC_MRUBY_REALLOC(NULL, sizeof *kept);
    if (kept == NULL)
        return 0;
    kept->next = state->kept;
    kept->ob = ob;
    kept->frame = frame;
    state->kept = kept;
    frame->keeps = 1;
    return 1;
}

/* Drop what was disposed of. If the function has yielded a fiber, as mrb_fiber_yield does, its result belongs to
   another one, and no mruby code can run before mruby has got it: then this waits. Else the deallocs may call mruby.
   That must not change how the function ends: with its result, or with an exception (or a break) in mrb->exc. The
   exception that waits for rrc_mruby_raise stays, too. Nobody waits for those of the deallocs. */
static void rrcm_drop_kept(rrcm_state *state, const rrcm_frame *frame)
{
    mrb_state *mrb = state->mrb;
    struct RObject *leaving = mrb->exc;
    mrb_value waiting = *rrcm_error_place(state);
    rrcm_kept *kept;
    if (mrb->c != frame->context) {
        for (kept = state->kept; kept != NULL; kept = kept->next)
            if (kept->frame == frame)
                kept->frame = NULL;
        return;
    }
    mrb_gc_arena_restore(mrb, frame->arena);
    mrb_gc_protect(mrb, leaving != NULL ? mrb_obj_value(leaving) : frame->result);
    mrb_gc_protect(mrb, waiting);
    mrb->exc = NULL;
    *rrcm_error_place(state) = mrb_nil_value();
    rrcm_drop(state, frame);
    rrcm_work(state);
    rrcm_report_error(state);
    rrcm_set_error(state, waiting);
    mrb->exc = leaving;
}

/* Call a function of a table. */
static mrb_value rrcm_call_function(rrcm_frame *frame, mrb_value (*function)(const rrc_mruby_args *a))
{
    mrb_state *mrb = frame->args.mrb;
    rrcm_state *state = rrcm_state_of(frame->args.heap);
    struct mrb_jmpbuf *previous = mrb->jmp;
    struct mrb_jmpbuf jump;
    frame->context = mrb->c;
    frame->arena = mrb_gc_arena_save(mrb);
    frame->result = mrb_nil_value();
    frame->outer = state->frames;
    state->frames = frame;
    MRB_TRY(&jump) {
        mrb->jmp = &jump;
        frame->result = function(&frame->args);
    } MRB_CATCH(&jump) {
        frame->is_left = 1;
    } MRB_END_EXC(&jump);
    mrb->jmp = previous;
    state->frames = frame->outer;
    if (frame->keeps)
        rrcm_drop_kept(state, frame);
    if (frame->is_left)
        MRB_THROW(previous);
    return frame->result;
}

static mrb_value rrcm_make_and_init(const rrc_mruby_args *a)
{
    const rrc_mruby_class *cls = (const rrc_mruby_class *)mrb_cptr(rrcm_environment(a->mrb)[RRCM_OF_CLASS]);
    return rrc_mruby_init(a->heap, a->self, cls->make(a));
}

static mrb_value rrcm_method(mrb_state *mrb, mrb_value self)
{
    const rrc_mruby_method *method = (const rrc_mruby_method *)mrb_cptr(rrcm_environment(mrb)[RRCM_OF_METHOD]);
    const rrc_mruby_class *cls = (const rrc_mruby_class *)mrb_cptr(rrcm_environment(mrb)[RRCM_OF_CLASS]);
    rrcm_frame frame;
    memset(&frame, 0, sizeof frame);
    rrcm_get_arguments(&frame.args, mrb, self, method != NULL ? method->arguments : cls->arguments);
    if (method == NULL)
        return rrcm_call_function(&frame, rrcm_make_and_init);
    if (cls != NULL)
        frame.args.ob = rrc_mruby_unwrap(mrb, self, cls);
    return rrcm_call_function(&frame, method->function);
}

static void rrcm_define_method(mrb_state *mrb, struct RClass *klass, const char *name, const rrc_mruby_method *method,
                               const rrc_mruby_class *cls)
{
    int arena = mrb_gc_arena_save(mrb);
    mrb_value environment[3];
    mrb_method_t entry;
    struct RProc *proc;
    environment[RRCM_OF_METHOD] = mrb_cptr_value(mrb, (void *)(uintptr_t)method);
    environment[RRCM_OF_CLASS] = mrb_cptr_value(mrb, (void *)(uintptr_t)cls);
    environment[RRCM_OF_HOLDER] = rrcm_holder(mrb);
    proc = mrb_proc_new_cfunc_with_env(mrb, rrcm_method, 3, environment);
    MRB_METHOD_FROM_PROC(entry, proc);
    mrb_define_method_raw(mrb, klass, mrb_intern_cstr(mrb, name), entry);
    mrb_gc_arena_restore(mrb, arena);
}

RRC_MRUBY_API struct RClass *rrc_mruby_define_class(mrb_state *mrb, struct RClass *outer,
                                                    const rrc_mruby_class *cls)
{
    rrcm_state *state = rrcm_state_of(rrc_mruby_heap(mrb));
    struct RClass *base = state->object_class, *klass = (struct RClass *)rrc_map_get(&state->classes, cls);
    const rrc_mruby_method *method;
    if (klass != NULL)
        return klass;
    if (cls->base != NULL)
        base = rrc_mruby_define_class(mrb, outer, cls->base);
    if (outer == NULL)
        outer = mrb->object_class;
    klass = mrb_define_class_under(mrb, outer, rrcm_class_name(cls), base);
    MRB_SET_INSTANCE_TT(klass, MRB_TT_DATA);
    if (cls->make != NULL)
        rrcm_define_method(mrb, klass, "initialize", NULL, cls);
    for (method = cls->methods; method != NULL && method->name != NULL; method++)
        rrcm_define_method(mrb, klass, method->name, method, cls);
    for (method = cls->class_methods; method != NULL && method->name != NULL; method++)
        rrcm_define_method(mrb, mrb_class_ptr(mrb_singleton_class(mrb, mrb_obj_value(klass))), method->name, method,
                           NULL);
    mrb_ary_push(mrb, mrb_obj_value(state->roots), mrb_obj_value(klass));
    if (rrc_map_reserve(state->heap, &state->classes, 2) != RRC_OK)
        rrcm_no_memory(mrb);
    rrc_map_put(&state->classes, cls, klass);
    if (cls->type != NULL)
        rrc_map_put(&state->classes, cls->type, (void *)(uintptr_t)cls);
    return klass;
}

/* ---- proxies ---- */

/* Is the value a data object of this type? */
static int rrcm_is_data(mrb_value value, const mrb_data_type *type)
{
    return mrb_data_p(value) && DATA_TYPE(value) == type;
}

RRC_MRUBY_API rrc_object *rrc_mruby_test(mrb_value value, const rrc_mruby_class *cls)
{
    const rrcm_cell *cell = rrcm_is_data(value, &rrcm_proxy_type) ? (const rrcm_cell *)DATA_PTR(value) : NULL;
    const rrc_mruby_class *is;
    if (cell == NULL)
        return NULL;
    for (is = cell->is.cls; cls != NULL && is != cls; is = is->base)
        if (is == NULL)
            return NULL;
    return cell->head.ob;
}

static void rrcm_bad_value(mrb_state *mrb, mrb_value value, const rrc_mruby_class *cls)
{
    rrcm_state *state = rrcm_state_of(rrc_mruby_heap(mrb));
    struct RClass *wanted = (struct RClass *)rrc_map_get(&state->classes, cls);
    mrb_value given = mrb_obj_value(mrb_obj_class(mrb, value));
    if (rrcm_is_data(value, &rrcm_disposed_type))
        mrb_raisef(mrb, state->disposed_error, "this %v was disposed of", given);
    if (mrb_obj_is_kind_of(mrb, value, wanted != NULL ? wanted : state->object_class))
        mrb_raisef(mrb, E_TYPE_ERROR, "this %v was not initialized: call super in initialize", given);
    if (wanted != NULL)
        mrb_raisef(mrb, E_TYPE_ERROR, "%C expected, got %v", wanted, given);
    mrb_raisef(mrb, E_TYPE_ERROR, "%s expected, got %v",
               cls != NULL ? rrcm_class_name(cls) : "an object of C", given);
}

RRC_MRUBY_API rrc_object *rrc_mruby_unwrap(mrb_state *mrb, mrb_value value, const rrc_mruby_class *cls)
{
    rrc_object *ob = rrc_mruby_test(value, cls);
    if (ob == NULL)
        rrcm_bad_value(mrb, value, cls);
    return ob;
}

/* Make object the proxy of ob, which has none. Raises before anything is changed. (By a P link: scripts can give any
   proxy instance variables and singleton methods, and mruby tells nobody. So C keeps each one.) */
static void rrcm_link_proxy(rrcm_state *state, struct RData *object, rrc_object *ob, const rrc_mruby_class *cls)
{
    if ((ob->ob_type->tp_flags & RRC_TPFLAGS_HAVE_GC) != 0)
        rrcm_set_hidden(state, object, mrb_nil_value());
    rrcm_reserve_cell(state);
    object->type = &rrcm_proxy_type;
    rrcm_check_code(state->mrb, rrc_cell_link(state->heap, object, ob, RRC_P));
    ((rrcm_cell *)object->data)->is.cls = cls;
    if (ob->ob_type->tp_size != NULL)
        rrc_measure(state->heap, ob);
}

/* Raises, unless self can become the proxy of ob. */
static void rrcm_check_self(rrcm_state *state, mrb_value self, rrc_object *ob, struct RClass *klass)
{
    mrb_state *mrb = state->mrb;
    mrb_value given = mrb_obj_value(mrb_obj_class(mrb, self));
    if (!mrb_data_p(self) || !mrb_obj_is_kind_of(mrb, self, klass))
        mrb_raisef(mrb, E_TYPE_ERROR, "%C expected, got %v", klass, given);
    if (DATA_TYPE(self) != NULL)
        mrb_raisef(mrb, E_TYPE_ERROR, "this %v is initialized already", given);
    if (rrc_mruby_is_value(ob))
        mrb_raisef(mrb, E_TYPE_ERROR, "what was given to this %v stands for a value", given);
    if (rrc_cell_of(state->heap, ob) != NULL)
        mrb_raisef(mrb, E_TYPE_ERROR, "what this %v is to stand for has a proxy already", given);
}

typedef struct rrcm_wrapping {
    rrcm_state *state;
    rrc_object *ob;
    mrb_value   self;           /* of rrc_mruby_init; else undef */
} rrcm_wrapping;

static mrb_value rrcm_wrap_protected(mrb_state *mrb, void *data)
{
    const rrcm_wrapping *job = (const rrcm_wrapping *)data;
    rrcm_state *state = job->state;
    const rrc_mruby_class *cls;
    struct RClass *klass = state->object_class;
    mrb_value self = job->self;
    rrc_cell *cell;
    rrcm_run_pending(state);
    if (rrcm_is_wrapper(job->ob))
        rrcm_collect_wrappers(state);
    cls = (const rrc_mruby_class *)rrc_map_get(&state->classes, job->ob->ob_type);
    if (cls != NULL)
        klass = (struct RClass *)rrc_map_get(&state->classes, cls);
    if (mrb_undef_p(self)) {
        self = mrb_obj_value(mrb_data_object_alloc(mrb, klass, NULL, &rrcm_proxy_type));
        cell = rrc_cell_of(state->heap, job->ob);       /* a dealloc may have made one just now */
        if (cell != NULL)
            return mrb_obj_value(cell->object);
    } else {
        rrcm_check_self(state, self, job->ob, klass);
    }
    rrcm_link_proxy(state, RDATA(self), job->ob, cls);
    return self;
}

/* Wrap ob and drop a reference to it, in any case. */
static mrb_value rrcm_wrap_and_drop(rrcm_state *state, mrb_value self, rrc_object *ob)
{
    mrb_state *mrb = state->mrb;
    int arena = mrb_gc_arena_save(mrb);
    mrb_bool failed = FALSE;
    rrcm_wrapping job = { state, ob, self };
    mrb_value result;
    if (ob == NULL)
        rrcm_no_memory(mrb);
    result = rrcm_protect(mrb, rrcm_wrap_protected, &job, &failed);
    rrc_decref(state->heap, ob);
    if (failed)
        mrb_exc_raise(mrb, result);
    mrb_gc_arena_restore(mrb, arena);
    mrb_gc_protect(mrb, result);
    return result;
}

/* What ob is in mruby, if that is to be had without allocating; else undef. */
static mrb_value rrcm_existing(rrcm_state *state, rrc_object *ob)
{
    const rrc_cell *cell = rrc_cell_of(state->heap, ob);        /* (if a value is dead, it is gone now) */
    if (rrc_mruby_is_value(ob))
        return ((rrcm_value *)(void *)ob)->value;
    return cell != NULL ? mrb_obj_value(cell->object) : mrb_undef_value();
}

RRC_MRUBY_API mrb_value rrc_mruby_wrap(rrc_heap *heap, rrc_object *ob)
{
    rrcm_state *state = rrcm_state_of(heap);
    mrb_state *mrb = state->mrb;
    mrb_value result;
    if (ob == NULL || state->is_closed)
        return mrb_nil_value();
    result = rrcm_existing(state, ob);
    if (mrb_undef_p(result)) {
        if (rrc_refcnt(ob) == 0)
            mrb_raisef(mrb, E_RUNTIME_ERROR, "this %s is being deallocated", ob->ob_type->tp_name);
        rrc_incref(heap, ob);           /* pending deallocs may drop the last reference */
        return rrcm_wrap_and_drop(state, result, ob);
    }
    mrb_gc_protect(mrb, result);
    return result;
}

RRC_MRUBY_API mrb_value rrc_mruby_wrap_new(rrc_heap *heap, rrc_object *ob)
{
    rrcm_state *state = rrcm_state_of(heap);
    mrb_value result;
    if (!state->is_closed && (ob == NULL || mrb_undef_p(rrcm_existing(state, ob))))
        return rrcm_wrap_and_drop(state, mrb_undef_value(), ob);
    result = rrc_mruby_wrap(heap, ob);
    if (ob != NULL)
        rrc_decref(heap, ob);
    return result;
}

RRC_MRUBY_API mrb_value rrc_mruby_init(rrc_heap *heap, mrb_value self, rrc_object *ob)
{
    rrcm_state *state = rrcm_state_of(heap);
    if (ob != NULL && state->is_closed) {
        rrc_decref(heap, ob);
        rrcm_need_open(state);
    }
    return rrcm_wrap_and_drop(state, self, ob);
}

RRC_MRUBY_API void rrc_mruby_dispose(mrb_state *mrb, mrb_value proxy)
{
    rrcm_state *state = rrcm_state_of(rrc_mruby_heap(mrb));
    const rrc_mruby_class *cls;
    rrcm_frame *user = NULL;
    rrc_object *ob;
    if (rrcm_is_data(proxy, &rrcm_disposed_type))
        return;
    ob = rrc_mruby_unwrap(mrb, proxy, NULL);
    rrc_incref(state->heap, ob);
    cls = ((rrcm_cell *)DATA_PTR(proxy))->is.cls;
    while (cls != NULL && cls->close == NULL)
        cls = cls->base;
    if (cls != NULL)
        rrcm_guard(state->heap, cls->close, ob);
    if (rrc_mruby_test(proxy, NULL) == ob) {            /* not done by close */
        user = rrcm_user_of(state, proxy);
        if (user != NULL && !rrcm_keep(state, user, ob)) {
            rrc_decref(state->heap, ob);
            rrcm_no_memory(mrb);
        }
        rrc_cell_unlink(state->heap, (rrc_cell *)DATA_PTR(proxy));
        rrcm_set_node(state, RDATA(proxy), mrb_nil_value());
    }
    if (user == NULL)
        rrc_decref(state->heap, ob);
    rrcm_work(state);
    rrc_mruby_raise(state->heap);
}

/* ---- calls ---- */

typedef struct rrcm_protected {
    rrcm_state *state;
    mrb_value (*function)(mrb_state *mrb, void *data);
    void       *data;
} rrcm_protected;

static mrb_value rrcm_call_protected(mrb_state *mrb, void *data)
{
    const rrcm_protected *job = (const rrcm_protected *)data;
    if (!mrb_nil_p(*rrcm_error_place(job->state)))
        mrb_ary_push(mrb, mrb_obj_value(job->state->errors), mrb_nil_value());
    return job->function(mrb, job->data);
}

RRC_MRUBY_API int rrc_mruby_protect(rrc_heap *heap, mrb_value (*function)(mrb_state *mrb, void *data),
                                    void *data, mrb_value *result)
{
    rrcm_state *state = rrcm_state_of(heap);
    rrcm_protected job = { state, function, data };
    mrb_int count;
    mrb_bool failed = FALSE;
    mrb_value value;
    if (result != NULL)
        *result = mrb_nil_value();
    if (state->is_closed)
        return 1;
    count = ARY_LEN(state->errors);
    value = rrcm_protect(state->mrb, rrcm_call_protected, &job, &failed);
    if (failed && (mrb_nil_p(*rrcm_error_place(state)) || ARY_LEN(state->errors) > count)) {
        rrcm_report_error(state);
        rrcm_set_error(state, value);
    }
    if (ARY_LEN(state->errors) > count) {               /* the one below waits again, and this one is for nobody */
        rrcm_report_error(state);
        mrb_ary_pop(state->mrb, mrb_obj_value(state->errors));
    }
    if (!failed && result != NULL)
        *result = value;
    return failed;
}

typedef struct rrcm_calling {
    rrc_heap          *heap;
    rrc_object        *callback;
    size_t             n;
    rrc_object *const *args;
} rrcm_calling;

static mrb_value rrcm_call(mrb_state *mrb, void *data)
{
    const rrcm_calling *job = (const rrcm_calling *)data;
    mrb_value callback = rrc_mruby_wrap(job->heap, job->callback);
    mrb_value args = mrb_ary_new_capa(mrb, (mrb_int)job->n);
    mrb_sym name = rrcm_state_of(job->heap)->call_name;
    size_t i;
    if (mrb_nil_p(callback))
        mrb_raise(mrb, E_RUNTIME_ERROR, "the callback is gone: it was garbage with all that refers to it");
    for (i = 0; i < job->n; i++)
        mrb_ary_push(mrb, args, rrc_mruby_wrap(job->heap, job->args[i]));
    return mrb_funcall_argv(mrb, callback, name, (mrb_int)job->n, RARRAY_PTR(args));
}

static mrb_value rrcm_run_pending_protected(mrb_state *mrb, void *data)
{
    (void)mrb;
    rrcm_run_pending((rrcm_state *)data);
    return mrb_nil_value();
}

RRC_MRUBY_API int rrc_mruby_call(rrc_heap *heap, rrc_object *callback, size_t n, rrc_object *const *args)
{
    rrcm_state *state = rrcm_state_of(heap);
    mrb_state *mrb = state->mrb;
    rrcm_calling job = { heap, callback, n, args };
    mrb_bool has_raised = FALSE;
    int arena, failed;
    if (mrb == NULL)
        return 1;
    arena = mrb_gc_arena_save(mrb);
    failed = rrc_mruby_protect(heap, rrcm_call, &job, NULL);
    /* A program may do nothing else but call. (An exception that waits for rrc_mruby_raise must not be replaced by one
       of a dealloc, which nobody waits for.) */
    if (!state->is_closed && mrb_nil_p(*rrcm_error_place(state))) {
        rrcm_protect(mrb, rrcm_run_pending_protected, state, &has_raised);
        rrcm_report_error(state);
    }
    mrb_gc_arena_restore(mrb, arena);
    return failed;
}

RRC_MRUBY_API void rrc_mruby_raise(rrc_heap *heap)
{
    rrcm_state *state = rrcm_state_of(heap);
    mrb_value exception;
    if (state->is_closed)
        return;
    exception = *rrcm_error_place(state);
    if (mrb_nil_p(exception))
        return;
    *rrcm_error_place(state) = mrb_nil_value();
    mrb_exc_raise(state->mrb, exception);
}

/* ---- what scripts have: the module Rawrefcount ---- */

static mrb_value rrcm_script_collect(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_int_value(mrb, (mrb_int)rrc_mruby_collect(rrc_mruby_heap(mrb)));
}

static mrb_value rrcm_script_step(mrb_state *mrb, mrb_value self)
{
    int code = rrc_mruby_step(rrc_mruby_heap(mrb));
    (void)self;
    if (code != RRC_EPHASE)
        rrcm_check_code(mrb, code);
    return mrb_bool_value(code == RRC_OK);
}

static mrb_value rrcm_script_check(mrb_state *mrb, mrb_value self)
{
    (void)self;
    rrcm_check_code(mrb, rrc_check(rrc_mruby_heap(mrb)));
    return mrb_true_value();
}

static mrb_value rrcm_script_stats(mrb_state *mrb, mrb_value self)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    mrb_value result = mrb_hash_new(mrb);
    rrc_stats stats = rrcm_stats(rrcm_state_of(heap));
    rrc_closed_stats closed;
    (void)self;
    (void)rrc_closed_get_stats(heap, &closed);
#define RRCM_STAT(name, number) mrb_hash_set(mrb, result, mrb_symbol_value(mrb_intern_lit(mrb, name)), \
                                             mrb_int_value(mrb, (mrb_int)(number)))
    RRCM_STAT("objects", stats.objects);
    RRCM_STAT("links", stats.p_young + stats.p_old + stats.o_young + stats.o_old);
    RRCM_STAT("wrappers", rrcm_state_of(heap)->wrappers);
    RRCM_STAT("values", rrcm_state_of(heap)->values.count);
    RRCM_STAT("tracked", stats.tracked);
    RRCM_STAT("weak", rrc_closed_count_weak(heap));
    RRCM_STAT("nodes", closed.edge_nodes);
    RRCM_STAT("steps", closed.mirror_steps);
    RRCM_STAT("mirrored", closed.mirrored);
    RRCM_STAT("pending", stats.pending);
    RRCM_STAT("garbage", stats.garbage);
    RRCM_STAT("uncollectable", stats.uncollectable);
    RRCM_STAT("memory", stats.memory);
    RRCM_STAT("object_bytes", stats.object_bytes);
    RRCM_STAT("pending_bytes", stats.pending_bytes);
    RRCM_STAT("native", stats.native_bytes);
#undef RRCM_STAT
    return result;
}

static mrb_value rrcm_script_dispose(mrb_state *mrb, mrb_value self)
{
    rrc_mruby_dispose(mrb, self);
    return mrb_nil_value();
}

static mrb_value rrcm_script_is_disposed(mrb_state *mrb, mrb_value self)
{
    (void)mrb;
    return mrb_bool_value(rrcm_is_data(self, &rrcm_disposed_type));
}

static mrb_value rrcm_script_initialize(mrb_state *mrb, mrb_value self)
{
    mrb_raisef(mrb, E_TYPE_ERROR, "%C cannot be made by new", mrb_obj_class(mrb, self));
    return self;
}

static mrb_value rrcm_script_initialize_copy(mrb_state *mrb, mrb_value self)
{
    mrb_raisef(mrb, E_TYPE_ERROR, "%C cannot be copied", mrb_obj_class(mrb, self));
    return self;
}

static void rrcm_define_module(rrcm_state *state)
{
    mrb_state *mrb = state->mrb;
    struct RClass *module = mrb_define_module(mrb, "Rawrefcount"), *object;
    mrb_define_module_function(mrb, module, "collect", rrcm_script_collect, MRB_ARGS_NONE());
    mrb_define_module_function(mrb, module, "step", rrcm_script_step, MRB_ARGS_NONE());
    mrb_define_module_function(mrb, module, "check", rrcm_script_check, MRB_ARGS_NONE());
    mrb_define_module_function(mrb, module, "stats", rrcm_script_stats, MRB_ARGS_NONE());
    state->disposed_error = mrb_define_class_under(mrb, module, "DisposedError", E_RUNTIME_ERROR);
    object = state->object_class = mrb_define_class_under(mrb, module, "Object", mrb->object_class);
    MRB_SET_INSTANCE_TT(object, MRB_TT_DATA);
    mrb_define_method(mrb, object, "dispose", rrcm_script_dispose, MRB_ARGS_NONE());
    mrb_define_method(mrb, object, "disposed?", rrcm_script_is_disposed, MRB_ARGS_NONE());
    mrb_define_method(mrb, object, "initialize", rrcm_script_initialize, MRB_ARGS_ANY());
    mrb_define_method(mrb, object, "initialize_copy", rrcm_script_initialize_copy, MRB_ARGS_REQ(1));
    mrb_ary_push(mrb, mrb_obj_value(state->roots), mrb_obj_value(state->disposed_error));
    mrb_ary_push(mrb, mrb_obj_value(state->roots), mrb_obj_value(state->object_class));
}

/* ---- states ---- */

RRC_MRUBY_API mrb_state *rrc_mruby_state(rrc_heap *heap)
{
    rrcm_state *state = rrcm_state_of(heap);
    return state->is_closed ? NULL : state->mrb;
}

/* While mruby still works: owners go first, if mruby refers to them no more. Then no proxy is left, and what C does not
   hold is deallocated, cycles of C included. So slots find what their objects own. */
static void rrcm_part_proxies(rrcm_state *state)
{
    int arena = mrb_gc_arena_save(state->mrb);
    int rounds = 10;                        /* slots can go on making objects, and proxies */
    rrc_stats before, after;
    rrc_closed_collect_in_order(state->heap);
    if (state->wrappers > 0) {
        state->is_ending = 1;               /* a collection at once whose dead are all proxies: so tp_clear breaks */
        rrc_gc_collect(state->heap);        /* foreign cycles */
        state->is_ending = 0;
    }
    rrcm_dispose_all(state);
    do {
        before = rrcm_stats(state);
        rrc_closed_step(state->heap);
        rrcm_work(state);
        after = rrcm_stats(state);
    } while ((rrcm_dispose_all(state) || after.objects != before.objects || after.finalizable != before.finalizable)
             && --rounds > 0);
    mrb_gc_arena_restore(state->mrb, arena);
}

/* mrb_close, before mruby's objects are freed. */
static void rrcm_close(mrb_state *mrb)
{
    mrb_value holder = rrcm_holder(mrb);
    rrcm_state *state;
    if (!mrb_data_p(holder) || DATA_PTR(holder) == NULL)
        return;
    state = (rrcm_state *)DATA_PTR(holder);
    rrcm_part_proxies(state);
    DATA_PTR(holder) = NULL;
    state->is_closed = 1;
    if (state->sentinel != NULL)
        state->sentinel->data = NULL;
    rrc_map_free(state->heap, &state->values);
    rrc_map_free(state->heap, &state->classes);
    rrc_heap_free(state->heap);
    state->mrb = NULL;                      /* from now on the last memory of the heap takes the state with it */
    (void)rrcm_heap_realloc(state, NULL, 0, 0);
}

static mrb_value rrcm_open_protected(mrb_state *mrb, void *data)
{
    rrcm_state *state = (rrcm_state *)data;
    static const rrc_closed_desc closed = { rrcm_pin, rrcm_new_node, rrcm_write_node, rrcm_join, rrcm_watch, rrcm_forget,
                                            rrcm_is_live, sizeof(rrcm_cell), 1 };
    mrb_value holder;
    rrc_desc desc;
    state->hidden_name = mrb_intern_lit(mrb, RRCM_NAME);
    state->call_name = mrb_intern_lit(mrb, "call");
    state->roots = rrcm_new_array(mrb, 0);
    mrb_gc_register(mrb, mrb_obj_value(state->roots));
    state->errors = rrcm_new_array(mrb, 1);
    mrb_ary_push(mrb, mrb_obj_value(state->roots), mrb_obj_value(state->errors));
    state->anchors = rrcm_new_array(mrb, 0);
    mrb_ary_push(mrb, mrb_obj_value(state->roots), mrb_obj_value(state->anchors));
    rrcm_define_module(state);
    holder = mrb_obj_value(mrb_data_object_alloc(mrb, NULL, NULL, &rrcm_state_type));
    mrb_gv_set(mrb, state->hidden_name, holder);
    mrb_state_atexit(mrb, rrcm_close);
    memset(&desc, 0, sizeof desc);
    desc.userdata = state;
    desc.collect = rrcm_collect;
    desc.realloc = rrcm_heap_realloc;
    desc.native_bytes = rrcm_native_bytes;
    state->heap = rrc_closed_new(&desc, &closed);
    if (state->heap == NULL)
        rrcm_no_memory(mrb);
    DATA_PTR(holder) = state;
    rrc_closed_step(state->heap);           /* from now on weak objects stay weak: see >>mirror in rrc_closed.h */
    return mrb_nil_value();
}

static rrc_heap *rrcm_open(mrb_state *mrb)
{
    int arena = mrb_gc_arena_save(mrb);
    rrcm_state *state = (rrcm_state *)RRC_MRUBY_REALLOC(NULL, sizeof *state);
    mrb_bool failed = FALSE;
    mrb_value exception;
    if (state == NULL)
        rrcm_no_memory(mrb);
    memset(state, 0, sizeof *state);
    state->mrb = mrb;
    exception = rrcm_protect(mrb, rrcm_open_protected, state, &failed);
    if (failed) {
        mrb_gv_remove(mrb, mrb_intern_lit(mrb, RRCM_NAME));
        (void)RRC_MRUBY_REALLOC(state, 0);
        mrb_exc_raise(mrb, exception);
    }
    mrb_gc_arena_restore(mrb, arena);
    return state->heap;
}

RRC_MRUBY_API rrc_heap *rrc_mruby_heap(mrb_state *mrb)
{
    mrb_value holder = rrcm_holder(mrb);
    if (!mrb_data_p(holder))
        return rrcm_open(mrb);
    return rrcm_heap_in(mrb, holder);
}

#endif /* RRC_MRUBY_IMPLEMENTATION */
