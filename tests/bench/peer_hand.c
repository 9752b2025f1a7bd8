/* peer_hand.c N - links as a program makes them by hand, for the rows about links: the same data and the same host
 * as those of rows.c, without a library for links. There are two ways.
 *
 *     uthash   A record has p and ob, and is in a hash table by p, as p's own memory cannot be used.
 *     index    A record has p and ob, and is in an array. A word of p is its index there.
 *
 * Both apply the header's rule in a collection: p lives while C holds ob, and the ob of a dead p goes to a queue.
 * They do so in the simplest way: by one loop over all records while marking, and one after it. They find
 * no cycles, check nothing, and know neither a second kind of link nor young objects. */
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <uthash.h>
#include "peer.h"

typedef struct hashed {
    cell          *p;           /* the key */
    rrc_object    *ob;
    UT_hash_handle hh;
} hashed;

typedef struct links {
    int          by_index;
    hashed      *table;
    record      *array;
    size_t       count, room;
    rrc_object **queue;
    size_t       queued, queue_room;
} links;

typedef struct figures {
    samples warm, cold, memory, live, held, moved, die, run, from_obj;
} figures;

/* An array that is full becomes twice as large. */
static void *grown(void *array, size_t *room, size_t size)
{
    *room = *room > 0 ? 2 * *room : 64;
    array = realloc(array, *room * size);
    if (array == NULL)
        exit(1);
    return array;
}

static BENCH_NOINLINE void make_link(links *l, cell *p, rrc_object *ob)
{
    if (l->by_index) {
        if (l->count == l->room)
            l->array = grown(l->array, &l->room, sizeof *l->array);
        l->array[l->count].p = p;
        l->array[l->count].ob = ob;
        p->payload[0] = (intptr_t)l->count++;
    } else {
        hashed *link = malloc(sizeof *link);

        if (link == NULL)
            exit(1);
        link->p = p;
        link->ob = ob;
        HASH_ADD_PTR(l->table, p, link);
    }
    ob->ob_pypy_link = p;
    ob->ob_refcnt += RRC_REFCNT_FROM_PYPY;
}

static BENCH_NOINLINE rrc_object *from_obj(const links *l, cell *p)
{
    hashed *link;

    if (l->by_index)
        return l->array[p->payload[0]].ob;
    HASH_FIND_PTR(l->table, &p, link);
    return link != NULL ? link->ob : NULL;
}

static void bury(links *l, rrc_object *ob)
{
    ob->ob_refcnt = 1;
    ob->ob_pypy_link = NULL;
    if (l->queued == l->queue_room)
        l->queue = grown(l->queue, &l->queue_room, sizeof *l->queue);
    l->queue[l->queued++] = ob;
}

/* NULL: p is dead. */
static cell *survivor(cell *p)
{
    return p->word & CELL_MARK ? (cell *)(void *)((char *)p + (p->word & ~(intptr_t)CELL_BITS)) : NULL;
}

static void collect_index(links *l)
{
    size_t i;

    for (i = 0; i < l->count; i++)
        if (l->array[i].ob->ob_refcnt != RRC_REFCNT_FROM_PYPY)
            l->array[i].p->word |= CELL_MARK;
    for (i = l->count; i-- > 0;) {
        record *link = &l->array[i];
        cell *q = survivor(link->p);

        if (q == NULL) {
            bury(l, link->ob);
            *link = l->array[--l->count];
            if (i < l->count)
                link->p->payload[0] = (intptr_t)i;
        } else if (q != link->p) {
            link->p = q;
            link->ob->ob_pypy_link = q;
        }
    }
}

static void collect_table(links *l)
{
    hashed *link, *next;

    for (link = l->table; link != NULL; link = link->hh.next)
        if (link->ob->ob_refcnt != RRC_REFCNT_FROM_PYPY)
            link->p->word |= CELL_MARK;
    HASH_ITER(hh, l->table, link, next) {
        cell *q = survivor(link->p);

        if (q == link->p)
            continue;
        HASH_DEL(l->table, link);
        if (q == NULL) {
            bury(l, link->ob);
            free(link);
        } else {
            link->p = q;
            link->ob->ob_pypy_link = q;
            HASH_ADD_PTR(l->table, p, link);    /* at the end of the list: it is visited once more */
        }
    }
}

static double collect(links *l)
{
    double start = bench_now();

    if (l->by_index)
        collect_index(l);
    else
        collect_table(l);
    return bench_now() - start;
}

static double run_queue(links *l)
{
    double start = bench_now();
    size_t i;

    for (i = 0; i < l->queued; i++) {
        rrc_object *ob = l->queue[i];

        if (--ob->ob_refcnt == 0)
            ob->ob_type->tp_dealloc(NULL, ob);
    }
    l->queued = 0;
    return bench_now() - start;
}

