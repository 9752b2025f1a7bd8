/* lisp.c - the language as a layer: its beginning and its roots. */
#include "lisp.h"

static int open_lisp(cvm *vm)
{
    static const cvm_kind kinds[] = {
        { "pair", offsetof(cvm_pair, car), CVM_REST }, { "symbol", offsetof(cvm_variable, name), 3 },
        { "number", 0, 0 }, { "number", 0, 0 },
        { "procedure", offsetof(cvm_closure, name), 4 }, { "binding", offsetof(cvm_variable, name), 3 },
        { "procedure", 0, 0 }, { "special", 0, 0 }
    };
    static const cvm_builtin_def *const all[] = {
        cvm_number_builtins, cvm_list_builtins, cvm_text_builtins, cvm_control_builtins, cvm_watch_builtins
    };
    cvm_lisp *lisp = cvm_lisp_of(vm);
    memcpy(vm->heap.kinds + CVM_LANGUAGE_KINDS, kinds, sizeof kinds);
    for (size_t i = 0; i < CVM_SYMBOL_CHAINS; i++)
        lisp->symbols[i] = CVM_NIL;
    cvm_define(vm, "else", CVM_TRUE);
    cvm_define_all(vm, CVM_SPECIAL, cvm_special_forms);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cvm_define_all(vm, CVM_BUILTIN, all[i]);
    return !vm->error.failed;
}

static void roots(cvm *vm)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);
    for (size_t i = 0; i < CVM_SYMBOL_CHAINS; i++)
        cvm_heap_visit(&vm->heap, &lisp->symbols[i]);
}

const cvm_layer cvm_lisp_layer = {
    .size = sizeof(cvm_lisp), .number = CVM_LANGUAGE, .open = open_lisp, .roots = roots,
    .edges = cvm_edges, .describe = cvm_describe
};
