/* embedding.c - the API from a program that has the VM as a library. */
#include "../../../../tests/unit.h"
#include "../../layers.h"
#include "../impl.h"

#include <stdlib.h>
#include <string.h>

extern const cx_extension cx_ext_probe;

static cvm *start(int stress)
{
    cvm_config config = { .layers = cvm_all_layers };
    cvm *vm;

    config.stress = stress;
    config.heap_limit = 16u << 20;
    vm = cvm_new(&config);
    check(vm != NULL);
    check_int(cx_add_extension(vm, &cx_ext_probe), 0);
    check_int(cx_load_extension(vm, "probe"), 0);
    return vm;
}

/* Evaluates the text. NEW. */
static rrc_object *eval(cvm *vm, const char *text)
{
    return cxi_from_value(vm, cvm_run_text(vm, "test", text, strlen(text)));
}

static void run(cvm *vm, const char *text)
{
    rrc_object *ob = eval(vm, text);

    check_str(cx_err_message(vm), "");
    cx_decref(vm, ob);
}

static void check_fails(cvm *vm, const char *text)
{
    check_str(cx_err_message(vm), text);
    cx_err_clear(vm);
}

static void end(cvm *vm)
{
    check_int(vm->sp, 0);
    check_int(vm->depth, 0);
    check_int(CX_STATE(vm)->temp_count, 0);
    check_int(cvm_free(vm), 0);
}

/* ---- several machines ------------------------------------------------------ */

static void several_machines(void)
{
    cvm *a = start(0), *b = start(1);
    rrc_object *x;
    int i;

    run(a, "(define b (box 1))");
    run(b, "(define b (big-box 2 3))");
    for (i = 0; i < 5; i++) {
        run(a, "(hold-it (list (attr b 'content) (held-it)))");
        run(b, "(hold-it (list (attr b 'content) (held-it)))");
    }
    x = eval(a, "(assert (equal? (car (held-it)) 1))");
    check(x == cx_bool(a, 1));
    check(x != cx_bool(b, 1));
    run(a, "(assert (= (boxes) 1))");
    end(a);
    run(b, "(assert (equal? (car (held-it)) 2))");
    run(b, "(assert (= (boxes) 1))");
    end(b);
}

/* ---- objects that outlive the machine --------------------------------------- */

static void late_objects(void)
{
    cvm *vm = start(0);
    rrc_heap *heap = cx_heap(vm);
    rrc_object *box = eval(vm, "(big-box (list 1) (array 1 2))");
    rrc_object *s = eval(vm, "(string-append \"a\" \"b\")");
    rrc_object *list = eval(vm, "(let ((a (array (box 1) 2))) (list-items a) a)");

    check_str(cx_str_as_utf8(vm, s), "ab");
    check_int(cvm_free(vm), 6);                 /* these, and what they own */
    check_int(RRC_REFCNT(box), 1);
    check_str(RRC_TYPE(box)->tp_name, "big-box");       /* it keeps its type */
    rrc_decref(heap, box);
    rrc_decref(heap, s);
    rrc_decref(heap, list);
    free(vm);
}

/* ---- extensions --------------------------------------------------------------- */

static int inits, ends, should_fail;

static int fickle_init(cvm *vm)
{
    rrc_object *x = cx_str_from_string(vm, "defined");
    int code = cx_define(vm, "defined-by-fickle", x);

    inits++;
    cx_decref(vm, x);
    if (should_fail == 1)
        return cx_err_set(vm, "no luck"), -1;
    if (should_fail == 2)
        return -1;
    if (should_fail == 3)
        return cx_define(vm, "if", cx_nil(vm));
    return code;
}

static void fickle_end(cvm *vm)
{
    ends++;
    check(!cx_err_occurred(vm));
}

static const cx_extension fickle = {
    CX_EXTENSION_HEAD("fickle"), .init = fickle_init, .state_size = 8, .end = fickle_end
};

static void init_that_fails(void)
{
    static const char *const messages[] = {
        "", "no luck", "load-extension: init of fickle failed without setting an error",
        "define: if is a special form"
    };
    cvm *vm = start(0);

    inits = ends = 0;
    check_int(cx_add_extension(vm, &fickle), 0);
    for (should_fail = 3; should_fail > 0; should_fail--) {
        check_int(cx_load_extension(vm, "fickle"), -1);
        check_fails(vm, messages[should_fail]);
        check(cx_get_global(vm, "defined-by-fickle") == NULL);
        check_fails(vm, "unbound variable: defined-by-fickle");
        check_int(ends, inits);
    }
    check_int(cx_load_extension(vm, "fickle"), 0);
    check_int(cx_load_extension(vm, "fickle"), 0);
    check_int(inits, 4);
    run(vm, "(assert (equal? defined-by-fickle \"defined\"))");
    check(cx_state(vm, &fickle) != NULL);
    end(vm);
    check_int(ends, 4);
}

