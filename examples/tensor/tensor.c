/* tensor.c - tensors that have a life in C, each with one wrapper, as an extension in CPython's API.
 *
 * A tensor is a tensor_impl, which a C++ library might have: with a strong count and a weak one. A program
 * sees it by a wrapper, a PyObject. Users hang things on wrappers: names, hooks, types of their own. So the
 * wrapper must not be lost while the tensor lives, nor the tensor while the wrapper is used. Which one owns
 * the other depends on who is in use:
 *
 *   1. no wrapper         Never exported: C made the tensor, and nobody has looked at it.
 *   2. wrapper -> tensor  The wrapper owns a strong reference. It may be the last one.
 *   3. tensor -> wrapper  The last reference to the wrapper has gone, but C still has the tensor: the
 *                         deallocator has brought the wrapper back to life and given it to the tensor
 *                         (try_resurrect). Who wants the wrapper next turns it to 2 again (wrap).
 *
 * Nobody else knows the state: it is owns_wrapper of the tensor, owns_impl of the wrapper, and exactly one
 * of them is set as long as both are alive. The wrapper always has a weak reference: where a collector takes garbage
 * apart, the wrapper can be left when its tensor has gone.
 *
 * A class that is based on Tensor must not take a wrapper apart before try_resurrect has looked at it: so
 * the metatype gives it our deallocator.
 */
#include <Python.h>

#include <stddef.h>

/* ---- the library: tensors with counts of their own ------------------------- */

typedef struct tensor_impl {
    long strong, weak;              /* all strong references count as one weak one */
    struct tensor_impl *grad;       /* a strong reference, or NULL */
    PyObject *wrapper;              /* NULL in state 1 */
    int owns_wrapper;               /* state 3 */
    Py_ssize_t size;
    double *values;                 /* NULL when the last strong reference has gone */
} tensor_impl;

static long impls;                  /* that are alive */

static tensor_impl *impl_new(Py_ssize_t size)
{
    tensor_impl *t = PyMem_Calloc(1, sizeof *t);

    if (t == NULL || (t->values = PyMem_Calloc((size_t)size, sizeof *t->values)) == NULL) {
        PyMem_Free(t);
        PyErr_NoMemory();
        return NULL;
    }
    t->strong = t->weak = 1;
    t->size = size;
    impls++;
    return t;
}

static void impl_weak_release(tensor_impl *t)
{
    if (--t->weak == 0)
        PyMem_Free(t);
}

static void impl_release(tensor_impl *t)
{
    tensor_impl *grad = t->grad;

    if (--t->strong > 0)
        return;
    impls--;
    PyMem_Free(t->values);
    t->values = NULL;
    t->grad = NULL;
    if (t->owns_wrapper) {          /* state 3: the wrapper goes with its tensor */
        t->owns_wrapper = 0;
        Py_DECREF(t->wrapper);
    }
    if (grad != NULL)
        impl_release(grad);
    impl_weak_release(t);
}

/* From a weak reference to a strong one; NULL: it is too late. */
static tensor_impl *impl_lock(tensor_impl *t)
{
    if (t->strong == 0)
        return NULL;
    t->strong++;
    return t;
}

/* t += factor * other, as far as both go */
static void impl_add(tensor_impl *t, const tensor_impl *other, double factor)
{
    Py_ssize_t i;

    for (i = 0; i < t->size && i < other->size; i++)
        t->values[i] += factor * other->values[i];
}

/* ---- wrappers ---------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    tensor_impl *impl;              /* a weak reference, and if owns_impl a strong one; NULL while it is made */
    int owns_impl;                  /* state 2 */
    PyObject *dict, *weakrefs;
} Tensor;

static PyTypeObject TensorMeta, TensorType, ParameterType, HandleType;
#define IMPL(op) (((Tensor *)(op))->impl)

static int check_tensor(PyObject *op)
{
    if (PyObject_TypeCheck(op, &TensorType) && IMPL(op) != NULL && IMPL(op)->strong > 0)
        return 1;
    PyErr_Format(PyExc_TypeError, "expected a Tensor, got %R", op);
    return 0;
}

