/* A private copy with another layout, other limits, and the debug checks. */

#include "other_units.h"

#include <stddef.h>
#include <stdint.h>

struct rrc_type;
typedef struct odd_object {
    char name[8];
    intptr_t links;
    const struct rrc_type *type;
    void *link;
} odd_object;

#define ODD(ob) ((odd_object *)(void *)(ob))
#define RRC_REFCNT(ob) (ODD(ob)->links)
#define RRC_LINK(ob) (ODD(ob)->link)
#define RRC_TYPE(ob) (ODD(ob)->type)
#undef RRC_CHUNK_LINKS
#define RRC_CHUNK_LINKS 64
#undef RRC_DEALLOC_DEPTH
#define RRC_DEALLOC_DEPTH 1
#define RRC_NO_STDIO
#undef RRC_DEBUG
#define RRC_DEBUG
#define RAWREFCOUNT_STATIC
#include "tiny_host.h"

int static_adapted_play(void)
{
    return play(sizeof(odd_object));
}

const void *static_adapted_address(void)
{
    return rrc_version();
}
