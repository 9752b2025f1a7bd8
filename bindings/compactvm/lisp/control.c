/* control.c - errors, and programs that run programs. */
#include "lisp.h"

#include <stdlib.h>
#include <string.h>

/* (try procedure handler): call procedure; if it fails, call the handler with
   the message. (exit) is not caught. */
CVM_BUILTIN_BODY(b_try)
{
    cvm_value v = cvm_call(vm, args[0], NULL, 0);
    cvm_value *message;

    if (v != CVM_NONE || !cvm_can_catch(vm))
        return v;
    cvm_error_clear(vm);
    message = cvm_root(vm, cvm_text(vm, vm->message));
    return *message != CVM_NONE ? cvm_call(vm, args[1], message, 1) : CVM_NONE;
}

CVM_BUILTIN_BODY(b_exit)
{
    vm->exiting = 1;
    vm->exit_status = n > 0 ? (int)(cvm_index_of(args[0]) & 255) : 0;
    return cvm_fail(vm, "exit");
}

CVM_BUILTIN_BODY(b_eval) { return cvm_eval(vm, args[0], CVM_NIL); }

/* A copy that does not move, or NULL. */
static char *copy(cvm *vm, cvm_value string)
{
    size_t size = CVM_STRING_OF(string)->length + 1;
    char *text = malloc(size);

    if (text != NULL)
        memcpy(text, cvm_bytes(string), size);
    else
        cvm_out_of_memory(vm);
    return text;
}

CVM_BUILTIN_BODY(b_load)
{
    char *path = copy(vm, args[0]);
    cvm_value v = CVM_NONE;

    if (path != NULL && cvm_enter(vm)) {
        v = cvm_run_file(vm, path);
        cvm_leave(vm);
    }
    free(path);
    return v;
}

/* (read text): the first expression in it, or nil */
CVM_BUILTIN_BODY(b_read)
{
    cvm_reader r = { 0 };
    cvm_value v;
    char *text = copy(vm, args[0]);

    r.vm = vm;
    r.at = text;
    r.end = text + CVM_STRING_OF(args[0])->length;
    r.line = 1;
    r.file = cvm_root(vm, text != NULL ? cvm_text(vm, "(read)") : CVM_NONE);
    v = *r.file != CVM_NONE ? cvm_read(&r) : CVM_NONE;
    free(text);
    return v != CVM_NONE || vm->failed ? v : CVM_NIL;
}

const cvm_builtin_def cvm_control_builtins[] = {
    { "try", "ff", b_try },                 { "exit", "?i", b_exit },
    { "eval", ".", b_eval },                { "load", "s", b_load },
    { "read", "s", b_read },
    { NULL, NULL, NULL }
};
