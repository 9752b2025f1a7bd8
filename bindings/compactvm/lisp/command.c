/* command.c - the command: run scripts or expressions, or read them one by one. */
#include "command.h"

#include "lisp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: cvm [options] script.lisp     run a script\n"
    "       cvm [options] -e expression   evaluate, and print the value\n"
    "       cvm [options]                 read, evaluate and print, line by line\n"
    "\n"
    "  --stress           collect at every allocation, and move everything\n"
    "  --heap-limit SIZE  bytes for the heap, also as 512k, 64m or 1g\n"
    "  --nursery SIZE     bytes for new objects\n"
    "  --max-depth N      nested evaluations (2500; fewer if the C stack is small)\n"
    "  --extension FILE   (load-extension FILE) first; can be repeated\n"
    "  --help, --version\n";

/* Show the error, if it is one. Returns the exit status. */
static int report(cvm *vm)
{
    char text[600];

    fflush(stdout);
    if (vm->exiting)
        return vm->exit_status;
    cvm_error_text(vm, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}

static int print_value(cvm *vm, cvm_value v)
{
    cvm_buffer out = { 0 };
    int ok;

    out.limit = vm->heap.limit;
    ok = cvm_print(vm, v, 1, &out);
    cvm_put(&out, "\n", 1);
    if (ok)
        fwrite(out.bytes, 1, out.length, stdout);
    cvm_buffer_free(&out);
    return ok;
}

/* ---- the read-eval-print loop -------------------------------------------
 *
 * Lines are gathered until no bracket or string is open; then all of them are read and
 * evaluated. Each byte is looked at once as it comes in: a long expression costs no more
 * for each of its lines than a short one.
 */
typedef struct scanner {
    cvm_buffer open;            /* the brackets that wait to be closed */
    char state;                 /* what the next byte is part of: see scan */
    int quoted;                 /* the last thing so far is a quote mark */
    int wrong;                  /* the reader will refuse it: do not wait for more */
} scanner;

enum { PLAIN, COMMENT, STRING, ESCAPE };

static void scan_plain(scanner *s, char c)
{
    char open = c == ')' ? '(' : '[';

    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return;
    s->quoted = c == '\'' || (s->quoted && c == ';');
    if (c == ';' || c == '"') {
        s->state = c == ';' ? COMMENT : STRING;
    } else if (c == '(' || c == '[') {
        cvm_put(&s->open, &c, 1);
    } else if (c == ')' || c == ']') {
        if (s->open.length == 0 || s->open.bytes[--s->open.length] != open)
            s->wrong = 1;
    } else if (c < '!' || c > '~') {
        s->wrong = 1;
    }
}

static void scan(scanner *s, char c)
{
    if (s->state == PLAIN)
        scan_plain(s, c);
    else if (s->state == COMMENT)
        s->state = c == '\n' ? PLAIN : COMMENT;
    else if (s->state == ESCAPE)
        s->state = STRING;
    else
        s->state = c == '"' ? PLAIN : c == '\\' ? ESCAPE : STRING;
}

/* Is the text so far the beginning of something longer? */
static int is_incomplete(const scanner *s)
{
    return !s->wrong && (s->open.length > 0 || s->state == STRING || s->state == ESCAPE || s->quoted);
}

/* Add a line of the input to the text. 0: there is no more input. */
static int read_line(cvm_buffer *text, scanner *s)
{
    int c;

    do {
        char byte;

        c = getc(stdin);
        if (c == EOF)
            return 0;
        byte = (char)c;
        cvm_put(text, &byte, 1);
        scan(s, byte);
    } while (c != '\n');
    return 1;
}

static int repl(cvm *vm)
{
    int more = 1, status = 0;

    printf("cvm %s, rawrefcount %s. End with (exit) or the end-of-file key.\n", CVM_VERSION,
           rrc_version());
    while (more && !vm->exiting) {
        cvm_buffer text = { 0 };
        scanner s = { 0 };

        do {
            fputs(text.length == 0 ? "> " : "  ", stdout);
            fflush(stdout);
            more = read_line(&text, &s);
        } while (more && is_incomplete(&s));
        if (!more)
            putchar('\n');
        if (text.full || s.open.full) {
            fputs("error: out of memory\n", stderr);
        } else if (more || text.length > 0) {
            cvm_value v = cvm_run_text(vm, "repl", text.bytes, text.length);

            if (v == CVM_NONE || !print_value(vm, v))
                status = report(vm);
        }
        cvm_buffer_free(&text);
        cvm_buffer_free(&s.open);
        if (!vm->exiting)
            cvm_error_clear(vm);
    }
    return vm->exiting ? status : 0;
}

/* ---- the command line --------------------------------------------------- */

/* "64k" and the like; 0 if it is no size. */
static size_t parse_size(const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;

    if (text[0] < '0' || text[0] > '9' || (shift != 0 && end[1] != '\0')
        || (shift == 0 && *end != '\0') || n > (SIZE_MAX >> shift))
        return 0;
    return (size_t)n << shift;
}

static int bad_usage(const char *what, const char *argument)
{
    fprintf(stderr, "cvm: %s: %s\n%s", what, argument, usage);
    return 2;
}

/* The options were looked at before. 0 after a failure. */
static int load_extensions(cvm *vm, cvm_load *load, int argc, char **argv)
{
    int i;

    for (i = 1; load != NULL && i + 1 < argc; i++)
        if (strcmp(argv[i], "--extension") == 0 && !load(vm, argv[++i]))
            return 0;
    return 1;
}

int cvm_command(int argc, char **argv, const cvm_layer *const *layers, cvm_load *load)
{
    cvm_config config = { 0 };
    const char *expression = NULL, *script = NULL;
    cvm *vm;
    cvm_value v;
    int i, status;

    for (i = 1; i < argc; i++) {
        const char *arg = argv[i];
        size_t *size = strcmp(arg, "--heap-limit") == 0 ? &config.heap_limit
                     : strcmp(arg, "--nursery") == 0 ? &config.nursery
                     : strcmp(arg, "--max-depth") == 0 ? &config.max_depth : NULL;

        if (strcmp(arg, "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (strcmp(arg, "--version") == 0) {
            printf("cvm %s, rawrefcount %s%s\n", CVM_VERSION, rrc_version(), RRCI_DEBUG ? ", RRC_DEBUG" : "");
            return 0;
        }
        if (strcmp(arg, "--stress") == 0) {
            config.stress = 1;
        } else if (size != NULL) {
            *size = i + 1 < argc ? parse_size(argv[i + 1]) : 0;
            if (*size == 0)
                return bad_usage("a number must follow", arg);
            i++;
        } else if (load != NULL && strcmp(arg, "--extension") == 0) {
            if (i + 1 == argc)
                return bad_usage("a file must follow", arg);
            i++;                        /* see load_extensions */
        } else if (strcmp(arg, "-e") == 0) {
            if (i + 1 == argc)
                return bad_usage("an expression must follow", arg);
            expression = argv[++i];
        } else if (arg[0] == '-') {
            return bad_usage("unknown option", arg);
        } else if (script != NULL) {
            return bad_usage("only one script at a time", arg);
        } else {
            script = arg;
        }
    }
    if (script != NULL && expression != NULL)
        return bad_usage("both a script and -e", script);

    config.layers = layers;
    vm = cvm_new(&config);
    if (vm == NULL) {
        fputs("cvm: out of memory\n", stderr);
        return 1;
    }
    cvm_lisp_of(vm)->shows_bar = isatty(STDERR_FILENO);
    if (!load_extensions(vm, load, argc, argv)) {
        status = report(vm);
    } else if (script == NULL && expression == NULL) {
        status = repl(vm);
    } else {
        v = script != NULL ? cvm_run_file(vm, script)
                           : cvm_run_text(vm, "-e", expression, strlen(expression));
        status = v == CVM_NONE || (expression != NULL && !print_value(vm, v)) ? report(vm) : 0;
    }
    cvm_free(vm);
    if (fflush(stdout) != 0 && status == 0)
        status = 1;
    return status;
}
