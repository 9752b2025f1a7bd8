#!/bin/sh
# deps.sh [all] - installs what `make test` needs, or `make test-all`, on Debian and Ubuntu.
# Anything else is told what to install. Packages that are there already are left alone,
# and if all are, the package manager is not called.
set -u
which=${1:-test}
packages='make gcc g++ libc6-dev libcmocka-dev pkg-config ruby ruby-dev rake ruby-minitest'
lua='lua5.1 lua5.2 lua5.3 lua5.4 luajit liblua5.1-0-dev liblua5.2-dev liblua5.3-dev liblua5.4-dev libluajit-5.1-dev'
packages="$packages $lua libglib2.0-dev gir1.2-glib-2.0 mruby libmruby-dev"
cpu=$(dpkg --print-architecture 2>/dev/null)
[ "$cpu" != amd64 ] || packages="$packages gcc-multilib"     # the 32-bit tests
if [ "$which" = all ]; then
    packages="$packages clang llvm graphviz valgrind cppcheck clang-tidy python3 luarocks"
    packages="$packages lld nodejs wasi-libc"      # WebAssembly, and MSVC's ABI
    command -v npm >/dev/null 2>&1 || packages="$packages npm"     # for npm.sh
    packages="$packages libgc-dev libglib2.0-dev uthash-dev gnuplot-nox fonts-dejavu-core"     # the benchmarks
    packages="$packages libgtk-4-1 gir1.2-gtk-4.0 xvfb"            # for the GObject example
    packages="$packages libedit-dev"                # line editing of the small VMs
    packages="$packages python3-dev cython3 libxxhash-dev libyaml-dev"      # CPython extensions, also to compare with
    if [ "$cpu" = amd64 ]; then
        # Other compilers, and other machines: clang compiles for these, as gcc for them and for
        # 32 bits cannot be installed together.
        packages="$packages g++-multilib tcc musl-tools qemu-user gcc-mingw-w64-x86-64-win32 wine64"
        for machine in armhf:arm-linux-gnueabihf s390x:s390x-linux-gnu; do
            packages="$packages libc6-dev-${machine%%:*}-cross libgcc-12-dev-${machine%%:*}-cross binutils-${machine#*:}"
        done
    fi
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is not a Debian or Ubuntu system. What the tests need:"
    echo "  GNU make, gcc and g++ (also for 32 bits), cmocka, pkg-config, Lua 5.1 to 5.4 and LuaJIT with"
    echo "  their headers, GLib with its headers, CRuby 3.1 to 4.0 with its headers, rake and minitest, mruby 3.1 to 4.0"
    if [ "$which" = all ]; then
        echo "  clang with llvm-cov, tcc, musl-gcc, mingw-w64 and wine, qemu-user with C libraries for armhf and"
        echo "  s390x, lld, wasi-libc with clang's runtime for wasm32, and node, cppcheck, clang-tidy, valgrind,"
        echo "  graphviz, luarocks, python3 with its headers, cython3, xxhash with its header, libedit, node with npm, gnuplot, uthash, the Boehm collector and GLib with their headers, GTK 4, Xvfb"
    fi
    echo "Tests that miss one of them are reported as skipped."
    exit 0
fi

installed() {
    dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed'
}

missing=
for package in $packages; do
    installed "$package" || missing="$missing $package"
done
# Where clang's sanitizers, and what it needs for WebAssembly, are packages of their own, it only
# recommends them.
add_runtimes() {
    [ "$which" = all ] || return 0
    for package in libclang-rt-dev libclang-rt-dev-wasm32; do
        case " $missing " in *" $package "*) continue ;; esac
        if apt-cache show $package >/dev/null 2>&1 && ! installed $package; then
            missing="$missing $package"
        fi
    done
}
[ -n "$missing" ] || add_runtimes
if [ -z "$missing" ]; then
    echo "deps: all there:" $packages
    exit 0
fi

root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "deps: neither root nor sudo; please install:$missing" >&2
        exit 1
    }
    root=sudo
fi
# Nothing that is there may go for it: packages can exclude each other.
install_packages() {
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends --no-remove "$@"
}
# An old package list names versions that are gone: refresh it first.
$root apt-get update -q || echo "deps: apt-get update failed; trying with the lists that are there" >&2
add_runtimes
echo "deps: installing$missing"
install_packages $missing && exit 0
status=0
for package in $missing; do
    install_packages "$package" || { echo "deps: could not install $package" >&2; status=1; }
done
exit $status
