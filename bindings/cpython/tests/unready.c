/* unready.c - static types that nobody has made ready. Each is first used in another way, as in CPython it can be. */
#include "Python.h"
#include "structmember.h"

typedef struct {
    PyObject_VAR_HEAD
    PyObject *content;
    char bytes[8];
} thing;

static int thing_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((thing *)(void *)op)->content);
    return 0;
}

static int thing_clear(PyObject *op)
{
    Py_CLEAR(((thing *)(void *)op)->content);
    return 0;
}

static void thing_dealloc(PyObject *op)
{
    Py_CLEAR(((thing *)(void *)op)->content);
    PyObject_Del(op);
}

static void tracked_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_CLEAR(((thing *)(void *)op)->content);
    PyObject_GC_Del(op);
}

static PyObject *thing_five(PyObject *op, PyObject *none)
{
    (void)op, (void)none;
    return PyLong_FromLong(5);
}

static PyMethodDef thing_methods[] = { { "five", thing_five, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

#define PLAIN(name) \
    .tp_name = "unready." name, .tp_basicsize = sizeof(thing), .tp_dealloc = thing_dealloc, .tp_methods = thing_methods, \
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE
#define TRACKED(name) \
    .tp_name = "unready." name, .tp_basicsize = sizeof(thing), .tp_dealloc = tracked_dealloc, .tp_methods = thing_methods, \
    .tp_traverse = thing_traverse, .tp_clear = thing_clear, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC
#define TYPE(variable, ...) static PyTypeObject variable = { PyVarObject_HEAD_INIT(NULL, 0) __VA_ARGS__ }

TYPE(New, PLAIN("New"));
TYPE(NewVar, PLAIN("NewVar"), .tp_itemsize = 1);
TYPE(GcNew, TRACKED("GcNew"));
TYPE(GcNewVar, TRACKED("GcNewVar"), .tp_itemsize = 1);
TYPE(Extra, TRACKED("Extra"));
TYPE(Alloc, TRACKED("Alloc"));
TYPE(GenericNew, PLAIN("GenericNew"));
TYPE(Called, PLAIN("Called"), .tp_new = PyType_GenericNew);
TYPE(CalledWith, PLAIN("CalledWith"), .tp_new = PyType_GenericNew);
TYPE(Vectorcalled, PLAIN("Vectorcalled"), .tp_new = PyType_GenericNew);
TYPE(First, TRACKED("First"), .tp_new = PyType_GenericNew);
TYPE(Second, TRACKED("Second"), .tp_base = &First);
TYPE(Third, .tp_name = "unready.Third", .tp_base = &Second, .tp_flags = Py_TPFLAGS_DEFAULT);
TYPE(Asked, PLAIN("Asked"));
TYPE(AskedAttribute, PLAIN("AskedAttribute"));
TYPE(AskedText, PLAIN("AskedText"));
TYPE(AskedMro, PLAIN("AskedMro"));
TYPE(SpecBase, PLAIN("SpecBase"), .tp_new = PyType_GenericNew);
TYPE(SlotBase, PLAIN("SlotBase"), .tp_new = PyType_GenericNew);
TYPE(ClassBase, PLAIN("ClassBase"), .tp_new = PyType_GenericNew);
TYPE(Added, PLAIN("Added"), .tp_new = PyType_GenericNew);
TYPE(AddedType, PLAIN("AddedType"), .tp_new = PyType_GenericNew);
TYPE(Flagged, PLAIN("Flagged"), .tp_new = PyType_GenericNew);
TYPE(InTuple, PLAIN("InTuple"), .tp_new = PyType_GenericNew);
TYPE(Metatype, .tp_name = "unready.Metatype", .tp_base = &PyType_Type, .tp_flags = Py_TPFLAGS_DEFAULT);
static PyTypeObject HasMetatype = { PyVarObject_HEAD_INIT(&Metatype, 0) PLAIN("HasMetatype"), .tp_new = PyType_GenericNew };
static PyTypeObject Typed = { PyVarObject_HEAD_INIT(&PyType_Type, 0) PLAIN("Typed"), .tp_new = PyType_GenericNew };
static PyTypeObject Zero = { PLAIN("Zero"), .tp_new = PyType_GenericNew };          /* no head at all */
static PyTypeObject ZeroAdded = { PLAIN("ZeroAdded"), .tp_new = PyType_GenericNew };
TYPE(Single, PLAIN("Single"));
static thing single = { { PyObject_HEAD_INIT(&Single) 0 }, NULL, "" };
TYPE(Failure, .tp_name = "unready.Failure", .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE);

/* What is wrong with these is said each time. */
TYPE(NoName, .tp_basicsize = sizeof(thing));
TYPE(Small, .tp_name = "unready.Small", .tp_basicsize = 8);
TYPE(Large, PLAIN("Large"));
TYPE(TooSmall, .tp_name = "unready.TooSmall", .tp_basicsize = sizeof(PyObject), .tp_base = &Large);
TYPE(OnTooSmall, .tp_name = "unready.OnTooSmall", .tp_base = &TooSmall);
TYPE(NoTraverse, .tp_name = "unready.NoTraverse", .tp_basicsize = sizeof(thing), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC);
TYPE(Wrong, PLAIN("Wrong"));
TYPE(WrongTracked, TRACKED("WrongTracked"), .tp_itemsize = 1);

#define OB(type) ((PyObject *)(void *)&(type))

static PyObject *track(PyObject *op)
{
    if (op != NULL)
        PyObject_GC_Track(op);
    return op;
}

static PyObject *class_on(PyTypeObject *base)
{
    return PyObject_CallFunction(OB(PyType_Type), "s(O){}", "Derived", base);
}

static PyObject *spec_on(PyTypeObject *base)
{
    static PyType_Slot none[] = { { 0, NULL } };
    static PyType_Spec spec = { "unready.OnSpec", 0, 0, Py_TPFLAGS_DEFAULT, none };
    return PyType_FromSpecWithBases(&spec, OB(*base));
}

static PyObject *spec_slot_on(PyTypeObject *base)
{
    PyType_Slot slots[] = { { Py_tp_base, base }, { 0, NULL } };
    PyType_Spec spec = { "unready.OnSlot", 0, 0, Py_TPFLAGS_DEFAULT, slots };
    return PyType_FromSpec(&spec);
}

static PyObject *call_steal(PyObject *type)
{
    PyObject *op = type != NULL ? PyObject_CallNoArgs(type) : NULL;
    Py_XDECREF(type);
    return op;
}

static PyObject *added(PyTypeObject *type)
{
    PyObject *module = PyImport_AddModule("unready");           /* borrowed */
    return module != NULL && PyModule_AddObject(module, "added", OB(*type)) == 0 ? PyObject_CallMethod(module, "added", NULL) : NULL;
}

static PyObject *failure(void)
{
    PyErr_SetString(OB(Failure), "it fails");
    if (PyErr_ExceptionMatches(OB(Failure)) && PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_Clear();
    return PyErr_Occurred() ? NULL : PyObject_CallNoArgs(OB(Failure));
}

/* make(route): an object whose type nobody has made ready, made or found in this way. */
static PyObject *make(PyObject *self, PyObject *arg)
{
    const char *route = PyUnicode_AsUTF8(arg);
    PyObject *op;
    (void)self;
#define IS(text) (route != NULL && strcmp(route, text) == 0)
    if (IS("New")) return (PyObject *)PyObject_New(thing, &New);
    if (IS("NewVar")) return (PyObject *)PyObject_NewVar(thing, &NewVar, 3);
    if (IS("GcNew")) return track((PyObject *)PyObject_GC_New(thing, &GcNew));
    if (IS("GcNewVar")) return track((PyObject *)PyObject_GC_NewVar(thing, &GcNewVar, 3));
    if (IS("Extra")) return track(PyUnstable_Object_GC_NewWithExtraData(&Extra, 8));
    if (IS("Alloc")) return PyType_GenericAlloc(&Alloc, 0);
    if (IS("GenericNew")) return PyType_GenericNew(&GenericNew, NULL, NULL);
    if (IS("Called")) return PyObject_CallObject(OB(Called), NULL);
    if (IS("CalledWith")) return PyObject_CallFunction(OB(CalledWith), "()");
    if (IS("Vectorcalled")) return PyObject_Vectorcall(OB(Vectorcalled), NULL, 0, NULL);
    if (IS("Third")) return PyObject_CallNoArgs(OB(Third));
    if (IS("SpecBase")) return call_steal(spec_on(&SpecBase));
    if (IS("SlotBase")) return call_steal(spec_slot_on(&SlotBase));
    if (IS("ClassBase")) return call_steal(class_on(&ClassBase));
    if (IS("Added")) return added(&Added);
    if (IS("Typed")) return added(&Typed);
    if (IS("Zero")) return PyObject_CallNoArgs(OB(Zero));
    if (IS("ZeroAdded")) return added(&ZeroAdded);
    if (IS("HasMetatype")) return added(&HasMetatype);
    if (IS("Single")) return Py_NewRef(OB(single));
    if (IS("Failure")) return failure();
    if (IS("Flagged")) {                /* as Cython 3 does */
        Flagged.tp_flags |= Py_TPFLAGS_HEAPTYPE;
        if (PyType_Ready(&Flagged) < 0)
            return NULL;
        Flagged.tp_flags &= ~Py_TPFLAGS_HEAPTYPE;
        return PyDict_SetItemString(Flagged.tp_dict, "more", Py_None) == 0 ? PyObject_CallNoArgs(OB(Flagged)) : NULL;
    }
    if (IS("AddedType")) {
        PyObject *module = PyImport_AddModule("unready");
        return module != NULL && PyModule_AddType(module, &AddedType) == 0 ? PyObject_CallMethod(module, "AddedType", NULL) : NULL;
    }
    if (IS("InTuple")) {
        op = PyTuple_Pack(1, &InTuple);
        arg = op != NULL && PyObject_IsInstance(op, op) == 0 ? call_steal(PySequence_GetItem(op, 0)) : NULL;
        Py_XDECREF(op);
        return arg;
    }
    return PyErr_Format(PyExc_ValueError, "no such route: %R", arg);
}

/* Questions that make a type ready: a tuple of answers. */
static PyObject *ask(PyObject *self, PyObject *none)
{
    PyObject *name = PyObject_GetAttrString(OB(AskedAttribute), "__name__"), *text = PyObject_Repr(OB(AskedText));
    PyObject *mro = PyObject_GetAttrString(OB(AskedMro), "__mro__");
    (void)self, (void)none;
    return Py_BuildValue("iiiiiiNNN", PyType_IsSubtype(&Asked, &PyBaseObject_Type), PyType_IsSubtype(&Asked, &PyType_Type),
                         PyObject_IsInstance(Py_None, OB(Asked)), PyObject_IsSubclass(OB(Asked), OB(PyBaseObject_Type)),
                         PyObject_HasAttrString(OB(Metatype), "mro"), PyCallable_Check(OB(Asked)), name, text, mro);
}

/* fail(route): ends with an exception that names the type and what is wrong. */
static PyObject *fail(PyObject *self, PyObject *arg)
{
    const char *route = PyUnicode_AsUTF8(arg);
    PyObject *op = NULL;
    (void)self;
    if (IS("NoName")) return (PyObject *)PyObject_New(thing, &NoName);
    if (IS("NoName added")) { PyModule_AddType(PyImport_AddModule("unready"), &NoName); return NULL; }
    if (IS("Small")) return (PyObject *)PyObject_New(thing, &Small);
    if (IS("Small called")) return PyObject_CallNoArgs(OB(Small));
    if (IS("Small allocated")) return PyType_GenericAlloc(&Small, 0);
    if (IS("Small new")) return PyType_GenericNew(&Small, NULL, NULL);
    if (IS("Small asked")) return PyObject_GetAttrString(OB(Small), "__name__");
    if (IS("Small based on")) return class_on(&Small);
    if (IS("Small spec")) return spec_on(&Small);
    if (IS("Small in a dict")) { PyObject_SetAttrString(self, "x", OB(Small)); return NULL; }
    if (IS("TooSmall")) return (PyObject *)PyObject_New(thing, &TooSmall);
    if (IS("OnTooSmall")) return (PyObject *)PyObject_New(thing, &OnTooSmall);
    if (IS("NoTraverse")) return (PyObject *)PyObject_GC_New(thing, &NoTraverse);
    if (IS("negative")) return (PyObject *)PyObject_NewVar(thing, &NewVar, -1);
    if (IS("negative GC")) return (PyObject *)PyObject_GC_NewVar(thing, &GcNewVar, -1);
    if (IS("no GC")) return PyUnstable_Object_GC_NewWithExtraData(&Wrong, 8);
    if (IS("spec without a name")) {
        PyType_Slot none[] = { { 0, NULL } };
        PyType_Spec spec = { NULL, 0, 0, 0, none };
        return PyType_FromSpec(&spec);
    }
    op = IS("resize plain") ? (PyObject *)PyObject_New(thing, &Wrong) : (PyObject *)PyObject_GC_NewVar(thing, &WrongTracked, 1);
    if (op != NULL && IS("resize tracked"))
        PyObject_GC_Track(op);
    if (op != NULL)
        (void)PyObject_GC_Resize(thing, op, IS("resize negative") ? -1 : 2);
    Py_XDECREF(op);
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "no such route: %R", arg);
}

static PyMethodDef methods[] = {
    { "make", make, METH_O, NULL }, { "ask", ask, METH_NOARGS, NULL }, { "fail", fail, METH_O, NULL }, { NULL, NULL, 0, NULL }
};
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "unready", .m_size = -1, .m_methods = methods };

PyMODINIT_FUNC PyInit_unready(void)
{
    Failure.tp_base = (PyTypeObject *)(void *)PyExc_ValueError;
    return PyModule_Create(&definition);
}
