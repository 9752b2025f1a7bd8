/* pycore_list.h - _PyList_ITEMS is in Python.h. */
#include "Python.h"
