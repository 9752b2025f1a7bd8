# chart.gp - the chart of the benchmark, drawn by gnuplot out of its CSV file:
#     gnuplot -e 'csv = "..."; output_file = "..."; l1 = ...; l2 = ...; l3 = ...' chart.gp
# l1, l2, l3: bytes of the caches; 0: not known.
set terminal svg size 1320, 1000 dynamic enhanced background "white" font "DejaVu Sans,12"
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
uthash  = "lw 2 lc rgb '#000000' pt 10 ps 0.8"
index   = "lw 2 lc rgb '#009E73' pt 8 ps 0.8"
boehm   = "lw 2 lc rgb '#D55E00' pt 4 ps 0.8"
gobject = "lw 2 lc rgb '#CC79A7' pt 6 ps 0.8"
lua     = "lw 2 lc rgb '#117733' pt 12 ps 0.9"
cpython = "lw 2 lc rgb '#B8860B' pt 8 ps 0.9"
plain   = "lw 1.5 lc rgb '#777777' dt 2"

set logscale xy
set xrange [700:15000000]
set tics out nomirror
set xtics ("10^3" 1e3, "10^4" 1e4, "10^5" 1e5, "10^6" 1e6, "10^7" 1e7)
set border 3 lc rgb "#555555"
set grid ytics lc rgb "#E4E4E4" lw 1
set key top left reverse Left samplen 2 spacing 1.0 font ",10" noenhanced
set lmargin 9
set rmargin 3
set tmargin 5
set bmargin 4

# Where 96 bytes of each link (its record, p and ob) fill a cache.
bytes = 96
do for [i = 1:3] {
    size = i == 1 ? l1 : i == 2 ? l2 : l3
    if (size > 0 && size / bytes > 700 && size / bytes < 15000000) {
        set arrow i from first size / bytes, graph 0 to first size / bytes, graph 1.01 nohead back \
            lc rgb 0xBBBBBB lw 1 dt 3
        name = size >= 1048576 ? sprintf("L%d: %.0f MB", i, size / 1048576.0) : sprintf("L%d: %.0f KB", i, size / 1024.0)
        set label i name at first size / bytes, graph 1.035 center font ",9" textcolor rgb 0x888888
    }
}

set multiplot layout 2, 3 title heading font ",12" noenhanced
set format y "10^{%T}"
set ylabel "ns for each link" offset 1
set xlabel "links" offset 0, 0.4

# The lines that most charts have.
hand = "csv using 3:(points(row, 'by hand, uthash', 4)) with linespoints @uthash title 'by hand: uthash', \
        csv using 3:(points(row, 'by hand, index', 4)) with linespoints @index title 'by hand: index in p'"
ours = "csv using 3:(points(row, 'dict', 4)) with linespoints @dict title 'rawrefcount.h, dictionary', \
        csv using 3:(points(row, 'slot, desc', 4)) with linespoints @slot title 'rawrefcount.h, slot'"
loop = "csv using 3:(points(row, 'dict', 6)) with lines @plain title 'plain loop'"

set title "A collection in which all links live" offset 0, 0.8
row = "major, all live, P links"
set yrange [0.5:1e6]
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: disappearing links", \
     csv using 3:(points(row, "Lua", 4)) with linespoints @lua title "Lua: weak table, __gc", \
     @hand, @ours, @loop

set title "A collection in which all die"
row = "major, all die, queued"
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: disappearing links", \
     csv using 3:(points(row, "GObject", 4)) with linespoints @gobject title "GObject: toggle references", \
     csv using 3:(points(row, "Lua", 4)) with linespoints @lua title "Lua: weak table, __gc", \
     @hand, @ours, @loop

set title "Making a link, p and ob not in the cache"
row = "create a P link, cold"
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: disappearing links", \
     csv using 3:(points(row, "GObject", 4)) with linespoints @gobject title "GObject: toggle references", \
     csv using 3:(points("create a P link, warm", "Lua", 4)) with linespoints @lua title "Lua: weak table (in the cache)", \
     @hand, @ours, @loop

set title "Finding the other half, random order"
set ylabel "ns for each lookup"
row = "rrc_from_obj, random order"
set yrange [0.2:1e6]
plot csv using 3:(points("rrc_to_obj, random order", "GObject", 4)) with linespoints @gobject title "GObject: ob to p by qdata", \
     csv using 3:(points("rrc_to_obj, random order", "Lua", 4)) with linespoints @lua title "Lua: ob to p by weak table", \
     @hand, @ours, csv using 3:(points(row, "dict", 6)) with lines @plain title "reading p"

set title "Cycles among objects that refer to any two"
set ylabel "ns for each object"
set xlabel "objects"
set yrange [2:1e6]
plot csv using 3:(points("cycles, dying, shuffled", "CPython", 4)) with linespoints @cpython dt 2 title "CPython, dying", \
     csv using 3:(points("cycles, live, shuffled", "CPython", 4)) with linespoints @cpython title "CPython, live", \
     csv using 3:(points("cycles, dying, shuffled", "C objects", 4)) with linespoints @dict dt 2 title "rawrefcount.h, dying", \
     csv using 3:(points("cycles, live, shuffled", "C objects", 4)) with linespoints @dict title "rawrefcount.h, live", \
     csv using 3:(points("cycles, dying, shuffled", "C objects", 6)) with lines @plain title "plain loop, dying", \
     csv using 3:(points("cycles, live, shuffled", "C objects", 6)) with lines lw 1.5 lc rgb '#777777' dt 3 title "plain loop, live"

set title "Deallocating what died"
set xlabel "objects"
set yrange [0.5:1e6]
row = "rrc_run_pending, an object"
plot csv using 3:(points(row, "Boehm", 4)) with linespoints @boehm title "Boehm: finalizers", \
     @hand, @ours, @loop
unset multiplot
