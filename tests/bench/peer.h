/* peer.h - what the peers that are written in C share: they print what main.c reads. */
#ifndef PEER_H
#define PEER_H

#include <stdio.h>
#include <stdlib.h>
#include "bench.h"

/* The number of links. *order becomes a permutation of 0 .. n-1. */
static size_t peer_begin(int argc, char **argv, uint32_t **order)
{
    size_t n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;

    *order = n > 0 ? malloc(n * sizeof **order) : NULL;
    if (*order == NULL) {
        fprintf(stderr, "usage: %s NUMBER_OF_LINKS\n", argv[0]);
        exit(2);
    }
    bench_shuffle(*order, n);
    bench_choose_clock(n);
    return n;
}

static int peer_repeats(size_t n)
{
    return n <= 200000 ? 5 : n <= 2000000 ? 3 : n <= 5000000 ? 2 : 1;
}

static inline void peer_row(const char *row, const samples *s, const char *unit)
{
    printf("%s\t%.4f\t%.4f\t%s\n", row, best_value(s), best_limit(s), unit);
}

/* For the file of calls. */
static inline void peer_calls(const char *name, const calls *c)
{
    char before[96];

    snprintf(before, sizeof before, "calls\t%s\t", name);
    calls_print(c, stdout, before, '\t');
}

#endif
