/* state.c - the VM of the thread, and what a VM keeps for objects that all VMs share. */
#include "internal.h"

__thread cvm *py_vm;

rrc_heap *_Py_Heap(void)
{
    return py_vm->rrc;
}

void _Py_NoReference(PyObject *op)
{
    if (op->ob_refcnt == 0 && op->ob_pypy_link == NULL && py_is_kept_whole(Py_TYPE(op)) && py_keep(op))
        return;
    rrci_no_reference(py_vm->rrc, _Py_RRC(op));     /* as rrc_decref does */
}

/* The place of op, or a free one where it would be entered. */
static py_static *find(py_static *all, size_t capacity, const PyObject *op)
{
    size_t at = ((uintptr_t)op >> 4) * 2654435761u & (capacity - 1);
    while (all[at].ob != NULL && all[at].ob != op)
        at = (at + 1) & (capacity - 1);
    return &all[at];
}

static int grow(py_state *py)
{
    size_t capacity = py->static_capacity != 0 ? 2 * py->static_capacity : 256, i;
    py_static *all = calloc(capacity, sizeof *all);
    if (all == NULL)
        return 0;
    for (i = 0; i < py->static_capacity; i++)
        if (py->statics[i].ob != NULL)
            *find(all, capacity, py->statics[i].ob) = py->statics[i];
    free(py->statics);
    py->statics = all;
    py->static_capacity = capacity;
    return 1;
}

py_static *py_static_of(PyObject *op)
{
    py_state *py = PY;
    py_static *s;
    if (2 * py->static_count >= py->static_capacity && !grow(py))
        return NULL;
    s = find(py->statics, py->static_capacity, op);
    if (s->ob == NULL) {
        s->ob = op;
        py->static_count++;
    }
    return s;
}
