/* plain.c - what no implementation can leave out: for each row of the benchmark
 * a loop over dense records that touches only the memory that the row must touch,
 * and looks ahead so that the processor fetches it in time. */
#include <stdlib.h>
#include <string.h>
#include "bench.h"

#define PREFETCH_AT(i, to, what)        do { if ((i) < (to)) BENCH_PREFETCH(what); } while (0)
/* All of an object's head, which may lie in two lines. */
#define PREFETCH_HEAD_AT(i, to, ob) \
    do { \
        if ((i) < (to)) { \
            BENCH_PREFETCH_WRITE(ob); \
            BENCH_PREFETCH_WRITE((char *)(ob) + sizeof(rrc_object) - 1); \
        } \
    } while (0)
#define PREFETCH_WRITE_AT(i, to, what)  do { if ((i) < (to)) BENCH_PREFETCH_WRITE(what); } while (0)

static size_t hash(const data *d, const void *p)
{
    return (size_t)(((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u) >> 20) & (d->table_size - 1);
}

/* The first pass of every collection: is it held from C? One read of each ob. */
static uintptr_t read_counts(const data *d, size_t from, size_t to)
{
    uintptr_t held = 0;
    size_t i;

    for (i = from; i < to; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, to, d->links[i + BENCH_AHEAD].ob);
        held += d->links[i].ob->ob_refcnt != RRC_REFCNT_FROM_PYPY;
    }
    return held;
}

/* The second pass: did p survive? One read of each p. */
uintptr_t plain_all_live(const data *d, size_t from, size_t to)
{
    uintptr_t dead = read_counts(d, from, to);
    size_t i;

    for (i = from; i < to; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, to, d->links[i + BENCH_AHEAD].p);
        dead += !(d->links[i].p->word & CELL_MARK);
    }
    return dead;
}

/* The same, and every p is marked by the first pass. */
uintptr_t plain_held(const data *d, size_t from, size_t to)
{
    uintptr_t dead = 0;
    size_t i;

    for (i = from; i < to; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, to, d->links[i + BENCH_AHEAD].ob);
        PREFETCH_WRITE_AT(i + BENCH_AHEAD, to, d->links[i + BENCH_AHEAD].p);
        if (d->links[i].ob->ob_refcnt != RRC_REFCNT_FROM_PYPY)
            d->links[i].p->word |= CELL_MARK;
    }
    for (i = from; i < to; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, to, d->links[i + BENCH_AHEAD].p);
        dead += !(d->links[i].p->word & CELL_MARK);
    }
    return dead;
}

/* The same, and each ob learns its p's new address. A dictionary forgets the old
   addresses (all at once if `whole`) and learns the new ones. */
uintptr_t plain_moved(data *d, size_t from, size_t to, int dictionary, int whole)
{
    uintptr_t held = read_counts(d, from, to);
    size_t i;

    if (dictionary && whole)
        memset(d->table, 0, d->table_size * sizeof *d->table);
    for (i = from; i < to; i++) {
        record *link = &d->links[i];
        intptr_t word = link->p->word;
        cell *p = (cell *)(void *)((char *)link->p + (word & ~(intptr_t)CELL_BITS));

        PREFETCH_AT(i + 2 * BENCH_AHEAD, to, d->links[i + 2 * BENCH_AHEAD].p);
        PREFETCH_WRITE_AT(i + BENCH_AHEAD, to, d->links[i + BENCH_AHEAD].ob);
        if (dictionary && i + BENCH_AHEAD < to) {
            cell *next = d->links[i + BENCH_AHEAD].p;

            if (!whole)
                BENCH_PREFETCH_WRITE(&d->table[hash(d, next)]);
            next = (cell *)(void *)((char *)next + (next->word & ~(intptr_t)CELL_BITS));
            BENCH_PREFETCH_WRITE(&d->table[hash(d, next)]);
        }
        if (dictionary) {
            if (!whole)
                d->table[hash(d, link->p)] = 0;
            d->table[hash(d, p)] = (uint32_t)i;
        }
        link->ob->ob_pypy_link = link->p;   /* the old one: the header has its turn on the same data */
        held += word & CELL_MARK;
    }
    return held;
}

