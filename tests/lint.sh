#!/bin/sh
# lint.sh FILE... - static analysis of implementing units, with each setting of LINT_SETTINGS,
# by whatever of cppcheck, clang-tidy and gcc's analyzer is there.
. tests/lib.sh
log=$BUILD/lint.log

# finds_nothing NAME COMMAND...
finds_nothing() {
    finds_name=$1
    shift
    if "$@" >"$log" 2>&1 && ! grep -q 'warning:' "$log"; then
        pass "$finds_name: nothing found"
    else
        fail "$finds_name"
        cat "$log"
    fi
}

analyze() {
    file=$1 setting=$2
    if have cppcheck; then
        # shellcheck disable=SC2086
        finds_nothing "cppcheck $setting" $CPPCHECK -D$setting "$file"
    else
        skip "cppcheck: not there"
    fi
    if have clang-tidy; then
        finds_nothing "clang-tidy $setting" clang-tidy --quiet --warnings-as-errors='*' --header-filter="rawrefcount|rrc_closed" \
            --checks="$TIDY_CHECKS" "$file" -- -std=c99 -I. -D$setting
    else
        skip "clang-tidy: not there"
    fi
    if gcc -fanalyzer -E -x c /dev/null >/dev/null 2>&1; then
        finds_nothing "gcc -fanalyzer $setting" gcc -std=c99 -I. -O1 -fanalyzer -D$setting -c "$file" -o "$BUILD/lint.o"
    else
        skip "gcc -fanalyzer: not there"
    fi
}

for one in "$@"; do
    for each in $LINT_SETTINGS; do
        analyze "$one" "$each"
    done
done
finish
