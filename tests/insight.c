/* rrc_insight.h in a unit of its own, which sees only the declarations of rawrefcount.h: it uses public functions only. */

#include "layout.h"
#include "rawrefcount.h"

#ifndef TEST_NO_CYCLES                    /* which leaves out what it needs */
#define RRC_INSIGHT_IMPLEMENTATION
#endif
#include "bindings/insight/rrc_insight.h"

#ifdef RRCI_IMPLEMENTED
#error "the implementation of rawrefcount.h is here"
#endif
