/* neutral.c - each function of the API leaves the VM as it found it, also when it fails: the
 * height of the stack, the depth, the scopes. And it fails if, and only if, an error is set. */
#include "../../../../tests/unit.h"
#include "../../layers.h"
#include "../impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

extern const cx_extension cx_ext_probe;

static cvm *vm;                         /* of the running test */

/* ---- the functions --------------------------------------------------------
 *
 * Each is called with every choice of so many of the samples below. The result says whether
 * it failed; NO_MATTER: both can be, with or without an error. */
enum { DONE, FAILED, NO_MATTER };

#define CALL(name) static int name(rrc_object **a)
#define UNUSED ((void)a)

static int object(rrc_object *new_reference)
{
    cx_xdecref(vm, new_reference);
    return new_reference == NULL;
}

static rrc_object *owned(rrc_object *x)
{
    return x != NULL ? cx_newref(vm, x) : NULL;
}

#define OBJECT(name, ...) CALL(call_##name) { UNUSED; return object(name(vm, __VA_ARGS__)); }
#define POINTER(name, ...) CALL(call_##name) { UNUSED; return name(vm, __VA_ARGS__) == NULL; }
#define CODE(name, ...) CALL(call_##name) { UNUSED; return name(vm, __VA_ARGS__) == -1; }
#define SIZE(name, ...) CALL(call_##name) { UNUSED; return name(vm, __VA_ARGS__) == SIZE_MAX; }
#define TEST(name, ...) CALL(call_##name) { UNUSED; return name(vm, __VA_ARGS__), NO_MATTER; }

TEST(cx_is_true, a[0])
CODE(cx_equal, a[0], a[1])
CODE(cx_is_same, a[0], a[1])
OBJECT(cx_repr, a[0])
OBJECT(cx_to_str, a[0])
CODE(cx_close, a[0])
OBJECT(cx_symbol, "some-symbol")
OBJECT(cx_symbol_name, a[0])
OBJECT(cx_pair_new, a[0], a[1])
OBJECT(cx_pair_car, a[0])
OBJECT(cx_pair_cdr, a[0])
OBJECT(cx_int_from_long, 123456)
OBJECT(cx_int_from_size, SIZE_MAX)
OBJECT(cx_float_from_double, 1.5)
TEST(cx_int_check, a[0])
TEST(cx_float_check, a[0])
TEST(cx_str_check, a[0])
TEST(cx_tuple_check, a[0])
TEST(cx_list_check, a[0])
TEST(cx_dict_check, a[0])
TEST(cx_callable_check, a[0])
SIZE(cx_int_as_size, a[0])
OBJECT(cx_str_from_string, "text")
OBJECT(cx_str_from_string_and_size, NULL, SIZE_MAX)
OBJECT(cx_str_from_format, "%d", 5)
SIZE(cx_str_size, a[0])
POINTER(cx_str_as_utf8, a[0])
POINTER(cx_str_as_utf8_and_size, a[0], NULL)
POINTER(cx_str_buffer, a[0])
CODE(cx_str_equals, a[0], "text")
OBJECT(cx_tuple_new, SIZE_MAX)
OBJECT(cx_tuple_pack, 2, a[0], a[1])
SIZE(cx_tuple_size, a[0])
POINTER(cx_tuple_items, a[0])
OBJECT(cx_list_new, 3)
SIZE(cx_list_size, a[0])
CODE(cx_list_append, a[0], a[1])
CODE(cx_list_del_item, a[0], 1)
POINTER(cx_list_items, a[0])
OBJECT(cx_list_as_tuple, a[0])
SIZE(cx_dict_size, a[0])
CODE(cx_dict_set_item, a[0], a[1], a[2])
CODE(cx_dict_set_item_string, a[0], "key", a[1])
CODE(cx_dict_del_item, a[0], a[1])
CODE(cx_dict_contains, a[0], a[1])
OBJECT(cx_get_global, a[0] != NULL ? "car" : "no such variable")
OBJECT(cx_call, a[0], a + 1, 2)
OBJECT(cx_call_method, a[0], a[2] != NULL ? "swap" : "no such method", a + 1, 1)
POINTER(cx_as_type, a[0])
POINTER(cx_type_of, a[0])

