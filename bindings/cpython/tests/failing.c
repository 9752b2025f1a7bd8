/* failing.c - each allocation of C fails in turn, each time in a process of its own. There is an exception, and the
 * VM is as good as before and ends as it should; or, where a macro of the API cannot fail, the process ends and
 * says that there is no memory. */
#include "../src/internal.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t countdown;                /* 0: nothing fails */

static int fails(void)
{
    return countdown > 0 && --countdown == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __real_realloc(ptr, size);
}

static const char program[] =
    "(define C (class \"C\" (list) (dict \"f\" (lambda (self x) (list x self)) \"__eq__\" (lambda (a b) true)"
    "                                 \"__hash__\" (lambda (self) 5))))"
    "(define c (C)) (set-attr! c 'a (array 1 \"two\" (tuple 3))) (call c 'f 1)"
    "(define d (dict c 1 (tuple 1 \"x\") 2)) (dict-get d (C)) (as-list (item (attr c 'a) (slice 0 2)))"
    "(catch (builtin \"KeyError\") (lambda () (item d \"none\"))) (py \"**\" 3 100) (str (py-repr d))"
    "(define text (string-append \"some \" \"text\")) (item text 2) (hash text) (py \"+\" text \"more\") (len text)"
    "(define ref (weakref c)) (ref) (bytes->string (bytes text)) (next (iter (array text 1))) (py \"*\" (py \"**\" 7 50) 2.5)"
    "(define D (class \"D\" (list C) (dict \"f\" (lambda (self x) (call (super D self) 'f x))))) (call (D) 'f text)"
    "(with (D) (lambda (x) (set-attr! x 'me x))) (call-kw (builtin \"dict\") nil (dict \"a\" text)) (module \"m\") (import \"m\")"
    "(define s (set 1 text c)) (call s 'union (array 1 2)) (py \"^\" s (frozenset 1 5 6 7 8 9)) (str s) (contains? s (set 1))"
    "(call \"a\xe2\x82\xac\" 'encode \"ascii\" \"backslashreplace\") (call (bytes text) 'decode \"utf-16\" \"replace\")"
    "(catch (builtin \"UnicodeError\") (lambda () (call \"a\xe2\x82\xac\" 'encode \"latin-1\")))"
    "(py \"%\" (bytes \"%d %r %s\") (tuple 5 text (bytes text))) (call text 'encode \"utf-32\")"
    "(str ((builtin \"OSError\") 2 text \"a file\")) (catch (builtin \"FileNotFoundError\")"
    "  (lambda () (raise ((builtin \"OSError\") 2 text))))"
    "(as-list s) (call s 'difference_update (array text 3)) (call s 'pop)"
    "(define W (class \"W\" (list) (dict)))"
    "(call text 'translate (call text 'maketrans \"so\" \"SO\" \"m\")) (set-attr! W '__name__ text) (attr W '__doc__)"
    "(call ((builtin \"complex\") 1 2) '__format__ \"+.3f\") (set-attr! c 'number 1000000) (set-attr! c 'real 2.5)"
    "(equal? (as-list (attr c 'a)) (attr c 'a)) (gc) (run-pending 0) (check-links)";

static const char check[] = "(begin (gc) (run-pending 0) (check-links) (len \"ok\"))";

enum { DONE = 0, FAILED = 10, UNSOUND = 20 };

/* In a process of its own. */
static int run(size_t n)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_python_layer, NULL };
    cvm_config config = { .layers = layers, .heap_limit = 32u << 20 };
    cvm *vm = cvm_new(&config);
    char text[300];
    cvm_value v;
    int reached, sound;
    if (vm == NULL)
        return UNSOUND;
    countdown = n;
    v = cvm_run_text(vm, "test", program, sizeof program - 1);
    reached = countdown == 0;
    countdown = 0;
    if (v == CVM_NONE && !reached) {
        cvm_error_text(vm, text, sizeof text);
        fprintf(stderr, "without a reason: %s\n", text);
        return UNSOUND;
    }
    if (v == CVM_NONE)
        cvm_error_clear(vm);
    v = cvm_run_text(vm, "test", check, sizeof check - 1);
    sound = v == cvm_fixnum(2) && vm->sp == 0 && vm->depth == 0;
    return cvm_free(vm) != 0 || !sound ? UNSOUND : reached ? FAILED : DONE;
}

int main(void)
{
    size_t n, ended = 0, failures = 0, step = getenv("QUICK") != NULL && *getenv("QUICK") == '1' ? 41 : 1;
    int status = 0, passed = 0, failed = 0;
    for (n = 1; n < 100000; n += step) {
        int ends[2];
        char text[400] = "";
        ssize_t size;
        pid_t child;
        if (pipe(ends) != 0 || (child = fork()) < 0)
            return 1;
        if (child == 0) {
            dup2(ends[1], 2);
            _exit(run(n));
        }
        close(ends[1]);
        size = read(ends[0], text, sizeof text - 1);
        close(ends[0]);
        waitpid(child, &status, 0);
        text[size > 0 ? size : 0] = '\0';
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, "fatal error: no memory") != NULL) {
            ended++;
        } else if (!WIFEXITED(status) || (WEXITSTATUS(status) != DONE && WEXITSTATUS(status) != FAILED)) {
            failed++;
            printf("FAILED: allocation %lu: status %d: %s\n", (unsigned long)n, status, text);
        } else {
            passed++;
            failures += WEXITSTATUS(status) == FAILED;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == DONE)
            break;
    }
    printf("%lu exceptions, %lu ends\n", (unsigned long)failures, (unsigned long)ended);
    printf("%d passed, %d failed\n", passed, failed + (failures * step < 200));
    return failed != 0 || failures * step < 200;
}
