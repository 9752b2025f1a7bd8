/* command.c - the command: run scripts or expressions, or read them one by one. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L     /* for sigaction */
#endif
#include "command.h"

#include "lisp.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if CVM_LIBEDIT
#include <editline/readline.h>
#include <locale.h>
#include <poll.h>
#endif

static const char usage[] =
    "usage: cvm [options] script.lisp     run a script\n"
    "       cvm [options] -e expression   evaluate, and print the value\n"
    "       cvm [options]                 read, evaluate and print, line by line\n"
    "\n"
    "  --stress           collect at every allocation, and move everything\n"
    "  --incremental      mark in slices; with --stress: a slice at every allocation\n"
    "  --max-pause        show the longest pauses at the end\n"
    "  --heap-limit SIZE  bytes for the heap, also as 512k, 64m or 1g\n"
    "  --nursery SIZE     bytes for new objects\n"
    "  --max-depth N      nested evaluations (2500; fewer if the C stack is small)\n"
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
    cvm_print_calls(vm, stderr);
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
 * The reader asks for the next line when it needs one, so each line is looked at once. */

typedef struct session {
    cvm_reader reader;          /* first: see refill */
    cvm_buffer line;
    int broken_off;             /* by the user, instead of a line */
} session;

static cvm_lisp *running;       /* what an interrupt ends */

static void interrupt(int number)
{
    (void)number;
    running->interrupted = 1;
}

#if CVM_LIBEDIT
static char *edited;            /* the line; NULL at the end of the input */
static int is_edited;

static void take_line(char *text)
{
    edited = text;
    is_edited = 1;
    rl_callback_handler_remove();
}

/* A character at a time: readline() itself would go on after an interrupt. */
static void edit_line(cvm_buffer *line, const char *prompt)
{
    struct pollfd input = { STDIN_FILENO, POLLIN, 0 };

    edited = NULL;
    is_edited = 0;
    rl_callback_handler_install(prompt, take_line);
    while (!is_edited && !running->interrupted)
        if (poll(&input, 1, -1) > 0)
            rl_callback_read_char();
    if (!is_edited)
        rl_callback_handler_remove();
    if (edited != NULL) {
        if (*edited != '\0')
            add_history(edited);
        cvm_put_text(line, edited);
        cvm_put_text(line, "\n");
    }
    free(edited);
}
#endif

static void read_line(cvm_buffer *line, const char *prompt)
{
    int c = 0;

#if CVM_LIBEDIT
    if (isatty(STDIN_FILENO)) {
        edit_line(line, prompt);
        return;
    }
#endif
    fputs(prompt, stdout);
    fflush(stdout);
    while (c != '\n' && (c = getc(stdin)) != EOF) {
        char byte = (char)c;

        cvm_put(line, &byte, 1);
    }
    clearerr(stdin);            /* an interrupt is not the end */
}

static int refill(cvm_reader *reader)
{
    session *s = (session *)reader;

    cvm_buffer_free(&s->line);
    if (!reader->inside)
        reader->line = 1;
    read_line(&s->line, reader->inside ? "  " : "> ");
    s->broken_off = running->interrupted || s->line.full;
    reader->at = s->line.bytes;
    reader->end = reader->at + (s->broken_off ? 0 : s->line.length);
    return reader->at != reader->end;
}

static int repl(cvm *vm)
{
    session s = { 0 };
    struct sigaction action = { 0 };
    cvm_value *last = cvm_root(vm, CVM_NIL);
    int more = 1, status = 0;

    printf("cvm %s, rawrefcount %s. End with (exit) or the end-of-file key.\n", CVM_VERSION,
           rrc_version());
#if CVM_LIBEDIT
    setlocale(LC_CTYPE, "");            /* for UTF-8 */
#endif
    running = cvm_lisp_of(vm);
    action.sa_handler = interrupt;
    sigaction(SIGINT, &action, NULL);
    s.reader.vm = vm;
    s.reader.file = cvm_root(vm, cvm_text(vm, "repl"));
    s.reader.refill = refill;
    while (more && !vm->exiting) {
        s.broken_off = 0;
        more = cvm_run_next(&s.reader, last) && print_value(vm, *last);
        if (s.broken_off)
            putchar('\n');
        else if (vm->failed)
            status = report(vm);
        else if (!more)
            putchar('\n');
        if ((vm->failed && !vm->exiting) || s.broken_off) {
            cvm_error_clear(vm);
            s.reader.at = s.reader.end;         /* the rest of the line may make no sense */
            more = 1;
        }
        running->interrupted = 0;
    }
    cvm_buffer_free(&s.line);
    return vm->exiting ? status : 0;
}

/* ---- the command line --------------------------------------------------- */

/* "64k" and the like; 0 if it is no size. */
static size_t parse_size(const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;

    if (text[0] < '0' || text[0] > '9' || end[shift != 0] != '\0' || n > (SIZE_MAX >> shift))
        return 0;
    return (size_t)n << shift;
}

/* ---- pauses ------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void show_pauses(const cvm *vm)
{
    static const char *const names[CVM_PAUSES] = { "minor", "slice", "finish", "compaction", "pending" };
    int i;

    fflush(stdout);
    fputs("longest pauses:", stderr);
    for (i = 0; i < CVM_PAUSES; i++)
        fprintf(stderr, "%s %s %.3f ms", i > 0 ? "," : "", names[i], vm->heap.longest[i] * 1e3);
    fputs("\n", stderr);
}

static int bad_usage(const char *what, const char *argument)
{
    fprintf(stderr, "cvm: %s: %s\n%s", what, argument, usage);
    return 2;
}

int cvm_command(int argc, char **argv, const cvm_layer *const *layers, cvm_setup *setup)
{
    cvm_config config = { 0 };
    const char *expression = NULL, *script = NULL;
    cvm *vm;
    cvm_value v;
    int i, status, shows_pauses = 0;

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
        } else if (strcmp(arg, "--incremental") == 0) {
            config.incremental = 1;
        } else if (strcmp(arg, "--max-pause") == 0) {
            shows_pauses = 1;
        } else if (size != NULL) {
            *size = i + 1 < argc ? parse_size(argv[i + 1]) : 0;
            if (*size == 0)
                return bad_usage("a number must follow", arg);
            i++;
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
    if (shows_pauses)
        vm->heap.clock = seconds;
    if (setup != NULL && !setup(vm)) {
        status = report(vm);
    } else if (script == NULL && expression == NULL) {
        status = repl(vm);
    } else {
        v = script != NULL ? cvm_run_file(vm, script)
                           : cvm_run_text(vm, "-e", expression, strlen(expression));
        status = v == CVM_NONE || (expression != NULL && !print_value(vm, v)) ? report(vm) : 0;
    }
    if (shows_pauses)
        show_pauses(vm);
    cvm_free(vm);
    if (fflush(stdout) != 0 && status == 0)
        status = 1;
    return status;
}
