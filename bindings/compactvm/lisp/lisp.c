/* lisp.c - the language as a layer: its beginning, its roots and its end. */
#include "lisp.h"

static int open_lisp(cvm *vm)
{
    static const cvm_builtin_def *const all[] = {
        cvm_number_builtins, cvm_list_builtins, cvm_text_builtins, cvm_vector_builtins,
        cvm_control_builtins, cvm_watch_builtins
    };
    size_t i;

    cvm_insight_open(vm);
    vm->ops.print_short = cvm_print_short;
    if (!cvm_symbols_open(vm) || !cvm_eval_open(vm))
        return 0;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (!cvm_define_all(vm, all[i]))
            return 0;
    return 1;
}

static void roots(cvm *vm)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);
    size_t i;

    for (i = 0; i < CVM_SYMBOL_CHAINS; i++)
        cvm_heap_visit(&vm->heap, &lisp->symbols[i]);
    cvm_heap_visit(&vm->heap, &lisp->quote);
    for (i = 0; i < CVM_MOST_CALLS; i++) {
        cvm_heap_visit(&vm->heap, &lisp->calls[i].name);
        cvm_heap_visit(&vm->heap, &lisp->calls[i].file);
    }
}

const cvm_layer cvm_lisp_layer = { sizeof(cvm_lisp), CVM_LANGUAGE, open_lisp, roots, NULL, NULL, 0 };
