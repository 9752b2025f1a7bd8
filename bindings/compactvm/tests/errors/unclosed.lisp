; expect: 5: error: this ( has no matching )
(define fine 1)

(define (f x)
  (if x
    (print x)
