#!/bin/sh
# layers.sh - the arrows between the files of the VM go one way: each folder uses itself and those
# below it only, and no files call each other in a circle. An object file tells what it defines and
# what it needs. (Calls through a pointer that a higher layer gave to a lower one are no arrows.)
. tests/lib.sh
out=$BUILD/layers
rm -rf "$out"
mkdir -p "$out" || exit 1

# files FOLDER...: compile them, and write "FILE defines|needs SYMBOL" to $out/symbols.
files() {
    for folder in "$@"; do
        for source in "$folder"/*.c; do
            object=$out/$(echo "$source" | tr / -).o
            $CC -std=c99 -I. -w -c "$source" -o "$object" || { fail "$source does not compile"; continue; }
            nm "$object" | awk -v file="$source" '
                $1 == "U" && NF == 2 { print file, "needs", $2 }
                NF == 3 && $2 ~ /^[A-TV-Z]$/ { print file, "defines", $3 }'
        done
    done
}
files bindings/compactvm/core bindings/compactvm/lisp >"$out/symbols"

# FILE FILE: the first one uses the second one.
awk '$2 == "defines" { where[$3] = $1 }
     $2 == "needs" { user[++n] = $1; symbol[n] = $3 }
     END { for (i = 1; i <= n; i++) if (symbol[i] in where && where[symbol[i]] != user[i])
               print user[i], where[symbol[i]] }' "$out/symbols" | sort -u >"$out/arrows"
expect "there are arrows" test "$(wc -l <"$out/arrows")" -gt 20

rank() { case $1 in */core/*) echo 1 ;; */lisp/*) echo 2 ;; esac; }
while read -r user used; do
    if [ "$(rank "$user")" -ge "$(rank "$used")" ]; then passed=$((passed + 1))
    else fail "$user uses $used, which is above it"; fi
done <"$out/arrows"

if tsort "$out/arrows" >"$out/order" 2>"$out/circle"; then passed=$((passed + 1))
else fail "files call each other in a circle: $(tr '\n' ' ' <"$out/circle")"; fi

# What a porter reads stays small.
expect "the core has less than 1560 lines" test "$(cat bindings/compactvm/core/*.[ch] | wc -l)" -lt 1560
expect "core and language have less than 4040 lines" test "$(cat bindings/compactvm/[cl]*/*.[ch] | wc -l)" -lt 4040
finish
