/* reader.c - text to values.
 *
 *     ; a comment          12  -3.5  1e9         "text\n"
 *     symbol               (a b . c)             'x is (quote x)
 *     nil true false
 */
#include "lisp.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static cvm_value read_form(cvm_reader *r);

/* Whatever went wrong while reading an expression happened at this line. */
static cvm_value failed_at(cvm_reader *r, int line)
{
    if (r->vm->error_line == 0) {
        r->vm->error_file = *r->file;
        r->vm->error_line = line;
    }
    return CVM_NONE;
}

static cvm_value reader_fail(cvm_reader *r, int line, const char *message)
{
    cvm_fail(r->vm, "%s", message);
    return failed_at(r, line);
}

/* ---- characters ---------------------------------------------------------- */

/* Is there one more? */
static int more(cvm_reader *r)
{
    if (r->at == r->end && r->refill != NULL && !r->ended)
        r->ended = !r->refill(r);       /* it is asked only once */
    return r->at < r->end;
}

static void next(cvm_reader *r)
{
    if (*r->at == '\n' && r->line < INT_MAX)
        r->line++;
    r->at++;
}

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_delimiter(char c)
{
    return is_blank(c) || c == '(' || c == ')' || c == '[' || c == ']' || c == '"' || c == ';' || c == '\'';
}

/* 0: the text ends. */
static int skip_blanks(cvm_reader *r)
{
    int comment = 0;

    while (more(r) && (comment || *r->at == ';' || is_blank(*r->at))) {
        comment = *r->at == ';' || (comment && *r->at != '\n');
        next(r);
    }
    return more(r);
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

/* The number that the text spells; CVM_NONE: it is none, or the VM has failed. */
static cvm_value parse_number(cvm *vm, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    intptr_t n;

    /* No hex, and no "infinity": these are symbols. */
    if (*end != '\0' || end == text || text[strspn(text, "0123456789+-.eE")] != '\0')
        return CVM_NONE;
    if (strpbrk(text, ".eE") == NULL && parse_whole(text, &n))
        return cvm_integer(vm, n);
    return cvm_real_new(vm, number);
}

/* The byte that an escape stands for, or -1. */
static int read_escape(cvm_reader *r)
{
    static const char letters[] = "ntr\"\\", bytes[] = "\n\t\r\"\\", digits[] = "0123456789abcdef";
    char c = *r->at;
    const char *known = c != '\0' ? strchr(letters, c) : NULL, *high, *low;

    next(r);
    if (known != NULL)
        return bytes[known - letters];
    if (c != 'x' || r->end - r->at < 2)
        return -1;
    high = memchr(digits, r->at[0], 16);
    low = memchr(digits, r->at[1], 16);
    r->at += 2;
    return high != NULL && low != NULL ? (int)(high - digits) * 16 + (int)(low - digits) : -1;
}

static cvm_value read_string(cvm_reader *r)
{
    int line = r->line, closed = 0;
    cvm_buffer text = { 0 };
    cvm_value v = CVM_NONE;

    next(r);
    while (!r->vm->failed && !closed && more(r)) {
        char c = *r->at;

        next(r);
        closed = c == '"';
        if (c == '\\' && more(r)) {
            int byte = read_escape(r);

            if (byte < 0)
                reader_fail(r, r->line, "unknown escape in a string");
            c = (char)byte;
        }
        if (!closed)
            cvm_put(&text, &c, 1);
    }
    if (!r->vm->failed)
        v = !closed ? reader_fail(r, line, "this string has no end")
          : text.full ? cvm_out_of_memory(r->vm) : cvm_string_new(r->vm, text.bytes, text.length);
    cvm_buffer_free(&text);
    return v != CVM_NONE ? v : failed_at(r, line);
}

static cvm_value atom(cvm *vm, const char *text, size_t length)
{
    static const struct { const char *name; cvm_value v; } words[] = {
        { "nil", CVM_NIL }, { "true", CVM_TRUE }, { "false", CVM_FALSE }
    };
    size_t i;
    cvm_value v;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, text) == 0)
            return words[i].v;
    v = parse_number(vm, text);
    return v != CVM_NONE || vm->failed ? v : cvm_symbol_new(vm, text, length);
}

