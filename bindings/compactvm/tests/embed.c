/* embed.c - the VM as a library: several at a time, and C code that holds on. */
#include "../lisp/lisp.h"
#include "../../../examples/toolkit/toolkit.h"

#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <pthread.h>
#endif

static int passed, failed;

static void expect(int ok, const char *what)
{
    passed += ok;
    failed += !ok;
    if (!ok)
        printf("FAILED: %s\n", what);
}

static cvm *start_as(int stress, int incremental)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_toolkit_layer, NULL };
    cvm_config config = { 0 };
    cvm *vm;
    config.layers = layers;
    config.stress = stress;
    config.incremental = incremental;
    config.heap_limit = 8u << 20;
    vm = cvm_new(&config);
    if (vm == NULL) {
        puts("0 passed, 1 failed");
        exit(1);
    }
    return vm;
}

static cvm *start(int stress)
{
    return start_as(stress, 0);
}

static cvm_value run(cvm *vm, const char *text)
{
    return cvm_run_text(vm, "test", text, strlen(text));
}

static intptr_t run_number(cvm *vm, const char *text)
{
    cvm_value v = run(vm, text);
    return cvm_is_fixnum(v) ? cvm_fixnum_of(v) : -1;
}

/* Two machines at work in turn share nothing. */
static void test_two(int stress)
{
    cvm *a = start(stress), *b = start(0);
    int i;
    run(a, "(define x (list 1)) (hold 'x x)");
    run(b, "(define x (list 2)) (hold 'x x) (hold 'y (new 'widget \"b\"))");
    for (i = 0; i < 10; i++) {
        run(a, "(gc) (set! x (cons 1 (held 'x))) (release 'x) (hold 'x x)");
        run(b, "(gc-minor) (set! x (cons 2 (held 'x))) (release 'x) (hold 'x x)");
    }
    expect(run_number(a, "(gc) (fold + 0 (held 'x))") == 11, "the first machine's list");
    expect(run_number(b, "(gc) (fold + 0 (held 'x))") == 22, "the second machine's list");
    expect(run(a, "(held 'y)") == CVM_NIL, "the first machine does not see the second one's widget");
    expect(cvm_free(a) == 0, "nothing is held of the first machine");
    expect(run_number(b, "(string-length (call (held 'y) 'name))") == 1,
           "the second machine goes on without the first");
    expect(cvm_free(b) == 0, "nothing is held of the second machine");
}

/* C code keeps references beyond the end of the machine, and drops them then. */
static void test_late(int stress)
{
    cvm *vm = start(stress);
    rrc_heap *heap = vm->rrc;
    cvm_value *widget = cvm_root(vm, run(vm, "(new 'widget \"late\")"));
    cvm_value *list = cvm_root(vm, run(vm, "(list 1 2 3)"));
    rrc_object *ob = cvm_to_c(vm, "test", *widget);
    rrc_object *view = cvm_to_c(vm, "test", *list);
    expect(ob != NULL && view != NULL, "both have C objects");
    if (ob == NULL || view == NULL)
        return;
    run(vm, "(gc)");
    expect(cvm_from_ob(vm, ob) == *widget, "the widget's proxy is still the same");
    expect(cvm_from_ob(vm, view) == *list, "the list moved, and its view follows");
    run(vm, "(define w (new 'widget \"parent\")) (call w 'on-close (lambda (self name) (gc)))");
    expect(cvm_free(vm) == 2, "two objects are held at the end");
    expect(RRC_REFCNT(ob) == 1 && RRC_REFCNT(view) == 1, "with their true counts");
    rrc_decref(heap, ob);
    rrc_decref(heap, view);     /* and with it the last of the rrc_heap goes */
    free(vm);
}

/* The machine ends while a collection marks in slices: deallocators run programs, which collect, and look
   at what was marked and at what was not. */
