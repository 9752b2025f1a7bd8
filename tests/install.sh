#!/bin/sh
# install.sh - `make install` puts the headers and the .pc file where they belong, a program
# finds them through pkg-config, and `make uninstall` leaves no file. Other folders for what is built.
. tests/lib.sh
MAKE=${MAKE:-make}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}
rm -rf "$BUILD/tests/install"
mkdir -p "$BUILD/tests/install" || exit 1
out=$(cd "$BUILD/tests/install" && pwd)
root=$out/root

# A path with a space: every use in the Makefile must be quoted.
stage="$root/stage one"
expect "make install" $MAKE -s --no-print-directory install DESTDIR="$stage" PREFIX=/opt/rrc
expect "the header is the one of this tree" cmp -s rawrefcount.h "$stage/opt/rrc/include/rawrefcount.h"
expect "the .pc file names the prefix, not the stage" \
    grep -qx 'prefix=/opt/rrc' "$stage/opt/rrc/lib/pkgconfig/rawrefcount.pc"
version=$(sed -n 's/^#define RRC_VERSION "\(.*\)"/\1/p' rawrefcount.h)
expect "the .pc file has the header's version $version" \
    grep -qx "Version: $version" "$stage/opt/rrc/lib/pkgconfig/rawrefcount.pc"
expect "rrc_weak.h, too" cmp -s bindings/weak/rrc_weak.h "$stage/opt/rrc/include/rrc_weak.h"
expect "rrc_insight.h, too" cmp -s bindings/insight/rrc_insight.h "$stage/opt/rrc/include/rrc_insight.h"
expect "rrc_closed.h, too" cmp -s bindings/closed/rrc_closed.h "$stage/opt/rrc/include/rrc_closed.h"
expect "nothing else is installed" test "$(find "$stage" -type f | wc -l)" -eq 5
$MAKE -s --no-print-directory uninstall DESTDIR="$stage" PREFIX=/opt/rrc
expect "uninstall leaves no file" test "$(find "$stage" -type f | wc -l)" -eq 0

prefix=$root/usr
if have "$PKG_CONFIG"; then
    $MAKE -s --no-print-directory install PREFIX="$prefix"
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    cp examples/smallest.c "$out/program.c"
    expect "a program is built through pkg-config" \
        sh -c "cd '$out' && $CC -std=c99 program.c \$($PKG_CONFIG --cflags --libs rawrefcount) -o program"
    expect "and runs" sh -c "'$out/program' | cmp -s - examples/expected/smallest.txt"
    expect "pkg-config knows the version" test "$($PKG_CONFIG --modversion rawrefcount)" = "$version"
    $MAKE -s --no-print-directory uninstall PREFIX="$prefix"
    expect "uninstall leaves no file there either" test "$(find "$prefix" -type f | wc -l)" -eq 0
else
    skip "a program built through pkg-config: there is no $PKG_CONFIG"
fi

# A folder for what is built can be anywhere, but its path is relative.
other=$BUILD/tests/install/other
expect "make with another BUILD" $MAKE -s --no-print-directory BUILD="$other" CFLAGS=-O0 "$other/examples/smallest"
expect "... builds there" test -x "$other/examples/smallest"
for wrong in "$out/absolute" "build/two words" ""; do
    $MAKE BUILD="$wrong" help >"$out/refused.txt" 2>&1
    expect "BUILD='$wrong' is refused" \
        sh -c "test $? -ne 0 && grep -qF \"BUILD='$wrong' must be a relative path\" '$out/refused.txt'"
done
finish
