; expect: 3: error: out of memory
(define x
  (make-vector 2000000000 0))
