# frozen_string_literal: true

# Controls that must fail: the binding with one mistake put in, for which the tests must find
# it. `ruby test/mutants.rb [NAME...]`, after `rake test_libraries`; BUILD as for rake. With PART=2/4, the second quarter of
# them. A mutation that does not find its place in the text is a failure too.

require "fileutils"
require "rbconfig"

HERE = File.expand_path("..", __dir__)
OUT = File.expand_path(ENV["BUILD"] || "tmp", HERE)
PART, PARTS = (ENV["PART"] || "1/1").split("/").map(&:to_i)
WORK = "#{OUT}/mutant#{PART}"

# name => [file, text, what takes its place, the test that is asked first]
MUTANTS = {
  "minors_do_not_trace" => ["collector.c", "        rrc_minor_collection_trace(rrb.heap);\n    rrb_mark", "        (void)0;\n    rrb_mark"],
  "wrappers_do_not_report" => ["collector.c", "        rrc_marked_ob(rrb.heap, (rrc_object *)data);", "        (void)data;"],
  "ages_are_mixed_up" => ["collector.c", "& RUBY_FL_PROMOTED) == RUBY_FL_PROMOTED;   ", "& RUBY_FL_PROMOTED) != 0;"],
  "nothing_is_demoted" => ["collector.c", ".demotes = 1, .incremental", ".incremental", "collector"],
  "unhooked_collections_keep_nothing" => ["collector.c", "        keep_all();\n        return;", "        return;", "process"],
  "marks_of_the_root_by_others_do_not_count" => ["collector.c", "    rrb.root_was_marked = rrb.is_major;\n    if (!rrb.in_hooked_gc) {\n        keep_all();\n        return;\n    }\n",
                                                 "    if (!rrb.in_hooked_gc) {\n        keep_all();\n        return;\n    }\n    rrb.root_was_marked = rrb.is_major;\n", "collector"],
  "links_do_not_move" => ["collector.c", "        return (rrc_gcref)rb_gc_location(p);", "        return ref;"],
  "slices_need_no_promise" => ["collector.c", "    return rrb.was_promised && rrb.promises_missing == 0;", "    return 1;", "collector"],
  "later_extensions_need_no_promise" => ["collector.c", "    return rrb.was_promised && rrb.promises_missing == 0;", "    return rrb.was_promised;", "collector"],
  "slices_are_not_begun" => ["collector.c", "    if (rrb.reports && !rrb.in_slices)\n        start_slices();", "", "collector"],
  "watched_objects_have_no_value" => ["internal.h", "(ob->ob_refcnt & INTPTR_MAX) >=", "ob->ob_refcnt >=", "collector"],
  "the_dead_are_not_forgotten" => ["collector.c", "        rrb_forget(p);", "        (void)p;", "states"],
  "the_root_is_protected" => ["collector.c", ".dcompact = root_compact },\n    .flags = RUBY_TYPED_FREE_IMMEDIATELY",
                              ".dcompact = root_compact },\n    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED"],
  "shown_references_have_no_barrier" => ["objspace.c", "    rb_gc_writebarrier(from, to);", "    (void)from;", "objspace"],
  "views_show_references_twice" => ["collector.c", "    return rrb.mode == RRB_IDLE && rrb.insight.edges == NULL;", "    return rrb.mode == RRB_IDLE;", "insight"],
  "exact_marking_takes_c_references_for_rubys" => ["collector.c", "    return rrb.mode == RRB_IDLE && rrb", "    return rrb", "cycles"],
  "the_root_shows_nothing" => ["collector.c", "            rrb_show_root();", "            (void)0;", "objspace"],
  "the_look_goes_on" => ["objspace.c", "        rrc_major_collection_pause(rrb.heap);", "        (void)0;", "objspace"],
  "objects_without_wrappers_end_it" => ["objspace.c", "    for (i = 0; i < l.count; i++)", "    for (i = 0; i < 0; i++)", "objspace"],
  "all_objects_are_passed" => ["objspace.c", "#define MAX_PASSED 1000\n#define PLACES 2048 ", "#define MAX_PASSED 100000\n#define PLACES 262144 ", "objspace"],
  "jobs_are_not_scheduled" => ["collector.c", "    rb_postponed_job_register_one(0, run_job, NULL);\n#endif", "    (void)run_job;\n#endif"],
  "jobs_run_in_any_ractor" => ["collector.c", "    if (rb_ractor_local_storage_ptr(our_key) == &rrb)\n", "    if (1)\n", "collector"],
  "early_jobs_are_lost" => ["usercode.c", "        rrb.job_was_early = 0;\n        rrb_schedule();", "        rrb.job_was_early = 0;", "collector"],
  "user_code_is_not_guarded" => ["usercode.c", "    if (rrb.is_closed)                  /* Ruby itself may be gone */", "    if (1)", "usercode"],
  "errors_in_flight_are_lost" => ["usercode.c", "        rb_ensure(noop, Qnil, enter_and_work, (VALUE)&call);", "        enter_and_work((VALUE)&call);", "usercode"],
  "errors_in_flight_are_lost_in_slots_of_slots" => ["usercode.c", "        rb_ensure(noop, Qnil, work, arg);", "        work(arg);", "usercode"],
  "errors_in_flight_are_lost_in_calls" => ["objects.c", "    return rb_ensure(noop, Qnil, call_and_store, arg);", "    return call_and_store(arg);", "usercode"],
  "slots_are_cut_short" => ["usercode.c", "    if (rb_thread_alone())\n        call->work(call->arg);", "    if (1)\n        call->work(call->arg);", "usercode"],
  "methods_are_cut_short" => ["usercode.c", "    if (rb_thread_alone())\n        return", "    if (1)\n        return", "usercode"],
  "kills_are_lost_in_methods" => ["usercode.c", "    return rb_ensure(do_method, (VALUE)&call, end_method, (VALUE)&call);", "    leave(call.thread); rrb_masked(work, arg); (void)do_method; (void)end_method; return Qnil;", "usercode"],
  "methods_stay_inside" => ["usercode.c", "    take_beginning(thread);             /* (if Ruby has not come to the block) */\n    leave(thread);", "    take_beginning(thread);", "usercode"],
  "ruby_delivers_to_c" => ["usercode.c", "        stay_masked();\n    return result;", "        (void)0;\n    return result;", "usercode"],
  "nothing_is_delivered" => ["usercode.c", "        hook(thread, EVENTS);", "        (void)0;", "usercode"],
  "one_exception_is_delivered" => ["usercode.c", "            rb_ary_unshift(list, item);", "            (void)0;", "usercode"],
  "slots_are_delivered_to" => ["usercode.c", "    while (!is_inside(thread) && !NIL_P(list)) {", "    while (!NIL_P(list)) {", "usercode"],
  "signals_are_lost" => ["usercode.c", "    if (RTEST(rb_obj_is_kind_of(error, rb_eSignal)))", "    if (0)", "usercode"],
  "lost_hooks_stay_lost" => ["collector.c", "        rb_tracepoint_disable(rrb.tracepoint);\n        rb_tracepoint_enable(rrb.tracepoint);", "        (void)0;", "collector"],
  "sweeps_count_as_marking" => ["collector.c", "rb_gc_latest_gc_info(sym_state) != sym_sweeping;", "1;", "collector"],
  "marking_ends_with_the_slice" => ["collector.c", "    rrb.is_open = rrb.in_hooked_gc = 0;", "    rrb.is_open = 0;", "collector"],
  "hooks_stay_on" => ["collector.c", "        rrb.hooks_on = 0;\n        rb_tracepoint_disable(rrb.tracepoint);", "        rrb.hooks_on = 0;", "collector"],
  "hooks_stay_off" => ["collector.c", "        rb_tracepoint_enable(rrb.tracepoint);\n        rrb.hooks_on", "        rrb.hooks_on"],
  "cycles_wait_for_ruby" => ["collector.c", "        rrb.minor_started = rrb.minor_wanted = 1;\n        rrb_schedule();", "        rrb.minor_started = 1;", "collector"],
  "no_major_follows" => ["collector.c", "        start_collection(1);", "        (void)0;", "collector"],
  "the_limit_is_low" => ["collector.c", "        if (more < tracked)\n            more = tracked;", "        more = 0;", "collector"],
  "ruby_code_runs_in_c" => ["collector.c", "        rrb.minor_started = rrb.minor_wanted = 1;\n        rrb_schedule();", "        rrb.minor_started = 1;\n        start_collection(0);", "dispose"],
  "wanted_minors_are_weighed_at_once" => ["collector.c", "    if (!minor_started)                 /*", "    if (1) /*", "collector"],
  "all_classes_can_dispose" => ["objects.c", "    if (spec->can_dispose)", "    if (1)", "dispose"],
  "minors_are_left_out" => ["collector.c", "    start_collection(0);", "    start_collection(1);", "collector"],
  "disabled_collections_are_started" => ["collector.c", "    if (!majors_are_allowed() || RTEST(rb_gc_disable()))\n        return;", "    ", "collector"],
  "bytes_are_not_reported" => ["collector.c", "    rb_gc_adjust_memory_usage(bytes);", "    (void)bytes;"],
  "ruby_has_no_occasion_to_collect" => ["collector.c", "    ruby_xfree(ruby_xmalloc(1));", "    (void)0;"],
  "variables_are_no_state" => ["objects.c", "    return has_variables(wrapper) || RB", "    return RB", "wrappers"],
  "frozen_is_no_state" => ["objects.c", " || RB_FL_ANY_RAW(wrapper, RUBY_FL_FREEZE)", "", "wrappers"],
  "classes_are_no_state" => ["objects.c", "        || RBASIC_CLASS(wrapper) != class_of_type(ob->ob_type);", "        || (0 && ob);", "wrappers"],
  "all_wrappers_have_state" => ["collector.c", " && rrb_has_state(p);", ";", "wrappers"],
  "minors_do_not_keep_state" => ["collector.c", " && rrb_has_state(p);", " && rrb.is_major && rrb_has_state(p);", "wrappers"],
  "finalizers_keep_wrappers" => ["collector.c", "\n        && (rrb.mode == RRB_EXACT || rrc_refcnt(RTYPEDDATA_DATA(p)) > 0)", "", "states"],
  "exact_marking_keeps_no_state" => ["collector.c", "(rrb.mode == RRB_EXACT || rrc_refcnt(", "(rrc_refcnt(", "states"],
  "states_are_not_marked" => ["collector.c", "    rrb_mark_states(rb_gc_mark);", "    (void)0;", "states"],
  "exact_marking_passes_states" => ["exact.c", "        rrb_mark_states(rrb_exact_trace);", "        (void)0;", "states"],
  "what_is_left_is_not_marked" => ["collector.c", "    rrb_mark_what_is_left(rrb.is_major);", "    (void)0;", "states"],
  "the_dead_leave_no_state" => ["states.c", "        else if (was_marked)", "        else if (0)", "states"],
  "the_disposed_leave_no_state" => ["objects.c", "        rrb_leave_state(wrapper);", "        (void)0;", "states"],
  "the_end_leaves_no_state" => ["collector.c", "        rrb_leave_state((VALUE)p);", "        (void)0;", "states"],
  "watched_wrappers_do_not_move" => ["collector.c", "    rrb_watched_moved();", "    (void)0;", "states"],
  "watched_wrappers_are_never_young_again" => ["states.c", "    size_t from = is_major ? 0 : watched.old, i, count", "    size_t from = watched.old, i, count", "states"],
  "untracked_objects_keep_singleton_classes" => ["states.c", "    return rrc_gc_is_tracked(rrb.heap, RTYPEDDATA_DATA(wrapper)) ?", "    return 1 ?", "states"],
  "states_are_not_dropped" => ["usercode.c", "        rrb_drop_state(ob);", "        (void)0;", "states"],
  "frozen_is_not_left" => ["states.c", "    if (s->is_frozen)", "    if (0)", "states"],
  "singleton_classes_stay_behind" => ["states.c", "        rb_singleton_class_attached(s->klass, wrapper);", "        (void)0;", "states"],
  "only_tracked_objects_are_counted" => ["exact.c", "    return stats.finalizable > watched ? stats.finalizable : watched;", "    return stats.finalizable;", "states"],
  "what_is_finalized_is_counted" => ["states.c", "    return ob == NULL || rrc_gc_is_finalized(rrb.heap, ob);", "    return ob == NULL;", "cycles"],
  "what_is_disposed_of_is_counted" => ["states.c", "        watched.spent += spent;", "        watched.spent += RTYPEDDATA_DATA(wrapper) != NULL && spent;", "cycles"],
  "what_exact_collections_finalize_is_counted" => ["exact.c", "    rrb_settle_watched();               /* finalizers have run */\n", "", "states"],
  "exact_marking_visits_roots_only" => ["exact.c", "    while (marked.gray_count > 0 &&", "    while (0 &&"],
  "exact_marking_visits_no_roots" => ["exact.c", "        rb_objspace_reachable_objects_from_root(visit_root, NULL);", "        (void)visit_root;", "cycles"],
  "all_ractors_are_looked_at" => ["exact.c", "    if (!has_others && grow()) {", "    if (grow()) {", "collector"],
  "exact_collections_are_not_started" => ["collector.c", "        rrb_exact_collection();", "        (void)0;", "states"],
  "collect_looks_at_tracked_objects_only" => ["insight.c", "        if (rrb_count_finalizable() > 0)", "        if (object_count() == 0)", "states"],
  "collect_is_not_exact" => ["insight.c", "            rrb_exact_collection();", "            (void)0;"],
  "wrappers_are_held_as_values" => ["objects.c", "    ob = rrb_is_wrapper(value) ? object_of(value) : rrc_from_obj", "    ob = 0 ? NULL : rrc_from_obj"],
  "wrapped_objects_are_light" => ["objects.c", "(rrc_gcref)wrapper, ob, RRC_O)", "(rrc_gcref)wrapper, ob, RRC_O | RRC_LIGHT)", "wrappers"],
  "the_parted_are_not_forgotten" => ["collector.c", "    rrb_forget((VALUE)p);\n}", "    (void)0;\n}", "process"],
  "scripts_get_what_is_cleared" => ["usercode.c", "        rrb_forget(rrb_value_of(ob));", "        (void)0;", "slots"],
  "the_end_has_no_order" => ["collector.c", " .mark_from_c = rrb_mark_from_c,", "", "process"],
  "constants_are_owned" => ["exact.c", "        if (rrb.mode == RRB_EXACT || !is_of_program(v))", "        if (1 || is_of_program(v))", "process"],
  "code_owns_constants" => ["exact.c", "        return kind == KIND_CLASS_REFERENCE || kind == KIND_METHOD || kind == KIND_CODE;", "        return kind < 0;", "process"],
  "the_order_has_no_limit" => ["exact.c", "(marked.most > 0 && marked.count >= marked.most) || ", "", "process"],
  "the_heap_is_left_open" => ["collector.c", "        rrc_heap_free(rrb.heap);", "        (void)0;", "process"],
  "the_uninitialized_are_objects" => ["objects.c", "    if (ob == &rrb_no_object)\n        rb_raise", "    if (0)\n        rb_raise", "wrappers"],
  "objects_are_wrapped_twice" => ["objects.c", "    if (rrc_to_obj(rrb.heap, args->ob) != NULL)\n        rb_raise", "    if (0)\n        rb_raise", "wrappers"],
  "gone_values_are_called" => ["objects.c", "    if (NIL_P(value) && callable != NULL", "    if (0 && callable != NULL", "process"],
  "late_calls_reach_ruby" => ["objects.c", "    if (rrb.is_closed)                  /* Ruby itself may be gone */", "    if (0)", "process"],
  "values_get_wrappers" => ["objects.c", "    if (rrc_ruby_is_value(args->ob))\n        rb_raise", "    if (0)\n        rb_raise", "wrappers"],
  "what_is_deallocated_is_wrapped" => ["objects.c", "    if (rrc_refcnt(ob) == 0)\n        rb_raise", "    if (0)\n        rb_raise", "slots"],
  "dispose_leaves_the_link" => ["objects.c", "    rrc_unlink(rrb.heap, ob);", "    (void)0;"],
  "dispose_leaves_the_object" => ["objects.c", "    RTYPEDDATA_DATA(wrapper) = NULL;\n    if (ob == &rrb_no_object)", "    if (ob == &rrb_no_object)", "wrappers"],
  "types_are_not_compared" => ["objects.c", "    if (type != NULL && ob->ob_type != type)", "    if (0)"],
  "new_objects_are_leaked" => ["objects.c", "    rrc_decref(rrb.heap, (rrc_object *)ob);\n    return Qnil;", "    (void)ob;\n    return Qnil;"],
  "names_are_lost" => ["view.c", "    show_noted(p);\n", "", "insight"],
  "names_do_not_count" => ["view.c", "    place->stamp = view.stamp;", "    (void)0;", "insight"],
  "our_stack_keeps_all" => ["view.c", " || strcmp(category, \"machine_context\") == 0)", ")", "insight"],
  "the_question_is_an_answer" => ["view.c", " || (is_stack && to == view.asked))", ")", "insight"],
  "the_collector_stays_off" => ["view.c", "    if (!((opening *)arg)->was_disabled)\n        rb_gc_enable();", "", "insight"],
  "objects_are_not_known_again" => ["view.c", "        about->id = id_of(p);", "        (void)0;", "insight"],
  "false_is_no_value" => ["objects.c", "        return hold_immediate(value);", "        return hold_immediate(RTEST(value) ? value : Qnil);"],
  "immediates_have_many_objects" => ["objects.c", "    st_insert(immediates, key, (st_data_t)ob);\n", "    st_delete(immediates, &key, NULL);\n", "values"],
  "dead_immediates_are_found" => ["objects.c", "    if (!rrb.is_closed)\n        st_delete", "    if (0)\n        st_delete", "values"],
  "the_frozen_change" => ["objects.c", "    ob = rrc_ruby_unwrap(value, type);\n    rb_check_frozen(value);", "    ob = rrc_ruby_unwrap(value, type);", "wrappers"],
  "the_frozen_are_initialized" => ["objects.c", "    rb_check_frozen(self);\n", "", "wrappers"]
}.freeze

