/* allocator_logger.c - an allocator that keeps accounts and can refuse, and a
 * log hook that shows what the header finds wrong.
 *
 *     cc -I.. allocator_logger.c -o allocator_logger && ./allocator_logger
 */
#include <stdio.h>
#include <stdlib.h>

#define RRC_DEBUG                   /* adds the checks that cost time */
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* ---- the host: cells that never move ------------------------------------ */

typedef struct cell { int marked; } cell;

typedef struct vm {
    cell   cells[3];
    size_t in_use;                  /* bytes that the heap and its objects hold */
    int    no_memory;               /* refuse every request */
} vm;

static void trace(void *userdata, rrc_gcref p)
{
    (void)userdata;
    ((cell *)p)->marked = 1;
}

static rrc_gcref survivor(void *userdata, rrc_gcref p)
{
    (void)userdata;
    return ((cell *)p)->marked ? p : NULL;
}

/* ---- the allocator ------------------------------------------------------ */

/* Both sizes are given, so that no block needs a size in front of it. */
static void *account(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    vm *self = userdata;
    void *block = NULL;

    if (new_size == 0) {
        free(ptr);
        self->in_use -= old_size;
        return NULL;
    }
    if (!self->no_memory)
        block = realloc(ptr, new_size);
    if (block != NULL)
        self->in_use += new_size - old_size;
    return block;
}

/* ---- the log ------------------------------------------------------------ */

/* item->detail and item->text hold the addresses too. They differ from run to
   run, and the output of this program is compared by a test. */
static void report(void *userdata, const rrc_log_item *item)
{
    (void)userdata;
    printf("  log: %s in %s, type %s\n       %s\n",
           item->name, item->function, item->type_name, item->message);
}

static const rrc_type Buffer = { .tp_name = "Buffer", .tp_basicsize = sizeof(rrc_object) + 100 };

int main(void)
{
    vm host = { .in_use = 0 };
    rrc_desc desc = { .userdata = &host, .trace = trace, .survivor = survivor,
                      .realloc = account, .log = report };
    rrc_heap *heap = rrc_heap_new(&desc);
    rrc_object *a, *b;
    size_t before;

    if (heap == NULL)
        return 1;

    puts("Two objects and a link:");
    before = host.in_use;
    a = rrc_new(heap, &Buffer);
    b = rrc_new(heap, &Buffer);
    if (a == NULL || b == NULL)
        return 1;
    printf("  both objects are accounted for: %s\n",
           host.in_use - before >= 2 * Buffer.tp_basicsize ? "yes" : "no");
    if (rrc_link(heap, &host.cells[0], a, RRC_P) != RRC_OK)
        return 1;

    puts("No memory is left. A call that fails changes nothing:");
    before = host.in_use;
    host.no_memory = 1;
    printf("  rrc_new: %s\n", rrc_new(heap, &Buffer) == NULL ? "NULL" : "an object");
    printf("  in use: %s\n", host.in_use == before ? "as before" : "changed");
    host.no_memory = 0;

    puts("A second P link on the same cell is refused, with a code and a log item:");
    printf("  result: %s\n", rrc_error_name(rrc_link(heap, &host.cells[0], b, RRC_P)));

    puts("So is undoing a link that is not there:");
    printf("  result: %s\n", rrc_error_name(rrc_unlink(heap, b)));

    puts("PyPy's function leaves the bias to its caller. A link without it is found by the next check:");
    rrc_create_link_pyobj(heap, &host.cells[1], b);
    printf("  result: %s\n", rrc_error_name(rrc_check(heap)));
    b->ob_refcnt += RRC_REFCNT_FROM_PYPY;
    printf("  with the bias: %s\n", rrc_error_name(rrc_check(heap)));

    puts("The end:");
    rrc_decref(heap, a);
    rrc_decref(heap, b);
    printf("  objects still held by C: %u\n", (unsigned)rrc_heap_free(heap));
    printf("  bytes in use: %u\n", (unsigned)host.in_use);
    return 0;
}
