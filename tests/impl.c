/* The implementing unit of the test programs. With HOST_MACROS the hooks are
 * fixed here; the descriptor's are then left NULL. */

#include "host.h"

#include <stdlib.h>

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

#ifdef __TINYC__                        /* it has no atomics; and the tests that it compiles have one thread */
#define RRC_ATOMIC_WORD uintptr_t
#define RRC_ATOMIC_LOAD(address) (*(address))
#define RRC_ATOMIC_SWAP(address, value) host_swap((address), (value))
#define RRC_ATOMIC_TRY(address, old, value) (*(old) == *(address) ? (*(address) = (value), 1) : (*(old) = *(address), 0))
static uintptr_t host_swap(uintptr_t *address, uintptr_t value)
{
    uintptr_t old = *address;
    *address = value;
    return old;
}
#endif

static void *letter_malloc(size_t size)
{
    return unit_letters_fail ? NULL : malloc(size);
}

#define RRC_THREADS
#define RRC_THREAD_MALLOC(size) letter_malloc(size)
#define RRC_THREAD_FREE(memory) free(memory)
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
