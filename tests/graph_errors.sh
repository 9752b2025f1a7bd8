#!/bin/sh
# graph_errors.sh PROGRAM - controls that must fail: mistakes in the text of a graph,
# and wrong fates, are reported with the file and the line.
. tests/lib.sh
program=$1
out=$BUILD/tests/graph_errors
mkdir -p "$out" || exit 1

# mistake NAME LINE WORDS TEXT: the program must fail, and say WORDS about that line.
mistake() {
    file=$out/$1.graph
    printf '%b' "$4" >"$file"
    if "$program" graphs "$file" >"$out/log" 2>&1; then
        fail "$1: not noticed"
    elif grep -F "$file:$2: " "$out/log" | grep -qF "$3"; then
        pass "$1"
    else
        fail "$1: not reported as $file:$2 ... $3"
        tail -n 3 "$out/log"
    fi
}

ring='node a gc\nnode b gc P\na -> b\nb -> a\n'
if printf '%b' "${ring}collect\ndead a b\n" >"$out/right.graph" && "$program" graphs "$out/right.graph" >"$out/log" 2>&1; then
    pass right
else
    fail right
fi
mistake unknown_word 1 'what is "nod"?' 'nod a gc\n'
mistake unknown_kind 2 'cannot be "gcc"' '# first\nnode a gcc\n'
mistake no_kind 1 'missing' 'node a\n'
mistake unknown_node 2 'no node "c"' 'node a gc\na -> c\n'
mistake node_twice 2 'already' 'node a gc\nnode a host\n'
mistake no_host_object 3 'no host object' 'node a gc\nnode b host\na => b\n'
mistake no_such_reference 3 'no such reference' 'node a gc\nnode b gc\ncut a -> b\n'
mistake too_many_references 5 'already' 'node a gc\na -> a\na -> a\na -> a\na -> a\n'
mistake light_refers 2 'light' 'node a gc light\na -> a\n'
mistake drop_too_much 4 'not held' "node a gc\nhold a\ndrop a\ndrop a\n"
mistake no_names 2 'of which node?' 'node a gc\nhold\n'
mistake wrong_fate 6 'is dead' "${ring}collect\nalive a b\n"
mistake wrong_half 6 'host object of "b" is dead' "${ring}collect\nalive b.p\n"
mistake no_such_half 6 'halves' "${ring}collect\ndead a.q\n"
mistake fate_not_told 8 '"b" in the end is not told' "${ring}\ncollect\ndead a\n"
mistake nothing_told 6 'the fate of no node' "${ring}collect\n"
mistake not_finalized 3 'has not run' 'node a gc final\nhold a\nfinalized a\n'
finish
