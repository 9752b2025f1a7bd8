/* reader.c - text to values. It takes a character of a stream when it needs one, so it can read a terminal. */
#include "lisp.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#define DOT CVM_UNBOUND         /* read: a dot that stands alone */

static cvm_value read_form(cvm_reader *r);

static cvm_value reader_fail(cvm_reader *r, int line, const char *message)
{
    cvm_fail(r->vm, "%s", message);
    cvm_error_at(r->vm, cvm_bytes(*r->file), line);
    return CVM_NONE;
}

void cvm_reader_open(cvm_reader *r, cvm *vm, FILE *in, cvm_value name)
{
    *r = (cvm_reader){ .vm = vm, .in = in, .file = cvm_root(vm, name), .line = 1, .new_line = 1 };
}

/* ---- characters ---------------------------------------------------------- */

/* The next character, or EOF. */
static int peek(cvm_reader *r)
{
    if (!r->has_next) {
        r->next = r->get != NULL ? r->get(r) : getc(r->in);
        r->has_next = 1;
    }
    return r->next;
}

/* Take it, if it is not EOF. */
static int take(cvm_reader *r)
{
    int c = peek(r);
    r->has_next = c == EOF;
    r->new_line = c == '\n';
    r->line += c == '\n' && r->line < INT_MAX;
    return c;
}

void cvm_skip_line(cvm_reader *r)
{
    while ((r->has_next || !r->new_line) && peek(r) != EOF)
        take(r);
}

/* At a semicolon; and at a first line for the shell. */
static int starts_comment(const cvm_reader *r, int c)
{
    return c == ';' || (c == '#' && r->line == 1 && r->new_line);
}

/* 0: the text ends. */
static int skip_blanks(cvm_reader *r)
{
    int c, comment = 0;
    while ((c = peek(r)) != EOF && (comment || starts_comment(r, c) || c == ' ' || (c >= '\t' && c <= '\r'))) {
        comment = starts_comment(r, c) || (comment && c != '\n');
        take(r);
    }
    return c != EOF;
}

/* ---- atoms -------------------------------------------------------------- */

/* The number that the text spells; CVM_NONE: it is none, or the VM has failed. */
static cvm_value parse_number(cvm *vm, const char *text)
{
    char *end;
    double number = strtod(text, &end);
    /* No hex, and no "infinity": these are symbols. */
    if (*end != '\0' || end == text || text[strspn(text, "0123456789+-.eE")] != '\0')
        return CVM_NONE;
    errno = 0;
    intmax_t n = strtoimax(text, &end, 10);
    if (*end == '\0' && errno == 0 && n >= INTPTR_MIN && n <= INTPTR_MAX)
        return cvm_integer(vm, (intptr_t)n);
    return cvm_real_new(vm, number);
}

static cvm_value parse_atom(cvm *vm, const char *text, size_t length)
{
    cvm_value v = strcmp(text, "nil") == 0 ? CVM_NIL : strcmp(text, "true") == 0 ? CVM_TRUE
                : strcmp(text, "false") == 0 ? CVM_FALSE : strcmp(text, ".") == 0 ? DOT : parse_number(vm, text);
    return v != CVM_NONE || vm->error.failed ? v : cvm_symbol_new(vm, text, length);
}

static cvm_value read_atom(cvm_reader *r)
{
    cvm_memory text;
    cvm_value v = CVM_NONE;
    int c;
    if (!cvm_memory_open(r->vm, &text))
        return CVM_NONE;
    while ((c = peek(r)) > ' ' && c != 127 && strchr("()[]\";'", c) == NULL)
        putc(take(r), text.out);
    if (cvm_memory_close(r->vm, &text) && text.length > 0)
        v = parse_atom(r->vm, text.bytes, text.length);
    else if (!r->vm->error.failed)
        cvm_fail(r->vm, "unexpected byte 0x%02x in a program", (unsigned)c);
    free(text.bytes);
    return v;
}

