#!/bin/sh
# rock.sh LUA - builds and installs the rock below build/, without the network, and uses it.
. tests/lib.sh
lua=$1
out=$BUILD/lua/rock
tree=$PWD/$out/tree
have luarocks || { skip "there is no luarocks"; finish; }
version=$("$lua" -e 'print((_VERSION:gsub("Lua ", "")))')
rm -rf "$out"
mkdir -p "$out/source/bindings/lua" && cp rawrefcount.h "$out/source" &&
    cp bindings/lua/rrc_lua.h bindings/lua/rawrefcount.c bindings/lua/*.rockspec "$out/source/bindings/lua" || exit 1
expect "luarocks make" sh -c "cd '$out/source' && luarocks --lua-version '$version' --tree '$tree' \
    make bindings/lua/rawrefcount-0.1.0-1.rockspec"
if LUA_CPATH=$(find "$tree" -name rawrefcount.so | sed 's/rawrefcount/?/') "$lua" -e '
    local rawrefcount = require "rawrefcount"
    assert(rawrefcount.collect() == 0 and rawrefcount.stats().objects == 0)'
then pass "the installed module"; else fail "the installed module"; fi
for header in rawrefcount.h rrc_lua.h; do
    expect "$header is installed" test -n "$(find "$tree" -name "$header")"
done
finish
