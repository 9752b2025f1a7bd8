/* module.c - modules: made from definitions, filled, imported. */
#include "internal.h"

#include <dlfcn.h>

typedef struct {
    PyObject_HEAD
    PyObject *dict;
    PyObject *name;                 /* as it was made: for a text that is made while nothing may move */
    PyModuleDef *def;
    void *state;
    const void *token;              /* usually def */
    PyObject *weakrefs;
} module;

#define M(op) ((module *)(void *)(op))

PyTypeObject PyModuleDef_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "moduledef", .tp_basicsize = sizeof(PyModuleDef), .tp_flags = Py_TPFLAGS_DEFAULT
};

static PyObject *module_new(const char *name)
{
    PyObject *op = _PyObject_GC_New(&PyModule_Type), *text = PyUnicode_FromString(name);
    if (op == NULL || text == NULL)
        goto failed;
    M(op)->dict = PyDict_New();
    if (M(op)->dict == NULL || PyDict_SetItemString(M(op)->dict, "__name__", text) < 0)
        goto failed;
    M(op)->name = text;
    PyObject_GC_Track(op);
    return op;
failed:
    Py_XDECREF(op);
    Py_XDECREF(text);
    return NULL;
}

PyObject *PyModule_New(const char *name) { return module_new(name); }

PyObject *PyModule_NewObject(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    return text != NULL ? PyModule_New(text) : NULL;
}

PyObject *PyRun_String(const char *text, int start, PyObject *globals, PyObject *locals)
{
    (void)text, (void)start, (void)globals, (void)locals;
    return PyErr_Format(PyExc_NotImplementedError, "there is no compiler for Python's language here");
}

int PyRun_SimpleString(const char *text)
{
    (void)PyRun_String(text, 0, NULL, NULL);
    PyErr_Print();
    return -1;
}

static int add_functions(PyObject *op, PyObject *name, PyMethodDef *defs)
{
    int code = 0;
    for (; code == 0 && defs != NULL && defs->ml_name != NULL; defs++) {
        PyObject *f = PyCFunction_NewEx(defs, op, name);
        code = f != NULL ? PyObject_SetAttrString(op, defs->ml_name, f) : -1;
        Py_XDECREF(f);
    }
    return code;
}

int PyModule_AddFunctions(PyObject *op, PyMethodDef *defs)
{
    PyObject *name = PyModule_GetNameObject(op);
    int code = name != NULL ? add_functions(op, name, defs) : -1;
    Py_XDECREF(name);
    return code;
}

