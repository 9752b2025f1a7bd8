/* Wrappers of objects that have counts of their own: see >>outside. */

#include "knots.h"
#include "foreign.h"

#include <stdio.h>
#include <string.h>

typedef struct wrapper {
    knot base;
    foreign *f;                 /* owned */
} wrapper;

#define WRAPPER(ob) ((wrapper *)(void *)(ob))
#define F(ob) (WRAPPER(ob)->f)

struct foreign_library foreign_library;

/* What a wrong tp_outside adds, and a wrong tp_traverse visits. */
static intptr_t mistake;
static rrc_object *visited_too_often;

static intptr_t wrapper_outside(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    return foreign_outside(F(self)) + mistake;
}

static int wrapper_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int result = foreign_visit(F(self), visit, arg);

    if (result != 0)
        return result;
    if (visited_too_often != NULL && visited_too_often != self)
        RRC_VISIT(visited_too_often);
    return knot_traverse(self, visit, arg);
}

static int wrapper_clear(rrc_heap *heap, rrc_object *self)
{
    foreign_clear(F(self));
    return knot_clear(heap, self);
}

static void wrapper_dealloc(rrc_heap *heap, rrc_object *self)
{
    foreign_unwrap(F(self));
    knot_dealloc(heap, self);
}

static void wrapper_finalize(rrc_heap *heap, rrc_object *self) { KnotFinal.tp_finalize(heap, self); }

static void plain_dealloc(rrc_heap *heap, rrc_object *self)
{
    foreign_unwrap(F(self));
    HOST(heap)->deallocs++;
    rrc_del(heap, self);
}

/* Its memory is the library's own. */
static void own_dealloc(rrc_heap *heap, rrc_object *self)
{
    foreign_unwrap(F(self));
    HOST(heap)->deallocs++;
    free((char *)(void *)self - OB_PREFIX);
}

#define WRAPS(name) .tp_name = name, .tp_outside = wrapper_outside
#define GC_WRAPPER(name) WRAPS(name), .tp_basicsize = sizeof(wrapper), .tp_flags = RRC_TPFLAGS_HAVE_GC, \
    .tp_traverse = wrapper_traverse, .tp_clear = wrapper_clear, .tp_dealloc = wrapper_dealloc
static const rrc_type Wrapper = { GC_WRAPPER("Wrapper") };
static const rrc_type FinalWrapper = { GC_WRAPPER("FinalWrapper"), .tp_finalize = wrapper_finalize };
static const rrc_type PlainWrapper = { WRAPS("PlainWrapper"), .tp_basicsize = sizeof(wrapper),
                                       .tp_dealloc = plain_dealloc };
static const rrc_type OwnWrapper = { WRAPS("OwnWrapper"), .tp_dealloc = own_dealloc };

static host_options small = { .without_generations = 1 };

static rrc_object *wrap(host *h, const rrc_type *type)
{
    rrc_object *ob;

    if (type == &OwnWrapper) {
        ob = (rrc_object *)(void *)((char *)calloc(1, sizeof(wrapper) + OB_PREFIX) + OB_PREFIX);
        RRC_REFCNT(ob) = 1;
        RRC_TYPE(ob) = type;
    } else {
        ob = type == &PlainWrapper ? rrc_new(h->heap, type) : knot_new(h, type, 0);
    }
    check(ob != NULL);
    F(ob) = foreign_new(0);
    F(ob)->wrapper = ob;
    return ob;
}

/* A wrapper that only its p holds. */
static rrc_object *given(host *h, const rrc_type *type, link_kind kind, size_t *p)
{
    rrc_object *ob = wrap(h, type);

    *p = host_new(h, h->options.without_generations ? HOST_OLD : HOST_YOUNG);
    check_int(rrc_link(h->heap, host_at(h, *p), ob, (kind == P ? RRC_P : RRC_O) | RRC_GIVE), RRC_OK);
    host_note_link(h, *p);
    return ob;
}

static void collect(host *h, int minor)
{
    if (minor)
        host_minor(h);
    else
        host_major(h);
    rrc_run_pending(h->heap, 0);
}

static void end(host *h)
{
    host_close(h);
    check_int(foreign_library.alive, 0);
}

static void a_foreign_reference_holds_a_wrapper(void)
{
    static const rrc_type *const types[] = { &Wrapper, &FinalWrapper, &PlainWrapper, &OwnWrapper };
    int type, kind, minor, searches;

    for (type = 0; type < 4; type++)
        for (kind = P; kind <= O; kind++)
            for (minor = 0; minor < 2; minor++)
                for (searches = 0; searches < 2; searches++) {
                    host *h = host_open(minor ? NULL : &small);
                    rrc_object *other = knot_new(h, &Knot, 0), *ob;
                    size_t p;

                    unit_context("type %d, kind %d, minor %d, searches %d", type, kind, minor, searches);
                    if (!searches)
                        rrc_gc_disable(h->heap);
                    ob = given(h, types[type], (link_kind)kind, &p);
                    foreign_take(F(ob));
                    collect(h, minor);
                    collect(h, minor);
                    check(host_is_alive(h, p));
                    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, p));
                    foreign_drop(F(ob));
                    collect(h, 0);
                    collect(h, 0);
                    check(!host_is_alive(h, p));
                    check_int(foreign_library.alive, 0);
                    rrc_decref(h->heap, other);
                    end(h);
                }
}

