#!/bin/sh
# sources.sh PACKAGE... - fetches the sources that Debian or Ubuntu has of these packages into
# build/sources: tests build them with all checks on, and collections everywhere. It needs no root,
# and changes nothing of the system: apt gets lists of its own. What is there is left alone. What
# cannot be had is left out, which is no failure here: tests that need it are skipped.
set -u
out=${BUILD:-build}/sources
names=$*
find_missing() {
    missing=
    for name in $names; do
        [ -d "$out/$name" ] || missing="$missing $name"
    done
}
give_up() {
    echo "sources: $1; tests are skipped that need the sources of:$missing" >&2
    exit 0
}

find_missing
if [ -z "$missing" ]; then
    echo "sources: all there, in $out"
    exit 0
fi
command -v apt-get >/dev/null 2>&1 || give_up "there is no apt-get"

# Where packages come from, their sources can be had; but not of anybody's packages.
apt=$PWD/$out/apt
rm -rf "$apt"
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache" || exit 1
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n 's/^deb \(.*\(debian\|ubuntu\).*\)/deb-src \1/p' >"$apt/parts/old.list"
for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && { cat "$file"; echo; }
done | awk -v RS= -v ORS='\n\n' '/(^|\n)URIs:[^\n]*(debian|ubuntu)/ && /(^|\n)Types:[^\n]*deb/ {
    sub(/Types:[^\n]*/, "Types: deb-src"); print }' >"$apt/parts/new.sources"
from_apt() {
    apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/parts" \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}
from_apt update || echo "sources: apt-get update failed; trying with what it got" >&2

for name in $missing; do
    mkdir -p "$apt/$name/unpacked" &&
        (cd "$apt/$name" && from_apt source --download-only --tar-only "$name" && tar xf ./*.orig.tar.* --strip-components=1 -C unpacked) &&
        mv "$apt/$name/unpacked" "$out/$name"
done
rm -rf "$apt"
find_missing
[ -z "$missing" ] || give_up "not all could be fetched"
