#!/bin/sh
# readme.sh FOLDER [MRUBY_CONFIG] - the programs of the page, each in an empty folder with three vendored files: they
# compile by the line that the page gives, and print what the page says. They also compile as C++.
. tests/lib.sh
out=$1
config=${2:-mruby-config}
page=bindings/mruby/README.md
rm -rf "$out" && mkdir -p "$out/bin" || exit 1
[ "$config" = mruby-config ] || ln -s "$config" "$out/bin/mruby-config" || exit 1
bin=$(cd "$out/bin" && pwd)
PATH=$bin:$PATH

# block HEADING KIND: the first block of this kind below the heading
block() {
    awk -v heading="## $1" -v fence="\`\`\`$2" '
        /^## / { here = $0 == heading }
        $0 == "```" { inside = 0 }
        inside
        here && !done && $0 == fence { inside = done = 1 }' "$page"
}

# follow HEADING NAME [NAME.rb]: the program NAME.c below the heading, and its script
# (To optimize C++ takes longer than to run it.)
follow() {
    folder=$out/$2
    mkdir "$folder" && cp rawrefcount.h bindings/closed/rrc_closed.h bindings/mruby/rrc_mruby.h "$folder" || exit 1
    block "$1" c >"$folder/$2.c"
    block "$1" sh >"$folder/commands.sh"
    block "$1" text >"$folder/expected.txt"
    [ $# -eq 2 ] || block "$1" ruby >"$folder/$3"
    for file in "$2.c" commands.sh expected.txt ${3-}; do
        expect "$1: the page has $file" test -s "$folder/$file"
    done
    # (as messages of a compiler, too)
    if (cd "$folder" && sh -e commands.sh >output.txt 2>messages.txt); then
        same_text "$1: what $2 prints" "$folder/expected.txt" "$folder/output.txt"
        expect "$1: it compiles without a message" test ! -s "$folder/messages.txt"
    else
        fail "$1: $2 does not compile or run"
    fi
    cat "$folder/messages.txt"
    have "$CXX" || { skip "$1: as C++: there is no $CXX"; return; }
    # shellcheck disable=SC2046
    if (cd "$folder" && $CXX -std=c++20 -x c++ "$2.c" -x none -DMRB_NO_PRESYM \
                             $(mruby-config --cflags --ldflags --libs | sed 's/-std=[^ ]*//') -O0 -o "$2-c++") &&
       (cd "$folder" && "./$2-c++" ${3-}) >"$folder/output-c++.txt"; then
        same_text "$1: what $2 prints, compiled as C++" "$folder/expected.txt" "$folder/output-c++.txt"
    else
        fail "$1: $2 does not compile or run as C++"
    fi
}
follow "A first program" first
follow "Your library has reference counts already" jobs jobs.rb
finish
