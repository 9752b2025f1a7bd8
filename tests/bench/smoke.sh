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

# With few links no goal counts. With 10^5 it does: is each verdict right, and what is missed listed?
expect "few links have no verdict" [ "$(grep ';2000;' "$out/bench.csv" | grep -c -v ';$')" -eq 0 ]
"$1" --n 100000 --repeats 1 --rows major --without macro --csv "$out/major.csv" >"$out/major"
awk -F ';' 'function close_to(x, goal) { return goal > 0 && x / goal > 0.99 && x / goal < 1.01 }
            /^major/ && ($8 > 0 || $9 > 0) {
                if (close_to($4, $8) || close_to($6, $8) || close_to($7, $9)) { n++; next }     # it was rounded
                slow = $8 > 0 && $4 > $8; far = $9 > 0 && $7 > $9
                right = !slow && !far ? "met" : far || $6 <= $8 ? "MISSED" : "limit > goal"
                if ($10 == right) n++; else { print; wrong = 1 } }
            END { exit wrong || n < 6 }' "$out/major.csv"
expect "each goal has the right verdict" [ $? -eq 0 ]
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
fi
finish
