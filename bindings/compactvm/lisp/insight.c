/* insight.c - what rawrefcount.h may know of this VM's objects, for rrc_explain, rrc_dump_dot and
 * rrc_dump_heapsnapshot: the hooks `edges` and `describe`; and the procedures that show it.
 *
 * The VM can do without this file. The hooks are called when nothing runs, and they only look. */
#include "lisp.h"

#include <stdlib.h>

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
    const char *what = cvm_kind_name(vm, v), *name = "";
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
            name = what;
            what = "proxy of";
        }
    }
    snprintf(about->text, sizeof about->text,
             cvm_is(v, CVM_STRING) ? "%s \"%.60s\"" : *name != '\0' ? "%s %.60s" : "%s",
             what, name);
}

/* ---- for programs ------------------------------------------------------------- */

static void write_text(void *out, const char *bytes, size_t length) { fwrite(bytes, 1, length, out); }

/* (explanation x): why the C object of x is alive, in words */
CVM_BUILTIN_BODY(b_explanation)
{
    rrc_object *ob = cvm_linked_ob(vm, args[0]);
    cvm_memory text;
    cvm_value v = CVM_NONE;
    if (ob == NULL)
        return cvm_text(vm, "no C object\n");
    if (!cvm_memory_open(vm, &text))
        return CVM_NONE;
    args[0] = CVM_NIL;          /* this slot of the stack is no answer */
    int code = rrc_explain(vm->rrc, ob, write_text, text.out);
    if (cvm_memory_close(vm, &text))
        v = code == RRC_OK ? cvm_string_new(vm, text.bytes, text.length) : cvm_out_of_memory(vm);
    free(text.bytes);
    return v;
}

typedef int picture(rrc_heap *heap, rrc_writeproc write, void *arg);

static cvm_value write_picture(cvm *vm, cvm_value name, picture *draw)
{
    FILE *file = fopen(cvm_bytes(name), "wb");
    int code = RRC_OK, ok = file != NULL;
    if (ok) {
        cvm_lisp_of(vm)->drawing = draw == rrc_dump_dot;
        code = draw(vm->rrc, write_text, file);
        cvm_lisp_of(vm)->drawing = 0;
        ok = ferror(file) == 0;
        ok = fclose(file) == 0 && ok;
    }
    return !ok ? cvm_fail(vm, "cannot write %.200s", cvm_bytes(name))
         : code == RRC_OK ? CVM_NIL : cvm_out_of_memory(vm);
}

/* (dump-dot "file"): draws all C objects that are linked or tracked, and the Lisp objects but for code, for Graphviz */
CVM_BUILTIN_BODY(b_dump_dot) { return write_picture(vm, args[0], rrc_dump_dot); }

/* (heap-snapshot "file"): writes both heaps for Chrome's memory panel */
CVM_BUILTIN_BODY(b_heap_snapshot) { return write_picture(vm, args[0], rrc_dump_heapsnapshot); }

const cvm_builtin_def cvm_insight_builtins[] = {
    { "explanation", ".", b_explanation },
    { "dump-dot", "s", b_dump_dot },        { "heap-snapshot", "s", b_heap_snapshot },
    { NULL, NULL, NULL }
};
