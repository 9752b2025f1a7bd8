/* symbols.c - symbols, which hold the global variables, and pairs. */
#include "lisp.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SYMBOLS = 256 };

static const cvm_kind pair_kind = { "pair", offsetof(cvm_pair, car), CVM_REST };
static const cvm_kind symbol_kind = { "symbol", offsetof(cvm_symbol, name), 2 };

/* ---- symbols ------------------------------------------------------------ */

uint32_t cvm_hash_bytes(const char *bytes, size_t length)
{
    uint32_t hash = 2166136261u;        /* FNV-1a */

    for (; length > 0; length--)
        hash = (hash ^ (unsigned char)*bytes++) * 16777619u;
    return hash;
}

static int grow(cvm_lisp *lisp)
{
    size_t capacity = lisp->symbol_capacity * 2;
    cvm_value *symbols = calloc(capacity, sizeof *symbols);
    size_t i, at;

    if (symbols == NULL)
        return 0;
    for (i = 0; i < lisp->symbol_capacity; i++) {
        if (lisp->symbols[i] == CVM_NONE)
            continue;
        at = CVM_SYMBOL_OF(lisp->symbols[i])->head.hash & (capacity - 1);
        while (symbols[at] != CVM_NONE)
            at = (at + 1) & (capacity - 1);
        symbols[at] = lisp->symbols[i];
    }
    free(lisp->symbols);
    lisp->symbols = symbols;
    lisp->symbol_capacity = capacity;
    return 1;
}

cvm_value cvm_symbol_new(cvm *vm, const char *name, size_t length)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);
    uint32_t hash = cvm_hash_bytes(name, length);
    size_t at = hash & (lisp->symbol_capacity - 1);
    size_t scope = cvm_open(vm);
    cvm_value *text;
    cvm_symbol *symbol;

    for (; lisp->symbols[at] != CVM_NONE; at = (at + 1) & (lisp->symbol_capacity - 1)) {
        const cvm_string *s = CVM_STRING_OF(CVM_SYMBOL_OF(lisp->symbols[at])->name);

        if (s->length == length && memcmp(s->bytes, name, length) == 0)
            return lisp->symbols[at];
    }
    if (lisp->symbol_count >= lisp->symbol_capacity / 2) {
        if (!grow(lisp))
            return cvm_out_of_memory(vm);
        return cvm_symbol_new(vm, name, length);
    }
    text = cvm_root(vm, cvm_string_new(vm, name, length));
    symbol = *text == CVM_NONE ? NULL
           : (cvm_symbol *)cvm_object_new(vm, CVM_SYMBOL, sizeof *symbol);
    if (symbol != NULL) {
        symbol->head.hash = hash;
        cvm_heap_init(&symbol->name, *text);
        cvm_heap_init(&symbol->value, CVM_UNBOUND);
        lisp->symbols[at] = (cvm_value)symbol;
        lisp->symbol_count++;
    }
    cvm_close(vm, scope);
    return (cvm_value)symbol;
}

const char *cvm_symbol_text(cvm_value symbol)
{
    return CVM_STRING_OF(CVM_SYMBOL_OF(symbol)->name)->bytes;
}

int cvm_define(cvm *vm, const char *name, cvm_value v)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_v = cvm_root(vm, v);
    cvm_value symbol = v == CVM_NONE ? CVM_NONE : cvm_symbol_new(vm, name, strlen(name));

    if (symbol != CVM_NONE)
        cvm_store(vm, symbol, &CVM_SYMBOL_OF(symbol)->value, *r_v);
    cvm_close(vm, scope);
    return symbol != CVM_NONE;
}

static void count_arguments(cvm_builtin *b)
{
    const char *letter;
    int optional = 0;

    for (letter = b->def->signature; *letter != '\0'; letter++) {
        if (*letter == '?') {
            optional = 1;
        } else if (*letter == '*') {
            b->most = SIZE_MAX;
            b->least -= (size_t)!optional;
        } else {
            b->least += (size_t)!optional;
            b->most++;
        }
    }
}

int cvm_define_all(cvm *vm, const cvm_builtin_def *defs)
{
    for (; defs->name != NULL; defs++) {
        cvm_builtin *b = (cvm_builtin *)cvm_object_new(vm, CVM_BUILTIN, sizeof *b);

        if (b == NULL)
            return 0;
        b->def = defs;
        count_arguments(b);
        if (!cvm_define(vm, defs->name, (cvm_value)b))
            return 0;
    }
    return 1;
}

int cvm_symbols_open(cvm *vm)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);

    vm->heap.kinds[CVM_PAIR] = &pair_kind;
    vm->heap.kinds[CVM_SYMBOL] = &symbol_kind;
    lisp->symbol_capacity = FIRST_SYMBOLS;
    lisp->symbols = calloc(FIRST_SYMBOLS, sizeof *lisp->symbols);
    return lisp->symbols != NULL;
}

void cvm_symbols_visit(cvm *vm)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);
    size_t i;

    for (i = 0; lisp->symbols != NULL && i < lisp->symbol_capacity; i++)
        cvm_heap_visit(&vm->heap, &lisp->symbols[i]);
}

void cvm_symbols_free(cvm *vm)
{
    free(cvm_lisp_of(vm)->symbols);
    cvm_lisp_of(vm)->symbols = NULL;
}

/* ---- names of kinds ------------------------------------------------------- */

const char *cvm_kind_name(const cvm *vm, cvm_value v)
{
    if (cvm_is_fixnum(v))
        return "number";
    if (!cvm_is_object(v))
        return v == CVM_NIL ? "nil" : "boolean";
    return vm->heap.kinds[cvm_object_of(v)->kind]->name;
}

/* ---- pairs -------------------------------------------------------------- */

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr)
{
    size_t scope = cvm_open(vm);
    cvm_value *a = cvm_root(vm, car);
    cvm_value *d = cvm_root(vm, cdr);
    cvm_pair *p = (cvm_pair *)cvm_object_new(vm, CVM_PAIR, sizeof *p);

    if (p != NULL) {
        cvm_heap_init(&p->car, *a);
        cvm_heap_init(&p->cdr, *d);
    }
    cvm_close(vm, scope);
    return (cvm_value)p;
}

intptr_t cvm_list_length(cvm_value list)
{
    cvm_value slow = list;          /* goes half as fast: they meet in a cycle */
    intptr_t n = 0;

    while (cvm_is(list, CVM_PAIR)) {
        list = CVM_PAIR_OF(list)->cdr;
        if (++n % 2 == 0) {
            slow = CVM_PAIR_OF(slow)->cdr;
            if (slow == list && cvm_is(list, CVM_PAIR))
                return -1;
        }
    }
    return list == CVM_NIL ? n : -1;
}
