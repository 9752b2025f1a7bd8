#!/bin/sh
# rubies.sh VERSION=SUITE... - fetches the packages of these versions of Ruby (3.3=trixie) from Debian's suites, and
# unpacks each into build/ruby-VERSION, with the C library and the others that it was built with. It needs no root,
# and changes nothing of the system: apt gets lists of its own, and checks their signatures and the packages' hashes.
# What is there is left alone. What cannot be had is left out, which is no failure here: tests that need it are skipped.
#
# build/ruby-3.3/usr/bin/ruby3.3 is a script, which can be called as any Ruby. The program and the libraries are
# in usr/lib/beside: mkmf lets other programs find what is where Ruby's own library is, and these need those
# of the system.
set -u
out=${BUILD:-build}
find_missing() {
    missing=
    for one in "$@"; do
        [ -x "$out/ruby-${one%%=*}/usr/bin/ruby${one%%=*}" ] || missing="$missing $one"
    done
}
give_up() {
    echo "rubies: $1; tests are skipped that need:$missing" >&2
    exit 0
}

find_missing "$@"
if [ -z "$missing" ]; then
    echo "rubies: all there, in $out"
    exit 0
fi
command -v apt-get >/dev/null 2>&1 || give_up "there is no apt-get"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keys" ] || give_up "there is no $keys"

apt=$PWD/$out/ruby-apt
from_apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
        -o APT::Sandbox::User="$(id -un)" "$@"
}

# unpack VERSION
unpack() {
    usr=$apt/$1/usr
    for package in "$apt/packages"/*.deb; do
        dpkg-deb -x "$package" "$apt/$1" || return 1
    done
    libraries=$(echo "$usr"/lib/*-linux-gnu*)
    mkdir -p "$usr/lib/beside" "$usr/lib/ruby/vendor_ruby/rubygems/defaults" || return 1
    mv "$usr/bin/ruby$1" "$usr/lib/beside/" || return 1
    for library in "$libraries"/*.so.*; do
        case $library in */libruby*) ;; *) mv "$library" "$usr/lib/beside/" || return 1 ;; esac
    done
    # Gems of the system are for another Ruby, and the system's C library may lack functions of this one's.
    : >"$usr/lib/ruby/vendor_ruby/rubygems/defaults/operating_system.rb"
    sed -i 's/^\( *CONFIG\["LDFLAGS"\] = "\)/\1-Wl,--allow-shlib-undefined /' "$libraries/ruby/$1.0/rbconfig.rb"
    cat >"$usr/bin/ruby$1" <<END
#!/bin/sh
# Ruby $1 with its own libraries.
usr=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")
libraries=\$usr/lib/${libraries##*/}
ruby=\$usr/lib/ruby/vendor_ruby:\$usr/lib/ruby/$1.0:\$libraries/ruby/$1.0
case \${RUBYLIB:-} in *"\$ruby") ;; *) RUBYLIB=\${RUBYLIB:+\$RUBYLIB:}\$ruby ;; esac
export RUBYLIB
exec "\$usr"/lib/beside/ld*.so.* --library-path "\$usr/lib/beside:\$libraries" "\$usr/lib/beside/ruby$1" "\$@"
END
    chmod +x "$usr/bin/ruby$1" && "$usr/bin/ruby$1" -v
}

# fetch VERSION SUITE: experimental is no whole system; what else is needed is in trixie.
fetch() {
    rm -rf "${apt:?}"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages" || return 1
    : >"$apt/status"
    for suite in trixie "$2"; do
        echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main"
    done | sort -u >"$apt/sources.list"
    from_apt update &&
        (cd "$apt/packages" && from_apt download "ruby$1/$2" "libruby$1/$2" "ruby$1-dev/$2" libc6/trixie libgcc-s1/trixie \
            libcrypt1/trixie libffi8/trixie libgmp10/trixie libssl3t64/trixie libyaml-0-2/trixie libzstd1/trixie zlib1g/trixie) &&
        unpack "$1" && mkdir -p "$out/ruby-$1" && mv "$apt/$1/usr" "$out/ruby-$1/usr"
}

for one in $missing; do fetch "${one%%=*}" "${one#*=}"; done
rm -rf "$apt"
find_missing "$@"
[ -z "$missing" ] || give_up "not all could be fetched"
