/* internal.h - what the files behind Python.h share. */
#ifndef CPY_INTERNAL_H
#define CPY_INTERNAL_H

#define CPY_VM                      /* these files are the VM: see Py_INCREF */
#include "../include/structmember.h"

#include "../../compactvm/lisp/lisp.h"
#include "hostdict.h"

/* ---- the VM of a call: state.c ------------------------------------------
 *
 * It is the thread's current one. Whoever calls an extension sets it for the time of the call. */

extern __thread cvm *py_vm;

/* What a VM keeps for an object that all VMs share, such as a static type. */
typedef struct py_static {
    PyObject *ob;                   /* NULL: the place is free */
    cvm_value proxy;                /* or CVM_NONE */
    PyObject *dict;                 /* of a static type */
} py_static;

typedef struct py_file {
    char *name, *path;
} py_file;

/* Objects that went are kept for the next one of their kind: see spare.c. An int is kept by its number of digits, a
 * tuple by its number of items, and the memory of others by its size in words, without and with
 * Py_TPFLAGS_HAVE_GC. */
enum {
    PY_SPARE_NONE, PY_SPARE_FLOAT, PY_SPARE_TEXT, PY_SPARE_INT, PY_SPARE_TUPLE = PY_SPARE_INT + 3,
    PY_SPARE_MEMORY = PY_SPARE_TUPLE + 9, PY_SPARE_GC_MEMORY = PY_SPARE_MEMORY + 17,
    PY_SPARE_KINDS = PY_SPARE_GC_MEMORY + 17
};
#define PY_SPARE_DIGITS (PY_SPARE_TUPLE - PY_SPARE_INT)
#define PY_SPARE_ITEMS (PY_SPARE_MEMORY - PY_SPARE_TUPLE)
#define PY_SPARE_WORDS (PY_SPARE_GC_MEMORY - PY_SPARE_MEMORY)

typedef struct py_spare {
    size_t count;
    PyObject *of[32];
} py_spare;

/* The result of a lookup in a type, which may be NULL, is valid as long as py_state.changes is this. The name is
 * interned, so that it stays. */
typedef struct py_lookup {
    PyTypeObject *type;
    PyObject *name, *value;
    size_t changes;
} py_lookup;

typedef struct py_state {
    py_lookup lookup[256];
    size_t changes;                 /* of types, ever */
    py_spare spare[PY_SPARE_KINDS];
    PyObject *dying;                /* its tp_dealloc is running; NULL: and has freed it, so that it can be kept */
    int keeps_tuple;                /* the items of a tuple are being dropped, which is kept then */
    py_static *statics;             /* open addressing, power of two */
    size_t static_capacity, static_count;
    PyObject *handled;              /* NULL, or the exception that C is dealing with: see PyErr_SetHandledException */
    PyObject *flying;               /* the exception of the error that is on its way up in the language */
    size_t flying_at;               /* vm->error.number when it took off */
    PyObject **in_repr;             /* objects whose text is being made: see Py_ReprEnter */
    size_t repr_count, repr_capacity;
    PyObject *modules;              /* by name */
    const char *importing;          /* NULL, or the name of the module whose function of initialization runs */
    PyObject *interned, *empty_tuple;
    PyObject *unraisable;           /* NULL, or what gets exceptions that nobody else can get */
    struct _PyWeakReference *told, *last_told;      /* their objects went, and their callbacks are still to be called */
    PyObject *error_handlers, *codec_searches, *codecs;     /* NULL, or what PyCodec_ functions registered; the known codecs */
    PyObject *context;              /* NULL, or the one that is entered, or was made when a variable was set: see context.c */
    PyObject *dict;                 /* NULL, or that of PyThreadState_GetDict */
    void (*at_exit[32])(void);      /* of Py_AtExit */
    size_t at_exit_count;
    PyObject *defs;                 /* modules of single-phase definitions, by the address of these */
    py_file *files;                 /* modules that are in shared objects */
    size_t file_count;
    PyThreadState thread;
    int ended;                      /* the VM ends: no program runs any more */
    struct py_borrows *borrows;     /* in debug builds: see borrow.c */
} py_state;

static inline py_state *py_state_of(const cvm *vm)
{
    return vm->state[CVM_API];
}
#define PY (py_state_of(py_vm))