/* Give op, which usually is a module, what the definition says. */
static int adopt(PyObject *op, PyModuleDef *def, const char *name)
{
    PyObject *text;
    int code;
    if (PyModule_Check(op)) {
        M(op)->def = def;
        M(op)->token = def;
        if (def->m_size > 0 && (M(op)->state = PyMem_Calloc(1, (size_t)def->m_size)) == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    } else if (def->m_size > 0 || def->m_traverse != NULL || def->m_clear != NULL || def->m_free != NULL) {
        PyErr_Format(PyExc_SystemError, "module %s is not a module object, but requests module state", name);
        return -1;
    }
    text = PyUnicode_FromString(name);
    code = text != NULL ? add_functions(op, text, def->m_methods) : -1;
    Py_XDECREF(text);
    return code < 0 || def->m_doc == NULL ? code : PyModule_SetDocString(op, def->m_doc);
}

/* A module that makes itself while it is imported has the name by which it is imported. */
static const char *whole_name(const char *name)
{
    const char *whole = PY->importing, *last = whole != NULL ? strrchr(whole, '.') : NULL;
    if (last == NULL || strcmp(last + 1, name) != 0)
        return name;
    PY->importing = NULL;
    return whole;
}

static PyObject *from_def(PyModuleDef *def)
{
    const char *name = whole_name(def->m_name);
    PyObject *op = module_new(name);
    if (op != NULL && adopt(op, def, name) < 0)
        Py_CLEAR(op);
    return op;
}

PyObject *PyModule_Create2(PyModuleDef *def, int version)
{
    (void)version;
    return from_def(def);
}

/* The first phase of two: the definition is all there is. */
PyObject *PyModuleDef_Init(PyModuleDef *def)
{
    PyObject *op = (PyObject *)(void *)def;
    Py_SET_TYPE(op, &PyModuleDef_Type);
    return op;
}

static int add_new(PyObject *op, const char *name, PyObject *value);

/* What a function of Py_mod_create gets: it has the attributes of CPython's module specs. */
static PyObject *spec_new(const char *name)
{
    PyObject *op = PyModule_New(name);
    const char *dot = strrchr(name, '.');
    if (op != NULL && (PyModule_AddStringConstant(op, "name", name) < 0
                       || add_new(op, "parent", PyUnicode_FromStringAndSize(name, dot != NULL ? dot - name : 0)) < 0
                       || PyModule_AddObjectRef(op, "loader", Py_None) < 0 || PyModule_AddObjectRef(op, "origin", Py_None) < 0
                       || PyModule_AddObjectRef(op, "submodule_search_locations", Py_None) < 0))
        Py_CLEAR(op);
    return op;
}

/* The second phase. */
static PyObject *execute(PyModuleDef *def, const char *name)
{
    PyObject *op = NULL, *spec;
    const PyModuleDef_Slot *slot;
    for (slot = def->m_slots; slot != NULL && slot->slot != 0; slot++)
        if (slot->slot == Py_mod_create) {
            spec = spec_new(name);
            op = spec != NULL ? ((PyObject *(*)(PyObject *, PyModuleDef *))(uintptr_t)slot->value)(spec, def) : NULL;
            Py_XDECREF(spec);
            if (op != NULL && adopt(op, def, name) < 0)
                Py_CLEAR(op);
            if (op == NULL)
                return NULL;
        }
    if (op == NULL && (op = from_def(def)) == NULL)
        return NULL;
    for (slot = def->m_slots; slot != NULL && slot->slot != 0; slot++)
        if (slot->slot == Py_mod_token && PyModule_Check(op))
            M(op)->token = slot->value;
    for (slot = def->m_slots; slot != NULL && slot->slot != 0; slot++)
        if (slot->slot == Py_mod_exec && ((int (*)(PyObject *))(uintptr_t)slot->value)(op) != 0) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_SystemError, "execution of module %s failed without setting an exception", name);
            Py_DECREF(op);
            return NULL;
        }
    return op;
}

/* ---- contents ------------------------------------------------------------------------ */

static int check(PyObject *op)
{
    return PyModule_Check(op) || PyErr_BadArgument();
}

PyObject *PyModule_GetDict(PyObject *op)
{
    if (PyModule_Check(op))
        return M(op)->dict;
    PyErr_BadInternalCall();
    return NULL;
}

void *PyModule_GetState_DuringGC(PyObject *op) { return PyModule_Check(op) ? M(op)->state : NULL; }
void *PyModule_GetState(PyObject *op) { return check(op) ? M(op)->state : NULL; }
PyModuleDef *PyModule_GetDef(PyObject *op) { return check(op) ? M(op)->def : NULL; }

int PyModule_GetToken_DuringGC(PyObject *op, void **result)
{
    *result = PyModule_Check(op) ? (void *)(uintptr_t)M(op)->token : NULL;
    return PyModule_Check(op) ? 0 : -1;
}

int PyModule_GetToken(PyObject *op, void **result)
{
    int code = PyModule_GetToken_DuringGC(op, result);
    if (code < 0)
        PyErr_Format(PyExc_TypeError, "PyModule_GetToken: expected a module, not '%.200s'", Py_TYPE(op)->tp_name);
    return code;
}

/* Borrowed. */
static PyObject *name_of(PyObject *op)
{
    PyObject *name = check(op) ? PyDict_GetItemString(M(op)->dict, "__name__") : NULL;
    if (name != NULL ? !PyUnicode_Check(name) : !PyErr_Occurred())
        return PyErr_Format(PyExc_SystemError, "nameless module");
    return name;
}

