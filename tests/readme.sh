#!/bin/sh
# readme.sh - the README holds what it says: its example compiles, runs and prints
# what stands below it, and the files, tests and make targets it names exist. So does the
# header's first screen. The names on all other pages exist, too.
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

# The example on the header's first screen, with a VM that it may talk of.
{
    cat <<'END'
#include <stdio.h>
#include "rawrefcount.h"
typedef struct File_object { rrc_object head; } File_object;
static int is_marked;
static void vm_mark(void *vm, rrc_gcref p) { (void)vm; (void)p; is_marked = 1; }
static int vm_is_marked(void *vm, rrc_gcref p) { (void)vm; (void)p; return is_marked; }
static void vm_mark_roots(void *vm) { *(int *)vm = is_marked; is_marked = 0; }
static void vm_sweep(void *vm) { (void)vm; puts("swept"); }
static void close_file(rrc_object *ob) { (void)ob; puts("closed"); }
END
    awk '/^ \* It does NOT/ { exit }
         /^ \*     rrc_heap \*h = / { print "int main(void)\n{\nint object = 0, *p = &object, *vm = &object;" }
         /^ \*     / { print substr($0, 8) }' rawrefcount.h
    printf 'return (int)rrc_heap_free(h);\n}\n'
} >"$out/first_screen.c"
printf 'swept\nclosed\n' >"$out/first_screen.txt"
if $CC -std=c99 $STRICT -I. "$out/first_screen.c" -o "$out/first_screen" && "$out/first_screen" >"$out/output.txt"; then
    same_text "the header's first example" "$out/first_screen.txt" "$out/output.txt"
else
    fail "the header's first example: does not compile or run"
fi

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

# Functions, macros and slots that any page names in backquotes.
cat rawrefcount.h bindings/*/*.h bindings/*/*/*.h bindings/*/*/*/*.h examples/tensor/*.c >"$out/code.txt"
for page in README.md bindings/*.md bindings/*/*.md bindings/*/*/*.md examples/*.md examples/*/*.md tests/*.md tests/*/*.md; do
    unknown=
    for name in $(grep -oE '`(rrc|RRC|tp)_[A-Za-z0-9_]+' "$page" | tr -d '`' | sort -u); do
        grep -qF -- "$name" "$out/code.txt" || unknown="$unknown $name"
    done
    if [ -z "$unknown" ]; then pass "the names in $page"; else fail "$page names what is not there:$unknown"; fi
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
    all|demo|check|test|test-*|bench|bench-*|fuzz|soak|matrix|mutate|coverage|lint|deps|deps-*|install|uninstall|clean|help)
        expect "make $target is there" grep -qs "^$target:" Makefile tests/*.mk tests/bench/bench.mk ;;
    esac
done
finish
