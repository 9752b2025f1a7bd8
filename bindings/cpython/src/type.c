/* type.c - types: made ready, made from specs and by calls; inheritance; looking up attributes.
 *
 * A static type is shared by all VMs of a process, so that nothing in it belongs to a VM: each VM
 * has a dict of its own for it (py_static), which is filled when it is first needed. */
#include "internal.h"

#include <stdint.h>

#define TYPE(op) ((PyTypeObject *)(void *)(op))
#define HEAP(op) ((PyHeapTypeObject *)(void *)(op))
#define OBJECT(type) ((PyObject *)(void *)(type))

/* ---- what the header calls -------------------------------------------------
 *
 * The header passes its heap, whose userdata is the VM. What slot_clear_weakrefs has found garbage is then
 * finalized, cleared or deallocated: the callbacks of the weak references come just before that. */

#define ENTER(heap) cvm *saved_vm = py_vm; py_vm = rrc_userdata(heap)
#define LEAVE() py_vm = saved_vm

/* The exception that is set stays set, and one that a slot leaves behind is reported. */
#define RUN_SLOT(name, call) \
    do { \
        PyObject *type = NULL, *value = NULL, *traceback = NULL; \
        if (PY->told != NULL) \
            py_call_back(); \
        if (PY->thread.curexc_type != NULL) \
            PyErr_Fetch(&type, &value, &traceback); \
        call; \
        if (PY->thread.curexc_type != NULL) \
            py_unraisable(name, NULL); \
        if (type != NULL) \
            PyErr_Restore(type, value, traceback); \
    } while (0)

static void slot_dealloc(rrc_heap *heap, rrc_object *ob)
{
    PyObject *op = (PyObject *)(void *)ob;
    ENTER(heap);

    RUN_SLOT("tp_dealloc", py_run_dealloc(op));
    LEAVE();
}

static int slot_clear(rrc_heap *heap, rrc_object *ob)
{
    PyObject *op = (PyObject *)(void *)ob;
    ENTER(heap);

    RUN_SLOT("tp_clear", Py_TYPE(op)->tp_clear(op));
    LEAVE();
    return 0;
}

static void slot_finalize(rrc_heap *heap, rrc_object *ob)
{
    PyObject *op = (PyObject *)(void *)ob;
    ENTER(heap);

    RUN_SLOT("tp_finalize", Py_TYPE(op)->tp_finalize(op));
    LEAVE();
}

static void slot_clear_weakrefs(rrc_heap *heap, rrc_object *ob)
{
    ENTER(heap);

    py_tell_weakrefs((PyObject *)(void *)ob);
    LEAVE();
}

static intptr_t slot_outside(rrc_heap *heap, rrc_object *ob)
{
    PyObject *op = (PyObject *)(void *)ob;
    (void)heap;
    return Py_TYPE(op)->tp_outside(op);
}

/* Where the VM keeps the dict and the weak references of objects, if it chooses the place. Returns the bytes of an
   object. */
static Py_ssize_t place_managed(PyTypeObject *type)
{
    const Py_ssize_t word = (Py_ssize_t)sizeof(PyObject *);
    Py_ssize_t at = (type->tp_basicsize + word - 1) / word * word;
    if (!PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT | Py_TPFLAGS_MANAGED_WEAKREF))
        return type->tp_basicsize;
    if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)) {
        type->tp_dictoffset = at;
        at += word;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_WEAKREF)) {
        type->tp_weaklistoffset = at;
        at += word;
    }
    return at;
}

static void tell_header(PyTypeObject *type)
{
    rrc_type *rrc = &type->ob_base.rrc;
    rrc->tp_name = type->tp_name;
    rrc->tp_basicsize = (size_t)place_managed(type);
    rrc->tp_itemsize = (size_t)type->tp_itemsize;
    rrc->tp_flags = PyType_IS_GC(type) ? RRC_TPFLAGS_HAVE_GC : 0;
    rrc->tp_dealloc = type->tp_dealloc != NULL && type->tp_dealloc != (destructor)(void (*)(void))PyObject_Free ? slot_dealloc : NULL;
    rrc->tp_traverse = (int (*)(rrc_object *, rrc_visitproc, void *))(void (*)(void))type->tp_traverse;
    rrc->tp_clear = type->tp_clear != NULL ? slot_clear : NULL;
    rrc->tp_finalize = type->tp_finalize != NULL ? slot_finalize : NULL;
    rrc->tp_clear_weakrefs = type->tp_weaklistoffset > 0 || PyType_IsSubtype(type, &_PyWeakref_RefType) || type == &_PyWeakref_ProxyType
                          || type == &_PyWeakref_CallableProxyType ? slot_clear_weakrefs : NULL;
    rrc->tp_outside = type->tp_outside != NULL ? slot_outside : NULL;
    type->ob_base.spare = py_spare_kind(type);
}

/* ---- the order of lookups --------------------------------------------------- */

/* Static types have tuples that all VMs share, unless one of their bases is made at run time: the chain of bases stands
   for both. */
static PyTypeObject *mro_at(PyTypeObject *type, Py_ssize_t i)
{
    if (type->tp_mro != NULL)
        return i < PyTuple_GET_SIZE(type->tp_mro) ? TYPE(PyTuple_GET_ITEM(type->tp_mro, i)) : NULL;
    while (type != NULL && i-- > 0)
        type = type->tp_base;
    return type;
}

/* The first n of the chain that begins with type, which are static, in a tuple that stays. NULL: no memory. */
static PyObject *static_tuple(PyTypeObject *type, Py_ssize_t n)
{
    PyTupleObject *op = calloc(1, sizeof(PyTupleObject) + (size_t)n * sizeof(PyObject *));
    Py_ssize_t i;
    if (op == NULL)
        return NULL;
    op->ob_base = (PyVarObject){ PyObject_HEAD_INIT(&PyTuple_Type) n };
    op->filled = op->seen = 1;
    for (i = 0; i < n; i++, type = type->tp_base)
        op->ob_item[i] = OBJECT(type);
    return _PyObject_CAST(op);
}

static int add_tuples(PyTypeObject *type)
{
    Py_ssize_t n = 0;
    PyTypeObject *t;
    for (t = type; t != NULL && !PyType_HasFeature(t, Py_TPFLAGS_HEAPTYPE); t = t->tp_base)
        n++;
    if (t != NULL)
        return 1;
    if (type->tp_bases == NULL)
        type->tp_bases = static_tuple(type->tp_base, n > 1);
    if (type->tp_mro == NULL)
        type->tp_mro = static_tuple(type, n);
    if (type->tp_bases == NULL || type->tp_mro == NULL)
        PyErr_NoMemory();
    return type->tp_bases != NULL && type->tp_mro != NULL;
}

PyObject *py_type_mro(PyTypeObject *type)
{
    PyObject *list = py_ready_type(type) ? PyList_New(0) : NULL, *mro;
    PyTypeObject *t;
    Py_ssize_t i;
    for (i = 0; list != NULL && (t = mro_at(type, i)) != NULL; i++)
        if (PyList_Append(list, OBJECT(t)) < 0)
            Py_CLEAR(list);
    mro = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return mro;
}

static int in_tail(PyObject *list, PyObject *x)
{
    Py_ssize_t i;
    for (i = 1; i < PyList_GET_SIZE(list); i++)
        if (PyList_GET_ITEM(list, i) == x)
            return 1;
    return 0;
}

