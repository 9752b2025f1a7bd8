/* text.c - strings, and output. */
#include "lisp.h"

#include <stdlib.h>

CVM_BUILTIN_BODY(b_string_length) { return cvm_size(vm, CVM_STRING_OF(args[0])->length); }

/* A new string of so many bytes: the strings in rooted slots, one after the other, each from `start` on.
   step 0: the first one again and again. */
static cvm_value join(cvm *vm, const cvm_value *strings, size_t step, size_t start, size_t length)
{
    cvm_value v = cvm_string_new(vm, NULL, length);
    size_t n;
    for (size_t at = 0; v != CVM_NONE && at < length; at += n, strings += step) {
        n = CVM_STRING_OF(*strings)->length - start;
        if (n > length - at)
            n = length - at;
        memcpy(CVM_STRING_OF(v)->bytes + at, cvm_bytes(*strings) + start, n);
    }
    return v;
}

CVM_BUILTIN_BODY(b_string_append)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        if (CVM_STRING_OF(args[i])->length > SIZE_MAX / 4 - length)
            return cvm_out_of_memory(vm);
        length += CVM_STRING_OF(args[i])->length;
    }
    return join(vm, args, 1, 0, length);
}

/* (substring s start) or (substring s start end) */
CVM_BUILTIN_BODY(b_substring)
{
    size_t length = CVM_STRING_OF(args[0])->length, start = cvm_index_of(args[1]);
    size_t end = n > 2 ? cvm_index_of(args[2]) : length;
    if (start > end || end > length)
        return cvm_fail(vm, "substring: from %lu to %lu is out of range, the length is %lu", (unsigned long)start,
                        (unsigned long)end, (unsigned long)length);
    return join(vm, args, 0, start, end - start);
}

/* (string-repeat s times) */
CVM_BUILTIN_BODY(b_string_repeat)
{
    size_t times = cvm_index_of(args[1]), length = CVM_STRING_OF(args[0])->length;
    if (length > 0 && times > SIZE_MAX / 4 / length)
        return cvm_out_of_memory(vm);
    return join(vm, args, 0, 0, times * length);
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

static cvm_value as_text(cvm *vm, cvm_value *args, size_t n, int quoted)
{
    cvm_memory text;
    cvm_value v = CVM_NONE;
    if (cvm_print_all(vm, args, n, quoted, "", &text))
        v = cvm_string_new(vm, text.bytes, text.length);
    free(text.bytes);
    return v;
}

static cvm_value show(cvm *vm, cvm_value *args, size_t n, const char *between, const char *end)
{
    cvm_memory text;
    int ok = cvm_print_all(vm, args, n, 0, between, &text);
    if (ok) {
        fwrite(text.bytes, 1, text.length, vm->config.out);
        fputs(end, vm->config.out);
    }
    free(text.bytes);
    return ok ? CVM_NIL : CVM_NONE;
}

/* (to-string x ...): as print shows them, in one string; (repr x): as the reader would take it */
CVM_BUILTIN_BODY(b_to_string) { return as_text(vm, args, n, 0); }
CVM_BUILTIN_BODY(b_repr) { return as_text(vm, args, n, 1); }
CVM_BUILTIN_BODY(b_print) { return show(vm, args, n, " ", "\n"); }
CVM_BUILTIN_BODY(b_display) { return show(vm, args, n, "", ""); }

/* (error x ...): fail; the message is made of the arguments as print shows them */
CVM_BUILTIN_BODY(b_error)
{
    cvm_memory text;
    if (cvm_print_all(vm, args, n, 0, " ", &text))
        cvm_fail(vm, "%s", text.bytes);
    free(text.bytes);
    return CVM_NONE;
}

const cvm_builtin_def cvm_text_builtins[] = {
    { "string-length", "s", b_string_length },      { "string-append", "s*", b_string_append },
    { "substring", "si?i", b_substring },           { "string-repeat", "si", b_string_repeat },
    { "string-search", "ss", b_string_search },     { "to-string", ".*", b_to_string },
    { "repr", ".", b_repr },                        { "print", ".*", b_print },
    { "display", ".*", b_display },                 { "error", ".*", b_error },
    { NULL, NULL, NULL }
};
