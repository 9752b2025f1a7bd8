#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host object. While a collection plans its moves, "forward" is the cell that
   it will live in; a cell that somebody moves into knows already whether its
   next owner will be young. */
struct cell {
    size_t id;
    unsigned char kind, young, age, marked, next_young, movable, linked, demoted, has_state;
    cell *forward;
    rrc_object *slot;
    cell *edge[HOST_EDGES];
};

static void *grown(void *array, size_t *room, size_t count, size_t item)
{
    if (count == *room) {
        *room = *room == 0 ? 64 : *room * 2;
        array = realloc(array, *room * item);
        if (array == NULL)
            abort();
    }
    return array;
}

#define PUSH(array, room, count, value) \
    do { \
        (array) = grown((array), &(room), (count), sizeof *(array)); \
        (array)[(count)++] = (value); \
    } while (0)

/* ---- cells ---- */

static cell *new_cell(host *h)
{
    cell *c = h->options.reuse && h->spare_count > 0 ? h->spare[--h->spare_count]
                                                   : (cell *)malloc(sizeof *c);

    if (c == NULL)
        abort();
    memset(c, 0, sizeof *c);
    return c;
}

/* A stale pointer into the cell finds garbage, or is seen by a sanitizer. */
static void free_cell(host *h, cell *c)
{
    memset(c, 0xDD, sizeof *c);
    if (h->options.reuse || h->options.hoard)
        PUSH(h->spare, h->spare_room, h->spare_count, c);
    else
        free(c);
}

static void hook(host *h, const char *name)
{
    if (h->closed)
        unit_fail(__FILE__, __LINE__, "hook %s is called after rrc_heap_free", name);
    if (h->on_hook != NULL)
        h->on_hook(h, name);
}

static void must_be(int legal, const host *h, const char *name)
{
    if (!legal)
        unit_fail(__FILE__, __LINE__, "hook %s is called in phase %d", name, (int)h->phase);
}

/* ---- marking ---- */

static int in_minor(const host *h)
{
    return h->phase >= HOST_MINOR_TRACE && h->phase <= HOST_MINOR_FREE;
}

static int in_trace(const host *h)
{
    return h->phase == HOST_MINOR_TRACE || h->phase == HOST_MAJOR_TRACE;
}

static int in_free(const host *h)
{
    return h->phase == HOST_MINOR_FREE || h->phase == HOST_MAJOR_FREE;
}

static void mark(host *h, cell *c)
{
    if (c == NULL || c->marked || (in_minor(h) && !c->young))
        return;
    c->marked = 1;
    if (!in_minor(h) && h->options.reports_marks != 0 && h->options.early < 3
            && (c->linked || h->options.reports_marks == REPORT_ALL)) {
        h->calls.reports++;
        rrc_marked(h->heap, c);
    }
    PUSH(h->gray, h->gray_room, h->gray_count, c);
}

static void mark_edges(host *h, cell *c)
{
    unsigned i;

    for (i = 0; i < HOST_EDGES; i++)
        mark(h, c->edge[i]);
}

static void mark_the_gray(host *h)
{
    while (h->gray_count > 0)
        mark_edges(h, h->gray[--h->gray_count]);
}

static void mark_roots(host *h)
{
    size_t i;

    if (in_minor(h)) {
        for (i = 0; i < h->young_count; i++)
            if (h->objects[h->young[i]].rooted)
                mark(h, h->objects[h->young[i]].at);
        for (i = 0; i < h->remembered_count; i++)
            if (h->objects[h->remembered[i]].at != NULL)
                mark_edges(h, h->objects[h->remembered[i]].at);
    } else {
        for (i = 0; i < h->count; i++)
            if (h->objects[i].at != NULL
                    && (h->objects[i].rooted || h->objects[i].at->kind == HOST_PREBUILT))
                mark(h, h->objects[i].at);
    }
}

/* ---- hooks ---- */

void host_trace(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;

    h->calls.trace++;
    must_be((in_trace(h) || h->slices != 0) && p != NULL, h, "trace");
    hook(h, "trace");
    if (h->ignores)
        return;
    mark(h, (cell *)p);
    if (h->options.eager)
        mark_the_gray(h);
}

