/* A program without a C library: the header with RRC_NO_STDLIB, memory out of an array,
 * and three functions that any such system has. It runs a host through a life of links and
 * cycles; the exit status says whether all was right. See freestanding.sh
 * and abis.sh. */

#include <stddef.h>
#include <stdint.h>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* ---- what such a system has ---- */

void *memcpy(void *to, const void *from, size_t size)
{
    volatile unsigned char *t = (volatile unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;

    while (size-- > 0)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    volatile unsigned char *t = (volatile unsigned char *)to;

    while (size-- > 0)
        *t++ = (unsigned char)byte;
    return to;
}

int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

/* Blocks of one size class each, which are used again. */
enum { ARENA = 1 << 20, CLASSES = 20 };

typedef union block {
    union block *next;
    long double align;
} block;

typedef struct arena {
    block memory[ARENA / sizeof(block)];
    size_t used, live;
    block *free_list[CLASSES];
} arena;

static unsigned class_of(size_t size)
{
    unsigned c = 4;

    while (((size_t)1 << c) < size)
        c++;
    return c;
}

static void *allocate(arena *a, size_t size)
{
    unsigned c = class_of(size);
    block *b;
    size_t blocks = (((size_t)1 << c) + sizeof *b - 1) / sizeof *b;

    if (c >= CLASSES)
        return NULL;
    b = a->free_list[c];
    if (b != NULL) {
        a->free_list[c] = b->next;
    } else {
        if (blocks > sizeof a->memory / sizeof *b - a->used)
            return NULL;
        b = &a->memory[a->used];
        a->used += blocks;
    }
    a->live += size;
    return b;
}

/* ---- the host: an array of objects with a mark ---- */

enum { OBJECTS = 200, NOTHING = -1 };

typedef struct object {
    int alive, rooted, marked, to;      /* refers to */
} object;

typedef struct host {
    object at[OBJECTS];
    arena memory;
    size_t logged;
} host;

static host the_host;
static size_t deallocs;

static void *host_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    host *h = (host *)userdata;
    void *fresh = new_size > 0 ? allocate(&h->memory, new_size) : NULL;

    if (ptr != NULL && (fresh != NULL || new_size == 0)) {
        block *b = (block *)ptr;
        unsigned c = class_of(old_size);

        if (fresh != NULL)
            memcpy(fresh, ptr, old_size < new_size ? old_size : new_size);
        h->memory.live -= old_size;
        b->next = h->memory.free_list[c];
        h->memory.free_list[c] = b;
    }
    return fresh;
}

static void host_trace(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;
    object *o = (object *)p;

    while (!o->marked) {
        o->marked = 1;
        if (o->to == NOTHING)
            return;
        o = &h->at[o->to];
    }
}

static rrc_gcref host_survivor(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return ((object *)p)->marked ? p : NULL;
}

static void host_log(void *userdata, const rrc_log_item *item)
{
    host *h = (host *)userdata;

    h->logged += item->code != RRC_OK;
}

static void host_collect(host *h, rrc_heap *heap)
{
    int i;

    for (i = 0; i < OBJECTS; i++)
        h->at[i].marked = 0;
    for (i = 0; i < OBJECTS; i++)
        if (h->at[i].rooted)
            host_trace(h, &h->at[i]);
    rrc_major_collection_trace(heap);
    rrc_major_collection_free(heap);
    for (i = 0; i < OBJECTS; i++)
        h->at[i].alive = h->at[i].alive && h->at[i].marked;
    rrc_run_pending(heap, 0);
}

/* ---- a counted object that owns another ---- */

typedef struct node {
    rrc_object head;
    rrc_object *owned;
} node;

static void node_dealloc(rrc_heap *heap, rrc_object *self)
{
    deallocs++;
    rrc_gc_untrack(heap, self);
    RRC_CLEAR(heap, ((node *)self)->owned);
    rrc_gc_del(heap, self);
}

static const rrc_member node_members[] = { { "owned", offsetof(node, owned) }, { NULL, 0 } };
static const rrc_type Node = {
    .tp_name = "Node", .tp_basicsize = sizeof(node), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_dealloc = node_dealloc, .tp_members = node_members,
};

#define MUST(condition) do { if (!(condition)) return __LINE__; } while (0)

/* 0, or the line of what went wrong. */
static int live(void)
{
    host *h = &the_host;
    rrc_desc desc = { .userdata = h, .trace = host_trace, .survivor = host_survivor, .log = host_log };
    rrc_object *ob[OBJECTS], *kept;
    rrc_heap *heap;
    int i;

    MUST(rrc_heap_new(&desc) == NULL && h->logged == 1);        /* without realloc */
    desc.realloc = host_realloc;
    heap = rrc_heap_new(&desc);
    MUST(heap != NULL);
    for (i = 0; i < OBJECTS; i++) {
        h->at[i].alive = 1;
        h->at[i].to = NOTHING;
        ob[i] = rrc_gc_new(heap, &Node);
        MUST(ob[i] != NULL && rrc_gc_track(heap, ob[i]) == RRC_OK);
        MUST(rrc_create_link_pypy(heap, &h->at[i], ob[i]) == RRC_OK);
        ob[i]->ob_refcnt += RRC_REFCNT_FROM_PYPY;
    }
    /* Pairs: C owns one way, the host's object refers back. */
    for (i = 0; i < OBJECTS; i += 2) {
        ((node *)ob[i])->owned = ob[i + 1];                     /* our reference is handed over */
        h->at[i + 1].to = i;
        rrc_decref(heap, ob[i]);
    }
    h->at[10].rooted = 1;
    kept = ob[20];
    rrc_incref(heap, kept);
    MUST(rrc_check(heap) == RRC_OK);
    host_collect(h, heap);
    MUST(deallocs == OBJECTS - 4);                              /* but two pairs: rooted, held from C */
    MUST(h->at[11].alive && h->at[20].alive && !h->at[30].alive);
    MUST(rrc_from_obj(heap, &h->at[20]) == kept && rrc_to_obj(heap, kept) == &h->at[20]);
    rrc_decref(heap, kept);
    h->at[10].rooted = 0;
    host_collect(h, heap);
    MUST(deallocs == OBJECTS);
    MUST(rrc_check(heap) == RRC_OK);
    MUST(rrc_heap_free(heap) == 0);
    MUST(h->memory.live == 0 && h->logged == 1);
    return 0;
}

#if defined(FREESTANDING_START) && defined(__wasm__)
/* Who loads this module calls this function: see wasm.js. */
__attribute__((export_name("start"))) int start(void);
int start(void)
{
    return live() != 0;
}
#elif defined(FREESTANDING_START)
/* No C library begins or ends this program: that is two system calls of Linux. */
static _Noreturn void leave(long status)
{
    for (;;)
        __asm__ volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11", "memory");
}

__attribute__((force_align_arg_pointer)) _Noreturn void _start(void);
__attribute__((force_align_arg_pointer)) _Noreturn void _start(void)
{
    leave(live() != 0);
}
#else
int main(void)
{
    return live() != 0;
}
#endif
