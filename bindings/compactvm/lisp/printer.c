/* printer.c - values as text. Printing allocates no objects of the heap, so nothing
 * moves while it goes on. */
#include "lisp.h"

#include <math.h>
#include <stdlib.h>

/* ---- text in memory ------------------------------------------------------ */

int cvm_memory_open(cvm *vm, cvm_memory *text)
{
    text->bytes = NULL;
    text->length = 0;
    text->out = open_memstream(&text->bytes, &text->length);
    if (text->out == NULL)
        cvm_out_of_memory(vm);
    return text->out != NULL;
}

int cvm_memory_close(cvm *vm, cvm_memory *text)
{
    int ok = !ferror(text->out);
    ok = fclose(text->out) == 0 && ok;
    if (!ok)
        cvm_out_of_memory(vm);
    return ok;
}

/* Printing has failed, or the text is full. */
static int is_over(const cvm *vm, FILE *out) { return vm->error.failed || ferror(out); }

/* ---- values ------------------------------------------------------------- */

/* The shortest of a few spellings that reads back as the same number. */
static void put_real(FILE *out, double number)
{
    char text[40];
    int digits = 14;
    double back;
    do {
        snprintf(text, sizeof text, "%.*g", ++digits, number);
        back = strtod(text, NULL);
    } while (digits < 17 && (back < number || back > number));
    fprintf(out, "%s%s", isnan(number) ? "nan" : text,          /* without a sign */
            isfinite(number) && strpbrk(text, ".e") == NULL ? ".0" : "");
}

void cvm_put_quoted(FILE *out, const char *bytes, size_t length)
{
    static const char special[] = "\n\t\r\"\\", letters[] = "ntr\"\\";
    putc('"', out);
    for (; length > 0; length--, bytes++) {
        const char *known = *bytes != '\0' ? strchr(special, *bytes) : NULL;
        if (known != NULL)
            fprintf(out, "\\%c", letters[known - special]);
        else
            fprintf(out, (*bytes >= 0 && *bytes < ' ') || *bytes == 127 ? "\\x%02x" : "%c", *bytes);
    }
    putc('"', out);
}

/* Each pair on the way is flagged until the list is done, so that meeting a
   flagged one means that the list contains itself. */
static void print_list(cvm *vm, cvm_value list, int quoted, FILE *out)
{
    cvm_value v = list;
    size_t n = 0;
    putc('(', out);
    do {
        fputs(n++ > 0 ? " " : "", out);
        cvm_object_of(v)->flags |= CVM_PRINTING;
        cvm_print(vm, CVM_PAIR_OF(v)->car, quoted, out);
        v = CVM_PAIR_OF(v)->cdr;
    } while (cvm_is(v, CVM_PAIR) && !(cvm_object_of(v)->flags & CVM_PRINTING) && !is_over(vm, out));
    if (v != CVM_NIL) {
        fputs(cvm_is(v, CVM_PAIR) ? " " : " . ", out);
        cvm_print(vm, v, quoted, out);
    }
    putc(')', out);
    for (v = list; n > 0; n--, v = CVM_PAIR_OF(v)->cdr)
        cvm_object_of(v)->flags &= (unsigned char)~CVM_PRINTING;
}

static void print_vector(cvm *vm, const cvm_vector *vector, int quoted, FILE *out)
{
    putc('[', out);
    for (size_t i = 0; i < vector->length && !is_over(vm, out); i++) {
        fputs(i > 0 ? " " : "", out);
        cvm_print(vm, vector->items[i], quoted, out);
    }
    putc(']', out);
}

static void print_object(cvm *vm, cvm_value v, int quoted, FILE *out)
{
    const cvm_foreign_ops *foreign = cvm_lisp_of(vm)->foreign;
    switch (cvm_object_of(v)->kind) {
    case CVM_PAIR:
        print_list(vm, v, quoted, out);
        break;
    case CVM_VECTOR:
        print_vector(vm, CVM_VECTOR_OF(v), quoted, out);
        break;
    case CVM_STRING:
        if (quoted)
            cvm_put_quoted(out, cvm_bytes(v), CVM_STRING_OF(v)->length);
        else
            fwrite(cvm_bytes(v), 1, CVM_STRING_OF(v)->length, out);
        break;
    case CVM_SYMBOL:
        fputs(cvm_symbol_text(v), out);
        break;
    case CVM_REAL:
        put_real(out, CVM_REAL_OF(v)->number);
        break;
    case CVM_CLOSURE:
        fprintf(out, "#<procedure %s>", cvm_closure_name(v));
        break;
    case CVM_BUILTIN:
    case CVM_SPECIAL:
        fprintf(out, "#<%s %s>", cvm_is(v, CVM_BUILTIN) ? "builtin" : "special", CVM_BUILTIN_OF(v)->def->name);
        break;
    default:
        if (foreign != NULL)
            foreign->print(vm, v, quoted, out);
        else
            fprintf(out, "#<%s>", cvm_named_ob(v) != NULL ? RRC_TYPE(cvm_named_ob(v))->tp_name : "disposed");
    }
}

void cvm_print(cvm *vm, cvm_value v, int quoted, FILE *out)
{
    if (is_over(vm, out))
        return;
    if ((size_t)ftell(out) > vm->heap.limit) {          /* what is shared can be printed again and again */
        cvm_out_of_memory(vm);
    } else if (cvm_is_whole(v)) {
        fprintf(out, "%lld", (long long)cvm_whole_of(v));
    } else if (!cvm_is_object(v) || (cvm_object_of(v)->flags & CVM_PRINTING)) {
        fputs(v == CVM_NIL ? "nil" : v == CVM_TRUE ? "true" : v == CVM_FALSE ? "false" : "...", out);
    } else if (cvm_enter(vm)) {
        cvm_object_of(v)->flags |= CVM_PRINTING;
        print_object(vm, v, quoted, out);
        cvm_object_of(v)->flags &= (unsigned char)~CVM_PRINTING;
        cvm_leave(vm);
    }
}

int cvm_print_all(cvm *vm, const cvm_value *v, size_t n, int quoted, const char *between, cvm_memory *text)
{
    if (!cvm_memory_open(vm, text))
        return 0;
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? between : "", text->out);
        cvm_print(vm, v[i], quoted, text->out);
    }
    return cvm_memory_close(vm, text) && !vm->error.failed;
}

int cvm_show(cvm *vm, const cvm_value *v, size_t n, int quoted, const char *between, const char *end)
{
    cvm_memory text;
    int ok = cvm_print_all(vm, v, n, quoted, between, &text);
    if (ok) {
        fwrite(text.bytes, 1, text.length, stdout);
        fputs(end, stdout);
    }
    free(text.bytes);
    return ok;
}

void cvm_print_short(cvm *vm, cvm_value v, char *text, size_t size)
{
    cvm_error saved = vm->error;
    memset(text, 0, size);
    FILE *out = fmemopen(text, size - 4, "w");      /* room for "..." and a zero byte */
    if (out == NULL)
        return;
    setbuf(out, NULL);                  /* so that the stream knows when it is full */
    vm->error.failed = 0;
    cvm_print(vm, v, 1, out);
    int cut = is_over(vm, out);         /* nested too deep: what there is will do */
    vm->error = saved;
    fclose(out);
    if (cut)
        strcat(text, "...");
}