void host_propagate(void *userdata)
{
    host *h = (host *)userdata;

    h->calls.propagate++;
    must_be(in_trace(h), h, "propagate");
    hook(h, "propagate");
    if (h->options.early == 0)
        mark_the_gray(h);
}

rrc_gcref host_survivor(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;
    cell *c = (cell *)p;

    h->calls.survivor++;
    must_be(in_free(h) || h->phase == HOST_MAJOR_TRACE || h->slices == 2, h, "survivor");
    hook(h, "survivor");
    if ((c->kind != HOST_PREBUILT || h->from_c) && !c->marked && !(in_minor(h) && !c->young))
        return NULL;
    return c->forward != NULL ? c->forward : c;
}

void host_native_bytes(void *userdata, ptrdiff_t change)
{
    host *h = (host *)userdata;

    must_be(!h->closed, h, "native_bytes");
    h->native += change;
    h->native_calls++;
}

/* Marks are only for now, but a minor collection can come first. */
void host_mark_from_c(void *userdata, int on)
{
    host *h = (host *)userdata;
    size_t i;

    h->marked_from_c++;
    must_be(h->phase == (on ? HOST_MUTATOR : HOST_MAJOR_TRACE) && on != h->from_c, h, "mark_from_c");
    hook(h, "mark_from_c");
    if (on && h->options.order == 2)
        host_minor(h);
    for (i = 0; i < h->count; i++)
        if (h->objects[i].at != NULL)
            h->objects[i].at->marked = 0;
    h->gray_count = 0;
    h->slices = 0;
    h->from_c = on;
    h->phase = on ? HOST_MAJOR_TRACE : HOST_MUTATOR;
}

int host_is_young(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;
    cell *c = (cell *)p;

    h->calls.is_young++;
    must_be(h->phase == HOST_MUTATOR || in_free(h) || (in_trace(h) && in_minor(h) && h->options.demotes), h, "is_young");
    hook(h, "is_young");
    return h->phase == HOST_MUTATOR || in_trace(h) ? c->young || c->demoted : c->next_young;
}

rrc_object **host_slot(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;

    h->calls.slot++;
    must_be(h->phase == HOST_MUTATOR, h, "slot");
    hook(h, "slot");
    return &((cell *)p)->slot;
}

void host_dealloc_trigger(void *userdata)
{
    host *h = (host *)userdata;

    h->calls.trigger++;
    must_be(h->phase == HOST_MUTATOR, h, "dealloc_trigger");
    hook(h, "dealloc_trigger");
    if (h->on_trigger != NULL)
        h->on_trigger(h);
}

void host_parted(void *userdata, rrc_gcref p, rrc_object *ob)
{
    host *h = (host *)userdata;

    h->parted++;
    must_be(h->phase == HOST_MUTATOR, h, "parted");
    hook(h, "parted");
    check_ptr(host_at(h, ((cell *)p)->id), p);
    check(HOST_SLOT == 0 || ((cell *)p)->slot != ob);
    check((RRC_REFCNT(ob) & INTPTR_MAX) > 0);
    check_ptr(RRC_LINK(ob), p);         /* (rrc_to_obj may not say so any more) */
    if (h->on_parted != NULL)
        h->on_parted(h, p, ob);
}

void host_guard(rrc_heap *heap, void (*slot)(rrc_heap *heap, rrc_object *ob), rrc_object *ob)
{
    host *h = (host *)rrc_userdata(heap);
    jmp_buf here, *outer = h->escape;

    h->calls.guard++;
    if (!h->catches) {
        slot(heap, ob);
        return;
    }
    h->escape = &here;
    if (setjmp(here) == 0)
        slot(heap, ob);
    h->escape = outer;
}