PyObject *PyModule_GetNameObject(PyObject *op) { return Py_XNewRef(name_of(op)); }

const char *PyModule_GetName(PyObject *op)
{
    PyObject *name = name_of(op);
    return name != NULL ? PyUnicode_AsUTF8(name) : NULL;
}

int PyModule_AddObjectRef(PyObject *op, const char *name, PyObject *value)
{
    if (!PyModule_Check(op)) {
        PyErr_SetString(PyExc_TypeError, "PyModule_AddObjectRef() first argument must be a module");
        return -1;
    }
    if (value == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "PyModule_AddObjectRef() must be called with an exception raised if value is NULL");
        return -1;
    }
    return PyDict_SetItemString(M(op)->dict, name, value);
}

/* Takes the reference over only if it succeeds. */
int PyModule_AddObject(PyObject *op, const char *name, PyObject *value)
{
    int code = PyModule_AddObjectRef(op, name, value);
    if (code == 0)
        Py_DECREF(value);
    return code;
}

static int add_new(PyObject *op, const char *name, PyObject *value)
{
    int code = PyModule_AddObjectRef(op, name, value);
    Py_XDECREF(value);
    return code;
}

int PyModule_AddIntConstant(PyObject *op, const char *name, long n) { return add_new(op, name, PyLong_FromLong(n)); }
int PyModule_AddStringConstant(PyObject *op, const char *name, const char *text) { return add_new(op, name, PyUnicode_FromString(text)); }

int PyModule_SetDocString(PyObject *op, const char *doc)
{
    PyObject *text = PyUnicode_FromString(doc);
    int code = text != NULL ? PyObject_SetAttrString(op, "__doc__", text) : -1;
    Py_XDECREF(text);
    return code;
}

int PyModule_AddType(PyObject *op, PyTypeObject *type)
{
    const char *dot;
    if (PyType_Ready(type) < 0)
        return -1;
    dot = strrchr(type->tp_name, '.');
    return PyModule_AddObjectRef(op, dot != NULL ? dot + 1 : type->tp_name, (PyObject *)(void *)type);
}

PyObject *PyState_FindModule(PyModuleDef *def)
{
    PyObject *key = PyLong_FromVoidPtr(def), *op = key != NULL ? PyDict_GetItem(PY->defs, key) : NULL;
    Py_XDECREF(key);
    return op;
}

int PyState_AddModule(PyObject *op, PyModuleDef *def)
{
    PyObject *key = PyLong_FromVoidPtr(def);
    int code = key != NULL ? PyDict_SetItem(PY->defs, key, op) : -1;
    Py_XDECREF(key);
    return code;
}

int PyState_RemoveModule(PyModuleDef *def)
{
    PyObject *key = PyLong_FromVoidPtr(def);
    int code = key != NULL ? PyDict_Contains(PY->defs, key) : -1;
    if (code > 0)
        code = PyDict_DelItem(PY->defs, key);
    Py_XDECREF(key);
    return code;
}

PyObject *PyModule_GetFilenameObject(PyObject *op)
{
    PyObject *dict = PyModule_Check(op) ? PyModule_GetDict(op) : NULL, *name = dict != NULL ? PyDict_GetItemString(dict, "__file__") : NULL;
    if (dict == NULL)
        PyErr_BadArgument();
    else if (name == NULL || !PyUnicode_Check(name))
        PyErr_SetString(PyExc_SystemError, "module filename missing");
    return name != NULL && PyUnicode_Check(name) ? Py_NewRef(name) : NULL;
}

/* ---- the type -------------------------------------------------------------------------- */

/* The functions of the definition are called from when the state is there that they ask for. */
static int is_whole(PyObject *op)
{
    return M(op)->def != NULL && (M(op)->def->m_size <= 0 || M(op)->state != NULL);
}

static void dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    if (is_whole(op) && M(op)->def->m_free != NULL)
        M(op)->def->m_free(op);
    Py_XDECREF(M(op)->dict);
    Py_XDECREF(M(op)->name);
    PyMem_Free(M(op)->state);
    Py_TYPE(op)->tp_free(op);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(M(op)->dict);
    return is_whole(op) && M(op)->def->m_traverse != NULL ? M(op)->def->m_traverse(op, visit, arg) : 0;
}

