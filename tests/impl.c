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
#define RRC_HOST_HAS_STATE(heap, p) ((void)(heap), host_has_state(p))
#if HOST_SLOT
#define RRC_HOST_SLOT(heap, p) host_slot(rrc_userdata(heap), p)
#endif
#endif

#if !HOST_MOVES
#define RRC_HOST_MOVES 0
#endif

#if UNIT_LOCKS
#include "threads.h"
#define RRC_ATOMIC_WORD uintptr_t
#define RRC_ATOMIC_LOAD(address) host_swap((address), 0, 0)
#define RRC_ATOMIC_SWAP(address, value) host_swap((address), 1, (value))
#define RRC_ATOMIC_TRY(address, old, value) host_try((address), (old), (value))
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t host_swap(uintptr_t *address, int change, uintptr_t value)
{
    uintptr_t old;

    if (change && unit_on_swap != NULL)
        unit_on_swap(value);
    pthread_mutex_lock(&host_lock);
    old = *address;
    if (change)
        *address = value;
    pthread_mutex_unlock(&host_lock);
    return old;
}

static int host_try(uintptr_t *address, uintptr_t *old, uintptr_t value)
{
    int same;

    if (unit_on_swap != NULL)
        unit_on_swap(value);
    pthread_mutex_lock(&host_lock);
    same = *address == *old;
    if (same)
        *address = value;
    else
        *old = *address;
    pthread_mutex_unlock(&host_lock);
    return same;
}
#endif

static void *letter_malloc(size_t size)
{
    return unit_letters_fail ? NULL : malloc(size);
}

#define RRC_THREADS
#define RRC_THREAD_MALLOC(size) letter_malloc(size)
#define RRC_THREAD_FREE(memory) free(memory)
#ifdef TEST_NO_CYCLES
#define RRC_NO_CYCLES
#endif
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#ifdef TEST_CLOSED
#include "bindings/closed/rrc_closed.h"
#endif

#ifdef TEST_NO_CYCLES
/* What the toy host calls only if its options ask for it, which no test of such a build does. */
#include <stdio.h>

static int left_out(rrc_heap *heap, const char *name)
{
    (void)heap;
    fprintf(stderr, "%s was called, which RRC_NO_CYCLES leaves out\n", name);
    abort();
}

int rrc_major_collection_start(rrc_heap *heap) { return left_out(heap, "rrc_major_collection_start"); }
int rrc_major_collection_trace_early(rrc_heap *heap) { return left_out(heap, "rrc_major_collection_trace_early"); }
int rrc_major_collection_pause(rrc_heap *heap) { return left_out(heap, "rrc_major_collection_pause"); }
int rrc_major_collection_keep(rrc_heap *heap) { return left_out(heap, "rrc_major_collection_keep"); }

size_t rrc_major_collection_work(rrc_heap *heap, size_t max)
{
    (void)max;
    return (size_t)left_out(heap, "rrc_major_collection_work");
}

size_t rrc_major_collection_sweep(rrc_heap *heap, size_t max)
{
    (void)max;
    return (size_t)left_out(heap, "rrc_major_collection_sweep");
}

void rrc_marked(rrc_heap *heap, rrc_gcref p)
{
    (void)p;
    left_out(heap, "rrc_marked");
}
#endif
