#!/bin/sh
# run.sh CVM [quick] - run all tests with a cvm: normally, marking in slices, and under stress, with a whole
# collection or with a slice of one at each allocation.
#
#   tests/*.lisp         must end with status 0
#   tests/errors/*.lisp  must end with status 1 and the error of their first line
#
# The last line says how many passed and failed. quick: only the fast ones.
cvm=$1
quick=${2:-}
here=$(dirname "$0")
temp=${TMPDIR:-/tmp}/cvm-test.$$
mkdir -p "$temp" || exit 1
trap 'rm -rf "$temp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $1"
    sed 's/^/    /' "$temp/out" "$temp/err" | tail -n 20
}

# check NAME STATUS COMMAND...: does the command end with this status?
check() {
    name=$1
    wanted=$2
    shift 2
    "$@" >"$temp/out" 2>"$temp/err" </dev/null
    status=$?
    if [ $status -eq "$wanted" ]; then return 0; fi
    fail "$name: status $status, expected $wanted"
    return 1
}

# succeeds NAME COMMAND...
succeeds() {
    name=$1
    shift
    check "$name" 0 "$@" && pass
}

# says NAME STATUS TEXT COMMAND...: is all it writes, to either stream, this?
says() {
    text=$3
    name=$1
    wanted=$2
    shift 3
    check "$name" "$wanted" "$@" || return
    if [ "$(cat "$temp/out" "$temp/err")" = "$text" ]; then pass
    else fail "$name: expected $text"; fi
}

