; expect: 3: error: assertion failed: (= (+ 1 1) 3)
(assert (= (+ 1 1) 2))
(assert (= (+ 1 1) 3))
