#!/bin/sh
# variant.sh OUTPUT VARIANT SOURCES... - builds a test program, or an object file if
# OUTPUT ends in .o. The words of a variant are its settings:
#
#   plain           none of these
#   dict slot       how the host finds the ob of a p
#   desc macros     how its hooks are called
#   moves fixed     whether its objects move
#   front           another object layout, the link in front of the object
#   small           small blocks and shallow nesting: limits are met soon
#   debug           RRC_DEBUG
#   mirror          TEST_CLOSED
#   nocycles        RRC_NO_CYCLES in the implementing unit
#   O0 O1 O2 O3 Os  optimization
#   lto             ... of the whole program
#   asan tsan msan  sanitizers (the last one with clang)
#   fuzz            the fuzzer's entry
#   cover           counts what is reached: see coverage.sh (clang only)
#   valgrind        run by valgrind
#   gcc clang       another compiler
#   tcc musl        ... or one of these, the second with its own C library
#   m32             32 bits
#   arm s390x       another machine, run by qemu: 32 bits; 64 bits, big-endian
#   mingw           Windows, run by wine: 64 bits with a long of 32
#   wasm            WebAssembly with WASI, run by node: 32 bits
#
# A program that something else must run is a script, with the program itself in
# OUTPUT.bin. Where there is no such compiler, library or runner, it is a script
# that says "skipped".
#
# UNITS is how much to optimize the sources, if no word says that; without it CFLAGS says it.
set -u
output=$1
variant=$2
shift 2

cc=${CC:-cc}
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
defines= flags="${CFLAGS:--O2 -g} ${UNITS:-}" more= libraries=-lpthread cmocka=1 runner=
for word in $(echo "$variant" | tr - ' '); do
    case $word in
    dict | desc | moves | plain) ;;
    slot) defines="$defines -DHOST_SLOT=1" ;;
    macros) defines="$defines -DHOST_MACROS=1" ;;
    fixed) defines="$defines -DHOST_MOVES=0" ;;
    front) defines="$defines -DHOST_FRONT=1" ;;
    small) defines="$defines -DRRC_CHUNK_LINKS=64 -DRRC_DEALLOC_DEPTH=2" ;;
    debug) defines="$defines -DRRC_DEBUG" ;;
    mirror) defines="$defines -DTEST_CLOSED" ;;
    nocycles) defines="$defines -DTEST_NO_CYCLES" ;;
    O0 | O1 | O2 | O3 | Os) flags="-$word -g" ;;
    lto) more="$more -flto=auto" ;;
    asan) flags="${UNITS:--O1} -g -fsanitize=address,undefined -fno-sanitize-recover=all" ;;
    tsan) flags='-O1 -g -fsanitize=thread' ;;
    msan)
        cc=clang
        flags='-O1 -g -fsanitize=memory -fsanitize-memory-track-origins -fno-sanitize-recover=all'
        cmocka=0                # which is not instrumented
        ;;
    fuzz)
        flags='-O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all'
        defines="$defines -DRANDOM_FUZZ"
        cmocka=0
        ;;
    valgrind)
        runner='valgrind -q --error-exitcode=1 --leak-check=full --errors-for-leak-kinds=all'
        cmocka=0
        ;;
    cover) flags='-O1 -g -fprofile-instr-generate -fcoverage-mapping -fprofile-update=atomic' ;;    # tests have threads
    gcc | clang) cc=$word ;;
    tcc)
        cc=tcc
        flags=-g
        warnings=-w             # it does not know of functions that do not return
        cmocka=0
        ;;
    musl)
        cc=musl-gcc
        more="$more -static"
        cmocka=0
        ;;
    m32)
        more="$more -m32"
        cmocka=0
        ;;
    arm | s390x)
        # Debian's gcc for these would drive out the one for 32 bits.
        target=s390x-linux-gnu
        if [ $word = arm ]; then target=arm-linux-gnueabihf; fi
        cc="clang --target=$target"
        more="$more -I/usr/$target/include -static"
        runner=qemu-$word
        cmocka=0
        ;;
    mingw)
        cc=x86_64-w64-mingw32-gcc
        more="$more -static"
        runner='sh tests/wine.sh'
        cmocka=0
        ;;
    wasm)
        cc='clang --target=wasm32-wasi'
        more="$more -Wl,--stack-first -Wl,-z,stack-size=524288"
        libraries=
        runner='node tests/wasm.js'
        cmocka=0
        ;;
    *)
        echo "variant.sh: what is \"$word\"?" >&2
        exit 2
        ;;
    esac
done
flags="$flags$more"
case $variant in
*valgrind* | *arm* | *s390x* | *msan*) defines="$defines -DQUICK_SUITE=1" ;;       # slow: big tests are smaller
esac

mkdir -p "$(dirname "$output")" || exit 1
# skip REASON: the output says so.
skip() {
    printf '#!/bin/sh\necho "skipped: %s"\necho "0 passed, 0 failed, 1 skipped"\n' "$*" >"$output"
    chmod +x "$output"
    exit 0
}

# links SOURCE FLAGS...: can such a program be built? And run, if there is a runner.
links() {
    source=$1
    shift
    printf '%s\n' "$source" >"$output.probe.c"
    $cc "$@" "$output.probe.c" -o "$output.probe" >/dev/null 2>&1
    links_status=$?
    rm -f "$output.probe" "$output.probe.c"
    return $links_status
}

case $variant in
*fuzz*) probe='int LLVMFuzzerTestOneInput(const char *p, long n) { return p == 0 && n < 0; }' ;;
*) probe='#include <errno.h>
int main(void) { return errno; }' ;;
esac
# shellcheck disable=SC2086
links "$probe" $flags || skip "$cc does not build with $flags"
case $runner in
'') ;;
*wine.sh) sh tests/wine.sh --there || skip "there is no wine to run a program for Windows" ;;
*) command -v "${runner%% *}" >/dev/null || skip "there is no ${runner%% *}" ;;
esac

# The tests run with a plain runner where cmocka is not there.
if [ $cmocka = 1 ] && links "$(printf '#include <%s>\n' stdarg.h stddef.h setjmp.h stdint.h cmocka.h)
int main(void) { return 0; }" -lcmocka; then
    libraries="$libraries -lcmocka"
else
    defines="$defines -DUNIT_CMOCKA=0"
fi

# Nothing is linked for an object file, nor run.
case $output in
*.o)
    libraries='-c -Wno-unused-command-line-argument'
    runner=
    ;;
esac
program=$output
if [ -n "$runner" ]; then
    program=$output.bin
    rm -f "$output"
fi
# shellcheck disable=SC2086
$cc -std=c99 $warnings -I. -Itests -I"${BUILD:-build}/tests" \
    ${CPPFLAGS:-} $flags $defines "$@" ${LDFLAGS:-} $libraries -o "$program" || exit
if [ -n "$runner" ]; then
    printf '#!/bin/sh\nexec %s "$0.bin" "$@"\n' "$runner" >"$output"
    chmod +x "$output"
fi