static void link_all(links *l, data *d)
{
    size_t i;

    data_fresh(d, 0, d->n);
    for (i = 0; i < d->n; i++) {
        make_link(l, d->p[i], &d->ob[i]->head);
        d->ob[i]->head.ob_refcnt--;
    }
}

static void drop_all(links *l, data *d)
{
    data_mark(d, 0, d->n, 0, 0);
    collect(l);
    run_queue(l);
}

/* Objects that are just being made, or (if not `linked`) the making alone. */
static double create_warm(links *l, data *d, int linked)
{
    double start = bench_now();
    size_t i;

    for (i = 0; i < d->n; i++) {
        rrc_object *ob = &d->ob[i]->head;

        bench_fill(d, i, d->n);
        if (linked) {
            make_link(l, d->p[i], ob);
            ob->ob_refcnt--;
        }
    }
    return bench_now() - start;
}

static double create_cold(links *l, data *d)
{
    double start = bench_now();
    size_t i;

    for (i = 0; i < d->n; i++) {
        make_link(l, d->p[i], &d->ob[i]->head);
        d->ob[i]->head.ob_refcnt--;
    }
    return bench_now() - start;
}

static double look_up(const links *l, const data *d)
{
    double start = bench_now();
    uintptr_t sum = 0;
    size_t i;

    for (i = 0; i < d->n; i++)
        sum += (uintptr_t)from_obj(l, d->lookup[i]);
    bench_sink += sum;
    return bench_now() - start;
}

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void turn(data *d, int by_index, figures *f)
{
    links l = { 0 };
    double n = (double)d->n * 1e-9, allocate, value;
    size_t before = in_use(), i;

    l.by_index = by_index;
    allocate = create_warm(&l, d, 0);
    sample_beyond(&f->warm, create_warm(&l, d, 1) / n, 0, allocate / n);
    sample(&f->memory, (double)(in_use() - before) / (double)d->n, 0);
    drop_all(&l, d);
    free(l.array);
    l.array = NULL;
    l.room = 0;
    data_fresh(d, 0, d->n);
    sample(&f->cold, create_cold(&l, d) / n, 0);
    drop_all(&l, d);

    link_all(&l, d);
    sample(&f->from_obj, look_up(&l, d) / n, 0);
    data_mark(d, 0, d->n, 1, 0);
    sample(&f->live, collect(&l) / n, 0);
    for (i = 0; i < d->n; i++)
        d->ob[i]->head.ob_refcnt++;
    data_mark(d, 0, d->n, 0, 0);
    sample(&f->held, collect(&l) / n, 0);
    for (i = 0; i < d->n; i++)
        d->ob[i]->head.ob_refcnt--;
    for (i = 0; i < d->n; i++)
        d->target[i]->word = CELL_MARK;
    data_mark(d, 0, d->n, 1, 1);
    sample(&f->moved, collect(&l) / n, 0);
    data_move(d, 0, d->n);
    data_lookups(d);
    data_mark(d, 0, d->n, 0, 0);
    sample(&f->die, collect(&l) / n, 0);
    value = run_queue(&l);
    sample(&f->run, value / n, 0);
    if (l.count > 0 || l.table != NULL) {
        fputs("peer_hand: dead objects are linked\n", stderr);
        exit(1);
    }
    free(l.array);
    free(l.queue);
}

static void print(const char *variant, const figures *f)
{
    printf("variant\t%s\n", variant);
    peer_row("create a P link, warm", &f->warm, "ns");
    peer_row("create a P link, cold", &f->cold, "ns");
    peer_row("memory of a link", &f->memory, "bytes");
    peer_row("major, all live, P links", &f->live, "ns");
    peer_row("major, all live, P links held by C", &f->held, "ns");
    peer_row("major, all live, every p moved", &f->moved, "ns");
    peer_row("major, all die, queued", &f->die, "ns");
    peer_row("rrc_run_pending, an object", &f->run, "ns");
    peer_row("rrc_from_obj, random order", &f->from_obj, "ns");
}

int main(int argc, char **argv)
{
    static figures table, array;
    uint32_t *order;
    int repeats, i;
    data d;

    if (!data_make(&d, peer_begin(argc, argv, &order)))
        return 1;
    repeats = peer_repeats(d.n);
    for (i = 0; i <= repeats; i++) {
        turn(&d, 0, &table);
        turn(&d, 1, &array);
    }
    print("by hand, uthash", &table);
    print("by hand, index", &array);
    data_free(&d);
    free(order);
    return 0;
}
