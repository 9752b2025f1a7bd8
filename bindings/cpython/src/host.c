/* host.c - the API as a layer of the VM: its beginning and end, and what the language asks it about
 * objects of C. */
#include "internal.h"

#include <pthread.h>

/* ---- printing --------------------------------------------------------------
 *
 * Nothing may move: while C code of others makes the text, an allocation in the heap fails (see
 * cvm_object_new). */

void py_print_items(PyObject *op, int quoted, FILE *out)
{
    PyObject **items = PySequence_Fast_ITEMS(op);
    Py_ssize_t i, n = PySequence_Fast_GET_SIZE(op);
    if (!cvm_enter(py_vm))
        return;
    fputs(PyList_Check(op) ? "#[" : "#(", out);
    for (i = 0; i < n && !py_vm->error.failed && !ferror(out); i++) {
        if (i > 0)
            putc(' ', out);
        py_print_object(items[i] != NULL ? items[i] : Py_None, quoted, out);
    }
    fputs(PyList_Check(op) ? "]" : ")", out);
    cvm_leave(py_vm);
}

void py_print_object(PyObject *op, int quoted, FILE *out)
{
    cvm_value v = op == Py_None ? CVM_NIL : PyBool_Check(op) ? cvm_boolean(op == Py_True)
                : op->ob_refcnt < RRC_REFCNT_IMMORTAL ? (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(op)) : CVM_NONE;
    PyObject *text;
    Py_ssize_t n;
    const char *utf8;
    if (v != CVM_NONE && !cvm_is(v, CVM_FOREIGN)) {
        cvm_print(py_vm, v, quoted, out);
        return;
    }
    if (PyList_CheckExact(op) || PyTuple_CheckExact(op)) {
        py_print_items(op, quoted, out);                /* as if the host had seen it */
        return;
    }
    py_vm->printing++;
    Py_INCREF(op);
    text = quoted && !PyUnicode_CheckExact(op) ? PyObject_Repr(op) : PyObject_Str(op);
    py_vm->printing--;
    utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;
    if (utf8 != NULL && quoted && PyUnicode_CheckExact(op))
        cvm_put_quoted(out, utf8, (size_t)n);
    else if (utf8 != NULL)
        fwrite(utf8, 1, (size_t)n, out);
    Py_XDECREF(text);
    Py_DECREF(op);
    if (utf8 == NULL) {                 /* no text of its own */
        PyErr_Clear();
        cvm_error_clear(py_vm);
        fprintf(out, "#<%s>", Py_TYPE(op)->tp_name);
    }
}

void py_print(cvm *vm, cvm_value v, int quoted, FILE *out)
{
    rrc_object *ob = cvm_named_ob(v);
    cvm *saved = py_vm;
    py_vm = vm;
    if (cvm_is(v, CVM_DICT)) {
        cvm_dict_print(vm, v, quoted, out);
    } else if (!cvm_is(v, CVM_FOREIGN)) {
        py_print_sequence(vm, v, quoted, out);
    } else if (ob == NULL) {
        fputs("#<disposed>", out);
    } else if (((PyTypeObject *)(uintptr_t)ob->ob_type)->ob_base.rrc.ob_base.ob_type == NULL) {
        fprintf(out, "#<%s>", RRC_TYPE(ob)->tp_name);        /* an object of a library that is not Python's */
    } else {
        py_print_object((PyObject *)(void *)ob, quoted, out);
    }
    py_vm = saved;
}

/* ---- calls ------------------------------------------------------------------- */

/* Types of this API have a type themselves; those of other libraries have none. */
static int is_python(rrc_object *ob)
{
    return ob->ob_type->ob_base.ob_type != NULL;
}

static int is_callable(cvm_value v)
{
    rrc_object *ob = cvm_named_ob(v);
    return ob != NULL && is_python(ob) && ((PyTypeObject *)(uintptr_t)ob->ob_type)->tp_call != NULL;
}

/* args are n rooted slots. */
static cvm_value call_object(PyObject *callable, cvm_value *args, size_t n, PyObject *kwargs)
{
    PyObject *few[8] = { NULL }, **objects = n <= Py_ARRAY_LENGTH(few) ? few : PyMem_Calloc(n, sizeof *objects), *result = NULL;
    size_t i;
    if (objects == NULL)
        return cvm_out_of_memory(py_vm);
    for (i = 0; i < n && (objects[i] = py_from_value(args[i])) != NULL; i++)
        ;
    if (i == n)
        result = PyObject_VectorcallDict(callable, objects, n, kwargs);
    while (i-- > 0)
        Py_DECREF(objects[i]);
    if (objects != few)
        PyMem_Free(objects);
    if (result == NULL)
        return py_fail();
    return py_to_value_steal(result);
}

