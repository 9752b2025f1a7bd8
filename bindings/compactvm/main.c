/* main.c - the command: run scripts or expressions, or read them one by one. */
#include "capi/capi.h"
#include "lisp.h"
#include "../../rawrefcount.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: cvm [options] script.lisp     run a script\n"
    "       cvm [options] -e expression   evaluate, and print the value\n"
    "       cvm [options]                 read, evaluate and print, line by line\n"
    "\n"
    "  --stress           collect at every allocation, and move everything\n"
    "  --heap-limit SIZE  bytes for the heap, also as 512k, 64m or 1g\n"
    "  --nursery SIZE     bytes for new objects\n"
    "  --max-depth N      nested evaluations (2500)\n"
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

/* ---- the read-eval-print loop ------------------------------------------- */

/* Is the text so far the beginning of something longer? */
static int is_incomplete(cvm *vm, const char *text, size_t length)
{
    size_t scope = cvm_open(vm);
    cvm_reader r = { 0 };

    r.vm = vm;
    r.at = text;
    r.end = text + length;
    r.line = 1;
    r.file = cvm_root(vm, CVM_NIL);
    while (cvm_read(&r) != CVM_NONE)
        continue;
    cvm_error_clear(vm);
    cvm_close(vm, scope);
    return r.incomplete;
}

static int repl(cvm *vm)
{
    cvm_buffer text = { 0 };
    char line[512];

    printf("cvm %s, rawrefcount %s. End with (exit) or the end-of-file key.\n", CVM_VERSION,
           rrc_version());
    for (;;) {
        cvm_value v;
        int status = 0;

        fputs(text.length == 0 ? "> " : "  ", stdout);
        fflush(stdout);
        if (fgets(line, sizeof line, stdin) == NULL)
            break;
        cvm_put_text(&text, line);
        if (text.full) {
            fputs("error: out of memory\n", stderr);
            cvm_buffer_free(&text);
            continue;
        }
        if (strchr(line, '\n') == NULL || is_incomplete(vm, text.bytes, text.length))
            continue;
        v = cvm_run_text(vm, "repl", text.bytes, text.length);
        if (v == CVM_NONE || !print_value(vm, v))
            status = report(vm);
        cvm_buffer_free(&text);
        if (vm->exiting)
            return status;
        cvm_error_clear(vm);
    }
    putchar('\n');
    if (text.length > 0) {              /* it says what is missing at the end */
        cvm_run_text(vm, "repl", text.bytes, text.length);
        report(vm);
    }
    cvm_buffer_free(&text);
    return 0;
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
static int load_extensions(cvm *vm, int argc, char **argv)
{
    int i;

    for (i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--extension") == 0 && cx_load_extension(vm, argv[++i]) != 0)
            return 0;
    return 1;
}

int main(int argc, char **argv)
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
        } else if (strcmp(arg, "--extension") == 0) {
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

    vm = cvm_new(&config);
    if (vm == NULL) {
        fputs("cvm: out of memory\n", stderr);
        return 1;
    }
    if (!load_extensions(vm, argc, argv)) {
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
