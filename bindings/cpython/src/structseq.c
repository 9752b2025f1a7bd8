/* structseq.c - struct sequences: tuples whose items have names. Those behind the first n_in_sequence have only these.
 *
 * The basic size of the type has the fields that are not in the sequence. So an object tells how many it has to a
 * traversal, which cannot look into a dict. */
#include "internal.h"

#define T(op) ((PyTupleObject *)(void *)(op))

const char *const PyStructSequence_UnnamedField = "unnamed field";

static Py_ssize_t hidden_of(const PyTypeObject *type)
{
    return (type->tp_basicsize - (Py_ssize_t)offsetof(PyTupleObject, ob_item)) / (Py_ssize_t)sizeof(PyObject *);
}

static Py_ssize_t field_count(PyObject *op)
{
    return PyTuple_GET_SIZE(op) + hidden_of(Py_TYPE(op));
}

PyObject *PyStructSequence_New(PyTypeObject *type)
{
    PyObject *dict = py_ready_type(type) ? py_type_dict(type) : NULL, *n = NULL;
    if (dict != NULL && type->tp_itemsize == sizeof(PyObject *))
        n = PyDict_GetItemString(dict, "n_sequence_fields");
    if (n == NULL)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "'%.200s' is no type of struct sequences", type->tp_name);
    return type->tp_alloc(type, PyLong_AsSsize_t(n));
}

void PyStructSequence_SetItem(PyObject *op, Py_ssize_t i, PyObject *item) { T(op)->ob_item[i] = item; }
PyObject *PyStructSequence_GetItem(PyObject *op, Py_ssize_t i) { return T(op)->ob_item[i]; }

static void dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    Py_ssize_t i;
    PyObject_GC_UnTrack(op);
    for (i = field_count(op); i-- > 0;)
        Py_XDECREF(T(op)->ob_item[i]);
    type->tp_free(op);
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
        Py_DECREF(type);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_ssize_t i;
    if (PyType_HasFeature(Py_TYPE(op), Py_TPFLAGS_HEAPTYPE))
        Py_VISIT(Py_TYPE(op));
    for (i = 0; i < field_count(op); i++)
        Py_VISIT(T(op)->ob_item[i]);
    return 0;
}

/* The name of field i; NULL: it has none. */
static const char *name_of(const PyTypeObject *type, Py_ssize_t i)
{
    const PyMemberDef *m;
    for (m = type->tp_members; m->name != NULL; m++)
        if (m->offset == (Py_ssize_t)(offsetof(PyTupleObject, ob_item) + (size_t)i * sizeof(PyObject *)))
            return m->name;
    return NULL;
}

static PyObject *repr(PyObject *op)
{
    PyObject *text = PyUnicode_FromFormat("%s(", Py_TYPE(op)->tp_name);
    Py_ssize_t i;
    for (i = 0; text != NULL && i < PyTuple_GET_SIZE(op); i++) {
        const char *name = name_of(Py_TYPE(op), i);
        PyObject *item = T(op)->ob_item[i];
        PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat("%s%s%s%R", i > 0 ? ", " : "", name != NULL ? name : "",
                                                           name != NULL ? "=" : "", item != NULL ? item : Py_None));
    }
    PyUnicode_AppendAndDel(&text, PyUnicode_FromString(")"));
    return text;
}

static PyObject *structseq_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { (char *)(uintptr_t)"sequence", (char *)(uintptr_t)"dict", NULL };
    PyObject *sequence, *dict = NULL, *items, *op;
    Py_ssize_t i, n, least, most;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:structseq", names, &sequence, &dict))
        return NULL;
    items = PySequence_Fast(sequence, "constructor requires a sequence");
    op = items != NULL ? PyStructSequence_New(type) : NULL;
    if (op == NULL) {
        Py_XDECREF(items);
        return NULL;
    }
    n = PySequence_Fast_GET_SIZE(items);
    least = PyTuple_GET_SIZE(op);
    most = field_count(op);
    if (dict != NULL && !PyDict_Check(dict))
        PyErr_Format(PyExc_TypeError, "%.500s() takes a dict as second arg, if any", type->tp_name);
    else if (n < least || n > most)
        PyErr_Format(PyExc_TypeError, "%.500s() takes a%s %zd-sequence (%zd-sequence given)", type->tp_name,
                     least == most ? "" : n < least ? "n at least" : "n at most", n < least ? least : most, n);
    for (i = 0; i < most && !PyErr_Occurred(); i++) {
        const char *name = i >= n && dict != NULL ? name_of(type, i) : NULL;
        PyObject *item = i < n ? PySequence_Fast_GET_ITEM(items, i) : name != NULL ? PyDict_GetItemString(dict, name) : NULL;
        T(op)->ob_item[i] = Py_NewRef(item != NULL ? item : Py_None);
    }
    if (PyErr_Occurred())
        Py_CLEAR(op);
    Py_DECREF(items);
    return op;
}

/* (type, (the items of the sequence, the others by name)) */
static PyObject *reduce(PyObject *op, PyObject *none)
{
    PyObject *items = PyTuple_GetSlice(op, 0, PY_SSIZE_T_MAX), *dict = items != NULL ? PyDict_New() : NULL, *result = NULL;
    Py_ssize_t i;
    int ok = dict != NULL;
    (void)none;
    for (i = PyTuple_GET_SIZE(op); ok && i < field_count(op); i++) {
        const char *name = name_of(Py_TYPE(op), i);
        ok = name == NULL || PyDict_SetItemString(dict, name, T(op)->ob_item[i] != NULL ? T(op)->ob_item[i] : Py_None) == 0;
    }
    if (ok)
        result = Py_BuildValue("(O(OO))", Py_TYPE(op), items, dict);
    Py_XDECREF(items);
    Py_XDECREF(dict);
    return result;
}

