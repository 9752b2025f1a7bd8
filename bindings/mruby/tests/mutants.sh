#!/bin/sh
# mutants.sh [NAME...] - controls that must fail: rrc_mruby.h or rrc_mruby_insight.h with one mistake put in, or
# a rule that the tests break. Each must be found by `random` or by `test_mruby`.
# MRUBY_COMPILE and MRUBY_LIBS come from mruby.mk.
set -u
here=bindings/mruby/tests
out=${BUILD:-build}/mruby/mutants
mruby_compile=$(echo "$MRUBY_COMPILE" | sed 's| -Ibindings/mruby||')   # the header comes from elsewhere
MALLOC_PERTURB_=165             # glibc: what is freed is overwritten
export MALLOC_PERTURB_
mkdir -p "$out"

# name | what sed does to both headers, or -D and a rule to break
mutants='
no-touch          | -DWITHOUT_TOUCH
no-incref         | -DWITHOUT_INCREF
no-anchor         | s/^    ARY_PTR(places)\[.*\] = on ? .*/    ;/
anchors-stay      | s/^    ARY_PTR(places)\[/    if (on) ARY_PTR(places)[/
no-anchor-barrier | s/mrb_write_barrier(state->mrb, (struct RBasic \*)places);/;/
no-node-barrier   | s/mrb_write_barrier(state->mrb, (struct RBasic \*)job.list);/;/
never-doomed      | s/return mrb->gc.state == MRB_GC_STATE_SWEEP \&\& .*/return 0;/
doomed-in-marking | s/return mrb->gc.state == MRB_GC_STATE_SWEEP \&\& /return /
no-node-of-proxy  | s/^    rrcm_set_node((rrcm_state \*)userdata, (struct RData \*)proxy->object.*/    ;/
unmarked-nodes    | s/mrb_gc_mark(mrb, (struct RBasic \*)cell->object);/;/
unmarked-let-go   | s/^        rrcm_mark_too(state->mrb, cell);/        ;/
lists-lack-one    | s/= mrb_obj_value(targets\[i\]->object);/= i + 1 < n ? mrb_obj_value(targets[i]->object) : mrb_nil_value();/
lists-in-place    | s/gc->disabled = TRUE;.*/;/; s/^    rrcm_mark_too(state->mrb, head);/    ;/
values-stay       | s/        rrc_map_put(\&state->values, mrb_ptr(value->value), NULL);/        ;/
no-death          | s/{ "rawrefcount proxy", rrcm_swept }/{ "rawrefcount proxy", NULL }/
boxes-live-on     | s/{ "rawrefcount box", rrcm_swept }/{ "rawrefcount box", NULL }/
nodes-live-on     | s/{ "rawrefcount node", rrcm_swept }/{ "rawrefcount node", NULL }/
proxies-have-o-links | s/object, ob, RRC_P)/object, ob, RRC_O)/
no-patience       | s/rrc_closed_keep_up(state->heap, has_cycle_ended,/rrc_closed_keep_up(state->heap, 0,/
calls-run-nothing | s/^        rrcm_protect(mrb, rrcm_run_pending_protected, .*/        ;/
late-wraps        | s/if (ob == NULL || state->is_closed)$/if (ob == NULL)/
values-as-objects | /^static void rrcm_check_self/,/^}/s/    if (rrc_mruby_is_value(ob))$/    if (0)/
pending-errors    | /^static void rrcm_report_error/,/^}/s/\*rrcm_error_place(state) = mrb_nil_value();/;/
no-first-cycle    | s/^    if (!rrcm_is_between_cycles(state->mrb))$/    if (0)/
no-guard          | s/#  define RRC_HOST_GUARD.*/#  define RRC_HOST_GUARD(heap, slot, ob) (slot)((heap), (ob))/
wrap-unprotected  | /^RRC_MRUBY_API mrb_value rrc_mruby_wrap(.*)$/,/^}/s/^    mrb_gc_protect(mrb, result);/    ;/
disposed-keeps    | s/rrcm_set_node(state, RDATA(proxy), mrb_nil_value());/;/
in-use-overlooked | s/^            user = frame;/            ;/
only-self-in-use  | s/i < frame->args.count \&\& !uses/0/
innermost-in-use  | s/^            user = frame;/            user = user == NULL ? frame : user;/
make-uses-nothing | s/        return rrcm_call_function(&frame, rrcm_make_and_init);/        return rrcm_make_and_init(\&frame.args);/
errors-not-aside  | s/^        mrb_ary_push(mrb, mrb_obj_value(job->state->errors), mrb_nil_value());/        ;/
work-in-a-yield   | s/^    if (mrb->c != frame->context) {/    if (0) {/
late-forgotten    | s/^    rrcm_drop(state, NULL);/    ;/
leaving-lost      | s/^    mrb->exc = leaving;/    ;/
waiting-lost      | s/^    rrcm_set_error(state, waiting);/    ;/
kept-by-a-break   | s/^    if (frame->keeps)$/    if (frame->keeps \&\& !frame->is_left)/
result-unrooted   | s/^    mrb_gc_protect(mrb, leaving != NULL .*/    ;/
leaving-unrooted  | s/leaving != NULL ? mrb_obj_value(leaving) : frame->result/frame->result/
waiting-unrooted  | s/^    mrb_gc_protect(mrb, waiting);/    ;/
unreported        | /^static void rrcm_drop_kept/,/^}/s/^    rrcm_report_error(state);/    ;/
count-unchecked   | s/    if (count > possible || count < .*/    if (0)/
self-unchecked    | s/args.ob = rrc_mruby_unwrap(mrb, self, cls);/args.ob = rrc_mruby_test(self, NULL);/
proxies-to-the-end | s/^    rrcm_part_proxies(state);/    ;/
cycles-to-the-end | /^static void rrcm_part_proxies/,/^}/s/^        rrc_closed_step(state->heap);/        ;/
no-order-at-the-end | s/^    rrc_closed_collect_in_order(state->heap);/    ;/
one-last-round    | s|^             \&\& --rounds > 0);|             \&\& 0);|
late-proxies-stay | s/while ((rrcm_dispose_all(state) ||/while ((0 ||/
wrapped-at-count-0 | s/^        if (rrc_refcnt(ob) == 0)/        if (0)/
the-question-holds | s/ \&\& mrb_basic_ptr(\*value) != view->state->asked)/)/
no-locals         | s/^        rrcm_see_locals(view, proc->upper, env->stack, MRB_ENV_LEN(env));/        ;/
no-globals        | s/^    rrcm_see_variables(view, (struct RBasic \*)\&globals, "global ");/    ;/
anchors-are-shown | s/ \&\& object != (struct RBasic \*)view->state->roots$//
wrappers-stay     | s/sizeof(rrcm_cell), 1 };/sizeof(rrcm_cell), 0 };/
two-sweeps        | s/^        rrc_cell_each(state->heap, rrcm_root_wrapper, state);/        ;/
major-overlooked  | s/ \&\& !(mrb->gc.generational \&\& mrb->gc.full)//
wrappers-pile-up  | s/^        rrcm_collect_wrappers(state);/        ;/
wrappers-miscounted | s/^        state->wrappers -= .*/        ;/
no-clear-at-the-end | s/^        state->is_ending = 1;  *\/\*.*/        state->is_ending = 0; \/*/
no-detach         | s/^    if (object != NULL)$/    if (0)/
'

# compile NAME SOURCE HEADER_DIR DEFINE: only nodes.c has the functions of rrc_mruby.h in it.
compile() {
    eval "$mruby_compile -O0 -g0 -w $4 -I$3 -I$here -Itests -DUNIT_CMOCKA=0 -c $2 -o $out/$1.o" >"$out/log" 2>&1 || return 2
}

# finds DEFINE: does a test fail, with nodes.o as it is?
finds() {
    compile random $here/random.c bindings/mruby "$1" || return 2
    for test in random test_mruby; do
        more=
        [ $test = random ] || more=$out/slots.o
        eval "${CC:-cc} $out/$test.o $more $out/nodes.o $out/unit.o $MRUBY_LIBS -o $out/$test" >"$out/log" 2>&1 || return 2
    done
    timeout 60 "$out/random" 1 60 2000 >>"$out/log" 2>&1 || return 0
    QUICK=1 timeout 60 "$out/test_mruby" >>"$out/log" 2>&1 || return 0
    return 1
}

passed=0 failed=0
verdict() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); echo "ok      $1"
    else failed=$((failed + 1)); echo "FAILED  $1: $4"; fi
}

wanted=" $* "
compile unit tests/unit.c bindings/mruby '' && compile test_mruby $here/test_mruby.c bindings/mruby '' &&
    compile slots $here/slots.c bindings/mruby '' &&
    compile nodes $here/nodes.c bindings/mruby '' && finds ''
verdict 'the header as it is' $? 1 "a test fails, or does not build: see $out/log"
echo "$mutants" | grep '|' >"$out/list"
while IFS= read -r line; do
    name=$(echo "${line%%|*}" | tr -d ' ')
    change=$(echo "${line#*|}" | sed 's/^ *//')
    case $wanted in "  " | *" $name "*) ;; *) continue ;; esac
    case $change in
    -D*)
        compile nodes $here/nodes.c bindings/mruby '' && finds "$change"
        verdict "$name" $? 0 "no test found it, or it does not build: see $out/log"
        ;;
    *)
        mkdir -p "$out/$name"
        is_there=
        for header in rrc_mruby.h rrc_mruby_insight.h; do
            sed "$change" "bindings/mruby/$header" >"$out/$name/$header"
            cmp -s "bindings/mruby/$header" "$out/$name/$header" || is_there=yes
        done
        if [ -z "$is_there" ]; then
            verdict "$name" 0 1 'its place is not there any more'
        else
            compile nodes $here/nodes.c "$out/$name" '' && finds ''
            verdict "$name" $? 0 "no test found it, or it does not build: see $out/log"
        fi
        ;;
    esac
done <"$out/list"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
