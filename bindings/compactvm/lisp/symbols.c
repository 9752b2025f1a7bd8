/* symbols.c - symbols, which hold the global variables, and pairs. */
#include "lisp.h"

cvm_value cvm_record(cvm *vm, int kind, const cvm_value *fields, size_t n)
{
    size_t scope = cvm_open(vm);
    const cvm_value *rooted = vm->stack + scope;
    for (size_t i = 0; i < n; i++)
        cvm_root(vm, fields[i]);
    cvm_object *p = cvm_object_new(vm, kind, sizeof *p + n * sizeof *fields);
    for (size_t i = 0; p != NULL && i < n; i++)
        cvm_heap_init((cvm_value *)(void *)(p + 1) + i, rooted[i]);
    cvm_close(vm, scope);
    return (cvm_value)p;
}

/* ---- bytes -------------------------------------------------------------- */

uint32_t cvm_hash_bytes(const char *bytes, size_t length)
{
    uint32_t hash = 2166136261u;        /* FNV-1a */
    for (; length > 0; length--)
        hash = (hash ^ (unsigned char)*bytes++) * 16777619u;
    return hash;
}

/* ---- symbols ------------------------------------------------------------ */

cvm_value cvm_symbol_new(cvm *vm, const char *name, size_t length)
{
    cvm_value *chain = &cvm_lisp_of(vm)->symbols[cvm_hash_bytes(name, length) % CVM_SYMBOL_CHAINS], v;
    for (v = *chain; v != CVM_NIL; v = CVM_VARIABLE_OF(v)->next) {
        const cvm_string *s = CVM_STRING_OF(CVM_VARIABLE_OF(v)->name);
        if (s->length == length && memcmp(s->bytes, name, length) == 0)
            return v;
    }
    v = cvm_string_new(vm, name, length);
    if (v != CVM_NONE)
        v = cvm_record(vm, CVM_SYMBOL, (cvm_value[]){ v, CVM_UNBOUND, *chain }, 3);
    if (v != CVM_NONE)
        *chain = v;
    return v;
}

const char *cvm_symbol_text(cvm_value symbol)
{
    return CVM_STRING_OF(CVM_VARIABLE_OF(symbol)->name)->bytes;
}

const char *cvm_closure_name(cvm_value closure)
{
    cvm_value name = CVM_CLOSURE_OF(closure)->name;
    return name != CVM_NIL ? cvm_symbol_text(name) : "lambda";
}

int cvm_define(cvm *vm, const char *name, cvm_value v)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_v = cvm_root(vm, v);
    cvm_value symbol = v == CVM_NONE ? CVM_NONE : cvm_symbol_new(vm, name, strlen(name));
    if (symbol != CVM_NONE)
        cvm_store(vm, symbol, &CVM_VARIABLE_OF(symbol)->value, *r_v);
    cvm_close(vm, scope);
    return symbol != CVM_NONE;
}

int cvm_define_all(cvm *vm, int kind, const cvm_builtin_def *defs)
{
    for (; defs->name != NULL && !vm->error.failed; defs++) {
        cvm_builtin *b = (cvm_builtin *)cvm_object_new(vm, kind, sizeof *b);
        if (b != NULL)
            b->def = defs;
        cvm_define(vm, defs->name, (cvm_value)b);
    }
    return !vm->error.failed;
}

/* ---- lists -------------------------------------------------------------- */

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr)
{
    return cvm_record(vm, CVM_PAIR, (cvm_value[]){ car, cdr }, 2);
}

cvm_value cvm_list_new(cvm *vm, const cvm_value *items, size_t n)
{
    size_t scope = cvm_open(vm);
    cvm_value *list = cvm_root(vm, CVM_NIL);
    while (n > 0 && *list != CVM_NONE)
        *list = cvm_cons(vm, items[--n], *list);
    cvm_close(vm, scope);
    return *list;
}

cvm_value cvm_turn(cvm *vm, cvm_value list, cvm_value tail)
{
    while (list != CVM_NIL) {
        cvm_value rest = CVM_PAIR_OF(list)->cdr;
        cvm_store(vm, list, &CVM_PAIR_OF(list)->cdr, tail);
        tail = list;
        list = rest;
    }
    return tail;
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