static int clear(PyObject *op)
{
    if (is_whole(op) && M(op)->def->m_clear != NULL)
        M(op)->def->m_clear(op);
    Py_CLEAR(M(op)->dict);
    return 0;
}

static PyObject *repr(PyObject *op)
{
    const char *name = py_vm->printing == 0 ? PyModule_GetName(op) : PyUnicode_AsUTF8(M(op)->name);
    PyErr_Clear();                      /* it may have none */
    return PyUnicode_FromFormat("<module '%s'>", name != NULL ? name : "?");
}

static PyObject *get_dict(PyObject *op, void *none) { (void)none; return Py_XNewRef(M(op)->dict); }
static PyGetSetDef getset[] = { { "__dict__", get_dict, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

PyTypeObject PyModule_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "module", .tp_basicsize = sizeof(module), .tp_dealloc = dealloc,
    .tp_repr = repr, .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = traverse,
    .tp_clear = clear, .tp_getset = getset, .tp_dictoffset = offsetof(module, dict),
    .tp_weaklistoffset = offsetof(module, weakrefs)
};

/* ---- importing -------------------------------------------------------------------------- */

PyObject *PyImport_GetModuleDict(void) { return PY->modules; }

PyObject *PyImport_AddModule(const char *name)
{
    PyObject *op = PyDict_GetItemString(PY->modules, name);
    if (op != NULL)
        return op;
    op = PyModule_New(name);
    if (op != NULL && PyDict_SetItemString(PY->modules, name, op) < 0)
        Py_CLEAR(op);
    Py_XDECREF(op);                     /* the dict holds it */
    return op;
}

PyObject *PyImport_AddModuleObject(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    return text != NULL ? PyImport_AddModule(text) : NULL;
}

PyObject *PyImport_GetModule(PyObject *name) { return Py_XNewRef(PyDict_GetItemWithError(PY->modules, name)); }

/* ---- sys ------------------------------------------------------------------------- */

PyObject *PySys_GetObject(const char *name)
{
    PyObject *sys = PyDict_GetItemString(PY->modules, "sys"), *dict = sys != NULL ? PyModule_GetDict(sys) : NULL;
    return dict != NULL ? PyDict_GetItemString(dict, name) : NULL;
}

int PySys_SetObject(const char *name, PyObject *value)
{
    PyObject *sys = PyImport_AddModule("sys"), *dict = sys != NULL ? PyModule_GetDict(sys) : NULL;
    if (dict == NULL)
        return -1;
    if (value == NULL)
        return PyDict_GetItemString(dict, name) != NULL ? PyDict_DelItemString(dict, name) : 0;
    return PyDict_SetItemString(dict, name, value);
}

int PySys_Audit(const char *event, const char *format, ...)
{
    (void)event, (void)format;
    return 0;
}

/* As in CPython, at most 1000 bytes. */
static void write_to(FILE *out, const char *format, va_list args)
{
    char text[1001];
    int n = vsnprintf(text, sizeof text, format, args);
    fputs(text, out);
    if (n >= (int)sizeof text)
        fputs("... truncated", out);
}

void PySys_WriteStdout(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_to(stdout, format, args);
    va_end(args);
}

void PySys_WriteStderr(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_to(stderr, format, args);
    va_end(args);
}

typedef struct inittab {
    const char *name;
    PyObject *(*init)(void);
    struct inittab *next;
} inittab;

static inittab *linked_in;

int PyImport_AppendInittab(const char *name, PyObject *(*init)(void))
{
    inittab *entry = PyMem_Malloc(sizeof *entry);
    if (entry == NULL)
        return -1;
    entry->name = name;
    entry->init = init;
    entry->next = linked_in;
    linked_in = entry;
    return 0;
}

static PyObject *initialize(const char *name, PyObject *(*init)(void))
{
    const char *outer = PY->importing;
    PyObject *op, *result;
    PyModuleDef *def = NULL;
    PY->importing = name;
    op = init();
    PY->importing = outer;
    if (op == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_SystemError, "initialization of %s failed without raising an exception", name);
        return NULL;
    }
    if (Py_IS_TYPE(op, &PyModuleDef_Type)) {
        result = execute((PyModuleDef *)(void *)op, name);
    } else {
        result = op;
        def = PyModule_Check(op) ? M(op)->def : NULL;
    }
    if (result != NULL && PyDict_SetItemString(PY->modules, name, result) < 0)
        Py_CLEAR(result);
    if (result != NULL && def != NULL) {
        PyObject *key = PyLong_FromVoidPtr(def);
        if (key == NULL || PyDict_SetItem(PY->defs, key, result) < 0)
            Py_CLEAR(result);
        Py_XDECREF(key);
    }
    return result;
}