/* An edge has the name of a field, another name, or only a number. */
static void host_edges(void *userdata, rrc_gcref p, rrc_edgeproc visit, void *arg)
{
    static const char *const names[HOST_EDGES] = { ".window", "upvalue w", NULL };
    host *h = (host *)userdata;
    size_t i;

    h->shown++;
    must_be(h->phase == HOST_MUTATOR, h, "edges");
    hook(h, "edges");
    for (i = 0; p != NULL && i < HOST_EDGES; i++)
        visit(arg, ((cell *)p)->edge[i], names[i], i);
    for (i = 0; p == NULL && i < h->count; i++) {
        char name[40];

        snprintf(name, sizeof name, "global g%u", (unsigned)i);
        if (h->objects[i].at != NULL && (h->objects[i].rooted || h->objects[i].at->kind == HOST_PREBUILT))
            visit(arg, h->objects[i].at, h->objects[i].at->kind == HOST_PREBUILT ? NULL : name, i);
    }
    visit(arg, (char *)h + 1, ".odd", 0);       /* a number with a tag, in other hosts */
}

static void host_say(void *userdata, rrc_gcref p, rrc_description *about)
{
    host *h = (host *)userdata;
    const cell *c = (const cell *)p;

    h->shown++;
    must_be(h->phase == HOST_MUTATOR, h, "describe");
    hook(h, "describe");
    check_str(about->text, "p");
    check_int(about->size, 0);
    check_int(about->id, 0);
    snprintf(about->text, sizeof about->text, "%s", h->words != NULL ? h->words(h, c->id) : "cell");
    about->size = 40;
    about->id = h->options.shows == 2 || (h->options.shows == 3 && c->id % 2 == 0) ? (uint32_t)c->id + 1 : 0;
}

static void host_progress(void *userdata, const char *function, size_t done, size_t total)
{
    host *h = (host *)userdata;

    must_be(h->phase == HOST_MUTATOR, h, "progress");
    check(done <= total);
    hook(h, "progress");
    if (h->on_progress != NULL)
        h->on_progress(h, function, done, total);
}

const rrc_insight *host_insight(host *h)
{
    h->insight.userdata = h;
    h->insight.edges = h->options.shows ? host_edges : NULL;
    h->insight.describe = h->options.shows > 1 ? host_say : NULL;
    h->insight.progress = h->options.progresses ? host_progress : NULL;
    return &h->insight;
}

void host_write_log(void *userdata, const rrc_log_item *item)
{
    host *h = (host *)userdata;
    host_log *log = &h->log[h->log_count % (sizeof h->log / sizeof h->log[0])];

    memset(log, 0, sizeof *log);
    log->code = item->code;
    log->ob = item->ob;
    log->p = item->p;
    snprintf(log->name, sizeof log->name, "%s", item->name);
    snprintf(log->function, sizeof log->function, "%s", item->function);
    snprintf(log->type_name, sizeof log->type_name, "%s", item->type_name);
    snprintf(log->message, sizeof log->message, "%s", item->message);
    snprintf(log->detail, sizeof log->detail, "%s", item->detail == NULL ? "" : item->detail);
    snprintf(log->text, sizeof log->text, "%s", item->text == NULL ? "" : item->text);
    h->log_count++;
    if (h->on_log != NULL)
        h->on_log(h);
}

/* ---- memory of the header ---- */

typedef union block {
    struct {
        size_t size;
        uint32_t magic;
    } is;
    long double align;
} block;

enum { BLOCK_MAGIC = 0x5EED };

