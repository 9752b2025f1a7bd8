#!/bin/sh
# smoke.sh BENCH... - the benchmark runs, with the peers that are installed, and what it
# measures can be shown: the table, its verdicts and the chart.
. tests/lib.sh
out=$BUILD/tests/bench
mkdir -p "$out" || exit 1
RESULTS=$out
export RESULTS

if sh tests/bench/results.sh measure "$@" --n 2000 --repeats 1 >"$out/log"; then
    pass "it runs, and is shown"
else
    fail "it does not run, or cannot be shown"
fi
grep '^skipped: ' "$out/log"
for peer in Boehm GObject Lua CPython; do
    if grep -q "$peer .*not installed" "$out/log"; then skip "$peer: not installed"
    else expect "$peer has rows" grep -q ";$peer [0-9.]*;2000;" "$out/bench.csv"; fi
done

# Pauses: there is a row for each function, the longest slice is the longest of all calls of slices, and what takes
# at least as long as the first bucket is all calls.
bench=$1
shift
if sh tests/bench/results.sh measure-pauses "$bench" "$@" --n 2000 --repeats 1 >"$out/pauses_log"; then
    pass "pauses are measured, and shown"
else
    fail "pauses cannot be measured, or shown"
fi
for variant in dict slot; do
    expect "$variant has 34 rows about pauses" [ "$(grep -c "^pause, .*;$variant, slices;2000;" "$out/pauses.csv")" -eq 34 ]
done
for peer in Boehm CPython Lua; do
    grep -q "$peer .*not installed" "$out/pauses_log" ||
        expect "$peer has pauses" grep -q "^pause, .*;$peer [0-9.]*;2000;" "$out/pauses.csv"
done
awk -F ';' '/^#/ || $1 == "name" { next }
            { key = $1 ";" $2 ";" $3; calls[key] += $5; if (!(key in first)) first[key] = $6
              if ($5 > 0) { from[key] = $4; left[key] = $6 - $5 } else longest[key] = $4 }
            END { for (key in calls) { n++; if (calls[key] != first[key] || left[key] != 0 || longest[key] < from[key] * 0.999) {
                      print key, calls[key], first[key], left[key], from[key], longest[key]; wrong = 1 } }
                  exit wrong || n < 12 }' "$out/calls.csv"
expect "calls are counted once" [ $? -eq 0 ]
awk -F ';' '$1 == "pause, dying, longest slice" { row[$2] = $4 } $1 == "dying, slices" && $5 == 0 { longest[$2] = $4 }
            END { for (variant in longest) { n++; if (row[variant] < longest[variant] * 0.99 || row[variant] > longest[variant] * 1.01) {
                      print variant, row[variant], longest[variant]; wrong = 1 } }
                  exit wrong || n < 2 }' "$out/pauses.csv" "$out/calls.csv"
expect "the longest slice is the longest of the calls" [ $? -eq 0 ]

# With few links no goal counts. With 10^5 it does: is each verdict right, and what is missed listed?
expect "few links have no verdict" [ "$(grep ';2000;' "$out/bench.csv" | grep -c -v ';$')" -eq 0 ]
"$bench" --n 100000 --repeats 1 --rows major --without macro --csv "$out/major.csv" >"$out/major"
awk -F ';' 'function close_to(x, goal) { return goal > 0 && x / goal > 0.99 && x / goal < 1.01 }
            /^major/ && ($8 > 0 || $9 > 0) {
                if (close_to($4, $8) || close_to($6, $8) || close_to($7, $9)) { n++; next }     # it was rounded
                slow = $8 > 0 && $4 > $8; far = $9 > 0 && $7 > $9
                right = !slow && !far ? "met" : far || $6 <= $8 ? "MISSED" : "limit > goal"
                if ($10 == right) n++; else { print; wrong = 1 } }
            END { exit wrong || n < 6 }' "$out/major.csv"
expect "each goal has the right verdict" [ $? -eq 0 ]
"$bench" --n 100000 --repeats 1 --rows pause --variant "slot, slices" --csv "$out/goals.csv" >"$out/goals"
awk -F ';' '/^pause, (building|meanwhile)/ { goal = 0.1 } /^pause, (live|dying)/ { goal = 0.25 }
            /(whole|the host marks);/ { goal = 0 } /slices in all;/ { goal = 1.3; $4 = $7; $8 = $9 }
            /^pause/ { n++; right = goal == 0 ? "" : $4 > goal ? "MISSED" : "met"
                       if ($8 != goal || ($10 != right && ($4 < goal * 0.99 || $4 > goal * 1.01))) { print; wrong = 1 } }
            END { exit wrong || n != 34 }' "$out/goals.csv"
expect "each goal for pauses has the right verdict" [ $? -eq 0 ]
expect "what is missed is listed" [ "$(grep -c ';MISSED$' "$out/major.csv")" -eq \
    "$(sed -n '/^goals that were missed:/,$p' "$out/major" | grep -c ' MISSED$')" ]

# In the table: a goal met, one missed, one that the limit misses too.
cat >"$out/known.csv" <<'END'
a;dict, desc;100000;5;ns;4;1.2;6;1.5;met
a;dict, desc;1000000;9;ns;4;2.2;6;1.5;MISSED
a;dict, desc;4000000;9;ns;7;1.3;6;1.5;limit > goal
END
awk -f tests/bench/table.awk "$out/known.csv" >"$out/known.txt"
expect "verdicts are shown" grep -qF \
    '| a | dict | 6, 1.5x | 5.0 / 4.0 | 9.0 / 4.0 | 9.0 / 7.0 | **missed** at 10^6; below the limit at 4x10^6 |' "$out/known.txt"
awk -v short=1000000 -v shown='a=the words for a' -f tests/bench/table.awk "$out/known.csv" >"$out/short.txt"
expect "some rows, in short" grep -qF '| the words for a | 9.0 / 4.0 |' "$out/short.txt"
expect "a row for the README that is not there is a mistake" sh -c \
    "! awk -v short=1000000 -v shown='a=a|b=b' -f tests/bench/table.awk '$out/known.csv' >/dev/null 2>&1"

if have gnuplot; then
    expect "the chart is drawn" grep -q '</svg>' "$out/chart.svg"
    expect "as a picture, too" test -s "$out/chart.png"
    expect "the chart of pauses is drawn" grep -q '</svg>' "$out/pauses.svg"
fi
finish
