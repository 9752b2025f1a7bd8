#!/bin/sh
# checked.sh SOURCES LIBRARY - builds Lua's library from its sources, with checked.h and
# sanitizers; its headers are then beside it, in src/. CC and CFLAGS as for everything.
set -eu
folder=$(dirname "$2")/src
rm -rf "$folder" "$2"
mkdir -p "$folder"
cp "$1"/src/*.[ch] "$folder"
rm -f "$folder/lua.c" "$folder/luac.c" "$folder/print.c"

# In 5.2 an emergency collection for a new upvalue can free the one whose `next` it was to be put
# into: it uses freed memory, without anything of C. There it goes into the list when it is made.
if grep -q 'LUA_VERSION_MINOR.*"2"' "$folder/lua.h"; then
    sed 's|^  uv = &luaC_newobj(L, LUA_TUPVAL, sizeof(UpVal), pp, 0)->uv;|\
  p = NULL;\
  uv = \&luaC_newobj(L, LUA_TUPVAL, sizeof(UpVal), (GCObject **)\&p, 0)->uv;\
  for (pp = \&L->openupval; *pp != NULL \&\& gco2uv(*pp)->v >= level;) pp = \&gco2uv(*pp)->next;\
  uv->next = *pp;\
  *pp = obj2gco(uv);|' "$1/src/lfunc.c" >"$folder/lfunc.c"
    # A function of Lua that is entered collects before its first instruction: what asks then where it is, such as a
    # traceback in a finalizer, reads what is in front of its code. There it is at its first instruction.
    sed '/^      ci->u.l.savedpc = p->code;/,/luaC_checkGC/s|luaC_checkGC(L);|\
  ci->u.l.savedpc++;\
  luaC_checkGC(L);\
  ci->u.l.savedpc--;|' "$1/src/ldo.c" >"$folder/ldo.c"
    for file in lfunc.c ldo.c; do
        if cmp -s "$1/src/$file" "$folder/$file"; then
            echo "checked.sh: $1/src/$file is not as it was: is the fix still needed?" >&2
            exit 1
        fi
    done
fi

checks=$PWD/$(dirname "$0")/checked.h
cd "$folder"
# shellcheck disable=SC2086
$CC $CFLAGS -w -include "$checks" -c ./*.c
ar rcs "../$(basename "$2")" ./*.o
rm ./*.[co]
