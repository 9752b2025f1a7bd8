/* procedures.c - the API seen from Lisp: extensions, attributes, types, closing; and
 * its beginning and end with the VM. */
#include "impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- small helpers ------------------------------------------------------ */

/* A copy of a string or a symbol's name in C's memory; NULL after a failure. */
static char *copy_text(cvm *vm, const char *who, cvm_value v, const char *what)
{
    cvm_value s = cvm_is(v, CVM_SYMBOL) ? CVM_SYMBOL_OF(v)->name : v;
    char *copy;

    if (!cvm_is(s, CVM_STRING)) {
        cvm_expected(vm, who, what, s);
        return NULL;
    }
    copy = malloc(CVM_STRING_OF(s)->length + 1);
    if (copy == NULL)
        cvm_out_of_memory(vm);
    else
        memcpy(copy, cvm_bytes(s), CVM_STRING_OF(s)->length + 1);
    return copy;
}

/* The object behind a proxy. NEW; NULL after a failure. */
static rrc_object *object_of(cvm *vm, const char *who, cvm_value v)
{
    if (cvm_is(v, CVM_FOREIGN) && CVM_FOREIGN_OF(v)->ob != NULL)
        return cxi_from_value(vm, v);
    cvm_expected(vm, who, "a living C object", v);
    return NULL;
}

static void drop(cvm *vm, rrc_object *ob)
{
    if (ob != NULL)
        rrc_decref(vm->rrc, ob);
}

/* ---- attributes ---------------------------------------------------------- */

/* (attr x 'name) */
static cvm_value b_attr(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = object_of(vm, "attr", args[0]), *v;
    char *name = ob != NULL ? copy_text(vm, "attr", args[1], "a name") : NULL;

    (void)n;
    v = name != NULL ? cx_get_attr(vm, ob, name) : NULL;
    free(name);
    drop(vm, ob);
    return v != NULL ? cxi_to_value_steal(vm, v) : CVM_NONE;
}

/* (set-attr! x 'name v), and without v: remove it */
static cvm_value b_set_attr(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = object_of(vm, "set-attr!", args[0]), *v = NULL;
    char *name = ob != NULL ? copy_text(vm, "set-attr!", args[1], "a name") : NULL;
    int ok = name != NULL && (n < 3 || (v = cxi_from_value(vm, args[2])) != NULL)
          && cx_set_attr(vm, ob, name, v) == 0;

    free(name);
    drop(vm, v);
    drop(vm, ob);
    return !ok ? CVM_NONE : n > 2 ? args[2] : CVM_NIL;
}

/* ---- types --------------------------------------------------------------- */

/* (class-of x): its type, as C sees it */
static cvm_value b_class_of(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = cxi_from_value(vm, args[0]);
    cvm_value v = ob != NULL ? cxi_to_value(vm, &cxi_type_of(vm, ob)->type.ob_base) : CVM_NONE;
    size_t scope = cvm_open(vm);
    const cvm_value *r_v = cvm_root(vm, v);

    (void)n;
    drop(vm, ob);
    v = *r_v;
    cvm_close(vm, scope);
    return v;
}

/* (is-a? x type) */
static cvm_value b_is_a(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = cxi_from_value(vm, args[0]), *type = ob != NULL ? cxi_from_value(vm, args[1]) : NULL;
    const cx_type *t = type != NULL ? cx_as_type(vm, type) : NULL;
    cvm_value v = t != NULL ? cvm_boolean(cx_is_subtype(cxi_type_of(vm, ob), t)) : CVM_NONE;

    (void)n;
    drop(vm, type);
    drop(vm, ob);
    return v;
}

/* (call-base type x 'method args...): from inside a method of the type, that of its base */
static cvm_value b_call_base(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *type = object_of(vm, "call-base", args[0]), *x = NULL;
    cvm_value *result = cvm_root(vm, CVM_NONE);

    if (type != NULL && cx_as_type(vm, type) != NULL)
        x = object_of(vm, "call-base", args[1]);
    if (x != NULL && cx_check(vm, "call-base", x, (cx_type *)type)
        && cvm_check(vm, "call-base", args[2], 'y'))
        *result = cvm_foreign_call_base(vm, args, n);
    drop(vm, x);
    drop(vm, type);
    return *result;
}

