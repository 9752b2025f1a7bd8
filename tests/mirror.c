/* Garbage over both heaps of a host whose collector is closed: TEST_CLOSED.
 *
 *     mirror cases [PART_OF_A_NAME...]            one story each
 *     mirror graphs FILE...                       what tests/graphs tells, as far as such a host can
 *     mirror small [stride [first [count]]]       all small graphs
 *     mirror slices [stride [first [count]]]      ... changed between slices of a step
 *     mirror random [seed [runs [steps]]]         random changes
 *     mirror control increfs|moves [seed [runs]]  with a rule broken: it must fail */

#include "mirror_programs.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } programs[] = {
        { "cases", mirror_cases }, { "graphs", mirror_graphs }, { "small", mirror_small },
        { "slices", mirror_slices },
        { "random", mirror_random }, { "control", mirror_control },
    };
    size_t i;

    for (i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            return programs[i].run(argc - 1, argv + 1);
    fprintf(stderr, "mirror cases|graphs|small|slices|random|control ...\n");
    return 2;
}
