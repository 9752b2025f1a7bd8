#!/bin/sh
# results.sh - what is kept of the benchmark.
#   measure BENCH...   runs BENCH with its arguments: bench.csv, bench.txt; then shows
#   show               bench.csv as table.md, chart.svg, chart.png, and in the README
#                      between the lines <!-- bench --> and <!-- end of bench -->
#   measure-pauses BENCH...   the same for the rows about pauses: pauses.csv, calls.csv, pauses.txt; then shows
#   show-pauses        pauses.csv as pauses.md, and calls.csv as pauses.svg and pauses.png
# It goes to tests/bench/results, or to $RESULTS, which leaves the README alone.
set -u
results=${RESULTS:-tests/bench/results}
command=$1
shift
mkdir -p "$results" || exit 1
calls=$results/calls.csv
case $command in
*-pauses) name=pauses table=pauses chart=pauses script=pauses.gp ;;
*) name=bench table=table chart=chart script=chart.gp ;;
esac
csv=$results/$name.csv

# measure BENCH...: what it prints goes to a file as well, without trailing blanks.
measure() {
    "$@" --csv "$csv" >"$results/$name.txt"
    status=$?
    cat "$results/$name.txt"
    [ $status -eq 0 ] || exit $status
    sed 's/ *$//' "$results/$name.txt" >"$results/$name.tmp" && mv "$results/$name.tmp" "$results/$name.txt"
}

case $command in
measure) measure "$@" ;;
measure-pauses)
    bench=$1
    shift
    measure "$bench" --rows pause --variant slices --n 100000,1000000,4000000 --calls "$calls" "$@" ;;
esac

about() { sed -n "s/^# $1  *//p" "$csv"; }
# Bytes of a cache, out of the line about the machine.
cache() { about machine | sed -n "s/.*, L$1 \([0-9]*\)K.*/\1 * 1024/p; s/.*, L$1 \([0-9]*\)M.*/\1 * 1048576/p" | head -n 1; }

measured="Measured on $(about date) with rawrefcount.h $(about header | sed 's/.* //') on $(about machine); $(about compiler), \`$(about flags)\`."
awk -f tests/bench/table.awk "$csv" >"$results/rows"
{ echo "$measured"; echo; cat "$results/rows"; } >"$results/$table.md"
rm -f "$results/rows"

if command -v gnuplot >/dev/null 2>&1; then
    for format in svg png; do
        gnuplot -e "csv = '$csv'; calls = '$calls'; format = '$format'; output_file = '$results/$chart.tmp'; \
                    heading = '$(about machine), $(about compiler), $(about date)'; \
                    l1 = $(cache 1) + 0; l2 = $(cache 2) + 0; l3 = $(cache 3) + 0" tests/bench/$script \
            2>"$results/$chart.log" || { cat "$results/$chart.log"; exit 1; }     # it warns of rows that are not there
        if [ $format = svg ]; then      # a text file of this project: no tabs, no trailing blanks
            expand "$results/$chart.tmp" | sed -e 's/font-family="DejaVu Sans"/font-family="DejaVu Sans, Verdana, sans-serif"/g' -e 's/ *$//' \
                >"$results/$chart.svg"
        else
            cp "$results/$chart.tmp" "$results/$chart.png"
        fi
        rm -f "$results/$chart.tmp" "$results/$chart.log"
    done
else
    echo "skipped: the chart: there is no gnuplot"
fi

if [ -z "${RESULTS:-}" ] && [ $name = bench ]; then
    {
        echo "$measured With 10^6 objects:"
        echo
        awk -v short=1000000 -f tests/bench/table.awk "$csv"
        echo
        echo "$(grep -c ';MISSED$' "$csv") goals are missed, of $(grep -c -e ';MISSED$' -e ';met$' -e ';limit > goal$' "$csv"); at" \
             "$(grep -c ';limit > goal$' "$csv") the plain loop itself is above the goal."
    } >"$results/part"
    awk -v part="$results/part" '
        $0 == "<!-- end of bench -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- bench -->" { inside = 1; while ((getline line <part) > 0) print line }' README.md >"$results/readme"
    cp "$results/readme" README.md
    rm -f "$results/part" "$results/readme"
fi
