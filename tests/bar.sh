#!/bin/sh
# bar.sh COMMAND... - the command writes a heap snapshot, of its file bar.heapsnapshot in a directory of its own. Does
# it show a bar if stderr is a terminal, and nothing else?
set -u
if ! command -v script >/dev/null 2>&1 || ! script --version 2>/dev/null | grep -q util-linux; then
    echo "skipped: there is no \"script\" of util-linux, which makes terminals"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
cd "$directory" || exit 1
fail() {
    echo "FAILED: $1"
    exit 1
}
words=
for word in "$@"; do
    words="$words '$word'"
done
script -qec "$words" log >/dev/null || fail "the command fails on a terminal"
grep -q '\[###.*\] *[1-9][0-9]*%' log || fail "there is no bar: $(cat log)"
tr '\r' '\n' <log | sed -n '$p' | grep -q '%' && fail "the bar is left there"
[ -s bar.heapsnapshot ] || fail "there is no snapshot"
"$@" >log 2>errors || fail "the command fails without a terminal"
[ -s errors ] && fail "it says: $(cat errors)"
exit 0
