/* cython.h - what C that Cython generates asks before it uses fields of CPython's objects: here it shall call functions
 * in their place. In its mode for PyPy and in that for the limited API it sets these itself. */
#ifndef CPY_CYTHON_H
#define CPY_CYTHON_H

#define CYTHON_USE_PYLONG_INTERNALS 0
#define CYTHON_USE_PYLIST_INTERNALS 0
#define CYTHON_USE_UNICODE_INTERNALS 0
#define CYTHON_USE_PYTYPE_LOOKUP 0
#define CYTHON_USE_DICT_VERSIONS 0
#define CYTHON_USE_EXC_INFO_STACK 0
#define CYTHON_FAST_THREAD_STATE 0
#define CYTHON_FAST_GIL 0
#define CYTHON_FAST_PYCALL 0            /* (makes a frame of the language) */
#define CYTHON_METH_FASTCALL 0          /* (a field of PyCFunctionObject) */
#define CYTHON_UNPACK_METHODS 0
#define CYTHON_UPDATE_DESCRIPTOR_DOC 0
#define CYTHON_USE_FREELISTS 0
#define CYTHON_COMPRESS_STRINGS 0       /* there is no module zlib */

#endif
