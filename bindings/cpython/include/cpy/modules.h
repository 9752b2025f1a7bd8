/* modules.h - modules, with single- and multi-phase initialization. */
#ifndef CPY_MODULES_H
#define CPY_MODULES_H

extern PyTypeObject PyModule_Type, PyModuleDef_Type;

typedef struct PyModuleDef_Base {
    PyObject_HEAD
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
} PyModuleDef_Base;

#define PyModuleDef_HEAD_INIT { PyObject_HEAD_INIT(&PyModuleDef_Type) NULL, 0, NULL }

typedef struct PyModuleDef_Slot {
    int slot;
    void *value;
} PyModuleDef_Slot;
#define Py_mod_create 1
#define Py_mod_exec 2
#define Py_mod_token 3                  /* else the token of a module is the address of its definition */

typedef struct PyModuleDef {
    PyModuleDef_Base m_base;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    traverseproc m_traverse;
    inquiry m_clear;
    freefunc m_free;
} PyModuleDef;

#define PYTHON_API_VERSION 1013
#define PyModule_CheckExact(op) Py_IS_TYPE(op, &PyModule_Type)
#define PyModule_Check(op) PyObject_TypeCheck(op, &PyModule_Type)
PyObject *PyModule_Create2(PyModuleDef *def, int version);
#define PyModule_Create(def) PyModule_Create2((def), PYTHON_API_VERSION)
PyObject *PyModuleDef_Init(PyModuleDef *def);
PyObject *PyModule_New(const char *name);
PyObject *PyModule_NewObject(PyObject *name);
PyObject *PyModule_GetDict(PyObject *module);
PyObject *PyModule_GetNameObject(PyObject *module);
const char *PyModule_GetName(PyObject *module);
void *PyModule_GetState(PyObject *module);
#define _PyModule_GetState PyModule_GetState
void *PyModule_GetState_DuringGC(PyObject *module);     /* for a tp_traverse: this and the next but one set no exception */
int PyModule_GetToken(PyObject *module, void **result);
int PyModule_GetToken_DuringGC(PyObject *module, void **result);
PyModuleDef *PyModule_GetDef(PyObject *module);
int PyModule_AddObject(PyObject *module, const char *name, PyObject *value);
int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value);
int PyModule_AddIntConstant(PyObject *module, const char *name, long n);
int PyModule_AddStringConstant(PyObject *module, const char *name, const char *text);
int PyModule_AddType(PyObject *module, PyTypeObject *type);
int PyModule_AddFunctions(PyObject *module, PyMethodDef *defs);
int PyModule_SetDocString(PyObject *module, const char *doc);
#define PyModule_AddStringMacro(module, name) PyModule_AddStringConstant((module), #name, name)
#define PyModule_AddIntMacro(module, name) PyModule_AddIntConstant((module), #name, name)
PyObject *PyState_FindModule(PyModuleDef *def);                 /* borrowed */
int PyState_AddModule(PyObject *module, PyModuleDef *def);
int PyState_RemoveModule(PyModuleDef *def);
PyObject *PyModule_GetFilenameObject(PyObject *module);

/* There is no compiler for Python's language: NotImplementedError. Cython's C has such code for modules that may be there. */
#define Py_single_input 256
#define Py_file_input 257
#define Py_eval_input 258
int PyRun_SimpleString(const char *text);               /* -1, and the exception is written */
#define Py_CompileString(text, file, start) PyRun_String((text), (start), NULL, NULL)
#define PyEval_EvalCode(code, globals, locals) PyRun_String(NULL, 0, (globals), (locals))
#define PyImport_ReloadModule(op) Py_NewRef(op)         /* (one of C stays as it is) */
PyObject *PyRun_String(const char *text, int start, PyObject *globals, PyObject *locals);

PyObject *PyImport_ImportModule(const char *name);
PyObject *PyImport_Import(PyObject *name);
PyObject *PyImport_ImportModuleLevelObject(PyObject *name, PyObject *globals, PyObject *locals, PyObject *from, int level);
PyObject *PyImport_ImportModuleLevel(const char *name, PyObject *globals, PyObject *locals, PyObject *from, int level);
#define PyImport_ImportModuleEx(name, globals, locals, from) PyImport_ImportModuleLevel((name), (globals), (locals), (from), 0)
#define PyImport_ImportModuleNoBlock PyImport_ImportModule
PyObject *PyImport_AddModule(const char *name);                 /* borrowed */
PyObject *PyImport_AddModuleObject(PyObject *name);             /* borrowed */
PyObject *PyImport_GetModule(PyObject *name);                   /* new. NULL, without an exception: it was not imported */
PyObject *PyImport_GetModuleDict(void);                         /* borrowed */
/* Of the module `sys`, which has what a program, or C by these, has put into it. */
PyObject *PySys_GetObject(const char *name);                    /* borrowed. NULL, without an exception: there is none */
int PySys_SetObject(const char *name, PyObject *value);         /* value NULL: it is removed */
int PySys_Audit(const char *event, const char *format, ...);    /* (nobody looks) */
void PySys_WriteStdout(const char *format, ...);
void PySys_WriteStderr(const char *format, ...);
void PySys_FormatStdout(const char *format, ...);               /* as PyUnicode_FromFormat */
void PySys_FormatStderr(const char *format, ...);

/* For code that names the types. No function takes one. */
typedef struct {
    Py_ssize_t length;
    wchar_t **items;
} PyWideStringList;

typedef struct PyConfig {
    int isolated, use_environment, dev_mode, install_signal_handlers, use_hash_seed;
    unsigned long hash_seed;
    int faulthandler, tracemalloc, import_time, code_debug_ranges, show_ref_count, dump_refs;
    wchar_t *dump_refs_file;
    int malloc_stats;
    wchar_t *filesystem_encoding, *filesystem_errors, *pycache_prefix;
    int parse_argv;
    PyWideStringList orig_argv, argv, xoptions, warnoptions;
    int site_import, bytes_warning, warn_default_encoding, inspect, interactive, optimization_level, parser_debug, write_bytecode,
        verbose, quiet, user_site_directory, configure_c_stdio, buffered_stdio;
    wchar_t *stdio_encoding, *stdio_errors, *check_hash_pycs_mode;
    int use_frozen_modules, safe_path, int_max_str_digits, pathconfig_warnings;
    wchar_t *program_name, *pythonpath_env, *home, *platlibdir;
    int module_search_paths_set;
    PyWideStringList module_search_paths;
    wchar_t *stdlib_dir, *executable, *base_executable, *prefix, *base_prefix, *exec_prefix, *base_exec_prefix;
    int skip_source_first_line;
    wchar_t *run_command, *run_module, *run_filename;
} PyConfig;

int PyImport_AppendInittab(const char *name, PyObject *(*init)(void));

#endif
