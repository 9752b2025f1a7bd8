/* vm.c - the machine: its start and end, roots, errors, and making values. */
#include "vm.h"

#include "capi/impl.h"
#include "ctypes.h"
#include "insight.h"
#include "lisp.h"
#include "rrc_glue.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_NURSERY = 256 * 1024, STRESS_NURSERY = 16 * 1024, FIRST_SYMBOLS = 256 };
#define DEFAULT_LIMIT ((size_t)SIZE_MAX / 8 < ((size_t)1 << 30) ? SIZE_MAX / 8 : (size_t)1 << 30)

/* ---- start and end ------------------------------------------------------ */

static int boot(cvm *vm)
{
    vm->heap.booting = 1;
    vm->tombstone = (cvm_value)cvm_object_new(vm, CVM_FOREIGN, sizeof(cvm_foreign));
    if (vm->tombstone == CVM_NONE || !cvm_define_specials(vm)
        || !cvm_define_all(vm, cvm_builtins) || !cvm_define_all(vm, cvm_sequence_builtins)
        || !cvm_define_all(vm, cvm_ctype_builtins) || !cvm_capi_open(vm))
        return 0;
    vm->heap.booting = 0;
    return 1;
}

cvm *cvm_new(const cvm_config *config)
{
    cvm *vm = calloc(1, sizeof *vm + sizeof *vm->cx);   /* types must live as long as their last object */
    size_t limit = config->heap_limit != 0 ? config->heap_limit : DEFAULT_LIMIT;
    size_t nursery = config->nursery != 0 ? config->nursery
                   : config->stress ? STRESS_NURSERY    /* it is renewed all the time */
                   : DEFAULT_NURSERY;

    if (vm == NULL)
        return NULL;
    vm->cx = (struct cx_state *)(vm + 1);
    if (limit < CVM_LEAST_HEAP)
        limit = CVM_LEAST_HEAP;
    if (limit > SIZE_MAX / 8)           /* so that sums of sizes cannot overflow */
        limit = SIZE_MAX / 8;
    vm->max_depth = config->max_depth != 0 ? config->max_depth : CVM_DEFAULT_DEPTH;
    vm->out = config->out != NULL ? config->out : stdout;
    vm->auto_pending = 1;
    vm->tombstone = vm->error_file = CVM_NIL;
    vm->symbol_capacity = FIRST_SYMBOLS;
    vm->symbols = calloc(FIRST_SYMBOLS, sizeof *vm->symbols);
    vm->stack = malloc(CVM_STACK_SIZE * sizeof *vm->stack);
    if (vm->symbols == NULL || vm->stack == NULL
        || !cvm_heap_open(&vm->heap, &cvm_glue_phases, vm, limit, nursery, config->stress)
        || !cvm_glue_open(vm) || !cvm_ctypes_open(vm) || !boot(vm)) {
        cvm_free(vm);
        return NULL;
    }
    return vm;
}

size_t cvm_free(cvm *vm)
{
    size_t held;

    vm->closing = 1;
    if (vm->rrc != NULL) {
        cvm_capi_close(vm);     /* extensions let go of what they hold */
        cvm_ctypes_close(vm);   /* and so does the C library */
    }
    held = cvm_glue_close(vm);  /* deallocators run, and may still use the objects and call Lisp code */
    vm->closing = CVM_CLOSED;
    cvm_capi_free(vm);
    cvm_ids_free(vm);
    cvm_heap_close(&vm->heap);
    free(vm->symbols);
    free(vm->stack);
    if (held == 0)
        free(vm);
    return held;
}

/* ---- roots -------------------------------------------------------------- */

void cvm_visit_roots(void *arg)
{
    cvm *vm = arg;
    size_t i;

    for (i = 0; i < vm->sp; i++)
        cvm_heap_visit(&vm->heap, &vm->stack[i]);
    for (i = 0; i < vm->symbol_capacity; i++)
        cvm_heap_visit(&vm->heap, &vm->symbols[i]);
    cvm_heap_visit(&vm->heap, &vm->error_file);
}

int cvm_stack_room(cvm *vm, size_t n)
{
    if (vm->sp + n <= CVM_STACK_SIZE - CVM_STACK_SPARE)
        return 1;
    cvm_fail(vm, "recursion too deep");
    return 0;
}