/* C has a reference, and foreign code, too. */
static void a_proxy_lives_as_long_as_foreign_references(void)
{
    int minor;

    for (minor = 0; minor < 2; minor++) {
        host *h = host_open(minor ? NULL : &small);
        size_t p;
        rrc_object *ob = given(h, &PlainWrapper, O, &p);

        rrc_incref(h->heap, ob);
        foreign_take(F(ob));
        collect(h, minor);
        check(host_is_alive(h, p));
        foreign_drop(F(ob));
        collect(h, minor);
        collect(h, 0);
        check(!host_is_alive(h, p));
        rrc_decref(h->heap, ob);
        end(h);
    }
}

/* A store holds an action, whose handler is a closure that mentions the store. */
static void a_store_an_action_and_its_handler(void)
{
    int keeps, kind;

    for (keeps = 0; keeps < 2; keeps++)
        for (kind = P; kind <= O; kind++) {
            host_options options = { .without_generations = 1, .keeps = keeps };
            host *h = host_open(&options);
            size_t store_p, action_p, closure;
            rrc_object *store = given(h, &Wrapper, (link_kind)kind, &store_p);
            rrc_object *action = given(h, &Wrapper, (link_kind)kind, &action_p), *view = knot_new(h, &Knot, 0);

            closure = host_new(h, HOST_OLD);
            host_point(h, closure, 0, store_p);
            check_int(rrc_link(h->heap, host_at(h, closure), view, RRC_P), RRC_OK);
            KNOT(action)->ref[0] = view;
            foreign_set(&F(store)->field[0], F(action));
            host_root(h, store_p);
            collect(h, 0);
            collect(h, 0);
            check(host_is_alive(h, closure) && host_is_alive(h, action_p));     /* the store holds it */
            host_unroot(h, store_p);
            foreign_take(F(action));
            collect(h, 0);
            check(host_is_alive(h, closure) && host_is_alive(h, store_p));      /* foreign code can fire it */
            foreign_drop(F(action));
            collect(h, 0);
            check_int(foreign_library.alive, 0);
            check_int(h->deallocs, 3);
            collect(h, 0);              /* what was kept for a dealloc dies now */
            check(!host_is_alive(h, store_p));
            end(h);
        }
}

/* The example of LIBRARIES.md. */
static int visit_item(const foreign *item, rrc_visitproc visit, void *arg)
{
    int k, result = 0;

    if (item == NULL)
        return 0;
    if (item->wrapper != NULL)
        return visit(item->wrapper, arg);
    for (k = 0; k < FOREIGN_FIELDS && item->count == 1 && result == 0; k++)
        result = visit_item(item->field[k], visit, arg);
    return result;
}

static int looking_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    int k, result = knot_traverse(self, visit, arg);

    for (k = 0; k < FOREIGN_FIELDS && F(self) != NULL && result == 0; k++)
        result = visit_item(F(self)->field[k], visit, arg);
    return result;
}

static const rrc_type LookingWrapper = {
    WRAPS("LookingWrapper"), .tp_basicsize = sizeof(wrapper), .tp_flags = RRC_TPFLAGS_HAVE_GC,
    .tp_traverse = looking_traverse, .tp_clear = wrapper_clear, .tp_dealloc = wrapper_dealloc
};

/* Between the store and the action are two objects that have no wrapper. */
static void what_has_no_wrapper_is_a_part_of_its_only_owner(void)
{
    int way, part;

    for (way = 0; way < 3; way++)
        for (part = 0; part < 2; part++) {
            host_options options = { .without_generations = 1, .keeps = way == 1, .incremental = way == 2,
                                     .reports_marks = way == 2 ? REPORT_LINKED : 0,
                                     .moving = way == 2 ? HOST_STAY : HOST_FRESH };
            host *h = host_open(&options);
            size_t store_p, action_p, closure;
            rrc_object *store = given(h, &LookingWrapper, P, &store_p);
            rrc_object *action = given(h, &LookingWrapper, P, &action_p), *view = knot_new(h, &Knot, 0);
            foreign *parts[2];

            unit_context("way %d, part %d", way, part);
            closure = host_new(h, HOST_OLD);
            host_point(h, closure, 0, store_p);
            check_int(rrc_link(h->heap, host_at(h, closure), view, RRC_P), RRC_OK);
            KNOT(action)->ref[0] = view;
            parts[0] = foreign_new(0);
            parts[1] = foreign_new(0);
            F(store)->field[1] = parts[0];
            parts[0]->field[0] = parts[1];
            foreign_set(&parts[1]->field[2], F(action));
            host_root(h, store_p);
            collect(h, 0);
            collect(h, 0);
            check(host_is_alive(h, closure) && host_is_alive(h, action_p));
            host_unroot(h, store_p);
            foreign_take(parts[part]);          /* then foreign code can fire the action */
            if (way == 2)
                host_start(h);
            collect(h, 0);
            check(host_is_alive(h, closure) && host_is_alive(h, store_p));
            foreign_drop(parts[part]);
            collect(h, 0);
            check_int(foreign_library.alive, 0);
            check_int(h->deallocs, 3);
            end(h);
        }
}

