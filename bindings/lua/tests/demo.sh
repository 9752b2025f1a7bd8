#!/bin/sh
# demo.sh SCRIPT README COMMAND... - the demonstration shows what it is meant to show, in each Lua the numbers that the
# README shows: the naive binding leaks all, ours nothing, and all goes while the program runs.
set -u
script=$1
readme=$2
shift 2
text=$("$@" "$script") || exit 1
echo "$text"
numbers_of() { sed -n '/^Live/,/^ *$/s/^ *[^:]*: *\([0-9][0-9]*\)  .*/\1/p' | tr '\n' ' '; }
numbers=$(echo "$text" | numbers_of)
[ "$numbers" = "3000 3000 3000 3000 0 0 " ] || { echo "FAILED: other numbers were expected: $numbers"; exit 1; }
shown=$(sed -n '/^Live/,/^```/p' "$readme" | numbers_of)
[ "$shown" = "$numbers" ] || { echo "FAILED: $readme shows other numbers: $shown"; exit 1; }
why=$(echo "$text" | sed "1,/^Why/d; s/ 0x[0-9a-f]*//g; s|$script:[0-9]*|demo.lua|")
[ "$why" = "Button (0 references, O link to p):
  held by upvalue document of function at demo.lua,
  held by Button.on_click of Button,
  held by Window[0] of Window,
  held by table.main of table,
  held by table.windows of table,
  which global app keeps alive" ] ||
    { echo "FAILED: it gives another reason"; exit 1; }