/* What a program does before it makes a link: fill a cell and an object. */
static void allocate(data *d, size_t i, size_t to)
{
    rrc_object *ob = &d->ob[i]->head;
    cell *p = d->p[i];

    if (i + BENCH_AHEAD < to)
        BENCH_PREFETCH_NEW(d, i + BENCH_AHEAD);
    p->word = 0;
    p->ob = NULL;
    p->payload[0] = p->payload[1] = 0;
    BENCH_CLEAR_FRONT(ob);
    ob->ob_refcnt = 1;
    ob->ob_pypy_link = NULL;
    ob->ob_type = &bench_type;
    d->ob[i]->payload = 0;
}

uintptr_t plain_allocate(data *d, size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++)
        allocate(d, i, to);
    return to;
}

/* Makes links too: a record each, in fresh memory if `growing`, and an entry in a
   table that is no larger than it must be. Nothing is looked up. */
uintptr_t plain_create(data *d, size_t from, size_t to, int dictionary, int growing)
{
    record *fresh = growing ? malloc((to - from) * sizeof *fresh) : NULL;
    record *links = fresh != NULL ? fresh : d->links + from;
    size_t entries = 64, i;

    while (entries < to - from + (to - from) / 2)
        entries *= 2;
    for (i = from; i < to; i++) {
        rrc_object *ob = &d->ob[i]->head;
        cell *p = d->p[i];

        allocate(d, i, to);
        links[i - from].ob = ob;
        links[i - from].p = p;
        ob->ob_pypy_link = p;
        ob->ob_refcnt += RRC_REFCNT_FROM_PYPY;
        if (dictionary)
            d->table[hash(d, p) & (entries - 1)] = (uint32_t)i;
        else
            p->ob = ob;
    }
    free(fresh);
    return to;
}

uintptr_t plain_read(const data *d)
{
    uintptr_t sum = 0;
    size_t i;

    for (i = 0; i < d->n; i++)
        sum += (uintptr_t)d->lookup[i]->word;
    return sum;
}

uintptr_t plain_read_obs(const data *d)
{
    uintptr_t sum = 0;
    size_t i;

    for (i = 0; i < d->n; i++)
        sum += (uintptr_t)d->ob[i]->payload;
    return sum;
}

/* Up and down, and is it the last one? */
uintptr_t plain_count(data *d)
{
    uintptr_t last = 0;
    size_t i;

    for (i = 0; i < d->n; i++) {
        d->ob[i]->head.ob_refcnt++;
        BENCH_BARRIER();
        last += --d->ob[i]->head.ob_refcnt == 0;
    }
    return last;
}

/* Reads of cells, but no address is known before the last cell was read. (Bit 1 of the
   words is never set, but the compiler cannot know.) */
uintptr_t plain_read_chain(const data *d)
{
    uintptr_t sum = 0;
    size_t i = 0;

    while (i < d->n) {
        uintptr_t word = (uintptr_t)d->lookup[i]->word;

        sum += word;
        i += 1 + (word & 2);
    }
    return sum;
}

/* What a dictionary of 4-byte entries that refer to records cannot avoid: one
   access to the table, and one to the record. Nothing is compared. */
uintptr_t plain_look_up(const data *d)
{
    uintptr_t sum = 0;
    size_t i;

    for (i = 0; i < d->n; i++)
        sum += (uintptr_t)d->links[d->table[hash(d, d->lookup[i])]].ob;
    return sum;
}

/* Each p is dead: each ob is written to, and is from now on in the queue (for
   which the records' own memory will do). */
uintptr_t plain_die(data *d)
{
    uintptr_t dead = read_counts(d, 0, d->n);
    size_t i;

    for (i = 0; i < d->n; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].p);
        PREFETCH_WRITE_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].ob);
        if (!(d->links[i].p->word & CELL_MARK)) {
            d->links[i].ob->ob_refcnt = 1;
            d->links[i].ob->ob_pypy_link = NULL;
            dead++;
        }
    }
    return dead;
}

/* The same, and each ob is freed at once. */
uintptr_t plain_die_light(data *d)
{
    uintptr_t dead = read_counts(d, 0, d->n);
    size_t i;

    for (i = 0; i < d->n; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].p);
        PREFETCH_HEAD_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].ob);
        if (!(d->links[i].p->word & CELL_MARK)) {
            rrc_object *ob = d->links[i].ob;

            ob->ob_type->tp_free(NULL, ob);
            dead++;
        }
    }
    return dead;
}

uintptr_t plain_dealloc(data *d)
{
    size_t i;

    for (i = 0; i < d->n; i++) {
        rrc_object *ob = d->links[i].ob;

        PREFETCH_HEAD_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].ob);
        if (--ob->ob_refcnt == 0)
            ob->ob_type->tp_dealloc(NULL, ob);
    }
    return d->n;
}
