/* reader.c - text to values.
 *
 *     ; a comment          12  -3.5  1e9         "text\n"
 *     symbol               (a b . c)             'x is (quote x)
 *     nil true false       [1 2 3] is a vector
 */
#include "lisp.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static cvm_value read_form(cvm_reader *r);

static cvm_value reader_fail(cvm_reader *r, int line, const char *message)
{
    cvm_fail(r->vm, "%s", message);
    r->vm->error_file = *r->file;
    r->vm->error_line = line;
    return CVM_NONE;
}

/* Whatever went wrong while reading an expression happened at this line. */
static cvm_value failed_at(cvm_reader *r, int line)
{
    if (r->vm->failed && r->vm->error_line == 0) {
        r->vm->error_file = *r->file;
        r->vm->error_line = line;
    }
    return CVM_NONE;
}

static void next(cvm_reader *r)
{
    if (*r->at == '\n' && r->line < INT_MAX)
        r->line++;
    r->at++;
}

static void skip_blanks(cvm_reader *r)
{
    while (r->at < r->end) {
        if (*r->at == ';') {
            while (r->at < r->end && *r->at != '\n')
                next(r);
        } else if (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')) {
            next(r);
        } else {
            return;
        }
    }
}

static int is_delimiter(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r')
        || c == '(' || c == ')' || c == '[' || c == ']' || c == '"' || c == ';' || c == '\'';
}

/* ---- atoms -------------------------------------------------------------- */

/* An optional sign and digits. 0: the number does not fit a word. */
static int parse_whole(const char *text, intptr_t *number)
{
    int negative = *text == '-';
    intptr_t n = 0;

    for (text += negative || *text == '+'; *text != '\0'; text++) {
        int digit = *text - '0';

        if (n < (INTPTR_MIN + digit) / 10)
            return 0;
        n = n * 10 - digit;                 /* downwards: the range is wider there */
    }
    if (!negative && n == INTPTR_MIN)
        return 0;
    *number = negative ? n : -n;
    return 1;
}

cvm_value cvm_parse_number(cvm *vm, const char *text, size_t length)
{
    char few[64];
    char *copy, *end;
    size_t i, digits = 0;
    double number;
    intptr_t n;
    int is_number, is_whole;

    for (i = 0; i < length; i++) {          /* no hex, no "infinity": those are symbols */
        if (text[i] >= '0' && text[i] <= '9')
            digits++;
        else if (strchr("+-.eE", text[i]) == NULL || text[i] == '\0')
            return CVM_NONE;
    }
    if (digits == 0 || text[0] == 'e' || text[0] == 'E')
        return CVM_NONE;
    copy = length < sizeof few ? few : malloc(length + 1);
    if (copy == NULL)
        return cvm_out_of_memory(vm);
    memcpy(copy, text, length);
    copy[length] = '\0';
    number = strtod(copy, &end);
    is_number = *end == '\0';
    is_whole = is_number && strpbrk(copy, ".eE") == NULL && parse_whole(copy, &n);
    if (copy != few)
        free(copy);
    return !is_number ? CVM_NONE : is_whole ? cvm_integer(vm, n) : cvm_real_new(vm, number);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that an escape stands for, or -1. */
static int read_escape(cvm_reader *r)
{
    int high, low;
    char c = *r->at;

    next(r);
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '"': case '\\': return c;
    case 'x':
        if (r->end - r->at < 2)
            return -1;
        high = hex_digit(r->at[0]);
        low = hex_digit(r->at[1]);
        if (high < 0 || low < 0)
            return -1;
        r->at += 2;
        return high * 16 + low;
    default:
        return -1;
    }
}

static cvm_value read_string(cvm_reader *r)
{
    int line = r->line;
    cvm_buffer text = { 0 };
    cvm_value v;

    next(r);
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at;

        next(r);
        if (c == '\\' && r->at < r->end) {
            int byte = read_escape(r);

            if (byte < 0) {
                cvm_buffer_free(&text);
                return reader_fail(r, r->line, "unknown escape in a string");
            }
            c = (char)byte;
        }
        cvm_put(&text, &c, 1);
    }
    if (r->at >= r->end) {
        cvm_buffer_free(&text);
        return reader_fail(r, line, "this string has no end");
    }
    next(r);
    v = text.full ? cvm_out_of_memory(r->vm) : cvm_string_new(r->vm, text.bytes, text.length);
    cvm_buffer_free(&text);
    return v != CVM_NONE ? v : failed_at(r, line);
}

static cvm_value read_atom(cvm_reader *r)
{
    const char *start = r->at;
    int line = r->line;
    size_t length;
    char message[64];
    cvm_value v;

    while (r->at < r->end && !is_delimiter(*r->at)) {
        if (*r->at < '!' || *r->at > '~') {
            snprintf(message, sizeof message, "unexpected byte 0x%02x in a program",
                     (unsigned)(unsigned char)*r->at);
            return reader_fail(r, r->line, message);
        }
        r->at++;
    }
    length = (size_t)(r->at - start);
    if (length == 3 && memcmp(start, "nil", 3) == 0)
        return CVM_NIL;
    if (length == 4 && memcmp(start, "true", 4) == 0)
        return CVM_TRUE;
    if (length == 5 && memcmp(start, "false", 5) == 0)
        return CVM_FALSE;
    v = cvm_parse_number(r->vm, start, length);
    if (v == CVM_NONE && !r->vm->failed)
        v = cvm_symbol_new(r->vm, start, length);
    return v != CVM_NONE ? v : failed_at(r, line);
}