static void test_marking(int stress)
{
    static const size_t parts[] = { 1, 100, 2000, 10000 };
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        cvm *vm = start_as(stress, 1);
        run(vm, "(define found 0) (define (make name next)"
                "  (let ((w (new 'window name)))"
                "    (call w 'on-close (lambda (self n) (gc-minor) (map car (list (list n))) (gc) (gc-slice 10)))"
                "    (call w 'on-finalize (lambda (self n) (set! found (cons self found)) (gc-slice 100)))"
                "    (when next (call w 'add next)) w))");
        run(vm, "(define all (map (lambda (i) (make (to-string i) (make \"child\" nil))) (range 50)))"
                "(define rings (map (lambda (i) (let ((w (make \"ring\" nil)))"
                "  (call w 'on-click (lambda () w)) w)) (range 20))) (gc)"
                "(set! rings nil) (set! all (cons (make \"young\" nil) (cdr all)))");
        expect(cvm_heap_slice(&vm->heap, parts[i]), "a collection marks");
        expect(vm->heap.marking == 1, "and is not yet at its end");
        run(vm, "(make \"made meanwhile\" (car (cdr all)))");
        while (i % 2 != 0 && vm->heap.marking == 1 && cvm_heap_slice(&vm->heap, 1))
            ;
        expect(vm->heap.marking == 1 + (int)(i % 2) || stress, "and goes on, also when garbage is known");
        expect(cvm_free(vm) == 0, "nothing is held");
    }
}

/* C holds a window. Its proxy is dead, but garbage owns it, and so it is kept: reached, and not yet scanned, when
   the program gets it from C again, and takes the only reference to a vector out of it. It has the vector on its
   stack, or gives it to C. (Lisp reads no fields of our proxies. An API may have some: the test uses
   cvm_foreign.attributes.) */
static void test_kept(int gives_to_c)
{
    cvm *vm = start_as(0, 1);
    cvm_value p, *v = cvm_root(vm, CVM_NIL);
    rrc_object *ob, *view = NULL;
    size_t tries = 10000;
    int is_whole;
    run(vm, "(auto-pending false)"
            "(define kept (new 'window \"kept\")) (hold 'kept kept)"
            "(define (own p) (let ((w (new 'widget \"garbage\"))) (call w 'on-click (lambda () (list w p))) w))"
            "(define garbage (map (lambda (i) (own kept)) (range 10)))"
            "(define dead (range 100)) (gc) (define v (vector 1 2 3)) (gc)"
            "(define after (range 300)) (gc)");     /* `after` is going to slide over `dead`, and over v if that dies */
    p = run(vm, "kept");
    ob = cvm_named_ob(p);
    cvm_store(vm, p, &CVM_FOREIGN_OF(p)->attributes, run(vm, "v"));
    run(vm, "(set! dead nil) (set! v nil) (set! kept nil) (set! garbage nil)");
    while (vm->heap.marking < 2 && tries-- > 0)
        cvm_heap_slice(&vm->heap, 1);
    expect(vm->heap.marking == 2, "garbage is known");
    expect((cvm_object_of(p)->flags & CVM_REACHED) == 0, "and the proxy is not alive");
    while (vm->heap.marking == 2 && (cvm_object_of(p)->flags & CVM_REACHED) == 0 && tries-- > 0)
        cvm_heap_slice(&vm->heap, 1);
    expect(vm->heap.marking == 2 && cvm_from_ob(vm, ob) == p, "it is kept, and C gives it to the program");
    *v = CVM_FOREIGN_OF(p)->attributes;
    expect((cvm_object_of(*v)->flags & CVM_REACHED) == 0, "it is not yet scanned");
    cvm_store(vm, p, &CVM_FOREIGN_OF(p)->attributes, CVM_NIL);
    if (gives_to_c) {
        view = cvm_to_c(vm, "test", *v);
        *v = CVM_NIL;
    }
    while (cvm_heap_slice(&vm->heap, 1) && tries-- > 0)
        ;
    expect(vm->heap.marking == 0, "the collection ends");
    if (view != NULL) {
        *v = cvm_from_ob(vm, view);
        rrc_decref(vm->rrc, view);
    }
    is_whole = cvm_is(*v, CVM_VECTOR) && CVM_VECTOR_OF(*v)->length == 3
            && CVM_VECTOR_OF(*v)->items[0] == cvm_fixnum(1);
    expect(is_whole, "what the program has read of the proxy lives");
    cvm_define(vm, "v", is_whole ? *v : CVM_NIL);
    *v = CVM_NIL;
    expect(run(vm, "(run-pending) (gc) (equal? (list (vector-ref v 2) (call (held 'kept) 'name)) '(3 \"kept\"))")
           == CVM_TRUE, "and stays, and so does the window");
    cvm_error_clear(vm);
    expect(run(vm, "(release 'kept) (gc) (run-pending) (check-links)") == CVM_TRUE, "the links are sound");
    expect(cvm_free(vm) == 0, "nothing is held");
}

/* What is made while a VM starts is never collected, though nothing refers to it, and never moves. Its first
   references can be to young objects, and to those that slices have not marked so far. */
