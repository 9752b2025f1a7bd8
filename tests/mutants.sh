#!/bin/sh
# mutants.sh [links|cycles|mirror] [NAME...] - controls that must fail: the header with one
# mistake put in, for which the tests must find it; all, or those of one part, or some. A
# mutation that changes nothing, or does not compile, is a failure too: it has lost its
# place in the text.
. tests/lib.sh
part=all kinds='dict slot mirror watched'
case ${1:-} in
links | cycles) part=$1 kinds='dict slot' ;;
mirror) part=$1 kinds='mirror watched' ;;
esac
[ "$part" = all ] || shift
objects=$BUILD/tests/attempt
out=$BUILD/tests/mutants-$part
mkdir -p "$out/mutant" || exit 1
chosen=" $* "

# shellcheck disable=SC2046
${MAKE:-make} -s $(printf "$objects/%s.passed " $kinds) || { fail "the header as it is does not pass"; finish; }

topic=links

# mutant NAME KIND SED_SCRIPT
mutant() {
    case $chosen in '  ') ;; *" $1 "*) ;; *) return ;; esac
    case $part in all | $topic) ;; *) return ;; esac
    if ! sed "$3" rawrefcount.h >"$out/mutant/rawrefcount.h"; then
        fail "$1: sed does not understand: $3"
        return
    fi
    if cmp -s rawrefcount.h "$out/mutant/rawrefcount.h"; then
        fail "$1: the mutation changes nothing: $3"
        return
    fi
    sh tests/attempt.sh run "$objects" "$out/mutant" "$2" 2>"$out/messages"
    case $? in
    0) fail "$1: no test notices" ;;
    1) pass "$1" ;;
    *) fail "$1: does not compile"; head -n 5 "$out/messages" ;;
    esac
}

# in_function NAME COMMANDS: sed commands for the text of one function only.
in_function() { printf '/^[a-zA-Z].*[ *]%s(/,/^}/{\n%s\n}' "$1" "$2"; }

# The rule of a collection.
mutant light_bias_is_not_told_apart dict "$(in_function rrci_is_held \
    's/ && count != RRC_REFCNT_FROM_PYPY_LIGHT//')"
mutant held_p_is_not_traced dict "$(in_function rrci_is_held 's/return .*/return 0;/')"
mutant all_p_are_traced dict "$(in_function rrci_is_held 's/return .*/return 1;/')"
mutant old_p_links_are_not_traced dict "$(in_function rrci_trace_major '/RRCI_P_OLD/d')"
mutant young_p_links_are_not_traced_in_a_major dict "$(in_function rrci_trace_major '/RRCI_P_YOUNG/d')"
mutant young_p_links_are_not_traced_in_a_minor dict "$(in_function rrc_minor_collection_trace \
    '{/if (code == RRC_OK)/d;/RRCI_P_YOUNG/d;}')"
mutant minor_traces_old_links_too dict "$(in_function rrc_minor_collection_trace \
    's/RRCI_P_YOUNG/RRCI_P_OLD/')"
mutant propagate_is_forgotten dict "$(in_function rrci_trace_major '/RRC_HOST_PROPAGATE/d')"
mutant bias_is_not_subtracted dict "$(in_function rrci_bury 's/: RRC_REFCNT_FROM_PYPY;/: 0;/')"
mutant light_bias_is_not_subtracted dict "$(in_function rrci_bury \
    's/? RRC_REFCNT_FROM_PYPY_LIGHT :/? 0 :/')"
mutant light_obs_are_not_freed dict "$(in_function rrci_bury 's/count == RRC_REFCNT_FROM_PYPY_LIGHT/count == 0/')"
mutant held_light_obs_are_freed dict "$(in_function rrci_bury \
    's/count == RRC_REFCNT_FROM_PYPY_LIGHT/count <= RRC_REFCNT_FROM_PYPY_LIGHT + 1/')"
mutant immortal_obs_lose_a_bias dict "$(in_function rrci_bury 's/count < RRC_REFCNT_IMMORTAL/count > 0/')"
mutant letters_are_lost_at_the_end dict "$(in_function rrc_heap_free 's/if (rrci_close_mail(heap))/if (rrci_close_mail(heap) \&\& 0)/')"
mutant letters_do_not_count dict "$(in_function rrci_read_mail 's/heap->quota--;/;/')"
mutant letters_are_not_pending dict "$(in_function rrci_pending 's/+ (size_t)rrci_has_mail(heap)//')"
mutant the_end_takes_letters dict "$(in_function rrci_close_mail 's/RRCI_MAIL_IS_CLOSED/0/')"
mutant a_new_letter_hides_others dict "$(in_function rrc_decref_later 's/letter->next = .*/letter->next = NULL;/')"
mutant finalizers_cannot_be_spared dict "$(in_function rrc_gc_set_finalized 's/head->is.word | RRCI_GC_FINALIZED/head->is.word/')"
mutant spared_finalizers_are_counted dict "$(in_function rrc_gc_set_finalized 's/heap->finalizable--;/;/')"
mutant nothing_is_queued dict "$(in_function rrci_bury 's/rrci_enqueue(heap, ob);/;/')"
mutant held_obs_are_queued dict "$(in_function rrci_bury 's/if (count == 0) {/if (1) {/')"
mutant the_queue_has_no_reference dict "$(in_function rrci_bury 's/count != 0 ? count : 1/count/')"
mutant the_link_of_the_dead_stays dict "$(in_function rrci_bury 's/^    RRC_LINK(ob) = NULL;//')"

# Movement and the tables.
mutant a_moved_link_is_not_updated dict "$(in_function rrci_sweep_moved '/link->p = q;/d')"
mutant a_moved_ob_is_not_told dict "$(in_function rrci_sweep_moved '/RRC_LINK(link->ob) = q;/d')"
mutant a_moved_key_is_not_inserted dict "$(in_function rrci_sweep_moved \
    '{/^    if (change)$/{N;s/.*rrci_table_insert.*//;};}')"
mutant a_moved_key_is_not_removed dict "$(in_function rrci_sweep_moved \
    '{/^    if (change)$/{N;s/.*rrci_table_remove.*//;};}')"
mutant dead_links_stay_in_the_dictionary dict "$(in_function rrci_sweep_dead \
    's/if (rrci_upkeep_change.*/if (0)/')"
mutant the_dictionary_is_not_rebuilt dict "$(in_function rrci_end_upkeep 's/upkeep->rebuild ||/0 \&\&/')"
mutant promoted_keys_are_not_inserted dict "$(in_function rrci_promote '/rrci_table_insert_all/d')"
mutant nothing_is_promoted dict "$(in_function rrci_promote 's/!RRC_HOST_IS_YOUNG(heap, link->p)/0/')"
mutant all_is_promoted dict "$(in_function rrci_promote 's/!RRC_HOST_IS_YOUNG(heap, link->p)/1/')"
mutant minor_forgets_o_links dict "$(in_function rrci_sweep_young 's/kind <= RRCI_O_YOUNG/kind < RRCI_O_YOUNG/')"
mutant minor_forgets_p_links dict "$(in_function rrci_sweep_young 's/kind = RRCI_P_YOUNG/kind = RRCI_O_YOUNG/')"
mutant major_forgets_old_o_links dict "$(in_function rrci_sweep_old '/rrci_sweep.*O_OLD/d')"
mutant major_forgets_old_p_links dict "$(in_function rrci_sweep_old '/rrci_sweep.*P_OLD/d')"
mutant major_forgets_young_links dict "$(in_function rrci_free_with_cycles '/rrci_sweep_young/d')"
mutant minor_sweeps_old_links dict "$(in_function rrc_minor_collection_free \
    's/rrci_sweep_young(.*/&rrci_sweep(heap, \&heap->list[RRCI_O_OLD], 0, function);/')"
