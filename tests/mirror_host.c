#include "mirror_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned vm_pick(vm *v, unsigned n)
{
    return pick(&v->from, n);
}

static void push(vm_pointers *array, void *pointer)
{
    if (array->count == array->room) {
        array->room = array->room * 2 + 64;
        array->at = (void **)realloc(array->at, array->room * sizeof *array->at);
        if (array->at == NULL)
            abort();
    }
    array->at[array->count++] = pointer;
}

/* ---- marking ---- */

static void mark(vm *v, vm_object *o)
{
    if (o == NULL || o->marked || (v->in_minor && !o->young))
        return;
    o->marked = 1;
    push(&v->gray, o);
}

static void mark_fields(vm *v, vm_object *o)
{
    size_t i;

    for (i = 0; i < VM_EDGES; i++)
        mark(v, o->edge[i]);
    mark(v, o->node);
    for (i = 0; i < o->list_count; i++)
        mark(v, o->list[i]);
}

static void mark_the_gray(vm *v, size_t most)
{
    while (v->gray.count > 0 && most-- > 0)
        mark_fields(v, (vm_object *)v->gray.at[--v->gray.count]);
}

static void mark_roots(vm *v)
{
    size_t i;

    for (i = 0; i < v->objects.count; i++) {
        vm_object *o = (vm_object *)v->objects.at[i];

        if (v->in_minor && !o->young)
            mark_fields(v, o);
        if (o->rooted || o->pinned)
            mark(v, o);
    }
    for (i = 0; i < v->slots.count; i++) {
        vm_slot *s = (vm_slot *)v->slots.at[i];

        if (s->anchored)
            mark(v, s->weak);
    }
    for (i = 0; i < v->to_finalize.count; i++)
        mark(v, (vm_object *)v->to_finalize.at[i]);
}

/* A field of o was set: the barrier of an incremental collection. */
static void barrier(vm *v, const vm_object *o, vm_object *to)
{
    if (v->marking && o->marked)
        mark(v, to);
}

/* ---- the end of a collection ---- */

static int is_dead(const vm *v, const vm_object *o)
{
    return !o->marked && !(v->in_minor && !o->young);
}

static void clear_weak(vm *v, int only_plain)
{
    size_t i;

    for (i = 0; i < v->slots.count; i++) {
        vm_slot *s = (vm_slot *)v->slots.at[i];

        if (s->weak != NULL && is_dead(v, s->weak) && !(only_plain && s->weak->has_finalizer)) {
            check(!s->anchored);
            if (!s->weak->has_finalizer || s->weak->finalized) {
                s->weak->slot = NULL;
                s->owner = NULL;
            }
            s->weak = NULL;
        }
    }
}

static void report_deaths(vm *v)
{
    size_t i;

    for (i = 0; i < v->objects.count; i++) {
        vm_object *o = (vm_object *)v->objects.at[i];

        if (is_dead(v, o) && o->number >= 0 && !o->finalized && v->on_death != NULL)
            v->on_death(v, o->number);
    }
}

/* Of wrappers, what has not died. */
static void find_living(vm *v)
{
    size_t i;

    for (i = 0; i < v->slots.count; i++) {
        vm_slot *s = (vm_slot *)v->slots.at[i];

        if (!s->head.is_node && s->weak != NULL && !is_dead(v, s->weak) && RRC_TYPE(s->head.ob) != NULL
                && RRC_TYPE(s->head.ob)->tp_outside != NULL)
            push(&v->living, s);
    }
}

static void sweep(vm *v)
{
    size_t i, left = 0;

    for (i = 0; i < v->objects.count; i++) {
        vm_object *o = (vm_object *)v->objects.at[i];

        if (is_dead(v, o)) {
            check_ptr(o->slot, NULL);
            free(o->list);
            memset(o, 0xDD, sizeof *o);
            free(o);
        } else {
            o->marked = 0;
            o->young = 0;
            o->place = left;
            v->objects.at[left++] = o;
        }
    }
    v->objects.count = left;
}

/* Nothing is left to be marked: what is not, is garbage. Objects with finalizers are
   kept for these, with all they refer to. */