static int wrong_config(rrc_heap *heap)
{
    (void)heap;
    return RRC_ECONFIG;
}

static void extensions_that_do_not_fit(void)
{
    static const cx_extension old = { CX_API_VERSION + 1, "old", cxi_check_config, .init = fickle_init };
    static const cx_extension other = { CX_API_VERSION, "other", wrong_config, .init = fickle_init };
    static const cx_extension empty = { CX_EXTENSION_HEAD("empty"), .init = NULL };
    cvm *vm = start(0);

    check_int(cx_add_extension(vm, &old), -1);
    check_fails(vm, "load-extension: old was made for version 2 of the API, this is version 1");
    check_int(cx_add_extension(vm, &other), -1);
    check_fails(vm, "load-extension: other was compiled with other settings of rawrefcount.h "
                "(RRC_DEBUG?) than the VM");
    check_int(cx_add_extension(vm, &empty), -1);
    check_fails(vm, "load-extension: empty has no init");
    check(cx_state(vm, &old) == NULL);
    end(vm);
}

/* ---- types ------------------------------------------------------------------------ */

static void types_are_values(void)
{
    cvm *vm = start(1);
    rrc_object *box = eval(vm, "box"), *big_box = eval(vm, "big-box"), *five = eval(vm, "5");
    cx_type *t = cx_as_type(vm, box), *u = cx_as_type(vm, big_box);

    check_ptr(t, box);
    check_ptr(cx_as_type(vm, five), NULL);
    check_fails(vm, "cx_as_type: expected a type, got 5");
    check(cx_is_subtype(u, t));
    check(!cx_is_subtype(t, u));
    check(cx_is_subtype(t, cx_builtin_type(vm, CX_OBJECT)));
    check(cx_type_of(vm, big_box) == cx_builtin_type(vm, CX_TYPE));
    cx_xincref(vm, box);
    cx_xincref(vm, NULL);
    cx_xdecref(vm, NULL);
    cx_decref(vm, box);
    cx_decref(vm, box);
    cx_decref(vm, big_box);
    cx_decref(vm, five);
    end(vm);
}

/* ---- types that do what they must not ------------------------------------------ */

static rrc_object *bad_repr(cvm *vm, rrc_object *self)
{
    rrc_object *dict = cx_dict_new(vm);

    (void)self;
    cx_xdecref(vm, dict);
    return dict != NULL ? cx_str_from_string(vm, "reached") : NULL;
}

static rrc_object *calling_repr(cvm *vm, rrc_object *self)
{
    rrc_object *f = cx_get_global(vm, "gc"), *result = f != NULL ? cx_call(vm, f, NULL, 0) : NULL;

    (void)self;
    cx_gc(vm);                                  /* has no effect now */
    cx_gc_minor(vm);
    cx_xdecref(vm, f);
    return result;
}

static rrc_object *odd_repr(cvm *vm, rrc_object *self)
{
    (void)self;
    return cx_int_from_long(vm, 5);
}

static rrc_object *no_repr(cvm *vm, rrc_object *self)
{
    (void)vm, (void)self;
    return NULL;
}

static void repr_that_misbehaves(void)
{
    static const struct {
        rrc_object *(*repr)(cvm *vm, rrc_object *self);
        const char *message;
    } cases[] = {
        { bad_repr, "a tp_repr must not make Lisp objects" },
        { calling_repr, "a tp_repr must not run Lisp code" },
        { odd_repr, "cx_str_as_utf8_and_size: expected a string, got 5" },
        { no_repr, "bad: tp_repr failed without an error" }
    };
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        cvm *vm = start(0);
        cx_type spec = { .type = { .tp_name = "bad" }, .tp_repr = cases[i].repr };
        cx_type *type = cx_type_from_spec(vm, &spec, NULL, NULL);

        check_int(cx_define(vm, "bad", cx_type_object(type)), 0);
        cx_decref(vm, cx_type_object(type));
        check(eval(vm, "(to-string (list 1 (bad)))") == NULL);
        check_fails(vm, cases[i].message);
        run(vm, "(list 1 2)");
        end(vm);
    }
}

/* One that shows itself to Lisp: it is too late for that. */
static void showing_dealloc(rrc_heap *heap, rrc_object *self)
{
    cvm *vm = cx_vm(heap);
    rrc_object *f = cx_get_global(vm, "show"), *result;

    result = f != NULL ? cx_call(vm, f, &self, 1) : NULL;
    cx_err_clear(vm);
    cx_xdecref(vm, result);
    cx_xdecref(vm, f);
    cx_free(heap, self);
}

