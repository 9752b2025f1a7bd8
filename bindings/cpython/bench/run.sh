#!/bin/sh
# run.sh PVM - one extension, compiled for pvm and for CPython, run in both: a table in Markdown, nanoseconds
# each. It needs python3 with its headers.
pvm=$1
out=${BUILD:-build}/cpython/bench
here=bindings/cpython/bench
mkdir -p "$out/python" "$out/pvm" || exit 1
include=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
if [ ! -f "$include/Python.h" ]; then
    echo "skipped: there is no python3 with its headers"
    exit 0
fi
flags='-O2 -shared -fPIC -w'
# shellcheck disable=SC2086
${CC:-cc} $flags -I"$include" $here/speed.c -o "$out/python/speed.so" || exit 1
# shellcheck disable=SC2086
${CC:-cc} $flags -Ibindings/cpython/include $here/speed.c -o "$out/pvm/speed.so" || exit 1
PYTHONPATH=$out/python python3 -c 'import speed; print(speed.rows(), end="")' >"$out/python.txt" || exit 1
"$pvm" --extension "$out/pvm/speed.so" -e "(display (call (import 'speed) 'rows))" | grep '|' >"$out/pvm.txt" || exit 1
echo "Nanoseconds each; $(python3 --version), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)."
echo
echo "| | CPython | pvm | ratio |"
echo "|---|--:|--:|--:|"
paste -d '|' "$out/python.txt" "$out/pvm.txt" | awk -F '|' '{ printf "| %s | %s | %s | %.1f |\n", $1, $2, $4, $4 / $2 }'