py_static *py_static_of(PyObject *op);      /* made if there is none. NULL: no memory */
extern const cvm_layer cvm_python_layer;

/* ---- objects that are kept for the next one: spare.c ---------------------- */

unsigned char py_spare_kind(const PyTypeObject *type);  /* the first one of its objects; PY_SPARE_NONE: none is kept */
static inline int py_is_kept_whole(const PyTypeObject *type)
{
    return type->ob_base.spare != PY_SPARE_NONE && type->ob_base.spare < PY_SPARE_MEMORY;
}
int py_keep(PyObject *op);              /* it has no reference and no link, and may be kept whole. 1: it is kept */
int py_keep_memory(PyObject *op);       /* it is freed. 1: it will be kept, when its tp_dealloc is done */
void py_run_dealloc(PyObject *op);      /* its tp_dealloc */
void py_drop_spare(cvm *vm);

/* One that was kept, or NULL. A number is as it was, a tuple has no items, a str has nothing. */
static inline PyObject *py_take_spare(size_t kind)
{
    py_spare *spare = &PY->spare[kind];
    return spare->count > 0 ? spare->of[--spare->count] : NULL;
}

/* ---- crossing: cross.c -------------------------------------------------- */

PyObject *py_from_value(cvm_value v);       /* new. v CVM_NONE: the language's error becomes an exception */
PyObject *py_from_item(cvm_value v);        /* likewise, for what a container has: that can be closed */
cvm_value py_to_value(PyObject *op);        /* CVM_NONE after a failure, with an exception. May move objects */
cvm_value py_to_value_steal(PyObject *op);
int py_is_gone(cvm *vm, rrc_object *ob);    /* its data was in an object of the host that has died */
cvm_value py_host_of(PyObject *op);         /* the host's object behind a view; CVM_NONE, and an exception: gone */
void py_become_full(PyObject *op);          /* a light view that now owns something */
rrc_object *py_view_new(cvm *vm, cvm_value v);          /* cvm_layer.view and .proxy */
cvm_value py_proxy_new(cvm *vm, rrc_object *ob);
PyObject *py_alloc(PyTypeObject *type, Py_ssize_t n);      /* without an exception if there is no memory */

/* The exception that is set goes to the language as an error; and back. */
cvm_value py_fail(void);
void py_fetch_failure(void);

/* ---- types: type.c, slots.c --------------------------------------------- */

/* A static type becomes ready when it is first needed. 0 after a failure, with an exception. */
int py_ready_type(PyTypeObject *type);
int py_ready(PyObject *op);             /* the type of op; and op, if that is a type. It may have no type itself yet */
PyObject *py_type_dict(PyTypeObject *type);             /* borrowed; NULL after a failure */
PyObject *py_type_mro(PyTypeObject *type);              /* new */
static inline void py_forget_lookups(cvm *vm) { py_state_of(vm)->changes++; }
int py_add_slot_wrappers(PyTypeObject *type, PyObject *dict);
int py_fix_slots(PyTypeObject *type);                   /* from the methods of a class of the language */
PyObject *py_lookup_special(PyObject *op, const char *name);       /* new, bound; NULL without an exception: none */
const char *py_type_name(PyObject *op);

void py_unraisable(const char *where, PyObject *op);        /* the exception that is set goes to the hook. op may be NULL */

/* ---- weak references: others.c ------------------------------------------- */

void py_tell_weakrefs(PyObject *op);    /* op is garbage: weak references to it are dead, and if it is one itself, it is. No program runs */
void py_call_back(void);                /* the callbacks that are due */
void py_ref_dealloc(PyObject *op);
int py_ref_traverse(PyObject *op, visitproc visit, void *arg);
int py_ref_clear(PyObject *op);

/* ---- borrowed references, in debug builds: borrow.c ----------------------- */

#ifdef RRC_DEBUG
int py_borrows_open(cvm *vm);           /* 0: no memory */
void py_borrows_free(cvm *vm);
void *py_note_and_realloc(void *vm, void *ptr, size_t old_size, size_t new_size);
PyObject *py_borrowed(PyObject *ob, PyObject *container, const char *function);    /* gives ob */
#define PY_USES(op) _Py_CheckUse((op), __func__)
#else
#define py_borrowed(ob, container, function) (ob)
#define PY_USES(op) ((void)0)
#endif

