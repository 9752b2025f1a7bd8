/* gc.c - the memory of objects, and cyclic garbage. */
#include "internal.h"

#include <pthread.h>

void *PyMem_Malloc(size_t size)
{
    return malloc(size != 0 ? size : 1);
}

void *PyMem_Calloc(size_t n, size_t size)
{
    return calloc(n != 0 ? n : 1, size != 0 ? size : 1);
}

void *PyMem_Realloc(void *p, size_t size)
{
    return realloc(p, size != 0 ? size : 1);
}

void PyMem_Free(void *p)
{
    free(p);
}

/* ---- objects ------------------------------------------------------------ */

PyObject *py_alloc(PyTypeObject *type, Py_ssize_t n)
{
    const rrc_type *rrc = &type->ob_base.rrc;
    rrc_heap *heap = py_vm->rrc;
    rrc_object *ob;
    if (n < 0)
        return NULL;
    ob = type->ob_base.spare >= PY_SPARE_MEMORY ? _Py_RRC(py_take_spare(type->ob_base.spare)) : NULL;
    if (ob != NULL) {
        memset(ob + 1, 0, rrc->tp_basicsize - sizeof *ob);
        ob->ob_type = rrc;
    } else if (rrc->tp_flags & RRC_TPFLAGS_HAVE_GC) {
        ob = type->tp_itemsize > 0 ? rrc_gc_new_var(heap, rrc, (size_t)n) : rrc_gc_new(heap, rrc);
    } else {
        ob = type->tp_itemsize > 0 ? rrc_new_var(heap, rrc, (size_t)n) : rrc_new(heap, rrc);
    }
    if (ob == NULL)
        return NULL;
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        Py_INCREF(type);
    if (type->tp_itemsize > 0) {
        ((PyVarObject *)(void *)ob)->ob_size = n;
        if (type != &PyTuple_Type && PyType_HasFeature(type, Py_TPFLAGS_TUPLE_SUBCLASS))
            ((PyTupleObject *)(void *)ob)->filled = 1;          /* the host has none of these */
    }
    return (PyObject *)(void *)ob;
}

PyVarObject *_PyObject_NewVar(PyTypeObject *type, Py_ssize_t n)
{
    PyObject *op;
    if (!py_ready_type(type))
        return NULL;
    if (n < 0)
        return (PyVarObject *)(void *)PyErr_Format(PyExc_SystemError, "an object of type '%.200s' cannot have %zd items", type->tp_name, n);
    op = py_alloc(type, n);
    return (PyVarObject *)(void *)(op != NULL ? op : PyErr_NoMemory());
}

/* (That a type takes part in cyclic garbage is asked when the object is made.) */
PyObject *_PyObject_New(PyTypeObject *type) { return (PyObject *)(void *)_PyObject_NewVar(type, 0); }
PyObject *_PyObject_GC_New(PyTypeObject *type) { return _PyObject_New(type); }
PyVarObject *_PyObject_GC_NewVar(PyTypeObject *type, Py_ssize_t n) { return _PyObject_NewVar(type, n); }

PyObject *PyUnstable_Object_GC_NewWithExtraData(PyTypeObject *type, size_t extra)
{
    rrc_object *ob;
    if (!py_ready_type(type))
        return NULL;
    if (!PyType_IS_GC(type))
        return PyErr_Format(PyExc_SystemError, "extra data needs Py_TPFLAGS_HAVE_GC, which type '%.200s' lacks", type->tp_name);
    ob = rrc_gc_new_with_extra_data(py_vm->rrc, &type->ob_base.rrc, extra);
    if (ob == NULL)
        return PyErr_NoMemory();
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        Py_INCREF(type);
    return (PyObject *)(void *)ob;
}

