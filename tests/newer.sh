#!/bin/sh
# newer.sh DIRECTORY EXPECTED COMMAND... - the command, run there, writes two heap snapshots, before.heapsnapshot
# and after.heapsnapshot. Does a library that is not ours find that
# exactly the objects in the file EXPECTED are new?
set -u
directory=$1 expected=$2
shift 2
modules=$(pwd)/${BUILD:-build}/node/node_modules
mkdir -p "$directory" || exit 1
if ! command -v node >/dev/null 2>&1 || [ ! -d "$modules/@memlab/heap-analysis" ]; then
    echo "skipped: there is no node with @memlab/heap-analysis to read heap snapshots: see make deps"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
(cd "$directory" && "$@") || exit 1
found=$(NODE_PATH=$modules node tests/newer.js "$directory" | sed -n 's/^NEW //p')
[ "$found" = "$(cat "$expected")" ] && exit 0
echo "FAILED: new are: $found"
exit 1
