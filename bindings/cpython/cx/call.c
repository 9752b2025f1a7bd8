/* call.c - calls over the border, both ways, and functions as objects.
 *
 * A C function is an object of C that owns what is bound to it: O link, full. So is
 * everything else of C that has a tp_call, types among them: Lisp calls it through its
 * proxy. Arguments cross at each call; an object that has crossed before just gets its
 * C object looked up and counted. They are held for the time of the call.
 *
 * From C, whatever can be called is called without a detour if it is C's, and else as
 * Lisp calls it.
 */
#include "impl.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 8 };       /* arguments that need no memory of their own */

/* ---- what came out of C -------------------------------------------------- */

/* The result of C code, which must fit the state of the error. */
static rrc_object *checked(cvm *vm, const char *name, rrc_object *result)
{
    if (result == NULL && !vm->failed)
        return cx_err_set(vm, "%s: a C function returned NULL without setting an error", name);
    if (result != NULL && vm->failed) {
        rrc_decref(vm->rrc, result);
        return NULL;
    }
    return result;
}

int cx_check_args(cvm *vm, const char *who, size_t n, int least, int most)
{
    char range[40];

    if (n >= (size_t)least && (most < 0 || n <= (size_t)most))
        return 1;
    if (most > least)
        snprintf(range, sizeof range, "%d to %d", least, most);
    else
        snprintf(range, sizeof range, "%s%d", most < 0 ? "at least " : "", least);
    cx_err_set(vm, "%s: expected %s argument%s, got %lu", who, range, least == 1 && most <= 1 ? "" : "s",
               (unsigned long)n);
    return 0;
}

static rrc_object *call_def(cvm *vm, const cx_method_def *def, rrc_object *self,
                            rrc_object *const *args, size_t n)
{
    return cx_check_args(vm, def->name, n, def->least, def->most)
         ? checked(vm, def->name, def->call(vm, self, args, n)) : NULL;
}

/* ---- functions as objects ------------------------------------------------ */

static rrc_object *function_call(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    return call_def(vm, ((cxi_bound *)self)->def, ((cxi_bound *)self)->self, args, n);
}

static rrc_object *function_repr(cvm *vm, rrc_object *self)
{
    return cx_str_from_format(vm, "#<function %s>", ((cxi_bound *)self)->def->name);
}

static const rrc_member function_members[] = {
    { "self", offsetof(cxi_bound, self) }, { NULL, 0 }
};

void cxi_function_define(cx_type *type)
{
    type->type.tp_basicsize = sizeof(cxi_bound);
    type->type.tp_flags = RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_DROPS_ONLY;
    type->type.tp_members = function_members;
    type->tp_call = function_call;
    type->tp_repr = function_repr;
}

rrc_object *cx_function_new(cvm *vm, const cx_method_def *def, rrc_object *self)
{
    cxi_bound *f;

    if (self != NULL && !cxi_any(vm, "cx_function_new", self))
        return NULL;
    f = (cxi_bound *)cxi_alloc(vm, CX_FUNCTION, 0);
    if (f == NULL)
        return cx_err_no_memory(vm);
    f->def = def;
    f->self = self;
    if (self != NULL)
        rrc_incref(vm->rrc, self);
    if (rrc_gc_track(vm->rrc, &f->head) != RRC_OK) {
        rrc_decref(vm->rrc, &f->head);
        return cx_err_no_memory(vm);
    }
    return &f->head;
}

/* ---- calling C ----------------------------------------------------------- */

/* For messages. */
static const char *name_of(cvm *vm, rrc_object *callee, const cx_method_def *def)
{
    return def != NULL ? def->name
         : cxi_is(vm, callee, CX_FUNCTION) ? ((cxi_bound *)callee)->def->name : RRC_TYPE(callee)->tp_name;
}

/* Everything that C code finds around it during a call: a scope, and room on the stack. */
static rrc_object *enter(cvm *vm, rrc_object *callee, const cx_method_def *def,
                         rrc_object *const *args, size_t n)
{
    rrc_object *result = NULL;
    size_t scope;

    if (!cvm_enter(vm))
        return NULL;
    rrc_incref(vm->rrc, callee);        /* what it does may let go of it */
    scope = cx_scope_open(vm);
    if (def != NULL)
        result = call_def(vm, def, callee, args, n);
    else
        result = checked(vm, name_of(vm, callee, def),
                         cxi_type_of(vm, callee)->tp_call(vm, callee, args, n));
    cx_scope_close(vm, scope);
    rrc_decref(vm->rrc, callee);
    cvm_leave(vm);
    return result;
}

