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

/* Its place in a table of so many entries, a power of two. */
static size_t place_of(const void *p, size_t size)
{
    return (size_t)(((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u) >> 20) & (size - 1);
}

static size_t hash(const data *d, const void *p)
{
    return place_of(p, d->table_size);
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
   addresses (all at once if `whole`) and learns the new ones. If `reads_p`, each p is asked at its new
   address whether it is young. */
uintptr_t plain_moved(data *d, size_t from, size_t to, int dictionary, int whole, int reads_p)
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
        if (reads_p) {
            if (i + BENCH_AHEAD < to)
                BENCH_PREFETCH((char *)d->links[i + BENCH_AHEAD].p
                               + (d->links[i + BENCH_AHEAD].p->word & ~(intptr_t)CELL_BITS));
            held += (uintptr_t)(p->word & CELL_YOUNG);
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

uintptr_t plain_allocate(data *d, size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++)
        bench_fill(d, i, to);
    return to;
}

/* The table becomes twice as large, and learns the records again. */
static void grow_table(plain_links *l)
{
    size_t size = l->size > 0 ? 2 * l->size : 64, i;
    uint32_t *table = calloc(size, sizeof *table);

    if (table == NULL) {
        l->failed = 1;
        return;
    }
    for (i = 0; i < l->count; i++) {
        if (i + BENCH_AHEAD < l->count)
            BENCH_PREFETCH_WRITE(&table[place_of(l->block[(i + BENCH_AHEAD) / PLAIN_BLOCK]
                                                         [(i + BENCH_AHEAD) % PLAIN_BLOCK].p, size)]);
        table[place_of(l->block[i / PLAIN_BLOCK][i % PLAIN_BLOCK].p, size)] = (uint32_t)i;
    }
    free(l->table);
    l->table = table;
    l->size = size;
}

/* Room for one more record. */
static void grow_links(plain_links *l, int dictionary)
{
    if (l->count == l->blocks * PLAIN_BLOCK) {
        size_t i = l->blocks;
        record **block = l->block;

        if ((i & (i - 1)) == 0)
            block = realloc(block, (i > 0 ? 2 * i : 1) * sizeof *block);
        if (block != NULL)
            l->block = block;
        if (block == NULL || (block[i] = malloc(PLAIN_BLOCK * sizeof **block)) == NULL) {
            l->failed = 1;
            return;
        }
        l->blocks = i + 1;
    }
    if (dictionary && 3 * l->count >= 2 * l->size)
        grow_table(l);
}

void plain_links_free(plain_links *l)
{
    while (l->blocks > 0)
        free(l->block[--l->blocks]);
    free(l->block);
    free(l->table);
    memset(l, 0, sizeof *l);
}

/* Makes links: a record each, in blocks that are allocated when they are needed, and an entry in a table that
   grows with them. Nothing is looked up. p and ob are new and in the cache; or, if they are cold, the loop
   looks ahead. */
uintptr_t plain_create(data *d, plain_links *l, size_t from, size_t to, int dictionary, int cold)
{
    size_t i;

    for (i = from; i < to && !l->failed; i++) {
        rrc_object *ob = &d->ob[i]->head;
        cell *p = d->p[i];
        record *link;

        if (cold) {
            PREFETCH_HEAD_AT(i + BENCH_AHEAD, to, d->ob[i + BENCH_AHEAD]);
            if (!dictionary)
                PREFETCH_WRITE_AT(i + BENCH_AHEAD, to, d->p[i + BENCH_AHEAD]);
        } else
            bench_fill(d, i, to);
        grow_links(l, dictionary);
        if (dictionary && i + BENCH_AHEAD < to)
            BENCH_PREFETCH_WRITE(&l->table[place_of(d->p[i + BENCH_AHEAD], l->size)]);
        link = &l->block[l->count / PLAIN_BLOCK][l->count % PLAIN_BLOCK];
        link->ob = ob;
        link->p = p;
        ob->ob_pypy_link = p;
        ob->ob_refcnt += RRC_REFCNT_FROM_PYPY;
        if (dictionary)
            l->table[place_of(p, l->size)] = (uint32_t)l->count;
        else
            p->ob = ob;
        l->count++;
    }
    return to;
}

void plain_fill_table(data *d)
{
    size_t i;

    for (i = 0; i < d->n; i++)
        d->table[hash(d, d->p[i])] = (uint32_t)i;
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

/* Each p is dead: each ob is written to, and is from now on in the queue. A dictionary is cleared. */
uintptr_t plain_die(data *d, int dictionary)
{
    uintptr_t dead = 0, held = read_counts(d, 0, d->n);
    size_t i;

    for (i = 0; i < d->n; i++) {
        PREFETCH_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].p);
        PREFETCH_WRITE_AT(i + BENCH_AHEAD, d->n, d->links[i + BENCH_AHEAD].ob);
        if (!(d->links[i].p->word & CELL_MARK)) {
            d->links[i].ob->ob_refcnt = 1;
            d->links[i].ob->ob_pypy_link = NULL;
            d->queue[dead++] = d->links[i].ob;
        }
    }
    if (dictionary)
        memset(d->table, 0, d->table_size * sizeof *d->table);
    return dead + held;
}

/* The same without a queue, and each ob is freed at once. */
uintptr_t plain_die_light(data *d, int dictionary)
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
    if (dictionary)
        memset(d->table, 0, d->table_size * sizeof *d->table);
    return dead;
}

uintptr_t plain_dealloc(data *d)
{
    size_t i;

    for (i = 0; i < d->n; i++) {
        rrc_object *ob = d->queue[i];

        PREFETCH_HEAD_AT(i + BENCH_AHEAD, d->n, d->queue[i + BENCH_AHEAD]);
        if (--ob->ob_refcnt == 0)
            ob->ob_type->tp_dealloc(NULL, ob);
    }
    return d->n;
}
