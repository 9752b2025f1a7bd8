#!/bin/sh
# install.sh - `make install` puts the header, its .pc file and its man page where they
# belong, a program finds them through pkg-config, and `make uninstall` leaves no file.
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
page=$stage/opt/rrc/share/man/man3/rawrefcount.3
expect "the man page has the header's version" grep -q "^.TH RAWREFCOUNT 3 .*rawrefcount $version" "$page"
for name in $(sed -n '/^#ifdef RAWREFCOUNT_IMPLEMENTATION/q
                      s/^RRC_\(API\|INLINE\) .*[ *]\(rrc_[a-z_]*\)(.*/\2/p' rawrefcount.h | sort -u); do
    expect "the man page tells of $name" grep -q "^.fB.*$name(" "$page"
done
for name in $(sed -n 's/^    X(\(RRC_E[A-Z]*\),.*/\1/p' rawrefcount.h); do
    expect "the man page tells of $name" grep -q "^.B $name\$" "$page"
done
if have man; then
    expect "man has nothing to say against it" \
        sh -c "LC_ALL=C.UTF-8 man --warnings -Z -l '$page' 2>&1 >/dev/null | { ! grep .; }"
else
    skip "the man page in man: there is none"
fi
expect "nothing else is installed" test "$(find "$stage" -type f | wc -l)" -eq 3
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
finish
