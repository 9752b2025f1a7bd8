#!/bin/sh
# readme.sh LUA - the README's complete example, compiled by the line that it gives (with the flags of
# LUA), prints what stands below it.
. tests/lib.sh
lua=$1
out=$BUILD/lua/$lua/readme
readme=bindings/lua/README.md
mkdir -p "$out" || exit 1

# The first block fenced with ```LANGUAGE after the name of the module.
block() {
    awk -v fence="\`\`\`$1" '/^A complete module, `counter.c`:/ { found = 1 }
                             found && $0 == fence && !done { inside = 1; next }
                             inside && $0 == "```" { inside = 0; done = 1 }
                             inside { print }' "$readme"
}
block c >"$out/counter.c"
block lua >"$out/script.lua"
block text >"$out/expected.txt"
line=$(block sh)
expect "there is a line to compile it" test "${line#cc }" != "$line"
flags=$(${PKG_CONFIG:-pkg-config} --cflags "$lua")
command=$(echo "$CC $STRICT ${line#cc }" | sed "s|\$(pkg-config --cflags lua5.4)|$flags|; s|counter\.|$out/counter.|g")
expect "it compiles: $command" sh -c "$command"
if (cd "$out" && LUA_CPATH='./?.so' "$lua" script.lua) >"$out/output.txt" 2>&1; then
    same_text "what it prints with $lua" "$out/expected.txt" "$out/output.txt"
else
    fail "what it prints with $lua: it fails"
    cat "$out/output.txt"
fi
finish
