/* Every topic in one program. Arguments: topics, or parts of the names of tests; -NAME: all but these. */

#include "unit.h"

extern const unit_group links, scenarios, movement, phases, queue, finalizers, unlinking, heap_end, waiting,
    objects, memory, misuse, debugging, invariants, heaps, settings,
    gc_protocol, gc_types, gc_finalizers, gc_waiting, gc_traverse, gc_scale, gc_insight, gc_early, demotion, reentry, states, whole,
    mail, gc_slices, progress, outside, weak;

/* The quick ones come first: a wrong header is soon found. */
static const unit_group *const groups[] = {
    &links, &scenarios, &phases, &finalizers, &unlinking, &waiting, &objects, &misuse, &debugging, &settings,
    &gc_slices, &gc_traverse, &heap_end, &gc_early, &gc_insight, &states, &reentry, &gc_finalizers, &gc_waiting, &gc_types, &demotion,
    &whole, &mail, &weak, &progress, &outside, &queue, &gc_protocol, &heaps, &gc_scale, &invariants, &movement, &memory,
};

int main(int argc, char **argv)
{
    return unit_main(argc, argv, groups, sizeof groups / sizeof groups[0]);
}
