/* Python.h - CPython's C API on compactvm: all that an extension includes.
 *
 * The names, signatures and rules of ownership are those that CPython 3.11 documents. What an
 * extension uses and this does not have fails when it is compiled. The README lists what there is.
 *
 * Behind it is a VM that moves its objects and finds garbage by tracing. The address of a
 * PyObject never changes; where its data is, each header below says. */
#ifndef Py_PYTHON_H
#define Py_PYTHON_H

#define PY_MAJOR_VERSION 3
#define PY_MINOR_VERSION 11
#define PY_MICRO_VERSION 2
#define PY_RELEASE_LEVEL_FINAL 0xF
#define PY_VERSION "3.11.2"
#define PY_VERSION_HEX 0x030B02F0

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <inttypes.h>               /* extensions count on these, too */
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include) && __has_include("rawrefcount.h")
#include "rawrefcount.h"            /* installed beside this file */
#else
#include "../../../rawrefcount.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "cpy/port.h"
#include "cpy/cython.h"
#include "cpy/object.h"
#include "cpy/gc.h"
#include "cpy/errors.h"
#include "cpy/numbers.h"
#include "cpy/unicode.h"
#include "cpy/codecs.h"
#include "cpy/bytes.h"
#include "cpy/containers.h"
#include "cpy/abstract.h"
#include "cpy/functions.h"
#include "cpy/modules.h"
#include "cpy/others.h"
#include "cpy/context.h"
#include "cpy/private.h"

#ifdef __cplusplus
}
#endif

#include "pythread.h"

/* In C, gcc would only warn of a function that is not declared. The module would be linked, and fail when it is loaded.
   (With -w nothing is reported.) */
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
#endif

#endif

/* pythoncapi_compat.h, which many packages have a copy of, includes this file again, and then defines functions of later
   versions for its unit. */
#if defined(PYTHONCAPI_COMPAT) && !defined(CPY_COMPAT)
#define CPY_COMPAT
#define PyObject_VisitManagedDict _PyCompat_VisitManagedDict
#define PyObject_ClearManagedDict _PyCompat_ClearManagedDict
#endif
