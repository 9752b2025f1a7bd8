/* pycore_ceval.h - what there is of it is in Python.h. */
#include "Python.h"
