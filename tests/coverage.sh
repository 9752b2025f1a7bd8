#!/bin/sh
# coverage.sh - which lines and branches of rawrefcount.h, rrc_insight.h and rrc_weak.h no test reaches.
#
#   coverage.sh count PROGRAM      runs a test of a variant with "cover" (see variant.sh): to
#                                  BUILD/coverage/NAME.counts go what it counts, by header, line and
#                                  column, and how its runs went
#   coverage.sh report COUNTS...   adds up. coverage.txt lists what cannot be reached, each with its
#                                  reason; an entry that is reached, or not there, is a failure
#
# A branch is one outcome of one condition: "a && b" has four.
. tests/lib.sh
QUICK=1
export QUICK
out=$BUILD/coverage
headers='rawrefcount.h bindings/closed/rrc_closed.h bindings/insight/rrc_insight.h bindings/weak/rrc_weak.h'
mkdir -p "$out" || exit 1
command=$1
shift

# The tools have the version of the compiler in their names, or not.
tool() {
    for name in "$1" "$1-$(clang -dumpversion | sed 's/\..*//')"; do
        have "$name" && echo "$name" && return
    done
    return 1
}
profdata=$(tool llvm-profdata) && cov=$(tool llvm-cov) || {
    [ "$command" = report ] || exit 0
    skip "there are no llvm-cov and llvm-profdata"
    finish
}

if have timeout; then limit='timeout 900'; else limit=; fi

# run PROGRAM ARGUMENTS...
run() {
    if LLVM_PROFILE_FILE=$out/$name-%p.profraw $limit "$@" >"$out/$name.log" 2>&1; then
        echo "ok $*"
    else
        echo "failed $*: $(tail -n 1 "$out/$name.log")"
    fi
}

