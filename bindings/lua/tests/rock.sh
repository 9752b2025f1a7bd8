#!/bin/sh
# rock.sh LUA - builds and installs the rock below build/, without the network, and uses it. Its version is
# that of the headers.
. tests/lib.sh
lua=$1
out=$BUILD/lua/rock
tree=$PWD/$out/tree
release=$(sed -n 's/^#define RRC_LUA_VERSION "\(.*\)"$/\1/p' bindings/lua/rrc_lua.h)
expect "the header has a version: $release" test -n "$release"
expect "the header's first line has it" grep -q "^/\* rrc_lua.h - version $release\$" bindings/lua/rrc_lua.h
expect "rawrefcount.h has it" grep -q "^#define RRC_VERSION *\"$release\"\$" rawrefcount.h
rockspec=$(ls bindings/lua/*.rockspec)
expect "the rock has it: $rockspec" sh -c "expr '$rockspec' : 'bindings/lua/rawrefcount-$release-[1-9]\.rockspec\$' >/dev/null"
rock=${rockspec#bindings/lua/rawrefcount-}
expect "inside, too" grep -qx "version = \"${rock%.rockspec}\"" "$rockspec"
expect "the page names it" grep -q "luarocks make $rockspec" bindings/lua/README.md
have luarocks || { skip "there is no luarocks"; finish; }
version=$("$lua" -e 'print((_VERSION:gsub("Lua ", "")))')
rm -rf "$out"
mkdir -p "$out/source/bindings/lua" "$out/source/bindings/insight" "$out/source/bindings/weak" \
    "$out/source/bindings/closed" && cp rawrefcount.h "$out/source" &&
    cp bindings/insight/rrc_insight.h "$out/source/bindings/insight" &&
    cp bindings/closed/rrc_closed.h "$out/source/bindings/closed" &&
    cp bindings/weak/rrc_weak.h "$out/source/bindings/weak" &&
    cp bindings/lua/*.h bindings/lua/rawrefcount.c bindings/lua/*.rockspec "$out/source/bindings/lua" || exit 1
expect "luarocks make" sh -c "cd '$out/source' && luarocks --lua-version '$version' --tree '$tree' \
    make $rockspec"
if RELEASE=$release LUA_CPATH=$(find "$tree" -name rawrefcount.so | sed 's/rawrefcount/?/') "$lua" -e '
    local rawrefcount = require "rawrefcount"
    assert(rawrefcount.collect() == 0 and rawrefcount.stats().objects == 0)
    assert(rawrefcount._VERSION == os.getenv("RELEASE"))'

then pass "the installed module"; else fail "the installed module"; fi
for header in rawrefcount.h rrc_lua.h rrc_lua_insight.h rrc_closed.h rrc_insight.h rrc_weak.h; do
    expect "$header is installed" test -n "$(find "$tree" -name "$header")"
done
finish