static cvm_value call_foreign(cvm *vm, cvm_value callee, cvm_value *args, size_t n)
{
    cvm *saved = py_vm;
    PyObject *callable;
    cvm_value v;
    if (vm->closing == CVM_CLOSED)
        return cvm_fail(vm, "the VM is being closed: no more calls");
    py_vm = vm;
    callable = (PyObject *)(void *)cvm_ob_of(vm, callee);
    v = callable != NULL ? call_object(callable, args, n, NULL) : CVM_NONE;
    if (v == CVM_NONE && !vm->error.failed)
        py_fail();
    v = v != CVM_NONE ? *cvm_root(vm, v) : v;
    if (v != CVM_NONE) {
        cvm_value *r_v = &vm->stack[vm->sp - 1];
        Py_XDECREF(callable);
        v = *r_v;
        vm->sp--;
    } else {
        Py_XDECREF(callable);
    }
    py_vm = saved;
    return v;
}

/* (call object 'method args...) */
cvm_value py_call_method(cvm *vm, cvm_value *args, size_t n)
{
    cvm *saved = py_vm;
    PyObject *op, *f;
    size_t scope = cvm_open(vm);
    cvm_value *v = cvm_root(vm, CVM_NONE);
    py_vm = vm;
    op = py_from_value(args[0]);
    f = op != NULL ? PyObject_GetAttrString(op, cvm_symbol_text(args[1])) : NULL;
    *v = f != NULL ? call_object(f, args + 2, n - 2, NULL) : py_fail();
    Py_XDECREF(f);
    Py_XDECREF(op);
    py_vm = saved;
    cvm_close(vm, scope);
    return *v;
}

/* The proxy forgets op. If C has borrowed op from a dict in which the proxy stands, op lives as long as the
   proxy: that keeps a tuple, which owns op. 0: no memory. */
static int let_go(cvm *vm, cvm_value *slot, PyObject *op)
{
    cvm_value *kept = cvm_root(vm, CVM_NIL);
    if (CVM_FOREIGN_OF(*slot)->lent)
        *kept = py_to_value_steal(PyTuple_Pack(1, op));
    if (*kept == CVM_NONE)
        return 0;
    rrc_unlink(vm->rrc, _Py_RRC(op));
    CVM_FOREIGN_OF(*slot)->ob = NULL;
    cvm_store(vm, *slot, &CVM_FOREIGN_OF(*slot)->attributes, *kept);
    return 1;
}

/* (with ...) and (close x): the object's `close`, if it has one; then the proxy forgets it. */
int py_close(cvm *vm, cvm_value *slot)
{
    cvm *saved = py_vm;
    PyObject *op, *result = NULL, *method;
    cvm_error before = vm->error;
    py_state *py = py_state_of(vm);
    PyObject *flying = py->flying;
    size_t flying_at = py->flying_at;
    int ok;
    if (CVM_FOREIGN_OF(*slot)->ob == NULL)
        return 1;
    cvm_error_clear(vm);
    py_vm = vm;
    py->flying = NULL;
    op = py_from_value(*slot);
    method = op != NULL ? PyObject_GetAttrString(op, "close") : NULL;
    if (method != NULL) {
        result = PyObject_CallNoArgs(method);
        Py_DECREF(method);
    } else if (op != NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }
    ok = PyErr_Occurred() == NULL;
    Py_XDECREF(result);
    if (op != NULL && op->ob_refcnt < RRC_REFCNT_IMMORTAL && CVM_FOREIGN_OF(*slot)->ob != NULL && !let_go(vm, slot, op))
        ok = 0;
    Py_XDECREF(op);
    if (!ok && !before.failed)
        py_fail();
    else
        PyErr_Clear();
    if (before.failed) {                /* of two errors the first one tells more */
        vm->error = before;
        Py_XSETREF(py->flying, flying);
        py->flying_at = flying_at;
    } else {
        Py_XDECREF(flying);
    }
    py_vm = saved;
    return ok || before.failed;
}

/* ---- the layer ------------------------------------------------------------------ */

