/* What only a look inside can show: a private copy of the header whose tables are
 * damaged, one word at a time. rrc_check finds each, names it, and is content when
 * the word is put back. And limits and failures that would take too much memory, or
 * too many tries, from outside. */

#define RAWREFCOUNT_STATIC
#include "rawrefcount.h"
#ifdef TEST_CLOSED
#include "bindings/closed/rrc_closed.h"
#endif
#include "bindings/insight/rrc_insight.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

typedef struct thing {
    rrc_object head;
    rrc_object *ref;
} thing;

#define THING(ob) ((thing *)(void *)(ob))

static rrc_heap *heap;
static int last_code;
static char last_detail[300];
static size_t logged;
static int memory_fails;                 /* 1: always, 2: from the second allocation on */
static size_t memory_moved;             /* bytes taken and given back */
static size_t memory_live;

static int nothing_survives;

/* Many p, of which a test says where they go. */
enum { MANY = 40000 };
static short many[MANY];                /* (even addresses) */
static rrc_object *all[MANY];
static short *goes_to[MANY];             /* NULL: it stays */
static char dies[MANY];

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    (void)userdata;
    if (nothing_survives)
        return NULL;
    if ((short *)p >= many && (short *)p < many + MANY) {
        size_t i = (size_t)((short *)p - many);

        return dies[i] ? NULL : goes_to[i] != NULL ? goes_to[i] : p;
    }
    return p;
}

static void trace(void *userdata, rrc_gcref p) { (void)userdata, (void)p; }

static const short *first_young;

static int is_young(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return first_young != NULL && (const short *)p >= first_young;
}

static int fields_name_p;                /* while the log hook runs, each link field has its p */

static void check_link_fields(void)
{
    size_t i;
    int kind;

    for (kind = 0; kind < RRCI_LISTS; kind++)
        for (i = 0; i < heap->links.list[kind].count; i++)
            check_ptr(RRC_LINK(rrci_at(&heap->links.list[kind], i)->ob), rrci_at(&heap->links.list[kind], i)->p);
}

static void write_log(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    logged++;
    if (fields_name_p)
        check_link_fields();
    last_code = item->code;
    snprintf(last_detail, sizeof last_detail, "%s", item->detail);
}

static void *allocate(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    (void)userdata;
    memory_moved += old_size + new_size;
    if (new_size == 0) {
        memory_live -= old_size;
        free(ptr);
        return NULL;
    }
    if (memory_fails == 1)
        return NULL;
    memory_fails -= memory_fails > 1;
    memory_live += new_size - old_size;
    return realloc(ptr, new_size);
}

static int traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(THING(self)->ref);
    return 0;
}

static void do_nothing(rrc_heap *h, rrc_object *self) { (void)h, (void)self; }

static const rrc_type Bare = { .tp_name = "Bare", .tp_basicsize = sizeof(thing) };
static const rrc_type Tracked = { .tp_name = "Tracked", .tp_basicsize = sizeof(thing),
                                  .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = traverse, .tp_finalize = do_nothing };
static const rrc_type Plain = { .tp_name = "Plain", .tp_basicsize = sizeof(thing),
                                .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = traverse };
static const rrc_type Referable = { .tp_name = "Referable", .tp_basicsize = sizeof(thing), .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                    .tp_traverse = traverse, .tp_clear_weakrefs = do_nothing };

enum { LINKS = 1000 };
static short places[4 * LINKS];
static rrc_object *obs[LINKS];

static void open_heap_that(int incremental)
{
    rrc_desc desc;

    memset(&desc, 0, sizeof desc);
    desc.trace = trace;
    desc.survivor = survivor;
    desc.is_young = is_young;
    desc.realloc = allocate;
    desc.log = write_log;
    first_young = NULL;
    desc.incremental = incremental;
    heap = rrc_heap_new(&desc);
    check(heap != NULL);
    logged = 0;
    memory_fails = 0;
}

static void open_heap(void) { open_heap_that(0); }

static rrc_object *linked(int i, int is_p)
{
    rrc_object *ob = rrc_new(heap, &Bare);

    check_int((is_p ? rrc_create_link_pypy : rrc_create_link_pyobj)(heap, &places[i], ob), RRC_OK);
    ob->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
    return ob;
}

/* all[i] gets a link to &many[i]. */
static void link_one(int i, int is_p)
{
    all[i] = rrc_new(heap, &Bare);
    check(all[i] != NULL);
    check_int((is_p ? rrc_create_link_pypy : rrc_create_link_pyobj)(heap, &many[i], all[i]), RRC_OK);
    all[i]->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
}

static void collect(void)
{
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    check_int(rrc_major_collection_free(heap), RRC_OK);
    check_int(rrc_check(heap), RRC_OK);
}

static void close_heap(void)
{
    check_int(rrc_check(heap), RRC_OK);
    check_int(logged, 0);
    check_int(rrc_heap_free(heap), 0);
    check_int(logged, 0);
}

static void finds(int code, const char *detail)
{
    check_int(rrc_check(heap), code);
    check(logged > 0);
    if (strstr(last_detail, detail) == NULL)
        unit_fail(__FILE__, __LINE__, "\"%s\" says nothing of \"%s\"", last_detail, detail);
    logged = 0;
}

/* What rrc_explain says of ob. */
static char said[600];

static void note_text(void *arg, const char *text, size_t size)
{
    (void)arg;
    if (strlen(said) + size < sizeof said)
        strcat(said, text);
}

static void is_explained_as(rrc_object *ob, const char *words)
{
    said[0] = '\0';
    check_int(rrc_explain(heap, NULL, ob, note_text, NULL), RRC_OK);
    if (strstr(said, words) == NULL)
        unit_fail(__FILE__, __LINE__, "\"%s\" says nothing of \"%s\"", said, words);
}

/* Put another value into a word of the heap for a while. */
#define DAMAGE(type, word, value, code, detail) \
    do { \
        type was_ = (word); \
        (word) = (value); \
        finds((code), (detail)); \
        (word) = was_; \
        check_int(rrc_check(heap), RRC_OK); \
    } while (0)

/* ... where more than that is wrong. */
#define DAMAGE_ONCE(type, word, value, code, detail) \
    do { \
        type was_ = (word); \
        (word) = (value); \
        finds((code), (detail)); \
        (word) = was_; \
    } while (0)

static void links_and_dictionaries(void)
{
    rrci_list *list;
    uint32_t *group, *free_word, *used;
    size_t i;

    open_heap();
    for (i = 0; i < 10; i++)
        linked((int)i, 1);
    list = &heap->links.list[RRCI_P_OLD];
    DAMAGE(rrc_gcref, rrci_at(list, 3)->p, NULL, RRC_ECORRUPT, "lacks one of its ends");
    DAMAGE(rrc_object *, rrci_at(list, 3)->ob, NULL, RRC_ECORRUPT, "lacks one of its ends");
    check_int(list->dict.homes, 1);
    group = rrci_word(&list->dict.groups, 0);
    for (free_word = group; *free_word != 0; free_word++)
        ;
    used = group + (free_word == group);
    DAMAGE(uint32_t, *free_word, 1, RRC_ECORRUPT, "does not match its list");
    DAMAGE(uint32_t, *free_word, 12, RRC_ECORRUPT, "does not match its list");
    DAMAGE(uint32_t, *used, *used ^ 0x80000000u, RRC_EPLINKED, "does not know the link");
    DAMAGE(uint32_t, group[RRCI_CHAIN], 11, RRC_ECORRUPT, "does not match its list");
    *rrci_word(&list->dict.next, 4) = 0;
    DAMAGE(uint32_t, group[RRCI_CHAIN], 5, RRC_ECORRUPT, "does not match its list");
    *rrci_word(&list->dict.next, 4) = 5;            /* a chain without an end */
    DAMAGE(uint32_t, group[RRCI_CHAIN], 5, RRC_ECORRUPT, "does not match its list");
    close_heap();
}

static void reserves(void)
{
    rrc_object *ob;
    int i;

    open_heap();
    for (i = 0; i < 300; i++)
        linked(i, 1);
    ob = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    DAMAGE(size_t, heap->memory.pool_count, heap->memory.pool_count + 1, RRC_ECORRUPT, "pool");
    DAMAGE(size_t, heap->memory.pool_count, heap->memory.pool_count - 2, RRC_ECORRUPT, "pool");
    DAMAGE(size_t, heap->memory.chunk_count, 1, RRC_ECORRUPT, "too few chunks");
    DAMAGE(size_t, heap->memory.spare_links, 10 * MANY, RRC_ECORRUPT, "too few chunks");
    DAMAGE(size_t, heap->links.directory.capacity, 0, RRC_ECORRUPT, "directories are too short");
    DAMAGE(size_t, heap->tracked.directory.capacity, 0, RRC_ECORRUPT, "directories are too short");
    rrc_decref(heap, ob);
    close_heap();
}

/* What suffices is taken, and one less is not. */
#define LIMIT(word, least, detail) \
    do { \
        size_t is_ = (word); \
        (word) = (least); \
        check_int(rrc_check(heap), RRC_OK); \
        (word) = is_; \
        DAMAGE(size_t, word, (least) - 1, RRC_ECORRUPT, detail); \
    } while (0)

