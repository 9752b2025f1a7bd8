; expect: 2: error: recursion too deep
(define (f n) (+ 1 (f n)))
(f 1)
