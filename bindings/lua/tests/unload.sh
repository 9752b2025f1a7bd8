#!/bin/sh
# unload.sh LUA FOLDER - cycles of C objects that are left when the state is closed, of modules
# that Lua 5.1 and LuaJIT unload meanwhile; and finalizers that work on then.
. tests/lib.sh
lua=$1
folder=$2
for modules in "nodes widgets" "widgets nodes"; do
    for how in kept held dropped collected; do
        # shellcheck disable=SC2086
        expect "$lua: $modules, $how" env LUA_CPATH="$folder/?.so" "$lua" bindings/lua/tests/unload.lua $modules $how
    done
done
closes() {
    LUA_CPATH="$folder/?.so" timeout 60 "$lua" bindings/lua/tests/closing.lua "$1" >"$folder/closing.txt" 2>&1 &&
        grep -q '^closing$' "$folder/closing.txt"
}
# (Lua 5.3 itself can loop for ever in a full collection there.)
[ "$lua" = lua5.3 ] || collections="collect gc"
for how in step garbage keep native ${collections:-}; do
    expect "$lua: a finalizer in lua_close: $how" closes "$how"
done
finish