/* (call object 'method args...) */
static cvm_value b_call(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *self = object_of(vm, "call", args[0]);
    cvm_value *result = cvm_root(vm, CVM_NONE);

    if (self != NULL)
        *result = cvm_foreign_call_method(vm, args, n);
    drop(vm, self);
    return *result;
}

/* ---- closing -------------------------------------------------------------- */

/* Where a closed proxy keeps what it has lent: an object of C that owns ob, which no code calls. */
static rrc_object *call_keeper(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    (void)self, (void)args, (void)n;
    return cx_err_set(vm, "a closed object cannot be called");
}

static const cx_method_def keeper = { "closed", 0, 0, call_keeper };

int cvm_foreign_let_go(cvm *vm, cvm_value *slot, rrc_object *ob)
{
    cvm_value kept = CVM_NIL;

    if (CVM_FOREIGN_OF(*slot)->lent)
        kept = cxi_to_value_steal(vm, cx_function_new(vm, &keeper, ob));
    if (kept == CVM_NONE)
        return 0;
    rrc_unlink(vm->rrc, ob);
    CVM_FOREIGN_OF(*slot)->ob = NULL;
    cvm_store(vm, *slot, &CVM_FOREIGN_OF(*slot)->attributes, kept);
    return 1;
}

/* ob's proxy, if it has one, becomes a closed one. 0 after a failure: no memory. */
static int let_go(cvm *vm, rrc_object *ob)
{
    size_t scope = cvm_open(vm);
    cvm_value *p = cvm_root(vm, cxi_value_of(vm, ob));
    int ok = 1;

    if (cvm_is(*p, CVM_FOREIGN) && CVM_FOREIGN_OF(*p)->ob == ob)
        ok = cvm_foreign_let_go(vm, p, ob);
    cvm_close(vm, scope);
    return ok;
}

/* What Lisp sees by a proxy, but for types: other objects need them. */
static int can_be_closed(cvm *vm, rrc_object *ob)
{
    const cx_type *type = cxi_type_of(vm, ob), *builtins = CX_STATE(vm)->types;
    int is_builtin = type >= builtins && type < builtins + CX_BUILTINS;

    return !cxi_is_type(vm, ob) && (!is_builtin || type == &builtins[CX_OBJECT]
                                    || type == &builtins[CX_FUNCTION] || type == &builtins[CX_FOREIGN]);
}

int cx_close(cvm *vm, rrc_object *ob)
{
    int code = 0, ok;

    if (!cxi_any(vm, "cx_close", ob))
        return -1;
    if (cxi_is(vm, ob, CX_CLOSED))
        return 0;
    if (!can_be_closed(vm, ob))
        return cx_err_expected(vm, "close", "an object that can be closed", ob), -1;
    rrc_incref(vm->rrc, ob);
    if (cxi_type_of(vm, ob)->tp_close != NULL)
        code = cxi_type_of(vm, ob)->tp_close(vm, ob);
    ok = let_go(vm, ob);
    rrc_decref(vm->rrc, ob);
    if (code != 0 && !vm->failed)
        cx_err_set(vm, "close: a tp_close failed without setting an error");
    return code == 0 && ok ? 0 : -1;
}

int cvm_foreign_close(cvm *vm, cvm_value *slot)
{
    rrc_object *ob;
    cx_err err;
    int ok;

    if (!cvm_is(*slot, CVM_FOREIGN))
        return cvm_expected(vm, "close", "an object that can be closed", *slot) != CVM_NONE;
    if (CVM_FOREIGN_OF(*slot)->ob == NULL)
        return 1;
    ob = cxi_from_value(vm, *slot);
    if (ob == NULL)
        return 0;
    cx_err_fetch(vm, &err);
    ok = cx_close(vm, ob) == 0;
    if (ok || err.failed)               /* of two errors the first one tells more */
        cx_err_restore(vm, &err);
    else
        drop(vm, err.file);
    drop(vm, ob);
    return ok;
}

