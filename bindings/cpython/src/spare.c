/* spare.c - objects that are kept for the next one of their kind, as CPython's free lists do.
 *
 * Most objects go soon, by their count, and never had a link. So numbers, texts and small tuples do not go through the
 * header: the VM gets one reference to each, and gives it to the next object of the kind. The memory of other
 * objects is kept when their tp_dealloc has freed it. For the header each of these is an object to which somebody has a
 * reference. Nobody is told that they went. So where somebody asks for that (rrc_observe), none is kept. Nor is one in
 * debug builds, so that a reference that is used too late is found. */
#include "internal.h"

/* (A finalizer runs once for each object, which the header notes in its memory.) */
unsigned char py_spare_kind(const PyTypeObject *type)
{
    const rrc_type *rrc = &type->ob_base.rrc;
    size_t words = rrc->tp_basicsize / sizeof(void *);
    if (type == &PyFloat_Type)
        return PY_SPARE_FLOAT;
    if (type == &PyUnicode_Type)
        return PY_SPARE_TEXT;
    if (type == &PyLong_Type)
        return PY_SPARE_INT;
    if (type == &PyTuple_Type)
        return PY_SPARE_TUPLE;
    if (rrc->tp_basicsize % sizeof(void *) != 0 || words >= PY_SPARE_WORDS || rrc->tp_itemsize > 0
        || rrc->tp_finalize != NULL || rrc->tp_outside != NULL)
        return PY_SPARE_NONE;
    return (unsigned char)((rrc->tp_flags & RRC_TPFLAGS_HAVE_GC ? PY_SPARE_GC_MEMORY : PY_SPARE_MEMORY) + words);
}

static int keep(py_spare *spare, PyObject *op)
{
    if (spare->count == sizeof spare->of / sizeof *spare->of)
        return 0;
    op->ob_refcnt = 1;
    spare->of[spare->count++] = op;
    return 1;
}

#ifdef RRC_DEBUG
int py_keep(PyObject *op) { (void)op; return 0; }
int py_keep_memory(PyObject *op) { (void)op; return 0; }
#else
/* The types of memory that is kept, by its size, so that the header can free it. */
#define MEMORY(words, flags, first) \
    { .rrc = { .ob_base = { _PyObject_IMMORTAL, NULL, NULL }, .tp_name = "free memory", \
               .tp_basicsize = (words) * sizeof(void *), .tp_flags = (flags) }, .spare = (first) + (words) }
#define MEMORIES(flags, first) \
    MEMORY(0, flags, first), MEMORY(1, flags, first), MEMORY(2, flags, first), MEMORY(3, flags, first), \
    MEMORY(4, flags, first), MEMORY(5, flags, first), MEMORY(6, flags, first), MEMORY(7, flags, first), \
    MEMORY(8, flags, first), MEMORY(9, flags, first), MEMORY(10, flags, first), MEMORY(11, flags, first), \
    MEMORY(12, flags, first), MEMORY(13, flags, first), MEMORY(14, flags, first), MEMORY(15, flags, first), \
    MEMORY(16, flags, first)

static const _PyTypeHead memory_types[] = {
    MEMORIES(0, PY_SPARE_MEMORY), MEMORIES(RRC_TPFLAGS_HAVE_GC, PY_SPARE_GC_MEMORY)
};

/* The items may be tuples: these go through the header, which bounds the stack that nested ones need. */
static int keep_tuple(py_state *py, PyObject *op)
{
    PyTupleObject *tuple = (PyTupleObject *)(void *)op;
    Py_ssize_t n = PyTuple_GET_SIZE(op), i;
    if (py->keeps_tuple || !tuple->filled || n >= PY_SPARE_ITEMS)
        return 0;
    op->ob_refcnt = 1;
    PyObject_GC_UnTrack(op);
    py->keeps_tuple = 1;
    for (i = 0; i < n; i++)
        Py_CLEAR(tuple->ob_item[i]);
    py->keeps_tuple = 0;
    tuple->seen = 0;
    op->ob_refcnt = 0;
    return keep(&py->spare[PY_SPARE_TUPLE + n], op);
}

int py_keep(PyObject *op)
{
    py_state *py = PY;
    Py_ssize_t size;
    if (py->ended || py_vm->observed)
        return 0;
    switch (Py_TYPE(op)->ob_base.spare) {
    case PY_SPARE_FLOAT:
        return keep(&py->spare[PY_SPARE_FLOAT], op);
    case PY_SPARE_TEXT:
        py_empty_text(op);
        return keep(&py->spare[PY_SPARE_TEXT], op);
    case PY_SPARE_INT:
        size = ((PyVarObject *)(void *)op)->ob_size;
        size = size < 0 ? -size : size;
        return size < PY_SPARE_DIGITS && keep(&py->spare[PY_SPARE_INT + size], op);
    case PY_SPARE_TUPLE:
        return keep_tuple(py, op);
    default:
        return 0;
    }
}

/* Until the tp_dealloc is done, the header takes what is at this address for the old object. */
int py_keep_memory(PyObject *op)
{
    py_state *py = PY;
    unsigned kind = Py_TYPE(op)->ob_base.spare;
    if (op != py->dying || kind < PY_SPARE_MEMORY || op->ob_refcnt != 0 || py->ended)
        return 0;
    op->ob_type = (PyTypeObject *)(uintptr_t)&memory_types[kind - PY_SPARE_MEMORY];
    py->dying = NULL;
    return 1;
}
#endif

void py_run_dealloc(PyObject *op)
{
    py_state *py = PY;
    PyObject *outer = py->dying;
    py->dying = op;
    Py_TYPE(op)->tp_dealloc(op);
    if (py->dying == NULL && (py->ended || !keep(&py->spare[Py_TYPE(op)->ob_base.spare], op)))
        PyObject_Free(op);
    py->dying = outer;
}

void py_drop_spare(cvm *vm)
{
    py_state *py = py_state_of(vm);
    cvm *saved = py_vm;
    size_t i;
    py_vm = vm;
    for (i = 0; i < PY_SPARE_KINDS; i++)
        while (py->spare[i].count > 0)
            rrc_decref(vm->rrc, _Py_RRC(py->spare[i].of[--py->spare[i].count]));
    py_vm = saved;
}
