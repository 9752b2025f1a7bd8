#!/bin/sh
# valgrind.sh COMMAND... - the cases and a random program, with no invalid access and
# nothing that the binding leaks.
. tests/lib.sh
have valgrind || { skip "there is no valgrind"; finish; }
out=$BUILD/lua/valgrind.txt
for program in "cases.lua" "random.lua 1 3 600 stressed"; do
    # shellcheck disable=SC2086
    VALGRIND=1 valgrind -q --trace-children=yes --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        "$@" bindings/lua/tests/$program >"$out" 2>&1
    status=$?
    cat "$out"
    expect "$program" test $status -eq 0
done
finish