static void finish(vm *v)
{
    size_t i;

    report_deaths(v);
    if (v->finds_living)
        find_living(v);
    if (!v->options.keeps_resurrected)
        clear_weak(v, 1);
    for (i = 0; i < v->objects.count; i++) {
        vm_object *o = (vm_object *)v->objects.at[i];

        if (is_dead(v, o) && o->has_finalizer && !o->finalized) {
            o->finalized = 1;
            push(&v->to_finalize, o);
        }
    }
    for (i = 0; i < v->to_finalize.count; i++)
        mark(v, (vm_object *)v->to_finalize.at[i]);
    mark_the_gray(v, SIZE_MAX);
    clear_weak(v, 0);
    sweep(v);
    v->marking = v->in_minor = 0;
    v->collections++;
}

static void forget_marks(vm *v)
{
    size_t i;

    for (i = 0; i < v->objects.count; i++)
        ((vm_object *)v->objects.at[i])->marked = 0;
    v->gray.count = 0;
    v->marking = 0;
}

static void collect_now(vm *v, int minor)
{
    if (v->in_collection || v->frozen)
        return;
    v->in_collection = 1;
    if (v->marking)
        forget_marks(v);
    v->in_minor = minor;
    mark_roots(v);
    mark_the_gray(v, SIZE_MAX);
    finish(v);
    v->in_collection = 0;
}

/* A proxy tells that it is dead. What it refers to is still there: so its ob's edge
   node can be got back. */
static void finalize(vm *v, vm_object *o)
{
    vm_slot *s = o->slot;

    o->has_finalizer = 0;
    if (s != NULL && !s->head.is_node && !v->closed) {
        rrc_object *ob = s->head.ob;
        vm_slot *node = (vm_slot *)rrc_cell_of_node(v->heap, ob);

        if (node != NULL && node->weak == NULL && o->node != NULL && o->node->slot == NULL) {
            node->weak = node->owner = o->node;
            o->node->slot = node;
        }
        check_int(vm_unlink(v, ob), RRC_OK);
    }
    if (v->on_finalizer != NULL && !v->closed)
        v->on_finalizer(v, o->number);
}

void vm_run_finalizers(vm *v)
{
    while (v->to_finalize.count > 0) {
        vm_object *o = (vm_object *)v->to_finalize.at[--v->to_finalize.count];

        o->pinned++;
        finalize(v, o);
        o->pinned--;
    }
}

void vm_collect(vm *v)
{
    if (v->stopped)
        return;
    collect_now(v, 0);
    vm_run_finalizers(v);
}

void vm_collect_minor(vm *v)
{
    if (v->marking || v->stopped)
        return;
    collect_now(v, 1);
    if (!v->options.late_finalizers)
        vm_run_finalizers(v);
}

void vm_collect_slice(vm *v)
{
    if (v->in_collection || v->frozen || v->stopped)
        return;
    if (!v->marking) {
        forget_marks(v);
        v->marking = 1;
        mark_roots(v);
        return;
    }
    mark_the_gray(v, 1 + vm_pick(v, 8));
    if (v->gray.count > 0)
        return;
    v->in_collection = 1;
    mark_roots(v);
    mark_the_gray(v, SIZE_MAX);
    finish(v);
    v->in_collection = 0;
    if (!v->options.late_finalizers)
        vm_run_finalizers(v);
}

/* An object is about to be made. */
static void before_allocation(vm *v)
{
    check(!v->in_collection);
    if (v->options.stress == 2) {
        vm_collect(v);
    } else if (v->options.stress == 1) {
        switch (vm_pick(v, 8)) {
        case 0: vm_collect(v); break;
        case 1: vm_collect_minor(v); break;
        case 2:
        case 3: vm_collect_slice(v); break;
        case 4:
            if (!v->stopped)
                vm_run_finalizers(v);
            break;
        default: break;
        }
    }
}

/* ---- objects ---- */

vm_object *vm_new(vm *v, int number)
{
    vm_object *o;

    before_allocation(v);
    o = (vm_object *)calloc(1, sizeof *o);
    if (o == NULL)
        abort();
    o->number = number;
    o->young = 1;
    o->marked = (unsigned char)(v->marking != 0);
    o->place = v->objects.count;
    push(&v->objects, o);
    return o;
}

void vm_point(vm *v, vm_object *from, unsigned n, vm_object *to)
{
    from->edge[n] = to;
    barrier(v, from, to);
}

void vm_root(vm *v, vm_object *o, int on)
{
    o->rooted = (unsigned char)on;
    if (on && v->marking)
        mark(v, o);
}

/* ---- slots ---- */

