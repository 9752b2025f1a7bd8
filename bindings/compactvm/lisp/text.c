/* text.c - strings, and output. */
#include "lisp.h"

#include <stdlib.h>

CVM_BUILTIN_BODY(b_string_length) { return cvm_size(vm, CVM_STRING_OF(args[0])->length); }

/* (string-repeat s times) */
CVM_BUILTIN_BODY(b_string_repeat)
{
    size_t times = cvm_index_of(args[1]), length = CVM_STRING_OF(args[0])->length;
    if (length > 0 && times > SIZE_MAX / 4 / length)
        return cvm_out_of_memory(vm);
    cvm_value v = cvm_string_new(vm, NULL, times * length);
    for (size_t at = 0; v != CVM_NONE && at < times * length; at += length)
        memcpy(CVM_STRING_OF(v)->bytes + at, cvm_bytes(args[0]), length);
    return v;
}

/* (string-search s part): where part first occurs in s, or false */
CVM_BUILTIN_BODY(b_string_search)
{
    size_t length = CVM_STRING_OF(args[0])->length, part = CVM_STRING_OF(args[1])->length;
    for (size_t i = 0; part <= length && i <= length - part; i++)
        if (memcmp(cvm_bytes(args[0]) + i, cvm_bytes(args[1]), part) == 0)
            return cvm_size(vm, i);
    return CVM_FALSE;
}

/* ---- printing ------------------------------------------------------------ */

/* One string of n values, with `between` between them. */
static cvm_value as_text(cvm *vm, cvm_value *args, size_t n, int quoted, const char *between)
{
    cvm_memory text;
    cvm_value v = CVM_NONE;
    if (cvm_print_all(vm, args, n, quoted, between, &text))
        v = cvm_string_new(vm, text.bytes, text.length);
    free(text.bytes);
    return v;
}

/* (to-string x ...): as print shows them, in one string; (repr x): as the reader would take it */
CVM_BUILTIN_BODY(b_to_string) { return as_text(vm, args, n, 0, ""); }
CVM_BUILTIN_BODY(b_repr) { return as_text(vm, args, n, 1, ""); }
CVM_BUILTIN_BODY(b_print) { return cvm_show(vm, args, n, 0, " ", "\n") ? CVM_NIL : CVM_NONE; }
CVM_BUILTIN_BODY(b_display) { return cvm_show(vm, args, n, 0, "", "") ? CVM_NIL : CVM_NONE; }

/* (error x ...): fail; the message is made of the arguments as print shows them */
CVM_BUILTIN_BODY(b_error)
{
    cvm_value message = as_text(vm, args, n, 0, " ");
    return message != CVM_NONE ? cvm_fail(vm, "%s", cvm_bytes(message)) : CVM_NONE;
}

const cvm_builtin_def cvm_text_builtins[] = {
    { "string-length", "s", b_string_length },      { "string-append", "s*", b_to_string },
    { "string-repeat", "si", b_string_repeat },     { "string-search", "ss", b_string_search },
    { "to-string", ".*", b_to_string },             { "repr", ".", b_repr },
    { "print", ".*", b_print },                     { "display", ".*", b_display },
    { "error", ".*", b_error },
    { NULL, NULL, NULL }
};
