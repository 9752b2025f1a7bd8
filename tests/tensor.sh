#!/bin/sh
# tensor.sh PVM TENSOR - the script of examples/tensor prints what expected.txt says,
# however the VM collects. CPython takes the same source, where its headers are there.
. tests/lib.sh
pvm=$1
tensor=$2
printed=$BUILD/tests/tensor.txt
mkdir -p "$BUILD/tests" || exit 1

for mode in '' '--nursery 8k' --stress --incremental '--incremental --stress'; do
    # shellcheck disable=SC2086
    if "$pvm" $mode --extension "$tensor" examples/tensor/tensor.lisp >"$printed"; then
        same_text "tensor.lisp $mode" examples/tensor/expected.txt "$printed"
    else
        fail "tensor.lisp $mode: exit status"
    fi
done
include=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
if [ -f "$include/Python.h" ]; then
    mkdir -p "$BUILD/tests/python" || exit 1
    expect 'tensor.c compiles for CPython' $CC -O1 -shared -fPIC -Wall -Wextra -Werror -isystem "$include" \
        examples/tensor/tensor.c -o "$BUILD/tests/python/tensor.so"
    expect 'in_cpython.py' env PYTHONPATH="$BUILD/tests/python" PYTHONDONTWRITEBYTECODE=1 python3 examples/tensor/in_cpython.py
else
    skip 'CPython: there is no python3 with its headers'
fi
finish