/* Two stores that hold each other: only tp_clear can break that. */
static void stores_that_hold_each_other(host *h, rrc_object **a, rrc_object **b)
{
    size_t p, q;

    *a = given(h, &Wrapper, P, &p);
    *b = given(h, &Wrapper, O, &q);
    foreign_set(&F(*a)->field[0], F(*b));
    foreign_set(&F(*b)->field[0], F(*a));
}

static void foreign_cycles_are_cleared(void)
{
    int way;

    for (way = 0; way < 3; way++) {
        host_options options = { .without_generations = 1, .keeps = way == 1, .incremental = way == 2,
                                 .reports_marks = way == 2 ? REPORT_LINKED : 0,
                                 .moving = way == 2 ? HOST_STAY : HOST_FRESH };
        host *h = host_open(&options);
        rrc_object *a, *b, *all[2];

        unit_context("way %d", way);
        stores_that_hold_each_other(h, &a, &b);
        all[0] = knot_new(h, &Knot, 0);         /* something that a store owns goes after it */
        KNOT(a)->ref[0] = all[0];
        if (way == 2)
            host_start(h);
        collect(h, 0);
        check_int(foreign_library.alive, 0);
        check_int(h->deallocs, 3);
        end(h);
    }
}

/* ... also at the end of the heap, where what foreign code holds goes at last. */
static rrc_object *held_to_the_end;

static void drop_held(host *h, rrc_object *ob)
{
    rrc_object *held = held_to_the_end;

    (void)ob;
    held_to_the_end = NULL;
    if (held != NULL)
        rrc_decref(h->heap, held);
}

static void foreign_cycles_end(void)
{
    int way;

    for (way = 0; way < 6; way++) {
        host_options options = { .without_generations = 1, .order = way / 3 };   /* with the hook mark_from_c, without */
        host *h = host_open(&options);
        rrc_object *a, *b;
        size_t p;
        foreign *f = NULL;

        unit_context("way %d", way);
        stores_that_hold_each_other(h, &a, &b);
        if (way % 3 == 1) {
            rrc_incref(h->heap, a);
            held_to_the_end = a;
            h->on_dealloc = drop_held;          /* of this object */
            ob_given(h, P, host_new(h, HOST_OLD), FULL);
        } else if (way % 3 == 2) {
            f = foreign_take(F(given(h, &Wrapper, P, &p)));
        }
        check_int(rrc_check(h->heap), RRC_OK);
        check_int(host_free_heap(h), 0);
        check_int(foreign_library.alive, way % 3 == 2);
        if (f != NULL) {
            check_int(f->count, 1);
            foreign_drop(f);
        }
        host_end(h);
    }
}

static int save_itself(rrc_heap *heap, rrc_object *self)
{
    rrc_incref(heap, self);
    held_to_the_end = self;
    return 0;
}

/* Garbage that is saved by its own tp_clear is alive. The end of a heap goes on to the wrappers that foreign code holds. */
static void what_saves_itself_ends_no_end(void)
{
    static const rrc_type Saver = { .tp_name = "Saver", .tp_basicsize = sizeof(knot), .tp_flags = RRC_TPFLAGS_HAVE_GC,
        .tp_dealloc = knot_dealloc, .tp_traverse = knot_traverse, .tp_clear = save_itself };
    int way;

    for (way = 0; way < 2; way++) {
        host_options options = { .without_generations = 1, .order = way };
        host *h = host_open(&options);
        rrc_object *saver;
        size_t p;
        foreign *f = foreign_take(F(given(h, &Wrapper, P, &p)));

        knot_ring(h, &Saver, 1, &saver);
        check_int(host_free_heap(h), 0);
        check_int(f->count, 1);
        foreign_drop(f);
        check_int(foreign_library.alive, 0);
        check_int(RRC_REFCNT(saver), 2);
        knot_clear(h->heap, saver);
        rrc_decref(h->heap, held_to_the_end);
        host_end(h);
    }
}

/* ---- foreign code that runs during a collection ---- */

static struct { rrc_object *root, *a, *b, *c, *d; size_t times, weighed; foreign *kept[2]; } story;

static intptr_t story_outside(rrc_heap *heap, rrc_object *self)
{
    story.weighed += self == story.b;
    return wrapper_outside(heap, self);
}

static const rrc_type StoryWrapper = { .tp_name = "StoryWrapper", .tp_outside = story_outside,
    .tp_basicsize = sizeof(wrapper), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_traverse = wrapper_traverse,
    .tp_clear = wrapper_clear, .tp_dealloc = wrapper_dealloc };

/* A reference to b moves from a to a variable, and then a is forgotten. The search has visited both references. Later,
   when b was weighed again and found, the same happens to d and c. */
static void move_in_a_hook(host *h, const char *hook)
{
    if (strcmp(hook, "trace") != 0 || h->phase != HOST_MAJOR_TRACE)
        return;
    story.times++;
    if (story.times == 1) {
        story.kept[0] = foreign_steal(F(story.a), 0);
        foreign_set(&F(story.root)->field[0], NULL);
    } else if (story.weighed > 1 && F(story.b)->field[0] == F(story.c)) {
        story.kept[1] = foreign_steal(F(story.c), 0);
        foreign_set(&F(story.b)->field[0], NULL);
    }
}

