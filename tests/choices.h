/* Where a random test's choices come from: a generator (xorshift, by Marsaglia), or the
 * bytes of a fuzzer. */

#ifndef CHOICES_H
#define CHOICES_H

#include <stddef.h>
#include <stdint.h>

typedef struct choices {
    const unsigned char *bytes;     /* NULL: the generator */
    size_t left;                    /* of the bytes; when there are none, 0 is chosen */
    uint64_t state;
    int depth;                      /* for steps inside of finalizers and deallocs: how deep */
    int calm;                       /* ... and whether they are over */
} choices;

static inline choices choices_of_seed(unsigned long seed)
{
    choices from = { NULL, 0, 0, 0, 0 };

    from.state = (uint64_t)(seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return from;
}

static inline choices choices_of_bytes(const unsigned char *bytes, size_t size)
{
    choices from = { NULL, 0, 0, 0, 0 };

    from.bytes = bytes;
    from.left = size;
    return from;
}

static inline int choices_are_left(const choices *from)
{
    return from->bytes == NULL || from->left > 0;
}

/* One of 0 .. n - 1. */
static inline unsigned pick(choices *from, unsigned n)
{
    if (from->bytes != NULL) {
        if (from->left == 0)
            return 0;
        from->left--;
        return *from->bytes++ % n;
    }
    from->state ^= from->state << 13;
    from->state ^= from->state >> 7;
    from->state ^= from->state << 17;
    return (unsigned)(from->state >> 33) % n;
}

#endif
