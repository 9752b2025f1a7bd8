#!/bin/sh
# examples.sh - each example compiles without a warning, and prints what
# examples/expected says; the porting guide quotes it right.
. tests/lib.sh
out=$BUILD/tests/examples
mkdir -p "$out" || exit 1

IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    tag=$(tag_of "$cc")
    for source in examples/*.c; do
        name=$(basename "$source" .c)
        if ! $cc -std=c99 -O1 -g $STRICT -I. "$source" -o "$out/$name-$tag"; then
            fail "$name with $cc: does not compile"
            continue
        fi
        if ! "$out/$name-$tag" >"$out/$name-$tag.txt"; then
            fail "$name with $cc: exit status"
            continue
        fi
        same_text "$name with $cc" "examples/expected/$name.txt" "$out/$name-$tag.txt"
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
    else
        skip "sanitized examples: $CC cannot link them"
    fi
fi
# The porting guide quotes one of them.
awk '/^### [0-9]+[.] /{ print substr($0, 5) }
     $0 == "```" { inside = 0 }
     inside
     $0 == "```text" { inside = 1 }' bindings/PORTING.md >"$out/quoted.txt"
same_text "what bindings/PORTING.md quotes" examples/expected/mistakes.txt "$out/quoted.txt"
for expected in examples/expected/*.txt; do
    expect "$expected has its program" test -f "examples/$(basename "$expected" .txt).c"
done
finish