/* ---- shared objects ---------------------------------------------------------------------- */

/* The module's name is that of the file, as in "folder/_heapq.so"; or as in "package=folder/_module.so"
   that of the package before it. A new string; NULL: no memory. */
static char *name_of_file(const char *argument, const char **path)
{
    const char *package = strchr(argument, '='), *slash, *base;
    size_t n = package != NULL ? (size_t)(package - argument) : 0, length;
    char *name;
    *path = package != NULL ? package + 1 : argument;
    slash = strrchr(*path, '/');
    base = slash != NULL ? slash + 1 : *path;
    length = strcspn(base, ".");
    name = PyMem_Malloc(n + length + 2);
    if (name != NULL)
        snprintf(name, n + length + 2, "%.*s%s%.*s", (int)n, argument, n > 0 ? "." : "", (int)length, base);
    return name;
}

/* Remember where a module is; it is loaded when it is first imported. 0 after a failure, with an error. */
int py_load(cvm *vm, const char *argument)
{
    py_state *py = py_state_of(vm);
    py_file *files = PyMem_Realloc(py->files, (py->file_count + 1) * sizeof *files);
    const char *path;
    char *name = files != NULL ? name_of_file(argument, &path) : NULL, *copy = name != NULL ? PyMem_Malloc(strlen(path) + 3) : NULL;
    if (files != NULL)
        py->files = files;
    if (copy == NULL) {
        PyMem_Free(name);
        cvm_out_of_memory(vm);
        return 0;
    }
    /* A file of this folder. Without a slash, it would be looked for among the libraries. */
    snprintf(copy, strlen(path) + 3, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    py->files[py->file_count].name = name;
    py->files[py->file_count++].path = copy;
    return 1;
}

static PyObject *load(const char *name, const char *path)
{
    const char *last = strrchr(name, '.');
    char symbol[120];
    PyObject *(*init)(void) = NULL;
    void *file;

    snprintf(symbol, sizeof symbol, "PyInit_%s", last != NULL ? last + 1 : name);
    file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) {
        const char *reason = dlerror();
        return PyErr_Format(PyExc_ImportError, "%s%s", reason, strstr(reason, "undefined symbol") == NULL ? ""
                            : ": neither this C API has it, nor a library that the module is linked with");
    }
    *(void **)&init = dlsym(file, symbol);
    if (init != NULL)
        return initialize(name, init);
    dlclose(file);
    return PyErr_Format(PyExc_ImportError, "%s does not define %s", path, symbol);
}

/* The module sys, unless the program has made one. */
static PyObject *make_sys(void)
{
    PyObject *all = Py_BuildValue("{s:s,s:(iiisi),s:i,s:n,s:i,s:s,s:s,s:O}", "version", Py_GetVersion(), "version_info", PY_MAJOR_VERSION,
        PY_MINOR_VERSION, PY_MICRO_VERSION, "final", 0, "hexversion", PY_VERSION_HEX, "maxsize", PY_SSIZE_T_MAX, "maxunicode", 0x10ffff,
        "byteorder", PY_LITTLE_ENDIAN ? "little" : "big", "platform", "cvm", "modules", PY->modules);
    PyObject *sys = all != NULL ? PyImport_AddModule("sys") : NULL;
    int code = sys != NULL ? PyDict_Update(PyModule_GetDict(sys), all) : -1;
    Py_XDECREF(all);
    return code == 0 ? Py_NewRef(sys) : NULL;
}

