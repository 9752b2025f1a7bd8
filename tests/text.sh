#!/bin/sh
# text.sh - every text file of the project is ASCII, without trailing blanks and
# with a newline at its end; only a Makefile may have tabs. What Markdown links to is there.
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
    case $file in
    *.md)
        for link in $(grep -o '](\([^):#]*\)' "$file" | sed 's/^](//' | sort -u); do
            [ -e "$(dirname "$file")/$link" ] || bad="$bad, links to $link, which is not there"
        done ;;
    esac
    if [ -z "$bad" ]; then passed=$((passed + 1)); else fail "$file: ${bad#, }"; fi
done
finish
