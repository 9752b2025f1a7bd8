/* text.c - strings, symbols, and output. */
#include "lisp.h"

#include <string.h>

CVM_BUILTIN_BODY(b_string_length) { return cvm_size(vm, CVM_STRING_OF(args[0])->length); }

CVM_BUILTIN_BODY(b_string_append)
{
    size_t i, length = 0, at = 0;
    cvm_value v;

    for (i = 0; i < n; i++) {
        if (CVM_STRING_OF(args[i])->length > SIZE_MAX / 4 - length)
            return cvm_out_of_memory(vm);
        length += CVM_STRING_OF(args[i])->length;
    }
    v = cvm_string_new(vm, NULL, length);
    for (i = 0; v != CVM_NONE && i < n; i++) {
        memcpy(CVM_STRING_OF(v)->bytes + at, cvm_bytes(args[i]), CVM_STRING_OF(args[i])->length);
        at += CVM_STRING_OF(args[i])->length;
    }
    return v;
}

/* (substring s start) or (substring s start end) */
CVM_BUILTIN_BODY(b_substring)
{
    size_t length = CVM_STRING_OF(args[0])->length, start = cvm_index_of(args[1]);
    size_t end = n > 2 ? cvm_index_of(args[2]) : length;
    cvm_value v;

    if (start > length || end > length)
        return cvm_fail(vm, "substring: index %lu is out of range, the length is %lu",
                        (unsigned long)(start > length ? start : end), (unsigned long)length);
    if (start > end)
        return cvm_fail(vm, "substring: the start %lu is behind the end %lu", (unsigned long)start,
                        (unsigned long)end);
    v = cvm_string_new(vm, NULL, end - start);
    if (v != CVM_NONE)
        memcpy(CVM_STRING_OF(v)->bytes, cvm_bytes(args[0]) + start, end - start);
    return v;
}

/* (string-repeat s times) */
CVM_BUILTIN_BODY(b_string_repeat)
{
    size_t times = cvm_index_of(args[1]), length = CVM_STRING_OF(args[0])->length, i;
    cvm_value v;

    if (length == 0)
        return args[0];
    if (times > SIZE_MAX / 4 / length)
        return cvm_out_of_memory(vm);
    v = cvm_string_new(vm, NULL, times * length);
    for (i = 0; v != CVM_NONE && i < times; i++)
        memcpy(CVM_STRING_OF(v)->bytes + i * length, cvm_bytes(args[0]), length);
    return v;
}

/* (string-search s part): where part first occurs in s, or false */
CVM_BUILTIN_BODY(b_string_search)
{
    size_t length = CVM_STRING_OF(args[0])->length, part = CVM_STRING_OF(args[1])->length, i;

    for (i = 0; part <= length && i <= length - part; i++)
        if (memcmp(cvm_bytes(args[0]) + i, cvm_bytes(args[1]), part) == 0)
            return cvm_size(vm, i);
    return CVM_FALSE;
}

/* The text is copied first: it would move when the symbol is made. */
CVM_BUILTIN_BODY(b_string_to_symbol)
{
    cvm_buffer text = { 0 };
    cvm_value v;

    cvm_put(&text, cvm_bytes(args[0]), CVM_STRING_OF(args[0])->length + 1);
    v = text.full ? cvm_out_of_memory(vm) : cvm_symbol_new(vm, text.bytes, text.length - 1);
    cvm_buffer_free(&text);
    return v;
}

/* ---- printing ------------------------------------------------------------ */

/* All arguments, with `between` between them; 0 after a failure. */
static int put_all(cvm *vm, cvm_value *args, size_t n, int quoted, const char *between, cvm_buffer *out)
{
    size_t i;
    int ok = 1;

    out->limit = vm->heap.limit;
    for (i = 0; ok && i < n; i++) {
        if (i > 0)
            cvm_put_text(out, between);
        ok = cvm_print(vm, args[i], quoted, out);
    }
    return ok;
}

static cvm_value as_text(cvm *vm, cvm_value *args, size_t n, int quoted)
{
    cvm_buffer out = { 0 };
    cvm_value v = put_all(vm, args, n, quoted, "", &out) ? cvm_string_new(vm, out.bytes, out.length) : CVM_NONE;

    cvm_buffer_free(&out);
    return v;
}

static cvm_value show(cvm *vm, cvm_value *args, size_t n, const char *between, const char *end)
{
    cvm_buffer out = { 0 };
    int ok = put_all(vm, args, n, 0, between, &out);

    if (ok && out.length > 0)
        fwrite(out.bytes, 1, out.length, vm->out);
    if (ok)
        fputs(end, vm->out);
    cvm_buffer_free(&out);
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
    cvm_buffer out = { 0 };

    if (put_all(vm, args, n, 0, " ", &out))
        cvm_fail(vm, "%.*s", (int)(out.length < sizeof vm->message ? out.length : sizeof vm->message),
                 out.length > 0 ? out.bytes : "");
    cvm_buffer_free(&out);
    return CVM_NONE;
}

const cvm_builtin_def cvm_text_builtins[] = {
    { "string-length", "s", b_string_length },      { "string-append", "s*", b_string_append },
    { "substring", "si?i", b_substring },           { "string-repeat", "si", b_string_repeat },
    { "string-search", "ss", b_string_search },     { "string->symbol", "s", b_string_to_symbol },
    { "to-string", ".*", b_to_string },             { "repr", ".", b_repr },
    { "print", ".*", b_print },                     { "display", ".*", b_display },
    { "error", ".*", b_error },
    { NULL, NULL, NULL }
};
