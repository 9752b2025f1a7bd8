#!/bin/sh
# readme.sh - the README holds what it says: its example compiles, runs and prints
# what stands below it, and the files, tests and make targets it names exist.
. tests/lib.sh
out=$BUILD/tests/readme
mkdir -p "$out" || exit 1

# The first block fenced with ```LANGUAGE.
block() {
    awk -v fence="\`\`\`$1" '$0 == fence && !done { inside = 1; next }
                             inside && $0 == "```" { inside = 0; done = 1 }
                             inside { print }' README.md
}

block c >"$out/example.c"
block text >"$out/expected.txt"
expect "there is an example" grep -q 'int main' "$out/example.c"
IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    tag=$(tag_of "$cc")
    if $cc -std=c99 -O1 -g $STRICT -I. "$out/example.c" -o "$out/example-$tag" &&
       "$out/example-$tag" >"$out/output-$tag.txt"; then
        same_text "the example with $cc" "$out/expected.txt" "$out/output-$tag.txt"
    else
        fail "the example with $cc: does not compile or run"
    fi
done

# What rrc_explain says is what an example prints.
sed -n '/^    View (/,/^$/s/^    //p' README.md >"$out/explained.txt"
expect "rrc_explain is quoted" test -s "$out/explained.txt"
while IFS= read -r line; do
    expect "rrc_explain says: $line" grep -qxF -- "$line" examples/expected/cycle.txt
done <"$out/explained.txt"

# Links to files, and names of files in backquotes.
for file in $( { grep -o '](\([^)#:]*\))' README.md | sed 's/^](//; s/)$//'
                 grep -o '`[a-z]*/[A-Za-z0-9_/.-]*`' README.md | tr -d '`' | grep -v '^build/'; } | sort -u); do
    expect "$file exists" test -e "$file"
done

# Tests cited as `file.c: test_name, test_name`.
grep -o '`tests/[a-z_]*\.c: [a-z0-9_, ]*`' README.md | tr -d '`' | while IFS=: read -r file names; do
    for name in $(echo "$names" | tr ',' ' '); do
        echo "$file $name"
    done
done >"$out/cited.txt"
while read -r file name; do
    expect "$file has $name" grep -q "UNIT($name)" "$file"
done <"$out/cited.txt"

for target in $(grep -o 'make [a-z][a-z -]*' README.md | sed 's/^make //' | tr ' ' '\n' | sort -u); do
    case $target in
    all|demo|check|test|bench|bench-*|fuzz|lint|deps|install|uninstall|clean|help)
        expect "make $target is there" grep -qs "^$target:" Makefile tests/tests.mk tests/bench/bench.mk ;;
    esac
done
finish
