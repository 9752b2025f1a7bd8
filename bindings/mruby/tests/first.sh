#!/bin/sh
# first.sh FOLDER [MRUBY_CONFIG] - the first program of the page, in an empty folder with two vendored files:
# it compiles by the line that the page gives, and prints what the page says.
. tests/lib.sh
out=$1
page=bindings/mruby/README.md
rm -rf "$out" && mkdir -p "$out" || exit 1
cp rawrefcount.h bindings/mruby/rrc_mruby.h "$out" || exit 1
# block KIND: the first block of this kind below the heading
block() {
    awk -v kind="$1" '/^## / { here = $0 == "## A first program" }
                      $0 == "```" { inside = 0 }
                      inside
                      here && !done && $0 == "```" kind { inside = done = 1 }' "$page"
}
block c >"$out/first.c"
block sh >"$out/commands.sh"
block text >"$out/expected.txt"
expect "the page has a first program" test -s "$out/first.c" -a -s "$out/commands.sh" -a -s "$out/expected.txt"
if [ -n "${2-}" ]; then
    mkdir "$out/bin" && ln -s "$2" "$out/bin/mruby-config"
fi
if (cd "$out" && PATH="$PWD/bin:$PATH" sh -e commands.sh >output.txt 2>messages.txt); then
    same_text "what the first program prints" "$out/expected.txt" "$out/output.txt"
    expect "it compiles without a message" test ! -s "$out/messages.txt"
    cat "$out/messages.txt"
else
    cat "$out/messages.txt"
    fail "the first program does not compile or run"
fi
finish
