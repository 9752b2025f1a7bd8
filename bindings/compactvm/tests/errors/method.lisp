; expect: 3: error: call: point has no method z
(define p (new 'point 1 2))
(call p 'z)
