/* functions.c - the unit of the module `nodes` that holds the functions of both headers. */
#define RAWREFCOUNT_IMPLEMENTATION
#define RRC_LUA_IMPLEMENTATION
#include "rrc_lua.h"
