; expect: 3: error: out of memory
(define x
  (make-vector 1e12 0))
