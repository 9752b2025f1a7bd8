#!/bin/sh
# sources.sh PACKAGE[:SUITE|=SUITE]... - fetches the sources that Debian or Ubuntu has of these packages into
# build/sources: tests build them with all checks on, and collections everywhere. It needs no root,
# and changes nothing of the system: apt gets lists of its own. What is there is left alone. What
# cannot be had is left out, which is no failure here: tests that need it are skipped.
# :SUITE: if this system has no such sources (any more), those of this suite of Debian will do.
# =SUITE: only those of this suite will.
set -u
out=${BUILD:-build}/sources
names=
for one in "$@"; do names="$names ${one%%[:=]*}"; done
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
update() { from_apt update || echo "sources: apt-get update failed; trying with what it got" >&2; }

# fetch NAME [/SUITE]
fetch() {
    rm -rf "${apt:?}/$1"
    mkdir -p "$apt/$1/unpacked" &&
        (cd "$apt/$1" && from_apt source --download-only --tar-only "$1${2:-}" && tar xf ./*.orig.tar.* --strip-components=1 -C unpacked) &&
        mv "$apt/$1/unpacked" "$out/$1"
}

update
for name in $missing; do
    case " $* " in *" $name="*) ;; *) fetch "$name" ;; esac
done

keys=/usr/share/keyrings/debian-archive-keyring.gpg
for one in "$@"; do
    name=${one%%[:=]*} suite=${one#*[:=]}
    if [ "$suite" = "$one" ] || [ -d "$out/$name" ] || [ ! -f "$keys" ]; then continue; fi
    echo "deb-src [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$apt/parts/other.list"
    update
    fetch "$name" "/$suite"
done
rm -rf "$apt"
find_missing
[ -z "$missing" ] || give_up "not all could be fetched"
