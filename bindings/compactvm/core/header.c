/* header.c - the one file that holds the header's implementation. */
#define RAWREFCOUNT_IMPLEMENTATION
#include "vm.h"
