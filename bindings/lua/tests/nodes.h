/* What the tests of the binding share: objects of C that own up to FIELDS others, with a
 * Lua class. Scripts drive them through the module `nodes`; programs in C link it. */
#ifndef NODES_H
#define NODES_H

#include "rrc_lua.h"
#include "foreign.h"

enum { FIELDS = 3 };

typedef struct node {
    rrc_object  head;
    int         id;
    rrc_object *field[FIELDS];
    struct node *previous, *next;       /* of all that live */
    foreign    *of;                     /* of a Wrapper */
} node;

/* Tracked, with tp_clear; without tp_clear; tracked by nobody; with a finalizer; with a
   class whose close runs a callback; one whose traversals are counted; with a foreign object. */
extern const rrc_type Node, Stubborn, Untracked, Finalized, Closing, Counted, Wrapper;

/* All nodes of the process. */
extern node all_nodes;

int luaopen_nodes(lua_State *L);

#endif
