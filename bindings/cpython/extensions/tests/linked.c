/* linked.c - the extensions linked into a program, and used from C: the pointer of a
 * byte-view while everything moves, walks that C starts, objects that outlive the VM. */
#include "../../../../tests/unit.h"
#include "../buffer.h"
#include "../../layers.h"
#include "../../../compactvm/lisp/lisp.h"

#include <stdlib.h>
#include <string.h>

extern const cx_extension cx_ext_graph;

#define MOVE(vm) (cx_gc_minor(vm), cx_gc(vm), (void)cx_run_pending(vm))

static cvm *start(int stress)
{
    cvm_config config = { .layers = cvm_all_layers };
    cvm *vm;

    config.stress = stress;
    vm = cvm_new(&config);
    check(vm != NULL);
    check_int(cx_load_extension(vm, "buffer"), -1);
    check_str(cx_err_message(vm),
              "load-extension: there is no extension buffer linked in; a file needs its ending");
    cx_err_clear(vm);
    check_int(cx_add_extension(vm, &cx_ext_buffer), 0);
    check_int(cx_add_extension(vm, &cx_ext_graph), 0);
    check_int(cx_load_extension(vm, "buffer"), 0);
    check_int(cx_load_extension(vm, "graph"), 0);
    return vm;
}

static void run(cvm *vm, const char *text)
{
    cvm_run_text(vm, "test", text, strlen(text));
    check_str(cx_err_message(vm), "");
}

static rrc_object *call(cvm *vm, rrc_object *ob, const char *method, rrc_object *arg)
{
    return cx_call_method(vm, ob, method, &arg, arg != NULL);
}

/* A call without a result that matters. */
static int does(cvm *vm, rrc_object *ob, const char *method, rrc_object *arg)
{
    rrc_object *result = call(vm, ob, method, arg);

    cx_xdecref(vm, result);
    return result != NULL;
}

static void the_pointer(cvm *vm)
{
    rrc_object *b, *text = cx_str_from_string(vm, "some bytes");
    byte_view *v, *w;
    char *bytes;

    run(vm, "(define b (byte-buffer))");
    b = cx_get_global(vm, "b");
    check(does(vm, b, "append", text));
    v = (byte_view *)call(vm, b, "view", NULL);
    check(v != NULL);
    bytes = v->bytes;
    MOVE(vm);
    check_ptr(v->bytes, bytes);
    check_int(v->size, 10);
    check(memcmp(bytes, "some bytes", 10) == 0);
    memcpy(bytes, "more", 4);
    run(vm, "(assert (equal? (with (w (call b 'view 0 4)) (call w 'text)) \"more\"))");

    check(!does(vm, b, "append", text));        /* it is ours */
    check_str(cx_err_message(vm), "byte-buffer: it cannot be resized while a byte-view of it is open");
    cx_err_clear(vm);
    w = (byte_view *)call(vm, b, "view", NULL);
    check_ptr(w->bytes, bytes);
    check_int(cx_close(vm, &w->head), 0);
    check_int(cx_close(vm, &w->head), 0);
    check_int(w->size, 0);
    check_ptr(w->bytes, NULL);
    check_ptr(w->buffer, NULL);
    cx_decref(vm, &w->head);

    run(vm, "(begin (close b) (set! b nil) (gc) (run-pending))");
    cx_decref(vm, b);
    MOVE(vm);
    check(memcmp(bytes, "more bytes", 10) == 0);        /* the view has the buffer */
    b = cx_newref(vm, v->buffer);
    cx_decref(vm, &v->head);                            /* it never had a proxy: now it is closed */
    check(does(vm, b, "append", text));
    cx_decref(vm, b);
    cx_decref(vm, text);
}

static void pointers(void)
{
    int stress;

    for (stress = 0; stress < 2; stress++) {
        cvm *vm = start(stress);

        the_pointer(vm);
        check_int(cvm_free(vm), 0);
    }
}

/* C holds the graph, Lisp has the callbacks. */
static void walks(void)
{
    int stress;

    for (stress = 0; stress < 2; stress++) {
        cvm *vm = start(stress);
        rrc_object *type, *a, *b, *f, *total;

        run(vm, "(define at-first (dict-get (stats) 'tracked))"
                "(define sum 0)"
                "(define (visit n distance) (gc) (set! sum (+ sum (* 10 (attr n 'value)) distance)))");
        type = cx_get_global(vm, "node");
        f = cx_get_global(vm, "visit");
        a = cx_call(vm, type, NULL, 0);
        b = cx_call(vm, type, NULL, 0);
        total = cx_int_from_long(vm, 2);
        check_int(cx_set_attr(vm, a, "value", total), 0);
        check_int(cx_set_attr(vm, b, "value", total), 0);
        cx_decref(vm, total);
        MOVE(vm);
        check(does(vm, a, "connect", b) && does(vm, b, "connect", a));
        check(does(vm, a, "on-visit", f) && does(vm, b, "on-visit", f));
        cx_decref(vm, f);
        cx_decref(vm, b);
        MOVE(vm);
        check(does(vm, a, "walk", NULL));
        run(vm, "(assert (= sum 41))");
        total = call(vm, a, "walk", NULL);
        check_int(cx_int_as_long(vm, total), 2);
        cx_decref(vm, total);
        cx_decref(vm, type);
        cx_decref(vm, a);                       /* the last reference to the ring from outside */
        MOVE(vm);
        MOVE(vm);
        run(vm, "(assert (= (dict-get (stats) 'tracked) at-first))");
        check_int(cvm_free(vm), 0);
    }
}

static void late_objects(void)
{
    cvm *vm = start(0);
    rrc_heap *heap = cx_heap(vm);
    rrc_object *n, *v;

    run(vm, "(define b (byte-buffer 10)) (define v (call b 'view 1 9)) (define n (node v))");
    run(vm, "(begin (call n 'connect (node)) (call n 'on-visit (lambda (n d) n)))");
    n = cx_get_global(vm, "n");
    v = cx_get_global(vm, "v");
    check(cvm_free(vm) > 0);
    check_int(((byte_view *)v)->size, 8);
    memset(((byte_view *)v)->bytes, 'x', 8);
    rrc_decref(heap, v);
    rrc_decref(heap, n);
    free(vm);
}

UNIT_GROUP(linked, UNIT(pointers), UNIT(walks), UNIT(late_objects));
