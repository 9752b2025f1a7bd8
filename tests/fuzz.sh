#!/bin/sh
# fuzz.sh KIND PROGRAM SECONDS - random bytes, after those of tests/corpus/KIND, drive a
# program. What it finds is kept in build/corpus/KIND; what fails, in a file beside it.
# fuzz.sh merge KIND PROGRAM - tests/corpus/KIND becomes the least that still reaches all
# that both reach.
set -u
BUILD=${BUILD:-build}
merge=0
if [ "$1" = merge ]; then
    merge=1
    shift
fi
kind=$1 program=$2
kept=tests/corpus/$kind found=$BUILD/corpus/$kind
if head -n 1 "$program" | grep -q '^#!'; then exec "$program"; fi       # skipped: it says why
mkdir -p "$kept" "$found" || exit 1

if [ $merge = 1 ]; then
    rm -rf "$found.least"
    mkdir "$found.least" || exit 1
    "$program" -merge=1 -max_len=512 -use_counters=0 "$found.least" "$kept" "$found" >"$found.log" 2>&1 || {
        cat "$found.log"
        exit 1
    }
    rm -f "$kept"/*
    mv "$found.least"/* "$kept"/ && rmdir "$found.least"
    echo "$kept: $(ls "$kept" | wc -l) files"
else
    exec "$program" -max_total_time="$3" -max_len=4096 -len_control=0 -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$found-" "$found" "$kept"
fi
