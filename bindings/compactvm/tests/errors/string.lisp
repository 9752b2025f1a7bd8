; expect: 2: error: this string has no end
(print "abc
def)
