# lib.sh - what the test scripts share: counts, and the compilers there are.
# A script is started from the project's top folder:  . tests/lib.sh
#
#   CC, CXX       the compilers to test with first (default: cc, c++)
#   BUILD         where output goes (default: build)
#   QUICK=1       CC only, one setting of each kind

CC=${CC:-cc}
CXX=${CXX:-c++}
BUILD=${BUILD:-build}
QUICK=${QUICK:-0}
STRICT='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

passed=0
failed=0
skipped=0

pass() { passed=$((passed + 1)); echo "ok: $*"; }
fail() { failed=$((failed + 1)); echo "FAILED: $*"; }
skip() { skipped=$((skipped + 1)); echo "skipped: $*"; }

# expect NAME COMMAND...: a check that passes if the command does.
expect() {
    expect_name=$1
    shift
    if "$@"; then pass "$expect_name"; else fail "$expect_name"; fi
}

NEWLINE='
'

# A command as part of a file name.
tag_of() { echo "$1" | tr -c 'A-Za-z0-9.+\n-' '_'; }

have() { command -v "${1%% *}" >/dev/null 2>&1; }

# same_text NAME FILE FILE: passes if they are equal, else shows where not.
same_text() {
    if diff -u "$2" "$3"; then pass "$1"; else fail "$1"; fi
}

# The C compilers to test with: $CC, and unless it is quick, gcc and clang where $CC
# is not just one of them by another name. One a line, as a command may have blanks:
#     IFS=$NEWLINE; for cc in $(compilers); do unset IFS; ...
compilers() {
    echo "$CC"
    [ "$QUICK" = 1 ] && return
    for other in gcc clang; do
        have $other || continue
        [ "$($other --version 2>/dev/null | head -n 1 | sed 's/^[^ ]* //')" = \
          "$($CC --version 2>/dev/null | head -n 1 | sed 's/^[^ ]* //')" ] || echo $other
    done
}

# The C++ compiler that belongs to a C compiler.
cxx_of() {
    case $1 in
    "$CC") echo "$CXX" ;;
    gcc*) echo "g++${1#gcc}" ;;
    clang*) echo "clang++${1#clang}" ;;
    esac
}

# needs_only NM OBJECT NAMES...: the object refers to nothing else, as that nm lists it.
needs_only() {
    nm=$1 object=$2
    shift 2
    $nm -u "$object" >"$object.all" || return 1
    awk '{ print $NF }' "$object.all" >"$object.needs"
    for name in "$@"; do
        sed "/^$name\$/d" "$object.needs" >"$object.rest" && mv "$object.rest" "$object.needs"
    done
    [ -s "$object.needs" ] || return 0
    echo "it also needs: $(tr '\n' ' ' <"$object.needs")"
    return 1
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
    exit
}
