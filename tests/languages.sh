#!/bin/sh
# languages.sh - the header, alone and with rrc_insight.h and rrc_weak.h, compiles without a warning as every language that it
# promises, in each kind of unit, with each compiler there is, 64 and 32 bits wide. The
# first standard of each language is optimized too, for the warnings that take that. (QUICK=1: the first one of C.)
. tests/lib.sh
out=$BUILD/tests/languages
mkdir -p "$out" || exit 1

cat >"$out/declarations.c" <<'END'
#include "rawrefcount.h"
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"
#include "bindings/insight/rrc_insight.h"
#include "bindings/weak/rrc_weak.h"
#include "bindings/weak/rrc_weak.h"
int main(void) { return 0; }
END
cat >"$out/implementation.c" <<'END'
#include "rawrefcount.h"
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "rawrefcount.h"
#ifndef RRC_NO_STDIO
#include "bindings/insight/rrc_insight.h"
#include "bindings/insight/rrc_insight.h"
#endif
#ifndef RRC_NO_CYCLES
#include "bindings/weak/rrc_weak.h"
#include "bindings/weak/rrc_weak.h"
#endif
int main(void) { return rrc_version()[0] == 0; }
END
cat >"$out/insight.c" <<'END'
#include "rawrefcount.h"
#define RRC_INSIGHT_IMPLEMENTATION
#include "bindings/insight/rrc_insight.h"
END
cat >"$out/weak.c" <<'END'
#include "rawrefcount.h"
#define RRC_WEAK_IMPLEMENTATION
#include "bindings/weak/rrc_weak.h"
END
for name in declarations implementation insight weak; do
    cp "$out/$name.c" "$out/$name.cc"
done
sed '/^#define/d' "$out/implementation.c" >"$out/static.c"
cp "$out/static.c" "$out/static.cc"

# compiles DESCRIPTION COMMAND...: as expect, but a success says nothing more.
compiles() {
    if "$@" -I. -o "$out/a.out.$$" >"$out/messages" 2>&1; then
        pass "$*"
    else
        fail "$*"
        cat "$out/messages"
    fi
}

# all_units COMPILER EXTENSION FLAGS...
all_units() {
    compiler=$1 extension=$2
    shift 2
    compiles $compiler "$@" $STRICT "$out/declarations.$extension"
    compiles $compiler "$@" $STRICT -c "$out/insight.$extension"
    compiles $compiler "$@" $STRICT -c "$out/weak.$extension"
    for settings in '' '-DRRC_DEBUG' '-DRRC_NO_STDIO' '-DRRC_DEBUG -DRRC_NO_STDIO' '-DRRC_HOST_MOVES=0' \
        '-DRRC_NO_CYCLES -DRRC_NO_STDIO' '-DRRC_NO_CYCLES -DRRC_NO_STDIO -DRRC_DEBUG'; do
        compiles $compiler "$@" $STRICT $settings "$out/implementation.$extension"
        [ "$QUICK" = 1 ] && return
    done
    compiles $compiler "$@" $STRICT -DRAWREFCOUNT_STATIC "$out/static.$extension"
    compiles $compiler "$@" $STRICT -DRAWREFCOUNT_STATIC -DRRC_DEBUG "$out/static.$extension"
    compiles $compiler "$@" $STRICT -DRAWREFCOUNT_STATIC -DRRC_NO_CYCLES -DRRC_NO_STDIO "$out/static.$extension"
}

level=-O1
[ "$QUICK" = 1 ] && level=-O0
IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    cxx=$(cxx_of "$cc")
    all_units "$cc" c -std=c99 -O1
    for std in c11 c17 c2x; do
        all_units "$cc" c -std=$std -fsyntax-only
    done
    if have "$cxx"; then
        all_units "$cxx" cc -std=c++11 $level
        for std in c++14 c++17 c++20; do
            all_units "$cxx" cc -std=$std -fsyntax-only
        done
    else
        skip "C++ with $cxx: not there"
    fi
    if echo 'int main(void) { return 0; }' >"$out/empty.c" &&
       $cc -m32 "$out/empty.c" -o "$out/empty" 2>/dev/null; then
        all_units "$cc" c -m32 -std=c99 $level
    else
        skip "32 bits with $cc: it does not link with -m32"
    fi
    [ "$QUICK" = 1 ] && break
done
rm -f "$out/a.out.$$"

# The public part must not bring other headers along.
printf '#include "rawrefcount.h"\n' >"$out/public.c"
expect "the public part includes only <stddef.h> and <stdint.h>" sh -c \
    "! $CC -std=c99 -I. -M '$out/public.c' | tr ' ' '\n' | grep -E '/(stdio|stdlib|string|assert)\.h'"
finish
