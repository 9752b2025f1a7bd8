/* calls.c - how long calls take, one by one. */
#include <math.h>
#include "bench.h"

void calls_note(calls *c, double seconds)
{
    int bucket = seconds > 1e-8 ? (int)(log10(seconds * 1e8) * BENCH_BUCKETS_PER_DECADE) : 0;

    c->bucket[bucket < BENCH_BUCKETS ? bucket : BENCH_BUCKETS - 1]++;
    c->number++;
    c->sum += seconds;
    if (c->longest < seconds)
        c->longest = seconds;
}

void calls_add(calls *to, const calls *from)
{
    int i;

    for (i = 0; i < BENCH_BUCKETS; i++)
        to->bucket[i] += from->bucket[i];
    to->number += from->number;
    to->sum += from->sum;
    if (to->longest < from->longest)
        to->longest = from->longest;
}

void calls_keep_best(calls *best, const calls *c)
{
    if (c->number > 0 && (best->number == 0 || c->longest < best->longest))
        *best = *c;
}

void calls_print(const calls *c, FILE *out, const char *before, char separator)
{
    size_t at_least = c->number;
    int i;

    for (i = 0; i < BENCH_BUCKETS; i++) {
        if (c->bucket[i] > 0)
            fprintf(out, "%s%.4g%c%lu%c%lu\n", before, 1e-5 * pow(10, (double)i / BENCH_BUCKETS_PER_DECADE), separator,
                    (unsigned long)c->bucket[i], separator, (unsigned long)at_least);
        at_least -= c->bucket[i];
    }
    if (c->number > 0)
        fprintf(out, "%s%.4g%c0%c1\n", before, c->longest * 1e3, separator, separator);
}

void watch_begin(watch *w)
{
    if (w->waiting == 0)
        w->cpu = bench_cpu_now();
    w->start = bench_now();
}

void watch_end(watch *w)
{
    w->wall[w->waiting++] = bench_now() - w->start;
    if (w->waiting >= w->batch)
        watch_flush(w);
}

void watch_flush(watch *w)
{
    double cpu;
    int i;

    if (w->waiting == 0)
        return;
    cpu = bench_cpu_now() - w->cpu;
    for (i = 0; i < w->waiting; i++)
        calls_note(&w->calls, w->wall[i] < cpu ? w->wall[i] : cpu);
    w->waiting = 0;
}