PyVarObject *_PyObject_GC_Resize(PyVarObject *op, Py_ssize_t n)
{
    const PyTypeObject *type = Py_TYPE(op);
    rrc_object *ob;
    if (n < 0 || !PyType_IS_GC(type) || type->tp_itemsize == 0 || PyObject_GC_IsTracked(_PyObject_CAST(op)))
        return (PyVarObject *)(void *)PyErr_Format(PyExc_SystemError, "an object of type '%.200s' cannot be resized to %zd items%s",
            type->tp_name, n, n < 0 ? "" : PyType_IS_GC(type) && type->tp_itemsize != 0 ? ": it is tracked"
            : ": the type needs Py_TPFLAGS_HAVE_GC and a tp_itemsize");
    ob = rrc_gc_resize(py_vm->rrc, _Py_RRC(op), (size_t)n);
    if (ob == NULL)
        return (PyVarObject *)(void *)PyErr_NoMemory();
    ((PyVarObject *)(void *)ob)->ob_size = n;
    return (PyVarObject *)(void *)ob;
}

/* ---- PyObject_Malloc ------------------------------------------------------
 *
 * PyObject_Free gets objects, and memory of PyObject_Malloc. So the addresses of the latter are noted, for all threads,
 * in a hash table. NULL: a free place. GONE: one that was in use. */

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static void **blocks;
static size_t block_capacity, block_count, block_taken;       /* taken: places that are not NULL */
static char gone;
#define GONE ((void *)&gone)

