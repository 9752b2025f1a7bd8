/* start.c - the start and the end of a VM, and of its layers. */
#include "glue.h"

#include <stdlib.h>

enum { DEFAULT_NURSERY = 256 * 1024, STRESS_NURSERY = 16 * 1024 };
#define DEFAULT_LIMIT ((size_t)SIZE_MAX / 8 < ((size_t)1 << 30) ? SIZE_MAX / 8 : (size_t)1 << 30)

/* ---- the kinds of objects that the core has ------------------------------ */

static const cvm_kind string_kind = { "string", 0, 0 };
static const cvm_kind vector_kind = { "vector", offsetof(cvm_vector, items), CVM_REST };
static const cvm_kind real_kind = { "number", 0, 0 };
static const cvm_kind integer_kind = { "number", 0, 0 };
static const cvm_kind foreign_kind = { "foreign", offsetof(cvm_foreign, attributes), 1 };

static void define_kinds(cvm_heap *h)
{
    h->kinds[CVM_STRING] = &string_kind;
    h->kinds[CVM_VECTOR] = &vector_kind;
    h->kinds[CVM_REAL] = &real_kind;
    h->kinds[CVM_INTEGER] = &integer_kind;
    h->kinds[CVM_FOREIGN] = &foreign_kind;
}

/* Without a language. */
static void print_kind(cvm *vm, cvm_value v, char *text, size_t size)
{
    snprintf(text, size, "#<%s>", cvm_is_object(v) ? vm->heap.kinds[cvm_object_of(v)->kind]->name : "value");
}

/* ---- start and end ------------------------------------------------------ */

static int open_layers(cvm *vm)
{
    const cvm_layer *const *layer;

    vm->heap.booting = 1;
    vm->tombstone = (cvm_value)cvm_object_new(vm, CVM_FOREIGN, sizeof(cvm_foreign));
    if (vm->tombstone == CVM_NONE)
        return 0;
    for (layer = vm->layers; layer != NULL && *layer != NULL; layer++)
        if ((*layer)->open != NULL && !(*layer)->open(vm))
            return 0;
    vm->heap.booting = 0;
    return 1;
}

/* The cvm, with the states of its layers behind it: what is left of C code may use them as long
   as it uses the cvm. */
static cvm *allocate(const cvm_layer *const *layers)
{
    const cvm_layer *const *layer;
    size_t size = sizeof(cvm) + (CVM_ALIGN - sizeof(cvm) % CVM_ALIGN) % CVM_ALIGN;
    size_t at = size;
    cvm *vm;

    for (layer = layers; layer != NULL && *layer != NULL; layer++)
        size += ((*layer)->size + CVM_ALIGN - 1) / CVM_ALIGN * CVM_ALIGN;
    vm = calloc(1, size);
    if (vm == NULL)
        return NULL;
    vm->layers = layers;
    for (layer = layers; layer != NULL && *layer != NULL; layer++) {
        vm->state[(*layer)->number] = (char *)vm + at;
        at += ((*layer)->size + CVM_ALIGN - 1) / CVM_ALIGN * CVM_ALIGN;
    }
    return vm;
}

cvm *cvm_new(const cvm_config *config)
{
    cvm *vm = allocate(config->layers);
    size_t limit = config->heap_limit != 0 ? config->heap_limit : DEFAULT_LIMIT;
    size_t nursery = config->nursery != 0 ? config->nursery
                   : config->stress ? STRESS_NURSERY    /* it is renewed all the time */
                   : DEFAULT_NURSERY;

    if (vm == NULL)
        return NULL;
    if (limit < CVM_LEAST_HEAP)
        limit = CVM_LEAST_HEAP;
    if (limit > SIZE_MAX / 8)           /* so that sums of sizes cannot overflow */
        limit = SIZE_MAX / 8;
    vm->ops.print_short = print_kind;
    vm->max_depth = config->max_depth != 0 ? config->max_depth : CVM_DEFAULT_DEPTH;
    vm->out = config->out != NULL ? config->out : stdout;
    vm->auto_pending = 1;
    vm->tombstone = vm->error_file = CVM_NIL;
    vm->stack = malloc(CVM_STACK_SIZE * sizeof *vm->stack);
    if (vm->stack != NULL && cvm_heap_open(&vm->heap, &cvm_glue_phases, vm, limit, nursery, config->stress,
                                               config->incremental)) {
        define_kinds(&vm->heap);
        if (cvm_glue_open(vm) && open_layers(vm))
            return vm;
    }
    cvm_free(vm);
    return NULL;
}

/* The highest layer first. */
static void close_layers(cvm *vm, int freeing)
{
    size_t n = 0;

    while (vm->layers != NULL && vm->layers[n] != NULL)
        n++;
    while (n-- > 0) {
        void (*close)(cvm *) = freeing ? vm->layers[n]->free : vm->layers[n]->let_go;

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
    held = cvm_glue_close(vm);  /* deallocators run, and may still use the objects and run programs */
    vm->closing = CVM_CLOSED;
    close_layers(vm, 1);
    cvm_heap_close(&vm->heap);
    free(vm->stack);
    if (held == 0)
        free(vm);
    return held;
}
