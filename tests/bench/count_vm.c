/* count_vm.c - instructions of a collection in a small VM (compactvm), in which WIDGETS objects live: C objects with a
 * proxy, or plain objects of the VM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "count.h"
#include "bindings/compactvm/lisp/lisp.h"
#include "examples/toolkit/toolkit.h"

enum { MILLION = 1000000, ROUNDS = 6 };     /* after these rounds a search is not due each time */

static cvm *vm;
static unsigned search_percent;

static void fill(const char *program)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_toolkit_layer, NULL };
    cvm_config config = { 0 };
    int round;

    config.layers = layers;
    config.heap_limit = (size_t)64 << 20;
    config.search_percent = search_percent;
    vm = cvm_new(&config);
    if (vm == NULL || cvm_run_text(vm, "count", program, strlen(program)) == CVM_NONE) {
        fputs("count: the VM does not run its program\n", stderr);
        exit(1);
    }
    for (round = 0; round < ROUNDS; round++)
        cvm_heap_major(&vm->heap);
    rrc_run_pending(vm->rrc, 0);
}

/* 10^5 of them. */
#define FILL_WITH(what) \
    fill("(define all (make-vector 100000 nil)) (define i 0)" \
         "(while (< i 100000) (vector-set! all i " what ") (set! i (+ i 1)))")

static void widgets(void) { FILL_WITH("(new 'widget \"w\")"); }
static void quiet(void) { search_percent = 25; widgets(); }
static void plain(void) { FILL_WITH("(list i)"); }

void op_vm_widgets(void);
void op_vm_quiet(void);
void op_vm_plain(void);
void op_vm_widgets(void) { cvm_heap_major(&vm->heap); }
void op_vm_quiet(void) { cvm_heap_major(&vm->heap); }
void op_vm_plain(void) { cvm_heap_major(&vm->heap); }

const count_op count_vm[] = {
    { "compactvm: a collection, 10^5 widgets live, in millions", "op_vm_widgets", op_vm_widgets, widgets, MILLION },
    { "compactvm: a collection, 10^5 plain objects live, in millions", "op_vm_plain", op_vm_plain, plain, MILLION },
    { "compactvm: a collection, 10^5 widgets live, no search, in millions", "op_vm_quiet", op_vm_quiet, quiet, MILLION },
    { NULL, NULL, NULL, NULL, 0 }
};