static void dealloc_that_shows_itself(void)
{
    cvm *vm = start(1);
    cx_type spec = { .type = { .tp_name = "showing", .tp_dealloc = showing_dealloc } };
    cx_type *type = cx_type_from_spec(vm, &spec, NULL, NULL);

    check_int(cx_define(vm, "showing", cx_type_object(type)), 0);
    cx_decref(vm, cx_type_object(type));
    run(vm, "(define shown nil) (define (show x) (set! shown x))");
    run(vm, "(begin (showing) nil)");
    run(vm, "(begin (gc) (run-pending 0) (assert (equal? (repr shown) \"#<disposed>\")))");
    end(vm);
}

/* The last object of a light type dies, and with it, after the collection, the type. */
static void light_objects_keep_their_type(void)
{
    cvm *vm = start(0);
    cx_type spec = { .type = { .tp_name = "light", .tp_flags = CX_TPFLAGS_LIGHT } };
    cx_type *type = cx_type_from_spec(vm, &spec, NULL, NULL);
    rrc_stats before, after;

    rrc_get_stats(vm->rrc, &before);
    check_int(cx_define(vm, "light", cx_type_object(type)), 0);
    cx_decref(vm, cx_type_object(type));
    run(vm, "(define x (light)) (define light nil) (gc) (run-pending 0) (gc) (run-pending 0) nil");
    run(vm, "(assert (equal? (repr (class-of x)) \"#<type light>\"))");
    run(vm, "(begin (set! x nil) (gc) (run-pending 0) (gc) (run-pending 0) nil)");
    rrc_get_stats(vm->rrc, &after);
    check_int(after.objects, before.objects - 1);
    check_int(rrc_check(vm->rrc), RRC_OK);
    end(vm);
}

/* A deallocator that calls Lisp, also when the VM is being closed. */
static void calling_dealloc(rrc_heap *heap, rrc_object *self)
{
    cvm *vm = cx_vm(heap);
    cx_err err;
    rrc_object *f, *result;

    cx_err_fetch(vm, &err);
    f = cx_get_global(vm, "note");
    result = f != NULL ? cx_call(vm, f, NULL, 0) : NULL;
    cx_xdecref(vm, result);
    cx_xdecref(vm, f);
    cx_err_restore(vm, &err);
    cx_free(heap, self);
}

static void dealloc_that_calls_lisp(void)
{
    cvm *vm = start(0);
    cx_type spec = { .type = { .tp_name = "calling", .tp_dealloc = calling_dealloc } };
    cx_type *type = cx_type_from_spec(vm, &spec, NULL, NULL);

    check_int(cx_define(vm, "calling", cx_type_object(type)), 0);
    cx_decref(vm, cx_type_object(type));
    run(vm, "(define notes 0) (define (note) (gc) (set! notes (+ notes 1)))");
    run(vm, "(begin (calling) (calling) nil)");
    run(vm, "(begin (gc) (run-pending 0) (assert (= notes 2)))");
    check(eval(vm, "(begin (with (x (calling)) (error \"kept\")))") == NULL);
    check_fails(vm, "kept");
    run(vm, "(assert (= notes 3))");
    run(vm, "(define at-the-end (calling))");
    end(vm);
}

/* ---- scale ----------------------------------------------------------------------- */

static void long_chains(void)
{
    cvm *vm = start(0);
    rrc_object *list = cx_list_new(vm, 0);
    long i, length = unit_is_quick() ? 20000 : 300000;

    for (i = 0; i < length; i++) {
        rrc_object *outer = cx_list_new(vm, 0);

        check_int(cx_list_append(vm, outer, list), 0);
        cx_decref(vm, list);
        list = outer;
    }
    cx_gc(vm);
    check_int(rrc_check(vm->rrc), RRC_OK);
    cx_decref(vm, list);                        /* without recursion */
    end(vm);
}

/* A walk does the same work for each entry, however many there are. */
static void walks_are_linear(void)
{
    cvm *vm = start(0);
    rrc_object *dict = cx_dict_new(vm), *key, *value;
    cx_dict_pos pos = { 0, 0 };
    long i, n = 0, sum = 0;

    for (i = 0; i < 20000; i++) {
        rrc_object *number = cx_int_from_long(vm, 1000 + i);

        check_int(cx_dict_set_item(vm, dict, number, number), 0);
        cx_decref(vm, number);
    }
    while (cx_dict_next(vm, dict, &pos, &key, &value) == 1) {
        sum += cx_int_as_long(vm, key) - cx_int_as_long(vm, value);
        n++;
        check_int(pos.at, n);                   /* no entry is looked at twice */
    }
    check_int(n, 20000);
    check_int(sum, 0);
    cx_decref(vm, dict);
    end(vm);
}

UNIT_GROUP(embedding, UNIT(several_machines), UNIT(late_objects), UNIT(init_that_fails),
           UNIT(extensions_that_do_not_fit), UNIT(types_are_values),
           UNIT(repr_that_misbehaves), UNIT(dealloc_that_calls_lisp),
           UNIT(dealloc_that_shows_itself), UNIT(light_objects_keep_their_type),
           UNIT(long_chains), UNIT(walks_are_linear));
