/* frameobject.h - there are no frames of a language here. Code objects and frames are what C makes of
 * them to say where an error arose: Cython's C does. */
#include "Python.h"
