; expect: 4: error: unbound variable: x
(define (f)
  (if true
      x))

(f)
