/* Units of the test program that are built with other settings than the rest. */

#ifndef OTHER_UNITS_H
#define OTHER_UNITS_H

/* Both take what they are named after as void pointers, because their own
   declarations differ. The first gives what rrc_heap_new gave, the other the
   result of rrc_check_config. */
void *other_debug_heap_new(const void *desc);
int other_debug_check_config(void *heap);
void *other_layout_heap_new(const void *desc);
int other_layout_check_config(void *heap);

/* Plays a scenario with this unit's private copy of the header; the number of the
   step that went wrong, or 0. */
int static_plain_play(void);
int static_adapted_play(void);
const void *static_plain_address(void);
const void *static_adapted_address(void);

#endif
