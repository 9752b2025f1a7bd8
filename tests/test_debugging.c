/* rrc_check finds what somebody has damaged; with RRC_DEBUG the header sees more
 * mistakes by itself, logs each, and does the safe thing. */

#include "knots.h"

#include <string.h>

/* ---- rrc_check, in every build ---- */

typedef struct patient {
    host *h;
    size_t p_id, o_id;
    rrc_object *p_ob, *o_ob;
} patient;

static patient patient_new(void)
{
    patient it;

    it.h = host_open(NULL);
    it.p_id = host_rooted(it.h, HOST_YOUNG);
    it.o_id = host_rooted(it.h, HOST_OLD);
    it.p_ob = ob_given(it.h, P, it.p_id, FULL);
    it.o_ob = ob_given(it.h, O, it.o_id, LIGHT_OB);
    check_int(rrc_check(it.h->heap), RRC_OK);
    return it;
}

static void check_finds(patient *it, int code, rrc_object *ob)
{
    const host_log *log;

    check_int(rrc_check(it->h->heap), code);
    log = host_expect_log(it->h, code, "rrc_check");
    check_ptr(log->ob, ob);
    check_str(log->type_name, ob == it->p_ob ? "Node" : "Leaf");
    check(strstr(log->text, log->detail) != NULL && log->detail[0] != '\0');
    host_expect_silence(it->h);
}

static void check_finds_a_count_below_the_bias(void)
{
    patient it = patient_new();
    intptr_t count = REFCNT(it.p_ob);

    REFCNT(it.p_ob) = 3;
    check_finds(&it, RRC_EREFCNT, it.p_ob);
    REFCNT(it.p_ob) = BIAS - 1;
    check_finds(&it, RRC_EREFCNT, it.p_ob);
    REFCNT(it.p_ob) = count;
    REFCNT(it.o_ob) -= LIGHT;
    check_finds(&it, RRC_EREFCNT, it.o_ob);
    REFCNT(it.o_ob) += LIGHT;
    host_close(it.h);
}

static void check_finds_a_wrong_link_field(void)
{
    patient it = patient_new();
    rrc_gcref p = RRC_LINK(it.p_ob);

    RRC_LINK(it.p_ob) = NULL;
    check_finds(&it, RRC_ELINK, it.p_ob);
    RRC_LINK(it.p_ob) = host_at(it.h, it.o_id);
    check_finds(&it, RRC_ELINK, it.p_ob);
    RRC_LINK(it.p_ob) = p;
    p = RRC_LINK(it.o_ob);
    RRC_LINK(it.o_ob) = it.h;
    check_finds(&it, RRC_ELINK, it.o_ob);
    RRC_LINK(it.o_ob) = p;
    host_close(it.h);
}

static void check_finds_all_and_returns_the_first(void)
{
    patient it = patient_new();
    int first, code;

    REFCNT(it.p_ob) -= BIAS;
    RRC_LINK(it.o_ob) = it.h;
    first = rrc_check(it.h->heap);
    check(first == RRC_EREFCNT || first == RRC_ELINK);
    code = first;
    host_expect_log(it.h, code, "rrc_check");
    host_expect_log(it.h, code == RRC_ELINK ? RRC_EREFCNT : RRC_ELINK, "rrc_check");
    host_expect_silence(it.h);
    REFCNT(it.p_ob) += BIAS;
    RRC_LINK(it.o_ob) = host_at(it.h, it.o_id);
    host_close(it.h);
}

static void check_finds_a_dropped_reference_of_the_queue(void)
{
    patient it = patient_new();
    rrc_object *waiting = ob_given(it.h, O, host_new(it.h, HOST_YOUNG), FULL);

    host_major(it.h);
    REFCNT(waiting) = 0;
    check_int(rrc_check(it.h->heap), RRC_EREFCNT);
    check_ptr(host_expect_log(it.h, RRC_EREFCNT, "rrc_check")->ob, waiting);
    REFCNT(waiting) = 1;
    host_close(it.h);
}

#if HOST_SLOT
static void check_finds_a_damaged_slot(void)
{
    patient it = patient_new();
    rrc_object **slot = host_slot(it.h, host_at(it.h, it.p_id));

    *slot = it.o_ob;
    check_finds(&it, RRC_EHOOK, it.p_ob);
    *slot = NULL;
    check_finds(&it, RRC_EHOOK, it.p_ob);
    *slot = it.p_ob;
    host_close(it.h);
}
#else
/* The field of a host object means nothing where the header has a dictionary. */
static void check_finds_a_damaged_slot(void)
{
    patient it = patient_new();

    *host_slot(it.h, host_at(it.h, it.p_id)) = it.o_ob;
    check_int(rrc_check(it.h->heap), RRC_OK);
    check_ptr(rrc_from_obj(it.h->heap, host_at(it.h, it.p_id)), it.p_ob);
    host_close(it.h);
}
#endif