/* A proxy has a finalizer; what else is linked has not, or may. */
int vm_link(vm *v, vm_object *o, rrc_object *ob, int kind)
{
    int code = rrc_cell_link(v->heap, o, ob, kind);

    if (code != RRC_OK)
        return code;
    if (RRC_TYPE(ob)->tp_outside != NULL) {
        o->has_finalizer = 1;
        o->finalized = 0;
    } else if ((kind & RRC_O) != 0) {
        o->has_finalizer = 1;
    }
    return code;
}

int vm_unlink(vm *v, rrc_object *ob)
{
    vm_slot *s = (vm_slot *)RRC_LINK(ob);       /* (rrc_to_obj does not give a p that pin has found dead) */
    vm_object *owner = s->owner;
    int code = rrc_cell_unlink(v->heap, &s->head);

    if (code == RRC_OK && owner != NULL)
        owner->node = NULL;
    return code;
}

vm_object *vm_object_of(vm *v, rrc_object *ob)
{
    vm_slot *s = (vm_slot *)rrc_to_obj(v->heap, ob);

    return s != NULL ? s->weak : NULL;
}

/* ---- hooks ---- */

static void watch(void *userdata, rrc_cell *c)
{
    vm *v = (vm *)userdata;
    vm_slot *s = (vm_slot *)c;

    check(s->weak == NULL && rrc_cell_at(v->heap, c->number) == c);
    s->weak = s->owner = (vm_object *)c->object;
    s->weak->slot = s;
    s->place = v->slots.count;
    push(&v->slots, s);
}

static void forget(void *userdata, rrc_cell *c)
{
    vm *v = (vm *)userdata;
    vm_slot *s = (vm_slot *)c, *last = (vm_slot *)v->slots.at[--v->slots.count];

    check(!s->anchored && v->slots.at[s->place] == (s == last ? (void *)last : (void *)s));
    if (s->owner != NULL)
        s->owner->slot = NULL;
    v->slots.at[s->place] = last;
    last->place = s->place;
}

static int is_live(void *userdata, const rrc_cell *c, int may_defer)
{
    check(!((vm *)userdata)->closed && c->object != NULL);
    (void)may_defer;
    return ((const vm_slot *)c)->weak != NULL;
}

static int pin(void *userdata, rrc_cell *c, int on)
{
    vm *v = (vm *)userdata;
    vm_slot *s = (vm_slot *)c;

    check((!v->closed || v->ending) && s->anchored == !on);
    if (on && s->weak == NULL)
        return 0;
    s->anchored = on;
    if (on && v->marking)
        mark(v, s->weak);
    return on;
}

static void *new_node(void *userdata, rrc_object *ob, size_t n)
{
    vm *v = (vm *)userdata;

    check(!v->closed && rrc_gc_is_tracked(v->heap, ob) && n <= SIZE_MAX);
    if (v->fail_mirror_at > 0 && ++v->mirror_calls == v->fail_mirror_at) {
        v->failed++;
        return NULL;
    }
    return vm_new(v, -1);
}

static int write_node(void *userdata, rrc_cell *node, rrc_cell *const *targets, size_t n)
{
    vm *v = (vm *)userdata;
    vm_object *o = ((vm_slot *)node)->weak, **list;
    size_t i;

    check(!v->closed && node->is_node && o != NULL);
    if (n > 0 && v->fail_mirror_at > 0 && ++v->mirror_calls == v->fail_mirror_at) {
        v->failed++;
        return 1;
    }
    list = (vm_object **)malloc((n + 1) * sizeof *list);
    if (list == NULL)
        abort();
    for (i = 0; i < n; i++) {
        list[i] = ((const vm_slot *)targets[i])->weak;
        check(list[i] != NULL);
        barrier(v, o, list[i]);
    }
    free(o->list);
    o->list = list;
    o->list_count = n;
    return 0;
}

static void join(void *userdata, rrc_cell *proxy, rrc_cell *node)
{
    vm_object *o = ((const vm_slot *)proxy)->weak;

    o->node = ((const vm_slot *)node)->weak;
    barrier((vm *)userdata, o, o->node);
}