static void reserves_that_just_suffice(void)
{
    static const struct { int links, tracked; } sizes[] = { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 2, 2 }, { 300, 1 }, { 1, 700 },
        { RRC_CHUNK_LINKS, 0 }, { RRC_CHUNK_LINKS, 1 }, { 0, RRC_CHUNK_LINKS } };
    rrc_object *gc[700];
    size_t i;
    int k;

    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t links = (size_t)sizes[i].links, tracked = (size_t)sizes[i].tracked;

        unit_context("%d links, %d tracked", sizes[i].links, sizes[i].tracked);
        open_heap();
        for (k = 0; k < sizes[i].links; k++)
            linked(k, 1);
        for (k = 0; k < sizes[i].tracked; k++) {
            gc[k] = rrc_gc_new(heap, &Tracked);
            check_int(rrc_gc_track(heap, gc[k]), RRC_OK);
        }
        heap->memory.spare_links = 0;
        LIMIT(heap->memory.chunk_count, rrci_chunks_needed(links, tracked), "too few chunks");
        if (links > 0)
            LIMIT(heap->links.directory.capacity, rrci_directory_needed(links, 0), "directories are too short");
        if (tracked > 0)
            LIMIT(heap->tracked.directory.capacity, rrci_directory_needed(0, tracked), "directories are too short");
        DAMAGE(size_t, heap->memory.pool_count, heap->memory.pool_count - 1, RRC_ECORRUPT, "pool");
        for (k = 0; k < sizes[i].tracked; k++)
            rrc_decref(heap, gc[k]);
        close_heap();
    }
}

static void room_for_young_links(void)
{
    rrci_dict *dict;
    size_t most = RRCI_PAGE_WORDS, i;

    open_heap();
    dict = &heap->links.list[RRCI_P_OLD].dict;
    for (i = 0; i < most; i++)
        linked((int)i, 1);
    DAMAGE(size_t, dict->groups.count, dict->groups.count - 1, RRC_ECORRUPT, "too few pages");
    check_int(dict->next.count, 1);
    DAMAGE(size_t, dict->next.count, 0, RRC_ECORRUPT, "too few pages");
    first_young = &places[3000];
    linked(3001, 1);
    check_int(dict->next.count, 2);                 /* for the young link when it is promoted */
    DAMAGE(size_t, dict->next.count, 1, RRC_ECORRUPT, "too few pages");
    close_heap();
}

/* The host marks an object after all, without telling: it stays what it was. */
static void found_late(void)
{
    rrc_object *ob;

    open_heap();
    ob = rrc_gc_new(heap, &Tracked);
    THING(ob)->ref = ob;
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    check_int(rrc_create_link_pyobj(heap, &places[0], ob), RRC_OK);
    ob->ob_refcnt += RRC_REFCNT_FROM_PYPY;
    rrci_gc_head_of(ob)->is.word |= RRCI_GC_FINALIZED;
    heap->tracked.finalizable--;
    nothing_survives = 1;
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    nothing_survives = 0;
    check_int(rrc_major_collection_free(heap), RRC_OK);
#ifdef RRC_DEBUG
    check_int(last_code, RRC_EHOOK);
    check(strstr(last_detail, "after rrc_major_collection_trace:") != NULL);
#endif
    check_int(logged, RRCI_CHECKS);
    logged = 0;
    check_int(rrc_run_pending(heap, 0), 0);
    check_ptr(rrc_to_obj(heap, ob), &places[0]);
    check_int(rrc_gc_is_tracked(heap, ob), 1);
    RRC_CLEAR(heap, THING(ob)->ref);
    close_heap();
}

static void tracked_objects(void)
{
    rrc_object *a, *b;
    rrci_gc_head *head;

    open_heap();
    a = rrc_gc_new(heap, &Tracked);
    b = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, a), RRC_OK);
    check_int(rrc_gc_track(heap, b), RRC_OK);
    head = rrci_gc_head_of(b);
    DAMAGE(uintptr_t, head->is.word, head->is.word - ((uintptr_t)1 << RRCI_GC_SHIFT), RRC_ECORRUPT, "GC head");
    DAMAGE(uintptr_t, head->is.word, head->is.word + 1, RRC_ECORRUPT, "GC head");
    DAMAGE(size_t, heap->tracked.finalizable, 3, RRC_ECORRUPT, "finalizers");
    DAMAGE(size_t, heap->tracked.holes, 1, RRC_ECORRUPT, "holes");
    DAMAGE(size_t, heap->tracked.waiting_holes, 1, RRC_ECORRUPT, "holes");
#ifdef RRC_DEBUG
    DAMAGE(const rrc_type *, b->ob_type, (const rrc_type *)((uintptr_t)b->ob_type | 1), RRC_EFREED, "still tracked");
    THING(a)->ref = b;                      /* a visit of what is not as it should be */
    rrc_incref(heap, b);
    DAMAGE(intptr_t, b->ob_refcnt, 0, RRC_ETRAVERSE, "not an object");
    {
        static uintptr_t zeros[8];

        THING(a)->ref = (rrc_object *)(void *)((char *)zeros + 2);
        finds(RRC_ETRAVERSE, "not an object");
        THING(a)->ref = b;
    }
    {
        rrc_type large = Tracked;

        rrc_gc_untrack(heap, b);
        DAMAGE(const rrc_type *, b->ob_type, NULL, RRC_ETRAVERSE, "not an object");
        DAMAGE(const rrc_type *, b->ob_type, (const rrc_type *)(void *)((char *)&large + 2), RRC_ETRAVERSE, "not an object");
        large.tp_basicsize = (size_t)1 << 30;
        DAMAGE(const rrc_type *, b->ob_type, &large, RRC_ETRAVERSE, "not an object");
        DAMAGE(uintptr_t, head->is.word, 5 << RRCI_GC_SHIFT | RRCI_CLEAR, RRC_ETRAVERSE, "another heap");
        DAMAGE(uintptr_t, head->is.word, 5 << RRCI_GC_SHIFT | RRCI_TRACKED, RRC_ETRAVERSE, "another heap");
    }
    THING(a)->ref = NULL;
    rrc_decref(heap, b);
#endif
    rrc_decref(heap, a);
    rrc_decref(heap, b);
    close_heap();
}

static void what_was_put_off(void)
{
    rrc_object *ob[3];
    int i;

    open_heap();
    for (i = 0; i < 3; i++)
        ob[i] = rrc_new(heap, &Bare);
    check_int(rrc_minor_collection_trace(heap), RRC_OK);
    for (i = 0; i < 3; i++)
        rrc_decref(heap, ob[i]);
    check_int(rrc_minor_collection_free(heap), RRC_OK);
    DAMAGE(intptr_t, ob[1]->ob_refcnt, 0, RRC_EREFCNT, "waits for its dealloc");
    DAMAGE(size_t, heap->waiting.later_count, 2, RRC_ECORRUPT, "deferred");
    DAMAGE(size_t, heap->waiting.later_count, 4, RRC_ECORRUPT, "deferred");
    check_int(rrc_run_pending(heap, 0), 3);
    close_heap();
}

/* Each of those in the queue, in its first chunk and in others. */
static void what_is_queued(void)
{
    enum { COUNT = 2 * RRCI_CHUNK_QUEUED + 2 };
    static const int places_in_it[] = { 0, 1, RRCI_CHUNK_QUEUED - 1, RRCI_CHUNK_QUEUED, COUNT - 1 };
    rrc_object *living[2];              /* one that was made before them, one after */
    size_t i;

    open_heap();
    living[0] = rrc_gc_new(heap, &Plain);
    for (i = 0; i < COUNT; i++)
        link_one((int)i, 0);
    nothing_survives = 1;
    collect();
    nothing_survives = 0;
    check_int(heap->waiting.queue.count, COUNT);
    living[1] = rrc_gc_new(heap, &Plain);
    for (i = 0; i < 2; i++) {
        check_int(rrc_gc_track(heap, living[i]), RRC_OK);
        is_explained_as(living[i], "1 reference from outside keeps it alive");
    }
    for (i = 0; i < 2; i++)
        is_explained_as(living[i], "1 reference from outside keeps it alive");
    for (i = 0; i < sizeof places_in_it / sizeof places_in_it[0]; i++) {
        rrc_object *ob = all[places_in_it[i]];

        unit_context("object %d", places_in_it[i]);
        is_explained_as(ob, "it waits in the queue");
        DAMAGE(intptr_t, ob->ob_refcnt, 0, RRC_EREFCNT, "waits for its dealloc was dropped");
#ifdef RRC_DEBUG
        DAMAGE(const rrc_type *, ob->ob_type, (const rrc_type *)((uintptr_t)ob->ob_type | 1), RRC_EFREED, "still waits for its dealloc");
#endif
    }
    check_int(rrc_run_pending(heap, 0), COUNT);
    rrc_decref(heap, living[0]);
    rrc_decref(heap, living[1]);
    close_heap();
}

/* Some that refer to each other in a circle, and that nothing else refers to. */
enum { CIRCLE = 4 };

