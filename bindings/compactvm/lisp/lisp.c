/* lisp.c - running programs, and programs that run programs; errors that are caught; the language as a layer. */
#include "lisp.h"

/* ---- programs ----------------------------------------------------------- */

/* A stream that reads a copy of the text. NULL after a failure. */
static FILE *text_stream(cvm *vm, const char *text, size_t length)
{
    FILE *in = fmemopen(NULL, length + 1, "w+");
    if (in == NULL) {
        cvm_out_of_memory(vm);
        return NULL;
    }
    fwrite(text, 1, length, in);
    rewind(in);
    return in;
}

int cvm_run_next(cvm_reader *r, cvm_value *last)
{
    cvm_value form = cvm_read(r);
    if (form == CVM_NONE)
        return 0;
    *last = CVM_NIL;                        /* do not keep the last value alive */
    *last = cvm_eval(r->vm, form, CVM_NIL);
    if (*last == CVM_NONE)                  /* an expression that is just a name */
        cvm_error_at(r->vm, cvm_bytes(*r->file), r->line);
    return *last != CVM_NONE;
}

/* Run all of a stream, if there is one, and close it. name: a string. */
static cvm_value run_stream(cvm *vm, FILE *in, cvm_value name)
{
    size_t scope = cvm_open(vm);
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_reader r;
    if (in == NULL)
        return cvm_fail(vm, "cannot open %.200s", cvm_bytes(name));
    cvm_reader_open(&r, vm, in, name);
    while (cvm_run_next(&r, last))
        ;
    if (ferror(in) && !vm->error.failed)
        cvm_fail(vm, "cannot read %.200s", cvm_bytes(*r.file));
    fclose(in);
    cvm_close(vm, scope);
    return vm->error.failed ? CVM_NONE : *last;
}

cvm_value cvm_run_file(cvm *vm, const char *path)
{
    cvm_value name = cvm_text(vm, path);
    return name != CVM_NONE ? run_stream(vm, fopen(path, "r"), name) : CVM_NONE;
}

cvm_value cvm_run_text(cvm *vm, const char *name, const char *text, size_t length)
{
    cvm_value string = cvm_text(vm, name);
    FILE *in = string != CVM_NONE ? text_stream(vm, text, length) : NULL;
    return in != NULL ? run_stream(vm, in, string) : CVM_NONE;
}

/* ---- for programs -------------------------------------------------------- */

/* (try procedure handler): call procedure; if it fails, call the handler with the message. (exit) is not caught. */
CVM_BUILTIN_BODY(b_try)
{
    cvm_value v = cvm_call(vm, args[0], NULL, 0);
    if (v != CVM_NONE || !cvm_can_catch(vm))
        return v;
    cvm_error_clear(vm);
    cvm_value *message = cvm_root(vm, cvm_text(vm, vm->error.message));
    return *message != CVM_NONE ? cvm_call(vm, args[1], message, 1) : CVM_NONE;
}

CVM_BUILTIN_BODY(b_exit)
{
    vm->error.exiting = 1;
    vm->exit_status = n > 0 ? (int)(cvm_index_of(args[0]) & 255) : 0;
    return cvm_fail(vm, "exit");
}

CVM_BUILTIN_BODY(b_eval) { return cvm_eval(vm, args[0], CVM_NIL); }

CVM_BUILTIN_BODY(b_load)
{
    if (!cvm_enter(vm))
        return CVM_NONE;
    cvm_value v = run_stream(vm, fopen(cvm_bytes(args[0]), "r"), args[0]);
    cvm_leave(vm);
    return v;
}

/* (read text): the first expression in it, or nil */
CVM_BUILTIN_BODY(b_read)
{
    cvm_value name = cvm_text(vm, "(read)");
    FILE *in = name != CVM_NONE ? text_stream(vm, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length) : NULL;
    cvm_reader r;
    if (in == NULL)
        return CVM_NONE;
    cvm_reader_open(&r, vm, in, name);
    cvm_value v = cvm_read(&r);
    fclose(in);
    return v != CVM_NONE || vm->error.failed ? v : CVM_NIL;
}

static const cvm_builtin_def builtins[] = {
    { "try", "ff", b_try },                 { "exit", "?i", b_exit },
    { "eval", ".", b_eval },                { "load", "s", b_load },
    { "read", "s", b_read },
    { NULL, NULL, NULL }
};

/* ---- the layer ------------------------------------------------------------ */

static int open_lisp(cvm *vm)
{
    static const cvm_kind kinds[] = {
        { "pair", offsetof(cvm_pair, car), CVM_REST }, { "symbol", offsetof(cvm_variable, name), 3 },
        { "number", 0, 0 }, { "number", 0, 0 },
        { "procedure", offsetof(cvm_closure, name), 4 }, { "binding", offsetof(cvm_variable, name), 3 },
        { "procedure", 0, 0 }, { "special", 0, 0 }
    };
    static const cvm_builtin_def *const all[] = {
        cvm_number_builtins, cvm_list_builtins, cvm_text_builtins, builtins, cvm_watch_builtins
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
