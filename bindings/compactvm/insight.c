/* insight.c - what rawrefcount.h may know of this VM's objects, for rrc_explain, rrc_dump_dot and
 * rrc_dump_heapsnapshot: the hooks `edges` and `describe`; and how far long functions are: `progress`.
 *
 * A port can do without this file. These functions are called when nothing runs, and they only look. */
#include "insight.h"

#include "lisp.h"
#include "rrc_glue.h"

#include <stdlib.h>
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

static void visit_items(const visitor *to, const cvm_value *items, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        visit(to, items[i], NULL, i);
}

/* A dict, with its own vectors, is one object. */
static void visit_dict(const visitor *to, const cvm_dict *dict)
{
    const cvm_value *entry = dict->entries == CVM_NIL ? NULL : CVM_VECTOR_OF(dict->entries)->items;
    size_t i;

    for (i = 0; i < dict->used; i++, entry += 2) {
        if (*entry == CVM_NONE)
            continue;
        visit(to, entry[0], "key", i);
        visit_named(to, entry[1], ".", entry[0], i);
    }
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
    size_t i;

    for (i = 0; i < vm->symbol_capacity; i++) {
        cvm_value symbol = vm->symbols[i];

        if (symbol == CVM_NONE)
            continue;
        if (!is_prebuilt(CVM_SYMBOL_OF(symbol)->value))
            visit_named(to, CVM_SYMBOL_OF(symbol)->value, "global ", symbol, i);
        if (cvm_object_of(symbol)->flags & CVM_LINKED)
            visit(to, symbol, "the table of symbols", i);
    }
    for (i = 0; i < vm->sp; i++)
        visit(to, vm->stack[i], "the stack", i);
    visit(to, vm->error_file, "the last error", 0);
    visit(to, vm->tombstone, "the VM", 0);
}

void cvm_edges(void *userdata, rrc_gcref p, rrc_edgeproc visit_one, void *arg)
{
    const cvm *vm = userdata;
    visitor to;
    cvm_value v = (cvm_value)p;

    to.visit = visit_one;
    to.arg = arg;
    if (p == NULL) {
        visit_roots(vm, &to);
        return;
    }
    switch ((cvm_kind)cvm_object_of(v)->kind) {
    case CVM_PAIR:
        visit(&to, CVM_PAIR_OF(v)->car, ".car", 0);
        visit(&to, CVM_PAIR_OF(v)->cdr, ".cdr", 0);
        break;
    case CVM_SYMBOL:
        visit(&to, CVM_SYMBOL_OF(v)->value, ".value", 0);
        break;
    case CVM_VECTOR:
        visit_items(&to, CVM_VECTOR_OF(v)->items, CVM_VECTOR_OF(v)->length);
        break;
    case CVM_TUPLE:
        if (!cvm_is_outside(v))
            visit_items(&to, CVM_TUPLE_OF(v)->items, CVM_TUPLE_OF(v)->length);
        break;
    case CVM_ARRAY:
        if (!cvm_is_outside(v) && CVM_ARRAY_OF(v)->items != CVM_NIL)
            visit_items(&to, CVM_VECTOR_OF(CVM_ARRAY_OF(v)->items)->items, CVM_ARRAY_OF(v)->length);
        break;
    case CVM_DICT:
        visit_dict(&to, CVM_DICT_OF(v));
        break;
    case CVM_CLOSURE:
        visit_closure(&to, CVM_CLOSURE_OF(v), !vm->drawing);
        break;
    case CVM_BINDING:
        visit_named(&to, CVM_BINDING_OF(v)->value, "variable ", CVM_BINDING_OF(v)->name, 0);
        visit(&to, CVM_BINDING_OF(v)->next, ".next", 0);
        break;
    case CVM_FOREIGN:
        visit(&to, CVM_FOREIGN_OF(v)->attributes, ".attributes", 0);
        break;
    case CVM_STRING: case CVM_REAL: case CVM_BUILTIN: case CVM_SPECIAL: case CVM_INTEGER: case CVM_RANGE:
        break;
    }
}

/* ---- ids -------------------------------------------------------------------
 *
 * An id stays with its object while that moves, and is not used again. This table is made by the first
 * snapshot; from then on each collection puts in the new addresses, and leaves out the dead. */

typedef struct entry {
    cvm_object *p;              /* NULL: free */
    uint32_t id;
} entry;

struct cvm_ids {
    entry *entries;             /* open addressing, power of two */
    size_t capacity, count;
    uint32_t last;
    entry *list;                /* room for all of them in a row */
};

