/* pymath.h - all of it is in Python.h. */
#include "Python.h"
