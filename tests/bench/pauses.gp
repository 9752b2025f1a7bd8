# pauses.gp - the chart of pauses, drawn by gnuplot out of two files of the benchmark:
#     gnuplot -e 'csv = "..."; calls = "..."; output_file = "..."; heading = "..."' pauses.gp
# Above: how many calls of a collection took at least so long. Below: the longest call, against the number of objects.
set terminal svg size 1320, 860 dynamic enhanced background "white" font "DejaVu Sans,12"
set output output_file
set datafile separator ";"
set datafile missing NaN
set datafile commentschars "#"
set encoding utf8

slices  = "lw 2.5 lc rgb '#0072B2' pt 7 ps 0.7"
mutator = "lw 2.5 lc rgb '#56B4E9' pt 5 ps 0.7"
whole   = "lw 2.5 lc rgb '#000000' pt 11 ps 1"
boehm   = "lw 2 lc rgb '#D55E00' pt 4 ps 0.9"
boehm2  = "lw 2 lc rgb '#CC79A7' pt 6 ps 0.9"
lua     = "lw 2 lc rgb '#117733' pt 12 ps 0.9"
cpython = "lw 2 lc rgb '#B8860B' pt 8 ps 0.9"

# One line of the file of calls, for so many objects; and of the table.
is(name, variant) = strcol(1) eq name && strstrt(strcol(2), variant) == 1 && column(3) == objects
at(name, variant) = is(name, variant) ? column(4) : NaN
points(row, variant) = strcol(1) eq row && strstrt(strcol(2), variant) == 1 && column(4) > 0 ? column(4) : NaN

set logscale xy
set tics out nomirror
set border 3 lc rgb "#555555"
set grid ytics lc rgb "#E4E4E4" lw 1
set key reverse Left samplen 2 spacing 1.0 font ",10" noenhanced
set lmargin 9
set rmargin 3
set tmargin 4
set bmargin 4

set multiplot layout 2, 3 title heading font ",12" noenhanced
set xrange [0.00001:20000]
set yrange [0.7:1e12]
set format x "10^{%T}"
set format y "10^{%T}"
set xlabel "ms" offset 0, 0.4
set ylabel "calls that took at least so long" offset 1
set key top right
# The goals: 0.25 ms for a slice, 0.1 ms for the mutator.
set arrow 1 from first 0.25, graph 0 to first 0.25, graph 1 nohead back lc rgb 0x0072B2 lw 1 dt 3
set arrow 2 from first 0.1, graph 0 to first 0.1, graph 1 nohead back lc rgb 0x56B4E9 lw 1 dt 3
do for [objects in "100000 1000000 4000000"] {
    objects = objects + 0
    set title objects == 100000 ? "10^5 objects" : objects == 1000000 ? "10^6 objects" : "4x10^6 objects" offset 0, 0.3
    plot calls using (at("building, mutator", "dict")):6 with lines @mutator title "ours: mutator, building", \
         calls using (at("dying, slices", "dict")):6 with linespoints @slices title "ours: slices", \
         calls using (at("dying, whole", "dict")):6 with linespoints @whole title "ours: in one", \
         calls using (at("Lua, frames", "Lua")):6 with linespoints @lua title "Lua: frames, our binding", \
         calls using (at("dying, whole", "CPython")):6 with linespoints @cpython title "CPython: gc.collect", \
         calls using (at("dying, whole", "Boehm")):6 with linespoints @boehm title "Boehm: in one", \
         calls using (at("dying, slices", "Boehm")):6 with lines @boehm2 title "Boehm: GC_malloc, incremental"
}
unset arrow 1
unset arrow 2

set xrange [70000:6000000]
set yrange [0.0003:3e8]
set xtics ("10^5" 1e5, "10^6" 1e6, "4x10^6" 4e6)
set xlabel "objects" offset 0, 0.4
set ylabel "ms" offset 1
set key top left
do for [part in "live dying"] {
    set title (part eq "live" ? "Longest pause: all live" : "Longest pause: each tenth pair dies") offset 0, 0.3
    plot csv using 3:(points("pause, ".part.", whole", "CPython")) with linespoints @cpython title "CPython: gc.collect", \
         csv using 3:(points("pause, ".part.", whole", "Boehm")) with linespoints @boehm title "Boehm: in one", \
         csv using 3:(points("pause, ".part.", longest slice", "Boehm")) with linespoints @boehm2 title "Boehm: GC_malloc, incremental", \
         csv using 3:(points("pause, ".part.", whole", "dict")) with linespoints @whole title "ours: in one", \
         csv using 3:(points("pause, ".part.", longest slice", "dict")) with linespoints @slices title "ours: slices, dictionary", \
         csv using 3:(points("pause, ".part.", longest slice", "slot")) with linespoints @slices dt 2 title "ours: slices, slot", \
         0.25 with lines lw 1 lc rgb "#0072B2" dt 3 title "goal for slices"
}
set title "Longest pause: while objects are made" offset 0, 0.3
plot csv using 3:(points("pause, Lua, longest frame", "Lua")) with linespoints @lua title "Lua: frames, our binding", \
     csv using 3:(points("pause, building, longest", "CPython")) with linespoints @cpython title "CPython: automatic collections", \
     csv using 3:(points("pause, building, rrc_link", "dict")) with linespoints @mutator title "rrc_link", \
     csv using 3:(points("pause, building, rrc_gc_track", "dict")) with linespoints @slices title "rrc_gc_track", \
     csv using 3:(points("pause, building, rrc_gc_new", "dict")) with linespoints @whole title "rrc_gc_new", \
     csv using 3:(points("pause, building, rrc_unlink", "dict")) with linespoints @boehm2 title "rrc_unlink", \
     0.1 with lines lw 1 lc rgb "#56B4E9" dt 3 title "goal"
unset multiplot