static entry *place_of(const struct cvm_ids *ids, const cvm_object *p)
{
    size_t at = (size_t)((uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (ids->capacity - 1);

    while (ids->entries[at].p != NULL && ids->entries[at].p != p)
        at = (at + 1) & (ids->capacity - 1);
    return &ids->entries[at];
}

static int grow_ids(struct cvm_ids *ids)
{
    struct cvm_ids more = *ids;
    size_t i;

    more.capacity = ids->capacity > 0 ? ids->capacity * 2 : 1024;
    more.entries = calloc(more.capacity, sizeof *more.entries);
    more.list = calloc(more.capacity / 2, sizeof *more.list);
    if (more.entries == NULL || more.list == NULL) {
        free(more.entries);
        free(more.list);
        return 0;
    }
    for (i = 0; i < ids->capacity; i++)
        if (ids->entries[i].p != NULL)
            *place_of(&more, ids->entries[i].p) = ids->entries[i];
    free(ids->entries);
    free(ids->list);
    *ids = more;
    return 1;
}

/* The id of p; 0 if there is no memory for one. */
static uint32_t id_of(struct cvm_ids *ids, cvm_object *p)
{
    entry *e;

    if (ids->count >= ids->capacity / 2 && !grow_ids(ids))
        return 0;
    e = place_of(ids, p);
    if (e->p == NULL) {
        e->p = p;
        e->id = ++ids->last;
        ids->count++;
    }
    return e->id;
}

void cvm_ids_moved(cvm *vm)
{
    struct cvm_ids *ids = vm->ids;
    size_t i, n = 0;

    if (ids == NULL)
        return;
    for (i = 0; i < ids->capacity; i++) {
        cvm_object *p = ids->entries[i].p;

        if (p == NULL)
            continue;
        ids->list[n].p = cvm_heap_survivor(&vm->heap, p);
        ids->list[n].id = ids->entries[i].id;
        n += ids->list[n].p != NULL;
        ids->entries[i].p = NULL;
    }
    ids->count = n;
    for (i = 0; i < n; i++)
        *place_of(ids, ids->list[i].p) = ids->list[i];
}

void cvm_ids_free(cvm *vm)
{
    if (vm->ids != NULL) {
        free(vm->ids->entries);
        free(vm->ids->list);
        free(vm->ids);
        vm->ids = NULL;
    }
}

/* ---- describe --------------------------------------------------------------- */

static size_t size_of(cvm_value v)
{
    return cvm_is_object(v) ? cvm_object_of(v)->size : 0;
}

void cvm_describe(void *userdata, rrc_gcref p, rrc_description *about)
{
    cvm *vm = userdata;
    cvm_value v = (cvm_value)p;

    about->size = size_of(v);
    about->id = vm->ids != NULL ? id_of(vm->ids, p) : 0;
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
        snprintf(about->text, sizeof about->text, "%s", cvm_kind_name(v));
    if (cvm_is(v, CVM_DICT))
        about->size += size_of(CVM_DICT_OF(v)->entries) + size_of(CVM_DICT_OF(v)->index);
    else if (cvm_is(v, CVM_ARRAY) && !cvm_is_outside(v))
        about->size += size_of(CVM_ARRAY_OF(v)->items);
}

/* Show how far a long function is, and nothing when it is done. (The bar does not go back when more is found
   to do.) */
void cvm_progress(void *userdata, const char *function, size_t done, size_t total)
{
    static const char marks[] = "########################################";
    cvm *vm = userdata;
    int percents = (int)(100.0 * (double)done / ((double)total + 1));

    if (done == total && vm->bar > 0) {
        fprintf(stderr, "\r%75s\r", "");
        vm->bar = 0;
    } else if (done < total && vm->shows_bar && percents >= vm->bar) {
        fprintf(stderr, "\r%-22s [%-40.*s] %3d%%", function, percents * 2 / 5, marks, percents);
        vm->bar = percents + 1;
    }
}

/* ---- for programs ------------------------------------------------------------- */

static void write_file(void *file, const char *text, size_t size)
{
    fwrite(text, 1, size, file);
}

cvm_value cvm_write_picture(cvm *vm, cvm_value name, cvm_picture picture)
{
    FILE *file = fopen(cvm_bytes(name), "wb");
    int code, ok;

    if (file == NULL)
        return cvm_fail(vm, "cannot write %.200s", cvm_bytes(name));
    if (picture == rrc_dump_heapsnapshot && vm->ids == NULL)
        vm->ids = calloc(1, sizeof *vm->ids);   /* (without it objects that moved look new) */
    vm->drawing = picture == rrc_dump_dot;
    code = picture(vm->rrc, write_file, file);
    vm->drawing = 0;
    ok = ferror(file) == 0;
    if (fclose(file) != 0 || !ok)
        return cvm_fail(vm, "cannot write %.200s", cvm_bytes(name));
    return code == RRC_OK ? CVM_NIL : cvm_out_of_memory(vm);
}
