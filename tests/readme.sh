#!/bin/sh
# readme.sh - the README and the pages below it hold what they say: the example compiles, runs and
# prints what stands below it; each invariant has a test; the files, tests and make targets that they
# name exist; sizes are right; public names are still there. The header's first screen compiles. The names on all
# other pages exist.
. tests/lib.sh
pages='README.md bindings/CYCLES.md bindings/GUARANTEES.md bindings/STABILITY.md'
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
level=-O1
[ "$QUICK" = 1 ] && level=-O0
IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    tag=$(tag_of "$cc")
    if $cc -std=c99 $level -g $STRICT -I. "$out/example.c" -o "$out/example-$tag" &&
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
sed -n '/^    View (/,/^$/s/^    //p' bindings/insight/README.md >"$out/explained.txt"
expect "rrc_explain is quoted" test -s "$out/explained.txt"
while IFS= read -r line; do
    expect "rrc_explain says: $line" grep -qxF -- "$line" examples/expected/cycle.txt
done <"$out/explained.txt"

# Names of files in backquotes. (text.sh follows links.)
for file in $(cat $pages | grep -o '`[a-z]*/[A-Za-z0-9_/.-]*`' | tr -d '`' | grep -v '^build/' |
              sort -u); do
    expect "$file exists" test -e "$file"
done

# Functions, macros and slots that any page names in backquotes. (Changes also name what has gone.)
cat rawrefcount.h bindings/*/*.h bindings/*/*/*.h bindings/*/*/*/*.h examples/tensor/*.c >"$out/code.txt"
for page in README.md bindings/*.md bindings/*/*.md bindings/*/*/*.md \
            examples/*.md examples/*/*.md tests/*.md tests/*/*.md; do
    unknown=
    for name in $(sed '/^## Changes$/,$ d' "$page" | grep -oE '`(rrc|RRC|tp)_[A-Za-z0-9_]+' | tr -d '`' | sort -u); do
        grep -qF -- "$name" "$out/code.txt" || unknown="$unknown $name"
    done
    if [ -z "$unknown" ]; then pass "the names in $page"; else fail "$page names what is not there:$unknown"; fi
done

# Numbers of lines, as in [12 lines](file.c).
for page in README.md bindings/*.md bindings/*/*.md examples/*.md examples/*/*.md; do
    grep -o '\[[0-9]* lines\]([^)]*)' "$page" | sed 's/\[\([0-9]*\) lines\](\(.*\))/\1 \2/' |
        while read -r lines file; do echo "$lines $(dirname "$page")/$file"; done
done >"$out/lines.txt"
expect "lines are counted" test -s "$out/lines.txt"
while read -r lines file; do
    expect "$file has $lines lines" test "$(wc -l <"$file")" -eq "$lines"
done <"$out/lines.txt"

# Tests cited as `file.c: test_name, test_name`.
cat $pages | grep -o '`tests/[a-z_]*\.c: [a-z0-9_, ]*`' | tr -d '`' | while IFS=: read -r file names; do
    for name in $(echo "$names" | tr ',' ' '); do
        echo "$file $name"
    done
done >"$out/cited.txt"
expect "tests are cited" test -s "$out/cited.txt"
while read -r file name; do
    expect "$file has $name" grep -q "UNIT($name)" "$file"
done <"$out/cited.txt"

# Each invariant of the header has a link to its test.
for invariant in $(sed -n 's/^ \* \(I[0-9]\)  .*/\1/p' rawrefcount.h); do
    expect "$invariant has its test" grep -qE \
        "^\| $invariant \| .* \| \[\`(tests/[a-z_]*\.c): [a-z0-9_]*\`\]\(\1\) \|\$" README.md
done

# The names of a first port. The README counts them. They are those of the header, and all that the example port uses
# in its steps 1 to 7, less what it prints with.
section() { awk '/^## The names of a first port/ { inside = 1; next } /^## / { inside = 0 } inside' README.md; }
names() { grep -oE 'rrc_[a-z_]+' | sort -u; }
section | sed -n 's/^A first port needs \([0-9]*\) functions, \([0-9]*\) macros and \([0-9]*\) hooks:$/\1 \2 \3/p' \
    >"$out/counted.txt"
section | names >"$out/named.txt"
section | awk '/^- The hooks/ { inside = 1 } inside { print } /^$/ { inside = 0 }' | grep -oE '`[a-z_]+`' | tr -d '`' |
    sort -u >"$out/hooks.txt"
echo "$(wc -l <"$out/named.txt") $(section | grep -oE 'RRC_[A-Z_]+' | sort -u | wc -l) $(wc -l <"$out/hooks.txt")" |
    tr -s ' ' >"$out/given.txt"