int cvm_enter(cvm *vm)
{
    if (vm->depth >= vm->max_depth || !cvm_c_stack_room(vm)) {
        cvm_fail(vm, "recursion too deep");
        return 0;
    }
    if (!cvm_stack_room(vm, CVM_STACK_SPARE))
        return 0;
    vm->depth++;
    return 1;
}

void cvm_leave(cvm *vm)
{
    vm->depth--;
}

/* ---- errors ------------------------------------------------------------- */

cvm_value cvm_fail(cvm *vm, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(vm->message, sizeof vm->message, format, args);
    va_end(args);
    vm->failed = 1;
    vm->error_line = 0;
    vm->error_file = CVM_NIL;
    return CVM_NONE;
}

cvm_value cvm_out_of_memory(cvm *vm)
{
    return cvm_fail(vm, "out of memory");
}

cvm_value cvm_expected(cvm *vm, const char *who, const char *what, cvm_value v)
{
    char text[60];

    cvm_print_short(vm, v, text, sizeof text);
    return cvm_fail(vm, "%s: expected %s, got %s", who, what, text);
}

void cvm_error_text(const cvm *vm, char *text, size_t size)
{
    if (cvm_is(vm->error_file, CVM_STRING))
        snprintf(text, size, "%s:%d: error: %s",
                 cvm_bytes(vm->error_file), vm->error_line, vm->message);
    else
        snprintf(text, size, "error: %s", vm->message);
}

void cvm_error_clear(cvm *vm)
{
    vm->failed = 0;
    vm->error_line = 0;
    vm->error_file = CVM_NIL;
}

/* ---- making values ------------------------------------------------------ */

cvm_object *cvm_object_new(cvm *vm, cvm_kind kind, size_t size)
{
    cvm_object *p;

    if (vm->printing > 0) {             /* the printer goes by addresses that must not change */
        cvm_fail(vm, "a tp_repr must not make Lisp objects");
        return NULL;
    }
    p = cvm_heap_alloc(&vm->heap, kind, size);
    if (p == NULL)
        cvm_out_of_memory(vm);
    return p;
}

void cvm_store(cvm *vm, cvm_value owner, cvm_value *slot, cvm_value v)
{
    cvm_heap_write(&vm->heap, cvm_object_of(owner), slot, v);
}

cvm_value cvm_cons(cvm *vm, cvm_value car, cvm_value cdr)
{
    size_t scope = cvm_open(vm);
    cvm_value *a = cvm_root(vm, car);
    cvm_value *d = cvm_root(vm, cdr);
    cvm_pair *p = (cvm_pair *)cvm_object_new(vm, CVM_PAIR, sizeof *p);

    if (p != NULL) {
        p->car = *a;
        p->cdr = *d;
    }
    cvm_close(vm, scope);
    return (cvm_value)p;
}

cvm_value cvm_string_new(cvm *vm, const char *bytes, size_t length)
{
    cvm_string *s;

    if (length > SIZE_MAX / 4)
        return cvm_out_of_memory(vm);
    s = (cvm_string *)cvm_object_new(vm, CVM_STRING, offsetof(cvm_string, bytes) + length + 1);
    if (s != NULL) {
        s->length = length;
        if (bytes != NULL && length > 0)
            memcpy(s->bytes, bytes, length);
    }
    return (cvm_value)s;
}

cvm_value cvm_text(cvm *vm, const char *zero_terminated)
{
    return cvm_string_new(vm, zero_terminated, strlen(zero_terminated));
}

cvm_value cvm_vector_new(cvm *vm, size_t length, cvm_value fill)
{
    size_t scope = cvm_open(vm), i;
    cvm_value *v;
    cvm_vector *vector;

    if (length > SIZE_MAX / 4 / sizeof(cvm_value))
        return cvm_out_of_memory(vm);
    v = cvm_root(vm, fill);
    vector = (cvm_vector *)cvm_object_new(vm, CVM_VECTOR,
                 offsetof(cvm_vector, items) + length * sizeof(cvm_value));
    if (vector != NULL) {
        vector->length = length;
        for (i = 0; i < length; i++)
            vector->items[i] = *v;
    }
    cvm_close(vm, scope);
    return (cvm_value)vector;
}