static void number_and_visits_are_weighed_at_one_time(void)
{
    int way;

    for (way = 0; way < 4; way++) {
        int untracked = way % 2, sliced = way / 2;
        host_options options = { .without_generations = 1, .incremental = sliced,
                                 .reports_marks = sliced ? REPORT_LINKED : 0, .moving = HOST_STAY };
        host *h = host_open(&options);
        const rrc_type *last = untracked ? &PlainWrapper : &Wrapper;
        size_t p[6], view;
        rrc_object *first = NULL;

        memset(&story, 0, sizeof story);
        unit_context("way %d", way);
        view = host_new(h, HOST_OLD);
        first = ob_shared(h, P, view, FULL);        /* its p is traced before the scan */
        host_note_link(h, view);
        story.root = given(h, &Wrapper, P, &p[0]);
        host_root(h, p[0]);
        story.a = given(h, &Wrapper, P, &p[1]);
        story.b = given(h, &StoryWrapper, P, &p[2]);
        story.c = given(h, &Wrapper, P, &p[3]);
        story.d = given(h, last, P, &p[4]);
        foreign_set(&F(story.root)->field[0], F(story.a));
        foreign_set(&F(story.a)->field[0], F(story.b));
        foreign_set(&F(story.b)->field[0], F(story.c));
        foreign_set(&F(story.c)->field[0], F(story.d));
        h->on_hook = move_in_a_hook;
        if (sliced)
            host_start(h);
        host_major(h);
        h->on_hook = NULL;
        check_ptr(story.kept[0], F(story.b));
        check_ptr(story.kept[1], F(story.d));
        check(host_is_alive(h, p[2]) && host_is_alive(h, p[4]));
        rrc_run_pending(h->heap, 0);
        collect(h, 0);                  /* a and c may have been held when the search saw them */
        check(!host_is_alive(h, p[1]) && !host_is_alive(h, p[3]));
        check_int(foreign_library.alive, 3);
        foreign_drop(story.kept[0]);
        foreign_drop(story.kept[1]);
        rrc_decref(h->heap, first);
        host_unroot(h, p[0]);
        collect(h, 0);
        check_int(foreign_library.alive, 0);
        end(h);
    }
}

static void take_in_a_hook(host *h, const char *hook)
{
    if (strcmp(hook, "trace") == 0 && h->phase == HOST_MAJOR_TRACE && story.kept[0] == NULL)
        story.kept[0] = foreign_take(F(story.a));
}

/* The first p that is traced is that of a view, or of a wrapper after the one to which a reference is taken. Also
   without a search. */
static void a_reference_is_taken_in_a_hook(void)
{
    int way, kind;

    for (way = 0; way < 4; way++)
        for (kind = P; kind <= O; kind++) {
            int searches = way % 2, of_wrapper = way / 2;
            host *h = host_open(&small);
            size_t p, q;
            rrc_object *traced;

            memset(&story, 0, sizeof story);
            unit_context("way %d, kind %d", way, kind);
            story.a = given(h, &Wrapper, (link_kind)kind, &p);
            if (of_wrapper) {
                traced = given(h, &Wrapper, (link_kind)kind, &q);
                foreign_take(F(traced));
            } else {
                q = host_new(h, HOST_OLD);
                traced = ob_shared(h, P, q, FULL);
            }
            if (!searches)
                rrc_gc_disable(h->heap);
            h->on_hook = take_in_a_hook;
            collect(h, 0);
            h->on_hook = NULL;
            check(story.kept[0] != NULL);
            check(host_is_alive(h, p) && host_is_alive(h, q));
            foreign_drop(story.kept[0]);
            if (of_wrapper)
                foreign_drop(F(traced));
            else
                rrc_decref(h->heap, traced);
            end(h);
        }
}

/* The first p that is traced is that of a view which garbage owns, for a finalizer or for the slots of its owner. The
   reference is taken to garbage, or to what has an O proxy that nothing keeps so far. */
static void a_reference_is_taken_after_the_verdict(void)
{
    int way;

    for (way = 0; way < 6; way++) {
        host_options options = { .without_generations = 1, .keeps = way % 2 };
        host *h = host_open(&options);
        rrc_object *owner = knot_new(h, way % 2 ? &Knot : &KnotFinal, 1), *view = knot_new(h, &Knot, 2);
        int is_held = way / 2 == 2;
        size_t p;

        memset(&story, 0, sizeof story);
        unit_context("way %d", way);
        ob_link(h, P, host_new(h, HOST_OLD), view, FULL);
        KNOT(owner)->ref[0] = view;
        knot_tie(h, owner, 1, owner);
        rrc_decref(h->heap, owner);
        story.a = given(h, &Wrapper, way / 2 == 0 ? P : O, &p);
        if (is_held)
            rrc_incref(h->heap, story.a);
        h->on_hook = take_in_a_hook;
        collect(h, 0);
        h->on_hook = NULL;
        check(story.kept[0] != NULL);
        check(host_is_alive(h, p));
        check_ptr(rrc_to_obj(h->heap, story.a), host_at(h, p));
        foreign_drop(story.kept[0]);
        if (is_held)
            rrc_decref(h->heap, story.a);
        collect(h, 0);
        check_int(foreign_library.alive, 0);
        h->events[0] = '\0';
        end(h);
    }
}

/* Such a reference keeps a wrapper. The host marks what the wrapper's proxy refers to: that is alive, too, and no
   garbage that other garbage owns. */
