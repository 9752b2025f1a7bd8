/* pycore_frame.h - the fields of frames are in Python.h. */
#include "Python.h"