static void circle(const rrc_type *type, rrc_object *ring[CIRCLE])
{
    int i;

    for (i = 0; i < CIRCLE; i++) {
        ring[i] = rrc_gc_new(heap, type);
        check_int(rrc_gc_track(heap, ring[i]), RRC_OK);
    }
    for (i = 0; i < CIRCLE; i++)
        THING(ring[i])->ref = ring[(i + 1) % CIRCLE];
}

static void check_damage_of_tracked(rrc_object *ob)
{
    rrci_gc_head *head = rrci_gc_head_of(ob);

    DAMAGE(uintptr_t, head->is.word, head->is.word + ((uintptr_t)1 << RRCI_GC_SHIFT), RRC_ECORRUPT, "GC head");
    DAMAGE(uintptr_t, head->is.word, head->is.word ^ 1, RRC_ECORRUPT, "GC head");
    DAMAGE(uintptr_t, head->is.refs, 1, RRC_ECORRUPT, "scratch word");
    DAMAGE(size_t, heap->tracked.finalizable, heap->tracked.finalizable + 1, RRC_ECORRUPT, "finalizers");
    if (ob->ob_refcnt < 0)
        DAMAGE(intptr_t, ob->ob_refcnt, ob->ob_refcnt & INTPTR_MAX, RRC_ECORRUPT, "not watched");
    else
        DAMAGE(intptr_t, ob->ob_refcnt, 0, RRC_ETRAVERSE, "");
}

/* Garbage that waits for the next call is looked at as what lives is: each list, each object of it. */
static void garbage_that_waits(void)
{
    static const rrc_type *const types[] = { &Plain, &Referable, &Tracked, &Tracked };
    rrc_object *ring[4][CIRCLE];
    int k, i;

    open_heap();
    for (k = 0; k < 4; k++) {
        circle(types[k], ring[k]);
        if (k == 3)
            rrc_incref(heap, ring[k][0]);       /* this one lives */
        else
            collect();
    }
    check_int((int)rrci_count_waiting(heap), 3 * CIRCLE);
    check_int(heap->tracked.list[RRCI_TRACKED].count, CIRCLE);
    for (k = 0; k < 4; k++)
        for (i = 0; i < CIRCLE; i++) {
            unit_context("ring %d, object %d", k, i);
            check_damage_of_tracked(ring[k][i]);
            is_explained_as(ring[k][i], k < 3 ? "garbage, waits" : i == 0 ? "1 reference from outside" : "held by Tracked");
        }
    rrc_decref(heap, ring[3][0]);
    for (k = 0; k < 4; k++) {
        for (i = 0; i < CIRCLE; i++)
            rrc_incref(heap, ring[k][i]);
        for (i = 0; i < CIRCLE; i++)
            RRC_CLEAR(heap, THING(ring[k][i])->ref);
        for (i = 0; i < CIRCLE; i++)
            rrc_decref(heap, ring[k][i]);
    }
    close_heap();
}

static void limits(void)
{
    rrc_object *ob, *gc;
    size_t was;

    open_heap();
    ob = rrc_new(heap, &Bare);
    gc = rrc_gc_new(heap, &Tracked);
    was = heap->links.list[RRCI_O_OLD].count;
    heap->links.list[RRCI_O_OLD].count = RRCI_MAX_LINKS;
    heap->memory.spare_links = 0;
    check_int(rrc_create_link_pypy(heap, &places[0], ob), RRC_ELIMIT);
    check_int(last_code, RRC_ELIMIT);
    heap->links.list[RRCI_O_OLD].count = was;
    heap->tracked.list[RRCI_CLEAR].count = RRCI_MAX_TRACKED;
    check_int(rrc_gc_track(heap, gc), RRC_ELIMIT);
    check_int(last_code, RRC_ELIMIT);
    heap->tracked.list[RRCI_CLEAR].count = RRCI_MAX_TRACKED - 1;
    memory_fails = 1;
    check_int(rrc_gc_track(heap, gc), RRC_ENOMEM);      /* it would be the last one */
    memory_fails = 0;
    heap->tracked.list[RRCI_CLEAR].count = 0;
    logged = 0;
    rrc_decref(heap, ob);
    rrc_decref(heap, gc);
    close_heap();
}

/* What is far too large is made smaller: the directory by a link, if there is memory for it, and the dictionary by a
   collection. */
static void shrinking_without_memory(void)
{
    const rrci_dict *dict;
    rrc_stats before, after;
    int i;

    open_heap();
    dict = &heap->links.list[RRCI_P_OLD].dict;
    for (i = 0; i < MANY; i++)
        link_one(i, 1);
    for (i = 10; i < MANY; i++)
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
    check_int(rrc_run_pending(heap, 0), MANY - 10);
    all[10] = rrc_new(heap, &Bare);
    check(dict->homes < 20 && heap->links.directory.capacity > 100);
    check_int(rrc_get_stats(heap, &before), RRC_OK);
    memory_fails = 1;
    heap->memory.spare_links = 0;
    check_int(rrc_create_link_pypy(heap, &many[10], all[10]), RRC_OK);
    check_int(rrc_get_stats(heap, &after), RRC_OK);
    check_int(after.memory, before.memory);
    all[10]->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
    check(heap->links.directory.capacity > 100);
    memory_fails = 0;
    for (i = 11; i < 11 + 2 * RRC_CHUNK_LINKS; i++)     /* not each call looks at the directory */
        link_one(i, 1);
    check(heap->links.directory.capacity < 100);
    check(dict->groups.count * RRCI_PAGE_WORDS > MANY);
    collect();
    check(dict->groups.count * RRCI_PAGE_WORDS < MANY / 4 && dict->next.count * RRCI_PAGE_WORDS < MANY / 4);
    close_heap();
}

/* Links come and go, in a dictionary that grows no more. */
static void links_come_and_go(void)
{
    int count, i;

    for (count = 500; count < 520; count++) {
        open_heap();
        for (i = 0; i < count; i++)
            obs[i] = linked(i, 1);
        for (i = 0; i < 3 * LINKS; i++) {
            check_int(rrc_unlink(heap, obs[i % count]), RRC_OK);
            rrc_run_pending(heap, 0);
            obs[i % count] = rrc_new(heap, &Bare);
            check_int(rrc_create_link_pypy(heap, &places[i + LINKS], obs[i % count]), RRC_OK);
            obs[i % count]->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
        }
        for (i = 3 * LINKS - count; i < 3 * LINKS; i++)
            check_ptr(rrc_from_obj(heap, &places[i + LINKS]), obs[i % count]);
        close_heap();
    }
}

/* Keys that the hash sends to the same sixteenth of a dictionary: the groups are full there, and have long chains. */
enum { CROWD = 400 };

static void crowd(int sixteenth, int *members)
{
    int i, count = 0;

    for (i = 0; i < MANY && count < CROWD; i++)
        if ((int)(rrci_hash(&many[i]) % 16) == sixteenth)
            members[count++] = i;
    check_int(count, CROWD);
}

static void finds_crowd(const int *members, int first, int last)
{
    int i;

    for (i = 0; i < CROWD; i++)
        check_ptr(rrc_from_obj(heap, &many[members[i]]), i >= first && i < last ? all[members[i]] : NULL);
}

static void crowds_come_and_go(void)
{
    static int members[CROWD];
    int round, i;

    open_heap();
    for (round = 15; round < 32; round++) {
        unit_context("round %d", round);
        crowd(round % 16, members);
        for (i = 0; i < CROWD / 2; i++)
            link_one(members[i], 1);
        finds_crowd(members, 0, CROWD / 2);
        for (; i < CROWD; i++) {
            check_int(rrc_unlink(heap, all[members[i - CROWD / 2]]), RRC_OK);
            link_one(members[i], 1);
        }
        finds_crowd(members, CROWD / 2, CROWD);
        check_int(rrc_check(heap), RRC_OK);
        for (i = CROWD / 2; i < CROWD; i++)
            check_int(rrc_unlink(heap, all[members[i]]), RRC_OK);
        finds_crowd(members, 0, 0);
        check_int(rrc_check(heap), RRC_OK);
        check_int(rrc_run_pending(heap, 0), CROWD);
    }
    close_heap();
}

/* Few groups, and two crowds that come and go at random. */
static void crowds_in_a_small_dictionary(void)
{
    enum { ALL = 2 * 84, MOST = 84 };
    static int members[2][CROWD];
    uint32_t random = 1;
    int round, i, count = 0;

    open_heap();
    crowd(15, members[0]);
    crowd(3, members[1]);
    for (i = 0; i < ALL; i++)
        all[members[i % 2][i / 2]] = NULL;
    for (round = 0; round < 2000; round++) {
        int k;

        random = random * 1664525 + 1013904223;
        i = (int)((random >> 8) % ALL);
        k = members[i % 2][i / 2];
        if (all[k] != NULL) {
            check_int(rrc_unlink(heap, all[k]), RRC_OK);
            check_int(rrc_run_pending(heap, 0), 1);
            all[k] = NULL;
            count--;
        } else if (count < MOST) {
            link_one(k, 1);
            count++;
        }
        for (i = 0; i < ALL; i++) {
            k = members[i % 2][i / 2];
            check_ptr(rrc_from_obj(heap, &many[k]), all[k]);
        }
    }
    close_heap();
}