static PyTypeObject *const static_types[] = {
    &PyBaseObject_Type, &PyType_Type, &PyUnicode_Type, &PyDict_Type, &PySet_Type, &PyFrozenSet_Type, &PySetIter_Type,
    &PyTuple_Type, &PyList_Type, &PyLong_Type, &PyBool_Type,
    &PyFloat_Type, &PyComplex_Type, &PyBytes_Type, &PyByteArray_Type, &PyMemoryView_Type, &PySlice_Type, &PyCFunction_Type, &PyFunction_Type,
    &py_host_type, &PyMethod_Type, &PyMethodDescr_Type, &PyClassMethodDescr_Type, &PyGetSetDescr_Type, &PyMemberDescr_Type,
    &PyWrapperDescr_Type, &PyClassMethod_Type, &PyStaticMethod_Type, &PyInstanceMethod_Type, &PyProperty_Type, &PySuper_Type, &PyModule_Type,
    &PyModuleDef_Type, &PyRange_Type, &PySeqIter_Type, &PyCallIter_Type, &PyCell_Type, &_PyWeakref_RefType, &_PyWeakref_ProxyType,
    &_PyWeakref_CallableProxyType, &PyCapsule_Type, &PyCode_Type, &PyFrame_Type, &PyContext_Type, &PyContextVar_Type, &PyContextToken_Type,
    &PyTraceBack_Type, &py_managed_buffer_type, &PyDictProxy_Type, &PyReversed_Type, &PyEnum_Type, &PyMap_Type, &PyFilter_Type, &PyZip_Type
};

/* The types are shared by all VMs: the first one makes them ready. */
static int ready_types(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    PyTypeObject *exceptions;
    size_t i, n;
    int ok = 1;
    pthread_mutex_lock(&lock);
    for (i = 0; ok && i < Py_ARRAY_LENGTH(static_types); i++)
        ok = PyType_Ready(static_types[i]) == 0;
    exceptions = py_exception_types(&n);
    for (i = 0; ok && i < n; i++)
        ok = PyType_Ready(&exceptions[i]) == 0 && PyType_Ready(Py_TYPE(Py_None)) == 0
          && PyType_Ready(Py_TYPE(Py_NotImplemented)) == 0 && PyType_Ready(Py_TYPE(Py_Ellipsis)) == 0;
    pthread_mutex_unlock(&lock);
    return ok;
}

/* The module `codecs` has functions. The module `builtins` has the types and the exceptions by their names, functions, and the singletons. */
static int fill_builtins(void)
{
    PyObject *builtins = PyImport_AddModule("builtins"), *codecs = builtins != NULL ? PyImport_AddModule("codecs") : NULL;
    PyTypeObject *exceptions;
    size_t i, n;
    int ok = codecs != NULL && PyModule_AddFunctions(codecs, py_codecs_functions) == 0;
    exceptions = py_exception_types(&n);
    for (i = 0; ok && i < Py_ARRAY_LENGTH(static_types); i++)
        ok = PyModule_AddObjectRef(builtins, static_types[i]->tp_name, (PyObject *)(void *)static_types[i]) == 0;
    for (i = 0; ok && i < n; i++)
        ok = PyModule_AddObjectRef(builtins, exceptions[i].tp_name, (PyObject *)(void *)&exceptions[i]) == 0;
    return ok && PyModule_AddFunctions(builtins, py_builtin_functions) == 0
        && PyModule_AddObjectRef(builtins, "NotImplemented", Py_NotImplemented) == 0
        && PyModule_AddObjectRef(builtins, "Ellipsis", Py_Ellipsis) == 0 && PyModule_AddObjectRef(builtins, "None", Py_None) == 0
        && PyModule_AddObjectRef(builtins, "True", Py_True) == 0 && PyModule_AddObjectRef(builtins, "False", Py_False) == 0;
}

/* ---- kinds of the API ------------------------------------------------------------ */

static int equal(cvm *vm, cvm_value *a, cvm_value *b)
{
    return cvm_is(*a, CVM_DICT) ? 0 : py_equal_sequences(vm, a, b);     /* a dict is equal to itself only */
}

/* The letters of signatures: an array, a dict, a tuple. */
static int has(cvm_value v, char letter, const char **wanted)
{
    *wanted = letter == 'A' ? "an array" : letter == 'D' ? "a dict" : "a tuple";
    return letter == 'A' ? cvm_is(v, CVM_ARRAY) : letter == 'D' ? cvm_is(v, CVM_DICT) : cvm_is_tuple(v);
}

/* A dict or an array is shown with the vectors that it has for itself as one object. All other objects are
   shown as the language does. */
static void edges(void *vm, rrc_gcref p, rrc_edgeproc visit_one, void *arg)
{
    cvm_value v = (cvm_value)p, items = p != NULL ? cvm_array_items(v) : CVM_NIL;
    size_t i;
    if (p != NULL && cvm_is(v, CVM_DICT))
        cvm_dict_edges(v, visit_one, arg);
    else if (items == CVM_NIL)
        cvm_edges(vm, p, visit_one, arg);
    for (i = 0; items != CVM_NIL && i < CVM_ARRAY_OF(v)->length; i++)
        if (cvm_is_object(CVM_VECTOR_OF(items)->items[i]))
            visit_one(arg, cvm_object_of(CVM_VECTOR_OF(items)->items[i]), NULL, i);
}

