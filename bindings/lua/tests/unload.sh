#!/bin/sh
# unload.sh LUA FOLDER - cycles of C objects that are left when the state is closed, of modules
# that Lua 5.1 and LuaJIT unload meanwhile.
. tests/lib.sh
lua=$1
folder=$2
for modules in "nodes widgets" "widgets nodes"; do
    for how in kept held dropped collected; do
        # shellcheck disable=SC2086
        expect "$lua: $modules, $how" env LUA_CPATH="$folder/?.so" "$lua" bindings/lua/tests/unload.lua $modules $how
    done
done
finish