void *host_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    host *h = (host *)userdata;
    block *b = ptr == NULL ? NULL : (block *)ptr - 1;
    block *fresh;

    if (h->on_realloc != NULL)
        h->on_realloc(h);
    if (b == NULL) {
        check_int(old_size, 0);
    } else {
        check_int(b->is.magic, BLOCK_MAGIC);
        if (old_size == 0 && h->may_be_unsized)
            old_size = b->is.size;
        check_int(old_size, b->is.size);
    }
    if (new_size > 0) {
        if (h->phase != HOST_MUTATOR)
            unit_fail(__FILE__, __LINE__, "a collection allocates %u bytes", (unsigned)new_size);
        h->calls.allocate++;
        if (h->fail_at > 0 && h->calls.allocate >= h->fail_at
                && (h->fail_on || h->calls.allocate == h->fail_at)) {
            h->failed++;
            return NULL;
        }
        fresh = (block *)malloc(sizeof *fresh + new_size);
        if (fresh == NULL)
            abort();
        fresh->is.size = new_size;
        fresh->is.magic = BLOCK_MAGIC;
        memset(fresh + 1, 0xAA, new_size);
        if (b != NULL)
            memcpy(fresh + 1, b + 1, old_size < new_size ? old_size : new_size);
        h->live_bytes += new_size;
        h->live_blocks++;
        if (h->live_bytes > h->most_bytes)
            h->most_bytes = h->live_bytes;
    } else {
        h->calls.release++;
        fresh = NULL;
    }
    if (b != NULL) {
        h->live_bytes -= old_size;
        h->live_blocks--;
        memset(b, 0xDD, sizeof *b + old_size);
        free(b);
    }
    return fresh == NULL ? NULL : fresh + 1;
}

/* ---- the host's life ---- */

void host_describe(host *h, rrc_desc *desc)
{
    memset(desc, 0, sizeof *desc);
    desc->userdata = h;
#if !HOST_MACROS
    desc->trace = host_trace;
    desc->survivor = host_survivor;
    desc->propagate = h->options.eager ? NULL : host_propagate;
    desc->is_young = h->options.without_generations ? NULL : host_is_young;
    desc->slot = HOST_SLOT ? host_slot : NULL;
    desc->dealloc_trigger = host_dealloc_trigger;
#endif
    desc->collect = h->options.collects ? host_collect : NULL;
    desc->reports_marks = h->options.reports_marks != 0;
    desc->search_percent = h->options.search_percent;
    desc->demotes = h->options.demotes;
    desc->incremental = h->options.incremental;
    desc->parted = host_parted;
    desc->mark_from_c = h->options.early || h->options.order == 1 ? NULL : host_mark_from_c;
    desc->native_bytes = host_native_bytes;
    desc->realloc = h->options.plain_memory ? NULL : host_realloc;
    desc->log = host_write_log;
}

host *host_bare(const host_options *options)
{
    host *h = (host *)calloc(1, sizeof *h);

    if (h == NULL)
        abort();
    if (options != NULL)
        h->options = *options;
    return h;
}

host *host_open(const host_options *options)
{
    host *h = host_bare(options);
    rrc_desc desc;

    host_describe(h, &desc);
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    memset(&desc, 0xDD, sizeof desc);
    check_ptr(rrc_userdata(h->heap), h);
    return h;
}

size_t host_free_heap(host *h)
{
    size_t held = rrc_heap_free(h->heap);

    h->closed = 1;
    return held;
}

void host_end(host *h)
{
    size_t i;

    host_expect_silence(h);
    check_int(h->live_bytes, 0);
    check_int(h->live_blocks, 0);
    for (i = 0; i < h->count; i++)
        if (h->objects[i].at != NULL)
            free(h->objects[i].at);
    for (i = 0; i < h->spare_count; i++)
        free(h->spare[i]);
    free(h->objects);
    free(h->young);
    free(h->remembered);
    free(h->gray);
    free(h->spare);
    free(h);
}

void host_close(host *h)
{
    check_int(rrc_check(h->heap), RRC_OK);
    check_int(host_free_heap(h), 0);
    host_end(h);
}

/* ---- objects ---- */

size_t host_new(host *h, host_kind kind)
{
    cell *c = new_cell(h);
    host_entry entry = { NULL, 0, 0 };

    c->id = h->count;
    c->kind = (unsigned char)kind;
    c->movable = HOST_MOVES && kind != HOST_LARGE && kind != HOST_LARGE_OLD && kind != HOST_PREBUILT;
    c->young = !h->options.without_generations && (kind == HOST_YOUNG || kind == HOST_LARGE);
    c->marked = h->slices != 0;         /* it lives through this collection */
    if (c->young)
        PUSH(h->young, h->young_room, h->young_count, c->id);
    entry.at = c;
    PUSH(h->objects, h->room, h->count, entry);
    return c->id;
}

