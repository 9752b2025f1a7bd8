/* count_main.c - calls each operation of count.c once, and says which function that was:
 * lines "function <tab> times <tab> name", for instructions.sh. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "count.h"

enum { CLASSES = 64, GRAIN = 16 };

static char *const region = (char *)0x20000000000;
static const size_t region_size = (size_t)1 << 28;
static size_t used;
static void *free_lists[CLASSES];

void *count_memory(size_t size)
{
    char *memory = region + used;

    used += (size + 63) / 64 * 64;
    if (used > region_size) {
        fputs("count: more memory is needed\n", stderr);
        exit(1);
    }
    return memory;
}

void *count_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    size_t old_class = (old_size + GRAIN - 1) / GRAIN, new_class = (new_size + GRAIN - 1) / GRAIN;
    void *block = NULL;

    (void)userdata;
    if (new_size > 0 && new_class < CLASSES && free_lists[new_class] != NULL) {
        block = free_lists[new_class];
        free_lists[new_class] = *(void **)block;
    } else if (new_size > 0) {
        block = count_memory(new_size);
    }
    if (ptr != NULL) {
        if (new_size > 0)
            memcpy(block, ptr, old_size < new_size ? old_size : new_size);
        if (old_class > 0 && old_class < CLASSES) {
            *(void **)ptr = free_lists[old_class];
            free_lists[old_class] = ptr;
        }
    }
    return block;
}

static void run(const count_op *op)
{
    for (; op->name != NULL; op++) {
        op->prepare();
        op->run();
        printf("%s\t%lu\t%s\n", op->function, (unsigned long)op->times, op->name);
    }
}

int main(void)
{
    if (mmap(region, region_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
            != (void *)region) {
        fputs("count: there is no memory at the address where it must be\n", stderr);
        return 1;
    }
    run(count_dict);
    run(count_slot);
    run(count_mirror);
    run(count_vm);
    run(count_port);
    run(count_hand);
    return 0;
}
