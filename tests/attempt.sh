#!/bin/sh
# attempt.sh - builds and runs the tests with a header that was changed.
#
#   attempt.sh build OUT KIND           once: all but the unit with the header's implementation
#   attempt.sh same OUT FOLDER KIND...  FOLDER/rawrefcount.h is what later ones are compared with
#   attempt.sh run OUT FOLDER KIND...   with FOLDER/rawrefcount.h; files go to FOLDER
#
# KIND is dict, slot (with macros and debug), mirror or watched (mirror and debug). The exit status of
# run: 0 if the tests find nothing wrong, 1 if they do, 2 if it does not compile, 3 if
# the object files are those of `same`.
#
#   HEADER_CC   compiles that unit, and links; default: tcc, which is quick, or else CC -O0
#   QUICK=1     runs only what notices most in the least time, which else comes first
set -u
. tests/lib.sh
command=$1 out=$2
FLAGS='-std=c99 -w -I. -Itests -DUNIT_CMOCKA=0 -DUNIT_STOP=1 -DQUICK_SUITE=1 -DUNIT_LOCKS=1'

defines_of() {
    case $1 in
    dict) echo -DHOST_SLOT=0 ;;
    slot) echo -DHOST_SLOT=1 -DHOST_MACROS=1 -DRRC_DEBUG ;;
    mirror) echo -DTEST_CLOSED ;;
    watched) echo -DTEST_CLOSED -DRRC_DEBUG ;;
    esac
}

sources() { (cd tests && for file in $1; do echo "${file%.c}"; done); }

if [ "$command" = build ]; then
    kind=$3
    case $kind in
    dict | slot)
        sources="unit states host objects insight weak random suite other_debug other_layout static_plain static_adapted
            knots world cycles random_cycles small_graphs graphs graph $(sources 'test_*.c')" ;;
    *) sources="unit states insight weak graph $(sources 'mirror*.c')" ;;
    esac
    mkdir -p "$out/$kind" && sh tests/states.sh >"$out/$kind/states.inc" || exit 2
    for source in $sources; do
        # shellcheck disable=SC2046,SC2086
        $CC $FLAGS -I"$out/$kind" -O1 $(defines_of "$kind") -c "tests/$source.c" -o "$out/$kind-$source.o" || exit 2
    done
    exit 0
fi

folder=$3
shift 3
if have tcc; then quick=tcc; else quick="$CC -O0"; fi
header_cc=${HEADER_CC:-$quick}

compile() {
    # shellcheck disable=SC2046,SC2086
    $header_cc -I"$folder" $FLAGS $(defines_of "$kind") -c tests/impl.c -o "$folder/$kind.o" || exit 2
    ! cmp -s "$folder/$kind.o" "$folder/$kind.same.o"
}
# link PROGRAM OBJECTS...
link() {
    program=$folder/$kind-$1
    shift
    $header_cc "$@" "$folder/$kind.o" -lpthread -o "$program" || exit 2
}
if have timeout; then limit='timeout -s KILL 120'; else limit=; fi
# pass PROGRAM ARGUMENTS...: a program that uses up its time on the processor has failed, and so
# has one that waits for ever.
pass() {
    program=$folder/$kind-$1
    shift
    # shellcheck disable=SC2086
    (ulimit -t "$seconds" && exec $limit "$program" "$@" >"$folder/log" 2>&1) || exit 1
}

# Two programs have a copy of the header of their own: damage looks inside, and slices has a host of its own.
# pass_alone PROGRAM ARGUMENTS...
pass_alone() {
    # shellcheck disable=SC2046,SC2086
    $header_cc -I"$folder" $FLAGS $(defines_of "$kind") "tests/$1.c" "$out/$kind-unit.o" -lpthread \
        -o "$folder/$kind-$1" || exit 2
    pass "$@"
}

SLOW_TESTS='ten_million callbacks_may_do_much callbacks_are_not_nested a_million all_allocations_fail the_last_slice
    finalizers_without_end each_function_says heaps gc_scale invariants movement memory'

link_all() {
    o=$out/$kind host="$out/$kind-unit.o $out/$kind-host.o $out/$kind-objects.o $out/$kind-insight.o $out/$kind-weak.o"
    # shellcheck disable=SC2086
    case $kind in
    dict | slot)
        link cycles "$o-cycles.o" "$o-world.o" "$o-random_cycles.o" "$o-small_graphs.o" "$o-graphs.o" "$o-graph.o" $host
        link random "$o-random.o" $host
        link suite "$o-suite.o" "$o-knots.o" "$o-states.o" $host "$o"-other_*.o "$o"-static_*.o "$o"-test_*.o ;;
    *) link mirror "$o"-mirror*.o "$o-graph.o" "$o-states.o" "$o-insight.o" "$o-weak.o" "$o-unit.o" ;;
    esac
}
run_quick() {
    seconds=2
    # shellcheck disable=SC2046,SC2086
    case $kind in
    dict | slot)
        pass cycles graphs tests/graphs/*.graph
        pass cycles random 1 40 300
        pass random 1 3
        pass cycles small 40009
        seconds=5
        pass_alone slices random 1 400 600
        pass suite $(printf -- '-%s ' $SLOW_TESTS) ;;
    *)
        pass mirror cases
        pass mirror graphs tests/graphs/*.graph
        pass mirror random 1 20 500
        pass mirror small 9973
        seconds=5
        pass mirror slices 227 0 60
        pass mirror slices 199999 ;;
    esac
    pass_alone damage
}
run_rest() {
    seconds=20
    # shellcheck disable=SC2086
    case $kind in
    dict | slot)
        pass suite $SLOW_TESTS
        pass slices random 401 2000 600
        pass slices small 997
        pass cycles random 41 100 300
        pass cycles small 4003
        pass random 4 50 ;;
    *)
        pass mirror small 997
        pass mirror slices 29999
        pass mirror random 21 200 500 ;;
    esac
}

if [ "$command" = same ]; then
    for kind in "$@"; do compile; mv "$folder/$kind.o" "$folder/$kind.same.o"; done
    exit 0
fi
changed=
for kind in "$@"; do
    if compile; then
        link_all
        run_quick
        changed="$changed $kind"
    fi
done
[ -n "$changed" ] || exit 3
[ "$QUICK" = 1 ] && exit 0
for kind in $changed; do run_rest; done
