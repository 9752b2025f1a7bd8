/* pyconfig.h */
#include "Python.h"
