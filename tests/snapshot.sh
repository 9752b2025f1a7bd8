#!/bin/sh
# snapshot.sh PROGRAM - heap snapshots that the program (of snapshot.c) writes are read by a library that is
# not ours.
set -u
program=$1
directory=$program.files
modules=$(pwd)/${BUILD:-build}/node/node_modules
mkdir -p "$directory" || exit 1
if ! command -v node >/dev/null 2>&1 || [ ! -d "$modules/@memlab/heap-analysis" ]; then
    echo "skipped: there is no node with @memlab/heap-analysis to read heap snapshots: see make deps"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
"$program" "$directory" && NODE_PATH=$modules node tests/snapshot.js "$directory"