/* The C3 order of a type with these bases: a list, which the type itself begins. */
static PyObject *linearize(PyTypeObject *type, PyObject *bases)
{
    PyObject *result = PyList_New(0), *lists = PyList_New(0), *list;
    Py_ssize_t i, k;
    for (i = 0; lists != NULL && i < PyTuple_GET_SIZE(bases); i++) {
        PyObject *mro = py_type_mro(TYPE(PyTuple_GET_ITEM(bases, i)));
        list = mro != NULL ? PySequence_List(mro) : NULL;
        if (list == NULL || PyList_Append(lists, list) < 0)
            Py_CLEAR(lists);
        Py_XDECREF(list);
        Py_XDECREF(mro);
    }
    list = lists != NULL ? PySequence_List(bases) : NULL;
    if (list == NULL || result == NULL || PyList_Append(lists, list) < 0 || PyList_Append(result, OBJECT(type)) < 0)
        goto failed;
    for (;;) {
        PyObject *next = NULL;
        int left = 0;
        for (i = 0; next == NULL && i < PyList_GET_SIZE(lists); i++) {
            if (PyList_GET_SIZE(PyList_GET_ITEM(lists, i)) == 0)
                continue;
            left = 1;
            next = PyList_GET_ITEM(PyList_GET_ITEM(lists, i), 0);
            for (k = 0; next != NULL && k < PyList_GET_SIZE(lists); k++)
                if (in_tail(PyList_GET_ITEM(lists, k), next))
                    next = NULL;
        }
        if (!left)
            break;
        if (next == NULL) {
            PyErr_SetString(PyExc_TypeError, "Cannot create a consistent method resolution order (MRO) for bases");
            goto failed;
        }
        if (PyList_Append(result, next) < 0)
            goto failed;
        for (i = 0; i < PyList_GET_SIZE(lists); i++) {
            PyObject *each = PyList_GET_ITEM(lists, i);
            if (PyList_GET_SIZE(each) > 0 && PyList_GET_ITEM(each, 0) == next && PyList_SetSlice(each, 0, 1, NULL) < 0)
                goto failed;
        }
    }
    Py_DECREF(list);
    Py_DECREF(lists);
    return result;
failed:
    Py_XDECREF(list);
    Py_XDECREF(lists);
    Py_XDECREF(result);
    return NULL;
}

int PyType_IsSubtype(PyTypeObject *type, PyTypeObject *base)
{
    Py_ssize_t i;
    PyTypeObject *t;
    for (i = 0; (t = mro_at(type, i)) != NULL; i++)
        if (t == base)
            return 1;
    return base == &PyBaseObject_Type;          /* also of types that are not ready, whose chain ends early */
}

/* ---- inheritance ------------------------------------------------------------ */

/* Fill the NULLs among n pointers. */
static void inherit_pointers(void *to, const void *from, size_t size)
{
    void **slots = to;
    void *const *others = from;
    size_t i;

    for (i = 0; from != NULL && i < size / sizeof *slots; i++)
        if (slots[i] == NULL)
            slots[i] = others[i];
}

#define INHERIT(field) if (type->field == 0) type->field = base->field
#define INHERIT_GROUP(field, kind) \
    if (type->field == NULL) \
        type->field = base->field; \
    else if (type->field != base->field) \
        inherit_pointers(type->field, base->field, sizeof(kind))

static void inherit(PyTypeObject *type, PyTypeObject *base)
{
    if (!PyType_IS_GC(type) && PyType_IS_GC(base) && type->tp_traverse == NULL && type->tp_clear == NULL) {
        type->tp_flags |= Py_TPFLAGS_HAVE_GC;
        type->tp_traverse = base->tp_traverse;
        type->tp_clear = base->tp_clear;
    }
    INHERIT(tp_basicsize);
    INHERIT(tp_itemsize);
    INHERIT(tp_weaklistoffset);
    INHERIT(tp_dictoffset);
    if (type->tp_vectorcall_offset == 0 && type->tp_call == NULL) {
        type->tp_vectorcall_offset = base->tp_vectorcall_offset;
        type->tp_flags |= base->tp_flags & Py_TPFLAGS_HAVE_VECTORCALL;
    }
    type->tp_flags |= base->tp_flags & (Py_TPFLAGS_MANAGED_DICT | Py_TPFLAGS_MANAGED_WEAKREF | Py_TPFLAGS_ITEMS_AT_END
        | Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS
        | Py_TPFLAGS_BYTES_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS
        | Py_TPFLAGS_BASE_EXC_SUBCLASS | Py_TPFLAGS_TYPE_SUBCLASS);
    INHERIT(tp_dealloc);
    if (type->tp_getattr == NULL && type->tp_getattro == NULL) {
        type->tp_getattr = base->tp_getattr;
        type->tp_getattro = base->tp_getattro;
    }
    if (type->tp_setattr == NULL && type->tp_setattro == NULL) {
        type->tp_setattr = base->tp_setattr;
        type->tp_setattro = base->tp_setattro;
    }
    INHERIT(tp_repr);
    INHERIT(tp_str);
    INHERIT(tp_call);
    if (type->tp_richcompare == NULL && type->tp_hash == NULL) {
        type->tp_richcompare = base->tp_richcompare;
        type->tp_hash = base->tp_hash;
    }
    INHERIT(tp_iter);
    INHERIT(tp_iternext);
    INHERIT(tp_descr_get);
    INHERIT(tp_descr_set);
    INHERIT(tp_init);
    INHERIT(tp_alloc);
    INHERIT(tp_finalize);
    INHERIT(tp_outside);
    INHERIT(tp_is_gc);
    if (type->tp_free == NULL)
        type->tp_free = PyType_IS_GC(type) ? PyObject_GC_Del : base->tp_free;
    INHERIT_GROUP(tp_as_number, PyNumberMethods);
    INHERIT_GROUP(tp_as_sequence, PySequenceMethods);
    INHERIT_GROUP(tp_as_mapping, PyMappingMethods);
    INHERIT_GROUP(tp_as_buffer, PyBufferProcs);
    INHERIT_GROUP(tp_as_async, PyAsyncMethods);
}

/* tp_dict of a static type is for code that looks there: it is that of the VM which came last.
   (While a VM starts, the types that a dict needs are not there yet.) */
static int tell_vm(PyTypeObject *type)
{
    if (PY->modules == NULL || (type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return 0;
    type->tp_dict = py_type_dict(type);
    return type->tp_dict != NULL ? 0 : -1;
}

int py_ready_type(PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_READY) != 0 || PyType_Ready(type) == 0;
}

int py_ready(PyObject *op)
{
    return Py_TYPE(op) != NULL ? py_ready_type(Py_TYPE(op)) && (!PyType_Check(op) || py_ready_type(TYPE(op))) : PyType_Ready(TYPE(op)) == 0;
}

/* What would go wrong later, without a reason that anybody could see. */
static int check_type(const PyTypeObject *type)
{
    const PyTypeObject *base = type->tp_base;
    if (base != NULL && type->tp_basicsize < base->tp_basicsize) {
        PyErr_Format(PyExc_SystemError, "tp_basicsize of type '%.200s' is %zd, but its base '%.200s' has %zd bytes", type->tp_name,
                     type->tp_basicsize, base->tp_name, base->tp_basicsize);
        return -1;
    }
    if (PyType_IS_GC(type) && type->tp_traverse == NULL) {
        PyErr_Format(PyExc_SystemError, "type '%.200s' has Py_TPFLAGS_HAVE_GC, but no tp_traverse", type->tp_name);
        return -1;
    }
    if (type->tp_itemsize != 0 && PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT | Py_TPFLAGS_MANAGED_WEAKREF)) {
        PyErr_Format(PyExc_SystemError, "type '%.200s' has items: it cannot have Py_TPFLAGS_MANAGED_DICT or "
                     "Py_TPFLAGS_MANAGED_WEAKREF", type->tp_name);
        return -1;
    }
    return 0;
}

static PyObject *linearize(PyTypeObject *type, PyObject *bases);
static int fill_dict(PyTypeObject *type, PyObject *dict);

/* A heap type that C made by hand: by the tp_alloc of a metatype. It has set some fields. */
static int complete(PyTypeObject *type)
{
    PyHeapTypeObject *ht = HEAP(type);
    PyObject *order;
    type->tp_as_async = &ht->as_async;
    type->tp_as_number = &ht->as_number;
    type->tp_as_mapping = &ht->as_mapping;
    type->tp_as_sequence = &ht->as_sequence;
    type->tp_as_buffer = &ht->as_buffer;
    if (type->tp_base == NULL)
        type->tp_base = (PyTypeObject *)(void *)Py_NewRef(type->tp_bases != NULL ? PyTuple_GET_ITEM(type->tp_bases, 0) : OBJECT(&PyBaseObject_Type));
    if (type->tp_bases == NULL)
        type->tp_bases = PyTuple_Pack(1, OBJECT(type->tp_base));
    if (ht->ht_name == NULL)
        ht->ht_name = PyUnicode_FromString(type->tp_name);
    if (ht->ht_qualname == NULL)
        ht->ht_qualname = Py_XNewRef(ht->ht_name);
    type->tp_dict = PyDict_New();
    order = type->tp_bases != NULL ? linearize(type, type->tp_bases) : NULL;
    type->tp_mro = order != NULL ? PyList_AsTuple(order) : NULL;
    Py_XDECREF(order);
    return type->tp_mro != NULL && ht->ht_name != NULL && type->tp_dict != NULL ? 0 : -1;
}

