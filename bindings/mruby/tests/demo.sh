#!/bin/sh
# demo.sh PROGRAM SCRIPT - the demonstration shows what it is meant to show: the naive
# binding leaks all, ours nothing, and most goes while the program runs.
set -u
text=$("$1" "$2") || exit 1
echo "$text"
numbers=$(echo "$text" | sed -n 's/^[^0-9]*: *\([0-9]*\) .*/\1/p; s/^  *\([0-9]*\)  .*/\1/p' | tr '\n' ' ')
set -- $numbers
[ $# -eq 6 ] && [ "$1" -eq 3000 ] && [ "$3" -eq 3000 ] && [ "$4" -eq 3000 ] && [ "$5" -lt 1500 ] && [ "$6" -eq 0 ] ||
    { echo "FAILED: other numbers were expected: $numbers"; exit 1; }
