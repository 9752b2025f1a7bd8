/* start.c - the start and the end of a VM, and of its layers. */
#include "vm.h"

#include <stdlib.h>

enum { DEFAULT_NURSERY = 256 * 1024, STRESS_NURSERY = 16 * 1024 };
#define DEFAULT_LIMIT ((size_t)SIZE_MAX / 8 < ((size_t)1 << 30) ? SIZE_MAX / 8 : (size_t)1 << 30)

/* ---- the kinds of objects that the core has ------------------------------ */

static const cvm_kind kinds[] = {
    { "string", 0, 0 }, { "vector", offsetof(cvm_vector, items), CVM_REST },
    { "foreign", offsetof(cvm_foreign, attributes), 1 }
};

/* ---- start and end ------------------------------------------------------ */

static int open_layers(cvm *vm)
{
    vm->heap.booting = 1;
    vm->tombstone = cvm_foreign_new(vm, NULL);
    int ok = vm->tombstone != CVM_NONE;
    for (int i = 0; ok && i < CVM_LAYERS; i++)
        if (vm->layers[i] != NULL && vm->layers[i]->open != NULL)
            ok = vm->layers[i]->open(vm);
    vm->heap.booting = 0;
    return ok;
}

static size_t align(size_t size) { return (size + CVM_ALIGN - 1) / CVM_ALIGN * CVM_ALIGN; }

/* The cvm, with the states of its layers behind it: what is left of C code may use them as long
   as it uses the cvm. */
static cvm *allocate(const cvm_layer *const *layers)
{
    const cvm_layer *const *layer;
    size_t size = align(sizeof(cvm)), at = size;

    for (layer = layers; layer != NULL && *layer != NULL; layer++)
        size += align((*layer)->size);
    cvm *vm = calloc(1, size);
    for (layer = layers; vm != NULL && layer != NULL && *layer != NULL; layer++) {
        vm->layers[(*layer)->number] = *layer;
        vm->state[(*layer)->number] = (char *)vm + at;
        at += align((*layer)->size);
    }
    return vm;
}

static void fill_in_defaults(cvm_config *c)
{
    if (c->heap_limit == 0)
        c->heap_limit = DEFAULT_LIMIT;
    if (c->heap_limit < CVM_LEAST_HEAP)
        c->heap_limit = CVM_LEAST_HEAP;
    if (c->heap_limit > SIZE_MAX / 8)   /* so that sums of sizes cannot overflow */
        c->heap_limit = SIZE_MAX / 8;
    if (c->nursery == 0)                /* under stress it is renewed all the time */
        c->nursery = c->stress ? STRESS_NURSERY : DEFAULT_NURSERY;
    if (c->max_depth == 0)
        c->max_depth = CVM_DEFAULT_DEPTH;
}

cvm *cvm_new(const cvm_config *config)
{
    cvm *vm = allocate(config->layers);
    if (vm == NULL)
        return NULL;
    vm->config = *config;
    fill_in_defaults(&vm->config);
    vm->auto_pending = 1;
    vm->stack = malloc(CVM_STACK_SIZE * sizeof *vm->stack);
    if (vm->stack != NULL && cvm_heap_open(&vm->heap, vm)) {
        memcpy(vm->heap.kinds, kinds, sizeof kinds);
        if (cvm_glue_open(vm) && open_layers(vm))
            return vm;
    }
    cvm_free(vm);
    return NULL;
}

/* The highest layer first. */
static void close_layers(cvm *vm, int freeing)
{
    for (int i = CVM_LAYERS - 1; i >= 0; i--) {
        const cvm_layer *layer = vm->layers[i];
        void (*close)(cvm *) = layer == NULL ? NULL : freeing ? layer->free : layer->let_go;

        if (close != NULL)
            close(vm);
    }
}

size_t cvm_free(cvm *vm)
{
    size_t held;
    vm->closing = 1;
    if (vm->rrc != NULL)
        close_layers(vm, 0);
    /* The heap is still whole: no root of ours keeps a C object from now on, all links are dissolved, owners go before
       what they own, and the deallocators that are still due run, which may use the objects and run programs. If slices
       mark, that is given up. */
    held = rrc_heap_free(vm->rrc);
    vm->closing = CVM_CLOSED;
    close_layers(vm, 1);
    cvm_heap_close(&vm->heap);
    free(vm->stack);
    if (held == 0)              /* else those objects still need it */
        free(vm);
    return held;
}