int PyType_Ready(PyTypeObject *type)
{
    Py_ssize_t i;
    int by_hand;
    PyTypeObject *base;
    if (OBJECT(type)->ob_refcnt >= RRC_REFCNT_IMMORTAL)
        type->tp_flags &= ~Py_TPFLAGS_HEAPTYPE;         /* Cython sets it meanwhile, so that CPython allows any base */
    if (type->tp_flags & Py_TPFLAGS_READY)
        return tell_vm(type);
    if (type->tp_name == NULL) {
        PyErr_SetString(PyExc_SystemError, "a type without a tp_name is not complete: is it initialized?");
        return -1;
    }
    by_hand = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && type->tp_dict == NULL;
    if (by_hand && complete(type) < 0)
        return -1;
    if (type->tp_base == NULL && type != &PyBaseObject_Type)
        type->tp_base = &PyBaseObject_Type;
    if (type->tp_base != NULL && PyType_Ready(type->tp_base) < 0)
        return -1;
    if (Py_TYPE(type) == NULL)
        Py_SET_TYPE(type, type->tp_base != NULL ? Py_TYPE(type->tp_base) : &PyType_Type);
    if (type->tp_new == NULL && type->tp_base != NULL && !(type->tp_flags & Py_TPFLAGS_DISALLOW_INSTANTIATION)
        && (type->tp_base != &PyBaseObject_Type || (type->tp_flags & Py_TPFLAGS_HEAPTYPE)))
        type->tp_new = type->tp_base->tp_new;
    for (i = 1; (base = mro_at(type, i)) != NULL; i++)
        inherit(type, base);
    if (check_type(type) < 0)
        return -1;
    if (type->tp_hash == NULL)
        type->tp_hash = PyObject_HashNotImplemented;
    if (!add_tuples(type))
        return -1;
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        OBJECT(type)->ob_refcnt = _PyObject_IMMORTAL;       /* also if its initializer does not say so */
    tell_header(type);
    type->tp_flags |= Py_TPFLAGS_READY;
    if (by_hand && fill_dict(type, type->tp_dict) < 0)
        return -1;
    return py_ready_type(Py_TYPE(type)) ? tell_vm(type) : -1;
}

/* ---- the dict ----------------------------------------------------------------- */

static int add(PyObject *dict, const char *name, PyObject *value)
{
    int code = -1;
    if (value != NULL)
        code = PyDict_GetItemString(dict, name) != NULL ? 0 : PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return code;
}

static int fill_dict(PyTypeObject *type, PyObject *dict)
{
    PyMethodDef *m;
    PyGetSetDef *g;
    PyMemberDef *f;
    for (m = type->tp_methods; m != NULL && m->ml_name != NULL; m++) {
        PyObject *value;
        if (m->ml_flags & METH_CLASS) {
            value = PyDescr_NewClassMethod(type, m);
        } else if (m->ml_flags & METH_STATIC) {
            PyObject *function = PyCFunction_NewEx(m, NULL, NULL);
            value = function != NULL ? PyStaticMethod_New(function) : NULL;
            Py_XDECREF(function);
        } else {
            value = PyDescr_NewMethod(type, m);
        }
        if (add(dict, m->ml_name, value) < 0)
            return -1;
    }
    for (g = type->tp_getset; g != NULL && g->name != NULL; g++)
        if (add(dict, g->name, PyDescr_NewGetSet(type, g)) < 0)
            return -1;
    for (f = type->tp_members; f != NULL && f->name != NULL; f++)
        if (add(dict, f->name, PyDescr_NewMember(type, f)) < 0)
            return -1;
    if (add(dict, "__doc__", py_doc(type->tp_name, type->tp_doc)) < 0)
        return -1;
    return py_add_slot_wrappers(type, dict);
}

PyObject *py_type_dict(PyTypeObject *type)
{
    py_static *s;
    PyObject *dict;
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return type->tp_dict;
    s = py_static_of(OBJECT(type));
    if (s == NULL)
        return PyErr_NoMemory();
    if (s->dict != NULL)
        return s->dict;
    dict = PyDict_New();
    if (dict == NULL)
        return NULL;
    py_static_of(OBJECT(type))->dict = dict;
    if (fill_dict(type, dict) == 0)
        return dict;
    py_static_of(OBJECT(type))->dict = NULL;
    py_forget_lookups(py_vm);
    Py_DECREF(dict);
    return NULL;
}

/* Dicts are watched before they are searched, as a search can run code that changes them. */
static PyObject *look_up(PyTypeObject *type, PyObject *name)
{
    Py_ssize_t i;
    PyTypeObject *t;
    for (i = 0; (t = mro_at(type, i)) != NULL; i++) {
        PyObject *dict = py_type_dict(t), *value;
        cvm_value d = dict != NULL ? py_host_of(dict) : CVM_NONE;
        if (d == CVM_NONE)
            return NULL;
        CVM_DICT_OF(d)->watched = 1;
        value = PyDict_GetItemWithError(dict, name);
        if (value != NULL)
            return value;
        if (PyErr_Occurred())
            return NULL;
    }
    return NULL;
}

PyObject *_PyType_Lookup(PyTypeObject *type, PyObject *name)
{
    py_state *py = PY;
    size_t changes = py->changes;
    py_lookup *known = &py->lookup[((uintptr_t)type / 32 + (uintptr_t)name / 16) % (sizeof py->lookup / sizeof *known)];
    PyObject *value;
    if (known->type == type && known->name == name && known->changes == changes) {
        if (known->value != NULL)
            rrc_touch(py_vm->rrc, _Py_RRC(known->value));
        return known->value;
    }
    if (!py_ready_type(type))
        return NULL;
    changes = py->changes;
    value = look_up(type, name);
    if (PyUnicode_CheckExact(name) && ((PyUnicodeObject *)(void *)name)->interned && (value != NULL || !PyErr_Occurred())
        && !py->ended)
        *known = (py_lookup){ type, name, value, changes };
    return value;
}

void PyType_Modified(PyTypeObject *type)
{
    (void)type;
    py_forget_lookups(py_vm);
}

/* ---- making types ---------------------------------------------------------------- */

static PyObject **slot_of(PyObject *op, PyTypeObject *type, Py_ssize_t i)
{
    return (PyObject **)(void *)((char *)op + HEAP(type)->slots[i].offset);
}

static void clear_slots(PyObject *op, PyTypeObject *type)
{
    Py_ssize_t i;
    for (i = 0; i < HEAP(type)->slot_count; i++)
        Py_CLEAR(*slot_of(op, type, i));
}

static void subtype_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op), *base = type;
    PyObject **dict;
    if (PyType_IS_GC(type))
        PyObject_GC_UnTrack(op);
    while (base->tp_dealloc == subtype_dealloc)
        base = base->tp_base;
    if (type->tp_weaklistoffset > 0 && base->tp_weaklistoffset == 0)
        PyObject_ClearWeakRefs(op);
    for (base = type; base->tp_dealloc == subtype_dealloc; base = base->tp_base)
        clear_slots(op, base);
    if (base->tp_dictoffset == 0 && (dict = _PyObject_GetDictPtr(op)) != NULL)
        Py_CLEAR(*dict);
    if (base->tp_dealloc != NULL)
        base->tp_dealloc(op);
    else
        type->tp_free(op);
    if (!(base->tp_flags & Py_TPFLAGS_HEAPTYPE))        /* else base's dealloc has dropped the type */
        Py_DECREF(type);
}

