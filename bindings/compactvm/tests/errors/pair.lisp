; expect: 5: error: car: expected a pair, got 5
(define (first-of x)
  (let ((y x))
    (print "a line of output before the error")
    (car y)))
(first-of 5)
