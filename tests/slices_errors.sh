#!/bin/sh
# slices_errors.sh [NAME...] - controls that must fail: the header without one of the rules of
# collections in slices, or a host that breaks one. The random programs of slices.c, or its small graphs, must notice it.
# All of them, or some.
. tests/lib.sh
out=$BUILD/tests/slices_errors
mkdir -p "$out/changed" || exit 1
chosen=" $* "
if have tcc; then quick=tcc; else quick="$CC -O0"; fi
# Limited in processor time: a machine that has more to do is no mistake that was noticed.
limited() { (ulimit -t 120; exec "$@"); }

# build FOLDER KIND: with FOLDER/rawrefcount.h
build() {
    case $2 in slot) defines='-DHOST_SLOT=1 -DRRC_DEBUG' ;; unmarked) defines=-DREADS_UNMARKED ;; *) defines= ;; esac
    # shellcheck disable=SC2086
    $quick -std=c99 -w -DUNIT_CMOCKA=0 -DRRC_DEALLOC_DEPTH=2 $defines -I"$1" -Itests tests/slices.c tests/unit.c -o "$out/slices-$2" 2>"$out/log"
}

# notices KIND: which run has failed goes to the variable `by`.
notices() {
    case $1 in slot) seeds=3000 ;; *) seeds=10000 ;; esac       # (debug builds are slower)
    limited "$out/slices-$1" random 1 $seeds >"$out/log" 2>&1 || { by=random; return 0; }
    limited "$out/slices-$1" small 5 >"$out/log" 2>&1 || { by=small; return 0; }
    return 1
}

is_chosen() { case $chosen in '  ' | *" $1 "*) ;; *) return 1 ;; esac; }

# must_fail NAME FOLDER KIND
must_fail() {
    if ! build "$2" "$3"; then
        fail "$1: does not compile"
        head -n 5 "$out/log"
    elif notices "$3"; then
        pass "$1 ($by: $(tr -d '\0' <"$out/log" | sed -n 's/.*repeat with: slices \([^]]*\)\].*/\1/p' | head -n 1))"
    else
        fail "$1: no run notices"
    fi
}

# control NAME KIND SED_SCRIPT
control() {
    is_chosen "$1" || return
    if ! sed "$3" "$out/rawrefcount.h" >"$out/changed/rawrefcount.h"; then
        fail "$1: sed does not understand: $3"
    elif cmp -s "$out/rawrefcount.h" "$out/changed/rawrefcount.h"; then
        fail "$1: nothing is changed: $3"
    else
        must_fail "$1" "$out/changed" "$2"
    fi
}

# in_function NAME COMMANDS: sed commands for the text of one function only.
in_function() { printf '/^[a-zA-Z].*[ *]%s(/,/^}/{\n%s\n}' "$1" "$2"; }
# no_event KIND FUNCTION: the function reports no event of this kind.
no_event() { in_function "$2" "s/rrci_event(heap, ob, RRCI_EVENT_$1);/;/"; }
# no_change FUNCTION: it notes none.
no_change() { in_function "$1" 's/rrci_note_change(heap, ob);/;/'; }

# With few queues of gray objects there is more than one object in a queue.
sed 's/^#define RRCI_STRIPES .*/#define RRCI_STRIPES ((size_t)2)/' rawrefcount.h >"$out/rawrefcount.h"
if cmp -s rawrefcount.h "$out/rawrefcount.h"; then fail "RRCI_STRIPES is not found"; finish; fi
build "$out" dict || { fail "slices.c does not compile"; cat "$out/log"; finish; }
if notices dict; then fail "the header as it is does not pass"; tail -n 3 "$out/log"; finish; fi

# What the host does: with a snapshot barrier it marks what the program reads.
if is_chosen reads_are_not_marked; then must_fail reads_are_not_marked "$out" unmarked; fi

# What the mutator does.
control increfs_are_not_seen dict "$(in_function rrc_incref 's/if (RRC_REFCNT(ob) < 0)/if (0)/')"
control touches_are_not_seen dict "$(in_function rrc_touch 's/if (RRC_REFCNT(ob) < 0)/if (0)/')"
control a_link_does_not_make_alive dict "$(no_change rrci_make_link)"
control a_link_does_not_trace_p dict "$(in_function rrci_make_link 's/rrci_trace_p(heap, p);/;/')"
control tracking_does_not_make_alive dict "$(no_change rrc_gc_track)"
control the_dying_move_what_they_own dict "$(no_event LEAVING rrci_finalize_dying)
$(no_event LEAVING rrci_untrack_dying)"
control a_finalizer_starts dict "$(no_event LEAVING rrci_untrack_dying)"
control untracking_moves_what_is_owned dict "$(no_event LEAVING rrci_untrack_alive)"
control the_gray_are_untracked dict "$(no_event HELD rrci_untrack_alive)"
control the_unlinked_stay_white dict "$(no_change rrci_bury)"
control the_returned_stay_white dict "$(in_function rrci_gc_return 's/rrci_get_hold(heap, ob);/;/')"
control p_of_what_is_held_is_not_traced dict "$(in_function rrci_get_hold 's/rrci_trace_p(heap, RRC_LINK(ob));/;/')"