/* Collections move a crowd elsewhere, whole or by and by, while young links wait for room. */
static void crowds_move(void)
{
    enum { YOUNG = 50 };
    static int from[CROWD], to[CROWD];
    int step, round, i, k;

    for (step = CROWD / 50; step <= CROWD; step *= 50) {
        open_heap();
        crowd(0, from);
        for (i = 0; i < CROWD; i++)
            link_one(from[i], 1);
        first_young = &many[MANY - YOUNG];
        for (i = MANY - YOUNG; i < MANY; i++)
            link_one(i, 1);
        for (round = 1; round < 8; round++) {
            unit_context("%d at a time, round %d", step, round);
            crowd(round % 16, to);
            for (i = 0; i < CROWD; i += step) {
                for (k = i; k < i + step; k++) {
                    goes_to[from[k]] = &many[to[k]];
                    all[to[k]] = all[from[k]];
                }
                collect();
                for (k = i; k < i + step; k++) {
                    goes_to[from[k]] = NULL;
                    check_ptr(rrc_from_obj(heap, &many[from[k]]), NULL);
                }
            }
            finds_crowd(to, 0, CROWD);
            memcpy(from, to, sizeof from);
        }
        first_young = &many[MANY];
        collect();
        for (i = MANY - YOUNG; i < MANY; i++)
            check_ptr(rrc_from_obj(heap, &many[i]), all[i]);
        finds_crowd(to, 0, CROWD);
        close_heap();
    }
}

/* ---- tables that grow while links come and go ---- */

/* Whatever the number of links, a call adds at most one group, and takes and frees few pages, for two lists. */
static void check_that_links_are_made_in_steps(rrci_list *list, int from, int to, int is_p)
{
    int i;

    for (i = from; i < to; i++) {
        size_t homes = list->dict.homes, directories = heap->links.directory.capacity;
        rrc_object *ob = rrc_new(heap, &Bare);

        memory_moved = 0;
        check_int((is_p ? rrc_create_link_pypy : rrc_create_link_pyobj)(heap, &many[i], ob), RRC_OK);
        check(list->dict.homes - homes <= 1);
        if (heap->links.directory.capacity == directories)
            check(memory_moved < 6 * RRCI_PAGE_WORDS * sizeof(uint32_t) + 16 * MANY / RRCI_LOAD);
        ob->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
        all[i] = ob;
    }
}

static void links_are_made_in_steps(void)
{
    rrci_list *old;
    size_t homes;
    int i;

    open_heap();
    old = &heap->links.list[RRCI_P_OLD];
    check_that_links_are_made_in_steps(old, 0, MANY, 1);
    check(old->dict.homes * RRCI_LOAD >= MANY && (old->dict.homes - 1) * RRCI_LOAD < MANY);
    for (i = 0; i < MANY; i++)
        check_ptr(rrc_from_obj(heap, &many[i]), all[i]);
    for (i = 100; i < MANY; i++) {                  /* it shrinks in steps, too */
        homes = old->dict.homes;
        memory_moved = 0;
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
        check_int(memory_moved, 0);
        check(homes - old->dict.homes <= 1);
    }
    check(old->dict.homes < 60);
    rrc_run_pending(heap, 0);
    check_that_links_are_made_in_steps(old, 100, 200, 1);
    close_heap();
}

/* The first young link after a collection finds groups for as many as there were before. */
static void young_links_are_made_in_steps(void)
{
    rrci_list *young, *old;
    int round, i;

    open_heap();
    first_young = &many[0];
    young = &heap->links.list[RRCI_P_YOUNG];
    old = &heap->links.list[RRCI_P_OLD];
    for (round = 0; round < 3; round++) {
        check_that_links_are_made_in_steps(young, 0, MANY / 2, 1);
        check_that_links_are_made_in_steps(old, MANY / 2, MANY, 1);
        for (i = 0; i < MANY; i++)
            dies[i] = 1;
        check_int(rrc_minor_collection_trace(heap), RRC_OK);
        check_int(rrc_minor_collection_free(heap), RRC_OK);
        check_int(young->count, 0);
        check(young->dict.homes * RRCI_LOAD >= MANY / 2);
        check_int(rrc_run_pending(heap, 0), MANY);
        for (i = 0; i < MANY; i++)
            dies[i] = 0;
    }
    close_heap();
}

/* Links go in any order. */
static void shrinking(void)
{
    enum { COUNT = 2000 };
    const rrci_dict *dict;
    int order, i, k;

    for (order = 0; order < 3; order++) {
        unit_context("order %d", order);
        open_heap();
        dict = &heap->links.list[RRCI_P_OLD].dict;
        for (i = 0; i < COUNT; i++)
            link_one(i, 1);
        for (i = 0; i < COUNT; i++) {
            k = order == 0 ? i : order == 1 ? COUNT - 1 - i : i * 7919 % COUNT;     /* (a prime) */
            check_int(rrc_unlink(heap, all[k]), RRC_OK);
            if (i % 7 == 0)
                check_int(rrc_check(heap), RRC_OK);
        }
        check_int(dict->homes, 1);
        rrc_run_pending(heap, 0);
        for (k = COUNT; k < COUNT + 100; k++)
            link_one(k, 1);
        for (k = COUNT; k < COUNT + 100; k++)
            check_ptr(rrc_from_obj(heap, &many[k]), all[k]);
        close_heap();
    }
}

/* Few links die and move, so that these are changed one by one, or so many that the dictionary is filled anew. */
static void few_or_many_change(void)
{
    enum { FAR = MANY / 2, COUNT = 3000 };
    static const int parts[] = { 1000, 5 };     /* one link of so many dies, and another moves */
    int young, which, i, count = COUNT;

    for (young = 0; young < 2; young++)
        for (which = 0; which < 2; which++) {
            unit_context("young %d, one of %d", young, parts[which]);
            open_heap();
            first_young = young ? &many[0] : NULL;
            for (i = 0; i < count; i++)
                link_one(i, 1);
            for (i = 0; i < count; i++) {
                dies[i] = i % parts[which] == 0;
                goes_to[i] = i % parts[which] == 1 ? &many[FAR + i] : NULL;
            }
            if (young) {
                first_young = &many[count / 2];
                check_int(rrc_minor_collection_trace(heap), RRC_OK);
                check_int(rrc_minor_collection_free(heap), RRC_OK);
                check_int(rrc_check(heap), RRC_OK);
            } else {
                collect();
            }
            rrc_run_pending(heap, 0);
            for (i = count; i < FAR / 2; i++)
                link_one(i, 1);
            for (i = 0; i < FAR / 2; i++) {
                check_ptr(rrc_from_obj(heap, &many[i]), dies[i] || goes_to[i] != NULL ? NULL : all[i]);
                check_ptr(rrc_from_obj(heap, &many[FAR + i]), goes_to[i] != NULL ? all[i] : NULL);
                dies[i] = 0;
                goes_to[i] = NULL;
            }
            close_heap();
        }
}

/* A collection drops an optional dictionary, and an unlink makes it again. */
static void dropped(void)
{
    const rrci_dict *dict;
    int i, k;

    open_heap();
    dict = &heap->links.list[RRCI_O_OLD].dict;
    for (i = 0; i < 3000; i++)
        link_one(i, 0);
    for (k = 0; k < 2; k++) {
        check_int(rrc_unlink(heap, all[k]), RRC_OK);
        check_int(dict->on, 1);
        for (i = 2; i < 3000; i++)
            dies[i] = i % 8 == 7 - k;
        heap->links.list[RRCI_O_OLD].dict.asked = 0;
        collect();
        check_int(dict->on, 0);
        check_int(dict->groups.count + dict->next.count, 0);
    }
    for (i = 2; i < 3000; i++) {
        dies[i] = 0;
        if (i % 8 < 6)
            check_int(rrc_unlink(heap, all[i]), RRC_OK);
    }
    check_int(heap->links.list[RRCI_O_OLD].count, 0);
    rrc_run_pending(heap, 0);
    close_heap();
    check_int(memory_live, 0);
}

/* An unlink has memory for a part of a dictionary only. */
static void half_a_dictionary(void)
{
    const rrci_dict *dict;
    int i;

    open_heap();
    dict = &heap->links.list[RRCI_O_OLD].dict;
    for (i = 0; i < 3000; i++)
        link_one(i, 0);
    for (i = 0; i < 3; i++) {
        memory_fails = 2;
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
        check_int(memory_fails, 1);
        check_int(dict->on, 0);
    }
    memory_fails = 0;
    for (; i < 3000; i++)
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
    check_int(dict->on, 1);
    rrc_run_pending(heap, 0);
    close_heap();
    check_int(memory_live, 0);
}

