#!/bin/sh
# tensor.sh PVM TENSOR - the script of examples/tensor prints what expected.txt says,
# however the VM collects.
. tests/lib.sh
pvm=$1
tensor=$2
printed=$BUILD/tests/tensor.txt
mkdir -p "$BUILD/tests" || exit 1

for mode in '' '--nursery 8k' --stress; do
    # shellcheck disable=SC2086
    if "$pvm" $mode --extension "$tensor" examples/tensor/tensor.lisp >"$printed"; then
        same_text "tensor.lisp $mode" examples/tensor/expected.txt "$printed"
    else
        fail "tensor.lisp $mode: exit status"
    fi
done
finish
