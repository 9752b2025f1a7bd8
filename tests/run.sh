#!/bin/sh
# run.sh - runs tests, keeps what they print, and adds up.
#
#   run.sh one NAME COMMAND...   Runs a test. If it prints "N passed, N failed[, N
#                                skipped]", that counts; else it is one test,
#                                and its exit status counts.
#   run.sh skip NAME REASON      A test that cannot run here.
#   run.sh all JOBS NAME...      Lets MAKE build and run these tests, JOBS at a time (or as many
#                                as the calling make runs, if that is ''), and ends with the
#                                totals. A test without a result was not built: it has failed.
#
# TEST_MINUTES=N ends `all` after so many minutes. Tests that it has not reached are listed, and
# are no failures.
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

# Sets processor: the user and system time of the processes that have ended, in seconds. (Not
# "$(...)", which is a process of its own, and has waited for none.)
take_processor_time() {
    times >"$results/times.$$"
    processor=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, "[ms]"); sum += 60 * part[1] + part[2] }
                               printf "%d\n", sum + 0.5 }' "$results/times.$$")
    rm -f "$results/times.$$"
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# How many tests of `all` are done, and how long it has run.
progress() {
    [ -n "${RUN_TOTAL:-}" ] || return 0
    set -- "$results"/*.counts
    printf '[%3d of %d, %s] ' $# "$RUN_TOTAL" "$(clock $(($(date +%s) - RUN_START)))"
}

add_up() {
    passed=0 failed=0 skipped=0 bad= missing= missing_count=0
    for name in "$@"; do
        if [ -f "$results/$name.counts" ]; then
            read -r p f s <"$results/$name.counts"
        elif [ -f "$results/stopped" ]; then
            p=0 f=0 s=0 missing="$missing $name" missing_count=$((missing_count + 1))
        else
            p=0 f=1 s=0
            echo "FAILED   $name: not built, or not run"
        fi
        [ "$f" -eq 0 ] || bad="$bad $name"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    # What was not reached may be what could not be built.
    if [ -n "$missing" ] && [ -s "$results/errors" ]; then
        echo "FAILED   something could not be built:"
        cat "$results/errors"
        failed=$((failed + 1))
    fi
    [ -z "$bad" ] || echo "failed: $bad"
    [ -z "$missing" ] || echo "not reached in $TEST_MINUTES minutes, $missing_count of $#: $missing"
    if [ -s "$results/skipped" ]; then
        sort -u "$results/skipped"
    fi
    take_processor_time
    echo "It took $(clock $(($(date +%s) - RUN_START))), and $(clock "$processor") of processors' time."
    if [ "$skipped" -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ "$failed" -eq 0 ] && { [ -n "$missing" ] || [ "$passed" -gt 0 ]; }
}

# Without TEST_MINUTES make has the terminal to itself. With it, what fails before the time is up is
# kept; what fails then does so because it was stopped.
run_portion() {
    if [ -z "${TEST_MINUTES:-}" ]; then
        # shellcheck disable=SC2086
        "${MAKE:-make}" --no-print-directory -k $jobs $portion
        return
    fi
    end=$((RUN_START + 60 * TEST_MINUTES))
    left=$((end - $(date +%s)))
    if [ $left -gt 0 ]; then
        # shellcheck disable=SC2086
        timeout -k 10 $left "${MAKE:-make}" --no-print-directory -k $jobs $portion 2>&1 | while IFS= read -r line; do
            printf '%s\n' "$line"
            case $line in
            make*'*** '*' Error '[0-9]*) [ "$(date +%s)" -ge $end ] || echo "$line" >>"$results/errors" ;;
            esac
        done
    fi
    [ "$(date +%s)" -lt $end ] || : >"$results/stopped"
}

case $command in
one)
    name=$1
    shift
    log=$results/$name.log
    limit=
    if command -v timeout >/dev/null 2>&1; then limit="timeout ${TEST_SECONDS:-900}"; fi
    start=$(date +%s)
    # In the background, so that a signal that ends this script ends the test, too.
    $limit "$@" >"$log" 2>&1 &
    pid=$!
    trap 'kill $pid; exit 143' HUP INT TERM
    wait $pid
    status=$?
    seconds=$(($(date +%s) - start))
    take_processor_time
    counts=$(totals_of "$log")
    [ -n "$counts" ] || counts=$([ $status -eq 0 ] && echo 1 0 0 || echo 0 1 0)
    set -- $counts 0
    passed=$1 failed=$2 skipped=$3
    if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then
        failed=1
        echo "exit status $status" >>"$log"
    fi
    echo "$passed $failed $skipped" >"$results/$name.counts"
    echo "$seconds $processor" >"$results/$name.seconds"
    progress
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
    progress
    echo "skipped: $1: $2" | tee -a "$results/skipped"
    ;;
all)
    jobs=$1
    shift
    flags=${MAKEFLAGS:-}
    case ${flags%% *} in
    -* | *=*) ;;
    *n*) exec "${MAKE:-make}" --no-print-directory $(printf 'run-%s ' "$@") ;;     # make -n: nothing is run
    esac
    rm -rf "$results"
    mkdir -p "$results" || exit 1
    RUN_TOTAL=$# RUN_START=$(date +%s)
    export RUN_TOTAL RUN_START
    # make builds all that its goals need before it runs the first. So they come in portions.
    set -- "$@" .
    portion= count=0
    while [ "$1" != . ]; do
        set -- "$@" "$1"
        portion="$portion run-$1" count=$((count + 1))
        shift
        if [ $count -lt "${PORTION:-30}" ] && [ "$1" != . ]; then continue; fi
        run_portion
        portion= count=0
    done
    shift
    add_up "$@"
    ;;
*)
    echo "run.sh: one, skip or all" >&2
    exit 2
    ;;
esac
