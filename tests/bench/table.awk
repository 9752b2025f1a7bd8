# table.awk - the README's table out of the benchmark's CSV file:
#
#     make bench bench-table
#
# For each row the hooks are called by pointer, as they are by default. A cell is
# value / limit; a goal in bold is met at each size.
BEGIN { FS = "," }

function cell(key) {
    if (!(key in value))
        return "-"
    return sprintf(value[key] < 100 ? "%.1f" : "%.0f", value[key]) \
           (limit[key] > 0.05 ? sprintf(" / %.1f", limit[key]) : "")
}

NR > 1 {
    # Names are quoted and hold commas: take the line apart at the quotes.
    split($0, part, "\"")
    row = part[2]
    variant = part[4]
    split(part[5], field, ",")      # "", n, value, unit, limit, ratio, goal, goal_ratio
    if (variant ~ /macro/)
        next
    sub(/, desc/, "", variant)
    name = row " | " variant
    if (!(name in seen)) {
        seen[name] = ++rows
        names[rows] = name
    }
    if (!((field[2] + 0) in known)) {
        known[field[2] + 0] = ++sizes
        size[sizes] = field[2] + 0
    }
    key = name SUBSEP field[2] + 0
    value[key] = field[3]
    limit[key] = field[5]
    goals = ""
    if (field[7] > 0)
        goals = row ~ /freed/ ? "8 + free" : sprintf("%.3g", field[7])
    if (field[8] > 0)
        goals = goals (goals != "" ? ", " : "") sprintf("%.1fx", field[8])
    goal[name] = goals
    if (goals != "" && ((field[7] > 0 && field[3] > field[7]) || (field[8] > 0 && field[6] > field[8])))
        missed[name] = 1
}

END {
    printf "| row | variant | goal |"
    for (i = 1; i <= sizes; i++)
        printf " %d |", size[i]
    printf "\n|---|---|---|"
    for (i = 1; i <= sizes; i++)
        printf "--:|"
    print ""
    for (r = 1; r <= rows; r++) {
        name = names[r]
        text = goal[name]
        if (text != "" && !(name in missed))
            text = "**" text "**"
        printf "| %s | %s |", name, text
        for (i = 1; i <= sizes; i++)
            printf " %s |", cell(name SUBSEP size[i])
        print ""
    }
}
