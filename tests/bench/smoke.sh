#!/bin/sh
# smoke.sh BENCH... - the benchmark runs, with the peers that are installed, and what it
# measures can be shown: the table, its verdicts and the chart.
. tests/lib.sh
out=$BUILD/tests/bench
mkdir -p "$out" || exit 1
RESULTS=$out
export RESULTS

if sh tests/bench/results.sh measure "$@" --n 2000,100000 --repeats 1 --without macro >"$out/log"; then
    pass "it runs, and is shown"
else
    fail "it does not run, or cannot be shown"
fi
grep '^skipped: ' "$out/log"
for peer in Boehm GObject CPython; do
    if grep -q "$peer .*not installed" "$out/log"; then skip "$peer: not installed"
    else expect "$peer has rows" grep -q ";$peer [0-9.]*;2000;" "$out/bench.csv"; fi
done

# Each row with a goal has a verdict at 10^5, and none at 2000.
expect "a goal has a verdict" [ "$(grep -c -e ';MISSED$' -e ';met$' -e ';limit > goal$' "$out/bench.csv")" -gt 20 ]
expect "few links have none" [ "$(grep ';2000;' "$out/bench.csv" | grep -c -v ';$')" -eq 0 ]
expect "the memory goal of a dictionary is met" grep -q '^memory of a link;dict, desc;100000;.*;met$' "$out/bench.csv"
expect "the table has the row" grep -q '^| memory of a link, bytes | dict | 24 | .* | met |$' "$out/table.md"

# Verdicts that are known: a goal met, one missed, one that the limit misses too.
cat >"$out/known.csv" <<'END'
a;dict, desc;100000;5;ns;4;1.2;6;1.5;met
a;dict, desc;1000000;9;ns;4;2.2;6;1.5;MISSED
a;dict, desc;4000000;9;ns;7;1.3;6;1.5;limit > goal
END
awk -v short=1 -f tests/bench/table.awk "$out/known.csv" >"$out/known.txt"
expect "verdicts are shown" grep -qF \
    '| a | dict | 6, 1.5x | 5.0 / 4.0 | 9.0 / 4.0 | 9.0 / 7.0 | **missed** at 10^6; below the limit at 4x10^6 |' "$out/known.txt"

if have gnuplot; then
    expect "the chart is drawn" grep -q '</svg>' "$out/chart.svg"
    expect "as a picture, too" test -s "$out/chart.png"
fi
finish