/* ---- lists and vectors -------------------------------------------------- */

/* A pair that knows where it was read. */
static cvm_value source_pair(cvm_reader *r, cvm_value car, int line)
{
    size_t scope = cvm_open(r->vm);
    cvm_value *a = cvm_root(r->vm, car);
    cvm_source_pair *p = (cvm_source_pair *)cvm_object_new(r->vm, CVM_PAIR, sizeof *p);

    cvm_close(r->vm, scope);
    if (p == NULL)
        return failed_at(r, line);
    cvm_heap_init(&p->pair.car, *a);
    cvm_heap_init(&p->pair.cdr, CVM_NIL);
    cvm_heap_init(&p->file, *r->file);
    cvm_heap_init(&p->line, cvm_fixnum(line));
    return (cvm_value)p;
}

/* "(a b)", "(a . b)", or what stands between other brackets as a list. */
static cvm_value read_list(cvm_reader *r, char close)
{
    cvm *vm = r->vm;
    int line = r->line;
    cvm_value *first = cvm_root(vm, CVM_NIL);
    cvm_value *last = cvm_root(vm, CVM_NIL);

    next(r);
    for (;;) {
        int at_line;
        cvm_value v;

        skip_blanks(r);
        if (r->at >= r->end)
            return reader_fail(r, line, close == ')' ? "this ( has no matching )"
                                                     : "this [ has no matching ]");
        if (*r->at == close) {
            next(r);
            return *first;
        }
        if (*r->at == ')' || *r->at == ']')
            return reader_fail(r, r->line, close == ')' ? "found ], expected )"
                                                        : "found ), expected ]");
        at_line = r->line;
        if (*r->at == '.' && r->end - r->at > 1 && is_delimiter(r->at[1])) {
            if (*last == CVM_NIL || close != ')')
                return reader_fail(r, at_line, "a dot must stand before the last item of a list");
            next(r);
            skip_blanks(r);
            v = r->at < r->end && *r->at != ')' ? read_form(r) : CVM_NONE;
            if (v == CVM_NONE)
                return vm->failed ? CVM_NONE : reader_fail(r, at_line, "nothing follows the dot");
            cvm_store(vm, *last, &CVM_PAIR_OF(*last)->cdr, v);
            skip_blanks(r);
            if (r->at < r->end && *r->at != ')')
                return reader_fail(r, at_line, "more than one item follows the dot");
            continue;
        }
        v = read_form(r);
        if (v == CVM_NONE || (v = source_pair(r, v, at_line)) == CVM_NONE)
            return CVM_NONE;
        if (*last == CVM_NIL)
            *first = v;
        else
            cvm_store(vm, *last, &CVM_PAIR_OF(*last)->cdr, v);
        *last = v;
    }
}

static cvm_value read_vector(cvm_reader *r)
{
    cvm *vm = r->vm;
    int line = r->line;
    cvm_value *list = cvm_root(vm, read_list(r, ']'));
    cvm_value v, item;
    size_t i = 0;

    if (*list == CVM_NONE)
        return CVM_NONE;
    v = cvm_vector_new(vm, (size_t)cvm_list_length(*list), CVM_NIL);
    if (v == CVM_NONE)
        return failed_at(r, line);
    for (item = *list; item != CVM_NIL; item = CVM_PAIR_OF(item)->cdr)
        cvm_heap_init(&CVM_VECTOR_OF(v)->items[i++], CVM_PAIR_OF(item)->car);
    return v;
}

/* 'x is (quote x). */
static cvm_value read_quote(cvm_reader *r)
{
    cvm *vm = r->vm;
    int line = r->line;
    cvm_value *quoted = cvm_root(vm, CVM_NIL);
    cvm_value *form = cvm_root(vm, CVM_NIL);

    next(r);
    skip_blanks(r);
    if (r->at >= r->end)
        return reader_fail(r, line, "nothing follows the quote");
    *quoted = read_form(r);
    if (*quoted == CVM_NONE || (*quoted = source_pair(r, *quoted, line)) == CVM_NONE)
        return CVM_NONE;
    *form = cvm_symbol_new(vm, "quote", 5);
    if (*form == CVM_NONE || (*form = source_pair(r, *form, line)) == CVM_NONE)
        return failed_at(r, line);
    cvm_store(vm, *form, &CVM_PAIR_OF(*form)->cdr, *quoted);
    return *form;
}

static cvm_value read_nested(cvm_reader *r)
{
    size_t scope = cvm_open(r->vm);
    cvm_value v;

    if (!cvm_enter(r->vm))
        return failed_at(r, r->line);
    v = *r->at == '(' ? read_list(r, ')') : *r->at == '[' ? read_vector(r) : read_quote(r);
    cvm_leave(r->vm);
    cvm_close(r->vm, scope);
    return v;
}

/* There is at least one character, not a blank. */
static cvm_value read_form(cvm_reader *r)
{
    switch (*r->at) {
    case '(': case '[': case '\'':
        return read_nested(r);
    case ')':
        return reader_fail(r, r->line, "unexpected )");
    case ']':
        return reader_fail(r, r->line, "unexpected ]");
    case '"':
        return read_string(r);
    default:
        return read_atom(r);
    }
}

cvm_value cvm_read(cvm_reader *r)
{
    skip_blanks(r);
    return r->at < r->end ? read_form(r) : CVM_NONE;
}
