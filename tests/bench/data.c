/* data.c - objects at random addresses, the clock, the best of several turns. */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench.h"

volatile uintptr_t bench_sink;

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_wall_now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double bench_cpu_now(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static int long_rows;

/* To read the clock of the processor takes a microsecond, a row of so many objects at least 100. */
void bench_choose_clock(size_t n)
{
    long_rows = n >= 100000;
}

double bench_now(void)
{
    return long_rows ? bench_cpu_now() : bench_wall_now();
}

/* ---- the data ------------------------------------------------------------ */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_number(void)     /* xorshift64*: the same data in every run */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

void bench_shuffle(uint32_t *order, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (i = n; i > 1; i--) {
        size_t j = (size_t)(random_number() >> 16) % i;
        uint32_t swap = order[i - 1];

        order[i - 1] = order[j];
        order[j] = swap;
    }
}

int data_make(data *d, size_t n)
{
    size_t i, total, cell_bytes, pointers;
    char *cells, *spare, *nursery, *obs;

    memset(d, 0, sizeof *d);
    d->n = n;
    d->young = n / 10 > 50000 ? 50000 : n / 10;
    total = n + d->young;
    for (d->table_size = 1024; d->table_size < total + total / 2; d->table_size *= 2)
        continue;
    cell_bytes = n * sizeof(cell);
    pointers = sizeof(void *) * total;

    d->memory[0] = malloc(2 * cell_bytes + 2 * d->young * sizeof(cell));
    d->memory[1] = malloc(total * BENCH_OB_STRIDE);
    d->memory[2] = d->p = malloc(pointers);
    d->memory[3] = d->target = malloc(pointers);
    d->memory[4] = d->ob = malloc(pointers);
    d->memory[5] = d->links = malloc(total * sizeof(record));
    d->memory[6] = d->order = malloc(total * sizeof(uint32_t));
    d->memory[7] = d->table = malloc(d->table_size * sizeof(uint32_t));
    d->memory[8] = d->lookup = malloc(n * sizeof(void *));
    d->memory[9] = d->queue = malloc(n * sizeof(void *));
    for (i = 0; i < sizeof d->memory / sizeof *d->memory; i++)
        if (d->memory[i] == NULL)
            return 0;
    memset(d->table, 0, d->table_size * sizeof(uint32_t));
    memset(d->queue, 0, n * sizeof(void *));

    cells = d->memory[0];
    spare = cells + cell_bytes;
    nursery = spare + cell_bytes;
    obs = d->memory[1];
    d->host.nursery = (uintptr_t)nursery;
    d->host.nursery_bytes = d->young * sizeof(cell);

    bench_shuffle(d->order, n);
    for (i = 0; i < n; i++)
        d->p[i] = (cell *)(void *)(cells + d->order[i] * sizeof(cell));
    bench_shuffle(d->order, n);
    for (i = 0; i < n; i++)
        d->target[i] = (cell *)(void *)(spare + d->order[i] * sizeof(cell));
    bench_shuffle(d->order, d->young);
    for (i = 0; i < d->young; i++) {
        d->p[n + i] = (cell *)(void *)(nursery + d->order[i] * sizeof(cell));
        d->target[n + i] = (cell *)(void *)(nursery + d->host.nursery_bytes + i * sizeof(cell));
    }
    bench_shuffle(d->order, total);
    for (i = 0; i < total; i++)
        d->ob[i] = (object *)(void *)(obs + d->order[i] * BENCH_OB_STRIDE + BENCH_OB_FRONT);
    bench_shuffle(d->order, n);
    memset(d->memory[0], 0, 2 * cell_bytes + 2 * d->young * sizeof(cell));
    data_fresh(d, 0, total);
    data_lookups(d);
    return 1;
}

void data_free(data *d)
{
    size_t i;

    for (i = 0; i < sizeof d->memory / sizeof *d->memory; i++)
        free(d->memory[i]);
}

void data_fresh(data *d, size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++) {
        d->p[i]->word = 0;
        d->p[i]->ob = NULL;
        BENCH_CLEAR_FRONT(d->ob[i]);
        d->ob[i]->head.ob_refcnt = 1;
        d->ob[i]->head.ob_pypy_link = NULL;
        d->ob[i]->head.ob_type = &bench_type;
        d->links[i].ob = &d->ob[i]->head;
        d->links[i].p = d->p[i];
    }
}

void data_lookups(data *d)
{
    size_t i;

    for (i = 0; i < d->n; i++)
        d->lookup[i] = d->p[d->order[i]];
}

void data_mark(data *d, size_t from, size_t to, int marked, int moving)
{
    size_t i;

    for (i = from; i < to; i++)
        d->p[i]->word = (marked ? CELL_MARK : 0)
                      | (moving ? (intptr_t)d->target[i] - (intptr_t)d->p[i] : 0);
}

void data_move(data *d, size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++) {
        cell *old = d->p[i];

        d->p[i] = d->target[i];
        d->target[i] = old;
        *d->p[i] = *old;
        d->p[i]->word = 0;
        d->links[i].p = d->p[i];
    }
}

static void *free_list;

void bench_free(rrc_heap *heap, void *self)
{
    (void)heap;
    *(void **)self = free_list;
    free_list = self;
}

void bench_dealloc(rrc_heap *heap, rrc_object *self)
{
    self->ob_type->tp_free(heap, self);
}

const rrc_type bench_type = { .tp_name = "bench", .tp_basicsize = sizeof(object),
                              .tp_dealloc = bench_dealloc, .tp_free = bench_free };

/* ---- the best of several turns ------------------------------------------- */

void sample_beyond(samples *s, double value, double limit, double base)
{
    if (s->count > 0 && s->count <= BENCH_MAX_REPEATS) {
        s->value[s->count - 1] = value;
        s->limit[s->count - 1] = limit;
        s->base[s->count - 1] = base;
    }
    s->count++;
}

void sample(samples *s, double value, double limit)
{
    sample_beyond(s, value, limit, 0);
}

double best(const double *values, int count)
{
    double least = count > 0 ? values[0] : 0;
    int i;

    for (i = 1; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

/* What other programs do only adds to a time. */
double best_value(const samples *s)
{
    return best(s->value, s->count - 1) - best(s->base, s->count - 1);
}

double best_limit(const samples *s)
{
    double limit = best(s->limit, s->count - 1);

    return limit > 0 ? limit - best(s->base, s->count - 1) : 0;
}

static const char *const chart_rows[] = {
    "major, all live, P links", "major, all die, queued", "rrc_run_pending, an object", "create a P link, cold",
    "create a P link, warm", "memory of a link", "rrc_from_obj, random order", "rrc_to_obj, random order",
    "cycles, live, shuffled", "cycles, dying, shuffled"
};

int bench_wants(const bench *b, const char *row)
{
    size_t i, count = sizeof chart_rows / sizeof *chart_rows;

    if ((b->rows != NULL && strstr(row, b->rows) == NULL)
        || (b->macro_rows != NULL && strstr(b->variant, "macro") != NULL && strstr(row, b->macro_rows) == NULL))
        return 0;
    for (i = 0; b->brief && i < count && strcmp(row, chart_rows[i]) != 0; i++)
        continue;
    return !b->brief || i < count;
}
