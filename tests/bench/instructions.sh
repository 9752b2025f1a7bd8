#!/bin/sh
# instructions.sh check|note PROGRAM FLAGS - counts the instructions of each operation of
# count.c by callgrind, which gives the same number in every run.
#   note    writes tests/bench/results/instructions.txt
#           and the table "by hand" of tests/bench/README.md
#   check   compares with it: an operation that takes 2 % more has failed
# Another compiler, other flags or another processor family make other code: then there
# is nothing to compare.
. tests/lib.sh
command=$1 program=$2 flags=$3
noted=tests/bench/results/instructions.txt
out=$BUILD/bench/instructions
page=tests/bench/README.md
compiler=$($CC --version 2>/dev/null | head -n 1)
case $compiler in *clang*) ;; *) compiler="gcc ${compiler#* }" ;; esac      # whatever name it was called by
compiler="$compiler, $flags, $(uname -m)"

# The table of the page: what a collection of the example port takes, and the same by hand.
by_hand() {
    awk '
        /^#/ { next }
        { count = $1; $1 = ""; sub(/^ /, ""); noted[$0] = sprintf("%.0f", count) }
        function row(what, searched, quiet, hand, roots) {
            print "| " what " | " noted[port searched] " | " noted[port quiet] " | " \
                noted["150 lines by hand: a collection, " hand] " | " noted[port roots] " |"
        }
        END {
            port = "examples/port.c: a collection, "
            print "| instructions of a collection for each | the header | the header, no search | 150 lines by hand | handles by hand |"
            print "|---|--:|--:|--:|--:|"
            row("button that lives, with its proxy and its callback", "a button lives", "a button lives, no search",
                "a button lives", "a button by hand lives")
            row("button that dies with them, and its dealloc", "a button dies, with its dealloc", "none", "a button dies", "none")
            row("object that lives because C holds it", "a view that C holds lives", "none", "a view that C holds lives",
                "a root in an array lives")
        }' $noted
}

if ! have valgrind; then
    skip "instructions: there is no valgrind"
    finish
fi
if [ "$command" = check ] && [ "$(sed -n 's/^# compiler  //p' $noted)" != "$compiler" ]; then
    skip "instructions: compiler differs: noted with $(sed -n 's/^# compiler  //p' $noted), here it is $compiler"
    finish
fi
mkdir -p "$out" || exit 1
# glibc has a memset for each kind of processor; the plain one is everywhere.
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load
export GLIBC_TUNABLES
if ! valgrind --tool=callgrind --callgrind-out-file="$out/callgrind.out" --compress-strings=no \
        --toggle-collect='op_*' "$program" >"$out/operations" 2>"$out/log"; then
    tail -n 5 "$out/log"
    fail "instructions: the program does not run in valgrind"
    finish
fi

# Below "fn=(file) NAME" each line that begins with a number has the cost of the function
# itself or, after "calls=", of all that it called there.
awk -F '\t' '
    FILENAME ~ /callgrind.out$/ {
        if (/^fn=/) { name = $0; sub(/^fn=/, "", name); sub(/^\([0-9]+\) */, "", name) }
        else if (/^[0-9+*-]/) { split($0, field, " "); cost[name] += field[2] }
        next
    }
    { printf "%.2f\t%s\n", cost[$1] / $2, $3 }' "$out/callgrind.out" "$out/operations" >"$out/now"

if [ "$command" = note ]; then
    mkdir -p tests/bench/results
    {
        echo "# Instructions for each operation, counted by callgrind: make bench-instructions"
        echo "# writes this anew, make bench-check compares. In the order of tests/bench/count.c."
        echo "# compiler  $compiler"
        awk -F '\t' '{ printf "%9.2f  %s\n", $1, $2 }' "$out/now"
    } >$noted
    cat $noted
    by_hand >"$out/by_hand.md"
    awk -v part="$out/by_hand.md" '
        $0 == "<!-- end of by hand -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- by hand -->" { inside = 1; while ((getline line <part) > 0) print line }' $page >"$out/page"
    cp "$out/page" $page
    exit
fi

# compare NOTED NOW: by name. An operation without a noted figure, or the other way round, has failed.
compare() {
    awk -F '\t' '
        FNR == NR {
            if (!/^#/) { count = $0; sub(/^ */, "", count); name = count; sub(/ .*/, "", count)
                         sub(/^[0-9.]* */, "", name); noted[name] = count }
            next
        }
        {
            if (!($2 in noted)) print "FAILED: " $2 ": not noted; make bench-instructions does it"
            else if ($1 > noted[$2] * 1.02)
                printf "FAILED: %s: %.2f instructions, %.2f were noted: %+.1f %%\n", $2, $1, noted[$2], ($1 / noted[$2] - 1) * 100
            else printf "ok: %s: %.2f, noted %.2f%s\n", $2, $1, noted[$2],
                        $1 < noted[$2] * 0.98 ? " (fewer: make bench-instructions notes it)" : ""
            delete noted[$2]
        }
        END { for (name in noted) print "FAILED: " name ": noted, but there is no such operation" }
    ' "$1" "$2"
}

compare $noted "$out/now" >"$out/compared"
cat "$out/compared"
passed=$(grep -c '^ok' "$out/compared")
failed=$(grep -c '^FAILED' "$out/compared")

by_hand >"$out/by_hand.md"
sed -n '/^<!-- by hand -->$/,/^<!-- end of by hand -->$/p' $page | sed '1d;$d' >"$out/by_hand.page"
same_text "the table in $page" "$out/by_hand.md" "$out/by_hand.page"

# A control that must fail: each operation takes 3 % more than before.
awk -F '\t' '{ printf "%.2f  %s\n", $1 / 1.03, $2 }' "$out/now" >"$out/less"
expect "3 % more are noticed" [ "$(compare "$out/less" "$out/now" | grep -c '^FAILED')" -eq "$(wc -l <"$out/now")" ]
finish
