/* peer.h - what the peers that are written in C share: they print what main.c reads. */
#ifndef PEER_H
#define PEER_H

#include <stdio.h>
#include <stdlib.h>
#include "bench.h"

enum { PEER_OBJECT = 32, PEER_SHELL = 48 };     /* bytes of p and of ob, as in the rows about links */

typedef struct peer_ob {        /* a counted object of 48 bytes, made by malloc at random addresses */
    intptr_t refcnt;
    void    *link;
    intptr_t payload[2];
} peer_ob;

static uint32_t *peer_order;    /* a permutation of 0 .. n-1 */

static size_t peer_begin(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;

    peer_order = n > 0 ? malloc(n * sizeof *peer_order) : NULL;
    if (peer_order == NULL) {
        fprintf(stderr, "usage: %s NUMBER_OF_LINKS\n", argv[0]);
        exit(2);
    }
    bench_shuffle(peer_order, n);
    return n;
}

static int peer_repeats(size_t n)
{
    return n <= 20000 ? 21 : n <= 200000 ? 9 : n <= 2000000 ? 5 : 3;
}

static void peer_row(const char *row, const samples *s, const char *unit)
{
    printf("%s\t%.4f\t%.4f\t%s\n", row, median(s->value, s->count - 1), median(s->limit, s->count - 1), unit);
}

#endif
