#!/bin/sh
# demo.sh PROGRAM SCRIPT - the demonstration shows what it is meant to show: the naive
# binding leaks all, ours nothing, and most goes while the program runs.
set -u
script=$2
text=$("$1" "$script") || exit 1
echo "$text"
numbers=$(echo "$text" | sed -n '/^Why/q; s/^[^0-9]*: *\([0-9]*\) .*/\1/p; s/^  *\([0-9]*\)  .*/\1/p' | tr '\n' ' ')
set -- $numbers
[ $# -eq 6 ] && [ "$1$3$4" = 300030003000 ] && [ "$5" -lt 1500 ] && [ "$6" -eq 0 ] ||
    { echo "FAILED: other numbers were expected: $numbers"; exit 1; }
why=$(echo "$text" | sed "1,/^Why/d; s/ 0x[0-9a-f]*//g; s|$script|demo.rb|")
[ "$why" = "Button (0 references, P link to p, weak):
  held by local document of Proc at demo.rb:44,
  held by Button.on_click of Button,
  held by Window[0] of Window,
  held by Array[0] of Array,
  held by element :windows of Hash,
  which global \$app keeps alive" ] ||
    { echo "FAILED: it gives another reason"; exit 1; }
