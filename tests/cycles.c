/* The programs about cycles in one, to be built but once:
 *
 *     cycles random [seed [runs [steps]]]                          see random_cycles.c
 *     cycles small [stride [first [count [batch [settings]]]]]     see small_graphs.c
 *     cycles selves [...]                                          the same, of three nodes with self references
 *     cycles graphs FILE...                                        see graphs.c
 */

#include "world.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} programs[] = {
    { "random", random_cycles }, { "small", small_graphs }, { "selves", small_graphs }, { "graphs", graphs },
};

int main(int argc, char **argv)
{
    size_t i;

    for (i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            return programs[i].run(argc - 1, argv + 1);
    fprintf(stderr, "cycles: random, small, selves or graphs\n");
    return 2;
}