/* ---- what each build notices ---- */

static void check_logged(host *h, int code, const char *function, rrc_object *ob, rrc_gcref p)
{
    const host_log *log = host_expect_log(h, code, function);

    check_ptr(log->ob, ob);
    if (p != NULL)
        check_ptr(log->p, p);
    check_str(log->type_name, "Node");
    check(strstr(log->text, "Node") != NULL);
}

static void a_forgotten_bias_is_seen_when_p_dies(void)
{
    int others, i;

    for (others = 0; others <= 200; others += 200) {
        host *h = host_open(NULL);
        size_t id = host_new(h, HOST_YOUNG);
        rrc_object *ob = ob_new(h, &Node);

        unit_context("%d others", others);
        for (i = 0; i < others; i++)
            ob_given(h, O, host_new(h, HOST_YOUNG), LIGHT_OB);
        check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_OK);
        host_minor(h);
        check_logged(h, RRC_EREFCNT, "rrc_minor_collection_free", ob, NULL);
        h->log_read = h->log_count;
        check_int(h->deallocs, 0);
        check_ptr(RRC_LINK(ob), NULL);
        rrc_decref(h->heap, ob);
        check_int(h->deallocs, 1);
        host_close(h);
    }
}

/* C holds an object with a P link whose maker forgot the bias: its p stays, and the trace call names
   the object, whatever else is in the heap. */
static void a_forgotten_bias_keeps_p(void)
{
    int major, tracked, is_knot, reports;

    for (major = 0; major < 2; major++)
        for (tracked = 0; tracked < 3; tracked++)
            for (is_knot = 0; is_knot < 2; is_knot++)
                for (reports = 0; reports < 2; reports++) {
                    host_options options = { .unchecked = 1, .reports_marks = reports };
                    host *h = host_open(&options);
                    size_t id = host_new(h, HOST_YOUNG);
                    rrc_object *ob = is_knot ? rrc_gc_new(h->heap, &Knot) : ob_new(h, &Node);
                    rrc_object *other = tracked ? knot_new(h, &Knot, 1) : NULL;
                    const host_log *log;

                    unit_context("major %d, tracked %d, is_knot %d, reports %d", major, tracked, is_knot, reports);
                    if (is_knot && tracked == 2)
                        check_int(rrc_gc_track(h->heap, ob), RRC_OK);
                    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), ob), RRC_OK);
                    if (major)
                        host_major(h);
                    else
                        host_minor(h);
                    log = host_expect_log(h, RRC_EREFCNT, major ? "rrc_major_collection_trace"
                                                                : "rrc_minor_collection_trace");
                    check_ptr(log->ob, ob);
                    h->log_read = h->log_count;
                    check(host_is_alive(h, id));
                    check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
                    REFCNT(ob) += BIAS;
                    check_int(rrc_check(h->heap), RRC_OK);
                    rrc_decref(h->heap, ob);
                    if (other != NULL)
                        rrc_decref(h->heap, other);
                    host_close(h);
                }
}

/* A linked object whose count drops to zero is not deallocated under its p. */
static void a_forgotten_bias_is_seen_by_decref(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_new(h, &Node);
    rrc_gcref p = host_at(h, id);

    check_int(rrc_create_link_pypy(h->heap, p, ob), RRC_OK);
    rrc_decref(h->heap, ob);
    check_logged(h, RRC_EREFCNT, "rrc_decref", ob, p);
    h->log_read = h->log_count;
    check_int(h->deallocs, 0);
    check_ptr(rrc_from_obj(h->heap, p), ob);
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

/* ... nor is one of many, in a collection. */
static void a_forgotten_bias_is_seen_in_the_middle_of_a_collection(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    rrc_object *ob = ob_new(h, &Node);
    int i;

    for (i = 0; i < 100; i++)
        ob_given(h, O, host_rooted(h, HOST_OLD), FULL);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, host_rooted(h, HOST_OLD)), ob), RRC_OK);
    host_minor_begin(h);
    rrc_decref(h->heap, ob);
    check_logged(h, RRC_EREFCNT, "rrc_decref", ob, NULL);
    h->log_read = h->log_count;
    host_minor_end(h);
    check_int(REFCNT(ob), BIAS);
    check_int(rrc_check(h->heap), RRC_OK);
    host_close(h);
}

/* Nor is it freed with the heap: a count that is wrong says nothing. */
static void a_forgotten_bias_is_seen_by_heap_free(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_new(h, &Node);

    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), ob), RRC_OK);
    host_free_heap(h);
    check_logged(h, RRC_EREFCNT, "rrc_heap_free", ob, NULL);
    check_int(h->deallocs, 0);
    check_int(REFCNT(ob), 1);
    check_ptr(RRC_LINK(ob), NULL);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    host_end(h);
}

