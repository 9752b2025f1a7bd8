#!/bin/sh
# versions.sh [VERSION] - all places that give the version of the project agree with the header. (A measurement says with
# which version it was made, and a changelog says what older ones brought: these are left out.) Headers without a version
# of their own are those of which bindings/STABILITY.md says so, and README.md says that they are installed.
# With a VERSION it only lists the places that have another one: what a new version has to change.
. tests/lib.sh
out=$BUILD/tests/versions
rm -rf "$out"
mkdir -p "$out" || exit 1
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard
else
    find . -path "./$BUILD" -prune -o -type f -print | sed 's|^\./||'
fi | grep -vE '^tests/(corpus|bench/results|versions\.sh)|CHANGELOG|\.(png|svg)$' | sort >"$out/files"

# The places in these files, one a line: the version, a blank, the file and the line.
places() {
    while IFS= read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done | tr '\n' '\0' | xargs -0 awk '
        function place(text) {
            if (match(text, /[0-9]+\.[0-9]+\.[0-9]+/)) print substr(text, RSTART, RLENGTH) " " FILENAME ":" FNR
        }
        FNR == 1 && FILENAME ~ /rawrefcount-[0-9]/ { place(FILENAME) }
        /^\/\* (rawrefcount|rrc_[a-z_]+)\.h - version / || /^#define RRC_([A-Z]+_)?VERSION "/ { place($0); next }
        /^#define RRC_VERSION_(MAJOR|MINOR) / { part = part $3 "."; next }
        /^#define RRC_VERSION_PATCH / { place(part $3); part = ""; next }
        FILENAME ~ /\.rockspec$/ && /^version = / || FILENAME ~ /\.(rb|gemspec)$/ && /^ *VERSION = "/ { place($0); next }
        /still numbered [0-9]/ { sub(/.*still numbered /, ""); place($0); next }
        match($0, /rawrefcount-[0-9]+\.[0-9]+\.[0-9]+/) { place(substr($0, RSTART, RLENGTH)) }'
}
others() { awk -v version="$2" '$1 != version { print $2 ": " $1 }' "$1"; }
places <"$out/files" >"$out/places"
if [ -n "$1" ]; then
    others "$out/places" "$1"
    grep -q "^### $1\( .*\)*$" bindings/STABILITY.md || echo "bindings/STABILITY.md: its changes have no heading for $1"
    grep -q "^### $1 (unreleased)" bindings/STABILITY.md && echo "bindings/STABILITY.md: its changes say that $1 is not released"
    grep -qx "## $1" bindings/ruby/CHANGELOG.md || echo "bindings/ruby/CHANGELOG.md: there is no heading for $1"
    exit
fi

version=$(sed -n 's/^#define RRC_VERSION "\(.*\)"/\1/p' rawrefcount.h)
wrong=$(others "$out/places" "$version")
if [ -z "$wrong" ]; then pass "all have the version $version"; else fail "these have not the version $version: $wrong"; fi
for file in rawrefcount.h bindings/lua/rrc_lua.h bindings/lua/rrc_lua_insight.h "bindings/lua/rawrefcount-$version-1.rockspec" bindings/lua/README.md \
            bindings/mruby/rrc_mruby.h bindings/mruby/rrc_mruby_insight.h bindings/ruby/lib/rawrefcount/version.rb bindings/ruby/README.md; do
    expect "$file has a version" grep -q " $file:" "$out/places"
done
expect "the changes of bindings/STABILITY.md have it" grep -qx "### $version" bindings/STABILITY.md
expect "the gem's changelog has it" grep -qx "## $version" bindings/ruby/CHANGELOG.md
unreleased=$(sed -n 's/^### [0-9]*\.[0-9]*\.[0-9]* (\(unreleased\))$/\1/p' bindings/STABILITY.md)
expect "the gem's changelog has changes that are not released, as bindings/STABILITY.md has, or neither has" \
    test "$(grep -c '^## Unreleased$' bindings/ruby/CHANGELOG.md)" -eq "$(echo "$unreleased" | grep -c .)"

# A control: wherever one of these places is changed, that is noticed.
number=0
while read -r has place; do
    number=$((number + 1))
    copy=$out/copy$number file=${place%:*}
    case $file in
    */rawrefcount-*) changed=${file%/*}/rawrefcount-9.9.9-1.rockspec ;;
    *) changed=$file ;;
    esac
    mkdir -p "$(dirname "$copy/$changed")"
    sed "${place##*:} { s/$has/9.9.9/; s/^\(#define RRC_VERSION_PATCH \).*/\199/; }" "$file" >"$copy/$changed"
    expect "a change of $place is noticed" test -n "$(cd "$copy" && echo "$changed" | places | grep -v "^$version ")"
done <"$out/places"

# Headers without a version of their own.
for header in bindings/*/rrc_*.h; do
    name=${header##*/}
    grep -q " $header:" "$out/places" && continue
    expect "bindings/STABILITY.md says that $name has no version of its own" sh -c \
        "tr '\n' ' ' <bindings/STABILITY.md | grep -q '[^.]*\`$name\`[^:]* have none of their own'"
    expect "README.md says that $name is installed" sh -c \
        "tr '\n' ' ' <README.md | grep -q 'make install PREFIX=[^:]*\`$name\`'"
    expect "Makefile installs $name" grep -q "^INSTALLED = .*include/$name" Makefile
done
finish
