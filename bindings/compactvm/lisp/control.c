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

    if (v != CVM_NONE || vm->exiting)
        return v;
    cvm_error_clear(vm);
    message = cvm_root(vm, cvm_text(vm, vm->message));
    return *message != CVM_NONE ? cvm_call(vm, args[1], message, 1) : CVM_NONE;
}

/* (error x ...): fail; the message is made of the arguments as print shows them */
CVM_BUILTIN_BODY(b_error)
{
    cvm_buffer out = { 0 };
    char text[sizeof vm->message];

    out.bytes = text;
    out.capacity = sizeof text - 1;
    out.fixed = 1;
    if (!cvm_print_all(vm, args, n, 0, " ", "", &out))
        return CVM_NONE;
    text[out.length] = '\0';
    return cvm_fail(vm, "%s", text);
}

CVM_BUILTIN_BODY(b_exit)
{
    vm->exiting = 1;
    vm->exit_status = n > 0 ? (int)(cvm_index_of(args[0]) & 255) : 0;
    return cvm_fail(vm, "exit");
}

CVM_BUILTIN_BODY(b_eval) { return cvm_eval(vm, args[0], CVM_NIL); }

CVM_BUILTIN_BODY(b_load)
{
    char *path;
    cvm_value v;

    if (!cvm_enter(vm))
        return CVM_NONE;
    path = malloc(CVM_STRING_OF(args[0])->length + 1);
    if (path != NULL)
        memcpy(path, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length + 1);
    v = path != NULL ? cvm_run_file(vm, path) : cvm_out_of_memory(vm);
    free(path);
    cvm_leave(vm);
    return v;
}

/* (read text): the first expression in it, or nil */
CVM_BUILTIN_BODY(b_read)
{
    cvm_buffer text = { 0 };
    cvm_reader r = { 0 };
    cvm_value v;

    r.file = cvm_root(vm, cvm_text(vm, "(read)"));
    if (*r.file == CVM_NONE)
        return CVM_NONE;
    cvm_put(&text, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length);
    if (text.full) {
        cvm_buffer_free(&text);
        return cvm_out_of_memory(vm);
    }
    r.vm = vm;
    r.at = text.bytes;
    r.end = text.bytes + text.length;
    r.line = 1;
    v = text.length > 0 ? cvm_read(&r) : CVM_NONE;
    cvm_buffer_free(&text);
    return v != CVM_NONE || vm->failed ? v : CVM_NIL;
}

const cvm_builtin_def cvm_control_builtins[] = {
    { "try", "ff", b_try },                 { "error", ".*", b_error },
    { "exit", "?i", b_exit },               { "eval", ".", b_eval },
    { "load", "s", b_load },                { "read", "s", b_read },
    { NULL, NULL, NULL }
};
