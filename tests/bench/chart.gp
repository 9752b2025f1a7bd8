# chart.gp - the chart of the benchmark, drawn by gnuplot out of its CSV file:
#     gnuplot -e 'csv = "..."; format = "svg"; output_file = "..."; l1 = ...; l2 = ...; l3 = ...' chart.gp
# l1, l2, l3: bytes of the caches; 0: not known.
if (format eq "svg") {
    set terminal svg size 1320, 860 dynamic enhanced background "white" font "DejaVu Sans,12"
} else {
    set terminal pngcairo size 1320, 860 enhanced background "white" font "DejaVu Sans,10"
}
set output output_file
set datafile separator ";"
set datafile missing NaN
set datafile commentschars "#"
set encoding utf8

# The points of one line: a row of the table, with one variant.
is(row, variant) = strcol(1) eq row && strstrt(strcol(2), variant) == 1
points(row, variant, c) = is(row, variant) && column(c) > 0 ? column(c) : NaN

dict    = "lw 2.5 lc rgb '#0072B2' pt 7 ps 0.7"
slot    = "lw 2.5 lc rgb '#56B4E9' pt 5 ps 0.7"
other   = "lw 2.5 lc rgb '#009E73' pt 9 ps 0.8"
second  = "lw 2.5 lc rgb '#000000' pt 11 ps 0.8"
boehm   = "lw 2 lc rgb '#D55E00' pt 4 ps 0.8"
gobject = "lw 2 lc rgb '#CC79A7' pt 6 ps 0.8"
lua     = "lw 2 lc rgb '#117733' pt 12 ps 0.9"
cpython = "lw 2 lc rgb '#B8860B' pt 8 ps 0.9"
plain   = "lw 1.5 lc rgb '#777777' dt 2"

set logscale xy
set xrange [700:6000000]
set tics out nomirror
set xtics ("10^3" 1e3, "10^4" 1e4, "10^5" 1e5, "10^6" 1e6, "4x10^6" 4e6)
set border 3 lc rgb "#555555"
set grid ytics lc rgb "#E4E4E4" lw 1
set key top left reverse Left samplen 3 spacing 1.1 width 1 noenhanced
set lmargin 9
set rmargin 3
set tmargin 5
set bmargin 4

# Where 96 bytes of each link (its record, p and ob) fill a cache.
bytes = 96
do for [i = 1:3] {
    size = i == 1 ? l1 : i == 2 ? l2 : l3
    if (size > 0 && size / bytes > 700 && size / bytes < 6000000) {
        set arrow i from first size / bytes, graph 0 to first size / bytes, graph 1.01 nohead back \
            lc rgb 0xBBBBBB lw 1 dt 3
        name = size >= 1048576 ? sprintf("L%d: %.0f MB", i, size / 1048576.0) : sprintf("L%d: %.0f KB", i, size / 1024.0)
        set label i name at first size / bytes, graph 1.035 center font ",9" textcolor rgb 0x888888
    }
}

set multiplot layout 2, 3 title heading font ",12" noenhanced
set format y "%g"
set ylabel "ns for each link" offset 1
set xlabel "links" offset 0, 0.4

set title "A collection in which all links live" offset 0, 0.8
row = "major, all live, P links"
set yrange [1:300000]
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: disappearing links", \
     csv using 3:(points(row, "Lua", 4)) with linespoints @lua title "Lua: weak table, __gc", \
     csv using 3:(points(row, "dict", 4)) with linespoints @dict title "rawrefcount.h", \
     csv using 3:(points(row, "dict", 6)) with lines @plain title "plain loop"

set title "A collection in which all die"
row = "major, all die, queued"
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: disappearing links", \
     csv using 3:(points(row, "GObject", 4)) with linespoints @gobject title "GObject: toggle references", \
     csv using 3:(points(row, "Lua", 4)) with linespoints @lua title "Lua: weak table, __gc", \
     csv using 3:(points(row, "dict", 4)) with linespoints @dict title "rawrefcount.h", \
     csv using 3:(points(row, "dict", 6)) with lines @plain title "plain loop"

set title "Making a link"
row = "create a P link, old p"
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: disappearing links", \
     csv using 3:(points(row, "GObject", 4)) with linespoints @gobject title "GObject: toggle references", \
     csv using 3:(points(row, "Lua", 4)) with linespoints @lua title "Lua: weak table, __gc", \
     csv using 3:(points(row, "dict", 4)) with linespoints @dict title "rawrefcount.h, dictionary", \
     csv using 3:(points(row, "slot", 4)) with linespoints @slot title "rawrefcount.h, slot", \
     csv using 3:(points(row, "dict", 6)) with lines @plain title "plain loop, bare table"

set title "Finding the other half, random order"
set ylabel "ns for each lookup"
row = "rrc_from_obj, random order"
set yrange [0.3:10000]
plot csv using 3:(points("rrc_to_obj, random order", "GObject", 4)) with linespoints @gobject title "GObject: ob to p by qdata", \
     csv using 3:(points("rrc_to_obj, random order", "Lua", 4)) with linespoints @lua title "Lua: ob to p by weak table", \
     csv using 3:(points(row, "dict", 4)) with linespoints @dict title "p to ob, dictionary", \
     csv using 3:(points(row, "slot", 4)) with linespoints @slot title "p to ob, slot", \
     csv using 3:(points("rrc_to_obj, random order", "dict", 4)) with linespoints @second title "ob to p", \
     csv using 3:(points(row, "dict", 6)) with lines @plain title "reading p"

set title "Cycles among objects that refer to any two"
set ylabel "ns for each object"
set xlabel "objects"
set yrange [3:100000]
plot csv using 3:(points("cycles, dying, shuffled", "CPython", 4)) with linespoints @cpython dt 2 title "CPython, dying", \
     csv using 3:(points("cycles, live, shuffled", "CPython", 4)) with linespoints @cpython title "CPython, live", \
     csv using 3:(points("cycles, dying, shuffled", "C objects", 4)) with linespoints @dict dt 2 title "rawrefcount.h, dying", \
     csv using 3:(points("cycles, live, shuffled", "C objects", 4)) with linespoints @dict title "rawrefcount.h, live", \
     csv using 3:(points("cycles, live, shuffled", "C objects", 6)) with lines @plain title "plain loop"

set title "Longest pause"
set ylabel "ms"
set xlabel "links, or objects"
set yrange [0.0005:100000]
set format y "10^{%T}"
plot csv using 3:(points("longest pause, all live", "Boehm", 4)) with linespoints @boehm title "Boehm, links, all live", \
     csv using 3:(points("longest pause, cycles, live", "CPython", 4)) with linespoints @cpython title "CPython, cycles, live", \
     csv using 3:(points("longest pause, cycles, live", "C objects", 4)) with linespoints @second title "search for cycles, live", \
     csv using 3:(points("longest pause, all live", "dict", 4)) with linespoints @dict title "links, all live", \
     csv using 3:(points("longest pause, create a P link", "dict", 4)) with linespoints @other title "making a link", \
     csv using 3:(points("longest pause, 100 deallocations", "dict", 4)) with linespoints @slot title "100 deallocations"
unset multiplot
