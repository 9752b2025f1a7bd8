#!/bin/sh
# examples.sh - each example compiles without a warning, and prints what
# examples/expected says; the porting guide quotes it right. The closed host is also tested by random programs.
. tests/lib.sh
out=$BUILD/tests/examples
mkdir -p "$out" || exit 1

level=-O1
[ "$QUICK" = 1 ] && level=-O0
IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    tag=$(tag_of "$cc")
    for source in examples/*.c; do
        name=$(basename "$source" .c)
        if ! $cc -std=c99 $level -g $STRICT -I. "$source" -o "$out/$name-$tag"; then
            fail "$name with $cc: does not compile"
            continue
        fi
        if ! "$out/$name-$tag" >"$out/$name-$tag.txt"; then
            fail "$name with $cc: exit status"
            continue
        fi
        same_text "$name with $cc" "examples/expected/$name.txt" "$out/$name-$tag.txt"
    done
    cxx=$(cxx_of "$cc")
    if ! have "$cxx"; then
        skip "the examples in C++ with $cxx: not there"
        continue
    fi
    for std in c++11 c++14 c++17 c++20; do
        for source in examples/*.cpp; do
            name=$(basename "$source" .cpp)
            rm -f "$out/$name-$tag" "$out/$name-$tag.txt"
            if $cxx -std=$std $level $STRICT -I. "$source" -o "$out/$name-$tag" &&
                "$out/$name-$tag" >"$out/$name-$tag.txt"; then
                same_text "$name with $cxx as $std" "examples/expected/$name.txt" "$out/$name-$tag.txt"
            else
                fail "$name with $cxx as $std: does not compile, or its exit status"
            fi
        done
        [ "$QUICK" = 1 ] && break
    done
done

if [ "$QUICK" != 1 ]; then
    sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all'
    echo 'int main(void) { return 0; }' >"$out/empty.c"
    if $CC $sanitize "$out/empty.c" -o "$out/empty" 2>/dev/null && "$out/empty"; then
        for source in examples/*.c; do
            name=$(basename "$source" .c)
            expect "$name, sanitized" sh -c "$CC -std=c99 -g $sanitize -I. '$source' -o '$out/$name-sanitized' &&
                '$out/$name-sanitized' | cmp - 'examples/expected/$name.txt'"
        done
        for source in examples/*.cpp; do
            name=$(basename "$source" .cpp)
            if have "$CXX"; then
                expect "$name, sanitized" sh -c "$CXX -std=c++17 -g $sanitize -DRRC_DEBUG -I. '$source' \
                    -o '$out/$name-sanitized' && '$out/$name-sanitized' | cmp - 'examples/expected/$name.txt'"
            fi
        done
    else
        skip "sanitized examples: $CC cannot link them"
    fi
fi
# The closed host prints the same however often it collects. Its binding does as an oracle says.
sanitized=
[ "$QUICK" != 1 ] && [ -x "$out/empty" ] && sanitized=$sanitize
if $CC -std=c99 $level -g $STRICT $sanitized -DRRC_DEBUG -I. examples/closed_port.c -o "$out/closed_port-debug"; then
    for period in 1 2 7 50; do
        expect "closed_port that collects at each allocation number $period" sh -c "'$out/closed_port-debug' $period |
            cmp - examples/expected/closed_port.txt"
    done
else
    fail "closed_port with RRC_DEBUG: does not compile"
fi
# port clears its weak reference before it calls rrc_major_collection_keep, and drops symbols after it. Controls: the
# weak reference is not cleared, or symbols are dropped first.
port_with() {
    sed "$1" examples/port.c >"$out/changed_port.c"
    $CC -std=c99 -I. "$out/changed_port.c" -o "$out/changed_port" && "$out/changed_port" | grep -qF "$2"
}
expect "port without the clearing of its weak reference" \
    port_with '/m->weak != NULL/,/= NULL;/d' 'The weak reference gives a proxy whose button is gone'
expect "port that drops symbols too early" \
    port_with '/collection_keep/{ h; d; }; /drop_dead_symbols(m)/G' 'The VM has another symbol'
runs=300
[ "$QUICK" = 1 ] && runs=50
if $CC -std=c99 $level -g $STRICT $sanitized -DRRC_DEBUG -I. -Itests tests/closed_port.c -o "$out/closed_port-random"; then
    expect "closed_port in random programs" "$out/closed_port-random" 1 $runs 3000
else
    fail "tests/closed_port.c: does not compile"
fi
# The porting guide quotes one of them.
awk '/^## [0-9]+[.] /{ print substr($0, 4) }
     $0 == "```" { inside = 0 }
     inside
     $0 == "```text" { inside = 1 }' bindings/MISTAKES.md >"$out/quoted.txt"
same_text "what bindings/MISTAKES.md quotes" examples/expected/mistakes.txt "$out/quoted.txt"
# It says which of the mistakes a release build does not notice, or only later.
section() { awk -v number="$1." '/^[0-9]+[.] / { inside = $1 == number } inside' "$2"; }
sed '/^#define RRC_DEBUG/d' examples/mistakes.c >"$out/release.c"
if $CC -std=c99 -I. "$out/release.c" -o "$out/release" && "$out/release" >"$out/release.txt"; then
    for number in 1 3 4 5 6 7 9 10; do
        section $number examples/expected/mistakes.txt >"$out/wanted.txt"
        section $number "$out/release.txt" >"$out/given.txt"
        same_text "mistake $number, seen by a release build" "$out/wanted.txt" "$out/given.txt"
    done
    expect "mistake 2, not seen" test "$(section 2 "$out/release.txt" | grep -c -v '^  trace sets the mark bit')" -eq 1
    expect "mistake 8, seen late" sh -c "awk '/^8/, /^9/' '$out/release.txt' | grep -q 'RRC_EREFCNT in rrc_heap_free'"
else
    fail "mistakes without RRC_DEBUG: do not compile or run"
fi
for expected in examples/expected/*.txt; do
    name=$(basename "$expected" .txt)
    expect "$expected has its program" test -f "examples/$name.c" -o -f "examples/$name.cpp"
done
finish
