/* lisp.c - the language as a layer: its beginning and its end. */
#include "insight.h"

static int open_lisp(cvm *vm)
{
    static const cvm_builtin_def *const all[] = {
        cvm_number_builtins, cvm_list_builtins, cvm_text_builtins, cvm_vector_builtins,
        cvm_control_builtins, cvm_watch_builtins
    };
    size_t i;

    cvm_insight_open(vm);
    vm->ops.print_short = cvm_print_short;
    if (!cvm_symbols_open(vm) || !cvm_define_specials(vm))
        return 0;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (!cvm_define_all(vm, all[i]))
            return 0;
    return 1;
}

static void free_lisp(cvm *vm)
{
    cvm_insight_free(vm);
    cvm_symbols_free(vm);
}

const cvm_layer cvm_lisp_layer = {
    sizeof(cvm_lisp), CVM_LANGUAGE, open_lisp, cvm_symbols_visit, NULL, free_lisp
};
