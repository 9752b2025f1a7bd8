# table.awk - a table in Markdown out of the benchmark's CSV file. With -v short=N: only what was
# measured for N objects, the others in columns beside it, and only the rows that -v shown names:
# "row=words for it|row=words for it". It is an error if one of these is not there.
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

/^#/ || $1 == "row" { next }

{
    # row; variant; n; value; unit; limit; ratio; goal; goal_ratio; met
    row = $1
    variant = $2
    n = $3 + 0
    if (variant ~ /macro/)
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
    goals = ""
    if ($8 > 0)
        goals = row ~ /freed/ ? "8 + free" : $8
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
}

# The value of the first variant whose name begins so.
function column(row, begin,    v) {
    for (v = 1; v <= variants[row]; v++)
        if (index(variant_of[row, v], begin) == 1)
            return cell(row SUBSEP variant_of[row, v] SUBSEP short)
    return ""
}

function short_table(    n, i, part, row, words) {
    print "| | dictionary | slot | Boehm | GObject | Lua | CPython |"
    print "|---|--:|--:|--:|--:|--:|--:|"
    n = split(shown, part, "|")
    for (i = 1; i <= n; i++) {
        row = words = part[i]
        sub(/=.*/, "", row)
        sub(/^[^=]*=/, "", words)
        if (!(row in row_number)) {
            print "table.awk: there is no row " row >"/dev/stderr"
            failed = 1
        }
        printf "| %s | %s | %s |", words, column(row, "dict") column(row, "C objects"), column(row, "slot")
        printf " %s | %s | %s | %s |\n", column(row, "Boehm"), column(row, "GObject"), column(row, "Lua"), column(row, "CPython")
    }
}

END {
    if (short) {
        short_table()
        exit failed
    }
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
