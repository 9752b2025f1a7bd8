/* A unit that disagrees about RRC_DEBUG. */

#include "other_units.h"

#ifdef RRC_DEBUG
#undef RRC_DEBUG
#else
#define RRC_DEBUG
#endif
#include "host.h"

void *other_debug_heap_new(const void *desc)
{
    return rrc_heap_new((const rrc_desc *)desc);
}

int other_debug_check_config(void *heap)
{
    return rrc_check_config((rrc_heap *)heap);
}
