#!/bin/sh
# terminal.sh KIND:CVM... - drives the read-eval-print loop of each cvm through a pseudo terminal. KIND is `edited`
# if it has line editing, else `plain`.
. tests/lib.sh
if have python3; then
    for one in "$@"; do
        expect "a terminal, ${one%%:*}" python3 bindings/compactvm/tests/terminal.py "${one%%:*}" "${one#*:}"
    done
    case " $* " in *" edited:"*) ;; *) skip "line editing: pkg-config finds no libedit" ;; esac
else
    skip "the loop at a terminal: there is no python3"
fi
finish
