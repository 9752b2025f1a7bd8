#!/bin/sh
# attempt.sh - builds and runs the tests with a header that was changed.
#
#   attempt.sh build OUT KIND...               once: all but the unit with the header's
#                                              implementation
#   attempt.sh run OUT KIND TOPIC FOLDER       with FOLDER/rawrefcount.h; files go to FOLDER
#
# KIND is dict, slot (and debug), mirror or watched (mirror and debug). TOPIC says which
# tests come first: links, cycles, mirror; or all. The exit status of run: 0 if the tests find
# nothing wrong, 1 if they do, 2 if it does not compile, 3 if the object file is that
# of FOLDER/KIND.same.o, if there is one.
#
#   HEADER_CC             compiles that unit; default: CC -O1
#   SECONDS_PER_PROGRAM   default: 60
set -u
. tests/lib.sh
command=$1 out=$2
FLAGS='-std=c99 -w -I. -Itests -DUNIT_CMOCKA=0 -DUNIT_STOP=1 -DQUICK_SUITE=1'

defines_of() {
    case $1 in
    dict) echo -DHOST_SLOT=0 ;;
    slot) echo -DHOST_SLOT=1 -DRRC_DEBUG ;;
    mirror) echo -DRRC_MIRROR ;;
    watched) echo -DRRC_MIRROR -DRRC_DEBUG ;;
    esac
}

build() {
    for source in $2; do
        # shellcheck disable=SC2046,SC2086
        $CC $FLAGS -O1 $(defines_of "$1") -c "tests/$source.c" -o "$out/$1-$source.o" || exit 2
    done
}
sources() { (cd tests && for file in $1; do echo "${file%.c}"; done); }

if [ "$command" = build ]; then
    mkdir -p "$out" || exit 2
    shift 2
    for kind in "$@"; do
        case $kind in
        dict | slot)
            build "$kind" "unit host objects random suite other_debug other_layout static_plain static_adapted
                knots world cycles random_cycles small_graphs graphs $(sources 'test_*.c')" ;;
        *) build "$kind" "unit $(sources 'mirror*.c')" ;;
        esac
    done
    exit 0
fi

kind=$3 topic=$4 folder=$5
limit=
if have timeout; then limit="timeout ${SECONDS_PER_PROGRAM:-60}"; fi
impl=$folder/impl.o
# shellcheck disable=SC2046,SC2086
${HEADER_CC:-$CC -O1} -I"$folder" $FLAGS $(defines_of "$kind") -c tests/impl.c -o "$impl" || exit 2
if [ -f "$folder/$kind.same.o" ] && cmp -s "$impl" "$folder/$kind.same.o"; then exit 3; fi

# link PROGRAM OBJECTS...; its arguments are those of the command that runs it.
link() { program=$folder/$1; shift; $CC "$@" "$impl" -lpthread -o "$program" 2>/dev/null || exit 2; }
pass() { $limit "$program" "$@" >"$folder/log" 2>&1 || exit 1; }

o=$out/$kind
host="$o-unit.o $o-host.o $o-objects.o"
cycles() {
    # shellcheck disable=SC2086
    link cycles "$o-cycles.o" "$o-world.o" "$o-random_cycles.o" "$o-small_graphs.o" "$o-graphs.o" $host
    pass graphs tests/graphs/*.graph
    pass random 1 100 300
    pass small 4003
}
links() {
    # shellcheck disable=SC2086
    link random "$o-random.o" $host
    pass 1 50
}
if [ "$kind" = mirror ] || [ "$kind" = watched ]; then
    link mirror "$o"-mirror*.o "$o-unit.o"
    pass cases
    pass graphs tests/graphs/*.graph
    pass random 1 400 500
    pass small 997
else
    case $topic in
    all) cycles; links ;;
    *) $topic ;;
    esac
    # shellcheck disable=SC2086
    link suite "$o-suite.o" "$o-knots.o" $host "$o"-other_*.o "$o"-static_*.o "$o"-test_*.o
    pass
fi
