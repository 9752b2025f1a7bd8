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

# The functions of rawrefcount.h must be compiled for Lua.
printf '#define RAWREFCOUNT_IMPLEMENTATION\n#include "rawrefcount.h"\n#include "rrc_lua.h"\n' >"$out/order.c"
# shellcheck disable=SC2086
$CC -std=c99 -I. -Ibindings/lua $flags -fsyntax-only "$out/order.c" >"$out/order.txt" 2>&1
expect "the wrong order of includes is refused" grep -q 'error.*rrc_lua.h: include it before rawrefcount.h' "$out/order.txt"

# Finalizers that use the same counter. What can run finalizers runs all of them here.
mkdir -p "$out/collecting"
awk '{ print }
     /^#include "rrc_lua.h"/ { print "#define rrc_lua_ref(L, heap, index) (lua_gc(L, LUA_GCCOLLECT, 0), rrc_lua_ref(L, heap, index))"
                               print "#define rrc_lua_call(heap, callback, n, args) \\\n" \
                                     "    (lua_gc(rrc_lua_state(heap), LUA_GCCOLLECT, 0), rrc_lua_call(heap, callback, n, args))" }' \
    "$out/counter.c" >"$out/collecting/counter.c"
command=$(echo "$command" | sed "s|$out/|$out/collecting/|g")
expect "it compiles with collections" sh -c "$command -DRRC_DEBUG"
cat >"$out/finalizers.lua" <<'END'
local new, runs = require("counter").new, 0
local called = 0
local function finalizer(f)
  if newproxy then getmetatable(newproxy(true)).__gc = f else setmetatable({}, { __gc = f }) end
end
for i = 1, 200 do
  local c = new()
  local function finalize()
    runs = runs + 1
    if i % 4 == 0 then c:close() else c.on_change = i % 2 == 0 and function() called = called + 1 end or nil end
  end
  for _ = 1, 3 do
    finalizer(finalize)
    local ok, message = pcall(function() c.on_change = function() called = called + 1 end end)
    if ok then
      finalizer(finalize)
      ok, message = pcall(c.add, c, 1)
    end
    if not ok and not message:find("was closed", 1, true) then error(message) end
  end
end
assert(runs > 300, runs)
assert(called > 100, called)
END
expect "finalizers that use the same counter, with $lua" env LUA_CPATH="$out/collecting/?.so" "$lua" "$out/finalizers.lua"
finish