static int subtype_traverse(PyObject *op, visitproc visit, void *arg)
{
    PyTypeObject *type = Py_TYPE(op), *base;
    PyObject **dict = _PyObject_GetDictPtr(op);
    Py_ssize_t i;
    for (base = type; base->tp_traverse == subtype_traverse; base = base->tp_base)
        for (i = 0; i < HEAP(base)->slot_count; i++)
            Py_VISIT(*slot_of(op, base, i));
    if (dict != NULL && base->tp_dictoffset == 0)
        Py_VISIT(*dict);
    if (!(base->tp_flags & Py_TPFLAGS_HEAPTYPE) || base->tp_traverse == NULL)
        Py_VISIT(OBJECT(type));
    return base->tp_traverse != NULL ? base->tp_traverse(op, visit, arg) : 0;
}

static int subtype_clear(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op), *base;
    PyObject **dict = _PyObject_GetDictPtr(op);
    for (base = type; base->tp_clear == subtype_clear; base = base->tp_base)
        clear_slots(op, base);
    if (dict != NULL && base->tp_dictoffset == 0)
        Py_CLEAR(*dict);
    return base->tp_clear != NULL ? base->tp_clear(op) : 0;
}

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = PyMem_Malloc(n);
    if (copy != NULL)
        memcpy(copy, text, n);
    else
        PyErr_NoMemory();
    return copy;
}

/* Do objects of the type have fields that those of its base lack, besides the dict and weak references that a class
   adds at the end? */
static int has_fields(const PyTypeObject *type, const PyTypeObject *base)
{
    Py_ssize_t size = type->tp_basicsize;
    if (type->tp_itemsize != base->tp_itemsize)
        return 1;
    if (type->tp_weaklistoffset > 0 && base->tp_weaklistoffset == 0 && type->tp_weaklistoffset == size - (Py_ssize_t)sizeof(PyObject *))
        size = type->tp_weaklistoffset;
    if (type->tp_dictoffset > 0 && base->tp_dictoffset == 0 && type->tp_dictoffset == size - (Py_ssize_t)sizeof(PyObject *))
        size = type->tp_dictoffset;
    return size != base->tp_basicsize;
}

/* The type or the base that gives objects their fields. */
static PyTypeObject *layout_of(PyTypeObject *type)
{
    while (type->tp_base != NULL && !has_fields(type, type->tp_base))
        type = type->tp_base;
    return type;
}

/* The first base whose layout extends those of all others; NULL: they do not fit. */
static PyTypeObject *best_base(PyObject *bases)
{
    PyTypeObject *best = NULL, *layout, *best_layout = NULL;
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *base = TYPE(PyTuple_GET_ITEM(bases, i));
        if (!py_ready(OBJECT(base)) || !PyType_Check(OBJECT(base))) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "bases must be types");
            return NULL;
        }
        if (!(base->tp_flags & Py_TPFLAGS_BASETYPE)) {
            PyErr_Format(PyExc_TypeError, "type '%.100s' is not an acceptable base type", base->tp_name);
            return NULL;
        }
        layout = layout_of(base);
        if (best == NULL || (layout != best_layout && PyType_IsSubtype(layout, best_layout))) {
            best = base;
            best_layout = layout;
        } else if (!PyType_IsSubtype(best_layout, layout)) {
            PyErr_SetString(PyExc_TypeError, "multiple bases have instance lay-out conflict");
            return NULL;
        }
    }
    return best;
}

/* A heap type, not yet ready: named, with bases and an empty dict. Takes no reference over. */
static PyHeapTypeObject *heap_type(PyTypeObject *metatype, const char *name, PyObject *bases)
{
    PyTypeObject *base = best_base(bases), *type;
    PyHeapTypeObject *ht = base != NULL ? (PyHeapTypeObject *)(void *)metatype->tp_alloc(metatype, 0) : NULL;
    const char *dot = strrchr(name, '.');
    PyObject *order;
    if (ht == NULL)
        return NULL;
    type = &ht->ht_type;
    type->tp_flags = Py_TPFLAGS_HEAPTYPE;
    type->tp_as_async = &ht->as_async;
    type->tp_as_number = &ht->as_number;
    type->tp_as_mapping = &ht->as_mapping;
    type->tp_as_sequence = &ht->as_sequence;
    type->tp_as_buffer = &ht->as_buffer;
    ht->name_text = copy_text(name);
    type->tp_name = ht->name_text != NULL ? ht->name_text : "?";
    type->tp_base = (PyTypeObject *)(void *)Py_NewRef(base);
    type->tp_bases = Py_NewRef(bases);
    ht->ht_name = PyUnicode_FromString(dot != NULL ? dot + 1 : name);
    ht->ht_qualname = Py_XNewRef(ht->ht_name);
    type->tp_dict = PyDict_New();
    order = linearize(type, bases);
    type->tp_mro = order != NULL ? PyList_AsTuple(order) : NULL;
    Py_XDECREF(order);
    if (ht->name_text == NULL || ht->ht_name == NULL || type->tp_dict == NULL || type->tp_mro == NULL) {
        Py_DECREF(ht);
        return NULL;
    }
    return ht;
}

/* Objects of the type are laid out as those of the base, with room behind for a dict and weak references. */
static void extend(PyTypeObject *type, int wants_dict, int wants_weakrefs)
{
    const PyTypeObject *base = type->tp_base;
    if (type->tp_basicsize == 0)
        type->tp_basicsize = base->tp_basicsize;
    type->tp_itemsize = type->tp_itemsize != 0 ? type->tp_itemsize : base->tp_itemsize;
    if (type->tp_itemsize != 0)
        wants_dict = wants_weakrefs = 0;        /* the items stand there */
    if (wants_dict && base->tp_dictoffset == 0 && type->tp_dictoffset == 0) {
        type->tp_dictoffset = type->tp_basicsize;
        type->tp_basicsize += (Py_ssize_t)sizeof(PyObject *);
    }
    if (wants_weakrefs && base->tp_weaklistoffset == 0 && type->tp_weaklistoffset == 0) {
        type->tp_weaklistoffset = type->tp_basicsize;
        type->tp_basicsize += (Py_ssize_t)sizeof(PyObject *);
    }
}

/* ---- __slots__ ---- */

static int is_identifier(PyObject *name)
{
    Py_ssize_t i, n = PyUnicode_GET_LENGTH(name);
    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(name, i);
        if (!(c == '_' || c >= 128 || (c < 128 && (i > 0 ? isalnum((int)c) : isalpha((int)c)))))
            return 0;
    }
    return n > 0;
}

/* The attribute that `name` means in the class: `__x` is private. A new string; NULL after a failure. */
static char *mangled(const char *class_name, const char *name)
{
    size_t n = strlen(name);
    char *text;
    class_name += strspn(class_name, "_");
    if (strncmp(name, "__", 2) != 0 || (n >= 2 && strcmp(name + n - 2, "__") == 0) || *class_name == '\0')
        return copy_text(name);
    text = PyMem_Malloc(strlen(class_name) + n + 2);
    if (text != NULL)
        sprintf(text, "_%s%s", class_name, name);
    else
        PyErr_NoMemory();
    return text;
}

/* `__slots__` of a class names the fields of its objects. Without "__dict__" and "__weakref__" among them, objects have
   only the dict and the weak references that the base gives them. Returns 0 after a failure. */
