/* command.c - the command: run scripts or expressions, or read them one by one. */
#include "lisp.h"

#include <stdlib.h>

#if CVM_LIBEDIT
#include <editline/readline.h>
#include <locale.h>
#include <poll.h>
#include <unistd.h>
#endif

static int print_usage(FILE *out, const cvm_program *p, int status)
{
    fprintf(out, "usage: %s [options] script.lisp     run a script\n"
            "       %s [options] -e expression   evaluate, and print the value\n"
            "       %s [options]                 read, evaluate and print, line by line\n\n%s"
            "  --stress           collect at every allocation, and move everything\n"
            "  --incremental      mark in slices; with --stress: a slice at every allocation\n"
            "  --heap-limit SIZE  bytes for the heap, also as 512k, 64m or 1g\n"
            "  --nursery SIZE     bytes for new objects\n"
            "  --max-depth N      nested evaluations (2500; fewer if the C stack is small)\n"
            "  --help, --version\n", p->name, p->name, p->name, p->options);
    return status;
}

/* Show the error, if it is one. Returns the exit status. */
static int report(cvm *vm)
{
    char text[600];
    fflush(stdout);
    if (vm->error.exiting)
        return vm->exit_status;
    cvm_error_text(vm, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    cvm_print_calls(vm, stderr);
    return 1;
}

/* ---- the read-eval-print loop ------------------------------------------- */

static cvm_lisp *running;       /* what an interrupt ends */

static void interrupt(int number)
{
    (void)number;
    running->interrupted = 1;
}

#if CVM_LIBEDIT
static char *edited, *at;       /* a line that was typed, and what is not read of it yet; or NULL */
static int is_edited;

static void take_line(char *text)
{
    edited = at = text;
    is_edited = 1;
    rl_callback_handler_remove();
}

/* A character at a time: readline() itself would go on after an interrupt. */
static void edit_line(const char *prompt)
{
    struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
    free(edited);
    edited = at = NULL;
    is_edited = 0;
    rl_callback_handler_install(prompt, take_line);
    while (!is_edited && !running->interrupted)
        if (poll(&input, 1, -1) > 0)
            rl_callback_read_char();
    if (!is_edited)
        rl_callback_handler_remove();
    if (edited != NULL && *edited != '\0')
        add_history(edited);
}
#endif

/* The next character, with a prompt before each line. EOF also after an interrupt. */
static int get_typed(cvm_reader *r)
{
    const char *prompt = r->inside ? "  " : "> ";
    if (r->new_line && !r->inside)
        r->line = 1;
#if CVM_LIBEDIT
    if (isatty(STDIN_FILENO)) {
        if (r->new_line)
            edit_line(prompt);
        return at == NULL ? EOF : *at != '\0' ? (unsigned char)*at++ : '\n';
    }
#endif
    if (r->new_line) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    return getc(stdin);
}

/* After an error, or an interrupt: what was typed so far is not read any more. */
static void start_anew(cvm_reader *r)
{
    if (running->interrupted && r->next == EOF) {       /* an interrupt came instead of a line */
        clearerr(stdin);
        r->has_next = r->next = 0;
        r->new_line = 1;
    }
    cvm_error_clear(r->vm);
    cvm_skip_line(r);
}

static int repl(cvm *vm)
{
    cvm_reader reader;
    struct sigaction action = { .sa_handler = interrupt };
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_value name = cvm_text(vm, "repl");
    int more = name != CVM_NONE, status = 0;
    printf("cvm %s, rawrefcount %s. End with (exit) or the end-of-file key.\n", CVM_VERSION, rrc_version());
#if CVM_LIBEDIT
    setlocale(LC_CTYPE, "");            /* for UTF-8 */
#endif
    running = cvm_lisp_of(vm);
    sigaction(SIGINT, &action, NULL);
    cvm_reader_open(&reader, vm, stdin, name);
    reader.get = get_typed;
    while (more && !vm->error.exiting) {
        more = cvm_run_next(&reader, last) && cvm_show(vm, last, 1, 1, "", "\n");
        if (!more && reader.next == EOF && !vm->error.exiting)
            putchar('\n');
        if (vm->error.failed && !(running->interrupted && reader.next == EOF))
            status = report(vm);
        if ((vm->error.failed && !vm->error.exiting) || running->interrupted) {
            start_anew(&reader);
            more = 1;
        }
        running->interrupted = 0;
    }
    return vm->error.exiting ? status : 0;
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

static int bad_usage(const cvm_program *p, const char *what, const char *argument)
{
    fprintf(stderr, "%s: %s: %s\n", p->name, what, argument);
    return print_usage(stderr, p, 2);
}

typedef struct command {
    cvm_config config;
    int shows_help, shows_version;
    const char *expression, *script;
} command;

/* 0, or the exit status: the arguments make no sense. */
static int parse(command *c, char **arg, const cvm_program *p)
{
    const struct { const char *name; int *flag; size_t *size; const char **text; } options[] = {
        { "--stress", &c->config.stress, NULL, NULL }, { "--incremental", &c->config.incremental, NULL, NULL },
        { "--heap-limit", NULL, &c->config.heap_limit, NULL }, { "--nursery", NULL, &c->config.nursery, NULL },
        { "--max-depth", NULL, &c->config.max_depth, NULL }, { "--help", &c->shows_help, NULL, NULL },
        { "--version", &c->shows_version, NULL, NULL }, { "-e", NULL, NULL, &c->expression },
        { NULL, NULL, NULL, &c->script }
    };

    for (; *arg != NULL; arg++) {
        size_t i = 0;
        while (options[i].name != NULL && strcmp(options[i].name, *arg) != 0)
            i++;
        if (options[i].name == NULL && **arg == '-')
            return bad_usage(p, "unknown option", *arg);
        if (options[i].name == NULL && c->script != NULL)
            return bad_usage(p, "only one script at a time", *arg);
        if (options[i].flag != NULL)
            *options[i].flag = 1;
        else if (options[i].name != NULL && *++arg == NULL)
            return bad_usage(p, "something must follow", arg[-1]);
        else if (options[i].text != NULL)
            *options[i].text = *arg;
        else if ((*options[i].size = parse_size(*arg)) == 0)
            return bad_usage(p, "this is no size", *arg);
    }
    return c->script != NULL && c->expression != NULL ? bad_usage(p, "both a script and -e", c->script) : 0;
}

static int run(cvm *vm, const command *c)
{
    if (c->script == NULL && c->expression == NULL)
        return repl(vm);
    cvm_value v = c->script != NULL ? cvm_run_file(vm, c->script)
                                    : cvm_run_text(vm, "-e", c->expression, strlen(c->expression));
    return v == CVM_NONE || (c->expression != NULL && !cvm_show(vm, &v, 1, 1, "", "\n")) ? report(vm) : 0;
}

int cvm_command(char **argv, const cvm_program *p)
{
    command c = { .config.layers = p->layers };
    int status = *argv != NULL ? parse(&c, argv + 1, p) : 0;
    if (status != 0)
        return status;
    if (c.shows_help || c.shows_version) {
        printf("%s %s, rawrefcount %s\n", p->name, CVM_VERSION, rrc_version());
        return c.shows_help ? print_usage(stdout, p, 0) : 0;
    }
    cvm *vm = cvm_new(&c.config);
    if (vm == NULL) {
        fprintf(stderr, "%s: out of memory\n", p->name);
        return 1;
    }
    status = p->setup == NULL || p->setup(vm) ? run(vm, &c) : report(vm);
    cvm_free(vm);
    return fflush(stdout) != 0 && status == 0 ? 1 : status;
}