CALL(call_cx_nil) { UNUSED; return cx_nil(vm) == NULL || cx_bool(vm, 1) == NULL || cx_bool(vm, 0) == NULL; }
CALL(call_cx_dict_new) { UNUSED; return object(cx_dict_new(vm)); }
CALL(call_cx_newref) { return object(a[0] != NULL ? cx_newref(vm, a[0]) : cx_repr(vm, NULL)); }

CALL(call_cx_incref)
{
    if (a[0] != NULL) {
        cx_incref(vm, a[0]);
        cx_decref(vm, a[0]);
    }
    cx_xincref(vm, a[0]);
    cx_xdecref(vm, a[0]);
    return DONE;
}

CALL(call_cx_int_as_long)
{
    long x = cx_int_as_long(vm, a[0]);

    return x == -1 && cx_err_occurred(vm) ? FAILED : DONE;
}

CALL(call_cx_float_as_double)
{
    double x = cx_float_as_double(vm, a[0]);

    return x < 0 && cx_err_occurred(vm) ? FAILED : DONE;
}

/* Of a type, or of an object with attributes, or of one that computes it, or of none. */
CALL(call_cx_get_attr)
{
    return object(cx_get_attr(vm, a[0], a[1] != NULL ? "content" : "attribute"));
}

static int set_attr(rrc_object **a, const char *name)
{
    int code = cx_set_attr(vm, a[0], name, a[1]);

    return code == 0 ? DONE : code == -1 ? FAILED : -1;
}

CALL(call_cx_set_attr) { return set_attr(a, "attribute"); }
CALL(set_computed) { return set_attr(a, "content"); }
CALL(set_constant) { return set_attr(a, "size"); }

CALL(call_cx_tuple_get_item)
{
    return cx_tuple_get_item(vm, a[0], 0) == NULL || cx_tuple_get_item(vm, a[0], 99) == NULL;
}

CALL(call_cx_tuple_set_item)
{
    return cx_tuple_set_item(vm, a[0], 0, owned(a[1])) == -1
        || cx_tuple_set_item(vm, a[0], 99, owned(a[1])) == -1;
}

CALL(call_cx_list_get_item) { return cx_list_get_item(vm, a[0], 0), NO_MATTER; }
CALL(call_cx_list_set_item) { return cx_list_set_item(vm, a[0], 0, owned(a[1])) == -1; }
CALL(bad_cx_list_set_item) { return cx_list_set_item(vm, a[0], 99, owned(a[1])) == -1; }
CALL(call_cx_list_insert)
{
    return cx_list_insert(vm, a[0], 0, a[1]) == -1 || cx_list_insert(vm, a[0], 99, a[1]) == -1;
}

CALL(call_cx_dict_get_item)
{
    rrc_object *x = cx_dict_get_item(vm, a[0], a[1]);

    return x == NULL && cx_err_occurred(vm) ? FAILED : DONE;
}

CALL(call_cx_dict_get_item_string)
{
    rrc_object *x = cx_dict_get_item_string(vm, a[0], "b");

    return x == NULL && cx_err_occurred(vm) ? FAILED : DONE;
}

CALL(call_cx_dict_next)
{
    cx_dict_pos pos = { 0, 0 };
    rrc_object *key, *value;
    int code;

    do
        code = cx_dict_next(vm, a[0], &pos, &key, &value);
    while (code == 1);
    return code == -1;
}

CALL(call_cx_dict_next_changed)
{
    cx_dict_pos pos = { 0, 5 };

    return cx_dict_next(vm, a[0], &pos, NULL, NULL) == -1;
}

static rrc_object *some_function(cvm *of, rrc_object *self, rrc_object *const *args, size_t n)
{
    (void)self, (void)args, (void)n;
    return cx_err_set(of, "some error");
}

static const cx_method_def defs[] = { { "some-function", 0, 1, some_function }, { NULL, 0, 0, NULL } };

OBJECT(cx_function_new, &defs[0], a[0])
CODE(cx_define_functions, defs)
CODE(cx_define, a[1] != NULL ? "defined" : "if", a[0])
CALL(call_cx_check_args) { return !cx_check_args(vm, "test", a[0] == NULL, 1, 1); }

CALL(call_cx_function)
{
    rrc_object *f = cx_function_new(vm, &defs[0], NULL);
    int code = f == NULL ? FAILED : object(cx_call(vm, f, a, 1));

    cx_xdecref(vm, f);
    return code;
}

