/* Mistakes that are cheap to see: their codes, and what the log says of them. */

#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void address_text(char *text, size_t size, const void *address)
{
    snprintf(text, size, "%p", address);
}

/* An item names all there is to know, and its text holds all of it. */
static void check_item(const host_log *log, rrc_object *ob, rrc_gcref p, const char *type_name)
{
    char address[32];

    check_ptr(log->ob, ob);
    check_ptr(log->p, p);
    check_str(log->type_name, type_name);
    check(strstr(log->text, log->name) != NULL);
    check(strstr(log->text, log->function) != NULL);
    check(strstr(log->text, log->message) != NULL);
    check((strstr(log->text, "(type ") != NULL) == (ob != NULL));
    check(p != NULL || (strstr(log->text, ", p ") == NULL && strstr(log->text, "(p ") == NULL));
    if (ob != NULL) {
        check(strstr(log->text, type_name) != NULL);
        address_text(address, sizeof address, ob);
        check(strstr(log->text, address) != NULL);
    }
    if (p != NULL) {
        address_text(address, sizeof address, p);
        check(strstr(log->text, address) != NULL);
    }
}

static void links_that_cannot_be(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG), other = host_rooted(h, HOST_OLD);
    rrc_object *linked = ob_given(h, P, id, FULL), *free_ob = ob_new(h, &Final);
    rrc_gcref p = host_at(h, id), q = host_at(h, other);
    const host_log *log;

    check_int(rrc_create_link_pypy(h->heap, q, linked), RRC_ELINKED);
    check_item(host_expect_log(h, RRC_ELINKED, "rrc_create_link_pypy"), linked, q, "Node");
    check_int(rrc_create_link_pyobj(h->heap, q, linked), RRC_ELINKED);
    check_item(host_expect_log(h, RRC_ELINKED, "rrc_create_link_pyobj"), linked, q, "Node");
    check_int(rrc_create_link_pypy(h->heap, p, linked), RRC_ELINKED);
    host_expect_log(h, RRC_ELINKED, "rrc_create_link_pypy");
    check_int(rrc_create_link_pypy(h->heap, p, free_ob), RRC_EPLINKED);
    check_item(host_expect_log(h, RRC_EPLINKED, "rrc_create_link_pypy"), free_ob, p, "Final");
    check_int(rrc_create_link_pypy(h->heap, NULL, free_ob), RRC_ENULL);
    log = host_expect_log(h, RRC_ENULL, "rrc_create_link_pypy");
    check_item(log, free_ob, NULL, "Final");
    check_str(log->detail, "p is NULL");
    check_int(rrc_create_link_pyobj(h->heap, q, NULL), RRC_ENULL);
    log = host_expect_log(h, RRC_ENULL, "rrc_create_link_pyobj");
    check_item(log, NULL, q, "?");
    check_str(log->detail, "ob is NULL");
    check_int(rrc_create_link_pypy(h->heap, (char *)q + 1, free_ob), RRC_ETAGGED);
    log = host_expect_log(h, RRC_ETAGGED, "rrc_create_link_pypy");
    check_item(log, free_ob, (char *)q + 1, "Final");
    check(strstr(log->message, "tag bits") != NULL);
    check_int(rrc_create_link_pyobj(h->heap, (char *)q + 1, free_ob), RRC_ETAGGED);
    host_expect_log(h, RRC_ETAGGED, "rrc_create_link_pyobj");
    check_ptr(rrc_to_obj(h->heap, free_ob), NULL);
    check_int(rrc_unlink(h->heap, free_ob), RRC_EUNLINKED);
    check_item(host_expect_log(h, RRC_EUNLINKED, "rrc_unlink"), free_ob, NULL, "Final");
    check_int(rrc_unlink(h->heap, NULL), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_unlink");

    check_stats(h, 1, 0, 0, 0, 0);
    check_ptr(rrc_from_obj(h->heap, p), linked);
    check_ptr(rrc_from_obj(h->heap, q), NULL);
    check_ptr(RRC_LINK(free_ob), NULL);
    check_int(REFCNT(free_ob), 1);
    rrc_decref(h->heap, free_ob);
    host_close(h);
}