/* An object may lose its type; it is then leaked rather than jumped into. */
static void a_missing_type_is_seen_by_decref(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);

    RRC_TYPE(ob) = NULL;
    rrc_decref(h->heap, ob);
    check_str(host_expect_log(h, RRC_ETYPE, "rrc_decref")->type_name, "?");
    RRC_TYPE(ob) = &Node;
    rrc_del(h->heap, ob);
    host_close(h);
}

/* Somebody who clears the link field can link an object twice. */
static void check_finds_two_links_of_one_ob(void)
{
    patient it = patient_new();

    RRC_LINK(it.o_ob) = NULL;
    check_int(rrc_create_link_pyobj(it.h->heap, host_at(it.h, it.o_id), it.o_ob), RRC_OK);
    check_int(rrc_check(it.h->heap), RRC_ELINKED);
    check_ptr(host_expect_log(it.h, RRC_ELINKED, "rrc_check")->ob, it.o_ob);
    host_expect_silence(it.h);
    check_ptr(RRC_LINK(it.o_ob), host_at(it.h, it.o_id));
    check_int(rrc_unlink(it.h->heap, it.p_ob), RRC_OK);
    REFCNT(it.o_ob) += 5;
    check_int(rrc_unlink(it.h->heap, it.o_ob), RRC_OK);
    check_int(REFCNT(it.o_ob), 5);
    REFCNT(it.o_ob) += LIGHT - 5;
    RRC_LINK(it.o_ob) = host_at(it.h, it.o_id);
    check_int(rrc_check(it.h->heap), RRC_OK);
    host_close(it.h);
}

/* Whoever forgets the bias forgets it for all objects of a type. Each type is reported once, and once more by each
   rrc_check, which returns the code in any case. */
static void a_wrong_bias_is_told_once_for_each_type(void)
{
    enum { EACH = 40 };
    static const rrc_type *const types[] = { &Node, &Leaf, &Final };
    int major, twice, i;

    for (major = 0; major < 2; major++)
        for (twice = 0; twice < 2; twice++) {
            host_options options = { .unchecked = 1 };
            host *h = host_open(&options);
            rrc_object *obs[EACH * 3];
            int told = 0;

            unit_context("major %d, twice %d", major, twice);
            for (i = 0; i < EACH * 3; i++) {
                obs[i] = ob_new(h, types[i % 3]);
                check_int(rrc_create_link_pypy(h->heap, host_at(h, host_rooted(h, HOST_YOUNG)), obs[i]), RRC_OK);
                REFCNT(obs[i]) += twice ? BIAS + BIAS : 0;
            }
            for (i = 0; i < 3; i++) {
                if (major)
                    host_major(h);
                else
                    host_minor(h);
            }
            if (!twice || HOST_DEBUG)
                for (; told < 3; told++) {
                    const host_log *log = host_expect_log(h, RRC_EREFCNT, NULL);

                    check_int(strstr(log->detail, "was added twice") != NULL, twice);
                    check(strstr(log->message, "did not add the bias, or added it twice") != NULL);
                }
            host_expect_silence(h);
            for (i = 0; i < 2; i++) {
                check_int(rrc_check(h->heap), RRC_EREFCNT);
                for (told = 0; told < 3; told++)
                    host_expect_log(h, RRC_EREFCNT, "rrc_check");
                host_expect_silence(h);
            }
            /* Each object without a type is reported. */
            for (i = 0; i < 3; i++)
                RRC_TYPE(obs[i]) = NULL;
            check_int(rrc_check(h->heap), RRC_EREFCNT);
            for (told = 0; told < 6; told++)
                host_expect_log(h, RRC_EREFCNT, "rrc_check");
            host_expect_silence(h);
            for (i = 0; i < EACH * 3; i++) {
                RRC_TYPE(obs[i]) = types[i % 3];
                REFCNT(obs[i]) = BIAS + 1;
                rrc_decref(h->heap, obs[i]);
            }
            check_int(rrc_check(h->heap), RRC_OK);
            host_close(h);
        }
}

/* rrc_link adds the bias, and its caller adds it again: of either kind, light or not. */
static void check_finds_two_biases(void)
{
    int kind, light;

    for (kind = P; kind <= O; kind++)
        for (light = 0; light < 2; light++) {
            host *h = host_open(NULL);
            rrc_object *ob = ob_given(h, (link_kind)kind, host_rooted(h, HOST_OLD), light ? LIGHT_OB : FULL);
            intptr_t count = REFCNT(ob);

            unit_context("kind %d, light %d", kind, light);
            REFCNT(ob) = (intptr_t)((uintptr_t)count + (uintptr_t)(light ? LIGHT : BIAS));
            check_int(rrc_check(h->heap), RRC_EREFCNT);
            check(strstr(host_expect_log(h, RRC_EREFCNT, "rrc_check")->detail, "was added twice") != NULL);
            host_expect_silence(h);
            REFCNT(ob) = BIAS + BIAS / 2 - 1;   /* so many references */
            check_int(rrc_check(h->heap), RRC_OK);
            REFCNT(ob) = count;
            host_close(h);
        }
}