CALL(call_cx_temp)
{
    size_t scope = cx_scope_open(vm);
    int code = cx_temp(vm, owned(a[0])) == NULL;

    cx_scope_close(vm, scope);
    return code;
}

CALL(call_cx_err)
{
    cx_err err;

    cx_err_expected(vm, "test", "something else", a[0]);
    cx_err_fetch(vm, &err);
    if (a[0] == NULL)
        cx_err_no_memory(vm);
    cx_err_restore(vm, &err);
    return strncmp(cx_err_message(vm), "test: expected", 14) == 0 ? FAILED : DONE;
}

CALL(call_cx_type_check)
{
    return cx_type_check(vm, a[0], cx_builtin_type(vm, CX_STR)), NO_MATTER;
}

CALL(call_cx_check) { return !cx_check(vm, "test", a[0], cx_builtin_type(vm, CX_STR)); }

/* a[0] as the base, a[1] as the metatype. */
static int new_type(rrc_object **a, cx_type **type)
{
    cx_type spec = { .type = { .tp_name = "new-type" } };
    cx_type *base = a[0] != NULL ? cx_as_type(vm, a[0]) : NULL;
    cx_type *metatype = a[1] != NULL && !cx_err_occurred(vm) ? cx_as_type(vm, a[1]) : NULL;

    if (cx_err_occurred(vm))
        return FAILED;
    *type = cx_type_from_spec(vm, &spec, base, metatype);
    return *type == NULL;
}

CALL(call_cx_type_from_spec)
{
    cx_type *type;
    int code = new_type(a, &type);

    return code == DONE ? object(cx_type_object(type)) : code;
}

CALL(call_cx_new)
{
    cx_type *type;
    int code = new_type(a, &type);

    if (code == DONE) {
        code = object(cx_new(vm, type));
        cx_decref(vm, cx_type_object(type));
    }
    return code;
}

CALL(call_cx_new_var)
{
    return object(cx_new_var(vm, cx_builtin_type(vm, a[0] != NULL ? CX_OBJECT : CX_TYPE), 1));
}

CALL(call_cx_define_type)
{
    cx_type spec = { .type = { .tp_name = a[1] != NULL ? "another-type" : "if" } };
    cx_type *base = a[0] != NULL ? cx_as_type(vm, a[0]) : NULL;

    return cx_err_occurred(vm) ? FAILED : cx_define_type(vm, &spec, base, NULL, NULL) == -1;
}

CALL(call_cx_load_extension)
{
    return cx_load_extension(vm, a[0] == NULL ? "probe" : a[1] == NULL ? "missing" : "./missing.so") == -1;
}

CALL(call_cx_add_extension)
{
    static const cx_extension empty = { CX_EXTENSION_HEAD("empty"), .init = NULL };

    return cx_add_extension(vm, a[0] == NULL ? &empty : &cx_ext_probe) == -1
        || cx_state(vm, &cx_ext_probe) == NULL;
}

CALL(call_cx_gc)
{
    UNUSED;
    cx_gc_minor(vm);
    cx_gc(vm);
    cx_run_pending(vm);
    return DONE;
}