/* Both generations are looked at for a second P link. */
static void a_second_p_link_after_each_collection(void)
{
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_YOUNG);
    rrc_object *second = ob_new(h, &Node);
    int i;

    ob_given(h, P, id, FULL);
    for (i = 0; i < 3; i++) {
        check_int(rrc_create_link_pypy(h->heap, host_at(h, id), second), RRC_EPLINKED);
        host_expect_log(h, RRC_EPLINKED, NULL);
        if (i == 0)
            host_minor(h);
        else
            host_major(h);
    }
    rrc_decref(h->heap, second);
    host_close(h);
}

/* Without a heap there is no log hook either. */
static void no_heap_at_all(void)
{
    rrc_stats stats;
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &Node);
    char p;

    check_int(rrc_create_link_pypy(NULL, &p, ob), RRC_ENULL);
    check_int(rrc_create_link_pyobj(NULL, &p, ob), RRC_ENULL);
    check_int(rrc_unlink(NULL, ob), RRC_ENULL);
    check_int(rrc_minor_collection_trace(NULL), RRC_ENULL);
    check_int(rrc_minor_collection_free(NULL), RRC_ENULL);
    check_int(rrc_major_collection_trace(NULL), RRC_ENULL);
    check_int(rrc_major_collection_free(NULL), RRC_ENULL);
    check_int(rrc_check(NULL), RRC_ENULL);
    check_int(rrc_get_stats(NULL, &stats), RRC_ENULL);
    check_int(rrc_get_stats(h->heap, NULL), RRC_ENULL);
    host_expect_log(h, RRC_ENULL, "rrc_get_stats");
    check_int(rrc_check_config(NULL), RRC_ENULL);
    check_ptr(rrc_from_obj(NULL, &p), NULL);
    check_ptr(rrc_to_obj(NULL, NULL), NULL);
    check_ptr(rrc_next_dead(NULL), NULL);
    check_int(rrc_run_pending(NULL, 0), 0);
    check_ptr(rrc_new(NULL, &Node), NULL);
    check_ptr(rrc_new_var(NULL, &Node, 0), NULL);
    check_ptr(rrc_userdata(NULL), NULL);
    check_int(rrc_heap_free(NULL), 0);
    rrc_invoke_callback(NULL);
    rrc_mark_deallocating(NULL, &p, ob);
    rrc_del(NULL, NULL);
    check_ptr(RRC_LINK(ob), NULL);
    rrc_decref(h->heap, ob);
    host_close(h);
}

static void descriptors_that_lack_a_hook(void)
{
    host *h = host_bare(NULL);
    rrc_desc desc;

    check_ptr(rrc_heap_new(NULL), NULL);
#if !HOST_MACROS
    host_describe(h, &desc);
    desc.trace = NULL;
    check_ptr(rrc_heap_new(&desc), NULL);
    host_expect_log(h, RRC_EDESC, "rrc_heap_new");
    host_describe(h, &desc);
    desc.survivor = NULL;
    check_ptr(rrc_heap_new(&desc), NULL);
    host_expect_log(h, RRC_EDESC, "rrc_heap_new");
#else
    /* What macros fix need not be in the descriptor. */
    memset(&desc, 0, sizeof desc);
    desc.userdata = h;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    check_int(rrc_heap_free(h->heap), 0);
#endif
    check_int(h->calls.allocate, 0);
    host_end(h);
}

