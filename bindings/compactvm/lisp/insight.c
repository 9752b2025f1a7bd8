/* insight.c - what rrc_insight.h may know of this VM's objects, for rrc_explain, rrc_dump_dot and
 * rrc_dump_heapsnapshot: the hooks `edges` and `describe`.
 *
 * The VM can do without this file. The hooks are called when nothing runs, and they only look. */
#include "lisp.h"

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

/* The name is `before` and that of a symbol. */
static void visit_named(const visitor *to, cvm_value v, const char *before, cvm_value symbol, size_t number)
{
    char name[80];
    snprintf(name, sizeof name, "%s%.60s", before, cvm_symbol_text(symbol));
    visit(to, v, name, number);
}

/* The variables that a function uses are in a chain of bindings. They are shown as its own, too: that
   is what programs say of them. */
enum { MOST_VARIABLES = 100 };

static void visit_variables(const visitor *to, cvm_value binding, size_t most)
{
    for (size_t i = 0; binding != CVM_NIL && i < most; binding = CVM_VARIABLE_OF(binding)->next, i++)
        if (CVM_VARIABLE_OF(binding)->name != CVM_NIL)
            visit_named(to, CVM_VARIABLE_OF(binding)->value, "variable ", CVM_VARIABLE_OF(binding)->name, i);
}

static void visit_roots(const cvm *vm, const visitor *to)
{
    const cvm_lisp *lisp = cvm_lisp_of(vm);
    for (size_t i = 0; i < CVM_SYMBOL_CHAINS; i++) {
        cvm_value symbol = lisp->symbols[i];
        for (; symbol != CVM_NIL; symbol = CVM_VARIABLE_OF(symbol)->next) {
            cvm_value v = CVM_VARIABLE_OF(symbol)->value;
            if (cvm_is_object(v) && !(cvm_object_of(v)->flags & CVM_PREBUILT))  /* those are in every picture */
                visit_named(to, v, "global ", symbol, i);
            if (cvm_object_of(symbol)->flags & CVM_LINKED)
                visit(to, symbol, "the table of symbols", i);
        }
    }
    for (size_t i = 0; i < vm->sp; i++)
        visit(to, vm->stack[i], "the stack", i);
    visit(to, vm->tombstone, "the VM", 0);
}

/* The fields by name, or (NULL) by number. "" is left out: a name, and what the reader has noted. */
void cvm_edges(void *vm, rrc_gcref p, rrc_edgeproc visit_one, void *arg)
{
    static const char *const names[CVM_KINDS][4] = {
        [CVM_PAIR] = { ".car", ".cdr", "", "" }, [CVM_SYMBOL] = { "", ".value", "" },
        [CVM_BINDING] = { "", "", ".next" }, [CVM_CLOSURE] = { "", "", ".body", ".variables" },
        [CVM_FOREIGN] = { ".attributes" }
    };
    cvm_value v = (cvm_value)p;
    visitor to = { visit_one, arg };
    size_t n;
    if (p == NULL) {
        visit_roots(vm, &to);
        return;
    }
    cvm_value *field = cvm_heap_fields(&((cvm *)vm)->heap, p, &n);
    int hides_body = cvm_is(v, CVM_CLOSURE) && cvm_lisp_of(vm)->drawing;
    if (cvm_is(v, CVM_CLOSURE))
        visit_variables(&to, CVM_CLOSURE_OF(v)->env, MOST_VARIABLES);
    else if (cvm_is(v, CVM_BINDING))
        visit_variables(&to, v, 1);
    for (size_t i = hides_body ? 3 : 0; i < n; i++) {
        const char *name = names[cvm_object_of(v)->kind][i < 4 ? i : 0];
        if (name == NULL || *name != '\0')
            visit(&to, field[i], name, i);
    }
}

/* ---- describe --------------------------------------------------------------- */

void cvm_describe(void *vm, rrc_gcref p, rrc_description *about)
{
    cvm_value v = (cvm_value)p;
    const char *what = ((cvm *)vm)->heap.kinds[cvm_object_of(v)->kind].name, *name = "";
    about->size = cvm_object_size(p);
    if (cvm_object_of(v)->id == 0)
        cvm_object_of(v)->id = ++((cvm *)vm)->heap.ids;
    about->id = cvm_object_of(v)->id;
    switch (cvm_object_of(v)->kind) {
    case CVM_STRING:    name = cvm_bytes(v); break;
    case CVM_SYMBOL:    name = cvm_symbol_text(v); break;
    case CVM_CLOSURE:
        what = "function";
        name = CVM_CLOSURE_OF(v)->name != CVM_NIL ? cvm_closure_name(v) : "";
        break;
    case CVM_BUILTIN:   what = "function"; break;
    case CVM_BINDING:   what = "variables"; break;
    case CVM_FOREIGN:
        if (cvm_named_ob(v) != NULL) {
            what = "proxy of";
            name = RRC_TYPE(cvm_named_ob(v))->tp_name;
        }
    }
    snprintf(about->text, sizeof about->text,
             cvm_is(v, CVM_STRING) ? "%s \"%.60s\"" : *name != '\0' ? "%s %.60s" : "%s",
             what, name);
}
