#!/bin/sh
# run.sh PVM [debug] - extensions of others, as CPython's users have them, on this VM: each is compiled
# unmodified, and a script checks what its own tests check; normally, with a small nursery, with a
# collection and a compaction at each allocation, and with a slice of marking at each. debug: PVM was
# built with RRC_DEBUG and sanitizers.
#
# The sources are those of Debian's packages, in build/sources (`make deps-all`). What is missing is skipped.
. tests/lib.sh
pvm=$1
kind=${2:-release}
here=bindings/cpython/tests
sources=$BUILD/sources
out=$BUILD/cpython/$kind
flags='-O1 -g -fPIC -shared -Ibindings/cpython/include'
[ "$QUICK" = 1 ] && flags="-O0${flags#-O1}"
[ "$kind" = debug ] && flags="$flags -fno-omit-frame-pointer -fsanitize=address -DRRC_DEBUG"
# What an extension keeps in its static variables until the process ends, or forgets there, is no leak of ours.
LSAN_OPTIONS=suppressions=$here/leaks.txt:print_suppressions=0
export LSAN_OPTIONS

# unnoticed COMMAND...: it succeeds, and the header has no mistake to report.
unnoticed() {
    "$@" 2>"$out/errors"
    unnoticed_status=$?
    cat "$out/errors" >&2
    [ $unnoticed_status -eq 0 ] && ! grep '^rawrefcount: ' "$out/errors" >/dev/null
}

# module NAME PACKAGE FILE MODULE [FLAGS]: compile FILE of the package (-: one of ours) to a module, and
# run NAME.lisp, or all scripts in the folder NAME, with it.
module() {
    name=$1 package=$2 source=$sources/$2/$3 spec=$4
    [ "$package" = - ] && source=$here/$3
    shift 4
    mkdir -p "$out/$name"
    if [ ! -f "$source" ]; then
        skip "$name: there are no sources of $package (make deps-all)"
        return
    fi
    case $source in *.pyx)
        if ! have cython3; then skip "$name: there is no cython3"; return; fi
        cython3 -3 "$source" -o "$out/$name/generated.c" || { fail "$name: cython3 fails"; return; }
        source=$out/$name/generated.c
        set -- "$@" -DNDEBUG ;;
    esac
    file=${spec##*.}
    # shellcheck disable=SC2086
    if ! $CC $flags "$source" -o "$out/$name/$file.so" "$@" 2>"$out/$name/errors"; then
        if grep -q 'cannot find -l' "$out/$name/errors"; then skip "$name: a library is missing"
        else fail "$name does not compile: $(head -n 3 "$out/$name/errors")"; fi
        return
    fi
    case $spec in *.*) extension=${spec%.*}=$out/$name/$file.so ;; *) extension=$out/$name/$file.so ;; esac
    for script in $here/"$name".lisp $here/"$name"/*.lisp; do
        case $script in */common.lisp) continue ;; esac         # it is loaded by the others
        [ -f "$script" ] || continue
        title=${script#$here/}
        expect "$title" unnoticed "$pvm" --extension "$extension" "$script"
        expect "$title, small nursery" unnoticed "$pvm" --nursery 8k --extension "$extension" "$script"
        [ "$QUICK" = 1 ] || expect "$title, stress" unnoticed "$pvm" --stress --extension "$extension" "$script"
        expect "$title, slices" unnoticed "$pvm" --incremental --stress --extension "$extension" "$script"
    done
}

modules=$sources/python3.11/Modules
module api - api.c api
module probe - probe.c probe
module unready - unready.c unready
module formats - formats.c formats
module outside - outside.c outside
module weak - weak.c weak
module managed - managed.c managed
module sets - sets.c sets
module more - more.c more
module words - words.c words
module kinds - kinds.c kinds
module cythonic - cythonic.pyx cythonic
module markupsafe markupsafe src/markupsafe/_speedups.c markupsafe._speedups
module heapq python3.11 Modules/_heapqmodule.c _heapq -I"$modules"
module bisect python3.11 Modules/_bisectmodule.c _bisect -I"$modules"
internal=$sources/python3.11/Include/internal           # (a header of these has what zlib and bz2 share)
module zlib python3.11 Modules/zlibmodule.c zlib -I"$modules" -idirafter "$internal" -DHAVE_ZLIB_COPY -lz
module bz2 python3.11 Modules/_bz2module.c _bz2 -I"$modules" -idirafter "$internal" -lbz2
module csv python3.11 Modules/_csv.c _csv
module audioop python3.11 Modules/audioop.c audioop -I"$modules"
module statistics python3.11 Modules/_statisticsmodule.c _statistics -I"$modules" -lm
module xxlimited python3.11 Modules/xxlimited.c xxlimited
module xxhash python-xxhash src/_xxhash.c _xxhash -lxxhash
module levenshtein python-levenshtein Levenshtein/_levenshtein.c _levenshtein
module pvectorc pyrsistent pvectorcmodule.c pvectorc
module bitarray python-bitarray bitarray/_bitarray.c _bitarray
# (Codes of patterns are those of this version.)
if grep -qs '^version = "2025\.9\.18"' "$sources/python-regex/pyproject.toml" || [ ! -d "$sources/python-regex" ]; then
    module regex python-regex regex_3/_regex.c _regex "$sources"/python-regex/regex_3/_regex_unicode.c