/* The smallest host: trace and survivor are enough. */
static void two_hooks_are_enough(void)
{
    host_options options = { .eager = 1, .without_generations = 1 };
    host *h = host_bare(&options);
    rrc_desc desc;
    size_t id, dead;
    rrc_object *ob;

    host_describe(h, &desc);
    desc.dealloc_trigger = NULL;
    desc.realloc = NULL;
    desc.log = NULL;
    desc.slot = HOST_SLOT ? desc.slot : NULL;
    h->heap = rrc_heap_new(&desc);
    check(h->heap != NULL);
    id = host_rooted(h, HOST_OLD);
    dead = host_new(h, HOST_OLD);
    ob = ob_given(h, P, id, FULL);
    ob_given(h, O, dead, FULL);
    host_minor(h);
    host_major(h);
    rrc_invoke_callback(h->heap);
    check_int(rrc_run_pending(h->heap, 0), 1);
    check_ptr(rrc_from_obj(h->heap, host_at(h, id)), ob);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_ELINKED);
    host_expect_silence(h);
    host_close(h);
}

static void each_code_has_a_name_and_a_message(void)
{
#define COUNT_CODE(code, message) + 1
    static const int codes = 0 RRC_ERRORS(COUNT_CODE);
#undef COUNT_CODE
    int i, j;

    check_int(RRC_OK, 0);
    check_str(rrc_error_name(RRC_OK), "RRC_OK");
    check_str(rrc_error_name(RRC_ENOMEM), "RRC_ENOMEM");
    check_str(rrc_error_name(RRC_ELIMIT), "RRC_ELIMIT");
    for (i = 0; i < codes; i++) {
        check(strncmp(rrc_error_name(i), "RRC_", 4) == 0);
        check(strlen(rrc_error_message(i)) > 5);
        check(strcmp(rrc_error_message(i), rrc_error_message(-1)) != 0);
        for (j = 0; j < i; j++) {
            check(strcmp(rrc_error_name(i), rrc_error_name(j)) != 0);
            check(strcmp(rrc_error_message(i), rrc_error_message(j)) != 0);
        }
    }
    for (i = -3; i < 3; i++) {
        int odd = i < 0 ? i : codes + i;

        check(strncmp(rrc_error_name(odd), "RRC_E", 5) != 0);
        check(strlen(rrc_error_message(odd)) > 5);
    }
    check(rrc_error_name(INT32_MIN) != NULL);
    check(rrc_error_message(INT32_MAX) != NULL);
}

static void markers_of_several_objects(void)
{
    host *h = host_open(NULL);
    static short words[3];
    rrc_object *a = ob_new(h, &Node), *b = ob_new(h, &Node), *unbiased = ob_new(h, &Node);
    size_t id = host_rooted(h, HOST_OLD);

    rrc_mark_deallocating(h->heap, &words[0], a);
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), a), RRC_ELINKED);
    check(strstr(host_expect_log(h, RRC_ELINKED, "rrc_create_link_pypy")->detail, "marker") != NULL);
    rrc_mark_deallocating(h->heap, &words[0], b);
    rrc_mark_deallocating(h->heap, NULL, b);            /* that of the other one is as it was */
    check_int(rrc_create_link_pypy(h->heap, host_at(h, id), a), RRC_ELINKED);
    check(strstr(host_expect_log(h, RRC_ELINKED, "rrc_create_link_pypy")->detail, "marker") != NULL);
    rrc_mark_deallocating(h->heap, &words[1], b);
    rrc_mark_deallocating(h->heap, &words[2], a);       /* it has another one, which is not the last */
    check_ptr(rrc_to_obj(h->heap, a), &words[2]);
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), unbiased), RRC_OK);
    rrc_mark_deallocating(h->heap, &words[0], unbiased);
    host_expect_log(h, RRC_ELINKED, "rrc_mark_deallocating");
    check_ptr(rrc_to_obj(h->heap, unbiased), host_at(h, id));
    REFCNT(unbiased) += BIAS;
    rrc_decref(h->heap, unbiased);
    rrc_decref(h->heap, b);
    rrc_decref(h->heap, a);
    check_int(h->deallocs, 2);
    host_close(h);
}