same_text "the README counts the names of a first port" "$out/counted.txt" "$out/given.txt"
# absent WHAT WANTED NAMED: no line of WANTED is absent from NAMED.
absent() {
    sort -u "$2" | comm -23 - "$3" >"$out/absent.txt"
    if [ -s "$2" ] && [ ! -s "$out/absent.txt" ]; then pass "$1"; else fail "$1: $(tr '\n' ' ' <"$out/absent.txt")"; fi
}
awk '/^ \* needs eighteen of them/ { inside = 1 } /^ \* Each comment/ { exit } inside' rawrefcount.h | names \
    >"$out/wanted.txt"
absent "the README names the first functions of the header" "$out/wanted.txt" "$out/named.txt"
grep -oE 'rrc_[a-z_]+\(' examples/port.c | tr -d '(' | grep -vE \
    'rrc_(error_name|error_message|get_stats|userdata|major_collection_keep)$' >"$out/wanted.txt"
absent "the README names the functions of the example port" "$out/wanted.txt" "$out/named.txt"
sed -n '/rrc_desc desc = {/,/};/p' examples/port.c | grep -oE '[.][a-z_]+ =' | tr -d '. =' | grep -vx userdata \
    >"$out/wanted.txt"
absent "the README names the hooks of the example port" "$out/wanted.txt" "$out/hooks.txt"

# The README gives the size of the header: its lines to a twentieth, the rest as bindings/GUARANTEES.md does.
lines=$(sed -n 's/.*The header has \([0-9]*\),\([0-9]*\) lines.*/\1\2/p' README.md)
is_about() { [ "${1:-0}" -ge $(($2 * 19 / 20)) ] && [ "${1:-0}" -le $(($2 * 21 / 20)) ]; }
expect "the README says how many lines the header has: ${lines:-it does not}" is_about "$lines" "$(wc -l <rawrefcount.h)"
sizes=$(tr '\n' ' ' <README.md | sed -n 's/.*its code takes \([0-9]* KB\), or \([0-9]* KB\) with `-Os`.*/\1 \2/p')
expect "the README says how large its code is: ${sizes:-it does not}" test "$sizes" = "$(
    sed -n -e 's/^| the code of the header, .*| \([0-9]* KB\) |$/\1/p' \
           -e 's/^| the same with `-Os` and `RRC_NO_STDIO` | \([0-9]* KB\) |$/\1/p' bindings/GUARANTEES.md | tr '\n' ' ' | sed 's/ $//')"

# bindings/STABILITY.md is about the newest version of its changes, and says so if that is not released yet.
newest=$(sed -n 's/^### \([0-9]*\.[0-9]*\)\.[0-9]*\( .*\)*$/\1/p' bindings/STABILITY.md | head -n 1)
expect "bindings/STABILITY.md is about version $newest" grep -qF "names are public in version $newest," bindings/STABILITY.md
is_open=$(grep -cE "^### $newest\.[0-9]+ \(unreleased\)$" bindings/STABILITY.md)
expect "... which is released, or not" test "$(tr '\n' ' ' <bindings/STABILITY.md | grep -c "Version $newest is not released yet")" = "$is_open"

# The names of bindings/STABILITY.md are there. A control: without a parameter, a field, a code or a macro
# this does not compile.
cp tests/stable.c "$out/stable.cc"
expect "public names, in C" $CC -std=c99 $STRICT -I. -fsyntax-only tests/stable.c
if have "$CXX"; then
    expect "public names, in C++" $CXX -std=c++11 $STRICT -I. -fsyntax-only "$out/stable.cc"
else
    skip "public names, in C++: no $CXX"
