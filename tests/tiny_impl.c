#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