static void what_is_reached_after_the_verdict_is_no_garbage(void)
{
    host_options options = { .without_generations = 1, .keeps = 1 };
    host *h = host_open(&options);
    rrc_object *owner = knot_new(h, &Knot, 1), *view = knot_new(h, &Knot, 2), *reached = knot_new(h, &Knot, 3);
    size_t p, q = host_new(h, HOST_OLD);

    memset(&story, 0, sizeof story);
    ob_link(h, P, host_new(h, HOST_OLD), view, FULL);
    KNOT(owner)->ref[0] = view;
    knot_tie(h, owner, 1, owner);
    rrc_decref(h->heap, owner);
    ob_link(h, P, q, reached, FULL);
    rrc_decref(h->heap, reached);
    story.a = given(h, &Wrapper, P, &p);
    host_point(h, p, 0, q);
    h->on_hook = take_in_a_hook;
    host_major(h);
    h->on_hook = NULL;
    check(story.kept[0] != NULL);
    rrc_run_pending(h->heap, 0);
    check(host_is_alive(h, q));
    check_ptr(rrc_from_obj(h->heap, host_at(h, q)), reached);
    foreign_drop(story.kept[0]);
    collect(h, 0);
    check_int(foreign_library.alive, 0);
    h->events[0] = '\0';
    end(h);
}

/* Between two slices, after its number was read, a wrapper that is not tracked gets into a second store: there are
   more visits than references, which is no mistake of the traverse. */
static void a_visit_later_than_the_number(void)
{
    size_t slices, i;

    for (slices = 0; slices < 24; slices++) {
        host_options options = { .without_generations = 1, .incremental = 1, .reports_marks = REPORT_LINKED,
                                 .moving = HOST_STAY };
        host *h = host_open(&options);
        rrc_object *one = wrap(h, &Wrapper), *two = wrap(h, &Wrapper), *item;
        size_t p;

        unit_context("after slice %u", (unsigned)slices);
        item = given(h, &PlainWrapper, P, &p);
        foreign_set(&F(one)->field[0], F(item));
        host_start(h);
        for (i = 0; i < slices; i++)
            rrc_major_collection_work(h->heap, 1);
        foreign_set(&F(two)->field[0], F(item));
        host_major(h);
        rrc_run_pending(h->heap, 0);
        check(host_is_alive(h, p));
        check_ptr(rrc_to_obj(h->heap, item), host_at(h, p));
        rrc_decref(h->heap, one);
        rrc_decref(h->heap, two);
        collect(h, 0);
        check_int(foreign_library.alive, 0);
        end(h);
    }
}

/* In an early collection the host reports the store. Its action is reached then, and has a proxy. */
static void an_action_is_reached_by_a_report(void)
{
    int early;

    for (early = 1; early <= 2; early++) {
        host_options options = { .without_generations = 1, .reports_marks = REPORT_LINKED, .early = early,
                                 .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t far = host_rooted(h, HOST_OLD), store_p, action_p, plain_p;
        rrc_object *store, *action, *plain;

        unit_context("early %d", early);
        store = given(h, &Wrapper, O, &store_p);
        action = given(h, &Wrapper, O, &action_p);
        plain = given(h, &OwnWrapper, O, &plain_p);
        host_point(h, far, 0, store_p);
        foreign_set(&F(store)->field[0], F(action));
        foreign_set(&F(store)->field[1], F(plain));
        collect(h, 0);
        check(host_is_alive(h, action_p) && host_is_alive(h, plain_p));
        host_unroot(h, far);
        collect(h, 0);
        collect(h, 0);
        check(!host_is_alive(h, action_p));
        check(host_is_alive(h, plain_p) == 0);
        check_int(foreign_library.alive, 0);
        end(h);
    }
}

/* Two wrappers have one p, a proxy of the first, which C holds, and the data of the second. The foreign object of the second
   one refers to that of the first. So p stays as long as C holds the first one, and not longer. */
static void two_wrappers_of_one_p(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        host *h = host_open(&small);
        rrc_object *held = wrap(h, &Wrapper), *other = wrap(h, &Wrapper);
        size_t p = host_new(h, HOST_OLD);

        check_int(rrc_link(h->heap, host_at(h, p), held, RRC_O), RRC_OK);
        check_int(rrc_link(h->heap, host_at(h, p), other, RRC_P | RRC_GIVE), RRC_OK);
        host_note_link(h, p);
        foreign_set(&F(other)->field[0], F(held));
        for (; i == 0 && h->deallocs == 0 && host_stats(h).major_collections < 3; )
            collect(h, 0);
        check(host_is_alive(h, p));
        check_ptr(rrc_to_obj(h->heap, held), host_at(h, p));
        rrc_decref(h->heap, held);
        collect(h, 0);
        check(!host_is_alive(h, p));
        check_int(h->deallocs, 2);
        h->events[0] = '\0';
        end(h);
    }
}

/* ---- garbage that waits ---- */

/* Three wrappers wait. Foreign code takes the second one, which owns the first one. The third one takes the place of one
   of them, and is garbage all the same. */
