#!/bin/sh
# run.sh CVM FOLDER [quick] - the scripts beside it, with the extensions in the folder:
# normally, with a small nursery, and under stress.
. tests/lib.sh
cvm=$1
extensions="--extension $2/buffer.so --extension $2/graph.so"
quick=$3

for script in bindings/cpython/extensions/tests/*.lisp; do
    name=$(basename "$script")
    # shellcheck disable=SC2086
    expect "$name" "$cvm" $extensions "$script"
    # shellcheck disable=SC2086
    expect "$name, small nursery" "$cvm" --nursery 8k $extensions "$script"
    [ "$quick" = quick ] && continue
    # shellcheck disable=SC2086
    expect "$name, stress" "$cvm" --stress --heap-limit 64m --max-depth 500 $extensions "$script"
done
finish