size_t host_rooted(host *h, host_kind kind)
{
    size_t id = host_new(h, kind);

    host_root(h, id);
    return id;
}

rrc_gcref host_at(const host *h, size_t id)
{
    return h->objects[id].at;
}

void host_give_state(host *h, size_t id)
{
    h->objects[id].at->has_state = 1;
}

int host_has_state(const void *p)
{
    return ((const cell *)p)->has_state;
}

int host_is_alive(const host *h, size_t id)
{
    return h->objects[id].at != NULL;
}

int host_in_nursery(const host *h, size_t id)
{
    return h->objects[id].at->young;
}

int host_is_marked(const host *h, size_t id)
{
    return h->objects[id].at != NULL && (h->objects[id].at->marked || h->objects[id].at->kind == HOST_PREBUILT);
}

void host_root(host *h, size_t id)
{
    h->objects[id].rooted = 1;
}

void host_note_link(host *h, size_t id)
{
    h->objects[id].at->linked = 1;
}

void host_promote_by_hand(host *h, size_t id)
{
    h->objects[id].at->young = 0;
}

void host_demote(host *h, size_t id)
{
    check(h->options.demotes);
    h->objects[id].at->demoted = 1;
}

void host_unroot(host *h, size_t id)
{
    h->objects[id].rooted = 0;
}

static void remember(host *h, size_t id)
{
    if (!h->objects[id].remembered) {
        h->objects[id].remembered = 1;
        PUSH(h->remembered, h->remembered_room, h->remembered_count, id);
    }
}

void host_point(host *h, size_t from, unsigned n, size_t to)
{
    cell *c = h->objects[from].at;

    c->edge[n] = to == HOST_NOTHING ? NULL : h->objects[to].at;
    if (!c->young && to != HOST_NOTHING && c->edge[n]->young)
        remember(h, from);
}

/* ---- collections ---- */

static int survives(const host *h, const cell *c)
{
    return c->marked || c->kind == HOST_PREBUILT || (in_minor(h) && !c->young);
}

static int gets_a_fresh_cell(const host *h, const cell *c)
{
    if (!c->movable || h->options.moving == HOST_STAY)
        return 0;
    if (in_minor(h) || h->options.moving == HOST_FRESH)
        return 1;
    return h->options.moving == HOST_EVACUATE && (c->id + h->rotation) % 40 == 0;
}

/* Decide where a survivor will live. */
static void plan_one(host *h, cell *c)
{
    cell *to = c;

    if (gets_a_fresh_cell(h, c)) {
        to = new_cell(h);
        c->forward = to;
    }
    to->next_young = (c->young && c->age + 1 <= h->options.stays_young) || (!in_minor(h) && c->demoted);
}

/* Survivors take over each other's cells, and those of the dead: each gets the
   cell of the one a few places further. */
static void plan_permutation(host *h)
{
    cell **cells = NULL;
    size_t room = 0, n = 0, shift, i;

    for (i = 0; i < h->count; i++)
        if (h->objects[i].at != NULL && h->objects[i].at->movable)
            PUSH(cells, room, n, h->objects[i].at);
    shift = n == 0 ? 0 : h->rotation % n + 1;
    for (i = 0; i < n; i++) {
        cell *c = cells[i], *to = cells[(i + shift) % n];

        if (survives(h, c)) {
            c->forward = to;
            to->next_young = (c->young && c->age + 1 <= h->options.stays_young) || c->demoted;
        }
    }
    free(cells);
}

static void plan(host *h)
{
    size_t i;

    if (in_minor(h)) {
        for (i = 0; i < h->young_count; i++)
            if (survives(h, h->objects[h->young[i]].at))
                plan_one(h, h->objects[h->young[i]].at);
    } else {
        for (i = 0; i < h->count; i++)
            if (h->objects[i].at != NULL && survives(h, h->objects[i].at))
                plan_one(h, h->objects[i].at);
        if (h->options.moving == HOST_PERMUTE)
            plan_permutation(h);
        h->rotation++;
    }
}