static int add_slots(PyHeapTypeObject *ht, PyObject *dict, PyObject *slots)
{
    PyTypeObject *type = &ht->ht_type;
    const PyTypeObject *base = type->tp_base;
    PyObject *names = PyUnicode_Check(slots) ? PyTuple_Pack(1, slots) : PySequence_Tuple(slots);
    Py_ssize_t n = names != NULL ? PyTuple_GET_SIZE(names) : 0, i;
    int wants_dict = 0, wants_weakrefs = 0;
    if (names != NULL && n > 0 && base->tp_itemsize != 0)
        PyErr_Format(PyExc_TypeError, "nonempty __slots__ not supported for subtype of '%s'", base->tp_name);
    else if (n > 0 && (ht->slots = PyMem_Calloc((size_t)n, sizeof *ht->slots)) == NULL)
        PyErr_NoMemory();
    type->tp_basicsize = (base->tp_basicsize + (Py_ssize_t)sizeof(PyObject *) - 1) / (Py_ssize_t)sizeof(PyObject *) * (Py_ssize_t)sizeof(PyObject *);
    for (i = 0; i < n && !PyErr_Occurred(); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        PyMemberDef *slot = &ht->slots[ht->slot_count];
        if (!PyUnicode_Check(name)) {
            PyErr_Format(PyExc_TypeError, "__slots__ items must be strings, not '%.200s'", Py_TYPE(name)->tp_name);
        } else if (text != NULL && !is_identifier(name)) {
            PyErr_SetString(PyExc_TypeError, "__slots__ must be identifiers");
        } else if (text != NULL && strcmp(text, "__dict__") == 0) {
            if (wants_dict || base->tp_dictoffset != 0)
                PyErr_SetString(PyExc_TypeError, "__dict__ slot disallowed: we already got one");
            wants_dict = 1;
        } else if (text != NULL && strcmp(text, "__weakref__") == 0) {
            if (wants_weakrefs || base->tp_weaklistoffset != 0)
                PyErr_SetString(PyExc_TypeError, "__weakref__ slot disallowed: we already got one");
            wants_weakrefs = 1;
        } else if (text != NULL && (slot->name = mangled(type->tp_name, text)) != NULL) {
            slot->type = T_OBJECT_EX;
            slot->offset = type->tp_basicsize;
            type->tp_basicsize += (Py_ssize_t)sizeof(PyObject *);
            ht->slot_count++;
            if (PyDict_GetItemString(dict, slot->name) != NULL)
                PyErr_Format(PyExc_ValueError, "'%s' in __slots__ conflicts with class variable", slot->name);
        }
    }
    Py_XDECREF(names);
    if (PyErr_Occurred())
        return 0;
    extend(type, wants_dict, wants_weakrefs);
    return 1;
}

static void set_slot(PyHeapTypeObject *ht, int slot, void *value)
{
    PyTypeObject *type = &ht->ht_type;
#define tp(name) type->tp_##name
#define nb(name) ht->as_number.nb_##name
#define sq(name) ht->as_sequence.sq_##name
#define mp(name) ht->as_mapping.mp_##name
#define bf(name) ht->as_buffer.bf_##name
#define am(name) ht->as_async.am_##name
#define CPY_SET_SLOT(group, name) case Py_##group##_##name: memcpy(&group(name), &value, sizeof value); break;
    switch (slot) {
        CPY_SLOTS(CPY_SET_SLOT)
    }
}

void *PyType_GetSlot(PyTypeObject *type, int slot)
{
    void *value = NULL;
#undef nb
#undef sq
#undef mp
#undef bf
#undef am
#define GET(group, kind, field) (type->group != NULL ? (const void *)&((kind *)type->group)->field : (const void *)&none)
#define nb(name) GET(tp_as_number, PyNumberMethods, nb_##name)
#define sq(name) GET(tp_as_sequence, PySequenceMethods, sq_##name)
#define mp(name) GET(tp_as_mapping, PyMappingMethods, mp_##name)
#define bf(name) GET(tp_as_buffer, PyBufferProcs, bf_##name)
#define am(name) GET(tp_as_async, PyAsyncMethods, am_##name)
#undef tp
#define tp(name) ((const void *)&type->tp_##name)
#define CPY_GET_SLOT(group, name) case Py_##group##_##name: memcpy(&value, group(name), sizeof value); break;
    static const void *const none = NULL;
    switch (slot) {
        CPY_SLOTS(CPY_GET_SLOT)
    }
    return value;
}

/* Where the fields begin that a spec adds to those of its base. */
static Py_ssize_t data_offset(const PyTypeObject *base)
{
    return (base->tp_basicsize + 15) / 16 * 16;
}

/* tp_basicsize of a type from a spec, and the offsets of its members. 0 after a failure. */
static int lay_out(PyHeapTypeObject *ht, const PyType_Spec *spec)
{
    PyTypeObject *type = &ht->ht_type;
    const PyTypeObject *base = type->tp_base;
    const PyMemberDef *m;
    Py_ssize_t n = 0, relative = 0, i;
    for (m = type->tp_members; m != NULL && m->name != NULL; m++, n++)
        relative += (m->flags & Py_RELATIVE_OFFSET) != 0;
    type->tp_basicsize = spec->basicsize >= 0 ? spec->basicsize : data_offset(base) + (15 - (Py_ssize_t)spec->basicsize) / 16 * 16;
    if (spec->basicsize < 0 && base->tp_itemsize != 0 && !PyType_HasFeature(base, Py_TPFLAGS_ITEMS_AT_END)) {
        PyErr_SetString(PyExc_SystemError, "Cannot extend variable-size class without Py_TPFLAGS_ITEMS_AT_END.");
        return 0;
    }
    if (relative > 0 && spec->basicsize >= 0) {
        PyErr_SetString(PyExc_SystemError, "With Py_RELATIVE_OFFSET, basicsize must be negative.");
        return 0;
    }
    if (relative == 0)
        return 1;
    ht->members = PyMem_Calloc((size_t)n + 1, sizeof *ht->members);
    if (ht->members == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (i = 0; i < n; i++) {
        ht->members[i] = type->tp_members[i];
        if (ht->members[i].flags & Py_RELATIVE_OFFSET)
            ht->members[i].offset += data_offset(base);
        ht->members[i].flags &= ~Py_RELATIVE_OFFSET;
    }
    type->tp_members = ht->members;
    return 1;
}

PyObject *PyType_FromModuleAndSpec(PyObject *module, PyType_Spec *spec, PyObject *bases)
{
    PyObject *all = NULL;
    PyHeapTypeObject *ht;
    PyTypeObject *type;
    const PyType_Slot *slot;
    const char *dot;
    if (spec->name == NULL)
        return PyErr_Format(PyExc_SystemError, "a PyType_Spec has no name");
    dot = strrchr(spec->name, '.');
    for (slot = spec->slots; bases == NULL && slot->slot != 0; slot++)
        if (slot->slot == Py_tp_base || slot->slot == Py_tp_bases)
            bases = slot->pfunc;
    if (bases != NULL && !py_ready(bases))
        return NULL;
    all = bases == NULL ? PyTuple_Pack(1, OBJECT(&PyBaseObject_Type)) : PyTuple_Check(bases) ? Py_NewRef(bases) : PyTuple_Pack(1, bases);
    ht = all != NULL ? heap_type(&PyType_Type, spec->name, all) : NULL;
    Py_XDECREF(all);
    if (ht == NULL)
        return NULL;
    type = &ht->ht_type;
    type->tp_flags |= spec->flags;
    type->tp_itemsize = spec->itemsize;
    for (slot = spec->slots; slot->slot != 0; slot++)
        if (slot->slot != Py_tp_base && slot->slot != Py_tp_bases)
            set_slot(ht, slot->slot, slot->slot == Py_tp_token && slot->pfunc == Py_TP_USE_SPEC ? (void *)spec : slot->pfunc);
    if (!lay_out(ht, spec))
        goto failed;
    if (type->tp_members != NULL) {
        const PyMemberDef *m;
        for (m = type->tp_members; m->name != NULL; m++) {
            if (strcmp(m->name, "__weaklistoffset__") == 0)
                type->tp_weaklistoffset = m->offset;
            else if (strcmp(m->name, "__dictoffset__") == 0)
                type->tp_dictoffset = m->offset;
            else if (strcmp(m->name, "__vectorcalloffset__") == 0)
                type->tp_vectorcall_offset = m->offset;
        }
    }
    if (type->tp_dealloc == NULL)
        type->tp_dealloc = subtype_dealloc;
    extend(type, 0, 0);
    ht->ht_module = Py_XNewRef(module);
    if (dot != NULL) {
        PyObject *name = PyUnicode_FromStringAndSize(spec->name, dot - spec->name);
        if (name == NULL || PyDict_SetItemString(type->tp_dict, "__module__", name) < 0)
            goto failed;
        Py_DECREF(name);
    }
    if (PyType_Ready(type) < 0 || fill_dict(type, type->tp_dict) < 0)
        goto failed;
    return OBJECT(type);
failed:
    Py_DECREF(ht);
    return NULL;
}

PyObject *PyType_FromSpecWithBases(PyType_Spec *spec, PyObject *bases) { return PyType_FromModuleAndSpec(NULL, spec, bases); }
PyObject *PyType_FromSpec(PyType_Spec *spec) { return PyType_FromModuleAndSpec(NULL, spec, NULL); }

static PyGetSetDef dict_getset = { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL };

/* type(name, bases, dict): a class of the language. */
static PyObject *make_class(PyTypeObject *metatype, PyObject *args, PyObject *kwargs)
{
    PyObject *name, *bases, *dict, *slots, *all, *hook;
    PyHeapTypeObject *ht;
    PyTypeObject *type;
    const char *text;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(args, "UO!O!:type", &name, &PyTuple_Type, &bases, &PyDict_Type, &dict))
        return NULL;
    for (i = 0; i < PyTuple_GET_SIZE(bases); i++) {
        PyTypeObject *meta;
        if (!py_ready(PyTuple_GET_ITEM(bases, i)))
            return NULL;
        meta = Py_TYPE(PyTuple_GET_ITEM(bases, i));
        if (meta != metatype && PyType_IsSubtype(meta, metatype)) {
            if (meta->tp_new != metatype->tp_new)
                return meta->tp_new(meta, args, kwargs);
            metatype = meta;
        }
    }
    all = PyTuple_GET_SIZE(bases) > 0 ? Py_NewRef(bases) : PyTuple_Pack(1, OBJECT(&PyBaseObject_Type));
    text = PyUnicode_AsUTF8(name);
    ht = all != NULL && text != NULL ? heap_type(metatype, text, all) : NULL;
    Py_XDECREF(all);
    if (ht == NULL)
        return NULL;
    type = &ht->ht_type;
    type->tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
    type->tp_dealloc = subtype_dealloc;
    type->tp_traverse = subtype_traverse;
    type->tp_clear = subtype_clear;
    type->tp_alloc = PyType_GenericAlloc;
    type->tp_free = PyObject_GC_Del;
    slots = PyDict_GetItemString(dict, "__slots__");
    if (slots == NULL)
        extend(type, 1, 1);
    else if (!add_slots(ht, dict, slots))
        goto failed;
    if (PyDict_Update(type->tp_dict, dict) < 0)
        goto failed;
    if (type->tp_dictoffset != 0 && type->tp_base->tp_dictoffset == 0 && add(type->tp_dict, "__dict__", PyDescr_NewGetSet(type, &dict_getset)) < 0)
        goto failed;
    for (i = 0; i < ht->slot_count; i++)
        if (add(type->tp_dict, ht->slots[i].name, PyDescr_NewMember(type, &ht->slots[i])) < 0)
            goto failed;
    if (PyDict_GetItemString(type->tp_dict, "__module__") == NULL
        && PyDict_SetItemString(type->tp_dict, "__module__", py_str("__main__")) < 0)
        goto failed;
    hook = PyDict_GetItemString(type->tp_dict, "__new__");
    if (hook != NULL && PyFunction_Check(hook)) {
        hook = PyStaticMethod_New(hook);
        if (hook == NULL || PyDict_SetItemString(type->tp_dict, "__new__", hook) < 0)
            goto failed;
        Py_DECREF(hook);
    }
    if (PyType_Ready(type) < 0 || py_fix_slots(type) < 0)
        goto failed;
    tell_header(type);
    return OBJECT(type);
failed:
    Py_DECREF(ht);
    return NULL;
}

