#!/bin/sh
# readme.sh LUA - the README's complete example, compiled by the lines that it gives (with the flags of
# LUA) in a folder with nothing but the three vendored files, as C and as C++, prints what stands below it.
. tests/lib.sh
lua=$1
out=$BUILD/lua/$lua/readme
readme=bindings/lua/README.md
rm -rf "$out"
mkdir -p "$out" || exit 1

# The block fenced with ```LANGUAGE after the name of the module: the first one, or the NUMBERth.
block() {
    awk -v fence="\`\`\`$1" -v number="${2:-1}" '
        /^A complete module, `counter.c`:/ { found = 1 }
        found && $0 == fence && ++count == number { inside = 1; next }
        inside && $0 == "```" { inside = 0 }
        inside { print }' "$readme"
}
call=$(sed -n 's/^rrc_lua_define_insight.*/&/p' "$readme")
flags=$(${PKG_CONFIG:-pkg-config} --cflags "$lua")

# use NAME NUMBER COMPILER WARNINGS [MORE]: the example in a folder of its own, by the NUMBERth line with more flags.
use() {
    folder=$out/$1
    mkdir -p "$folder"
    cp rawrefcount.h bindings/closed/rrc_closed.h bindings/lua/rrc_lua.h "$folder"
    block c >"$folder/counter.c"
    block lua >"$folder/script.lua"
    block text >"$folder/expected.txt"
    line=$(block sh "$2")
    expect "$1: there is a line to compile it" test "${line#c* -std}" != "$line"
    command=$(echo "$3 $4 ${line#c* } ${5-}" | sed "s|\$(pkg-config --cflags lua5.4)|$flags|")
    expect "$1: it compiles: $command" sh -c "cd '$folder' && $command"
    if (cd "$folder" && LUA_CPATH='./?.so' "$lua" script.lua) >"$folder/output.txt" 2>&1; then
        same_text "$1: what it prints with $lua" "$folder/expected.txt" "$folder/output.txt"
    else
        fail "$1: what it prints with $lua: it fails"
        cat "$folder/output.txt"
    fi
}
# (g++ warns of designated initializers that leave fields out; in C it does not. To optimize C++ takes longer than to
# run it.)
use c++ 2 "$CXX" "$STRICT -Wno-missing-field-initializers" -O0
use c 1 "$CC" "$STRICT"

# Scripts get a module `rawrefcount` with it, if there is no other one.
cat >"$out/module.lua" <<'END'
assert(not pcall(require, "rawrefcount"))
local Counter = require("counter").Counter
local rawrefcount = require "rawrefcount"
-- (In a function of its own: LuaJIT keeps a stack slot where a call has its frame, with what was there before.)
local function make_garbage()
  local c = Counter()
  c.on_change = function() return c end
end
make_garbage()
assert(rawrefcount.collect() > 0 and rawrefcount.stats().objects == 0 and rawrefcount.step() and rawrefcount.pairs)
END
expect "rawrefcount.collect is there, with $lua" env LUA_CPATH="$out/c/?.so" LUA_PATH= "$lua" "$out/module.lua"

# With two more files and a call, it also has those that show what is alive: as C and as C++.
cat >"$out/insight.lua" <<'END'
local counter = require "counter"
local rawrefcount, c = require "rawrefcount", counter.Counter()
c.on_change = function() return c end
assert(rawrefcount.explain(c):find("Counter") and rawrefcount.graph():find("digraph"))
rawrefcount.snapshot(arg[1])
assert(io.open(arg[1]):read(1) == "{" and rawrefcount.collect)
END
folder=$out/insight
mkdir -p "$folder"
cp rawrefcount.h bindings/closed/rrc_closed.h bindings/lua/*.h bindings/insight/rrc_insight.h "$folder"
sed -e 's/^#include "rrc_lua.h"/&\n#include "rrc_lua_insight.h"/' -e "s/^    return rrc_lua_module/    $call\n&/" \
    "$out/c/counter.c" >"$folder/counter.c"
for use in "$CC -std=c99" "$CXX -std=c++20 -x c++ -Wno-missing-field-initializers"; do
    expect "with insight it compiles: $use" sh -c "cd '$folder' && $use $STRICT $flags -fPIC -shared counter.c -o counter.so"
    expect "rawrefcount.explain is there, with $lua" env LUA_CPATH="$folder/?.so" LUA_PATH= \
        "$lua" "$out/insight.lua" "$out/insight.heapsnapshot"
done

# The functions of rawrefcount.h may come first, or rrc_lua.h.
printf '#define RAWREFCOUNT_IMPLEMENTATION\n#include "rawrefcount.h"\n#include "rrc_lua.h"\n' >"$out/order.c"
# shellcheck disable=SC2086
expect "any order of includes" $CC -std=c99 -I. -Ibindings/closed -Ibindings/lua $flags -fsyntax-only "$out/order.c"

# Finalizers that use the same counter. What can run finalizers runs all of them here.
folder=$out/collecting
mkdir -p "$folder"
cp rawrefcount.h bindings/closed/rrc_closed.h bindings/lua/rrc_lua.h "$folder"
cat >"$folder/counter.c" <<'END'
#include <lua.h>
#include <lauxlib.h>
#define luaL_checkstack(L, n, message) (lua_gc((L), LUA_GCCOLLECT, 0), luaL_checkstack((L), (n), (message)))
#include "../c/counter.c"
END
expect "it compiles with collections" sh -c "cd '$folder' && $command -DRRC_DEBUG -O0"
cat >"$out/finalizers.lua" <<'END'
local new, runs = require("counter").Counter, 0
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