/* (close x): twice is harmless */
static cvm_value b_close(cvm *vm, cvm_value *args, size_t n)
{
    (void)n;
    return cvm_foreign_close(vm, &args[0]) ? CVM_NIL : CVM_NONE;
}

static cvm_value b_closed_p(cvm *vm, cvm_value *args, size_t n)
{
    (void)vm, (void)n;
    return cvm_boolean(cvm_is(args[0], CVM_FOREIGN) && CVM_FOREIGN_OF(args[0])->ob == NULL);
}

/* (c-length string): the length, as C code finds it in its copy: up to the first zero byte */
static cvm_value b_c_length(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = cvm_ob_of(vm, args[0]);
    size_t length;

    (void)n;
    if (ob == NULL)
        return CVM_NONE;
    length = strlen(cx_str_as_utf8(vm, ob));
    rrc_decref(vm->rrc, ob);
    return cvm_size(vm, length);
}

/* ---- extensions ------------------------------------------------------------ */

/* (load-extension "path/name.so"), or the name of one that is linked in */
static cvm_value b_load_extension(cvm *vm, cvm_value *args, size_t n)
{
    char *name = copy_text(vm, "load-extension", args[0], "a string");
    int code = name != NULL ? cx_load_extension(vm, name) : -1;

    (void)n;
    free(name);
    return code == 0 ? CVM_NIL : CVM_NONE;
}

const cvm_builtin_def cvm_capi_builtins[] = {
    { "attr", "..", b_attr },               { "set-attr!", "..?.", b_set_attr },
    { "class-of", ".", b_class_of },       { "is-a?", "..", b_is_a },
    { "call-base", "....*", b_call_base },
    { "close", ".", b_close },             { "closed?", ".", b_closed_p },
    { "c-length", "s", b_c_length }, { "call", ".y.*", b_call },
    { "load-extension", ".", b_load_extension },
    { NULL, NULL, NULL }
};

/* ---- beginning and end ------------------------------------------------------ */

static int define_type(cvm *vm, const char *name, cx_builtin which)
{
    return cvm_define(vm, name, cxi_to_value(vm, &cx_builtin_type(vm, which)->type.ob_base));
}

static const cvm_foreign_ops foreign = {
    cvm_foreign_is_callable, cvm_foreign_call, cvm_foreign_close, cvm_print_foreign, cvm_view_is_gone,
    cvm_foreign_call_method, cvm_foreign_let_go, cvm_array_items
};

static int open_api(cvm *vm)
{
    if (rrc_check_config(vm->rrc) != RRC_OK)
        return 0;
    vm->ops.equal_in_api = cvm_api_equal;
    vm->ops.view = cvm_view_new;
    vm->ops.proxy = cvm_proxy_new;
    cvm_lisp_of(vm)->foreign = foreign;
    cvm_sequences_define(vm);
    cxi_types_open(vm);
#ifdef RRC_DEBUG
    vm->ops.realloc = cvm_debug_realloc;    /* watches C objects come and go: borrow.c */
    if (!cxi_borrows_open(vm))
        return 0;
#endif
    return cvm_define_all(vm, cvm_capi_builtins) && cvm_define_all(vm, cvm_sequence_builtins)
        && define_type(vm, "object", CX_OBJECT) && define_type(vm, "type", CX_TYPE);
}

static void close_api(cvm *vm)
{
    cxi_extensions_close(vm);
    while (CX_STATE(vm)->temp_count > 0)
        rrc_decref(vm->rrc, CX_STATE(vm)->temps[--CX_STATE(vm)->temp_count]);
}

static void free_api(cvm *vm)
{
    cxi_extensions_free(vm);
#ifdef RRC_DEBUG
    cxi_borrows_free(vm);
#endif
    free(CX_STATE(vm)->temps);
    CX_STATE(vm)->temps = NULL;
    CX_STATE(vm)->temp_capacity = 0;
}

/* Objects outlive the end: its memory is that of the cvm, and lives as long as the last object does. */
const cvm_layer cvm_cx_layer = { sizeof(struct cx_state), CVM_API, open_api, NULL, close_api, free_api };

int cvm_cx_load(cvm *vm, const char *path)
{
    return cx_load_extension(vm, path) == 0;
}
