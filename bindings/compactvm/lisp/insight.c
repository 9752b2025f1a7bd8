/* insight.c - what rawrefcount.h may know of this VM's objects, for rrc_explain, rrc_dump_dot and
 * rrc_dump_heapsnapshot: the hooks `edges` and `describe`.
 *
 * The VM can do without this file. These functions are called when nothing runs, and they only look. */
#include "lisp.h"

#include <string.h>

/* ---- edges ---------------------------------------------------------------- */

typedef struct visitor {
    rrc_edgeproc visit;
    void *arg;
} visitor;

static void visit(const visitor *to, cvm_value v, const char *name, size_t number)
{
    if (cvm_is_object(v))
        to->visit(to->arg, cvm_object_of(v), name, number);
}

/* The name is `before` and what a symbol or a string says. */
static void visit_named(const visitor *to, cvm_value v, const char *before, cvm_value symbol, size_t number)
{
    char name[80];
    cvm_value text = cvm_is(symbol, CVM_SYMBOL) ? CVM_SYMBOL_OF(symbol)->name : symbol;

    if (cvm_is(text, CVM_STRING))
        snprintf(name, sizeof name, "%s%.60s", before, cvm_bytes(text));
    visit(to, v, cvm_is(text, CVM_STRING) ? name : NULL, number);
}

/* All that p refers to, by number. */
static void visit_fields(const cvm *vm, const visitor *to, cvm_object *p)
{
    size_t n, i;
    const cvm_value *field = cvm_heap_fields(&vm->heap, p, &n);

    for (i = 0; i < n; i++)
        visit(to, field[i], NULL, i);
}

/* The variables that a function uses are in a chain of bindings. They are shown as its own, too: that
   is what programs say of them. */
enum { MOST_VARIABLES = 100 };

static void visit_closure(const visitor *to, const cvm_closure *closure, int with_code)
{
    cvm_value binding = closure->env;
    size_t i;

    if (with_code)
        visit(to, closure->body, ".body", 0);
    visit(to, closure->env, ".variables", 0);
    for (i = 0; cvm_is(binding, CVM_BINDING) && i < MOST_VARIABLES; binding = CVM_BINDING_OF(binding)->next, i++)
        if (CVM_BINDING_OF(binding)->name != CVM_NIL)
            visit_named(to, CVM_BINDING_OF(binding)->value, "variable ", CVM_BINDING_OF(binding)->name, i);
}

/* Is it what the VM starts with, and so in every picture the same? */
static int is_prebuilt(cvm_value v)
{
    return cvm_is_object(v) && (cvm_object_of(v)->flags & CVM_PREBUILT) != 0;
}

static void visit_roots(const cvm *vm, const visitor *to)
{
    const cvm_lisp *lisp = cvm_lisp_of(vm);
    size_t i;

    for (i = 0; i < CVM_SYMBOL_CHAINS; i++) {
        cvm_value symbol = lisp->symbols[i];

        for (; symbol != CVM_NIL; symbol = CVM_SYMBOL_OF(symbol)->next) {
            if (!is_prebuilt(CVM_SYMBOL_OF(symbol)->value))
                visit_named(to, CVM_SYMBOL_OF(symbol)->value, "global ", symbol, i);
            if (cvm_object_of(symbol)->flags & CVM_LINKED)
                visit(to, symbol, "the table of symbols", i);
        }
    }
    for (i = 0; i < vm->sp; i++)
        visit(to, vm->stack[i], "the stack", i);
    visit(to, vm->error_file, "the last error", 0);
    visit(to, vm->tombstone, "the VM", 0);
}

static void edges(cvm *vm, cvm_object *p, rrc_edgeproc visit_one, void *arg)
{
    visitor to;
    cvm_value v = (cvm_value)p;

    to.visit = visit_one;
    to.arg = arg;
    if (p == NULL) {
        visit_roots(vm, &to);
        return;
    }
    switch (p->kind) {
    case CVM_PAIR:
        visit(&to, CVM_PAIR_OF(v)->car, ".car", 0);
        visit(&to, CVM_PAIR_OF(v)->cdr, ".cdr", 0);
        break;
    case CVM_SYMBOL:
        visit(&to, CVM_SYMBOL_OF(v)->value, ".value", 0);
        break;
    case CVM_CLOSURE:
        visit_closure(&to, CVM_CLOSURE_OF(v), !cvm_lisp_of(vm)->drawing);
        break;
    case CVM_BINDING:
        visit_named(&to, CVM_BINDING_OF(v)->value, "variable ", CVM_BINDING_OF(v)->name, 0);
        visit(&to, CVM_BINDING_OF(v)->next, ".next", 0);
        break;
    case CVM_FOREIGN:
        visit(&to, CVM_FOREIGN_OF(v)->attributes, ".attributes", 0);
        break;
    default:
        visit_fields(vm, &to, p);
    }
}

/* ---- describe --------------------------------------------------------------- */

static void describe(cvm *vm, cvm_object *p, rrc_description *about)
{
    cvm_value v = (cvm_value)p;

    about->size = cvm_object_size(p);
    if (p->id == 0)
        p->id = ++vm->heap.ids;
    about->id = p->id;
    if (cvm_is(v, CVM_STRING))
        snprintf(about->text, sizeof about->text, "string \"%.60s\"", cvm_bytes(v));
    else if (cvm_is(v, CVM_SYMBOL))
        snprintf(about->text, sizeof about->text, "symbol %.60s", cvm_symbol_text(v));
    else if (cvm_is(v, CVM_CLOSURE) && cvm_is(CVM_CLOSURE_OF(v)->name, CVM_SYMBOL))
        snprintf(about->text, sizeof about->text, "function %.60s", cvm_symbol_text(CVM_CLOSURE_OF(v)->name));
    else if (cvm_is(v, CVM_CLOSURE) || cvm_is(v, CVM_BUILTIN))
        snprintf(about->text, sizeof about->text, "function");
    else if (cvm_is(v, CVM_BINDING))
        snprintf(about->text, sizeof about->text, "variables");
    else if (cvm_is(v, CVM_FOREIGN) && CVM_FOREIGN_OF(v)->ob != NULL)
        snprintf(about->text, sizeof about->text, "proxy of %.60s", RRC_TYPE(CVM_FOREIGN_OF(v)->ob)->tp_name);
    else
        snprintf(about->text, sizeof about->text, "%s", cvm_kind_name(vm, v));
}

void cvm_insight_open(cvm *vm)
{
    vm->ops.edges = edges;
    vm->ops.describe = describe;
}

/* ---- for programs ------------------------------------------------------------- */

static void write_file(void *file, const char *text, size_t size)
{
    fwrite(text, 1, size, file);
}

cvm_value cvm_write_picture(cvm *vm, cvm_value name, cvm_picture picture)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);
    FILE *file = fopen(cvm_bytes(name), "wb");
    int code, ok;

    if (file == NULL)
        return cvm_fail(vm, "cannot write %.200s", cvm_bytes(name));
    lisp->drawing = picture == rrc_dump_dot;
    code = picture(vm->rrc, write_file, file);
    lisp->drawing = 0;
    ok = ferror(file) == 0;
    if (fclose(file) != 0 || !ok)
        return cvm_fail(vm, "cannot write %.200s", cvm_bytes(name));
    return code == RRC_OK ? CVM_NIL : cvm_out_of_memory(vm);
}
