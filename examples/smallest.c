/* smallest.c - the smallest complete program: a host of a dozen lines, one C
 * type, one P link and one O link.
 *
 *     cc -I.. smallest.c -o smallest && ./smallest
 */
#include <stdio.h>

#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"

/* The host: two cells, one root, and a collector that marks what the root sees. */
typedef struct cell { const char *name; int marked; } cell;
static cell cells[2] = { { "first", 0 }, { "second", 0 } };
static cell *root;

static void trace(void *vm, rrc_gcref p)         { (void)vm; ((cell *)p)->marked = 1; }
static rrc_gcref survivor(void *vm, rrc_gcref p) { (void)vm; return ((cell *)p)->marked ? p : NULL; }

static void collect(rrc_heap *heap)
{
    cells[0].marked = cells[1].marked = 0;
    if (root != NULL)
        root->marked = 1;
    rrc_major_collection_trace(heap);       /* marks the cells that C holds */
    rrc_major_collection_free(heap);        /* unlinks the cells that died */
    for (int i = 0; i < 2; i++)
        printf("  %s cell %s\n", cells[i].name, cells[i].marked ? "lives" : "is dead");
    rrc_run_pending(heap, 0);               /* deallocs run here, not above */
}

/* The C side: a type that says when one of its objects goes. */
static void note_dealloc(rrc_heap *heap, rrc_object *ob) { puts("  note freed"); rrc_del(heap, ob); }
static const rrc_type Note = { .tp_name = "Note", .tp_basicsize = sizeof(rrc_object),
                               .tp_dealloc = note_dealloc };

int main(void)
{
    rrc_heap *heap = rrc_heap_new(&(rrc_desc){ .trace = trace, .survivor = survivor });
    rrc_object *view = rrc_new(heap, &Note), *own = rrc_new(heap, &Note);
    if (view == NULL || own == NULL
        || rrc_link(heap, &cells[0], view, RRC_P) != RRC_OK             /* C keeps its reference */
        || rrc_link(heap, &cells[1], own, RRC_O | RRC_GIVE) != RRC_OK)  /* C gives its reference to the cell */
        return 1;

    puts("C holds the first cell through its view, the root holds the second:");
    root = &cells[1];
    collect(heap);
    puts("C drops its reference, the root is cleared:");
    rrc_decref(heap, view);
    root = NULL;
    collect(heap);
    printf("objects still held by C: %u\n", (unsigned)rrc_heap_free(heap));
    return 0;
}