cvm_value cvm_real_new(cvm *vm, double number)
{
    cvm_real *r = (cvm_real *)cvm_object_new(vm, CVM_REAL, sizeof *r);

    if (r != NULL)
        r->number = number;
    return (cvm_value)r;
}

cvm_value cvm_whole_new(cvm *vm, intptr_t n)
{
    cvm_whole *p = (cvm_whole *)cvm_object_new(vm, CVM_INTEGER, sizeof *p);

    if (p != NULL)
        p->number = n;
    return (cvm_value)p;
}

cvm_value cvm_integer(cvm *vm, intptr_t n)
{
    return cvm_fits_fixnum(n) ? cvm_fixnum(n) : cvm_whole_new(vm, n);
}

cvm_value cvm_size(cvm *vm, size_t n)
{
    return n <= (size_t)INTPTR_MAX ? cvm_integer(vm, (intptr_t)n) : cvm_real_new(vm, (double)n);
}

/* ---- symbols ------------------------------------------------------------ */

uint32_t cvm_hash_bytes(const char *bytes, size_t length)
{
    uint32_t hash = 2166136261u;        /* FNV-1a */

    for (; length > 0; length--)
        hash = (hash ^ (unsigned char)*bytes++) * 16777619u;
    return hash;
}

static int grow_symbols(cvm *vm)
{
    size_t capacity = vm->symbol_capacity * 2;
    cvm_value *symbols = calloc(capacity, sizeof *symbols);
    size_t i, at;

    if (symbols == NULL)
        return 0;
    for (i = 0; i < vm->symbol_capacity; i++) {
        if (vm->symbols[i] == CVM_NONE)
            continue;
        at = CVM_SYMBOL_OF(vm->symbols[i])->head.hash & (capacity - 1);
        while (symbols[at] != CVM_NONE)
            at = (at + 1) & (capacity - 1);
        symbols[at] = vm->symbols[i];
    }
    free(vm->symbols);
    vm->symbols = symbols;
    vm->symbol_capacity = capacity;
    return 1;
}

cvm_value cvm_symbol_new(cvm *vm, const char *name, size_t length)
{
    uint32_t hash = cvm_hash_bytes(name, length);
    size_t at = hash & (vm->symbol_capacity - 1);
    size_t scope = cvm_open(vm);
    cvm_value *text;
    cvm_symbol *symbol;

    for (; vm->symbols[at] != CVM_NONE; at = (at + 1) & (vm->symbol_capacity - 1)) {
        const cvm_string *s = CVM_STRING_OF(CVM_SYMBOL_OF(vm->symbols[at])->name);

        if (s->length == length && memcmp(s->bytes, name, length) == 0)
            return vm->symbols[at];
    }
    if (vm->symbol_count >= vm->symbol_capacity / 2) {
        if (!grow_symbols(vm))
            return cvm_out_of_memory(vm);
        return cvm_symbol_new(vm, name, length);
    }
    text = cvm_root(vm, cvm_string_new(vm, name, length));
    symbol = *text == CVM_NONE ? NULL
           : (cvm_symbol *)cvm_object_new(vm, CVM_SYMBOL, sizeof *symbol);
    if (symbol != NULL) {
        symbol->head.hash = hash;
        symbol->name = *text;
        symbol->value = CVM_UNBOUND;
        vm->symbols[at] = (cvm_value)symbol;
        vm->symbol_count++;
    }
    cvm_close(vm, scope);
    return (cvm_value)symbol;
}

const char *cvm_symbol_text(cvm_value symbol)
{
    return CVM_STRING_OF(CVM_SYMBOL_OF(symbol)->name)->bytes;
}

/* ---- looking at values -------------------------------------------------- */

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

const char *cvm_kind_name(cvm_value v)
{
    static const char *const names[] = {
        "pair", "string", "symbol", "vector", "dict", "number",
        "procedure", "binding", "procedure", "special", "foreign",
        "number", "tuple", "tuple", "array"
    };

    if (cvm_is_fixnum(v))
        return "number";
    if (!cvm_is_object(v))
        return v == CVM_NIL ? "nil" : "boolean";
    return names[cvm_object_of(v)->kind];
}
