/* Every topic in one program. Arguments: parts of the names of the tests to run. */

#include "unit.h"

extern const unit_group links, scenarios, movement, phases, queue, finalizers, unlinking, heap_end, waiting,
    objects, memory, misuse, debugging, invariants, heaps, settings,
    gc_protocol, gc_types, gc_finalizers, gc_traverse, gc_scale, gc_insight, gc_early, demotion, reentry;

static const unit_group *const groups[] = {
    &links, &scenarios, &movement, &phases, &queue, &finalizers, &unlinking, &heap_end, &waiting,
    &objects, &memory, &misuse, &debugging, &invariants, &heaps, &settings,
    &gc_protocol, &gc_types, &gc_finalizers, &gc_traverse, &gc_scale, &gc_insight, &gc_early,
    &demotion, &reentry,
};

int main(int argc, char **argv)
{
    return unit_main(argc, argv, groups, sizeof groups / sizeof groups[0]);
}
