/* context.h - context variables: each context has values of its own for them. A copy of a context costs as much as it has
 * variables. */
#ifndef CPY_CONTEXT_H
#define CPY_CONTEXT_H

extern PyTypeObject PyContext_Type, PyContextVar_Type, PyContextToken_Type;
#define PyContext_CheckExact(op) Py_IS_TYPE(op, &PyContext_Type)
#define PyContextVar_CheckExact(op) Py_IS_TYPE(op, &PyContextVar_Type)
#define PyContextToken_CheckExact(op) Py_IS_TYPE(op, &PyContextToken_Type)

PyObject *PyContext_New(void);
PyObject *PyContext_Copy(PyObject *context);
PyObject *PyContext_CopyCurrent(void);
int PyContext_Enter(PyObject *context);
int PyContext_Exit(PyObject *context);          /* the current one */
PyObject *PyContextVar_New(const char *name, PyObject *otherwise);      /* otherwise: the default value, or NULL */
/* *value is new; NULL: there is none. otherwise goes before the default value. -1 after a failure. */
int PyContextVar_Get(PyObject *var, PyObject *otherwise, PyObject **value);
PyObject *PyContextVar_Set(PyObject *var, PyObject *value);             /* a token, for PyContextVar_Reset */
int PyContextVar_Reset(PyObject *var, PyObject *token);

#endif