static size_t block_place(const void *p)
{
    return (size_t)((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u >> 32) & (block_capacity - 1);
}

static void **find_block(const void *p)
{
    size_t at;
    if (block_capacity == 0)
        return NULL;
    for (at = block_place(p); blocks[at] != NULL; at = (at + 1) & (block_capacity - 1))
        if (blocks[at] == p)
            return &blocks[at];
    return NULL;
}

static void enter_block(void *p)
{
    size_t at = block_place(p);
    while (blocks[at] != NULL)
        at = (at + 1) & (block_capacity - 1);
    blocks[at] = p;
    block_taken++;
}

/* Room for one more. */
static int grow_blocks(void)
{
    size_t old_capacity = block_capacity, capacity = 16, i;
    void **old = blocks, **all;
    if (2 * (block_taken + 1) <= block_capacity)
        return 1;
    while (capacity < 4 * (block_count + 1))
        capacity *= 2;
    all = calloc(capacity, sizeof *all);
    if (all == NULL)
        return 0;
    blocks = all;
    block_capacity = capacity;
    block_taken = 0;
    for (i = 0; i < old_capacity; i++)
        if (old[i] != NULL && old[i] != GONE)
            enter_block(old[i]);
    free(old);
    return 1;
}

static void *note_block(void *p)
{
    int ok;
    if (p == NULL)
        return NULL;
    pthread_mutex_lock(&blocks_lock);
    ok = grow_blocks();
    if (ok) {
        enter_block(p);
        __atomic_store_n(&block_count, block_count + 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&blocks_lock);
    if (!ok)
        free(p);
    return ok ? p : NULL;
}

/* 1: it was noted, and is not any more. The table goes with the last one. */
static int forget_block(const void *p)
{
    void **place;
    pthread_mutex_lock(&blocks_lock);
    place = find_block(p);
    if (place != NULL) {
        *place = GONE;
        __atomic_store_n(&block_count, block_count - 1, __ATOMIC_RELAXED);
        if (block_count == 0) {
            free(blocks);
            blocks = NULL;
            block_capacity = block_taken = 0;
        }
    }
    pthread_mutex_unlock(&blocks_lock);
    return place != NULL;
}

void *PyObject_Malloc(size_t size) { return note_block(PyMem_Malloc(size)); }
void *PyObject_Calloc(size_t n, size_t size) { return note_block(PyMem_Calloc(n, size)); }

/* The old memory stays as it is if there is none for the new. */
void *PyObject_Realloc(void *p, size_t size)
{
    void **place, *other = NULL;
    if (p == NULL)
        return PyObject_Malloc(size);
    pthread_mutex_lock(&blocks_lock);
    if (grow_blocks()) {
        place = find_block(p);
        other = PyMem_Realloc(p, size);
        if (other != NULL && other != p && place != NULL) {
            *place = GONE;
            enter_block(other);
        }
    }
    pthread_mutex_unlock(&blocks_lock);
    return other;
}

static int is_block(const void *p)
{
    int is;
    pthread_mutex_lock(&blocks_lock);
    is = find_block(p) != NULL;
    pthread_mutex_unlock(&blocks_lock);
    return is;
}

PyObject *PyObject_Init(PyObject *op, PyTypeObject *type)
{
    if (is_block(op))
        Py_FatalError("PyObject_Init: this memory is of PyObject_Malloc; make the object by PyObject_New or its kin");
    op->ob_refcnt = 1;
    op->ob_pypy_link = NULL;
    op->ob_type = type;
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        Py_INCREF(type);
    return op;
}

PyVarObject *PyObject_InitVar(PyVarObject *op, PyTypeObject *type, Py_ssize_t n)
{
    op->ob_size = n;
    return (PyVarObject *)(void *)PyObject_Init(_PyObject_CAST(op), type);
}

void PyObject_Free(void *op)
{
    if (op == NULL)
        return;
    if (__atomic_load_n(&block_count, __ATOMIC_RELAXED) > 0 && forget_block(op)) {
        free(op);
        return;
    }
    if (py_keep_memory(op))
        return;
    if (_Py_RRC(op)->ob_type->tp_flags & RRC_TPFLAGS_HAVE_GC)
        rrc_gc_del(py_vm->rrc, op);
    else
        rrc_del(py_vm->rrc, op);
}

void PyObject_GC_Del(void *op)
{
    PyObject_Free(op);
}

void PyObject_GC_Track(void *op)
{
    cvm_object *p;
    if (rrc_gc_track(py_vm->rrc, op) == RRC_ENOMEM)
        Py_FatalError("no memory to track an object");      /* CPython's function cannot fail */
    if (py_vm->heap.marking && (p = rrc_to_obj(py_vm->rrc, op)) != NULL && (p->flags & CVM_REACHED))
        rrc_marked(py_vm->rrc, p);          /* it was marked when nobody looked for op */
}

void PyObject_GC_UnTrack(void *op)
{
    rrc_gc_untrack(py_vm->rrc, op);
}

int PyObject_GC_IsTracked(PyObject *op)
{
    return PyObject_IS_GC(op) && rrc_gc_is_tracked(py_vm->rrc, _Py_RRC(op));
}

int PyObject_GC_IsFinalized(PyObject *op)
{
    return PyObject_IS_GC(op) && rrc_gc_is_finalized(py_vm->rrc, _Py_RRC(op));
}

/* The header has called the finalizer before the dealloc. */
int PyObject_CallFinalizerFromDealloc(PyObject *op)
{
    (void)op;
    return 0;
}

void PyObject_CallFinalizer(PyObject *op)
{
    if (Py_TYPE(op)->tp_finalize != NULL && !PyObject_GC_IsFinalized(op))
        Py_TYPE(op)->tp_finalize(op);
}

/* ---- collections -------------------------------------------------------- */

Py_ssize_t PyGC_Collect(void)
{
    Py_ssize_t n = py_vm->printing == 0 ? (Py_ssize_t)rrc_gc_collect(py_vm->rrc) : 0;
    py_call_back();
    return n;
}

int PyGC_Enable(void)
{
    return rrc_gc_enable(py_vm->rrc);
}

int PyGC_Disable(void)
{
    return rrc_gc_disable(py_vm->rrc);
}

int PyGC_IsEnabled(void)
{
    return rrc_gc_is_enabled(py_vm->rrc);
}

typedef struct visit_all {
    gcvisitobjects_t callback;
    void *arg;
} visit_all;

static int visit_one(rrc_object *ob, void *arg)
{
    visit_all *all = arg;
    return all->callback((PyObject *)(void *)ob, all->arg);
}

void PyUnstable_GC_VisitObjects(gcvisitobjects_t callback, void *arg)
{
    visit_all all = { callback, arg };
    rrc_gc_visit_objects(py_vm->rrc, visit_one, &all);
}