mutant a_phase_does_not_end dict "$(in_function rrc_minor_collection_free '/heap->state = heap->rest/d')"
mutant chunks_are_not_reserved dict "$(in_function rrci_chunks_needed 's/return .*/return links > 0;/')"
mutant a_link_is_made_without_a_reserve dict "$(in_function rrci_create_link 's/code = rrci_reserve(heap, kind);//')"
mutant probes_do_not_wrap_around dict "$(in_function rrci_next_group 's/table->size ? 0 : group + 1/table->size ? group : group + 1/')"

# Dictionaries that grow.
mutant a_table_grows_in_one_call dict "$(in_function rrci_dict_reserve 's/RRCI_STEP/SIZE_MAX/')"
mutant a_table_grows_too_late dict "$(in_function rrci_dict_comfort 's/size \/ 5/size \/ 8/')"
mutant a_full_table_takes_more dict "$(in_function rrci_dict_reserve 's/used <= rrci_dict_limit(dict) ? RRC_OK : RRC_ENOMEM/RRC_OK/')"
mutant the_young_table_is_cleared_later dict "$(in_function rrci_sweep_young \
    's/size < capacity ? size : capacity/list->count > 0 ? list->dict.table.size : 0 * size * capacity/')"
mutant the_new_table_is_not_told dict "$(in_function rrci_drop_link 's/rrci_drop_from_other(.*/;/')"
mutant the_new_table_keeps_what_goes dict "$(in_function rrci_drop_from_other '/rrci_table_remove/d')"
mutant the_new_table_misses_what_moves dict "$(in_function rrci_drop_from_other 's/rrci_table_insert(.*/;/')"
mutant the_new_table_has_old_numbers dict "$(in_function rrci_drop_from_other 's/rrci_table_renumber(.*/;/')"
mutant the_new_table_has_too_much dict "$(in_function rrci_drop_from_other '/dict->done = last;/d')"
mutant a_sweep_forgets_the_new_table dict "$(in_function rrci_begin_upkeep 's/== RRCI_FILLING/== -1/')"
mutant a_dropped_table_is_lost dict "$(in_function rrci_dict_turn_off 's/dict->optional/0/')"
mutant a_used_dictionary_is_dropped dict "$(in_function rrci_begin_upkeep 's/ || list->dict.asked//')"
mutant an_unused_dictionary_is_kept dict "$(in_function rrci_begin_upkeep '/list->dict.asked = 0;/d')"
mutant hosts_that_unlink_wait dict "$(in_function rrci_heap_new 's/ \&\& !desc->unlinks//')"
mutant replaced_tables_stay dict "$(in_function rrci_dict_reserve 's/rrci_dict_retire(.*/;/')"
mutant a_collection_keeps_replaced_tables dict "$(in_function rrci_trim 's/rrci_dict_retire(.*/;/')"

# Making and dissolving links.
mutant a_second_link_is_made dict "$(in_function rrci_create_link 's/RRC_LINK(ob) != NULL/0/')"
mutant a_second_p_link_is_made dict "$(in_function rrci_create_link \
    's/former != NULL \&\& (heap->rest/0 \&\& (heap->rest/')"
mutant an_odd_p_is_linked dict "$(in_function rrci_create_link 's/if (rrci_is_odd(p))/if (0)/')"
mutant an_odd_marker_is_set dict "$(in_function rrc_mark_deallocating 's/if (rrci_is_odd(marker))/if (0)/')"
mutant youth_is_not_asked dict "$(in_function rrci_create_link 's/kind |= RRCI_YOUNG;/kind |= 0;/')"
mutant from_obj_gives_any_ob slot "$(in_function rrci_create_link 's/(kind & RRCI_O) == 0 && RRCI_HAS_SLOT/RRCI_HAS_SLOT/')"
mutant unlink_leaves_the_slot slot "$(in_function rrci_dissolve '/RRC_HOST_SLOT(heap, .*= NULL/s/.*/;/')"
mutant unlink_forgets_to_bury dict "$(in_function rrci_dissolve '/rrci_bury/d')"
mutant unlink_keeps_the_record dict "$(in_function rrci_dissolve '/rrci_drop_link/d')"
mutant linked_obs_are_marked dict "$(in_function rrc_mark_deallocating 's/RRCI_COUNT(ob) >= RRC_REFCNT_FROM_PYPY/0/;s/rrci_find_link(heap, ob, &index) != NULL/0/')"

# Deallocation.
mutant the_finalizer_is_skipped dict "$(in_function rrci_dealloc '/RRC_HOST_GUARD(heap, type->tp_finalize, ob);/d')"
mutant the_finalizer_sees_count_0 dict "$(in_function rrci_dealloc \
    '{/RRC_REFCNT(ob) = 1;/d;s/--RRC_REFCNT(ob) != 0/RRC_REFCNT(ob) != 0/;}')"
mutant resurrection_is_not_seen dict "$(in_function rrci_dealloc 's/--RRC_REFCNT(ob) != 0 ||/--RRC_REFCNT(ob) < 0 ||/')"
mutant the_depth_is_not_bounded dict "$(in_function rrci_last_reference 's/heap->depth >= RRC_DEALLOC_DEPTH/0/')"
mutant deallocs_run_in_collections dict "$(in_function rrci_last_reference 's/rrci_in_collection(heap) ||//')"
mutant portions_have_no_limit dict "$(in_function rrci_last_reference 's/heap->quota == 0/0/')"
mutant deferred_obs_are_forgotten dict "$(in_function rrci_last_reference \
    's/while (heap->later != NULL && heap->later != waiting)/while (0)/')"
mutant what_is_taken_back_keeps_its_reference dict "$(in_function rrci_take_back_deferred 's/RRC_REFCNT(ob)--;/;/')"
mutant what_is_taken_back_breaks_the_list dict "$(in_function rrci_take_back_deferred \
    's/RRC_LINK(before) = RRC_LINK(ob);/RRC_LINK(before) = rrci_tagged(NULL, RRCI_TAG_DEFERRED);/')"
mutant a_decref_does_what_was_left_over dict "$(in_function rrci_last_reference \
    's/ && heap->later != waiting//')"
mutant resurrected_obs_of_the_queue_die dict "$(in_function rrci_do_queued \
    's/--RRC_REFCNT(ob) != 0/--RRC_REFCNT(ob) < 0/')"
mutant next_dead_forgets_the_deferred dict "$(in_function rrc_next_dead 's/ob == NULL \&\& heap->later/0 \&\& heap->later/')"
mutant pending_forgets_the_deferred dict "$(in_function rrci_pending 's/ + heap->later_count//')"
mutant the_queue_loses_one_at_a_seam dict "$(in_function rrci_dequeue \
    's/queue->head_index = 0;/queue->head_index = 1;/')"