#define CHECK_TESTS \
    UNIT(a_wrong_bias_is_told_once_for_each_type), \
    UNIT(check_finds_two_biases), \
    UNIT(check_finds_a_count_below_the_bias), \
    UNIT(check_finds_a_wrong_link_field), \
    UNIT(check_finds_all_and_returns_the_first), \
    UNIT(check_finds_a_dropped_reference_of_the_queue), \
    UNIT(check_finds_a_damaged_slot), \
    UNIT(check_finds_two_links_of_one_ob), \
    UNIT(a_forgotten_bias_is_seen_when_p_dies), \
    UNIT(a_forgotten_bias_is_seen_by_decref), \
    UNIT(a_forgotten_bias_keeps_p), \
    UNIT(a_forgotten_bias_is_seen_in_the_middle_of_a_collection), \
    UNIT(a_forgotten_bias_is_seen_by_heap_free), \
    UNIT(a_missing_type_is_seen_by_decref)

#ifdef RRC_DEBUG

/* ---- counts ---- */

/* The maker of the link did not put the bias in: seen by each collection. */
static void a_forgotten_bias_is_seen_in_collections(void)
{
    int major;

    for (major = 0; major < 2; major++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        size_t id = host_rooted(h, HOST_YOUNG);
        rrc_object *ob = ob_new(h, &Node);

        unit_context("%s", major ? "major" : "minor");
        check_int(rrc_create_link_pypy(h->heap, host_at(h, id), ob), RRC_OK);
        if (major)
            host_major(h);
        else
            host_minor(h);
        check(h->log_count > 0);
        check_logged(h, RRC_EREFCNT,
                     major ? "rrc_major_collection_trace" : "rrc_minor_collection_trace", ob, NULL);
        h->log_read = h->log_count;
        check_int(h->deallocs, 0);
        check_ptr(rrc_to_obj(h->heap, ob), host_at(h, id));
        REFCNT(ob) += BIAS;
        check_int(rrc_check(h->heap), RRC_OK);
        rrc_decref(h->heap, ob);
        host_close(h);
    }
}

/* Nothing traces the p of an O link: that its bias is missing is seen when the host says
   that p survives, or that it has died, by the function that asks. */
static void a_proxy_without_a_bias_is_seen_by_the_free_functions(void)
{
    static const char *const names[] = { "rrc_minor_collection_free", "rrc_major_collection_free" };
    int which, dies;

    for (which = 0; which < 2; which++)
        for (dies = 0; dies < 2; dies++) {
            host_options options = { .unchecked = 1 };
            host *h = host_open(&options);
            size_t id = host_rooted(h, HOST_YOUNG);
            rrc_object *ob = ob_new(h, &Node);

            unit_context("%s, dies %d", names[which], dies);
            check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_OK);
            if (dies)
                host_unroot(h, id);
            if (which == 0)
                host_minor(h);
            else
                host_major(h);
            check_logged(h, RRC_EREFCNT, names[which], ob, NULL);
            host_expect_silence(h);
            check_ptr(RRC_LINK(ob), host_at(h, id));
            if (RRC_LINK(ob) != NULL)
                REFCNT(ob) += BIAS;
            check_int(rrc_check(h->heap), RRC_OK);
            rrc_decref(h->heap, ob);
            host_close(h);
        }
}

/* C drops a reference that it does not have; the bias must not be eaten up. */
/* With tracked objects the trace call looks at all links, and sees it first. It keeps the p of no proxy. */
static void a_proxy_without_a_bias_is_seen_by_the_search(void)
{
    int tracked;

    for (tracked = 0; tracked < 2; tracked++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        size_t id = host_new(h, HOST_OLD);
        rrc_object *other = rrc_gc_new(h->heap, &Knot), *ob;

        unit_context("tracked %d", tracked);
        check_int(rrc_gc_track(h->heap, other), RRC_OK);
        ob = tracked ? other : ob_new(h, &Node);
        check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_OK);
        host_major(h);
        check_ptr(host_expect_log(h, RRC_EREFCNT, "rrc_major_collection_trace")->ob, ob);
        host_expect_silence(h);         /* the free function reports no type twice */
        check(!host_is_alive(h, id));
        check_ptr(RRC_LINK(ob), NULL);
        rrc_decref(h->heap, other);
        if (!tracked)
            rrc_decref(h->heap, ob);
        host_close(h);
    }
}

static void a_decref_too_many_on_a_linked_ob(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_given(h, P, id, FULL);

    rrc_decref(h->heap, ob);
    check_logged(h, RRC_EREFCNT, "rrc_decref", ob, NULL);
    h->log_read = h->log_count;
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    REFCNT(ob) = BIAS;
    host_close(h);
}