/* ---- type itself ------------------------------------------------------------------ */

static PyObject *type_new(PyTypeObject *metatype, PyObject *args, PyObject *kwargs)
{
    if (metatype == &PyType_Type && PyTuple_GET_SIZE(args) == 1)
        return Py_NewRef(Py_TYPE(PyTuple_GET_ITEM(args, 0)));
    return make_class(metatype, args, kwargs);
}

static int type_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    (void)op, (void)args, (void)kwargs;
    return 0;
}

static PyObject *type_call(PyObject *callable, PyObject *args, PyObject *kwargs)
{
    PyTypeObject *type = TYPE(callable);
    PyObject *op;
    if (type->tp_new == NULL)
        return PyErr_Format(PyExc_TypeError, "cannot create '%.100s' instances", type->tp_name);
    op = type->tp_new(type, args, kwargs);
    if (op == NULL || (type == &PyType_Type && PyTuple_GET_SIZE(args) == 1) || !PyObject_TypeCheck(op, type))
        return op;
    if (Py_TYPE(op)->tp_init != NULL && Py_TYPE(op)->tp_init(op, args, kwargs) < 0)
        Py_CLEAR(op);
    return op;
}

PyObject *PyType_GenericAlloc(PyTypeObject *type, Py_ssize_t n)
{
    PyObject *op = (PyObject *)(void *)_PyObject_NewVar(type, n);
    if (op == NULL)
        return NULL;
    if (PyType_HasFeature(type, Py_TPFLAGS_LIST_SUBCLASS))
        ((PyListObject *)(void *)op)->filled = 1;               /* the host has no items of it */
    if (PyType_IS_GC(type))
        PyObject_GC_Track(op);
    return op;
}

PyObject *PyType_GenericNew(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    return py_ready_type(type) ? type->tp_alloc(type, 0) : NULL;
}

static void type_dealloc(PyObject *op)
{
    PyHeapTypeObject *ht = HEAP(op);
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    py_forget_lookups(py_vm);
    Py_XDECREF(ht->ht_type.tp_dict);
    Py_XDECREF(ht->ht_type.tp_bases);
    Py_XDECREF(ht->ht_type.tp_mro);
    Py_XDECREF(ht->ht_name);
    Py_XDECREF(ht->ht_qualname);
    Py_XDECREF(ht->ht_module);
    Py_XDECREF(OBJECT(ht->ht_type.tp_base));
    PyMem_Free(ht->name_text);
    while (ht->slot_count > 0)
        PyMem_Free((char *)(uintptr_t)ht->slots[--ht->slot_count].name);
    PyMem_Free(ht->slots);
    PyMem_Free(ht->members);
    Py_TYPE(op)->tp_free(op);
}

static int type_traverse(PyObject *op, visitproc visit, void *arg)
{
    PyHeapTypeObject *ht = HEAP(op);
    if (!(ht->ht_type.tp_flags & Py_TPFLAGS_HEAPTYPE))
        return 0;
    Py_VISIT(ht->ht_type.tp_dict);
    Py_VISIT(ht->ht_type.tp_bases);
    Py_VISIT(ht->ht_type.tp_mro);
    Py_VISIT(ht->ht_name);
    Py_VISIT(ht->ht_qualname);
    Py_VISIT(ht->ht_module);
    Py_VISIT(OBJECT(ht->ht_type.tp_base));
    return 0;                           /* a metatype that is a class is visited by subtype_traverse */
}

/* The rest must stay, as objects of the type may still be deallocated. */
static int type_clear(PyObject *op)
{
    PyHeapTypeObject *ht = HEAP(op);
    if (ht->ht_type.tp_dict != NULL)
        PyDict_Clear(ht->ht_type.tp_dict);
    Py_CLEAR(ht->ht_module);
    if (ht->ht_type.tp_mro != NULL) {
        PyObject *mro = ht->ht_type.tp_mro;
        ht->ht_type.tp_mro = NULL;
        Py_DECREF(mro);
    }
    return 0;
}

static PyObject *type_repr(PyObject *op)
{
    return PyUnicode_FromFormat("<class '%s'>", TYPE(op)->tp_name);
}