/* When few links are left, an unlink makes a small dictionary. */
static void a_small_dictionary_again(void)
{
    rrci_dict *dict;
    int i;

    open_heap();
    dict = &heap->links.list[RRCI_O_OLD].dict;
    for (i = 0; i < MANY; i++)
        link_one(i, 0);
    check_int(rrc_unlink(heap, all[0]), RRC_OK);
    check(dict->homes > 1000);
    dict->asked = 0;
    for (i = 1; i < MANY; i++)
        dies[i] = i > 1000;
    collect();
    check_int(dict->on, 0);
    check_int(rrc_unlink(heap, all[1]), RRC_OK);
    check_int(dict->on, 1);
    check(dict->homes < 100 && dict->groups.count * RRCI_PAGE_WORDS < 4000);
    for (i = 1; i < MANY; i++)
        dies[i] = 0;
    rrc_run_pending(heap, 0);
    close_heap();
    check_int(memory_live, 0);
}

/* A collection drops an optional dictionary that changes much, but not if an unlink has used it since the last one. */
static void used_and_kept(void)
{
    rrci_dict *dict;
    int i, k;

    open_heap();
    dict = &heap->links.list[RRCI_O_OLD].dict;
    for (i = 0; i < 3000; i++)
        link_one(i, 0);
    check_int(rrc_unlink(heap, all[0]), RRC_OK);
    for (k = 1; k < 3; k++) {
        for (i = 1; i < 3000; i++)
            dies[i] = i % 4 == k;
        collect();
        check_int(dict->on, k == 1);
    }
    for (i = 1; i < 3000; i++) {
        dies[i] = 0;
        if (i % 4 == 0 || i % 4 == 3)
            check_int(rrc_unlink(heap, all[i]), RRC_OK);
    }
    rrc_run_pending(heap, 0);
    close_heap();
}

/* Hosts that run the header in slices never wait for a dictionary. */
static void unlinks_find_a_dictionary(void)
{
    rrci_list *list;
    rrci_dict *dict;
    int i;

    open_heap_that(1);
    list = &heap->links.list[RRCI_O_OLD];
    dict = &list->dict;
    check_that_links_are_made_in_steps(list, 0, MANY, 0);
    for (i = 0; i < MANY; i++)
        dies[i] = i % 2 != 0;
    collect();
    for (i = 0; i < MANY; i++) {
        rrci_page *was = dict->groups.page;

        dies[i] = 0;
        if (i % 2 != 0)
            continue;
        check_int(dict->on, 1);
        memory_moved = 0;
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
        check_int(memory_moved, 0);
        check_ptr(dict->groups.page, was);
    }
    rrc_run_pending(heap, 0);
    close_heap();
}

/* Random changes, on hosts of several kinds. Objects of one group have one p. A p is in one of
   two places: old, and in hosts with generations young. */
enum { CROWDED = 6000 };

static struct {
    int  size;                          /* of a group */
    int  is_p, generations, demotes;
    char place[CROWDED];                /* of a group's p */
} crowded;

static uint32_t random_state;

static int random_below(int n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (int)((random_state >> 8) % (uint32_t)n);
}

static short *p_of(int k)
{
    return &many[crowded.place[k / crowded.size] * CROWDED + k / crowded.size];
}

/* Has no object of the group of k a link? */
static int is_alone(int k)
{
    int i;

    for (i = k / crowded.size * crowded.size; i < (k / crowded.size + 1) * crowded.size; i++)
        if (all[i] != NULL)
            return 0;
    return 1;
}

static void collect_at_random(int is_minor)
{
    static char fate[CROWDED];          /* 0: stays, 1: dies, 2: goes to its other place */
    int one_in = random_below(3) == 0 ? 3 : 400, g, k;

    for (g = 0; g < CROWDED / crowded.size; g++) {
        short *p = p_of(g * crowded.size);
        int index = (int)(p - many), other = (index + CROWDED) % (2 * CROWDED);

        fate[g] = 0;
        if (is_minor && !crowded.place[g])
            continue;
        fate[g] = (char)(random_below(one_in) == 0 ? 1 + random_below(2) : 0);
        if (fate[g] == 2 && crowded.generations && !crowded.demotes && !crowded.place[g])
            fate[g] = 0;
        if (fate[g] == 2)
            goes_to[index] = &many[other];
        else
            dies[index] = fate[g] == 1;
    }
    if (is_minor) {
        check_int(rrc_minor_collection_trace(heap), RRC_OK);
        check_int(rrc_minor_collection_free(heap), RRC_OK);
    } else {
        check_int(rrc_major_collection_trace(heap), RRC_OK);
        check_int(rrc_major_collection_free(heap), RRC_OK);
    }
    for (g = 0; g < CROWDED / crowded.size; g++) {
        int index = (int)(p_of(g * crowded.size) - many);

        goes_to[index] = NULL;
        dies[index] = 0;
        if (fate[g] == 2)
            crowded.place[g] = !crowded.place[g];
        for (k = g * crowded.size; k < (g + 1) * crowded.size; k++)
            if (all[k] != NULL && fate[g] == 1)
                all[k] = NULL;
    }
    rrc_run_pending(heap, 0);
}

static void check_links_of_all(void)
{
    int k;

    for (k = 0; k < CROWDED; k++) {
        if (all[k] != NULL)
            check_ptr(rrc_to_obj(heap, all[k]), p_of(k));
        if (crowded.is_p)
            check_ptr(rrc_from_obj(heap, p_of(k)), all[k]);
    }
    check_int(rrc_check(heap), RRC_OK);
}

static void change_at_random(uint32_t seed, int steps)
{
    int step, grows = 1;

    random_state = seed;
    memset(all, 0, sizeof all);
    memset(crowded.place, 0, sizeof crowded.place);
    for (step = 0; step < steps; step++) {
        int k = random_below(CROWDED);

        if (random_below(1000) == 0)
            grows = random_below(5) > 0;
        if (random_below(10) < (grows ? 9 : 2)) {
            rrc_object *ob = all[k] == NULL ? rrc_new(heap, &Bare) : NULL;
            int code;

            if (ob == NULL)
                continue;
            if (crowded.generations && is_alone(k))
                crowded.place[k / crowded.size] = (char)random_below(2);
            memory_fails = random_below(20) == 0;
            code = (crowded.is_p ? rrc_create_link_pypy : rrc_create_link_pyobj)(heap, p_of(k), ob);
            check(code == RRC_OK || (memory_fails && code == RRC_ENOMEM));
            memory_fails = 0;
            if (code == RRC_OK) {
                ob->ob_refcnt += RRC_REFCNT_FROM_PYPY - 1;
                all[k] = ob;
            } else {
                rrc_decref(heap, ob);
            }
        } else {
            if (all[k] != NULL) {
                memory_fails = random_below(2);
                check_int(rrc_unlink(heap, all[k]), RRC_OK);
                memory_fails = 0;
                all[k] = NULL;
            }
            rrc_run_pending(heap, 0);
        }
        if (random_below(300) == 0)
            check_links_of_all();
        if (random_below(700) == 0) {
            collect_at_random(crowded.generations && random_below(2) == 0);
            check_links_of_all();
        }
        if (random_below(15000) == 0) {
            for (k = 0; k < CROWDED; k++)
                if (all[k] != NULL && random_below(50) > 0) {
                    check_int(rrc_unlink(heap, all[k]), RRC_OK);
                    all[k] = NULL;
                }
            rrc_run_pending(heap, 0);
        }
    }
}

static void changes_at_random(void)
{
    static const struct { int size, is_p, generations, demotes, reports, incremental; } kinds[] = {
        { 1, 1, 0, 0, 0, 0 }, { 1, 1, 1, 0, 0, 0 }, { 1, 1, 1, 1, 0, 0 }, { 4, 0, 0, 0, 1, 0 }, { 3, 0, 1, 1, 1, 1 },
        { 2, 0, 0, 0, 0, 0 }, { 1, 0, 1, 0, 0, 0 }, { 1, 0, 1, 1, 0, 0 },
        { 2, 0, 0, 0, 0, 1 }, { 1, 0, 1, 0, 0, 1 }, { 2, 0, 1, 1, 0, 1 } };
    uint32_t seed;
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (seed = 1; seed <= (unit_is_quick() ? 1 : 4); seed++) {
            rrc_desc desc;

            unit_context("kind %u, seed %u", (unsigned)i, (unsigned)seed);
            memset(&desc, 0, sizeof desc);
            desc.trace = trace;
            desc.survivor = survivor;
            desc.is_young = kinds[i].generations ? is_young : NULL;
            desc.demotes = kinds[i].demotes;
            desc.reports_marks = kinds[i].reports;
            desc.incremental = kinds[i].incremental;
            desc.realloc = allocate;
            desc.log = write_log;
            heap = rrc_heap_new(&desc);
            check(heap != NULL);
            logged = 0;
            first_young = &many[CROWDED];
            crowded.size = kinds[i].size;
            crowded.is_p = kinds[i].is_p;
            crowded.generations = kinds[i].generations;
            crowded.demotes = kinds[i].demotes;
            change_at_random(seed, unit_is_quick() ? 20000 : 60000);
            close_heap();
            check_int(memory_live, 0);
        }
}

