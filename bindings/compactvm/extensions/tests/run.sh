#!/bin/sh
# run.sh CVM FOLDER [quick] - the scripts beside it, each with the extension of its
# name out of the folder: normally, with a small nursery, and under stress.
. tests/lib.sh
cvm=$1
folder=$2
quick=$3

for script in bindings/compactvm/extensions/tests/*.lisp; do
    name=$(basename "$script" .lisp)
    expect "$name" "$cvm" --extension "$folder/$name.so" "$script"
    expect "$name, small nursery" "$cvm" --nursery 8k --extension "$folder/$name.so" "$script"
    [ "$quick" = quick ] ||
        expect "$name, stress" "$cvm" --stress --heap-limit 64m --max-depth 500 --extension "$folder/$name.so" "$script"
done
expect "both in one VM" "$cvm" --extension "$folder/buffer.so" --extension "$folder/graph.so" \
    -e '(begin (define n (node (byte-buffer 3))) (gc) (assert (= (attr (attr n (quote value)) (quote size)) 3)))'
finish
