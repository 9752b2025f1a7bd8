#!/bin/sh
# run.sh - runs tests, keeps what they print, and adds up.
#
#   run.sh one NAME COMMAND...   Runs a test. If it prints "N passed, N failed[, N
#                                skipped]", that counts; else it is one test,
#                                and its exit status counts.
#   run.sh skip NAME REASON      A test that cannot run here.
#   run.sh totals NAME...        The last line of `make test`. A name without a
#                                result was not built: it has failed.
set -u
results=${BUILD:-build}/results
mkdir -p "$results" || exit 1
command=$1
shift

# A program for Windows ends its lines with CR LF.
totals_of() {
    tr -d '\r' <"$1" | sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed\(, \([0-9][0-9]*\) skipped\)\{0,1\}$/\1 \2 \4/p' |
        tail -n 1
}

case $command in
one)
    name=$1
    shift
    log=$results/$name.log
    limit=
    if command -v timeout >/dev/null 2>&1; then limit="timeout ${TEST_SECONDS:-900}"; fi
    start=$(date +%s)
    $limit "$@" >"$log" 2>&1
    status=$?
    seconds=$(($(date +%s) - start))
    counts=$(totals_of "$log")
    [ -n "$counts" ] || counts=$([ $status -eq 0 ] && echo 1 0 0 || echo 0 1 0)
    set -- $counts 0
    passed=$1 failed=$2 skipped=$3
    if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then
        failed=1
        echo "exit status $status" >>"$log"
    fi
    echo "$passed $failed $skipped" >"$results/$name.counts"
    if [ "$failed" -gt 0 ]; then
        echo "FAILED   $name: $passed passed, $failed failed; from $log:"
        { grep -n -E 'FAILED|ERROR|error:' "$log" | head -n 20; echo ...; tail -n 12 "$log"; } |
            sed 's/^/         | /'
    else
        printf 'ok       %-44s %5s passed %4s s\n' "$name" "$passed" "$seconds"
    fi
    grep '^skipped: ' "$log" | sed "s/^skipped: /skipped: $name: /" | tee -a "$results/skipped"
    ;;
skip)
    echo "0 0 1" >"$results/$1.counts"
    echo "skipped: $1: $2" | tee -a "$results/skipped"
    ;;
totals)
    passed=0 failed=0 skipped=0 bad=
    for name in "$@"; do
        if [ -f "$results/$name.counts" ]; then
            read -r p f s <"$results/$name.counts"
        else
            p=0 f=1 s=0
            echo "FAILED   $name: not built, or not run"
        fi
        [ "$f" -eq 0 ] || bad="$bad $name"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    [ -z "$bad" ] || echo "failed: $bad"
    if [ -s "$results/skipped" ]; then
        sort -u "$results/skipped"
    fi
    if [ "$skipped" -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    ;;
*)
    echo "run.sh: one, skip or totals" >&2
    exit 2
    ;;
esac