static void what_takes_the_place_of_others_is_garbage(void)
{
    host *h = host_open(&small);
    rrc_object *third = wrap(h, &Wrapper), *second = wrap(h, &Wrapper), *first = wrap(h, &Wrapper);

    knot_tie(h, second, 0, first);
    knot_tie(h, second, 1, second);
    knot_tie(h, third, 0, third);
    foreign_set(&F(third)->field[0], F(third));
    rrc_decref(h->heap, first);
    rrc_decref(h->heap, second);
    rrc_decref(h->heap, third);
    host_major(h);
    check_int(host_stats(h).pending, 3);
    foreign_take(F(second));
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    check_int(foreign_library.alive, 2);
    check_int(rrc_check(h->heap), RRC_OK);
    foreign_drop(F(second));
    collect(h, 0);
    check_int(h->deallocs, 3);
    h->events[0] = '\0';
    end(h);
}

/* p was kept for other garbage. Then foreign code takes a reference: nothing is cleared, and the link holds again. */
static void foreign_code_takes_garbage_that_waits(void)
{
    int final;

    for (final = 0; final < 2; final++) {
        host_options options = { .without_generations = 1, .keeps = 1 };
        host *h = host_open(&options);
        size_t p, q;
        rrc_object *a = given(h, final ? &FinalWrapper : &Wrapper, P, &p), *b = given(h, &Wrapper, P, &q);
        foreign *f;

        unit_context("final %d", final);
        foreign_set(&F(a)->field[0], F(b));
        foreign_set(&F(b)->field[0], F(a));
        rrc_incref(h->heap, b);
        KNOT(a)->ref[0] = b;
        rrc_incref(h->heap, a);
        KNOT(b)->ref[0] = a;
        host_major(h);
        f = foreign_take(F(a));
        rrc_run_pending(h->heap, 0);
        check_int(h->finalized, 0);
        check_ptr(KNOT(a)->ref[0], b);
        check_ptr(F(b)->field[0], F(a));
        check(host_is_alive(h, p));
        check_ptr(rrc_to_obj(h->heap, a), host_at(h, p));
        collect(h, 0);
        check(host_is_alive(h, p));
        foreign_drop(f);
        collect(h, 0);
        collect(h, 0);
        check_int(h->finalized, final);
        check_int(foreign_library.alive, 0);
        end(h);
    }
}

/* A store and its action are garbage. Between two slices after the verdict the action loses its link. Then C gets hold
   of the store, which visits the action. This does not save the action's wrapper, because it lives by its count. */
static void an_unlinked_action_of_a_store_that_is_taken(void)
{
    size_t slices, i;

    for (slices = 0; slices < 4; slices++) {        /* what garbage owns is still being kept */
        host_options options = { .without_generations = 1, .incremental = 1, .reports_marks = REPORT_LINKED,
                                 .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t store_p, action_p;
        rrc_object *store = given(h, &Wrapper, P, &store_p), *action = given(h, &Wrapper, P, &action_p);

        unit_context("%d slices", (int)slices);
        foreign_set(&F(store)->field[0], F(action));
        host_start(h);
        rrc_major_collection_work(h->heap, 0);
        h->phase = HOST_MAJOR_TRACE;
        check_int(rrc_major_collection_trace(h->heap), RRC_OK);
        for (i = 0; i < slices; i++)
            rrc_major_collection_work(h->heap, 1);
        h->phase = HOST_MUTATOR;
        h->slices = 2;
        check_int(rrc_unlink(h->heap, action), RRC_OK);
        rrc_incref(h->heap, store);
        host_major_keep(h);
        h->sweeps = 1;
        collect(h, 0);
        h->sweeps = 0;
        check_int(h->deallocs, 1);
        check_int(foreign_library.alive, 2);
        check_int(F(store)->field[0]->count, 1);
        check_ptr(F(store)->field[0]->wrapper, NULL);
        check_int(REFCNT(store), RRC_REFCNT_FROM_PYPY + 1);
        check_ptr(rrc_to_obj(h->heap, store), host_at(h, store_p));
        rrc_decref(h->heap, store);
        collect(h, 0);
        check_int(h->deallocs, 2);
        check_int(foreign_library.alive, 0);
        end(h);
    }
}

/* ---- mistakes ---- */

static void a_number_below_0(void)
{
    host *h = host_open(&small);
    size_t p, q;
    const host_log *log;

    given(h, &Wrapper, P, &p);
    given(h, &PlainWrapper, P, &q);
    mistake = -3;
    check_int(rrc_check(h->heap), RRC_EOUTSIDE);
    log = host_expect_log(h, RRC_EOUTSIDE, "rrc_check");
    check_str(log->type_name, "PlainWrapper");
    check(strstr(log->text, "returned -3") != NULL);
    log = host_expect_log(h, RRC_EOUTSIDE, "rrc_check");
    check_str(log->type_name, "Wrapper");
    h->options.unchecked = 1;
    host_major(h);
    check(host_is_alive(h, p) && host_is_alive(h, q));
    host_expect_log(h, RRC_EOUTSIDE, "tp_outside");
    h->log_read = h->log_count;
    mistake = 0;
    end(h);
}

static void visit_too_often(host *h) { visited_too_often = h->test; }

/* Way 4: the visits are right until the trace call has ended. */
static void too_many_visits_are_named(void)
{
    int way;

    for (way = 0; way < 5; way++) {
        host_options options = { .without_generations = 1, .unchecked = 1, .incremental = way == 2, .keeps = way == 4,
                                 .reports_marks = way == 2 ? REPORT_LINKED : 0, .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t p, q, last;
        rrc_object *a = given(h, &Wrapper, P, &p), *b = given(h, way == 3 ? &PlainWrapper : &Wrapper, P, &q), *held;

        unit_context("way %d", way);
        given(h, &Wrapper, P, &last);
        knot_ring(h, &Knot, 2, NULL);
        held = knot_new(h, &Knot, 0);
        knot_tie(h, held, 0, held);
        foreign_set(&F(a)->field[0], F(b));
        if (way == 4) {
            h->test = b;
            h->on_weak = visit_too_often;
        } else {
            visited_too_often = b;
        }
        if (way == 0) {
            check_int(rrc_check(h->heap), RRC_ETRAVERSE);
            host_expect_log(h, RRC_ETRAVERSE, "rrc_check");
        } else {
            const host_log *log;

            if (way == 2)
                host_start(h);
            host_major(h);
            h->on_weak = NULL;
            log = host_expect_log(h, RRC_ETRAVERSE,
                                  way == 4 ? "rrc_major_collection_keep" : "rrc_major_collection_trace");
            check(strstr(log->text, " visits, but 1 reference.") != NULL);
            check(host_is_alive(h, q));         /* all counts as held: a foreign reference, too */
        }
        visited_too_often = NULL;
        foreign_set(&F(a)->field[0], NULL);
        check_int(rrc_check(h->heap), RRC_OK);
        collect(h, 0);
        check_int(h->deallocs, 5);
        check_int(foreign_library.alive, 0);
        check_ptr(KNOT(held)->ref[0], held);    /* a search that was given up has left no mark on it */
        RRC_CLEAR(h->heap, KNOT(held)->ref[0]);
        rrc_decref(h->heap, held);
        end(h);
    }
}

/* ---- cost, insight ---- */

static void only_heaps_with_wrappers_ask(void)
{
    host *h = host_open(&small);
    rrc_object *ob = wrap(h, &OwnWrapper), *other = wrap(h, &OwnWrapper);
    size_t p = host_rooted(h, HOST_OLD);

    foreign_library.asked = 0;
    collect(h, 0);
    check_int(foreign_library.asked, 0);
    check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_P), RRC_OK);
    collect(h, 0);
    check(foreign_library.asked > 0);
    check_int(rrc_unlink(h->heap, ob), RRC_OK);
    rrc_decref(h->heap, ob);
    rrc_decref(h->heap, other);
    end(h);
}

