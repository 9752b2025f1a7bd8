# table.awk - tables in Markdown out of the benchmark's CSV file.
#   -v part=rows      all rows. A value is followed by that of its plain loop, if it has one
#   -v part=missed    a list of the goals that are missed, each with its reason out of reasons.txt, which is read first
#   -v short=N        only what was measured for N objects, one number a cell, and only the rows that -v shown names:
#                     "row=words for it|row=words for it". It is an error if one of these is not there.
BEGIN { FS = ";" }

# A number with as many digits as are worth reading. A difference of two times can be lost in their noise.
function digits(x) {
    if (x < 0)
        return "noise"
    return sprintf(x < 0.095 ? "%.3f" : x < 0.995 ? "%.2f" : x < 99.5 ? "%.1f" : "%.0f", x)
}

function cell(key) {
    if (!(key in value))
        return "-"
    return digits(value[key]) (limit[key] > 0.05 ? " / " digits(limit[key]) : "")
}

function size_name(n, exponent) {
    for (exponent = 0; n >= 10 && n % 10 == 0; exponent++)
        n /= 10
    return (n == 1 ? "" : n "x") "10^" exponent
}

# Numbers between the powers of ten are for the chart.
function is_for_chart(n) {
    while (n >= 10 && n % 10 == 0)
        n /= 10
    return n == 3
}

/^#/ || $1 == "row" { next }

# Of reasons.txt: row; variant, or nothing; the reason. A row that ends in a blank stands for all rows that begin so.
FILENAME ~ /reasons.txt$/ {
    if (NF >= 3) {
        reason_row[++reasons] = $1
        reason_variant[reasons] = $2
        text = $0
        sub(/^[^;]*;[^;]*;/, "", text)
        reason[reasons] = text
    }
    next
}

{
    # row; variant; n; value; unit; limit; ratio; goal; goal_ratio; met
    row = $1
    variant = $2
    n = $3 + 0
    if (is_for_chart(n))
        next
    sub(/, desc/, "", variant)
    if (!(row in row_number)) {
        row_number[row] = ++rows
        row_name[rows] = row
    }
    name = row SUBSEP variant
    if (!(name in seen)) {
        seen[name] = 1
        variant_of[row, ++variants[row]] = variant
    }
    if (!(n in known)) {
        known[n] = 1
        size[++sizes] = n
    }
    value[name, n] = $4
    unit[row] = $5
    limit[name, n] = $6
    ratio[name, n] = $7
    goals = ""
    if ($8 > 0)
        goals = $8
    if ($9 > 0)
        goals = goals (goals != "" ? ", " : "") $9 "x"
    if (goals != "")
        goal[name] = goals
    if ($10 == "met")
        met[name] = 1
    if ($10 == "MISSED")
        missed[name] = missed[name] (missed[name] != "" ? ", " : "") size_name(n)
    if ($10 == "limit > goal")
        beyond[name] = beyond[name] (beyond[name] != "" ? ", " : "") size_name(n)
    if ($10 == "MISSED" || $10 == "limit > goal")
        figures[name] = figures[name] (figures[name] != "" ? ", " : "") ($9 > 0 ? sprintf("%.2fx", $7) : digits($4)) " at " size_name(n) \
                        ($10 == "MISSED" ? "" : " (the limit, too)")
}

# The value of the first variant whose name begins so.
function column(row, begin,    v, key) {
    for (v = 1; v <= variants[row]; v++)
        if (index(variant_of[row, v], begin) == 1) {
            key = row SUBSEP variant_of[row, v] SUBSEP short
            return key in value ? digits(value[key]) : ""
        }
    return ""
}

function short_table(    n, i, c, columns, part_of, begin, row, words) {
    columns = split("by hand, uthash|by hand, index|Boehm|GObject|Lua|CPython", begin, "|")
    print "| | dictionary | slot | by hand: uthash | by hand: index | Boehm | GObject | Lua | CPython |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    n = split(shown, part_of, "|")
    for (i = 1; i <= n; i++) {
        row = words = part_of[i]
        sub(/=.*/, "", row)
        sub(/^[^=]*=/, "", words)
        if (!(row in row_number)) {
            print "table.awk: there is no row " row >"/dev/stderr"
            failed = 1
        }
        printf "| %s | %s | %s |", words, column(row, "dict") column(row, "C objects"), column(row, "slot")
        for (c = 1; c <= columns; c++)
            printf " %s |", column(row, begin[c])
        print ""
    }
}

function begins(row, name) {
    return name ~ / $/ ? index(row, name) == 1 : row == name
}

function why(row, variant,    i) {
    for (i = 1; i <= reasons; i++)
        if (begins(row, reason_row[i]) && index(variant, reason_variant[i]) == 1)
            return reason[i]
    return "There is no reason in reasons.txt."
}

function missed_list(    r, v, row, name, line, order, lines, i, group) {
    for (r = 1; r <= rows; r++) {
        row = row_name[r]
        for (v = 1; v <= variants[row]; v++) {
            name = row SUBSEP variant_of[row, v]
            if (!(name in figures))
                continue
            line = row " (" variant_of[row, v] "; goal " goal[name] "): " figures[name]
            i = why(row, variant_of[row, v])
            if (!(i in group))
                order[++lines] = i
            group[i] = group[i] (i in group && group[i] != "" ? "; " : "") line
        }
    }
    if (lines == 0)
        print "All goals are met."
    for (i = 1; i <= lines; i++)
        print "- " group[order[i]] ". *" order[i] "*"
}

function all_rows(    i, r, v, row, name, verdict) {
    printf "| what | with | goal |"
    for (i = 1; i <= sizes; i++)
        printf " %s |", size_name(size[i])
    print " the goal is |"
    printf "|---|---|---|"
    for (i = 1; i <= sizes; i++)
        printf "--:|"
    print "---|"
    for (r = 1; r <= rows; r++) {
        row = row_name[r]
        for (v = 1; v <= variants[row]; v++) {
            name = row SUBSEP variant_of[row, v]
            verdict = ""
            if (name in missed)
                verdict = "**missed** at " missed[name]
            if (name in beyond)
                verdict = verdict (verdict != "" ? "; " : "") "below the limit at " beyond[name]
            if (verdict == "" && name in met)
                verdict = "met"
            printf "| %s | %s | %s |", row (unit[row] == "ns" ? "" : ", " unit[row]), variant_of[row, v], goal[name]
            for (i = 1; i <= sizes; i++)
                printf " %s |", cell(name SUBSEP size[i])
            print " " verdict " |"
        }
    }
}

END {
    if (short)
        short_table()
    else if (part == "missed")
        missed_list()
    else
        all_rows()
    exit failed
}