/* What is in the metatype and gives a value or takes one goes first, then what is in the type. */
static PyObject *type_getattro(PyObject *op, PyObject *name)
{
    PyObject *meta = Py_XNewRef(_PyType_Lookup(Py_TYPE(op), name)), *value;
    if (meta == NULL && PyErr_Occurred())
        return NULL;
    if (meta != NULL && Py_TYPE(meta)->tp_descr_get != NULL && PyDescr_IsData(meta)) {
        value = Py_TYPE(meta)->tp_descr_get(meta, op, OBJECT(Py_TYPE(op)));
        Py_DECREF(meta);
        return value;
    }
    value = _PyType_Lookup(TYPE(op), name);
    if (value != NULL) {
        Py_XDECREF(meta);
        Py_INCREF(value);
        if (Py_TYPE(value)->tp_descr_get != NULL) {
            PyObject *bound = Py_TYPE(value)->tp_descr_get(value, NULL, op);
            Py_DECREF(value);
            return bound;
        }
        return value;
    }
    if (meta != NULL && Py_TYPE(meta)->tp_descr_get != NULL) {
        value = Py_TYPE(meta)->tp_descr_get(meta, op, OBJECT(Py_TYPE(op)));
        Py_DECREF(meta);
        return value;
    }
    if (meta != NULL || PyErr_Occurred())
        return meta;
    return PyErr_Format(PyExc_AttributeError, "type object '%.50s' has no attribute '%U'", TYPE(op)->tp_name, name);
}

static int type_setattro(PyObject *op, PyObject *name, PyObject *value)
{
    PyObject *meta;
    int code;
    if (!(TYPE(op)->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        PyErr_Format(PyExc_TypeError, "cannot set '%U' attribute of immutable type '%s'", name, TYPE(op)->tp_name);
        return -1;
    }
    meta = _PyType_Lookup(Py_TYPE(op), name);
    if (meta != NULL && PyDescr_IsData(meta)) {
        Py_INCREF(meta);
        code = Py_TYPE(meta)->tp_descr_set(meta, op, value);
        Py_DECREF(meta);
        return code;
    }
    if (PyErr_Occurred())
        return -1;
    code = value != NULL ? PyDict_SetItem(TYPE(op)->tp_dict, name, value) : PyDict_DelItem(TYPE(op)->tp_dict, name);
    return code < 0 ? -1 : py_fix_slots(TYPE(op));
}

static PyObject *get_name(PyObject *op, void *none) { (void)none; return PyType_GetName(TYPE(op)); }
static PyObject *get_qualname(PyObject *op, void *none) { (void)none; return PyType_GetQualName(TYPE(op)); }

/* name: "__name__" or "__qualname__". */
static int is_new_name(PyObject *op, PyObject *value, const char *name)
{
    if (value != NULL && PyUnicode_Check(value))
        return 1;
    if (value == NULL)
        PyErr_Format(PyExc_TypeError, "cannot delete '%s' attribute of immutable type '%s'", name, TYPE(op)->tp_name);
    else
        PyErr_Format(PyExc_TypeError, "can only assign string to %s.%s, not '%s'", TYPE(op)->tp_name, name, Py_TYPE(value)->tp_name);
    return 0;
}

static int set_name(PyObject *op, PyObject *value, void *none)
{
    const char *utf8 = is_new_name(op, value, "__name__") ? PyUnicode_AsUTF8(value) : NULL;
    char *text;
    (void)none;
    if (utf8 != NULL && strlen(utf8) != (size_t)PyUnicode_GET_LENGTH(value) && PyUnicode_FindChar(value, 0, 0, PY_SSIZE_T_MAX, 1) >= 0) {
        PyErr_SetString(PyExc_ValueError, "type name must not contain null characters");
        return -1;
    }
    text = utf8 != NULL ? copy_text(utf8) : NULL;
    if (text == NULL)
        return -1;
    PyMem_Free(HEAP(op)->name_text);
    TYPE(op)->tp_name = HEAP(op)->name_text = text;
    Py_SETREF(HEAP(op)->ht_name, Py_NewRef(value));
    return 0;
}

static int set_qualname(PyObject *op, PyObject *value, void *none)
{
    (void)none;
    if (!is_new_name(op, value, "__qualname__"))
        return -1;
    Py_SETREF(HEAP(op)->ht_qualname, Py_NewRef(value));
    return 0;
}

static PyObject *get_mro(PyObject *op, void *none) { (void)none; return py_type_mro(TYPE(op)); }
static PyObject *get_dict(PyObject *op, void *none) { (void)none; return Py_XNewRef(py_type_dict(TYPE(op))); }
static PyObject *get_base(PyObject *op, void *none) { (void)none; return Py_NewRef(TYPE(op)->tp_base != NULL ? OBJECT(TYPE(op)->tp_base) : Py_None); }

static PyObject *get_bases(PyObject *op, void *none)
{
    (void)none;
    return TYPE(op)->tp_flags & Py_TPFLAGS_HEAPTYPE ? Py_NewRef(TYPE(op)->tp_bases)
         : TYPE(op)->tp_base != NULL ? PyTuple_Pack(1, OBJECT(TYPE(op)->tp_base)) : PyTuple_New(0);
}

static PyObject *get_module(PyObject *op, void *none)
{
    PyObject *module = TYPE(op)->tp_flags & Py_TPFLAGS_HEAPTYPE ? PyDict_GetItemString(TYPE(op)->tp_dict, "__module__") : NULL;
    const char *dot = strrchr(TYPE(op)->tp_name, '.');
    (void)none;
    return module != NULL ? Py_NewRef(module) : dot != NULL ? PyUnicode_FromStringAndSize(TYPE(op)->tp_name, dot - TYPE(op)->tp_name)
                                                            : PyUnicode_FromString("builtins");
}

static int set_module(PyObject *op, PyObject *value, void *none)
{
    (void)none;
    return value != NULL ? PyDict_SetItemString(TYPE(op)->tp_dict, "__module__", value) : PyDict_DelItemString(TYPE(op)->tp_dict, "__module__");
}

static PyObject *method_mro(PyObject *op, PyObject *none) { PyObject *mro = py_type_mro(TYPE(op)), *list = mro != NULL ? PySequence_List(mro) : NULL; (void)none; Py_XDECREF(mro); return list; }

static PyGetSetDef type_getset[] = {
    { "__name__", get_name, set_name, NULL, NULL }, { "__qualname__", get_qualname, set_qualname, NULL, NULL },
    { "__mro__", get_mro, NULL, NULL, NULL }, { "__dict__", get_dict, NULL, NULL, NULL },
    { "__base__", get_base, NULL, NULL, NULL }, { "__bases__", get_bases, NULL, NULL, NULL },
    { "__module__", get_module, set_module, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};
static PyMethodDef type_methods[] = { { "mro", method_mro, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

/* Static types belong to no VM. */
static int type_is_gc(PyObject *op)
{
    return PyType_HasFeature(TYPE(op), Py_TPFLAGS_HEAPTYPE);
}

PyTypeObject PyType_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "type", .tp_basicsize = sizeof(PyHeapTypeObject), .tp_is_gc = type_is_gc,
    .tp_dealloc = type_dealloc, .tp_repr = type_repr, .tp_call = type_call, .tp_getattro = type_getattro,
    .tp_setattro = type_setattro, .tp_traverse = type_traverse, .tp_clear = type_clear,
    .tp_weaklistoffset = offsetof(PyHeapTypeObject, weakrefs),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_TYPE_SUBCLASS,
    .tp_methods = type_methods, .tp_getset = type_getset, .tp_init = type_init, .tp_alloc = PyType_GenericAlloc,
    .tp_new = type_new, .tp_free = PyObject_GC_Del
};

/* ---- asking -------------------------------------------------------------------------- */

unsigned long PyType_GetFlags(PyTypeObject *type) { return type->tp_flags; }

PyObject *PyType_GetName(PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');
    return type->tp_flags & Py_TPFLAGS_HEAPTYPE ? Py_NewRef(HEAP(type)->ht_name)
                                                : PyUnicode_FromString(dot != NULL ? dot + 1 : type->tp_name);
}

PyObject *PyType_GetQualName(PyTypeObject *type)
{
    return type->tp_flags & Py_TPFLAGS_HEAPTYPE ? Py_NewRef(HEAP(type)->ht_qualname) : PyType_GetName(type);
}

PyObject *PyType_GetModule(PyTypeObject *type)
{
    PyObject *module = type->tp_flags & Py_TPFLAGS_HEAPTYPE ? HEAP(type)->ht_module : NULL;
    return module != NULL ? module : PyErr_Format(PyExc_TypeError, "PyType_GetModule: Type '%s' has no associated module", type->tp_name);
}

void *PyType_GetModuleState(PyTypeObject *type)
{
    PyObject *module = PyType_GetModule(type);
    return module != NULL ? PyModule_GetState(module) : NULL;
}

PyObject *PyType_GetModuleByDef(PyTypeObject *type, struct PyModuleDef *def)
{
    PyTypeObject *t;
    Py_ssize_t i;
    for (i = 0; (t = mro_at(type, i)) != NULL; i++)
        if ((t->tp_flags & Py_TPFLAGS_HEAPTYPE) && HEAP(t)->ht_module != NULL && PyModule_GetDef(HEAP(t)->ht_module) == def)
            return HEAP(t)->ht_module;
    return PyErr_Format(PyExc_TypeError, "PyType_GetModuleByDef: No superclass of '%s' has the given module", type->tp_name);
}

void *PyObject_GetTypeData(PyObject *op, PyTypeObject *type) { return (char *)op + data_offset(type->tp_base); }

Py_ssize_t PyType_GetTypeDataSize(PyTypeObject *type)
{
    return Py_MAX(type->tp_basicsize - data_offset(type->tp_base), 0);
}

void *PyObject_GetItemData_DuringGC(PyObject *op)
{
    return PyType_HasFeature(Py_TYPE(op), Py_TPFLAGS_ITEMS_AT_END) ? (char *)op + Py_TYPE(op)->tp_basicsize : NULL;
}

void *PyObject_GetItemData(PyObject *op)
{
    void *data = PyObject_GetItemData_DuringGC(op);
    return data != NULL ? data : PyErr_Format(PyExc_TypeError, "type '%s' does not have Py_TPFLAGS_ITEMS_AT_END", Py_TYPE(op)->tp_name);
}

PyObject *PyType_GetModule_DuringGC(PyTypeObject *type)
{
    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ? HEAP(type)->ht_module : NULL;
}

void *PyType_GetModuleState_DuringGC(PyTypeObject *type)
{
    PyObject *module = PyType_GetModule_DuringGC(type);
    return module != NULL ? PyModule_GetState(module) : NULL;
}

int PyType_GetBaseByToken_DuringGC(PyTypeObject *type, void *token, PyTypeObject **result)
{
    PyTypeObject *t;
    Py_ssize_t i;
    for (i = 0; (t = mro_at(type, i)) != NULL && t->tp_token != token; i++)
        ;
    if (token == NULL)
        t = NULL;
    if (result != NULL)
        *result = t;
    return t != NULL;
}

int PyType_GetBaseByToken(PyTypeObject *type, void *token, PyTypeObject **result)
{
    int found = PyType_GetBaseByToken_DuringGC(type, token, result);
    if (token == NULL) {
        PyErr_SetString(PyExc_SystemError, "PyType_GetBaseByToken called with token=NULL");
        return -1;
    }
    if (found && result != NULL)
        Py_INCREF(*result);
    return found;
}

PyObject *PyType_GetModuleByToken_DuringGC(PyTypeObject *type, const void *token)
{
    PyTypeObject *t;
    Py_ssize_t i;
    for (i = 0; (t = mro_at(type, i)) != NULL; i++) {
        PyObject *module = PyType_GetModule_DuringGC(t);
        void *its;
        if (module != NULL && PyModule_GetToken_DuringGC(module, &its) == 0 && its == token && token != NULL)
            return module;
    }
    return NULL;
}

PyObject *PyType_GetModuleByToken(PyTypeObject *type, const void *token)
{
    PyObject *module = PyType_GetModuleByToken_DuringGC(type, token);
    return module != NULL ? Py_NewRef(module)
         : PyErr_Format(PyExc_TypeError, "PyType_GetModuleByToken: No superclass of '%s' has the given module", type->tp_name);
}

/* ---- object ----------------------------------------------------------------------------- */

static void object_dealloc(PyObject *op)
{
    Py_TYPE(op)->tp_free(op);
}

static PyObject *object_repr(PyObject *op)
{
    return PyUnicode_FromFormat("<%s object at %p>", Py_TYPE(op)->tp_name, (void *)op);
}

static PyObject *object_str(PyObject *op) { return PyObject_Repr(op); }
static Py_hash_t object_hash(PyObject *op) { return _Py_HashPointer(op); }

static PyObject *object_richcompare(PyObject *a, PyObject *b, int op)
{
    if (op == Py_EQ && a == b)
        Py_RETURN_TRUE;
    if (op == Py_NE && Py_TYPE(a)->tp_richcompare != NULL && Py_TYPE(a)->tp_richcompare != object_richcompare) {
        PyObject *same = Py_TYPE(a)->tp_richcompare(a, b, Py_EQ);
        int yes;
        if (same == NULL || same == Py_NotImplemented)
            return same;
        yes = PyObject_IsTrue(same);
        Py_DECREF(same);
        return yes < 0 ? NULL : PyBool_FromLong(!yes);
    }
    Py_RETURN_NOTIMPLEMENTED;
}

static int has_arguments(PyObject *args, PyObject *kwargs)
{
    return PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_Size(kwargs) > 0);
}

static PyObject *object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (has_arguments(args, kwargs) && type->tp_init == PyBaseObject_Type.tp_init)
        return PyErr_Format(PyExc_TypeError, "%.200s() takes no arguments", type->tp_name);
    return type->tp_alloc(type, 0);
}

static int object_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    if (has_arguments(args, kwargs) && Py_TYPE(op)->tp_new == object_new) {
        PyErr_Format(PyExc_TypeError, "%.200s() takes no arguments", Py_TYPE(op)->tp_name);
        return -1;
    }
    return 0;
}