# The end of a heap.
mutant heap_free_forgets_what_leaves_the_queue dict "$(in_function rrci_take_queued 's/heap->left++;/;/')"
mutant heap_free_counts_what_has_gone dict "$(in_function rrci_empty_link_field 's/heap->left -= .*/;/')"
mutant heap_free_counts_what_was_deleted dict "$(in_function rrci_del 's/if (rrci_has_left(heap, ob))/if (0)/')"
mutant heap_free_counts_twice dict "$(in_function rrci_part_all 's/held += (size_t)/held += 2 * (size_t)/')"
mutant heap_free_forgets_the_nested dict "$(in_function rrci_defer 's/if (rrci_has_left(heap, ob))/if (0)/')"
mutant heap_free_leaves_links dict "$(in_function rrci_part_all 's/list->count > 0/list->count > 1/')"
mutant heap_free_leaves_views dict "$(in_function rrci_end_links '/RRCI_P_OLD/d')"
mutant heap_free_leaves_young_proxies dict "$(in_function rrci_end_links '/RRCI_O_YOUNG/d')"
mutant heap_free_parts_views_first dict "$(in_function rrci_end_links \
    's/RRCI_O_OLD/RRCI_X_OLD/;s/RRCI_P_OLD/RRCI_O_OLD/;s/RRCI_X_OLD/RRCI_P_OLD/')"
mutant links_hold_at_the_end dict "$(in_function rrci_link_holds 's/heap->rest != RRCI_ENDING \&\&/1 \&\&/')"
mutant the_end_goes_on dict "$(in_function rrci_do_last 's/\*rounds_left -= .*/;/')"

# What garbage owns is whole until its dealloc has run.
mutant nothing_is_kept dict "$(in_function rrc_major_collection_keep 's/rrci_keep_owned(heap, function);/;/')"
mutant keeping_is_not_finished dict "$(in_function rrci_keep_owned '/RRCI_GC_OWNED/,/keeping = 0/s/rrci_mark(&search);/;/')"
mutant what_is_kept_is_alive dict "$(in_function rrci_keep_owned 's/heap->keeping = RRCI_GC_OWNED;/;/')"
mutant all_is_kept dict "$(in_function rrci_looks 's/(type->tp_flags \& RRC_TPFLAGS_DROPS_ONLY) == 0/1/')"
mutant members_look dict "$(in_function rrci_looks 's/\&\& (type->tp_dealloc.*/\&\& (1/;s/|| type->tp_finalize != NULL);/);/;s/^ *|| type->tp_finalize != NULL/        /;s/|| type->tp_clear != NULL || type->tp_clear_weakrefs != NULL//')"
mutant keeping_goes_by_the_rule dict "$(in_function rrci_goes_by_count 's/ \&\& !keeps//')"
mutant what_was_kept_is_taken_for_alive dict "$(in_function rrci_free_with_cycles 's/if (!keeps)/if (1)/')"
mutant garbage_waits_for_what_was_kept dict "$(in_function rrci_last_or_bias 's/if (heap->rest != RRCI_MUTATOR \&\&/if (0 \&\&/')"
mutant what_was_kept_is_found dict "$(in_function rrci_from_obj_otherwise 's/ob != NULL \&\& rrci_is_garbage(ob) ? NULL : ob/ob/')"
mutant a_kept_link_holds dict "$(in_function rrci_count_of_others \
    's/return rrc_refcnt(ob)/return rrci_is_linked_ob(ob) + rrc_refcnt(ob)/')"