/* Two addresses with the same hash: a multiple of d is 2. */
static void lookalikes(void)
{
    uint64_t d = 1;
    rrc_object *ob, *other;
    rrc_gcref p = &places[0], q;
    int i;

    for (i = 0; i < 6; i++)
        d *= 2 - d * RRCI_GOLDEN;
    q = (rrc_gcref)((uintptr_t)p + (uintptr_t)(2 * d));
    if (sizeof(void *) < 8)             /* there are none */
        return;
    check_int(rrci_hash(p), rrci_hash(q));
    open_heap();
    ob = linked(0, 1);
    other = rrc_new(heap, &Bare);
    check_ptr(rrc_from_obj(heap, q), NULL);
    check_int(rrc_link(heap, q, other, RRC_P | RRC_GIVE), RRC_OK);
    check_ptr(rrc_from_obj(heap, p), ob);
    check_ptr(rrc_from_obj(heap, q), other);
    check_int(rrc_unlink(heap, ob), RRC_OK);
    check_ptr(rrc_from_obj(heap, p), NULL);
    check_ptr(rrc_from_obj(heap, q), other);
    rrc_run_pending(heap, 0);
    close_heap();
}

/* All young O links become old at once, on a host whose O links have a dictionary by p. */
static void all_are_promoted(void)
{
    rrc_desc desc;
    int kind, i;

    for (kind = 0; kind < 2; kind++) {
        open_heap();
        close_heap();
        memset(&desc, 0, sizeof desc);
        desc.trace = trace;
        desc.survivor = survivor;
        desc.is_young = is_young;
        desc.log = write_log;
        desc.reports_marks = 1;
        heap = rrc_heap_new(&desc);
        check(heap != NULL);
        first_young = &many[0];
        for (i = 0; i < LINKS; i++)
            link_one(i, kind);
        check_int(rrc_check(heap), RRC_OK);
        first_young = &many[MANY - 1];
        check_int(rrc_minor_collection_trace(heap), RRC_OK);
        check_int(rrc_minor_collection_free(heap), RRC_OK);
        for (i = 0; i < LINKS; i++)
            check_int(rrc_unlink(heap, all[i]), RRC_OK);
        check_int(rrc_run_pending(heap, 0), LINKS);
        close_heap();
    }
}

/* The maker of a link can add the bias before, also for an object that has nothing in front. */
static void a_bias_without_a_link(void)
{
    static const rrc_type Alone = { .tp_name = "Alone" };
    rrc_object ob;

    open_heap();
    memset(&ob, 0, sizeof ob);
    ob.ob_refcnt = RRC_REFCNT_FROM_PYPY + 1;
    ob.ob_type = &Alone;
    check(!rrci_is_p_linked(heap, &ob));
    close_heap();
}

/* What is in front of an object takes no more room than it must to keep the allocator's alignment. */
static void alignment(void)
{
    check_int(sizeof(rrci_var_head), 16);
    check_int(sizeof(rrci_gc_head), 16);
#ifdef TEST_CLOSED
    check(sizeof(rrci_mirror_head) % 16 == 0 && sizeof(rrci_mirror_head) >= sizeof(rrci_mirror_words)
          && sizeof(rrci_mirror_head) < sizeof(rrci_mirror_words) + 16);
#endif
}

/* The least count that is immortal: such an object has no GC head, whatever its type
   says, and no count to be set right. */
static void just_immortal(void)
{
    static struct { rrci_gc_head before; thing statue; } it;
    rrc_object *ob = &it.statue.head;

    open_heap();
    memset(&it.before, 0xFF, sizeof it.before);
    RRC_TYPE(ob) = &Tracked;
    RRC_REFCNT(ob) = RRC_REFCNT_IMMORTAL;
    check_int(rrc_gc_is_tracked(heap, ob), 0);
    check_int(rrc_create_link_pyobj(heap, &places[0], ob), RRC_OK);
    nothing_survives = 1;
    collect();
    nothing_survives = 0;
    check_ptr(RRC_LINK(ob), NULL);
    check_int(RRC_REFCNT(ob), RRC_REFCNT_IMMORTAL);
    close_heap();
}

/* A link whose bias is still to come looks like other things that link fields hold: it is none. */
static void links_without_a_bias(void)
{
    int waits;

    for (waits = 0; waits < 2; waits++) {
        rrc_object *ob, *waiting;
        rrc_gcref p = &places[0];

        unit_context("waits %d", waits);
        open_heap();
        ob = rrc_new(heap, &Bare);
        waiting = rrc_new(heap, &Bare);
        check_int(rrc_minor_collection_trace(heap), RRC_OK);
        if (waits)
            rrc_decref(heap, waiting);
        check_int(rrc_minor_collection_free(heap), RRC_OK);
        check_int(rrc_create_link_pyobj(heap, p, ob), RRC_OK);
        check_ptr(rrc_to_obj(heap, ob), p);
        check_int(rrc_create_link_pyobj(heap, &places[5], ob), RRC_ELINKED);
        rrc_mark_deallocating(heap, &places[6], ob);
        check_int(last_code, RRC_ELINKED);
        check_ptr(rrc_to_obj(heap, ob), p);
        rrc_decref(heap, ob);               /* it was to have a bias first */
        check_int(last_code, RRC_EREFCNT);
        check_ptr(rrc_to_obj(heap, ob), p);
        check_int(RRC_REFCNT(ob), RRC_REFCNT_FROM_PYPY);
        logged = 0;
        check_ptr(rrc_to_obj(heap, waiting), NULL);
        if (!waits)
            rrc_decref(heap, waiting);
        check_int(rrc_run_pending(heap, 0), waits);
        close_heap();
    }
}

/* The record of a link that was promoted is not found where it was. */
static void unlinked_after_promotion(void)
{
    rrc_object *stays, *goes;

    open_heap();
    first_young = &places[1];
    stays = linked(3, 0);
    goes = linked(1, 0);
    first_young = &places[2];
    check_int(rrc_minor_collection_trace(heap), RRC_OK);
    check_int(rrc_minor_collection_free(heap), RRC_OK);
    check_int(rrc_unlink(heap, goes), RRC_OK);
    check_int(rrc_check(heap), RRC_OK);
    check_int(heap->links.list[RRCI_O_YOUNG].count, 1);
    check_int(rrc_unlink(heap, stays), RRC_OK);
    check_int(rrc_run_pending(heap, 0), 2);
    close_heap();
}

/* The links of a list that is searched by ob are found by a dictionary, too: else this takes long. */
static void many_are_unlinked(void)
{
    int i;

    open_heap();
    for (i = 0; i < MANY; i++)
        link_one(i, 0);
    for (i = MANY; i-- > 0;)
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
    check_int(rrc_run_pending(heap, 0), MANY);
    close_heap();
}

/* What waits in the queue can be linked again, so that its room is not given back. A search notes
   a record for each link, of one tracked object or many. */
static void room_for_what_waits(void)
{
    rrc_object *ob;
    int i;

    open_heap();
    ob = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    for (i = 0; i < 10 * LINKS; i++)
        link_one(i, i % 2);
    memset(dies, 1, 4 * LINKS);
    collect();
    memset(dies, 0, sizeof dies);
    check(rrc_check(heap) == RRC_OK && heap->waiting.queue.count == 4 * LINKS);
    collect();
    rrc_decref(heap, ob);
    check_int(rrc_run_pending(heap, 0), 4 * LINKS);
    for (i = 4 * LINKS; i < 10 * LINKS; i++)
        check_int(rrc_unlink(heap, all[i]), RRC_OK);
    close_heap();
}

/* A host has moved two p to the same place. */
static void two_p_links_of_one_p(void)
{
    open_heap();
    link_one(0, 1);
    link_one(1, 1);
    goes_to[1] = &many[0];
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    check_int(rrc_major_collection_free(heap), RRC_OK);
    goes_to[1] = NULL;
    finds(RRC_EPLINKED, "two P links");
    rrc_heap_free(heap);
}

/* A record that is there twice: in the same list, or in another one. */
static void two_links_of_one_ob(void)
{
    static const struct { int kind, index, again; } cases[] = {
        { RRCI_P_OLD, 0, RRCI_O_OLD }, { RRCI_P_OLD, 2, RRCI_O_OLD }, { RRCI_O_OLD, 1, RRCI_O_OLD }
    };
    size_t k;
    int i;

    for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        rrci_list *list;

        unit_context("case %d", (int)k);
        open_heap();
        for (i = 0; i < 6; i++)
            linked(i, i < 3);
        list = &heap->links.list[cases[k].again];
        heap->memory.spare_links = 0;
        rrci_append(heap, list, *rrci_at(&heap->links.list[cases[k].kind], (size_t)cases[k].index));
        list->dict.on = 0;
        fields_name_p = 1;
        finds(RRC_ELINKED, "the object has two links");
        rrci_append(heap, list, *rrci_at(&heap->links.list[RRCI_P_OLD], 1));
        rrci_append(heap, list, *rrci_at(&heap->links.list[RRCI_P_OLD], 1));
        check_int(rrc_check(heap), RRC_ELINKED);        /* one of them is told */
        check_int(logged, 1);
        logged = 0;
        fields_name_p = 0;
        check_link_fields();
        rrci_remove(heap, list, list->count - 1);
        rrci_remove(heap, list, list->count - 1);
        rrci_remove(heap, list, list->count - 1);
        rrc_heap_free(heap);
        logged = 0;
    }
}