/* An atom does not go on in the next line: it is in one piece. */
static cvm_value read_atom(cvm_reader *r)
{
    const char *start = r->at;
    cvm_buffer text = { 0 };
    char message[64];
    cvm_value v;

    while (r->at < r->end && !is_delimiter(*r->at)) {
        size_t length = cvm_utf8_length(r->at, r->end);

        if (length == 0 || *r->at == 127 || (length == 1 && *r->at < ' ')) {
            snprintf(message, sizeof message, "unexpected byte 0x%02x in a program",
                     (unsigned)(unsigned char)*r->at);
            return reader_fail(r, r->line, message);
        }
        r->at += length;
    }
    cvm_put(&text, start, (size_t)(r->at - start));
    cvm_put(&text, "", 1);
    v = text.full ? cvm_out_of_memory(r->vm) : atom(r->vm, text.bytes, text.length - 1);
    cvm_buffer_free(&text);
    return v != CVM_NONE ? v : failed_at(r, r->line);
}

/* ---- lists -------------------------------------------------------------- */

/* A pair that knows where it was read. */
static cvm_value source_pair(cvm_reader *r, cvm_value car, cvm_value cdr, int line)
{
    const cvm_value fields[] = { car, cdr, *r->file, cvm_fixnum(line) };
    cvm_value v = cvm_record(r->vm, CVM_PAIR, fields, 4);

    return v != CVM_NONE ? v : failed_at(r, line);
}

/* What follows the dot in a list, up to its end. */
static cvm_value read_tail(cvm_reader *r, int open_line)
{
    int line = r->line;
    cvm_value *v = cvm_root(r->vm, CVM_NONE);

    next(r);
    if (skip_blanks(r) && *r->at != ')' && (*v = read_form(r)) == CVM_NONE)
        return CVM_NONE;
    if (!skip_blanks(r))
        return reader_fail(r, open_line, "this ( has no matching )");
    if (*r->at != ')')
        return reader_fail(r, line, "more than one item follows the dot");
    return *v != CVM_NONE ? *v : reader_fail(r, line, "nothing follows the dot");
}

/* "(a b)" or "(a . b)". */
static cvm_value read_list(cvm_reader *r)
{
    cvm *vm = r->vm;
    int line = r->line;
    cvm_value *first = cvm_root(vm, CVM_NIL);
    cvm_value *last = cvm_root(vm, CVM_NIL);

    next(r);
    while (skip_blanks(r) && *r->at != ')') {
        int at_line = r->line, dot = *r->at == '.' && r->end - r->at > 1 && is_delimiter(r->at[1]);
        cvm_value v;

        if (dot && *last == CVM_NIL)
            return reader_fail(r, at_line, "a dot must stand before the last item of a list");
        v = dot ? read_tail(r, line) : read_form(r);
        if (v != CVM_NONE && !dot)
            v = source_pair(r, v, CVM_NIL, at_line);
        if (v == CVM_NONE)
            return CVM_NONE;
        if (*last == CVM_NIL)
            *first = v;
        else
            cvm_store(vm, *last, &CVM_PAIR_OF(*last)->cdr, v);
        *last = v;
    }
    if (!more(r))
        return reader_fail(r, line, "this ( has no matching )");
    next(r);
    return *first;
}

/* 'x is (quote x). */
static cvm_value read_quote(cvm_reader *r)
{
    int line = r->line;
    cvm_value *quoted;

    next(r);
    if (!skip_blanks(r))
        return reader_fail(r, line, "nothing follows the quote");
    quoted = cvm_root(r->vm, read_form(r));
    if (*quoted == CVM_NONE || (*quoted = source_pair(r, *quoted, CVM_NIL, line)) == CVM_NONE)
        return CVM_NONE;
    return source_pair(r, cvm_lisp_of(r->vm)->quote, *quoted, line);
}

/* There is at least one character, not a blank. */
static cvm_value read_form(cvm_reader *r)
{
    size_t scope = cvm_open(r->vm);
    char message[16];
    cvm_value v;

    if (*r->at == ')' || *r->at == '[' || *r->at == ']') {
        snprintf(message, sizeof message, "unexpected %c", *r->at);
        return reader_fail(r, r->line, message);
    }
    if (*r->at == '"')
        return read_string(r);
    if (*r->at != '(' && *r->at != '\'')
        return read_atom(r);
    if (!cvm_enter(r->vm))
        return failed_at(r, r->line);
    v = *r->at == '(' ? read_list(r) : read_quote(r);
    cvm_leave(r->vm);
    cvm_close(r->vm, scope);
    return v;
}

cvm_value cvm_read(cvm_reader *r)
{
    r->inside = r->ended = 0;
    if (!skip_blanks(r))
        return CVM_NONE;
    r->inside = 1;
    return read_form(r);
}
