#!/bin/sh
# readme.sh LUA - the example of the page, built by the line that it gives (with the flags of LUA), prints what stands
# below it.
. tests/lib.sh
lua=$1
out=$PWD/$BUILD/lua/$lua/gobject/readme
readme=examples/gobject/README.md
rm -rf "$out"
mkdir -p "$out" || exit 1

# The first block fenced with ```LANGUAGE.
block() {
    awk -v fence="\`\`\`$1" '$0 == fence && !done { inside = 1; next }
                             inside && $0 == "```" { inside = 0; done = 1 }
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
finish