/* A field of tp_members is a pointer to any struct. What was just written there is read, and what is cleared there is
   seen, also by an optimizer that tells such pointers from others. */
typedef struct typed {
    rrc_object head;
    struct typed *next;
} typed;

static volatile size_t next_offset = offsetof(typed, next);     /* it cannot know which field this is */

static void members_of_any_type(void)
{
    rrc_member members[2] = { { "next", 0 }, { NULL, 0 } };
    rrc_type type;
    typed a, others[2];
    int i, values = 0, cleared = 0;

    open_heap();
    memset(&type, 0, sizeof type);
    memset(&a, 0, sizeof a);
    memset(others, 0, sizeof others);
    type.tp_members = members;
    a.head.ob_type = &type;
    members[0].offset = next_offset;
    for (i = 0; i < 2; i++) {
        others[i].head.ob_refcnt = 2;
        a.next = &others[i];
        values += rrci_member_value(&a.head, members) == &others[i].head;
    }
    check_int(values, 2);
    for (i = 0; i < 2; i++) {
        a.next = &others[i];
        rrci_clear_members(heap, &a.head);
        cleared += a.next == NULL;
        check_int(others[i].head.ob_refcnt, 1);
    }
    check_int(cleared, 2);
    close_heap();
}

#ifdef RRC_DEBUG
/* What C holds was traced, but the host says that it died. */
static void a_held_p_dies_in_a_search(void)
{
    rrc_object *ob;

    open_heap();
    ob = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    check_int(rrc_create_link_pypy(heap, &places[0], ob), RRC_OK);
    ob->ob_refcnt += RRC_REFCNT_FROM_PYPY;
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    nothing_survives = 1;
    check_int(rrc_major_collection_free(heap), RRC_OK);
    nothing_survives = 0;
    check_int(logged, 1);
    check_int(last_code, RRC_EHOOK);
    check(strstr(last_detail, "C holds ob") != NULL);
    logged = 0;
    check_ptr(RRC_LINK(ob), NULL);
    rrc_decref(heap, ob);
    close_heap();
}

/* Two p have gone to the same place: told once. */
static void two_at_one_place(void)
{
    int with_o;

    open_heap();
    link_one(0, 1);
    link_one(1, 1);
    link_one(2, 1);
    check_int(rrc_unlink(heap, all[0]), RRC_OK);    /* so that the later of two records is found first */
    goes_to[1] = &many[2];
    check_int(rrc_major_collection_trace(heap), RRC_OK);
    check_int(rrc_major_collection_free(heap), RRC_OK);
    goes_to[1] = NULL;
    check_int(logged, 1);
    check_int(last_code, RRC_EHOOK);
    check(strstr(last_detail, "for two host objects") != NULL);
    rrc_heap_free(heap);
    for (with_o = 0; with_o < 2; with_o++) {
        unit_context("with_o %d", with_o);
        open_heap();
        first_young = &many[10];
        link_one(20, 1);
        link_one(21, 1);
        if (with_o)
            link_one(22, 0);
        goes_to[20] = goes_to[21] = &many[5];
        check_int(rrc_minor_collection_trace(heap), RRC_OK);
        check_int(rrc_minor_collection_free(heap), RRC_OK);
        goes_to[20] = goes_to[21] = NULL;
        check_int(logged, 1);
        check_int(last_code, RRC_EHOOK);
        rrc_heap_free(heap);
    }
}

/* An object that was freed leaves the queue, and nothing is written to it. */
static void freed_in_the_queue(void)
{
    rrc_object *ob;
    thing saved;
    char poison[sizeof(thing)];

    open_heap();
    ob = linked(0, 0);
    check_int(rrc_unlink(heap, ob), RRC_OK);
    check_int((rrci_debug_head_of(ob)->is.cookie & 1), 0);
    saved = *THING(ob);
    memset(poison, RRCI_POISON, sizeof poison);
    memset(THING(ob), RRCI_POISON, sizeof(thing));
    heap->stats.pending_bytes = 0;
    check_ptr(rrci_dequeue(heap), ob);
    check(memcmp(THING(ob), poison, sizeof poison) == 0);
    *THING(ob) = saved;
    rrci_debug_head_of(ob)->is.cookie ^= 6;         /* nor in front of what rrc_new has not made */
    rrci_note_queued(ob, 1);
    check_int(rrci_debug_head_of(ob)->is.cookie ^ rrci_debug_cookie(ob), 7);
    rrci_debug_head_of(ob)->is.cookie ^= 7;
    rrc_decref(heap, ob);
    close_heap();
}
#define DEBUG_TESTS , UNIT(a_held_p_dies_in_a_search), UNIT(two_at_one_place), UNIT(freed_in_the_queue)
#else
#define DEBUG_TESTS
#endif

#ifdef TEST_CLOSED
static int pin(void *userdata, rrc_cell *cell, int on) { (void)userdata, (void)cell; return on; }

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    static short node;

    (void)userdata, (void)ob, (void)n;
    return &node;
}

static int write_node(void *userdata, rrc_cell *cell, rrc_cell *const *targets, size_t n)
{
    (void)userdata, (void)cell, (void)targets, (void)n;
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node) { (void)userdata, (void)proxy, (void)node; }

static int is_live(void *userdata, const rrc_cell *cell, int may_defer)
{
    (void)userdata, (void)cell, (void)may_defer;
    return !nothing_survives;
}

static void open_mirrored_heap(void)
{
    rrc_desc desc;
    rrc_closed_desc closed;

    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    desc.log = write_log;
    closed.pin = pin;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    closed.is_live = is_live;
    heap = rrc_closed_new(&desc, &closed);
    check(heap != NULL);
    logged = 0;
}

/* An object that only the host refers to, by obj. */
static rrc_object *given(void *obj, int kind)
{
    rrc_object *ob = rrc_new(heap, &Bare);

    check_int(rrc_cell_link(heap, obj, ob, kind | RRC_GIVE), RRC_OK);
    return ob;
}

static rrc_cell *node_of(rrc_object *ob) { return rrc_cell_of_node(heap, ob); }

/* What garbage owns is strong, whatever the garbage waits for. */
typedef struct pair {
    thing it;
    rrc_object *owned[2];
} pair;

static int traverse_pair(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(((pair *)(void *)self)->it.ref);
    RRC_VISIT(((pair *)(void *)self)->owned[0]);
    RRC_VISIT(((pair *)(void *)self)->owned[1]);
    return 0;
}

static void what_waiting_garbage_owns(void)
{
    static const rrc_type types[] = {
        { .tp_name = "Plain", .tp_basicsize = sizeof(pair), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = traverse_pair },
        { .tp_name = "Plain", .tp_basicsize = sizeof(pair), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = traverse_pair },
        { .tp_name = "Referable", .tp_basicsize = sizeof(pair), .tp_flags = RRC_TPFLAGS_HAVE_GC,
          .tp_traverse = traverse_pair, .tp_clear_weakrefs = do_nothing },
        { .tp_name = "Final", .tp_basicsize = sizeof(pair), .tp_flags = RRC_TPFLAGS_HAVE_GC,
          .tp_traverse = traverse_pair, .tp_finalize = do_nothing }
    };
    static const uintptr_t waits_in[] = { RRCI_CLEAR, RRCI_TRACKED, RRCI_WEAKREFS, RRCI_FINALIZE };
    rrc_object *ring[CIRCLE], *other;
    int k, i, n;

    for (k = 0; k < 4; k++) {
        unit_context("list %d, kind %d", (int)waits_in[k], k);
        open_mirrored_heap();
        circle(&types[k], ring);
        other = rrc_gc_new(heap, &Plain);               /* one that lives */
        check_int(rrc_gc_track(heap, other), RRC_OK);
        rrc_incref(heap, ring[0]);
        for (i = 0; i < CIRCLE; i++)
            for (n = 0; n < 2; n++) {
                rrc_object *owned = ((pair *)(void *)ring[i])->owned[n] = given(&places[2 * i + n], RRC_P);

                rrc_incref(heap, owned);
            }
        check_int(rrc_closed_step(heap), RRC_OK);
        check_int(rrc_closed_count_weak(heap), 3 * CIRCLE - 1);
        rrc_decref(heap, ring[0]);
        check_int(rrc_closed_step(heap), RRC_OK);
        check_int(rrc_closed_count_weak(heap), 0);
        if (waits_in[k] == RRCI_TRACKED)                /* half of them, which were cleared */
            check_int(rrc_run_pending(heap, CIRCLE / 2), CIRCLE / 2);
        for (i = 0; i < CIRCLE; i++) {
            uintptr_t list = rrci_gc_list(rrci_gc_head_of(ring[i]));

            check(list == waits_in[k] || (waits_in[k] == RRCI_TRACKED && list == RRCI_CLEAR));
        }
        check_int(rrc_check(heap), RRC_OK);
        for (i = 0; i < CIRCLE; i++) {
            if (rrci_gc_list(rrci_gc_head_of(ring[i])) == RRCI_TRACKED)
                continue;               /* it was cleared, and is like other objects */
            DAMAGE(intptr_t, ring[i]->ob_refcnt, ring[i]->ob_refcnt & INTPTR_MAX, RRC_ECORRUPT, "not watched");
            for (n = 0; n < 2; n++) {
                rrc_object *owned = ((pair *)(void *)ring[i])->owned[n];

                DAMAGE_ONCE(intptr_t, owned->ob_refcnt, owned->ob_refcnt | INTPTR_MIN, RRC_ETOUCH, "it is weak");
            }
        }
        rrc_decref(heap, other);
        check_int(rrc_check(heap), RRC_OK);             /* nothing is tracked that does not wait */
        for (i = 0; i < CIRCLE; i++)
            rrc_incref(heap, ring[i]);
        for (i = 0; i < CIRCLE; i++) {
            RRC_CLEAR(heap, THING(ring[i])->ref);
            for (n = 0; n < 2; n++)
                RRC_CLEAR(heap, ((pair *)(void *)ring[i])->owned[n]);
        }
        for (i = 0; i < CIRCLE; i++)
            rrc_decref(heap, ring[i]);
        check_int(rrc_check(heap), RRC_OK);             /* nothing is tracked at all */
        close_heap();
    }
}