PyObject *PyImport_ImportModule(const char *name)
{
    PyObject *op = PyDict_GetItemString(PY->modules, name);
    const inittab *entry;
    size_t i;
    if (op != NULL)
        return Py_NewRef(op);
    for (entry = linked_in; entry != NULL; entry = entry->next)
        if (strcmp(entry->name, name) == 0)
            return initialize(name, entry->init);
    for (i = 0; i < PY->file_count; i++)
        if (strcmp(PY->files[i].name, name) == 0)
            return load(name, PY->files[i].path);
    if (strcmp(name, "sys") == 0)
        return make_sys();
    return PyErr_Format(PyExc_ModuleNotFoundError, "No module named '%s'", name);
}

PyObject *PyImport_Import(PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    return text != NULL ? PyImport_ImportModule(text) : NULL;
}

/* New: the whole name of what a module with these globals calls by a name with `level` dots in front. */
static PyObject *absolute_name(PyObject *name, PyObject *globals, int level)
{
    PyObject *package = globals != NULL ? PyDict_GetItemString(globals, "__package__") : NULL, *whole;
    Py_ssize_t end;
    int has_parent = 1;
    if (package == NULL || package == Py_None) {
        package = globals != NULL ? PyDict_GetItemString(globals, "__name__") : NULL;
        if (package == NULL)
            return PyErr_Format(PyExc_KeyError, "'__name__' not in globals");
        if (PyDict_GetItemString(globals, "__path__") == NULL && PyUnicode_Check(package)) {    /* it is no package */
            has_parent = PyUnicode_FindChar(package, '.', 0, PY_SSIZE_T_MAX, 1) >= 0;
            level++;
        }
    }
    if (!PyUnicode_Check(package))
        return PyErr_Format(PyExc_TypeError, "package must be a string");
    for (end = PyUnicode_GET_LENGTH(package); end > 0 && level > 1; level--)
        end = PyUnicode_FindChar(package, '.', 0, end, -1);
    if (end <= 0)
        return PyErr_Format(PyExc_ImportError, has_parent && PyUnicode_GET_LENGTH(package) > 0
                            ? "attempted relative import beyond top-level package" : "attempted relative import with no known parent package");
    package = PyUnicode_Substring(package, 0, end);
    whole = package == NULL ? NULL : PyUnicode_GET_LENGTH(name) > 0 ? PyUnicode_FromFormat("%U.%U", package, name) : Py_NewRef(package);
    Py_XDECREF(package);
    return whole;
}

/* `import name`, and `from name import ...` if there is a list of names. */
PyObject *PyImport_ImportModuleLevelObject(PyObject *name, PyObject *globals, PyObject *locals, PyObject *from, int level)
{
    PyObject *op, *top;
    Py_ssize_t dot;
    int named = from != NULL && from != Py_None ? PyObject_IsTrue(from) : 0;
    (void)locals;
    if (!PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "module name must be a string");
    if (level > 0) {
        name = absolute_name(name, globals, level);
        op = name != NULL ? PyImport_Import(name) : NULL;
        Py_XDECREF(name);
        return op;
    }
    op = named < 0 ? NULL : PyImport_Import(name);
    dot = PyUnicode_FindChar(name, '.', 0, PY_SSIZE_T_MAX, 1);
    if (op == NULL || named || dot < 0)
        return op;
    top = PyUnicode_Substring(name, 0, dot);
    Py_SETREF(op, top != NULL ? PyImport_Import(top) : NULL);
    Py_XDECREF(top);
    return op;
}

PyObject *PyImport_ImportModuleLevel(const char *name, PyObject *globals, PyObject *locals, PyObject *from, int level)
{
    PyObject *text = PyUnicode_FromString(name), *op;
    op = text != NULL ? PyImport_ImportModuleLevelObject(text, globals, locals, from, level) : NULL;
    Py_XDECREF(text);
    return op;
}
