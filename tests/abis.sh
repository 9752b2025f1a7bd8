#!/bin/sh
# abis.sh - with RRC_NO_STDLIB the header compiles for systems that are not here: Windows as
# MSVC has it, macOS and WebAssembly. It takes clang with its own headers, and no SDK. A program
# without a library (freestanding.c) runs for Windows under wine, and for WebAssembly in node.
. tests/lib.sh
out=$BUILD/tests/abis
mkdir -p "$out" || exit 1
if ! have clang; then
    skip "other ABIs: there is no clang"
    finish
fi

closed='#ifdef TEST_CLOSED
#include "bindings/closed/rrc_closed.h"
#endif
'
printf '#include "rawrefcount.h"\n#include "rawrefcount.h"\n%s' "$closed" >"$out/declarations.c"
printf '#define RAWREFCOUNT_IMPLEMENTATION\n#include "rawrefcount.h"\n%s' "$closed" >"$out/implementation.c"
printf '#define RAWREFCOUNT_STATIC\n#include "rawrefcount.h"\n%s' "$closed" >"$out/static.c"
for unit in declarations implementation static; do
    cp "$out/$unit.c" "$out/$unit.cc"
done
free='-ffreestanding -nostdlibinc -fno-builtin -fno-stack-protector -DRRC_NO_STDLIB -I.'

# compiles FLAGS... FILE: without a warning.
compiles() {
    # shellcheck disable=SC2086
    if clang $free $STRICT "$@" >"$out/messages" 2>&1; then
        pass "$*"
    else
        fail "$*"
        head -n 20 "$out/messages"
    fi
}

for target in x86_64-pc-windows-msvc aarch64-pc-windows-msvc i686-pc-windows-msvc arm64-apple-macos wasm32; do
    # What the objects may call. On some of them a C name has an underscore in front of it.
    case $target in
    i686-*-msvc | *-macos) calls='_memcpy _memset _strcmp' ;;
    wasm32) calls='memcpy memset strcmp __stack_pointer' ;;     # the last one is the linker's
    *) calls='memcpy memset strcmp' ;;
    esac
    for settings in '' -DRRC_DEBUG -DTEST_CLOSED '-DTEST_CLOSED -DRRC_DEBUG'; do
        rm -f "$out/implementation.o"
        compiles --target=$target $settings -std=c99 -O1 -c "$out/implementation.c" -o "$out/implementation.o"
        if have llvm-nm; then
            expect "$target $settings: calls memcpy, memset and strcmp only" needs_only llvm-nm \
                "$out/implementation.o" $calls
        else
            skip "$target $settings: what it calls: there is no llvm-nm"
        fi
        for unit in declarations implementation static; do
            for std in c99 c11 c2x; do
                compiles --target=$target $settings -std=$std -fsyntax-only "$out/$unit.c"
            done
            for std in c++11 c++17 c++20; do
                compiles --target=$target $settings -std=$std -fsyntax-only "$out/$unit.cc"
            done
        done
    done
done

# runs NAME RUNNER SUFFIX FLAGS...: the program with each setting, and a control that must fail.
runs() {
    name=$1 runner=$2 program=$out/program.$3
    shift 3
    for settings in '' -DRRC_DEBUG -DTEST_CLOSED '-DTEST_CLOSED -DRRC_DEBUG'; do
        rm -f "$program"
        # shellcheck disable=SC2086
        if clang $free -std=c11 -Wall -Wextra -Werror -O1 "$@" -nostdlib $settings tests/freestanding.c -o "$program"
        then
            expect "$name $settings: a program without any library runs" $runner "$program"
        else
            fail "$name $settings: a program without any library is not built"
        fi
    done
    sed 's/== OBJECTS - 4/== OBJECTS - 5/' tests/freestanding.c >"$out/control.c"
    # shellcheck disable=SC2086
    clang $free -std=c11 -O1 "$@" -nostdlib "$out/control.c" -o "$program" &&
        expect "$name: a program that finds a mistake fails" fails $runner "$program"
}

# fails COMMAND...: with the status of that program, 1.
fails() {
    "$@"
    [ $? -eq 1 ]
}

if ! have lld-link; then
    skip "a program for Windows without any library: there is no lld-link"
elif ! sh tests/wine.sh --there; then
    skip "a program for Windows without any library: there is no wine"
else
    runs "Windows, MSVC's ABI" "sh tests/wine.sh" exe --target=x86_64-pc-windows-msvc -fuse-ld=lld \
        -Xlinker -entry:main -Xlinker -subsystem:console
fi
if ! have wasm-ld; then
    skip "a program for WebAssembly without any library: there is no wasm-ld"
elif ! have node; then
    skip "a program for WebAssembly without any library: there is no node"
else
    runs WebAssembly "node tests/wasm.js" wasm --target=wasm32 -DFREESTANDING_START -Xlinker --no-entry
fi
finish
