#!/bin/sh
# readme.sh LUA - the first example of the page, built by the line that it gives (with the flags of LUA), prints what
# stands below it. The second one runs.
. tests/lib.sh
lua=$1
out=$PWD/$BUILD/lua/$lua/gobject/readme
readme=examples/gobject/README.md
rm -rf "$out"
mkdir -p "$out" || exit 1

# block LANGUAGE [NUMBER]: the first block fenced with ```LANGUAGE, or that of this number.
block() {
    awk -v fence="\`\`\`$1" -v wanted="${2-1}" '$0 == fence { inside = ++n == wanted; next }
                             $0 == "```" { inside = 0 }
                             inside { print }' "$readme"
}
block lua >"$out/script.lua"
block text >"$out/expected.txt"
command=$(block sh | sed "s|^cc|$CC $STRICT -Wno-missing-field-initializers|
    s|-o gobject.so|-o '$out/gobject.so'|
    s|--cflags lua5.4 |--cflags $lua |")
expect "it compiles: $command" sh -c "cd examples/gobject && $command"
if (cd "$out" && LUA_CPATH='./?.so' "$lua" script.lua) >"$out/printed.txt" 2>&1; then
    expand "$out/printed.txt" >"$out/output.txt"
    same_text "what it prints with $lua" "$out/expected.txt" "$out/output.txt"
else
    fail "what it prints with $lua: it fails"
    cat "$out/printed.txt"
fi
if (cd "$out" && LUA_CPATH='./?.so' "$lua" -e 'print(pcall(require("gobject").require, "Gio"))') | grep -q '^true'; then
    { echo 'local G = require "gobject"'; block lua 2; } >"$out/methods.lua"
    expect "methods by their descriptions, with $lua" sh -c "cd '$out' && LUA_CPATH='./?.so' $lua methods.lua"
fi
finish
