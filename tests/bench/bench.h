/* bench.h - what the files of the benchmark share.
 *
 *     main.c     options, the machine, peers
 *     goals.c    what each row may cost; the lines of the table
 *     data.c     objects at random addresses, the clock, the best of several turns
 *     plain.c    for each row a loop that does only the unavoidable memory traffic
 *     rows.c     the rows about links; built four times, once for each way to set up the header
 *     cycles.c   the rows about cyclic garbage
 *     mirror.c   the rows about hosts whose collector is closed
 *     crossing.c the rows about calls of C functions from compactvm
 *     pauses.c   the rows about pauses: a major collection in one, and in slices
 *     calls.c    how long calls take, one by one
 *     nodes.h    the counted objects of cycles.c and pauses.c
 *
 * What others need for the same, programs of their own with the names of these rows:
 *
 *     peer_hand.c     by hand: a hash table of uthash, or an index in p
 *     peer_boehm.c    the Boehm collector's disappearing links and finalizers
 *     peer_glib.c     toggle references of GObjects
 *     peer_lua.c      a weak table, __gc and luaL_ref
 *     peer_cpython.py CPython's collector, on the graphs of cycles.c
 *
 * And for the rows about pauses:
 *
 *     peer_boehm_pauses.c     the Boehm collector, in one and incremental
 *     peer_cpython_pauses.py  CPython's collector
 *     peer_lua_pauses.lua     a frame loop in Lua, with this project's binding
 *
 *     table.awk   tables in Markdown; chart.gp, pauses.gp the charts; results.sh both, and the READMEs
 *     reasons.txt why goals are missed
 *     count.c     instructions for each operation, count_vm.c those of a small VM; instructions.sh compares them
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "rawrefcount.h"

/* ---- the host: as thin as a host can be ---------------------------------- */

/* An object of the host. Its header holds the mark bit and, during a collection,
   how far the object will move. So one word answers `survivor`. */
typedef struct cell {
    intptr_t    word;
    rrc_object *ob;             /* the slot; the dictionary variants leave it alone */
    intptr_t    payload[2];
} cell;

enum { CELL_MARK = 1, CELL_YOUNG = 2, CELL_BITS = 15 };

typedef struct host {
    uintptr_t nursery, nursery_bytes;
} host;

/* ---- the data ------------------------------------------------------------ */

/* A counted object: the head and one word. In front of it are two words of the header's own, as rrc_new makes
   them. Objects are BENCH_OB_STRIDE bytes apart, so that some of them cross a cache line. */
typedef struct object {
    rrc_object head;
    intptr_t   payload;
} object;

#define BENCH_OB_FRONT  16
#define BENCH_OB_STRIDE 48
#define BENCH_CLEAR_FRONT(ob) memset((char *)(ob) - BENCH_OB_FRONT, 0, BENCH_OB_FRONT)

typedef struct record {         /* the plain loops' idea of a link */
    rrc_object *ob;
    cell       *p;
} record;

typedef struct data {
    size_t    n;                /* links between old objects */
    size_t    young;            /* links to objects in the nursery */
    host      host;
    cell    **p;                /* n old cells, then `young` cells of the nursery */
    cell    **target;           /* where each of them goes when it moves */
    object  **ob;               /* order unrelated to that of the cells */
    record   *links;            /* ob[i], p[i]: n + young of them, dense */
    uint32_t *order;            /* a permutation of 0 .. n-1 */
    cell    **lookup;           /* the n old cells in that order */
    rrc_object **queue;         /* of the plain loops */
    uint32_t *table;            /* a hash table of record numbers, load at most 2/3 */
    size_t    table_size;       /* a power of two */
    void     *memory[10];
} data;

int data_make(data *d, size_t n);
void data_free(data *d);
void data_fresh(data *d, size_t from, size_t to);   /* as if just allocated */
void data_lookups(data *d);                         /* after a move: fill lookup anew */
void data_mark(data *d, size_t from, size_t to, int marked, int moving);
void data_move(data *d, size_t from, size_t to);    /* p[i] goes to target[i], and back next time */

/* What the types of the benchmark have as tp_dealloc and tp_free: one push on a
   list, the least that giving memory back can cost. */
void bench_dealloc(rrc_heap *heap, rrc_object *self);
void bench_free(rrc_heap *heap, void *self);
extern const rrc_type bench_type;

/* ---- the plain loops ----------------------------------------------------- */

#if defined(__GNUC__)
#define BENCH_PREFETCH(p)       __builtin_prefetch(p)
#define BENCH_PREFETCH_WRITE(p) __builtin_prefetch((p), 1)
#define BENCH_NOINLINE          __attribute__((noinline))
#define BENCH_BARRIER()         __asm__ volatile("" : : : "memory")    /* the compiler must not join two writes */
#else
#define BENCH_PREFETCH(p)       ((void)(p))
#define BENCH_PREFETCH_WRITE(p) ((void)(p))
#define BENCH_NOINLINE
#define BENCH_BARRIER()         ((void)0)
#endif

/* As just allocated: in the cache. An object and its front may lie in two lines. */
#define BENCH_PREFETCH_NEW(d, i) \
    do { \
        BENCH_PREFETCH_WRITE((d)->p[i]); \
        BENCH_PREFETCH_WRITE((char *)(d)->ob[i] - BENCH_OB_FRONT); \
        BENCH_PREFETCH_WRITE((char *)(d)->ob[i] + sizeof(object) - 1); \
    } while (0)

enum { BENCH_AHEAD = 128 };     /* how many records a loop looks ahead: the best distance here */

/* What a program does before it makes a link: fill a cell and an object. Those that follow, below `to`, are prefetched. */
static inline void bench_fill(data *d, size_t i, size_t to)
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

