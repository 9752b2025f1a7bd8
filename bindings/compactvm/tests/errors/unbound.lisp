; expect: 4: error: unbound variable: x
(define (f)
  (+ 1
     x))
(f)