else skip "regex: its sources are of another version"; fi
module zope zope.interface src/zope/interface/_zope_interface_coptimizations.c _zope_interface_coptimizations
# These forget references: to numbers and a module; to strings; to what the module is made of.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
module multidict python-multidict multidict/_multidict.c multidict._multidict
persistent=src/persistent               # (up to 4.7 they are elsewhere)
[ ! -d "$sources/python-persistent/persistent" ] || persistent=persistent
module persistent python-persistent $persistent/cPersistence.c persistent.cPersistence -DNDEBUG "$sources/python-persistent/$persistent/ring.c"
module frozenlist frozenlist frozenlist/_frozenlist.pyx frozenlist._frozenlist
module pyyaml pyyaml yaml/_yaml.pyx yaml._yaml '-DPYPY_VERSION="7"' -I"$sources/pyyaml/yaml" -lyaml
unset ASAN_OPTIONS
module simplejson simplejson simplejson/_speedups.c simplejson._speedups

# ---- more of CPython's own modules, all at once: they use its private headers
mkdir -p "$out/own"
own=
for one in array=arraymodule _struct=_struct _random=_randommodule binascii=binascii _md5=md5module _sha1=sha1module \
    _sha256=sha256module _sha3=_sha3/sha3module itertools=itertoolsmodule _functools=_functoolsmodule \
    _operator=_operator _json=_json math=mathmodule cmath=cmathmodule _queue=_queuemodule select=selectmodule \
    unicodedata=unicodedata mmap=mmapmodule; do
    [ -f "$modules/${one#*=}.c" ] || continue
    # shellcheck disable=SC2086
    expect "${one%=*} compiles" $CC $flags -I"$modules" "$modules/${one#*=}.c" -o "$out/own/${one%=*}.so" -lm
    own="$own --extension $out/own/${one%=*}.so"
done
for mode in '' '--nursery 8k' --stress '--incremental --stress'; do
    [ "$QUICK$mode" = 1--stress ] && continue
    # shellcheck disable=SC2086
    if [ -n "$own" ]; then expect "own $mode" unnoticed "$pvm" $mode $own $here/own.lisp
    else skip "own $mode: there are no sources of python3.11 (make deps-all)"; fi
done

# ---- what CPython says too
python_headers=$(python3 -c 'import sys, sysconfig; sys.version_info[:2] == (3, 11) and print(sysconfig.get_path("include"))' 2>/dev/null)
mkdir -p "$out/python"
for name in weak same sets more words octets kinds wide encodes variables hidden; do
    says=$here/$name.txt
    [ -f "$says" ] || says=$here/$name.utf8
    # shellcheck disable=SC2086
    expect "$name.c compiles" $CC $flags $here/$name.c -o "$out/$name.so"
    for mode in '' '--nursery 8k' --stress '--incremental --stress'; do
        [ "$QUICK$mode" = 1--stress ] && continue
        # shellcheck disable=SC2086
        "$pvm" $mode --extension "$out/$name.so" -e "(begin (display (call (import '$name) 'run)) (exit 0))" >"$out/said" 2>&1
        expect "$name $mode" cmp "$out/said" "$says"
    done
    if [ ! -f "$python_headers/Python.h" ]; then
        skip "$name: there is no python3.11 with its headers"
        continue
    fi
    expect "$name.c compiles for CPython" $CC -O1 -fPIC -shared -I"$python_headers" $here/$name.c -o "$out/python/$name.so"
    PYTHONPATH=$out/python python3 -c "import $name; print($name.run(), end='')" >"$out/said" 2>&1
    expect "$says is what CPython says" cmp "$out/said" "$says"
done

# ---- datetime.h: the module datetime is CPython's
dates=$here/dates.c says=$here/dates.utf8
datetime=$modules/_datetimemodule.c
# shellcheck disable=SC2086
expect "dates.c compiles" $CC $flags $dates -o "$out/dates.so"
if [ ! -f "$datetime" ]; then
    skip "dates: there are no sources of python3.11 (make deps-all)"
# shellcheck disable=SC2086
elif ! $CC $flags -I"$modules" "$datetime" -o "$out/_datetime.so" -lm 2>"$out/errors"; then
    fail "_datetimemodule.c does not compile: $(head -n 3 "$out/errors")"