/* State 1 to 2: self takes over a strong reference. */
static void adopt(PyObject *self, tensor_impl *t)
{
    IMPL(self) = t;
    t->weak++;
    ((Tensor *)self)->owns_impl = 1;
    t->wrapper = self;
}

/* The wrapper of t, a new reference: made, or what it was before. */
static PyObject *wrap(tensor_impl *t)
{
    PyObject *self = t->wrapper;

    if (self == NULL) {
        self = TensorType.tp_alloc(&TensorType, 0);
        if (self != NULL) {
            t->strong++;
            adopt(self, t);
        }
        return self;
    }
    if (!t->owns_wrapper)
        return Py_NewRef(self);
    t->owns_wrapper = 0;            /* state 3 to 2: the tensor's reference to it goes to our caller */
    t->strong++;
    ((Tensor *)self)->owns_impl = 1;
    return self;
}

/* The last reference to self has gone. If C still has the tensor, self lives on as its property: state 2 to 3. */
static int try_resurrect(PyObject *self)
{
    tensor_impl *t = IMPL(self);

    if (t == NULL || !((Tensor *)self)->owns_impl || t->strong == 1)
        return 0;
    _Py_NewReference(self);         /* the tensor's */
    if (!PyObject_GC_IsTracked(self))
        PyObject_GC_Track(self);
    ((Tensor *)self)->owns_impl = 0;
    t->owns_wrapper = 1;
    t->strong--;
    return 1;
}

/* Does C have the tensor? In state 2 one strong reference is the wrapper's. In state 3 it is the other way round: one
   reference to the wrapper is the tensor's. So in both states wrapper and tensor have all but one from elsewhere. */
static int is_held_by_c(PyObject *self)
{
    return IMPL(self) != NULL && IMPL(self)->strong > 1;
}

/* The gradient whose wrapper self visits, for the reference that its tensor has to it; or NULL. */
static tensor_impl *visible_grad(PyObject *self)
{
    tensor_impl *grad = IMPL(self) != NULL ? IMPL(self)->grad : NULL;

    if (grad == NULL || grad->wrapper == NULL)
        return NULL;
#ifdef Py_tp_outside
    return grad;
#else
    /* CPython knows no counts but its own. So only a chain in which each owner is the only one can be visited. */
    return ((Tensor *)self)->owns_impl && !is_held_by_c(self) && grad->owns_wrapper && grad->strong == 1 ? grad : NULL;
#endif
}

#ifdef Py_tp_outside
/* The references that C has to the tensor hold the wrapper, too: but for those that tensor_traverse visits. */
static Py_ssize_t tensor_outside(PyObject *self)
{
    return is_held_by_c(self) ? IMPL(self)->strong - 1 : 0;
}
#endif

static int tensor_traverse(PyObject *self, visitproc visit, void *arg)
{
    const tensor_impl *grad = visible_grad(self);

    Py_VISIT(((Tensor *)self)->dict);
    if (grad != NULL)
        Py_VISIT(grad->wrapper);
    return 0;
}

static int tensor_clear(PyObject *self)
{
    tensor_impl *grad = visible_grad(self);

#ifndef Py_tp_outside
    if (is_held_by_c(self))         /* CPython takes self for garbage, but try_resurrect will bring it back */
        return 0;
#endif
    if (grad != NULL)
        IMPL(self)->grad = NULL;
    Py_CLEAR(((Tensor *)self)->dict);           /* it may run any code */
    if (grad != NULL)
        impl_release(grad);
    return 0;
}

/* Of all classes: see meta_init. */
static void tensor_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tensor_impl *t = IMPL(self);

    if (try_resurrect(self))
        return;
    PyObject_GC_UnTrack(self);
    if (((Tensor *)self)->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(((Tensor *)self)->dict);
    IMPL(self) = NULL;
    if (t != NULL) {
        t->wrapper = NULL;
        if (((Tensor *)self)->owns_impl)
            impl_release(t);
        impl_weak_release(t);
    }
    type->tp_free(self);
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        Py_DECREF(type);
}