/* The results keep the compiler from dropping the loops. */
uintptr_t plain_all_live(const data *d, size_t from, size_t to);
uintptr_t plain_held(const data *d, size_t from, size_t to);
uintptr_t plain_moved(data *d, size_t from, size_t to, int dictionary, int whole, int reads_p);
uintptr_t plain_allocate(data *d, size_t from, size_t to);

/* Links that a plain loop makes: records in blocks, and a table. Both grow as the header's do. */
enum { PLAIN_BLOCK = 256 };

typedef struct plain_links {
    record  **block;
    uint32_t *table;            /* NULL with slots */
    size_t    blocks, count, size;
    int       failed;           /* there was not enough memory */
} plain_links;

uintptr_t plain_create(data *d, plain_links *l, size_t from, size_t to, int dictionary, int cold);
void plain_links_free(plain_links *l);
void plain_fill_table(data *d);                     /* d->table finds the records of the old cells */
uintptr_t plain_read(const data *d);
uintptr_t plain_read_obs(const data *d);
uintptr_t plain_count(data *d);
uintptr_t plain_read_chain(const data *d);
uintptr_t plain_look_up(const data *d);
uintptr_t plain_die(data *d, int dictionary);
uintptr_t plain_die_light(data *d, int dictionary);
uintptr_t plain_dealloc(data *d);                   /* after plain_die, which filled the queue */

/* ---- measuring ----------------------------------------------------------- */

void bench_shuffle(uint32_t *order, size_t n);      /* a permutation of 0 .. n-1 */
double bench_wall_now(void);    /* seconds */
double bench_cpu_now(void);     /* the same of the processor: other programs do not count; slower */
double bench_now(void);         /* one of them */
void bench_choose_clock(size_t n);      /* that of the processor, if rows of n objects take long enough for it */
extern volatile uintptr_t bench_sink;

enum { BENCH_MAX_REPEATS = 64, BENCH_MAX_MISSED = 200 };

typedef struct samples {
    int    count;               /* the first one is a warm-up and not kept */
    double value[BENCH_MAX_REPEATS], limit[BENCH_MAX_REPEATS];
    double base[BENCH_MAX_REPEATS];     /* what belongs to neither: the best of these is subtracted from both */
} samples;

/* How long calls took: the longest, and how many of each length. */
enum { BENCH_BUCKETS_PER_DECADE = 8, BENCH_BUCKETS = 80, BENCH_BATCH = 16 };

typedef struct calls {
    size_t number, bucket[BENCH_BUCKETS];       /* bucket 0 is all that is below 13 ns */
    double sum, longest;                        /* seconds */
} calls;

void calls_note(calls *c, double seconds);
void calls_add(calls *to, const calls *from);
void calls_keep_best(calls *best, const calls *c);      /* the one whose longest call is shorter */

/* If each turn makes the same calls in the same order, what the machine adds to one call differs from turn to turn.
   So this keeps for each call its shortest time in all turns. */
typedef struct least_times {
    float *time;
    size_t count, room;
    int    failed;              /* there was not enough memory */
} least_times;

double least_longest(const least_times *l);

/* For each bucket a line: where it begins in ms, its calls, and the calls that took at least so long. The last
   line is the longest call. */
void calls_print(const calls *c, FILE *out, const char *before, char separator);

/* The clock of the processor leaves other programs out, but reading it takes about as long as many a call; the
   other clock is quick. A call takes at most what either says. So both are read, the clock of the processor once
   for each `batch` calls (at most BENCH_BATCH): a call counts with its own time, but at most
   with what the processor spent on its batch. */
typedef struct watch {
    calls  calls;
    least_times *least;         /* or NULL */
    size_t place;               /* of the next call in it */
    int    batch, waiting;
    double cpu, start, wall[BENCH_BATCH];
} watch;

void watch_begin(watch *w);
void watch_end(watch *w);
void watch_flush(watch *w);     /* the batch ends here */
void watch_turn(watch *w, least_times *l, int batch);         /* a turn begins */

typedef struct bench {
    data       *d;
    const char *variant;
    const char *rows;           /* only rows whose name contains this; NULL: all */
    const char *macro_rows;     /* the same for hooks by macro */
    int         brief;          /* only the rows of the chart */
    int         repeats;
    FILE       *csv, *calls;    /* or NULL */
    int         peer, failed;   /* a peer's rows have no goals; a peer did not work */
    int         missed, out_of_reach;   /* goals */
    char        missed_rows[BENCH_MAX_MISSED][160];
} bench;

void sample(samples *s, double value, double limit);
void sample_beyond(samples *s, double value, double limit, double base);
double best(const double *values, int count);       /* the least one; 0 if there is none */
double best_value(const samples *s);
double best_limit(const samples *s);
int bench_wants(const bench *b, const char *row);

/* Print a row: the best of its turns, and whether its goal is met. */
void bench_row(bench *b, const char *row, const char *unit, const samples *s);

/* The longest call of each turn, in milliseconds of processor time: the row is the turn that
   was disturbed least. */
void bench_pause(bench *b, const char *row, const samples *s);
void bench_print_missed(const bench *b);

/* How long calls took goes to the file for that, if there is one. */
void bench_calls(bench *b, const char *name, const calls *c);

/* The variants of rows.c. */
void rows_dict_desc(bench *b);
void rows_dict_macro(bench *b);
void rows_slot_desc(bench *b);
void rows_slot_macro(bench *b);

void rows_cycles(bench *b);
void rows_crossing(bench *b);
void rows_mirror(bench *b);
void rows_mirror_pauses(bench *b);
void rows_pauses_dict(bench *b);
void rows_pauses_slot(bench *b);

#endif