/* The byte that an escape stands for, or EOF. */
static int read_escape(cvm_reader *r)
{
    static const char letters[] = "ntr\"\\", bytes[] = "\n\t\r\"\\";
    int c = take(r);
    const char *known = c > 0 ? strchr(letters, c) : NULL;
    char digits[3] = { 0 };
    if (known != NULL)
        return bytes[known - letters];
    if (c != 'x')
        return EOF;
    digits[0] = (char)take(r);
    digits[1] = (char)take(r);
    return strspn(digits, "0123456789abcdef") == 2 ? (int)strtol(digits, NULL, 16) : EOF;
}

static cvm_value read_string(cvm_reader *r)
{
    int line = r->line, c = take(r);
    cvm_memory text;
    cvm_value v = CVM_NONE;
    if (!cvm_memory_open(r->vm, &text))
        return CVM_NONE;
    while (!r->vm->error.failed && (c = take(r)) != '"' && c != EOF) {
        if (c == '\\' && peek(r) != EOF && (c = read_escape(r)) == EOF)
            reader_fail(r, r->line, "unknown escape in a string");
        putc(c, text.out);
    }
    if (c == EOF && !r->vm->error.failed)
        reader_fail(r, line, "this string has no end");
    if (cvm_memory_close(r->vm, &text) && !r->vm->error.failed)
        v = cvm_string_new(r->vm, text.bytes, text.length);
    free(text.bytes);
    return v;
}

/* ---- lists -------------------------------------------------------------- */

/* A pair that knows where it was read. */
static cvm_value source_pair(cvm_reader *r, cvm_value car, cvm_value cdr, int line)
{
    return cvm_record(r->vm, CVM_PAIR, (cvm_value[]){ car, cdr, *r->file, cvm_fixnum(line) }, 4);
}

/* "(a b)" or "(a . b)". */
static cvm_value read_list(cvm_reader *r)
{
    int line = r->line;
    cvm_value *list = cvm_root(r->vm, CVM_NIL), tail = CVM_NIL;
    take(r);
    while (skip_blanks(r) && peek(r) != ')') {
        int at_line = r->line;
        cvm_value v = read_form(r);
        if (v == DOT) {
            v = tail = *list != CVM_NIL && skip_blanks(r) && peek(r) != ')' ? read_form(r) : DOT;
            if (v != CVM_NONE && (v == DOT || !skip_blanks(r) || peek(r) != ')'))
                return reader_fail(r, at_line, "a dot must stand before the last item of a list");
        } else if (v != CVM_NONE) {
            v = *list = source_pair(r, v, *list, at_line);
        }
        if (v == CVM_NONE)
            return CVM_NONE;
    }
    if (peek(r) == EOF)
        return reader_fail(r, line, "this ( has no matching )");
    take(r);
    return cvm_turn(r->vm, *list, tail);
}

/* 'x is (quote x). */
static cvm_value read_quote(cvm_reader *r)
{
    int line = r->line;
    take(r);
    if (!skip_blanks(r))
        return reader_fail(r, line, "nothing follows the quote");
    cvm_value *quoted = cvm_root(r->vm, read_form(r));
    if (*quoted == CVM_NONE || (*quoted = source_pair(r, *quoted, CVM_NIL, line)) == CVM_NONE)
        return CVM_NONE;
    cvm_value quote = cvm_symbol_new(r->vm, "quote", 5);
    return quote != CVM_NONE ? source_pair(r, quote, *quoted, line) : CVM_NONE;
}

/* There is at least one character, not a blank. */
static cvm_value read_form(cvm_reader *r)
{
    size_t scope = cvm_open(r->vm);
    int c = peek(r);
    if (c == ')' || c == '[' || c == ']')
        return cvm_fail(r->vm, "unexpected %c", c);
    if (c == '"')
        return read_string(r);
    if (c != '(' && c != '\'')
        return read_atom(r);
    if (!cvm_enter(r->vm))
        return CVM_NONE;
    cvm_value v = c == '(' ? read_list(r) : read_quote(r);
    cvm_leave(r->vm);
    cvm_close(r->vm, scope);
    return v;
}

cvm_value cvm_read(cvm_reader *r)
{
    r->inside = 0;
    if (!skip_blanks(r))
        return CVM_NONE;
    r->inside = 1;
    cvm_value v = read_form(r);
    if (v == DOT)
        v = cvm_fail(r->vm, "unexpected .");
    if (v == CVM_NONE)
        cvm_error_at(r->vm, cvm_bytes(*r->file), r->line);
    return v;
}