# The binding as it is, once: for each mutation make does the file that it is in, and the one before.
def prepare
  FileUtils.rm_rf(WORK)
  FileUtils.mkdir_p(WORK)
  FileUtils.cp_r("#{HERE}/ext/rawrefcount", "#{WORK}/ext")
  header = ["#{HERE}/ext/rawrefcount", File.expand_path("../..", HERE)].find { |dir| File.exist?("#{dir}/rawrefcount.h") }
  FileUtils.cp("#{header}/rawrefcount.h", "#{WORK}/ext/rawrefcount.h")
  insight = "#{header}/bindings/insight/rrc_insight.h"
  FileUtils.cp(insight, "#{WORK}/ext/rrc_insight.h") if File.exist?(insight)
  FileUtils.cp_r("#{OUT}/lib/.", "#{WORK}/lib")
  Dir.chdir("#{WORK}/ext") { system({ "RAWREFCOUNT_CFLAGS" => "-O0 -g0 -w" }, "#{RbConfig.ruby} extconf.rb >log 2>&1") }
end

def build(file, text, instead)
  path = "#{WORK}/ext/#{file}"
  source = File.read(path)
  return "it does not find its place" unless source.scan(text).size == 1

  File.write(path, source.sub(text) { instead })
  made = Dir.chdir("#{WORK}/ext") { system("make >log 2>&1") }
  File.write(path, source)
  return "it does not compile: see #{WORK}/ext/log" unless made

  FileUtils.cp("#{WORK}/ext/rawrefcount.#{RbConfig::CONFIG['DLEXT']}", "#{WORK}/lib/rawrefcount/")
  nil