mutant a_new_link_leaves_the_former dict "$(in_function rrci_create_link 's/^        rrci_part(heap, former);/        ;/')"
mutant nobody_is_told_who_parts dict "$(in_function rrci_dissolve 's/heap->desc.parted != NULL/0/')"
mutant owners_go_after_what_they_own dict "$(in_function rrci_set_garbage_aside 's/rrci_bring_owners_last(heap, first);/;/')"
mutant keep_comes_twice dict "$(in_function rrci_gate 's/{ RRCI_MAJOR_FREE, "only/{ RRCI_MAJOR_FREE | RRCI_MAJOR_KEEP, "only/')"
mutant early_searches_keep dict "$(in_function rrci_gate '/RRCI_OPEN/s/RRCI_MAJOR_PAUSE,/RRCI_MAJOR_PAUSE | RRCI_MAJOR_KEEP,/')"

mutant a_husk_stays dict "$(in_function rrci_end_husk 's/heap->objects <= 0/0/')"
mutant a_husk_goes_too_early dict "$(in_function rrci_end_husk 's/heap->objects <= 0/heap->objects <= 1/')"
mutant a_dealloc_may_free_the_heap dict "$(in_function rrc_heap_free 's/rrci_is_busy(heap) ||/0 ||/')"

# Objects, memory, checks.
mutant objects_are_not_zeroed dict "$(in_function rrci_new 's/memset(memory, 0, size);//')"
mutant a_size_is_wrong dict "$(in_function rrci_bytes_of 's/: before + type->tp_basicsize/: type->tp_basicsize + 1/')"
mutant what_is_queued_takes_no_bytes dict "$(in_function rrci_enqueue 's/heap->pending_bytes += .*/;/')"
mutant garbage_takes_no_bytes dict "$(in_function rrci_gc_add 's/list > RRCI_TRACKED/0/')"
mutant a_deferred_object_takes_no_bytes dict "$(in_function rrci_defer 's/heap->pending_bytes += .*/;/')"
mutant resized_objects_keep_their_bytes dict "$(in_function rrc_gc_resize 's/heap->object_bytes += .*/;/')"
mutant native_bytes_never_shrink dict "$(in_function rrc_native_bytes 's/heap->native_bytes -= .*/;/')"
mutant a_linked_ob_is_deleted dict "$(in_function rrci_del \
    's/RRC_REFCNT(ob) >= RRC_REFCNT_FROM_PYPY/0/; s/rrci_find_link(heap, ob, &index) != NULL/0/')"
mutant overflow_is_not_seen dict "$(in_function rrci_block_size 's/n > 0 && n > (SIZE_MAX/0 \&\& n > (SIZE_MAX/')"
mutant memory_is_not_counted dict "$(in_function rrci_free_table '/heap->memory -= size;/d')"
mutant check_believes_counts dict "$(in_function rrci_check_link 's/RRCI_COUNT(ob) < RRC_REFCNT_FROM_PYPY/0/')"
mutant check_believes_links dict "$(in_function rrci_check_link 's/RRC_LINK(ob) != link->p/0/')"
mutant check_believes_slots slot "$(in_function rrci_check_link 's/\*RRC_HOST_SLOT(heap, link->p) != ob/0/')"
mutant a_mistake_is_not_logged dict "$(in_function rrci_report '/desc->log(desc->userdata, &item);/d')"
mutant poison_is_not_seen slot "$(in_function rrci_is_freed 's/RRC_REFCNT(ob) == poison/0/;s/return ((uintptr_t).*/return 0;/')"
mutant a_forgotten_bias_kills slot "$(in_function rrci_bias_was_forgotten 's/link == NULL ||/link != NULL ||/')"
mutant a_forgotten_bias_is_silent slot "$(in_function rrci_trace_list \
    's/RRC_REFCNT(link.i..ob) < RRC_REFCNT_FROM_PYPY/0/')"
mutant objects_of_another_heap_are_taken slot "$(in_function rrci_check_maker 's/head->is.heap == heap/1/')"
mutant objects_of_nobody_are_taken slot "$(in_function rrci_check_maker 's/head->is.cookie != rrci_debug_cookie(ob)/0/')"
mutant an_odd_survivor_is_not_seen slot "$(in_function rrci_check_survivor 's/if (rrci_is_odd(q))/if (0)/')"
mutant settings_are_not_compared dict "$(in_function rrci_compare_config 's/strcmp(config, RRCI_CONFIG) == 0/1/')"

# The search for cycles.
topic=cycles
mutant references_do_not_explain dict "$(in_function rrci_explain_one 's/head->is.refs++;/;/')"
mutant linked_obs_are_not_explained dict "$(in_function rrci_trace_with_cycles 's/ | RRCI_EXPLAINS_LINKED//')"
mutant unlinked_obs_are_explained dict "$(in_function rrci_explain_one 's/rrci_is_linked_ob(ob)/1/;s/RRC_LINK(ob) != NULL/1/')"
mutant waiting_obs_are_explained dict "$(in_function rrci_trace_with_cycles \
    's/RRCI_EXPLAINS(RRCI_TRACKED)/& | RRCI_EXPLAINS_WAITING/')"
mutant the_bias_explains_nothing dict "$(in_function rrc_refcnt 's/count - RRC_REFCNT_FROM_PYPY : count/count : count/')"
mutant the_type_of_an_instance_is_not_visited dict "$(in_function rrci_traverse \
    's/if ((type->tp_flags & RRC_TPFLAGS_HEAPTYPE) != 0)/if (0)/')"
mutant members_are_not_traversed dict "$(in_function rrci_traverse_members 's/if (target != NULL)/if (0)/')"
mutant only_the_first_member_is_traversed dict "$(in_function rrci_traverse_members \
    's/member->name != NULL; member++/member->name != NULL; member = NULL/')"
mutant o_links_keep_their_p dict "$(in_function rrci_blacken 's/& RRCI_GC_P_LINKED) != 0/\& RRCI_GC_LIST) != 0/')"
mutant p_links_do_not_keep_their_p dict "$(in_function rrci_blacken 's/if (search->with_host/if (0/')"
mutant o_links_of_untracked_obs_keep_their_p dict "$(in_function rrci_reach_linked 's/if ((head->is.word.*/if (1)/')"
mutant untracked_p_links_do_not_keep_their_p dict "$(in_function rrci_reach_linked 's/if ((head->is.word.*/if (0)/')"
mutant untracked_obs_stay_alive dict "$(in_function rrci_scan_links \
    's/(RRCI_GC_P_LINKED | RRCI_GC_COLOR)) | p_linked | heap->white/RRCI_GC_P_LINKED) | p_linked/')"
mutant what_was_explained_is_not_forgotten dict "$(in_function rrci_scan_links 's/head->is.refs = 0;/;/')"
mutant waiting_obs_do_not_keep_their_p dict "$(in_function rrci_scan_links '/} else {/{n;s/keeps_p = 1/keeps_p = 0/;}')"
mutant the_kind_of_a_link_is_remembered_wrong dict "$(in_function rrci_scan_links \
    's/& ~RRCI_GC_P_LINKED) | p_linked/\& ~RRCI_GC_P_LINKED) | (p_linked ^ RRCI_GC_P_LINKED)/')"
mutant untracked_obs_held_from_outside_are_missed dict "$(in_function rrci_scan_links 's/outside > 0/outside > 1/')"
mutant untracked_obs_are_all_held dict "$(in_function rrci_scan_links 's/outside > 0/outside >= 0/')"
mutant static_obs_lose_their_p dict "$(in_function rrci_scan_links 's/keeps_p |= rrc_refcnt(ob) > 0/keeps_p |= 0/')"
mutant forgotten_biases_lose_their_p dict "$(in_function rrci_scan_links \
    '/rrci_refcount_error/{n;s/keeps_p = 1/keeps_p = 0/;}')"
mutant what_is_held_is_missed dict "$(in_function rrci_scan 's/outside <= 0 \&\&/outside <= 1 \&\&/')"
mutant all_is_held dict "$(in_function rrci_scan 's/outside <= 0 \&\&/outside < 0 \&\&/')"
mutant linked_obs_are_not_held_without_a_host dict "$(in_function rrci_scan 's/(search->with_host || !rrci_is_held_by_link(heap, ob))/1/')"
mutant what_lacks_its_bias_is_garbage dict "$(in_function rrci_lacks_bias 's/return link != NULL/return 0 \&\& link != NULL/')"
mutant what_the_scan_has_passed_is_not_visited dict "$(in_function rrci_make_alive 's/< heap->scan/< 0 * heap->scan/')"
mutant alive_obs_do_not_reach dict "$(in_function rrci_reach 's/rrci_make_alive(search->heap, ob);/;/')"
mutant alive_obs_do_not_reach_the_untracked dict "$(in_function rrci_reach 's/rrci_reach_linked(search->heap, ob);/;/')"
mutant the_host_is_not_asked dict "$(in_function rrci_mark 's/|| rrci_ask_host(heap)/|| 0/')"
mutant the_host_is_asked_once dict "$(in_function rrci_mark 's/|| rrci_ask_host(heap)/|| (rrci_ask_host(heap), 0)/')"
mutant an_answer_is_not_visited dict "$(in_function rrci_ask_host 's/rrci_make_alive(heap, link.ob);/;/')"
mutant the_search_does_not_propagate dict "$(in_function rrci_mark '/RRC_HOST_PROPAGATE/d')"
mutant reports_are_ignored dict "$(in_function rrci_marked_ob 's/rrci_make_alive(heap, ob);/;/')"
mutant an_open_search_is_not_visited dict "$(in_function rrci_marked_ob 's/if (heap->state == RRCI_OPEN)/if (0)/')"
mutant an_early_search_finalizes dict "$(in_function rrci_scan 's/search->is_early \&\& rrci_is_finalizable(ob)/0/')"
mutant an_open_search_is_not_closed dict "$(in_function rrci_trace_major '/rrci_give_up_open/s/.*/;/')"
mutant a_pause_leaves_the_search_open dict "$(in_function rrc_major_collection_pause '/rrci_give_up_open/s/.*/;/')"
mutant a_pause_leaves_scratch dict "$(in_function rrc_major_collection_pause '/rrci_reset_scratch/s/.*/;/')"
mutant a_missing_report_is_believed dict "$(in_function rrci_close_search 's/if (rrci_ask_host(heap))/if (0)/')"
mutant moves_forget_old_links dict "$(in_function rrc_links_moved '/rrci_sweep_old/d')"
mutant moves_forget_young_links dict "$(in_function rrc_links_moved '/rrci_sweep_young/d')"
mutant nothing_is_demoted dict "$(in_function rrc_major_collection_free '/rrci_demote/d')"
mutant who_finds_no_room_is_forgotten dict "$(in_function rrci_demote '/heap->crowded_out++/d')"
mutant minors_do_not_sweep_the_crowded_out dict "$(in_function rrc_minor_collection_free 's/if (heap->crowded_out > 0)/if (0)/')"
mutant minors_do_not_trace_the_crowded_out dict "$(in_function rrc_minor_collection_trace 's/heap->crowded_out > 0/0/')"
mutant room_is_never_made dict "$(in_function rrci_reserve 's/target->count + 1 + heap->crowded_out/target->count + 1/')"
mutant reports_make_the_kept_alive dict "$(in_function rrci_keep_finalizable 's/heap->keeping = RRCI_GC_KEPT;/heap->keeping = 0;/')"
mutant repetition_counts_twice dict "$(in_function rrci_prepare_repetition 's/head->is.refs = 0;/;/')"
mutant colors_are_not_reset dict "$(in_function rrci_whiten 's/ | heap->white;/ | (head->is.word \& RRCI_GC_COLOR);/')"
mutant refs_are_not_reset dict "$(in_function rrci_whiten 's/head->is.refs = 0;/;/')"
mutant refs_of_the_alive_stay dict "$(in_function rrci_scan 's/^        head->is.refs = 0;/;/')"
mutant refs_of_the_gray_stay dict "$(in_function rrci_pop_gray 's/->is.refs = 0;/->is.refs += 0;/')"
mutant scratch_is_not_reset dict "$(in_function rrci_reset_scratch 's/rrci_whiten(.*/;/')"
mutant colors_do_not_flip dict "$(in_function rrci_set_garbage_aside 's/heap->white ^= RRCI_GC_COLOR;/;/')"
mutant colors_flip_for_what_waits dict "$(in_function rrci_all_alive 's/rrci_count_tracked(heap)/heap->gc[RRCI_TRACKED].count/')"
mutant colors_flip_always dict "$(in_function rrci_all_alive 's/heap->alive == rrci_count_tracked(heap)/1/')"
mutant a_new_object_has_any_color dict "$(in_function rrc_gc_track 's/rrci_whiten(.*/;/')"
mutant the_kept_count_as_alive dict "$(in_function rrci_color 's/ += heap->keeping == 0;/++;/')"
mutant finalizers_keep_nothing dict "$(in_function rrci_find_garbage 's/rrci_keep_finalizable(search);/;/')"
mutant finalizers_keep_only_themselves dict "$(in_function rrci_keep_finalizable 's/rrci_mark(search);/;/')"
mutant finalizers_keep_all_garbage dict "$(in_function rrci_keep_finalizable 's/ || rrci_is_finalizable(ob))/ || 1)/')"
mutant a_wrong_traverse_is_believed dict "$(in_function rrci_scan 's/if (outside < 0)/if (0)/')"
mutant a_wrong_traverse_does_not_stop_it dict "$(in_function rrci_wrong_traverse 's/search->is_wrong = 1;/;/')"
mutant traverses_are_not_compared slot "$(in_function rrci_compare_traverses \
    's/sum != search->sum/0/;s/counts != search->counts/sum == search->sum \&\& counts != search->counts/')"
mutant changed_counts_are_not_seen slot "$(in_function rrci_compare_traverses 's/counts != search->counts/0/')"
mutant freed_visits_are_not_seen slot "$(in_function rrci_debug_visit 's/rrci_is_freed(ob)/0/g')"
mutant the_blame_is_given_to_any dict "$(in_function rrci_too_many_visits 's/blame.visits > most/i == 0/')"
mutant a_disabled_search_goes_on dict "$(in_function rrci_can_search 's/!heap->gc_disabled/1/')"
mutant a_walk_does_not_stop_searches dict "$(in_function rrci_can_search 's/heap->gc_walking == 0/1/')"

# What is done with garbage.
mutant garbage_is_not_looked_at_again dict "$(in_function rrci_do_garbage \
    '/rrci_return_kept(heap);/{n;s/return 1;/;/;}')"
mutant garbage_is_looked_at_once_for_all dict "$(in_function rrci_set_garbage_aside 's/heap->batch = 0;/;/')"
mutant what_was_cleared_does_not_explain dict "$(in_function rrci_take_batch \
    's/i < cleared->count && !look->search.is_wrong/0/')"
mutant the_cleared_are_cleared_again dict "$(in_function rrci_clear_part \
    's/rrci_gc_move(heap, RRCI_CLEARED,/rrci_gc_move(heap, RRCI_WAITING,/')"
mutant clears_come_before_the_queue dict "$(in_function rrci_do_pending \
    's/!rrci_do_queued(heap) && !rrci_do_garbage(heap)/!rrci_do_garbage(heap) \&\& !rrci_do_queued(heap)/')"
mutant finalizers_come_before_weakrefs dict "$(in_function rrci_do_garbage \
    's/rrci_call_batch(heap, 1);/if ((flags \& RRCI_GC_KEPT) != 0) rrci_call_batch(heap, 0); &/')"
mutant garbage_is_believed_unheld dict "$(in_function rrci_look_at_waiting 's/look.unexplained > 0 ||//')"
mutant references_to_others_are_internal dict "$(in_function rrci_look_at_waiting \
    's/RRCI_EXPLAINS_WAITING/RRCI_EXPLAINS_WAITING | RRCI_EXPLAINS(RRCI_TRACKED)/')"
mutant garbage_is_not_held_while_finalized dict "$(in_function rrci_call_batch \
    '{s/RRC_REFCNT(ob)++;/;/;s/rrci_drop(heap, ob);/;/;}')"
mutant finalized_garbage_is_leaked dict "$(in_function rrci_call_batch 's/rrci_drop(heap, ob);/;/')"
mutant garbage_is_not_held_while_cleared dict "$(in_function rrci_clear_part \
    '{s/^.*rrci_gc_move(.*/& RRC_REFCNT(part[i])--;/;s/rrci_drop(heap, part.i.);/;/;}')"
mutant cleared_garbage_is_leaked dict "$(in_function rrci_clear_part 's/rrci_drop(heap, part\[i\]);/;/')"
mutant a_batch_ignores_the_limit dict "$(in_function rrci_clear_part 's/if (count > heap->quota)/if (0)/')"
mutant the_untracked_are_cleared dict "$(in_function rrci_clear_part 's/if (rrci_is_tracked(part\[i\]))/if (1)/')"
mutant finalizers_run_twice dict "$(in_function rrci_call_batch 's/head->is.word |= RRCI_GC_FINALIZED;/;/')"
mutant finalizers_run_again_by_the_count dict "$(in_function rrci_dealloc \
    's/|= RRCI_GC_FINALIZED | RRCI_GC_FINALIZING;/|= RRCI_GC_FINALIZING;/')"
mutant members_are_not_cleared dict "$(in_function rrci_clear_members 's/RRC_CLEAR(heap, \*field);/(void)field;/')"
mutant weakrefs_of_the_kept_are_not_cleared dict "$(in_function rrci_set_garbage_aside \
    's/RRC_TYPE(ob)->tp_clear_weakrefs != NULL/RRC_TYPE(ob)->tp_clear_weakrefs != NULL \&\& !is_kept/')"
mutant the_uncollectable_are_silent dict "$(in_function rrci_end_clearing '/rrci_error(heap, RRC_EUNCOLLECTABLE/d')"
mutant the_uncollectable_are_logged_each_time dict "$(in_function rrci_end_clearing \
    's/(head->is.word & RRCI_GC_UNCOLLECTABLE) == 0/1/')"
mutant the_held_are_uncollectable dict "$(in_function rrci_end_clearing 's/rrci_look_at_waiting(.*/;/')"
mutant the_list_of_garbage_has_no_reference dict "$(in_function rrci_set_garbage_aside 's/RRC_REFCNT(ob)++;/;/')"
mutant what_goes_by_its_count_waits_too dict "$(in_function rrci_goes_by_count 's/return RRCI_COUNT.*/return 0/;s/|| (!is_kept.*/;/')"
mutant all_garbage_goes_by_its_count dict "$(in_function rrci_goes_by_count \
    's/if (rrc_refcnt(ob) != 0)/if (0)/')"
mutant the_kept_go_by_their_count dict "$(in_function rrci_goes_by_count 's/!is_kept && //')"
mutant weakrefs_go_by_the_count dict "$(in_function rrci_goes_by_count \
    's/ && RRC_TYPE(ob)->tp_clear_weakrefs == NULL//')"
mutant what_is_marked_late_is_garbage dict "$(in_function rrci_free_with_cycles 's/rrci_return_late(.*/;/')"
mutant what_is_marked_late_keeps_a_reference dict "$(in_function rrci_return_late 's/RRC_REFCNT(ob)--;/;/')"
mutant no_look_after_weakrefs dict "$(in_function rrci_do_garbage \
    '/rrci_call_batch(heap, 1);/{n;s/return 1;/;/;}')"
mutant weakrefs_are_cleared_twice dict "$(in_function rrci_call_batch 's/head->is.word &= ~RRCI_GC_WEAKREFS;/;/')"
mutant held_garbage_is_not_returned dict "$(in_function rrci_look_at_waiting 's/rrci_return_held(heap);/;/')"
mutant returned_garbage_keeps_a_reference dict "$(in_function rrci_return_held 's/rrci_drop_or_defer(heap, ob);/;/')"
mutant held_garbage_does_not_reach dict "$(in_function rrci_color_held 's/rrci_push_gray(heap, ob);/;/')"
mutant a_wrong_traverse_makes_garbage_wait dict "$(in_function rrci_color_held 's/look->search.is_wrong || //')"
mutant kept_objects_are_not_returned dict "$(in_function rrci_return_kept \
    's/^    size_t i;/    size_t i; if (heap->batch > 0) return;/')"
mutant kept_objects_keep_a_reference dict "$(in_function rrci_return_kept 's/rrci_drop(heap, ob);/;/')"
mutant all_of_a_batch_is_kept dict "$(in_function rrci_return_kept 's/ || (rrci_gc_head_of(.*RRCI_GC_KEPT) == 0)/)/')"
mutant small_portions_look_at_much dict "$(in_function rrci_do_garbage 's/heap->quota < looked . 8/0/')"
mutant what_a_portion_adds_is_not_counted dict "$(in_function rrci_do_pending 's/ + heap->quota_added//')"
mutant a_batch_takes_all_that_waits dict "$(in_function rrci_take_batch 's/ || look->unexplained == 0//')"
mutant a_batch_takes_too_little dict "$(in_function rrci_take_batch \
    's/heap->batch == waiting->count || look->unexplained == 0/1/')"
mutant the_batch_is_forgotten dict "$(in_function rrci_gc_remove 's/kind == RRCI_WAITING && heap->batch > 0/0/')"
mutant the_batch_does_not_shrink dict "$(in_function rrci_gc_remove 's/heap->batch--;/;/')"
mutant the_batch_gets_another_object dict "$(in_function rrci_gc_remove 's/index != first - 1/0/')"
mutant a_walk_keeps_the_batch dict "$(in_function rrci_end_walk 's/heap->batch = 0;/;/')"
mutant what_waits_stays_when_it_is_linked dict "$(in_function rrci_create_link \
    's/rrci_gc_list(rrci_gc_head_of(ob)) > RRCI_TRACKED/0/')"
mutant what_is_linked_keeps_a_reference dict "$(in_function rrci_create_link \
    's/RRC_REFCNT(ob) -= rrci_gc_return(/rrci_gc_return(/')"
mutant what_is_untracked_keeps_a_reference dict "$(in_function rrc_gc_untrack 's/rrci_drop_or_defer(heap, ob);/;/')"
mutant what_is_untracked_goes_at_once dict "$(in_function rrci_drop_or_defer 's/rrci_defer(heap, ob)/rrci_last_reference(heap, ob)/')"
mutant the_revived_stay_uncollectable dict "$(in_function rrci_set_garbage_aside \
    's/rrci_set_uncollectable(heap, head, 0);/;/')"
mutant garbage_is_not_counted dict "$(in_function rrci_untrack 's/heap->garbage += .*/;/')"
mutant heap_free_leaves_cycles dict "$(in_function rrci_end_objects 's/rrci_collect_c(heap, "rrc_heap_free");/;/')"
mutant heap_free_collects_once dict "$(in_function rrci_end_objects 's/ && rounds_left > 0/ \&\& 0/;s/&& rounds_left > 0/\&\& 0/')"

# The protocol of the cyclic GC.
mutant extra_bytes_are_lost dict "$(in_function rrc_gc_new_with_extra_data 's/extra, 1, 1, 1,/0, 1, 1, 1,/')"
mutant a_resized_object_is_not_zeroed dict "$(in_function rrc_gc_resize 's/if (size > old_size)/if (0)/')"
mutant a_tracked_object_is_resized dict "$(in_function rrc_gc_resize 's/rrci_is_tracked(ob) || (RRC_LINK(ob) != NULL/(RRC_LINK(ob) != NULL/')"
mutant a_linked_object_is_resized dict "$(in_function rrc_gc_resize 's/rrci_is_tracked(ob) || (RRC_LINK(ob) != NULL .*/rrci_is_tracked(ob)) {/')"
mutant an_object_is_resized_in_its_finalizer dict "$(in_function rrc_gc_resize \
    's/RRCI_GC_FINALIZING) != 0/RRCI_GC_FINALIZING) > RRCI_GC_FINALIZING/')"
mutant an_object_is_tracked_twice dict "$(in_function rrc_gc_track 's/if (rrci_is_tracked(ob))/if (0)/')"
mutant untracking_forgets_finalizers dict "$(in_function rrci_untrack 's/heap->finalizable--;/;/')"
mutant tracking_reserves_nothing dict "$(in_function rrc_gc_track 's/if (rrci_reserve_lists(.*/if (0)/')"
mutant collections_nest dict "$(in_function rrc_gc_collect 's/|| rrci_is_busy(heap))/|| 0)/; s/heap->gc_collecting$/0/')"
mutant collect_forgets_what_finalizers_let_go dict "$(in_function rrc_gc_collect 's/round < 2/round < 1/')"
mutant collect_ignores_the_switch dict "$(in_function rrc_gc_collect 's/heap->gc_disabled ||/0 ||/')"
mutant instances_do_not_hold_their_type dict "$(in_function rrci_new \
    's/RRC_REFCNT((rrc_object \*)(uintptr_t)type)++;/;/')"
mutant instances_do_not_drop_their_type dict "$(in_function rrci_del \
    's/--RRC_REFCNT((rrc_object \*)(uintptr_t)type) == 0/0/')"
mutant walks_do_not_stop dict "$(in_function rrc_gc_visit_objects 's/ && go_on;/;/')"
mutant walks_do_not_hold dict "$(in_function rrc_gc_visit_objects '{s/RRC_REFCNT(ob)++;/;/;s/rrc_decref(heap, ob);/;/;}')"
mutant holes_stay dict "$(in_function rrci_end_walk 's/rrci_fill_holes(.*/;/')"
mutant explain_takes_any_path dict "$(in_function rrci_spread 's/head < tail; head++/tail > 0;/; s/reach\[head\]/reach[--tail]/')"
mutant explain_forgets_roots_of_the_host dict "$(in_function rrci_find_paths 's/rrci_list_edges(graph, RRCI_NONE, 0);/;/')"
mutant explain_believes_unreached_ps dict "$(in_function rrci_find_paths 's/ || (wave == 1 && with_host)//')"
mutant ids_go_to_other_objects dict "$(in_function rrci_forget_node_of 's/seen->key\[node\] = 0;/;/')"
mutant snapshots_do_not_count_edges dict "$(in_function rrc_dump_heapsnapshot 's/snapshot.written != snapshot.edges/0/')"
mutant explain_forgets_the_queue dict "$(in_function rrci_is_dying 's/return .*/return 0;/')"
mutant explain_counts_what_the_list_has dict "$(in_function rrc_explain 's/rrc_refcnt(ob) - rrci_is_listed(ob)/rrc_refcnt(ob)/')"
mutant the_reference_of_the_list_can_be_given dict "$(in_function rrc_link 's/rrci_is_deferred(ob) || rrci_is_listed(ob)/0/')"
mutant check_believes_visits dict "$(in_function rrci_check_explained \
    's/ < (intptr_t)head->is.refs/ < 0 * (intptr_t)head->is.refs/')"
mutant check_believes_visits_of_linked_obs dict "$(in_function rrci_check_traverses 's/ | RRCI_EXPLAINS_LINKED//')"
mutant check_leaves_scratch_words dict "$(in_function rrci_check_explained 's/head->is.refs = 0;/;/')"

# When a collection searches.
mutant what_lives_is_always_searched dict "$(in_function rrci_wants_search 's/heap->changed >= all/heap->changed + all >= all/')"
mutant what_lives_is_never_searched_again dict "$(in_function rrci_wants_search 's/|| heap->not_searched + 1 >= heap->search_every/|| 0/')"
mutant a_demanded_search_is_not_made dict "$(in_function rrci_wants_search 's/heap->gc_collecting ||//')"
mutant garbage_makes_no_search_due dict "$(in_function rrci_note_search 's/heap->search_every = 1;/;/')"
mutant searches_become_rare_without_a_bound dict "$(in_function rrci_note_search 's/if (heap->search_every < RRCI_MOST_SEARCH_EVERY)/if (1)/')"
mutant new_links_are_no_change dict "$(in_function rrci_create_link '/heap->changed++;/d')"
mutant deaths_are_no_change dict "$(in_function rrci_sweep '/heap->changed += /d')"
mutant untracking_is_no_change dict "$(in_function rrci_untrack '/heap->changed++;/d')"

# Who may call what, and when; old objects that become young.
mutant functions_of_a_collection_nest dict "$(in_function rrci_gate 's/RRCI_MINOR \*\/     { 0,/RRCI_MINOR *\/     { RRCI_MINOR_TRACE,/')"
mutant nothing_may_pause dict "$(in_function rrci_gate '/RRCI_MUTATOR/s/RRCI_MAJOR_TRACE | RRCI_MAJOR_PAUSE,/RRCI_MAJOR_TRACE,/')"
mutant the_mutator_may_copy dict "$(in_function rrci_gate 's/{ RRCI_MINOR_TRACE | RRCI_MINOR_FREE,/{ RRCI_MUTATES | RRCI_MINOR_TRACE | RRCI_MINOR_FREE,/')"
mutant a_minor_may_be_a_major dict "$(in_function rrci_gate 's/{ RRCI_MINOR_TRACE | RRCI_MINOR_FREE,/{ RRCI_MAJOR_TRACE | RRCI_MINOR_TRACE | RRCI_MINOR_FREE,/')"
mutant a_major_allocates dict "$(in_function rrci_gate 's/RRCI_MAJOR \*\/     { 0,/RRCI_MAJOR *\/     { RRCI_MUTATES,/')"
mutant a_marking_cannot_be_repeated dict "$(in_function rrci_gate 's/{ RRCI_MAJOR_TRACE | RRCI_MAJOR_FREE/{ RRCI_MAJOR_FREE/')"
mutant the_end_ends dict "$(in_function rrci_gate '/RRCI_ENDING/s/RRCI_MUTATES |/RRCI_MUTATES | RRCI_ENDS |/')"
mutant the_end_is_no_mutator dict "$(in_function rrci_gate '/RRCI_ENDING/s/{ RRCI_MUTATES |/{/')"
mutant a_husk_allocates dict "$(in_function rrci_gate 's/RRCI_HUSK \*\/      { 0,/RRCI_HUSK *\/      { RRCI_MUTATES,/')"
mutant the_wrong_words_are_said dict "$(in_function rrci_gate 's/"a minor collection is/"a major collection is/')"
mutant a_husk_is_a_phase dict "$(in_function rrci_gate 's/== RRCI_HUSK ? RRC_ECLOSED/== RRCI_STATES ? RRC_ECLOSED/')"
mutant hooks_may_untrack dict "$(in_function rrc_gc_untrack 's/rrci_is_inside(heap) ||/0 ||/')"
mutant hooks_may_call_anything slot "$(in_function rrci_gate 's/RRCI_UNLIKELY(RRCI_IN_HOOK(heap) \&\&/RRCI_UNLIKELY(0 \&\&/')"
mutant early_reports_stay_counted dict "$(in_function rrci_untrack 's/heap->alive--;/;/')"
mutant demotion_leaves_tombstones dict "$(in_function rrci_demote 's/rrci_dict_rebuild(old, old->dict.table.size);/;/')"
mutant minors_ask_for_all_old_links dict "$(in_function rrci_sweep 's/RRCI_UNLIKELY(only_young)/0/')"
mutant what_was_put_off_is_always_deallocated dict "$(in_function rrci_do_deferred 's/if (--RRC_REFCNT(ob) == 0)/RRC_REFCNT(ob) = 0;/')"

# Closed hosts.
topic=mirror
mutant touch_does_nothing mirror "$(in_function rrc_touch 's/RRC_REFCNT(ob) < 0/RRC_REFCNT(ob) == 0/')"
mutant decrefs_to_the_bias_do_not_let_go mirror "$(in_function rrci_leave_to_host 's/rrci_weaken(heap, ob);/;/')"
mutant the_dying_lose_what_they_own mirror "$(in_function rrci_last_or_bias 's/RRCI_MIRRORED(heap, rrci_become_strong(heap, ob));/RRC_REFCNT(ob) = 0;/')"
mutant a_p_link_does_not_root mirror "$(in_function rrci_mirror_linked 's/rrci_anchor_p(heap, ob, 1);/;/')"
mutant a_new_link_has_an_old_number mirror "$(in_function rrci_mirror_linked 's/->is.number = rrci_new_number(heap);/->is.number += 0;/')"
mutant an_unlinked_object_keeps_its_number mirror "$(in_function rrci_mirror_unlinking 's/head->is.number = .*/;/')"
mutant an_unlinked_object_is_not_rooted mirror "$(in_function rrci_bury 's/rrci_root(heap, ob)/(void)0/')"
mutant an_unlinked_object_stays_weak mirror "$(in_function rrci_mirror_unlinking 's/rrci_clear_weak(heap, ob);/;/')"
mutant the_node_stays_rooted_beside_p mirror "$(in_function rrci_mirror_linking 's/rrci_anchor(heap, ob, 0);/;/')"
mutant the_untracked_own_weak_objects mirror "$(in_function rrci_mirror_untracking 's/rrci_touch_owned(heap, ob);/;/')"
mutant the_untracked_keep_their_node mirror "$(in_function rrci_mirror_untracking 's/rrci_forget_node(heap, ob);/;/')"
mutant what_waits_stays_weak mirror "$(in_function rrci_anchor_waiting 's/rrc_touch(heap, .*/;/')"
mutant deaths_are_not_looked_for mirror "$(in_function rrci_find_deaths 's/^    rrci_sweep(.*RRCI_P_OLD.*/    ;/')"
mutant uncollectable_objects_stay_so mirror "$(in_function rrci_find_deaths 's/heap->uncollectable > 0/0/')"
mutant c_garbage_is_not_looked_for mirror "$(in_function rrci_find_deaths 's/if (is_garbage)/if (0)/')"
mutant leaves_are_owners mirror "$(in_function rrci_explain_edges 's/if (!weighing->owns)/if (0)/')"
mutant owners_have_no_number mirror "$(in_function rrci_explain_edges 's/head->is.number == 0/0/')"
mutant no_node_is_stale mirror "$(in_function rrci_note_stale 's/head->is.edges == weighing->edges/1/')"
mutant all_nodes_are_stale mirror "$(in_function rrci_note_stale 's/head->is.edges == weighing->edges/0/')"
mutant fresh_links_are_not_seen mirror "$(in_function rrci_compare_edge 's/weighing->is_fresh |= /weighing->is_fresh \&= /')"
mutant numbers_do_not_count mirror "$(in_function rrci_add_edge 's/number \* (uintptr_t)0x9E3779B1u/0 * number/')"
mutant held_objects_become_weak mirror "$(in_function rrci_decide 's/outside == 0 \&\&/outside >= 0 \&\&/')"
mutant nothing_becomes_weak mirror "$(in_function rrci_decide 's/outside == 0 \&\&/outside < 0 \&\&/')"
mutant handles_become_weak_unexplained mirror "$(in_function rrci_decide_untracked 's/explained = (intptr_t).*/explained = rrc_refcnt(ob);/')"
mutant handles_stay_explained mirror "$(in_function rrci_decide_untracked 's/->is.refs = 0;/->is.refs += 0;/')"
mutant pending_handles_are_forgotten mirror "$(in_function rrci_decide_untracked 's/rrci_append(heap, &heap->gc.RRCI_PENDING., \*link);/;/')"
mutant a_wrong_traverse_weakens mirror "$(in_function rrci_weigh 's/weighing.search.is_wrong ? RRC_ETRAVERSE : RRC_OK/RRC_OK/')"
mutant new_nodes_are_not_rooted mirror "$(in_function rrc_mirror_set_node 's/rrci_anchor(heap, ob, 1);/;/')"
mutant nodes_are_set_at_any_time mirror "$(in_function rrc_mirror_set_node 's/rrci_gate(heap, RRCI_ENDS, function) != RRC_OK/0/')"
mutant nodes_of_the_host_are_forgotten mirror "$(in_function rrc_mirror_set_node 's/RRCI_NODE_KEPT | //')"
mutant nodes_kept_in_a_step_are_forgotten mirror "$(in_function rrc_mirror_set_node 's/ || head->is.node == node) {/) {/')"
mutant a_node_kept_in_a_step_changes_nothing mirror "$(in_function rrc_mirror_set_node '/rrci_new_number/,/}/s/heap->changes++;/;/')"
mutant a_failure_is_silent mirror "$(in_function rrci_mirror_stale 's/code = RRC_ENOMEM;/code = RRC_OK;/')"
mutant nothing_is_let_go mirror "$(in_function rrci_end_pending 's/rrci_anchor(heap, ob, 0);/;/')"
mutant nodes_outlive_their_objects mirror "$(in_function rrci_del 's/RRCI_MIRRORED(heap, rrci_forget_node(heap, ob));/;/')"
mutant a_step_is_always_due mirror "$(in_function rrc_mirror_is_due 's/heap->changes == 0/0/')"
mutant a_step_is_hardly_due mirror "$(in_function rrc_mirror_is_due 's/heap->asked >= (heap->changes > 0 ? 8 : heap->patience)/heap->asked > (size_t)-1/')"
mutant the_heap_ends_weak mirror "$(in_function rrci_mirror_end 's/rrci_clear_weak(heap, .*/;/')"
mutant the_heap_ends_without_its_views mirror "$(in_function rrci_mirror_end 's/rrc_touch(heap, .*/;/')"
mutant mirrored_heaps_are_driven mirror "$(in_function rrci_begin_trace 's/code == RRC_OK \&\& RRCI_IS_CLOSED(heap)/0/')"
mutant half_a_mirror_is_taken mirror "$(in_function rrci_missing_hook 's/(desc->mirror == NULL) != (desc->anchor == NULL)/0/')"
mutant moves_are_not_found watched "$(in_function rrci_check_listed 's/if ((head->is.state/if (1 || (head->is.state/')"
mutant raw_increments_are_not_found watched "$(in_function rrci_check_weak 's/rrc_refcnt(ob) > explained/0/')"
mutant a_dead_node_is_believed mirror "$(in_function rrci_root 's/|| rrci_anchor(heap, ob, 1))/|| (rrci_anchor(heap, ob, 1), 1))/')"
mutant a_lost_p_is_told mirror "$(in_function rrci_to_obj_otherwise 's/if (RRCI_IS_WEAK(ob))$/if (0)/')"
mutant light_ones_are_freed_before_their_new_link mirror "$(in_function rrci_create_link 's/RRCI_COUNT(ob) == RRC_REFCNT_FROM_PYPY_LIGHT/0/')"
mutant a_lost_p_stays_linked mirror "$(in_function rrci_create_link \
    's/RRC_LINK(ob) != NULL && rrci_has_lost_p/0 \&\& rrci_has_lost_p/')"
mutant what_lost_its_node_owns_weak_objects mirror "$(in_function rrci_lose_node 's/rrci_push_gray(heap, ob);/return;/')"
mutant strength_spreads_one_step mirror "$(in_function rrci_spread_strength 's/while (/if (/')"
mutant dead_nodes_are_not_looked_for mirror "$(in_function rrci_find_deaths 's/RRC_HOST_SURVIVOR(heap, node) == NULL/0/')"
mutant a_step_does_not_spread_strength mirror "$(in_function rrci_find_deaths '/rrci_spread_strength(heap);/d')"
mutant a_failed_update_is_forgotten mirror "$(in_function rrci_note_stale 's/(head->is.state & RRCI_NODE_STALE) == 0/1/')"
mutant held_objects_stay_weak mirror "$(in_function rrci_decide 's/rrci_become_strong(heap, ob);/;/')"
mutant what_the_queue_drops_is_not_seen mirror "$(in_function rrci_do_queued 's/rrci_drop_to_bias(heap, ob)/(void)0/')"
mutant new_nodes_stay_rooted mirror "$(in_function rrc_mirror_set_node 's/rrci_set_pending(heap, head);/;/')"
mutant a_failure_leaves_weak_objects mirror "$(in_function rrci_step '/if (code != RRC_OK) {/,/}/s/rrci_strengthen_all(heap);/;/')"
mutant deallocs_run_in_a_step mirror "$(in_function rrci_last_reference 's/RRCI_IN_STEP(heap) ||//')"
mutant steps_nest mirror "$(in_function rrc_mirror_step 's/if (rrci_is_busy(heap))/if (0)/')"
mutant pending_work_runs_in_a_step mirror "$(in_function rrc_run_pending 's/|| RRCI_IN_STEP(heap)/|| 0/')"
mutant a_step_forgets_what_it_noted mirror "$(in_function rrci_reserve_lists 's/links > heap->gc\[RRCI_PENDING\].count ? links : heap->gc\[RRCI_PENDING\].count/links/')"
mutant objects_are_resized_in_a_step mirror "$(in_function rrc_gc_resize 's/|| RRCI_IN_STEP(heap)/|| 0/')"
mutant an_old_p_link_is_remembered mirror "$(in_function rrci_mirror_unlinking 's/&= ~RRCI_GC_P_LINKED/\&= ~(uintptr_t)0/')"
mutant what_waited_is_up_to_date mirror "$(in_function rrci_anchor_waiting 's/|= RRCI_NODE_STALE/|= 0/')"
mutant tracked_p_links_are_not_idle mirror "$(in_function rrci_decide_tracked '/heap->idle +=/d')"
finish
