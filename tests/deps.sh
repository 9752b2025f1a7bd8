#!/bin/sh
# deps.sh - installs what the whole test run needs, on Debian and Ubuntu. Anything
# else is told what to install. Packages that are there already are left alone,
# and if all are, the package manager is not called.
set -u
packages='make g++ clang llvm libcmocka-dev pkg-config graphviz valgrind cppcheck clang-tidy ruby ruby-dev rake ruby-minitest'
lua='lua5.1 lua5.2 lua5.3 lua5.4 luajit liblua5.1-0-dev liblua5.2-dev liblua5.3-dev liblua5.4-dev libluajit-5.1-dev'
packages="$packages $lua luarocks mruby libmruby-dev"
packages="$packages lld nodejs wasi-libc"      # WebAssembly, and MSVC's ABI
packages="$packages libgc-dev libglib2.0-dev python3 python3-dev cython3 libxxhash-dev gnuplot-nox fonts-dejavu-core"     # the benchmarks
cpu=$(dpkg --print-architecture 2>/dev/null)
if [ "$cpu" = amd64 ]; then
    packages="$packages gcc-multilib g++-multilib"      # the 32-bit tests
    # Other compilers, and other machines: clang compiles for these, as gcc for them and for
    # 32 bits cannot be installed together.
    packages="$packages tcc musl-tools qemu-user gcc-mingw-w64-x86-64-win32 wine64"
    for machine in armhf:arm-linux-gnueabihf s390x:s390x-linux-gnu; do
        packages="$packages libc6-dev-${machine%%:*}-cross libgcc-12-dev-${machine%%:*}-cross binutils-${machine#*:}"
    done
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "This is not a Debian or Ubuntu system. What the whole test run needs:"
    echo "  GNU make, gcc and g++ (also for 32 bits), clang with llvm-cov, cmocka, pkg-config, graphviz,"
    echo "  tcc, musl-gcc, mingw-w64 and wine, qemu-user with C libraries for armhf and s390x, cppcheck, clang-tidy,"
    echo "  lld, wasi-libc with clang's runtime for wasm32, and node,"
    echo "  Lua 5.1 to 5.4 and LuaJIT with their headers, luarocks, valgrind,"
    echo "  CRuby 3.1 to 3.3 with its headers, rake and minitest, mruby 3.1,"
    echo "  the Boehm collector and GLib with their headers, python3, gnuplot"
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
