/* symbols.c - symbols, which hold the global variables, and pairs. */
#include "lisp.h"

#include <string.h>

static const cvm_kind pair_kind = { "pair", offsetof(cvm_pair, car), CVM_REST };
static const cvm_kind symbol_kind = { "symbol", offsetof(cvm_symbol, name), 3 };

cvm_value cvm_record(cvm *vm, int kind, const cvm_value *fields, size_t n)
{
    size_t scope = cvm_open(vm), i;
    const cvm_value *rooted = vm->stack + scope;
    cvm_object *p;

    for (i = 0; i < n; i++)
        cvm_root(vm, fields[i]);
    p = cvm_object_new(vm, kind, sizeof *p + n * sizeof *fields);
    for (i = 0; p != NULL && i < n; i++)
        cvm_heap_init((cvm_value *)(void *)(p + 1) + i, rooted[i]);
    cvm_close(vm, scope);
    return (cvm_value)p;
}

/* ---- bytes -------------------------------------------------------------- */

size_t cvm_utf8_length(const char *at, const char *end)
{
    unsigned char c = (unsigned char)*at;
    size_t length = c < 0x80 ? 1 : c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
    size_t i;

    if (length > (size_t)(end - at))
        return 0;
    for (i = 1; i < length; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

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
    cvm_value fields[] = { CVM_NIL, CVM_UNBOUND, CVM_NIL };

    for (v = *chain; v != CVM_NIL; v = CVM_SYMBOL_OF(v)->next) {
        const cvm_string *s = CVM_STRING_OF(CVM_SYMBOL_OF(v)->name);

        if (s->length == length && memcmp(s->bytes, name, length) == 0)
            return v;
    }
    fields[0] = cvm_string_new(vm, name, length);
    fields[2] = *chain;
    v = fields[0] != CVM_NONE ? cvm_record(vm, CVM_SYMBOL, fields, 3) : CVM_NONE;
    if (v != CVM_NONE)
        *chain = v;
    return v;
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
    size_t i;

    vm->heap.kinds[CVM_PAIR] = &pair_kind;
    vm->heap.kinds[CVM_SYMBOL] = &symbol_kind;
    for (i = 0; i < CVM_SYMBOL_CHAINS; i++)
        lisp->symbols[i] = CVM_NIL;
    lisp->quote = cvm_symbol_new(vm, "quote", 5);
    return lisp->quote != CVM_NONE;
}

const char *cvm_kind_name(const cvm *vm, cvm_value v)
{
    if (cvm_is_fixnum(v))
        return "number";
    if (!cvm_is_object(v))
        return v == CVM_NIL ? "nil" : "boolean";
    return vm->heap.kinds[cvm_object_of(v)->kind]->name;
}

/* ---- lists -------------------------------------------------------------- */

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr)
{
    const cvm_value fields[] = { car, cdr };

    return cvm_record(vm, CVM_PAIR, fields, 2);
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
