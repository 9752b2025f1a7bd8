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
#   mirror          RRC_MIRROR
#   asan tsan fuzz  sanitizers, and the fuzzer's entry
#   cover           counts what is reached: see coverage.sh (clang only)
#   gcc clang m32   another compiler, or 32 bits
#
# Where there is no such compiler or library, the output is a script that says
# "skipped".
set -u
output=$1
variant=$2
shift 2

cc=${CC:-cc}
defines= flags=${CFLAGS:--O2 -g} libraries=-lpthread cmocka=1
for word in $(echo "$variant" | tr - ' '); do
    case $word in
    dict | desc | moves | plain) ;;
    slot) defines="$defines -DHOST_SLOT=1" ;;
    macros) defines="$defines -DHOST_MACROS=1" ;;
    fixed) defines="$defines -DHOST_MOVES=0" ;;
    front) defines="$defines -DHOST_FRONT=1" ;;
    small) defines="$defines -DRRC_CHUNK_LINKS=64 -DRRC_DEALLOC_DEPTH=2" ;;
    debug) defines="$defines -DRRC_DEBUG" ;;
    mirror) defines="$defines -DRRC_MIRROR" ;;
    asan) flags='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all' ;;
    tsan) flags='-O1 -g -fsanitize=thread' ;;
    fuzz)
        flags='-O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all'
        defines="$defines -DRANDOM_FUZZ -DUNIT_CMOCKA=0"
        cmocka=0
        ;;
    cover) flags='-O1 -g -fprofile-instr-generate -fcoverage-mapping' ;;
    gcc | clang) cc=$word ;;
    m32)
        flags="$flags -m32"
        cmocka=0
        ;;
    *)
        echo "variant.sh: what is \"$word\"?" >&2
        exit 2
        ;;
    esac
done

mkdir -p "$(dirname "$output")" || exit 1
# links SOURCE FLAGS...: can such a program be built?
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
*) probe='int main(void) { return 0; }' ;;
esac
# shellcheck disable=SC2086
if ! links "$probe" $flags; then
    printf '#!/bin/sh\necho "skipped: %s does not build with %s"\necho "0 passed, 0 failed, 1 skipped"\n' \
        "$cc" "$flags" >"$output"
    chmod +x "$output"
    exit 0
fi
# The tests run with a plain runner where cmocka is not there.
if [ $cmocka = 1 ] && links "$(printf '#include <%s>\n' stdarg.h stddef.h setjmp.h stdint.h cmocka.h)
int main(void) { return 0; }" -lcmocka; then
    libraries="$libraries -lcmocka"
else
    defines="$defines -DUNIT_CMOCKA=0"
fi
case $output in
*.o) libraries=-c ;;
esac
# shellcheck disable=SC2086
exec $cc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -Itests \
    ${CPPFLAGS:-} $flags $defines "$@" ${LDFLAGS:-} $libraries -o "$output"