static cell *forwarded(cell *c)
{
    return c != NULL && c->forward != NULL ? c->forward : c;
}

static void update_edges(cell *c)
{
    unsigned i;

    for (i = 0; i < HOST_EDGES; i++)
        c->edge[i] = forwarded(c->edge[i]);
}

static void settle(cell *c)
{
    c->young = c->next_young;
    c->age = (unsigned char)(c->young ? c->age + 1 : 0);
    c->marked = 0;
    c->forward = NULL;
}

/* In a minor collection the copies are made before the header asks for them;
   what was left behind must stay readable until then. */
static void copy_young(host *h)
{
    size_t i;

    for (i = 0; i < h->remembered_count; i++)
        if (h->objects[h->remembered[i]].at != NULL)
            update_edges(h->objects[h->remembered[i]].at);
    for (i = 0; i < h->young_count; i++) {
        cell *c = h->objects[h->young[i]].at;

        if (!survives(h, c))
            continue;
        if (c->forward != NULL) {
            unsigned char next_young = c->forward->next_young;

            *c->forward = *c;
            c->forward->forward = NULL;
            c->forward->next_young = next_young;
        }
        update_edges(forwarded(c));
    }
}

static int points_to_young(const cell *c)
{
    unsigned i;

    for (i = 0; i < HOST_EDGES; i++)
        if (c->edge[i] != NULL && c->edge[i]->young)
            return 1;
    return 0;
}

/* The list of young objects and the remembered ones, after a collection. */
static void sort_generations(host *h, const size_t *ids, size_t count, int all)
{
    size_t i, young = 0, n = h->remembered_count;

    for (i = 0; i < h->young_count; i++)
        if (h->objects[h->young[i]].at != NULL && h->objects[h->young[i]].at->young)
            h->young[young++] = h->young[i];
    h->young_count = young;
    h->remembered_count = 0;
    for (i = 0; i < n; i++)
        h->objects[h->remembered[i]].remembered = 0;
    for (i = 0; i < n; i++) {
        size_t id = h->remembered[i];

        if (h->objects[id].at != NULL && points_to_young(h->objects[id].at))
            remember(h, id);
    }
    for (i = 0; i < count; i++) {
        size_t id = all ? i : ids[i];

        if (h->objects[id].at != NULL && !h->objects[id].at->young
                && points_to_young(h->objects[id].at))
            remember(h, id);
    }
}

void host_minor_begin(host *h)
{
    int i;

    h->phase = HOST_MINOR_TRACE;
    mark_roots(h);
    for (i = 0; i <= h->options.repeat_trace; i++)
        check_int(rrc_minor_collection_trace(h->heap), RRC_OK);
    mark_the_gray(h);
    plan(h);
    copy_young(h);
    h->phase = HOST_MINOR_COPY;
}

void host_minor_end(host *h)
{
    size_t i, count = h->young_count;
    size_t *ids = (size_t *)malloc((count + 1) * sizeof *ids);

    if (ids == NULL)
        abort();
    h->phase = HOST_MINOR_FREE;
    check_int(rrc_minor_collection_free(h->heap), RRC_OK);
    for (i = 0; i < count; i++) {
        cell *c = h->objects[h->young[i]].at;

        ids[i] = c->id;
        if (!survives(h, c)) {
            h->objects[c->id].at = NULL;
            free_cell(h, c);
        } else if (c->forward != NULL) {
            h->objects[c->id].at = c->forward;
            settle(c->forward);
            free_cell(h, c);
        } else {
            settle(c);
        }
    }
    sort_generations(h, ids, count, 0);
    free(ids);
    h->phase = HOST_MUTATOR;
    if (!h->options.unchecked)
        check_int(rrc_check(h->heap), RRC_OK);
}

