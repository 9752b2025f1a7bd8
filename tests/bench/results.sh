#!/bin/sh
# results.sh - what is shown of the benchmark.
#   measure BENCH...   runs BENCH with its arguments, and keeps bench.csv; then shows
#   show               bench.csv as chart.svg, and as tables in the page of this folder; some rows in the top README
#   measure-pauses BENCH...   the same for the rows about pauses: pauses.csv and calls.csv
#   show-pauses        pauses.csv as a table in the page, and calls.csv as pauses.svg
# The files of measured rows are left below $BUILD, the charts in tests/bench/results. In a page the lines between
# <!-- NAME --> and <!-- end of NAME --> are replaced. With $RESULTS, all goes there, and no page is changed.
set -u
here=tests/bench
data=${RESULTS:-${BUILD:-build}/bench/results}
charts=${RESULTS:-$here/results}
command=$1
shift
mkdir -p "$data" "$charts" || exit 1
calls=$data/calls.csv
case $command in
*-pauses) name=pauses chart=pauses script=pauses.gp missed=missed-pauses rows=pauses ;;
*) name=bench chart=chart script=chart.gp missed=missed rows=rows ;;
esac
csv=$data/$name.csv
began=$(date +%s)

# The instructions of a collection in the small VM are counted, not measured. Its limit is a collection of as many
# plain objects.
small_vm() {
    awk '/10\^5 widgets live, in millions/ { value = $1 } /10\^5 plain objects live/ { limit = $1 }
         END { goal = 20
               if (value > 0 && limit > 0)
                   printf "small VM, a collection, 10^5 widgets;compactvm;100000;%.4g;M instructions;%.4g;%.3f;%g;0;%s\n", value,
                          limit, value / limit, goal, value <= goal ? "met" : limit <= goal ? "MISSED" : "limit > goal" }' \
        $here/results/instructions.txt
}

case $command in
measure)
    "$@" --csv "$csv" || exit
    small_vm >>"$csv" ;;
measure-pauses)
    bench=$1
    shift
    "$bench" --rows pause --variant slices --n 100000,1000000,4000000 --csv "$csv" --calls "$calls" "$@" || exit ;;
*)
    [ -s "$csv" ] || { echo "results.sh: there is no $csv: make bench-results measures it" >&2; exit 1; } ;;
esac

about() { sed -n "s/^# $1  *//p" "$csv"; }
# Bytes of a cache, out of the line about the machine.
cache() { about machine | sed -n "s/.*, L$1 \([0-9]*\)K.*/\1 * 1024/p; s/.*, L$1 \([0-9]*\)M.*/\1 * 1048576/p" | head -n 1; }

# table PART: see table.awk.
table() { awk -v part="$1" -f $here/table.awk $here/reasons.txt "$csv"; }

# put PAGE NAME FILE: the file goes between the lines of the page.
put() {
    [ -z "${RESULTS:-}" ] || return 0
    grep -qF "<!-- end of $2 -->" "$1" || { echo "results.sh: $1 has no place for $2" >&2; exit 1; }
    awk -v name="$2" -v part="$3" '
        $0 == "<!-- end of " name " -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- " name " -->" { inside = 1; while ((getline line <part) > 0) print line }' "$1" >"$data/page"
    cp "$data/page" "$1"
}

measured="Measured on $(about date) with rawrefcount.h $(about header | sed 's/.* //') on $(about machine); $(about compiler), \`$(about flags)\`."
{ table rows; printf '\n%s\n' "$measured"; } >"$data/$rows.md"
table missed >"$data/$missed.md"
put $here/README.md $rows "$data/$rows.md"
put $here/README.md $missed "$data/$missed.md"

if command -v gnuplot >/dev/null 2>&1; then
    gnuplot -e "csv = '$csv'; calls = '$calls'; output_file = '$data/$chart.tmp'; \
                heading = '$(about machine), $(about compiler), $(about date)'; \
                l1 = $(cache 1) + 0; l2 = $(cache 2) + 0; l3 = $(cache 3) + 0" $here/$script \
        2>"$data/$chart.log" || { cat "$data/$chart.log"; exit 1; }     # it warns of rows that are not there
    # a text file of this project: no tabs, no trailing blanks
    expand "$data/$chart.tmp" | sed -e 's/font-family="DejaVu Sans"/font-family="DejaVu Sans, Verdana, sans-serif"/g' -e 's/ *$//' \
        >"$charts/$chart.svg"
    rm -f "$data/$chart.tmp" "$data/$chart.log"
else
    echo "skipped: the chart: there is no gnuplot"
fi

case $command in
measure*) echo "results.sh: $name: $(($(date +%s) - began)) s" ;;
esac
[ $name = bench ] || exit 0
# The rows of the README: their names in the CSV file, and its words for them.
short='major, all live, P links=a major collection: a link that lives
major, all die, queued=a major collection: a link that dies
create a P link, warm=`rrc_link`, both objects in the cache
create a P link, cold=`rrc_link`, neither in the cache
rrc_from_obj, random order=`rrc_from_obj`
cycles, live, shuffled=the search for cycles: an object that lives
cycles, dying, shuffled=an object of a garbage cycle: found, cleared and freed
memory of a link=memory of a link, in bytes'
awk -v short=1000000 -v shown="$(echo "$short" | tr '\n' '|' | sed 's/|$//')" -f $here/table.awk "$csv" >"$data/short.md" || exit 1
printf '\n%s\n' "$measured" >>"$data/short.md"
put README.md bench "$data/short.md"
