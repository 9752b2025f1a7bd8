/* printer.c - values as text. Printing allocates no objects of the heap, so nothing
 * moves while it goes on. */
#include "lisp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ------------------------------------------------------------ */

static int grow(cvm_buffer *out, size_t length)
{
    size_t capacity = out->capacity < 64 ? 64 : out->capacity;
    char *bytes;

    while (capacity < length && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    bytes = capacity >= length ? realloc(out->bytes, capacity) : NULL;
    if (bytes == NULL)
        return 0;
    out->bytes = bytes;
    out->capacity = capacity;
    return 1;
}

void cvm_put(cvm_buffer *out, const char *bytes, size_t length)
{
    if (length == 0 || out->full)
        return;
    if (out->limit != 0 && length > out->limit - out->length) {
        length = out->limit - out->length;
        out->full = 1;
    }
    if (length > out->capacity - out->length && !grow(out, out->length + length)) {
        length = out->capacity - out->length;
        out->full = 1;
    }
    if (length > 0)
        memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

void cvm_put_text(cvm_buffer *out, const char *zero_terminated)
{
    cvm_put(out, zero_terminated, strlen(zero_terminated));
}

void cvm_buffer_free(cvm_buffer *out)
{
    free(out->bytes);
    memset(out, 0, sizeof *out);
}

/* ---- values ------------------------------------------------------------- */

/* The shortest of a few spellings that reads back as the same number. */
static void put_real(cvm_buffer *out, double number)
{
    char text[40];
    int digits;

    for (digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, number);
        back = strtod(text, NULL);
        if (back >= number && back <= number)
            break;
    }
    if (isnan(number))
        strcpy(text, "nan");            /* without a sign */
    cvm_put_text(out, text);
    if (isfinite(number) && strpbrk(text, ".e") == NULL)
        cvm_put_text(out, ".0");
}

void cvm_put_quoted(cvm_buffer *out, const char *bytes, size_t length)
{
    static const char special[] = "\n\t\r\"\\", letters[] = "ntr\"\\";
    const char *end = bytes + length;

    cvm_put(out, "\"", 1);
    while (bytes < end) {
        size_t size = cvm_utf8_length(bytes, end);
        const char *known = memchr(special, *bytes, sizeof special - 1);
        char escape[8] = { '\\' };

        if (known != NULL) {
            escape[1] = letters[known - special];
            cvm_put(out, escape, 2);
        } else if (size == 0 || *bytes == 127 || (size == 1 && *bytes < ' ')) {
            snprintf(escape, sizeof escape, "\\x%02x", (unsigned)(unsigned char)*bytes);
            cvm_put_text(out, escape);
        } else {
            cvm_put(out, bytes, size);
        }
        bytes += size == 0 ? 1 : size;
    }
    cvm_put(out, "\"", 1);
}

/* Each pair on the way is flagged until the list is done, so that meeting a
   flagged one means that the list contains itself. */
static int print_list(cvm *vm, cvm_value list, int quoted, cvm_buffer *out)
{
    cvm_value v = list;
    size_t n = 0, i;
    int ok = 1;

    cvm_put(out, "(", 1);
    for (;;) {
        cvm_object_of(v)->flags |= CVM_PRINTING;
        n++;
        ok = cvm_print_nested(vm, CVM_PAIR_OF(v)->car, quoted, out);
        v = CVM_PAIR_OF(v)->cdr;
        if (!ok || v == CVM_NIL || out->full)
            break;
        cvm_put(out, " ", 1);
        if (!cvm_is(v, CVM_PAIR)) {
            cvm_put(out, ". ", 2);
            ok = cvm_print_nested(vm, v, quoted, out);
            break;
        }
        if (cvm_object_of(v)->flags & CVM_PRINTING) {
            cvm_put(out, "...", 3);
            break;
        }
    }
    cvm_put(out, ")", 1);
    for (v = list, i = 0; i < n; i++, v = CVM_PAIR_OF(v)->cdr)
        cvm_object_of(v)->flags &= (unsigned char)~CVM_PRINTING;
    return ok;
}

static int print_vector(cvm *vm, cvm_vector *vector, int quoted, cvm_buffer *out)
{
    size_t i;
    int ok = 1;

    vector->head.flags |= CVM_PRINTING;
    cvm_put(out, "[", 1);
    for (i = 0; ok && i < vector->length && !out->full; i++) {
        if (i > 0)
            cvm_put(out, " ", 1);
        ok = cvm_print_nested(vm, vector->items[i], quoted, out);
    }
    cvm_put(out, "]", 1);
    vector->head.flags &= (unsigned char)~CVM_PRINTING;
    return ok;
}

static void put_named(cvm_buffer *out, const char *what, const char *name)
{
    cvm_put_text(out, "#<");
    cvm_put_text(out, what);
    cvm_put_text(out, name);
    cvm_put_text(out, ">");
}

static int print_object(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    const cvm_foreign_ops *foreign = cvm_lisp_of(vm)->foreign;

    switch (cvm_object_of(v)->kind) {
    case CVM_PAIR:
        return print_list(vm, v, quoted, out);
    case CVM_VECTOR:
        return print_vector(vm, CVM_VECTOR_OF(v), quoted, out);
    case CVM_STRING:
        (quoted ? cvm_put_quoted : cvm_put)(out, cvm_bytes(v), CVM_STRING_OF(v)->length);
        break;
    case CVM_SYMBOL:
        cvm_put_text(out, cvm_symbol_text(v));
        break;
    case CVM_REAL:
        put_real(out, CVM_REAL_OF(v)->number);
        break;
    case CVM_CLOSURE:
        put_named(out, "procedure ", cvm_is(CVM_CLOSURE_OF(v)->name, CVM_SYMBOL)
                  ? cvm_symbol_text(CVM_CLOSURE_OF(v)->name) : "lambda");
        break;
    case CVM_BUILTIN:
        put_named(out, "builtin ", CVM_BUILTIN_OF(v)->def->name);
        break;
    case CVM_SPECIAL:
        put_named(out, "special ", CVM_SPECIAL_OF(v)->def->name);
        break;
    default:
        if (foreign != NULL)
            return foreign->print(vm, v, quoted, out);
        put_named(out, "", cvm_named_ob(v) != NULL ? RRC_TYPE(cvm_named_ob(v))->tp_name : "disposed");
    }
    return 1;
}

int cvm_print_nested(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    char number[32];
    int ok;

    if (out->full)
        return 1;
    if (cvm_is_whole(v)) {
        snprintf(number, sizeof number, "%lld", (long long)cvm_whole_of(v));
        cvm_put_text(out, number);
        return 1;
    }
    if (!cvm_is_object(v)) {
        cvm_put_text(out, v == CVM_NIL ? "nil" : v == CVM_TRUE ? "true" : "false");
        return 1;
    }
    if (cvm_object_of(v)->flags & CVM_PRINTING) {
        cvm_put_text(out, "...");
        return 1;
    }
    if (!cvm_enter(vm))
        return 0;
    ok = print_object(vm, v, quoted, out);
    cvm_leave(vm);
    return ok;
}

int cvm_print(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    if (!cvm_print_nested(vm, v, quoted, out))
        return 0;
    if (out->full)
        cvm_out_of_memory(vm);
    return !out->full;
}

void cvm_print_short(cvm *vm, cvm_value v, char *text, size_t size)
{
    cvm_buffer out = { 0 };

    out.limit = size - 4;           /* room for "..." and the final zero */
    if (!cvm_print_nested(vm, v, 1, &out)) {
        cvm_error_clear(vm);        /* nested too deep: what there is will do */
        out.full = 1;
    }
    snprintf(text, size, "%.*s%s", (int)out.length, out.length > 0 ? out.bytes : "", out.full ? "..." : "");
    cvm_buffer_free(&out);
}
