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
for peer in "by hand" Boehm GObject Lua CPython; do
    if grep -q "$peer .*not installed" "$out/log"; then skip "$peer: not installed"
    else expect "$peer has rows" grep -q ";$peer[ ,0-9a-z.]*;2000;" "$out/bench.csv"; fi
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
"$bench" --n 100000 --repeats 1 --rows r --variant desc --csv "$out/major.csv" >"$out/major"
awk -F ';' 'function close_to(x, goal) { return goal > 0 && x / goal > 0.99 && x / goal < 1.01 }
            $8 + 0 > 0 || $9 + 0 > 0 {
                if (close_to($4, $8) || close_to($6, $8) || close_to($7, $9)) { n++; next }     # it was rounded
                slow = $8 > 0 && $4 > $8; far = $9 > 0 && $7 > $9
                right = !slow && !far ? "met" : far || $6 <= $8 ? "MISSED" : "limit > goal"
                if ($10 == right) n++; else { print; wrong = 1 } }
            END { exit wrong || n < 12 }' "$out/major.csv"
expect "each goal has the right verdict" [ $? -eq 0 ]
"$bench" --n 100000 --repeats 1 --rows pause --variant "slot, slices" --csv "$out/goals.csv" >"$out/goals"
awk -F ';' '/^pause, (building|meanwhile)/ { goal = 0.1 } /^pause, (live|dying)/ { goal = 0.25 }
            /(whole|the host marks);/ { goal = 0 } /slices in all;/ { goal = 1.3; $4 = $7; $8 = $9 }
            /^pause/ { n++; right = goal == 0 ? "" : $4 > goal ? "MISSED" : "met"
                       if ($8 != goal || ($10 != right && ($4 < goal * 0.99 || $4 > goal * 1.01))) { print; wrong = 1 } }
            END { exit wrong || n != 34 }' "$out/goals.csv"
expect "each goal for pauses has the right verdict" [ $? -eq 0 ]
expect "what is missed is listed" [ "$(grep -c ';MISSED$' "$out/major.csv")" -eq \
    "$(sed -n '/^goals that were missed/,$p' "$out/major" | grep -c ' MISSED$')" ]

# With numbers for the chart alone there are only its rows, and of hooks by macro those that are asked for.
"$bench" --n 2000,3000 --brief 3000 --repeats 1 --variant "slot, " --without slices --macro rrc_from_obj \
    --csv "$out/brief.csv" >"$out/brief"
expect "a number for the chart has its rows" grep -q '^rrc_from_obj, random order;slot, desc;3000;' "$out/brief.csv"
expect "and no others" [ "$(grep -c '^major, all live, O links;slot, desc' "$out/brief.csv")" -eq 1 ]
expect "hooks by macro have the rows that are asked for" [ "$(grep ';slot, macro;' "$out/brief.csv" | grep -c -v '^rrc_from_obj')" -eq 0 ]

# In the table: a goal met, one missed, one that the limit misses too. In the list: the figures of the last two, with
# the reason of the first line in reasons.txt that is about them.
cat >"$out/known.csv" <<'END'
a;dict, desc;100000;5;ns;4;1.2;6;1.5;met
a;dict, desc;300000;5;ns;4;1.2;6;1.5;
a;dict, desc;1000000;9;ns;4;2.2;6;0;MISSED
a;dict, desc;4000000;9;ns;7;1.3;6;0;limit > goal
a;by hand, index;1000000;8;ns;0;0;0;0;
b, c;slot, desc;1000000;9;ns;4;2.2;0;1.5;MISSED
END
cat >"$out/reasons.txt" <<'END'
a;slot;Not this one.
a;;It is so.
b, ;slot;The other is so.
END
awk -v part=rows -f tests/bench/table.awk "$out/reasons.txt" "$out/known.csv" >"$out/known.txt"
expect "verdicts are shown" grep -qF \
    '| a | dict | 6 | 5.0 / 4.0 | 9.0 / 4.0 | 9.0 / 7.0 | **missed** at 10^6; below the limit at 4x10^6 |' "$out/known.txt"
awk -v part=missed -f tests/bench/table.awk "$out/reasons.txt" "$out/known.csv" >"$out/missed.txt"
expect "what is missed has its reason" grep -qFx -e \
    '- a (dict; goal 6): 9.0 at 10^6, 9.0 at 4x10^6 (the limit, too). *It is so.*' "$out/missed.txt"
expect "reasons can be about many rows" grep -qFx -e '- b, c (slot; goal 1.5x): 2.20x at 10^6. *The other is so.*' "$out/missed.txt"
expect "a reason is not for another variant" [ "$(grep -c 'Not this one' "$out/missed.txt")" -eq 0 ]
awk -v part=missed -f tests/bench/table.awk /dev/null "$out/known.csv" >"$out/without.txt"
expect "a missed goal without a reason says so" grep -q 'There is no reason' "$out/without.txt"
awk -v short=1000000 -v shown='a=the words for a' -f tests/bench/table.awk "$out/known.csv" >"$out/short.txt"
expect "some rows, in short" grep -qFx '| the words for a | 9.0 |  |  | 8.0 |  |  |  |  |' "$out/short.txt"
expect "a row for the README that is not there is a mistake" sh -c \
    "! awk -v short=1000000 -v shown='a=a|d=d' -f tests/bench/table.awk '$out/known.csv' >/dev/null 2>&1"
# Each reason is about rows that have a goal.
while IFS=';' read -r row variant reason; do
    if [ -n "$reason" ] && { grep -qF "{ \"$row" tests/bench/goals.c || grep -qF "\"$row" tests/bench/results.sh; }
    then pass "the reason for $row"
    else fail "there is no goal for $row ($variant), or no reason"; fi
done <tests/bench/reasons.txt

if have gnuplot; then
    expect "the chart is drawn" grep -q '</svg>' "$out/chart.svg"
    expect "the chart of pauses is drawn" grep -q '</svg>' "$out/pauses.svg"
fi
finish
