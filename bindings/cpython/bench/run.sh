#!/bin/sh
# run.sh PVM - one extension, compiled for pvm and for CPython, run in both: a table in Markdown of the instructions
# that each row takes, counted by callgrind. PYTHON=FILE is CPython; it needs its headers.
pvm=$1
python=${PYTHON:-/usr/bin/python3}
out=${BUILD:-build}/cpython/bench
here=bindings/cpython/bench
mkdir -p "$out/python" "$out/pvm" || exit 1
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
if [ ! -f "$include/Python.h" ]; then
    echo "skipped: there is no $python with its headers"
    exit 0
fi
if ! command -v valgrind >/dev/null; then
    echo "skipped: there is no valgrind"
    exit 0
fi
times=20000
flags="-O2 -shared -fPIC -w -DN=$times"
# shellcheck disable=SC2086
${CC:-cc} $flags -I"$include" $here/speed.c -o "$out/python/speed.so" || exit 1
# shellcheck disable=SC2086
${CC:-cc} $flags -Ibindings/cpython/include $here/speed.c -o "$out/pvm/speed.so" || exit 1

# count NAME COMMAND...: the instructions of each row, in $out/NAME.txt.
# Below "fn=(file) row_..." each line that begins with a number has the cost of the function itself or, after "calls=",
# of all that it called there.
count() {
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file="$out/callgrind.$name" --compress-strings=no \
        --toggle-collect='row_*' "$@" >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }
    awk -v times=$times '
        /^fn=/ { name = $0; sub(/^fn=(\([0-9]+\) *)?/, "", name) }
        /^[0-9+*-]/ && name ~ /^row_/ { cost[name] += $2 }
        END { for (name in cost) printf "%s %.1f\n", name, cost[name] / times }' "$out/callgrind.$name" >"$out/$name.txt"
}
PYTHONPATH=$out/python count python "$python" -c 'import speed; speed.run()'
count pvm "$pvm" --extension "$out/pvm/speed.so" -e "(call (import 'speed) 'run)"
echo "Instructions each; $("$python" --version), $(${CC:-cc} --version | head -n 1)."
echo
echo "| | CPython | pvm | ratio |"
echo "|---|--:|--:|--:|"
while read -r row text; do
    awk -v row="row_$row" -v text="$text" '$1 == row { n[FILENAME] = $2 } END { a = n[ARGV[1]]; b = n[ARGV[2]]
        if (a > 0 && b > 0) printf "| %s | %.0f | %.0f | %.1f |\n", text, a, b, b / a
        else { print "no count of " row; exit 1 } }' "$out/python.txt" "$out/pvm.txt" || exit 1
done <<'ROWS'
function call a function of C
method call a method
attribute get a computed attribute
list_append append to a list
list_get get an item of a list
dict_set set an item of a dict
dict_get get an item of a dict
dict_next walk over a dict
int make and drop an int
float make and drop a float
tuple make and drop a tuple of two, `PyTuple_Pack`
build make and drop `Py_BuildValue("(is)")`
text make and drop a str
object make and drop an object, `PyObject_GC_New`
instance call a type, drop the object
cycles make and collect a cycle of two
ROWS
