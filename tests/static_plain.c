/* A private copy of the header with nothing adapted. */

#include "other_units.h"

#undef RRC_DEBUG
#define RAWREFCOUNT_STATIC
#include "tiny_host.h"

int static_plain_play(void)
{
    return play(sizeof(rrc_object));
}

const void *static_plain_address(void)
{
    return rrc_version();
}