/* Whoever waits for rrc_run_pending has a reference of the header's. C drops one too many: it is reported then, and the
   object waits on. */
static void drop_too_many(host *h, rrc_object *ob)
{
    intptr_t count = REFCNT(ob);

    rrc_decref(h->heap, ob);
    check(strstr(host_expect_log(h, RRC_EREFCNT, "rrc_decref")->detail, "waits for rrc_run_pending") != NULL);
    check(REFCNT(ob) == count);
    rrc_incref(h->heap, ob);            /* what C takes it may drop */
    rrc_decref(h->heap, ob);
    host_expect_silence(h);
}

static void a_reference_too_many_is_dropped_while_an_ob_waits(void)
{
    int way;

    for (way = 0; way < 4; way++) {
        host *h = host_open(NULL);
        size_t id = host_new(h, HOST_OLD);
        rrc_object *ob = way == 3 ? knot_new(h, &KnotWeak, 1) : ob_new(h, &Node);

        unit_context("way %d", way);
        if (way == 2) {                 /* put off by a collection */
            host_major_begin(h);
            rrc_decref(h->heap, ob);
            host_major_end(h);
        } else {                        /* in the queue, linked again there, or garbage */
            ob_link(h, O, id, ob, FULL);
            rrc_decref(h->heap, ob);
            host_major(h);
            if (way == 1)
                ob_link(h, O, host_rooted(h, HOST_OLD), ob, FULL);
        }
        check_int(h->deallocs, 0);
        drop_too_many(h, ob);
        check_int(rrc_check(h->heap), RRC_OK);
        if (way == 0) {                 /* who takes it off the queue owns the reference */
            check_ptr(rrc_next_dead(h->heap), ob);
            rrc_decref(h->heap, ob);
        }
        rrc_run_pending(h->heap, 0);
        check_int(h->deallocs, way != 1);
        h->events[0] = '\0';
        host_close(h);
    }
}

/* Nor may C free it. */
static void an_ob_that_waits_is_not_freed(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_given(h, O, host_new(h, HOST_OLD), FULL);

    host_major(h);
    rrc_del(h->heap, ob);
    check_logged(h, RRC_EREFCNT, "rrc_del", ob, NULL);
    host_expect_silence(h);
    check_int(rrc_check(h->heap), RRC_OK);
    rrc_run_pending(h->heap, 0);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* A collection is no time to ask for the ob of a p: the answer is NULL, and a debug build says why. */
static void nothing_is_found_in_a_collection(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_given(h, P, id, FULL);
    rrc_gcref p = host_at(h, id);

    host_major_begin(h);
    check_ptr(rrc_from_obj(h->heap, p), NULL);
    check_ptr(host_expect_log(h, RRC_EPHASE, "rrc_from_obj")->p, p);
    host_major_end(h);
    host_expect_silence(h);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    host_expect_silence(h);
    host_close(h);
}

/* The trace hook does nothing. C holds an object with a P link, tracked or not, and others are tracked or not: it is
   reported, also if the collection is divided. */
static void a_trace_hook_that_does_nothing(void)
{
    int tracked, others, sliced;

    for (tracked = 0; tracked < 3; tracked++)
        for (others = 0; others < 2; others++)
            for (sliced = 0; sliced < 2; sliced++) {
                host_options options = { .unchecked = 1, .moving = HOST_STAY };
                host *h;
                size_t id;
                rrc_object *ob, *other;

                options.incremental = sliced;
                h = host_open(&options);
                id = host_new(h, HOST_OLD);
                other = others ? knot_new(h, &Knot, 2) : NULL;
                ob = tracked == 1 ? knot_new(h, &Knot, 1) : tracked == 2 ? rrc_gc_new(h->heap, &Knot) : ob_new(h, &Node);
                unit_context("tracked %d, others %d, sliced %d", tracked, others, sliced);
                ob_link(h, P, id, ob, FULL);
                ob_given(h, P, host_new(h, HOST_OLD), FULL);    /* dies, and has to */
                h->ignores = 1;
                if (sliced)
                    host_start(h);
                host_major(h);
                h->ignores = 0;
                check_ptr(host_expect_log(h, RRC_EHOOK, sliced ? "rrc_major_collection_trace"
                                                               : "rrc_major_collection_free")->ob, ob);
                check(strstr(h->log[0].detail, "trace must mark p") != NULL);
                host_expect_silence(h);
                rrc_run_pending(h->heap, 0);
                rrc_decref(h->heap, ob);
                if (other != NULL)
                    rrc_decref(h->heap, other);
                h->events[0] = '\0';
                host_close(h);
            }
}

/* ---- freed memory ---- */

/* Where memory stays readable after it is freed, a late use of it is seen. */
static void *keep_freed_memory(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    host *h = (host *)userdata;

    if (new_size > 0 || old_size != sizeof(node) + OB_PREFIX + OB_HEADS)
        return host_realloc(userdata, ptr, old_size, new_size);
    check(h->test == NULL);
    h->test = ptr;
    return NULL;
}

static void a_freed_ob_is_recognized(void)
{
    host *h = host_bare(NULL);
    rrc_desc desc;
    rrc_object *ob;
    size_t id;
    void *kept;
    intptr_t count;
    const host_log *log;
    const rrc_type *type;

    host_describe(h, &desc);
    desc.realloc = keep_freed_memory;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    ob = ob_new(h, &Node);
    id = host_rooted(h, HOST_YOUNG);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    kept = h->test;
    check(kept != NULL);
    check(REFCNT(ob) < 0 || REFCNT(ob) > BIAS);
    count = REFCNT(ob);

    rrc_decref(h->heap, ob);
    log = host_expect_log(h, RRC_EFREED, "rrc_decref");
    rrc_measure(h->heap, ob);
    check_ptr(log->ob, ob);
    check_str(log->type_name, HOST_FRONT ? "?" : "Node");
    check(REFCNT(ob) == count);
    rrc_incref(h->heap, ob);
    check_ptr(host_expect_log(h, RRC_EFREED, "rrc_incref")->ob, ob);
    check(REFCNT(ob) == count);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), ob), RRC_EFREED);
    host_expect_log(h, RRC_EFREED, "rrc_create_link_pypy");
    check_int(rrc_unlink(h->heap, ob), RRC_EFREED);
    host_expect_log(h, RRC_EFREED, "rrc_unlink");
    rrc_del(h->heap, ob);
    host_expect_log(h, RRC_EFREED, "rrc_del");
    /* It is known by its count, or by its type, whichever the allocator has spared. */
    type = RRC_TYPE(ob);
    RRC_TYPE(ob) = &Node;
    check_int(rrc_unlink(h->heap, ob), RRC_EFREED);
    check_str(host_expect_log(h, RRC_EFREED, "rrc_unlink")->type_name, "?");
    RRC_TYPE(ob) = type;
    if (!HOST_FRONT) {
        REFCNT(ob) = 1;
        check_int(rrc_unlink(h->heap, ob), RRC_EFREED);
        check_str(host_expect_log(h, RRC_EFREED, "rrc_unlink")->type_name, "Node");
    }
    check_int(rrc_check(h->heap), RRC_OK);
    host_expect_silence(h);
    check_int(h->deallocs, 1);
    check_int(host_stats(h).objects, 0);
    check_int(host_free_heap(h), 0);
    host_realloc(h, kept, sizeof(node) + OB_PREFIX + OB_HEADS, 0);
    host_end(h);
}

