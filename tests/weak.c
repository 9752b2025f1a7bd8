/* rrc_weak.h in a unit of its own, which sees only the declarations of rawrefcount.h: it uses public functions only. */

#include "layout.h"
#include "rawrefcount.h"

#if HOST_FRONT
#define RRC_WEAK_HEAD front_head
#endif
#ifndef TEST_NO_CYCLES                    /* which leaves out what it needs */
#define RRC_WEAK_IMPLEMENTATION
#endif
#include "bindings/weak/rrc_weak.h"

#ifdef RRCI_IMPLEMENTED
#error "the implementation of rawrefcount.h is here"
#endif