/* Wrappers among many objects that are none, one without a type, and a link whose maker forgot the bias. */
static void wrappers_among_others(void)
{
    host *h = host_open(&small);
    rrc_object *typeless = (rrc_object *)(void *)((char *)calloc(1, sizeof(knot) + OB_PREFIX) + OB_PREFIX);
    rrc_object *unbiased = ob_new(h, &Node), *knots = knot_ring(h, &Knot, 2, NULL), *ob;
    size_t p, i, views[100];

    for (i = 0; i < 100; i++) {
        views[i] = host_new(h, HOST_OLD);
        ob_given(h, P, views[i], FULL);
    }
    ob = given(h, &PlainWrapper, O, &p);
    foreign_take(F(ob));
    RRC_REFCNT(typeless) = 1;
    check_int(rrc_link(h->heap, host_at(h, host_rooted(h, HOST_OLD)), typeless, RRC_P), RRC_OK);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, host_rooted(h, HOST_OLD)), unbiased), RRC_OK);
    h->options.unchecked = 1;
    collect(h, 0);
    check(host_is_alive(h, p) && !host_is_alive(h, views[0]) && !rrc_gc_is_tracked(h->heap, NULL));
    (void)knots;
    host_expect_log(h, RRC_EREFCNT, NULL);
    h->log_read = h->log_count;
    RRC_REFCNT(unbiased) += BIAS;
    rrc_decref(h->heap, unbiased);
    check_int(rrc_unlink(h->heap, typeless), RRC_OK);
    free((char *)(void *)typeless - OB_PREFIX);
    foreign_drop(F(ob));
    end(h);
}

/* In slices an action is seen, and then a second store gets it. */
static void a_number_of_an_earlier_time(void)
{
    int untracked;

    for (untracked = 0; untracked < 2; untracked++) {
        host_options options = { .without_generations = 1, .incremental = 1, .reports_marks = REPORT_LINKED,
                                 .moving = HOST_STAY };
        host *h = host_open(&options);
        size_t p[3];
        rrc_object *s = given(h, &Wrapper, P, &p[0]), *t = given(h, &Wrapper, P, &p[1]);
        rrc_object *a = given(h, untracked ? &PlainWrapper : &Wrapper, P, &p[2]);

        foreign_set(&F(s)->field[0], F(a));
        host_start(h);
        check(rrc_major_collection_work(h->heap, 1) > 0);
        foreign_set(&F(t)->field[0], F(a));
        host_root(h, p[0]);
        host_root(h, p[1]);
        collect(h, 0);
        check(host_is_alive(h, p[2]));
        host_unroot(h, p[0]);
        host_unroot(h, p[1]);
        collect(h, 0);
        check_int(foreign_library.alive, 0);
        end(h);
    }
}

static char text[4000];

static void write_text(void *arg, const char *part, size_t size)
{
    (void)arg;
    check(strlen(text) + size < sizeof text);
    strcat(text, part);
}