/* Somebody gave the memory of a linked object back behind the header's back. */
static void a_linked_ob_that_was_freed(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *linked = ob_given(h, P, id, FULL), *waiting = ob_given(h, O, host_new(h, HOST_OLD), FULL);
    node saved_linked, saved_waiting;

    host_major(h);
    saved_linked = *NODE(linked);
    saved_waiting = *NODE(waiting);
    memset(NODE(linked), 0xDD, sizeof(node));
    memset(NODE(waiting), 0xDD, sizeof(node));
    check_int(rrc_check(h->heap), RRC_EFREED);
    check_ptr(host_expect_log(h, RRC_EFREED, "rrc_check")->ob, linked);
    check_ptr(host_expect_log(h, RRC_EFREED, "rrc_check")->ob, waiting);
    host_expect_silence(h);
    *NODE(linked) = saved_linked;
    *NODE(waiting) = saved_waiting;
    host_close(h);
}

/* The same, found by a collection: it is told, and the object is left alone. */
static void a_collection_finds_a_linked_ob_that_was_freed(void)
{
    int dies;

    for (dies = 0; dies < 2; dies++) {
        host_options options = { .unchecked = 1 };
        host *h = host_open(&options);
        rrc_object *ob = ob_given(h, P, dies ? host_new(h, HOST_OLD) : host_rooted(h, HOST_OLD), FULL);
        node saved = *NODE(ob);
        char poison[sizeof(node)];

        unit_context("dies %d", dies);
        memset(poison, 0xDD, sizeof poison);
        if (dies)
            host_major_begin(h);
        memset(NODE(ob), 0xDD, sizeof(node));
        if (!dies)
            host_major_begin(h);
        *NODE(ob) = saved;
        if (dies)
            memset(NODE(ob), 0xDD, sizeof(node));
        host_major_end(h);
        check(h->log_count > 0);
        check_int(h->log[0].code, RRC_EFREED);
        h->log_read = h->log_count;
        check_int(h->deallocs, 0);
        if (dies) {                     /* the record is gone */
            check(memcmp(NODE(ob), poison, sizeof poison) == 0);
            *NODE(ob) = saved;
            RRC_LINK(ob) = NULL;
            REFCNT(ob) = 1;
            rrc_decref(h->heap, ob);
        }
        host_close(h);
    }
}

