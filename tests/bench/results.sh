#!/bin/sh
# results.sh - what is kept of the benchmark.
#   measure BENCH...   runs BENCH with its arguments, and keeps bench.csv; then shows
#   show               bench.csv as table.md and chart.svg, and some rows in the README
#                      between the lines <!-- bench --> and <!-- end of bench -->
#   measure-pauses BENCH...   the same for the rows about pauses: pauses.csv and calls.csv
#   show-pauses        pauses.csv as pauses.md, and calls.csv as pauses.svg
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

case $command in
measure) "$@" --csv "$csv" || exit ;;
measure-pauses)
    bench=$1
    shift
    "$bench" --rows pause --variant slices --n 100000,1000000,4000000 --csv "$csv" --calls "$calls" "$@" || exit ;;
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

[ $name = bench ] || exit 0
# The rows of the README: their names in the CSV file, and its words for them.
rows='major, all live, P links=a major collection: a link that lives
major, all die, queued=a major collection: a link that dies
create a P link, old p=`rrc_link`
rrc_from_obj, random order=`rrc_from_obj`
cycles, live, shuffled=the search for cycles: an object that lives
cycles, dying, shuffled=an object of a garbage cycle: found, cleared and freed
memory of a link=memory of a link, in bytes'
awk -v short=1000000 -v shown="$(echo "$rows" | tr '\n' '|' | sed 's/|$//')" -f tests/bench/table.awk "$csv" \
    >"$results/part" || { rm -f "$results/part"; exit 1; }
printf '\n%s\n' "$measured" >>"$results/part"
if [ -z "${RESULTS:-}" ]; then
    awk -v part="$results/part" '
        $0 == "<!-- end of bench -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- bench -->" { inside = 1; while ((getline line <part) > 0) print line }' README.md >"$results/readme"
    cp "$results/readme" README.md
    rm -f "$results/readme"
fi
rm -f "$results/part"
