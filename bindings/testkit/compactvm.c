/* compactvm.c - the test kit's functions for the core of compactvm: a VM with generations, whose objects move, and
 * whose collections can be divided into slices. */
#include "../compactvm/core/vm.h"
#include "kit.h"

#include <stdlib.h>

static cvm *vm;
static cvm_value *root[KIT_ROOTS];      /* slots of the VM's stack */

/* A plain object is a vector, with its number behind its fields. */
static cvm_value *item(int at, int i) { return &CVM_VECTOR_OF(*root[at])->items[i]; }

void kit_open(unsigned way)
{
    cvm_config config = { .heap_limit = 1 << 20, .nursery = 16 << 10 };
    config.stress = way % 4 < 2;        /* collect at each allocation, or do a slice */
    config.incremental = way % 2;
    vm = cvm_new(&config);
    if (vm == NULL)
        kit_fail("no memory");
    for (int i = 0; i < KIT_ROOTS; i++)
        root[i] = cvm_root(vm, CVM_NIL);
}

rrc_heap *kit_heap(void) { return vm->rrc; }
void kit_close(void)     { cvm_free(vm); }
int kit_keeps(void)      { return 1; }

void kit_new_object(int to, long number)
{
    cvm_value v = cvm_vector_new(vm, KIT_FIELDS + 1, CVM_NIL);
    if (v == CVM_NONE)
        kit_fail("no memory");
    *root[to] = v;
    *item(to, KIT_FIELDS) = cvm_fixnum(number);
}

long kit_number(int at)
{
    return cvm_is(*root[at], CVM_FOREIGN) ? CVM_FOREIGN_OF(*root[at])->ob != NULL ? KIT_PROXY : KIT_PARTED
         : cvm_is(*root[at], CVM_VECTOR) ? (long)cvm_fixnum_of(*item(at, KIT_FIELDS)) : KIT_NIL;
}

static cvm_value value(int from) { return from == KIT_NIL ? CVM_NIL : *root[from]; }

void kit_set_root(int to, int from)                 { *root[to] = value(from); }
void kit_set_field(int owner, int field, int from)  { cvm_store(vm, *root[owner], item(owner, field), value(from)); }
void kit_get_field(int owner, int field, int to)    { *root[to] = *item(owner, field); }
rrc_object *kit_to_c(int at)                        { return cvm_ob_of(vm, *root[at]); }

void kit_to_vm(rrc_object *ob, int to)
{
    cvm_value v = cvm_from_ob(vm, ob);
    if (v == CVM_NONE)
        kit_fail("there is no VM object for an object of C");
    *root[to] = v;
}

void kit_collect(int kind)
{
    if (kind == KIT_MINOR)
        cvm_heap_minor(&vm->heap);
    else if (kind == KIT_MAJOR)
        cvm_heap_major(&vm->heap);
    else if (vm->heap.incremental)
        cvm_heap_slice(&vm->heap, 64);
}

void kit_safe_point(void) { cvm_glue_attend(vm); }
long kit_count(void)      { return KIT_NIL; }