static PyObject *get_class(PyObject *op, void *none) { (void)none; return Py_NewRef(Py_TYPE(op)); }

/* There is no pickle: a type that can be saved has methods of its own for that. */
static PyObject *object_reduce(PyObject *op, PyObject *args)
{
    (void)args;
    return PyErr_Format(PyExc_TypeError, "cannot pickle '%.200s' object", Py_TYPE(op)->tp_name);
}

static PyObject *object_format(PyObject *op, PyObject *spec)
{
    if (!PyUnicode_Check(spec) || PyUnicode_GET_LENGTH(spec) > 0)
        return PyErr_Format(PyExc_TypeError, PyUnicode_Check(spec) ? "unsupported format string passed to %.200s.__format__"
                            : "%.200s.__format__ needs a str", Py_TYPE(op)->tp_name);
    return PyObject_Str(op);
}

static PyObject *object_sizeof(PyObject *op, PyObject *none)
{
    Py_ssize_t n = Py_TYPE(op)->tp_itemsize > 0 ? Py_SIZE(op) : 0;
    (void)none;
    return PyLong_FromSsize_t(Py_TYPE(op)->tp_basicsize + Py_ABS(n) * Py_TYPE(op)->tp_itemsize);
}

static PyMethodDef object_methods[] = {
    { "__sizeof__", object_sizeof, METH_NOARGS, NULL },
    { "__format__", object_format, METH_O, NULL },
    { "__reduce__", object_reduce, METH_NOARGS, NULL }, { "__reduce_ex__", object_reduce, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL }
};

static PyGetSetDef object_getset[] = { { "__class__", get_class, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

PyTypeObject PyBaseObject_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "object", .tp_basicsize = sizeof(PyObject),
    .tp_dealloc = object_dealloc, .tp_repr = object_repr, .tp_str = object_str, .tp_hash = object_hash,
    .tp_getattro = PyObject_GenericGetAttr, .tp_setattro = PyObject_GenericSetAttr, .tp_richcompare = object_richcompare,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .tp_methods = object_methods, .tp_getset = object_getset,
    .tp_init = object_init,
    .tp_alloc = PyType_GenericAlloc, .tp_new = object_new, .tp_free = PyObject_Free
};