/* Marking by a host that cannot finish it in a trace call. */
static void mark_early(host *h)
{
    int i;

    for (i = 0; i <= h->options.repeat_trace; i++)
        check_int(rrc_major_collection_trace_early(h->heap), RRC_OK);
    if (h->options.early == 2) {
        for (i = 0; i < 3 && h->gray_count > 0; i++)
            mark_edges(h, h->gray[--h->gray_count]);
        check_int(rrc_major_collection_pause(h->heap), RRC_OK);
        h->phase = HOST_MUTATOR;
        if (!h->options.unchecked)
            check_int(rrc_check(h->heap), RRC_OK);
        h->phase = HOST_MAJOR_TRACE;
        for (i = 0; i < 3 && h->gray_count > 0; i++)
            mark_edges(h, h->gray[--h->gray_count]);
        check_int(rrc_major_collection_trace_early(h->heap), RRC_OK);
    }
    mark_the_gray(h);
    plan(h);
    h->phase = HOST_MAJOR_PLAN;
}

void host_major_keep(host *h)
{
    host_phase phase = h->phase;

    if (h->on_weak != NULL)
        h->on_weak(h);
    h->phase = HOST_MAJOR_TRACE;
    check_int(rrc_major_collection_keep(h->heap), RRC_OK);
    mark_the_gray(h);
    h->phase = phase;
}

void host_start(host *h)
{
    check_int(rrc_major_collection_start(h->heap), RRC_OK);
    h->slices = 1;
}

void host_pronounce(host *h)
{
    h->phase = HOST_MAJOR_TRACE;
    mark_roots(h);
    check_int(rrc_major_collection_trace(h->heap), RRC_OK);
    mark_the_gray(h);
    h->slices = 2;
    host_major_keep(h);
    h->phase = HOST_MUTATOR;
}

void host_major_begin(host *h)
{
    int i;

    if (h->options.early != 0 && (h->options.incremental == 2 || h->slices == 1)) {
        if (h->slices == 0) {
            host_start(h);
            rrc_major_collection_work(h->heap, 10);
        }
        h->phase = HOST_MAJOR_TRACE;
        mark_roots(h);
        mark_early(h);
        h->slices = 0;
        return;
    }
    if (h->slices == 1)
        host_pronounce(h);
    if (h->slices == 2) {
        plan(h);
        h->phase = HOST_MAJOR_PLAN;
        return;
    }
    h->phase = HOST_MAJOR_TRACE;
    mark_roots(h);
    if (h->options.early != 0) {
        mark_early(h);
        return;
    }
    if (h->options.eager)
        mark_the_gray(h);
    for (i = 0; i <= h->options.repeat_trace; i++)
        check_int(rrc_major_collection_trace(h->heap), RRC_OK);
    mark_the_gray(h);
    if (h->options.keeps)
        host_major_keep(h);
    plan(h);
    h->phase = HOST_MAJOR_PLAN;
}

/* The contents are moved after the header has learned of it, all at once: the
   new cell of one may be the old cell of another. */
static void move_all(host *h)
{
    size_t i, n = 0, room = 0, cells_room = 0, cells = 0;
    cell *moved = NULL, **old = NULL, **target = NULL;
    size_t target_room = 0, targets = 0;

    for (i = 0; i < h->count; i++) {
        cell *c = h->objects[i].at;

        if (c == NULL)
            continue;
        if (survives(h, c)) {
            update_edges(c);
            if (c->forward == NULL)
                continue;
            PUSH(moved, room, n, *c);
            PUSH(target, target_room, targets, c->forward);
            h->objects[i].at = c->forward;
        } else {
            h->objects[i].at = NULL;
        }
        PUSH(old, cells_room, cells, c);
    }
    for (i = 0; i < n; i++) {
        unsigned char next_young = target[i]->next_young;

        *target[i] = moved[i];
        target[i]->next_young = next_young;
    }
    /* A cell is free if nobody lives there now. */
    for (i = 0; i < h->count; i++)
        if (h->objects[i].at != NULL)
            settle(h->objects[i].at);
    for (i = 0; i < cells; i++) {
        size_t id = old[i]->id;

        if (id >= h->count || h->objects[id].at != old[i])
            free_cell(h, old[i]);
    }
    free(moved);
    free(old);
    free(target);
}