static PyMethodDef methods[] = { { "__reduce__", reduce, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

/* ---- making a type --------------------------------------------------------------- */

static Py_ssize_t count_fields(const PyStructSequence_Desc *desc, Py_ssize_t *unnamed)
{
    Py_ssize_t n = 0;
    for (*unnamed = 0; desc->fields[n].name != NULL; n++)
        *unnamed += desc->fields[n].name == PyStructSequence_UnnamedField;
    return n;
}

static PyMemberDef *new_members(const PyStructSequence_Desc *desc)
{
    Py_ssize_t unnamed, n = count_fields(desc, &unnamed), i, k = 0;
    PyMemberDef *members;
    if (desc->n_in_sequence < 0 || desc->n_in_sequence > n)
        return (void *)PyErr_Format(PyExc_SystemError, "%.200s has %zd fields: n_in_sequence cannot be %d", desc->name, n, desc->n_in_sequence);
    members = PyMem_Calloc((size_t)(n - unnamed) + 1, sizeof *members);
    if (members == NULL)
        return (void *)PyErr_NoMemory();
    for (i = 0; i < n; i++)
        if (desc->fields[i].name != PyStructSequence_UnnamedField)
            members[k++] = (PyMemberDef){ desc->fields[i].name, T_OBJECT,
                (Py_ssize_t)(offsetof(PyTupleObject, ob_item) + (size_t)i * sizeof(PyObject *)), READONLY, desc->fields[i].doc };
    return members;
}

static int basic_size(const PyStructSequence_Desc *desc)
{
    Py_ssize_t unnamed, n = count_fields(desc, &unnamed);
    return (int)offsetof(PyTupleObject, ob_item) + (int)(n - desc->n_in_sequence) * (int)sizeof(PyObject *);
}

static int set_number(PyObject *dict, const char *name, Py_ssize_t n)
{
    PyObject *x = PyLong_FromSsize_t(n);
    int ok = x != NULL && PyDict_SetItemString(dict, name, x) == 0;
    Py_XDECREF(x);
    return ok;
}

static int fill_dict(PyTypeObject *type, const PyStructSequence_Desc *desc)
{
    Py_ssize_t unnamed, n = count_fields(desc, &unnamed), i;
    PyObject *dict = py_type_dict(type), *list = dict != NULL ? PyList_New(0) : NULL, *names;
    int ok = list != NULL && set_number(dict, "n_sequence_fields", desc->n_in_sequence) && set_number(dict, "n_fields", n)
          && set_number(dict, "n_unnamed_fields", unnamed);
    for (i = 0; ok && i < desc->n_in_sequence; i++) {
        PyObject *name = desc->fields[i].name == PyStructSequence_UnnamedField ? NULL : PyUnicode_FromString(desc->fields[i].name);
        ok = name != NULL ? PyList_Append(list, name) == 0 : PyErr_Occurred() == NULL;
        Py_XDECREF(name);
    }
    names = ok ? PyList_AsTuple(list) : NULL;
    ok = names != NULL && PyDict_SetItemString(dict, "__match_args__", names) == 0;
    Py_XDECREF(names);
    Py_XDECREF(list);
    PyType_Modified(type);
    return ok ? 0 : -1;
}

/* A type that another VM has made ready is as it should be, but for this VM's dict. */
int PyStructSequence_InitType2(PyTypeObject *type, PyStructSequence_Desc *desc)
{
    if (!PyType_HasFeature(type, Py_TPFLAGS_READY)) {
        type->tp_members = new_members(desc);
        if (type->tp_members == NULL)
            return -1;
        type->tp_name = desc->name;
        type->tp_doc = desc->doc;
        type->tp_basicsize = basic_size(desc);
        type->tp_itemsize = sizeof(PyObject *);
        type->tp_base = &PyTuple_Type;
        type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
        type->tp_dealloc = dealloc;
        type->tp_traverse = traverse;
        type->tp_repr = repr;
        type->tp_new = structseq_new;
        type->tp_methods = methods;
    }
    return PyType_Ready(type) < 0 ? -1 : fill_dict(type, desc);
}

void PyStructSequence_InitType(PyTypeObject *type, PyStructSequence_Desc *desc)
{
    (void)PyStructSequence_InitType2(type, desc);
}

PyTypeObject *PyStructSequence_NewType(PyStructSequence_Desc *desc)
{
    PyMemberDef *members = new_members(desc);
    PyType_Slot slots[] = {
        { Py_tp_dealloc, (void *)(uintptr_t)dealloc }, { Py_tp_traverse, (void *)(uintptr_t)traverse }, { Py_tp_repr, (void *)(uintptr_t)repr },
        { Py_tp_new, (void *)(uintptr_t)structseq_new }, { Py_tp_methods, methods }, { Py_tp_doc, (void *)(uintptr_t)desc->doc },
        { Py_tp_members, members }, { 0, NULL }
    };
    PyType_Spec spec = { desc->name, basic_size(desc), sizeof(PyObject *), Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots };
    PyTypeObject *type;
    if (members == NULL)
        return NULL;
    type = (PyTypeObject *)(void *)PyType_FromSpecWithBases(&spec, (PyObject *)(void *)&PyTuple_Type);
    if (type == NULL) {
        PyMem_Free(members);
        return NULL;
    }
    ((PyHeapTypeObject *)(void *)type)->members = members;      /* they go with it */
    if (fill_dict(type, desc) < 0)
        Py_CLEAR(type);
    return type;
}
