#!/bin/sh
# text.sh - every text file of the project is ASCII, without trailing blanks and
# with a newline at its end; only a Makefile may have tabs. What Markdown links to is there,
# headings too, and links lead from the README to every page.
. tests/lib.sh

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    files=$(git ls-files --cached --others --exclude-standard)
else
    files=$(find . -path "./$BUILD" -prune -o -type f -print | sed 's|^\./||')
fi
TAB=$(printf '\t')
for file in $files; do
    [ -f "$file" ] || continue
    case $file in *.png | tests/corpus/*) continue ;; esac      # not a text
    bad=
    if LC_ALL=C grep -n '[^ -~	]' "$file" >/dev/null; then
        # Some tests are about bytes that are not ASCII. They say so in their name.
        case $file in *bytes*|*utf8*) ;; *) bad="$bad, not ASCII" ;; esac
    fi
    if grep -n "[ $TAB]\$" "$file" >/dev/null; then bad="$bad, trailing blanks"; fi
    case $file in
    Makefile|*.mk|tests/text.sh) ;;
    *) if grep -n "$TAB" "$file" >/dev/null; then bad="$bad, tabs"; fi ;;
    esac
    if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then bad="$bad, no newline at the end"; fi
    if [ -z "$bad" ]; then passed=$((passed + 1)); else fail "$file: ${bad#, }"; fi
done

# broken_links FILE PAGES...: prints each link to a file or heading that is not there, and each page to which
# no links lead from the README. FILE names the files that are there. (GitHub's name for a heading has its
# letters in lower case, "-" for blanks, and no punctuation.)
broken_links() {
    awk '
    function resolve(dir, path,    n, i, part, kept, top, result) {
        n = split((dir == "" ? "" : dir "/") path, part, "/")
        for (i = 1; i <= n; i++)
            if (part[i] == ".." && top > 0) top--
            else if (part[i] != "." && part[i] != "") kept[++top] = part[i]
        for (i = 1; i <= top; i++) result = result (i > 1 ? "/" : "") kept[i]
        return result
    }
    function slug(text) {
        gsub(/\]\([^)]*\)/, "", text)
        text = tolower(text)
        gsub(/[^a-z0-9 _-]/, "", text)
        gsub(/ /, "-", text)
        return text
    }
    FNR == NR {                         # the files that are there, and their folders
        there[$0]
        for (path = $0; sub(/\/[^\/]*$/, "", path); ) there[path]
        next
    }
    FNR == 1 { fenced = 0; pages[FILENAME] }
    /^ *```/ { fenced = !fenced; next }
    fenced { next }
    /^#+ / {
        name = $0
        sub(/^#+ +/, "", name)
        name = FILENAME "#" slug(name)
        same = name
        while (same in headings) same = name "-" ++count[name]
        headings[same]
    }
    {
        for (rest = $0; match(rest, /\]\([^) ]*\)/); rest = substr(rest, RSTART + RLENGTH)) {
            link = substr(rest, RSTART + 2, RLENGTH - 3)
            if (link !~ /^[a-z]+:/) links[FILENAME, ++linked[FILENAME]] = link
        }
    }
    END {
        for (page in pages)
            for (i = 1; i <= linked[page]; i++) {
                dir = page
                if (!sub(/\/[^\/]*$/, "", dir)) dir = ""
                file = links[page, i]
                heading = ""
                if (at = index(file, "#")) { heading = substr(file, at); file = substr(file, 1, at - 1) }
                file = file == "" ? page : resolve(dir, file)
                if (!(file in there)) print page ": links to " links[page, i] ", which is not there"
                else if (heading != "" && file in pages && !(file heading in headings))
                    print page ": links to " links[page, i] ", but there is no such heading"
                target[page, i] = file
            }
        reached["README.md"]
        do {
            more = 0
            for (page in pages)
                if (page in reached)
                    for (i = 1; i <= linked[page]; i++)
                        if (!(target[page, i] in reached)) { reached[target[page, i]]; more = 1 }
        } while (more)
        for (page in pages) if (!(page in reached)) print page ": no links lead to it from README.md"
    }' "$@"
}
out=$BUILD/tests/text
rm -rf "$out"
mkdir -p "$out/a" || exit 1
echo "$files" >"$out/files"
# shellcheck disable=SC2046
broken=$(broken_links "$out/files" $(echo "$files" | grep '\.md$'))
if [ -z "$broken" ]; then pass "links between pages"; else fail "$broken"; fi

# The check of links finds these mistakes, and no others.
cat >"$out/README.md" <<'END'
# Top
[a](a/page.md#the-code-x-and-more) [a](a) [b](gone.md) [c](#top) [d](#absent) [web](https://example.org/)
END
cat >"$out/a/page.md" <<'END'
## The `code`, [x](../README.md) and more!
[up](../README.md#top) [up](../README.md#bottom)
```
[no](link)
```
END
printf 'A page that nobody finds.\n' >"$out/a/lost.md"
cat >"$out/wanted" <<'END'
README.md: links to #absent, but there is no such heading
README.md: links to gone.md, which is not there
a/lost.md: no links lead to it from README.md
a/page.md: links to ../README.md#bottom, but there is no such heading
END
printf 'README.md\na/page.md\na/lost.md\n' >"$out/files"
(cd "$out" && broken_links files README.md a/page.md a/lost.md) | sort >"$out/given"
same_text "broken links are found" "$out/wanted" "$out/given"
finish
