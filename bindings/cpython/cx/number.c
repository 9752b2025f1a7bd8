/* number.c - int and float: P link, light. The number is in both objects.
 *
 * Numbers never change, so that each side can have its own copy: C reads its object,
 * Lisp reads its own, and the link keeps the pair together as long as either is used.
 *
 * A fixnum is no object of the host but a word. Its C object has no link: it is a plain
 * counted object, made at each crossing, which Lisp forgets again. (Small ones are
 * immortal.) Only when C borrows a fixnum out of a host's container does it need an object
 * on the host's side, to live as long as it stands there: the slot then gets one. Lisp
 * does not see the difference (cvm_plain).
 *
 * A number made in C gets its host object, if it needs one, when it first reaches Lisp.
 */
#include "impl.h"

rrc_object *cxi_small_int(cvm *vm, intptr_t number)
{
    return number >= CXI_LEAST_SMALL && number < CXI_LEAST_SMALL + CXI_SMALL_INTS
         ? &CX_STATE(vm)->small[number - CXI_LEAST_SMALL].head : NULL;
}

rrc_object *cxi_int_new(cvm *vm, intptr_t number)
{
    rrc_object *ob = cxi_alloc(vm, CX_INT, 0);

    if (ob != NULL)
        ((cxi_int *)ob)->number = number;
    return ob;
}

/* The value in *slot of the container, with an object for it if C can not borrow it
   otherwise. CVM_NONE after a failure. May allocate: owner and slot must not be used after. */
cvm_value cxi_boxed(cvm *vm, cvm_value owner, cvm_value *slot)
{
    size_t scope = cvm_open(vm);
    size_t offset = (size_t)((char *)slot - (char *)owner);
    cvm_value *r_owner = cvm_root(vm, owner);
    cvm_value v = *slot;

    if (cvm_is_fixnum(v) && cxi_small_int(vm, cvm_fixnum_of(v)) == NULL) {
        v = cvm_whole_new(vm, cvm_fixnum_of(v));
        if (v != CVM_NONE)
            cvm_store(vm, *r_owner, (cvm_value *)(void *)((char *)*r_owner + offset), v);
    }
    cvm_close(vm, scope);
    return v;
}

static rrc_object *int_from(cvm *vm, intptr_t number)
{
    rrc_object *ob = cxi_small_int(vm, number);

    if (ob == NULL)
        ob = cxi_int_new(vm, number);
    return ob != NULL ? ob : cx_err_no_memory(vm);
}

rrc_object *cx_int_from_long(cvm *vm, long number)
{
    if (number > INTPTR_MAX || number < INTPTR_MIN)     /* a long wider than a word */
        return cx_err_set(vm, "cx_int_from_long: the number is too big");
    return int_from(vm, (intptr_t)number);
}

rrc_object *cx_int_from_size(cvm *vm, size_t number)
{
    if (number > (size_t)INTPTR_MAX)    /* SIZE_MAX can be what another function has failed with */
        return vm->failed ? NULL : cx_err_set(vm, "cx_int_from_size: the number is too big");
    return int_from(vm, (intptr_t)number);
}

rrc_object *cx_float_from_double(cvm *vm, double number)
{
    rrc_object *ob = cxi_alloc(vm, CX_FLOAT, 0);

    if (ob == NULL)
        return cx_err_no_memory(vm);
    ((cxi_float *)ob)->number = number;
    return ob;
}

int cx_int_check(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_int_check", ob) && cxi_is(vm, ob, CX_INT);
}

int cx_float_check(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_float_check", ob) && cxi_is(vm, ob, CX_FLOAT);
}

long cx_int_as_long(cvm *vm, rrc_object *ob)
{
    intptr_t number;

    if (!cxi_expect(vm, "cx_int_as_long", ob, CX_INT, "a whole number"))
        return -1;
    number = ((cxi_int *)ob)->number;
    if ((intptr_t)(long)number == number)
        return (long)number;
    cx_err_expected(vm, "cx_int_as_long", "a number that fits a long", ob);
    return -1;
}

size_t cx_int_as_size(cvm *vm, rrc_object *ob)
{
    if (!cxi_expect(vm, "cx_int_as_size", ob, CX_INT, "a whole number, not negative"))
        return SIZE_MAX;
    if (((cxi_int *)ob)->number >= 0)
        return (size_t)((cxi_int *)ob)->number;
    cx_err_expected(vm, "cx_int_as_size", "a whole number, not negative", ob);
    return SIZE_MAX;
}

double cx_float_as_double(cvm *vm, rrc_object *ob)
{
    if (!cxi_any(vm, "cx_float_as_double", ob))
        return -1;
    if (cxi_is(vm, ob, CX_FLOAT))
        return ((cxi_float *)ob)->number;
    if (cxi_is(vm, ob, CX_INT))
        return (double)((cxi_int *)ob)->number;
    cx_err_expected(vm, "cx_float_as_double", "a number", ob);
    return -1;
}
