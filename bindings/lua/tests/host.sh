#!/bin/sh
# host.sh SOURCES FOLDER NAME - builds an interpreter of Lua, NAME, from its sources, with what a program
# needs to link it: FOLDER has NAME, NAME.pc, include/ and the library then. CC and CFLAGS as for everything.
set -eu
rm -rf "$2"
mkdir -p "$2/include" "$2/objects"
folder=$(cd "$2" && pwd)
cp "$1"/src/*.h "$folder/include"
for file in "$1"/src/*.c; do
    name=$(basename "$file" .c)
    case $name in luac | print) continue ;; esac
    # shellcheck disable=SC2086
    $CC $CFLAGS -fPIC -w -DLUA_USE_POSIX -DLUA_USE_DLOPEN -c "$file" -o "$folder/objects/$name.o"
done
mv "$folder/objects/lua.o" "$folder/lua.o"
ar rcs "$folder/lib$3.a" "$folder"/objects/*.o
# shellcheck disable=SC2086
$CC $CFLAGS "$folder/lua.o" -Wl,-E -Wl,--whole-archive "$folder/lib$3.a" -Wl,--no-whole-archive -lm -ldl -o "$folder/$3"
rm -r "$folder/lua.o" "$folder/objects"
cat >"$folder/$3.pc" <<END
Name: $3
Description: Lua from $1
Version: 0
Cflags: -I$folder/include
Libs: -L$folder -l$3 -lm -ldl
END
