/* What the units of the test extension share. */
#ifndef NODES_H
#define NODES_H

#include <rrc_ruby.h>

/* nodes.c */
long this_test(void);
void note_dead(long id, long made_in_test);     /* an object is gone: Nodes.dead, Nodes.on_dealloc */

void init_slots(void);                  /* slots.c */
void init_foreign(void);                /* foreign.c */

#endif
