/* Units built with different settings, and private copies of the header. */

#include "objects.h"
#include "other_units.h"

#include <stdio.h>
#include <string.h>

static void a_unit_with_other_settings_gets_no_heap(void)
{
    host *h = host_bare(NULL);
    rrc_desc desc;
    const host_log *log;

    host_describe(h, &desc);
    check_ptr(other_debug_heap_new(&desc), NULL);
    log = host_expect_log(h, RRC_ECONFIG, "rrc_heap_new");
    check(strstr(log->text, "RRC_DEBUG 0") != NULL);
    check(strstr(log->text, "RRC_DEBUG 1") != NULL);
    check_ptr(other_layout_heap_new(&desc), NULL);
    log = host_expect_log(h, RRC_ECONFIG, "rrc_heap_new");
    check(strstr(log->text, "RRC_REFCNT") != NULL);
    check_int(h->calls.allocate, 0);
    host_end(h);
}

static void a_unit_can_be_compared_with_a_heap(void)
{
    host *h = host_open(NULL);

    check_int(rrc_check_config(h->heap), RRC_OK);
    host_expect_silence(h);
    check_int(other_debug_check_config(h->heap), RRC_ECONFIG);
    host_expect_log(h, RRC_ECONFIG, NULL);
    check_int(other_layout_check_config(h->heap), RRC_ECONFIG);
    host_expect_log(h, RRC_ECONFIG, NULL);
    host_close(h);
}

static void the_version_is_the_texts(void)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", RRC_VERSION_MAJOR, RRC_VERSION_MINOR, RRC_VERSION_PATCH);
    check_str(rrc_version(), text);
    check_str(RRC_VERSION, text);
}

static void private_copies_live_side_by_side(void)
{
    check_int(static_plain_play(), 0);
    check_int(static_adapted_play(), 0);
    check_int(static_plain_play(), 0);
    check_str((const char *)static_plain_address(), RRC_VERSION);
    check_str((const char *)static_adapted_address(), RRC_VERSION);
}

static void the_bands_of_counts_are_in_order(void)
{
    check(RRC_REFCNT_FROM_PYPY == INTPTR_MAX / 4 + 1);
    check(RRC_REFCNT_FROM_PYPY_LIGHT == RRC_REFCNT_FROM_PYPY + (INTPTR_MAX / 2 + 1));
    check(RRC_REFCNT_IMMORTAL == RRC_REFCNT_FROM_PYPY_LIGHT + (INTPTR_MAX / 8 + 1));
    check(RRC_REFCNT_IMMORTAL > RRC_REFCNT_FROM_PYPY_LIGHT);
    check(RRC_REFCNT_IMMORTAL + INTPTR_MAX / 16 < INTPTR_MAX);
}

UNIT_GROUP(settings,
UNIT(a_unit_with_other_settings_gets_no_heap),
    UNIT(a_unit_can_be_compared_with_a_heap),
    UNIT(the_version_is_the_texts),
    UNIT(private_copies_live_side_by_side),
    UNIT(the_bands_of_counts_are_in_order));
