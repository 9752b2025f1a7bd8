; expect: 3: error: unexpected )
(define (f x) x)
)
