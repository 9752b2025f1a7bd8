#!/bin/sh
# states.sh [HEADER] - the table of states and functions that test_states.c and mirror_states.c
# go through, in C. It is made of what the header, rrc_insight.h and rrc_weak.h say: the tag line of each function of >>api
# names a phase, and the table below says what a phase means in each state.
#
# The functions of cells are left out, as they need a heap of another kind: see mirror_cells.c.
#
# It fails if a function has no tag line, if a phase is not in the table, if the states are not
# those of the enum, or if the table of rrci_gate does not allow what the phases promise.
set -u
exec awk '
# What becomes of a call in each state:
#   +  it works
#   -  it is refused, with a code where it returns one
#   !  it is refused with RRC_DEBUG; else nobody promises anything
#   .  it is ignored, and nothing is logged
#   ?  it is not refused, but its result means nothing
# The group is the one that rrci_gate is asked for, or "none". HOOK is RRCI_MUTATOR
# inside a hook of the host, and LOOK is that inside a tp_traverse or a writeproc.
function phases() {
    states("MUTATOR HOOK LOOK MINOR COPYING MAJOR MARKING OPEN KEPT STARTED SWEEPING LAYER_RESTS LAYER_RUNS ENDING HUSK")
    phase("+ ! ! - - - - - - + + + + + -", "MUTATES", "mutator")
    phase("+ ! ! - - - - - - + + + + + -", "MUTATES", "mutator is stopped, old addresses can still be told")
    phase("+ ! ! - - - - - - + + + + + -", "MUTATES", "mutator, in an inspection")
    phase("+ + + - - - - - - + + + + + -", "none", "any but a collection, hooks too")
    phase("+ ! ! - - - - - - + + + + . -", "MUTATES", "mutator, ignored in rrc_heap_free")
    phase("+ ! ! - - - - - - + + + . . -", "MUTATES", "mutator, ignored in a step and in rrc_heap_free")
    phase("+ ! ! - - - - - - . + + . . -", "MUTATES", \
          "mutator, ignored in a step, in slices of marking without collect, and in rrc_heap_free")
    phase("+ ! ! - - - - - - + + + + + .", "MUTATES", "mutator, ignored after rrc_heap_free")
    phase("+ ! ! - - - - - - + + + . - -", "ENDS", "mutator until rrc_heap_free")
    phase("+ + + . . . . . . + + + + + .", "none", "mutator, else NULL")
    phase("+ + ? ? ? ? ? ? ? + + + + + ?", "none", "mutator and its hooks, unchecked")
    phase("+ ? ? ? ? ? ? ? ? + + + + + ?", "none", "mutator, unchecked")
    phase("+ ! ! - + - + + + + + + + + +", "none", "any but a hook")
    phase("+ + + + + + + + + + + + + + +", "none", "any")
    phase("+ + + + + + + + + + + + + + -", "none", "any until rrc_heap_free is done")
    phase("+ + + + + + + + + + + + + + .", "none", "any thread, else RRC_ECLOSED")
    phase("+ ! ! - + - - - - + + - - + -", "MINOR_TRACE", "host" quote "s minor collection, roots scanned; may be repeated")
    phase("- - - - + - - - - - - - - - -", "MINOR_FREE", "same minor collection, copying done, nothing freed yet")
    phase("+ ! ! - - - + + - + - - - + -", "MAJOR_TRACE", "host" quote "s major collection, roots marked; may be repeated")
    phase("+ ! ! - - - + + - + - - - + -", "MAJOR_TRACE", "host" quote "s major collection; may be repeated")
    phase("+ ! ! - - - + + - + - - - + -", "MAJOR_PAUSE", "host" quote "s major collection, marking interrupted")
    phase("- - - - - - + - - - + - - - -", "MAJOR_KEEP", "same major collection, marking done")
    phase("- - - - - - + + + - + - - - -", "MAJOR_FREE", \
          "same major collection, marking done, new addresses known, nothing freed or moved yet")
    phase("+ + + . . + + + . + + + + + .", "none", "host" quote "s major collection and its hooks, else ignored")
    phase("+ ! ! - - - - - - - - - - + -", "MAJOR_START", "host" quote "s major collection begins")
    phase(". . . - - - + - + + + . . . -", "MAJOR_WORK", "mutator, in a major collection in slices, else 0")
    phase(". . . - - - + + + - + . . . -", "MAJOR_SWEEP", "mutator, after rrc_major_collection_keep, else 0")
}

function complain(text) {
    print "states.sh: " text >"/dev/stderr"
    failed = 1
}

function states(names,    i) {
    state_count = split(names, state, " ")
    for (i = 1; i <= state_count; i++)
        number[state[i]] = i
    is_hook["HOOK"] = is_hook["LOOK"] = 1
}

function phase(marks, group, text) {
    if (split(marks, parts, " ") != state_count)
        complain("the phase \"" text "\" is not told for each state")
    phase_of[text] = marks
    group_of[text] = group
    is_unused[text] = 1
}

# The tag line of a comment, of which this is the text.
function tag_of(text,    tag) {
    while (match(text, /\[[^][]*\]/)) {
        tag = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        if (tag ~ /^as rrc_/ || tag ~ / \| /)
            return tag
    }
    return ""
}