static void take_back_demoted(host *h)
{
    size_t i;

    for (i = 0; h->options.demotes && i < h->count; i++) {
        cell *c = h->objects[i].at;

        if (c != NULL && c->demoted && c->young) {
            c->demoted = 0;
            PUSH(h->young, h->young_room, h->young_count, i);
        }
    }
}

void host_major_end(host *h)
{
    h->phase = HOST_MAJOR_FREE;
    if (h->sweeps)
        check(rrc_major_collection_sweep(h->heap, 0) == 0 || h->slices == 2);
    else
        check_int(rrc_major_collection_free(h->heap), RRC_OK);
    h->slices = 0;
    move_all(h);
    take_back_demoted(h);
    sort_generations(h, NULL, h->count, 1);
    h->phase = HOST_MUTATOR;
    if (!h->options.unchecked)
        check_int(rrc_check(h->heap), RRC_OK);
}

void host_minor(host *h)
{
    host_minor_begin(h);
    host_minor_end(h);
}

void host_major(host *h)
{
    host_major_begin(h);
    host_major_end(h);
}

void host_move(host *h)
{
    size_t i;

    h->phase = HOST_MAJOR_FREE;
    for (i = 0; i < h->count; i++)
        if (h->objects[i].at != NULL) {
            h->objects[i].at->marked = 1;
            h->objects[i].at->next_young = h->objects[i].at->young;
        }
    plan(h);
    for (i = 0; i < h->count; i++)
        if (h->objects[i].at != NULL)
            forwarded(h->objects[i].at)->next_young = h->objects[i].at->young;
    check_int(rrc_links_moved(h->heap), RRC_OK);
    move_all(h);
    h->phase = HOST_MUTATOR;
    check_int(rrc_check(h->heap), RRC_OK);
}

void host_collect(void *userdata)
{
    host *h = (host *)userdata;

    must_be(h->phase == HOST_MUTATOR, h, "collect");
    hook(h, "collect");
    host_major(h);
}

void host_safepoint(host *h)
{
    if (!h->options.stress || h->phase != HOST_MUTATOR)
        return;
    switch (h->rotation++ % 4) {
    case 0:
        host_minor(h);
        host_major(h);
        break;
    case 1:
        host_major(h);
        break;
    default:
        host_minor(h);
    }
}

/* ---- the log ---- */

const host_log *host_expect_log(host *h, int code, const char *function)
{
    const size_t room = sizeof h->log / sizeof h->log[0];
    const host_log *log = &h->log[h->log_read % room];

    if (h->log_read == h->log_count)
        unit_fail(__FILE__, __LINE__, "nothing is logged, not even %s", rrc_error_name(code));
    check(h->log_count - h->log_read <= room);
    h->log_read++;
    if (log->code != code)
        unit_fail(__FILE__, __LINE__, "%s is logged, not %s: %s", log->name, rrc_error_name(code),
                  log->text);
    check_str(log->name, rrc_error_name(code));
    check_str(log->message, rrc_error_message(code));
    if (function != NULL)
        check_str(log->function, function);
    return log;
}

void host_expect_late_mark(host *h, rrc_object *ob)
{
    if (HOST_DEBUG) {
        const host_log *log = host_expect_log(h, RRC_EHOOK, "rrc_major_collection_free");

        check(strstr(log->detail, "after rrc_major_collection_trace:") != NULL);
        check(strstr(log->detail, "propagate") != NULL);
        check(ob == NULL || log->ob == ob);
    }
    host_expect_silence(h);
}

void host_expect_silence(host *h)
{
    if (h->log_read != h->log_count)
        unit_fail(__FILE__, __LINE__, "logged: %s",
                  h->log[h->log_read % (sizeof h->log / sizeof h->log[0])].text);
}

/* ---- events ---- */

void host_event(host *h, char what, int tag)
{
    size_t used = strlen(h->events);

    snprintf(h->events + used, sizeof h->events - used, "%s%c%d", used > 0 ? " " : "", what, tag);
}

rrc_stats host_stats(host *h)
{
    rrc_stats stats;

    memset(&stats, 0xDD, sizeof stats);
    check_int(rrc_get_stats(h->heap, &stats), RRC_OK);
    return stats;
}
