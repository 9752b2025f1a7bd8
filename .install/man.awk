# man.awk - the man page, out of the header's own documentation.
#
#     awk -v version=VERSION -f .install/man.awk rawrefcount.h >rawrefcount.3

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

function section(title) {
    flush()
    print ".SH \"" title "\""
}

# A paragraph is collected, then filled, or left as it is if its columns mean something.
function add(text,    tag_name) {
    if (text ~ /^ *$/) {
        flush()
        return
    }
    for (tag_name in title)
        gsub(">>" tag_name, title[tag_name], text)
    if (text ~ /^\[/)                    # the tag line of a function
        flush()
    if (text ~ /^ [ ]/ || text ~ /[^ ]   / || text ~ /^I[0-9]  /)
        is_table = 1
    lines[++count] = text
}

function flush(    i) {
    if (count == 0)
        return
    if (is_table) {
        print ".PP\n.nf"
        for (i = 1; i <= count; i++)
            print escaped(lines[i])
        print ".fi"
    } else {
        print ".PP"
        for (i = 1; i <= count; i++)
            if (lines[i] ~ /^- /)
                print ".IP \\(bu 2\n" escaped(substr(lines[i], 3))
            else {
                sub(/^ +/, "", lines[i])
                print escaped(lines[i])
            }
    }
    count = is_table = 0
}

function code(text) {
    if (!in_code)
        print ".PP\n.nf"
    in_code = 1
    print "\\fB" escaped(text) "\\fR"
}

function end_code() {
    if (in_code)
        print ".fi"
    in_code = 0
}

BEGIN {
    print ".\\\" Made from rawrefcount.h."
    print ".TH RAWREFCOUNT 3 \"\" \"rawrefcount " version "\" \"C header\""
    print ".nh\n.ad l"
    print ".SH NAME"
    print "rawrefcount \\- joins a tracing garbage collector with reference\\-counted C objects"
    print ".SH SYNOPSIS"
    print ".nf\n#define RAWREFCOUNT_IMPLEMENTATION    /* in exactly one file */\n#include <rawrefcount.h>"
    print ".PP\ncc $(pkg\\-config \\-\\-cflags rawrefcount) ...\n.fi"
    print ".SH DESCRIPTION"
    title["caveats"] = "CAVEATS"
    title["concepts"] = "CONCEPTS"
    title["invariants"] = "INVARIANTS"
    title["protocol"] = "PROTOCOL"
    title["names"] = "NAMES"
    title["errors"] = "ERRORS"
    title["changes"] = "HISTORY"
    title["config"] = "CONFIGURATION"
    title["types"] = "TYPES"
    title["api"] = "FUNCTIONS"
    part = "text"
}

NR == 1 { next }
/^#ifndef RAWREFCOUNT_H/ { flush(); part = "" }

# A tag begins a section.
/^(\/\*| \*) >>/ {
    tag = $0
    sub(/^.*>>/, "", tag)
    if (tag == "implementation")
        part = ""
    else if (tag in title) {
        section(title[tag])
        part = tag == "types" || tag == "api" ? tag : "text"
    }
    next
}
/^ \* -----/ { if (part == "types" || part == "api") is_heading = 1; next }

part == "text" {
    if (/^ \* CONTENTS/)
        is_contents = 1
    if (/^ ?\*\/|^ \*\/$/) {
        flush()
        is_contents = 0
        if (tag == "config")
            part = ""
        next
    }
    if (/^\/\*/ || is_contents)
        next
    text = $0
    sub(/^ \* ?/, "", text)
    if (text ~ /\*\/ *$/)
        sub(/ *\*\/ *$/, "", text)
    add(text)
    next
}

# The list of codes and messages belongs to the errors.
/^#define RRC_ERRORS\(X\)/ { section("CODES"); part = "codes"; next }
part == "codes" {
    if (/^$/) {
        part = ""
        next
    }
    if (match($0, /RRC_[A-Z]+/))
        print ".TP\n.B " substr($0, RSTART, RLENGTH)
    while (match($0, /"[^"]*"/)) {
        print escaped(substr($0, RSTART + 1, RLENGTH - 2))
        $0 = substr($0, RSTART + RLENGTH)
    }
    next
}

part == "types" {
    if (is_heading || /^#define RRCI_|^#undef RRCI_|^enum \{ RRC_ERRORS/) {
        is_heading = 0
        next
    }
    if (/^$/)
        end_code()
    else if (!/^ \* -/)
        code($0)
    next
}

# Comments stand before what they are about; the page has it the other way round.
part == "api" {
    if (/^\/\* ---- what the inline functions need/) {
        part = ""
        next
    }
    if (is_heading) {
        in_comment = 1
        is_heading = 0
    }
    if (/^\/\* ---- .* ----/) {
        end_code()
        text = $0
        sub(/^\/\* ---- /, "", text)
        rest = text
        sub(/ ----.*/, "", text)
        print ".SS \"" escaped(text) "\""
        in_comment = rest !~ /\*\//
        next
    }
    if (/^\/\*/) {
        end_code()
        in_comment = 1
    }
    if (in_comment) {
        text = $0
        in_comment = text !~ /\*\//
        sub(/^(\/\*| \*|  ) ?/, "", text)
        sub(/ *\*\/.*/, "", text)
        about[++about_count] = text
        next
    }
    if (/^(RRC_API|RRC_INLINE)/ || in_prototype) {
        text = $0
        sub(/^(RRC_API|RRC_INLINE) /, "", text)
        code(text)
        in_prototype = text !~ /;$/
        next
    }
    if (/^#define RRC_|^typedef/) {
        sub(/ *\\$/, "")
        code($0)
        in_macro = 1
        next
    }
    if (/^$/) {
        end_code()
        in_macro = 0
        if (about_count > 0) {
            print ".RS 4"
            for (i = 1; i <= about_count; i++)
                add(about[i])
            flush()
            print ".RE"
            about_count = 0
        }
    }
    next
}

END {
    print ".SH \"SEE ALSO\"\nThe porting guide, the bindings and the examples come with the source."
}