function declared(name,    text) {
    if (name in text_of)
        complain(name " is declared twice")
    text = comment_tag
    if (text ~ /^as rrc_/) {
        sub(/^as /, "", text)
        text = text in text_of ? text_of[text] : "as " text
    }
    sub(/ \|.*/, "", text)
    text_of[name] = text
    function_of[++functions] = name
    if (text == "")
        complain(name " has no tag line")
    else if (!(text in phase_of))
        complain(name ": what is the phase \"" text "\"?")
    else
        delete is_unused[text]
}

# The name of the function that a line declares or defines, or "".
function name_in(line) {
    if (line !~ /^RRC_(API|INLINE) / || !match(line, /rrci?_[a-z_0-9]+\(/))
        return ""
    return substr(line, RSTART, RLENGTH - 1)
}

BEGIN {
    quote = sprintf("%c", 39)
    phases()
}

/>>(api|functions)$/ && /^(\/\*| \*) >>/ { part = "api" }
/^#endif \/\* RRC_(INSIGHT|WEAK|CLOSED)_H/ { part = "" }
/^\/\* ---- what the inline functions need/ { part = "" }
/^\/\* The state of a heap, and the invariant/ { part = "invariants" }
/^} rrci_state;/ { part = "" }
/^static inline int rrci_gate\(/ { part = "gate" }

part == "api" {
    if (/^\/\*/) { comment = ""; is_comment = 1 }
    if (is_comment) {
        text = $0
        sub(/^[\/ ]?\*?\*? +/, "", text)
        comment = comment " " text
        if (/\*\//) {
            is_comment = 0
            comment_tag = tag_of(comment)
        }
    }
}

{ name = name_in($0) }
name != "" && name !~ /^rrci_/ {
    if (part == "api")
        declared(name)
    else
        defined[name] = 1
}

part == "invariants" && /^   RRCI_[A-Z_]+ +[A-Za-z]/ { invariant[substr($1, 6)] = 1 }
part == "invariants" && /^typedef enum rrci_state/ { part = "enum" }
part == "enum" && /^    RRCI_/ {
    count = split($0, names, /[ ,]+/)
    for (i = 1; i <= count; i++)
        if (names[i] ~ /^RRCI_/ && names[i] != "RRCI_STATES")
            is_state[substr(names[i], 6)] = 1
}

# A row of the table: the state in a comment, the groups, the words.
part == "gate" && /^        \/\* RRCI_/ { row = substr($2, 6); rows[row] = 1 }
part == "gate" && row != "" {
    text = $0
    gsub(/\/\*[^*]*\*\//, "", text)
    while (match(text, /RRCI_[A-Z_]+/)) {
        allows[row, substr(text, RSTART + 5, RLENGTH - 5)] = 1
        group_seen[substr(text, RSTART + 5, RLENGTH - 5)] = 1
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
    }
    if (match(text, /"[^"]*"/))
        words[row] = substr(text, RSTART, RLENGTH)
    if (/}/)
        row = ""
}
part == "gate" && /"called from a hook/ && match($0, /"[^"]*"/) { words["HOOK"] = words["LOOK"] = substr($0, RSTART, RLENGTH) }
part == "gate" && /^}/ { part = "" }

END {
    if (functions == 0)
        complain("no functions are found below >>api")
    for (name in defined)
        if (!(name in text_of))
            complain(name " is not declared below >>api")
    for (text in is_unused)
        complain("no function has the phase \"" text "\"")
    for (i = 1; i <= state_count; i++)
        if (!is_hook[state[i]] && !(state[i] in is_state))
            complain("RRCI_" state[i] " is not in the enum")
    for (s in is_state) {
        if (!(s in number))
            complain("what may be called in RRCI_" s "?")
        if (!(s in invariant))
            complain("RRCI_" s " has no invariant above the enum")
        if (!(s in rows))
            complain("RRCI_" s " is not in the table of rrci_gate")
    }
    for (s in rows)
        if (!(s in is_state))
            complain("RRCI_" s " is in the table of rrci_gate, but not in the enum")
    for (text in phase_of) {
        group = group_of[text]
        is_group[group] = 1
        split(phase_of[text], marks, " ")
        for (i = 1; group != "none" && i <= state_count; i++)
            if (!is_hook[state[i]] && marks[i] != "." && (marks[i] == "+") != ((state[i] SUBSEP group) in allows))
                complain("RRCI_" state[i] " of rrci_gate " (marks[i] == "+" ? "lacks" : "has") " RRCI_" group \
                         ", which the phase \"" text "\" contradicts")
    }
    for (group in group_seen)
        if (!(group in is_group))
            complain("what phase is for RRCI_" group "?")
    if (failed)
        exit 1
    print "/* Made by tests/states.sh from rawrefcount.h and the headers of its layers. */"
    printf "#define STATES(X)"
    for (i = 1; i <= state_count; i++)
        printf " \\\n    X(%s, %s)", state[i], words[state[i]]
    for (mirror = 0; mirror < 2; mirror++) {
        printf "\n#define %sFUNCTIONS(X)", mirror ? "CLOSED_" : ""
        for (i = 1; i <= functions; i++) {
            name = function_of[i]
            text = text_of[name]
            marks_of = phase_of[text]
            gsub(/ /, "", marks_of)
            if (name !~ /^rrc_cell_/ && (name ~ /^rrc_(mirror|map|closed)_/) == mirror)
                printf " \\\n    X(%s, \"%s\", \"%s\", %d)", name, text, marks_of, group_of[text] != "none"
        }
    }
    print ""
}
' "${1:-rawrefcount.h}" bindings/insight/rrc_insight.h bindings/weak/rrc_weak.h \
    bindings/closed/rrc_closed.h