/* The name is that of the function; what follows a space tells calls of one apart. */
static const struct function {
    const char *name;
    int n;                              /* how many samples it takes */
    int (*call)(rrc_object **a);
} functions[] = {
#define F(name, n) { #name, n, call_##name }
    F(cx_is_true, 1), F(cx_equal, 2), F(cx_is_same, 2), F(cx_repr, 1), F(cx_to_str, 1), F(cx_get_attr, 2),
    F(cx_set_attr, 2), { "cx_set_attr, computed", 2, set_computed },
    { "cx_set_attr, constant", 2, set_constant }, F(cx_close, 1), F(cx_symbol, 0), F(cx_symbol_name, 1),
    F(cx_pair_new, 2), F(cx_pair_car, 1), F(cx_pair_cdr, 1), F(cx_int_from_long, 0), F(cx_int_from_size, 0),
    F(cx_float_from_double, 0), F(cx_int_check, 1), F(cx_float_check, 1), F(cx_int_as_long, 1),
    F(cx_int_as_size, 1), F(cx_float_as_double, 1), F(cx_str_from_string, 0),
    F(cx_str_from_string_and_size, 0), F(cx_str_from_format, 0), F(cx_str_check, 1), F(cx_str_size, 1),
    F(cx_str_as_utf8, 1), F(cx_str_as_utf8_and_size, 1), F(cx_str_buffer, 1), F(cx_str_equals, 1),
    F(cx_tuple_new, 0), F(cx_tuple_pack, 2), F(cx_tuple_check, 1), F(cx_tuple_size, 1),
    F(cx_tuple_get_item, 1), F(cx_tuple_set_item, 2), F(cx_tuple_items, 1), F(cx_list_new, 0),
    F(cx_list_check, 1), F(cx_list_size, 1), F(cx_list_get_item, 1), F(cx_list_set_item, 2),
    { "cx_list_set_item, out of range", 2, bad_cx_list_set_item }, F(cx_list_append, 2),
    F(cx_list_insert, 2), F(cx_list_del_item, 1), F(cx_list_items, 1), F(cx_list_as_tuple, 1),
    F(cx_dict_new, 0), F(cx_dict_check, 1), F(cx_dict_size, 1), F(cx_dict_get_item, 2),
    F(cx_dict_get_item_string, 1), F(cx_dict_set_item, 3), F(cx_dict_set_item_string, 2),
    F(cx_dict_del_item, 2), F(cx_dict_contains, 2), F(cx_dict_next, 1),
    { "cx_dict_next, of another walk", 1, call_cx_dict_next_changed }, F(cx_callable_check, 1),
    F(cx_call, 3), { "cx_call, of C", 1, call_cx_function }, F(cx_call_method, 3), F(cx_check_args, 1),
    F(cx_function_new, 1), F(cx_type_from_spec, 2), F(cx_define_type, 2), F(cx_type_of, 1),
    F(cx_type_check, 1), F(cx_check, 1), F(cx_as_type, 1), F(cx_new, 2), F(cx_new_var, 1),
    F(cx_add_extension, 1), F(cx_load_extension, 2), F(cx_define, 2), F(cx_define_functions, 0),
    F(cx_get_global, 1), F(cx_newref, 1), F(cx_incref, 1), F(cx_temp, 1), F(cx_nil, 0), F(cx_gc, 0),
    { "cx_err_set cx_err_no_memory cx_err_expected cx_err_occurred cx_err_message cx_err_clear cx_err_fetch "
      "cx_err_restore", 1, call_cx_err }
#undef F
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- the samples ---------------------------------------------------------- */

static const char *const samples[] = {
    "nil", "5", "5000000", "1.5", "\"text\"", "(string-append \"te\" \"xt\")", "'symbol", "(list 1 5000)",
    "(vector 1 2)", "(tuple 1 5000 \"text\")", "(range-tuple 300 303)", "(tuple-make 1 5000)",
    "(array 1 5000 \"text\")", "(list-make 1 5000)", "(dict 'a 5000 \"b\" (list 1))", "car",
    "(lambda (x y) (error \"no\"))", "(make-adder 1)", "(box 1)", "(node)", "(new 'point 1 2)", "node", "type",
    "(begin (define closed (box 1)) (close closed) closed)"
};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* Of these the host object is gone, as where garbage is taken apart. */
static const char *const gone_samples[] = {
    "(string-append \"te\" \"xt\")", "(list 1 5000)", "(vector 1 2)", "(tuple 1 5000)", "(array 1 5000)",
    "(dict 'a 1)", "(lambda () 1)"
};
enum { GONE = sizeof gone_samples / sizeof *gone_samples, ALL = SAMPLES + GONE + 1 };

static rrc_object *all[ALL];            /* the last one is NULL */

static rrc_object *eval(const char *text)
{
    rrc_object *ob = cxi_from_value(vm, cvm_run_text(vm, "test", text, strlen(text)));

    check_str(cx_err_message(vm), "");
    return ob;
}

static void start(void)
{
    cvm_config config = { .layers = cvm_all_layers };
    int i;

    config.heap_limit = 8u << 20;
    vm = cvm_new(&config);
    check(vm != NULL);
    check_int(cx_add_extension(vm, &cx_ext_probe), 0);
    check_int(cx_load_extension(vm, "probe"), 0);
    for (i = 0; i < SAMPLES; i++)
        all[i] = eval(samples[i]);
    for (i = 0; i < GONE; i++) {
        all[SAMPLES + i] = eval(gone_samples[i]);
        check_int(rrc_unlink(vm->rrc, all[SAMPLES + i]), RRC_OK);
        check(cvm_view_is_gone(vm, all[SAMPLES + i]));
    }
}

static void end(void)
{
    int i;

    for (i = 0; i < ALL; i++)
        cx_xdecref(vm, all[i]);
    check_int(rrc_check(vm->rrc), RRC_OK);
    check_int(cvm_free(vm), 0);
}

/* ---- the test -------------------------------------------------------------- */

static void call_once(const struct function *f, size_t choice)
{
    rrc_object *args[3] = { NULL, NULL, NULL };
    size_t sp = vm->sp, depth = vm->depth, temps = CX_STATE(vm)->temp_count;
    int i, code;

    unit_context("%s, choice %lu", f->name, (unsigned long)choice);
    for (i = 0; i < f->n; i++, choice /= ALL)
        args[i] = all[choice % ALL];
    code = f->call(args);
    check_int(vm->sp, sp);
    check_int(vm->depth, depth);
    check_int(CX_STATE(vm)->temp_count, temps);
    check_int(vm->printing, 0);
    if (code != NO_MATTER)
        check_int(code, vm->failed ? FAILED : DONE);
    cx_err_clear(vm);
}

/* Three samples: a part of the choices will do, if it is quick. */
static void every_function(void)
{
    size_t i, choice, choices, step;
    int k;

    for (i = 0; i < FUNCTIONS; i++) {
        start();
        for (k = 0, choices = 1; k < functions[i].n; k++)
            choices *= ALL;
        step = functions[i].n == 3 ? unit_is_quick() ? 17 : 3 : 1;
        for (choice = 0; choice < choices; choice += step)
            call_once(&functions[i], choice);
        end();
    }
}

/* Many failures in one call of a C function would use up the stack. */
static void many_failures(void)
{
    rrc_object *b;
    long i;

    start();
    b = eval("(box 1)");
    for (i = 0; i < CVM_STACK_SIZE + 100; i++) {
        check_int(cx_set_attr(vm, b, "size", b), -1);
        cx_err_clear(vm);
        check_int(cx_set_attr(vm, b, "attribute", b), -1);
        cx_err_clear(vm);
        check_int(cx_set_attr(vm, b, "content", cx_nil(vm)), 0);
    }
    check_int(vm->sp, 0);
    cx_decref(vm, b);
    end();
}

/* ---- are they all in the table? --------------------------------------------- */

static int is_tested(const char *name, size_t length)
{
    /* Those that look at nothing but their arguments; what others are made of; macros. */
    static const char others[] = " cx_heap cx_vm cx_decref cx_xincref cx_xdecref cx_scope_open cx_scope_close "
        "cx_bool cx_is_subtype cx_type_object cx_builtin_type cx_free cx_state cx_gc_minor cx_run_pending "
        "cx_err_occurred cx_err_message cx_err_clear ";
    char word[80];
    size_t i;

    snprintf(word, sizeof word, " %.*s ", (int)length, name);
    if (strstr(others, word) != NULL)
        return 1;
    for (i = 0; i < FUNCTIONS; i++) {
        const char *at = functions[i].name;

        for (; (at = strchr(at, 'c')) != NULL; at++)
            if (strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length]) && at[length] != '_')
                return 1;
    }
    return 0;
}

static void all_of_them(void)
{
    FILE *file = fopen("bindings/cpython/cx/capi.h", "r");
    char line[512];
    int found = 0;

    check(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        const char *at = line[0] == ' ' || line[0] == '#' || line[0] == '/' ? NULL : strstr(line, "cx_");

        for (; at != NULL; at = strstr(at + 1, "cx_")) {
            size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");

            if (at[length] != '(' || (at > line && at[-1] != ' ' && at[-1] != '*'))
                continue;
            unit_context("%.*s", (int)length, at);
            found++;
            check(is_tested(at, length));
            break;
        }
    }
    fclose(file);
    check(found > 90);
}

UNIT_GROUP(neutral, UNIT(every_function), UNIT(many_failures), UNIT(all_of_them));
