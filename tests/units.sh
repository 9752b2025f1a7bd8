#!/bin/sh
# units.sh - programs whose units are of different languages run, as do private
# copies of the header in each; and an implementing unit has no data that can be
# written to, but in its heaps.
. tests/lib.sh
out=$BUILD/tests/units
mkdir -p "$out" || exit 1

level=-O1
[ "$QUICK" = 1 ] && level=-O0

# plays DESCRIPTION MAIN_COMPILER MAIN_FLAGS [IMPL_COMPILER IMPL_FLAGS]
plays() {
    description=$1
    rm -f "$out/main.o" "$out/impl.o" "$out/program"
    # shellcheck disable=SC2086
    if $2 $3 $STRICT $level -I. -c tests/tiny_main.c -o "$out/main.o" &&
        { [ $# -eq 3 ] || $4 $5 $STRICT $level -I. -c tests/tiny_impl.c -o "$out/impl.o"; } &&
        $link "$out/main.o" $([ $# -eq 3 ] || echo "$out/impl.o") -o "$out/program"
    then
        expect "$description" "$out/program"
    else
        fail "$description: not built"
    fi
}

IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    cxx=$(cxx_of "$cc")
    link=$cc
    plays "$cc: a private copy in C" "$cc" "-std=c99 -DRAWREFCOUNT_STATIC"
    plays "$cc: C, implementing unit in C" "$cc" -std=c99 "$cc" -std=c11
    if ! have "$cxx"; then
        skip "C++ with $cxx: not there"
        continue
    fi
    link=$cxx
    for std in c++11 c++17; do
        plays "$cxx $std: a private copy" "$cxx" "-x c++ -std=$std -DRAWREFCOUNT_STATIC"
        plays "$cxx $std: with debug checks" "$cxx" "-x c++ -std=$std -DRAWREFCOUNT_STATIC -DRRC_DEBUG"
        plays "$cxx $std: implementing unit in C" "$cxx" "-x c++ -std=$std" "$cc" -std=c99
        plays "$cxx $std: implementing unit for C" "$cc" -std=c99 "$cxx" "-x c++ -std=$std"
        [ "$QUICK" = 1 ] && break
    done
done

# Units that differ in RRC_DEBUG do not link, and the linker names the cause. A unit that takes and drops no references
# may differ (rrc_heap_new compares the settings), and so may one with a private copy.
names() {
    rm -f "$out/program"
    if "$@" -o "$out/program" >"$out/log" 2>&1; then return 1; fi
    grep -q "undefined.*$name" "$out/log"
}
printf '#include "rawrefcount.h"\nint says(rrc_heap *h);\nint says(rrc_heap *h) { return rrc_check_config(h); }\n' >"$out/quiet.c"
IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    cxx=$(cxx_of "$cc")
    for language in c c++; do
        compile="$cc -std=c99" link=$cc
        if [ $language = c++ ]; then
            have "$cxx" || continue
            compile="$cxx -std=c++11 -x c++" link=$cxx
        fi
        for debug in '' -DRRC_DEBUG; do
            # (QUICK=1: one direction in each language.)
            case $QUICK$language$debug in 1c-DRRC_DEBUG | 1c++) continue ;; esac
            rm -f "$out/main.o" "$out/impl.o" "$out/quiet.o" "$out/libimpl.so" "$out/alone.o"
            if [ -n "$debug" ]; then other='' name=if_all_units_define_RRC_DEBUG
            else other=-DRRC_DEBUG name=if_no_unit_defines_RRC_DEBUG; fi
            # shellcheck disable=SC2086
            $compile $debug $level -I. -c tests/tiny_main.c -o "$out/main.o" &&
                $compile $other $level -fPIC -I. -c tests/tiny_impl.c -o "$out/impl.o" &&
                $compile $debug $level -I. -c "$out/quiet.c" -o "$out/quiet.o" &&
                $compile $debug -DRAWREFCOUNT_STATIC $level -I. -c tests/tiny_main.c -o "$out/alone.o" &&
                $link -shared "$out/impl.o" -o "$out/libimpl.so" || fail "$cc, $language: not built"
            expect "$cc, $language: a unit ${debug:-without RRC_DEBUG} among others is named" \
                names "$link" "$out/main.o" "$out/impl.o"
            expect "... also by a shared library" names "$link" "$out/main.o" "$out/libimpl.so"
            expect "... a unit that counts nothing may differ, and one with a private copy" \
                "$link" "$out/alone.o" "$out/quiet.o" "$out/impl.o" -o "$out/program"
        done
    done
    [ "$QUICK" = 1 ] && break
done

# A unit that was built with another version of the header runs if both have the same RRC_ABI.
mkdir -p "$out/other"
link=$CC
for change in 's/VERSION_PATCH [0-9]*/VERSION_PATCH 99/; s/\(RRC_VERSION "[0-9.]*\)\.[0-9]*"/\1.99"/' \
              's/define RRC_ABI [0-9]*/define RRC_ABI 999/'; do
    sed "$change" rawrefcount.h >"$out/other/rawrefcount.h"
    cmp -s rawrefcount.h "$out/other/rawrefcount.h" && fail "the header was not changed by $change"
    rm -f "$out/main.o" "$out/impl.o" "$out/program"
    $CC -std=c99 -I"$out/other" -Itests -c tests/tiny_main.c -o "$out/main.o" &&
        $CC -std=c99 -I. -c tests/tiny_impl.c -o "$out/impl.o" &&
        $link "$out/main.o" "$out/impl.o" -o "$out/program" || fail "$change: not built"
    case $change in
    *PATCH*) expect "a unit of another patch release runs" "$out/program" ;;
    *)       expect "a unit with another RRC_ABI is refused" sh -c "! '$out/program'" ;;
    esac
done

if have nm && $CC -std=c99 -I. -fno-pie -c tests/tiny_impl.c -o "$out/data.o"; then
    expect "I7: an implementing unit has no writable data" \
        sh -c "! nm '$out/data.o' | grep -E ' [bBcCdDgGsS] '"
else
    skip "I7: data of an implementing unit: no nm, or no -fno-pie"
fi
finish
