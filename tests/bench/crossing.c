/* crossing.c - the rows about CPython's C API on compactvm: what it costs that an argument
 * crosses the border. A C function with one argument is called for each of n objects, once
 * when none of them has been in C yet, and once more. The limit is the same loop with
 * a builtin of the VM, which is called with the value itself: no argument crosses. */
#include "bench.h"
#include "bindings/cpython/src/internal.h"

enum { MOST = 1000000 };        /* they live in the VM's heap, which has its limit */

static PyObject *take(PyObject *self, PyObject *arg)
{
    (void)self, (void)arg;
    Py_RETURN_NONE;
}

static PyMethodDef take_def = { "take", take, METH_O, NULL };

typedef struct crossing {
    cvm *vm;
    size_t n;
    cvm_value *objects;         /* a vector of them */
    cvm_value *function, *builtin;
} crossing;

static cvm_value one_pair(cvm *vm)
{
    return cvm_cons(vm, CVM_NIL, CVM_NIL);
}

static cvm_value one_string(cvm *vm)
{
    return cvm_text(vm, "twenty-four bytes of text");
}

static cvm_value one_proxy(cvm *vm)
{
    py_vm = vm;
    return py_to_value_steal(PyCFunction_New(&take_def, NULL));
}

/* New objects, which have grown old. 0: no memory. */
static int fill(crossing *c, cvm_value (*make)(cvm *vm))
{
    size_t i;

    *c->objects = CVM_NIL;
    *c->objects = cvm_vector_new(c->vm, c->n, CVM_NIL);
    for (i = 0; *c->objects != CVM_NONE && i < c->n; i++) {
        cvm_value v = make(c->vm);

        if (v == CVM_NONE)
            return 0;
        cvm_store(c->vm, *c->objects, &CVM_VECTOR_OF(*c->objects)->items[i], v);
    }
    cvm_heap_major(&c->vm->heap);
    rrc_run_pending(c->vm->rrc, 0);
    return *c->objects != CVM_NONE;
}

/* Nanoseconds for each object. */
static double call_with_all(crossing *c, const cvm_value *callee)
{
    cvm_value *args = cvm_root(c->vm, CVM_NIL);
    double start = bench_now();
    size_t i;

    for (i = 0; i < c->n; i++) {
        *args = CVM_VECTOR_OF(*c->objects)->items[i];
        bench_sink += cvm_call(c->vm, *callee, args, 1);
    }
    cvm_close(c->vm, (size_t)(args - c->vm->stack));
    return (bench_now() - start) / (double)c->n * 1e9;
}

static void measure(bench *b, crossing *c, cvm_value (*make)(cvm *vm), const char *first_row,
                    const char *later_row)
{
    samples first = { 0 }, later = { 0 };

    if ((first_row == NULL || !bench_wants(b, first_row)) && !bench_wants(b, later_row))
        return;
    while (later.count <= b->repeats) {
        double limit;

        if (!fill(c, make))
            return;
        limit = call_with_all(c, c->builtin);
        sample(&first, call_with_all(c, c->function), limit);
        sample(&later, call_with_all(c, c->function), limit);
    }
    if (first_row != NULL && bench_wants(b, first_row))
        bench_row(b, first_row, "ns", &first);
    if (bench_wants(b, later_row))
        bench_row(b, later_row, "ns", &later);
}

void rows_crossing(bench *b)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_python_layer, NULL };
    cvm_config config = { .layers = layers };
    crossing c = { 0 };
    cvm_value f;

    if (b->d->n > MOST)
        return;
    c.n = b->d->n;
    c.vm = cvm_new(&config);
    if (c.vm == NULL)
        return;
    c.objects = cvm_root(c.vm, CVM_NIL);
    f = one_proxy(c.vm);
    c.function = cvm_root(c.vm, f);
    c.builtin = cvm_root(c.vm, cvm_run_text(c.vm, "bench", "null?", 5));
    if (f != CVM_NONE && *c.builtin != CVM_NONE) {
        measure(b, &c, one_pair, "crossing, a pair, first time", "crossing, a pair, later");
        measure(b, &c, one_string, "crossing, a string, first time", "crossing, a string, later");
        measure(b, &c, one_proxy, NULL, "crossing, a proxy");
    }
    cvm_free(c.vm);
}