static size_t size_of(cvm_value v)
{
    return cvm_is_object(v) ? cvm_object_size(cvm_object_of(v)) : 0;
}

static void describe(void *vm, rrc_gcref p, rrc_description *about)
{
    cvm_value v = (cvm_value)p;
    cvm_describe(vm, p, about);
    about->size += size_of(cvm_array_items(v));
    if (cvm_is(v, CVM_DICT))
        about->size += size_of(CVM_DICT_OF(v)->entries) + size_of(CVM_DICT_OF(v)->index);
}

static int open_api(cvm *vm)
{
    static const cvm_foreign_ops foreign = {
        is_callable, call_foreign, py_print, py_is_gone, has, equal
    };
    py_state *py = py_state_of(vm);
    cvm *saved = py_vm;
    int ok;
    if (rrc_check_config(vm->rrc) != RRC_OK)
        return 0;
    py_vm = vm;
    py->thread.interp = (PyInterpreterState *)(void *)vm;
    py->thread.gilstate_counter = 1;
    cvm_lisp_of(vm)->foreign = &foreign;
    cvm_sequences_define(vm);
    cvm_dict_define(vm);
    ok = ready_types();
#ifdef RRC_DEBUG
    ok = ok && py_borrows_open(vm);
#endif
    vm->heap.booting = 0;
    py->interned = ok ? PyDict_New() : NULL;
    py->defs = py->interned != NULL ? PyDict_New() : NULL;
    py->modules = py->defs != NULL ? PyDict_New() : NULL;
    ok = py->modules != NULL && fill_builtins();
    vm->heap.booting = 1;
    ok = ok && cvm_define_all(vm, CVM_BUILTIN, py_sequence_procedures)
        && cvm_define_all(vm, CVM_BUILTIN, py_dict_procedures) && cvm_define_all(vm, CVM_BUILTIN, py_procedures);
    py_vm = saved != NULL ? saved : vm;
    return ok;
}

static void visit(cvm *vm)
{
    py_state *py = py_state_of(vm);
    size_t i;
    for (i = 0; i < py->static_capacity; i++)
        cvm_heap_visit(&vm->heap, &py->statics[i].proxy);
}

/* Modules go first, as everything else may be used while they do. */
static void close_api(cvm *vm)
{
    py_state *py = py_state_of(vm);
    cvm *saved = py_vm;
    size_t i;
    py_vm = vm;
    py->ended = 1;
    py_forget_lookups(vm);
    Py_CLEAR(py->empty_tuple);
    py_drop_spare(vm);
    PyErr_Clear();
    PyErr_SetHandledException(NULL);
    Py_CLEAR(py->flying);
    Py_CLEAR(py->unraisable);
    Py_CLEAR(py->error_handlers);
    Py_CLEAR(py->codec_searches);
    Py_CLEAR(py->codecs);
    Py_CLEAR(py->context);
    Py_CLEAR(py->dict);
    Py_CLEAR(py->defs);
    if (py->modules != NULL)
        PyDict_Clear(py->modules);
    rrc_gc_collect(vm->rrc);
    rrc_run_pending(vm->rrc, 0);
    py_call_back();
    Py_CLEAR(py->interned);
    for (i = 0; i < py->static_capacity; i++)
        Py_CLEAR(py->statics[i].dict);
    Py_CLEAR(py->modules);
    rrc_gc_collect(vm->rrc);
    py_call_back();
    py_vm = saved == vm ? NULL : saved;
}

/* At a safe point: what belongs to an error goes when the error is over, and callbacks that are due are called. */
static void attend(cvm *vm)
{
    cvm *saved = py_vm;
    py_vm = vm;
    if (!vm->error.failed)
        Py_CLEAR(PY->flying);
    py_call_back();
    py_vm = saved;
}

static void free_api(cvm *vm)
{
    py_state *py = py_state_of(vm);
    py_call_at_exit(vm);
    while (py->file_count > 0) {
        PyMem_Free(py->files[--py->file_count].name);
        PyMem_Free(py->files[py->file_count].path);
    }
    PyMem_Free(py->files);
    PyMem_Free(py->in_repr);
#ifdef RRC_DEBUG
    py_borrows_free(vm);
#endif
    free(py_state_of(vm)->statics);
    py_state_of(vm)->statics = NULL;
    py_state_of(vm)->static_capacity = 0;
}

const cvm_layer cvm_python_layer = {
    .size = sizeof(py_state), .number = CVM_API, .open = open_api, .roots = visit, .let_go = close_api,
    .free = free_api, .counts_freely = 1, .edges = edges, .describe = describe,
    .attend = attend, .trim = py_drop_spare, .view = py_view_new, .proxy = py_proxy_new,
#ifdef RRC_DEBUG
    .realloc = py_note_and_realloc
#endif
};
