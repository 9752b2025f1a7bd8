; expect: 3: error: unknown escape in a string
(print "ab
\c")
