/* calls.c - how long calls take, one by one. */
#include <math.h>
#include <stdlib.h>
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

static void least_note(least_times *l, size_t place, double seconds)
{
    if (place == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 1024;
        float *time = realloc(l->time, room * sizeof *time);

        if (time == NULL) {
            l->failed = 1;
            return;
        }
        l->time = time;
        l->room = room;
    }
    if (place >= l->count) {
        l->time[place] = (float)seconds;
        l->count = place + 1;
    } else if (l->time[place] > (float)seconds)
        l->time[place] = (float)seconds;
}

double least_longest(const least_times *l)
{
    float longest = 0;
    size_t i;

    for (i = 0; i < l->count; i++)
        if (longest < l->time[i])
            longest = l->time[i];
    return longest;
}

void watch_turn(watch *w, least_times *l, int batch)
{
    memset(w, 0, sizeof *w);
    w->least = l;
    w->batch = batch;
}

void watch_begin(watch *w)
{
    if (w->waiting == 0)
        w->cpu = bench_cpu_now();
    w->start = bench_wall_now();
}

void watch_end(watch *w)
{
    w->wall[w->waiting++] = bench_wall_now() - w->start;
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
    for (i = 0; i < w->waiting; i++) {
        double seconds = w->wall[i] < cpu ? w->wall[i] : cpu;

        calls_note(&w->calls, seconds);
        if (w->least != NULL)
            least_note(w->least, w->place++, seconds);
    }
    w->waiting = 0;
}