/* When a collection at once has found its dead, the wrappers that live are rooted before any finalizer runs. */
static void collect(void *userdata)
{
    vm *v = (vm *)userdata;
    size_t i;

    if (!v->stopped) {
        vm_collect(v);
        return;
    }
    v->finds_living = 1;
    collect_now(v, 0);
    v->finds_living = 0;
    for (i = 0; i < v->living.count; i++)
        rrc_touch(v->heap, ((vm_slot *)v->living.at[i])->head.ob);
    v->living.count = 0;
    v->stopped = 0;                     /* finalizers may collect */
    vm_run_finalizers(v);
    v->stopped = 1;
}

static size_t collect_by(vm *v, size_t (*collects)(rrc_heap *heap))
{
    int was_stopped = v->stopped;
    size_t result;

    v->stopped |= v->options.at_once;
    result = collects(v->heap);
    v->stopped = was_stopped;
    return result;
}

size_t vm_gc_collect(vm *v)
{
    if (v->options.at_once)
        vm_collect(v);
    return collect_by(v, rrc_gc_collect);
}

size_t vm_collect_in_order(vm *v)
{
    return collect_by(v, rrc_closed_collect_in_order);
}

/* ---- what shows the objects: those without a slot are known by their address ---- */

static const vm_object *shown(const vm *v, rrc_gcref p)
{
    size_t i;

    for (i = 0; i < v->slots.count; i++)
        if (v->slots.at[i] == p)
            return ((const vm_slot *)p)->weak;
    return (const vm_object *)p;
}

static void show(vm_object *o, rrc_edgeproc visit, void *arg, const char *name, size_t number)
{
    if (o != NULL)
        visit(arg, o->slot != NULL ? (void *)o->slot : (void *)o, name, number);
}

static void edges(void *userdata, rrc_gcref p, rrc_edgeproc visit, void *arg)
{
    vm *v = (vm *)userdata;
    const vm_object *o = p != NULL ? shown(v, p) : NULL;
    size_t i;

    for (i = 0; p == NULL && i < v->objects.count; i++)
        if (((vm_object *)v->objects.at[i])->rooted)
            show((vm_object *)v->objects.at[i], visit, arg, NULL, i);
    for (i = 0; o != NULL && i < VM_EDGES; i++)
        show(o->edge[i], visit, arg, NULL, i);
}

static void describe(void *userdata, rrc_gcref p, rrc_description *about)
{
    const vm_object *o = shown((const vm *)userdata, p);

    snprintf(about->text, sizeof about->text, o != NULL ? "object %d" : "dead", o != NULL ? o->number : 0);
}

rrc_insight vm_insight(vm *v)
{
    rrc_insight insight = { v, edges, describe, NULL, NULL };

    return insight;
}

static void *allocate(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    vm *v = (vm *)userdata;

    if (new_size > 0 && v->fail_alloc_at > 0 && ++v->allocations == v->fail_alloc_at) {
        v->failed++;
        return NULL;
    }
    v->live_bytes += new_size - old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static void write_log(void *userdata, const rrc_log_item *item)
{
    vm *v = (vm *)userdata;

    v->last_code = item->code;
    v->logged[item->code]++;
    snprintf(v->last_text, sizeof v->last_text, "%s", item->text);
}

/* ---- a life ---- */

vm *vm_open(const vm_options *options, uint64_t seed)
{
    vm *v = (vm *)calloc(1, sizeof *v);
    rrc_desc desc;
    rrc_closed_desc closed;

    if (v == NULL)
        abort();
    if (options != NULL)
        v->options = *options;
    v->from = choices_of_seed((unsigned long)seed);
    memset(&desc, 0, sizeof desc);
    memset(&closed, 0, sizeof closed);
    desc.userdata = v;
    closed.cell_size = sizeof(vm_slot);
    closed.pin = pin;
    closed.watch = watch;
    closed.forget = forget;
    closed.new_node = new_node;
    closed.write_node = write_node;
    closed.join = join;
    closed.is_live = is_live;
    desc.collect = collect;
    desc.realloc = allocate;
    desc.log = write_log;
    closed.collects_at_once = v->options.at_once;
    v->heap = rrc_closed_new(&desc, &closed);
    check(v->heap != NULL);
    return v;
}

/* The heap is freed already. */
void vm_close(vm *v)
{
    size_t i;

    check_int(v->live_bytes, 0);
    for (i = 0; i < v->objects.count; i++) {
        free(((vm_object *)v->objects.at[i])->list);
        free(v->objects.at[i]);
    }
    free(v->objects.at);
    free(v->gray.at);
    free(v->to_finalize.at);
    free(v->slots.at);
    free(v->living.at);
    free(v);
}
