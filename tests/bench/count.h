/* count.h - operations whose instructions are counted: count.c, built three times, count_vm.c, count_port.c and by_hand.c
 * have them, and count_main.c calls them. */
#ifndef COUNT_H
#define COUNT_H

#include <stddef.h>

typedef struct count_op {
    const char *name;           /* what instructions.txt calls it */
    const char *function;       /* what callgrind calls it: the only one whose instructions count */
    void      (*run)(void);
    void      (*prepare)(void);
    size_t      times;          /* how often run does it */
} count_op;

/* Each ends with a NULL. */
extern const count_op count_dict[], count_slot[], count_mirror[], count_vm[], count_port[], count_hand[];

/* Memory at a fixed address, so that hashes of addresses, and with them the counts, are
   the same in every run. To allocate is to cut off a piece or to take one from a list. */
void *count_memory(size_t size);                /* zeroed; never given back */
void *count_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size);

#endif