/* Drops the arguments again. */
static void drop_args(cvm *vm, rrc_object **obs, rrc_object **few, size_t n)
{
    while (n > 0)
        rrc_decref(vm->rrc, obs[--n]);
    if (obs != few)
        free(obs);
}

/* The C objects of n values, held for a call; NULL after a failure. */
static rrc_object **take_args(cvm *vm, const char *name, const cvm_value *args, size_t n,
                              rrc_object **few)
{
    rrc_object **obs = n <= FEW ? few : malloc(n * sizeof *obs);
    size_t i;

    if (obs == NULL) {
        cvm_out_of_memory(vm);
        return NULL;
    }
    for (i = 0; i < n; i++) {
        obs[i] = cxi_from_value(vm, args[i]);
        if (obs[i] == NULL || !cxi_borrowed(vm, obs[i], NULL, i, name)) {
            drop_args(vm, obs, few, i + (obs[i] != NULL));
            return NULL;
        }
    }
    return obs;
}

static cvm_value call_with_values(cvm *vm, rrc_object *callee, const cx_method_def *def,
                                  const cvm_value *args, size_t n)
{
    rrc_object *few[FEW] = { NULL }, **obs, *result;
    size_t scope;
    cvm_value v = CVM_NONE;

    obs = take_args(vm, name_of(vm, callee, def), args, n, few);
    if (obs == NULL)
        return CVM_NONE;
    result = enter(vm, callee, def, obs, n);
    scope = cvm_open(vm);
    if (result != NULL)
        v = cxi_to_value_steal(vm, result);
    cvm_root(vm, v);
    drop_args(vm, obs, few, n);
    v = vm->stack[scope];
    cvm_close(vm, scope);
    return v;
}

int cvm_foreign_is_callable(cvm_value v)
{
    rrc_object *ob = CVM_FOREIGN_OF(v)->ob;

    return ob != NULL && (RRC_TYPE(ob)->tp_flags & CX_TPFLAGS_READY) != 0
        && ((const cx_type *)RRC_TYPE(ob))->tp_call != NULL;
}

cvm_value cvm_foreign_call(cvm *vm, cvm_value callee, cvm_value *args, size_t n)
{
    return call_with_values(vm, CVM_FOREIGN_OF(callee)->ob, NULL, args, n);
}

/* ---- calling anything from C --------------------------------------------- */

rrc_object *cxi_call_value(cvm *vm, cvm_value procedure, rrc_object *self,
                           rrc_object *const *args, size_t n)
{
    size_t scope = cvm_open(vm), i;
    cvm_value *f = cvm_root(vm, procedure);
    cvm_value *values = f + 1;
    rrc_object *result = NULL;

    if (vm->closing == CVM_CLOSED) {
        cvm_close(vm, scope);
        return cx_err_set(vm, "the VM is being closed: Lisp code cannot be called any more");
    }
    if (!cvm_stack_room(vm, n + 1 + CVM_STACK_SPARE)) {
        cvm_close(vm, scope);
        return NULL;
    }
    if (self != NULL)
        cvm_root(vm, cxi_to_value(vm, self));
    for (i = 0; i < n && vm->stack[vm->sp - 1] != CVM_NONE; i++)
        cvm_root(vm, cxi_to_value(vm, args[i]));
    if (vm->stack[vm->sp - 1] != CVM_NONE)
        result = cxi_from_value(vm, cvm_call(vm, *f, values, n + (self != NULL)));
    cvm_close(vm, scope);
    return result;
}

static rrc_object *call_ob(cvm *vm, rrc_object *callable, rrc_object *const *args, size_t n)
{
    cvm_value v;

    if (cxi_type_of(vm, callable)->tp_call != NULL)
        return enter(vm, callable, NULL, args, n);
    if (cvm_view_is_gone(vm, callable))
        return cxi_err_gone(vm, "call", callable);
    v = cxi_value_of(vm, callable);
    if (v == CVM_NONE || !cvm_is_procedure(vm, v))
        return cx_err_expected(vm, "call", "something that can be called", callable);
    return cxi_call_value(vm, v, NULL, args, n);
}

int cx_callable_check(cvm *vm, rrc_object *ob)
{
    cvm_value v;

    if (!cxi_any(vm, "cx_callable_check", ob))
        return 0;
    v = cxi_value_of(vm, ob);
    return cxi_type_of(vm, ob)->tp_call != NULL || (v != CVM_NONE && cvm_is_procedure(vm, v));
}

static int are_usable(cvm *vm, const char *function, rrc_object *const *args, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (!cxi_any(vm, function, args[i]))
            return 0;
    return 1;
}

