; expect: 3: error: found ], expected )
(define v
  (list 1 2])