/* ---- text that grows: format.c ------------------------------------------ */

typedef struct py_text {            /* all zero: empty */
    char *bytes;
    size_t length, capacity;
    int full;                       /* memory was lacking: something was dropped */
} py_text;

void py_put(py_text *out, const char *bytes, size_t length);
void py_put_text(py_text *out, const char *zero_terminated);
void py_text_free(py_text *out);

/* ---- bytes and text: codecs.c ------------------------------------------- */

unsigned py_put_utf8(unsigned char *to, Py_UCS4 c);     /* up to 4 bytes */
PyObject *py_decode_bad_utf8(const char *bytes, Py_ssize_t n, const char *errors);
PyObject *py_encode_bad_utf8(PyObject *op, const char *errors);         /* it has lone surrogates */
PyObject *py_encode_utf8(PyObject *op, const char *errors);
int py_unicode_error_init(PyObject *error, PyObject *args, PyObject *kwargs);
PyObject *py_unicode_error_str(PyObject *error);
extern PyMethodDef py_codecs_functions[];              /* of the module codecs */
extern PyGetSetDef py_unicode_error_getset[];           /* the first is that of an encoding */

/* ---- the process: process.c --------------------------------------------- */

void py_set_arguments(int argc, char *const *argv);
void py_call_at_exit(cvm *vm);

/* ---- others ------------------------------------------------------------- */

const PyMethodDef *py_def_of(PyObject *op);             /* of a method descriptor */
PyObject *py_doc(const char *name, const char *doc);
void py_empty_text(PyObject *op);                       /* all is zero then */
PyObject *py_str(const char *text);                     /* interned, borrowed; NULL after a failure */
extern PyTypeObject py_host_type, py_listiter_type, py_managed_buffer_type;
PyObject *py_subscript(PyObject *op, PyObject *key);       /* of list, tuple, bytes and str */
PyObject *py_format_spec(PyObject *op, PyObject *spec);     /* __format__ of str, int and float */
PyObject *py_bytes_format(PyObject *format, PyObject *args);     /* of bytes and bytearray */
PyObject *py_format_braces(PyObject *format, PyObject *args, PyObject *kwargs);
extern PyMethodDef py_bytes_methods[], py_bytearray_methods[];
extern PyNumberMethods py_bytes_as_number;
extern PySequenceMethods py_bytearray_as_sequence;
extern PyMappingMethods py_bytearray_as_mapping;
int py_bytes_contain(PyObject *op, PyObject *part);
PyObject *py_bytes_repr(const char *bytes, Py_ssize_t n, const char *before, const char *after);
PyObject *py_vec_to_tuple(PyObject *const *args, Py_ssize_t n);
PyObject *py_call_host(PyObject *op, PyObject *const *args, Py_ssize_t n);
uint32_t py_dict_hash(cvm *vm, cvm_value key, int *failed);
int py_dict_same(cvm *vm, cvm_value a, cvm_value b);
size_t py_utf8_length(const char *bytes, size_t n, Py_UCS4 *largest);
PyObject *py_long_in_base(PyObject *op, int base, int prefix);
PyObject *py_long_new(int negative, const uint32_t *digits, Py_ssize_t n);
int py_long_fits(PyObject *op, intptr_t *n);
void py_print(cvm *vm, cvm_value v, int quoted, FILE *out);
void py_print_sequence(cvm *vm, cvm_value v, int quoted, FILE *out);
void py_print_object(PyObject *op, int quoted, FILE *out);    /* moves nothing */
void py_print_items(PyObject *op, int quoted, FILE *out);     /* of a list or a tuple; likewise */
int py_equal_sequences(cvm *vm, cvm_value *a, cvm_value *b);
int py_load(cvm *vm, const char *path);
cvm_value py_call_method(cvm *vm, cvm_value *args, size_t n);       /* args: object, name, arguments */
int py_close(cvm *vm, cvm_value *slot);
PyObject *py_getattr(PyObject *op, PyObject *name, PyObject *otherwise);
extern PyMethodDef py_builtin_functions[], py_str_methods[];
PyTypeObject *py_exception_types(size_t *n);
extern const cvm_builtin_def py_procedures[], py_sequence_procedures[], py_dict_procedures[];

#endif