/* Tensor(1, 2, 3); Parameter(t): one with the numbers of another tensor */
static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *first = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL, *self;
    int is_copy = first != NULL && PyObject_TypeCheck(first, &TensorType);
    tensor_impl *t = is_copy && !check_tensor(first) ? NULL : impl_new(is_copy ? IMPL(first)->size : PyTuple_GET_SIZE(args));
    Py_ssize_t i;

    if (t == NULL)
        return NULL;
    if (is_copy)
        impl_add(t, IMPL(first), 1);
    for (i = 0; !is_copy && i < t->size; i++)
        t->values[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(args, i));
    self = PyErr_Occurred() ? NULL : type->tp_alloc(type, 0);
    if (self != NULL)
        adopt(self, t);
    else
        impl_release(t);
    return self;
}

static int tensor_init(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    return 0;                       /* the arguments were for tp_new */
}

static PyObject *tensor_repr(PyObject *self)
{
    const tensor_impl *t = IMPL(self);
    char text[120] = "[";
    Py_ssize_t i;
    size_t used = 1;

    for (i = 0; t != NULL && t->values != NULL && i < t->size && used < sizeof text - 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i > 0 ? " %g" : "%g", t->values[i]);
    return PyUnicode_FromFormat("%s%s]", text, t != NULL && i < t->size ? " ..." : "");
}

static PyObject *get_grad(PyObject *self, void *Py_UNUSED(closure))
{
    return check_tensor(self) ? IMPL(self)->grad != NULL ? wrap(IMPL(self)->grad) : Py_NewRef(Py_None) : NULL;
}

static int set_grad(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    tensor_impl *old;

    if (!check_tensor(self) || (value != NULL && value != Py_None && !check_tensor(value)))
        return -1;
    old = IMPL(self)->grad;
    IMPL(self)->grad = value != NULL && value != Py_None ? impl_lock(IMPL(value)) : NULL;
    if (old != NULL)
        impl_release(old);
    return 0;
}

static PyObject *get_size(PyObject *self, void *Py_UNUSED(closure))
{
    return check_tensor(self) ? PyLong_FromSsize_t(IMPL(self)->size) : NULL;
}

/* Adds the gradient of the tensor's squared length, twice the tensor, to its gradient. This is where a
   tensor is made that nobody has looked at. */
static PyObject *tensor_backward(PyObject *self, PyObject *Py_UNUSED(none))
{
    tensor_impl *t = check_tensor(self) ? IMPL(self) : NULL;

    if (t == NULL || (t->grad == NULL && (t->grad = impl_new(t->size)) == NULL))
        return NULL;
    impl_add(t->grad, t, 2);
    Py_RETURN_NONE;
}