/* The host must hold the edge node of a strong object. */
static void a_node_that_died(void)
{
    rrc_object *owner, *owned;

    open_mirrored_heap();
    owner = rrc_gc_new(heap, &Tracked);
    owned = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, owner), RRC_OK);
    check_int(rrc_gc_track(heap, owned), RRC_OK);
    THING(owner)->ref = owned;
    check(rrc_cell_keep_node(heap, owner, &many[0]) != NULL);
    check_int(rrc_closed_step(heap), RRC_OK);
    check_ptr(node_of(owner)->object, &many[0]);
    nothing_survives = 1;
    finds(RRC_ECORRUPT, "its edge node has died");
    nothing_survives = 0;
    check_int(rrc_check(heap), RRC_OK);
    rrc_decref(heap, owner);
    close_heap();
}

static void weak_objects(void)
{
    rrc_object *ob, *bare;

    open_mirrored_heap();
    ob = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    bare = given(&places[0], RRC_O);
    DAMAGE(uint32_t, ((rrc_cell *)RRC_LINK(bare))->place, RRCI_LISTS + RRCI_O_OLD, RRC_EPLINKED, "its place is not known");
    RRC_REFCNT(bare) += RRC_REFCNT_IMMORTAL - RRC_REFCNT_FROM_PYPY + 1;
    rrc_decref(heap, bare);                 /* its low half is 0 now, as that of a bias */
    check_int(RRC_REFCNT(bare), RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16);     /* back in the middle */
    RRC_REFCNT(bare) = RRC_REFCNT_FROM_PYPY;
    DAMAGE_ONCE(intptr_t, ob->ob_refcnt, ob->ob_refcnt | INTPTR_MIN, RRC_ECORRUPT, "nothing stands for it");
    DAMAGE_ONCE(intptr_t, bare->ob_refcnt, bare->ob_refcnt | INTPTR_MIN, RRC_ECORRUPT, "nothing stands for it");
    check_int(rrc_check(heap), RRC_OK);
    THING(ob)->ref = given(&places[1], RRC_P);
    rrc_incref(heap, THING(ob)->ref);
    check_int(rrc_closed_step(heap), RRC_OK);
    check(node_of(ob) != NULL);
    DAMAGE(size_t, rrci_closed(heap)->node_count, 0, RRC_ECORRUPT, "not counted right");
    rrc_gc_untrack(heap, ob);
    RRC_CLEAR(heap, THING(ob)->ref);
    rrc_decref(heap, ob);
    close_heap();
}

/* What the object of a cell points to is the host's: nothing reads it. */
static void an_object_that_is_no_address(void)
{
    rrc_object *ob;

    open_mirrored_heap();
    ob = given((void *)(uintptr_t)64, RRC_P);
    check_ptr(rrc_cell_of(heap, ob)->object, (void *)(uintptr_t)64);
    check_int(rrc_closed_step(heap), RRC_OK);
    check_int(rrc_check(heap), RRC_OK);
    close_heap();
}

/* In a heap that is not mirrored the sign of a count is a watch, which has outlived its search here. */
static void a_heap_without_a_mirror(void)
{
    rrc_object *ob, *gc;
    static short node;

    open_heap();
    ob = rrc_new(heap, &Bare);
    RRC_REFCNT(ob) |= INTPTR_MIN;
    rrc_touch(heap, ob);
    check_int(RRC_REFCNT(ob), 1);
    gc = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, gc), RRC_OK);
    check_int(rrc_cell_reserve(heap), 0);
    check_ptr(rrc_cell_new(heap, &node, gc), NULL);
    check_ptr(rrc_cell_of(heap, gc), NULL);
    check_ptr(node_of(gc), NULL);
    check_int(rrc_cell_link(heap, &node, gc, RRC_P), RRC_EPHASE);
    check_int(logged, 1);
    logged = 0;
    rrc_decref(heap, gc);
    rrc_decref(heap, ob);
    close_heap();
}

/* The sum over two edges at some addresses, which need not be objects. */
static uint64_t sum_of_edges(uintptr_t a, uintptr_t b, uint32_t number_of_a, uint32_t number_of_b)
{
    rrci_weighing weighing;

    memset(&weighing, 0, sizeof weighing);
    rrci_add_edge(&weighing, (rrc_object *)a, number_of_a);
    rrci_add_edge(&weighing, (rrc_object *)b, number_of_b);
    return weighing.edges;
}

/* Objects at equal distances: a field that refers to the first and last of them, and then to the two between, must
   not look the same, not even in half of the bits. */
static void sums_over_parallelograms(void)
{
    const uintptr_t base = (uintptr_t)1 << 28;
    int upper = 0, lower = 0, wide = 0;
    uintptr_t i, j, number;

    for (number = 0; number < 12; number++)
        for (i = 1; i < 100; i++)
            for (j = 1; j < 100; j++) {
                uint32_t n = (uint32_t)(number * number * 7);   /* of the first; even: all four have the same one */
                uint32_t ni = (uint32_t)(number % 2 * i), nj = (uint32_t)(number % 2 * j);
                uintptr_t d = 48 * i, e = 80 * j;
                uint64_t x = sum_of_edges(base, base + d + e, n, n + ni + nj);
                uint64_t y = sum_of_edges(base + d, base + e, n + ni, n + nj);

                upper += d != e && x >> 32 == y >> 32;
                lower += d != e && (uint32_t)x == (uint32_t)y;
                wide |= x >> 32 != 0;
            }
    check_int(upper, 0);
    check_int(lower, 0);
    check(wide);
}

/* After the last number the first one is given again. It is not 0, as nothing would stand for the object then. */
static void numbers_begin_again(void)
{
    rrci_mirror_head *head;
    rrc_object *ob;

    open_mirrored_heap();
    ob = rrc_gc_new(heap, &Tracked);
    check_int(rrc_gc_track(heap, ob), RRC_OK);
    head = rrci_mirror_head_of(ob);
    rrci_closed(heap)->last_number = (1u << 25) - 2;
    rrci_want_node(heap, ob);
    check_int(head->is.number, (1u << 25) - 1);
    rrci_give_number(heap, head);
    check_int(head->is.number, 1);
    check(head->is.wanted && !head->is.stale && !head->is.pending && !head->is.lost && !head->is.kept);
    rrc_decref(heap, ob);
    close_heap();
}

#define MIRROR_TESTS , UNIT(numbers_begin_again), UNIT(sums_over_parallelograms), UNIT(a_node_that_died), UNIT(weak_objects), UNIT(what_waiting_garbage_owns), UNIT(an_object_that_is_no_address), UNIT(a_heap_without_a_mirror)
#else
#define MIRROR_TESTS
#endif

UNIT_GROUP(damage, UNIT(links_and_dictionaries), UNIT(reserves), UNIT(reserves_that_just_suffice), UNIT(room_for_young_links), UNIT(found_late), UNIT(tracked_objects),
           UNIT(what_was_put_off), UNIT(what_is_queued), UNIT(garbage_that_waits), UNIT(two_p_links_of_one_p), UNIT(two_links_of_one_ob), UNIT(members_of_any_type),
           UNIT(limits), UNIT(shrinking_without_memory), UNIT(links_come_and_go),
           UNIT(crowds_come_and_go), UNIT(crowds_in_a_small_dictionary), UNIT(crowds_move),
           UNIT(links_are_made_in_steps), UNIT(young_links_are_made_in_steps), UNIT(shrinking), UNIT(few_or_many_change),
           UNIT(dropped), UNIT(half_a_dictionary), UNIT(a_small_dictionary_again), UNIT(used_and_kept),
           UNIT(unlinks_find_a_dictionary),
           UNIT(changes_at_random),
           UNIT(lookalikes), UNIT(all_are_promoted), UNIT(room_for_what_waits),
           UNIT(a_bias_without_a_link), UNIT(alignment), UNIT(links_without_a_bias),
           UNIT(unlinked_after_promotion), UNIT(many_are_unlinked), UNIT(just_immortal) DEBUG_TESTS MIRROR_TESTS);

int main(int argc, char **argv)
{
    static const unit_group *const groups[] = { &damage };

    return unit_main(argc, argv, groups, 1);
}