/* A type without a name, and an object without a type. */
static void objects_without_a_name(void)
{
    static const rrc_type nameless = { .tp_basicsize = sizeof(node) };
    host *h = host_open(NULL);
    rrc_object *ob = ob_new(h, &nameless);

    check_int(rrc_unlink(h->heap, ob), RRC_EUNLINKED);
    check_str(host_expect_log(h, RRC_EUNLINKED, "rrc_unlink")->type_name, "?");
    RRC_TYPE(ob) = NULL;
    check_int(rrc_unlink(h->heap, ob), RRC_EUNLINKED);
    check_str(host_expect_log(h, RRC_EUNLINKED, "rrc_unlink")->type_name, "?");
    check_int(rrc_gc_is_tracked(h->heap, ob), 0);
    check_int(rrc_gc_is_finalized(h->heap, NULL), 0);
    rrc_del(h->heap, ob);
    host_expect_log(h, RRC_ETYPE, "rrc_del");
    RRC_TYPE(ob) = &nameless;
    rrc_decref(h->heap, ob);
    host_close(h);
}

static void null_heaps_and_types(void)
{
    host *h = host_open(NULL);

    check_int(rrc_gc_track(NULL, NULL), RRC_ENULL);
    check_ptr(rrc_gc_resize(NULL, NULL, 1), NULL);
    check_ptr(rrc_gc_new_var(h->heap, NULL, 1), NULL);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_new_var");
    check_int(rrc_gc_disable(NULL), 0);
    rrc_marked(h->heap, NULL);
    rrc_del(NULL, NULL);
    if (HOST_DEBUG) {
        rrc_incref(NULL, NULL);         /* to stderr */
        rrc_decref(NULL, NULL);
    }
    host_close(h);
}

static void free_own_memory(rrc_heap *heap, rrc_object *self)
{
    (void)heap;
    free((char *)self - OB_PREFIX);
}

/* The type says that rrc_gc_new made its objects, and that the library did. There is no head in front of them. */
static void tracked_types_without_a_size(void)
{
    static const rrc_type Contrary = { .tp_name = "Contrary", .tp_flags = RRC_TPFLAGS_HAVE_GC,
                                       .tp_dealloc = free_own_memory };
    host *h = host_open(NULL);
    size_t id = host_rooted(h, HOST_OLD);
    char *memory = calloc(1, OB_PREFIX + sizeof(node));
    rrc_object *ob = (rrc_object *)(void *)(memory + OB_PREFIX);

    REFCNT(ob) = 1;
    RRC_TYPE(ob) = &Contrary;
    check_int(rrc_link(h->heap, host_at(h, id), ob, RRC_P), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_link");
    check_int(rrc_create_link_pyobj(h->heap, host_at(h, id), ob), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_create_link_pyobj");
    check_ptr(RRC_LINK(ob), NULL);
    check_int(REFCNT(ob), 1);
    check_int(rrc_gc_track(h->heap, ob), RRC_ETYPE);
    host_expect_log(h, RRC_ETYPE, "rrc_gc_track");
    check(!rrc_gc_is_tracked(h->heap, ob) && !rrc_gc_is_finalized(h->heap, ob));
    rrc_gc_untrack(h->heap, ob);
    rrc_decref(h->heap, ob);
    host_close(h);
}

UNIT_GROUP(misuse,
    UNIT(tracked_types_without_a_size),
    UNIT(markers_of_several_objects), UNIT(objects_without_a_name), UNIT(null_heaps_and_types),
    UNIT(links_that_cannot_be),
    UNIT(a_second_p_link_after_each_collection),
    UNIT(no_heap_at_all),
    UNIT(descriptors_that_lack_a_hook),
    UNIT(two_hooks_are_enough),
    UNIT(each_code_has_a_name_and_a_message));