# The search.
control nothing_is_watched dict "$(in_function rrci_see 's/rrci_watch(ob);/;/')"
control unheld_links_are_not_watched dict "$(in_function rrci_root_link 's/rrci_watch(ob);/;/')"
control entries_move dict "$(in_function rrci_gc_take_out 's/kind == RRCI_TRACKED && rrci_is_searching(&heap->machine)/0/')"
control gray_entries_are_lost dict "$(in_function rrci_gc_take_out 's/rrci_hole(head->is.refs)/rrci_hole(0)/')"
control holes_at_the_end_stay dict "$(in_function rrci_gc_take_out 's/for (; heap->tracked.holes > 0 /for (; 0 /')"
control the_alive_are_not_gray dict "$(in_function rrci_make_alive 's/rrci_push_gray(heap, &heap->machine.gray, ob);/;/')"
control reports_are_ignored dict "$(in_function rrci_marked_ob 's/rrci_make_alive(heap, ob, heap->machine.keeping);/;/')"
control what_is_tracked_meanwhile_is_explained dict "$(in_function rrci_single 's/heap->machine.tracked_first/heap->tracked.list[RRCI_TRACKED].count/g')
$(no_change rrc_gc_track)"
control counts_are_read_late dict "$(in_function rrci_unexplained 's/? refs - 1/? 2 * (rrc_refcnt(ob) - (rrc_refcnt(ob) - (refs - 1) \/ 2 > 0))/')"
control a_search_given_up_leaves_scratch_words dict "$(in_function rrci_root_link 's/heap->machine.searched ? rrci_unexplained(search, ob) : rrc_refcnt(ob)/rrci_unexplained(search, ob)/')"
control a_pause_leaves_scratch_words dict "$(in_function rrci_pause_slices '/rrci_reset_scratch/d')"
control roots_of_some_links_only dict "$(in_function rrci_single 's/ && !rrci_next_links(heap)//')"

# Wrappers.
control wrappers_are_not_weighed_again dict "$(in_function rrci_single 's/ && !rrci_weigh_wrappers(search)//')"
control links_of_wrappers_are_not_weighed dict "$(in_function rrci_weigh_wrappers 's/found |= rrci_weigh_links(search);//')"
control foreign_references_do_not_hold_garbage dict "$(in_function rrci_weigh_waiting 's/rrci_absolve_all(heap, ob);/;/')"
control foreign_references_are_no_roots dict "$(in_function rrci_trace_held_wrappers 's/rrci_outside(heap, link->ob) > 0/0/')"

# After the verdict.
control the_young_dead_stay_linked dict "$(in_function rrci_work_slice 's/rrci_dissolve_young(heap, function);/;/')"
control garbage_is_cleared_too_early dict "$(in_function rrci_do_garbage 's/ || rrci_is_sweeping(heap)//')"
control late_garbage_is_queued dict "$(in_function rrci_bury 's/rrci_in_slices(heap) && rrci_is_late(heap, ob)/0/')"
control the_young_are_dissolved_too_early dict "$(in_function rrci_work_slice 's/heap->machine.stage == RRCI_ASIDE/heap->machine.stage > RRCI_VERDICT/')"
control finalizers_run_too_late dict "$(in_function rrci_pronounce_in_slices 's/rrci_begin_keeping(heap, RRCI_FINALIZABLE, RRCI_GC_KEPT)/rrci_begin_keeping(heap, RRCI_OWNED, RRCI_GC_OWNED)/')"
control the_dead_are_told dict "$(in_function rrci_to_obj_otherwise 's/q = RRC_HOST_SURVIVOR(heap, RRC_LINK(ob));/q = RRC_LINK(ob);/')"
control some_links_are_not_swept dict "$(in_function rrc_major_collection_sweep 's/if (!rrci_next_links(heap)) {/if (1) {/')"
control nothing_is_set_aside dict "$(in_function rrci_aside_slice 's/rrci_aside_part(heap, 1, max);/(heap->machine.cursor = 0);/')"
finish