# count PROGRAM
count() {
    graphs=$(echo tests/graphs/*.graph)
    case $name in
    suite-* | damage-* | no_cycles-*) run "$1" ;;
    cycles-*)
        # shellcheck disable=SC2086
        run "$1" graphs $graphs
        run "$1" random 1 100 300
        ;;
    mirror-*)
        run "$1" cases
        # shellcheck disable=SC2086
        run "$1" graphs $graphs
        run "$1" random 1 300 600
        run "$1" slices 9973 7
        run "$1" control moves
        ;;
    slices-*)
        run "$1" random 1 3000 600
        run "$1" small 997 5
        ;;
    esac
    $profdata merge -o "$out/$name.profdata" "$out/$name"-*.profraw &&
        # shellcheck disable=SC2086
        $cov export "$1" -instr-profile="$out/$name.profdata" -format=lcov -skip-functions $headers |
            awk -F '[:,]' '/^SF:/ { header = $2; sub(/.*\//, "", header) }
                           /^DA:/ { print "line", header, $2, $3 }' &&
        # One function of the program a line: its branches, then its files.
        # shellcheck disable=SC2086
        $cov export "$1" -instr-profile="$out/$name.profdata" $headers | tr '{' '\n' |
            grep -E '"filenames":.*(rawrefcount|rrc_insight|rrc_weak)\.h' >"$out/$name.functions" ||
        { echo "failed $name: no counts"; return; }
    awk '{
        n = split(substr($0, index($0, "\"filenames\":[") + 13), file, ",")
        for (i = 1; i <= n; i++) {
            header[i - 1] = ""
            if (match(file[i], /(rawrefcount|rrc_insight|rrc_weak)\.h"/))
                header[i - 1] = substr(file[i], RSTART, RLENGTH - 1)
        }
        branches = substr($0, 1, index($0, "],\"count\""))
        n = split(branches, branch, "[")
        for (i = 1; i <= n; i++)
            if (split(branch[i], b, /[],]/) >= 9 && header[b[7] + 0] != "")
                print "branch", header[b[7] + 0], b[1], b[2], b[3], b[4], b[5], b[6]
    }' "$out/$name.functions"
}

if [ "$command" = count ]; then
    name=$(basename "$1")
    rm -f "$out/$name"-*.profraw
    count "$1" >"$out/$name.new" && mv "$out/$name.new" "$out/$name.counts"
    exit
fi

while read -r result what; do
    case $result in
    ok) pass "$what" ;;
    failed) fail "$what" ;;
    esac
done <<END
$(cat "$@" | grep -E '^(ok|failed) ')
END

# The list of what is excused, then the text of the headers, then the counts.
awk '
FILENAME ~ /coverage\.txt$/ {
    if ($0 ~ /^[^# ]/) {
        excused[$0] = FNR
    }
    next
}
FILENAME ~ /\.h$/ {
    header = FILENAME
    sub(/.*\//, "", header)
    text[header, FNR] = $0
    if ($0 ~ /^[A-Za-z].*\(/ && $0 !~ /;$/ || $0 ~ /^#define .*\\$/) {
        name = $0
        sub(/\(.*/, "", name)
        sub(/ *\\?$/, "", name)
        sub(/.*[ *]/, "", name)
    }
    function_at[header, FNR] = name
    next
}
$1 == "line" {
    key = $2 " " $3
    if (!(key in run))
        line_count++
    run[key] += $4
    next
}
$1 == "branch" {
    key = $2 " " $3 " " $4 " " $5 " " $6
    if (!(key in yes))
        branch_count += 2
    yes[key] += $7
    no[key] += $8
}
# What was missed, as it is written in coverage.txt: of all places with one text in one
# function there is one entry.
function miss(header, line, column, what,    entry) {
    if (function_at[header, line] == "")        # an argument of a public macro, seen at its definition
        return 1
    entry = function_at[header, line] ": " what
    if (entry in excused) {
        used[entry] = 1
        return 1
    }
    printf "%s:%d:%d: %s\n", header, line, column, entry
    bad++
    return 0
}
function code(key,    part, i, s) {
    split(key, part, " ")
    if (part[2] == part[4])
        return substr(text[part[1], part[2]], part[3], part[5] - part[3])
    s = substr(text[part[1], part[2]], part[3])
    for (i = part[2] + 1; i <= part[4]; i++)
        s = s " " (i < part[4] ? text[part[1], i] : substr(text[part[1], i], 1, part[5] - 1))
    gsub(/ +/, " ", s)
    return s
}
END {
    for (key in run)
        if (run[key] == 0) {
            split(key, part, " ")
            s = text[part[1], part[2]]
            gsub(/^ +| *\/\*.*\*\/ *$| +$/, "", s)
            if (s ~ /^[{}]*$|^#/)
                line_count--
            else if (miss(part[1], part[2], 1, "never run: " s))
                excused_lines++
            else
                missed_lines++
        }
    for (key in yes) {
        split(key, part, " ")
        if (code(key) == "((void)(heap), 0)") {     # rrci_close_mail of a build without RRC_THREADS is no condition
            branch_count -= 2
            continue
        }
        if (yes[key] == 0) {
            if (miss(part[1], part[2], part[3], "never true: " code(key))) excused_branches++; else missed_branches++
        }
        if (no[key] == 0) {
            if (miss(part[1], part[2], part[3], "never false: " code(key))) excused_branches++; else missed_branches++
        }
    }
    for (entry in excused)
        if (!(entry in used)) {
            printf "coverage.txt:%d: reached, or not there: %s\n", excused[entry], entry
            bad++
        }
    printf "~ lines: %.2f %% of %d, %d excused; branches: %.2f %% of %d, %d excused\n",
        100 * (1 - missed_lines / line_count), line_count, excused_lines,
        100 * (1 - missed_branches / branch_count), branch_count, excused_branches
    exit bad > 0
}' tests/coverage.txt $headers "$@" >"$out/report"
status=$?
for counts in "$@"; do          # what has failed is counted again next time
    if grep -q '^failed ' "$counts"; then rm -f "$counts"; fi
done
sort -t: -k1,1 -k2,2n "$out/report" | sed 's/^~ //'
[ $status -eq 0 ] && pass "all is reached, but for coverage.txt" || fail "something is not reached"
finish
