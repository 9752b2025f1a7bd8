/* The implementing unit of the test programs. With HOST_MACROS the hooks are
 * fixed here; the descriptor's are then left NULL. */

#include "host.h"

#if HOST_MACROS
#define RRC_HOST_TRACE(heap, p) host_trace(rrc_userdata(heap), p)
#define RRC_HOST_SURVIVOR(heap, p) host_survivor(rrc_userdata(heap), p)
#define RRC_HOST_PROPAGATE(heap) host_propagate(rrc_userdata(heap))
#define RRC_HOST_IS_YOUNG(heap, p) host_is_young(rrc_userdata(heap), p)
#define RRC_HOST_DEALLOC_TRIGGER(heap) host_dealloc_trigger(rrc_userdata(heap))
#define RRC_HOST_GUARD(heap, slot, ob) host_guard(heap, slot, ob)
#if HOST_SLOT
#define RRC_HOST_SLOT(heap, p) host_slot(rrc_userdata(heap), p)
#endif
#endif

#if !HOST_MOVES
#define RRC_HOST_MOVES 0
#endif

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
