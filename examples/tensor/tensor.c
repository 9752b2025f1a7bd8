/* tensor.c - tensors that are counted in C, each with one wrapper in a VM that moves its objects.
 *
 * A tensor library hands out wrappers: (attr a 'grad) gives that of a's gradient. Users hang
 * things on them, and drop them. If the gradient lives on in C, its wrapper must be the same one
 * the next time, with all that hangs on it. Why the link between the two is a P link:
 *
 *   1. A wrapper has data that the tensor has not: its attributes. So whoever needs the tensor
 *      needs the wrapper, also where nobody in the VM has it any more.
 *   2. A P link says so: what C holds keeps p. The gradient is held by its tensor's field, so the
 *      collector keeps the gradient's wrapper, and with it all that its attributes mention.
 *   3. An O link says that p is a mere proxy: it dies when the VM has dropped it, though C holds
 *      ob, and the next look at ob makes a new one. A name set on the old one would be lost.
 *   4. Nothing is pinned for that: when C lets go, the count is back at the bias, which is the
 *      wrapper's own reference. Then the wrapper is held by the VM alone, and dies as it should.
 *   5. Neither side changes owner when a wrapper is dropped or wanted again. There is nothing to
 *      flip, and no moment in which both own each other, or neither does.
 *
 * So CX_TPFLAGS_HAVE_ATTRS is all that makes `tensor` different from `plain-tensor`, which has
 * an O link: and the state that would lose data, attributes on a wrapper that may die before its
 * tensor, cannot come about. set-attr! refuses it.
 */
#include "../../bindings/cpython/cx/capi.h"

#include <stdio.h>

typedef struct tensor {
    rrc_object head;
    rrc_object *grad;               /* owned: a tensor of this type; NULL: none so far */
    size_t size;
    double values[];
} tensor;

static tensor *tensor_alloc(cvm *vm, cx_type *type, size_t size)
{
    tensor *t = (tensor *)cx_new_var(vm, type, size);

    if (t != NULL)
        t->size = size;
    return t;
}

/* (tensor 1 2 3) */
static rrc_object *tensor_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    tensor *t = tensor_alloc(vm, type, n);
    rrc_object *ob = (rrc_object *)t;
    size_t i;

    for (i = 0; t != NULL && i < n; i++)
        t->values[i] = cx_float_as_double(vm, args[i]);
    if (cx_err_occurred(vm))
        CX_CLEAR(vm, ob);
    return ob;
}

/* (call a 'backward): adds the gradient of a's squared length, 2a, to a's grad. This is where
   a tensor is made that the VM has never seen. */
static rrc_object *tensor_backward(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    tensor *t = (tensor *)self, *grad;
    size_t i;

    (void)args, (void)n;
    if (t->grad == NULL)
        t->grad = (rrc_object *)tensor_alloc(vm, cx_type_of(vm, self), t->size);
    grad = (tensor *)t->grad;
    for (i = 0; grad != NULL && i < t->size && i < grad->size; i++)
        grad->values[i] += 2 * t->values[i];
    return grad != NULL ? cx_newref(vm, cx_nil(vm)) : NULL;
}

/* (call a 'grad-state): in which state is the gradient? Looks at it without making a wrapper. */
static rrc_object *tensor_grad_state(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    rrc_object *grad = ((tensor *)self)->grad;

    (void)args, (void)n;
    if (grad == NULL)
        return cx_str_from_string(vm, "no gradient");
    return cx_str_from_format(vm, "%s wrapper; references in C: %d", rrc_to_obj(cx_heap(vm), grad) == NULL ? "no" : "a",
                              (int)rrc_refcnt(grad));
}

static rrc_object *get_grad(cvm *vm, rrc_object *self)
{
    const tensor *t = (const tensor *)self;

    return cx_newref(vm, t->grad != NULL ? t->grad : cx_nil(vm));
}

static int set_grad(cvm *vm, rrc_object *self, rrc_object *value)
{
    tensor *t = (tensor *)self;

    if (value == cx_nil(vm)) {
        CX_CLEAR(vm, t->grad);
        return 0;
    }
    if (!cx_check(vm, "grad", value, cx_type_of(vm, self)))
        return -1;
    CX_SETREF(vm, t->grad, cx_newref(vm, value));
    return 0;
}

static rrc_object *tensor_repr(cvm *vm, rrc_object *self)
{
    const tensor *t = (const tensor *)self;
    char text[120] = "[";
    size_t i, used = 1;

    for (i = 0; i < t->size && used < sizeof text - 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i > 0 ? " %g" : "%g", t->values[i]);
    return cx_str_from_format(vm, "%s%s]", text, i < t->size ? " ..." : "");
}

/* What a tensor owns: so also a cycle is collected that goes through an attribute of a wrapper. */
static const rrc_member tensor_members[] = { { "grad", offsetof(tensor, grad) }, { NULL, 0 } };
static const cx_getset_def tensor_getset[] = { { "grad", get_grad, set_grad }, { NULL, NULL, NULL } };
static const cx_method_def tensor_methods[] = {
    { "backward", 0, 0, tensor_backward }, { "grad-state", 0, 0, tensor_grad_state }, { NULL, 0, 0, NULL }
};

static int define_type(cvm *vm, const char *name, unsigned long flags)
{
    cx_type spec = {
        .type = { .tp_name = name, .tp_basicsize = offsetof(tensor, values), .tp_itemsize = sizeof(double),
                  .tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_BASETYPE | flags, .tp_members = tensor_members },
        .tp_new = tensor_new, .tp_repr = tensor_repr, .tp_getset = tensor_getset, .tp_methods = tensor_methods
    };

    return cx_define_type(vm, &spec, NULL, NULL, NULL);
}

static int init(cvm *vm)
{
    if (define_type(vm, "tensor", CX_TPFLAGS_HAVE_ATTRS) != 0)
        return -1;
    return define_type(vm, "plain-tensor", 0);
}

const cx_extension cx_ext_tensor = { CX_EXTENSION_HEAD("tensor"), .init = init };