/* The same, of one that the search for cycles is to know, or knows. */
static void a_freed_ob_is_not_tracked(void)
{
    int tracked;

    for (tracked = 0; tracked < 2; tracked++) {
        host *h = host_open(NULL);
        rrc_object *ob = rrc_gc_new(h->heap, &Knot);
        knot saved;

        if (tracked)
            check_int(rrc_gc_track(h->heap, ob), RRC_OK);
        saved = *KNOT(ob);
        memset(KNOT(ob), 0xDD, sizeof(knot));
        check_int(rrc_gc_track(h->heap, ob), RRC_EFREED);
        check_ptr(host_expect_log(h, RRC_EFREED, "rrc_gc_track")->ob, ob);
        rrc_gc_untrack(h->heap, ob);            /* nothing: also a late tp_dealloc may call it */
        host_expect_silence(h);
        *KNOT(ob) = saved;
        check_int(rrc_gc_is_tracked(h->heap, ob), tracked);
        check_int(host_stats(h).tracked, tracked);
        check_int(rrc_check(h->heap), RRC_OK);
        rrc_decref(h->heap, ob);
        host_close(h);
    }
}

/* A light object is not C's to drop. */
static void a_decref_too_many_on_a_light_ob(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_given(h, O, host_rooted(h, HOST_OLD), LIGHT_OB);

    rrc_decref(h->heap, ob);
    check_ptr(host_expect_log(h, RRC_EREFCNT, "rrc_decref")->ob, ob);
    check_int(REFCNT(ob), LIGHT);
    host_close(h);
}