# ---- scripts that must succeed
for script in "$here"/*.lisp; do
    test=$(basename "$script")
    options=
    [ "$test" = limited.lisp ] && options='--heap-limit 512k'
    succeeds "$test" "$cvm" $options "$script"
    succeeds "$test, small nursery" "$cvm" $options --nursery 8k "$script"
    succeeds "$test, incremental" "$cvm" $options --incremental "$script"
    [ "$quick" = quick ] && continue
    if ! head -n 1 "$script" | grep -q 'Not under stress'; then
        for mode in '' --incremental; do
            succeeds "$test, stress $mode" "$cvm" $mode --stress --heap-limit 64m --max-depth 500 "$script"
        done
    fi
done

# ---- scripts that must fail, with the file and the line
for script in "$here"/errors/*.lisp; do
    text=$(sed -n '1s/^; expect: //p' "$script")
    for mode in '' --stress; do
        check "$(basename "$script") $mode" 1 "$cvm" $mode "$script" || continue
        if [ "$(head -n 1 "$temp/err")" = "$script:$text" ]; then pass
        else fail "$(basename "$script") $mode: expected $text"; fi
    done
done

# ---- programs that are no programs
awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "("; print "" }' >"$temp/parens.lisp"
says "a million parentheses" 1 "$temp/parens.lisp:1: error: recursion too deep" \
    "$cvm" "$temp/parens.lisp"
printf '7 \177ELF\001\002' >"$temp/binary.lisp"
says "a byte that is no text" 1 "$temp/binary.lisp:1: error: unexpected byte 0x7f in a program" \
    "$cvm" "$temp/binary.lisp"
check "the VM's own binary as a script" 1 "$cvm" "$cvm" && pass
printf '' >"$temp/empty.lisp"
says "an empty script" 0 "" "$cvm" "$temp/empty.lisp"
says "a missing script" 1 "error: cannot open $temp/missing" "$cvm" "$temp/missing"
check "a folder as a script" 1 "$cvm" "$here" && pass
printf '(define (f) (car 1))\n' >"$temp/lib.lisp"
printf '(load "%s")\n(f)\n' "$temp/lib.lisp" >"$temp/user.lisp"
says "an error in another file" 1 "$temp/lib.lisp:1: error: car: expected a pair, got 1
    in f, called at $temp/user.lisp:2" "$cvm" "$temp/user.lisp"
printf '(load "%s")\n' "$temp/loop.lisp" >"$temp/loop.lisp"
says "a file that loads itself" 1 "$temp/loop.lisp:1: error: recursion too deep" \
    "$cvm" "$temp/loop.lisp"

# ---- the calls that an error ends, the innermost first
cat >"$temp/calls.lisp" <<'END'
#!/usr/bin/env cvm
(define (inner x)
  (car x))
(define (outer x)
  (+ 1
     (inner x)))
(define (last x) (outer x))
(map (lambda (x)
       (last x))
     (list 5))
END
for mode in '' --stress; do
    says "a call stack, and a line for the shell $mode" 1 "$temp/calls.lisp:3: error: car: expected a pair, got 5
    in inner, called at $temp/calls.lisp:6
    in outer, called at $temp/calls.lisp:7" "$cvm" $mode "$temp/calls.lisp"
done
printf '(define (f n) (if (= n 0) (error "end") (+ 1 (f (- n 1)))))\n(f 20)\n' >"$temp/calls.lisp"
says "a deep call stack" 1 "$temp/calls.lisp:1: error: end
$(for i in 1 2 3 4 5 6 7 8; do echo "    in f, called at $temp/calls.lisp:1"; done)
    and 13 more calls" "$cvm" "$temp/calls.lisp"
says "the calls of an error that was caught are forgotten" 1 "-e:1: error: unbound variable: x" \
    "$cvm" -e '(begin (define (f) (error "inner")) (try f (lambda (m) nil)) x)'

# ---- the command line
says "-e" 0 '(1 "two")' "$cvm" -e "(list 1 \"two\")"
says "-e with an error" 1 "-e:1: error: car: expected a pair, got 1" "$cvm" -e '(car 1)'
says "exit" 3 "" "$cvm" -e '(begin (exit 3) (print "no"))'
says "exit is not caught" 4 "" "$cvm" -e '(try (lambda () (exit 4)) print)'
says "--max-depth" 1 "-e:1: error: recursion too deep" "$cvm" --max-depth 3 -e '(+ 1 (+ 1 (+ 1 (+ 1 1))))'
says "--incremental" 0 true "$cvm" --incremental -e '(gc-slice 1)'
says "without it a slice is a whole collection" 0 false "$cvm" -e '(gc-slice 1)'
says "--heap-limit" 0 1048576 "$cvm" --heap-limit 1m -e "(stat 'heap-limit)"
says "a program that takes all the memory" 1 "-e:1: error: out of memory
    in f, called at -e:1" "$cvm" --heap-limit 4m -e '(begin (define (f x) (f (cons x x))) (f nil))'
check "--help" 0 "$cvm" --help && if head -n 1 "$temp/out" | grep -q '^cvm [0-9]'; then pass; else fail "--help"; fi
check "--version" 0 "$cvm" --version && pass
check "an unknown option" 2 "$cvm" --what && pass
check "a size that is none" 2 "$cvm" --heap-limit 12x && pass
check "two scripts" 2 "$cvm" a b && pass
check "-e without an expression" 2 "$cvm" -e && pass

# ---- the read-eval-print loop goes on after errors
cat >"$temp/session" <<'END'
(define x
  (list 1 2))
(car 5)
)
x "still
here"
END
for mode in '' --stress; do
    "$cvm" $mode <"$temp/session" >"$temp/out" 2>"$temp/err"
    if [ "$(cat "$temp/err")" = "repl:1: error: car: expected a pair, got 5
repl:1: error: unexpected )" ] && grep -q ' x$' "$temp/out" && grep -q 'still.nhere' "$temp/out"
    then pass; else fail "the loop $mode"; fi
done

# loop NAME STATUS ERRORS VALUE: reads $temp/session. Is the status this, are the errors these, and
# is VALUE the last line but the prompt?
loop() {
    "$cvm" <"$temp/session" >"$temp/out" 2>"$temp/err"
    status=$?
    if [ $status -eq "$2" ] && [ "$(cat "$temp/err")" = "$3" ] &&
        [ "$(sed 's/^[> ]*//' "$temp/out" | grep -v '^$' | tail -n 1)" = "$4" ]
    then pass; else fail "the loop, $1: status $status"; fi
}
printf '(+ 1 2)\n(* 2 21)' >"$temp/session"
loop "no newline at the end" 0 "" 42
printf '(+ 1 2)\n(exit 3)' >"$temp/session"
loop "an exit without a newline" 3 "" 3
printf '(+ 1 2)\n(car 5)' >"$temp/session"
loop "an error without a newline" 0 "repl:1: error: car: expected a pair, got 5" 3
printf '(+ 1 2)\n(list 1\n 2' >"$temp/session"
loop "no end" 0 "repl:1: error: this ( has no matching )" 3
printf '(string-length "a\000b") (list 1 2)\n(string-length "a\000b")\n' >"$temp/session"
loop "a zero byte in a string" 0 "" 3
printf '(list 1 \000 2)\n7 \000 (print "not reached")\n8\n' >"$temp/session"
loop "a zero byte elsewhere" 0 "repl:1: error: unexpected byte 0x00 in a program
repl:1: error: unexpected byte 0x00 in a program" 8
cat >"$temp/session" <<'END'
'
; a comment: ( " [
  (a "b\") \\" ; another one )
    (c ")" ; "
    ) 'd)
END
loop "an expression over many lines" 0 "" '(a "b\") \\" (c ")") (quote d))'
printf '(list 1 ]\n9\n' >"$temp/session"
loop "brackets that do not match" 0 "repl:1: error: unexpected ]" 9
awk 'BEGIN { print "(length (list"; for (i = 0; i < 30000; i++) print "(quote x)"; print "))" }' >"$temp/session"
if command -v timeout >/dev/null; then
    timeout 60 "$cvm" --max-depth 100000 <"$temp/session" >"$temp/out" 2>"$temp/err"
    if [ $? -eq 0 ] && tail -n 2 "$temp/out" | grep -q ' 30000$'
    then pass; else fail "the loop, an expression of 30000 lines"; fi
else
    echo "skipped: the time that a long expression takes (no timeout command)"
fi

# ---- little C stack: recursion ends with an error, wherever it is
for size in 256 512; do
    for script in "$here"/deep.lisp "$here"/errors/recursion.lisp; do
        if [ -f "$temp/no-stack" ]; then break; fi
        (ulimit -s $size 2>/dev/null || touch "$temp/no-stack"
         exec "$cvm" "$script") >"$temp/out" 2>"$temp/err" </dev/null
        status=$?
        if [ -f "$temp/no-stack" ]; then
            echo "skipped: a small C stack (ulimit -s cannot set it)"
        elif [ $status -eq 0 ] || grep -q 'error: recursion too deep$' "$temp/err"; then
            pass
        else
            fail "$(basename "$script") with a C stack of $size KB: status $status"
        fi
    done
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