rrc_object *cx_call(cvm *vm, rrc_object *callable, rrc_object *const *args, size_t n)
{
    if (!cxi_any(vm, "cx_call", callable) || !are_usable(vm, "cx_call", args, n))
        return NULL;
    return call_ob(vm, callable, args, n);
}

/* ---- methods -------------------------------------------------------------
 *
 * Found in the attributes of the object itself (called without it), then in its type and
 * those it is based on: in Lisp's attributes of the type, then in its tp_methods.
 */

static rrc_object *no_method(cvm *vm, const char *type_name, const char *name)
{
    return cx_err_set(vm, "call: a %s has no method %.40s", type_name, name);
}

/* The procedure that is to be called, as a value in a rooted slot; or NONE and *def; or, with
   an error, neither. *with_self: the object is the first argument. */
static cvm_value find_method(cvm *vm, rrc_object *ob, cvm_value symbol, const cx_method_def **def,
                             int *with_self)
{
    cvm_value v = cxi_own_attribute(vm, ob, symbol);

    *def = NULL;
    *with_self = v == CVM_NONE;
    if (v == CVM_NONE)
        v = cxi_type_attribute(vm, cxi_type_of(vm, ob), symbol, def);
    if (v == CVM_NONE && *def == NULL)
        no_method(vm, RRC_TYPE(ob)->tp_name, cvm_symbol_text(symbol));
    return v;
}

cvm_value cvm_foreign_call_method(cvm *vm, cvm_value *args, size_t n)
{
    rrc_object *ob = CVM_FOREIGN_OF(args[0])->ob;
    const cx_method_def *def;
    int with_self;
    cvm_value v = find_method(vm, ob, args[1], &def, &with_self);

    if (v != CVM_NONE && with_self) {
        args[1] = args[0];              /* the method's name is not needed any more */
        return cvm_call(vm, v, args + 1, n - 1);
    }
    if (v != CVM_NONE)
        return cvm_call(vm, v, args + 2, n - 2);
    return def != NULL ? call_with_values(vm, ob, def, args + 2, n - 2) : CVM_NONE;
}

/* A tp_init, called as a method. */
static cvm_value call_init(cvm *vm, cx_type *type, rrc_object *self, const cvm_value *args, size_t n)
{
    rrc_object *few[FEW] = { NULL }, **obs = take_args(vm, "init", args, n, few);
    int code = obs != NULL ? cxi_init_in_c(type)(vm, self, obs, n) : -1;

    if (obs != NULL)
        drop_args(vm, obs, few, n);
    if (code != 0 && !vm->failed)
        cx_err_set(vm, "init: a tp_init failed without setting an error");
    return code == 0 ? CVM_NIL : CVM_NONE;
}

cvm_value cvm_foreign_call_base(cvm *vm, cvm_value *args, size_t n)
{
    cx_type *base = ((cx_type *)CVM_FOREIGN_OF(args[0])->ob)->tp_base;
    rrc_object *self = CVM_FOREIGN_OF(args[1])->ob;
    const cx_method_def *def = NULL;
    cvm_value v = base != NULL ? cxi_type_attribute(vm, base, args[2], &def) : CVM_NONE;

    if (v != CVM_NONE) {
        args[2] = args[1];              /* the method's name is not needed any more */
        return cvm_call(vm, v, args + 2, n - 2);
    }
    if (def != NULL)
        return call_with_values(vm, self, def, args + 3, n - 3);
    if (base != NULL && cxi_init_in_c(base) != NULL && strcmp(cvm_symbol_text(args[2]), "init") == 0)
        return call_init(vm, base, self, args + 3, n - 3);
    no_method(vm, base != NULL ? base->type.tp_name : "nothing", cvm_symbol_text(args[2]));
    return CVM_NONE;
}

rrc_object *cx_call_method(cvm *vm, rrc_object *ob, const char *name, rrc_object *const *args, size_t n)
{
    const cx_method_def *def;
    int with_self;
    cvm_value symbol, v;

    if (!cxi_any(vm, "cx_call_method", ob) || !are_usable(vm, "cx_call_method", args, n))
        return NULL;
    symbol = cvm_symbol_new(vm, name, strlen(name));
    if (symbol == CVM_NONE)
        return NULL;
    v = find_method(vm, ob, symbol, &def, &with_self);
    if (v != CVM_NONE)
        return cxi_call_value(vm, v, with_self ? ob : NULL, args, n);
    return def != NULL ? enter(vm, ob, def, args, n) : NULL;
}
