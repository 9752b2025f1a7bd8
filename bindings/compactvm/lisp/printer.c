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

    if (out->fixed || length > SIZE_MAX / 4)
        return 0;
    while (capacity < length)
        capacity *= 2;
    bytes = realloc(out->bytes, capacity);
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

void cvm_put_integer(cvm_buffer *out, intptr_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)number);
    cvm_put_text(out, text);
}

/* The shortest of a few spellings that reads back as the same number. */
void cvm_put_real(cvm_buffer *out, double number)
{
    char text[40];
    int digits;

    if (isnan(number)) {
        cvm_put_text(out, "nan");
        return;
    }
    if (isinf(number)) {
        cvm_put_text(out, number > 0 ? "inf" : "-inf");
        return;
    }
    for (digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, number);
        back = strtod(text, NULL);
        if (back >= number && back <= number)
            break;
    }
    cvm_put_text(out, text);
    if (strpbrk(text, ".e") == NULL)
        cvm_put_text(out, ".0");
}

void cvm_put_quoted(cvm_buffer *out, const char *bytes, size_t length)
{
    size_t i;

    cvm_put(out, "\"", 1);
    for (i = 0; i < length; i++) {
        char c = bytes[i];
        char hex[8];

        if (c == '"' || c == '\\') {
            cvm_put(out, "\\", 1);
            cvm_put(out, &c, 1);
        } else if (c == '\n') {
            cvm_put(out, "\\n", 2);
        } else if (c == '\t') {
            cvm_put(out, "\\t", 2);
        } else if (c == '\r') {
            cvm_put(out, "\\r", 2);
        } else if ((unsigned char)c < 32 || c == 127) {
            snprintf(hex, sizeof hex, "\\x%02x", (unsigned)(unsigned char)c);
            cvm_put_text(out, hex);
        } else {
            cvm_put(out, &c, 1);
        }
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

static void print_named(const char *what, const char *name, cvm_buffer *out)
{
    cvm_put(out, "#<", 2);
    cvm_put_text(out, what);
    cvm_put(out, " ", 1);
    cvm_put_text(out, name);
    cvm_put(out, ">", 1);
}

/* A proxy, or an object of the API's kinds. */
static int print_foreign(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    rrc_object *ob = cvm_named_ob(v);

    if (cvm_lisp_of(vm)->foreign.print != NULL)
        return cvm_lisp_of(vm)->foreign.print(vm, v, quoted, out);
    cvm_put_text(out, "#<");
    cvm_put_text(out, ob != NULL ? RRC_TYPE(ob)->tp_name : "disposed");
    cvm_put_text(out, ">");
    return 1;
}

static int print_object(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    switch (cvm_object_of(v)->kind) {
    case CVM_PAIR:
        return print_list(vm, v, quoted, out);
    case CVM_VECTOR:
        return print_vector(vm, CVM_VECTOR_OF(v), quoted, out);
    case CVM_STRING:
        if (quoted)
            cvm_put_quoted(out, cvm_bytes(v), CVM_STRING_OF(v)->length);
        else
            cvm_put(out, cvm_bytes(v), CVM_STRING_OF(v)->length);
        break;
    case CVM_SYMBOL:
        cvm_put_text(out, cvm_symbol_text(v));
        break;
    case CVM_REAL:
        cvm_put_real(out, CVM_REAL_OF(v)->number);
        break;
    case CVM_CLOSURE:
        print_named("procedure", cvm_is(CVM_CLOSURE_OF(v)->name, CVM_SYMBOL)
                    ? cvm_symbol_text(CVM_CLOSURE_OF(v)->name) : "lambda", out);
        break;
    case CVM_BUILTIN:
        print_named("builtin", CVM_BUILTIN_OF(v)->def->name, out);
        break;
    case CVM_SPECIAL:
        print_named("special", CVM_SPECIAL_OF(v)->def->name, out);
        break;
    case CVM_BINDING:
        print_named("binding", "of a variable", out);
        break;
    case CVM_INTEGER:
        cvm_put_integer(out, CVM_INTEGER_OF(v)->number);
        break;
    default:
        return print_foreign(vm, v, quoted, out);
    }
    return 1;
}

int cvm_print_nested(cvm *vm, cvm_value v, int quoted, cvm_buffer *out)
{
    int ok;

    if (out->full)
        return 1;
    if (cvm_is_fixnum(v)) {
        cvm_put_integer(out, cvm_fixnum_of(v));
        return 1;
    }
    if (!cvm_is_object(v)) {
        cvm_put_text(out, v == CVM_NIL ? "nil" : v == CVM_TRUE ? "true"
                        : v == CVM_FALSE ? "false" : "#<unbound>");
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
    if (out->full && !out->fixed) {
        cvm_out_of_memory(vm);
        return 0;
    }
    return 1;
}

int cvm_print_all(cvm *vm, const cvm_value *args, size_t n, int quoted, const char *between,
                  const char *end, cvm_buffer *out)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (i > 0)
            cvm_put_text(out, between);
        if (!cvm_print(vm, args[i], quoted, out))
            return 0;
    }
    cvm_put_text(out, end);
    return 1;
}

void cvm_print_short(cvm *vm, cvm_value v, char *text, size_t size)
{
    cvm_buffer out = { 0 };

    out.bytes = text;
    out.capacity = size - 4;        /* room for "..." and the final zero */
    out.fixed = 1;
    if (!cvm_print(vm, v, 1, &out)) {
        cvm_error_clear(vm);        /* nested too deep: what there is will do */
        out.full = 1;
    }
    memcpy(text + out.length, "...", 4);
    if (!out.full)
        text[out.length] = '\0';
}
