/* The object layout of a build. HOST_FRONT stands for a library whose objects
 * exist already: another head, in which the count does not come first, and no
 * room for the link but in front of the object. */

#ifndef LAYOUT_H
#define LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#if HOST_FRONT

struct rrc_type;

typedef struct front_head {
    const struct rrc_type *kind;
    uint32_t color, hash;
    intptr_t count;
} front_head;

/* Keeps what follows aligned as malloc does. */
typedef union front_prefix {
    void *link[2];
    long double align;
} front_prefix;

#define FRONT(ob) ((front_head *)(void *)(ob))
#define RRC_REFCNT(ob) (FRONT(ob)->count)
#define RRC_TYPE(ob) (FRONT(ob)->kind)
#define RRC_LINK(ob) (((front_prefix *)(void *)(ob))[-1].link[1])
#define RRC_OBJECT_PREFIX sizeof(front_prefix)

#endif
#endif