end

# The test that notices, or nil.
def noticed_by(tests, seconds = 120)
  tests.find do |test|
    !system({ "RUNS" => "6", "CPU_SECONDS" => "20", "FIRST_FAILURE" => "1" }, "timeout", "-s", "KILL", seconds.to_s, RbConfig.ruby, "-I#{WORK}/lib", "-I#{HERE}/lib",
            "-I#{HERE}/test", "#{HERE}/test/test_#{test}.rb", out: "#{WORK}/log", err: %i[child out])
  end
end

TESTS = %w[values wrappers dispose states usercode foreign insight objspace process random collector cycles].freeze

# Some mistakes show only if Ruby's collector comes at the right moment, and so the tests are asked twice.
def noticed_by_any(first)
  tests = [first, *TESTS].compact.uniq
  noticed_by(tests) || noticed_by(tests)
end

$stdout.sync = true
passed = failed = 0
prepare or abort "the binding cannot be built: see #{WORK}/ext/log"
same = '#include "internal.h"'
fault = PART == 1 && ARGV.empty? && (build("collector.c", same, same) || noticed_by(TESTS, 600))
abort "without a mistake: #{fault}: see #{WORK}/log" if fault
MUTANTS.each_with_index do |(name, (file, text, instead, first)), i|
  next if (ARGV.any? && !ARGV.include?(name)) || i % PARTS != PART - 1

  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  trouble = build(file, text, instead)
  test = noticed_by_any(first) unless trouble
  trouble ||= "no test notices" unless test
  trouble ? failed += 1 : passed += 1
  seconds = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start).round
  puts trouble ? "FAILED: #{name}: #{trouble}" : "ok: #{name}: #{test} notices, #{seconds} s"
end
puts "#{passed} passed, #{failed} failed"
exit failed.zero? && passed.positive?
