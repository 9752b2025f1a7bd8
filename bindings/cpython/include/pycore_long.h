/* pycore_long.h - of CPython's private header, what its module datetime uses. */
#ifndef PYCORE_LONG_H
#define PYCORE_LONG_H

#include "Python.h"

#define _PyLong_GetOne() Py_True        /* borrowed; True is an int */

#endif
