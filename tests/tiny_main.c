/* The tiny host's scenario as a program of its own: to be compiled as C or C++,
 * with a private copy of the header (RAWREFCOUNT_STATIC) or with an implementing
 * unit of either language (tiny_impl.c). */

#include "tiny_host.h"

#include <stdio.h>

int main(void)
{
    int line = play(sizeof(rrc_object));

    if (line != 0)
        printf("tiny_host.h:%d: this step went wrong\n", line);
    return line != 0;
}