/* A P link without its bias, whose p dies. */
static void a_view_without_its_bias_dies(void)
{
    host_options options = { .unchecked = 1 };
    host *h = host_open(&options);
    size_t id = host_new(h, HOST_OLD);
    rrc_object *ob = ob_given(h, P, id, FULL);

    host_major_begin(h);                /* not held: p is not traced */
    REFCNT(ob) = 1;
    host_major_end(h);
    check_logged(h, RRC_EREFCNT, "rrc_major_collection_free", ob, NULL);
    h->log_read = h->log_count;
    check_ptr(RRC_LINK(ob), NULL);
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* A count that is 0 or less, and arguments that are NULL. */
static void bad_counts_and_no_objects(void)
{
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    intptr_t count;

    for (count = -1; count <= 0; count++) {
        REFCNT(ob) = count;
        rrc_decref(h->heap, ob);
        check_logged(h, RRC_EREFCNT, "rrc_decref", ob, NULL);
        check_int(REFCNT(ob), count);
        rrc_incref(h->heap, ob);
        check_logged(h, RRC_EREFCNT, "rrc_incref", ob, NULL);
        check_int(REFCNT(ob), count);
    }
    REFCNT(ob) = 1;
    rrc_incref(h->heap, NULL);
    check_str(host_expect_log(h, RRC_ENULL, "rrc_incref")->detail, "ob is NULL");
    rrc_decref(h->heap, NULL);
    host_expect_log(h, RRC_ENULL, "rrc_decref");
    rrc_decref(h->heap, ob);
    check_int(h->deallocs, 1);
    host_close(h);
}

/* ---- hooks that contradict each other ---- */

#if !HOST_MACROS

static rrc_gcref nothing_survives(void *userdata, rrc_gcref p)
{
    (void)userdata;
    (void)p;
    return NULL;
}

static rrc_gcref all_at_one_place(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;

    return host_survivor(userdata, p) == NULL ? NULL : (rrc_gcref)h->test;
}

static host *host_with_survivor(rrc_gcref (*survivor)(void *, rrc_gcref))
{
    static const host_options options = {
        .unchecked = 1, .moving = HOST_STAY, .without_generations = 1
    };
    host *h = host_bare(&options);
    rrc_desc desc;

    host_describe(h, &desc);
    desc.survivor = survivor;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    return h;
}

static void a_traced_p_that_does_not_survive(void)
{
    host *h = host_with_survivor(nothing_survives);
    size_t id = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_shared(h, P, id, FULL);

    host_major(h);
    check_logged(h, RRC_EHOOK, "rrc_major_collection_free", ob, host_at(h, id));
    host_expect_silence(h);
    check_ptr(RRC_LINK(ob), NULL);
    check_int(REFCNT(ob), 1);
    rrc_decref(h->heap, ob);
    check_int(rrc_heap_free(h->heap), 0);
    host_end(h);
}

#if HOST_MOVES

/* Two p's at one address. */
static void a_contradiction_about_moves(void)
{
    host *h = host_with_survivor(all_at_one_place);
    size_t id = host_rooted(h, HOST_OLD), other = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_given(h, P, id, FULL), *second = ob_given(h, P, other, FULL);

    h->test = host_at(h, id);
    host_major(h);
    if (HOST_SLOT) {
        /* Only rrc_check can tell, from the slot. */
        check_int(rrc_check(h->heap), RRC_EHOOK);
        check_ptr(host_expect_log(h, RRC_EHOOK, "rrc_check")->ob, second);
    } else {
        rrc_object *named = host_expect_log(h, RRC_EHOOK, "rrc_major_collection_free")->ob;

        check(named == ob || named == second);
        h->log_read = h->log_count;
        check_int(rrc_check(h->heap), RRC_EPLINKED);
        host_expect_log(h, RRC_EPLINKED, "rrc_check");
    }
    h->log_read = h->log_count;
    rrc_heap_free(h->heap);
    h->log_read = h->log_count;
    host_end(h);
}

#else

/* A new address where nothing moves. */
static void a_contradiction_about_moves(void)
{
    host *h = host_with_survivor(all_at_one_place);
    size_t id = host_rooted(h, HOST_OLD), other = host_new(h, HOST_OLD);
    rrc_object *ob = ob_given(h, P, id, FULL);

    h->test = host_at(h, other);
    host_major(h);
    check_logged(h, RRC_EHOOK, "rrc_major_collection_free", ob, host_at(h, id));
    host_expect_silence(h);
    check_ptr(RRC_LINK(ob), host_at(h, id));
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    host_close(h);
}

#endif

/* An odd address, which is no p's: it is named, and so is the object. */
static rrc_gcref survives_at_an_odd_address(void *userdata, rrc_gcref p)
{
    host *h = (host *)userdata;
    uintptr_t address = (uintptr_t)host_survivor(h, (rrc_gcref)((uintptr_t)p & ~(uintptr_t)1));

    return (rrc_gcref)(address | (h->test != NULL));
}

static void an_odd_address_is_named(void)
{
    host *h = host_with_survivor(survives_at_an_odd_address);
    size_t id = host_rooted(h, HOST_OLD);
    rrc_object *ob = ob_given(h, O, id, FULL);

    h->test = h;
    host_major(h);
    check_logged(h, RRC_ETAGGED, "rrc_major_collection_free", ob, (char *)host_at(h, id) + 1);
    if (!HOST_MOVES)
        host_expect_log(h, RRC_EHOOK, NULL);
    host_expect_silence(h);
    h->test = NULL;
    host_major(h);                      /* the host tells the right one again */
    host_expect_silence(h);
    check_ptr(RRC_LINK(ob), host_at(h, id));
    host_close(h);
}

#define HOOK_TESTS UNIT(a_traced_p_that_does_not_survive), UNIT(a_contradiction_about_moves), \
                   UNIT(an_odd_address_is_named),
#else
#define HOOK_TESTS
#endif

static void misuse_the_heap(host *h)
{
    check_int(rrc_minor_collection_trace(h->heap), RRC_EPHASE);
}

/* What the log hook does wrong is told to it by the code alone: else it would never end. */
static void the_log_hook_is_not_called_inside_itself(void)
{
    host *h = host_open(NULL);
    int i;

    for (i = 0; i < 2; i++) {
        h->on_log = i == 0 ? misuse_the_heap : NULL;
        check_int(rrc_major_collection_free(h->heap), RRC_EPHASE);
        host_expect_log(h, RRC_EPHASE, "rrc_major_collection_free");
        host_expect_silence(h);
    }
    host_close(h);
}

/* A host that changes its mind about youth without a collection. */
static void check_finds_a_change_of_generation(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *ob = ob_given(h, P, id, FULL);

    host_promote_by_hand(h, id);
    check_int(rrc_check(h->heap), RRC_EHOOK);
    check_logged(h, RRC_EHOOK, "rrc_check", ob, host_at(h, id));
    host_major(h);
    host_close(h);
}

UNIT_GROUP(debugging,
    CHECK_TESTS,
    UNIT(a_freed_ob_is_not_tracked),
    HOOK_TESTS
    UNIT(the_log_hook_is_not_called_inside_itself),
    UNIT(a_forgotten_bias_is_seen_in_collections), UNIT(a_proxy_without_a_bias_is_seen_by_the_free_functions),
    UNIT(a_proxy_without_a_bias_is_seen_by_the_search),
    UNIT(a_decref_too_many_on_a_linked_ob),
    UNIT(a_reference_too_many_is_dropped_while_an_ob_waits), UNIT(an_ob_that_waits_is_not_freed),
    UNIT(nothing_is_found_in_a_collection), UNIT(a_trace_hook_that_does_nothing),
    UNIT(a_freed_ob_is_recognized),
    UNIT(a_linked_ob_that_was_freed),
    UNIT(a_collection_finds_a_linked_ob_that_was_freed),
    UNIT(a_decref_too_many_on_a_light_ob),
    UNIT(a_view_without_its_bias_dies),
    UNIT(bad_counts_and_no_objects),
    UNIT(check_finds_a_change_of_generation));

#else

UNIT_GROUP(debugging, CHECK_TESTS);

#endif
