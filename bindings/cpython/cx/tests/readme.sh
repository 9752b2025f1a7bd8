#!/bin/sh
# readme.sh CVM - the README of the C API holds what it says: its extension compiles
# and does what stands below it; every function of capi.h is in it, and in a test.
. tests/lib.sh
cvm=$1
capi=bindings/cpython/cx
case $cvm in /*) ;; *) cvm=$PWD/$cvm ;; esac
out=$BUILD/capi/readme
mkdir -p "$out" || exit 1

# The first block fenced with ```LANGUAGE.
block() {
    awk -v fence="\`\`\`$1" '$0 == fence && !done { inside = 1; next }
                             inside && $0 == "```" { inside = 0; done = 1 }
                             inside { print }' $capi/README.md
}

block c >"$out/counter.c"
block lisp >"$out/counter.lisp"
block text >"$out/expected.txt"
if $CC -std=c99 $STRICT -I. -shared -fPIC "$out/counter.c" -o "$out/counter.so"; then
    (cd "$out" && "$cvm" counter.lisp >output.txt 2>&1)
    same_text "the extension of the README" "$out/expected.txt" "$out/output.txt"
else
    fail "the extension of the README does not compile"
fi

functions=$(sed -n 's/^[a-zA-Z].*[ *]\(cx_[a-z_0-9]*\)(\(cvm \*\|const \).*/\1/p' $capi/capi.h | sort -u)
expect "capi.h has functions" test "$(echo "$functions" | wc -l)" -gt 80
for function in $functions; do
    expect "$function is in the README" grep -q "\`$function\`" $capi/README.md
    expect "$function is tested" grep -qs "$function(" $capi/tests/probe.c $capi/tests/embedding.c
done

# C++ can include it.
for debug in '' -DRRC_DEBUG; do
    printf '#include "%s/capi.h"\n' $capi >"$out/header.cpp"
    if have "$CXX"; then
        expect "capi.h in C++ $debug" $CXX -std=c++11 $STRICT $debug -I. -fsyntax-only "$out/header.cpp"
    else
        skip "there is no C++ compiler"
    fi
done

for file in $(grep -o '](\([^)#:]*\))' $capi/README.md | sed 's/^](//; s/)$//' | sort -u); do
    expect "$file exists" test -e "$capi/$file"
done
finish
