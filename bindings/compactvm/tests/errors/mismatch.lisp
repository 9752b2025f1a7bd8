; expect: 3: error: unexpected ]
(define v
  (list 1 2])
