/* threads.c - VMs with this API in several threads at a time, and two in one thread in turn. They share
 * the static types and singletons, and nothing else. Then each allocation in the heap fails in turn. */
#include "../src/internal.h"

#include <pthread.h>

enum { THREADS = 4 };

static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_python_layer, NULL };

static const char program[] =
    "(define int (builtin 'int)) (define C (class \"C\" (list) (dict \"f\" (lambda (self x) (py \"+\" x 1)))))"
    "(define c (C)) (define d (dict c 1 (tuple 1 2) 2 (py \"**\" 2 100) 3))"
    "(for-each (lambda (i) (set-attr! c (to-string \"a\" (modulo i 7)) (array i (lambda () c)))"
    "                      (assert (= (call c 'f i) (+ i 1)))"
    "                      (assert (= (dict-get d (tuple 1 2)) 2))"
    "                      (catch (builtin \"KeyError\") (lambda () (item (dict) i))))"
    "          (range 300))"
    "(assert (eq? (type 5) int)) (assert (= (dict-get d c) 1)) (gc) (check-links) (len \"done\")";

static cvm *start(int stress)
{
    cvm_config config = { .layers = layers, .stress = stress, .heap_limit = 32u << 20 };
    return cvm_new(&config);
}

static int run(cvm *vm, const char *text)
{
    cvm_value v = cvm_run_text(vm, "test", text, strlen(text));
    char message[300];
    if (v != CVM_NONE)
        return cvm_is_fixnum(v) ? (int)cvm_fixnum_of(v) : -2;
    cvm_error_text(vm, message, sizeof message);
    puts(message);
    return -1;
}

static void *one(void *number)
{
    cvm *vm = start(*(int *)number % 2);
    int ok = vm != NULL && run(vm, program) == 4;
    if (vm != NULL && cvm_free(vm) != 0)
        ok = 0;
    *(int *)number = ok;
    return NULL;
}

static int passed, failed;

static void expect(int ok, const char *what)
{
    passed += ok != 0;
    failed += ok == 0;
    if (!ok)
        printf("FAILED: %s\n", what);
}

/* Whatever fails, an error comes up, and the VM is as good as before. */
static void test_failing(void)
{
    static const char text[] =
        "(define C (class \"C\" (list) (dict \"f\" (lambda (self x) (list x self)) \"__eq__\" (lambda (a b) true)"
        "                                 \"__hash__\" (lambda (self) 5))))"
        "(define c (C)) (set-attr! c 'a (array 1 \"two\" (tuple 3))) (call c 'f 1)"
        "(define d (dict c 1 (tuple 1 \"x\") 2)) (dict-get d (C)) (as-list (item (attr c 'a) (slice 0 2)))"
        "(catch (builtin \"KeyError\") (lambda () (item d \"none\"))) (py \"**\" 3 100) (str (py-repr d)) 4";
    cvm *vm = start(0);
    char message[300];
    size_t n;
    int done = 0, sound = 1;

    for (n = 1; vm != NULL && !done && n < 20000; n++) {
        cvm_value v;
        vm->heap.fail_in = n;
        v = cvm_run_text(vm, "test", text, strlen(text));
        done = vm->heap.fail_in > 0;    /* it needed less */
        vm->heap.fail_in = 0;
        if (v == CVM_NONE) {
            cvm_error_text(vm, message, sizeof message);
            cvm_error_clear(vm);
        }
        sound &= vm->sp == 0 && vm->depth == 0 && run(vm, "(check-links) (len \"ok\")") == 2;
    }
    expect(done, "the program is done when nothing fails");
    expect(n > 100, "there were failures");
    expect(sound, "the VM is sound after each of them");
    if (vm != NULL)
        expect(cvm_free(vm) == 0, "nothing is held at the end");
}

int main(void)
{
    pthread_t threads[THREADS];
    int results[THREADS], i;
    cvm *a, *b;
    for (i = 0; i < THREADS; i++) {
        results[i] = i;
        if (pthread_create(&threads[i], NULL, one, &results[i]) != 0)
            return 1;
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        expect(results[i], "a VM in a thread");
    }
    a = start(0);
    b = start(1);
    expect(a != NULL && b != NULL, "two VMs in one thread");
    expect(run(a, "(define x (class \"X\" (list) (dict \"n\" 1))) (attr x 'n)") == 1, "a class of the first");
    expect(run(b, "(define x (class \"X\" (list) (dict \"n\" 2))) (attr x 'n)") == 2, "a class of the second");
    for (i = 0; i < 5; i++) {
        expect(run(a, "(gc) (set-attr! (x) 'list (array x)) (attr (x) 'n)") == 1, "the first goes on");
        expect(run(b, "(gc) (len (as-list (call (builtin \"int\") 'mro)))") == 2, "the second goes on");
    }
    expect(cvm_free(a) == 0, "nothing is held of the first");
    expect(run(b, "(attr (x) 'n)") == 2, "the second goes on without the first");
    expect(cvm_free(b) == 0, "nothing is held of the second");
    test_failing();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
