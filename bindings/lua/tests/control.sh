#!/bin/sh
# control.sh LUA FOLDER - controls that must fail: references that are taken without
# telling lose objects, and the cases notice; so do random moves without a touch.
. tests/lib.sh
lua=$1
folder=$2
LUA_CPATH="$folder/raw/?.so;$folder/?.so" "$lua" bindings/lua/tests/cases.lua >"$folder/raw.txt" 2>&1
expect "$lua: T6 fails without rrc_incref" grep -q '^FAILED: T6' "$folder/raw.txt"
LUA_CPATH="$folder/?.so" "$lua" bindings/lua/tests/random.lua 1 100 3000 control >"$folder/control.txt" 2>&1
expect "$lua: random moves without rrc_touch lose something" grep -q '^1 passed, 0 failed' "$folder/control.txt"
finish
