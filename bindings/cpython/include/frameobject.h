/* frameobject.h - there are no frames of a language here. Code objects and frames are what C makes of
 * them to say where an error arose: Cython's C does. Headers that make CPython's versions alike mention
 * what is declared at the end; a call of it does not compile. */
#ifndef Py_FRAMEOBJECT_H
#define Py_FRAMEOBJECT_H

#include "Python.h"

typedef struct _is PyInterpreterState;

CPY_ABSENT("there are no frames") PyCodeObject *PyFrame_GetCode(PyFrameObject *);
CPY_ABSENT("there are no frames") PyFrameObject *PyFrame_GetBack(PyFrameObject *);
CPY_ABSENT("there are no frames") PyObject *PyFrame_GetLocals(PyFrameObject *);
CPY_ABSENT("there are no frames") PyFrameObject *PyThreadState_GetFrame(PyThreadState *);

#endif