fi
# It has all of them: functions, codes, and fields of the public structs.
public_names() {
    awk '/^#endif \/\* (RAWREFCOUNT|RRC_CLOSED)_H/ { exit }
     /^ *X\(RRC_/ { sub(/^ *X\(/, ""); sub(/,.*/, ""); print }
     { sub(/\/\*.*/, "") }
     /^RRC_(API|INLINE) / && match($0, /rrc_[a-z_0-9]+\(/) { print substr($0, RSTART, RLENGTH - 1) }
     /^(typedef )?struct rrc_[a-z_]+ \{/ { inside = 1; next }
     /^}/ { inside = 0 }
     inside && /^    [a-z].*;/ {
         if (match($0, /\(\*[a-z_]+\)/)) { print substr($0, RSTART + 2, RLENGTH - 3); next }
         gsub(/\[[0-9]*\]| :.*|;.*/, "")
         for (n = split($0, field, ","); n > 0; n--) { sub(/.*[ *]/, "", field[n]); print field[n] }
     }' "$1"
}
{ public_names rawrefcount.h && public_names bindings/closed/rrc_closed.h; } | sort -u >"$out/public.txt"
expect "public names are found" test "$(wc -l <"$out/public.txt")" -gt 150
absent=$(while read -r name; do grep -qw -- "$name" tests/stable.c || echo "$name"; done <"$out/public.txt")
if [ -z "$absent" ]; then pass "tests/stable.c has each public name"; else fail "tests/stable.c lacks $absent"; fi
mkdir -p "$out/changed"
for change in 's/rrc_object \*ob, int kind)/rrc_object *ob)/' 's/size_t uncollectable;/size_t uncleared;/' \
    's/RRC_ETOUCH/RRC_EMOVED/' 's/RRC_VISIT(/RRC_SHOW(/'; do
    sed "$change" rawrefcount.h >"$out/changed/rawrefcount.h"
    expect "a change is noticed: $change" sh -c "! cmp -s rawrefcount.h '$out/changed/rawrefcount.h' &&
        ! $CC -std=c99 $STRICT -I'$out/changed' -fsyntax-only tests/stable.c 2>/dev/null"
done

# The sizes in bindings/GUARANTEES.md are right, give or take a twentieth.
cat >"$out/sizes.c" <<'END'
#include <stdio.h>
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
static void trace(void *vm, rrc_gcref p) { (void)vm; (void)p; }
static rrc_gcref survivor(void *vm, rrc_gcref p) { (void)vm; return p; }
static const rrc_type View = { .tp_name = "View", .tp_basicsize = sizeof(rrc_object) };
static const rrc_type Node = { .tp_name = "Node", .tp_basicsize = sizeof(rrc_object), .tp_flags = RRC_TPFLAGS_HAVE_GC };
static void print_memory(rrc_heap *h)
{
    rrc_stats stats;
    rrc_get_stats(h, &stats);
    printf("%u\n", (unsigned)stats.memory);
}
int main(void)
{
    rrc_heap *h = rrc_heap_new(&(rrc_desc){ .trace = trace, .survivor = survivor });
    rrc_object *view = rrc_new(h, &View), *node = rrc_gc_new(h, &Node);
    int p, bad = rrc_link(h, &p, view, RRC_P);
    print_memory(h);
    bad |= rrc_gc_track(h, node);
    print_memory(h);
    rrc_decref(h, view);
    rrc_decref(h, node);
    return bad + (int)rrc_heap_free(h);
}
END
printf '#define RAWREFCOUNT_IMPLEMENTATION\n#include "rawrefcount.h"\n' >"$out/code.c"
# sizes ROW: the numbers at the end of a row of the table. near KILOBYTES FILE: as in the file, in bytes.
sizes() { grep "^| $1 |" bindings/GUARANTEES.md | sed 's/.*| \(.*\) |$/\1/' | grep -o '[0-9]*'; }
near() {
    echo "$1" | tr ' ' '\n' | paste - "$2" |
        awk '{ print; kb = $2 / 1000; if (!($1 > kb * 0.95 - 0.5 && $1 < kb * 1.05 + 0.5)) wrong = 1 }
             END { exit wrong || NR == 0 }'
}
heap_takes() {
    row=$1
    shift
    $CC -std=c99 -I. "$@" "$out/sizes.c" -o "$out/sizes" && "$out/sizes" >"$out/sizes.txt" &&
        near "$row" "$out/sizes.txt"
}
code_takes() {
    row=$1
    shift
    $CC -std=c99 -I. "$@" -c "$out/code.c" -o "$out/code.o" && size "$out/code.o" | awk 'NR == 2 { print $1 + $2 }' \
        >"$out/sizes.txt" && near "$row" "$out/sizes.txt"
}
case $($CC -dumpmachine 2>/dev/null)-$($CC -dumpversion 2>/dev/null) in
x86_64-*-12)
    expect "the size of a heap" heap_takes "$(sizes 'a heap with one link.*')"
    expect "the size of a heap in small blocks" heap_takes "$(sizes 'the same with `RRC_CHUNK_LINKS` 64')" \
        -DRRC_CHUNK_LINKS=64
    [ "$QUICK" = 1 ] || {
        expect "the size of the code" code_takes "$(sizes 'the code of the header.*')" -O2
        expect "the size of the smallest code" code_takes "$(sizes 'the same with `-Os` and `RRC_NO_STDIO`')" \
            -Os -DRRC_NO_STDIO
        expect "the size of the code without cycles" \
            code_takes "$(sizes 'the same with `-Os`, `RRC_NO_STDIO` and `RRC_NO_CYCLES`')" \
            -Os -DRRC_NO_STDIO -DRRC_NO_CYCLES
    } ;;
*) skip "sizes: those of the page are of gcc 12 on x86-64" ;;
esac

for target in $(cat $pages | grep -o 'make [a-z][a-z -]*' | sed 's/^make //' | tr ' ' '\n' | sort -u); do
    case $target in
    all|demo|check|test|test-*|bench|bench-*|fuzz|soak|matrix|mutate|coverage|lint|deps|deps-*|install|uninstall|clean|help)
        expect "make $target is there" grep -qs "^$target:" Makefile tests/*.mk tests/bench/bench.mk ;;
    esac
done
finish