else
    for mode in '' '--nursery 8k' --stress '--incremental --stress'; do
        [ "$QUICK$mode" = 1--stress ] && continue
        # shellcheck disable=SC2086
        "$pvm" $mode --extension "$out/_datetime.so" --extension "$out/dates.so" -e "(begin
            (set-attr! (module 'datetime) 'datetime_CAPI (attr (import '_datetime) 'datetime_CAPI))
            (display (call (import 'dates) 'run)) (exit 0))" >"$out/said" 2>&1
        expect "dates $mode" cmp "$out/said" "$says"
    done
fi
if [ -f "$python_headers/Python.h" ]; then
    expect "dates.c compiles for CPython" $CC -O1 -fPIC -shared -I"$python_headers" $dates -o "$out/python/dates.so"
    PYTHONPATH=$out/python python3 -c "import dates; print(dates.run(), end='')" >"$out/said" 2>&1
    expect "$says is what CPython says" cmp "$out/said" "$says"
fi

# ---- the examples, both at once
mkdir -p "$out/extensions"
for file in buffer graph; do
    # shellcheck disable=SC2086
    expect "$file.c compiles" $CC $flags -Wall -Wextra -Wno-missing-braces -Wno-missing-field-initializers -Werror \
        bindings/cpython/extensions/$file.c -o "$out/extensions/$file.so"
done
extensions="--extension $out/extensions/buffer.so --extension $out/extensions/graph.so"
for script in bindings/cpython/extensions/tests/*.lisp; do
    for mode in '' '--nursery 8k' --stress '--incremental --stress'; do
        [ "$QUICK$mode" = 1--stress ] && continue
        # shellcheck disable=SC2086
        expect "$script $mode" "$pvm" $mode $extensions "$script"
    done
done

# The script of the README.
sed -n '/^    (define Node/,/^    (call a .walk)/s/^    //p' bindings/cpython/README.md >"$out/script.lisp"
expect "README: the script" test "$("$pvm" --extension "$out/extensions/graph.so" "$out/script.lisp")" = "b is reached from a"

# ---- the option
# says NAME STATUS TEXT COMMAND...: it ends with this status, and TEXT is part of what it writes.
says() {
    says_name=$1 says_status=$2 says_text=$3
    shift 3
    "$@" >"$out/said" 2>&1 </dev/null
    if [ $? -eq "$says_status" ] && grep -qF -- "$says_text" "$out/said"; then pass "$says_name"
    else fail "$says_name: $(cat "$out/said")"; fi
}
probe=$out/probe/probe.so
says "--extension" 0 42 "$pvm" --extension "$probe" -e "(call (import 'probe) 'as-long 42)"
says "the name of a module in a package" 0 pack.probe "$pvm" --extension pack="$probe" -e "(attr (import 'pack.probe) '__name__)"
says "an extension twice" 0 42 "$pvm" --extension "$probe" --extension "$probe" -e "(call (import 'probe) 'as-long 42)"
says "an extension that is not there" 1 missing.so "$pvm" --extension "$out/missing.so" -e "(import 'missing)"
printf 'no code' >"$out/text.so"
says "a text as an extension" 1 text.so "$pvm" --extension "$out/text.so" -e "(import 'text)"
cp "$probe" "$out/other.so"
says "an extension under another name" 1 PyInit_other "$pvm" --extension "$out/other.so" -e "(import 'other)"
says "--help" 0 "--extension [PACKAGE=]FILE" "$pvm" --help
says "a wrong option" 2 "usage: pvm" "$pvm" --extensions
says "--extension without a file" 2 "a file must follow" "$pvm" --extension

# ---- debug builds name a borrowed reference that is stale, where it is used
stale() {
    title=$1 text=$2
    shift 2
    says "stale: $title" 134 "$text" "$pvm" --extension "$probe" -e "(begin (define m (import 'probe)) (define while-borrowed (attr m 'while-borrowed)) $1)"
}
if [ "$kind" = debug ]; then
    gone="which does not hold it any more"
    stale "overwritten in a dict" "PyObject_Repr: stale reference to str: borrowed by PyDict_GetItemWithError from dict, $gone" \
        "(define d (dict 'k (string-append \"a\" \"b\"))) (while-borrowed d 'k (lambda () (dict-set! d 'k 1)))"
    stale "removed from a dict" "PyObject_Repr: stale reference to host_object: borrowed by PyDict_GetItemWithError from dict, $gone" \
        "(define d (dict 'k (list 1))) (while-borrowed d 'k (lambda () (dict-remove! d 'k)))"
    stale "a number" "PyObject_Repr: stale reference to int: borrowed by PyDict_GetItemWithError from dict, $gone" \
        "(define d (dict 'k 123456)) (while-borrowed d 'k (lambda () (dict-set! d 'k 1)))"
    stale "still somewhere else in the host" "PyObject_Repr: stale reference to host_object: borrowed by PyDict_GetItemWithError from dict, $gone" \
        "(define d (dict 'k (list 1))) (define other nil) (while-borrowed d 'k (lambda () (set! other (dict-get d 'k)) (dict-remove! d 'k)))"
    stale "removed from a list" "PyObject_Repr: stale reference to str: borrowed by PyList_GetItem from list, $gone" \
        "(define a (call m 'list-make (call m 'str-fill 5 \"x\"))) (while-borrowed a 0 (lambda () (array-remove! a 0)))"
    says "two origins, of which one holds it" 0 "(shared)" "$pvm" --extension "$probe" -e "(begin
        (define while-borrowed (attr (import 'probe) 'while-borrowed)) (define x (list 'shared)) (define a (dict 'k x)) (define b (dict 'k x))
        (while-borrowed a 'k (lambda () (while-borrowed b 'k (lambda () nil)) (dict-remove! a 'k))))"
fi
finish