static void test_prebuilt(int stress)
{
    cvm *vm = start_as(stress, 1);
    cvm_value prebuilt[2];
    size_t i;
    for (i = 0; i < 2; i++) {
        cvm_value v = run(vm, "(define g (vector (list 1 (list 2)))) (gc)"
                              "(if (gc-slice 1) (let ((x (vector-ref g 0))) (vector-set! g 0 nil) x) nil)");
        v = i == 0 ? run(vm, "(list 1 (list 2))") : v;
        vm->heap.booting = 1;
        prebuilt[i] = cvm_vector_new(vm, 1, v);
        vm->heap.booting = 0;
        run(vm, "(gc-minor) (range 100) (gc) (range 100)");
    }
    run(vm, "(gc) (while (gc-slice 100)) (range 100) (gc)");
    for (i = 0; i < 2; i++) {
        expect(cvm_is(prebuilt[i], CVM_VECTOR), "a prebuilt object stays");
        cvm_define(vm, "found", CVM_VECTOR_OF(prebuilt[i])->items[0]);
        expect(run(vm, "(equal? found '(1 (2)))") == CVM_TRUE, "and what it refers to");
    }
    expect(cvm_free(vm) == 0, "nothing is held of prebuilt objects");
}

/* Errors are values: the machine is as good as before. */
static void test_errors(int stress)
{
    cvm *vm = start(stress);
    FILE *out = tmpfile();
    char text[300];
    expect(run(vm, "(+ 1\n (car 5))") == CVM_NONE && vm->error.failed, "an error is reported");
    cvm_error_text(vm, text, sizeof text);
    expect(strcmp(text, "test:2: error: car: expected a pair, got 5") == 0, "with its place");
    cvm_error_clear(vm);
    expect(run_number(vm, "(+ 1 2)") == 3, "and work goes on");
    expect(vm->sp == 0 && vm->depth == 0, "nothing is left on the stack");
    expect(run(vm, "(define (f x)\n (car x))\n(+ 1 (f 5))") == CVM_NONE, "an error in a call");
    cvm_heap_major(&vm->heap);
    expect(out != NULL, "there is a file for text");
    cvm_print_calls(vm, out);
    rewind(out);
    expect(fgets(text, sizeof text, out) != NULL && strcmp(text, "    in f, called at test:3\n") == 0
           && fgets(text, sizeof text, out) == NULL, "its call is still known after a collection");
    fclose(out);
    cvm_error_clear(vm);
    expect(run(vm, "(define (f) (f)") == CVM_NONE, "a text without an end is an error");
    cvm_error_clear(vm);
    expect(run(vm, "(define (f n) (+ 1 (f n))) (f 1)") == CVM_NONE, "so is an endless recursion");
    cvm_error_clear(vm);
    expect(vm->sp == 0 && vm->depth == 0, "nothing is left on the stack after it");
    expect(run(vm, "") == CVM_NIL, "an empty text is nil");
    cvm_free(vm);
}

/* A machine goes from a thread with much stack to one with little, and back. */
#ifdef __GLIBC__
static void *recurse(void *vm)
{
    expect(run(vm, "(define (f n) (if (= n 0) 0 (+ 1 (f (- n 1))))) (f 100000)") == CVM_NONE
           && strcmp(((cvm *)vm)->error.message, "recursion too deep") == 0, "recursion is bounded");
    cvm_error_clear(vm);
    expect(run_number(vm, "(f 30)") == 30, "and work goes on");
    return NULL;
}

static void test_threads(void)
{
    static const size_t sizes[] = { 8u << 20, 512u << 10, 1u << 20, 384u << 10 };
    cvm *vm = start(0);
    size_t i;
    vm->config.max_depth = 1u << 30;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        vm->config.c_stack = 0;            /* that of the process */
        recurse(vm);
        vm->config.c_stack = sizes[i] / 2;
        expect(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, sizes[i]) == 0
               && pthread_create(&thread, &attributes, recurse, vm) == 0
               && pthread_join(thread, NULL) == 0, "the thread runs");
        pthread_attr_destroy(&attributes);
    }
    cvm_free(vm);
}
#else
static void test_threads(void)
{
    puts("skipped: threads with small stacks (not glibc)");
}
#endif

int main(void)
{
    int stress;
    for (stress = 0; stress < 2; stress++) {
        test_two(stress);
        test_late(stress);
        test_errors(stress);
        test_marking(stress);
        test_prebuilt(stress);
    }
    test_kept(0);
    test_kept(1);
    test_threads();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