static PyGetSetDef tensor_getset[] = {
    { "grad", get_grad, set_grad, NULL, NULL }, { "size", get_size, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};
static PyMethodDef tensor_methods[] = { { "backward", tensor_backward, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

static PyTypeObject TensorType = {
    PyVarObject_HEAD_INIT(&TensorMeta, 0)
    .tp_name = "tensor.Tensor", .tp_basicsize = sizeof(Tensor), .tp_dealloc = tensor_dealloc, .tp_repr = tensor_repr,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = tensor_traverse,
    .tp_clear = tensor_clear, .tp_weaklistoffset = offsetof(Tensor, weakrefs), .tp_dictoffset = offsetof(Tensor, dict),
#ifdef Py_tp_outside
    .tp_outside = tensor_outside,
#endif
    .tp_methods = tensor_methods, .tp_getset = tensor_getset, .tp_new = tensor_new, .tp_init = tensor_init
};

static PyTypeObject ParameterType = {
    PyVarObject_HEAD_INIT(&TensorMeta, 0)
    .tp_name = "tensor.Parameter", .tp_basicsize = sizeof(Tensor), .tp_base = &TensorType,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = tensor_traverse,
    .tp_clear = tensor_clear
};

/* ---- the metatype --------------------------------------------------------------- */

static long made, classes;          /* objects that types were called for; classes that are alive */

static PyObject *meta_call(PyObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *op = PyType_Type.tp_call(type, args, kwargs);

    made += op != NULL;
    return op;
}

/* A class of a program was made. */
static int meta_init(PyObject *type, PyObject *args, PyObject *kwargs)
{
    if (PyType_Type.tp_init(type, args, kwargs) < 0)
        return -1;
    ((PyTypeObject *)(void *)type)->tp_dealloc = tensor_dealloc;
    classes++;
    return 0;
}

static void meta_dealloc(PyObject *type)
{
    classes--;
    PyType_Type.tp_dealloc(type);
}

static PyTypeObject TensorMeta = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tensor.TensorMeta", .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_call = meta_call,
    .tp_init = meta_init, .tp_dealloc = meta_dealloc
};

/* ---- weak handles ------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    tensor_impl *impl;              /* a weak reference */
} Handle;

/* handle(): the tensor, with the wrapper that it had or a new one; None: it has gone */
static PyObject *handle_call(PyObject *self, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    tensor_impl *t = impl_lock(((Handle *)self)->impl);
    PyObject *op = t != NULL ? wrap(t) : Py_NewRef(Py_None);

    if (t != NULL)
        impl_release(t);            /* the wrapper has it now */
    return op;
}

static void handle_dealloc(PyObject *self)
{
    impl_weak_release(((Handle *)self)->impl);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject HandleType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tensor.Handle", .tp_basicsize = sizeof(Handle), .tp_call = handle_call, .tp_dealloc = handle_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION
};

/* ---- functions ------------------------------------------------------------------------ */

/* add(a, b): a new tensor */
static PyObject *add(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    tensor_impl *t;
    PyObject *op;

    if (n != 2 || !check_tensor(args[0]) || !check_tensor(args[1]))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "add: expected two tensors");
    t = impl_new(IMPL(args[0])->size);
    if (t == NULL)
        return NULL;
    impl_add(t, IMPL(args[0]), 1);
    impl_add(t, IMPL(args[1]), 1);
    op = wrap(t);
    impl_release(t);
    return op;
}

/* weak(t): a handle that does not hold it */
static PyObject *weak(PyObject *Py_UNUSED(module), PyObject *op)
{
    Handle *handle = check_tensor(op) ? PyObject_New(Handle, &HandleType) : NULL;

    if (handle == NULL)
        return NULL;
    handle->impl = IMPL(op);
    handle->impl->weak++;
    return (PyObject *)handle;
}

/* grad_state(t): in which state is its gradient? Looks at it without making a wrapper. */
static PyObject *grad_state(PyObject *Py_UNUSED(module), PyObject *op)
{
    const tensor_impl *grad;

    if (!check_tensor(op))
        return NULL;
    grad = IMPL(op)->grad;
    return PyUnicode_FromString(grad == NULL ? "no gradient" : grad->wrapper == NULL ? "1: no wrapper"
                                : grad->owns_wrapper ? "3: tensor owns wrapper" : "2: wrapper owns tensor");
}

/* name_grad(t, name): C looks at the gradient, names it, and drops the wrapper again. */
static PyObject *name_grad(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n)
{
    PyObject *op;
    int result;

    if (n != 2 || !check_tensor(args[0]) || IMPL(args[0])->grad == NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "name_grad: expected a tensor with a gradient, and a name");
    op = wrap(IMPL(args[0])->grad);
    if (op == NULL)
        return NULL;
    result = PyObject_SetAttrString(op, "name", args[1]);
    Py_DECREF(op);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

/* counts(): tensors that are alive, objects made by calls, classes that are alive */
static PyObject *counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("(lll)", impls, made, classes);
}

static PyMethodDef functions[] = {
    { "add", (PyCFunction)(void (*)(void))add, METH_FASTCALL, NULL }, { "weak", weak, METH_O, NULL },
    { "grad_state", grad_state, METH_O, NULL },
    { "name_grad", (PyCFunction)(void (*)(void))name_grad, METH_FASTCALL, NULL }, { "counts", counts, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "tensor", .m_size = -1, .m_methods = functions };

PyMODINIT_FUNC PyInit_tensor(void)
{
    PyObject *module;

    TensorMeta.tp_base = &PyType_Type;
    if (PyType_Ready(&TensorMeta) < 0 || PyType_Ready(&HandleType) < 0 || (module = PyModule_Create(&definition)) == NULL)
        return NULL;
    if (PyModule_AddType(module, &TensorType) < 0 || PyModule_AddType(module, &ParameterType) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
