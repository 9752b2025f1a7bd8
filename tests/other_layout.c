/* A unit that disagrees about where the count is. */

#include "other_units.h"

#include <stddef.h>
#include <stdint.h>

#define RRC_REFCNT(ob) (*(intptr_t *)((char *)(ob) + 2 * sizeof(void *)))
#include "rawrefcount.h"

void *other_layout_heap_new(const void *desc)
{
    return rrc_heap_new((const rrc_desc *)desc);
}

int other_layout_check_config(void *heap)
{
    return rrc_check_config((rrc_heap *)heap);
}
