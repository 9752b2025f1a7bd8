#!/bin/sh
# freestanding.sh - with RRC_NO_STDLIB the header, with rrc_weak.h, needs no C library: neither its headers
# nor its functions, but for the three that it says.
. tests/lib.sh
out=$BUILD/tests/freestanding
mkdir -p "$out" || exit 1
cat >"$out/header.c" <<'END'
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#ifndef RRC_NO_CYCLES
#include "bindings/weak/rrc_weak.h"
#endif
#ifdef TEST_CLOSED
#include "bindings/closed/rrc_closed.h"
#endif
END
cp "$out/header.c" "$out/header.cc"
free='-ffreestanding -fno-builtin -fno-stack-protector -fno-pic -O1'

IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    for settings in '' '-DTEST_CLOSED -DRRC_DEBUG' '-DRRC_NO_CYCLES'; do
        rm -f "$out/header.o"
        expect "$cc $settings: compiles without a header of the C library" sh -c \
            "$cc -std=c99 $STRICT $free -nostdinc -isystem '$($cc -print-file-name=include)' -DRRC_NO_STDLIB \
             $settings -I. -c '$out/header.c' -o '$out/header.o'"
        expect "$cc $settings: calls memcpy, memset and strcmp only" needs_only nm "$out/header.o" memcpy memset strcmp
    done
    cxx=$(cxx_of "$cc")
    if have "$cxx"; then
        for before in '' '-include cstring'; do
            expect "$cxx $before: C++" sh -c \
                "$cxx -std=c++11 $STRICT -fno-exceptions -DRRC_NO_STDLIB -I. $before -c '$out/header.cc' -o '$out/header.o'"
        done
    else
        skip "C++ with $cxx: not there"
    fi
    # A program that has its own start, and links to nothing.
    case $($cc -dumpmachine) in
    x86_64-*linux*)
        for settings in '' -DRRC_DEBUG; do
            # shellcheck disable=SC2086
            if $cc -std=c11 -Wall -Wextra -Werror $free -nostdlib -static -DRRC_NO_STDLIB -DFREESTANDING_START \
                $settings -I. tests/freestanding.c -o "$out/program"; then
                expect "$cc $settings: a program without any library runs" "$out/program"
            else
                fail "$cc $settings: a program without any library is not built"
            fi
        done
        ;;
    *) skip "a program without any library: its start is written for x86-64 Linux" ;;
    esac
done
finish