static void insight_tells_of_foreign_references(void)
{
    host *h = host_open(&small);
    size_t p, q, r;
    rrc_object *ob = given(h, &Wrapper, P, &p), *store = given(h, &Wrapper, P, &q);
    rrc_object *proxy = given(h, &PlainWrapper, O, &r);
    char expected[300];
    foreign *f = foreign_take(foreign_take(F(ob)));

    text[0] = '\0';
    check_int(rrc_explain(h->heap, host_insight(h), ob, write_text, NULL), RRC_OK);
    snprintf(expected, sizeof expected,
             "Wrapper %p (0 references and 2 foreign references, P link to p %p):\n"
             "  2 references from outside keep it alive\n", (void *)ob, host_at(h, p));
    check_str(text, expected);
    foreign_drop(f);
    foreign_set(&F(store)->field[0], F(ob));
    foreign_drop(f);
    foreign_take(F(store));
    text[0] = '\0';
    check_int(rrc_explain(h->heap, host_insight(h), ob, write_text, NULL), RRC_OK);
    snprintf(expected, sizeof expected,
             "Wrapper %p (0 references and 1 foreign reference, P link to p %p):\n"
             "  held by Wrapper[0] of Wrapper %p,\n  which 1 reference from outside keeps alive\n",
             (void *)ob, host_at(h, p), (void *)store);
    check_str(text, expected);
    text[0] = '\0';
    check_int(rrc_dump_dot(h->heap, host_insight(h), write_text, NULL), RRC_OK);
    check(strstr(text, "0 references and 1 foreign reference\"") != NULL);
    check(strstr(text, "1 outside") != NULL);
    foreign_drop(F(store));

    /* In the queue it is dying, although foreign code has its object. */
    f = foreign_take(F(proxy));
    check_int(rrc_unlink(h->heap, proxy), RRC_OK);
    text[0] = '\0';
    check_int(rrc_explain(h->heap, host_insight(h), proxy, write_text, NULL), RRC_OK);
    check(strstr(text, "it waits in the queue for rrc_run_pending") != NULL);
    rrc_run_pending(h->heap, 0);
    foreign_drop(f);
    end(h);
}

/* The path to what a proxy refers to goes through its wrapper. */
static void a_path_goes_through_a_held_proxy(void)
{
    host_options options = { .without_generations = 1, .shows = 1, .moving = HOST_STAY };
    host *h = host_open(&options);
    size_t p, q;
    rrc_object *ob = given(h, &PlainWrapper, O, &p), *target = given(h, &Wrapper, P, &q);

    host_point(h, p, 0, q);
    foreign_take(F(ob));
    text[0] = '\0';
    check_int(rrc_explain(h->heap, host_insight(h), target, write_text, NULL), RRC_OK);
    check(strstr(text, "which 1 reference from outside keeps alive") != NULL);
    foreign_drop(F(ob));
    end(h);
}

/* A wrapper whose p is young again, but whose link found no room among the young ones, is held like others. */
static void a_wrapper_is_crowded_out(void)
{
    enum { OTHERS = 50 };
    host_options options = { .demotes = 1, .moving = HOST_STAY };
    int held, i;

    for (held = 0; held < 2; held++) {
        host *h = host_open(&options);
        size_t p = host_rooted(h, HOST_OLD);
        rrc_object *ob = wrap(h, &PlainWrapper);
        foreign *f = held ? foreign_take(F(ob)) : NULL;

        unit_context("held %d", held);
        check_int(rrc_link(h->heap, host_at(h, p), ob, RRC_P | RRC_GIVE), RRC_OK);
        host_note_link(h, p);
        for (i = 0; i < OTHERS; i++)
            ob_given(h, P, host_rooted(h, HOST_OLD), FULL);
        host_demote(h, p);
        host_major(h);
        host_unroot(h, p);
        host_minor(h);
        check_int(host_is_alive(h, p), held);
        check_int(rrc_run_pending(h->heap, 0), !held);
        if (held)
            foreign_drop(f);
        end(h);
    }
}

UNIT_GROUP(outside, UNIT(a_wrapper_is_crowded_out), UNIT(a_foreign_reference_holds_a_wrapper), UNIT(a_proxy_lives_as_long_as_foreign_references),
           UNIT(a_store_an_action_and_its_handler), UNIT(what_has_no_wrapper_is_a_part_of_its_only_owner),
           UNIT(foreign_cycles_are_cleared), UNIT(foreign_cycles_end),
           UNIT(what_saves_itself_ends_no_end),
           UNIT(number_and_visits_are_weighed_at_one_time), UNIT(a_reference_is_taken_in_a_hook),
           UNIT(a_reference_is_taken_after_the_verdict), UNIT(what_is_reached_after_the_verdict_is_no_garbage),
           UNIT(a_visit_later_than_the_number),
           UNIT(an_action_is_reached_by_a_report), UNIT(foreign_code_takes_garbage_that_waits),
           UNIT(what_takes_the_place_of_others_is_garbage), UNIT(two_wrappers_of_one_p),
           UNIT(an_unlinked_action_of_a_store_that_is_taken), UNIT(a_number_below_0),
           UNIT(too_many_visits_are_named), UNIT(only_heaps_with_wrappers_ask),
           UNIT(wrappers_among_others), UNIT(a_number_of_an_earlier_time),
           UNIT(insight_tells_of_foreign_references), UNIT(a_path_goes_through_a_held_proxy));
